"""Types, values and functions of T-SQL that depend only on their arguments."""
