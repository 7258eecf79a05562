"""Prerequisites of a new mirroring session: editions, versions, reachable endpoints, a suitable mirror.

See facts 1.2 and 0.2 in docs/facts.md.
"""

from engine.constants import ENTERPRISE_EDITIONS, WITNESS_ONLY_EDITIONS
from engine.flow import compute_redo_threads
from engine.flow.setup import compute_worker_threads
from engine.messages import SqlError
from engine.model import DatabaseCopy, DbState, Instance, RecoveryModel, Role, Safety, World
from engine.protocol import errorlog, lineage, network, security, streams


def check_own_server(world: World, copy: DatabaseCopy, address: str) -> None:
    """Check that the copy's server and database can be part of a session. Raise 1463, 1465 or 1418."""
    server = world.instances[copy.server]
    if server.edition in WITNESS_ONLY_EDITIONS:
        raise SqlError(1463)
    if copy.recovery_model is not RecoveryModel.FULL:
        raise SqlError(1465, copy.database)
    if not security.is_listening(server) or not security.has_endpoint_role(server, witness=False):
        if not security.is_listening(server):
            errorlog.write_message(world, copy.server, 1486)
        raise SqlError(1418, address)


def can_connect_endpoint(world: World, caller: str, host: str, address: str | None, *, witness: bool) -> bool:
    """Return whether *caller* can connect to the endpoint of *host*. Log a refusal in the ERRORLOG."""
    other_instance = world.instances[host]
    if not (other_instance.answering and network.can_exchange_packets(world, caller, host)):
        return False
    if address is not None and not security.is_address_of(world, address, host):
        security.log_dead_address(world, caller, address, explicit=True)
        return False
    refusal = security.find_handshake_refusal(world, caller, host)
    if refusal is not None:
        security.log_refusal(world, caller, host, refusal, explicit=True)
    return refusal is None and (witness or security.has_endpoint_role(other_instance, witness=False))


def has_same_edition(a: Instance, b: Instance) -> bool:
    """Return whether both partners have the same edition.

    Developer counts as Enterprise, because it is the same software with another license.
    """
    return _read_edition_family(a.edition) == _read_edition_family(b.edition)


def _read_edition_family(edition: str) -> str:
    return "Enterprise" if edition in ENTERPRISE_EDITIONS else edition


def has_compatible_version(world: World, principal: str, mirror: str) -> bool:
    """Return whether the mirror has the same version or, as in a rolling upgrade, a newer one."""
    return world.instances[principal].version <= world.instances[mirror].version


def find_partner_copy(world: World, copy: DatabaseCopy, host: str, address: str) -> DatabaseCopy:
    """Return the copy on *host* that can become the mirror of *copy*. Raise an error if none can.

    *address* is the address of *host*. The checks are in the order 1448, 1410, 1466, 1464, 1416, 1418, 1436,
    1463, 1415, 1465, 1475, 1412, 1478, 1450 (derived).
    """
    other_copy = world.copies.get((host, copy.database))
    if other_copy is None:
        raise SqlError(1448, copy.database)
    if other_copy.mirroring.guid is not None:
        raise SqlError(1410, copy.database)
    if other_copy.standby or other_copy.read_only:
        raise SqlError(1466, copy.database)
    if other_copy.db_state is not DbState.RESTORING or other_copy.restoring:
        raise SqlError(1464, copy.database)
    if other_copy.mirroring.partner_address is None:
        raise SqlError(1416, copy.database)
    if not security.is_address_of(world, other_copy.mirroring.partner_address, copy.server):
        # the partner address of the mirror is not this server's address
        security.log_dead_address(world, host, other_copy.mirroring.partner_address, explicit=True)
        raise SqlError(1418, address)
    if other_copy.family != copy.family:
        raise SqlError(1436, copy.database)
    if not has_same_edition(world.instances[copy.server], world.instances[host]):
        raise SqlError(1463)
    if not has_compatible_version(world, copy.server, host):
        raise SqlError(1415, copy.database)
    if other_copy.recovery_model is not RecoveryModel.FULL:
        raise SqlError(1465, copy.database)
    if copy.bulk_changes:
        raise SqlError(1475, copy.database)
    end = streams.get_end_of_log_kb(world, other_copy)
    if end > lineage.find_common_kb(copy.lineage, other_copy.lineage):
        raise SqlError(1412, copy.database)
    # Compare the log chain, not the amount of log: even an empty log backup is part of the chain.
    lacks_backup = copy.log_backed_up and other_copy.last_log_backup_tick < copy.last_log_backup_tick
    if lacks_backup or end < max(copy.log_start_kb, copy.last_log_backup_kb):
        # Error 1478 occurs after PARTNER OFF and a log backup, error 1412 at a first setup (facts 1.8 in
        # docs/facts.md).
        raise SqlError(1478, copy.database) if other_copy.was_mirror else SqlError(1412, copy.database)
    if copy.log_backed_up and other_copy.log_start_kb > copy.last_log_backup_kb:
        # The next log backup begins at the end of the last one. A later full backup alone lacks the log in
        # between.
        raise SqlError(1478, copy.database)  # [DOC: Prepare a Mirror Database, step 3]
    for server, as_mirror in ((copy.server, False), (host, True)):
        if _count_needed_threads(world, server, as_mirror) > _count_allowed_threads(world, server):
            raise SqlError(1450)
    return other_copy


def _count_needed_threads(world: World, server: str, one_more_mirror: bool) -> int:
    """Return the number of threads that mirroring needs on the server with one more session.

    It is 1, plus 2 per principal, plus 3 and the redo threads per mirror.
    """
    state = world.instances[server]
    roles = [
        copy.mirroring.role
        for (server_name, _), copy in world.copies.items()
        if server_name == server and copy.mirroring.guid is not None
    ]
    mirrors = sum(role is Role.MIRROR for role in roles) + one_more_mirror
    principals = len(roles) + 1 - mirrors
    return (
        1
        + 2 * principals
        + (
            3
            + compute_redo_threads(world.get_computer_of(server).cores, state.edition in ENTERPRISE_EDITIONS)
        )
        * mirrors
    )


def _count_allowed_threads(world: World, server: str) -> int:
    return world.instances[server].max_worker_threads or compute_worker_threads(
        world.get_computer_of(server).cores
    )


# --- settings of a mirroring session, as one server knows them --------------------------------------------


def get_witness(copy: DatabaseCopy) -> str | None:
    """Return the server that is the witness; None if the session has none or the database is not mirrored."""
    return copy.mirroring.witness


def get_witness_state_desc(copy: DatabaseCopy) -> str:
    """Return the column mirroring_witness_state_desc; empty without a witness."""
    return copy.mirroring.witness_state.name if copy.mirroring.witness is not None else ""


def get_safety_desc(copy: DatabaseCopy) -> str:
    """Return FULL or OFF; empty if the database is not mirrored or its server does not yet know the level."""
    is_known = copy.mirroring.guid is not None and copy.mirroring.safety is not Safety.UNKNOWN
    return copy.mirroring.safety.name if is_known else ""


def get_timeout_s(copy: DatabaseCopy) -> int:
    """Return the partner timeout in seconds; 0 if the database is not mirrored."""
    return copy.mirroring.timeout_s if copy.mirroring.guid is not None else 0


def get_partner_address(copy: DatabaseCopy) -> str | None:
    """Return the partner's address in the copy's settings, or None."""
    return copy.mirroring.partner_address
