"""Crash recovery: the log that a starting instance redoes and undoes, and the time that this takes.

The work since the last checkpoint and the work of open transactions determine the time. In Enterprise edition
a database opens before the undo ends [DOC: understanding recovery performance].
"""

from typing import Final

from engine.constants import ENTERPRISE_EDITIONS, RECOVERY_AT_START_S
from engine.flow.failover_times import UNDO_TIME_FACTOR, compute_redo_kb_per_s
from engine.flow.setup import compute_redo_threads
from engine.flow.sites import SITES
from engine.model import Key, World
from engine.protocol import errorlog, streams

PROGRESS_REPORT_MIN_S: Final = 10.0
"""Minimum duration of a recovery whose progress the ERRORLOG reports. Assumed."""


def record_recovery_log(world: World, key: Key, *, crashed: bool) -> None:
    """Record the log that the next start of a copy redoes. Callers do this when the copy's process ends.

    This log begins at the oldest open transaction. After a crash (*crashed*), it begins at the last
    checkpoint if that is older. A mirror or secondary writes no log; its redo queue is in the flow
    model.
    """
    copy = world.copies[key]
    if copy.source is None:
        return
    positions = world.flow.read_source_positions(copy.source)
    begins_kb = [positions.flushed_kb, *(kb for _, kb, _ in copy.window_transactions)]
    if copy.active_from_kb is not None:
        begins_kb.append(copy.active_from_kb)
    if crashed:
        since_kb = streams.read_counter(world, (copy.source, -1), "log_since_checkpoint_kb")
        begins_kb.append(positions.generated_kb - since_kb)
    redo_kb = positions.flushed_kb - min(begins_kb)
    if copy.recovering:  # the instance has stopped before the last recovery ended
        redo_kb = max(redo_kb, copy.recovery_log_kb)
    world.update_copy(key, recovery_log_kb=redo_kb)


def begin_recovery(world: World, key: Key) -> float:
    """Schedule the end of the recovery of a starting copy, and return its duration in seconds."""
    copy, instance = world.copies[key], world.instances[key[0]]
    computer, enterprise = world.get_computer_of(key[0]), instance.edition in ENTERPRISE_EDITIONS
    threads = compute_redo_threads(computer.cores, enterprise)
    kb_per_s = compute_redo_kb_per_s(SITES[computer.site], streams.get_workload(copy), threads)
    undo_kb = 0.0 if enterprise or copy.source is None else copy.open_log_kb
    duration_s = (copy.recovery_log_kb + UNDO_TIME_FACTOR * undo_kb) / kb_per_s
    if duration_s >= PROGRESS_REPORT_MIN_S:
        errorlog.write_message(world, key[0], 3450, key[1], copy.database_id, 0, int(duration_s), 2)
    duration_s += RECOVERY_AT_START_S
    world.call_after(duration_s, "database.recovered", *key, instance.started_tick)
    return duration_s


def end_recovery(world: World, key: Key) -> None:
    """Record the checkpoint at the end of a recovery."""
    copy = world.copies[key]
    if copy.recovery_log_kb:
        world.update_copy(key, recovery_log_kb=0.0)
        if copy.source is not None:
            world.flow.begin_checkpoint(copy.source)
