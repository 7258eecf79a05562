"""ALTER DATABASE … MODIFY FILE: immediate changes in the catalog, and effects at the next start of the
database.

[DOC: move user databases]
"""

from __future__ import annotations

import pytest

from engine.inputs import InputError
from engine.model import MirrorState, World
from engine.protocol import volumes
from tests.engine.availability.worlds import apply_lines as perform
from tests.engine.availability.worlds import build_ag_lab, run_until
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import DB, M, P, W, apply_lines, build_lab

FILES_QUERY = (
    "SELECT name, physical_name, size, max_size, growth, is_percent_growth FROM sys.master_files "
    "WHERE database_id = DB_ID('{}') ORDER BY file_id"
)


def list_message_numbers(world: World, server: str, text: str) -> list[int]:
    return submit_batch(world, server, text, 30.0).numbers


def get_file(world: World, server: str = W, database: str = "Plain", index: int = 0) -> list[object]:
    row: list[object] = submit_batch(world, server, FILES_QUERY.format(database)).grids[0][index]
    return row


def modify_file(world: World, options: str, server: str = W, database: str = "Plain") -> list[int]:
    return list_message_numbers(world, server, f"ALTER DATABASE {database} MODIFY FILE (NAME = {options})")


def query_state(world: World, server: str = W, database: str = "Plain") -> object:
    return submit_batch(
        world, server, f"SELECT state_desc FROM sys.databases WHERE name = '{database}'"
    ).grids[0][0][0]


def create_plain_database() -> World:
    world = build_lab()
    assert list_message_numbers(world, W, "CREATE DATABASE Plain") == []
    return world


MOVE_OPTIONS = r"Plain, FILENAME = 'D:\New\Plain.mdf'"
COPY_FILE_LINE = rf"copy-file {W} {W} D:\Data\Plain.mdf D:\New\Plain.mdf"


def test_a_database_opens_at_its_new_path_if_its_file_exists() -> None:
    world = create_plain_database()
    assert modify_file(world, MOVE_OPTIONS) == [5018]
    assert get_file(world)[1] == r"D:\New\Plain.mdf"
    with pytest.raises(InputError, match="in use"):
        perform(world, COPY_FILE_LINE)
    assert list_message_numbers(world, W, "ALTER DATABASE Plain SET OFFLINE") == []
    assert list_message_numbers(world, W, "ALTER DATABASE Plain SET ONLINE") == [5120, 5069]
    assert query_state(world) == "RECOVERY_PENDING"
    apply_lines(world, COPY_FILE_LINE, wait_s=30.0)
    assert list_message_numbers(world, W, "ALTER DATABASE Plain SET ONLINE") == []
    assert query_state(world) == "ONLINE"
    assert list_message_numbers(world, W, "USE Plain; CREATE TABLE t (a int)") == []
    apply_lines(world, f"restart-service {W}", wait_s=60.0)
    assert query_state(world) == "ONLINE"


def test_the_service_starts_without_a_database_whose_file_is_missing() -> None:
    world = create_plain_database()
    assert modify_file(world, MOVE_OPTIONS) == [5018]
    apply_lines(world, f"stop-service {W}", wait_s=10.0)
    apply_lines(world, f"start-service {W}", wait_s=60.0)
    assert query_state(world) == "RECOVERY_PENDING"
    assert 5120 in [line[1] for line in world.errorlog[W]]
    assert modify_file(world, r"Plain, FILENAME = 'D:\Data\Plain.mdf'") == [5018], "the way back"
    assert list_message_numbers(world, W, "ALTER DATABASE Plain SET ONLINE") == []
    assert query_state(world) == "ONLINE"


def test_a_file_moved_while_the_service_was_stopped_is_found() -> None:
    world = create_plain_database()
    apply_lines(world, f"add-drive {W} E size_gb=10", wait_s=1.0)
    assert modify_file(world, r"Plain, FILENAME = 'E:\Data\Plain.mdf'") == [5018]
    apply_lines(world, f"stop-service {W}", wait_s=10.0)
    apply_lines(world, rf"copy-file {W} {W} D:\Data\Plain.mdf E:\Data\Plain.mdf", wait_s=30.0)
    apply_lines(world, f"start-service {W}", wait_s=60.0)
    assert query_state(world) == "ONLINE"
    assert world.copies[W, "Plain"].data_drive == "E"
    apply_lines(world, f"fail-volume {W} E", f"restart-service {W}", wait_s=60.0)
    assert query_state(world) == "RECOVERY_PENDING"


