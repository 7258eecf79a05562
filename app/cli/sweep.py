"""Command `mirrordrill sweep`: many runs (seeds, players, scenarios) in one table and one plot."""

import argparse
import itertools
import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.cli.command_helpers import (
    SEED_MAX,
    UsageError,
    load_named_scenario,
    write_file,
    write_json,
)
from app.cli.processes import use_cluster
from app.cli.terminal_progress import catch_interrupts, count_with_progress, ignore_interrupts
from app.exit_codes import INTERRUPTED, NEGATIVE_ANSWER, SUCCESS
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.judging.sweep import RunOutcome

if TYPE_CHECKING:
    from engine.drill.judging.sweep import RunOutcome


PLOT_RIGHT_X: Final = 520
"""X coordinate of the right end of the plot. The names are to the right of it."""
PLOT_IMAGE_HEIGHT: Final = 420
PLOT_LEFT: Final = 56
PLOT_TOP: Final = 24
PLOT_BOTTOM: Final = 48
NAME_DISTANCE_PX: Final = 40
"""Distance from the plot to a name, in pixels."""
LETTER_WIDTH_MAX_PX: Final = 8
"""Maximum width of a letter of a name, in pixels. Assumed, because fonts differ."""
NAME_HEIGHT_PX: Final = 18
"""Height of the text line of a name, in pixels."""

