"""Learner model, computed from finished runs: skills, forgetting, due reviews, recommended drills.

All functions are pure and take the time as an argument. They do not use Qt.
"""
