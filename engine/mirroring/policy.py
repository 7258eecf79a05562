"""Policy of mirroring sessions: the decisions that `engine.protocol` leaves to each kind of group."""

from functools import cache
from typing import Final

from engine.constants import PARTNER_TIMEOUT_S
from engine.flow import FlowStopCondition
from engine.messages import SqlError
from engine.mirroring import failover, preconditions, quorum, redo, roles, session
from engine.model import DatabaseCopy, DbState, Key, MirrorState, Role, Safety, WitnessState, World
from engine.overrides import override
from engine.protocol import errorlog, group_policies, network, streams
from engine.protocol.group_policies import FailoverPrecondition, StreamParameters


class MirroringPolicy(group_policies.GroupPolicy):
    """Policy of mirroring sessions: two partners, of which one writes, and an optional witness."""

    @override
    def get_role(self, copy: DatabaseCopy) -> str:
        return copy.mirroring.role.name if copy.mirroring.role is not None else ""

    @override
    def get_state(self, copy: DatabaseCopy) -> str:
        return copy.mirroring.state.name if copy.mirroring.state is not None else ""

    @override
    def is_leader(self, copy: DatabaseCopy) -> bool:
        return copy.mirroring.role is Role.PRINCIPAL

    @override
    def is_follower(self, copy: DatabaseCopy) -> bool:
        return copy.mirroring.role is Role.MIRROR

    @override
    def get_role_sequence(self, copy: DatabaseCopy) -> int:
        return copy.mirroring.role_sequence

    @override
    def has_waiting_commits(self, world: World, copy: DatabaseCopy) -> bool:
        return self.is_leader(copy) and copy.mirroring.safety is Safety.FULL

    @override
    def can_write(self, copy: DatabaseCopy) -> bool:
        session = copy.mirroring
        return session.role is Role.PRINCIPAL and session.state is not MirrorState.PENDING_FAILOVER

    @override
    def has_synchronized_copy(self, copy: DatabaseCopy) -> bool:
        return copy.mirroring.state is MirrorState.SYNCHRONIZED

    @override
    def find_refusal(self, copy: DatabaseCopy, read_intent: bool = False) -> SqlError | None:
        if copy.mirroring.role is Role.MIRROR:
            return SqlError(954, copy.database)
        if copy.disk_failed:
            return group_policies.NO_GROUP.find_refusal(copy)
        if copy.mirroring.state is MirrorState.PENDING_FAILOVER:
            return SqlError(952, copy.database)
        if copy.recovering:
            return SqlError(956, copy.database)
        return None if copy.db_state is DbState.ONLINE else SqlError(955, copy.database)

    @override
    def build_stream_parameters(
        self, world: World, lead: DatabaseCopy, follow: DatabaseCopy
    ) -> StreamParameters:
        own_mirroring, theirs = lead.mirroring, follow.mirroring
        suspended = own_mirroring.state is MirrorState.SUSPENDED or theirs.state is MirrorState.SUSPENDED
        sending = not suspended and quorum.is_connected_to_partner(world, lead)
        waiting = quorum.is_awaiting_consent(world, lead)
        return _build_stream_parameters(
            own_mirroring.safety is Safety.FULL and not _is_catching_up(lead),
            sending,
            waiting,
            not theirs.redo_failed and (not suspended or _is_service_forced(world, follow)),
        )

    @override
    def choose_stop_conditions(self, world: World, copy: DatabaseCopy, stream: int) -> FlowStopCondition:
        watched_crossings = NO_CROSSING
        if copy.mirroring.state is MirrorState.SYNCHRONIZING:
            setup = world.flow.get_stream_setup(stream)
            watched_crossings = (
                FlowStopCondition.SEND_DONE if setup.connected and setup.carrying else NO_CROSSING
            )
        running = world.find_running_failover(copy.mirroring.guid)
        if running is not None and running.redo_done_tick is None:
            watched_crossings |= FlowStopCondition.REDO_DONE
        return watched_crossings

    @override
    def on_caught_up(self, world: World, stream: int) -> None:
        redo.on_caught_up(world, stream)

    @override
    def on_redo_done(self, world: World, stream: int) -> None:
        failover.on_redo_done(world, stream)

    @override
    def find_log_hold(self, world: World, copy: DatabaseCopy, ends_kb: list[float]) -> tuple[str, float]:
        return "DATABASE_MIRRORING", min(ends_kb) if ends_kb else _find_partner_end_kb(world, copy)

    def find_page_sources(self, world: World, copy: DatabaseCopy, waiting: bool = False) -> list[str]:
        """Return the partner if it may supply a damaged page, else an empty list.

        Both partners must be of version 2008 or later and connected. A principal attempts a repair only
        while SYNCHRONIZED [DOC: automatic page repair]. A mirror attempts a repair whenever redo reads the
        page.
        """
        partner = world.copies.get((copy.mirroring.partner or "", copy.database))
        if copy.mirroring.guid is None or partner is None or not quorum.is_connected_to_partner(world, copy):
            return []
        states = [MirrorState.SYNCHRONIZED]
        states += [MirrorState.SYNCHRONIZING] if copy.mirroring.role is Role.MIRROR else []
        are_all_current = all(world.instances[name].version >= 2008 for name in (copy.server, partner.server))
        return [partner.server] if waiting or (are_all_current and copy.mirroring.state in states) else []

    def wait_for_page(self, world: World, key: Key) -> None:
        """Suspend the session while redo waits for the page from the partner."""
        copy = world.copies[key]
        for end in (key, (copy.mirroring.partner or "", copy.database)):
            roles.apply_state_change(world, end, roles.StateChangeCause.SUSPEND)
            roles.set_trace_state(world, end, 9)
            errorlog.write_message(world, end[0], 1442, end[1])

    @override
    def resume_after_page(self, world: World, key: Key) -> None:
        own_mirroring = world.copies[key].mirroring
        if (
            own_mirroring.role is Role.MIRROR
            and own_mirroring.state is MirrorState.SUSPENDED
            and not own_mirroring.redo_failed
        ):
            partner = (own_mirroring.partner or "", key[1])
            redo.begin_synchronizing(world, partner, key)
            redo.update_witness_record(world, partner)

    @override
    def fail_redo(self, world: World, key: Key, error: int, *args: object) -> None:
        redo.stop_redo(world, key, error, *args)

    @override
    def has_stopped_log(self, copy: DatabaseCopy) -> bool:
        return copy.mirroring.state in (MirrorState.SUSPENDED, MirrorState.DISCONNECTED)

    def find_backup_refusal(self, world: World, copy: DatabaseCopy, log_or_copy_only: bool) -> int:
        """Return the number of the error for a backup of a mirror; 0 for other copies.

        The error is 954 before version 2012, and 3059 from 2012 on. Known.
        """
        if copy.mirroring.role is not Role.MIRROR:
            return 0
        return 3059 if world.instances[copy.server].version >= 2012 else 954

    @override
    def allows_snapshot(self, copy: DatabaseCopy) -> bool | None:
        if copy.mirroring.role is not Role.MIRROR:
            return None
        return copy.mirroring.state is MirrorState.SYNCHRONIZED and not (copy.recovering or copy.disk_failed)

    @override
    def get_partner(self, copy: DatabaseCopy) -> str | None:
        return copy.mirroring.partner

    @override
    def on_catalog_changed(self, world: World, key: Key) -> None:
        redo.record_catalog_change(world, key)

    def on_schema_changed(self, world: World, key: Key) -> None:
        """Do nothing. Redo on the mirror needs no lock, because no client reads there."""

    def count_routed_login(self, world: World, copy: DatabaseCopy) -> None:
        """Do nothing. Mirroring has no routing."""

    @override
    def list_preconditions(self, world: World, database: str) -> list[FailoverPrecondition]:
        return preconditions.list_preconditions(world, database)

    @override
    def cancel_failover(self, world: World, key: Key, reason: str) -> None:
        failover.cancel_failover_of_copy(world, key, reason)

    @override
    def on_log_lost(self, world: World, key: Key) -> None:
        guid = world.copies[key].mirroring.guid
        assert guid is not None
        network.close_session_connections(world, guid, key[0])
        world.update_mirroring(key, armed=False)
        roles.mark_copy_stopped(world, key)

    @override
    def on_instance_lost(self, world: World, key: Key) -> None:
        roles.mark_copy_stopped(world, key)
        own_mirroring = world.copies[key].mirroring
        if (own_mirroring.guid, key[0], own_mirroring.partner) not in world.contacts:
            world.update_mirroring(key, partner=None)  # the partner rejected this server
        world.update_mirroring(key, armed=False, witness_state=WitnessState.UNKNOWN)

    @override
    def on_data_lost(self, world: World, key: Key) -> bool:
        copy = world.copies[key]
        if copy.mirroring.role is not Role.MIRROR or copy.stream is None or copy.mirroring.redo_failed:
            return False
        assert copy.mirroring.guid is not None
        redo.detect_redo_error(world, key)
        failover.recheck_failover(world, copy.mirroring.guid)
        return True

    @override
    def on_recovered(self, world: World, key: Key) -> bool:
        session.on_recovered(world, key)
        return True

    @override
    def log_startup_state(self, world: World, key: Key) -> None:
        role, state = world.copies[key].mirroring.role, world.copies[key].mirroring.state
        if role is Role.MIRROR:
            errorlog.write_message(world, key[0], 1444, key[1])
        if state in (MirrorState.SYNCHRONIZED, MirrorState.SYNCHRONIZING):
            errorlog.write_message(world, key[0], 1440 if role is Role.PRINCIPAL else 1441, key[1])

    @override
    def get_timeout_s(self, world: World, group: int, server: str, peer: str) -> int:
        session_timeouts = (copy.mirroring.timeout_s for copy in world.list_session_copies(group))
        return next(session_timeouts, PARTNER_TIMEOUT_S)

    def get_address(self, world: World, group: int, server: str, peer: str) -> str | None:
        """Return the address of *peer* in *server*'s settings.

        A witness gets it from the settings of a partner.
        """
        own_copy = world.find_copy_in_session(group, server)
        for copy in (own_copy,) if own_copy is not None else world.list_session_copies(group):
            if copy.mirroring.partner == peer:
                return copy.mirroring.partner_address
            if copy.mirroring.witness == peer:
                return copy.mirroring.witness_address
        return None

    @override
    def is_without_data(self, world: World, group: int, server: str) -> bool:
        return world.find_copy_in_session(group, server) is None

    @override
    def on_connection_lost(
        self, world: World, group: int, server: str, peer: str, epoch: int, reason: str
    ) -> None:
        session.on_connection_lost(world, group, server, peer, epoch, reason)

    @override
    def on_connection_made(self, world: World, group: int, server: str, peer: str, epoch: int) -> None:
        session.on_connection_made(world, group, server, peer, epoch)


