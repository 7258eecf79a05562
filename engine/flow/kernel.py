"""The compiled step of the flow model: what all rows do in one step, over plain arrays.

Everything compiled stands in this one file, because numba's disk cache looks at one file's date only.
The same source runs as plain Python when NUMBA_DISABLE_JIT is set.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]

# Columns of a row's state: populations of connections, log positions in KB, pages, rates.
(
    THINKING,
    QUEUED,
    IN_OTHER,
    ON_CPU,
    BLOCKED,
    WAITING,
    GENERATED,
    FLUSHED,
    SENT,
    RECEIVED,
    HARDENED,
    ACKNOWLEDGED,
    REDONE,
    DURABLE,  # what commits have been answered up to
    REUSE,  # log before this may be overwritten
    RELEASED,  # delayed durability: log that may go to the disk
    TRANSACTIONS,
    LOG_SIZE,
    DIRTY,
    CHECKPOINT_BACKLOG,
    SINCE_CHECKPOINT_S,
    CHECKPOINT_LOG,  # where the log was at the last checkpoint
    MIRROR_DIRTY,
    MIRROR_BACKLOG,
    SINCE_RELEASE_S,
    MESSAGE_RATE,
    MESSAGE_KB,
    CPU_PRINCIPAL,
    CPU_MIRROR,
    COMMIT_RATE,
    DURABLE_RATE,
    OPERATION_LEFT,
    OPERATION_RUNNING,
    STALL_S,  # a lost packet holds up what follows it
    WANDER,  # slow part of the jitter, -1 to 1
    NOISE,  # random stream of the link
    PAGES_WRITTEN,
    MIRROR_PAGES_WRITTEN,
    CONNECTION_S,  # integral of connections inside transactions
    SMOOTH_COMMITS,
    SMOOTH_INSIDE,
    SMOOTH_WAITING,
    SMOOTH_GENERATED,
    SMOOTH_SENT,
    SMOOTH_REDONE,
    SMOOTH_PAGES,
    SMOOTH_MIRROR_PAGES,
    SMOOTH_MESSAGES,
    SMOOTH_DELAY,
) = range(49)
STATE_COLUMNS = 49

# Columns of a row's parameters, all derived from its setup for one step length.
(
    ACTIVE,
    SERVING,
    MIRRORED,  # the row has a mirror, reachable or not
    THINK_OUT,
    THINK_INSIDE,  # share of the thinkers that are there only because closing the loop costs a step
    OTHER_OUT,
    CPU_S,
    LOG_KB,
    TOUCHES_PER_KB,
    HOT_INVERSE,
    LIMIT,
    BLOCK_KB,
    FLUSH_KB,  # most that a step can flush
    CROWD,  # phi; 0 = one stream
    LOG_MAX,
    ATTACHED,  # a mirror gets log: connected, sending, not NONE
    CARRYING,
    WAITS,  # commits wait for the mirror
    FROM_GENERATED,  # log is sent while it is written
    DELAYED,
    RELEASE_EVERY_S,
    SEND_KB,  # most that the session can send in a step
    WIRE_RATIO,
    WINDOW_KB,  # of log
    ONE_WAY_S,
    PER_MESSAGE_KB_S,
    ACK_S,
    JITTER_S,
    LOSS,
    RECOVERY_S,
    HARDEN_OUT,
    HARDEN_KB,
    REDOING,
    REDO_KB,
    FLUSH_OUT,  # share of the mirror's dirty pages that a step writes
    CONTINUOUS,
    MIRROR_PAGES,  # most pages that a step can write there
    CHECKPOINT_EVERY_S,
    CHECKPOINT_PAGES,
    WRITE_S,
    PER_MESSAGE_CPU,
    PER_KB_CPU,
    MIRROR_PER_MESSAGE_CPU,
    MIRROR_PER_KB_CPU,
    REDO_CPU,
    OPERATION_RATE,
    OPERATION_BATCH,
    CPU_FACTOR,
) = range(48)
PARAMETER_COLUMNS = 48

# Columns of a server instance and of a link between two of them.
(
    CORES,
    WORKERS,
    WAKE_UP_S,
    RUNNABLE,
    MIRRORING_CPU,
    WANTED,
    BUSY,
    INSTANCE_COMMITS,
    INSTANCE_MESSAGES,
    ADMITTED,
    CPU_SHARE,
    BUSY_CORES,
    SMOOTH_CORES,
    CORE_S,
) = range(14)
HOST_COLUMNS = 14
(LINK_KB, LINK_WANTED, LINK_ROWS, LINK_SMALL, LINK_BIG, LINK_LEVEL) = range(6)
LINK_COLUMNS = 6

HOST, MIRROR_HOST, LINK = range(3)  # columns of a row's place
NOW, STEPS_PER_TICK, TICKS = range(3)  # the clock: steps so far, steps of a tick, ticks so far

REDO_DONE, SEND_DONE, LOG_FULL, OPERATION_DONE = 1, 2, 4, 8

COUNTERS = (
    "transactions_per_s",
    "response_s",
    "commit_delay_ms",
    "log_generation_kb_per_s",
    "log_send_kb_per_s",
    "redo_kb_per_s",
    "send_queue_kb",
    "redo_queue_kb",
    "log_used_kb",
    "log_size_kb",
    "principal_cpu_percent",
    "mirror_cpu_percent",
    "principal_data_writes_kb_per_s",
    "mirror_data_writes_kb_per_s",
    "principal_dirty_pages",
    "mirror_dirty_pages",
    "log_since_checkpoint_kb",
    "in_flight_transactions",
    "sends_per_s",
    "unhardened_kb",
)

PAGE_KB = 8.0
PACKET_KB = 1.46
SMALL_KB = 1.0  # a redo queue below this is none
RATE_SMOOTHING_S = 0.2
MESSAGE_SMOOTHING_S = 0.5
COUNTER_SMOOTHING_S = 1.0
WANDER_S = 0.1


@njit(cache=True, error_model="numpy")
def look_back(history: Array, now: int, steps: float) -> float:
    """Value of a ring *steps* ago, linear between steps. The ring's length is a power of two."""
    mask = history.shape[0] - 1
    whole = int(steps)
    part = steps - whole
    newer = float(history[(now - whole) & mask])
    return newer + part * (float(history[(now - whole - 1) & mask]) - newer)


