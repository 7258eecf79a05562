"""From the setup of a row to the parameters of its compiled step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.constants import TICKS_PER_S
from engine.flow import kernel as k
from engine.flow.setup import Mode, RowSetup, redo_threads, tries_compression, wire_ratio

KB_PER_S_OF_MBPS = 1e6 / 8.0 / 1024.0
"""1 Mbps in KB/s; a KB of log is 1,024 bytes."""

LOSS_THROUGHPUT = 1.22
"""Mathis: packets in flight under random loss p are 1.22 / sqrt(p). Known."""

RETRANSMIT_MIN_S = 0.3
"""Least time until a lost packet at the end of a message is sent again. Known (Windows minimum time-out)."""

WANDER_S = 0.1
"""Time over which the jitter of a path changes. Assumed."""

REDO_READ_S_PER_TOUCH = 1e-4
"""What each factor by which the mirror's data disk is slower adds to the redo of a page: 2 % of the pages are not in
memory, a random read takes 5 ms. Assumed; at factor 1 reading is part of the calibrated cost of redo."""

TINY_KB = 1e-6

STEPS_PER_TICK_MAX = 16
"""Quicker loops than 0.6 ms are not told apart."""


def attached(setup: RowSetup) -> bool:
    """Whether log is meant to go to a mirror at all."""
    return setup.mode != Mode.NONE and setup.connected and setup.sending


def carries(setup: RowSetup) -> bool:
    """Whether log really gets to the mirror."""
    reachable = setup.carrying and setup.alive and setup.mirror_alive and setup.mirror_host >= 0
    return attached(setup) and reachable


def link_kb_per_s(setup: RowSetup) -> float:
    """What the link between the two servers carries, in wire KB/s of log."""
    return setup.bandwidth_mbps * KB_PER_S_OF_MBPS * setup.site.wire_efficiency


def session_kb_per_s(setup: RowSetup) -> float:
    """Wire KB/s that one session can send on its own: a window each round trip, less under packet loss."""
    site = setup.site
    handling_s = handling_ms(setup) / 1000.0
    window = site.send_window_kb
    if setup.loss > 0.0:
        window = min(window, k.PACKET_KB * max(1.0, LOSS_THROUGHPUT / math.sqrt(setup.loss)))
    if setup.mode == Mode.FULL and not site.window_in_full and setup.loss == 0.0:
        return link_kb_per_s(setup)
    return min(link_kb_per_s(setup), window / (setup.rtt_ms / 1000.0 + handling_s))


def handling_ms(setup: RowSetup) -> float:
    """Time in which the two ends handle a full window; without encryption both save their part of it."""
    site = setup.site
    saved = 0.0 if setup.encryption else 2.0 * site.send_window_kb * site.encryption_cpu_us_per_kb / 1000.0
    return site.window_handling_ms - saved


def steps_per_tick(setup: RowSetup) -> int:
    """Steps in a tick that this workload needs: the loop of a connection closes once a step, not oftener."""
    load = setup.workload
    loop_s = load.think_s + load.other_delay_ms / 1000.0
    steps = 1
    while steps < STEPS_PER_TICK_MAX and 1.0 / TICKS_PER_S / steps > loop_s:
        steps *= 2
    return steps


def parameters(setup: RowSetup, dt: float) -> np.ndarray[Any, Any]:
    """The parameter row of *setup* for steps of *dt* seconds. ValueError: a figure that makes no sense."""
    site, load = setup.site, setup.workload
    if load.log_kb_per_transaction <= 0.0 or load.hot_pages <= 0.0:
        raise ValueError(f"{load.name}: log per transaction and hot pages must be above zero")
    if not 0.0 <= setup.loss < 1.0 or setup.bandwidth_mbps <= 0.0 or setup.rtt_ms < 0.0:
        raise ValueError(
            f"no such link: rtt {setup.rtt_ms} ms, {setup.bandwidth_mbps} Mbps, loss {setup.loss}"
        )
    p = np.zeros(k.PARAMETER_COLUMNS)
    p[k.ACTIVE] = 1.0
    p[k.ALIVE] = setup.alive
    p[k.MIRRORED] = setup.mode != Mode.NONE
    p[k.MIRROR_ALIVE] = setup.mirror_alive and setup.mirror_host >= 0
    _clients(p, setup, dt)
    _local_log(p, setup, dt)
    _session(p, setup, dt)
    _mirror(p, setup, dt)
    _cpu(p, setup)
    p[k.CHECKPOINT_EVERY_S] = site.checkpoint_interval_s
    p[k.CHECKPOINT_PAGES] = site.checkpoint_pages_per_s * dt / max(1.0, setup.data_disk_factor)
    if setup.operation is not None and setup.serving:
        p[k.OPERATION_KB] = setup.operation.rate_kb_per_s * dt
        p[k.OPERATION_BATCH] = setup.operation.batch_kb
    return p


def _clients(p: np.ndarray[Any, Any], setup: RowSetup, dt: float) -> None:
    load = setup.workload
    p[k.CONNECTIONS] = load.connections * setup.scale
    # Closing the loop costs one step: what think time is too short for is taken from the other delay.
    if setup.serving:
        p[k.THINK_OUT] = min(1.0, dt / load.think_s) if load.think_s > 0.0 else 1.0
    p[k.THINK_INSIDE] = max(0.0, 1.0 - load.think_s / dt)
    other_s = max(0.0, load.other_delay_ms / 1000.0 - max(0.0, dt - load.think_s))
    p[k.OTHER_OUT] = dt / (other_s + dt)
    p[k.CPU_S] = load.cpu_ms / 1000.0 * max(1.0, setup.cpu_factor)
    p[k.CPU_OUT] = dt / (dt + p[k.CPU_S])
    p[k.LOG_KB] = load.log_kb_per_transaction
    p[k.TOUCHES_PER_KB] = load.page_touches / load.log_kb_per_transaction
    p[k.HOT_INVERSE] = 1.0 / load.hot_pages


def _local_log(p: np.ndarray[Any, Any], setup: RowSetup, dt: float) -> None:
    site = setup.site
    write_s = site.log_write_ms / 1000.0 * max(1.0, setup.log_disk_factor)
    block_s = write_s
    if attached(setup):
        block_s += site.mirror_copy_ms / 1000.0
        block_s += 0.0 if setup.availability_group else write_s * site.log_reread_share
    connections = setup.workload.connections * setup.scale
    p[k.WRITE_S] = write_s
    p[k.BLOCK_KB] = site.log_block_kb
    p[k.PER_BLOCK] = 1.0 / site.log_block_kb
    p[k.FLUSH_KB] = site.log_block_kb / block_s * dt
    p[k.CROWD] = max(0.0, (connections - 1.0) / connections) if connections > 0.0 else 0.0
    p[k.PER_TWO_CROWD] = 0.5 / p[k.CROWD] if p[k.CROWD] > 0.0 else 0.0
    p[k.LIMIT] = site.log_limit_kb_2005 if setup.version < 2008 else site.log_limit_kb
    p[k.LOG_MAX] = setup.log_max_kb
    p[k.DELAYED] = setup.delayed_durability and setup.version >= 2014


def _session(p: np.ndarray[Any, Any], setup: RowSetup, dt: float) -> None:
    site = setup.site
    ratio = wire_ratio(setup.compression_ratio, setup.version)
    full = setup.mode == Mode.FULL
    p[k.CARRYING] = carries(setup)
    p[k.WAITS] = attached(setup) and full
    p[k.FROM_GENERATED] = full
    p[k.WIRE_RATIO] = ratio
    p[k.PER_WIRE] = 1.0 / ratio
    p[k.WINDOW_KB] = site.send_window_kb / ratio
    p[k.SEND_KB] = session_kb_per_s(setup) / ratio * dt
    p[k.ONE_WAY_STEPS] = setup.rtt_ms / 2000.0 / dt
    handling_s_per_kb = handling_ms(setup) / 1000.0 / site.send_window_kb
    per_kb_s = ratio * (1.0 / (setup.bandwidth_mbps * KB_PER_S_OF_MBPS) + handling_s_per_kb)
    p[k.PER_MESSAGE_KB_STEPS] = per_kb_s / dt
    p[k.ACK_STEPS] = (setup.rtt_ms / 2000.0 + (site.ack_latency_ms / 1000.0 if full else 0.0)) / dt
    back = min(1.0, dt / WANDER_S)
    p[k.JITTER_STEPS] = setup.jitter_ms / 1000.0 / dt
    p[k.WANDER_BACK] = back
    p[k.WANDER_KICK] = math.sqrt(back * (2.0 - back))  # keeps the spread whatever the step
    p[k.LOSS_PER_KB] = setup.loss * ratio / k.PACKET_KB
    p[k.ROUND_TRIP_S] = setup.rtt_ms / 1000.0
    p[k.RETRANSMIT_S] = RETRANSMIT_MIN_S


def _mirror(p: np.ndarray[Any, Any], setup: RowSetup, dt: float) -> None:
    site = setup.site
    write_s = site.log_write_ms / 1000.0 * max(1.0, setup.mirror_log_disk_factor)
    beta = dt / write_s
    p[k.HARDEN_OUT] = beta / (1.0 + beta)
    p[k.HARDEN_KB] = site.log_block_kb * beta
    touch_s = site.redo_cpu_us_per_touch / 1e6 * max(1.0, setup.mirror_cpu_factor)
    threads = redo_threads(site.cores, setup.enterprise)
    slow = max(1.0, setup.mirror_data_disk_factor)
    if setup.redoing:
        thread_s = touch_s + (slow - 1.0) * REDO_READ_S_PER_TOUCH
        p[k.REDO_KB] = threads / max(thread_s * p[k.TOUCHES_PER_KB], TINY_KB) * dt
    p[k.REDO_S_PER_KB] = touch_s * p[k.TOUCHES_PER_KB]
    p[k.CONTINUOUS] = not setup.availability_group
    p[k.FLUSH_OUT] = dt / (site.mirror_flush_s * slow)
    speed = site.mirror_flush_pages_per_s if p[k.CONTINUOUS] else site.checkpoint_pages_per_s
    p[k.MIRROR_PAGES] = speed / slow * dt
    p[k.MIRROR_PAGE_COST] = site.checkpoint_pages_per_s / speed * slow


def _cpu(p: np.ndarray[Any, Any], setup: RowSetup) -> None:
    site = setup.site
    ratio = wire_ratio(setup.compression_ratio, setup.version)
    per_kb = site.wire_cpu_us_per_kb - (0.0 if setup.encryption else site.encryption_cpu_us_per_kb)
    compress = decompress = 0.0
    if tries_compression(setup.compression_ratio, setup.version):
        compress = site.compress_cpu_us_per_kb
        decompress = site.decompress_cpu_us_per_kb if ratio < 1.0 else 0.0
    extra_ms = site.full_message_cpu_ms if setup.mode == Mode.FULL else 0.0
    p[k.PER_MESSAGE_CPU] = (site.message_cpu_ms + extra_ms) / 1000.0
    p[k.PER_KB_CPU] = (per_kb * ratio + compress) / 1e6
    p[k.MIRROR_PER_MESSAGE_CPU] = site.mirror_message_cpu_ms / 1000.0
    p[k.MIRROR_PER_KB_CPU] = (per_kb * ratio + decompress) / 1e6
