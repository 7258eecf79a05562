"""Preconditions of an automatic failover of a mirrored database, with the place where a DBA can check each."""

from typing import Final

from engine.localization import LocalizableMessage, build_message, mark
from engine.mirroring import quorum
from engine.model import DatabaseCopy, MirrorState, Role, Safety, World
from engine.protocol.group_policies import FailoverPrecondition

MIRROR_LOST_PRINCIPAL: Final = build_message("the mirror has lost the principal")
"""Precondition that the mirror has lost the principal. It is the first in every automatic failover."""

WAS_SYNCHRONIZED: Final = build_message("the session was SYNCHRONIZED when the mirror lost the principal")
"""Precondition that the mirror was synchronized. After the loss of the principal, the mirror must also have
kept its connection to the witness.
"""


def list_preconditions(world: World, database: str) -> list[FailoverPrecondition]:
    """Return all current preconditions of an automatic failover of *database*.

    The list is empty if the database is not mirrored. See facts 4.1 in docs/facts.md.
    """
    return [*_list_permanent_preconditions(world, database), *_list_loss_preconditions(world, database)]


def _find_mirror(world: World, database: str) -> DatabaseCopy | None:
    return next((copy for copy in world.list_copies_of(database) if copy.mirroring.role is Role.MIRROR), None)


def _list_permanent_preconditions(world: World, database: str) -> list[FailoverPrecondition]:
    """Return the preconditions that must already hold before the principal is lost."""
    mirror = _find_mirror(world, database)
    if mirror is None:
        return []
    witness = mirror.mirroring.witness
    failover_preconditions = [
        FailoverPrecondition(
            build_message("a witness is configured"),
            witness is not None,
            _describe_column(mirror, "mirroring_witness_name"),
        ),
        FailoverPrecondition(
            build_message("safety is FULL"),
            mirror.mirroring.safety is Safety.FULL,
            _describe_column(mirror, "mirroring_safety_level_desc"),
        ),
        FailoverPrecondition(
            WAS_SYNCHRONIZED,
            _is_synchronized(world, mirror),
            _describe_column(mirror, "mirroring_state_desc"),
            about="memory",
        ),
        FailoverPrecondition(
            build_message("the mirror runs and can redo its log"),
            world.instances[mirror.server].answering and not mirror.mirroring.redo_failed,
            build_message("ERRORLOG of {server}", server=mirror.server),
        ),
    ]
    if witness is None:  # the preconditions of a witness do not apply
        return failover_preconditions
    record = quorum.find_witness_record(world, mirror)
    return [
        *failover_preconditions,
        FailoverPrecondition(
            build_message("mirror and witness are connected"),
            quorum.is_connected_to_witness(world, mirror)
            and quorum.is_connected_from_witness(world, mirror, mirror.server),
            _describe_column(mirror, "mirroring_witness_state_desc"),
        ),
        FailoverPrecondition(
            build_message("the witness has no record that the principal ran without the mirror"),
            record is None or not record.exposed,
            build_message("sys.database_mirroring_witnesses on {server}", server=witness),
        ),
    ]


LOST_LINES: Final = mark("ERRORLOG of {server}: 1474 or 1479")


def _describe_column(mirror: DatabaseCopy, column: str) -> LocalizableMessage:
    return build_message("sys.database_mirroring on {server}: {column}", server=mirror.server, column=column)


def _list_loss_preconditions(world: World, database: str) -> list[FailoverPrecondition]:
    """Return the preconditions that mirror and witness have both lost the principal."""
    mirror = _find_mirror(world, database)
    if mirror is None:
        return []
    failover_preconditions = [
        FailoverPrecondition(
            MIRROR_LOST_PRINCIPAL,
            not quorum.is_connected_to_partner(world, mirror),
            build_message(LOST_LINES, server=mirror.server),
            about="beginning",
        )
    ]
    witness = mirror.mirroring.witness
    if witness is not None:
        failover_preconditions.append(
            FailoverPrecondition(
                build_message("the witness has lost the principal"),
                not quorum.is_connected_from_witness(world, mirror, mirror.mirroring.partner),
                build_message(LOST_LINES, server=witness),
                about="loss",
            )
        )
    return failover_preconditions


def _is_synchronized(world: World, mirror: DatabaseCopy) -> bool:
    if quorum.is_connected_to_partner(world, mirror):
        return mirror.mirroring.state is MirrorState.SYNCHRONIZED
    return mirror.mirroring.armed
