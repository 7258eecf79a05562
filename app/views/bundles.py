"""Dialogs for imported bundles and for creating a bundle of drills."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.widgets.layouts import build_row, build_widget_column, mark_primary
from app.widgets.scroll_container import fit_on_screen
from app.words.language import tr, trn
from engine.drill.authoring.scenario import escape_invisible

TITLE_LENGTH_MAX: Final = 200
"""Maximum number of characters of a bundle's title. Titles of scenarios have the same limit."""
ROW_HEIGHT_LINES: Final = 1.5
"""Height of a row in line heights."""
_KEY_ROLE, _PART_ROLE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class BundleRow(Struct, frozen=True):
    """Bundle from which drills or runs were imported."""

    key: str
    title: str
    author: str
    """Author and license, if known."""
    drills: Sequence[tuple[str, str]]
    """(name, displayed title) of each drill. The signals of the dialog contain the name."""
    runs: Sequence[tuple[str, str]]
    """(name, displayed title) of each run."""


class ImportedBundlesDialog(QDialog):
    """Dialog that lists imported bundles. It opens their drills and runs, and removes whole bundles."""

    drill_wanted = Signal(str)
    run_wanted = Signal(str)
    removal_wanted = Signal(str, str)
    """Signal: key and title of the bundle to remove."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Imported bundles"))
        self.tree = QTreeWidget()
        self.tree.setAccessibleName(self.windowTitle())
        self.tree.setHeaderHidden(True)
        self.tree.currentItemChanged.connect(lambda *_: self._show_buttons())
        self.tree.itemActivated.connect(lambda *_: self._open())
        self._empty_label = QLabel(tr("No bundles. Open a bundle, or drop it on the window."), wordWrap=True)
        self._empty_label.setProperty("muted", "true")
        self.open_button, self.remove = QPushButton(tr("&Open")), QPushButton(tr("&Remove this bundle…"))
        close = QPushButton(tr("&Close"))
        self.open_button.clicked.connect(self._open)
        self.remove.clicked.connect(self._remove)
        close.clicked.connect(self.close)
        for button in (self.open_button, self.remove, close):
            button.setAutoDefault(False)
        row = build_row(self.remove, 0, self.open_button, close)
        build_widget_column(self._empty_label, (self.tree, 1), row, parent=self, spacing=10)
        em = self.fontMetrics().height()
        fit_on_screen(self, 34 * em, 24 * em)

    def show_bundles(self, bundles: Sequence[BundleRow]) -> None:
        """Show the imported bundles."""
        self.tree.clear()
        for bundle in bundles:
            count = trn("{n} drill", "{n} drills", len(bundle.drills)).format(n=len(bundle.drills))
            parts = [
                escape_invisible(bundle.title),
                *([escape_invisible(bundle.author)] if bundle.author else []),
                count,
            ]
            top = self._build_row("  ·  ".join(parts))
            top.setData(0, _KEY_ROLE, bundle)
            for kind, entries in (("drill", bundle.drills), ("run", bundle.runs)):
                for key, text in entries:
                    part = self._build_row(escape_invisible(text))
                    part.setData(0, _PART_ROLE, (kind, key))
                    top.addChild(part)
            self.tree.addTopLevelItem(top)
            top.setExpanded(True)
        self._empty_label.setVisible(not bundles)
        if bundles:
            first_item = self.tree.topLevelItem(0)
            assert first_item is not None
            self.tree.setCurrentItem(first_item)
        self._show_buttons()

    def _build_row(self, text: str) -> QTreeWidgetItem:
        row = QTreeWidgetItem([text])
        row.setSizeHint(0, QSize(0, round(self.fontMetrics().height() * ROW_HEIGHT_LINES)))
        return row

    def _show_buttons(self) -> None:
        item = self.tree.currentItem()
        self.remove.setEnabled(item is not None)
        self.open_button.setEnabled(item is not None and item.data(0, _PART_ROLE) is not None)

    def _open(self) -> None:
        item = self.tree.currentItem()
        part = item.data(0, _PART_ROLE) if item is not None else None
        if part is not None:
            self.close()
            (self.drill_wanted if part[0] == "drill" else self.run_wanted).emit(part[1])

    def _remove(self) -> None:
        item = self.tree.currentItem()
        top = (item.parent() or item) if item is not None else None
        if top is not None:
            kept_file = top.data(0, _KEY_ROLE)
            self.removal_wanted.emit(kept_file.key, kept_file.title)


class NewBundleDialog(QDialog):
    """Dialog to select drills and enter the title of their bundle."""

    def __init__(self, drills: Sequence[tuple[str, str]], author: str, parent: QWidget | None = None) -> None:
        """Create the dialog. *drills*: name and title of each drill that can be selected."""
        super().__init__(parent)
        self.setWindowTitle(tr("Export as a bundle"))
        label = QLabel(tr("A bundle is one file with drills to share. Shipped drills need not be included."))
        label.setWordWrap(True)
        label.setProperty("muted", "true")
        self.title_field, self.author, self.licence = QLineEdit(), QLineEdit(author), QLineEdit()
        self.title_field.setPlaceholderText(tr("for example: Mirroring, week 1"))
        self.licence.setPlaceholderText(tr("for example: CC BY 4.0"))
        form = QFormLayout()
        for text, field in (
            (tr("&Title"), self.title_field),
            (tr("&Author"), self.author),
            (tr("&License"), self.licence),
        ):
            field.setMaxLength(TITLE_LENGTH_MAX)
            form.addRow(text, field)
        self.drills = QListWidget()
        self.drills.setAccessibleName(tr("Drills in the bundle"))
        for name, title in drills:
            item = QListWidgetItem(f"{escape_invisible(title)}  ·  {name}")
            item.setData(_PART_ROLE, name)
            item.setSizeHint(QSize(0, round(self.fontMetrics().height() * ROW_HEIGHT_LINES)))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked)
            self.drills.addItem(item)
        self.drills.itemChanged.connect(lambda _: self._show_button())
        self.title_field.textChanged.connect(lambda _: self._show_button())
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.save = self.buttons.addButton(tr("Save as…"), QDialogButtonBox.ButtonRole.AcceptRole)
        mark_primary(self.save)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        build_widget_column(label, form, (self.drills, 1), self.buttons, parent=self)
        em = self.fontMetrics().height()
        fit_on_screen(self, 32 * em, 26 * em)
        self._show_button()

    def list_selected_drills(self) -> list[str]:
        """Return the names of the selected drills."""
        items = (self.drills.item(row) for row in range(self.drills.count()))
        return [item.data(_PART_ROLE) for item in items if item.checkState() == Qt.CheckState.Checked]

    def _show_button(self) -> None:
        self.save.setEnabled(bool(self.list_selected_drills() and self.title_field.text().strip()))
