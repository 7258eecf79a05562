"""Report of a class in one ZIP: a class page, a page per person, tables, and xAPI statements.

Nothing is written outside the ZIP, so its deletion deletes the whole report. `class erase` removes a person
from the record.
"""

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from statistics import median
from typing import Final

from app.classroom import xapi
from app.classroom.debrief import ClassReview, SeatReview
from app.classroom.divergences import ClassDivergence, DivergenceChoice
from app.export import curve_svg
from app.export.csv_tables import VALUE_COLUMNS, build_segment_row, format_csv_table
from app.export.debrief_sections import (
    Markup,
    escape_text,
    format_heading,
    format_link,
    format_paragraph,
    format_table,
)
from app.export.page import build_html_document
from app.export.source import map_choices
from app.view_models import value_curve
from app.words import formatting
from app.words.formatting import format_run_tick
from app.words.language import tr, trn
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.judging.report import get_program_version
from engine.drill.judging.report_types import ENDED_BY_INSTRUCTOR, Calibration
from engine.drill.par.regret_analysis import RegretAnalysis
from engine.drill.running.drill import DrillEndReason
from engine.model import Tick

DIVERGENCES_SHOWN_MAX: Final = 10
MISTAKES_SHOWN_MAX: Final = 15
LOSSES_SHOWN_MAX: Final = 3
"""Maximum number of losses of reachable points that the class page lists per seat.

The tables contain all losses.
"""

CHART_WIDTH: Final = 760
CHART_LEFT: Final = 160
CHART_RIGHT: Final = 24
ROW_HEIGHT: Final = 84
DOT_RADIUS_PX: Final = 4.5
"""Radius of a dot in pixels."""


def build_report_archive(review: ClassReview, key: str, with_names: bool, pdf: bool = False) -> bytes:
    """Build the ZIP with the report of a class. *key*: ID of the class. *pdf*: add the class page as PDF.

    *with_names*: True if the people of *review* may be named.
    """
    page = build_class_page(review)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zip_file:
        zip_file.writestr("class.html", page)
        for name, sheet in _build_tables(review):
            zip_file.writestr(name, sheet)
        for seat in review.seats:
            if seat.debrief_html:
                zip_file.writestr(_build_page_name(seat), seat.debrief_html)
            if seat.debrief_pdf:
                zip_file.writestr(_build_page_name(seat).replace(".html", ".pdf"), seat.debrief_pdf)
        if pdf:
            # This import loads Qt. The rest of the module does not need Qt.
            from app.export import pdf as pdf_export

            drawings: dict[str, str] = {}
            printed = _build_page_content(review, links=False, draw=partial(_add_drawing, drawings))
            zip_file.writestr(
                "class.pdf",
                pdf_export.build_document_pdf(
                    _format_title(review), printed, draw_class_chart(review), drawings
                ),
            )
        zip_file.writestr("xapi.json", xapi.format_statements(review, key, with_names))
        zip_file.writestr("cmi5.zip", xapi.build_cmi5_package(review, build_class_page(review, links=False)))
    return buffer.getvalue()


