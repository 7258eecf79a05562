"""Canvas of the stage: fonts, colors, text and boxes in its own units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QApplication

from app.views.failover_stage import places
from app.widgets import theme
from app.widgets.signs import (
    SceneStyle,
)
from app.widgets.theme import ThemeTokens

SIZES: Final = {
    # name: height in canvas units, normal and for presentation
    "small": (12, 18), "body": (13, 18), "bold": (14, 19), "server": (18, 21), "heading": (21, 30),
    "sentence": (14, 19), "watch": (72, 84), "second": (24, 30), "chip": (14, 18), "mono": (13, 18),
}  # fmt: skip
BOLD: Final = {"bold", "server", "heading", "watch", "second", "chip"}
FIXED: Final = {"watch", "second", "mono"}
SHRINK: Final = 0.8
"""Factor by which too wide text is reduced before it is cut, but not below TEXT_MIN units."""
CONDENSE: Final = 0.8
"""Factor by which text is condensed before it is cut."""
TEXT_MIN: Final = (11.0, 17.2)
"""Normal, and for presentation: 24 pixels at 1920×1080."""


@dataclass(frozen=True)
class StageStyle:
    """Colors and fonts of the stage; *far* for readers in the back row."""

    colors: ThemeTokens
    fonts: dict[str, QFont]
    far: bool

    def least_share(self, font: str) -> float:
        """Return the factor by which text in *font* may become smaller."""
        return min(1.0, max(SHRINK, TEXT_MIN[self.far] / self.fonts[font].pixelSize()))

    @property
    def scene(self) -> SceneStyle:
        """Style for the symbols and chips of the topology."""
        return SceneStyle(
            self.colors, self.fonts["body"], self.fonts["small"], self.fonts["bold"], self.fonts["server"]
        )

    def series(self, color: str | int) -> QColor:
        """Return the color of a server or a named tone."""
        return self.colors.server(color) if isinstance(color, int) else self.colors.named(color)

    @property
    def on_series(self) -> QColor:
        """Text on the colors of servers and phases."""
        return self.colors.on_accent if self.colors.dark else QColor("#ffffff")


def make_style(colors: ThemeTokens, large_text: bool) -> StageStyle:
    """Build the style, with large fonts for a view from *large_text*."""
    fonts = {}
    for name, sizes in SIZES.items():
        font = theme.fixed_font() if name in FIXED else QFont(QApplication.font())
        font.setPixelSize(sizes[large_text])
        font.setBold(name in BOLD)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        fonts[name] = font
    return StageStyle(colors, fonts, large_text)


class CanvasPainter:
    """Draws on a canvas of WIDTH × *height* units."""

    def __init__(self, painter: QPainter, style: StageStyle, height: float) -> None:
        self.painter, self.style, self.height = painter, style, height
        self.colors = style.colors
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)

    def text(
        self, content: str, box: QRectF, font: str, color: QColor,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft, wrap: bool = False,
    ) -> None:  # fmt: skip
        """Draw *content* into *box*: smaller, then condensed and then cut if it is too wide; or wrapped."""
        painter, used = self.painter, self.style.fonts[font]
        painter.setFont(used)
        painter.setPen(color)
        if wrap:
            flags = int(Qt.TextFlag.TextWordWrap) | int(align.value) | int(Qt.AlignmentFlag.AlignTop.value)
            painter.drawText(box, flags, content)
            return
        metrics = QFontMetricsF(used)
        flags = int(align.value) | int(Qt.AlignmentFlag.AlignVCenter.value)
        width = metrics.horizontalAdvance(content)
        if width > box.width() > 0:
            scale = max(box.width() / (width + 2), self.style.least_share(font))
            across = scale * min(1.0, max(box.width() / scale / (width + 2), CONDENSE))
            wide, tall = box.width() / across, box.height() / scale
            painter.save()
            painter.translate(box.left(), box.top())
            painter.scale(across, scale)
            cut = metrics.elidedText(content, Qt.TextElideMode.ElideRight, wide)
            painter.drawText(QRectF(0, 0, wide, tall), flags, cut)
            painter.restore()
        else:
            painter.drawText(box, flags, content)

    def width_of(self, content: str, font: str) -> float:
        """Return the width of *content* in canvas units."""
        return QFontMetricsF(self.style.fonts[font]).horizontalAdvance(content)

    def line_height(self, font: str) -> float:
        """Return the height of a font in pixels."""
        return QFontMetricsF(self.style.fonts[font]).height()

    def find_box(self, technology: str, name: str) -> QRectF | None:
        """Return the rectangle of a part; None if the technology has none."""
        return places.find_box(technology, name, self.height)

    def title(self, heading: str, sentence: str, tone: QColor) -> QRectF:
        """Draw heading and sentence of the stage next to a disk of color *tone*; return the rectangle of the disk."""
        disk = QRectF(24, 24, 36, 36)
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(tone)
        self.painter.drawEllipse(disk)
        tall, width = self.line_height("heading"), places.WIDTH - 96
        self.text(heading, QRectF(72, 12, width, tall), "heading", self.colors.text)
        below = QRectF(72, 14 + tall, width, self.line_height("sentence"))
        self.text(sentence, below, "sentence", self.colors.text)
        return disk

    def halo(self, box: QRectF, succeeded: bool) -> None:
        """Draw the halo of a part that takes part in the phase."""
        color = self.colors.ok if succeeded else self.colors.focus
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        self.painter.setPen(QPen(theme.with_alpha(color, 70), 4))
        self.painter.drawRoundedRect(box.adjusted(-9, -9, 9, 9), 13, 13)
        self.painter.setPen(QPen(color, 3.5))
        self.painter.drawRoundedRect(box.adjusted(-6, -6, 6, 6), 11, 11)

    def box(self, box: QRectF, border: QColor, ground: QColor, width: float = 1.2) -> None:
        """Draw a rounded box."""
        self.painter.setPen(QPen(border, width))
        self.painter.setBrush(ground)
        self.painter.drawRoundedRect(box, 8, 8)

    def pill(self, content: str, box: QRectF, ground: QColor, ink: QColor, dashed: bool = False) -> None:
        """Draw *content* on a rounded ground."""
        self.painter.setPen(
            QPen(self.colors.muted, 1.3, Qt.PenStyle.DashLine) if dashed else Qt.PenStyle.NoPen
        )
        self.painter.setBrush(ground)
        self.painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        self.text(content, box.adjusted(10, 0, -10, 0), "bold", ink, Qt.AlignmentFlag.AlignHCenter)
