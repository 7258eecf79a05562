"""Past of a run: stored moments, seeking, branches, and replay of a recorded run."""
