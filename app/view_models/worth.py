"""What the acts and waits of a run cost, as it is shown and exported. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from app.words import formatting
from app.words.formatting import moment
from app.words.input_lines import short, worded
from app.words.language import mark, tr
from engine.constants import TICKS_PER_S
from engine.drill.par.regret import LABELS, WAITING, LastChance, Move
from engine.inputs import Input

LOSSES: Final = {name: points for points, name in LABELS}
NOTED: Final = LOSSES["good"]
"""Points from which on a loss is shown."""

TONES: Final = {
    "brilliant": (mark("brilliant"), "info"),
    "best": (mark("best"), "ok"),
    "good": (mark("good"), "ok"),
    "inaccuracy": (mark("inaccuracy"), "warn"),
    "mistake": (mark("mistake"), "warn"),
    "blunder": (mark("blunder"), "bad"),
}
"""What an act or a wait is called, and its tone."""

LINE_LENGTH_MAX: Final = 110
"""Letters of an act that are shown."""


def legend() -> tuple[tuple[str, str], ...]:
    """Tone and words of each colour of the curve; no tone where nothing is lost."""
    least = {name: formatting.plain(points) for points, name in LABELS}
    return (
        ("", tr("nothing lost")),
        ("ok", tr("best, good: fewer than {inaccuracy} points lost").format(**least)),
        ("warn", tr("inaccuracy: {inaccuracy} or more, mistake: {mistake} or more").format(**least)),
        ("bad", tr("blunder: {blunder} or more").format(**least)),
    )


def together(moves: Sequence[Move]) -> list[Move]:
    """One wait for several in a row that lose little each, but something."""
    found: list[Move] = []
    for move in moves:
        before = found[-1] if found else None
        waits = before is not None and before.line == move.line == WAITING
        if before is not None and waits and before.lost > 0.0 and 0.0 < move.lost < LOSSES["inaccuracy"]:
            lost = before.before - move.after
            label = next((name for points, name in LABELS if lost >= points), "best")
            first = before if before.plan else move
            found[-1] = replace(first, until=move.until, before=before.before, after=move.after, label=label)
        else:
            found.append(move)
    return found


def told(move: Move, asked: Mapping[str, Sequence[str]]) -> str:
    """When, and what was done. *asked*: question -> its choices."""
    if move.line != WAITING:
        return f"{moment(move.tick)}  {shown(move.line, asked)}"
    return tr("{start} to {end}  waiting").format(start=moment(move.tick), end=moment(move.until))


def all_until(chance: LastChance, asked: Mapping[str, Sequence[str]]) -> str:
    """Until when all goals could be reached, and what was the last chance or took it."""
    if chance.line == WAITING:
        said = tr(
            "All goals could still be reached until {moment}, the point of no return; last chance: {act}."
        )
        act = began_with(chance, asked)
    else:
        said = tr("All goals could still be reached until {moment}, the point of no return: {act}.")
        act = shown(chance.line, asked)
    return said.format(moment=moment(chance.tick), act=act)


def taken_by(chance: LastChance) -> str:
    """Why there was none after it."""
    goals = ", ".join(
        f"“{goal}”"
        if until is None
        else tr("“{goal}” by {moment}").format(goal=goal, moment=formatting.run_time(until / TICKS_PER_S))
        for goal, until in chance.missed
    )
    if chance.line == WAITING:
        return tr("Begun a second later, this no longer reaches {goals}.").format(goals=goals)
    return tr("After it, this no longer reaches {goals}.").format(goals=goals)


def began_with(chance: LastChance, asked: Mapping[str, Sequence[str]]) -> str:
    """What had to be done first."""
    return act_of(chance.acts[0], asked) if chance.acts else tr("do nothing more")


def act_of(item: Input, asked: Mapping[str, Sequence[str]]) -> str:
    return shown(item.words, asked)


def shown(line: str, asked: Mapping[str, Sequence[str]]) -> str:
    return short(worded(line, asked), LINE_LENGTH_MAX)
