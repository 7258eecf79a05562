"""New drills: a shipped generator with a seed that nobody has seen, kept only when a search has proved it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from app.files import certificates, proof
from app.files.proof import Certificate
from app.words.language import tr
from engine.drill.authoring.problems import ScenarioProblems
from engine.drill.authoring.scenario import Scenario, varied
from engine.drill.par.search import Search
from engine.drill.par.sight import free
from engine.drill.time.slices import Slices

GENERATORS: Final = ("random-trouble-easy", "random-trouble-medium", "random-trouble-hard")
"""Shipped drills of which every seed is another drill: another fault at another moment."""

NODES: Final = 50
"""Plans that are played to find one that is better than the reference. Assumed: half a second."""

TRIED: Final = 60
"""Acts on offer along the best plan that are tried to tell how hard the drill is. Assumed."""

TRIES: Final = 8
"""Seeds that are tried for a difficulty that is wanted before another one is offered. Assumed."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """A drill that was generated and proved."""

    scenario: Scenario
    """The variant that the seed picks; its level is the measured one."""
    seed: int
    proved: Certificate
    """Parts of a certificate: par, reference, idle, shortest, blunder_share, acts_tried, nodes."""

    @property
    def difficulty(self) -> str:
        """One of LEVELS; empty: too little was tried to tell."""
        return proof.difficulty(self.proved)

    @property
    def told(self) -> str:
        """What is offered, in a sentence or two."""
        measured = f", {tr(self.difficulty)}" if self.difficulty else ""
        said = tr("A new drill that nobody has seen: {minutes} min{difficulty}.")
        more = tr("Proved by {count} tries: {points:g} points can be reached.")
        return " ".join(
            (
                said.format(minutes=self.scenario.minutes, difficulty=measured),
                more.format(count=self.proved["nodes"], points=self.proved["par"]["score"]),
            )
        )


def fresh(candidates: Iterable[tuple[Scenario, int]], wanted: str = "") -> Slices[Fresh | None]:
    """The first of the *candidates* (scenario, seed) that is proved and as difficult as *wanted* (one of
    LEVELS; empty: whatever it is); after TRIES the first that is proved. None: none is.

    Proved is what `check` has nothing against: the reference is fair, reaches every goal and is as good as any plan
    that was found, and doing nothing is not.
    """
    other: Fresh | None = None
    for number, (scenario, seed) in enumerate(candidates):
        if other is not None and number >= TRIES:
            break
        try:
            variant = varied(scenario, seed)
        except ScenarioProblems:
            continue
        proved = yield from _proved(variant, seed, number)
        if proved is None:
            continue
        level = proof.difficulty(proved) or variant.level
        found = Fresh(variant.model_copy(update={"level": level}), seed, proved)
        if wanted in ("", found.difficulty):
            return found
        other = other or found
    return other


def _proved(scenario: Scenario, seed: int, number: int) -> Slices[Certificate | None]:
    search = Search(scenario, seed)
    first = itertools.takewhile(lambda _: search.nodes < NODES, search.steps())
    for _ in itertools.chain(first, search.weigh(TRIED)):
        yield min(0.99, (number + search.nodes / (NODES + TRIED)) / TRIES)
    best, reference = search.best, search.reference
    if best is None or reference is None or not (reference.fair and reference.reached):
        return None
    found: Certificate = {
        "par": {"score": best.score, "plan": best.lines},
        "reference": {"score": reference.score, "fair": reference.fair},
        "idle": {"score": next(plan.score for plan in search.plans if not plan.acts)},
        "shortest": [item.line for item in reference.acts if not free(item)],
        "blunder_share": search.blunders / search.tried if search.tried else None,
        "acts_tried": search.tried,
        "nodes": search.nodes,
    }
    return None if certificates.warnings(found, scenario.name) else found
