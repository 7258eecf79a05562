"""Table of all keys of the desk: action, scope, and the user's choice. Without widgets.

A row belongs to one action. `bind` gives actions their keys; `clashes` returns ambiguous keys. Rows marked *fixed*
are keys that a view handles itself. They are in the table so that the sheet shows them and no other action takes
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Final

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QAction, QKeySequence

from app.widgets.docks import DOCKS
from app.words.language import mark, tr

SSMS, VS_CODE = "SSMS", "VS Code"
SCHEMES: Final = (SSMS, VS_CODE)
"""SSMS: keys of Management Studio (2017 manual, with variants of 2008 R2). VS Code: keys of its mssql extension."""

Keys = Mapping[str, tuple[str, ...]]
"""Name of a command -> its keys as portable text ("Ctrl+K, Ctrl+C"); menus show the first one."""


@dataclass(frozen=True, slots=True)
class Command:
    """Action and its default keys."""

    name: str
    text: str
    group: str
    scope: str
    """Required position of the keyboard focus; a name of `SCOPES`."""
    ssms: tuple[str, ...] = ()
    vs_code: tuple[str, ...] | None = None
    """Keys in the VS Code scheme; None: as in Management Studio."""
    fixed: bool = False
    """True if the view handles these keys itself, so that they cannot be changed."""

    def keys(self, scheme: str) -> tuple[str, ...]:
        """Return the command's keys in a scheme."""
        return self.vs_code if scheme == VS_CODE and self.vs_code is not None else self.ssms


WINDOW: Final = "window"
DESK: Final = "desk"
REST: Final = "rest"
"""Scope of keys that no panel of the desk has handled."""
SCOPES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    WINDOW: (mark("anywhere"), ()),
    DESK: (mark("on the desk"), (WINDOW,)),
    REST: (mark("on the desk"), (DESK,)),
    "start": (mark("on the start page"), (WINDOW,)),
    "query": (mark("in an SQL window"), (DESK,)),
    "editor": (mark("in the text of an SQL window"), ("query",)),
    "explorer": (mark("in Object Explorer"), (DESK,)),
    "scenario": (mark("in the scenario editor"), (WINDOW,)),
    "topology": (mark("in the topology"), (DESK,)),
    "items": (mark("in the topology table"), (DESK,)),
    "ledger": (mark("in the fault ledger"), (DESK,)),
    "system": (mark("in System Monitor"), (DESK,)),
    "monitor": (mark("in the monitor"), (DESK,)),
    "logs": (mark("in logs, states and events"), (DESK,)),
    "stage": (mark("in a staged failover"), (WINDOW,)),
    "charts": (mark("in the charts"), (DESK,)),
    "strip": (mark("on a timeline"), (DESK,)),
    "batches": (mark("in the history of batches"), ("query",)),
    "table": (mark("in any table"), ("query", "items", "ledger", "system", "monitor", "logs", "batches")),
}
"""Scope -> its label, and the enclosing scopes whose keys also work there."""


def _keys(text: str) -> tuple[str, ...]:
    """Return keys that mean the same, written with a bar between them."""
    return tuple(text.split(" | ")) if text else ()


def _rows(group: str, scope: str, *rows: tuple[str, ...], fixed: bool = False) -> Iterator[Command]:
    """Yield rows of (name, text, keys, keys in VS Code), keys that mean the same with a bar between them."""
    for name, text, *schemes in rows:
        keys = [_keys(choice) for choice in schemes]
        ssms, vs_code = keys[0] if keys else (), keys[1] if len(keys) > 1 else None
        yield Command(name, text, group, scope, ssms, vs_code, fixed)


