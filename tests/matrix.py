"""Test that every drill has the same state, to the bit, on every Python, SQLite, locale and kernel of this
machine.

    python -m tests.matrix             play each drill's solution in every variant, and compare the variants
    python -m tests.matrix --together --sample --until 60   as in `make test`: 60 s of the drills that once
    differed,
                                       with several traits in one run
    python -m tests.matrix --play      print the hashes of this one variant as JSON

The script creates environments for other Pythons once, from requirements-dev.lock, in build/matrix.
"""

from __future__ import annotations

import argparse
import functools
import json
import locale
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
ENVIRONMENTS_FOLDER: Final = ROOT / "build" / "matrix"
COMPILED_LOCALES: Final = ROOT / "build" / "locales"
"""Locales compiled by .ci/prepare."""
SECOND_SQLITE: Final = "pysqlite3"
SECOND_SQLITE_REQUIREMENT: Final = "pysqlite3-binary==0.5.4.post2"
ENGINE_PACKAGES: Final = (
    "numpy", "msgspec", "lark", "sqlglot", "pydantic", "pydantic-core", "annotated-types",
    "typing-extensions", "typing-inspection", "tomlkit",
)  # fmt: skip
"""Packages that the engine imports, with their dependencies."""

LOCALES: Final = ("de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.UTF-8")
PYTHONS: Final = ("python3.11", "python3.12", "python3.13", "python3.14")
SAMPLE_DRILLS: Final = (
    "false-failovers", "index-rebuild", "link-too-thin", "log-compression", "random-trouble-hard", "redo-queue",
    "shutdown-nowait", "stop-service-failover", "wrong-port",
)  # fmt: skip
"""Drills whose states once differed, because of floating-point sums of Python or work counts of SQLite."""
PIP: Final = (
    "-m",
    "pip",
    "install",
    "-q",
    "--disable-pip-version-check",
    "--no-compile",
    "--retries=0",
    "--timeout=10",
)
INSTALL_S_MAX: Final = 120.0
"""Time limit for installing the packages of one Python, which normally takes a second."""
PLAIN_KERNEL: Final = {"MIRRORDRILL_KERNEL": "python"}


@dataclass(frozen=True, slots=True)
class Variant:
    """Combination of Python, SQLite, locale and kernel that runs the engine."""

    name: str
    python: str
    environment: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()


# --- one variant ----------------------------------------------------------------------------------------


def play_drills(until_s: float | None, sample: bool) -> dict[str, str]:
    """Return name of a drill -> state hash at the end of its solution. *sample*: play only the drills of
    SAMPLE.
    """
    from engine.drill.authoring.scenario import load_scenario
    from engine.drill.running.drill import Drill
    from engine.drill.running.solution import play_solution_in_slices
    from engine.model import to_ticks

    hashes = {}
    paths = sorted((ROOT / "scenarios").glob("*.toml"))
    for path in paths if not sample else [ROOT / "scenarios" / f"{name}.toml" for name in SAMPLE_DRILLS]:
        drill = Drill(load_scenario(path.read_text(encoding="utf-8"), path.name))
        for _ in play_solution_in_slices(drill):
            if until_s is not None and drill.tick >= to_ticks(until_s):
                break
        hashes[path.stem] = f"{drill.compute_state_hash()} at {drill.tick}"
    return hashes


def _play_in_process(options: argparse.Namespace) -> None:
    if options.sqlite:
        _replace_sqlite(options.sqlite)
    if options.locale:
        locale.setlocale(locale.LC_ALL, options.locale)  # Set the locale, as Qt does for the window.
    import sqlite3

    result = {"python": sys.version.split()[0], "sqlite": sqlite3.sqlite_version}
    print(json.dumps({**result, "hashes": play_drills(options.until, options.sample)}))


