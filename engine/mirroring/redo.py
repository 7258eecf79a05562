"""Redo of catalog changes, errors that stop redo, and the synchronization of two copies.

The principal's catalog (files and the last log backup) reaches the mirror through the log. The mirror adopts
a change after it has redone the log up to that change. A file that cannot be created stops redo and suspends
the session [WP, preparing the mirror].
"""

from typing import Final, TypedDict

from msgspec.structs import replace

from engine.constants import COMPATIBILITY_LEVELS_MIN, DATABASE_FILE_VERSIONS, REDO_CHECK_INTERVAL_S
from engine.messages import find_wording
from engine.mirroring import quorum, roles
from engine.mirroring.roles import StateChangeCause
from engine.model import (
    DatabaseCopy,
    DbFile,
    DbState,
    FileOptions,
    Handlers,
    Key,
    MirrorState,
    Safety,
    Tick,
    WitnessRecord,
    World,
)
from engine.protocol import commits, errorlog, files, lineage, options, streams, volumes


def record_catalog_change(world: World, key: Key) -> None:
    """Record a change of the catalog of principal *key*, so that its mirror redoes it."""
    copy = world.copies[key]
    if copy.source is None:
        return
    for stream in world.flow.list_source_streams(copy.source):
        mirror = world.streams[stream]
        if mirror is not None:
            world.call_after(
                0.0, "redo.replay", *mirror, world.flow.read_source_positions(copy.source).generated_kb
            )


def replay_catalog(world: World, server: str, database: str, upto_kb: float) -> None:
    """Adopt the catalog changes in the log up to *upto_kb* after this log has been redone (timer handler)."""
    copy = world.copies.get((server, database))
    if copy is None or copy.stream is None:
        return  # the copy is no longer a mirror; the next connection starts a new replay
    lead = world.copies[world.sources[world.flow.get_stream_source(copy.stream)]]
    paused_states = (MirrorState.SUSPENDED, MirrorState.DISCONNECTED)
    if (
        lead.mirroring.state in paused_states
        or copy.mirroring.state in paused_states
        or copy.mirroring.redo_failed
    ):
        return  # redo is paused or has failed; the next connection of the partners starts a new replay
    if lead.mirroring.state is MirrorState.PENDING_FAILOVER or not _is_redone(world, copy.stream, upto_kb):
        world.call_after(REDO_CHECK_INTERVAL_S, "redo.replay", server, database, upto_kb)
        return
    adopt_properties(world, lead, copy, world.flow.read_stream_positions(copy.stream).hardened_kb)
    copy = world.copies[server, database]
    trouble = find_file_error(world, copy, lead)
    if trouble is not None:
        stop_redo(world, (server, database), *trouble)
    elif collect_logged_fields(copy) != collect_logged_fields(lead):
        world.update_copy((server, database), **collect_logged_fields(lead))


def _is_redone(world: World, stream: int, upto_kb: float) -> bool:
    return world.flow.read_stream_positions(stream).redone_kb + 1e-6 >= upto_kb


def detect_redo_error(world: World, mirror: Key) -> None:
    """Stop redo if the mirror's files have a problem. During a role change, only schedule a later check."""
    copy = world.copies[mirror]
    assert copy.stream is not None, f"{mirror} redoes nothing"
    lead = world.copies[world.sources[world.flow.get_stream_source(copy.stream)]]
    trouble = find_file_error(world, copy, lead)
    if lead.mirroring.state is MirrorState.PENDING_FAILOVER:
        world.call_after(0.0, "redo.replay", *mirror, 0.0)
    elif trouble is not None:
        stop_redo(world, mirror, *trouble)


def finish_redo(world: World, mirror: Key) -> None:
    """Adopt all catalog changes in the log of a mirror that is about to become principal."""
    copy = world.copies[mirror]
    assert copy.stream is not None
    lead = world.copies[world.sources[world.flow.get_stream_source(copy.stream)]]
    end = world.flow.read_stream_positions(copy.stream).hardened_kb
    adopt_properties(world, lead, copy, end)
    extra_files = tuple(file for file in lead.extra_files if file in copy.extra_files or file.added_kb <= end)
    copied_files = collect_logged_fields(lead)
    copied_files["extra_files"] = extra_files
    world.update_copy(mirror, **copied_files)


