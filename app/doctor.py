"""Command `mirrordrill doctor`: it checks everything that Mirrordrill needs on this machine.

This process uses no Qt.
"""

import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from app import golden_run, qt_probe
from app.files.folders import get_profile_folder
from app.storage import Profile, StorageError, StorageProblemKind, open_profile
from app.storage.database import PROFILE_FILE_NAME
from app.storage.export import export_profile
from engine.drill.judging.report import get_program_version
from engine.flow import compiled
from engine.localization import build_message, convert_to_json, join_messages, restore_from_json


class CheckResult(Struct, frozen=True):
    """Result of one check, with a sentence that describes it."""

    name: str
    is_ok: bool
    """True if the check passed."""
    text: str

    def as_line(self) -> str:
        """Format the result as one line of JSON, which `parse_check_result` parses in another process."""
        return json.dumps([convert_to_json(self.name), self.is_ok, convert_to_json(self.text)])


def parse_check_result(line: str) -> CheckResult:
    """Parse a line of `CheckResult.as_line`. Raises ValueError for any other line."""
    name, is_ok, text = json.loads(line)
    return CheckResult(restore_from_json(name), is_ok, restore_from_json(text))


def run_checks() -> Iterator[CheckResult]:
    """Run all checks and yield their results. A failed check includes advice."""
    yield CheckResult(
        build_message("version"),
        True,
        f"Mirrordrill {get_program_version()}, Python {platform.python_version()}",
    )
    yield from _check_qt()
    yield from _check_storage()
    yield _check_simulation()
    yield _check_golden_run()
    yield _check_network()


def _check_simulation() -> CheckResult:
    """Check the compiled simulation step. It always passes, because plain Python computes the same results."""
    used = compiled.load_kernel()
    if used.reason:
        text = build_message(
            "plain Python is used. Results are the same, but the simulation is slow: {reason}",
            reason=used.reason,
        )
    elif used.origin == "prebuilt":
        text = build_message("the C library of the program is used")
    elif used.origin == "compiled here":
        text = build_message("a C library compiled on this computer is used")
    else:
        text = build_message("plain Python is used because of MIRRORDRILL_KERNEL")
    return CheckResult(build_message("simulation"), True, text)


def _check_network() -> CheckResult:
    """Check whether classes can be found on the network.

    It always passes, because the join code can contain the address.
    """
    import asyncio  # late import, because it would delay the start by 0.1 s

    from app.classroom import discovery

    if not discovery.is_installed():
        text = build_message(
            "join a class with its code and address. To join with only the code: pip install "
            "mirrordrill[discovery]"
        )
    elif asyncio.run(discovery.can_find_own_service()):
        text = build_message("a class on this computer can be found with only its code")
    else:
        text = build_message(
            "a class on this computer cannot be found with only its code. Give its address too, "
            "or open the firewall."
        )
    return CheckResult(build_message("class"), True, text)


def _check_qt() -> Iterator[CheckResult]:
    probe = qt_probe.probe_qt()
    if probe.problem is not None:
        yield CheckResult(build_message("window"), False, probe.problem)
        return
    starts = build_message("Qt {version} starts on {platform}", version=probe.qt, platform=probe.platform)
    yield CheckResult(build_message("window"), True, starts)
    if probe.font_family_count:
        yield CheckResult(
            build_message("fonts"), True, build_message("{n} font families found", n=probe.font_family_count)
        )
    else:
        message = build_message(
            "Qt finds no font. On Debian or Ubuntu: sudo apt-get install fonts-dejavu-core"
        )
        yield CheckResult(build_message("fonts"), False, message)


def _check_storage() -> Iterator[CheckResult]:
    with tempfile.TemporaryDirectory() as folder:
        yield _run_check(build_message("storage"), lambda: _check_run_storage(Path(folder)))
    yield _run_check(PROFILE_CHECK_NAME, _check_profile)


PROFILE_CHECK_NAME: Final = build_message("profile")


def _run_check(name: str, check: Callable[[], tuple[bool, str]]) -> CheckResult:
    try:
        return CheckResult(name, *check())
    except StorageError as problem:
        return CheckResult(name, problem.kind is StorageProblemKind.IN_USE, str(problem))


def _check_run_storage(folder: Path) -> tuple[bool, str]:
    """Write a run to a new profile in *folder* and read it back.

    Return whether both succeed, and a message.
    """
    with open_profile(folder) as profile:
        run = profile.begin_run("doctor", "", "", 1, get_program_version(), "lab")
        profile.append_line(run, 0, "0 note doctor")
        recorded = [line.text for line in profile.read_journal(run)]
    text = build_message("a new profile was created, written and read: {text}", text=str(recorded))
    return recorded == ["0 note doctor"], text


def _check_profile() -> tuple[bool, str]:
    """Check the user's profile. Return whether it is usable, and a message."""
    folder = get_profile_folder()
    if not folder.exists():
        if not _can_create_folder(folder):
            return False, build_message(
                "cannot create {path}. You can play drills, but nothing is recorded. Set "
                "MIRRORDRILL_PROFILE to a writable folder.",
                path=str(folder),
            )
        return True, build_message("{path} will be created at the first start", path=str(folder))
    with open_profile(folder) as profile:
        finished, faults = len(profile.list_results()), profile.find_data_faults()
    if faults:
        return False, join_messages(" ", faults)
    return True, build_message("{path} is intact; finished runs: {n}", path=str(folder), n=finished)


def _can_create_folder(folder: Path) -> bool:
    """Return whether *folder* can be created inside its nearest existing parent folder."""
    nearest = next(parent for parent in folder.absolute().parents if parent.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


@contextmanager
def open_existing_profile() -> Iterator[Profile | None]:
    """Open the profile. Yield None if there is none, or if it cannot be opened (`run_checks` reports the reason)."""
    folder = get_profile_folder()
    try:
        profile = open_profile(folder) if folder.exists() else None
    except StorageError:
        profile = None
    try:
        yield profile
    finally:
        if profile is not None:
            profile.close()


def export_default_profile(target: Path) -> int:
    """Export the whole profile, of any version, to *target*. Return the number of rows.

    Raises StorageError.
    """
    return export_profile(get_profile_folder() / PROFILE_FILE_NAME, target)


def _check_golden_run() -> CheckResult:
    own_play, recorded = golden_run.play_golden_run(), golden_run.load_recorded_hashes()
    if own_play == recorded:
        text = build_message("a recorded run replays identically on this computer")
    elif own_play.events == recorded.events:
        text = build_message(
            "a recorded run gives different last digits on this computer, so runs from other computers are "
            "refused"
        )
    else:
        text = build_message(
            "a recorded run replays differently on this computer, so results cannot be compared with other "
            "computers"
        )
    return CheckResult(build_message("replay"), own_play == recorded, text)
