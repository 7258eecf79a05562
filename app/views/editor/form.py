"""The scenario as a form, read from the schema: sections, entries, fields; each change is one of the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from pydantic import BaseModel
from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QFrame,
    QGridLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import entry_edit, scenario_edit, theme
from app.language import mark, tr
from app.scenario_edit import NotChanged
from app.views.editor.form_fields import Field, Kind, Section, spoken
from app.views.editor.form_names import words_behind
from app.views.editor.form_new import begun, new_entry
from app.views.editor.form_pools import Pools
from app.views.editor.form_rows import Row, add_row
from app.views.editor.form_schema import about, fields, kinds, model_of, sections
from app.views.editor.form_words import KINDS, PLAIN, VARIANTS

ENTRIES_SHOWN = 5
FIELD_LEAST: Final = 24
"""Characters that a field beside its label has room for, or it stands below it."""
Path = tuple[str | int, ...]

_ALT, _CTRL = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier
ENTRY_KEYS: Final = {
    "add": (mark("Add"), QKeyCombination(Qt.Key.Key_Insert)),
    "copy": (mark("Duplicate"), QKeyCombination(_CTRL, Qt.Key.Key_D)),
    "remove": (mark("Remove"), QKeyCombination(Qt.Key.Key_Delete)),
    "up": (mark("Move up"), QKeyCombination(_ALT, Qt.Key.Key_Up)),
    "down": (mark("Move down"), QKeyCombination(_ALT, Qt.Key.Key_Down)),
}
"""What can be done with an entry: its button, and its key in the list."""


class Form(QWidget):
    """Fields for what the text of a scenario holds. `text_changed` brings the whole new text after each change."""

    text_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.text_now: Callable[[], str] = lambda: self._text
        """The text as it stands, which may be newer than what is shown: a change is a change of that one."""
        self._data: Mapping[str, Any] = {}
        self._sections = sections()
        self._rows: dict[Path, Row] = {}
        self._problems: Mapping[Path, str] = {}
        self._shape: Any = None
        """What the fields on the page were made for; as long as it is the same only their values are renewed."""
        self.sections = QListWidget()
        self.sections.setAccessibleName(tr("Sections"))
        self.sections.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.sections.setSpacing(1)
        self.entries = QListWidget()
        self.doings = {name: QPushButton(tr(title)) for name, (title, _) in ENTRY_KEYS.items()}
        self.add, self.copy, self.remove, self.up, self.down = self.doings.values()
        self.page = QScrollArea()
        self.page.setFrameShape(QFrame.Shape.NoFrame)
        self.page.setProperty("plain", "true")
        self.page.setWidgetResizable(True)
        self.page.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.pools = Pools(self._change, self._say)
        self.about = QLabel(wordWrap=True)
        self.about.setProperty("muted", "true")
        self.problem = QLabel(wordWrap=True)
        self.about.hide()
        self.problem.hide()
        self._lay_out()
        self._recolour()
        for section in self._sections:
            self.sections.addItem(tr(section.title))
        self.sections.setCurrentRow(0)
        self.sections.currentRowChanged.connect(self._on_section)
        self.entries.currentRowChanged.connect(self._on_entry)
        self.entries.installEventFilter(self)
        self.add.clicked.connect(self._on_add)
        self.copy.clicked.connect(self._on_copy)
        self.remove.clicked.connect(self._on_remove)
        self.up.clicked.connect(lambda: self._on_move(-1))
        self.down.clicked.connect(lambda: self._on_move(1))
        self._show_page()

    # --- asked from outside ---------------------------------------------------------------------------------

    def show_text(self, text: str) -> None:
        """Renew the fields from *text*; section, entry, focus and cursor stay. Fields rest while it is not TOML."""
        if text == self._text:
            return
        self._text = text
        try:
            data = scenario_edit.value_at(text, ())
        except NotChanged as reason:
            self._enable(False)
            self._say(str(reason))
            return
        self._data = data
        self._enable(True)
        self._say("")
        self._show_page()

    def show_problems(self, problems: Mapping[Path, str]) -> None:
        """Mark the fields in which something is wrong, by their paths in the text, and say what."""
        self._problems = problems
        for place, row in self._rows.items():
            if not row.closed:
                row.show_problem(problems.get(place, ""))

    def show_path(self, path: Path, take_focus: bool = False) -> bool:
        """Turn to the field of what stands at *path*, or to what is nearest; False where the form has no such place."""
        key = str(path[0]) if path else PLAIN
        keys = [section.key for section in self._sections]
        section = keys.index(key) if key in keys else keys.index(PLAIN)
        if self._sections[section].many and len(path) > 1:
            self._chosen[key] = int(path[1])
        self.sections.setCurrentRow(section)
        self._show_page()
        if key == VARIANTS:
            self.pools.choose(str(path[-1] if len(path) > 1 and isinstance(path[-1], str) else ""))
            if take_focus:
                self.pools.table.setFocus()
            return True
        row = next((self._rows[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self._rows), None)
        if row is None:
            if take_focus:
                (self.entries if self._sections[section].many else self.sections).setFocus()
            return key in keys
        self.page.ensureWidgetVisible(row.widget)
        if take_focus:
            row.widget.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def finish(self) -> None:
        """Take what is typed and not yet in the text, as before saving; reports like any change."""
        for row in list(self._rows.values()):
            row.finish()

    # --- shown ----------------------------------------------------------------------------------------------

    @property
    def section(self) -> Section:
        return self._sections[max(0, self.sections.currentRow())]

    def _show_page(self) -> None:
        """Section titles with their numbers, the list of entries, the fields of the chosen one."""
        for at, section in enumerate(self._sections):
            count = len(self._entries(section)) if section.many else 0
            title = tr(section.title)
            self.sections.item(at).setText(f"{title} ({count})" if count else title)
        self._fit_sections()
        section = self.section
        self._show_entries(section)
        at = self.entries.currentRow() if section.many else 0
        path: Path = (section.key, at) if section.many else (section.key,) if section.key else ()
        table = self._table(path)
        model = model_of(section, table) if section.models else None
        empty = section.many and at < 0
        self._show_about(section, model)
        self.pools.setVisible(model is None)
        self.page.setVisible(model is not None)
        if model is None:
            self.pools.show_data(self._data)
        shape = (path, model, self._shape_of(model, path), empty)
        if shape != self._shape:
            self._shape = shape
            self._rebuild(section, model, path, empty)
        for place, row in self._rows.items():
            if not row.closed:
                row.offer_words(partial(words_behind, self._data, row.field.offered))
                row.show(self._value(place))
                row.show_problem(self._problems.get(place, ""))

    def _show_about(self, section: Section, model: type[BaseModel] | None) -> None:
        said = tr(about(section, model))
        said = (
            (said.partition(": ")[2] if said.startswith("[") else said).partition("\n")[0].partition(";")[0]
        )
        self.about.setText(said[:1].upper() + said[1:].rstrip(".") + "." if said else "")
        self.about.setVisible(bool(said))

    def _shape_of(self, model: type[BaseModel] | None, path: Path) -> Any:
        """What decides which fields there are: keys without a field, and how many tables are inside."""
        if model is None:
            return None
        inside = [
            len(self._inside((*path, field.key))) for field in fields(model) if field.kind is Kind.TABLES
        ]
        return (self._extra(model, self._table(path)), inside)

    def _show_entries(self, section: Section) -> None:
        self._entries_box.setVisible(section.many)
        if not section.many:
            return
        said = [spoken(entry) for entry in self._entries(section)]
        chosen = self._chosen.get(section.key, 0)
        self.entries.blockSignals(True)
        while self.entries.count() > len(said):
            self.entries.takeItem(self.entries.count() - 1)
        for at, text in enumerate(said):
            if at >= self.entries.count():
                self.entries.addItem("")
            self.entries.item(at).setText(text)
            self.entries.item(at).setToolTip(text)
        self.entries.setCurrentRow(min(chosen, len(said) - 1))
        self.entries.blockSignals(False)
        title = tr(section.title)
        self.entries.setAccessibleName(title)
        self.add.setAccessibleName(tr("Add to {section}").format(section=title))
        self.remove.setAccessibleName(tr("Remove from {section}").format(section=title))
        for button in (self.copy, self.remove):
            button.setEnabled(bool(said))
        at = self.entries.currentRow()
        self.up.setEnabled(at > 0)
        self.down.setEnabled(0 <= at < len(said) - 1)

    def _rebuild(self, section: Section, model: type[BaseModel] | None, path: Path, empty: bool) -> None:
        focused = next((place for place, row in self._rows.items() if row.widget.hasFocus()), None)
        for row in self._rows.values():
            row.close()
        self._rows = {}
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(2, 2, 10, 2)
        if empty:
            label = QLabel(tr("Nothing here yet."))
            label.setProperty("muted", "true")
            column.addWidget(label)
        elif model is not None:
            column.addLayout(self._fields(model, path, section))
        column.addStretch(1)
        before = self.page.takeWidget()
        if before is not None:  # one of its fields may be the sender of what is handled now
            before.hide()
            before.deleteLater()
        self.page.setWidget(inside)
        self._order(inside)
        self._wrap()
        if focused in self._rows:
            self._rows[focused].widget.setFocus()
        self.page.setAccessibleName(tr(section.title))

    def _fields(self, model: type[BaseModel], path: Path, section: Section | None = None) -> QFormLayout:
        layout = QFormLayout()
        layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        layout.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        layout.setVerticalSpacing(6)
        for field in fields(model):
            place = (*path, field.key)
            if field.kind is Kind.TABLES:
                self._add_tables(layout, field, place)
                continue
            if field.inner is not None:
                group = QGroupBox(field.label)
                group.setToolTip(tr(field.about))
                group.setLayout(self._fields(field.inner, place))
                layout.addRow(group)
                continue
            row = Row(field, partial(self._set, place), self._say)
            if field.key == "kind" and section is not None:
                row.offer({kind: KINDS.get(kind, kind) for kind in kinds(section)})
            self._rows[place] = row
            add_row(layout, row)
        for key in self._extra(model, self._table(path)):
            label = QLabel(tr("not a key that is known here; written in the text"), wordWrap=True)
            label.setProperty("muted", "true")
            layout.addRow(key, label)
        return layout

    def _add_tables(self, layout: QFormLayout, field: Field, path: Path) -> None:
        """A group for each of the tables at *path*, with a button to remove it, and one to add another."""
        assert field.inner is not None
        for at in range(len(self._inside(path))):
            group = QGroupBox(f"{field.label}: {at + 1}")
            group.setToolTip(tr(field.about))
            inside = self._fields(field.inner, (*path, at))
            remove = _small(tr("Remove"), tr("Remove {what}").format(what=group.title()))
            remove.clicked.connect(partial(self._remove_inside, (*path, at)))
            inside.addRow(remove)
            group.setLayout(inside)
            layout.addRow(group)
        add = _small(tr("Add"), tr("Add to {section}").format(section=field.label))
        add.setToolTip(tr(field.about))
        add.clicked.connect(partial(self._add_inside, path, field.inner))
        label = QLabel(field.label)
        label.setBuddy(add)
        layout.addRow(label, add)

    def _add_inside(self, path: Path, model: type[BaseModel]) -> None:
        values = begun(model, str(path[-1]), self._data)
        count = len(self._inside(path))
        if self._change(lambda text: scenario_edit.add_inside(text, path, values)):
            first = next((place for place in self._rows if place[: len(path) + 1] == (*path, count)), None)
            if first is not None:
                self._rows[first].widget.setFocus()

    def _remove_inside(self, path: Path) -> None:
        self.finish()
        self._change(lambda text: scenario_edit.remove(text, path))

    def _inside(self, path: Path) -> list[Any]:
        found = self._value(path)
        return found if isinstance(found, list) else []

    def _extra(self, model: type[BaseModel], table: Mapping[str, Any]) -> tuple[str, ...]:
        """Keys of *table* that have no field."""
        if self.section.key == PLAIN:
            return ()
        return tuple(key for key in table if key not in {field.key for field in fields(model)})

    # --- changed by the user --------------------------------------------------------------------------------

    def _on_section(self) -> None:
        if self.page.isEnabled():
            self._say("")
        self._show_page()

    def _on_entry(self, at: int) -> None:
        if at >= 0:
            self._chosen[self.section.key] = at
            self._show_page()

    def _on_add(self) -> None:
        section = self.section
        self._chosen[section.key] = len(self._entries(section))
        values = new_entry(section, self._data)
        self._change(lambda text: scenario_edit.add_table(text, section.key, values))

    def _on_copy(self) -> None:
        at = self.entries.currentRow()
        if at >= 0:
            self._change_entries(lambda text, key: entry_edit.copied(text, key, at), at + 1)

    def _on_remove(self) -> None:
        at = self.entries.currentRow()
        if at >= 0:
            after = max(0, min(at, self.entries.count() - 2))
            self._change_entries(lambda text, key: entry_edit.removed(text, key, at), after)

    def _on_move(self, by: int) -> None:
        at = self.entries.currentRow()
        if at >= 0 and 0 <= at + by < self.entries.count():
            self._change_entries(lambda text, key: entry_edit.moved(text, key, at, at + by), at + by)

    def _change_entries(self, edit: Callable[[str, str], str], chosen: int) -> None:
        """Change the list in sight; then entry *chosen* is the one that is shown."""
        key = self.section.key
        before = self._chosen.get(key, 0)
        self.finish()
        self._chosen[key] = chosen
        if not self._change(lambda text: edit(text, key)):
            self._chosen[key] = before

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            for name, (_, key) in ENTRY_KEYS.items():
                if event.keyCombination() == key:
                    self.doings[name].click()
                    return True
        return super().eventFilter(watched, event)

    def _set(self, path: Path, value: Any) -> None:
        def edit(text: str) -> str:
            changed = scenario_edit.set_value(text, path, value)
            group = path[:-1]
            left = scenario_edit.value_at(changed, group) if value is None and group else None
            if left == {} and isinstance(group[-1], str):
                return scenario_edit.remove(changed, group)
            return changed

        self._change(edit)

    def _change(self, edit: Callable[[str], str]) -> bool:
        """Put the text that *edit* makes of this one in its place, if it can; otherwise say why not."""
        now = self.text_now()
        try:
            changed = edit(now)
        except NotChanged as reason:
            self._say(str(reason))
            return False
        if changed != now:
            self.show_text(changed)
            self.text_changed.emit(changed)
        return True

    # --- the text read --------------------------------------------------------------------------------------

    def _entries(self, section: Section) -> list[Mapping[str, Any]]:
        found = self._data.get(section.key)
        if not isinstance(found, list):
            return []
        return [entry if isinstance(entry, Mapping) else {} for entry in found]

    def _table(self, path: Path) -> Mapping[str, Any]:
        found = self._value(path)
        return found if isinstance(found, Mapping) else {}

    def _value(self, path: Path) -> Any:
        place: Any = self._data
        for step in path:
            try:
                place = place[step]
            except (KeyError, IndexError, TypeError):
                return None
        return place

    # --- looks ----------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._chosen: dict[str, int] = {}
        self._entries_box = QWidget()
        buttons = QGridLayout()
        buttons.setSpacing(4)
        for name, button in self.doings.items():
            title, key = ENTRY_KEYS[name]
            button.setProperty("small", "true")
            button.setAutoDefault(False)
            keys = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
            button.setToolTip(f"{tr(title)} ({keys})")
            button.setAccessibleName(tr(title))
        for row_number, wide in enumerate((self.add, self.copy, self.remove)):
            buttons.addWidget(wide, row_number, 0, 1, 2)
        for at, (button, arrow) in enumerate(((self.up, "↑"), (self.down, "↓"))):
            button.setText(arrow)
            buttons.addWidget(button, 3, at)
        buttons.setRowStretch(4, 1)
        top = QHBoxLayout(self._entries_box)
        top.setContentsMargins(0, 0, 0, 0)
        top.addWidget(self.entries, 1)
        top.addLayout(buttons)
        self.entries.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.entries.setMinimumHeight(ENTRIES_SHOWN * (self.fontMetrics().height() + 4) + 8)
        self.entries.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._entries_box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        right = QVBoxLayout()
        right.addWidget(self.about)
        right.addWidget(self._entries_box)
        right.addWidget(self.page, 1)
        right.addWidget(self.pools, 1)
        right.addWidget(self.problem)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 8, 8, 8)
        row.setSpacing(12)
        row.addWidget(self.sections)
        row.addLayout(right, 1)

    def _fit_sections(self) -> None:
        """As wide as the longest title: at a large text, too, none is cut."""
        self.sections.ensurePolished()
        bar = self.sections.verticalScrollBar().sizeHint().width()
        around = 2 * (self.sections.frameWidth() + self.sections.spacing())
        self.sections.setFixedWidth(self.sections.sizeHintForColumn(0) + bar + around)

    def _order(self, inside: QWidget) -> None:
        """Tab leads from the list, or the sections, to the fields as they stand: new ones would come last of all."""
        ours = [widget for widget in inside.findChildren(QWidget) if widget.window() is self.window()]
        before: QWidget = self.sections
        for widget in (self.entries, *self.doings.values(), *ours):
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not isinstance(widget.parent(), QComboBox):
                self.setTabOrder(before, widget)
                before = widget

    def _wrap(self) -> None:
        """At a large text, or on a narrow page, every field stands below its label."""
        inside = self.page.widget()
        if inside is None:
            return
        labels = [label for label in inside.findChildren(QLabel) if label.buddy() is not None]
        metrics = self.fontMetrics()
        widest = max((metrics.horizontalAdvance(label.text()) for label in labels), default=0)
        room = self.page.viewport().width() - widest
        beside = room >= FIELD_LEAST * metrics.averageCharWidth()
        policies = QFormLayout.RowWrapPolicy
        for label in labels:
            label.setWordWrap(not beside)
        for layout in inside.findChildren(QFormLayout):
            layout.setRowWrapPolicy(policies.DontWrapRows if beside else policies.WrapAllRows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._wrap()

    def _enable(self, on: bool) -> None:
        for widget in (self._entries_box, self.page, self.pools):
            widget.setEnabled(on)

    def _say(self, sentence: str) -> None:
        """What is wrong; empty: nothing."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._recolour()
        elif event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit_sections()
            self._wrap()

    def _recolour(self) -> None:
        bad = theme.tokens(self.palette()).bad.name()
        self.problem.setStyleSheet(f"color: {bad}")
        self.page.setStyleSheet(f'*[wrong="true"] {{ border: 2px solid {bad}; }}')


def _small(text: str, name: str) -> QPushButton:
    button = QPushButton(text)
    button.setProperty("small", "true")
    button.setAutoDefault(False)
    button.setAccessibleName(name)
    button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return button
