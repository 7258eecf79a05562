"""Tests of the allowed imports between the packages of ARCHITECTURE.md, defined as tables.

To change a rule, edit its row and state the reason.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import pytest

from tests.sources import parse_source

ROOT = Path(__file__).parents[1]
QT = ("PySide6", "shiboken6", "pyqtgraph")
DATABASE = ("sqlalchemy",)
LINES_MAX: Final = 600

ENGINE_LAYERS = (
    ("engine.field_types", "engine.fixed_point", "engine.json_text", "engine.overrides", "engine.tables"),
    ("engine.arithmetic", "engine.datetime_formats", "engine.internal_errors", "engine.localization"),
    (
        "engine.constants",
        "engine.random_streams",
        "engine.commits",
        "engine.identifiers",
        "engine.messages",
        "engine.generators",
    ),
    ("engine.events", "engine.inputs", "engine.flow"),
    ("engine.model",),  # The world contains the arrays of the flow model and future events.
    ("engine.protocol",),  # This part knows that databases belong to groups, but not the kind of group.
    ("engine.mirroring", "engine.cluster"),
    ("engine.availability",),  # an availability group is a role of its cluster
    ("engine.tsql", "engine.powershell"),  # This part asks the protocol for the effect of a statement.
    ("engine.verbs",),  # This part applies its actions through the two packages above.
    ("engine.simulator",),
    ("engine.planning",),  # This part needs only the flow model. Published figures may use its curves.
    ("engine.published",),
    ("engine.drill",),
)
"""Layers of the engine. A part may import itself and the layers above its row, but no other part of its row."""

FORBIDDEN_IMPORTS = (
    # Columns: package, forbidden imports, exceptions, reason.
    ("engine", ("app", *QT, *DATABASE, "platformdirs"), (), "the engine runs without desktop and storage"),
    ("app.words", (*QT, *DATABASE), (), "reports, logs and tests use the same words as the window"),
    ("app.files", QT, (), "files are read and written without a window"),
    ("app.storage", QT, (), "headless runs and other programs read the same database"),
    ("app.view_models", (*QT, *DATABASE), (), "what a view shows can be tested without it"),
    ("app.main_window.host_session", QT, ("PySide6.QtCore",), "time and signals, nothing to look at"),
    (
        "app.host",
        (*QT, *DATABASE, "app.storage"),
        (),
        "a run has guests other than a window, and any recorder",
    ),
    ("app.serve", (*QT, *DATABASE, "app.storage"), (), "SQL clients are guests of a run without a window"),
    ("app.classroom", QT, (), "a class is held and attended without a window"),
    (
        "app.widgets",
        ("app.host", "app.storage", "app.views", "app.main_window", "app.cli", "app.__main__", *DATABASE),
        (),
        "a part of Qt is given what it shows",
    ),
    (
        "app.views",
        ("app.host", "app.storage", "app.main_window", "app.cli", "app.__main__", *DATABASE),
        (),
        "a view shows what it is given and sends wishes out",
    ),
)

ALLOWED_IMPORTERS = (
    # Columns: package, packages that may import it.
    ("app.views", ("app.views", "app.main_window", "app.__main__")),
    ("app.main_window", ("app.__main__",)),
)

MODULES_FORBIDDEN_IN_ENGINE = {
    "time": "the wall clock",
    "random": "engine.random_streams is the stream that a fork carries along",
    "secrets": "engine.random_streams is the stream that a fork carries along",
    "uuid": "names depend on the run alone",
    "numpy.random": "engine.random_streams is the stream that a fork carries along",
    "os": "the machine",
    "io": "files",
    "pathlib": "files",
    "shutil": "files",
    "tempfile": "files",
    "socket": "the network",
    "subprocess": "other processes",
    "multiprocessing": "other processes",
    "threading": "its order is not reproducible",
    "asyncio": "its order is not reproducible",
}
"""Modules that would make a run depend on more than the scenario, the seed and the inputs."""

LIBRARY_LOADERS = ("engine.flow.compiled.loader", "engine.flow.compiled.loader")
"""The only engine modules that may inspect the machine. The libraries that they load give the same bits as
plain Python.
"""

IN_MEMORY_MEMBERS = {"io.BytesIO"}
"""Members of NOT_IN_THE_ENGINE modules that access no file."""


def find_modules(*packages: str) -> dict[str, Path]:
    """Return dotted name -> file of every module of *packages*."""
    paths = {}
    for file in sorted(path for package in packages for path in (ROOT / package).rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return paths


@lru_cache(maxsize=1)
def find_all_imports(tree: ast.Module) -> tuple[str, ...]:
    """Return all imports of a module, including `import_module` with a literal name.

    `from a import b` counts as `a.b`, which may be a module.
    """
    return tuple(_find_imports(tree))


@cache
def list_imports(name: str) -> tuple[str, ...]:
    return find_all_imports(parse_source(CODE_MODULES[name]))


def _find_imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here, so that the walls can be read"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            match node:
                case ast.Call(
                    func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                    args=[ast.Constant(value=str(name)), *_],
                ):
                    yield name


def belongs_to_any(name: str, parts: Iterable[str]) -> bool:
    return any(name == part or name.startswith(f"{part}.") for part in parts)


def get_layer(name: str) -> int | None:
    return next((number for number, row in enumerate(ENGINE_LAYERS) if belongs_to_any(name, row)), None)


def find_part(name: str) -> str | None:
    return next((part for row in ENGINE_LAYERS for part in row if belongs_to_any(name, [part])), None)


LOADER_IMPORTERS: Final = ("engine.flow.compiled", "engine.flow.compiled.loader", "app.main_window.start")
"""Modules that may import the modules of READS_LIBRARIES."""


def find_layer_breaches(name: str, tree: ast.Module) -> list[str]:
    own_layer = get_layer(name)
    if own_layer is None:
        return [f"{name} has no row in ENGINE_LAYERS"]
    breaches = []
    for imported in find_all_imports(tree):
        theirs = get_layer(imported)
        if theirs is not None and find_part(imported) != find_part(name) and theirs >= own_layer:
            breaches.append(f"{name} imports {imported}")
    return breaches


def find_import_breaches(name: str, tree: ast.Module) -> list[str]:
    breaches = []
    for importer, forbidden, allowed, reason in FORBIDDEN_IMPORTS:
        if belongs_to_any(name, [importer]):
            violations = [
                module
                for module in find_all_imports(tree)
                if belongs_to_any(module, forbidden) and not belongs_to_any(module, allowed)
            ]
            breaches += [f"{name} imports {module}: {reason}" for module in violations]
    if name not in LOADER_IMPORTERS:
        breaches += [
            f"{name} imports {module}"
            for module in find_all_imports(tree)
            if belongs_to_any(module, LIBRARY_LOADERS)
        ]
    for what_is_used, users in ALLOWED_IMPORTERS:
        if not belongs_to_any(name, [what_is_used, *users]):
            breaches += [
                f"{name} imports {module}"
                for module in find_all_imports(tree)
                if belongs_to_any(module, [what_is_used])
            ]
    return breaches


def find_view_breaches(name: str, tree: ast.Module) -> list[str]:
    """Return the imports of other views by the view *name*."""
    if not name.startswith("app.views."):
        return []
    me = ".".join(name.split(".")[:3])
    return [
        f"{name} imports {module}"
        for module in find_all_imports(tree)
        if belongs_to_any(module, ["app.views"]) and not belongs_to_any(module, [me])
    ]


def find_reproducibility_breaches(name: str, tree: ast.Module) -> list[str]:
    """Return the expressions that would make a run depend on the time or the machine."""
    breaches = [
        f"{name} imports {imported}: {reason}"
        for imported in set(find_all_imports(tree)) - IN_MEMORY_MEMBERS
        for module, reason in MODULES_FORBIDDEN_IN_ENGINE.items()
        if belongs_to_any(imported, [module]) and name not in LIBRARY_LOADERS
    ]
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="open" | "input" | "eval" | "exec" | "hash" as function)):
                breaches.append(f"{name}:{node.lineno} calls {function}()")
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Name("datetime" | "date"), attr="now" | "today" | "utcnow" as function
                )
            ):
                breaches.append(f"{name}:{node.lineno} calls {function}(): the wall clock")
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"):
                breaches.append(f"{name}:{node.lineno} uses numpy.random")
            case ast.Call(func=ast.Attribute(value=ast.Name(id="sqlite3"), attr="connect"), args=args):
                if not (args and isinstance(args[0], ast.Constant) and args[0].value == ":memory:"):
                    breaches.append(f"{name}:{node.lineno} opens a database file")
    return breaches


MIRRORING_STATE_READERS: Final = ("engine.mirroring", "engine.model", "engine.tsql.catalog.mirroring")
"""Modules that may read a server's knowledge of its session: mirroring, the world, and the catalog view."""


