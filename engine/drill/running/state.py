"""State of a drill: all its data, without the methods that advance it."""

from collections.abc import Collection, Mapping
from enum import Enum, Flag, StrEnum, auto
from typing import Final, Self

from msgspec import Struct
from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.drill.authoring import conditions
from engine.drill.authoring.condition_context import ConditionContext, SentBatch
from engine.drill.authoring.conditions import Condition
from engine.drill.authoring.references import collect_names
from engine.drill.authoring.scenario import select_variant
from engine.drill.authoring.schema import ConditionRule, ConductRule, Hint, Inject, Scenario
from engine.drill.judging import score
from engine.drill.judging.score import Score
from engine.drill.judging.scored_run import ScoredRun
from engine.drill.running import questions
from engine.drill.running.modes import PERMISSIONS_BY_MODE, DrillMode, ModePermissions
from engine.drill.running.questions import (
    UNMET_GOAL_STATE,
    GoalState,
    Inquiry,
    InquiryState,
    OpenedHint,
    OpenQuestion,
)
from engine.drill.running.world_builder import build_world
from engine.drill.team.calls import TeamCalls
from engine.drill.time.event_log import EventLog
from engine.events import Event
from engine.flow import Samples, StreamNumbers
from engine.inputs import Input
from engine.localization import build_message
from engine.model import Computer, Instance, Key, Tick, World, to_ticks
from engine.protocol import group_policies

HASH_INTERVAL_TICKS: Final = 60 * TICKS_PER_S
"""Ticks between two state hashes, in addition to the hashes at inputs. Assumed: small enough to locate a
divergence, at little cost.
"""


class StorageRule(Flag):
    """Rule that determines how forks and snapshots of a drill store an attribute."""

    SHARED = 0
    """The attribute is replaced only as a whole, or stored by code of its own. Forks share it."""
    COPIED = auto()
    """The attribute changes in place. Every fork has a copy."""
    BLOCKS = auto()
    """The attribute grows with the run. Snapshots store it in shared blocks."""
    LOG = auto()
    """The attribute is append-only. A snapshot stores only its length."""
    SEARCHED = auto()
    """The attribute is a list that a search extends, independently in each fork.

    Lists with other records of the past stay empty in a search.
    """


STORAGE_RULES: Final[Mapping[str, StorageRule]] = {
    **dict.fromkeys(
        ("seed", "scenario", "mode", "world", "errorlog_before", "states_before", "samples", "calls", "ended_by",
         "_conditions", "_watched", "_compared", "_standing", "_places", "_log_of", "_looking", "_held", "_known",
         "_parts_asked", "_asked_besides", "_changed", "_settlings", "_watch", "_next_look", "_levels"),
        StorageRule.SHARED,
    ),
    **dict.fromkeys(
        ("goals", "first_held", "hints", "answers", "rewinds", "story_ticks", "windows", "_waiting", "_unfired"),
        StorageRule.COPIED,
    ),
    **dict.fromkeys(("published", "unlike"), StorageRule.COPIED | StorageRule.BLOCKS),
    **dict.fromkeys(("hashes", "logs", "standings"), StorageRule.LOG),
    **dict.fromkeys(("journal", "_batches", "_operations"), StorageRule.LOG | StorageRule.SEARCHED),
    "events": StorageRule.SEARCHED,
}  # fmt: skip
"""Attribute of a drill -> storage rule. A test verifies that every attribute is listed."""


def list_attributes_with_rule(storage: StorageRule) -> tuple[str, ...]:
    """Return the drill attributes with the storage rule *storage*."""
    return tuple(name for name, stored in STORAGE_RULES.items() if storage in stored)


_COPIED_ATTRIBUTES: Final = list_attributes_with_rule(StorageRule.COPIED)


class StateHash(Struct, frozen=True):
    """Hash of the state at a tick, after the first *inputs* inputs of the journal."""

    tick: Tick
    inputs: int
    """Number of the journal's inputs before the hash."""
    digest: str


