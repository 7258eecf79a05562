"""Types, values and functions of T-SQL, of their arguments alone."""
