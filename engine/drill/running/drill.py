"""Run of a scenario: the class Drill applies inputs, advances the time, and records events and the end."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from engine import simulator
from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context, conditions
from engine.drill.authoring.conditions import ConditionError
from engine.drill.authoring.references import collect_names
from engine.drill.authoring.schema import Hint, Inject, Scenario
from engine.drill.judging import report
from engine.drill.judging.report_types import Report
from engine.drill.running import modes, published_comparison, questions, rewind
from engine.drill.running.condition_polling import ConditionPoller
from engine.drill.running.modes import DrillMode
from engine.drill.running.questions import Inquiry, InquiryState, OpenedHint, format_goal_change, update_goal
from engine.drill.running.state import HASH_INTERVAL_TICKS, DrillEndReason, SampledState, StateHash
from engine.drill.team import rights
from engine.drill.team.calls import MESSAGE_HANDLERS, TeamCalls, update_calls
from engine.drill.time.snapshots import attach_history, measure_lengths
from engine.events import (
    AnswerData,
    Event,
    EventData,
    GoalData,
    HintData,
    NoteData,
    PowerShellData,
    QuestionData,
    ScoreData,
    SqlDoneData,
    TeamMessageData,
    get_data,
)
from engine.flow import Samples
from engine.inputs import Input, InputError
from engine.localization import build_message, join_messages, mark
from engine.model import Tick, to_ticks
from engine.protocol import streams
from engine.random_streams import RandomStream
from engine.tsql.language.lexer import is_read_only_input
from engine.verbs.input_lines import parse_input_line, parse_script

__all__ = ["Drill", "DrillEndReason", "DrillMode", "play_inputs", "replay"]

REVERT_ALL_REFUSAL: Final = build_message(
    "revert-all is not available in scored drills. Repair each fault individually (power-on, "
    "plug-cable, mend, start-service, …)."
)
"""Error text for `revert-all` in a scored drill."""

TIMELINE_STREAM_NUMBER: Final = 0x7154
"""Number of the random stream for times of the timeline. A separate stream keeps them independent of the
world's randomness. The value is arbitrary.
"""


ACTION_EVENT_KINDS: Final = frozenset({"fault", "note", "answer", "powershell", "sql"})
"""Kinds of events that record an action. In a team, the text of such an event begins with the role."""

MESSAGE_TEMPLATES: Final = {
    "call": mark("{role} to {other}: {text}"),
    "read-back": mark("{role} reads back to {other}: {text}"),
    "confirm": mark("{role} confirms the read-back of {other}"),
    "ask-status": mark("{role} asks {other}: {text}"),
    "status": mark("{role} reports to {other}: {text}"),
}
"""Kind of message between roles -> message template."""

SAMPLES_MAX: Final = 28_800
"""Maximum number of samples at intervals of one second, which is eight hours. Assumed.

After them, the interval grows.
"""
SAMPLED_ROWS_MAX: Final = 360_000
"""Maximum product of samples and databases at intervals of one second. Assumed.

This is an hour of a hundred databases, about 30 MB. The interval then grows: a day takes 52 MB, a week 71 MB.
"""
SAMPLE_INTERVALS: Final = ((300 * TICKS_PER_S, 2.0), (60 * TICKS_PER_S, 1.5), (10 * TICKS_PER_S, 1.0))
"""(ticks between samples, share of SAMPLES_MAX or SAMPLED_ROWS_MAX), longest interval first.

