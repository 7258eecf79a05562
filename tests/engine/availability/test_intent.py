"""ApplicationIntent: logins that each replica accepts, and routing of these logins by a listener."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from engine import model, simulator
from engine.events import Event
from engine.inputs import InputError
from engine.model import ReplicaRole, SyncState
from engine.protocol import clients
from engine.verbs.input_lines import parse_input_line
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until
from tests.events import read_field

NO, READ_ONLY, ALL = "NO", "READ_ONLY", "ALL"

# Result of a login to Sales: the error number, or 0 if it is accepted. [DOC: client connection access to
# replicas]
ACCESS = [
    # role, connections that it allows, read intent, error
    ("primary", "ALL", False, 0),
    ("primary", "ALL", True, 0),
    ("primary", "READ_WRITE", False, 0),
    ("primary", "READ_WRITE", True, 979),
    ("secondary", NO, False, 976),
    ("secondary", NO, True, 976),
    ("secondary", READ_ONLY, False, 978),
    ("secondary", READ_ONLY, True, 0),
    ("secondary", ALL, False, 0),
    ("secondary", ALL, True, 0),
    ("resolving", ALL, False, 983),
    ("resolving", ALL, True, 983),
    ("without quorum", ALL, True, 988),
    ("reverting", ALL, True, 922),
    ("suspended", ALL, True, 0),
    ("suspended", READ_ONLY, False, 978),
]


def run_sql(world: model.World, window: str, text: str, within_s: float = 1.0) -> list[int]:
    """Return the error numbers of a batch, after the world has run for at least *within_s*."""
    return [
        message["number"]
        for message in run_statement(world, window, text, within_s)["messages"]
        if message["number"]
    ]


def run_statement(world: model.World, window: str, text: str, within_s: float = 1.0) -> dict[str, Any]:
    """Return the answer to a batch, after the world has run for at least *within_s*."""
    apply_lines(world, f"sql {window} {text}")
    events = run_until(world, world.tick / 100 + within_s)
    while not any(event.kind == "sql_done" for event in events):
        events = run_until(world, world.t_s + 1)
    return next(event for event in reversed(events) if event.kind == "sql_done").as_json()


def modify_replica(world: model.World, server: str, option: str) -> None:
    text = f"ALTER AVAILABILITY GROUP AG1 MODIFY REPLICA ON '{server}' WITH ({option})"
    assert run_sql(world, "NODE_1#9", text) == []


@pytest.mark.parametrize(("role", "allowed", "intent", "error"), ACCESS)
def test_access_follows_role_connections_and_intent(
    role: str, allowed: str, intent: bool, error: int
) -> None:
    world = build_ag_lab()
    server = "NODE_1" if role == "primary" else "NODE_2"
    word = "PRIMARY" if role == "primary" else "SECONDARY"
    modify_replica(world, server, f"{word}_ROLE (ALLOW_CONNECTIONS = {allowed})")
    key = (server, "Sales")
    if role in ("resolving", "without quorum"):
        world.update_availability(key, role=ReplicaRole.RESOLVING, quorum=role == "resolving")
    if role == "reverting":
        world.update_availability(key, state=SyncState.REVERTING)
    if role == "suspended":
        assert run_sql(world, server, "ALTER DATABASE Sales SET HADR SUSPEND") == []
    intent_option = ";ApplicationIntent=ReadOnly" if intent else ""
    apply_lines(world, f"change-connection {server} Server={server};Database=Sales{intent_option}")
    assert run_sql(world, server, "SELECT 1") == ([error, 4060, 18456] if error else [])
    # USE on a connection to master gives the same result
    apply_lines(world, f"change-connection {server} Server={server}{intent_option}")
    assert run_sql(world, server, "USE Sales") == ([error] if error else [])


def query_server_name(world: model.World, window: str) -> object:
    return run_statement(world, window, "SELECT @@SERVERNAME")["results"][0]["rows"][0][0]


def test_a_listener_connects_to_the_primary_or_follows_the_routing_list() -> None:
    world = build_ag_lab()
    apply_lines(world, "change-connection NODE_1 Server=tcp:agl1,1433;Database=Sales")
    assert query_server_name(world, "NODE_1") == "NODE_1"
    apply_lines(
        world, "change-connection NODE_1 Data Source=AGL1;Initial Catalog=Sales;Application Intent=ReadOnly"
    )
    assert query_server_name(world, "NODE_1") == "NODE_3"
    apply_lines(world, "change-connection NODE_1 Server=AGL1;ApplicationIntent=ReadOnly")
    assert query_server_name(world, "NODE_1") == "NODE_1", "without a database nobody is sent on"
    apply_lines(world, "sql NODE_2 :CONNECT AGL1")
    assert query_server_name(world, "NODE_2") == "NODE_2", (
        "after its script a window is on its own server again"
    )


@pytest.mark.parametrize("port", ["1433", "1500"])
def test_a_connection_string_names_a_port_on_which_the_server_listens(port: str) -> None:
    world = build_ag_lab()
    assert run_sql(world, "NODE_1", "ALTER AVAILABILITY GROUP AG1 MODIFY LISTENER 'AGL1' (PORT = 1500)") == []
    apply_lines(world, f"change-connection NODE_1 Server=AGL1,{port};Database=Sales")
    for source in ("AGL1,1434", "NODE_2,1500"):
        with pytest.raises(InputError, match="does not listen on port"):
            apply_lines(world, f"change-connection NODE_1 Server={source};Database=Sales")


def test_routing_without_a_target_is_982_and_reported_to_the_application() -> None:
    world = build_ag_lab()
    modify_replica(world, "NODE_1", "PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = ('NODE_3'))")
    modify_replica(world, "NODE_3", "SECONDARY_ROLE (ALLOW_CONNECTIONS = NO)")
    apply_lines(world, "change-connection NODE_1 Server=AGL1;Database=Sales;ApplicationIntent=ReadOnly")
    assert run_sql(world, "NODE_1", "SELECT 1") == [982, 4060, 18456]
    refusals = [event for event in run_until(world, 20) if read_field(event, "number") == 982]
    assert refusals
    assert read_field(refusals[0], "client") == "REPORT"
    modify_replica(world, "NODE_3", "SECONDARY_ROLE (ALLOW_CONNECTIONS = READ_ONLY)")
    run_until(world, 60)
    assert world.clients["REPORT"].connected_to == "NODE_3"
    assert query_server_name(world, "NODE_1") == "NODE_3"


@pytest.mark.parametrize(
    "lines",
    [
        ("sql NODE_3 ALTER DATABASE Sales SET HADR OFF",),
        ("sql NODE_3 ALTER DATABASE Sales SET HADR OFF", "sql NODE_3 DROP DATABASE Sales"),
        ("sql NODE_3 ALTER DATABASE Sales SET HADR SUSPEND",),
        ("sql NODE_1 ALTER AVAILABILITY GROUP AG1 REMOVE REPLICA ON 'NODE_3'",),
        ("sql NODE_3 ALTER ENDPOINT Hadr_endpoint STATE = STOPPED", "reset-link NODE_1 NODE_3"),
        ("cut NODE_1 NODE_3",),
        ("power-off NODE_3",),
        ("stop-service NODE_3",),
    ],
    ids=["left", "dropped", "suspended", "removed", "endpoint", "cut", "off", "stopped"],
)
def test_the_listener_sends_no_reader_to_a_lost_copy(lines: tuple[str, ...]) -> None:
    """Check documented behavior: [DOC: read-only routing; availability group listeners]."""
    world = build_ag_lab()
    modify_replica(world, "NODE_1", "PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = ('NODE_3', 'NODE_1'))")
    modify_replica(world, "NODE_1", "SECONDARY_ROLE (READ_ONLY_ROUTING_URL = 'TCP://NODE_1:1433')")
    assert clients.resolve_login(world, "AGL1", "Sales", read_intent=True) == ("NODE_3", None)
    for line in lines:
        apply_lines(world, line)
        run_until(world, world.t_s + 30)
    assert clients.resolve_login(world, "AGL1", "Sales", read_intent=True) == ("NODE_1", None)


def test_the_primary_routes_readers_to_a_silent_secondary_until_it_loses_it() -> None:
    world = build_ag_lab()
    apply_lines(world, "hang NODE_3")
    run_until(world, world.t_s + 8)
    assert clients.resolve_login(world, "AGL1", "Sales", read_intent=True) == ("NODE_3", None)
    run_until(world, world.t_s + 4)
    assert clients.resolve_login(world, "AGL1", "Sales", read_intent=True) == ("NODE_1", None)


def test_a_window_on_the_listener_follows_a_failover() -> None:
    world = build_ag_lab()
    apply_lines(world, "change-connection NODE_3 Server=AGL1;Database=Sales")
    assert query_server_name(world, "NODE_3") == "NODE_1"
    assert run_sql(world, "NODE_2", "ALTER AVAILABILITY GROUP AG1 FAILOVER") == []
    run_until(world, 40)
    assert query_server_name(world, "NODE_3") == "NODE_2"


def test_open_connections_survive_suspended_data_movement() -> None:
    """Check documented behavior: [DOC: suspend an availability database]."""
    world = build_ag_lab()
    assert run_sql(world, "NODE_3#2", "USE Sales") == []
    assert run_sql(world, "NODE_3", "ALTER DATABASE Sales SET HADR SUSPEND") == []
    assert run_sql(world, "NODE_3#2", "SELECT 1") == []
    assert world.clients["REPORT"].connected_to == "NODE_3"
    assert run_sql(world, "NODE_3#3", "USE Sales") == [], "only routing refuses new connections"


@pytest.mark.parametrize(
    "text", ["Server=NOWHERE", "Server=AGL1;ApplicationIntent=Sometimes", "Server=AGL1;Pooling=false", ""]
)
def test_connection_strings_without_a_target_are_refused(text: str) -> None:
    with pytest.raises((InputError, ValueError)):
        apply_lines(build_ag_lab(), f"change-connection NODE_1 {text}")


def test_a_program_with_read_intent_is_accepted() -> None:
    world = build_ag_lab()
    modify_replica(world, "NODE_3", "SECONDARY_ROLE (ALLOW_CONNECTIONS = READ_ONLY)")
    login = '{"login": "sa", "password": "right", "database": "Sales"'
    apply_lines(
        world, f"connect NODE_3#tds1 {login}}}", f'connect NODE_3#tds2 {login}, "intent": "ReadOnly"}}'
    )
    assert "NODE_3#tds1" not in world.sessions
    assert "NODE_3#tds2" in world.sessions


def test_a_program_with_read_intent_is_routed_by_the_listener() -> None:
    world = build_ag_lab()

    def connect_client(window: str, **properties: str) -> Event:
        properties_sent = {
            "login": "sa",
            "password": "right",
            "database": "Sales",
            "intent": "ReadOnly",
            **properties,
        }
        simulator.apply_input(
            world, parse_input_line(f"connect {window} {json.dumps(properties_sent)}", world.tick)
        )
        return next(event for event in simulator.advance_world(world, world.tick) if event.kind == "session")

    routed_client = connect_client("NODE_1#1", listener="AGL1")
    assert (read_field(routed_client, "what"), read_field(routed_client, "to")) == ("routed", "NODE_3")
    assert "NODE_1#1" not in world.sessions
    assert read_field(connect_client("NODE_1#2", listener="AGL1", intent="ReadWrite"), "what") == "connected"
    # the server's own name leads to the server itself
    assert read_field(connect_client("NODE_1#3"), "what") == "connected"
    assert read_field(connect_client("NODE_1#4", listener="AGL1", password="wrong"), "what") == "refused"
    modify_replica(world, "NODE_1", "PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = ('NODE_3'))")
    modify_replica(world, "NODE_3", "SECONDARY_ROLE (ALLOW_CONNECTIONS = NO)")
    refused = connect_client("NODE_1#5", listener="AGL1")
    assert [message["number"] for message in read_field(refused, "messages")] == [982, 4060, 18456]


@pytest.mark.parametrize(
    ("allowed", "intent", "reached"),
    [(ALL, False, "NODE_1"), (ALL, True, "NODE_2"), (READ_ONLY, False, 978), (NO, False, 976)],
)
def test_a_secondary_redirects_writers_to_the_primary(allowed: str, intent: bool, reached: str | int) -> None:
    """Check documented behavior: [DOC: read/write connection redirection]."""
    world = build_ag_lab(version=2019)
    modify_replica(world, "NODE_1", "PRIMARY_ROLE (READ_WRITE_ROUTING_URL = 'TCP://NODE_1:1433')")
    modify_replica(world, "NODE_2", f"SECONDARY_ROLE (ALLOW_CONNECTIONS = {allowed})")
    intent_option = ";ApplicationIntent=ReadOnly" if intent else ""
    apply_lines(world, f"change-connection NODE_2 Server=NODE_2;Database=Sales{intent_option}")
    if isinstance(reached, int):
        assert run_sql(world, "NODE_2", "SELECT 1") == [reached, 4060, 18456]
    else:
        assert query_server_name(world, "NODE_2") == reached
        assert query_server_name(world, "NODE_2#2") == "NODE_2", "without a database nobody is sent on"
    if allowed == ALL:
        program = {"login": "sa", "password": "right", "database": "Sales"}
        apply_lines(
            world, f"connect NODE_2#tds1 {json.dumps(program | ({'intent': 'ReadOnly'} if intent else {}))}"
        )
        assert ("NODE_2#tds1" in world.sessions) is (reached == "NODE_2")


def test_servers_of_a_nested_routing_list_share_the_readers() -> None:
    nested = "PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = (('NODE_2', 'NODE_3'), 'NODE_1'))"
    old = build_ag_lab(version=2014)
    alter = f"ALTER AVAILABILITY GROUP AG1 MODIFY REPLICA ON 'NODE_1' WITH ({nested})"
    assert run_sql(old, "NODE_1#1", alter) == [102]
    world = build_ag_lab(version=2016)
    modify_replica(world, "NODE_1", nested)
    rows = "SELECT routing_priority FROM sys.availability_read_only_routing_lists ORDER BY 1"
    result_rows = run_statement(world, "NODE_1#1", f"{rows}")["results"][0]["rows"]
    assert [place for (place,) in result_rows].count(1) >= 2
    report = world.clients["REPORT"]
    reached = []
    for number in range(4):
        name = f"REPORT{number}"
        world.clients[name] = replace(report, name=name, connected_to=None)
        apply_lines(world, f"start-app {name}")
        run_until(world, world.tick / 100 + 1)
        reached.append(world.clients[name].connected_to)
    assert reached.count("NODE_2") == reached.count("NODE_3") == 2


@pytest.mark.parametrize(
    ("version", "fault", "error"),
    [
        # first the service of the primary stops and no replica takes over; then quorum is lost [DOC: readable
        # secondaries]
        (2012, "stop-service NODE_1", 983),
        (2014, "stop-service NODE_1", 0),
        (2012, "power-off NODE_1;power-off NODE_2;power-off FSW", 988),
        (2014, "power-off NODE_1;power-off NODE_2;power-off FSW", 0),
    ],
)
def test_a_readable_secondary_works_without_its_primary(version: int, fault: str, error: int) -> None:
    world = build_ag_lab(version=version)
    for server in ("NODE_1", "NODE_2"):
        modify_replica(world, server, "FAILOVER_MODE = MANUAL")
    window = "NODE_3#2"
    apply_lines(world, f"change-connection {window} Server=NODE_3;Database=Sales;ApplicationIntent=ReadOnly")
    assert run_sql(world, window, "SELECT 1") == []
    apply_lines(world, *fault.split(";"))
    run_until(world, 60)
    assert world.copies["NODE_3", "Sales"].availability.role is ReplicaRole.RESOLVING
    # 2012 closes the connection of the window; 2014 keeps it open
    assert run_sql(world, window, "SELECT 1") == ([error, 4060, 18456] if error else [])
    assert run_sql(world, "NODE_3#4", "USE Sales") == ([error] if error else [])
