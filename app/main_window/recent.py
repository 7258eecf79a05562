"""Scenario files that were opened last, in the Drill menu."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app import settings
from app.settings import WindowSettings
from app.widgets.tables import plain_tip
from app.words.language import tr
from engine.drill.authoring.contents import escape_invisible

KEPT: Final = 10
"""Files that are remembered. Ours: what a menu shows at a glance."""


class Recent(QObject):
    """Remembers files, newest first; those that are gone stay in sight but cannot be chosen."""

    file_wanted = Signal(str)
    """The path of one that is to be opened."""

    def __init__(self, store: WindowSettings, parent: QWidget) -> None:
        super().__init__(parent)
        self._store = store
        self.menu = QMenu(tr("Recent &files"), parent, toolTipsVisible=True)
        self.menu.aboutToShow.connect(self._fill)

    def files(self) -> list[Path]:
        """Return recent files that still exist, newest first."""
        found = self._store.json(settings.RECENT)
        names = found[:KEPT] if isinstance(found, list) else []
        return [Path(name) for name in names if isinstance(name, str) and "\0" not in name]

    def add(self, file: str) -> None:
        """Add *file*, which was opened."""
        path = Path(file).resolve()
        self._keep([path, *(other for other in self.files() if other != path)][:KEPT])

    def clear(self) -> None:
        """Remove all entries."""
        self._keep([])

    def _keep(self, files: list[Path]) -> None:
        self._store.set(settings.RECENT, json.dumps([str(file) for file in files]))

    def _fill(self) -> None:
        """Add one entry a file, with its folder if names are equal."""
        menu, files = self.menu, self.files()
        menu.clear()
        names = [file.name for file in files]
        for number, file in enumerate(files, start=1):
            text = file.name if names.count(file.name) == 1 else f"{file.name}  –  {file.parent}"
            action = menu.addAction(f"&{number % 10}  {escape_invisible(text).replace('&', '&&')}")
            action.setToolTip(plain_tip(escape_invisible(str(file))))
            action.setEnabled(file.is_file())
            action.triggered.connect(lambda _=False, file=file: self.file_wanted.emit(str(file)))
        if files:
            menu.addSeparator()
        menu.addAction(tr("Clear this list"), self.clear).setEnabled(bool(files))
