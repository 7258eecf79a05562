"""Roles that no person has taken are played by the scenario: they read back, do what is ordered, and tell what is so.

What a role says and does of its own accord is what it says and does in the scenario's solution, at that place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product
from typing import Final

from engine.drill.authoring.references import names_of
from engine.drill.authoring.schema import Role
from engine.drill.running.state import DrillState
from engine.drill.team.calls import HEARS, Call, words_of
from engine.drill.team.rights import allowed
from engine.inputs import Input
from engine.model import Tick, ticks
from engine.verbs.lines import parse_script

ANSWER_TICKS: Final = ticks(5.0)
"""A role that is played takes so long for each thing that it says or does. Assumed: the pace of a telephone call."""


def due(drill: DrillState, played: Collection[str], vain: Collection[str] = ()) -> str | None:
    """The next line of one of the roles *played*, if one is due now; its role is before it. *vain*: lines that cannot
    be done."""
    return next((line for line in _due(drill, played) if line not in vain), None)


def _due(drill: DrillState, played: Collection[str]) -> Iterator[str]:
    for call in drill.calls:
        line, since = _next_of(drill, call)
        by, _, deed = line.partition(" ")
        if (
            line
            and by in played
            and drill.tick >= since + ANSWER_TICKS
            and not _tried(drill, by, deed, since)
        ):
            yield f"@{line}"
    yield from _of_its_own(drill, played)


def _next_of(drill: DrillState, call: Call) -> tuple[str, Tick]:
    """What is to be said or done next about *call*, with its role before it, and since when; empty: nothing."""
    if call.kind == "question":
        fact = _fact(drill, call) if call.waits else ""
        return (f"{call.to} status {call.by} {fact}", call.tick) if fact else ("", 0)
    if call.waits and not call.read_back:
        return f"{call.to} read-back {call.by} {call.text}", call.tick
    if call.waits and call.read_back_tick is not None:
        said = f"confirm {call.to}" if call.right else f"call {call.to} {call.text}"
        return f"{call.by} {said}", call.read_back_tick
    if call.confirmed_tick is not None and call.acted_tick is None:
        deed = meant(drill, call)
        return (f"{call.to} {deed}", call.confirmed_tick) if deed else ("", 0)
    return "", 0


def _tried(drill: DrillState, by: str, deed: str, since: Tick) -> bool:
    """It has been done since then, with whatever success."""
    return any(item.by == by and item.deed == deed and item.tick >= since for item in drill.journal)


# --- what an order means -------------------------------------------------------------------------------------


def meant(drill: DrillState, call: Call) -> str:
    """The input line that carries out an order; empty: the role does not understand it, or may not do it.

    An order names the act by the words of its verb and what it is done to by its names: `plug in the cable of PAY1` is
    `plug-cable PAY1`. What is not said so is understood if the solution gives the same order.
    """
    role = next((role for role in drill.scenario.team if role.key == call.to), None)
    return (_by_its_words(drill, role, call.text) if role is not None else "") or _as_in_the_solution(
        drill, call
    )


def _by_its_words(drill: DrillState, role: Role, text: str) -> str:
    said = words_of(text)
    things = [word for word in said if word in _things(drill)]
    for line in role.does:
        may = allowed(line)
        if set(words_of(may.verb)) <= set(said) and may.verb != "sql":
            named = [_things(drill)[word] for word in things]
            if set(may.args) <= set(named):
                return " ".join([may.verb, *(may.args or named)])
    return ""


def _things(drill: DrillState) -> dict[str, str]:
    """Names of what an order can be about, in small letters -> as they are spelled."""
    names = names_of(drill.scenario)
    return {name.lower(): name for name in (*names.servers, *names.computers)}


def _as_in_the_solution(drill: DrillState, call: Call) -> str:
    """What the role does after an order with the same names and at least half of the same words."""
    said, heard = set(words_of(call.text)), False
    names = {word for word in said if word in _things(drill)}
    for item, _ in _steps(drill):
        if item.verb == "call":
            words = set(words_of(item.args[-1]))
            alike = 2 * len(said & words) >= len(words) and names == {
                word for word in words if word in _things(drill)
            }
            heard = alike and item.args[0] == call.to
        elif heard and item.by == call.to and item.verb not in HEARS:
            return item.deed
    return ""


def _steps(drill: DrillState) -> Iterator[tuple[Input, str]]:
    """The steps of the solution, each as an input and as it is written."""
    for step in drill.scenario.solution:
        items, _ = parse_script(step.do.strip())
        for item in items:
            yield item, step.do.strip()


# --- what is so ----------------------------------------------------------------------------------------------


def _fact(drill: DrillState, call: Call) -> str:
    """A fact that is so now, about what was asked; empty: the role can say nothing that is so."""
    names, asked = names_of(drill.scenario), set(words_of(call.text))
    told = [item.args[-1] for item, _ in _steps(drill) if item.verb == "status" and item.by == call.to]
    serving = [f"{one} serves on {server}" for one, server in product(names.databases, names.servers)]
    using = [f"{one} on {server} is CONNECTED" for one, server in product(names.clients, names.servers)]
    power = [f"{server} is {word}" for server, word in product(names.servers, ("OFF", "RUNNING"))]
    every = {name.lower() for name in (*names.databases, *names.clients, *names.servers)}
    wanted = asked & every
    for fact in (*told, *serving, *using, *power):
        if (not wanted or wanted & set(words_of(fact))) and drill.holds(fact):
            return fact
    return ""


# --- of its own accord ---------------------------------------------------------------------------------------


def _of_its_own(drill: DrillState, played: Collection[str]) -> Iterator[str]:
    """Orders, questions and acts that the solution gives a role without being asked, once all before them has come."""
    done, last = list(drill.journal), 0
    for step, (item, written) in zip(drill.scenario.solution, _steps(drill), strict=True):
        found = next((one for one in done if one.by == item.by and one.verb == item.verb), None)
        if found is not None:
            last = max(last, found.tick)
            done.remove(found)
            continue
        if item.by not in played:
            if item.verb in HEARS:
                continue  # nothing waits for a word of a person
            return
        if item.verb in ("read-back", "confirm", "status") or _ordered(drill, item):
            continue
        if step.when is not None and not drill.holds(step.when):
            return
        if drill.tick >= (last + max(item.tick, ANSWER_TICKS) if written.startswith("+") else item.tick):
            yield item.words
        return


def _ordered(drill: DrillState, deed: Input) -> bool:
    """In the solution this act is the answer to an order."""
    if deed.verb in HEARS:
        return False
    heard = False
    for item, _ in _steps(drill):
        if item == deed:
            return heard
        if item.verb == "call":
            heard = item.args[0] == deed.by
        elif item.by == deed.by and item.verb not in HEARS:
            heard = False
    return False
