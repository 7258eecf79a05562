"""Initial world of a scenario: complete, healthy, and stable without inputs."""

from __future__ import annotations

import pytest

from engine.constants import DEFAULT_START_TIMES, VERSIONS
from engine.drill.running.world_builder import build_world, find_start_time
from engine.mirroring import quorum
from engine.model import MirrorState, Role, Safety, World
from tests.engine.drill.texts import FREE_PLAY_TEXT, advance_drill, build_drill, change_small_text
from tests.shipped_scenarios import load_shipped_scenario


def build_default_world(*changes: tuple[str, str]) -> World:
    return build_world(change_small_text(*changes, text=FREE_PLAY_TEXT), seed=1)


def test_the_start_world_is_healthy_and_quiet() -> None:
    built_world = build_default_world()
    principal, mirror = built_world.copies["SERVER_A", "Sales"], built_world.copies["SERVER_B", "Sales"]
    assert (principal.mirroring.role, mirror.mirroring.role) == (Role.PRINCIPAL, Role.MIRROR)
    assert principal.mirroring.state is mirror.mirroring.state is MirrorState.SYNCHRONIZED
    assert principal.mirroring.guid == mirror.mirroring.guid
    assert quorum.is_connected_to_partner(built_world, principal)
    assert quorum.is_connected_to_witness(built_world, mirror)
    assert quorum.is_connected_from_witness(built_world, principal, "SERVER_A")
    assert built_world.clients["APP"].connected_to == "SERVER_A"
    assert built_world.tick == 0


def test_nothing_happens_without_an_input() -> None:
    drill_run = advance_drill(build_drill(text=FREE_PLAY_TEXT), 600)
    assert drill_run.events == []
    reading = drill_run.build_report()["readings"]
    assert max(reading["transactions_per_s"]) < 245.0
    assert min(reading["transactions_per_s"]) > 230.0, "clients work from the first second on"


def test_links_servers_and_sessions_match_the_scenario() -> None:
    built_world = build_default_world(
        ('name = "SERVER_B"', 'name = "SERVER_B"\nversion = 2012\ncores = 4\n[server.endpoint]\nport = 7022'),
        ('witness = "SERVER_W"', 'safety = "OFF"\ntimeout_s = 20'),
        ("[[client]]", '[[link]]\nends = ["SERVER_A", "SERVER_B"]\nrtt_ms = 50\n\n[[client]]'),
        ("[[source]]", "[settings]\nboot_s = 5\n\n[[source]]"),
    )
    assert (
        built_world.links["SERVER_A", "SERVER_B"].rtt_ms
        == built_world.links["SERVER_B", "SERVER_A"].rtt_ms
        == 50
    )
    assert (built_world.instances["SERVER_B"].version, built_world.computers["SERVER_B"].cores) == (2012, 4)
    copy = built_world.copies["SERVER_A", "Sales"]
    assert (copy.mirroring.safety, copy.mirroring.timeout_s, copy.mirroring.witness) == (Safety.OFF, 20, None)
    assert copy.mirroring.partner_address == "TCP://SERVER_B:7022"
    assert built_world.settings.boot_s == 5


@pytest.mark.parametrize(("version", "date"), [
    (2005, "2005-10-22"), (2008, "2015-02-21"), (2012, "2018-02-24"), (2014, "2019-02-23"),
    (2016, "2022-01-22"), (2017, "2023-01-21"), (2019, "2024-10-19"), (2022, "2024-11-16"),
])  # fmt: skip
def test_the_newest_version_sets_the_date(version: int, date: str) -> None:
    built_world = build_default_world(('name = "SERVER_B"', f'name = "SERVER_B"\nversion = {version}'))
    assert built_world.settings.start_time == f"{date}T12:00:00"
    assert set(VERSIONS) < set(DEFAULT_START_TIMES)


def test_the_scenario_may_set_the_date() -> None:
    built_world = build_default_world(
        ('name = "SERVER_B"', 'name = "SERVER_B"\nversion = 2022'),
        ("[[source]]", '[settings]\nstart_time = "2009-11-20T10:00:00"\n\n[[source]]'),
    )
    assert built_world.settings.start_time == "2009-11-20T10:00:00"


def test_windows_is_not_newer_than_the_date() -> None:
    scenario = load_shipped_scenario("ag-lab")
    cluster = scenario.clusters[0].model_copy(update={"windows": "2022"})
    assert find_start_time(scenario) == "2019-02-23T12:00:00"
    assert find_start_time(scenario.model_copy(update={"clusters": (cluster,)})) == "2021-11-20T12:00:00"


def test_a_session_may_start_suspended() -> None:
    built_world = build_default_world(('witness = "SERVER_W"', 'witness = "SERVER_W"\nstate = "SUSPENDED"'))
    assert {copy.mirroring.state for copy in built_world.copies.values()} == {MirrorState.SUSPENDED}


def test_an_application_without_its_database_searches_for_it() -> None:
    drill = build_drill(
        ('data_source = "SERVER_A"', 'data_source = "SERVER_B"'),
        ('failover_partner = "SERVER_B"', 'failover_partner = "SERVER_A"'),
        text=FREE_PLAY_TEXT,
    )
    drill_run = advance_drill(drill, 10)
    assert drill_run.world.clients["APP"].connected_to == "SERVER_A"


def test_equal_databases_are_numbered_consecutively() -> None:
    built_world = build_default_world(
        ('[[database]]\nname = "Sales"', '[[database]]\nname = "Sales098"\ncount = 3'),
        ('database = "Sales"', 'database = "Sales098"'),
        ('databases = ["Sales"]', 'databases = ["Sales099"]'),
    )
    assert list(built_world.availability) == ["Sales098", "Sales099", "Sales100"]
    principals = [built_world.copies["SERVER_A", name] for name in built_world.availability]
    assert len({copy.mirroring.guid for copy in principals}) == len({copy.source for copy in principals}) == 3
    assert {copy.mirroring.state for copy in built_world.copies.values()} == {MirrorState.SYNCHRONIZED}


def test_few_worker_threads_slow_the_clients_down() -> None:
    few_threads = ('name = "SERVER_A"', 'name = "SERVER_A"\nmax_worker_threads = 20')
    drill_run = advance_drill(build_drill(few_threads, text=FREE_PLAY_TEXT), 60)
    assert drill_run.is_condition_met("transactions_per_s(Sales) < 120 and worker_threads(SERVER_A) == 20")
    drill_run.apply_line("""sql SERVER_A EXEC sp_configure 'show advanced options', 1; RECONFIGURE;
    EXEC sp_configure 'max worker threads', 0; RECONFIGURE""")
    assert advance_drill(drill_run, 120).is_condition_met("transactions_per_s(Sales) > 230")
