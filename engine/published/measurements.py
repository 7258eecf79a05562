"""Measurements of the flow model as in Microsoft's papers: mean values of two servers in steady state."""

from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, fields, replace

from engine import simulator
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.field_types import FieldOf
from engine.flow import (
    Flow,
    FlowStopCondition,
    MirroringSetup,
    Operation,
    SafetyMode,
    ServerHardware,
    StreamTotals,
    Workload,
    add_mirroring_setup,
    build_mirroring_setup,
    run_flow,
    warm_start,
)
from engine.flow.setup import SourceSetup, StreamSetup
from engine.flow.sites import NEC
from engine.mirroring import redo, roles
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
from engine.random_streams import RandomStream
from engine.verbs.input_lines import parse_script

NO_LIMIT_KB: Final = 1e12
"""Maximum size of a log file that never becomes full, as in the papers' tests."""

MEASUREMENT_S: Final = 300.0
"""Duration of a measurement in seconds: five checkpoint intervals."""

KB_PER_MB: Final = 1024.0


class MeanValues(Struct, frozen=True):
    """Exact mean values over a measurement. CPU figures are for the whole instance."""

    transactions_per_s: float
    response_s: float
    log_kb_per_s: float
    sent_kb_per_s: float
    redo_kb_per_s: float
    cpu_percent: float
    mirror_cpu_percent: float
    writes_kb_per_s: float
    mirror_writes_kb_per_s: float
    messages_per_s: float


def build_unlimited_setup(
    workload: Workload,
    mode: SafetyMode,
    site: ServerHardware = NEC,
    **changes: FieldOf[SourceSetup | StreamSetup],
) -> MirroringSetup:
    """Return a single database with an unlimited log file. Unless *mode* is NONE, it has a mirror."""
    return build_mirroring_setup(site, workload, mode, **({"log_max_kb": NO_LIMIT_KB} | changes))


def run_to_steady_state(setup: MirroringSetup) -> Flow:
    """Return a flow simulation of *setup* in steady state, just after a checkpoint.

    Its only source has the number 0.
    """
    flow = Flow.create_empty()
    add_mirroring_setup(flow, setup)
    warm_start(flow, 0, 0.0)
    return flow


def run_seconds(flow: Flow, seconds: float) -> None:
    """Run the flow simulation for *seconds*. Crossed thresholds do not stop it."""
    run_flow(flow, round(seconds * TICKS_PER_S))


def measure_means(flow: Flow, seconds: float = MEASUREMENT_S, source: int = 0) -> MeanValues:
    """Return the mean values of *source* and its first stream, if any, over the next *seconds*."""
    streams = flow.list_source_streams(source)[:1]
    cores = flow.get_source_setup(source).site.cores
    before, streams_before = (
        flow.read_source_totals(source),
        [flow.read_stream_totals(stream) for stream in streams],
    )
    run_seconds(flow, seconds)
    change = _compute_rates(before, flow.read_source_totals(source), seconds)
    sent_totals = dict.fromkeys((field.name for field in fields(StreamTotals)), 0.0)
    for stream, totals in zip(streams, streams_before, strict=True):
        sent_totals = _compute_rates(totals, flow.read_stream_totals(stream), seconds)
    return MeanValues(
        transactions_per_s=change["transactions"],
        response_s=change["inside_s"] / max(change["transactions"], 1e-9),
        log_kb_per_s=change["generated_kb"],
        sent_kb_per_s=sent_totals["sent_kb"],
        redo_kb_per_s=sent_totals["redone_kb"],
        cpu_percent=100.0 * change["core_s"] / cores,
        mirror_cpu_percent=100.0 * sent_totals["core_s"] / cores,
        writes_kb_per_s=8.0 * change["pages_written"],
        mirror_writes_kb_per_s=8.0 * sent_totals["pages_written"],
        messages_per_s=sent_totals["messages"],
    )


def _compute_rates(start_totals: Struct, end_totals: Struct, seconds: float) -> dict[str, float]:
    """Return name -> mean change per second of each total."""
    return {
        name: (value - getattr(start_totals, name)) / seconds for name, value in asdict(end_totals).items()
    }


@cache
def measure_setup(setup: MirroringSetup, seconds: float = MEASUREMENT_S) -> MeanValues:
    """Return the mean values of *setup* in steady state. Results are cached."""
    return measure_means(run_to_steady_state(setup), seconds)


