"""Events of a run. Logs, traces, scores and debriefs are derived from them alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, TypeVar, cast

from msgspec import Struct, structs

from engine.constants import TICKS_PER_S
from engine.tables import read_table

EventKind = Literal[
    "alert", "answer", "ask-status", "availability", "call", "chore", "client", "cluster", "clusterlog", "confirm",
    "detected", "errorlog", "failover", "fault", "goal", "hint", "log", "note", "powershell", "protection", "question",
    "read-back", "replica", "role", "score", "service", "session", "sql", "sql_done", "state", "status", "trace",
    "witness",
]  # fmt: skip
"""All kinds of events. mypy rejects an event of a kind that is missing here."""


class EventKindInfo(Struct, frozen=True):
    """Label of a kind of event, and its use in the interface."""

    label: str
    is_state: bool = False
    """True if the command *Next state change* stops at events of this kind."""
    is_milestone: bool = False
    """True if the command *Next event* stops at events of this kind. It also stops at every state change."""
    is_quiet: bool = False
    """True if the events panel hides this kind by default, because another panel or kind shows the same."""


EVENT_KIND_INFOS: Final[Mapping[EventKind, EventKindInfo]] = MappingProxyType(
    {
        cast(EventKind, row["kind"]): EventKindInfo(
            row["label"] or row["name"],
            row["use"] == "state",
            row["use"] == "milestone",
            row["use"] == "quiet",
        )
        for row in read_table("engine", "event_kinds.tsv")
    }
)
"""Kind of event -> its label and its use in the interface."""


BatchOutputRow = dict[str, Any]
"""Message or result set of a batch, as JSON in the form of the report."""


class EventData(Struct, frozen=True, gc=False, kw_only=True):
    """Base class of the data of an event, with one subclass per kind of event.

    Reports omit optional fields that are None.
    """

    kind: ClassVar[EventKind]
    by: str | None = None
    """Team role whose action caused the event; None outside teams."""

    def as_json(self) -> dict[str, object]:
        """Return the fields that have a value, in the order of their definition, then `by`."""
        values = ((name, getattr(self, name), required) for name, required in _list_fields(type(self)))
        return {name: value for name, value, required in values if required or value is not None}


@cache
def _list_fields(kind: type[EventData]) -> tuple[tuple[str, bool], ...]:
    """Return the name of each field, and whether it is required. `by` is the last one."""
    fields = sorted(structs.fields(kind), key=lambda field: field.name == "by")
    return tuple((field_info.name, field_info.required) for field_info in fields)


class AlertData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of an alert event: a value exceeded a threshold of the mirroring monitor."""

    kind: ClassVar[EventKind] = "alert"
    number: int
    alert_id: int
    value: float
    threshold: float


class AnswerData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of an answer event: a question was answered, or not answered in time."""

    kind: ClassVar[EventKind] = "answer"
    question: str
    choice: int | str | None = None
    right: int | bool | None = None
    sure_percent: float | None = None
    missed: bool | None = None


class AvailabilityData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of an availability event: the servers that serve a database changed, or committed data was lost."""

    kind: ClassVar[EventKind] = "availability"
    serving: bool | None = None
    servers: Sequence[str] | None = None
    lost_transactions: float | None = None
    lost_kb: float | None = None


class ChoreData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a chore event: the result of a manual step, such as a copied file."""

    kind: ClassVar[EventKind] = "chore"
    path: str | None = None
    to: str | None = None
    jobs: Sequence[str] | None = None
    logins: Sequence[str] | None = None
    linked_servers: Sequence[str] | None = None
    drive: str | None = None
    failed: bool | None = None


class ClientData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a client event: a client application changed its state."""

    kind: ClassVar[EventKind] = "client"
    client: str
    what: str
    """Kind of change, such as "connected", "login failed" or "timeout"."""
    number: int | None = None
    spid: int | None = None
    without_service_s: float | None = None


class ClusterData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a cluster event: a failover cluster changed its state."""

    kind: ClassVar[EventKind] = "cluster"
    role: str | None = None
    what: str
    """Kind of change, such as "formed", "node added" or "left"."""
    node: str | None = None
    there: bool | None = None
    level: int | None = None
    instance: str | None = None
    why: str | None = None
    to: str | None = None


class ClusterLogData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a cluster log event: one line of the log."""

    kind: ClassVar[EventKind] = "clusterlog"
    level: str
    component: str


class DetectedData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a detection event: the loss or return of a connection was detected."""

    kind: ClassVar[EventKind] = "detected"
    peer: str
    how: str
    """Way in which the loss or return was detected."""


class ErrorLogData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of an ERRORLOG event: one line of the log. *number* is 0 if the line has no message number."""

    kind: ClassVar[EventKind] = "errorlog"
    number: int
    severity: int
    state: int


class FailoverData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a failover event: one step of a failover. *why*: reason for a failed failover."""

    kind: ClassVar[EventKind] = "failover"
    step: str
    failover_kind: str
    cause: str
    why: str | None = None


class FaultData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a fault event: a fault or a repair. *no_effect* is True if it changed nothing."""

    kind: ClassVar[EventKind] = "fault"
    verb: str
    args: Sequence[str]
    no_effect: bool | None = None


class GoalData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a goal event: a goal was met, lost or missed."""

    kind: ClassVar[EventKind] = "goal"
    goal: str
    news: str


class HintData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a hint event: a hint was opened."""

    kind: ClassVar[EventKind] = "hint"
    goal: str | None = None
    layer: int
    cost: float | None = None


