"""Reader of the painted texts of a window, with position, color and background.

It renders each widget into an SVG, which contains the texts, and the window into a picture, which shows their
background. This includes delegates, the scene and plots. `python -m tests.look_over` checks the program with
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QRegion, QTransform
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QAbstractScrollArea, QScrollArea, QTabBar, QWidget

ELLIPSIS: Final = "…"
TEXT_CONTRAST, LARGE_CONTRAST = 4.5, 3.0
LARGE_PX, LARGE_BOLD_PX = 24.0, 18.66
"""WCAG 2: text of 18 points, or bold text of 14 points, may have the lower contrast."""
BOLD_WEIGHT: Final = 600
COLOR_DISTANCE_MAX: Final = 60
"""Maximum color distance between a pixel of a letter and the text color, as the sum over red, green and blue."""

VISIBLE_HEIGHT_MIN: Final = 0.8
"""Minimum visible share of a text's height for which the check can determine its background."""

_NUMBER: Final = re.compile(r"-?[\d.]+(?:e-?\d+)?")


@dataclass(frozen=True, slots=True)
class PaintedText:
    """Text that a widget painted in the window."""

    content: str
    box: QRectF
    """Rectangle in window coordinates."""
    color: QColor
    size_px: float
    weight: int
    widget: QWidget
    """Widget that painted the text."""

    @property
    def is_large(self) -> bool:
        return self.size_px >= LARGE_PX or (self.weight >= BOLD_WEIGHT and self.size_px >= LARGE_BOLD_PX)

    @property
    def location(self) -> str:
        """Return the widget and its nearest ancestors that have a name or a class of the program."""
        names: list[str] = []
        widget: QWidget | None = self.widget
        while widget is not None and len(names) < 3:
            kind = type(widget).__name__
            if not kind.startswith(("QWidget", "QStacked", "QScrollArea")):
                names.append(widget.objectName() if kind.startswith("Q") and widget.objectName() else kind)
            widget = widget.parentWidget()
        return " in ".join(names)


def render_picture(widget: QWidget) -> QImage:
    """Return an image of *widget* with one pixel per logical pixel, independent of the screen's scale factor."""
    image = QImage(widget.size(), QImage.Format.Format_RGB32)
    widget.render(image)
    return image


def list_texts(window: QWidget) -> Iterator[PaintedText]:
    """Yield every text in *window* that is at least partly visible."""
    for widget in [window, *window.findChildren(QWidget)]:
        if is_in_sight(widget):
            yield from _list_widget_texts(widget, window)


def is_in_sight(widget: QWidget) -> bool:
    """Return whether the widget is shown, and neither hidden behind a tab nor scrolled out of view."""
    return widget.isVisible() and not widget.visibleRegion().isEmpty()


def _list_widget_texts(widget: QWidget, window: QWidget) -> Iterator[PaintedText]:
    corner = widget.mapTo(window, QPoint()) if widget is not window else QPoint()
    visible_area = QRectF(widget.visibleRegion().boundingRect().translated(corner))
    for element, transform in _list_text_elements(_draw_widget(widget)):
        words = (element.text or "").strip("\n")
        color = QColor(element.get("fill", "#000000"))
        color.setAlphaF(float(element.get("fill-opacity", "1")))
        if not words.strip() or not color.alpha():
            continue
        font = QFont()
        font.setFamily(element.get("font-family", ""))
        font.setPixelSize(max(1, round(float(element.get("font-size", "12")))))
        font.setWeight(QFont.Weight(int(element.get("font-weight", "400"))))
        metrics = QFontMetricsF(font)
        x, y = float(element.get("x", "0")), float(element.get("y", "0"))
        box = QRectF(x, y - metrics.ascent(), metrics.horizontalAdvance(words), metrics.height())
        placed_box = transform.mapRect(box).translated(corner)
        if visible_area.intersects(placed_box):
            height = abs(transform.m22()) or abs(transform.m12())
            yield PaintedText(words, placed_box, color, font.pixelSize() * height, font.weight(), widget)


