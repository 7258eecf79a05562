"""Mapping of database copies to the numbered sources and streams of the flow model."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from msgspec.structs import replace

from engine import arithmetic, flow
from engine.constants import ENTERPRISE_EDITIONS
from engine.flow import (
    NO_STREAM_NUMBERS,
    FlowStopCondition,
    SourceSetup,
    StreamNumbers,
    StreamSetup,
    failover_times,
)
from engine.flow.kernel import SOURCE_COUNTERS, STREAM_COUNTERS
from engine.flow.setup import Operation, ServerHardware, Workload
from engine.flow.sites import SITES, WORKLOADS
from engine.model import Computer, DatabaseCopy, Instance, Key, RecoveryModel, Service, World
from engine.protocol import group_policies, lineage, network, security, serving, volumes


def add_source(world: World, key: Key, at_kb: float) -> int:
    """Let the copy write its own log from now on, starting at log position *at_kb*. Return the source number."""
    _start_new_branch(world, key, at_kb)
    source = world.flow.add_source(FlowSetups(world).get_source_setup(world.copies[key]))
    world.sources[source] = key
    world.flow.set_positions(source, **_build_positions(SOURCE_POSITIONS, at_kb))
    world.update_copy(key, source=source, log_start_kb=min(at_kb, world.copies[key].log_start_kb))
    return source


def _start_new_branch(world: World, key: Key, at_kb: float) -> None:
    """Start a new branch of the log at *at_kb* if the old branch has later commits."""
    copy = world.copies[key]
    latest = world.commits.get((copy.family, copy.lineage[-1][0]))
    if latest is not None and latest.kb > at_kb:
        world.update_copy(key, lineage=lineage.build_branch_lineage(world, copy.lineage, at_kb))


def remove_source(world: World, source: int) -> None:
    """Stop the log of *source* and of all copies that receive it. Store their log positions."""
    for stream in world.flow.list_source_streams(source):
        detach_receiver(world, stream)
        del world.streams[stream]
    _store_reached_position(world, source)
    del world.sources[source]
    world.dirty.discard(source)
    world.flow.remove_source(source)


def stop_log(world: World, copy: DatabaseCopy) -> None:
    """Stop the log of the copy, so that it neither writes nor receives log."""
    if copy.source is not None:
        remove_source(world, copy.source)
    elif copy.stream is not None:
        detach_receiver(world, copy.stream)


def _store_reached_position(world: World, source: int) -> None:
    """Store the log positions of *source* in the copy that wrote it, and remove the source from the copy."""
    positions = world.flow.read_source_positions(source)
    world.update_copy(
        world.sources[source],
        source=None,
        end_of_log_kb=positions.flushed_kb,
        redone_kb=positions.flushed_kb,
        committed_kb=positions.committed_kb,
    )


def attach_receiver(world: World, source: int, receiver: Key) -> int:
    """Send the log of *source* to the copy *receiver*, from the end of the receiver's log.

    Return the stream number.
    """
    copy = world.copies[receiver]
    assert copy.source is None and copy.stream is None, f"{receiver} has a log already"
    free_streams = [
        stream for stream in world.flow.list_source_streams(source) if world.streams[stream] is None
    ]
    stream = free_streams[0] if free_streams else _add_stream(world, source)
    end = copy.end_of_log_kb
    world.flow.set_stream_positions(
        stream, **_build_positions(STREAM_POSITIONS, end), redone_kb=min(copy.redone_kb, end)
    )
    world.streams[stream] = receiver
    world.update_copy(receiver, stream=stream)
    return stream


def _add_stream(world: World, source: int) -> int:
    """Add a stream without a receiver, whose log stays in the send queue."""
    stream = world.flow.add_stream(
        source, FlowSetups(world).get_stream_setup(world.copies[world.sources[source]], None)
    )
    world.streams[stream] = None
    world.flow.set_stream_positions(
        stream,
        **_build_positions(
            (*STREAM_POSITIONS, "redone_kb"), world.flow.read_source_positions(source).flushed_kb
        ),
    )
    return stream


def detach_receiver(world: World, stream: int) -> None:
    """Detach the receiver of *stream*. It keeps its hardened and redone log. The source continues without it."""
    receiver = world.streams[stream]
    if receiver is None:
        return
    positions = world.flow.read_stream_positions(stream)
    world.dirty.add(world.flow.get_stream_source(stream))
    world.update_copy(
        receiver,
        stream=None,
        end_of_log_kb=positions.hardened_kb,
        redone_kb=positions.redone_kb,
        committed_kb=0.0,
    )
    world.streams[stream] = None


def crash_writer(world: World, source: int) -> None:
    """Stop the writer of *source*. Its unhardened log is lost, except in receivers that already have it.

    Receivers for which commits wait may have it, because their log is sent before the writer has hardened it.
    No commit in unhardened log has been acknowledged.
    """
    received_kb = [
        world.flow.read_stream_positions(stream).received_kb
        for stream in _list_received_streams(world, source)
    ]
    world.flow.set_positions(
        source, generated_kb=max([world.flow.read_source_positions(source).flushed_kb, *received_kb])
    )
    for stream in world.flow.list_source_streams(source):
        world.flow.set_stream_positions(stream, sent_kb=world.flow.read_stream_positions(stream).received_kb)


def restart_writer(world: World, source: int) -> None:
    """Restart the writer of *source* with its hardened log. Receivers discard later log."""
    flushed_kb = world.flow.read_source_positions(source).flushed_kb
    world.flow.set_positions(source, generated_kb=flushed_kb)
    owner = world.sources[source]
    _start_new_branch(world, owner, flushed_kb)
    for stream in world.flow.list_source_streams(source):
        resend_lost_log(world, stream)
        receiver = world.streams[stream]
        if receiver is not None:
            world.update_copy(receiver, lineage=world.copies[owner].lineage)


def _list_received_streams(world: World, source: int) -> list[int]:
    return [stream for stream in world.flow.list_source_streams(source) if world.streams[stream] is not None]


def resend_lost_log(world: World, stream: int) -> None:
    """Resend the log that was in transit when the connection broke."""
    positions = world.flow.read_stream_positions(stream)
    end = min(
        positions.hardened_kb,
        world.flow.read_source_positions(world.flow.get_stream_source(stream)).flushed_kb,
    )
    world.flow.set_stream_positions(
        stream, **_build_positions(STREAM_POSITIONS, end), redone_kb=min(positions.redone_kb, end)
    )


def promote_receiver(world: World, stream: int) -> None:
    """Make the receiver of *stream* the writer of its log.

    The log then ends at the receiver's hardened position. If the old writer is still open (after a forced
    service), it keeps its own log; otherwise its log stops.
    """
    source, receiver = world.flow.get_stream_source(stream), world.streams[stream]
    assert receiver is not None, f"nobody receives stream {stream}"
    hardened_kb = world.flow.read_stream_positions(stream).hardened_kb
    if serving.is_accessible(world, world.sources[source]):
        detach_receiver(world, stream)
        add_source(world, receiver, hardened_kb)
        return
    _store_reached_position(world, source)
    world.sources[source] = receiver
    world.streams[stream] = None
    world.update_copy(receiver, source=source, stream=None)
    world.flow.set_positions(source, **_build_positions(SOURCE_POSITIONS, hardened_kb))
    world.flow.set_stream_positions(stream, **_build_positions((*STREAM_POSITIONS, "redone_kb"), hardened_kb))
    world.dirty.add(source)


SOURCE_POSITIONS = ("generated_kb", "flushed_kb", "committed_kb")
STREAM_POSITIONS = ("sent_kb", "received_kb", "hardened_kb", "acknowledged_kb")


def _build_positions(names: tuple[str, ...], kb: float) -> dict[str, float]:
    return dict.fromkeys(names, kb)


def get_end_of_log_kb(world: World, copy: DatabaseCopy) -> float:
    """Return the end of the hardened log of the copy, in KB."""
    if copy.source is not None:
        return world.flow.read_source_positions(copy.source).flushed_kb
    return (
        copy.end_of_log_kb
        if copy.stream is None
        else world.flow.read_stream_positions(copy.stream).hardened_kb
    )


def get_redone_kb(world: World, copy: DatabaseCopy) -> float:
    """Return the log position up to which the data of the copy are current (redone, if it receives log)."""
    if copy.source is not None:
        return world.flow.read_source_positions(copy.source).generated_kb
    return copy.redone_kb if copy.stream is None else world.flow.read_stream_positions(copy.stream).redone_kb


def get_committed_kb(world: World, copy: DatabaseCopy) -> float:
    """Return the log position of the last commit that was acknowledged to clients of this copy."""
    return (
        copy.committed_kb
        if copy.source is None
        else world.flow.read_source_positions(copy.source).committed_kb
    )


def find_stream_numbers(world: World, copy: DatabaseCopy) -> StreamNumbers | None:
    """Return (source, stream) of the log that *copy* writes or receives; None if there is none."""
    if copy.stream is not None:
        return world.flow.get_stream_source(copy.stream), copy.stream
    if copy.source is None:
        return None
    return copy.source, next(iter(world.flow.list_source_streams(copy.source)), NO_STREAM_NUMBERS[1])


def map_stream_numbers(world: World) -> dict[Key, StreamNumbers]:
    """Return key -> `find_stream_numbers` for every copy that writes or receives log."""
    log_places = ((key, find_stream_numbers(world, copy)) for key, copy in world.copies.items())
    return {key: log_place for key, log_place in log_places if log_place is not None}


def read_counter(world: World, stream_numbers: StreamNumbers, name: str) -> float:
    """Return a counter of the flow model (one of COUNTERS) for a source and stream; 0 if it does not exist."""
    source, stream = stream_numbers
    if name in SOURCE_COUNTERS:
        return world.flow.read_source_counters(source)[SOURCE_COUNTERS.index(name)] if source >= 0 else 0.0
    return world.flow.read_stream_counters(stream)[STREAM_COUNTERS.index(name)] if stream >= 0 else 0.0


def get_workload(copy: DatabaseCopy) -> Workload:
    """Return the current workload of the copy's database."""
    return WORKLOADS[copy.workload]


