"""Page that shows the contents of a file from another person, before any part of it runs."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QIcon, QKeySequence, QPainter, QPalette, QPixmap, QShortcut
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.widgets import theme
from app.widgets.layouts import EmptySpace, build_row, build_widget_column
from app.widgets.tables import TableColumn, TableModel, TableView, escape_tip
from app.words import formatting
from app.words.language import mark, tr, trn
from engine.drill.authoring import limits
from engine.drill.authoring.scenario import LINKS_MAX, ScenarioContents, escape_invisible
from engine.drill.authoring.schema import DRILL_LENGTH_MAX_S
from engine.overrides import override


class FileFactRow(Struct, frozen=True):
    """Row with a fact about the file."""

    label: str
    """Label of the fact."""
    value: str
    is_spoiler: bool = False
    """True if the fact reveals something that a learner should find out in the drill."""


FACT_COLUMNS: Final[tuple[TableColumn[FileFactRow], ...]] = (
    TableColumn(title=mark("Item"), text=lambda fact: fact.label, sample="Timeline events"),
    TableColumn(title=mark("In this file"), text=lambda fact: fact.value, tip=lambda fact: fact.value),
)

TABLE_LABELS: Final = {
    "servers": mark("Servers"),
    "databases": mark("Databases"),
    "clients": mark("Client applications"),
    "timeline": mark("Timeline events"),
    "goals": mark("Goals"),
    "forbidden states": mark("Forbidden states"),
    "questions": mark("Questions"),
    "hints": mark("Hints"),
    "steps of the solution": mark("Solution steps"),
    "rules of the score": mark("Scoring rules"),
}


def list_scenario_facts(contents: ScenarioContents) -> list[FileFactRow]:
    """Return facts about a scenario without running it.

    All texts are plain, and invisible characters are escaped.
    """
    unverified = tr("{text} (according to the file; not verified)")
    author = unverified.format(text=contents.author) if contents.author else tr("not named in the file")
    texts = ", ".join(f"{key} {formatting.format_number(size)}" for key, size in contents.texts)
    does = ", ".join(f"{verb} × {count}" for verb, count in contents.verbs)
    ends = (
        formatting.format_seconds(contents.length_s, 0)
        if contents.length_s
        else tr("when the learner ends the drill")
    )
    pictures = trn("{n} picture; not loaded", "{n} pictures; not loaded", contents.images)
    links = tr("links: {n}; shown as text only")
    facts = [
        FileFactRow(tr("Title"), contents.title),
        FileFactRow(tr("Author"), author),
        FileFactRow(tr("SHA-256"), contents.sha256),
        FileFactRow(tr("Size"), tr("{n} characters").format(n=formatting.format_number(contents.characters))),
        *(
            FileFactRow(tr(TABLE_LABELS[table_name]), formatting.format_number(count))
            for table_name, count in contents.counts
        ),
        FileFactRow(tr("Automatic actions"), does or tr("none"), is_spoiler=True),
        FileFactRow(tr("Ends"), ends),
        FileFactRow(tr("Characters of text"), texts),
        FileFactRow(tr("Pictures"), pictures.format(n=contents.images) if contents.images else tr("none")),
        FileFactRow(
            tr("Links"), links.format(n=_format_link_count(contents.links)) if contents.links else tr("none")
        ),
        *(FileFactRow(tr("Link"), link) for link in contents.links[:LINKS_MAX]),
        *(FileFactRow(tr("Named source"), source) for source in contents.sources),
        FileFactRow(
            tr("Limits"),
            tr(
                "at most {databases} databases and {hours} simulated hours; T-SQL can only access "
                "the simulation"
            ).format(
                databases=limits.DATABASES_MAX,
                hours=formatting.format_plain_number(DRILL_LENGTH_MAX_S / 3600),
            ),
        ),
    ]
    return [
        FileFactRow(fact.label, escape_invisible(fact.value).replace("\n", " "), fact.is_spoiler)
        for fact in facts
    ]


def _format_link_count(links: Sequence[str]) -> str:
    return str(len(links)) if len(links) <= LINKS_MAX else f"> {LINKS_MAX}"


BUNDLE_ITEM_HEADINGS: Final = (mark("Title"), mark("Level"), mark("Minutes"), mark("Author"), mark("Remark"))
ROW_HEIGHT_LINES: Final = 1.5
"""Height of a row in line heights."""
VISIBLE_ROWS_MIN: Final = 4
"""Minimum number of visible rows, including the heading."""
COLUMN_WIDTH_MAX_LINES: Final = 26
"""Maximum width of a column in line heights."""
_ITEM_ROLE: Final = Qt.ItemDataRole.UserRole


class BundleItem(Struct, frozen=True):
    """Drill or run of a bundle. All texts may come from a stranger."""

    name: str
    """Key by which the caller identifies the item. Keys of drills and runs differ."""
    title: str
    facts: Sequence[FileFactRow]
    text: str
    level: str = ""
    minutes: str = ""
    author: str = ""
    remark: str = ""
    is_importable: bool = True

    @property
    def cells(self) -> list[str]:
        """Cells of the row, with invisible characters escaped."""
        texts = (self.title, tr(self.level), self.minutes, self.author, self.remark)
        return [escape_invisible(text).replace("\n", " ") for text in texts]


class ImportList(QWidget):
    """List of items with check boxes. An item that cannot be imported has no check box and shows the reason."""

    item_shown = Signal(object)
    """Signal: item whose contents should be shown."""
    selection_changed = Signal(int)
    """Signal: number of checked items."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tree = QTreeWidget()
        self.tree.setAccessibleName(tr("Contents of the bundle"))
        self.tree.setRootIsDecorated(False)
        self.tree.setUniformRowHeights(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setHeaderLabels([tr(heading) for heading in BUNDLE_ITEM_HEADINGS])
        header = self.tree.header()
        header.setStretchLastSection(True)
        self.tree.currentItemChanged.connect(self._show_row)
        self.tree.itemChanged.connect(lambda *_: self.selection_changed.emit(len(self.list_names())))
        self._count = QLabel()
        self._count.setProperty("muted", "true")
        select_all, select_none = QPushButton(tr("Select all")), QPushButton(tr("Select none"))
        select_all.clicked.connect(lambda: self._set_check_state(Qt.CheckState.Checked))
        select_none.clicked.connect(lambda: self._set_check_state(Qt.CheckState.Unchecked))
        self.selection_changed.connect(self._show_count)
        self.controls = QWidget()
        """Space for the row of buttons of the page."""
        build_row(select_all, select_none, self._count, parent=self.controls, margins=0)
        build_widget_column(self.tree, parent=self, margins=0)

    def show_items(self, items: Sequence[BundleItem]) -> None:
        """List *items*. Check all items that can be imported."""
        line = self.fontMetrics().height()
        blank = QPixmap(line, line)
        blank.fill(Qt.GlobalColor.transparent)
        self.tree.setIconSize(blank.size())
        self.tree.setMinimumHeight(round(line * VISIBLE_ROWS_MIN * ROW_HEIGHT_LINES))
        self.tree.blockSignals(True)
        self.tree.clear()
        for item in items:
            row = QTreeWidgetItem(item.cells)
            row.setData(0, _ITEM_ROLE, item)
            row.setSizeHint(len(BUNDLE_ITEM_HEADINGS) - 1, QSize(0, round(line * ROW_HEIGHT_LINES)))
            row.setToolTip(len(BUNDLE_ITEM_HEADINGS) - 1, escape_tip(item.cells[-1]))
            if item.is_importable:
                row.setFlags(row.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                row.setCheckState(0, Qt.CheckState.Checked)
            else:
                row.setIcon(0, QIcon(blank))  # align the text with rows that have a check box
            self.tree.addTopLevelItem(row)
        self.tree.blockSignals(False)
        for column in range(len(BUNDLE_ITEM_HEADINGS) - 1):
            self.tree.resizeColumnToContents(column)
            # in some styles, the check box is larger than Qt assumes
            wide = self.tree.columnWidth(column) + line
            self.tree.setColumnWidth(column, min(wide, line * COLUMN_WIDTH_MAX_LINES))
        rows = self._list_rows()
        if rows:
            self.tree.setCurrentItem(rows[0])
            self._show_row(rows[0])
        self.selection_changed.emit(len(self.list_names()))

    def list_names(self) -> list[str]:
        """Return the names of the checked items."""
        return [row.data(0, _ITEM_ROLE).name for row in self._list_rows() if _is_checked(row)]

    def _list_rows(self) -> list[QTreeWidgetItem]:
        top_level_items = (self.tree.topLevelItem(number) for number in range(self.tree.topLevelItemCount()))
        return [row for row in top_level_items if row is not None]

    def _set_check_state(self, state: Qt.CheckState) -> None:
        for row in self._list_rows():
            if row.data(0, _ITEM_ROLE).is_importable:
                row.setCheckState(0, state)

    def _show_row(self, row: QTreeWidgetItem | None, _: object = None) -> None:
        if row is not None:
            self.item_shown.emit(row.data(0, _ITEM_ROLE))

    def _show_count(self, count: int) -> None:
        text = tr("{n} of {of} selected")
        self._count.setText(text.format(n=count, of=self.tree.topLevelItemCount()))


def _is_checked(row: QTreeWidgetItem) -> bool:
    return bool(row.data(0, _ITEM_ROLE).is_importable) and row.checkState(0) == Qt.CheckState.Checked


MARGIN_PX: Final = 3


def fit_row_heights(table: QTableView) -> None:
    """Make the rows of *table* as high as their wrapped texts. Use it only for tables with few rows."""
    table.setItemDelegate(WrappingDelegate(table))
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    timer = QTimer(table, singleShot=True, interval=0)
    timer.timeout.connect(table.resizeRowsToContents)
    table.horizontalHeader().sectionResized.connect(lambda *_: timer.start())


class WrappingDelegate(QStyledItemDelegate):
    """Delegate that wraps text between words, or inside a word if necessary."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        self._table = table

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        ground = QStyleOptionViewItem(option)
        self.initStyleOption(ground, index)
        text, ground.text = ground.text, ""
        style = ground.widget.style() if ground.widget is not None else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, ground, painter, ground.widget)
        is_selected = bool(ground.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole.HighlightedText if is_selected else QPalette.ColorRole.Text
        painter.save()
        painter.setFont(ground.font)
        painter.setPen(ground.palette.color(role))
        room = ground.rect.adjusted(MARGIN_PX, 0, -MARGIN_PX, 0)
        painter.drawText(room, _get_wrap_flags(text, room.width(), QFontMetrics(ground.font)), text)
        painter.restore()

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        cell_option = QStyleOptionViewItem(option)
        self.initStyleOption(cell_option, index)
        metrics = QFontMetrics(cell_option.font)
        width = max(1, self._table.columnWidth(index.column()) - 2 * MARGIN_PX)
        box = metrics.boundingRect(
            QRect(0, 0, width, 0), _get_wrap_flags(cell_option.text, width, metrics), cell_option.text
        )
        return QSize(box.width() + 2 * MARGIN_PX, box.height() + 6)


def _get_wrap_flags(text: str, width: int, metrics: QFontMetrics) -> int:
    """Return Qt flags that wrap between words, or anywhere if a single word is too wide."""
    is_too_wide = any(metrics.horizontalAdvance(word) > width for word in text.split(" "))
    wrap = Qt.TextFlag.TextWrapAnywhere if is_too_wide else Qt.TextFlag.TextWordWrap
    return int(wrap | Qt.AlignmentFlag.AlignVCenter)


SHOWN_TEXT_LENGTH_MAX: Final = 200_000
"""Maximum number of displayed characters of a file. Assumed: nobody reads more, and the window stays fast."""


class QuarantinePage(QWidget):
    """Page about a file from another person. No part of the file runs before the signal `accepted`."""

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
        self.facts = TableView(TableModel(FACT_COLUMNS), tr("Contents of the file"))
        header = self.facts.horizontalHeader()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        fit_row_heights(self.facts)
        self.text = _FileText()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.text.setAccessibleName(tr("The file as text"))
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.facts)
        splitter.addWidget(self.text)
        splitter.setSizes([660, 480])
        splitter.setChildrenCollapsible(False)
        self._facts: Sequence[FileFactRow] = ()
        self._full_text = ""
        self.author = QCheckBox(tr("Open as author: show solution and answers"))
        self.author.setToolTip(tr("Not recommended if you want to play the drill"))
        self.author.toggled.connect(lambda _: self._update_spoilers())
        self.items = ImportList()
        self.items.item_shown.connect(self._show_item)
        self.items.selection_changed.connect(self._show_selected_count)
        self._all = QSplitter(Qt.Orientation.Vertical)
        self._all.addWidget(self.items)
        self._all.addWidget(splitter)
        self._all.setSizes([200, 400])
        self._all.setChildrenCollapsible(False)
        self.decline, self.accept = QPushButton(), QPushButton()
        self.accept.setProperty("primary", "true")
        self.accept.clicked.connect(self.accepted)
        self.decline.clicked.connect(self.declined)
        context = Qt.ShortcutContext.WidgetWithChildrenShortcut
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.declined.emit, context=context)
        buttons = build_row(self.decline, EmptySpace(12), self.items.controls, 0, self.accept)
        build_widget_column(
            self._title,
            self._message,
            (self._all, 1),
            self.author,
            buttons,
            parent=self,
            margins=(28, 18, 28, 20),
            spacing=12,
        )
        self._show_font()
        theme.call_after_events(self, theme.FONT_EVENTS, self._show_font)

    def show_file(self, file: str, facts: Sequence[FileFactRow], text: str) -> None:
        """Show *facts* about *file* in the table and its *text* next to it."""
        message = tr(
            "{file} comes from another source. No part of it has run yet. A drill contains no "
            "programs. Check its contents before you play it."
        )
        self._build_head(tr("File from another source"), message.format(file=file))
        self.decline.setText(tr("Do not open"))
        self.accept.setText(tr("Open"))
        self.accept.setToolTip(tr("This exact file will open without a question in the future"))
        self.accept.setEnabled(True)
        self.items.hide()
        self.items.controls.hide()
        self._show_contents(facts, text)

    def show_bundle(self, file: str, title: str, items: Sequence[BundleItem]) -> None:
        """Show the items of the bundle *file*, so that the user can select them."""
        text = tr(
            "{file} comes from another source. No part of it has run yet. Choose the drills to "
            "import. Existing drills are never replaced."
        )
        self._build_head(tr("Bundle: {title}").format(title=escape_invisible(title)), text.format(file=file))
        self.decline.setText(tr("Import nothing"))
        self.accept.setToolTip(tr("Imported drills appear on the start page and open without a question"))
        self.items.show()
        self.items.controls.show()
        self.items.show_items(items)

    def _build_head(self, title: str, text: str) -> None:
        self.author.setChecked(False)
        self._title.setText(title)
        self._message.setText(escape_invisible(text))

    def _show_item(self, item: BundleItem) -> None:
        self._show_contents(item.facts, item.text)

    def _show_contents(self, facts: Sequence[FileFactRow], text: str) -> None:
        self._facts, self._full_text = facts, text
        self._update_spoilers()

    def _update_spoilers(self) -> None:
        """Show facts and text without spoilers, unless the user opens the file as its author."""
        text, shows_everything = self._full_text, self.author.isChecked()
        self.facts.table.replace_rows(
            [fact for fact in self._facts if shows_everything or not fact.is_spoiler]
        )
        if not shows_everything:
            text = tr("The text contains the solution and the answers. To see it, choose “Open as author”.")
        shown_text = text if len(text) <= SHOWN_TEXT_LENGTH_MAX else text[:SHOWN_TEXT_LENGTH_MAX] + "\n…"
        self.text.setPlainText(escape_invisible(shown_text))
        self.facts.selectRow(0)

    def _show_selected_count(self, count: int) -> None:
        self.accept.setText(tr("Import {n}").format(n=count))
        self.accept.setEnabled(count > 0)

    def focus_list(self) -> None:
        """Focus the list of items, or the table of facts."""
        (self.items.tree if self.items.isVisibleTo(self) else self.facts).setFocus()

    def _show_font(self) -> None:
        self._title.setFont(theme.resize_font(self.font(), 1.8, bold=True))


class _FileText(QPlainTextEdit):
    """Text view for the unchanged text of a file."""

    def __init__(self) -> None:
        super().__init__()
        self.setFont(theme.build_fixed_font())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ApplicationFontChange:
            self.setFont(theme.build_fixed_font())
