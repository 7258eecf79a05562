"""Benchmark of each private cache: `python -m tests.cache_bench`.

For each cache of the engine and each workload that uses it, the table shows the processor time without the
cache, divided by the time with the cache. Each time is the minimum of ROUNDS alternating runs, because other
programs only add time. Below 1.05 a cache is not worth its code. The script does not measure
`functools.cache`. docs/decisions/0020-private-caches.md has the results.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any, Final
from unittest.mock import patch

from engine.drill.authoring.scenario import select_variant
from engine.drill.par.candidate_actions import list_candidates, list_scenario_lines, parse_step
from engine.drill.par.hidden_causes import HiddenCauseChecker
from engine.drill.par.search_drill import IncrementalHasher, SearchDrill, compute_transposition_key
from engine.drill.running.condition_polling import ConditionPoller
from engine.drill.running.drill import Drill
from engine.flow import Flow
from engine.inputs import InputError
from engine.model import to_ticks
from engine.model.world import ReprCache
from engine.protocol.streams import FlowSetups
from engine.tsql.batches import objects
from engine.tsql.batches.work import ResultCache
from engine.tsql.query import scratch_database
from tests.shipped_scenarios import load_shipped_scenario

ROUNDS: Final = 5

Workload = Callable[[], object]
CacheDisabler = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True)
class CacheCase:
    """Cache, a way to disable it, and the workloads that use it."""

    name: str
    disable: CacheDisabler
    workloads: tuple[str, ...]


# --- workloads --------------------------------------------------------------------------------------------


def play_reference() -> object:
    """Play the reference solution of a drill with many conditions."""
    run = SearchDrill(load_shipped_scenario("ag-forced-failover"), 1)
    for step in run.scenario.solution:
        run.advance_to(run.tick + to_ticks(20.0))
        with suppress(InputError):
            run.apply_line(parse_step(step).line_without_time)
    run.advance_to(to_ticks(900.0))
    return run.compute_score()


def play_hundred_databases() -> object:
    """Run 100 databases for ten minutes with a state hash every second."""
    drill = Drill(load_shipped_scenario("hundred-databases"), 1)
    for second in range(1, 601):
        drill.advance_to(to_ticks(float(second)))
        drill.compute_state_hash()
    return drill


BATCHES: Final = (
    "SELECT name, state_desc FROM sys.databases WHERE database_id > 4",
    "SELECT r.replica_server_name, s.role_desc, s.synchronization_health_desc FROM sys.availability_replicas AS r"
    " JOIN sys.dm_hadr_availability_replica_states AS s ON s.replica_id = r.replica_id",
    "IF OBJECT_ID('dbo.Marks') IS NULL CREATE TABLE dbo.Marks (Id int IDENTITY PRIMARY KEY, Text nvarchar(50))",
    "INSERT INTO dbo.Marks (Text) VALUES (N'before the failover')",
    "SELECT COUNT(*), MAX(Id) FROM dbo.Marks",
    "SELECT 1",
)


def send_batches() -> object:
    """Send the batches of a monitoring script again and again."""
    drill = Drill(load_shipped_scenario("ag-lab"), 1)
    server = next(iter(drill.world.instances))
    for number in range(100):
        drill.apply_line(f"sql {server} CREATE TABLE dbo.Table{number} (Id int)")
    for number in range(400):
        drill.apply_line(f"sql {server} {BATCHES[number % len(BATCHES)]}")
        drill.advance_to(drill.tick + to_ticks(0.5))
    return drill


def search_nodes(name: str) -> object:
    """Visit the nodes of a search: fork, try an action, run for 20 s, compute score and hash."""
    scenario = select_variant(load_shipped_scenario(name), 1)
    run = SearchDrill(scenario, 1)
    lines = list_scenario_lines(scenario)
    for second in range(60, 260, 10):
        run.advance_to(to_ticks(float(second)))
        for candidate in list_candidates(run, lines)[:12]:
            twin = run.fork()
            try:
                twin.apply_line(candidate)
            except InputError:
                continue
            twin.advance_to(twin.tick + to_ticks(20.0))
            twin.compute_total()
            compute_transposition_key(twin)
    return run


def grow_table() -> object:
    """Insert 500 rows one by one and count them each time."""
    drill = Drill(load_shipped_scenario("ag-lab"), 1)
    server = next(iter(drill.world.instances))
    drill.apply_line(f"sql {server} USE Sales; CREATE TABLE dbo.Marks (Id int)")
    for number in range(500):
        drill.advance_to(drill.tick + to_ticks(0.1))
        drill.apply_line(
            f"sql {server} USE Sales; INSERT INTO dbo.Marks VALUES ({number}); SELECT COUNT(*) FROM dbo.Marks"
        )
    return drill


def type_many_batches() -> object:
    """Type 600 batches in a drill with a condition on the batches."""
    drill = Drill(load_shipped_scenario("redo-queue"), 1)
    server = next(iter(drill.world.instances))
    for number in range(600):
        drill.apply_line(f"sql {server} SELECT {number}, name FROM sys.databases")
        drill.advance_to(drill.tick + to_ticks(1.0))
    return drill


def search_guesses() -> object:
    """Search four times for another possible cause that would need another action than the reference
    solution.
    """
    scenario = load_shipped_scenario("random-trouble-easy")
    causes = HiddenCauseChecker(scenario, 1)
    plan = [parse_step(step) for step in select_variant(scenario, 1).solution]
    return [causes.find_guess(plan) for _ in range(4)]


WORKLOADS: Final[dict[str, Workload]] = {
    "reference solution": play_reference,
    "hundred databases": play_hundred_databases,
    "repeated batches": send_batches,
    "search": partial(search_nodes, "ag-forced-failover"),
    "search, 100 databases": partial(search_nodes, "hundred-databases"),
    "hidden causes": search_guesses,
    "growing table": grow_table,
    "many batches": type_many_batches,
}


# --- caches -----------------------------------------------------------------------------------------------


@contextmanager
def clear_before_calls(owner: type, method: str, clear_cache: Callable[[Any], object]) -> Iterator[None]:
    """Call *clear_cache* with the instance before each call of *method*."""
    real = vars(owner)[method]

    def call(self: object, *args: object, **options: object) -> object:
        clear_cache(self)
        return real(self, *args, **options)

    with patch.object(owner, method, call):
        yield


def build_clear_function(*names: str) -> Callable[[Any], object]:
    """Return a function that clears the named dictionaries of an object."""
    return lambda owner: [getattr(owner, name).clear() for name in names]


def clear_poll_results(poller: ConditionPoller) -> None:
    """Make a poller evaluate all conditions again."""
    poller._settlings, poller._parts_asked, poller._known, poller._next_look = -1, (), None, 0


def clear_plan_starts(causes: HiddenCauseChecker) -> None:
    """Remove the cached state of every beginning of a plan except the empty one."""
    causes._belief_states = {(): causes._belief_states[()]}


@contextmanager
def disable_result_cache(instance: object) -> Iterator[None]:
    """Compute each result of one `ResultCache` again."""
    real = ResultCache.get

    def get(self: ResultCache[Any], key: object, length: int, make: Callable[[], object]) -> object:
        return make() if self is instance else real(self, key, length, make)

    with patch.object(ResultCache, "get", get):
        yield


def list_result_caches() -> Iterator[CacheCase]:
    """Yield a case for each `ResultCache` of the engine, named after its module."""
    for module_name, module in sorted(sys.modules.items()):
        for name, value in vars(module).items() if module_name.startswith("engine.") else ():
            if isinstance(value, ResultCache):
                workload = "many batches" if "drill" in module_name else "repeated batches"
                yield CacheCase(f"{module_name}.{name}", partial(disable_result_cache, value), (workload,))


def list_caches() -> Iterator[CacheCase]:
    """List every private cache of the engine."""
    search = ("search", "search, 100 databases")
    for name, owner, method, forget, workloads in (
        ("ReprCache", ReprCache, "_format_list", build_clear_function("_entries"), ("hundred databases",)),
        ("IncrementalHasher", IncrementalHasher, "hash_parts", build_clear_function("_hashed_dicts"), search),
        (
            "FlowSetups",
            FlowSetups,
            "_get_path_setup_part",
            build_clear_function("_paths"),
            ("hundred databases", *search),
        ),
        (
            "ConditionPoller",
            ConditionPoller,
            "_may_have_changed",
            clear_poll_results,
            ("reference solution", *search),
        ),
        ("HiddenCauses", HiddenCauseChecker, "find_guess", clear_plan_starts, ("hidden causes",)),
    ):
        yield CacheCase(name, partial(clear_before_calls, owner, method, forget), workloads)
    for name, switch, workloads in (
        (
            "RunCache",
            partial(patch.object, Flow, "enable_run_cache", lambda flow: None),
            ("search", "search, 100 databases"),
        ),
        ("objects.contents", partial(patch.object, objects, "CACHED_CONTENTS_MAX", 0), ("growing table",)),
        (
            "scratch: spare connections",
            partial(patch.object, scratch_database, "SPARE_MAX", 0),
            ("repeated batches",),
        ),
    ):
        yield CacheCase(name, switch, workloads)
    yield from list_result_caches()


def measure_cpu_s(workload: Workload) -> float:
    """Return the processor time of *workload* in seconds."""
    began = process_time()
    workload()
    return process_time() - began


def compare_times(case: CacheCase, workload: Workload, rounds: int) -> tuple[float, float]:
    """Return the shortest time with the cache, and the ratio of the shortest time without the cache to that
    time.
    """
    times: list[float] = []
    times_without: list[float] = []
    for _ in range(rounds):
        times.append(measure_cpu_s(workload))
        with case.disable():
            times_without.append(measure_cpu_s(workload))
    return min(times), min(times_without) / min(times)


def main() -> int:
    """Print the table of caches as Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="part of the name of a cache")
    options = parser.parse_args()
    for workload in WORKLOADS.values():
        workload()  # Load modules and compile grammars.
    print("| cache | workload | with it s | without it |\n|---|---|---|---|")
    for case in list_caches():
        for name in case.workloads if options.only in case.name else ():
            seconds, ratio = compare_times(case, WORKLOADS[name], options.rounds)
            print(f"| {case.name} | {name} | {seconds:.2f} | {ratio:.2f} times |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
