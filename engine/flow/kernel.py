"""Step of the flow model: one step of all sources and streams of log, over plain arrays.

This file is the only hand-written source of the step. It runs as plain Python, and `compiled/translate.py`
translates it to C, which the program normally runs (`compiled/`). Both give the same bits. After a change,
run `make kernel`, which rebuilds the libraries. Functions read values into local names and store them at the
end. Otherwise the C compiler would reload all values after each store, because it cannot know that arrays do
not overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

Array = np.ndarray[Any, Any]

# Array types by number of dimensions, for the translator. Numbers and NumberTable hold 64-bit integers.
Row: TypeAlias = Array
Table: TypeAlias = Array
Cube: TypeAlias = Array
Numbers: TypeAlias = Array
NumberTable: TypeAlias = Array

Function = TypeVar("Function", bound=Callable[..., Any])


def inside(function: Function) -> Function:
    """Mark an internal function of the step for the translator: only the step calls it."""
    return function


def entry(function: Function) -> Function:
    """Mark an entry function for the translator: Python calls it."""
    return function


def long_entry(function: Function) -> Function:
    """Mark an entry function that releases Python's lock, so that a long run does not block a window."""
    return function


# Columns of a source's state. The first five are totals. The columns from SOURCE_LAST hold these totals at
# the last sample. The columns from SOURCE_SMOOTH hold their rates, smoothed over about a second.
(
    TRANSACTIONS,
    GENERATED,  # end of the generated log: a log position in KB, as all positions below
    PAGES_WRITTEN,
    INSIDE_S,  # connection-seconds inside transactions
    WAITING_S,
) = range(5)
SOURCE_TOTALS = 5
SOURCE_LAST = 5
SOURCE_SMOOTH = 10
(
    THINKING,  # number of connections in this state, as the next five columns
    QUEUED,
    IN_OTHER,
    ON_CPU,
    BLOCKED,
    WAITING,
    FLUSHED,
    DURABLE,  # log position up to which commits are acknowledged
    REUSE,  # log before this position may be overwritten
    RELEASED,  # log position up to which log may go to the disk and to awaited streams
    LOG_SIZE,
    DIRTY,  # dirty pages that belong to no checkpoint yet
    CHECKPOINT_BACKLOG,
    SINCE_CHECKPOINT_S,
    CHECKPOINT_LOG,  # log position at the last checkpoint
    COMMIT_RATE,
    DURABLE_RATE,
    OPERATION_LEFT,
    OPERATION_RUNNING,
    QUEUED_S,  # connection-seconds spent waiting for a worker thread
    STALLED_S,  # time since the last transaction ended; 0 if no connection is inside a transaction
    SOURCE_ARMED,  # crossings at which a run stops
) = range(15, 37)
SOURCE_COLUMNS = 37

# Columns of a stream's state. The first four are totals; STREAM_LAST and STREAM_SMOOTH are as for sources.
(
    SENT,
    REDONE,
    TARGET_PAGES_WRITTEN,
    MESSAGES,
) = range(4)
STREAM_TOTALS = 4
STREAM_LAST = 4
STREAM_SMOOTH = 8
(
    RECEIVED,
    HARDENED,
    ACKNOWLEDGED,
    TARGET_DIRTY,
    TARGET_BACKLOG,
    MESSAGE_RATE,
    MESSAGE_KB,
    SENDER_CPU,  # cores used for sending
    TARGET_CPU,  # cores used for receiving, without redo
    REDO_WANTED,  # core-seconds that redo requests in this step
    STALL_S,  # remaining time until a lost packet is sent again; it delays all later packets
    WANDER,  # slow part of the jitter
    NOISE,  # state of the stream's random number generator
    STREAM_ARMED,
) = range(12, 26)
STREAM_COLUMNS = 26

# Columns of a source's parameters, which derive.py computes from its setup and its streams for one step
# length.
(
    ACTIVE,
    ALIVE,
    CONNECTIONS,
    WAITS,  # 1 if commits wait for at least one stream
    THINK_OUT,
    THINK_INSIDE,  # share of thinking connections that count as inside a transaction if the think time is below a step
    OTHER_OUT,
    CPU_S,
    CPU_OUT,  # share of the requests on an idle CPU that finish in a step
    LOG_KB,
    TOUCHES_PER_KB,
    HOT_INVERSE,
    LIMIT,
    PER_BLOCK,  # log blocks per KB
    BLOCK_KB,
    FLUSH_KB,  # maximum KB that the log device writes in a step
    CROWD,  # phi = (connections - 1) / connections; 0 with one connection
    PER_TWO_CROWD,
    LOG_MAX,
    DELAYED,
    WRITE_S,
    CHECKPOINT_EVERY_S,
    CHECKPOINT_PAGES,
    OPERATION_KB,  # maximum log of the long operation in a step, without any delay
    OPERATION_BATCH,
) = range(25)
SOURCE_PARAMETERS = 25

# Columns of a stream's parameters, derived from its setup and from the setup of its source.
(
    STREAM_ACTIVE,
    TARGET_ALIVE,
    CARRYING,
    AWAITED,  # 1 if commits wait for this stream
    FROM_GENERATED,  # 1 if log is sent while it is being written
    SEND_KB,  # maximum KB of log that the stream can send in a step
    WIRE_RATIO,
    PER_WIRE,
    WINDOW_KB,  # send window, in KB of log
    ONE_WAY_STEPS,
    PER_MESSAGE_KB_STEPS,
    ACK_STEPS,
    JITTER_STEPS,
    WANDER_BACK,
    WANDER_KICK,
    LOSS_PER_KB,
    ROUND_TRIP_S,
    RETRANSMIT_S,
    HARDEN_OUT,
    HARDEN_KB,
    REDO_KB,
    REDO_S_PER_KB,
    CONTINUOUS,
    FLUSH_OUT,  # share of the target's dirty pages that are written in a step
    TARGET_PAGES,  # maximum number of pages that the target writes per step
    TARGET_PAGE_COST,  # disk time of a target page, relative to a page of a checkpoint
    PER_MESSAGE_CPU,
    PER_KB_CPU,
    TARGET_PER_MESSAGE_CPU,
    TARGET_PER_KB_CPU,
    RECEIVED_BY,  # 1 if the receiving instance exists
) = range(31)
STREAM_PARAMETERS = 31

# Columns of a server instance. First the demands of its sources and streams (the first DEMANDS columns), then
# the share of each demand that it can meet, its capacities, and its completed work.
(
    RUNNABLE,
    STREAMING_CPU,
    REDO_S,
    WANTED,
    BUSY,
    COMMITS,
    MESSAGES_IN,
    SESSIONS,  # sessions that carry log, in either direction
    LOG_WRITERS,
    PAGES_WANTED,
    ADMITTED,
    CPU_SHARE,
    REDO_SHARE,
    LOG_SHARE,
    DATA_SHARE,
    WAKE_UP,
    TURN_STEPS,  # steps until the only communication thread serves the session again
    CORES,
    WORKERS,
    WAKE_UP_S,
    LOG_STREAMS,
    BACKGROUND,  # cores that are busy independently of clients
    DATA_PAGES,
    BUSY_S,
    CORE_S,
    LAST_CORE_S,
    SMOOTH_CORES,
) = range(27)
HOST_COLUMNS = 27
DEMANDS = 10

(LINK_KB, LINK_WANTED, LINK_STREAMS, LINK_LEVEL) = range(4)  # columns of a link between two instances
LINK_COLUMNS = 4
SOURCE, TARGET, LINK = range(3)  # columns of `place`: source, receiving instance and link of a stream

# Equal sources with equal streams behave equally and form a group. Each step computes shared values only for
# the first source of a group, and individual values for each source. Work tables have one column per source
# or stream. Shared values use only the column of the first source or stream of a group.
(
    AWAITED_KB,  # log position that all awaited streams have acknowledged; NO_BOUND_KB between steps
    TOUCHES,  # page changes in this step
    SPENT_S,  # processor time in this step
    LEAST_REUSE,  # lowest log reuse position in the group
    MOST_REUSE,
    OWN_DIRTY,  # -- individual values of each source from here on
    OWN_SINCE_S,
    OWN_BACKLOG,
    OWN_WRITTEN,
    OWN_CHECKPOINT_LOG,
) = range(10)
SOURCE_WORK = 10
(
    WISH,  # KB (compressed) that the stream requests to send in this step; later the KB that the link accepts
    KNOWN,  # acknowledged log position that the source knows at the start of the step
    TARGET_TOUCHES,
    SENDING_S,  # processor time in this step of the sender; the next two columns: of the receiver and of redo
    RECEIVING_S,
    REDOING_S,
    OWN_TARGET_DIRTY,  # -- individual values of each stream from here on
    OWN_TARGET_BACKLOG,
    OWN_TARGET_WRITTEN,
) = range(9)
STREAM_WORK = 9
# Rows of the group tables of sources and of streams. The last columns of GROUPS and FIRST hold the number of
# groups and of runs. A run consists of neighbors in the same group.
(
    LIKE,  # number of the first source or stream of the group
    GROUPS,  # number of the first source or stream of each group, in ascending order
    FIRST,  # number of the first source or stream of each run
    PAST,  # number after the last source or stream of each run
    STREAMS,  # first stream of a source; next stream of the same source; the number of streams ends the list
) = range(5)
PLACES = 5
NOW, STEPS_PER_TICK, TICKS = range(3)  # columns of the clock: steps so far, steps per tick, ticks so far
SENT_RING, HARDENED_RING = range(2)  # ring buffers in a stream's history
REDO_DONE, SEND_DONE, LOG_FULL, OPERATION_DONE = 1, 2, 4, 8

