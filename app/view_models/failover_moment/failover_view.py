"""One failover as a sequence of phases with start and end ticks, and the timing of its replay. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from app.view_models.failover_moment.phases import PHASES, PhaseKind
from app.words.language import mark
from engine.cluster.instances import NAME_ONLINE_S
from engine.constants import TICKS_PER_S
from engine.drill.judging.report import DISCONNECTION_CHANGES
from engine.drill.running.published_comparison import INSTANCE, find_technology
from engine.drill.time.event_log import select_events
from engine.events import ClientData, ClusterData, DetectedData, Event, select_data
from engine.model import Failover, Tick, World, to_ticks
from engine.protocol.service import SERVICE_START_TEXT

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

Milestones = Mapping[str, Tick | None]
"""Milestone -> tick at which it was reached; None if it has not been reached."""


class FailoverPhase(Struct, frozen=True):
    """Phase of a failover, with its start and end ticks.

    *start_tick* is None until the phase begins, and *end_tick* is None until it ends.
    """

    kind: PhaseKind
    start_tick: Tick | None
    end_tick: Tick | None

    def get_duration_ticks(self, tick: Tick) -> int:
        """Return the number of ticks that the phase has lasted at *tick*."""
        if self.start_tick is None or tick <= self.start_tick:
            return 0
        return min(tick, tick if self.end_tick is None else self.end_tick) - self.start_tick


class FailoverView(Struct, frozen=True):
    """One failover with its phases and times, as the failover stage shows it."""

    technology: str
    failover: Failover
    is_detected: bool
    """True if a server has detected the failure; False while the failover is only expected."""
    phases: tuple[FailoverPhase, ...]
    published: tuple[float, str] | None
    """(published duration in seconds, source); None without a comparable value."""
    incomparable_reason: str | None
    """Reason why no published value is comparable; None if there is one."""
    disconnect_tick: Tick | None
    """Time at which the first application lost its connections."""
    loss_ticks: Mapping[str, Tick]
    """Server -> time at which the server noticed that the failed server was gone."""

    @property
    def end_tick(self) -> Tick | None:
        """Time at which the last phase ended; None until then."""
        return self.phases[-1].end_tick

    @property
    def is_complete(self) -> bool:
        """Return whether the failover has ended or was canceled."""
        return self.failover.canceled or self.end_tick is not None

    def find_phase(self, tick: Tick) -> int:
        """Return the index of the phase that runs at *tick*.

        If the failover has ended, return the index of the last phase.
        """
        running = [
            number
            for number, phase in enumerate(self.phases)
            if phase.start_tick is not None
            and phase.start_tick <= tick
            and (phase.end_tick is None or tick < phase.end_tick)
        ]
        started_phases = [
            n
            for n, phase in enumerate(self.phases)
            if phase.start_tick is not None and phase.start_tick <= tick
        ]
        return running[0] if running else (started_phases or [0])[-1]

    @property
    def longest_phase(self) -> FailoverPhase | None:
        """Longest phase; None until all phases have ended."""
        # the first phase of a manual failover is the wait for a person's command, so it does not
        # count
        waited = 0 if self.failover.kind == "automatic" else 1
        phases = [
            phase
            for phase in self.phases[waited:]
            if phase.start_tick is not None and phase.end_tick is not None
        ]
        if self.end_tick is None or not phases:
            return None
        return max(phases, key=lambda phase: phase.get_duration_ticks(self.end_tick or 0))


def build_failover_view(drill: Drill, number: int) -> FailoverView:
    """Build the phases of failover *number* of the run, up to the current time."""
    world = drill.world
    failover = world.failovers[number]
    events = _select_phase_events(drill.events, failover.failed_tick)
    clients = list_clients(world, failover.database)
    return _build_view(
        find_technology(world, failover), failover, events, clients, find_start_due_tick(world, failover),
        drill.published.get(number), drill.unlike.get(number),
    )  # fmt: skip


def measure_phases(drill: Drill, failover: Failover) -> tuple[FailoverPhase, ...]:
    """Return the phases of *failover* until the database is online. Reconnections are not included."""
    technology = find_technology(drill.world, failover)
    events = _select_phase_events(drill.events, failover.failed_tick) if technology == INSTANCE else []
    milestones = find_milestones(failover, technology, events, (), find_start_due_tick(drill.world, failover))
    return list_phases(technology, failover, milestones, has_clients=False)


def build_expected_view(drill: Drill, failover: Failover, technology: str) -> FailoverView:
    """Build the view of an expected failover that no server has triggered yet, in its detection phase."""
    events = _select_phase_events(drill.events, failover.failed_tick)
    clients = list_clients(drill.world, failover.database)
    return _build_view(technology, failover, events, clients, None, None, None, is_detected=False)


def _build_view(
    technology: str,
    failover: Failover,
    events: Sequence[Event],
    clients: Iterable[str],
    start_due_tick: Tick | None,
    published: tuple[float, str] | None,
    incomparable_reason: str | None,
    is_detected: bool = True,
) -> FailoverView:
    names = list(clients)
    milestones = find_milestones(failover, technology, events, names, start_due_tick) if is_detected else {}
    cut_tick = next(
        (e.tick for e, change in select_data(events, ClientData) if change.what in DISCONNECTION_CHANGES),
        None,
    )
    phases = list_phases(technology, failover, milestones, bool(names))
    lost_ticks: dict[str, Tick] = {}
    for event, detected in select_data(events, DetectedData):
        is_gone = detected.peer == failover.from_server and detected.how != "connected"
        if is_gone and event.server is not None:
            lost_ticks.setdefault(event.server, event.tick)
    return FailoverView(
        technology, failover, is_detected, phases, published, incomparable_reason, cut_tick, lost_ticks
    )


COMMAND_PHASE_NAME: Final = mark("Wait for the command")
"""Name of the first phase of a failover that a person requested."""


def list_phases(
    technology: str, failover: Failover, milestones: Milestones, has_clients: bool = True
) -> tuple[FailoverPhase, ...]:
    """Return all phases of *technology*. Each phase begins when the previous one ends."""
    phases = []
    start: Tick | None = failover.failed_tick
    first, *other_phases = PHASES[technology]
    if failover.kind != "automatic":
        first = replace(first, name=COMMAND_PHASE_NAME, help=mark("until a person requests the failover"))
    for kind in (first, *other_phases):
        if kind.end_milestone == "clients" and not has_clients:
            continue
        end = milestones.get(kind.end_milestone) if start is not None else None
        end = None if end is None or start is None else max(start, end)
        phases.append(FailoverPhase(kind, start, end))
        start = end
    return tuple(phases)


def find_milestones(
    failover: Failover,
    technology: str,
    events: Sequence[Event],
    clients: Sequence[str],
    start_due_tick: Tick | None,
) -> dict[str, Tick | None]:
    """Return milestone -> its tick, or None if it has not been reached. A milestone is the end of a phase.

    *start_due_tick*: time at which the cluster will start SQL Server on the new node.
    """
    start = start_due_tick
    start_tick: Tick | None = None
    if technology == INSTANCE:
        later_events = [e for e in events if e.tick >= failover.detected_tick]
        start = next(
            (e.tick for e in later_events if e.kind == "service" and e.text == SERVICE_START_TEXT),
            start_due_tick,
        )
        start_tick = next(
            (e.tick for e, change in select_data(later_events, ClusterData) if change.what == "online"), None
        )
        if failover.online_tick is not None:
            start_tick = min(start_tick or failover.online_tick, failover.online_tick)
            start = min(start or start_tick, start_tick)
    disk = None if start is None else max(failover.detected_tick, start - to_ticks(NAME_ONLINE_S))
    return {
        "detected": failover.detected_tick,
        "voted": failover.detected_tick,
        "redo_done": failover.redo_done_tick,
        "decided": failover.decided_tick,
        "disk": disk,
        "name": start,
        "service": start_tick,
        "online": failover.online_tick,
        "undo_done": failover.undo_done_tick,
        "clients": _find_reconnect_tick(failover, events, clients),
    }


def _find_reconnect_tick(failover: Failover, events: Sequence[Event], clients: Sequence[str]) -> Tick | None:
    """Return the time at which all disconnected applications were connected again; None before that.

    If no application was disconnected, return the time at which the database came online.
    """
    if failover.online_tick is None:
        return None
    return_ticks: dict[str, Tick | None] = {}
    for event, change in select_data(events, ClientData):
        if change.client not in clients:
            continue
        if change.what in DISCONNECTION_CHANGES:
            return_ticks[change.client] = None
        elif change.what == "connected":
            return_ticks[change.client] = event.tick
        if return_ticks and None not in return_ticks.values() and event.tick >= failover.online_tick:
            return event.tick
    return failover.online_tick if not return_ticks else None


def find_start_due_tick(world: World, failover: Failover) -> Tick | None:
    """Return the time at which the cluster will start SQL Server on the new node.

    The result is None if no start is planned.
    """
    return next(
        (
            tick
            for tick, _, handler, args in world.timers
            if handler == "instance.start" and args[1] == failover.to_server
        ),
        None,
    )


def list_clients(world: World, database: str) -> list[str]:
    """Return the applications that write to *database*."""
    return [c.name for c in world.clients.values() if database in c.databases and not c.read_only]


def _select_phase_events(events: Sequence[Event], tick: Tick) -> list[Event]:
    """Return the events since *tick* of all kinds that can end a phase."""
    return [*select_events(events, "client", "cluster", "detected", "service", since_tick=tick)]


SHORT_PHASE_S: Final = 0.05
"""Simulated duration below which a phase would be too short to see in a replay. Assumed.

