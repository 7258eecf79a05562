"""Past of a run: stored snapshots, seeking, branches, and replay of a recorded run."""
