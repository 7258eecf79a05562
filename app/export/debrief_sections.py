"""Sections of an exported debrief: one page with the summary, and an annex with the evidence. Without Qt."""

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from app.export.source import ExportSource, format_signature, read_choices
from app.export.timeline_svg import MARKER_STYLES
from app.view_models import value_curve
from app.view_models.debrief.model import END_LABELS, find_grade, summarize_run
from app.view_models.debrief.verdict import judge_run
from app.words import formatting
from app.words.formatting import format_run_tick
from app.words.language import mark, tr, trn
from app.words.localization import describe_cause, describe_input, localize
from engine.constants import TICKS_PER_S
from engine.drill.judging.mistakes import Mistake
from engine.drill.judging.replay_timeline import MET, DatabaseLanes, PreconditionHistory
from engine.drill.judging.report_types import ENDED_BY_INSTRUCTOR, ReportRow
from engine.drill.judging.review import FailoverReview
from engine.drill.running.modes import DrillMode
from engine.model import to_ticks


def escape_text(content: object) -> str:
    """Return *content* as HTML with escaped characters; line breaks become <br>."""
    return html.escape(str(content)).replace("\n", "<br>")


def format_heading(level: int, content: str) -> str:
    """Return an HTML heading of this level."""
    return f"<h{level}>{escape_text(content)}</h{level}>"


def format_paragraph(content: str, kind: str = "") -> str:
    """Return an HTML paragraph. *kind*: CSS class."""
    return f'<p class="{kind}">{escape_text(content)}</p>' if kind else f"<p>{escape_text(content)}</p>"


def format_bullets(lines: Iterable[str]) -> str:
    """Return an HTML list with bullets."""
    return f"<ul>{''.join(f'<li>{escape_text(line)}</li>' for line in lines)}</ul>"


class Markup(str):
    """HTML text that must not be escaped again."""


def format_link(url: str, content: str) -> Markup:
    """Return an HTML link."""
    return Markup(f'<a href="{html.escape(url)}">{escape_text(content)}</a>')


def format_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], fixed: Sequence[int] = ()
) -> str:
    """Return an HTML table with column headings. *fixed*: indexes of the columns in a fixed-width font."""
    titles = "".join(f'<th scope="col" align="left">{escape_text(title)}</th>' for title in head)
    body = "".join(
        f"<tr>{''.join(_format_cell(cell, n in fixed) for n, cell in enumerate(row))}</tr>" for row in rows
    )
    return (
        f'<table width="100%" cellspacing="0" cellpadding="4"><caption>{escape_text(caption)}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
    )


def _format_cell(value: object, code: bool) -> str:
    text = value if isinstance(value, Markup) else escape_text(value)
    return f"<td><code>{text}</code></td>" if code else f"<td>{text}</td>"


STEPS_SHOWN_MAX: Final = 4
"""Maximum number of listed actions of the best continuation."""

FIRST_PAGE_MISTAKES_MAX: int = 5
"""Maximum number of mistakes on the first page, the costliest first. The annex lists all."""

DISCLAIMER = mark("This is a simulation. Its simplifications and omissions are listed under Fidelity.")
"""Statement below each debrief about the limits of the simulation."""

MISTAKE_LABELS: Final = {
    "inaccuracy": mark("inaccuracy"),
    "mistake": mark("mistake"),
    "blunder": mark("blunder"),
}
"""Severity of a mistake -> label."""

FIDELITY_LABELS: Final = {
    "modelled": mark("modeled"),
    "simplified": mark("simplified"),
    "absent": mark("absent"),
}
"""Key in a scenario's fidelity table -> label."""

NO_COMPARABLE_FIGURE: Final = mark("no comparable figure is published")
"""Reason that is shown if no published duration is comparable with a failover."""


# --- page one -----------------------------------------------------------------------------------------------


def build_first_page(source: ExportSource, figure: str, mistakes: int = FIRST_PAGE_MISTAKES_MAX) -> str:
    """Build the first page. *figure* is the HTML of the timeline drawing.

    *mistakes*: maximum number of listed mistakes.
    """
    return "".join(
        [
            _format_head(source),
            _format_verdict(source),
            _format_figures(source),
            figure,
            format_heading(2, tr("Goals")),
            _format_goals(source),
            *_describe_instructor(source),
            format_heading(2, tr("What happened, and why")),
            _describe_causes(source),
            format_heading(2, tr("Deductions")),
            _format_costliest_mistakes(source, mistakes),
        ]
    )


