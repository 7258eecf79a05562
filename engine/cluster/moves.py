"""Moves of a failover cluster instance between nodes, recorded as failovers of its databases."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from engine.localization import mark, say
from engine.model import Failover, World
from engine.protocol import causes, serving, streams

NO_GROUP: Final = 0
"""`Failover.guid` of a move, which belongs to no session and no availability group."""

LOOK_S: Final = 0.1
"""Interval between checks whether databases are open. Assumed."""

STEPS: Final = {
    "automatic": mark("automatic failover {server} -> {other}: {step}"),
    "role-move": mark("role moved {server} -> {other}: {step}"),
}
FAILED: Final = {
    "automatic": mark("automatic failover {server} -> {other} failed: {why}"),
    "role-move": mark("moving the role {server} -> {other} failed: {why}"),
}


def _emit_move_step(world: World, server: str, move: Failover, step: str) -> None:
    template = (FAILED if move.why else STEPS)[move.kind]
    text = say(template, server=move.from_server, other=move.to_server, step=step, why=move.why)
    why = {"why": move.why} if move.why else {}
    world.emit("failover", text, server=server, database=move.database, step=step,
               failover_kind=move.kind, cause=move.cause, **why)  # fmt: skip


def begin(world: World, server: str, node: str, transition: str) -> None:
    """Bring the instance *server* online on *node*, which is not its former node."""
    _cancel_pending_moves(world, server, say("the role moved to another node"))
    instance = world.instances[server]
    cause, failed_tick = causes.of_loss(world, server, None)
    ordered = transition == "move"
    for (where, database), copy in sorted(world.copies.items()):
        if where != server or copy.source is None:
            continue
        account = world.availability[database]
        down_tick = world.tick if account.serving else account.since_tick
        move = Failover(
            guid=NO_GROUP,
            database=database,
            kind="role-move" if ordered else "automatic",
            cause="move-role" if ordered else cause,
            from_server=instance.computer,
            to_server=node,
            under_load=streams.under_load(copy),
            failed_tick=down_tick if ordered else min(failed_tick, world.tick),
            detected_tick=down_tick if ordered else world.tick,
            agreed_tick=world.tick,
        )
        world.failovers.append(move)
        _emit_move_step(world, server, move, say("accepted") if ordered else say("detected"))
    world.call_after(LOOK_S, "instance.watch", server, node)


def _find_pending_moves(world: World, server: str) -> list[tuple[int, Failover]]:
    """Return (index in world.failovers, move) of the databases of *server* that are not open yet."""
    return [
        (place, move)
        for place, move in enumerate(world.failovers)
        if move.guid == NO_GROUP
        and move.online_tick is None
        and not move.why
        and (server, move.database) in world.copies
    ]


def _cancel_pending_moves(world: World, server: str, reason: str) -> None:
    for place, move in _find_pending_moves(world, server):
        world.failovers[place] = replace(move, why=reason)
        _emit_move_step(world, server, world.failovers[place], "cancelled")


def watch(world: World, server: str, node: str) -> None:
    """Handle a timer: databases that have been recovered on *node*, with redo and undo, open."""
    for place, move in _find_pending_moves(world, server):
        if move.to_server == node and world.instances[server].computer == node:
            if not serving.is_accessible(world, (server, move.database)):
                continue
            now = world.tick
            done = replace(move, redo_done_tick=now, decided_tick=now, online_tick=now, undo_done_tick=now)
            world.failovers[place] = done
            _emit_move_step(world, server, done, say("online"))
    if any(move.to_server == node for _, move in _find_pending_moves(world, server)):
        world.call_after(LOOK_S, "instance.watch", server, node)
