"""Quantities of a run that conditions compare with numbers, for example downtime or queue sizes."""

import math
from collections.abc import Callable, Mapping
from typing import Final, Literal, cast

from msgspec import Struct

from engine import arithmetic
from engine.cluster import config, instances
from engine.constants import TICKS_PER_S, VERSIONS
from engine.drill.authoring.condition_context import ConditionContext, ObjectKind
from engine.drill.team.calls import count_closed_orders, count_true_statuses
from engine.events import NoteData, select_data
from engine.flow.setup import compute_worker_threads
from engine.mirroring import monitor, prerequisites
from engine.model import Availability, AvailabilityGroup, FailoverMode, NameRecord, Node, Program, World
from engine.protocol import accounts, availability, drivers, jobs, serving, streams
from engine.tables import read_table

ChangeCause = Literal["by events", "by the clock", "by itself"]
"""Cause of a change of a quantity; see `Quantity.change_cause`."""


class Quantity(Struct, frozen=True):
    """Quantity that a condition can compare with a number."""

    object_kind: ObjectKind | None
    """Kind of object that is named in parentheses after the quantity; None if it concerns the whole run."""
    help: str
    """Description for authors."""
    read: Callable[[ConditionContext, str], float]
    """Function (context, name of the object) -> value."""
    change_cause: ChangeCause = "by events"
    """Cause of changes of the value. "by events": only events change it.

    "by the clock": without events, the value is constant or increases by one per second. "by itself": the
    value may change at any time.
    """
    counter: str = ""
    """Name of the flow counter that the quantity reads; empty if none."""
    full_value: Callable[[ConditionContext, str], float] = lambda facts, name: 0.0
    """Function that returns the value of 100%. It returns 0 if the quantity is not a percentage."""


def _build_flow_quantity(
    text: str, name: str, read_total: Callable[[ConditionContext, str], float] | None = None
) -> Quantity:
    """Build a quantity that reads the flow counter *name*. *text*: description for authors.

    With *read_total*, the quantity is a percentage of the value that *read_total* returns.
    """

    def read(context: ConditionContext, database: str) -> float:
        return streams.read_counter(context.world, context.find_log_numbers(database), name)

    def read_percent(context: ConditionContext, database: str) -> float:
        limit = read_total(context, database) if read_total is not None else 0.0
        return 100.0 * read(context, database) / limit if limit else 0.0

    if read_total is None:
        return Quantity("database", text, read, "by itself", name)
    return Quantity("database", text, read_percent, "by itself", name, read_total)


def _read_log_max_kb(context: ConditionContext, database: str) -> float:
    return max((copy.log_max_kb for copy in context.world.list_copies_of(database)), default=0.0)


def _build_failover_counter(kind: str | None) -> Callable[[ConditionContext, str], float]:
    def read(context: ConditionContext, database: str) -> float:
        return sum(
            failover.online_tick is not None
            and failover.database == database
            and kind in (None, failover.kind)
            for failover in context.world.failovers
        )

    return read


def _read_timeout_s(context: ConditionContext, database: str) -> float:
    copy = context.find_leading_copy(database)
    return float(prerequisites.get_timeout_s(copy)) if copy is not None else 0.0


def _sum_operations_kb(context: ConditionContext, database: str) -> float:
    return float(
        arithmetic.add_in_order(
            note.log_kb or 0.0
            for event, note in select_data(context.operations, NoteData)
            if event.database == database
        )
    )


def _count_damaged_pages(context: ConditionContext, database: str) -> float:
    return float(sum(len(copy.bad_pages) for copy in context.world.list_copies_of(database)))


def _count_orphans(context: ConditionContext, server: str) -> float:
    databases = [database for server_name, database in context.world.copies if server_name == server]
    return float(
        sum(len(accounts.list_orphaned_users(context.world, server, database)) for database in databases)
    )


def _count_trustworthy_copies(context: ConditionContext, database: str) -> float:
    key = serving.find_serving_key(context.world, database)
    return float(key is not None and context.world.copies[key].trustworthy)


def _count_different_owners(context: ConditionContext, database: str) -> float:
    return float(len({copy.owner.lower() for copy in context.world.list_copies_of(database)}) - 1)


