"""Widgets of the tab about outages: figures, goals, outages with their causes, and lost transactions."""

from collections.abc import Iterator, Sequence
from typing import Final

from PySide6.QtWidgets import QWidget

from app.view_models.debrief.model import SummaryModel
from app.views.debrief.debrief_widgets import build_label, build_muted_label, build_table
from app.words import formatting
from app.words.formatting import format_run_tick
from app.words.language import tr, trn
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.judging.replay_timeline import MET, DatabaseLanes
from engine.drill.judging.report_types import Report
from engine.drill.judging.review import Outage, Review

DESCRIBED_DATABASES_MAX: Final = 6
"""Maximum number of databases that are described separately.

If there are more, those with the longest downtime or unprotected time are described.
"""

EXCESS_DOWNTIME_MIN_S: Final = 5.0
"""Minimum difference between clients' and database's downtime that the debrief mentions. Assumed value."""


def _format_amount(name: str, value: float) -> str:
    if name.endswith("_s"):
        return formatting.format_seconds(value, 1)
    return formatting.format_kb(value) if name.endswith("_kb") else formatting.format_number(value)


def build_figures(
    report: Report, review: Review | None, summary: SummaryModel, narrow: bool = False
) -> list[QWidget]:
    """Return widgets that compare the figures of the run with those of the reference solution.

    Several databases each have their own figures.
    """
    totals = report["availability"]
    reference = review.reference if review is not None else None
    theirs = {row.name: row.right for row in reference.outcomes} if reference is not None else {}
    widgets: list[QWidget] = []
    if theirs:
        rows = [
            (row.label, row.value, _format_amount(row.key, theirs[row.key]))
            for row in summary.figures
            if row.key in theirs
        ]
        widgets.append(build_table(("", tr("this run"), tr("reference")), rows, (0, 0, 1), narrow))
    totals_by_database = totals["databases"] if len(totals["databases"]) > 1 else {}
    worst = sorted(totals_by_database.items(), key=lambda row: (-row[1]["downtime_s"], -row[1]["exposed_s"]))
    if worst:
        columns = [row for row in summary.figures if row.key in totals]
        cells: list[list[str | QWidget]] = [
            [
                build_label(name, 1.0, bold=True),
                *(_format_amount(row.key, account[row.key]) for row in columns),
                "",
            ]
            for name, account in worst[:DESCRIBED_DATABASES_MAX]
        ]
        heads = ("", *(row.label for row in columns), "")
        widgets.append(build_table(heads, cells, (0, *(0 for _ in columns), 1), narrow))
    if len(worst) > DESCRIBED_DATABASES_MAX:
        rest_text = tr("{count} more databases, none in a worse state").format(
            count=len(worst) - DESCRIBED_DATABASES_MAX
        )
        widgets.append(build_muted_label(rest_text))
    return widgets


def build_goals(report: Report) -> list[QWidget]:
    """Return a label for each goal with the time at which it was reached."""
    widgets: list[QWidget] = []
    for goal in report.get("goals", ()):
        time_text = tr("not met")
        if goal["met"]:
            time_text = tr("met at {moment}").format(moment=formatting.format_run_time(goal["met_t_s"], 1))
        widgets.append(build_label(f"{'✓' if goal['met'] else '✗'}  {goal['text']} ({time_text})"))
    return widgets


def build_outages(review: Review, report: Report) -> list[QWidget]:
    """Return widgets that describe each outage and each data loss.

    They also describe databases whose clients were down noticeably longer than the database.
    """
    groups = _group_outages(review.outages)
    outages: list[QWidget] = [_build_outage(review, group) for group in groups[:DESCRIBED_DATABASES_MAX]]
    if len(groups) > DESCRIBED_DATABASES_MAX:
        more_text = tr("{count} more outages (of other databases, or later).")
        outages.append(
            build_muted_label(more_text.format(count=sum(map(len, groups[DESCRIBED_DATABASES_MAX:]))))
        )
    outages += _build_client_rows(report)
    outages += [
        _build_loss(review, number) for number in range(min(len(review.lost), DESCRIBED_DATABASES_MAX))
    ]
    if not outages:
        outages.append(build_label(tr("No client downtime and no data loss.")))
    return outages


def _build_client_rows(report: Report) -> Iterator[QWidget]:
    """Yield a label for each database whose clients were down noticeably longer than the database."""
    rows = report["clients"]["databases"] if "clients" in report else {}
    text = tr("Clients of {database} could not work for {length}. The database was down for {down}.")
    for name, row in list(rows.items())[:DESCRIBED_DATABASES_MAX]:
        down_s = report["availability"]["databases"][name]["downtime_s"]
        if row["downtime_s"] - down_s >= EXCESS_DOWNTIME_MIN_S:
            length, down = (
                formatting.format_seconds(duration_s, 1) for duration_s in (row["downtime_s"], down_s)
            )
            yield build_label(text.format(database=name, length=length, down=down))


def _group_outages(outages: Sequence[Outage]) -> list[list[Outage]]:
    """Group outages with the same times and reasons, because many databases can fail together."""
    groups: dict[object, list[Outage]] = {}
    for outage in outages:
        obstacles = tuple((guard.name, since_tick) for guard, since_tick in outage.against)
        subject = (
            outage.span.from_tick // TICKS_PER_S,
            outage.span.to_tick // TICKS_PER_S,
            outage.summary,
            obstacles,
        )
        groups.setdefault(subject, []).append(outage)
    return list(groups.values())


