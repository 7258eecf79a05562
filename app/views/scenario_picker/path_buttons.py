"""Buttons of the learning paths with progress. A checked button filters the drills."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QSizePolicy, QWidget

from app.files.learning_paths import load_learning_paths
from app.view_models.start_page import PathProgress
from app.views.scenario_picker.top_cards import wrap_text_cached
from app.widgets import theme
from app.words.language import tr
from engine.overrides import override

PATH_ICONS: Final = {
    "mirroring": "database",
    "ag": "server",
    "fci": "disk",
    "clients": "client",
    "restore": "history",
    "team": "user",
}
BUTTON_WIDTH_MIN_LINES: Final = 11.5
"""Minimum width of a button in line heights."""
PADDING_PX: Final = 12
BAR_HEIGHT_PX: Final = 6
SMALL_SCALE, TITLE_SCALE = 0.92, 1.05
TITLE_SCALE_MIN: Final = 0.84
"""Minimum scale of a title: 11 px at the default text size."""
TITLE_LINES_MAX: Final = 3
"""Maximum number of lines of a path's title, and of the next drill's title.

Six buttons then fit in a row at any text size.
"""


class PathButtons(QWidget):
    """Buttons of the learning paths. Six, three or two of them are in a row, depending on the width."""

    path_chosen = Signal(str)
    """Signal: key of the selected path, or an empty string for none."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(8)
        self.buttons = {key: PathButton(key, self) for key in load_learning_paths()}
        for key, button in self.buttons.items():
            button.clicked.connect(lambda checked, key=key: self._choose(key, checked))
        self._columns = 0
        theme.call_after_events(self, theme.FONT_EVENTS, self._arrange, self._fit_buttons)
        theme.call_after_events(self, theme.SIZE_EVENTS, self._arrange, self._fit_buttons)

    def show_paths(self, paths: Sequence[PathProgress], technology: str | None) -> None:
        """Show the progress of each path. *technology* is the key of the selected path."""
        for path in paths:
            key = path.path.key
            self.buttons[key].show_progress(path)
            self.buttons[key].setChecked(key == technology)
        self._arrange()
        self._fit_buttons()

    def _choose(self, key: str, checked: bool) -> None:
        self.path_chosen.emit(key if checked else "")

    def _arrange(self) -> None:
        width_min = BUTTON_WIDTH_MIN_LINES * self.fontMetrics().height()
        column_count = next((n for n in (6, 3, 2) if self.width() >= n * width_min), 1)
        if column_count == self._columns:
            return
        self._columns = column_count
        for index, button in enumerate(self.buttons.values()):
            self._grid.addWidget(button, index // column_count, index % column_count)
        for column in range(6):
            self._grid.setColumnStretch(column, 1 if column < column_count else 0)

    def _fit_buttons(self) -> None:
        """Give all buttons the height that fits the longest title and the longest name of a next drill."""
        width = (self.width() - self._grid.spacing() * (self._columns - 1)) // self._columns
        shrink = min(button.compute_title_scale(width) for button in self.buttons.values())
        for button in self.buttons.values():
            button.title_scale = max(TITLE_SCALE_MIN, min(1.0, shrink))
        lines = [button.count_lines(width) for button in self.buttons.values()]
        for button in self.buttons.values():
            button.reserve_lines(
                max(title for title, _ in lines), max(detail_lines for _, detail_lines in lines)
            )


class PathButton(QAbstractButton):
    """Button of one path: icon, title, progress bar, number of passed drills, and the next drill."""

    def __init__(self, key: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._key = key
        self._progress: PathProgress | None = None
        self.title_scale = 1.0
        """Scale of the title, so that a long word is not cut."""
        self._lines = (2, 2)
        """Number of lines of the title and of the next drill."""
        self.setText(tr(load_learning_paths()[key].title))
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.call_after_events(self, theme.FONT_EVENTS, self.updateGeometry)

    def show_progress(self, progress: PathProgress) -> None:
        """Show *progress* on the button."""
        self._progress = progress
        self.setAccessibleName(f"{self.text()}, {self._format_count()}. {self._describe_next_drill()}")
        self.setToolTip(self._describe_next_drill())
        self.update()

    def _format_count(self) -> str:
        progress = self._progress
        if progress is None or not progress.total:
            return ""
        return tr("{passed} of {total} passed").format(passed=progress.passed, total=progress.total)

    def _describe_next_drill(self) -> str:
        progress = self._progress
        if progress is None or not progress.total:
            return ""
        if progress.next_card is None:
            return tr("All drills passed")
        return tr("Next: {title}").format(title=progress.next_card.title)

    def compute_title_scale(self, width: int) -> float:
        """Return the scale at which the longest word of the title just fits into a button of *width*."""
        metrics = QFontMetricsF(theme.resize_font(self.font(), TITLE_SCALE, bold=True))
        longest = max(metrics.horizontalAdvance(word) for word in self.text().split())
        return (width - 2 * PADDING_PX - metrics.height() - 10) / longest

    def count_lines(self, width: int) -> tuple[int, int]:
        """Return the numbers of lines of the title and of the next drill in a button of *width*."""
        font, small = self._build_fonts()
        room = width - 2 * PADDING_PX
        icon = round(QFontMetricsF(font).height()) + 8
        return (
            len(wrap_text_cached(self.text(), font.toString(), room - icon, TITLE_LINES_MAX)),
            len(wrap_text_cached(self._describe_next_drill(), small.toString(), room, TITLE_LINES_MAX)),
        )

    def reserve_lines(self, title: int, next_lines: int) -> None:
        """Reserve *title* lines for the title and *next_lines* lines for the next drill."""
        if (title, next_lines) != self._lines:
            self._lines = (title, next_lines)
            self.updateGeometry()
            self.update()

    def _build_fonts(self) -> tuple[QFont, QFont]:
        font = self.font()
        return theme.resize_font(font, TITLE_SCALE * self.title_scale, bold=True), theme.resize_font(
            font, SMALL_SCALE
        )

    @override
    def sizeHint(self) -> QSize:
        font, small = (QFontMetricsF(font).height() for font in self._build_fonts())
        title, detail_lines = self._lines
        height = (title + 0.55) * font + (detail_lines + 1) * small + BAR_HEIGHT_PX + 2 * PADDING_PX - 4
        return QSize(round(BUTTON_WIDTH_MIN_LINES * self.fontMetrics().height()), round(height))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.get_theme_tokens(self.palette())
        checked, lit = self.isChecked(), self.underMouse() or self.hasFocus()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = colors.focus if self.hasFocus() else colors.accent if checked or lit else colors.border
        painter.setPen(QPen(edge, 2.0 if checked or self.hasFocus() else 1.0))
        painter.setBrush(colors.info_soft if checked else colors.surface)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        box = QRectF(self.rect()).adjusted(PADDING_PX, PADDING_PX - 2, -PADDING_PX, -4)
        font, small = self._build_fonts()
        metrics, line = QFontMetricsF(font), QFontMetricsF(font).height()
        icon = round(line)
        painter.drawPixmap(round(box.left()), round(box.top()), self._build_icon(icon, colors))
        painter.setFont(font)
        painter.setPen(colors.text)
        text_rect = box.adjusted(icon + 8, 0, 0, 0)
        for number, words in enumerate(
            wrap_text_cached(self.text(), font.toString(), text_rect.width(), TITLE_LINES_MAX)
        ):
            painter.drawText(QPointF(text_rect.left(), box.top() + metrics.ascent() + number * line), words)
        y = box.top() + (self._lines[0] + 0.3) * line
        self._paint_bar(painter, QRectF(box.left(), y, box.width(), BAR_HEIGHT_PX), colors)
        metrics = QFontMetricsF(small)
        y += BAR_HEIGHT_PX + 0.25 * line + metrics.ascent()
        painter.setFont(small)
        painter.setPen(colors.muted)
        painter.drawText(QPointF(box.left(), y), self._format_count())
        painter.setPen(colors.text)
        for words in wrap_text_cached(
            self._describe_next_drill(), small.toString(), box.width(), TITLE_LINES_MAX
        ):
            y += metrics.height()
            painter.drawText(QPointF(box.left(), y), words)

    def _build_icon(self, size: int, colors: theme.ThemeTokens) -> QPixmap:
        ratio = self.devicePixelRatioF()
        pixmap = theme.render_pixmap(PATH_ICONS[self._key], colors.accent, round(size * ratio))
        pixmap.setDevicePixelRatio(ratio)
        return pixmap

    def _paint_bar(self, painter: QPainter, box: QRectF, colors: theme.ThemeTokens) -> None:
        progress = self._progress
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.idle_soft)
        painter.drawRoundedRect(box, 3, 3)
        if progress is not None and progress.passed:
            painter.setBrush(colors.accent)
            share = progress.passed / progress.total
            painter.drawRoundedRect(
                QRectF(box.left(), box.top(), max(6.0, box.width() * share), box.height()), 3, 3
            )