COMMANDS: Final[tuple[Command, ...]] = (
    *_rows(
        mark("Drill"), "start",
        ("start.search", mark("Search the drills"), "Ctrl+K"),
        fixed=True,
    ),
    *_rows(
        mark("Drill"), WINDOW,
        ("drill.open", mark("Open a drill…"), "Ctrl+Shift+O"),
        ("drill.open_file", mark("Open a file…"), "Ctrl+O"),
        ("drill.open_run", mark("Open a recorded run…"), "Ctrl+Alt+O"),
        ("drill.restart", mark("Start this drill again"), "Ctrl+Alt+Home"),
        ("drill.branches", mark("Branches of this run"), "Ctrl+Alt+B"),
        ("drill.save_scenario", mark("Save this run as a scenario…")),
        ("drill.editor", mark("Scenario editor"), "Ctrl+Alt+E"),
        ("drill.edit_copy", mark("Edit a copy of this drill")),
        ("drill.bundles", mark("Imported bundles…")),
        ("drill.accepted", mark("Accepted files…")),
        ("drill.export_bundle", mark("Export as a bundle…")),
        ("drill.hint", mark("Ask for a hint"), "Ctrl+F1"),
        ("drill.note", mark("Add a note to the run"), "Ctrl+Alt+M"),
        ("drill.act", mark("Type a command"), "Ctrl+;"),
        ("drill.finish", mark("Finish and score"), "Ctrl+Alt+End"),
        ("drill.quit", mark("Quit"), "Alt+F4"),
    ),
    *_rows(
        mark("Scenario editor"), "scenario",
        ("edit.new", mark("New")),
        ("edit.open", mark("Open…")),
        ("edit.save", mark("Save"), "Ctrl+S"),
        ("edit.save_as", mark("Save as…"), "Ctrl+Shift+S"),
        ("edit.undo", mark("Undo"), "Ctrl+Z"),
        ("edit.redo", mark("Redo"), "Ctrl+Y"),
        ("edit.record", mark("From the last run")),
        ("edit.form", mark("Form"), "Ctrl+1"),
        ("edit.timeline", mark("Timeline"), "Ctrl+2"),
        ("edit.preview", mark("Preview"), "Ctrl+3"),
        ("edit.text", mark("Text of the scenario"), "Ctrl+4"),
        ("edit.findings", mark("Findings"), "Ctrl+5"),
        ("edit.problem", mark("Next problem"), "F8 | Alt+F8"),
        ("edit.problem_before", mark("Previous problem"), "Shift+F8 | Alt+Shift+F8"),
        ("edit.try", mark("Run the solution"), "F5"),
        ("edit.play", mark("Play the draft"), "F6"),
        ("edit.close", mark("Close")),
    ),
    *_rows(
        mark("Time"), WINDOW,
        ("time.play", mark("Run or pause"), "Pause | Ctrl+Shift+Space"),
        ("time.step", mark("One step of 10 ms"), "F10"),
        ("time.next_event", mark("Run to the next event"), "F9"),
        ("time.next_state", mark("Run to the next state change"), "Shift+F9"),
        ("time.run_to", mark("Run to a moment…"), "Ctrl+F10"),
        ("time.until", mark("Run until…"), "Alt+F10"),
        ("time.next_alarm", mark("Run to the next alarm"), "Ctrl+F9"),
        ("time.faster", mark("Faster"), "Alt+."),
        ("time.slower", mark("Slower"), "Alt+,"),
        ("time.normal", mark("Normal speed"), "Alt+-"),
        ("time.back", mark("Previous marker"), "Alt+Left"),
        ("time.forward", mark("Next marker"), "Alt+Right"),
        ("time.now", mark("Return to now"), "Alt+End"),
        ("time.go_on", mark("Continue from the moment on screen"), "Alt+Shift+End"),
        ("time.moment", mark("Watch the last failover again"), "F12"),
        ("time.all", mark("Show the whole time range in every view"), "Ctrl+Alt+0"),
    ),
    *_rows(
        mark("Time"), REST,
        ("desk.pause", mark("Run or pause, outside of text, lists and buttons"), "Space"),
        fixed=True,
    ),
    *_rows(
        mark("Faults"), WINDOW,
        ("fault.revert_all", mark("Undo all faults")),
    ),
    *(
        Command(f"view.{dock.name}", dock.words or dock.title, "Views", DESK if dock.vs_code_keys else WINDOW,
                _keys(dock.keys), None if dock.vs_code_keys is None else _keys(dock.vs_code_keys))
        for dock in DOCKS
    ),
    *_rows(
        mark("Views"), WINDOW,
        ("view.full_screen", mark("Full screen"), "Alt+Shift+Return | F11", "F11"),
        ("view.larger", mark("Larger text"), "Ctrl++ | Ctrl+="),
        ("view.smaller", mark("Smaller text"), "Ctrl+-"),
        ("view.usual_size", mark("Normal text size"), "Ctrl+0"),
        ("view.theme", mark("Next theme")),
        ("view.contrast", mark("High contrast"), "Ctrl+Alt+C"),
        ("view.present", mark("Present: large text, few panels"), "Ctrl+Alt+P"),
        ("view.zoom", mark("Maximize or restore this panel"), "Ctrl+Alt+Z"),
        ("view.save_charts", mark("Save the charts…")),
        ("view.reset_layout", mark("Reset layout")),
    ),
    *_rows(
        mark("Teaching"), WINDOW,
        ("teach.note", mark("Add a note to the topology"), "Ctrl+Alt+N"),
        ("teach.spotlight", mark("Toggle spotlight"), "Ctrl+Alt+S"),
        ("teach.bright", mark("Clear spotlight"), "Ctrl+Alt+L"),
        ("teach.find", mark("Find an item in the topology"), "Ctrl+Alt+F"),
    ),
    *_rows(
        mark("Help"), WINDOW,
        ("help.here", mark("Help on this panel"), "F1"),
        ("view.say", mark("Describe current state"), "Alt+0"),
        ("help.palette", mark("Find any command…"), "Ctrl+Shift+P | Ctrl+Q"),
        ("help.first_run", mark("Watch a failover"), "Ctrl+Shift+F1"),
        ("help.sheet", mark("All shortcuts"), "Shift+F1"),
        ("help.keys", mark("Change shortcuts…"), "Ctrl+Alt+K"),
        ("help.check", mark("Check this installation…")),
        ("help.bundle", mark("Save a support bundle…")),
    ),
    *_rows(
        mark("SQL windows"), WINDOW,
        ("query.new", mark("New query on this server"), "Ctrl+N"),
    ),
    *_rows(
        mark("SQL windows"), REST,
        ("desk.run", mark("Execute the SQL window in front, unless F5 has another use there"), "F5"),
        fixed=True,
    ),
    *_rows(
        mark("SQL windows"), "query",
        ("query.run", mark("Execute"), "F5 | Ctrl+E | Ctrl+Shift+E | Alt+X", "F5 | Ctrl+Shift+E"),
        ("query.cancel", mark("Cancel the query"), "Alt+Pause | Alt+Cancel", "Alt+Pause | Alt+Cancel | Esc"),
        ("query.parse", mark("Parse, without running it"), "Ctrl+F5", "Shift+F5"),
        ("query.text", mark("Results to text"), "Ctrl+T"),
        ("query.grid", mark("Results to grid"), "Ctrl+D | Ctrl+Shift+D"),
        ("query.file", mark("Save results to a file…"), "Ctrl+Shift+F | Ctrl+Shift+T"),
        ("query.open", mark("Open a script…")),
        ("query.save", mark("Save this text as a script…"), "Ctrl+S"),
        ("query.connection", mark("Change connection…")),
        ("query.database", mark("Go to the list of databases"), "Ctrl+U"),
        ("query.zoom", mark("Maximize or restore the SQL windows")),
        ("query.who", mark("Connections (sp_who)"), "Ctrl+1"),
        ("query.about", mark("Describe the selected object (sp_help)"), "Alt+F1"),
        ("query.results", mark("Show or hide results"), "Ctrl+R", "Ctrl+R | Ctrl+J"),
        ("query.focus", mark("Next pane"), "F6"),
        ("query.focus_back", mark("Previous pane"), "Shift+F6"),
        ("query.places", mark("Fill in template parameters…"), "Ctrl+Shift+M"),
        ("query.snippets", mark("Insert a statement"), "Ctrl+Alt+T"),
        ("query.history", mark("History of batches"), "Ctrl+Alt+H"),
        ("query.next", mark("Next window"), "Ctrl+F6 | Ctrl+Tab", "Ctrl+PgDown | Ctrl+F6 | Ctrl+Tab"),
        ("query.before", mark("Previous window"), "Ctrl+Shift+F6 | Ctrl+Shift+Tab",
         "Ctrl+PgUp | Ctrl+Shift+F6 | Ctrl+Shift+Tab"),
        ("query.close", mark("Close window"), "Ctrl+F4", "Ctrl+W | Ctrl+F4"),
    ),
    *_rows(
        mark("T-SQL text"), "editor",
        ("editor.complete", mark("Complete a word"), "Ctrl+Space"),
        ("editor.comment", mark("Comment out"), "Ctrl+K, Ctrl+C"),
        ("editor.uncomment", mark("Uncomment"), "Ctrl+K, Ctrl+U"),
        ("editor.upper", mark("Upper case"), "Ctrl+Shift+U"),
        ("editor.lower", mark("Lower case"), "Ctrl+Shift+L"),
        ("editor.to_start", mark("Select to the start"), "Ctrl+Shift+Home"),
        ("editor.to_end", mark("Select to the end"), "Ctrl+Shift+End"),
        ("editor.line", mark("Go to a line"), "Ctrl+G"),
        ("editor.find", mark("Find"), "Ctrl+F"),
        ("editor.replace", mark("Find and replace"), "Ctrl+H"),
        ("editor.find_next", mark("Next match"), "F3"),
        ("editor.find_before", mark("Previous match"), "Shift+F3"),
        ("editor.undo", mark("Undo"), "Ctrl+Z"),
        ("editor.redo", mark("Redo"), "Ctrl+Y"),
        ("editor.cut", mark("Cut"), "Ctrl+X | Shift+Del"),
        ("editor.copy", mark("Copy"), "Ctrl+C | Ctrl+Ins"),
        ("editor.paste", mark("Paste"), "Ctrl+V | Shift+Ins"),
        ("editor.all", mark("Select everything"), "Ctrl+A"),
        fixed=True,
    ),
    *_rows(
        mark("Object Explorer"), "explorer",
        ("explorer.refresh", mark("Refresh"), "F5", "F5 | Ctrl+R"),
        ("explorer.query", mark("New query here"), "Ctrl+Return"),
        ("explorer.properties", mark("Mirroring properties"), "Alt+Return"),
    ),
    *_rows(
        mark("Topology"), "topology",
        ("topology.go", mark("Next item in this direction"), "Left | Right | Up | Down"),
        ("topology.nudge", mark("Move a card"), "Shift+Left | Shift+Right | Shift+Up | Shift+Down"),
        ("topology.menu", mark("Available actions"), "Return | Menu | Shift+F10"),
        ("topology.larger", mark("Zoom in"), "+ | ="),
        ("topology.smaller", mark("Zoom out"), "-"),
        ("topology.fit", mark("Fit to window"), "0"),
        ("topology.nothing", mark("Clear the selection, then the spotlight"), "Esc"),
        ("topology.cell", mark("Next database of a grid"), "Ctrl+Left | Ctrl+Right | Ctrl+Up | Ctrl+Down"),
        ("topology.find", mark("Find an item by its name"), "Ctrl+F | /"),
        ("topology.note", mark("Add a note to the canvas"), "N"),
        ("topology.unnote", mark("Remove the selected note"), "Del"),
        ("topology.spotlight", mark("Toggle spotlight"), "S"),
        fixed=True,
    ),
    *_rows(
        mark("Staged failover"), "stage",
        ("stage.step", mark("Previous phase, next phase"), "Left | Right"),
        ("stage.go", mark("Pause or continue"), "Space"),
        ("stage.replay", mark("Replay"), "R"),
        ("stage.export", mark("Export as GIF…"), "E"),
        ("stage.leave", mark("Back to the desk"), "Esc"),
        fixed=True,
    ),
    *_rows(
        mark("Topology table"), "items",
        ("items.menu", mark("Available actions"), "Return | Menu | Shift+F10"),
        fixed=True,
    ),
    *_rows(
        mark("Fault ledger"), "ledger",
        ("ledger.revert", mark("Undo the selected fault"), "Del"),
    ),
    *_rows(
        mark("System Monitor"), "system",
        ("system.add", mark("Add counters…"), "Ins | Ctrl+I"),
        ("system.remove", mark("Remove the selected counter"), "Del"),
        ("system.highlight", mark("Highlight the selected counter"), "Ctrl+H"),
        ("system.scale", mark("Larger or smaller scale"), "Ctrl+Up | Ctrl+Down"),
        fixed=True,
    ),
    *_rows(
        mark("Monitor"), "monitor",
        ("monitor.refresh", mark("Refresh"), "F5"),
        fixed=True,
    ),
    *_rows(
        mark("Logs"), "logs",
        ("logs.filter", mark("Go to the filter"), "Ctrl+F"),
        fixed=True,
    ),
    *_rows(
        mark("Charts"), "charts",
        ("charts.cursor", mark("Move the time cursor"), "Left | Right"),
        ("charts.mark", mark("Mark a time span"), "Shift+Left | Shift+Right"),
        ("charts.go", mark("Show the marked span in every view"), "Return"),
        ("charts.nothing", mark("Remove span and cursor"), "Esc"),
        fixed=True,
    ),
    *_rows(
        mark("Timelines"), "strip",
        ("strip.go", mark("Next marker, previous marker"), "Left | Right"),
        ("strip.choose", mark("Look back at this moment"), "Return"),
        fixed=True,
    ),
    *_rows(
        mark("History of batches"), "batches",
        ("batches.open", mark("Open in its window"), "Return"),
        ("batches.again", mark("Run again"), "Ctrl+Return"),
        fixed=True,
    ),
    *_rows(
        mark("Tables"), "table",
        ("table.copy", mark("Copy"), "Ctrl+C | Ctrl+Ins"),
        ("table.copy_headers", mark("Copy with headers"), "Ctrl+Shift+C"),
        ("table.all", mark("Select everything"), "Ctrl+A"),
        ("table.to_start", mark("Select to the start"), "Ctrl+Shift+Home"),
        ("table.to_end", mark("Select to the end"), "Ctrl+Shift+End"),
        fixed=True,
    ),
)  # fmt: skip
"""Commands in the order of the key sheet."""

