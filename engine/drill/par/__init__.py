"""Par: the best possible result of a drill, found by playing plans on forks of a run."""