def _draw_widget(widget: QWidget) -> ElementTree.Element:
    """Return the drawing of *widget*, without its children."""
    png_buffer = QBuffer()
    png_buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    device = QSvgGenerator()
    device.setOutputDevice(png_buffer)
    device.setResolution(widget.logicalDpiX())
    device.setSize(widget.size())
    device.setViewBox(widget.rect())
    painter = QPainter(device)
    widget.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.IgnoreMask)
    painter.end()
    text = bytes(png_buffer.data().data()).decode("utf-8", "replace")
    text = re.sub(r"<image\b[^>]*/>", "", text)
    return ElementTree.fromstring(re.sub(r"[\x00-\x08\x0b-\x1f]", " ", text))


def _list_text_elements(drawing: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, QTransform]]:
    """Yield the text elements with their transforms."""

    def walk_elements(
        element: ElementTree.Element, transform: QTransform
    ) -> Iterator[tuple[ElementTree.Element, QTransform]]:
        matrix = element.get("transform", "")
        if matrix.startswith("matrix"):
            transform = QTransform(*(float(n) for n in _NUMBER.findall(matrix))) * transform
        if element.tag.rpartition("}")[2] == "text":
            yield element, transform
        for inner in element:
            yield from walk_elements(inner, transform)

    yield from walk_elements(drawing, QTransform())


# --- checks of a picture ------------------------------------------------------------------------------------


