"""What a scenario file may hold: one TOML table for each class, checked by pydantic.

Tables that may stand several times are written in the singular (`[[server]]`) and kept in the plural.
Durations are seconds (30) or a number with its unit ("30s", "2min", "1h").
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    WithJsonSchema,
)

from engine.constants import ENDPOINT_PORT, PARTNER_TIMEOUT_S
from engine.words import say

# --- kinds of values ----------------------------------------------------------------------------------------

_DURATION: Final = re.compile(r"\s*+(\d++(?:\.\d++)?)\s*+(s|min|h)?\s*+\Z")
_UNIT_S: Final = {None: 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}
DURATION_MAX_S: Final = 24 * 3600.0
"""No drill lasts longer than a day; keeps a slip of the pen from running for ever."""

PACE_MIN_S: Final = 10.0
"""Shortest interval of a job: what SQL Server Agent's schedules can do. Documented (sp_add_jobschedule)."""


def _seconds(value: Any) -> Any:
    if isinstance(value, str):
        match = _DURATION.match(value)
        if match is None:
            raise ValueError(say('seconds (30) or a number with s, min or h ("2min")'))
        value = float(match[1]) * _UNIT_S[match[2]]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not 0.0 <= value <= DURATION_MAX_S:
        raise ValueError(say("a time from 0 to 24 h"))
    return value


def _pace(seconds: float) -> float:
    """Refuses a job that would begin again before any time has passed, and so never end."""
    if 0.0 < seconds < PACE_MIN_S:
        raise ValueError(say("0 (never) or at least {t_s:g} s", t_s=PACE_MIN_S))
    return seconds


def _readable(text: str) -> str:
    """Refuses characters that are not seen and change what is (controls, text direction, no width)."""
    if text.replace("\n", "").isprintable() and not any(sign in text for sign in BLANK_LETTERS):
        return text  # nearly every text; to look at each sign by itself takes long
    for index, sign in enumerate(text):
        if sign not in "\n\t\u200c\u200d" and (
            unicodedata.category(sign) in _UNSEEN or sign in BLANK_LETTERS
        ):
            raise ValueError(
                say(
                    "no invisible sign like character {n} ({word})",
                    n=index + 1,
                    word=f"U+{ord(sign):04X}",
                )
            )
    return text


_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of Unicode. Two signs of Cf are let through: the joiners that Persian and Hindi are written with."""
BLANK_LETTERS: Final = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and symbols to Unicode that are drawn as nothing: fillers of Hangul, the Braille pattern without a dot."""


def _moment(text: str) -> str:
    """Refuses what is no moment, and years that leave no room for a drill or for what was before it."""
    try:
        year = datetime.fromisoformat(text).year
    except ValueError:
        raise ValueError(say("a valid date and time")) from None
    if not 1990 <= year <= 2100:
        raise ValueError(say("a year from 1990 to 2100"))
    return text


Duration = Annotated[
    float,
    BeforeValidator(_seconds),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*(s|min|h)?\s*$"},
            ]
        }
    ),
]
"""Seconds."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_$-]{0,29}$")]
Line = Annotated[
    str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True), AfterValidator(_readable)
]
Text = Annotated[
    str, StringConstraints(min_length=1, max_length=8000, strip_whitespace=True), AfterValidator(_readable)
]
Words = Annotated[
    str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True), AfterValidator(_readable)
]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:[-_][a-z0-9]+)*$", max_length=60)]
Condition = Annotated[str, StringConstraints(min_length=1), AfterValidator(_readable)]
Points = Annotated[float, Field(ge=0, le=100)]
Port = Annotated[int, Field(ge=1, le=65_535)]
TraceFlag = Annotated[int, Field(ge=1, le=99_999)]
SizeMb = Annotated[float, Field(ge=1, le=100_000_000)]
"""A file of 1 MB to 100 TB: six times the 16 TB that a file of the product may have."""


_POOL_SCHEMA: Final = {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 2}
Pools = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [_POOL_SCHEMA, {"type": "object", "additionalProperties": _POOL_SCHEMA}]
            },
        }
    ),
]
"""[variants], checked in variants.py: pools from which the seed picks what stands for {name} in the file's texts."""


