"""Options of a group and of its replicas: SET, and ADD, MODIFY and REMOVE REPLICA.

[DOC: ALTER AVAILABILITY GROUP]
"""

import re
from collections.abc import Callable, Container
from functools import partial
from typing import Final

from msgspec.structs import replace

from engine.availability import movement, replicas, seeding
from engine.cluster import config, instances, roles
from engine.messages import Message, SqlError
from engine.model import (
    AvailabilityGroup,
    CommitMode,
    DatabaseCopy,
    FailoverMode,
    Node,
    Replica,
    ReplicaRole,
    ReplicaWord,
    World,
)

OptionValue = str | tuple[str, ...]
Options = tuple[tuple[str, OptionValue], ...]
ReplicaOptions = tuple[tuple[str, Options], ...]
"""(server name, options of its replica) of each replica in a statement."""

ENDPOINT_URL_PATTERN: Final = re.compile(r"TCP://[^:/]+:(\d{1,5})/?$", re.IGNORECASE)
"""Pattern TCP://system-address:port. [DOC: CREATE AVAILABILITY GROUP]"""

PORT_MAX: Final = 65_535


def is_endpoint_url(value: OptionValue) -> bool:
    """Return whether *value* has the form TCP://system-address:port."""
    url_match = ENDPOINT_URL_PATTERN.match(value) if isinstance(value, str) else None
    return url_match is not None and 1 <= int(url_match[1]) <= PORT_MAX


OPTION_FIRST_VERSIONS: Final = {
    "SEEDING_MODE": 2016, "DB_FAILOVER": 2016, "DTC_SUPPORT": 2016, "BASIC": 2016, "CLUSTER_TYPE": 2017,
    "REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT": 2017, "PRIMARY_ROLE READ_WRITE_ROUTING_URL": 2019,
}  # fmt: skip
"""Option -> first version that has it, for options that are newer than availability groups. [DOC: CREATE
AVAILABILITY GROUP]
"""

UNSIMULATED_VALUE_FIRST_VERSIONS: Final = {
    ("CLUSTER_TYPE", "NONE"): 2017, ("CLUSTER_TYPE", "EXTERNAL"): 2017, ("FAILOVER_MODE", "EXTERNAL"): 2017,
    ("AVAILABILITY_MODE", "CONFIGURATION_ONLY"): 2017, ("ROLE", "SECONDARY"): 2017, ("WRITE_LEASE_VALIDITY", ""): 2019,
    ("CONTAINED", ""): 2022, ("REUSE_SYSTEM_DATABASES", ""): 2022,
}  # fmt: skip
"""(option, value) -> first version that accepts this value, for values that are not simulated.

An empty value means any value. The entries belong to groups without a Windows cluster and to contained
groups.
"""

REPLICA_LIMITS: Final = ((2012, 5, 3, 2), (2014, 9, 3, 2), (2016, 9, 3, 3), (2019, 9, 5, 5))
"""(version, maximum replicas, synchronous replicas, replicas with automatic failover), including the primary.
[DOC: prerequisites of availability groups]
"""


BASIC_GROUP_REPLICAS_MAX: Final = 2
"""Maximum number of replicas of a basic group. [DOC: basic availability groups]"""


def get_replica_limits(version: int) -> tuple[int, int, int]:
    """Return the maximum number of replicas: all, synchronous, and with automatic failover."""
    return next(row[1:] for row in reversed(REPLICA_LIMITS) if row[0] <= version)


def check_option_name(name: str, value: OptionValue, allowed_names: Container[str], version: int) -> None:
    """Raise 102 for an option that is not in *allowed_names* or that this version does not have.

    Raise "Not simulated" for an option or value that SQL Server has and the simulation does not have.
    """
    if version < OPTION_FIRST_VERSIONS.get(name, 0):
        raise SqlError(102, name.split()[-1])
    option_text = str(value).upper()
    first_version = UNSIMULATED_VALUE_FIRST_VERSIONS.get(
        (name, option_text)
    ) or UNSIMULATED_VALUE_FIRST_VERSIONS.get((name, ""))
    if first_version is not None and version >= first_version:
        text = f"{name} = {option_text}" if option_text else name
        raise SqlError(0, f"Not simulated: the option {text} of an availability group")
    if name not in allowed_names:
        raise SqlError(102, name.split()[-1])


