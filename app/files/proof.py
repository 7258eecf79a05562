"""What `mirrordrill par` has proved of a shipped drill, read without the engine: the list cannot wait for it."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from importlib import resources
from typing import Any

from app.words.language import tr

Certificate = dict[str, Any]


def kept(name: str, text: str) -> Certificate | None:
    """The certificate of just this text; None: there is none, or the drill was changed since."""
    file = resources.files("assets").joinpath("par", f"{name}.json")
    try:
        found: Certificate = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    same: bool = found["hashes"]["scenario"] == hashlib.sha256(text.encode()).hexdigest()
    return found if same else None


def told(name: str) -> str:
    """A line on the shipped drill *name*: that it can be solved, and how many of the acts on offer are blunders."""
    found = _shipped(name)
    if found is None:
        return ""
    said = tr("Proved: {points:g} points can be reached.").format(points=found["par"]["score"])
    share = found.get("blunder_share")
    if share is None:
        return said
    more = tr("{share} of what can be done on the way is a blunder.")
    return f"{said} {more.format(share=f'{round(100 * share)} %')}"


@lru_cache
def _shipped(name: str) -> Certificate | None:
    file = resources.files("scenarios").joinpath(f"{name}.toml")
    return kept(name, file.read_text(encoding="utf-8")) if file.is_file() else None
