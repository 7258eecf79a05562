"""Debriefs of whole runs as text. `pytest --rewrite` records them anew; review the diff.

A file is `drill NAME [seed]`, then lines `SECONDS INPUT`, then `----` and the recorded debrief: changes of
the
report before each input, the review, the report without its events, and the comparison with the reference
run.
Inputs that the drill refuses are listed with their reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from engine.drill.judging import difference
from engine.drill.judging.review import review_run
from engine.drill.running.drill import Drill, DrillMode
from engine.drill.running.solution import play_reference
from engine.inputs import InputError
from tests import recordings
from tests.engine.drill.texts import advance_drill, change_small_text
from tests.shipped_scenarios import load_shipped_scenario

DEBRIEFS = sorted((Path(__file__).parent / "debriefs").glob("*.txt"))

OMITTED_PARTS: Final = {
    "events",
    "hashes",
    "inputs",
    "origin",
    "readings",
    "scenario_text",
    "sql",
    "state_hash",
    "version",
}
"""Parts of a report that are omitted here, because other tests cover them."""


def format_scalar(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def format_lines(value: object, path: str = "") -> Iterator[str]:
    """Yield one line for each object whose fields are all scalars, and for each scalar outside of such an object."""
    fields = value if isinstance(value, dict) else {}
    flat = {key: part for key, part in fields.items() if not isinstance(part, (dict, list, tuple))}
    if flat:
        yield f"{path}: " + " | ".join(f"{key}={format_scalar(part)}" for key, part in flat.items())
    for key in [key for key in fields if key not in flat]:
        yield from format_lines(fields[key], f"{path}.{key}" if path else str(key))
    if isinstance(value, (list, tuple)):
        if all(not isinstance(part, (dict, list, tuple)) for part in value):
            yield f"{path}: " + " | ".join(map(format_scalar, value))
        else:
            for number, item in enumerate(value):
                yield from format_lines(item, f"{path}.{number}")


def list_report(drill: Drill) -> list[str]:
    return list(
        format_lines(
            {key: part for key, part in drill.build_report().items() if key not in OMITTED_PARTS}, "report"
        )
    )


def play_lines(text: str) -> tuple[Drill, list[str]]:
    """Play the lines of a debrief. Return the drill, and the refused inputs and report changes as lines."""
    head, *lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    _, name, *seed = head.split()
    scenario = change_small_text() if name == "small" else load_shipped_scenario(name)
    drill_played = Drill(scenario, int(seed[0]) if seed else None, DrillMode.PRACTICE)
    rows, previous = list[str](), set[str]()
    for line in lines:
        at_s, _, typed = line.partition(" ")
        advance_drill(drill_played, float(at_s))
        report = list_report(drill_played)
        rows += [f"before {line}", *(f"  {row}" for row in report if row not in previous)]
        previous = set(report)
        try:
            drill_played.apply_line(typed)
        except InputError as problem:
            rows.append(f"refused: {typed}: {problem}")
    if drill_played.ended_by is None:
        drill_played.advance_to(drill_played.end_tick or 0)
    return drill_played, rows


def record_debrief(text: str) -> str:
    """Return the debrief that the current code produces for the inputs in *text*."""
    request_text = text.split("\n----")[0]
    drill_played, lines = play_lines(request_text)
    lines += format_lines(review_run(drill_played).as_json(), "review")
    lines += list_report(drill_played)
    reference = play_reference(drill_played.scenario, drill_played.seed)
    parted = difference.find_first_difference(drill_played, reference)
    if parted is not None:
        lines.append(
            f"parted at {parted.tick}: {parted.left and parted.left.text} / {parted.right and parted.right.text}"
        )
    lines += [
        f"{row.what}: {row.left}" + ("" if row.is_equal else f" / {row.right}")
        for row in difference.compare_states(drill_played, reference)
    ]
    lines += [
        f"{row.name}: {row.left:.6g} / {row.right:.6g}"
        for row in difference.compare_outcomes(drill_played, reference)
    ]
    for curve in difference.compare_curves(drill_played, reference):
        sides = [list(values[10:100:30]) for values in (curve.left, curve.right)]
        lines.append(f"{curve.database} {curve.counter}: {sides[0]} / {sides[1]}")
    return "\n".join([request_text, "----", *lines]) + "\n"


@pytest.mark.parametrize("path", DEBRIEFS, ids=lambda path: path.stem)
def test_debriefs_are_reproduced(path: Path, request: pytest.FixtureRequest) -> None:
    recordings.compare_text(path, record_debrief(path.read_text(encoding="utf-8")), request)
