"""Editing of a scenario's text that keeps the author's comments, order and line breaks. Without Qt.

A path is a sequence of keys and indexes: ("server", 0, "name").
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from itertools import count
from typing import Any, Final, TypeVar

import tomlkit
from msgspec import Struct
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from app.words.language import tr
from engine.drill.authoring.problems import find_positions

TABLE_HEADER_PATTERN: Final = re.compile(r"""\s*\[\[?\s*[\w\-"']+(?:\s*\.\s*[\w\-"']+)*\s*\]""")
"""Pattern of the first line of a table."""

Path = Sequence[str | int]
"""Keys and indexes that lead to a value in a scenario, such as ("server", 0, "name")."""


Entry = TypeVar("Entry")


class ScenarioEditError(ValueError):
    """Error for a text that is not TOML or has no value at the path. The text is a sentence for the user."""


def read_value(text: str, path: Path) -> Any:
    """Return the value at *path* as plain Python types, or None if there is none.

    Raises ScenarioEditError if the text is not TOML.
    """
    try:
        data = tomllib.loads(text)  # seven times as fast as tomlkit, which only changes need
    except (ValueError, RecursionError) as error:
        raise create_toml_error(error) from error
    return get_value(data, path)


def get_value(data: Mapping[str, object], path: Path) -> Any:
    """Return the value at *path* of a scenario's data, or None if there is none."""
    value: Any = data
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def set_value(text: str, path: Path, value: object) -> str:
    """Return *text* with *value* at *path*. None removes the value. Raises ScenarioEditError."""
    if value is None:
        return remove_value(text, path)
    return _edit_table_lines(text, path, lambda table, inner: _set_value(table, inner, value)) or _set_value(
        text, path, value
    )


def remove_value(text: str, path: Path) -> str:
    """Return *text* without the value at *path*. Raises ScenarioEditError."""
    return _edit_table_lines(text, path, _remove_value) or _remove_value(text, path)


def _set_value(text: str, path: Path, value: object) -> str:
    document, container = _find_parent(text, path)
    if isinstance(value, str) and "\n" in value:
        value = _format_multiline_text(value)
    elif isinstance(container, Mapping) and path[-1] in container and container[path[-1]] == value:
        return text
    container[path[-1]] = value
    return tomlkit.dumps(document)


def _remove_value(text: str, path: Path) -> str:
    document, container = _find_parent(text, path)
    last: object = path[-1]
    try:
        del container[last]
    except (KeyError, IndexError):
        return text
    if isinstance(container, AoT) and not container:
        return _remove_value(tomlkit.dumps(document), path[:-1])
    return tomlkit.dumps(document)


def _edit_table_lines(text: str, path: Path, change: Callable[[str, Path], str]) -> str | None:
    """Apply *change* only to the lines of the table in *path*, and return the new text.

    For a long *text*, this is much faster than a change of the whole text. Return None if the table
    is not one block of lines, if nothing changes, or if more than the table would change.
    """
    length = 2 if len(path) > 2 and isinstance(path[1], int) else min(1, len(path) - 1)
    table = tuple(path[:length])
    lines = StringIO(text).readlines()
    try:
        expected: Any = tomllib.loads(text)
        start = find_positions(text)[table].line - 1 if table else 0
        if table and not TABLE_HEADER_PATTERN.match(lines[start]):
            return None
        end = next(
            (
                index
                for index in range(start + bool(table), len(lines))
                if TABLE_HEADER_PATTERN.match(lines[index])
            ),
            len(lines),
        )
        block = "".join(lines[start:end])
        new_change = change(block, (path[0], 0, *path[2:]) if length == 2 else path)
        new_text = "".join((*lines[:start], new_change, *lines[end:]))
        if new_change == block:
            return None
        inner: Any = tomllib.loads(new_change)
        if length == 2:
            expected[path[0]][path[1]] = inner[path[0]][0]
        elif length == 1:
            expected[path[0]] = inner[path[0]]
        else:
            removed_keys = tomllib.loads(block).keys() - inner.keys()
            expected = {**{key: value for key, value in expected.items() if key not in removed_keys}, **inner}
        return new_text if tomllib.loads(new_text) == expected else None
    except (ScenarioEditError, AssertionError, ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None


def add_table(text: str, name: str, values: Mapping[str, object]) -> str:
    """Return *text* with another [[name]] table after the existing ones, or at the end of the text.

    Raises ScenarioEditError.
    """
    document = _parse_document(
        text if text.endswith("\n\n") or not text.strip() else text.rstrip("\n") + "\n\n"
    )
    table = tomlkit.table()
    for key, value in values.items():
        table[key] = value
    section = document.get(name)
    if section is None:
        document[name] = tomlkit.aot()
        section = document[name]
    if not isinstance(section, AoT):
        message = tr("{name} is written on one line. To edit its entries here, write them as [[{name}]].")
        raise ScenarioEditError(message.format(name=name))
    table.add(tomlkit.nl())
    section.append(table)
    return tomlkit.dumps(document).rstrip("\n") + "\n"


def add_nested_table(text: str, path: Path, values: Mapping[str, object]) -> str:
    """Return *text* with another table in the list at *path*, which is inside another table.

    Raises ScenarioEditError.
    """
    document, container = _find_parent(text, path)
    value = container.get(path[-1])
    if value is None:
        value = container[path[-1]] = tomlkit.aot()
        value = container[path[-1]]
    if not isinstance(value, (AoT, list)):
        raise ScenarioEditError(tr("The form cannot edit this list. Edit it in the text."))
    if not isinstance(value, AoT):
        inline = tomlkit.inline_table()
        inline.update(values)
        value.append(inline)
        return tomlkit.dumps(document)
    table = tomlkit.table()
    table.update(values)
    table.add(tomlkit.nl())
    value.append(table)
    return tomlkit.dumps(document).rstrip("\n") + "\n"


def _format_multiline_text(value: str) -> Any:
    """Format a text of several lines as authors write it: between triple quotes, with line breaks.

    Return any other value unchanged.
    """
    quoted_text = tomlkit.string(value, multiline=True).as_string()
    return tomlkit.value(quoted_text if quoted_text.startswith('"""\n') else '"""\n' + quoted_text[3:])


def _parse_document(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise create_toml_error(error) from error


def create_toml_error(error: Exception) -> ScenarioEditError:
    """Build the error for a text that is not TOML."""
    return ScenarioEditError(tr("The text is not valid TOML: {reason}").format(reason=error))


def _find_parent(text: str, path: Path) -> tuple[tomlkit.TOMLDocument, Any]:
    """Return the parsed document, and the container of the value at *path*.

    Missing tables on the path are created. Raises ScenarioEditError if a list entry does not exist.
    """
    document = _parse_document(text)
    container: Any = document
    for step in path[:-1]:
        try:
            container = container[step]
        except (KeyError, IndexError, TypeError) as error:
            if isinstance(step, str) and isinstance(container, dict):
                container[step] = tomlkit.table()
                container = container[step]
                continue
            raise ScenarioEditError(tr("{step} no longer exists.").format(step=step)) from error
    return document, container


class _LineRange(Struct, frozen=True):
    """Range of the lines of one entry: indexes from 0, without *end* itself."""

    start: int
    end: int


def move_entry(text: str, key: str, index: int, target: int) -> str:
    """Return *text* with entry *index* of the list *key* moved to index *target*.

    Raises ScenarioEditError.
    """

    def reorder(entries: list[Entry]) -> None:
        entries.insert(target, entries.pop(index))

    lines, spans = _split_entries(text, key)
    if not (0 <= index < len(spans) and 0 <= target < len(spans)):
        raise ScenarioEditError(tr("This entry no longer exists in the list."))
    bodies = ["".join(lines[span.start : span.end]).rstrip("\n") + "\n" for span in spans]
    reorder(bodies)
    for span, body in reversed(list(zip(spans, bodies, strict=True))):
        lines[span.start : span.end] = [body]
    return _check_change("".join(lines), text, key, reorder)


def copy_entry(text: str, key: str, index: int) -> str:
    """Return *text* with a copy of entry *index* directly after it. The copy gets a new name.

    Raises ScenarioEditError.
    """
    lines, spans = _split_entries(text, key)
    if not 0 <= index < len(spans):
        raise ScenarioEditError(tr("This entry no longer exists in the list."))
    span = spans[index]
    body = "".join(lines[span.start : span.end]).rstrip("\n") + "\n"
    lines[span.start : span.end] = [body, "\n", body]
    change = _check_change(
        "".join(lines), text, key, lambda entries: entries.insert(index + 1, entries[index])
    )
    entries = tomllib.loads(change)[key]
    name = entries[index].get("name")
    if not isinstance(name, str):
        return change
    return set_value(
        change, (key, index + 1, "name"), _find_free_name(name, [entry.get("name") for entry in entries])
    )


def add_entry(text: str, key: str, values: Mapping[str, object]) -> str:
    """Return *text* with another entry after the last entry of the list *key*. Raises ScenarioEditError.

    A comment after the last entry stays with the text below it.
    """
    if not read_value(text, (key,)):
        return add_table(text, key, values)
    lines, spans = _split_entries(text, key)
    body = add_table("", key, values)
    lines[spans[-1].end : spans[-1].end] = ["\n", body]
    return _check_change(
        "".join(lines), text, key, lambda entries: entries.append(tomllib.loads(body)[key][0])
    )


def remove_entry(text: str, key: str, index: int) -> str:
    """Return *text* without entry *index*, the comment above it and the blank lines below it.

    Raises ScenarioEditError.
    """
    try:
        lines, spans = _split_entries(text, key)
    # an entry of an inline list has no lines of its own, but can be removed
    except ScenarioEditError:
        return remove_value(text, (key, index))
    if not 0 <= index < len(spans):
        raise ScenarioEditError(tr("This entry no longer exists in the list."))
    span = spans[index]
    end = span.end
    while end < len(lines) and not lines[end].strip():
        end += 1
    del lines[span.start : end]
    return _check_change("".join(lines).rstrip("\n") + "\n", text, key, lambda entries: entries.pop(index))


def _find_free_name(name: str, used_names: list[object]) -> str:
    """Return *name* with the first number that makes it unique. The separator follows the style of the name."""
    base_name = re.sub(r"[ _-]\d+$", "", name)
    joint = " " if " " in base_name else "_" if base_name.isupper() else "-"
    return next(candidate for n in count(2) if (candidate := f"{base_name}{joint}{n}") not in used_names)


def _split_entries(text: str, key: str) -> tuple[list[str], list[_LineRange]]:
    """Return the lines of *text*, and the range of lines of each entry of the list *key*."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise create_toml_error(error) from error
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    positions = find_positions(text)
    headers = sorted(
        (text_position.line - 1, path)
        for path, text_position in positions.items()
        if (text_position.line, text_position.column)
        == (text_position.value_line, text_position.value_column)
        and TABLE_HEADER_PATTERN.match(lines[text_position.line - 1])
    )
    starts: dict[int, tuple[str | int, ...]] = {}
    for line, path in headers:  # the header of a list entry has two paths: the list and the entry
        starts[line] = max(starts.get(line, ()), path, key=len)
    spans = []
    order = sorted(starts)
    for number, line in enumerate(order):
        if starts[line][:1] != (key,) or len(starts[line]) != 2 or not isinstance(starts[line][1], int):
            continue
        # nested tables belong to the entry
        next_starts = (start for start in order[number + 1 :] if starts[start][:2] != starts[line])
        spans.append(
            _LineRange(
                _find_comment_start(lines, line), _find_entry_end(lines, line, next(next_starts, len(lines)))
            )
        )
    if len(spans) != len(data.get(key, ())):
        message = tr("{name} is written on one line. To edit its entries here, write them as [[{name}]].")
        raise ScenarioEditError(message.format(name=key))
    return lines, spans


def _find_comment_start(lines: list[str], header: int) -> int:
    """Return the first line of the comment directly above line *header*."""
    while header > 0 and lines[header - 1].lstrip().startswith("#"):
        header -= 1
    return header


def _find_entry_end(lines: list[str], header: int, following: int) -> int:
    """Return the line after an entry.

    *header*: first line of the entry. *following*: first line of the next entry. Comments after a blank line
    do not belong to the entry.
    """
    end = _find_comment_start(lines, following) if following < len(lines) else following
    last_end = end
    while last_end > header + 1 and (
        not lines[last_end - 1].strip() or lines[last_end - 1].lstrip().startswith("#")
    ):
        last_end -= 1
    while last_end < end and lines[last_end].strip():
        last_end += 1
    return last_end


def _check_change(new_text: str, text: str, key: str, change: Callable[[list[object]], object]) -> str:
    """Return *new_text* if its only difference from *text* is *change*, applied to the list *key*.

    Raises ScenarioEditError for any other difference.
    """
    expected: dict[str, list[object]] = dict(tomllib.loads(text))
    entries = list(expected[key])
    change(entries)
    expected[key] = entries
    if not entries:
        del expected[key]
    if _read_entry(new_text) != expected:
        raise ScenarioEditError(tr("The form cannot edit this list. Edit it in the text."))
    return new_text


def _read_entry(text: str) -> Mapping[str, object] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None