SOURCE_COUNTERS = (
    "transactions_per_s",
    "response_s",
    "commit_delay_ms",
    "log_generation_kb_per_s",
    "log_used_kb",
    "log_size_kb",
    "principal_cpu_percent",
    "principal_data_writes_kb_per_s",
    "principal_dirty_pages",
    "log_since_checkpoint_kb",
    "in_flight_transactions",
)
STREAM_COUNTERS = (
    "log_send_kb_per_s",
    "redo_kb_per_s",
    "send_queue_kb",
    "redo_queue_kb",
    "mirror_cpu_percent",
    "mirror_data_writes_kb_per_s",
    "mirror_dirty_pages",
    "sends_per_s",
    "unhardened_kb",
)

PAGE_KB = 8.0
PACKET_KB = 1.46
SMALL_KB = 1.0  # a redo queue below this counts as empty
PACKETS_TO_NOTICE = 3.0  # number of later packets after which the receiver notices a loss, before a timeout
RATE_SMOOTHING_PER_S = 5.0  # smoothing of commit rates over 0.2 s
MESSAGE_SMOOTHING_PER_S = 2.0  # smoothing of message sizes over 0.5 s
LOOK_TICKS = 10  # interval at which rates are sampled: 0.1 s
LOOK_S = 0.1
OLDEST_S = 1.0  # if no commit ends for this long, counters report the age of the oldest transaction as delay
LOOK_SHARE = 0.1  # weight of a new sample: smoothing over a second
LEAST_SHARE = 0.05  # minimum share of an instance's cores that clients keep under any load
SLACK = 1e-6
NO_BOUND_KB = 1e300  # larger than every log position
LOG_GROWTH = 1.1  # factor by which a full log file grows
HEADROOM = 1.01  # factor for rounding errors on the maximum log of several steps


class Arrays(NamedTuple):
    """All arrays of a step, with one row per source, stream, instance or link. Constants name the columns."""

    sources: Table
    source_params: Table
    streams: Table
    stream_params: Table
    host_of: Numbers
    place: NumberTable
    hosts: Table
    links: Table
    history: Cube
    levels: Table
    source_work: Table
    stream_work: Table
    source_places: NumberTable
    stream_places: NumberTable
    counters: Row


# Columns of a level: a comparison of a counter whose result is watched. The sign is an index into SIGNS.
LEVEL_NUMBER, LEVEL_COUNTER, LEVEL_WHOLE, LEVEL_SIGN, LEVEL, LEVEL_HELD = range(6)
LEVEL_COLUMNS = 6
SIGNS = ("<", "<=", "==", "!=", ">=", ">")
LESS, NOT_MORE, EQUAL, UNEQUAL, NOT_LESS = range(5)
SOURCE_COUNTED = len(SOURCE_COUNTERS)
SECOND_TICKS = 100
PASSED = max(
    SOURCE_COUNTED, len(STREAM_COUNTERS)
)  # first column after the counters: 1 if the result of a level changed
HELD = PASSED + 1  # second column after the counters: 1 if an armed crossing holds


@inside
def look_back(history: Cube, i: int, ring: int, step_number: int, steps: float) -> float:
    """Return the log position of row *i* in ring buffer *ring*, *steps* steps before *step_number*.

    Between two steps, the position is interpolated linearly. The length of the ring buffer is a power of two.
    """
    mask = history.shape[2] - 1
    whole = int(steps)
    newer = float(history[i, ring, (step_number - whole) & mask])
    return newer + (steps - whole) * (float(history[i, ring, (step_number - whole - 1) & mask]) - newer)


@inside
def fade(x: float) -> float:
    """Return exp(-x), accurate to 1% up to x = 2.

    Only basic operations are used, because they give the same bits on all machines.
    """
    return 1.0 / (1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0)))))


@inside
def flush_backlog(
    backlog: float, block: float, per_block: float, max_kb: float, crowd: float, per_two_crowd: float
) -> float:
    """Return the KB that one log device writes in a step, at most *max_kb*.

    *backlog*: log to write, in KB. *block*: size of a log block; *per_block*: blocks per KB. *crowd*:
    (connections - 1) / connections. *per_two_crowd*: 0.5 / *crowd*. The model is the fluid
    approximation of an M/M/1 queue with group commit. The step is implicit.
    """
    beta = max_kb * per_block
    if crowd <= 0.0:  # a single connection never waits for its own earlier block
        return min(backlog * beta / (1.0 + beta), max_kb)
    y = backlog * per_block
    b = 1.0 + beta - crowd * y
    left = (math.sqrt(b * b + 4.0 * crowd * y) - b) * per_two_crowd
    return min(max(0.0, block * (y - left)), backlog, max_kb)


@inside
def draw(state: Table, j: int) -> float:
    """Return the next random number of stream *j* in [0, 1) (Lehmer generator, 31 bits, exact in doubles)."""
    noise = (int(state[j, NOISE]) * 16807) % 2147483647
    state[j, NOISE] = noise
    return noise / 2147483647.0


@inside
def operate(state: Table, params: Table, i: int, room: float, dt: float) -> float:
    """Return the KB of log that the long operation of source *i* writes in this step, at most *room*.

    One thread runs a batch, then waits for its commit.
    """
    log = params[i, OPERATION_KB]
    if params[i, OPERATION_BATCH] > 0.0:
        lag_s = (state[i, GENERATED] - state[i, DURABLE]) / max(state[i, DURABLE_RATE], 1e-9)
        back = dt / max(lag_s, 1e-4)
        running = (state[i, OPERATION_RUNNING] + back) / (1.0 + log / params[i, OPERATION_BATCH] + back)
        state[i, OPERATION_RUNNING] = running
        log *= running
    log = min(log, room, state[i, OPERATION_LEFT])
    state[i, OPERATION_LEFT] -= log
    return float(log)


@inside
def write_log(
    state: Table, params: Table, i: int, hosts: Table, h: int, known_kb: float, work: Table, dt: float
) -> None:
    """Advance the connections of source *i* by one stage, then flush log to the disk of instance *h*.

    Connections that have finished their CPU stage write log.
    """
    leaving = state[i, THINKING] * params[i, THINK_OUT]
    want = state[i, QUEUED] + leaving
    entering = want * hosts[h, ADMITTED]
    state[i, QUEUED_S] += (want - entering) * dt
    other = state[i, IN_OTHER] + entering
    to_cpu = other * params[i, OTHER_OUT]
    cpu = state[i, ON_CPU] + to_cpu
    share = hosts[h, CPU_SHARE]
    off_cpu = cpu * params[i, CPU_OUT] if share >= 1.0 else cpu * dt / (dt + params[i, CPU_S] / share)
    blocked = state[i, BLOCKED] + off_cpu

    before = state[i, GENERATED]
    flushed = state[i, FLUSHED]
    most = params[i, FLUSH_KB] * hosts[h, LOG_SHARE]
    # Log that this step will flush already counts as hardened. Otherwise the limit of unhardened log would
    # depend on the step length.
    durable_soon = flushed + most * min(1.0, (before - flushed) * params[i, PER_BLOCK])
    if params[i, WAITS] > 0.0:
        durable_soon = min(durable_soon, known_kb)
    room = min(params[i, LOG_MAX] - (before - state[i, REUSE]), params[i, LIMIT] - (before - durable_soon))
    room = max(0.0, room)
    log = blocked * params[i, LOG_KB]
    moved = blocked
    if log > room:
        log = room
        moved = room / params[i, LOG_KB]
    crowd = params[i, CROWD]
    if state[i, OPERATION_LEFT] > 0.0:
        crowd = 0.0
        log += operate(state, params, i, room - log, dt)
    generated = before + log
    flushable = generated
    if params[i, DELAYED] > 0.0 and generated - state[i, RELEASED] < params[i, BLOCK_KB]:
        flushable = state[i, RELEASED]  # with delayed durability, only full blocks are written
    state[i, RELEASED] = flushable
    flushed += flush_backlog(
        max(0.0, flushable - flushed),
        params[i, BLOCK_KB],
        params[i, PER_BLOCK],
        most,
        crowd,
        params[i, PER_TWO_CROWD],
    )

    state[i, THINKING] -= leaving
    state[i, QUEUED] = want - entering
    state[i, IN_OTHER] = other - to_cpu
    state[i, ON_CPU] = cpu - off_cpu
    state[i, BLOCKED] = blocked - moved
    state[i, WAITING] += moved
    state[i, GENERATED] = generated
    state[i, FLUSHED] = flushed
    work[SPENT_S, i] = off_cpu * params[i, CPU_S]
    work[TOUCHES, i] = log * params[i, TOUCHES_PER_KB]