def find_policy_breaches(name: str, tree: ast.Module) -> list[str]:
    """Return the places that access only one kind of group.

    `engine.protocol.group_policies` provides role, state and leader of all kinds.
    """
    if belongs_to_any(name, MIRRORING_STATE_READERS):
        return []
    return [
        f"{name}:{node.lineno} reads the state of mirroring; ask the policy of the group"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "mirroring"
    ]


def find_breaches(name: str, tree: ast.Module) -> list[str]:
    breaches = find_import_breaches(name, tree) + find_view_breaches(name, tree)
    if name.startswith("engine."):
        breaches += (
            find_layer_breaches(name, tree)
            + find_reproducibility_breaches(name, tree)
            + find_policy_breaches(name, tree)
        )
    return breaches


CODE_MODULES = find_modules("app", "engine")
DATA_MODULES = find_modules("scenarios", "assets")


@pytest.mark.parametrize("name", CODE_MODULES)
def test_modules_respect_the_layers(name: str) -> None:
    assert find_breaches(name, parse_source(CODE_MODULES[name])) == []


@pytest.mark.parametrize("name", DATA_MODULES)
def test_data_folders_contain_no_code(name: str) -> None:
    statements = parse_source(DATA_MODULES[name]).body
    assert all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in statements)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("engine.model", "from engine import simulator"),
        ("engine.flow.link", "import engine.model as m"),
        ("engine.flow.link", "from engine.events import Event"),
        ("engine.mirroring.roles", "def f():\n    from engine.tsql.catalog import rows"),
        ("engine.mirroring.roles", "from app.words.formatting import kb"),
        ("engine.drill.running.questions", "if TYPE_CHECKING:\n    from PySide6.QtCore import QObject"),
        ("engine.newcomer", ""),
        ("engine.drill.running.questions", "import numpy.random"),
        ("engine.drill.running.questions", "x = np.random.default_rng()"),
        ("engine.drill.running.questions", "from time import monotonic"),
        ("engine.drill.running.questions", "x = datetime.now()"),
        ("engine.drill.running.questions", "open('x')"),
        ("engine.flow.advance", "import os"),
        ("engine.flow.advance", "from engine.flow.compiled import loader"),
        ("engine.tsql.select", "sqlite3.connect('file')"),
        ("engine.protocol.options", "copy.mirroring.role is Role.MIRROR"),
        ("app.storage.runs", "import PySide6"),
        ("app.main_window.host_session", "from PySide6.QtGui import QAction"),
        ("app.main_window.host_session", "from PySide6 import QtWidgets"),
        ("app.views.console", "from app.main_window.host_session import Session"),
        ("app.views.console", "from app.views.topology import Node"),
        ("app.cli.runs", "import app.views.console"),
    ],
)
def test_a_violation_is_found(name: str, source: str) -> None:
    assert find_breaches(name, ast.parse(source))


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("engine.flow.link", "from engine.flow.disks import write\nfrom engine.constants import TICKS_PER_S"),
        ("engine.drill.running.questions", "import engine.simulator, math\nfrom engine.model import World"),
        ("engine.tsql.select", "sqlite3.connect(':memory:')"),
        ("engine.mirroring.roles", "copy.mirroring.role"),
        ("engine.drill.par.candidate_actions", "from engine.mirroring import settings"),
        (
            "app.main_window.host_session",
            "from PySide6.QtCore import QObject, Signal\nfrom PySide6 import QtCore",
        ),
        ("app.views.console.query", "from app.views.console.results import Grid\nimport engine.events"),
        (
            "app.main_window",
            "from app.views.console import Console\nfrom app.main_window.host_session import Session",
        ),
    ],
)
def test_an_allowed_import_passes(name: str, source: str) -> None:
    assert find_breaches(name, ast.parse(source)) == []


