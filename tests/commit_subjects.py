"""Check of the length of commit subjects: `make lint` (python -m tests.commit_subjects).

It checks commits since the introduction of the language standard.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final

SINCE: Final = "d4fa70995941"
"""First commit after the renaming of 27 November 2026. The check ignores older subjects."""
SUBJECT_MAX: Final = 72
"""Maximum length in characters [CONTRIBUTING.md]."""


def find_long_subjects() -> list[str]:
    """Return the subjects that are too long. The list is empty without a Git history, as in an archive."""
    log = subprocess.run(
        ["git", "log", "--no-merges", "--format=%s", f"{SINCE}..HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return [subject for subject in log.stdout.splitlines() if len(subject) > SUBJECT_MAX]


if __name__ == "__main__":
    wrong = find_long_subjects()
    for subject in wrong:
        print(f"Commit subject of {len(subject)} characters, at most {SUBJECT_MAX}: {subject}")
    sys.exit(bool(wrong))
