"""Form derived from the scenario schema, with sections, entries and fields.

Each change edits the scenario text.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pydantic import BaseModel
from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QGridLayout, QLabel, QListWidget, QPushButton, QSizePolicy, QWidget

from app.files import scenario_edit
from app.files.scenario_edit import ScenarioEditError, get_value
from app.views.editor.form_page import FormPage, Path
from app.views.editor.form_pools import PoolTable
from app.views.editor.form_schema import (
    PLAIN_KEYS_SECTION,
    RUBRIC_KIND_LABELS,
    VARIANTS_SECTION,
    FieldKind,
    FormField,
    FormSection,
    find_model,
    format_entry,
    get_section_help,
    list_fields,
    list_kinds,
    list_sections,
)
from app.views.editor.form_widgets import ChoiceBox
from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.words.language import mark, tr
from engine.drill.authoring.run_scenario import PLACEHOLDER_PREFIX
from engine.overrides import override

TABLES_BY_RUBRIC_KIND: Final = {"diagnosis": "question", "prediction": "predict", "forbidden": "forbidden"}
"""Kind of rubric item -> table whose entries earn no points unless the rubric has such an item."""
DRILL_POINTS_MAX: Final = 100.0
"""Maximum points of a drill."""
DEFAULT_NAMES: Final = {"database": "Sales", "goal": "goal-1"}
"""Table of a scenario -> name that is used for its entry while the table has none."""


def create_entry(section: FormSection, data: Mapping[str, object]) -> dict[str, object]:
    """Return a new entry of *section*: its required keys with initial values. *data*: the current scenario."""
    initial_values = build_initial_values(_find_model(section, data), section.key, data)
    if section.key == "timeline":
        initial_values = {"at": "60s", **initial_values}
    elif section.key in ("question", "predict"):
        initial_values["at"] = "60s"
    elif section.key == "database":
        initial_values["server"] = (_list_names(data, "server") or ["SERVER_A"])[0]
    elif section.key == "session":
        initial_values["database"] = _find_names_without_entry(data, "database", "session")[0]
    elif section.key == "hint":
        initial_values["goal"] = _find_names_without_entry(data, "goal", "hint")[0]
    elif section.key == "rubric":
        remaining_points = DRILL_POINTS_MAX - sum(_list_numbers(data, "rubric", "points"))
        initial_values["points"] = remaining_points if remaining_points > 0 else initial_values["points"]
        title = RUBRIC_KIND_LABELS.get(str(initial_values["kind"]), initial_values["kind"])
        initial_values["name"] = title if title not in _list_names(data, "rubric") else initial_values["name"]
    return initial_values


def _find_model(section: FormSection, data: Mapping[str, object]) -> type[BaseModel]:
    """Return the schema class for a new entry: the class of the first kind that has no entry yet.

    The kinds that other tables of the scenario require are tried before all other kinds.
    """
    texts = _collect_texts(data, section.key, "kind")
    asked_kinds = [kind for kind, table in TABLES_BY_RUBRIC_KIND.items() if data.get(table)]
    order = [*(kind for kind in asked_kinds if kind in list_kinds(section)), *list_kinds(section)]
    kind = next((kind for kind in order if kind not in texts), None)
    return find_model(section, {"kind": kind})


def _find_names_without_entry(data: Mapping[str, object], key: str, other_key: str) -> list[str]:
    """Return the names in table *key* for which table *other_key* has no entry.

    If all names have an entry, return all names.
    """
    texts = _collect_texts(data, other_key, key)
    names = _list_names(data, key) or [DEFAULT_NAMES[key]]
    return [name for name in names if name not in texts] or names


def build_initial_values(model: type[BaseModel], key: str, data: Mapping[str, object]) -> dict[str, object]:
    """Return the required keys of a table with initial values.

    *model*: schema class of the table. *key*: key of the table in the scenario *data*.
    """
    servers, databases, goals = (_list_names(data, key) for key in ("server", "database", "goal"))
    server = servers[0] if servers else "SERVER_A"
    database = databases[0] if databases else "Sales"
    initial_values: dict[str, object] = {
        "principal": server,
        "mirror": servers[1] if len(servers) > 1 else "SERVER_B",
        "ends": [server, servers[1] if len(servers) > 1 else "SERVER_B"],
        "data_source": server,
        "database": database,
        "databases": [database],
        "goal": goals[0] if goals else "goal-1",
        "when": f"{database} is SYNCHRONIZED",
        "do": f"+5 sql {server} SELECT 1" if key == "solution" else f"power-off {server}",
        "choices": [f"{PLACEHOLDER_PREFIX}one answer", f"{PLACEHOLDER_PREFIX}another answer"],
        "choice": [
            {"text": f"{PLACEHOLDER_PREFIX}text of the outcome", "when": f"{database} is SYNCHRONIZED"},
            {
                "text": f"{PLACEHOLDER_PREFIX}text of the other outcome",
                "when": f"not {database} is SYNCHRONIZED",
            },
        ],
        "right": [1],
    }
    return {
        field.key: initial_values.get(field.key, _build_initial_value(field, key, data))
        for field in list_fields(model)
        if field.required
    }


def _build_initial_value(field: FormField, key: str, data: Mapping[str, object]) -> object:
    if field.key == "name":
        upper = key in ("server", "database", "client")
        used_names, number = _list_names(data, key), 1
        while (candidate := f"{key.upper()}_{number}" if upper else f"{key}-{number}") in used_names:
            number += 1
        return candidate
    if field.choices:
        return field.choices[0]
    return {FieldKind.WHOLE: 1, FieldKind.NUMBER: 10, FieldKind.DURATION: "60s"}.get(
        field.kind, _format_placeholder(field)
    )


def _format_placeholder(field: FormField) -> str:
    """Return a placeholder text. `check` reports it until the author replaces it."""
    description = field.description.partition(". ")[0].partition(": ")[0].rstrip(".")
    return f"{PLACEHOLDER_PREFIX}{description[:1].lower()}{description[1:]}"


def _list_names(data: Mapping[str, object], key: str) -> list[str]:
    return _collect_texts(data, key, "name")


def _collect_texts(data: Mapping[str, object], key: str, inner_key: str) -> list[str]:
    """Return the values of the key *inner_key* in the entries of table *key* as text.

    Omit entries without this key.
    """
    entries = data.get(key)
    if not isinstance(entries, list):
        return []
    return [str(entry[inner_key]) for entry in entries if isinstance(entry, Mapping) and inner_key in entry]


def _list_numbers(data: Mapping[str, object], key: str, inner: str) -> list[float]:
    return [float(word) for word in _collect_texts(data, key, inner) if word.replace(".", "", 1).isdigit()]


ENTRIES_SHOWN_MIN: Final = 5
"""Minimum number of visible rows of the list of entries."""
NARROW_ENTRIES_SHOWN_MIN: Final = 3
"""Minimum number of visible rows of the list on a narrow page."""
_ALT_MODIFIER, _CTRL_MODIFIER = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier
ENTRY_COMMANDS: Final = {
    "add": (mark("Add"), QKeyCombination(Qt.Key.Key_Insert)),
    "copy": (mark("Duplicate"), QKeyCombination(_CTRL_MODIFIER, Qt.Key.Key_D)),
    "remove": (mark("Remove"), QKeyCombination(Qt.Key.Key_Delete)),
    "up": (mark("Move up"), QKeyCombination(_ALT_MODIFIER, Qt.Key.Key_Up)),
    "down": (mark("Move down"), QKeyCombination(_ALT_MODIFIER, Qt.Key.Key_Down)),
}
"""Command for an entry -> text of its button, and its key in the list."""


class EntryList(QWidget):
    """List of the entries of a table, with buttons and keys. The owner implements the commands."""

    entry_chosen = Signal(int)
    """Signal: index of the selected entry."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = QListWidget()
        self.command_buttons = {name: QPushButton(tr(title)) for name, (title, _) in ENTRY_COMMANDS.items()}
        self._buttons = QGridLayout()
        self._buttons.setSpacing(4)
        for name, button in self.command_buttons.items():
            title, key = ENTRY_COMMANDS[name]
            button.setProperty("small", "true")
            button.setAutoDefault(False)
            keys = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
            button.setToolTip(f"{tr(title)} ({keys})")
            button.setAccessibleName(tr(title))
        for name, arrow in (("up", "↑"), ("down", "↓")):
            self.command_buttons[name].setText(arrow)
        self._layout = QGridLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.addWidget(self.rows, 0, 0)
        self.narrow = True
        self.set_narrow(False)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.rows.currentRowChanged.connect(
            lambda index: self.entry_chosen.emit(index) if index >= 0 else None
        )
        self.rows.installEventFilter(self)
        theme.call_after_events(self, theme.FONT_EVENTS, self._fit_height)

    def set_narrow(self, narrow: bool) -> None:
        """Set the layout: on a narrow page, show fewer rows and place the buttons below them."""
        if narrow == self.narrow:
            return
        self.narrow = narrow
        self._layout.removeItem(self._buttons)
        for button in self.command_buttons.values():
            self._buttons.removeWidget(button)
        for index, (name, button) in enumerate(self.command_buttons.items()):
            if narrow:
                self._buttons.addWidget(button, 0, index)
            elif name in ("up", "down"):
                self._buttons.addWidget(button, 3, index - 3)
            else:
                self._buttons.addWidget(button, index, 0, 1, 2)
        self._buttons.setRowStretch(4, 0 if narrow else 1)
        self._layout.addLayout(self._buttons, 1 if narrow else 0, 0 if narrow else 1)
        self._fit_height()

    def _fit_height(self) -> None:
        row_count = NARROW_ENTRIES_SHOWN_MIN if self.narrow else ENTRIES_SHOWN_MIN
        self.rows.setMinimumHeight(row_count * (self.fontMetrics().height() + 4) + 8)

    def show_entries(self, title: str, labels: Sequence[str], selected_index: int) -> None:
        """Show a row per label and select row *selected_index*, or the last row if there are fewer rows."""
        self.rows.blockSignals(True)
        while self.rows.count() > len(labels):
            self.rows.takeItem(self.rows.count() - 1)
        for index, text in enumerate(labels):
            if index >= self.rows.count():
                self.rows.addItem("")
            self.rows.item(index).setText(text)
            self.rows.item(index).setToolTip(text)
        self.rows.setCurrentRow(min(selected_index, len(labels) - 1))
        self.rows.blockSignals(False)
        self.rows.setAccessibleName(title)
        self.command_buttons["add"].setAccessibleName(tr("Add to {section}").format(section=title))
        self.command_buttons["remove"].setAccessibleName(tr("Remove from {section}").format(section=title))
        index = self.rows.currentRow()
        for name, is_enabled in (
            ("copy", bool(labels)),
            ("remove", bool(labels)),
            ("up", index > 0),
            ("down", 0 <= index < len(labels) - 1),
        ):
            self.command_buttons[name].setEnabled(is_enabled)

    def set_tab_order_after(self, previous_widget: QWidget) -> QWidget:
        """Set the Tab order from *previous_widget* to the list and its buttons. Return the last button."""
        for widget in (self.rows, *self.command_buttons.values()):
            self.setTabOrder(previous_widget, widget)
            previous_widget = widget
        return previous_widget

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            for name, (_, key) in ENTRY_COMMANDS.items():
                if event.keyCombination() == key:
                    self.command_buttons[name].click()
                    return True
        return super().eventFilter(watched, event)


