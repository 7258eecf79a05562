"""Check of documents and interface texts with proselint: `python -m tests.prose` (part of `make lint`)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from babel.messages.pofile import read_po
from proselint.checks import __register__
from proselint.config import DEFAULT
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

ROOT: Final = Path(__file__).parents[1]
DOCUMENTS: Final = ("*.md", "docs/*.md", "docs/decisions/*.md")
CATALOG: Final = ROOT / "assets" / "languages" / "de.po"
DISABLED_CHECKS: Final = ("typography", "lexical_illusions", "annotations", "dates_times")
"""Disabled checks, because of straight quotes and "..." in SQL, repeated words in tables, and times of log
lines.
"""
ALLOWED_MESSAGE_PARTS: Final = {
    "résumé": "RESUME and resume are terms of mirroring",
    "as a last resort": "the documentation of forced service says so",
}
"""Parts of messages that are no problem here -> reason."""
CODE_PATTERN: Final = re.compile(r"^```.*?^```$|^    .*?$|`[^`\n]*`|\]\([^)]*\)|^#.*?$", re.M | re.S)


def list_texts() -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each document and of the catalog. Code is replaced by blanks, so that line
    numbers stay correct.
    """
    for pattern in DOCUMENTS:
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            yield str(path.relative_to(ROOT)), CODE_PATTERN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    with CATALOG.open("rb") as file:
        words = [message.id for message in read_po(file) if isinstance(message.id, str) and message.id]
    yield "catalog", "\n\n".join(text.replace("\n", " ").replace("&", "") for text in words)


def find_problems() -> Iterator[str]:
    """Yield each problem with its file and line."""
    CheckRegistry().register_many(__register__)
    checks = {name: is_on and name not in DISABLED_CHECKS for name, is_on in DEFAULT["checks"].items()}
    for name, text in list_texts():
        lines = text.splitlines()
        for finding in LintFile(name, text).lint({**DEFAULT, "checks": checks}):
            line, column = finding.pos
            message = finding.check_result.message
            if not any(part in message for part in ALLOWED_MESSAGE_PARTS):
                yield f"{name}:{line}:{column}: {message}\n    {lines[line - 1].strip()[:120]}"


if __name__ == "__main__":
    found = list(find_problems())
    print(*found, sep="\n")
    sys.exit(bool(found))
