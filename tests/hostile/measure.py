"""Processor time and memory of each hostile case, each in its own fork: `python -m tests.hostile.measure
KIND`.

The script is not part of the test run. It prints a table of figures for this machine.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Final

from app.files import scenario_files
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from tests.events import read_field
from tests.hostile import batches, scenario_texts

CASE_S_MAX: Final = 30


def measure_scenario(name: str) -> str:
    """Return the result of a scenario text."""
    make = {**scenario_texts.REFUSED_TEXTS, **scenario_texts.HARMLESS_TEXTS}[name]
    try:
        drill = Drill(load_scenario(make(), "hostile.toml"))
        drill.advance_to(2_000)
        return "ran"
    except ScenarioError as problems:
        return f"{len(problems.problems)} refused: {str(problems)[:110]!r}"


def measure_batch(name: str) -> str:
    """Return the result of a batch: the longest processor time of a tick, and the last message."""
    drill = Drill(scenario_files.find_scenario_file("lab").load())
    drill.advance_to(100)
    text = batches.BATCHES[name]()
    steps = []
    before = time.process_time()
    drill.apply_line("sql SERVER_A " + text.replace("\n", "\n    "))
    steps.append(time.process_time() - before)
    for _ in range(600):
        before = time.process_time()
        drill.advance_to(drill.tick + 1)
        steps.append(time.process_time() - before)
        if sum(steps) > CASE_S_MAX - 5:
            break
    before = time.process_time()
    drill.apply_line("cancel SERVER_A")
    canceled_s = time.process_time() - before
    done_events = [event for event in drill.events if event.kind == "sql_done"]
    last_message = str(read_field(done_events[-1], "messages")[-1:])[-90:] if done_events else "nothing"
    figures = (
        f"first {steps[0] * 1e3:.0f} ms, then {max(steps[1:]) * 1e3:.0f} ms, cancel {canceled_s * 1e3:.0f} ms"
    )
    return f"{figures}: {last_message}"


CASE_KINDS: Final[Mapping[str, tuple[Callable[[str], str], list[str]]]] = {
    "scenarios": (measure_scenario, [*scenario_texts.REFUSED_TEXTS, *scenario_texts.HARMLESS_TEXTS]),
    "batches": (measure_batch, [*batches.BATCHES]),
}


def measure_file(kind: str, name: str) -> None:
    """Print seconds, additional megabytes and outcome."""
    rss_at_rest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    outcome = CASE_KINDS[kind][0](name)
    duration_s = time.perf_counter() - began
    more_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - rss_at_rest) / 1024
    print(f"{duration_s:7.2f} s {more_mb:7.0f} MB  {name}: {outcome}", flush=True)


def main() -> None:
    kind, names = sys.argv[1], sys.argv[2:]
    # Compile the code that all cases need once.
    drill = Drill(scenario_files.find_scenario_file("lab").load())
    drill.apply_line("sql SERVER_A SELECT name FROM sys.databases")
    drill.apply_line("sql SERVER_A EXEC sp_configure")
    drill.advance_to(100)
    gc.freeze()  # Exclude existing objects from garbage collection, as the window does.
    for name in names or CASE_KINDS[kind][1]:
        child = os.fork()
        if child == 0:
            signal.alarm(CASE_S_MAX)  # the default action ends the process at once
            measure_file(kind, name)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status != 0:
            reason = (
                f"not done in {CASE_S_MAX} s" if status == signal.SIGALRM else f"ended with status {status}"
            )
            print(f"FAULT {name}: {reason}", flush=True)


if __name__ == "__main__":
    main()
