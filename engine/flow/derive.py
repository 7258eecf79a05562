"""Parameters of the compiled step, derived from the setups of sources and streams."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from engine.constants import RETRANSMIT_MIN_S, TICKS_PER_S
from engine.flow import kernel as k
from engine.flow.setup import (
    ServerHardware,
    SourceSetup,
    StreamSetup,
    compute_wire_ratio,
    get_redo_threads,
    should_try_compression,
)

KB_PER_S_PER_MBPS = 1e6 / 8.0 / 1024.0
"""1 Mbps in KB/s; a KB of log has 1,024 bytes."""

MATHIS_CONSTANT = 1.22
"""Mathis constant: 1.22 / sqrt(p) packets are in flight under random loss p. Known."""

SLOW_JITTER_TIME_SCALE_S = 0.1
"""Time scale of the slow part of a path's jitter. Assumed."""

REDO_READ_S_PER_TOUCH = 1e-4
"""Extra redo time per page change if the slowdown factor of the mirror's data disk rises by 1. Assumed.

2% of the pages are not in memory, and a random read takes 5 ms. At factor 1 the calibrated redo cost includes
reading.
"""

TINY_KB = 1e-6

CACHED_ROWS_MAX = 4_096
"""Maximum number of cached parameter rows, for sources and for streams separately: about 2 MB.

Assumed: many databases are identical.
"""

STEPS_PER_TICK_MAX = 16
"""Maximum number of steps per tick. Request cycles shorter than 0.6 ms are not resolved."""


Array = npt.NDArray[np.float64]


def should_send_log(stream: StreamSetup) -> bool:
    """Return whether the source should send log: the target is connected, and the session is not suspended."""
    return stream.connected and stream.sending


def can_deliver_log(source: SourceSetup, stream: StreamSetup) -> bool:
    """Return whether sent log reaches the stream's target: both instances run and the link works."""
    reachable = stream.carrying and source.alive and stream.target_alive and stream.target_host >= 0
    return should_send_log(stream) and reachable


def compute_link_kb_per_s(site: ServerHardware, bandwidth_mbps: float) -> float:
    """Return the capacity of a link from an instance with the hardware *site*.

    The capacity is in KB/s of log after compression.
    """
    return bandwidth_mbps * KB_PER_S_PER_MBPS * site.wire_efficiency


def compute_stream_kb_per_s(site: ServerHardware, stream: StreamSetup) -> float:
    """Return the maximum send rate of a single stream, in KB/s after compression.

    The limit is one window per round trip, and less under packet loss.
    """
    handling_s = compute_window_handling_ms(site, stream) / 1000.0
    window = site.send_window_kb
    if stream.loss > 0.0:
        window = min(window, k.PACKET_KB * max(1.0, MATHIS_CONSTANT / math.sqrt(stream.loss)))
    if stream.awaited and not site.window_in_full and stream.loss == 0.0:
        return compute_link_kb_per_s(site, stream.bandwidth_mbps)
    return min(
        compute_link_kb_per_s(site, stream.bandwidth_mbps), window / (stream.rtt_ms / 1000.0 + handling_s)
    )


def compute_window_handling_ms(site: ServerHardware, stream: StreamSetup) -> float:
    """Return the time that both ends need to process a full window, in ms. It is shorter without encryption."""
    saved = 0.0 if stream.encryption else 2.0 * site.send_window_kb * site.encryption_cpu_us_per_kb / 1000.0
    return site.window_handling_ms - saved


def compute_steps_per_tick(setup: SourceSetup) -> int:
    """Return the number of steps per tick that this workload needs.

    A connection completes at most one request cycle per step.
    """
    load = setup.workload
    loop_s = load.think_s + load.other_delay_ms / 1000.0
    steps = 1
    while steps < STEPS_PER_TICK_MAX and 1.0 / TICKS_PER_S / steps > loop_s:
        steps *= 2
    return steps


