"""The stage as a widget: canvas, buttons, keys. It draws views and asks for steps; it knows no run."""

from __future__ import annotations

import time
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.view_models.failover_moment.view import StageView
from app.view_models.failover_moment.why_not import WhyNotView
from app.views.failover_stage.canvas import make_style
from app.views.failover_stage.drawing import StagePainter
from app.views.failover_stage.places import LEAST_HEIGHT, WIDTH
from app.views.failover_stage.requirements import draw_why_not
from app.widgets import keys, theme
from app.widgets.flow import FlowLayout
from app.words.language import mark, tr
from engine.overrides import override

FAR_SCALE: Final = 1.3
"""From this text size on the stage is drawn for the back row."""
BACK, GO, FORTH, REPLAY, EXPORT, LEAVE = "back", "go", "forth", "replay", "export", "leave"
KEYS: Final = {
    Qt.Key.Key_Left: BACK,
    Qt.Key.Key_Space: GO,
    Qt.Key.Key_Right: FORTH,
    Qt.Key.Key_R: REPLAY,
    Qt.Key.Key_E: EXPORT,
    Qt.Key.Key_Escape: LEAVE,
}
BUTTONS: Final = (
    (BACK, mark("Previous phase"), "←"),
    (GO, mark("Continue"), "Space"),
    (FORTH, mark("Next phase"), "→"),
    (REPLAY, mark("Replay"), "R"),
    (EXPORT, mark("Export as GIF…"), "E"),
    (LEAVE, mark("Back to the desk"), "Esc"),
)


REQUIREMENT_WORDS: Final = {BACK: mark("Previous requirement"), FORTH: mark("Next requirement")}
"""Text of buttons while requirements are on stage."""


def draw_view(view: StageView, size: QSize, colors: theme.ThemeTokens, large_text: bool) -> QImage:
    """Return the stage as a picture of *size*, for exports."""
    picture = QImage(size, QImage.Format.Format_RGB32)
    painter = QPainter(picture)
    scale, height = _fit(size)
    painter.scale(scale, scale)
    canvas = StagePainter(painter, make_style(colors, large_text), height)
    canvas.draw_still(view)
    canvas.draw_moving(view, -1.0)
    painter.end()
    return picture


def _fit(size: QSize) -> tuple[float, float]:
    """Return the scale of the canvas, and its height in its own units."""
    scale = min(size.width() / WIDTH, size.height() / LEAST_HEIGHT)
    return scale, size.height() / scale


class StageCanvas(QWidget):
    """Canvas that draws the last view; its static part is cached as a picture."""

    phase_clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.view: StageView | WhyNotView | None = None
        self.far = False
        self.still = False
        """True: no motion but the times."""
        self._cached_picture: tuple[object, QPixmap] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(320, 240)
        self.setAccessibleName(tr("Failover, phase by phase"))

    def show_view(self, view: StageView | WhyNotView) -> None:
        """Show another state."""
        if isinstance(view, WhyNotView):
            self.setAccessibleDescription(view.spoken)
            self.view = view
            self.update()
            return
        changed = self.view is None or self.view.heading != view.heading
        self.view = view
        if changed:
            self.setAccessibleDescription(view.spoken)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self.view is None:
            return
        painter = QPainter(self)
        colors = theme.tokens(self.palette())
        scale, height = _fit(self.size())
        left = (self.width() - WIDTH * scale) / 2
        ratio = self.devicePixelRatioF()
        style = make_style(colors, self.far)
        if isinstance(self.view, WhyNotView):
            painter.fillRect(self.rect(), colors.surface)
            painter.translate(left, 0)
            painter.scale(scale, scale)
            draw_why_not(painter, style, height, self.view)
            painter.end()
            return
        key = (self.size(), ratio, colors.name, self.far, QApplication.font().family(), self.view.static_key)
        if self._cached_picture is None or self._cached_picture[0] != key:
            still = QPixmap(self.size() * ratio)
            still.setDevicePixelRatio(ratio)
            still.fill(colors.surface)
            inner = QPainter(still)
            inner.translate(left, 0)
            inner.scale(scale, scale)
            StagePainter(inner, style, height).draw_still(self.view)
            inner.end()
            self._cached_picture = (key, still)
        painter.drawPixmap(0, 0, self._cached_picture[1])
        painter.translate(left, 0)
        painter.scale(scale, scale)
        StagePainter(painter, style, height).draw_moving(
            self.view, -1.0 if self.still else time.monotonic() % 1000.0
        )
        painter.end()

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not isinstance(self.view, StageView):
            return
        scale, height = _fit(self.size())
        left = (self.width() - WIDTH * scale) / 2
        x, y = (event.position().x() - left) / scale, event.position().y() / scale
        painter = StagePainter.__new__(StagePainter)
        painter.height = height
        for number, box in enumerate(painter.chip_places(len(self.view.chips))):
            if QRectF(box).contains(x, y):
                self.phase_clicked.emit(number)


class FailoverStage(QWidget):
    """The canvas above its buttons."""

    wanted = Signal(str)
    """Name of a button, or of its key."""
    phase_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = StageCanvas()
        self.canvas.phase_clicked.connect(self.phase_wanted)
        self.buttons: dict[str, QPushButton] = {}
        row = FlowLayout(8)
        row.setContentsMargins(24, 4, 24, 6)
        for name, text, key in BUTTONS:
            button = QPushButton()
            _label(button, text, key)
            button.clicked.connect(lambda _=False, name=name: self.wanted.emit(name))
            button.installEventFilter(self)
            self.buttons[name] = button
            row.addWidget(button)
        self.buttons[GO].setProperty("primary", "true")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.canvas, 1)
        column.addLayout(row)
        self.setFocusProxy(self.canvas)
        self.hide()

    @property
    def view(self) -> StageView | WhyNotView | None:
        """Return the shown state; None without one."""
        return self.canvas.view

    def show_view(self, view: StageView | WhyNotView) -> None:
        """Show another state."""
        self.canvas.show_view(view)
        staged = isinstance(view, StageView)
        if staged == self.buttons[EXPORT].isHidden():
            self.buttons[EXPORT].setVisible(staged)
            for name, text, key in BUTTONS:
                if name in REQUIREMENT_WORDS:
                    _label(self.buttons[name], text if staged else REQUIREMENT_WORDS[name], key)

    def show_running(self, running: bool) -> None:
        """Set the middle button to "Pause" or "Continue"."""
        words = tr("Pause") if running else tr("Continue")
        self.buttons[GO].setText(f"{words}   {keys.format_native('Space')}")

    def set_look(self, large_text: bool, motionless: bool) -> None:
        """Draw for the back row, or without motion."""
        self.canvas.far, self.canvas.still = large_text, motionless
        self.canvas.update()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Give arrows and letters to the stage even while a button has the focus."""
        if (
            event.type() is QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() != Qt.Key.Key_Space
        ):
            return self._take_key(event)
        return super().eventFilter(watched, event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._take_key(event):
            super().keyPressEvent(event)

    def _take_key(self, event: QKeyEvent) -> bool:
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        name = KEYS.get(Qt.Key(event.key())) if not held.value else None
        if name is None:
            return False
        self.wanted.emit(name)
        event.accept()
        return True


def _label(button: QPushButton, text: str, key: str) -> None:
    """Write text and key on a button."""
    button.setText(f"{tr(text)}   {keys.format_native(key)}")
    button.setToolTip(tr(text))
