"""Debrief by section: one page with the summary, and an annex with the evidence. Without Qt."""

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from app.export.course_svg import MARKS
from app.export.source import ExportSource, read_choices, signature
from app.view_models import value_curve
from app.view_models.debrief.model import ENDED, find_grade, summarize
from app.view_models.debrief.verdict import judge_run
from app.words import formatting
from app.words.formatting import moment
from app.words.language import mark, tr, trn
from app.words.localization import cause, describe_input, localize
from engine.constants import TICKS_PER_S
from engine.drill.judging.mistakes import Mistake
from engine.drill.judging.replay_timeline import HOLDS, Lanes, PreconditionHistory
from engine.drill.judging.review import FailoverReview
from engine.drill.judging.shapes import BY_INSTRUCTOR, Row
from engine.drill.running.modes import DrillMode
from engine.model import ticks


def escape_text(content: object) -> str:
    """Escape *content* and keep line breaks."""
    return html.escape(str(content)).replace("\n", "<br>")


def heading(level: int, content: str) -> str:
    """Return a heading of a level."""
    return f"<h{level}>{escape_text(content)}</h{level}>"


def paragraph(content: str, kind: str = "") -> str:
    """Return a paragraph, with a CSS class."""
    return f'<p class="{kind}">{escape_text(content)}</p>' if kind else f"<p>{escape_text(content)}</p>"


def bullets(lines: Iterable[str]) -> str:
    """Return a bullet list."""
    return f"<ul>{''.join(f'<li>{escape_text(line)}</li>' for line in lines)}</ul>"


class Markup(str):
    """Complete HTML, which is not escaped again."""


