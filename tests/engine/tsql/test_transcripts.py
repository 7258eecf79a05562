"""Recorded transcripts of T-SQL windows in the lab. `pytest --rewrite` records them anew; review the diff.

A block begins with `>>> WINDOW [SECONDS]`, then the batch, `----`, and the output up to that time. A line
`Version 2005.` above sets the version of the servers; the default is 2014.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import recordings
from tests.engine.tsql.console import collect_answers
from tests.engine.worlds import build_lab

FOLDER = Path(__file__).parent / "transcripts"
VERSION = re.compile(r"^Version (\d{4})\.$", re.MULTILINE)
HEAD = re.compile(r"^>>> (\S+)(?: (\S+))?\n", re.MULTILINE)


def record_transcript(text: str) -> str:
    """Return the transcript that the current code produces for the batches in *text*."""
    world = build_lab(workload="none")  # the transcript has no figures of the flow model
    for server in world.instances:
        world.update_instance(
            server, version=int(VERSION.findall(text)[0]) if VERSION.findall(text) else 2014
        )
    parts = HEAD.split(text)
    output_lines = [parts[0].rstrip("\n"), ""]
    for window, seconds, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        batch = body.split("\n----")[0]
        output_lines.append(f">>> {window}" + (f" {seconds}" if seconds else ""))
        output_lines += [batch, "----"]
        for answer in collect_answers(world, window, batch, float(seconds or 0)):
            output_lines += answer.texts
            for columns, rows in zip(answer.columns, answer.grids, strict=True):
                output_lines.append(" | ".join(columns))
                output_lines += [f"    {recordings.format_row(row)}" for row in rows]
        output_lines.append("")
    return "\n".join(output_lines)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_transcripts_are_reproduced(path: Path, request: pytest.FixtureRequest) -> None:
    recordings.compare_text(path, record_transcript(path.read_text(encoding="utf-8")), request)
