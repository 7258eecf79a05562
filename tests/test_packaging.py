"""The wheel holds every file that the program reads: a drill or a grammar left out shows only elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "engine", "scenarios", "assets", "examples")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def files(folder: Path) -> set[str]:
    found = (path for package in PACKAGES for path in (folder / package).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in found if "__pycache__" not in path.parts}


def test_the_wheel_holds_every_file_of_the_program(tmp_path: Path) -> None:
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    wheels.mkdir()
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    built = subprocess.run([sys.executable, "-c", BUILD, wheels], cwd=source, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (wheel,) = wheels.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == files(source)


NEEDED = {"sqlglot": (28, 1)}
"""Least versions that have what the program imports: the wheels of sqlglot 27.0 and 28.0 lack `sqlglot.parsers`."""


def parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def test_lower_bounds_are_versions_that_can_work() -> None:
    """None is above what the lock installs, and none below what the program needs of that package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = dict(re.findall(r"^([a-z0-9-]+)>=([\d.]+)", "\n".join(project["dependencies"]), re.M))
    assert len(wanted) == len(project["dependencies"]), "each dependency has a lower bound"
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for name, bound in wanted.items():
        locked = re.findall(rf"^{name}==([\d.]+)", lock, re.M | re.I)
        assert locked, name
        assert all(parts(bound) <= parts(version) for version in locked), name
        assert parts(bound) >= NEEDED.get(name, ()), name