def _replace_sqlite(name: str) -> None:
    """Replace sqlite3 by another package, which lacks some constants and limits that the engine uses."""
    import sqlite3

    module = __import__(name)
    for constant in filter(str.isupper, dir(sqlite3)):
        if not hasattr(module, constant):
            setattr(module, constant, getattr(sqlite3, constant))

    class Connection(module.Connection):  # type: ignore[name-defined,misc]
        def setlimit(self, category: int, limit: int) -> int:
            return limit

    vars(module)["connect"] = functools.partial(vars(module)["connect"], factory=Connection)
    sys.modules["sqlite3"] = module


# --- whole matrix ---------------------------------------------------------------------------------------


def combine_variants() -> list[Variant]:
    """Return variants that together have all traits, one for each Python, for a quick check."""
    all_variants = list(list_variants())
    locales = [variant for variant in all_variants if "--locale" in variant.options]
    second = [variant for variant in all_variants if "--sqlite" in variant.options]
    pythons = [variant for variant in all_variants[1:] if variant not in locales + second]
    own_variant, joined = all_variants[0], []
    for place in range(max(len(pythons), len(locales), len(second))):
        variant_parts = [list_[place] for list_ in (pythons, locales, second) if place < len(list_)]
        python = next((v.python for v in variant_parts if "--sqlite" in v.options), variant_parts[0].python)
        environment = {
            name: value for variant in variant_parts for name, value in variant.environment.items()
        }
        options = tuple(option for variant in variant_parts for option in variant.options)
        joined.append(Variant(" + ".join(v.name for v in variant_parts), python, environment, options))
    return [own_variant, *joined]


def list_variants() -> Iterator[Variant]:
    """Yield the variants that can run on this machine, and print the others."""
    own_version = f"{sys.version_info.major}.{sys.version_info.minor}"
    yield Variant(f"Python {own_version}", sys.executable)
    yield Variant(f"Python {own_version}, plain kernel", sys.executable, PLAIN_KERNEL)
    with ThreadPoolExecutor() as pool:
        environments = list(pool.map(find_environment, find_pythons()))
    for environment in filter(None, environments):
        yield Variant(f"Python {Path(environment).parents[1].name}", environment)
    second_python = _find_second_sqlite()
    if second_python is not None:
        yield Variant("another SQLite", second_python, options=("--sqlite", SECOND_SQLITE))
    for name in LOCALES:
        if _has_locale(name):
            yield Variant(f"locale {name}", sys.executable, {"LC_ALL": name}, ("--locale", name))
        else:
            print(f"not here: locale {name}")


def find_pythons() -> Iterator[str]:
    """Yield one interpreter of each other Python version, from the PATH and from pyenv."""
    versions_seen = {sys.version_info[:2]}
    places = [shutil.which(name) for name in PYTHONS]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places += [str(path) for path in sorted(pyenv.glob("3.*/bin/python"))]
    for place in filter(None, places):
        code = "import sys, venv, sqlite3; print(*sys.version_info[:2])"
        process = subprocess.run([place, "-c", code], capture_output=True, text=True, check=False)
        major, minor = map(int, process.stdout.split()) if process.returncode == 0 else (0, 0)
        version = (major, minor)
        if version >= (3, 11) and version not in versions_seen:
            versions_seen.add(version)
            yield place


def find_environment(python: str) -> str | None:
    try:
        return _create_environment(python)
    except (subprocess.SubprocessError, OSError) as problem:
        print(f"not here: packages for {python} ({problem})")
        return None


