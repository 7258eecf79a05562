"""Text view for scenarios and help pages. It shows Markdown without HTML and loads no resources."""

from PySide6.QtCore import QEvent, Qt, QUrl, Signal
from PySide6.QtGui import QImage, QResizeEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextBrowser, QWidget

from app.words.language import tr
from engine.overrides import override


class MarkdownView(QTextBrowser):
    """View for Markdown of unknown origin. It ignores HTML and pictures, and only emits a signal for links."""

    link_chosen = Signal(str)

    def __init__(
        self, parent: QWidget | None = None, full_height: bool = False, is_own_text: bool = False
    ) -> None:
        """Create the view.

        *full_height*: make it as high as its text, for a page that scrolls. *is_own_text*: the text is part of the
        program and may contain tables. A table of another author could have an unlimited number of cells.
        """
        super().__init__(parent)
        feature = QTextDocument.MarkdownFeature
        tables = feature.MarkdownDialectGitHub if is_own_text else feature.MarkdownNoHTML
        self._reading = feature.MarkdownNoHTML | tables
        self._full_height = full_height
        self.document().setDocumentMargin(0.0)
        self.document().setIndentWidth(18.0)
        if full_height:
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setOpenLinks(False)
        self.setProperty("plain", "true")
        self.setAccessibleName(tr("Text"))
        self.anchorClicked.connect(lambda url: self.link_chosen.emit(url.toString()))

    def show_text(self, text: str) -> None:
        """Show *text*, which is Markdown."""
        self.document().setMarkdown(text.strip(), self._reading)
        self.moveCursor(QTextCursor.MoveOperation.Start)  # otherwise the view would show the end of the text
        self._fit_height()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_height()

    def _fit_height(self) -> None:
        if self._full_height:
            self.document().setTextWidth(self.viewport().width())
            self.setFixedHeight(round(self.document().size().height()) + 2)

    def loadResource(self, type: int, name: QUrl | str) -> object:
        """Return an empty image for every resource. Otherwise the document would read local files."""
        return QImage(1, 1, QImage.Format.Format_ARGB32)
