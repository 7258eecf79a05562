"""Canvas of the stage: positions of its parts, fonts, colors, and functions to draw text and boxes."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QApplication

from app.view_models.failover_moment.phases import CLIENT, DISK, FROM, LISTENER, QUEUE, TO, VOTES, WITNESS
from app.widgets import theme
from app.widgets.scene_symbols import SceneStyle
from app.widgets.theme import ThemeTokens
from engine.drill.running.published_comparison import GROUP, INSTANCE, MIRRORING

CANVAS_WIDTH: Final = 1366.0
"""Width of the canvas in canvas units. The height follows the aspect ratio of the window."""
CANVAS_HEIGHT_MIN: Final = 560.0
"""Minimum height of the canvas in canvas units."""
BODY_TOP_MARGIN: Final = 88.0
"""Space above the body of the stage."""
BODY_BOTTOM_MARGIN: Final = 108.0
"""Space below the body of the stage."""
BODY_HEIGHT: Final = 420.0
"""Body height to which the coordinates in PART_BOXES refer."""
PANEL_LEFT_AND_WIDTH: Final = (980.0, 362.0)
"""Left edge and width of the stopwatch panel."""

Box = tuple[float, float, float, float]

PART_BOXES: Final[Mapping[str, Mapping[str, Box]]] = {
    MIRRORING: {
        WITNESS: (352, 6, 252, 84),
        FROM: (24, 124, 300, 168),
        TO: (620, 124, 336, 168),
        CLIENT: (340, 332, 276, 84),
        VOTES: (340, 122, 264, 100),
        QUEUE: (340, 100, 264, 136),
    },
    GROUP: {
        "cluster": (24, 2, 936, 284),
        WITNESS: (44, 24, 280, 68),
        VOTES: (352, 24, 592, 68),
        FROM: (44, 118, 280, 156),
        TO: (352, 118, 296, 156),
        "other1": (676, 118, 268, 156),
        LISTENER: (382, 298, 236, 34),
        "former": (84, 298, 200, 34),
        CLIENT: (352, 346, 296, 74),
        QUEUE: (676, 296, 268, 124),
    },
    INSTANCE: {
        "cluster": (24, 2, 936, 326),
        VOTES: (44, 26, 548, 72),
        FROM: (44, 112, 250, 88),
        "other1": (44, 242, 264, 74),
        "other2": (328, 242, 264, 74),
        DISK: (352, 138, 180, 92),
        "owner": (334, 106, 216, 26),
        TO: (622, 26, 322, 290),
        CLIENT: (622, 346, 322, 74),
    },
}
"""Technology -> part -> (left, top, width, height), for a body of BODY_HEIGHT units."""

ROUTE_SIDES: Final[Mapping[tuple[str, str, str], tuple[str, str]]] = {
    (MIRRORING, FROM, WITNESS): ("top", "left"),
    (MIRRORING, WITNESS, TO): ("right", "top"),
    (MIRRORING, FROM, TO): ("low right", "low left"),
    (MIRRORING, CLIENT, FROM): ("left", "bottom"),
    (MIRRORING, CLIENT, TO): ("right", "bottom"),
    (GROUP, FROM, TO): ("right", "left"),
    (GROUP, TO, "other1"): ("right", "left"),
    (GROUP, FROM, WITNESS): ("top", "bottom"),
    (INSTANCE, FROM, DISK): ("right", "left"),
    (INSTANCE, DISK, TO): ("right", "left"),
    (INSTANCE, CLIENT, TO): ("top", "bottom"),
}
"""(technology, part, part) -> sides of the two parts at which their connecting line begins and ends."""


def compute_panel_box(height: float) -> QRectF:
    """Return the rectangle of the stopwatch panel on a canvas of *height* units."""
    return QRectF(
        PANEL_LEFT_AND_WIDTH[0],
        BODY_TOP_MARGIN,
        PANEL_LEFT_AND_WIDTH[1],
        height - BODY_TOP_MARGIN - BODY_BOTTOM_MARGIN,
    )


def compute_phase_boxes(count: int, height: float) -> list[QRectF]:
    """Return the rectangles of *count* phases in the ribbon, on a canvas of *height* units."""
    width = (CANVAS_WIDTH - 48 - 8 * (count - 1)) / count
    return [QRectF(24 + index * (width + 8), height - 98, width, 50) for index in range(count)]


def find_box(technology: str, name: str, height: float) -> QRectF | None:
    """Return the rectangle of the part *name* on a canvas of *height* units.

    Return None if the technology does not have this part.
    """
    box = PART_BOXES[technology].get(name)
    if box is None:
        return None
    stretch = (height - BODY_TOP_MARGIN - BODY_BOTTOM_MARGIN) / BODY_HEIGHT
    left_px, top, width, tall = box
    growth = min(stretch, 1.0 + (stretch - 1.0) * 0.6)  # parts grow less than the space between them
    middle = BODY_TOP_MARGIN + (top + tall / 2) * stretch
    return QRectF(left_px, middle - tall * growth / 2, width, tall * growth)


def compute_route(technology: str, a: str, b: str, height: float) -> list[QPointF]:
    """Return the corners of the line between the parts *a* and *b*. Return none if they are not connected."""
    sides = ROUTE_SIDES.get((technology, a, b))
    box, other_box = find_box(technology, a, height), find_box(technology, b, height)
    if sides is None or box is None or other_box is None:
        return []
    start, end = _find_side(box, sides[0]), _find_side(other_box, sides[1])
    if {sides[0], sides[1]} == {"right", "left"} or sides[0].startswith("low"):
        if abs(start.y() - end.y()) > 1.0:
            overlap = max(box.top(), other_box.top()) + 12, min(box.bottom(), other_box.bottom()) - 12
            y = sum(overlap) / 2
            start, end = QPointF(start.x(), y), QPointF(end.x(), y)
        return [start, end]
    if sides[0] in ("top", "bottom") and sides[1] in ("top", "bottom"):
        return [start, QPointF(start.x(), end.y())]
    corner = QPointF(start.x(), end.y()) if sides[0] in ("top", "bottom") else QPointF(end.x(), start.y())
    return [start, corner, end]


def _find_side(box: QRectF, anchor: str) -> QPointF:
    x = {"left": box.left(), "right": box.right()}.get(anchor.rpartition(" ")[2], box.center().x())
    y = {"top": box.top(), "bottom": box.bottom()}.get(anchor, box.center().y())
    if anchor.startswith("low"):
        y = box.top() + box.height() * 0.8
    return QPointF(x, y)


FONT_SIZES: Final = {
    # font name: (text height in canvas units, height for presentations)
    "small": (12, 18), "body": (13, 18), "bold": (14, 19), "server": (18, 21), "heading": (21, 30),
    "sentence": (14, 19), "watch": (72, 84), "second": (24, 30), "chip": (14, 18), "mono": (13, 18),
}  # fmt: skip
BOLD_FONTS: Final = {"bold", "server", "heading", "watch", "second", "chip"}
FIXED_WIDTH_FONTS: Final = {"watch", "second", "mono"}
TEXT_SCALE_MIN: Final = 0.8
"""Minimum scale to which text that is too wide is shrunk. TEXT_SIZES_MIN is a further limit.

