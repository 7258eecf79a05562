"""Presenter mode and full screen, and the notes and card positions of the topology, which are stored per scenario."""

import json
from typing import Final

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, QTimer
from PySide6.QtWidgets import QWidget

from app import settings
from app.main_window.appearance import AppearanceSettings
from app.main_window.desk import LAYOUT_VERSION, RESTORE_TIMEOUT_MS, Desk
from app.main_window.shared_parts import SharedParts, WindowPart
from app.settings import WindowSettings
from app.views.topology import TopologyView
from app.views.topology.notes import PlacedNote
from app.widgets.busy_cursor import show_busy_cursor
from app.widgets.docks import LAYOUT_PROFILES, PRESENTER_PROFILE
from app.widgets.scroll_container import PageStack
from engine.drill.running.drill import Drill


class CardPositionStore(WindowPart):
    """Store of the positions to which the user has moved the cards of a scenario."""

    def __init__(self, shared: SharedParts, topology: TopologyView) -> None:
        super().__init__(shared)
        self._topology = topology

    def restore_positions(self, drill: Drill) -> None:
        """Restore the card positions of the drill's scenario."""
        places = _read_positions(self._store).get(drill.scenario.name, {})
        self._topology.place_cards({name: (float(x), float(y)) for name, (x, y) in places.items()})

    def save_positions(self, drill: Drill) -> None:
        """Store the card positions of the drill's scenario."""
        places = _read_positions(self._store)
        places[drill.scenario.name] = {
            name: list(place) for name, place in self._topology.list_moved_positions().items()
        }
        self._store.set(
            settings.CARD_POSITIONS, json.dumps({name: cards for name, cards in places.items() if cards})
        )


def _read_positions(store: WindowSettings) -> dict[str, dict[str, list[float]]]:
    """Return the stored positions without invalid entries; empty if the whole setting is invalid."""
    document = store.read_json(settings.CARD_POSITIONS)
    if not isinstance(document, dict):
        return {}
    return {
        scenario: {name: card for name, card in cards.items() if _is_position(card)}
        for scenario, cards in document.items()
        if isinstance(cards, dict)
    }


def _is_position(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(type(part) in (int, float) and abs(part) <= settings.COORDINATE_MAX for part in value)
    )


class FullScreenMode(QObject):
    """Full-screen mode that restores the exact panel sizes when it ends.

    Without this, the change of the window size would move borders by some pixels. If the user has changed
    panel sizes on the full screen, these sizes remain.
    """

    def __init__(self, desk: Desk, window: QWidget) -> None:
        """Create the mode. *window* fills the screen while the mode is on."""
        super().__init__(window)
        self._desk, self._window = desk, window
        self._previous_layout: tuple[QByteArray, QSize] | None = None
        """Layout and size of the desk before full screen; None outside of full screen."""
        self._full_screen_layout: QByteArray | None = None
        """Layout on the full screen before any change by the user; None until the layout has settled."""
        self._rest_timer = QTimer(self, singleShot=True, interval=RESTORE_TIMEOUT_MS)
        self._rest_timer.timeout.connect(self.store_sizes)

    def toggle(self) -> None:
        """Enter or leave full screen."""
        desk, window_state = self._desk, Qt.WindowState.WindowFullScreen
        if not self._window.windowState() & window_state:
            self._previous_layout = (self._save_state(), desk.size()) if desk.has_been_visible else None
            self._full_screen_layout = None
            self._rest_timer.start()
        elif self._previous_layout is not None and self._full_screen_layout in (None, self._save_state()):
            desk.restore_layout_at_size(*self._previous_layout)
        self._window.setWindowState(self._window.windowState() ^ window_state)

    def store_sizes(self) -> None:
        """Store the current panel sizes. Sizes that differ later were changed by the user."""
        self._full_screen_layout = self._save_state()

    def _save_state(self) -> QByteArray:
        return self._desk.saveState(LAYOUT_VERSION)


PRESENTER_TEXT_SCALE: Final = 1.5
"""Text scale that people in the back row can read.

On a picture that is 1920 pixels wide, 15-point text is readable from a distance of eight screen widths.
Assumed.
"""


