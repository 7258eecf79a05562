"""Dialogs to start a class and to join a class."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.classroom.addresses import WILDCARD_ADDRESSES, InterfaceAddress
from app.widgets.layouts import build_dialog_buttons, mark_primary
from app.words.language import mark, tr
from engine.drill.running.modes import DrillMode
from engine.overrides import override

CLASS_MODES: Final = {
    DrillMode.PRACTICE: mark("Practice"),
    DrillMode.EXAM: mark("Exam"),
    DrillMode.GUIDED: mark("Guided"),
    DrillMode.LAB: mark("Free play"),
}
PROGRESS_LINES: Final = 2
"""Number of lines reserved for the progress of joining."""
LATE_RULES: Final = {"start": mark("at 0:00"), "class": mark("at the current time of the class")}
"""Rule for the start time of seats that join late -> label.

The rules are those of app/classroom/lesson_plan.py.
"""


class StartClassDialog(QDialog):
    """Dialog to choose the drill and the settings of a new class."""

    class_wanted = Signal(str, str, str, bool, bool, bool, str)
    """Signal: name of the drill, mode, listening address, three options, and the rule for late seats.

    The first option is True if all seats wait until the instructor starts the class. The second is True if
    the class has a pre-test, a post-test and a retention test. The third is True if participants write a
    reflection.
    """
    continue_wanted = Signal(str)
    """Signal: file of an earlier class to continue."""

    def __init__(
        self,
        drills: Sequence[tuple[str, str]],
        folder: str = "",
        parent: QWidget | None = None,
        addresses: Sequence[InterfaceAddress] = (),
    ) -> None:
        """Create the dialog.

        Args:
            drills: name and title of each drill.
            folder: folder with the files of earlier classes.
            parent: parent window.
            addresses: addresses at which seats may reach this computer.
        """
        super().__init__(parent)
        self._folder = folder
        self.setWindowTitle(tr("Start a class"))
        self.drill, self.mode = QComboBox(), QComboBox()
        for name, title in drills:
            self.drill.addItem(title, name)
        for mode, word in CLASS_MODES.items():
            self.mode.addItem(tr(word), mode.value)
        self.frozen = QCheckBox(tr("&Everybody waits until I start"))
        self.frozen.setChecked(True)
        self.tests = QCheckBox(tr("&Also test people before, after and some weeks after the lesson"))
        self.tests.setToolTip(
            tr(
                "The class has four parts: pre-test, lesson, post-test and retention test. The tests are exams on the "
                "same drill with new random values each time. “Next part” starts the next one."
            )
        )
        form = QFormLayout(self)
        form.addRow(tr("&Drill:"), self.drill)
        form.addRow(tr("&Mode:"), self.mode)
        self.address = QComboBox()
        self._list_addresses(addresses)
        form.addRow(tr("Seats &reach me at:"), self.address)
        form.addRow(self.frozen)
        form.addRow(self.tests)
        self.reflect = QCheckBox(tr("&Ask for a self-assessment before scores are shown"))
        form.addRow(self.reflect)
        self.late = QComboBox()
        for rule, word in LATE_RULES.items():
            self.late.addItem(tr(word), rule)
        form.addRow(tr("&Latecomers begin:"), self.late)
        self.continue_button = QPushButton(tr("&Continue an earlier class…"))
        self.continue_button.setAutoDefault(False)
        self.continue_button.clicked.connect(self._ask_for_earlier_class)
        form.addRow(self.continue_button)
        form.addRow(build_dialog_buttons(self, tr("&Start the class")))
        self.accepted.connect(
            lambda: self.class_wanted.emit(
                self.drill.currentData(),
                self.mode.currentData(),
                self.address.currentData(),
                self.frozen.isChecked(),
                self.tests.isChecked(),
                self.reflect.isChecked(),
                self.late.currentData(),
            )
        )

    def _list_addresses(self, addresses: Sequence[InterfaceAddress]) -> None:
        """Offer an entry for all addresses, then an entry for each address."""
        address_list = ", ".join(address.address for address in addresses)
        self.address.addItem(
            address_list or tr("no network: only seats on this computer"), WILDCARD_ADDRESSES[0]
        )
        if len(addresses) > 1:
            self.address.setItemText(0, tr("all addresses: {addresses}").format(addresses=address_list))
            for address in addresses:
                self.address.addItem(f"{address.address} ({address.interface})", address.address)

    def _ask_for_earlier_class(self) -> None:
        kind = tr("Classes") + " (*.sqlite)"
        name, _ = QFileDialog.getOpenFileName(self, tr("Continue an earlier class"), self._folder, kind)
        if name:
            self.reject()
            self.continue_wanted.emit(name)

    def select_drill(self, name: str) -> None:
        """Select the drill *name*, if it is listed."""
        self.drill.setCurrentIndex(max(0, self.drill.findData(name)))


class JoinClassDialog(QDialog):
    """Dialog for the join code and the participant's name. It shows progress until the seat has joined."""

    join_wanted = Signal(str, str, bool)
    """Signal: join code, participant's name, and whether the instructor may observe.

    The join code contains the address of the host.
    """
    canceled = Signal()
    """Signal: the user canceled the attempt to join."""

    def __init__(
        self, name: str, parent: QWidget | None = None, code: str = "", consent: bool = False
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Join a class"))
        self.code, self.name = QLineEdit(code), QLineEdit(name)
        self.code.setPlaceholderText("XXXXX-XXXXX-XXXXX-XXXXX")
        self.code.setMinimumWidth(self.fontMetrics().averageCharWidth() * 50)
        form = QFormLayout(self)
        form.addRow(tr("&Code:"), self.code)
        self.file = QPushButton(tr("&Without a network: open the file from the instructor…"))
        self.file.setAutoDefault(False)
        self.file.clicked.connect(self._ask_for_file)
        form.addRow("", self.file)
        form.addRow(tr("Your &name:"), self.name)
        self.consent = QCheckBox(tr("The &instructor may watch my screen"))
        self.consent.setChecked(consent)
        form.addRow(self.consent)
        self.state = QLabel()
        self.state.setWordWrap(True)
        form.addRow(self.state)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.join = buttons.addButton(tr("&Join"), QDialogButtonBox.ButtonRole.AcceptRole)
        mark_primary(self.join)
        buttons.accepted.connect(self.ask_to_join)
        buttons.rejected.connect(self.reject)
        form.addRow(buttons)
        self.show_progress(tr("The code is on the instructor’s screen."))

    def ask_to_join(self) -> None:
        """Show the dialog."""
        if not self.code.text().strip():
            self.show_problem(tr("Type the code from the instructor’s screen."))
            self.code.setFocus()
            return
        self._enable(False)
        self.show_progress(tr("Joining the class…"))
        self.join_wanted.emit(self.code.text(), self.name.text().strip(), self.consent.isChecked())

    def show_progress(self, text: str) -> None:
        """Show the progress of the connection. The dialog grows with the text and never shrinks."""
        self.state.setText(text)
        height = max(
            self.state.heightForWidth(self.state.width()), PROGRESS_LINES * self.fontMetrics().lineSpacing()
        )
        self.state.setMinimumHeight(max(height, self.state.minimumHeight()))

    def show_problem(self, text: str) -> None:
        """Show the reason why the seat could not join. Code and name can be changed again."""
        self._enable(True)
        self.show_progress(text)

    def _enable(self, enabled: bool) -> None:
        for part in (self.code, self.name, self.file, self.consent, self.join):
            part.setEnabled(enabled)

    @override
    def reject(self) -> None:
        self.canceled.emit()
        super().reject()

    def _ask_for_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, tr("Open class file"), "", build_seat_file_filter())
        if name:
            self.code.setText(name)


def build_seat_file_filter() -> str:
    """Return the file filter for a dialog that opens a seat file."""
    return tr("Seats of a class") + " (*.seat)"
