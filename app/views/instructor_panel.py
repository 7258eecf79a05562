"""Panel for the instructor: the author's notes, and the coming events with their times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget

from app.widgets import theme
from app.widgets.layouts import build_widget_column
from app.widgets.markdown_view import MarkdownView
from app.words import formatting
from app.words.language import tr
from app.words.localization import describe_input
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.model import World

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill


class InstructorPanel(QScrollArea):
    """Instructor panel. It is hidden from trainees, because it reveals the drill."""

    requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drill: Drill | None = None
        self._shown_entries: tuple[int, ...] = ()
        self._notes = MarkdownView(full_height=True)
        self._coming_title = QLabel(tr("Upcoming events"))
        self._coming_events = QLabel()
        self._coming_events.setTextFormat(
            Qt.TextFormat.PlainText
        )  # a scenario may come from a stranger and contain HTML
        self._coming_events.setWordWrap(True)
        widget = QWidget()
        build_widget_column(self._notes, self._coming_title, self._coming_events, 0, parent=widget)
        self.setWidget(widget)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setAccessibleName(tr("For the instructor"))
        self._show_font()
        theme.call_after_events(self, theme.FONT_EVENTS, self._show_font)

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of the same run."""
        self._drill = drill
        self._shown_entries = ()
        self._notes.show_text(drill.scenario.facilitator or tr("No notes from the author."))
        self._coming_events.setText("")
        self.show_world(drill.world)

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        if self._drill is None:
            return
        coming = self._drill.list_scheduled_inputs()
        key = tuple(tick for tick, _ in coming)
        if key != self._shown_entries or not self._coming_events.text():
            self._shown_entries = key
            questions_by_name = {inquiry.name: inquiry.texts for inquiry in self._drill.scenario.inquiries}
            lines = [
                f"{formatting.format_run_time(tick / TICKS_PER_S)}  "
                + describe_input(item.line_without_time, questions_by_name)
                for tick, item in coming
            ]
            self._coming_events.setText("\n".join(lines) or tr("No events scheduled."))

    @Slot(list)
    def add_events(self, events: Sequence[Event]) -> None:
        """Ignore *events*, because other views show them."""

    def _show_font(self) -> None:
        self._coming_title.setFont(theme.resize_font(self.font(), 1.05, bold=True))