@njit(cache=True, error_model="numpy")
def flush_backlog(backlog: float, block: float, most: float, crowd: float) -> float:
    """KB that one log device writes in a step: M/M/1 as a fluid with group commit, solved implicitly."""
    beta = most / block
    if crowd <= 0.0:  # one stream never queues behind itself
        return min(backlog * beta / (1.0 + beta), most)
    y = backlog / block
    b = 1.0 + beta - crowd * y
    left = (math.sqrt(b * b + 4.0 * crowd * y) - b) / (2.0 * crowd)
    return min(max(0.0, block * (y - left)), backlog, most)


@njit(cache=True, error_model="numpy")
def draw(state: Array) -> float:
    """A number in [0, 1) from the row's own stream (Lehmer, 31 bit, exact in doubles)."""
    state[NOISE] = float((int(state[NOISE]) * 16807) % 2147483647)
    return float(state[NOISE]) / 2147483647.0


@njit(cache=True, error_model="numpy")
def run_clients(s: Array, p: Array, admitted: float, cpu_share: float, known: float, dt: float) -> None:
    """Connections move one station on; those past their CPU part write log, which is then flushed."""
    leaving = s[THINKING] * p[THINK_OUT]
    s[THINKING] -= leaving
    want = s[QUEUED] + leaving
    entering = want * admitted
    s[QUEUED] = want - entering
    s[IN_OTHER] += entering
    out = s[IN_OTHER] * p[OTHER_OUT]
    s[IN_OTHER] -= out
    s[ON_CPU] += out
    out = s[ON_CPU] * dt / (dt + p[CPU_S] / cpu_share)
    s[ON_CPU] -= out
    s[BLOCKED] += out

    unflushed = s[GENERATED] - s[FLUSHED]
    durable_soon = s[FLUSHED] + p[FLUSH_KB] * min(1.0, unflushed / p[BLOCK_KB])
    if p[WAITS] > 0.0:
        durable_soon = min(durable_soon, known)
    room = p[LOG_MAX] - (s[GENERATED] - s[REUSE])
    if p[DELAYED] == 0.0:
        room = min(room, p[LIMIT] - (s[GENERATED] - durable_soon))
    room = max(0.0, room)

    generated = min(s[BLOCKED] * p[LOG_KB], room)
    moved = min(s[BLOCKED], generated / p[LOG_KB])
    s[BLOCKED] -= moved
    s[WAITING] += moved
    crowd = p[CROWD]
    if s[OPERATION_LEFT] > 0.0 and p[SERVING] > 0.0:
        crowd = 0.0
        bulk = p[OPERATION_RATE] * dt
        if p[OPERATION_BATCH] > 0.0:
            # One stream runs a batch, then waits for its commit: two stations, both solved implicitly.
            lag = (s[GENERATED] - s[DURABLE]) / max(s[DURABLE_RATE], 1e-9)
            wait = dt / max(lag, 1e-4)
            s[OPERATION_RUNNING] = (s[OPERATION_RUNNING] + wait) / (1.0 + bulk / p[OPERATION_BATCH] + wait)
            bulk *= s[OPERATION_RUNNING]
        bulk = min(bulk, room - generated, s[OPERATION_LEFT])
        s[OPERATION_LEFT] -= bulk
        generated += bulk
    s[GENERATED] += generated

    flushable = s[GENERATED] - s[FLUSHED]
    if p[DELAYED] > 0.0:
        s[SINCE_RELEASE_S] += dt
        if s[SINCE_RELEASE_S] >= p[RELEASE_EVERY_S]:
            s[SINCE_RELEASE_S] = 0.0
            s[RELEASED] = s[GENERATED]
        if p[RELEASE_EVERY_S] <= 0.0:
            s[RELEASED] = s[GENERATED]
        flushable = max(0.0, s[RELEASED] - s[FLUSHED])
    s[FLUSHED] += flush_backlog(flushable, p[BLOCK_KB], p[FLUSH_KB], crowd)

    touches = generated * p[TOUCHES_PER_KB]
    s[DIRTY] = (s[DIRTY] + touches) / (1.0 + touches * p[HOT_INVERSE])
    s[SINCE_CHECKPOINT_S] += dt
    if s[SINCE_CHECKPOINT_S] >= p[CHECKPOINT_EVERY_S]:
        s[SINCE_CHECKPOINT_S] -= p[CHECKPOINT_EVERY_S]
        s[CHECKPOINT_BACKLOG] += s[DIRTY]
        s[DIRTY] = 0.0
        s[CHECKPOINT_LOG] = s[GENERATED]
    pages = min(s[CHECKPOINT_BACKLOG], p[CHECKPOINT_PAGES])
    s[CHECKPOINT_BACKLOG] -= pages
    s[PAGES_WRITTEN] += pages
    s[SMOOTH_PAGES] += (pages / dt - s[SMOOTH_PAGES]) * (dt / COUNTER_SMOOTHING_S)
    s[SMOOTH_GENERATED] += (generated / dt - s[SMOOTH_GENERATED]) * (dt / COUNTER_SMOOTHING_S)


