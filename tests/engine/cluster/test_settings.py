"""Changes of a cluster's witness, thresholds and properties at the prompt."""

from __future__ import annotations

import pytest

from engine.cluster import config
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.world_builder import build_world
from engine.model import World
from tests.engine.availability.worlds import SCENARIOS, build_ag_lab
from tests.engine.cluster.test_powershell import run_cmdlet, split_cells
from tests.engine.cluster.worlds import apply_lines, build_fci_lab, build_pair, run_until


def test_a_new_witness_replaces_a_lost_one() -> None:
    world = build_fci_lab()
    assert config.find_current_config(world, "CLU1").witness_counts
    apply_lines(world, "fail-witness CLU1")
    run_until(world, 30)
    assert not config.find_current_config(world, "CLU1").witness_counts
    assert len(config.find_current_config(world, "CLU1").counted) == 3
    assert "disk 'Cluster Disk 9' does not exist" in run_cmdlet(
        world, "Set-ClusterQuorum -DiskWitness 'Cluster Disk 9'"
    )
    apply_lines(world, "add-drive SQLFCI1 S")
    text = run_cmdlet(world, "Set-ClusterQuorum -DiskWitness 'cluster disk 3'")
    assert split_cells(text)[2] == ["CLU1", "Cluster", "Disk", "3", "NodeAndDiskMajority"]
    moved = run_cmdlet(world, "Move-ClusterResource 'Cluster Disk 3' -Group SQLFCI1")
    assert "can only be listed" in moved, "the witness has left Available Storage"
    assert config.find_current_config(world, "CLU1").witness_counts
    assert len(config.find_current_config(world, "CLU1").counted) == 4
    run_cmdlet(world, "Set-ClusterQuorum -NoWitness")
    assert config.find_current_config(world, "CLU1").witness is None


def test_an_unreachable_share_is_refused_as_witness() -> None:
    world = build_ag_lab()
    apply_lines(world, "power-off FSW")
    for share in (r"\\FSW\Quorum", r"\\NOWHERE\Quorum"):
        assert "is not available" in run_cmdlet(world, f"Set-ClusterQuorum -FileShareWitness {share}")
    refused = run_cmdlet(world, "Set-ClusterQuorum -CloudWitness -AccountName a -AccessKey b")
    assert "NamedParameterNotFound" in refused, "cloud witnesses came with Windows Server 2016"
    apply_lines(world, "power-on FSW")
    run_cmdlet(world, r"Set-ClusterQuorum -FileShareWitness \\FSW\Other")
    current_config = config.find_current_config(world, "CLU1")
    assert current_config.witness is not None
    assert current_config.witness.name == "FSW"


def build_2016_lab() -> World:
    text = (SCENARIOS / "fci-lab.toml").read_text(encoding="utf-8")
    text = text.replace('name = "CLU1"', 'name = "CLU1"\nwindows = "2016"')
    return build_world(load_scenario(text, "fci-lab"), 1)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (r"Set-ClusterQuorum -FileShareWitness \\NODE_2\Quorum", "cannot be hosted by this cluster"),
        ("Set-ClusterQuorum -DiskWitness 'Cluster Disk 1'", "Cluster Disk 1 is a resource of SQLFCI1"),
        (r"Set-ClusterQuorum -NoWitness -DiskWitness 'Cluster Disk 9'", "AmbiguousParameterSet"),
        ("Set-ClusterQuorum -CloudWitness -AccountName a", "AccountName AccessKey"),
        ("Set-ClusterQuorum -CloudWitness -AccountName a -AccessKey k==", "Cloud Witness"),
        ("Set-ClusterQuorum -DiskOnly 'Cluster Disk 9'", "-DiskOnly of Set-ClusterQuorum is not simulated"),
    ],
)
def test_invalid_witnesses_are_refused(line: str, answer: str) -> None:
    world = build_2016_lab()
    before = config.find_current_config(world, "CLU1").witness
    assert answer in run_cmdlet(world, line.replace("\\\\", "\\"))
    assert (config.find_current_config(world, "CLU1").witness == before) is (answer != "Cloud Witness")


