"""Format of scenario files, their loader, and checks that report every problem of a file."""
