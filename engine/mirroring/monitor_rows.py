"""Rows of the Database Mirroring Monitor, stored compactly so that a week of them can be forked at no cost."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from engine.flow import Array
from engine.model import MirrorState, Role, Tick, WitnessState


class MonitorRow(Struct, frozen=True, kw_only=True):
    """Row of msdb.dbo.dbm_monitor_data, with the values that sp_dbmmonitorresults derives from it."""

    tick: Tick
    role: Role
    state: MirrorState
    witness_state: WitnessState
    log_rate_kb_per_s: float = 0.0
    unsent_kb: float = 0.0
    send_rate_kb_per_s: float = 0.0
    unrestored_kb: float = 0.0
    restore_rate_kb_per_s: float = 0.0
    transaction_delay_ms: float = 0.0
    transactions_per_s: float = 0.0
    average_delay_ms: float = 0.0
    end_of_log_kb: float = 0.0
    failover_lsn_kb: float = 0.0
    time_behind_tick: Tick = 0
    """Time of the principal up to which the mirror has all log; equal to *tick* if nothing is unsent."""


NAMES: Final = MonitorRow.__struct_fields__
KINDS: Final = {"Tick": "i8", "Role": "i1", "MirrorState": "i1", "WitnessState": "i1", "float": "f8"}
COLUMNS: Final = np.dtype([(name, KINDS[str(MonitorRow.__annotations__[name])]) for name in NAMES])
"""Columns of a row: 107 bytes without rounding."""

ROOM: Final = 16
"""Initial capacity in rows."""


class _Buffer:
    """Append-only rows; a reader that knows an earlier count sees the rows of that time."""

    def __init__(self, rows: Array) -> None:
        self.rows = np.zeros(max(ROOM, 2 * len(rows)), dtype=COLUMNS)
        self.rows[: len(rows)] = rows
        self.used = len(rows)


class MonitorRows(Sequence[MonitorRow]):
    """Rows of one database on one server, oldest first. Immutable: `with_row` returns a new object."""

    __slots__ = ("_buffer", "_digest", "_first", "_until")

    def __init__(self) -> None:
        self._buffer = _Buffer(np.zeros(0, dtype=COLUMNS))
        self._first = self._until = 0
        self._digest = ""

    def with_row(self, row: MonitorRow, oldest: Tick) -> MonitorRows:
        """Return these rows without those before tick *oldest*, and with *row* appended."""
        other = MonitorRows.__new__(MonitorRows)
        first = self._first + int(np.searchsorted(self.columns["tick"], oldest))
        buffer, until = self._buffer, self._until
        if until < buffer.used or until in (
            0,
            len(buffer.rows),
        ):  # another fork has continued from here, or it is full
            buffer, first, until = _Buffer(buffer.rows[first:until]), 0, until - first
        buffer.rows[until] = astuple(row)
        buffer.used = until + 1
        other._buffer, other._first, other._until = buffer, first, until + 1
        other._digest = hashlib.blake2b(f"{self._digest}{row!r}".encode(), digest_size=16).hexdigest()
        return other

    @property
    def columns(self) -> Array:
        """One entry of `COLUMNS` for each row."""
        return self._buffer.rows[self._first : self._until]

    def rows_since(self, tick: Tick) -> list[MonitorRow]:
        """Return the rows from *tick* on."""
        return self[int(np.searchsorted(self.columns["tick"], tick)) :]

    def find_last(self, role: Role, ends_by_kb: float) -> int | None:
        """Place of the last row of this *role* whose log ends by *ends_by_kb*; None if there is none."""
        columns = self.columns
        found = np.flatnonzero((columns["role"] == role) & (columns["end_of_log_kb"] <= ends_by_kb))
        return int(found[-1]) if len(found) else None

    def __len__(self) -> int:
        return self._until - self._first

    def __iter__(self) -> Iterator[MonitorRow]:
        return iter(self[:])

    @overload
    def __getitem__(self, place: int) -> MonitorRow: ...
    @overload
    def __getitem__(self, place: slice) -> list[MonitorRow]: ...
    def __getitem__(self, place: int | slice) -> MonitorRow | list[MonitorRow]:
        found = self.columns[place]
        return [_row(one) for one in found.tolist()] if isinstance(place, slice) else _row(found.item())

    def __repr__(self) -> str:
        """Return the text for the state hash. It covers all rows that were ever recorded."""
        return f"MonitorRows({len(self)}, {self._digest!r})"


def _row(values: tuple[Any, ...]) -> MonitorRow:
    found = dict(zip(NAMES, values, strict=True))
    found["role"], found["state"] = Role(found["role"]), MirrorState(found["state"])
    found["witness_state"] = WitnessState(found["witness_state"])
    return MonitorRow(**found)
