"""Translation of a T-SQL query into a plan for SQLite: names, types, rewriting and costs."""