FIELDS_WIDTH_MIN_CHARACTERS: Final = 36
"""Minimum width of the fields next to the section list, in characters. With less space, a selection box
replaces the list.
"""


class ScenarioForm(QWidget):
    """Form for a scenario text. After each change, `text_changed` contains the new text."""

    text_changed = Signal(str)
    path_chosen = Signal(object)
    """Signal: path of the entry or table that the author selected or changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.text_now: Callable[[], str] = lambda: self._text
        """Function that returns the latest text, which may be newer than the form; changes apply to it."""
        self._data: Mapping[str, object] = {}
        self._sections = list_sections()
        self._chosen_entries: dict[str, int] = {}
        """Section -> its shown entry."""
        self.sections = QListWidget()
        self.sections.setAccessibleName(tr("Sections"))
        self.sections.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.sections.setSpacing(1)
        self.section_choice = ChoiceBox()
        """Selector that replaces the section list if space is short."""
        self.section_choice.setAccessibleName(tr("Sections"))
        self.list = EntryList()
        self.entries = self.list.rows
        self.add, self.copy, self.remove, self.up, self.down = self.list.command_buttons.values()
        self.page = FormPage()
        self.pools = PoolTable(self._change_text, self._show_error)
        self.section_help = QLabel(wordWrap=True)
        self.section_help.setProperty("muted", "true")
        self.problem = QLabel(wordWrap=True)
        self.section_help.hide()
        self.problem.hide()
        self._lay_out()
        self._recolor()
        for section in self._sections:
            self.sections.addItem(tr(section.title))
            self.section_choice.addItem(tr(section.title))
        self.sections.setCurrentRow(0)
        self.sections.currentRowChanged.connect(self._on_section)
        self.section_choice.activated.connect(self.sections.setCurrentRow)
        self.list.entry_chosen.connect(self._on_entry)
        self.page.value_set.connect(self._set_value)
        self.page.table_wanted.connect(self._add_inside)
        self.page.table_removal_wanted.connect(self._remove_inside)
        self.page.value_refused.connect(self._show_error)
        self.add.clicked.connect(self._on_add)
        self.copy.clicked.connect(self._on_copy)
        self.remove.clicked.connect(self._on_remove)
        self.up.clicked.connect(lambda: self._on_move(-1))
        self.down.clicked.connect(lambda: self._on_move(1))
        self._show_page()
        theme.call_after_events(self, theme.PALETTE_EVENTS, self._recolor)
        theme.call_after_events(self, theme.STYLE_EVENTS, self._fit_sections)
        theme.call_after_events(self, theme.SIZE_EVENTS, self._arrange_sections)

    # --- public interface -----------------------------------------------------------------------------------

    def show_text(self, text: str) -> None:
        """Update the fields from *text*. Section, entry, focus and cursor stay.

        While the text is not valid TOML, the fields are disabled.
        """
        if text == self._text:
            return
        self._text = text
        try:
            data = scenario_edit.read_value(text, ())
        except ScenarioEditError as reason:
            self._enable(False)
            self._show_error(str(reason))
            return
        self._data = data
        self._enable(True)
        self._show_error("")
        self._show_page()

    def show_problems(self, problems: Mapping[Path, str]) -> None:
        """Mark the fields with *problems* (path in the text -> problem) and show the problems."""
        self.page.show_problems(problems)

    def show_path(self, path: Path, take_focus: bool = False) -> bool:
        """Show the field at *path*, or the nearest field, and focus it if *take_focus*.

        Return False if the form has no section for *path*.
        """
        key = str(path[0]) if path else PLAIN_KEYS_SECTION
        keys = [section.key for section in self._sections]
        section = keys.index(key) if key in keys else keys.index(PLAIN_KEYS_SECTION)
        if self._sections[section].is_list and len(path) > 1:
            self._chosen_entries[key] = int(path[1])
        blocked = self.blockSignals(True)
        self.sections.setCurrentRow(section)
        self._show_page()
        self.blockSignals(blocked)
        if key == VARIANTS_SECTION:
            self.pools.select_pool(str(path[-1] if len(path) > 1 and isinstance(path[-1], str) else ""))
            if take_focus:
                self.pools.table.setFocus()
            return True
        if self.page.show_field(path, take_focus):
            return True
        if take_focus:
            (self.entries if self._sections[section].is_list else self.sections_field).setFocus()
        return key in keys

    def apply_pending_input(self) -> None:
        """Apply pending typing to the text, for example before it is saved. Emit the usual signals."""
        self.page.apply_pending_input()

    # --- display --------------------------------------------------------------------------------------------

    @property
    def sections_field(self) -> QWidget:
        """Widget that selects the section: a list, or a selection box on a narrow page."""
        return self.section_choice if self.list.narrow else self.sections

    @property
    def section(self) -> FormSection:
        """Selected section."""
        return self._sections[max(0, self.sections.currentRow())]

    @property
    def path(self) -> Path:
        """Path of the displayed table: the whole file, one of its tables, or an entry of a list."""
        section = self.section
        if section.is_list:
            return (section.key, self.entries.currentRow())
        return (section.key,) if section.key else ()

    def _show_page(self) -> None:
        """Show section titles with entry counts, the list of entries, and the fields of the selected entry."""
        for index, section in enumerate(self._sections):
            count = len(self._list_entries(section)) if section.is_list else 0
            title = f"{tr(section.title)} ({count})" if count else tr(section.title)
            self.sections.item(index).setText(title)
            self.section_choice.setItemText(index, title)
        self.section_choice.setCurrentIndex(self.sections.currentRow())
        self._fit_sections()
        section = self.section
        self.list.setVisible(section.is_list)
        if section.is_list:
            entries = [format_entry(entry) for entry in self._list_entries(section)]
            self.list.show_entries(tr(section.title), entries, self._chosen_entries.get(section.key, 0))
        table = get_value(self._data, self.path)
        model = find_model(section, table if isinstance(table, Mapping) else {}) if section.models else None
        self._show_about(section, model)
        self.pools.setVisible(model is None)
        self.page.setVisible(model is not None)
        if model is None:
            self.pools.show_data(self._data)
            return
        empty = section.is_list and self.entries.currentRow() < 0
        if self.page.show_table(self._data, section, model, self.path, empty):
            self.page.set_tab_order_after(self.list.set_tab_order_after(self.sections_field))

    def _show_about(self, section: FormSection, model: type[BaseModel] | None) -> None:
        text = tr(get_section_help(section, model))
        text = (text.partition(": ")[2] if text.startswith("[") else text).partition("\n")[0]
        self.section_help.setText(f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else "")
        self.section_choice.setToolTip(self.section_help.text())
        self.section_help.setVisible(bool(text) and not self.list.narrow)

    # --- changes by the user --------------------------------------------------------------------------------

    def _on_section(self) -> None:
        if self.page.isEnabled():
            self._show_error("")
        self._show_page()
        self.path_chosen.emit(self.path)

    def _on_entry(self, index: int) -> None:
        self._chosen_entries[self.section.key] = index
        self._show_page()
        self.path_chosen.emit(self.path)

    def _on_add(self) -> None:
        section = self.section
        values = create_entry(section, self._data)
        count, by_button = len(self._list_entries(section)), self.add.hasFocus()
        new_text = self._change_entries(lambda text, key: scenario_edit.add_entry(text, key, values), count)
        if new_text and by_button:
            self.page.focus_first_field()

    def _on_copy(self) -> None:
        current_row = self.entries.currentRow()
        if current_row >= 0:
            self._change_entries(
                lambda text, key: scenario_edit.copy_entry(text, key, current_row), current_row + 1
            )

    def _on_remove(self) -> None:
        current_row = self.entries.currentRow()
        if current_row >= 0:
            next_row = max(0, min(current_row, self.entries.count() - 2))
            self._change_entries(
                lambda text, key: scenario_edit.remove_entry(text, key, current_row), next_row
            )

    def _on_move(self, offset: int) -> None:
        current_row = self.entries.currentRow()
        if current_row >= 0 and 0 <= current_row + offset < self.entries.count():
            self._change_entries(
                lambda text, key: scenario_edit.move_entry(text, key, current_row, current_row + offset),
                current_row + offset,
            )

    def _change_entries(self, edit: Callable[[str, str], str], selected_index: int) -> bool:
        """Change the displayed list with *edit* and select entry *selected_index*.

        Return False if *edit* fails.
        """
        key = self.section.key
        before = self._chosen_entries.get(key, 0)
        self.apply_pending_input()
        self._chosen_entries[key] = selected_index
        was_changed = self._change_text(lambda text: edit(text, key))
        if not was_changed:
            self._chosen_entries[key] = before
        return was_changed

    def _add_inside(self, path: Path, model: type[BaseModel]) -> None:
        values = build_initial_values(model, str(path[-1]), self._data)
        value = get_value(self._data, path)
        count = len(value) if isinstance(value, list) else 0
        if self._change_text(lambda text: scenario_edit.add_nested_table(text, path, values)):
            self.page.focus_first_field((*path, count))

    def _remove_inside(self, path: Path) -> None:
        self.apply_pending_input()
        self._change_text(lambda text: scenario_edit.remove_value(text, path))

    def _set_value(self, path: Path, value: object) -> None:
        def edit(text: str) -> str:
            new_text = scenario_edit.set_value(text, path, value)
            group = path[:-1]
            group_value = scenario_edit.read_value(new_text, group) if value is None and group else None
            if group_value == {} and isinstance(group[-1], str):
                return scenario_edit.remove_value(new_text, group)
            return new_text

        self._change_text(edit, path)

    def _change_text(self, edit: Callable[[str], str], path: Path | None = None) -> bool:
        """Replace the text by the result of *edit*. If *edit* fails, show the reason and return False."""
        current_text = self.text_now()
        try:
            new_text = edit(current_text)
        except ScenarioEditError as reason:
            self._show_error(str(reason))
            return False
        if new_text != current_text:
            self.show_text(new_text)
            self.text_changed.emit(new_text)
            self.path_chosen.emit(self.path if path is None else path)
        return True

    def _list_entries(self, section: FormSection) -> list[Mapping[str, object]]:
        entries = self._data.get(section.key)
        if not isinstance(entries, list):
            return []
        return [entry if isinstance(entry, Mapping) else {} for entry in entries]

    # --- appearance -----------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        right = build_widget_column(
            self.section_choice, self.section_help, self.list, (self.page, 1), (self.pools, 1), self.problem
        )
        build_row(self.sections, (right, 1), parent=self, margins=8, spacing=12)
        self.section_choice.hide()

    def _fit_sections(self) -> None:
        """Make the section list as wide as the longest title, at any text size."""
        self.sections.ensurePolished()
        bar = self.sections.verticalScrollBar().sizeHint().width()
        frame_width = 2 * (self.sections.frameWidth() + self.sections.spacing())
        self.sections.setFixedWidth(self.sections.sizeHintForColumn(0) + bar + frame_width)
        if self.isVisible():
            self._arrange_sections()

    def _arrange_sections(self) -> None:
        """Place the section list next to the fields, or a selection box above them on a narrow page."""
        narrow = (
            self.width() - self.sections.width()
            < FIELDS_WIDTH_MIN_CHARACTERS * self.fontMetrics().averageCharWidth()
        )
        if narrow == self.list.narrow:
            return
        before = self.sections_field
        self.list.set_narrow(narrow)
        self.sections.setVisible(not narrow)
        self.section_choice.setVisible(narrow)
        self.section_help.setVisible(bool(self.section_help.text()) and not narrow)
        if before.hasFocus():
            self.sections_field.setFocus()
        self.page.set_tab_order_after(self.list.set_tab_order_after(self.sections_field))

    def _enable(self, enabled: bool) -> None:
        for widget in (self.list, self.page, self.pools):
            widget.setEnabled(enabled)

    def _show_error(self, sentence: str) -> None:
        """Show an error. An empty *sentence* hides it."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    def _recolor(self) -> None:
        bad = theme.get_theme_tokens(self.palette()).bad
        self.problem.setStyleSheet(f"color: {bad.name()}")
        self.page.set_frame_color(bad)
