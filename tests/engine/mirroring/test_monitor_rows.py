"""Columns that store the rows of the monitor. Forks share them while their rows are equal."""

from __future__ import annotations

import pytest

from engine.mirroring.monitor import ROW_DTYPE, MonitorRow, MonitorRows
from engine.model import MirrorState, Role, WitnessState
from tests.room import measure_memory_bytes


def build_row(tick: int, unsent_kb: float = 0.0) -> MonitorRow:
    return MonitorRow(
        tick=tick,
        role=Role.PRINCIPAL if tick % 2 else Role.MIRROR,
        state=MirrorState.SYNCHRONIZING,
        witness_state=WitnessState.DISCONNECTED,
        end_of_log_kb=1e9 + tick / 7,
        unsent_kb=unsent_kb,
    )


def build_rows(count: int) -> MonitorRows:
    rows = MonitorRows()
    for tick in range(count):
        rows = rows.with_row(build_row(tick), 0)
    return rows


@pytest.mark.parametrize("count", [0, 1, 16, 17, 100])
def test_rows_are_read_back_unchanged(count: int) -> None:
    wanted = [build_row(tick) for tick in range(count)]
    rows = build_rows(count)
    assert list(rows) == wanted
    assert rows[-5:] == wanted[-5:]
    assert rows.list_rows_since(count - 3) == wanted[max(0, count - 3) :]
    if count:
        assert (rows[0], rows[-1]) == (wanted[0], wanted[-1])
        assert isinstance(rows[-1].state, MirrorState)


def test_deleting_old_rows_frees_their_memory() -> None:
    rows = MonitorRows()
    for tick in range(10_000):
        rows = rows.with_row(build_row(tick), tick - 50)
    assert [row.tick for row in rows] == list(range(9_949, 10_000))
    assert measure_memory_bytes([rows]) < 1_000 * ROW_DTYPE.itemsize + 10_000


def test_forks_share_their_past_and_diverge() -> None:
    first_rows = build_rows(20)
    first_history, second_history = (
        first_rows.with_row(build_row(100), 0),
        first_rows.with_row(build_row(200), 0),
    )
    ticks: set[int] = set()
    assert (
        measure_memory_bytes([first_rows], ticks)
        > measure_memory_bytes([first_history], ticks) + 10 * ROW_DTYPE.itemsize
    )
    assert [rows[-1].tick for rows in (first_rows, first_history, second_history)] == [19, 100, 200]
    assert list(first_history[:20]) == list(second_history[:20]) == list(first_rows)


def test_different_pasts_have_different_texts() -> None:
    first_rows = build_rows(3)
    histories = [
        first_rows,
        first_rows.with_row(build_row(3), 0),
        first_rows.with_row(build_row(3, unsent_kb=1.0), 0),
        first_rows.with_row(build_row(3), 2),
    ]
    assert len(set(map(repr, histories))) == 4
    assert repr(build_rows(3)) == repr(first_rows)


def test_the_last_row_of_a_role_up_to_a_log_position_is_found() -> None:
    rows = build_rows(10)
    assert rows.find_last(Role.PRINCIPAL, 1e9 + 6.5 / 7) == 5
    assert rows.find_last(Role.MIRROR, 1e9 + 6.5 / 7) == 6
    assert rows.find_last(Role.PRINCIPAL, 0.0) is None
