"""Sweep over many runs: every player plays every scenario with every seed."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.automatic_players import AUTOMATIC_PLAYERS, IDLE_PLAYER, AutomaticPlayer
from engine.drill.judging.report import build_availability_json
from engine.drill.time.cooperative_tasks import CooperativeTask
from engine.flow import SafetyMode
from engine.flow.sites import SITES, WORKLOADS
from engine.inputs import InputError
from engine.planning import MirroringPlan

TABLE_PERCENTILES: Final = (5, 50, 95)
"""Percentiles that `format_table` shows, in percent."""

RUN_MEASURES: Final = ("points", "downtime_s", "failover_s", "lost_transactions")
"""Measures of each run. failover_s: duration of the run's longest failover, or None without a failover."""

_AGENTS: Final = {agent.name: agent for agent in AUTOMATIC_PLAYERS}

PLAYERS_BY_NAME: Final[Mapping[str, AutomaticPlayer]] = {
    **_AGENTS, "idle": _AGENTS[IDLE_PLAYER], "random": _AGENTS["random 1"],
}  # fmt: skip
"""Name -> automatic player. "idle" and "random" are shorter names of two players of the command `agents`."""


class RunOutcome(Struct, frozen=True):
    """Result of one run. A measure that does not apply to the run is None."""

    scenario: str
    player: str
    seed: int
    points: float | None = None
    finished: bool = False
    """True if every goal was met, or if the scenario has no goals."""
    downtime_s: float | None = None
    failover_s: float | None = None
    lost_transactions: float | None = None
    problem: str = ""
    """Reason why the run could not be played to its end; empty if it was."""


def play_outcome(scenario: Scenario, player: str, seed: int) -> RunOutcome:
    """Let *player*, a name in PLAYERS_BY_NAME, play the drill of *scenario* with *seed* to its end."""
    try:
        drill = PLAYERS_BY_NAME[player].play(scenario, seed)
    except InputError as problem:
        return RunOutcome(scenario.name, player, seed, problem=str(problem))
    score, accounts = drill.compute_score(), build_availability_json(drill.world)
    durations_s = [
        (failover.online_tick - failover.detected_tick) / TICKS_PER_S
        for failover in drill.world.failovers
        if failover.online_tick is not None
    ]
    return RunOutcome(
        scenario.name,
        player,
        seed,
        score.total if score.scored else None,
        score.finished or not drill.scenario.goals,
        accounts["downtime_s"],
        max(durations_s, default=None),
        accounts["lost_transactions"],
    )


def summarize_outcomes(outcomes: Iterable[RunOutcome]) -> list[dict[str, object]]:
    """Return a row for each scenario and player, in order of appearance.

    A row contains the number of runs, the number of failures, and mean and percentiles of each measure. A
    measure is None if it applies to no run.
    """
    grouped: dict[tuple[str, str], list[RunOutcome]] = {}
    for outcome in outcomes:
        grouped.setdefault((outcome.scenario, outcome.player), []).append(outcome)
    return [
        {
            "scenario": scenario,
            "player": player,
            "runs": len(runs),
            "failures": len([run for run in runs if not run.finished]),
            **{
                measure: _summarize_values([getattr(run, measure) for run in runs])
                for measure in RUN_MEASURES
            },
        }
        for (scenario, player), runs in grouped.items()
    ]


def _summarize_values(values: Sequence[float | None]) -> dict[str, float] | None:
    """Return "mean" and percentiles ("p5", "p50" …) -> number; None if all *values* are None.

    Values that are None are ignored.
    """
    known_values = sorted(value for value in values if value is not None)
    if not known_values:
        return None
    mean = arithmetic.add_in_order(known_values) / len(known_values)
    return {
        "mean": mean,
        **{f"p{percent}": compute_percentile(known_values, percent) for percent in TABLE_PERCENTILES},
    }


