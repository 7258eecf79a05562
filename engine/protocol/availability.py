"""Availability of each database: downtime, and time without a synchronized copy."""

from msgspec.structs import replace

from engine.events import AvailabilityData, ProtectionData
from engine.localization import build_message
from engine.model import Availability, DatabaseCopy, FieldOf, World
from engine.protocol import group_policies, network, serving


class ReachabilityCache:
    """Cache for one tick: for each database, the servers that its clients can reach over the network."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._users = [
            (client.name, frozenset(client.databases))
            for client in world.clients.values()
            if not client.read_only
        ]
        self._passes: dict[tuple[str, str], bool] = {}

    def can_reach(self, copy: DatabaseCopy) -> bool:
        """Return whether a client that writes to the database can reach the copy's server.

        If no such client is known, return whether the server's network cables are plugged in.
        """
        is_known = False
        for name, databases in self._users:
            if copy.database in databases:
                is_known = True
                if self._is_passing(name, copy.server):
                    return True
        return not is_known and self.world.get_computer_of(copy.server).nic_up

    def _is_passing(self, client: str, server: str) -> bool:
        passes = self._passes.get((client, server))
        if passes is None:
            passes = self._passes[client, server] = network.can_exchange_packets(self.world, client, server)
        return passes


def list_serving_copies(
    world: World, database: str, reach: ReachabilityCache | None = None
) -> list[DatabaseCopy]:
    """Return the copies of *database* in which clients can currently work."""
    serves = [copy for copy in world.list_copies_of(database) if serving.is_copy_serving(world, copy)]
    if not serves:
        return []
    reach = reach or ReachabilityCache(world)
    return [copy for copy in serves if reach.can_reach(copy)]


def update_availability(world: World) -> None:
    """Update the availability of all changed databases to the current tick.

    Emit an event when service begins or ends, or when protection begins or ends.
    """
    if not world.changed:
        return
    reach = ReachabilityCache(world)
    for database in sorted(world.changed):
        old_availability = world.availability.get(database)
        if old_availability is None:
            continue
        serving_now = list_serving_copies(world, database, reach)
        serving = bool(serving_now)
        servers = tuple(copy.server for copy in serving_now)
        doubled = servers != old_availability.servers and max(len(servers), len(old_availability.servers)) > 1
        exposed = serving and not any(_is_protected(world, copy) for copy in serving_now)
        if serving == old_availability.serving and exposed == old_availability.exposed and not doubled:
            continue
        world.availability[database] = advance_availability(
            old_availability, world.tick, serving=serving, servers=servers, exposed=exposed
        )
        if serving != old_availability.serving or doubled:
            server = serving_now[0].server if serving else None
            text = build_message("{database} accepts connections", database=database)
            if not serving:
                text = build_message("{database} accepts no connections", database=database)
            elif len(servers) > 1:
                text = build_message("copies of {database} accept connections on {servers}", database=database,
                           servers=", ".join(servers))  # fmt: skip
            world.emit(
                AvailabilityData(serving=serving, servers=list(servers)),
                text,
                server=server,
                database=database,
            )
        grouped = any(copy.group_kind == "availability" for copy in serving_now)
        if (
            exposed != old_availability.exposed and grouped
        ):  # AGs only: a mirroring session reports this as a change of its state
            text = build_message("{database} has no synchronized copy", database=database)
            if not exposed:
                text = build_message("{database} has a synchronized copy", database=database)
            world.emit(ProtectionData(exposed=exposed), text, server=serving_now[0].server, database=database)


def _is_protected(world: World, copy: DatabaseCopy) -> bool:
    """Return whether another copy could take over without data loss.

    A database that is on a failover cluster instance and in no group is protected if another node could
    start the instance.
    """
    if copy.group is None and world.instances[copy.server].clustered:
        return group_policies.has_automatic_failover(world, copy.database)
    return group_policies.get_policy(copy).has_synchronized_copy(copy)


def advance_availability(
    old_availability: Availability, tick: int, **changes: FieldOf[Availability]
) -> Availability:
    """Return the availability at *tick*. *changes* are new values of fields, valid from *tick* on."""
    passed = tick - old_availability.since_tick
    return replace(
        old_availability,
        since_tick=tick,
        down_ticks=old_availability.down_ticks + (0 if old_availability.serving else passed),
        exposed_ticks=old_availability.exposed_ticks + (passed if old_availability.exposed else 0),
        **changes,
    )
