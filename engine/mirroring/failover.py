"""Steps of automatic, manual and forced failovers.

Durations are from flow/failover_times.py; the flow model redoes log.
"""

from typing import Final

from msgspec.structs import replace

from engine.events import FailoverData
from engine.flow.failover_times import compute_undo_s
from engine.localization import build_message, mark
from engine.mirroring import quorum, redo, roles
from engine.mirroring.roles import StateChangeCause
from engine.model import DatabaseCopy, DbState, Failover, FieldOf, Key, Role, World
from engine.protocol import commits, errorlog, lineage, loss_causes, network, streams


def _update_failover(world: World, failover: Failover, **changes: FieldOf[Failover]) -> Failover:
    new_failover = replace(failover, **changes)
    world.failovers[world.latest_failover[failover.guid]] = new_failover
    world.mark_session_changed(failover.guid)
    return new_failover


STEP_TEXTS: Final = {
    "automatic": mark("automatic failover {server} -> {other}: {step}"),
    "manual": mark("manual failover {server} -> {other}: {step}"),
    "forced": mark("forced failover {server} -> {other}: {step}"),
}
FAILURE_TEXTS: Final = {
    "automatic": mark("automatic failover {server} -> {other} failed: {why}"),
    "manual": mark("manual failover {server} -> {other} failed: {why}"),
    "forced": mark("forced failover {server} -> {other} failed: {why}"),
}
"""Kind of failover -> event text for a failover of this kind that fails."""


def _emit_step(world: World, failover: Failover, step: str, server: str | None = None) -> None:
    template = FAILURE_TEXTS[failover.kind] if failover.why else STEP_TEXTS[failover.kind]
    text = build_message(
        template, server=failover.from_server, other=failover.to_server, step=step, why=failover.why
    )
    world.emit(
        FailoverData(step=step, failover_kind=failover.kind, cause=failover.cause, why=failover.why or None),
        text,
        server=server or failover.to_server,
        database=failover.database,
    )


def _begin_failover(
    world: World, mirror: DatabaseCopy, kind: str, agreed_tick: int | None = None
) -> Failover:
    assert (
        mirror.mirroring.guid is not None
        and mirror.mirroring.partner is not None
        and mirror.stream is not None
    )
    cause, failed_tick = loss_causes.find_loss_cause(world, mirror.mirroring.partner, mirror.server)
    if kind == "manual":
        cause, failed_tick = "manual", world.tick
    source = world.flow.get_stream_source(mirror.stream)
    principal = world.copies[world.sources[source]]
    phases = loss_causes.draw_phase_durations(world, mirror.stream, "forced" if kind == "forced" else cause)
    failover = Failover(
        guid=mirror.mirroring.guid,
        database=mirror.database,
        kind=kind,
        cause=cause,
        from_server=mirror.mirroring.partner,
        to_server=mirror.server,
        under_load=streams.is_under_load(principal),
        failed_tick=min(failed_tick, world.tick),
        detected_tick=world.tick,
        decision_s=phases.decision_s,
        close_s=phases.close_s,
        promote_s=phases.page_flush_s + phases.analysis_s + phases.role_change_s,
        undo_s=max(phases.undo_s, compute_undo_s(world.flow, mirror.stream, principal.open_log_kb)),
        agreed_tick=agreed_tick,
    )
    world.latest_failover[failover.guid] = len(world.failovers)
    world.failovers.append(failover)
    world.dirty.add(source)
    return failover


def _abandon_failover(world: World, failover: Failover, reason: str) -> None:
    """Cancel the running failover."""
    failover = _update_failover(world, failover, why=reason)
    _emit_step(world, failover, "cancelled", failover.from_server if failover.kind == "manual" else None)


def cancel_failover(world: World, guid: int | None, kind: str, reason: str) -> None:
    """Cancel a running failover of *kind*. An automatic or forced failover that is already decided continues."""
    failover = world.find_running_failover(guid)
    if failover is None or failover.kind != kind:
        return
    if kind == "manual" or failover.decided_tick is None:
        _abandon_failover(world, failover, reason)


def cancel_failover_of_copy(world: World, key: Key, reason: str) -> None:
    """Cancel the running failover if the lost copy *key* is its target.

    Also cancel a manual failover if the lost copy is its source.
    """
    failover = world.find_running_failover(world.copies[key].mirroring.guid)
    if failover is None:
        return
    if failover.to_server == key[0] or (failover.kind == "manual" and failover.from_server == key[0]):
        _abandon_failover(world, failover, reason)