BY_NAME: Final = {command.name: command for command in COMMANDS}

_NO_TEXT: Final = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)


# --- keys as text -------------------------------------------------------------------------------------------


@cache
def normal(text: str) -> str:
    """Return keys as they are always written: `ctrl+k,ctrl+c` -> `Ctrl+K, Ctrl+C`.

    Raises ValueError for what is no key.
    """
    sequence = QKeySequence(text)
    if not sequence.count() or any(key.key() in (Qt.Key.Key_unknown, Qt.Key(0)) for key in _parts(sequence)):
        raise ValueError(f"{text!r} is no key; write keys like F5, Ctrl+Shift+P or Ctrl+K, Ctrl+C")
    return sequence.toString(QKeySequence.SequenceFormat.PortableText)


def as_text(key: int) -> str:
    """Return a key without Ctrl, Alt or Shift as it is written in the table."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)


def format_native(text: str) -> str:
    """Return keys as this system's menus write them."""
    return QKeySequence(text).toString(QKeySequence.SequenceFormat.NativeText)


def types_a_character(text: str) -> bool:
    """Return whether the key alone would write a character, which text fields outside its view need."""
    first = _parts(QKeySequence(text))[0]
    writes = first.key() < Qt.Key.Key_Escape  # codes above are no characters
    return writes and not first.keyboardModifiers() & _NO_TEXT


