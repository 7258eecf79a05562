"""Execution of batches: frames, transactions, locks, objects, and the effect of each statement."""
