"""Incremental state hashes, compared with hashes that are computed from scratch."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from engine.drill.judging.automatic_players import list_candidate_lines
from engine.drill.par.search_drill import (
    DECIDING_WORLD_PARTS,
    IncrementalHasher,
    SearchDrill,
    compute_transposition_key,
    encode_part,
    encode_timers,
)
from engine.inputs import InputError
from engine.model import Job, Login, TimerName, to_ticks
from engine.model.world import Timer
from engine.random_streams import RandomStream
from tests.engine.drill import texts

JOB = Job(name="a", every_s=1.0)
OTHER_JOB = replace(JOB, every_s=2.0)


def test_a_hash_depends_only_on_the_current_parts() -> None:
    used, marks = IncrementalHasher(), {}
    states: list[dict[str, object]] = [
        {"a": JOB, "b": 1}, {"b": 1, "a": JOB}, {"a": JOB, "b": 1.0}, {"a": OTHER_JOB, "b": 1}, {"a": JOB, "b": 1},
        {"a": OTHER_JOB, "b": 1}, {"a": JOB}, {}, {"a": OTHER_JOB, "c": 1}, {"c": JOB, "a": 1}, {"a": 1, "b": JOB},
    ]  # fmt: skip
    for state in states:
        mark = used.hash_parts("x", state)
        assert mark == IncrementalHasher().hash_parts("x", state), state
        marks[repr(sorted(state.items()))] = mark
    assert len(set(marks.values())) == len(marks) == 8
    assert IncrementalHasher().hash_parts("y", {"a": JOB}) != IncrementalHasher().hash_parts("x", {"a": JOB})


def test_irrelevant_fields_are_not_hashed() -> None:
    assert IncrementalHasher().hash_parts(
        "x", {1: JOB}, lambda job: job.name
    ) == IncrementalHasher().hash_parts("x", {1: OTHER_JOB}, lambda job: job.name)


def test_sids_and_surrogate_halves_are_hashed() -> None:
    logins = [
        Login(name=name, sid=sid) for sid in (1, 2**100, 2**100 + 1) for name in ("a", "\ud800", "\ud801")
    ]
    assert len({encode_part(login) for login in logins}) == len(logins)


def test_timers_are_distinguished_by_order_not_number() -> None:
    def build_timer(order: int, name: TimerName) -> Timer:
        return (5, order, name, (1,))

    first_timer, second_timer = build_timer(1, "client.try"), build_timer(2, "client.cut")
    assert encode_timers([second_timer, first_timer]) == encode_timers(
        [first_timer, build_timer(7, "client.cut")]
    )
    assert encode_timers([first_timer, second_timer]) != encode_timers(
        [build_timer(3, "client.try"), second_timer]
    )


def test_incremental_and_full_hashes_agree() -> None:
    small = texts.change_small_text()
    read: dict[str, bytes] = {}
    chance, lines = (
        RandomStream.from_seed(7),
        [line for line in list_candidate_lines(small) if not line.startswith("revert")],
    )
    run = SearchDrill(small, small.seed)
    for _ in range(12):
        run.advance_to(run.tick + to_ticks(chance.draw_uniform(0.1, 20.0)))
        twin = run.fork()
        for drill in (twin, run):
            with suppress(InputError):
                drill.apply_line(lines[chance.draw_integer(0, len(lines) - 1)])
            fork = drill.fork()
            fork.incremental_hash = IncrementalHasher()
            assert compute_transposition_key(drill) == compute_transposition_key(fork)
            for name in DECIDING_WORLD_PARTS:
                for part in getattr(drill.world, name).values():
                    assert read.setdefault(repr(part), encode_part(part)) == encode_part(part)
    assert len(set(read.values())) == len(read) > 50