@lru_cache(CACHED_ROWS_MAX)
def derive_source_parameters(source: SourceSetup, streams: tuple[StreamSetup, ...], dt: float) -> Array:
    """Return the parameter row of *source* for steps of *dt* seconds. Raise ValueError for an impossible value."""
    site, load = source.site, source.workload
    if load.log_kb_per_transaction <= 0.0 or load.hot_pages <= 0.0:
        raise ValueError(f"{load.name}: log per transaction and hot pages must be above zero")
    p = np.zeros(k.SOURCE_PARAMETERS)
    p[k.ACTIVE] = 1.0
    p[k.ALIVE] = source.alive
    p[k.WAITS] = any(should_send_log(stream) and stream.awaited for stream in streams)
    _set_client_parameters(p, source, dt)
    _set_log_parameters(p, source, [stream for stream in streams if should_send_log(stream)], dt)
    p[k.CHECKPOINT_EVERY_S] = site.checkpoint_interval_s
    p[k.CHECKPOINT_PAGES] = site.checkpoint_pages_per_s * dt / max(1.0, source.data_disk_factor)
    if source.operation is not None and source.serving:
        p[k.OPERATION_KB] = source.operation.rate_kb_per_s * dt
        p[k.OPERATION_BATCH] = source.operation.batch_kb
    p.setflags(write=False)
    return p


@lru_cache(CACHED_ROWS_MAX)
def derive_stream_parameters(source: SourceSetup, stream: StreamSetup, dt: float) -> Array:
    """Return the parameter row of a stream of *source* for steps of *dt* seconds.

    Raise ValueError for an impossible link.
    """
    if not 0.0 <= stream.loss < 1.0 or stream.bandwidth_mbps <= 0.0 or stream.rtt_ms < 0.0:
        raise ValueError(
            f"invalid link: rtt {stream.rtt_ms} ms, {stream.bandwidth_mbps} Mbps, loss {stream.loss}"
        )
    p = np.zeros(k.STREAM_PARAMETERS)
    p[k.STREAM_ACTIVE] = 1.0
    p[k.RECEIVED_BY] = stream.target_host >= 0
    p[k.TARGET_ALIVE] = stream.target_alive and stream.target_host >= 0
    _set_link_parameters(p, source, stream, dt)
    _set_target_parameters(p, source, stream, dt)
    _set_cpu_parameters(p, source, stream)
    p.setflags(write=False)
    return p


def compute_delay_steps(stream: Array) -> float:
    """Return the longest delay of a message of the stream in either direction, in steps."""
    message = stream[k.WINDOW_KB] * stream[k.PER_MESSAGE_KB_STEPS]
    delay = stream[k.ONE_WAY_STEPS] + message + 4.0 * stream[k.JITTER_STEPS]
    return max(float(stream[k.ACK_STEPS]), float(delay))


def _set_client_parameters(p: Array, setup: SourceSetup, dt: float) -> None:
    load = setup.workload
    p[k.CONNECTIONS] = load.connections * setup.scale
    # A connection needs one step to return to the start of its cycle. This step is deducted from the think
    # time. If the think time is shorter than a step, the rest is deducted from the other delay.
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


def _set_log_parameters(p: Array, source: SourceSetup, streams: Sequence[StreamSetup], dt: float) -> None:
    """Set the parameters of the local log.

    *streams* are the streams to which log is sent; each block goes to all of them at once.
    """
    site = source.site
    write_s = site.log_write_ms / 1000.0 * max(1.0, source.log_disk_factor)
    block_s = write_s
    if streams:
        block_s += site.mirror_copy_ms / 1000.0
        pooled = all(stream.log_pool for stream in streams)
        block_s += 0.0 if pooled else write_s * site.log_reread_share
    connections = source.workload.connections * source.scale
    p[k.WRITE_S] = write_s
    p[k.BLOCK_KB] = site.log_block_kb
    p[k.PER_BLOCK] = 1.0 / site.log_block_kb
    p[k.FLUSH_KB] = site.log_block_kb / block_s * dt
    p[k.CROWD] = max(0.0, (connections - 1.0) / connections) if connections > 0.0 else 0.0
    p[k.PER_TWO_CROWD] = 0.5 / p[k.CROWD] if p[k.CROWD] > 0.0 else 0.0
    p[k.LIMIT] = site.log_limit_kb_2005 if source.version < 2008 else site.log_limit_kb
    p[k.LOG_MAX] = source.log_max_kb
    p[k.DELAYED] = source.delayed_durability and source.version >= 2014