def adopt_properties(world: World, lead: DatabaseCopy, copy: DatabaseCopy, end_kb: float) -> None:
    """Adopt, in *copy*, the backup chain and the logged options of *lead*, which writes the log.

    *end_kb*: end of the log that *copy* has hardened. Microsoft calls a change of the compatibility level a
    logged operation (issue 9658 of sql-docs).
    """
    chain = BackupChain(
        full_backup=lead.full_backup,
        full_backup_kb=lead.full_backup_kb,
        full_backup_id=lead.full_backup_id,
        log_backed_up=lead.log_backed_up,
        last_log_backup_kb=min(lead.last_log_backup_kb, end_kb),
        last_log_backup_tick=lead.last_log_backup_tick,
        log_start_kb=min(lead.log_start_kb, end_kb),
    )
    old_level, level = (options.get_compatibility_level(world, side) for side in (copy, lead))
    level = max(level, COMPATIBILITY_LEVELS_MIN[world.instances[copy.server].version])
    is_changed = level != old_level or copy.delayed_durability != lead.delayed_durability
    if is_changed and end_kb >= lead.options_kb:
        copy = world.update_copy(
            copy.key,
            compatibility_level=level,
            delayed_durability=lead.delayed_durability,
            options_kb=lead.options_kb,
        )
    if replace(copy, **chain) != copy:
        world.update_copy(copy.key, **chain)


class BackupChain(TypedDict):
    """Fields of DatabaseCopy that describe the backup chain. Other copies receive them through the log."""

    full_backup: bool
    full_backup_kb: float
    full_backup_id: int
    log_backed_up: bool
    last_log_backup_kb: float
    last_log_backup_tick: Tick
    log_start_kb: float


class CopiedFiles(TypedDict):
    """Fields of DatabaseCopy that describe its files and its encryption.

    A mirror or secondary receives these fields through the log.
    """

    size_kb: float
    log_size_kb: float
    log_max_kb: float
    extra_files: tuple[DbFile, ...]
    file_options: tuple[FileOptions, ...]
    encryption_key: int
    encrypted: bool


def collect_logged_fields(copy: DatabaseCopy) -> CopiedFiles:
    """Return the fields of *copy* that describe its files and encryption.

    Other copies receive changes of these fields through the log.
    """
    return CopiedFiles(
        size_kb=copy.size_kb,
        log_size_kb=copy.log_size_kb,
        log_max_kb=copy.log_max_kb,
        extra_files=copy.extra_files,
        file_options=copy.file_options,
        encryption_key=copy.encryption_key,
        encrypted=copy.encrypted,
    )


def find_file_error(
    world: World, copy: DatabaseCopy, lead: DatabaseCopy
) -> tuple[int, *tuple[object, ...]] | None:
    """Return (number, argument, …) of the error that the principal's files cause on the mirror, or None.

    A mirror without the certificate of an encrypted database cannot redo its log (33111) [DOC: TDE]. That
    redo stops in this case is derived.
    """
    computer = world.get_computer_of(copy.server)
    missing = options.find_certificate_error(world.instances[copy.server], lead.encryption_key)
    if missing is not None:
        return missing
    if copy.data_failed_tick is not None:
        return 823, *files.build_io_error_arguments(copy, "read")
    for file in lead.extra_files:
        if not volumes.has_drive(computer, file.drive):
            return 5123, files.NO_PATH, volumes.get_file_path(lead, file)
    grown: dict[str, float] = {}
    own_files = {file.name: file for file in volumes.list_copy_files(copy)}
    for file in volumes.list_copy_files(lead):
        own_file = own_files.get(
            file.name
        )  # the mirror creates a new file on the same drive letter as the principal
        drive, had_kb = (own_file.drive, own_file.size_kb) if own_file is not None else (file.drive, 0.0)
        grown[drive] = grown.get(drive, 0.0) + file.size_kb - had_kb
    for drive, kb in grown.items():
        if kb > 0.0 and kb > volumes.compute_free_kb(world, copy.server, drive):
            return 5149, files.DISK_FULL, f"{drive}:\\{copy.database}"
    return None