def require_keyword(value: OptionValue, *allowed: str) -> str:
    """Return *value* if it is one of the allowed keywords. Raise 102 otherwise."""
    if not isinstance(value, str) or value.upper() not in allowed:
        raise SqlError(102, value if isinstance(value, str) else "(")
    return value.upper()


OPTION_NUMBER_MAX: Final = 2**32 - 1
"""Largest number that an option can have: the maximum health check timeout in ms.

[DOC: CREATE AVAILABILITY GROUP]
"""


def parse_integer(value: OptionValue) -> int:
    """Return *value* if it is an integer. Raise 102 otherwise."""
    if not isinstance(value, str) or not value.isdigit() or int(value) > OPTION_NUMBER_MAX:
        raise SqlError(102, value if isinstance(value, str) else "(")
    return int(value)


def reject_repeated_options(options: Options) -> None:
    """Raise 102 for an option that is given twice. Derived."""
    names = [name for name, _ in options]
    repeated = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if repeated is not None:
        raise SqlError(102, repeated.split()[-1])


def check_syntax(
    server: str, name: str, options: Options, replica_options: ReplicaOptions, version: int
) -> None:
    """Raise the syntax errors that the server reports before it looks up a group."""
    group = AvailabilityGroup(name=name, guid=0, primary=server, replicas=())
    replica = Replica(server="", endpoint_url="")
    changes: list[Callable[[], object]] = [partial(apply_options, group, options, version)]
    for target, options_of_target in replica_options:
        if not options_of_target:
            raise SqlError(102, target)
        reject_repeated_options(options_of_target)
        changes.append(partial(apply_replica_options, replica, options_of_target, "", version))
    reject_repeated_options(options)
    for change in changes:
        try:
            change()
        except SqlError as problem:
            if problem.number in (0, 102):
                raise


# --- options of a group -------------------------------------------------------------------------------------


def _set_failure_condition_level(group: AvailabilityGroup, value: OptionValue) -> AvailabilityGroup:
    level = parse_integer(value)
    if not 1 <= level <= 5:
        raise SqlError(35228, group.name, 1, 5)
    return replace(group, failure_condition_level=level)


HEALTH_CHECK_MS_MIN: Final = 15_000
"""Minimum health check timeout in ms. [DOC: flexible failover policy]"""


def _set_health_check_timeout(group: AvailabilityGroup, value: OptionValue) -> AvailabilityGroup:
    timeout = parse_integer(value)
    if timeout < HEALTH_CHECK_MS_MIN:
        raise SqlError(35229, group.name, HEALTH_CHECK_MS_MIN)
    return replace(group, health_check_timeout_ms=timeout)


def _set_required_secondaries(group: AvailabilityGroup, value: OptionValue) -> AvailabilityGroup:
    changed_group = replace(group, required_synchronized=parse_integer(value))
    check_required_secondaries(changed_group, "ALTER AVAILABILITY GROUP")
    return changed_group


def check_required_secondaries(group: AvailabilityGroup, operation: str) -> None:
    """Raise 35248 if more synchronized secondaries are required than the group can have."""
    synchronous = sum(replica.mode is CommitMode.SYNCHRONOUS_COMMIT for replica in group.replicas)
    possible = max(0, synchronous - 1)
    if group.required_synchronized > possible:
        raise SqlError(35248, operation, group.required_synchronized, possible, group.name)


def _set_cluster_type(group: AvailabilityGroup, value: OptionValue) -> AvailabilityGroup:
    require_keyword(value, "WSFC")
    return group


GROUP_OPTIONS: Final[dict[str, Callable[[AvailabilityGroup, OptionValue], AvailabilityGroup]]] = {
    "AUTOMATED_BACKUP_PREFERENCE": lambda group, value: replace(
        group, backup_preference=require_keyword(value, "PRIMARY", "SECONDARY_ONLY", "SECONDARY", "NONE")
    ),
    "FAILURE_CONDITION_LEVEL": _set_failure_condition_level,
    "HEALTH_CHECK_TIMEOUT": _set_health_check_timeout,
    "DB_FAILOVER": lambda group, value: replace(
        group, db_failover=require_keyword(value, "ON", "OFF") == "ON"
    ),
    "REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT": _set_required_secondaries,
    "BASIC": lambda group, value: replace(group, basic=True),
    "DTC_SUPPORT": lambda group, value: replace(
        group, dtc=require_keyword(value, "PER_DB", "NONE") == "PER_DB"
    ),
    "CLUSTER_TYPE": _set_cluster_type,
}
"""Option -> function that returns the group with a new value of this option."""


