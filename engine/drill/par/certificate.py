"""Certificate of a drill: the results that a search proves.

Fair par is the best score of a plan that uses only visible information. The clairvoyant bound is the
best score of a plan that knows the future. A certificate also contains the score of the reference, and
the plans that prove these figures.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal

from engine.arithmetic import add_in_order
from engine.drill.authoring.scenario import select_variant
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.score import SCORE_TOTAL_MAX
from engine.drill.par import multi_seed
from engine.drill.par.certificate_types import MultiSeedPlan, ParCertificate, SeedScores, TrapScore
from engine.drill.par.cost_of_waiting import WaitingCost
from engine.drill.par.multi_seed import Reaction
from engine.drill.par.search import DecisionTester, ParSearch
from engine.drill.par.search_drill import SearchDrill
from engine.drill.par.trials import PlayedPlan
from engine.drill.running.drill import Drill, play_inputs
from engine.drill.running.solution import find_default_end, play_solution
from engine.inputs import Input, InputError
from engine.model import Tick, to_ticks
from engine.verbs.input_lines import parse_script

SEARCH_METHOD: Final = "best-first over plans, one of each length in turn"
"""Name of the search method, which certificates contain."""

OTHER_SEED_COUNT: Final = 4
"""Number of additional seeds with which plans and the reference are played. Assumed."""

SAFETY_DELAYS_S: Final = (10.0, 30.0)
"""Delays in seconds. To measure its safety, a plan is played with all actions delayed by each. Assumed."""

SAFEST_CANDIDATES_MAX: Final = 3
"""Number of best plans that are compared to find the safest plan. Assumed."""

SEARCH_TIME_SHARES: Final = (0.5, 0.7)
"""Shares of the total time after which the fair search and the clairvoyant search end. Assumed."""

BLUNDERS_TIME_SHARE: Final = 0.8
"""Share of the total time after which the test for blunders ends. Assumed."""

WAITING_TIME_SHARE: Final = 0.9
"""Share of the total time after which the refinement of the cost of waiting ends. The rest is for other
seeds. Assumed.
"""

PlanName = Literal["robust", "safest"]
"""Key, in a certificate, of a plan that was scored with several seeds."""
TimeSharePredicate = Callable[[float], bool]
"""Function that returns whether a given share of the total time is over."""


def _is_never_over(_: float) -> bool:
    return False


def read_fair_plans(certificate: ParCertificate) -> list[list[Input]]:
    """Return the inputs of each fair plan of a certificate."""
    entries = (certificate.get("robust"), certificate.get("safest"))
    over_seeds = [entry["plan"] for entry in entries if entry]
    lines = (certificate["par"]["plan"], certificate["shortest"], *over_seeds, certificate.get("last_chance"))
    return [_parse_inputs(line) for line in lines if line]


def read_clairvoyant_plan(certificate: ParCertificate) -> list[Input]:
    """Return the inputs of a certificate's clairvoyant plan."""
    return _parse_inputs(certificate["clairvoyant"]["plan"])


def _parse_inputs(lines: Sequence[str]) -> list[Input]:
    return parse_script("\n".join(lines))[0]


