"""Par: the best that could have been done in a drill, found by trying over forks of the run."""