def apply_options(group: AvailabilityGroup, options: Options, version: int) -> AvailabilityGroup:
    """Return the group with the options of CREATE or SET. Raise 102, 35228, 35229 or 35248."""
    for name, value in options:
        check_option_name(name, value, GROUP_OPTIONS, version)
        group = GROUP_OPTIONS[name](group, value)
    return group


def set_options(world: World, server: str, name: str, options: Options) -> list[Message]:
    """Execute SET (option = value). Raise 102 if there is a second option."""
    version = world.instances[server].version
    if len(options) > 1:
        raise SqlError(102, ",")
    if options[0][0] in ("BASIC", "CLUSTER_TYPE", "CONTAINED"):
        raise SqlError(102, options[0][0])
    check_syntax(server, name, options, (), version)
    group = require_primary(world, server, name, "set", "option")
    apply_options(group, options, version)
    replicas.change_group(world, server, group.guid, lambda old: apply_options(old, options, version))
    return []


# --- options of a replica -----------------------------------------------------------------------------------

SESSION_TIMEOUT_S_MIN: Final = 5
"""Minimum session timeout in seconds. [DOC: CREATE AVAILABILITY GROUP]"""

BACKUP_PRIORITY_MAX: Final = 100
"""Maximum backup priority. [DOC: CREATE AVAILABILITY GROUP]"""


def _set_session_timeout(replica: Replica, value: OptionValue, operation: str) -> Replica:
    if parse_integer(value) < SESSION_TIMEOUT_S_MIN:
        raise SqlError(35214, operation, replica.server, SESSION_TIMEOUT_S_MIN)
    return replace(replica, session_timeout_s=parse_integer(value))


def _set_backup_priority(replica: Replica, value: OptionValue, operation: str) -> Replica:
    if parse_integer(value) > BACKUP_PRIORITY_MAX:
        raise SqlError(35209, operation, replica.server, 0, BACKUP_PRIORITY_MAX)
    return replace(replica, backup_priority=parse_integer(value))


def _set_endpoint_url(replica: Replica, value: OptionValue, operation: str) -> Replica:
    if not isinstance(value, str) or not is_endpoint_url(value):
        raise SqlError(35232, value if isinstance(value, str) else "")
    return replace(replica, endpoint_url=value)


def _set_routing_url(replica: Replica, value: OptionValue, operation: str) -> Replica:
    if not isinstance(value, str) or not is_endpoint_url(value):
        raise SqlError(19401, value if isinstance(value, str) else "", replica.server)
    return replace(replica, read_only_routing_url=value)


def _set_write_routing_url(replica: Replica, value: OptionValue, operation: str) -> Replica:
    return replace(
        replica, read_write_routing_url=_set_routing_url(replica, value, operation).read_only_routing_url
    )


def _set_routing_list(replica: Replica, value: OptionValue, operation: str) -> Replica:
    names = value if isinstance(value, tuple) else ()
    if isinstance(value, str):
        require_keyword(value, "NONE")
    elif not names:
        raise SqlError(102, ")")
    folded = [name.lower() for name in names]
    double = next((name for index, name in enumerate(names) if name.lower() in folded[:index]), None)
    if double is not None:
        raise SqlError(19402, double, replica.server)
    return replace(replica, read_only_routing_list=names, routing_priorities=())


ROUTING_LIST_OPTIONS: Final = "PRIMARY_ROLE READ_ONLY_ROUTING_LIST PRIORITY"
"""Options of the routing list. Servers in inner parentheses share the connections (since 2016). [DOC:
read-only routing]
"""


