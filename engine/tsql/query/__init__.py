"""From a query to a plan that SQLite runs in the same sense: names, types, rewriting, costs."""
