"""Schema of the tasks of a drill: timeline, goals, questions, hints, solution and scoring rules."""

from typing import Annotated, Final, Literal

from pydantic import Field, PrivateAttr
from pydantic.json_schema import JsonSchemaValue

from engine.drill.authoring.schema.world import (
    AvailabilityGroupSpec,
    ClientSpec,
    ClusterInstanceSpec,
    ClusterSpec,
    Condition,
    DatabaseSpec,
    Duration,
    Line,
    LinkSpec,
    Name,
    Points,
    Pools,
    Preparation,
    Publication,
    ScenarioTable,
    ServerSpec,
    SessionSpec,
    SettingsSpec,
    Slug,
    Text,
)


class Inject(ScenarioTable):
    """[[timeline]]: an input line that the scenario applies at a time, in a time window, or on a condition."""

    do: Text
    """Input line, such as `power-off SERVER_A`."""
    at: Duration | None = None
    """Time of the input, counted from the start of the drill."""
    between: Annotated[tuple[Duration, Duration] | None, Field(strict=False)] = None
    """Time window of the input. The seed picks a time in this window."""
    when: Condition | None = None
    """Condition that triggers the input, such as `Sales is SUSPENDED`."""
    after: Duration = 0.0
    """With `when`: delay after the condition is first met."""
    note: Text | None = None
    """Reason for this input line, written for the instructor."""


class LockedAction(ScenarioTable):
    """[[locked]]: an action that is not available in this drill, for example because a spare part is missing."""

    do: Line
    """Input line without its time, or its first words. `workload` locks all lines that begin with this word."""
    until: Duration | None = None
    """Time at which the action becomes available. None: never."""
    why: Line
    """Reason shown to the learner."""


class Goal(ScenarioTable):
    """[[goal]]: a state that must be reached and kept until the end."""

    name: Slug
    """Short name of the goal, to which hints refer."""
    text: Line
    """Description of the goal for the learner: the state to reach."""
    when: Condition
    """Condition of the goal, such as `Sales is SYNCHRONIZED`."""
    after: Duration = 0.0
    """The goal is not checked before this time, because it may already be met at the start."""
    hold: Duration = 0.0
    """Time for which the condition must stay met before the goal counts as met."""
    within: Duration | None = None
    """Deadline, counted from the start of the drill. The goal is missed if it is not met by then."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Weight of this goal among the goals of the drill."""


class ForbiddenState(ScenarioTable):
    """[[forbidden]]: a state that must never be reached."""

    name: Slug
    """Short name."""
    text: Line
    """Text for the debrief."""
    when: Condition
    """Condition of the forbidden state, such as `Sales on SERVER_B is PRINCIPAL`."""
    ends: bool = False
    """True if the forbidden state ends the drill."""
    better: Line
    """Better alternative, for the debrief."""


class AlternativeAnswer(ScenarioTable):
    """[[question.instead]]: correct choices and explanation for runs in which the condition `when` is met."""

    when: Condition
    """Condition for this answer, such as `forced_failovers(Sales) > 0`, checked when the question is asked."""
    right: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(strict=False, min_length=1)]
    """Numbers of the correct choices in this case. The first choice has number 1."""
    why: Text
    """Explanation for this case, shown after the drill."""


class TimedQuestion(ScenarioTable):
    """Question to the trainee, and when it is asked."""

    name: Slug
    """Short name of the question, used in the `answer` command."""
    text: Line
    """Text of the question."""
    at: Duration | None = None
    """Time of the question, counted from the start of the drill."""
    when: Condition | None = None
    """Condition that triggers the question."""
    after: Duration = 0.0
    """With `when`: delay after the condition is met. The question is asked only if the condition is still met."""
    premise: Condition | None = None
    """Precondition of the question. The question is asked only if this condition is met. A question that is
    not asked does not count in the score.
    """


class Question(TimedQuestion):
    """[[question]]: a question about past events, answered once and explained after the drill."""

    within: Duration | None = None
    """Time limit for the answer. None: until the drill ends."""
    choices: Annotated[tuple[Line, ...], Field(strict=False, min_length=2, max_length=8)]
    """Possible answers."""
    right: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(strict=False, min_length=1)]
    """Numbers of the correct choices. The first choice has number 1. If several numbers are listed, each
    counts as correct.
    """
    why: Text
    """Explanation, shown after the drill."""
    instead: Annotated[tuple[AlternativeAnswer, ...], Field(strict=False, max_length=8)] = ()
    """Correct answers for other outcomes of the run. The first entry whose condition is met counts."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Weight of this question among the questions of the drill."""
    pause: bool = False
    """True if the clock is paused until the question is answered."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of the choices."""
        return self.choices


