"""A listener with addresses in two subnets: its DNS entries, and logins of each kind of client."""

from __future__ import annotations

import re

import pytest

from engine import model
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.world_builder import build_world
from engine.inputs import InputError
from engine.protocol import name_resolution
from tests.engine.availability.test_intent import run_sql, run_statement
from tests.engine.availability.worlds import SCENARIOS, apply_lines, run_until
from tests.events import read_field

LISTENER_ADDRESSES = ("10.0.1.50", "10.0.2.50")


def build_two_site_lab(client: str = "", listener: str = "", seed: int = 1) -> model.World:
    """Return the lab with NODE_1 in one subnet, NODE_2 and NODE_3 in another; *client* holds settings of APP."""
    text = (SCENARIOS / "ag-lab.toml").read_text(encoding="utf-8")
    text = text.replace('witness = "FSW"', 'witness = "FSW"\nsubnets = ["10.0.1", "10.0.2", "10.0.2"]')
    addresses = f"listener_addresses = {list(LISTENER_ADDRESSES)}\n{listener}"
    text = text.replace('listener = "AGL1"', f'listener = "AGL1"\n{addresses}', 1)
    text = text.replace('name = "APP"', f'name = "APP"\n{client}')
    return build_world(load_scenario(text, "two-sites"), seed)


def run_powershell(world: model.World, line: str) -> str:
    apply_lines(world, f"ps NODE_2 {line}")
    events = run_until(world, world.tick / 100 + 0.1)
    return next(str(read_field(event, "output")) for event in events if event.kind == "powershell")


def measure_outage_s(world: model.World) -> float:
    """Return the seconds from a planned failover to NODE_2 until APP works there."""
    run_until(world, 5)
    apply_lines(world, "sql NODE_2 ALTER AVAILABILITY GROUP AG1 FAILOVER")
    start = world.tick / 100
    for event in run_until(world, start + 1500):
        if (
            event.kind == "client"
            and read_field(event, "client") == "APP"
            and read_field(event, "what") == "connected"
        ):
            return event.tick / 100 - start
    return 1500.0


def test_trying_all_addresses_at_once_takes_no_extra_time() -> None:
    assert measure_outage_s(build_two_site_lab("multi_subnet = true")) < 15


def test_trying_addresses_in_turn_times_out_half_of_the_logins() -> None:
    outages = [measure_outage_s(build_two_site_lab(seed=seed)) for seed in range(6)]
    assert {outage > 15 for outage in outages} == {True}  # the listener was offline when the login began
    world = build_two_site_lab()
    client = name_resolution.resolve_name(world, world.clients["APP"], "AGL1")
    detours_s = [name_resolution.compute_dead_address_delay_s(world, client, "AGL1") for _ in range(400)]
    assert set(detours_s) == {0.0, name_resolution.TCP_CONNECT_TIMEOUT_S}
    assert 150 < detours_s.count(0.0) < 250


def test_thirty_seconds_are_enough_for_two_addresses() -> None:
    """The documentation recommends this time-out for drivers without MultiSubnetFailover."""
    world = build_two_site_lab("login_timeout_s = 30")
    assert measure_outage_s(world) < 60
    tries = []
    for _ in range(8):
        start = world.tick / 100
        apply_lines(world, "start-app APP")
        run_until(world, start + 29)
        assert world.clients["APP"].connected_to == "NODE_2"
        tries.append(world.clients["APP"].connected_tick / 100 - start > 20)
    assert {*tries} == {True, False}
    assert world.clients["APP"].failed_logins <= 1


@pytest.mark.parametrize("multi_subnet", ["true", "false"])
def test_a_single_registered_address_is_cached_for_its_time_to_live(multi_subnet: str) -> None:
    settings = "register_all_addresses = false\nrecord_ttl_s = 300"
    world = build_two_site_lab(f"multi_subnet = {multi_subnet}", settings)
    assert world.records["AGL1"].addresses == LISTENER_ADDRESSES[:1]
    assert 285 <= measure_outage_s(world) < 330
    assert world.records["AGL1"].addresses == LISTENER_ADDRESSES[1:]


def test_flushing_the_dns_cache_of_a_computer_ends_the_delay() -> None:
    world = build_two_site_lab(listener="register_all_addresses = false")
    run_until(world, 5)
    assert run_sql(world, "NODE_2#1", "ALTER AVAILABILITY GROUP AG1 FAILOVER") == []
    run_until(world, 60)
    assert world.clients["APP"].connected_to is None
    apply_lines(world, "flush-dns APP")
    run_until(world, 80)
    assert world.clients["APP"].connected_to == "NODE_2"


def test_settings_of_the_network_name_apply_when_it_comes_online_again() -> None:
    world = build_two_site_lab()
    assert "HostRecordTTL" in run_powershell(world, "Get-ClusterResource AG1_AGL1 | Get-ClusterParameter")
    output = run_powershell(
        world, "Get-ClusterResource AG1_AGL1 | Set-ClusterParameter RegisterAllProvidersIP 0"
    )
    assert "until AG1_AGL1 is taken offline and then online again" in output
    run_powershell(world, "Get-ClusterResource AG1_AGL1 | Set-ClusterParameter HostRecordTTL 300")
    assert world.records["AGL1"].addresses == LISTENER_ADDRESSES
    states = run_powershell(world, "Stop-ClusterResource AG1_AGL1")
    assert "Offline" in states
    run_until(world, world.tick / 100 + 5)
    assert "Online" in run_powershell(world, "Start-ClusterResource AG1_AGL1")
    assert "AG1  NODE_1    PartialOnline" in run_powershell(world, "Get-ClusterGroup AG1")
    run_powershell(world, "Start-ClusterGroup AG1")
    run_until(world, world.tick / 100 + 10)
    assert world.records["AGL1"] == model.NameRecord(
        addresses=LISTENER_ADDRESSES[:1], online=LISTENER_ADDRESSES[0], ttl_s=300
    )
    answer = run_powershell(world, "Resolve-DnsName AGL1")
    assert "300" in answer
    assert LISTENER_ADDRESSES[0] in answer
    assert LISTENER_ADDRESSES[1] not in answer


def test_listener_addresses_are_resources_and_rows() -> None:
    world = build_two_site_lab()
    run_until(world, 1)
    output = run_powershell(world, "Get-ClusterResource")
    assert re.search(r"AG1_10\.0\.1\.50 +Online", output)
    assert re.search(r"AG1_10\.0\.2\.50 +Offline", output)
    rows = run_statement(
        world, "NODE_1#1", "SELECT ip_address, state_desc FROM sys.availability_group_listener_ip_addresses"
    )
    assert rows["results"][0]["rows"] == [
        [LISTENER_ADDRESSES[0], "ONLINE"],
        [LISTENER_ADDRESSES[1], "OFFLINE"],
    ]
    assert "PingSucceeded : True" in run_powershell(world, f"Test-NetConnection {LISTENER_ADDRESSES[0]}")
    assert "PingSucceeded : False" in run_powershell(world, f"Test-NetConnection {LISTENER_ADDRESSES[1]}")


def test_connection_string_of_an_application_is_parsed() -> None:
    world = build_two_site_lab()
    run_until(world, 5)
    apply_lines(world, "connect-string APP MultiSubnetFailover=True;Connect Timeout=30")
    client = world.clients["APP"]
    assert (client.multi_subnet, client.login_timeout_s) == (True, 30.0)
    for bad_option in ("Pooling=False", "MultiSubnetFailover=perhaps", "Connect Timeout=soon"):
        with pytest.raises(InputError):
            apply_lines(world, f"connect-string APP {bad_option}")
    assert world.clients["APP"] == client