def _parts(sequence: QKeySequence) -> list[QKeyCombination]:
    return [sequence[place] for place in range(sequence.count())]  # type: ignore[index]  # missing in the stubs


# --- which keys hold ----------------------------------------------------------------------------------------


def keys_of(scheme: str, changes: Keys | None = None) -> dict[str, tuple[str, ...]]:
    """Return the keys of every command: those of *scheme*, and in their place the *changes* that the user has made."""
    found = {command.name: tuple(normal(key) for key in command.keys(scheme)) for command in COMMANDS}
    for name, keys in (changes or {}).items():
        if name in found and not BY_NAME[name].fixed:
            found[name] = tuple(normal(key) for key in keys)
    return found


@dataclass(frozen=True, slots=True)
class Clash:
    """Two commands with the same keys, so that neither would work."""

    keys: str
    first: str
    second: str

    @property
    def sentence(self) -> str:
        """Return the clash as text."""
        one, other = BY_NAME[self.first], BY_NAME[self.second]
        where = tr(SCOPES[_find_inner_scope(one, other)][0])
        said = tr("{keys} means both “{one}” and “{other}” {where}.")
        return said.format(keys=format_native(self.keys), one=tr(one.text), other=tr(other.text), where=where)


def clashes(keys: Keys) -> list[Clash]:
    """Return every pair of commands that get in each other's way."""
    found = []
    for one, other in combinations(COMMANDS, 2):
        if scopes_overlap(one.scope, other.scope):
            for key in keys.get(one.name, ()):
                found += [
                    Clash(key, one.name, other.name)
                    for second in keys.get(other.name, ())
                    if _starts_alike(key, second)
                ]
    return found


