"""Actions that a seat can try at a given time in a drill, as input lines with existing names."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Final, TypeVar

from engine import simulator
from engine.availability import replicas
from engine.drill.authoring.schema import Scenario, SolutionStep
from engine.drill.authoring.schema.world import SessionSpec
from engine.drill.judging.counterfactual import is_inspection
from engine.drill.judging.review import is_same_action
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.drill import Drill
from engine.events import FaultData
from engine.inputs import Input, InputError
from engine.mirroring import prerequisites
from engine.model import DbState, World
from engine.protocol import availability, group_policies
from engine.verbs import VERBS
from engine.verbs.input_lines import execute_input, parse_input_line, parse_script

EMERGENCY_CHORES: Final = ("force-quorum", "move-role", "start-role", "restart-service")
"""Chores that can help in an emergency of any drill. All other chores are tried only if the scenario mentions
them. Assumed.
"""


def list_scenario_lines(scenario: Scenario, include_inspections: bool = False) -> tuple[str, ...]:
    """Return the input lines of the scenario's solution and hints, without times.

    *include_inspections*: True to include lines that only inspect the world.
    """
    texts = [re.sub(r"\A\s*\+?[\d.]+s?\s+", "", step.do) for step in scenario.solution]
    texts += [hint.type for hint in scenario.hints]
    lines: dict[str, None] = {}
    for text in texts:
        items, problems = parse_script(f"0 {text.strip()}")
        if (
            len(items) == 1
            and not problems
            and items[0].verb != "answer"
            and (include_inspections or not is_inspection(items[0]))
        ):
            lines[items[0].line_without_time] = None
    return tuple(lines)


def list_candidates(drill: Drill, known_lines: tuple[str, ...]) -> list[str]:
    """Return all input lines that are worth trying now.

    They are answers, repairs, votes, mirroring and availability group statements, and *known_lines*. A repair
    or chore is included if a menu would offer it and it would have an effect.
    """
    if drill.finished:
        return []
    lines = dict.fromkeys(
        f"answer {question.name} {number}"
        for question in drill.list_open_questions()
        for number in range(1, len(question.choices) + 1)
    )
    repairs = [
        line
        for session in drill.scenario.sessions
        for line in list_setup_statements(drill.world, session)[:1]
    ]
    repairs += list_vote_restorations(drill.world, drill.scenario)
    lines |= dict.fromkeys(
        (*_list_repair_lines(drill.world), *_list_statements(drill.world), *repairs, *known_lines)
    )
    return [line for line in lines if _is_applicable(drill.world, line)]


def list_repairs(world: World) -> list[str]:
    """Return the repairs that are possible and have an effect now, for a seat that may repair everything."""
    lines = (line for line in _list_repair_lines(world) if VERBS[line.partition(" ")[0]].group == "repair")
    return [line for line in lines if line != "revert-all" and _is_applicable(world, line)]


def list_emergency_actions(world: World) -> list[str]:
    """Return statements that restore service to databases that are down: failover and forced failover."""
    if all(availability.list_serving_copies(world, database) for database in world.availability):
        return []
    return [line for line in _list_statements(world) if line.endswith(("FAILOVER", "ALLOW_DATA_LOSS"))]


def list_setup_statements(world: World, session: SessionSpec) -> list[str]:
    """Return the statements that are still needed to set up a removed session again.

    The statement for the mirror comes first. A copy that is still RESTORING needs no new backup.
    """
    found_copies = (
        world.copies.get((server, session.database)) for server in (session.principal, session.mirror)
    )
    copies = [copy for copy in found_copies if copy is not None and world.instances[copy.server].running]
    lead = next((copy for copy in copies if copy.db_state is DbState.ONLINE), None)
    follower = next((copy for copy in copies if copy.db_state is DbState.RESTORING), None)
    if lead is None or follower is None:
        return []
    statements = []
    if not lead.group_kind and not follower.group_kind:
        if prerequisites.get_partner_address(follower) is None:
            statements.append((follower.server, "PARTNER", lead.server))
        statements.append((lead.server, "PARTNER", follower.server))
    if (
        session.witness is not None
        and lead.group_kind in ("", "mirroring")
        and prerequisites.get_witness(lead) is None
    ):
        statements.append((lead.server, "WITNESS", session.witness))
    ports = {
        name: endpoint.port for name, instance in world.instances.items() if (endpoint := instance.endpoint)
    }
    return [
        f"sql {server} ALTER DATABASE [{session.database}] SET {option} = 'TCP://{other_server}:{ports[other_server]}'"
        for server, option, other_server in statements
        if other_server in ports
    ]


def list_vote_restorations(world: World, scenario: Scenario) -> list[str]:
    """Return the commands that give nodes the votes that they had at the start."""
    nodes = {node for cluster in scenario.clusters for node in cluster.without_vote}
    return [
        f"set-weight {name} 1"
        for name, node in world.nodes.items()
        if name not in nodes and not node.config.get_weight(name)
    ]


def _list_repair_lines(world: World) -> Iterator[str]:
    names = {
        "server": list(world.instances),
        "client": list(world.clients),
        "database": world.list_databases(),
        "name": [*world.instances, *world.clients],
        "node": list(world.nodes),
        "cluster": list(world.clusters),
        "role": sorted({role.name for node in world.nodes.values() for role in node.config.roles}),
    }
    for verb in VERBS.values():
        if not (verb.group == "repair" or verb.name in EMERGENCY_CHORES) or not all(
            kind in names for kind in verb.kinds
        ):
            continue
        # offer all computers, because an instance may soon run on another one
        first = [list(world.computers)] if verb.applies_to_computer else []
        for args in product(*first, *(names[kind] for kind in verb.kinds[len(first) :])):
            is_present = verb.kinds[:2] != ("server", "database") or args[:2] in world.copies
            if is_present and len(set(args)) == len(args) and verb.sensible(world, args):
                yield " ".join((verb.name, *args))


def _list_statements(world: World) -> Iterator[str]:
    """Yield statements that a DBA can send to a server for each database in a session or availability group.

    Statements that are impossible now are omitted.
    """
    for (server, database), copy in world.copies.items():
        if not world.instances[server].running:
            continue
        if copy.group_kind == "mirroring":
            yield from _list_session_statements(world, server, database)
        elif copy.group_kind == "availability":
            for clause in ("SUSPEND", "RESUME", "OFF"):
                yield f"sql {server} ALTER DATABASE [{database}] SET HADR {clause}"
    for server, guid in world.replicas:
        group = replicas.find_group_config(world, server, guid)
        if group is None or not world.instances[server].running:
            continue
        if group.primary != server:
            for clause in ("FAILOVER", "FORCE_FAILOVER_ALLOW_DATA_LOSS"):
                yield f"sql {server} ALTER AVAILABILITY GROUP [{group.name}] {clause}"
        else:
            for replica in group.replicas:
                for option in (
                    "AVAILABILITY_MODE = SYNCHRONOUS_COMMIT",
                    "AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT",
                ):
                    if option != f"AVAILABILITY_MODE = {replica.mode.name}":
                        mode_change = f"MODIFY REPLICA ON N'{replica.server}' WITH ({option})"
                        yield f"sql {server} ALTER AVAILABILITY GROUP [{group.name}] {mode_change}"


def _list_session_statements(world: World, server: str, database: str) -> Iterator[str]:
    copy = world.copies[server, database]
    clauses = ["OFF"]
    if group_policies.get_policy(copy).is_leader(copy):
        clauses += ["FAILOVER", "SUSPEND", "RESUME", "SAFETY FULL", "SAFETY OFF"]
        if prerequisites.get_witness(copy) is not None:
            yield f"sql {server} ALTER DATABASE [{database}] SET WITNESS OFF"
    else:
        clauses += ["FORCE_SERVICE_ALLOW_DATA_LOSS", "RESUME"]
    for clause in clauses:
        yield f"sql {server} ALTER DATABASE [{database}] SET PARTNER {clause}"


def _is_applicable(world: World, line: str) -> bool:
    """Return whether *line* can be applied and has an effect.

    Statements and answers always count as applicable, because the server reports their errors.
    """
    try:
        item: Input = simulator.resolve_names(world, parse_input_line(line, world.tick))
        if item.verb in ("sql", "answer"):
            return True
        copy = world.fork()
        execute_input(copy, item)
    except InputError:
        return False
    return not any(isinstance(event.data, FaultData) and event.data.no_effect for event in copy.outbox)


# --- remaining steps of the solution, and statements that repair sessions -----------------------------------


def is_partner_statement(input_: Input) -> bool:
    """Return whether the input is a SET PARTNER statement."""
    return input_.verb == "sql" and "SET PARTNER" in input_.line_without_time.upper()


def has_broken_session(drill: SearchDrill) -> bool:
    """Return whether a session of the scenario is currently removed or suspended."""
    copies = (
        drill.world.copies.get((server, session.database))
        for session in drill.scenario.sessions
        for server in (session.principal, session.mirror)
    )
    return any(
        copy is None or not copy.group_kind or group_policies.get_policy(copy).get_state(copy) == "SUSPENDED"
        for copy in copies
    )


def list_session_repairs(world: World, session: SessionSpec) -> list[str]:
    """Return the statements that are still needed to repair *session*."""
    leads = [
        copy.server
        for server in (session.principal, session.mirror)
        if (copy := world.copies.get((server, session.database))) is not None
        and group_policies.get_policy(copy).get_state(copy) == "SUSPENDED"
        and group_policies.get_policy(copy).is_leader(copy)
    ]
    resumed = [f"sql {server} ALTER DATABASE [{session.database}] SET PARTNER RESUME" for server in leads]
    return resumed + list_setup_statements(world, session)


def list_remaining_steps(run: SearchDrill) -> list[SolutionStep]:
    """Return the steps of the solution that the run has not yet applied, in order."""
    return filter_unapplied(run, run.scenario.solution, parse_step)


Item = TypeVar("Item")


def filter_unapplied(
    run: SearchDrill, planned: Iterable[Item], get_input: Callable[[Item], Input]
) -> list[Item]:
    """Return the items of *planned* that the run has not yet applied, in order.

    *get_input* returns the input of an item.
    """
    inputs, remaining_inputs = list(run.journal), []
    for planned_input in planned:
        match = next((item for item in inputs if is_same_action(item, get_input(planned_input))), None)
        if match is None:
            remaining_inputs.append(planned_input)
        else:
            inputs.remove(match)
    return remaining_inputs


def parse_step(step: SolutionStep) -> Input:
    """Parse the input line of a step."""
    (planned,), _ = parse_script(step.do.strip())
    return planned


def remove_delay(step: SolutionStep) -> SolutionStep:
    """Return the step without delay and condition: `+5 power-on SERVER_A` becomes `+0 power-on SERVER_A`."""
    return step.model_copy(update={"do": f"+0 {step.do.strip().partition(' ')[2]}", "when": None})