class PresenterMode(WindowPart):
    """Presenter mode: large text, a layout for projectors, and full screen.

    It stores the previous layout in the settings, so that the program restores it even after a crash.
    """

    def __init__(self, shared: SharedParts, appearance: AppearanceSettings, topology: TopologyView) -> None:
        """Create the mode. It is off."""
        super().__init__(shared)
        self._appearance, self._topology = appearance, topology
        self.stop()

    @property
    def is_active(self) -> bool:
        """Return whether the mode is on."""
        return bool(self._store.get(settings.STATE_BEFORE_PRESENTING))

    def toggle(self) -> None:
        """Start or stop the presenter mode."""
        with show_busy_cursor():
            self._toggle_mode()

    def _toggle_mode(self) -> None:
        if self.is_active:
            self.stop()
            return
        look = self._appearance
        scale = self._store.get(settings.FONT_SCALE)
        self._store.set(settings.STATE_BEFORE_PRESENTING, f"{look.layout} {scale}")
        look.set_layout(PRESENTER_PROFILE)
        look.set_font_scale(max(PRESENTER_TEXT_SCALE, scale))
        self._window.setWindowState(self._window.windowState() | Qt.WindowState.WindowFullScreen)
        self._topology.fit_all()
        if self._topology.isVisible():  # if the topology is hidden, the stage keeps the focus
            self._topology.setFocus()

    def stop(self) -> None:
        """Stop the mode, and restore layout and text size."""
        before = self._store.get(settings.STATE_BEFORE_PRESENTING)
        if not before:
            return
        self._store.set(settings.STATE_BEFORE_PRESENTING, "")
        layout, _, scale = before.partition(" ")
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowFullScreen)
        # Restore the text size before the layout, because large text makes panels wider.
        self._appearance.set_font_scale(_parse_scale(scale))
        self._appearance.set_layout(layout if layout in LAYOUT_PROFILES else LAYOUT_PROFILES[0])
        self._topology.highlight_only(())


def _parse_scale(text: str) -> float:
    scales_by_text = {str(scale): scale for scale in settings.FONT_SCALES}
    return scales_by_text.get(text, 1.0)


class TopologyNoteStore(WindowPart):
    """Store of the notes on the topology.

    Notes are loaded at the start of a drill and stored when the user leaves it.
    """

    def __init__(self, shared: SharedParts, topology: TopologyView, pages: PageStack) -> None:
        super().__init__(shared)
        self._topology = topology
        self._scenario = ""
        shared.play.run_started.connect(self._show_notes)
        shared.session.run_finished.connect(lambda _: self.save_notes())
        shared.session.drill_changed.connect(lambda _: self.save_notes())
        pages.currentChanged.connect(lambda _: self.save_notes())

    def _show_notes(self, drill: Drill) -> None:
        """Show the notes of the drill's scenario, and clear all spotlights."""
        self._scenario = drill.scenario.name
        self._topology.show_notes(_read_notes(self._store).get(self._scenario, []))
        self._topology.highlight_only(())

    def save_notes(self) -> None:
        """Store the notes of the current scenario."""
        if not self._scenario:
            return
        kept_notes = _read_notes(self._store)
        kept_notes[self._scenario] = self._topology.list_notes()
        self._store.set(
            settings.TOPOLOGY_NOTES, json.dumps({name: notes for name, notes in kept_notes.items() if notes})
        )


def _read_notes(store: WindowSettings) -> dict[str, list[PlacedNote]]:
    """Return the stored notes without invalid entries."""
    document = store.read_json(settings.TOPOLOGY_NOTES)
    if not isinstance(document, dict):
        return {}
    return {
        name: [(text, float(x), float(y)) for text, x, y in filter(_is_note, notes)]
        for name, notes in document.items()
        if isinstance(notes, list)
    }


def _is_note(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 3 or not isinstance(value[0], str):
        return False
    return all(type(part) in (int, float) and abs(part) <= settings.COORDINATE_MAX for part in value[1:])
