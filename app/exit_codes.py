"""Exit codes of the program: 0 success, 1 negative result, 2 invalid use."""

SUCCESS, NEGATIVE_ANSWER, INVALID_USE = 0, 1, 2

INTERRUPTED = 130
"""Exit code that shells report for a program ended by Ctrl+C."""