def merge_archives(parts: Mapping[str, bytes], sheets: Mapping[str, str]) -> bytes:
    """Merge the ZIPs of the parts of a class into one ZIP with a folder for each part.

    *sheets*: name -> content of files about all parts, added at the top level.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, sheet in sheets.items():
            zip_file.writestr(name, sheet)
        for name, part in parts.items():
            with zipfile.ZipFile(io.BytesIO(part)) as part_archive:
                for member in part_archive.namelist():
                    zip_file.writestr(f"{name}/{member}", part_archive.read(member))
    return buffer.getvalue()


def build_class_page(review: ClassReview, links: bool = True) -> str:
    """Return the debrief of the class as one HTML file. *links*: add links to the pages of its people."""
    title = _format_title(review)
    figure = f"<figure>{draw_class_chart(review)}</figure>"
    text = f"{format_heading(1, title)}{figure}{_build_page_content(review, links, _inline_svg)}"
    return build_html_document(escape_text(title), f"<main>{text}</main>")


def draw_class_chart(review: ClassReview) -> str:
    """Return an SVG with three rows of dots, one dot per seat: points, downtime and lost transactions.

    Vertical lines show the median, the reference solution and par.
    """
    scores = [seat.verdict["score"] for seat in review.seats]
    downtimes = [seat.verdict["downtime_s"] for seat in review.seats]
    losses = [float(seat.lost_transactions) for seat in review.seats]
    loss_limit = max([*losses, review.reference_lost_transactions or 0.0, 4.0])
    longest = max([*downtimes, review.reference_downtime_s or 0.0, 1.0])
    reference, par = tr("reference"), tr("par")
    rows: list[tuple[str, Sequence[float], float, list[tuple[str, float | None]]]] = [
        (tr("Points"), [score for score in scores if score is not None], 100.0,
         [(reference, review.reference_points), (par, review.par_points)]),
        (tr("Downtime, s"), downtimes, longest, [(reference, review.reference_downtime_s)]),
        (tr("Lost transactions"), losses, loss_limit, [(reference, review.reference_lost_transactions)]),
    ]  # fmt: skip
    parts = [
        part
        for index, (title, values, limit, lines) in enumerate(rows)
        for part in _draw_dot_row(title, values, limit, lines, index * ROW_HEIGHT)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {CHART_WIDTH} {ROW_HEIGHT * len(rows)}" '
        f'width="{CHART_WIDTH}" '
        f'height="{ROW_HEIGHT * len(rows)}" font-family="sans-serif" font-size="12">'
        f'<rect width="{CHART_WIDTH}" height="{ROW_HEIGHT * len(rows)}" fill="white"/>{"".join(parts)}</svg>'
    )


# --- private helpers ----------------------------------------------------------------------------------------


def _format_title(review: ClassReview) -> str:
    return tr("Class: {title}").format(title=review.title)


def _build_page_name(seat: SeatReview) -> str:
    return f"people/{seat.number:04}.html"


SvgFormatter = Callable[[str, str], Markup]
"""Function that receives the name and the content of an SVG, and returns markup that shows the SVG in a cell."""


def _inline_svg(name: str, svg: str) -> Markup:
    return Markup(svg)


def _add_drawing(drawings: dict[str, str], name: str, svg: str) -> Markup:
    """Add a drawing to *drawings* and return markup that refers to its file."""
    drawings[name] = svg
    return Markup(f'<img src="{name}" width="{curve_svg.THUMBNAIL_WIDTH}">')


def _build_page_content(review: ClassReview, links: bool, draw: SvgFormatter) -> str:
    shown_divergences = review.divergences[:DIVERGENCES_SHOWN_MAX]
    return "".join(
        (
            format_paragraph(_format_class_facts(review), "muted"),
            format_paragraph(_format_origin(review), "muted"),
            format_heading(2, tr("Where seats made different choices")),
            format_paragraph(
                tr(
                    "All seats in a row made the same choices up to the time in that row. The cost is the sum "
                    "of points that seats with weaker choices lost. To let everyone try again from there, "
                    "rewind the seats on the dashboard, or enter the command above the table."
                )
            )
            if shown_divergences
            else format_paragraph(tr("No differences: all seats made the same choices or scored the same.")),
            *(_format_divergence(divergence) for divergence in shown_divergences),
            *_format_marks(review),
            *_format_curves(review, draw),
            format_heading(2, tr("Most frequent mistakes")),
            _format_mistakes(review),
            *_format_confidence(review.calibration),
            *_format_reflections(review),
            format_heading(2, tr("Seats")),
            _format_seats(review, links),
        )
    )


def _format_class_facts(review: ClassReview) -> str:
    count = len(review.seats)
    seats = [
        trn("{n} seat", "{n} seats", count).format(n=count),
        tr("{mode}, seed {seed}").format(mode=review.mode, seed=review.seed),
    ]
    truncated_count = sum(map(_is_truncated, review.seats))
    if truncated_count:
        seats.append(
            trn("{n} run has no recorded end", "{n} runs have no recorded end", truncated_count).format(
                n=truncated_count
            )
        )
    scores = [score for seat in review.seats if (score := seat.verdict["score"]) is not None]
    if scores:
        seats.append(
            tr("median {points} points").format(points=formatting.localize_number(f"{median(scores):.0f}"))
        )
    if review.reference_points is not None:
        seats.append(
            tr("reference {points}").format(
                points=formatting.localize_number(f"{review.reference_points:.0f}")
            )
        )
    if review.par_points is not None:
        seats.append(tr("par {points}").format(points=formatting.localize_number(f"{review.par_points:.0f}")))
    return ", ".join(seats) + "."


def _is_truncated(seat: SeatReview) -> bool:
    """Return True if the run has not ended."""
    return seat.verdict["ended_by"] is None


def _format_origin(review: ClassReview) -> str:
    """Return the date of the class, and the date and program version of the report."""
    origin = tr("Report of {date}, Mirrordrill {version}.").format(
        date=f"{datetime.now():%Y-%m-%d}", version=get_program_version()
    )
    origin += _format_seat_versions(review)
    if review.class_time_s is None:
        return origin
    class_date = tr("Class of {date}.").format(
        date=f"{datetime.fromtimestamp(review.class_time_s):%Y-%m-%d %H:%M}"
    )
    return f"{class_date} {origin}"


def _format_seat_versions(review: ClassReview) -> str:
    """Return the program versions that differ from the version of the report, each with its seats."""
    seats: dict[str, list[str]] = {}
    for number, version in review.versions.items():
        if version != get_program_version():
            seats.setdefault(version, []).append(str(number))
    text = tr("Seats with version {version}: {numbers}.")
    return "".join(
        f" {text.format(version=version, numbers=', '.join(numbers))}" for version, numbers in seats.items()
    )


def _format_divergence(divergence: ClassDivergence) -> str:
    text = tr("At {time}: {n} seats made different choices, which cost {points} points").format(
        time=format_run_tick(divergence.tick),
        n=sum(len(choice.seats) for choice in divergence.choices),
        points=formatting.localize_number(f"{divergence.cost:.0f}"),
    )
    rows = [
        (
            _describe_choice(choice),
            len(choice.seats),
            ", ".join(map(str, choice.seats)),
            formatting.localize_number(f"{choice.mean_score:.0f}"),
        )
        for choice in divergence.choices
    ]
    head = (tr("Next action"), tr("Seats"), tr("Seat numbers"), tr("Average points"))
    caption = tr("Command that sends all seats back to this time: back all {time}").format(
        time=_format_console_time(divergence.tick)
    )
    return format_heading(3, text) + format_table(caption, head, rows)


def _describe_choice(choice: DivergenceChoice) -> str:
    return localize(choice.text) or tr("waited")


def _format_marks(review: ClassReview) -> Iterator[str]:
    """Yield the section with the marks of the instructor."""
    if review.marks:
        rows = [
            (formatting.format_run_time(mark.t_s), tr("all") if mark.seat is None else mark.seat, mark.text)
            for mark in review.marks
        ]
        yield format_heading(2, tr("Marks of the instructor"))
        yield format_table(
            tr("Marks, with the time in the run of the seat"), (tr("Time"), tr("Seat"), tr("Text")), rows
        )


def _format_console_time(tick: Tick) -> str:
    """Format a tick for the console, minus one second, so that a replay stops before the inputs of that tick."""
    return f"{max(0, tick - TICKS_PER_S) / TICKS_PER_S:g}"


def _format_curves(review: ClassReview, draw: SvgFormatter) -> Iterator[str]:
    """Yield the section with each seat's reachable points over time, and the causes of its losses."""
    accounts = [(seat, seat.regret_analysis) for seat in review.seats if seat.regret_analysis is not None]
    if not accounts:
        return
    end = max(value_curve.get_end_tick(account) for _, account in accounts)
    rows = [
        (
            seat.number,
            seat.name,
            draw(f"curve-{seat.number}", curve_svg.draw_thumbnail(regret_analysis, end)),
            _format_accuracy(seat, regret_analysis),
            "\n".join(list_losses(seat, regret_analysis)) or tr("none"),
            _format_point_of_no_return(seat, regret_analysis),
        )
        for seat, regret_analysis in accounts
    ]
    head = (
        tr("Seat"), tr("Name"), tr("Best possible score"), tr("Accuracy"), tr("Biggest mistake"),
        tr("Point of no return"),
    )  # fmt: skip
    caption = tr("Vertical axis: 0 to 100 points. Horizontal axis: from the start to {end}.").format(
        end=format_run_tick(end)
    )
    remaining = [
        seat.number
        for seat in review.seats
        if seat.regret_analysis is None and seat.verdict["score"] is not None
    ]
    yield format_heading(2, tr("Compared with the best possible run"))
    yield format_paragraph(f"{value_curve.explain_curve()} {value_curve.format_uncertainty()}")
    yield format_table(caption, head, rows)
    if remaining:
        text = tr("Seats without an analysis (not finished in time, or run not replayable): {seats}.")
        yield format_paragraph(text.format(seats=", ".join(map(str, remaining))), "muted")


