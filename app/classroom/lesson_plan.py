"""Lesson plan in a TOML file: the parts of a class, its groups, and prepared instructions."""

import random
import tomllib
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from app.classroom.messages.codec import GROUP_PATTERN, NAME_LENGTH_MAX
from app.classroom.models import INJECT, MESSAGE, ClassInstruction
from app.classroom.seat_log import PARTS_MAX
from app.files.file_content import UnreadableFileError, decode_text, read_bytes
from app.words.language import mark, tr
from engine.drill.authoring.schema import Duration, Line
from engine.model import to_ticks

PLAN_BYTES_MAX = 1_000_000
"""Maximum size of a lesson plan in bytes."""

GroupName = Annotated[str, Field(pattern=GROUP_PATTERN)]
"""Name of a group in a lesson plan."""
PartKind = Literal["pre", "lesson", "post", "retention"]
"""Kind of a class part."""
PART_KIND_NAMES: Final[dict[str, str]] = {
    "pre": mark("Pre-test"),
    "lesson": mark("Lesson"),
    "post": mark("Post-test"),
    "retention": mark("Retention test"),
}
"""Kind of a class part -> its displayed name."""


class InvalidPlanError(Exception):
    """Error for a plan that cannot be used. The text gives the reason."""


class PlanSection(BaseModel):
    """Base class of the sections of a lesson plan."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class PlannedInject(PlanSection):
    """[[inject]]: an input line that every seat applies at a given time."""

    at: Duration
    """Time since the start of the seat's run."""
    do: Line
    group: GroupName | None = None
    """Group that receives the inject; None for all groups."""
    part: PartKind | None = None
    """Kind of the part in which the inject is applied; None for all parts."""


class PlannedMessage(PlanSection):
    """[[message]]: a text that every seat shows at a given time."""

    at: Duration
    text: Line
    group: GroupName | None = None
    part: PartKind | None = None


class GroupMembers(PlanSection):
    """[[group]]: a group, and the names of the people who join it."""

    name: GroupName
    people: Annotated[tuple[str, ...], Field(strict=False, max_length=1000)] = ()


Mode = Literal["guided", "practice", "exam", "lab"]
"""Mode of a drill in a lesson plan."""


class PlannedPart(PlanSection):
    """[[part]]: a part of the class. It starts when the instructor requests it after the previous part has ended."""

    kind: PartKind
    scenario: Annotated[str, Field(min_length=1)] | None = None
    mode: Mode | None = None
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Seed of the part.

    If None, a lesson uses the seed of the plan or of the drill. For a test, a seed is drawn when the class is
    created.
    """

    @property
    def is_test(self) -> bool:
        """Return whether the part is a test."""
        return self.kind != "lesson"

    @property
    def has_drawn_seed(self) -> bool:
        """Return whether the seed is drawn when the class is created."""
        return self.is_test and self.seed is None


class LessonPlan(PlanSection):
    """Lesson plan of a class: its scenario and settings, parts, groups and prepared instructions."""

    scenario: Annotated[str, Field(min_length=1)] | None = None
    """Name of a scenario, or path of its file relative to the plan's folder; None if each part names its own."""
    mode: Mode | None = None
    """Mode of the drill; None if each part names its own."""
    title: Annotated[str, Field(max_length=NAME_LENGTH_MAX)] = ""
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Seed of the class; None for the seed of the scenario."""
    reflect: bool = False
    """True if people are asked for a reflection on the run before its points are shown."""
    frozen: bool = False
    """True if seats wait for the instructor's command `go`."""
    until: Duration | None = None
    """Time at which every seat stops until the instructor extends the limit."""
    late: Literal["start", "class"] = "start"
    """Start time of a late seat's run: "start" for 0:00, "class" for the current time of the class."""
    clock: float | None = Field(default=None, gt=0, le=1000)
    """Speed of the class clock in simulated seconds per second; None if each seat has its own pace."""
    groups: Annotated[tuple[GroupMembers, ...], Field(strict=False, alias="group", max_length=200)] = ()
    stages: Annotated[tuple[PlannedPart, ...], Field(strict=False, alias="part", max_length=PARTS_MAX)] = ()
    """Parts of the class; empty for a class with one part."""
    draw_groups: bool = False
    """True to assign people without a prepared group at random, for a comparison of two ways to teach."""
    injects: Annotated[tuple[PlannedInject, ...], Field(strict=False, alias="inject", max_length=200)] = ()
    messages: Annotated[tuple[PlannedMessage, ...], Field(strict=False, alias="message", max_length=200)] = ()

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        """Require a scenario and a mode for each part, either in the part or in the plan."""
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
        """Return the prepared instructions, one for each part to which they apply."""
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
        """Return the group that lists the person *name*, or an empty text."""
        matching_group = (
            members.name for members in self.groups if name.casefold() in map(str.casefold, members.people)
        )
        return next(matching_group, "")

    def draw_group(self, key: str, position: int) -> str:
        """Draw the group for the seat at *position* in the order of joining, from 0.

        *key* identifies the class. Seats are drawn in blocks, in which each group occurs twice in random
        order (permuted blocks). Therefore group sizes differ by at most two, and nobody can predict the
        next group. Seats that join two hosts at the same time may share a position.
        """
        if not (self.draw_groups and self.groups):
            return ""
        block = [members.name for members in self.groups] * 2
        number, block_offset = divmod(position, len(block))
        random.Random(f"{key} {number}").shuffle(block)
        return block[block_offset]


def parse_plan(text: str) -> LessonPlan:
    """Parse the text of a plan that is stored in a record. Raises TOMLDecodeError, ValidationError."""
    return LessonPlan.model_validate(tomllib.loads(text))


def read_plan(file: Path) -> tuple[LessonPlan, str]:
    """Read the plan in *file*. Return it with absolute scenario paths, and return its text.

    Raises InvalidPlanError.
    """
    try:
        text = decode_text(read_bytes(file, PLAN_BYTES_MAX), str(file))
        plan = parse_plan(text)
    except UnreadableFileError as problem:
        raise InvalidPlanError(str(problem)) from problem
    except tomllib.TOMLDecodeError as problem:
        raise InvalidPlanError(tr("{file} is not TOML: {why}").format(file=file, why=problem)) from problem
    except ValidationError as problem:
        lines = [
            ": ".join(filter(None, (".".join(map(str, error["loc"])), error["msg"])))
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
    """Return the path of *scenario* if it is a file in the folder of the plan, or else *scenario* itself."""
    return str(file.parent / scenario) if scenario and (file.parent / scenario).is_file() else scenario
