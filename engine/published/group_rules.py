"""Documented rules of availability groups, each checked by a run: timeouts, failover sets, limits and log."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from engine.constants import TICKS_PER_S, VERSIONS
from engine.events import ClientData, ClusterData, Event, ReplicaData, SqlDoneData, select_data
from engine.flow.sites import USERS, WORKLOAD1
from engine.model import AvailabilityListener, ReplicaWord, World
from engine.published.clusters import (
    DATABASE,
    GROUP,
    NODES,
    add_instances,
    build_cluster_world,
    build_group_world,
    find_first_s,
    find_primary,
    get_role,
    run_sql,
    start_world,
)
from engine.published.figure_rows import (
    FigureClass,
    FigureRow,
    build_number_row,
    build_published_number_row,
    build_statement_row,
)
from engine.published.measurements import play_script

AUTOMATIC_REPLICAS: Final = ("auto", "auto", "async")
FIRST_INPUT_S: Final = 5.0
"""Time of the first input line of each run, in seconds."""
RTO_SOURCE: Final = "[DOC: performance of groups], estimating failover time"
FAILOVER_OVERHEAD_MAX_S: Final = 7.0
"""Maximum duration of a failover without detection and redo. Derived.

The documentation says only "short and constant". A planned failover in a recorded lab had an offline phase,
which the 7 s include.
"""


@cache
def _measure_redo_times() -> tuple[float, float]:
    """Return the estimated and the actual redo time of a failover, in seconds.

    The estimate is the redo queue divided by the redo rate, both as in sys.dm_hadr_database_replica_states.
    """
    world = build_group_world(AUTOMATIC_REPLICAS, USERS.name, windows="2012 R2", version=2014, witness=True)
    play_script(world, "5 slow-cpu NODE_2 factor=8\n", 90.0)
    stream = world.copies[NODES[1], DATABASE].stream
    assert stream is not None
    reading = world.flow.read_stream(stream)
    estimate_s = reading.redo_queue_kb / reading.redo_kb_per_s
    play_script(world, "90 stop-service NODE_1\n", 91.0)
    while (
        not any(failover.redo_done_tick for failover in world.failovers) and world.tick < 3000 * TICKS_PER_S
    ):
        play_script(world, "", world.tick / TICKS_PER_S + 5.0)
    failover = world.failovers[-1]
    return estimate_s, ((failover.redo_done_tick or 0) - failover.detected_tick) / TICKS_PER_S


@cache
def _measure_data_loss() -> tuple[float, float, int]:
    """Return the estimated and the actual data loss, and the commits lost in a synchronous failover.

    The losses are in seconds. The estimate is the log send queue divided by the log generation rate.
    """
    world = build_group_world(("auto", "async"), WORKLOAD1.name, witness=True)
    play_script(world, "5 degrade NODE_1 NODE_2 bandwidth_mbps=1\n", 300.0)
    source, stream = world.copies[NODES[0], DATABASE].source, world.copies[NODES[1], DATABASE].stream
    assert source is not None and stream is not None
    before = world.flow.read_source_positions(source)
    play_script(world, "", 310.0)
    later_positions = world.flow.read_source_positions(source)
    rate = (later_positions.generated_kb - before.generated_kb) / 10.0
    commits_per_s = (later_positions.transactions - before.transactions) / 10.0
    queue_kb = world.flow.read_stream(stream).send_queue_kb
    force = f"ALTER AVAILABILITY GROUP {GROUP} FORCE_FAILOVER_ALLOW_DATA_LOSS"
    play_script(world, f"310 power-off NODE_1\n325 sql NODE_2 {force}\n", 350.0)
    transactions = world.availability[DATABASE].lost_transactions
    undisturbed_world = build_group_world(AUTOMATIC_REPLICAS, WORKLOAD1.name, witness=True)
    play_script(undisturbed_world, "30 power-off NODE_1\n", 70.0)
    lost_transactions = undisturbed_world.availability[DATABASE].lost_transactions
    return queue_kb / rate, transactions / commits_per_s, lost_transactions


@cache
def _measure_outage_s(fault: str) -> tuple[float, float]:
    """Return the seconds from *fault* at the primary to its detection, and until the database is open.

    Both are 10**9 if there is no failover.
    """
    world = build_group_world(AUTOMATIC_REPLICAS, windows="2016", witness=True)
    play_script(world, f"5 {fault} NODE_1\n", 90.0)
    failovers = [failover for failover in world.failovers if failover.online_tick]
    if not failovers:
        return 10**9, 10**9
    last_failover = failovers[-1]
    return last_failover.detected_tick / TICKS_PER_S - FIRST_INPUT_S, (
        last_failover.online_tick or 0
    ) / TICKS_PER_S - FIRST_INPUT_S


def build_estimate_rows() -> list[FigureRow]:
    """Return the rows about estimated recovery time and data loss."""
    estimate_s, redo_s = _measure_redo_times()
    points_s, lost_s, synchronous = _measure_data_loss()
    bands = (
        ("stop-service", 0.0, 2.0),
        ("hang", 0.0, 20.0),
        ("power-off", 10.0, 12.0),
        ("pull-cable", 10.0, 12.0),
    )
    figure_rows = [
        build_number_row(
            "GRP.rto",
            RTO_SOURCE,
            "time of redo at a failover = redo queue / redo rate",
            "s",
            round(estimate_s, 1),
            redo_s,
            FigureClass.PREDICTED,
        ),
        build_number_row(
            "GRP.rpo",
            "[DOC: performance of groups], estimating potential data loss",
            "commits lost by a forced failover = log send queue / log generation rate",
            "s",
            round(points_s, 1),
            lost_s,
            FigureClass.PREDICTED,
        ),
        build_statement_row("GRP.rpo.ready", synchronous == 0, f"{synchronous} commits lost"),
    ]
    for fault, least_s, most_s in bands:
        detected_s, open_s = _measure_outage_s(fault)
        holds = least_s <= detected_s <= most_s and open_s - detected_s <= FAILOVER_OVERHEAD_MAX_S
        ours = f"detected after {detected_s:.1f} s, open {open_s - detected_s:.1f} s later"
        figure_rows.append(build_statement_row(f"GRP.outage.{fault}", holds, ours))
    return figure_rows


VERSIONS_WITH_GROUPS: Final = tuple(version for version in VERSIONS if version >= 2012)


def _build_alter_statement(option: str) -> str:
    return f"1 sql NODE_1 ALTER AVAILABILITY GROUP {GROUP} SET ({option})\n"


def _build_alter_lines(option: str, nodes: Sequence[str] = NODES[:3]) -> str:
    """Return input lines with one ALTER statement per replica, which sets *option*."""
    alter = f"ALTER AVAILABILITY GROUP {GROUP} MODIFY REPLICA ON"
    return "".join(
        f"{1 + n / 10} sql NODE_1#{n} {alter} N'{name}' WITH ({option})\n" for n, name in enumerate(nodes)
    )


# --- detection of a failure ---------------------------------------------------------------------------------


LONG_LEASE_LINE: Final = (
    f"1 ps NODE_1 Get-ClusterResource {GROUP} | Set-ClusterParameter LeaseTimeout 200000\n"
)


@cache
def _find_detection_s(fault: str, setup_lines: str = "") -> float | None:
    """Return the seconds from *fault* at the primary until the cluster detects it; None after 120 s.

    *setup_lines*: input lines that are applied before the fault.
    """
    world = build_group_world(AUTOMATIC_REPLICAS, witness=True)
    detection_time_s = find_first_s(
        play_script(world, f"{setup_lines}5 {fault} NODE_1\n", 125.0), ClusterData, event_change="role-failed"
    )
    return None if detection_time_s is None else detection_time_s - FIRST_INPUT_S


def _build_detection_rows() -> list[FigureRow]:
    figure_rows = [
        build_published_number_row("GRP.health", _find_detection_s("hang", LONG_LEASE_LINE) or 0.0),
        build_published_number_row(
            "GRP.health.60",
            _find_detection_s(
                "hang", LONG_LEASE_LINE + _build_alter_statement("HEALTH_CHECK_TIMEOUT = 60000")
            )
            or 0.0,
        ),
        build_published_number_row(
            "GRP.health.level1",
            _find_detection_s("hang", LONG_LEASE_LINE + _build_alter_statement("FAILURE_CONDITION_LEVEL = 1"))
            or 0.0,
        ),
        build_published_number_row("GRP.lease", _find_detection_s("hang") or 0.0),
    ]
    for level in (1, 2, 3, 4, 5):
        took_s = _find_detection_s("hang", _build_alter_statement(f"FAILURE_CONDITION_LEVEL = {level}"))
        in_time = took_s is not None and took_s <= 20.0
        figure_rows.append(
            build_statement_row(f"GRP.level.{level}.lease", in_time, f"noticed after {took_s} s")
        )
    down_s = _find_detection_s("stop-service", _build_alter_statement("FAILURE_CONDITION_LEVEL = 1"))
    refused = (
        ("GRP.health.min", "HEALTH_CHECK_TIMEOUT = 14999", 35229),
        ("GRP.level.most", "FAILURE_CONDITION_LEVEL = 6", 35228),
    )
    figure_rows.append(build_statement_row("GRP.level.1", down_s is not None, f"noticed after {down_s} s"))
    world = build_group_world(AUTOMATIC_REPLICAS)
    for id, option, error in refused:
        error_numbers = run_sql(world, NODES[0], f"ALTER AVAILABILITY GROUP {GROUP} SET ({option})")
        figure_rows.append(build_statement_row(id, error in error_numbers, f"errors {error_numbers}"))
    return figure_rows


@cache
def _measure_handover(windows: str) -> tuple[float, float]:
    """Return the seconds until the old primary is RESOLVING, and until the new one is PRIMARY_NORMAL.

    Both times begin when the old primary loses its network.
    """
    world = build_group_world(AUTOMATIC_REPLICAS, windows=windows, witness=True)
    # the primary also loses its connection to the witness disk
    events = play_script(world, "5 pull-cable NODE_1\n", 60.0)
    return _find_state_s(events, ReplicaWord.RESOLVING_NORMAL, "NODE_1"), _find_state_s(
        events, ReplicaWord.PRIMARY_NORMAL, "NODE_2"
    )


def _find_state_s(events: Sequence[Event], state_word: ReplicaWord, server: str) -> float:
    ticks = (
        event.tick
        for event, change in select_data(events, ReplicaData)
        if event.server == server and change.new == state_word
    )
    return next(ticks, 10**9) / TICKS_PER_S - FIRST_INPUT_S


@cache
def _measure_pause_s(timeout_s: int) -> float:
    """Return the seconds for which commits wait for an unresponsive synchronous secondary.

    *timeout_s*: SESSION_TIMEOUT of all replicas.
    """
    world = build_group_world(("sync", "sync"), USERS.name)
    alter_lines = _build_alter_lines(f"SESSION_TIMEOUT = {timeout_s}", NODES[:2])
    play_script(world, alter_lines + "5 black-hole NODE_1 NODE_2\n", 5.5)
    _measure_commit_wait_s(world, 60.0)
    return world.tick / TICKS_PER_S - FIRST_INPUT_S


def _measure_commit_wait_s(world: World, most_s: float) -> float:
    """Advance the world until the primary commits again, and return the elapsed seconds.

    *most_s*: maximum number of seconds to advance.
    """
    source = world.copies[NODES[0], DATABASE].source
    assert source is not None
    begin, start_transactions = world.tick, world.flow.read_source_positions(source).transactions
    while (
        world.flow.read_source_positions(source).transactions <= start_transactions + 1.0
        and world.tick < begin + most_s * TICKS_PER_S
    ):
        play_script(world, "", (world.tick + 10) / TICKS_PER_S)
    return (world.tick - begin) / TICKS_PER_S


def _build_timeout_rows() -> list[FigureRow]:
    timeouts = []
    for timeout_s in (5, 10, 15):
        pause_s = _measure_pause_s(timeout_s)
        close = timeout_s - 1 <= pause_s <= timeout_s + 1
        timeouts.append(build_statement_row(f"GRP.session.{timeout_s}", close, f"{pause_s:.1f} s"))
    modify = f"ALTER AVAILABILITY GROUP {GROUP} MODIFY REPLICA ON N'NODE_2' WITH (SESSION_TIMEOUT = 4)"
    error_numbers = run_sql(build_group_world(AUTOMATIC_REPLICAS), NODES[0], modify)
    timeouts.append(build_statement_row("GRP.session.min", 35214 in error_numbers, f"errors {error_numbers}"))
    for windows in ("2012 R2", "2016"):
        old_s, new_s = _measure_handover(windows)
        ours = f"RESOLVING after {old_s:.1f} s, the new primary after {new_s:.1f} s"
        timeouts.append(build_statement_row(f"GRP.order.{windows.replace(' ', '')}", old_s < new_s, ours))
    return timeouts


# --- failover targets -------------------------------------------------------------------------------------

FAILOVER_SETS: Final = {"A": ("B", "BC"), "B": ("A", "AC"), "C": ("", "AB"), "D": ("", "")}
"""Current primary -> expected targets of automatic failovers, and of planned failovers.

