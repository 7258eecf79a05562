"""Past of a run: snapshots, seeking, branches, and the replay of recorded runs."""
