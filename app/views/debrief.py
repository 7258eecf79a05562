"""After a drill: what it was worth and why, its course, each failover beside the published time, and another try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import formatting, theme
from app.course import course_of
from app.strip import Strip

Report = Mapping[str, Any]
"""As of `run --json`."""

ENDED: Final = {
    "goals": "all goals are reached",
    "time": "the time was over",
    "forbidden": "something happened that must never happen",
    "asked": "you ended it",
    None: "it was left",
}

PHASES: Final = (
    ("failed", "detected", "detection", None),
    ("detected", "redo_done", "redo", 1),
    ("redo_done", "decided", "decision", 2),
    ("decided", "online", "role change", 0),
    ("online", "undo_done", "undo", 3),
)
"""From step, to step, name, colour of a series (None: idle), as in the timing panel: what a failover's time goes
into. Undo runs while clients work again."""

PAGE_WIDTH_UNITS: Final = 76
MOMENTS_SHOWN: Final = 6
"""Moments listed for one item of the score; more would only be a wall of numbers."""


class Debrief(QScrollArea):
    """One page about a finished run, from its report alone."""

    retry_wanted = Signal(float)
    """From this moment, in seconds; 0: from the start."""
    solution_wanted = Signal()
    left = Signal()
    history_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName("Debrief")
        self._report: Report | None = None
        self._can_retry = self._has_solution = False
        self._moment_s: float | None = None
        self._retry_here = QPushButton()
        self._build()

    def show_report(self, report: Report, can_retry: bool, has_solution: bool) -> None:
        """Show *report*; trying again needs the scenario, which an old run may lack."""
        self._report, self._can_retry, self._has_solution = report, can_retry, has_solution
        self._moment_s = None
        self._build()
        self.verticalScrollBar().setValue(0)

    def moment(self) -> float | None:
        """The moment that was chosen for a retry, in seconds."""
        return self._moment_s

    # --- building -------------------------------------------------------------------------------------------

    def _build(self) -> None:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(28, 20, 28, 24)
        column.setSpacing(14)
        if self._report is not None:
            for part in self._parts(self._report):
                column.addWidget(part)
        column.addStretch()
        inside.setMaximumWidth(PAGE_WIDTH_UNITS * self.fontMetrics().height())
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(inside, 1000)
        row.addStretch(1)
        before = self.takeWidget()
        if before is not None:
            before.deleteLater()  # not at once: a change of font may be on its way through these very widgets
        self.setWidget(page)

    def _parts(self, report: Report) -> Iterator[QWidget]:
        yield self._head(report)
        yield _card("What it came to", _figures(report))
        yield _card("Course", self._course(report))
        if report["score"]["scored"]:
            yield _card("Score, point by point", self._score(report))
        if report["failovers"]:
            yield _card("Failovers", *[_Failover(row, report) for row in report["failovers"]])
        asked = [row for row in report.get("questions", ()) if row.get("asked_t_s") is not None]
        if asked:
            yield _card("Questions", *[_question(row) for row in asked])
        commands = _commands(report)
        if commands is not None:
            yield _card("Commands", commands)

    def _head(self, report: Report) -> QWidget:
        head = QWidget()
        title = _label(str(report.get("title") or report["scenario"]), 1.8, bold=True)
        ended = ENDED.get(report.get("ended_by"), "it ended")
        goals = report.get("goals", ())
        met = sum(bool(goal["met"]) for goal in goals)
        reached = f"{met} of {len(goals)} goals are reached; " if met < len(goals) else ""
        said = f"{reached}{ended}, after {formatting.seconds(report['ended_at_s'], 1)}."
        words = _label(said[:1].upper() + said[1:])
        words.setProperty("muted", "true")
        names = QVBoxLayout()
        names.setSpacing(4)
        names.addWidget(title)
        names.addWidget(words)
        names.addLayout(self._buttons())
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.addLayout(names, 1)
        if report["score"]["scored"]:
            row.addWidget(_ScoreRing(float(report["score"]["total"])))
        return head

    def _buttons(self) -> QHBoxLayout:
        again = QPushButton("Try again from the start")
        again.setProperty("primary", "true")
        again.clicked.connect(lambda: self.retry_wanted.emit(0.0))
        self._retry_here = QPushButton()
        self._retry_here.clicked.connect(lambda: self.retry_wanted.emit(self._moment_s or 0.0))
        solution = QPushButton("Watch the reference solution")
        solution.clicked.connect(self.solution_wanted)
        drills, history = QPushButton("All drills"), QPushButton("History")
        drills.clicked.connect(self.left)
        history.clicked.connect(self.history_wanted)
        again.setVisible(self._can_retry)
        solution.setVisible(self._has_solution)
        row = QHBoxLayout()
        row.setContentsMargins(0, 8, 0, 0)
        for button in (again, self._retry_here, solution, drills, history):
            row.addWidget(button)
        row.addStretch()
        self._show_moment()
        return row

    def _course(self, report: Report) -> QWidget:
        databases = list(report["availability"]["databases"])
        course = course_of(report["events"], databases, databases)
        strip = Strip()
        strip.show_course(course, float(report["ended_at_s"]), live=False)
        strip.moment_chosen.connect(self._choose_moment)
        words = "Above: service; below: protection by a mirror in step. "
        words += "Click a moment, or walk with the arrow keys and Enter, to try again from there."
        note = _label(words if self._can_retry else "Above: service; below: protection by a mirror in step.")
        note.setProperty("muted", "true")
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(strip)
        layout.addWidget(note)
        return box

    def _choose_moment(self, t_s: float) -> None:
        self._moment_s = t_s
        self._show_moment()

    def _show_moment(self) -> None:
        known = self._moment_s is not None and self._can_retry
        self._retry_here.setVisible(known)
        self._retry_here.setText(f"Try again from {formatting.run_time(self._moment_s or 0.0, 1)}")

    # --- score ----------------------------------------------------------------------------------------------

    def _score(self, report: Report) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(14)
        for item in report["score"]["items"]:
            row = QHBoxLayout()
            row.setSpacing(18)
            row.addWidget(_Points(float(item["points"]), float(item["max"])), 0, Qt.AlignmentFlag.AlignTop)
            row.addLayout(self._item(item), 1)
            column.addLayout(row)
        return box

    def _item(self, item: Mapping[str, Any]) -> QVBoxLayout:
        layout = QVBoxLayout()
        layout.setSpacing(2)
        layout.addWidget(_label(str(item["name"]), 1.0, bold=True))
        layout.addWidget(_label(str(item["why"])))
        if item.get("better"):
            layout.addWidget(_label(f"Better: {item['better']}"))
        moments = list(dict.fromkeys(item.get("at_s") or ()))[:MOMENTS_SHOWN]
        if moments:
            layout.addLayout(self._moments(moments))
        return layout

    def _moments(self, moments: Sequence[float]) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(6)
        lead = _label("At")
        lead.setProperty("muted", "true")
        lead.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        row.addWidget(lead)
        for t_s in moments:
            button = QPushButton(formatting.run_time(t_s, 1))
            button.setProperty("small", "true")
            button.setToolTip("Choose this moment for another try")
            button.setEnabled(self._can_retry)
            button.clicked.connect(lambda _=False, t_s=t_s: self._choose_moment(t_s))
            row.addWidget(button)
        row.addStretch()
        return row

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._build()


# --- parts ----------------------------------------------------------------------------------------------------


def _label(text: str, scale: float = 1.0, bold: bool = False) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setFont(theme.sized(label.font(), scale, bold))
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _card(title: str, *parts: QWidget) -> QFrame:
    card = QFrame()
    card.setProperty("card", "true")
    layout = QVBoxLayout(card)
    layout.setContentsMargins(18, 12, 18, 16)
    layout.setSpacing(10)
    layout.addWidget(_label(title, 1.15, bold=True))
    for part in parts:
        layout.addWidget(part)
    return card


def _figures(report: Report) -> QWidget:
    """Downtime, exposure and losses, of each database where there are several."""
    box = QWidget()
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(36)
    totals = report["availability"]
    shown = [("", totals)] if len(totals["databases"]) < 2 else list(totals["databases"].items())
    for row, (name, account) in enumerate(shown):
        figures = (
            (formatting.seconds(account["downtime_s"], 1), "without service"),
            (formatting.seconds(account["exposed_s"], 1), "served without a mirror in step"),
            (formatting.number(account["lost_transactions"]), "committed transactions lost"),
            (formatting.kb(account["lost_kb"]), "log lost"),
        )
        if name:
            grid.addWidget(_label(name, 1.0, bold=True), row, 0)
        for column, (value, what) in enumerate(figures, start=1):
            grid.addWidget(_figure(value, what), row, column)
    grid.setColumnStretch(5, 1)
    return box


def _figure(value: str, what: str) -> QWidget:
    box = QWidget()
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    number, words = _label(value, 1.5, bold=True), _label(what)
    words.setProperty("muted", "true")
    for label in (number, words):
        label.setWordWrap(False)
        layout.addWidget(label)
    return box


def _question(row: Mapping[str, Any]) -> QWidget:
    """What was asked, what was said to it, and what is right."""
    box = QWidget()
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(2)
    layout.addWidget(_label(f"{formatting.run_time(row['asked_t_s'], 1)}  {row['text']}", 1.0, bold=True))
    right = row.get("right") or ()
    for number, choice in enumerate(row["choices"], start=1):
        mark = "✓" if number in right else "✗" if number == row.get("choice") else "·"
        yours = "  (your answer)" if number == row.get("choice") else ""
        layout.addWidget(_label(f"{mark}  {choice}{yours}"))
    if row.get("choice") is None:
        layout.addWidget(_label("Nobody answered."))
    if row.get("why"):
        why = _label(str(row["why"]))
        why.setProperty("muted", "true")
        layout.addWidget(why)
    return box


def _commands(report: Report) -> QWidget | None:
    """Every batch with what the server said to it; None if nothing was typed."""
    batches = report.get("sql") or ()
    if not batches:
        return None
    box = QWidget()
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(14)
    grid.setVerticalSpacing(6)
    grid.setColumnStretch(2, 1)
    for row, batch in enumerate(batches):
        errors = [m for m in batch.get("messages") or () if int(m.get("severity") or 0) > 10]
        text = " ".join(str(batch.get("batch", "")).split())
        said = "".join(f"\nMsg {m['number']}: {m['text']}" for m in errors)
        when, command = _label(formatting.run_time(batch["t_s"], 1)), _label(f"{text}{said}")
        command.setFont(theme.fixed_font(0.95))
        mark = _label("✗ refused" if errors else "✓ done")
        for label in (when, mark):
            label.setWordWrap(False)
            label.setProperty("muted", "true")
        grid.addWidget(when, row, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(_label(str(batch["server"])), row, 1, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(command, row, 2)
        grid.addWidget(mark, row, 3, Qt.AlignmentFlag.AlignTop)
    return box


class _ScoreRing(QWidget):
    """Points of a hundred as a ring and a number."""

    def __init__(self, total: float) -> None:
        super().__init__()
        self._total = total
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"Score {total:g} of 100")

    def sizeHint(self) -> QSize:
        side = round(self.fontMetrics().height() * 6.5)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = self.width() * 0.09
        box = QRectF(self.rect()).adjusted(width, width, -width, -width)
        painter.setPen(QPen(colours.idle_soft, width))
        painter.drawArc(box, 0, 360 * 16)
        tone = colours.ok if self._total >= 80.0 else colours.warn if self._total >= 50.0 else colours.bad
        painter.setPen(QPen(tone, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        painter.drawArc(box, 90 * 16, -round(self._total / 100.0 * 360 * 16))
        painter.setPen(colours.text)
        painter.setFont(theme.sized(self.font(), 2.2, bold=True))
        line = QFontMetricsF(painter.font()).height()
        upper = QRectF(0, self.height() / 2 - line * 0.68, self.width(), line)
        painter.drawText(upper, Qt.AlignmentFlag.AlignCenter, f"{self._total:g}")
        painter.setPen(colours.muted)
        painter.setFont(theme.sized(self.font(), 0.85))
        painter.drawText(upper.translated(0, line * 0.72), Qt.AlignmentFlag.AlignCenter, "of 100")


class _Points(QWidget):
    """Points of one item as a number over a bar."""

    def __init__(self, points: float, most: float) -> None:
        super().__init__()
        self._points, self._most = points, most
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{points:g} of {most:g} points")

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(round(line * 5.5), round(line * 1.9))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self.fontMetrics().height()
        painter.setFont(theme.sized(self.font(), 1.05, bold=True))
        painter.setPen(colours.text)
        text = f"{self._points:g} / {self._most:g}" if self._most else f"{self._points:g}"
        painter.drawText(QRectF(0, 0, self.width(), line * 1.2), Qt.AlignmentFlag.AlignLeft, text)
        bar = QRectF(0, line * 1.35, self.width(), line * 0.35)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours.idle_soft)
        painter.drawRoundedRect(bar, bar.height() / 2, bar.height() / 2)
        share = self._points / self._most if self._most > 0.0 else 1.0 if self._points < 0.0 else 0.0
        if share > 0.0:
            good = self._points >= self._most > 0.0
            painter.setBrush(colours.ok if good else colours.bad if self._points < 0.0 else colours.warn)
            bar.setWidth(max(bar.height(), bar.width() * share))
            painter.drawRoundedRect(bar, bar.height() / 2, bar.height() / 2)


class _Failover(QWidget):
    """One failover: its phases to scale, its time, and the published one where the conditions match."""

    def __init__(self, failover: Mapping[str, Any], report: Report) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        way = f"{failover['from_server']} → {failover['to_server']}"
        head = f"{failover['database']}: {failover['kind']} failover {way}, cause: {failover['cause']}"
        layout.addWidget(_label(head, 1.0, bold=True))
        layout.addWidget(_PhaseBar(failover))
        layout.addWidget(_label(_verdict(failover)))


def phases_of(failover: Mapping[str, Any]) -> list[tuple[str, float]]:
    """(name, seconds) of the phases that are known."""
    found = []
    for start, end, name, _ in PHASES:
        from_s, to_s = failover.get(f"{start}_t_s"), failover.get(f"{end}_t_s")
        if from_s is not None and to_s is not None and to_s >= from_s:
            found.append((name, to_s - from_s))
    return found


def _verdict(failover: Mapping[str, Any]) -> str:
    took = failover.get("failover_s")
    if took is None:
        return "It was not completed."
    lost = failover.get("lost_transactions") or 0
    losses = f" {formatting.number(lost)} committed transactions were lost." if lost else ""
    published = failover.get("published_s")
    said = f"From detection to the new principal: {formatting.seconds(took)}."
    if published is None:
        return f"{said} Nothing comparable is published.{losses}"
    share = formatting.percent(took / published - 1.0, 0, sign=True)
    return f"{said} Published: {formatting.seconds(published, 1)} ({failover['published_ref']}), {share}.{losses}"


class _PhaseBar(QWidget):
    """Phases side by side, as long as they lasted, with name and seconds below."""

    def __init__(self, failover: Mapping[str, Any]) -> None:
        super().__init__()
        self._phases = phases_of(failover)
        self.setAccessibleName(", ".join(f"{name} {seconds:.2f} s" for name, seconds in self._phases))

    def sizeHint(self) -> QSize:
        return QSize(300, round(self.fontMetrics().height() * 2.6))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self.fontMetrics().height()
        total = sum(seconds for _, seconds in self._phases) or 1.0
        small = theme.sized(self.font(), 0.88)
        metrics = QFontMetricsF(small)
        texts = [f"{name} {formatting.seconds(seconds)}" for name, seconds in self._phases]
        left, text_left = 0.0, 0.0
        tones = {
            name: colours.idle if series is None else colours.series[series] for _, _, name, series in PHASES
        }
        for (name, seconds), text in zip(self._phases, texts, strict=True):
            width = self.width() * seconds / total
            painter.fillRect(QRectF(left, 0, max(1.5, width - 1.5), line * 0.9), tones[name])
            swatch = QRectF(text_left, line * 1.45, line * 0.55, line * 0.55)
            painter.fillRect(swatch, tones[name])
            painter.setFont(small)
            painter.setPen(colours.text)
            painter.drawText(
                QRectF(swatch.right() + 5, line * 1.15, 400, line * 1.2), Qt.AlignmentFlag.AlignVCenter, text
            )
            text_left = swatch.right() + 5 + metrics.horizontalAdvance(text) + line * 0.9
            left += width