def _format_head(source: ExportSource) -> str:
    review, report = source.review, source.report
    score = tr("Free play, no points")
    total = review.total
    if source.instructor_goals and source.drill.mode is DrillMode.EXAM:
        total = source.drill.compute_score_without(source.instructor_goals).total
    if total is not None:
        score = tr("{points} of 100 points").format(points=formatting.format_plain_number(total))
        score += f" · {find_grade(total, report['score']['finished']).text}"
        score += "" if report["score"]["finished"] else " " + tr("(not finished)")
    facts = tr("{mode}, seed {seed}; {ended}, after {time}.").format(
        mode=formatting.get_mode_name(report["mode"]),
        seed=report["seed"],
        ended=tr(END_LABELS[ENDED_BY_INSTRUCTOR])
        if report["ended_by"] == ENDED_BY_INSTRUCTOR
        else localize(review.ended),
        time=format_run_tick(source.drill.tick),
    )
    signature_html = format_paragraph(format_signature(source)) if format_signature(source) else ""
    times = len(source.drill.rewinds)
    text = " " + trn("Rewound {n} time.", "Rewound {n} times.", times).format(n=times) if times else ""
    return (
        format_heading(1, review.title)
        + format_paragraph(score, "score")
        + signature_html
        + format_paragraph(facts + text, "muted")
    )


def _format_figures(source: ExportSource) -> str:
    """Return a table with the figures of this run and, if there is a reference solution, its figures."""
    reference = source.review.reference
    theirs = {row.name: row.right for row in reference.outcomes} if reference is not None else {}
    head = ["", tr("this run"), *([tr("reference")] if theirs else [])]
    rows = []
    for figure in summarize_run(source.report, source.drill.scenario).figures:
        other_figure = _format_figure(figure.key, theirs[figure.key]) if figure.key in theirs else ""
        # em space, which indents the label of a detail
        label = f"\u2003{figure.label}" if figure.detail else figure.label
        rows.append([label, figure.value, *([other_figure] if theirs else [])])
    return format_table(tr("Outcome"), head, rows)


def _format_figure(name: str, value: float) -> str:
    if name.endswith("_s"):
        return formatting.format_seconds(value)
    return formatting.format_kb(value) if name.endswith("_kb") else formatting.format_significant(value, 4)


def _format_verdict(source: ExportSource) -> str:
    """Return the biggest mistake and the best alternative, as on the first screen of the debrief."""
    verdict = judge_run(source.report, source.review, source.regret_analysis, source.lessons)
    if verdict is None:
        return ""
    steps = "\n".join(
        f"{number}. {step.time_text}  {step.text}" for number, step in enumerate(verdict.steps, 1)
    )
    parts = [verdict.sentence, "\n".join(filter(None, (verdict.steps_heading, steps))), *verdict.lines]
    return format_heading(2, verdict.card_heading) + "".join(format_paragraph(text) for text in parts if text)


def _format_goals(source: ExportSource) -> str:
    lines = []
    for goal in source.report["goals"]:
        met_time = tr("not met")
        if goal["met"]:
            met_time = tr("met at {moment}").format(moment=format_run_tick(to_ticks(goal["met_t_s"])))
            if goal["name"] in source.instructor_goals:
                met_time += ", " + tr("by an action of the instructor")
        lines.append(f"{'✓' if goal['met'] else '✗'} {goal['text']}: {met_time}")
    return format_paragraph("\n".join(lines) or tr("Free play: no scored goals."))


def _describe_instructor(source: ExportSource) -> Iterator[str]:
    """Yield the inputs that the instructor entered, and their effect on the points."""
    if not source.instructor_inputs:
        return
    choices = read_choices(source)
    lines = [
        f"{format_run_tick(item.tick)}  {describe_input(item.line_without_time, choices)}"
        for item in source.instructor_inputs
    ]
    yield format_heading(2, tr("What the instructor did in this run"))
    yield format_paragraph("\n".join(lines))
    if source.instructor_goals:
        exam = source.drill.mode is DrillMode.EXAM
        yield format_paragraph(
            tr("This was an exam: goals met through inputs of the instructor do not count.")
            if exam
            else tr("Goals met through inputs of the instructor count here. In an exam they would not count.")
        )


