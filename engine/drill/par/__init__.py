"""Search for par, the best possible result of a drill. Plans are played on forks of a run."""