def _format_accuracy(seat: SeatReview, regret_analysis: RegretAnalysis) -> str:
    """Format the accuracy of a seat. For an unfinished run, add the time up to which the accuracy is valid."""
    percent = formatting.format_percent(regret_analysis.accuracy / 100.0)
    if not _is_truncated(seat):
        return percent
    return tr("{accuracy} (recorded until {t})").format(
        accuracy=percent, t=formatting.format_run_time(seat.verdict["t_s"])
    )


def list_losses(seat: SeatReview, regret_analysis: RegretAnalysis) -> Iterator[str]:
    """Yield a text for each of the seat's costliest losses of reachable points, in order of time.

    Texts about refused commands are marked.
    """
    worst = sorted(value_curve.find_marked_segments(regret_analysis), key=lambda move: -move.regret)[
        :LOSSES_SHOWN_MAX
    ]
    for move in sorted(worst, key=lambda move: (move.tick, move.until)):
        if move.regret >= value_curve.SHOWN_LOSS_MIN:
            description = value_curve.format_segment(
                move, map_choices(seat.answers), regret_analysis.last_chance, seat.refused_batches
            )
            yield f"{description}: {value_curve.format_segment_loss(move)}"


def _format_point_of_no_return(seat: SeatReview, regret_analysis: RegretAnalysis) -> str:
    chance = regret_analysis.last_chance
    if chance is not None:
        return f"{format_run_tick(chance.tick)}  {value_curve.format_last_chance(chance, map_choices(seat.answers))}"
    if all(met_t_s is not None for met_t_s in seat.verdict["goals"].values()):
        return tr("met")
    return tr("no known solution") if seat.verdict["ended_by"] is not None else tr("still running")


