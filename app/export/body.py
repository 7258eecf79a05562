"""What a debrief says, section by section: one page that tells it all, and an annex that proves it. No Qt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app import formatting
from app.export.parts import bullets, heading, moment, paragraph, table, text
from app.export.source import Source
from engine.constants import TICKS_PER_S
from engine.drill.mistakes import Mistake
from engine.drill.review import FailoverReview
from engine.drill.watch import HOLDS, Lanes, Precondition
from engine.model import ticks

MISTAKES_ON_PAGE: int = 5
"""The costliest ones; the annex has all."""

DISCLAIMER = (
    "A simulation. What was changed in the cause of clarity, and what is missing, stands under fidelity."
)


# --- page one -----------------------------------------------------------------------------------------------


def first_page(source: Source, figure: str, mistakes: int = MISTAKES_ON_PAGE) -> str:
    """The one page: *figure* stands for the drawing of the course."""
    return "".join(
        [
            _head(source),
            _figures(source),
            figure,
            heading(2, "What was planned"),
            _goals(source),
            heading(2, "What happened, and why"),
            _why(source),
            heading(2, "What cost points"),
            _costliest(source, mistakes),
        ]
    )


def _head(source: Source) -> str:
    review, report = source.review, source.report
    score = f"{review.total:g} of 100 points" if review.total is not None else "Free play, without points"
    finished = "" if review.total is None or report["score"]["finished"] else " (not finished)"
    facts = f"{report['mode']}, seed {report['seed']}; {review.ended}, after {moment(source.drill.tick)}."
    back = f" Gone back {len(source.drill.rewinds)} time(s)." if source.drill.rewinds else ""
    return (
        heading(1, review.title) + paragraph(f"{score}{finished}", "score") + paragraph(facts + back, "muted")
    )


def _figures(source: Source) -> str:
    """This run, and the reference beside it where there is one."""
    names = {
        "downtime_s": "without service",
        "exposed_s": "served without a mirror in step",
        "lost_transactions": "transactions lost",
        "lost_kb": "log lost",
        "score": "points",
    }
    reference = source.review.reference
    rows = []
    if reference is not None:
        known = [row for row in reference.outcomes if row.name in names]
        rows = [[names[row.name], _figure(row.name, row.left), _figure(row.name, row.right)] for row in known]
        return table("What it came to", ["", "this run", "reference"], rows)
    sums = source.report["availability"]
    rows = [[names[name], _figure(name, sums[name])] for name in names if name in sums]
    return table("What it came to", ["", "this run"], rows)


def _figure(name: str, value: float) -> str:
    if name.endswith("_s"):
        return formatting.seconds(value, 1)
    return formatting.kb(value) if name.endswith("_kb") else formatting.significant(value, 4)


def _goals(source: Source) -> str:
    lines = []
    for goal in source.report["goals"]:
        when = f"reached at {moment(ticks(goal['met_t_s']))}" if goal["met"] else "not reached"
        lines.append(f"{'✓' if goal['met'] else '✗'} {goal['text']}: {when}")
    return paragraph("\n".join(lines) or "Nothing: free play.")


def _why(source: Source) -> str:
    lines = [
        f"{outage.database} stood still from {moment(outage.span.from_tick)} to {moment(outage.span.to_tick)} "
        f"({formatting.seconds(outage.span.ticks / TICKS_PER_S, 1)}). {outage.verdict}"
        for outage in source.review.outages
    ]
    lines += [_failover_words(failover) for failover in source.review.failovers]
    lines += [
        f"{formatting.number(lost.transactions)} committed transactions ({formatting.kb(lost.kb)}) of {lost.database} "
        f"are not on {lost.server}, since {moment(lost.tick)}."
        for lost in source.review.lost
    ]
    return bullets(lines) if lines else paragraph("Nothing stood still, nothing was lost.")


def _failover_words(failover: FailoverReview) -> str:
    way = f"{failover.database}: {failover.kind} failover {failover.from_server} → {failover.to_server}"
    if failover.took_s is None:
        return f"{way}, not completed."
    took = f"{way} in {formatting.seconds(failover.took_s)}"
    if failover.published_s is None:
        return f"{took}. Not compared with the published times: {failover.unlike or 'nothing like it was published'}."
    off = formatting.percent(failover.took_s / failover.published_s - 1.0, 0, sign=True)
    published = formatting.seconds(failover.published_s, 1)
    return f"{took}; published {published} ({failover.published_ref}), {off}."


def _costliest(source: Source, count: int) -> str:
    found = sorted(source.review.mistakes, key=lambda m: -m.points)[:count]
    if not found:
        return paragraph("Nothing." if source.review.total is not None else "Nothing was scored.")
    rows = [[moment(m.tick), f"−{m.points:g}", f"{m.what} Better: {m.better}"] for m in found]
    left = len(source.review.mistakes) - len(found)
    more = paragraph(f"{left} more in the annex.", "muted") if left else ""
    return table("The costliest, worst first", ["at", "points", "what, and what is better"], rows) + more


# --- annex --------------------------------------------------------------------------------------------------


def annex(source: Source) -> Iterator[tuple[str, str]]:
    """(title, content) of each section that has something to say."""
    sections = (
        ("Score, point by point", _score(source)),
        ("Mistakes, and where to try again", _mistakes(source.review.mistakes)),
        ("Failovers in their phases", _phases(source.review.failovers)),
        ("Preconditions of an automatic failover", _preconditions(source)),
        ("Questions", _questions(source)),
        ("The reference, step by step", _reference(source)),
        ("Commands", _commands(source)),
        ("Course of events", _events(source)),
        ("Fidelity", _fidelity(source)),
    )
    return ((title, content) for title, content in sections if content)


def _score(source: Source) -> str:
    items = source.report["score"]["items"]
    if not items:
        return ""
    rows = []
    for item in items:
        points = f"{item['points']:g} of {item['max']:g}" if item["max"] else f"{item['points']:g}"
        better = f"\nBetter: {item['better']}" if item["better"] else ""
        at = ", ".join(moment(ticks(at_s)) for at_s in list(dict.fromkeys(item["at_s"]))[:6])
        rows.append([item["name"], points, f"{item['why']}{better}", at])
    return table("Every rule with its points", ["rule", "points", "why", "at"], rows)


def _mistakes(found: Sequence[Mistake]) -> str:
    if not found:
        return ""
    rows = [[moment(m.tick), m.size, f"−{m.points:g}", _what(m), moment(m.retry_tick)] for m in found]
    head = ["at", "size", "points", "what, what came before it, and what is better", "try again from"]
    return table("Everything that cost points, in order of time", head, rows)


def _what(mistake: Mistake) -> str:
    before = f"\nAfter: {mistake.cause}" if mistake.cause else ""
    return f"{mistake.what}{before}\nBetter: {mistake.better}"


def _phases(found: Sequence[FailoverReview]) -> str:
    if not found:
        return ""
    rows = []
    for failover in found:
        way = f"{failover.database}: {failover.from_server} → {failover.to_server}"
        spans = "\n".join(
            f"{phase.name} {formatting.seconds((phase.to_tick - phase.from_tick) / TICKS_PER_S)}"
            for phase in failover.phases
        )
        published = f"{failover.published_s:g} s ({failover.published_ref})" if failover.published_s else ""
        rows.append(
            [way, f"{failover.kind}, {failover.cause}", spans, formatting.seconds(failover.took_s),
             published or f"not compared: {failover.unlike or 'nothing like it was published'}"]
        )  # fmt: skip
    head = ["failover", "kind and cause", "phases", "detection to role taken", "published"]
    return table("What the time went into", head, rows)


def _preconditions(source: Source) -> str:
    return "".join(_guards(lanes) for lanes in source.review.lanes.values() if lanes.preconditions)


def _guards(lanes: Lanes) -> str:
    rows = [
        [guard.name, _times(guard, True), _times(guard, False), guard.seen_in]
        for guard in lanes.preconditions
    ]
    return table(
        f"{lanes.database}: when each held", ["precondition", "holds", "does not hold", "seen in"], rows
    )


def _times(guard: Precondition, holds: bool) -> str:
    spans = [span for span in guard.spans if (span.what == HOLDS) is holds]
    return (
        ", ".join(f"{moment(span.from_tick)}–{moment(span.to_tick)}" for span in spans) or formatting.NOTHING
    )


def _questions(source: Source) -> str:
    rows = []
    for asked in source.report["questions"]:
        if "right" not in asked:
            continue
        choices = asked["choices"]
        said = choices[asked["choice"] - 1] if asked["choice"] is not None else formatting.NOTHING
        right = " or ".join(choices[number - 1] for number in asked["right"]) or formatting.NOTHING
        rows.append([asked["text"], said, right, "right" if asked["correct"] else "not right", asked["why"]])
    head = ["question", "answer", "right", "judged", "why"]
    return table("What was asked", head, rows) if rows else ""


def _reference(source: Source) -> str:
    reference = source.review.reference
    if reference is None:
        return ""
    rows = [
        [
            moment(step.tick),
            step.line,
            step.why,
            moment(step.done_tick) if step.done_tick is not None else "never",
        ]
        for step in reference.steps
    ]
    steps = table(
        "What the reference does, and when it was done here", ["at", "step", "why", "done at"], rows, [1]
    )
    besides = [[moment(item.tick), item.words] for item in reference.besides]
    done = table("What was done here besides", ["at", "input"], besides, [1]) if besides else ""
    return steps + done


def _commands(source: Source) -> str:
    rows = []
    for batch in source.report["sql"]:
        errors = [m for m in batch["messages"] if m["severity"] > 10]
        said = "\n".join(f"Msg {m['number']}: {m['text']}" for m in errors) or "done"
        rows.append([moment(ticks(batch["t_s"])), batch["server"], batch["batch"].strip(), said])
    return table("Every batch and its answer", ["at", "server", "batch", "answer"], rows, [2]) if rows else ""


def _events(source: Source) -> str:
    rows = [
        [moment(m.tick), m.kind, m.server or "", m.database or "", m.text] for m in source.review.happened
    ]
    return table("The marked moments", ["at", "kind", "server", "database", "what"], rows) if rows else ""


def _fidelity(source: Source) -> str:
    scenario = source.drill.scenario
    lines = [f"{each.paper}: {each.section}" for each in scenario.sources]
    parts = paragraph(DISCLAIMER) + (bullets(lines) if lines else "")
    if scenario.fidelity is not None:
        rows = [[name, getattr(scenario.fidelity, name)] for name in ("modelled", "simplified", "absent")]
        parts += table("How far the simulation can be trusted here", ["", ""], rows)
    return parts


def title(source: Source) -> str:
    """For the head of a document."""
    return text(f"Debrief: {source.review.title}")
