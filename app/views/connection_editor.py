"""Dialog with the connection string of an application, to edit, and with the log of its driver."""

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.view_models.connection_string import (
    build_change_input,
    build_connection_string,
    describe_driver,
    read_driver_log,
)
from app.widgets import theme
from app.widgets.layouts import mark_primary
from app.words.language import tr
from engine.drill.running.drill import Drill

EDITOR_HEIGHT_LINES: Final = 3


class ConnectionEditor(QDialog):
    """Dialog that edits the connection string of one application. A change is sent as one input line."""

    requested = Signal(str)

    def __init__(self, client: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._drill: Drill | None = None
        self._lines = -1
        self.setWindowTitle(tr("Connection of {client}").format(client=client))
        self.text = QPlainTextEdit()
        self.text.setFont(theme.build_fixed_font())
        self.text.setAccessibleName(tr("Connection string"))
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight((EDITOR_HEIGHT_LINES + 1) * self.fontMetrics().height())
        self.driver = QLabel(wordWrap=True)
        self.log = QPlainTextEdit(readOnly=True)
        self.log.setFont(theme.build_fixed_font())
        self.log.setAccessibleName(tr("Driver log"))
        self._buttons = QDialogButtonBox(self)
        self.apply = self._buttons.addButton(tr("Save and restart"), QDialogButtonBox.ButtonRole.ApplyRole)
        self._buttons.addButton(QDialogButtonBox.StandardButton.Close)
        mark_primary(self.apply)
        self.apply.setToolTip(tr("Save the connection string and restart the application"))
        self.apply.clicked.connect(self._save)
        self._buttons.rejected.connect(self.reject)
        self.text.textChanged.connect(self._show_change)
        layout = QVBoxLayout(self)
        for widget in (
            QLabel(tr("Connection string")), self.text, self.driver, QLabel(tr("Driver log")), self.log, self._buttons,
        ):  # fmt: skip
            layout.addWidget(widget)
        self.resize(46 * self.fontMetrics().height(), 24 * self.fontMetrics().height())

    def show_drill(self, drill: Drill) -> None:
        """Show the application in *drill*, but keep text that the user is editing."""
        client = drill.world.clients.get(self._client)
        if client is None:
            self.reject()
            return
        first, self._drill = self._drill is not drill, drill
        if first:
            self.text.setPlainText(build_connection_string(client))
            self._lines = -1
        self.driver.setText(describe_driver(client))
        lines = read_driver_log(drill.events, self._client)
        if len(lines) != self._lines:
            self._lines = len(lines)
            self.log.setPlainText("\n".join(lines) or tr("No connection has been lost so far."))
            self.log.verticalScrollBar().setValue(self.log.verticalScrollBar().maximum())
        self._show_change()

    def _find_change(self) -> str:
        client = self._drill.world.clients.get(self._client) if self._drill is not None else None
        return build_change_input(client, self.text.toPlainText()) if client is not None else ""

    def _show_change(self) -> None:
        self.apply.setEnabled(bool(self._find_change()))

    def _save(self) -> None:
        line = self._find_change()
        if line:
            self.requested.emit(line)