LINE_COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Colors that color-blind people can distinguish (Okabe and Ito). Further lines use them again, dashed."""

TICK_MARKS_MAX: Final = 6
"""Maximum number of tick marks on the lower axis."""


def draw_plot(outcomes: Sequence[RunOutcome], measure: str, limit: float | None = None) -> str:
    """Return an SVG plot of *measure*: one line per scenario and player, and a vertical line at *limit*."""
    lines: dict[str, list[float]] = {}
    for outcome in outcomes:
        value = getattr(outcome, measure)
        lines.setdefault(f"{outcome.scenario}, {outcome.player}", []).extend([] if value is None else [value])
    values_with_limit = [value for values in lines.values() for value in values] + (
        [] if limit is None else [limit]
    )
    highest = max(values_with_limit, default=1.0) or 1.0
    parts = [*_draw_axes(measure, highest), *_draw_limit(limit, highest)]
    for number, (name, values) in enumerate(lines.items()):
        parts += _draw_line(number, name, sorted(values), highest)
    width = (
        PLOT_RIGHT_X
        + NAME_DISTANCE_PX
        + LETTER_WIDTH_MAX_PX * max((len(_format_run_count(*line)) for line in lines.items()), default=0)
    )
    height = max(PLOT_IMAGE_HEIGHT, PLOT_TOP + NAME_HEIGHT_PX * len(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="13"><rect width="{width}" height="{height}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def _format_run_count(name: str, values: Sequence[float]) -> str:
    return f"{name} ({len(values)})"


def _format_x_label(value: float, maximum: float) -> str:
    return f"{PLOT_LEFT + (PLOT_RIGHT_X - PLOT_LEFT) * value / maximum:.1f}"


def _format_y_label(share: float) -> str:
    return f"{PLOT_IMAGE_HEIGHT - PLOT_BOTTOM - (PLOT_IMAGE_HEIGHT - PLOT_TOP - PLOT_BOTTOM) * share:.1f}"


def _draw_axes(measure: str, maximum: float) -> Iterator[str]:
    for percent in range(0, 101, 25):
        y = _format_y_label(percent / 100)
        yield f'<path d="M{PLOT_LEFT} {y}H{PLOT_RIGHT_X}" stroke="#ddd"/>'
        yield f'<text x="{PLOT_LEFT - 6}" y="{y}" dy="4" text-anchor="end">{percent}%</text>'
    step = _choose_tick_step(maximum)
    for mark in range(int(maximum / step) + 1):
        x, label_y = mark * step, PLOT_IMAGE_HEIGHT - PLOT_BOTTOM + 18
        yield f'<text x="{_format_x_label(x, maximum)}" y="{label_y}" text-anchor="middle">{x:g}</text>'
    name = f"{measure}: share of runs up to each value"
    yield f'<text x="{PLOT_LEFT}" y="{PLOT_IMAGE_HEIGHT - 8}">{escape(name)}</text>'


def _choose_tick_step(maximum: float) -> float:
    """Return 1, 2 or 5 times a power of ten, so that there are at most TICK_MARKS_MAX tick marks."""
    power = 10.0 ** math.floor(math.log10(maximum / TICK_MARKS_MAX))
    return next(
        factor * power for factor in (1.0, 2.0, 5.0, 10.0) if maximum / (factor * power) <= TICK_MARKS_MAX
    )


def _draw_limit(limit: float | None, maximum: float) -> Iterator[str]:
    if limit is not None:
        x = _format_x_label(limit, maximum)
        yield f'<path d="M{x} {PLOT_TOP}V{PLOT_IMAGE_HEIGHT - PLOT_BOTTOM}" stroke="#555" stroke-dasharray="2 3"/>'
        yield f'<text x="{x}" y="{PLOT_TOP - 8}" text-anchor="middle">{limit:g}</text>'


def _draw_line(number: int, name: str, values: Sequence[float], maximum: float) -> Iterator[str]:
    color = LINE_COLORS[number % len(LINE_COLORS)]
    dash = ' stroke-dasharray="6 3"' if number >= len(LINE_COLORS) else ""
    path = f"M{_format_x_label(0.0, maximum)} {_format_y_label(0.0)}"
    for index, value in enumerate(values, 1):
        path += f"H{_format_x_label(value, maximum)}V{_format_y_label(index / len(values))}"
    if values:
        yield f'<path d="{path}H{PLOT_RIGHT_X}" fill="none" stroke="{color}" stroke-width="2"{dash}/>'
    y, x = PLOT_TOP + NAME_HEIGHT_PX * number, PLOT_RIGHT_X + NAME_DISTANCE_PX - 24
    yield f'<path d="M{x} {y}h18" stroke="{color}" stroke-width="2"{dash}/>'
    yield f'<text x="{PLOT_RIGHT_X + NAME_DISTANCE_PX}" y="{y}" dy="4">{escape(_format_run_count(name, values))}</text>'


RUNS_MAX: Final = 1_000_000

SweepJob = tuple[str, str, str, int]
"""(name of the scenario, text of the scenario, player, seed)."""


def _run_sweep(options: argparse.Namespace) -> int:
    from engine.drill.judging import sweep

    players = list(dict.fromkeys(name.strip() for name in options.players.split(",")))
    for name in players:
        if name not in sweep.PLAYERS_BY_NAME:
            raise UsageError(f"unknown player {name!r}; expected one of {', '.join(sweep.PLAYERS_BY_NAME)}")
    scenarios, seeds = _load_scenarios(options.scenarios), parse_seeds(options.seeds)
    count = len(scenarios) * len(players) * (seeds.stop - seeds.start)
    if count > RUNS_MAX:
        raise UsageError(f"{count} runs exceed the limit of {RUNS_MAX}")
    jobs = list_jobs(scenarios, players, seeds)
    limits = [parse_limit(text) for text in options.within]
    require_known_measure(options.measure)
    outcomes = run_jobs(jobs, options.on)
    if options.plot is not None:
        write_file(
            draw_plot(outcomes, options.measure, dict(limits).get(options.measure)), Path(options.plot)
        )
    if options.json is not None:
        write_json(sweep.build_sweep_json(outcomes, limits), options.json)
    else:
        print("\n".join([sweep.format_table(outcomes), *sweep.format_limit_results(outcomes, limits)]))
    if len(outcomes) < len(jobs):
        print(f"ended after {len(outcomes)} of {len(jobs)} runs", file=sys.stderr)
        return INTERRUPTED
    return NEGATIVE_ANSWER if any(outcome.problem for outcome in outcomes) else SUCCESS


def _load_scenarios(names: Iterable[str]) -> list[Scenario]:
    """Load each scenario once.

    Results use the scenario's name, which equals its file name. Raises UsageError, ScenarioNotFoundError,
    ScenarioError.
    """
    scenarios: dict[str, Scenario] = {}
    for scenario in map(load_named_scenario, names):
        if scenarios.setdefault(scenario.name, scenario).text != scenario.text:
            raise UsageError(
                f"two different scenarios are called {scenario.name}: give one file another name"
            )
    return list(scenarios.values())


def parse_limit(text: str) -> tuple[str, float]:
    """Parse a limit such as `failover_s=10`. Raises UsageError."""
    measure, _, number = text.partition("=")
    require_known_measure(measure)
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise UsageError(f"--within must be MEASURE=NUMBER, such as failover_s=10, not {text}")
    return measure, limit


def require_known_measure(name: str) -> None:
    """Raise UsageError if there is no measure with this name."""
    from engine.drill.judging.sweep import RUN_MEASURES

    if name not in RUN_MEASURES:
        raise UsageError(f"unknown measure {name!r}; expected one of {', '.join(RUN_MEASURES)}")


def parse_seeds(text: str) -> range:
    """Parse seeds such as `1-50`, or a single seed. Raises UsageError."""
    first, dash, last = text.partition("-")
    last = last if dash else first
    digits_max = len(str(SEED_MAX))  # checked before int(), which accepts at most 4,300 digits
    if not (
        all(seed.isdecimal() and len(seed) <= digits_max for seed in (first, last))
        and int(first) <= int(last) <= SEED_MAX
    ):
        raise UsageError(f"--seeds must be A-B, such as 1-50, not {text}")
    return range(int(first), int(last) + 1)


def list_jobs(scenarios: Iterable[Scenario], players: Sequence[str], seeds: range) -> list[SweepJob]:
    """Return a job for each scenario, player and seed."""
    return [
        (scenario.name, scenario.text, player, seed)
        for scenario in scenarios
        for player in players
        for seed in seeds
    ]


def play_job(job: SweepJob) -> RunOutcome:
    """Play a job in a separate process on this or another computer."""
    from engine.drill.judging import sweep

    name, text, player, seed = job
    return sweep.play_outcome(_load_scenario(name, text), player, seed)


@lru_cache(maxsize=1)
def _load_scenario(name: str, text: str) -> Scenario:
    return load_scenario(text, f"{name}.toml")


def run_jobs(
    jobs: Sequence[SweepJob], scheduler: str = "local", workers: int | None = None
) -> list[RunOutcome]:
    """Return the results in the order of *jobs*. After Ctrl+C, return only those of the started jobs.

    The jobs run in *workers* processes of this computer (None for one per processor), or on the Dask
    cluster of *scheduler*. The cluster must have Mirrordrill installed. Raises UsageError.
    """
    from joblib import Parallel, delayed

    processes = workers or min(len(jobs), os.cpu_count() or 1)
    with use_cluster(scheduler), catch_interrupts() as stop:
        remaining_jobs = itertools.takewhile(lambda _: not stop(), jobs)
        with (
            ignore_interrupts()
        ):  # worker processes start with the first jobs and inherit that Ctrl+C is ignored
            coming = Parallel(processes, return_as="generator")(
                delayed(play_job)(job) for job in remaining_jobs
            )
        outcomes: list[RunOutcome] = list(count_with_progress(coming, len(jobs), "runs"))
    return outcomes


COMMANDS: Final = {"sweep": _run_sweep}
