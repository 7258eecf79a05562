"""Tests that the wheel contains every file that the program reads. A missing file would be noticed only after
installation.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import PySide6
import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "engine", "scenarios", "assets", "examples")
BUILD_SCRIPT = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def list_files(folder: Path) -> set[str]:
    paths = (path for package in PACKAGES for path in (folder / package).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in paths if "__pycache__" not in path.parts}


def test_the_wheel_holds_every_file_of_the_program(tmp_path: Path) -> None:
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    wheels.mkdir()
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    built = subprocess.run(
        [sys.executable, "-c", BUILD_SCRIPT, wheels], cwd=source, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = wheels.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == list_files(source)


MINIMUM_VERSIONS = {"sqlglot": (28, 1)}
"""Package -> minimum version with the required modules. The wheels of sqlglot 27.0 and 28.0 lack
`sqlglot.parsers`.
"""


def split_version(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def test_lower_bounds_are_working_versions() -> None:
    """No lower bound is above the locked version, or below the version that the program needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = dict(re.findall(r"^([a-z0-9-]+)>=([\d.]+)", "\n".join(project["dependencies"]), re.M))
    assert len(wanted) == len(project["dependencies"]), "each dependency has a lower bound"
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for name, lower_bound in wanted.items():
        locked = re.findall(rf"^{name}==([\d.]+)", lock, re.M | re.I)
        assert locked, name
        assert all(split_version(lower_bound) <= split_version(version) for version in locked), name
        assert split_version(lower_bound) >= MINIMUM_VERSIONS.get(name, ()), name


def read_lock_file(name: str) -> set[str]:
    """Return the packages in a lock file with their hashes."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return set(re.findall(r"^[a-z0-9].*\n(?:    .*\n?)*", text, re.M))


def test_users_and_developers_install_the_same_versions() -> None:
    users, developers = read_lock_file("requirements.lock"), read_lock_file("requirements-dev.lock")
    assert users < developers
    assert not any(re.match(r"(pytest|mypy|ruff|babel|hypothesis|pyodbc)\b", package) for package in users)


AVAILABLE_LIBRARIES = re.compile(r"lib(c|m|dl|pthread|gcc_s|stdc\+\+|z|zstd|gthread-2\.0)\.so")
"""Libraries that Python or its package manager already requires, and one library from the package of libglib."""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Qt's packages hold all that Qt needs")
def test_every_library_linked_by_qt_has_its_package() -> None:
    """`.ci/prepare` and the error message of `mirrordrill` use the same list of packages."""
    qt = Path(PySide6.__file__).parent / "Qt"
    linked: set[str] = set()
    for platform in ("xcb", "offscreen"):
        plugin = qt / "plugins" / "platforms" / f"libq{platform}.so"
        environment = {**os.environ, "LD_DEBUG": "files"}
        ldd_process = subprocess.run(
            ["ldd", plugin], env=environment, capture_output=True, text=True, check=True
        )
        linked |= set(
            re.findall(
                rf"file=(\S+) \[0\];  needed by {re.escape(str(qt.parent))}",
                ldd_process.stdout + ldd_process.stderr,
            )
        )
    system = {
        name for name in linked if not (qt / "lib" / name).exists() and not AVAILABLE_LIBRARIES.match(name)
    }
    listed = (ROOT / "app" / "qt_libraries.txt").read_text(encoding="utf-8").split()[1::2]
    assert "libglib-2.0.so.0" in system
    assert system <= set(listed)
