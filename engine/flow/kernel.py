"""The compiled step of the flow model: what all rows do in one step, over plain arrays.

Everything compiled stands in this one file, because numba's disk cache looks at one file's date only. The same
source runs as plain Python when NUMBA_DISABLE_JIT is set. Values are read into local names and stored at the
end: the compiler cannot know that two arrays lie apart and would reload everything after each store.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

Array = np.ndarray[Any, Any]

Function = TypeVar("Function", bound=Callable[..., Any])

# No function here makes or keeps an array, so none needs reference counts (_nrt, which numba's stubs do not know);
# without them a step is three times as fast. forceinline spares the calls.
OPTIONS: Any = {"error_model": "numpy", "_nrt": False}


PARTS: list[tuple[Callable[..., Any], dict[str, Any]]] = []
"""What is to be compiled and how. It waits for the first step: a program that shows a list needs no compiler."""


def inside(function: Function) -> Function:
    """Compiles a part of the step into its callers."""
    PARTS.append((function, {"forceinline": True, **OPTIONS}))
    return function


def entry(function: Function) -> Function:
    """Compiles what Python calls, and keeps it on disk. Other threads go on: a long run must not stop a window."""
    PARTS.append((function, {"cache": True, "nogil": True, **OPTIONS}))

    @functools.wraps(function)
    def compiled_at_first(*arguments: Any) -> Any:
        if globals()[function.__name__] is first:
            _compile()
        return globals()[function.__name__](*arguments)

    first = cast(Function, compiled_at_first)
    return first


def _compile() -> None:
    """Put what numba makes of each part in its place; callers find it by its name in this module."""
    from numba import njit

    for function, options in PARTS:
        globals()[function.__name__] = njit(**options)(function)


# Columns of a row's state. The first nine only ever add up; LAST and SMOOTH hold what each was at the last look
# and its rate smoothed over about a second.
(
    TRANSACTIONS,
    GENERATED,  # log positions are cumulative KB
    SENT,
    REDONE,
    PAGES_WRITTEN,
    MIRROR_PAGES_WRITTEN,
    INSIDE_S,  # connections inside transactions, over time
    WAITING_S,
    MESSAGES,
) = range(9)
LAST = 9
SMOOTH = 18
(
    THINKING,  # populations of connections
    QUEUED,
    IN_OTHER,
    ON_CPU,
    BLOCKED,
    WAITING,
    FLUSHED,
    RECEIVED,
    HARDENED,
    ACKNOWLEDGED,
    DURABLE,  # what commits have been answered up to
    REUSE,  # log before this may be overwritten
    RELEASED,  # log that may go to the disk and, in FULL, to the mirror
    LOG_SIZE,
    DIRTY,  # pages
    CHECKPOINT_BACKLOG,
    SINCE_CHECKPOINT_S,
    CHECKPOINT_LOG,  # where the log was at the last checkpoint
    MIRROR_DIRTY,
    MIRROR_BACKLOG,
    MESSAGE_RATE,
    MESSAGE_KB,
    CPU_PRINCIPAL,  # cores used for mirroring
    CPU_MIRROR,  # without redo
    REDO_WANTED,  # core seconds
    COMMIT_RATE,
    DURABLE_RATE,
    OPERATION_LEFT,
    OPERATION_RUNNING,
    STALL_S,  # a lost packet holds up what follows it
    WANDER,  # slow part of the jitter
    NOISE,  # random stream of the link
    QUEUED_S,  # connections waiting for a worker thread, over time
) = range(27, 60)
STATE_COLUMNS = 60
TOTALS = 9

# Columns of a row's parameters, all derived from its setup for one step length.
(
    ACTIVE,
    ALIVE,
    MIRROR_ALIVE,
    CONNECTIONS,
    MIRRORED,  # the row has a mirror, reachable or not
    CARRYING,
    WAITS,  # commits wait for the mirror
    FROM_GENERATED,  # log is sent while it is written
    THINK_OUT,
    THINK_INSIDE,  # share of the thinkers that are there only because closing the loop costs a step
    OTHER_OUT,
    CPU_S,
    CPU_OUT,  # leaving the CPU when nobody queues for it
    LOG_KB,
    TOUCHES_PER_KB,
    HOT_INVERSE,
    LIMIT,
    PER_BLOCK,  # blocks in a KB
    BLOCK_KB,
    FLUSH_KB,  # most that a step can flush
    CROWD,  # phi; 0 = one stream
    PER_TWO_CROWD,
    LOG_MAX,
    DELAYED,
    WRITE_S,
    SEND_KB,  # most that the session can send in a step
    WIRE_RATIO,
    PER_WIRE,
    WINDOW_KB,  # of log
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
    FLUSH_OUT,  # share of the mirror's dirty pages that a step writes
    MIRROR_PAGES,  # most pages that a step can write there
    MIRROR_PAGE_COST,  # in pages of a checkpoint
    CHECKPOINT_EVERY_S,
    CHECKPOINT_PAGES,
    PER_MESSAGE_CPU,
    PER_KB_CPU,
    MIRROR_PER_MESSAGE_CPU,
    MIRROR_PER_KB_CPU,
    OPERATION_KB,  # that a step would write if nothing held it up
    OPERATION_BATCH,
) = range(54)
PARAMETER_COLUMNS = 54

# Columns of a server instance: what its rows ask of it, what each gets, what it has, what it did.
(
    RUNNABLE,
    MIRRORING_CPU,
    REDO_S,
    WANTED,
    BUSY,
    COMMITS,
    MESSAGES_IN,
    SESSIONS,  # that carry log, either way
    LOG_WRITERS,
    PAGES_WANTED,
    ADMITTED,
    CPU_SHARE,
    REDO_SHARE,
    LOG_SHARE,
    DATA_SHARE,
    WAKE_UP,
    TURN_STEPS,  # until the one communications thread comes round to a session
    CORES,
    WORKERS,
    WAKE_UP_S,
    LOG_STREAMS,
    BACKGROUND,  # cores that are busy whatever clients do
    DATA_PAGES,
    BUSY_S,
    CORE_S,
    LAST_CORE_S,
    SMOOTH_CORES,
) = range(27)
HOST_COLUMNS = 27
DEMANDS = 10

(LINK_KB, LINK_WANTED, LINK_ROWS, LINK_LEVEL) = range(4)  # columns of a link between two instances
LINK_COLUMNS = 4
HOST, MIRROR_HOST, LINK = range(3)  # columns of a row's place
NOW, STEPS_PER_TICK, TICKS = range(3)  # the clock: steps so far, steps of a tick, ticks so far
SENT_RING, HARDENED_RING = range(2)  # rings of a row's history
WISH, KNOWN = range(2)  # rows of the scratch array
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
PACKETS_TO_NOTICE = 3.0  # later packets that tell the receiver of a loss before a time-out does
RATE_SMOOTHING_PER_S = 5.0  # over 0.2 s
MESSAGE_SMOOTHING_PER_S = 2.0  # over 0.5 s
LOOK_TICKS = 10  # counters are looked at each 0.1 s
LOOK_S = 0.1
LOOK_SHARE = 0.1  # and smoothed over a second
LEAST_SHARE = 0.05  # of an instance's cores that clients keep under any load
SLACK = 1e-6
LOG_GROWTH = 1.1  # a full log file grows by a tenth


@inside
def look_back(history: Array, i: int, ring: int, now: int, steps: float) -> float:
    """Position *steps* ago, linear between steps. The ring's length is a power of two."""
    mask = history.shape[2] - 1
    whole = int(steps)
    newer = float(history[i, ring, (now - whole) & mask])
    return newer + (steps - whole) * (float(history[i, ring, (now - whole - 1) & mask]) - newer)