def _count_enabled_jobs(context: ConditionContext, server: str) -> float:
    known_jobs = context.world.instances[server].jobs
    return float(arithmetic.add_in_order(job.enabled and job.action != jobs.MONITOR for job in known_jobs))


def _count_thresholds(context: ConditionContext, server: str) -> float:
    alerts = context.world.instances[server].alerts
    return float(
        arithmetic.add_in_order(
            alert.enabled and alert.alert_id in monitor.ALERT_MESSAGES for alert in alerts
        )
    )


def _measure_monitor_age_s(context: ConditionContext, server: str) -> float:
    rows = [
        rows[-1].tick
        for (server_name, _), rows in context.world.monitor.items()
        if server_name == server and rows
    ]
    return (context.world.tick - max(rows)) / TICKS_PER_S if rows else math.inf


def _count_worker_threads(context: ConditionContext, server: str) -> float:
    state = context.world.instances[server]
    return float(
        state.max_worker_threads or compute_worker_threads(context.world.get_computer_of(server).cores)
    )


def _build_node_reader(read: Callable[[World, Node], float]) -> Callable[[ConditionContext, str], float]:
    """Return a quantity reader that applies *read* to a server's cluster node.

    The reader returns 0 for a server that is no cluster node.
    """

    def read_for_server(context: ConditionContext, server: str) -> float:
        node = context.world.nodes.get(context.world.get_computer(server).name)
        return float(read(context.world, node)) if node is not None else 0.0

    return read_for_server


def _has_witness(world: World, node: Node) -> bool:
    return config.is_witness_reachable(world, node.config.witness, config.list_members(world, node.partition))


def _count_owners(context: ConditionContext, server: str) -> float:
    role = instances.find_instance_role(context.world, server)
    installed = context.world.instances[server].installed if role is not None else ()
    owner_nodes = (
        [node for node in installed if all(node in resource.owners for resource in role.resources)]
        if role
        else []
    )
    return float(len(owner_nodes))


def _build_group_reader(
    read: Callable[[AvailabilityGroup], float],
) -> Callable[[ConditionContext, str], float]:
    """Return a quantity reader that applies *read* to the availability group of a database.

    The reader uses the newest copy of the cluster database, and returns 0 for a database in no group.
    """

    def read_for_database(context: ConditionContext, database: str) -> float:
        guid = next(
            (c.availability.guid for c in context.world.list_copies_of(database) if c.availability.guid), None
        )
        nodes = sorted(context.world.nodes.values(), key=lambda node: node.config.epoch)
        group = nodes[-1].config.find_group(guid) if nodes and guid is not None else None
        return float(read(group)) if group is not None else 0.0

    return read_for_database


def _is_health_session_running(context: ConditionContext, server: str) -> float:
    instance = context.world.instances[server]
    return float(
        instance.running and "AlwaysOn_health" not in {*instance.sessions_stopped, *instance.sessions_manual}
    )


def _get_name_record(context: ConditionContext, client: str) -> NameRecord:
    record = NameRecord(addresses=(), online="", ttl_s=0)
    return context.world.records.get(context.world.clients[client].data_source, record)


def _build_program_reader(read: Callable[[Program], float]) -> Callable[[ConditionContext, str], float]:
    return lambda facts, name: float(read(facts.world.programs[name]))


def _measure_standstill_s(context: ConditionContext, program: str) -> float:
    known_program = context.world.programs[program]
    running = 0 if known_program.answered_tick is None else context.world.tick - known_program.answered_tick
    return max(known_program.longest_ticks, running) / TICKS_PER_S


def compute_availability(world: World, database: str) -> Availability:
    """Return the availability record of *database*, advanced to the current time."""
    return availability.advance_availability(world.availability[database], world.tick)


