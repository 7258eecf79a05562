"""Builder of a scenario's world at the start, in the state that a long healthy run would have reached."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from msgspec.structs import replace

from engine import model, simulator
from engine.availability import failover
from engine.availability.role import build_role
from engine.cluster import commands, config, instances, quorum
from engine.constants import DEFAULT_START_TIMES
from engine.drill.authoring import condition_context
from engine.drill.authoring.cluster_references import is_basic_group
from engine.drill.authoring.schema import (
    AvailabilityGroupSpec,
    ClusterSpec,
    DatabaseSpec,
    ReplicaSpec,
    Scenario,
    ServerSpec,
    SessionSpec,
)
from engine.events import SqlDoneData, get_data
from engine.flow import Flow
from engine.flow.sites import SITES
from engine.localization import build_message
from engine.mirroring import redo, roles
from engine.model import (
    AvailabilityMembership,
    ClusterConfig,
    ClusterRole,
    CommitMode,
    DatabaseCopy,
    DbState,
    FailoverMode,
    Key,
    MirrorState,
    RecoveryModel,
    ReplicaRole,
    ReplicaWord,
    Role,
    Safety,
    SyncState,
    WitnessState,
    World,
)
from engine.protocol import (
    clients,
    endpoints,
    group_policies,
    jobs,
    name_resolution,
    network,
    startup,
    streams,
)
from engine.random_streams import RandomStream
from engine.verbs.input_lines import parse_input_line

HADR_ENDPOINT_NAME: Final = "Hadr_endpoint"
"""Name of the endpoint that the New Availability Group wizard creates. Known from public scripts, which rely
on it.
"""


def add_clusters(world: World, scenario: Scenario) -> None:
    """Add clusters with quorum, and their failover cluster instances."""
    for cluster in scenario.clusters:
        _add_cluster(world, cluster)
    for number, spec in enumerate(scenario.instances, 1):
        end = spec.endpoint
        owner = world.computers[spec.owners[0]]
        world.instances[spec.name] = model.Instance(
            name=spec.name,
            computer=owner.name,
            host=len(world.instances),
            version=spec.version,
            edition=spec.edition,
            clustered=True,
            installed=spec.owners,
            no_tempdb_path=spec.no_tempdb_path,
            service_account=spec.service_account,
            endpoint=model.Endpoint(
                name=HADR_ENDPOINT_NAME, port=end.port, state=model.EndpointState[end.state], role=end.role
            ),
        )
        _add_role(world, owner.name, instances.build_role(spec.name, spec.owners, number))


def _add_cluster(world: World, spec: ClusterSpec) -> None:
    threshold, cross = quorum.HEARTBEAT_THRESHOLDS.get(spec.windows, quorum.THRESHOLDS_SINCE_2016)
    cluster = world.clusters[spec.name] = model.Cluster(
        name=spec.name,
        windows=spec.windows,
        nodes=spec.nodes,
        dynamic_quorum=spec.dynamic_quorum,
        threshold=threshold,
        cross_threshold=cross,
        witness_there=spec.witness is not None,
    )
    witness = (
        model.Witness(kind=commands.WITNESS_KINDS[spec.witness_kind], name=spec.witness)
        if spec.witness
        else None
    )
    cluster_config = ClusterConfig(
        weights=tuple((node, int(node not in spec.without_vote)) for node in spec.nodes), witness=witness
    )
    counted_nodes, with_witness = quorum.count_votes(cluster, cluster_config, spec.nodes, witness is not None)
    cluster_config = replace(cluster_config, counted=counted_nodes, witness_counts=with_witness)
    partition = world.next_id()
    for number, name in enumerate(spec.nodes, 1):
        world.nodes[name] = model.Node(
            name=name,
            cluster=spec.name,
            number=number,
            partition=partition,
            config=cluster_config,
            subnet=spec.subnets[number - 1] if spec.subnets else "10.0.0",
        )


def _add_role(world: World, node: str, role: ClusterRole) -> None:
    config.update_config(world, node, roles=(*world.nodes[node].config.roles, role))


def add_availability_groups(world: World, scenario: Scenario) -> dict[str, AvailabilityGroupSpec]:
    """Add availability groups to their clusters.

    Return database name in the file -> availability group of the database.
    """
    grouped: dict[str, AvailabilityGroupSpec] = {}
    for group in scenario.groups:
        guid = world.next_id()
        names = tuple(name for d in scenario.databases if d.name in group.databases for name in d.names)
        world.groups[guid] = model.Group(kind="availability", databases=names)
        hosts = tuple(replica.server for replica in group.replicas)
        copy_keys = tuple(sorted((name, server) for name in names for server in hosts))
        in_step = {r.server for r in group.replicas if _is_synchronized(group, r.server)}
        listener = (
            model.AvailabilityListener(
                name=group.listener,
                port=group.listener_port,
                addresses=group.listener_addresses,
                register_all=group.register_all_addresses,
                record_ttl_s=group.record_ttl_s,
            )
            if group.listener
            else None
        )
        group_state = model.AvailabilityGroup(
            name=group.name,
            guid=guid,
            primary=group.primary,
            replicas=tuple(_build_replica(world, replica) for replica in group.replicas),
            databases=names,
            joined=copy_keys,
            ready=tuple(
                copy_key for copy_key in copy_keys if copy_key[1] in in_step or copy_key[1] == group.primary
            ),
            failure_condition_level=group.failure_condition_level,
            health_check_timeout_ms=group.health_check_timeout_ms,
            backup_preference=group.backup_preference,
            db_failover=group.db_failover,
            required_synchronized=group.required_synchronized,
            basic=is_basic_group(scenario, group),
            listener=listener,
        )
        owner = world.instances[group.primary].computer
        nodes = tuple(
            dict.fromkeys(node for server in hosts for node in instances.list_possible_nodes(world, server))
        )
        config.update_config(world, owner, groups=(*world.nodes[owner].config.groups, group_state))
        _add_role(world, owner, build_role(group.name, listener, nodes, owner))
        for server in hosts:
            first = server == group.primary
            world.replicas[server, guid] = model.ReplicaState(
                server=server,
                guid=guid,
                word=ReplicaWord.PRIMARY_NORMAL if first else ReplicaWord.SECONDARY_NORMAL,
                primary=group.primary,
            )
            if not first:
                network.open_contact(world, guid, group.primary, server)
        if listener is not None:
            failover.register_in_dns(world, group.primary, listener)
        grouped.update(dict.fromkeys(group.databases, group))
    return grouped


def _is_synchronized(group: AvailabilityGroupSpec, server: str) -> bool:
    modes = {replica.server: replica.mode for replica in group.replicas}
    return modes[group.primary] == modes[server] == "SYNCHRONOUS_COMMIT"


def _build_replica(world: World, spec: ReplicaSpec) -> model.Replica:
    end = world.instances[spec.server].endpoint
    assert end is not None, "a scenario's servers have endpoints"
    return model.Replica(
        server=spec.server,
        endpoint_url=f"TCP://{spec.server}:{end.port}",
        mode=CommitMode[spec.mode],
        failover=FailoverMode[spec.failover],
        session_timeout_s=spec.session_timeout_s,
        backup_priority=spec.backup_priority,
        primary_connections=spec.primary_connections,
        secondary_connections=spec.secondary_connections,
        read_only_routing_url=f"TCP://{spec.server}:1433" if spec.routing_url else None,
        read_only_routing_list=spec.routing_list,
    )


def add_group_database(
    world: World, group: AvailabilityGroupSpec, copy: Callable[[str], DatabaseCopy], name: str
) -> None:
    """Add the copies of one database of *group*, and what each server knows about the other replicas.

    *copy*: function (server) that builds the copy on a server. *name*: name of the database.
    """
    guid = next(
        number
        for number, member_group in world.groups.items()
        if member_group.kind == "availability" and name in member_group.databases
    )
    number = world.next_id()
    other_replicas = [replica for replica in group.replicas if replica.server != group.primary]
    for replica in group.replicas:
        is_primary = replica.server == group.primary
        synchronous = _is_synchronized(group, replica.server)
        peers = (
            tuple(sorted((r.server, _get_sync_state(group, r.server)) for r in other_replicas))
            if is_primary
            else ()
        )
        world.copies[replica.server, name] = replace(
            copy(replica.server),
            availability=AvailabilityMembership(
                guid=guid,
                database_guid=number,
                role=ReplicaRole.PRIMARY if is_primary else ReplicaRole.SECONDARY,
                state=SyncState.SYNCHRONIZED if synchronous else SyncState.SYNCHRONIZING,
                peers=peers,
                readers=replica.secondary_connections,
                primary_connections=replica.primary_connections,
            ),
        )


def _get_sync_state(group: AvailabilityGroupSpec, server: str) -> SyncState:
    return SyncState.SYNCHRONIZED if _is_synchronized(group, server) else SyncState.SYNCHRONIZING


def is_secondary(world: World, key: Key) -> bool:
    """Return whether the database copy *key* is a secondary, which receives its log from another copy."""
    return group_policies.get_policy(world.copies[key]).is_follower(world.copies[key])


def attach_secondaries(world: World) -> None:
    """Attach every secondary to the log of its primary."""
    for key, copy in sorted(world.copies.items()):
        if copy.availability.guid is None or not is_secondary(world, key):
            continue
        primary = world.replicas[key[0], copy.availability.guid].primary
        lead = world.copies[primary or "", key[1]]
        assert lead.source is not None
        streams.attach_receiver(world, lead.source, key)


START_LOG_KB: Final = 1_000_000.0
"""Log position of every database at the start. Assumed: only differences between positions matter."""

FIRST_DATABASE_ID: Final = 5
"""ID of the first user database. The system databases have the IDs 1 to 4. Documented by Microsoft."""

KB_PER_MB: Final = 1024.0
DELAYED_DURABILITY: Final = ("DISABLED", "ALLOWED", "FORCED")


def build_world(scenario: Scenario, seed: int) -> World:
    """Build the world at tick 0: sessions in their states, clients connected, flow in its steady state.

    Raises InputError if a [[before]] line fails.
    """
    world = start_world(scenario, seed)
    apply_preparation(world, [line.do for line in scenario.before])
    return world


def find_start_time(scenario: Scenario) -> str:
    """Return the clock time of the servers at the start.

    It is the scenario's start time; otherwise a time after the release of the newest version in the scenario.
    """
    versions = [
        *(server.version for server in scenario.servers if server.sql),
        *(instance.version for instance in scenario.instances),
        *(cluster.windows for cluster in scenario.clusters),
    ]
    return scenario.settings.start_time or max(
        (DEFAULT_START_TIMES[version] for version in versions), default=DEFAULT_START_TIMES[2005]
    )


def start_world(scenario: Scenario, seed: int) -> World:
    """Build the world at tick 0, before the [[before]] lines are applied."""
    world = World(
        seed=seed,
        chance=RandomStream.from_seed(seed),
        flow=Flow.create_empty(),
        settings=model.Settings(**scenario.settings.model_dump() | {"start_time": find_start_time(scenario)}),
    )
    for host, server in enumerate(scenario.servers):
        world.computers[server.name] = _build_computer(server)
        if server.sql:
            world.instances[server.name] = _build_instance(
                server, host, _choose_endpoint_name(scenario, server.name)
            )
    add_clusters(world, scenario)
    for link in scenario.links:
        path = model.Link(**link.model_dump(exclude={"ends"}))
        a, b = link.ends
        world.links[a, b] = world.links[b, a] = path
    sessions = {session.database: session for session in scenario.sessions}
    grouped = add_availability_groups(world, scenario)
    copies_to_start = [(database, name) for database in scenario.databases for name in database.names]
    for number, (database, name) in enumerate(copies_to_start):
        world.availability[name] = model.Availability(database=name)
        session = sessions.get(database.name)
        named_spec = database.model_copy(update={"name": name})
        if database.name in grouped:
            add_group_database(world, grouped[database.name], partial(_build_copy, named_spec, number), name)
        elif session is None:
            _add_unmirrored_copy(world, named_spec, number)
        else:
            _add_mirrored_copies(world, named_spec, number, session)
    _add_clients(world, scenario)
    for key in sorted(world.copies):
        if world.copies[key].db_state is DbState.ONLINE and not is_secondary(world, key):
            _start_flow(world, key)
    attach_secondaries(world)
    startup.log_clean_startups(world)
    streams.warm_start(world)
    simulator.start_timers(world)
    simulator.advance_world(world, 0)  # do not report the events of the construction
    return world


def _build_computer(server: ServerSpec) -> model.Computer:
    return model.Computer(
        name=server.name,
        cores=server.cores or SITES[server.site].cores,
        site=server.site,
        domain=server.domain,
        blocked_ports=server.blocked_ports,
    )


def _choose_endpoint_name(scenario: Scenario, server: str) -> str:
    """Return the endpoint name that a wizard of Management Studio would choose on *server*.

    The wizards for mirroring and for availability groups choose different names.
    """
    mirrored = any(
        server in (session.principal, session.mirror, session.witness) for session in scenario.sessions
    )
    clustered = any(server in cluster.nodes for cluster in scenario.clusters)
    return HADR_ENDPOINT_NAME if clustered and not mirrored else model.Endpoint().name


def _build_instance(server: ServerSpec, host: int, endpoint_name: str) -> model.Instance:
    end = server.endpoint
    endpoint = model.Endpoint(
        name=endpoint_name,
        port=end.port,
        state=model.EndpointState[end.state],
        role=end.role,
        encryption=end.encryption,
        algorithms=end.algorithms or endpoints.get_default_algorithms(server.version),
        authentication="CERTIFICATE" if end.certificate else "WINDOWS NEGOTIATE",
        certificate=end.certificate,
    )
    return model.Instance(
        name=server.name,
        computer=server.name,
        host=host,
        version=server.version,
        edition=server.edition,
        agent_running=server.edition != "Express",
        service_account=server.service_account,
        trace_flags=server.trace_flags,
        max_worker_threads=server.max_worker_threads,
        jobs=tuple(job for database in server.jobs_for for job in jobs.build_standard_jobs(database)),
        endpoint=endpoint,
    )


def _build_copy(database: DatabaseSpec, number: int, server: str) -> model.DatabaseCopy:
    return model.DatabaseCopy(
        server=server,
        database=database.name,
        database_id=FIRST_DATABASE_ID + number,
        recovery_model=RecoveryModel[database.recovery_model],
        family=1 + number,
        end_of_log_kb=START_LOG_KB,
        redone_kb=START_LOG_KB,
        committed_kb=START_LOG_KB,
        log_start_kb=START_LOG_KB,
        last_log_backup_kb=START_LOG_KB,
        workload=database.workload,
        scale=database.scale,
        size_kb=database.size_mb * KB_PER_MB,
        log_size_kb=database.log_size_mb * KB_PER_MB,
        log_max_kb=database.log_max_mb * KB_PER_MB,
        compression_ratio=database.compression_ratio,
        delayed_durability=DELAYED_DURABILITY.index(database.delayed_durability),
        log_backup_every_s=database.log_backup_every,
    )


def _add_unmirrored_copy(world: World, database: DatabaseSpec, number: int) -> None:
    server = database.server
    assert server is not None, "checked: a database has a server or a session"
    world.copies[server, database.name] = _build_copy(database, number, server)
    for target in database.restored_on:
        restored = replace(_build_copy(database, number, target), db_state=DbState.RESTORING)
        world.copies[target, database.name] = restored


def _add_mirrored_copies(world: World, database: DatabaseSpec, number: int, session: SessionSpec) -> None:
    """Add both copies of a session, what each server knows about the other, and the record of the witness."""
    guid = world.create_session(database.name)
    witness = session.witness
    state = MirrorState[session.state]
    for me, peer, role in (
        (session.principal, session.mirror, Role.PRINCIPAL),
        (session.mirror, session.principal, Role.MIRROR),
    ):
        world.copies[me, database.name] = replace(
            _build_copy(database, number, me),
            db_state=DbState.ONLINE if role is Role.PRINCIPAL else DbState.RESTORING,
            mirroring=model.Membership(
                guid=guid,
                role=role,
                state=state,
                safety=Safety[session.safety],
                partner=peer,
                partner_address=format_endpoint_address(world, peer),
                witness=witness,
                witness_address=format_endpoint_address(world, witness) if witness else None,
                witness_state=WitnessState.CONNECTED if witness else WitnessState.UNKNOWN,
                timeout_s=session.timeout_s,
                trace=roles.STABLE_STATE_IDS[role, state, witness is not None],
            ),
        )
    network.open_contact(world, guid, session.principal, session.mirror)
    if witness is not None:
        for partner in (session.principal, session.mirror):
            network.open_contact(world, guid, partner, witness)
        redo.create_witness_record(world, world.copies[session.principal, database.name], witness)


def format_endpoint_address(world: World, server: str) -> str:
    """Return the network address of a server's endpoint, as SET PARTNER expects it."""
    end = world.instances[server].endpoint
    assert end is not None, "a scenario's servers have endpoints"
    return f"TCP://{server}:{end.port}"


