"""Timeline of a run: service, protection, and markers of notable events, without Qt.

Events have the form of a report (`Event.as_json()`), so that a running and a stored run have the same
timeline.
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from app.words.language import mark
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.report import ClientServiceTracker, WritingClients
from engine.drill.judging.report_types import Report, ReportRow
from engine.localization import build_message, join_messages
from engine.verbs import VERBS
from engine.verbs.input_lines import describe_line

TRAINEE_MARKER_KINDS: Final = frozenset({"repair", "sql", "error", "question", "hint", "rewind", "note"})
"""Kinds of markers that show only actions of the trainee."""

POINT_OF_NO_RETURN_KIND: Final = "no-return"
"""Kind of the marker "point of no return". The regret analysis provides this marker; no event does."""

MERGED_MARKER_KINDS: Final = frozenset({"transition", "detection"})
"""Kinds of markers that are merged if they occur at almost the same time."""
MERGED_LINES_MAX: Final = 8
"""Maximum number of text lines of one marker, because a hundred databases can change at once."""
MERGE_START_S: Final = 3600.0
"""Run time from which changes within the window of MERGE_WINDOW_SHARE are merged.

Earlier in the run, only simultaneous changes are merged.
"""
MERGE_WINDOW_SHARE: Final = 1 / 4_000
"""Time window for merging changes into one marker, as a fraction of the elapsed run time.