def _create_environment(python: str) -> str:
    """Create an environment of *python* with the locked packages of the engine, and return its interpreter."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    name = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    folder = ENVIRONMENTS_FOLDER / name
    python_file = folder / "bin" / "python"
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    wanted = "".join(entry for entry in _list_entries(lock) if entry.split("==")[0] in ENGINE_PACKAGES)
    listed = folder / "needed.txt"
    if not listed.exists() or listed.read_text(encoding="utf-8") != wanted:
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True, capture_output=True)
        answer_file = folder / "asked.txt"
        answer_file.write_text(wanted, encoding="utf-8")
        install = [str(python_file), *PIP, "--require-hashes", "--no-deps", "-r", str(answer_file)]
        subprocess.run(install, check=True, capture_output=True, timeout=INSTALL_S_MAX)
        answer_file.rename(listed)
    return str(python_file)


def _list_entries(lock: str) -> Iterator[str]:
    """Yield the entry of each package in a lock file, with its hashes."""
    entry = ""
    for line in lock.splitlines(keepends=True):
        if line[:1].isalnum() and entry:
            yield entry
            entry = ""
        if not line.startswith("#"):
            entry += line
    yield entry


def _find_second_sqlite() -> str | None:
    """Return an interpreter with a second SQLite. Without one, print a message and return None."""
    folder = ENVIRONMENTS_FOLDER / "sqlite"
    python_file = folder / "bin" / "python"
    look = [str(python_file), "-c", f"import numpy, {SECOND_SQLITE}"]
    try:
        if not python_file.exists() or subprocess.run(look, capture_output=True, check=False).returncode != 0:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
            packages = Path(sysconfig.get_path("purelib"))
            packages_link = folder / "lib" / packages.parent.name / "site-packages"
            (packages_link / "packages.pth").write_text(f"{packages}\n", encoding="utf-8")
            install = [str(python_file), *PIP, "--no-deps", "--only-binary=:all:", SECOND_SQLITE_REQUIREMENT]
            subprocess.run(install, check=True, capture_output=True, timeout=INSTALL_S_MAX)
    except (subprocess.SubprocessError, OSError) as problem:
        print(f"not here: a second SQLite ({problem})")
        return None
    return str(python_file)


def _has_locale(name: str) -> bool:
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    finally:
        locale.setlocale(locale.LC_ALL, before)
    return True


def _run_variant(variant: Variant, until_s: float | None, sample: bool) -> dict[str, object]:
    command = [variant.python, "-m", "tests.matrix", "--play", *variant.options]
    if until_s is not None:
        command += ["--until", str(until_s)]
    if sample:
        command.append("--sample")
    surroundings = {**os.environ, **variant.environment}
    process = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=surroundings, check=False)
    if process.returncode != 0:
        raise SystemExit(f"{variant.name}: {process.stderr[-2000:]}")
    answer: dict[str, object] = json.loads(process.stdout.splitlines()[-1])
    return answer


def compare_variants(until_s: float | None, sample: bool, selected: list[Variant]) -> int:
    """Play the variants, and print their traits and differences. Return 1 if there are differences."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        answers = list(pool.map(lambda variant: _run_variant(variant, until_s, sample), selected))
    first = answers[0]["hashes"]
    assert isinstance(first, dict)
    parted = 0
    for variant, answer in zip(selected, answers, strict=True):
        hashes = answer["hashes"]
        assert isinstance(hashes, dict)
        different_names = [name for name in first if hashes.get(name) != first[name]]
        parted += len(different_names)
        verdict = (
            f"{len(first)} drills the same"
            if not different_names
            else f"other hashes: {', '.join(different_names)}"
        )
        print(f"{variant.name} (Python {answer['python']}, SQLite {answer['sqlite']}): {verdict}")
    return int(bool(parted))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--play", action="store_true")
    parser.add_argument("--until", type=float, metavar="SECONDS")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--locale")
    parser.add_argument("--sqlite")
    options = parser.parse_args()
    if options.play:
        _play_in_process(options)
        return 0
    ENVIRONMENTS_FOLDER.mkdir(parents=True, exist_ok=True)
    if COMPILED_LOCALES.exists():
        # This setting applies to the C library in this process and its children.
        os.environ["LOCPATH"] = str(COMPILED_LOCALES)
    return compare_variants(
        options.until, options.sample, combine_variants() if options.together else list(list_variants())
    )


if __name__ == "__main__":
    sys.exit(main())
