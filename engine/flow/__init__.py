"""Flow model: transactions, log, streams, redo, pages and CPU, computed in compiled steps of at most 10 ms.

A *source* is one writable log. Each of its *streams* carries the log to one other copy of the database. A
commit waits for the awaited streams, for example those of synchronous copies. A *stop condition* is a
condition of a source or stream, for example an empty redo queue; kernel.py calls it a crossing. It is *armed*
while runs must stop when it holds.

Guarantees
    The same setups, changes and ticks give the same bits on every machine, however the ticks are divided into
    calls.
    Log positions of a stream never decrease while its source continues. Every source and stream balances: log
    that was written is in a queue, in transit, or hardened. The compiled step checks this and returns the
    number of the first row that does not balance.
    A run stops after the tick at which an armed stop condition holds, so the protocol reacts at the exact
    tick.

How it works
    State is a set of numpy arrays: one row for each source, stream, host and link. Setups (setup.py) describe
    workload and hardware; derive.py turns them into parameters of a step. kernel.py is the step: connections
    think, commit, write log, wait for streams, read pages. Each stage is one implicit update, so rates do not
    depend on the length of the step. advance.py runs ticks, and failover_times.py computes the phases of a
    failover. The kernel is plain Python; `compiled` translates it to C. Forks share the arrays until one fork
    changes (`share_arrays`), and run_cache.py stores runs of forks with equal histories.

Why this way
    A search for par plays thousands of forks of a run. A step over arrays costs the same for one commit and
    for a thousand, has no queue of events, and can stop at any tick. A hundred equal databases are computed
    once.

Rejected
    One event for each transaction: thousands of events in a simulated second. tests/engine compares both
    models.
    Variable steps: two runs of the same inputs would differ with the speed of the screen.
    numba: 21 s of compilation after installation, and 208 MB of disk (decision 19).

Limits
    Nothing happens between two ticks of 10 ms, and there are no percentiles of response times. See decisions
    1, 3, 6, 18 and 19.
"""

from engine.flow.advance import load_compiled_step, run_flow, warm_start
from engine.flow.flow import Flow
from engine.flow.kernel import Array
from engine.flow.pair import MirroringSetup, SafetyMode, add_mirroring_setup, build_mirroring_setup
from engine.flow.samples import (
    COUNTERS,
    NO_STREAM_NUMBERS,
    Samples,
    SourcePositions,
    SourceReading,
    SourceTotals,
    StreamNumbers,
    StreamPositions,
    StreamReading,
    StreamTotals,
    compute_total_commit_delay_ms,
)
from engine.flow.setup import (
    FlowStopCondition,
    Operation,
    ServerHardware,
    SourceSetup,
    StreamSetup,
    Threshold,
    Workload,
    compute_redo_threads,
    compute_worker_threads,
)

__all__ = [
    "COUNTERS",
    "NO_STREAM_NUMBERS",
    "Array",
    "Flow",
    "FlowStopCondition",
    "MirroringSetup",
    "Operation",
    "SafetyMode",
    "Samples",
    "ServerHardware",
    "SourcePositions",
    "SourceReading",
    "SourceSetup",
    "SourceTotals",
    "StreamNumbers",
    "StreamPositions",
    "StreamReading",
    "StreamSetup",
    "StreamTotals",
    "Threshold",
    "Workload",
    "add_mirroring_setup",
    "build_mirroring_setup",
    "compute_redo_threads",
    "compute_total_commit_delay_ms",
    "compute_worker_threads",
    "load_compiled_step",
    "run_flow",
    "warm_start",
]  # fmt: skip