class PredictedOutcome(ScenarioTable):
    """[[predict.choice]]: a possible outcome, and the condition that detects it."""

    text: Line
    """Text of the outcome."""
    when: Condition
    """Condition that detects the outcome."""


class Prediction(TimedQuestion):
    """[[predict]]: a question about the next events, asked while the clock is paused. The run shows the answer."""

    within: Duration = 10.0
    """Time limit for the answer. When it expires, the outcome becomes visible."""
    judged_after: Duration
    """Time from the question to the check of the choices. Choices whose condition is met at that time are
    correct.
    """
    choices: Annotated[
        tuple[PredictedOutcome, ...], Field(strict=False, alias="choice", min_length=2, max_length=8)
    ]
    """Possible outcomes, each with its condition."""
    why: Text
    """Explanation, shown after the drill."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Weight of this prediction among the predictions of the drill."""
    pause: bool = True
    """True if the clock is paused until the question is answered."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of the choices."""
        return tuple(choice.text for choice in self.choices)


RoleSight = Literal["power", "databases", "errorlog", "links", "clients", "queues", "goals", "acts", "calls"]
"""Data that a team role can see. Each role also sees its own actions, their results, and calls to it."""


class RoleSpec(ScenarioTable):
    """[[role]]: a person in the drill, with knowledge and goals. A `key` makes it a role for a team member."""

    name: Line
    """Name or function of the person."""
    text: Text
    """Knowledge and goals of this person."""
    key: Slug | None = None
    """Short name of the role in input lines: `@dba power-off SERVER_A`. None: not a team role."""
    servers: Annotated[tuple[Name, ...], Field(strict=False, max_length=50)] = ()
    """Servers that the role can see."""
    sees: Annotated[tuple[RoleSight, ...], Field(strict=False, max_length=20)] = ()
    """Data that the role can see. On its servers: power, databases, errorlog, links, queues. In the drill:
    clients, goals, and acts and calls of other roles.
    """
    does: Annotated[tuple[Line, ...], Field(strict=False, max_length=100)] = ()
    """First words of the input lines that the role may use, such as `plug-cable` or `sql SERVER_A`."""


class Hint(ScenarioTable):
    """[[hint]]: three layers of help for one goal, each with a deduction."""

    goal: Slug
    """Short name of the goal."""
    look: Text
    """Place to look at, such as a view or a log."""
    means: Text
    """Meaning of the symptom."""
    type: Text
    """Input line to type."""
    cost: Annotated[tuple[Points, Points, Points], Field(strict=False)] = (1.0, 2.0, 4.0)
    """Deduction in points for each of the three hint layers. Hints are free in guided mode."""


class SolutionStep(ScenarioTable):
    """[[solution]]: an input line of the reference solution, with its time (`95 …` or `+5 …`)."""

    do: Text
    """Input line with its time: `95 power-on SERVER_A` at 95 s, `+5 …` 5 s after the previous step or after
    `when` is met.
    """
    when: Condition | None = None
    """Condition that the step waits for."""
    why: Line
    """Reason for this step at this time."""


class Fidelity(ScenarioTable):
    """[fidelity]: limits of the simulation in this drill."""

    modelled: Text
    """Behavior that is simulated faithfully."""
    simplified: Text
    """Behavior that is simplified."""
    absent: Text
    """Behavior that is not simulated."""


# --- scoring rules of a drill -----------------------------------------------------------------------------
# One table for each rule.


class RubricRule(ScenarioTable):
    """[[rubric]]: a part of the score."""

    name: Line
    """Name of this rubric item."""
    points: Points
    """Maximum points of this rubric item. All items together must total 100."""
    better: Line
    """Tip: how to earn full points."""


class GoalsRule(RubricRule):
    """Points for goals met, distributed by weight."""

    kind: Literal["goals"]


class DowntimeRule(RubricRule):
    """Downtime: full points up to a target, no points at a limit or above it, linear in between."""

    kind: Literal["downtime"]
    database: Name | None = None
    """Database whose downtime counts. None: all databases together."""
    target: Duration
    """Full points up to this duration."""
    limit: Duration
    """At this duration or more, the rule gives no points."""


class UnprotectedRule(RubricRule):
    """Time without a synchronized copy: full points up to a target, none from a limit on, linear in between."""

    kind: Literal["exposed"]
    database: Name | None = None
    """Database whose unprotected time counts. None: all databases together."""
    target: Duration
    """Full points up to this duration."""
    limit: Duration
    """At this duration or more, the rule gives no points."""


