"""Overloaded processors delay pings: false failovers with short timeouts and many databases."""

from __future__ import annotations

from engine.protocol import serving
from tests.engine.worlds import DB, M, P, apply_lines, build_lab
from tests.events import read_field


def list_serving_servers(
    factor: float, databases: int = 1, timeout_s: int = 10, witness: bool = True
) -> set[str]:
    """Return the servers that serve a database half a minute after the principal becomes overloaded."""
    world = build_lab(databases=databases, witness=witness, cores=8 * databases)
    for key in world.copies:
        world.update_mirroring(key, timeout_s=timeout_s)
    apply_lines(world, f"slow-cpu {P} factor={factor:g}", wait_s=45.0)
    assert all(account.lost_transactions == 0 for account in world.availability.values())
    return {key[0] for key in world.copies if serving.is_serving(world, key)}


def test_a_busy_principal_keeps_its_role_and_an_overloaded_one_loses_it() -> None:
    assert list_serving_servers(factor=100) == {P}
    assert list_serving_servers(factor=900) == {M}


def test_a_short_timeout_or_many_databases_cause_false_failovers() -> None:
    assert list_serving_servers(factor=300) == {P}
    assert list_serving_servers(factor=300, timeout_s=5) == {M}
    assert list_serving_servers(factor=300, databases=40) == {M}
    assert list_serving_servers(factor=300, databases=40, timeout_s=90) == {P}


def test_without_a_witness_the_partners_only_lose_each_other() -> None:
    assert list_serving_servers(factor=900, witness=False) == {P}


def test_removing_a_session_lets_the_other_pings_arrive_in_time() -> None:
    world = build_lab(databases=14, cores=8 * 14)
    apply_lines(world, f"slow-cpu {P} factor=300", wait_s=2.0)
    baseline = world.fork()
    lost_databases = {
        e.database for e in apply_lines(baseline, wait_s=43.0) if read_field(e, "how") == "silent"
    }
    assert lost_databases == set(world.list_databases())
    events = apply_lines(world, f"sql {P} ALTER DATABASE [Sales000] SET PARTNER OFF", wait_s=43.0)
    assert not [event for event in events if read_field(event, "how") == "silent"]


def test_removing_the_load_reconnects_the_session() -> None:
    world = build_lab()
    apply_lines(world, f"slow-cpu {P} factor=900", wait_s=45.0)
    apply_lines(world, "revert-all", wait_s=60.0)
    assert {copy.mirroring.state.name for copy in world.copies.values() if copy.mirroring.state} == {
        "SYNCHRONIZED"
    }
    assert serving.is_serving(world, (M, DB))
