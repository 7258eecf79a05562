"""Input lines as people read them. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.words.language import tr


def short(line: str, letters: int) -> str:
    """*line* without its line ends, cut off after so many *letters*."""
    text = " ".join(line.split())
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def worded(line: str, asked: Mapping[str, Sequence[str]]) -> str:
    """An answer by what it says, a batch before its server, all else as it is. *asked*: question -> its choices."""
    verb, _, rest = line.partition(" ")
    if verb == "answer":
        name, number, *_ = (*rest.split(), "", "")
        choices = asked.get(name, ())
        if number.isdecimal() and 0 < int(number) <= len(choices):
            return tr("answer “{choice}”").format(choice=choices[int(number) - 1])
    if verb == "finish":
        return tr("End drill")
    if verb == "sql":
        server, _, batch = rest.partition(" ")
        return tr("{batch} on {server}").format(
            batch=" ".join(batch.split()), server=server.partition("#")[0]
        )
    return line