def compute_percentile(ordered: Sequence[float], percent: int) -> float:
    """Return a percentile of *ordered* numbers by the nearest-rank method.

    *ordered* must be sorted and not empty.
    """
    return ordered[max(0, math.ceil(percent * len(ordered) / 100) - 1)]


class LimitResult(Struct, frozen=True):
    """Share of runs in which a measure stayed within a limit, for one scenario and one player."""

    scenario: str
    player: str
    measure: str
    most: float
    """Upper limit of the measure."""
    runs: int
    """Number of runs to which the measure applies."""
    within: int
    """Number of runs within the limit."""
    low: float
    """Lower end of the 95% confidence interval of the share."""
    high: float
    """Upper end of the 95% confidence interval of the share."""


def list_limit_results(outcomes: Iterable[RunOutcome], measure: str, limit: float) -> list[LimitResult]:
    """Return the LimitResult of each scenario and player, in order of appearance."""
    grouped: dict[tuple[str, str], list[float]] = {}
    for outcome in outcomes:
        value = getattr(outcome, measure)
        grouped.setdefault((outcome.scenario, outcome.player), []).extend([] if value is None else [value])
    rows = []
    for (scenario, player), values in grouped.items():
        hits = len([value for value in values if value <= limit])
        rows.append(
            LimitResult(
                scenario,
                player,
                measure,
                limit,
                len(values),
                hits,
                *compute_confidence_interval(hits, len(values)),
            )
        )
    return rows


NORMAL_QUANTILE_95: Final = 1.959963984540054
"""Distance from the mean, in standard deviations, that encloses 95% of a normal distribution."""


def compute_confidence_interval(hits: int, total: int) -> tuple[float, float]:
    """Return the 95% confidence interval of *hits* / *total* (Wilson, J. Am. Stat. Assoc. 22, 1927)."""
    if total == 0:
        return 0.0, 1.0
    z2 = NORMAL_QUANTILE_95 * NORMAL_QUANTILE_95
    share, weight = hits / total, 1.0 + z2 / total
    middle = (share + z2 / (2.0 * total)) / weight
    half_width = (
        NORMAL_QUANTILE_95 * math.sqrt(share * (1.0 - share) / total + z2 / (4.0 * total * total)) / weight
    )
    return max(0.0, middle - half_width), min(1.0, middle + half_width)


MeasureLimits = Sequence[tuple[str, float]]
"""(measure, maximum value) pairs."""


def format_limit_results(outcomes: Sequence[RunOutcome], limits: MeasureLimits) -> list[str]:
    """Format one line for each limit, scenario and player."""
    rows = [row for measure, limit in limits for row in list_limit_results(outcomes, measure, limit)]
    return [f"{row.scenario}, {row.player}: {_format_count(row)}" for row in rows]


def _format_count(row: LimitResult) -> str:
    count_text = f"{row.measure} at most {row.most:g} in {row.within} of {row.runs} runs with this measure"
    if not row.runs:
        return count_text
    share, low, high = (f"{100.0 * value:.1f}%" for value in (row.within / row.runs, row.low, row.high))
    return f"{count_text} ({share}; 95% confidence: {low} to {high})"


def build_sweep_json(outcomes: Sequence[RunOutcome], limits: MeasureLimits = ()) -> dict[str, object]:
    """Return a dictionary of JSON types.

    The keys are "rows" (rows of the table), "within" (results for *limits*) and "runs".
    """
    rows = [asdict(row) for measure, limit in limits for row in list_limit_results(outcomes, measure, limit)]
    return {
        "rows": summarize_outcomes(outcomes),
        "within": rows,
        "runs": [asdict(outcome) for outcome in outcomes],
    }


