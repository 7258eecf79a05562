"""Drill for searches, which stores only the data that its score and its future need.

A search plays thousands of such drills. This module also hashes their states and retries refused
actions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress, count
from operator import attrgetter, is_not
from typing import Final, Self, TypeVar

from msgspec import Struct
from msgspec.msgpack import Encoder

from engine.drill.authoring.condition_context import SentBatch
from engine.drill.authoring.conditions import UNREACHED_TICK
from engine.drill.authoring.schema import Scenario
from engine.drill.judging import score
from engine.drill.judging.counterfactual import REFUSAL_DELAY_S, was_batch_refused
from engine.drill.judging.score import SCORE_TOTAL_MAX, Score
from engine.drill.par.observability import find_next_whole_second, is_observable
from engine.drill.running import modes
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.drill.running.solution import find_default_end
from engine.drill.running.state import StorageRule, list_attributes_with_rule
from engine.events import Event
from engine.inputs import Input, InputError
from engine.model import Tick, Timer, World, to_ticks
from engine.model.world import FieldUse, PartKey, list_parts
from engine.overrides import override
from engine.verbs.input_lines import parse_input_line

EXTENDED_LISTS: Final = list_attributes_with_rule(StorageRule.SEARCHED)
"""Lists of a drill that are copied for each fork, because each fork extends its own list.

