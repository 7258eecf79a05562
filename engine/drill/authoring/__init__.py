"""Format of scenario files, their loader, and the checks that list every problem in a file."""
