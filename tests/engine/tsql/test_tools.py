"""What tools and known scripts ask of the catalog, shortened to what they read: none of it is refused or left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.files import scenario_files
from engine.drill.running.drill import Drill
from engine.model import World
from tests.engine.tsql.console import Answer, ask
from tests.engine.worlds import P, lab

HERE = Path(__file__).parent


def cases(file: str) -> Iterator[object]:
    """The T-SQL of a file by the comments that name it."""
    for part in (HERE / file).read_text(encoding="utf-8").split("-- ")[1:]:
        name, _, text = part.partition("\n")
        yield pytest.param(text, id=name)


def check(answer: Answer) -> None:
    assert answer.grids
    assert not [message["text"] for message in answer.event.get("messages") if message["severity"] > 10]


@pytest.mark.parametrize("text", list(cases("tools.sql")))
def test_a_tool_is_answered_by_a_principal_with_a_thousand_sessions(text: str) -> None:
    world = lab()
    world.update_instance(P, version=2014)
    check(ask(world, P, text, then_s=8))


def test_a_mapper_may_ask_for_as_many_values_as_a_call_has_parameters() -> None:
    names = [f"@P{number}" for number in range(2_100)]
    declared = ", ".join(f"{name} int" for name in names)
    given = ", ".join(f"{name} = {number}" for number, name in enumerate(names))
    text = f"EXEC sp_executesql N'SELECT 7 WHERE 2099 IN ({', '.join(names)})', N'{declared}', {given}"
    assert ask(lab(workload="none"), P, text, then_s=8).grids == [[[7]]]


@pytest.fixture(scope="module")
def cluster() -> World:
    world = Drill(scenario_files.find("ag-lab").load(), 1).world
    for node in world.instances:
        world.update_instance(node, version=2016)
    return world


@pytest.mark.parametrize("text", list(cases("tools_groups.sql")))
def test_a_tool_is_answered_by_a_primary(cluster: World, text: str) -> None:
    check(ask(cluster, "NODE_1", text, then_s=2))


def test_what_listens_is_listed_with_the_listener_of_the_group_where_it_is(cluster: World) -> None:
    text = "SELECT ip_address, port, type_desc FROM sys.dm_tcp_listener_states ORDER BY listener_id"
    own = [["0.0.0.0", 1433, "TSQL"], ["0.0.0.0", 5022, "DATABASE_MIRRORING"]]
    shown = ask(cluster, "NODE_1", text).grids[0]
    assert (shown[:2], [row[1:] for row in shown[2:]]) == (own, [[1433, "TSQL"]])
    assert ask(cluster, "NODE_2", text).grids == [own]
