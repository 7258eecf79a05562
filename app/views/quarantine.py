"""A file from somebody else, before anything of it runs: what it holds, to accept or decline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFontDatabase, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app import formatting, theme
from app.language import mark, tr, trn
from app.tables import Column, TableModel, TableView
from engine.drill import limits
from engine.drill.contents import LINKS_MAX, Contents, visible
from engine.drill.schema import DURATION_MAX_S

TEXT_MAX: Final = 200_000
"""Characters of the file that are shown. Assumed: nobody reads more, and the window stays quick."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of the table."""

    what: str
    value: str


COLUMNS: Final = (
    Column(title=mark("What"), text=lambda fact: fact.what, sample="Events of the timeline"),
    Column(title=mark("In this file"), text=lambda fact: fact.value, tip=lambda fact: fact.value),
)

TABLES: Final = {
    "servers": mark("Servers"),
    "databases": mark("Databases"),
    "clients": mark("Client applications"),
    "timeline": mark("Events of the timeline"),
    "goals": mark("Goals"),
    "forbidden states": mark("Forbidden states"),
    "questions": mark("Questions"),
    "hints": mark("Hints"),
    "steps of the solution": mark("Steps of the solution"),
    "rules of the score": mark("Rules of the score"),
}


def facts_of(contents: Contents) -> list[Fact]:
    """What is known of a scenario that nobody has run; every text as plain text, with the unseen made visible."""
    unverified = tr("{text} (as the file says; nobody has verified it)")
    author = unverified.format(text=contents.author) if contents.author else tr("the file names none")
    texts = ", ".join(f"{key} {formatting.number(size)}" for key, size in contents.texts)
    does = ", ".join(f"{verb} × {count}" for verb, count in contents.verbs)
    ends = formatting.seconds(contents.length_s, 0) if contents.length_s else tr("when somebody ends it")
    pictures = trn(
        "{n} place names one; none is loaded", "{n} places name one; none is loaded", contents.images
    )
    links = tr("{n}, shown as text only")
    found = [
        Fact(tr("Title"), contents.title),
        Fact(tr("Author"), author),
        Fact(tr("SHA-256"), contents.sha256),
        Fact(tr("Size"), tr("{n} characters").format(n=formatting.number(contents.characters))),
        *(Fact(tr(TABLES[what]), formatting.number(count)) for what, count in contents.counts),
        Fact(tr("What it does by itself"), does or tr("nothing")),
        Fact(tr("Ends"), ends),
        Fact(tr("Texts, in characters"), texts),
        Fact(tr("Pictures"), pictures.format(n=contents.images) if contents.images else tr("none")),
        Fact(tr("Links"), links.format(n=_many(contents.links)) if contents.links else tr("none")),
        *(Fact(tr("Link"), link) for link in contents.links[:LINKS_MAX]),
        *(Fact(tr("Named source"), source) for source in contents.sources),
        Fact(
            tr("Limits"),
            tr("{databases} databases and {hours} simulated hours at most; T-SQL reaches the simulation only").format(
                databases=limits.DATABASES_MAX, hours=formatting.plain(DURATION_MAX_S / 3600)
            ),
        ),
    ]  # fmt: skip
    return [Fact(fact.what, visible(fact.value).replace("\n", " ")) for fact in found]


def _many(links: Sequence[str]) -> str:
    return str(len(links)) if len(links) <= LINKS_MAX else f"> {LINKS_MAX}"


class Quarantine(QWidget):
    """The page. Nothing of the file has run, and nothing will before `accepted`."""

    accepted = Signal()
    declined = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._said = QLabel(tr("A file from somebody else")), QLabel()
        self._said.setTextFormat(Qt.TextFormat.PlainText)
        self._said.setWordWrap(True)
        self._said.setProperty("muted", "true")
        self.facts = TableView(TableModel(COLUMNS), tr("What the file holds"))
        header = self.facts.horizontalHeader()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName(tr("The file as it is written"))
        both = QSplitter(Qt.Orientation.Horizontal)
        both.addWidget(self.facts)
        both.addWidget(self.text)
        both.setSizes([660, 480])
        both.setChildrenCollapsible(False)
        self.decline, self.accept = QPushButton(tr("Do not open it")), QPushButton(tr("Open it"))
        self.accept.setProperty("primary", "true")
        self.accept.setToolTip(tr("From now on this very file opens without a question"))
        self.accept.clicked.connect(self.accepted)
        self.decline.clicked.connect(self.declined)
        inside = Qt.ShortcutContext.WidgetWithChildrenShortcut
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.declined.emit, context=inside)
        buttons = QHBoxLayout()
        buttons.addWidget(self.decline)
        buttons.addStretch()
        buttons.addWidget(self.accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 18, 28, 20)
        layout.setSpacing(12)
        layout.addWidget(self._title)
        layout.addWidget(self._said)
        layout.addWidget(both, 1)
        layout.addLayout(buttons)
        self._show_font()

    def show_file(self, file: str, facts: Sequence[Fact], text: str) -> None:
        """Show what *file* holds: *facts* in the table, *text* beside it."""
        said = tr(
            "{file} was not written here and has not been opened yet. Nothing of it has run. A drill holds no "
            "programs, but look at what it is before you spend time on it."
        )
        self._said.setText(visible(said.format(file=file)))
        self.facts.table.replace(facts)
        shown = text if len(text) <= TEXT_MAX else text[:TEXT_MAX] + "\n…"
        self.text.setPlainText(visible(shown))
        self.facts.selectRow(0)

    def take_focus(self) -> None:
        self.facts.setFocus()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._show_font()

    def _show_font(self) -> None:
        self._title.setFont(theme.sized(self.font(), 1.8, bold=True))