def _format_attempt(row: ReportRow) -> str:
    failure_text = tr("The {kind} failover of {database} from {from_server} to {to_server} failed: {why}.")
    return failure_text.format(
        **{**row, "kind": formatting.get_failover_kind_name(row["kind"]), "why": localize(row["why"])}
    )


def _describe_causes(source: ExportSource) -> str:
    lines = [
        tr("{database} was down from {start} to {end}, {length}. {why}").format(
            database=outage.database,
            start=format_run_tick(outage.span.from_tick),
            end=format_run_tick(outage.span.to_tick),
            length=formatting.format_seconds(outage.span.ticks / TICKS_PER_S, 1),
            why=localize(outage.verdict),
        )
        for outage in source.review.outages
    ]
    lines += [_format_failover(failover) for failover in source.review.failovers]
    lines += [_format_attempt(row) for row in source.report["attempts"]]
    lines += [
        tr("{count} committed transactions ({size}) of {database} were lost on {server} at {moment}.").format(
            count=formatting.format_number(transactions.transactions),
            size=formatting.format_kb(transactions.kb),
            database=transactions.database,
            server=transactions.server,
            moment=format_run_tick(transactions.tick),
        )
        for transactions in source.review.lost
    ]
    return format_bullets(lines) if lines else format_paragraph(tr("No downtime, no data loss."))


FAILOVER_LABELS: Final = {
    "automatic": mark("{database}: automatic failover {one} → {other}"),
    "manual": mark("{database}: manual failover {one} → {other}"),
    "forced": mark("{database}: forced failover {one} → {other}"),
    "role-move": mark("{database}: role moved {one} → {other}"),
}
"""Kind of failover -> text that names the database and both servers."""


def _format_failover(failover: FailoverReview) -> str:
    direction = tr(FAILOVER_LABELS[failover.kind]).format(
        database=failover.database, one=failover.from_server, other=failover.to_server
    )
    if failover.took_s is None:
        return tr("{way}, not completed.").format(way=direction)
    duration_text = tr("{way} in {time}").format(
        way=direction, time=formatting.format_seconds(failover.took_s)
    )
    if failover.published_s is None:
        return tr("{took}. Not compared with published times: {why}.").format(
            took=duration_text, why=_format_difference_reason(failover)
        )
    return tr("{took}; published {time} ({reference}), {share}.").format(
        took=duration_text,
        time=formatting.format_seconds(failover.published_s, 1),
        reference=failover.published_ref,
        share=formatting.format_percent(failover.took_s / failover.published_s - 1.0, 0, shows_plus=True),
    )


def _format_difference_reason(failover: FailoverReview) -> str:
    return localize(failover.unlike) if failover.unlike else tr(NO_COMPARABLE_FIGURE)


def _format_costliest_mistakes(source: ExportSource, count: int) -> str:
    mistakes = sorted(source.review.mistakes, key=lambda m: -m.points)[:count]
    if not mistakes:
        return format_paragraph(tr("None.") if source.review.total is not None else tr("No score."))
    rows = [
        [
            format_run_tick(m.tick),
            f"−{formatting.format_plain_number(m.points)}",
            f"{localize(m.what)} {_format_better_action(m.better)}",
        ]
        for m in mistakes
    ]
    omitted_count = len(source.review.mistakes) - len(mistakes)
    more_html = (
        format_paragraph(tr("More mistakes in the annex: {n}.").format(n=omitted_count), "muted")
        if omitted_count
        else ""
    )
    return (
        format_table(
            tr("Biggest mistakes first"), [tr("time"), tr("points"), tr("score rule and better action")], rows
        )
        + more_html
    )


def _format_better_action(better: str) -> str:
    return tr("Better: {better}").format(better=localize(better))


# --- annex --------------------------------------------------------------------------------------------------


def build_annex(source: ExportSource, curve: str) -> Iterator[tuple[str, str]]:
    """Yield (title, content) of each section that has content.

    *curve* is the HTML of the drawing of the reachable score.
    """
    sections = (
        (tr("Compared with the best possible run"), _format_best_continuation(source, curve)),
        (tr("Score by rule"), _format_score(source)),
        (tr("Mistakes, and where to retry"), _format_mistakes(source.review.mistakes)),
        (tr("Failovers by phase"), _format_phases(source.review.failovers)),
        (tr("Preconditions of an automatic failover"), _format_preconditions(source)),
        (tr("Questions"), _format_questions(source)),
        (tr("Reference solution, step by step"), _format_reference(source)),
        (tr("Commands"), _format_commands(source)),
        (tr("Timeline of events"), _format_events(source)),
        (tr("Fidelity"), _format_fidelity(source)),
    )
    return ((title, content) for title, content in sections if content)


