"""Dialog to change keyboard shortcuts. It shows conflicts during typing, so no two actions share keys."""

from typing import Final

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtGui import QIcon, QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QGridLayout,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.widgets import keys, theme
from app.widgets.keys import (
    FOCUS_SCOPES,
    KEY_SCHEMES,
    SHORTCUT_COMMANDS,
    SSMS_SCHEME,
    KeyConflict,
    KeysByCommand,
    ShortcutCommand,
)
from app.widgets.layouts import build_dialog_buttons, build_row, build_widget_column
from app.widgets.scroll_container import fit_on_screen
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting, fuzzy
from app.words.language import mark, tr
from engine.overrides import override

KEY_COMBINATIONS_MAX: Final = 2
"""Maximum number of key combinations of a shortcut, such as Ctrl+K, Ctrl+C."""
_PRESS_KEYS_TEXT: Final = mark("Press the new shortcut: one or two key combinations.")


class KeyRow(Struct, frozen=True):
    """Row of a command: its current keys, and its keys in the keyboard scheme."""

    command: ShortcutCommand
    keys: tuple[str, ...]
    default_keys: tuple[str, ...]
    """Keys of the command in the keyboard scheme, without the user's changes."""

    @property
    def is_changed(self) -> bool:
        """True if the user changed the keys."""
        return self.keys != self.default_keys

    @property
    def search_text(self) -> str:
        """Text that the filter searches."""
        return " ".join((tr(self.command.group), tr(self.command.text), *self.keys))


def _get_color_name(row: KeyRow) -> str | None:
    return "muted" if row.command.is_fixed else "info" if row.is_changed else None


KEY_COLUMNS: Final[tuple[TableColumn[KeyRow], ...]] = (
    TableColumn(title=mark("Group"), text=lambda r: tr(r.command.group), color_name=_get_color_name,
           sample="\n".join({command.group for command in keys.SHORTCUT_COMMANDS})),
    TableColumn(title=mark("Command"), text=lambda r: tr(r.command.text), color_name=_get_color_name,
           bold=lambda r: r.is_changed, sample="Reset layout"),
    TableColumn(title=mark("Keys"), text=lambda r: format_keys(r.keys), color_name=_get_color_name,
           bold=lambda r: r.is_changed, sample="Ctrl+Shift+F  oder  Ctrl+Shift+T"),
    TableColumn(title=mark("Default"), text=lambda r: format_keys(r.default_keys) if r.is_changed else "",
           color_name=lambda r: "muted", sample="Ctrl+Shift+Backspace"),
    TableColumn(title=mark("Context"), text=lambda r: tr(FOCUS_SCOPES[r.command.scope][0]),
           color_name=lambda r: "muted", sample="\n".join(text for text, _ in FOCUS_SCOPES.values())),
)  # fmt: skip


def format_keys(texts: tuple[str, ...]) -> str:
    """Format keys with the key names of the platform."""
    separator = tr("or")
    return f"  {separator}  ".join(keys.format_native_keys(text) for text in texts) or formatting.NO_VALUE