class DrillEndReason(Enum):
    """Reason for the end of a drill."""

    GOALS = build_message("all goals met")
    TIME = build_message("time is up")
    FORBIDDEN = build_message("forbidden state reached")
    ASKED = build_message("the drill was ended")


class PendingKind(StrEnum):
    """Kind of item for which a drill waits although all goals are reached."""

    QUESTION = "question"
    """A question is waiting for its answer."""
    PREDICTION = "prediction"
    """A prediction is not yet judged."""
    STORY = "story"
    """An input of the timeline is still pending."""


class SampledState(Struct, frozen=True):
    """Log owners and server states at a sample. Samples between two changes share one object."""

    sources: Mapping[int, Key]
    """Number of a log -> copy that writes it, as in `World.sources`."""
    streams: Mapping[int, Key | None]
    """Number of a stream -> copy that receives it, as in `World.streams`."""
    places: Mapping[Key, StreamNumbers]
    """Copy with a log -> numbers of the log source and of the stream that the copy uses."""
    computers: Mapping[str, Computer]
    instances: Mapping[str, Instance]


class DrillState:
    """Scenario, seed, mode, world, actions and events of a drill. The subclass `Drill` advances it."""

    def __init__(
        self, scenario: Scenario, seed: int | None = None, mode: DrillMode | str | None = None
    ) -> None:
        """Begin at tick 0, without scheduling the timeline.

        *seed*: None means the seed of the scenario. *mode*: None means practice, or lab if the scenario has
        no rubric. The seed also selects the variant, which becomes the scenario of the drill.
        """
        self.seed = scenario.seed if seed is None else seed
        self.scenario = scenario = select_variant(scenario, self.seed)
        self.mode = DrillMode(mode or (DrillMode.PRACTICE if scenario.scored else DrillMode.LAB))
        self.world: World = build_world(scenario, self.seed)
        self.errorlog_before = self.world.errorlog.copy()
        """Contents of the ERRORLOGs before the first event."""
        self.states_before = {
            key: group_policies.get_policy(copy).get_state(copy) or None
            for key, copy in self.world.copies.items()
        }
        """State of each copy in its group before the first event; None outside a group."""
        self.events = EventLog()
        self.journal: list[Input] = []
        """Inputs of the trainee. Together with scenario, seed and mode, they are sufficient for a replay."""
        self.hashes: list[StateHash] = []
        """State hashes at the start, at each whole minute and after each input except queries. A replay must
        match them.
        """
        self.samples = Samples(every=TICKS_PER_S, exact=False)
        self.logs: list[dict[str, StreamNumbers | None]] = []
        """Source and stream of each database, for each sample."""
        self.standings: list[SampledState] = []
        """Log owners and server states, for each sample."""
        self.goals = {goal.name: GoalState() for goal in scenario.goals}
        self.first_held: dict[str, Tick | None] = {}
        """Name -> tick at which the forbidden state or scored action first occurred; None if its premise was not
        met then.
        """
        self.hints: list[OpenedHint] = []
        self.answers = {inquiry.name: InquiryState() for inquiry in scenario.inquiries}
        self.rewinds: list[tuple[Tick, Tick]] = []
        """(from, to) of each rewind, oldest first."""
        self.story_ticks: list[Tick] = []
        """Tick of each event of the timeline that has occurred."""
        self.published: dict[int, tuple[float, str]] = {}
        """Index in world.failovers -> (published seconds, reference), for comparable failovers."""
        self.unlike: dict[int, str] = {}
        """Index in world.failovers -> reason why it is not comparable."""
        self.calls: TeamCalls = ()
        """Calls between the roles of a team, oldest first."""
        self.windows: dict[str, str] = {}
        """T-SQL window -> team role that last used it."""
        self.ended_by: DrillEndReason | None = None
        self._batches: list[SentBatch] = []
        self._operations: list[Event] = []
        self._conditions = _parse_conditions(scenario)
        self._watched = _list_watched_conditions(scenario)
        self._compared = 0
        self._standing: SampledState | None = None
        self._places: dict[Key, StreamNumbers] = {}
        self._log_of: dict[str, StreamNumbers | None] = {}
        self._waiting: list[tuple[Tick, int, Input]] = []
        self._unfired: dict[int, Inject] = {}

    @property
    def traps(self) -> dict[str, str]:
        """Text of each forbidden state and each scored action, by its name in first_held."""
        return {name: text for name, _, _, text in self._watched}

    @property
    def tick(self) -> Tick:
        """Current tick."""
        return self.world.tick

    @property
    def permissions(self) -> ModePermissions:
        """Permissions of the drill's mode."""
        return PERMISSIONS_BY_MODE[self.mode]

    @property
    def finished(self) -> bool:
        """True if the drill is over."""
        return self.ended_by is not None

    @property
    def is_truth_hidden(self) -> bool:
        """True if the true state is hidden: the mode hides it, and the drill has not ended."""
        return not self.permissions.shows_truth and not self.finished

    @property
    def end_tick(self) -> Tick | None:
        """Tick at which the drill ends by its length; None if the scenario has no length."""
        return None if self.scenario.length is None else to_ticks(self.scenario.length)

    # --- score ----------------------------------------------------------------------------------------------

    def compute_score(self) -> Score:
        """Return the current score. It is final after the end of the drill."""
        return score.UNSCORED if self.mode is DrillMode.LAB else score.score_run(self._build_scored_run())

    def compute_score_without(self, goals: Collection[str]) -> Score:
        """Return the score that the run would have if *goals* were not reached."""
        run = self._build_scored_run()
        unmet_goals = {
            name: UNMET_GOAL_STATE if name in goals else state for name, state in run.goals.items()
        }
        return (
            score.UNSCORED if self.mode is DrillMode.LAB else score.score_run(replace(run, goals=unmet_goals))
        )

    def compute_total(self) -> float:
        """Return the total of `compute_score`.

        If a goal is not reached, this is faster than the complete score.
        """
        met_goals = [goal for goal in self.scenario.goals if self.goals[goal.name].is_reached]
        if self.mode is DrillMode.LAB or not self.scenario.scored or len(met_goals) == len(self.goals):
            return self.compute_score().total
        return score.compute_goal_total(self.scenario, met_goals)

    def _build_scored_run(self) -> ScoredRun:
        return ScoredRun(
            scenario=self.scenario,
            world=self.world,
            events=self.events,
            goals=self.goals,
            first_held=self.first_held,
            is_condition_met=self.is_condition_met,
            hints=self.hints,
            answers=self.answers,
            has_ended=self.finished,
            left_early=self.ended_by is DrillEndReason.ASKED and bool(self._waiting),
            was_abandoned=self.ended_by is DrillEndReason.ASKED,
            answers_at_once=self.permissions.judges_immediately,
            rewinds=self.rewinds,
            rewind_cost=self.permissions.rewind_cost,
            journal=self.journal,
            calls=self.calls,
        )

    def is_condition_met(self, text: str) -> bool:
        """Return whether a condition is currently met. Raises ConditionError for an invalid condition."""
        return self._get_condition(text).test(self._build_condition_context())

    def _get_condition(self, text: str) -> Condition:
        condition = self._conditions.get(text)
        if condition is None:
            condition = self._conditions[text] = conditions.parse(text, collect_names(self.scenario))
        return condition

    def _build_condition_context(self) -> ConditionContext:
        return ConditionContext(self.world, self._batches, self._operations, self.calls)

    def list_open_questions(self) -> list[OpenQuestion]:
        """Return the open questions, oldest first. The input `answer NAME NUMBER` answers one."""
        waiting = [self._find_inquiry(name) for name, answer in self.answers.items() if answer.open]
        open_questions = [
            questions.build_open_question(inquiry, self.answers[inquiry.name]) for inquiry in waiting
        ]
        return sorted(open_questions, key=lambda question: question.asked_tick)

    def find_next_hint(self) -> Hint | None:
        """Return the hint for the first goal that is not reached; None if drill or mode have no hints."""
        if not self.permissions.hints:
            return None
        by_goal = {hint.goal: hint for hint in self.scenario.hints}
        return next(
            (by_goal[g] for g, state in self.goals.items() if g in by_goal and not state.is_reached), None
        )

    def get_hint_cost(self, layer: int) -> float:
        """Return the current cost in points of opening *layer* (1 to 3) of the next hint; 0 if it is open."""
        hint = self.find_next_hint()
        if hint is None or not self.permissions.hints_cost:
            return 0.0
        is_open = any(o.goal == hint.goal and o.layer == layer for o in self.hints)
        return 0.0 if is_open else hint.cost[layer - 1]

    # --- internal -------------------------------------------------------------------------------------------

    def compute_state_hash(self) -> str:
        """Return the hash of the world's state."""
        return self.world.compute_state_hash()

    def fork_shallow(self) -> Self:
        """Return a drill in the same state, which shares the records of the past with this drill."""
        twin = object.__new__(type(self))
        fields = twin.__dict__
        fields.update(self.__dict__)
        for name in _COPIED_ATTRIBUTES:
            fields[name] = fields[name].copy()
        twin.world = self.world.fork()
        return twin

    def _find_inquiry(self, name: str) -> Inquiry:
        return next(inquiry for inquiry in self.scenario.inquiries if inquiry.name == name)

    def list_scheduled_inputs(self) -> list[tuple[Tick, Input]]:
        """Return (tick, input) of the pending timeline inputs with a known time, soonest first."""
        return [(tick, item) for tick, _, item in sorted(self._waiting, key=lambda waiting: waiting[:2])]

    def list_pending_kinds(self) -> list[PendingKind]:
        """Return the kinds of items for which the drill waits although all goals are reached.

        The list is empty if a goal is not reached.
        """
        if self.finished or not self.goals or not all(state.is_reached for state in self.goals.values()):
            return []
        return self._list_pending_kinds()

    def _list_pending_kinds(self) -> list[PendingKind]:
        """Return the kinds of all pending items: questions, predictions and timeline inputs."""
        asked_inquiries = [
            (i, a) for i in self.scenario.inquiries if (a := self.answers[i.name]).asked_tick is not None
        ]
        unsettled = [(i, a) for i, a in asked_inquiries if not questions.is_inquiry_settled(i, a)]
        kinds = {
            "question": any(a.open for _, a in unsettled),
            "prediction": any(not a.open for _, a in unsettled),
        }
        kinds["story"] = bool(self._waiting)
        return [PendingKind(kind) for kind, is_pending in kinds.items() if is_pending]


def _parse_conditions(scenario: Scenario) -> dict[str, Condition]:
    """Return text -> parsed condition, for all conditions of the scenario."""
    texts = [inject.when for inject in scenario.timeline if inject.when is not None]
    texts += [goal.when for goal in scenario.goals] + [state.when for state in scenario.forbidden]
    texts += [rule.when for rule in scenario.rubric if isinstance(rule, ConditionRule)]
    texts += [inquiry.when for inquiry in scenario.inquiries if inquiry.when is not None]
    names = collect_names(scenario)
    return {text: conditions.parse(text, names) for text in texts}


def _list_watched_conditions(scenario: Scenario) -> list[tuple[str, str, str | None, str]]:
    """Return (name, condition, premise, text) of each forbidden state and scored action.

    The drill records when each condition is first met.
    """
    watched: list[tuple[str, str, str | None, str]] = [
        (f"forbidden:{f.name}", f.when, None, f.text) for f in scenario.forbidden
    ]
    for rule in scenario.rubric:
        for i, price in enumerate(rule.prices if isinstance(rule, ConductRule) else ()):
            watched.append((f"price:{rule.name}:{i}", price.when, price.premise, price.why))
    return watched
