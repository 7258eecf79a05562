"""States of copies, contacts and witness after many losses and commands, compared with a recorded table.

The table has a part for each operating mode. `pytest --rewrite` records state_table.txt anew; review the
diff.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from engine.mirroring import monitor, quorum
from engine.model import Safety, World
from tests import recordings
from tests.engine.mirroring.test_policy_table import describe_copy
from tests.engine.worlds import DB, M, P, W, build_lab

TABLE: Final = Path(__file__).parent / "state_table.txt"
SET_OPTION: Final = f"ALTER DATABASE {DB} SET"
FORCE_SERVICE_LINE: Final = f"sql {M} {SET_OPTION} PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"

MODES: Final = {"witness": (Safety.FULL, True), "FULL": (Safety.FULL, False), "OFF": (Safety.OFF, False)}

SEQUENCES: Final[dict[str, recordings.Steps]] = {
    "principal-lost": (
        (f"power-off {P}", 0.5),
        ("", 1.0),
        ("", 1.0),
        ("", 30.0),
        (FORCE_SERVICE_LINE, 30.0),
        (f"power-on {P}", 65.0),
        ("", 90.0),
    ),
    "mirror-lost": ((f"power-off {M}", 0.5), ("", 20.0), (f"power-on {M}", 66.0), ("", 1.0), ("", 60.0)),
    "witness-lost": (
        (f"power-off {W}", 0.5),
        ("", 20.0),
        (f"power-off {M}", 20.0),
        (f"power-on {W}", 120.0),
        (f"power-on {M}", 120.0),
    ),
    "link-cut": ((f"cut {P} {M}", 5.0), ("", 5.5), ("", 20.0), (f"mend {P} {M}", 1.0), ("", 1.0), ("", 60.0)),
    "isolated": (
        (f"pull-cable {P}", 5.0),
        ("", 5.5),
        ("", 20.0),
        (FORCE_SERVICE_LINE, 20.0),
        (f"plug-cable {P}", 2.0),
        ("", 60.0),
    ),
    "hang": ((f"hang {P}", 9.5), ("", 1.0), ("", 20.0), (f"unhang {P}", 1.0), ("", 60.0)),
    "service": (
        (f"stop-service {P}", 0.5),
        ("", 20.0),
        (FORCE_SERVICE_LINE, 30.0),
        (f"start-service {P}", 5.0),
        ("", 60.0),
    ),
    "restart": ((f"restart-service {P}", 1.0), ("", 60.0), (f"restart-service {M}", 1.0), ("", 60.0)),
    "failover": (
        (f"sql {P} {SET_OPTION} PARTNER FAILOVER", 0.05),
        ("", 0.5),
        ("", 0.5),
        ("", 5.0),
        (f"sql {M} {SET_OPTION} PARTNER FAILOVER", 30.0),
    ),
    "suspended": (
        (f"sql {P} {SET_OPTION} PARTNER SUSPEND", 10.0),
        (f"power-off {P}", 20.0),
        (FORCE_SERVICE_LINE, 20.0),
        (f"power-on {P}", 150.0),
        (f"sql {M} {SET_OPTION} PARTNER RESUME", 60.0),
    ),
    "behind": (
        (f"degrade {P} {M} bandwidth_mbps=2", 60.0),
        (f"cut {P} {M}", 20.0),
        (f"mend {P} {M}", 2.0),
        ("", 10.0),
        (f"power-off {P}", 20.0),
        (FORCE_SERVICE_LINE, 20.0),
    ),
    "safety": (
        (f"sql {P} {SET_OPTION} PARTNER SAFETY OFF", 1.0),
        (f"sql {P} {SET_OPTION} PARTNER TIMEOUT 30", 1.0),
        (f"sql {P} {SET_OPTION} PARTNER SAFETY FULL", 0.1),
        (f"sql {P} {SET_OPTION} PARTNER TIMEOUT 30", 1.0),
        (f"hang {P}", 29.0),
        ("", 20.0),
    ),
    "removed": (
        (f"cut {P} {M}", 20.0),
        (f"sql {P} {SET_OPTION} PARTNER OFF", 1.0),
        (f"mend {P} {M}", 2.0),
        ("", 30.0),
    ),
    "disk": (
        (f"fail-disk {P} {DB}", 1.0),
        ("", 20.0),
        (f"mend-disk {P} {DB}", 60.0),
        (f"fail-disk {M} {DB}", 20.0),
        (f"mend-disk {M} {DB}", 60.0),
    ),
    "pages": (
        (f"corrupt-page {P} {DB} page=200", 5.0),
        ("", 30.0),
        (f"corrupt-page {M} {DB} page=300", 5.0),
        ("", 30.0),
    ),
    "endpoint": (
        (f"sql {M} ALTER ENDPOINT Mirroring STATE = STOPPED", 1.0),
        ("", 20.0),
        (f"sql {M} ALTER ENDPOINT Mirroring STATE = STARTED", 2.0),
        ("", 30.0),
    ),
}


def describe_state(world: World, server: str) -> str:
    copy = world.copies[server, DB]
    session = copy.mirroring
    words = [server, describe_copy(world, server), copy.db_state.name, f"trace={session.trace}"]
    words += [
        f"safety_sequence={session.safety_sequence}",
        f"armed={session.armed}",
        f"lost={copy.written_off_kb:.0f}",
    ]
    words.append(f"unsent={monitor.compute_send_queue_kb(world, copy):.0f}")
    words.append(f"redo_failed={session.redo_failed} bad_pages={len(copy.bad_pages)}")
    if session.guid is not None:
        stated = {
            "quorum": quorum.has_quorum(world, copy),
            "sees-partner": quorum.is_connected_to_partner(world, copy),
            "sees-witness": quorum.is_connected_to_witness(world, copy),
            "awaits-consent": quorum.is_awaiting_consent(world, copy),
        }
        words += [word for word, true in stated.items() if true]
    return " ".join(words)


def describe_world(world: World) -> list[str]:
    rows = [describe_state(world, server) for server in (P, M)]
    for record in world.witnesses.values():
        words = f"{record.server} principal={record.principal} mirror={record.mirror} sequence={record.role_sequence}"
        rows.append(f"{words} exposed={record.exposed}")
    rows += [
        f"{me} to {peer}: {c.connected} {c.pending}" for (_, me, peer), c in sorted(world.contacts.items())
    ]
    return rows


def play_steps(mode: str, steps: recordings.Steps) -> list[str]:
    """Return the states after each step, without lines that equal those of the step before."""
    safety, witness = MODES[mode]
    world = build_lab(safety=safety, witness=witness)
    return recordings.play_steps(world, (("", 0.1), *steps), describe_world)


def test_states_are_as_in_the_table(request: pytest.FixtureRequest) -> None:
    rows = [
        row
        for name, steps in SEQUENCES.items()
        for mode in MODES
        for row in (f"# {name} {mode}", *play_steps(mode, steps))
    ]
    recordings.compare_lines(TABLE, rows, request)
