"""Save dialog that appends the file extension and asks before it replaces a file."""

from collections.abc import Container, Iterable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from app.files import atomic_write
from app.words.language import trn
from engine.drill.authoring.scenario import escape_invisible


def ask_for_file(
    parent: QWidget, title: str, suggested_path: str, kinds: str, replacing_extensions: Container[str] = ()
) -> Path | None:
    """Ask for a file of one of *kinds*, such as "Values (*.csv)". Return None if the user cancels.

    A name without an extension gets the extension of the selected kind. *replacing_extensions*: extensions that
    replace any other extension of the entered name.
    """
    chosen_file, kind = QFileDialog.getSaveFileName(parent, title, suggested_path, kinds)
    if not chosen_file:
        return None
    ending = (kind or kinds).partition("*")[2].partition(")")[0]
    file = atomic_write.add_extension(chosen_file, ending, replace=ending in replacing_extensions)
    is_asked = str(file) == chosen_file  # the file dialog has already asked whether to replace this file
    return file if is_asked or confirm_replacement(parent, title, [file]) else None


def confirm_replacement(parent: QWidget, title: str, files: Iterable[Path]) -> bool:
    """Ask whether existing *files* may be replaced. Return True without asking if none exists."""
    names = [escape_invisible(file.name) for file in files if file.exists()]
    if not names:
        return True
    text = trn(
        "{files} already exists. Replace it?", "{files} already exist. Replace them?", len(names)
    ).format(files=", ".join(names))
    yes, no = QMessageBox.StandardButton.Yes, QMessageBox.StandardButton.No
    return QMessageBox.question(parent, title, text, yes | no, no) == yes
