"""What a learner, somebody in an exam and an instructor get to read of a scenario, as Markdown. No Qt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from app import formatting
from app.language import mark, tr
from engine.drill.scenario import Scenario
from engine.drill.schema import Inject

LEARNER, EXAM, INSTRUCTOR = "learner", "exam", "instructor"
READERS: Final[Mapping[str, str]] = {
    LEARNER: mark("Learner"),
    EXAM: mark("In an exam"),
    INSTRUCTOR: mark("Instructor"),
}
"""Who reads, and what that is called."""


def preview(scenario: Scenario, reader: str) -> str:
    """The texts that *reader* sees; an exam has no hints, and only the instructor sees what will happen."""
    parts = [f"# {scenario.title}", scenario.summary, scenario.brief, *_roles(scenario), *_goals(scenario)]
    if reader == LEARNER:
        parts += _hints(scenario)
    if reader == INSTRUCTOR:
        parts += [*_instructions(scenario), *_hint_texts(scenario)]
    return "\n\n".join(parts)


def _roles(scenario: Scenario) -> Iterator[str]:
    for role in scenario.roles:
        yield f"**{role.name}.** {role.text}"


def _goals(scenario: Scenario) -> Iterator[str]:
    if scenario.goals:
        yield "## " + tr("Goals")
        yield _listed(goal.text for goal in scenario.goals)


def _hints(scenario: Scenario) -> Iterator[str]:
    if scenario.hints:
        yield "## " + tr("Hints")
        for hint in scenario.hints:
            yield tr("For {goal}: three layers, {costs} points").format(
                goal=hint.goal, costs=" + ".join(formatting.plain(cost) for cost in hint.cost)
            )


def _hint_texts(scenario: Scenario) -> Iterator[str]:
    if scenario.hints:
        yield "## " + tr("Hints")
    for hint in scenario.hints:
        yield f"**{hint.goal}**"
        yield _listed((hint.look, hint.means, hint.type))


def _instructions(scenario: Scenario) -> Iterator[str]:
    if scenario.facilitator:
        yield "## " + tr("For the instructor")
        yield scenario.facilitator
    if scenario.timeline:
        yield "## " + tr("What happens")
        yield _listed(f"{_moment(inject)}: `{_line(inject.do)}`" for inject in scenario.timeline)
    if scenario.inquiries:
        yield "## " + tr("Questions")
        for asked in scenario.inquiries:
            yield f"**{asked.text}**"
            yield _listed(asked.texts)
            yield asked.why
    if scenario.solution:
        yield "## " + tr("Reference solution")
        yield _listed(f"`{_line(step.do)}` – {step.why}" for step in scenario.solution)


def _moment(inject: Inject) -> str:
    if inject.between is not None:
        return tr("between {first} and {last} s").format(
            first=f"{inject.between[0]:g}", last=f"{inject.between[1]:g}"
        )
    if inject.when is not None:
        return tr("when {condition}").format(condition=inject.when)
    return tr("at {moment} s").format(moment=formatting.plain(inject.at or 0.0))


def _line(do: str) -> str:
    return " ".join(do.split())


def _listed(lines: Iterator[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {_line(line)}" for line in lines)
