"""Quantities of a world that conditions compare with numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from engine import arithmetic
from engine.cluster import config, instances
from engine.constants import TICKS_PER_S, VERSIONS
from engine.drill.authoring.facts import Facts, Kind
from engine.drill.team.calls import count_closed_orders, count_true_statuses
from engine.flow.setup import worker_threads
from engine.mirroring import monitor, settings
from engine.model import (
    Availability,
    AvailabilityGroup,
    FailoverMode,
    NameRecord,
    Node,
    Program,
    World,
)
from engine.protocol import (
    accounts,
    availability,
    drivers,
    jobs,
    serving,
    streams,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """Number that a condition may compare. *of* is the kind of its argument in brackets."""

    of: Kind | None
    help: str
    read: Callable[[Facts, str], float]
    moves: Literal["by events", "by the clock", "by itself"] = "by events"
    """Cause of its changes. By the clock: without events it stays constant or grows by a second each second.

    By itself: it may change at any moment.
    """
    counter: str = ""
    """Counter of the flow that it reads, if any."""
    whole: Callable[[Facts, str], float] = lambda facts, name: 0.0
    """Value of 100 %; 0: it is no percentage."""


def _build_flow_quantity(
    text: str, name: str, read_total: Callable[[Facts, str], float] | None = None
) -> Quantity:
    """Build a quantity for a counter of the flow, or for its percentage of *read_total*."""

    def read(facts: Facts, database: str) -> float:
        return streams.read_counter(facts.world, facts.log(database), name)

    def percent(facts: Facts, database: str) -> float:
        limit = read_total(facts, database) if read_total is not None else 0.0
        return 100.0 * read(facts, database) / limit if limit else 0.0

    if read_total is None:
        return Quantity("database", text, read, "by itself", name)
    return Quantity("database", text, percent, "by itself", name, read_total)


def _log_max_kb(facts: Facts, database: str) -> float:
    return max((copy.log_max_kb for copy in facts.world.copies_of(database)), default=0.0)


def _failovers(kind: str | None) -> Callable[[Facts, str], float]:
    def read(facts: Facts, database: str) -> float:
        return sum(
            failover.online_tick is not None
            and failover.database == database
            and kind in (None, failover.kind)
            for failover in facts.world.failovers
        )

    return read


def _timeout_s(facts: Facts, database: str) -> float:
    copy = facts.principal(database)
    return float(settings.timeout_s(copy)) if copy is not None else 0.0


def _operations_kb(facts: Facts, database: str) -> float:
    return float(
        arithmetic.total(event.get("log_kb") for event in facts.operations if event.database == database)
    )


def _damaged_pages(facts: Facts, database: str) -> float:
    return float(sum(len(copy.bad_pages) for copy in facts.world.copies_of(database)))


def _orphans(facts: Facts, server: str) -> float:
    databases = [database for where, database in facts.world.copies if where == server]
    return float(sum(len(accounts.orphans(facts.world, server, database)) for database in databases))


def _trustworthy(facts: Facts, database: str) -> float:
    key = serving.find_serving_key(facts.world, database)
    return float(key is not None and facts.world.copies[key].trustworthy)


def _owners_apart(facts: Facts, database: str) -> float:
    return float(len({copy.owner.lower() for copy in facts.world.copies_of(database)}) - 1)


def _enabled_jobs(facts: Facts, server: str) -> float:
    known = facts.world.instances[server].jobs
    return float(arithmetic.total(job.enabled and job.action != jobs.MONITOR for job in known))


def _thresholds(facts: Facts, server: str) -> float:
    alerts = facts.world.instances[server].alerts
    return float(arithmetic.total(alert.enabled and alert.alert_id in monitor.EVENTS for alert in alerts))


def _monitor_age_s(facts: Facts, server: str) -> float:
    rows = [rows[-1].tick for (where, _), rows in facts.world.monitor.items() if where == server and rows]
    return (facts.world.tick - max(rows)) / TICKS_PER_S if rows else math.inf


def _worker_threads(facts: Facts, server: str) -> float:
    state = facts.world.instances[server]
    return float(state.max_worker_threads or worker_threads(facts.world.computer_of(server).cores))


def _read_from_node(read: Callable[[World, Node], float]) -> Callable[[Facts, str], float]:
    """Build a reader of a value from the cluster of a server's node; 0 without a node."""

    def of_server(facts: Facts, server: str) -> float:
        node = facts.world.nodes.get(facts.world.computer_named(server).name)
        return float(read(facts.world, node)) if node is not None else 0.0

    return of_server


def _witness(world: World, node: Node) -> bool:
    return config.is_reachable(world, node.config.witness, config.members(world, node.partition))


