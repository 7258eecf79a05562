"""Stage widget: canvas, buttons and keys. It draws views and emits requests, and does not access the run."""

import time
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QTransform,
)
from PySide6.QtWidgets import QApplication, QBoxLayout, QFrame, QSizePolicy, QWidget

from app.view_models.failover_moment.missing_failover import MissingFailoverView
from app.view_models.failover_moment.phases import PANEL, QUEUE
from app.view_models.failover_moment.view import StageView
from app.views.failover_stage.canvas import (
    BODY_TOP_MARGIN,
    CANVAS_HEIGHT_MIN,
    CANVAS_WIDTH,
    PART_BOXES,
    CanvasPainter,
    StageStyle,
    build_stage_style,
    compute_panel_box,
    compute_phase_boxes,
    find_box,
)
from app.views.failover_stage.drawing import StagePainter
from app.widgets import theme
from app.widgets.flow_layout import FlowLayout
from app.widgets.key_button import KeyButton
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.scene_symbols import draw_symbol
from app.words.language import mark, tr
from engine.overrides import override


def draw_requirements(painter: QPainter, style: StageStyle, height: float, view: MissingFailoverView) -> None:
    """Draw the requirements of an automatic failover. Requirements that are not revealed yet are gray."""
    canvas = CanvasPainter(painter, style, height)
    colors = style.colors
    painter.fillRect(QRectF(0, 0, CANVAS_WIDTH, height), colors.surface)
    color_name = colors.bad if view.unmet_count else colors.ok
    disk = canvas.draw_title(view.heading, view.sentence, color_name)
    mark_box = disk.adjusted(9, 9, -9, -9)
    draw_symbol(painter, "cross" if view.unmet_count else "check", mark_box, colors.surface)
    count = max(1, len(view.rows))
    step = min(64.0, (height - BODY_TOP_MARGIN - 24) / count)
    for number, row in enumerate(view.rows):
        box = QRectF(24, BODY_TOP_MARGIN + 8 + number * step, CANVAS_WIDTH - 48, step - 8)
        is_revealed = number < view.revealed
        bad = is_revealed and not row.is_met
        canvas.draw_box(
            box,
            colors.bad if bad else colors.border,
            colors.bad_soft if bad else colors.raised,
            2.0 if bad else 1.2,
        )
        shape, ink = ("check", colors.ok) if row.is_met else ("cross", colors.bad)
        mark_box = QRectF(box.left() + 14, box.center().y() - 9, 18, 18)
        draw_symbol(painter, shape if is_revealed else "ring", mark_box, ink if is_revealed else colors.muted)
        words = colors.bad if bad else colors.text if is_revealed else colors.muted
        name = row.name if not (is_revealed and row.current_state) else f"{row.name}: {row.current_state}"
        tall, mono = canvas.compute_line_height("bold"), canvas.compute_line_height("mono")
        text_rect = QRectF(box.left() + 46, box.center().y() - (tall + mono) / 2, box.width() - 60, tall)
        canvas.draw_text(name, text_rect, "bold", words)
        if is_revealed:
            text_rect = QRectF(text_rect.left(), text_rect.bottom(), text_rect.width(), mono)
            canvas.draw_text(row.check, text_rect, "mono", colors.text if bad else colors.muted)


PRESENTATION_SCALE_MIN: Final = 1.3
"""Text scale from which the stage uses the fonts for presentations."""
BACK, PAUSE_OR_CONTINUE, FORWARD, REPLAY, PRESENT, EXPORT, LEAVE = (
    "back",
    "go",
    "forth",
    "replay",
    "present",
    "export",
    "leave",
)
BUTTON_BY_KEY: Final = {
    Qt.Key.Key_Left: BACK,
    Qt.Key.Key_Space: PAUSE_OR_CONTINUE,
    Qt.Key.Key_Right: FORWARD,
    Qt.Key.Key_R: REPLAY,
    Qt.Key.Key_P: PRESENT,
    Qt.Key.Key_E: EXPORT,
    Qt.Key.Key_Escape: LEAVE,
}
STAGE_BUTTONS: Final = (
    (BACK, mark("Previous phase"), mark("Previous"), "←"),
    (PAUSE_OR_CONTINUE, mark("Continue"), mark("Continue"), "Space"),
    (FORWARD, mark("Next phase"), mark("Next"), "→"),
    (REPLAY, mark("Replay"), mark("Replay"), "R"),
    (PRESENT, mark("Present: large text"), mark("Large text"), "P"),
    (EXPORT, mark("Export as GIF or MP4…"), mark("Export…"), "E"),
    (LEAVE, mark("Back to the run"), mark("Go to run"), "Esc"),
)
"""Name, text, short text (if the buttons do not fit in a row), and key of each button."""


