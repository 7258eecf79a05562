"""Contents of the branches page as plain rows. Without Qt."""

from __future__ import annotations

from dataclasses import dataclass

from app.words import formatting
from app.words.input_lines import describe_input
from app.words.language import mark, tr
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.judging.difference import FirstDifference, OutcomeRow
from engine.drill.judging.report import availability_json
from engine.drill.running.drill import Drill
from engine.drill.time.branches import Branches
from engine.events import Event


@dataclass(frozen=True, slots=True)
class BranchRow:
    """One branch."""

    name: str
    parent: str | None
    current: bool
    from_text: str
    """Time at which the branch left its parent."""
    at: str
    """Current time of the branch."""
    downtime: str
    lost: str
    points: str


def rows_of(tree: Branches) -> list[BranchRow]:
    """Return every branch, after its parent."""
    return [_row(tree, name, tree.history_of(name).drill) for name in tree.names()]


def _row(tree: Branches, name: str, drill: Drill) -> BranchRow:
    root, sums, score = tree.root(name), availability_json(drill.world), drill.score()
    at = formatting.run_time(drill.world.t_s)
    shown = score.scored and (drill.finished or drill.terms.progress)
    return BranchRow(
        name=name,
        parent=root.parent,
        current=name == tree.current,
        from_text=formatting.run_time(root.tick / TICKS_PER_S, 1) if root.parent is not None else "",
        at=tr("{moment}, ended").format(moment=at) if drill.finished else at,
        downtime=formatting.seconds(sums["downtime_s"], 1),
        lost=formatting.number(sums["lost_transactions"]),
        points=formatting.plain_number(score.total) if shown else formatting.NOTHING,
    )


OUTCOMES = {
    "downtime_s": mark("downtime"),
    "exposed_s": mark("unprotected"),
    "lost_transactions": mark("committed transactions lost"),
    "lost_kb": mark("log lost"),
    "commands": mark("commands and actions"),
    "ended_at_s": mark("length of the run"),
    "score": "points",
}
"""Name of a figure -> label."""


def outcome_cells(row: OutcomeRow) -> tuple[str, str, str, str]:
    """Name, left, right, and what the right one has more."""
    name = tr(OUTCOMES.get(row.name, row.name))
    sign = "+" if row.delta > 0 else "−" if row.delta < 0 else ""
    delta = f"{sign}{_figure(row.name, abs(row.delta))}" if row.delta else "="
    return name, _figure(row.name, row.left), _figure(row.name, row.right), delta


def _figure(name: str, value: float) -> str:
    if name.endswith("_s"):
        return formatting.seconds(value, 1)
    if name.endswith("_kb"):
        return formatting.kb(value)
    return formatting.number(round(value)) if name != "score" else formatting.plain_number(value)


def format_first_difference(difference: FirstDifference | None, left_name: str, right_name: str) -> str:
    """Describe the first difference of two runs, with a sentence for each run."""
    if difference is None:
        return tr("The runs are identical for their common length.")
    moment = formatting.run_time(difference.tick / TICKS_PER_S, 2)
    return tr("The runs diverge at {moment}.\n{left}: {one}\n{right}: {other}").format(
        moment=moment,
        left=left_name,
        one=_event(difference.left),
        right=right_name,
        other=_event(difference.right),
    )


def _event(event: Event | None) -> str:
    if event is None:
        return tr("no further events")
    where = f"{event.server}: " if event.server else ""
    words = describe_input(event.text, {}) if event.kind == "fault" else localize(event.text)
    text = " ".join(words.split())
    return f"{where}{text[:200]} ({formatting.run_time(event.t_s, 2)})"
