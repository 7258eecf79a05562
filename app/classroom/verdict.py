"""What a seat's log comes to when its run is played again: the only source of a score, a time or a goal."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Final

from app.classroom.acts import Act, goes_back
from app.classroom.shapes import Verdict
from app.words.sentences import said
from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.report import availability_json
from engine.drill.par.lean import Lean
from engine.drill.running.drill import Drill
from engine.inputs import InputProblem

STUCK_S: Final = 120.0
"""Simulated seconds without an act and without a goal reached after which a seat counts as stuck. Assumed."""
NOT_IN_A_CLASS: Final = frozenset({"rewind"})
"""Verbs that would shorten a log."""


class Rerun:
    """A seat's run, played again act by act; acts may come in any portions."""

    def __init__(self, scenario: Scenario, seed: int, mode: str, whole: bool = False) -> None:
        """*whole*: with what a debrief needs, which takes twice as long; the verdict is the same."""
        self._kind = Drill if whole else Lean
        self.drill = self._kind(scenario, seed, mode)
        self.acts = 0
        self._done = 0
        self._last: Act | None = None
        self._hash: str | None = None
        """Of the state after the last act, where that had to be computed."""
        self._parted: tuple[float, str] | None = None
        self._log: list[Act] = []
        """The acts that it has behind it."""
        self._sent_back = 0

    def fork(self) -> Rerun:
        """An independent run with the same past."""
        twin = copy.copy(self)
        twin.drill, twin._log = self.drill.fork(), list(self._log)
        return twin

    def play(self, acts: Iterable[Act]) -> None:
        """Go on with *acts*, those after the ones that were played."""
        for act in acts:
            self._play(act)
            self.acts = act.number

    def _play(self, act: Act) -> None:
        if goes_back(act):
            self._go_back(act.tick)
            act = act._replace(line="")
        drill, self._hash = self.drill, None
        self._log.append(act)
        drill.advance_to(act.tick)
        if drill.tick < act.tick:
            self._part(act, "the run was over before")
            return
        if act.line:
            try:
                if act.line.split(maxsplit=1)[0].lower() in NOT_IN_A_CLASS:
                    raise InputProblem("a class cannot go back in time")
                drill.do(act.line)
            except InputProblem as problem:
                self._part(act, f"{act.line.splitlines()[0]}: {said(str(problem))}")
            if not act.instruction:
                self._done += 1
                self._last = act
        self._hash = drill.state_hash() if act.digest else None
        if act.digest != (self._hash or ""):
            self._part(act, "another state")

    def _go_back(self, tick: int) -> None:
        """As it was at *tick*, before anything that was done then; what has parted once has parted."""
        before = Rerun(self.drill.scenario, self.drill.seed, self.drill.mode, self._kind is Drill)
        before.play(act for act in self._log if act.tick < tick)
        self.drill, self._log, self._done, self._last = before.drill, before._log, before._done, before._last
        self._sent_back += 1

    def _part(self, act: Act, why: str) -> None:
        if self._parted is None:
            self._parted = (act.tick / TICKS_PER_S, why)

    def verdict(self) -> Verdict:
        drill, last = self.drill, self._last
        score = drill.score()
        goals = {name: _s(state.met_tick) for name, state in drill.goals.items()}
        moved = max([last.tick if last else 0, *(state.met_tick or 0 for state in drill.goals.values())])
        still = not drill.finished and drill.tick - moved > STUCK_S * TICKS_PER_S
        return Verdict(
            acts=self.acts,
            t_s=drill.world.t_s,
            done=self._done,
            sent_back=self._sent_back,
            last_act_t_s=_s(last.tick if last else None),
            last_act=last.line.splitlines()[0] if last else "",
            stuck_since_s=_s(moved) if still else None,
            goals=goals,
            progress=_progress(drill),
            score=score.total if score.scored else None,
            downtime_s=availability_json(drill.world)["downtime_s"],
            ended_by=drill.ended_by.name.lower() if drill.ended_by else None,
            state_hash=self._hash or drill.state_hash(),
            parted_t_s=self._parted[0] if self._parted else None,
            parted=self._parted[1] if self._parted else "",
        )


def _s(tick: int | None) -> float | None:
    return None if tick is None else tick / TICKS_PER_S


def _progress(drill: Drill) -> float | None:
    goals = drill.scenario.goals
    if not goals:
        return None
    met = arithmetic.total(goal.weight for goal in goals if drill.goals[goal.name].met)
    return 100.0 * met / arithmetic.total(goal.weight for goal in goals)


def verdict(scenario: Scenario, seed: int, mode: str, acts: Iterable[Act]) -> Verdict:
    """The whole log at once."""
    run = Rerun(scenario, seed, mode)
    run.play(acts)
    return run.verdict()
