"""Text of T-SQL: tokens, statements, compiled programs, and completion."""
