"""Drills as a reinforcement learning environment (extra `mirrordrill[agents]`), with baseline players."""
