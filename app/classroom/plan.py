"""A plan as a TOML file: the parts that a class plays, and prepared instructions."""

import random
import tomllib
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from app.classroom.messages.codec import GROUP_PATTERN, NAME_MAX
from app.classroom.models import INJECT, MESSAGE, ClassInstruction
from app.classroom.seat_log import PARTS_MAX
from app.files.content import UnreadableFileError, decode, read_bytes
from app.words.language import mark, tr
from engine.drill.authoring.schema import Duration, Line
from engine.model import to_ticks

BYTES_MAX = 1_000_000

Group = Annotated[str, Field(pattern=GROUP_PATTERN)]
Kind = Literal["pre", "lesson", "post", "retention"]
KINDS: Final[dict[str, str]] = {
    "pre": mark("Pre-test"),
    "lesson": mark("Lesson"),
    "post": mark("Post-test"),
    "retention": mark("Retention test"),
}
"""Kinds of a class part, with their names."""


class InvalidPlanError(Exception):
    """The plan cannot be used; the text gives the reason."""


class PlanSection(BaseModel):
    """Section of a lesson plan."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class PlannedInject(PlanSection):
    """[[inject]]: an input line that happens at every seat."""

    at: Duration
    """Time since the start of the seat's run."""
    do: Line
    group: Group | None = None
    """Group that receives the event; None means all groups."""
    part: Kind | None = None
    """Part of the class in which the event happens; None means every part."""


class PlannedMessage(PlanSection):
    """[[message]]: a text that every seat shows."""

    at: Duration
    text: Line
    group: Group | None = None
    part: Kind | None = None


class GroupMembers(PlanSection):
    """[[group]]: people with these names join the group."""

    name: Group
    people: Annotated[tuple[str, ...], Field(strict=False, max_length=1000)] = ()


Mode = Literal["guided", "practice", "exam", "lab"]