@inside
def write_pages(
    work: Table,
    params: Table,
    i: int,
    first_row: int,
    end_row: int,
    share: float,
    generated: float,
    dt: float,
) -> None:
    """Update the dirty pages of equal sources, and write pages at checkpoints.

    The work rows *first_row* to *end_row* - 1 belong to sources that are equal to source *i*.
    """
    touches = work[TOUCHES, i]
    thinned = 1.0 + touches * params[i, HOT_INVERSE]
    every_s = params[i, CHECKPOINT_EVERY_S]
    most = params[i, CHECKPOINT_PAGES] * share
    for own in range(first_row, end_row):
        dirty = (work[OWN_DIRTY, own] + touches) / thinned
        since_s = work[OWN_SINCE_S, own] + dt
        backlog = work[OWN_BACKLOG, own]
        if since_s >= every_s:
            since_s -= every_s
            backlog += dirty
            dirty = 0.0
            work[OWN_CHECKPOINT_LOG, own] = generated
        pages = min(backlog, most)
        work[OWN_DIRTY, own] = dirty
        work[OWN_SINCE_S, own] = since_s
        work[OWN_BACKLOG, own] = backlog - pages
        work[OWN_WRITTEN, own] += pages


@inside
def disturb(state: Table, params: Table, j: int, sent_kb: float, dt: float) -> float:
    """Update the random delays of stream *j* in this step. Return the jitter, in steps.

    Jitter is the variation of a packet's delay. A lost packet stalls the stream until the packet is sent
    again.
    """
    jitter = 0.0
    if params[j, JITTER_STEPS] > 0.0:
        kick = 2.0 * draw(state, j) - 1.0
        state[j, WANDER] += params[j, WANDER_KICK] * kick - params[j, WANDER_BACK] * state[j, WANDER]
        packets = max(1.0, state[j, MESSAGE_KB] * params[j, WIRE_RATIO] / PACKET_KB)
        # A message is complete when its last packet arrives. For n packets with delays within ±1 of the mean,
        # the expected maximum is (n-1)/(n+1) above the mean.
        jitter = params[j, JITTER_STEPS] * (state[j, WANDER] + (packets - 1.0) / (packets + 1.0))
    if params[j, LOSS_PER_KB] > 0.0:
        state[j, STALL_S] = max(0.0, state[j, STALL_S] - dt)
        if state[j, STALL_S] == 0.0:
            chance = draw(state, j)
            if chance < params[j, LOSS_PER_KB] * sent_kb:
                packets_per_s = max(
                    state[j, MESSAGE_RATE], sent_kb * params[j, WIRE_RATIO] / (PACKET_KB * dt)
                )
                state[j, STALL_S] = params[j, ROUND_TRIP_S] + min(
                    params[j, RETRANSMIT_S], PACKETS_TO_NOTICE / max(packets_per_s, 1.0)
                )
    return float(jitter)


@inside
def carry_log(
    state: Table,
    params: Table,
    j: int,
    hosts: Table,
    h: int,
    m: int,
    history: Cube,
    step_number: int,
    may_send: float,
    known_kb: float,
    dt: float,
) -> None:
    """Send log of stream *j* from instance *h* to *m*, harden it, and update the acknowledged position."""
    slot = step_number & (history.shape[2] - 1)
    sent = state[j, SENT] + may_send
    state[j, SENT] = sent
    history[j, SENT_RING, slot] = sent
    received = state[j, RECEIVED]
    delay = (
        params[j, ONE_WAY_STEPS]
        + state[j, MESSAGE_KB] * params[j, PER_MESSAGE_KB_STEPS]
        + hosts[m, TURN_STEPS]
    )
    if params[j, JITTER_STEPS] > 0.0 or params[j, LOSS_PER_KB] > 0.0:
        delay = max(0.0, delay + disturb(state, params, j, may_send, dt))
    if state[j, STALL_S] == 0.0:
        received = max(received, look_back(history, j, SENT_RING, step_number, delay))
        state[j, RECEIVED] = received
    hardened = state[j, HARDENED]
    hardened += min((received - hardened) * params[j, HARDEN_OUT], params[j, HARDEN_KB]) * hosts[m, LOG_SHARE]
    state[j, HARDENED] = hardened
    history[j, HARDENED_RING, slot] = hardened
    back = params[j, ACK_STEPS] + hosts[h, TURN_STEPS]
    if back < 1.0:
        known_kb = look_back(history, j, HARDENED_RING, step_number, back)
    state[j, ACKNOWLEDGED] = max(state[j, ACKNOWLEDGED], known_kb)


@inside
def commit(state: Table, params: Table, i: int, acknowledged: float, dt: float) -> None:
    """Acknowledge the commits of source *i* that the hardened log now covers."""
    generated = state[i, GENERATED]
    before = state[i, DURABLE]
    durable = state[i, FLUSHED] if params[i, DELAYED] == 0.0 else generated
    if params[i, WAITS] > 0.0 and params[i, DELAYED] == 0.0:
        durable = min(durable, acknowledged)
    if params[i, THINK_OUT] == 0.0:
        durable = before  # no connected client waits for a commit
    waiting = state[i, WAITING]
    done = 0.0
    if durable > before:
        done = waiting * min(1.0, (durable - before) / (generated - before))
        state[i, DURABLE] = durable
        state[i, DURABLE_RATE] += (durable - before - state[i, DURABLE_RATE] * dt) * RATE_SMOOTHING_PER_S
    thinking = state[i, THINKING] + done
    waiting -= done
    inside = state[i, QUEUED] + state[i, IN_OTHER] + state[i, ON_CPU] + state[i, BLOCKED] + waiting
    state[i, WAITING] = waiting
    state[i, THINKING] = thinking
    state[i, TRANSACTIONS] += done
    state[i, COMMIT_RATE] += (done - state[i, COMMIT_RATE] * dt) * RATE_SMOOTHING_PER_S
    state[i, INSIDE_S] += (inside + thinking * params[i, THINK_INSIDE]) * dt
    stalled = params[i, THINK_OUT] > 0.0 and inside > SLACK and done <= SLACK * inside * dt
    state[i, STALLED_S] = state[i, STALLED_S] + dt if stalled else 0.0
    if params[i, DELAYED] > 0.0:  # no commit waits, but the counters report the delay of the awaited streams
        waiting = (generated - min(state[i, FLUSHED], acknowledged)) / params[i, LOG_KB]
    state[i, WAITING_S] += waiting * dt


@inside
def redo(state: Table, params: Table, j: int, touches_per_kb: float, share: float, work: Table) -> None:
    """Let the target of stream *j* redo hardened log."""
    wanted = min(state[j, HARDENED] - state[j, REDONE], params[j, REDO_KB])
    redone = wanted * share
    state[j, REDONE] += redone
    state[j, REDO_WANTED] = wanted * params[j, REDO_S_PER_KB]
    work[REDOING_S, j] = redone * params[j, REDO_S_PER_KB]
    work[TARGET_TOUCHES, j] = redone * touches_per_kb


@inside
def write_target_pages(
    work: Table,
    params: Table,
    j: int,
    first_row: int,
    end_row: int,
    hot_inverse: float,
    place: NumberTable,
    source_work: Table,
    share: float,
    dt: float,
) -> None:
    """Write pages that redo has changed, for the targets of equal streams.

    The work rows *first_row* to *end_row* - 1 belong to streams that are equal to stream *j*.
    """
    touches = work[TARGET_TOUCHES, j]
    most = params[j, TARGET_PAGES] * share
    if params[j, CONTINUOUS] > 0.0:
        flush_out = params[j, FLUSH_OUT]
        thinned = 1.0 + flush_out + touches * hot_inverse
        for own in range(first_row, end_row):
            dirty = (work[OWN_TARGET_DIRTY, own] + touches) / thinned
            pages = dirty * flush_out
            left = pages - most
            work[OWN_TARGET_DIRTY, own] = dirty + left if pages > most else dirty
            work[OWN_TARGET_WRITTEN, own] += most if pages > most else pages
        return
    thinned = 1.0 + touches * hot_inverse
    for own in range(first_row, end_row):
        dirty = (work[OWN_TARGET_DIRTY, own] + touches) / thinned
        backlog = work[OWN_TARGET_BACKLOG, own]
        if source_work[OWN_SINCE_S, place[own, SOURCE]] < dt:  # follows its primary's checkpoints
            backlog += dirty
            dirty = 0.0
        pages = min(backlog, most)
        work[OWN_TARGET_BACKLOG, own] = backlog - pages
        work[OWN_TARGET_DIRTY, own] = dirty
        work[OWN_TARGET_WRITTEN, own] += pages


