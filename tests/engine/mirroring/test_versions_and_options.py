"""Rolling upgrades, options, owner and TRUSTWORTHY of a mirrored database. Each case names its page."""

from __future__ import annotations

import pytest

from engine.model import MirrorState, Role, World
from tests.engine.tsql.console import Answer, submit_batch
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, W, apply_lines, build_lab
from tests.events import read_field

# option -> messages on a mirrored database [DOC: ALTER DATABASE SET options; prerequisites, restrictions];
# 1468 is known from public logs
MESSAGES_BY_OPTION = {
    "DISABLE_BROKER": [1468, 5069],
    "ENABLE_BROKER": [1468, 5069],
    "NEW_BROKER": [1468, 5069],
    "READ_COMMITTED_SNAPSHOT ON": [1468, 5069],
    "RECOVERY SIMPLE": [1468, 5069],
    "RECOVERY BULK_LOGGED": [1468, 5069],
    "SINGLE_USER": [1468, 5069],
    "READ_ONLY": [1468, 5069],
    "OFFLINE": [1468, 5069],
    "AUTO_CLOSE ON": [1468, 5069],
    "RECOVERY FULL": [],
    "TRUSTWORTHY ON": [],
    "COMPATIBILITY_LEVEL = 80": [],
    "COMPATIBILITY_LEVEL = 200": [15048],
}


def run_sql(world: World, server: str, text: str, seconds: float = 30.0) -> Answer:
    return submit_batch(world, server, text, seconds)


@pytest.mark.parametrize("option", MESSAGES_BY_OPTION)
def test_options_of_a_mirrored_database_are_restricted(option: str) -> None:
    world = build_lab()
    world.update_instance(P, version=2008)
    assert run_sql(world, P, f"ALTER DATABASE {DB} SET {option}").numbers == MESSAGES_BY_OPTION[option]


@pytest.mark.parametrize("option", ["TRUSTWORTHY ON", "RECOVERY FULL", "AUTO_SHRINK ON"])
def test_the_mirror_accepts_no_option(option: str) -> None:
    """The option must be set after a failover [DOC: set up a mirror database to use the TRUSTWORTHY
    property].
    """
    assert run_sql(build_lab(), M, f"ALTER DATABASE {DB} SET {option}").numbers == [954, 5069]


def test_trustworthy_is_set_per_server() -> None:
    """Check documented behavior: [DOC: set up a mirror database to use the TRUSTWORTHY property]."""
    world = build_lab()
    run_sql(world, P, f"ALTER DATABASE {DB} SET TRUSTWORTHY ON")
    query = f"SELECT is_trustworthy_on FROM sys.databases WHERE name = '{DB}'"
    assert (run_sql(world, P, query).value, run_sql(world, M, query).value) == (1, 0)
    apply_lines(world, f"power-off {P}", wait_s=30.0)
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL
    assert run_sql(world, M, query).value == 0
    run_sql(world, M, f"ALTER DATABASE {DB} SET TRUSTWORTHY ON")
    assert run_sql(world, M, query).value == 1


@pytest.mark.parametrize(
    "statement", ["ALTER AUTHORIZATION ON DATABASE::{} TO boss", "EXEC {}.dbo.sp_changedbowner 'boss'"]
)
def test_the_owner_is_stored_per_server(statement: str) -> None:
    """owner_sid is stored in master, which is not mirrored [DOC: ALTER AUTHORIZATION; sys.databases]."""
    world = build_lab()
    query = f"SELECT SUSER_SNAME(owner_sid) FROM sys.databases WHERE name = '{DB}'"
    assert run_sql(world, P, statement.format(DB)).numbers == [15151]
    run_sql(world, P, "CREATE LOGIN boss WITH PASSWORD = 'Pa55word!'")
    assert run_sql(world, P, statement.format(DB)).numbers == []
    assert (run_sql(world, P, query).value, run_sql(world, M, query).value) == ("boss", "sa")
    assert run_sql(world, M, statement.format(DB)).numbers == [954]


