"""File from another person, before anything of it runs: its contents, to accept or decline, completely or in part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.views.quarantine.facts import COLUMNS, Fact
from app.views.quarantine.items import BundleItem, Items
from app.views.quarantine.wrapping_cell import show_whole
from app.widgets import theme
from app.widgets.tables import TableModel, TableView
from app.words.language import tr
from engine.drill.authoring.contents import escape_invisible
from engine.overrides import override

TEXT_MAX: Final = 200_000
"""Maximum characters of the file on the page. Assumed: nobody reads more, and the window stays fast."""


class Quarantine(QWidget):
    """Page about a file. Nothing of the file runs before `accepted`."""

    accepted = Signal()
    declined = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._message = QLabel(), QLabel()
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._title.setWordWrap(True)
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._message.setWordWrap(True)
        self._message.setProperty("muted", "true")
        self.facts = TableView(TableModel(COLUMNS), tr("Contents of the file"))
        header = self.facts.horizontalHeader()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        show_whole(self.facts)
        self.text = _FileText()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.text.setAccessibleName(tr("The file as text"))
        both = QSplitter(Qt.Orientation.Horizontal)
        both.addWidget(self.facts)
        both.addWidget(self.text)
        both.setSizes([660, 480])
        both.setChildrenCollapsible(False)
        self._facts: Sequence[Fact] = ()
        self._full_text = ""
        self.author = QCheckBox(tr("Open as author: show solution and answers"))
        self.author.setToolTip(tr("Not recommended if you want to play the drill"))
        self.author.toggled.connect(lambda _: self._show_again())
        self.items = Items()
        self.items.shown.connect(self._show_item)
        self.items.chosen.connect(self._show_selected_count)
        self._all = QSplitter(Qt.Orientation.Vertical)
        self._all.addWidget(self.items)
        self._all.addWidget(both)
        self._all.setSizes([200, 400])
        self._all.setChildrenCollapsible(False)
        self.decline, self.accept = QPushButton(), QPushButton()
        self.accept.setProperty("primary", "true")
        self.accept.clicked.connect(self.accepted)
        self.decline.clicked.connect(self.declined)
        inside = Qt.ShortcutContext.WidgetWithChildrenShortcut
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.declined.emit, context=inside)
        buttons = QHBoxLayout()
        buttons.addWidget(self.decline)
        buttons.addSpacing(12)
        buttons.addWidget(self.items.controls)
        buttons.addStretch()
        buttons.addWidget(self.accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 18, 28, 20)
        layout.setSpacing(12)
        layout.addWidget(self._title)
        layout.addWidget(self._message)
        layout.addWidget(self._all, 1)
        layout.addWidget(self.author)
        layout.addLayout(buttons)
        self._show_font()

    def show_file(self, file: str, facts: Sequence[Fact], text: str) -> None:
        """Show what *file* holds: *facts* in the table, *text* beside it."""
        said = tr(
            "{file} comes from another source. No part of it has run yet. A drill contains no "
            "programs. Check its contents before you play it."
        )
        self._head(tr("File from another source"), said.format(file=file))
        self.decline.setText(tr("Do not open"))
        self.accept.setText(tr("Open hint"))
        self.accept.setToolTip(tr("In future, this exact file opens without a question"))
        self.accept.setEnabled(True)
        self.items.hide()
        self.items.controls.hide()
        self._show_one(facts, text)

    def show_bundle(self, file: str, title: str, items: Sequence[BundleItem]) -> None:
        """Show what the bundle *file* holds, to choose from."""
        said = tr(
            "{file} comes from another source. No part of it has run yet. Choose the drills to "
            "import. Existing drills are never replaced."
        )
        self._head(tr("Bundle: {title}").format(title=escape_invisible(title)), said.format(file=file))
        self.decline.setText(tr("Import nothing"))
        self.accept.setToolTip(tr("Imported drills appear on the start page and open without a question"))
        self.items.show()
        self.items.controls.show()
        self.items.show_items(items)

    def _head(self, title: str, text: str) -> None:
        self.author.setChecked(False)
        self._title.setText(title)
        self._message.setText(escape_invisible(text))

    def _show_item(self, item: BundleItem) -> None:
        self._show_one(item.facts, item.text)

    def _show_one(self, facts: Sequence[Fact], text: str) -> None:
        self._facts, self._full_text = facts, text
        self._show_again()

    def _show_again(self) -> None:
        """Show the file without spoilers of the drill, unless an author requests them."""
        text, everything = self._full_text, self.author.isChecked()
        self.facts.table.replace([fact for fact in self._facts if everything or not fact.spoils])
        if not everything:
            text = tr("The text contains the solution and the answers. To see it, choose “Open as author”.")
        shown = text if len(text) <= TEXT_MAX else text[:TEXT_MAX] + "\n…"
        self.text.setPlainText(escape_invisible(shown))
        self.facts.selectRow(0)

    def _show_selected_count(self, count: int) -> None:
        self.accept.setText(tr("Import {n}").format(n=count))
        self.accept.setEnabled(count > 0)

    def take_focus(self) -> None:
        """Focus the list."""
        (self.items.tree if self.items.isVisibleTo(self) else self.facts).setFocus()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._show_font()

    def _show_font(self) -> None:
        self._title.setFont(theme.sized(self.font(), 1.8, bold=True))


class _FileText(QPlainTextEdit):
    """Text of a file in its original form."""

    def __init__(self) -> None:
        super().__init__()
        self.setFont(theme.fixed_font())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ApplicationFontChange:
            self.setFont(theme.fixed_font())
