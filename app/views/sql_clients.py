"""Dialog for real SQL clients of the simulated servers: connection strings, open connections and inputs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.scroll_container import fit_on_screen
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr, trn

LISTED_INPUTS_MAX: Final = 500
"""Maximum number of listed inputs. The journal contains all inputs. Assumed."""


class OpenConnection(Struct, frozen=True):
    """Row of an open connection."""

    name: str
    """Name as in the journal, for example SERVER_A#tds5."""
    server: str
    login: str
    host: str
    program: str
    database: str
    since_s: float
    """Simulated time of the login."""


class ClientInput(Struct, frozen=True):
    """Input of a client, as recorded in the journal."""

    t_s: float
    name: str
    text: str
    failed: bool = False


CONNECTION_COLUMNS: Final[tuple[TableColumn[OpenConnection], ...]] = (
    TableColumn(title=mark("Connection"), text=lambda row: row.name, sample="SERVER_A#tds100"),
    TableColumn(title=mark("Login"), text=lambda row: row.login, sample="monitoring"),
    TableColumn(title=mark("Host"), text=lambda row: row.host, sample="WORKSTATION"),
    TableColumn(title=mark("Database"), text=lambda row: row.database, sample="Warehouse"),
    TableColumn(
        title=mark("Since"),
        text=lambda row: formatting.format_run_time(row.since_s),
        is_number=True,
        sample="10:00:00.0",
    ),
    TableColumn(title=mark("Program"), text=lambda row: row.program, sample="Core Microsoft SqlClient"),
)
INPUT_COLUMNS: Final[tuple[TableColumn[ClientInput], ...]] = (
    TableColumn(
        title=mark("Time"),
        text=lambda row: formatting.format_run_time(row.t_s),
        is_number=True,
        sample="10:00:00.0",
    ),
    TableColumn(title=mark("Connection"), text=lambda row: row.name, sample="SERVER_A#tds100"),
    TableColumn(
        title=mark("Journal"),
        text=lambda row: row.text,
        tip=lambda row: row.text,
        color_name=lambda row: "bad" if row.failed else None,
        sample="SELECT mirroring_state_desc FROM sys.database_mirroring",
    ),
)


class SqlClientsDialog(QDialog):
    """Dialog that stays open next to the desk. Closing it does not close the ports."""

    close_ports_wanted = Signal()
    """Signal: the user wants to close the ports."""

    def __init__(
        self,
        tools: Iterable[str],
        build_connection_string: Callable[[str, str, str], str],
        list_databases: Callable[[str], Sequence[str]],
        parent: QWidget | None = None,
    ) -> None:
        """Create the dialog.

        *build_connection_string* returns the connection string for a tool, a server and a database.
        *list_databases* returns the databases of a server.
        """
        super().__init__(parent)
        self.setWindowTitle(tr("SQL clients"))
        self._string, self._databases = build_connection_string, list_databases
        self.state = QLabel(wordWrap=True)
        # reserve two lines, so that the layout does not move
        self.state.setMinimumHeight(2 * self.state.fontMetrics().lineSpacing())
        self.server, self.database, self.tool = QComboBox(), QComboBox(), QComboBox()
        self.tool.addItems(list(tools))
        self.text = QPlainTextEdit(readOnly=True, tabChangesFocus=True)
        self.text.setFont(theme.build_fixed_font())
        self.text.setFixedHeight(self.text.fontMetrics().height() * 3 + 16)
        self.text.setAccessibleName(tr("Connection string"))
        self.copy = QPushButton(tr("&Copy"))
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        self.connected = TableView(TableModel(CONNECTION_COLUMNS), tr("Connected"))
        self.connected.set_empty_text(tr("No SQL clients connected."))
        self.inputs = TableView(TableModel(INPUT_COLUMNS), tr("Statements of clients"))
        self.inputs.set_empty_text(tr("Statements from connected clients appear here."))
        for table, columns in ((self.connected, CONNECTION_COLUMNS), (self.inputs, INPUT_COLUMNS)):
            table.horizontalHeader().setSectionResizeMode(len(columns) - 1, QHeaderView.ResizeMode.Stretch)
        self.end = QPushButton(tr("C&lose the ports"))
        self.end.clicked.connect(self.close_ports_wanted)
        for button in (self.copy, self.end):
            button.setAutoDefault(False)
        self.server.currentIndexChanged.connect(self._fill_databases)
        self.database.currentIndexChanged.connect(self._show_string)
        self.tool.currentIndexChanged.connect(self._show_string)
        self._arrange()

    def _arrange(self) -> None:
        form = QFormLayout()
        for title, box in (
            (tr("&Server or listener"), self.server),
            (tr("&Database"), self.database),
            (tr("&Tool"), self.tool),
        ):
            form.addRow(title, box)
        strings = build_row((self.text, 1), self.copy)
        bottom = build_row(0, self.end)
        layout = build_widget_column(self.state, form, strings, parent=self)
        for title, table, share in (
            (tr("Connected"), self.connected, 2),
            (tr("Statements of clients"), self.inputs, 3),
        ):
            layout.addWidget(QLabel(title))
            layout.addWidget(table, share)
        layout.addLayout(bottom)
        fit_on_screen(self, self.fontMetrics().averageCharWidth() * 110, self.fontMetrics().height() * 34)

    def show_servers(self, ports: Mapping[str, int]) -> None:
        """Offer the servers and listeners that have a port."""
        if [self.server.itemData(row) for row in range(self.server.count())] == list(ports):
            return
        chosen_server = self.server.currentData()
        self.server.clear()
        for name, port in ports.items():
            self.server.addItem(tr("{name} (port {port})").format(name=name, port=port), name)
        self.server.setCurrentIndex(max(0, self.server.findData(chosen_server)))

    def _fill_databases(self) -> None:
        chosen_database = self.database.currentText()
        self.database.clear()
        self.database.addItems(list(self._databases(str(self.server.currentData() or ""))))
        self.database.setCurrentIndex(max(0, self.database.findText(chosen_database)))
        self._show_string()

    def _show_string(self) -> None:
        server = self.server.currentData()
        if server is not None:
            self.text.setPlainText(
                self._string(self.tool.currentText(), str(server), self.database.currentText())
            )

    def show_connections(self, rows: Sequence[OpenConnection], running: bool) -> None:
        """Show the open connections, and whether the run is paused."""
        if list(self.connected.table.rows) != list(rows):
            self.connected.table.replace_rows(rows)
        text = tr("SQL clients on this computer (127.0.0.1) can connect with a SQL Server login.")
        if rows:
            connected = trn("{n} client is connected", "{n} clients are connected", len(rows))
            text += " " + tr("{connected}: the run stays in real time.").format(
                connected=connected.format(n=len(rows))
            )
        if not running:
            text += " " + tr("Paused: connected clients are waiting.")
        self.state.setText(text)

    def add_inputs(self, rows: Sequence[ClientInput]) -> None:
        """Add new inputs at the end of the list and scroll to them."""
        if rows:
            table = self.inputs.table
            latest_rows = [*table.rows, *rows][-LISTED_INPUTS_MAX:]
            table.replace_rows(latest_rows)
            self.inputs.scrollToBottom()

    def reject(self) -> None:
        """Hide the dialog on Escape. The ports stay open."""
        self.hide()
