"""Support bundle: one zip file that helps to find a fault and does not identify the sender. Without Qt."""

from __future__ import annotations

import io
import json
import platform
import re
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Final

from app.doctor import CheckResult
from app.files import atomic_write
from app.files.accepted_files import ACCEPTED
from app.files.redaction_allowlist import HIDDEN, NameMasks, act, sentence
from app.storage import Profile, StorageError
from engine.drill.judging.report import program_version

PACKAGES: Final = ("PySide6-Essentials", "pyqtgraph", "numpy", "SQLAlchemy", "alembic", "lark", "sqlglot",
                   "pydantic")  # fmt: skip
SYSTEMS: Final = frozenset({"Linux", "Darwin", "Windows", "x86_64", "AMD64", "aarch64", "arm64"})
SETTINGS: Final = frozenset({ACCEPTED.name})
LINES_MAX: Final = 20_000
"""Maximum number of journal lines in the bundle. Assumed."""
DATE: Final = (2000, 1, 1, 0, 0, 0)
"""Date of every member, so that the time of play stays private."""


class SupportBundleError(Exception):
    """The bundle cannot be written; `str()` is one sentence."""


def write_bundle(file: Path, findings: Iterable[CheckResult], profile: Profile | None) -> list[str]:
    """Write the bundle to *file*; returns the names of its members, so that the sender can be told what is in it.

    *profile* None: nothing of it can be read, which the findings tell. Raises SupportBundleError.
    """
    members = {
        "versions.json": json.dumps(versions(), indent=1),
        "findings.txt": "\n".join(
            f"{'ok  ' if f.well else 'FAIL'} {sentence(f'{f.name}: {f.text}')}" for f in findings
        ),
        **(_of_profile(profile) if profile is not None else {}),
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in members.items():
            bundle.writestr(zipfile.ZipInfo(name, DATE), text + "\n", zipfile.ZIP_DEFLATED)
    try:
        atomic_write.write(file, target.getvalue())
    except OSError as error:
        raise SupportBundleError(f"{file} cannot be written: {error.strerror}") from error
    return list(members)


def versions() -> dict[str, str]:
    """Return the versions of the program, its platform and its libraries, without the computer's name."""
    found = {
        "mirrordrill": program_version(),
        "python": platform.python_version(),
        "system": " ".join(
            (_mask_system(platform.system()), _version(platform.release()), _mask_system(platform.machine()))
        ),
    }
    for package in PACKAGES:
        try:
            found[package] = _version(metadata.version(package))
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def _version(text: str) -> str:
    """Return the version without suffixes of a distribution or company."""
    found = re.match(r"\d{1,6}(?:\.\d{1,6}){0,3}", text)
    return found[0] if found is not None else HIDDEN


def _mask_system(name: str) -> str:
    return name if name in SYSTEMS else HIDDEN


def _of_profile(profile: Profile) -> dict[str, str]:
    try:
        settings = profile.settings.everything()
        names = NameMasks()
        known = {
            key if key in SETTINGS else names.mask_name(key): _harmless(value)
            for key, value in settings.items()
        }
        members = {"settings.json": json.dumps(known, indent=1)}
        last = profile.last_run()
        if last is not None:
            members["journal.txt"] = "\n".join(
                act(line.text, names) for line in profile.journal(last)[:LINES_MAX]
            )
    except StorageError as problem:
        return {"profile.txt": sentence(str(problem))}
    return members


def _harmless(value: object) -> object:
    """Return numbers and switches as they are; of a text, which may be a name or a path, only its length."""
    return value if isinstance(value, bool | int | float) else f"<text of {len(str(value))} characters>"
