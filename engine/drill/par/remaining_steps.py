"""Steps of the solution that are left at a moment, and statements that repair its sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from engine.drill.authoring.schema import SolutionStep
from engine.drill.authoring.schema.world import SessionSpec
from engine.drill.judging.review import is_same_action
from engine.drill.par.candidate_actions import list_setup_statements
from engine.drill.par.search_drill import SearchDrill
from engine.inputs import Input
from engine.model import World
from engine.protocol import groups
from engine.verbs.lines import parse_script


def is_partner_statement(item: Input) -> bool:
    """Return whether the input is a SET PARTNER statement."""
    return item.verb == "sql" and "SET PARTNER" in item.line_without_time.upper()


def has_broken_session(drill: SearchDrill) -> bool:
    """Return whether a session of the scenario is removed or suspended."""
    copies = (
        drill.world.copies.get((server, session.database))
        for session in drill.scenario.sessions
        for server in (session.principal, session.mirror)
    )
    return any(
        copy is None or not copy.group_kind or groups.policy(copy).state(copy) == "SUSPENDED"
        for copy in copies
    )


def list_session_repairs(world: World, session: SessionSpec) -> list[str]:
    """List the remaining statements that repair the session."""
    leads = [
        copy.server
        for server in (session.principal, session.mirror)
        if (copy := world.copies.get((server, session.database))) is not None
        and groups.policy(copy).state(copy) == "SUSPENDED"
        and groups.policy(copy).is_leader(copy)
    ]
    resumed = [f"sql {server} ALTER DATABASE [{session.database}] SET PARTNER RESUME" for server in leads]
    return resumed + list_setup_statements(world, session)


def list_remaining_steps(moment: SearchDrill) -> list[SolutionStep]:
    """Return the steps of the solution that have not been applied, in their order."""
    return filter_undone(moment, moment.scenario.solution, parse_step)


Thing = TypeVar("Thing")


def filter_undone(
    moment: SearchDrill, planned: Iterable[Thing], act: Callable[[Thing], Input]
) -> list[Thing]:
    """List the *planned* items that are not done yet, in their order. *act* returns the input of an item."""
    done, left = list(moment.journal), []
    for each in planned:
        match = next((item for item in done if is_same_action(item, act(each))), None)
        if match is None:
            left.append(each)
        else:
            done.remove(match)
    return left


def parse_step(step: SolutionStep) -> Input:
    """Return the input of the step."""
    (planned,), _ = parse_script(step.do.strip())
    return planned


def remove_delay(step: SolutionStep) -> SolutionStep:
    """Return the step without its delay and its condition: `+5 power-on SERVER_A` as `+0 power-on SERVER_A`."""
    return step.model_copy(update={"do": f"+0 {step.do.strip().partition(' ')[2]}", "when": None})
