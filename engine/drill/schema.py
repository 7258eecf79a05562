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
            raise ValueError('expected seconds (30) or a number with s, min or h ("2min")')
        value = float(match[1]) * _UNIT_S[match[2]]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not 0.0 <= value <= DURATION_MAX_S:
        raise ValueError("expected a time from 0 to 24 h")
    return value


def _pace(seconds: float) -> float:
    """Refuses a job that would begin again before any time has passed, and so never end."""
    if 0.0 < seconds < PACE_MIN_S:
        raise ValueError(f"expected 0 (never) or at least {PACE_MIN_S:g} s")
    return seconds


def _readable(text: str) -> str:
    """Refuses characters that are not seen and change what is (controls, text direction, no width)."""
    for index, sign in enumerate(text):
        if sign not in "\n\t\u200c\u200d" and (
            unicodedata.category(sign) in _UNSEEN or sign in BLANK_LETTERS
        ):
            raise ValueError(f"expected no invisible sign like character {index + 1} (U+{ord(sign):04X})")
    return text


_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
BLANK_LETTERS: Final = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and symbols to Unicode that are drawn as nothing: fillers of Hangul, the Braille pattern without a dot."""
"""Categories of Unicode. Two signs of Cf are let through: the joiners that Persian and Hindi are written with."""


def _moment(text: str) -> str:
    """Refuses what is no moment, and years that leave no room for a drill or for what was before it."""
    try:
        year = datetime.fromisoformat(text).year
    except ValueError:
        raise ValueError("expected a day and a time that there are") from None
    if not 1990 <= year <= 2100:
        raise ValueError("expected a year from 1990 to 2100")
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
        extra="forbid", frozen=True, strict=True, populate_by_name=False, allow_inf_nan=False
    )


# --- the start world ----------------------------------------------------------------------------------------


class Source(Part):
    """[[source]]: where the matter of the drill is published."""

    paper: Line
    """Title of the paper, manual page or talk, as one would look it up."""
    section: Line
    """Chapter, page or figure in it."""


class Endpoint(Part):
    """[server.endpoint]: the database mirroring endpoint."""

    port: int = Field(default=ENDPOINT_PORT, ge=1, le=65_535)
    """TCP port on which it listens."""
    state: Literal["STARTED", "STOPPED", "DISABLED"] = "STARTED"
    """STOPPED and DISABLED answer nobody."""
    role: Literal["ALL", "PARTNER", "WITNESS"] = "ALL"
    """Whether it takes part as a partner, as a witness, or both (ALL)."""
    encryption: Literal["DISABLED", "SUPPORTED", "REQUIRED"] = "REQUIRED"
    """What it asks of the other end; REQUIRED and DISABLED do not go together."""
    algorithms: Annotated[tuple[Literal["RC4", "AES"], ...], Field(strict=False, min_length=1)] = ("RC4",)
    """In the order of preference; both ends need one in common."""
    certificate: Name | None = None
    """Certificate by which it is known to others; [[before]] lines create it. None: by the service account."""


class Server(Part):
    """[[server]]: a computer with one instance on it."""

    name: Name
    """Name of the computer and of the instance on it."""
    version: Literal[2005, 2008, 2012, 2014] = 2005
    """SQL Server by its year. 2008 and later compress the log on the way to the mirror."""
    edition: Literal["Enterprise", "Standard"] = "Enterprise"
    """Standard mirrors with safety FULL only."""
    cores: int | None = Field(default=None, ge=1, le=256)
    """Processor cores. None: as many as the site's servers have."""
    site: Line = "nec"
    """Hardware that it runs on: disks, processors and network as in one of the papers."""
    domain: Name = "CORP"
    """Windows domain. Servers of different domains need certificates to connect."""
    service_account: Line = "CORP\\sqlservice"
    """Account under which the instance runs; the same one everywhere needs no permission to connect."""
    trace_flags: Annotated[tuple[TraceFlag, ...], Field(strict=False, max_length=100)] = ()
    """Trace flags that are on from the start, such as 1462 (the log is not compressed)."""
    max_worker_threads: int = Field(default=0, ge=0, le=32_767)
    """0: as many as the product chooses for the cores."""
    blocked_ports: Annotated[tuple[Port, ...], Field(strict=False, max_length=100)] = ()
    """TCP ports that its firewall keeps closed at the start."""
    jobs_for: Annotated[tuple[Name, ...], Field(strict=False, max_length=20)] = ()
    """Databases for which it has the usual jobs, enabled: log backup, index maintenance, nightly load."""
    endpoint: Endpoint = Endpoint()
    """Its database mirroring endpoint."""