def is_under_load(copy: DatabaseCopy) -> bool:
    """Return whether clients work in the database. This selects the column of the white paper's table 6."""
    return get_workload(copy).connections * copy.scale >= 1.0


def update_flow(world: World) -> None:
    """Update the flow model for every log whose setup has changed."""
    logs = sorted(world.dirty.intersection(world.sources))
    if not logs:
        world.dirty.clear()
        return
    setups, model = FlowSetups(world), world.flow
    sources: dict[int, SourceSetup] = {}
    streams: dict[int, StreamSetup] = {}
    fitting: dict[int, tuple[int, ...]] = {}
    for source in logs:
        owner = world.sources[source]
        copy = world.copies[owner]
        setup, before = setups.get_source_setup(copy), model.get_source_setup(source)
        fitting[source] = _update_streams(world, source, copy)
        for stream in fitting[source]:
            link, stream_setup = (
                setups.get_stream_setup(copy, world.streams[stream]),
                model.get_stream_setup(stream),
            )
            if link is not stream_setup and link != stream_setup:
                streams[stream] = link
        if setup is not before and setup != before:
            sources[source] = setup
            if before.serving and not setup.serving:
                world.update_copy(owner, open_log_kb=failover_times.compute_open_log_kb(model, source))
    if sources or streams:
        model.update_setups(sources, streams)
    positions = model.read_positions(logs, [stream for source in logs for stream in fitting[source]])
    for source in logs:
        copy, carried_kb = world.copies[world.sources[source]], []
        policy, watched = (
            group_policies.get_policy(copy),
            SOURCE_STOP_CONDITIONS[copy.log_full, copy.operation is None],
        )
        if positions.watched[source] != watched:
            model.watch_source(source, watched)
        for stream in fitting[source]:
            crossings = policy.choose_stop_conditions(world, copy, stream)
            if positions.streams_watched[stream] != crossings:
                model.watch_stream(stream, crossings)
            if world.streams[stream] is not None:
                carried_kb.append(positions.hardened_kb[stream])
        reuse_kb = min([kb for _, kb in _list_holds(world, copy, positions.flushed_kb[source], carried_kb)])
        if positions.reuse_kb[source] != reuse_kb:
            model.set_log_reuse_kb(source, reuse_kb)
    world.dirty.clear()


