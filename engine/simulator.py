"""Main loop: the log flow advances in compiled steps; timers and stop conditions trigger the protocol.

Guarantees
    The same world and inputs give the same world, however the time is divided into calls. Within a tick, the
    order is fixed: stop conditions of the flow, timers in the order in which they were set, inputs. Changes
    are propagated after each of these groups, so every dependent part is updated before the next tick.

Change propagation
    Rules do not call the parts that depend on them. They change fields of immutable structs through
    `World.update_copy` and similar methods, which record the change (`changed`, `dirty`). After a change,
    `_propagate_changes` calls the listeners once, in a fixed order. The order is log space, witnesses,
    membership and roles of the cluster, availability groups, clients, SQL connections, availability records,
    fault records, and last the flow. `streams.update_flow` rebuilds the setups of only the log sources that
    have changed. Timers that only check and change nothing (`CHECKING_TIMERS`) do not start a propagation, so
    a second without events costs one compiled run.

Reasons
    The order is visible in one place, so no rule depends on the order of imports. Setups are derived from the
    world as a whole, so no rule can forget to restore a rate after it has changed one.

Rejected alternatives
    Observers that each part registers: the order depends on registration, and a stored world would have to
    store them.
    Recalculation of all setups in each step: the most expensive part of a run with a hundred databases.
    Threads or asyncio: the engine would depend on a scheduler (decision 4).
"""

import difflib
import heapq
from collections.abc import Callable, Container, Sequence
from typing import Final

from msgspec.structs import replace

from engine import tsql
from engine.availability import failover as group_failover
from engine.availability import movement, seeding, threads
from engine.availability import redo as group_redo
from engine.availability import role as group_role
from engine.cluster import instances, membership, roles, setup
from engine.events import Event, NoteData
from engine.flow import FlowStopCondition, Samples
from engine.inputs import Input, InputError, append_existing_names
from engine.localization import build_message, mark
from engine.mirroring import failover, monitor, pages, redo, session
from engine.model import Handlers, World
from engine.protocol import (
    availability,
    clients,
    disks,
    endpoints,
    group_policies,
    jobs,
    log_space,
    service,
    startup,
    streams,
)
from engine.tsql.language.lexer import is_read_only_input
from engine.verbs import VERBS
from engine.verbs.input_lines import execute_input, record_effects

TIMER_HANDLERS: Final[Handlers] = {
    **group_policies.HANDLERS,
    **membership.HANDLERS,
    **roles.HANDLERS,
    **instances.HANDLERS,
    **setup.HANDLERS,
    **movement.HANDLERS,
    **group_redo.HANDLERS,
    **group_failover.HANDLERS,
    **group_role.HANDLERS,
    **seeding.HANDLERS,
    **threads.HANDLERS,
    "database.recovered": service.on_recovered,
    "computer.off": service.on_computer_off,
    "computer.on": service.power_on,
    "session.meet": session.synchronize_roles,
    "failover.ask": failover.recheck_witness_answer,
    "failover.decide": failover.decide_failover,
    "failover.closed": failover.on_principal_closed,
    "failover.online": failover.become_principal,
    "failover.undone": failover.on_undo_done,
    "service.start": service.start_service,
    "service.started": service.on_service_started,
    "service.stopped": service.complete_service_stop,
    "client.cut": clients.break_connections,
    "client.try": clients.try_next_login,
    "client.timeout": clients.on_login_timeout,
    "client.query_end": clients.end_query,
    "service.off": service.on_shutdown_done,
    **jobs.HANDLERS,
    **endpoints.HANDLERS,
    **redo.HANDLERS,
    **pages.HANDLERS,
    **disks.HANDLERS,
    **startup.HANDLERS,
    **monitor.HANDLERS,
    **{name: handler for verb in VERBS.values() for name, handler in verb.timers.items()},
}
"""Timer name -> handler. Handlers of T-SQL timers are in `tsql.HANDLERS`."""

StopConditionHandlers = tuple[tuple[int, Callable[[World, int], None]], ...]

SOURCE_STOP_HANDLERS: Final[StopConditionHandlers] = (
    (FlowStopCondition.LOG_FULL.value, log_space.on_log_file_full),
    (FlowStopCondition.OPERATION_DONE.value, clients.on_operation_done),
)
"""(bit of a stop condition, handler) for a log source in the flow model, in the order of the calls."""