class Link(Part):
    """[[link]]: the network between two ends, the same both ways; pairs not named have a local network."""

    ends: Annotated[tuple[Name, Name], Field(strict=False)]
    """The two servers, or an application and a server."""
    rtt_ms: float = Field(default=0.2, ge=0, le=10_000)
    """Round trip time of a packet without any load."""
    jitter_ms: float = Field(default=0.0, ge=0, le=10_000)
    """By how much the round trip varies."""
    bandwidth_mbps: float = Field(default=1000.0, ge=0.001, le=400_000)
    """What it carries in each direction."""
    loss: float = Field(default=0.0, ge=0, le=0.99)
    """Share of the packets that are lost: 0.01 is one in a hundred."""


class Database(Part):
    """[[database]]: a user database and what its clients do."""

    name: Name
    """Name of the database; of several equal ones that of the first."""
    count: int = Field(default=1, ge=1, le=500)
    """So many equal databases, numbered on from the name: Branch001 with 100 is Branch001 to Branch100."""
    server: Name | None = None
    """Where it is, if no session says so."""
    restored_on: Annotated[tuple[Name, ...], Field(strict=False, max_length=10)] = ()
    """Servers on which a backup of it was restored WITH NORECOVERY, just before the drill; not with a session."""
    workload: Line = "none"
    """What its applications do, as measured in the papers; none: nothing."""
    scale: float = Field(default=1.0, ge=0, le=1000)
    """So many times the workload."""
    size_mb: SizeMb = 40_960.0
    """Size of its data."""
    log_size_mb: SizeMb = 4_096.0
    """Size of its log file at the start."""
    log_max_mb: SizeMb = 40_960.0
    """Size up to which its log file grows; then it is full."""
    recovery_model: Literal["FULL", "BULK_LOGGED", "SIMPLE"] = "FULL"
    """A mirrored database has FULL."""
    compression_ratio: float = Field(default=0.27, ge=0.001, le=1)
    """Size of its log on the way to the mirror, where it is compressed: 0.27 is 27 %."""
    delayed_durability: Literal["DISABLED", "ALLOWED", "FORCED"] = "DISABLED"
    """Whether a commit waits for the log to be written (SQL Server 2014)."""
    log_backup_every: Annotated[Duration, AfterValidator(_pace)] = 900.0
    """Time between two backups of its log. 0: no log backup job."""

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
    """[[session]]: a database mirroring session that has been running for long."""

    database: Name
    """Of several equal databases the first; each of them has such a session."""
    principal: Name
    """Server that serves the database at the start."""
    mirror: Name
    """Server that holds the copy."""
    witness: Name | None = None
    """Third server that votes. None: no witness, so no automatic failover."""
    safety: Literal["FULL", "OFF"] = "FULL"
    """FULL waits for the mirror with each commit; OFF does not."""
    timeout_s: int = Field(default=PARTNER_TIMEOUT_S, ge=5, le=32_767)
    """Silence after which a partner counts as lost (SET PARTNER TIMEOUT)."""
    state: Literal["SYNCHRONIZED", "SUSPENDED"] = "SYNCHRONIZED"
    """How it stands at the start."""


