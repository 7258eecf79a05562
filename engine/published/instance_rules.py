"""Failover cluster instances: the guide's outage, and rules of the documentation, each as a run."""

from __future__ import annotations

from functools import cache
from typing import Final

from engine.events import ClusterData
from engine.model import Computer, World
from engine.published.clusters import NODES, first_s, instance_world, primary, role
from engine.published.measure import play
from engine.published.rows import FigureRow, number, statement
from engine.published.whitepaper_failover import FAILOVER_S

FOUR: Final = NODES[:4]
AT_S: Final = 5.0
MIRRORING_S: Final = FAILOVER_S["power-off"][2]
"""Outage of a mirrored database for the same failure as of the instance."""


@cache
def _outage_s(act: str, seed: int = 1) -> float:
    """Return the time from the line *act* until the database is open again."""
    world = instance_world(seed=seed)
    play(world, f"{AT_S} {act}\n", AT_S + 120.0)
    return world.availability["Users"].down_ticks / 100.0


@cache
def _noticed_s(act: str) -> float:
    at = first_s(play(instance_world(), f"{AT_S} {act}\n", 100.0), ClusterData, event_change="role-failed")
    return (at or 10**9) - AT_S


def _host(world: World) -> str:
    return world.instances["FCI"].computer


def _restarts() -> FigureRow:
    """Return the row for two equal failures in sequence."""
    world = instance_world()
    play(world, "5 stop-service FCI\n", 60.0)
    first = _host(world)
    play(world, "60 stop-service FCI\n", 120.0)
    return statement(
        "FCI.restart", (first, _host(world)) == ("NODE_1", "NODE_2"), f"on {first}, then on {_host(world)}"
    )


def _threshold(nodes: int) -> FigureRow:
    world, moves, at_s = instance_world(FOUR[:nodes], FOUR[:nodes]), 0, 5.0
    while role(world).state.value != "Failed" and at_s < 2000.0:
        before = _host(world)
        play(world, f"{at_s} fail-resource SQL Server (FCI)\n", at_s + 60.0)
        moves += _host(world) != before
        at_s += 60.0
    return number(f"FCI.threshold.{nodes}", moves)  # fmt: skip


def _owners() -> list[FigureRow]:
    fresh = instance_world(NODES[:2], NODES[:2])
    fresh.computers["NODE_3"] = Computer(name="NODE_3", site="ssd")
    play(fresh, "5 add-node FCI NODE_3\n", 20.0)
    kinds = {one.kind for one in role(fresh).resources if "NODE_3" in one.owners}
    without = {one.kind for one in role(fresh).resources} - kinds

    narrow = instance_world()
    play(narrow, "5 set-owners SQL Server (FCI) NODE_1\n10 power-off NODE_1\n", 90.0)
    stays = not primary(narrow)

    patched = instance_world()
    play(patched, "5 patch NODE_2\n", 400.0)
    passive_s = patched.availability["Users"].down_ticks / 100.0
    play(patched, "400 move-role FCI NODE_2\n500 patch NODE_1\n", 900.0)
    whole_s = patched.availability["Users"].down_ticks / 100.0
    return [
        statement("FCI.owners.joined", without == {"Physical Disk"}, f"all but {', '.join(sorted(without))}"),
        statement("FCI.owners.none", stays, "online nowhere" if stays else f"online on {_host(narrow)}"),
        statement("FCI.patch.passive", passive_s == 0.0, f"{passive_s:g} s"),
        number("FCI.patch.whole", whole_s),
    ]


def _quorum() -> FigureRow:
    world = instance_world(NODES[:2], FOUR)
    play(world, "5 fail-witness CLUSTER\n6 power-off NODE_3\n6 power-off NODE_4\n", 60.0)
    stopped = not world.instances["FCI"].running
    return statement("FCI.quorum", stopped, "offline" if stopped else "it runs on")  # fmt: skip


def rows() -> list[FigureRow]:
    """Return the rows of this section."""
    crash_s = _outage_s("power-off NODE_1")
    return [
        number("FCI.move", _outage_s("move-role FCI NODE_2")),
        statement("FCI.crash", crash_s > MIRRORING_S, f"{crash_s:.1f} s"),
        number("FCI.health", _noticed_s("hang FCI")),
        number("FCI.looksalive", _noticed_s("stop-service FCI")),
        _restarts(),
        _threshold(2),
        _threshold(3),
        *_owners(),
        _quorum(),
    ]
