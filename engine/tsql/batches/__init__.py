"""Execution of T-SQL batches: frames, transactions, locks, objects, and the effect of each statement."""