class KeyEditor(QDialog):
    """Dialog with the keys of every command. OK emits the keys with `keys_chosen`."""

    keys_chosen = Signal(str, object)
    """Signal: name of the scheme, and the user's changes to it (command -> keys)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Change shortcuts"))
        self._keys: dict[str, tuple[str, ...]] = {}
        self.scheme = QComboBox()
        self.scheme.addItems(KEY_SCHEMES)
        self.scheme.currentTextChanged.connect(lambda _: self.reset_all())
        self.field = QLineEdit(placeholderText=tr("Search for a command or a shortcut"))
        self.field.setAccessibleName(tr("Search the commands"))
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(lambda _: self._filter_rows())
        self.model = TableModel(KEY_COLUMNS)
        self.table = TableView(self.model, tr("Commands and shortcuts"))
        self.table.horizontalHeader().setStretchLastSection(False)
        self.table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.table.setSelectionMode(TableView.SelectionMode.SingleSelection)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._show_command())
        self.name = QLabel()
        self.pressed_keys_field = QKeySequenceEdit()
        self.pressed_keys_field.setMaximumSequenceLength(KEY_COMBINATIONS_MAX)
        self.pressed_keys_field.setClearButtonEnabled(True)
        self.pressed_keys_field.setAccessibleName(tr("Press the new keys"))
        self.pressed_keys_field.keySequenceChanged.connect(lambda _: self._check_keys())
        # keySequenceChanged comes a second after the last key, but the text changes immediately
        self.pressed_keys_field.findChildren(QLineEdit)[0].textChanged.connect(lambda _: self._check_keys())
        self.warning = QLabel(wordWrap=True)
        self.set_button, self.add_button = QPushButton(tr("&Set")), QPushButton(tr("&Add"))
        self.none_button, self.usual_button = QPushButton(tr("&No key")), QPushButton(tr("Use &default"))
        self._lay_out()
        fit_on_screen(self, self.fontMetrics().height() * 60, self.fontMetrics().height() * 38)
        self.show_keys(SSMS_SCHEME, {})
        theme.call_after_events(self, theme.PALETTE_EVENTS, self._check_keys)

    def _lay_out(self) -> None:
        label = QLabel(tr("S&cheme"))
        label.setBuddy(self.scheme)
        reset = QPushButton(tr("&Reset all"))
        reset.clicked.connect(self.reset_all)
        top = build_row(label, self.scheme, reset, (self.field, 1))
        self.set_button.clicked.connect(lambda: self._assign_keys(add=False))
        self.add_button.clicked.connect(lambda: self._assign_keys(add=True))
        self.none_button.clicked.connect(self._remove_keys)
        self.usual_button.clicked.connect(self._restore_default_keys)
        self.set_button.setToolTip(tr("Replace the current keys with these"))
        self.add_button.setToolTip(tr("Add these keys to the current ones"))
        bottom = QGridLayout()
        bottom.addWidget(self.name, 0, 0, 1, 5)
        # the field has its own row, because next to the buttons, large text would leave no space for the keys
        bottom.addWidget(self.pressed_keys_field, 1, 0, 1, 5)
        buttons = (self.set_button, self.add_button, self.none_button, self.usual_button)
        for column, widget in enumerate(buttons, start=1):
            bottom.addWidget(widget, 2, column)
        bottom.addWidget(self.warning, 3, 0, 1, 5)
        bottom.setColumnStretch(0, 1)
        bottom.setRowMinimumHeight(3, 2 * self.fontMetrics().lineSpacing())
        box = build_dialog_buttons(self)
        for button in self.findChildren(QPushButton) + box.buttons():
            if isinstance(button, QPushButton):
                button.setAutoDefault(
                    False
                )  # Enter must not press a button, because the table and the field handle it
                button.setIcon(QIcon())
        build_widget_column(top, (self.table, 1), bottom, box, parent=self)

    # --- selection ----------------------------------------------------------------------------------------

    def show_keys(self, scheme: str, changes: KeysByCommand) -> None:
        """Show the keys of *scheme* with the user's *changes*."""
        self.scheme.setCurrentText(scheme)
        self._keys = keys.resolve_keys(scheme, changes)
        self._show_key_rows()
        self.table.selectRow(0)

    @property
    def changes(self) -> dict[str, tuple[str, ...]]:
        """Differences between the current keys and the keyboard scheme that is selected in the dialog."""
        return keys.list_key_changes(self.scheme.currentText(), self._keys)

    def reset_all(self) -> None:
        """Reset the keys of all commands to the keyboard scheme."""
        self._keys = keys.resolve_keys(self.scheme.currentText())
        self._show_key_rows()

    @override
    def accept(self) -> None:
        self.keys_chosen.emit(self.scheme.currentText(), self.changes)
        super().accept()

    def _show_key_rows(self) -> None:
        default_keys = keys.resolve_keys(self.scheme.currentText())
        row = self.table.currentIndex().row()
        self.model.replace_rows(
            [KeyRow(c, self._keys[c.name], default_keys[c.name]) for c in SHORTCUT_COMMANDS]
        )
        self.table.selectRow(max(0, row))
        self._show_command()

    def _filter_rows(self) -> None:
        query = self.field.text()
        if query.strip():
            best = fuzzy.find_best_matches(
                query, SHORTCUT_COMMANDS, lambda c: KeyRow(c, self._keys[c.name], ()).search_text
            )
            names = {command.name for command, _ in best}
            self.model.filter_rows(lambda row: row.command.name in names)
        else:
            self.model.filter_rows(None)
        self.table.selectRow(0)
        self._show_command()

    # --- one command --------------------------------------------------------------------------------------

    @property
    def _selected_row(self) -> KeyRow | None:
        row = self.table.currentIndex().row()
        return self.model.rows[row] if 0 <= row < len(self.model.rows) else None

    def _show_command(self) -> None:
        row = self._selected_row
        command = row.command if row is not None else None
        scope_text = tr(FOCUS_SCOPES[command.scope][0]) if command is not None else ""
        self.name.setText(
            tr("New keys for <b>{command}</b>, {where}:").format(command=tr(command.text), where=scope_text)
            if command is not None
            else ""
        )
        self.pressed_keys_field.clear()
        changeable = command is not None and not command.is_fixed
        self.pressed_keys_field.setEnabled(changeable)
        self.none_button.setEnabled(changeable and row is not None and bool(row.keys))
        self.usual_button.setEnabled(changeable and row is not None and row.is_changed)
        self._check_keys()

    def _check_keys(self) -> None:
        """Show the conflicts of the pressed keys, and enable the buttons if the keys can be used."""
        row, pressed = self._selected_row, self._pressed_keys
        refusal, clashes = "", list[KeyConflict]()
        if row is not None and (pressed or row.command.is_fixed):
            refusal = keys.explain_conflict(self._keys, row.command.name, pressed)
            clashes = [] if refusal else keys.list_conflicts_with(self._keys, row.command.name, pressed)
        is_unassigned = row is not None and bool(pressed) and not refusal
        self.set_button.setEnabled(is_unassigned)
        self.set_button.setText(tr("&Set and reassign") if clashes else tr("&Set"))
        self.add_button.setEnabled(is_unassigned and row is not None and bool(row.keys))
        if row is not None and row.command.is_fixed:
            self._show_warning("muted", refusal)
        elif refusal:
            self._show_warning("bad", refusal)
        elif clashes:
            self._show_warning(
                "warn",
                " ".join(
                    [*(clash.description for clash in clashes), tr("The other command loses these keys.")]
                ),
            )
        else:
            self._show_warning(
                "ok", tr("No other command uses these keys.")
            ) if is_unassigned else self._show_warning("muted", tr(_PRESS_KEYS_TEXT))

    def _show_warning(self, color_name: str, text: str) -> None:
        color = theme.get_theme_tokens(self.palette()).get_color(color_name)
        self.warning.setText(f'<span style="color:{color.name()}">{text}</span>')

    @property
    def _pressed_keys(self) -> str:
        return self.pressed_keys_field.keySequence().toString(QKeySequence.SequenceFormat.PortableText)

    def _assign_keys(self, add: bool) -> None:
        """Assign the pressed keys to the selected command. If *add*, the command keeps its other keys.

        Another command with the pressed keys loses them.
        """
        row, pressed = self._selected_row, self._pressed_keys
        if row is not None and pressed:
            self._keys = keys.assign_key(self._keys, row.command.name, pressed, add=add)
            self._show_key_rows()

    def _remove_keys(self) -> None:
        row = self._selected_row
        if row is not None:
            self._keys[row.command.name] = ()
            self._show_key_rows()

    def _restore_default_keys(self) -> None:
        """Restore the scheme's keys, even if another command uses them now."""
        row = self._selected_row
        if row is not None:
            self._keys[row.command.name] = ()
            for text in row.default_keys:
                self._keys = keys.assign_key(self._keys, row.command.name, text, add=True)
            self._show_key_rows()