class Part(BaseModel):
    """A table of the file: no unknown keys, no silent conversions, not changed once read."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        populate_by_name=False,
        allow_inf_nan=False,
        defer_build=True,
    )


# --- the start world ----------------------------------------------------------------------------------------


class Source(Part):
    """[[source]]: publication of the drill's subject."""

    paper: Line
    """Title of the paper, manual page or talk, as in a catalogue."""
    section: Line
    """Chapter, page or figure in it."""


class Endpoint(Part):
    """[server.endpoint]: the database mirroring endpoint."""

    port: int = Field(default=ENDPOINT_PORT, ge=1, le=65_535)
    """TCP port of the listener."""
    state: Literal["STARTED", "STOPPED", "DISABLED"] = "STARTED"
    """STOPPED and DISABLED accept no connection."""
    role: Literal["ALL", "PARTNER", "WITNESS"] = "ALL"
    """PARTNER, WITNESS, or both (ALL)."""
    encryption: Literal["DISABLED", "SUPPORTED", "REQUIRED"] = "REQUIRED"
    """Encryption required of the other end; REQUIRED and DISABLED are incompatible."""
    algorithms: Annotated[tuple[Literal["RC4", "AES"], ...], Field(strict=False, min_length=1)] = ("RC4",)
    """In order of preference; both ends need one in common."""
    certificate: Name | None = None
    """Certificate for authentication; [[before]] lines create it. None: authentication by the service account."""


class Server(Part):
    """[[server]]: a computer with one instance of SQL Server."""

    name: Name
    """Name of the computer and of its instance."""
    version: Literal[2005, 2008, 2012, 2014] = 2005
    """SQL Server version by year. 2008 and later compress the log stream to the mirror."""
    edition: Literal["Enterprise", "Developer", "Standard", "Workgroup", "Express"] = "Enterprise"
    """Standard supports safety FULL only; Workgroup and Express can only be a witness."""
    cores: int | None = Field(default=None, ge=1, le=256)
    """Processor cores. None: as many as the hardware of the site has."""
    site: Line = "nec"
    """Hardware: disks, processors and network as in one of the papers."""
    domain: Name = "CORP"
    """Windows domain. Servers of different domains need certificates to connect."""
    service_account: Line = "CORP\\sqlservice"
    """Service account of the instance; the same account on all servers needs no CONNECT permission."""
    trace_flags: Annotated[tuple[TraceFlag, ...], Field(strict=False, max_length=100)] = ()
    """Trace flags that are on from the start, such as 1462 (no log compression)."""
    max_worker_threads: int = Field(default=0, ge=0, le=32_767)
    """Worker threads. 0: the number that SQL Server chooses for the cores."""
    blocked_ports: Annotated[tuple[Port, ...], Field(strict=False, max_length=100)] = ()
    """TCP ports that the firewall blocks at the start."""
    jobs_for: Annotated[tuple[Name, ...], Field(strict=False, max_length=20)] = ()
    """Databases with the usual jobs on this server, enabled: log backup, index maintenance, nightly load."""
    endpoint: Endpoint = Endpoint()
    """Its database mirroring endpoint."""


class Link(Part):
    """[[link]]: the network between two ends, the same in both directions; pairs not listed have a local network."""

    ends: Annotated[tuple[Name, Name], Field(strict=False)]
    """The two servers, or an application and a server."""
    rtt_ms: float = Field(default=0.2, ge=0, le=10_000)
    """Round trip time of a packet on an idle link."""
    jitter_ms: float = Field(default=0.0, ge=0, le=10_000)
    """Variation of the round trip."""
    bandwidth_mbps: float = Field(default=1000.0, ge=0.001, le=400_000)
    """Bandwidth in each direction."""
    loss: float = Field(default=0.0, ge=0, le=0.99)
    """Share of the packets that are lost: 0.01 is 1 %."""