IMPORT_SCRIPT = """
import sys, importlib, importlib.abc, pkgutil
blocked, wanted = sys.argv[1].split(), sys.argv[2].split()
class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in blocked:
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocker())
for name in wanted:
    module = importlib.import_module(name)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), name + "."):
        importlib.import_module(found.name)
"""


@pytest.mark.parametrize(
    ("blocked", "imported_modules"),
    [
        ((*QT, *DATABASE, "app"), "engine"),
        (QT, "app.storage"),
        ((*DATABASE, "pyqtgraph", "numpy", "pydantic", "lark", "sqlglot"), "app.main_window.start"),
    ],  # The module `start` comes last, because the start page appears before the slow imports.
)
def test_imports_do_not_need_blocked_packages(blocked: tuple[str, ...], imported_modules: str) -> None:
    command = [sys.executable, "-c", IMPORT_SCRIPT, " ".join(blocked), imported_modules]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


# --- import cycles ------------------------------------------------------------------------------------------


def find_cycles(code: Mapping[str, tuple[str, ...]]) -> list[set[str]]:
    """Return the import cycles of modules. Imports for types alone count, too."""
    graph = {
        name: {
            module if module in code else module.rpartition(".")[0]
            for module in imported
            if {module, module.rpartition(".")[0]} & code.keys()
        }
        - {name}
        for name, imported in code.items()
    }
    reached: dict[str, set[str]] = {}
    for name in graph:
        reached_modules: set[str] = set()
        waiting = [name]
        while waiting:
            new = graph[waiting.pop()] - reached_modules
            reached_modules |= new
            waiting += new
        reached[name] = reached_modules
    rings = {
        frozenset(
            {module, *(other_module for other_module in reached[module] if module in reached[other_module])}
        )
        for module in graph
    }
    return [set(ring) for ring in rings if len(ring) > 1]


