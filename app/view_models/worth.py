"""What the acts and waits of a run cost, as it is shown and exported. No Qt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from app.words import formatting
from app.words.formatting import moment
from app.words.input_lines import short, worded
from app.words.language import mark, tr
from engine.constants import TICKS_PER_S
from engine.drill.par.regret import LABELS, WAITING, Account, LastChance, Move
from engine.inputs import Input
from engine.model import Tick

LOSSES: Final = {name: points for points, name in LABELS}
NOTED: Final = LOSSES["good"]
"""Points from which on a loss is shown."""

TONES: Final = {
    "brilliant": (mark("brilliant"), "info"),
    "best": (mark("best"), "ok"),
    "good": (mark("minor loss"), "ok"),
    "inaccuracy": (mark("inaccuracy"), "warn"),
    "mistake": (mark("mistake"), "warn"),
    "blunder": (mark("blunder"), "bad"),
}
"""What an act or a wait is called, and its tone."""

LINE_LENGTH_MAX: Final = 220
"""Letters of an act that are shown."""

LEVELS: Final = (0, 25, 50, 75, 100)
"""Points at which the curve has a level line."""


def plain(points: float) -> str:
    return formatting.plain(round(points, 1))


# --- the curve ----------------------------------------------------------------------------------------------


def legend() -> tuple[tuple[str, str], ...]:
    """Tone and words of each colour of the curve; no tone where nothing is lost."""
    least = {name: formatting.plain(points) for points, name in LABELS}
    return (
        ("", tr("nothing lost")),
        ("ok", tr("best, minor loss: fewer than {inaccuracy} points lost").format(**least)),
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


def stops(account: Account) -> list[Move]:
    """What the curve tells of: every act, and each wait that lost something."""
    return [move for move in together(account.moves) if move.line != WAITING or move.lost >= NOTED]


def slopes(account: Account) -> Iterator[tuple[str, list[tuple[Tick, float]]]]:
    """Tone and points of each stretch in which the curve falls."""
    waits = [move for move in account.moves if move.line == WAITING]
    for stop in stops(account):
        if stop.lost >= NOTED:
            inside = [move for move in waits if stop.tick <= move.tick < stop.until] or [stop]
            ends = [((move.tick, move.before), (move.until, move.after)) for move in inside]
            yield TONES[stop.label][1], list(chain(*ends))


def end(account: Account) -> Tick:
    """Where the curve ends; never at its beginning."""
    return max((tick for tick, _ in account.curve), default=1) or 1


def in_words(account: Account) -> str:
    """The beginning of the curve, and wherever it is another one, for those who do not see it."""
    said = tr("{moment}: {points} points")
    falls = [point for n, point in enumerate(account.curve) if not n or point[1] != account.curve[n - 1][1]]
    return "; ".join(said.format(moment=moment(tick), points=plain(worth)) for tick, worth in falls)


def explained() -> str:
    """How the curve is read."""
    return tr(
        "The line shows how many points could still be reached at each moment by the best known way to go on: your "
        "own, the reference solution, and what a search has found. It never rises: where it falls, points were lost "
        "for good, by an action (dot) or by waiting (thick line). After the point of no return no known way reaches "
        "all goals."
    )


def may_be_low() -> str:
    """Of any curve."""
    return tr("More may have been possible than is known.")


def certainty(account: Account) -> str:
    """Whether more may have been possible than the curve tells."""
    doubt = account.doubt
    if doubt is None:
        return tr("No more than that was possible at any moment.")
    said = tr("At {moment} the line is at {known} points, and up to {most} cannot be ruled out.")
    where = said.format(moment=moment(doubt.tick), known=plain(doubt.known), most=plain(doubt.most))
    return f"{may_be_low()} {where}"


def no_return_at(tick: Tick) -> str:
    return tr("point of no return {moment}").format(moment=moment(tick))


# --- acts and waits -----------------------------------------------------------------------------------------


def accuracy(account: Account) -> str:
    return tr("Accuracy {accuracy} %.").format(accuracy=formatting.plain(round(account.accuracy)))


def cost(move: Move) -> str:
    """What it is called, and the points that it lost."""
    called = tr(TONES[move.label][0])
    return f"{called}, −{plain(move.lost)}" if move.lost >= NOTED else called


def told(move: Move, asked: Mapping[str, Sequence[str]], chance: LastChance | None = None) -> str:
    """When, and what was done. *asked*: question -> its choices. *chance*: of the run, the last one to reach all
    goals."""
    if move.line != WAITING:
        return f"{moment(move.tick)}  {shown(move.line, asked)}"
    if chance is not None and same(move, chance):
        return tr("{moment}  the last chance goes by unused").format(moment=moment(move.tick))
    return tr("{start} to {end}  waiting").format(start=moment(move.tick), end=moment(move.until))


def same(move: Move, chance: LastChance) -> bool:
    """What would have been best from *move* on was the last chance."""
    return (move.tick, move.line, move.best) == (chance.tick, chance.line, chance.acts)


def all_until(chance: LastChance, asked: Mapping[str, Sequence[str]]) -> str:
    """Until when all goals could be reached, and what was the last chance or took it."""
    said = tr("All goals could still be reached until {moment}, the point of no return: {act}.")
    if chance.line == WAITING:
        said = tr(
            "All goals could still be reached until {moment}, the point of no return; last chance: {act}."
        )
    return said.format(moment=moment(chance.tick), act=last_act(chance, asked))


def last_act(chance: LastChance, asked: Mapping[str, Sequence[str]]) -> str:
    """What was the last chance, or took it."""
    return began_with(chance, asked) if chance.line == WAITING else shown(chance.line, asked)


def taken_by(chance: LastChance) -> str:
    """Why there was none after it."""
    goals = ", ".join(
        f"“{goal}”"
        if until is None
        else tr("“{goal}” by {moment}").format(goal=goal, moment=formatting.run_time(until / TICKS_PER_S))
        for goal, until in chance.missed
    )
    if chance.line == WAITING:
        return tr("Begun a second later, these steps no longer reach {goals}.").format(goals=goals)
    return tr("After what was done here, these steps no longer reach {goals}.").format(goals=goals)


def began_with(chance: LastChance, asked: Mapping[str, Sequence[str]]) -> str:
    """What had to be done first."""
    return act_of(chance.acts[0], asked) if chance.acts else tr("do nothing more")


def act_of(item: Input, asked: Mapping[str, Sequence[str]]) -> str:
    return shown(item.words, asked)


def shown(line: str, asked: Mapping[str, Sequence[str]]) -> str:
    return short(worded(line, asked), LINE_LENGTH_MAX)
