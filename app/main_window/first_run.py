"""Introduction for new users: they watch a failover with five captions, then bring the lost server back."""

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QPoint, QRect, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app import settings
from app.main_window.desk_page import DeskPage
from app.main_window.navigation import PageNavigation
from app.main_window.shared_parts import SharedParts, WindowPart
from app.main_window.stage_controller import StageController
from app.view_models import first_run
from app.view_models.first_run import CAPTION_COUNT, PRINCIPAL, RunCaption, build_captions
from app.views.coach_mark import CoachMark
from app.widgets.busy_cursor import show_busy_cursor
from app.words.language import tr
from engine.drill.running.drill import Drill
from engine.events import Event, FaultData, select_data
from engine.verbs import VERBS

FAILOVER_SPEED: Final = 0.25
"""Simulated seconds per second during the failover. Four simulated seconds take sixteen seconds."""
BOOT_SPEED: Final = 10.0
"""Simulated seconds per second while the server starts.

A minute and a half of simulated time takes nine seconds.
"""


class IntroductionController(WindowPart):
    """Controller of the introduction, which plays a lab without recording it.

    Only the clock of this lab is paused for captions. Other drills and pages can be opened at any time.
    """

    finished = Signal()
    """Signal: the lost server is back, and the user wants to start the next drill."""

    def __init__(
        self,
        shared: SharedParts,
        page: DeskPage,
        navigation: PageNavigation,
        stage_controller: StageController,
    ) -> None:
        super().__init__(shared)
        self._desk, self._topology, self._navigation = page.desk, page.topology, navigation
        self._moment, self._stage = stage_controller, stage_controller.stage
        stage_controller.introduction_left.connect(self._skip)
        self.coach_mark = CoachMark(shared.window)
        self.coach_mark.skipped.connect(self._skip)
        self.coach_mark.accepted.connect(self._start_next_drill)
        self._drill: Drill | None = None
        """Run of the introduction; None if it is not in progress."""
        self._shown_count = 0
        """Number of captions that were shown."""
        self._step: Callable[[], object] = self._show_next_caption
        """Function that the button of the caption calls."""
        self._update_timer = QTimer(self, singleShot=True, interval=0)
        self._update_timer.timeout.connect(self._resume_clock)
        shared.session.events_occurred.connect(self._process_events)
        shared.session.world_changed.connect(lambda _: self._check_time())
        shared.play.run_started.connect(self._on_drill_changed)

    # --- beginning and end ----------------------------------------------------------------------------------

    def ask_to_start(self) -> None:
        """Start the introduction. Ask first if a run is in progress."""
        self._confirmations.confirm_if_needed("leave", self.start)

    @show_busy_cursor()
    def start(self) -> None:
        """Start the lab of the introduction just before the failure."""
        scenario = self._library.find_scenario(first_run.INTRODUCTION_SCENARIO)
        if scenario is None:
            return
        self._store.set(settings.INTRODUCTION_SEEN, True)
        self._shown_count, self._step = 0, self._show_next_caption
        self._play.start_first_run(scenario, first_run.START_TICK)

    def handle_page_change(self) -> None:
        """End the introduction if a page other than the desk is shown."""
        if self._drill is not None and not self._navigation.is_desk_shown:
            self._reset()

    def _on_drill_changed(self, drill: Drill) -> None:
        """End the introduction if another run is on screen."""
        self._reset()
        if self._play.is_introducing:
            self._drill = drill
            self._desk.show_only_panel("topology")
            self._update_timer.start()

    def _resume_clock(self) -> None:
        if self._drill is not None and self._session.live_drill is self._drill:
            self._session.set_speed(1.0)
            self._session.play()

    def _reset(self) -> None:
        if self._drill is not None:
            self._moment.close_stage()
            self._desk.unzoom_panel()
        self._drill = None
        self._update_timer.stop()
        self.coach_mark.dismiss()

    def _skip(self) -> None:
        """Leave the introduction. Nothing of it is stored."""
        self._reset()
        self._navigation.show_home()

    # --- the failover ---------------------------------------------------------------------------------------

    def _check_time(self) -> None:
        """Slow the clock and cut the power for the introduction, as soon as POWER_OFF_TICK is reached."""
        drill = self._drill
        if drill is None or self._session.live_drill is not drill or drill.finished:
            return
        failed = any(event.kind == "fault" for event in drill.events)
        if drill.tick >= first_run.POWER_OFF_TICK and not failed and self._session.is_running:
            self._session.set_speed(FAILOVER_SPEED)
            self._session.apply_input(first_run.POWER_OFF_LINE)

    def _process_events(self, events: list[Event]) -> None:
        drill = self._drill
        if drill is None or self._session.live_drill is not drill:
            return
        if any(fault.verb == "power-on" for _, fault in select_data(events, FaultData)):
            self._watch_return()
        elif any(map(first_run.is_mirror_synchronization, events)) and self._shown_count == CAPTION_COUNT:
            self._show_end()
        elif (
            self._shown_count < CAPTION_COUNT
            and len(self._build_captions()) > self._shown_count
            and self.coach_mark.isHidden()
        ):
            self._session.pause()
            self._show_caption()

    def _build_captions(self) -> list[RunCaption]:
        drill = self._drill
        if drill is None:
            return []
        is_back = any(map(first_run.is_client_reconnection, drill.events))
        return build_captions(drill.events, drill.build_report() if is_back else None)

    def _show_caption(self) -> None:
        caption = self._build_captions()[self._shown_count]
        self._shown_count += 1
        self._step = self._show_next_caption
        self._moment.hold_phase(caption.phase)
        count = tr("{number} of {count}").format(number=self._shown_count, count=CAPTION_COUNT)
        self._point_at_part(caption.part, caption.title, caption.text, tr("Next"), tr("Skip"), count)

    def _show_next_caption(self) -> None:
        """Show the next caption if its event has occurred. Otherwise, let time continue."""
        if self._shown_count == CAPTION_COUNT:
            self._start_user_turn()
        elif len(self._build_captions()) > self._shown_count:
            self._show_caption()
        else:
            self.coach_mark.dismiss()
            self._stage.canvas.setFocus()
            self._moment.hold_phase(None)
            self._session.play()

    # --- the user's turn ------------------------------------------------------------------------------------

    def _start_user_turn(self) -> None:
        self._moment.close_stage()
        title = tr("Your turn: power on {server}").format(server=PRINCIPAL)
        text = tr(
            "{database} has no mirror, so a second failure would stop it. Right-click {server} "
            "and choose “{action}”, or press Enter."
        )
        label = VERBS["power-on"].label or first_run.POWER_ON_LINE
        action = tr(label)
        words = text.format(server=PRINCIPAL, database=first_run.DATABASE, action=action)
        self._step = partial(self._session.apply_input, first_run.POWER_ON_LINE)
        self._point_at_part(PRINCIPAL, title, words, action, tr("Leave"))

    def _watch_return(self) -> None:
        self._session.set_speed(BOOT_SPEED)
        self._session.play()
        text = tr(
            "The server boots, SQL Server starts, and {mirror} sends the missing log. At {speed}× speed this "
            "takes about {seconds} s."
        )
        words = text.format(mirror=first_run.MIRROR, speed=f"{BOOT_SPEED:g}", seconds=9)
        self._step = self.coach_mark.dismiss
        title = tr("{server} returns as the mirror").format(server=PRINCIPAL)
        self._point_at_part(PRINCIPAL, title, words, tr("Hide"), tr("Leave"))

    def _show_end(self) -> None:
        self._session.pause()
        self._session.set_speed(1.0)
        text = tr(
            "{server} is SYNCHRONIZED, so automatic failover is possible again. Next: a drill with a score."
        )
        self._step = self._finish
        words = text.format(server=PRINCIPAL)
        self._point_at_part(
            PRINCIPAL, tr("Protected again"), words, tr("Open the first drill"), tr("Start page")
        )

    def _finish(self) -> None:
        self._reset()
        self.finished.emit()

    def _start_next_drill(self) -> None:
        self._step()

    # --- positions ------------------------------------------------------------------------------------------

    def _point_at_part(
        self, name: str, title: str, text: str, button: str, skip: str, count: str = ""
    ) -> None:
        self.coach_mark.point_at(
            partial(self._find_card_rect, name), title, text, button, skip, count, self._list_obstacles
        )

    def _find_card_rect(self, name: str) -> QRect:
        """Return the rectangle of a card in the window, on the stage or in the topology."""
        widget, rects = self._find_parts()
        rect = rects.get(name, widget.rect())
        return rect.translated(widget.mapTo(self._window, QPoint(0, 0))).intersected(self._window.rect())

    def _find_parts(self) -> tuple[QWidget, dict[str, QRect]]:
        """Return the stage or the topology, whichever is visible, and the rectangles of its cards by name."""
        if self._stage.isVisible():
            return self._stage.canvas, self._stage.canvas.find_part_rects()
        return self._topology, dict(self._topology.list_card_rects())

    def _list_obstacles(self) -> list[QRect]:
        """Return the rectangles that a caption should not cover.

        They are the cards, and everything outside the stage or the topology.
        """
        window = self._window.rect()
        widget, rects = self._find_parts()
        box = widget.rect().translated(widget.mapTo(self._window, QPoint(0, 0)))
        boxes = [
            QRect(window.topLeft(), box.topRight()),
            QRect(box.bottomLeft(), window.bottomRight()),
        ]
        return [*boxes, *(self._find_card_rect(name) for name in rects)]
