"""What a debrief says, section by section: one page that tells it all, and an annex that proves it. No Qt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from app.export.course_svg import MARKS
from app.export.parts import bullets, heading, paragraph, table, text
from app.export.source import Source, asked_in, signature
from app.view_models import worth
from app.words import formatting
from app.words.formatting import moment
from app.words.input_lines import worded
from app.words.language import mark, tr, trn
from app.words.mistakes import cause
from app.words.sentences import said
from engine.constants import TICKS_PER_S
from engine.drill.judging.mistakes import Mistake
from engine.drill.judging.review import FailoverReview
from engine.drill.judging.shapes import Row
from engine.drill.judging.watch import HOLDS, Lanes, Precondition
from engine.model import ticks

STEPS_SHOWN: Final = 4
"""Acts of the best that are listed."""

MISTAKES_ON_PAGE: int = 5
"""The costliest ones; the annex has all."""

DISCLAIMER = mark("A simulation. See Fidelity for simplifications and omissions.")

SIZES: Final = {"inaccuracy": mark("inaccuracy"), "mistake": mark("mistake"), "blunder": mark("blunder")}

FIGURES: Final = {
    "downtime_s": mark("downtime"),
    "exposed_s": mark("unprotected"),
    "lost_transactions": mark("transactions lost"),
    "lost_kb": mark("log lost"),
    "score": mark("points"),
}

FIDELITY: Final = {
    "modelled": mark("modelled"),
    "simplified": mark("simplified"),
    "absent": mark("absent"),
}

UNLIKE: Final = mark("no comparable figure was published")


# --- page one -----------------------------------------------------------------------------------------------


def first_page(source: Source, figure: str, mistakes: int = MISTAKES_ON_PAGE) -> str:
    """The one page: *figure* stands for the drawing of the course."""
    return "".join(
        [
            _head(source),
            _figures(source),
            figure,
            heading(2, tr("Goals")),
            _goals(source),
            heading(2, tr("What happened, and why")),
            _why(source),
            heading(2, tr("What cost points")),
            _costliest(source, mistakes),
        ]
    )


def _head(source: Source) -> str:
    review, report = source.review, source.report
    score = tr("Free play, without points")
    if review.total is not None:
        score = tr("{points} of 100 points").format(points=formatting.plain(review.total))
        score += "" if report["score"]["finished"] else " " + tr("(not finished)")
    facts = tr("{mode}, seed {seed}; {ended}, after {time}.").format(
        mode=formatting.mode(report["mode"]),
        seed=report["seed"],
        ended=said(review.ended),
        time=moment(source.drill.tick),
    )
    whose = paragraph(signature(source)) if signature(source) else ""
    times = len(source.drill.rewinds)
    back = " " + trn("Rewound {n} time.", "Rewound {n} times.", times).format(n=times) if times else ""
    return heading(1, review.title) + paragraph(score, "score") + whose + paragraph(facts + back, "muted")


def _figures(source: Source) -> str:
    """This run, and the reference beside it where there is one."""
    reference = source.review.reference
    rows = []
    if reference is not None:
        known = [row for row in reference.outcomes if row.name in FIGURES]
        rows = [
            [tr(FIGURES[row.name]), _figure(row.name, row.left), _figure(row.name, row.right)]
            for row in known
        ]
        return table(tr("Outcome"), ["", tr("this run"), tr("reference")], rows)
    sums = source.report["availability"]
    rows = [[tr(FIGURES[name]), _figure(name, sums[name])] for name in FIGURES if name in sums]
    return table(tr("Outcome"), ["", tr("this run")], rows)


def _figure(name: str, value: float) -> str:
    if name.endswith("_s"):
        return formatting.seconds(value, 1)
    return formatting.kb(value) if name.endswith("_kb") else formatting.significant(value, 4)


def _goals(source: Source) -> str:
    lines = []
    for goal in source.report["goals"]:
        when = tr("not reached")
        if goal["met"]:
            when = tr("reached at {moment}").format(moment=moment(ticks(goal["met_t_s"])))
        lines.append(f"{'✓' if goal['met'] else '✗'} {goal['text']}: {when}")
    return paragraph("\n".join(lines) or tr("Nothing: free play."))


def _attempt_words(row: Row) -> str:
    said_so = tr("The {kind} failover of {database} from {from_server} to {to_server} failed: {why}.")
    return said_so.format(**{**row, "kind": formatting.failover_kind(row["kind"]), "why": said(row["why"])})


def _why(source: Source) -> str:
    lines = [
        tr("{database} was down from {start} to {end}, {length}. {why}").format(
            database=outage.database,
            start=moment(outage.span.from_tick),
            end=moment(outage.span.to_tick),
            length=formatting.seconds(outage.span.ticks / TICKS_PER_S, 1),
            why=said(outage.verdict),
        )
        for outage in source.review.outages
    ]
    lines += [_failover_words(failover) for failover in source.review.failovers]
    lines += [_attempt_words(row) for row in source.report["attempts"]]
    lines += [
        tr(
            "{count} committed transactions ({size}) of {database} are not on {server}, since {moment}."
        ).format(
            count=formatting.number(lost.transactions),
            size=formatting.kb(lost.kb),
            database=lost.database,
            server=lost.server,
            moment=moment(lost.tick),
        )
        for lost in source.review.lost
    ]
    return bullets(lines) if lines else paragraph(tr("No downtime, no data loss."))


WAYS: Final = {
    "automatic": mark("{database}: automatic failover {one} → {other}"),
    "manual": mark("{database}: manual failover {one} → {other}"),
    "forced": mark("{database}: forced failover {one} → {other}"),
    "role-move": mark("{database}: role moved {one} → {other}"),
}


def _failover_words(failover: FailoverReview) -> str:
    way = tr(WAYS[failover.kind]).format(
        database=failover.database, one=failover.from_server, other=failover.to_server
    )
    if failover.took_s is None:
        return tr("{way}, not completed.").format(way=way)
    took = tr("{way} in {time}").format(way=way, time=formatting.seconds(failover.took_s))
    if failover.published_s is None:
        return tr("{took}. Not compared with the published times: {why}.").format(
            took=took, why=_unlike(failover)
        )
    return tr("{took}; published {time} ({reference}), {share}.").format(
        took=took,
        time=formatting.seconds(failover.published_s, 1),
        reference=failover.published_ref,
        share=formatting.percent(failover.took_s / failover.published_s - 1.0, 0, sign=True),
    )


def _unlike(failover: FailoverReview) -> str:
    return said(failover.unlike) if failover.unlike else tr(UNLIKE)


def _costliest(source: Source, count: int) -> str:
    found = sorted(source.review.mistakes, key=lambda m: -m.points)[:count]
    if not found:
        return paragraph(tr("Nothing.") if source.review.total is not None else tr("Nothing was scored."))
    rows = [
        [moment(m.tick), f"−{formatting.plain(m.points)}", f"{said(m.what)} {_better(m.better)}"]
        for m in found
    ]
    left = len(source.review.mistakes) - len(found)
    more = paragraph(tr("{n} more in the annex.").format(n=left), "muted") if left else ""
    return (
        table(
            tr("The costliest, worst first"), [tr("at"), tr("points"), tr("what, and what is better")], rows
        )
        + more
    )


def _better(better: str) -> str:
    return tr("Better: {better}").format(better=said(better))


# --- annex --------------------------------------------------------------------------------------------------


def annex(source: Source, curve: str) -> Iterator[tuple[str, str]]:
    """(title, content) of each section that has something to say. *curve* stands for the drawing of what could still be
    reached."""
    sections = (
        (tr("Compared with the best possible"), _best(source, curve)),
        (tr("Score by rule"), _score(source)),
        (tr("Mistakes, and where to try again"), _mistakes(source.review.mistakes)),
        (tr("Failovers in their phases"), _phases(source.review.failovers)),
        (tr("Preconditions of an automatic failover"), _preconditions(source)),
        (tr("Questions"), _questions(source)),
        (tr("The reference, step by step"), _reference(source)),
        (tr("Commands"), _commands(source)),
        (tr("Timeline of events"), _events(source)),
        (tr("Fidelity"), _fidelity(source)),
    )
    return ((title, content) for title, content in sections if content)


def _best(source: Source, curve: str) -> str:
    account = source.account
    if account is None:
        return ""
    asked, chance = asked_in(source), account.last_chance
    rows = [
        [
            number,
            worth.told(move, asked, chance),
            worth.cost(move),
            "\n".join(f"{moment(item.tick)}  {worded(item.words, asked)}" for item in move.best[:STEPS_SHOWN])
            if move.lost >= worth.NOTED
            else "",
        ]
        for number, move in enumerate(worth.stops(account), 1)
    ]
    head = [tr("number"), tr("action or wait"), tr("what it cost"), tr("the best from there")]
    said = [] if chance is None else [worth.all_until(chance, asked), worth.taken_by(chance)]
    table_of_moves = table(tr("Each numbered action and wait"), head, rows, [3]) if rows else ""
    return (
        paragraph(" ".join([*said, worth.accuracy(account)]))
        + curve
        + paragraph(f"{worth.explained()} {worth.certainty(account)}", "muted")
        + table_of_moves
    )


def _score(source: Source) -> str:
    items = source.report["score"]["items"]
    if not items:
        return ""
    rows = []
    for item in items:
        points = formatting.plain(item["points"])
        if item["max"]:
            points = tr("{points} of {most}").format(points=points, most=formatting.plain(item["max"]))
        better = f"\n{_better(item['better'])}" if item["better"] else ""
        at = ", ".join(moment(ticks(at_s)) for at_s in list(dict.fromkeys(item["at_s"]))[:6])
        rows.append([said(item["name"]), points, f"{said(item['why'])}{better}", at])
    return table(tr("Every rule with its points"), [tr("rule"), tr("points"), tr("why"), tr("at")], rows)


def _mistakes(found: Sequence[Mistake]) -> str:
    if not found:
        return ""
    rows = [
        [moment(m.tick), tr(SIZES[m.size]), f"−{formatting.plain(m.points)}", _what(m), moment(m.retry_tick)]
        for m in found
    ]
    what = tr("what, its cause, and what is better")
    head = [tr("at"), tr("size"), tr("points"), what, tr("retry from")]
    return table(tr("Everything that cost points, in chronological order"), head, rows)


def _what(mistake: Mistake) -> str:
    return "\n".join(filter(None, (said(mistake.what), cause(mistake), _better(mistake.better))))


def _phases(found: Sequence[FailoverReview]) -> str:
    if not found:
        return ""
    rows = []
    for failover in found:
        way = f"{failover.database}: {failover.from_server} → {failover.to_server}"
        spans = "\n".join(
            f"{said(phase.name)} {formatting.seconds((phase.to_tick - phase.from_tick) / TICKS_PER_S)}"
            for phase in failover.phases
        )
        published = tr("not compared: {why}").format(why=_unlike(failover))
        if failover.published_s:
            published = f"{formatting.seconds(failover.published_s, 1)} ({failover.published_ref})"
        kind = f"{formatting.failover_kind(failover.kind)}, {failover.cause}"
        rows.append([way, kind, spans, formatting.seconds(failover.took_s), published])
    head = [
        tr("failover"),
        tr("kind and cause"),
        tr("phases"),
        tr("detection to role taken"),
        tr("published"),
    ]
    return table(tr("Time by phase"), head, rows)


def _preconditions(source: Source) -> str:
    return "".join(_guards(lanes) for lanes in source.review.lanes.values() if lanes.preconditions)


def _guards(lanes: Lanes) -> str:
    rows = [
        [
            f"{guard.target}: {said(guard.name)}" if guard.target else said(guard.name),
            _times(guard, True),
            _times(guard, False),
            said(guard.seen_in),
        ]
        for guard in lanes.preconditions
    ]
    title = tr("{database}: when each precondition held").format(database=lanes.database)
    return table(title, [tr("precondition"), tr("holds"), tr("does not hold"), tr("seen in")], rows)


def _times(guard: Precondition, holds: bool) -> str:
    spans = [span for span in guard.spans if (span.what == HOLDS) is holds]
    return (
        ", ".join(f"{moment(span.from_tick)}–{moment(span.to_tick)}" for span in spans) or formatting.NOTHING
    )


def _questions(source: Source) -> str:
    rows = []
    or_else = " " + tr("or") + " "
    for asked in source.report["questions"]:
        if "right" not in asked:
            continue
        choices = asked["choices"]
        answer = choices[asked["choice"] - 1] if asked["choice"] is not None else formatting.NOTHING
        right = or_else.join(choices[number - 1] for number in asked["right"]) or formatting.NOTHING
        judged = tr("right") if asked["correct"] else tr("wrong")
        rows.append([asked["text"], answer, right, judged, asked["why"]])
    head = [tr("question"), tr("answer"), tr("right"), tr("judged"), tr("why")]
    return table(tr("Questions and answers"), head, rows) if rows else ""


def _reference(source: Source) -> str:
    reference = source.review.reference
    if reference is None:
        return ""
    asked = asked_in(source)
    rows = [
        [
            moment(step.tick),
            worded(step.line, asked),
            step.why,
            moment(step.done_tick) if step.done_tick is not None else tr("never"),
        ]
        for step in reference.steps
    ]
    head = [tr("at"), tr("step"), tr("why"), tr("time of the action")]
    steps = table(tr("Steps of the reference, and when you took them"), head, rows, [1])
    besides = [[moment(item.tick), worded(item.words, asked)] for item in reference.besides]
    if not besides:
        return steps
    return steps + table(tr("Your other actions"), [tr("at"), tr("input")], besides, [1])


def _commands(source: Source) -> str:
    rows = []
    for batch in source.report["sql"]:
        errors = [m for m in batch["messages"] if m["severity"] > 10]
        answer = "\n".join(f"Msg {m['number']}: {m['text']}" for m in errors) or tr("done")
        rows.append([moment(ticks(batch["t_s"])), batch["server"], batch["batch"].strip(), answer])
    head = [tr("at"), tr("server"), tr("batch"), tr("answer")]
    return table(tr("All batches and their results"), head, rows, [2]) if rows else ""


def _events(source: Source) -> str:
    rows = [
        [moment(m.tick), tr(MARKS[m.kind]), m.server or "", m.database or "", said(m.text)]
        for m in source.review.happened
    ]
    head = [tr("at"), tr("kind"), tr("server"), tr("database"), tr("what")]
    return table(tr("Marked moments"), head, rows) if rows else ""


def _fidelity(source: Source) -> str:
    scenario = source.drill.scenario
    lines = [f"{each.paper}: {each.section}" for each in scenario.sources]
    parts = paragraph(tr(DISCLAIMER)) + (bullets(lines) if lines else "")
    if scenario.fidelity is not None:
        rows = [[tr(word), getattr(scenario.fidelity, name)] for name, word in FIDELITY.items()]
        parts += table(tr("Limits of the simulation in this drill"), ["", ""], rows)
    return parts


def title(source: Source) -> str:
    """For the head of a document."""
    return text(tr("Debrief: {title}").format(title=source.review.title))