class Database(Part):
    """[[database]]: a user database and its workload."""

    name: Name
    """Name of the database; with a count, of the first one."""
    count: int = Field(default=1, ge=1, le=500)
    """Number of equal databases, numbered from the name on: Branch001 with 100 is Branch001 to Branch100."""
    server: Name | None = None
    """Server of a database without a session."""
    restored_on: Annotated[tuple[Name, ...], Field(strict=False, max_length=10)] = ()
    """Servers on which a backup was restored WITH NORECOVERY just before the drill; not with a session."""
    workload: Line = "none"
    """Workload of its applications, as measured in the papers; none: no load."""
    scale: float = Field(default=1.0, ge=0, le=1000)
    """Multiple of the workload."""
    size_mb: SizeMb = 40_960.0
    """Size of the data."""
    log_size_mb: SizeMb = 4_096.0
    """Size of the log file at the start."""
    log_max_mb: SizeMb = 40_960.0
    """Size at which the log file stops growing and is full."""
    recovery_model: Literal["FULL", "BULK_LOGGED", "SIMPLE"] = "FULL"
    """A mirrored database needs FULL."""
    compression_ratio: float = Field(default=0.27, ge=0.001, le=1)
    """Size of the compressed log stream to the mirror as a share: 0.27 is 27 %."""
    delayed_durability: Literal["DISABLED", "ALLOWED", "FORCED"] = "DISABLED"
    """Whether a commit waits for the log write (SQL Server 2014)."""
    log_backup_every: Annotated[Duration, AfterValidator(_pace)] = 900.0
    """Interval of log backups. 0: no log backup job."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each of the *count* databases; a name without a number cannot be counted on."""
        stem = self.name.rstrip("0123456789")
        digits = self.name[len(stem) :]
        if self.count == 1 or not digits:
            return (self.name,)
        first = int(digits)
        return tuple(f"{stem}{number:0{len(digits)}d}" for number in range(first, first + self.count))


class Session(Part):
    """[[session]]: a database mirroring session, up and running at the start."""

    database: Name
    """Database of the session; of several equal ones the first: each has such a session."""
    principal: Name
    """Server with the principal role at the start."""
    mirror: Name
    """Server with the mirror role at the start."""
    witness: Name | None = None
    """Witness server. None: no witness, so no automatic failover."""
    safety: Literal["FULL", "OFF"] = "FULL"
    """FULL: each commit waits for the mirror; OFF: no wait."""
    timeout_s: int = Field(default=PARTNER_TIMEOUT_S, ge=5, le=32_767)
    """Silence after which a partner counts as lost (SET PARTNER TIMEOUT)."""
    state: Literal["SYNCHRONIZED", "SUSPENDED"] = "SYNCHRONIZED"
    """State at the start."""


class Client(Part):
    """[[client]]: an application with its connection string."""

    name: Name
    """Name of the application."""
    databases: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    """Databases that it uses."""
    data_source: Name
    """Data Source of its connection string."""
    failover_partner: Name | None = None
    """Failover Partner of its connection string. None: not specified."""
    login: Annotated[str, StringConstraints(max_length=60), AfterValidator(_readable)] = ""
    """Its SQL login. Empty: a login that exists on every server."""


class Preparation(Part):
    """[[before]]: an input line carried out before the drill starts: settings, logins, jobs, certificates, drives.

    Actions that need no time; their T-SQL is not charged to the trainee.
    """

    do: Text
    """An action as typed at the desk, such as `sql SERVER_A CREATE LOGIN …`."""


class Settings(Part):
    """[settings]: choices that the documentation leaves open."""

    auto_failover_after_witness_cut: bool = True
    """Automatic failover happens even if only the link between principal and witness was cut before."""
    resume_on_mirror: bool = True
    """SET PARTNER RESUME is accepted on the mirror, too."""
    witness_off_on_mirror: bool = True
    """SET WITNESS OFF is accepted on the mirror, too."""
    boot_s: float = Field(default=60.0, ge=0, le=3600)
    """Time from power on until SQL Server starts."""
    restart_service_s: float = Field(default=4.0, ge=0, le=3600)
    """Time that the service needs to start."""
    start_time: Annotated[
        str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$"), AfterValidator(_moment)
    ] = "2005-10-22T12:00:00"
    """Date and time on the servers' clocks at the start of the drill."""


# --- what happens, what is wanted ---------------------------------------------------------------------------


class Inject(Part):
    """[[timeline]]: an input line of the scenario, at a time, in a window, or when a condition holds."""

    do: Text
    """What happens: an action as typed at the desk, such as `power-off SERVER_A`."""
    at: Duration | None = None
    """Time since the start."""
    between: Annotated[tuple[Duration, Duration] | None, Field(strict=False)] = None
    """A moment in this window, drawn from the seed."""
    when: Condition | None = None
    """Condition that triggers it, such as `Sales is SUSPENDED`."""
    after: Duration = 0.0
    """With `when`: delay after the condition first held."""
    note: Text | None = None
    """Why, for the instructor."""


