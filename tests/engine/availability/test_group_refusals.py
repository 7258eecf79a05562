"""Refused statements about availability groups: malformed clauses, wrong values and used ports.

None has a partial effect. The server checks the grammar first, on every replica and also without quorum.
[DOC: CREATE AVAILABILITY GROUP; ALTER AVAILABILITY GROUP]
"""

from __future__ import annotations

from functools import cache

import pytest

from engine.model import World
from tests.engine.availability.test_statements import ALTER_AG1, run_batch
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until

ENDPOINT_URL_OPTION = "ENDPOINT_URL = 'TCP://NODE_1:5022'"
MODE_OPTIONS = "AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, FAILOVER_MODE = MANUAL"
CREATE_TEMPLATE = (
    "CREATE AVAILABILITY GROUP AG2 {with_}FOR REPLICA ON 'NODE_1' WITH ({url}, {modes}{more}){listener}"
)


def format_create_statement(
    options: str = "", clauses: str = "", listener: str = "", url: str = ENDPOINT_URL_OPTION
) -> str:
    return CREATE_TEMPLATE.format(with_=options, url=url, modes=MODE_OPTIONS, more=clauses, listener=listener)


def build_replica_clause(option: str) -> str:
    return f"{ALTER_AG1}MODIFY REPLICA ON 'NODE_2' WITH ({option})"


@cache
def build_settled_world(version: int = 2016) -> World:
    world = build_ag_lab(version=version)
    run_until(world, 5)
    return world


@cache
def lose_quorum() -> World:
    world = build_settled_world().fork()
    apply_lines(world, "power-off NODE_2", "power-off NODE_3", "power-off FSW")
    run_until(world, 40)
    return world


MALFORMED_STATEMENTS = [
    ALTER_AG1 + "SET (FOO = 1)",
    ALTER_AG1 + "SET (BASIC)",
    ALTER_AG1 + "SET (FAILURE_CONDITION_LEVEL = ON)",
    ALTER_AG1 + "SET (HEALTH_CHECK_TIMEOUT = 4294967296)",
    ALTER_AG1 + "SET (AUTOMATED_BACKUP_PREFERENCE = TERTIARY)",
    ALTER_AG1 + "SET (FAILURE_CONDITION_LEVEL = 2, HEALTH_CHECK_TIMEOUT = 40000)",
    ALTER_AG1 + "MODIFY REPLICA ON 'NODE_2'",
    ALTER_AG1 + "ADD REPLICA ON 'NODE_4'",
    build_replica_clause("SESSION_TIMEOUT = 10, BACKUP_PRIORITY = 1"),
    build_replica_clause("SECONDARY_ROLE (ALLOW_CONNECTIONS = READ_WRITE)"),
    build_replica_clause("PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = ())"),
    format_create_statement("WITH (FAILURE_CONDITION_LEVEL = 3, FAILURE_CONDITION_LEVEL = 4) "),
    format_create_statement(clauses=", SESSION_TIMEOUT = 10, SESSION_TIMEOUT = 12"),
    format_create_statement(clauses=", FOO = 1"),
    format_create_statement(listener=" LISTENER 'L2' (PORT = 1500)"),
    ALTER_AG1 + "ADD LISTENER 'L2'",
    ALTER_AG1 + "ADD LISTENER 'L2' (PORT = 1500)",
    ALTER_AG1 + "ADD LISTENER 'L2' (WITH IP ())",
    ALTER_AG1 + "ADD LISTENER 'L2' (WITH DHCP, WITH IP (('10.0.0.90', '255.255.255.0')))",
    ALTER_AG1 + "MODIFY LISTENER 'AGL1'",
    ALTER_AG1 + "MODIFY LISTENER 'AGL1' (PORT = 1500, ADD IP ('10.0.1.90', '255.255.255.0'))",
]


@pytest.mark.parametrize("statement", MALFORMED_STATEMENTS)
def test_the_grammar_decides_on_every_replica_and_without_quorum(statement: str) -> None:
    places = [
        (build_settled_world(), "NODE_1"),
        (build_settled_world(), "NODE_2"),
        (lose_quorum(), "NODE_1"),
    ]
    assert [run_batch(world.fork(), server, statement) for world, server in places] == [[102]] * 3


