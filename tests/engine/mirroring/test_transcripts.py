"""Recorded transcripts of mirroring sessions: losses, setup, upgrades, forced service
(tests/transcript_runs.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import transcript_runs

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcripts_are_reproduced(path: Path, request: pytest.FixtureRequest) -> None:
    transcript_runs.check_transcript(path, request)
