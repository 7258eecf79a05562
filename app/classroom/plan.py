"""A plan: what a class plays and what its instructor has prepared, as a TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.classroom.models import INJECT, MESSAGE, Instruction
from app.classroom.wire import NAME_MAX
from app.words.language import tr
from engine.drill.authoring.schema import Duration, Line
from engine.model import ticks

BYTES_MAX = 1_000_000


class NoPlan(Exception):
    """The plan cannot be used; the text says why."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Inject(Part):
    """[[inject]]: an input line that happens at every seat."""

    at: Duration
    """Time since the start of the seat's run."""
    do: Line


class Message(Part):
    """[[message]]: a text that every seat shows."""

    at: Duration
    text: Line


class Plan(Part):
    scenario: Annotated[str, Field(min_length=1)]
    """Name of a scenario, or its file, seen from the plan's folder."""
    mode: Literal["guided", "practice", "exam", "lab"]
    title: Annotated[str, Field(max_length=NAME_MAX)] = ""
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """None: the scenario's own."""
    frozen: bool = False
    """Whether seats wait for the instructor's `go`."""
    injects: Annotated[tuple[Inject, ...], Field(strict=False, alias="inject", max_length=200)] = ()
    messages: Annotated[tuple[Message, ...], Field(strict=False, alias="message", max_length=200)] = ()

    def instructions(self) -> list[Instruction]:
        """What was prepared, for every seat."""
        return [
            *(Instruction(kind=INJECT, tick=ticks(one.at), text=one.do) for one in self.injects),
            *(Instruction(kind=MESSAGE, tick=ticks(one.at), text=one.text) for one in self.messages),
        ]


def read(file: Path) -> tuple[Plan, str]:
    """The plan in *file*, its scenario's path made whole, and its text. Raises NoPlan."""
    try:
        raw = file.read_bytes()[: BYTES_MAX + 1]
    except OSError as problem:
        raise NoPlan(tr("{file} cannot be read: {why}").format(file=file, why=problem.strerror)) from problem
    if len(raw) > BYTES_MAX:
        raise NoPlan(tr("{file} is larger than the limit for a plan").format(file=file))
    try:
        text = raw.decode("utf-8-sig")
        plan = Plan.model_validate(tomllib.loads(text))
    except UnicodeDecodeError as problem:
        raise NoPlan(tr("{file} is not text in UTF-8").format(file=file)) from problem
    except tomllib.TOMLDecodeError as problem:
        raise NoPlan(tr("{file} is not TOML: {why}").format(file=file, why=problem)) from problem
    except ValidationError as problem:
        said = [
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
            for one in problem.errors(include_url=False, include_input=False)
        ]
        raise NoPlan(f"{file}: " + "; ".join(said)) from problem
    beside = file.parent / plan.scenario
    if beside.is_file():
        plan = plan.model_copy(update={"scenario": str(beside)})
    return plan, text
