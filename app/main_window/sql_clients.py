"""Ports for SQL clients (Tools ▸ Let SQL clients connect): programs on this computer can connect to the instances.

The ports are open while the run is on screen.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QTimer

from app.main_window.shared_parts import SharedParts, WindowPart
from app.serve.service import CONNECTION_STRING_TEMPLATES, LOGIN_NAME, SqlAddress, format_connection_string
from app.serve.sql_ports import LISTEN_HOST, PortUnavailableError, SqlPorts
from app.views.sql_clients import ClientInput, OpenConnection, SqlClientsDialog
from app.words.language import tr
from engine.constants import DRIVER_WINDOW_MARKER, TICKS_PER_S
from engine.drill.time.history import History
from engine.events import Event, SessionData, SqlData, SqlDoneData

CHECK_INTERVAL_MS: Final = 10
"""Interval between two checks of the ports in milliseconds: one tick."""
EVENT_LOOP_TURNS_PER_CHECK: Final = 8
"""Number of turns of the event loop per check.

Counted: it is enough to convert received bytes to a request, and to send the bytes of a result.
"""
CHECKS_PER_UPDATE: Final = 25
"""Number of checks between two updates of the view."""


class SqlClientPorts(WindowPart):
    """Ports through which SQL clients connect to the run, and the list of connected clients.

    Requests of clients are inputs of the run. A timer serves the sockets in the window's thread, so that no
    other thread reads the world while it changes.
    """

    def __init__(self, shared: SharedParts) -> None:
        super().__init__(shared)
        session = shared.session
        self.listener: SqlPorts | None = None
        self.dialog: SqlClientsDialog | None = None
        self._history: History | None = None
        self._loop = asyncio.new_event_loop()
        self._is_running_loop = False
        self._check_count = 0
        self._timer = QTimer(self, interval=CHECK_INTERVAL_MS)
        self._timer.timeout.connect(self.process_requests)
        session.speed_changed.connect(lambda _: self._keep_real_time())
        session.progress_changed.connect(self._refuse_to_jump)
        session.drill_changed.connect(lambda _: self._follow_run())

    # --- opening and closing

    def show_ports(self) -> None:
        """Open the ports if they are closed, and show their addresses."""
        if self._session.live_drill is None or self._session.live_drill.finished:
            self._notice.show_warning(
                tr("No drill is running. Start a drill first, then clients can connect.")
            )
            return
        if self.listener is None and not self._open():
            return
        if self.dialog is None:
            self.dialog = SqlClientsDialog(
                CONNECTION_STRING_TEMPLATES,
                self._format_connection_string,
                self._list_databases,
                self._window,
            )
            self.dialog.close_ports_wanted.connect(self.close)
        self.update_page()
        self.dialog.show()
        self.dialog.activateWindow()

    def _open(self) -> bool:
        listener = SqlPorts(self._session.host)
        try:
            self._loop.run_until_complete(listener.open_ports(0))
        except PortUnavailableError as problem:
            self._notice.show_warning(str(problem))
            return False
        self.listener, self._history = listener, self._session.history
        self._session.events_occurred.connect(self._add_events)
        self._timer.start()
        return True

    def close(self) -> None:
        """Close the ports. The operating system informs connected clients."""
        listener, self.listener = self.listener, None
        if listener is None:
            return
        self._timer.stop()
        self._session.events_occurred.disconnect(self._add_events)
        closing = self._loop.create_task(listener.close())
        while not closing.done():  # the record must contain the end of each open connection
            self._run_event_loop()
            self._session.host.process_inbox()
        listener.disconnect_from_run()
        if self.dialog is not None:
            self.dialog.close()
            self.dialog.deleteLater()
            self.dialog = None

    def stop(self) -> None:
        """Close the ports and the event loop, because the window closes."""
        self.close()
        self._loop.close()

    def _follow_run(self) -> None:
        """Close the ports if another run is on screen."""
        if self.listener is not None and self._session.history is not self._history:
            self.close()

    # --- time

    def process_requests(self) -> None:
        """Process all requests that have arrived, and send the results."""
        if self.listener is None or self._is_running_loop:
            return
        self._is_running_loop = True  # the nested event loop of a dialog could call this method again
        try:
            self._loop.run_until_complete(self.listener.update_ports())
            self._run_event_loop()
            self._session.host.process_inbox()
            self._run_event_loop()
        finally:
            self._is_running_loop = False
        self._check_count += 1
        if self._check_count % CHECKS_PER_UPDATE == 0:
            self._keep_real_time()
            self.update_page()

    def _run_event_loop(self) -> None:
        self._loop.run_until_complete(_run_event_loop_turns())

    def _keep_real_time(self) -> None:
        if self._list_connections() and self._session.speed != 1.0:
            self._session.set_speed(1.0)
            self._notice.show_info(tr("SQL clients are connected, so the run stays in real time."))

    def _refuse_to_jump(self, share: float) -> None:
        """Cancel a search if SQL clients are connected, because they need real time.

        A search would skip hours of simulated time. *share*: progress of the search; negative if no search
        is running.
        """
        if share >= 0.0 and not self._session.is_loading and self._list_connections():
            self._session.cancel_task()
            self._notice.show_warning(tr("SQL clients are connected, so the run stays in real time."))

    # --- display in the window

    def update_page(self) -> None:
        """Update the page with the current ports and connections."""
        if self.dialog is None or self.listener is None:
            return
        self.dialog.show_servers(self.listener.ports)
        self.dialog.show_connections(self._list_connections(), self._session.is_running)

    def _list_connections(self) -> Sequence[OpenConnection]:
        if self.listener is None:
            return ()
        sessions = self.listener.world.sessions
        connections = []
        for name in (tds_session.connection_name for tds_session in self.listener.sessions):
            session = sessions[name].session if name in sessions else None
            if session is not None and session.program is not None:
                program = session.program
                since_s = session.login_tick / TICKS_PER_S
                connections.append(
                    OpenConnection(name, session.server, session.login, program.host, program.name,
                              session.database, since_s)
                )  # fmt: skip
        return connections

    def _add_events(self, events: list[Event]) -> None:
        entries = [entry for event in events if (entry := _read_client_input(event)) is not None]
        if self.dialog is not None:
            self.dialog.add_inputs(entries)

    def _format_connection_string(self, tool: str, server: str, database: str) -> str:
        assert self.listener is not None
        address = SqlAddress(
            LISTEN_HOST, self.listener.ports[server], LOGIN_NAME, self.listener.password, database
        )
        return format_connection_string(tool, address)

    def _list_databases(self, server: str) -> Sequence[str]:
        assert self.listener is not None
        world = self.listener.world
        instance = world.listeners.get(server) or server
        own_databases = [database for copy_server, database in world.copies if copy_server == instance]
        return [*sorted(set(own_databases)), "master"]


def _read_client_input(event: Event) -> ClientInput | None:
    """Convert an event of a SQL client to a list entry: an input or an error. Return None for other events."""
    match event.data:
        case SessionData(window=name, what=session_kind) if DRIVER_WINDOW_MARKER in name:
            return ClientInput(event.t_s, name, event.text, failed=session_kind in ("refused", "lost"))
        case SqlData(window=name) if DRIVER_WINDOW_MARKER in name:
            return ClientInput(event.t_s, name, " ".join(event.text.split()))
        case SqlDoneData(window=name) if DRIVER_WINDOW_MARKER in name and event.text != "ok":
            return ClientInput(event.t_s, name, event.text, failed=True)
    return None


async def _run_event_loop_turns() -> None:
    for _ in range(EVENT_LOOP_TURNS_PER_CHECK):
        await asyncio.sleep(0)
