"""Timeline entries of a scenario text: its faults and the steps of its solution. Independent of Qt."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from pydantic import ConfigDict, TypeAdapter, ValidationError

from app.files.scenario_edit import ScenarioEditError, add_entry, read_value, remove_entry, set_value
from app.words import formatting
from app.words.language import tr
from engine.drill.authoring.schema import DRILL_LENGTH_MAX_S, Duration
from engine.verbs import VERBS

TIMED_FAULT, WINDOW_FAULT, CONDITIONAL_FAULT, SOLUTION_STEP = "at", "window", "wait", "step"
"""Kinds of entries: fault at a time, fault within a window, fault on a condition, step of the solution."""

Path = tuple[str | int, ...]
"""Keys and indexes that lead to an entry in a scenario."""
EntrySpan = tuple[float, float]
"""Start and end in seconds. They are equal for a single time.

For a fault that waits for a condition, both are the delay after the condition.
"""

AXIS_LENGTH_MIN_S: Final = 120.0
"""Minimum length of the axis for a scenario without a length. Assumed."""
AXIS_LENGTH_AFTER_LAST_ENTRY_S: Final = 60.0
"""Length of the axis after the last entry, for a scenario without a length. Assumed."""

_DURATION_ADAPTER: Final[TypeAdapter[float]] = TypeAdapter(
    Duration, config=ConfigDict(strict=True, allow_inf_nan=False)
)
_STEP_PATTERN: Final = re.compile(r"\s*+(\+?)(\d++(?:\.\d++)?)s?\s++(.*)", re.DOTALL)


class TimelineEntry(Struct, frozen=True):
    """Fault of the timeline, or step of the solution."""

    path: Path
    kind: str
    line: str
    """Input line without its time."""
    span: EntrySpan
    condition: str = ""
    """Condition that starts the entry. Empty if a time starts it."""
    note: str = ""
    is_time_known: bool = True
    """True if the text states the time. Otherwise the time of a step is estimated from its position in the
    list.
    """
    delay_s: float = 0.0
    """Delay of a step after the previous one, or after its condition."""

    @property
    def is_movable(self) -> bool:
        """True if the entry has a time that can be dragged."""
        return self.kind in (TIMED_FAULT, WINDOW_FAULT) or (
            self.kind == CONDITIONAL_FAULT and self.is_time_known
        )

    @property
    def group(self) -> str:
        """Group of the entry's verb. Empty for an unknown verb."""
        verb = VERBS.get(self.line.partition(" ")[0].lower())
        return verb.group if verb else ""


class TimelinePlan(Struct, frozen=True):
    """Timeline of a scenario text: its length, timed faults and steps."""

    length_s: float
    faults: tuple[TimelineEntry, ...] = ()
    """Faults with a time, in order of time, then faults that wait for a condition."""
    steps: tuple[TimelineEntry, ...] = ()

    @property
    def entries(self) -> tuple[TimelineEntry, ...]:
        """Faults and steps in one tuple."""
        return (*self.faults, *self.steps)

    def find_entry(self, path: Path | None) -> TimelineEntry | None:
        """Return the entry at *path*, or None."""
        return next((entry for entry in self.entries if entry.path == path), None)


# --- reading ------------------------------------------------------------------------------------------------


def parse_timeline(text: str) -> TimelinePlan:
    """Parse the timeline of *text* and ignore invalid entries.

    Raises ValueError for invalid TOML.
    """
    try:
        data = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("the text is nested too deeply") from error
    faults = sorted(
        (_build_fault(number, table) for number, table in _list_tables(data, "timeline")),
        key=lambda entry: (
            entry.kind == CONDITIONAL_FAULT,
            entry.span[0] if entry.kind != CONDITIONAL_FAULT else 0.0,
        ),
    )
    raw = list(_list_raw_steps(data))
    last = max(
        (
            entry.span[1]
            for entry in (*faults, *raw)
            if entry.is_time_known and entry.kind != CONDITIONAL_FAULT
        ),
        default=0.0,
    )
    length = parse_seconds(data.get("length"))
    total_s = max(last, length) if length else max(AXIS_LENGTH_MIN_S, last + AXIS_LENGTH_AFTER_LAST_ENTRY_S)
    return TimelinePlan(total_s, tuple(faults), tuple(_spread_steps(raw, total_s)))


def parse_seconds(value: object) -> float | None:
    """Convert a duration of a scenario to seconds. Return None if it is invalid."""
    try:
        return None if value is None else _DURATION_ADAPTER.validate_python(value)
    except ValidationError:
        return None


