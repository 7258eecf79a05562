"""Where rows run: instances, what they have, and the links between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.flow import derive
from engine.flow import kernel as k
from engine.flow.setup import RowSetup, redo_threads, worker_threads

Array = np.ndarray[Any, Any]
Setups = Sequence[RowSetup | None]


def lay_out(setups: Setups, hosts_before: Array) -> tuple[Array, Array, Array]:
    """Place of each row, table of instances (counts so far kept) and table of links, as the setups say."""
    place = np.full((len(setups), 3), -1, dtype=np.int64)
    pairs: dict[tuple[int, int], int] = {}
    bandwidth: dict[int, float] = {}
    for row, setup in enumerate(setups):
        if setup is None:
            place[row, k.HOST] = 0
            continue
        place[row, k.HOST] = setup.host
        place[row, k.MIRROR_HOST] = setup.mirror_host
        if setup.mirror_host >= 0:
            link = pairs.setdefault((setup.host, setup.mirror_host), len(pairs))
            place[row, k.LINK] = link
            bandwidth[link] = derive.link_kb_per_s(setup)
    links = np.zeros((len(pairs), k.LINK_COLUMNS))
    links[:, k.LINK_KB] = list(bandwidth.values())
    return place, _instances(setups, hosts_before), links


def mirroring_threads(setups: Setups) -> dict[int, int]:
    """Threads that mirroring takes on each instance: 1, and per database 2 or, as mirror, 3 + redo threads.

    Documented: "Mirroring a Large Number of Databases in a Single SQL Server Instance".
    """
    threads: dict[int, int] = {}
    for setup in setups:
        if setup is not None and setup.mirror_host >= 0:
            as_mirror = 3 + redo_threads(setup.site.cores, setup.enterprise)
            threads[setup.host] = threads.get(setup.host, 1) + 2
            threads[setup.mirror_host] = threads.get(setup.mirror_host, 1) + as_mirror
    return threads


def _instances(setups: Setups, before: Array) -> Array:
    sites = {}
    for setup in setups:
        if setup is not None:
            sites[setup.host] = setup.site
            if setup.mirror_host >= 0:
                sites.setdefault(setup.mirror_host, setup.site)
    hosts = np.zeros((max(max(sites, default=-1) + 1, len(before)), k.HOST_COLUMNS))
    hosts[: len(before)] = before
    hosts[:, k.CORES] = np.maximum(hosts[:, k.CORES], 1.0)
    threads = mirroring_threads(setups)
    for host, site in sites.items():
        workers = site.worker_threads or worker_threads(site.cores)
        hosts[host, k.CORES] = site.cores
        hosts[host, k.WORKERS] = workers - threads.get(host, 0)
        hosts[host, k.WAKE_UP_S] = site.wake_up_us / 1e6
        hosts[host, k.LOG_STREAMS] = site.log_streams
        hosts[host, k.BACKGROUND] = site.background_cores
        hosts[host, k.DATA_PAGES] = site.checkpoint_pages_per_s
    return hosts