_QUANTITY_READERS: Final[Mapping[str, Callable[[ConditionContext, str], float]]] = {
    "time_s": lambda f, _: f.world.t_s,
    "downtime_s": lambda f, d: compute_availability(f.world, d).down_ticks / TICKS_PER_S,
    "exposed_s": lambda f, d: compute_availability(f.world, d).exposed_ticks / TICKS_PER_S,
    "lost_transactions": lambda f, d: compute_availability(f.world, d).lost_transactions,
    "lost_kb": lambda f, d: compute_availability(f.world, d).lost_kb,
    "operations_kb": _sum_operations_kb,
    "failovers": _build_failover_counter(None),
    "automatic_failovers": _build_failover_counter("automatic"),
    "manual_failovers": _build_failover_counter("manual"),
    "forced_failovers": _build_failover_counter("forced"),
    "role_moves": _build_failover_counter("role-move"),
    "node_weight": _build_node_reader(
        lambda world, node: config.find_current_config(world, node.cluster).get_weight(node.name)
    ),
    "service_packs": _build_node_reader(lambda world, node: node.level),
    "reaches_witness": _build_node_reader(_has_witness),
    "owners": _count_owners,
    "has_listener": _build_group_reader(lambda group: group.listener is not None),
    "required_synchronized": _build_group_reader(lambda group: group.required_synchronized),
    "health_check_timeout_ms": _build_group_reader(lambda group: group.health_check_timeout_ms),
    "failure_condition_level": _build_group_reader(lambda group: group.failure_condition_level),
    "db_failover": _build_group_reader(lambda group: group.db_failover),
    "automatic_replicas": _build_group_reader(
        lambda group: len(
            [replica for replica in group.replicas if replica.failover is FailoverMode.AUTOMATIC]
        )
    ),
    "health_session": _is_health_session_running,
    "failed_logins": lambda f, c: float(f.world.clients[c].failed_logins),
    "answers": _build_program_reader(lambda p: p.answers),
    "errors": _build_program_reader(lambda p: p.errors),
    "moves": _build_program_reader(lambda p: p.moves),
    "lost_connections": _build_program_reader(lambda p: p.lost),
    "refused_logins": _build_program_reader(lambda p: p.refused),
    "standstill_s": _measure_standstill_s,
    "command_timeout_s": lambda f, c: drivers.get_command_timeout_s(f.world.clients[c]),
    "by_listener": lambda f, c: float(f.world.clients[c].data_source in f.world.listeners),
    "multi_subnet": lambda f, c: float(f.world.clients[c].multi_subnet),
    "listener_records": lambda f, c: float(len(_get_name_record(f, c).addresses)),
    "record_ttl_s": lambda f, c: float(_get_name_record(f, c).ttl_s),
    "added_files": lambda f, d: float(
        max((len(copy.extra_files) for copy in f.world.list_copies_of(d)), default=0)
    ),
    "closed_orders": lambda f, role: float(count_closed_orders(f.calls, role)),
    "true_statuses": lambda f, role: float(count_true_statuses(f.calls, role)),
    "trustworthy": _count_trustworthy_copies,
    "owners_apart": _count_different_owners,
    "timeout_s": _read_timeout_s,
    "damaged_pages": _count_damaged_pages,
    "worker_threads": _count_worker_threads,
    "version": lambda f, s: float(f.world.instances[s].version),
    "installs": lambda f, s: float(f.world.instances[s].installs),
    "orphans": _count_orphans,
    "enabled_jobs": _count_enabled_jobs,
    "linked_servers": lambda f, s: float(len(f.world.instances[s].linked_servers)),
    "thresholds": _count_thresholds,
    "monitor_age_s": _measure_monitor_age_s,
}
"""Name -> function, for the quantities in quantities.tsv that do not read a flow counter."""


def _build_quantity(row: dict[str, str]) -> Quantity:
    subject_kind, help, moves = (
        cast("ObjectKind | None", row["of"] or None),
        row["help"],
        cast("ChangeCause", row["moves"]),
    )
    if row["counter"]:
        limit = _read_log_max_kb if row["name"].endswith("_percent") else None
        return _build_flow_quantity(help, row["counter"], limit)
    return Quantity(
        subject_kind,
        help.format(versions=", ".join(map(str, VERSIONS))),
        _QUANTITY_READERS[row["name"]],
        moves,
    )


QUANTITIES: Final = {
    row["name"]: _build_quantity(row) for row in read_table("engine.drill.authoring", "quantities.tsv")
}
"""Name in conditions -> quantity."""
