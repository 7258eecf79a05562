"""Options of ALTER DATABASE … SET outside mirroring, and the owner of a database. They belong to one copy."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from engine.constants import COMPATIBILITY_LEVELS, COMPATIBILITY_LEVELS_MIN, ENTERPRISE_EDITIONS
from engine.messages import Message, SqlError
from engine.model import DatabaseCopy, DbState, Instance, RecoveryModel, World
from engine.protocol import commits, disks, group_policies, log_space, security, statements, streams, volumes

# --- encryption of a whole database (TDE) -----------------------------------------------------------------
# Every server needs the certificate of the encryption key to open the database [DOC: TDE]. The encryption
# scan takes no simulated time.

TDE_IN_STANDARD_SINCE: Final = 2019
"""First version whose Standard edition has TDE [DOC: editions and supported features of 2019]."""


def create_encryption_key(world: World, server: str, database: str, certificate: str) -> list[Message]:
    """Create the encryption key of a database, protected by a server certificate.

    Raise 15151, 33103 or 33117.
    """
    copy = statements.require_copy(world, server, database)
    instance = world.instances[server]
    if instance.edition not in ENTERPRISE_EDITIONS and instance.version < TDE_IN_STANDARD_SINCE:
        raise SqlError(33117)
    if copy.group_kind:
        raise SqlError(0, "Not simulated: an encryption key for a database that is mirrored or in a group")
    if copy.encryption_key:
        raise SqlError(33103)
    found_certificate = security.find_certificate(instance, certificate)
    if found_certificate is None:
        raise SqlError(15151, "find", "certificate", certificate)
    world.update_copy(copy.key, encryption_key=found_certificate.thumbprint)
    return []


def set_encryption(world: World, key: tuple[str, str], value: str) -> None:
    """Turn the encryption of a database on or off. Raise 33106, 33107 or 33108."""
    copy, is_enabled = world.copies[key], value == "ON"
    if copy.group_kind:
        raise SqlError(0, "Not simulated: SET ENCRYPTION of a database that is mirrored or in a group")
    if not copy.encryption_key:
        raise SqlError(33106, also=(5069,))
    if copy.encrypted is is_enabled:
        raise SqlError(33107 if is_enabled else 33108, also=(5069,))
    world.update_copy(key, encrypted=is_enabled)


def format_thumbprint(number: int) -> bytes:
    """Return the thumbprint in the format of sys.certificates."""
    return (number & (2**160 - 1)).to_bytes(20, "big")


def require_certificate(instance: Instance, number: int, title: str) -> None:
    """Raise 33111 if the certificate with thumbprint *number*, or its private key, is missing.

    *number* is 0 if no certificate is needed. A backup of a database with an encryption key needs the
    certificate even while encryption is off.
    """
    missing = find_certificate_error(instance, number)
    if missing is not None:
        raise SqlError(*missing, also=(3013,), title=title, state=3)


def find_certificate_error(instance: Instance, number: int) -> tuple[int, str, str] | None:
    """Return 33111 and its arguments if the certificate with thumbprint *number*, or its key, is missing.

    Otherwise return None. *number* is 0 if no certificate is needed.
    """
    if not number or any(
        certificate.thumbprint == number and certificate.has_private_key
        for certificate in instance.certificates
    ):
        return None
    return 33111, "certificate", f"0x{format_thumbprint(number).hex().upper()}"


def is_key_protected_by(world: World, server: str, number: int) -> bool:
    """Return whether a certificate protects the encryption key of any database on *server*.

    *number* is the certificate's thumbprint.
    """
    return any(copy.encryption_key == number for copy in world.copies.values() if copy.server == server)


OPTIONS_REFUSED_WHILE_MIRRORED: Final = frozenset(
    {
        "RECOVERY SIMPLE", "RECOVERY BULK_LOGGED", "OFFLINE", "SINGLE_USER", "RESTRICTED_USER", "EMERGENCY",
        "READ_ONLY", "AUTO_CLOSE ON", "ENABLE_BROKER", "DISABLE_BROKER", "NEW_BROKER", "ERROR_BROKER_CONVERSATIONS",
        "READ_COMMITTED_SNAPSHOT ON", "READ_COMMITTED_SNAPSHOT OFF",
    }
)  # fmt: skip
"""Options that fail with error 1468 (followed by 5069) in a mirroring session.