def _owners(facts: Facts, server: str) -> float:
    role = instances.role_of(facts.world, server)
    installed = facts.world.instances[server].installed if role is not None else ()
    able = [node for node in installed if all(node in one.owners for one in role.resources)] if role else []
    return float(len(able))


def _read_from_group(read: Callable[[AvailabilityGroup], float]) -> Callable[[Facts, str], float]:
    """Build a reader of a value from a database's availability group; the value is 0 without a group.

    It reads the newest copy of the cluster database.
    """

    def of_database(facts: Facts, database: str) -> float:
        guid = next(
            (c.availability.guid for c in facts.world.copies_of(database) if c.availability.guid), None
        )
        nodes = sorted(facts.world.nodes.values(), key=lambda node: node.config.epoch)
        group = nodes[-1].config.group(guid) if nodes and guid is not None else None
        return float(read(group)) if group is not None else 0.0

    return of_database


def _health_session(facts: Facts, server: str) -> float:
    there = facts.world.instances[server]
    return float(there.running and "AlwaysOn_health" not in {*there.sessions_stopped, *there.sessions_manual})


def _record(facts: Facts, client: str) -> NameRecord:
    nothing = NameRecord(addresses=(), online="", ttl_s=0)
    return facts.world.records.get(facts.world.clients[client].data_source, nothing)


def _read_from_program(read: Callable[[Program], float]) -> Callable[[Facts, str], float]:
    return lambda facts, name: float(read(facts.world.programs[name]))


def _standstill_s(facts: Facts, program: str) -> float:
    known = facts.world.programs[program]
    running = 0 if known.answered_tick is None else facts.world.tick - known.answered_tick
    return max(known.longest_ticks, running) / TICKS_PER_S


def settle_account(world: World, database: str) -> Availability:
    """Return the account of *database* up to now."""
    return availability.accrue_ticks(world.availability[database], world.tick)


