"""Learner model from finished runs: skills, forgetting, due reviews.

Pure functions with time as an argument, without Qt.
"""
