"""Translation of a query into a plan that SQLite runs with the same meaning: names, types, rewriting, costs."""