def compute_contrast(color: QColor, other_color: QColor) -> float:
    """Return the contrast ratio of two opaque colors, from 1 to 21, as WCAG 2 defines it."""
    high, low = sorted((_compute_luminance(color), _compute_luminance(other_color)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _compute_luminance(color: QColor) -> float:
    def linearize(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = (linearize(part) for part in (color.redF(), color.greenF(), color.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def measure_contrast(text: PaintedText, picture: QImage, window: QWidget) -> float | None:
    """Return the contrast of the letters with their background in *picture*, or None if the letters are not
    visible.
    """
    whole_box = text.box.toAlignedRect()
    corner = text.widget.mapTo(window, QPoint()) if text.widget is not window else QPoint()
    visible_box = text.widget.visibleRegion().translated(corner).intersected(whole_box).boundingRect()
    box = visible_box.intersected(picture.rect())
    if box.width() < 3 or box.height() < VISIBLE_HEIGHT_MIN * whole_box.height():
        return None
    colors, places = np.unique(
        _read_pixels(picture)[box.top() : box.bottom() + 1, box.left() : box.right() + 1], return_counts=True
    )
    ground = QColor.fromRgb(int(colors[places.argmax()]))
    letters = _blend_colors(text.color, ground)
    parts = (colors[:, None] >> np.array((16, 8, 0)) & 0xFF).astype(int)
    if np.abs(parts - _split_color(letters)).sum(axis=1).min() > COLOR_DISTANCE_MAX:
        return None
    return compute_contrast(letters, ground)


def find_faint_contrast(text: PaintedText, picture: QImage, window: QWidget) -> float | None:
    """Return the contrast if it is below the WCAG limit, otherwise None."""
    ratio = measure_contrast(text, picture, window) if text.widget.isEnabled() else None
    mark = not any(letter.isalnum() for letter in text.content)
    needed_contrast = LARGE_CONTRAST if text.is_large or mark else TEXT_CONTRAST
    return ratio if ratio is not None and ratio < needed_contrast else None


def _blend_colors(color: QColor, ground: QColor) -> QColor:
    share = color.alphaF()
    mixed = [
        share * a + (1.0 - share) * b for a, b in zip(_split_color(color), _split_color(ground), strict=True)
    ]
    return QColor(*(round(part) for part in mixed))


def _read_pixels(picture: QImage) -> NDArray[np.uint32]:
    """Return the color of each pixel as one number of red, green and blue, by row and column."""
    assert picture.depth() == 32
    words = np.frombuffer(picture.constBits(), np.uint32)
    return words.reshape(picture.height(), picture.bytesPerLine() // 4)


def _split_color(color: QColor) -> tuple[int, int, int]:
    return color.red(), color.green(), color.blue()


def describe_clipping(text: PaintedText, window: QWidget) -> str:
    """Describe the part of a text that its widget cuts off. Return an empty text if nothing is cut off or
    scrolling helps.
    """
    widget = text.widget
    if text.content.endswith(ELLIPSIS) and not is_intended_ellipsis(text):
        return "is a cell that ends in dots" if _is_viewport(widget) else "ends in dots"
    if _is_viewport(widget) or isinstance(widget, QTabBar):
        return ""  # Scrolling shows the rest.
    inner_area = QRectF(
        widget.rect().translated(widget.mapTo(window, QPoint()) if widget is not window else QPoint())
    )
    right, bottom = text.box.right() - inner_area.right(), text.box.bottom() - inner_area.bottom()
    if right > 1.5 or inner_area.left() - text.box.left() > 1.5:
        return (
            f"{max(right, inner_area.left() - text.box.left()):.0f} px wider than its {type(widget).__name__}"
        )
    if bottom > 3.0 or inner_area.top() - text.box.top() > 3.0:
        return (
            f"{max(bottom, inner_area.top() - text.box.top()):.0f} px higher than its {type(widget).__name__}"
        )
    return ""


def is_intended_ellipsis(text: PaintedText) -> bool:
    """Return whether the ellipsis is part of the text, as in "Open…" or "Loading…"."""
    # A mnemonic splits the painted text.
    return any(full_text.endswith(text.content) for full_text in _list_texts(text.widget))


def _list_texts(widget: QWidget) -> Iterator[str]:
    for name in ("text", "placeholderText", "title"):
        value = getattr(widget, name, None)
        if callable(value):
            yield str(value()).replace("&", "")
    for action in widget.actions():
        yield action.text().replace("&", "")


def _is_viewport(widget: QWidget) -> bool:
    """Return whether the widget is the viewport of a scroll area, or a margin next to it."""
    return isinstance(widget.parentWidget(), QAbstractScrollArea)


def find_hidden_parts(window: QWidget) -> Iterator[str]:
    """Yield widgets that exceed their parent without scrolling, and overlapping siblings."""
    for widget in window.findChildren(QWidget):
        parent = widget.parentWidget()
        if parent is None or not is_in_sight(widget) or widget.isWindow() or _has_free_position(widget):
            continue
        if not parent.rect().adjusted(-1, -1, 1, 1).contains(widget.geometry()):
            overflow = _measure_overflow(widget.geometry(), parent.rect())
            if overflow > 2:
                yield f"{_name_widget(widget)} reaches {overflow} px out of {_name_widget(parent)}"
        layout = parent.layout()
        if layout is None or layout.indexOf(widget) < 0:
            continue
        for sibling in parent.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            overlap = widget.geometry().intersected(sibling.geometry())
            if (
                is_in_sight(sibling)
                and layout.indexOf(sibling) > layout.indexOf(widget)
                and min(overlap.width(), overlap.height()) > 2
            ):
                extent = f"{overlap.width()} x {overlap.height()} px"
                yield f"{_name_widget(widget)} overlaps {_name_widget(sibling)} by {extent}"


def _has_free_position(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    return (
        parent is None
        or isinstance(parent, (QScrollArea, QAbstractScrollArea))
        or _is_viewport(parent)
        or widget.objectName().startswith("qt_")
        or type(parent).__name__ in ("QTabBar", "QMenuBar", "QToolBar")
    )


def _measure_overflow(inner: QRect, outer: QRect) -> int:
    return max(
        outer.left() - inner.left(),
        inner.right() - outer.right(),
        outer.top() - inner.top(),
        inner.bottom() - outer.bottom(),
    )


def _name_widget(widget: QWidget) -> str:
    text = next((words for words in _list_texts(widget) if words), "") or widget.accessibleName()
    return f"{type(widget).__name__} {text[:40]!r}" if text else widget.objectName() or type(widget).__name__
