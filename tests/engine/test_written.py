"""Cache of `repr()`: it returns the same text as a new call."""

from __future__ import annotations

import pickle

from msgspec.structs import replace

from engine.model import Job
from engine.model.world import JOINED_TEXTS, ReprCache
from tests.engine.drill.texts import advance_drill, build_drill
from tests.room import measure_memory_bytes

JOB = Job(name="a", every_s=1.0)


def test_cached_items_have_the_repr_of_a_sorted_list_after_any_change() -> None:
    repr_cache = ReprCache()
    for parts in ({"b": JOB, "a": 1}, {"b": JOB, "a": 1.0}, {"b": replace(JOB, every_s=2.0)}, {}):
        assert b"".join(repr_cache.iterate_items("x", parts)).decode() == repr(sorted(parts.items()))
        assert b"".join(repr_cache.iterate_items("y", {"b": 0})) == b"[('b', 0)]"


def test_cached_values_have_the_repr_of_their_list() -> None:
    repr_cache = ReprCache()
    for parts in ([JOB, 1], [JOB, True], [1, JOB], list(range(2 * JOINED_TEXTS + 1)), [0] * JOINED_TEXTS, []):
        assert b"".join(repr_cache.iterate_values("x", parts)).decode() == repr(parts)


def test_the_repr_of_an_unchanged_part_is_not_computed_again() -> None:
    class Counted:
        said = 0

        def __repr__(self) -> str:
            self.said += 1
            return "it"

    part, repr_cache = Counted(), ReprCache()
    for _ in range(3):
        assert b"".join(repr_cache.iterate_values("x", [part])) == b"[it]"
    assert part.said == 1


def test_a_hash_distinguishes_cached_and_changed_parts() -> None:
    """A world that is hashed at every step has the same hash as its copy that was never hashed before."""
    base_drill = advance_drill(build_drill(), 40)
    base_drill.apply_line("power-off SERVER_B")
    for end_s in (41, 55, 70):
        advance_drill(base_drill, end_s)
        fork = base_drill.world.fork()
        fork.written = ReprCache()
        assert base_drill.compute_state_hash() == fork.compute_state_hash()
        key = min(fork.copies)
        fork.copies[key] = replace(fork.copies[key], size_kb=1.0)
        assert base_drill.compute_state_hash() != fork.compute_state_hash()
    empty = measure_memory_bytes([ReprCache()])
    assert measure_memory_bytes([base_drill.world.written]) > empty + 1_000
    assert measure_memory_bytes([pickle.loads(pickle.dumps(base_drill.world.written))]) == empty
