"""Tests of the comparison of two reports as rows."""

from __future__ import annotations

from typing import Any, cast

from app.view_models.run_comparison import (
    BETTER,
    WORSE,
    compare_figures,
    compare_score_items,
    format_remark,
    list_compared_actions,
)
from engine.drill.judging.report_types import Report


def build_report(**changes: Any) -> Report:
    """Return a report with the fields that the comparison reads. *changes* replace some of them."""
    defaults: dict[str, Any] = {
        "scenario": "lights-out",
        "title": "Lights out",
        "mode": "practice",
        "seed": 11,
        "ended_at_s": 120.0,
        "inputs": ["10 note seen", "93 power-on SERVER_A"],
        "events": [{"kind": "hint"}],
        "failovers": [{"failover_s": 2.71}, {"failover_s": None}],
        "availability": {"downtime_s": 3.5, "exposed_s": 60.0, "lost_transactions": 0, "lost_kb": 0.0},
        "goals": [{"met": True}, {"met": False}],
        "rewinds": [],
        "score": {
            "scored": True,
            "total": 80.0,
            "items": [{"name": "Downtime", "points": 10.0, "max": 15.0}],
        },
    }
    return cast(Report, {**defaults, **changes})


def test_the_figures_show_which_run_was_better() -> None:
    better = build_report(
        availability={"downtime_s": 1.5, "exposed_s": 90.0, "lost_transactions": 0, "lost_kb": 0.0},
        score={"scored": True, "total": 92.5, "items": [{"name": "Downtime", "points": 15.0, "max": 15.0}]},
    )
    rows = {row.figure: row for row in compare_figures(build_report(), better)}
    assert (rows["points"].difference, rows["points"].verdict) == ("+12.5", BETTER)
    assert (rows["downtime"].difference, rows["downtime"].verdict) == ("−2.00 s", BETTER)
    assert rows["unprotected"].verdict == WORSE
    assert not rows["committed transactions lost"].verdict
    (item,) = compare_score_items(build_report(), better)
    assert (item.left, item.right, item.difference) == ("10 of 15", "15 of 15", "+5")
    assert "drill" not in rows


def test_a_value_of_only_one_run_is_not_compared() -> None:
    lab = build_report(
        scenario="lab", title="The lab", goals=[], score={"scored": False, "total": 0, "items": []}
    )
    rows = {row.figure: row for row in compare_figures(build_report(), lab)}
    assert (rows["points"].right, rows["points"].difference) == ("–", "")
    assert rows["drill"].right == "The lab"
    assert "points" not in {row.figure for row in compare_figures(lab, lab)}
    assert (
        format_remark(build_report(), lab)
        != format_remark(build_report(), build_report())
        != format_remark(build_report(), build_report(seed=12))
    )


def test_actions_of_both_runs_are_in_time_order() -> None:
    other_report = build_report(inputs=["10 sql SERVER_B SELECT\n  1", "10 note seen", "12.5 finish"])
    assert [
        (act.t_s, act.left, act.right) for act in list_compared_actions(build_report(), other_report)
    ] == [
        (10.0, "Note: seen", "SELECT 1 on SERVER_B"),
        (10.0, "", "Note: seen"),
        (12.5, "", "End drill"),
        (93.0, "SERVER_A ▸ Power on", ""),
    ]