class CertificateBuilder:
    """Builder of a certificate. It runs the fair search, then the clairvoyant search.

    The clairvoyant search starts with the best fair plan, so its bound is never below fair par.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        spread: DecisionTester | None = None,
        before: ParCertificate | None = None,
    ) -> None:
        """Prepare both searches.

        *spread*: function that distributes decisions to other processes; None means this process tries them.
        *before*: an earlier certificate of the same drill. Its plans are played first, so that the new
        certificate proves at least as much.
        """
        self.fair = ParSearch(scenario, seed, decision_tester=spread)
        self.clairvoyant = ParSearch(scenario, seed, fair=False, decision_tester=spread)
        self.now = self.fair
        """Search that is currently running."""
        self._is_out_of_time = False
        self._earlier = before
        self._variant = select_variant(scenario, seed).model_copy(update={"variants": {}})
        """Scenario with the variant of this seed, for playing with any other seed."""
        self._reactions: dict[PlayedPlan, tuple[Reaction, ...]] = {}
        self._values: dict[tuple[PlayedPlan, int], float] = {}
        """(plan, other seed) -> score."""

    def run_steps(self) -> Iterator[float]:
        """Continue the searches by at most one node per step.

        Each step yields the share of the total time at which the current search must end.
        """
        known_plans = [] if self._earlier is None else read_fair_plans(self._earlier)
        for _ in self.fair.run_steps(known_plans):
            yield SEARCH_TIME_SHARES[0]
            if self._is_out_of_time and self.fair.has_played_initial_plans:
                break
        self.now = self.clairvoyant
        self._is_out_of_time = (
            self._has_full_score()
        )  # with a full score, no plan can be better, so the search stops
        known_plans = [] if self._earlier is None else [read_clairvoyant_plan(self._earlier)]
        for _ in self.clairvoyant.run_steps(known_plans, narrower_search=self.fair):
            if self._is_out_of_time and self.clairvoyant.has_played_initial_plans:
                break
            yield SEARCH_TIME_SHARES[-1]

    def _has_full_score(self) -> bool:
        """Return whether a fair plan scores all points."""
        return self.fair.best is not None and self.fair.best.score == SCORE_TOTAL_MAX

    def end_search(self) -> None:
        """End the current search as soon as its initial plans are played."""
        self._is_out_of_time = True

    def build_certificate(self, is_expired: TimeSharePredicate = _is_never_over) -> ParCertificate:
        """Return the certificate in the form of `mirrordrill par --json`.

        Scores and hashes come from complete drills that replay the plans. *is_expired*: function that returns
        True when a share of the time is over. Long parts then stop and use what they have found so far.
        """
        par, upper_bound, reference = self.fair.best, self.clairvoyant.best, self.fair.reference
        assert par is not None and upper_bound is not None, "doing nothing is a plan, and fair"
        runs = {plan: self._replay_plan(plan) for plan in dict.fromkeys((par, upper_bound))}
        shortest = self.fair.shortest
        idle = next(plan for plan in self.fair.plans if not plan.actions)
        blunders = self.fair.build_blunder_test()
        for _ in blunders.run_steps():
            if is_expired(BLUNDERS_TIME_SHARE):
                break
        waited = self._build_waiting_cost(idle, shortest)
        for _ in waited.run_steps():
            if is_expired(WAITING_TIME_SHARE):
                break
        fields: ParCertificate = {
            "scenario": self.fair.scenario.name,
            "seed": self.fair.seed,
            "method": SEARCH_METHOD,
            "nodes": self.fair.node_count + self.clairvoyant.node_count,
            "complete": self.fair.complete and self.clairvoyant.complete,
            "optimal": self.fair.complete or self._has_full_score(),
            "par": {"score": runs[par].compute_total(), "plan": par.lines},
            "clairvoyant": {"score": runs[upper_bound].compute_total(), "plan": upper_bound.lines},
            "reference": {
                "score": None if reference is None else reference.score,
                "fair": None if reference is None else reference.fair,
            },
            "idle": {"score": idle.score},
            **waited.build_certificate_fields(),
            **blunders.certificate_fields,
            "shortest": shortest.lines if shortest is not None else None,
            "luck": self._score_seeds(reference or idle, is_expired),
            "robust": self._find_robust_plan(is_expired),
            "safest": self._find_safest_plan(shortest, is_expired),
            "traps": self._list_traps(),
            "hashes": {
                "par": runs[par].compute_state_hash(),
                "clairvoyant": runs[upper_bound].compute_state_hash(),
            },
        }
        return fields if self._earlier is None else _merge_previous(self._earlier, fields)

    def _build_waiting_cost(self, idle: PlayedPlan, shortest: PlayedPlan | None) -> WaitingCost:
        par = self.fair.best
        assert par is not None
        chances = [plan.actions for plan in self.fair.plans if plan.has_reached_goals and plan.actions]
        known_plans = [plan.actions for plan in (par, shortest) if plan is not None]
        # The last chance of the earlier certificate may come from a search that began during a run. It need
        # not be among the fair plans.
        last_lines = None if self._earlier is None else self._earlier.get("last_chance")
        earlier_inputs = _parse_inputs(last_lines or ())
        if earlier_inputs and all(
            state.is_reached for state in self._play_delayed(earlier_inputs).goals.values()
        ):
            chances.append(tuple(earlier_inputs))
        last_chance = () if idle.has_reached_goals else max(chances, key=_get_first_tick, default=())
        return WaitingCost(
            self.fair.scenario, self.fair.seed, known_plans, par.score, idle.score, last_chance
        )

    def _score_seeds(self, plan: PlayedPlan, is_expired: TimeSharePredicate) -> SeedScores:
        """Return mean, lowest and highest score of the reference with its own seed and additional seeds.

        *plan*: the reference, played with its own seed.
        """
        scores = [plan.score]
        for seed in self._seeds:
            if is_expired(1.0):
                break
            run = SearchDrill(self.fair.scenario, seed)
            with suppress(InputError):
                play_solution(run)
            scores.append(run.compute_total())
        return {
            "seeds": len(scores) - 1,
            "mean": _compute_mean(scores),
            "least": min(scores),
            "most": max(scores),
        }

    def _find_robust_plan(self, is_expired: TimeSharePredicate) -> MultiSeedPlan | None:
        """Return the plan with the highest mean score over several seeds of the same variant."""
        scores_by_plan: dict[PlayedPlan, list[float]] = {}
        plans = [*self._fair_reference, *self._find_earlier_plans("robust")]
        for plan in dict.fromkeys([*multi_seed.select_archived_plans(self.fair.plans), *plans]):
            scores = [plan.score, *self._score_other_seeds(plan, is_expired)]
            if len(scores) <= OTHER_SEED_COUNT:
                break
            scores_by_plan[plan] = scores
            if min(scores) == SCORE_TOTAL_MAX:
                break
        best = max(scores_by_plan, key=lambda plan: _compute_mean(scores_by_plan[plan]), default=None)
        robust_plan: MultiSeedPlan | None = None
        if best is not None:
            scores = scores_by_plan[best]
            robust_plan = {
                "plan": best.lines,
                "seeds": OTHER_SEED_COUNT,
                "mean": _compute_mean(scores),
                "least": min(scores),
                "most": max(scores),
            }
        return self._select_better_entry("robust", robust_plan, "mean", scores_by_plan)

    def _find_earlier_plans(self, name: PlanName) -> list[PlayedPlan]:
        """Return the plan that the earlier certificate has under *name*, as a list; empty if there is none."""
        earlier_entry = self._read_earlier_entry(name)
        return (
            []
            if earlier_entry is None
            else [plan for plan in self.fair.plans if plan.lines == earlier_entry["plan"]]
        )

    def _read_earlier_entry(self, name: PlanName) -> MultiSeedPlan | None:
        return None if self._earlier is None else self._earlier.get(name)

    def _select_better_entry(
        self,
        name: PlanName,
        entry: MultiSeedPlan | None,
        value_key: Literal["mean", "least"],
        measured_plans: Mapping[PlayedPlan, object],
    ) -> MultiSeedPlan | None:
        """Return *entry* or the earlier certificate's entry *name*: the one with the higher *value_key*.

        The earlier entry does not count if its plan is in *measured_plans*, because that plan was measured
        again.
        """
        earlier_entry = self._read_earlier_entry(name)
        if earlier_entry is None or all(plan in measured_plans for plan in self._find_earlier_plans(name)):
            return entry
        return earlier_entry if entry is None or entry[value_key] < earlier_entry[value_key] else entry

    def _find_safest_plan(
        self, shortest: PlayedPlan | None, is_expired: TimeSharePredicate
    ) -> MultiSeedPlan | None:
        """Return the plan with the highest worst score over additional seeds and delays of all actions."""
        plans = [plan for plan in self.fair.plans if plan.has_reached_goals]
        search_plans = [*self._reactions, *self._fair_reference, *self._find_earlier_plans("safest")]
        best = [
            *heapq.nsmallest(SAFEST_CANDIDATES_MAX, plans, key=_get_plan_sort_key),
            shortest,
            *search_plans,
        ]
        least_scores: dict[PlayedPlan, float] = {}
        for plan in dict.fromkeys(plan for plan in best if plan is not None and plan.has_reached_goals):
            scores = [plan.score, *self._score_other_seeds(plan, is_expired)]
            if len(scores) <= OTHER_SEED_COUNT:
                break
            least_scores[plan] = min(
                *scores, *(self._score_delayed(plan, to_ticks(late_s)) for late_s in SAFETY_DELAYS_S)
            )
        safest = min(least_scores, key=lambda plan: (-least_scores[plan], *plan.key), default=None)
        safest_plan: MultiSeedPlan | None = (
            None if safest is None else {"plan": safest.lines, "least": least_scores[safest]}
        )
        return self._select_better_entry("safest", safest_plan, "least", least_scores)

    @property
    def _fair_reference(self) -> list[PlayedPlan]:
        return [plan for plan in [self.fair.reference] if plan is not None and plan.fair]

    @property
    def _seeds(self) -> range:
        return range(self.fair.seed + 1, self.fair.seed + 1 + OTHER_SEED_COUNT)

    def _score_other_seeds(self, plan: PlayedPlan, is_expired: TimeSharePredicate) -> list[float]:
        """Return the scores of *plan* with additional seeds of the same variant.

        The actions of *plan* are played as reactions to observations. Seeds for which no time is left
        are omitted.
        """
        scenario, seed = self.fair.scenario, self.fair.seed
        if plan not in self._reactions:
            self._reactions[plan] = multi_seed.build_reactions(scenario, seed, plan.actions)
        for other_seed in self._seeds:
            if (plan, other_seed) not in self._values and not is_expired(1.0):
                self._values[plan, other_seed] = multi_seed.play_reactions(
                    SearchDrill(self._variant, other_seed), self._reactions[plan]
                )
        return [
            self._values[plan, other_seed] for other_seed in self._seeds if (plan, other_seed) in self._values
        ]

    def _score_delayed(self, plan: PlayedPlan, delay: Tick) -> float:
        return self._play_delayed(plan.actions, delay).compute_total()

    def _play_delayed(self, actions: Sequence[Input], delay: Tick = 0) -> SearchDrill:
        """Return the finished run in which all *actions* were delayed by *delay*."""
        run = SearchDrill(self.fair.scenario, self.fair.seed)
        for item in actions:
            run.advance_to(item.tick + delay)
            with suppress(InputError):
                run.apply_line(item.line_without_time)
        run.advance_to(find_default_end(run, run.tick))
        return run

    def _list_traps(self) -> list[TrapScore]:
        """Return each trap with the best score of the plans that fell into it; None if no plan did.

        A trap is a forbidden state or a scored action.
        """
        plans = [*self.fair.plans, *self.clairvoyant.plans]
        traps = SearchDrill(self.fair.scenario, self.fair.seed).traps
        return [
            {
                "name": name,
                "text": text,
                "best": max((p.score for p in plans if name in p.sprung_traps), default=None),
            }
            for name, text in traps.items()
        ]

    def _replay_plan(self, plan: PlayedPlan) -> Drill:
        drill = Drill(self.fair.scenario, self.fair.seed)
        play_inputs(drill, plan.actions)
        drill.advance_to(find_default_end(drill, plan.actions[-1].tick if plan.actions else 0))
        assert drill.compute_total() == plan.score, (
            "a lean drill that is worth something else than the whole one"
        )
        return drill


def _compute_mean(scores: Sequence[float]) -> float:
    return round(add_in_order(scores) / len(scores), 1)


def _get_first_tick(actions: Sequence[Input]) -> Tick:
    return actions[0].tick


def _get_plan_sort_key(plan: PlayedPlan) -> tuple[object, ...]:
    """Return a sort key that puts the best plan first."""
    return plan.key


def _merge_previous(previous: ParCertificate, certificate: ParCertificate) -> ParCertificate:
    """Return *certificate* with the results of *previous* that are stronger.

    An earlier search may have had more time. If the bounds of the two certificates differ, return
    *certificate* unchanged.
    """
    bounds = [
        (proof["par"].get("score"), proof["clairvoyant"].get("score")) for proof in (previous, certificate)
    ]
    if bounds[0] != bounds[1]:
        return certificate
    certificate["nodes"] = max(previous.get("nodes", 0), certificate["nodes"])
    certificate["complete"] = previous.get("complete", False) or certificate["complete"]
    certificate["optimal"] = previous.get("optimal", False) or certificate["optimal"]
    has_same_choices = previous.get("choices") == certificate["choices"]
    if has_same_choices and previous.get("acts_tried", 0) > certificate["acts_tried"]:
        certificate["acts_tried"] = previous["acts_tried"]
        certificate["blunder_share"] = previous["blunder_share"]
    best_by_trap = {
        trap["name"]: trap["best"] for trap in previous.get("traps") or () if trap["best"] is not None
    }
    for trap in certificate["traps"]:
        best_scores = [best for best in (trap["best"], best_by_trap.get(trap["name"])) if best is not None]
        trap["best"] = max(best_scores, default=None)
    return certificate