@inside
def spend_cpu(
    sources: Table,
    source_params: Table,
    i: int,
    streams: Table,
    stream_params: Table,
    j: int,
    wake_up: float,
    work: Table,
    sent_kb: float,
    dt: float,
    hz: float,
) -> None:
    """Compute the messages of stream *j* in this step and their CPU time at both ends.

    Commits that occur at random times during one log write share a message.
    """
    messages = 0.0
    rate = sent_kb * hz
    if rate > 0.0:
        backlog = log_to_send(sources, i, stream_params, j) - streams[j, SENT]
        if backlog > stream_params[j, WINDOW_KB]:
            messages = rate / stream_params[j, WINDOW_KB]  # a backlog is sent in full windows
        elif source_params[i, DELAYED] > 0.0:
            messages = rate * source_params[i, PER_BLOCK]
        else:
            commits = sources[i, COMMIT_RATE]
            busy = commits * source_params[i, WRITE_S]
            messages = max(rate * source_params[i, PER_BLOCK], commits / (busy + fade(busy)))
        streams[j, MESSAGE_KB] += (rate / messages - streams[j, MESSAGE_KB]) * (dt * MESSAGE_SMOOTHING_PER_S)
        streams[j, MESSAGES] += messages * dt
    streams[j, MESSAGE_RATE] = messages
    own = messages * stream_params[j, PER_MESSAGE_CPU] + rate * stream_params[j, PER_KB_CPU]
    other = (
        messages * stream_params[j, TARGET_PER_MESSAGE_CPU] * wake_up
        + rate * stream_params[j, TARGET_PER_KB_CPU]
    )
    streams[j, SENDER_CPU] = own
    streams[j, TARGET_CPU] = other
    work[SENDING_S, j] = own * dt
    work[RECEIVING_S, j] = other * dt


@inside
def log_to_send(sources: Table, i: int, stream_params: Table, j: int) -> float:
    """Return the log position up to which source *i* may send log to stream *j* now."""
    return float(sources[i, RELEASED] if stream_params[j, FROM_GENERATED] > 0.0 else sources[i, FLUSHED])


@inside
def add_demands(flow: Arrays, dt: float) -> None:
    """Add up the demands of each instance's sources and streams, one by one in a fixed order."""
    sources, source_params = flow.sources, flow.source_params
    streams, stream_params = flow.streams, flow.stream_params
    host_of, place, hosts = flow.host_of, flow.place, flow.hosts
    source_work, stream_work = flow.source_work, flow.stream_work
    source_places, stream_places = flow.source_places, flow.stream_places
    for h in range(hosts.shape[0]):
        for column in range(DEMANDS):
            hosts[h, column] = 0.0
        hosts[h, BUSY_S] = hosts[h, BACKGROUND] * dt
        hosts[h, STREAMING_CPU] = hosts[h, BACKGROUND]
    for run in range(source_places[FIRST, sources.shape[0]]):
        first, past = source_places[FIRST, run], source_places[PAST, run]
        i = source_places[LIKE, first]
        if source_params[i, ALIVE] == 0.0:
            continue
        h = host_of[i]
        cpu = sources[i, ON_CPU]
        wants = sources[i, QUEUED] + sources[i, THINKING] * source_params[i, THINK_OUT]
        has = sources[i, IN_OTHER] + cpu + sources[i, BLOCKED] + sources[i, WAITING]
        commits = sources[i, COMMIT_RATE]
        writers = min(1.0, (sources[i, GENERATED] - sources[i, FLUSHED]) * source_params[i, PER_BLOCK])
        most = source_params[i, CHECKPOINT_PAGES]
        runnable, wanted, busy = hosts[h, RUNNABLE], hosts[h, WANTED], hosts[h, BUSY]
        committed, log_writers, pages = hosts[h, COMMITS], hosts[h, LOG_WRITERS], hosts[h, PAGES_WANTED]
        for own in range(first, past):
            runnable += cpu
            wanted += wants
            busy += has
            committed += commits
            log_writers += writers
            pages += min(source_work[OWN_BACKLOG, own], most)
        hosts[h, RUNNABLE], hosts[h, WANTED], hosts[h, BUSY] = runnable, wanted, busy
        hosts[h, COMMITS], hosts[h, LOG_WRITERS], hosts[h, PAGES_WANTED] = committed, log_writers, pages
    for run in range(stream_places[FIRST, streams.shape[0]]):
        first, past = stream_places[FIRST, run], stream_places[PAST, run]
        j = stream_places[LIKE, first]
        if stream_params[j, STREAM_ACTIVE] == 0.0:
            continue
        i = place[j, SOURCE]
        h = host_of[i]
        m = place[j, TARGET]
        sends = streams[j, SENDER_CPU] if source_params[i, ALIVE] > 0.0 else 0.0
        if stream_params[j, TARGET_ALIVE] == 0.0:
            hosts[h, STREAMING_CPU] = add_repeatedly(hosts[h, STREAMING_CPU], sends, past - first)
            continue
        if stream_params[j, CARRYING] > 0.0:
            hosts[m, SESSIONS] += past - first
            hosts[h, SESSIONS] += past - first
        receives, redoing, messages = (
            streams[j, TARGET_CPU],
            streams[j, REDO_WANTED],
            streams[j, MESSAGE_RATE],
        )
        writers = min(1.0, (streams[j, RECEIVED] - streams[j, HARDENED]) * source_params[i, PER_BLOCK])
        continuous = stream_params[j, CONTINUOUS] > 0.0
        flush_out, most = stream_params[j, FLUSH_OUT], stream_params[j, TARGET_PAGES]
        cost = stream_params[j, TARGET_PAGE_COST]
        if h == m:
            add_to_hosts(hosts, STREAMING_CPU, h, m, past - first, sends, receives, 0.0)
        here, there = hosts[h, STREAMING_CPU], hosts[m, STREAMING_CPU]
        redo_s, messages_in = hosts[m, REDO_S], hosts[m, MESSAGES_IN]
        log_writers, pages = hosts[m, LOG_WRITERS], hosts[m, PAGES_WANTED]
        for own in range(first, past):
            here += sends
            there += receives
            redo_s += redoing
            messages_in += messages
            log_writers += writers
            waiting = (
                stream_work[OWN_TARGET_DIRTY, own] * flush_out
                if continuous
                else stream_work[OWN_TARGET_BACKLOG, own]
            )
            pages += min(waiting, most) * cost
        if h != m:
            hosts[h, STREAMING_CPU], hosts[m, STREAMING_CPU] = here, there
        hosts[m, REDO_S], hosts[m, MESSAGES_IN] = redo_s, messages_in
        hosts[m, LOG_WRITERS], hosts[m, PAGES_WANTED] = log_writers, pages


@inside
def add_to_hosts(
    hosts: Table,
    column: int,
    h: int,
    m: int,
    times: int,
    sender_amount: float,
    receiver_amount: float,
    redo_amount: float,
) -> None:
    """Add amounts to a column of two instances, *times* times each.

    *sender_amount* is added at *h*. *receiver_amount* and *redo_amount* are added at *m*.
    """
    if h == m:
        for _ in range(times):
            hosts[h, column] += sender_amount
            hosts[h, column] += receiver_amount
            hosts[h, column] += redo_amount
        return
    here, there = hosts[h, column], hosts[m, column]
    for _ in range(times):
        here += sender_amount
        there += receiver_amount
        there += redo_amount
    hosts[h, column] = here
    hosts[m, column] = there


@inside
def share_hosts(hosts: Table, dt: float, hz: float) -> None:
    """Compute the share of the demanded workers, processors and disks that each instance can provide."""
    for h in range(hosts.shape[0]):
        cores = hosts[h, CORES]
        free = hosts[h, WORKERS] - hosts[h, BUSY] + dt * hosts[h, COMMITS]
        free = max(0.0, free)
        hosts[h, ADMITTED] = 1.0 if hosts[h, WANTED] <= free else free / hosts[h, WANTED]
        left = max(LEAST_SHARE * cores, cores - hosts[h, STREAMING_CPU])
        redo_cores = hosts[h, REDO_S] * hz
        hosts[h, REDO_SHARE] = 1.0 if redo_cores <= left else left / redo_cores
        left = max(LEAST_SHARE * cores, left - redo_cores)
        hosts[h, CPU_SHARE] = 1.0 if hosts[h, RUNNABLE] <= left else left / hosts[h, RUNNABLE]
        writers = hosts[h, LOG_STREAMS]
        hosts[h, LOG_SHARE] = 1.0 if hosts[h, LOG_WRITERS] <= writers else writers / hosts[h, LOG_WRITERS]
        pages = hosts[h, DATA_PAGES] * dt
        hosts[h, DATA_SHARE] = 1.0 if hosts[h, PAGES_WANTED] <= pages else pages / hosts[h, PAGES_WANTED]
        wake_up_s = hosts[h, WAKE_UP_S]
        hosts[h, WAKE_UP] = 1.0 / (1.0 + wake_up_s * hosts[h, MESSAGES_IN]) if wake_up_s > 0.0 else 1.0
        hosts[h, TURN_STEPS] = hosts[h, SESSIONS] * wake_up_s * hz


