"""Confirmations of irrevocable actions: the actions that need one, and the dialog.

`CONFIRMED_ACTIONS` and `CONFIRMED_VERBS` list these actions. Parts of the window with other irrevocable
actions call `confirm`.
Revocable actions are applied without a question. A notice offers to undo them for `UNDO_OFFER_S`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from app.widgets.input_guard import get_input_guard
from app.words import formatting
from app.words.language import mark, tr
from engine.tables import read_table

if TYPE_CHECKING:
    from app.main_window.host_session import HostSession
    from engine.drill.running.drill import Drill

UNDO_OFFER_S: Final = 10.0
"""Wall time for which a notice offers to undo an action. Assumed."""


class ConfirmationText(Struct, frozen=True):
    """Texts of a confirmation dialog. Enter, Space and Escape select the harmless answer."""

    text: str
    consequence: str
    """Second sentence, which describes the consequence."""
    yes: str
    cancel_label: str
    """Label of the button that cancels."""
    third_label: str = ""
    """Label of a third button, for an answer that loses no data; empty if there is none."""


CONFIRMATION_TEXTS: Final = {
    row.pop("key"): ConfirmationText(**row) for row in read_table("app.main_window", "confirmations.tsv")
}
"""Action -> its confirmation text."""

PROGRESS_SAVED_TEXT: Final = mark("your progress is saved, and you can resume it from the start page.")
CLASS_PROGRESS_SAVED_TEXT: Final = mark(
    "your progress is saved. To resume, join with the same code and name."
)
PROGRESS_NOT_SAVED_TEXT: Final = mark("this run is not recorded, so your progress will be lost.")

CONFIRMED_ACTIONS: Final = {
    "drill.open": "leave",
    "drill.restart": "restart",
    "drill.finish": "finish",
    "drill.quit": "quit",
}
"""Actions of the window that need a confirmation during a run -> key in CONFIRMATION_TEXTS."""

CONFIRMED_VERBS: Final = {"finish": "finish", "hint": "hint"}
"""Verbs that need a confirmation in an input line of a panel -> key in CONFIRMATION_TEXTS.

Typed lines need none.
"""

CONFIRMED_CLASS_VERBS: Final = {"finish": "finish_class", "back": "send_back", "reset": "start_over"}
"""Verbs of console lines that need a confirmation in the instructor station -> key in CONFIRMATION_TEXTS."""


class ConfirmationDialogs(QObject):
    """Confirmation dialogs over *parent*. While a dialog is open, the run of *session* is paused."""

    def __init__(
        self,
        parent: QWidget,
        session: HostSession,
        is_watching: Callable[[], bool],
        describe_consequence: Callable[[], str],
    ) -> None:
        """Create the dialogs. *is_watching* returns whether the run on screen is not the user's own run.

        *describe_consequence* returns the text about the consequence of leaving the run.
        """
        super().__init__(parent)
        self._parent, self._session = parent, session
        self._is_watching, self._describe_consequence = is_watching, describe_consequence
        self.box: QMessageBox | None = None
        """Dialog that is open; None if there is none."""

    @property
    def is_run_at_risk(self) -> bool:
        """Return whether an unfinished run of the user is in progress. A run that is only watched does not count."""
        drill = self._session.live_drill
        return drill is not None and not drill.finished and not self._is_watching()

    def add_confirmation(self, name: str, callback: Callable[[], object]) -> Callable[[], object]:
        """Return a callback that executes *callback*.

        If the action *name* needs a confirmation, the callback asks first.
        """
        act = CONFIRMED_ACTIONS.get(name)
        return callback if act is None else lambda: self.confirm_if_needed(act, callback)

    def confirm_if_needed(self, question_key: str, callback: Callable[[], object]) -> None:
        """Ask before an action that ends or leaves the run. If no run is at risk, call *callback* without asking."""
        if self.is_run_at_risk:
            self.confirm(question_key, callback, kept=tr(self._describe_consequence()))
        else:
            callback()

    def confirm_input(self, line: str, callback: Callable[[str], object]) -> None:
        """Pass an input line of a panel to *callback*. Ask first if the line costs points or ends the run."""
        verb, _, words = line.partition(" ")
        cost = _get_hint_cost(self._session.live_drill, words) if verb == "hint" else None
        if not self.is_run_at_risk or verb not in CONFIRMED_VERBS or cost == 0.0:
            callback(line)
        else:
            self.confirm(
                CONFIRMED_VERBS[verb],
                lambda: callback(line),
                points=formatting.format_plain_number(cost or 0.0),
            )

    def confirm_class_input(self, line: str, audience: str, callback: Callable[[str], object]) -> None:
        """Pass a line of the instructor station to *callback*. Ask first if it ends or rewinds runs.

        *audience*: description of the seats that the line addresses.
        """
        act = CONFIRMED_CLASS_VERBS.get(line.partition(" ")[0])
        if act is None:
            callback(line)
        else:
            self.confirm(act, lambda: callback(line), who=audience)

    def confirm(
        self,
        question_key: str,
        callback: Callable[[], object],
        third_callback: Callable[[], object] | None = None,
        **text_values: str,
    ) -> None:
        """Ask the question with the key *question_key*, and call *callback* if the user agrees.

        A second question replaces the first. *third_callback* is called for the third answer. *text_values*
        are inserted into the text.
        """
        if self.box is not None:
            self.box.reject()
        running, drill = self._session.is_running, self._session.live_drill
        self._session.pause()
        is_unscored = drill is not None and not drill.scenario.scored
        question = CONFIRMATION_TEXTS[
            "finish_free" if question_key == "finish" and is_unscored else question_key
        ]
        box = self.box = QMessageBox(QApplication.activeWindow() or self._parent)
        box.setIcon(QMessageBox.Icon.Question)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(tr(question.text))
        box.setInformativeText(tr(question.consequence).format(**text_values))
        yes = box.addButton(tr(question.yes), QMessageBox.ButtonRole.DestructiveRole)
        button = box.addButton(tr(question.cancel_label), QMessageBox.ButtonRole.RejectRole)
        other_button = (
            box.addButton(tr(question.third_label), QMessageBox.ButtonRole.AcceptRole)
            if question.third_label
            else button
        )
        box.setDefaultButton(other_button)
        box.setEscapeButton(button)

        def on_answered() -> None:
            clicked = box.clickedButton()
            self.box = None
            box.deleteLater()
            if clicked is yes:
                callback()
            elif clicked is other_button and third_callback is not None:
                third_callback()
            live = self._session.live_drill
            if running and live is drill and live is not None and not live.finished:
                self._session.play()

        box.finished.connect(on_answered)
        box.open()
        other_button.setFocus()
        get_input_guard().record_appearance(box)


def _get_hint_cost(drill: Drill | None, arguments: str) -> float:
    """Return the current cost of the hint that `hint` with *arguments* requests.

    0 if hints are free or there is no further hint.
    """
    layer = arguments.split()[-1:] or [""]
    if drill is None or not layer[0].isdigit() or drill.find_next_hint() is None:
        return 0.0
    return drill.get_hint_cost(int(layer[0]))
