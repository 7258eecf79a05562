"""Processing of T-SQL text: tokens, statements, compiled programs and completion."""
