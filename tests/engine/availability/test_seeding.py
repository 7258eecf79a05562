"""Automatic seeding and basic groups: start, failures, and their display."""

from __future__ import annotations

import pytest

from engine import model
from engine.model import SyncState
from tests.engine.availability.test_intent import run_sql, run_statement
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until

SET_AUTOMATIC_SEEDING = (
    "ALTER AVAILABILITY GROUP AG1 MODIFY REPLICA ON 'NODE_2' WITH (SEEDING_MODE = AUTOMATIC)"
)


def prepare_seeding(*, granted: bool = True) -> model.World:
    """Return a world that is ready for seeding: Orders has left the group and is dropped on NODE_2."""
    world = build_ag_lab(version=2016)
    assert run_sql(world, "NODE_1", "ALTER AVAILABILITY GROUP AG1 REMOVE DATABASE Orders") == []
    assert run_sql(world, "NODE_2", "DROP DATABASE Orders") == []
    assert run_sql(world, "NODE_1", SET_AUTOMATIC_SEEDING) == []
    if granted:
        assert run_sql(world, "NODE_2", "ALTER AVAILABILITY GROUP AG1 GRANT CREATE ANY DATABASE") == []
    return world


def add_orders_to_group(world: model.World) -> None:
    assert run_sql(world, "NODE_1", "ALTER AVAILABILITY GROUP AG1 ADD DATABASE Orders") == []


def query_rows(world: model.World, server: str, columns: str) -> list[list[object]]:
    answer = run_statement(
        world, server, f"SELECT {columns} FROM sys.dm_hadr_automatic_seeding ORDER BY start_time"
    )
    rows: list[list[object]] = answer["results"][0]["rows"]
    return rows


def list_message_numbers(world: model.World, server: str) -> list[int]:
    return [line[1] for line in world.errorlog[server]]


def get_orders_state(world: model.World) -> SyncState | None:
    copy = world.copies.get(("NODE_2", "Orders"))
    return copy.availability.state if copy is not None and copy.availability.guid is not None else None


def test_an_added_database_is_seeded_and_joins() -> None:
    world = prepare_seeding()
    add_orders_to_group(world)
    assert query_rows(world, "NODE_1", "current_state, is_source, performed_seeding") == [["SEEDING", 1, 1]]
    running = run_statement(
        world, "NODE_2", "SELECT role_desc, local_database_name FROM sys.dm_hadr_physical_seeding_stats"
    )
    assert running["results"][0]["rows"] == [["Destination", "Orders"]]
    assert run_sql(world, "NODE_1", "BACKUP LOG Orders TO DISK = 'D:\\o.trn'") == [4035, 3014]
    result = run_statement(
        world, "NODE_1", "SELECT log_reuse_wait_desc FROM sys.databases WHERE name = 'Orders'"
    )
    assert result["results"][0]["rows"] == [["AVAILABILITY_REPLICA"]]
    run_until(world, 3000)
    assert get_orders_state(world) is SyncState.SYNCHRONIZED
    assert query_rows(world, "NODE_2", "current_state, is_source, failure_state") == [["COMPLETED", 0, None]]
    mode = run_statement(
        world,
        "NODE_1",
        "SELECT seeding_mode_desc FROM sys.availability_replicas ORDER BY replica_server_name",
    )
    assert mode["results"][0]["rows"] == [["MANUAL"], ["AUTOMATIC"], ["MANUAL"]]


def test_without_the_permission_seeding_fails_with_19506_until_granted() -> None:
    world = prepare_seeding(granted=False)
    add_orders_to_group(world)
    seeding_rows = query_rows(world, "NODE_1", "current_state, failure_state, failure_state_desc")
    assert seeding_rows == [["FAILED", 21, "Seeding Check Message Timeout"]]
    assert 19506 in list_message_numbers(world, "NODE_2")
    assert 19495 in list_message_numbers(world, "NODE_1")
    assert ("NODE_2", "Orders") not in world.copies
    assert run_sql(world, "NODE_2", "ALTER AVAILABILITY GROUP AG1 GRANT CREATE ANY DATABASE") == []
    run_until(world, 3000)
    assert get_orders_state(world) is SyncState.SYNCHRONIZED