def test_file_names_sizes_and_growth_are_changed() -> None:
    world = create_plain_database()
    assert modify_file(world, "Plain, NEWNAME = Plain_data") == [5021]
    assert get_file(world)[:2] == ["Plain_data", r"D:\Data\Plain.mdf"]
    assert modify_file(world, "Plain, SIZE = 200MB") == [5041]
    assert modify_file(world, "Plain_data, SIZE = 200MB, FILEGROWTH = 64MB, MAXSIZE = 1GB") == []
    assert get_file(world)[2:] == [25_600, 131_072, 8192, 0]
    assert modify_file(world, "Plain_data, SIZE = 200MB") == [5039]
    assert modify_file(world, "Plain_data, FILEGROWTH = 20%") == []
    assert get_file(world)[4:] == [20, 1]
    assert modify_file(world, "Plain_log, MAXSIZE = UNLIMITED, FILEGROWTH = 0") == []
    assert get_file(world, index=1)[4:] == [0, 0]
    assert modify_file(world, "Plain_log, NEWNAME = Plain_data") == [1828]
    assert modify_file(world, "Plain_data, FILESIZE = 5") == [102]
    offline = submit_batch(world, W, "ALTER DATABASE Plain MODIFY FILE (NAME = Plain_data, OFFLINE)")
    assert offline.texts[0].startswith("Not simulated: ")


def test_a_log_file_grows_by_its_increment_or_not_at_all() -> None:
    world = build_lab()
    assert modify_file(world, "Sales_log, FILEGROWTH = 0", P, DB) == []
    copy = world.copies[P, DB]
    assert volumes.compute_next_log_size_kb(world, copy) == copy.log_size_kb
    assert modify_file(world, "Sales_log, FILEGROWTH = 1GB", P, DB) == []
    assert volumes.compute_next_log_size_kb(world, world.copies[P, DB]) == copy.log_size_kb + 1024**2
    assert modify_file(world, "Sales_log, FILEGROWTH = 50%", P, DB) == []
    assert volumes.compute_next_log_size_kb(world, world.copies[P, DB]) == copy.log_size_kb * 1.5


def test_the_mirror_has_its_own_path_and_the_principals_names() -> None:
    world = build_lab()
    assert modify_file(world, r"Sales, FILENAME = 'D:\M\Sales.mdf'", M, DB) == [5018]
    assert get_file(world, M, DB)[1] == r"D:\M\Sales.mdf"
    assert get_file(world, P, DB)[1] == r"D:\Data\Sales.mdf"
    assert modify_file(world, "Sales, NEWNAME = Sales_data", M, DB) == [954, 5069]
    assert modify_file(world, "Sales, NEWNAME = Sales_data", P, DB) == [5021]
    apply_lines(world, wait_s=30.0)
    assert get_file(world, M, DB)[:2] == ["Sales_data", r"D:\M\Sales.mdf"]
    apply_lines(world, f"stop-service {M}", wait_s=10.0)
    apply_lines(world, rf"copy-file {M} {M} D:\Data\Sales.mdf D:\M\Sales.mdf", wait_s=1500.0)
    apply_lines(world, f"start-service {M}", wait_s=600.0)
    assert not world.copies[M, DB].disk_failed
    assert world.copies[P, DB].mirroring.state in (MirrorState.SYNCHRONIZING, MirrorState.SYNCHRONIZED)


def test_a_secondary_accepts_a_path_and_does_not_open_without_its_file() -> None:
    world = build_ag_lab()
    alter = r"sql NODE_2 ALTER DATABASE Sales MODIFY FILE (NAME = Sales, FILENAME = 'D:\N\Sales.mdf')"
    perform(world, alter)
    run_until(world, 5)
    perform(world, "restart-service NODE_2")
    run_until(world, 60)
    assert world.copies["NODE_2", "Sales"].disk_failed
    assert not world.copies["NODE_2", "Orders"].disk_failed