@njit(cache=True, error_model="numpy")
def carry_log(
    s: Array,
    p: Array,
    sent_before: Array,
    hardened_before: Array,
    now: int,
    may_send: float,
    known: float,
    dt: float,
) -> float:
    """Log of one row travels to the mirror, is hardened there and acknowledged. Returns KB sent."""
    sent = 0.0
    if p[CARRYING] > 0.0:
        sent = may_send
        s[SENT] += sent
    sent_before[now & (sent_before.shape[0] - 1)] = s[SENT]
    if p[CARRYING] > 0.0:
        delay = p[ONE_WAY_S] + s[MESSAGE_KB] * p[PER_MESSAGE_KB_S]
        if p[JITTER_S] > 0.0:
            s[WANDER] += (2.0 * draw(s) - 1.0 - s[WANDER]) * (dt / WANDER_S)
            packets = max(1.0, s[MESSAGE_KB] * p[WIRE_RATIO] / PACKET_KB)
            # A message is there when its last packet is: of n packets the worst, n-1 / n+1 above the mean.
            delay += p[JITTER_S] * (s[WANDER] + (packets - 1.0) / (packets + 1.0))
            delay = max(0.0, delay)
        if p[LOSS] > 0.0:
            s[STALL_S] = max(0.0, s[STALL_S] - dt)
            if s[STALL_S] == 0.0 and draw(s) < p[LOSS] * sent * p[WIRE_RATIO] / PACKET_KB:
                s[STALL_S] = p[RECOVERY_S]
        if s[STALL_S] == 0.0:
            arrived = look_back(sent_before, now, delay / dt)
            s[RECEIVED] = max(s[RECEIVED], arrived)
    hardened = min((s[RECEIVED] - s[HARDENED]) * p[HARDEN_OUT], p[HARDEN_KB])
    s[HARDENED] += hardened
    hardened_before[now & (hardened_before.shape[0] - 1)] = s[HARDENED]
    if p[CARRYING] > 0.0:
        back = p[ACK_S] / dt
        s[ACKNOWLEDGED] = max(s[ACKNOWLEDGED], look_back(hardened_before, now, back) if back < 1.0 else known)
    return sent


