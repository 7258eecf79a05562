"""The flow model: transactions, log, link, redo, pages and CPU of all rows in compiled steps of 10 ms."""

from engine.flow.flow import Flow, run, warm_up
from engine.flow.kernel import COUNTERS
from engine.flow.readings import Positions, Reading, Totals
from engine.flow.samples import Samples
from engine.flow.setup import (
    Crossing,
    Mode,
    Operation,
    RowSetup,
    Site,
    Workload,
    redo_threads,
    worker_threads,
)

__all__ = [
    "COUNTERS",
    "Crossing",
    "Flow",
    "Mode",
    "Operation",
    "Positions",
    "Reading",
    "RowSetup",
    "Samples",
    "Site",
    "Totals",
    "Workload",
    "redo_threads",
    "run",
    "warm_up",
    "worker_threads",
]
