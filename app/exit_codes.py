"""Exit codes of the program: 0 success, 1 the answer is no, 2 invalid use."""

AS_ASKED, ANSWER_IS_NO, UNUSABLE = 0, 1, 2

INTERRUPTED = 130
"""Exit code that shells give a program ended by Ctrl+C."""