@njit(cache=True, error_model="numpy")
def commit(s: Array, p: Array, dt: float) -> float:
    """Answers the commits that the durable log now covers. Returns transactions."""
    durable = s[FLUSHED]
    if p[WAITS] > 0.0:
        durable = min(durable, s[ACKNOWLEDGED])
    if p[DELAYED] > 0.0:
        durable = s[GENERATED]
    before = s[DURABLE]
    done = 0.0
    if durable > before:
        done = float(s[WAITING]) * min(1.0, (durable - before) / (s[GENERATED] - before))
        s[DURABLE] = durable
        s[DURABLE_RATE] += ((durable - before) / dt - s[DURABLE_RATE]) * (dt / RATE_SMOOTHING_S)
    s[WAITING] -= done
    s[THINKING] += done
    s[TRANSACTIONS] += done
    s[COMMIT_RATE] += (done / dt - s[COMMIT_RATE]) * (dt / RATE_SMOOTHING_S)
    return float(done)


@njit(cache=True, error_model="numpy")
def redo(s: Array, p: Array, dt: float) -> float:
    """The mirror applies log and writes its pages. Returns page touches."""
    redone = 0.0
    if p[REDOING] > 0.0:
        redone = min(s[HARDENED] - s[REDONE], p[REDO_KB])
        s[REDONE] += redone
    touches = redone * p[TOUCHES_PER_KB]
    if p[CONTINUOUS] > 0.0:
        s[MIRROR_DIRTY] = (s[MIRROR_DIRTY] + touches) / (1.0 + p[FLUSH_OUT] + touches * p[HOT_INVERSE])
        pages = s[MIRROR_DIRTY] * p[FLUSH_OUT]
        if pages > p[MIRROR_PAGES]:
            s[MIRROR_DIRTY] += pages - p[MIRROR_PAGES]
            pages = p[MIRROR_PAGES]
    else:
        s[MIRROR_DIRTY] = (s[MIRROR_DIRTY] + touches) / (1.0 + touches * p[HOT_INVERSE])
        if s[SINCE_CHECKPOINT_S] < dt:  # the secondary follows the primary's checkpoints
            s[MIRROR_BACKLOG] += s[MIRROR_DIRTY]
            s[MIRROR_DIRTY] = 0.0
        pages = min(s[MIRROR_BACKLOG], p[MIRROR_PAGES])
        s[MIRROR_BACKLOG] -= pages
    s[MIRROR_PAGES_WRITTEN] += pages
    s[SMOOTH_MIRROR_PAGES] += (pages / dt - s[SMOOTH_MIRROR_PAGES]) * (dt / COUNTER_SMOOTHING_S)
    s[SMOOTH_REDONE] += (redone / dt - s[SMOOTH_REDONE]) * (dt / COUNTER_SMOOTHING_S)
    return touches


