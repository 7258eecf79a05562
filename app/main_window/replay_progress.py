"""Progress of a replay in the status bar of every page, with a button that stops it."""

from __future__ import annotations

from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QToolButton, QWidget

from app.main_window.session import HostSession
from app.words.language import tr

ROOM_LINES: Final = 60
"""A window of fewer lines of text in width has no room for the words; the bar has them as its tip."""


class Loading(QWidget):
    """A bar and a button; hidden while nothing is loaded."""

    def __init__(self, session: HostSession) -> None:
        super().__init__()
        self._session = session
        self.words = words = QLabel(tr("Working…"))
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(160)
        self.bar.setAccessibleName(words.text())
        self.bar.setToolTip(words.text())
        self.stop = QToolButton()
        self.stop.setText(tr("Cancel"))
        self.stop.clicked.connect(self._session.cancel)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 0, 0)
        for part in (words, self.bar, self.stop):
            row.addWidget(part)
        self._session.progress.connect(self._show)
        self.hide()

    def _show(self, share: float) -> None:
        self.bar.setMaximum(1000 if share > 0.0 else 0)  # an indeterminate bar until progress is known
        self.bar.setValue(round(share * 1000))
        self.words.setVisible(self.window().width() >= ROOM_LINES * self.fontMetrics().height())
        self.setVisible(share >= 0.0 and self._session.loading)