def _format_mistakes(review: ClassReview) -> str:
    if not review.mistakes:
        return format_paragraph(tr("No mistakes that cost points."))
    rows = [
        (
            localize(mistake.description),
            localize(mistake.better),
            len(mistake.seats),
            formatting.localize_number(f"{mistake.points:.0f}"),
        )
        for mistake in review.mistakes[:MISTAKES_SHOWN_MAX]
    ]
    head = (tr("Mistake"), tr("Better"), tr("Seats"), tr("Points lost, all seats"))
    return format_table(tr("Example from the seat that lost the most points"), head, rows)


def _format_confidence(calibration: Calibration | None) -> Iterator[str]:
    """Yield the section that compares the confidence of all seats with their share of correct answers."""
    if calibration is None:
        return
    yield format_heading(2, tr("Confidence and accuracy"))
    yield format_paragraph(formatting.format_brier(calibration))
    rows = [
        (
            f"{point['sure_percent']:g}{formatting.format_percent_sign()}",
            f"{point['right_percent']:.0f}{formatting.format_percent_sign()}",
            point["answers"],
        )
        for point in calibration["curve"]
    ]
    yield format_table(tr("All seats"), (tr("confidence"), tr("correct"), tr("answers")), rows)


def _format_reflections(review: ClassReview) -> Iterator[str]:
    """Yield the section with people's reflections and points.

    People wrote their reflections before they saw their points.
    """
    rows = [
        (
            seat.number,
            seat.name,
            _format_points(seat.reflection.expected_score),
            _format_points(seat.verdict["score"]),
            seat.reflection.happened,
            seat.reflection.otherwise,
        )
        for seat in review.seats
        if seat.reflection is not None
    ]
    if rows:
        yield format_heading(2, tr("Self-assessment before the score"))
        head = (
            tr("Seat"), tr("Name"), tr("Expected"), tr("Points"), tr("What happened, and why"),
            tr("Planned changes"),
        )  # fmt: skip
        yield format_table(tr("Comments"), head, rows)


