"""A tour of the window: a bubble beside each thing in turn, while everything stays usable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen, QShortcut
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.widgets import theme
from app.words.language import tr

GAP_PX: Final = 12
WIDTH_UNITS: Final = 22.0
"""Width of the bubble in line heights."""


@dataclass(frozen=True, slots=True)
class Stop:
    """One thing to be shown."""

    title: str
    text: str
    widget: Callable[[], QWidget | None]
    """What the bubble points at; None, or one that is hidden: the stop is left out."""
    bring: Callable[[], None] | None = None
    """Brings it to the front of the tabs among which it stands."""


class _Ring(QWidget):
    """A frame around what is explained; clicks go through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(theme.tokens(self.palette()).accent, 3.0))
        painter.drawRoundedRect(self.rect().adjusted(2, 2, -2, -2), 8, 8)


class Tour(QFrame):
    """Stops one after the other; `ended` when the last is left or the tour is closed."""

    ended = Signal()

    def __init__(self, stops: Sequence[Stop], parent: QWidget) -> None:
        super().__init__(parent)
        self._before: QWidget | None = None
        """Who had the keyboard, and gets it back."""
        self._stops, self._at, self._over = stops, 0, parent
        self.setObjectName("tour")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAutoFillBackground(True)
        self._ring = _Ring(parent)
        self.count = QLabel()
        self.count.setProperty("muted", "true")
        self.title, self.text = QLabel(), QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.end = QPushButton(tr("End the tour"))
        self.back = QPushButton(tr("Back"))
        self.next = QPushButton()
        self.next.setProperty("primary", "true")
        self.next.setDefault(True)
        self.end.clicked.connect(self.stop)
        self.back.clicked.connect(lambda: self._go(-1))
        self.next.clicked.connect(lambda: self._go(1))
        for button in (self.end, self.back, self.next):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keyboard where it is
        enough = QShortcut(QKeySequence(Qt.Key.Key_Escape), self, context=Qt.ShortcutContext.WindowShortcut)
        for pressed in (enough.activated, enough.activatedAmbiguously):
            pressed.connect(self.stop)
        buttons = QHBoxLayout()
        buttons.addWidget(self.end)
        buttons.addStretch(1)
        buttons.addWidget(self.back)
        buttons.addWidget(self.next)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        for part in (self.count, self.title, self.text):
            column.addWidget(part)
        column.addLayout(buttons)
        self._column, self._buttons = column, buttons
        self._placing = QTimer(self, singleShot=True, interval=0)
        """Once more when what was brought to the front has its place."""
        self._placing.timeout.connect(self._follow)
        self._pointed_at = QRect()
        """What of the thing was in sight when the bubble was placed."""
        parent.installEventFilter(self)
        self.hide()
        self._ring.hide()

    @property
    def stop_shown(self) -> Stop:
        return self._stops[self._at]

    def start(self) -> None:
        """Show the first stop, or continue; the keyboard focus moves to the button *Next*."""
        if self.isHidden():
            self._at = -1
            self.show()
            self._go(1)
        focus = QApplication.focusWidget()
        if focus is None or not self.isAncestorOf(focus):
            self._before = focus
        self.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def stop(self) -> None:
        """Enough seen."""
        if not self.isHidden():
            if self._before is not None and self.isAncestorOf(QApplication.focusWidget() or self):
                self._before.setFocus(Qt.FocusReason.OtherFocusReason)
            self._before = None
            self.hide()
            self._ring.hide()
            self.ended.emit()

    def _go(self, step: int) -> None:
        at = self._at + step
        while 0 <= at < len(self._stops) and not _is_visible(self._stops[at].widget()):
            at += step
        if at >= len(self._stops):
            self.stop()
        elif at >= 0:
            self._at = at
            self._show()

    def _show(self) -> None:
        stop = self.stop_shown
        there = [place for place, other in enumerate(self._stops) if _is_visible(other.widget())]
        number = there.index(self._at) + 1
        self.count.setText(tr("{number} of {count}").format(number=number, count=len(there)))
        self.title.setText(stop.title)
        self.text.setText(stop.text)
        self.back.setEnabled(number > 1)
        self.next.setText(tr("Done") if number == len(there) else tr("Next"))
        self.setAccessibleName(f"{stop.title}. {stop.text}")
        if stop.bring is not None:
            stop.bring()
        self._update_geometry()
        self._placing.start()

    def _update_geometry(self) -> None:
        """Below the thing, above, right or left of it, or where it hides least of it; never outside the window."""
        widget = self.stop_shown.widget()
        if widget is None or self.isHidden():
            return
        line = self.fontMetrics().height()
        self.title.setFont(theme.sized(self.font(), 1.15, bold=True))
        wanted = max(round(WIDTH_UNITS * line), self._buttons.sizeHint().width() + 32)
        width = min(wanted, self._over.width() - 2 * GAP_PX)
        self.setFixedWidth(width)
        self.text.setFixedWidth(width - 32)
        self.text.setMinimumHeight(0)  # it would ask for no less than at the stop before
        self.text.setFixedHeight(self.text.heightForWidth(width - 32))
        self._column.activate()
        self.resize(width, self._column.sizeHint().height())
        around = self._pointed_at = _compute_visible_rect(widget, self._over)
        self._ring.setGeometry(around.adjusted(-4, -4, 4, 4).intersected(self._over.rect()))
        self._ring.show()
        self._ring.raise_()
        inside = self._over.rect().adjusted(GAP_PX, GAP_PX, -GAP_PX, -GAP_PX)
        box = QRect(QPoint(0, 0), self.size())
        middle = around.center() - box.center()
        places = (
            QPoint(middle.x(), around.bottom() + GAP_PX),
            QPoint(middle.x(), around.top() - GAP_PX - box.height()),
            QPoint(around.right() + GAP_PX, middle.y()),
            QPoint(around.left() - GAP_PX - box.width(), middle.y()),
            middle,
        )
        pushed = [_move_inside(box.translated(place), inside) for place in places]
        best = min(pushed, key=lambda place: _compute_overlap(place, around))  # of equal ones the first
        self.move(best.topLeft())
        self.raise_()

    def _follow(self) -> None:
        """Place it again if the thing stands elsewhere; always to do so would ask for the next layout, for ever."""
        widget = self.stop_shown.widget()
        if widget is not None and _compute_visible_rect(widget, self._over) != self._pointed_at:
            self._update_geometry()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and not self.isHidden():
            self._update_geometry()
        elif event.type() is QEvent.Type.LayoutRequest and not self.isHidden():
            self._placing.start()
        return bool(super().eventFilter(watched, event))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and not self.isHidden():
            self._update_geometry()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Right, Qt.Key.Key_PageDown):
            self._go(1)
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_PageUp):
            self._go(-1)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self.palette())
        painter = QPainter(self)
        painter.fillRect(self.rect(), colours.raised)
        painter.setPen(QPen(colours.accent, 2.0))
        painter.drawRect(self.rect().adjusted(1, 1, -1, -1))


def _is_visible(widget: QWidget | None) -> bool:
    return widget is not None and widget.isVisible()


def _compute_visible_rect(widget: QWidget, ancestor: QWidget) -> QRect:
    """What of *widget* is not scrolled away, in the coordinates of *over*."""
    found, around = QRect(widget.mapTo(ancestor, QPoint(0, 0)), widget.size()), widget.parentWidget()
    while around is not None and around is not ancestor:
        found = found.intersected(QRect(around.mapTo(ancestor, QPoint(0, 0)), around.size()))
        around = around.parentWidget()
    return found.intersected(ancestor.rect())


def _move_inside(box: QRect, bounds: QRect) -> QRect:
    """*box*, moved into the window as far as it is outside."""
    found = QRect(box)
    found.moveLeft(max(bounds.left(), min(box.left(), bounds.right() - box.width())))
    found.moveTop(max(bounds.top(), min(box.top(), bounds.bottom() - box.height())))
    return found


def _compute_overlap(box: QRect, target: QRect) -> int:
    """How much of the thing *box* hides, in pixels."""
    common = box.intersected(target)
    return max(0, common.width()) * max(0, common.height())
