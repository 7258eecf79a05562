"""A batch while it runs: frames, transactions, locks, objects, and what each statement does."""
