"""View of one team role as plain data. The host selects the data, so that a role receives nothing else."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, TypedDict

from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context, quantities
from engine.drill.authoring.schema import RoleSpec
from engine.drill.running.state import DrillState
from engine.drill.team.calls import TeamCall
from engine.drill.team.rights import find_role_name
from engine.events import Event, SqlDoneData, TeamMessageData
from engine.model import World
from engine.protocol import group_policies, network

RoleViewRow = dict[str, object]
"""Row of a role's view: field name -> value."""

NOTICED_EVENTS_MAX: Final = 200
"""Maximum number of events that a role receives. Assumed."""


class ObservedGoal(TypedDict):
    """Goal of a drill, as a role sees it."""

    text: str
    met: bool | None
    """True if the goal is met; None while this is hidden."""


class ObservedQuestion(TypedDict):
    """Question that a role can answer now."""

    name: str
    text: str
    choices: list[str]


class RoleObservation(TypedDict):
    """State of a run, reduced to what one role can see."""

    role: str
    """Key of the role."""
    t_s: float
    over: bool
    """True if the run has ended."""
    computers: list[RoleViewRow]
    databases: list[RoleViewRow]
    links: list[RoleViewRow]
    clients: list[RoleViewRow]
    queues: list[RoleViewRow]
    """Monitor data of databases, if the role may see them."""
    goals: list[ObservedGoal]
    questions: list[ObservedQuestion]
    calls: list[RoleViewRow]
    """Calls that the role can read, oldest first."""
    news: list[RoleViewRow]
    """Events that the role has noticed, oldest first."""


def build_observation(drill: DrillState, role: RoleSpec, first_event: int = 0) -> RoleObservation:
    """Return what *role* currently sees of *drill*, with the events from number *first_event* on."""
    world, sees = drill.world, role.sees
    may_reveal = bool(drill.permissions.reports_progress or drill.finished)
    return {
        "role": str(role.key),
        "t_s": world.t_s,
        "over": drill.finished,
        "computers": list(_list_computers(world, role)) if "power" in sees else [],
        "databases": list(_list_databases(world, role)) if "databases" in sees else [],
        "links": list(_list_links(world, role)) if "links" in sees else [],
        "clients": [
            {
                "client": client.name,
                "connected_to": client.connected_to,
                "failed_logins": client.failed_logins,
            }
            for client in world.clients.values()
        ]
        if "clients" in sees
        else [],
        "queues": list(_list_queues(drill, role)) if "queues" in sees else [],
        "goals": [
            {"text": goal.text, "met": drill.goals[goal.name].is_reached if may_reveal else None}
            for goal in drill.scenario.goals
        ]
        if "goals" in sees
        else [],
        "questions": [
            {"name": question.name, "text": question.text, "choices": list(question.choices)}
            for question in drill.list_open_questions()
        ],
        "calls": [
            _build_call_row(drill, team_call) for team_call in drill.calls if can_read(role, team_call)
        ],
        "news": [_build_event_row(event) for event in list_noticed_events(drill, role, first_event)][
            -NOTICED_EVENTS_MAX:
        ],
    }


def list_noticed_events(drill: DrillState, role: RoleSpec, first_event: int = 0) -> list[Event]:
    """Return the events from number *first_event* on that *role* can notice now."""
    return [
        event
        for event in select_noticed_events(drill.events[first_event:], role)
        if event.kind not in SERVER_REPORT_KINDS
        or event.server is None
        or is_responding(drill.world, event.server)
    ]


def can_read(role: RoleSpec, call: TeamCall) -> bool:
    """Return whether *role* can read a message.

    A role reads the messages that it sends or receives, and all messages if its `sees` list contains calls.
    """
    return role.key in (call.by, call.to) or "calls" in role.sees


def select_noticed_events(events: Sequence[Event], role: RoleSpec) -> Iterator[Event]:
    """Yield the events that *role* notices."""
    return (event for event in events if can_notice(role, event))


def can_notice(role: RoleSpec, event: Event) -> bool:
    """Return whether *role* notices *event*.

    A role notices its own actions and their results, messages to it, and questions of the drill. It
    also notices events that its `sees` list covers.
    """
    author = event.data.by
    if isinstance(event.data, TeamMessageData):
        return role.key in (author, event.data.to) or "calls" in role.sees
    if author == role.key or event.kind == "question":
        return True
    if event.kind in ("sql_done", "sql", "powershell"):
        return False  # only the role that sent the batch sees the result
    if author is not None:
        return "acts" in role.sees
    sight = REQUIRED_SIGHTS.get(event.kind)
    if sight is None or sight not in role.sees:
        return False
    return sight in SERVERLESS_SIGHTS or event.server in role.servers


