"""Page with a learner's progress: state of each skill, due reviews, and recommended drills."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.learning.next_drills import DrillRecommendation
from app.learning.skill_estimates import SkillEstimate
from app.widgets import theme
from app.widgets.key_button import build_back_button
from app.widgets.layouts import EmptySpace, build_row, build_widget_column
from app.widgets.tables import TableColumn, TableModel, TableView, get_cell_style
from app.words import formatting
from app.words.language import mark, tr, trn
from engine.drill.judging.report_types import Calibration
from engine.drill.judging.skills import load_skills
from engine.overrides import override

CURVE_HEIGHT_PX: Final = 170
DOT_RADIUS_PX: Final = (3.5, 9.0)
"""Radius of a dot in pixels: (minimum, maximum). The maximum means that the dot stands for all answers."""


class CalibrationCurve(QWidget):
    """Square plot of the share of correct answers against confidence.

    Dots are connected in order of confidence.
    """

    def __init__(self, calibration: Calibration, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._calibration = calibration
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        sign = formatting.format_percent_sign()
        points = (
            f"{point['sure_percent']:g}{sign}: {point['right_percent']:.0f}{sign}"
            for point in calibration["curve"]
        )
        self.setAccessibleName(
            tr("Share of correct answers by stated confidence: {points}").format(points=", ".join(points))
        )

    @override
    def sizeHint(self) -> QSize:
        return QSize(CURVE_HEIGHT_PX + 40, CURVE_HEIGHT_PX)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors, metrics = theme.get_theme_tokens(self.palette()), self.fontMetrics()
        left_px, foot = (
            metrics.horizontalAdvance(f"100{formatting.format_percent_sign()}") + 8,
            metrics.height() + 6,
        )
        dot_y = self.height() - foot - metrics.height() // 2 - DOT_RADIUS_PX[1]
        box = QRectF(left_px, self.height() - foot - dot_y, dot_y, dot_y)

        def map_to_point(confidence: float, correct_share: float) -> QPointF:
            return QPointF(
                box.left() + dot_y * confidence / 100.0, box.bottom() - dot_y * correct_share / 100.0
            )

        painter.setPen(QPen(colors.muted, 1.0))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        painter.drawLine(box.bottomLeft(), box.topLeft())
        painter.setPen(QPen(colors.muted, 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(map_to_point(0.0, 0.0), map_to_point(100.0, 100.0))
        painter.setPen(colors.muted)
        for percent in (0, 50, 100):
            words, point = f"{percent}{formatting.format_percent_sign()}", map_to_point(percent, percent)
            y = QRectF(0, point.y() - metrics.height() / 2, left_px - 6, metrics.height())
            painter.drawText(y, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
            x = QRectF(point.x() - left_px, box.bottom() + 4, 2 * left_px, metrics.height())
            painter.drawText(x, Qt.AlignmentFlag.AlignHCenter, words)
        curve = [
            map_to_point(point["sure_percent"], point["right_percent"])
            for point in self._calibration["curve"]
        ]
        painter.setPen(QPen(colors.accent, 1.5))
        painter.drawPolyline(curve)
        painter.setBrush(colors.accent)
        for answers, place in zip(self._calibration["curve"], curve, strict=True):
            share = answers["answers"] / self._calibration["answers"]
            radius = DOT_RADIUS_PX[0] + (DOT_RADIUS_PX[1] - DOT_RADIUS_PX[0]) * share
            painter.drawEllipse(place, radius, radius)
        painter.end()


WEAK_MASTERY_LIMIT: Final = 50.0
"""Mastery below which a bar has a warning color. Assumed: more than half was forgotten or never practiced."""
BAR_COLUMN: Final = 1


class SkillRow(NamedTuple):
    """State of a skill when the page was opened, as a row of the table."""

    estimate: SkillEstimate
    current_time: datetime

    @property
    def needs_review(self) -> bool:
        """True if a review of the skill is due."""
        return self.estimate.is_review_due(self.current_time)


def count_days_between(start: datetime, end: datetime) -> int:
    """Return the number of calendar days between two times, in the time zone of this computer."""
    return (end.astimezone().date() - start.astimezone().date()).days


def format_elapsed(time: datetime | None, current_time: datetime) -> str:
    """Format the number of days since *time*."""
    if time is None:
        return formatting.NO_VALUE
    days = count_days_between(time, current_time)
    if days <= 0:
        return tr("today")
    return trn("{n} day ago", "{n} days ago", days).format(n=days)


def format_due(due_time: datetime | None, current_time: datetime) -> str:
    """Format the number of days until *due_time*."""
    if due_time is None:
        return formatting.NO_VALUE
    if due_time <= current_time:
        return tr("now")
    days = count_days_between(current_time, due_time)
    if days <= 0:
        return tr("later today")
    return trn("in {n} day", "in {n} days", days).format(n=days)


def _format_evidence(row: SkillRow) -> str:
    runs = row.estimate.runs
    if not runs:
        return tr("never practiced")
    return trn("{n} run", "{n} runs", runs).format(n=runs) + (" ✓" if row.estimate.proved else "")


def _describe_proof(row: SkillRow) -> str:
    if row.estimate.proved:
        return tr("Mastered: two passes without hints at least two days apart, one of them in a new drill.")
    return tr(
        "Not mastered yet: pass twice without hints at least two days apart, one of them in a new drill."
    )


SKILL_COLUMNS: Final[tuple[TableColumn[SkillRow], ...]] = (
    TableColumn(
        title=mark("Skill"),
        text=lambda row: tr(row.estimate.skill.title),
        tip=lambda row: tr(row.estimate.skill.text),
        sample="\n".join(skill.title for skill in load_skills()),
    ),
    TableColumn(
        title=mark("Mastery"),
        text=lambda row: f"{row.estimate.mastery:.0f}",
        spoken=lambda row: tr("{points:.0f} of 100").format(points=row.estimate.mastery),
        sample="mmmmmmmmmmmmmmmmm",
    ),
    TableColumn(
        title=mark("Evidence"),
        text=_format_evidence,
        tip=_describe_proof,
        color_name=lambda row: None if row.estimate.runs else "muted",
        sample="never practiced",
    ),
    TableColumn(
        title=mark("Last practiced"),
        text=lambda row: format_elapsed(row.estimate.last_practice_time, row.current_time),
        sample="100 days ago",
    ),
    TableColumn(
        title=mark("Due"),
        text=lambda row: format_due(row.estimate.due_time, row.current_time),
        color_name=lambda row: "warn" if row.needs_review else None,
        bold=lambda row: row.needs_review,
        sample="in 100 days",
    ),
)


class ProgressPage(QWidget):
    """Page with the skills on the left and recommended drills on the right."""

    start_wanted = Signal(str)
    """Signal: name of the scenario to start."""
    history_wanted = Signal()
    leave_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._summary = QLabel(tr("Progress")), QLabel()
        self._summary.setObjectName("summary")
        self._summary.setProperty("muted", "true")
        self._table = TableView(TableModel(SKILL_COLUMNS), tr("Skills"))
        self._table.setItemDelegateForColumn(BAR_COLUMN, _BarDelegate(self._table))
        header = self._table.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(BAR_COLUMN, QHeaderView.ResizeMode.Stretch)
        self._next_title = QLabel(tr("Recommended"))
        self._cards = build_widget_column(margins=(0, 0, 6, 0), spacing=10)
        self._lay_out()
        self._show_font()
        theme.call_after_events(self, theme.FONT_EVENTS, self._show_font)

    def _lay_out(self) -> None:
        widget = QWidget()
        widget.setLayout(self._cards)
        scroll = QScrollArea()
        scroll.setWidget(widget)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName(tr("Recommended"))
        head = build_row(self._title, (self._summary, 1, Qt.AlignmentFlag.AlignBottom))
        right = build_widget_column(self._next_title, (scroll, 1), spacing=8)
        body = build_row((self._table, 8), (right, 5), spacing=20)
        back_button, history = (
            build_back_button(tr("Back"), self, self.leave_wanted),
            QPushButton(tr("History")),
        )
        history.clicked.connect(self.history_wanted)
        note = QLabel(tr("Rewound runs do not count. Mastery fades if you do not practice."))
        note.setProperty("muted", "true")
        note.setWordWrap(True)
        buttons = build_row(back_button, history, EmptySpace(12), (note, 1))
        build_widget_column(head, (body, 1), buttons, parent=self, margins=(28, 18, 28, 20), spacing=12)

    def show_progress(
        self,
        skills: Sequence[SkillEstimate],
        recommendations: Sequence[DrillRecommendation],
        titles: Mapping[str, str],
        current_time: datetime,
        calibration: Calibration | None = None,
    ) -> None:
        """Show the skills and the recommended drills.

        *recommendations*: recommendations, most needed first. *titles*: name of a scenario -> title.
        *calibration*: calibration of the learner's confidence.
        """
        rows = [SkillRow(standing, current_time) for standing in skills]
        self._table.table.replace_rows(rows)
        practiced_count = sum(row.estimate.runs > 0 for row in rows)
        due_count = sum(row.needs_review for row in rows)
        text = tr("{known} of {all} skills practiced").format(known=practiced_count, all=len(rows))
        waiting = trn("{n} skill is due", "{n} skills are due", due_count).format(n=due_count)
        self._summary.setText(f"{text}, {waiting}")
        while (item := self._cards.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for recommendation in recommendations:
            card = _RecommendationCard(
                recommendation, titles.get(recommendation.scenario, recommendation.scenario), current_time
            )
            card.start_wanted.connect(self.start_wanted)
            self._cards.addWidget(card)
        if not recommendations:
            label = QLabel(tr("No skill is due or new. Choose any drill."))
            label.setProperty("muted", "true")
            label.setWordWrap(True)
            self._cards.addWidget(label)
        if calibration is not None:
            self._cards.addWidget(_build_calibration(calibration))
        self._cards.addStretch()
        if rows:
            self._table.selectRow(0)

    def take_focus(self) -> None:
        """Focus the first recommended drill, or the table of skills."""
        card = self.findChild(_RecommendationCard)
        if card is not None and not card.isHidden():
            card.start.setFocus()
        else:
            self._table.setFocus()

    def _show_font(self) -> None:
        self._title.setFont(theme.resize_font(self.font(), 1.8, bold=True))
        self._next_title.setFont(theme.resize_font(self.font(), 1.2, bold=True))


class _RecommendationCard(QFrame):
    """Card of a recommended drill with the reason."""

    start_wanted = Signal(str)

    def __init__(self, recommendation: DrillRecommendation, title: str, current_time: datetime) -> None:
        super().__init__()
        self.setProperty("card", "true")
        name, reason_label, skills = (
            QLabel(title),
            QLabel(format_reason(recommendation, current_time)),
            QLabel(),
        )
        skills.setText(", ".join(tr(skill.title) for skill in recommendation.skills))
        for label in (name, reason_label, skills):
            label.setTextFormat(
                Qt.TextFormat.PlainText
            )  # a scenario may come from a stranger and contain HTML
            label.setWordWrap(True)
        name.setFont(theme.resize_font(self.font(), 1.05, bold=True))
        for label in (reason_label, skills):
            label.setProperty("muted", "true")
        self.start = QPushButton(tr("Open"))
        self.start.setAccessibleName(tr("Open {drill}").format(drill=title))
        self.start.setProperty("primary", "true")
        self.start.clicked.connect(lambda: self.start_wanted.emit(recommendation.scenario))
        texts = build_widget_column(name, reason_label, skills, spacing=3)
        build_row(
            (texts, 1), (self.start, 0, Qt.AlignmentFlag.AlignVCenter), parent=self, margins=(14, 10, 12, 10)
        )


def _build_calibration(answers: Calibration) -> QFrame:
    """Build a card with the Brier score, the numbers and the curve of the calibration."""
    card, numbers = QFrame(), QGridLayout()
    card.setProperty("card", "true")
    title, score = QLabel(tr("Confidence and accuracy")), QLabel(formatting.format_brier(answers))
    title.setFont(theme.resize_font(card.font(), 1.05, bold=True))
    score.setWordWrap(True)
    rows = [
        (
            f"{point['sure_percent']:g}{formatting.format_percent_sign()}",
            f"{point['right_percent']:.0f}{formatting.format_percent_sign()}",
            str(point["answers"]),
        )
        for point in answers["curve"]
    ]
    for index, row in enumerate([(tr("confidence"), tr("correct"), tr("answers")), *rows]):
        for column, words in enumerate(row):
            label = QLabel(words)
            label.setProperty("muted", "false" if index else "true")
            numbers.addWidget(label, index, column, Qt.AlignmentFlag.AlignRight)
    numbers.setHorizontalSpacing(14)
    numbers.setRowStretch(len(rows) + 1, 1)
    layout = build_row(numbers, EmptySpace(14), (CalibrationCurve(answers), 1))
    build_widget_column(title, score, layout, parent=card, margins=(14, 10, 12, 12), spacing=8)
    return card


def format_reason(recommendation: DrillRecommendation, current_time: datetime) -> str:
    """Format the reason of a recommendation."""
    if recommendation.due_time is None:
        return tr("New: skills never practiced")
    days = count_days_between(recommendation.due_time, current_time)
    if days <= 0:
        return tr("Due since today")
    return trn("Overdue by {n} day", "Overdue by {n} days", days).format(n=days)


class _BarDelegate(QStyledItemDelegate):
    """Delegate that paints mastery as a bar with its number."""

    def __init__(self, table: TableView) -> None:
        super().__init__(table)
        self._table = table

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        look = get_cell_style(option)
        colors = theme.get_theme_tokens(look.palette)
        row: SkillRow = self._table.table.rows[index.row()]
        is_selected = bool(look.state & QStyle.StateFlag.State_Selected)
        box = QRectF(look.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_selected:
            painter.fillRect(box, colors.selection)
        elif index.row() % 2:
            painter.fillRect(box, look.palette.alternateBase())
        number = look.metrics.horizontalAdvance("100") + 12
        bar = box.adjusted(7, box.height() * 0.32, -number, -box.height() * 0.32)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.idle_soft)
        painter.drawRoundedRect(bar, 3, 3)
        mastery = row.estimate.mastery
        if mastery > 0.0:
            painter.setBrush(colors.ok if mastery >= WEAK_MASTERY_LIMIT else colors.warn)
            filled = QRectF(bar.left(), bar.top(), max(4.0, bar.width() * mastery / 100.0), bar.height())
            painter.drawRoundedRect(filled, 3, 3)
        painter.setPen(
            colors.on_selection if is_selected else colors.text if row.estimate.runs else colors.muted
        )
        painter.drawText(
            box.adjusted(0, 0, -7, 0),
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
            f"{mastery:.0f}",
        )
        painter.restore()
