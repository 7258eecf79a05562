"""Table of all keyboard shortcuts of the desk, with their scopes and the user's changes.

The module does not depend on widgets.

Each row belongs to one action. `bind_shortcuts` sets the keys of actions, and `list_key_conflicts` returns
conflicts. Keys of *fixed* rows are handled by a view itself. Such rows exist only for the key sheet, and to
prevent other actions from using the keys.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QAction, QKeySequence

from app.widgets.docks import DOCK_SPECS
from app.words.language import mark, tr
from engine.tables import read_table

SSMS_SCHEME, VS_CODE_SCHEME = "SSMS", "VS Code"
KEY_SCHEMES: Final = (SSMS_SCHEME, VS_CODE_SCHEME)
"""Key schemes: the keys of Management Studio, and those of VS Code's mssql extension.

Sources: manual of Management Studio 2017, with variants of 2008 R2.
"""

KeysByCommand = Mapping[str, tuple[str, ...]]
"""Name of a command -> its keys as portable text, for example "Ctrl+K, Ctrl+C". Menus show the first key."""


class ShortcutCommand(Struct, frozen=True):
    """Command of the desk with its default keys."""

    name: str
    text: str
    group: str
    scope: str
    """Part of the window that must have the keyboard focus, one of the entries of `FOCUS_SCOPES`."""
    ssms: tuple[str, ...] = ()
    vs_code: tuple[str, ...] | None = None
    """Keys in the scheme VS_CODE_SCHEME. None means the keys in SSMS_SCHEME."""
    is_fixed: bool = False
    """True if a view handles these keys itself, so that they cannot be changed."""

    def list_keys(self, scheme: str) -> tuple[str, ...]:
        """Return the keys of the command in *scheme*."""
        return self.vs_code if scheme == VS_CODE_SCHEME and self.vs_code is not None else self.ssms


WINDOW_SCOPE: Final = "window"
DESK_SCOPE: Final = "desk"
UNHANDLED_KEYS_SCOPE: Final = "rest"
"""Scope of keys that have an effect only if no panel of the desk has handled them."""
FOCUS_SCOPES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    WINDOW_SCOPE: (mark("anywhere"), ()),
    DESK_SCOPE: (mark("during a run"), (WINDOW_SCOPE,)),
    UNHANDLED_KEYS_SCOPE: (mark("during a run"), (DESK_SCOPE,)),
    "start": (mark("on the start page"), (WINDOW_SCOPE,)),
    "query": (mark("in an SQL window"), (DESK_SCOPE,)),
    "editor": (mark("in the text of an SQL window"), ("query",)),
    "explorer": (mark("in Object Explorer"), (DESK_SCOPE,)),
    "scenario": (mark("in the scenario editor"), (WINDOW_SCOPE,)),
    "topology": (mark("in the topology"), (DESK_SCOPE,)),
    "items": (mark("in the topology table"), (DESK_SCOPE,)),
    "ledger": (mark("in the fault ledger"), (DESK_SCOPE,)),
    "system": (mark("in System Monitor"), (DESK_SCOPE,)),
    "monitor": (mark("in Database Mirroring Monitor"), (DESK_SCOPE,)),
    "logs": (mark("in logs, states and events"), (DESK_SCOPE,)),
    "stage": (mark("in a failover shown phase by phase"), (WINDOW_SCOPE,)),
    "charts": (mark("in the charts"), (DESK_SCOPE,)),
    "strip": (mark("on a timeline"), (DESK_SCOPE,)),
    "batches": (mark("in the batch history"), ("query",)),
    "table": (mark("in any table"), ("query", "items", "ledger", "system", "monitor", "logs", "batches")),
}
"""Scope -> (label, enclosing scopes). Keys of the enclosing scopes also work in the scope."""


def _split_keys(text: str) -> tuple[str, ...]:
    """Split *text* at each " | " into alternative keys of a command."""
    return tuple(text.split(" | ")) if text else ()


def _read_commands() -> Iterator[ShortcutCommand]:
    """Read the commands from keys.tsv.

    In the VS Code column, an empty cell means the keys of Management Studio, and "-" means no keys. The row
    `view.*` represents all docks.
    """
    for row in read_table("app.widgets", "keys.tsv"):
        if row["name"] == "view.*":
            for dock in DOCK_SPECS:
                scope = DESK_SCOPE if dock.vs_code_keys else WINDOW_SCOPE
                vs_code = None if dock.vs_code_keys is None else _split_keys(dock.vs_code_keys)
                text = dock.action_text or dock.title
                yield ShortcutCommand(
                    f"view.{dock.name}", text, row["group"], scope, _split_keys(dock.keys), vs_code
                )
            continue
        vs_code = _split_keys(row["vs_code"].strip("-")) if row["vs_code"] else None
        fixed = bool(row["fixed"])
        yield ShortcutCommand(
            row["name"], row["text"], row["group"], row["scope"], _split_keys(row["ssms"]), vs_code, fixed
        )


SHORTCUT_COMMANDS: Final = tuple(_read_commands())
"""Commands in the order of the key sheet."""

COMMANDS_BY_NAME: Final = {command.name: command for command in SHORTCUT_COMMANDS}

_COMMAND_MODIFIERS: Final = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)


# --- keys as text -------------------------------------------------------------------------------------------


@cache
def normalize_keys(text: str) -> str:
    """Return keys in normal form, for example `Ctrl+K, Ctrl+C` for `ctrl+k,ctrl+c`.

    Raises ValueError for an invalid key.
    """
    sequence = QKeySequence(text)
    if not sequence.count() or any(
        key.key() in (Qt.Key.Key_unknown, Qt.Key(0)) for key in _split_combinations(sequence)
    ):
        raise ValueError(f"{text!r} is no key; write keys like F5, Ctrl+Shift+P or Ctrl+K, Ctrl+C")
    return sequence.toString(QKeySequence.SequenceFormat.PortableText)


def format_key(key: int) -> str:
    """Return the name of *key*, without modifiers, as the table of keys spells it."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)


