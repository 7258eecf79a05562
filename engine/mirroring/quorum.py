"""Rules of quorum in a mirroring session, evaluated with the knowledge of each server.

This module changes nothing. See facts 4.1 in docs/facts.md.
"""

from engine.model import Contact, DatabaseCopy, DbState, MirrorState, Role, Safety, WitnessRecord, World

_DISCONNECTED = Contact(connected=False)


def get_contact(world: World, guid: int | None, server: str, peer: str | None) -> Contact:
    """Return the knowledge of *server* about its connection to *peer*.

    If there is no connection, return a disconnected Contact.
    """
    return (
        _DISCONNECTED
        if guid is None or peer is None
        else world.contacts.get((guid, server, peer), _DISCONNECTED)
    )


def is_connected_to_partner(world: World, copy: DatabaseCopy) -> bool:
    """Return whether the copy's server is connected to its partner."""
    return get_contact(world, copy.mirroring.guid, copy.server, copy.mirroring.partner).connected


def is_connected_to_witness(world: World, copy: DatabaseCopy) -> bool:
    """Return whether the copy's server is connected to its witness."""
    return get_contact(world, copy.mirroring.guid, copy.server, copy.mirroring.witness).connected


def has_quorum(world: World, copy: DatabaseCopy) -> bool:
    """Return whether the copy's server has quorum.

    If the session has a witness, the server must be connected to its partner or to the witness. A
    session without a witness always has quorum.
    """
    return (
        copy.mirroring.witness is None
        or is_connected_to_partner(world, copy)
        or is_connected_to_witness(world, copy)
    )


def find_witness_record(world: World, copy: DatabaseCopy) -> WitnessRecord | None:
    """Return the witness's record of the copy's session, or None."""
    if copy.mirroring.witness is None or copy.mirroring.guid is None:
        return None
    return world.witnesses.get((copy.mirroring.witness, copy.mirroring.guid))


def is_awaiting_consent(world: World, copy: DatabaseCopy) -> bool:
    """Return whether a principal that lost its mirror still waits until the witness has recorded the loss."""
    own_mirroring = copy.mirroring
    if (
        own_mirroring.state is not MirrorState.DISCONNECTED
        or own_mirroring.role is not Role.PRINCIPAL
        or own_mirroring.witness is None
    ):
        return False
    if copy.recovering or copy.db_state is not DbState.ONLINE:
        return False
    record = find_witness_record(world, copy)
    return not is_connected_to_partner(world, copy) and (record is None or not record.exposed)


def is_connected_from_witness(world: World, copy: DatabaseCopy, server: str | None) -> bool:
    """Return whether the witness of the copy's session believes that it is connected to *server*."""
    return (
        copy.mirroring.witness is not None
        and get_contact(world, copy.mirroring.guid, copy.mirroring.witness, server).connected
    )


def has_witness_agreement(world: World, mirror: DatabaseCopy) -> bool:
    """Return whether the witness agrees to a failover.

    It must be connected only to the mirror, and its record must not say that the principal ran unprotected.
    """
    record = find_witness_record(world, mirror)
    return (
        record is not None
        and is_connected_to_witness(world, mirror)
        and is_connected_from_witness(world, mirror, mirror.server)
        and not is_connected_from_witness(world, mirror, mirror.mirroring.partner)
        and not record.exposed
        and record.role_sequence <= mirror.mirroring.role_sequence
    )


def is_witness_version_sufficient(world: World, copy: DatabaseCopy) -> bool:
    """Return whether the witness is recent enough for an automatic failover.

    An older witness must be upgraded first [DOC: upgrading mirrored instances].
    """
    return (
        world.instances[copy.mirroring.witness or copy.server].version >= world.instances[copy.server].version
    )


def can_fail_over_at_loss(world: World, mirror: DatabaseCopy) -> bool:
    """Return whether the mirror could fail over automatically if it lost its principal now."""
    return (
        mirror.mirroring.role is Role.MIRROR
        and mirror.mirroring.safety is Safety.FULL
        and mirror.mirroring.state is MirrorState.SYNCHRONIZED
        and mirror.mirroring.witness is not None
        and is_connected_to_witness(world, mirror)
        and is_witness_version_sufficient(world, mirror)
    )