class LostTransactionsRule(RubricRule):
    """Lost committed transactions: full points up to a target, none from a limit on, linear in between."""

    kind: Literal["lost_transactions"]
    database: Name | None = None
    """Database whose lost transactions count. None: all databases together."""
    target: int = Field(default=0, ge=0, lt=2**63)
    """Full points up to this number of lost transactions."""
    limit: int = Field(ge=1, lt=2**63)
    """At this number of lost transactions or more, the rule gives no points."""


class ConditionRule(RubricRule):
    """Full points if the condition is met at the end."""

    kind: Literal["condition"]
    when: Condition
    """Condition that must be met at the end of the drill, such as `witness of Sales is CONNECTED`."""


class ForbiddenRule(RubricRule):
    """Full points unless a forbidden state was reached."""

    kind: Literal["forbidden"]


class DiagnosisRule(RubricRule):
    """Points for correct answers, distributed by weight."""

    kind: Literal["diagnosis"]


class PredictionRule(RubricRule):
    """Points for correct predictions, distributed by weight."""

    kind: Literal["prediction"]


class CallsRule(RubricRule):
    """Points for the share of orders that were read back correctly and confirmed before execution."""

    kind: Literal["calls"]
    least: int = Field(default=1, ge=1, le=100)
    """Minimum number of orders that the team must give. Each missing order counts as not read back."""


class StatusRule(RubricRule):
    """Points for the share of status requests that were answered correctly and on time."""

    kind: Literal["status"]
    within: Duration
    """Time limit for an answer."""


class ScoredAction(ScenarioTable):
    """[[rubric.price]]: an action for which the conduct rule deducts points once."""

    when: Condition
    """Condition that detects the action, such as `ran "SET PARTNER OFF"`."""
    premise: Condition | None = None
    """Condition under which the reason in `why` is true, such as `Sales is ARMED`. If it is not met when the
    action occurs, no points are deducted.
    """
    price: Points
    """Deduction in points."""
    why: Line
    """Reason for the deduction, for the debrief."""
    better: Line
    """Better alternative, for the debrief."""


class ConductRule(RubricRule):
    """Points for correct conduct, minus the deductions for wrong, refused and harmful commands."""

    kind: Literal["conduct"]
    refused: Points = 3.0
    """Deduction for each command that a server refuses."""
    prices: Annotated[tuple[ScoredAction, ...], Field(strict=False, alias="price", max_length=50)] = ()
    """Actions that cost points. Each action is counted once."""


AnyRule = Annotated[
    GoalsRule
    | DowntimeRule
    | UnprotectedRule
    | LostTransactionsRule
    | ConditionRule
    | ForbiddenRule
    | DiagnosisRule
    | PredictionRule
    | CallsRule
    | StatusRule
    | ConductRule,
    Field(discriminator="kind"),
]


# --- schema of a scenario file ----------------------------------------------------------------------------
# One TOML table for each class, checked by pydantic. Tables that may occur several times have a singular name
# in the file (`[[server]]`) and a plural name in the code. Durations are seconds (30) or a number with its
# unit ("30s", "2min", "1h").


