"""Statements about availability groups: their checks in the order of SQL Server, and their effects."""

from engine.availability.commands import configuration, databases, listener
from engine.availability.commands.configuration import Options
from engine.availability.commands.creation import (
    create_group,
    drop_group,
    join_group,
    start_forced_failover,
    start_planned_failover,
    take_group_offline,
)
from engine.availability.commands.databases import execute_resume, execute_suspend
from engine.messages import SqlError
from engine.model import World
from engine.protocol import statements

__all__ = [
    "create_group",
    "databases",
    "drop_group",
    "execute_alter",
    "execute_resume",
    "execute_suspend",
    "start_forced_failover",
    "start_planned_failover",
]


def execute_alter(
    world: World,
    server: str,
    name: str,
    action: str,
    options: Options,
    names: tuple[str, ...],
    replica_options: tuple[tuple[str, Options], ...],
    address: str,
) -> statements.Outcome:
    """Execute ALTER AVAILABILITY GROUP; *action* is the keyword of the statement."""
    verb, _, noun = action.partition(" ")
    if noun == "LISTENER":
        return listener.LISTENER_ACTIONS[verb](world, server, name, address, options)
    if noun == "DATABASE":
        if verb == "MODIFY":
            raise SqlError(102, noun)
        act = databases.add_databases if verb == "ADD" else databases.remove_databases
        return act(world, server, name, names)
    if noun == "REPLICA":
        return REPLICA_ACTIONS[verb](world, server, name, replica_options)
    if action in ("GRANT", "DENY"):
        return configuration.set_creation_permission(world, server, name, action == "GRANT")
    if action in ("SET", "JOIN"):
        do = configuration.set_options if action == "SET" else join_group
        return do(world, server, name, options)
    return GROUP_ACTIONS[action](world, server, name)


REPLICA_ACTIONS = {
    "ADD": configuration.add_replica,
    "MODIFY": configuration.modify_replica,
    "REMOVE": configuration.remove_replica,
}
GROUP_ACTIONS = {
    "FAILOVER": start_planned_failover,
    "FORCE": start_forced_failover,
    "OFFLINE": take_group_offline,
}