In a search, all other records of the past stay empty.
"""


class SearchDrill(Drill):
    """Drill without samples, hashes, charts, comparisons and score events.

    Its score equals that of the full drill.
    """

    events: list[Event]  # type: ignore[assignment] # a list is faster to fork and to extend than an EventLog

    def __init__(
        self, scenario: Scenario, seed: int | None = None, mode: DrillMode | str = DrillMode.PRACTICE
    ) -> None:
        self.incremental_hash = IncrementalHasher()
        self._final: Score | None = None
        """Score of a finished drill; None before."""
        super().__init__(scenario, seed, mode)
        self.events = list(self.events)

    @override
    def fork(self) -> Self:
        if self.world.flow.memory is None:
            self.world.flow.enable_run_cache()
        twin = self.fork_shallow()
        fields = twin.__dict__
        for name in EXTENDED_LISTS:
            fields[name] = fields[name].copy()
        twin._parts_asked, twin._asked_besides = self._parts_asked, self._asked_besides
        twin._settlings, twin._changed = self._settlings, self._changed
        return twin

    @override
    def compute_score(self) -> Score:
        if not self.finished:
            return super().compute_score()
        if self._final is None:
            self._final = super().compute_score()
        return self._final

    def compute_upper_bound(self, threshold: float = SCORE_TOTAL_MAX) -> float:
        """Return an upper bound of the scores of all continuations.

        If the bound is above *threshold*, any value from *threshold* to the bound may be returned.
        """
        return (
            self.compute_total()
            if self.finished
            else score.compute_upper_bound(self._build_scored_run(), threshold)
        )

    def _get_sample_target(self) -> None:
        """Return None, so that no samples are stored."""

    def _find_next_record_tick(self) -> Tick:
        return UNREACHED_TICK

    def _record_samples(self, start_tick: Tick) -> None:
        """Record nothing for the report."""

    def _emit_score(self) -> None:
        """Emit no event. Most runs need only the total score, and only when the caller requests it."""

    def _record_hash(self) -> None:
        """Record no hash, because this run is never replayed."""


def compute_transposition_key(drill: SearchDrill) -> bytes:
    """Return 16 bytes that are equal for states with the same future and the same score so far.

    The key omits texts, rows of monitors and the serial numbers of timers. It includes everything in the past
    that the rules of the score examine: every batch and every action in the rubric.
    """
    world, marks = drill.world, drill.incremental_hash
    parts = {
        name: part
        for name, part in zip(DECIDING_WORLD_PARTS, GET_DECIDING_WORLD_PARTS(world), strict=True)
        if part
    }
    mark = marks.hash_parts("conduct", dict(enumerate(drill._batches)), _summarize_batch)
    mark ^= marks.hash_parts("goals", drill.goals) ^ marks.hash_parts("answers", drill.answers)
    mark ^= marks.hash_parts("faults", dict(enumerate(world.faults)))
    for name, part in parts.items():
        # the `repr` of a batch omits values that are only displayed
        mark ^= marks.hash_parts(name, part, repr if name == "batches" else None)
    other_state = (
        world.tick,
        world.chance.state,
        drill.ended_by,
        drill.first_held,
        drill.hints,
        drill.story_ticks,
    )
    digest = hashlib.blake2b(repr((other_state, drill.calls, mark)).encode(), digest_size=16)
    digest.update(encode_timers(world.timers))
    digest.update(world.flow.get_state_key())
    return digest.digest()


def encode_timers(timers: Iterable[Timer]) -> bytes:
    """Encode *timers* in the order in which they are due, without their serial numbers."""
    return repr([(tick, name, args) for tick, _, name, args in sorted(timers)]).encode()


def _summarize_batch(batch: SentBatch) -> tuple[Tick, str | None, str]:
    """Return (tick, server, text) of a batch."""
    return batch.tick, batch.server, batch.text


DECIDING_WORLD_PARTS: Final = list_parts(FieldUse.DECIDE)
"""Parts of a world that determine its future."""

GET_DECIDING_WORLD_PARTS: Final[Callable[[World], tuple[Mapping[object, object], ...]]] = attrgetter(
    *DECIDING_WORLD_PARTS
)
"""Function that returns the parts of a world that determine its future."""


# --- incremental hashes of dictionaries of frozen parts ---------------------------------------------------
# Only parts that have changed since the last call are hashed again.

HASH_BYTES: Final = 16
"""Length of a hash in bytes. It is long enough to exclude accidental collisions in a search."""


class HashedPart(Struct):
    """Value of a dictionary with its hash.

    The reference to the value ensures that no other object gets the same address.
    """

    value: object
    part_hash: int
    """Hash of the part."""


NO_PART: Final = HashedPart(object(), 0)
"""Placeholder that is identical to no part."""


class HashedDict(Struct):
    """State of a dictionary when it was last hashed: keys, values and hashed parts, in order."""

    keys: Sequence[object]
    values: list[object]
    parts: list[HashedPart]
    previous_parts: list[HashedPart]
    """Parts before their last change. Forks of the same run often return to them."""
    hash_value: int
    """Hash of the whole dictionary."""


_encode: Final = Encoder(order="deterministic", enc_hook=repr).encode


def encode_part(part: object) -> bytes:
    """Encode a part of the state as bytes. Different parts of the same class have different bytes."""
    try:
        return _encode(part)
    except (
        OverflowError,
        UnicodeEncodeError,
    ):  # the encoder rejects a SID (more than 64 bits) and a name with a lone surrogate
        return repr(part).encode()


Part = TypeVar("Part")


class IncrementalHasher:
    """Hasher of named dictionaries, which hashes only values that were replaced since the last call.

    Several runs may share one hasher.
    """

    def __init__(self) -> None:
        self._hashed_dicts: dict[str, HashedDict] = {}

    def __reduce__(self) -> tuple[type[IncrementalHasher], tuple[()]]:
        """Pickle an empty object, because a stored run does not need hashes."""
        return IncrementalHasher, ()

    def hash_parts(
        self, name: str, parts: Mapping[PartKey, Part], get_content: Callable[[Part], object] | None = None
    ) -> int:
        """Return the hash of *parts*, which does not depend on their order.

        *name*: name of the dictionary *parts*; its hashes are kept under this name. *get_content*: function
        that returns the content of a part to hash; None to hash the part itself.
        """
        if not parts:
            return 0

        def hash_part(key: object, value: Part) -> HashedPart:
            part_key = f"{name} {key!r} ".encode()
            mark = _compute_digest(
                part_key + encode_part(value if get_content is None else get_content(value))
            )
            return HashedPart(value, int.from_bytes(mark, "big"))

        keys, values = list(parts), list(parts.values())
        hashed = self._hashed_dicts.get(name)
        if hashed is None or hashed.keys != keys:
            hashed = self._hashed_dicts[name] = self._rebuild(hashed, keys, values, hash_part)
            return hashed.hash_value
        for index in compress(count(), map(is_not, values, hashed.values)):
            value, hashed_part, before = values[index], hashed.parts[index], hashed.previous_parts[index]
            new_hashed_part = before if before.value is value else hash_part(keys[index], value)
            hashed.values[index], hashed.parts[index], hashed.previous_parts[index] = (
                value,
                new_hashed_part,
                hashed_part,
            )
            hashed.hash_value ^= hashed_part.part_hash ^ new_hashed_part.part_hash
        return hashed.hash_value

    def _rebuild(
        self,
        previous: HashedDict | None,
        keys: list[PartKey],
        values: list[Part],
        hash_part: Callable[[object, Part], HashedPart],
    ) -> HashedDict:
        """Hash a dictionary whose keys have changed, reusing the hashes of unchanged parts."""
        known_parts = dict(zip(previous.keys, previous.parts, strict=True)) if previous is not None else {}
        parts, mark = [], 0
        for key, value in zip(keys, values, strict=True):
            part = known_parts.get(key, NO_PART)
            parts.append(part if part.value is value else hash_part(key, value))
            mark ^= parts[-1].part_hash
        return HashedDict(keys, list(values), parts, [NO_PART] * len(keys), mark)


def _compute_digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=HASH_BYTES).digest()


# --- actions that are retried until they are accepted, as a person repeats a refused command --------------

RETRY_ATTEMPTS_MAX: Final = 8
"""Maximum number of attempts for a refused action. A new observation precedes each retry. Assumed."""


def is_accepted(drill: SearchDrill, line: str) -> bool:
    """Return whether *line* can be applied now and no server would refuse it."""
    trial = drill.fork()
    try:
        item = trial.apply_line(line)
    except InputError:
        return False
    trial.advance_to(trial.tick + to_ticks(REFUSAL_DELAY_S))
    return item.verb != "sql" or not was_batch_refused(trial, item)


def find_unlock_tick(drill: SearchDrill, input_: Input) -> Tick:
    """Return the tick from which no timed lock blocks *input_*; 0 if no timed lock applies to it.

    A timed lock opens at a fixed time. Locks that never open do not count.
    """
    covering = (
        lock
        for lock in drill.scenario.locked
        if modes.is_input_blocked(modes.parse_lock(lock.do, drill.world), input_)
    )
    return max((to_ticks(lock.until) for lock in covering if lock.until is not None), default=0)


class RetryingRun(Struct, frozen=True):
    """Run in which a refused action is retried until it is accepted, at most RETRY_ATTEMPTS_MAX times."""

    drill: SearchDrill

    def advance_to(self, tick: Tick) -> list[Event]:
        """Advance to *tick* and return the events."""
        return self.drill.advance_to(tick)

    def apply_line(self, line: str) -> Input:
        """Apply a line. If it is refused, wait and retry it."""
        for _ in range(RETRY_ATTEMPTS_MAX):
            if self.drill.finished or is_accepted(self.drill, line):
                break
            self._wait_for_unlock(line)
        return self.drill.apply_line(line)

    def _wait_for_unlock(self, line: str) -> None:
        """Wait until no timed lock blocks *line*; if none blocks it now, wait for the next observation."""
        drill = self.drill
        unlock_tick = find_unlock_tick(drill, parse_input_line(line, drill.tick))
        if drill.tick < unlock_tick:
            drill.advance_to(unlock_tick)
        else:
            self.wait_for_observation()

    def wait_for_observation(self) -> None:
        """Advance to the first whole second after the next observation, at most to the end of the run."""
        drill = self.drill
        first, end = len(drill.events), find_default_end(drill, drill.tick)
        while drill.tick < end and not drill.finished and not any(map(is_observable, drill.events[first:])):
            drill.advance_to(end, to_event=True)
        drill.advance_to(min(end, find_next_whole_second(drill.tick)))