def format_table(outcomes: Sequence[RunOutcome]) -> str:
    """Format a line for each scenario and player, with mean and p5/p50/p95 of each measure."""
    head = ["", "player", "runs", "failures", *(f"{measure} mean (p5 p50 p95)" for measure in RUN_MEASURES)]
    rows = [
        [str(row[name]) for name in ("scenario", "player", "runs", "failures")]
        + [_format_value_summary(row[measure]) for measure in RUN_MEASURES]
        for row in summarize_outcomes(outcomes)
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    problems = [f"{o.scenario}, {o.player}, seed {o.seed}: {o.problem}" for o in outcomes if o.problem]
    return "\n".join([*_format_lines([head, *rows], widths), *problems])


def _format_value_summary(spread: object) -> str:
    if not isinstance(spread, dict):
        return "-"
    mean, *ranks = spread.values()
    return f"{mean:.1f} ({' '.join(f'{rank:g}' for rank in ranks)})"


def _format_lines(rows: Iterable[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    for row in rows:
        names = zip(row[:2], widths[:2], strict=True)
        figures = zip(row[2:], widths[2:], strict=True)
        cells = [f"{cell:{width}}" for cell, width in names] + [f"{cell:>{width}}" for cell, width in figures]
        yield "  ".join(cells)


# --- durations of failovers on a planned link -------------------------------------------------------------
# A scenario is built from the plan and played many times with the same failure.

FAULT_VERBS: Final = ("power-off", "stop-service", "hang", "pull-cable")
"""Faults of the principal that can cause the failover in `build_failover_scenario`."""

RUN_LENGTH_S: Final = 180
"""Length of a run in seconds. Assumed: longer than any automatic failover.

The failure occurs between 20 and 40 s.
"""

SERVER_TOML: Final = """[[server]]
name = "{name}"
site = "{site}"
version = {version}
endpoint.encryption = "{encryption}"
"""
"""TOML template of a server in the scenario that `build_failover_scenario` builds."""
LINK_TOML: Final = """[[link]]
ends = ["PRINCIPAL", "{end}"]
rtt_ms = {rtt_ms!r}
bandwidth_mbps = {bandwidth_mbps!r}
loss = {loss!r}
"""
"""TOML template of a link in the scenario that `build_failover_scenario` builds."""


def build_failover_scenario(plan: MirroringPlan, cause: str) -> Scenario | None:
    """Build a scenario of *plan* in which the fault *cause* (one of FAULT_VERBS) occurs.

    The result is None if no automatic failover would follow. It is also None for a user-defined workload, of
    which only the rates are known.
    """
    site = next((name for name, known_site in SITES.items() if known_site == plan.site), None)
    if (
        plan.safety is not SafetyMode.FULL
        or site is None
        or WORKLOADS.get(plan.workload.name) != plan.workload
    ):
        return None
    encryption = "REQUIRED" if plan.encryption else "DISABLED"
    servers = [
        SERVER_TOML.format(name=name, site=site, version=plan.version, encryption=encryption)
        for name in ("PRINCIPAL", "MIRROR", "WITNESS")
    ]
    links = [
        LINK_TOML.format(end=end, rtt_ms=plan.rtt_ms, bandwidth_mbps=plan.bandwidth_mbps, loss=plan.loss)
        for end in ("MIRROR", "WITNESS")
    ]
    template = files("engine.drill.judging").joinpath("planned_link.toml").read_text(encoding="utf-8")
    text = template.format(
        length=RUN_LENGTH_S,
        servers="".join(servers),
        links="".join(links),
        workload=plan.workload.name,
        scale=plan.scale,
        compression_ratio=plan.compression_ratio,
        cause=cause,
    )
    return load_scenario(text, "planned.toml")


def simulate_failovers(scenario: Scenario, runs: int) -> CooperativeTask[list[RunOutcome]]:
    """Play *scenario* without inputs, with the seeds from 1 to *runs*. Each slice is one run."""
    outcomes: list[RunOutcome] = []
    for seed in range(1, runs + 1):
        outcomes.append(play_outcome(scenario, "idle", seed))
        yield len(outcomes) / runs
    return outcomes