def _list_tables(data: Mapping[str, object], name: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    tables = data.get(name)
    for number, table in enumerate(tables if isinstance(tables, list) else ()):
        if isinstance(table, dict):
            yield number, table


def _build_fault(number: int, table: Mapping[str, object]) -> TimelineEntry:
    path: Path = ("timeline", number)
    act, note = _collapse_spaces(table.get("do")), _collapse_spaces(table.get("note"))
    seconds = parse_seconds(table.get("at"))
    if seconds is not None:
        return TimelineEntry(path, TIMED_FAULT, act, (seconds, seconds), note=note)
    time_range = table.get("between")
    ends = [parse_seconds(end) for end in time_range] if isinstance(time_range, list) else []
    match ends:
        case [float(start), float(end)]:
            return TimelineEntry(path, WINDOW_FAULT, act, (min(start, end), max(start, end)), note=note)
    delay_s = parse_seconds(table.get("after", 0))
    condition = _collapse_spaces(table.get("when"))
    text = condition or _collapse_spaces(table.get("at")) or ("" if time_range is None else str(time_range))
    delay = delay_s or 0.0
    return TimelineEntry(
        path,
        CONDITIONAL_FAULT,
        act,
        (delay, delay),
        text,
        note,
        is_time_known=bool(condition) and delay_s is not None,
    )


def _collapse_spaces(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _list_raw_steps(data: Mapping[str, object]) -> Iterator[TimelineEntry]:
    """Yield the steps with the times that the text states. After a condition, times are unknown."""
    before: float | None = 0.0
    for number, table in _list_tables(data, "solution"):
        do, condition = table.get("do"), _collapse_spaces(table.get("when"))
        step_match = _STEP_PATTERN.match(do) if isinstance(do, str) else None
        sign, delay, act = step_match.groups() if step_match else ("+", "0", do)
        seconds = min(float(delay), DRILL_LENGTH_MAX_S)
        known_s = 0.0 if not sign else None if condition else before
        before = None if known_s is None else known_s + seconds
        time_s = before or 0.0
        yield TimelineEntry(
            ("solution", number),
            SOLUTION_STEP,
            _collapse_spaces(act),
            (time_s, time_s),
            condition,
            is_time_known=before is not None,
            delay_s=seconds,
        )


def _spread_steps(steps: Sequence[TimelineEntry], length_s: float) -> Iterator[TimelineEntry]:
    """Yield all steps. Steps without a time are spread evenly between the known times around them."""
    index, known_s = 0, 0.0
    while index < len(steps):
        if steps[index].is_time_known:
            known_s = steps[index].span[0]
            yield steps[index]
            index += 1
            continue
        end = next((n for n in range(index, len(steps)) if steps[n].is_time_known), len(steps))
        end_s = steps[end].span[0] if end < len(steps) else length_s
        for number, step in enumerate(steps[index:end], start=1):
            guess = known_s + (max(known_s, end_s) - known_s) * number / (end - index + 1)
            yield TimelineEntry(
                step.path,
                SOLUTION_STEP,
                step.line,
                (guess, guess),
                step.condition,
                is_time_known=False,
                delay_s=step.delay_s,
            )
        index = end


# --- descriptions -------------------------------------------------------------------------------------------


def describe_entry(entry: TimelineEntry) -> str:
    """Return a line that describes the entry, for a list and for a screen reader."""
    start, end = (formatting.format_run_time(t_s, _count_decimals(t_s)) for t_s in entry.span)
    act = entry.line or tr("empty")
    if entry.kind == TIMED_FAULT:
        return tr("At {time}: {act}").format(time=start, act=act)
    if entry.kind == WINDOW_FAULT:
        return tr("Between {start} and {end}: {act}").format(start=start, end=end, act=act)
    if entry.kind == CONDITIONAL_FAULT:
        return f"{describe_condition(entry)}: {act}"
    number = int(entry.path[1]) + 1
    if entry.is_time_known:
        return tr("Solution step {number}, at {time}: {act}").format(number=number, time=start, act=act)
    if entry.condition and entry.delay_s:
        words = tr("Solution step {number}, {after} after {condition}: {act}")
    elif entry.condition:
        words = tr("Solution step {number}, when {condition}: {act}")
    else:
        words = tr("Solution step {number}, {after} after the previous step: {act}")
    return words.format(number=number, condition=entry.condition, after=_format_delay(entry.delay_s), act=act)


def describe_condition(entry: TimelineEntry) -> str:
    """Describe the condition and the delay that a fault waits for."""
    delay = entry.span[0]
    if not entry.condition:
        return tr("No time set")
    if delay:
        return tr("{after} after {condition}").format(condition=entry.condition, after=_format_delay(delay))
    return tr("When {condition}").format(condition=entry.condition)


def _format_delay(t_s: float) -> str:
    return f"{t_s:g} s" if t_s < 60 else formatting.format_run_time(t_s, _count_decimals(t_s))


def _count_decimals(t_s: float) -> int:
    return 0 if t_s == round(t_s) else 1


def describe_keys(plan: TimelinePlan, selected: Sequence[TimelineEntry], entry: TimelineEntry | None) -> str:
    """Describe the keys that act on the entry, or on several *selected* entries."""
    if len(selected) > 1:
        text = tr(
            "{n} selected. Left or right arrow: move all by 1 s (with Shift: 10 s). Delete: remove the faults."
        )
        return text.format(n=len(selected))
    if entry is None:
        return tr("Drag a fault to move it.") if plan.faults else tr("No faults scheduled.")
    if entry.kind == SOLUTION_STEP:
        return tr("This is a step of the solution. Edit it in the text.")
    if not entry.is_movable:
        return tr("This entry has no time that could be moved.")
    if entry.kind == CONDITIONAL_FAULT:
        return tr("Left or right arrow: 1 s earlier or later after the condition (with Shift: 10 s).")
    if entry.kind == WINDOW_FAULT:
        return tr("Left or right arrow: move by 1 s (with Shift: 10 s; with Ctrl: only the end).")
    return tr("Left or right arrow: move by 1 s (with Shift: 10 s).")


WHOLE_ENTRY, ENTRY_START, ENTRY_END = "whole", "start", "end"
"""Parts of an entry that the user can drag."""

FINE_SNAP_MIN_PX_PER_S: Final = 2.0
"""Minimum scale at which drags snap to single seconds.

At smaller scales, drags snap to five seconds, because a snap interval should not be shorter than a pixel.
"""
COARSE_SNAP_INTERVAL_S: Final = 5.0
GRIP_HALF_WIDTH_PX: Final = 6.0
"""Half the width of the area in which a marker or a window end can be dragged."""
LANE_ROWS_MAX: Final = 12
"""Maximum number of rows of the fault lane. Further entries overlap others in the last row."""


class TimeAxisScale(Struct, frozen=True):
    """Scale that maps 0 to *length_s* seconds to *width* pixels, beginning at *left*."""

    left: float
    """Left edge of the axis in pixels."""
    width: float
    length_s: float

    def compute_x(self, t_s: float) -> float:
        """Return the x coordinate of a time."""
        return self.left + t_s / self.length_s * self.width

    def compute_time(self, x: float) -> float:
        """Return the time at *x* in seconds, limited to the length of the drill."""
        return min(self.length_s, max(0.0, (x - self.left) / self.width * self.length_s))

    @property
    def step_s(self) -> float:
        """Snap interval of a drag in seconds."""
        return 1.0 if self.width / self.length_s >= FINE_SNAP_MIN_PX_PER_S else COARSE_SNAP_INTERVAL_S


class FaultLayout(Struct, frozen=True):
    """Position of a fault in its lane, in pixels. *start* and *end* are equal for a single time."""

    row: int
    start_x: float
    end_x: float
    label_x: float
    """Left edge of the label."""
    label_width: float

    @property
    def from_x(self) -> float:
        """Left edge in pixels."""
        return min(self.start_x, self.label_x) - GRIP_HALF_WIDTH_PX

    @property
    def to_x(self) -> float:
        """Right edge in pixels."""
        return max(self.end_x, self.label_x + self.label_width) + GRIP_HALF_WIDTH_PX


def lay_out_faults(
    spans: Sequence[EntrySpan], widths: Sequence[float], scale: TimeAxisScale
) -> list[FaultLayout]:
    """Place each fault and its label in the first row with space for both.

    *spans*: start and end of each fault in seconds. *widths*: label widths in pixels.
    """
    ends: list[float] = []
    """Position from which each row is free."""
    layouts = []
    order = sorted(range(len(spans)), key=lambda n: spans[n])
    for number in order:
        (start, end), width = (scale.compute_x(t_s) for t_s in spans[number]), widths[number]
        label = _compute_label_x(start, end, width, scale)
        left_px = min(start, label) - GRIP_HALF_WIDTH_PX
        row = next(
            (n for n, free_end in enumerate(ends) if free_end <= left_px), min(len(ends), LANE_ROWS_MAX - 1)
        )
        ends += [0.0] * (row + 1 - len(ends))
        layout = FaultLayout(row, start, end, label, width)
        ends[row] = max(ends[row], layout.to_x)
        layouts.append((number, layout))
    return [fault_layout for _, fault_layout in sorted(layouts, key=lambda pair: pair[0])]


def _compute_label_x(start: float, end: float, width: float, scale: TimeAxisScale) -> float:
    """Return the left edge of the label of a time window between the x coordinates *start* and *end*.

    If the label does not fit in the window, it is to the right of the window. Near the end of the axis,
    it is to the left. *width*: width of the label.
    """
    if end - start >= width + 4 * GRIP_HALF_WIDTH_PX:
        return start + (end - start - width) / 2.0
    right = end + 1.7 * GRIP_HALF_WIDTH_PX
    if right + width <= scale.left + scale.width + GRIP_HALF_WIDTH_PX:
        return right
    return max(scale.left, start - 1.7 * GRIP_HALF_WIDTH_PX - width)


def lay_out_flow(widths: Sequence[float], available_width: float, gap: float) -> list[tuple[int, float]]:
    """Return (row, left edge) of each item, for items that wrap like words.

    *widths*: widths of the items. *gap*: gap between two items.
    """
    positions, row, x = [], 0, 0.0
    for width in widths:
        if x and x + width > available_width:
            row, x = row + 1, 0.0
        positions.append((row, x))
        x += width + gap
    return positions


def space_apart(xs: Sequence[float], pitch: float, left_x: float, right_x: float) -> list[float]:
    """Return the positions *xs* in the same order, moved apart to a distance of at least *pitch*.

    The result is between *left_x* and *right_x*. If the space does not suffice, *pitch* is reduced.
    """
    pitch = min(pitch, (right_x - left_x) / max(1, len(xs) - 1))
    label_xs: list[float] = []
    for x in xs:
        label_xs.append(max(left_x, x, label_xs[-1] + pitch if label_xs else x))
    x_max = right_x
    for number in reversed(range(len(label_xs))):
        label_xs[number] = min(label_xs[number], x_max)
        x_max = label_xs[number] - pitch
    return label_xs


def find_dragged_part(layout: FaultLayout, x: float) -> str | None:
    """Return the part of an entry at *x*: one end of a window, the whole entry, or None.

    A label belongs to the whole entry.
    """
    if layout.end_x > layout.start_x:
        inner = min(GRIP_HALF_WIDTH_PX, (layout.end_x - layout.start_x) / 3.0)
        if -GRIP_HALF_WIDTH_PX <= x - layout.start_x <= inner:
            return ENTRY_START
        if -inner <= x - layout.end_x <= GRIP_HALF_WIDTH_PX:
            return ENTRY_END
    return WHOLE_ENTRY if layout.from_x <= x <= layout.to_x else None


def drag_span(span: EntrySpan, part: str, by_s: float, step_s: float, length_s: float) -> EntrySpan:
    """Return *span* after a drag of *part* by *by_s* seconds.

    The dragged time is snapped to multiples of *step_s* and limited to the range from 0 to *length_s*.
    """
    start, end = span
    if part == ENTRY_START:
        return (min(end, _snap_time(start + by_s, step_s, length_s)), end)
    if part == ENTRY_END:
        return (start, max(start, _snap_time(end + by_s, step_s, length_s)))
    lasts = end - start
    begins = _snap_time(start + by_s, step_s, max(0.0, length_s - lasts))
    return (begins, begins + lasts)


def _snap_time(t_s: float, step_s: float, most_s: float) -> float:
    return min(most_s, max(0.0, round(t_s / step_s) * step_s))


def move_span(span: EntrySpan, part: str, by_s: float, length_s: float) -> EntrySpan:
    """Return *span* after keys moved *part* by *by_s* seconds. The result is not snapped."""
    start, end = span
    if part == ENTRY_END:
        return (start, min(length_s, max(start, round(end + by_s, 2))))
    by_s = min(length_s - end, max(-start, by_s))
    return (round(start + by_s, 2), round(end + by_s, 2))


_DURATION_PATTERN: Final = re.compile(r"\s*+[\d.]++(\s*+)(s|min|h)?\s*+\Z")
_UNITS_UP_TO: Final = {"h": ("h", "min", "s"), "min": ("min", "s"), "s": ("s",)}
_UNIT_S: Final = {"h": 3600.0, "min": 60.0, "s": 1.0}


def find_latest_s(entry: TimelineEntry, plan: TimelinePlan) -> float:
    """Return the maximum time of an entry, or the maximum delay of a conditional fault, in seconds.

    The maximum time is the length of the drill. The maximum delay is DRILL_LENGTH_MAX_S.
    """
    return DRILL_LENGTH_MAX_S if entry.kind == CONDITIONAL_FAULT else plan.length_s


def move_entries(
    text: str, plan: TimelinePlan, entry: TimelineEntry, span: EntrySpan, selected: Sequence[TimelineEntry]
) -> str:
    """Return *text* with the entry moved to *span*.

    If the whole entry moves and is *selected*, the other selected entries move by the same time. Raises
    ScenarioEditError.
    """
    text = move_entry(text, entry, span)
    by_s = span[0] - entry.span[0]
    if span[1] - entry.span[1] != by_s or entry.path not in {moved_entry.path for moved_entry in selected}:
        return text
    for timeline_entry in selected:
        if timeline_entry.path != entry.path and timeline_entry.is_movable:
            text = move_entry(
                text,
                timeline_entry,
                move_span(timeline_entry.span, WHOLE_ENTRY, by_s, find_latest_s(timeline_entry, plan)),
            )
    return text


def remove_entries(text: str, entries: Iterable[TimelineEntry]) -> str:
    """Return *text* without *entries*. Raises ScenarioEditError."""
    for entry in sorted(entries, key=lambda entry: -int(entry.path[1])):
        text = remove_entry(text, str(entry.path[0]), int(entry.path[1]))
    return text


def find_next_path(plan: TimelinePlan, removed_entries: Sequence[TimelineEntry]) -> Path | None:
    """Return the path of the fault to select after a removal, or None if no fault remains.

    This is the fault after the first of *removed_entries*, or else the last fault.
    """
    index = plan.faults.index(removed_entries[0])
    remaining_paths = [fault.path for fault in plan.faults if fault not in removed_entries]
    if not remaining_paths:
        return None
    key, next_entry = remaining_paths[min(index, len(remaining_paths) - 1)]
    return (key, int(next_entry) - sum(int(entry.path[1]) < int(next_entry) for entry in removed_entries))


def move_entry(text: str, entry: TimelineEntry, span: EntrySpan) -> str:
    """Return *text* with the entry moved to *span*. The format of its time is kept.

    Raises ScenarioEditError.
    """
    keys: Mapping[str, tuple[Path, ...]] = {
        TIMED_FAULT: (("at",),),
        WINDOW_FAULT: (("between", 0), ("between", 1)),
        CONDITIONAL_FAULT: (("after",),),
    }
    table = read_value(text, entry.path)
    if not isinstance(table, dict):  # the text has changed since the plan was shown
        raise ScenarioEditError(tr("This entry no longer exists in the list."))
    if entry.kind == WINDOW_FAULT and parse_seconds(table["between"][0]) != entry.span[0]:
        span = (span[1], span[0])  # keep a window that ends before it begins, because the checks report it
        old_values = (entry.span[1], entry.span[0])
    else:
        old_values = entry.span
    for key, before, new_value in zip(keys[entry.kind], old_values, span, strict=False):
        if new_value != before:
            place: object = table.get(key[0], "0s")
            number = key[1] if len(key) > 1 else None
            sample = place[number] if isinstance(place, list) and isinstance(number, int) else place
            text = set_value(text, (*entry.path, *key), format_time(new_value, sample))
    return text


def format_time(t_s: float, sample: object) -> int | float | str:
    """Return *t_s* in the format of *sample*: 95, "95s", "95", or "2min" for whole minutes."""
    if not isinstance(sample, str):
        return int(t_s) if t_s == int(t_s) else round(t_s, 2)
    match = _DURATION_PATTERN.match(sample)
    space, unit = (match[1], match[2]) if match else ("", "s")
    if unit is None:
        return _format_number(t_s)
    last = next((u for u in _UNITS_UP_TO[unit] if t_s and t_s % _UNIT_S[u] == 0), "s")
    return f"{_format_number(t_s / _UNIT_S[last])}{space}{last}"


def _format_number(value: float) -> str:
    """Format a number without an exponent."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def add_fault(text: str, times: Mapping[str, object], line: str, note: str) -> tuple[str, Path]:
    """Return *text* with a new fault after the other faults, and the path of the new fault.

    *times*: keys and values that set the time of the fault. *line*: input line.

    Raises ScenarioEditError.
    """
    values = {**times, "do": line, **({"note": note} if note else {})}
    timeline_entries = read_value(text, ("timeline",))
    return add_entry(text, "timeline", values), (
        "timeline",
        len(timeline_entries) if isinstance(timeline_entries, list) else 0,
    )
