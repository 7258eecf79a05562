"""Failovers, their phases and steps, and the published times of the same kind, as table rows. Without Qt widgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from app.view_models.failover_moment.moment import FailoverPhase, measure_phases
from app.view_models.failover_moment.phases import PHASES, PhaseKind
from app.widgets.tables import TableColumn
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize as said_of
from engine.constants import TICKS_PER_S
from engine.model import Failover
from engine.published.table6 import FAILOVER_S, REFERENCE

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

CLOSE_SHARE: Final = 0.1
"""Maximum relative difference that is shown as good. Assumed: the paper's values are single samples."""


@dataclass(frozen=True, slots=True)
class TimingRow:
    """Failover in the panel at *now_tick*."""

    failover: Failover
    now_tick: int
    longest_ticks: int
    """Length of the longest failover in the list, which fills a whole bar."""
    published: tuple[float, str] | None
    unlike: str | None

    parts: tuple[FailoverPhase, ...]
    """Phases of its technology, also those that have not begun."""

    @property
    def phases(self) -> Iterator[tuple[PhaseKind, int, bool]]:
        """(phase, ticks, done) of each phase that has begun."""
        for phase in self.parts:
            if phase.start_tick is None or (phase.end_tick is None and self.failover.cancelled):
                return
            yield phase.kind, phase.ticks_at(self.now_tick), phase.end_tick is not None

    @property
    def failover_s(self) -> float | None:
        """From detection until the role was taken."""
        online = self.failover.online_tick
        return None if online is None else (online - self.failover.detected_tick) / TICKS_PER_S

    @property
    def difference(self) -> float | None:
        """Share by which this run's time is above the published one."""
        if self.failover_s is None or self.published is None:
            return None
        return self.failover_s / self.published[0] - 1.0

    @property
    def summary(self) -> str:
        """Return the row as text."""
        parts = [
            (tr("{phase} {time}") if done else tr("{phase} {time} so far")).format(
                phase=tr(kind.name), time=formatting.seconds(ticks / TICKS_PER_S)
            )
            for kind, ticks, done in self.phases
        ]
        return ", ".join([*parts, *([said_of(self.failover.why)] if self.failover.cancelled else [])])


def rows_of(failovers: Sequence[Failover], drill: Drill, now_tick: int) -> list[TimingRow]:
    """Return a row for each failover, the last one on top."""
    rows = [
        TimingRow(
            failover,
            now_tick,
            0,
            drill.published.get(place),
            drill.unlike.get(place),
            measure_phases(drill, failover),
        )
        for place, failover in enumerate(failovers)
    ]
    longest = max((sum(ticks for _, ticks, _ in row.phases) for row in rows), default=0)
    return [replace(row, longest_ticks=max(longest, 1)) for row in reversed(rows)]


def _title(row: TimingRow) -> str:
    found = row.failover
    at = formatting.run_time(found.failed_tick / TICKS_PER_S)
    cause = f", {found.cause}" if found.cause not in (found.kind, "unknown") else ""
    return f"{at}  {found.database}: {formatting.failover_kind(found.kind)}{cause}"


COLUMNS: Final = (
    TableColumn(title=mark("Failover"), text=_title,
           tip=lambda row: f"{row.failover.from_server} → {row.failover.to_server}",
           sample="1:00:00  Sales: automatic, pull-cable"),
    TableColumn(title=mark("Phases"), text=lambda row: row.summary, tip=lambda row: row.summary.replace(", ", "\n")),
    TableColumn(title=mark("Time"), right=True, sample="1 min 12 s", bold=lambda row: True,
           text=lambda row: tr("cancelled") if row.failover.cancelled else formatting.seconds(row.failover_s),
           tip=lambda row: tr("from detection to the role change")),
)  # fmt: skip


# --- details of one failover ----


Step = tuple[str, int | None, int | None, int | None]


def steps_of(row: TimingRow | None) -> list[Step]:
    """Return (name, tick at its end, ticks after the failure, ticks that it took) of each phase."""
    if row is None:
        return []
    first = row.failover.failed_tick
    return [
        (
            phase.kind.name,
            phase.end_tick,
            None if phase.end_tick is None else phase.end_tick - first,
            None if phase.end_tick is None else phase.ticks_at(phase.end_tick),
        )
        for phase in row.parts
    ]


def _ticks(value: int | None) -> str:
    return formatting.NOTHING if value is None else formatting.seconds(value / TICKS_PER_S)


def _format_time(step: Step) -> str:
    return (
        "" if step[1] is None else tr("at {time}").format(time=formatting.run_time(step[1] / TICKS_PER_S, 2))
    )


STEP_COLUMNS: Final = (
    TableColumn(
        title=mark("Phase"),
        text=lambda step: tr(step[0]),
        sample="\n".join(kind.name for kinds in PHASES.values() for kind in kinds),
        tip=_format_time,
    ),
    TableColumn(
        title=mark("After"),
        text=lambda step: _ticks(step[2]),
        right=True,
        sample="12.34 s",
        tip=lambda step: tr("from the failure to the end of the phase"),
    ),
    TableColumn(
        title=mark("Duration"),
        text=lambda step: _ticks(step[3]),
        right=True,
        sample="12.34 s",
        tip=lambda step: tr("length of the phase"),
    ),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """Row of the comparison: its label, and the texts for both columns of Table 6."""

    words: str
    idle: str
    loaded: str
    tone: str | None = None


def comparison_of(row: TimingRow | None) -> list[Compared]:
    """Return published time, this run, difference; nothing for a cause that Table 6 does not have."""
    if row is None or row.failover.cause not in FAILOVER_S:
        return []
    _, idle_s, loaded_s = FAILOVER_S[row.failover.cause]
    close = row.difference is not None and abs(row.difference) <= CLOSE_SHARE
    lines = [Compared(tr("Published"), formatting.seconds(idle_s, 1), formatting.seconds(loaded_s, 1))]
    for words, text, tone in (
        (tr("This run"), formatting.seconds(row.failover_s), None),
        (tr("Difference"), formatting.percent(row.difference, sign=True), "ok" if close else "warn"),
    ):
        shown = text if row.published is not None else formatting.NOTHING
        idle, loaded = (formatting.NOTHING, shown) if row.failover.under_load else (shown, formatting.NOTHING)
        lines.append(Compared(words, idle, loaded, tone if row.published is not None else None))
    return lines


COMPARISON_COLUMNS: Final = (
    TableColumn(title=mark("Table 6"), text=lambda line: line.words,
           sample="\n".join((mark("Published"), mark("This run"), mark("Difference")))),
    TableColumn(title=mark("No load"), text=lambda line: line.idle, right=True, sample="-12.3 %",
           tone=lambda line: line.tone),
    TableColumn(title=mark("Load"), text=lambda line: line.loaded, right=True, sample="-12.3 %",
           tone=lambda line: line.tone),
)  # fmt: skip


def verdict(row: TimingRow | None) -> str:
    """Return the verdict on the comparison, or the reason why there is none."""
    if row is None:
        return ""
    if row.failover.cancelled:
        return tr("Not compared: the attempt failed ({why}).").format(why=said_of(row.failover.why))
    if row.unlike:
        return tr("Not compared: {why}.").format(why=said_of(row.unlike))
    if row.published is None:
        return ""
    name = FAILOVER_S[row.failover.cause][0]
    said = tr("{name}. Single samples, from detection to the role change. {source}.")
    return said.format(name=name, source=REFERENCE)