@inside
def share_links(flow: Arrays, dt: float) -> None:
    """Divide each congested link fairly: small demands are met, other streams get equal shares."""
    place, links = flow.place, flow.links
    work = flow.stream_work
    stream_places = flow.stream_places
    for k in range(links.shape[0]):
        links[k, LINK_WANTED] = 0.0
        links[k, LINK_STREAMS] = 0.0
    runs = stream_places[FIRST, place.shape[0]]
    for run in range(runs):
        first, past = stream_places[FIRST, run], stream_places[PAST, run]
        j = stream_places[LIKE, first]
        if work[WISH, j] > 0.0:
            k = place[j, LINK]
            links[k, LINK_WANTED] = add_repeatedly(links[k, LINK_WANTED], work[WISH, j], past - first)
            links[k, LINK_STREAMS] += past - first
    for k in range(links.shape[0]):
        carried = links[k, LINK_KB] * dt
        if links[k, LINK_WANTED] <= carried:
            continue
        level = carried / links[k, LINK_STREAMS]
        for _ in range(3):
            small = 0.0
            big = 0.0
            for run in range(runs):
                first, past = stream_places[FIRST, run], stream_places[PAST, run]
                j = stream_places[LIKE, first]
                if place[j, LINK] == k and work[WISH, j] > 0.0:
                    if work[WISH, j] <= level:
                        small = add_repeatedly(small, work[WISH, j], past - first)
                    else:
                        big += past - first
            if big > 0.0:
                level = (carried - small) / big
        for group in range(stream_places[GROUPS, place.shape[0]]):
            j = stream_places[GROUPS, group]
            if place[j, LINK] == k:
                work[WISH, j] = min(work[WISH, j], level)


@inside
def add_repeatedly(total: float, value: float, times: int) -> float:
    """Return *total* after adding *value* to it *times* times. A multiplication would round differently."""
    while times > 0:
        total += value
        times -= 1
    return total


@inside
def step(flow: Arrays, step_number: int, dt: float, hz: float) -> None:
    """Advance all sources and streams by *dt* seconds. The order of the stages matters."""
    sources, source_params = flow.sources, flow.source_params
    streams, stream_params = flow.streams, flow.stream_params
    host_of, place, hosts, history = flow.host_of, flow.place, flow.hosts, flow.history
    source_work, stream_work = flow.source_work, flow.stream_work
    source_places, stream_places = flow.source_places, flow.stream_places
    add_demands(flow, dt)
    share_hosts(hosts, dt, hz)
    source_groups = source_places[GROUPS, sources.shape[0]]
    stream_groups = stream_places[GROUPS, streams.shape[0]]
    for group in range(stream_groups):
        j = stream_places[GROUPS, group]
        if stream_params[j, STREAM_ACTIVE] == 0.0:
            continue
        i = place[j, SOURCE]
        kb = streams[j, ACKNOWLEDGED]
        if stream_params[j, CARRYING] > 0.0:
            # At the start of a step, the source can know at most the state of one step ago.
            back = stream_params[j, ACK_STEPS] + hosts[host_of[i], TURN_STEPS] - 1.0
            kb = max(
                kb,
                look_back(history, j, HARDENED_RING, step_number - 1, back)
                if back >= 0.0
                else streams[j, HARDENED],
            )
        stream_work[KNOWN, j] = kb
        if stream_params[j, AWAITED] > 0.0:
            source_work[AWAITED_KB, i] = min(source_work[AWAITED_KB, i], kb)
    for group in range(source_groups):
        i = source_places[GROUPS, group]
        if source_params[i, ALIVE] > 0.0:
            known = source_work[AWAITED_KB, i]
            write_log(sources, source_params, i, hosts, host_of[i], known, source_work, dt)
        source_work[AWAITED_KB, i] = NO_BOUND_KB
    for run in range(source_places[FIRST, sources.shape[0]]):
        first, past = source_places[FIRST, run], source_places[PAST, run]
        i = source_places[LIKE, first]
        if source_params[i, ALIVE] > 0.0:
            h = host_of[i]
            hosts[h, BUSY_S] = add_repeatedly(hosts[h, BUSY_S], source_work[SPENT_S, i], past - first)
            share, generated = hosts[h, DATA_SHARE], sources[i, GENERATED]
            write_pages(source_work, source_params, i, first, past, share, generated, dt)
    for group in range(stream_groups):
        j = stream_places[GROUPS, group]
        kb = 0.0
        if stream_params[j, CARRYING] > 0.0:
            end = log_to_send(sources, place[j, SOURCE], stream_params, j)
            kb = min(end - streams[j, SENT], stream_params[j, SEND_KB])
            if streams[j, STALL_S] > 0.0:
                kb = min(kb, stream_params[j, WINDOW_KB] - (streams[j, SENT] - streams[j, RECEIVED]))
            kb = max(0.0, kb) * stream_params[j, WIRE_RATIO]
        stream_work[WISH, j] = kb
    share_links(flow, dt)
    for group in range(stream_groups):
        j = stream_places[GROUPS, group]
        if stream_params[j, STREAM_ACTIVE] == 0.0:
            continue
        i = place[j, SOURCE]
        m = place[j, TARGET]
        if stream_params[j, CARRYING] > 0.0:
            sent = stream_work[WISH, j] * stream_params[j, PER_WIRE]
            known = stream_work[KNOWN, j]
            carry_log(streams, stream_params, j, hosts, host_of[i], m, history, step_number, sent, known, dt)
            wake_up = hosts[m, WAKE_UP]
            spend_cpu(
                sources, source_params, i, streams, stream_params, j, wake_up, stream_work, sent, dt, hz
            )
        elif stream_params[j, TARGET_ALIVE] > 0.0:
            finish_received(streams, stream_params, j, history, step_number)
        if stream_params[j, TARGET_ALIVE] > 0.0:
            share = hosts[m, REDO_SHARE]
            redo(streams, stream_params, j, source_params[i, TOUCHES_PER_KB], share, stream_work)
        if stream_params[j, AWAITED] > 0.0:
            source_work[AWAITED_KB, i] = min(source_work[AWAITED_KB, i], streams[j, ACKNOWLEDGED])
    for run in range(stream_places[FIRST, streams.shape[0]]):
        first, past = stream_places[FIRST, run], stream_places[PAST, run]
        j = stream_places[LIKE, first]
        if stream_params[j, STREAM_ACTIVE] == 0.0:
            continue
        i = place[j, SOURCE]
        m = place[j, TARGET]
        carrying, redoing = stream_params[j, CARRYING] > 0.0, stream_params[j, TARGET_ALIVE] > 0.0
        add_to_hosts(
            hosts, BUSY_S, host_of[i], m, past - first,
            stream_work[SENDING_S, j] if carrying else 0.0,
            stream_work[RECEIVING_S, j] if carrying else 0.0,
            stream_work[REDOING_S, j] if redoing else 0.0,
        )  # fmt: skip
        if redoing:
            hot_inverse, share = source_params[i, HOT_INVERSE], hosts[m, DATA_SHARE]
            write_target_pages(
                stream_work, stream_params, j, first, past, hot_inverse, place, source_work, share, dt
            )
    for group in range(source_groups):
        i = source_places[GROUPS, group]
        if source_params[i, ALIVE] > 0.0:
            commit(sources, source_params, i, source_work[AWAITED_KB, i], dt)
        source_work[AWAITED_KB, i] = NO_BOUND_KB
    for h in range(hosts.shape[0]):
        hosts[h, CORE_S] += min(hosts[h, CORES] * dt, hosts[h, BUSY_S])


@inside
def finish_received(state: Table, params: Table, j: int, history: Cube, step_number: int) -> None:
    """Harden the log that the target of stream *j* has received.

    The target has no session, so no log is in transit and none is acknowledged.
    """
    state[j, HARDENED] += min(
        (state[j, RECEIVED] - state[j, HARDENED]) * params[j, HARDEN_OUT], params[j, HARDEN_KB]
    )
    state[j, SENDER_CPU] = 0.0
    state[j, TARGET_CPU] = 0.0
    state[j, MESSAGE_RATE] = 0.0
    history[j, SENT_RING, step_number & (history.shape[2] - 1)] = state[j, SENT]
    history[j, HARDENED_RING, step_number & (history.shape[2] - 1)] = state[j, HARDENED]


@inside
def smooth(state: Table, i: int, total: int, totals: int, value: float) -> None:
    """Update the smoothed rate of a total in row *i* from its new sample *value*, and store the sample."""
    rate = (value - state[i, totals + total]) / LOOK_S
    state[i, totals + total] = value
    state[i, 2 * totals + total] += (rate - state[i, 2 * totals + total]) * LOOK_SHARE