Text that is still too wide is condensed.
"""
TEXT_STRETCH_MIN: Final = 0.8
"""Minimum horizontal scale to which text is condensed. Text that is still too wide is cut."""
TEXT_SIZES_MIN: Final = (11.0, 17.2)
"""Minimum text size in canvas units, normal and for presentations (24 pixels at 1920×1080)."""


class StageStyle(Struct, frozen=True):
    """Colors and fonts of the stage. If *is_far* is True, the text is larger, for presentations."""

    colors: ThemeTokens
    fonts: dict[str, QFont]
    is_presentation: bool

    def compute_scale_min(self, font: str) -> float:
        """Return the minimum scale to which text in *font* may be shrunk."""
        return min(
            1.0, max(TEXT_SCALE_MIN, TEXT_SIZES_MIN[self.is_presentation] / self.fonts[font].pixelSize())
        )

    @property
    def scene_style(self) -> SceneStyle:
        """Style of symbols and chips, which the stage shares with the topology."""
        return SceneStyle(
            self.colors, self.fonts["body"], self.fonts["small"], self.fonts["bold"], self.fonts["server"]
        )

    def get_series_color(self, color: str | int) -> QColor:
        """Return the color of the server with the number *color*, or the color with the name *color*."""
        return self.colors.get_server_color(color) if isinstance(color, int) else self.colors.get_color(color)

    @property
    def series_text_color(self) -> QColor:
        """Color of text on the colors of servers and phases."""
        return self.colors.on_accent if self.colors.dark else QColor("#ffffff")


def build_stage_style(colors: ThemeTokens, large_text: bool) -> StageStyle:
    """Build the style of the stage. *large_text* selects the fonts for presentations."""
    fonts = {}
    for name, sizes in FONT_SIZES.items():
        font = theme.build_fixed_font() if name in FIXED_WIDTH_FONTS else QFont(QApplication.font())
        font.setPixelSize(sizes[large_text])
        font.setBold(name in BOLD_FONTS)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        fonts[name] = font
    return StageStyle(colors, fonts, large_text)


class CanvasPainter:
    """Painter for text and boxes on a canvas of CANVAS_WIDTH × *height* units."""

    def __init__(self, painter: QPainter, style: StageStyle, height: float) -> None:
        self.painter, self.style, self.height = painter, style, height
        self.colors = style.colors
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)

    def draw_text(
        self, content: str, box: QRectF, font: str, color: QColor,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft, wraps: bool = False,
    ) -> None:  # fmt: skip
        """Draw *content* in *box*.

        Text that is too wide is wrapped if *wraps*; otherwise it is shrunk, condensed and cut.
        """
        painter, used = self.painter, self.style.fonts[font]
        painter.setFont(used)
        painter.setPen(color)
        if wraps:
            flags = int(Qt.TextFlag.TextWordWrap) | int(align.value) | int(Qt.AlignmentFlag.AlignTop.value)
            painter.drawText(box, flags, content)
            return
        metrics = QFontMetricsF(used)
        flags = int(align.value) | int(Qt.AlignmentFlag.AlignVCenter.value)
        width = metrics.horizontalAdvance(content)
        if width > box.width() > 0:
            scale = max(box.width() / (width + 2), self.style.compute_scale_min(font))
            stretch_x = scale * min(1.0, max(box.width() / scale / (width + 2), TEXT_STRETCH_MIN))
            wide, tall = box.width() / stretch_x, box.height() / scale
            painter.save()
            painter.translate(box.left(), box.top())
            painter.scale(stretch_x, scale)
            elided_text = metrics.elidedText(content, Qt.TextElideMode.ElideRight, wide)
            painter.drawText(QRectF(0, 0, wide, tall), flags, elided_text)
            painter.restore()
        else:
            painter.drawText(box, flags, content)

    def compute_width(self, content: str, font: str) -> float:
        """Return the width of *content* in canvas units."""
        return QFontMetricsF(self.style.fonts[font]).horizontalAdvance(content)

    def compute_line_height(self, font: str) -> float:
        """Return the line height of *font* in canvas units."""
        return QFontMetricsF(self.style.fonts[font]).height()

    def find_box(self, technology: str, name: str) -> QRectF | None:
        """Return the rectangle of the part *name*, or None if the technology lacks it."""
        return find_box(technology, name, self.height)

    def draw_title(self, heading: str, sentence: str, color: QColor) -> QRectF:
        """Draw heading and sentence next to a disk of color *color*. Return the rectangle of the disk."""
        disk = QRectF(24, 24, 36, 36)
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(color)
        self.painter.drawEllipse(disk)
        tall, width = self.compute_line_height("heading"), CANVAS_WIDTH - 96
        self.draw_text(heading, QRectF(72, 12, width, tall), "heading", self.colors.text)
        box = QRectF(72, 14 + tall, width, self.compute_line_height("sentence"))
        self.draw_text(sentence, box, "sentence", self.colors.text)
        return disk

    def draw_halo(self, box: QRectF, has_succeeded: bool) -> None:
        """Draw a halo around a part of the stage that is active in the current phase.

        The halo has the color of success if *has_succeeded*.
        """
        color = self.colors.ok if has_succeeded else self.colors.focus
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        self.painter.setPen(QPen(theme.add_alpha(color, 70), 4))
        self.painter.drawRoundedRect(box.adjusted(-9, -9, 9, 9), 13, 13)
        self.painter.setPen(QPen(color, 3.5))
        self.painter.drawRoundedRect(box.adjusted(-6, -6, 6, 6), 11, 11)

    def draw_box(self, box: QRectF, border: QColor, background_color: QColor, width: float = 1.2) -> None:
        """Draw a rounded box."""
        self.painter.setPen(QPen(border, width))
        self.painter.setBrush(background_color)
        self.painter.drawRoundedRect(box, 8, 8)

    def draw_pill(
        self, content: str, box: QRectF, background_color: QColor, text_color: QColor, dashed: bool = False
    ) -> None:
        """Draw *content* on a rounded background, with a dashed border if *dashed*."""
        self.painter.setPen(
            QPen(self.colors.muted, 1.3, Qt.PenStyle.DashLine) if dashed else Qt.PenStyle.NoPen
        )
        self.painter.setBrush(background_color)
        self.painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        self.draw_text(
            content, box.adjusted(10, 0, -10, 0), "bold", text_color, Qt.AlignmentFlag.AlignHCenter
        )