WITH_IP_CLAUSE = "(WITH IP (({})){})"
REFUSED_CLAUSES = [
    ("REMOVE REPLICA ON 'NODE_2' WITH (SESSION_TIMEOUT = 10)", 156),
    ("MODIFY LISTENER 'AGL1' (WITH DHCP)", 156),
    ("MODIFY REPLICA ON 'NODE_2' WITH (ENDPOINT_URL = 'TCP://NODE_2:99999')", 35232),
    ("MODIFY REPLICA ON 'NODE_2' WITH (SECONDARY_ROLE (READ_ONLY_ROUTING_URL = 'TCP://NODE_2:0'))", 19401),
    (
        "MODIFY REPLICA ON 'NODE_2' WITH (PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = ('NODE_1', 'node_1')))",
        19402,
    ),
]
REFUSED_LISTENERS = [
    ("L 2", "(WITH DHCP)", 19476),
    ("L.2", "(WITH DHCP)", 19476),
    ("L2", "(WITH DHCP ON ('10.99.0.0', '255.255.255.0'))", 19456),
    ("L2", "(WITH DHCP ON ('net', '255.255.255.0'))", 19483),
    ("L2", WITH_IP_CLAUSE.format("'10.0.0.90'", ""), 19483),
    ("L2", WITH_IP_CLAUSE.format("'10.0.0.90', '255.0.255.0'", ""), 19483),
    ("L2", WITH_IP_CLAUSE.format("'10.0.0.90', 'mask'", ""), 19483),
    ("L2", WITH_IP_CLAUSE.format("'300.0.0.90', '255.255.255.0'", ""), 19483),
    ("L2", WITH_IP_CLAUSE.format("'10.9.0.90', '255.255.255.0'", ""), 19457),
    ("L2", WITH_IP_CLAUSE.format("'10.0.0.90', '255.255.0.0'", ""), 19457),
    ("L2", "(WITH DHCP ON ('10.0.0.0', '255.255.0.0'))", 19456),
    ("L2", WITH_IP_CLAUSE.format("'10.0.0.90', '255.255.255.0'", ", PORT = 70000"), 19482),
]


@pytest.mark.parametrize(("clause", "number"), REFUSED_CLAUSES)
def test_a_wrong_clause_changes_nothing(clause: str, number: int) -> None:
    world = build_settled_world().fork()
    before = world.nodes["NODE_1"].config
    assert run_batch(world, "NODE_1", ALTER_AG1 + clause) == [number]
    assert world.nodes["NODE_1"].config == before


@pytest.mark.parametrize(("name", "clause", "number"), REFUSED_LISTENERS)
def test_a_wrong_listener_leaves_no_group_behind(name: str, clause: str, number: int) -> None:
    world = build_settled_world().fork()
    before = world.nodes["NODE_1"].config
    assert run_batch(world, "NODE_1", format_create_statement(listener=f" LISTENER '{name}' {clause}")) == [
        number
    ]
    assert world.nodes["NODE_1"].config == before
    assert run_batch(world, "NODE_1", ALTER_AG1 + "REMOVE LISTENER 'AGL1'") == []
    assert run_batch(world, "NODE_1", f"{ALTER_AG1}ADD LISTENER '{name}' {clause}") == [number]


def test_a_listener_accepts_ipv4_and_ipv6_addresses() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_1", ALTER_AG1 + "REMOVE LISTENER 'AGL1'") == []
    addresses = "('10.0.0.90', '255.255.255.0'), ('2001::4898:23:1002:20f:1fff:feff:b3a3')"
    assert (
        run_batch(world, "NODE_1", f"{ALTER_AG1}ADD LISTENER 'L2' (WITH IP ({addresses}), PORT = 7777)", 5)
        == []
    )
    assert world.listeners["L2"] == "NODE_1"


def test_a_listener_on_the_port_of_the_endpoint_is_configured_but_does_not_listen() -> None:
    world = build_settled_world().fork()
    assert run_batch(world, "NODE_1", ALTER_AG1 + "MODIFY LISTENER 'AGL1' (PORT = 5022)") == [19486]
    assert world.listeners["AGL1"] is None
    assert any(line[1] == 26024 for line in world.errorlog["NODE_1"])
    assert run_batch(world, "NODE_2", ALTER_AG1 + "FAILOVER", 20) == []
    assert world.listeners["AGL1"] is None
    assert run_batch(world, "NODE_2", ALTER_AG1 + "MODIFY LISTENER 'AGL1' (PORT = 1433)") == []
    assert world.listeners["AGL1"] == "NODE_2"


@pytest.mark.parametrize(
    ("database", "number"), [("master", 35261), ("msdb", 35261), ("TempDB", 35261), ("Nowhere", 911)]
)
@pytest.mark.parametrize("action", ["SUSPEND", "RESUME", "OFF"])
def test_ineligible_databases_are_refused(database: str, action: str, number: int) -> None:
    assert run_batch(
        build_settled_world().fork(), "NODE_2", f"ALTER DATABASE {database} SET HADR {action}"
    ) == [number]


@pytest.mark.parametrize(
    "clause",
    [
        "MODIFY REPLICA ON 'NODE_2' WITH (AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT)",
        "REMOVE REPLICA ON 'NODE_2'",
    ],
)
def test_a_change_that_leaves_too_few_synchronized_secondaries_is_refused(clause: str) -> None:
    world = build_ag_lab(version=2017)
    assert (
        run_batch(world, "NODE_1", ALTER_AG1 + "MODIFY REPLICA ON 'NODE_2' WITH (FAILOVER_MODE = MANUAL)")
        == []
    )
    assert (
        run_batch(world, "NODE_1", ALTER_AG1 + "SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)") == []
    )
    assert run_batch(world, "NODE_1", ALTER_AG1 + clause) == [35248]
    assert (
        run_batch(world, "NODE_1", ALTER_AG1 + "SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 0)") == []
    )
    assert run_batch(world, "NODE_1", ALTER_AG1 + clause) == []