class LogData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a log event: the space in a database's log changed."""

    kind: ClassVar[EventKind] = "log"
    what: str
    """Kind of change, such as "full"."""
    reuse_wait: str | None = None
    log_size_kb: float | None = None


class NoteData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a note event: a note about the run."""

    kind: ClassVar[EventKind] = "note"
    what: str | None = None
    ended_by: str | None = None
    log_kb: float | None = None
    refused: bool | None = None
    rewound_from_s: str | None = None


class PowerShellData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a PowerShell event: a line at the prompt of a node, with its output."""

    kind: ClassVar[EventKind] = "powershell"
    node: str
    command: str
    output: str
    refused: bool


class ProtectionData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a protection event: the protection of a database changed.

    *exposed* is True if no copy could take over without data loss.
    """

    kind: ClassVar[EventKind] = "protection"
    exposed: bool


class QuestionData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a question event: the drill asked a question."""

    kind: ClassVar[EventKind] = "question"
    question: str
    choices: Sequence[str]
    pause: bool
    prediction: bool
    within_s: float | None


class ReplicaData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a replica event: the role of an availability replica changed."""

    kind: ClassVar[EventKind] = "replica"
    group: str
    old: str
    new: str


class RoleData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a role event: the role of a database copy changed."""

    kind: ClassVar[EventKind] = "role"
    reason: str | None = None
    new: str


class ScoreData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a score event: the score changed."""

    kind: ClassVar[EventKind] = "score"
    name: str | None = None
    points: float | None = None
    max: float | None = None
    rule: str | None = None


class ServiceData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a service event: the service of an instance changed. All details are in the event text."""

    kind: ClassVar[EventKind] = "service"


class SessionData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a session event: a T-SQL session changed."""

    kind: ClassVar[EventKind] = "session"
    window: str
    what: str
    """Kind of change, such as "connected" or "routed"."""
    program: str | None = None
    to: str | None = None
    messages: Sequence[BatchOutputRow] | None = None


class SqlData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a "sql" event: a window or a program sent a batch."""

    kind: ClassVar[EventKind] = "sql"
    window: str
    batch: int


class SqlDoneData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a "sql_done" event: a batch ended, with these messages and results."""

    kind: ClassVar[EventKind] = "sql_done"
    window: str
    batch: str
    run: int
    messages: Sequence[BatchOutputRow]
    results: Sequence[BatchOutputRow]
    started_tick: int
    elapsed_ticks: int
    program: str | None = None
    ends: Sequence[BatchOutputRow] | None = None
    """Completions of the statements in the batch. Only drivers receive them."""


class StateData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a state event: a mirroring or synchronization state changed."""

    kind: ClassVar[EventKind] = "state"
    why: str | None = None
    old: str | None = None
    new: str
    group: str | None = None


class TraceData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a trace event: State and IntegerData of a Database Mirroring State Change event."""

    kind: ClassVar[EventKind] = "trace"
    state: int
    integer_data: int


class WitnessData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a witness event: the witness state at a partner changed."""

    kind: ClassVar[EventKind] = "witness"
    new: str


class TeamMessageData(EventData, frozen=True, gc=False, kw_only=True):
    """Data of a message from one team role to another."""

    to: str
    said: str | None = None
    """Text of the message."""


class CallData(TeamMessageData, frozen=True, gc=False, kw_only=True):
    """Data of a call event: one team role called another."""

    kind: ClassVar[EventKind] = "call"


class ReadBackData(TeamMessageData, frozen=True, gc=False, kw_only=True):
    """Data of a read-back event: a team role repeated a call to its caller."""

    kind: ClassVar[EventKind] = "read-back"


class ConfirmationData(TeamMessageData, frozen=True, gc=False, kw_only=True):
    """Data of a confirmation event: a team role confirmed a read-back."""

    kind: ClassVar[EventKind] = "confirm"


class StatusRequestData(TeamMessageData, frozen=True, gc=False, kw_only=True):
    """Data of a status request event: a team role asked another for a status report."""

    kind: ClassVar[EventKind] = "ask-status"


class StatusReportData(TeamMessageData, frozen=True, gc=False, kw_only=True):
    """Data of a status report event: a team role reported a status to another."""

    kind: ClassVar[EventKind] = "status"


AnyData = TypeVar("AnyData", bound=EventData)


class Event(Struct, frozen=True, gc=False):
    """Event of a run at *tick*. The class of *data* depends on the kind of event."""

    tick: int
    data: EventData
    text: str
    server: str | None = None
    database: str | None = None

    @property
    def kind(self) -> EventKind:
        """Return the kind of the event."""
        return self.data.kind

    @property
    def t_s(self) -> float:
        """Return the time in seconds since the start of the run."""
        return self.tick / TICKS_PER_S

    def as_json(self) -> dict[str, object]:
        """Return the event in the form of the report of `run --json`."""
        fields: dict[str, object] = {"t_s": self.t_s, "kind": self.kind}
        if self.server is not None:
            fields["server"] = self.server
        if self.database is not None:
            fields["database"] = self.database
        return {**fields, "text": self.text, **self.data.as_json()}


def get_data(event: Event, kind: type[AnyData]) -> AnyData | None:
    """Return the data of *event* if it is of class *kind*; otherwise None."""
    return event.data if isinstance(event.data, kind) else None


def select_data(events: Iterable[Event], kind: type[AnyData]) -> Iterator[tuple[Event, AnyData]]:
    """Yield each event whose data is of class *kind*, with its data."""
    for event in events:
        if isinstance(event.data, kind):
            yield event, event.data