# --- automatic -------------------------------------------------------------------------------------


def prepare_automatic_failover(world: World, mirror: Key) -> None:
    """Begin an automatic failover at a mirror that has lost its principal: finish redo, then ask the witness."""
    copy = world.copies[mirror]
    failover = _begin_failover(world, copy, "automatic")
    _emit_step(world, failover, build_message("detected"))


def recheck_failover(world: World, guid: int) -> None:
    """Check whether a waiting failover can continue, after a change that may affect it."""
    failover = world.find_running_failover(guid)
    if failover is None or failover.decided_tick is not None:
        return
    if failover.kind == "automatic":
        _ask_witness(world, failover, world.copies[failover.to_server, failover.database])
    elif failover.agreed_tick is not None and failover.redo_done_tick is not None:
        _record_decision(world, failover)


def _ask_witness(world: World, failover: Failover, mirror: DatabaseCopy) -> None:
    """Ask the witness for its agreement, or cancel the failover.

    Redo continues in the meantime. The decision follows when all log is redone and the witness agrees. [WP,
    failover]
    """
    refusal = _find_refusal_reason(world, mirror)
    if refusal:
        _abandon_failover(world, failover, refusal)
    elif failover.redo_done_tick is None or failover.agreed_tick is not None:
        return
    elif quorum.has_witness_agreement(world, mirror):
        if not _can_exchange_with_witness(world, mirror):
            world.call_after(WITNESS_CHECK_INTERVAL_S, "failover.ask", failover.guid, failover.detected_tick)
            return
        failover = _update_failover(world, failover, agreed_tick=world.tick)
        world.call_after(failover.decision_s, "failover.decide", failover.guid, failover.detected_tick)


def _find_refusal_reason(world: World, mirror: DatabaseCopy) -> str:
    """Return the reason why the mirror may no longer fail over automatically.

    The result is empty if the mirror may fail over, or if only the agreement of the witness is still missing.
    """
    if mirror.mirroring.redo_failed:
        return build_message("redo failed on {server}", server=mirror.server)
    if not mirror.mirroring.armed:
        return build_message("{server} lost the witness", server=mirror.server)
    record = quorum.find_witness_record(world, mirror)
    agreed = (
        record is not None
        and quorum.is_connected_to_witness(world, mirror)
        and _can_exchange_with_witness(world, mirror)
    )
    if (
        agreed
        and record is not None
        and record.exposed
        and record.role_sequence <= mirror.mirroring.role_sequence
    ):
        return build_message(
            "the principal {server} already runs without its mirror {other}",
            server=mirror.mirroring.partner or "",
            other=mirror.server,
        )
    return ""


WITNESS_CHECK_INTERVAL_S = 0.5
"""Interval at which a mirror checks whether the witness has answered. Assumed."""


def _can_exchange_with_witness(world: World, mirror: DatabaseCopy) -> bool:
    """Return whether messages pass between mirror and witness in both directions.

    What the two servers know about their connection does not matter.
    """
    witness = mirror.mirroring.witness
    if witness is None or not world.instances[witness].answering:
        return False
    return network.can_exchange_packets(world, mirror.server, witness)


def recheck_witness_answer(world: World, guid: int, detected_tick: int) -> None:
    """Check again whether the witness has answered (timer handler)."""
    failover = world.find_running_failover(guid)
    if failover is not None and failover.detected_tick == detected_tick:
        recheck_failover(world, guid)


def decide_failover(world: World, guid: int, detected_tick: int) -> None:
    """Decide the failover after mirror and witness have exchanged their knowledge (timer handler)."""
    failover = world.find_running_failover(guid)
    if failover is None or failover.detected_tick != detected_tick or failover.decided_tick is not None:
        return
    mirror = world.copies[failover.to_server, failover.database]
    agreed = (
        mirror.mirroring.armed
        and quorum.has_witness_agreement(world, mirror)
        and _can_exchange_with_witness(world, mirror)
    )
    if not (world.instances[mirror.server].answering and agreed):
        _update_failover(world, failover, agreed_tick=None)
        recheck_failover(world, guid)
        return
    record = quorum.find_witness_record(world, mirror)
    assert record is not None
    world.witnesses[record.server, record.guid] = replace(
        record,
        principal=mirror.server,
        mirror=failover.from_server,
        role_sequence=mirror.mirroring.role_sequence + 1,
        exposed=True,
    )
    roles.set_trace_state(world, mirror.key, 8)
    _record_decision(world, failover)