Replicas A and B are synchronous with automatic failover. C is synchronous with manual failover. D is
asynchronous.
"""

REPLICA_KIND_BY_LETTER: Final = {"A": "auto", "B": "auto", "C": "sync", "D": "async"}


@cache
def _find_targets(primary_letter: str) -> tuple[str, str]:
    """Return the letters of the replicas to which automatic and planned failovers succeed.

    The first text is for automatic failovers, the second for planned ones. *primary_letter*: letter of
    the primary in REPLICA_KIND_BY_LETTER.
    """
    letters = primary_letter + "".join(sorted(set(REPLICA_KIND_BY_LETTER) - {primary_letter}))
    kinds = tuple(REPLICA_KIND_BY_LETTER[letter] for letter in letters)
    names = dict(zip(letters, NODES, strict=False))
    world = build_group_world(kinds, witness=True)
    play_script(world, "5 power-off NODE_1\n", 40.0)
    target_letter = "".join(letter for letter, name in names.items() if name == find_primary(world))
    planned = ""
    for letter in letters[1:]:
        world = build_group_world(kinds, witness=True)
        play_script(world, f"5 sql {names[letter]} ALTER AVAILABILITY GROUP {GROUP} FAILOVER\n", 25.0)
        planned += letter if find_primary(world) == names[letter] else ""
    return target_letter, "".join(sorted(planned))


def _build_failover_set_rows() -> list[FigureRow]:
    failover_sets = []
    for lead, (automatic, planned) in FAILOVER_SETS.items():
        targets = _find_targets(lead)
        for id, published, ours in (("automatic", automatic, targets[0]), ("planned", planned, targets[1])):
            failover_sets.append(
                build_statement_row(f"GRP.set.{lead}.{id}", ours == published, ours or "none")
            )
    world = build_group_world(("auto", "async"), witness=True)
    play_script(
        world, f"5 sql NODE_2 ALTER AVAILABILITY GROUP {GROUP} FORCE_FAILOVER_ALLOW_DATA_LOSS\n", 30.0
    )
    failover_sets.append(
        build_statement_row(
            "GRP.set.forced", find_primary(world) == "NODE_2", f"primary: {find_primary(world)}"
        )
    )
    return failover_sets


def _build_admission_rows() -> list[FigureRow]:
    suspended = "2 sql NODE_2 ALTER DATABASE Users SET HADR SUSPEND\n"
    world = build_group_world(AUTOMATIC_REPLICAS, witness=True)
    play_script(world, suspended + "5 power-off NODE_1\n", 40.0)
    stays = not find_primary(world)
    play_script(world, "40 power-on NODE_1\n", 160.0)
    primary_again = find_primary(world)
    forced = build_group_world(AUTOMATIC_REPLICAS)
    play_script(
        forced,
        "5 power-off NODE_2\n5 power-off NODE_3\n40 stop-cluster NODE_1\n41 force-quorum NODE_1\n",
        60.0,
    )
    waits = not find_primary(forced)
    error_numbers = run_sql(forced, NODES[0], f"ALTER AVAILABILITY GROUP {GROUP} FAILOVER")
    run_sql(forced, NODES[0], f"ALTER AVAILABILITY GROUP {GROUP} FORCE_FAILOVER_ALLOW_DATA_LOSS")
    play_script(forced, "", 90.0)
    later_primary = find_primary(forced)
    play_script(forced, "90 power-on NODE_2\n", 200.0)
    reason = forced.copies["NODE_2", DATABASE].availability.suspended
    return [
        build_statement_row(
            "GRP.ready.suspended", stays, "no replica is primary" if stays else "another replica took over"
        ),
        build_statement_row("GRP.ready.former", primary_again == "NODE_1", f"primary: {primary_again}"),
        build_statement_row("GRP.forced.waits", waits, f"primary: {later_primary} after it was forced"),
        build_statement_row("GRP.forced.planned", 41125 in error_numbers, f"errors {error_numbers}"),
        build_statement_row(
            "GRP.forced.suspended",
            reason is not None,
            f"suspended from {reason.name}" if reason is not None else "not suspended",
        ),
    ]


@cache
def _count_failovers(nodes: int) -> int:
    """Return the number of failovers of a repeatedly failing group before its role remains failed.

    *nodes*: number of nodes in the cluster.
    """
    world = build_group_world(("auto", "auto", *("async",) * (nodes - 2)), witness=True)
    moves, at_s = 0, 5.0
    for _ in range(2 * nodes + 1):
        before = get_role(world).owner
        play_script(world, f"{at_s} fail-resource {GROUP}\n", at_s + 40.0)
        moves += get_role(world).owner != before
        at_s += 40.0
        if get_role(world).state.value == "Failed":
            break
    return moves


def _build_threshold_rows() -> list[FigureRow]:
    return [
        build_published_number_row(f"GRP.threshold.{nodes}", _count_failovers(nodes)) for nodes in (2, 3, 4)
    ]


# --- limits by version ------------------------------------------------------------------------------------

REPLICAS_MAX: Final = {
    2012: (5, 3, 2), 2014: (9, 3, 2), 2016: (9, 3, 3), 2017: (9, 3, 3), 2019: (9, 5, 5), 2022: (9, 5, 5)
}  # fmt: skip
"""Version -> documented maximum numbers of replicas, synchronous replicas, and automatic failover targets.
The numbers include the primary.
"""

MODE_OPTIONS: Final = {
    "async": "ASYNCHRONOUS_COMMIT, FAILOVER_MODE = MANUAL",
    "sync": "SYNCHRONOUS_COMMIT, FAILOVER_MODE = MANUAL",
    "auto": "SYNCHRONOUS_COMMIT, FAILOVER_MODE = AUTOMATIC",
}


@cache
def _count_accepted_replicas(version: int, kind: str, max_replicas: int) -> int:
    """Return the number of replicas of *kind* that CREATE AVAILABILITY GROUP accepts.

    At most *max_replicas* + 1 replicas are tried.
    """
    names = tuple(f"NODE_{number}" for number in range(1, 11))
    accepted = 0
    for count in (max_replicas, max_replicas + 1):
        world = build_cluster_world(names)
        add_instances(world, version)
        replica_list = ", ".join(
            f"N'{name}' WITH (ENDPOINT_URL = N'TCP://{name}:5022', AVAILABILITY_MODE = {MODE_OPTIONS[kind]})"
            for name in names[:count]
        )
        error_numbers = run_sql(
            start_world(world), names[0], f"CREATE AVAILABILITY GROUP G FOR REPLICA ON {replica_list}"
        )
        accepted = count if not error_numbers else accepted
    return accepted


def _build_limit_rows() -> list[FigureRow]:
    return [
        build_published_number_row(
            f"GRP.most.{kind}.{version}", _count_accepted_replicas(version, kind, limit)
        )
        for version in VERSIONS_WITH_GROUPS
        for kind, limit in zip(("async", "sync", "auto"), REPLICAS_MAX[version], strict=True)
    ]


# --- the log ----------------------------------------------------------------------------------------------


@cache
def _measure_compression_ratio(version: int, kind: str, flag: int = 0) -> float:
    """Return the compressed size of the log that is sent to a replica, as a share of its original size.

    The log of the workload can be compressed to half its size. *kind*: kind of the replica, a key of
    REPLICA_MODES_BY_KIND. *flag*: trace flag; 0 for none.
    """
    world = build_group_world(("sync", kind), WORKLOAD1.name, version=version, site="nec")
    play_script(world, f"1 sql NODE_1 DBCC TRACEON ({flag}, -1)\n" if flag else "", 2.0)
    stream = world.copies[NODES[1], DATABASE].stream
    assert stream is not None
    return world.flow.get_stream_setup(stream).compression_ratio


def _build_compression_rows() -> list[FigureRow]:
    cases = [(version, kind, 0, version < 2016 or kind == "async")
             for version in VERSIONS_WITH_GROUPS for kind in ("sync", "async")]  # fmt: skip
    cases += [(2017, "sync", 9592, True), (2017, "async", 1462, False)]
    compression = []
    for version, kind, flag, compressed in cases:
        share = _measure_compression_ratio(version, kind, flag)
        id = f"GRP.log.{version}.{kind}{f'.{flag}' if flag else ''}"
        compression.append(
            build_statement_row(id, (share < 1.0) is compressed, f"{share:g} bytes per byte of log")
        )
    return compression


@cache
def _count_redo_threads(version: int, cores: int, flag: int = 0) -> int:
    world = build_group_world(("sync", "sync"), version=version, cores=cores)
    if flag:
        play_script(world, f"1 sql NODE_2 DBCC TRACEON ({flag}, -1)\n", 2.0)
    stream = world.copies[NODES[1], DATABASE].stream
    assert stream is not None
    return world.flow.get_stream_setup(stream).redo_threads or 0


def _build_redo_rows() -> list[FigureRow]:
    cases = ((2014, 32, 0), (2016, 8, 0), (2019, 16, 0), (2017, 64, 0), (2017, 64, 3459))
    return [
        build_published_number_row(
            f"GRP.redo.{version}.{cores}{f'.{flag}' if flag else ''}",
            _count_redo_threads(version, cores, flag),
        )
        for version, cores, flag in cases
    ]


def _build_required_secondaries_rows() -> list[FigureRow]:
    option = "REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT"
    rows_found = []
    for required, secondaries, can_commit in ((0, 1, True), (1, 1, False), (1, 2, True), (2, 2, False)):
        kinds = ("sync",) * (1 + secondaries)
        world = build_group_world(kinds, WORKLOAD1.name, required=required, witness=True)
        play_script(world, "5 power-off NODE_2\n", 40.0)
        commits = _measure_commit_wait_s(world, 5.0) < 1.0
        ours = "commits continue" if commits else "no commit in 5 s"
        rows_found.append(
            build_statement_row(f"GRP.required.{required}of{len(kinds) - 1}", commits is can_commit, ours)
        )
    world = build_group_world(("sync", "sync"), WORKLOAD1.name, required=1, witness=True)
    play_script(
        world,
        f"5 power-off NODE_2\n40 sql NODE_1 ALTER AVAILABILITY GROUP {GROUP} SET ({option} = 0)\n",
        42.0,
    )
    error_numbers = run_sql(
        build_group_world(("sync", "sync")), NODES[0], f"ALTER AVAILABILITY GROUP {GROUP} SET ({option} = 2)"
    )
    errors = run_sql(build_group_world(("sync", "sync"), version=2016), NODES[0],
                  f"ALTER AVAILABILITY GROUP {GROUP} SET ({option} = 1)")  # fmt: skip
    return [
        *rows_found,
        build_statement_row(
            "GRP.required.zero",
            _measure_commit_wait_s(world, 5.0) < 1.0,
            "commits continue" if _measure_commit_wait_s(world, 1.0) < 1.0 else "they wait",
        ),
        build_statement_row("GRP.required.most", 35248 in error_numbers, f"errors {error_numbers}"),
        build_statement_row("GRP.required.2016", 102 in errors, f"errors {errors}"),
    ]


def _read_log_reuse_wait(lines: str, until_s: float) -> str:
    """Return log_reuse_wait_desc of the primary's database after the input *lines* and a log backup."""
    world = build_group_world(("sync", "sync", "async"), WORKLOAD1.name, witness=True)
    backup = rf"BACKUP LOG {DATABASE} TO DISK = 'D:\Backup\u.trn'"
    look = f"SELECT log_reuse_wait_desc FROM sys.databases WHERE name = '{DATABASE}'"
    events = play_script(world, f"{lines}{until_s} sql NODE_1#9 {backup}; {look}\n", until_s + 60.0)
    answers = [done_data.results for _, done_data in select_data(events, SqlDoneData)]
    return next(
        (str(row[0]) for results in answers for result in results for row in result["rows"]), "nothing"
    )