def _set_link_parameters(p: Array, source: SourceSetup, stream: StreamSetup, dt: float) -> None:
    site = source.site
    ratio = compute_wire_ratio(stream.compression_ratio, source.version)
    p[k.CARRYING] = can_deliver_log(source, stream)
    p[k.AWAITED] = should_send_log(stream) and stream.awaited
    p[k.FROM_GENERATED] = stream.awaited
    p[k.WIRE_RATIO] = ratio
    p[k.PER_WIRE] = 1.0 / ratio
    p[k.WINDOW_KB] = site.send_window_kb / ratio
    p[k.SEND_KB] = compute_stream_kb_per_s(site, stream) / ratio * dt
    p[k.ONE_WAY_STEPS] = stream.rtt_ms / 2000.0 / dt
    handling_s_per_kb = compute_window_handling_ms(site, stream) / 1000.0 / site.send_window_kb
    per_kb_s = ratio * (1.0 / (stream.bandwidth_mbps * KB_PER_S_PER_MBPS) + handling_s_per_kb)
    p[k.PER_MESSAGE_KB_STEPS] = per_kb_s / dt
    answer_s = site.ack_latency_ms / 1000.0 if stream.awaited else 0.0
    p[k.ACK_STEPS] = (stream.rtt_ms / 2000.0 + answer_s) / dt
    return_share = min(1.0, dt / SLOW_JITTER_TIME_SCALE_S)
    p[k.JITTER_STEPS] = stream.jitter_ms / 1000.0 / dt
    p[k.WANDER_BACK] = return_share
    # this factor keeps the variance independent of the step length
    p[k.WANDER_KICK] = math.sqrt(return_share * (2.0 - return_share))
    p[k.LOSS_PER_KB] = stream.loss * ratio / k.PACKET_KB
    p[k.ROUND_TRIP_S] = stream.rtt_ms / 1000.0
    p[k.RETRANSMIT_S] = RETRANSMIT_MIN_S


def _set_target_parameters(p: Array, source: SourceSetup, stream: StreamSetup, dt: float) -> None:
    site, load = stream.site, source.workload
    write_s = site.log_write_ms / 1000.0 * max(1.0, stream.target_log_disk_factor)
    beta = dt / write_s
    p[k.HARDEN_OUT] = beta / (1.0 + beta)
    p[k.HARDEN_KB] = site.log_block_kb * beta
    touches_per_kb = load.page_touches / load.log_kb_per_transaction
    touch_s = site.redo_cpu_us_per_touch / 1e6 * max(1.0, stream.target_cpu_factor)
    threads = get_redo_threads(stream)
    slow = max(1.0, stream.target_data_disk_factor)
    if stream.redoing:
        thread_s = touch_s + (slow - 1.0) * REDO_READ_S_PER_TOUCH
        p[k.REDO_KB] = threads / max(thread_s * touches_per_kb, TINY_KB) * dt
    p[k.REDO_S_PER_KB] = touch_s * touches_per_kb
    p[k.CONTINUOUS] = not stream.log_pool
    p[k.FLUSH_OUT] = dt / (site.mirror_flush_s * slow)
    speed = site.checkpoint_pages_per_s if stream.log_pool else site.mirror_flush_pages_per_s
    p[k.TARGET_PAGES] = speed / slow * dt
    p[k.TARGET_PAGE_COST] = site.checkpoint_pages_per_s / speed * slow


def _set_cpu_parameters(p: Array, source: SourceSetup, stream: StreamSetup) -> None:
    site = source.site
    ratio = compute_wire_ratio(stream.compression_ratio, source.version)
    per_kb = site.wire_cpu_us_per_kb - (0.0 if stream.encryption else site.encryption_cpu_us_per_kb)
    compress = decompress = 0.0
    if should_try_compression(stream.compression_ratio, source.version):
        compress = site.compress_cpu_us_per_kb
        decompress = site.decompress_cpu_us_per_kb if ratio < 1.0 else 0.0
    extra_ms = site.full_message_cpu_ms if stream.awaited else 0.0
    p[k.PER_MESSAGE_CPU] = (site.message_cpu_ms + extra_ms) / 1000.0
    p[k.PER_KB_CPU] = (per_kb * ratio + compress) / 1e6
    p[k.TARGET_PER_MESSAGE_CPU] = site.mirror_message_cpu_ms / 1000.0
    p[k.TARGET_PER_KB_CPU] = (per_kb * ratio + decompress) / 1e6