@inside
def update_rates(flow: Arrays) -> None:
    """Update the smoothed rates from a new sample. Let log files grow if they cannot hold the used log."""
    sources, source_params = flow.sources, flow.source_params
    streams, stream_params = flow.streams, flow.stream_params
    hosts = flow.hosts
    source_work, stream_work = flow.source_work, flow.stream_work
    source_places, stream_places = flow.source_places, flow.stream_places
    for i in range(sources.shape[0]):
        if source_params[i, ACTIVE] == 0.0:
            continue
        like = source_places[LIKE, i]
        if like == i:
            for total in range(SOURCE_TOTALS):
                if total != PAGES_WRITTEN:
                    smooth(sources, i, total, SOURCE_TOTALS, sources[i, total])
        smooth(sources, i, PAGES_WRITTEN, SOURCE_TOTALS, source_work[OWN_WRITTEN, i])
        while (
            sources[like, GENERATED] - sources[i, REUSE] > sources[i, LOG_SIZE]
            and sources[i, LOG_SIZE] < source_params[i, LOG_MAX]
        ):
            sources[i, LOG_SIZE] = min(source_params[i, LOG_MAX], sources[i, LOG_SIZE] * LOG_GROWTH + PAGE_KB)
    for j in range(streams.shape[0]):
        if stream_params[j, STREAM_ACTIVE] > 0.0:
            if stream_places[LIKE, j] == j:
                for total in range(STREAM_TOTALS):
                    if total != TARGET_PAGES_WRITTEN:
                        smooth(streams, j, total, STREAM_TOTALS, streams[j, total])
            smooth(streams, j, TARGET_PAGES_WRITTEN, STREAM_TOTALS, stream_work[OWN_TARGET_WRITTEN, j])
    for h in range(hosts.shape[0]):
        rate = (hosts[h, CORE_S] - hosts[h, LAST_CORE_S]) / LOOK_S
        hosts[h, LAST_CORE_S] = hosts[h, CORE_S]
        hosts[h, SMOOTH_CORES] += (rate - hosts[h, SMOOTH_CORES]) * LOOK_SHARE


@inside
def source_is_sound(state: Table, params: Table, i: int) -> bool:
    """Return whether source *i* balances: connections add up, counts are not negative, values are finite."""
    total = 0.0
    for column in range(SOURCE_COLUMNS):
        total += state[i, column]
    inside = state[i, QUEUED] + state[i, IN_OTHER] + state[i, ON_CPU] + state[i, BLOCKED] + state[i, WAITING]
    connections = params[i, CONNECTIONS]
    if not math.isfinite(total) or abs(inside + state[i, THINKING] - connections) > SLACK * (
        1.0 + connections
    ):
        return False
    least = min(state[i, THINKING], state[i, QUEUED], state[i, IN_OTHER], state[i, ON_CPU])
    if min(least, state[i, BLOCKED], state[i, WAITING]) < -SLACK:
        return False
    return bool(state[i, FLUSHED] <= state[i, GENERATED] + slack_kb(state[i, GENERATED]))


@inside
def pages_are_sound(dirty: float, backlog: float, written_pages: float) -> bool:
    """Return whether the page counts of a source or stream are finite and not negative."""
    return math.isfinite(dirty + backlog + written_pages) and dirty >= -SLACK


@inside
def slack_kb(position_kb: float) -> float:
    """Return the permitted rounding error of a log position, in KB."""
    return SLACK * (1.0 + 1e-3 * abs(position_kb))


@inside
def stream_is_sound(state: Table, params: Table, j: int, generated: float) -> bool:
    """Return whether stream *j* balances: its log positions are in the right order, all values are finite."""
    total = 0.0
    for column in range(STREAM_COLUMNS):
        total += state[j, column]
    if not math.isfinite(total):
        return False
    slack = slack_kb(generated)
    received, hardened = state[j, RECEIVED], state[j, HARDENED]
    if hardened > received + slack:
        return False
    if state[j, REDONE] > hardened + slack or state[j, ACKNOWLEDGED] > hardened + slack:
        return False
    sent = state[j, SENT]
    return bool(params[j, CARRYING] == 0.0 or (received <= sent + slack and sent <= generated + slack))


@inside
def source_crossed(state: Table, params: Table, i: int, reuse: float) -> int:
    """Return the stop conditions (crossings) that hold now for source *i*, as bits.

    The source's log before position *reuse* may be overwritten.
    """
    held = 0
    if state[i, GENERATED] - reuse >= params[i, LOG_MAX] - SMALL_KB:
        held |= LOG_FULL
    if state[i, OPERATION_LEFT] <= 0.0:
        held |= OPERATION_DONE
    return held


@entry
def stream_crossings(state: Table, params: Table, j: int, flushed: float, block_kb: float) -> int:
    """Return the stop conditions (crossings) that hold now for stream *j*, as bits.

    The stream's source has hardened log up to *flushed*.
    """
    return stream_crossed(state, params, j, flushed, block_kb)


@inside
def stream_crossed(state: Table, params: Table, j: int, flushed: float, block_kb: float) -> int:
    """Return the stop conditions that hold now for stream *j*, like `stream_crossings`.

    The step calls this function; Python calls `stream_crossings`.
    """
    held = 0
    carrying = params[j, CARRYING] > 0.0
    if state[j, HARDENED] - state[j, REDONE] <= SMALL_KB and (
        carrying or state[j, RECEIVED] - state[j, HARDENED] <= SMALL_KB
    ):
        held |= REDO_DONE
    if carrying and flushed - state[j, SENT] <= block_kb:
        held |= SEND_DONE
    return held


@inside
def source_held(state: Table, params: Table, i: int, reuse: float) -> int:
    """Return the armed stop conditions (crossings) that hold now for source *i*, as bits.

    The source's log before position *reuse* may be overwritten.
    """
    armed = int(state[i, SOURCE_ARMED])
    return source_crossed(state, params, i, reuse) & armed if armed != 0 and params[i, ACTIVE] > 0.0 else 0


@inside
def stream_held(
    sources: Table, source_params: Table, streams: Table, stream_params: Table, place: NumberTable, j: int
) -> int:
    """Return the armed stop conditions (crossings) that hold now for stream *j*, as bits."""
    armed = int(streams[j, STREAM_ARMED])
    if armed == 0 or stream_params[j, STREAM_ACTIVE] == 0.0:
        return 0
    i = place[j, SOURCE]
    flushed, block_kb = sources[i, FLUSHED], source_params[i, BLOCK_KB]
    return stream_crossed(streams, stream_params, j, flushed, block_kb) & armed


@inside
def has_held_crossing(flow: Arrays) -> bool:
    """Return whether an armed stop condition (crossing) holds anywhere.

    Only the first source or stream of each group is checked.
    """
    sources, source_params = flow.sources, flow.source_params
    streams, stream_params = flow.streams, flow.stream_params
    place = flow.place
    source_work = flow.source_work
    source_places, stream_places = flow.source_places, flow.stream_places
    for group in range(source_places[GROUPS, sources.shape[0]]):
        i = source_places[GROUPS, group]
        if source_held(sources, source_params, i, source_work[LEAST_REUSE, i]) != 0:
            return True
    for group in range(stream_places[GROUPS, streams.shape[0]]):
        j = stream_places[GROUPS, group]
        if stream_held(sources, source_params, streams, stream_params, place, j) != 0:
            return True
    return False


@inside
def any_held(flow: Arrays) -> bool:
    """Return whether an armed stop condition (crossing) holds anywhere.

    Unlike `has_held_crossing`, check each source and stream.
    """
    sources, source_params = flow.sources, flow.source_params
    streams, stream_params = flow.streams, flow.stream_params
    for i in range(sources.shape[0]):
        if source_held(sources, source_params, i, sources[i, REUSE]) != 0:
            return True
    for j in range(streams.shape[0]):
        if stream_held(sources, source_params, streams, stream_params, flow.place, j) != 0:
            return True
    return False


@entry
def note_crossings(
    sources: Table,
    source_params: Table,
    streams: Table,
    stream_params: Table,
    place: NumberTable,
    of_sources: Numbers,
    of_streams: Numbers,
) -> bool:
    """Store the armed stop conditions (crossings) that hold now, by source and by stream.

    Return whether any holds.
    """
    found = 0
    for i in range(sources.shape[0]):
        of_sources[i] = source_held(sources, source_params, i, sources[i, REUSE])
        found |= of_sources[i]
    for j in range(streams.shape[0]):
        of_streams[j] = stream_held(sources, source_params, streams, stream_params, place, j)
        found |= of_streams[j]
    return found != 0


@entry
def read_source(state: Table, params: Table, i: int, hosts: Table, host: int, output: Row) -> None:
    """Write the current counters of a source into *output*, in the order of `SOURCE_COUNTERS`."""
    commits = state[i, SOURCE_SMOOTH + TRANSACTIONS]
    response, delay = 0.0, 0.0
    if state[i, STALLED_S] >= OLDEST_S:  # no commit ends: report the age of the oldest transaction
        response = state[i, STALLED_S]
        delay = response if state[i, WAITING] > SLACK else 0.0
    elif commits > 1e-6:
        response = state[i, SOURCE_SMOOTH + INSIDE_S] / commits
        delay = state[i, SOURCE_SMOOTH + WAITING_S] / commits
    output[0] = commits
    output[1] = response
    output[2] = 1000.0 * delay if params[i, WAITS] > 0.0 else 0.0
    output[3] = state[i, SOURCE_SMOOTH + GENERATED]
    output[4] = state[i, GENERATED] - state[i, REUSE]
    output[5] = max(state[i, LOG_SIZE], output[4])
    output[6] = 100.0 * hosts[host, SMOOTH_CORES] / hosts[host, CORES]
    output[7] = PAGE_KB * state[i, SOURCE_SMOOTH + PAGES_WRITTEN]
    output[8] = state[i, DIRTY] + state[i, CHECKPOINT_BACKLOG]
    output[9] = state[i, GENERATED] - state[i, CHECKPOINT_LOG]
    output[10] = (
        state[i, QUEUED] + state[i, IN_OTHER] + state[i, ON_CPU] + state[i, BLOCKED] + state[i, WAITING]
    )