def format_native_keys(text: str) -> str:
    """Return keys as menus of this platform show them."""
    return QKeySequence(text).toString(QKeySequence.SequenceFormat.NativeText)


def is_character_key(text: str) -> bool:
    """Return True if the key types a character. A command with such a key would block typing in text fields."""
    first = _split_combinations(QKeySequence(text))[0]
    writes = first.key() < Qt.Key.Key_Escape  # codes from Key_Escape upward are not characters
    return writes and not first.keyboardModifiers() & _COMMAND_MODIFIERS


def _split_combinations(sequence: QKeySequence) -> list[QKeyCombination]:
    return [sequence[place] for place in range(sequence.count())]  # type: ignore[index]  # missing in the stubs


# --- keys in effect -----------------------------------------------------------------------------------------


def resolve_keys(scheme: str, changes: KeysByCommand | None = None) -> dict[str, tuple[str, ...]]:
    """Return the keys of every command: the keys of *scheme*, with the user's *changes* applied."""
    keys_by_command = {
        command.name: tuple(normalize_keys(key) for key in command.list_keys(scheme))
        for command in SHORTCUT_COMMANDS
    }
    for name, keys in (changes or {}).items():
        if name in keys_by_command and not COMMANDS_BY_NAME[name].is_fixed:
            keys_by_command[name] = tuple(normalize_keys(key) for key in keys)
    return keys_by_command


class KeyConflict(Struct, frozen=True):
    """Two commands with the same keys. Neither command would work."""

    keys: str
    first_command: str
    second_command: str

    @property
    def description(self) -> str:
        """Description of the conflict."""
        first_command, second_command = (
            COMMANDS_BY_NAME[self.first_command],
            COMMANDS_BY_NAME[self.second_command],
        )
        scope_text = tr(FOCUS_SCOPES[_find_inner_scope(first_command, second_command)][0])
        text = tr("{keys} is assigned to both “{one}” and “{other}” {where}.")
        return text.format(
            keys=format_native_keys(self.keys),
            one=tr(first_command.text),
            other=tr(second_command.text),
            where=scope_text,
        )


def list_key_conflicts(keys: KeysByCommand) -> list[KeyConflict]:
    """Return all conflicts between commands."""
    clash_list = []
    for first_command, second_command in combinations(SHORTCUT_COMMANDS, 2):
        if is_scope_shared(first_command.scope, second_command.scope):
            for key in keys.get(first_command.name, ()):
                clash_list += [
                    KeyConflict(key, first_command.name, second_command.name)
                    for second in keys.get(second_command.name, ())
                    if _is_prefix_clash(key, second)
                ]
    return clash_list


def list_conflicts_with(keys: KeysByCommand, name: str, text: str) -> list[KeyConflict]:
    """Return the conflicts that the command *name* would have with the keys *text*."""
    tried = {**keys, name: (normalize_keys(text),)}
    return [
        clash for clash in list_key_conflicts(tried) if name in (clash.first_command, clash.second_command)
    ]


