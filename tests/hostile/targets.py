"""Fuzzing targets: each accepts any text or bytes, and answers or refuses them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from app.files import bundle, run_files
from app.files.bundle import BundleError
from app.files.run_files import RunFileError
from engine import simulator, tsql
from engine.drill.authoring import conditions, limits
from engine.drill.authoring.condition_context import ConditionNames
from engine.drill.authoring.conditions import ConditionError
from engine.drill.authoring.problems import FileProblem, ScenarioError
from engine.drill.authoring.scenario import load_scenario
from engine.inputs import InputError
from engine.verbs.input_lines import parse_input_line, parse_script
from tests.engine.drill.texts import WORLD_TEXT
from tests.engine.worlds import build_lab
from tests.hostile.bundles import ArchiveEntry, build_archive, build_manifest

NAMES: Final = ConditionNames(("Sales",), ("SERVER_A", "SERVER_B", "SERVER_W"), ("APP",))


def parse_scenario(text: str) -> None:
    """Parse *text* as a whole file, and as a fragment that follows a valid file."""
    for scenario_text in (text, f"{WORLD_TEXT}\n{text}"):
        problems: tuple[FileProblem, ...] = ()
        try:
            load_scenario(scenario_text, "fuzzed.toml")
        except ScenarioError as refused:
            problems = refused.problems
        assert len(problems) <= limits.PROBLEMS_MAX + 1


def parse_condition(text: str) -> None:
    column = 1
    try:
        conditions.parse(text, NAMES)
    except ConditionError as refused:
        column = refused.column
    assert 1 <= column <= len(text) + 1


def apply_lines(text: str) -> None:
    """Parse a file of input lines, apply the valid lines, and parse them again as written."""
    inputs, problems = parse_script(text)
    assert all(problem.startswith("line ") for problem in problems)
    world = build_lab(workload="none")
    for item in inputs[:5]:
        assert parse_input_line(item.line_without_time, item.tick).line_without_time == item.line_without_time
        with suppress(InputError):
            simulator.apply_input(world, item)
    simulator.advance_world(world, world.tick + 100)


def run_batch(text: str) -> None:
    world = build_lab(workload="none")
    tsql.submit_text(world, "SERVER_A", text)
    simulator.advance_world(world, 50)
    tsql.cancel_batches(world, "SERVER_A")
    simulator.advance_world(world, 51)
    assert "SERVER_A" not in world.batches


def read_archive(raw: bytes) -> None:
    """Read a file as a bundle."""
    parsed, problems = None, tuple[FileProblem, ...]()
    try:
        parsed = bundle.parse_bundle(raw, "fuzzed.mirrordrill")
    except BundleError as refused:
        problems = refused.problems
    assert len(problems) <= bundle.PROBLEMS_MAX + 1
    assert all("\n" not in problem.text and "\0" not in str(problem) for problem in problems)
    assert (parsed is None) == bool(problems)
    if parsed is not None:
        assert len(parsed.scenarios) + len(parsed.runs) == len(parsed.manifest.members)
        for text in parsed.scenarios.values():
            with suppress(ScenarioError):
                load_scenario(text, "fuzzed.toml")


def read_members(raw: bytes) -> None:
    """Read an archive with correct checksums.

    NUL bytes separate the members: name, content, name, content, and so on. If a content begins with "#", a
    correct `bundle.toml` that lists all other members precedes it.
    """
    parts = raw.split(b"\0")[:40]
    entries = [ArchiveEntry(name, content) for name, content in zip(parts[::2], parts[1::2], strict=False)]
    for entry in entries:
        if entry.name == bundle.MANIFEST_NAME.encode() and entry.content.startswith(b"#"):
            other_entries = [other_entry for other_entry in entries if other_entry.name != entry.name]
            entry.content = build_manifest(
                other_entries, f"format = 1\n{entry.content.decode('utf-8', 'replace')}\n"
            ).content
    read_archive(build_archive(entries))


def run_file(raw: bytes) -> None:
    """Read a recorded run."""
    with suppress(RunFileError):
        report, text = run_files.parse_run(raw, "fuzzed.json")
        assert isinstance(text, str)
        assert report["scenario"]


BYTES_TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "archive": read_archive,
    "members": read_members,
    "run_file": run_file,
}
TARGETS: Final[dict[str, Callable[[str], None]]] = {
    "scenario": parse_scenario,
    "condition": parse_condition,
    "lines": apply_lines,
    "batch": run_batch,
}