class PlannedPart(PlanSection):
    """[[part]]: played when the previous part is over and the instructor continues."""

    kind: Kind
    scenario: Annotated[str, Field(min_length=1)] | None = None
    mode: Mode | None = None
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Seed of the part.

    None: a lesson uses the seed of the plan or of the drill. A test draws a seed when the class starts.
    """

    @property
    def is_test(self) -> bool:
        """Return whether the part is a test."""
        return self.kind != "lesson"

    @property
    def has_drawn_seed(self) -> bool:
        """Return whether the seed is drawn at the beginning of the class."""
        return self.is_test and self.seed is None


class LessonPlan(PlanSection):
    """Parts of a lesson, and its groups."""

    scenario: Annotated[str, Field(min_length=1)] | None = None
    """Name of a scenario, or its file relative to the plan's folder; None if each part has its own."""
    mode: Mode | None = None
    """Mode of the drill; None if each part has its own mode."""
    title: Annotated[str, Field(max_length=NAME_MAX)] = ""
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Seed of the class; None means the seed of the scenario."""
    reflect: bool = False
    """True if people are asked for their reflection on the run before its points are shown."""
    frozen: bool = False
    """True if seats wait for the instructor's `go`."""
    until: Duration | None = None
    """Time at which every seat stops until it is given more time."""
    late: Literal["start", "class"] = "start"
    """Time at which the run of a seat that joins later begins: 0:00, or the time of the class."""
    clock: float | None = Field(default=None, gt=0, le=1000)
    """Speed of the class clock in simulated seconds per second; None means each seat has its own pace."""
    groups: Annotated[tuple[GroupMembers, ...], Field(strict=False, alias="group", max_length=200)] = ()
    stages: Annotated[tuple[PlannedPart, ...], Field(strict=False, alias="part", max_length=PARTS_MAX)] = ()
    """Parts of the class; empty means the class has one part."""
    draw_groups: bool = False
    """True if people without a named group are assigned randomly, to compare two lesson plans."""
    injects: Annotated[tuple[PlannedInject, ...], Field(strict=False, alias="inject", max_length=200)] = ()
    messages: Annotated[tuple[PlannedMessage, ...], Field(strict=False, alias="message", max_length=200)] = ()

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        """Require a scenario and a mode for each part, from the part or from the plan."""
        for number, part in enumerate(self.list_parts()):
            for name in ("scenario", "mode"):
                if getattr(part, name) is None:
                    key_path = f"part.{number}.{name}" if self.stages else name
                    raise PydanticCustomError("missing", f"{key_path}: Field required")
        return self

    def list_parts(self) -> list[PlannedPart]:
        """Return the parts of the class in the order of play."""
        return [
            stage.model_copy(
                update={"scenario": stage.scenario or self.scenario, "mode": stage.mode or self.mode}
            )
            for stage in self.stages or (PlannedPart(kind="lesson", seed=self.seed),)
        ]

    def list_instructions(self) -> list[ClassInstruction]:
        """Return the prepared instructions, each for every seat or a group, in every part or one."""
        prepared = [(INJECT, inject.at, inject.do, inject.group, inject.part) for inject in self.injects]
        prepared += [
            (MESSAGE, message.at, message.text, message.group, message.part) for message in self.messages
        ]
        return [
            ClassInstruction(kind=kind, tick=to_ticks(tick), text=text, group_name=group, part=number)
            for number, stage in enumerate(self.list_parts(), 1)
            for kind, tick, text, group, part in prepared
            if part in (None, stage.kind)
        ]

    def get_group(self, name: str) -> str:
        """Return the prepared group of the person with that name; empty if none."""
        matching_group = (
            members.name for members in self.groups if name.casefold() in map(str.casefold, members.people)
        )
        return next(matching_group, "")

    def draw_group(self, key: str, position: int) -> str:
        """Return the group for the seat at *position* in the order of joining, from 0; *key* identifies the class.

        Uses permuted blocks of twice as many seats as groups. So group sizes differ by at most two, and
        nobody can predict the next group. Seats that join two hosts at the same time may share a position.
        """
        if not (self.draw_groups and self.groups):
            return ""
        block = [members.name for members in self.groups] * 2
        number, block_offset = divmod(position, len(block))
        random.Random(f"{key} {number}").shuffle(block)
        return block[block_offset]


def parse_plan(text: str) -> LessonPlan:
    """Return a plan as a record keeps it. Raises TOMLDecodeError, ValidationError."""
    return LessonPlan.model_validate(tomllib.loads(text))


def read(file: Path) -> tuple[LessonPlan, str]:
    """Return the plan in *file*, with the absolute path of its scenario, and its text.

    Raises InvalidPlanError.
    """
    try:
        text = decode(read_bytes(file, BYTES_MAX), str(file))
        plan = parse_plan(text)
    except UnreadableFileError as problem:
        raise InvalidPlanError(str(problem)) from problem
    except tomllib.TOMLDecodeError as problem:
        raise InvalidPlanError(tr("{file} is not TOML: {why}").format(file=file, why=problem)) from problem
    except ValidationError as problem:
        lines = [
            f"{'.'.join(map(str, error['loc']))}: {error['msg']}"
            for error in problem.errors(include_url=False, include_input=False)
        ]
        raise InvalidPlanError(f"{file}: " + "; ".join(lines)) from problem
    stages = tuple(
        stage.model_copy(update={"scenario": _resolve_scenario(file, stage.scenario)})
        for stage in plan.stages
    )
    return plan.model_copy(
        update={"scenario": _resolve_scenario(file, plan.scenario), "stages": stages}
    ), text


def _resolve_scenario(file: Path, scenario: str | None) -> str | None:
    """Return the path of *scenario* if it is a file relative to the folder of the plan; else *scenario* itself."""
    return str(file.parent / scenario) if scenario and (file.parent / scenario).is_file() else scenario
