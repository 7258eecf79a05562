"""Debrief of a class: actions and scores of all seats next to the reference solution, and all mistakes. No Qt."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache

from msgspec import Struct, field
from msgspec.structs import replace

from app.classroom.anonymization import NameReplacements, anonymize_line, anonymize_text, list_replacements
from app.classroom.divergences import ClassDivergence, SeatAction, SeatHistory, find_divergences
from app.classroom.log_entries import LogEntry, list_effective_entries
from app.classroom.messages.replies import ClassMark, DivergenceTime, DivergenceTimes, LogVerdict, SeatChoice
from app.classroom.models import ClassPart
from app.classroom.record import ERASED_TOKEN_PREFIX, ClassRecord
from app.classroom.seat_scenario import parse_scenario
from app.classroom.verdict import LogReplay, build_failed_verdict, is_instructor_input
from app.export.page import build_debrief_html
from app.export.source import build_export_source
from app.files import par_certificates
from app.files.guarded_player import UnplayableError, convert_errors
from app.learning.reflection import Reflection
from app.view_models.value_curve import list_refused_batches
from app.words import language
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context
from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.counterfactual import is_inspection
from engine.drill.judging.report import build_availability_json, compute_calibration
from engine.drill.judging.report_types import ENDED_BY_INSTRUCTOR, Calibration, ReportRow
from engine.drill.par.regret import analyze_regret, exclude_finish, exclude_segments
from engine.drill.par.regret_analysis import RegretAnalysis, RunSegment
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_reference
from engine.inputs import Input, InputError
from engine.localization import convert_to_json
from engine.model import Tick
from engine.verbs import REMARK_VERBS
from engine.verbs.input_lines import describe_input, parse_input_line


class ClassSeatLog(Struct, frozen=True):
    """Log of a seat as stored in the record, with the scenario of its part."""

    number: int
    name: str
    group: str
    scenario: str
    text: str
    seed: int
    mode: str
    entries: tuple[LogEntry, ...]
    reflection: Reflection | None = None
    """Reflection that the person wrote before the points were shown."""
    replacements: NameReplacements = ()
    """Names to replace in typed texts, with their replacements; empty if names may be shown."""
    version: str = ""
    """Program version of the seat; empty if it was never reported."""


class SeatMistake(Struct, frozen=True):
    """Mistake of one seat."""

    text: str
    """Action or omission that cost points."""
    better: str
    points: float


class SeatReview(Struct, frozen=True):
    """Review of one seat in the debrief of a class."""

    number: int
    name: str
    group: str
    verdict: LogVerdict
    actions: tuple[SeatAction, ...]
    """Actions of the seat without inspections."""
    mistakes: tuple[SeatMistake, ...]
    debrief_html: str
    """Debrief of the run as HTML; empty if the run cannot be replayed."""
    lost_transactions: int = 0
    reflection: Reflection | None = None
    answers: tuple[ReportRow, ...] = ()
    """Questions and answers, as in the report of a run."""
    debrief_pdf: bytes = b""
    """Debrief of the run as PDF; empty if it was not requested."""
    refused_batches: frozenset[tuple[Tick, str]] = frozenset()
    """Time and line of each batch that a server refused with an error."""
    regret_analysis: RegretAnalysis | None = None
    """Regret analysis of the run. None if the run has no score or the computation took too long."""
    instructor_actions: tuple[SeatAction, ...] = ()
    """Inputs of the instructor in this run."""


class ClassMistake(Struct, frozen=True):
    """Mistake in the debrief of the class, with all seats that made it."""

    description: str
    """Description of the mistake, taken from the seat that lost the most points by it."""
    better: str
    seats: tuple[int, ...]
    points: float
    """Points that the mistake cost all seats in total."""


class ClassReview(Struct, frozen=True):
    """Review of the whole class."""

    title: str
    scenario: str
    seed: int
    mode: str
    seats: tuple[SeatReview, ...]
    reference_points: float | None
    """Points of the reference solution.

    None if the drill has no reference solution or no score.
    """
    reference_downtime_s: float | None
    reference_lost_transactions: int | None
    """Number of transactions that the reference solution loses."""
    par_points: float | None
    """Points of the best known plan. None if the drill has no certificate for this seed."""
    divergences: tuple[ClassDivergence, ...]
    mistakes: tuple[ClassMistake, ...]
    """Mistakes of the seats, most frequent first."""
    calibration: Calibration | None
    """Stated confidence compared with the share of correct answers, over all questions of all seats."""
    marks: tuple[ClassMark, ...] = ()
    """Marks of the instructor, in order of time."""
    versions: Mapping[int, str] = field(default_factory=dict)
    """Seat -> program version. Seats that never reported a version are missing."""
    class_time_s: float | None = None
    """Date of the class: UTC time of its last instruction in seconds since 1970; None if unknown."""


def read_seat_logs(
    record: ClassRecord, with_names: bool = True, part: ClassPart | None = None
) -> list[ClassSeatLog]:
    """Return the log of every seat, ordered by number.

    Without *with_names*, numbers replace the names of seats and groups, also in typed text. *part*: part to read
    instead of the current one. Seats that did not play this part are omitted.
    """
    class_part = part or record.read_class()
    if class_part is None:
        return []
    if part is not None:
        record = record.select_part(part.id)
    seats = [seat for seat in record.read_seats() if not seat.token_hash.startswith(ERASED_TOKEN_PREFIX)]
    reflections = record.read_reflections()
    groups = list(dict.fromkeys(seat.group_name for seat in seats if seat.group_name))
    hide = (
        ()
        if with_names
        else list_replacements({seat.id: seat.name for seat in seats}, groups, class_part.scenario_text)
    )
    called = {group: group if with_names else str(number) for number, group in enumerate(groups, 1)}
    part_logs = [
        ClassSeatLog(
            seat.id,
            seat.name if with_names else tr("Seat {n}").format(n=seat.id),
            called.get(seat.group_name, ""),
            class_part.scenario_name,
            class_part.scenario_text,
            class_part.seed,
            class_part.mode,
            tuple(record.read_entries(seat.id)),
            reflections.get(seat.id),
            hide,
            seat.version,
        )
        for seat in seats
    ]
    return [log for log in part_logs if log.entries or part is None]


def review_seat(log: ClassSeatLog, pdf: bool, curve_s: float, language_code: str) -> SeatReview:
    """Replay the run of a seat without the parts that an instructor has rewound, and review it.

    The replay takes some seconds at most. The regret analysis takes at most *curve_s* seconds of wall
    time. *pdf*: True to build the debrief as PDF, too. *language_code*: language of the texts, which
    a worker process does not know by itself.
    """
    language.use_language(language_code)
    try:
        with convert_errors():
            return _review_seat(log, pdf, curve_s)
    except (UnplayableError, InputError) as problem:
        last = log.entries[-1] if log.entries else None
        at_s = last.tick / TICKS_PER_S if last else 0.0
        goals = [goal.name for goal in _parse_scenario(log.text, log.scenario).goals]
        outcome = build_failed_verdict(last.number if last else 0, at_s, str(problem), goals)
        return SeatReview(
            log.number, log.name, log.group, outcome, (), (), "", reflection=_read_reflection(log)
        )


def _review_seat(log: ClassSeatLog, pdf: bool, curve_s: float) -> SeatReview:
    scenario = _parse_scenario(log.text, log.scenario)
    run = LogReplay(scenario, log.seed, log.mode, for_debrief=True)
    run.play(log.entries)
    outcome, acts = run.build_verdict(), log.entries
    if any(anonymize_line(act.line, log.replacements) != act.line for act in acts):
        acts = tuple(act._replace(line=anonymize_line(act.line, log.replacements), digest="") for act in acts)
        run = LogReplay(scenario, log.seed, log.mode, for_debrief=True)
        run.play(acts)
        verdict = run.build_verdict()
        results_match = all(
            verdict[field] == outcome[field] for field in ("score", "downtime_s", "goals", "ended_by")
        )
        outcome = {**outcome, "last_act": verdict["last_act"], "parted": verdict["parted"] or "another state"}
        # A name in an input affects the result, so a page without names would show a wrong result.
        if not results_match:
            return SeatReview(log.number, log.name, log.group, outcome, (), (), "")
    actions = _list_actions(acts)
    foreign = tuple(_parse_inputs(act for act in list_effective_entries(acts) if is_instructor_input(act)))
    instructor_actions = tuple(
        SeatAction(item.tick, _build_action_key(item), describe_input(item)) for item in foreign
    )
    drill = run.drill
    assert isinstance(drill, Drill)
    lost_count = round(build_availability_json(drill.world)["lost_transactions"])
    seat_review = SeatReview(
        log.number, log.name, log.group, outcome, actions, (), "", lost_count, _read_reflection(log),
        instructor_actions=instructor_actions,
    )  # fmt: skip
    has_ended = drill.finished
    if not has_ended:
        try:
            drill.end_now()
        except InputError:
            return seat_review
    account = _analyze_regret(drill, curve_s)
    if account is not None and (not has_ended or outcome["ended_by"] == ENDED_BY_INSTRUCTOR):
        account = exclude_finish(account)
    if account is not None and foreign:
        account = exclude_segments(account, lambda move: _is_segment_of_input(move, foreign))
    source = build_export_source(drill)
    if outcome["ended_by"] == ENDED_BY_INSTRUCTOR:
        source.report["ended_by"] = ENDED_BY_INSTRUCTOR
    source = replace(
        source, player=log.name, regret_analysis=account, instructor_inputs=foreign,
        instructor_goals=frozenset(outcome["instructor_goals"]),
    )  # fmt: skip
    mistakes = tuple(
        SeatMistake(mistake.what, mistake.better, mistake.points) for mistake in source.review.mistakes
    )
    printed = b""
    if pdf:
        from app.export.pdf import (
            build_debrief_pdf,
        )  # late import, because it loads Qt, which the rest of this module does not need

        printed, _ = build_debrief_pdf(source)
    answers = tuple(source.report["questions"])
    return replace(
        seat_review,
        mistakes=mistakes,
        debrief_html=build_debrief_html(source),
        debrief_pdf=printed,
        answers=answers,
        regret_analysis=account,
        refused_batches=list_refused_batches(source.report),
    )


def _analyze_regret(drill: Drill, seconds: float) -> RegretAnalysis | None:
    """Return the regret analysis of a run.

    None if the run has no score, or if the analysis takes longer than *seconds* of wall time.
    """
    if not drill.scenario.scored:
        return None
    slices, deadline = (
        analyze_regret(drill, par_certificates.load_certified_plans(drill)),
        time.perf_counter() + seconds,
    )
    while time.perf_counter() < deadline:
        try:
            next(slices)
        except StopIteration as stop:
            regret_analysis: RegretAnalysis = stop.value
            return regret_analysis
    slices.close()
    return None


def _read_reflection(log: ClassSeatLog) -> Reflection | None:
    reflection = log.reflection
    if reflection is None:
        return None
    return replace(
        reflection,
        happened=anonymize_text(reflection.happened, log.replacements),
        otherwise=anonymize_text(reflection.otherwise, log.replacements),
    )


def list_marks(record: ClassRecord, with_names: bool, part: ClassPart | None = None) -> tuple[ClassMark, ...]:
    """Return the marks of the instructor in order of time. Without *with_names*, anonymize their texts."""
    class_part = part or record.read_class()
    if part is not None:
        record = record.select_part(part.id)
    people = {seat.id: seat.name for seat in record.read_seats()}
    hide = () if with_names or class_part is None else list_replacements(people, [], class_part.scenario_text)
    marks = [
        ClassMark(seat=mark.seat_id, t_s=(mark.tick or 0) / TICKS_PER_S, text=anonymize_text(mark.text, hide))
        for mark in record.read_marks()
    ]
    return tuple(sorted(marks, key=lambda mark: mark.t_s))


def review_class(
    seat_logs: Sequence[ClassSeatLog],
    seats: Iterable[SeatReview],
    marks: tuple[ClassMark, ...] = (),
    class_time_s: float | None = None,
) -> ClassReview:
    """Combine the reviews of all seats into the review of the class.

    *seat_logs*: logs of the seats. *seats*: reviews of the seats. *marks*: times that the instructor
    has marked. *class_time_s*: UTC time of the class in seconds since 1970. Raises ValueError if
    *seat_logs* is empty.
    """
    if not seat_logs:
        raise ValueError("a class without seats")
    first, reviews = seat_logs[0], tuple(seats)
    scenario = _parse_scenario(first.text, first.scenario)
    reference = play_reference(scenario, first.seed) if scenario.solution else None
    solved = reference.compute_score() if reference is not None else None
    proved = par_certificates.load_certificate(scenario)
    courses = [
        SeatHistory(review.number, review.actions, review.verdict["score"])
        for review in reviews
        if review.verdict["score"] is not None
    ]
    return ClassReview(
        scenario.title,
        first.scenario,
        first.seed,
        first.mode,
        reviews,
        solved.total if solved is not None and solved.scored else None,
        build_availability_json(reference.world)["downtime_s"] if reference is not None else None,
        round(build_availability_json(reference.world)["lost_transactions"])
        if reference is not None
        else None,
        proved["par"]["score"] if proved is not None and proved["seed"] == first.seed else None,
        tuple(divergence for divergence in find_divergences(courses) if divergence.cost > 0.0),
        tuple(_group_mistakes(reviews)),
        compute_calibration(row for seat in reviews for row in seat.answers),
        marks,
        {log.number: log.version for log in seat_logs if log.version},
        class_time_s,
    )


def find_divergence_times(record: ClassRecord) -> DivergenceTimes:
    """Return a message with the times at which seats have made different choices so far, most costly first.

    Runs that cannot be replayed are omitted.
    """
    courses = []
    for log in read_seat_logs(record):
        with suppress(UnplayableError, InputError), convert_errors():
            run = LogReplay(_parse_scenario(log.text, log.scenario), log.seed, log.mode)
            run.play(log.entries)
            score = run.build_verdict()["score"]
            if score is not None:
                courses.append(SeatHistory(log.number, _list_actions(log.entries), score))
    replay_moments = []
    for divergence in find_divergences(courses):
        choices = [
            SeatChoice(convert_to_json(choice.text), list(choice.seats), choice.mean_score)
            for choice in divergence.choices
        ]
        replay_moments.append(DivergenceTime(divergence.tick / TICKS_PER_S, divergence.cost, choices))
    return DivergenceTimes(replay_moments)


def _list_actions(entries: Iterable[LogEntry]) -> tuple[SeatAction, ...]:
    """Return the seat's own actions, without inspections and without rewound actions."""
    seat_inputs = _parse_inputs(
        act for act in list_effective_entries(entries) if act.line and not act.instruction
    )
    return tuple(
        SeatAction(item.tick, _build_action_key(item), describe_input(item))
        for item in seat_inputs
        if _is_action(item)
    )