REPLICA_OPTIONS: Final[dict[str, Callable[[Replica, OptionValue, str], Replica]]] = {
    "ENDPOINT_URL": _set_endpoint_url,
    "AVAILABILITY_MODE": lambda replica, value, operation: replace(
        replica, mode=CommitMode[require_keyword(value, "SYNCHRONOUS_COMMIT", "ASYNCHRONOUS_COMMIT")]
    ),
    "FAILOVER_MODE": lambda replica, value, operation: replace(
        replica, failover=FailoverMode[require_keyword(value, "AUTOMATIC", "MANUAL")]
    ),
    "BACKUP_PRIORITY": _set_backup_priority,
    "SESSION_TIMEOUT": _set_session_timeout,
    "SECONDARY_ROLE ALLOW_CONNECTIONS": lambda replica, value, operation: replace(
        replica, secondary_connections=require_keyword(value, "NO", "READ_ONLY", "ALL")
    ),
    "SECONDARY_ROLE READ_ONLY_ROUTING_URL": _set_routing_url,
    "PRIMARY_ROLE ALLOW_CONNECTIONS": lambda replica, value, operation: replace(
        replica, primary_connections=require_keyword(value, "READ_WRITE", "ALL")
    ),
    "PRIMARY_ROLE READ_ONLY_ROUTING_LIST": _set_routing_list,
    "PRIMARY_ROLE READ_WRITE_ROUTING_URL": _set_write_routing_url,
    ROUTING_LIST_OPTIONS: lambda replica, value, operation: replace(
        replica, routing_priorities=tuple(map(int, value))
    ),
    "SEEDING_MODE": lambda replica, value, operation: replace(
        replica, seeding=require_keyword(value, "AUTOMATIC", "MANUAL") == "AUTOMATIC"
    ),
}
"""Option -> function that returns the replica with a new value of this option.

The function's last argument is the operation that error messages name.
"""


def apply_replica_options(replica: Replica, options: Options, operation: str, version: int) -> Replica:
    """Return the replica with new options. Raise 102, 35209, 35214, 35232, 19401 or 19402."""
    for name, value in options:
        check_option_name(name, value, REPLICA_OPTIONS, version)
        if name == ROUTING_LIST_OPTIONS and version < 2016:
            raise SqlError(102, "(")
        replica = REPLICA_OPTIONS[name](replica, value, operation)
    return replica


def build_replica(server: str, options: Options, operation: str, version: int) -> Replica:
    """Return a new replica that has not joined yet. Raise 35236, 41198 or 41197 for a missing option."""
    replica = apply_replica_options(
        Replica(server=server, endpoint_url="", joined=False), options, operation, version
    )
    given_names = {name for name, _ in options}
    for name, missing in (("ENDPOINT_URL", 35236), ("AVAILABILITY_MODE", 41198), ("FAILOVER_MODE", 41197)):
        if name not in given_names:
            raise SqlError(missing, server)
    return replica


def require_compatible_replicas(world: World, group: AvailabilityGroup, operation: str, version: int) -> None:
    """Check that the options of the replicas are compatible.

    Raise 35211, 35215, 35212, 35213, 19403, 19404 or 41199.
    """
    _, synchronous_max, automatic_max = get_replica_limits(version)
    if group.basic and any(replica.secondary_connections != "NO" for replica in group.replicas):
        raise SqlError(41199, "allow_connections", state=8)
    for replica in group.replicas:
        if replica.failover is FailoverMode.AUTOMATIC:
            if replica.mode is CommitMode.ASYNCHRONOUS_COMMIT:
                raise SqlError(35211, operation, replica.server)
            instance = world.instances.get(replica.server)
            if instance is not None and instance.clustered:
                raise SqlError(35215, operation, replica.server)
        for name in replica.read_only_routing_list:
            target = group.find_replica(name)
            if target is None:
                raise SqlError(19403, name, replica.server, group.name)
            if not target.read_only_routing_url:
                raise SqlError(19404, name, replica.server)
    if sum(replica.mode is CommitMode.SYNCHRONOUS_COMMIT for replica in group.replicas) > synchronous_max:
        raise SqlError(35212, operation, synchronous_max, group.name)
    if sum(replica.failover is FailoverMode.AUTOMATIC for replica in group.replicas) > automatic_max:
        raise SqlError(35213, operation, automatic_max, group.name)
    check_required_secondaries(group, operation)


def find_server_spelling(world: World, name: str) -> str:
    """Return the name of the server in its original spelling. Case does not matter.

    Return *name* unchanged if there is no such server.
    """
    return next((server for server in world.instances if server.lower() == name.lower()), name)