class Client(Part):
    """[[client]]: an application with its connection string."""

    name: Name
    """Name of the application."""
    databases: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    """Databases that it works in."""
    data_source: Name
    """Server that its connection string names first."""
    failover_partner: Name | None = None
    """Server that its connection string names as failover partner. None: the second is not known to it."""
    login: Annotated[str, StringConstraints(max_length=60), AfterValidator(_readable)] = ""
    """Its SQL login. Empty: one that every server knows and lets in."""


class Preparation(Part):
    """[[before]]: an input line done before the drill starts, unseen: settings, logins, jobs, certificates, drives.

    Nothing that takes time; its T-SQL is not charged to the trainee.
    """

    do: Text
    """An act as it is typed at the desk, such as `sql SERVER_A CREATE LOGIN …`."""


class Settings(Part):
    """[settings]: choices that the documents leave open."""

    auto_failover_after_witness_cut: bool = True
    """There is an automatic failover although only the link between principal and witness was cut before."""
    resume_on_mirror: bool = True
    """SET PARTNER RESUME is taken by the mirror, too."""
    witness_off_on_mirror: bool = True
    """SET WITNESS OFF is taken by the mirror, too."""
    async_backlog_unsynchronizes: bool = False
    """With safety OFF a new backlog turns SYNCHRONIZED back into SYNCHRONIZING."""
    boot_s: float = Field(default=60.0, ge=0, le=3600)
    """Time from power on until SQL Server starts."""
    restart_service_s: float = Field(default=4.0, ge=0, le=3600)
    """Time that the service needs to start."""
    start_time: Annotated[
        str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$"), AfterValidator(_moment)
    ] = "2005-10-22T12:00:00"
    """Date and time that the servers show when the drill starts."""


# --- what happens, what is wanted ---------------------------------------------------------------------------


class Inject(Part):
    """[[timeline]]: an input line that the scenario gives, at a time, in a window, or when a condition holds."""

    do: Text
    """What happens: an act as it is typed at the desk, such as `power-off SERVER_A`."""
    at: Duration | None = None
    """Time since the start at which it happens."""
    between: Annotated[tuple[Duration, Duration] | None, Field(strict=False)] = None
    """Some moment of this window, drawn from the seed."""
    when: Condition | None = None
    """It happens when this holds, such as `Sales is SUSPENDED`."""
    after: Duration = 0.0
    """With `when`: this long after the condition first held."""
    note: Text | None = None
    """Why, for the instructor."""


class Lock(Part):
    """[[locked]]: an act that the trainee cannot do, because of the story: a part has to be delivered first."""

    do: Line
    """The input line, without its time; or its first words: `workload` keeps away every one of its lines."""
    until: Duration | None = None
    """From then on it can be done. None: never."""
    why: Line
    """What the trainee is told who tries it."""


class Goal(Part):
    """[[goal]]: a state to be reached and to be kept until the end."""

    name: Slug
    """Short name by which hints refer to it."""
    text: Line
    """What the learner reads: what has to be so at the end."""
    when: Condition
    """The condition by which it is reached, such as `Sales is SYNCHRONIZED`."""
    after: Duration = 0.0
    """Not judged before this time (at the start the system is whole)."""
    hold: Duration = 0.0
    """It has to hold this long."""
    within: Duration | None = None
    """Reached by this time since the start, or missed."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Share of the points for goals."""


class Forbidden(Part):
    """[[forbidden]]: a state that must never be reached."""

    name: Slug
    """Short name of it."""
    text: Line
    """What it is, for the debrief."""
    when: Condition
    """The condition by which it is reached, such as `Sales on SERVER_B is PRINCIPAL`."""
    ends: bool = False
    """Reaching it ends the drill."""
    better: Line
    """What would have been better, for the debrief."""


class Instead(Part):
    """[[question.instead]]: what is right, and why, where the run has taken another course."""

    when: Condition
    """The other course, such as `forced_failovers(Sales) > 0`; looked at when the question is asked."""
    right: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(strict=False, min_length=1)]
    """Numbers of the choices that are right then, from 1."""
    why: Text
    """The explanation that fits, read when the drill is over."""


