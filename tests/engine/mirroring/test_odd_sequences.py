"""Long random sequences of statements and faults: no exception is raised, and invariants hold.

Hand-written sequences are in tests/engine/mirroring/transcripts.
"""

from __future__ import annotations

from hypothesis import given, settings, strategies

from engine.model import MirrorState, World
from tests.engine.mirroring.invariants import check_invariants
from tests.engine.worlds import DB, M, P, W, apply_lines, build_lab

SERVERS = (P, M, W)
DATABASE_STATEMENTS = (
    "PARTNER OFF",
    "PARTNER FAILOVER",
    "PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS",
    "PARTNER SUSPEND",
    "PARTNER RESUME",
    "PARTNER TIMEOUT 4",
    "PARTNER = 'TCP://SERVER_A:5022'",
    "PARTNER = 'TCP://SERVER_B:5022'",
    "PARTNER = 'TCP://SERVER_B:5099'",
    "WITNESS = 'TCP://SERVER_W:5022'",
    "WITNESS OFF",
    "SAFETY OFF",
    "SAFETY FULL",
    "OFFLINE",
    "ONLINE",
    "RECOVERY SIMPLE",
    "RECOVERY FULL",
)
STATEMENTS = (
    *(f"ALTER DATABASE {DB} SET {what}" for what in DATABASE_STATEMENTS),
    f"RESTORE DATABASE {DB} WITH RECOVERY",
    rf"BACKUP DATABASE {DB} TO DISK = '\\SERVER_B\Backup\s.bak' WITH INIT",
    rf"BACKUP LOG {DB} TO DISK = '\\SERVER_B\Backup\s.trn' WITH INIT",
    rf"RESTORE DATABASE {DB} FROM DISK = 'D:\Backup\s.bak' WITH NORECOVERY, REPLACE",
    rf"RESTORE DATABASE {DB} FROM DISK = 'D:\Backup\s.bak' WITH STANDBY = 'x', REPLACE",
    rf"RESTORE LOG {DB} FROM DISK = 'D:\Backup\s.trn' WITH NORECOVERY",
    rf"RESTORE LOG {DB} FROM DISK = 'D:\Backup\s.trn' WITH STOPAT = '2005-10-22 12:01:00'",
    rf"CREATE DATABASE Snap ON (NAME = {DB}, FILENAME = 'D:\s.ss') AS SNAPSHOT OF {DB}",
    "DROP DATABASE Snap",
    "USE Snap",
    f"USE {DB}",
    "USE master",
    "BEGIN TRAN",
    "COMMIT",
    "DBCC OPENTRAN",
    f"DBCC CHECKDB ({DB})",
    f"DROP DATABASE {DB}",
    f"CREATE DATABASE {DB}",
    f"EXEC sp_detach_db '{DB}'",
    rf"CREATE DATABASE {DB} ON (FILENAME = 'D:\Data\{DB}.mdf') FOR ATTACH",
    rf"ALTER DATABASE {DB} ADD FILE (NAME = F2, FILENAME = 'D:\f2.ndf')",
    rf"ALTER DATABASE {DB} ADD LOG FILE (NAME = F3, FILENAME = 'L:\f3.ldf')",
    "ALTER ENDPOINT Mirroring STATE = STOPPED",
    "ALTER ENDPOINT Mirroring STATE = STARTED",
    "ALTER ENDPOINT Mirroring AS TCP (LISTENER_PORT = 7022)",
    "ALTER ENDPOINT Mirroring AS TCP (LISTENER_PORT = 5022, LISTENER_IP = (10.0.0.12))",
    "DROP ENDPOINT Mirroring",
    "CREATE ENDPOINT Mirroring STATE = STARTED AS TCP (LISTENER_PORT = 5022) FOR DATABASE_MIRRORING (ROLE = ALL)",
    "SHUTDOWN WITH NOWAIT",
    "EXEC msdb..sp_dbmmonitorupdate",
    "SELECT * FROM sys.databases SELECT * FROM sys.master_files SELECT * FROM sys.database_mirroring",
    "SELECT * FROM sys.dm_os_performance_counters SELECT * FROM sys.dm_db_mirroring_connections",
)
LINE_TEMPLATES = (
    *(
        f"{verb} {{s}}"
        for verb in ("power-off", "power-on", "hang", "unhang", "start-service", "stop-service")
    ),
    *(f"{verb} {{s}} {{t}}" for verb in ("cut", "black-hole", "cut-one-way", "mend", "reset-link")),
    *(f"{verb} {{s}} {DB}" for verb in ("fail-disk", "mend-disk", "corrupt-page", "mend-page")),
    *(f"{verb} {DB}" for verb in ("fill-log", "open-transaction", "end-transaction", "rebuild-index")),
    f"workload {DB} Workload2",
    *(f"{verb} {{s}} {drive}" for verb in ("fail-volume", "mend-volume") for drive in "DL"),
    "slow-disk {s} data factor=100",
    "upgrade {s} 2012",
    "copy-file SERVER_B SERVER_A D:\\Backup\\s.bak",
    "revert-all",
)
SERVER_ORDERS = strategies.permutations(SERVERS)
LINES = strategies.one_of(
    strategies.tuples(
        strategies.sampled_from((f"{P}", f"{P}#2", f"{M}", f"{M}#2", f"{W}")),
        strategies.sampled_from(STATEMENTS),
    ).map(lambda typed: f"sql {typed[0]} {typed[1]}"),
    strategies.tuples(strategies.sampled_from(LINE_TEMPLATES), SERVER_ORDERS).map(
        lambda act: act[0].format(s=act[1][0], t=act[1][1])
    ),
)
GAPS_S = strategies.sampled_from((0.0, 0.1, 1.0, 5.0, 15.0, 60.0))