@njit(cache=True, error_model="numpy")
def spend_cpu(
    s: Array, p: Array, sent: float, backlog: float, touches: float, wake_up: float, dt: float
) -> None:
    """Messages by group commit of random commits, and the CPU that they and the redo cost on both sides."""
    rate = sent / dt
    commits = s[COMMIT_RATE]
    messages = 0.0
    if rate > 0.0:
        if backlog > p[WINDOW_KB]:
            messages = rate / p[WINDOW_KB]
        else:
            busy = commits * p[WRITE_S]
            messages = max(rate / p[BLOCK_KB], commits / (busy + math.exp(-busy)))
        size = rate / messages
        s[MESSAGE_KB] += (size - s[MESSAGE_KB]) * (dt / MESSAGE_SMOOTHING_S)
    s[MESSAGE_RATE] = messages
    s[CPU_PRINCIPAL] = messages * p[PER_MESSAGE_CPU] + rate * p[PER_KB_CPU]
    s[CPU_MIRROR] = messages * p[MIRROR_PER_MESSAGE_CPU] * wake_up + rate * p[MIRROR_PER_KB_CPU]
    s[CPU_MIRROR] += touches / dt * p[REDO_CPU]
    s[SMOOTH_SENT] += (rate - s[SMOOTH_SENT]) * (dt / COUNTER_SMOOTHING_S)
    s[SMOOTH_MESSAGES] += (messages - s[SMOOTH_MESSAGES]) * (dt / COUNTER_SMOOTHING_S)


@njit(cache=True, error_model="numpy")
def keep_counts(s: Array, p: Array, done: float, dt: float) -> None:
    """Smoothed counters of a moment, and the growth of the log file."""
    inside = s[QUEUED] + s[IN_OTHER] + s[ON_CPU] + s[BLOCKED] + s[WAITING] + s[THINKING] * p[THINK_INSIDE]
    s[CONNECTION_S] += inside * dt
    share = dt / COUNTER_SMOOTHING_S
    s[SMOOTH_COMMITS] += (done / dt - s[SMOOTH_COMMITS]) * share
    s[SMOOTH_INSIDE] += (inside - s[SMOOTH_INSIDE]) * share
    s[SMOOTH_WAITING] += (s[WAITING] - s[SMOOTH_WAITING]) * share
    used = s[GENERATED] - s[REUSE]
    while used > s[LOG_SIZE] and s[LOG_SIZE] < p[LOG_MAX]:
        s[LOG_SIZE] = min(p[LOG_MAX], s[LOG_SIZE] * 1.1 + 1.0)


@njit(cache=True, error_model="numpy")
def share_hosts(state: Array, params: Array, place: Array, hosts: Array, links: Array, dt: float) -> None:
    """What the rows of one instance ask of it together, and the share that each gets this step."""
    hosts[:, RUNNABLE : INSTANCE_MESSAGES + 1] = 0.0
    links[:, LINK_WANTED : LINK_BIG + 1] = 0.0
    for i in range(state.shape[0]):
        if params[i, ACTIVE] == 0.0:
            continue
        s = state[i]
        h = place[i, HOST]
        hosts[h, RUNNABLE] += s[ON_CPU]
        hosts[h, MIRRORING_CPU] += s[CPU_PRINCIPAL]
        hosts[h, WANTED] += s[QUEUED] + s[THINKING] * params[i, THINK_OUT]
        hosts[h, BUSY] += s[IN_OTHER] + s[ON_CPU] + s[BLOCKED] + s[WAITING]
        hosts[h, INSTANCE_COMMITS] += s[COMMIT_RATE]
        m = place[i, MIRROR_HOST]
        if m >= 0:
            hosts[m, MIRRORING_CPU] += s[CPU_MIRROR]
            hosts[m, INSTANCE_MESSAGES] += s[MESSAGE_RATE]
    for h in range(hosts.shape[0]):
        free = hosts[h, WORKERS] - hosts[h, BUSY] + dt * hosts[h, INSTANCE_COMMITS]
        want = hosts[h, WANTED]
        hosts[h, ADMITTED] = 1.0 if want <= free else max(0.0, free / want)
        left = max(0.05 * hosts[h, CORES], hosts[h, CORES] - hosts[h, MIRRORING_CPU])
        runnable = hosts[h, RUNNABLE]
        hosts[h, CPU_SHARE] = 1.0 if runnable <= left else left / runnable
        hosts[h, BUSY_CORES] = hosts[h, MIRRORING_CPU]