class Lock(Part):
    """[[locked]]: an action that the trainee cannot do in this story: a spare part is missing, for example."""

    do: Line
    """The input line without its time, or its first words: `workload` locks every line that begins with it."""
    until: Duration | None = None
    """Time at which it is unlocked. None: never."""
    why: Line
    """Reason that the trainee is told."""


class Goal(Part):
    """[[goal]]: a state to reach and to keep until the end."""

    name: Slug
    """Short name for hints to refer to."""
    text: Line
    """Text for the learner: the state at the end."""
    when: Condition
    """The condition by which it is reached, such as `Sales is SYNCHRONIZED`."""
    after: Duration = 0.0
    """Not judged before this time (at the start everything is healthy)."""
    hold: Duration = 0.0
    """Time for which it has to hold."""
    within: Duration | None = None
    """Deadline since the start; missed after it."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Weight in the points for goals."""


class Forbidden(Part):
    """[[forbidden]]: a state that must never be reached."""

    name: Slug
    """Short name."""
    text: Line
    """Text for the debrief."""
    when: Condition
    """The condition by which it is reached, such as `Sales on SERVER_B is PRINCIPAL`."""
    ends: bool = False
    """Reaching it ends the drill."""
    better: Line
    """What would have been better, for the debrief."""


class Instead(Part):
    """[[question.instead]]: what is right, and why, where the run has taken another course."""

    when: Condition
    """Condition of the other outcome, such as `forced_failovers(Sales) > 0`; checked when the question is asked."""
    right: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(strict=False, min_length=1)]
    """Numbers of the right choices in this case, from 1."""
    why: Text
    """The explanation in this case, shown when the drill is over."""


class Question(Part):
    """[[question]]: what has happened, and why? Asked at a moment, answered once, explained when the drill is over."""

    name: Slug
    """Short name for the answer command."""
    text: Line
    """Text of the question."""
    at: Duration | None = None
    """Time since the start at which the question is asked."""
    when: Condition | None = None
    """Condition at which the question is asked."""
    after: Duration = 0.0
    """With `when`: delay after the condition began to hold; asked only if it still holds."""
    premise: Condition | None = None
    """Precondition of the question. While it does not hold the question is not asked; a question that is never asked
    does not count."""
    within: Duration | None = None
    """Time for the answer. None: until the end."""
    choices: Annotated[tuple[Line, ...], Field(strict=False, min_length=2, max_length=8)]
    """Possible answers."""
    right: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(strict=False, min_length=1)]
    """Numbers of the right choices, from 1; each of them counts as right."""
    why: Text
    """The explanation, shown when the drill is over."""
    instead: Annotated[tuple[Instead, ...], Field(strict=False, max_length=8)] = ()
    """Other right answers for other outcomes of the run; the first one whose condition holds counts."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Weight in the points for diagnosis."""
    pause: bool = False
    """The clock is paused until the question is answered."""

    @property
    def texts(self) -> tuple[str, ...]:
        return self.choices


class Outcome(Part):
    """[[predict.choice]]: what may be expected, and the condition by which it is seen to be so."""

    text: Line
    """Text of the outcome."""
    when: Condition
    """Condition by which the outcome is recognised."""


class Prediction(Part):
    """[[predict]]: the clock is paused; what will happen next? Judged later by what happens."""

    name: Slug
    """Short name for the answer command."""
    text: Line
    """Text of the question."""
    at: Duration | None = None
    """Time since the start at which the question is asked."""
    when: Condition | None = None
    """Condition at which the question is asked."""
    after: Duration = 0.0
    """With `when`: delay after the condition began to hold; asked only if it still holds."""
    premise: Condition | None = None
    """Precondition of the question. While it does not hold the question is not asked; a question that is never asked
    does not count."""
    within: Duration = 10.0
    """Time for the answer; after it the outcome can be seen."""
    judged_after: Duration
    """Time after the question at which the conditions of the choices are checked; those that hold are right."""
    choices: Annotated[tuple[Outcome, ...], Field(strict=False, alias="choice", min_length=2, max_length=8)]
    """Possible outcomes, each with the condition by which it is judged."""
    why: Text
    """The explanation, shown when the drill is over."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Weight in the points for predictions."""
    pause: bool = True
    """The clock is paused until the question is answered."""

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(choice.text for choice in self.choices)


class Role(Part):
    """[[role]]: a person of the story and what this person knows."""

    name: Line
    """Name or office of the person."""
    text: Text
    """What this person knows and wants."""