@inside
def fade(x: float) -> float:
    """exp(-x) to 1 % up to x = 2, from basic operations only: the same bits on every machine."""
    return 1.0 / (1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0)))))


@inside
def flush_backlog(
    backlog: float, block: float, per_block: float, most: float, crowd: float, per_two_crowd: float
) -> float:
    """KB that one log device writes in a step: M/M/1 as a fluid with group commit, solved implicitly."""
    beta = most * per_block
    if crowd <= 0.0:  # one stream never queues behind itself
        return min(backlog * beta / (1.0 + beta), most)
    y = backlog * per_block
    b = 1.0 + beta - crowd * y
    left = (math.sqrt(b * b + 4.0 * crowd * y) - b) * per_two_crowd
    return min(max(0.0, block * (y - left)), backlog, most)


@inside
def draw(state: Array, i: int) -> float:
    """A number in [0, 1) from the row's own stream (Lehmer, 31 bit, exact in doubles)."""
    noise = (int(state[i, NOISE]) * 16807) % 2147483647
    state[i, NOISE] = noise
    return noise / 2147483647.0


@inside
def operate(state: Array, params: Array, i: int, room: float, dt: float) -> float:
    """Log of the long operation in this step. One stream runs a batch, then waits for its commit."""
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
def write_log(state: Array, params: Array, i: int, hosts: Array, h: int, known: float, dt: float) -> None:
    """Connections move one station on; those past their CPU part write log, which is then flushed."""
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
    # What this step's flush makes durable counts as room, else the limit would depend on the step.
    durable_soon = flushed + most * min(1.0, (before - flushed) * params[i, PER_BLOCK])
    if params[i, WAITS] > 0.0:
        durable_soon = min(durable_soon, known)
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
        flushable = state[i, RELEASED]  # delayed durability writes a block when it is full
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
    hosts[h, BUSY_S] += off_cpu * params[i, CPU_S]
    write_pages(state, params, i, log * params[i, TOUCHES_PER_KB], hosts[h, DATA_SHARE], generated, dt)


