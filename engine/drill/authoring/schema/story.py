"""Story of a drill and its tasks: injects, goals, questions, hints and the solution."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from engine.drill.authoring.schema.values import Condition, Duration, Line, Name, Points, Slug, Text
from engine.drill.authoring.schema.world import ScenarioTable


class Inject(ScenarioTable):
    """[[timeline]]: an input line of the scenario, at a time, in a window, or when a condition holds."""

    do: Text
    """Action of the inject, as typed at the desk, such as `power-off SERVER_A`."""
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


class LockedAction(ScenarioTable):
    """[[locked]]: an action that the trainee cannot do in this story: a spare part is missing, for example."""

    do: Line
    """The input line without its time, or its first words: `workload` locks every line that begins with it."""
    until: Duration | None = None
    """Time at which it is unlocked. None: never."""
    why: Line
    """Reason that the trainee is told."""


class Goal(ScenarioTable):
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


class Forbidden(ScenarioTable):
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
    """Better alternative, for the debrief."""


class AlternativeAnswer(ScenarioTable):
    """[[question.instead]]: what is right, and why, where the run has taken another course."""

    when: Condition
    """Condition of the other outcome, such as `forced_failovers(Sales) > 0`; checked when the question is asked."""
    right: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(strict=False, min_length=1)]
    """Numbers of the right choices in this case, from 1."""
    why: Text
    """The explanation in this case, shown when the drill is over."""


class Question(ScenarioTable):
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
    instead: Annotated[tuple[AlternativeAnswer, ...], Field(strict=False, max_length=8)] = ()
    """Other right answers for other outcomes of the run; the first one whose condition holds counts."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Weight in the points for diagnosis."""
    pause: bool = False
    """The clock is paused until the question is answered."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of the choices."""
        return self.choices


class PredictedOutcome(ScenarioTable):
    """[[predict.choice]]: what may be expected, and the condition by which it is seen to be so."""

    text: Line
    """Text of the outcome."""
    when: Condition
    """Condition by which the outcome is recognised."""


class Prediction(ScenarioTable):
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
    choices: Annotated[
        tuple[PredictedOutcome, ...], Field(strict=False, alias="choice", min_length=2, max_length=8)
    ]
    """Possible outcomes, each with the condition by which it is judged."""
    why: Text
    """The explanation, shown when the drill is over."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Weight in the points for predictions."""
    pause: bool = True
    """The clock is paused until the question is answered."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of the choices."""
        return tuple(choice.text for choice in self.choices)


Sight = Literal["power", "databases", "errorlog", "links", "clients", "queues", "goals", "acts", "calls"]
"""Parts of the world that a role of a team may see, in addition to its own actions, their results, and calls to it."""


class StoryRole(ScenarioTable):
    """[[role]]: a person of the story and what this person knows; with a key, one that a member of a team plays."""

    name: Line
    """Name or office of the person."""
    text: Text
    """Knowledge and goals of this person."""
    key: Slug | None = None
    """Short name of the role in input lines: `@dba power-off SERVER_A`. None: nobody plays it."""
    servers: Annotated[tuple[Name, ...], Field(strict=False, max_length=50)] = ()
    """Servers that the role sees."""
    sees: Annotated[tuple[Sight, ...], Field(strict=False, max_length=20)] = ()
    """Of these servers: power, databases, errorlog, links, queues; and clients, goals, acts and calls of the others."""
    does: Annotated[tuple[Line, ...], Field(strict=False, max_length=100)] = ()
    """First words of the input lines that the role may do: `plug-cable`, or `sql SERVER_A`."""


class Hint(ScenarioTable):
    """[[hint]]: three layers of help towards one goal, each with its cost in points."""

    goal: Slug
    """Short name of its goal."""
    look: Text
    """Place to look at."""
    means: Text
    """Meaning of the symptom."""
    type: Text
    """Input line to type."""
    cost: Annotated[tuple[Points, Points, Points], Field(strict=False)] = (1.0, 2.0, 4.0)
    """Price of each of the three layers in points; in guided mode they are free."""


class SolutionStep(ScenarioTable):
    """[[solution]]: an input line with its time (`95 …`, or `+5 …` after the previous step or the condition)."""

    do: Text
    """An action with its time: `95 power-on SERVER_A` at 95 s, `+5 …` 5 s after the previous step or the condition."""
    when: Condition | None = None
    """Condition that it waits for."""
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


# --- rubric -------------------------------------------------------------------------------------------------
