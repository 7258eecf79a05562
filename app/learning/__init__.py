"""Learner model from finished runs: skills, forgetting, due reviews. Pure functions; time is an argument. No Qt."""