class Scenario(ScenarioTable):
    """A scenario file."""

    name: Slug
    """Name of the scenario. It may be omitted: the default is the name of the file."""
    title: Line
    """Title of the drill in the list."""
    summary: Line
    """One sentence for the list of drills: the situation and the task."""
    level: Literal["beginner", "intermediate", "advanced", "expert"]
    """Level of experience that the drill requires."""
    minutes: int = Field(ge=1, le=600)
    """Estimated playing time for a learner, in minutes."""
    skills: Annotated[tuple[Slug, ...], Field(strict=False, max_length=20)] = ()
    """Skills that the drill trains. The list of drills can be filtered by skill."""
    author: Line | None = None
    """Author as named in the file. The name is not verified."""
    sources: Annotated[tuple[Publication, ...], Field(strict=False, alias="source", max_length=20)] = ()
    seed: int = Field(default=1, ge=0, lt=2**63)
    """Seed of all random values. The same seed gives the same run."""
    length: Duration | None = None
    """Time after which the drill ends, even if goals are open."""
    allow_revert_all: bool = False
    """True if `revert-all` is allowed in a scored drill. It finds and repairs every fault at once."""
    early: Line | None = None
    """Reason why the learner may act before the faults of the timeline occur. None: early actions are wrong."""
    variants: Pools = Field(default_factory=dict)
    """Pools of names, sizes and times. The seed picks one value for each {name} in the texts."""
    settings: SettingsSpec = SettingsSpec()
    servers: Annotated[
        tuple[ServerSpec, ...], Field(strict=False, alias="server", min_length=1, max_length=50)
    ]
    links: Annotated[tuple[LinkSpec, ...], Field(strict=False, alias="link", max_length=500)] = ()
    databases: Annotated[
        tuple[DatabaseSpec, ...], Field(strict=False, alias="database", min_length=1, max_length=500)
    ]
    sessions: Annotated[tuple[SessionSpec, ...], Field(strict=False, alias="session", max_length=500)] = ()
    clusters: Annotated[tuple[ClusterSpec, ...], Field(strict=False, alias="cluster", max_length=5)] = ()
    instances: Annotated[
        tuple[ClusterInstanceSpec, ...], Field(strict=False, alias="instance", max_length=20)
    ] = ()
    groups: Annotated[
        tuple[AvailabilityGroupSpec, ...], Field(strict=False, alias="availability_group", max_length=50)
    ] = ()
    clients: Annotated[tuple[ClientSpec, ...], Field(strict=False, alias="client", max_length=100)] = ()
    programs: Annotated[tuple[Name, ...], Field(strict=False, max_length=20)] = ()
    """Names that external programs give when they log in (program_name). Conditions can refer to the results
    of these programs.
    """
    before: Annotated[tuple[Preparation, ...], Field(strict=False, max_length=200)] = ()
    timeline: Annotated[tuple[Inject, ...], Field(strict=False, max_length=500)] = ()
    locked: Annotated[tuple[LockedAction, ...], Field(strict=False, max_length=50)] = ()
    brief: Text
    """Text for the learner before the clock starts."""
    roles: Annotated[tuple[RoleSpec, ...], Field(strict=False, alias="role", max_length=20)] = ()
    goals: Annotated[tuple[Goal, ...], Field(strict=False, alias="goal", max_length=50)] = ()
    forbidden: Annotated[tuple[ForbiddenState, ...], Field(strict=False, max_length=50)] = ()
    questions: Annotated[tuple[Question, ...], Field(strict=False, alias="question", max_length=20)] = ()
    predictions: Annotated[tuple[Prediction, ...], Field(strict=False, alias="predict", max_length=20)] = ()
    hints: Annotated[tuple[Hint, ...], Field(strict=False, alias="hint", max_length=50)] = ()
    solution: Annotated[tuple[SolutionStep, ...], Field(strict=False, max_length=200)] = ()
    rubric: Annotated[tuple[AnyRule, ...], Field(strict=False, max_length=50)] = ()
    facilitator: Text | None = None
    """Notes for the instructor."""
    fidelity: Fidelity | None = None

    _text: str = PrivateAttr("")

    @property
    def text(self) -> str:
        """Return the text of the file, which is stored with each run."""
        return self._text

    @property
    def server_names(self) -> tuple[str, ...]:
        """Return the names of all SQL Server instances, including failover cluster instances."""
        return (*(s.name for s in self.servers if s.sql), *(i.name for i in self.instances))

    @property
    def team(self) -> tuple[RoleSpec, ...]:
        """Return the roles that members of a team play; empty for a drill for one person."""
        return tuple(role for role in self.roles if role.key)

    @property
    def scored(self) -> bool:
        """Return whether the scenario has a rubric, so that it is a drill and not a lab."""
        return bool(self.rubric)

    @property
    def inquiries(self) -> tuple[Question | Prediction, ...]:
        """Return all questions and predictions."""
        return (*self.questions, *self.predictions)


JsonSchema = JsonSchemaValue


def build_schema() -> JsonSchema:
    """Return the JSON Schema of a scenario file for editors, in which `name` is optional."""
    json_schema = Scenario.model_json_schema(by_alias=True)
    required = [key for key in json_schema["required"] if key != "name"]
    allowed = {key: _allow_variant(part) for key, part in json_schema.items()}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **allowed, "required": required}


_VARIANT_SCHEMA: Final = {"type": "string", "pattern": r"\{[a-z][a-z0-9_]{0,29}\}"}
"""Schema of a value that the seed picks from [variants]."""


def _allow_variant(part: object) -> object:
    """Allow a `{variant}` in place of a number, a choice or a name in *part* of a JSON Schema."""
    if isinstance(part, list):
        return [_allow_variant(item) for item in part]
    if not isinstance(part, dict):
        return part
    is_plain_value = part.get("type") in ("integer", "number", "boolean") or (
        part.get("type") == "string" and bool({"pattern", "enum"} & part.keys())
    )
    if not is_plain_value:
        return {key: _allow_variant(item) for key, item in part.items()}
    description = {key: part[key] for key in ("title", "description", "default") if key in part}
    rule = {key: item for key, item in part.items() if key not in description}
    return {**description, "anyOf": [rule, _VARIANT_SCHEMA]}
