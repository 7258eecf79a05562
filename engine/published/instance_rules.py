"""Failover cluster instances: the guide's outage, and rules of the documentation, each as a run."""

from __future__ import annotations

from functools import cache
from typing import Final

from engine.model import Computer, World
from engine.published.clusters import NODES, first_s, instance_world, primary, role
from engine.published.lab import play
from engine.published.rows import FigureClass, FigureRow, build_number_row, build_statement_row
from engine.published.table6 import FAILOVER_S

GUIDE: Final = "SQLCAT guide, Six Failover Clustering Benefits Realized from Migrating to SQL Server 2008"
ADDING: Final = "SQLCAT guide, Impact of Adding a Node to a Windows Cluster on the Possible Owners property"
POLICY: Final = "[DOC: failover policy of instances]"
FOUR: Final = NODES[:4]
AT_S: Final = 5.0
MIRRORING_S: Final = FAILOVER_S["power-off"][2]
"""Outage of a mirrored database for the same failure."""


@cache
def _outage_s(act: str, seed: int = 1) -> float:
    """Return the time from the line *act* until the database is open again."""
    world = instance_world(seed=seed)
    play(world, f"{AT_S} {act}\n", AT_S + 120.0)
    return world.availability["Users"].down_ticks / 100.0


@cache
def _noticed_s(act: str) -> float:
    at = first_s(play(instance_world(), f"{AT_S} {act}\n", 100.0), "cluster", what="role-failed")
    return (at or 10**9) - AT_S


def _host(world: World) -> str:
    return world.instances["FCI"].computer


def _restarts() -> FigureRow:
    """Return the row for two equal failures in sequence."""
    world = instance_world()
    play(world, "5 stop-service FCI\n", 60.0)
    first = _host(world)
    play(world, "60 stop-service FCI\n", 120.0)
    return build_statement_row(
        "FCI.restart", f"{POLICY}, responding to failures", "the SQL Server service ends, and ends again",
        "restarted on its node first, then moved", (first, _host(world)) == ("NODE_1", "NODE_2"),
        f"on {first}, then on {_host(world)}",
    )  # fmt: skip


def _threshold(nodes: int) -> FigureRow:
    world, moves, at_s = instance_world(FOUR[:nodes], FOUR[:nodes]), 0, 5.0
    while role(world).state.value != "Failed" and at_s < 2000.0:
        before = _host(world)
        play(world, f"{at_s} fail-resource SQL Server (FCI)\n", at_s + 60.0)
        moves += _host(world) != before
        at_s += 60.0
    return build_number_row(f"FCI.threshold.{nodes}", "[DOC: WSFC and SQL Server], failover threshold",
                  f"{nodes} nodes: failures in six hours that are answered by a move", "moves", nodes - 1.0, moves,
                  FigureClass.INPUT)  # fmt: skip


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
        build_statement_row(
            "FCI.owners.joined",
            ADDING,
            "a node joins the cluster: resources of the instance that it may own",
            "all but the disks",
            without == {"Physical Disk"},
            f"all but {', '.join(sorted(without))}",
        ),
        build_statement_row(
            "FCI.owners.none",
            "[DOC: failover cluster instances]",
            "the only possible owner is lost",
            "the instance comes online nowhere",
            stays,
            "online nowhere" if stays else f"online on {_host(narrow)}",
        ),
        build_statement_row(
            "FCI.patch.passive",
            GUIDE,
            "a service pack on the passive node",
            "no interruption",
            passive_s == 0.0,
            f"{passive_s:g} s",
        ),
        build_number_row(
            "FCI.patch.whole",
            GUIDE,
            "service pack on the passive node, move, service pack on the other: down",
            "s",
            15.0,
            whole_s,
            FigureClass.CALIBRATED,
        ),
    ]


def _quorum() -> FigureRow:
    world = instance_world(NODES[:2], FOUR)
    play(world, "5 fail-witness CLUSTER\n6 power-off NODE_3\n6 power-off NODE_4\n", 60.0)
    stopped = not world.instances["FCI"].running
    return build_statement_row("FCI.quorum", f"{POLICY}, responding to failures", "quorum of the cluster is lost",
                     "the instance is brought offline", stopped, "offline" if stopped else "it runs on")  # fmt: skip


def rows() -> list[FigureRow]:
    crash_s = _outage_s("power-off NODE_1")
    return [
        build_number_row(
            "FCI.move",
            GUIDE,
            "an idle instance is moved: outage",
            "s",
            15.0,
            _outage_s("move-role FCI NODE_2"),
            FigureClass.CALIBRATED,
        ),
        build_statement_row(
            "FCI.crash",
            "[DOC: mirroring and clustering], automatic failover",
            "the node loses its power: outage",
            "mirroring would fail over before the cluster is done",
            crash_s > MIRRORING_S,
            f"{crash_s:.1f} s",
        ),
        build_number_row(
            "FCI.health",
            "[DOC: ALTER SERVER CONFIGURATION], HealthCheckTimeout",
            "SQL Server that answers nothing is noticed after",
            "s",
            60.0,
            _noticed_s("hang FCI"),
            FigureClass.INPUT,
        ),
        build_number_row(
            "FCI.looksalive",
            f"{POLICY}, state of the service",
            "a service that ends is noticed after at most",
            "s",
            5.0,
            _noticed_s("stop-service FCI"),
            FigureClass.INPUT,
        ),
        _restarts(),
        _threshold(2),
        _threshold(3),
        *_owners(),
        _quorum(),
    ]
