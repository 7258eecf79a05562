"""Evaluation of a run: score, report, mistakes, review, skills, and players that test the score."""
