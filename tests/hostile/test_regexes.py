"""Tests that no regular expression of the program takes more than linear time for any text.

The patterns come from the source of engine/ and app/. Texts repeat parts of the pattern, and end with text
that does not match. A slow search is compared with a search in a text four times as long. Linear searches
take four times the processor time, quadratic searches sixteen times.
"""

from __future__ import annotations

import ast
import itertools
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RE_FUNCTIONS = ("compile", "search", "match", "fullmatch", "sub", "split", "findall", "finditer")
TEXT_LENGTHS = (60, 250, 1_000)
"""Lengths of the texts, each about four times the previous one. Cubic patterns fail before they take seconds."""
SLOW_SEARCH_S = 0.0005
"""Processor time above which a search is slow: twelve times that of a linear search of a thousand characters."""
TIME_GROWTH_MAX = 9.0
"""Maximum ratio of processor times for a text four times as long, between linear (4) and quadratic (16)."""
REPETITIONS = 5
"""Number of repetitions of a search. The shortest time counts."""
TEXT_ENDS = ("", "\x00", "x")

SHORT_TEXT_PATTERNS = {
    r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file": "what the linker says of our own child",
    r"\*\s+(\w+)\s+$": "the hundred characters of context that sqlglot gives with an error",
    r"^\s*SELECT\s+.*?\s+FROM\s+DATABASE_MIRRORING_STATE_CHANGE\b(?:\s+WHERE\s+(?P<where>.*))?$": "WQL_MAX",
}
"""Pattern that never processes a long text -> reason."""


@cache
def read_sources() -> dict[str, str]:
    """Return the text of each module by its path."""
    paths = sorted([*(ROOT / "engine").rglob("*.py"), *(ROOT / "app").rglob("*.py")])
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@cache
def _find_uses_everywhere() -> defaultdict[str, set[str]]:
    return _find_uses(read_sources().values())


def find_patterns(path: str) -> Iterator[tuple[int, str, int, frozenset[str]]]:
    """Yield (line, pattern, flags, functions that use it) for every literal pattern that a module passes to `re`."""
    nodes = list(ast.walk(ast.parse(read_sources()[path])))
    names = {
        id(node.value): ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call)
    }
    uses_here = _find_uses([read_sources()[path]])
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = node.func.value
        if not (isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in RE_FUNCTIONS):
            continue
        pattern = _get_literal(node.args[0])
        flags = 0
        for word in ("IGNORECASE", "DOTALL", "MULTILINE", "VERBOSE", "ASCII"):
            flags |= getattr(re, word) if f"re.{word}" in ast.unparse(node) else 0
        name = names.get(id(node), "")
        used = (uses_here if name[:1] == "_" else _find_uses_everywhere())[name]
        if pattern is not None:
            functions = {node.func.attr} if node.func.attr != "compile" else used or {"search"}
            yield node.lineno, pattern, int(flags), frozenset(functions)


def _find_uses(sources: Iterable[str]) -> defaultdict[str, set[str]]:
    """Return name of a pattern -> functions of CALLS that are called on it."""
    uses = defaultdict(set)
    for source in sources:
        for name, function in re.findall(rf"\b(\w+)\.({'|'.join(RE_FUNCTIONS)})\(", source):
            uses[name].add(function)
    return uses


def _get_literal(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):  # The inserted parts are words of the program.
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "word" for part in node.values)
    return None


FILES_WITH_PATTERNS = [path for path, text in read_sources().items() if re.search(r"\bre\b", text)]


def list_seeds(pattern: str) -> Iterator[str]:
    """Yield short texts to repeat: literal characters, words, and members of the classes in the pattern."""
    signs = dict.fromkeys("".join(re.sub(r"\\[a-zA-Z]", "", pattern)))
    yield from (sign for sign in signs if not sign.isalnum() or sign in "aeNnTx")
    yield from (
        "a",
        "1",
        "0",
        " ",
        "\n",
        "a.",
        "1,",
        "a ",
        "''",
        "/*x",
        "[[",
        "<a",
        "-1",
        "\\\\",
        "FOR UPDATE ",
    )
    yield from ("a://", "${", "$(")
    yield from re.findall(r"[A-Za-z]{2,}", pattern)
    for word in re.findall(r"[A-Za-z]{2,}", pattern)[:4]:
        yield f"{word} "


def _repeat_text(start: str, seed: str, end: str, length: int) -> str:
    return start + seed * (length // len(seed)) + end


def _measure_time_s(search: Callable[[str], object], text: str) -> float:
    before = time.thread_time()
    search(text)
    return time.thread_time() - before


def find_slow_text(
    pattern: re.Pattern[str], functions: Iterable[str] = ("search", "fullmatch")
) -> str | None:
    """Return a description of a text that takes more than linear time, or None if there is no such text."""
    known_methods = {name if name in ("match", "fullmatch") else "search" for name in functions}
    words = re.findall(r"[A-Za-z]{2,}|[%<'\"(\[#*/!$:-]", pattern.pattern)
    starts = dict.fromkeys(("", "1", "a(", *words[:4]))
    for seed in dict.fromkeys(list_seeds(pattern.pattern)):
        for start, end, name in itertools.product(starts, TEXT_ENDS, sorted(known_methods)):
            if _is_superlinear(getattr(pattern, name), partial(_repeat_text, start, seed, end)):
                return f"{start!r} + {seed!r} * n + {end!r} ({name})"
    return None


def _is_superlinear(search: Callable[[str], object], texts: Callable[[int], str]) -> bool:
    """Return whether the first slow text takes far less than a quarter of the time of the next longer text."""
    for length in TEXT_LENGTHS:
        if _measure_time_s(search, texts(length)) > SLOW_SEARCH_S:
            base_s, longer = (
                min(_measure_time_s(search, texts(repetitions)) for _ in range(REPETITIONS))
                for repetitions in (length, 4 * length)
            )
            return base_s > SLOW_SEARCH_S / 2 and longer > TIME_GROWTH_MAX * base_s
    return False


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s*(\d+)?\s*(s|min)?\s*\Z",
        r"\w+\s*\w*\s*,x",
        r"<\s*([^,<>\n]+?)\s*,\s*([^<>]*?)\s*>",
        r"\[[^]\n]*\\[^]\n]*]",
    ],
)
def test_slow_patterns_are_found(pattern: str) -> None:
    assert find_slow_text(re.compile(pattern))


@pytest.mark.parametrize("path", FILES_WITH_PATTERNS)
def test_every_pattern_runs_in_linear_time(path: str) -> None:
    problems = [
        (line, text)
        for line, pattern, flags, functions in find_patterns(path)
        if pattern not in SHORT_TEXT_PATTERNS
        and (text := find_slow_text(re.compile(pattern, flags), functions))
    ]
    assert not problems


def test_most_modules_with_patterns_write_them_as_literals() -> None:
    assert (
        sum(bool(list(find_patterns(path))) for path in FILES_WITH_PATTERNS[::8])
        > len(FILES_WITH_PATTERNS) // 16
    )