def _format_seats(review: ClassReview, links: bool) -> str:
    rows = [
        (
            seat.number,
            format_link(_build_page_name(seat), seat.name) if links and seat.debrief_html else seat.name,
            seat.group,
            _format_points(seat.verdict["score"]),
            _format_goals(seat),
            formatting.localize_number(f"{seat.verdict['downtime_s']:.1f}"),
            seat.lost_transactions,
            len(seat.actions),
            _describe_run_end(seat, review.versions.get(seat.number, "")),
        )
        for seat in review.seats
    ]
    head = (
        tr("Seat"), tr("Name"), tr("Group"), tr("Points"), tr("Goals"), tr("Downtime, s"),
        tr("Lost transactions"), tr("Inputs"), tr("End"),
    )  # fmt: skip
    return format_table(tr("Verified by the host"), head, rows)


def _format_points(score: float | None) -> str:
    return "" if score is None else formatting.localize_number(f"{score:.1f}")


def _format_goals(seat: SeatReview) -> str:
    goals = seat.verdict["goals"].values()
    if not goals:
        return ""
    count = f"{sum(met_t_s is not None for met_t_s in goals)}/{len(goals)}"
    instructor_goal_count = len(seat.verdict["instructor_goals"])
    return (
        f"{count} " + tr("({n} met by the instructor)").format(n=instructor_goal_count)
        if instructor_goal_count
        else count
    )


def _describe_run_end(seat: SeatReview, version: str) -> str:
    """Describe how the run of a seat ended, or where its replay diverges from the log.

    *version*: program version of the seat. The states of another version cannot be verified.
    """
    if seat.verdict["parted_t_s"] is not None:
        if version not in ("", get_program_version()):
            return tr("{version}: states of the run not verified").format(
                version=tr("Version {version}").format(version=version)
            )
        text = (
            tr("replay differs at {t}")
            if version
            else tr("replay differs at {t}, or the seat has an older version")
        )
        return text.format(t=formatting.format_run_time(seat.verdict["parted_t_s"]))
    ender = seat.verdict["ended_by"]
    if ender == ENDED_BY_INSTRUCTOR:
        return tr("ended by the instructor")
    return (
        localize(DrillEndReason[ender.upper()].value)
        if ender is not None
        else tr("recorded until {t}").format(t=formatting.format_run_time(seat.verdict["t_s"]))
    )


def _build_tables(review: ClassReview) -> Iterator[tuple[str, str]]:
    """Yield file name and CSV text of each table in the report."""
    yield "board.csv", format_csv_table(
        (
            "seat", "name", "group", "score", "downtime_s", "lost_transactions", "acts", "sent_back", "t_s", "ended_by",
            "parted_t_s", "accuracy", "no_return_s", "instructor_inputs", "instructor_goals", "version",
        ),
        (
            (
                seat.number, seat.name, seat.group, seat.verdict["score"], seat.verdict["downtime_s"],
                seat.lost_transactions, len(seat.actions), seat.verdict["sent_back"], seat.verdict["t_s"],
                seat.verdict["ended_by"], seat.verdict["parted_t_s"], *_get_regret_figures(seat.regret_analysis),
                seat.verdict["instructor_inputs"], " ".join(seat.verdict["instructor_goals"]),
                review.versions.get(seat.number, ""),
            )
            for seat in review.seats
        ),
    )  # fmt: skip
    accounts = [(seat, seat.regret_analysis) for seat in review.seats if seat.regret_analysis is not None]
    if accounts:
        moves = (
            (seat.number, *build_segment_row(move))
            for seat, regret_analysis in accounts
            for move in regret_analysis.moves
        )
        yield "worth.csv", format_csv_table(("seat", *VALUE_COLUMNS), moves)
    reflections = [(seat, seat.reflection) for seat in review.seats if seat.reflection is not None]
    if reflections:
        head = ("seat", "expected_score", "score", "happened", "otherwise")
        rows = (
            (seat.number, note.expected_score, seat.verdict["score"], note.happened, note.otherwise)
            for seat, note in reflections
        )
        yield "reflections.csv", format_csv_table(head, rows)
    yield (
        "deeds.csv",
        format_csv_table(
            ("seat", "t_s", "deed", "by"),
            (
                (seat.number, action.tick / TICKS_PER_S, action.text, author)
                for seat in review.seats
                for author, actions in (("seat", seat.actions), ("instructor", seat.instructor_actions))
                for action in actions
            ),
        ),
    )
    yield (
        "partings.csv",
        format_csv_table(
            ("t_s", "choice", "seats", "mean_score", "cost"),
            (
                (
                    divergence.tick / TICKS_PER_S,
                    choice.text or "waited",
                    " ".join(map(str, choice.seats)),
                    choice.mean_score,
                    divergence.cost,
                )
                for divergence in review.divergences
                for choice in divergence.choices
            ),
        ),
    )
    if review.marks:
        yield (
            "marks.csv",
            format_csv_table(
                ("t_s", "seat", "text"), ((mark.t_s, mark.seat, mark.text) for mark in review.marks)
            ),
        )
    yield (
        "mistakes.csv",
        format_csv_table(
            ("what", "better", "seats", "points"),
            (
                (mistake.description, mistake.better, " ".join(map(str, mistake.seats)), mistake.points)
                for mistake in review.mistakes
            ),
        ),
    )


