"""Report of a run: fixed fields, plain types, and published times only if the conditions match."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.drill.judging.report import compute_calibration
from engine.drill.judging.skills import get_skill_title, load_skills, load_skills_by_key
from engine.drill.running.solution import play_reference
from engine.flow import COUNTERS
from tests.engine.drill.texts import FREE_PLAY_TEXT, advance_drill, build_drill, change_small_text

STEP_FIELDS = ("failed_t_s", "detected_t_s", "redo_done_t_s", "decided_t_s", "online_t_s", "undo_done_t_s")


def build_report(*lines: str, until_s: float = 80.0, changes: tuple[tuple[str, str], ...] = ()) -> Any:
    """Return the report of a run without a timeline in which *lines* are applied at 30 s."""
    drill_run = advance_drill(build_drill(*changes, text=FREE_PLAY_TEXT), 30)
    for line in lines:
        drill_run.apply_line(line)
    return advance_drill(drill_run, until_s).build_report()


def test_the_report_has_the_fixed_fields_as_json() -> None:
    reference_report = play_reference(change_small_text()).build_report()
    assert json.loads(json.dumps(reference_report, allow_nan=False)) == reference_report
    assert set(reference_report) >= {
        "scenario", "seed", "version", "ended_at_s", "state_hash", "events", "failovers", "availability", "sql",
        "score", "readings",
    }  # fmt: skip
    assert set(reference_report["score"]) >= {"total", "items"}
    assert set(reference_report["score"]["items"][0]) >= {"name", "points", "max", "why"}
    assert {event["kind"] for event in reference_report["events"]} >= {
        "fault", "state", "role", "trace", "errorlog", "client", "goal", "score",
    }  # fmt: skip
    assert all({"t_s", "kind", "text"} <= set(event) for event in reference_report["events"])


def test_a_failover_has_six_ordered_steps_and_its_published_row() -> None:
    report_made = build_report("power-off SERVER_A")
    (failover,) = report_made["failovers"]
    assert (failover["kind"], failover["cause"]) == ("automatic", "power-off")
    assert (failover["from_server"], failover["to_server"]) == ("SERVER_A", "SERVER_B")
    stamps = [failover[step] for step in STEP_FIELDS]
    assert stamps == sorted(stamps)
    assert stamps[0] == 30.0
    assert failover["failover_s"] == pytest.approx(failover["online_t_s"] - failover["detected_t_s"])
    assert failover["published_s"] == 2.6
    assert "Table 6" in failover["published_ref"]


@pytest.mark.parametrize(
    ("line", "idle", "loaded"),
    [
        ("sql SERVER_A ALTER DATABASE Sales SET PARTNER FAILOVER", 20.5, 32.2),
        ("sql SERVER_A SHUTDOWN WITH NOWAIT", 5.7, 8.5),
        ("stop-service SERVER_A", 3.2, 10.8),
        ("shutdown-server SERVER_A", 10.2, 15.8),
        ("power-off SERVER_A", 2.2, 2.6),
        ("pull-cable SERVER_A", 1.9, 3.1),
    ],
)
def test_each_cause_of_table_6_has_its_row(line: str, idle: float, loaded: float) -> None:
    for workload, published in (("Workload1", loaded), ("none", idle)):
        report_made = build_report(
            line, changes=(('workload = "Workload1"', f'workload = "{workload}"'),), until_s=120
        )
        (failover,) = report_made["failovers"]
        assert failover["published_s"] == published, workload
        assert failover["failover_s"] == pytest.approx(published, rel=0.6), workload


NEWER_SERVER_CHANGES = tuple(
    (f'name = "{server}"', f'name = "{server}"\nversion = 2008') for server in ("SERVER_B", "SERVER_W")
)
"""Text replacements that set mirror and witness to 2008. An older witness would prevent automatic failover."""


@pytest.mark.parametrize(
    ("lines", "changes"),
    [
        (("hang SERVER_A",), ()),  # the published table has no hang
        (("slow-disk SERVER_B data factor=5", "power-off SERVER_A"), ()),
        (("power-off SERVER_A",), (('workload = "Workload1"', 'workload = "Workload2"'),)),
        (("power-off SERVER_A",), (('workload = "Workload1"', 'workload = "Workload1"\nscale = 2'),)),
        (("power-off SERVER_A",), NEWER_SERVER_CHANGES),
        (("degrade SERVER_A SERVER_B rtt_ms=50", "power-off SERVER_A"), ()),
    ],
)
def test_incomparable_conditions_are_not_compared(
    lines: tuple[str, ...], changes: tuple[tuple[str, str], ...]
) -> None:
    report_made = build_report(*lines, changes=changes)
    assert len(report_made["failovers"]) == 1
    assert "published_s" not in report_made["failovers"][0]


def test_a_canceled_failover_is_not_listed() -> None:
    report_made = build_report("pull-cable SERVER_A", "plug-cable SERVER_A")
    assert report_made["failovers"] == []


def test_availability_is_reported_in_total_and_per_database() -> None:
    availability = build_report("power-off SERVER_A")["availability"]
    assert availability["downtime_s"] == availability["databases"]["Sales"]["downtime_s"] > 2.0
    assert availability["exposed_s"] > 40.0
    assert (availability["lost_transactions"], availability["lost_kb"]) == (0, 0.0)


def test_readings_are_sampled_each_second() -> None:
    readings = build_report("power-off SERVER_A")["readings"]
    assert readings["t_s"] == [float(second) for second in range(1, 81)]
    for counter in COUNTERS:
        assert len(readings[counter]) == 80
    assert readings["transactions_per_s"][28] > 200.0
    assert readings["transactions_per_s"][32] < 50.0
    assert readings["transactions_per_s"][-1] > 200.0, "the new principal's row"


def test_readings_of_several_databases_are_sampled() -> None:
    second = '[[database]]\nname = "Stock"\nserver = "SERVER_B"\n\n[[client]]'
    readings = build_report(changes=(("[[client]]", second),), until_s=31)["readings"]
    assert set(readings["databases"]) == {"Sales", "Stock"}
    assert readings["database"] == "Sales"
    assert readings["databases"]["Sales"]["transactions_per_s"] == readings["transactions_per_s"]
    assert readings["databases"]["Stock"]["transactions_per_s"][-1] == 0.0


def test_sql_batches_include_their_messages() -> None:
    statements = build_report("sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER")["sql"]
    (batch,) = statements
    assert (batch["t_s"], batch["server"]) == (30.0, "SERVER_B")
    assert "FAILOVER" in batch["batch"]
    assert batch["messages"][0]["number"] == 1470
    assert set(batch["messages"][0]) >= {"number", "severity", "state", "line", "text"}
    assert batch["results"] == []


def test_a_programs_batch_has_its_row_count() -> None:
    login = 'connect SERVER_A#tds1 {"login": "sa", "password": "right"}'
    report_made = build_report(login, 'batch SERVER_A#tds1 "SELECT 1 AS n UNION ALL SELECT 2"')
    (done_event,) = [event for event in report_made["events"] if event["kind"] == "sql_done"]
    for statement in (report_made["sql"][0], done_event):
        assert [(result["columns"], result["rows"]) for result in statement["results"]] == [(["n"], 2)]


def test_a_long_run_of_many_databases_has_fewer_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = build_report()["readings"]
    monkeypatch.setattr("engine.drill.judging.report.READINGS_MAX", len(COUNTERS) * 30)
    fewer = build_report()["readings"]
    assert fewer["t_s"] == readings["t_s"][::3]
    assert fewer["log_used_kb"] == readings["log_used_kb"][::3]


def test_a_select_has_columns_and_rows() -> None:
    statements = build_report("sql SERVER_A SELECT name FROM sys.databases WHERE name = 'Sales'")["sql"]
    (result,) = statements[0]["results"]
    assert result["columns"] == ["name"]
    assert result["rows"] == [["Sales"]]


def test_stated_confidence_is_calibrated() -> None:
    rows: list[dict[str, Any]] = [
        {"sure_percent": percent, "correct": correct, "right": [1]}
        for percent, correct in ((90, True), (90, False), (50, True), (100, True))
    ]
    ignored: list[dict[str, Any]] = [
        {"sure_percent": None, "correct": True, "right": [1]},
        {"sure_percent": 10, "correct": True, "right": []},
    ]
    assert compute_calibration(ignored) is None
    calibrated = compute_calibration([*rows, *ignored])
    assert calibrated is not None
    assert calibrated["answers"] == 4
    assert calibrated["brier"] == pytest.approx((0.01 + 0.81 + 0.25 + 0.0) / 4)
    assert [
        (point["sure_percent"], point["right_percent"], point["answers"]) for point in calibrated["curve"]
    ] == [
        (50, 100.0, 1),
        (90, 50.0, 2),
        (100, 100.0, 1),
    ]


def test_skills_have_titles() -> None:
    assert {skill.key: skill.title for skill in load_skills()} == {
        key: get_skill_title(key) for key in load_skills_by_key()
    }
    assert all(skill.title and skill.text for skill in load_skills())
    assert get_skill_title("an-unknown-skill") == "an unknown skill"
