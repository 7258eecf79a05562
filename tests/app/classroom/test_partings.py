"""Tests of divergences: the points where seats made different choices, and their cost."""

from __future__ import annotations

from hypothesis import given, strategies

from app.classroom.divergences import SAME_CHOICE_WINDOW_TICKS, SeatAction, SeatHistory, find_divergences


def build_history(seat: int, score: float, *actions: tuple[int, str]) -> SeatHistory:
    return SeatHistory(seat, tuple(SeatAction(tick, text, text) for tick, text in actions), score)


def test_equal_actions_are_no_divergence() -> None:
    assert (
        find_divergences(
            [build_history(1, 90, (100, "a")), build_history(2, 80, (100 + SAME_CHOICE_WINDOW_TICKS, "a"))]
        )
        == []
    )
    assert find_divergences([build_history(1, 90), build_history(2, 80)]) == []
    assert find_divergences([]) == []


def test_divergences_separate_waiting_forcing_and_removing() -> None:
    forced = [build_history(n, 20, (500, "look"), (1000 + n, "force")) for n in range(9)]
    removed = [build_history(n, 70, (500, "look"), (1200 + n, "remove")) for n in range(10, 17)]
    waited = [
        build_history(n, 90, (500, "look"), (1000 + SAME_CHOICE_WINDOW_TICKS + 500, "back"))
        for n in range(20, 32)
    ]
    (divergence,) = find_divergences([*forced, *removed, *waited])
    assert divergence.tick == 1000
    assert [(choice.text, len(choice.seats), choice.mean_score) for choice in divergence.choices] == [
        ("", 12, 90), ("remove", 7, 70), ("force", 9, 20),
    ]  # fmt: skip
    assert divergence.cost == 7 * 20 + 9 * 70


def test_seats_that_waited_diverge_later() -> None:
    early_course = build_history(1, 0, (100, "force"))
    late_courses = [
        build_history(2, 90, (100 + 2 * SAME_CHOICE_WINDOW_TICKS, "resume")),
        build_history(3, 50, (100 + 2 * SAME_CHOICE_WINDOW_TICKS, "off")),
    ]
    divergences = find_divergences([early_course, *late_courses])
    assert [divergence.tick for divergence in divergences] == [100, 100 + 2 * SAME_CHOICE_WINDOW_TICKS]
    assert [divergence.cost for divergence in divergences] == [70, 40]


ACTION_LISTS = strategies.lists(
    strategies.tuples(strategies.integers(0, 50_000), strategies.sampled_from("abc")), max_size=4
).map(sorted)


@given(strategies.lists(strategies.tuples(ACTION_LISTS, strategies.floats(0, 100)), max_size=8))
def test_every_divergence_names_each_of_its_seats_once(
    runs: list[tuple[list[tuple[int, str]], float]],
) -> None:
    courses = [build_history(seat, score, *deeds) for seat, (deeds, score) in enumerate(runs)]
    for divergence in find_divergences(courses):
        seats = [seat for choice in divergence.choices for seat in choice.seats]
        assert len(seats) == len(set(seats)) >= 2
        assert len(divergence.choices) >= 2
        assert divergence.cost >= -1e-9
        assert divergence.choices[0].mean_score == max(choice.mean_score for choice in divergence.choices)
