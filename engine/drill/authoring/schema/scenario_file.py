"""Schema of a scenario file: one TOML table for each class, checked by pydantic.

Tables that may occur several times have a singular name in the file (`[[server]]`) and a plural name in the
code. Durations are seconds (30) or a number with its unit ("30s", "2min", "1h").
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, PrivateAttr

from engine.drill.authoring.schema.story import (
    AnyRule,
    Fidelity,
    Forbidden,
    Goal,
    Hint,
    Inject,
    LockedAction,
    Prediction,
    Question,
    SolutionStep,
    StoryRole,
)
from engine.drill.authoring.schema.values import Duration, Line, Name, Pools, Slug, Text
from engine.drill.authoring.schema.world import (
    AvailabilityGroupSpec,
    ClientSpec,
    ClusterInstanceSpec,
    ClusterSpec,
    DatabaseSpec,
    LinkSpec,
    Preparation,
    Publication,
    ScenarioTable,
    ServerSpec,
    SessionSpec,
    SettingsSpec,
)


class Scenario(ScenarioTable):
    """A scenario file."""

    name: Slug
    """The file's own name; need not be written."""
    title: Line
    """Title of the drill in the list."""
    summary: Line
    """One sentence for the list of drills: the situation and the task."""
    level: Literal["beginner", "intermediate", "advanced", "expert"]
    """Level of experience."""
    minutes: int = Field(ge=1, le=600)
    """Estimated time for a learner."""
    skills: Annotated[tuple[Slug, ...], Field(strict=False, max_length=20)] = ()
    """Skills trained; the list of drills can be filtered by them."""
    author: Line | None = None
    """Author according to the file: plain text, not verified."""
    sources: Annotated[tuple[Publication, ...], Field(strict=False, alias="source", max_length=20)] = ()
    seed: int = Field(default=1, ge=0, lt=2**63)
    """Seed of all random values. The same seed gives the same run."""
    length: Duration | None = None
    """Time after which the drill ends, even if goals are open."""
    allow_revert_all: bool = False
    """True if `revert-all` is allowed in a scored drill. It finds and repairs every fault at once."""
    early: Line | None = None
    """Reason why actions before the faults of the timeline are correct. None: early actions are not correct."""
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
    """Programs outside the simulation, by their names in logins. Conditions can refer to their results."""
    before: Annotated[tuple[Preparation, ...], Field(strict=False, max_length=200)] = ()
    timeline: Annotated[tuple[Inject, ...], Field(strict=False, max_length=500)] = ()
    locked: Annotated[tuple[LockedAction, ...], Field(strict=False, max_length=50)] = ()
    brief: Text
    """Text for the learner before the clock starts."""
    roles: Annotated[tuple[StoryRole, ...], Field(strict=False, alias="role", max_length=20)] = ()
    goals: Annotated[tuple[Goal, ...], Field(strict=False, alias="goal", max_length=50)] = ()
    forbidden: Annotated[tuple[Forbidden, ...], Field(strict=False, max_length=50)] = ()
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
        """Text of the file, stored with each run."""
        return self._text

    @property
    def server_names(self) -> tuple[str, ...]:
        """Instances of SQL Server, those of a failover cluster among them."""
        return (*(s.name for s in self.servers if s.sql), *(i.name for i in self.instances))

    @property
    def team(self) -> tuple[StoryRole, ...]:
        """The roles that members of a team play; empty: a drill for one."""
        return tuple(role for role in self.roles if role.key)

    @property
    def scored(self) -> bool:
        """Return whether the scenario has a rubric, so that it is a drill and not a lab."""
        return bool(self.rubric)

    @property
    def inquiries(self) -> tuple[Question | Prediction, ...]:
        """Everything that is asked."""
        return (*self.questions, *self.predictions)


JsonSchema = dict[str, Any]


def schema() -> JsonSchema:
    """Return the JSON Schema of a scenario file, for editors; `name` is optional there."""
    made = Scenario.model_json_schema(by_alias=True)
    made = _or_variant(made)
    made["required"] = [key for key in made["required"] if key != "name"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


_VARIANT: Final = {"type": "string", "pattern": r"\{[a-z][a-z0-9_]{0,29}\}"}
"""A value that the seed picks from [variants]."""


def _or_variant(part: Any) -> Any:
    """Allow a `{variant}` for a number, a choice or a name in *part* of a JSON Schema."""
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
