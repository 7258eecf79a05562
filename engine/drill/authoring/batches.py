"""Batches and prompt lines in the form that conditions and judges need: plain text, errors, origin."""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from engine.events import Event
from engine.tsql.batches.work import Recall

_COMMENT: Final = re.compile(r"--[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)


_LITERAL: Final = re.compile(r"N?'[^']*+(?:''[^']*+)*+(?:'|\Z)")


PLAIN_KEPT: Final = 2_000_000
"""Characters of batches whose plain text is cached, because each condition reads all of them each second."""


def normalize_sql(sql: str, keep_literals: bool) -> str:
    """Normalize *sql*: capitals, no comments or brackets, single spaces, no literals (else PRINT would match)."""
    return _PLAIN.get((sql, keep_literals), len(sql), lambda: _normalize_uncached(sql, keep_literals))


def _normalize_uncached(sql: str, keep_literals: bool) -> str:
    sql = _COMMENT.sub(" ", sql)
    if not keep_literals:
        sql = _LITERAL.sub("''", sql)
    return " ".join(sql.upper().replace("[", "").replace("]", "").split())


_PLAIN: Final[Recall[str]] = Recall(PLAIN_KEPT)


ERROR_SEVERITY_MIN: Final = 11
"""Lowest severity of an error; lower messages are information. Documented."""


def errors(batch: Event) -> list[int]:
    """Return the numbers of the errors in a batch."""
    messages = batch.get("messages", ())
    return [message["number"] for message in messages if message["severity"] >= ERROR_SEVERITY_MIN]


STORY: Final = "story"
"""Suffix of the window from which a timeline sends T-SQL (SERVER_A#story). The trainee has no such window."""


def is_story_window(window: str) -> bool:
    """Return whether the window belongs to the timeline: its batches are not the trainee's."""
    return window.partition("#")[2].lower() == STORY


def summarize_batch(batch: Event) -> Event:
    """Reduce a batch to its text and its errors, which are all that conditions ask for.

    Its messages and results stay in the record.
    """
    failed = [m for m in batch.get("messages", ()) if m["severity"] >= ERROR_SEVERITY_MIN]
    return replace(batch, data=(("batch", batch.get("batch", "")), ("messages", failed)))


def summarize_prompt_line(line: Event) -> Event:
    """Summarize a line at the PowerShell prompt of a node, as `summarize_batch` does a batch."""
    messages = [{"number": 0, "severity": ERROR_SEVERITY_MIN}] if line.get("refused") else []
    return replace(line, data=(("batch", line.get("command", "")), ("messages", messages)))
