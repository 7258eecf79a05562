"""Polling of conditions at each whole second. A condition is evaluated only if its result may have changed."""

from collections.abc import Callable
from copy import copy
from operator import attrgetter
from typing import Final, Self

from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.drill.authoring.condition_context import ConditionContext
from engine.drill.authoring.conditions import UNREACHED_TICK, ConditionEvaluator, ConditionPredicate
from engine.drill.authoring.schema import Prediction, Scenario
from engine.drill.running import questions
from engine.drill.running.modes import DrillMode
from engine.drill.running.state import DrillState
from engine.flow import Threshold
from engine.model import Client, Tick, World, to_ticks
from engine.model.world import FieldUse, list_parts

GET_CONDITION_PARTS: Final[Callable[[World], tuple[object, ...]]] = attrgetter(*list_parts(FieldUse.ASK))
"""Function that returns the parts of a world that conditions use."""

GET_CLIENT_ATTRIBUTES: Final[Callable[[Client], tuple[object, ...]]] = attrgetter(
    "connected_to", "failed_logins", "data_source", "databases", "read_only", "multi_subnet", "driver",
    "command_timeout_s",
)  # fmt: skip
"""Function that returns the attributes of a client that conditions use. Other attributes change at every
login attempt.
"""


class PollState(Struct, frozen=True):
    """Results of a poll, and the data that decide when the next poll is necessary."""

    static_tests: dict[str, ConditionPredicate]
    """Condition whose result only events can change -> function that tests it."""
    timed_queries: dict[str, ConditionEvaluator]
    """Condition whose result may change without an event -> function that evaluates it."""
    results: dict[str, bool]
    """Condition -> result at the poll."""
    answers: list[object]
    """Number of pending timeline inputs, and all answers, at the poll.

    Conditions use these data in addition to the world.
    """
    tick: Tick
    """Whole second at which a result may change even without an event."""