SOURCE_STOP_CONDITIONS: Final = {
    (False, False): FlowStopCondition.LOG_FULL | FlowStopCondition.OPERATION_DONE,
    (False, True): FlowStopCondition.LOG_FULL,
    (True, False): FlowStopCondition.OPERATION_DONE,
    (True, True): FlowStopCondition(0),
}
"""(log is full, no long operation runs) -> conditions at which the flow model stops for a source."""


def _update_streams(world: World, source: int, copy: DatabaseCopy) -> tuple[int, ...]:
    """Add or remove streams of *source* as the copy's group requires. Return the stream numbers.

    A log in a session always has a stream, whose send queue is the unsent log. Any other log has streams only
    to its receivers.
    """
    streams = world.flow.list_source_streams(source)
    if copy.group_kind:
        return streams or (_add_stream(world, source),)
    for stream in streams:
        if world.streams[stream] is None:
            del world.streams[stream]
            world.flow.remove_stream(stream)
    return world.flow.list_source_streams(source)


def find_log_reuse_kb(world: World, copy: DatabaseCopy, source: int) -> float:
    """Return the log position before which the log may be reused, in KB."""
    return min(position for _, position in list_log_holds(world, copy, source))


def list_log_holds(world: World, copy: DatabaseCopy, source: int) -> list[tuple[str, float]]:
    """Return the reasons that prevent reuse of the log (facts 6.5).

    Each is (log_reuse_wait_desc, log position in KB from which the log must be kept).
    """
    model = world.flow
    carried_kb = [
        model.read_stream_positions(stream).hardened_kb for stream in _list_received_streams(world, source)
    ]
    return _list_holds(world, copy, model.read_source_positions(source).flushed_kb, carried_kb)