def clashes_with(keys: Keys, name: str, text: str) -> list[Clash]:
    """Return the conflicts that would arise if the command *name* had the keys *text*."""
    tried = {**keys, name: (normal(text),)}
    return [clash for clash in clashes(tried) if name in (clash.first, clash.second)]


def explain_conflict(keys: Keys, name: str, text: str) -> str:
    """Return the reason why the command cannot have these keys, as a sentence.

    The result is empty if it can, even if other commands must give up the keys.
    """
    command = BY_NAME[name]
    if command.fixed:
        return tr(
            "The view handles these keys itself; they are listed so that no other command can use them."
        )
    if command.scope in (WINDOW, DESK) and types_a_character(text):
        return tr("{keys} would no longer work in text fields.").format(keys=format_native(text))
    fixed = [
        clash for clash in clashes_with(keys, name, text) if BY_NAME[_find_other_command(clash, name)].fixed
    ]
    return " ".join((fixed[0].sentence, tr("These keys cannot be changed."))) if fixed else ""


def assign_key(keys: Keys, name: str, text: str, *, add: bool = False) -> dict[str, tuple[str, ...]]:
    """Return all keys after the command got these (in addition if *add*); its former owner loses them."""
    found, new = dict(keys), normal(text)
    for clash in clashes_with(keys, name, new):
        other = _find_other_command(clash, name)
        found[other] = tuple(key for key in found[other] if not _starts_alike(key, new))
    kept = tuple(key for key in keys[name] if not _starts_alike(key, new)) if add else ()
    return {**found, name: (*kept, new)}


