"""Type check for each other supported Python of this machine with its locked packages: `python -m
tests.python_types`.

Other Pythons have other versions of numpy with other stubs. All other packages come from the current
environment.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

from tests.matrix import ENVIRONMENTS_FOLDER, ROOT, find_environment, find_pythons

SUPPORTED_VERSIONS: Final = ((3, 11), (3, 12), (3, 13))


def create_environment(python: str) -> Path:
    """Create an environment that lists the packages of *python* before those of the developers, and return
    its path.

    Mypy reads both.
    """
    folder = ENVIRONMENTS_FOLDER / f"types-{Path(python).parents[1].name}"
    python_file = folder / "bin" / "python"
    if not python_file.exists():
        subprocess.run([python, "-m", "venv", "--without-pip", "--clear", folder], check=True)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    folders = [
        subprocess.run([interpreter, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
        for interpreter in (str(python_file), python)
    ]
    listed = f"{folders[1]}\n{sysconfig.get_path('purelib')}\n"
    (Path(folders[0]) / "packages.pth").write_text(listed, encoding="utf-8")
    return python_file


def check_types(python: str, name: str) -> bool:
    """Run mypy for *python* and print its result."""
    arguments = [
        f"--python-executable={create_environment(python)}",
        f"--python-version={name}",
        f"--cache-dir={ENVIRONMENTS_FOLDER / 'mypy'}",
    ]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    correct = result.returncode == 0
    print(
        f"types on Python {name}: {result.stdout.splitlines()[-1] if correct else result.stdout + result.stderr}"
    )
    return correct


def main() -> int:
    correct, checked = True, {sys.version_info[:2]}  # `make types` checks this version.
    for python in find_pythons():
        environment = find_environment(python)
        if environment is not None:
            name = Path(environment).parents[1].name
            checked.add((int(name.split(".")[0]), int(name.split(".")[1])))
            correct = check_types(environment, name) and correct
    for major, minor in sorted(set(SUPPORTED_VERSIONS) - checked):
        print(f"types on Python {major}.{minor}: not checked, this machine does not have it")
    return int(not correct)


if __name__ == "__main__":
    sys.exit(main())
