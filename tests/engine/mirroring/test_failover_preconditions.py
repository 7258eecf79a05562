"""Preconditions of automatic failover: a scenario that violates one precondition reports exactly this one."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model import Safety
from engine.protocol.group_policies import has_automatic_failover, list_preconditions
from tests.engine.worlds import DB, M, P, W, apply_lines, build_lab


def find_unmet_preconditions(*lines: str, before_s: float = 20.0, **kind: Any) -> list[str]:
    """Apply *lines*, then power off the principal; return the unmet preconditions."""
    world = build_lab(**kind)
    if lines:
        apply_lines(world, *lines, wait_s=before_s)
    apply_lines(world, f"power-off {P}", wait_s=1.3)
    return [p.name for p in list_preconditions(world, DB) if not p.holds]


def test_all_preconditions_are_met_at_the_failover() -> None:
    assert find_unmet_preconditions() == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"cut {M} {W}", "mirror and witness are connected"),
        (f"cut {P} {M}", "the witness has no record that the principal ran without the mirror"),
        (
            f"sql {P} ALTER DATABASE {DB} SET PARTNER SUSPEND",
            "the session was SYNCHRONIZED when the mirror lost the principal",
        ),
    ],
)
def test_the_violated_precondition_is_named(line: str, expected: str) -> None:
    assert expected in find_unmet_preconditions(line)


def test_safety_off_is_named() -> None:
    assert "safety is FULL" in find_unmet_preconditions(safety=Safety.OFF)


def test_no_witness_is_named() -> None:
    assert "a witness is configured" in find_unmet_preconditions(witness=False)


def test_armed_predicts_whether_a_lost_principal_causes_a_failover() -> None:
    for lines in (
        (),
        (f"cut {M} {W}",),
        (f"cut {P} {W}",),
        (f"power-off {W}",),
        (f"cut {P} {M}",),
        (f"hang {M}",),
    ):
        world = build_lab()
        apply_lines(world, *lines, wait_s=20.0)
        expected = has_automatic_failover(world, DB)
        apply_lines(world, f"power-off {P}", wait_s=20.0)
        assert bool(world.failovers and world.failovers[-1].online_tick) is expected, lines


def test_nothing_is_armed_without_mirroring() -> None:
    world = build_lab()
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=1.0)
    assert not has_automatic_failover(world, DB)


def test_a_missing_witness_has_no_preconditions() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"power-off {P}", wait_s=20.0)
    conditions = list_preconditions(world, DB)
    assert [p.name for p in conditions if "witness" in f"{p.name} {p.seen_in}"] == ["a witness is configured"]
    assert not has_automatic_failover(world, DB)