class Question(Part):
    """[[question]]: what has happened, and why? Asked at a moment, answered once, explained when the drill is over."""

    name: Slug
    """Short name by which it is answered."""
    text: Line
    """What is asked."""
    at: Duration | None = None
    """Time since the start at which it is asked."""
    when: Condition | None = None
    """It is asked when this holds."""
    after: Duration = 0.0
    """With `when`: asked this long after the condition began to hold, if it holds then."""
    premise: Condition | None = None
    """What the question takes for granted. While it does not hold the question is not asked, and one that was never
    asked is not counted."""
    within: Duration | None = None
    """Time for the answer. None: until the end."""
    choices: Annotated[tuple[Line, ...], Field(strict=False, min_length=2, max_length=8)]
    """What can be answered."""
    right: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(strict=False, min_length=1)]
    """Numbers of the choices that are right, from 1; any of them will do."""
    why: Text
    """The explanation, read when the drill is over."""
    instead: Annotated[tuple[Instead, ...], Field(strict=False, max_length=8)] = ()
    """Other right answers for other courses of the run; the first whose condition holds counts."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Share of the points for diagnosis."""
    pause: bool = False
    """Time stands still until it is answered."""

    @property
    def texts(self) -> tuple[str, ...]:
        return self.choices


class Outcome(Part):
    """[[predict.choice]]: what may be expected, and the condition by which it is seen to be so."""

    text: Line
    """What may be expected."""
    when: Condition
    """The condition by which it is seen to have come."""


class Prediction(Part):
    """[[predict]]: time stands still; what will happen next? Judged a while later by what then is."""

    name: Slug
    """Short name by which it is answered."""
    text: Line
    """What is asked."""
    at: Duration | None = None
    """Time since the start at which it is asked."""
    when: Condition | None = None
    """It is asked when this holds."""
    after: Duration = 0.0
    """With `when`: asked this long after the condition began to hold, if it holds then."""
    premise: Condition | None = None
    """What the question takes for granted. While it does not hold the question is not asked, and one that was never
    asked is not counted."""
    within: Duration = 10.0
    """Time for the answer: who waits has seen it."""
    judged_after: Duration
    """So long after it was asked the conditions of the choices are looked at; those that hold are right."""
    choices: Annotated[tuple[Outcome, ...], Field(strict=False, alias="choice", min_length=2, max_length=8)]
    """What can be expected, each with the condition by which it is judged."""
    why: Text
    """The explanation, read when the drill is over."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Share of the points for predictions."""
    pause: bool = True
    """Time stands still until it is answered."""

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(choice.text for choice in self.choices)


class Role(Part):
    """[[role]]: who takes part and what this person knows."""

    name: Line
    """Who it is: a name, an office."""
    text: Text
    """What this person knows and wants."""


class Hint(Part):
    """[[hint]]: three layers of help towards one goal, each with its cost in points."""

    goal: Slug
    """Short name of the goal that it leads to."""
    look: Text
    """Where to look."""
    means: Text
    """What it means."""
    type: Text
    """What to type."""
    cost: Annotated[tuple[Points, Points, Points], Field(strict=False)] = (1.0, 2.0, 4.0)
    """Points that each of the three layers costs; in guided mode none."""


class Step(Part):
    """[[solution]]: an input line with its time (`95 …`, or `+5 …` after the step before or the condition)."""

    do: Text
    """An act with its time: `95 power-on SERVER_A` at 95 s, `+5 …` 5 s after the step before or the
    condition."""
    when: Condition | None = None
    """It waits until this holds."""
    why: Line
    """Why this, and why now."""


class Fidelity(Part):
    """[fidelity]: how far the simulation can be trusted here."""

    modelled: Text
    """What is simulated as it is."""
    simplified: Text
    """What is simulated more simply than it is."""
    absent: Text
    """What is not simulated."""


# --- rubric -------------------------------------------------------------------------------------------------


