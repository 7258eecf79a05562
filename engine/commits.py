"""Commits of T-SQL batches, as a chain along the log: each commit refers to the preceding one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

COMMIT_CHARACTERS_MIN: Final = 200
"""Size of a commit without its changes, in characters. Assumed."""


USER_KEY_PREFIX: Final = "\0user "
"""Prefix of a database user's key in `Commit.edits`. No name of a script object starts with it."""


def _apply_user_edits(
    users: Mapping[str, object], edits: tuple[tuple[str, object], ...]
) -> Mapping[str, object]:
    changed = {
        name.removeprefix(USER_KEY_PREFIX): user for name, user in edits if name.startswith(USER_KEY_PREFIX)
    }
    if not changed:
        return users
    return {name: user for name, user in {**users, **changed}.items() if user is not None}


class Commit:
    """Committed transaction in the log of a database. It is immutable, so worlds can share it."""

    __slots__ = ("digest", "edits", "kb", "log_kb", "previous", "tick", "users", "weight")

    def __init__(
        self,
        previous: Commit | None,
        kb: float,
        log_kb: float,
        tick: int,
        edits: tuple[tuple[str, object], ...],
    ) -> None:
        """Create a commit.

        *kb*: position of the end of its log. *log_kb*: size of its log. *edits*: changed objects, as (object,
        result).
        """
        self.previous, self.kb, self.log_kb, self.tick, self.edits = previous, kb, log_kb, tick, edits
        text = repr((kb, tick, edits))
        before = previous.digest if previous is not None else b""
        self.digest: bytes = hashlib.blake2b(before + text.encode(), digest_size=16).digest()
        self.weight: int = (
            (previous.weight if previous is not None else 0) + len(text) + COMMIT_CHARACTERS_MIN
        )
        """Size of this commit and of all earlier ones, in characters."""
        self.users: Mapping[str, object] = _apply_user_edits(
            previous.users if previous is not None else {}, edits
        )
        """Users of the database after this commit, by lowercase name."""

    def __repr__(self) -> str:
        """Return a short text for the state hash, which differs for different histories."""
        return f"Commit({self.kb!r}, {self.digest.hex()})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the chain as one flat list, because nested commits would be too deep for pickle and copy."""
        links, link = [], self
        while True:
            links.append((link.kb, link.log_kb, link.tick, link.edits))
            if link.previous is None:
                return build_commit_chain, (tuple(reversed(links)),)
            link = link.previous


def build_commit_chain(
    links: tuple[tuple[float, float, int, tuple[tuple[str, object], ...]], ...],
) -> Commit | None:
    """Build a chain of commits, and return the last one.

    *links*: arguments (kb, log_kb, tick, edits) of each Commit, oldest first.
    """
    last_commit: Commit | None = None
    for link in links:
        last_commit = Commit(last_commit, *link)
    return last_commit
