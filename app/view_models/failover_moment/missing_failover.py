"""Explanation of a missing automatic failover: its requirements, revealed one by one. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from app.words.language import mark, tr, trn
from app.words.localization import localize
from engine.availability import replicas
from engine.cluster import instances
from engine.cluster.instances import NO_GROUP_GUID
from engine.drill.running.published_comparison import GROUP, INSTANCE, MIRRORING
from engine.drill.time.history import History
from engine.inputs import InputError
from engine.model import DatabaseCopy, Failover, Role, World
from engine.protocol import loss_causes
from engine.protocol.group_policies import FailoverPrecondition, has_automatic_failover, list_preconditions

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill


class RequirementRow(Struct, frozen=True):
    """Requirement of an automatic failover, and its current state."""

    name: str
    is_met: bool
    current_state: str
    check: str
    """View or log in which a DBA can check the requirement."""


class MissingFailoverView(Struct, frozen=True):
    """Requirements of an automatic failover, to explain why none occurs.

    Only the first *revealed* rows show whether their requirement is met.
    """

    heading: str
    sentence: str
    rows: tuple[RequirementRow, ...]
    revealed: int = 0
    """Number of rows that already show whether their requirement is met."""

    @property
    def unmet_count(self) -> int:
        """Number of requirements that are not met."""
        return sum(not row.is_met for row in self.rows)

    @property
    def is_complete(self) -> bool:
        """Return whether every requirement is revealed."""
        return self.revealed >= len(self.rows)

    @property
    def spoken(self) -> str:
        """Return the text for a screen reader."""
        words = {True: tr("met"), False: tr("not met")}
        parts = [f"{row.name}: {words[row.is_met]}" for row in self.rows[: self.revealed]]
        return ". ".join((self.heading, *parts))

    def reveal(self, count: int) -> MissingFailoverView:
        """Return the view with the first *count* requirements revealed."""
        return replace(self, revealed=max(0, min(len(self.rows), count)))


NO_COPY_TEXT = mark("No mirror, secondary or other node could take over {database}.")
"""Sentence below the heading if the database has no copy that could take over."""
COPY_CHECK_VIEWS = "sys.database_mirroring, sys.availability_replicas"
ALL_MET_TEXT = mark("Every requirement is met: a failure now would cause an automatic failover.")
STATE_AT_LOSS_TEXT = mark("State when {database} was lost. Red: a requirement that was not met.")
"""Sentence below the heading while the database is down."""
CANDIDATE_TEXT = mark("Candidate: {server}.")
CURRENT_STATE_TEXT = mark("{database} is online. Red: a requirement that is not met at present.")
"""Sentence below the heading while the database is online."""


def explain_failover(history: History) -> MissingFailoverView | None:
    """Return the requirements of an automatic failover for the database that is down.

    If none is down, choose the database that was down most recently. The result is None without databases.
    """
    world = history.drill.world
    accounts = sorted(
        world.availability.values(), key=lambda availability: (availability.serving, -availability.since_tick)
    )
    if not accounts:
        return None
    account = accounts[0]
    down, database = not account.serving, account.database
    rows = (
        _list_requirements(history, database, account.since_tick)
        if down
        else list_preconditions(world, database)
    )
    beforehand = [row for row in _select_target_requirements(rows) if row.about in ("", "memory")]
    if down and all(row.holds for row in beforehand):
        # all requirements before the loss were met, so show also those that concern the detection
        # of the loss
        rows = _select_target_requirements(rows)
    else:
        rows = beforehand
    requirement_rows = tuple(
        RequirementRow(_capitalize(localize(row.name)), row.holds, localize(row.now) if row.now else "",
                       localize(row.seen_in))
        for row in rows
    )  # fmt: skip
    missing = sum(not row.is_met for row in requirement_rows)
    if not requirement_rows:
        heading = tr("No automatic failover")
        row = RequirementRow(tr("Another server or node can take over"), False, tr("none"), COPY_CHECK_VIEWS)
        return MissingFailoverView(heading, tr(NO_COPY_TEXT).format(database=database), (row,))
    if not missing:
        return MissingFailoverView(tr("Automatic failover is possible"), tr(ALL_MET_TEXT), requirement_rows)
    heading = trn(
        "No automatic failover: {n} requirement is not met",
        "No automatic failover: {n} requirements are not met",
        missing,
    ).format(n=missing)
    line = tr(STATE_AT_LOSS_TEXT if down else CURRENT_STATE_TEXT).format(database=database)
    target = next((row.target for row in rows if row.target), "")
    candidate = " " + tr(CANDIDATE_TEXT).format(server=target) if target else ""
    return MissingFailoverView(heading, line + candidate, requirement_rows)


def _list_requirements(history: History, database: str, lost_tick: int) -> list[FailoverPrecondition]:
    """Return the requirements of an automatic failover, as they were just before the database was lost.

    Requirements that concern the loss and its detection have their current state.
    """
    current_preconditions = list_preconditions(history.drill.world, database)
    try:
        before: World = history.seek(max(0, lost_tick - 1)).world
    except InputError:
        return current_preconditions
    earlier_preconditions = [
        row for row in list_preconditions(before, database) if row.about in ("", "memory")
    ]
    return [
        *earlier_preconditions,
        *(row for row in current_preconditions if row.about in ("beginning", "loss")),
    ]


def _select_target_requirements(rows: list[FailoverPrecondition]) -> list[FailoverPrecondition]:
    """Return the requirements without a target, and those of the target with the fewest unmet requirements."""
    targets = list(dict.fromkeys(row.target for row in rows if row.target))
    if not targets:
        return rows
    best = min(targets, key=lambda name: sum(not row.holds for row in rows if row.target == name))
    return [row for row in rows if row.target in ("", best)]


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def find_expected_failover(drill: Drill, database: str) -> tuple[Failover, str] | None:
    """Return the failover that should follow the loss of *database*, and its technology.

    The result is None if no failover is expected.
    """
    world = drill.world
    if not has_automatic_failover(world, database):
        return None
    copies = list(world.list_copies_of(database))
    target = next((row.target for row in list_preconditions(world, database) if row.target), "")
    mirror = next((c for c in copies if c.mirroring.role is Role.MIRROR), None)
    clustered = next((c for c in copies if world.instances[c.server].clustered), None)
    if mirror is not None and mirror.mirroring.partner is not None:
        return _assume_failover(drill, mirror, mirror.mirroring.partner, mirror.server), MIRRORING
    if clustered is not None:
        owner = instances.find_instance_role(world, clustered.server)
        node = owner.owner if owner is not None else ""
        if not node or world.computers[node].powered:
            return None  # the cluster restarts SQL Server on the same node first
        return _assume_failover(drill, clustered, node, target), INSTANCE
    grouped = next((c for c in copies if c.server == target and c.availability.guid is not None), None)
    if grouped is None or grouped.availability.guid is None:
        return None
    group = replicas.find_group_config(world, target, grouped.availability.guid)
    return None if group is None else (_assume_failover(drill, grouped, group.primary, target), GROUP)


def _assume_failover(drill: Drill, copy: DatabaseCopy, lost_server: str, target: str) -> Failover:
    world = drill.world
    since_tick = world.availability[copy.database].since_tick
    server = lost_server if lost_server in world.instances else copy.server
    cause, _ = loss_causes.find_loss_cause(world, server, None)
    return Failover(
        guid=copy.group or NO_GROUP_GUID,
        database=copy.database,
        kind="automatic",
        cause=cause,
        from_server=lost_server,
        to_server=target,
        under_load=False,
        failed_tick=since_tick,
        detected_tick=since_tick,
    )
