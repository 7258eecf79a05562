"""Translation of a T-SQL query into a plan for SQLite: name resolution, types, rewriting and costs."""
