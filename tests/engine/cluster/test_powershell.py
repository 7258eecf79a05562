"""PowerShell prompt: columns, actions, errors in PowerShell's format, and cmdlets that are not simulated."""

from __future__ import annotations

import pytest

from engine.cluster import config
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.world_builder import build_world
from engine.inputs import InputError
from engine.model import World
from engine.powershell.cluster_cmdlets import PROPERTY_FIRST_VERSIONS
from tests.assertions import require
from tests.engine.availability.worlds import SCENARIOS, build_ag_lab, list_primaries
from tests.engine.cluster.worlds import (
    apply_lines,
    build_cluster_world,
    build_fci_lab,
    build_pair,
    get_role,
    run_until,
)
from tests.events import read_field


def run_cmdlet(world: World, line: str, node: str = "NODE_1") -> str:
    apply_lines(world, f"ps {node} {line}")
    return (
        str(read_field(world.outbox[-1], "output"))
        if world.outbox[-1].kind == "powershell"
        else _read_last_output(world)
    )


def _read_last_output(world: World) -> str:
    return next(
        str(read_field(event, "output")) for event in reversed(world.outbox) if event.kind == "powershell"
    )


def split_cells(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_read_cmdlets_show_the_cluster() -> None:
    world = build_ag_lab()
    assert split_cells(run_cmdlet(world, "Get-ClusterNode")) == [
        ["Name", "State", "Type"],
        ["----", "-----", "----"],
        ["NODE_1", "Up", "Node"],
        ["NODE_2", "Up", "Node"],
        ["NODE_3", "Up", "Node"],
    ]
    assert split_cells(run_cmdlet(world, "Get-ClusterGroup AG1"))[2] == ["AG1", "NODE_1", "Online"]
    weights = split_cells(run_cmdlet(world, "Get-ClusterNode | ft Name, NodeWeight, DynamicWeight"))
    assert weights[0] == ["Name", "NodeWeight", "DynamicWeight"]
    assert weights[2] == ["NODE_1", "1", "1"]
    assert "NodeAndFileShareMajority" in run_cmdlet(world, "Get-ClusterQuorum")
    assert "LeaseTimeout          20000" in run_cmdlet(
        world, "Get-ClusterResource AG1 | Get-ClusterParameter"
    )
    owners = run_cmdlet(world, "Get-ClusterResource 'AG1' | Get-ClusterOwnerNode")
    assert owners.splitlines()[-1] == "AG1           {NODE_1, NODE_2, NODE_3}"


def test_a_parameter_is_set() -> None:
    world = build_ag_lab()
    run_cmdlet(world, "Get-ClusterResource AG1 | Set-ClusterParameter LeaseTimeout 40000")
    assert world.nodes["NODE_2"].config.groups[0].lease_timeout_ms == 40_000
    assert "not simulated" in run_cmdlet(
        world, "Get-ClusterResource AG1 | Set-ClusterParameter VerboseLogging 1"
    )


def test_action_cmdlets_change_the_cluster() -> None:
    world = build_fci_lab()
    assert split_cells(run_cmdlet(world, "Move-ClusterGroup -Name SQLFCI1 -Node NODE_2"))[2][0] == "SQLFCI1"
    run_until(world, 30)
    assert get_role(world, "SQLFCI1").owner == "NODE_2"
    run_cmdlet(world, "(Get-ClusterNode NODE_4).NodeWeight = 0")
    assert run_cmdlet(world, "(Get-ClusterNode NODE_4).NodeWeight") == "0"
    run_cmdlet(world, 'Get-ClusterResource "SQL Server (SQLFCI1)" | Set-ClusterOwnerNode -Owners NODE_2')
    assert require(get_role(world, "SQLFCI1").find_resource("SQL Server (SQLFCI1)")).owners == ("NODE_2",)
    assert "Paused" in run_cmdlet(world, "Suspend-ClusterNode NODE_3 -Drain")
    run_until(world, 60)
    assert get_role(world, "SQLFCI2").owner == "NODE_4"
    assert "Bringing group 'SQLFCI2' online on NODE_4" in run_cmdlet(world, "Get-ClusterLog -Node NODE_3")


def test_invalid_and_unsimulated_cmdlets_are_refused() -> None:
    world = build_fci_lab()
    output = run_cmdlet(world, "Get-ClusterGroup Nothing")
    assert output.startswith("Get-ClusterGroup : The cluster group 'Nothing' was not found.")
    assert "CategoryInfo" in output
    assert "FullyQualifiedErrorId" in output
    assert run_cmdlet(world, "Format-Volume C") == "Format-Volume is not simulated."
    apply_lines(world, "stop-cluster NODE_4")
    assert "The cluster service is not running." in run_cmdlet(world, "Get-ClusterNode", "NODE_4")
    assert "NODE_4" in run_cmdlet(world, "Start-ClusterNode", "NODE_4")
    apply_lines(world, "power-off NODE_2")
    with pytest.raises(InputError, match="is off"):
        apply_lines(world, "ps NODE_2 Get-ClusterNode")


def test_limits_and_owners_of_a_group_are_set() -> None:
    world = build_fci_lab()
    assert run_cmdlet(world, "(Get-ClusterGroup SQLFCI1).FailoverThreshold = 0") == ""
    assert run_cmdlet(world, "(Get-ClusterGroup SQLFCI1).FailoverThreshold") == "0"
    assert "is not simulated" in run_cmdlet(world, "(Get-ClusterGroup SQLFCI1).Priority = 3000")
    assert run_cmdlet(world, "Get-ClusterGroup SQLFCI2 | Set-ClusterOwnerNode -Owners node_4, NODE_3") == ""
    assert get_role(world, "SQLFCI2").preferred == ("NODE_4", "NODE_3")
    run_cmdlet(world, "Set-ClusterOwnerNode -Group SQLFCI2 -Owners NODE_3,NODE_4")
    assert get_role(world, "SQLFCI2").preferred == ("NODE_3", "NODE_4")
    apply_lines(world, "stop-service SQLFCI1")
    run_until(world, 60)
    assert get_role(world, "SQLFCI1").owner == "NODE_1", "the first failure is answered by a restart"
    apply_lines(world, "stop-service SQLFCI1")
    run_until(world, 120)
    assert get_role(world, "SQLFCI1").way == "exhausted"
    assert "Not failing over group SQLFCI1" in run_cmdlet(world, "Get-ClusterLog -Node NODE_1")


def test_an_unset_variable_is_reported() -> None:
    """The input is the documented script for forced quorum, one line at a time. [DOC: forced quorum]"""
    world = build_ag_lab()
    apply_lines(world, "power-off NODE_1", "power-off NODE_3", "power-off FSW")
    run_until(world, 40)
    assert "$node has no value" in run_cmdlet(world, "Stop-ClusterNode -Name $node", "NODE_2")
    for line in (
        'Import-Module FailoverClusters; $node = "NODE_2"',
        "Stop-ClusterNode -Name $node",
        "Start-ClusterNode -Name $node -FixQuorum",
    ):
        run_cmdlet(world, line, "NODE_2")
    run_until(world, 60)
    run_cmdlet(world, "(Get-ClusterNode $node).NodeWeight = 1", "NODE_2")
    assert world.fork().variables == {("NODE_2", "node"): "NODE_2"}
    assert world.nodes["NODE_2"].config.forced
    command = "Get-ClusterNode -Cluster $node | Format-Table -property NodeName, State, NodeWeight"
    assert "NODE_2   Up    1" in run_cmdlet(world, command, "NODE_2")


def test_a_listener_name_resolves_even_while_offline() -> None:
    world = build_ag_lab()
    resolved = run_cmdlet(world, "Resolve-DnsName AGL1")
    assert resolved.endswith("10.0.0.202")
    assert run_cmdlet(world, "Stop-ClusterGroup AG1").endswith("Offline")
    assert run_cmdlet(world, "Resolve-DnsName AGL1") == resolved
    assert run_cmdlet(world, "ping AGL1") == "Request timed out."


def test_the_default_groups_of_a_cluster_are_shown() -> None:
    world = build_ag_lab()
    assert run_cmdlet(world, "(Get-ClusterResource 'File Share Witness').State") == "Online"
    assert "other operations on it are not simulated" in run_cmdlet(
        world, "Stop-ClusterResource 'Cluster Name'"
    )
    assert "other operations on it are not simulated" in run_cmdlet(
        world, "Move-ClusterGroup 'Cluster Group'"
    )
    apply_lines(world, "power-off FSW")
    run_until(world, 30)
    assert run_cmdlet(world, "(Get-ClusterResource 'File Share Witness').State") == "Failed"


@pytest.mark.parametrize(
    ("fault", "texts"),
    [
        (
            "stop-service NODE_1",
            ("QueryServiceStatusEx returned a process id 0", "SQL server service is not alive"),
        ),
        ("hang NODE_1", ("Availability Group lease is no longer valid",)),
        (
            "hang NODE_1 long lease",
            ("diagnostics heartbeat is lost", "with given HealthCheckTimeout and FailureConditionLevel"),
        ),
        ("slow-cpu NODE_1 factor=200", ("Availability Group lease is no longer valid",)),
        (
            "pull-cable NODE_1",
            ("All routes for route", "Node 1: Lost quorum (1)", "Cluster service has terminated"),
        ),
    ],
)
def test_the_cluster_log_records_detected_events(fault: str, texts: tuple[str, ...]) -> None:
    """Check documented behavior: [DOC: group health events]."""
    world = build_ag_lab()
    if fault.endswith(" long lease"):
        apply_lines(world, "ps NODE_1 Get-ClusterResource AG1 | Set-ClusterParameter LeaseTimeout 200000")
    apply_lines(world, fault.removesuffix(" long lease"))
    run_until(world, 60)
    log = run_cmdlet(world, "Get-ClusterLog -Node NODE_1", "NODE_2")
    places = [log.find(text) for text in texts]
    assert min(places) >= 0
    assert places == sorted(places)
    assert ("Resource AG1 IsAlive has indicated failure." in log) is ("Lost quorum" not in log)


def test_the_missing_tempdb_folder_can_be_created() -> None:
    world = build_cluster_world(instance='no_tempdb_path = ["N2"]')
    assert run_cmdlet(world, r"Test-Path T:\tempdb", "N1") == "True"
    assert run_cmdlet(world, r"Test-Path T:\tempdb", "N2") == "False"
    assert "already exists" in run_cmdlet(world, r"New-Item -ItemType Directory -Path T:\tempdb", "N1")
    assert "not simulated" in run_cmdlet(world, r"New-Item -ItemType Directory -Path C:\other", "N2")
    run_cmdlet(world, r"New-Item -ItemType Directory -Path T:\tempdb", "N2")
    assert run_cmdlet(world, r"Test-Path T:\tempdb", "N2") == "True"
    run_until(world, 10)
    apply_lines(world, "move-role FCI N2")
    run_until(world, 60)
    assert get_role(world, "FCI").owner == "N2"
    assert world.instances["FCI"].answering


EXPRESSIONS = [
    ("(Get-ClusterGroup -Name AG1).OwnerNode.Name", "NODE_1"),
    ("(Get-ClusterNode | Where-Object {$_.Name -eq 'node_3'}).NodeWeight", "1"),
    ("(Get-ClusterNode).Count", "3"),
    ("(Get-ClusterGroup | Where-Object {$_.State -ne 'Online'}).Name", "Available Storage"),
    ("(Get-ClusterGroup | Where State -eq Online).Name", "AG1\nCluster Group"),
    (
        "(Get-ClusterGroup | ? { $_.OwnerNode -like 'NODE*' -and $_.State -eq 'Offline' }).Name",
        "Available Storage",
    ),
    (
        "Get-ClusterNode | Sort-Object Name -Descending | Select-Object -ExpandProperty Name",
        "NODE_3\nNODE_2\nNODE_1",
    ),
    (
        "(Get-ClusterResource | Where-Object {$_.ResourceType -eq 'Network Name'}).Name",
        "AG1_AGL1\nCluster Name",
    ),
    ("(Get-ClusterResource AG1).RestartThreshold", "1"),
    ("(Get-ClusterGroup AG1).FailoverThreshold", "4294967295"),
    ("Get-ClusterNode | Measure-Object", "Count : 3"),
    ("(Get-ClusterNode).NodeName", "NODE_1\nNODE_2\nNODE_3"),
    ("(Get-ClusterNetwork).Name", "Cluster Network 1"),
    ("(Get-ClusterNetworkInterface | Where Node -eq NODE_2).State", "Up"),
    (
        "(Get-Service MSSQLSERVER, SQLSERVERAGENT | Where Status -eq Running).Name",
        "MSSQLSERVER\nSQLSERVERAGENT",
    ),
    ("hostname", "NODE_1"),
    ("(Get-ClusterNode | Measure-Object).Count", "3"),
    ("(Get-ClusterNode NODE_2).State -eq 'Up'", "True"),
    ("$n = 'NODE_2'; (Get-ClusterNode $n).State; hostname # a comment; nothing", "Up\nNODE_1"),
    ("Get-ClusterGroup | ? { $_.Name -eq 'a; b # c' }", ""),
    ("Get-ClusterNode | % { $_.Name }", "NODE_1\nNODE_2\nNODE_3"),
    ("Get-ClusterNode | ForEach-Object Name", "NODE_1\nNODE_2\nNODE_3"),
    ("Test-NetConnection NODE_2 -Port 1433 -InformationLevel Quiet", "True"),
    ("ping AGL1", "Reply from 10.0.0.202: bytes=32 time<1ms TTL=128"),
    ("Import-Module FailoverClusters", ""),
    ("Test-Connection NODE_2 -Quiet", "True"),
    ("ping NODE_2", "Reply from 10.0.0.12: bytes=32 time<1ms TTL=128"),
    (
        "Get-ClusterNode | Where-Object { $_.Name.StartsWith('N') }",
        "Where-Object with this condition is not simulated.",
    ),
    ("(Get-ClusterGroup AG1).Nothing", "(Get-ClusterGroup AG1).Nothing is not simulated."),
    ("Import-Module SqlServer", "Import-Module SqlServer is not simulated."),
]


@pytest.mark.parametrize(("line", "answer"), EXPRESSIONS)
def test_lines_of_public_scripts_run(line: str, answer: str) -> None:
    assert run_cmdlet(build_ag_lab(), line) == answer


def test_a_list_shows_the_properties_matching_a_pattern() -> None:
    lines = run_cmdlet(build_ag_lab(), "Get-Cluster | fl *Subnet*").splitlines()
    assert [line.split()[0] for line in lines] == [
        "SameSubnetDelay", "SameSubnetThreshold", "CrossSubnetDelay", "CrossSubnetThreshold",
    ]  # fmt: skip


def test_services_are_stopped_and_started_by_net_and_by_cmdlet() -> None:
    world = build_ag_lab()
    run_cmdlet(world, "net stop clussvc", "NODE_3")
    run_until(world, 10)
    assert not world.nodes["NODE_3"].partition
    assert "was not" not in run_cmdlet(world, "net start clussvc", "NODE_3")
    run_until(world, 40)
    assert world.nodes["NODE_3"].partition
    run_cmdlet(world, "Stop-Service MSSQLSERVER -Force", "NODE_3")
    run_until(world, 50)
    assert run_cmdlet(world, "(Get-Service MSSQLSERVER).Status", "NODE_3") == "Stopped"
    run_cmdlet(world, "Start-Service MSSQLSERVER", "NODE_3")
    run_until(world, 80)
    assert run_cmdlet(world, "(Get-Service MSSQLSERVER).Status", "NODE_3") == "Running"
    assert "not simulated" in run_cmdlet(world, "net start clussvc /x", "NODE_3")
    run_cmdlet(world, "Stop-Service MSSQLSERVER -Force", "NODE_3")
    run_until(world, 90)
    run_cmdlet(world, "Restart-Service MSSQLSERVER", "NODE_3")
    run_until(world, 120)
    assert run_cmdlet(world, "(Get-Service MSSQLSERVER).Status", "NODE_3") == "Running", (
        "it starts a stopped service"
    )


@pytest.mark.parametrize(("setup", "line", "text"), [
    ((), "net start MSSQLSERVER", "has already been started.\n\nMore help is available by typing NET HELPMSG 2182."),
    ((), "net stop MSSQLSERVER /y", "The SQL Server (MSSQLSERVER) service is stopping."),
    ((), "net stop MSSQLSERVER", "SQL Server Agent (MSSQLSERVER)\n\nDo you want to continue this operation?"),
    (("net stop SQLSERVERAGENT",), "net stop MSSQLSERVER", "The SQL Server (MSSQLSERVER) service is stopping."),
    ((), "net stop SQLSERVERAGENT", "The SQL Server Agent (MSSQLSERVER) service is stopping."),
    ((), "net stop nix", "The service name is invalid.\n\nMore help is available by typing NET HELPMSG 2185."),
    (("net stop MSSQLSERVER /y",), "net start MSSQLSERVER", "NET HELPMSG 2189"),
    (("net stop MSSQLSERVER /y",), "(Get-Service MSSQLSERVER).Status", "StopPending"),
    (("net stop MSSQLSERVER /y", 20), "net stop mssqlserver", "is not started.\n\nMore help is"),
    (("net stop MSSQLSERVER /y", 20, "net start MSSQLSERVER"), "(Get-Service MSSQLSERVER).Status", "StartPending"),
    ((), "net start clussvc", "NET HELPMSG 2182"),
    (("net stop clussvc", 20), "net stop clussvc", "The Cluster Service service is not started."),
])  # fmt: skip
def test_net_reports_the_state_of_the_service(setup: tuple[str | int, ...], line: str, text: str) -> None:
    world = build_ag_lab()
    run_until(world, 5)
    for step in setup:
        if isinstance(step, str):
            run_cmdlet(world, step, "NODE_3")
        else:
            run_until(world, world.t_s + step)
    assert text in run_cmdlet(world, line, "NODE_3")


@pytest.mark.parametrize(("windows", "properties"), [
    ("2008 R2", ""),
    ("2012", "DynamicQuorum DynamicWeight"),
    ("2012 R2", "DynamicQuorum DynamicWeight LowerQuorumPriorityNodeID WitnessDynamicWeight"),
    ("2016", "DynamicQuorum DynamicWeight LowerQuorumPriorityNodeID WitnessDynamicWeight QuarantineDuration"),
])  # fmt: skip
def test_properties_exist_from_their_version_of_windows(windows: str, properties: str) -> None:
    world = build_pair("disk", windows)
    run_until(world, 5)
    rows = run_cmdlet(world, "Get-Cluster | fl *", "N1") + run_cmdlet(
        world, "Get-ClusterNode N1 | fl *", "N1"
    )
    for name in PROPERTY_FIRST_VERSIONS:
        assert (f"{name} " in rows) == (
            name in properties or (name.startswith(("Quar", "Stat")) and windows == "2016")
        )


FORCE_REQUIRED_ERROR = "because it has dependent services. It can only be stopped if the Force flag is set."
SERVICE_CASES = [
    # steps (seconds or lines), states of ClusSvc, MSSQLSERVER and SQLSERVERAGENT at the end, part of the last answer
    (["Stop-Service MSSQLSERVER"], "Running Running Running", FORCE_REQUIRED_ERROR),
    (["Restart-Service MSSQLSERVER"], "Running Running Running", FORCE_REQUIRED_ERROR),
    (["Stop-Service MSSQLSERVER -Force", 20], "Running Stopped Stopped", ""),
    (["Stop-Service MSSQLSERVER -Force", 20, "Start-Service MSSQLSERVER", 40], "Running Running Stopped", ""),
    (
        ["Stop-Service MSSQLSERVER -Force", 20, "Start-Service SQLSERVERAGENT", 40],
        "Running Running Running",
        "",
    ),
    (["Restart-Service MSSQLSERVER -Force", 60], "Running Running Running", ""),
    (["Stop-Service SQLSERVERAGENT", "Stop-Service MSSQLSERVER", 20], "Running Stopped Stopped", ""),
    (["Stop-Service SQLSERVERAGENT", "Restart-Service MSSQLSERVER", 60], "Running Running Stopped", ""),
    (["Restart-Service SQLSERVERAGENT"], "Running Running Running", ""),
    (["Stop-Service ClusSvc"], "Stopped Running Running", ""),
    (["Stop-Service ClusSvc", 5, "Restart-Service ClusSvc"], "Running Running Running", ""),
    (["Restart-Service ClusSvc", 30], "Running Running Running", ""),
    (["Get-Service *SQL* | Stop-Service -Force", 20], "Running Stopped Stopped", ""),
    (
        ["Stop-Service NoSuch"],
        "Running Running Running",
        "Cannot find any service with service name 'NoSuch'.",
    ),
    (["Stop-Service"], "Running Running Running", "missing mandatory parameters: Name."),
    (["Get-Service No*"], "Running Running Running", ""),
]


@pytest.mark.parametrize(("steps", "states", "answer"), SERVICE_CASES)
def test_services_stop_and_start_with_those_that_depend_on_them(
    steps: list[str | int], states: str, answer: str
) -> None:
    world = build_ag_lab()
    run_until(world, 5)
    last = ""
    for step in steps:
        if isinstance(step, str):
            last = run_cmdlet(world, step, "NODE_2")
        else:
            run_until(world, world.t_s + step)
    assert run_cmdlet(world, "(Get-Service).Status", "NODE_2").split() == states.split()
    assert answer in last if answer else not last


def test_a_passive_node_lists_the_stopped_service_of_the_instance() -> None:
    world = build_fci_lab()
    run_until(world, 5)
    assert run_cmdlet(world, "(Get-Service MSSQLSERVER).Status", "NODE_2") == "Stopped"
    assert "Stopped MSSQLSERVER" in " ".join(run_cmdlet(world, "Get-Service", "NODE_2").split())
    assert run_cmdlet(world, "(Get-Service MSSQL$SQLFCI1).DisplayName", "NODE_2") == "SQL Server (SQLFCI1)"


def test_an_interface_is_up_until_the_cluster_has_removed_its_node() -> None:
    world = build_ag_lab()
    run_until(world, 5)
    states = "(Get-ClusterNetworkInterface).State"
    apply_lines(world, "power-off NODE_3")
    assert run_cmdlet(world, states, "NODE_1") == "Up\nUp\nUp"
    run_until(world, 60)
    assert run_cmdlet(world, states, "NODE_1") == "Up\nUp\nUnavailable"


def test_the_core_group_stays_on_the_node_to_which_it_moved() -> None:
    world = build_ag_lab()
    run_until(world, 5)
    owners = []
    for act in ("power-off NODE_1", "power-on NODE_1", "stop-cluster NODE_2", "start-cluster NODE_2"):
        apply_lines(world, act)
        run_until(world, world.t_s + 100)
        owners.append(split_cells(run_cmdlet(world, "Get-ClusterGroup 'Cluster Group'", "NODE_3"))[2][2])
    assert owners == ["NODE_2", "NODE_2", "NODE_1", "NODE_1"]


def test_a_group_does_not_fail_over_to_an_excluded_node() -> None:
    world = build_ag_lab()
    run_until(world, 5)
    run_cmdlet(world, "Get-ClusterResource AG1 | Set-ClusterOwnerNode -Owners NODE_1,NODE_3")
    apply_lines(world, "power-off NODE_1")
    run_until(world, 60)
    assert list_primaries(world) == []
    run_cmdlet(world, "Get-ClusterResource AG1 | Set-ClusterOwnerNode -Owners NODE_1,NODE_2,NODE_3", "NODE_2")
    run_until(world, 90)
    assert list_primaries(world) == ["NODE_2"]


def test_a_drained_node_gives_up_the_core_cluster_group() -> None:
    world = build_fci_lab(1)
    run_until(world, 5)
    owner = config.find_core_owner(world, "NODE_1")
    run_cmdlet(world, f"Suspend-ClusterNode {owner} -Drain")
    assert config.find_core_owner(world, "NODE_1") != owner
    assert config.find_core_owner(world, owner) != owner


@pytest.mark.parametrize("line", ["Get-Cluster {}", "Get-Cluster -Name {}", "Get-ClusterNode -Cluster {}"])
def test_the_name_of_a_cluster_is_checked(line: str) -> None:
    world = build_fci_lab(1)
    for name in ("CLU1", "clu1", "NODE_2", "."):
        assert "spelling" not in run_cmdlet(world, line.format(name))
    assert "Check the spelling of the cluster name" in run_cmdlet(world, line.format("CLU9"))


@pytest.mark.parametrize(
    "line",
    ["Get-ClusterNode NODE_2,NODE_3 | Suspend-ClusterNode", "Suspend-ClusterNode -Name NODE_2,NODE_3",
     "Suspend-ClusterNode NODE_2, NODE_3"],
)  # fmt: skip
def test_a_cmdlet_acts_on_every_object_of_a_list_or_pipeline(line: str) -> None:
    world = build_ag_lab()
    run_until(world, 5)
    output = run_cmdlet(world, line)
    assert "NODE_2" in output
    assert "NODE_3" in output
    assert [world.nodes[f"NODE_{number}"].paused for number in (1, 2, 3)] == [False, True, True]


@pytest.mark.parametrize("line", ["Start-ClusterGroup AG1", "Move-ClusterGroup AG1 -Node NODE_1"])
def test_a_group_that_is_there_already_is_returned(line: str) -> None:
    world = build_ag_lab()
    run_until(world, 5)
    assert split_cells(run_cmdlet(world, line))[2:] == [["AG1", "NODE_1", "Online"]]


@pytest.mark.parametrize(
    ("input_line", "port", "succeeded_text"),
    [
        ("note nothing", 5022, "True"),
        ("note nothing", 1433, "True"),
        ("note nothing", 3389, "False"),
        ("close-firewall NODE_2 5022", 5022, "False"),
        ("disable-tcp NODE_2", 1433, "False"),
        ("sql NODE_2 ALTER ENDPOINT Hadr_endpoint STATE = STOPPED", 5022, "False"),
    ],
)
def test_a_port_is_open_only_if_something_listens_behind_the_firewall(
    input_line: str, port: int, succeeded_text: str
) -> None:
    world = build_ag_lab()
    run_until(world, 5)
    apply_lines(world, input_line)
    apply_lines(world, "restart-service NODE_2" if input_line.startswith("disable") else "note waiting")
    run_until(world, 90)
    assert f"TcpTestSucceeded : {succeeded_text}" in run_cmdlet(
        world, f"Test-NetConnection NODE_2 -Port {port}"
    )


def test_a_port_beyond_the_range_is_refused() -> None:
    assert "greater than the maximum allowed range" in run_cmdlet(
        build_ag_lab(), "Test-NetConnection NODE_2 -Port 99999"
    )


WHAT_IF = 'What if: Performing the operation "{}" on target "{}".'
PARAMETER_CASES = [
    ("Stop-ClusterNode NODE_3 -WhatIf", WHAT_IF.format("Stop-ClusterNode", "NODE_3")),
    ("Remove-ClusterNode node_2 -Force -wi", WHAT_IF.format("Remove-ClusterNode", "NODE_2")),
    ("Suspend-ClusterNode -Drain -WhatIf", WHAT_IF.format("Suspend-ClusterNode", "NODE_1")),
    (
        "Stop-Service MSSQLSERVER -WhatIf",
        WHAT_IF.format("Stop-Service", "SQL Server (MSSQLSERVER) (MSSQLSERVER)"),
    ),
    ("Stop-ClusterNode NODE_9 -WhatIf", "The cluster node 'NODE_9' was not found."),
    ("Stop-ClusterNode NODE_3 -Confirm", "-Confirm of Stop-ClusterNode is not simulated."),
    ("Move-ClusterGroup AG1 -WhatIf", "A parameter cannot be found that matches parameter name 'WhatIf'."),
    (
        "Stop-ClusterGroup AG1 -Confirm:$false",
        "A parameter cannot be found that matches parameter name 'Confirm'.",
    ),
    ("Start-ClusterNode NODE_2 -cq", "A parameter cannot be found that matches parameter name 'cq'."),
    ("Stop-ClusterGroup AG1 -Wait 30", "-Wait of Stop-ClusterGroup is not simulated."),
    ("Stop-ClusterGroup AG1 -IgnoreLocked", "-IgnoreLocked of Stop-ClusterGroup is not simulated."),
    ("Get-ClusterNode -Verbose", "-Verbose of Get-ClusterNode is not simulated."),
    ("Set-ClusterQuorum -Force", "A parameter cannot be found that matches parameter name 'Force'."),
]


@pytest.mark.parametrize(("line", "answer"), PARAMETER_CASES)
def test_unsupported_parameters_are_refused_and_whatif_changes_nothing(line: str, answer: str) -> None:
    """None of these lines changes anything. [DOC: about parameters]"""
    world = build_ag_lab()
    before = dict(world.nodes), dict(world.replicas)
    assert answer in run_cmdlet(world, line)
    assert (dict(world.nodes), dict(world.replicas)) == before


SELECTIONS = [
    ("Get-ClusterNode *_2", ["NODE_2"]),
    ("Get-ClusterNode x*", []),
    ("Get-ClusterGroup a*", ["AG1", "Available Storage"]),
    ("Get-ClusterResource *AGL1*", ["AG1_AGL1 address", "AG1_AGL1"]),
    ("Get-ClusterNode NODE_2 | Get-ClusterGroup", []),
    ("Get-ClusterNode NODE_1 | Get-ClusterGroup AG*", ["AG1"]),
    ("Get-ClusterNode NODE_3 | Get-ClusterResource", []),
    ("Stop-ClusterGroup AG1 -Wait 0", ["AG1"]),
]


@pytest.mark.parametrize(("line", "names"), SELECTIONS)
def test_names_select_by_wildcard_and_by_node(line: str, names: list[str]) -> None:
    """Check documented behavior: [DOC: about pipelines]."""
    assert run_cmdlet(build_ag_lab(), f"{line} | Select-Object -ExpandProperty Name").split("\n") == (
        names or [""]
    )


def test_the_last_node_with_quorum_is_not_stopped() -> None:
    """Check documented behavior: [DOC: Stop-ClusterNode]."""
    world = build_ag_lab()
    output = run_cmdlet(world, "Get-ClusterNode | Stop-ClusterNode", "NODE_3")
    assert "The cluster would lose quorum without 'NODE_3'." in output
    assert [world.nodes[name].service for name in world.nodes] == ["stopped", "stopped", "running"]
    run_cmdlet(world, "net stop clussvc", "NODE_3")
    assert world.nodes["NODE_3"].service == "stopped"


def test_a_moved_group_keeps_its_state_and_avoids_paused_nodes() -> None:
    """Check documented behavior: [DOC: MoveClusterGroup]."""
    world = build_fci_lab()
    run_cmdlet(world, "Stop-ClusterGroup SQLFCI1")
    assert split_cells(run_cmdlet(world, "Move-ClusterGroup SQLFCI1 -Node NODE_2"))[2] == [
        "SQLFCI1",
        "NODE_2",
        "Offline",
    ]
    run_until(world, 60)
    assert get_role(world, "SQLFCI1").state.value == "Offline"
    run_cmdlet(world, "Start-ClusterResource 'SQL Server (SQLFCI1)'")
    run_until(world, 120)
    assert (get_role(world, "SQLFCI1").owner, get_role(world, "SQLFCI1").state.value) == ("NODE_2", "Online")
    run_cmdlet(world, "Suspend-ClusterNode NODE_1")
    assert "NODE_1 is paused" in run_cmdlet(world, "Move-ClusterGroup SQLFCI1 -Node NODE_1")
    assert "Not simulated" in run_cmdlet(world, "Stop-ClusterResource 'SQL Server Agent (SQLFCI1)'")
    assert get_role(world, "SQLFCI1").state.value == "Online"


def test_a_node_is_drained_to_the_named_target() -> None:
    world = build_ag_lab()
    run_until(world, 5)
    run_cmdlet(world, "Suspend-ClusterNode NODE_1 -Drain -Target NODE_2")
    run_until(world, 40)
    assert list_primaries(world) == ["NODE_2"]


@pytest.mark.parametrize(("drain", "owner"), [("", "NODE_1"), (" -Drain", "NODE_2")])
def test_only_draining_moves_the_core_group(drain: str, owner: str) -> None:
    world = build_ag_lab()
    run_until(world, 5)
    assert "NODE_1" in run_cmdlet(world, "Get-ClusterGroup 'Cluster Group'")
    run_cmdlet(world, "Suspend-ClusterNode NODE_1" + drain)
    run_until(world, 40)
    assert owner in run_cmdlet(world, "Get-ClusterGroup 'Cluster Group'")


def test_an_evicted_node_that_is_down_owns_nothing_anymore() -> None:
    world = build_fci_lab()
    apply_lines(world, "power-off NODE_2")
    run_until(world, 30)
    run_cmdlet(world, "Remove-ClusterNode NODE_2 -Force")
    assert "{NODE_1}" in run_cmdlet(
        world, "Get-ClusterResource 'SQL Server (SQLFCI1)' | Get-ClusterOwnerNode"
    )
    assert "NODE_2" not in dict(config.find_current_config(world, "CLU1").weights)


@pytest.mark.parametrize("line", ["Start-ClusterNode NODE_2", "Stop-ClusterNode NODE_2"])
@pytest.mark.parametrize("fault", ["power-off NODE_2", "cut NODE_1 NODE_2"])
def test_a_node_that_does_not_answer_is_an_error(fault: str, line: str) -> None:
    world = build_ag_lab()
    apply_lines(world, fault)
    run_until(world, 5)
    assert "The RPC server is unavailable" in run_cmdlet(world, line)


def test_an_address_of_another_subnet_stays_offline() -> None:
    text = (SCENARIOS / "ag-listener-subnets.toml").read_text(encoding="utf-8")
    world = build_world(load_scenario(text, "subnets"), 1)
    run_until(world, 5)
    run_cmdlet(world, "Stop-ClusterResource AG1_10.0.2.50")
    assert run_cmdlet(world, "(Get-ClusterGroup AG1).State") == "Online", (
        "the network name has its other address"
    )
    run_cmdlet(world, "Stop-ClusterResource AG1_10.0.1.50")
    assert run_cmdlet(world, "(Get-ClusterGroup AG1).State") == "Offline"
    assert "NODE_1 has no network for the resource AG1_10.0.2.50" in run_cmdlet(
        world, "Start-ClusterResource AG1_10.0.2.50"
    )
    assert "Online" in run_cmdlet(world, "Start-ClusterResource AG1_10.0.1.50")
    assert run_cmdlet(world, "(Get-ClusterGroup AG1).State") == "PartialOnline"
    output = run_cmdlet(world, "Get-ClusterResource AG1_10.* | Get-ClusterParameter Address")
    assert [row[2] for row in split_cells(output)[2:]] == ["10.0.1.50", "10.0.2.50"]
