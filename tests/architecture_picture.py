"""Generator of the picture in ARCHITECTURE.md: `python -m tests.architecture_picture`.

The picture arranges packages in rows so that imports point down. The rows of the engine come from its layers,
those of the desktop from the imports. The text of a package is its docstring.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path
from typing import Final

from tests.sources import parse_source
from tests.test_architecture import CODE_MODULES, ENGINE_LAYERS, belongs_to_any, list_imports

PICTURE: Final = Path(__file__).parents[1] / "assets" / "pictures" / "architecture.svg"

INPUT_STATIONS: Final = {
    "app.views": "a click, a menu, a typed statement: one line of text",
    "app.host": "the host of the run takes it, from any thread",
    "engine.drill": "allowed in this mode? then into the journal",
    "engine.verbs": "the record of its verb does it",
    "engine.simulator": "time goes on to the next thing that is due",
    "engine.protocol": "what all groups share: contacts, services, clients, log, backup",
    "engine.mirroring": "sessions of two partners: quorum, roles, failover",
    "engine.flow": "log written, sent, hardened, redone",
    "engine.events": "what happened, as records",
    "app.storage": "on disk, before anybody sees it",
    "app.view_models": "made into what views show",
}
"""Package -> work that it does for an input, in processing order."""

LIBRARIES: Final = {
    "PySide6": "Qt",
    "pyqtgraph": "pyqtgraph",
    "sqlalchemy": "SQLAlchemy",
    "lark": "lark",
    "sqlglot": "sqlglot",
    "pydantic": "pydantic",
    "sqlite3": "SQLite",
    "tomlkit": "tomlkit",
    "babel": "babel",
}

PANEL_PX, GAP_PX, EDGE_PX, LINE_PX, CHARACTER_PX = 560, 8, 16, 13, 5.0
NAMES_ONLY_ROW_SIZE: Final = 4
"""Minimum number of packages in a row that shows only names, because texts do not fit."""


@cache
def get_docstring(name: str) -> str:
    """Return the first sentence of the docstring of *name*."""
    text = (ast.get_docstring(parse_source(CODE_MODULES[name])) or "").partition("\n")[0]
    return text.removesuffix(" No Qt.").replace("`", "")


@cache
def list_libraries(package: str) -> list[str]:
    used = {
        module.partition(".")[0]
        for name in CODE_MODULES
        if belongs_to_any(name, [package])
        for module in list_imports(name)
    }
    return [label for name, label in LIBRARIES.items() if name in used]


@cache
def find_reachable_imports() -> dict[str, frozenset[str]]:
    """Return package of the desktop -> all packages that it imports directly or indirectly."""
    rooms = sorted(
        name for name in CODE_MODULES if name.count(".") == 1 and is_package(name) and name.startswith("app.")
    )
    needs = {
        room: {
            other_room
            for name in CODE_MODULES
            if belongs_to_any(name, [room])
            for module in list_imports(name)
            for other_room in rooms
            if other_room != room and belongs_to_any(module, [other_room])
        }
        for room in rooms
    }
    reached: dict[str, frozenset[str]] = {}
    for room in rooms:
        modules_seen: set[str] = set()
        waiting = [room]
        while waiting:
            new = needs[waiting.pop()] - modules_seen
            modules_seen |= new
            waiting += new
        reached[room] = frozenset(modules_seen)
    return reached


def find_import_cycle(package: str) -> set[str]:
    """Return the packages in an import cycle with *package*."""
    return {
        other_room
        for other_room in find_reachable_imports()[package]
        if other_room != package and package in find_reachable_imports()[other_room]
    }


@cache
def compute_depth(package: str) -> int:
    """Return the row of *package*: one below the lowest package that imports *package*."""
    users = {
        other_room
        for other_room, reached in find_reachable_imports().items()
        if package in reached and other_room not in find_reachable_imports()[package]
    }
    return max((compute_depth(user_room) + 1 for user_room in users), default=0)


def arrange_app_rows() -> list[list[str]]:
    """Return the packages of the desktop, row by row from top to bottom. Packages in an import cycle share a
    row.
    """
    row = {
        room: max(map(compute_depth, {room, *find_import_cycle(room)})) for room in find_reachable_imports()
    }
    return [[room for room in row if row[room] == n] for n in sorted(set(row.values()))]


def is_package(name: str) -> bool:
    """Return whether *name* is a package with modules."""
    return any(module.startswith(f"{name}.") for module in CODE_MODULES)


def list_subpackages(package: str) -> list[str]:
    return [
        name
        for name in CODE_MODULES
        if name.startswith(f"{package}.") and name.count(".") == 2 and is_package(name)
    ]


def list_text_lines(package: str, width_px: float) -> list[str]:
    """Return the lines of text below the name in the box of a package."""
    characters = int((width_px - 20) / CHARACTER_PX)
    text = textwrap.wrap(get_docstring(package), characters)
    if inner_rooms := list_subpackages(package):
        inner_names = ", ".join(name.rpartition(".")[2].replace("_", " ") for name in inner_rooms)
        text += textwrap.wrap(f"Rooms: {inner_names}.", characters)
    if used := list_libraries(package):
        text += textwrap.wrap(f"With {', '.join(used)}.", characters)
    return text


def draw_box(package: str, x: float, y: float, width: float, height: float, with_text: bool) -> Iterable[str]:
    yield (
        f'<rect class="{"qt" if "Qt" in list_libraries(package) else "plain"}" x="{x:.0f}" y="{y:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" rx="6"/>'
    )
    name = package.partition(".")[2]
    yield f'<text class="name" x="{x + 10:.0f}" y="{y + 18:.0f}">{escape(name)}</text>'
    if with_text:
        for number, line in enumerate(list_text_lines(package, width)):
            yield f'<text x="{x + 10:.0f}" y="{y + 34 + number * LINE_PX:.0f}">{escape(line)}</text>'
    for number, stop in enumerate(INPUT_STATIONS, 1):
        if stop == package:
            yield from draw_dot(number, x + width - 14, y + 14)


def draw_dot(number: int, x: float, y: float) -> Iterable[str]:
    yield f'<circle cx="{x:.0f}" cy="{y:.0f}" r="9"/>'
    yield f'<text class="stop" x="{x:.0f}" y="{y + 4:.0f}">{number}</text>'


def draw_panel(title: str, rows: list[list[str]], x: float, y: float) -> tuple[list[str], float]:
    """Return the SVG of one half of the picture, and its height."""
    svg_parts = [f'<text class="title" x="{x:.0f}" y="{y:.0f}">{escape(title)}</text>']
    y += 12
    for row in rows:
        with_text = len(row) < NAMES_ONLY_ROW_SIZE
        width = (PANEL_PX - GAP_PX * (len(row) - 1)) / len(row)
        lines = max(len(list_text_lines(room, width)) for room in row) if with_text else 0
        height = 28 + lines * LINE_PX + (4 if lines else 0)
        for number, room in enumerate(row):
            svg_parts += draw_box(room, x + number * (width + GAP_PX), y, width, height, with_text)
        y += height + GAP_PX
    return svg_parts, y


def draw_picture() -> str:
    top = 40
    engine_rows = [list(row) for row in reversed(ENGINE_LAYERS)]
    app, app_end = draw_panel("app: the desktop", arrange_app_rows(), EDGE_PX, top)
    engine, engine_end = draw_panel(
        "engine: no Qt, no files, no clock", engine_rows, EDGE_PX * 4 + PANEL_PX, top
    )
    middle, notes = EDGE_PX + PANEL_PX, app_end + 24
    cyclic_names = ", ".join(
        room.partition(".")[2] for room in find_reachable_imports() if find_import_cycle(room)
    )
    legend = [
        f'<path class="arrow" d="M{middle + 6} 90 h{EDGE_PX * 3 - 18}"/>',
        f'<path class="head" d="M{middle + EDGE_PX * 3 - 12} 84 l10 6 l-10 6 z"/>',
        f'<text x="{EDGE_PX}" y="{notes - 6}">A room imports only what stands in rows below its own; app imports '
        "engine, never the other way round.</text>",
        f'<text x="{EDGE_PX}" y="{notes + 8}">These import one another: {cyclic_names or "none"}.</text>',
        f'<rect class="qt" x="{EDGE_PX}" y="{notes + 18}" width="24" height="14" rx="3"/>',
        f'<text x="{EDGE_PX + 32}" y="{notes + 29}">knows Qt</text>',
        f'<text class="title" x="{EDGE_PX}" y="{notes + 62}">The life of an input</text>',
    ]
    for number, (room, description) in enumerate(INPUT_STATIONS.items(), 1):
        y = notes + 62 + number * 21
        legend += draw_dot(number, EDGE_PX + 10, y)
        name = f'<tspan class="name">{room.partition(".")[2]}</tspan>'
        legend.append(f'<text x="{EDGE_PX + 28}" y="{y + 4:.0f}">{name}: {escape(description)}</text>')
    width, height = EDGE_PX * 5 + PANEL_PX * 2, max(engine_end, notes + 90 + len(INPUT_STATIONS) * 21)
    style = (
        "text{font:11px Helvetica,Arial,sans-serif;fill:#22303c}.name{font-weight:bold;font-size:12px}"
        ".title{font-weight:bold;font-size:14px}"
        ".plain{fill:#eef2f5;stroke:#7d8d9b}.qt{fill:#dcebfa;stroke:#2f6ea8}"
        "circle{fill:#a8401f}.stop{fill:#fff;font-weight:bold;text-anchor:middle}"
        ".arrow{stroke:#22303c;stroke-width:2;fill:none}.head{fill:#22303c}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}">',
            "<title>The rooms of Mirrordrill and what may import what</title>",
            f"<style>{style}</style>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
            *app,
            *engine,
            *legend,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(draw_picture(), encoding="utf-8", newline="\n")
