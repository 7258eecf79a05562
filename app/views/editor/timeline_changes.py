"""Changes of times in a scenario's text: faults moved, added and removed. Without Qt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from app.files.entry_edit import add_entry, remove_entry
from app.files.scenario_edit import ScenarioEditError, set_value, value_at
from app.views.editor.timeline_entries import (
    AT,
    WAIT,
    WINDOW,
    Path,
    Spot,
    TimelineEntry,
    TimelinePlan,
    seconds_of,
)
from app.views.editor.timeline_geometry import WHOLE, nudge_spot
from app.words.language import tr
from engine.drill.authoring.schema import DURATION_MAX_S

_WRITTEN: Final = re.compile(r"\s*+[\d.]++(\s*+)(s|min|h)?\s*+\Z")
_COARSER: Final = {"h": ("h", "min", "s"), "min": ("min", "s"), "s": ("s",)}
_UNIT_S: Final = {"h": 3600.0, "min": 60.0, "s": 1.0}


def find_latest_s(entry: TimelineEntry, plan: TimelinePlan) -> float:
    """Return the latest possible time or delay of an entry, in seconds.

    This is the length of the drill, or the maximum delay.
    """
    return DURATION_MAX_S if entry.kind == WAIT else plan.length_s


def move_entries(
    text: str, plan: TimelinePlan, entry: TimelineEntry, spot: Spot, selected: Sequence[TimelineEntry]
) -> str:
    """Return *text* with the entry at *spot*; others that are *chosen* move equally, unless only its end moves.

    Raises ScenarioEditError.
    """
    text = move_entry(text, entry, spot)
    by_s = spot[0] - entry.spot[0]
    if spot[1] - entry.spot[1] != by_s or entry.path not in {each.path for each in selected}:
        return text
    for each in selected:
        if each.path != entry.path and each.movable:
            text = move_entry(text, each, nudge_spot(each.spot, WHOLE, by_s, find_latest_s(each, plan)))
    return text


def remove_entries(text: str, entries: Iterable[TimelineEntry]) -> str:
    """Return *text* without these entries. Raises ScenarioEditError."""
    for entry in sorted(entries, key=lambda each: -int(each.path[1])):
        text = remove_entry(text, str(entry.path[0]), int(entry.path[1]))
    return text


def find_next_path(plan: TimelinePlan, removed_entries: Sequence[TimelineEntry]) -> Path | None:
    """Return the path of the fault after the first of *removed_entries*, or of the last fault; None if none remains."""
    here = plan.faults.index(removed_entries[0])
    left = [fault.path for fault in plan.faults if fault not in removed_entries]
    if not left:
        return None
    key, at = left[min(here, len(left) - 1)]
    return (key, int(at) - sum(int(entry.path[1]) < int(at) for entry in removed_entries))


def move_entry(text: str, entry: TimelineEntry, spot: Spot) -> str:
    """Return *text* with the entry at *spot*, with its time in its style. Raises ScenarioEditError."""
    keys: Mapping[str, tuple[Path, ...]] = {
        AT: (("at",),),
        WINDOW: (("between", 0), ("between", 1)),
        WAIT: (("after",),),
    }
    table = value_at(text, entry.path)
    if not isinstance(table, dict):  # the text has changed since it was shown
        raise ScenarioEditError(tr("This entry no longer exists in the list."))
    if entry.kind == WINDOW and seconds_of(table["between"][0]) != entry.spot[0]:
        spot = (spot[1], spot[0])  # a reversed span: the checks report it, so show it
        was = (entry.spot[1], entry.spot[0])
    else:
        was = entry.spot
    for key, before, now in zip(keys[entry.kind], was, spot, strict=False):
        if now != before:
            place: Any = table.get(key[0], "0s")
            text = set_value(
                text, (*entry.path, *key), format_time(now, place[key[1]] if len(key) > 1 else place)
            )
    return text


def format_time(t_s: float, sample: object) -> int | float | str:
    """Return *t_s* in the style of *like*: 95, "95s", "95", "2min" for whole minutes."""
    if not isinstance(sample, str):
        return int(t_s) if t_s == int(t_s) else round(t_s, 2)
    match = _WRITTEN.match(sample)
    space, unit = (match[1], match[2]) if match else ("", "s")
    if unit is None:
        return _format_number(t_s)
    last = next((u for u in _COARSER[unit] if t_s and t_s % _UNIT_S[u] == 0), "s")
    return f"{_format_number(t_s / _UNIT_S[last])}{space}{last}"


def _format_number(value: float) -> str:
    """Format a number without an exponent."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def with_fault(text: str, times: Mapping[str, object], act: str, note: str) -> tuple[str, Path]:
    """Return *text* with one more fault after the others, and its path. Raises ScenarioEditError."""
    values = {**times, "do": act, **({"note": note} if note else {})}
    found = value_at(text, ("timeline",))
    return add_entry(text, "timeline", values), ("timeline", len(found) if isinstance(found, list) else 0)
