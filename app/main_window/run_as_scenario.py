"""A scenario from what was done: play in the lab, break things, mend them, save the run as a drill."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.main_window import actions, scenario_saving
from app.words.language import tr
from app.words.sentences import said
from engine.drill.authoring import recorded
from engine.drill.running import seat
from engine.drill.running.drill import Drill

if TYPE_CHECKING:
    from app.main_window.window import MainWindow

NAME_MAX: Final = 60
"""Characters of a scenario's name, by its schema."""


def may_be_told(window: MainWindow, drill: Drill) -> bool:
    """Its story is no secret: an exam has to be over. Otherwise that is said."""
    if seat.secret(drill):
        window.notice.warn(tr("An exam can only be saved as a scenario after its end."))
        return False
    return True


def suggested_name(drill: Drill) -> str:
    """What a scenario made of this run is called until somebody chooses."""
    return f"my-{drill.scenario.name}"[:NAME_MAX].rstrip("-_")


def save_as_scenario(window: MainWindow) -> None:
    """Ask for a file in the user's own folder and write the run on screen, or its debrief's, as a scenario."""
    tree = window.play.branches
    if tree is None:
        window.notice.tell(tr("No run is open that could be saved as a scenario."))
        return
    drill = tree.history.drill
    if not may_be_told(window, drill):
        return
    window.session.pause()
    suggested = f"{suggested_name(drill)}.toml"
    file = scenario_saving.chosen_file(window, tr("Save this run as a scenario"), suggested)
    if file is not None:
        write(window, file)


def write(window: MainWindow, file: Path) -> None:
    """Write the run on screen to *file*, wholly or not at all; what stands against it is said."""
    assert window.play.branches is not None
    try:
        text = recorded.scenario_from_drill(window.play.branches.history.drill, file.stem)
    except recorded.CannotRecord as problem:
        window.notice.warn(said(str(problem)))
        return
    if scenario_saving.write(window, file, text):
        told = tr("Saved: {file}. Replace the texts that begin with “{mark}”; check lists them.")
        window.notice.tell(told.format(file=file, mark=recorded.TO_WRITE.strip()))


def attach(window: MainWindow) -> None:
    """Put the entry into the menu."""
    added = actions.add(window, {"drill.save_scenario": lambda: save_as_scenario(window)})
    menu = window.menus["&Drill"]
    menu.insertAction(window.actions_by_name["drill.quit"], added["drill.save_scenario"])
    menu.insertSeparator(window.actions_by_name["drill.quit"])
