"""Rules of quorum in a mirroring session, from the knowledge of each server. Facts 4.1. This module changes nothing."""

from engine.model import Contact, DatabaseCopy, DbState, MirrorState, Role, Safety, WitnessRecord, World

_DISCONNECTED = Contact(connected=False)


def contact(world: World, guid: int | None, server: str, peer: str | None) -> Contact:
    """Return the knowledge of *server* about its connection to *peer*; a closed connection if there is none."""
    return (
        _DISCONNECTED
        if guid is None or peer is None
        else world.contacts.get((guid, server, peer), _DISCONNECTED)
    )


def sees_partner(world: World, copy: DatabaseCopy) -> bool:
    """Return whether the copy's server is connected to its partner."""
    return contact(world, copy.mirroring.guid, copy.server, copy.mirroring.partner).connected


def sees_witness(world: World, copy: DatabaseCopy) -> bool:
    """Return whether the copy's server is connected to its witness."""
    return contact(world, copy.mirroring.guid, copy.server, copy.mirroring.witness).connected


def has_quorum(world: World, copy: DatabaseCopy) -> bool:
    """Return whether the copy has quorum: without a witness always, otherwise if two of the three are connected."""
    return copy.mirroring.witness is None or sees_partner(world, copy) or sees_witness(world, copy)


def record_of(world: World, copy: DatabaseCopy) -> WitnessRecord | None:
    """Return the witness's record of the copy's session."""
    if copy.mirroring.witness is None or copy.mirroring.guid is None:
        return None
    return world.witnesses.get((copy.mirroring.witness, copy.mirroring.guid))


def awaits_consent(world: World, copy: DatabaseCopy) -> bool:
    """Return whether a principal that lost its mirror still waits for the witness to record that."""
    own_mirroring = copy.mirroring
    if (
        own_mirroring.state is not MirrorState.DISCONNECTED
        or own_mirroring.role is not Role.PRINCIPAL
        or own_mirroring.witness is None
    ):
        return False
    if copy.recovering or copy.db_state is not DbState.ONLINE:
        return False
    record = record_of(world, copy)
    return not sees_partner(world, copy) and (record is None or not record.exposed)


def witness_sees(world: World, copy: DatabaseCopy, server: str | None) -> bool:
    """Return whether the witness of the copy's session believes that it is connected to *server*."""
    return (
        copy.mirroring.witness is not None
        and contact(world, copy.mirroring.guid, copy.mirroring.witness, server).connected
    )


def witness_agrees(world: World, mirror: DatabaseCopy) -> bool:
    """Return whether the witness agrees to a failover.

    It must see only the mirror, and must know of no exposed commit.
    """
    record = record_of(world, mirror)
    return (
        record is not None
        and sees_witness(world, mirror)
        and witness_sees(world, mirror, mirror.server)
        and not witness_sees(world, mirror, mirror.mirroring.partner)
        and not record.exposed
        and record.role_sequence <= mirror.mirroring.role_sequence
    )


def witness_fits(world: World, copy: DatabaseCopy) -> bool:
    """Return whether the witness is recent enough to take part in an automatic failover.

    An older one must be upgraded first [DOC: upgrading mirrored instances].
    """
    return (
        world.instances[copy.mirroring.witness or copy.server].version >= world.instances[copy.server].version
    )


def arms_at_loss(world: World, mirror: DatabaseCopy) -> bool:
    """Return whether the mirror, if it lost its principal now, could fail over with the witness's agreement."""
    return (
        mirror.mirroring.role is Role.MIRROR
        and mirror.mirroring.safety is Safety.FULL
        and mirror.mirroring.state is MirrorState.SYNCHRONIZED
        and mirror.mirroring.witness is not None
        and sees_witness(world, mirror)
        and witness_fits(world, mirror)
    )