QUANTITIES: Final[dict[str, Quantity]] = {
    "time_s": Quantity(None, "seconds since the start", lambda f, _: f.world.t_s, "by the clock"),
    "downtime_s": Quantity(
        "database",
        "seconds of downtime",
        lambda f, d: settle_account(f.world, d).down_ticks / TICKS_PER_S,
        "by the clock",
    ),
    "exposed_s": Quantity(
        "database",
        "seconds unprotected, without a synchronized mirror",
        lambda f, d: settle_account(f.world, d).exposed_ticks / TICKS_PER_S,
        "by the clock",
    ),
    "lost_transactions": Quantity(
        "database", "committed transactions lost", lambda f, d: settle_account(f.world, d).lost_transactions
    ),
    "lost_kb": Quantity("database", "committed log lost", lambda f, d: settle_account(f.world, d).lost_kb),
    "send_queue_kb": _build_flow_quantity("log not yet sent", "send_queue_kb"),
    "redo_queue_kb": _build_flow_quantity("log not yet redone on the mirror", "redo_queue_kb"),
    "log_used_kb": _build_flow_quantity("log that cannot be reused", "log_used_kb"),
    "log_used_percent": _build_flow_quantity(
        "share of the maximum log size that cannot be reused", "log_used_kb", _log_max_kb
    ),
    "transactions_per_s": _build_flow_quantity("commits per second", "transactions_per_s"),
    "response_s": _build_flow_quantity("mean response time of a transaction", "response_s"),
    "commit_delay_ms": _build_flow_quantity("mean wait of a commit for the mirror", "commit_delay_ms"),
    "operations_kb": Quantity("database", "log of completed bulk loads and index rebuilds", _operations_kb),
    "failovers": Quantity("database", "completed failovers", _failovers(None)),
    "automatic_failovers": Quantity("database", "completed automatic failovers", _failovers("automatic")),
    "manual_failovers": Quantity("database", "completed manual failovers", _failovers("manual")),
    "forced_failovers": Quantity("database", "completed forced failovers", _failovers("forced")),
    "role_moves": Quantity(
        "database", "completed moves by Failover Cluster Manager or its cmdlets", _failovers("role-move")
    ),
    "node_weight": Quantity(
        "server",
        "NodeWeight of its node",
        _read_from_node(lambda world, node: config.current(world, node.cluster).weight(node.name)),
    ),
    "service_packs": Quantity(
        "server", "service packs installed on its node", _read_from_node(lambda world, node: node.level)
    ),
    "reaches_witness": Quantity("server", "1 while its cluster reaches a witness", _read_from_node(_witness)),
    "owners": Quantity(
        "server", "nodes on which the failover cluster instance is installed and may come online", _owners
    ),
    "has_listener": Quantity(
        "database",
        "1 while its availability group has a listener",
        _read_from_group(lambda group: group.listener is not None),
    ),
    "required_synchronized": Quantity(
        "database",
        "REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT of its group",
        _read_from_group(lambda group: group.required_synchronized),
    ),
    "health_check_timeout_ms": Quantity(
        "database",
        "HEALTH_CHECK_TIMEOUT of its group",
        _read_from_group(lambda group: group.health_check_timeout_ms),
    ),
    "failure_condition_level": Quantity(
        "database",
        "FAILURE_CONDITION_LEVEL of its group",
        _read_from_group(lambda group: group.failure_condition_level),
    ),
    "db_failover": Quantity(
        "database",
        "1 while its group has DB_FAILOVER = ON",
        _read_from_group(lambda group: group.db_failover),
    ),
    "automatic_replicas": Quantity(
        "database",
        "replicas of its group with automatic failover",
        _read_from_group(
            lambda group: len([one for one in group.replicas if one.failover is FailoverMode.AUTOMATIC])
        ),
    ),
    "health_session": Quantity(
        "server", "1 while AlwaysOn_health runs there and starts with the service", _health_session
    ),
    "failed_logins": Quantity(
        "client", "logins that ran into their timeout", lambda f, c: float(f.world.clients[c].failed_logins)
    ),
    "answers": Quantity(
        "program",
        "batches of it that were answered without an error",
        _read_from_program(lambda p: p.answers),
    ),
    "errors": Quantity(
        "program", "batches of it that ended with an error", _read_from_program(lambda p: p.errors)
    ),
    "moves": Quantity(
        "program", "times that another server answered it than before", _read_from_program(lambda p: p.moves)
    ),
    "lost_connections": Quantity(
        "program", "its connections that were broken", _read_from_program(lambda p: p.lost)
    ),
    "refused_logins": Quantity(
        "program", "its logins that were refused", _read_from_program(lambda p: p.refused)
    ),
    "standstill_s": Quantity(
        "program", "the longest time between two of its answers", _standstill_s, "by the clock"
    ),
    "command_timeout_s": Quantity(
        "client",
        "time-out of its commands; 0: none",
        lambda f, c: drivers.command_timeout_s(f.world.clients[c]),
    ),
    "by_listener": Quantity(
        "client",
        "1 if its connection string names a listener",
        lambda f, c: float(f.world.clients[c].data_source in f.world.listeners),
    ),
    "multi_subnet": Quantity(
        "client",
        "1 with MultiSubnetFailover=True in its connection string",
        lambda f, c: float(f.world.clients[c].multi_subnet),
    ),
    "listener_records": Quantity(
        "client",
        "addresses that the name server has of its listener",
        lambda f, c: float(len(_record(f, c).addresses)),
    ),
    "record_ttl_s": Quantity(
        "client", "time to live of its listener's name", lambda f, c: float(_record(f, c).ttl_s)
    ),
    "added_files": Quantity(
        "database",
        "files that were added to it",
        lambda f, d: float(max((len(copy.extra_files) for copy in f.world.copies_of(d)), default=0)),
    ),
    "closed_orders": Quantity(
        "role",
        "orders of this role that were read back correctly, confirmed and then carried out",
        lambda f, role: float(count_closed_orders(f.calls, role)),
    ),
    "true_statuses": Quantity(
        "role",
        "facts that this role told another one and that were so at that moment",
        lambda f, role: float(count_true_statuses(f.calls, role)),
    ),
    "trustworthy": Quantity("database", "1 while it is TRUSTWORTHY on the server that serves", _trustworthy),
    "owners_apart": Quantity(
        "database", "owners of its copies beyond the first: 0 while it is one login", _owners_apart
    ),
    "timeout_s": Quantity("database", "partner timeout", _timeout_s),
    "damaged_pages": Quantity("database", "damaged pages in all copies", _damaged_pages),
    "worker_threads": Quantity("server", "maximum of worker threads of the instance", _worker_threads),
    "version": Quantity(
        "server", ", ".join(map(str, VERSIONS)), lambda f, s: float(f.world.instances[s].version)
    ),
    "installs": Quantity(
        "server",
        "versions and service packs installed since the start",
        lambda f, s: float(f.world.instances[s].installs),
    ),
    "orphans": Quantity("server", "database users without a login (orphans)", _orphans),
    "enabled_jobs": Quantity("server", "enabled jobs, without the monitor's", _enabled_jobs),
    "linked_servers": Quantity(
        "server", "linked servers", lambda f, s: float(len(f.world.instances[s].linked_servers))
    ),
    "thresholds": Quantity("server", "enabled warnings of the mirroring monitor", _thresholds),
    "monitor_age_s": Quantity(
        "server", "age of the newest row in the monitor's history", _monitor_age_s, "by the clock"
    ),
}
"""Numbers by their names in conditions."""
