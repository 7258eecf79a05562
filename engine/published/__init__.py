"""The papers' figures as data, the runs of the real engine that reproduce them, and speed figures."""
