"""The text of T-SQL: tokens, statements and programs, and what may follow while one is typed."""
