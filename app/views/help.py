"""Help dialog with a page for each panel, from assets/help. The pages link to each other."""

from functools import cache
from importlib.resources import files
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QStyle, QWidget

from app.widgets.docks import DOCK_SPECS
from app.widgets.layouts import build_row
from app.widgets.markdown_view import MarkdownView
from app.widgets.screen_reader import make_selected_row_current
from app.widgets.scroll_container import fit_on_screen, set_readable_minimum_size
from app.words import language
from app.words.language import tr

HELP_PAGE_ORDER: Final = (
    "start", "topology", "console", "time", "brief", "charts", "monitor", "mirroring_states",
    "availability_groups", "logs", "timing", "editor", "classes",
)  # fmt: skip
"""Pages in the order of the table of contents. The first line of a page is its title."""

HELP_PAGE_BY_VIEW: Final = {dock.name: dock.help_page for dock in DOCK_SPECS} | {
    "timeline": "time",
    "transport": "time",
    "editor": "editor",
}
"""Name of a view -> its help page."""


def read_help_page(page: str) -> str:
    """Return the Markdown text of *page*, in the interface language if a translation exists."""
    return _read_text(page, language.get_current_language())


@cache
def _read_text(page: str, language: str) -> str:
    pages = files("assets") / "help"
    translated = pages / language / f"{page}.md"
    return (translated if translated.is_file() else pages / f"{page}.md").read_text(encoding="utf-8")


def get_page_title(page: str) -> str:
    """Return the title of *page*."""
    return read_help_page(page).partition("\n")[0].removeprefix("# ")


DIALOG_SIZE_MIN_LINES: Final = (32, 16)
"""Minimum width and height in line heights."""


class HelpDialog(QDialog):
    """Help dialog: table of contents on the left, a page on the right. A drill can continue meanwhile."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Help"))
        self._contents = QListWidget()
        self._contents.setAccessibleName(tr("Contents"))
        make_selected_row_current(self._contents)
        for page in HELP_PAGE_ORDER:
            item = QListWidgetItem(get_page_title(page))
            item.setData(Qt.ItemDataRole.UserRole, page)
            self._contents.addItem(item)
        bar = self._contents.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        self._contents.setMinimumWidth(self._contents.sizeHintForColumn(0) + bar)
        self._page = MarkdownView(is_own_text=True)
        self._page.setAccessibleName(tr("Page"))
        self._page.document().setDocumentMargin(16.0)
        self._page.link_chosen.connect(lambda link: self.show_page(link.removesuffix(".md")))
        self._contents.currentItemChanged.connect(lambda item, _: self._show_item(item))
        build_row((self._contents, 1), (self._page, 3), parent=self)
        set_readable_minimum_size(self, *DIALOG_SIZE_MIN_LINES)
        fit_on_screen(self, 120 * self.fontMetrics().averageCharWidth(), 36 * self.fontMetrics().height())
        self._contents.setCurrentRow(0)

    def show_page(self, page: str) -> None:
        """Show *page*. An unknown page has no effect."""
        if page in HELP_PAGE_ORDER:
            self._contents.setCurrentRow(HELP_PAGE_ORDER.index(page))

    @property
    def page(self) -> str:
        """Name of the displayed page."""
        return HELP_PAGE_ORDER[self._contents.currentRow()]

    def _show_item(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self._page.show_text(read_help_page(item.data(Qt.ItemDataRole.UserRole)))
