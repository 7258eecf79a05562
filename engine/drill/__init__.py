"""Drills: scenario files, runs with review and retry, scores, and the search for best continuations."""