def _record_decision(world: World, failover: Failover) -> None:
    failover = _update_failover(world, failover, decided_tick=world.tick)
    _emit_step(world, failover, build_message("decided"))
    world.call_after(failover.promote_s, "failover.online", failover.guid, failover.detected_tick)


# --- manual, forced --------------------------------------------------------------------------------


def start_manual_failover(world: World, principal: Key) -> None:
    """Start an accepted SET PARTNER FAILOVER. Clients are disconnected, and the tail of the log is sent."""
    copy = world.copies[principal]
    assert copy.mirroring.partner is not None
    mirror = world.copies[copy.mirroring.partner, copy.database]
    failover = _begin_failover(world, mirror, "manual")
    roles.apply_state_change(world, principal, StateChangeCause.FAILOVER_ACCEPTED)
    roles.set_trace_state(world, principal, 7)
    _emit_step(world, failover, build_message("accepted"), principal[0])
    world.call_after(failover.close_s, "failover.closed", failover.guid, failover.detected_tick)


def on_principal_closed(world: World, guid: int, detected_tick: int) -> None:
    """Continue a manual failover after the principal has closed its database (timer handler)."""
    failover = world.find_running_failover(guid)
    if failover is None or failover.detected_tick != detected_tick or failover.kind != "manual":
        return
    if world.instances[failover.from_server].hung:
        world.call_after(HUNG_CHECK_INTERVAL_S, "failover.closed", guid, detected_tick)
        return
    _update_failover(world, failover, agreed_tick=world.tick)
    recheck_failover(world, guid)


def start_forced_service(world: World, mirror: Key) -> None:
    """Start an accepted FORCE_SERVICE_ALLOW_DATA_LOSS. The mirror recovers to the end of its log."""
    copy = world.copies[mirror]
    cancel_failover(
        world,
        copy.mirroring.guid,
        "automatic",
        build_message("service was forced before the automatic failover"),
    )
    since_tick = quorum.get_contact(
        world, copy.mirroring.guid, copy.server, copy.mirroring.partner
    ).since_tick
    failover = _begin_failover(world, copy, "forced", agreed_tick=world.tick)
    _update_failover(world, failover, failed_tick=min(failover.failed_tick, since_tick))
    roles.set_trace_state(world, mirror, 7)
    _emit_step(world, failover, build_message("accepted"))


# --- common end ------------------------------------------------------------------------------------


def on_redo_done(world: World, stream: int) -> None:
    """Record that a failover target has redone its log, and continue the failover (flow handler)."""
    source, mirror = world.flow.get_stream_source(stream), world.streams[stream]
    failover = world.find_running_failover(world.copies[world.sources[source]].mirroring.guid)
    if mirror is None or failover is None or failover.redo_done_tick is not None:
        return
    unhardened_kb = (
        world.flow.read_source_positions(source).flushed_kb
        - world.flow.read_stream_positions(stream).hardened_kb
    )
    if failover.kind == "manual" and unhardened_kb > 1e-6:
        return  # the tail of the log is still being sent
    _emit_step(
        world, _update_failover(world, failover, redo_done_tick=world.tick), build_message("redo done")
    )
    recheck_failover(world, failover.guid)


ROLE_CHANGE_REASONS = {
    "automatic": "Auto Failover",
    "manual": "Failover from partner",
    "forced": "Force Service",
}
"""Kind of failover -> reason in message 1480 on the new principal. From memory of SQL Server; see facts 1.8."""


HUNG_CHECK_INTERVAL_S = 0.5
"""Interval at which a pending failover step checks whether a hung instance responds again. Assumed."""


def become_principal(world: World, guid: int, detected_tick: int) -> None:
    """Make the mirror principal and open its database (timer handler)."""
    failover = world.find_running_failover(guid)
    if failover is None or failover.detected_tick != detected_tick:
        return
    new, old = (failover.to_server, failover.database), (failover.from_server, failover.database)
    if world.instances[new[0]].hung:
        world.call_after(HUNG_CHECK_INTERVAL_S, "failover.online", guid, detected_tick)
        return
    if not world.instances[new[0]].running or world.copies[new].stream is None:
        _abandon_failover(world, failover, build_message("{server} failed", server=new[0]))
        return
    _promote(world, failover, new, old)
    failover = _update_failover(world, world.find_running_failover(guid) or failover, online_tick=world.tick)
    _emit_step(world, failover, build_message("online"))
    world.call_after(failover.undo_s, "failover.undone", guid, detected_tick)
    world.call_after(0.0, "session.meet", guid)


