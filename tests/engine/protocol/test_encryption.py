"""Transparent data encryption: a server without the certificate cannot read a backup."""

from __future__ import annotations

from msgspec.structs import replace

from engine.model import MirrorState, World
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import DB, M, P, apply_lines, build_lab

CREATE_KEY = "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE tde"
CREATE_MASTER_KEY = "USE master; CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Ward#1'"
CREATE_CERTIFICATE = f"{CREATE_MASTER_KEY}; CREATE CERTIFICATE tde WITH SUBJECT = 'tde'"
CERTIFICATE_FILES = "FILE = 'D:\\tde.cer' WITH PRIVATE KEY (FILE = 'D:\\tde.pvk', {} BY PASSWORD = 'Ward#1')"


def build_single_server_lab() -> World:
    """Return the lab of 2014 with its session removed."""
    world = build_lab()
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=1.0)
    for name, instance in list(world.instances.items()):
        world.instances[name] = replace(instance, version=2014)
    return world


def list_message_numbers(world: World, server: str, text: str) -> list[int]:
    return submit_batch(world, server, text, 600.0).numbers


def test_a_backup_is_restored_only_with_its_certificate() -> None:
    world = build_single_server_lab()
    assert list_message_numbers(world, P, f"USE {DB}; {CREATE_KEY}") == [15151]
    assert list_message_numbers(world, P, CREATE_CERTIFICATE) == []
    assert list_message_numbers(world, P, CREATE_KEY) == [33102]
    assert list_message_numbers(world, P, f"ALTER DATABASE {DB} SET ENCRYPTION ON") == [33106, 5069]
    assert list_message_numbers(world, P, f"USE {DB}; {CREATE_KEY}; USE master") == [33091]
    assert list_message_numbers(world, P, f"USE {DB}; {CREATE_KEY}; USE master") == [33103]
    assert list_message_numbers(world, P, f"ALTER DATABASE {DB} SET ENCRYPTION ON") == []
    assert list_message_numbers(world, P, f"ALTER DATABASE {DB} SET ENCRYPTION ON") == [33107, 5069]
    result = submit_batch(world, P, "SELECT is_encrypted FROM sys.databases WHERE name = 'Sales' "
                "UNION ALL SELECT encryption_state FROM sys.dm_database_encryption_keys")  # fmt: skip
    assert result.grids == [[[1], [3]]]
    assert list_message_numbers(world, P, "DROP CERTIFICATE tde") == [3716]
    assert list_message_numbers(world, P, f"BACKUP DATABASE {DB} TO DISK = 'D:\\s.bak'") == [4035, 4035, 3014]
    apply_lines(world, f"copy-file {P} {M} D:\\s.bak", wait_s=600.0)
    restore = f"RESTORE DATABASE {DB} FROM DISK = 'D:\\s.bak' WITH REPLACE, NORECOVERY"
    refused = submit_batch(world, M, restore, 600.0)
    assert refused.numbers == [33111, 3013]
    assert "certificate with thumbprint '0x00" in refused.texts[0]
    assert (
        list_message_numbers(world, P, "BACKUP CERTIFICATE tde TO " + CERTIFICATE_FILES.format("ENCRYPTION"))
        == []
    )
    for name in ("tde.cer", "tde.pvk"):
        apply_lines(world, f"copy-file {P} {M} D:\\{name}", wait_s=5.0)
    assert list_message_numbers(world, M, "CREATE CERTIFICATE tde FROM FILE = 'D:\\tde.cer'") == []
    # the public part of the certificate is not enough
    assert list_message_numbers(world, M, restore) == [
        33111,
        3013,
    ]
    assert list_message_numbers(world, M, "DROP CERTIFICATE tde") == []
    assert list_message_numbers(world, M, "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Ward#1'") == []
    assert (
        list_message_numbers(
            world, M, "CREATE CERTIFICATE tde FROM " + CERTIFICATE_FILES.format("DECRYPTION")
        )
        == []
    )
    assert list_message_numbers(world, M, restore)[-1] == 3014
    assert world.copies[M, DB].encrypted


def test_encryption_is_refused_by_unsupported_editions_and_versions() -> None:
    world = build_single_server_lab()
    list_message_numbers(world, P, CREATE_CERTIFICATE)
    world.instances[P] = replace(world.instances[P], edition="Standard")
    assert list_message_numbers(world, P, f"USE {DB}; {CREATE_KEY}") == [33117]
    world.instances[P] = replace(world.instances[P], version=2005)
    assert list_message_numbers(world, P, f"USE {DB}; {CREATE_KEY}") == [102]


