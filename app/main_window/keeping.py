"""Unsent queries, kept while they are typed."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from app.storage import Profile, StorageProblem
from app.views.console import Console

EDITOR_DRAFT: Final = "editor"
"""Key of the scenario editor's draft; all others are unsent queries."""
DRAFTS_MS: Final = 400
"""Pause in typing after which unsent queries are written down."""


LATEST_MS: Final = 2_000
"""After so much typing without a pause they are written down, too: as much is lost with the computer at most."""


class Pause(QTimer):
    """Goes off when nothing has changed for a while, or has changed for too long.

    A text is "changed" by its colours, too, and those of a long one go on coming for seconds.
    """

    def __init__(self, after_ms: int, parent: QObject) -> None:
        super().__init__(parent)
        self.setInterval(after_ms)
        self.setSingleShot(True)
        self._changing = QElapsedTimer()

    def changed(self) -> None:
        if not self.isActive():
            self._changing.start()
        if not self.isActive() or self._changing.elapsed() < LATEST_MS:
            self.start()


class Drafts(QObject):
    """Texts of the SQL windows, written into the profile while they are typed."""

    said = Signal(str)
    """Why they could not be kept."""

    def __init__(self, console: Console, profile: Profile | None, parent: QObject) -> None:
        super().__init__(parent)
        self._console, self._profile = console, profile
        self._told = ""
        self._due = Pause(DRAFTS_MS, self)
        self._due.timeout.connect(self.save)

    def restore(self) -> None:
        """Have the windows of last time again; from now on they are kept."""
        if self._profile is not None:
            kept = self._profile.drafts
            try:
                self._console.restore_drafts({key: kept.load(key) or "" for key in self._keys()})
            except StorageProblem as problem:
                self.said.emit(str(problem))
        self._console.drafts_changed.connect(self._due.changed)

    def save(self) -> None:
        """Write down what has changed; a full disk is told, once, and takes nothing away."""
        self._due.stop()
        if self._profile is None:
            return
        kept, texts = self._profile.drafts, self._console.drafts()
        try:
            for key in set(self._keys()) - set(texts):
                kept.delete(key)
            for key, text in texts.items():
                if kept.load(key) != text:
                    kept.save(key, text)
        except StorageProblem as problem:
            if str(problem) != self._told:
                self.said.emit(str(problem))
            self._told = str(problem)
        else:
            self._told = ""

    def _keys(self) -> list[str]:
        assert self._profile is not None
        drafts = self._profile.drafts
        return [key for key in drafts.keys() if key != EDITOR_DRAFT]  # noqa: SIM118  # it is no mapping

    def close(self) -> None:
        """Save, and nothing more after that: the profile is about to be closed."""
        self.save()
        self._console.drafts_changed.disconnect(self._due.changed)