@njit(cache=True, error_model="numpy")
def share_links(params: Array, place: Array, links: Array, wanted: Array, dt: float) -> None:
    """Divides each congested link fairly: small senders get what they ask, the others an equal part."""
    for i in range(wanted.shape[0]):
        k = place[i, LINK]
        if wanted[i] > 0.0 and k >= 0:
            links[k, LINK_WANTED] += wanted[i]
            links[k, LINK_ROWS] += 1.0
    for k in range(links.shape[0]):
        links[k, LINK_LEVEL] = np.inf
        if links[k, LINK_WANTED] > links[k, LINK_KB] * dt:
            links[k, LINK_LEVEL] = links[k, LINK_KB] * dt / links[k, LINK_ROWS]
            for _ in range(2):
                small = 0.0
                big = 0.0
                for i in range(wanted.shape[0]):
                    if place[i, LINK] == k and wanted[i] > 0.0:
                        if wanted[i] <= links[k, LINK_LEVEL]:
                            small += wanted[i]
                        else:
                            big += 1.0
                if big > 0.0:
                    links[k, LINK_LEVEL] = (links[k, LINK_KB] * dt - small) / big
    for i in range(wanted.shape[0]):
        k = place[i, LINK]
        if k >= 0:
            wanted[i] = min(wanted[i], links[k, LINK_LEVEL])


@njit(cache=True, error_model="numpy")
def step(
    state: Array,
    params: Array,
    place: Array,
    hosts: Array,
    links: Array,
    history: Array,
    wanted: Array,
    known: Array,
    now: int,
    dt: float,
) -> None:
    """All rows advance by *dt* seconds."""
    share_hosts(state, params, place, hosts, links, dt)
    for i in range(state.shape[0]):
        p = params[i]
        if p[ACTIVE] == 0.0:
            continue
        s = state[i]
        known[i] = s[ACKNOWLEDGED]
        if p[CARRYING] > 0.0:
            back = p[ACK_S] / dt
            # One step ago is the latest that can be known when the step begins.
            known[i] = max(
                known[i], look_back(history[i, 1], now - 1, back - 1.0) if back >= 1.0 else s[HARDENED]
            )
        h = place[i, HOST]
        if p[SERVING] > 0.0:
            run_clients(s, p, hosts[h, ADMITTED], hosts[h, CPU_SHARE], known[i], dt)
        wanted[i] = 0.0
        if p[CARRYING] > 0.0:
            source = s[GENERATED] if p[FROM_GENERATED] > 0.0 else s[FLUSHED]
            room = p[WINDOW_KB] + p[SEND_KB] - (s[SENT] - s[RECEIVED]) if s[STALL_S] > 0.0 else p[SEND_KB]
            wanted[i] = max(0.0, min(source - s[SENT], p[SEND_KB], room)) * p[WIRE_RATIO]
    share_links(params, place, links, wanted, dt)
    for i in range(state.shape[0]):
        p = params[i]
        if p[ACTIVE] == 0.0:
            continue
        s = state[i]
        sent = carry_log(s, p, history[i, 0], history[i, 1], now, wanted[i] / p[WIRE_RATIO], known[i], dt)
        done = commit(s, p, dt)
        touches = redo(s, p, dt)
        m = place[i, MIRROR_HOST]
        wake_up = 1.0
        if m >= 0:
            wake_up = 1.0 / (1.0 + hosts[m, WAKE_UP_S] * hosts[m, INSTANCE_MESSAGES])
        source = s[GENERATED] if p[FROM_GENERATED] > 0.0 else s[FLUSHED]
        spend_cpu(s, p, sent, source - s[SENT], touches, wake_up, dt)
        keep_counts(s, p, done, dt)
        hosts[place[i, HOST], BUSY_CORES] += s[COMMIT_RATE] * p[CPU_S] / p[CPU_FACTOR]
    for h in range(hosts.shape[0]):
        busy = min(hosts[h, CORES], hosts[h, BUSY_CORES])
        hosts[h, CORE_S] += busy * dt
        hosts[h, SMOOTH_CORES] += (busy - hosts[h, SMOOTH_CORES]) * (dt / COUNTER_SMOOTHING_S)