def test_an_encrypted_backup_is_readable_only_with_the_certificate() -> None:
    """The header of the backup is not encrypted."""
    world = build_single_server_lab()
    assert list_message_numbers(world, P, f"BACKUP DATABASE {DB} TO DISK = 'D:\\plain.bak'") == [
        4035,
        4035,
        3014,
    ]
    assert list_message_numbers(
        world, P, f"{CREATE_CERTIFICATE}; USE {DB}; {CREATE_KEY}; ALTER DATABASE {DB} SET ENCRYPTION ON"
    ) == [33091]
    assert list_message_numbers(world, P, f"USE master; BACKUP LOG {DB} TO DISK = 'D:\\s.trn'") == [
        4035,
        3014,
    ]
    assert list_message_numbers(world, P, f"BACKUP DATABASE {DB} TO DISK = 'D:\\s.bak'") == [4035, 4035, 3014]
    for name in ("plain.bak", "s.trn", "s.bak"):
        apply_lines(world, f"copy-file {P} {M} D:\\{name}", wait_s=600.0)
    for command in ("FILELISTONLY", "VERIFYONLY"):
        assert list_message_numbers(world, M, f"RESTORE {command} FROM DISK = 'D:\\s.bak'") == [33111, 3013]
        assert list_message_numbers(world, P, f"RESTORE {command} FROM DISK = 'D:\\s.bak'") in ([], [3262])
    assert list_message_numbers(world, M, "RESTORE HEADERONLY FROM DISK = 'D:\\s.bak'") == []
    listed = submit_batch(world, P, "RESTORE FILELISTONLY FROM DISK = 'D:\\s.bak'").grids[0][0]
    assert any(isinstance(value, str) and value.startswith("0x") for value in listed), "TDEThumbprint"
    restore_text = f"RESTORE DATABASE {DB} FROM DISK = 'D:\\plain.bak' WITH REPLACE, NORECOVERY"
    assert list_message_numbers(world, M, restore_text)[-1] == 3014
    assert list_message_numbers(world, M, f"RESTORE LOG {DB} FROM DISK = 'D:\\s.trn' WITH NORECOVERY") == [
        33111,
        3013,
    ]


def test_a_mirror_without_the_certificate_suspends_the_session() -> None:
    world = build_single_server_lab()
    for server in (P, M):
        world.update_copy((server, DB), log_backup_every_s=0.0)
        world.cancel_calls("log.backup", server)
    for backup_type, option in (("DATABASE", "REPLACE, "), ("LOG", "")):
        path = f"D:\\{backup_type}.bak"
        assert list_message_numbers(world, P, f"BACKUP {backup_type} {DB} TO DISK = '{path}'")[-1] == 3014
        apply_lines(world, f"copy-file {P} {M} {path}", wait_s=600.0 if option else 100.0)
        restore = f"RESTORE {backup_type} {DB} FROM DISK = '{path}' WITH {option}NORECOVERY"
        assert list_message_numbers(world, M, restore)[-1] == 3014
    assert list_message_numbers(
        world, P, f"{CREATE_CERTIFICATE}; USE {DB}; {CREATE_KEY}; ALTER DATABASE {DB} SET ENCRYPTION ON"
    ) == [33091]
    assert list_message_numbers(world, M, f"ALTER DATABASE {DB} SET PARTNER = 'TCP://{P}:5022'") == []
    assert (
        list_message_numbers(world, P, f"USE master; ALTER DATABASE {DB} SET PARTNER = 'TCP://{M}:5022'")
        == []
    )
    apply_lines(world, wait_s=30.0)
    assert world.copies[P, DB].mirroring.state is MirrorState.SUSPENDED
    assert 33111 in [line[1] for line in world.errorlog[M]]
    assert list_message_numbers(world, P, f"ALTER DATABASE {DB} SET PARTNER FAILOVER") == [1422]
    assert (
        list_message_numbers(world, P, "BACKUP CERTIFICATE tde TO " + CERTIFICATE_FILES.format("ENCRYPTION"))
        == []
    )
    for name in ("tde.cer", "tde.pvk"):
        apply_lines(world, f"copy-file {P} {M} D:\\{name}", wait_s=5.0)
    assert list_message_numbers(world, M, "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Ward#1'") == []
    assert (
        list_message_numbers(
            world, M, "CREATE CERTIFICATE tde FROM " + CERTIFICATE_FILES.format("DECRYPTION")
        )
        == []
    )
    assert list_message_numbers(world, P, f"ALTER DATABASE {DB} SET PARTNER RESUME") == []
    apply_lines(world, wait_s=60.0)
    assert world.copies[P, DB].mirroring.state is not MirrorState.SUSPENDED
    assert world.copies[M, DB].encrypted
