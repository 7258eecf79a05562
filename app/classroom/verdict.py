"""Verdict on a seat's log. A replay of the run computes it, and it is the only source of scores, times and goals."""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from typing import Final

from app.classroom.log_entries import LogEntry, is_rewind
from app.classroom.messages.replies import LogVerdict
from app.files.guarded_player import SEAT_BUDGET, GuardedPlayer, RunBudget, UnplayableError, convert_errors
from app.words.localization import localize
from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.report import build_availability_json
from engine.drill.judging.report_types import ENDED_BY_INSTRUCTOR
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.inputs import InputError
from engine.verbs import VERBS

STUCK_AFTER_S: Final = 120.0
"""Simulated seconds without an action or a reached goal after which a seat counts as stuck. Assumed."""
FINISH_LINE: Final = "finish"
"""Input line that ends a run."""
FORBIDDEN_VERBS: Final = frozenset({"rewind"})
"""First words of input lines that a class refuses, because they reset the clock."""


FAILURES_MAX: Final = 3
"""Number of internal errors of a run after which the run is abandoned.

Assumed: each error costs another replay of the log.
"""


class LogReplay:
    """Replay of a seat's run. Log entries may arrive in several batches."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        mode: str,
        for_debrief: bool = False,
        budget: RunBudget = SEAT_BUDGET,
    ) -> None:
        """Create a replay.

        *for_debrief*: keep the data for a debrief. This doubles the duration and does not change the verdict.
        """
        self._kind = Drill if for_debrief else SearchDrill
        self._budget = budget
        self._player = GuardedPlayer(self._kind(scenario, seed, mode), budget)
        self.entry_count = 0
        self._applied_count = 0
        self._last_entry: LogEntry | None = None
        self._hash: str | None = None
        """Hash of the world after the last entry; None if it was not computed."""
        self._divergence: tuple[float, str] | None = None
        self._log: list[LogEntry] = []
        """Entries played so far, without rewound entries."""
        self._rewind_count = 0
        self._failures = 0
        self._instructor_inputs = 0
        self._last_instructor_entry: LogEntry | None = None
        self._unaided_player: GuardedPlayer | None = None
        """Copy of the run without the instructor's helpful inputs; None if there were none."""
        self._is_stopped = False
        """True if the run was abandoned. Later entries are then only counted."""

    @property
    def drill(self) -> Drill:
        """Return the replayed drill."""
        return self._player.drill

    def fork(self) -> LogReplay:
        """Return an independent copy of the replay in its current state."""
        twin = copy.copy(self)
        twin._player = GuardedPlayer(self.drill.fork(), self._budget, self._player.spent_s)
        twin._log = list(self._log)
        if self._unaided_player is not None:
            twin._unaided_player = GuardedPlayer(
                self._unaided_player.drill.fork(), self._budget, self._unaided_player.spent_s
            )
        return twin

    def play(self, entries: Iterable[LogEntry]) -> None:
        """Play *entries*, the next entries of the log.

        The first entry that the replay cannot reproduce is recorded as the divergence.
        """
        for _ in self.play_in_slices(entries):
            pass

    def play_in_slices(self, entries: Iterable[LogEntry]) -> Iterator[None]:
        """Play *entries* in slices. Yield after each slice, so that other runs can be played in between."""
        for act in entries:
            if is_rewind(act):
                yield from self._rewind(act.tick)
                act = act._replace(line="")
            self._log.append(act)
            if not self._is_stopped:
                try:
                    yield from self._play_unaided(act)
                    yield from self._play_entry(act)
                except UnplayableError as problem:
                    self._record_divergence(act, str(problem))
                    self._is_stopped = True
            self.entry_count = act.number

    def _play_entry(self, entry: LogEntry) -> Iterator[None]:
        """Play one entry. Raises UnplayableError if the run cannot continue."""
        self._hash = None
        yield from self._player.advance_in_slices(entry.tick)
        if self.drill.tick < entry.tick:
            self._record_divergence(entry, "the run was over before")
            return
        if entry.line:
            yield from self._apply_entry(entry)
            if not entry.instruction:
                self._applied_count += 1
                self._last_entry = entry
            elif is_instructor_input(entry):
                self._instructor_inputs += 1
                self._last_instructor_entry = entry
        with convert_errors():
            self._hash = self.drill.compute_state_hash() if entry.digest else None
        if entry.digest != (self._hash or ""):
            self._record_divergence(entry, "another state")

    def _play_unaided(self, entry: LogEntry) -> Iterator[None]:
        """Play *entry* in the copy of the run that omits the instructor's helpful inputs.

        If the copy cannot be played further, it reaches no more goals.
        """
        is_help = is_instructor_input(entry) and not is_exercise_input(entry.line)
        if is_help and self._unaided_player is None:
            self._unaided_player = GuardedPlayer(self.drill.fork(), self._budget, self._player.spent_s)
        if self._unaided_player is not None:
            with suppress(UnplayableError):
                yield from self._unaided_player.advance_in_slices(entry.tick)
                if entry.line and not is_help and not self._unaided_player.drill.finished:
                    with suppress(InputError):  # the input may be invalid without the instructor's help
                        self._unaided_player.apply(entry.line)

    def _find_instructor_goals(self) -> list[str]:
        if self._unaided_player is None:
            return []
        unaided = self._unaided_player.drill.goals
        return [
            name
            for name, state in self.drill.goals.items()
            if state.is_reached and not unaided[name].is_reached
        ]

    def _apply_entry(self, entry: LogEntry) -> Iterator[None]:
        try:
            words = entry.line.split(maxsplit=1)
            if not words:
                raise InputError("an empty line is not an input")
            if words[0].lower() in FORBIDDEN_VERBS:
                raise InputError("the class clock cannot be set back")
            self._player.apply(entry.line)
        except InputError as problem:
            if entry.instruction:  # the seat has refused this inject as well
                return
            self._record_divergence(entry, f"{get_first_line(entry.line)}: {localize(str(problem))}")
        except UnplayableError as problem:
            self._record_divergence(entry, f"{get_first_line(entry.line)}: {problem}")
            self._failures += 1
            if self._failures > FAILURES_MAX or self._player.is_budget_used_up:
                raise
            # the error may have left a partial change, so replay without this input
            self._log[-1] = entry._replace(line="", digest="")
            self._adopt_replay((yield from self._replay(self._log)))

    def _rewind(self, tick: int) -> Iterator[None]:
        """Rewind to the state before the inputs of *tick*. A recorded divergence is kept."""
        self._adopt_replay((yield from self._replay([act for act in self._log if act.tick < tick])))
        self._rewind_count += 1

    def _replay(self, log: Iterable[LogEntry]) -> Generator[None, None, LogReplay]:
        """Replay the entries of *log* in a new run.

        The new run gets the rest of the budget: processor time and number of errors.
        """
        before = LogReplay(
            self.drill.scenario, self.drill.seed, self.drill.mode, self._kind is Drill, self._budget
        )
        before._player.spent_s, before._failures = self._player.spent_s, self._failures
        yield from before.play_in_slices(log)
        return before

    def _adopt_replay(self, rerun: LogReplay) -> None:
        self._player, self._log, self._applied_count, self._last_entry = (
            rerun._player, rerun._log, rerun._applied_count, rerun._last_entry,
        )  # fmt: skip
        self._failures, self._is_stopped = rerun._failures, rerun._is_stopped
        self._unaided_player, self._instructor_inputs = rerun._unaided_player, rerun._instructor_inputs
        self._last_instructor_entry = rerun._last_instructor_entry

    def _record_divergence(self, entry: LogEntry, reason: str) -> None:
        if self._divergence is None:
            self._divergence = (entry.tick / TICKS_PER_S, reason)

    def build_verdict(self) -> LogVerdict:
        """Return the verdict on the run as far as it could be played."""
        try:
            with convert_errors():
                return self._build_verdict()
        except (UnplayableError, InputError) as problem:
            divergence = self._divergence or (self.drill.tick / TICKS_PER_S, str(problem))
            return build_failed_verdict(self.entry_count, *divergence, goals=self.drill.goals)

    def _build_verdict(self) -> LogVerdict:
        drill, last, instructor_entry = self.drill, self._last_entry, self._last_instructor_entry
        instructor_goals = self._find_instructor_goals()
        counts_all = not instructor_goals or drill.mode is not DrillMode.EXAM
        score = drill.compute_score() if counts_all else drill.compute_score_without(instructor_goals)
        goals = {name: _convert_to_seconds(state.met_tick) for name, state in drill.goals.items()}
        last_progress_tick = max(
            [last.tick if last else 0, *(state.met_tick or 0 for state in drill.goals.values())]
        )
        is_stuck = not drill.finished and drill.tick - last_progress_tick > STUCK_AFTER_S * TICKS_PER_S
        return LogVerdict(
            acts=self.entry_count,
            t_s=drill.world.t_s,
            done=self._applied_count,
            sent_back=self._rewind_count,
            last_act_t_s=_convert_to_seconds(last.tick if last else None),
            last_act=get_first_line(last.line) if last else "",
            instructor_act_t_s=_convert_to_seconds(instructor_entry.tick if instructor_entry else None),
            instructor_act=get_first_line(instructor_entry.line) if instructor_entry else "",
            stuck_since_s=_convert_to_seconds(last_progress_tick) if is_stuck else None,
            goals=goals,
            instructor_inputs=self._instructor_inputs,
            instructor_goals=instructor_goals,
            progress=_compute_progress(drill),
            score=score.total if score.scored else None,
            downtime_s=build_availability_json(drill.world)["downtime_s"],
            ended_by=ENDED_BY_INSTRUCTOR
            if drill.finished and any(entry.instruction and entry.line == FINISH_LINE for entry in self._log)
            else drill.ended_by.name.lower()
            if drill.ended_by
            else None,
            state_hash=self._hash or drill.compute_state_hash(),
            parted_t_s=self._divergence[0] if self._divergence else None,
            parted=self._divergence[1] if self._divergence else "",
        )