The rule is documented [DOC: ALTER DATABASE SET options]. Two options were seen in logs; the others are
derived.
"""

Key = tuple[str, str]


class UnsimulatedOptionError(Exception):
    """Error for an option that is not simulated in the current state of the database."""


def set_option(world: World, server: str, database: str, option: str, value: str | None) -> list[Message]:
    """Set one option of ALTER DATABASE … SET. Raise 15048 for an invalid compatibility level."""
    copy = statements.require_copy(world, server, database)
    words = (
        " ".join(part for part in (option.upper(), (value or "").upper()) if part).replace("=", " ").split()
    )
    act = OPTION_SETTERS.get(words[0])
    if act is not None:
        act(world, copy.key, words[-1])
    return []


def _set_recovery(world: World, key: Key, value: str) -> None:
    model, before = RecoveryModel[value], world.copies[key].recovery_model
    if RecoveryModel.SIMPLE in (model, before) and model is not before:
        log_space.break_log_chain(world, world.copies[key])
    world.update_copy(key, recovery_model=model)


def _take_offline(world: World, key: Key, value: str) -> None:
    streams.stop_log(world, world.copies[key])
    world.update_copy(key, db_state=DbState.OFFLINE)


def _set_emergency(world: World, key: Key, value: str) -> None:
    """Set EMERGENCY: only sysadmin can use the database, and its log is not written."""
    copy = world.copies[key]
    if copy.disk_failed or copy.db_state not in (DbState.ONLINE, DbState.EMERGENCY):
        raise UnsimulatedOptionError("ALTER DATABASE … SET EMERGENCY of a database that is not online")
    streams.stop_log(world, copy)
    world.update_copy(key, db_state=DbState.EMERGENCY)


def _set_read_only(world: World, key: Key, value: str) -> None:
    world.update_copy(key, read_only=value == "READ_ONLY")


def _bring_online(world: World, key: Key, value: str) -> None:
    copy = world.copies[key]
    if copy.db_state not in (DbState.OFFLINE, DbState.RECOVERY_PENDING, DbState.EMERGENCY):
        return
    if not disks.verify_files(world, key):
        path = volumes.get_file_path(copy, disks.list_lost_files(world, world.copies[key])[0])
        absence = disks.find_missing_file_error(world, copy, path)
        raise SqlError(5120, path, int(absence.partition("(")[0]), absence, state=101, also=(5069,))
    is_disk_back = copy.disk_failed and not world.copies[key].disk_failed
    if copy.db_state in (DbState.OFFLINE, DbState.EMERGENCY) or (is_disk_back and not copy.group_kind):
        world.update_copy(key, db_state=DbState.ONLINE)
        if world.copies[key].source is None:
            streams.add_source(world, key, copy.end_of_log_kb)
    elif is_disk_back:
        disks.recover_copy(world, key)


def _set_delayed_durability(world: World, key: Key, value: str) -> None:
    world.update_copy(key, delayed_durability=("DISABLED", "ALLOWED", "FORCED").index(value))
    _record_option(world, key)


def _set_trustworthy(world: World, key: Key, value: str) -> None:
    """Set TRUSTWORTHY on this server's own copy.

    It is OFF in the mirror's copy until someone sets it there [DOC: set up a mirror database to use the
    TRUSTWORTHY property].
    """
    world.update_copy(key, trustworthy=value == "ON")


def _set_compatibility(world: World, key: Key, value: str) -> None:
    """Set the compatibility level. Raise 15048 for a level that this version does not support."""
    version = world.instances[key[0]].version
    allowed = [
        level for level in (80, *COMPATIBILITY_LEVELS.values()) if COMPATIBILITY_LEVELS_MIN[version] <= level
    ]
    allowed = [level for level in allowed if level <= COMPATIBILITY_LEVELS[version]]
    if not value.isdigit() or int(value) not in allowed:
        *other_levels, last = map(str, allowed)
        raise SqlError(15048, f"{', '.join(other_levels)}, or {last}")
    world.update_copy(key, compatibility_level=int(value))
    _record_option(world, key)


def _record_option(world: World, key: Key) -> None:
    """Record the change of a logged option, so that other copies redo it."""
    copy = world.copies[key]
    if copy.source is not None:
        copy = world.update_copy(key, options_kb=world.flow.read_source_positions(copy.source).generated_kb)
    group_policies.get_policy(copy).on_catalog_changed(world, key)


OPTION_SETTERS: Final[dict[str, Callable[[World, Key, str], None]]] = {
    "RECOVERY": _set_recovery,
    "OFFLINE": _take_offline,
    "ONLINE": _bring_online,
    "EMERGENCY": _set_emergency,
    "READ_ONLY": _set_read_only,
    "READ_WRITE": _set_read_only,
    "DELAYED_DURABILITY": _set_delayed_durability,
    "TRUSTWORTHY": _set_trustworthy,
    "ENCRYPTION": set_encryption,
    "COMPATIBILITY_LEVEL": _set_compatibility,
}
"""First word of an option -> function that sets it. The last word of the option is the value."""


def get_model_recovery(server: Instance) -> RecoveryModel:
    """Return the recovery model of the system database "model", which new databases inherit.

    It depends on the edition [DOC: model database]. Only Express has SIMPLE. Known.
    """
    return RecoveryModel.SIMPLE if server.edition == "Express" else RecoveryModel.FULL


def get_compatibility_level(world: World, copy: DatabaseCopy) -> int:
    """Return the compatibility level of a copy: its own, or the default of its server's version."""
    return copy.compatibility_level or COMPATIBILITY_LEVELS[world.instances[copy.server].version]