An interval applies when this share of one of the two limits is reached. A week of one database has 50,000
samples.
"""


class Drill(ConditionPoller):
    """Run of a scenario. Only `apply_line`, `apply_input` and `advance_to` may change it.

    Goals, scored actions and timeline conditions are evaluated at whole seconds. Within a tick, timers come
    first, then this evaluation, then the inputs of the timeline, then those of the trainee. The result does
    not depend on the size of the steps in which the time advances.
    """

    def __init__(
        self, scenario: Scenario, seed: int | None = None, mode: DrillMode | str | None = None
    ) -> None:
        """Begin at tick 0. The arguments are those of DrillState."""
        super().__init__(scenario, seed, mode)
        self._schedule_timeline()
        self._apply_due_inputs()
        self._record_hash()

    @property
    def drill(self) -> Drill:
        """The drill itself. Thus drills and histories have the same interface."""
        return self

    # --- time and actions -----------------------------------------------------------------------------------

    def advance_to(self, tick: Tick, to_event: bool = False) -> list[Event]:
        """Advance to *tick* or to the end of the drill, and return the events.

        *to_event*: True to stop after the first tick with an event.
        """
        first_event, world = len(self.events), self.world
        while world.tick < tick and not self.finished and not (to_event and len(self.events) > first_event):
            start_tick, whole_second = world.tick, (world.tick // TICKS_PER_S + 1) * TICKS_PER_S
            is_unchanged = self._is_unchanged() and self._next_look > whole_second
            due_tick = self._waiting[0][0] if self._waiting else tick
            end_tick = min(
                tick,
                due_tick,
                min(self._next_look, self._find_next_record_tick()) if is_unchanged else whole_second,
            )
            self._record_events(
                simulator.advance_world(
                    world, end_tick, (), self._get_sample_target(), to_event, to_change=is_unchanged
                )
            )
            self._record_samples(start_tick)
            if world.tick % TICKS_PER_S == 0 and self._may_have_changed():
                self._poll_conditions()
            self._apply_due_inputs()
            if world.tick % HASH_INTERVAL_TICKS == 0:
                self._record_hash()
        return self.events[first_event:]

    def apply_line(self, line: str) -> Input:
        """Apply an input line, without a time, and add it to the journal.

        The journal contains names as the world spells them. If the line cannot be applied, InputError is
        raised and nothing changes.
        """
        return self.apply_input(parse_input_line(line, self.world.tick))

    def apply_input(self, input_: Input) -> Input:
        """Apply an input that was parsed at the current tick."""
        if self.ended_by is not None:
            raise InputError(build_message("the drill has ended: {why}", why=self.ended_by.value))
        input_ = simulator.resolve_names(self.world, input_)
        if self.scenario.roles or input_.by or input_.verb in MESSAGE_HANDLERS:
            input_ = rights.assign_role(self.scenario.team, input_, self.calls, self.mode is DrillMode.LAB)
        self._check_allowed(input_)
        calls = self._update_calls(input_)
        untold: list[Event] = []
        try:
            simulator.apply_resolved_input(self.world, input_)
        except InputError:
            if not rewind.should_hide_refusal(self, input_):
                raise
            untold = [rewind.build_neutral_event(self.world, input_)]
        self.journal.append(input_)
        self.calls = calls
        if input_.by and input_.verb == "sql":
            self.windows[input_.args[0]] = input_.by
        self._record_events(untold, input_)
        events = simulator.advance_world(self.world, self.world.tick)
        self._record_events(rewind.hide_effects(events, input_) if self.is_truth_hidden else events, input_)
        if not is_read_only_input(input_):
            self._record_hash()
        if input_.verb == "rewind":
            self._apply_rewind(input_)
        if input_.verb == "finish":
            self._end_drill(DrillEndReason.ASKED)
        return input_

    def end_now(self) -> None:
        """End the drill now."""
        self.apply_line("finish")

    def build_report(self) -> Report:
        """Return the report of the run so far, in the form of `run --json`."""
        return report.build_report(self)

    # --- forks ----------------------------------------------------------------------------------------------

    def fork(self) -> Drill:
        """Return an independent drill with the same past."""
        twin = self.fork_shallow()
        attach_history(twin, self, measure_lengths(self))
        return twin

    # --- internal -------------------------------------------------------------------------------------------

    def _schedule_timeline(self) -> None:
        """Schedule the inputs of the timeline. An input with a condition waits until the condition is met."""
        chance = RandomStream.from_seed(self.seed ^ TIMELINE_STREAM_NUMBER)
        for number, inject in enumerate(self.scenario.timeline):
            share = chance.draw_uniform(*(inject.between or (0.0, 1.0)))
            if inject.when is not None:
                self._unfired[number] = inject
            else:
                self._queue_inject(number, inject, to_ticks(share if inject.at is None else inject.at))

    def _queue_inject(self, number: int, inject: Inject, tick: Tick) -> None:
        item = parse_input_line(inject.do.strip(), tick)
        if (
            item.verb == "sql"
        ):  # the event gets its own query window, so its batch does not count as the trainee's
            item = replace(
                item,
                args=(
                    f"{item.args[0].partition('#')[0]}#{condition_context.TIMELINE_WINDOW_SUFFIX}",
                    *item.args[1:],
                ),
            )
        heapq.heappush(self._waiting, (tick, number, item))

    def _check_allowed(self, input_: Input) -> None:
        """Raise InputError if the mode or the scenario does not allow the input now."""
        if input_.verb == "hint" and self.find_next_hint() is None:
            raise InputError(
                build_message("no hint is available")
                if self.permissions.hints
                else build_message("hints are not available in an exam")
            )
        if input_.verb == "answer":
            self._check_answer(*input_.args)
        if input_.verb == "rewind":
            if not self.permissions.rewind:
                raise InputError(build_message("an exam cannot be rewound"))
            rewind.parse_learned_facts(" ".join(input_.args[1:]), self.scenario)
        if input_.verb in ("sql", "cancel") and condition_context.is_timeline_window(input_.args[0]):
            raise InputError(
                build_message(
                    "the drill itself uses the window {window}; open another window", window=input_.args[0]
                )
            )
        if self.mode is DrillMode.LAB:
            return
        if input_.verb == "revert-all" and self.scenario.scored and not self.scenario.allow_revert_all:
            raise InputError(REVERT_ALL_REFUSAL)
        for lock in self.scenario.locked:
            if lock.until is not None and self.world.tick >= to_ticks(lock.until):
                continue
            if input_.verb == "revert-all" or modes.is_input_blocked(
                modes.parse_lock(lock.do, self.world), input_
            ):
                raise InputError(lock.why)

    def _check_answer(self, name: str, choice: str) -> None:
        answer = self.answers.get(name, InquiryState())
        if not answer.open:
            is_answer_due = answer.asked_tick is not None and answer.choice is not None
            raise InputError(
                build_message("question {name} is already answered", name=name)
                if is_answer_due
                else build_message("question {name} cannot be answered now", name=name)
            )
        count = len(self._find_inquiry(name).texts)
        if not choice.isdecimal() or len(choice) > 9 or not 1 <= int(choice) <= count:
            raise InputError(
                build_message(
                    "answer question {name} with a number from 1 to {most}, not {choice!r}",
                    name=name,
                    most=count,
                    choice=choice,
                )
            )

    def _apply_due_inputs(self) -> None:
        """Apply the inputs of the timeline that are due."""
        while self._waiting and self._waiting[0][0] <= self.world.tick and not self.finished:
            item = heapq.heappop(self._waiting)[2]
            if item.verb not in MESSAGE_HANDLERS:  # messages between roles are not hidden events
                self.story_ticks.append(self.world.tick)
            with suppress(InputError):  # a message of the timeline may not fit the team's calls so far
                self.calls = self._update_calls(item)
            self._record_events(simulator.advance_world(self.world, self.world.tick, [item]), item)

    def _update_calls(self, input_: Input) -> TeamCalls:
        """Return the calls between the roles after *input_*. Raises InputError for an invalid message."""
        if not input_.by:
            return self.calls
        names = collect_names(self.scenario)
        known_names = (*names.servers, *names.computers, *names.databases, *names.clients)
        return update_calls(self.calls, input_, known_names, self._is_status_true)

    def _is_status_true(self, text: str) -> bool:
        """Return whether a reported status is currently true. Raises InputError for an invalid status."""
        try:
            condition = conditions.parse_status(text, collect_names(self.scenario))
        except ConditionError as problem:
            raise InputError(str(problem)) from problem
        return condition.is_met(
            condition_context.ConditionContext(self.world, self._batches, self._operations)
        )

    def _attribute_to_role(self, event: Event, role_key: str) -> Event:
        """Return *event* with the team role that caused it."""
        team = self.scenario.team
        name = rights.find_role_name(team, role_key)
        if (call := get_data(event, TeamMessageData)) is not None:
            role_name = rights.find_role_name(team, call.to)
            spoken = build_message(MESSAGE_TEMPLATES[event.kind], role=name, other=role_name, text=event.text)
            return replace(event, text=spoken, data=replace(call, said=event.text))
        if event.kind not in ACTION_EVENT_KINDS:
            return event  # the event is a result of the action, not the action itself
        text = (
            event.text if event.kind == "sql" else build_message("{role}: {text}", role=name, text=event.text)
        )
        return replace(event, text=text, data=replace(event.data, by=role_key))

    def _record_events(self, events: Iterable[Event], input_: Input | None = None) -> None:
        """Record events. *input_*: the input that caused them; None if time caused them."""
        for event in events:
            done_data = get_data(event, SqlDoneData)
            if done_data is not None and (window := self.windows.get(done_data.window)):
                event = replace(event, data=replace(done_data, by=window))
            elif input_ is not None and input_.by:
                event = self._attribute_to_role(event, input_.by)
            match event.data:
                case HintData(layer=layer):
                    hint = self.find_next_hint()
                    assert hint is not None, "do has refused to open a hint that is not there"
                    event = self._open_hint(event.tick, hint, layer)
                case AnswerData() as answer_data:
                    event = self._record_answer(event, answer_data)
                case SqlDoneData() as batch:
                    if not (condition_context.is_timeline_window(batch.window) or batch.program):
                        self._batches.append(condition_context.summarize_batch(event, batch))
                case PowerShellData() as line:
                    self._batches.append(condition_context.summarize_prompt_line(event, line))
                case NoteData(what="operation done"):
                    self._operations.append(event)
            self.events.append(event)

    def _open_hint(self, tick: Tick, hint: Hint, layer: int) -> Event:
        is_open = any((o.goal, o.layer) == (hint.goal, layer) for o in self.hints)
        cost = hint.cost[layer - 1] if self.permissions.hints_cost and not is_open else 0.0
        self.hints.append(OpenedHint(tick, hint.goal, layer, cost))
        text = (hint.look, hint.means, hint.type)[layer - 1]
        return Event(tick, HintData(goal=hint.goal, layer=layer, cost=cost), text)

    def _record_answer(self, event: Event, answer_data: AnswerData) -> Event:
        name, choice = answer_data.question, int(answer_data.choice or 0)
        inquiry = self._find_inquiry(name)
        answer = self.answers[name] = questions.record_answer(
            self.answers[name], choice, event.tick, answer_data.sure_percent
        )
        text = build_message("answered: {choice}", choice=inquiry.texts[choice - 1])
        data = AnswerData(question=name, choice=choice)
        if answer.correct_choices and self.permissions.judges_immediately:
            text, data = questions.format_verdict(inquiry, answer), replace(data, right=answer.correct)
        return replace(event, text=text, data=data)

    def _apply_rewind(self, input_: Input) -> None:
        """Record a rewind, with the hints and answers that the trainee has learned in the discarded future."""
        tick = self.world.tick
        self.rewinds.append((to_ticks(float(input_.args[0])), tick))
        hints = {hint.goal: hint for hint in self.scenario.hints}
        for fact in rewind.parse_learned_facts(" ".join(input_.args[1:]), self.scenario):
            if fact.kind == "hint":
                self.events.append(self._open_hint(tick, hints[fact.name], fact.number))
            elif fact.kind == "missed":
                self.answers[fact.name] = questions.record_missed_answer(self.answers[fact.name], tick)
            else:
                self.answers[fact.name] = questions.record_answer(self.answers[fact.name], fact.number, tick)

    def _record_hash(self) -> None:
        self.hashes.append(StateHash(self.world.tick, len(self.journal), self.world.compute_state_hash()))

    def _emit_event(self, data: EventData, text: str) -> None:
        self.events.append(Event(self.world.tick, data, text))

    def _poll_all_conditions(self) -> None:
        for number, inject in list(self._unfired.items()):
            if inject.when is not None and self.is_condition_met(inject.when):
                del self._unfired[number]
                self._queue_inject(number, inject, self.world.tick + to_ticks(inject.after))
        for goal in self.scenario.goals:
            state, news = update_goal(
                goal, self.goals[goal.name], self.is_condition_met(goal.when), self.world.tick
            )
            self.goals[goal.name] = state
            if news is not None:
                self._emit_event(GoalData(goal=goal.name, news=news), format_goal_change(news, goal))
        self._record_first_met_ticks()
        if self.mode is DrillMode.LAB:
            return
        for inquiry in self.scenario.inquiries:
            self._poll_question(inquiry)
        if any(f.ends and f"forbidden:{f.name}" in self.first_held for f in self.scenario.forbidden):
            self._end_drill(DrillEndReason.FORBIDDEN)
        elif (
            self.goals
            and all(state.is_reached for state in self.goals.values())
            and not self._list_pending_kinds()
        ):
            self._end_drill(DrillEndReason.GOALS)
        elif self.end_tick is not None and self.world.tick >= self.end_tick:
            self._end_drill(DrillEndReason.TIME)

    def _get_sample_target(self) -> Samples | None:
        """Return the object that stores the flow counters of each sample."""
        return self.samples

    def _find_next_record_tick(self) -> Tick:
        """Return the next tick at which a hash is recorded or the sample interval grows.

        A single advance never goes beyond this tick.
        """
        samples, tick = self.samples, self.world.tick
        width = max(1, len(self.world.sources))
        sample_limit = min(SAMPLES_MAX, SAMPLED_ROWS_MAX / width)
        remaining_share = min(
            [share * sample_limit for interval, share in SAMPLE_INTERVALS if interval > samples.every],
            default=math.inf,
        )
        next_hash = (tick // HASH_INTERVAL_TICKS + 1) * HASH_INTERVAL_TICKS
        if remaining_share - samples.count > HASH_INTERVAL_TICKS / samples.every:
            return next_hash
        return min(next_hash, (tick // samples.every + 1) * samples.every)

    def _record_samples(self, start_tick: Tick) -> None:
        """Record a sample for each interval since *start_tick*, for the report and charts.

        The caller guarantees that nothing has changed before the current tick.
        """
        interval, now_tick = self.samples.every, self.world.tick
        for _ in range((now_tick - 1) // interval - start_tick // interval):
            self._record_sample()
        if now_tick % TICKS_PER_S == 0:
            self._update_sampled_state()
            if now_tick % interval == 0:
                self._record_sample()
                self._lengthen_sample_interval()
            self._compare_failovers()

    def _record_sample(self) -> None:
        assert self._standing is not None, "the first one is taken after a second"
        self.logs.append(self._log_of)
        self.standings.append(self._standing)

    def _update_sampled_state(self) -> None:
        """Update the log owners and server states for the next sample."""
        sampled_state, world = self._standing, self.world
        if (
            sampled_state is None
            or world.sources != sampled_state.sources
            or world.streams != sampled_state.streams
        ):
            self._log_of = {name: report.find_log_numbers(world, name) for name in world.availability}
            self._places = streams.map_stream_numbers(world)
            sampled_state = None
        if (
            sampled_state is None
            or world.instances != sampled_state.instances
            or world.computers != sampled_state.computers
        ):
            self._standing = SampledState(
                world.sources.copy(),
                world.streams.copy(),
                self._places,
                world.computers.copy(),
                world.instances.copy(),
            )

    def _lengthen_sample_interval(self) -> None:
        """Lengthen the sample interval if the run is long or has many databases. Earlier samples stay."""
        samples, width = self.samples, max(1, len(self.world.sources))
        for interval, share in SAMPLE_INTERVALS:
            if samples.count >= share * SAMPLES_MAX or samples.count * width >= share * SAMPLED_ROWS_MAX:
                samples.every = interval
                return

    def _poll_question(self, inquiry: Inquiry) -> None:
        name = inquiry.name
        answer, news = questions.poll_inquiry(
            inquiry, self.answers[name], self.is_condition_met, self.world.tick
        )
        self.answers[name] = answer
        if news == "asked":
            self._emit_event(
                QuestionData(
                    question=name,
                    choices=inquiry.texts,
                    pause=inquiry.pause,
                    prediction=questions.is_prediction(inquiry),
                    within_s=inquiry.within,
                ),
                inquiry.text,
            )
        elif news == "missed":
            self._emit_event(
                AnswerData(question=name, missed=True),
                build_message("question not answered in time: {question}", question=inquiry.text),
            )
        elif news == "judged" and self.permissions.judges_immediately:
            self._emit_event(
                AnswerData(question=name, right=answer.correct), questions.format_verdict(inquiry, answer)
            )

    def _record_first_met_ticks(self) -> None:
        for name, condition, premise, text in self._watched:
            if name in self.first_held or not self.is_condition_met(condition):
                continue
            counts = premise is None or self.is_condition_met(premise)
            self.first_held[name] = self.world.tick if counts else None
            if counts:
                self._emit_event(ScoreData(rule=name), text)

    def _compare_failovers(self) -> None:
        """Compare each new failover with the published table.

        This happens while the world is still in the state in which the failover began.
        """
        for index in range(self._compared, len(self.world.failovers)):
            published_time = published_comparison.find_published_time(self.world, self.world.failovers[index])
            if published_time is not None:
                self.published[index] = published_time
            else:
                self.unlike[index] = published_comparison.describe_differences(
                    self.world, self.world.failovers[index]
                )
        self._compared = len(self.world.failovers)

    def _end_drill(self, reason: DrillEndReason) -> None:
        self.ended_by = reason
        self._emit_event(
            NoteData(ended_by=reason.name.lower()),
            build_message("the drill has ended: {why}", why=reason.value),
        )
        self._emit_score()

    def _emit_score(self) -> None:
        for item in self.compute_score().items:
            text = build_message("{rule}: {points:g} of {max:g}. {why}",
                       rule=item.name, points=item.points, max=item.max, why=item.reason)  # fmt: skip
            self._emit_event(ScoreData(name=item.name, points=item.points, max=item.max), text)


def replay(
    scenario: Scenario, seed: int, mode: DrillMode | str, lines: Iterable[str], tick: Tick = 0
) -> Drill:
    """Replay the journal *lines* and return the drill at *tick*.

    Raises InputError if the journal belongs to another drill.
    """
    inputs, problems = parse_script("\n".join(lines))
    if problems:
        raise InputError(join_messages("; ", problems))
    drill = Drill(scenario, seed, mode)
    play_inputs(drill, inputs)
    drill.advance_to(tick)
    return drill


def play_inputs(
    drill: Drill, inputs: Iterable[Input], refused: Callable[[Input, InputError], None] | None = None
) -> None:
    """Apply *inputs* at their times.

    A refused input is passed to *refused*; if *refused* is None, InputError is raised.
    """
    for item in inputs:
        drill.advance_to(item.tick)
        try:
            drill.apply_line(item.line_without_time)
        except InputError as problem:
            if refused is None:
                raise
            refused(item, problem)