def test_the_creator_or_restorer_of_a_database_owns_it() -> None:
    """[DOC: CREATE DATABASE; RESTORE DATABASE; set up a mirror database to use the TRUSTWORTHY property]

    A database that a restore overwrites keeps its owner. TRUSTWORTHY is OFF after RESTORE and attach.
    """
    world = build_lab()
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=1.0)
    query = "SELECT SUSER_SNAME(owner_sid), is_trustworthy_on FROM sys.databases WHERE name = '{}'"
    run_sql(world, P, "CREATE DATABASE Small")
    assert run_sql(world, P, query.format("Small")).grids == [[["CORP\\dba", 0]]]
    assert run_sql(world, P, "ALTER AUTHORIZATION ON DATABASE::Small TO sa").numbers == []
    run_sql(world, P, "ALTER DATABASE Small SET TRUSTWORTHY ON")
    assert run_sql(world, P, query.format("Small")).grids == [[["sa", 1]]]
    run_sql(world, P, "BACKUP DATABASE Small TO DISK = 'D:\\small.bak'")
    run_sql(world, P, "RESTORE DATABASE Small FROM DISK = 'D:\\small.bak' WITH REPLACE")
    assert run_sql(world, P, query.format("Small")).grids == [[["sa", 0]]]
    moves = "MOVE 'Small' TO 'D:\\o.mdf', MOVE 'Small_log' TO 'L:\\o.ldf'"
    run_sql(world, P, f"RESTORE DATABASE Other FROM DISK = 'D:\\small.bak' WITH {moves}")
    assert run_sql(world, P, query.format("Other")).grids == [[["CORP\\dba", 0]]]
    run_sql(world, P, "ALTER AUTHORIZATION ON DATABASE::Other TO [CORP\\sqlservice]")
    assert run_sql(world, P, query.format("Other")).grids == [[["CORP\\sqlservice", 0]]]
    run_sql(world, P, "EXEC sp_detach_db 'Other'")
    run_sql(world, P, "CREATE DATABASE Other ON (FILENAME = 'D:\\o.mdf') FOR ATTACH")
    assert run_sql(world, P, query.format("Other")).grids == [[["CORP\\dba", 0]]]


def test_a_mirror_is_not_backed_up() -> None:
    """Error 954 up to 2008 R2 (seen), then 3059 [DOC: Database Engine events and errors, 3059]. Both also log
    3041.
    """
    for version, number in ((2005, 954), (2008, 954), (2012, 3059)):
        world = build_lab()
        for name in (P, M):
            world.update_instance(name, version=version)
        for backup_type in ("DATABASE", "LOG"):
            assert run_sql(world, M, f"BACKUP {backup_type} {DB} TO DISK = 'D:\\x'").numbers == [number, 3013]
        assert [line[1] for line in world.errorlog[M][-2:]] == [3041, 3041]


def test_checkdb_takes_as_long_as_reading_the_data() -> None:
    """Derived: CHECKDB takes as long as a backup of the same size, and longer on a slow disk."""
    world = build_lab()
    world.update_copy((P, DB), size_kb=1024.0 * 1024.0, bad_pages=(77,))
    assert not [
        event
        for event in apply_lines(world, f"sql {P} DBCC CHECKDB ('{DB}')", wait_s=9.0)
        if event.kind == "sql_done"
    ]
    done_events = [event for event in apply_lines(world, wait_s=2.0) if event.kind == "sql_done"]
    assert [message["number"] for message in read_field(done_events[0], "messages")] == [
        8928,
        8939,
        8989,
        8958,
        2528,
    ]
    apply_lines(world, f"slow-disk {P} data factor=10", wait_s=0.1)
    start_tick = world.tick
    slow = [
        event
        for event in apply_lines(world, f"sql {P} DBCC CHECKDB WITH NO_INFOMSGS", wait_s=1.0)
        if event.kind == "sql_done"
    ]
    # master
    assert [message["text"] for message in read_field(slow[0], "messages")] == [
        "Commands completed successfully."
    ]
    check = f"sql {P} DBCC CHECKDB ('{DB}') WITH NO_INFOMSGS"
    slow = [event for event in apply_lines(world, check, wait_s=120.0) if event.kind == "sql_done"]
    assert 9_000 < slow[0].tick - start_tick < 12_000
    assert [message["number"] for message in read_field(slow[0], "messages")] == [8928, 8939, 8989, 8958]


