"""The flow model's state: rows that come and go, forks, digests, readings, and the call that runs it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import Any

import numpy as np

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.flow import derive, kernel
from engine.flow import kernel as k
from engine.flow.places import lay_out
from engine.flow.readings import POSITION_COLUMNS, Positions, Reading, Totals
from engine.flow.samples import Samples
from engine.flow.setup import Crossing, RowSetup
from engine.flow.sites import IDLE, NEC

HISTORY_MIN = 32
"""Steps that the rings of a row can look back at least; grows with the longest delay of any setup."""

SETTLE_S = 20.0
"""Time in which a row comes to rest from nothing: several response times of either workload."""

Array = np.ndarray[Any, Any]


class Flow:
    """Arrays of all rows. Parameters are shared between forks and replaced, never changed, by `setup`."""

    def __init__(self, steps_per_tick: int = 1) -> None:
        self.steps_per_tick = steps_per_tick
        self.setups: tuple[RowSetup | None, ...] = ()
        self.state: Array = np.zeros((0, k.STATE_COLUMNS))
        self.params: Array = np.zeros((0, k.PARAMETER_COLUMNS))
        self.place: Array = np.zeros((0, 3), dtype=np.int64)
        self.hosts: Array = np.zeros((0, k.HOST_COLUMNS))
        self.links: Array = np.zeros((0, k.LINK_COLUMNS))
        self.history: Array = np.zeros((0, 2, HISTORY_MIN))
        self.scratch: Array = np.zeros((2, 0))
        self.armed: Array = np.zeros(0, dtype=np.int64)
        self.clock: Array = np.array([0, steps_per_tick, 0], dtype=np.int64)

    @classmethod
    def empty(cls, steps_per_tick: int = 1) -> Flow:
        """No rows. The flow itself takes more steps per tick of 10 ms where a workload is too quick for one."""
        return cls(steps_per_tick)

    @property
    def step_s(self) -> float:
        return 1.0 / TICKS_PER_S / self.steps_per_tick

    def fork(self) -> Flow:
        """An independent copy that continues identically."""
        other = Flow.__new__(Flow)
        other.steps_per_tick = self.steps_per_tick
        other.setups = self.setups
        other.params = self.params
        other.place = self.place
        other.state = self.state.copy()
        other.hosts = self.hosts.copy()
        other.links = self.links.copy()
        other.history = self.history.copy()
        other.scratch = self.scratch.copy()
        other.armed = self.armed.copy()
        other.clock = self.clock.copy()
        return other

    def digest(self) -> bytes:
        """16 bytes over everything that matters to the future."""
        h = hashlib.blake2b(digest_size=16)
        for array in (
            self.state,
            self.params,
            self.place,
            self.hosts,
            self.history,
            self.armed,
            self.clock,
            self.links,
        ):
            h.update(array.data)
        return h.digest()

    # Rows

    def add_row(self, setup: RowSetup) -> int:
        """Adds a live copy of a database, all connections thinking, no log. Returns its row."""
        if None in self.setups:
            row = self.setups.index(None)
        else:
            row = len(self.setups)
            self.setups += (None,)
            self.state = np.vstack([self.state, np.zeros((1, k.STATE_COLUMNS))])
            self.params = np.vstack([self.params, np.zeros((1, k.PARAMETER_COLUMNS))])
            self.place = np.vstack([self.place, np.full((1, 3), -1, dtype=np.int64)])
            self.history = np.concatenate([self.history, np.zeros((1, 2, self.history.shape[2]))])
            self.scratch = np.zeros((2, row + 1))
            self.armed = np.append(self.armed, 0)
        self.state[row] = 0.0
        self.history[row] = 0.0
        self.armed[row] = 0
        self.state[row, k.NOISE] = 1.0 + row * 7919 + int(self.clock[k.NOW]) % 65_537
        self.state[row, k.OPERATION_RUNNING] = 1.0
        self._place(row, setup)
        return row

    def remove_row(self, row: int) -> None:
        """Takes a copy out of the model; its number may be given to a later row."""
        self._known(row)
        self.setups = _with(self.setups, row, None)
        self.params = _with_row(self.params, row, np.zeros(k.PARAMETER_COLUMNS))
        self.state[row] = 0.0
        self.armed[row] = 0
        self._recount()

    def setup(self, row: int, setup: RowSetup) -> None:
        """Changes the circumstances of a row at this instant; log positions stay."""
        self._known(row)
        self._place(row, setup)

    def row_setup(self, row: int) -> RowSetup:
        return self._known(row)

    def warm_start(self, row: int, checkpoint_phase: float = 0.5) -> None:
        """Puts populations, pages and queues at the steady state of the row's setup.

        No position falls; those ahead of the redone log rise by what is on its way in steady state. A long
        operation is left out. *checkpoint_phase* in [0, 1) is the share of the checkpoint interval gone by.
        """
        setup = self._known(row)
        alone = Flow.empty(self.steps_per_tick)
        alone.add_row(
            replace(setup, operation=None, log_size_kb=1e12, log_max_kb=1e12, host=0, mirror_host=1)
        )
        run(alone, round(SETTLE_S * TICKS_PER_S))
        _seed_pages(alone.state[0], setup, checkpoint_phase)
        self._adopt(row, alone)

    # Positions

    def positions(self, row: int) -> Positions:
        self._known(row)
        s = self.state[row]
        return Positions(**{name: float(s[column]) for name, column in POSITION_COLUMNS.items()})

    def position_kb(self, row: int, name: str) -> float:
        """One of the `positions` alone, for who asks at every tick."""
        self._known(row)
        return float(self.state[row, POSITION_COLUMNS[name]])

    def set_positions(self, row: int, **positions: float) -> None:
        """Sets named positions; the link's and the mirror's memory follow, as after a reconnection."""
        self._known(row)
        s = self.state[row]
        for name, value in positions.items():
            column = POSITION_COLUMNS[name]
            if column < k.TOTALS:  # a jump is no rate
                s[k.LAST + column] += value - s[column]
            s[column] = value
        s[k.RELEASED] = min(max(s[k.RELEASED], s[k.FLUSHED]), s[k.GENERATED])
        self.history[row, 0] = s[k.RECEIVED]
        self.history[row, 1] = s[k.HARDENED]

    def add_log_kb(self, row: int, kb: float) -> None:
        """Log that statements outside the workload write, at this instant."""
        self._known(row)
        self.state[row, k.GENERATED] += kb

    def set_log_reuse_kb(self, row: int, kb: float) -> None:
        """Log before *kb* may be overwritten: log used is what was generated since."""
        self._known(row)
        self.state[row, k.REUSE] = kb

    def start_operation(self, row: int) -> None:
        """Starts (again) the operation of the row's setup from its beginning."""
        operation = self._known(row).operation
        self.state[row, k.OPERATION_LEFT] = operation.log_kb if operation is not None else 0.0
        self.state[row, k.OPERATION_RUNNING] = 1.0

    # Observation

    def reading(self, row: int) -> Reading:
        self._known(row)
        out = np.zeros(len(k.COUNTERS))
        host, mirror = int(self.place[row, k.HOST]), int(self.place[row, k.MIRROR_HOST])
        k.read_counters(self.state, self.params, row, self.hosts, host, mirror, out)
        return Reading(*out.tolist())

    def totals(self, row: int) -> Totals:
        self._known(row)
        s = self.state[row]
        mirror = int(self.place[row, k.MIRROR_HOST])
        core_s = self.hosts[:, k.CORE_S]
        mirror_core_s = float(core_s[mirror]) if mirror >= 0 else 0.0
        values = [*s[: k.TOTALS].tolist(), float(core_s[self.place[row, k.HOST]]), mirror_core_s]
        return Totals(*values)

    def waiting_for_workers(self, row: int) -> float:
        """Connections of the row that wait for a worker thread of their instance."""
        self._known(row)
        return float(self.state[row, k.QUEUED])

    def waited_for_workers_s(self, row: int) -> float:
        """Connection seconds that have passed in waiting for a worker thread since the row began."""
        self._known(row)
        return float(self.state[row, k.QUEUED_S])

    def crossings(self, row: int) -> Crossing:
        """What holds for the row now, armed or not."""
        self._known(row)
        return Crossing(k.crossings_of(self.state, self.params, row))

    def caught_up(self, row: int) -> bool:
        """The mirror has hardened all log but what is on its way: the send queue is under a block."""
        return Crossing.SEND_DONE in self.crossings(row)

    def watch(self, row: int, crossings: Crossing) -> None:
        """Arms the crossings at which `run` stops for this row; Crossing(0) disarms."""
        self._known(row)
        self.armed[row] = int(crossings)

    # Inside

    def _known(self, row: int) -> RowSetup:
        setup = self.setups[row] if 0 <= row < len(self.setups) else None
        if setup is None:
            raise KeyError(f"the flow has no row {row}")
        return setup

    def _place(self, row: int, setup: RowSetup) -> None:
        before = self.setups[row]
        self._refine(derive.steps_per_tick(setup))
        params = derive.parameters(setup, self.step_s)
        self.setups = _with(self.setups, row, setup)
        self.params = _with_row(self.params, row, params)
        self._recount()
        self._need_history(params)
        s = self.state[row]
        s[k.STALL_S] = 0.0
        if before is None or before.log_size_kb != setup.log_size_kb:
            s[k.LOG_SIZE] = setup.log_size_kb
        _resize_population(s, setup)
        if setup.operation is not None and (before is None or before.operation != setup.operation):
            self.start_operation(row)
        elif setup.operation is None:
            s[k.OPERATION_LEFT] = 0.0

    def _recount(self) -> None:
        self.place, self.hosts, self.links = lay_out(self.setups, self.hosts)

    def _refine(self, steps_per_tick: int) -> None:
        """Shortens the step for a workload whose transactions are quicker than it; never lengthens it."""
        factor = steps_per_tick // self.steps_per_tick
        if factor <= 1:
            return
        self.steps_per_tick = steps_per_tick
        self.clock[k.STEPS_PER_TICK] = steps_per_tick
        for row, setup in enumerate(self.setups):
            if setup is not None:
                self.params = _with_row(self.params, row, derive.parameters(setup, self.step_s))
        length, now = self.history.shape[2], int(self.clock[k.NOW])
        rings = np.zeros((len(self.history), 2, length * factor))
        for back in range(length * factor):
            newer, older = back // factor, min(back // factor + 1, length - 1)
            part = back % factor / factor
            past = self.history[:, :, (now - newer) % length]
            rings[:, :, (now - back) % (length * factor)] = past + part * (
                self.history[:, :, (now - older) % length] - past
            )
        self.history = rings

    def _need_history(self, params: Array) -> None:
        """Lengthens the rings when a delay of this setup is longer than they are."""
        message = params[k.WINDOW_KB] * params[k.PER_MESSAGE_KB_STEPS]
        turn = 2.0 * len(self.setups) * float(self.hosts[:, k.WAKE_UP_S].max()) / self.step_s
        out = params[k.ONE_WAY_STEPS] + message + 4.0 * params[k.JITTER_STEPS]
        need = max(params[k.ACK_STEPS], out) + turn + 4.0
        length = self.history.shape[2]
        if need <= length:
            return
        grown = 1 << (math.ceil(need) - 1).bit_length()
        rings = np.zeros((len(self.history), 2, grown))
        now = int(self.clock[k.NOW])
        for back in range(grown):
            rings[:, :, (now - back) % grown] = self.history[:, :, (now - min(back, length - 1)) % length]
        self.history = rings

    def _adopt(self, row: int, alone: Flow) -> None:
        """Takes over the steady state of *alone*, its log moved to where this row's redone log is."""
        s, steady = self.state[row], alone.state[0].copy()
        anchor = k.REDONE if derive.attached(self._known(row)) else k.FLUSHED
        shift = s[anchor] - steady[anchor]
        kept = (k.TRANSACTIONS, k.REUSE, k.LOG_SIZE, k.OPERATION_LEFT, k.NOISE)
        changed = {column: s[column] for column in kept}
        for column in POSITION_COLUMNS.values():
            if column != k.TRANSACTIONS:
                changed[column] = max(s[column], steady[column] + shift)
        s[:] = steady
        for column, value in changed.items():
            s[column] = value
        s[k.RELEASED] = s[k.FLUSHED]
        s[k.CHECKPOINT_LOG] += s[k.GENERATED] - steady[k.GENERATED]
        since_look_s = int(self.clock[k.TICKS]) % k.LOOK_TICKS / TICKS_PER_S
        for total in range(k.TOTALS):
            s[k.LAST + total] = s[total] - s[k.SMOOTH + total] * since_look_s
        now, length = int(self.clock[k.NOW]), self.history.shape[2]
        then, size = int(alone.clock[k.NOW]), alone.history.shape[2]
        moved = s[[k.SENT, k.HARDENED]] - steady[[k.SENT, k.HARDENED]]
        for back in range(length):
            past = alone.history[0, :, (then - min(back, size - 1)) % size]
            self.history[row, :, (now - back) % length] = past + moved


