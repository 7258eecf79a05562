"""Timed contents of a scenario's text: its faults and the steps of its solution. Without Qt."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import ConfigDict, TypeAdapter, ValidationError

from app.words import formatting
from app.words.language import tr
from engine.drill.authoring.schema import DURATION_MAX_S, Duration
from engine.verbs import VERBS

AT, WINDOW, WAIT, STEP = "at", "window", "wait", "step"
"""Kinds of entries: at a moment, within a window, on a condition, a step of the solution."""

Path = tuple[str | int, ...]
Spot = tuple[float, float]
"""Start and end in seconds; equal for a moment; the delay after its condition for a waiting fault."""

LENGTH_LEAST_S: Final = 120.0
LENGTH_BEYOND_S: Final = 60.0
"""Length of the axis after the last entry of a scenario without a length. Assumed."""

_ANY_DURATION: Final[TypeAdapter[float]] = TypeAdapter(
    Duration, config=ConfigDict(strict=True, allow_inf_nan=False)
)
_STEP: Final = re.compile(r"\s*+(\+?)(\d++(?:\.\d++)?)s?\s++(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """A fault of the timeline or a step of the solution."""

    path: Path
    kind: str
    act: str
    """Input line without its time."""
    spot: Spot
    when: str = ""
    note: str = ""
    sure: bool = True
    """True if the text gives the time; otherwise a step is placed by its order."""
    delay_s: float = 0.0
    """Delay of a step after the previous one, or after its condition."""

    @property
    def movable(self) -> bool:
        """Return whether the entry has a time that can be dragged."""
        return self.kind in (AT, WINDOW) or (self.kind == WAIT and self.sure)

    @property
    def group(self) -> str:
        """Group of its verb; empty where there is no such verb."""
        verb = VERBS.get(self.act.partition(" ")[0].lower())
        return verb.group if verb else ""


@dataclass(frozen=True, slots=True)
class TimelinePlan:
    """Timeline contents of a text."""

    length_s: float
    faults: tuple[TimelineEntry, ...] = ()
    """Faults with a time in order, then those that wait for a condition."""
    steps: tuple[TimelineEntry, ...] = ()

    @property
    def entries(self) -> tuple[TimelineEntry, ...]:
        """Return faults and steps in one list."""
        return (*self.faults, *self.steps)

    def find_entry(self, path: Path | None) -> TimelineEntry | None:
        """Return the entry at a path; None if there is none."""
        return next((entry for entry in self.entries if entry.path == path), None)


# --- reading ------------------------------------------------------------------------------------------------


def read_plan(text: str) -> TimelinePlan:
    """Return the plan in *text*; what no scenario can hold is left out. Raises ValueError for what is not TOML."""
    try:
        data = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("the text is nested too deeply") from error
    faults = sorted(
        (_fault(number, table) for number, table in _tables(data, "timeline")),
        key=lambda entry: (entry.kind == WAIT, entry.spot[0] if entry.kind != WAIT else 0.0),
    )
    raw = list(_raw_steps(data))
    last = max((entry.spot[1] for entry in (*faults, *raw) if entry.sure and entry.kind != WAIT), default=0.0)
    length = seconds_of(data.get("length"))
    whole = max(last, length) if length else max(LENGTH_LEAST_S, last + LENGTH_BEYOND_S)
    return TimelinePlan(whole, tuple(faults), tuple(_in_order(raw, whole)))


def seconds_of(value: object) -> float | None:
    """Return a duration as scenarios write it, in seconds; None for what is none."""
    try:
        return None if value is None else _ANY_DURATION.validate_python(value)
    except ValidationError:
        return None


def _tables(data: Mapping[str, object], name: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    found = data.get(name)
    for number, table in enumerate(found if isinstance(found, list) else ()):
        if isinstance(table, dict):
            yield number, table


def _fault(number: int, table: Mapping[str, object]) -> TimelineEntry:
    path: Path = ("timeline", number)
    act, note = _collapse_spaces(table.get("do")), _collapse_spaces(table.get("note"))
    at = seconds_of(table.get("at"))
    if at is not None:
        return TimelineEntry(path, AT, act, (at, at), note=note)
    between = table.get("between")
    ends = [seconds_of(end) for end in between] if isinstance(between, list) else []
    match ends:
        case [float(start), float(end)]:
            return TimelineEntry(path, WINDOW, act, (min(start, end), max(start, end)), note=note)
    after = seconds_of(table.get("after", 0))
    when = _collapse_spaces(table.get("when"))
    said = when or _collapse_spaces(table.get("at")) or ("" if between is None else str(between))
    delay = after or 0.0
    return TimelineEntry(path, WAIT, act, (delay, delay), said, note, sure=bool(when) and after is not None)


def _collapse_spaces(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _raw_steps(data: Mapping[str, object]) -> Iterator[TimelineEntry]:
    """Yield steps with the times that follow from the text alone: a condition takes as long as it takes."""
    before: float | None = 0.0
    for number, table in _tables(data, "solution"):
        do, when = table.get("do"), _collapse_spaces(table.get("when"))
        found = _STEP.match(do) if isinstance(do, str) else None
        sign, delay, act = found.groups() if found else ("+", "0", do)
        seconds = min(float(delay), DURATION_MAX_S)
        known = 0.0 if not sign else None if when else before
        before = None if known is None else known + seconds
        at = before or 0.0
        yield TimelineEntry(
            ("solution", number),
            STEP,
            _collapse_spaces(act),
            (at, at),
            when,
            sure=before is not None,
            delay_s=seconds,
        )


def _in_order(steps: Sequence[TimelineEntry], length_s: float) -> Iterator[TimelineEntry]:
    """Yield the steps, those without a time spread evenly between the times around them."""
    at, known = 0, 0.0
    while at < len(steps):
        if steps[at].sure:
            known = steps[at].spot[0]
            yield steps[at]
            at += 1
            continue
        end = next((n for n in range(at, len(steps)) if steps[n].sure), len(steps))
        until = steps[end].spot[0] if end < len(steps) else length_s
        for number, step in enumerate(steps[at:end], start=1):
            guess = known + (max(known, until) - known) * number / (end - at + 1)
            yield TimelineEntry(
                step.path,
                STEP,
                step.act,
                (guess, guess),
                step.when,
                sure=False,
                delay_s=step.delay_s,
            )
        at = end


# --- saying -------------------------------------------------------------------------------------------------


def spoken(entry: TimelineEntry) -> str:
    """Return the entry as a line of a list, and as a screen reader says it."""
    start, end = (formatting.run_time(t_s, _decimals(t_s)) for t_s in entry.spot)
    act = entry.act or tr("empty")
    if entry.kind == AT:
        return tr("At {time}: {act}").format(time=start, act=act)
    if entry.kind == WINDOW:
        return tr("Between {start} and {end}: {act}").format(start=start, end=end, act=act)
    if entry.kind == WAIT:
        return f"{condition(entry)}: {act}"
    number = int(entry.path[1]) + 1
    if entry.sure:
        return tr("Solution {number}, at {time}: {act}").format(number=number, time=start, act=act)
    if entry.when and entry.delay_s:
        words = tr("Solution {number}, when {condition}, {after} later: {act}")
    elif entry.when:
        words = tr("Solution {number}, when {condition}: {act}")
    else:
        words = tr("Solution {number}, {after} later: {act}")
    return words.format(number=number, condition=entry.when, after=_short(entry.delay_s), act=act)


def condition(entry: TimelineEntry) -> str:
    """Return the condition that a fault waits for."""
    delay = entry.spot[0]
    if not entry.when:
        return tr("No time set")
    if delay:
        return tr("When {condition}, {after} later").format(condition=entry.when, after=_short(delay))
    return tr("When {condition}").format(condition=entry.when)


def _short(t_s: float) -> str:
    return f"{t_s:g} s" if t_s < 60 else formatting.run_time(t_s, _decimals(t_s))


def _decimals(t_s: float) -> int:
    return 0 if t_s == round(t_s) else 1


def keys_for(plan: TimelinePlan, selected: Sequence[TimelineEntry], entry: TimelineEntry | None) -> str:
    """Describe the commands for the entry, or for several *selected* entries."""
    if len(selected) > 1:
        said = tr("{n} selected. Left, Right: move all by 1 s; with Shift, 10 s. Delete removes the faults.")
        return said.format(n=len(selected))
    if entry is None:
        return tr("Drag a fault to move it.") if plan.faults else tr("No faults scheduled.")
    if entry.kind == STEP:
        return tr("A step of the solution; edit it in the text.")
    if not entry.movable:
        return tr("This entry has no time that could be moved.")
    if entry.kind == WAIT:
        return tr("Left, Right: 1 s earlier or later after the condition; with Shift, 10 s.")
    if entry.kind == WINDOW:
        return tr("Left, Right: move by 1 s; with Shift, 10 s; with Ctrl, only the end.")
    return tr("Left, Right: move by 1 s; with Shift, 10 s.")
