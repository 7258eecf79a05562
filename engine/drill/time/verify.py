"""Whether a run that was recorded plays again to the same states; if not, where the two part for the first time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.report import events, plain
from engine.drill.judging.shapes import Report, Row
from engine.drill.running.drill import Drill, Mode, play_inputs
from engine.drill.running.state import StateHash
from engine.drill.time.slices import Slices
from engine.inputs import InputProblem
from engine.model import Tick, ticks
from engine.stepwise import at_once
from engine.verbs.lines import parse_script
from engine.words import Sentence, joined, run_time, say

EVENTS: Final = 200
"""Events that are compared in one slice: some 3 ms."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where a replay is no longer the run that was recorded."""

    agreed: StateHash | None
    """The last hash that was the same."""
    expected: StateHash | None
    found: StateHash | None
    lines: tuple[str, ...] = ()
    """The inputs between the two."""
    event: str = ""
    """The first event that differs, if the recorded events are known."""
    claim: tuple[str, str, str] | None = None
    """States and events are the same, but not what the report makes of them: where, what it says, what is so."""

    def __str__(self) -> str:
        if self.claim is not None:
            place, said, so = self.claim
            return say(
                "the states are the same, but {place} is recorded as {said}, and the replay gives {so}",
                place=place, said=said, so=so,
            )  # fmt: skip
        agreed, at = self.agreed, self.expected or self.found
        what = say("it differs from the start")
        if agreed:
            what = say("it is the same until {moment}", moment=_moment(agreed.tick))
        if self.expected is None and self.found is None:
            what = say("the states are the same, but what is recorded of them is not")
        elif self.found is None:
            what = say("{what}, and the replay ends there", what=what)
        elif self.expected is None:
            what = say("{what}, and the record ends there", what=what)
        elif at:
            what = say("{what} and another one at {moment}", what=what, moment=_moment(at.tick))
        if self.lines:
            lines = "; ".join(line.splitlines()[0] for line in self.lines)
            what = say("{what}, after {lines}", what=what, lines=lines)
        return (
            say("{what}. First differing event: {event}", what=what, event=self.event) if self.event else what
        )


def verify(
    scenario: Scenario,
    seed: int,
    mode: Mode | str,
    lines: Iterable[str],
    hashes: Sequence[StateHash],
    tick: Tick,
) -> Divergence | None:
    """Play the journal again up to *tick*; None if it comes by with all the *hashes*.

    Raises InputProblem for a journal that does not fit the scenario.
    """
    return _compare(_replayed(scenario, seed, mode, lines, tick), hashes)


def verify_report(scenario: Scenario, report: Report) -> Divergence | None:
    """The same for a report of `run --json`, whose events then name what differs first."""
    return divergence(played_again(scenario, report), report)


def played_again(scenario: Scenario, report: Report) -> Drill:
    """The run of a report of `run --json`, played again. Raises InputProblem for inputs that make no sense."""
    return _replayed(scenario, report["seed"], report["mode"], report["inputs"], ticks(report["ended_at_s"]))


def divergence(drill: Drill, report: Report) -> Divergence | None:
    """Where *drill*, played again, is no longer the run of *report*; None if it is all the same."""
    return at_once(diverging(drill, report))


def diverging(drill: Drill, report: Report) -> Slices[Divergence | None]:
    """`divergence` in slices."""
    recorded = [StateHash(ticks(h["t_s"]), h["inputs"], h["hash"]) for h in report["hashes"]]
    found = _compare(drill, recorded)
    if report.get("cut_off"):  # nothing else was recorded
        return found or _other_end(drill, report)
    event = yield from _first_event(report["events"], drill)
    if found is None and event:
        return Divergence(drill.hashes[-1], None, None, (), event)
    if found is None:
        return _other_end(drill, report) or _other_report(drill, report)
    return Divergence(found.agreed, found.expected, found.found, found.lines, event)


def _replayed(scenario: Scenario, seed: int, mode: Mode | str, lines: Iterable[str], tick: Tick) -> Drill:
    inputs, problems = parse_script("\n".join(lines))
    if problems:
        raise InputProblem(joined("; ", problems))
    drill = Drill(scenario, seed, mode)
    play_inputs(drill, inputs, lambda item, problem: None)  # a run that has parted may refuse what was done
    drill.advance_to(tick)
    return drill


def _compare(drill: Drill, recorded: Sequence[StateHash]) -> Divergence | None:
    agreed = None
    for expected, found in zip_longest(recorded, drill.hashes):
        if expected != found:
            first = agreed.inputs if agreed else 0
            last = min(each.inputs for each in (expected, found) if each is not None)
            lines = tuple(item.line for item in drill.journal[first:last])
            return Divergence(agreed, expected, found, lines)
        agreed = expected
    return None


def _other_end(drill: Drill, report: Report) -> Divergence | None:
    """All that was noted on the way is the same: whether it also ended when and as the report says."""
    found = StateHash(drill.tick, len(drill.journal), drill.state_hash())
    said = StateHash(ticks(report["ended_at_s"]), found.inputs, report.get("state_hash", found.digest))
    return Divergence(drill.hashes[-1] if drill.hashes else None, said, found) if said != found else None


REPORTED: Final = (
    "scenario",
    "title",
    "seed",
    "mode",
    "origin",
    "ended_by",
    "score",
    "availability",
    "goals",
    "questions",
)
"""What a report says of its run besides events and states; each of them follows from the inputs."""


def _other_report(drill: Drill, report: Report) -> Divergence | None:
    """The states are the same: whether what the report makes of them is so, too."""
    found = drill.report()
    for name in REPORTED:
        if name in report and plain(report[name]) != plain(found[name]):
            place, one, other = _first_difference(name, plain(report[name]), plain(found[name]))
            return Divergence(drill.hashes[-1], None, None, claim=(place, str(one), str(other)))
    return None


def _first_difference(place: str, one: object, other: object) -> tuple[str, object, object]:
    """Where two values of plain JSON differ first, and what stands there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**other, **one}:
            if one.get(key) != other.get(key):
                return _first_difference(f"{place}.{key}", one.get(key), other.get(key))
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            if left != right:
                return _first_difference(f"{place}[{number}]", left, right)
    return place, one, other


def _first_event(recorded: Sequence[Row], drill: Drill) -> Slices[str]:
    for place, (one, other) in enumerate(zip_longest(recorded, events(drill))):
        if one != other:
            return say("recorded {event}, now {other_event}", event=_said(one), other_event=_said(other))
        if place % EVENTS == EVENTS - 1:
            yield place / max(len(recorded), len(drill.events))
    return ""


def _said(event: Row | None) -> str:
    if event is None:
        return say("nothing")
    at = run_time(event["t_s"], 2)
    return say("{kind} at {moment} ({text})", kind=event["kind"], moment=at, text=event["text"])


def _moment(tick: Tick) -> Sentence:
    return run_time(tick / TICKS_PER_S, 2)
