"""Limits of editions: Express and Workgroup as witness only, Standard with safety FULL only, and other
features.

[DOC: prerequisites, restrictions; features supported by the editions]
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine import simulator
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import load_scenario
from engine.inputs import InputError
from engine.model import Role, World
from engine.verbs.input_lines import parse_input_line
from tests.engine.worlds import DB, MIRROR, M, P, W, apply_lines, build_lab
from tests.events import read_field


def run_sql(world: World, server: str, sql: str, wait_s: float = 1.0) -> list[tuple[int, str]]:
    done_events = [
        event
        for event in apply_lines(world, f"sql {server} {sql}", wait_s=wait_s)
        if event.kind == "sql_done"
    ]
    return [(message["number"], message["text"]) for message in read_field(done_events[-1], "messages")]


def list_message_numbers(world: World, server: str, sql: str) -> list[int]:
    return [number for number, _ in run_sql(world, server, sql)]


@pytest.mark.parametrize("edition", ["Express", "Workgroup"])
def test_small_editions_can_only_be_a_witness(edition: str) -> None:
    world = build_lab(witness=False)
    world.update_instance(W, edition=edition, endpoint=None)
    create = (
        "CREATE ENDPOINT Mirroring STATE=STARTED AS TCP (LISTENER_PORT=5022) FOR DATABASE_MIRRORING (ROLE={})"
    )
    assert list_message_numbers(world, W, create.format("ALL")) == [7878]
    assert list_message_numbers(world, W, create.format("WITNESS")) == [0]
    assert list_message_numbers(
        world, W, "ALTER ENDPOINT Mirroring FOR DATABASE_MIRRORING (ROLE = PARTNER)"
    ) == [7878]
    assert list_message_numbers(world, P, f"ALTER DATABASE {DB} SET WITNESS = 'TCP://SERVER_W:5022'") == [0]
    apply_lines(world, f"power-off {P}")
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL
    world = build_lab(witness=False)
    world.update_instance(P, edition=edition)
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=1.0)
    assert list_message_numbers(world, P, f"ALTER DATABASE {DB} SET PARTNER = 'TCP://SERVER_B:5022'") == [
        1463
    ]


def test_standard_edition_mirrors_with_safety_full_only() -> None:
    world = build_lab()
    for name in (P, M):
        world.update_instance(name, edition="Standard")
    assert list_message_numbers(world, P, f"ALTER DATABASE {DB} SET PARTNER SAFETY OFF") == [1473]
    assert list_message_numbers(world, P, f"ALTER DATABASE {DB} SET PARTNER SAFETY FULL") == [0]
    snapshot = f"CREATE DATABASE s ON (NAME = {DB}, FILENAME = 'D:\\s.ss') AS SNAPSHOT OF {DB}"
    assert run_sql(world, P, snapshot) == [
        (1844, "Database Snapshot is not supported on Standard Edition (64-bit).")
    ]
    with pytest.raises(InputError, match="1712"):
        simulator.apply_input(world, parse_input_line(f"rebuild-index {DB} online", world.tick))
    simulator.apply_input(world, parse_input_line(f"rebuild-index {DB} offline", world.tick))


@pytest.mark.parametrize(
    ("version", "edition", "number"),
    [
        (2005, "Enterprise", 155),
        (2008, "Enterprise", 3014),
        (2008, "Standard", 1844),
        (2012, "Standard", 3014),
        (2014, "Express", 1844),
    ],
)
def test_backup_compression_depends_on_version_and_edition(version: int, edition: str, number: int) -> None:
    world = build_lab()
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=1.0)
    world.instances[P] = replace(world.instances[P], version=version, edition=edition)
    messages = run_sql(
        world, P, f"BACKUP DATABASE {DB} TO DISK = 'D:\\x.bak' WITH COMPRESSION", wait_s=2_000.0
    )
    assert number in [number for number, _ in messages]


def test_express_has_no_agent() -> None:
    world = build_lab()
    world.update_instance(W, edition="Express", agent_running=False)
    with pytest.raises(InputError, match="no SQL Server Agent"):
        simulator.apply_input(world, parse_input_line(f"start-agent {W}", world.tick))


SCENARIO = """
title = "Small witness"
[[server]]
name = "A"
edition = "{a}"
[[server]]
name = "B"
[[server]]
name = "W"
edition = "Express"
[server.endpoint]
role = "{role}"
[[database]]
name = "Sales"
[[session]]
database = "Sales"
principal = "A"
mirror = "B"
witness = "W"
"""


@pytest.mark.parametrize(
    ("a", "role", "messages"),
    [
        ("Enterprise", "WITNESS", []),
        ("Enterprise", "ALL", ["Express edition supports only endpoints with the role WITNESS"]),
        (
            "Workgroup",
            "WITNESS",
            ["Workgroup edition supports only endpoints", "Workgroup edition can only be a witness"],
        ),
    ],
)
def test_a_scenario_reports_unsupported_editions(a: str, role: str, messages: list[str]) -> None:
    problems: list[str] = []
    try:
        load_scenario(SCENARIO.format(a=a, role=role), "small.toml")
    except ScenarioError as error:
        problems = [str(problem) for problem in error.problems if "edition" in problem.text]
    assert len(problems) == len(messages)
    for problem, start in zip(problems, messages, strict=True):
        assert start in problem


@pytest.mark.parametrize(
    ("edition", "recovery"), [("Enterprise", "FULL"), ("Standard", "FULL"), ("Express", "SIMPLE")]
)
def test_new_databases_inherit_the_recovery_model_of_model(edition: str, recovery: str) -> None:
    world = build_lab()
    world.update_instance(W, edition=edition)
    apply_lines(world, f"sql {W} CREATE DATABASE Small", wait_s=0.5)
    sql = "SELECT recovery_model_desc FROM sys.databases WHERE name IN ('model', 'Small')"
    done_events = [
        event for event in apply_lines(world, f"sql {W} {sql}", wait_s=0.5) if event.kind == "sql_done"
    ]
    assert read_field(done_events[0], "results")[0]["rows"] == [[recovery], [recovery]]


@pytest.mark.parametrize(("version", "algorithm"), [(2014, "RC4"), (2016, "AES")])
def test_endpoints_encrypt_with_aes_since_2016(version: int, algorithm: str) -> None:
    world = build_lab()
    world.update_instance(P, version=version, endpoint=None)
    text = "CREATE ENDPOINT Mirroring AS TCP (LISTENER_PORT=5022) FOR DATABASE_MIRRORING (ROLE=ALL)"
    assert list_message_numbers(world, P, text) == [0]
    endpoint = world.instances[P].endpoint
    assert endpoint is not None
    assert endpoint.algorithms == (algorithm,)
