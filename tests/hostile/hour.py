"""One hour of a hundred mirrored databases with every kind of fault: `python -m tests.hostile.hour
[DATABASES]`.

The script is not part of the test run. It prints wall time, peak memory and the number of checks, and fails
at the first broken invariant.
"""

from __future__ import annotations

import itertools
import resource
import sys
import time
from collections.abc import Iterator
from typing import Final

from engine import simulator
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.inputs import Input
from engine.published.measurements import MIRROR, PRINCIPAL, WITNESS, build_lab_world
from engine.verbs import VERBS
from engine.verbs.input_lines import parse_input_line
from tests.engine.mirroring.invariants import check_invariants
from tests.events import read_field

HOUR_S: Final = 3600
CHECK_INTERVAL_S: Final = 5
"""Interval between checks of the invariants, in simulated seconds."""

FAULT_S: Final = 25
"""Duration of a fault before its repair, longer than the partner timeout."""

RECOVERY_S: Final = 35
CORES_PER_DATABASE: Final = 8
SERVERS: Final = (PRINCIPAL, MIRROR, WITNESS)
SERVER_PAIRS: Final = ((PRINCIPAL, MIRROR), (PRINCIPAL, WITNESS), (MIRROR, WITNESS), (MIRROR, PRINCIPAL))
ARGUMENT_OPTIONS: Final = {
    "degrade": "rtt_ms=80 loss=0.02 bandwidth_mbps=20",
    "slow-disk": "factor=200",
    "slow-cpu": "factor=50",
    "corrupt-page": "page=4711",
}


def list_faults(databases: list[str]) -> Iterator[str]:
    """Yield an input line for every fault verb and every kind of target in turn, endlessly."""
    database_cycle = itertools.cycle(databases)
    for turn in itertools.count():
        server, (a, b) = SERVERS[turn % 3], SERVER_PAIRS[turn % 4]
        words = {"server": server, "database": "", "from": a, "to": b, "port": "5022", "certificate": "C1"}
        for verb in VERBS.values():
            if verb.group != "fault":
                continue
            words["database"] = next(database_cycle)
            parameters = [
                parameter.choices[turn % 2] if parameter.choices else words[parameter.name]
                for parameter in verb.parameters
            ]
            yield " ".join([verb.name, *parameters, ARGUMENT_OPTIONS.get(verb.name, "")]).strip()


def build_script(databases: list[str]) -> list[Input]:
    """Return the inputs of the hour: a fault, its repair, a pause for the recovery, then the next fault."""
    keys = "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Ward#1'\n    CREATE CERTIFICATE C1 WITH SUBJECT = 'x'"
    lines = [parse_input_line(f"sql {name} {keys}") for name in SERVERS]
    start_s = 10
    for line in list_faults(databases):
        if start_s + FAULT_S > HOUR_S:
            return lines
        lines.append(parse_input_line(line, start_s * TICKS_PER_S))
        lines.append(parse_input_line("revert-all", (start_s + FAULT_S) * TICKS_PER_S))
        start_s += FAULT_S + RECOVERY_S
    return lines


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else 100
    began = time.perf_counter()
    world = build_lab_world(databases=count, cores=CORES_PER_DATABASE * count)
    lines = build_script(list(world.availability))
    waiting = list(lines)
    events: list[Event] = []
    checked = 0
    for until_s in range(CHECK_INTERVAL_S, HOUR_S + 1, CHECK_INTERVAL_S):
        end_tick = until_s * TICKS_PER_S
        due_lines = [line for line in waiting if line.tick < end_tick]
        waiting = waiting[len(due_lines) :]
        events += simulator.advance_world(world, end_tick, due_lines)
        checked += check_invariants(world, has_witness=True, is_safe=True)
    duration_s = time.perf_counter() - began
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    used_verbs = {line.verb for line in lines if VERBS[line.verb].group == "fault"}
    felt = sum(fault.effective_tick is not None for fault in world.faults)
    refused = [event.text for event in events if read_field(event, "refused")]
    print(f"{count} databases, {HOUR_S} simulated seconds: {duration_s:.1f} s, peak {peak_mb:.0f} MB")
    print(f"{len(world.faults)} faults of {len(used_verbs)} kinds, {felt} felt; {len(events)} events; "
          f"{sum(f.online_tick is not None for f in world.failovers)} failovers")  # fmt: skip
    print(f"{checked} invariants held; refused inputs: {refused or 'none'}")


if __name__ == "__main__":
    main()
