"""Service to clients: an online database alone does not count as service."""

from __future__ import annotations

from app.view_models.run_timeline import CLIENTS_IDLE, DOWN, SERVING, RunTimeline
from engine.drill.judging.report import (
    WritingClients,
    build_report,
    compute_client_downtime_s,
    group_clients_by_database,
)
from engine.drill.running.drill import Drill
from tests.shipped_scenarios import load_shipped_scenario


def play_recovery_without_partner() -> Drill:
    """Return a drill in which the session was removed and the copy recovered, but the application finds no
    server.
    """
    drill = Drill(load_shipped_scenario("forced-service"), 1)
    database = drill.scenario.databases[0].name
    drill.advance_to(10_500)
    drill.apply_line(f"sql SERVER_B ALTER DATABASE {database} SET PARTNER OFF")
    drill.apply_line(f"sql SERVER_B RESTORE DATABASE {database} WITH RECOVERY")
    drill.advance_to(15_000)
    return drill


def test_clients_without_a_server_do_not_count_as_served() -> None:
    drill = play_recovery_without_partner()
    course = RunTimeline(drill.world.availability, (), (), group_clients_by_database(drill.scenario))
    course.add_events(event.as_json() for event in drill.events)
    spans = course.list_service_spans(drill.world.t_s)
    assert [span.state for span in spans] == [SERVING, DOWN, CLIENTS_IDLE]
    client_report = build_report(drill)
    down_s = client_report["availability"]["downtime_s"]
    assert client_report["clients"]["downtime_s"] > down_s + 30.0
    assert client_report["clients"]["databases"][drill.scenario.databases[0].name]["downtime_s"] == round(
        150.0 - spans[1].from_s, 2
    )


def test_a_client_on_the_wrong_server_does_not_count_as_served() -> None:
    clients = group_clients_by_database(load_shipped_scenario("forced-service"))
    events = [
        {"t_s": 1.0, "kind": "availability", "database": "Sales", "server": None, "serving": False},
        {
            "t_s": 3.0,
            "kind": "availability",
            "database": "Sales",
            "server": "SERVER_B",
            "serving": True,
            "servers": ["SERVER_B"],
        },
        {"t_s": 9.0, "kind": "client", "client": "APP", "server": "SERVER_A", "what": "cut"},
        {"t_s": 10.0, "kind": "client", "client": "APP", "server": "SERVER_B", "what": "connected"},
    ]
    assert compute_client_downtime_s(events, clients, 60.0) == {"Sales": 9.0}


def test_clients_of_a_second_principal_count_as_served() -> None:
    """A copy recovered next to its principal also serves the clients that are connected to it."""
    clients = {"Sales": WritingClients(("OFFICE", "CLERKS"), "A")}
    events = [
        {"kind": "client", "t_s": 10.0, "client": "CLERKS", "what": "cut", "server": "A"},
        {
            "kind": "availability",
            "t_s": 20.0,
            "database": "Sales",
            "server": "A",
            "serving": True,
            "servers": ["A", "B"],
        },
        {"kind": "client", "t_s": 30.0, "client": "CLERKS", "what": "connected", "server": "B"},
    ]
    assert compute_client_downtime_s(events, clients, 100.0) == {"Sales": 20.0}