PROPERTY_VALUES = [
    ("fci", "FailureConditionLevel 0", ""),
    ("fci", "FailureConditionLevel 6", "parameter is incorrect"),
    ("fci", "HealthCheckTimeout 5000", "parameter is incorrect"),
    ("fci", "VerboseLogging 1", "is not simulated"),
    ("ag", "FailureConditionLevel 0", "parameter is incorrect"),
    ("ag", "HealthCheckTimeout 14999", "parameter is incorrect"),
    ("ag", "LeaseTimeout 0", "parameter is incorrect"),
    ("ag", "LeaseTimeout 40000", ""),
    ("ag", "LeaseTime 40000", "Parameter 'LeaseTime' does not exist on the cluster object 'AG1'"),
    ("listener", "RegisterAllProvidersIP 7", "is not simulated"),
    ("listener", "HostRecordTTL 300", "WARNING"),
]
RESOURCE_ARGUMENTS = {"fci": "'SQL Server (SQLFCI1)'", "ag": "AG1", "listener": "AG1_AGL1"}


@pytest.mark.parametrize(("kind", "change", "answer"), PROPERTY_VALUES)
def test_private_properties_accept_only_valid_values(kind: str, change: str, answer: str) -> None:
    world = build_fci_lab() if kind == "fci" else build_ag_lab()
    before = world.nodes["NODE_1"].config, world.instances
    output = run_cmdlet(
        world, f"Get-ClusterResource {RESOURCE_ARGUMENTS[kind]} | Set-ClusterParameter {change}"
    )
    assert output == answer or (answer and answer in output)
    changed = (world.nodes["NODE_1"].config, world.instances) != before
    assert changed is (answer in ("", "WARNING")) or kind == "fci"
    missing = run_cmdlet(
        world, f"Get-ClusterResource {RESOURCE_ARGUMENTS[kind]} | Get-ClusterParameter Nonsense"
    )
    assert "'nonsense' does not exist on the cluster object" in missing


def test_a_higher_threshold_keeps_a_briefly_silent_node() -> None:
    for threshold, left in ((5, True), (20, False)):
        world = build_fci_lab()
        assert run_cmdlet(world, f"(Get-Cluster).SameSubnetThreshold = {threshold}") == ""
        assert run_cmdlet(world, "(Get-Cluster).SameSubnetThreshold") == str(threshold)
        run_until(world, 10)
        apply_lines(world, "pull-cable NODE_4")
        run_until(world, 22)
        assert (world.nodes["NODE_4"].partition == 0) is left
    assert "between 3 and 120" in run_cmdlet(world, "(Get-Cluster).CrossSubnetThreshold = 2")
    assert "not simulated" in run_cmdlet(world, "(Get-Cluster).RouteHistoryLength = 20")


@pytest.mark.parametrize("setting", ["-NoWitness", "-DiskWitness 'Cluster Disk 3'", ""])
def test_a_failed_witness_can_be_repaired_after_it_was_replaced(setting: str) -> None:
    world = build_fci_lab()
    apply_lines(world, "fail-witness CLU1", "add-drive SQLFCI1 S")
    if setting:
        run_cmdlet(world, f"Set-ClusterQuorum {setting}")
    apply_lines(world, "revert-all")
    assert not any(store.failed for store in world.clusters["CLU1"].stores)


def test_the_vote_of_the_node_with_the_lower_priority_is_removed_first() -> None:
    world = build_pair("none", "2016")
    run_until(world, 5)
    assert run_cmdlet(world, "(Get-Cluster).LowerQuorumPriorityNodeID = 1", "N1") == ""
    assert run_cmdlet(world, "(Get-Cluster).LowerQuorumPriorityNodeID", "N2") == "1"
    assert config.find_current_config(world, "CLU1").counted == ("N2",)
    assert "no node with the ID 7" in run_cmdlet(world, "(Get-Cluster).LowerQuorumPriorityNodeID = 7", "N1")
    run_cmdlet(world, "(Get-Cluster).DynamicQuorum = 0", "N1")
    assert config.find_current_config(world, "CLU1").counted == ("N1", "N2")


RESTART_CASES = [
    # properties of the SQL Server resource and the group, number of failures, owner and state of the role
    # afterwards
    ((), 1, "NODE_1 Online"),
    ((), 2, "NODE_2 Online"),
    (("RestartThreshold = 3",), 3, "NODE_1 Online"),
    (("RestartThreshold = 0",), 1, "NODE_2 Online"),
    (("RestartAction = 0",), 1, "NODE_1 Failed"),
    (("RestartAction = 1",), 2, "NODE_1 Failed"),
    (("RestartPeriod = 1000",), 3, "NODE_1 Online"),
    (("RestartThreshold = 0", "FailoverThreshold = 1"), 2, "NODE_2 Failed"),
    (("RestartThreshold = 0", "FailoverThreshold = 0"), 1, "NODE_1 Failed"),
    (("RestartThreshold = 0", "FailoverThreshold = 1", "FailoverPeriod = 0"), 2, "NODE_1 Online"),
]


