"""Regret analysis in the debrief: best reachable score over time, and the cost of each action and wait."""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from app.view_models import value_curve
from app.view_models.value_curve import (
    GRID_LINE_POINTS,
    LOSS_BY_LABEL,
    SEGMENT_STYLES,
    SHOWN_LOSS_MIN,
    explain_curve,
    find_marked_segments,
    format_certainty,
    format_first_step,
    format_input,
    format_line,
    format_missed_goals,
    format_segment,
    is_last_chance,
)
from app.views.debrief.debrief_widgets import (
    build_label,
    build_muted_label,
    build_rows_with_symbols,
    build_step_list,
    format_loss,
)
from app.views.debrief.mistakes import StartRetry, build_button_row, build_retry_button
from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.scene_symbols import LABEL_GAP_PX, draw_grid_lines
from app.widgets.screen_reader import announce_text
from app.widgets.tables import escape_tip
from app.widgets.timeline_strip import (
    MARKER_HIT_DISTANCE_PX,
    MARKER_KEY_STEPS,
    compute_lane_sides,
    draw_time_labels,
    find_next_marker,
)
from app.words.formatting import format_run_tick
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.par.lessons import has_ended_last_chance
from engine.drill.par.regret import find_retry_start
from engine.drill.par.regret_analysis import WAITING, LastChance, RegretAnalysis, RunSegment, SegmentWithBest
from engine.inputs import Input
from engine.model import Tick
from engine.overrides import override

CURVE_HEIGHT_LINES_MAX: Final = 24
"""Maximum height of the curve in line heights."""
DROP_LABELS_MAX: Final = 4
"""Maximum number of labeled drops of the curve."""
DOT_RADIUS_PX: Final = 4.5
TIME_LABEL_GAP_PX: Final = 5.0
"""Gap between the curve and the time labels below it."""
LEGEND_SAMPLE_WIDTH_PX: Final = 26.0
"""Length of a line or dot in the legend."""


RefusedCommands = Container[tuple[Tick, str]]
"""Time and line of each command that a server rejected."""


