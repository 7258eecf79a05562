"""Findings as a list of topics and sentences, the verdict first and in large type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.widgets import theme
from app.words.language import tr
from app.words.localization import localize
from engine.overrides import override
from engine.planning import PlanFinding, Tone

SIGNS: Final = {Tone.OK: "✓", Tone.WARN: "!", Tone.BAD: "✕", Tone.INFO: "·"}
"""Signs of the tones, so that color is not the only sign."""


class PlannerFindings(QScrollArea):
    """Findings of the planner."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Findings"))
        self._shown_findings: list[PlanFinding] = []
        self.verdict = QLabel(wordWrap=True)
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._rows = QGridLayout()
        self._rows.setHorizontalSpacing(8)
        self._rows.setVerticalSpacing(3)
        self._rows.setColumnStretch(2, 1)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(6)
        column.addWidget(self.verdict)
        column.addLayout(self._rows)
        column.addStretch(1)
        self.setWidget(inside)

    def show_findings(self, findings: Sequence[PlanFinding]) -> None:
        """Show findings, of which the first is the verdict; none clears all."""
        self._shown_findings = list(findings)
        self._write()

    @property
    def text(self) -> str:
        """All that is said, for reading aloud and for tests."""
        return "\n".join(f"{localize(each.topic)}: {localize(each.text)}" for each in self._shown_findings)

    def _write(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.deleteLater()
        colors = theme.tokens(self.palette())
        self.verdict.setVisible(bool(self._shown_findings))
        if not self._shown_findings:
            return
        first, *others = self._shown_findings
        tone, ground = colors.named(first.tone), colors.named(f"{first.tone}_soft")
        self.verdict.setText(f"{SIGNS[first.tone]}  {localize(first.text)}")
        self.verdict.setStyleSheet(
            f"color: {tone.name()}; background: {ground.name()}; border-radius: 6px; padding: 6px 10px; "
            "font-weight: 600"
        )
        for number, each in enumerate(others):
            sign, topic, text = (
                QLabel(SIGNS[each.tone]),
                QLabel(localize(each.topic)),
                QLabel(localize(each.text)),
            )
            sign.setStyleSheet(f"color: {colors.named(each.tone).name()}; font-weight: 600")
            topic.setProperty("muted", "true")
            text.setWordWrap(True)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
            for column, label in enumerate((sign, topic, text)):
                self._rows.addWidget(label, number, column, Qt.AlignmentFlag.AlignTop)
        self.setAccessibleDescription(self.text)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._shown_findings:
            self._write()
