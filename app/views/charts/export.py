"""Export of charts: the drawing as PNG or SVG, the values as CSV."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QImageWriter, QPainter, QRegion
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView, QWidget

from app.files import atomic_write
from app.view_models.series import CounterHistory
from app.widgets import theme
from app.words.formatting import Counter
from app.words.language import tr

PNG_SCALE: Final = 2
"""PNG pixels per screen pixel. More than one is needed for paper and projectors."""


MARGIN_PX: Final = 6


class ChartExportError(Exception):
    """Error when the file cannot be written. `str()` returns a sentence for the user."""


class ChartSheet(Struct, frozen=True):
    """Parts of an exported drawing of the charts, from top to bottom."""

    title: str
    """Title of the picture: database and time range. An exported picture shows them nowhere else."""
    upper_widgets: Sequence[QWidget]
    plots: QGraphicsView
    lower_widget: QWidget

    @property
    def colors(self) -> theme.ThemeTokens:
        """Colors of the picture."""
        return theme.get_theme_tokens(self.lower_widget.palette())

    @property
    def title_height(self) -> int:
        """Height of the title in pixels."""
        return self.plots.fontMetrics().height() + 2 * MARGIN_PX

    @property
    def size(self) -> QSize:
        """Size of the picture in pixels."""
        plots = self.plots.sceneRect().size().toSize()
        lanes = sum(lane.height() for lane in (*self.upper_widgets, self.lower_widget))
        return QSize(plots.width() + MARGIN_PX, self.title_height + lanes + plots.height() + MARGIN_PX)


def save_charts(
    path: str, sheet: ChartSheet, values: tuple[CounterHistory, Sequence[Counter], tuple[float, float]]
) -> None:
    """Write the charts to *path* in the format of its extension: an image of *sheet*, or a CSV file.

    *values*: (history, counters, time range) for the CSV file. A failed write leaves an existing file
    unchanged.

    Raises ChartExportError.
    """
    file = Path(path)
    ending = file.suffix.lower()
    content = (
        format_counters_csv(*values)
        if ending == ".csv"
        else _render_svg(sheet)
        if ending == ".svg"
        else _render_png(sheet)
    )
    try:
        atomic_write.write_atomically(file, content)
    except OSError as problem:
        text = tr("{file} was not saved: {why}.")
        raise ChartExportError(text.format(file=path, why=problem.strerror)) from None


def format_counters_csv(
    history: CounterHistory, counters: Sequence[Counter], span: tuple[float, float]
) -> str:
    """Return CSV text with one line per second: the time and the value of each counter.

    *span*: first and last time in seconds. Column titles contain the units. A cell is empty for times without
    a running instance.
    """
    rows: list[list[object]] = [["t_s", *map(_format_title, counters)]]
    for t_s, *values in history.iterate_rows([counter.name for counter in counters], *span):
        rows.append([f"{t_s:g}", *("" if value is None else f"{value:.6g}" for value in values)])
    lines = _LineCollector()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return "".join(lines.text)


class _LineCollector:
    def __init__(self) -> None:
        self.text: list[str] = []

    def write(self, line: str) -> None:
        self.text.append(line)


def _format_title(counter: Counter) -> str:
    title = tr(counter.title)
    return f"{title} ({counter.unit.name})" if counter.unit.name else title


def _render_png(sheet: ChartSheet) -> bytes:
    image = QImage(sheet.size * PNG_SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(PNG_SCALE)
    painter = QPainter(image)
    _draw_sheet(painter, sheet)
    painter.end()
    target = QBuffer()
    target.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(target, QByteArray(b"png")).write(image)
    return bytes(target.data().data())


def _render_svg(sheet: ChartSheet) -> bytes:
    target = QBuffer()
    drawing = QSvgGenerator()
    drawing.setOutputDevice(target)
    drawing.setSize(sheet.size)
    drawing.setViewBox(QRect(QPoint(0, 0), sheet.size))
    # use the screen resolution, because the axes are drawn for it
    drawing.setResolution(sheet.plots.logicalDpiX())
    drawing.setTitle(f"Mirrordrill: {sheet.title}")
    painter = QPainter(drawing)
    _draw_sheet(painter, sheet)
    painter.end()
    return bytes(target.data().data())


def _draw_sheet(painter: QPainter, sheet: ChartSheet) -> None:
    """Draw the title and all parts in a column on the theme's background."""
    painter.fillRect(QRect(QPoint(0, 0), sheet.size), sheet.colors.surface)
    painter.setPen(sheet.colors.text)
    painter.setFont(theme.resize_font(sheet.plots.font(), 1.0, bold=True))
    title = QRectF(MARGIN_PX, 0.0, sheet.size.width(), sheet.title_height)
    painter.drawText(title, Qt.AlignmentFlag.AlignVCenter, sheet.title)
    top = sheet.title_height
    for lane in sheet.upper_widgets:
        top = _draw_widget(painter, lane, top)
    scene = sheet.plots.sceneRect()
    box = QRectF(0.0, top, scene.width(), scene.height())
    sheet.plots.scene().render(painter, box, scene, Qt.AspectRatioMode.IgnoreAspectRatio)
    _draw_widget(painter, sheet.lower_widget, top + round(scene.height()))


def _draw_widget(painter: QPainter, widget: QWidget, top: int) -> int:
    """Draw *widget* with its upper edge at *top*. Return the y coordinate of its lower edge."""
    widget.render(painter, QPoint(0, top), QRegion(widget.rect()), QWidget.RenderFlag.DrawChildren)
    return top + widget.height()
