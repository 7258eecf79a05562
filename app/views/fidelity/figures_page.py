"""Curves of the papers' figures with ours, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QListWidget, QSplitter, QWidget

from app.views.fidelity.from_rows import ERRORS, MANY, TABLE_6
from app.views.fidelity.plot import FigurePlot
from app.widgets.layouts import lay_column, lay_row
from app.words.language import tr
from engine.planning.figures import FIGURES, Figure

ORDER: Final = (ERRORS, TABLE_6, *FIGURES, MANY)
"""Names of figures in the order of the list."""


class FiguresPage(QWidget):
    """Names on the left, the figure on the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figures: dict[str, Figure] = {}
        self.names = QListWidget()
        self.names.setAccessibleName(tr("Figures"))
        self.names.currentTextChanged.connect(self._show)
        self.title = QLabel()
        self.said = QLabel()
        self.said.setProperty("muted", "true")
        self.said.setWordWrap(True)
        self.plot = FigurePlot()
        right = QWidget()
        lay_column(self.title, self.said, (self.plot, 1), on=right, margins=(4, 0, 0, 0))
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.names)
        split.addWidget(right)
        split.setStretchFactor(1, 1)
        split.setChildrenCollapsible(False)
        split.setSizes([200, 900])
        lay_row(split, on=self, margins=(0, 8, 0, 0))

    def put(self, figures: Mapping[str, Figure]) -> None:
        """Add figures, or replace those of the same name."""
        for name, figure in figures.items():
            new = name not in self.figures
            self.figures[name] = figure
            if new:
                before = ORDER[: ORDER.index(name)] if name in ORDER else ORDER
                self.names.insertItem(sum(other in self.figures for other in before), name)
            elif self.names.currentItem() is not None and self.names.currentItem().text() == name:
                self._show(name)
        if self.names.count() and self.names.currentRow() < 0:
            self.names.setCurrentRow(0)

    def _show(self, name: str) -> None:
        figure = self.figures.get(name)
        if figure is not None:
            self.title.setText(f"<b>{figure.title}</b>")
            self.said.setText(f"{tr(figure.said)} {figure.source}.")
            self.plot.show_figure(figure)