STREAM_STOP_HANDLERS: Final[StopConditionHandlers] = (
    (FlowStopCondition.SEND_DONE.value, group_policies.on_caught_up),
    (FlowStopCondition.REDO_DONE.value, group_policies.on_redo_done),
)
"""(bit of a stop condition, handler) for a log stream in the flow model, in the order of the calls."""


def resolve_names(world: World, input_: Input) -> Input:
    """Return the input with all names in the spelling of the world. Raises InputError for an unknown name."""
    verb, args = VERBS[input_.verb], list(input_.args)
    for index, parameter in enumerate(verb.parameters[: len(args)]):
        list_names = NAME_LISTERS.get(parameter.kind)
        if list_names is not None:
            name, sign, window = args[index], "", ""
            if parameter.kind == "window":
                name, sign, window = name.partition("#")
            names = list_names(world)
            if parameter.computer:
                names = list(dict.fromkeys([*names, *world.computers]))
            args[index] = _match_name(parameter.kind, name, names) + sign + window
    if verb.has_ends and args[0] == args[1] and not verb.same_end:
        raise InputError(
            build_message("{verb} needs two different ends, not {name} twice", verb=input_.verb, name=args[0])
        )
    return replace(input_, args=tuple(args))


NAME_LISTERS: Final[dict[str, Callable[[World], list[str]]]] = {
    "server": lambda world: list(world.instances),
    "client": lambda world: list(world.clients),
    "node": lambda world: list(world.nodes),
    "role": lambda world: [role.name for _, role in roles.iterate_roles(world)],
    "resource": lambda world: [
        resource.name for _, role in roles.iterate_roles(world) for resource in role.resources
    ],
    "cluster": lambda world: list(world.clusters),
    "database": lambda world: world.list_databases(),
    "name": lambda world: list(dict.fromkeys([*world.instances, *world.computers, *world.clients])),
    "window": lambda world: list(world.instances),
}
"""Kind of parameter -> function that lists the names that the parameter accepts."""


def _match_name(kind: str, name: str, known_names: Sequence[str]) -> str:
    for candidate in known_names:
        if candidate.lower() == name.lower():
            return candidate
    matches = difflib.get_close_matches(name, known_names, 1)
    problem = build_message(MISSING_NAME_TEXTS[kind], name=name)
    if matches:
        raise InputError(build_message("{problem}; did you mean {name}?", problem=problem, name=matches[0]))
    raise InputError(append_existing_names(problem, known_names) if known_names else problem)


MISSING_NAME_TEXTS: Final = {
    "server": mark("there is no server {name!r}"),
    "node": mark("there is no cluster node {name!r}"),
    "role": mark("there is no cluster role {name!r}"),
    "resource": mark("there is no cluster resource {name!r}"),
    "cluster": mark("cluster {name!r} does not exist"),
    "window": mark("there is no server {name!r}"),
    "client": mark("there is no client {name!r}"),
    "database": mark("there is no database {name!r}"),
    "name": mark("the name {name!r} does not exist"),
}


def apply_input(world: World, input_: Input) -> None:
    """Apply one input now. Raises InputError before any change if it cannot be applied as written."""
    apply_resolved_input(world, resolve_names(world, input_))


def apply_resolved_input(world: World, input_: Input) -> None:
    """Apply an input whose names already have the spelling of the world."""
    position, asks = len(world.outbox), input_.verb == "batch" and is_read_only_input(input_)
    asks = asks and tsql.is_connection_idle(world, input_.args[0])
    execute_input(world, input_)
    if (
        asks
        and tsql.is_connection_idle(world, input_.args[0])
        and all(e.kind in BATCH_EVENT_KINDS for e in world.outbox[position:])
    ):
        return  # a completed read-only batch changes no state that `_propagate_changes` checks
    _propagate_changes(world)


BATCH_EVENT_KINDS: Final = ("sql", "sql_done")
"""Kinds of the events at the start and at the end of a batch."""


