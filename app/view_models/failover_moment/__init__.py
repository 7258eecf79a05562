"""The failover moment: which phase runs, since when, what is drawn and what is published. No Qt."""
