"""Random faults on labs and pairs of nodes: `python -m tests.engine.cluster.random_runs N FIRST LAB`.

A run has no split brain, loses no acknowledged row without a forced command, and recovers. It counts rows
from the servers' answers, not from the engine's record of losses.
"""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from engine import tsql
from engine.cluster import config
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.world_builder import build_world
from engine.inputs import InputError
from engine.model import World
from engine.protocol import serving
from tests.engine.availability.worlds import SCENARIOS, apply_lines, build_ag_lab, run_until
from tests.engine.cluster.quorum_oracle import QuorumOracle, SettledFacts
from tests.engine.cluster.random_actions import (
    ACCOUNT,
    BACKUP_STATEMENTS,
    CLIENT_INPUTS,
    CMDLETS,
    ENDPOINT_STATEMENTS,
    GROUP_STATEMENTS,
    OTHER_ACCOUNT,
    OUTAGES,
    SESSION_STATEMENTS,
)
from tests.engine.cluster.worlds import SITES, build_fci_lab, build_pair, build_sites
from tests.events import read_field

VERSIONS = ("2008 R2", "2012", "2012 R2", "2016", "2019", "2022")
SETTLING_TIME_S = 160.0
RECOVERY_TIME_S = 600.0
LONG_RECOVERY_TIME_S = 3_600
"""Limit of a crash recovery after a large transaction, and of the transfer of a full log."""


def build_mirroring_lab(seed: int) -> World:
    return build_world(load_scenario((SCENARIOS / "lab.toml").read_text(encoding="utf-8"), "lab"), seed)


def _create_pair_builder(kind: str) -> Callable[[int], World]:
    return lambda seed: build_pair(kind, VERSIONS[seed % len(VERSIONS)], seed)


LABS: dict[str, Callable[[int], World]] = {
    "lab": build_mirroring_lab,
    "ag-lab": build_ag_lab,
    "fci-lab": build_fci_lab,
    "pair-disk": _create_pair_builder("disk"),
    "pair-share": _create_pair_builder("file share"),
    "pair-cloud": _create_pair_builder("cloud"),
    "pair-none": _create_pair_builder("none"),
    "sites": lambda seed: build_sites(VERSIONS[seed % len(VERSIONS)], seed),
}
WITNESS_KINDS = {"Physical Disk": "disk", "File Share Witness": "file share", "Cloud Witness": "cloud"}