def test_a_leftover_database_blocks_seeding_until_the_mode_is_set_again() -> None:
    world = prepare_seeding()
    assert run_sql(world, "NODE_2", "CREATE DATABASE Orders") == []
    run_until(world, 60)
    add_orders_to_group(world)
    assert query_rows(world, "NODE_1", "failure_state_desc") == [["Database With Name Already Exists"]]
    assert run_sql(world, "NODE_2", "DROP DATABASE Orders") == []
    run_until(world, 300)
    assert get_orders_state(world) is None, "an unrecoverable error waits for a person"
    assert run_sql(world, "NODE_1", SET_AUTOMATIC_SEEDING) == []
    run_until(world, 3000)
    assert get_orders_state(world) is SyncState.SYNCHRONIZED


def test_an_unseeded_database_can_be_suspended_at_the_primary() -> None:
    world = prepare_seeding()
    add_orders_to_group(world)
    apply_lines(world, "power-off NODE_2")
    run_until(world, world.t_s + 2)
    apply_lines(world, "power-on NODE_2")
    run_until(world, world.t_s + 1)
    assert get_orders_state(world) is None
    assert run_sql(world, "NODE_1", "ALTER DATABASE Orders SET HADR SUSPEND") == []
    assert world.copies["NODE_1", "Orders"].availability.suspended is not None


def test_a_broken_connection_is_a_transient_error() -> None:
    world = prepare_seeding()
    add_orders_to_group(world)
    apply_lines(world, "cut NODE_1 NODE_2")
    run_until(world, world.tick / 100 + 30)
    assert 19494 in list_message_numbers(world, "NODE_1")
    assert ("NODE_2", "Orders") not in world.copies
    apply_lines(world, "mend NODE_1 NODE_2")
    run_until(world, 4000)
    assert get_orders_state(world) is SyncState.SYNCHRONIZED
    assert [row[0] for row in query_rows(world, "NODE_1", "number_of_attempts")] == [1, 2]


MODE_OPTIONS = "AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, FAILOVER_MODE = MANUAL"
CREATE_TEMPLATE = (
    "CREATE AVAILABILITY GROUP B {basic}FOR DATABASE {names} REPLICA ON "
    "'NODE_1' WITH (ENDPOINT_URL = 'TCP://NODE_1:5022', {modes}), "
    "'NODE_2' WITH (ENDPOINT_URL = 'TCP://NODE_2:5022', {modes})"
)


@pytest.mark.parametrize(
    ("edition", "basic", "names", "errors"),
    [
        ("Standard", "", "Orders", [41199]),
        ("Standard", "WITH (BASIC) ", "Orders", []),
        ("Standard", "WITH (BASIC) ", "Orders, Sales", [35200]),
    ],
)
def test_basic_groups_are_seeded(edition: str, basic: str, names: str, errors: list[int]) -> None:
    world = build_ag_lab(version=2016)
    assert run_sql(world, "NODE_1", "DROP AVAILABILITY GROUP AG1") == []
    world.update_instance("NODE_1", edition=edition)
    answer = run_sql(
        world, "NODE_1", CREATE_TEMPLATE.format(basic=basic, names=names, modes=MODE_OPTIONS), 5.0
    )
    assert answer == errors
    if not errors:
        run_until(world, 30)
        assert run_sql(world, "NODE_1", "ALTER AVAILABILITY GROUP B ADD DATABASE Sales") == [35200]
        flag = run_statement(world, "NODE_1", "SELECT basic_features FROM sys.availability_groups")
        assert flag["results"][0]["rows"] == [[1]]
        assert run_sql(world, "NODE_1", "ALTER AVAILABILITY GROUP B SET (BASIC)") == [102]
        assert run_sql(world, "NODE_2", "ALTER AVAILABILITY GROUP B JOIN") == []
        run_until(world, world.tick / 100 + 10)
        assert run_sql(world, "NODE_2", "ALTER DATABASE Orders SET HADR AVAILABILITY GROUP = B") == []
        run_until(world, world.tick / 100 + 60)
        assert get_orders_state(world) is SyncState.SYNCHRONIZED
        assert run_sql(world, "NODE_2", "USE Orders") == [976], (
            "nobody reads at the secondary of a basic group"
        )
        assert run_sql(world, "NODE_2", "BACKUP LOG Orders TO DISK = 'D:\\o.trn'") == [3059, 3013]


# --- encrypted databases: every replica needs the certificate [DOC: TDE]
# -----------------------------------------

ENCRYPT_SALES = (
    "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Ward#1'",
    "CREATE CERTIFICATE tde WITH SUBJECT = 'tde'",
    "USE Orders; CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE tde; "
    "ALTER DATABASE Orders SET ENCRYPTION ON; USE master",
)
CERTIFICATE_FILES = "FILE = 'D:\\tde.cer' WITH PRIVATE KEY (FILE = 'D:\\tde.pvk', {} BY PASSWORD = 'Ward#1')"


