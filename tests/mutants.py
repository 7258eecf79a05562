"""Mutation test: change one place of the engine, and check that a test fails.

The command is `make mutants SHARE=0.02 SEED=1`. cosmic-ray defines the mutations (see the Makefile for its
version). The test writes no file: a child of this process imports the mutated module and runs the tests of
its package until one fails. `--quick` omits the slowest tests, so the full run may detect a surviving mutant.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import gc
import os
import random
import resource
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).parents[1]
COSMIC_RAY = ROOT / "build" / "cosmic-ray"
WORLD_TESTS = [
    "tests/engine/protocol",
    "tests/engine/mirroring",
    "tests/engine/availability/test_transcripts.py",
]
PACKAGE_TESTS = {
    "by hand": WORLD_TESTS,
    "engine/protocol": WORLD_TESTS,
    "engine/mirroring": WORLD_TESTS,
    "engine/flow": ["tests/engine/flow"],
}
PACKAGES = list(PACKAGE_TESTS)[1:]
SLOW_TESTS = [
    f"tests/engine/mirroring/test_{name}.py" for name in ("exploration", "odd_sequences", "quorum_patterns")
]
EQUIVALENT_OPERATORS = ("Decorator", "NoOp", "_Is_Eq", "_IsNot_NotEq", "_Eq_Is")
"""Suffixes of cosmic-ray operators without an effect here, because equal members of an enumeration are
identical.
"""
TESTS_CPU_S_MAX = 300
"""Maximum processor time of the tests of a package, which normally take a minute. A slower mutant counts as
detected.
"""
HAND_WRITTEN_MUTANTS = [  # Mutants that once survived every test: (file, original text, mutated text).
    ("engine/mirroring/failover.py", 'if kind == "manual" or failover.decided_tick is None:',
     'if kind != "manual" and failover.decided_tick is None:'),
    ("engine/protocol/streams.py", "generated_kb=max([world.flow.read_source_positions(source).flushed_kb, *received])",
     "generated_kb=world.flow.read_source_positions(source).generated_kb"),
    ("engine/protocol/clients.py", "drivers.compute_notice_delay_s(world, client, hung) if silent else",
     "drivers.compute_notice_delay_s(world, client, hung) if silent and not hung else"),
    ("engine/constants.py", "SHUTDOWN_AFTER_SERVICE_S: Final = 5.0", "SHUTDOWN_AFTER_SERVICE_S: Final = 50.0"),
]  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """Changed module of a package, with the line of the change."""

    package: str
    path: str
    line: int
    source: str

    def format_change(self) -> str:
        """Return the differing lines of the original and of the mutant."""
        before = (ROOT / self.path).read_text(encoding="utf-8").splitlines()
        lines = list(difflib.unified_diff(before, self.source.splitlines(), lineterm="", n=0))[2:]
        return " ".join(" ".join(line.split()) for line in lines if not line.startswith("@@"))


def find_untestable_positions(source: str) -> set[tuple[int, int]]:
    """Return the (line, column) positions whose change no test can detect: annotations, texts, `__repr__`."""
    spans: list[ast.expr | ast.stmt] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            spans += [node] if node.name == "__repr__" else [node.returns] if node.returns else []
        elif isinstance(node, (ast.arg, ast.AnnAssign)):
            spans += [node.annotation] if node.annotation else []
        elif isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            spans.append(node)
    lines = source.splitlines()
    return {
        (line, column)
        for span in spans
        for line in range(span.lineno, (span.end_lineno or span.lineno) + 1)
        for column in range(
            span.col_offset if line == span.lineno else 0,
            (span.end_col_offset or 0) if line == span.end_lineno else len(lines[line - 1]) + 1,
        )
    }


def list_mutants(path: str) -> Iterator[list[tuple[int, type, int]]]:
    """Yield the mutable places of a file. Each is a list of its mutants as (line, operator, occurrence)."""
    from cosmic_ray.ast import ast_nodes, get_ast_from_path
    from cosmic_ray.plugins import get_operator, operator_names

    nodes = list(ast_nodes(get_ast_from_path(ROOT / path)))
    untold = find_untestable_positions((ROOT / path).read_text(encoding="utf-8"))
    places: dict[tuple[int, int], list[tuple[int, type, int]]] = {}
    for name in operator_names():
        operator = get_operator(name)
        if operator.arguments() or name.endswith(EQUIVALENT_OPERATORS):
            continue
        starts = (start for node in nodes for start, _ in operator().mutation_positions(node))
        for occurrence, start in enumerate(starts):
            if start not in untold:
                places.setdefault(start, []).append((start[0], operator, occurrence))
    yield from (places[start] for start in sorted(places))


def sample_mutants(package: str, share: float, chance: random.Random) -> Iterator[Mutant]:
    """Yield one mutant for each place in a random *share* of the places of *package*."""
    from cosmic_ray.mutating import MutationVisitor

    files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / package).glob("*.py"))
    places = [(path, mutants) for path in files for mutants in list_mutants(path)]
    for path, mutants in chance.sample(places, max(1, round(share * len(places)))):
        line, operator, occurrence = chance.choice(mutants)
        source = (ROOT / path).read_text(encoding="utf-8")
        changed = MutationVisitor.mutate_code(source, operator(), occurrence)
        assert changed is not None
        yield Mutant(package, path, line, changed)


def list_hand_written() -> Iterator[Mutant]:
    for path, text, changed in HAND_WRITTEN_MUTANTS:
        source = (ROOT / path).read_text(encoding="utf-8")
        if source.count(text) != 1:
            raise SystemExit(f"{path}: expected {text!r} once; bring BY_HAND in tests/mutants.py up to date")
        line = source[: source.index(text)].count("\n") + 1
        yield Mutant("by hand", path, line, source.replace(text, changed))


def is_detected(mutant: Mutant | None, tests: list[str], output: Path) -> bool:
    """Return whether a test fails or does not terminate in a child process that imports *mutant*."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    code = 1
    try:
        with output.open("w", encoding="utf-8") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
            resource.setrlimit(resource.RLIMIT_CPU, (TESTS_CPU_S_MAX, TESTS_CPU_S_MAX))
            if mutant is not None:
                install_mutant(mutant)
            import pytest

            code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests])
            sys.stdout.flush()
    finally:
        os._exit(int(code))


