"""Evaluation of runs: score, report, mistakes, review, skills, and automatic players that test the score."""