@inside
def write_pages(
    state: Array, params: Array, i: int, touches: float, share: float, generated: float, dt: float
) -> None:
    """The principal dirties pages and writes them at checkpoints."""
    dirty = (state[i, DIRTY] + touches) / (1.0 + touches * params[i, HOT_INVERSE])
    since = state[i, SINCE_CHECKPOINT_S] + dt
    backlog = state[i, CHECKPOINT_BACKLOG]
    if since >= params[i, CHECKPOINT_EVERY_S]:
        since -= params[i, CHECKPOINT_EVERY_S]
        backlog += dirty
        dirty = 0.0
        state[i, CHECKPOINT_LOG] = generated
    pages = min(backlog, params[i, CHECKPOINT_PAGES] * share)
    state[i, DIRTY] = dirty
    state[i, SINCE_CHECKPOINT_S] = since
    state[i, CHECKPOINT_BACKLOG] = backlog - pages
    state[i, PAGES_WRITTEN] += pages


@inside
def disturb(state: Array, params: Array, i: int, sent: float, dt: float) -> float:
    """Jitter of this step in steps, after letting lost packets stall the link."""
    jitter = 0.0
    if params[i, JITTER_STEPS] > 0.0:
        state[i, WANDER] += (
            params[i, WANDER_KICK] * (2.0 * draw(state, i) - 1.0) - params[i, WANDER_BACK] * state[i, WANDER]
        )
        packets = max(1.0, state[i, MESSAGE_KB] * params[i, WIRE_RATIO] / PACKET_KB)
        # A message is there when its last packet is: the worst of n lies (n-1)/(n+1) above the mean.
        jitter = params[i, JITTER_STEPS] * (state[i, WANDER] + (packets - 1.0) / (packets + 1.0))
    if params[i, LOSS_PER_KB] > 0.0:
        state[i, STALL_S] = max(0.0, state[i, STALL_S] - dt)
        if state[i, STALL_S] == 0.0 and draw(state, i) < params[i, LOSS_PER_KB] * sent:
            packets_per_s = max(state[i, MESSAGE_RATE], sent * params[i, WIRE_RATIO] / (PACKET_KB * dt))
            state[i, STALL_S] = params[i, ROUND_TRIP_S] + min(
                params[i, RETRANSMIT_S], PACKETS_TO_NOTICE / max(packets_per_s, 1.0)
            )
    return float(jitter)


