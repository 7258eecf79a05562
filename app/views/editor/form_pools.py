"""Table of a scenario's variant pools: name, alternatives, and group of pools that are picked together."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QPushButton, QTableWidget, QTableWidgetItem, QWidget

from app.files.scenario_edit import ScenarioEditError, read_value, remove_value, set_value
from app.views.editor.form_schema import VARIANTS_SECTION
from app.widgets.layouts import build_widget_column
from app.words.language import mark, tr
from engine.overrides import override

ENTRY_SEPARATOR: Final = " | "
"""Separator between the entries of a pool. A comma would not work, because an entry may contain one."""


class VariantPool(Struct, frozen=True):
    """Pool of alternatives for a variant. The pools of one group are picked together."""

    name: str
    entries: tuple[object, ...]
    group: str = ""
    """Name of the group. Empty if the pool is picked alone."""

    @property
    def path(self) -> tuple[str, ...]:
        """Path of the pool in the scenario file."""
        return (VARIANTS_SECTION, self.group, self.name) if self.group else (VARIANTS_SECTION, self.name)

    @property
    def entries_text(self) -> str:
        """Entries as the author types them."""
        return ENTRY_SEPARATOR.join(str(entry) for entry in self.entries)


def list_pools(data: Mapping[str, object]) -> list[VariantPool]:
    """Return the pools in *data*, the contents of a scenario. Omit invalid pools."""
    variants = data.get(VARIANTS_SECTION)
    new_pools: list[VariantPool] = []
    for name, pool in variants.items() if isinstance(variants, Mapping) else ():
        named_pools = pool.items() if isinstance(pool, Mapping) else [("", pool)]
        new_pools += [
            VariantPool(inner or name, tuple(entries), name if inner else "")
            for inner, entries in named_pools
            if isinstance(entries, list)
        ]
    return new_pools


def parse_entries(typed_text: str) -> tuple[object, ...]:
    """Convert typed text to entries. They are numbers if all of them are valid numbers."""
    words = [word.strip() for word in typed_text.split(ENTRY_SEPARATOR.strip()) if word.strip()]
    for number in (int, float):
        try:
            return tuple(number(word) for word in words)
        except ValueError:
            continue
    return tuple(words)


def create_pool(pools: Sequence[VariantPool]) -> VariantPool:
    """Return a new pool with an unused name and two sample entries."""
    used_names, number = {pool.name for pool in pools} | {pool.group for pool in pools}, 1
    while f"pool_{number}" in used_names:
        number += 1
    return VariantPool(f"pool_{number}", (10, 20))


def replace_pool(text: str, old_pool: VariantPool | None, new_pool: VariantPool | None) -> str:
    """Return *text* with *old_pool* replaced by *new_pool*. Without *old_pool*, a pool is added.

    Without *new_pool*, the old pool is removed. Raises ScenarioEditError.
    """
    if old_pool is not None and (new_pool is None or new_pool.path != old_pool.path):
        text = _remove_pool(text, old_pool)
    if new_pool is None:
        return text
    return set_value(text, new_pool.path, list(new_pool.entries))


def edit_pool(pool: VariantPool, column: int, typed_text: str) -> VariantPool:
    """Return *pool* with the typed text in *column* (0: name, 1: entries, 2: group).

    Raises ScenarioEditError if the name or the entries are invalid.
    """
    typed_text = typed_text.strip()
    if column == 1:
        entries = parse_entries(typed_text)
        if len(entries) < 2:
            raise ScenarioEditError(
                tr("A pool of values needs at least two entries, separated by |: 10 | 20 | 40")
            )
        return replace(pool, entries=entries)
    if column == 0 and not typed_text:
        raise ScenarioEditError(
            tr("A pool of values needs a name. Texts refer to it as {name}.").format(name="{name}")
        )
    return replace(pool, name=typed_text) if column == 0 else replace(pool, group=typed_text)


def _remove_pool(text: str, pool: VariantPool) -> str:
    text = remove_value(text, pool.path)
    for length in (2, 1):  # also remove the group if it is now empty, then the table of variants
        path = pool.path[:length]
        if len(path) < len(pool.path) and not read_value(text, path):
            text = remove_value(text, path)
    return text


POOL_COLUMNS: Final = (
    (
        mark("Name"),
        mark(
            "Texts refer to the pool of values as {name}, in braces. Use lowercase letters, digits and _, at "
            "most 30 characters."
        ),
    ),
    (mark("Values (separated by |)"), mark("2 to 50 possible values: all texts, or all numbers.")),
    (
        mark("Group (picked together)"),
        mark(
            "Pools of values in one group are picked together: all use their first entry, or all use their "
            "second entry, and so on."
        ),
    ),
)

CELL_CHARACTERS_MIN: Final = 8
"""Minimum number of visible characters of a cell."""

ChangeText = Callable[[Callable[[str], str]], bool]
"""Function that applies a change to the text and returns whether it succeeded."""


class PoolTable(QWidget):
    """Table with one row per pool. F2 or typing edits a cell, Insert adds a row, and Delete removes a row."""

    def __init__(
        self, change: ChangeText, refuse: Callable[[str], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._change, self._refuse = change, refuse
        self._pools: Sequence[VariantPool] = ()
        self.table = QTableWidget(0, len(POOL_COLUMNS))
        self.table.setAccessibleName(tr("Variants"))
        self.table.setHorizontalHeaderLabels([tr(title) for title, _ in POOL_COLUMNS])
        for index, (_, column_tip) in enumerate(POOL_COLUMNS):
            item = self.table.horizontalHeaderItem(index)
            if item is not None:
                item.setToolTip(tr(column_tip))
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(CELL_CHARACTERS_MIN * self.fontMetrics().averageCharWidth())
        self.table.verticalHeader().hide()
        self.table.setTabKeyNavigation(False)
        self.table.installEventFilter(self)
        self.table.itemChanged.connect(self._on_changed)
        self.add, self.remove = QPushButton(tr("Add")), QPushButton(tr("Remove"))
        self.add.clicked.connect(self._add_pool)
        self.remove.clicked.connect(self._remove)
        buttons = QHBoxLayout()
        for button in (self.add, self.remove):
            button.setProperty("small", "true")
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        build_widget_column((self.table, 1), buttons, parent=self, margins=(2, 2, 10, 2))

    def show_data(self, data: Mapping[str, object]) -> None:
        """Show the pools in *data* and keep the selected cell."""
        found_pools = list_pools(data)
        if found_pools == self._pools and self.table.rowCount() == len(found_pools):
            return
        self._pools = found_pools
        self.table.blockSignals(True)
        row, column = self.table.currentRow(), self.table.currentColumn()
        self.table.setRowCount(len(found_pools))
        for index, pool in enumerate(found_pools):
            for position, text in enumerate((pool.name, pool.entries_text, pool.group)):
                item = QTableWidgetItem(text)
                item.setToolTip(tr(POOL_COLUMNS[position][1]))
                self.table.setItem(index, position, item)
        if found_pools:
            self.table.setCurrentCell(max(0, min(row, len(found_pools) - 1)), max(0, column))
        self.table.blockSignals(False)
        self.remove.setEnabled(bool(found_pools))

    def select_pool(self, name: str) -> None:
        """Select the row of the pool or group *name*."""
        for row, pool in enumerate(self._pools):
            if name in (pool.name, pool.group):
                self.table.setCurrentCell(row, 0)
                return

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            for key, do in ((Qt.Key.Key_Insert, self._add_pool), (Qt.Key.Key_Delete, self._remove)):
                if event.key() == key:
                    do()
                    return True
        return super().eventFilter(watched, event)

    def _on_changed(self, item: QTableWidgetItem) -> None:
        before = self._pools[item.row()]
        try:
            new_pool = edit_pool(before, item.column(), item.text())
        except ScenarioEditError as problem:
            self._restore_cells()
            self._refuse(str(problem))
            return
        if new_pool != before:
            self._replace_pool(before, new_pool)

    def _add_pool(self) -> None:
        row = len(self._pools)
        if self._replace_pool(None, create_pool(self._pools)):
            self.table.setCurrentCell(row, 0)
            self.table.setFocus()

    def _remove(self) -> None:
        row = self.table.currentRow()
        if 0 <= row < len(self._pools):
            self._replace_pool(self._pools[row], None)

    def _replace_pool(self, old_pool: VariantPool | None, new_pool: VariantPool | None) -> bool:
        if self._change(lambda text: replace_pool(text, old_pool, new_pool)):
            return True
        self._restore_cells()
        return False

    def _restore_cells(self) -> None:
        """Replace typed cell contents by the values in the scenario text."""
        self.table.blockSignals(True)
        for index, pool in enumerate(self._pools):
            for position, text in enumerate((pool.name, pool.entries_text, pool.group)):
                item = self.table.item(index, position)
                if item is not None:
                    item.setText(text)
        self.table.blockSignals(False)
