"""Charts as files: what is on screen as PNG or SVG, the values behind it as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QPoint, QRect, QRectF, QSaveFile, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QRegion
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView, QWidget

from app.counters import COUNTERS
from app.language import tr
from app.series import CounterHistory

ENDINGS: Final = (".png", ".svg", ".csv")
SHARPNESS: Final = 2
"""Pixels of a PNG for each pixel of the screen: it is looked at on paper and on projectors, too."""


class NotSaved(Exception):
    """The file cannot be written; `str()` is one sentence."""


def save(
    path: str,
    lanes: Sequence[QWidget],
    view: QGraphicsView,
    ground: QColor,
    values: tuple[CounterHistory, Sequence[str], tuple[float, float]],
) -> None:
    """Write *path* in the format of its ending; a file that was there is replaced only by a whole one.

    Raises NotSaved.
    """
    ending = Path(path).suffix.lower()
    try:
        if ending == ".csv":
            _write(path, table(*values).encode("utf-8"))
        elif ending == ".svg":
            _save_svg(path, lanes, view, ground)
        else:
            image = QImage(_size(lanes, view) * SHARPNESS, QImage.Format.Format_RGB32)
            image.setDevicePixelRatio(SHARPNESS)
            painter = QPainter(image)
            _draw(painter, lanes, view, ground)
            painter.end()
            if not image.save(path):
                raise OSError(tr("it cannot be written"))
    except OSError as problem:
        raise NotSaved(tr("{file} is not saved: {why}.").format(file=path, why=problem)) from None


def table(history: CounterHistory, names: Sequence[str], span: tuple[float, float]) -> str:
    """One line a second: time and each counter, with units in the titles; empty where nothing ran."""
    rows: list[list[Any]] = [["t_s", *(_title(name) for name in names)]]
    for t_s, *values in history.rows(names, *span):
        rows.append([f"{t_s:g}", *("" if value is None else f"{value:.6g}" for value in values)])
    lines = _Lines()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return "".join(lines.text)


class _Lines:
    def __init__(self) -> None:
        self.text: list[str] = []

    def write(self, line: str) -> None:
        self.text.append(line)


def _title(name: str) -> str:
    counter = COUNTERS[name]
    title = tr(counter.title)
    return f"{title} ({counter.unit.name})" if counter.unit.name else title


def _write(path: str, content: bytes) -> None:
    file = QSaveFile(path)
    if not file.open(QSaveFile.OpenModeFlag.WriteOnly):
        raise OSError(file.errorString())
    file.write(content)
    if not file.commit():
        raise OSError(file.errorString())


def _save_svg(path: str, lanes: Sequence[QWidget], view: QGraphicsView, ground: QColor) -> None:
    folder = Path(path).parent
    if not folder.is_dir():
        raise OSError(tr("there is no folder {name}").format(name=folder))
    drawing = QSvgGenerator()
    drawing.setFileName(path)
    size = _size(lanes, view)
    drawing.setSize(size)
    drawing.setViewBox(QRect(QPoint(0, 0), size))
    drawing.setTitle("Mirrordrill")
    painter = QPainter()
    if not painter.begin(drawing):
        raise OSError(tr("it cannot be written"))
    _draw(painter, lanes, view, ground)
    painter.end()


def _size(lanes: Sequence[QWidget], view: QGraphicsView) -> QSize:
    scene = view.sceneRect().size().toSize()
    return QSize(scene.width(), scene.height() + sum(lane.height() for lane in lanes))


def _draw(painter: QPainter, lanes: Sequence[QWidget], view: QGraphicsView, ground: QColor) -> None:
    """Lanes under one another, the plots below them, on the theme's ground."""
    size = _size(lanes, view)
    painter.fillRect(QRect(QPoint(0, 0), size), ground)
    top = 0
    for lane in lanes:
        lane.render(painter, QPoint(0, top), QRegion(lane.rect()), QWidget.RenderFlag.DrawChildren)
        top += lane.height()
    scene = view.sceneRect()
    place = QRectF(0.0, top, scene.width(), scene.height())
    view.scene().render(painter, place, scene, Qt.AspectRatioMode.IgnoreAspectRatio)
