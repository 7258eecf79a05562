"""Generated drills: variants of shipped generators, each with a random seed.

A drill is accepted only after a search has proved that all goals can be reached.
"""

import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec import Struct

from app.files import drill_difficulty, par_certificates
from app.files.scenario_summary import DIFFICULTY_LEVELS
from app.words.language import tr
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import Scenario, select_variant
from engine.drill.authoring.variants import pick_values
from engine.drill.par.certificate_types import ParCertificate
from engine.drill.par.search import ParSearch
from engine.drill.time.cooperative_tasks import CooperativeTask

SEED_MAX: Final = 999_999
"""Largest seed. It is short enough to read out to another person."""


def draw_seed() -> int:
    """Return a random seed."""
    return 1 + secrets.randbelow(SEED_MAX)


GENERATOR_NAMES: Final = ("random-trouble-easy", "random-trouble-medium", "random-trouble-hard")
"""Names of the shipped drill generators. The seed of a drill determines its faults and their times."""

SEARCHED_PLANS_MAX: Final = 50
"""Number of plans that the search tries in order to find a better plan than the reference solution.

Assumed: the search takes half a second.
"""

ATTEMPTS_MAX: Final = 8
"""Number of attempts to generate a drill of the requested difficulty.

After that, a drill of another difficulty is accepted. Assumed: each attempt takes one to six seconds.
"""

DRAWN_SEEDS_MAX: Final = 200
"""Maximum number of seeds drawn to find different variants.

Assumed: four times the variants of the largest generator.
"""


class GeneratedDrill(Struct, frozen=True):
    """Generated drill with its certificate."""

    scenario: Scenario
    """Variant of a generator for *seed*. Its level is the measured difficulty."""
    seed: int
    certificate: ParCertificate
    """Part of a certificate: par, reference, idle, blunder_share, acts_tried, choices, nodes."""

    @property
    def difficulty(self) -> str:
        """Difficulty, one of DIFFICULTY_LEVELS; empty if too few actions were tried."""
        return drill_difficulty.compute_difficulty(self.certificate)

    @property
    def description(self) -> str:
        """Description of the offered drill in one or two sentences."""
        measured = f", {tr(self.difficulty)}" if self.difficulty else ""
        text = tr("A new random drill: {minutes} minutes{difficulty}.")
        checked_text = tr("Checked with {count} simulated runs: {points:g} points are possible.")
        return " ".join(
            (
                text.format(minutes=self.scenario.minutes, difficulty=measured),
                checked_text.format(count=self.certificate["nodes"], points=self.certificate["par"]["score"]),
            )
        )


def draw_candidates(
    generators: Iterable[Scenario], level: str, draw_seed: Callable[[], int] = draw_seed
) -> Iterator[tuple[Scenario, int]]:
    """Yield (generator, seed) for different variants of *generators*.

    Generators whose shipped variant has a difficulty close to *level* come first. *level*: one of
    DIFFICULTY_LEVELS. *draw_seed*: function that draws a random seed.
    """
    for generator in sorted(
        generators,
        key=lambda candidate: _compute_level_distance(
            drill_difficulty.get_drill_difficulty(candidate.name) or candidate.level, level
        ),
    ):
        known_scenarios = []
        for seed in (draw_seed() for _ in range(DRAWN_SEEDS_MAX)):
            picks = pick_values(generator.variants, seed)
            if picks not in known_scenarios:
                known_scenarios.append(picks)
                yield generator, seed


def generate_drill(
    candidates: Iterable[tuple[Scenario, int]], wanted_level: str = ""
) -> CooperativeTask[GeneratedDrill | None]:
    """Return the first of *candidates* that is proved and has the difficulty *wanted_level*.

    A candidate is a generator and a seed. *wanted_level* is one of DIFFICULTY_LEVELS, or empty for any. After
    ATTEMPTS_MAX attempts, return the proved candidate with the closest difficulty, or None. A candidate is
    proved if `list_certificate_warnings` finds no problem and the reference solution is fair and reaches
    every goal.
    """
    other_drills: list[GeneratedDrill] = []
    for number, (scenario, seed) in enumerate(candidates):
        if other_drills and number >= ATTEMPTS_MAX:
            break
        try:
            variant = select_variant(scenario, seed)
        except ScenarioError:
            continue
        proved = yield from _prove_drill(variant, seed, number)
        if proved is None:
            continue
        level = drill_difficulty.compute_difficulty(proved) or variant.level
        drill = GeneratedDrill(variant.model_copy(update={"level": level}), seed, proved)
        if wanted_level in ("", drill.difficulty):
            return drill
        other_drills.append(drill)
    return min(
        other_drills,
        key=lambda candidate: _compute_level_distance(candidate.scenario.level, wanted_level),
        default=None,
    )


def _compute_level_distance(level: str, wanted_level: str) -> int:
    return abs(DIFFICULTY_LEVELS.index(level) - DIFFICULTY_LEVELS.index(wanted_level))


def _prove_drill(scenario: Scenario, seed: int, number: int) -> CooperativeTask[ParCertificate | None]:
    search = ParSearch(scenario, seed)
    for _ in itertools.takewhile(lambda _: search.node_count < SEARCHED_PLANS_MAX, search.run_steps()):
        yield (number + 0.5 * min(1.0, search.node_count / SEARCHED_PLANS_MAX)) / ATTEMPTS_MAX
    best, reference = search.best, search.reference
    if best is None or reference is None or not (reference.fair and reference.has_reached_goals):
        return None
    blunders = search.build_blunder_test()
    for share in blunders.run_steps():
        yield (number + 0.5 + 0.49 * share) / ATTEMPTS_MAX
    measured = blunders.certificate_fields
    certificate: ParCertificate = {
        "par": {"score": best.score, "plan": best.lines},
        "reference": {"score": reference.score, "fair": reference.fair},
        "idle": {"score": next(plan.score for plan in search.plans if not plan.actions)},
        "blunder_share": measured["blunder_share"],
        "acts_tried": measured["acts_tried"],
        "choices": measured["choices"],
        "nodes": search.node_count + blunders.tested_count,
    }
    return None if par_certificates.list_certificate_warnings(certificate, scenario.name) else certificate
