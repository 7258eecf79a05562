"""Text of T-SQL: tokens, statements and programs, and completion."""