def build_small_lab(witness: bool) -> World:
    """Return a lab with a small database, so that backups and restores take only seconds."""
    world = build_lab(witness=witness)
    for key in world.copies:
        world.update_copy(key, size_kb=100_000.0)
    return world


def test_a_partner_can_fail_between_connection_and_handshake() -> None:
    """SERVER_A has reconnected but still recovers its database when SERVER_B loses power."""
    world = build_small_lab(witness=True)
    apply_lines(world, f"restart-service {P}", wait_s=0.0)
    (guid,) = (number for number, group in world.groups.items() if DB in group.databases)
    while world.contacts[guid, P, M].connected:
        apply_lines(world, wait_s=0.01)
    while not world.contacts[guid, P, M].connected:
        apply_lines(world, wait_s=0.01)
    assert world.copies[P, DB].mirroring.state is MirrorState.DISCONNECTED, "they have not met"
    apply_lines(world, f"power-off {M}", wait_s=30.0)
    check_invariants(world, has_witness=False, is_safe=False)
    assert world.copies[P, DB].mirroring.state is MirrorState.DISCONNECTED


@settings(max_examples=80, deadline=None)
@given(
    script=strategies.lists(strategies.tuples(LINES, GAPS_S), min_size=5, max_size=25),
    witness=strategies.booleans(),
)
def test_random_sequences_keep_the_invariants(script: list[tuple[str, float]], witness: bool) -> None:
    world = build_small_lab(witness)
    for line, gap_s in script:
        apply_lines(world, line, wait_s=gap_s)
        check_invariants(world, has_witness=False, is_safe=False)
    fork = world.fork()
    for variant in (world, fork):
        apply_lines(variant, wait_s=5.0)
    assert world.compute_state_hash() == fork.compute_state_hash()


def test_a_mirror_frozen_during_session_removal_does_not_take_over() -> None:
    world = build_lab()
    apply_lines(world, f"hang {M}", wait_s=20.0)
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=5.0)
    apply_lines(world, f"unhang {M}", wait_s=30.0)
    assert not world.failovers
    check_invariants(world, has_witness=False, is_safe=False)
