"""Run until a condition holds."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.main_window.session import HostSession
from app.views.condition_dialog import ConditionDialog
from app.words.language import tr
from app.words.localization import localize
from engine.drill.authoring.conditions import ConditionError
from engine.drill.running import visibility
from engine.drill.running.drill import Drill


def examples(drill: Drill) -> list[str]:
    """Return conditions about this drill's objects, without the goals' own."""
    world = drill.world
    databases, servers = world.databases(), list(world.instances)
    found = [f"{database} is SYNCHRONIZED" for database in databases[:1]]
    found += [f"redo_queue_kb({database}) == 0" for database in databases[:1]]
    found += [f"not {database} is serving" for database in databases[:1]]
    found += [f"{database} on {servers[1]} is PRINCIPAL" for database in databases[:1] if len(servers) > 1]
    found += [f"downtime_s({database}) > 30" for database in databases[:1]]
    return [text for text in found if not _problem(drill, text)]


def _problem(drill: Drill, text: str) -> str:
    if not text.strip():
        return tr("Enter a condition.")
    try:
        drill.holds(text)
    except ConditionError as problem:
        return localize(str(problem))
    return ""


def ask(session: HostSession, parent: QWidget) -> None:
    """Ask for a condition and run to it."""
    drill = session.drill
    if drill is None:
        return
    if visibility.is_truth_hidden(drill):
        session.run_until("")  # shows the reason
        return
    box = ConditionDialog(examples(drill), lambda text: _problem(drill, text), parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.wanted.connect(session.run_until)
    box.open()