@entry
def read_stream(
    state: Table,
    params: Table,
    j: int,
    generated: float,
    flushed: float,
    hosts: Table,
    target: int,
    output: Row,
) -> None:
    """Write the current counters of a stream into *output*, in the order of `STREAM_COUNTERS`.

    *generated* and *flushed* are log positions of the stream's source.
    """
    output[0] = state[j, STREAM_SMOOTH + SENT]
    output[1] = state[j, STREAM_SMOOTH + REDONE]
    output[2] = max(0.0, flushed - state[j, SENT])
    output[3] = state[j, HARDENED] - state[j, REDONE]
    output[4] = (
        100.0 * hosts[target, SMOOTH_CORES] / hosts[target, CORES] if params[j, RECEIVED_BY] > 0.0 else 0.0
    )
    output[5] = PAGE_KB * state[j, STREAM_SMOOTH + TARGET_PAGES_WRITTEN]
    output[6] = state[j, TARGET_DIRTY] + state[j, TARGET_BACKLOG]
    output[7] = state[j, STREAM_SMOOTH + MESSAGES]
    output[8] = max(0.0, generated - state[j, HARDENED])


@inside
def compares(value: float, sign: int, level: float) -> bool:
    """Return whether *value* compares to the threshold *level* as *sign* (an index into `SIGNS`) demands."""
    if sign == LESS:
        return value < level
    if sign == NOT_MORE:
        return value <= level
    if sign == EQUAL:
        return value == level
    if sign == UNEQUAL:
        return value != level
    return value >= level if sign == NOT_LESS else value > level


@inside
def has_passed_level(flow: Arrays) -> bool:
    """Return whether the result of any watched threshold (level) differs from its last result."""
    sources, source_params = flow.sources, flow.source_params
    streams, stream_params = flow.streams, flow.stream_params
    host_of, place, hosts = flow.host_of, flow.place, flow.hosts
    levels, counters = flow.levels, flow.counters
    for row in range(levels.shape[0]):
        number, counter = int(levels[row, LEVEL_NUMBER]), int(levels[row, LEVEL_COUNTER])
        if counter < SOURCE_COUNTED:
            read_source(sources, source_params, number, hosts, host_of[number], counters)
            value = counters[counter]
        else:
            i = place[number, SOURCE]
            generated, flushed = sources[i, GENERATED], sources[i, FLUSHED]
            target = place[number, TARGET]
            read_stream(streams, stream_params, number, generated, flushed, hosts, target, counters)
            value = counters[counter - SOURCE_COUNTED]
        if levels[row, LEVEL_WHOLE] > 0.0:
            value = 100.0 * value / levels[row, LEVEL_WHOLE]
        held = levels[row, LEVEL_HELD] > 0.0
        if compares(value, int(levels[row, LEVEL_SIGN]), levels[row, LEVEL]) != held:
            return True
    return False


@inside
def find_unsound_row(flow: Arrays) -> int:
    """Return the number of the first source or stream that does not balance; -1 if all balance.

    Streams are numbered after the sources.
    """
    sources, source_params = flow.sources, flow.source_params
    streams, stream_params = flow.streams, flow.stream_params
    place = flow.place
    source_work, stream_work = flow.source_work, flow.stream_work
    source_places, stream_places = flow.source_places, flow.stream_places
    for i in range(sources.shape[0]):
        if source_params[i, ACTIVE] == 0.0:
            continue
        dirty, backlog, written = (
            source_work[OWN_DIRTY, i],
            source_work[OWN_BACKLOG, i],
            source_work[OWN_WRITTEN, i],
        )
        if not pages_are_sound(dirty, backlog, written) or (
            source_places[LIKE, i] == i and not source_is_sound(sources, source_params, i)
        ):
            return int(i)
    for j in range(streams.shape[0]):
        if stream_params[j, STREAM_ACTIVE] == 0.0:
            continue
        dirty, backlog = stream_work[OWN_TARGET_DIRTY, j], stream_work[OWN_TARGET_BACKLOG, j]
        if not pages_are_sound(dirty, backlog, stream_work[OWN_TARGET_WRITTEN, j]) or (
            stream_places[LIKE, j] == j
            and not stream_is_sound(streams, stream_params, j, sources[place[j, SOURCE], GENERATED])
        ):
            return int(sources.shape[0] + j)
    return -1


# Columns of individual values, in which equal sources or streams may differ.
OWN_OF_SOURCE = (
    PAGES_WRITTEN,
    SOURCE_LAST + PAGES_WRITTEN,
    SOURCE_SMOOTH + PAGES_WRITTEN,
    REUSE,
    LOG_SIZE,
    DIRTY,
    CHECKPOINT_BACKLOG,
    SINCE_CHECKPOINT_S,
    CHECKPOINT_LOG,
)
OWN_OF_STREAM = (
    TARGET_PAGES_WRITTEN,
    STREAM_LAST + TARGET_PAGES_WRITTEN,
    STREAM_SMOOTH + TARGET_PAGES_WRITTEN,
    TARGET_DIRTY,
    TARGET_BACKLOG,
    NOISE,
)


@inside
def differences(rows: Table, a: int, b: int) -> int:
    """Return the number of columns in which two rows differ."""
    found = 0
    for column in range(rows.shape[1]):
        found += rows[a, column] != rows[b, column]
    return found


@inside
def streams_alike(streams: Table, params: Table, place: NumberTable, history: Cube, a: int, b: int) -> bool:
    """Return whether two streams differ at most in their pages and in unused random number generators."""
    if (
        place[a, TARGET] != place[b, TARGET]
        or place[a, LINK] != place[b, LINK]
        or differences(params, a, b) > 0
    ):
        return False
    found = differences(streams, a, b)
    for column in OWN_OF_STREAM:
        found -= streams[a, column] != streams[b, column]
    if params[a, JITTER_STEPS] > 0.0 or params[a, LOSS_PER_KB] > 0.0:
        found += streams[a, NOISE] != streams[b, NOISE]
    for ring in range(2):
        for slot in range(history.shape[2]):
            found += history[a, ring, slot] != history[b, ring, slot]
    return found == 0


@inside
def sources_alike(flow: Arrays, a: int, b: int, exactly: bool) -> bool:
    """Return whether two sources, with their streams, differ at most in their pages and log file sizes.

    *exactly*: False if their positions of log reuse may differ, too.
    """
    sources, source_params = flow.sources, flow.source_params
    streams, stream_params = flow.streams, flow.stream_params
    host_of, place, history = flow.host_of, flow.place, flow.history
    source_places, stream_places = flow.source_places, flow.stream_places
    if sources[a, GENERATED] != sources[b, GENERATED] or host_of[a] != host_of[b]:
        return False
    if exactly and sources[a, REUSE] != sources[b, REUSE]:
        return False
    found = differences(sources, a, b)
    for column in OWN_OF_SOURCE:
        found -= sources[a, column] != sources[b, column]
    if found > 0 or differences(source_params, a, b) > 0:
        return False
    j, other = source_places[STREAMS, a], source_places[STREAMS, b]
    none = streams.shape[0]
    while j < none and other < none:
        if not streams_alike(streams, stream_params, place, history, j, other):
            return False
        j, other = stream_places[STREAMS, j], stream_places[STREAMS, other]
    return bool(j == other)


@inside
def find_alike(flow: Arrays, exactly: bool) -> None:
    """Group equal sources that have equal streams; see `sources_alike`."""
    sources = flow.sources
    streams, stream_params = flow.streams, flow.stream_params
    place = flow.place
    source_places, stream_places = flow.source_places, flow.stream_places
    for i in range(sources.shape[0]):
        source_places[LIKE, i] = i
        source_places[STREAMS, i] = streams.shape[0]
    for j in range(streams.shape[0] - 1, -1, -1):
        stream_places[LIKE, j] = j
        if stream_params[j, STREAM_ACTIVE] > 0.0:
            stream_places[STREAMS, j] = source_places[STREAMS, place[j, SOURCE]]
            source_places[STREAMS, place[j, SOURCE]] = j
    groups = 0
    for i in range(sources.shape[0]):
        for group in range(groups):
            first = source_places[GROUPS, group]
            if sources_alike(flow, first, i, exactly):
                source_places[LIKE, i] = first
                j, other = source_places[STREAMS, first], source_places[STREAMS, i]
                while other < streams.shape[0]:
                    stream_places[LIKE, other] = j
                    j, other = stream_places[STREAMS, j], stream_places[STREAMS, other]
                break
        if source_places[LIKE, i] == i:
            source_places[GROUPS, groups] = i
            groups += 1
    note_runs(source_places, sources.shape[0])
    note_runs(stream_places, streams.shape[0])


@inside
def note_runs(places: NumberTable, count: int) -> None:
    """Store the groups and the runs of *count* numbers in *places*.

    A group is stored as its first number. A run is a series of consecutive numbers in one group.
    """
    groups = 0
    runs = 0
    for number in range(count):
        if places[LIKE, number] == number:
            places[GROUPS, groups] = number
            groups += 1
        if number == 0 or places[LIKE, number] != places[LIKE, number - 1]:
            places[FIRST, runs] = number
            runs += 1
        places[PAST, runs - 1] = number + 1
    places[GROUPS, count] = groups
    places[FIRST, count] = runs


