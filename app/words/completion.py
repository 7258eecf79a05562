"""Completions of an input line while the user types. Without Qt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.words.language import tr
from engine.model import World
from engine.verbs import VERBS
from engine.verbs.lines import usage
from engine.verbs.verb import Verb, VerbParameter

SHOWN_MAX: Final = 12


def completions(world: World, text: str) -> list[str]:
    """Return whole lines that begin with *text*, as far as they can be foreseen; best first."""
    words = text.split(" ")
    if len(words) == 1:
        return _rank_candidates(words[0], VERBS)
    verb = VERBS.get(words[0].lower())
    if verb is None:
        return []
    done, last = words[:-1], words[-1]
    return [" ".join([*done, word]) for word in _rank_candidates(last, _complete_argument(world, verb, done))]


def hint(text: str) -> str:
    """Return usage and help of the verb at the start of the line; empty if there is none."""
    verb = VERBS.get(text.split(" ")[0].lower())
    return f"{usage(verb)}: {tr(verb.help)}" if verb is not None else ""


def _rank_candidates(start: str, candidates: Iterable[str]) -> list[str]:
    low = start.lower()
    known = [word for word in candidates if low in word.lower() and word.lower() != low]
    return sorted(known, key=lambda word: (not word.lower().startswith(low), word))[:SHOWN_MAX]


def _complete_argument(world: World, verb: Verb, tokens: list[str]) -> list[str]:
    place = len(tokens) - 1
    if place < len(verb.parameters):
        return _values(world, verb.parameters[place], tokens)
    used = {word.partition("=")[0] for word in tokens}
    return [f"{name}=" for name in verb.options if name not in used]


def _values(world: World, parameter: VerbParameter, tokens: list[str]) -> list[str]:
    known = {
        "server": list(world.instances),
        "window": list(world.instances),
        "client": list(world.clients),
        "database": world.databases(),
        "name": [*world.instances, *world.clients],
    }
    return [word for word in parameter.choices or known.get(parameter.kind, []) if word not in tokens]