@cache
def measure_queue_growth(setup: MirroringSetup, seconds: float = 60.0) -> tuple[float, float]:
    """Return the send queue of *setup* after *seconds* in KB, and its mean growth in KB/s."""
    flow = run_to_steady_state(setup)
    before = flow.read_stream(0).send_queue_kb
    run_seconds(flow, seconds)
    later_queue_kb = flow.read_stream(0).send_queue_kb
    return later_queue_kb, (later_queue_kb - before) / seconds


class OperationRun(Struct, frozen=True):
    """Result of a long operation on an otherwise idle database.

    Drain times begin at the end of the operation. They are 0 without a mirror.
    """

    duration_s: float
    send_queue_kb: float
    redo_queue_kb: float
    send_drain_s: float
    redo_drain_s: float


@cache
def run_operation(operation: Operation, mode: SafetyMode, workload: Workload) -> OperationRun:
    """Run *operation* to its end, and wait until the queues are empty. Redo has the cost of *workload*."""
    flow = Flow.create_empty()
    add_mirroring_setup(
        flow, build_unlimited_setup(replace(workload, connections=0.0), mode, NEC, operation=operation)
    )
    flow.watch_source(0, FlowStopCondition.OPERATION_DONE)
    took_s = _run_until_threshold(flow)
    flow.watch_source(0, FlowStopCondition(0))
    if mode == SafetyMode.NONE:
        return OperationRun(took_s, 0.0, 0.0, 0.0, 0.0)
    queues = flow.read_stream(0)
    flow.watch_stream(0, FlowStopCondition.SEND_DONE)
    send_s = _run_until_threshold(flow)
    flow.watch_stream(0, FlowStopCondition.REDO_DONE)
    redo_s = send_s + _run_until_threshold(flow)
    return OperationRun(took_s, queues.send_queue_kb, queues.redo_queue_kb, send_s, redo_s)


def _run_until_threshold(flow: Flow) -> float:
    """Run *flow* until one of its stop conditions is met. Return the elapsed seconds.

    The caller sets the stop conditions first.
    """
    ticks, sources, streams = run_flow(flow, 100 * 3600 * TICKS_PER_S)
    assert sources or streams, "the crossing did not come about within 100 h"
    return ticks / TICKS_PER_S


# --- the papers' servers as a world: principal, mirror and witness, with one or more idle databases -------

PRINCIPAL: Final = "SERVER_A"
MIRROR: Final = "SERVER_B"
WITNESS: Final = "SERVER_W"
START_LOG_KB: Final = 1e6
FIRST_DATABASE_ID: Final = 5


def build_lab_world(
    seed: int = 1,
    *,
    workload: str = "Workload1",
    safety: Safety = Safety.FULL,
    witness: bool = True,
    databases: int = 1,
    cores: int = 8,
) -> World:
    """Return a world at 0 s in which all databases are mirrored and SYNCHRONIZED.

    SERVER_A is the principal and SERVER_B the mirror of each database.
    """
    world = World(seed=seed, chance=RandomStream.from_seed(seed), flow=Flow.create_empty())
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
        streams.attach_receiver(world, source, (MIRROR, database))
    startup.log_clean_startups(world)
    streams.warm_start(world)
    simulator.start_timers(world)
    simulator.advance_world(world, 0)
    return world


def _add_database(
    world: World, database: str, number: int, workload: str, safety: Safety, witness: bool
) -> None:
    guid = world.create_session(database)
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
                trace=roles.STABLE_STATE_IDS[role, MirrorState.SYNCHRONIZED, witness],
            ),
        )
    world.availability[database] = Availability(database=database)
    network.open_contact(world, guid, PRINCIPAL, MIRROR)
    if witness:
        for partner in (PRINCIPAL, MIRROR):
            network.open_contact(world, guid, partner, WITNESS)
        redo.create_witness_record(world, world.copies[PRINCIPAL, database], WITNESS)


def play_script(world: World, script: str, until_s: float) -> list[Event]:
    """Advance the world to *until_s* with the input lines in *script*, without a user interface."""
    inputs, problems = parse_script(script)
    assert not problems, problems
    return simulator.advance_world(world, round(until_s * TICKS_PER_S), inputs)