class ConditionPoller(DrillState):
    """Drill state that polls its conditions."""

    def __init__(
        self, scenario: Scenario, seed: int | None = None, mode: DrillMode | str | None = None
    ) -> None:
        self._looking = False
        self._held: dict[str, bool] = {}
        """Condition -> result in the current poll."""
        self._known: ConditionContext | None = None
        """Facts for conditions. They stay valid until a part of the world that conditions use changes."""
        self._parts_asked: tuple[object, ...] = ()
        self._asked_besides: list[object] = []
        """Data outside the world that conditions use, at the last comparison."""
        self._changed = True
        """True if something has changed since the last poll."""
        self._settlings = -1
        """World.settlings at the last comparison."""
        self._watch = PollState({}, {}, {}, [], 0)
        self._next_look: Tick = 0
        self._levels: tuple[Threshold, ...] = ()
        """Thresholds of the flow. If one is crossed, a result may change before the next event."""
        super().__init__(scenario, seed, mode)

    def fork_shallow(self) -> Self:
        """Fork the state without the cached evaluation, so that snapshots do not contain the cache."""
        twin = super().fork_shallow()
        twin._known, twin._parts_asked, twin._asked_besides = None, (), []
        twin._settlings, twin._changed = -1, True
        return twin

    def _poll_all_conditions(self) -> None:
        """Evaluate all conditions that can be evaluated now, and record what has changed."""
        raise NotImplementedError

    def _is_unchanged(self) -> bool:
        """Return whether the world has not changed since the last comparison."""
        return self._settlings == self.world.settlings

    def _may_have_changed(self) -> bool:
        """Return whether a poll at this second could have a new result.

        If a condition compares a flow counter with a threshold, every change of the world counts. Even a
        change that no condition reads may lower the counter.
        """
        happened = bool(self._levels) and not self._is_unchanged()
        return self._has_changed() or happened or self.world.flow.passed or self.world.tick >= self._next_look

    def _has_changed(self) -> bool:
        """Return whether data that conditions use have changed since the last call."""
        if self._is_unchanged():
            return False
        self._settlings = self.world.settlings
        parts = GET_CONDITION_PARTS(self.world)
        batch_counts = len(self._batches), len(self._operations)
        watched_values = [
            *map(GET_CLIENT_ATTRIBUTES, self.world.clients.values()),
            *batch_counts,
            self.calls,
            *self._collect_answers(),
        ]
        if parts == self._parts_asked and watched_values == self._asked_besides:
            return False
        self._parts_asked, self._asked_besides = tuple(map(copy, parts)), watched_values
        self._known, self._changed = None, True
        return True

    def _collect_answers(self) -> list[object]:
        """Return the number of pending timeline inputs and all answers, which are not part of the world."""
        return [len(self._waiting), *self.answers.values()]

    def is_condition_met(self, text: str) -> bool:
        """Return whether a condition is currently met.

        Within a poll, each condition is evaluated only once. Raises ConditionError for an invalid condition.
        """
        if not self._looking:
            return super().is_condition_met(text)
        holds = self._held.get(text)
        if holds is None:
            holds = self._held[text] = self._get_condition(text).test(self._build_condition_context())
        return holds

    def _build_condition_context(self) -> ConditionContext:
        """Return the context in which conditions are evaluated.

        During a poll, an unchanged context is reused.
        """
        if not self._looking:
            return super()._build_condition_context()
        if self._known is None:
            self._known = super()._build_condition_context()
        return self._known

    def _poll_conditions(self) -> None:
        """Evaluate the conditions, once a second, and check whether the drill has ended.

        Nothing is evaluated if the context is unchanged and no condition depends on the time.
        """
        self._has_changed()
        self._looking, watch = True, self._watch
        facts = self._build_condition_context()
        results = {text: ask(facts) for text, ask in watch.timed_queries.items()}
        held_texts = watch.results | {text: answer.holds for text, answer in results.items()}
        if self._changed:
            held_texts |= {text: test(facts) for text, test in watch.static_tests.items()}
        if (
            self.world.tick >= watch.tick
            or held_texts != watch.results
            or watch.answers != self._collect_answers()
        ):
            self._held = held_texts
            self._poll_all_conditions()
            texts, tick = self._plan_next_poll()
            conditions = {text: self._get_condition(text) for text in texts}
            quiet = {
                text: condition.test for text, condition in conditions.items() if condition.evaluate is None
            }
            moving = {
                text: condition.evaluate
                for text, condition in conditions.items()
                if condition.evaluate is not None
            }
            held_texts = {text: self.is_condition_met(text) for text in texts}
            watch = self._watch = PollState(quiet, moving, held_texts, self._collect_answers(), tick)
            results = {text: results.get(text) or ask(facts) for text, ask in moving.items()}
        self._next_look = min([watch.tick, *[answer.valid_until_tick for answer in results.values()]])
        self._levels = tuple([level for answer in results.values() for level in answer.thresholds])
        self.world.flow.watch_thresholds(self._levels)
        self._looking = self._changed = False

    def _plan_next_poll(self) -> tuple[tuple[str, ...], Tick]:
        """Return (conditions to evaluate, next whole second at which time alone may change a result)."""
        tick, texts = self.world.tick, [inject.when for inject in self._unfired.values()]
        ticks = [] if self.end_tick is None else [self.end_tick]
        for goal in self.scenario.goals:
            state = self.goals[goal.name]
            if state.missed_tick is not None:
                continue
            texts.append(goal.when)
            ticks.append(to_ticks(goal.after))
            if not state.is_reached:
                ticks += [] if goal.within is None else [to_ticks(goal.within)]
                ticks += [] if state.since_tick is None else [state.since_tick + to_ticks(goal.hold)]
        texts += [condition for name, condition, _, _ in self._watched if name not in self.first_held]
        for inquiry in (
            () if self.mode is DrillMode.LAB else self.scenario.inquiries
        ):  # a lab has no questions
            answer = self.answers[inquiry.name]
            if answer.void_tick is not None or (
                answer.asked_tick is not None and questions.is_inquiry_settled(inquiry, answer)
            ):
                continue
            if answer.asked_tick is not None:
                deadline = questions.find_deadline(inquiry, answer)
                ticks += [] if deadline is None else [deadline]
                if isinstance(inquiry, Prediction):
                    ticks.append(answer.asked_tick + to_ticks(inquiry.judged_after))
            elif answer.since_tick is not None or inquiry.when is None:
                since_tick = to_ticks(inquiry.at or 0.0) if answer.since_tick is None else answer.since_tick
                ticks.append(since_tick + to_ticks(inquiry.after))
            else:
                texts.append(inquiry.when)
                if self.is_condition_met(
                    inquiry.when
                ):  # the condition is met but the premise is not, so the question is tried again at the next second
                    ticks.append(tick + TICKS_PER_S)
        seconds = (
            -(-change_tick // TICKS_PER_S) * TICKS_PER_S for change_tick in ticks if change_tick > tick
        )
        return tuple(text for text in texts if text is not None), min(seconds, default=UNREACHED_TICK)