@njit(cache=True, error_model="numpy")
def crossings_of(s: Array, p: Array) -> int:
    """Crossings that hold for a row at this instant."""
    held = 0
    on_its_way = p[CARRYING] > 0.0
    if s[HARDENED] - s[REDONE] <= SMALL_KB and (on_its_way or s[RECEIVED] - s[HARDENED] <= SMALL_KB):
        held |= REDO_DONE
    if on_its_way and s[FLUSHED] - s[SENT] <= p[BLOCK_KB]:
        held |= SEND_DONE
    if s[GENERATED] - s[REUSE] >= p[LOG_MAX] - 0.5:
        held |= LOG_FULL
    if s[OPERATION_LEFT] <= 0.0:
        held |= OPERATION_DONE
    return held


@njit(cache=True, error_model="numpy")
def read_counters(s: Array, p: Array, hosts: Array, host: int, mirror_host: int, out: Array) -> None:
    """The counters of `COUNTERS`, in that order, at this instant."""
    commits = s[SMOOTH_COMMITS]
    out[0] = commits
    out[1] = s[SMOOTH_INSIDE] / commits if commits > 1e-6 else 0.0
    out[2] = 1000.0 * s[SMOOTH_WAITING] / commits if commits > 1e-6 and p[WAITS] > 0.0 else 0.0
    out[3] = s[SMOOTH_GENERATED]
    out[4] = s[SMOOTH_SENT]
    out[5] = s[SMOOTH_REDONE]
    out[6] = max(0.0, s[FLUSHED] - s[SENT]) if p[MIRRORED] > 0.0 else 0.0
    out[7] = s[HARDENED] - s[REDONE]
    out[8] = s[GENERATED] - s[REUSE]
    out[9] = s[LOG_SIZE]
    out[10] = 100.0 * hosts[host, SMOOTH_CORES] / hosts[host, CORES]
    out[11] = (
        100.0 * hosts[mirror_host, SMOOTH_CORES] / hosts[mirror_host, CORES] if mirror_host >= 0 else 0.0
    )
    out[12] = PAGE_KB * s[SMOOTH_PAGES]
    out[13] = PAGE_KB * s[SMOOTH_MIRROR_PAGES]
    out[14] = s[DIRTY] + s[CHECKPOINT_BACKLOG]
    out[15] = s[MIRROR_DIRTY] + s[MIRROR_BACKLOG]
    out[16] = s[GENERATED] - s[CHECKPOINT_LOG]
    out[17] = s[QUEUED] + s[IN_OTHER] + s[ON_CPU] + s[BLOCKED] + s[WAITING]
    out[18] = s[SMOOTH_MESSAGES]
    out[19] = max(0.0, s[GENERATED] - s[HARDENED]) if p[MIRRORED] > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def advance(
    state: Array,
    params: Array,
    place: Array,
    hosts: Array,
    links: Array,
    history: Array,
    scratch: Array,
    armed: Array,
    samples: Array,
    clock: Array,
    ticks: int,
    every: int,
    dt: float,
) -> int:
    """Up to *ticks* ticks each; stops after the tick at which an armed crossing holds.

    samples[k] gets all rows' counters each *every* ticks (0 = never). Returns the ticks run.
    """
    taken = 0
    for tick in range(1, ticks + 1):
        for _ in range(clock[STEPS_PER_TICK]):
            clock[NOW] += 1
            step(state, params, place, hosts, links, history, scratch[0], scratch[1], clock[NOW], dt)
        clock[TICKS] += 1
        if every > 0 and clock[TICKS] % every == 0:
            for i in range(state.shape[0]):
                if params[i, ACTIVE] > 0.0:
                    read_counters(
                        state[i], params[i], hosts, place[i, HOST], place[i, MIRROR_HOST], samples[taken, i]
                    )
            taken += 1
        for i in range(state.shape[0]):
            if (
                armed[i] != 0
                and params[i, ACTIVE] > 0.0
                and (crossings_of(state[i], params[i]) & armed[i]) != 0
            ):
                return tick
    return ticks
