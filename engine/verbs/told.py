"""An input line as a person says it: the statement they typed and where, or the menu and its entry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Final

from engine.inputs import Input
from engine.verbs import VERBS
from engine.verbs.lines import parse_line
from engine.verbs.verb import Verb
from engine.words import joined, say

UNTOLD: Final = frozenset({"connect", "rewind"})
"""Verbs whose other arguments no person has typed."""

NOBODY_ASKED: Final[Mapping[str, Sequence[str]]] = {}


def told(item: Input, asked: Mapping[str, Sequence[str]] = NOBODY_ASKED) -> str:
    """*item* without its time. *asked*: question -> its choices."""
    verb = VERBS[item.verb]
    given = dict(zip((parameter.name for parameter in verb.parameters), item.args, strict=False))
    if "server" in given:
        given["server"] = given["server"].partition("#")[0]
    if verb.group == "sql" and "text" in given:
        text = str(json.loads(given["text"])) if item.verb == "batch" else given["text"]
        given["text"] = " ".join(text.split())
    words = _answer(item, asked) or _chosen(verb, item, given)
    return say("{act} (by {role})", act=words, role=item.by) if item.by else words


def told_line(line: str, asked: Mapping[str, Sequence[str]] = NOBODY_ASKED) -> str:
    """As `told`; what is no input line as it is."""
    try:
        return told(parse_line(line), asked)
    except ValueError:  # an InputProblem, or a batch that is no JSON
        return line


# --- inside -------------------------------------------------------------------------------------------------


def _answer(item: Input, asked: Mapping[str, Sequence[str]]) -> str:
    """By what it says; empty for all else."""
    if item.verb != "answer":
        return ""
    choices, number = asked.get(item.args[0], ()), item.args[1]
    if number.isdecimal() and 0 < int(number) <= len(choices):
        return say("answer “{choice}”", choice=choices[int(number) - 1].rstrip("."))
    return ""


def _chosen(verb: Verb, item: Input, given: Mapping[str, str]) -> str:
    """By its own template where all that it names is given, else as the menu has it; then what else was said."""
    fields = [name for _, name, _, _ in Formatter().parse(verb.told) if name]
    if verb.told and all(name in given for name in fields):
        words: str = say(verb.told, **{name: given[name] for name in fields})
    else:
        heads = 2 if verb.of_link else 1
        fields = list(given)[:heads]
        title = joined(" – ", (given[name] for name in fields))
        label = say(verb.label or verb.help)
        words = say("{title} ▸ {entry}", title=title, entry=label) if title else label
    rest = [value for name, value in given.items() if name not in fields]
    rest += [f"{name}={value}" for name, value in item.options]
    if item.verb in UNTOLD or not rest:
        return words
    return say("{act} ({details})", act=words, details=joined(", ", rest))
