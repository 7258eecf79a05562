"""Drills in which one of several things is wrong: until the seat can tell which, one plan has to serve them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Final

from engine.drill.authoring import variants
from engine.drill.authoring.problems import ScenarioProblems
from engine.drill.authoring.scenario import load_scenario, varied
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.counterfactual import looks
from engine.drill.par.lean import Lean
from engine.drill.par.sight import seen
from engine.events import Event
from engine.inputs import Input, InputProblem
from engine.verbs import REMARKS
from engine.verbs.lines import parse_script

CAUSES_MAX: Final = 64
"""Variants of a drill that are told apart, the first ones. Assumed: more than any shipped drill has."""

LOOKS_MAX: Final = 32
"""Beginnings of plans that are kept, the newest: each holds a run of every cause. Assumed."""

TOLD: Final = (
    "brief", "roles", "settings", "servers", "links", "databases", "sessions", "clusters", "instances", "groups",
    "clients",
)  # fmt: skip
"""Parts of a scenario that the seat knows from the start."""

HIDDEN: Final = ("before", "timeline")
"""Parts in which something goes wrong."""


def others(scenario: Scenario, seed: int) -> list[Scenario]:
    """What else may be wrong: variants that begin like the one of *seed* and in which something else happens."""
    own = varied(scenario, seed)
    found = []
    for picks in islice(_picks(scenario), CAUSES_MAX):
        with suppress(ScenarioProblems):
            other = load_scenario(scenario.text, f"{scenario.name}.toml", picks=picks)
            if _same(own, other, TOLD) and not _same(own, other, HIDDEN):
                found.append(other.model_copy(update={"variants": {}}))  # its seed picks no other
    return found


@dataclass(frozen=True, slots=True)
class Doubt:
    """A seat after some looks: its run, and beside it each that may be the true one for all that it has seen."""

    run: Lean
    rivals: tuple[tuple[Lean, frozenset[str]], ...]
    """Each with what its own solution does."""


@dataclass(slots=True)
class Causes:
    """Tells of plans of one drill whether they act before they can know on what. Looks of earlier plans are kept."""

    scenario: Scenario
    seed: int
    _looks: dict[tuple[str, ...], Doubt] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rivals = tuple((Lean(each, self.seed), _steps(each)) for each in others(self.scenario, self.seed))
        self._looks[()] = Doubt(Lean(self.scenario, self.seed), rivals)

    @property
    def several(self) -> bool:
        return bool(self._looks[()].rivals)

    def guess(self, plan: Sequence[Input]) -> Input | None:
        """The first act or answer of *plan* that another cause, of which the seat has seen the same, would not want;
        None: there is none."""
        doubt = self._looks[()]
        for number, item in enumerate(plan):
            left = _left(doubt, item)
            if not left.rivals:
                return None
            if not (looks(item) or (item.verb in REMARKS and item.verb != "answer")) and not all(
                item.words in steps for _, steps in left.rivals
            ):
                return item
            key = tuple(each.line for each in plan[: number + 1])
            if key not in self._looks:
                if len(self._looks) >= LOOKS_MAX:
                    del self._looks[next(islice(self._looks, 1, None))]
                self._looks[key] = _done(left, item)
            doubt = self._looks[key]
        return None


# --- inside -------------------------------------------------------------------------------------------------


def _picks(scenario: Scenario) -> Iterator[dict[str, object]]:
    pools = variants.groups(scenario.variants)
    for places in product(*(range(len(next(iter(pool.values())))) for pool in pools)):
        yield {
            name: entries[place]
            for pool, place in zip(pools, places, strict=True)
            for name, entries in pool.items()
        }


def _same(one: Scenario, other: Scenario, parts: Sequence[str]) -> bool:
    return all(getattr(one, part) == getattr(other, part) for part in parts)


def _steps(scenario: Scenario) -> frozenset[str]:
    planned = (parse_script(step.do.strip())[0] for step in scenario.solution)
    return frozenset(item.words for items in planned for item in items)


def _left(doubt: Doubt, item: Input) -> Doubt:
    """As it stands when *item* is to be done."""
    runs = [doubt.run.fork(), *(rival.fork() for rival, _ in doubt.rivals)]
    for run in runs:
        run.advance_to(item.tick)
    shown = [_shown(run.events, item.tick) for run in runs]
    kept = zip(runs[1:], shown[1:], doubt.rivals, strict=True)
    return Doubt(runs[0], tuple((run, steps) for run, saw, (_, steps) in kept if saw == shown[0]))


def _shown(events: Sequence[Event], tick: int) -> list[tuple[object, ...]]:
    """What the seat has been shown before *tick*, without its moments, which differ a little by chance."""
    return [
        (event.kind, event.server, event.database, event.text, repr(event.get("results")))
        for event in events
        if event.tick < tick and seen(event)
    ]


def _done(doubt: Doubt, item: Input) -> Doubt:
    for run in (doubt.run, *(rival for rival, _ in doubt.rivals)):
        with suppress(InputProblem):
            run.do(item.words)
    return doubt
