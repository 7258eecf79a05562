"""Findings of the check of this installation."""

from __future__ import annotations

from typing import Final

from app.words.language import mark

SENTENCES: Final = (
    mark("version"),
    mark("window"),
    mark("fonts"),
    mark("storage"),
    mark("profile"),
    mark("a new profile was made and written; read back: {text}"),
    mark("{path} will be made at the first start"),
    mark("{path} is intact and holds {n} finished run(s)"),
    mark("replay"),
    mark("{n} font families"),
    mark("Qt {word} starts on {name}"),
    mark("Qt finds no font. On Debian or Ubuntu: sudo apt-get install fonts-dejavu-core"),
    mark("a recorded run replays identically here, to the bit"),
    mark(
        "a recorded run replays identically here, except in the last digits: hashes of other machines will differ"
    ),
    mark("a recorded run replays differently here: results cannot be compared with those of other machines"),
)
