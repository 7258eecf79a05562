"""Check of plans for guesses.

While a seat cannot tell possible causes of its observations apart, its plan must be right for all of them.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice, product
from typing import Final

from msgspec import Struct, field

from engine.drill.authoring import variants
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import load_scenario, select_variant
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.counterfactual import is_inspection
from engine.drill.par.observability import is_observable
from engine.drill.par.search_drill import SearchDrill
from engine.events import Event
from engine.inputs import Input, InputError
from engine.verbs import REMARK_VERBS
from engine.verbs.input_lines import parse_script

CAUSES_MAX: Final = 64
"""Maximum number of variants that are compared; the first ones are chosen. Assumed: no shipped drill has
more.
"""

BELIEF_STATES_MAX: Final = 32
"""Maximum number of cached belief states; the latest are kept. Each contains a run for every cause. Assumed."""

VISIBLE_SCENARIO_PARTS: Final = (
    "brief", "roles", "settings", "servers", "links", "databases", "sessions", "clusters", "instances", "groups",
    "clients",
)  # fmt: skip
"""Parts of a scenario that the seat knows from the start."""

HIDDEN_SCENARIO_PARTS: Final = ("before", "timeline")
"""Parts of a scenario that determine the faults, and that the seat does not know."""


def find_alternative_variants(scenario: Scenario, seed: int) -> list[Scenario]:
    """Return the variants with the same visible start as the variant of *seed*, but with other hidden events."""
    own_variant = select_variant(scenario, seed)
    alternatives = []
    for picks in islice(_list_picks(scenario), CAUSES_MAX):
        with suppress(ScenarioError):
            other_scenario = load_scenario(scenario.text, f"{scenario.name}.toml", picks=picks)
            if _has_equal_parts(own_variant, other_scenario, VISIBLE_SCENARIO_PARTS) and not _has_equal_parts(
                own_variant, other_scenario, HIDDEN_SCENARIO_PARTS
            ):
                # remove the pools of the variants, so that a seed cannot pick other values
                alternatives.append(other_scenario.model_copy(update={"variants": {}}))
    return alternatives


class BeliefState(Struct, frozen=True):
    """Belief of a seat after some observations: the actual run, and other runs with the same observations."""

    run: SearchDrill
    alternative_runs: tuple[tuple[SearchDrill, frozenset[str]], ...]
    """(run that looks the same, actions in the solution of its variant) for each other possible cause."""


class HiddenCauseChecker(Struct):
    """Checker that detects plans that act before the seat can know the cause of a fault.

    It compares the alternative causes of a drill. Belief states of earlier plans are cached.
    """

    scenario: Scenario
    seed: int
    _belief_states: dict[tuple[str, ...], BeliefState] = field(default_factory=dict)
    """First input lines of a plan -> belief state after them."""

    def __post_init__(self) -> None:
        rivals = tuple(
            (SearchDrill(alternative, self.seed), _collect_solution_lines(alternative))
            for alternative in find_alternative_variants(self.scenario, self.seed)
        )
        self._belief_states[()] = BeliefState(SearchDrill(self.scenario, self.seed), rivals)

    @property
    def has_alternatives(self) -> bool:
        """Return whether another cause could explain the visible start."""
        return bool(self._belief_states[()].alternative_runs)

    def find_guess(self, plan: Sequence[Input]) -> Input | None:
        """Return the first action of *plan* that would be wrong for another cause with the same observations.

        The result is None if there is no such action.
        """
        doubt = self._belief_states[()]
        for number, item in enumerate(plan):
            belief = _advance_and_filter(doubt, item)
            if not belief.alternative_runs:
                return None
            if not (is_inspection(item) or (item.verb in REMARK_VERBS and item.verb != "answer")) and not all(
                item.line_without_time in steps for _, steps in belief.alternative_runs
            ):
                return item
            key = tuple(planned_input.line for planned_input in plan[: number + 1])
            if key not in self._belief_states:
                if len(self._belief_states) >= BELIEF_STATES_MAX:
                    del self._belief_states[next(islice(self._belief_states, 1, None))]
                self._belief_states[key] = _apply_input(belief, item)
            doubt = self._belief_states[key]
        return None


# --- internal -----------------------------------------------------------------------------------------------


def _list_picks(scenario: Scenario) -> Iterator[dict[str, object]]:
    pools = variants.list_pool_groups(scenario.variants)
    for indexes in product(*(range(len(next(iter(pool.values())))) for pool in pools)):
        yield {
            name: entries[index]
            for pool, index in zip(pools, indexes, strict=True)
            for name, entries in pool.items()
        }


def _has_equal_parts(left_scenario: Scenario, right_scenario: Scenario, parts: Sequence[str]) -> bool:
    return all(getattr(left_scenario, part) == getattr(right_scenario, part) for part in parts)


def _collect_solution_lines(scenario: Scenario) -> frozenset[str]:
    planned = (parse_script(step.do.strip())[0] for step in scenario.solution)
    return frozenset(item.line_without_time for items in planned for item in items)


def _advance_and_filter(belief: BeliefState, input_: Input) -> BeliefState:
    """Advance the belief state to the time of *input_*, and remove runs whose observations differ."""
    runs = [belief.run.fork(), *(rival.fork() for rival, _ in belief.alternative_runs)]
    for run in runs:
        run.advance_to(input_.tick)
    observations = [_list_observations(run.events, input_.tick) for run in runs]
    candidates = zip(runs[1:], observations[1:], belief.alternative_runs, strict=True)
    return BeliefState(
        runs[0],
        tuple(
            (run, steps)
            for run, run_observations, (_, steps) in candidates
            if run_observations == observations[0]
        ),
    )


def _list_observations(events: Sequence[Event], tick: int) -> list[tuple[object, ...]]:
    """Return the seat's observations before *tick*. Times are omitted, because they vary a little at random."""
    return [
        (event.kind, event.server, event.database, event.text, repr(getattr(event.data, "results", None)))
        for event in events
        if event.tick < tick and is_observable(event)
    ]


def _apply_input(belief: BeliefState, input_: Input) -> BeliefState:
    for run in (belief.run, *(rival for rival, _ in belief.alternative_runs)):
        with suppress(InputError):
            run.apply_line(input_.line_without_time)
    return belief
