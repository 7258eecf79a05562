"""Par: the best possible result of a drill, found by trials on forks of the run."""