def _get_regret_figures(regret_analysis: RegretAnalysis | None) -> tuple[float | None, float | None]:
    """Return the accuracy and the point of no return in seconds; None for a missing figure."""
    if regret_analysis is None:
        return None, None
    no_return = regret_analysis.point_of_no_return
    return round(regret_analysis.accuracy, 1), None if no_return is None else no_return / TICKS_PER_S


def _draw_dot_row(
    title: str, values: Sequence[float], maximum: float, lines: Sequence[tuple[str, float | None]], top: int
) -> Iterator[str]:
    """Yield the SVG elements of one row of the class chart, with a dot for each value.

    Dots of equal values are stacked. *lines*: name and value of each vertical line. *top*: upper edge in
    pixels.
    """
    base = top + ROW_HEIGHT - 26
    yield f'<text x="{CHART_LEFT - 12}" y="{base}" text-anchor="end">{escape_text(title)}</text>'
    yield f'<path d="M{CHART_LEFT} {base + 6}H{CHART_WIDTH - CHART_RIGHT}" stroke="#888"/>'
    for part in range(5):
        value = maximum * part / 4
        x = _compute_x(value, maximum)
        yield f'<text x="{x:.1f}" y="{base + 20}" text-anchor="middle" fill="#555">{value:.0f}</text>'
    names: dict[int, list[str]] = {}
    """Position in pixels -> names of the lines there, which share a label."""
    for name, point in ((tr("median"), median(values) if values else None), *lines):
        if point is not None:
            names.setdefault(round(_compute_x(point, maximum)), []).append(name)
    for index, (x, shared) in enumerate(sorted(names.items())):
        name, label_y = ", ".join(shared), top + 12 + 12 * (index % 3)
        anchor = "end" if x > CHART_WIDTH / 2 else "start"
        yield f'<path d="M{x} {label_y}V{base + 6}" stroke="#d55e00" stroke-dasharray="3 2"/>'
        offset = -4 if anchor == "end" else 4
        yield (
            f'<text x="{x + offset}" y="{label_y + 4}" text-anchor="{anchor}" fill="#a04000">'
            f"{escape_text(name)}</text>"
        )
    heights: dict[int, int] = {}
    for value in sorted(values):
        column = round(_compute_x(value, maximum) / (2 * DOT_RADIUS_PX))
        height = heights[column] = heights.get(column, -1) + 1
        step = min(2 * DOT_RADIUS_PX, (ROW_HEIGHT - 44) / max(1, len(values)))
        yield (
            f'<circle cx="{_compute_x(value, maximum):.1f}" cy="{base - height * step:.1f}" r="{DOT_RADIUS_PX}" '
            'fill="#0072b2" fill-opacity="0.65"/>'
        )


def _compute_x(value: float, maximum: float) -> float:
    return CHART_LEFT + (CHART_WIDTH - CHART_LEFT - CHART_RIGHT) * value / maximum