@inside
def gather_own_columns(flow: Arrays) -> None:
    """Copy the columns in which equal sources or streams may differ into compact work rows."""
    sources = flow.sources
    streams = flow.streams
    source_work, stream_work = flow.source_work, flow.stream_work
    source_places = flow.source_places
    for i in range(sources.shape[0]):
        source_work[AWAITED_KB, i] = NO_BOUND_KB
        source_work[OWN_DIRTY, i] = sources[i, DIRTY]
        source_work[OWN_SINCE_S, i] = sources[i, SINCE_CHECKPOINT_S]
        source_work[OWN_BACKLOG, i] = sources[i, CHECKPOINT_BACKLOG]
        source_work[OWN_WRITTEN, i] = sources[i, PAGES_WRITTEN]
        source_work[OWN_CHECKPOINT_LOG, i] = sources[i, CHECKPOINT_LOG]
        reuse = sources[i, REUSE]
        first = source_places[LIKE, i]
        if first == i:
            source_work[LEAST_REUSE, i] = reuse
            source_work[MOST_REUSE, i] = reuse
        source_work[LEAST_REUSE, first] = min(source_work[LEAST_REUSE, first], reuse)
        source_work[MOST_REUSE, first] = max(source_work[MOST_REUSE, first], reuse)
    for j in range(streams.shape[0]):
        stream_work[OWN_TARGET_DIRTY, j] = streams[j, TARGET_DIRTY]
        stream_work[OWN_TARGET_BACKLOG, j] = streams[j, TARGET_BACKLOG]
        stream_work[OWN_TARGET_WRITTEN, j] = streams[j, TARGET_PAGES_WRITTEN]


@inside
def distribute_results(flow: Arrays) -> None:
    """Copy the shared results to all sources and streams of a group.

    Also store the values in which sources or streams of the group differ.
    """
    sources = flow.sources
    streams, stream_params = flow.streams, flow.stream_params
    history = flow.history
    source_work, stream_work = flow.source_work, flow.stream_work
    source_places, stream_places = flow.source_places, flow.stream_places
    for i in range(sources.shape[0]):
        first = source_places[LIKE, i]
        if first != i:
            written, size, reuse = SOURCE_SMOOTH + PAGES_WRITTEN, sources[i, LOG_SIZE], sources[i, REUSE]
            smoothed, last = sources[i, written], sources[i, SOURCE_LAST + PAGES_WRITTEN]
            for column in range(SOURCE_COLUMNS):
                sources[i, column] = sources[first, column]
            sources[i, written], sources[i, SOURCE_LAST + PAGES_WRITTEN] = smoothed, last
            sources[i, LOG_SIZE], sources[i, REUSE] = size, reuse
    for i in range(sources.shape[0]):
        sources[i, DIRTY] = source_work[OWN_DIRTY, i]
        sources[i, SINCE_CHECKPOINT_S] = source_work[OWN_SINCE_S, i]
        sources[i, CHECKPOINT_BACKLOG] = source_work[OWN_BACKLOG, i]
        sources[i, PAGES_WRITTEN] = source_work[OWN_WRITTEN, i]
        sources[i, CHECKPOINT_LOG] = source_work[OWN_CHECKPOINT_LOG, i]
    for j in range(streams.shape[0]):
        first = stream_places[LIKE, j]
        if first != j:
            written, noise = STREAM_SMOOTH + TARGET_PAGES_WRITTEN, streams[j, NOISE]
            smoothed, last = streams[j, written], streams[j, STREAM_LAST + TARGET_PAGES_WRITTEN]
            for column in range(STREAM_COLUMNS):
                streams[j, column] = streams[first, column]
            streams[j, written], streams[j, STREAM_LAST + TARGET_PAGES_WRITTEN] = smoothed, last
            if stream_params[j, JITTER_STEPS] == 0.0 and stream_params[j, LOSS_PER_KB] == 0.0:
                streams[j, NOISE] = noise
            for ring in range(2):
                for slot in range(history.shape[2]):
                    history[j, ring, slot] = history[first, ring, slot]
        streams[j, TARGET_DIRTY] = stream_work[OWN_TARGET_DIRTY, j]
        streams[j, TARGET_BACKLOG] = stream_work[OWN_TARGET_BACKLOG, j]
        streams[j, TARGET_PAGES_WRITTEN] = stream_work[OWN_TARGET_WRITTEN, j]


@inside
def is_roomy(sources: Table, params: Table, work: Table, source_places: NumberTable, steps: int) -> bool:
    """Return whether the checked logs have room for *steps* more steps.

    Only groups whose sources differ in their positions of log reuse are checked.
    """
    for group in range(source_places[GROUPS, sources.shape[0]]):
        i = source_places[GROUPS, group]
        if work[LEAST_REUSE, i] < work[MOST_REUSE, i]:
            most = steps * (params[i, CONNECTIONS] * params[i, LOG_KB] + params[i, OPERATION_KB]) * HEADROOM
            if sources[i, GENERATED] - work[LEAST_REUSE, i] + most >= params[i, LOG_MAX] - SMALL_KB:
                return False
    return True


@long_entry
def advance(
    sources: Table,
    source_params: Table,
    streams: Table,
    stream_params: Table,
    host_of: Numbers,
    place: NumberTable,
    hosts: Table,
    links: Table,
    history: Cube,
    levels: Table,
    source_work: Table,
    stream_work: Table,
    source_places: NumberTable,
    stream_places: NumberTable,
    counters: Row,
    source_samples: Cube,
    stream_samples: Cube,
    clock: Numbers,
    ticks: int,
    sample_interval: int,
    dt: float,
) -> int:
    """Run at most *ticks* ticks and return the number of ticks that ran.

    A run stops after the tick at which an armed stop condition (crossing) holds. It also stops at the
    whole second at which the result of a threshold (level) changes. A result of -1 - number means that
    the source or stream with this number does not balance, which is a defect of this program. Streams
    are counted after the sources. Every *sample_interval* ticks of the clock (0: never), all counters
    are appended to the samples. *source_work* and the three arrays after it are scratch space.
    *counters* is scratch space, too, except for two results. They are PASSED (a threshold changed at
    the last tick) and HELD (an armed stop condition holds at the end).
    """
    flow = Arrays(
        sources, source_params, streams, stream_params, host_of, place, hosts, links, history,
        levels, source_work, stream_work, source_places, stream_places, counters,
    )  # fmt: skip
    taken = 0
    hz = 1.0 / dt
    watching = False
    for i in range(sources.shape[0]):
        watching = watching or sources[i, SOURCE_ARMED] > 0.0
    for j in range(streams.shape[0]):
        watching = watching or streams[j, STREAM_ARMED] > 0.0
    exactly, stale, wrong = False, True, -1
    for tick in range(1, ticks + 1):
        while stale:
            find_alike(flow, exactly)
            gather_own_columns(flow)
            steps = LOOK_TICKS * clock[STEPS_PER_TICK]
            stale = not exactly and not is_roomy(sources, source_params, source_work, source_places, steps)
            exactly = exactly or stale
        for _ in range(clock[STEPS_PER_TICK]):
            clock[NOW] += 1
            step(flow, clock[NOW], dt, hz)
        clock[TICKS] += 1
        if clock[TICKS] % LOOK_TICKS == 0:
            update_rates(flow)
            wrong = find_unsound_row(flow)
            steps = LOOK_TICKS * clock[STEPS_PER_TICK]
            stale = not exactly and not is_roomy(sources, source_params, source_work, source_places, steps)
            exactly = exactly or stale
        sampled = sample_interval > 0 and clock[TICKS] % sample_interval == 0
        ended = wrong >= 0 or tick == ticks
        if watching and not ended:
            ended = has_held_crossing(flow)
        compared = levels.shape[0] > 0 and clock[TICKS] % SECOND_TICKS == 0
        if stale or sampled or ended or compared:
            distribute_results(flow)
        over = compared and has_passed_level(flow)
        counters[PASSED] = 1.0 if over else 0.0
        ended = ended or over
        if wrong >= 0:
            return -1 - wrong
        if sampled:
            for i in range(sources.shape[0]):
                if source_params[i, ACTIVE] > 0.0:
                    read_source(sources, source_params, i, hosts, host_of[i], source_samples[taken, i])
            for j in range(streams.shape[0]):
                if stream_params[j, STREAM_ACTIVE] > 0.0:
                    i = place[j, SOURCE]
                    generated, flushed = sources[i, GENERATED], sources[i, FLUSHED]
                    target = place[j, TARGET]
                    read_stream(
                        streams, stream_params, j, generated, flushed, hosts, target, stream_samples[taken, j]
                    )
            taken += 1
        if ended:
            counters[HELD] = 1.0 if watching and any_held(flow) else 0.0
            return tick
    counters[HELD] = 1.0 if watching and any_held(flow) else 0.0
    return ticks