NO_CROSSING: Final = FlowStopCondition(0)


@cache
def _build_stream_parameters(awaited: bool, sending: bool, waiting: bool, redoing: bool) -> StreamParameters:
    return StreamParameters(
        awaited=awaited,
        connected=sending or waiting,
        carrying=sending,
        sending=sending or waiting,
        redoing=redoing,
    )


def _is_catching_up(copy: DatabaseCopy) -> bool:
    """Return whether the mirror is SYNCHRONIZING and still has a backlog. Commits then do not wait for it.

    The principal serves clients but is unprotected (facts 3.1 in docs/facts.md).
    """
    return copy.mirroring.state is MirrorState.SYNCHRONIZING and copy.mirroring.closing_kb is None


def _is_service_forced(world: World, mirror: DatabaseCopy) -> bool:
    """Return whether service is being forced to *mirror*.

    The mirror then redoes its log even if the session was suspended.
    """
    running = world.find_running_failover(mirror.mirroring.guid)
    return running is not None and running.kind == "forced" and running.to_server == mirror.server


def _find_partner_end_kb(world: World, copy: DatabaseCopy) -> float:
    partner = world.copies.get((copy.mirroring.partner or "", copy.database))
    return streams.get_end_of_log_kb(world, partner) if partner else copy.last_log_backup_kb
