"""The support bundle: what helps to find a fault, in one zip file, without what would tell who sent it. No Qt."""

from __future__ import annotations

import getpass
import io
import json
import platform
import re
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Final

from app import whole_file
from app.doctor import Finding
from app.storage import Profile, StorageProblem
from engine.drill.report import program_version

PACKAGES: Final = ("PySide6-Essentials", "pyqtgraph", "numpy", "numba", "SQLAlchemy", "alembic", "lark", "sqlglot",
                   "pydantic")  # fmt: skip
PRIVATE_VERBS: Final = frozenset({"note"})
"""Verbs whose words are a person's own remarks: only that there was one is kept."""
LINES_MAX: Final = 20_000
"""Lines of the journal that are kept. Assumed."""
DATE: Final = (2000, 1, 1, 0, 0, 0)
"""Of every member: when somebody played is nobody's business."""


class NoBundle(Exception):
    """The bundle cannot be written; `str()` is one sentence."""


def write_bundle(file: Path, findings: Iterable[Finding], profile: Profile | None) -> list[str]:
    """Write the bundle to *file*; returns the names of its members, so that the sender can be told what is in it.

    *profile* None: nothing of it can be read, which the findings tell. Raises NoBundle.
    """
    members = {
        "versions.json": json.dumps(versions(), indent=1),
        "findings.txt": "\n".join(f"{'ok  ' if f.well else 'FAIL'} {f.name}: {f.text}" for f in findings),
        **(_of_profile(profile) if profile is not None else {}),
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in members.items():
            bundle.writestr(zipfile.ZipInfo(name, DATE), anonymous(text) + "\n", zipfile.ZIP_DEFLATED)
    try:
        whole_file.write(file, target.getvalue())
    except OSError as error:
        raise NoBundle(f"{file} cannot be written: {error.strerror}") from error
    return list(members)


def versions() -> dict[str, str]:
    """Of the program, what it runs on and what it is made of; the name of the computer is not among them."""
    found = {
        "mirrordrill": program_version(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def anonymous(text: str) -> str:
    """*text* without the home folder, the names of the user and of the computer."""
    home = str(Path.home())
    for hidden, shown in ((home, "<home>"), (home.replace("\\", "\\\\"), "<home>")):
        if len(Path(home).parts) > 1:
            text = text.replace(hidden, shown)
    for name, shown in ((_user(), "<user>"), (platform.node(), "<computer>")):
        if len(name) > 1:  # whole words: a user called "is" must not tear the rest apart
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", shown, text, flags=re.IGNORECASE)
    return text


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a process without a user, as in some containers
        return ""


def _of_profile(profile: Profile) -> dict[str, str]:
    try:
        settings = profile.settings.everything()
        members = {
            "settings.json": json.dumps({key: _harmless(value) for key, value in settings.items()}, indent=1)
        }
        last = profile.last_run()
        if last is not None:
            members["journal.txt"] = "\n".join(_line(line.text) for line in profile.journal(last)[:LINES_MAX])
    except StorageProblem as problem:
        return {"profile.txt": str(problem)}
    return members


def _harmless(value: object) -> object:
    """Numbers and switches as they are; of a text, which may be a name or a path, only its length."""
    return value if isinstance(value, bool | int | float) else f"<text of {len(str(value))} characters>"


def _line(text: str) -> str:
    time, _, rest = text.partition(" ")
    verb = rest.partition(" ")[0]
    if verb in PRIVATE_VERBS:
        return f"{time} {verb} …"
    return _IN_SQL.sub(_without_words, text) if verb == "sql" else text


_IN_SQL: Final = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)|\[[^\]\n]*\\[^\]\n]*\]",
    re.DOTALL,
)
"""Remarks, texts, and accounts as [DOMAIN\\user]: what a person may have written of people, servers or passwords."""

_SHORT: Final = {"--": "--…", "/*": "/*…*/", "'": "'…'", '"': '"…"', "[": "[…]"}


def _without_words(found: re.Match[str]) -> str:
    """As it was, without the words: what a statement does can still be read."""
    return next(short for begins, short in _SHORT.items() if found[0].startswith(begins))
