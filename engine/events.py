"""Events: the single record from which logs, traces, scores and debriefs derive."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypedDict, cast

from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.tables import read_table

EventKind = Literal[
    "alert", "answer", "ask-status", "availability", "call", "chore", "client", "cluster", "clusterlog", "confirm",
    "detected", "errorlog", "failover", "fault", "goal", "hint", "log", "note", "powershell", "protection", "question",
    "read-back", "replica", "role", "score", "service", "session", "sql", "sql_done", "state", "status", "trace",
    "witness",
]  # fmt: skip
"""Every kind of event: mypy rejects an emitted kind that is missing here."""


class KindInfo(Struct, frozen=True):
    """Label and use of a kind of event."""

    label: str
    is_state: bool = False
    """True if *Next state change* stops at it."""
    is_milestone: bool = False
    """True if *Next event* stops at it, as at every change of a state."""
    is_quiet: bool = False
    """True if the events panel lists it only on request, because another panel or kind shows it."""


KINDS: Final[Mapping[EventKind, KindInfo]] = MappingProxyType(
    {
        cast(EventKind, row["kind"]): KindInfo(
            row["label"] or row["name"],
            row["use"] == "state",
            row["use"] == "milestone",
            row["use"] == "quiet",
        )
        for row in read_table("engine", "event_kinds.tsv")
    }
)
"""All kinds: filters, labels and searches derive from this table."""


class AlertData(TypedDict, total=False):
    number: int
    alert_id: int
    value: float
    threshold: float


class AnswerData(TypedDict, total=False):
    question: str
    choice: str
    right: bool
    sure_percent: float
    missed: bool


class AvailabilityData(TypedDict, total=False):
    serving: bool
    servers: list[str]
    lost_transactions: float
    lost_kb: float


class ChoreData(TypedDict, total=False):
    path: str
    to: str
    jobs: list[str]
    logins: list[str]
    linked_servers: list[str]
    drive: str
    failed: bool


class ClientData(TypedDict, total=False):
    client: str
    what: str
    number: int
    spid: int
    without_service_s: float


class ClusterData(TypedDict, total=False):
    what: str
    role: str
    node: str
    there: object
    level: int
    instance: str
    why: str
    to: str


class ClusterLogData(TypedDict, total=False):
    level: str
    component: str


class DetectedData(TypedDict, total=False):
    peer: str
    how: str


class ErrorLogData(TypedDict, total=False):
    number: int
    severity: int
    state: int


class FailoverData(TypedDict, total=False):
    step: str
    failover_kind: str
    cause: str
    why: object


class FaultData(TypedDict, total=False):
    verb: str
    args: list[str]
    no_effect: bool


class GoalData(TypedDict, total=False):
    goal: str
    news: str


class HintData(TypedDict, total=False):
    layer: int
    cost: float


class LogData(TypedDict, total=False):
    what: str
    reuse_wait: str
    log_size_kb: float


class NoteData(TypedDict, total=False):
    what: str
    ended_by: str
    log_kb: float
    refused: bool
    rewound_from_s: str


class PowerShellData(TypedDict, total=False):
    node: str
    command: str
    output: object
    refused: bool


class ProtectionData(TypedDict, total=False):
    exposed: bool


class QuestionData(TypedDict, total=False):
    question: str
    choices: tuple[str, ...]
    pause: bool
    prediction: bool
    within_s: float | None


class ReplicaData(TypedDict, total=False):
    group: str
    old: str
    new: str


class RoleData(TypedDict, total=False):
    new: str
    reason: str


class ScoreData(TypedDict, total=False):
    name: str
    points: float
    max: float
    rule: str


class SessionData(TypedDict, total=False):
    window: str
    what: str
    program: str
    messages: object
    to: str


class SqlData(TypedDict, total=False):
    window: str
    batch: int


class SqlDoneData(TypedDict, total=False):
    window: str
    batch: str
    run: int
    messages: object
    results: object
    started_tick: int
    elapsed_ticks: int
    program: str


class StateData(TypedDict, total=False):
    old: str
    new: str
    group: str
    why: str


class TeamMessageData(TypedDict, total=False):
    by: str
    to: str


class TraceData(TypedDict, total=False):
    state: int
    integer_data: int


class WitnessData(TypedDict, total=False):
    new: str


class NoData(TypedDict):
    """A kind without fields of its own."""


EventData = TypedDict("EventData", {
    "alert": AlertData,
    "answer": AnswerData,
    "ask-status": TeamMessageData,
    "availability": AvailabilityData,
    "call": TeamMessageData,
    "chore": ChoreData,
    "client": ClientData,
    "cluster": ClusterData,
    "clusterlog": ClusterLogData,
    "confirm": TeamMessageData,
    "detected": DetectedData,
    "errorlog": ErrorLogData,
    "failover": FailoverData,
    "fault": FaultData,
    "goal": GoalData,
    "hint": HintData,
    "log": LogData,
    "note": NoteData,
    "powershell": PowerShellData,
    "protection": ProtectionData,
    "question": QuestionData,
    "read-back": TeamMessageData,
    "replica": ReplicaData,
    "role": RoleData,
    "score": ScoreData,
    "service": NoData,
    "session": SessionData,
    "sql": SqlData,
    "sql_done": SqlDoneData,
    "state": StateData,
    "status": TeamMessageData,
    "trace": TraceData,
    "witness": WitnessData,
})  # fmt: skip
"""Kind of event -> its fields: the mypy plugin checks what is emitted and read against it."""


class Event(Struct, frozen=True, gc=False):
    """Event at *tick*; *data* holds the fields of its kind."""

    tick: int
    kind: EventKind
    server: str | None
    database: str | None
    text: str
    data: tuple[tuple[str, object], ...] = ()

    @property
    def t_s(self) -> float:
        """Return the time in seconds since the start of the run."""
        return self.tick / TICKS_PER_S

    def get(self, name: str, default: object = None) -> Any:
        """Return a field of the event's data, or *default*."""
        for key, value in self.data:
            if key == name:
                return value
        return default

    def as_json(self) -> dict[str, object]:
        """Return the event in the form of the report of `run --json`."""
        out: dict[str, object] = {"t_s": self.t_s, "kind": self.kind}
        if self.server is not None:
            out["server"] = self.server
        if self.database is not None:
            out["database"] = self.database
        return {**out, "text": self.text, **dict(self.data)}