def _group_mistakes(reviews: Sequence[SeatReview]) -> Iterator[ClassMistake]:
    """Yield the mistakes of all seats, most frequent first, each with the seats that made it.

    Mistakes with the same better action count as one mistake, even if their texts contain different
    figures.
    """
    occurrences: dict[str, list[tuple[int, SeatMistake]]] = {}
    for seat in reviews:
        for mistake in seat.mistakes:
            occurrences.setdefault(mistake.better or mistake.text, []).append((seat.number, mistake))
    for group in sorted(
        occurrences.values(), key=lambda group: (-len({seat for seat, _ in group}), group[0][1].text)
    ):
        worst = max((mistake for _, mistake in group), key=lambda mistake: mistake.points)
        seats = tuple(dict.fromkeys(seat for seat, _ in group))
        yield ClassMistake(worst.text, worst.better, seats, sum(mistake.points for _, mistake in group))


def _parse_inputs(entries: Iterable[LogEntry]) -> Iterator[Input]:
    """Parse the inputs of a log. Skip invalid lines, because they had no effect and the verdict lists them."""
    for act in entries:
        with suppress(InputError):
            yield parse_input_line(act.line, act.tick)


def _is_action(input_: Input) -> bool:
    """Return False if *input_* is an inspection, a remark or the end of the run, otherwise True."""
    return input_.verb not in REMARK_VERBS | {"finish"} and not is_inspection(input_)


def _is_segment_of_input(segment: RunSegment, inputs: Sequence[Input]) -> bool:
    """Return whether one of *inputs* has the line and the tick of *segment*."""
    return any(
        segment.tick == seat_input.tick and segment.line == seat_input.line_without_time
        for seat_input in inputs
    )


def _build_action_key(input_: Input) -> str:
    """Return a key that is equal for inputs with the same effect, regardless of query window and spacing."""
    if input_.verb != "sql":
        return input_.line_without_time
    server, batch = (
        input_.args[0].partition("#")[0],
        condition_context.normalize_sql(input_.args[1], keep_literals=True),
    )
    return f"{server} {batch}".rstrip("; ")


@cache
def _parse_scenario(text: str, name: str) -> Scenario:
    return parse_scenario(text, name)
