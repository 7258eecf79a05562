"""Drills as an environment for agents: the optional extra `mirrordrill[agents]`, with a baseline for comparison."""
