"""A seat of a class in this window: its run goes to the host, and obeys the instructor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from queue import Empty
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QDialog, QVBoxLayout

from app.classroom.acts import Act
from app.classroom.attendance import Attendance
from app.classroom.models import BACK, FROZEN, INJECT, OVER
from app.classroom.seat import HELD, LOOKED_AT, Limit, sent_back
from app.classroom.shapes import Attention, Instruction, Shown, State, ToSeat, Welcome
from app.learning.reflection import Reflection
from app.main_window.play import Play
from app.main_window.session import Session
from app.views.debrief.reflection import ReflectionForm
from app.widgets.notice import Notice
from app.words.language import tr
from engine.drill.running.drill import Drill
from engine.drill.time.history import History
from engine.drill.time.slices import Slices, again
from engine.inputs import InputProblem

LISTEN_MS: Final = 100
"""Interval at which a seat looks what its host has said."""
FORM_LETTERS: Final = 70
"""Of average width, on a line of what a person thinks of the run."""


def follow(seen: History, acts: Iterable[Sequence[Any]], tick: int) -> None:
    """Go on with the run of another seat: its *acts*, as JSON has them, and then to *tick*."""
    for entry in acts:
        act = Act(*entry)
        seen.advance_to(act.tick)
        if act.line and not seen.drill.finished:
            with suppress(InputProblem):  # as it was at the seat
                seen.do(act.line)
    if tick > seen.drill.tick and not seen.drill.finished:
        seen.advance_to(tick)


class WindowSeat(QObject):
    """A seat in this window: the run obeys the instructor as long as it is the one on screen."""

    said = Signal(str)
    """How it is, in words."""
    another_part = Signal(int, bool)
    """The class is at another part, and whether the instructor may look at the seat: it is to join anew."""

    def __init__(
        self, attendance: Attendance, session: Session, play: Play, notice: Notice, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._attendance, self._session, self._play, self._notice = attendance, session, play, notice
        self._reflects, self._thought = False, False
        """The class asks what the person thinks of the run; the person has said it, or passed it over."""
        self._points = ""
        """What the host says of the points, held back until then."""
        self.form: QDialog | None = None
        """That asks for it where no debrief does."""
        self._history: History | None = None
        self._shown: History | None = None
        """The run of another seat that the instructor shows to all."""
        self._looked_at = False
        self._frozen = False
        self._told = False
        """Where the log is that is to be handed in."""
        self._ran = False
        """Before the class was frozen."""
        self._limit = Limit()
        self._at_limit, self._behind = False, False
        """The run has come as far as it may; the class clock is behind it."""
        self._loading = False
        """The run is being played again up to where it was; nothing that the host says is heard meanwhile."""
        self._pending: dict[int, Instruction] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(LISTEN_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()
        session.running_changed.connect(self._keep_frozen)
        play.reflected.connect(self._reflect)

    def leave(self) -> None:
        """Hang up; with the same code and name the run goes on."""
        self._timer.stop()
        self._session.running_changed.disconnect(self._keep_frozen)
        self._play.reflected.disconnect(self._reflect)
        self._attendance.end()

    @property
    def hand(self) -> str | None:
        """What is asked with a raised hand."""
        return self._attendance.link.hand

    def raise_hand(self, question: str | None) -> None:
        """None lowers it."""
        self._attendance.raise_hand(question)
        self._say()
        if question is None:
            self._notice.tell(tr("Your hand is down."))
        else:
            self._notice.tell(tr("Your hand is raised: the instructor sees it."))

    def allow_looks(self) -> None:
        allowed = not self._attendance.link.consent
        self._attendance.allow_looks(allowed)
        if allowed:
            self._notice.tell(tr("The instructor may look at your seat now, and you are told when."))
        else:
            self._notice.tell(tr("The instructor may not look at your seat any more."))

    # --- inside

    def _attention(self, said: Attention) -> None:
        """What the instructor does with this seat."""
        if said["looked_at"] != self._looked_at:
            self._looked_at = said["looked_at"]
            self._notice.tell(LOOKED_AT[self._looked_at]())
        if said["held"] != self._attendance.link.held:
            self._attendance.tell_held(said["held"])
            self._notice.tell(HELD[said["held"]]())
        self._say()

    def _say(self) -> None:
        link = self._attendance.link
        known = (
            (link.hand is not None, tr("hand raised")),
            (self._looked_at, tr("looked at")),
            (link.held, tr("taken over")),
            (self._frozen, tr("frozen")),
        )
        self.said.emit("  ·  ".join(words for so, words in known if so))

    def _show(self, said: Shown) -> None:
        """The run of another seat, or one's own again."""
        history = self._history
        if history is None:
            return
        if said["name"] is None:
            if self._shown is not None:
                self._shown = None
                self._play.attend(history, self._attendance, self._reflects)
            return
        mine = history.drill
        self._shown = shown = History(Drill(mine.scenario, mine.seed, mine.mode))
        follow(shown, said["acts"], 0)
        self._session.watch(shown)
        self._notice.tell(tr("The instructor shows the run of {name}.").format(name=said["name"]))

    def _look(self) -> None:
        """What the host has said, and what is due by now."""
        if self._loading:
            if not self._session.loading:  # the run was dropped for another one
                self._give_up()
            return
        mine = (self._history, self._shown)
        if self._history is not None and not any(self._session.history is one for one in mine if one):
            self._give_up()  # another run is on screen
            return
        while not self._loading:
            try:
                self._hear(self._attendance.link.incoming.get_nowait())
            except Empty:
                break
        if self._loading:
            return
        self._heed_limit()
        self._carry_out()
        link = self._attendance.link
        exam = self._history is not None and not self._history.drill.terms.truth
        if link.over and self._reflects and exam and self.form is None:
            self._ask()
        if link.over and not (link.has_host or self._told):
            self._told = True
            self._notice.tell(tr("Hand in your log: {file}").format(file=self._attendance.file))

    def _hear(self, said: ToSeat) -> None:
        match said["kind"]:
            case "welcome" if not self._attendance.is_for(said):
                self.another_part.emit(said["part"], self._attendance.link.consent)
            case "welcome":
                if self._history is None:
                    self._begin(said)
                self._turn(said["state"])
            case "state":
                self._limit.hear(said)
                self._turn(said["state"])
                self._tell_break(said)
            case "instruction":
                if said["number"] not in self._attendance.answered:
                    self._pending[said["number"]] = said
            case "attention":
                self._attention(said)
            case "lowered":
                self.raise_hand(None)
            case "shown":
                self._show(said)
            case "result":
                score = said["verdict"]["score"]
                if score is not None:
                    told = tr("The host has played your run again: {score} of 100 points.")
                    self._points = told.format(score=f"{score:g}")
                    self._tell_points()
            case "refused":
                self._notice.warn(
                    tr("The host of the class refuses this seat: {why}.").format(why=said["text"])
                )

    def _ask(self) -> None:
        """What the person thinks of the run; in an exam no debrief asks for it."""
        self.form = dialog = QDialog(QApplication.activeWindow())
        asked = ReflectionForm()
        dialog.setWindowTitle(tr("Before the points are shown"))
        dialog.setMinimumWidth(dialog.fontMetrics().averageCharWidth() * FORM_LETTERS)
        QVBoxLayout(dialog).addWidget(asked)
        asked.answered.connect(self._play.reflected)
        asked.answered.connect(dialog.accept)
        dialog.rejected.connect(lambda: self._play.reflected.emit(None))
        dialog.open()

    def _reflect(self, said: Reflection | None) -> None:
        if said is not None and self._reflects:
            self._attendance.reflect(said)
        self._thought = True
        self._tell_points()

    def _tell_points(self) -> None:
        if self._points and (self._thought or not self._reflects):
            self._notice.tell(self._points)

    def _begin(self, welcome: Welcome) -> None:
        history, inputs, tick = self._attendance.begin(welcome)
        self._history, self._reflects = history, welcome["reflect"]

        def there(played: History) -> None:
            self._play.attend(played, self._attendance, self._reflects)
            self._notice.tell(tr("You are in the class as seat {n}.").format(n=welcome["seat"]))
            if not self._frozen:
                self._session.play()

        self._play_again(again(history, inputs, tick, lenient=True), there)

    def _play_again(self, slices: Slices[History], then: Callable[[History], None]) -> None:
        """Play the run up to where it was, perhaps over many frames, *then* go on."""
        self._loading = True

        def played(history: History) -> None:
            if self._timer.isActive():  # the class was not left meanwhile
                self._loading = False
                then(history)

        self._play.leave()
        self._session.work(slices, played, stopped=self._give_up, failed=lambda _: self._give_up())

    def _give_up(self) -> None:
        """The run of this seat is not on screen any more, so that nothing of it could be recorded."""
        self._timer.stop()
        self._attendance.end()
        self._notice.warn(
            tr(
                "You are no longer connected to the class. To continue your run, join with the same code and name."
            )
        )

    def _turn(self, state: str) -> None:
        """Freeze, go on, end."""
        frozen = state == FROZEN
        if frozen and not self._frozen:
            self._ran = self._session.running or not self._attendance.begun
            self._frozen = True
            self._session.pause()
            self._notice.tell(tr("The instructor has frozen the class."))
        elif self._frozen and not frozen:
            self._frozen = False
            self._notice.clear()
            if self._ran and state != OVER:
                self._session.play()
        if state == OVER:
            self._session.pause()
            self._notice.tell(tr("The instructor has ended the class."))
        self._attendance.tell_frozen(self._frozen or self._at_limit)
        self._say()

    def _tell_break(self, said: State) -> None:
        if said["break_s"] is not None:
            back = datetime.now() + timedelta(seconds=said["break_s"])
            self._notice.tell(tr("A break until {time}.").format(time=f"{back:%H:%M}"))

    def _heed_limit(self) -> None:
        """Stop where the instructor has said, and where the run is ahead of the class clock; go on afterwards."""
        live = self._session.live
        if live is None or self._session.history is not self._history:
            return
        at_limit = self._limit.reached(live.tick)
        if at_limit != self._at_limit:
            self._at_limit = at_limit
            if at_limit:
                self._session.pause()
                self._notice.tell(tr("The instructor stops your run here."))
            elif not self._frozen:
                self._notice.clear()
                self._session.play()
            self._attendance.tell_frozen(self._frozen or at_limit)
        limit = self._limit.tick()
        behind = not at_limit and limit is not None and live.tick > limit
        if behind and self._session.running:
            self._behind = True
            self._session.pause()
        elif self._behind and not behind:
            self._behind = False
            if not (self._frozen or at_limit):
                self._session.play()

    def _go_back(self, number: int, one: Instruction) -> None:
        """To the earlier moment to which the instructor sends the seat."""
        tick = one["tick"] or 0
        history, inputs = self._attendance.go_back(tick)
        self._history = history

        def there(played: History) -> None:
            self._attendance.came_back(number)
            self._play.attend(played, self._attendance, self._reflects)
            self._notice.tell(sent_back(tick, one["text"]))
            if not self._frozen:
                self._session.play()

        self._play_again(again(history, inputs, tick, lenient=True), there)

    def _keep_frozen(self, running: bool) -> None:
        if running and (self._frozen or self._at_limit) and self._session.history is self._history:
            self._session.pause()

    def _carry_out(self) -> None:
        for number, one in sorted(self._pending.items()):
            if one["what"] == BACK and self._attendance.begun and self._shown is None:
                del self._pending[number]
                self._go_back(number, one)
                return
        live = self._session.live
        if live is None or not self._attendance.begun or self._shown is not None:
            return
        for number, one in sorted(self._pending.items()):
            if (one["tick"] or 0) <= live.tick:
                del self._pending[number]
                if one["what"] == INJECT:
                    self._attendance.carry_out(number, one["text"], self._session.do)
                else:
                    self._notice.tell(tr("Instructor: {text}").format(text=one["text"]))
                    self._attendance.read(number)
