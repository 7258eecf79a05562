"""Tests of the connection string of an application, and of the input that changes it."""

from __future__ import annotations

import pytest

from app.view_models.connection_string import build_change_input, build_connection_string, read_driver_log
from engine.drill.running.drill import Drill
from engine.model import Client
from tests.shipped_scenarios import load_shipped_scenario

CLIENT = Client(name="APP", databases=("Sales",), data_source="SERVER_A", failover_partner="SERVER_C")
CONNECTION_STRING = (
    "Data Source=SERVER_A;Failover Partner=SERVER_C;Initial Catalog=Sales;Connect Timeout=15;Retry=yes"
)


def test_the_string_names_what_the_application_uses() -> None:
    assert build_connection_string(CLIENT) == CONNECTION_STRING


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (CONNECTION_STRING, ""),
        (CONNECTION_STRING.replace("Connect Timeout=15;", ""), ""),
        (CONNECTION_STRING.replace("SERVER_C", "SERVER_B"), "configure-app APP Failover Partner=SERVER_B"),
        (CONNECTION_STRING.replace("Failover Partner=SERVER_C;", ""), "configure-app APP Failover Partner="),
        (CONNECTION_STRING + ";MultiSubnetFailover=yes", "configure-app APP MultiSubnetFailover=yes"),
        (CONNECTION_STRING.replace("Retry=yes", "Retry=no"), "configure-app APP Retry=no"),
        (
            CONNECTION_STRING.replace("Data Source", "data source").lower(),
            "configure-app APP data source=server_a",
        ),
    ],
)
def test_an_edit_becomes_one_input(text: str, line: str) -> None:
    assert build_change_input(CLIENT, text).partition(";")[0] == line


def test_a_removed_partner_can_be_applied() -> None:
    drill = Drill(load_shipped_scenario("lab"))
    client = drill.world.clients["APP"]
    text = ";".join(
        part for part in build_connection_string(client).split(";") if not part.startswith("Failover")
    )
    drill.apply_line(build_change_input(client, text))
    assert drill.world.clients["APP"].failover_partner is None
    assert build_connection_string(drill.world.clients["APP"]) == text


def test_the_driver_log_contains_only_events_of_its_client() -> None:
    drill = Drill(load_shipped_scenario("automatic-failover"))
    drill.advance_to(7_000)
    assert read_driver_log(drill.events, "APP") == [
        "0:59.25  APP lost its connections to SERVER_A",
        "1:02.95  APP connected to SERVER_B",
    ]
    assert read_driver_log(drill.events, "OTHER") == []
