"""Reference model of cluster membership, written from the documentation of quorum without code of the engine.

It checks the engine after each fault has settled. Where the documentation leaves a choice (which half keeps
the witness, whose vote is removed), it accepts each choice and continues with the chosen one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass
class SettledFacts:
    """Physical connections after a fault has settled."""

    partitions: list[frozenset[str]]
    """Sets of connected nodes with a running cluster service."""
    nodes_with_witness: frozenset[str] = frozenset()
    """Nodes with a connection to the witness."""


@dataclass
class QuorumOracle:
    """State of the cluster according to the documentation."""

    nodes: tuple[str, ...]
    windows: str
    witness: str
    """Kind of witness: disk, file share, cloud or none."""
    members: frozenset[str] = frozenset()
    node_versions: dict[str, int] = field(default_factory=dict)
    """Version of the cluster database on each node."""
    witness_version: int = 1
    """Version of the cluster database that the witness stores."""
    votes: dict[int, tuple[frozenset[str], bool]] = field(default_factory=dict)
    """Version of the cluster database -> (nodes with a vote, whether the witness has a vote)."""

    def __post_init__(self) -> None:
        self.members = frozenset(self.nodes)
        self.node_versions = dict.fromkeys(self.nodes, 0)
        self.witness_version = 0

    def find_problem(self, facts: SettledFacts, members: Collection[str], counted: Collection[str]) -> str:
        """Return why the engine's *members* or *counted* votes are wrong; "" if the documentation allows
        them.
        """
        member_set = frozenset(members)
        allowed = self._derive_members(facts)
        if member_set not in allowed:
            return f"members {sorted(member_set)}, allowed {[sorted(allowed_set) for allowed_set in allowed]}"
        self._adopt_state(facts, member_set, frozenset(counted))
        if not member_set:
            return ""
        nodes, witness = self._count_expected_votes(facts)
        counted_nodes = frozenset(counted)
        if len(counted_nodes) != nodes or not counted_nodes <= member_set | (
            frozenset(self.nodes) if self._is_static() else member_set
        ):
            return f"counted {sorted(counted_nodes)}, expected {nodes} of {sorted(member_set)}, witness {witness}"
        return ""

    def stop_member(self, name: str) -> None:
        """Stop a member cleanly. With dynamic quorum, the cluster first removes its vote."""
        if name not in self.members or self._is_static():
            return
        left = self.members - {name}
        newest = max(self.node_versions[member] for member in self.members) + 1
        if left:  # the leaving member writes the configuration too; otherwise it could form the cluster alone
            self.node_versions.update(dict.fromkeys(self.members, newest))
            self.votes[newest] = (left, False)
        self.members = left

    def _is_static(self) -> bool:
        return self.windows == "2008 R2"

    def _count_expected_votes(self, facts: SettledFacts) -> tuple[int, bool]:
        member_count, configured = len(self.members), self.witness != "none"
        reached = bool(self.members & facts.nodes_with_witness)
        if self._is_static():
            return len(self.nodes), configured
        if self.windows == "2012":
            return (member_count, True) if configured else (1 if member_count == 2 else member_count, False)
        if configured and reached:
            return member_count, member_count % 2 == 0
        return member_count - (member_count % 2 == 0), False

    def _has_majority(self, nodes: frozenset[str], version: int, witness: bool) -> bool:
        voters, witness_votes = self.votes.get(version, self._get_initial_votes())
        return 2 * (len(nodes & voters) + (witness and witness_votes)) > len(voters) + witness_votes

    def _get_initial_votes(self) -> tuple[frozenset[str], bool]:
        everyone = frozenset(self.nodes)
        if self.witness == "none":
            return everyone, False
        return everyone, self.windows in ("2008 R2", "2012") or len(everyone) % 2 == 0

    def _derive_members(self, facts: SettledFacts) -> list[frozenset[str]]:
        if self.members:
            version = max(self.node_versions[name] for name in self.members)
            sides = [group & self.members for group in facts.partitions]
            able = [
                s for s in sides if s and self._has_majority(s, version, bool(s & facts.nodes_with_witness))
            ]
            if able:
                return [self._add_joiners(able_side, facts) for able_side in able]
        forming = [group for group in facts.partitions if self._can_form(group, facts)]
        return forming or [frozenset()]

    def _add_joiners(self, nodes: frozenset[str], facts: SettledFacts) -> frozenset[str]:
        return next(group for group in facts.partitions if nodes <= group)

    def _can_form(self, group: frozenset[str], facts: SettledFacts) -> bool:
        newest = max(self.node_versions[name] for name in group)
        reached = bool(group & facts.nodes_with_witness)
        if reached and self.witness_version > newest:
            if self.witness != "disk":
                return self._has_majority(group, newest, False)
            newest = self.witness_version
        return self._has_majority(group, newest, reached)

    def _adopt_state(
        self, facts: SettledFacts, current_members: frozenset[str], counted: frozenset[str]
    ) -> None:
        changed = current_members != self.members
        self.members = current_members
        if not current_members:
            return
        newest = max(
            [self.node_versions[name] for name in current_members]
            + ([self.witness_version] if self._reads_disk(facts, current_members) else [])
        )
        witness = self._count_expected_votes(facts)[1]
        if changed or self.votes.get(newest) != (counted, witness):
            newest += 1
        self.votes[newest] = (counted, witness)
        for name in current_members:
            self.node_versions[name] = newest
        if current_members & facts.nodes_with_witness:
            self.witness_version = max(self.witness_version, newest)

    def _reads_disk(self, facts: SettledFacts, current_members: frozenset[str]) -> bool:
        return self.witness == "disk" and bool(current_members & facts.nodes_with_witness)
