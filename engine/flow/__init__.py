"""The flow model: transactions, log, streams, redo, pages and CPU, computed in compiled steps of 10 ms.

A *source* is one writable log. Each of its *streams* carries the log to one other copy of the database. A commit
waits for the streams that are awaited.
"""

from engine.flow.advance import run, warm_start, warm_up
from engine.flow.flow import Flow
from engine.flow.kernel import Array
from engine.flow.pair import Pair, SafetyMode, add_pair, pair
from engine.flow.readings import (
    SourcePositions,
    SourceReading,
    SourceTotals,
    StreamPositions,
    StreamReading,
    StreamTotals,
)
from engine.flow.samples import COUNTERS, NOWHERE, Place, Samples
from engine.flow.setup import (
    Crossing,
    Level,
    Operation,
    Site,
    SourceSetup,
    StreamSetup,
    Workload,
    redo_threads,
    worker_threads,
)

__all__ = [
    "COUNTERS",
    "NOWHERE",
    "Array",
    "Crossing",
    "Flow",
    "Level",
    "Operation",
    "Pair",
    "Place",
    "SafetyMode",
    "Samples",
    "Site",
    "SourcePositions",
    "SourceReading",
    "SourceSetup",
    "SourceTotals",
    "StreamPositions",
    "StreamReading",
    "StreamSetup",
    "StreamTotals",
    "Workload",
    "add_pair",
    "pair",
    "redo_threads",
    "run",
    "warm_start",
    "warm_up",
    "worker_threads",
]