class Rule(Part):
    """[[rubric]]: a part of the score."""

    name: Line
    """Name of this part of the score."""
    points: Points
    """Points that can be had; those of all parts make 100."""
    better: Line
    """What would have earned all the points."""


class GoalsRule(Rule):
    """Points for goals reached, shared out by their weights."""

    kind: Literal["goals"]


class DowntimeRule(Rule):
    """A short time without service: full points up to a target, none from a limit on, in a straight line between."""

    kind: Literal["downtime"]
    database: Name | None = None
    """None: all databases together."""
    target: Duration
    """Up to here all the points."""
    limit: Duration
    """From here on none."""


class ExposedRule(Rule):
    """A short time served without a synchronized mirror: points as for the time without service."""

    kind: Literal["exposed"]
    database: Name | None = None
    """None: all databases together."""
    target: Duration
    """Up to here all the points."""
    limit: Duration
    """From here on none."""


class LostRule(Rule):
    """Few committed transactions lost: points as for the time without service."""

    kind: Literal["lost_transactions"]
    database: Name | None = None
    """None: all databases together."""
    target: int = Field(default=0, ge=0, lt=2**63)
    """Transactions lost up to which there are all the points."""
    limit: int = Field(ge=1, lt=2**63)
    """Transactions lost from which on there are none."""


class ConditionRule(Rule):
    """All the points if the condition holds at the end."""

    kind: Literal["condition"]
    when: Condition
    """What has to hold at the end, such as `witness of Sales is CONNECTED`."""


class ForbiddenRule(Rule):
    """All the points unless one of the forbidden states was reached."""

    kind: Literal["forbidden"]


class DiagnosisRule(Rule):
    """Points for questions answered rightly, shared out by their weights."""

    kind: Literal["diagnosis"]


class PredictionRule(Rule):
    """Points for predictions that came true, shared out by their weights."""

    kind: Literal["prediction"]


class Price(Part):
    """[[rubric.price]]: an act that costs points of conduct, once."""

    when: Condition
    """The condition by which the act is seen, such as `ran "SET PARTNER OFF"`."""
    premise: Condition | None = None
    """What `why` takes for granted, such as `Sales is ARMED`. Where it does not hold when the act is seen, the act
    costs nothing here."""
    price: Points
    """Points that it costs."""
    why: Line
    """What is wrong with it, for the debrief."""
    better: Line
    """What would have been better, for the debrief."""


class ConductRule(Rule):
    """Points that wrong, refused and harmful commands take away."""

    kind: Literal["conduct"]
    refused: Points = 3.0
    """Price of each command that the server refuses."""
    prices: Annotated[tuple[Price, ...], Field(strict=False, alias="price", max_length=50)] = ()
    """Acts that cost points of conduct, each once."""


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
    """What the drill is called in the list of drills."""
    summary: Line
    """One sentence for the list of drills: what happens, and what is to be done."""
    level: Literal["beginner", "intermediate", "advanced", "expert"]
    """For whom it is."""
    minutes: int = Field(ge=1, le=600)
    """How long it takes a person, for planning."""
    skills: Annotated[tuple[Slug, ...], Field(strict=False, max_length=20)] = ()
    """What is trained; by these the list of drills can be searched."""
    author: Line | None = None
    """Who wrote the file, as the file says: plain text that nobody has verified."""
    sources: Annotated[tuple[Source, ...], Field(strict=False, alias="source", max_length=20)] = ()
    seed: int = Field(default=1, ge=0, lt=2**63)
    """Decides everything that is left to chance. The same number gives the same run."""
    length: Duration | None = None
    """The drill ends after this time, whatever has been reached."""
    allow_revert_all: bool = False
    """Whether `revert-all` can be used although something is scored: it finds and mends every fault at once."""
    early: Line | None = None
    """Why it is right to do everything before the story's faults come; None: with a timeline it is not."""
    variants: Pools = Field(default_factory=dict)
    """Names, sizes and times of which the seed picks one for {name} in the texts."""
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
    """What the learner reads before the clock starts."""
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