The window corresponds to one dot on a wide screen. Without merging, a day with a hundred databases would have
50,000 markers.
"""

SERVING, DOWN = mark("in service"), mark("down")
CLIENTS_IDLE: Final = mark("database online, clients not working")
PROTECTED, EXPOSED, UNSERVED = mark("protected"), mark("unprotected"), mark("no online database to protect")
ASYNCHRONOUS: Final = mark("asynchronous")
"""Protection state of a mirror with SAFETY OFF: a failover would lose log that the mirror has not received."""


class TimelineSpan(Struct, frozen=True):
    """Time span in which a state does not change."""

    from_s: float
    to_s: float
    state: str
    """State during the span, as text."""


class TimelineMarker(Struct, frozen=True):
    """Marker of a notable event."""

    t_s: float
    kind: str
    """fault, repair, detection, transition, sql, error, failover, reached, missed, no-return, question, hint,
    rewind or note.

    The kind determines shape and color.
    """
    text: str


class RunTimeline:
    """Timeline of a run, built from its events.

    *mirrored*: databases that have a synchronized copy at the start.
    """

    def __init__(
        self,
        databases: Iterable[str],
        mirrored: Iterable[str],
        asynchronous: Iterable[str] = (),
        clients: Mapping[str, WritingClients] | None = None,
        has_protection: bool = True,
    ) -> None:
        """Start the timeline at time 0.

        *asynchronous*: databases with SAFETY OFF. *clients*: databases whose clients count for the service.
        *has_protection*: False if no copy could take over, as on a failover cluster instance.
        """
        self.has_protection = has_protection
        self._clients = ClientServiceTracker(clients or {})
        self._asynchronous = set(asynchronous)
        self.markers: list[TimelineMarker] = []
        self._latest: dict[str, int] = {}
        """Index of the latest marker of each kind that merges."""
        self._serving = dict.fromkeys(databases, True)
        self._server: dict[str, str | None] = dict.fromkeys(self._serving)
        self._states: dict[tuple[str, str], str] = {}
        self._grouped: dict[str, bool] = {}
        """Databases of availability groups -> whether a secondary is synchronized.

        The state of one copy does not show this.
        """
        self._start_states = dict.fromkeys(self._serving, "NONE")
        self._start_states |= dict.fromkeys(mirrored, "SYNCHRONIZED")
        self._service = [(0.0, SERVING)]
        self._protection = [(0.0, self._get_protection_state())]

    def add_events(self, events: Iterable[ReportRow]) -> None:
        """Apply *events* in order."""
        for event in events:
            self._apply_event(event)
            marker = build_marker(event)
            if marker is not None:
                self._merge_marker(marker)

    def add_marker(self, marker: TimelineMarker) -> None:
        """Insert a marker that has no event."""
        insort(self.markers, marker, key=lambda marker: marker.t_s)

    def _merge_marker(self, marker: TimelineMarker) -> None:
        """Add a marker, or merge it into the last marker of its kind.

        Only markers of MERGED_MARKER_KINDS at almost the same time are merged.
        """
        marker_index = self._latest.get(marker.kind)
        last_marker = None if marker_index is None else self.markers[marker_index]
        moment_s = marker.t_s * MERGE_WINDOW_SHARE if marker.t_s > MERGE_START_S else 0.0
        has_room = marker_index == len(self.markers) - 1 or moment_s > 0.0
        if (
            marker_index is None
            or last_marker is None
            or not has_room
            or marker.t_s - last_marker.t_s > moment_s
        ):
            if marker.kind in MERGED_MARKER_KINDS:
                self._latest[marker.kind] = len(self.markers)
            self.markers.append(marker)
        elif last_marker.text.count("\n") < MERGED_LINES_MAX:
            self.markers[marker_index] = TimelineMarker(
                last_marker.t_s, last_marker.kind, join_messages("\n", (last_marker.text, marker.text))
            )

    def list_service_spans(self, until_s: float) -> list[TimelineSpan]:
        """Return the spans of the service state until *until_s*.

        The states are: in service, down, and databases online although clients cannot work.
        """
        return _list_spans(self._service, until_s)

    @property
    def has_clients(self) -> bool:
        """Return whether the service of clients is tracked in addition to the state of the databases."""
        return self._clients.has_clients

    def list_protection_spans(self, until_s: float) -> list[TimelineSpan]:
        """Return the spans of the protection state until *until_s*.

        The databases are protected while each serving copy has a synchronized mirror or secondary.
        """
        return _list_spans(self._protection, until_s)

    def _apply_event(self, event: ReportRow) -> None:
        database, server = event.get("database"), event.get("server")
        self._clients.apply_event(event)
        if event["kind"] == "client":
            _append_change(self._service, float(event["t_s"]), self._get_service_state())
        if database not in self._serving:
            return
        if event["kind"] == "availability" and event.get("serving") is not None:
            self._serving[database] = bool(event["serving"])
            self._server[database] = server
            if database in self._grouped:
                self._grouped[database] = True  # a synchronized secondary is assumed until the next event
        elif event["kind"] == "protection":
            self._grouped[database] = not event["exposed"]
        elif event["kind"] == "state" and "group" in event:
            self._grouped.setdefault(database, self._start_states[database] == "SYNCHRONIZED")
        elif event["kind"] == "state" and event.get("why") == "safety":
            is_off = event.get("new") == "OFF"
            (self._asynchronous.add if is_off else self._asynchronous.discard)(str(database))
        elif event["kind"] == "state" and server is not None:
            self._states[server, database] = str(event.get("new"))
        else:
            return
        t_s = float(event["t_s"])
        _append_change(self._service, t_s, self._get_service_state())
        _append_change(self._protection, t_s, self._get_protection_state())

    def _get_service_state(self) -> str:
        if not all(self._serving.values()):
            return DOWN
        return SERVING if all(map(self._clients.is_working, self._serving)) else CLIENTS_IDLE

    def _get_protection_state(self) -> str:
        serving = [database for database, serves in self._serving.items() if serves]
        if not serving:
            return UNSERVED
        if not self.has_protection:
            return SERVING
        if not all(self._is_synchronized(database) for database in serving):
            return EXPOSED
        return ASYNCHRONOUS if self._asynchronous.intersection(serving) else PROTECTED

    def _is_synchronized(self, database: str) -> bool:
        """Return whether the serving copy of *database* is SYNCHRONIZED.

        Until the first event about the copy, its state at the start of the run applies.
        """
        if database in self._grouped:
            return self._grouped[database]
        states_by_server = {s: state for (s, db), state in self._states.items() if db == database}
        if not states_by_server:
            return self._start_states[database] == "SYNCHRONIZED"
        server = self._server[database]
        if server in states_by_server:
            return states_by_server[server] == "SYNCHRONIZED"
        return all(state == "SYNCHRONIZED" for state in states_by_server.values())


def find_synchronized_databases(scenario: Scenario) -> tuple[str, ...]:
    """Return the databases that begin with a synchronized mirror or secondary.

    For a numbered series of databases, each name is returned.
    """
    names_by_database = {database.name: database.names for database in scenario.databases}
    mirrored = [session.database for session in scenario.sessions if session.state == "SYNCHRONIZED"]
    for group in scenario.groups:
        modes = {replica.server: replica.mode for replica in group.replicas}
        if modes.pop(group.primary, "") == "SYNCHRONOUS_COMMIT" and "SYNCHRONOUS_COMMIT" in modes.values():
            mirrored += group.databases
    return tuple(name for database in mirrored for name in names_by_database.get(database, (database,)))


def list_asynchronous_databases(scenario: Scenario) -> tuple[str, ...]:
    """Return the mirrored databases that begin with SAFETY OFF.

    For a numbered series of databases, each name is returned.
    """
    databases = {session.database for session in scenario.sessions if session.safety == "OFF"}
    return tuple(
        name for database in scenario.databases if database.name in databases for name in database.names
    )


def find_protection(scenario: Scenario | None) -> str:
    """Return the technology that protects a drill's databases: mirroring, ag, fci or mixed.

    The result is empty without protection.
    """
    if scenario is None:
        return "mixed"
    grouped = {name for group in scenario.groups for name in group.databases}
    mirrored = {session.database for session in scenario.sessions}
    instances = {instance.name for instance in scenario.instances}
    kinds = [
        kind
        for kind, used in (
            ("mirroring", bool(mirrored)),
            ("ag", bool(grouped)),
            ("fci", any(database.server in instances for database in scenario.databases)),
        )
        if used
    ]
    if not kinds:
        return "mixed" if any(rule.kind == "exposed" for rule in scenario.rubric) else ""
    changes = kinds == ["mirroring"] and bool(scenario.clusters)
    return "mixed" if len(kinds) > 1 or changes else kinds[0]


SINGLE_COPY_PROTECTIONS: Final = ("", "fci")
"""Results of `find_protection` for drills without a second copy of the data. They show no protection lane."""


def start_timeline(
    scenario: Scenario, databases: Iterable[str], clients: Mapping[str, WritingClients] | None = None
) -> RunTimeline:
    """Return the timeline of a run of *scenario* before its first event."""
    names = list(databases)
    return RunTimeline(
        names,
        set(names).intersection(find_synchronized_databases(scenario)),
        set(names).intersection(list_asynchronous_databases(scenario)),
        clients,
        find_protection(scenario) not in SINGLE_COPY_PROTECTIONS,
    )


def build_timeline(
    events: Iterable[ReportRow],
    databases: Iterable[str],
    mirrored: Iterable[str],
    clients: Mapping[str, WritingClients] | None = None,
) -> RunTimeline:
    """Return the timeline of a complete run."""
    course = RunTimeline(databases, mirrored, clients=clients)
    course.add_events(events)
    return course


def list_clients(report: Report) -> dict[str, WritingClients]:
    """Return database -> clients of a recorded run. Old reports do not contain clients."""
    rows = report["clients"]["databases"] if "clients" in report else {}
    return {name: WritingClients(tuple(row["names"]), row["server"]) for name, row in rows.items()}


def _append_change(changes: list[tuple[float, str]], t_s: float, state: str) -> None:
    if changes[-1][1] == state:
        return
    if changes[-1][0] == t_s:
        changes.pop()
    if not changes or changes[-1][1] != state:
        changes.append((t_s, state))


def _list_spans(changes: list[tuple[float, str]], until_s: float) -> list[TimelineSpan]:
    ends = [*(t_s for t_s, _ in changes[1:]), max(until_s, changes[-1][0])]
    return [TimelineSpan(t_s, end_s, text) for (t_s, text), end_s in zip(changes, ends, strict=True)]


# --- markers ------------------------------------------------------------------------------------------------

_ERROR_SEVERITY_MIN: Final = 11
"""Lowest severity of an error message. Documented by Microsoft."""


def build_marker(event: ReportRow) -> TimelineMarker | None:
    """Return the marker of an event; None if the event has no marker."""
    marker = next(iter(_classify_event(event)), None)
    return TimelineMarker(float(event["t_s"]), *marker) if marker else None


TIMELINE_EVENT_KINDS: Final = (
    "fault", "chore", "sql_done", "failover", "detected", "state", "role", "witness", "availability", "protection",
    "cluster", "replica", "note", "goal", "question", "hint",
)  # fmt: skip
"""Kinds of events that change the timeline or have a marker."""


def _classify_event(event: ReportRow) -> Iterator[tuple[str, str]]:
    """Yield (kind of marker, text) for each marker of an event."""
    kind, text = event["kind"], str(event["text"])
    if kind == "fault" and not event.get("no_effect"):
        verb = VERBS.get(str(event.get("verb")))
        yield ("fault" if verb is None or verb.group == "fault" else "repair"), describe_line(text)
    elif kind == "chore":
        yield "repair", text
    elif kind == "sql_done":
        batch = " ".join(str(event.get("batch", text)).split())
        yield ("error" if _has_failed(event) else "sql"), f"{event.get('server')}: {batch}"
    elif kind == "failover" and event.get("step") == "online":
        yield "failover", text
    elif kind == "detected":
        yield "detection", text
    elif kind in ("state", "role", "witness", "replica", "cluster") or (
        kind == "availability" and event.get("serving") is not None
    ):
        yield "transition", text
    elif kind == "note" and event.get("rewound_from_s") is not None:
        yield "rewind", text
    elif kind == "goal":
        yield ("reached" if event.get("news") == "met" else "missed"), text
    elif kind == "question":
        yield "question", text
    elif kind == "hint":
        yield "hint", build_message("hint opened: {hint}", hint=text)
    elif kind == "note" and not event.get("refused") and "ended_by" not in event:
        yield "note", text


def _has_failed(event: ReportRow) -> bool:
    return any(_get_severity(message) >= _ERROR_SEVERITY_MIN for message in event.get("messages") or ())


def _get_severity(message: object) -> int:
    severity = message.get("severity", 0) if isinstance(message, Mapping) else getattr(message, "severity", 0)
    return int(severity or 0)