def _promote(world: World, failover: Failover, mirror_key: Key, principal_key: Key) -> None:
    stream = world.copies[mirror_key].stream
    assert stream is not None
    _record_lost_commits(world, failover, world.copies[principal_key], stream)
    hardened_kb = world.flow.read_stream_positions(stream).hardened_kb
    sequence = world.copies[mirror_key].mirroring.role_sequence + 1
    redo.finish_redo(world, mirror_key)
    streams.promote_receiver(world, stream)
    roles.assign_role(
        world, mirror_key, Role.PRINCIPAL, reason=ROLE_CHANGE_REASONS[failover.kind], sequence=sequence
    )
    world.update_copy(
        mirror_key,
        db_state=DbState.ONLINE,
        lineage=lineage.build_branch_lineage(world, world.copies[mirror_key].lineage, hardened_kb),
        recovering=False,
    )
    world.update_mirroring(mirror_key, failover_lsn_kb=hardened_kb, armed=False)
    if failover.kind == "manual":
        _become_mirror(world, principal_key, sequence, hardened_kb)
    elif failover.kind == "forced":
        world.update_copy(mirror_key, fork=world.next_id())
        roles.apply_state_change(world, mirror_key, StateChangeCause.FORCED)
    _log_recovery(world, mirror_key, failover)
    roles.set_trace_state(world, mirror_key, {"automatic": 12, "manual": 13, "forced": 9}[failover.kind])
    record = quorum.find_witness_record(world, world.copies[mirror_key])
    if record is not None and failover.kind != "manual":
        world.witnesses[record.server, record.guid] = replace(
            record, principal=mirror_key[0], mirror=principal_key[0], role_sequence=sequence, exposed=True
        )


def _become_mirror(world: World, principal_key: Key, sequence: int, hardened_kb: float) -> None:
    """Make the old principal of a manual failover the new mirror."""
    roles.assign_role(world, principal_key, Role.MIRROR, reason="Failover", sequence=sequence)
    world.update_copy(principal_key, db_state=DbState.RESTORING)
    world.update_mirroring(principal_key, failover_lsn_kb=hardened_kb)
    errorlog.write_message(world, principal_key[0], 1442, principal_key[1])
    errorlog.write_message(world, principal_key[0], 17137, principal_key[1])
    errorlog.write_message(world, principal_key[0], 1444, principal_key[1])
    for key in (principal_key, (world.copies[principal_key].mirroring.partner or "", principal_key[1])):
        roles.apply_state_change(world, key, StateChangeCause.ROLES_SWAPPED)


def _record_lost_commits(world: World, failover: Failover, old_principal: DatabaseCopy, stream: int) -> None:
    """Record as lost the acknowledged commits that the new principal lacks."""
    committed_kb, hardened_kb = (
        streams.get_committed_kb(world, old_principal),
        world.flow.read_stream_positions(stream).hardened_kb,
    )
    count = commits.count_transactions(world, old_principal, hardened_kb, committed_kb)
    if count == 0:
        return
    lost_kb = max(0.0, committed_kb - hardened_kb)
    _update_failover(world, failover, lost_transactions=count, lost_kb=lost_kb)
    world.update_copy(old_principal.key, written_off_kb=streams.get_committed_kb(world, old_principal))
    commits.record_lost_commits(
        world, old_principal.database, failover.to_server, count, lost_kb, commits.THIS_COPY
    )


def _log_recovery(world: World, key: Key, failover: Failover) -> None:
    """Log the recovery of the new principal. An automatic failover logs no start and no analysis.

    [WP, failover].
    """
    server, database = key
    number = world.copies[key].database_id
    if failover.kind != "automatic":
        errorlog.write_message(world, server, 17137, database)
        percent = "is 100% complete (approximately 0 seconds remain)."
        errorlog.write_text(world, server, f"Analysis of database '{database}' ({number}) {percent}")
        errorlog.write_text(
            world, server, f"Recovery of database '{database}' ({number}) {percent} Phase 3 of 3."
        )
    errorlog.write_message(world, server, 3454, database, number)
    if failover.kind == "automatic":
        errorlog.write_message(world, server, 3421, database, number, round(failover.promote_s), 0, 0, 0)


def on_undo_done(world: World, guid: int, detected_tick: int) -> None:
    """Finish the rollback of uncommitted transactions on the new principal (timer handler)."""
    failover = world.failovers[world.latest_failover[guid]]
    if failover.detected_tick == detected_tick:
        _emit_step(
            world, _update_failover(world, failover, undo_done_tick=world.tick), build_message("undo done")
        )