@inside
def carry_log(
    state: Array,
    params: Array,
    i: int,
    hosts: Array,
    h: int,
    m: int,
    history: Array,
    now: int,
    may_send: float,
    known: float,
    dt: float,
) -> None:
    """Log of one row travels to the mirror, is hardened there, and back comes the acknowledgement."""
    slot = now & (history.shape[2] - 1)
    sent = state[i, SENT] + may_send
    state[i, SENT] = sent
    history[i, SENT_RING, slot] = sent
    received = state[i, RECEIVED]
    delay = (
        params[i, ONE_WAY_STEPS]
        + state[i, MESSAGE_KB] * params[i, PER_MESSAGE_KB_STEPS]
        + hosts[m, TURN_STEPS]
    )
    if params[i, JITTER_STEPS] > 0.0 or params[i, LOSS_PER_KB] > 0.0:
        delay = max(0.0, delay + disturb(state, params, i, may_send, dt))
    if state[i, STALL_S] == 0.0:
        received = max(received, look_back(history, i, SENT_RING, now, delay))
        state[i, RECEIVED] = received
    hardened = state[i, HARDENED]
    hardened += min((received - hardened) * params[i, HARDEN_OUT], params[i, HARDEN_KB]) * hosts[m, LOG_SHARE]
    state[i, HARDENED] = hardened
    history[i, HARDENED_RING, slot] = hardened
    back = params[i, ACK_STEPS] + hosts[h, TURN_STEPS]
    if back < 1.0:
        known = look_back(history, i, HARDENED_RING, now, back)
    state[i, ACKNOWLEDGED] = max(state[i, ACKNOWLEDGED], known)


@inside
def commit(state: Array, params: Array, i: int, dt: float) -> None:
    """Answers the commits that the durable log now covers."""
    generated = state[i, GENERATED]
    before = state[i, DURABLE]
    durable = state[i, FLUSHED] if params[i, DELAYED] == 0.0 else generated
    if params[i, WAITS] > 0.0 and params[i, DELAYED] == 0.0:
        durable = min(durable, state[i, ACKNOWLEDGED])
    if params[i, THINK_OUT] == 0.0:
        durable = before  # nobody is connected whom a commit could be told
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
    if params[i, DELAYED] > 0.0:  # nobody waits, yet the counters tell how long the mirror took
        waiting = (generated - min(state[i, FLUSHED], state[i, ACKNOWLEDGED])) / params[i, LOG_KB]
    state[i, WAITING_S] += waiting * dt


@inside
def redo(state: Array, params: Array, i: int, hosts: Array, h: int, dt: float) -> None:
    """The mirror applies log and writes its pages."""
    wanted = min(state[i, HARDENED] - state[i, REDONE], params[i, REDO_KB])
    redone = wanted * hosts[h, REDO_SHARE]
    state[i, REDONE] += redone
    state[i, REDO_WANTED] = wanted * params[i, REDO_S_PER_KB]
    hosts[h, BUSY_S] += redone * params[i, REDO_S_PER_KB]
    touches = redone * params[i, TOUCHES_PER_KB]
    dirty = state[i, MIRROR_DIRTY] + touches
    most = params[i, MIRROR_PAGES] * hosts[h, DATA_SHARE]
    if params[i, CONTINUOUS] > 0.0:
        dirty /= 1.0 + params[i, FLUSH_OUT] + touches * params[i, HOT_INVERSE]
        pages = dirty * params[i, FLUSH_OUT]
        if pages > most:
            dirty += pages - most
            pages = most
    else:
        dirty /= 1.0 + touches * params[i, HOT_INVERSE]
        if state[i, SINCE_CHECKPOINT_S] < dt:  # the secondary follows the primary's checkpoints
            state[i, MIRROR_BACKLOG] += dirty
            dirty = 0.0
        pages = min(state[i, MIRROR_BACKLOG], most)
        state[i, MIRROR_BACKLOG] -= pages
    state[i, MIRROR_DIRTY] = dirty
    state[i, MIRROR_PAGES_WRITTEN] += pages


@inside
def spend_cpu(
    state: Array, params: Array, i: int, hosts: Array, h: int, m: int, sent: float, dt: float, hz: float
) -> None:
    """Messages by group commit of random commits, and the CPU that they cost on both sides."""
    messages = 0.0
    rate = sent * hz
    if rate > 0.0:
        source = state[i, RELEASED] if params[i, FROM_GENERATED] > 0.0 else state[i, FLUSHED]
        if source - state[i, SENT] > params[i, WINDOW_KB]:
            messages = rate / params[i, WINDOW_KB]  # a backlog goes in full windows
        elif params[i, DELAYED] > 0.0:
            messages = rate * params[i, PER_BLOCK]
        else:
            commits = state[i, COMMIT_RATE]
            busy = commits * params[i, WRITE_S]
            messages = max(rate * params[i, PER_BLOCK], commits / (busy + fade(busy)))
        state[i, MESSAGE_KB] += (rate / messages - state[i, MESSAGE_KB]) * (dt * MESSAGE_SMOOTHING_PER_S)
        state[i, MESSAGES] += messages * dt
    state[i, MESSAGE_RATE] = messages
    own = messages * params[i, PER_MESSAGE_CPU] + rate * params[i, PER_KB_CPU]
    other = (
        messages * params[i, MIRROR_PER_MESSAGE_CPU] * hosts[m, WAKE_UP] + rate * params[i, MIRROR_PER_KB_CPU]
    )
    state[i, CPU_PRINCIPAL] = own
    state[i, CPU_MIRROR] = other
    hosts[h, BUSY_S] += own * dt
    hosts[m, BUSY_S] += other * dt