def _list_holds(
    world: World, copy: DatabaseCopy, flushed_kb: float, carried_kb: list[float]
) -> list[tuple[str, float]]:
    """Return the reasons of `list_log_holds` for given hardened log positions.

    *flushed_kb*: position of the writer. *carried_kb*: positions of the receivers.
    """
    holds = [("NOTHING", flushed_kb)]
    if copy.full_backup and copy.recovery_model is not RecoveryModel.SIMPLE:
        holds.append(("LOG_BACKUP", copy.last_log_backup_kb))
    if copy.backup_from_kb is not None:
        holds.append(("ACTIVE_BACKUP_OR_RESTORE", copy.backup_from_kb))
    if copy.window_transactions or copy.active_from_kb is not None:
        held_kb = [kb for _, kb, _ in copy.window_transactions]
        held_kb += [copy.active_from_kb] if copy.active_from_kb is not None else []
        holds.append(("ACTIVE_TRANSACTION", min(held_kb)))
    held_for_group = group_policies.get_policy(copy).find_log_hold(world, copy, carried_kb)
    if held_for_group is not None:
        holds.append(held_for_group)
    return holds


def warm_start(world: World) -> None:
    """Set every log to its steady state, as after a long run."""
    update_flow(world)
    for source in sorted(world.sources):
        flow.warm_start(world.flow, source, world.chance.draw_uniform())


run = flow.run_flow
"""Advance the flow model; re-exported so that the simulator depends on one module only."""


