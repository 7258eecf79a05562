"""Lab whose database is not mirrored yet, and functions for statements that take time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.messages import Message, SqlError
from engine.mirroring import commands
from engine.model import DatabaseCopy, World
from engine.protocol import backup, network, restore, statements
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, W, build_lab, play_script

FULL, TRN = "D:\\Backup\\Sales.bak", "D:\\Backup\\Sales.trn"


def get_address(server: str) -> str:
    return f"TCP://{server}:5022"


def build_unmirrored_world(workload: str = "Workload1", **changes: object) -> World:
    """Return a world in which SERVER_A serves Sales alone; SERVER_B and SERVER_W are empty."""
    world = build_lab(witness=False, workload=workload)
    commands.remove_session(world, P, DB)
    for key in [*world.contacts]:
        world.remove_contact(key)
    del world.copies[MIRROR]
    # a small database makes backups short; without the job, no log backup disturbs the steps of a test
    world.update_copy(PRINCIPAL, size_kb=1024.0 * 1024, log_backup_every_s=0.0, **changes)
    world.clients["APP"] = replace(world.clients["APP"], failover_partner=None)
    network.schedule_detections(world)
    settle_and_run(world, 0.1)
    return world


def settle_and_run(world: World, seconds: float) -> list[Event]:
    """Propagate direct changes of the world, then run for *seconds*."""
    return play_script(world, f"{world.t_s} note waiting", world.t_s + seconds)


def finish_statement(world: World, server: str, outcome: statements.Outcome) -> list[Message]:
    """Wait for a statement and return its messages."""
    while isinstance(outcome, statements.PendingStatement):
        settle_and_run(world, (outcome.tick - world.tick) / TICKS_PER_S)
        outcome = statements.COMPLETION_HANDLERS[outcome.handler](world, server, *outcome.args)
    return outcome


def take_full_backup(world: World, server: str = P, path: str = FULL, **options: Any) -> list[Message]:
    return finish_statement(world, server, backup.back_up_database(world, server, DB, path, **options))


def take_log_backup(world: World, server: str = P, path: str = TRN, **options: Any) -> list[Message]:
    return finish_statement(world, server, backup.back_up_log(world, server, DB, path, **options))


def copy_file(world: World, path: str, from_server: str = P, to_server: str = M) -> None:
    """Apply `copy-file` and wait until the copy is complete."""
    play_script(world, f"{world.t_s} copy-file {from_server} {to_server} {path}", world.t_s + 15.0)
    assert (to_server, path) in world.files


def restore_full(world: World, path: str = FULL, **options: Any) -> DatabaseCopy:
    finish_statement(world, M, restore.restore_database(world, M, DB, path, recovery=False, **options))
    return world.copies[MIRROR]


def restore_log(world: World, path: str = TRN, file: int = 1) -> DatabaseCopy:
    finish_statement(world, M, restore.restore_log(world, M, DB, path, recovery=False, file=file))
    return world.copies[MIRROR]


def prepare_mirror(**changes: Any) -> World:
    """Return `build_unmirrored_world` with a full and a log backup of Sales restored on SERVER_B WITH
    NORECOVERY.
    """
    world = build_unmirrored_world(**changes)
    take_full_backup(world)
    take_log_backup(world)
    for path in (FULL, TRN):
        copy_file(world, path)
    restore_full(world)
    restore_log(world)
    return world


def start_mirroring(world: World) -> None:
    """Apply SET PARTNER on the mirror, then on the principal, and wait for SYNCHRONIZED."""
    commands.set_partner(world, M, DB, get_address(P))
    commands.set_partner(world, P, DB, get_address(M))
    settle_and_run(world, 20.0)


def get_refusal_number(function: Callable[..., object], *args: object, **options: object) -> int:
    """Return the error number that a command raises; 0 if it raises none."""
    try:
        function(*args, **options)
    except SqlError as problem:
        return problem.number
    return 0


__all__ = ["DB", "FULL", "MIRROR", "PRINCIPAL", "TRN", "M", "P", "W"]