class Hint(Part):
    """[[hint]]: three layers of help towards one goal, each with its cost in points."""

    goal: Slug
    """Short name of its goal."""
    look: Text
    """Where to look."""
    means: Text
    """What it means."""
    type: Text
    """What to type."""
    cost: Annotated[tuple[Points, Points, Points], Field(strict=False)] = (1.0, 2.0, 4.0)
    """Price of each of the three layers in points; in guided mode they are free."""


class Step(Part):
    """[[solution]]: an input line with its time (`95 …`, or `+5 …` after the previous step or the condition)."""

    do: Text
    """An action with its time: `95 power-on SERVER_A` at 95 s, `+5 …` 5 s after the previous step or the condition."""
    when: Condition | None = None
    """Condition that it waits for."""
    why: Line
    """Why this, and why now."""


class Fidelity(Part):
    """[fidelity]: limits of the simulation in this drill."""

    modelled: Text
    """What is simulated faithfully."""
    simplified: Text
    """What is simplified."""
    absent: Text
    """What is not simulated."""


# --- rubric -------------------------------------------------------------------------------------------------


class Rule(Part):
    """[[rubric]]: a part of the score."""

    name: Line
    """Name of this part of the score."""
    points: Points
    """Maximum; the parts add up to 100."""
    better: Line
    """Advice for the full points."""


class GoalsRule(Rule):
    """Points for goals reached, divided by weight."""

    kind: Literal["goals"]


class DowntimeRule(Rule):
    """Downtime: full points up to a target, none after a limit, linear in between."""

    kind: Literal["downtime"]
    database: Name | None = None
    """None: all databases together."""
    target: Duration
    """Full points up to here."""
    limit: Duration
    """No points from here on."""


class ExposedRule(Rule):
    """Time unprotected, without a synchronized mirror: points as for downtime."""

    kind: Literal["exposed"]
    database: Name | None = None
    """None: all databases together."""
    target: Duration
    """Full points up to here."""
    limit: Duration
    """No points from here on."""


class LostRule(Rule):
    """Committed transactions lost: points as for downtime."""

    kind: Literal["lost_transactions"]
    database: Name | None = None
    """None: all databases together."""
    target: int = Field(default=0, ge=0, lt=2**63)
    """Lost transactions up to which the points are full."""
    limit: int = Field(ge=1, lt=2**63)
    """Lost transactions from which on there are no points."""


class ConditionRule(Rule):
    """Full points if the condition holds at the end."""

    kind: Literal["condition"]
    when: Condition
    """Condition at the end, such as `witness of Sales is CONNECTED`."""


class ForbiddenRule(Rule):
    """Full points unless one of the forbidden states was reached."""

    kind: Literal["forbidden"]


class DiagnosisRule(Rule):
    """Points for right answers, divided by weight."""

    kind: Literal["diagnosis"]


class PredictionRule(Rule):
    """Points for predictions that came true, divided by weight."""

    kind: Literal["prediction"]


class Price(Part):
    """[[rubric.price]]: an act that costs points of conduct, once."""

    when: Condition
    """Condition by which the action is seen, such as `ran "SET PARTNER OFF"`."""
    premise: Condition | None = None
    """Precondition of `why`, such as `Sales is ARMED`. Where it does not hold when the action is seen, the action
    costs nothing here."""
    price: Points
    """Price in points."""
    why: Line
    """What is wrong with it, for the debrief."""
    better: Line
    """What would have been better, for the debrief."""


class ConductRule(Rule):
    """Points less the price of wrong, refused and harmful commands."""

    kind: Literal["conduct"]
    refused: Points = 3.0
    """Price of each command that the server refuses."""
    prices: Annotated[tuple[Price, ...], Field(strict=False, alias="price", max_length=50)] = ()
    """Actions that cost points of conduct, each once."""


AnyRule = Annotated[
    GoalsRule
    | DowntimeRule
    | ExposedRule
    | LostRule
    | ConditionRule
    | ForbiddenRule
    | DiagnosisRule
    | PredictionRule
    | ConductRule,
    Field(discriminator="kind"),
]


# --- the whole ----------------------------------------------------------------------------------------------


