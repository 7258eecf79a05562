"""Small worlds for engine tests: the shipped lab, with or without witness, built without files."""

from __future__ import annotations

from collections.abc import Sequence

from engine import simulator
from engine.chance import Chance
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.flow import Flow
from engine.inputs import parse_script
from engine.model import (
    Availability,
    Client,
    Copy,
    DbState,
    MirrorState,
    Role,
    Safety,
    Server,
    WitnessState,
    World,
)
from engine.protocol import network, rows, sync

P, M, W, DB = "SERVER_A", "SERVER_B", "SERVER_W", "Sales"
PRINCIPAL, MIRROR = (P, DB), (M, DB)


def lab(
    seed: int = 1, *, witness: bool = True, safety: Safety = Safety.FULL, workload: str = "Workload1"
) -> World:
    """SERVER_A is principal and SERVER_B mirror of Sales, SYNCHRONIZED, at tick 0."""
    world = World(seed=seed, chance=Chance.from_seed(seed), flow=Flow.empty())
    for host, name in enumerate((P, M, W)):
        world.servers[name] = Server(name=name, host=host)
    guid = world.new_session(DB)
    for me, peer, role, trace in ((P, M, Role.PRINCIPAL, 1), (M, P, Role.MIRROR, 3)):
        world.copies[me, DB] = Copy(
            server=me,
            database=DB,
            db_state=DbState.ONLINE if role is Role.PRINCIPAL else DbState.RESTORING,
            end_of_log_kb=1e6,
            redone_kb=1e6,
            log_start_kb=1e6,
            last_log_backup_kb=1e6,
            workload=workload,
            guid=guid,
            role=role,
            mirror_state=MirrorState.SYNCHRONIZED,
            safety=safety,
            partner=peer,
            partner_address=f"TCP://{peer}:5022",
            witness=W if witness else None,
            witness_address=f"TCP://{W}:5022" if witness else None,
            witness_state=WitnessState.CONNECTED if witness else WitnessState.UNKNOWN,
            trace=trace if witness else trace + 1,
        )
    world.clients["APP"] = Client(
        name="APP", databases=(DB,), data_source=P, failover_partner=M, connected_to=P
    )
    world.availability[DB] = Availability(database=DB)
    row = rows.add_row(world, PRINCIPAL, 1e6)
    rows.attach_mirror(world, row, MIRROR)
    network.open_contact(world, guid, P, M)
    if witness:
        for partner in (P, M):
            network.open_contact(world, guid, partner, W)
        sync.new_record(world, world.copies[PRINCIPAL], W)
    rows.warm_start(world)
    simulator.start_timers(world)
    return world


def play(world: World, script: str, until_s: float) -> list[Event]:
    """Run the world to *until_s* with the input lines of *script*."""
    inputs, problems = parse_script(script)
    assert not problems, problems
    return simulator.advance(world, round(until_s * TICKS_PER_S), inputs)


def do(world: World, *lines: str, then_s: float = 20.0) -> list[Event]:
    """Do *lines* at this moment, one after another, and run on for *then_s*."""
    script = "\n".join(f"{world.t_s} {line}" for line in lines)
    return play(world, script, world.t_s + then_s)


def texts(events: Sequence[Event], *kinds: str) -> list[str]:
    """`SERVER_A Synchronized …` of the events of these kinds."""
    return [f"{e.server} {e.text}" for e in events if e.kind in kinds]