The replay shows such a phase for SHORT_PHASE_WALL_MS.
"""
SHORT_PHASE_WALL_MS: Final = 900
"""Wall time for which a replay shows a short phase. Our choice."""
PHASE_WALL_RANGE_S: Final = (1.2, 6.0)
"""Minimum and maximum wall time of a phase in a replay. Our choice."""
CLOCK_SPEED_MIN: Final = 0.2
"""Lowest speed of the clock in a replay, in simulated seconds per second.

PHASE_WALL_RANGE_S and SHORT_PHASE_WALL_MS take precedence. Our choice.
"""


def is_short_phase(phase: FailoverPhase) -> bool:
    """Return whether *phase* has ended and was too short to be visible."""
    if phase.start_tick is None or phase.end_tick is None:
        return False
    return (phase.end_tick - phase.start_tick) / TICKS_PER_S < SHORT_PHASE_S


def compute_replay_s(phase: FailoverPhase) -> float:
    """Return the wall time that a replay spends on *phase*."""
    if phase.start_tick is None or phase.end_tick is None:
        return 0.0
    took_s = (phase.end_tick - phase.start_tick) / TICKS_PER_S
    if took_s < SHORT_PHASE_S:
        return SHORT_PHASE_WALL_MS / 1000.0
    return min(PHASE_WALL_RANGE_S[1], max(PHASE_WALL_RANGE_S[0], took_s / CLOCK_SPEED_MIN))


def find_replay_tick(failover_view: FailoverView, wall_s: float) -> tuple[int, Tick]:
    """Return the index of the phase, and the tick, that a replay shows after *wall_s* seconds."""
    number, tick = 0, failover_view.failover.failed_tick
    for number, phase in enumerate(failover_view.phases):
        if phase.start_tick is None or phase.end_tick is None:
            break
        length_s = compute_replay_s(phase)
        tick = phase.end_tick
        if wall_s < length_s:
            share = 1.0 if tick - phase.start_tick < SHORT_PHASE_S * TICKS_PER_S else wall_s / length_s
            return number, phase.start_tick + int((tick - phase.start_tick) * share)
        wall_s -= length_s
    return min(number, len(failover_view.phases) - 1), tick


def compute_replay_length_s(failover_view: FailoverView) -> float:
    """Return the wall time of a whole replay."""
    return sum(map(compute_replay_s, failover_view.phases))


def compute_live_speed(phase: FailoverPhase, tick: Tick) -> float:
    """Return the clock speed for a running *phase*, in simulated seconds per second.

    The speed increases while the phase lasts, because nobody knows when the phase will end.
    """
    lasted_s = phase.get_duration_ticks(tick) / TICKS_PER_S
    return min(2.0, max(CLOCK_SPEED_MIN, lasted_s / 2.0))