def _add_clients(world: World, scenario: Scenario) -> None:
    world.programs = {name: model.Program() for name in scenario.programs}
    for client in scenario.clients:
        client_state = name_resolution.resolve_name(
            world, model.Client(**client.model_dump()), client.data_source
        )
        arrival_server, refusal = clients.resolve_client_login(world, client_state, client.data_source)
        server = arrival_server or client.data_source
        keys = [(server, database) for database in client.databases]
        is_present = refusal is None and all(key in world.copies for key in keys)
        serves = is_present and clients.attempt_login(world, client_state, server) == "serves"
        if serves:
            clients.count_listener_login(world, client.data_source, client.databases[0], client.read_only)
        world.clients[client.name] = replace(
            client_state,
            connected_to=server if serves else None,
            known_partner=group_policies.get_policy(world.copies[keys[0]]).get_partner(world.copies[keys[0]])
            if serves
            else None,
        )
        if not serves:
            clients.restart_application(world, client.name)


def _start_flow(world: World, owner: Key) -> None:
    source = streams.add_source(world, owner, START_LOG_KB)
    mirror = group_policies.get_policy(world.copies[owner]).get_partner(world.copies[owner])
    if mirror is not None:
        streams.attach_receiver(world, source, (mirror, owner[1]))


# --- preparation of a drill -------------------------------------------------------------------------------
# The [[before]] lines run at tick 0 and are not reported to the trainee.


def apply_preparation(world: World, lines: Iterable[str]) -> list[str]:
    """Apply the [[before]] *lines* now, without recording them.

    Return a message for each line that a server refuses or that takes time. Raises InputError for an invalid
    line.
    """
    refused: list[str] = []
    for line in lines:
        simulator.apply_input(world, parse_input_line(line.strip()))
        for event in simulator.advance_world(world, world.tick):
            done_data = get_data(event, SqlDoneData)
            if done_data is not None and (errors := condition_context.list_error_numbers(done_data)):
                refused.append(
                    build_message("{input}: failed with error {n}", input=line.strip(), n=errors[0])
                )
        if world.batches:
            refused.append(build_message("{input}: this [[before]] line takes too long", input=line.strip()))
            world.batches.clear()
    simulator.advance_world(world, world.tick)
    world.sessions.clear()
    world.faults.clear()  # `revert-all` must not undo the start state
    return refused