class Scenario(Part):
    """A scenario file."""

    name: Slug
    """The file's own name; need not be written."""
    title: Line
    """Title of the drill in the list."""
    summary: Line
    """One sentence for the list of drills: what happens, and what the task is."""
    level: Literal["beginner", "intermediate", "advanced", "expert"]
    """Level of experience."""
    minutes: int = Field(ge=1, le=600)
    """Time a learner needs, for planning."""
    skills: Annotated[tuple[Slug, ...], Field(strict=False, max_length=20)] = ()
    """Skills trained; the list of drills can be filtered by them."""
    author: Line | None = None
    """Author according to the file: plain text, not verified."""
    sources: Annotated[tuple[Source, ...], Field(strict=False, alias="source", max_length=20)] = ()
    seed: int = Field(default=1, ge=0, lt=2**63)
    """Seed of everything random. The same seed gives the same run."""
    length: Duration | None = None
    """Time after which the drill ends, whether its goals are reached or not."""
    allow_revert_all: bool = False
    """Whether `revert-all` is allowed in a scored drill: it finds and repairs every fault at once."""
    early: Line | None = None
    """Reason why it is right to act before the faults of the timeline; None: acting early is not right."""
    variants: Pools = Field(default_factory=dict)
    """Names, sizes and times; the seed picks one for {name} in the texts."""
    settings: Settings = Settings()
    servers: Annotated[tuple[Server, ...], Field(strict=False, alias="server", min_length=1, max_length=50)]
    links: Annotated[tuple[Link, ...], Field(strict=False, alias="link", max_length=500)] = ()
    databases: Annotated[
        tuple[Database, ...], Field(strict=False, alias="database", min_length=1, max_length=500)
    ]
    sessions: Annotated[tuple[Session, ...], Field(strict=False, alias="session", max_length=500)] = ()
    clients: Annotated[tuple[Client, ...], Field(strict=False, alias="client", max_length=100)] = ()
    before: Annotated[tuple[Preparation, ...], Field(strict=False, max_length=200)] = ()
    timeline: Annotated[tuple[Inject, ...], Field(strict=False, max_length=500)] = ()
    locked: Annotated[tuple[Lock, ...], Field(strict=False, max_length=50)] = ()
    brief: Text
    """Text for the learner before the clock starts."""
    roles: Annotated[tuple[Role, ...], Field(strict=False, alias="role", max_length=20)] = ()
    goals: Annotated[tuple[Goal, ...], Field(strict=False, alias="goal", max_length=50)] = ()
    forbidden: Annotated[tuple[Forbidden, ...], Field(strict=False, max_length=50)] = ()
    questions: Annotated[tuple[Question, ...], Field(strict=False, alias="question", max_length=20)] = ()
    predictions: Annotated[tuple[Prediction, ...], Field(strict=False, alias="predict", max_length=20)] = ()
    hints: Annotated[tuple[Hint, ...], Field(strict=False, alias="hint", max_length=50)] = ()
    solution: Annotated[tuple[Step, ...], Field(strict=False, max_length=200)] = ()
    rubric: Annotated[tuple[AnyRule, ...], Field(strict=False, max_length=50)] = ()
    facilitator: Text | None = None
    """Notes for the instructor."""
    fidelity: Fidelity | None = None

    _text: str = PrivateAttr("")

    @property
    def text(self) -> str:
        """The file as it was read, to be stored with a run."""
        return self._text

    @property
    def scored(self) -> bool:
        return bool(self.rubric)

    @property
    def inquiries(self) -> tuple[Question | Prediction, ...]:
        """Everything that is asked."""
        return (*self.questions, *self.predictions)


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file, for editors. `name` may be left out there."""
    made = Scenario.model_json_schema(by_alias=True)
    made = _or_variant(made)
    made["required"] = [key for key in made["required"] if key != "name"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


_VARIANT: Final = {"type": "string", "pattern": r"\{[a-z][a-z0-9_]{0,29}\}"}
"""A value that the seed picks from [variants]."""


def _or_variant(part: Any) -> Any:
    """*part* of a JSON Schema in which a number, a choice or a name may also be a `{variant}`."""
    if isinstance(part, list):
        return [_or_variant(each) for each in part]
    if not isinstance(part, dict):
        return part
    plain = part.get("type") in ("integer", "number", "boolean") or (
        part.get("type") == "string" and bool({"pattern", "enum"} & part.keys())
    )
    if not plain:
        return {key: _or_variant(each) for key, each in part.items()}
    about = {key: part[key] for key in ("title", "description", "default") if key in part}
    rule = {key: each for key, each in part.items() if key not in about}
    return {**about, "anyOf": [rule, _VARIANT]}
