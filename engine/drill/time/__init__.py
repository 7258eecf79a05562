"""A run's past: kept moments, looking back, branches, and playing a recorded run again."""