@inside
def add_demands(state: Array, params: Array, place: Array, hosts: Array, dt: float) -> None:
    """What the rows of each instance ask of it together."""
    for h in range(hosts.shape[0]):
        for column in range(DEMANDS):
            hosts[h, column] = 0.0
        hosts[h, BUSY_S] = hosts[h, BACKGROUND] * dt
        hosts[h, MIRRORING_CPU] = hosts[h, BACKGROUND]
    for i in range(state.shape[0]):
        if params[i, ACTIVE] == 0.0:
            continue
        if params[i, ALIVE] > 0.0:
            h = place[i, HOST]
            cpu = state[i, ON_CPU]
            hosts[h, RUNNABLE] += cpu
            hosts[h, MIRRORING_CPU] += state[i, CPU_PRINCIPAL]
            hosts[h, WANTED] += state[i, QUEUED] + state[i, THINKING] * params[i, THINK_OUT]
            hosts[h, BUSY] += state[i, IN_OTHER] + cpu + state[i, BLOCKED] + state[i, WAITING]
            hosts[h, COMMITS] += state[i, COMMIT_RATE]
            hosts[h, LOG_WRITERS] += min(
                1.0, (state[i, GENERATED] - state[i, FLUSHED]) * params[i, PER_BLOCK]
            )
            hosts[h, PAGES_WANTED] += min(state[i, CHECKPOINT_BACKLOG], params[i, CHECKPOINT_PAGES])
        if params[i, MIRROR_ALIVE] > 0.0:
            m = place[i, MIRROR_HOST]
            hosts[m, MIRRORING_CPU] += state[i, CPU_MIRROR]
            hosts[m, REDO_S] += state[i, REDO_WANTED]
            hosts[m, MESSAGES_IN] += state[i, MESSAGE_RATE]
            if params[i, CARRYING] > 0.0:
                hosts[m, SESSIONS] += 1.0
                hosts[place[i, HOST], SESSIONS] += 1.0
            hosts[m, LOG_WRITERS] += min(
                1.0, (state[i, RECEIVED] - state[i, HARDENED]) * params[i, PER_BLOCK]
            )
            pages = (
                state[i, MIRROR_DIRTY] * params[i, FLUSH_OUT]
                if params[i, CONTINUOUS] > 0.0
                else state[i, MIRROR_BACKLOG]
            )
            hosts[m, PAGES_WANTED] += min(pages, params[i, MIRROR_PAGES]) * params[i, MIRROR_PAGE_COST]


@inside
def share_hosts(hosts: Array, dt: float, hz: float) -> None:
    """What each row of an instance gets in this step."""
    for h in range(hosts.shape[0]):
        cores = hosts[h, CORES]
        free = hosts[h, WORKERS] - hosts[h, BUSY] + dt * hosts[h, COMMITS]
        free = max(0.0, free)
        hosts[h, ADMITTED] = 1.0 if hosts[h, WANTED] <= free else free / hosts[h, WANTED]
        left = max(LEAST_SHARE * cores, cores - hosts[h, MIRRORING_CPU])
        redo_cores = hosts[h, REDO_S] * hz
        hosts[h, REDO_SHARE] = 1.0 if redo_cores <= left else left / redo_cores
        left = max(LEAST_SHARE * cores, left - redo_cores)
        hosts[h, CPU_SHARE] = 1.0 if hosts[h, RUNNABLE] <= left else left / hosts[h, RUNNABLE]
        streams = hosts[h, LOG_STREAMS]
        hosts[h, LOG_SHARE] = 1.0 if hosts[h, LOG_WRITERS] <= streams else streams / hosts[h, LOG_WRITERS]
        pages = hosts[h, DATA_PAGES] * dt
        hosts[h, DATA_SHARE] = 1.0 if hosts[h, PAGES_WANTED] <= pages else pages / hosts[h, PAGES_WANTED]
        wake_up_s = hosts[h, WAKE_UP_S]
        hosts[h, WAKE_UP] = 1.0 / (1.0 + wake_up_s * hosts[h, MESSAGES_IN]) if wake_up_s > 0.0 else 1.0
        hosts[h, TURN_STEPS] = hosts[h, SESSIONS] * wake_up_s * hz


