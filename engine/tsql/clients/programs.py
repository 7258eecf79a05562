"""Connection results of the programs in the scenario, counted for its goals and its score."""

from __future__ import annotations

from msgspec.structs import replace

from engine.model import World


def name_of(world: World, program_name: str) -> str:
    """Return the scenario's program with the login name *said*, in any case; empty if it does not ask for one."""
    return next((name for name in world.programs if name.lower() == program_name.lower()), "")


def count(world: World, program: str, counter: str) -> None:
    """Add to *what*, a counting field of Program, if the scenario asks for the program."""
    name = name_of(world, program)
    if name:
        known = world.programs[name]
        world.programs[name] = replace(known, **{counter: getattr(known, counter) + 1})


def count_answered_batch(world: World, program: str, server: str, failed: bool) -> None:
    """Count a batch that has ended at *server*."""
    name = name_of(world, program)
    if not name or failed:
        count(world, program, "errors")
        return
    known = world.programs[name]
    since = world.tick if known.answered_tick is None else known.answered_tick
    world.programs[name] = replace(
        known,
        answers=known.answers + 1,
        answered_tick=world.tick,
        longest_ticks=max(known.longest_ticks, world.tick - since),
        server=server,
        moves=known.moves + (known.server not in ("", server)),
    )
