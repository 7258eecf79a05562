"""Experiments against SQL Server's documentation: each plays a documented case in a small lab and compares
the result.

Each file is a family. An experiment is a block of lines of these forms:

    The title
    page database-mirroring-witness-catalog-views     page of SQL Server's documentation, without the folder
    docs/
    world witness 2014                     witness, partners, async, async-witness, alone, prepared; version;
    busy
    do power-off SERVER_A                  an input line, applied at the current time
    wait 20                                run for 20 seconds
    SERVER_B> SELECT 1                     T-SQL from a window; the next step waits for the answer
    SERVER_B#2>> SELECT 1                  the same, but the next step does not wait
    = 1                                    rows, "messages", or Msg numbers of the latest answer, as in
    answers/*.txt
    = columns a, b                         the columns of the last result set of the answer
    = ... text                             a message or row of the answer contains the text
    SERVER_B#2 = waiting                   this window's latest submission has no answer yet
    sees SERVER_B errorlog: text           an event with this text has happened since the start
    never SERVER_B errorlog: text          no event with this text has happened
    not simulated                          the product reports that it does not simulate this; the outcome in
    the
                                           documentation is above as a comment (# ...)

A line that begins with two blanks continues the T-SQL. A line that begins with # is a comment.

Results of the first run, November 2026. Expectations that had misread the page or the form of the answer were
corrected and count as right. Today each of these blocks is right or marked "not simulated".

    family         experiments  right  wrong       "not simulated"
    setup                   26     22      1                     3
    states                  33     32      1                     0
    views                   46     42      4                     0
    backup                  22     15      5                     2
    access                  15     13      0                     2
    transactions            32     22      9                     1
    expressions             43     36      4                     3
    tables                  20     11      7                     2
    server                  24     21      3                     0
    all                    261    214     34                    13   (82% right)

A second round added 36 blocks and 194 lines in tests/engine/tsql/answers. The first answer to most of these
blocks was wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from engine import simulator
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.inputs import Input
from engine.model import Safety, World
from tests.engine.protocol.setups import build_unmirrored_world, prepare_mirror
from tests.engine.tsql.console import Answer
from tests.engine.tsql.test_answers import format_answer
from tests.engine.worlds import build_lab, play_script
from tests.events import build_event, read_field

ANSWER_TIMEOUT_S: Final = 600
"""Time limit for an answer, in simulated seconds."""

WORLDS: Final[dict[str, Callable[[str], World]]] = {
    "witness": lambda load: build_lab(workload=load),
    "partners": lambda load: build_lab(workload=load, witness=False),
    "async": lambda load: build_lab(workload=load, witness=False, safety=Safety.OFF),
    "async-witness": lambda load: build_lab(workload=load, safety=Safety.OFF),
    "alone": build_unmirrored_world,
    "prepared": lambda load: prepare_mirror(workload=load),
}


@dataclass(frozen=True)
class Experiment:
    """Block of an experiment file. *steps* are the lines below title, page and world."""

    family: str
    title: str
    page: str
    world: str
    steps: tuple[str, ...]


def iterate_experiments() -> Iterator[Experiment]:
    for path in sorted(Path(__file__).parent.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            lines = [line for line in block.strip("\n").splitlines() if not line.startswith("#")]
            if lines:
                title, page, world, *details = lines
                steps = "\n".join(details).replace("\n  ", "\0  ").split("\n")
                yield Experiment(
                    path.stem,
                    title,
                    page.removeprefix("page "),
                    world.removeprefix("world "),
                    tuple(step.replace("\0  ", "\n") for step in steps),
                )


@functools.cache
def build_settled_world(description: str) -> World:
    kind, *details = description.split()
    world = WORLDS[kind]("Workload1" if "busy" in details else "none")
    for server in world.instances:
        for detail in details:
            if detail.isdigit():
                world.update_instance(server, version=int(detail))
            elif detail != "busy":
                world.update_instance(server, edition=detail)
    simulator.advance_world(world, world.tick)
    return world


class ExperimentRun:
    """World in which an experiment runs, together with its events so far."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.events: list[Event] = []
        self.window = ""

    def run(self, seconds: float, awaited_window: str = "") -> None:
        """Run for *seconds*, or until window *awaited_window* has its answer, whichever comes first."""
        end = self.world.tick + round(seconds * TICKS_PER_S)
        while True:
            new = simulator.advance_world(self.world, end, to_event=bool(awaited_window))
            self.events += new
            if self.world.tick >= end or any(is_answer(event, awaited_window) for event in new):
                return

    def submit(self, window: str, text: str, wait: bool) -> None:
        self.window = window
        self.events.append(build_event(self.world.tick, "session", None, None, "", window=window))
        simulator.apply_input(self.world, Input(self.world.tick, "sql", (window, text)))
        self.run(ANSWER_TIMEOUT_S if wait else 0.0, window)

    def get_answer(self, window: str) -> Answer | None:
        own_events = [event for event in self.events if read_field(event, "window") == window]
        last = own_events[-1] if own_events else None
        return Answer(last) if last is not None and last.kind == "sql_done" else None

    def has_event(self, description: str) -> bool:
        location, text = description.split(": ", 1)
        server, kind = location.split()
        return any(e.server == server and e.kind == kind and text in e.text for e in self.events)

    def execute_step(self, step: str) -> None:
        verb, _, argument = step.partition(" ")
        if verb == "do":
            self.events += play_script(self.world, f"{self.world.t_s} {argument}", self.world.t_s)
        elif verb == "wait":
            self.run(float(argument))
        elif verb == "sees":
            assert self.has_event(argument), [
                f"{e.server} {e.kind}: {e.text}" for e in self.events if e.kind in argument.split(":")[0]
            ]
        elif verb == "never":
            assert not self.has_event(argument)
        elif step == "not simulated":
            answer = self.get_answer(self.window)
            assert answer is not None
            assert any("ot simulated" in text for text in answer.texts), answer.texts
        elif verb.endswith(">"):
            self.submit(verb.rstrip(">"), argument, wait=not verb.endswith(">>"))
        elif verb == "=":
            self.assert_answer(self.window, argument)
        else:
            assert argument.startswith("="), f"no such step: {step}"
            self.assert_answer(verb, argument.removeprefix("=").strip())

    def assert_answer(self, window: str, wanted: str) -> None:
        answer = self.get_answer(window)
        if wanted == "waiting":
            assert answer is None
            return
        assert answer is not None, "no answer"
        reply = "\n".join([*answer.texts, *(str(row) for grid in answer.grids for row in grid)])
        if wanted.startswith("columns "):
            assert ", ".join(answer.columns[-1]) == wanted.removeprefix("columns "), reply
        elif wanted.startswith("... "):
            assert wanted.removeprefix("... ") in reply, reply
        else:
            assert format_answer(answer, wanted) == wanted, reply


def is_answer(event: Event, window: str) -> bool:
    return event.kind == "sql_done" and read_field(event, "window") == window


@pytest.mark.parametrize(
    "experiment", [pytest.param(e, id=f"{e.family}: {e.title}") for e in iterate_experiments()]
)
def test_an_experiment_matches_the_documentation(experiment: Experiment) -> None:
    trial = ExperimentRun(build_settled_world(experiment.world).fork())
    for step in experiment.steps:
        trial.execute_step(step)