def explain_conflict(keys: KeysByCommand, name: str, text: str) -> str:
    """Return the reason why the command *name* cannot have the keys *text*; empty if it can.

    It can have keys that other commands must lose.
    """
    command = COMMANDS_BY_NAME[name]
    if command.is_fixed:
        return tr(
            "The view handles these keys directly. They are listed so that no other command can use them."
        )
    if command.scope in (WINDOW_SCOPE, DESK_SCOPE) and is_character_key(text):
        return tr("{keys} would stop working in text fields.").format(keys=format_native_keys(text))
    fixed = [
        clash
        for clash in list_conflicts_with(keys, name, text)
        if COMMANDS_BY_NAME[_find_other_command(clash, name)].is_fixed
    ]
    return " ".join((fixed[0].description, tr("These keys cannot be changed."))) if fixed else ""


def assign_key(keys: KeysByCommand, name: str, text: str, *, add: bool = False) -> dict[str, tuple[str, ...]]:
    """Return the keys of all commands after *text* was assigned to the command *name*.

    If *add*, the command keeps its other keys. Other commands lose conflicting keys.
    """
    new_keys, new = dict(keys), normalize_keys(text)
    for clash in list_conflicts_with(keys, name, new):
        other_name = _find_other_command(clash, name)
        new_keys[other_name] = tuple(key for key in new_keys[other_name] if not _is_prefix_clash(key, new))
    other_keys = tuple(key for key in keys[name] if not _is_prefix_clash(key, new)) if add else ()
    return {**new_keys, name: (*other_keys, new)}


def _find_other_command(clash: KeyConflict, name: str) -> str:
    return clash.first_command if clash.second_command == name else clash.second_command


def is_scope_shared(scope: str, other_scope: str) -> bool:
    """Return True if the focus can be in both scopes: they are equal, or one of them encloses the other."""
    return scope in _find_enclosing_scopes(other_scope) or other_scope in _find_enclosing_scopes(scope)


def _find_enclosing_scopes(scope: str) -> set[str]:
    """Return *scope* and all scopes that enclose it."""
    return {scope}.union(*(_find_enclosing_scopes(outer) for outer in FOCUS_SCOPES[scope][1]))


def _find_inner_scope(command: ShortcutCommand, other_command: ShortcutCommand) -> str:
    return (
        command.scope if other_command.scope in _find_enclosing_scopes(command.scope) else other_command.scope
    )


def _is_prefix_clash(key: str, other_key: str) -> bool:
    """Return True if the keys are equal or one is the beginning of the other.

    For example, Ctrl+K conflicts with Ctrl+K, Ctrl+C.
    """
    no_match = QKeySequence.SequenceMatch.NoMatch
    a, b = QKeySequence(key), QKeySequence(other_key)
    return a.matches(b) != no_match or b.matches(a) != no_match


# --- stored changes -----------------------------------------------------------------------------------------


def list_key_changes(scheme: str, keys: KeysByCommand) -> dict[str, tuple[str, ...]]:
    """Return command -> keys, for each command whose *keys* differ from those of *scheme*."""
    default_keys = resolve_keys(scheme)
    return {
        name: tuple(command_keys)
        for name, command_keys in keys.items()
        if name in default_keys and tuple(command_keys) != default_keys[name]
    }


def format_key_changes(changes: KeysByCommand) -> str:
    """Format changes for the settings. No changes result in an empty string."""
    return json.dumps({name: list(keys) for name, keys in sorted(changes.items())}) if changes else ""


def parse_key_changes(text: str) -> dict[str, tuple[str, ...]]:
    """Parse changes from the settings. Ignore invalid changes, so that the program always starts."""
    try:
        stored = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    changes: dict[str, tuple[str, ...]] = {}
    for name, keys in stored.items() if isinstance(stored, dict) else ():
        if name in COMMANDS_BY_NAME and isinstance(keys, list) and all(_is_key(key) for key in keys):
            changes[name] = tuple(normalize_keys(key) for key in keys)
    return changes


def _is_key(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(normalize_keys(value))
    except ValueError:
        return False


# --- actions ------------------------------------------------------------------------------------------------


def bind_shortcuts(actions: Mapping[str, QAction], keys: KeysByCommand) -> None:
    """Set the keys of each action, and the part of the window in which they work.

    Keys with DESK_SCOPE work in the whole window, so that they also work in floating panels. If a page
    uses the same key, the page handles it first. Raises KeyError for an action name that is not in
    COMMANDS_BY_NAME.
    """
    widget_context, window = Qt.ShortcutContext.WidgetWithChildrenShortcut, Qt.ShortcutContext.WindowShortcut
    for name, action in actions.items():
        command = COMMANDS_BY_NAME[name]
        assert not command.is_fixed, f"{name} has keys that its view handles itself"
        action.setShortcuts([QKeySequence(key) for key in keys[name]])
        action.setShortcutContext(window if command.scope in (WINDOW_SCOPE, DESK_SCOPE) else widget_context)