def _format_best_continuation(source: ExportSource, curve: str) -> str:
    regret_analysis = source.regret_analysis
    if regret_analysis is None:
        return ""
    choices, chance, refused = (
        read_choices(source),
        regret_analysis.last_chance,
        value_curve.list_refused_batches(source.report),
    )
    rows = [
        [
            number,
            value_curve.format_segment(move, choices, chance, refused),
            value_curve.format_segment_loss(move),
            "\n".join(
                f"{format_run_tick(item.tick)}  {describe_input(item.line_without_time, choices)}"
                for item in move.best[:STEPS_SHOWN_MAX]
            )
            if move.regret >= value_curve.SHOWN_LOSS_MIN
            else "",
        ]
        for number, move in enumerate(value_curve.find_marked_segments(regret_analysis), 1)
    ]
    head = [tr("number"), tr("action or wait"), tr("points lost"), tr("best continuation")]
    lines = (
        []
        if chance is None
        else [value_curve.format_point_of_no_return(chance, choices), value_curve.format_missed_goals(chance)]
    )
    table_of_moves = format_table(tr("All numbered actions and waits"), head, rows, [3]) if rows else ""
    return (
        format_paragraph(" ".join([*lines, value_curve.format_accuracy(regret_analysis)]))
        + curve
        + format_paragraph(
            f"{value_curve.explain_curve()} {value_curve.format_certainty(regret_analysis)}", "muted"
        )
        + table_of_moves
    )


def _format_score(source: ExportSource) -> str:
    items = source.report["score"]["items"]
    if not items:
        return ""
    rows = []
    for item in items:
        points = formatting.format_plain_number(item["points"])
        if item["max"]:
            points = tr("{points} of {most}").format(
                points=points, most=formatting.format_plain_number(item["max"])
            )
        better = f"\n{_format_better_action(item['better'])}" if item["better"] else ""
        times_text = ", ".join(
            format_run_tick(to_ticks(at_s)) for at_s in list(dict.fromkeys(item["at_s"]))[:6]
        )
        rows.append([localize(item["name"]), points, f"{localize(item['why'])}{better}", times_text])
    return format_table(
        tr("Score rules with points"), [tr("rule"), tr("points"), tr("reason"), tr("time")], rows
    )


def _format_mistakes(mistakes: Sequence[Mistake]) -> str:
    if not mistakes:
        return ""
    rows = [
        [
            format_run_tick(m.tick),
            tr(MISTAKE_LABELS[m.size]),
            f"−{formatting.format_plain_number(m.points)}",
            _describe_mistake(m),
            format_run_tick(m.retry_tick),
        ]
        for m in mistakes
    ]
    heading = tr("score rule, cause and better action")
    head = [tr("time"), tr("size"), tr("points"), heading, tr("retry from")]
    return format_table(tr("All deductions in chronological order"), head, rows)


def _describe_mistake(mistake: Mistake) -> str:
    return "\n".join(
        filter(None, (localize(mistake.what), describe_cause(mistake), _format_better_action(mistake.better)))
    )


def _format_phases(failovers: Sequence[FailoverReview]) -> str:
    if not failovers:
        return ""
    rows = []
    for failover in failovers:
        direction = f"{failover.database}: {failover.from_server} → {failover.to_server}"
        spans = "\n".join(
            f"{localize(phase.name)} {formatting.format_seconds((phase.to_tick - phase.from_tick) / TICKS_PER_S)}"
            for phase in failover.phases
        )
        published = tr("not compared: {why}").format(why=_format_difference_reason(failover))
        if failover.published_s:
            published = f"{formatting.format_seconds(failover.published_s, 1)} ({failover.published_ref})"
        kind = f"{formatting.get_failover_kind_name(failover.kind)}, {failover.cause}"
        rows.append([direction, kind, spans, formatting.format_seconds(failover.took_s), published])
    head = [
        tr("failover"),
        tr("kind and cause of the failover"),
        tr("phases"),
        tr("from detection to role change"),
        tr("published"),
    ]
    return format_table(tr("Time by phase"), head, rows)