def _format_names(group: Sequence[Outage]) -> str:
    first_database = group[0].database
    if len(group) == 1:
        return first_database
    return trn(
        "{database} and {count} more database", "{database} and {count} more databases", len(group) - 1
    ).format(database=first_database, count=len(group) - 1)


def _build_outage(review: Review, group: Sequence[Outage]) -> QWidget:
    outage = group[0]
    text = tr("{database} was down from {start} to {end}, {length}. {why}")
    return build_label(
        text.format(
            database=_format_names(group),
            start=format_run_tick(outage.span.from_tick),
            end=format_run_tick(outage.span.to_tick),
            length=formatting.format_seconds(outage.span.ticks / TICKS_PER_S, 1),
            why=f"{localize(outage.summary)} {_format_obstacles(outage, review)}".strip(),
        )
    )


def _format_obstacles(outage: Outage, review: Review) -> str:
    """Describe the unmet requirements of an automatic failover and the time from which each was unmet.

    The table on the evidence tab names the views that showed these requirements.
    """
    if outage.by in ("automatic", "manual"):
        return ""
    lanes = review.lanes.get(outage.database)
    if not outage.against and outage.by == "forced":
        return ""
    if not outage.against and lanes is not None and lanes.preconditions:
        return tr(
            "All preconditions were met for a time, but the original server recovered before a failover completed."
        )
    if not outage.against:
        return tr("No server was able to take over, or the outage was too short for a failover.")
    lines = [
        f"{localize(guard.name)} "
        + (
            tr("(not met since {moment})").format(moment=format_run_tick(since_tick))
            if since_tick
            else tr("(never)")
        )
        for guard, since_tick in outage.against
    ]
    return tr("Automatic failover was impossible. Not met: {reasons}.").format(reasons="; ".join(lines))


def _build_loss(review: Review, number: int) -> QWidget:
    transactions = review.lost[number]
    text = trn(
        "{count} committed transaction of {database} ({size} of log) was lost at {moment} when "
        "{server} was recovered.",
        "{count} committed transactions of {database} ({size} of log) were lost at {moment} when "
        "{server} was recovered.",
        transactions.transactions,
    )
    return build_label(
        text.format(
            count=formatting.format_number(transactions.transactions),
            database=transactions.database,
            size=formatting.format_kb(transactions.kb),
            moment=format_run_tick(transactions.tick),
            server=transactions.server,
        ),
        1.0,
        bold=True,
    )


def build_preconditions(review: Review, narrow: bool = False) -> list[QWidget]:
    """Return a table per outage with the requirements of an automatic failover and whether they were met."""
    widgets: list[QWidget] = []
    for group in _group_outages(review.outages)[:DESCRIBED_DATABASES_MAX]:
        outage = group[0]
        lanes = review.lanes.get(outage.database)
        if lanes is None or not lanes.preconditions or outage.by == "manual":
            continue
        rows = list(_list_requirement_rows(lanes, outage))
        head = tr("{database}, from {start} to {end}")
        title = head.format(
            database=_format_names(group),
            start=format_run_tick(outage.span.from_tick),
            end=format_run_tick(outage.span.to_tick),
        )
        widgets.append(build_label(title, 1.0, bold=True))
        heads = ("", tr("Requirement"), tr("Met?"), tr("Where to check"))
        widgets.append(build_table(heads, rows, (0, 4, 3, 3), narrow))
    return widgets


def _list_requirement_rows(lanes: DatabaseLanes, outage: Outage) -> Iterator[tuple[str, str, str, str]]:
    """Yield a table row for each requirement of an automatic failover during *outage*, unmet ones first."""
    ticks_by_guard = {
        (guard.name, guard.seen_in, guard.target): since_tick for guard, since_tick in outage.against
    }
    rows = []
    for guard in lanes.preconditions:
        spans = [
            span
            for span in guard.spans
            if span.to_tick > outage.span.from_tick and span.from_tick < outage.span.to_tick
        ]
        if not spans:
            continue
        key = (guard.name, guard.seen_in, guard.target)
        name = f"{guard.target}: {localize(guard.name)}" if guard.target else localize(guard.name)
        if key in ticks_by_guard:
            start_tick = ticks_by_guard[key]
            status_text = (
                tr("not met since {moment}").format(moment=format_run_tick(start_tick))
                if start_tick
                else tr("never")
            )
            rows.append((0, ("✗", name, status_text, localize(guard.seen_in))))
        else:
            held_span = next((span for span in spans if span.what == MET), None)
            status_text = (
                tr("yes") if held_span is None or not held_span.from_tick else tr("met since {moment}")
            )
            status_text = status_text.format(
                moment=format_run_tick(held_span.from_tick) if held_span is not None else ""
            )
            mark_of = "✓" if held_span is not None else "·"
            rows.append(
                (
                    1,
                    (
                        mark_of,
                        name,
                        status_text if held_span is not None else tr("no"),
                        localize(guard.seen_in),
                    ),
                )
            )
    return (row for _, row in sorted(rows, key=lambda match: match[0]))