@pytest.mark.parametrize(("properties", "failures", "state"), RESTART_CASES)
def test_restarts_and_failovers_follow_their_properties(
    properties: tuple[str, ...], failures: int, state: str
) -> None:
    world = build_fci_lab()
    run_until(world, 5)
    for line in properties:
        target = "Group SQLFCI1" if line.startswith("Failover") else "Resource 'SQL Server (SQLFCI1)'"
        assert run_cmdlet(world, f"(Get-Cluster{target}).{line}") == ""
        assert run_cmdlet(world, f"(Get-Cluster{target}).{line.split()[0]}") == line.split()[-1]
    for _ in range(failures):
        apply_lines(world, "fail-resource SQL Server (SQLFCI1)")
        run_until(world, world.t_s + 60)
    assert split_cells(run_cmdlet(world, "Get-ClusterGroup SQLFCI1"))[2] == ["SQLFCI1", *state.split()]


@pytest.mark.parametrize(("line", "answer"), [
    ("(Get-ClusterGroup SQLFCI1).FailoverPeriod = 1194", "The parameter is incorrect"),
    ("(Get-ClusterResource 'SQL Server (SQLFCI1)').RestartAction = 3", "The parameter is incorrect"),
    ("(Get-ClusterResource 'Cluster Name').RestartThreshold = 3", "is not simulated"),
    ("(Get-ClusterNode NODE_1).NodeWeight = 2", "The parameter is incorrect"),
    ("(Get-ClusterResource 'SQL Server (SQLFCI1)').PendingTimeout = 3", "is not simulated"),
    ("(Get-ClusterGroup Nothing).FailoverPeriod = 3", "was not found"),
    ("(Get-Cluster).QuarantineThreshold = 3", "is not simulated"),
])  # fmt: skip
def test_values_outside_the_limits_of_properties_are_refused(line: str, answer: str) -> None:
    assert answer in run_cmdlet(build_fci_lab(), line)


@pytest.mark.parametrize(("fault", "states"), [
    ("fail-volume SQLFCI1 D", "Failed Online Online Offline Offline"),
    ("fail-volume SQLFCI1 L", "Failed Online Online Offline Offline"),
    ("set-owners SQL Network Name (SQLFCI1) NODE_2", "Online Online Online Online Online"),
])  # fmt: skip
def test_only_the_cause_of_a_failed_role_is_failed(fault: str, states: str) -> None:
    world = build_fci_lab()
    run_until(world, 5)
    apply_lines(world, fault)
    run_until(world, 90)
    rows = [
        row
        for row in split_cells(run_cmdlet(world, "Get-ClusterResource | ft State, OwnerGroup"))
        if "SQLFCI1" in row
    ]
    assert [row[0] for row in rows] == states.split()


def test_a_role_without_a_living_owner_belongs_to_a_member() -> None:
    world = build_fci_lab()
    run_until(world, 5)
    apply_lines(world, "power-off NODE_3", "power-off NODE_4")
    run_until(world, 60)
    assert split_cells(run_cmdlet(world, "Get-ClusterGroup SQLFCI2"))[2] == ["SQLFCI2", "NODE_1", "Failed"]
    apply_lines(world, "power-on NODE_4")
    run_until(world, 240)
    assert split_cells(run_cmdlet(world, "Get-ClusterGroup SQLFCI2"))[2] == ["SQLFCI2", "NODE_4", "Online"]


def test_a_failover_after_an_unsuccessful_restart_counts_towards_the_limit() -> None:
    world = build_ag_lab()
    run_until(world, 5)
    apply_lines(world, "slow-cpu NODE_1 factor=200")
    run_until(world, 60)
    assert split_cells(run_cmdlet(world, "Get-ClusterGroup AG1", "NODE_2"))[2] == ["AG1", "NODE_2", "Online"]
    apply_lines(world, "slow-cpu NODE_1 factor=1")
    run_until(world, 120)
    for server in ("NODE_2", "NODE_1"):
        apply_lines(world, f"stop-service {server}")
        run_until(world, world.t_s + 60)
        apply_lines(world, f"start-service {server}")
        run_until(world, world.t_s + 60)
    assert split_cells(run_cmdlet(world, "Get-ClusterGroup AG1", "NODE_2"))[2] == ["AG1", "NODE_1", "Failed"]
