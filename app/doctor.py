"""`mirrordrill doctor`: check of everything that Mirrordrill needs on this machine. This process uses no Qt."""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app import golden, qt_probe
from app.files.folders import default_folder
from app.storage import ProblemKind, Profile, StorageError, open_profile
from app.storage.database import FILE_NAME
from app.storage.export import export_profile
from engine.drill.judging.report import program_version
from engine.flow import compiled
from engine.localization import as_json, from_json, join_messages, say


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check, with a sentence."""

    name: str
    well: bool
    text: str

    def as_line(self) -> str:
        """Return one line of JSON, which `from_line` reads in another process."""
        return json.dumps([as_json(self.name), self.well, as_json(self.text)])


def from_line(line: str) -> CheckResult:
    """Parse a line. Raises ValueError for one that no `CheckResult` wrote."""
    name, well, text = json.loads(line)
    return CheckResult(from_json(name), well, from_json(text))


def examine() -> Iterator[CheckResult]:
    """Yield every check, each with advice if it fails."""
    yield CheckResult(
        say("version"), True, f"Mirrordrill {program_version()}, Python {platform.python_version()}"
    )
    yield from _qt()
    yield from _storage()
    yield _simulation()
    yield _golden()
    yield _network()


def _simulation() -> CheckResult:
    """Check the compiled step; plain Python gives the same results, so the check always passes."""
    used = compiled.kernel()
    if used.reason:
        text = say("runs as plain Python, which gives the same results slowly: {reason}", reason=used.reason)
    elif used.origin == "prebuilt":
        text = say("runs as the C library that comes with the program")
    elif used.origin == "compiled here":
        text = say("runs as a C library compiled on this computer")
    else:
        text = say("runs as plain Python, as MIRRORDRILL_KERNEL says")
    return CheckResult(say("simulation"), True, text)


def _network() -> CheckResult:
    """Check the network; classes can be joined without it, so the check always passes."""
    import asyncio  # a tenth of a second, which no start waits for

    from app.classroom import discovery

    if not discovery.is_installed():
        text = say(
            "classes are joined by code and address; by the code alone: pip install mirrordrill[discovery]"
        )
    elif asyncio.run(discovery.answers_itself()):
        text = say("a class here can be found by its code alone")
    else:
        text = say(
            "a class here cannot be found by its code alone: give its address too, or open the firewall"
        )
    return CheckResult(say("class"), True, text)


def _qt() -> Iterator[CheckResult]:
    found = qt_probe.probe()
    if found.problem is not None:
        yield CheckResult(say("window"), False, found.problem)
        return
    starts = say("Qt {version} starts on {platform}", version=found.qt, platform=found.platform)
    yield CheckResult(say("window"), True, starts)
    if found.families:
        yield CheckResult(say("fonts"), True, say("{n} font families", n=found.families))
    else:
        none = say("Qt finds no font. On Debian or Ubuntu: sudo apt-get install fonts-dejavu-core")
        yield CheckResult(say("fonts"), False, none)


def _storage() -> Iterator[CheckResult]:
    with tempfile.TemporaryDirectory() as folder:
        yield _run_check(say("storage"), lambda: _check_run_storage(Path(folder)))
    yield _run_check(PROFILE, _read_the_profile)


PROFILE: Final = say("profile")


def _run_check(name: str, check: Callable[[], tuple[bool, str]]) -> CheckResult:
    try:
        return CheckResult(name, *check())
    except StorageError as problem:
        return CheckResult(name, problem.kind is ProblemKind.IN_USE, str(problem))


def _check_run_storage(folder: Path) -> tuple[bool, str]:
    with open_profile(folder) as profile:
        run = profile.begin_run("doctor", "", "", 1, program_version(), "lab")
        profile.append(run, 0, "0 note doctor")
        kept = [line.text for line in profile.journal(run)]
    text = say("a new profile was made and written; read back: {text}", text=str(kept))
    return kept == ["0 note doctor"], text


def _read_the_profile() -> tuple[bool, str]:
    folder = default_folder()
    if not folder.exists():
        if not _can_make(folder):
            return False, say(
                "{path} cannot be made: drills can be played, but nothing is recorded. Set MIRRORDRILL_PROFILE "
                "to a folder that you can write",
                path=str(folder),
            )
        return True, say("{path} will be made at the first start", path=str(folder))
    with open_profile(folder) as profile:
        finished, faults = len(profile.results()), profile.faults()
    if faults:
        return False, join_messages(" ", faults)
    return True, say("{path} is intact and holds {n} finished run(s)", path=str(folder), n=finished)


def _can_make(folder: Path) -> bool:
    nearest = next(parent for parent in folder.absolute().parents if parent.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


@contextmanager
def profile_if_any() -> Iterator[Profile | None]:
    """Open the profile; None if there is none or it cannot be opened (`examine` reports that)."""
    folder = default_folder()
    try:
        profile = open_profile(folder) if folder.exists() else None
    except StorageError:
        profile = None
    try:
        yield profile
    finally:
        if profile is not None:
            profile.close()


def export(target: Path) -> int:
    """Return everything in the profile to *target*, whatever version wrote it; the number of rows.

    Raises StorageError.
    """
    return export_profile(default_folder() / FILE_NAME, target)


def _golden() -> CheckResult:
    here, there = golden.play(), golden.recorded()
    if here == there:
        text = say("a recorded run replays identically here, to the bit")
    elif here.events == there.events:
        text = say(
            "a recorded run plays differently here in the last digits: runs of other machines are refused here"
        )
    else:
        text = say(
            "a recorded run replays differently here: results cannot be compared with those of other machines"
        )
    return CheckResult(say("replay"), here == there, text)