def stop_redo(world: World, mirror: Key, number: int, *args: object) -> None:
    """Stop redo on the mirror with error *number*.

    Both partners suspend the session and log 1453 or 1454 [facts 1.8].
    """
    copy = world.copies[mirror]
    assert copy.stream is not None, f"{mirror} redoes nothing"
    principal = world.sources[world.flow.get_stream_source(copy.stream)]
    world.update_mirroring(mirror, redo_failed=True, armed=False)
    errorlog.write_message(world, mirror[0], number, *args)
    severity = find_wording(number, world.instances[mirror[0]].version).severity
    errorlog.write_message(world, mirror[0], 1454, mirror[0], number, 1, severity, mirror[1])
    informed = [mirror]
    if quorum.is_connected_to_partner(world, copy) and world.instances[principal[0]].running:
        errorlog.write_message(
            world,
            principal[0],
            1453,
            world.copies[principal].mirroring.partner_address,
            mirror[1],
            number,
            1,
            severity,
        )
        informed = [principal, mirror]
    for key in informed:
        if world.copies[key].mirroring.state is not MirrorState.SUSPENDED:
            roles.apply_state_change(world, key, StateChangeCause.SUSPEND)
            roles.set_trace_state(world, key, 9)
            errorlog.write_message(world, key[0], 1442, key[1])
    update_witness_record(world, principal)


def log_newer_version(world: World, principal: Key, mirror: Key) -> None:
    """Log the errors of RESUME during a rolling upgrade.

    The older mirror accepts RESUME and stops redo immediately with 948.

    Documented: the session cannot be resumed until the other partner has been upgraded [DOC: upgrading
    mirrored instances]. The messages are derived: 948 is for files of a newer version, 1453 and 1454 are for
    an error of a partner.
    """
    newer, older = (DATABASE_FILE_VERSIONS[world.instances[key[0]].version] for key in (principal, mirror))
    severity = find_wording(948).severity
    errorlog.write_message(world, mirror[0], 948, mirror[1], newer, older)
    errorlog.write_message(world, mirror[0], 1454, mirror[0], 948, 1, severity, mirror[1])
    address = world.copies[principal].mirroring.partner_address
    errorlog.write_message(world, principal[0], 1453, address, mirror[1], 948, 1, severity)


def try_clear_redo_error(world: World, mirror: Key) -> bool:
    """Clear the redo error if all drives and pages are intact. Return whether redo can continue.

    RESUME calls this.
    """
    copy = world.copies[mirror]
    lead = world.copies.get((copy.mirroring.partner or "", copy.database))
    if lead is None or copy.bad_pages or find_file_error(world, copy, lead) is not None:
        return False
    world.update_mirroring(mirror, redo_failed=False)
    return True


HANDLERS: Final[Handlers] = {"redo.replay": replay_catalog}


# --- synchronization of two copies ------------------------------------------------------------------------
# A principal opens, log flows, the mirror catches up, and the witness records the new state.


def stop_serving(world: World, key: Key) -> None:
    """Close the database of an isolated principal, because mirror and witness may have continued without it."""
    copy = world.copies[key]
    roles.set_trace_state(world, key, 10)
    if copy.db_state is DbState.ONLINE:
        world.update_copy(key, db_state=DbState.RECOVERING, operation=None, active_from_kb=None,
                          window_transactions=())  # fmt: skip
        errorlog.write_message(world, key[0], 1445, key[1])


