"""Data types and values of T-SQL, and functions that depend only on their arguments."""
