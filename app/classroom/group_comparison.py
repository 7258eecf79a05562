"""Comparison of ways to teach by the scores of their groups: before the lesson, after it, and weeks later.

Seats are assigned to groups at random when they join (`draw_groups` of a plan), so that groups differ only in
the lesson. Every score results from a replay of the run. The comparison is a table with the number of people,
the difference between groups, and the probability of such a difference by chance alone.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean, variance
from typing import Final

from msgspec import Struct

from app.classroom.class_files import LogCheck, check_class_file
from app.classroom.debrief import SeatReview
from app.classroom.seat_log import InvalidSeatLogError
from app.export.csv_tables import format_csv_table
from app.words.language import tr

PERMUTATION_COUNT: Final = 10_000
"""Number of random divisions in the permutation test. The p-value is accurate to about 0.005. Assumed."""
PERMUTATION_SEED: Final = 1
MEASURED_PARTS: Final = ("pre", "post", "retention")
"""Kinds of class parts whose scores are compared."""
GROUP_SIZE_MIN: Final = 2
"""Minimum number of people per group, needed for a variance."""


class PersonScores(Struct, frozen=True):
    """Scores of one person in the first test, the second test and the retention test.

    A score is None if the test was not taken or has no score.
    """

    name: str
    group: str
    pre: float | None
    post: float | None
    retention: float | None

    @property
    def gain(self) -> float | None:
        """Return the score of the second test minus that of the first test, or None if one is missing."""
        return None if self.pre is None or self.post is None else self.post - self.pre


class GroupComparison(Struct, frozen=True):
    """Comparison of one measure between two groups."""

    measure: str
    groups: tuple[str, str]
    counts: tuple[int, int]
    means: tuple[float, float]
    difference: float
    """Mean of the second group minus mean of the first group."""
    standardised: float | None
    """Difference in pooled standard deviations, corrected for small groups [Hedges 1981]; None without a variance."""
    p_value: float
    """Share of random divisions with a difference of at least the actual size, in either direction."""


def read_person_scores(
    lesson: Path, pre: Path, post: Path, retention: Path | None = None
) -> list[PersonScores]:
    """Return the scores of people from exported classes: a lesson, and the tests before and after it.

    People without a group in *lesson* are omitted. The files are matched by name. Raises InvalidSeatLogError,
    also for altered files.
    """
    groups = {
        log_check.name: log_check.group for log_check in _read_unaltered_checks(lesson) if log_check.group
    }
    if not groups:
        raise InvalidSeatLogError(tr("{file}: no seat has a group").format(file=lesson))
    scores = [
        _map_scores(_read_unaltered_checks(file)) if file is not None else {}
        for file in (pre, post, retention)
    ]
    return [
        PersonScores(name, groups[name], *(score.get(name.casefold()) for score in scores))
        for name in sorted(groups)
    ]


def read_class_person_scores(file: Path) -> list[PersonScores]:
    """Return the scores of all people in an exported class with several parts, matched by seat.

    Raises InvalidSeatLogError, also for altered files.
    """
    log_checks = _read_unaltered_checks(file)
    if not any(log_check.part for log_check in log_checks):
        raise InvalidSeatLogError(
            tr(
                "{file}: this class has only one part. Name at least three classes: lesson, pre-test and "
                "post-test."
            ).format(file=file)
        )
    seats = {log_check.seat: log_check for log_check in log_checks}
    scores = [
        _map_scores((log_check for log_check in log_checks if log_check.part == kind), by_seat=True)
        for kind in MEASURED_PARTS
    ]
    return [
        PersonScores(seats[number].name, seats[number].group, *(score.get(str(number)) for score in scores))
        for number in sorted(seats, key=lambda number: number or 0)
    ]


def collect_person_scores(parts: Mapping[str, Sequence[SeatReview]]) -> list[PersonScores]:
    """Return the scores of all people in the reviewed parts. *parts*: kind of a part -> its reviews."""
    seats = {seat.number: seat for reviews in parts.values() for seat in reviews}
    scores = [{seat.number: seat.verdict["score"] for seat in parts.get(kind, ())} for kind in MEASURED_PARTS]
    return [
        PersonScores(seat.name, seat.group, *(score.get(number) for score in scores))
        for number, seat in sorted(seats.items())
    ]


def compare_groups(persons: Sequence[PersonScores]) -> list[GroupComparison]:
    """Compare every measure for each pair of groups with enough people."""
    comparisons = []
    for measure in ("pre", "post", "gain", "retention"):
        values: dict[str, list[float]] = {}
        for person in persons:
            value = getattr(person, measure)
            if value is not None:
                values.setdefault(person.group, []).append(value)
        for group_pair in combinations(sorted(values), 2):
            first, second = (values[group] for group in group_pair)
            if min(len(first), len(second)) >= GROUP_SIZE_MIN:
                comparisons.append(_compare_measure(measure, group_pair, first, second))
    return comparisons


def format_person_scores_csv(persons: Iterable[PersonScores], with_names: bool) -> str:
    """Format the scores of *persons* as CSV. *with_names*: True to write names instead of numbers."""
    rows = (
        (
            person.name if with_names else number,
            person.group,
            person.pre,
            person.post,
            person.gain,
            person.retention,
        )
        for number, person in enumerate(persons, 1)
    )
    return format_csv_table(("person", "group", "pre", "post", "gain", "retention"), rows)


def format_comparisons_csv(comparisons: Iterable[GroupComparison]) -> str:
    """Format the comparisons as CSV."""
    head = (
        "measure", "group", "other_group", "people", "other_people", "mean", "other_mean", "difference",
        "standardised_difference", "chance",
    )  # fmt: skip
    rows = (
        (
            row.measure, *row.groups, *row.counts, *(round(mean, 2) for mean in row.means),
            round(row.difference, 2), None if row.standardised is None else round(row.standardised, 3),
            round(row.p_value, 4),
        )
        for row in comparisons
    )  # fmt: skip
    return format_csv_table(head, rows)


# --- private helpers ----------------------------------------------------------------------------------------


def _read_unaltered_checks(file: Path) -> list[LogCheck]:
    log_checks = list(check_class_file(file))
    problems = [f"{log_check.name}: {log_check.problem}" for log_check in log_checks if log_check.problem]
    if problems:
        raise InvalidSeatLogError(f"{file}: " + "; ".join(problems))
    return log_checks


def _map_scores(checks: Iterable[LogCheck], by_seat: bool = False) -> Mapping[str, float]:
    """Return the score of each person by name, or by seat number. People without actions or score are omitted."""
    return {
        str(check.seat) if by_seat else check.name.casefold(): score
        for check in checks
        if check.verdict is not None
        and check.verdict["acts"]
        and (score := check.verdict["score"]) is not None
    }


def _compare_measure(
    measure: str, groups: tuple[str, str], first_scores: Sequence[float], second_scores: Sequence[float]
) -> GroupComparison:
    difference = fmean(second_scores) - fmean(first_scores)
    degrees_of_freedom = len(first_scores) + len(second_scores) - 2
    pooled = math.sqrt(
        (
            (len(first_scores) - 1) * variance(first_scores)
            + (len(second_scores) - 1) * variance(second_scores)
        )
        / degrees_of_freedom
    )
    standardised = (
        None if pooled == 0.0 else difference / pooled * (1.0 - 3.0 / (4.0 * degrees_of_freedom - 1.0))
    )
    return GroupComparison(
        measure,
        groups,
        (len(first_scores), len(second_scores)),
        (fmean(first_scores), fmean(second_scores)),
        difference,
        standardised,
        _estimate_p_value(first_scores, second_scores),
    )


def _estimate_p_value(first_scores: Sequence[float], second_scores: Sequence[float]) -> float:
    """Return the p-value of a permutation test for the difference between two mean scores.

    The p-value is the share of random divisions of the people whose difference is at least the actual
    one. The actual division counts as one of the random divisions [Phipson and Smyth 2010].
    """
    everyone, chance = [*first_scores, *second_scores], random.Random(PERMUTATION_SEED)
    difference = abs(fmean(second_scores) - fmean(first_scores))
    exceed_count = 0
    for _ in range(PERMUTATION_COUNT):
        chance.shuffle(everyone)
        drawn_difference = abs(fmean(everyone[len(first_scores) :]) - fmean(everyone[: len(first_scores)]))
        exceed_count += drawn_difference >= difference - 1e-9
    return (exceed_count + 1) / (PERMUTATION_COUNT + 1)
