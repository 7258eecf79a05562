"""What can be tried in a seat at a moment of a drill: input lines, completed with names that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from engine import simulator
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.counterfactual import looks
from engine.drill.running.drill import Drill
from engine.inputs import Input, InputProblem
from engine.mirroring import settings
from engine.model import World
from engine.protocol import groups
from engine.verbs import VERBS, ledger
from engine.verbs.lines import parse_line, parse_script


def vocabulary(scenario: Scenario) -> tuple[str, ...]:
    """The lines that the scenario itself knows, without times: its solution and what its hints say to type."""
    texts = [re.sub(r"\A\s*\+?[\d.]+s?\s+", "", step.do) for step in scenario.solution]
    texts += [hint.type for hint in scenario.hints]
    found: dict[str, None] = {}
    for text in texts:
        items, problems = parse_script(f"0 {text.strip()}")
        if len(items) == 1 and not problems and items[0].verb != "answer" and not looks(items[0]):
            found[items[0].words] = None
    return tuple(found)


def offers(drill: Drill, known: tuple[str, ...]) -> list[str]:
    """Every line worth a try now: answers, repairs, ALTER DATABASE … SET PARTNER and its like, what is *known*.

    A repair or chore is offered where a menu would offer it, and only if it has something to work on.
    """
    if drill.finished:
        return []
    lines = dict.fromkeys(
        f"answer {asked.name} {number}"
        for asked in drill.open_questions()
        for number in range(1, len(asked.choices) + 1)
    )
    lines |= dict.fromkeys((*_repairs(drill.world), *_statements(drill.world), *known))
    return [line for line in lines if _works(drill.world, line)]


def _repairs(world: World) -> Iterator[str]:
    names = {
        "server": list(world.instances),
        "client": list(world.clients),
        "database": world.databases(),
        "name": [*world.instances, *world.clients],
    }
    for verb in VERBS.values():
        if verb.group != "repair" or not all(kind in names for kind in verb.kinds):
            continue
        for args in product(*(names[kind] for kind in verb.kinds)):
            there = verb.kinds[:2] != ("server", "database") or args[:2] in world.copies
            if there and len(set(args)) == len(args) and verb.sensible(world, args):
                yield " ".join((verb.name, *args))


def _statements(world: World) -> Iterator[str]:
    """What the DBA may tell a server of each mirrored database; one that cannot be so now is not offered."""
    for (server, database), copy in world.copies.items():
        if copy.group_kind != "mirroring" or not world.instances[server].running:
            continue
        clauses = ["OFF"]
        if groups.policy(copy).leads(copy):
            clauses += ["FAILOVER", "SUSPEND", "RESUME", "SAFETY FULL", "SAFETY OFF"]
            if settings.witness(copy) is not None:
                yield f"sql {server} ALTER DATABASE [{database}] SET WITNESS OFF"
        else:
            clauses += ["FORCE_SERVICE_ALLOW_DATA_LOSS", "RESUME"]
        for clause in clauses:
            yield f"sql {server} ALTER DATABASE [{database}] SET PARTNER {clause}"


def _works(world: World, line: str) -> bool:
    """Whether *line* can be done and has something to work on; a server answers for itself."""
    try:
        item: Input = simulator.resolve(world, parse_line(line, world.tick))
        if item.verb in ("sql", "answer"):
            return True
        copy = world.fork()
        ledger.perform(copy, item)
    except InputProblem:
        return False
    return not any(event.get("no_effect") for event in copy.outbox)
