"""Description of an input line as a person entered it: the typed statement with its place, or the menu entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Final

from engine.inputs import Input
from engine.json_text import parse_json
from engine.localization import join_messages, say
from engine.verbs import VERBS
from engine.verbs.lines import parse_line
from engine.verbs.verb import Verb

UNTOLD: Final = frozenset({"connect", "rewind"})
"""Verbs whose other arguments no person enters."""

NOBODY_ASKED: Final[Mapping[str, Sequence[str]]] = {}


def describe_input(item: Input, questions: Mapping[str, Sequence[str]] = NOBODY_ASKED) -> str:
    """Describe *item* without its time. *asked*: question -> its choices."""
    verb = VERBS[item.verb]
    arguments = dict(zip((parameter.name for parameter in verb.parameters), item.args, strict=False))
    if "server" in arguments:
        arguments["server"] = arguments["server"].partition("#")[0]
    if verb.group == "sql" and "text" in arguments:
        text = str(parse_json(arguments["text"])) if item.verb == "batch" else arguments["text"]
        arguments["text"] = " ".join(text.split())
    words = _describe_answer(item, questions) or _describe_choice(verb, item, arguments)
    return say("{act} (by {role})", act=words, role=item.by) if item.by else words


def describe_line(line: str, questions: Mapping[str, Sequence[str]] = NOBODY_ASKED) -> str:
    """Describe a line as `describe_input` does; return other text unchanged."""
    try:
        return describe_input(parse_line(line), questions)
    except ValueError:  # an InputError, or a batch that is not JSON
        return line


# --- inside -------------------------------------------------------------------------------------------------


def _describe_answer(item: Input, questions: Mapping[str, Sequence[str]]) -> str:
    """Describe an answer by its text; empty for other inputs."""
    if item.verb != "answer":
        return ""
    choices, number = questions.get(item.args[0], ()), item.args[1]
    if number.isdecimal() and 0 < int(number) <= len(choices):
        return say("answer “{choice}”", choice=choices[int(number) - 1].rstrip("."))
    return ""


def _describe_choice(verb: Verb, item: Input, arguments: Mapping[str, str]) -> str:
    """Describe a choice by its own template if complete, else by its menu text; then add other arguments."""
    fields = [name for _, name, _, _ in Formatter().parse(verb.told) if name]
    if verb.told and all(name in arguments for name in fields):
        words: str = say(verb.told, **{name: arguments[name] for name in fields})
    else:
        heads = 2 if verb.of_link else 1
        fields = list(arguments)[:heads]
        title = join_messages(" – ", (arguments[name] for name in fields))
        label = say(verb.label or verb.help)
        words = say("{title} ▸ {entry}", title=title, entry=label) if title else label
    rest = [value for name, value in arguments.items() if name not in fields]
    rest += [f"{name}={value}" for name, value in item.options]
    if item.verb in UNTOLD or not rest:
        return words
    return say("{act} ({details})", act=words, details=join_messages(", ", rest))
