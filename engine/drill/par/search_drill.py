"""Drill that keeps only the data for its score and its future, for the search, which plays thousands, and a class."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, Self

from engine.drill.authoring.conditions import NEVER
from engine.drill.authoring.schema import Scenario
from engine.drill.judging import score
from engine.drill.judging.score import TOTAL_MAX, Score
from engine.drill.par.incremental_hash import IncrementalHash
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.drill.running.state import Storage, attributes
from engine.events import Event
from engine.model import Tick, World
from engine.model.world import FieldUse, parts
from engine.overrides import override

GROWING: Final = attributes(Storage.SEARCHED)
"""Lists that a fork continues separately; the other records of the past stay empty here."""


class SearchDrill(Drill):
    """Drill without samples, hashes, charts, comparisons and a verdict event; its score is that of the full drill."""

    events: list[Event]  # type: ignore[assignment]  # a list is forked in no time, and written without a table

    def __init__(
        self, scenario: Scenario, seed: int | None = None, mode: DrillMode | str = DrillMode.PRACTICE
    ) -> None:
        self.marks = IncrementalHash()
        self._final: Score | None = None
        """Score of a finished drill."""
        super().__init__(scenario, seed, mode)
        self.events = list(self.events)

    @override
    def fork(self) -> Self:
        if self.world.flow.memory is None:
            self.world.flow.enable_run_cache()
        twin = self.fork_shallow()
        own = twin.__dict__
        for name in GROWING:
            own[name] = own[name].copy()
        twin._parts_asked, twin._asked_besides = self._parts_asked, self._asked_besides
        twin._settlings, twin._changed = self._settlings, self._changed
        return twin

    @override
    def score(self) -> Score:
        if not self.finished:
            return super().score()
        if self._final is None:
            self._final = super().score()
        return self._final

    def compute_upper_bound(self, threshold: float = TOTAL_MAX) -> float:
        """Return a limit that no continuation exceeds. The amount by which it exceeds *threshold* does not matter."""
        return (
            self.total() if self.finished else score.compute_upper_bound(self._build_scored_run(), threshold)
        )

    def _sample_target(self) -> None:
        """Skip the charts."""

    def _next_record(self) -> Tick:
        return NEVER

    def _record(self, start_tick: Tick) -> None:
        """Skip the report."""

    def _emit_score(self) -> None:
        """Emit nothing: callers ask for the score when they need it, and most runs need only the total."""

    def _note_hash(self) -> None:
        """Skip the hash, as nobody replays this run."""


def compute_transposition_key(drill: SearchDrill) -> bytes:
    """Return 16 bytes that are equal for states with the same future and the same score so far.

    Left out: texts, rows of monitors, the order numbers of timers. Needed: everything that the rules of the
    score look back at, which is every batch and action that the rubric examines.
    """
    world, marks = drill.world, drill.marks
    parts = {name: part for name, part in zip(MATTERS, PARTS_THAT_MATTER(world), strict=True) if part}
    parts |= {"goals": drill.goals, "answers": drill.answers, "faults": dict(enumerate(world.faults))}
    mark = marks.hash_parts("conduct", dict(enumerate(drill._batches)), _conduct)
    for name, part in parts.items():
        mark ^= marks.hash_parts(
            name, part, repr if name == "batches" else None
        )  # its `repr` omits displayed values
    rest = (world.tick, world.chance.state, drill.ended_by, drill.first_held, drill.hints, drill.story_ticks)
    digest = hashlib.blake2b(repr((rest, drill.calls, mark)).encode(), digest_size=16)
    digest.update(marks.hash_timers(world.timers))
    digest.update(world.flow.state_key())
    return digest.digest()


def _conduct(event: Event) -> tuple[Tick, str | None, object]:
    return event.tick, event.server, event.get("batch")


MATTERS: Final = parts(FieldUse.DECIDE)
"""Parts of a world that determine its future."""

PARTS_THAT_MATTER: Final[Callable[[World], tuple[Any, ...]]] = attrgetter(*MATTERS)