def test_an_import_cycle_is_found() -> None:
    code = {
        "a": ast.parse("from b import x"),
        "b": ast.parse("if TYPE_CHECKING:\n    import c"),
        "c": ast.parse("def later():\n    importlib.import_module('a')"),
        "d": ast.parse("import a"),
    }
    assert find_cycles({name: find_all_imports(tree) for name, tree in code.items()}) == [{"a", "b", "c"}]


def test_no_module_is_in_an_import_cycle() -> None:
    assert [sorted(ring) for ring in find_cycles({name: list_imports(name) for name in CODE_MODULES})] == []


ROOT_MODULES_MAX = 8


def test_the_program_root_contains_only_entry_points() -> None:
    loose = sorted(path.name for path in (ROOT / "app").glob("*.py"))
    assert len(loose) <= ROOT_MODULES_MAX, loose


def count_code_lines(path: Path) -> int:
    """Count the lines of a module without its docstrings, because a clear explanation must not cost code."""
    docstrings = [
        node.value
        for node in ast.walk(parse_source(path))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    documented = sum(node.end_lineno - node.lineno + 1 for node in docstrings if node.end_lineno)
    return path.read_bytes().count(b"\n") - documented


def test_no_module_has_more_than_600_lines_without_docstrings() -> None:
    """Only the kernel is longer, because the translation to C needs it as one module."""
    lengths = {name: count_code_lines(path) for name, path in find_modules("app", "engine").items()}
    assert [name for name, length in lengths.items() if length > LINES_MAX] == ["engine.flow.kernel"]