def build_failed_verdict(entry_count: int, t_s: float, reason: str, goals: Iterable[str] = ()) -> LogVerdict:
    """Return the verdict on a run that cannot be verified after *t_s*. None of *goals* counts as reached."""
    return LogVerdict(
        acts=entry_count,
        t_s=t_s,
        done=0,
        sent_back=0,
        last_act_t_s=None,
        last_act="",
        stuck_since_s=None,
        goals=dict.fromkeys(goals),
        instructor_inputs=0,
        instructor_goals=[],
        progress=None,
        score=None,
        downtime_s=0.0,
        ended_by=None,
        state_hash="",
        parted_t_s=t_s,
        parted=reason,
    )


def is_instructor_input(entry: LogEntry) -> bool:
    """Return True for an input that the instructor made at the seat, except the input that ends the run."""
    return bool(entry.line) and entry.instruction > 0 and not is_rewind(entry) and entry.line != FINISH_LINE


def is_exercise_input(line: str) -> bool:
    """Return True if *line* is a fault, a load or a remark. Such inputs do not help to reach goals."""
    verb = VERBS.get(line.split(maxsplit=1)[0].lower())
    return verb is not None and verb.group in ("fault", "load", "remark")


def get_first_line(text: str) -> str:
    """Return the first line of a text."""
    return next(iter(text.splitlines()), "")


def _convert_to_seconds(tick: int | None) -> float | None:
    return None if tick is None else tick / TICKS_PER_S


def _compute_progress(drill: Drill) -> float | None:
    goals = drill.scenario.goals
    if not goals:
        return None
    met_weight = arithmetic.add_in_order(goal.weight for goal in goals if drill.goals[goal.name].is_reached)
    return 100.0 * met_weight / arithmetic.add_in_order(goal.weight for goal in goals)


def judge_log(
    scenario: Scenario, seed: int, mode: str, entries: Iterable[LogEntry], budget: RunBudget = SEAT_BUDGET
) -> LogVerdict:
    """Replay a whole log and return the verdict on it."""
    run = LogReplay(scenario, seed, mode, budget=budget)
    run.play(entries)
    return run.build_verdict()