def encrypt_database(world: model.World) -> None:
    for text in ENCRYPT_SALES:
        assert run_sql(world, "NODE_1", text) in ([], [33091])


def copy_certificate(world: model.World) -> None:
    assert (
        run_sql(world, "NODE_1", f"BACKUP CERTIFICATE tde TO {CERTIFICATE_FILES.format('ENCRYPTION')}") == []
    )
    for name in ("tde.cer", "tde.pvk"):
        apply_lines(world, f"copy-file NODE_1 NODE_2 D:\\{name}")
        run_until(world, world.tick / 100 + 5)
    assert run_sql(world, "NODE_2", "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Ward#1'") == []
    assert (
        run_sql(world, "NODE_2", f"CREATE CERTIFICATE tde FROM {CERTIFICATE_FILES.format('DECRYPTION')}")
        == []
    )


def test_an_encrypted_database_is_seeded_only_with_its_certificate() -> None:
    world = prepare_seeding()
    encrypt_database(world)
    add_orders_to_group(world)
    run_until(world, world.tick / 100 + 600)
    assert get_orders_state(world) is None
    assert query_rows(world, "NODE_1", "current_state, failure_state_desc, error_code") == [
        ["FAILED", "SQL Error", 33111]
    ]
    assert 33111 in list_message_numbers(world, "NODE_2")
    assert run_sql(world, "NODE_2", "ALTER AVAILABILITY GROUP AG1 FAILOVER") == [41142]
    copy_certificate(world)
    assert run_sql(world, "NODE_1", SET_AUTOMATIC_SEEDING) == []
    run_until(world, world.tick / 100 + 1200)
    assert get_orders_state(world) is SyncState.SYNCHRONIZED
    assert world.copies["NODE_2", "Orders"].encrypted
    assert run_sql(world, "NODE_2", "ALTER AVAILABILITY GROUP AG1 FAILOVER") == []
    run_until(world, world.tick / 100 + 30)
    assert run_sql(world, "NODE_2", "USE Orders") == []
    assert run_sql(world, "NODE_2", "USE master; DROP CERTIFICATE tde") == [3716]


def test_redo_of_encryption_suspends_without_the_certificate() -> None:
    world = build_ag_lab(version=2016)
    assert run_sql(world, "NODE_1", "ALTER AVAILABILITY GROUP AG1 REMOVE DATABASE Orders") == []
    run_until(world, world.tick / 100 + 5)
    encrypt_database(world)
    assert run_sql(world, "NODE_1", "ALTER AVAILABILITY GROUP AG1 ADD DATABASE Orders") == []
    assert run_sql(world, "NODE_2", "ALTER DATABASE Orders SET HADR AVAILABILITY GROUP = AG1") == []
    run_until(world, world.tick / 100 + 30)
    membership = world.copies["NODE_2", "Orders"].availability
    assert (membership.state, membership.suspended) == (SyncState.NOT_SYNCHRONIZING, model.SuspendReason.REDO)
    assert list_message_numbers(world, "NODE_2").count(33111) == 1
    assert run_sql(world, "NODE_2", "ALTER AVAILABILITY GROUP AG1 FAILOVER") == [41142]
    copy_certificate(world)
    assert run_sql(world, "NODE_2", "ALTER DATABASE Orders SET HADR RESUME") == []
    run_until(world, world.tick / 100 + 60)
    assert get_orders_state(world) is SyncState.SYNCHRONIZED
    assert world.copies["NODE_2", "Orders"].encryption_key


def test_at_most_five_databases_are_seeded_at_the_same_time() -> None:
    world = prepare_seeding()
    names = [f"Seed{number}" for number in range(7)]
    for name in names:
        assert run_sql(world, "NODE_1", f"CREATE DATABASE {name}") == []
        assert (
            run_sql(world, "NODE_1", f"BACKUP DATABASE {name} TO DISK = 'D:\\{name}.bak'", 60.0)[-1] == 3014
        )
    assert (
        run_sql(world, "NODE_1", f"ALTER AVAILABILITY GROUP AG1 ADD DATABASE {', '.join(names)}", 0.2) == []
    )
    running = "SELECT COUNT(*) FROM sys.dm_hadr_automatic_seeding WHERE current_state = 'SEEDING'"
    assert run_statement(world, "NODE_1", running, 0.2)["results"][0]["rows"] == [[5]]
    run_until(world, world.t_s + 300)
    states = [world.copies["NODE_2", name].availability.state for name in names]
    assert states == [SyncState.SYNCHRONIZED] * 7
