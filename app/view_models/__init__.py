"""Contents of views as plain data, derived from a world or a report, without Qt."""