def modify_replica(world: World, server: str, name: str, replica_options: ReplicaOptions) -> list[Message]:
    """Execute MODIFY REPLICA ON 'server' WITH (option = value), with one option.

    Raise 35210 for an unknown replica, 41185 if the statement would change nothing.
    """
    version = world.instances[server].version
    (target, options), *more_options = replica_options
    if more_options or sum(name != ROUTING_LIST_OPTIONS for name, _ in options) > 1:
        raise SqlError(102, ",")
    check_syntax(server, name, (), replica_options, version)
    group = require_primary(world, server, name, "modify", "replica")
    old_replica = group.find_replica(find_server_spelling(world, target))
    if old_replica is None:
        raise SqlError(35210, target, group.name)
    new = apply_replica_options(old_replica, options, "MODIFY REPLICA", version)
    changed_replica = replace(
        group, replicas=tuple(new if replica is old_replica else replica for replica in group.replicas)
    )
    require_compatible_replicas(world, changed_replica, "MODIFY REPLICA", version)
    if new.seeding and options[0][0] == "SEEDING_MODE":
        seeding.restart_seedings(world, new.server, group.guid)
    if new == old_replica:
        return []
    replicas.change_group(
        world, server, group.guid, lambda config: replace(config, replicas=changed_replica.replicas)
    )
    if new.mode is not old_replica.mode:
        movement.apply_availability_modes(world, group.guid, server)
    for copy in replicas.list_group_copies(world, new.server, group.guid):
        key = (new.server, copy.database)
        world.update_availability(key, **replicas.get_allowed_connections(world, key))
    return []


# --- ADD and REMOVE REPLICA ---------------------------------------------------------------------------------


def check_replica_nodes(world: World, group: AvailabilityGroup) -> None:
    """Check that each replica runs on its own node of the cluster. Raise 41015, 41039 or 19405."""
    replicas_by_node: dict[str, Replica] = {}
    for replica in group.replicas:
        node = config.find_server_node(world, replica.server)
        if node is None:
            raise SqlError(41015, 5042, replica.server)
        for name in instances.list_possible_nodes(world, replica.server):
            other_replica = replicas_by_node.get(name)
            if other_replica is not None and (
                _is_on_instance(world, replica) or _is_on_instance(world, other_replica)
            ):
                raise SqlError(19405, group.name, name, other_replica.server, replica.server)
            if other_replica is not None:
                raise SqlError(41039, name)
            replicas_by_node[name] = replica


def _is_on_instance(world: World, replica: Replica) -> bool:
    return world.instances[replica.server].clustered


def add_replica(world: World, server: str, name: str, replica_options: ReplicaOptions) -> list[Message]:
    """Execute ADD REPLICA at the primary. The new replica joins later by a statement on its server.

    Raise 35282 or 35223.
    """
    version = world.instances[server].version
    check_syntax(server, name, (), replica_options, version)
    group = require_primary(world, server, name, "add", "replica")
    replica_max = BASIC_GROUP_REPLICAS_MAX if group.basic else get_replica_limits(version)[0]
    if len(group.replicas) + len(replica_options) > replica_max:
        raise SqlError(35223, len(replica_options), group.name, len(group.replicas), replica_max)
    added_replicas: list[Replica] = []
    for target, options in replica_options:
        server_name = find_server_spelling(world, target)
        if group.find_replica(server_name) is not None:
            raise SqlError(35282, target, group.name)
        added_replicas.append(build_replica(server_name, options, "ADD REPLICA", version))
    changed_group = replace(group, replicas=(*group.replicas, *added_replicas))
    require_compatible_replicas(world, changed_group, "ADD REPLICA", version)
    check_replica_nodes(world, changed_group)
    replicas.change_group(
        world, server, group.guid, lambda config: replace(config, replicas=changed_group.replicas)
    )
    _update_possible_owners(world, changed_group)
    return []


def remove_replica(world: World, server: str, name: str, replica_options: ReplicaOptions) -> list[Message]:
    """Execute REMOVE REPLICA. The databases of the removed replica become RESTORING.

    Raise 35283 for an unknown replica, 35284 for the primary itself.
    """
    if any(options for _, options in replica_options):
        raise SqlError(156, "WITH")
    group = require_primary(world, server, name, "remove", "replica")
    hosts: set[str] = set()
    for target, _ in replica_options:
        server_name = find_server_spelling(world, target)
        if group.find_replica(server_name) is None:
            raise SqlError(35283, target, group.name)
        if server_name == server:
            raise SqlError(35284, target, group.name)
        hosts.add(server_name)
    remaining_replicas = tuple(
        _remove_routes(replica, hosts) for replica in group.replicas if replica.server not in hosts
    )
    check_required_secondaries(replace(group, replicas=remaining_replicas), "REMOVE REPLICA")
    replicas.change_group(
        world,
        server,
        group.guid,
        lambda config: replace(
            movement.remove_copies(config, lambda place: place[1] in hosts), replicas=remaining_replicas
        ),
    )
    for server_name in sorted(hosts):
        for copy in replicas.list_group_copies(world, server, group.guid):
            movement.remove_secondary(world, (server, copy.database), server_name)
    movement.apply_removals(world)
    _update_possible_owners(world, replace(group, replicas=remaining_replicas))
    return []


