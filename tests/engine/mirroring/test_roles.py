"""Table of state transitions: it generates the help page, and other transitions are errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import simulator
from engine.mirroring import roles
from engine.model import MirrorState, to_ticks
from engine.verbs.input_lines import parse_input_line
from tests.engine.worlds import PRINCIPAL, build_lab

PAGE = Path(__file__).parents[3] / "assets" / "help" / "mirroring_states.md"


def format_transitions_page() -> str:
    """Format the help page of mirroring states from `roles.NEXT_STATE`, as a table in Markdown."""
    arrows: dict[tuple[MirrorState, MirrorState], list[str]] = {}
    for (old, cause), new in roles.NEXT_STATE.items():
        if old is not new:
            arrows.setdefault((old, new), []).append(cause.value)
    table = [
        f"| {old.name} | {', '.join(causes)} | {new.name} |" for (old, new), causes in sorted(arrows.items())
    ]
    return "\n".join(
        [
            "# Mirroring states",
            "",
            "The state of a session as `sys.database_mirroring` shows it, and what moves it.",
            "",
            "| from | when | to |",
            "|---|---|---|",
            *table,
            "",
        ]
    )


def test_the_help_page_is_generated_from_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == format_transitions_page()


def test_a_transition_outside_the_table_is_an_error() -> None:
    world = build_lab()
    before = world.copies[PRINCIPAL]
    with pytest.raises(KeyError):
        roles.apply_state_change(world, PRINCIPAL, roles.StateChangeCause.RESUME)
    assert world.copies[PRINCIPAL] is before


# --- every row of the table occurs
# ----------------------------------------------------------------------------

SET_PARTNER = "sql {server} ALTER DATABASE Sales SET PARTNER {what}"
A, B = "SERVER_A", "SERVER_B"

SEQUENCES: dict[str, list[tuple[float, str]]] = {
    "a cut, and the way back": [(1, "cut SERVER_A SERVER_B"), (20, "mend SERVER_A SERVER_B"), (60, "note over")],
    "lost again while catching up": [
        (1, SET_PARTNER.format(server=A, what="SUSPEND")), (20, "degrade SERVER_A SERVER_B bandwidth_mbps=1"),
        (21, SET_PARTNER.format(server=A, what="RESUME")), (25, "black-hole SERVER_A SERVER_B"),
    ],
    "power lost while catching up": [
        (1, SET_PARTNER.format(server=A, what="SUSPEND")), (20, "degrade SERVER_A SERVER_B bandwidth_mbps=1"),
        (21, SET_PARTNER.format(server=A, what="RESUME")), (25, "power-off SERVER_B"),
    ],
    "suspended while catching up": [
        (1, SET_PARTNER.format(server=A, what="SUSPEND")), (20, "degrade SERVER_A SERVER_B bandwidth_mbps=1"),
        (21, SET_PARTNER.format(server=A, what="RESUME")), (25, SET_PARTNER.format(server=A, what="SUSPEND")),
    ],
    "suspended, cut, resumed": [
        (1, SET_PARTNER.format(server=A, what="SUSPEND")), (2, SET_PARTNER.format(server=A, what="SUSPEND")),
        (3, "cut SERVER_A SERVER_B"), (20, "mend SERVER_A SERVER_B"), (30, SET_PARTNER.format(server=A, what="RESUME")),
    ],
    "suspended, and the mirror restarted": [
        (1, SET_PARTNER.format(server=A, what="SUSPEND")), (2, "restart-service SERVER_B"),
    ],
    "suspended while disconnected": [
        (1, "power-off SERVER_B"), (15, SET_PARTNER.format(server=A, what="SUSPEND")),
    ],
    "both gone": [(1, "power-off SERVER_B"), (15, "power-off SERVER_A")],
    "forced": [
        (1, "sql SERVER_A ALTER DATABASE Sales SET WITNESS OFF"), (2, "power-off SERVER_A"),
        (20, SET_PARTNER.format(server=B, what="FORCE_SERVICE_ALLOW_DATA_LOSS")),
    ],
    "forced from suspended": [
        (1, "sql SERVER_A ALTER DATABASE Sales SET WITNESS OFF"), (2, SET_PARTNER.format(server=A, what="SUSPEND")),
        (3, "power-off SERVER_A"), (20, SET_PARTNER.format(server=B, what="FORCE_SERVICE_ALLOW_DATA_LOSS")),
    ],
    "a failover by hand": [(1, SET_PARTNER.format(server=A, what="FAILOVER"))],
    "a failover by hand, cut": [(1, SET_PARTNER.format(server=A, what="FAILOVER")), (1.02, "cut SERVER_A SERVER_B")],
    "a failover by hand, power lost": [
        (1, SET_PARTNER.format(server=A, what="FAILOVER")), (1.02, "power-off SERVER_A"),
    ],
    "safety raised with a backlog": [
        (1, SET_PARTNER.format(server=A, what="SAFETY OFF")), (2, "degrade SERVER_A SERVER_B bandwidth_mbps=1"),
        (12, SET_PARTNER.format(server=A, what="SAFETY FULL")),
    ],
}  # fmt: skip
"""Name -> (second, input line) of a sequence. Each sequence continues for a minute after the last line."""


class RecordingTable(dict[tuple[MirrorState, roles.StateChangeCause], MirrorState]):
    """Transition table that records which of its rows are used."""

    def __init__(self, rows: dict[tuple[MirrorState, roles.StateChangeCause], MirrorState]) -> None:
        super().__init__(rows)
        self.played: set[tuple[MirrorState, roles.StateChangeCause]] = set()

    def __getitem__(self, row: tuple[MirrorState, roles.StateChangeCause]) -> MirrorState:
        self.played.add(row)
        return super().__getitem__(row)


def test_every_row_of_the_table_occurs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The help page shows the table, so the engine must be able to produce every transition in it."""
    table = RecordingTable(roles.NEXT_STATE)
    monkeypatch.setattr(roles, "NEXT_STATE", table)
    for course in SEQUENCES.values():
        world = build_lab()
        for at_s, line in course:
            simulator.advance_world(world, to_ticks(at_s))
            simulator.apply_input(world, parse_input_line(line, world.tick))
        simulator.advance_world(world, world.tick + to_ticks(60.0))
    assert set(table) - table.played == set()
