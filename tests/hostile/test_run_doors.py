"""Tests of recorded runs with absurd values: refused in one sentence, or replayed with their own results
only.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from shiboken6 import delete

from app import cli
from app.exit_codes import INVALID_USE, NEGATIVE_ANSWER, SUCCESS
from app.settings import WindowSettings
from app.views.quarantine import QuarantinePage
from engine.drill.running.drill import Drill
from tests.open_window import OpenWindow, build_window
from tests.shipped_scenarios import load_shipped_scenario

ABSURD_VALUES: Final[tuple[object, ...]] = (
    "x",
    -1,
    1e308,
    float("nan"),
    float("inf"),
    None,
    [],
    {},
    [5],
    [{}],
    True,
    "1" * 400,
)
SAMPLE_VALUES: Final[tuple[object, ...]] = ("x", float("nan"), [5])
INVALID_TABLES: Final[tuple[object, ...]] = ({}, [5], [{}], "x")
INVALID_TIMES: Final[tuple[object, ...]] = ("x", None, float("nan"), 1e308, -1, True)
INVALID_LINE_TIMES: Final = ("nan", "inf", "1e308", "-1", "9" * 5_000, "x")
"""Invalid times of an input line."""


@pytest.fixture(scope="module")
def valid_report() -> dict[str, Any]:
    drill = Drill(load_shipped_scenario("lab"), 5)
    drill.advance_to(300)
    drill.apply_line("power-off SERVER_B")
    drill.advance_to(600)
    drill.apply_line("finish")
    data: dict[str, Any] = json.loads(json.dumps(drill.build_report()))
    return data | {"scenario_text": drill.scenario.text}


def _list_invalid_reports(valid_report: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in valid_report:
        for value in SAMPLE_VALUES:
            yield f"{name} = {value!r:.40}", valid_report | {name: value}
    for table, names in (("hashes", ("t_s", "inputs", "hash")), ("events", ("t_s", "kind", "text"))):
        for name in names:
            for value in ABSURD_VALUES:
                report = copy.deepcopy(valid_report)
                report[table][0][name] = value
                yield f"{table}.{name} = {value!r:.40}", report
    for time in INVALID_LINE_TIMES:
        yield f"inputs at {time:.20}", valid_report | {"inputs": [f"{time} power-off SERVER_B"]}
    yield "inputs to nobody", valid_report | {"inputs": ["3 power-off " + "x" * 100_000]}


def test_replay_reports_a_refusal_in_one_line(
    valid_report: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.json"
    for fault, report in _list_invalid_reports(valid_report):
        file.write_text(json.dumps(report))
        code = cli.main(["replay", str(file)], lambda scenario: 9)
        output = capsys.readouterr()
        assert code in (SUCCESS, NEGATIVE_ANSWER, INVALID_USE), fault
        assert bool(output.err) == (code == INVALID_USE), fault
        assert len(output.out + output.err) < 4_000, fault


@pytest.mark.parametrize("table", ["hashes", "events"])
def test_an_invalid_time_is_refused(
    table: str, valid_report: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in INVALID_TIMES:
        report = copy.deepcopy(valid_report)
        report[table][0]["t_s"] = value
        file = tmp_path / "run.json"
        file.write_text(json.dumps(report))
        assert cli.main(["replay", str(file)], lambda scenario: 9) == INVALID_USE, value
        assert "run.json is not" in capsys.readouterr().err


def _open_report(window: OpenWindow, file: Path, report: dict[str, Any]) -> None:
    file.write_text(json.dumps(report))
    window.debriefing.open_file(file)
    page = window.pages.currentWidget()
    if isinstance(page, QuarantinePage):
        page.accept.click()
    for _ in range(1_000):
        if not window.session.is_busy:
            break
        window.session.on_frame(16.0)


@pytest.mark.slow
def test_the_window_shows_its_own_result(
    valid_report: dict[str, Any], tmp_path: Path, qapp: QApplication
) -> None:
    """Invalid tables in a report used to break the debrief. The window never shows a value of the report as a
    score.
    """
    window = build_window(None, WindowSettings(), use_timer=False)
    file = tmp_path / "run.json"
    for name in ("availability", "score", "failovers", "goals", "questions", "sql", "ended_by"):
        for value in INVALID_TABLES:
            _open_report(window, file, valid_report | {name: value})
            assert not isinstance(window.pages.currentWidget(), QuarantinePage), (name, value)
            window.show_home()
    ends = []
    for report in (valid_report, valid_report | {"ended_by": "x"}):
        _open_report(window, file, report)
        assert window.pages.currentWidget() is window.debrief
        ends.append([label.text() for label in window.findChildren(QLabel) if " · seed " in label.text()])
        window.show_home()
    assert ends[0] == ends[1] != []
    _open_report(window, file, valid_report | {"inputs": ["nan power-off SERVER_B"]})
    assert window.pages.currentWidget() is window.picker
    assert "cannot be replayed" in window.notice.text
    window.close()
    delete(window)
