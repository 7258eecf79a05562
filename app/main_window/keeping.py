"""Unsent queries, kept while they are typed."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app.storage import Profile, StorageProblem
from app.views.console import Console

EDITOR_DRAFT: Final = "editor"
"""Key of the scenario editor's draft; all others are unsent queries."""
DRAFTS_MS: Final = 400
"""Pause in typing after which unsent queries are written down."""


class Drafts(QObject):
    """Texts of the SQL windows, written into the profile while they are typed."""

    said = Signal(str)
    """Why they could not be kept."""

    def __init__(self, console: Console, profile: Profile | None, parent: QObject) -> None:
        super().__init__(parent)
        self._console, self._profile = console, profile
        self._due = QTimer(self)
        self._due.setInterval(DRAFTS_MS)
        self._due.setSingleShot(True)
        self._due.timeout.connect(self.save)

    def restore(self) -> None:
        """Have the windows of last time again; from now on they are kept."""
        if self._profile is not None:
            kept = self._profile.drafts
            self._console.restore_drafts({key: kept.load(key) or "" for key in self._keys()})
        self._console.drafts_changed.connect(self._due.start)

    def save(self) -> None:
        """Write down what has changed; a full disk is told and takes nothing away."""
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
            self.said.emit(str(problem))

    def _keys(self) -> list[str]:
        assert self._profile is not None
        drafts = self._profile.drafts
        return [key for key in drafts.keys() if key != EDITOR_DRAFT]  # noqa: SIM118  # it is no mapping

    def close(self) -> None:
        """Save, and nothing more after that: the profile is about to be closed."""
        self.save()
        self._console.drafts_changed.disconnect(self._due.start)