def advance_world(
    world: World,
    end_tick: int,
    inputs: Sequence[Input] = (),
    samples: Samples | None = None,
    to_event: bool = False,
    to_change: bool = False,
) -> list[Event]:
    """Advance *world* to tick *end_tick* and return the events.

    With *to_event*, stop after the first tick with an event. With *to_change*, stop after the first
    tick with a change other than the clock, or in which a quantity of the flow crosses a threshold.

    *inputs* are in order of time and not in the past. Within a tick, timers run before inputs. The
    result of a run therefore does not depend on its division into calls.
    """
    waiting_inputs = list(reversed(inputs))
    before = world.settlings
    while True:
        _run_due_timers(world)
        while waiting_inputs and waiting_inputs[-1].tick <= world.tick:
            item = waiting_inputs.pop()
            try:
                apply_input(world, item)
            except InputError as problem:
                text = build_message("{input}: {why}", input=item.command_text, why=str(problem))
                world.emit(NoteData(refused=True), text)
            _run_due_timers(world)
        has_changed = to_change and (world.settlings != before or world.flow.passed)
        if has_changed or world.tick >= end_tick or (to_event and world.outbox):
            break
        due_tick = min(
            end_tick,
            world.timers[0][0] if world.timers else end_tick,
            waiting_inputs[-1].tick if waiting_inputs else end_tick,
        )
        ticks_run, sources, stream_crossings = streams.run(world.flow, due_tick - world.tick, samples)
        world.tick += ticks_run
        for source, crossings in sources:
            _call_stop_handlers(world, source, int(crossings), SOURCE_STOP_HANDLERS, world.sources)
        for stream, crossings in stream_crossings:
            _call_stop_handlers(world, stream, int(crossings), STREAM_STOP_HANDLERS, world.streams)
        if sources or stream_crossings:
            _propagate_changes(world)
    events, world.outbox = world.outbox, []
    return events


def _call_stop_handlers(
    world: World, number: int, bits: int, handlers: StopConditionHandlers, existing_numbers: Container[int]
) -> None:
    """Call the handlers of the stop conditions in *bits*, if *number* is in *existing_numbers*.

    *number*: number of the log source or stream. *bits*: one bit per stop condition, as an integer because
    arithmetic with flags is slow.
    """
    for bit, handler in handlers:
        if bits & bit and number in existing_numbers:
            handler(world, number)


def _run_due_timers(world: World) -> None:
    """Run all due timers, in the order in which they were set."""
    while world.timers and world.timers[0][0] <= world.tick:
        event_count, only_checked = len(world.outbox), True
        while world.timers and world.timers[0][0] <= world.tick:
            _, _, name, args = heapq.heappop(world.timers)
            only_checked = only_checked and name in CHECKING_TIMERS
            (TIMER_HANDLERS.get(name) or tsql.HANDLERS[name])(world, *args)
        if only_checked and len(world.outbox) == event_count and _is_unchanged(world):
            record_effects(
                world
            )  # without other changes, a fault can still have had an effect: a refused client
        else:
            _propagate_changes(world)


CHECKING_TIMERS: Final = frozenset(
    {"client.try", "redo.replay", "availability.replay", "availability.schema", "instance.watch"}
)
"""Timers that only check repeatedly. When one of them has an effect, it changes a database or emits an event."""


def _is_unchanged(world: World) -> bool:
    """Return True if there is no change that affects listeners and no input that waits for the flow."""
    return not (world.changed or world.dirty or world.batches or world.objects or world.log_was_full)


def _propagate_changes(world: World) -> None:
    """Call all listeners after a change: clients, availability records, flow, SQL connections and others."""
    world.settlings += 1
    log_space.resume_stopped_databases(world)
    session.ask_witnesses(world)
    if world.clusters and world.changed:
        membership.detect_membership_changes(world)
        roles.check_roles(world)
        group_failover.detect_missed_changes(world)
        movement.follow_primaries(world)
        seeding.update_seedings(world)
    clients.disconnect_refused_clients(world)
    tsql.check_connections(world)
    availability.update_availability(world)
    record_effects(world)
    streams.update_flow(world)
    if world.clusters:
        threads.schedule_shortage_updates(world)
    world.changed.clear()


def start_timers(world: World) -> None:
    """Set the timers that run from the start of the world."""
    for (server, database), copy in sorted(world.copies.items()):
        if copy.log_backup_every_s > 0.0:
            offset = world.chance.draw_uniform(0.0, copy.log_backup_every_s)
            world.call_after(offset, "log.backup", server, database)
    for server in sorted(world.instances):
        monitor.start_monitor_timer(world, server)