def _build_log_hold_rows() -> list[FigureRow]:
    suspend = "30 sql NODE_3 ALTER DATABASE Users SET HADR SUSPEND\n"
    cases = (
        ("off", "AVAILABILITY_REPLICA", "30 power-off NODE_3\n"),
        ("suspended", "AVAILABILITY_REPLICA", suspend),
        ("removed", "LOG_BACKUP",
         f"30 power-off NODE_3\n60 sql NODE_1 ALTER AVAILABILITY GROUP {GROUP} REMOVE REPLICA ON N'NODE_3'\n"),
        ("resumed", "LOG_BACKUP", suspend + "60 sql NODE_3#2 ALTER DATABASE Users SET HADR RESUME\n"),
    )  # fmt: skip
    log_holds = []
    for id, published, lines in cases:
        wait = _read_log_reuse_wait(lines, 120.0)
        log_holds.append(build_statement_row(f"GRP.hold.{id}", wait == published, wait))
    return log_holds


# --- listener ---------------------------------------------------------------------------------------------


@cache
def _measure_reconnection_s(register_all: bool, ttl_s: int, multi_subnet: bool) -> float:
    """Return the time in seconds at which the application reconnects.

    At 5 s, the group moves to another subnet. *register_all*: RegisterAllProvidersIP. *ttl_s*: HostRecordTTL.
    *multi_subnet*: MultiSubnetFailover.
    """
    addresses = ("10.0.1.50", "10.0.2.50")
    listener = AvailabilityListener(
        name="AGL", addresses=addresses, register_all=register_all, record_ttl_s=ttl_s
    )
    registered_addresses = addresses if register_all else addresses[:1]
    client = {"multi_subnet": multi_subnet, "kept_addresses": (registered_addresses, ttl_s * TICKS_PER_S)}
    subnets = ("10.0.1", "10.0.2")
    world = build_group_world(
        ("auto", "auto"), listener=listener, client=client, witness=True, subnets=subnets
    )
    events = play_script(world, f"5 sql NODE_2 ALTER AVAILABILITY GROUP {GROUP} FAILOVER\n", ttl_s + 60.0)
    return find_first_s(events, ClientData, event_change="connected") or 10**9


def _build_listener_rows() -> list[FigureRow]:
    ours = AvailabilityListener(name="AGL").record_ttl_s
    reconnected_s = _measure_reconnection_s(True, 300, True)
    return [
        build_published_number_row("GRP.listener.ttl", _measure_reconnection_s(False, ours, False)),
        build_published_number_row("GRP.listener.300", _measure_reconnection_s(False, 300, False)),
        build_statement_row(
            "GRP.listener.all", reconnected_s < 20.0, f"{reconnected_s - FIRST_INPUT_S:.1f} s after FAILOVER"
        ),
    ]


def build_rows() -> list[FigureRow]:
    """Return the rows about documented rules of availability groups."""
    return [
        *_build_detection_rows(),
        *_build_timeout_rows(),
        *_build_failover_set_rows(),
        *_build_admission_rows(),
        *_build_threshold_rows(),
        *_build_limit_rows(),
        *_build_compression_rows(),
        *_build_redo_rows(),
        *_build_required_secondaries_rows(),
        *_build_log_hold_rows(),
        *_build_listener_rows(),
        *build_estimate_rows(),
    ]