@dataclass
class RandomRun:
    """Random run, and the rows that its servers have acknowledged."""

    lab: str
    seed: int
    settles_faults: bool
    """True if each fault settles before the next one, and the oracle checks each state."""
    world: World = field(init=False)
    random_source: random.Random = field(init=False)
    oracle: QuorumOracle | None = None
    acknowledged_rows: set[int] = field(default_factory=set)
    sent_count: int = 0
    data_loss_accepted: bool = False
    witness_failed: bool = False
    problems: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world, self.random_source = LABS[self.lab](self.seed), random.Random(self.seed)
        clusters = list(self.world.clusters.values())
        if clusters and self.settles_faults:
            cluster, witness = clusters[0], config.find_current_config(self.world, clusters[0].name).witness
            kind = WITNESS_KINDS[witness.kind] if witness is not None else "none"
            self.oracle = QuorumOracle(cluster.nodes, cluster.windows, kind)

    @property
    def endpoint(self) -> str:
        return "Hadr_endpoint" if self.world.nodes else "Mirroring"

    # --- faults and inputs --------------------------------------------------------------------------------

    @property
    def nodes(self) -> list[str]:
        return list(self.world.nodes) or list(self.world.computers)

    def list_faults(self) -> list[str]:
        """Return every fault and repair; the world may refuse them."""
        chance = self.random_source
        node, second_node = chance.sample(self.nodes, 2) if len(self.nodes) > 1 else (self.nodes[0], "")
        server = chance.choice(list(self.world.instances))
        inputs = [
            f"power-off {node}",
            f"power-on {node}",
            f"power-on {node}",
            f"shutdown-server {node}",
            f"hang {server}",
            f"unhang {server}",
        ]
        if not self.settles_faults or len(self.world.nodes) in (0, 2):
            inputs += [f"cut {node} {second_node}", f"mend {node} {second_node}"]
        inputs += [f"pull-cable {node}", f"plug-cable {node}"]
        for cluster in self.world.clusters:
            inputs += [f"fail-witness {cluster}", f"mend-witness {cluster}", f"stop-cluster {node}",
                      f"start-cluster {node}"]  # fmt: skip
            inputs += [
                f"move-role {role.name} {node}"
                for role in config.find_current_config(self.world, cluster).roles
            ]
        if "FSW" in self.world.computers:
            inputs += ["power-off FSW", "power-on FSW"]
        inputs += [f"fail-disk {server} Sales", f"mend-disk {server} Sales",
                  f"slow-disk {server} data factor={chance.choice((1, 10))}"]  # fmt: skip
        inputs += self._list_server_faults(server, node)
        if second_node and not self.settles_faults:
            inputs += self._list_network_and_cluster_faults(node, second_node)
        statements = GROUP_STATEMENTS if self.world.groups and self.world.nodes else SESSION_STATEMENTS
        statement = chance.choice((*statements, *ENDPOINT_STATEMENTS, *BACKUP_STATEMENTS))
        target = chance.choice(list(self.world.instances))
        inputs += [f"sql {server} {statement.format(target=target, endpoint=self.endpoint)}"] * 3
        client, version = chance.choice(list(self.world.clients)), self.world.instances[server].version
        client_input = chance.choice(CLIENT_INPUTS)
        inputs += [client_input.format(client=client, server=server, version=version)] * 2
        return inputs

    def _list_server_faults(self, server: str, node: str) -> list[str]:
        """Return faults and repairs of a server that do not affect the quorum of a cluster."""
        chance = self.random_source
        drive = chance.choice("DL")
        inputs = [
            f"slow-cpu {node} factor={chance.choice((1, 4))}",
            f"stop-agent {server}",
            f"start-agent {server}",
            f"workload Sales {chance.choice(('none', 'Workload1', 'Workload2'))}",
            "open-transaction Sales",
            "end-transaction Sales",
            "change-schema Sales",
            f"corrupt-page {server} Sales page=77",
            f"mend-page {server} Sales",
            f"fail-volume {server} {drive}",
            f"mend-volume {server} {drive}",
            f"expire-certificate {server}",
            f"disable-tcp {server}",
            f"enable-tcp {server}",
            f"close-firewall {node} 5022",
            f"open-firewall {node} 5022",
            "bulk-load Sales rows=100000",
            f"set-service-account {server} {OTHER_ACCOUNT}",
            f"cancel {server}",
        ]
        if not self.world.instances[server].clustered:
            inputs += [f"stop-service {server}", f"start-service {server}", f"restart-service {server}"]
        return inputs

    def _list_network_and_cluster_faults(self, node: str, other: str) -> list[str]:
        """Return faults and maintenance actions whose effect on membership the oracle does not derive."""
        chance = self.random_source
        inputs = [
            f"black-hole {node} {other}",
            f"cut-one-way {node} {other}",
            f"flap-link {node} {other} period_s={chance.choice((1, 4, 20))}",
            f"reset-link {node} {other}",
            f"degrade {node} {other} rtt_ms={chance.choice((1, 200, 6000))}",
            f"degrade {node} {other} loss={chance.choice((0, 0.2, 0.5, 0.9))}",
            f"close-firewall {node} 3343",
            "revert-all",
        ]
        if "FSW" in self.world.computers:
            ends = chance.choice((f"{node} FSW", f"FSW {node}"))
            inputs += [f"{fault} {ends}" for fault in ("cut", "mend", "black-hole", "cut-one-way")]
        if self.lab == "sites":
            fault = chance.choice(("cut", "black-hole", "mend"))
            inputs += [";".join(f"{fault} {near} {far}" for near in SITES[0] for far in SITES[1])] * 3
        for cluster in self.world.clusters:
            current_config = config.find_current_config(self.world, cluster)
            inputs += [
                f"set-weight {node} {chance.choice((0, 1))}",
                f"prevent-quorum {node}",
                f"patch {node}",
                f"evict {node}",
            ]
            inputs += [
                f"{verb} {role.name} {node}"
                for role in current_config.roles
                if role.kind == "instance"
                for verb in ("add-node", "remove-node")
            ]
            for role in current_config.roles:
                inputs += [f"stop-role {role.name}", f"start-role {role.name}"]
                inputs += [f"fail-resource {resource.name}" for resource in role.resources]
            inputs += [f"ps {chance.choice(self.nodes)} {cmdlet.format(node=node)}" for cmdlet in CMDLETS]
        return inputs

    def apply_fault(self, lines: str) -> None:
        """Apply a line, or several lines of one fault at the same time."""
        for line in lines.split(";") if self.lab == "sites" and not lines.startswith("sql") else [lines]:
            self._apply_line(line)

    def _apply_line(self, line: str) -> None:
        with contextlib.suppress(InputError):
            apply_lines(self.world, line)
            if self.oracle is not None and line.startswith(("stop-cluster", "shutdown-server")):
                self.oracle.stop_member(line.split()[1])
            self.lines.append(f"{self.world.t_s:.2f} {line}")

    def force_quorum(self) -> None:
        """Force quorum, and record that data loss is accepted."""
        self.data_loss_accepted = True
        for name in self.nodes:
            waiting = self.world.nodes.get(name)
            if waiting is not None and not any(node.partition for node in self.world.nodes.values()):
                self.apply_fault(f"force-quorum {name}")
                self.run_and_check(20)
                self.apply_fault(f"ps {name} Resume-ClusterNode {name}")
        for server in self.world.instances:
            if self.world.nodes:
                self.apply_fault(f"sql {server} ALTER AVAILABILITY GROUP AG1 FORCE_FAILOVER_ALLOW_DATA_LOSS")
            else:
                self.apply_fault(
                    f"sql {server} ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"
                )
            self.run_and_check(20)
            if self.list_serving_servers():
                break

    def swap_servers(self) -> None:
        """Lose the serving server, then another one; insert a row in between, and let both return in turn.

        A copy that missed this row must not serve afterwards. Half of the runs lose the target of a failover.
        """
        chance, led = self.random_source, self.list_serving_servers()
        other_servers = sorted({key[0] for key in self.world.copies if key[1] == "Sales"} - set(led))
        if not led or not other_servers:
            return
        self.insert_rows()
        self.run_and_check(1)
        servers = led[0], chance.choice(other_servers)
        first_outage, second_outage, last_outage = (chance.choice(OUTAGES) for _ in range(3))
        steps = [(servers[0], first_outage[0]), (servers[1], second_outage[0]), (servers[0], first_outage[1]),
                 (servers[0], last_outage[0]), (servers[1], second_outage[1])]  # fmt: skip
        names = {"endpoint": "Hadr_endpoint", "data": "HADR"} if self.world.groups else {}
        if chance.random() < 0.5:  # the target of a failover statement is lost at once
            steps = steps[1:2] + steps[3:]
            statement = (GROUP_STATEMENTS if names else SESSION_STATEMENTS)[0]
            self.apply_fault(f"sql {servers[1] if names else servers[0]} {statement}")
            self.run_and_check(chance.choice((0.1, 0.5, 3)))
        names = names or {"endpoint": "Mirroring", "data": "PARTNER"}
        for server, line in steps:
            self.apply_fault(line.format(server=server, node=self.world.instances[server].computer, **names))
            self.run_and_check(chance.choice((0.5, 3, 12, 30, 90)))
            self.insert_rows()
            self.run_and_check(chance.choice((0.5, 12, 30)))

    def insert_rows(self) -> None:
        """Insert a unique row on each server; secondaries and stale principals refuse it.

        The window stays in master, in which statements on availability groups run (35208).
        """
        self.sent_count += 1
        for server in sorted({key[0] for key in self.world.copies if key[1] == "Sales"}):
            tsql.submit_text(self.world, server, f"INSERT Sales.dbo.marker VALUES ({self.sent_count})")

    # --- invariants ---------------------------------------------------------------------------------------

    def list_serving_servers(self) -> list[str]:
        return sorted(
            {key[0] for key in self.world.copies if key[1] == "Sales" and serving.is_serving(self.world, key)}
        )

    def run_and_check(self, seconds: float) -> None:
        """Run for *seconds*, collect answers, and check for a split brain every two seconds."""
        end_s = self.world.t_s + seconds
        while self.world.t_s < end_s - 1e-9:
            for event in run_until(self.world, min(end_s, self.world.t_s + 2)):
                if event.kind == "sql_done" and "INSERT Sales.dbo.marker" in read_field(event, "batch"):
                    messages = read_field(event, "messages")
                    answered = any("(1 row affected)" in message["text"] for message in messages)
                    answered = answered and all(message["severity"] <= 10 for message in messages)
                    if answered:
                        self.acknowledged_rows.add(
                            int(read_field(event, "batch").rpartition("(")[2].rstrip(") "))
                        )
            partitions = {node.partition for node in self.world.nodes.values() if node.partition}
            if not self.data_loss_accepted and (len(partitions) > 1 or len(self.list_serving_servers()) > 1):
                self.problems.append(
                    f"split brain at {self.world.t_s}: {self.list_serving_servers()} {partitions}"
                )

    def ask_oracle(self) -> None:
        if self.oracle is None or self.data_loss_accepted:
            return
        world = self.world
        running = [name for name, node in world.nodes.items() if world.computers[name].powered
                   and node.service == "running"]  # fmt: skip
        reach = {name for name in running if self._is_reachable(name)}
        partitioned_nodes = [name for name in world.nodes if world.nodes[name].partition]
        counted = world.nodes[partitioned_nodes[0]].config.counted if partitioned_nodes else ()
        problem = self.oracle.find_problem(
            SettledFacts(list(self._iterate_partitions(running)), frozenset(reach)),
            partitioned_nodes,
            counted,
        )
        if problem:
            self.problems.append(f"oracle at {world.t_s}: {problem}")
            self.oracle = None

    def _iterate_partitions(self, running: list[str]) -> Iterator[frozenset[str]]:
        """Yield the groups of physically connected nodes, derived from the cable and link inputs so far."""
        plugged = [name for name in running if self.world.computers[name].nic_up]
        cut = self._is_partitioned()
        if plugged and not (cut and len(plugged) > 1):
            yield frozenset(plugged)
        for name in running:
            if name not in plugged or (cut and len(plugged) > 1):
                yield frozenset({name})

    def _is_partitioned(self) -> bool:
        cuts = [line.split()[1] for line in self.lines if line.split()[1] in ("cut", "mend")]
        return bool(cuts) and cuts[-1] == "cut" and len(self.world.nodes) == 2

    def _is_reachable(self, name: str) -> bool:
        assert self.oracle is not None
        states = [
            line.split()[1] for line in self.lines if line.split()[1] in ("fail-witness", "mend-witness")
        ]
        if self.oracle.witness == "none" or (states and states[-1] == "fail-witness"):
            return False
        if self.oracle.witness == "disk":
            return True
        share = self.oracle.witness == "cloud" or self.world.computers["FSW"].powered
        return self.world.computers[name].nic_up and share

    # --- course of a run ----------------------------------------------------------------------------------

    def play(self) -> list[str]:
        first = self.list_serving_servers()[0]
        run_until(self.world, 5)
        tsql.submit_text(self.world, first, "CREATE TABLE Sales.dbo.marker (n int)")
        self.run_and_check(5)
        self.ask_oracle()
        if not self.settles_faults and self.random_source.random() < 0.5:
            self.swap_servers()
        force_at = self.random_source.randint(2, 7) if self.random_source.random() < 0.2 else -1
        for step in range(8):
            self.insert_rows()
            self.run_and_check(0.5)
            if step == force_at:
                self.force_quorum()
            self.apply_fault(self.random_source.choice(self.list_faults()))
            self.run_and_check(
                SETTLING_TIME_S if self.settles_faults else self.random_source.choice((0.5, 3, 8, 12, 30, 90))
            )
            self.ask_oracle()
            self.insert_rows()
            self.run_and_check(1)
        self.heal()
        return self.problems

    def heal(self) -> None:
        self.apply_fault("revert-all")
        for name in self.world.computers:
            self.apply_fault(f"power-on {name}")
            self.apply_fault(f"plug-cable {name}")
            for second_node in self.world.computers:
                if name < second_node:
                    self.apply_fault(f"mend {name} {second_node}")
        for server in self.world.instances:
            self.apply_fault(f"unhang {server}")
            self.apply_fault(f"mend-disk {server} Sales")
            self.apply_fault(f"mend-page {server} Sales")
            if self.world.instances[server].service_account == OTHER_ACCOUNT:
                self.apply_fault(f"set-service-account {server} {ACCOUNT}")
            self.apply_fault(f"slow-disk {server} data factor=1")
            self.apply_fault("end-transaction Sales")
        for cluster in self.world.clusters:
            self.apply_fault(f"mend-witness {cluster}")
        self.run_and_check(150)
        for name in self.world.nodes:
            self.apply_fault(f"start-cluster {name}")
        self.run_and_check(150)
        self._add_evicted_nodes()
        for server, instance in list(self.world.instances.items()):
            self.apply_fault(f"enable-tcp {server}")
            if not instance.tcp_listening:
                self.apply_fault(f"restart-service {server}")
            if not instance.clustered:
                self.apply_fault(f"start-service {server}")
                self._restore_endpoint(server)
        self.run_and_check(60)
        for cluster in self.world.clusters:
            for name in self.world.clusters[cluster].nodes:
                self.apply_fault(f"set-weight {name} 1")
                self.apply_fault(f"ps {name} Resume-ClusterNode {name}")
                owners = ",".join(self.world.clusters[cluster].nodes)
                if "AG1" in [role.name for role in config.find_current_config(self.world, cluster).roles]:
                    self.apply_fault(
                        f"ps {name} Get-ClusterResource AG1 | Set-ClusterOwnerNode -Owners {owners}"
                    )
            for role in config.find_current_config(self.world, cluster).roles:
                self.apply_fault(f"start-role {role.name}")
        self.run_and_check(RECOVERY_TIME_S - 360)
        self._recover_databases()
        if not self.list_serving_servers() and self.data_loss_accepted:
            self.force_quorum()
            self.run_and_check(120)
        if pending := sorted(server for (server, _), state in self.world.replicas.items() if state.pending):
            self.problems.append(f"failover still pending on {pending}")
        led = self.list_serving_servers()
        if len(led) != 1:
            self.problems.append(f"not healed: {led}")
            return
        rows = self._read_rows(led[0])
        if not self.data_loss_accepted and (lost_rows := self.acknowledged_rows - rows):
            self.problems.append(
                f"acknowledged and lost: {sorted(lost_rows)} of {len(self.acknowledged_rows)}"
            )

    def _add_evicted_nodes(self) -> None:
        """Install the failover cluster instances again on nodes that were evicted."""
        evicted = [name for name in self.world.computers if name in self.world.evicted]
        removals = [(server, name) for server, instance in self.world.instances.items() if instance.clustered
                    for name in evicted if name in instance.installed and name != instance.computer]  # fmt: skip
        for verb in ("remove-node", "add-node") if removals else ():
            for server, name in removals:
                self.apply_fault(f"{verb} {server} {name}")
                self.run_and_check(330)

    def _restore_endpoint(self, server: str) -> None:
        statements = (ENDPOINT_STATEMENTS[-1], ENDPOINT_STATEMENTS[1], ENDPOINT_STATEMENTS[3])
        for statement in (*statements, "ALTER ENDPOINT {endpoint} STATE = STARTED"):
            self.apply_fault(f"sql {server}#9 {statement.format(endpoint=self.endpoint)}")
            self.run_and_check(1)

    def _recover_databases(self) -> None:
        """Undo SET OFFLINE, a suspension, a full log and SET HADR OFF.

        Recovery of a removed copy, or a loss of the node with the last synchronized copy, accepts data loss.
        """
        servers = sorted({key[0] for key in self.world.copies if key[1] == "Sales"})
        for server in servers:
            self.apply_fault(f"sql {server} ALTER DATABASE Sales SET ONLINE")
            self.apply_fault(f"sql {server}#10 BACKUP LOG Sales TO DISK = 'D:\\Tail.trn'")
            if not self.world.nodes:
                self.apply_fault(f"sql {server} ALTER DATABASE Sales SET PARTNER RESUME")
        self.run_and_check(60)
        for _ in range(LONG_RECOVERY_TIME_S // 150):
            if not any(copy.log_full or copy.recovering for copy in self.world.copies.values()):
                break
            self.run_and_check(150)
        statements = (
            "ALTER DATABASE Sales SET HADR AVAILABILITY GROUP = AG1",
            "RESTORE DATABASE Sales WITH RECOVERY",
        )
        for statement in statements if self.world.nodes else ():
            for server in servers:
                if not self.list_serving_servers():
                    self.apply_fault(f"sql {server} {statement}")
                    self.run_and_check(60)
                    self.data_loss_accepted |= statement.startswith("RESTORE") and bool(
                        self.list_serving_servers()
                    )
        if not self.list_serving_servers() and self.world.evicted:
            self.force_quorum()

    def _read_rows(self, server: str) -> set[int]:
        tsql.submit_text(self.world, f"{server}#9", "SELECT n FROM Sales.dbo.marker WITH (NOLOCK)")
        done_events = [e for e in run_until(self.world, self.world.t_s + 30) if e.kind == "sql_done"]
        grids = [
            grid["rows"]
            for event in done_events
            for grid in read_field(event, "results")
            if "SELECT n" in read_field(event, "batch")
        ]
        return {int(row[0]) for rows in grids for row in rows}


def main(labs: list[str], runs: int = 500, first: int = 0) -> int:
    """Play *runs* runs on each lab with seeds from *first*, and print the failures."""
    bad = 0
    for lab in labs:
        wrong_count = acknowledged = forced = 0
        for seed in range(first, first + runs):
            run = RandomRun(lab, seed, settles_faults=seed % 2 == 0)
            try:
                problems = run.play()
            except Exception as problem:
                problems = [f"{type(problem).__name__}: {problem}"]
            acknowledged, forced = acknowledged + len(run.acknowledged_rows), forced + run.data_loss_accepted
            if problems:
                wrong_count += 1
                print(f"{lab} seed {seed}: {problems[0]}", *run.lines, sep="\n    ", flush=True)
        print(
            f"{lab}: {runs} runs, {wrong_count} wrong; {acknowledged} rows acknowledged, {forced} forced",
            flush=True,
        )
        bad += wrong_count
    return int(bad > 0)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    sys.exit(main([word for word in sys.argv[1:] if not word.isdigit()] or list(LABS), *numbers))