@inside
def share_links(place: Array, links: Array, scratch: Array, dt: float) -> None:
    """Divides each congested link fairly: small senders get what they ask, the others an equal part."""
    for k in range(links.shape[0]):
        links[k, LINK_WANTED] = 0.0
        links[k, LINK_ROWS] = 0.0
    for i in range(scratch.shape[1]):
        if scratch[WISH, i] > 0.0:
            links[place[i, LINK], LINK_WANTED] += scratch[WISH, i]
            links[place[i, LINK], LINK_ROWS] += 1.0
    for k in range(links.shape[0]):
        carried = links[k, LINK_KB] * dt
        if links[k, LINK_WANTED] <= carried:
            continue
        level = carried / links[k, LINK_ROWS]
        for _ in range(3):
            small = 0.0
            big = 0.0
            for i in range(scratch.shape[1]):
                if place[i, LINK] == k and scratch[WISH, i] > 0.0:
                    if scratch[WISH, i] <= level:
                        small += scratch[WISH, i]
                    else:
                        big += 1.0
            if big > 0.0:
                level = (carried - small) / big
        for i in range(scratch.shape[1]):
            if place[i, LINK] == k:
                scratch[WISH, i] = min(scratch[WISH, i], level)


@inside
def step(
    state: Array,
    params: Array,
    place: Array,
    hosts: Array,
    links: Array,
    history: Array,
    scratch: Array,
    now: int,
    dt: float,
    hz: float,
) -> None:
    """All rows advance by *dt* seconds. Order matters: see the module's functions from top to bottom."""
    add_demands(state, params, place, hosts, dt)
    share_hosts(hosts, dt, hz)
    for i in range(state.shape[0]):
        if params[i, ACTIVE] == 0.0:
            continue
        known = state[i, ACKNOWLEDGED]
        if params[i, CARRYING] > 0.0:
            # One step ago is the latest that can be known when the step begins.
            back = params[i, ACK_STEPS] + hosts[place[i, HOST], TURN_STEPS] - 1.0
            known = max(
                known,
                look_back(history, i, HARDENED_RING, now - 1, back) if back >= 0.0 else state[i, HARDENED],
            )
        scratch[KNOWN, i] = known
        if params[i, ALIVE] > 0.0:
            write_log(state, params, i, hosts, place[i, HOST], known, dt)
        wish = 0.0
        if params[i, CARRYING] > 0.0:
            source = state[i, RELEASED] if params[i, FROM_GENERATED] > 0.0 else state[i, FLUSHED]
            wish = min(source - state[i, SENT], params[i, SEND_KB])
            if state[i, STALL_S] > 0.0:
                wish = min(wish, params[i, WINDOW_KB] - (state[i, SENT] - state[i, RECEIVED]))
            wish = max(0.0, wish) * params[i, WIRE_RATIO]
        scratch[WISH, i] = wish
    share_links(place, links, scratch, dt)
    for i in range(state.shape[0]):
        if params[i, ACTIVE] == 0.0:
            continue
        if params[i, CARRYING] > 0.0:
            sent = scratch[WISH, i] * params[i, PER_WIRE]
            h, m = place[i, HOST], place[i, MIRROR_HOST]
            carry_log(state, params, i, hosts, h, m, history, now, sent, scratch[KNOWN, i], dt)
            spend_cpu(state, params, i, hosts, h, m, sent, dt, hz)
        elif params[i, MIRROR_ALIVE] > 0.0:
            finish_received(state, params, i, history, now)
        if params[i, ALIVE] > 0.0:
            commit(state, params, i, dt)
        if params[i, MIRROR_ALIVE] > 0.0:
            redo(state, params, i, hosts, place[i, MIRROR_HOST], dt)
    for h in range(hosts.shape[0]):
        hosts[h, CORE_S] += min(hosts[h, CORES] * dt, hosts[h, BUSY_S])


