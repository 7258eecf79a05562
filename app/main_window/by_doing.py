"""A scenario from what was done: play in the lab, break things, mend them, save the run as a drill."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from app import scenario_files
from app.language import tr
from app.main_window import actions
from app.sentences import said
from engine.drill import recorded

if TYPE_CHECKING:
    from app.main_window.window import MainWindow


def save_as_scenario(window: MainWindow) -> None:
    """Ask for a file in the user's own folder and write the run on screen, or its debrief's, as a scenario."""
    tree = window.play.branches
    if tree is None:
        window.notice.tell(tr("There is no run on screen that could become a scenario."))
        return
    drill = tree.history.drill
    if not drill.terms.truth and not drill.finished:
        window.notice.warn(tr("An exam can be saved as a scenario when it is over."))
        return
    window.session.pause()
    folder = scenario_files.own_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path.home()
    suggested = str(folder / f"my-{drill.scenario.name}.toml")
    title, kind = tr("Save this run as a scenario"), tr("Scenarios (*.toml)")
    chosen, _ = QFileDialog.getSaveFileName(window, title, suggested, kind)
    if chosen:
        write(window, Path(chosen))


def write(window: MainWindow, chosen: Path) -> None:
    """Write the run on screen to *chosen*; what stands against it is said."""
    assert window.play.branches is not None
    file = chosen.with_name(f"{recorded.slug(chosen.stem)}.toml")
    try:
        text = recorded.scenario_from_drill(window.play.branches.history.drill, file.stem)
        file.write_text(text, encoding="utf-8", newline="")
    except recorded.CannotRecord as problem:
        window.notice.warn(said(str(problem)))
    except OSError as error:
        told = tr("{file} cannot be written: {reason}.")
        window.notice.warn(told.format(file=file, reason=error.strerror))
    else:
        window.quarantine.trust(text)
        told = tr("Saved: {file}. Its texts are left to you; they begin with “{mark}”, and check names them.")
        window.notice.tell(told.format(file=file, mark=recorded.TO_WRITE.strip()))


def attach(window: MainWindow) -> None:
    """Put the entry into the menu."""
    added = actions.add(window, {"drill.save_scenario": lambda: save_as_scenario(window)})
    menu = window.menus["&Drill"]
    menu.insertAction(window.actions_by_name["drill.quit"], added["drill.save_scenario"])
    menu.insertSeparator(window.actions_by_name["drill.quit"])