def start_serving(world: World, key: Key, *, announce: bool = True) -> None:
    """Open the database of a principal that has quorum again.

    *announce* True writes an ERRORLOG line about this. Callers pass False if the session synchronizes
    immediately.
    """
    copy = world.copies[key]
    if copy.db_state is not DbState.ONLINE:
        world.update_copy(key, db_state=DbState.ONLINE, recovering=False)
        if announce:
            errorlog.write_message(world, key[0], 1440, key[1])
        if copy.source is None:
            streams.add_source(world, key, copy.end_of_log_kb)


def begin_synchronizing(world: World, principal: Key, mirror: Key) -> None:
    """Start or resume the flow of log from the principal to the mirror."""
    source = world.copies[principal].source
    assert source is not None, f"{principal} writes no log"
    follower = world.copies[mirror]
    stream = follower.stream
    if stream is None or world.flow.get_stream_source(stream) != source:
        streams.stop_log(world, follower)
        for other_stream in world.flow.list_source_streams(source):
            streams.detach_receiver(world, other_stream)
        _discard_diverged_log(world, principal, mirror)
        stream = streams.attach_receiver(world, source, mirror)
    streams.resend_lost_log(world, stream)
    world.update_copy(mirror, db_state=DbState.RESTORING)
    world.call_after(0.0, "redo.replay", *mirror, streams.get_end_of_log_kb(world, world.copies[principal]))
    for key, active in ((principal, 1440), (mirror, 1441)):
        resumed = world.copies[key].mirroring.state is MirrorState.SUSPENDED
        roles.apply_state_change(world, key, StateChangeCause.RESUME if resumed else StateChangeCause.LINKED)
        errorlog.write_message(world, key[0], active, key[1])
        roles.emit_stable_state(world, key)


def _discard_diverged_log(world: World, principal: Key, mirror: Key) -> None:
    """Discard the part of the mirror's log that diverges from the principal's log."""
    lead, follower = world.copies[principal], world.copies[mirror]
    end = streams.get_end_of_log_kb(world, follower)
    common = min(end, lineage.find_common_kb(lead.lineage, follower.lineage))
    commits.discard_copy(world, follower, [lead])
    world.update_copy(
        mirror,
        end_of_log_kb=common,
        redone_kb=min(follower.redone_kb, common),
        fork=lead.fork,
        lineage=lead.lineage,
    )


def on_caught_up(world: World, stream: int) -> None:
    """Advance the session toward SYNCHRONIZED when at most one log block remains unsent (flow handler)."""
    source, mirror = world.flow.get_stream_source(stream), world.streams[stream]
    if mirror is None:
        return
    principal = world.sources[source]
    lead = world.copies[principal]
    if lead.mirroring.state is not MirrorState.SYNCHRONIZING or not quorum.is_connected_to_partner(
        world, lead
    ):
        return
    if lead.mirroring.safety is Safety.FULL:
        if lead.mirroring.closing_kb is None:
            # From now on commits wait for the mirror. The session is SYNCHRONIZED when all earlier commits
            # have arrived.
            world.update_mirroring(
                principal, closing_kb=world.flow.read_source_positions(source).committed_kb
            )
            return
        if world.flow.read_stream_positions(stream).hardened_kb < lead.mirroring.closing_kb:
            return
    for key in (principal, mirror):
        if world.copies[key].mirroring.state is MirrorState.SYNCHRONIZING:
            roles.apply_state_change(world, key, StateChangeCause.CAUGHT_UP)
            roles.emit_stable_state(world, key)
    record = quorum.find_witness_record(world, lead)
    if record is not None and quorum.is_connected_to_witness(world, lead):
        world.witnesses[record.server, record.guid] = replace(record, exposed=False)
    update_witness_record(world, principal)


def update_witness_record(world: World, key: Key) -> None:
    """Update the witness's record of the session with the knowledge of the principal *key*."""
    copy = world.copies[key]
    record = quorum.find_witness_record(world, copy)
    if record is None or not quorum.is_connected_to_witness(world, copy):
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


def create_witness_record(world: World, principal: DatabaseCopy, witness: str) -> None:
    """Create the witness's record of a session."""
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
