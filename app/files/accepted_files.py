"""Files of other authors that the user has accepted, so that they open without a question. Without Qt.

Files are identified by SHA-256 hash.
"""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, fields, replace

from app.storage import Profile, SettingKey
from engine.json_text import parse_json

ACCEPTED_FILES_SETTING: Final = SettingKey("quarantine/accepted", "[]")
"""Setting with a JSON list of accepted files, newest last.

Before version 0.2, each entry consisted only of a SHA-256 hash.
"""
ACCEPTED_FILES_MAX: Final = 1_000
"""Maximum number of accepted files that are stored. Assumed.

If there are more, the oldest entries are dropped, so that these files need to be accepted again.
"""
TITLE_LENGTH_MAX: Final = 200
"""Maximum number of characters of a title or an author, as in scenarios."""
_SHA256_PATTERN: Final = re.compile(r"[0-9a-f]{64}")


class AcceptedFile(Struct, frozen=True):
    """Record of an accepted file. An empty field is unknown."""

    sha256: str
    title: str = ""
    """Title in the file, as its author wrote it."""
    author: str = ""
    on: str = ""
    """Date of acceptance in UTC, such as 2026-11-21."""
    own: bool = False
    """True if the user wrote the text in this program. Such files are not listed."""


def list_accepted_files(profile: Profile) -> list[AcceptedFile]:
    """Return all accepted files, newest last. Invalid entries are ignored. Raises StorageError."""
    try:
        document = parse_json(profile.settings.get(ACCEPTED_FILES_SETTING))
    except ValueError:
        return []
    return (
        [accepted_text for entry in document if (accepted_text := _parse_entry(entry)) is not None]
        if isinstance(document, list)
        else []
    )


def list_foreign_files(entries: Iterable[AcceptedFile]) -> list[AcceptedFile]:
    """Return the accepted files of other authors, newest first."""
    return [entry for entry in entries if not entry.own][::-1]


def add_accepted_file(entries: Iterable[AcceptedFile], entry: AcceptedFile) -> list[AcceptedFile]:
    """Return *entries* with *entry*, dated today. An older entry with the same SHA-256 hash is replaced."""
    dated = replace(
        entry,
        title=entry.title[:TITLE_LENGTH_MAX],
        author=entry.author[:TITLE_LENGTH_MAX],
        on=_format_today(),
    )
    return [*(other_entry for other_entry in entries if other_entry.sha256 != entry.sha256), dated][
        -ACCEPTED_FILES_MAX:
    ]


def remove_accepted_files(entries: Iterable[AcceptedFile], digests: Iterable[str]) -> list[AcceptedFile]:
    """Return *entries* without the entries with these SHA-256 hashes."""
    removed_digests = set(digests)
    return [entry for entry in entries if entry.sha256 not in removed_digests]


def save_accepted_files(profile: Profile, entries: Iterable[AcceptedFile]) -> None:
    """Save the entries. If this raises StorageError, the previous entries are unchanged."""
    profile.settings.set(ACCEPTED_FILES_SETTING, json.dumps([asdict(entry) for entry in entries]))


def _format_today() -> str:
    return datetime.now(UTC).date().isoformat()


def _parse_entry(entry: object) -> AcceptedFile | None:
    if isinstance(entry, str):
        entry = {"sha256": entry}
    if not isinstance(entry, dict):
        return None
    values = {field.name: entry[field.name] for field in fields(AcceptedFile) if field.name in entry}
    texts = [value for name, value in values.items() if name != "own"]
    if not all(isinstance(text, str) and len(text) <= TITLE_LENGTH_MAX for text in texts):
        return None
    if not isinstance(values.get("own", False), bool) or not _SHA256_PATTERN.fullmatch(
        values.get("sha256", "")
    ):
        return None
    return AcceptedFile(**values)