class ValueCurve(QWidget):
    """Curve of the best reachable score over the run, aligned with the timeline strip above it.

    A click, or Enter on an action or a wait, selects a time.
    """

    time_clicked = Signal(float)
    """Signal: selected time in seconds since the start."""

    def __init__(
        self,
        regret_analysis: RegretAnalysis,
        choices_by_question: Mapping[str, Sequence[str]],
        refused: RefusedCommands = frozenset(),
    ) -> None:
        """Create the curve. *choices_by_question*: question -> its choices."""
        super().__init__()
        self._refused = refused
        self._regret_analysis, self._choices_by_question = regret_analysis, choices_by_question
        self._moves, self._stops = (
            value_curve.merge_waits(regret_analysis.moves),
            value_curve.find_marked_segments(regret_analysis),
        )
        self._selected_index: int | None = None
        """Index of the stop selected by keys."""
        self._end = value_curve.get_end_tick(regret_analysis)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setMaximumHeight(CURVE_HEIGHT_LINES_MAX * self.fontMetrics().height())
        self.setAccessibleName(tr("Best score still possible"))
        self.setAccessibleDescription(value_curve.describe_curve(regret_analysis))

    @override
    def sizeHint(self) -> QSize:
        return QSize(400, round(self.fontMetrics().height() * 11.5))

    @override
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    # --- geometry -------------------------------------------------------------------------------------------

    def _build_box(self) -> QRectF:
        line = self.fontMetrics().height()
        left, right = compute_lane_sides(self)
        left = max(left, QFontMetricsF(theme.resize_font(self.font(), 0.85)).horizontalAdvance("100") + 8.0)
        return QRectF(left, line * 1.5, right - left, self.height() - line * 3.2)

    def compute_point(self, tick: Tick, value: float) -> QPointF:
        """Return the position of *value* at *tick*."""
        box = self._build_box()
        return QPointF(
            box.left() + box.width() * tick / self._end, box.bottom() - box.height() * value / 100.0
        )

    def _compute_tick(self, x: float) -> Tick:
        box = self._build_box()
        return round(min(1.0, max(0.0, (x - box.left()) / box.width())) * self._end)

    def _find_segment(self, x: float) -> RunSegment | None:
        """Return the action near *x*, otherwise the wait at *x*. Return None if there is neither.

        *x*: x coordinate in pixels.
        """
        near_moves = [
            (abs(self.compute_point(move.tick, 0.0).x() - x), -move.regret, index)
            for index, move in enumerate(self._moves)
            if move.line != WAITING
        ]
        if near_moves and min(near_moves)[0] <= MARKER_HIT_DISTANCE_PX:
            return self._moves[min(near_moves)[2]]
        tick = self._compute_tick(x)
        return next((move for move in self._moves if move.tick <= tick <= move.until), None)

    def _compute_value(self, tick: Tick) -> float:
        move = next(
            (segment for segment in self._regret_analysis.moves if segment.tick <= tick < segment.until), None
        )
        if move is None:
            return self._regret_analysis.curve[-1][1]
        return move.before - move.regret * (tick - move.tick) / (move.until - move.tick)

    # --- painting -------------------------------------------------------------------------------------------

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors, box = theme.get_theme_tokens(self.palette()), self._build_box()
        painter.setFont(theme.resize_font(self.font(), 0.85))
        draw_grid_lines(painter, box, [(points / 100.0, str(points)) for points in GRID_LINE_POINTS], colors)
        line = QFontMetricsF(painter.font()).height()
        unit = QRectF(0.0, box.top() - 1.7 * line, box.left() - LABEL_GAP_PX, line)
        painter.drawText(unit, Qt.AlignmentFlag.AlignRight, tr("points"))
        self._paint_curve(painter)
        painter.setFont(theme.resize_font(self.font(), 0.85))
        self._paint_point_of_no_return(painter, box)
        painter.setFont(theme.resize_font(self.font(), 0.95, bold=True))
        self._paint_losses(painter, box)
        painter.setFont(theme.resize_font(self.font(), 0.85))
        draw_time_labels(
            painter, self, box.adjusted(0.0, 0.0, 0.0, TIME_LABEL_GAP_PX), self._end / TICKS_PER_S
        )
        if self.hasFocus():
            painter.setPen(QPen(colors.focus, 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5), 5, 5)
        painter.end()

    def _paint_curve(self, painter: QPainter) -> None:
        colors = theme.get_theme_tokens(self.palette())
        painter.setPen(QPen(colors.series[0], 2.0))
        painter.drawPolyline(QPolygonF([self.compute_point(*point) for point in self._regret_analysis.curve]))
        for color_name, points in value_curve.list_falling_parts(self._regret_analysis):
            painter.setPen(QPen(colors.get_color(color_name), 3.0))
            painter.drawPolyline(QPolygonF([self.compute_point(*point) for point in points]))
        stop = self._stops[self._selected_index] if self._selected_index is not None else None
        # the costliest move is drawn last, on top
        for move in sorted(self._moves, key=lambda move: move.regret):
            if move.line != WAITING:
                painter.setPen(QPen(colors.surface, 1.0))
                painter.setBrush(colors.get_color(SEGMENT_STYLES[move.label][1]))
                painter.drawEllipse(self.compute_point(move.until, move.after), DOT_RADIUS_PX, DOT_RADIUS_PX)
            if move is stop:
                painter.setPen(QPen(colors.text, 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(
                    self.compute_point(move.until, move.after), 1.8 * DOT_RADIUS_PX, 1.8 * DOT_RADIUS_PX
                )

    def _paint_losses(self, painter: QPainter, box: QRectF) -> None:
        """Write the lost points next to the deepest drops."""
        colors, metrics = theme.get_theme_tokens(self.palette()), QFontMetricsF(painter.font())
        worst = sorted(self._stops, key=lambda move: -move.regret)[:DROP_LABELS_MAX]
        for move in worst:
            if move.regret < LOSS_BY_LABEL["inaccuracy"]:
                continue
            text = f"−{value_curve.format_points(move.regret)}"
            width = metrics.horizontalAdvance(text) + 2
            middle = self.compute_point((move.tick + move.until) // 2, (move.before + move.after) / 2)
            x = (
                middle.x() + LABEL_GAP_PX
                if middle.x() + LABEL_GAP_PX + width < box.right()
                else middle.x() - LABEL_GAP_PX - width
            )
            painter.setPen(colors.get_color(SEGMENT_STYLES[move.label][1]))
            # keep this text below the label of the point of no return
            top = max(box.top(), middle.y() - metrics.height())
            text_rect = QRectF(x, top, width, metrics.height())
            painter.drawText(text_rect, Qt.AlignmentFlag.AlignLeft, text)

    def _paint_point_of_no_return(self, painter: QPainter, box: QRectF) -> None:
        tick = self._regret_analysis.point_of_no_return
        if tick is None:
            return
        colors, metrics = theme.get_theme_tokens(self.palette()), QFontMetricsF(painter.font())
        x = self.compute_point(tick, 0.0).x()
        painter.setPen(QPen(colors.bad, 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
        text = value_curve.format_point_of_no_return_time(tick)
        width = metrics.horizontalAdvance(text) + 2
        x = min(max(box.left(), x - width / 2), box.right() - width)
        text_rect = QRectF(x, box.top() - metrics.height() * 1.2, width, metrics.height())
        painter.drawText(text_rect, Qt.AlignmentFlag.AlignLeft, text)

    # --- mouse and keys -------------------------------------------------------------------------------------

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            x = event.pos().x()
            move = self._find_segment(x)
            tick = move.tick if move is not None and move.line != WAITING else self._compute_tick(x)
            QToolTip.showText(event.globalPos(), escape_tip(self.format_tip(tick, move)), self)
            return True
        return super().event(event)

    def format_tip(self, tick: Tick, segment: RunSegment | None) -> str:
        """Return the tooltip for *tick*: the score still possible then, and the cost of *segment*.

        *segment*: action or wait.
        """
        if segment is None:
            return ""
        value = segment.before if segment.line != WAITING else self._compute_value(tick)
        lines = [
            tr("{moment}: {points} points still possible").format(
                moment=format_run_tick(tick), points=value_curve.format_points(value)
            ),
            format_segment(
                segment, self._choices_by_question, self._regret_analysis.last_chance, self._refused
            ),
        ]
        if segment.regret >= SHOWN_LOSS_MIN:
            label = tr(SEGMENT_STYLES[segment.label][0])
            lines.append(
                tr("{label}: {points} points lost").format(
                    label=label, points=value_curve.format_points(segment.regret)
                )
            )
        elif segment.line != WAITING:
            lines.append(tr(SEGMENT_STYLES[segment.label][0]))
        if segment.tick == tick == self._regret_analysis.point_of_no_return:
            lines.append(value_curve.format_point_of_no_return_time(tick))
        return "\n".join(lines)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.setAccepted(event.button() == Qt.MouseButton.LeftButton)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            x = event.position().x()
            move = self._find_segment(x)
            tick = move.tick if move is not None and move.line != WAITING else self._compute_tick(x)
            self.time_clicked.emit(tick / TICKS_PER_S)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        count, key = len(self._stops), event.key()
        if count and key in MARKER_KEY_STEPS:
            self._selected_index = find_next_marker(key, self._selected_index, count, start=-1)
            move = self._stops[self._selected_index]
            tip = self.format_tip(move.tick, move)
            announce_text(self, tip)
            point = QPoint(round(self.compute_point(move.until, move.after).x()), self.height())
            QToolTip.showText(self.mapToGlobal(point), escape_tip(tip), self)
            self.update()
        elif self._selected_index is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.time_clicked.emit(self._stops[self._selected_index].tick / TICKS_PER_S)
        else:
            super().keyPressEvent(event)


class ValueCurveLegend(QWidget):
    """Legend of the curve's colors. Its entries wrap."""

    def __init__(self) -> None:
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._entries = value_curve.list_legend_entries()

    def _place_entries(self, width: float) -> list[tuple[QPointF, str, str]]:
        """Return the upper left corner, color name and text of each entry."""
        metrics = QFontMetricsF(theme.resize_font(self.font(), 0.85))
        left_px = compute_lane_sides(self)[0]
        x, y, placed_entries = left_px, 0.0, []
        for color_name, words in self._entries:
            room = LEGEND_SAMPLE_WIDTH_PX + 6.0 + metrics.horizontalAdvance(words)
            if x > left_px and x + room > width:
                x, y = left_px, y + 1.3 * metrics.height()
            placed_entries.append((QPointF(x, y), color_name, words))
            x += room + 1.5 * metrics.height()
        return placed_entries

    @override
    def sizeHint(self) -> QSize:
        return QSize(400, self.heightForWidth(self.width()))

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, width: int) -> int:
        last_point, _, _ = self._place_entries(width)[-1]
        return round(last_point.y() + 1.3 * self.fontMetrics().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.resize_font(self.font(), 0.85))
        colors, line = theme.get_theme_tokens(self.palette()), QFontMetricsF(painter.font()).height()
        for corner, color_name, words in self._place_entries(self.width()):
            color = colors.get_color(color_name) if color_name else colors.series[0]
            middle = corner + QPointF(0.0, line / 2)
            painter.setPen(QPen(color, 3.0 if color_name else 2.0))
            painter.drawLine(middle, middle + QPointF(LEGEND_SAMPLE_WIDTH_PX, 0.0))
            if color_name:
                painter.setPen(QPen(colors.surface, 1.0))
                painter.setBrush(color)
                painter.drawEllipse(
                    middle + QPointF(LEGEND_SAMPLE_WIDTH_PX / 2, 0.0), DOT_RADIUS_PX, DOT_RADIUS_PX
                )
            painter.setPen(colors.muted)
            box = QRectF(corner.x() + LEGEND_SAMPLE_WIDTH_PX + 6.0, corner.y(), self.width(), line)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        painter.end()


MISTAKE_SYMBOL: Final = "✕"
"""Symbol of a mistake, the same as on the timeline."""

SEGMENTS_DESCRIBED_MAX: Final = 6
"""Maximum number of actions and waits with a description. The costliest are described."""

STEPS_SHOWN_MAX: Final = 4
"""Maximum number of listed actions of the best continuation. The user can watch all of them."""


def build_regret_widgets(
    regret_analysis: RegretAnalysis,
    lessons: Sequence[RunSegment],
    has_solution: bool,
    can_retry: bool,
    retry: StartRetry,
    select_time: Callable[[float], None],
    watch: Callable[[SegmentWithBest], None],
    choices: Mapping[str, Sequence[str]],
    is_provisional: bool = False,
    continue_search: Callable[[], object] | None = None,
    refused: RefusedCommands = frozenset(),
) -> list[QWidget]:
    """Return the value curve, and the costliest actions and waits with better alternatives.

    Args:
        regret_analysis: analysis of the run.
        lessons: mistakes of the run that are worth practicing. A lesson replaces the single waits that it
        combines.
        has_solution: whether the drill has a reference solution.
        can_retry: whether the user can retry the drill.
        retry: starts a retry.
        select_time: selects a time of the curve, in seconds.
        watch: shows the best continuation of an action or a wait.
        choices: question -> its choices.
        is_provisional: whether the search may still find better continuations.
        continue_search: continues the search, or None while the search runs.
        refused: time and line of each rejected command.
    """
    lossy = [
        move
        for move in _exclude_lessons(find_marked_segments(regret_analysis), lessons)
        if move.regret >= SHOWN_LOSS_MIN
    ]
    worst = sorted([*lessons, *lossy], key=lambda move: (-move.regret, move.tick))[:SEGMENTS_DESCRIBED_MAX]
    curve = ValueCurve(regret_analysis, choices, refused)
    curve.time_clicked.connect(select_time)
    parts: list[QWidget] = [
        curve,
        ValueCurveLegend(),
        _build_certainty(regret_analysis, is_provisional, continue_search, has_solution),
    ]
    curve.setWhatsThis(explain_curve())
    offer, chance = (retry if can_retry else None), regret_analysis.last_chance
    missed = next(
        (
            move
            for move in worst
            if chance is not None
            and has_ended_last_chance(move, chance)
            and (move in lessons or is_last_chance(move, chance))
        ),
        None,
    )
    rows = [
        (
            (move.tick, move.until),
            (
                format_loss(move.regret),
                tr(SEGMENT_STYLES[move.label][0]),
                _build_segment_texts(
                    move, chance if move is missed else None, offer, watch, choices, refused
                ),
            ),
        )
        for move in worst
    ]
    if chance is not None and missed is None:
        rows.append(
            (
                (chance.tick, 0),
                (MISTAKE_SYMBOL, tr("last chance"), _build_last_chance(chance, offer, watch, choices)),
            )
        )
    return [*parts, *build_rows_with_symbols([row for _, row in sorted(rows, key=lambda row: row[0])])]


def _exclude_lessons(segments: Sequence[RunSegment], lessons: Sequence[RunSegment]) -> list[RunSegment]:
    """Return the *segments* (actions and waits) that are not part of any of *lessons*."""

    def is_part(segment: RunSegment) -> bool:
        return any(
            segment.line in (lesson.line, WAITING)
            and lesson.tick <= segment.tick
            and segment.until <= lesson.until
            for lesson in lessons
        )

    return [move for move in segments if not is_part(move)]


def _build_certainty(
    regret_analysis: RegretAnalysis,
    is_provisional: bool,
    continue_search: Callable[[], object] | None,
    has_solution: bool,
) -> QWidget:
    """Build a line that states how certain the curve is, with a button that searches longer.

    *is_provisional*: the search may still find better continuations. *continue_search*: continues the search.
    """
    box = QWidget()
    row = build_row(parent=box, margins=0)
    text = format_certainty(regret_analysis)
    if is_provisional:
        text = tr("The search continues: the line may still rise.")
    elif not has_solution and regret_analysis.worst is None:
        text = tr(
            "No better continuation is known. The drill has no reference solution, and the search was short."
        )
    row.addWidget(build_muted_label(text), 1)
    if continue_search is not None and (is_provisional or regret_analysis.largest_gap is not None):
        button = QPushButton(tr("Search longer"))
        button.setToolTip(tr("Search 10× more continuations where they matter most"))
        button.clicked.connect(lambda _=False: continue_search())
        row.addWidget(button)
    return box


def _build_segment_texts(
    segment: RunSegment,
    last_chance: LastChance | None,
    retry: StartRetry | None,
    watch: Callable[[SegmentWithBest], None],
    choices_by_question: Mapping[str, Sequence[str]],
    refused: RefusedCommands,
) -> QVBoxLayout:
    """Describe an action or a wait, and the best alternative to it.

    *last_chance*: last chance to reach all goals if *segment* missed it, otherwise None.
    """
    words = _build_column(
        build_label(format_segment(segment, choices_by_question, last_chance, refused), 1.0, bold=True)
    )
    if last_chance is not None:
        words.addWidget(
            build_label(f"{MISTAKE_SYMBOL}  " + tr("Point of no return: last chance to meet all goals."))
        )
    if segment.best:
        _add_steps(words, tr("Best continuation from here:"), segment.best, choices_by_question)
    else:
        words.addWidget(build_label(tr("Best continuation from here: do nothing more.")))
    if last_chance is not None:
        words.addWidget(build_label(format_missed_goals(last_chance)))
    if retry is not None:
        look = _build_watch_button(tr("Watch the best continuation"), segment, watch)
        words.addLayout(
            build_button_row(look, _build_retry_button(segment, last_chance, retry, choices_by_question))
        )
    return words


def _build_last_chance(
    last_chance: LastChance,
    retry: StartRetry | None,
    watch: Callable[[SegmentWithBest], None],
    choices_by_question: Mapping[str, Sequence[str]],
) -> QVBoxLayout:
    """Describe the last chance to reach all goals, and how it was lost."""
    head = tr("{moment}  point of no return").format(moment=format_run_tick(last_chance.tick))
    if last_chance.line != WAITING:
        head += f": {format_line(last_chance.line, choices_by_question)}"
    words = _build_column(build_label(head, 1.0, bold=True))
    _add_steps(
        words,
        tr("Up to this time, these steps would have met all goals:"),
        last_chance.remaining_actions,
        choices_by_question,
    )
    words.addWidget(build_label(format_missed_goals(last_chance)))
    if retry is not None:
        look = _build_watch_button(tr("Watch the last chance"), last_chance, watch)
        words.addLayout(
            build_button_row(look, _build_retry_button(last_chance, last_chance, retry, choices_by_question))
        )
    return words


def _build_column(head: QLabel) -> QVBoxLayout:
    return build_widget_column(head, margins=0, spacing=2)


def _add_steps(
    column: QVBoxLayout, lead: str, actions: Sequence[Input], choices_by_question: Mapping[str, Sequence[str]]
) -> None:
    column.addWidget(build_label(lead))
    column.addWidget(
        build_step_list(
            [
                (format_run_tick(item.tick), format_input(item, choices_by_question))
                for item in actions[:STEPS_SHOWN_MAX]
            ]
        )
    )
    if len(actions) > STEPS_SHOWN_MAX:
        column.addWidget(
            build_muted_label(tr("Steps not shown: {count}.").format(count=len(actions) - STEPS_SHOWN_MAX))
        )


def _build_watch_button(
    text: str, best: SegmentWithBest, watch: Callable[[SegmentWithBest], None]
) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tr("Shows the continuation step by step. You can take control at each step."))
    button.clicked.connect(lambda _=False: watch(best))
    return button


def _build_retry_button(
    best: SegmentWithBest,
    last_chance: LastChance | None,
    retry: StartRetry,
    choices_by_question: Mapping[str, Sequence[str]],
) -> QPushButton:
    """Build a button for a retry that begins before the action or wait *best*.

    The retry begins early enough to do the best alternative to *best*.
    """
    begin, due_tick = find_retry_start(best)
    first = next(iter(best.plan[best.shared_input_count :]), None)
    if best.line != WAITING:
        next_action_text = tr("your next action was {act}.").format(
            act=format_line(best.line, choices_by_question)
        )
    elif last_chance is not None:
        next_action_text = tr("last chance to meet all goals: {act}.").format(
            act=format_first_step(last_chance, choices_by_question)
        )
    else:
        next_action_text = tr("best continuation: {act}.").format(
            act=tr("do nothing more") if first is None else format_input(first, choices_by_question)
        )
    return build_retry_button(begin, due_tick, next_action_text, retry)
