"""Timeline view of the editor: faults and solution on a time axis, and as a list for keyboard use."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QItemSelectionModel, QObject, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QScrollArea,
    QSplitter,
    QToolButton,
    QWidget,
)

from app.files.scenario_edit import ScenarioEditError, copy_entry
from app.views.editor.add_fault_form import AddFaultForm
from app.views.editor.input_completion import list_names_in_text
from app.views.editor.timeline_canvas import TimelineCanvas
from app.views.editor.timeline_entries import (
    CONDITIONAL_FAULT,
    ENTRY_END,
    SOLUTION_STEP,
    WHOLE_ENTRY,
    WINDOW_FAULT,
    EntrySpan,
    Path,
    TimelineEntry,
    TimelinePlan,
    add_fault,
    describe_entry,
    describe_keys,
    find_latest_s,
    find_next_path,
    move_entries,
    move_span,
    parse_timeline,
    remove_entries,
)
from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.words.language import tr
from engine.overrides import override

_PATH_ROLE = Qt.ItemDataRole.UserRole


class TimelineList(QListWidget):
    """List with one row per entry and multiple selection. Except for `deselect`, its methods emit no signals."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Faults and steps of the solution"))
        self.setUniformItemSizes(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(3 * self.fontMetrics().height())
        self.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    @property
    def selected_paths(self) -> list[Path]:
        """Paths of the selected rows."""
        return [find_path(item) for item in self.selectedItems()]

    def show_entries(self, entries: Sequence[TimelineEntry], current: Path | None) -> None:
        """Show a row for each of *entries*. Keep the selection and also select *current*."""
        chosen_paths = {*self.selected_paths, current}
        self.blockSignals(True)
        self.clear()
        for entry in entries:
            item = QListWidgetItem(describe_entry(entry), self)
            item.setData(_PATH_ROLE, entry.path)
            words = " ".join(filter(None, (describe_entry(entry) + ".", entry.note)))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
            item.setToolTip(words)
            if entry.path == current:
                self.setCurrentItem(item)
        for row in range(self.count()):
            self.item(row).setSelected(find_path(self.item(row)) in chosen_paths)
        self.blockSignals(False)

    def select_path(self, path: Path, extend_selection: bool = False) -> None:
        """Select the row of *path*. If *extend_selection*, keep the other selected rows."""
        flags = QItemSelectionModel.SelectionFlag
        self.blockSignals(True)
        for row in range(self.count()):
            if find_path(self.item(row)) == path:
                self.setCurrentRow(row, flags.Select if extend_selection else flags.ClearAndSelect)
        self.blockSignals(False)

    def deselect(self, path: Path) -> None:
        """Deselect the row of *path*. Emit the change, as after a click."""
        for row in range(self.count()):
            if find_path(self.item(row)) == path:
                self.item(row).setSelected(False)


def find_path(item: QListWidgetItem) -> Path:
    """Return the path in the text of the entry that *item* shows."""
    path: Path = item.data(_PATH_ROLE)
    return path


ZOOM_STEP: Final = 1.5
ZOOM_MAX: Final = 60.0
ZOOM_KEYS: Final = {"+": ZOOM_STEP, "=": ZOOM_STEP, "-": 1 / ZOOM_STEP, "0": 0.0}
"""Key -> zoom factor of the axis. A factor of 0 shows the whole axis."""


class ZoomArea(QScrollArea):
    """Scroll area that shows the canvas at the width of the area or at a multiple of it."""

    def __init__(self, canvas: TimelineCanvas) -> None:
        super().__init__()
        self._canvas = canvas
        self.zoom = 1.0
        self.setWidget(canvas)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.horizontalScrollBar().valueChanged.connect(canvas.update)

    def zoom_by(self, factor: float, about_x: float | None = None) -> None:
        """Zoom by *factor*, or show the whole axis if it is 0.

        The point at *about_x* (default: the center) stays.
        """
        width = self.viewport().width()
        center_x = width / 2.0 if about_x is None else about_x
        scroll = self.horizontalScrollBar()
        share = (scroll.value() + center_x) / max(1, self._canvas.width())
        self.zoom = min(ZOOM_MAX, max(1.0, self.zoom * factor)) if factor else 1.0
        wide = round(width * self.zoom)
        self._canvas.setMinimumWidth(wide if self.zoom > 1.0 else 0)
        self._canvas.resize(wide, self._canvas.height())
        scroll.setRange(0, max(0, wide - width))
        scroll.setValue(round(share * wide - center_x))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.zoom > 1.0:
            self._canvas.setMinimumWidth(round(self.viewport().width() * self.zoom))

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            wheel_delta = event.angleDelta().y()
            if wheel_delta:
                self.zoom_by(ZOOM_STEP if wheel_delta > 0 else 1 / ZOOM_STEP, event.position().x())
            event.accept()
        else:
            super().wheelEvent(event)


ARROW_STEP_S: Final = 1.0
"""Step of an arrow key in seconds."""
SHIFT_ARROW_STEP_S: Final = 10.0
"""Step of an arrow key with Shift in seconds."""
FIRST_FAULT_DEFAULT_S: Final = 30.0
"""Default time of the first fault in a scenario. Assumed: enough time to read the first lines of the brief."""


class TimelineView(QWidget):
    """Timeline of a scenario text. For each change it emits the complete new text."""

    text_changed = Signal(str)
    """Signal: complete text after a change by the user."""
    path_chosen = Signal(object)
    """Signal: path in the text of the selected entry, for example ("timeline", 2) or ("solution", 0)."""
    edit_in_text_wanted = Signal(object)
    """Signal: path of an entry that the author wants to edit in the text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.text_now: Callable[[], str] = lambda: self._text
        """Function that returns the latest text, which may be newer than the view; changes apply to it."""
        self._plan = TimelinePlan(120.0)
        self._path: Path | None = None
        self._split_by_hand = False
        self.canvas = TimelineCanvas()
        self.list = TimelineList()
        self.message = QLabel()
        self.add_button = QPushButton(tr("Add fault…"))
        self.remove_button = QPushButton(tr("Remove"))
        self.area = ZoomArea(self.canvas)
        self.add_fault_form = AddFaultForm(lambda kind: list_names_in_text(self._text, kind))
        self._build()
        self.canvas.entry_chosen.connect(self._select_entry)
        self.canvas.entry_dropped.connect(self._move_entry)
        self.canvas.add_wanted.connect(self.begin_adding)
        self.canvas.selection_toggled.connect(self._toggle_selection)
        self.canvas.menu_wanted.connect(self._open_menu)
        self.canvas.height_changed.connect(self._share_height)
        self.canvas.installEventFilter(self)
        self.list.installEventFilter(self)
        self.list.currentItemChanged.connect(self._on_current)
        self.list.itemSelectionChanged.connect(self._show_chosen)
        self.list.customContextMenuRequested.connect(self._open_menu_of_list)
        self.add_button.clicked.connect(lambda: self.begin_adding())
        self.remove_button.clicked.connect(self._remove)
        self.add_fault_form.fault_wanted.connect(self._add_entries)
        self.add_fault_form.close_wanted.connect(self._end_adding)
        self._show_chosen()

    def _build(self) -> None:
        self.add_button.setToolTip(tr("Add a fault at the cursor (Insert, or a double click on the axis)"))
        self.remove_button.setToolTip(tr("Remove the selected fault (Delete)"))
        self.message.setProperty("muted", "true")
        self.message.setWordWrap(True)
        self.message.setContentsMargins(6, 3, 6, 3)
        bar = build_row(margins=(6, 4, 6, 4), spacing=6)
        for button in (self.add_button, self.remove_button):
            button.setProperty("small", "true")
            bar.addWidget(button)
        bar.addStretch(1)
        self._zooms = []
        for icon, words, factor in (
            ("zoom-out", tr("Show a longer time span (-)"), 1 / ZOOM_STEP),
            ("zoom-in", tr("Show a shorter time span (+)"), ZOOM_STEP),
            ("fit", tr("Show the whole drill (0)"), 0.0),
        ):
            tool = QToolButton()
            tool.setToolTip(words)
            tool.setAccessibleName(words)
            tool.clicked.connect(lambda _=False, zoom_factor=factor: self.area.zoom_by(zoom_factor))
            bar.addWidget(tool)
            self._zooms.append((tool, icon))
        widget = QWidget()
        build_widget_column(self.list, self.add_fault_form, parent=widget, margins=0)
        self.add_fault_form.hide()
        self.body = _TimelineSplitter(Qt.Orientation.Vertical)
        self.body.addWidget(self.area)
        self.body.addWidget(widget)
        self.body.setChildrenCollapsible(False)
        self.body.splitterMoved.connect(self._on_split)
        self.body.resized.connect(self._share_height)
        build_widget_column(bar, (self.body, 1), self.message, parent=self, margins=0, spacing=0)
        self._apply_theme()

    def _apply_theme(self) -> None:
        colors, icon_px = theme.get_theme_tokens(self.palette()), self.fontMetrics().height()
        for tool, icon in self._zooms:
            tool.setIcon(theme.load_icon(icon, colors))
            tool.setIconSize(QSize(icon_px, icon_px))

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        looks = (QEvent.Type.PaletteChange, QEvent.Type.FontChange)
        if event.type() in looks and hasattr(self, "_zooms"):
            self._apply_theme()

    def _on_split(self) -> None:
        self._split_by_hand = True

    def _share_height(self) -> None:
        """Give the axis the height of its lanes and the list the rest, unless the user moved the splitter."""
        if self._split_by_hand and self.add_fault_form.isHidden():
            return
        scroll = self.area.horizontalScrollBar()
        needed_height = self.canvas.minimumHeight() + scroll.sizeHint().height() * (self.area.zoom > 1.0)
        room = self.body.height() - self.body.handleWidth()
        if not self.add_fault_form.isHidden():
            needed_height = min(needed_height, room - self.add_fault_form.minimumSizeHint().height())
        self.body.setSizes([max(1, needed_height), max(1, room - needed_height)])

    # --- display --------------------------------------------------------------------------------------------

    @Slot(str)
    def show_text(self, text: str) -> None:
        """Show *text* without emitting a signal.

        Keep the selection if *text* still has an entry at the selected path.
        """
        try:
            plan = parse_timeline(text)
        except ValueError:
            self._show_invalid_text()
            return
        self._text, self._plan = text, plan
        for widget in (self.body, self.add_button):
            widget.setEnabled(True)
        if plan.find_entry(self._path) is None:
            self._path = None
        self._rebuild()

    def _show_invalid_text(self) -> None:
        """Gray out the last contents while the text is not valid TOML, which is normal during typing."""
        self.canvas.cancel_drag()
        for widget in (self.body, self.add_button, self.remove_button):
            widget.setEnabled(False)
        self.message.show()
        self.message.setText(
            tr("The text is not valid TOML. The timeline is updated when it is valid again.")
        )

    def _rebuild(self) -> None:
        self.list.show_entries(self._plan.entries, self._path)
        self._show_chosen()
        self._share_height()

    def _show_chosen(self) -> None:
        entry = self._plan.find_entry(self._path)
        self.canvas.show_plan(
            self._plan, self._path, frozenset(entry.path for entry in self.selected_entries)
        )
        self.remove_button.setEnabled(
            any(timeline_entry.kind != SOLUTION_STEP for timeline_entry in self.selected_entries)
        )
        self.message.setText(describe_keys(self._plan, self.selected_entries, entry))
        self.message.setVisible(self.add_fault_form.isHidden())

    # --- selection ------------------------------------------------------------------------------------------

    def show_path(self, path: Path) -> None:
        """Select the entry at *path*, if it exists, without emitting a signal."""
        if self._plan.find_entry(path) is not None:
            blocked = self.blockSignals(True)
            self._select_entry(path)
            self.blockSignals(blocked)

    @property
    def selected_entries(self) -> list[TimelineEntry]:
        """Selected entries in the order of the list."""
        paths = self.list.selected_paths
        return [entry for entry in self._plan.entries if entry.path in paths]

    @Slot(object)
    def _select_entry(self, path: Path, extend_selection: bool = False) -> None:
        """Select the entry at *path*. If *extend_selection*, keep the other selected entries."""
        if self._plan.find_entry(path) is None:
            return
        self._path = path
        self.list.select_path(path, extend_selection)
        self._show_chosen()
        self._bring_into_view()
        self.path_chosen.emit(path)

    @Slot(object)
    def _toggle_selection(self, path: Path) -> None:
        """Add the entry at *path* to the selection, or remove it from the selection."""
        if path in {entry.path for entry in self.selected_entries} and len(self.selected_entries) > 1:
            self.list.deselect(path)
        else:
            self._select_entry(path, extend_selection=True)

    def _on_current(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self._path = find_path(item)
            self._show_chosen()
            self._bring_into_view()
            self.path_chosen.emit(self._path)

    def _bring_into_view(self) -> None:
        box = self.canvas.compute_box(self._path) if self._path is not None else None
        if box is not None:
            middle = box.center().toPoint()
            self.area.ensureVisible(middle.x(), middle.y(), 40, round(box.height()))

    def _select_adjacent_entry(self, offset: int, extend_selection: bool = False) -> bool:
        """Select the entry that is *offset* rows further. Return False if there is none."""
        paths = [entry.path for entry in self._plan.entries]
        new_index = (
            paths.index(self._path) + offset if self._path in paths else 0 if offset > 0 else len(paths) - 1
        )
        if not 0 <= new_index < len(paths):
            return False
        self._select_entry(paths[new_index], extend_selection)
        return True

    # --- changes --------------------------------------------------------------------------------------------

    def _change_text(self, text: str) -> None:
        """Show and emit the text after a change by the user."""
        if text == self._text:
            self._show_chosen()
            return
        self.show_text(text)
        self._bring_into_view()
        self.text_changed.emit(text)

    @Slot(object, object)
    def _move_entry(self, entry: TimelineEntry, span: EntrySpan) -> None:
        """Move the entry to *span*. Other selected entries move too, unless only the entry's end moves."""
        try:
            self._change_text(move_entries(self.text_now(), self._plan, entry, span, self.selected_entries))
        except ScenarioEditError as problem:
            self._refuse(problem)

    def _refuse(self, problem: ScenarioEditError) -> None:
        self._show_chosen()
        self.message.setText(str(problem))

    def _move_selected_by(self, by_s: float, part: str) -> None:
        movable = [entry for entry in self.selected_entries if entry.is_movable]
        entry = self._plan.find_entry(self._path)
        if entry is None or not entry.is_movable:
            entry = movable[0] if movable else None
        if entry is not None:
            part = part if entry.kind == WINDOW_FAULT else WHOLE_ENTRY
            self._move_entry(entry, move_span(entry.span, part, by_s, find_latest_s(entry, self._plan)))

    @Slot()
    def _remove(self) -> None:
        entries = [entry for entry in self.selected_entries if entry.kind != SOLUTION_STEP]
        if not entries:
            return
        try:
            text = remove_entries(self.text_now(), entries)
        except ScenarioEditError as problem:
            self._refuse(problem)
            return
        self._path = find_next_path(self._plan, entries)
        self.list.clearSelection()
        self._change_text(text)

    def _duplicate(self) -> None:
        entry = self._plan.find_entry(self._path)
        if entry is None or entry.kind == SOLUTION_STEP:
            return
        try:
            text = copy_entry(self.text_now(), str(entry.path[0]), int(entry.path[1]))
        except ScenarioEditError as problem:
            self._refuse(problem)
            return
        self._path = (entry.path[0], int(entry.path[1]) + 1)
        self.list.clearSelection()
        self._change_text(text)

    # --- menu -----------------------------------------------------------------------------------------------

    def _open_menu_of_list(self, position: QPoint) -> None:
        self._open_menu(self.list.viewport().mapToGlobal(position), self._path, None)

    @Slot(object, object, object)
    def _open_menu(self, position: QPoint, path: Path | None, at_s: float | None) -> None:
        if path is not None and path not in {entry.path for entry in self.selected_entries}:
            self._select_entry(path)
        self.build_menu(at_s).exec(position)

    def build_menu(self, at_s: float | None = None) -> QMenu:
        """Return the menu for the selected entries and for the time *at_s*."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entry = self._plan.find_entry(self._path) if self.selected_entries else None
        fault = any(timeline_entry.kind != SOLUTION_STEP for timeline_entry in self.selected_entries)
        rows: tuple[tuple[str, str, bool, Callable[[], object]] | None, ...] = (
            (tr("Add fault…"), "Ins", True, lambda: self.begin_adding(at_s)),
            (tr("Duplicate"), "Ctrl+D", fault and len(self.selected_entries) == 1, self._duplicate),
            (tr("Remove"), "Del", fault, self._remove),
            None,
            (
                tr("Show in the text"),
                "",
                entry is not None,
                lambda: self.edit_in_text_wanted.emit(self._path),
            ),
            (tr("Select all"), "Ctrl+A", bool(self._plan.entries), self.list.selectAll),
            None,
            (tr("Show the whole drill"), "0", True, lambda: self.area.zoom_by(0.0)),
        )
        for row in rows:
            if row is None:
                menu.addSeparator()
                continue
            words, key, is_enabled, do = row
            action = menu.addAction(f"{words}\t{key}" if key else words)
            action.setEnabled(is_enabled)
            action.triggered.connect(lambda _=False, do=do: do())
        return menu

    # --- adding ---------------------------------------------------------------------------------------------

    @Slot()
    @Slot(float)
    def begin_adding(self, at_s: float | None = None) -> None:
        """Open the form for a new fault at *at_s*. Default: at the cursor, or after the selected entry."""
        if not self.body.isEnabled():
            return
        entry = self._plan.find_entry(self._path)
        if at_s is None:
            at_s = self.canvas.cursor_s
        if at_s is None:
            at_s = (
                entry.span[1] + FIRST_FAULT_DEFAULT_S
                if entry is not None and entry.kind != CONDITIONAL_FAULT
                else FIRST_FAULT_DEFAULT_S
            )
        for widget in (self.list, self.message):
            widget.hide()
        self.add_fault_form.show()
        self.add_fault_form.clear_form(min(at_s, self._plan.length_s))

    @Slot(object, str, str)
    def _add_entries(self, times: dict[str, object], line: str, note: str) -> None:
        try:
            text, path = add_fault(self.text_now(), times, line, note)
        except ScenarioEditError as problem:
            self.add_fault_form.message.setText(str(problem))
            return
        self._path = path
        self.list.clearSelection()
        self._change_text(text)
        self._end_adding()
        self.path_chosen.emit(path)

    @Slot()
    def _end_adding(self) -> None:
        self.add_fault_form.hide()
        for widget in (self.list, self.message):
            widget.show()
        self._share_height()
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- keys -----------------------------------------------------------------------------------------------

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and self._handle_key(watched, event)
        ):
            return True
        return super().eventFilter(watched, event)

    def _handle_key(self, watched: QObject, event: QKeyEvent) -> bool:
        key, modifiers = event.key(), event.modifiers()
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            by_s = SHIFT_ARROW_STEP_S if modifiers & Qt.KeyboardModifier.ShiftModifier else ARROW_STEP_S
            part = ENTRY_END if modifiers & Qt.KeyboardModifier.ControlModifier else WHOLE_ENTRY
            self._move_selected_by(by_s if key == Qt.Key.Key_Right else -by_s, part)
        elif key == Qt.Key.Key_Delete:
            self._remove()
        elif key == Qt.Key.Key_Insert:
            self.begin_adding()
        elif key == Qt.Key.Key_D and modifiers & Qt.KeyboardModifier.ControlModifier:
            self._duplicate()
        elif event.text() in ZOOM_KEYS:
            self.area.zoom_by(ZOOM_KEYS[event.text()])
        elif watched is self.list:
            return False
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.list.selectAll()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            extends_selection = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
            self._select_adjacent_entry(1 if key == Qt.Key.Key_Down else -1, extends_selection)
        elif key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            return self._select_adjacent_entry(1 if key == Qt.Key.Key_Tab else -1)
        elif key == Qt.Key.Key_Escape:
            return self.canvas.cancel_drag()
        else:
            return False
        return True


class _TimelineSplitter(QSplitter):
    """Splitter that emits a signal when it is resized, so that the view can divide the height again."""

    resized = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()
