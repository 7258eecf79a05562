"""Move, copy and remove entries of a scenario's lists ([[server]], [[goal]], …) with their comments. Without Qt.

An entry is a range of lines, from the comment directly above `[[name]]` to the last key. An author's comment above a
header describes the entry below it, but a TOML document assigns it to the table before.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from app.files import scenario_edit
from app.files.scenario_edit import HEADER, ScenarioEditError
from app.words.language import tr
from engine.drill.authoring.toml_positions import find_positions


@dataclass(frozen=True, slots=True)
class _Span:
    """Lines of an entry, from 0; *end* is exclusive."""

    start: int
    end: int


def move_entry(text: str, key: str, index: int, target: int) -> str:
    """Return *text* with entry *at* of the list *key* moved to place *to*. Raises ScenarioEditError."""

    def order(entries: list[Any]) -> None:
        entries.insert(target, entries.pop(index))

    lines, spans = _split_entries(text, key)
    if not (0 <= index < len(spans) and 0 <= target < len(spans)):
        raise ScenarioEditError(tr("This entry no longer exists in the list."))
    bodies = ["".join(lines[span.start : span.end]).rstrip("\n") + "\n" for span in spans]
    order(bodies)
    for span, body in reversed(list(zip(spans, bodies, strict=True))):
        lines[span.start : span.end] = [body]
    return _check_change("".join(lines), text, key, order)


def copy_entry(text: str, key: str, index: int) -> str:
    """Return *text* with a copy of entry *at* directly after it, with its own name. Raises ScenarioEditError."""
    lines, spans = _split_entries(text, key)
    if not 0 <= index < len(spans):
        raise ScenarioEditError(tr("This entry no longer exists in the list."))
    span = spans[index]
    body = "".join(lines[span.start : span.end]).rstrip("\n") + "\n"
    lines[span.start : span.end] = [body, "\n", body]
    made = _check_change("".join(lines), text, key, lambda entries: entries.insert(index + 1, entries[index]))
    entries = tomllib.loads(made)[key]
    name = entries[index].get("name")
    if not isinstance(name, str):
        return made
    return scenario_edit.set_value(
        made, (key, index + 1, "name"), _find_free_name(name, [entry.get("name") for entry in entries])
    )


def add_entry(text: str, key: str, values: Mapping[str, object]) -> str:
    """Return *text* with one more entry after the last. Raises ScenarioEditError.

    A following comment stays with the text below it.
    """
    if not scenario_edit.value_at(text, (key,)):
        return scenario_edit.add_table(text, key, values)
    lines, spans = _split_entries(text, key)
    body = scenario_edit.add_table("", key, values)
    lines[spans[-1].end : spans[-1].end] = ["\n", body]
    return _check_change(
        "".join(lines), text, key, lambda entries: entries.append(tomllib.loads(body)[key][0])
    )


def remove_entry(text: str, key: str, index: int) -> str:
    """Return *text* without entry *at*, the comment above it and the blank lines below. Raises ScenarioEditError."""
    try:
        lines, spans = _split_entries(text, key)
    # an entry of an inline list can be removed, although it has no lines of its own
    except ScenarioEditError:
        return scenario_edit.remove(text, (key, index))
    if not 0 <= index < len(spans):
        raise ScenarioEditError(tr("This entry no longer exists in the list."))
    span = spans[index]
    end = span.end
    while end < len(lines) and not lines[end].strip():
        end += 1
    del lines[span.start : end]
    return _check_change("".join(lines).rstrip("\n") + "\n", text, key, lambda entries: entries.pop(index))


def _find_free_name(name: str, used_names: list[object]) -> str:
    """Return *name* with the first number that makes it unique, joined in the style of its words."""
    bare = re.sub(r"[ _-]\d+$", "", name)
    joint = " " if " " in bare else "_" if bare.isupper() else "-"
    return next(found for n in count(2) if (found := f"{bare}{joint}{n}") not in used_names)


def _split_entries(text: str, key: str) -> tuple[list[str], list[_Span]]:
    """Return the lines of *text*, and those of each entry of the list *key*."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise scenario_edit.not_toml(error) from error
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    found = find_positions(text)
    headers = sorted(
        (place.line - 1, path)
        for path, place in found.items()
        if (place.line, place.column) == (place.value_line, place.value_column)
        and HEADER.match(lines[place.line - 1])
    )
    starts: dict[int, tuple[str | int, ...]] = {}
    for line, path in headers:  # a header counts for its table and, in a list, for the list and the entry
        starts[line] = max(starts.get(line, ()), path, key=len)
    spans = []
    order = sorted(starts)
    for number, line in enumerate(order):
        if starts[line][:1] != (key,) or len(starts[line]) != 2 or not isinstance(starts[line][1], int):
            continue
        following = (
            other for other in order[number + 1 :] if starts[other][:2] != starts[line]
        )  # nested tables belong to the entry
        spans.append(
            _Span(_find_comment_start(lines, line), _find_entry_end(lines, line, next(following, len(lines))))
        )
    if len(spans) != len(data.get(key, ())):
        said = tr("{name} is written in one line. To edit its entries here, write them as [[{name}]].")
        raise ScenarioEditError(said.format(name=key))
    return lines, spans


def _find_comment_start(lines: list[str], header: int) -> int:
    """Return the first of the comments that stand right above the line *header*."""
    while header > 0 and lines[header - 1].lstrip().startswith("#"):
        header -= 1
    return header


def _find_entry_end(lines: list[str], header: int, following: int) -> int:
    """Return the line behind the last of an entry: comments after a blank line are not its own."""
    end = _find_comment_start(lines, following) if following < len(lines) else following
    last = end
    while last > header + 1 and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1
    while last < end and lines[last].strip():
        last += 1
    return last


def _check_change(new_text: str, text: str, key: str, change: Callable[[list[object]], object]) -> str:
    """Return *made*, if it makes *change* to the list and changes nothing else."""
    wanted: dict[str, list[object]] = dict(tomllib.loads(text))
    entries = list(wanted[key])
    change(entries)
    wanted[key] = entries
    if not entries:
        del wanted[key]
    if _read(new_text) != wanted:
        raise ScenarioEditError(tr("This list can only be edited in the text because of its notation."))
    return new_text


def _read(text: str) -> Mapping[str, object] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None