# --- setups of the flow model for each log: hardware, load, network, stream terms of its group -------------

NO_COMPRESSION_TRACE_FLAG: Final = 1462
"""Trace flag that turns off compression of the log stream, globally and immediately [DOC: trace flags]."""

MBPS_PER_KB_PER_S: Final = 8.0 * 1024.0 / 1e6

CACHED_SETUPS_MAX: Final = 4_096
"""Maximum number of cached setups. Equal setups are one object, so comparison by identity is sufficient."""


class FlowSetups:
    """Setups of the logs of a world at one time. A setup that many databases share is computed only once."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._users = [
            (frozenset(client.databases), client.connected_to)
            for client in world.clients.values()
            if not client.read_only
        ]
        self._paths: dict[tuple[str, str], _PathSetupPart] = {}

    def get_source_setup(self, copy: DatabaseCopy) -> SourceSetup:
        """Return the setup of the log that *copy* writes."""
        clients, operation = self._has_clients(copy), copy.operation
        return _build_source(
            *self._get_server_setup_part(copy.server).source,
            copy.workload,
            copy.scale if clients or operation is None else 0.0,
            serving.is_copy_serving(self.world, copy) and (clients or operation is not None),
            volumes.compute_log_capacity_kb(copy),
            copy.delayed_durability == 2,
            operation,
        )

    def get_stream_setup(self, lead: DatabaseCopy, receiver: Key | None) -> StreamSetup:
        """Return the setup of the stream from *lead* to the copy *receiver*; None means no receiver."""
        if receiver is None:
            return _build_waiting_stream(*self._get_server_setup_part(lead.server).site)
        follower = self.world.copies[receiver]
        terms = group_policies.get_policy(lead).build_stream_parameters(self.world, lead, follower)
        stream_path = self._get_path_setup_part(lead.server, follower.server)
        return _build_stream(
            *stream_path.stream,
            terms.awaited,
            terms.connected,
            terms.carrying and stream_path.carries,
            terms.sending,
            terms.redoing and stream_path.target_answers,
            lead.compression_ratio if terms.compressed and stream_path.compresses else 1.0,
            terms.redo_threads,
            terms.log_pool,
        )

    def _has_clients(self, copy: DatabaseCopy) -> bool:
        """Return whether an application is connected, or the scenario has no applications for this database."""
        servers = [server for databases, server in self._users if copy.database in databases]
        return not servers or copy.server in servers

    def _get_server_setup_part(self, name: str) -> _ServerSetupPart:
        instance = self.world.instances[name]
        return _ServerSetupPart(instance, self.world.computers[instance.computer])

    def _get_path_setup_part(self, a: str, b: str) -> _PathSetupPart:
        if (a, b) not in self._paths:
            self._paths[a, b] = _PathSetupPart(self.world, a, b, self._get_server_setup_part(a))
        return self._paths[a, b]


class _ServerSetupPart:
    """Part of the setups of sources and streams that is equal for all logs of one server."""

    def __init__(self, instance: Instance, computer: Computer) -> None:
        self.site = (computer.site, computer.cores, instance.max_worker_threads)
        self.source = (
            *self.site,
            instance.host,
            instance.service in (Service.RUNNING, Service.STOPPING) and not instance.hung,
            instance.version,
            computer.log_disk_factor,
            computer.data_disk_factor,
            computer.cpu_factor,
        )


class _PathSetupPart:
    """Part of the setups of streams that is equal for all streams from one server to another."""

    def __init__(self, world: World, a: str, b: str, from_server: _ServerSetupPart) -> None:
        instance, receiver_instance = world.instances[a], world.instances[b]
        computer, path = world.computers[receiver_instance.computer], network.get_link(world, a, b)
        self.target_answers = receiver_instance.answering
        self.carries = (
            instance.answering and receiver_instance.answering and network.can_exchange_packets(world, a, b)
        )
        self.compresses = instance.version >= 2008 and NO_COMPRESSION_TRACE_FLAG not in instance.trace_flags
        self.stream = (
            *from_server.site,
            receiver_instance.host,
            receiver_instance.answering,
            path.rtt_ms,
            path.jitter_ms,
            path.loss,
            _compute_bandwidth_left_mbps(world, a, b, path.bandwidth_mbps),
            security.is_encrypted(world, a, b),
            instance.edition in ENTERPRISE_EDITIONS,
            computer.log_disk_factor,
            computer.data_disk_factor,
            computer.cpu_factor,
        )


def _compute_bandwidth_left_mbps(world: World, a: str, b: str, bandwidth_mbps: float) -> float:
    """Return the bandwidth on the link from *a* to *b* that file copies leave to log streams.

    The bandwidth is shared fairly: the log streams together count as one stream.
    """
    rates = [rate for x, y, rate in world.transfers.values() if (x, y) == (a, b)]
    if not rates:
        return bandwidth_mbps
    return max(
        bandwidth_mbps / (1 + len(rates)), bandwidth_mbps - arithmetic.add_in_order(rates) * MBPS_PER_KB_PER_S
    )


@cache
def _build_site(name: str, cores: int, worker_threads: int) -> ServerHardware:
    """Return the hardware with these cores and workers (0: automatic). Equal arguments return the same object."""
    site = replace(SITES[name], cores=cores)
    return replace(site, worker_threads=worker_threads) if worker_threads else site


@lru_cache(CACHED_SETUPS_MAX)
def _build_source(
    site: str,
    cores: int,
    worker_threads: int,
    host: int,
    alive: bool,
    version: int,
    log_disk_factor: float,
    data_disk_factor: float,
    cpu_factor: float,
    workload: str,
    scale: float,
    serves: bool,
    log_room_kb: float,
    delayed_durability: bool,
    operation: Operation | None,
) -> SourceSetup:
    return SourceSetup(
        site=_build_site(site, cores, worker_threads),
        workload=WORKLOADS[workload],
        scale=scale,
        host=host,
        alive=alive,
        serving=serves,
        version=version,
        log_size_kb=log_room_kb,
        log_max_kb=log_room_kb,  # the current size, because log_space.py grows the log file
        delayed_durability=delayed_durability,
        operation=operation,
        log_disk_factor=log_disk_factor,
        data_disk_factor=data_disk_factor,
        cpu_factor=cpu_factor,
    )


@cache
def _build_waiting_stream(site: str, cores: int, worker_threads: int) -> StreamSetup:
    return StreamSetup(site=_build_site(site, cores, worker_threads), sending=False)


@lru_cache(CACHED_SETUPS_MAX)
def _build_stream(
    site: str,
    cores: int,
    worker_threads: int,
    target_host: int,
    target_alive: bool,
    rtt_ms: float,
    jitter_ms: float,
    loss: float,
    bandwidth_mbps: float,
    encryption: bool,
    enterprise: bool,
    log_disk_factor: float,
    data_disk_factor: float,
    cpu_factor: float,
    awaited: bool,
    connected: bool,
    carrying: bool,
    sending: bool,
    redoing: bool,
    compression_ratio: float,
    redo_threads: int | None,
    log_pool: bool,
) -> StreamSetup:
    return StreamSetup(
        site=_build_site(site, cores, worker_threads),
        target_host=target_host,
        target_alive=target_alive,
        awaited=awaited,
        connected=connected,
        carrying=carrying,
        sending=sending,
        redoing=redoing,
        rtt_ms=rtt_ms,
        jitter_ms=jitter_ms,
        loss=loss,
        bandwidth_mbps=bandwidth_mbps,
        compression_ratio=compression_ratio,
        encryption=encryption,
        enterprise=enterprise,
        redo_threads=redo_threads,
        log_pool=log_pool,
        target_log_disk_factor=log_disk_factor,
        target_data_disk_factor=data_disk_factor,
        target_cpu_factor=cpu_factor,
    )
