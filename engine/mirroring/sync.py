"""Synchronization of two copies: a principal opens, log flows, the mirror catches up, the witness learns the state."""

from __future__ import annotations

from msgspec.structs import replace

from engine.mirroring import quorum, roles, trace
from engine.mirroring.roles import StateChangeCause
from engine.model import DatabaseCopy, DbState, Key, MirrorState, Safety, WitnessRecord, World
from engine.protocol import errorlog, lineage, losses, streams


def stop_serving(world: World, key: Key) -> None:
    """Make an isolated principal refuse its clients: it cannot know whether the others continued without it."""
    copy = world.copies[key]
    trace.note(world, key, 10)
    if copy.db_state is DbState.ONLINE:
        world.update_copy(key, db_state=DbState.RECOVERING, operation=None, active_from_kb=None,
                          window_transactions=())  # fmt: skip
        errorlog.write(world, key[0], 1445, key[1])


def start_serving(world: World, key: Key, *, announce: bool = True) -> None:
    """Open the database of a principal that has quorum (again); log it unless it synchronizes at once."""
    copy = world.copies[key]
    if copy.db_state is not DbState.ONLINE:
        world.update_copy(key, db_state=DbState.ONLINE, recovering=False)
        if announce:
            errorlog.write(world, key[0], 1440, key[1])
        if copy.source is None:
            streams.add_source(world, key, copy.end_of_log_kb)


def begin_synchronizing(world: World, principal: Key, mirror: Key) -> None:
    """Log flows (again) from the principal to the mirror."""
    source = world.copies[principal].source
    assert source is not None, f"{principal} writes no log"
    follow = world.copies[mirror]
    stream = follow.stream
    if stream is None or world.flow.source_of(stream) != source:
        streams.stop_log(world, follow)
        for other in world.flow.streams_of(source):
            streams.detach(world, other)
        _discard_diverged_log(world, principal, mirror)
        stream = streams.attach(world, source, mirror)
    streams.resend(world, stream)
    world.update_copy(mirror, db_state=DbState.RESTORING)
    world.call_after(0.0, "redo.replay", *mirror, streams.end_of_log_kb(world, world.copies[principal]))
    for key, active in ((principal, 1440), (mirror, 1441)):
        resumed = world.copies[key].mirroring.state is MirrorState.SUSPENDED
        roles.move(world, key, StateChangeCause.RESUME if resumed else StateChangeCause.LINKED)
        errorlog.write(world, key[0], active, key[1])
        roles.trace_steady(world, key)


def _discard_diverged_log(world: World, principal: Key, mirror: Key) -> None:
    """Discard the mirror's log that the principal never had, back to the common position."""
    lead, follow = world.copies[principal], world.copies[mirror]
    end = streams.end_of_log_kb(world, follow)
    common = min(end, lineage.common_kb(lead.lineage, follow.lineage))
    losses.discard_copy(world, follow, [lead])
    world.update_copy(
        mirror,
        end_of_log_kb=common,
        redone_kb=min(follow.redone_kb, common),
        fork=lead.fork,
        lineage=lead.lineage,
    )


def caught_up(world: World, stream: int) -> None:
    """Handle a crossing: the receiver of *stream* has hardened all there is."""
    source, mirror = world.flow.source_of(stream), world.streams[stream]
    if mirror is None:
        return
    principal = world.sources[source]
    lead = world.copies[principal]
    if lead.mirroring.state is not MirrorState.SYNCHRONIZING or not quorum.sees_partner(world, lead):
        return
    if lead.mirroring.safety is Safety.FULL:
        if lead.mirroring.closing_kb is None:
            # From here on commits wait. Commits acknowledged before must reach the mirror before it counts
            # as synchronized.
            world.update_mirroring(principal, closing_kb=world.flow.positions(source).committed_kb)
            return
        if world.flow.stream_positions(stream).hardened_kb < lead.mirroring.closing_kb:
            return
    for key in (principal, mirror):
        if world.copies[key].mirroring.state is MirrorState.SYNCHRONIZING:
            roles.move(world, key, StateChangeCause.CAUGHT_UP)
            roles.trace_steady(world, key)
    record = quorum.record_of(world, lead)
    if record is not None and quorum.sees_witness(world, lead):
        world.witnesses[record.server, record.guid] = replace(record, exposed=False)
    tell_witness(world, principal)


def tell_witness(world: World, key: Key) -> None:
    """Update the witness's record from the principal."""
    copy = world.copies[key]
    record = quorum.record_of(world, copy)
    if record is None or not quorum.sees_witness(world, copy):
        return
    world.witnesses[record.server, record.guid] = replace(
        record,
        principal=copy.server,
        mirror=copy.mirroring.partner or record.mirror,
        safety=copy.mirroring.safety,
        safety_sequence=copy.mirroring.safety_sequence,
        role_sequence=copy.mirroring.role_sequence,
        suspended=copy.mirroring.state is MirrorState.SUSPENDED,
        exposed=copy.mirroring.state is not MirrorState.SYNCHRONIZED and record.exposed,
    )


def new_record(world: World, principal: DatabaseCopy, witness: str) -> None:
    """Begin the witness's record of the session."""
    assert principal.mirroring.guid is not None
    world.witnesses[witness, principal.mirroring.guid] = WitnessRecord(
        server=witness,
        guid=principal.mirroring.guid,
        database=principal.database,
        principal=principal.server,
        mirror=principal.mirroring.partner or "",
        safety=principal.mirroring.safety,
        safety_sequence=principal.mirroring.safety_sequence,
        role_sequence=principal.mirroring.role_sequence,
    )