def run(flow: Flow, ticks: int, samples: Samples | None = None) -> tuple[int, list[tuple[int, Crossing]]]:
    """Advances all rows by at most *ticks* of 10 ms; stops after the tick at which an armed crossing holds.

    Returns the ticks run and (row, crossings) for each row with an armed crossing that holds.
    """
    every, room, before = 0, _NO_SAMPLES, int(flow.clock[k.TICKS])
    if samples is not None:
        every = samples.every
        room = samples.room_for(ticks // every + 1, len(flow.setups))
    ran = kernel.advance(
        flow.state,
        flow.params,
        flow.place,
        flow.hosts,
        flow.links,
        flow.history,
        flow.scratch,
        flow.armed,
        room,
        flow.clock,
        ticks,
        every,
        flow.step_s,
    )
    assert ran >= 0, f"row {-1 - ran} of the flow does not balance: {flow.state[-1 - ran].tolist()}"
    if samples is not None:
        samples.took(before, before + ran)
    held = np.zeros(len(flow.armed), dtype=np.int64)
    if kernel.note_crossings(flow.state, flow.params, flow.armed, held) == 0:
        return ran, []
    return ran, [(row, Crossing(int(held[row]))) for row in np.flatnonzero(held).tolist()]


def warm_up() -> None:
    """Compiles the step, or loads it from disk: seconds after installation, a third of one later.

    May be called from a thread, so that a window need not wait for it.
    """
    flow = Flow.empty()
    run(flow, 0)
    flow.reading(flow.add_row(RowSetup(site=NEC, workload=IDLE)))
    flow.caught_up(0)


_NO_SAMPLES = np.zeros((0, 0, 0))


def _with(
    setups: tuple[RowSetup | None, ...], row: int, setup: RowSetup | None
) -> tuple[RowSetup | None, ...]:
    return (*setups[:row], setup, *setups[row + 1 :])


def _with_row(array: Array, row: int, values: Array) -> Array:
    changed = array.copy()
    changed[row] = values
    return changed


def _resize_population(s: Array, setup: RowSetup) -> None:
    """Connections follow the setup; without service all of them are outside transactions."""
    total = setup.workload.connections * setup.scale
    inside = (k.QUEUED, k.IN_OTHER, k.ON_CPU, k.BLOCKED, k.WAITING)
    if not setup.serving:
        for column in inside:
            s[column] = 0.0
        s[k.THINKING] = total
        s[k.COMMIT_RATE] = 0.0
        return
    busy = arithmetic.total(float(s[column]) for column in inside)
    if busy > total:
        for column in inside:
            s[column] *= total / busy
        busy = total
    s[k.THINKING] = total - busy


def _seed_pages(s: Array, setup: RowSetup, phase: float) -> None:
    """Pages dirtied and log written since the last checkpoint, from the row's own rates."""
    site, load = setup.site, setup.workload
    since = (phase % 1.0) * site.checkpoint_interval_s
    touches = s[k.SMOOTH + k.GENERATED] * load.page_touches / load.log_kb_per_transaction
    before = load.hot_pages * (1.0 - arithmetic.exp(-touches * site.checkpoint_interval_s / load.hot_pages))
    s[k.DIRTY] = load.hot_pages * (1.0 - arithmetic.exp(-touches * since / load.hot_pages))
    s[k.CHECKPOINT_BACKLOG] = max(0.0, before - site.checkpoint_pages_per_s * since)
    s[k.SINCE_CHECKPOINT_S] = since
    s[k.CHECKPOINT_LOG] = s[k.GENERATED] - s[k.SMOOTH + k.GENERATED] * since
    if setup.availability_group:
        s[k.MIRROR_DIRTY] = s[k.DIRTY]