REQUIRED_SIGHTS: Final[dict[str, str]] = {
    "errorlog": "errorlog",
    "alert": "queues",
    "state": "databases",
    "role": "databases",
    "witness": "databases",
    "failover": "databases",
    "client": "clients",
    "goal": "goals",
}
"""Kind of event -> entry that a role needs in its `sees` list to notice the event.

Kinds without an entry belong to the drill itself.
"""
SERVER_REPORT_KINDS: Final = frozenset({"errorlog", "alert", "state", "role", "witness"})
"""Kinds of events that a server reports. A role does not notice them while the server does not respond."""
SERVERLESS_SIGHTS: Final = frozenset({"clients", "goals"})
"""Entries of a `sees` list that cover the events of all servers, not only of the role's servers."""


def _build_event_row(event: Event) -> RoleViewRow:
    row: RoleViewRow = {"t_s": event.t_s, "kind": event.kind, "server": event.server, "text": event.text}
    if isinstance(event_data := event.data, SqlDoneData):
        row |= {"batch": event_data.batch, "messages": event_data.messages, "results": event_data.results}
    return row


def _build_call_row(drill: DrillState, call: TeamCall) -> RoleViewRow:
    team = drill.scenario.team
    return {
        "kind": call.kind,
        "by": call.by,
        "to": call.to,
        "by_name": find_role_name(team, call.by),
        "to_name": find_role_name(team, call.to),
        "t_s": call.tick / TICKS_PER_S,
        "text": call.text,
        "read_back": call.read_back,
        "confirmed": call.confirmed_tick is not None,
        "repeated": call.repeated_tick is not None,
        "status": call.status,
        "waits": call.waits,
    }


# --- visible data -------------------------------------------------------------------------------------------


def _list_computers(world: World, role: RoleSpec) -> Iterator[RoleViewRow]:
    """Yield the state of each of the role's computers: power and cable, as its indicator lights show them."""
    for name in role.servers:
        computer = world.get_computer(name)
        yield {"server": name, "powered": computer.powered, "cable": computer.nic_up}


def is_responding(world: World, server: str) -> bool:
    """Return whether a server responds to a query over the network."""
    instance = world.instances.get(server)
    return instance is not None and instance.answering and world.get_computer_of(server).nic_up


def _list_databases(world: World, role: RoleSpec) -> Iterator[RoleViewRow]:
    """Yield each copy on the role's servers. If a server does not respond, yield a row without a database."""
    for server in role.servers:
        if server not in world.instances:
            continue
        if not is_responding(world, server):
            yield {"server": server, "database": None, "role": None, "state": None}
            continue
        for copy in world.copies.values():
            if copy.server != server:
                continue
            policy = group_policies.get_policy(copy)
            state = policy.get_state(copy) or copy.db_state.name
            yield {
                "server": server,
                "database": copy.database,
                "role": policy.get_role(copy) or None,
                "state": state,
            }


def _list_links(world: World, role: RoleSpec) -> Iterator[RoleViewRow]:
    """Yield the links between the role's servers. Both directions are one link."""
    for first_server, second_server in combinations(role.servers, 2):
        link, reverse_link = (
            network.get_link(world, first_server, second_server),
            network.get_link(world, second_server, first_server),
        )
        yield {
            "ends": [first_server, second_server],
            "up": link.up and reverse_link.up,
            "passing": link.passing and reverse_link.passing,
        }


def _list_queues(drill: DrillState, role: RoleSpec) -> Iterator[RoleViewRow]:
    """Yield the monitor data of databases whose leading copy is on one of the role's servers."""
    known_facts = condition_context.ConditionContext(drill.world, ())
    for database in drill.world.list_databases():
        copy = condition_context.find_leading_copy(drill.world, database)
        if copy is not None and copy.server in role.servers and is_responding(drill.world, copy.server):
            yield {"database": database} | {
                name: round(quantities.QUANTITIES[name].read(known_facts, database), 1)
                for name in MONITOR_QUANTITIES
            }


MONITOR_QUANTITIES: Final = ("send_queue_kb", "redo_queue_kb", "log_used_percent")
"""Quantities in the monitor data that a role sees."""
