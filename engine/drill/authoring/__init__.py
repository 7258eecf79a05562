"""What a scenario file may hold, how it is read, and everything that is wrong with one."""
