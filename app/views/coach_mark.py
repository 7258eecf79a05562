"""Coach mark: a bubble next to an object, with a button to continue. The window stays usable."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent, QPen, QPolygon, QShortcut
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QWidget

from app.widgets import theme
from app.widgets.key_button import KeyButton
from app.widgets.layouts import build_widget_column
from app.widgets.screen_reader import announce_text
from engine.overrides import override

BUBBLE_GAP_PX: Final = 12
BUBBLE_SIZES: Final = ((29.0, 1.2), (23.0, 1.0), (20.0, 1.0), (17.0, 1.0))
"""Sizes of the bubble (width in line heights, text scale) in order of preference.

The first size that covers nothing is used.
"""
TITLE_SCALE: Final = 1.12
TAIL_WIDTH_PX: Final = 26
"""Width of the tail at the edge of the bubble."""
COVERED_TARGET_WEIGHT: Final = 8
"""Cost of each covered pixel of the target when the bubble is placed. Pixels of other objects cost 1."""


class _TargetFrame(QWidget):
    """Frame around the target of a coach mark, with a tail to the bubble. Clicks pass through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._target, self._bubble = QRect(), QRect()

    def point_at(self, target: QRect, bubble: QRect) -> None:
        """Draw the tail from *bubble* to *target*, both given as rectangles of the parent."""
        self._target, self._bubble = target, bubble
        self.setGeometry(target.united(bubble).adjusted(-6, -6, 6, 6))
        self.show()
        self.raise_()
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.get_theme_tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(-self.pos())
        target, bubble = self._target.adjusted(-2, -2, 2, 2), self._bubble
        painter.setPen(QPen(colors.accent, 3.0))
        painter.drawRoundedRect(target, 8, 8)
        if target.intersects(bubble):
            return
        tip = QPoint(
            max(target.left(), min(bubble.center().x(), target.right())),
            max(target.top(), min(bubble.center().y(), target.bottom())),
        )
        root = QPoint(
            max(bubble.left() + TAIL_WIDTH_PX, min(tip.x(), bubble.right() - TAIL_WIDTH_PX)),
            max(bubble.top() + TAIL_WIDTH_PX, min(tip.y(), bubble.bottom() - TAIL_WIDTH_PX)),
        )
        upright = bubble.top() > target.bottom() or bubble.bottom() < target.top()
        half_width = QPoint(TAIL_WIDTH_PX // 2, 0) if upright else QPoint(0, TAIL_WIDTH_PX // 2)
        painter.setPen(QPen(colors.accent, 2.0))
        painter.setBrush(colors.raised)
        painter.drawPolygon(QPolygon([root - half_width, tip, root + half_width]))


class CoachMark(QFrame):
    """Bubble that points at one object at a time. Enter continues, and Esc skips the tour."""

    accepted = Signal()
    """Signal: the button was pressed."""
    skipped = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._target: Callable[[], QRect] = QRect
        self._other_boxes: Callable[[], list[QRect]] = list
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._pointer = _TargetFrame(parent)
        self.count, self.title, self.text = QLabel(), QLabel(), QLabel()
        self.count.setProperty("muted", "true")
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.skip, self.next = KeyButton(key="Esc"), KeyButton(key="Enter")
        self.next.setProperty("primary", "true")
        self.skip.clicked.connect(self.skipped)
        self.next.clicked.connect(self.accepted)
        for button in (self.skip, self.next):
            button.setAutoDefault(True)  # Enter presses this button
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click does not move the keyboard focus
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self, context=Qt.ShortcutContext.WindowShortcut)
        for pressed in (escape.activated, escape.activatedAmbiguously):
            pressed.connect(self._skip)
        head, buttons = QHBoxLayout(), QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.count)
        buttons.addWidget(self.skip)
        buttons.addStretch(1)
        buttons.addWidget(self.next)
        column = build_widget_column(
            head, self.text, buttons, parent=self, margins=(16, 10, 14, 10), spacing=6
        )
        self._column, self._buttons = column, buttons
        self._placing = QTimer(self, singleShot=True, interval=0)
        """Timer that places the bubble again when the layout is stable."""
        self._placing.timeout.connect(self._follow_target)
        self._pointed_at = QRect()
        """Place of the object when the bubble was placed."""
        parent.installEventFilter(self)
        self.hide()
        self._pointer.hide()

    def point_at(
        self,
        target: Callable[[], QRect],
        title: str,
        text: str,
        button: str,
        skip: str,
        count: str = "",
        obstacles: Callable[[], list[QRect]] = list,
    ) -> None:
        """Show *title* and *text* next to *target* and focus the button.

        *button* and *skip*: texts of the buttons that continue and skip the tour. *count*: text of the
        progress.
        *target* and *obstacles* are functions that return rectangles in the parent. The bubble avoids the
        obstacles.
        """
        self._target, self._other_boxes = target, obstacles
        self.title.setText(title)
        self.text.setText(text)
        self.count.setText(count)
        self.next.setText(button)
        self.skip.setText(skip)
        self.setAccessibleName(f"{title} {text}")
        self.show()
        self._move_to_free_rect()
        self._placing.start()
        self.next.setFocus(Qt.FocusReason.OtherFocusReason)
        announce_text(self, self.accessibleName())

    def dismiss(self) -> None:
        """Hide the bubble. If the focus is in the bubble, move it to the next widget."""
        if self.isHidden():
            return
        had_keys = self.isAncestorOf(QApplication.focusWidget() or self._window)
        self.hide()
        self._pointer.hide()
        if had_keys:
            self._window.setFocus()

    def _skip(self) -> None:
        if not self.isHidden():
            self.skipped.emit()

    def _move_to_free_rect(self) -> None:
        """Move the bubble to the position in the window where it covers least.

        Use a smaller size of the bubble if it then covers less.
        """
        if self.isHidden():
            return
        target_rect = self._pointed_at = self._target()
        other_boxes = [other_box for other_box in self._other_boxes() if other_box != target_rect]

        def compute_cost(rect: QRect) -> tuple[int, int]:
            covered = COVERED_TARGET_WEIGHT * _measure_covered_area(rect, target_rect) + sum(
                _measure_covered_area(rect, other_box) for other_box in other_boxes
            )
            return covered, (rect.center() - target_rect.center()).manhattanLength()

        candidates: list[tuple[tuple[int, int], QRect, tuple[float, float]]] = []
        for size in BUBBLE_SIZES:
            self._set_size(*size)
            best = min(self._list_candidates(target_rect, other_boxes), key=compute_cost)
            candidates.append((compute_cost(best), best, size))
            if compute_cost(best)[0] == 0:
                break
        # among equal costs, `min` returns the first candidate, which has the largest size
        (_, best, size) = min(candidates, key=lambda mark: mark[0][0])
        self._set_size(*size)
        self.move(best.topLeft())
        self._pointer.point_at(target_rect, best)
        self.raise_()

    def _set_size(self, units: float, scale: float) -> None:
        """Set the width to *units* line heights and the text scale to *scale*.

        The height follows from the text.
        """
        line = self.fontMetrics().height()
        self.title.setFont(theme.resize_font(self.font(), scale * TITLE_SCALE, bold=True))
        self.text.setFont(theme.resize_font(self.font(), scale))
        self._buttons.invalidate()
        room = sum(button.sizeHint().width() for button in (self.skip, self.next)) + 3 * BUBBLE_GAP_PX
        room = max(room, self.title.sizeHint().width() + self.count.sizeHint().width() + BUBBLE_GAP_PX)
        width = min(max(round(units * line), room + 32), self._window.width() - 2 * BUBBLE_GAP_PX)
        self.setFixedWidth(width)
        self.text.setFixedWidth(width - 32)
        self.text.setMinimumHeight(0)  # otherwise the minimum height of the previous text would remain
        self.text.setFixedHeight(self.text.heightForWidth(width - 32))
        self._column.activate()
        self.resize(width, self._column.sizeHint().height())

    def _list_candidates(self, target_rect: QRect, other_rects: list[QRect]) -> list[QRect]:
        """Return candidate positions of the bubble.

        They are next to *target_rect*, then along the edges of *other_rects*.
        """
        inner_rect = self._window.rect().adjusted(
            BUBBLE_GAP_PX, BUBBLE_GAP_PX, -BUBBLE_GAP_PX, -BUBBLE_GAP_PX
        )
        box = QRect(QPoint(0, 0), self.size())
        middle = target_rect.center() - box.center()
        points = [
            QPoint(middle.x(), target_rect.bottom() + BUBBLE_GAP_PX),
            QPoint(middle.x(), target_rect.top() - BUBBLE_GAP_PX - box.height()),
            QPoint(target_rect.right() + BUBBLE_GAP_PX, middle.y()),
            QPoint(target_rect.left() - BUBBLE_GAP_PX - box.width(), middle.y()),
        ]
        step_x, down = box.width() + BUBBLE_GAP_PX, box.height() + BUBBLE_GAP_PX
        edges = [inner_rect.adjusted(step_x, down, -step_x, -down), target_rect, *other_rects]
        xs = {x for edge in edges for x in (edge.left() - step_x, edge.left(), edge.right() + BUBBLE_GAP_PX)}
        ys = {y for edge in edges for y in (edge.top() - down, edge.top(), edge.bottom() + BUBBLE_GAP_PX)}
        points += [QPoint(x, y) for x in xs for y in ys]
        return [_move_into_window(box.translated(point), inner_rect) for point in points]

    def _follow_target(self) -> None:
        """Move the bubble if its target has moved. An unconditional move would request layouts endlessly."""
        if self._target() != self._pointed_at:
            self._move_to_free_rect()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and not self.isHidden():
            self._move_to_free_rect()
        elif event.type() is QEvent.Type.LayoutRequest and not self.isHidden():
            self._placing.start()
        return bool(super().eventFilter(watched, event))

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and not self.isHidden():
            self._move_to_free_rect()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.get_theme_tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(colors.raised)
        painter.setPen(QPen(colors.accent, 2.0))
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 8, 8)


def _move_into_window(box: QRect, bounds: QRect) -> QRect:
    """Return *box*, moved into *bounds*."""
    moved_box = QRect(box)
    moved_box.moveLeft(max(bounds.left(), min(box.left(), bounds.right() - box.width())))
    moved_box.moveTop(max(bounds.top(), min(box.top(), bounds.bottom() - box.height())))
    return moved_box


def _measure_covered_area(box: QRect, target_rect: QRect) -> int:
    """Return the area in which *box* covers *target_rect*, in square pixels."""
    common = box.intersected(target_rect)
    return max(0, common.width()) * max(0, common.height())