def _find_other_command(clash: Clash, name: str) -> str:
    return clash.first if clash.second == name else clash.second


def scopes_overlap(scope: str, other_scope: str) -> bool:
    """Return whether a keyboard can be in both scopes at once: one is the other, or may lie around it."""
    return scope in _find_enclosing_scopes(other_scope) or other_scope in _find_enclosing_scopes(scope)


def _find_enclosing_scopes(scope: str) -> set[str]:
    """Return the scope and all that may lie around it."""
    return {scope}.union(*(_find_enclosing_scopes(outer) for outer in SCOPES[scope][1]))


def _find_inner_scope(command: Command, other_command: Command) -> str:
    return (
        command.scope if other_command.scope in _find_enclosing_scopes(command.scope) else other_command.scope
    )


def _starts_alike(key: str, other_key: str) -> bool:
    """Return whether they are equal, or one begins the other: Ctrl+K excludes Ctrl+K, Ctrl+C."""
    none = QKeySequence.SequenceMatch.NoMatch
    a, b = QKeySequence(key), QKeySequence(other_key)
    return a.matches(b) != none or b.matches(a) != none


# --- changes that last --------------------------------------------------------------------------------------


def changes_from(scheme: str, keys: Keys) -> dict[str, tuple[str, ...]]:
    """Return the differences from *scheme*."""
    usual = keys_of(scheme)
    return {
        name: tuple(found) for name, found in keys.items() if name in usual and tuple(found) != usual[name]
    }


def to_text(changes: Keys) -> str:
    """Format the changes for the settings; empty for none."""
    return json.dumps({name: list(keys) for name, keys in sorted(changes.items())}) if changes else ""


def from_text(text: str) -> dict[str, tuple[str, ...]]:
    """Parse changes from the settings; invalid ones are dropped, so that nobody is locked out."""
    try:
        stored = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for name, keys in stored.items() if isinstance(stored, dict) else ():
        if name in BY_NAME and isinstance(keys, list) and all(_is_key(key) for key in keys):
            found[name] = tuple(normal(key) for key in keys)
    return found


def _is_key(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(normal(value))
    except ValueError:
        return False


# --- actions ------------------------------------------------------------------------------------------------


def bind(actions: Mapping[str, QAction], keys: Keys) -> None:
    """Give each action the keys of the command of its name, and have them work where the table says.

    Those of the desk work in its floating panels, too, and so in the whole window: a page beside the desk that has
    one of these keys for itself takes it before it comes that far.

    KeyError for a name that the table does not know.
    """
    inside, window = Qt.ShortcutContext.WidgetWithChildrenShortcut, Qt.ShortcutContext.WindowShortcut
    for name, action in actions.items():
        command = BY_NAME[name]
        assert not command.fixed, f"{name} has keys that its view handles itself"
        action.setShortcuts([QKeySequence(key) for key in keys[name]])
        action.setShortcutContext(window if command.scope in (WINDOW, DESK) else inside)


def find_unbound_commands(names: Iterable[str]) -> list[str]:
    """Return commands that have no action among *names*: the table would promise what nobody does."""
    there = set(names)
    return [command.name for command in COMMANDS if not command.fixed and command.name not in there]
