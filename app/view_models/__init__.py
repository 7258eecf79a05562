"""Contents of the views as plain data, derived from a world or a report, without Qt."""
