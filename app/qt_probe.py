"""Test in a separate process whether Qt can show windows here.

A separate process is needed, because Qt aborts without a message if it cannot show windows.
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from msgspec import Struct

PROBE_TIMEOUT_S: Final = 60.0
"""Time limit for starting Qt in the test. A cold start of Qt from a slow disk takes some seconds."""

LIBRARIES_FILE: Final = Path(__file__).with_name("qt_libraries.txt")
"""File with the Debian and Ubuntu packages that Qt's plugins need, and one library of each package.

`.ci/prepare` reads it, too.
"""


def format_install_advice(packages: str) -> str:
    """Return a sentence with the command that installs *packages*.

    The command also works on a machine that has neither sudo nor package lists.
    """
    install = f"apt-get update && apt-get install -y --no-install-recommends {packages}"
    return f"On Debian or Ubuntu: {'sudo sh' if shutil.which('sudo') else 'su'} -c '{install}'"


def find_missing_packages() -> str:
    """Return the Debian packages whose Qt libraries cannot be loaded, separated by spaces.

    If all libraries can be loaded, return all packages.
    """
    packages = [line.split() for line in LIBRARIES_FILE.read_text(encoding="utf-8").splitlines()]
    return " ".join(
        [package for package, library in packages if not _can_load(library)]
        or [package for package, _ in packages]
    )


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


_PROBE_PROGRAM: Final = """
import json
from PySide6.QtCore import qVersion
from PySide6.QtGui import QFontDatabase, QGuiApplication
application = QGuiApplication([])
found = {"qt": qVersion(), "platform": application.platformName(), "font_family_count": len(QFontDatabase.families())}
print(json.dumps(found))
"""


class QtProbeResult(Struct, frozen=True):
    """Result of starting Qt in another process. *problem* is a sentence, or None if Qt has started."""

    problem: str | None
    qt: str = ""
    platform: str = ""
    font_family_count: int = 0
    """Number of font families that Qt finds."""


def start_probe() -> subprocess.Popen[str]:
    """Start the test in another process, so that the caller can do other work meanwhile.

    `finish_probe` returns the result of the test.
    """
    return subprocess.Popen(
        [sys.executable, "-c", _PROBE_PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish_probe(process: subprocess.Popen[str]) -> QtProbeResult:
    """Wait for the test and return its result. If Qt did not start, the result names the missing parts."""
    with process:
        try:
            output, text = process.communicate(timeout=PROBE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return QtProbeResult(f"Qt did not start within {PROBE_TIMEOUT_S:g} s.")
    if process.returncode == 0:
        return QtProbeResult(None, **json.loads(output.splitlines()[-1]))
    return QtProbeResult(explain_qt_failure(text, dict(os.environ)))


def probe_qt() -> QtProbeResult:
    """Start Qt in another process. If this fails, report which parts are missing."""
    return finish_probe(start_probe())


def explain_qt_failure(output: str, environment: dict[str, str]) -> str:
    """Explain which part is missing and how to install it, from the error *output* of Qt or Python."""
    library = re.search(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file", output)
    module = re.search(r"No module named '([^']+)'", output)
    if library is not None:
        missing = f"Qt cannot start because the system library {library[1]} is missing."
        return f"{missing} {format_install_advice(find_missing_packages())}"
    if module is not None:
        return (
            f"Qt cannot start because {module[1]} is not installed. Install Mirrordrill again: pip install ."
        )
    no_display = "could not connect to display" in output or "Failed to create wl_display" in output
    if no_display and not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        return (
            "Qt cannot start because there is no display. Start Mirrordrill in a desktop session, through "
            "`ssh -X`, or under `xvfb-run`; without a window there are `mirrordrill list` and `mirrordrill run`."
        )
    if no_display:
        display = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
        return f"Qt cannot start because the display {display} does not answer or refuses this user."
    if "could not load the Qt platform plugin" in output.lower() or "platform plugin" in output:
        command = format_install_advice(find_missing_packages())
        return f"Qt cannot start because its platform plugin cannot be loaded. {command}"
    last = (output.strip().splitlines() or ["it said nothing"])[-1]
    return f"Qt cannot start: {last}"
