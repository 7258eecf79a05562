"""Contents of the views as plain data, derived from the simulated state or from a report. Without Qt."""