def _format_preconditions(source: ExportSource) -> str:
    return "".join(_format_guards(lanes) for lanes in source.review.lanes.values() if lanes.preconditions)


def _format_guards(lanes: DatabaseLanes) -> str:
    rows = [
        [
            f"{guard.target}: {localize(guard.name)}" if guard.target else localize(guard.name),
            _format_times(guard, True),
            _format_times(guard, False),
            localize(guard.seen_in),
        ]
        for guard in lanes.preconditions
    ]
    title = tr("{database}: times when each precondition was met").format(database=lanes.database)
    return format_table(title, [tr("precondition"), tr("met"), tr("not met"), tr("where to check")], rows)


def _format_times(guard: PreconditionHistory, holds: bool) -> str:
    spans = [span for span in guard.spans if (span.what == MET) is holds]
    return (
        ", ".join(f"{format_run_tick(span.from_tick)}–{format_run_tick(span.to_tick)}" for span in spans)
        or formatting.NO_VALUE
    )


def _format_questions(source: ExportSource) -> str:
    rows = []
    joint = " " + tr("or") + " "
    for question in source.report["questions"]:
        if "right" not in question:
            continue
        choices = question["choices"]
        answer = choices[question["choice"] - 1] if question["choice"] is not None else formatting.NO_VALUE
        right = joint.join(choices[number - 1] for number in question["right"]) or formatting.NO_VALUE
        judgment = tr("correct") if question["correct"] else tr("wrong")
        rows.append([question["text"], answer, right, judgment, question["why"]])
    head = [tr("question"), tr("answer"), tr("correct"), tr("result"), tr("reason")]
    return format_table(tr("Questions and answers"), head, rows) if rows else ""


def _format_reference(source: ExportSource) -> str:
    reference = source.review.reference
    if reference is None:
        return ""
    choices = read_choices(source)
    rows = [
        [
            format_run_tick(step.tick),
            describe_input(step.line, choices),
            step.why,
            format_run_tick(step.done_tick) if step.done_tick is not None else tr("never"),
        ]
        for step in reference.steps
    ]
    head = [tr("time"), tr("step"), tr("reason"), tr("time of the action")]
    steps = format_table(tr("Steps of the reference solution, and the times of your steps"), head, rows, [1])
    extra_lines = [
        [format_run_tick(item.tick), describe_input(item.line_without_time, choices)]
        for item in reference.besides
    ]
    if not extra_lines:
        return steps
    return steps + format_table(
        tr("Your actions outside the reference solution"), [tr("time"), tr("input")], extra_lines, [1]
    )


def _format_commands(source: ExportSource) -> str:
    rows = []
    for batch in source.report["sql"]:
        errors = [m for m in batch["messages"] if m["severity"] > 10]
        answer = "\n".join(f"Msg {m['number']}: {m['text']}" for m in errors) or tr("done")
        rows.append(
            [format_run_tick(to_ticks(batch["t_s"])), batch["server"], batch["batch"].strip(), answer]
        )
    head = [tr("time"), tr("server"), tr("batch"), tr("answer")]
    return format_table(tr("All batches and their results"), head, rows, [2]) if rows else ""


def _format_events(source: ExportSource) -> str:
    rows = [
        [
            format_run_tick(m.tick),
            tr(MARKER_STYLES[m.kind][0]),
            m.server or "",
            m.database or "",
            localize(m.text),
        ]
        for m in source.review.happened
    ]
    head = [tr("time"), tr("kind"), tr("server"), tr("database"), tr("event")]
    return format_table(tr("Marked times"), head, rows) if rows else ""


def _format_fidelity(source: ExportSource) -> str:
    scenario = source.drill.scenario
    lines = [f"{publication.paper}: {publication.section}" for publication in scenario.sources]
    parts = format_paragraph(tr(DISCLAIMER)) + (format_bullets(lines) if lines else "")
    if scenario.fidelity is not None:
        rows = [[tr(word), getattr(scenario.fidelity, name)] for name, word in FIDELITY_LABELS.items()]
        parts += format_table(tr("Limits of the simulation in this drill"), ["", ""], rows)
    return parts


def format_title(source: ExportSource) -> str:
    """Return the title of the document."""
    return escape_text(tr("Debrief: {title}").format(title=source.review.title))
