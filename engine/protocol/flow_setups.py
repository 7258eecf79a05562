"""Input of the flow model for each log: hardware, load, network, and the terms of its group."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from msgspec.structs import replace

from engine import arithmetic
from engine.constants import ENTERPRISE
from engine.flow import SourceSetup, StreamSetup
from engine.flow.setup import Operation, Site
from engine.flow.sites import SITES, WORKLOADS
from engine.model import Computer, DatabaseCopy, Instance, Key, Service, World
from engine.protocol import groups, network, security, serving, volumes

TRACE_FLAG_NO_COMPRESSION: Final = 1462
"""Trace flag that turns off compression of the log stream, globally and at once. Documented [DOC: trace flags]."""

MBPS_PER_KB_PER_S: Final = 8.0 * 1024.0 / 1e6

SETUPS_KEPT: Final = 4_096
"""Number of cached setups.

Logs with equal setups share one object, so that a comparison by identity finds no change.
"""


class FlowSetups:
    """Setups of the logs of a world at one moment. A setup that many databases share is computed once."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._users = [
            (frozenset(client.databases), client.connected_to)
            for client in world.clients.values()
            if not client.read_only
        ]
        self._servers: dict[str, _LogServer] = {}
        self._paths: dict[tuple[str, str], _StreamPath] = {}

    def source_setup(self, copy: DatabaseCopy) -> SourceSetup:
        """Return the setup of the log that *copy* writes."""
        clients, operation = self._has_clients(copy), copy.operation
        return _source(
            *self._server(copy.server).source,
            copy.workload,
            copy.scale if clients or operation is None else 0.0,
            serving.is_copy_serving(self.world, copy) and (clients or operation is not None),
            volumes.log_room_kb(copy),
            copy.delayed_durability == 2,
            operation,
        )

    def stream_setup(self, lead: DatabaseCopy, receiver: Key | None) -> StreamSetup:
        """Return the setup of the stream from *lead* to the copy *receiver*; None: no receiver yet."""
        if receiver is None:
            return _waiting(*self._server(lead.server).site)
        follow = self.world.copies[receiver]
        terms = groups.policy(lead).stream_terms(self.world, lead, follow)
        way = self._find_stream_path(lead.server, follow.server)
        return _stream(
            *way.stream,
            terms.awaited,
            terms.connected,
            terms.carrying and way.carries,
            terms.sending,
            terms.redoing and way.target_answers,
            lead.compression_ratio if terms.compressed and way.compresses else 1.0,
            terms.redo_threads,
            terms.log_pool,
        )

    def _has_clients(self, copy: DatabaseCopy) -> bool:
        """Return whether an application is connected, or the scenario names no applications."""
        servers = [server for databases, server in self._users if copy.database in databases]
        return not servers or copy.server in servers

    def _server(self, name: str) -> _LogServer:
        if name not in self._servers:
            here = self.world.instances[name]
            self._servers[name] = _LogServer(here, self.world.computers[here.computer])
        return self._servers[name]

    def _find_stream_path(self, a: str, b: str) -> _StreamPath:
        if (a, b) not in self._paths:
            self._paths[a, b] = _StreamPath(self.world, a, b, self._server(a))
        return self._paths[a, b]


class _LogServer:
    """Setup that all logs written on one server share."""

    def __init__(self, here: Instance, computer: Computer) -> None:
        self.site = (computer.site, computer.cores, here.max_worker_threads)
        self.source = (
            *self.site,
            here.host,
            here.service in (Service.RUNNING, Service.STOPPING) and not here.hung,
            here.version,
            computer.log_disk_factor,
            computer.data_disk_factor,
            computer.cpu_factor,
        )


class _StreamPath:
    """Setup that all streams from one server to another share."""

    def __init__(self, world: World, a: str, b: str, from_server: _LogServer) -> None:
        here, there = world.instances[a], world.instances[b]
        computer, path = world.computers[there.computer], network.link(world, a, b)
        self.target_answers = there.answering
        self.carries = here.answering and there.answering and network.is_passing(world, a, b)
        self.compresses = here.version >= 2008 and TRACE_FLAG_NO_COMPRESSION not in here.trace_flags
        self.stream = (
            *from_server.site,
            there.host,
            there.answering,
            path.rtt_ms,
            path.jitter_ms,
            path.loss,
            _bandwidth_left_mbps(world, a, b, path.bandwidth_mbps),
            security.encrypted(world, a, b),
            here.edition in ENTERPRISE,
            computer.log_disk_factor,
            computer.data_disk_factor,
            computer.cpu_factor,
        )


def _bandwidth_left_mbps(world: World, a: str, b: str, bandwidth_mbps: float) -> float:
    """Return the bandwidth that file copies leave on the link from *a* to *b*.

    Streams share the link fairly, and mirroring is one of them.
    """
    rates = [rate for x, y, rate in world.transfers.values() if (x, y) == (a, b)]
    if not rates:
        return bandwidth_mbps
    return max(
        bandwidth_mbps / (1 + len(rates)), bandwidth_mbps - arithmetic.total(rates) * MBPS_PER_KB_PER_S
    )


@cache
def _site(name: str, cores: int, worker_threads: int) -> Site:
    """Return the hardware with the server's cores and workers (0: automatic), one object for equal values."""
    site = replace(SITES[name], cores=cores)
    return replace(site, worker_threads=worker_threads) if worker_threads else site


@lru_cache(SETUPS_KEPT)
def _source(
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
        site=_site(site, cores, worker_threads),
        workload=WORKLOADS[workload],
        scale=scale,
        host=host,
        alive=alive,
        serving=serves,
        version=version,
        log_size_kb=log_room_kb,
        log_max_kb=log_room_kb,  # current size: `logspace` lets it grow
        delayed_durability=delayed_durability,
        operation=operation,
        log_disk_factor=log_disk_factor,
        data_disk_factor=data_disk_factor,
        cpu_factor=cpu_factor,
    )


@cache
def _waiting(site: str, cores: int, worker_threads: int) -> StreamSetup:
    return StreamSetup(site=_site(site, cores, worker_threads), sending=False)


@lru_cache(SETUPS_KEPT)
def _stream(
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
        site=_site(site, cores, worker_threads),
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