def test_an_upgrade_keeps_the_compatibility_level() -> None:
    """If the new version does not support the level, its lowest level applies [DOC: ALTER DATABASE
    compatibility level].
    """
    world = build_lab()
    query = f"SELECT compatibility_level FROM sys.databases WHERE name IN ('{DB}', 'master') ORDER BY name"
    apply_lines(world, f"upgrade {M} 2008", wait_s=1000.0)
    assert run_sql(world, M, query).grids == [[[100], [90]]]
    apply_lines(world, f"upgrade {M} 2014", wait_s=1000.0)
    assert run_sql(world, M, query).grids == [[[120], [100]]]


def upgrade_and_fail_over() -> World:
    world = build_lab()
    apply_lines(world, f"upgrade {M} 2008", wait_s=1100.0)
    run_sql(world, P, f"ALTER DATABASE {DB} SET PARTNER FAILOVER", 60.0)
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL
    return world


def test_after_failing_over_to_the_newer_partner_the_session_cannot_be_resumed() -> None:
    """Check documented behavior: [DOC: upgrading mirrored instances]."""
    world = upgrade_and_fail_over()
    reply = run_sql(world, M, f"ALTER DATABASE {DB} SET PARTNER RESUME")
    assert reply.numbers == []
    assert world.copies[MIRROR].mirroring.state is MirrorState.SUSPENDED
    newest = {server: [line[1] for line in world.errorlog[server][-3:]] for server in (P, M)}
    assert 948 in newest[P]
    assert 1454 in newest[P]
    assert 1453 in newest[M]
    apply_lines(world, f"upgrade {P} 2008", wait_s=1100.0)
    assert run_sql(world, M, f"ALTER DATABASE {DB} SET PARTNER RESUME", 60.0).numbers == []
    assert world.copies[MIRROR].mirroring.state is MirrorState.SYNCHRONIZED


@pytest.mark.parametrize(("witness", "fails_over"), [(2005, False), (2008, True)])
def test_automatic_failover_requires_an_upgraded_witness(witness: int, fails_over: bool) -> None:
    """Check documented behavior: [DOC: upgrading mirrored instances]."""
    world = build_lab()
    for server in (P, M):
        world.update_instance(server, version=2008)
    world.update_instance(W, version=witness)
    apply_lines(world, f"power-off {P}", wait_s=60.0)
    assert (world.copies[MIRROR].mirroring.role is Role.PRINCIPAL) is fails_over


def test_a_principal_requests_a_page_only_while_synchronized() -> None:
    """Otherwise the read logs only 824. The view has no row, and 1481 does not occur [DOC: automatic page
    repair].
    """
    world = build_lab()
    for server in (P, M):
        world.update_instance(server, version=2008)
    run_sql(world, P, f"ALTER DATABASE {DB} SET PARTNER SUSPEND")
    events = apply_lines(world, f"corrupt-page {P} {DB} page=77", wait_s=10.0)
    numbers = {read_field(event, "number") for event in events if event.kind == "errorlog"}
    assert 824 in numbers
    assert not numbers & {1432, 1481}
    assert world.copies[PRINCIPAL].page_repairs == ()


@pytest.mark.parametrize("suspended", [False, True])
def test_the_mirror_has_the_options_whose_change_it_received(suspended: bool) -> None:
    world = build_lab(witness=False)
    for server in (P, M):
        world.update_instance(server, version=2014)
    if suspended:
        run_sql(world, P, f"ALTER DATABASE {DB} SET PARTNER SUSPEND", 5)
    run_sql(world, P, f"ALTER DATABASE {DB} SET DELAYED_DURABILITY = ALLOWED", 5)
    apply_lines(world, f"power-off {P}", wait_s=5.0)
    run_sql(world, M, f"ALTER DATABASE {DB} SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS")
    assert world.copies[MIRROR].delayed_durability == (0 if suspended else 1)
    apply_lines(world, f"power-on {P}", wait_s=100.0)
    run_sql(world, M, f"ALTER DATABASE {DB} SET PARTNER RESUME", 60)
    assert world.copies[PRINCIPAL].delayed_durability == world.copies[MIRROR].delayed_durability