@inside
def finish_received(state: Array, params: Array, i: int, history: Array, now: int) -> None:
    """A mirror without a session hardens what had arrived; nothing is under way and nobody hears of it."""
    state[i, HARDENED] += min(
        (state[i, RECEIVED] - state[i, HARDENED]) * params[i, HARDEN_OUT], params[i, HARDEN_KB]
    )
    state[i, CPU_PRINCIPAL] = 0.0
    state[i, CPU_MIRROR] = 0.0
    state[i, MESSAGE_RATE] = 0.0
    history[i, SENT_RING, now & (history.shape[2] - 1)] = state[i, SENT]
    history[i, HARDENED_RING, now & (history.shape[2] - 1)] = state[i, HARDENED]


@inside
def look(state: Array, params: Array, hosts: Array) -> None:
    """Rates since the last look, smoothed; and log files grow to hold their log."""
    for i in range(state.shape[0]):
        if params[i, ACTIVE] == 0.0:
            continue
        for total in range(TOTALS):
            rate = (state[i, total] - state[i, LAST + total]) / LOOK_S
            state[i, LAST + total] = state[i, total]
            state[i, SMOOTH + total] += (rate - state[i, SMOOTH + total]) * LOOK_SHARE
        while (
            state[i, GENERATED] - state[i, REUSE] > state[i, LOG_SIZE]
            and state[i, LOG_SIZE] < params[i, LOG_MAX]
        ):
            state[i, LOG_SIZE] = min(params[i, LOG_MAX], state[i, LOG_SIZE] * LOG_GROWTH + PAGE_KB)
    for h in range(hosts.shape[0]):
        rate = (hosts[h, CORE_S] - hosts[h, LAST_CORE_S]) / LOOK_S
        hosts[h, LAST_CORE_S] = hosts[h, CORE_S]
        hosts[h, SMOOTH_CORES] += (rate - hosts[h, SMOOTH_CORES]) * LOOK_SHARE


@inside
def is_sound(state: Array, params: Array, i: int) -> bool:
    """No log is lost or invented, no connection either, and everything is a number."""
    total = 0.0
    for column in range(STATE_COLUMNS):
        total += state[i, column]
    inside = state[i, QUEUED] + state[i, IN_OTHER] + state[i, ON_CPU] + state[i, BLOCKED] + state[i, WAITING]
    connections = params[i, CONNECTIONS]
    if not math.isfinite(total) or abs(inside + state[i, THINKING] - connections) > SLACK * (
        1.0 + connections
    ):
        return False
    least = min(state[i, THINKING], state[i, QUEUED], state[i, IN_OTHER], state[i, ON_CPU])
    if min(least, state[i, BLOCKED], state[i, WAITING], state[i, DIRTY], state[i, MIRROR_DIRTY]) < -SLACK:
        return False
    slack = SLACK * (1.0 + 1e-3 * abs(state[i, GENERATED]))
    received, hardened = state[i, RECEIVED], state[i, HARDENED]
    if state[i, FLUSHED] > state[i, GENERATED] + slack or hardened > received + slack:
        return False
    if state[i, REDONE] > hardened + slack or state[i, ACKNOWLEDGED] > hardened + slack:
        return False
    sent = state[i, SENT]
    return bool(
        params[i, CARRYING] == 0.0 or (received <= sent + slack and sent <= state[i, GENERATED] + slack)
    )


@entry
def crossings_of(state: Array, params: Array, i: int) -> int:
    """Crossings that hold for a row at this instant."""
    held = 0
    carrying = params[i, CARRYING] > 0.0
    if state[i, HARDENED] - state[i, REDONE] <= SMALL_KB and (
        carrying or state[i, RECEIVED] - state[i, HARDENED] <= SMALL_KB
    ):
        held |= REDO_DONE
    if carrying and state[i, FLUSHED] - state[i, SENT] <= params[i, BLOCK_KB]:
        held |= SEND_DONE
    if state[i, GENERATED] - state[i, REUSE] >= params[i, LOG_MAX] - SMALL_KB:
        held |= LOG_FULL
    if state[i, OPERATION_LEFT] <= 0.0:
        held |= OPERATION_DONE
    return held


