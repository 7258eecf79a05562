"""Small dialogs that ask for a note, a time, a file, a condition or shortcuts."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from app.main_window.appearance import AppearanceSettings
from app.main_window.host_session import HostSession
from app.views.condition_dialog import ConditionDialog
from app.views.key_editor import KeyEditor
from app.views.shortcut_sheet import ShortcutSheet
from app.widgets.ask_text import ask_text
from app.words.language import tr
from app.words.localization import localize
from engine.drill.authoring.conditions import ConditionError
from engine.drill.running.drill import Drill


def ask_note(parent: QWidget, apply_line: Callable[[str], None]) -> None:
    """Ask for the text of a note and pass it to *apply_line* as an input line."""
    text = ask_text(parent, tr("Note"), tr("Note for the run:"))
    if text and text.strip():
        apply_line(f"note {text.strip()}")


def ask_time(parent: QWidget, now_s: float, run_to: Callable[[float], None]) -> None:
    """Ask for a future time in seconds since the start, and pass it to *run_to*."""
    to_s, accepted = QInputDialog.getDouble(
        parent,
        tr("Run to"),
        tr("Time to run to, in seconds from the start:"),
        now_s + 60.0,
        now_s,
        now_s + 86_400.0,
        2,
    )
    if accepted:
        run_to(to_s)


def ask_file(parent: QWidget) -> str:
    """Return the path of a scenario, bundle or run; empty if the dialog was canceled."""
    drills = tr("Drills, bundles and recorded runs (*.toml *.mirrordrill *.json)")
    kinds = ";;".join(
        (tr("All supported files (*.toml *.mirrordrill *.json *.sql)"), drills, tr("Scripts (*.sql)"))
    )
    name, _ = QFileDialog.getOpenFileName(parent, tr("Open a file"), "", kinds)
    return name


def show_shortcut_sheet(parent: QWidget, appearance: AppearanceSettings) -> ShortcutSheet:
    """Show the list of keyboard shortcuts, with a button that opens the shortcut editor."""
    sheet = ShortcutSheet(parent)
    sheet.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    sheet.show_keys(appearance.key_scheme, appearance.current_keys)
    sheet.change_wanted.connect(lambda: edit_shortcuts(sheet, appearance))

    def update_sheet() -> None:
        sheet.show_keys(appearance.key_scheme, appearance.current_keys)

    appearance.changed.connect(update_sheet)
    # the dialog is deleted when it is closed
    sheet.finished.connect(lambda _: appearance.changed.disconnect(update_sheet))
    sheet.open()
    return sheet


def edit_shortcuts(parent: QWidget, appearance: AppearanceSettings) -> KeyEditor:
    """Show the editor of keyboard shortcuts."""
    editor = KeyEditor(parent)
    editor.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    editor.show_keys(appearance.key_scheme, appearance.key_changes)
    editor.keys_chosen.connect(appearance.set_keys)
    editor.open()
    return editor


def list_example_conditions(drill: Drill) -> list[str]:
    """Return example conditions about the objects of this drill, without the conditions of its goals."""
    world = drill.world
    databases, servers = world.list_databases(), list(world.instances)
    example_list = [f"{database} is SYNCHRONIZED" for database in databases[:1]]
    example_list += [f"redo_queue_kb({database}) == 0" for database in databases[:1]]
    example_list += [f"not {database} is serving" for database in databases[:1]]
    example_list += [
        f"{database} on {servers[1]} is PRINCIPAL" for database in databases[:1] if len(servers) > 1
    ]
    example_list += [f"downtime_s({database}) > 30" for database in databases[:1]]
    return [text for text in example_list if not _find_condition_problem(drill, text)]


def _find_condition_problem(drill: Drill, text: str) -> str:
    if not text.strip():
        return tr("Enter a condition.")
    try:
        drill.is_condition_met(text)
    except ConditionError as problem:
        return localize(str(problem))
    return ""


def ask_condition(session: HostSession, parent: QWidget) -> None:
    """Ask for a condition and run until it is met."""
    drill = session.drill
    if drill is None:
        return
    if drill.is_truth_hidden:
        session.run_until(
            ""
        )  # run_until refuses every condition while the truth is hidden, and shows the reason
        return
    box = ConditionDialog(
        list_example_conditions(drill), lambda text: _find_condition_problem(drill, text), parent
    )
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.condition_chosen.connect(session.run_until)
    box.open()