PRESENTING_TEXTS: Final = (mark("Stop presenting"), mark("Normal text"))
REQUIREMENT_BUTTON_TEXTS: Final = {BACK: mark("Previous requirement"), FORWARD: mark("Next requirement")}
"""Text of buttons while the stage shows requirements."""
MARGIN_PX: Final = 24
GAP_PX: Final = 8


def render_stage_image(view: StageView, size: QSize, colors: theme.ThemeTokens, large_text: bool) -> QImage:
    """Return an image of the stage with *size*, for exports."""
    picture = QImage(size, QImage.Format.Format_RGB32)
    painter = QPainter(picture)
    scale, height = _compute_scale(size)
    painter.scale(scale, scale)
    canvas = StagePainter(painter, build_stage_style(colors, large_text), height)
    canvas.draw_static_parts(view)
    canvas.draw_moving_parts(view, -1.0)
    painter.end()
    return picture


def _compute_scale(size: QSize) -> tuple[float, float]:
    """Return the pixels per canvas unit, and the height of the canvas in canvas units."""
    scale = min(size.width() / CANVAS_WIDTH, size.height() / CANVAS_HEIGHT_MIN)
    return scale, size.height() / scale


class StageCanvas(QWidget):
    """Widget that draws the current view. Its static parts are cached as an image."""

    phase_clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.view: StageView | MissingFailoverView | None = None
        self.has_large_text = False
        self.has_reduced_motion = False
        """True if only the times may move."""
        self._cached_picture: tuple[object, QPixmap] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(320, 240)
        self.setAccessibleName(tr("Failover, phase by phase"))

    def show_view(self, view: StageView | MissingFailoverView) -> None:
        """Show *view* and update the accessible description."""
        if isinstance(view, MissingFailoverView):
            self.setAccessibleDescription(view.spoken)
            self.view = view
            self.update()
            return
        is_new_heading = self.view is None or self.view.heading != view.heading
        self.view = view
        if is_new_heading:
            self.setAccessibleDescription(view.spoken)
        self.update()

    def find_part_rects(self) -> dict[str, QRect]:
        """Return part -> its rectangle on screen: cards, votes, panel and ribbon of phases."""
        if not isinstance(self.view, StageView):
            return {}
        scale, height = _compute_scale(self.size())
        left_px = (self.width() - CANVAS_WIDTH * scale) / 2
        technology = self.view.technology
        boxes = {name: find_box(technology, name, height) for name in PART_BOXES[technology] if name != QUEUE}
        boxes[PANEL] = compute_panel_box(height)
        boxes["heading"] = QRectF(0, 0, CANVAS_WIDTH, BODY_TOP_MARGIN - 8)
        boxes["ribbon"] = QRectF(0, height - 98, CANVAS_WIDTH, 98)
        fit_transform = QTransform.fromTranslate(left_px, 0).scale(scale, scale)
        return {name: fit_transform.mapRect(box).toRect() for name, box in boxes.items() if box is not None}

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self.view is None:
            return
        painter = QPainter(self)
        colors = theme.get_theme_tokens(self.palette())
        scale, height = _compute_scale(self.size())
        left_px = (self.width() - CANVAS_WIDTH * scale) / 2
        ratio = self.devicePixelRatioF()
        style = build_stage_style(colors, self.has_large_text)
        if isinstance(self.view, MissingFailoverView):
            painter.fillRect(self.rect(), colors.surface)
            painter.translate(left_px, 0)
            painter.scale(scale, scale)
            draw_requirements(painter, style, height, self.view)
            painter.end()
            return
        key = (
            self.size(),
            ratio,
            colors.name,
            self.has_large_text,
            QApplication.font().family(),
            self.view.static_key,
        )
        if self._cached_picture is None or self._cached_picture[0] != key:
            still_picture = QPixmap(self.size() * ratio)
            still_picture.setDevicePixelRatio(ratio)
            still_picture.fill(colors.surface)
            inner = QPainter(still_picture)
            inner.translate(left_px, 0)
            inner.scale(scale, scale)
            StagePainter(inner, style, height).draw_static_parts(self.view)
            inner.end()
            self._cached_picture = (key, still_picture)
        painter.drawPixmap(0, 0, self._cached_picture[1])
        painter.translate(left_px, 0)
        painter.scale(scale, scale)
        StagePainter(painter, style, height).draw_moving_parts(
            self.view, -1.0 if self.has_reduced_motion else time.monotonic() % 1000.0
        )
        painter.end()

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not isinstance(self.view, StageView):
            return
        scale, height = _compute_scale(self.size())
        left_px = (self.width() - CANVAS_WIDTH * scale) / 2
        x, y = (event.position().x() - left_px) / scale, event.position().y() / scale
        for number, box in enumerate(compute_phase_boxes(len(self.view.chips), height)):
            if box.contains(x, y):
                self.phase_clicked.emit(number)


