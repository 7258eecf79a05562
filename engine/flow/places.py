"""Placement of sources and streams on instances, with the instances' resources and the links."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from engine.flow import derive
from engine.flow import kernel as k
from engine.flow.setup import SourceSetup, StreamSetup, compute_redo_threads, compute_worker_threads

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.uint64]
SourceSetups = Sequence[SourceSetup | None]
StreamSetups = Sequence[tuple[int, StreamSetup] | None]
"""(number of the source, setup) of each stream; None for an unused stream number."""


class Placement(Struct, frozen=True):
    """Placement of sources and streams on instances, as arrays for the compiled step.

    Numbers are unsigned, so that the step need not check their sign.
    """

    host_of: Numbers  # instance of each source
    place: Numbers  # per stream: number of its source, receiving instance and link; 0 if it has no receiving instance
    hosts: Array
    links: Array


def build_placement(sources: SourceSetups, streams: StreamSetups, old_hosts: Array) -> Placement:
    """Return the placement for these setups. The instances keep their totals from *old_hosts*."""
    host_of = np.array([source.host if source else 0 for source in sources], dtype=np.uint64)
    place = np.zeros((len(streams), 3), dtype=np.uint64)
    pairs: dict[tuple[int, int], int] = {}
    bandwidth: dict[int, float] = {}
    for number, stream in enumerate(streams):
        if stream is None:
            continue
        owner, setup = stream
        source = sources[owner]
        assert source is not None, f"stream {number} has no source"
        place[number, k.SOURCE] = owner
        if setup.target_host >= 0:
            place[number, k.TARGET] = setup.target_host
            link = pairs.setdefault((source.host, setup.target_host), len(pairs))
            place[number, k.LINK] = link
            bandwidth[link] = derive.compute_link_kb_per_s(source.site, setup.bandwidth_mbps)
    links = np.zeros((len(pairs), k.LINK_COLUMNS))
    links[:, k.LINK_KB] = list(bandwidth.values())
    return Placement(host_of, place, _place_instances(sources, streams, old_hosts), links)


def get_source_placement(setup: SourceSetup | None) -> object:
    """Return the values of a source's setup that determine its placement."""
    return setup and (setup.host, setup.site)


def get_stream_placement(stream: tuple[int, StreamSetup] | None) -> object:
    """Return the values of a stream's setup that determine its placement."""
    if stream is None:
        return None
    source, setup = stream
    return (
        source,
        setup.target_host,
        setup.site,
        setup.bandwidth_mbps,
        setup.enterprise,
        setup.redo_threads,
    )


def count_mirroring_threads(sources: SourceSetups, streams: StreamSetups) -> dict[int, int]:
    """Return the number of threads that mirroring uses on each instance.

    It is 1, plus 2 per principal database, plus 3 and the redo threads per mirror database. Documented:
    "Mirroring a Large Number of Databases in a Single SQL Server Instance".
    """
    threads: dict[int, int] = {}
    for host, setup in _list_receiving_streams(sources, streams, of_groups=False):
        threads[host] = threads.get(host, 1) + 2
        as_target = 3 + compute_redo_threads(setup.site.cores, setup.enterprise)
        threads[setup.target_host] = threads.get(setup.target_host, 1) + as_target
    return threads


PARALLEL_REDO_WORKERS_MAX = 100
"""Maximum number of parallel redo workers of an instance. Further databases are redone by a single thread.

Documented [DOC: thread usage of groups].
"""


def count_group_threads(sources: SourceSetups, streams: StreamSetups) -> dict[int, int]:
    """Return the number of worker threads that availability groups use on each instance.

    A primary database uses one thread to capture its log and one per secondary to send it. A secondary
    database uses one redo manager and its redo workers. [DOC: thread usage of groups]
    """
    threads: dict[int, int] = {}
    workers: dict[int, int] = {}
    grouped = [
        stream is not None and stream[1].redo_threads is not None and stream[1].target_host >= 0
        for stream in streams
    ]
    owners = (
        stream[0]
        for stream, of_group in zip(streams, grouped, strict=True)
        if stream is not None and of_group
    )
    for owner in dict.fromkeys(owners):
        source = sources[owner]
        assert source is not None
        threads[source.host] = threads.get(source.host, 0) + 1
    for host, setup in _list_receiving_streams(sources, streams, of_groups=True):
        target, thread_count = setup.target_host, setup.redo_threads or 0
        own_threads = (
            thread_count
            if thread_count > 1 and workers.get(target, 0) + thread_count <= PARALLEL_REDO_WORKERS_MAX
            else 0
        )
        workers[target] = workers.get(target, 0) + own_threads
        threads[host] = threads.get(host, 0) + 1
        threads[target] = threads.get(target, 0) + 1 + own_threads
    return threads


def _list_receiving_streams(
    sources: SourceSetups, streams: StreamSetups, of_groups: bool
) -> Iterator[tuple[int, StreamSetup]]:
    """Yield (sending instance, setup) of every stream with a receiving instance.

    *of_groups* True selects the streams of availability groups, False selects the streams of mirroring.
    """
    for stream in streams:
        if (
            stream is None
            or stream[1].target_host < 0
            or (stream[1].redo_threads is not None) is not of_groups
        ):
            continue
        source = sources[stream[0]]
        assert source is not None
        yield source.host, stream[1]


def _place_instances(sources: SourceSetups, streams: StreamSetups, old_hosts: Array) -> Array:
    sites = {}
    for stream in streams:
        if stream is not None and stream[1].target_host >= 0:
            sites[stream[1].target_host] = stream[1].site
    sites |= {source.host: source.site for source in sources if source is not None}
    hosts = np.zeros((max(max(sites, default=-1) + 1, len(old_hosts)), k.HOST_COLUMNS))
    hosts[: len(old_hosts)] = old_hosts
    hosts[:, k.CORES] = np.maximum(hosts[:, k.CORES], 1.0)
    mirroring, groups = count_mirroring_threads(sources, streams), count_group_threads(sources, streams)
    for host, site in sites.items():
        workers = site.worker_threads or compute_worker_threads(site.cores)
        hosts[host, k.CORES] = site.cores
        hosts[host, k.WORKERS] = workers - mirroring.get(host, 0) - groups.get(host, 0)
        hosts[host, k.WAKE_UP_S] = site.wake_up_us / 1e6
        hosts[host, k.LOG_STREAMS] = site.log_streams
        hosts[host, k.BACKGROUND] = site.background_cores
        hosts[host, k.DATA_PAGES] = site.checkpoint_pages_per_s
    return hosts
