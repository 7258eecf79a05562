"""Evaluation of a run: score, report, mistakes, review, skills, and automatic players that test the score."""