def update_levels_after_upgrade(world: World, server: str, version: int) -> None:
    """Set the compatibility levels of all databases after an upgrade to *version*.

    A database keeps its level unless the new version does not support it. It then gets the lowest supported
    level [DOC: ALTER DATABASE compatibility level].
    """
    for key, copy in list(world.copies.items()):
        if key[0] == server:
            level = max(get_compatibility_level(world, copy), COMPATIBILITY_LEVELS_MIN[version])
            world.update_copy(key, compatibility_level=level)


def set_database_owner(world: World, server: str, database: str, login: str) -> list[Message]:
    """Set the owner that this server records (sp_changedbowner, ALTER AUTHORIZATION).

    Each server has its own record in master: after a failover the owner is the login that restored the
    mirror. Raise 15109, 15110 or 15151.
    """
    if database.lower() in ("master", "model", "tempdb"):
        raise SqlError(15109)
    copy = statements.require_copy(world, server, database)
    instance = world.instances[server]
    found_login = instance.find_login(login)
    always = {
        name.lower(): name
        for name in ("sa", instance.service_account, f"{world.computers[instance.computer].domain}\\dba")
    }
    if found_login is None and login.lower() not in always:
        raise SqlError(15151, "find", "login", login)
    if found_login is not None and any(
        u.sid == found_login.sid for u in commits.list_database_users(world, server, copy.database)
    ):
        raise SqlError(15110)
    world.update_copy(
        (server, copy.database), owner=found_login.name if found_login is not None else always[login.lower()]
    )
    return []


def apply_restored_properties(copy: DatabaseCopy, image: DatabaseCopy, owner: str) -> DatabaseCopy:
    """Return *copy* with its properties after RESTORE or attach.

    The compatibility level of *image* is kept, TRUSTWORTHY is OFF, and *owner* becomes the owner.
    """
    return replace(
        copy,
        compatibility_level=image.compatibility_level,
        trustworthy=False,
        owner=owner,
        read_only=image.read_only,
        encryption_key=image.encryption_key,
        encrypted=image.encrypted,
    )