class FailoverStage(QWidget):
    """Stage view: the canvas, with a row of buttons below it."""

    button_pressed = Signal(str)
    """Signal: name of the button that was clicked or whose key was pressed."""
    phase_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = StageCanvas()
        self.canvas.phase_clicked.connect(self.phase_wanted)
        self.buttons: dict[str, KeyButton] = {}
        self._guided = False
        self._running = False
        self._presenting = False
        steps, ends = FlowLayout(GAP_PX), FlowLayout(GAP_PX)
        for name, text, _, key in STAGE_BUTTONS:
            button = KeyButton(tr(text), key)
            button.clicked.connect(lambda _=False, name=name: self.button_pressed.emit(name))
            button.installEventFilter(self)
            self.buttons[name] = button
            (ends if name in (PRESENT, EXPORT, LEAVE) else steps).addWidget(button)
        self.buttons[PAUSE_OR_CONTINUE].setProperty("primary", "true")
        self._row = QFrame()
        self._row.setProperty("stage", "true")
        self._sides = build_row((steps, 1), ends, parent=self._row, margins=(MARGIN_PX, 2, MARGIN_PX, 8))
        build_widget_column((self.canvas, 1), self._row, parent=self, margins=0, spacing=0)
        self.setFocusProxy(self.canvas)
        self.hide()

    @property
    def view(self) -> StageView | MissingFailoverView | None:
        """Current view, or None."""
        return self.canvas.view

    def show_view(self, view: StageView | MissingFailoverView) -> None:
        """Show *view*. The export button is visible only for a failover."""
        self.canvas.show_view(view)
        staged = isinstance(view, StageView)
        if staged == self.buttons[EXPORT].isHidden():
            self.buttons[EXPORT].setVisible(staged)
            self._set_button_texts()

    def show_running(self, running: bool) -> None:
        """Set the text of the middle button: "Pause" while *running*, otherwise "Continue"."""
        self._running = running
        self._set_button_texts()

    def _set_button_texts(self) -> None:
        """Set the texts of the buttons. Use the short texts if the long texts do not fit in a row."""
        staged, shown_buttons = not isinstance(self.canvas.view, MissingFailoverView), list(STAGE_BUTTONS)
        texts_by_name = {
            name: text if staged else REQUIREMENT_BUTTON_TEXTS.get(name, text)
            for name, text, _, _ in shown_buttons
        }
        short_words = {name: short for name, _, short, _ in shown_buttons}
        if self._presenting:
            texts_by_name[PRESENT], short_words[PRESENT] = PRESENTING_TEXTS
        for words in (texts_by_name, short_words):
            for name, text in words.items():
                if self.buttons[
                    name
                ].isEnabled():  # the text of a disabled button shows the progress of its action
                    self.buttons[name].setText(
                        tr("Pause") if name == PAUSE_OR_CONTINUE and self._running else tr(text)
                    )
            hints = [button.sizeHint().width() for button in self.buttons.values() if not button.isHidden()]
            has_room = sum(hints) + GAP_PX * len(hints) + 2 * MARGIN_PX <= self.width()
            if has_room:
                break
        direction_type = QBoxLayout.Direction
        self._sides.setDirection(direction_type.LeftToRight if has_room else direction_type.TopToBottom)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_button_texts()

    def set_guided(self, is_guided: bool) -> None:
        """Set whether the first-run tour controls the steps.

        If *is_guided*, hide the buttons and accept only the exit key.
        """
        self._guided = is_guided
        self._row.setVisible(not is_guided)

    def set_appearance(self, large_text: bool, has_reduced_motion: bool, is_presenting: bool = False) -> None:
        """Set whether the stage uses large text and reduced motion.

        *is_presenting* changes the text of the button that stops the presentation.
        """
        self.canvas.has_large_text, self.canvas.has_reduced_motion = large_text, has_reduced_motion
        self._presenting = is_presenting
        self._set_button_texts()
        self.canvas.update()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Send all keys except Space to the stage, even while a button has the focus."""
        if (
            event.type() is QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() != Qt.Key.Key_Space
        ):
            return self._handle_key(event)
        return super().eventFilter(watched, event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._handle_key(event):
            super().keyPressEvent(event)

    def _handle_key(self, event: QKeyEvent) -> bool:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        name = BUTTON_BY_KEY.get(Qt.Key(event.key())) if not modifiers.value else None
        if name is None or (self._guided and name != LEAVE):
            return False
        if self.buttons[name].isEnabled():
            self.button_pressed.emit(name)
        event.accept()
        return True