def link(url: str, content: str) -> Markup:
    """Return a link."""
    return Markup(f'<a href="{html.escape(url)}">{escape_text(content)}</a>')


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], fixed: Sequence[int] = ()
) -> str:
    """Return a table with marked headings. *fixed*: columns with code."""
    titles = "".join(f'<th scope="col" align="left">{escape_text(title)}</th>' for title in head)
    body = "".join(
        f"<tr>{''.join(_cell(cell, n in fixed) for n, cell in enumerate(row))}</tr>" for row in rows
    )
    return (
        f'<table width="100%" cellspacing="0" cellpadding="4"><caption>{escape_text(caption)}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: object, code: bool) -> str:
    text = value if isinstance(value, Markup) else escape_text(value)
    return f"<td><code>{text}</code></td>" if code else f"<td>{text}</td>"


STEPS_SHOWN: Final = 4
"""Maximum listed actions of the best continuation."""

MISTAKES_ON_PAGE: int = 5
"""Maximum mistakes on the page, the costliest first; the annex has all."""

DISCLAIMER = mark("A simulation. See Fidelity for simplifications and omissions.")

SIZES: Final = {"inaccuracy": mark("inaccuracy"), "mistake": mark("mistake"), "blunder": mark("blunder")}

FIDELITY: Final = {"modelled": mark("modeled"), "simplified": mark("simplified"), "absent": mark("absent")}

UNLIKE: Final = mark("no comparable figure is published")


# --- page one -----------------------------------------------------------------------------------------------


def first_page(source: ExportSource, figure: str, mistakes: int = MISTAKES_ON_PAGE) -> str:
    """Build the first page; *figure* is a placeholder for the drawing of the timeline."""
    return "".join(
        [
            _head(source),
            _verdict(source),
            _figures(source),
            figure,
            heading(2, tr("Goals")),
            _goals(source),
            *_describe_instructor(source),
            heading(2, tr("What happened, and why")),
            _describe_causes(source),
            heading(2, tr("Deductions")),
            _costliest(source, mistakes),
        ]
    )


def _head(source: ExportSource) -> str:
    review, report = source.review, source.report
    score = tr("Free play, no points")
    total = review.total
    if source.instructor_goals and source.drill.mode is DrillMode.EXAM:
        total = source.drill.score_without(source.instructor_goals).total
    if total is not None:
        score = tr("{points} of 100 points").format(points=formatting.plain_number(total))
        score += f" · {find_grade(total, report['score']['finished']).text}"
        score += "" if report["score"]["finished"] else " " + tr("(not finished)")
    facts = tr("{mode}, seed {seed}; {ended}, after {time}.").format(
        mode=formatting.mode(report["mode"]),
        seed=report["seed"],
        ended=tr(ENDED[BY_INSTRUCTOR]) if report["ended_by"] == BY_INSTRUCTOR else localize(review.ended),
        time=moment(source.drill.tick),
    )
    signature_html = paragraph(signature(source)) if signature(source) else ""
    times = len(source.drill.rewinds)
    text = " " + trn("Rewound {n} time.", "Rewound {n} times.", times).format(n=times) if times else ""
    return (
        heading(1, review.title)
        + paragraph(score, "score")
        + signature_html
        + paragraph(facts + text, "muted")
    )


def _figures(source: ExportSource) -> str:
    """Return the figures of this run, and those of the reference if there is one."""
    reference = source.review.reference
    theirs = {row.name: row.right for row in reference.outcomes} if reference is not None else {}
    head = ["", tr("this run"), *([tr("reference")] if theirs else [])]
    rows = []
    for figure in summarize(source.report, source.drill.scenario).figures:
        other_figure = _figure(figure.key, theirs[figure.key]) if figure.key in theirs else ""
        label = f"\u2003{figure.label}" if figure.detail else figure.label  # an em space
        rows.append([label, figure.value, *([other_figure] if theirs else [])])
    return table(tr("Outcome"), head, rows)


def _figure(name: str, value: float) -> str:
    if name.endswith("_s"):
        return formatting.seconds(value)
    return formatting.kb(value) if name.endswith("_kb") else formatting.significant(value, 4)


def _verdict(source: ExportSource) -> str:
    """Return the biggest mistake and the best alternative, as on the first screen."""
    verdict = judge_run(source.report, source.review, source.account, source.lessons)
    if verdict is None:
        return ""
    steps = "\n".join(
        f"{number}. {step.time_text}  {step.text}" for number, step in enumerate(verdict.steps, 1)
    )
    parts = [verdict.sentence, "\n".join(filter(None, (verdict.heading, steps))), *verdict.lines]
    return heading(2, verdict.lead) + "".join(paragraph(text) for text in parts if text)


def _goals(source: ExportSource) -> str:
    lines = []
    for goal in source.report["goals"]:
        met_time = tr("not met")
        if goal["met"]:
            met_time = tr("met at {moment}").format(moment=moment(ticks(goal["met_t_s"])))
            if goal["name"] in source.instructor_goals:
                met_time += ", " + tr("by the instructor")
        lines.append(f"{'✓' if goal['met'] else '✗'} {goal['text']}: {met_time}")
    return paragraph("\n".join(lines) or tr("Free play: no scored goals."))


def _describe_instructor(source: ExportSource) -> Iterator[str]:
    """Yield the inputs that are the instructor's, and their effect on the points."""
    if not source.instructor_inputs:
        return
    choices = read_choices(source)
    lines = [
        f"{moment(item.tick)}  {describe_input(item.line_without_time, choices)}"
        for item in source.instructor_inputs
    ]
    yield heading(2, tr("What the instructor did in this run"))
    yield paragraph("\n".join(lines))
    if source.instructor_goals:
        exam = source.drill.mode is DrillMode.EXAM
        yield paragraph(
            tr("Goals that the run reached through these inputs do not count: this was an exam.")
            if exam
            else tr("Goals that the run reached through these inputs count here; in an exam they would not.")
        )


def _attempt_words(row: Row) -> str:
    failure_text = tr("The {kind} failover of {database} from {from_server} to {to_server} failed: {why}.")
    return failure_text.format(
        **{**row, "kind": formatting.failover_kind(row["kind"]), "why": localize(row["why"])}
    )


def _describe_causes(source: ExportSource) -> str:
    lines = [
        tr("{database} was down from {start} to {end}, {length}. {why}").format(
            database=outage.database,
            start=moment(outage.span.from_tick),
            end=moment(outage.span.to_tick),
            length=formatting.seconds(outage.span.ticks / TICKS_PER_S, 1),
            why=localize(outage.verdict),
        )
        for outage in source.review.outages
    ]
    lines += [_failover_words(failover) for failover in source.review.failovers]
    lines += [_attempt_words(row) for row in source.report["attempts"]]
    lines += [
        tr("{count} committed transactions ({size}) of {database} were lost on {server} at {moment}.").format(
            count=formatting.number(transactions.transactions),
            size=formatting.kb(transactions.kb),
            database=transactions.database,
            server=transactions.server,
            moment=moment(transactions.tick),
        )
        for transactions in source.review.lost
    ]
    return bullets(lines) if lines else paragraph(tr("No downtime, no data loss."))


WAYS: Final = {
    "automatic": mark("{database}: automatic failover {one} → {other}"),
    "manual": mark("{database}: manual failover {one} → {other}"),
    "forced": mark("{database}: forced failover {one} → {other}"),
    "role-move": mark("{database}: role moved {one} → {other}"),
}


def _failover_words(failover: FailoverReview) -> str:
    direction = tr(WAYS[failover.kind]).format(
        database=failover.database, one=failover.from_server, other=failover.to_server
    )
    if failover.took_s is None:
        return tr("{way}, not completed.").format(way=direction)
    duration_text = tr("{way} in {time}").format(way=direction, time=formatting.seconds(failover.took_s))
    if failover.published_s is None:
        return tr("{took}. Not compared with published times: {why}.").format(
            took=duration_text, why=_unlike(failover)
        )
    return tr("{took}; published {time} ({reference}), {share}.").format(
        took=duration_text,
        time=formatting.seconds(failover.published_s, 1),
        reference=failover.published_ref,
        share=formatting.percent(failover.took_s / failover.published_s - 1.0, 0, sign=True),
    )


def _unlike(failover: FailoverReview) -> str:
    return localize(failover.unlike) if failover.unlike else tr(UNLIKE)


def _costliest(source: ExportSource, count: int) -> str:
    mistakes = sorted(source.review.mistakes, key=lambda m: -m.points)[:count]
    if not mistakes:
        return paragraph(tr("None.") if source.review.total is not None else tr("No score."))
    rows = [
        [
            moment(m.tick),
            f"−{formatting.plain_number(m.points)}",
            f"{localize(m.what)} {_format_better_action(m.better)}",
        ]
        for m in mistakes
    ]
    omitted_count = len(source.review.mistakes) - len(mistakes)
    more_html = (
        paragraph(tr("{n} more in the annex.").format(n=omitted_count), "muted") if omitted_count else ""
    )
    return (
        table(tr("Biggest mistakes first"), [tr("at"), tr("points"), tr("item and better action")], rows)
        + more_html
    )


def _format_better_action(better: str) -> str:
    return tr("Better: {better}").format(better=localize(better))


# --- annex --------------------------------------------------------------------------------------------------


def annex(source: ExportSource, curve: str) -> Iterator[tuple[str, str]]:
    """Return (title, content) of each section that has content.

    *curve* is a placeholder for the drawing of the reachable score.
    """
    sections = (
        (tr("Compared with the best possible"), _best(source, curve)),
        (tr("Score by rule"), _score(source)),
        (tr("Mistakes and retry points"), _mistakes(source.review.mistakes)),
        (tr("Failovers by phase"), _phases(source.review.failovers)),
        (tr("Preconditions of an automatic failover"), _preconditions(source)),
        (tr("Questions"), _questions(source)),
        (tr("Reference solution, step by step"), _reference(source)),
        (tr("Commands"), _commands(source)),
        (tr("Timeline of events"), _events(source)),
        (tr("Fidelity"), _fidelity(source)),
    )
    return ((title, content) for title, content in sections if content)


def _best(source: ExportSource, curve: str) -> str:
    account = source.account
    if account is None:
        return ""
    choices, chance, refused = (
        read_choices(source),
        account.last_chance,
        value_curve.list_refused(source.report),
    )
    rows = [
        [
            number,
            value_curve.format_move(move, choices, chance, refused),
            value_curve.format_cost(move),
            "\n".join(
                f"{moment(item.tick)}  {describe_input(item.line_without_time, choices)}"
                for item in move.best[:STEPS_SHOWN]
            )
            if move.regret >= value_curve.NOTED
            else "",
        ]
        for number, move in enumerate(value_curve.find_stops(account), 1)
    ]
    head = [tr("number"), tr("action or wait"), tr("points lost"), tr("best continuation")]
    lines = (
        []
        if chance is None
        else [value_curve.format_point_of_no_return(chance, choices), value_curve.format_missed_goals(chance)]
    )
    table_of_moves = table(tr("All numbered actions and waits"), head, rows, [3]) if rows else ""
    return (
        paragraph(" ".join([*lines, value_curve.format_accuracy(account)]))
        + curve
        + paragraph(f"{value_curve.explain_curve()} {value_curve.format_certainty(account)}", "muted")
        + table_of_moves
    )


def _score(source: ExportSource) -> str:
    items = source.report["score"]["items"]
    if not items:
        return ""
    rows = []
    for item in items:
        points = formatting.plain_number(item["points"])
        if item["max"]:
            points = tr("{points} of {most}").format(points=points, most=formatting.plain_number(item["max"]))
        better = f"\n{_format_better_action(item['better'])}" if item["better"] else ""
        times_text = ", ".join(moment(ticks(at_s)) for at_s in list(dict.fromkeys(item["at_s"]))[:6])
        rows.append([localize(item["name"]), points, f"{localize(item['why'])}{better}", times_text])
    return table(tr("Score rules with points"), [tr("rule"), tr("points"), tr("why"), tr("at")], rows)


def _mistakes(mistakes: Sequence[Mistake]) -> str:
    if not mistakes:
        return ""
    rows = [
        [
            moment(m.tick),
            tr(SIZES[m.size]),
            f"−{formatting.plain_number(m.points)}",
            _describe_mistake(m),
            moment(m.retry_tick),
        ]
        for m in mistakes
    ]
    heading = tr("item, cause and better action")
    head = [tr("at"), tr("size"), tr("points"), heading, tr("retry from")]
    return table(tr("All deductions in chronological order"), head, rows)


def _describe_mistake(mistake: Mistake) -> str:
    return "\n".join(
        filter(None, (localize(mistake.what), cause(mistake), _format_better_action(mistake.better)))
    )


def _phases(failovers: Sequence[FailoverReview]) -> str:
    if not failovers:
        return ""
    rows = []
    for failover in failovers:
        direction = f"{failover.database}: {failover.from_server} → {failover.to_server}"
        spans = "\n".join(
            f"{localize(phase.name)} {formatting.seconds((phase.to_tick - phase.from_tick) / TICKS_PER_S)}"
            for phase in failover.phases
        )
        published = tr("not compared: {why}").format(why=_unlike(failover))
        if failover.published_s:
            published = f"{formatting.seconds(failover.published_s, 1)} ({failover.published_ref})"
        kind = f"{formatting.failover_kind(failover.kind)}, {failover.cause}"
        rows.append([direction, kind, spans, formatting.seconds(failover.took_s), published])
    head = [
        tr("failover"),
        tr("kind and cause"),
        tr("phases"),
        tr("detection to role change"),
        tr("published"),
    ]
    return table(tr("Time by phase"), head, rows)


def _preconditions(source: ExportSource) -> str:
    return "".join(_guards(lanes) for lanes in source.review.lanes.values() if lanes.preconditions)


def _guards(lanes: Lanes) -> str:
    rows = [
        [
            f"{guard.target}: {localize(guard.name)}" if guard.target else localize(guard.name),
            _times(guard, True),
            _times(guard, False),
            localize(guard.seen_in),
        ]
        for guard in lanes.preconditions
    ]
    title = tr("{database}: times when each precondition was met").format(database=lanes.database)
    return table(title, [tr("precondition"), tr("met"), tr("not met"), tr("where to check")], rows)


def _times(guard: PreconditionHistory, holds: bool) -> str:
    spans = [span for span in guard.spans if (span.what == HOLDS) is holds]
    return (
        ", ".join(f"{moment(span.from_tick)}–{moment(span.to_tick)}" for span in spans) or formatting.NOTHING
    )


def _questions(source: ExportSource) -> str:
    rows = []
    joint = " " + tr("or") + " "
    for question in source.report["questions"]:
        if "right" not in question:
            continue
        choices = question["choices"]
        answer = choices[question["choice"] - 1] if question["choice"] is not None else formatting.NOTHING
        right = joint.join(choices[number - 1] for number in question["right"]) or formatting.NOTHING
        judgment = tr("correct") if question["correct"] else tr("wrong")
        rows.append([question["text"], answer, right, judgment, question["why"]])
    head = [tr("question"), tr("answer"), tr("correct"), tr("result"), tr("why")]
    return table(tr("Questions and answers"), head, rows) if rows else ""


def _reference(source: ExportSource) -> str:
    reference = source.review.reference
    if reference is None:
        return ""
    choices = read_choices(source)
    rows = [
        [
            moment(step.tick),
            describe_input(step.line, choices),
            step.why,
            moment(step.done_tick) if step.done_tick is not None else tr("never"),
        ]
        for step in reference.steps
    ]
    head = [tr("at"), tr("step"), tr("why"), tr("time of the action")]
    steps = table(tr("Steps of the reference solution, and the times of your steps"), head, rows, [1])
    extra_lines = [
        [moment(item.tick), describe_input(item.line_without_time, choices)] for item in reference.besides
    ]
    if not extra_lines:
        return steps
    return steps + table(tr("Your other actions"), [tr("at"), tr("input")], extra_lines, [1])


def _commands(source: ExportSource) -> str:
    rows = []
    for batch in source.report["sql"]:
        errors = [m for m in batch["messages"] if m["severity"] > 10]
        answer = "\n".join(f"Msg {m['number']}: {m['text']}" for m in errors) or tr("done")
        rows.append([moment(ticks(batch["t_s"])), batch["server"], batch["batch"].strip(), answer])
    head = [tr("at"), tr("server"), tr("batch"), tr("answer")]
    return table(tr("All batches and their results"), head, rows, [2]) if rows else ""


def _events(source: ExportSource) -> str:
    rows = [
        [moment(m.tick), tr(MARKS[m.kind][0]), m.server or "", m.database or "", localize(m.text)]
        for m in source.review.happened
    ]
    head = [tr("at"), tr("kind"), tr("server"), tr("database"), tr("what")]
    return table(tr("Marked times"), head, rows) if rows else ""


def _fidelity(source: ExportSource) -> str:
    scenario = source.drill.scenario
    lines = [f"{publication.paper}: {publication.section}" for publication in scenario.sources]
    parts = paragraph(tr(DISCLAIMER)) + (bullets(lines) if lines else "")
    if scenario.fidelity is not None:
        rows = [[tr(word), getattr(scenario.fidelity, name)] for name, word in FIDELITY.items()]
        parts += table(tr("Limits of the simulation in this drill"), ["", ""], rows)
    return parts


def title(source: ExportSource) -> str:
    """Return the title for the head of a document."""
    return escape_text(tr("Debrief: {title}").format(title=source.review.title))
