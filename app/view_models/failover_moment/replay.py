"""Replay of a finished phase, or of the whole failover, from the history of the run. No Qt."""

from typing import Final

from msgspec.structs import replace

from app.view_models.failover_moment import failover_view
from app.view_models.failover_moment.failover_view import build_failover_view
from app.view_models.failover_moment.stage_facts import StageFacts, capture_facts
from app.view_models.failover_moment.view import StageView, build_stage_view
from engine.drill.running.published_comparison import MIRRORING
from engine.drill.time.history import History
from engine.model import Tick

KEY_FRAME_KINDS: Final = {
    "detected", "client", "role", "state", "replica", "cluster", "availability", "service", "failover",
}  # fmt: skip
"""Kinds of events that change the stage. Each such event is a key frame."""
REDO_FRAME_COUNT: Final = 10
"""Number of key frames while the redo queue drains."""


class FailoverReplay:
    """Replay of one failover of a run. The simulated state at each key frame is restored only once."""

    def __init__(self, history: History, number: int) -> None:
        self._history, drill = history, history.drill
        self.failover_view = build_failover_view(drill, number)
        first_failed_tick = self.failover_view.failover.failed_tick
        last = self.failover_view.end_tick if self.failover_view.end_tick is not None else drill.tick
        self._last = last
        ticks = {
            e.tick for e in drill.events if first_failed_tick <= e.tick <= last and e.kind in KEY_FRAME_KINDS
        } | {
            first_failed_tick,
            last,
        }
        for phase in self.failover_view.phases:
            if (
                phase.kind.end_milestone == "redo_done"
                and phase.start_tick is not None
                and phase.end_tick is not None
            ):
                length = phase.end_tick - phase.start_tick
                ticks |= {phase.start_tick + length * n // REDO_FRAME_COUNT for n in range(REDO_FRAME_COUNT)}
        self._ticks = sorted(ticks)
        self._frames: dict[Tick, StageFacts] = {}
        self._before_kb = self._get_facts(first_failed_tick).redo_kb or 0.0
        self._voters = self._get_facts(first_failed_tick).votes

    @property
    def begun_phase_count(self) -> int:
        """Number of phases that have begun."""
        return sum(
            phase.start_tick is not None and phase.start_tick <= self._last
            for phase in self.failover_view.phases
        )

    @property
    def length_s(self) -> float:
        """Return the duration of the replay in seconds of wall time."""
        return failover_view.compute_replay_length_s(self.failover_view)

    def find_phase(self, wall_s: float) -> int:
        """Return the index of the phase that the replay shows after *wall_s* seconds."""
        return failover_view.find_replay_tick(self.failover_view, wall_s)[0]

    def build_view_at(self, wall_s: float) -> StageView:
        """Return the view of the stage after *wall_s* seconds of the replay."""
        number, tick = failover_view.find_replay_tick(self.failover_view, wall_s)
        return self._build_view(number, tick)

    def build_phase_view(self, number: int) -> StageView:
        """Return the view of the stage at the end of phase *number*."""
        end = self.failover_view.phases[number].end_tick
        return self._build_view(number, self._last if end is None else end)

    def _build_view(self, number: int, tick: Tick) -> StageView:
        phase = self.failover_view.phases[number]
        # At two milestones, the cards already show the new state: when the copy is online, and when mirroring
        # has detected the loss of the partner.
        end_milestone = phase.kind.end_milestone
        is_shown = end_milestone == "online" or (
            end_milestone == "detected" and self.failover_view.technology == MIRRORING
        )
        ends_now = phase.end_tick is not None and tick >= phase.end_tick and not is_shown
        ends_now = ends_now and number < len(self.failover_view.phases) - 1
        inner_tick = max(phase.start_tick or 0, tick - 1) if ends_now else tick
        facts = self._get_facts(inner_tick).replace_voters(self._voters)
        return build_stage_view(
            self.failover_view,
            replace(facts, redo_kb=self._interpolate_redo_queue(tick)),
            tick,
            self._before_kb,
            number,
        )

    def _get_facts(self, tick: Tick) -> StageFacts:
        """Return the facts of the latest key frame at or before *tick*."""
        frame = max((t for t in self._ticks if t <= tick), default=self._ticks[0])
        if frame not in self._frames:
            world = self._history.seek(frame).world
            self._frames[frame] = capture_facts(
                world, self.failover_view.failover, self.failover_view.technology
            )
        return self._frames[frame]

    def _interpolate_redo_queue(self, tick: Tick) -> float | None:
        """Return the redo queue at *tick* by linear interpolation between two key frames."""
        facts = self._get_facts(tick)
        next_tick = min((t for t in self._ticks if t > tick), default=None)
        if facts.redo_kb is None or next_tick is None:
            return facts.redo_kb
        redo_kb = self._get_facts(next_tick).redo_kb
        share = (tick - facts.tick) / max(1, next_tick - facts.tick)
        return facts.redo_kb if redo_kb is None else facts.redo_kb + (redo_kb - facts.redo_kb) * share
