"""Server topology of the papers as a world: principal, mirror, witness, and one or more idle databases."""

from __future__ import annotations

from typing import Final

from engine import simulator
from engine.chance import Chance
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.flow import Flow
from engine.mirroring import roles, sync
from engine.model import (
    Availability,
    Client,
    Computer,
    DatabaseCopy,
    DbState,
    Instance,
    Membership,
    MirrorState,
    Role,
    Safety,
    WitnessState,
    World,
)
from engine.protocol import network, startup, streams
from engine.verbs.lines import parse_script

PRINCIPAL: Final = "SERVER_A"
MIRROR: Final = "SERVER_B"
WITNESS: Final = "SERVER_W"
START_LOG_KB: Final = 1e6
FIRST_DATABASE_ID: Final = 5


def lab(
    seed: int = 1,
    *,
    workload: str = "Workload1",
    safety: Safety = Safety.FULL,
    witness: bool = True,
    databases: int = 1,
    cores: int = 8,
) -> World:
    """Return a lab at 0 s: SERVER_A is principal and SERVER_B mirror of each database, SYNCHRONIZED."""
    world = World(seed=seed, chance=Chance.from_seed(seed), flow=Flow.empty())
    for host, name in enumerate((PRINCIPAL, MIRROR, WITNESS)):
        world.computers[name] = Computer(name=name, cores=cores)
        world.instances[name] = Instance(name=name, computer=name, host=host)
    names = ["Sales"] if databases == 1 else [f"Sales{number:03}" for number in range(databases)]
    for number, database in enumerate(names):
        _add_database(world, database, number, workload, safety, witness)
    world.clients["APP"] = Client(
        name="APP",
        databases=tuple(names),
        data_source=PRINCIPAL,
        failover_partner=MIRROR,
        connected_to=PRINCIPAL,
    )
    for database in names:
        source = streams.add_source(world, (PRINCIPAL, database), START_LOG_KB)
        streams.attach(world, source, (MIRROR, database))
    startup.healthy(world)
    streams.warm_start(world)
    simulator.start_timers(world)
    simulator.advance(world, 0)
    return world


def _add_database(
    world: World, database: str, number: int, workload: str, safety: Safety, witness: bool
) -> None:
    guid = world.new_session(database)
    for me, peer, role in ((PRINCIPAL, MIRROR, Role.PRINCIPAL), (MIRROR, PRINCIPAL, Role.MIRROR)):
        world.copies[me, database] = DatabaseCopy(
            server=me,
            database=database,
            database_id=FIRST_DATABASE_ID + number,
            family=1 + number,
            db_state=DbState.ONLINE if role is Role.PRINCIPAL else DbState.RESTORING,
            end_of_log_kb=START_LOG_KB,
            redone_kb=START_LOG_KB,
            committed_kb=START_LOG_KB,
            log_start_kb=START_LOG_KB,
            last_log_backup_kb=START_LOG_KB,
            workload=workload,
            mirroring=Membership(
                guid=guid,
                role=role,
                state=MirrorState.SYNCHRONIZED,
                safety=safety,
                partner=peer,
                partner_address=f"TCP://{peer}:5022",
                witness=WITNESS if witness else None,
                witness_address=f"TCP://{WITNESS}:5022" if witness else None,
                witness_state=WitnessState.CONNECTED if witness else WitnessState.UNKNOWN,
                trace=roles.STEADY_TRACE[role, MirrorState.SYNCHRONIZED, witness],
            ),
        )
    world.availability[database] = Availability(database=database)
    network.open_contact(world, guid, PRINCIPAL, MIRROR)
    if witness:
        for partner in (PRINCIPAL, MIRROR):
            network.open_contact(world, guid, partner, WITNESS)
        sync.new_record(world, world.copies[PRINCIPAL, database], WITNESS)


def play(world: World, script: str, until_s: float) -> list[Event]:
    """Advance the world to *until_s* with the input lines of *script*, as a headless run does."""
    inputs, problems = parse_script(script)
    assert not problems, problems
    return simulator.advance(world, round(until_s * TICKS_PER_S), inputs)