def install_mutant(mutant: Mutant) -> None:
    """Make imports of the module return the mutant, and recompile it if it is the kernel."""
    load = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        if Path(loader.path) == ROOT / mutant.path:
            return compile(mutant.source, loader.path, "exec")
        return load(loader, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    if mutant.path.endswith("flow/kernel.py"):
        from engine.flow.compiled import loader

        loader.read_kernel_source = lambda: mutant.source
        loader.CACHE_FOLDERS = (Path(tempfile.mkdtemp(dir=ROOT / "build" / "mutants")),)


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    arguments.add_argument(
        "--share", type=float, default=0.02, help="of the places that can be changed, 0 to 1"
    )
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--quick", action="store_true", help="leave out the dearest tests")
    arguments.add_argument("--by-hand", action="store_true", help="only the mutants made by hand")
    arguments.add_argument("--package", choices=PACKAGES, action="append", help="one or more; without: all")
    arguments.add_argument(
        "--deselect", action="append", default=[], help="a test that fails without a mutant"
    )
    options_given = arguments.parse_args()
    sys.path.append(str(COSMIC_RAY))
    build = ROOT / "build" / "mutants"
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    os.environ |= {"HYPOTHESIS_STORAGE_DIRECTORY": str(build / "hypothesis"), "QT_QPA_PLATFORM": "offscreen"}
    leave_out = [f"--deselect={name}" for name in options_given.deselect]
    leave_out += [f"--ignore={path}" for path in SLOW_TESTS] if options_given.quick else []
    mutants = list(list_hand_written())
    if not options_given.by_hand:
        for package in options_given.package or PACKAGES:
            mutants += sample_mutants(
                package, options_given.share, random.Random(f"{options_given.seed} {package}")
            )

    import lark, numpy, pydantic, sqlglot  # noqa: E401, F401, I001 # imported once for all children

    gc.freeze()
    for tests in [WORLD_TESTS, PACKAGE_TESTS["engine/flow"]]:
        if tests in [PACKAGE_TESTS[mutant.package] for mutant in mutants] and is_detected(
            None, tests + leave_out, build / "none.txt"
        ):
            raise SystemExit(f"{' '.join(tests)} fails without a mutant: see {build / 'none.txt'}")
    counts: Counter[tuple[str, bool]] = Counter()
    for number, mutant in enumerate(mutants):
        killed = is_detected(mutant, PACKAGE_TESTS[mutant.package] + leave_out, build / f"{number}.txt")
        counts[mutant.package, killed] += 1
        if not killed:
            print(f"survived: {mutant.path}:{mutant.line}: {mutant.format_change()}", flush=True)
    print(f"{'package':<20}{'killed':>8}{'survived':>10}{'score':>8}")
    for package in dict.fromkeys(mutant.package for mutant in mutants):
        noted, unnoted = counts[package, True], counts[package, False]
        print(f"{package:<20}{noted:>8}{unnoted:>10}{noted / (noted + unnoted):>8.0%}")


if __name__ == "__main__":
    main()
