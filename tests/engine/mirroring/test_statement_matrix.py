"""SET PARTNER and SET WITNESS by role and state, as a table: accepted, or refused with a number.

Sources of the allowed states in SQL Server's documentation: ALTER DATABASE … SET (Database Mirroring).
FAILOVER: "Manually Fail Over a Database Mirroring Session". FORCE: "Force Service in a Database Mirroring
Session" and "Role Switching". WITNESS: "Add a Database Mirroring Witness" and "Remove the Witness". Quorum:
"Quorum: How a Witness Affects Database Availability". The text of each number names its case (sys.messages).
If two numbers match, their precedence is derived. For RESUME and WITNESS OFF on the mirror the pages
disagree, so both variants are tested (`Settings`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from engine.messages import SqlError
from engine.mirroring import commands
from engine.model import Safety, World
from tests.engine.worlds import DB, M, P, W, apply_lines, build_lab

SET_PARTNER: Final = f"ALTER DATABASE {DB} SET PARTNER"
ADDRESS: Final = "TCP://{}:5022"


def build_world_after(*lines: str, **kind: Any) -> World:
    world = build_lab(**kind)
    if lines:
        apply_lines(world, *lines, wait_s=25.0)
    return world


def force_service_and_return() -> World:
    """Return a world in which service was forced on the mirror and the old principal has returned.

    The session is suspended, with swapped roles.
    """
    world = build_world_after(f"power-off {P}", witness=False)
    apply_lines(world, f"sql {M} {SET_PARTNER} FORCE_SERVICE_ALLOW_DATA_LOSS")
    apply_lines(world, f"power-on {P}", wait_s=100.0)
    return world


SITUATIONS: Final[dict[str, World]] = {
    "witness": build_world_after(),
    "FULL": build_world_after(witness=False),
    "OFF": build_world_after(witness=False, safety=Safety.OFF),
    "suspended": build_world_after(f"sql {P} {SET_PARTNER} SUSPEND", witness=False),
    "parted": build_world_after(f"cut {P} {M}", witness=False),
    "parted-OFF": build_world_after(f"cut {P} {M}", witness=False, safety=Safety.OFF),
    "exposed": build_world_after(f"cut {P} {M}"),
    "no-quorum": build_world_after(f"cut {P} {M}", f"cut {P} {W}", f"cut {M} {W}"),
    "forced-back": force_service_and_return(),
    "no-session": build_world_after(f"sql {P} {SET_PARTNER} OFF", witness=False),
}
"""Worlds before the statement. SERVER_A was the principal at the start of each."""

TABLE: Final = """
            witness   FULL      OFF       suspended parted    parted-OFF exposed   no-quorum forced-back no-session
FAILOVER    ok/1470   ok/1470   1477/1470 1422/1470 1447/1470 1447/1470  1447/1470 1431/1470 1470/1422   1416/1416
FORCE       1455/1455 1455/1455 1455/1455 1455/1455 1455/ok   1455/ok    1455/1455 1455/1431 1455/1455   1416/1416
OFF         ok/ok     ok/ok     ok/ok     ok/ok     ok/ok     ok/ok      ok/ok     ok/ok     ok/ok       1416/1416
SUSPEND     ok/ok     ok/ok     ok/ok     ok/ok     ok/ok     ok/ok      ok/ok     1431/1431 ok/ok       1416/1416
RESUME      ok/ok     ok/ok     ok/ok     ok/ok     1447/1447 1447/1447  1447/1447 1431/1431 ok/ok       1416/1416
SAFETY_FULL ok/1470   ok/1470   ok/1470   ok/1470   1447/1470 1447/1470  1447/1470 1431/1470 1470/ok     1416/1416
SAFETY_OFF  ok/1470   ok/1470   ok/1470   ok/1470   1447/1470 1447/1470  1447/1470 1431/1470 1470/ok     1416/1416
TIMEOUT     ok/1470   ok/1470   ok/1470   ok/1470   ok/1470   ok/1470    ok/1470   1431/1470 1470/ok     1416/1416
WITNESS     1446/1470 ok/1470   ok/1470   1426/1470 1447/1470 1447/1470  1446/1470 1446/1470 1470/1426   1416/1416
WITNESS_OFF ok/ok     1439/1439 1439/1439 1439/1439 1439/1439 1439/1439  ok/ok     1431/1431 1439/1439   1416/1416
PARTNER     1405/1405 1405/1405 1405/1405 1405/1405 1405/1405 1405/1405  1405/1405 1405/1405 1405/1405   1416/ok
"""
"""Outcomes on SERVER_A / SERVER_B. In the last row, the mirror executes SET PARTNER after the principal
(1416).
"""

Statement = Callable[[World, str, str], object]
STATEMENTS: Final[dict[str, Statement]] = {
    "FAILOVER": commands.fail_over,
    "FORCE": commands.force_service,
    "OFF": commands.remove_session,
    "SUSPEND": commands.suspend_session,
    "RESUME": commands.resume_session,
    "SAFETY_FULL": lambda world, server, name: commands.set_safety(world, server, name, "FULL"),
    "SAFETY_OFF": lambda world, server, name: commands.set_safety(world, server, name, "OFF"),
    "TIMEOUT": lambda world, server, name: commands.set_partner_timeout(world, server, name, 20),
    "WITNESS": lambda world, server, name: commands.set_witness(world, server, name, ADDRESS.format(W)),
    "WITNESS_OFF": commands.remove_witness,
    "PARTNER": lambda world, server, name: commands.set_partner(
        world, server, name, ADDRESS.format(M if server == P else P)
    ),
}


def list_outcomes(table: str) -> list[tuple[str, str, str, str]]:
    """Return (statement, situation, server, outcome) of each half of a cell."""
    head, *lines = (line.split() for line in table.strip().splitlines())
    return [
        (statement, situation, server, outcome)
        for statement, *cells in lines
        for situation, cell in zip(head, cells, strict=True)
        for server, outcome in zip((P, M), cell.split("/"), strict=True)
    ]


def get_outcome(world: World, statement: str, server: str, database: str = DB) -> str:
    try:
        STATEMENTS[statement](world, server, database)
    except SqlError as problem:
        return str(problem.number)
    return "ok"


@pytest.mark.parametrize(("statement", "situation", "server", "outcome"), list_outcomes(TABLE))
def test_statements_follow_the_matrix(statement: str, situation: str, server: str, outcome: str) -> None:
    world = SITUATIONS[situation].fork()
    before = world.compute_state_hash()
    assert get_outcome(world, statement, server) == outcome
    if outcome != "ok":
        assert world.compute_state_hash() == before, "a refused statement changes nothing"


@pytest.mark.parametrize("database", ["master", "msdb", "model", "tempdb", "MASTER"])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_system_databases_cannot_be_mirrored(statement: str, database: str) -> None:
    """The rule is in [DOC: Prerequisites, Restrictions]. The number 1416 is derived from the text of the
    message.
    """
    expected = "1463" if statement == "PARTNER" else "1416"
    assert get_outcome(SITUATIONS["FULL"].fork(), statement, P, database) == expected
