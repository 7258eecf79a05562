"""Marks that go from one state to the next are those that a state gets when it is marked for the first time."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from engine.chance import Chance
from engine.drill.judging.agents import acts
from engine.drill.par.lean import MATTERS, Lean, what_matters
from engine.drill.par.marks import Marks, written
from engine.inputs import InputProblem
from engine.model import Job, Login, ticks
from tests.engine.drill import texts

JOB = Job(name="a", every_s=1.0)
OTHER = replace(JOB, every_s=2.0)


def test_a_mark_is_that_of_its_parts_whatever_was_marked_before() -> None:
    used, found = Marks(), {}
    states: list[dict[str, object]] = [
        {"a": JOB, "b": 1}, {"b": 1, "a": JOB}, {"a": JOB, "b": 1.0}, {"a": OTHER, "b": 1}, {"a": JOB, "b": 1},
        {"a": OTHER, "b": 1}, {"a": JOB}, {}, {"a": OTHER, "c": 1}, {"c": JOB, "a": 1}, {"a": 1, "b": JOB},
    ]  # fmt: skip
    for state in states:
        mark = used.of("x", state)
        assert mark == Marks().of("x", state), state
        found[repr(sorted(state.items()))] = mark
    assert len(set(found.values())) == len(found) == 8
    assert Marks().of("y", {"a": JOB}) != Marks().of("x", {"a": JOB})


def test_what_does_not_matter_of_a_part_is_not_marked() -> None:
    assert Marks().of("x", {1: JOB}, lambda job: job.name) == Marks().of(
        "x", {1: OTHER}, lambda job: job.name
    )


def test_sids_and_halves_of_characters_are_marked_too() -> None:
    logins = [
        Login(name=name, sid=sid) for sid in (1, 2**100, 2**100 + 1) for name in ("a", "\ud800", "\ud801")
    ]
    assert len({written(login) for login in logins}) == len(logins)


def test_timers_are_told_apart_by_their_order_and_not_by_its_numbers() -> None:
    one, other, marks = (5, 1, "a", (1,)), (5, 2, "b", (1,)), Marks()
    assert marks.in_order([other, one]) == marks.in_order([one, (5, 7, "b", (1,))])
    assert marks.in_order([one, other]) != marks.in_order([(5, 3, "a", (1,)), (5, 2, "b", (1,))])


def test_a_run_that_was_marked_all_along_and_one_that_never_was_agree() -> None:
    small = texts.small()
    read: dict[str, bytes] = {}
    chance, lines = Chance.from_seed(7), [line for line in acts(small) if not line.startswith("revert")]
    run = Lean(small, small.seed)
    for _ in range(12):
        run.advance_to(run.tick + ticks(chance.uniform(0.1, 20.0)))
        twin = run.fork()
        for drill in (twin, run):
            with suppress(InputProblem):
                drill.do(lines[chance.integer(0, len(lines) - 1)])
            fresh = drill.fork()
            fresh.marks = Marks()
            assert what_matters(drill) == what_matters(fresh)
            for name in MATTERS:
                for part in getattr(drill.world, name).values():
                    assert read.setdefault(repr(part), written(part)) == written(part)
    assert len(set(read.values())) == len(read) > 50