def _remove_routes(replica: Replica, removed_servers: set[str]) -> Replica:
    """Return the replica without the removed servers in its routing list."""
    routes = [(priority, server) for priority, server in replica.routes if server not in removed_servers]
    priorities = tuple(priority for priority, _ in routes) if replica.routing_priorities else ()
    servers = tuple(server for _, server in routes)
    return replace(replica, read_only_routing_list=servers, routing_priorities=priorities)


def _update_possible_owners(world: World, group: AvailabilityGroup) -> None:
    """Set the possible owners of the role to the nodes of the replicas. [DOC: WSFC and SQL Server]."""
    group_role = roles.find_role(world, group.name, group.primary)
    if group_role is None:
        return
    node, role = group_role
    servers = (replica.server for replica in group.replicas if replica.server in world.instances)
    nodes = tuple(
        dict.fromkeys(name for server in servers for name in instances.list_possible_nodes(world, server))
    )
    resources = tuple(replace(resource, owners=nodes) for resource in role.resources)
    config.update_role(world, node.name, role.name, resources=resources, preferred=nodes)


def set_creation_permission(world: World, server: str, name: str, granted: bool) -> list[Message]:
    """Execute GRANT or DENY CREATE ANY DATABASE, which automatic seeding needs.

    Raise 41100 if the server has no replica.
    """
    require_node(world, server)
    if world.instances[server].version < OPTION_FIRST_VERSIONS["SEEDING_MODE"]:
        raise SqlError(102, "CREATE")
    group = replicas.find_group(world, server, name)
    if group is None or (server, group.guid) not in world.replicas:
        raise SqlError(41100, name)
    seeding.set_seeding_permission(world, server, group.guid, granted)
    return []


# --- common checks of the statements about availability groups --------------------------------------------
# The checks run in this order: feature and cluster, group, role, databases [DOC: ALTER AVAILABILITY GROUP].
# The order is derived where the documentation does not state it.


def require_node(world: World, server: str) -> Node:
    """Return the node of *server*. Raise an error unless it reaches a majority of its cluster.

    The error is 35221 if Always On is not enabled, 35220 without a majority or on an evicted computer.
    """
    if not replicas.is_always_on_enabled(world, server):
        raise SqlError(35221)
    found_node = config.find_server_node(world, server)
    if found_node is None or not config.can_write_config(world, found_node.name):
        raise SqlError(35220)
    return found_node


def can_write_cluster_database(world: World, server: str) -> bool:
    """Return whether the node of *server* can change the cluster database."""
    found_node = config.find_server_node(world, server)
    return found_node is not None and config.can_write_config(world, found_node.name)


def find_group(world: World, server: str, name: str, verb: str = "alter") -> AvailabilityGroup:
    """Return the group named *name* in which *server* has a replica. Raise 15151 if there is none."""
    group = replicas.find_group(world, server, name)
    if group is None or (server, group.guid) not in world.replicas:
        raise SqlError(15151, verb, "availability group", name)
    return group


def find_group_with_quorum(world: World, server: str, name: str) -> AvailabilityGroup:
    """Return the group named *name*. Raise 35221 or 35220 without quorum, 15151 if there is no such group."""
    require_node(world, server)
    return find_group(world, server, name)


def require_primary(world: World, server: str, name: str, verb: str, noun: str) -> AvailabilityGroup:
    """Return the group named *name*, of which *server* must be the primary.

    Raise 41140 on a secondary, 41190 on a replica without a role. *verb* and *noun* complete the text of
    41190.
    """
    group = find_group_with_quorum(world, server, name)
    state = world.replicas[server, group.guid]
    if state.word is ReplicaWord.PRIMARY_NORMAL:
        return group
    if state.role is ReplicaRole.SECONDARY:
        raise SqlError(41140, group.name)
    raise SqlError(41190, group.name, verb, noun)


def find_copy(world: World, server: str, database: str) -> DatabaseCopy | None:
    """Return the copy of *database* on *server*, or None. Case does not matter."""
    copies = (copy for (copy_server, _), copy in world.copies.items() if copy_server == server)
    return next((copy for copy in copies if copy.database.lower() == database.lower()), None)
