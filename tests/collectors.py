"""Collectors of texts for `make words` in addition to marked texts (.ci/babel.cfg): skills, the course,
shortcut notes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any, BinaryIO

from babel.messages.extract import extract_python
from pydantic import BaseModel

FoundText = tuple[int, str | None, Any, list[str]]
"""Line, function name, text and comments, as Babel expects."""


def collect_skills(file: BinaryIO, *_: object, **__: object) -> Iterator[FoundText]:
    """Collect titles and texts of the skills."""
    for skill in tomllib.load(file).values():
        yield from ((1, None, skill[key], []) for key in ("title", "text"))


def collect_course(file: BinaryIO, *_: object, **__: object) -> Iterator[FoundText]:
    """Collect the titles of the parts of the course."""
    yield from ((1, None, part["title"], []) for part in tomllib.load(file)["part"])


def collect_table(file: BinaryIO, *_: object, **__: object) -> Iterator[FoundText]:
    """Collect the cells of those columns that a table marks with "~" as translated."""
    head, *lines = (line.split("\t") for line in file.read().decode().splitlines())
    translated = [index for index, column in enumerate(head) if column.startswith("~")]
    for number, line in enumerate(lines, 2):
        yield from ((number, None, line[index], []) for index in translated if line[index : index + 1] > [""])


def collect_schema(file: BinaryIO, keywords: Any, comments: Any, options: Any) -> Iterator[Any]:
    """Collect the marked texts of the schema, and its docstrings of tables and keys, which the form shows."""
    yield from extract_python(file, keywords, comments, options)
    yield from ((1, None, note, []) for note in sorted(collect_notes()))


def collect_notes() -> set[str]:
    import app.pyside_import_hook  # noqa: F401  # before other modules: the hook of PySide breaks imports of pydantic
    from app.views.editor import form_schema

    texts = set[str]()

    def add_notes(model: type[BaseModel]) -> None:
        for field in form_schema.list_fields(model):
            texts.add(field.description)
            if field.inner_model is not None:
                add_notes(field.inner_model)

    for section in form_schema.list_sections():
        texts |= {form_schema.get_section_help(section, model) for model in section.models or (None,)}
        for model in section.models:
            add_notes(model)
    return texts - {""}