@entry
def note_crossings(state: Array, params: Array, armed: Array, held: Array) -> int:
    """Writes the armed crossings that hold for each row; returns for how many rows any does."""
    count = 0
    for i in range(armed.shape[0]):
        held[i] = 0
        if armed[i] != 0 and params[i, ACTIVE] > 0.0:
            held[i] = crossings_of(state, params, i) & armed[i]
            count += held[i] != 0
    return count


@entry
def read_counters(
    state: Array, params: Array, i: int, hosts: Array, host: int, mirror_host: int, out: Array
) -> None:
    """The counters of `COUNTERS`, in that order, at this instant."""
    commits = state[i, SMOOTH + TRANSACTIONS]
    busy = commits > 1e-6
    out[0] = commits
    out[1] = state[i, SMOOTH + INSIDE_S] / commits if busy else 0.0
    out[2] = 1000.0 * state[i, SMOOTH + WAITING_S] / commits if busy and params[i, WAITS] > 0.0 else 0.0
    out[3] = state[i, SMOOTH + GENERATED]
    out[4] = state[i, SMOOTH + SENT]
    out[5] = state[i, SMOOTH + REDONE]
    out[6] = max(0.0, state[i, FLUSHED] - state[i, SENT]) if params[i, MIRRORED] > 0.0 else 0.0
    out[7] = state[i, HARDENED] - state[i, REDONE]
    out[8] = state[i, GENERATED] - state[i, REUSE]
    out[9] = max(state[i, LOG_SIZE], out[8])
    out[10] = 100.0 * hosts[host, SMOOTH_CORES] / hosts[host, CORES]
    out[11] = (
        100.0 * hosts[mirror_host, SMOOTH_CORES] / hosts[mirror_host, CORES] if mirror_host >= 0 else 0.0
    )
    out[12] = PAGE_KB * state[i, SMOOTH + PAGES_WRITTEN]
    out[13] = PAGE_KB * state[i, SMOOTH + MIRROR_PAGES_WRITTEN]
    out[14] = state[i, DIRTY] + state[i, CHECKPOINT_BACKLOG]
    out[15] = state[i, MIRROR_DIRTY] + state[i, MIRROR_BACKLOG]
    out[16] = state[i, GENERATED] - state[i, CHECKPOINT_LOG]
    out[17] = state[i, QUEUED] + state[i, IN_OTHER] + state[i, ON_CPU] + state[i, BLOCKED] + state[i, WAITING]
    out[18] = state[i, SMOOTH + MESSAGES]
    out[19] = max(0.0, state[i, GENERATED] - state[i, HARDENED]) if params[i, MIRRORED] > 0.0 else 0.0


@entry
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
    """Up to *ticks* ticks; stops after the tick at which an armed crossing holds. Returns the ticks run.

    -1 - row instead: the books of that row do not balance, which is a mistake of this program.
    *samples* takes all rows' counters each *every* ticks of the clock (0 = never), one entry after another.
    """
    taken = 0
    hz = 1.0 / dt
    watching = False
    for i in range(armed.shape[0]):
        watching = watching or (armed[i] != 0 and params[i, ACTIVE] > 0.0)
    for tick in range(1, ticks + 1):
        for _ in range(clock[STEPS_PER_TICK]):
            clock[NOW] += 1
            step(state, params, place, hosts, links, history, scratch, clock[NOW], dt, hz)
        clock[TICKS] += 1
        if clock[TICKS] % LOOK_TICKS == 0:
            look(state, params, hosts)
            for i in range(state.shape[0]):
                if params[i, ACTIVE] > 0.0 and not is_sound(state, params, i):
                    return -1 - i
        if every > 0 and clock[TICKS] % every == 0:
            for i in range(state.shape[0]):
                if params[i, ACTIVE] > 0.0:
                    read_counters(
                        state, params, i, hosts, place[i, HOST], place[i, MIRROR_HOST], samples[taken, i]
                    )
            taken += 1
        if watching:
            for i in range(state.shape[0]):
                if (
                    armed[i] != 0
                    and params[i, ACTIVE] > 0.0
                    and crossings_of(state, params, i) & armed[i] != 0
                ):
                    return tick
    return ticks
