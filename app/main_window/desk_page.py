"""Page on which a drill is played, and the connections of its views to the session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QToolButton, QWidget

from app.main_window import actions
from app.main_window.confirmations import UNDO_OFFER_S
from app.main_window.desk import Desk
from app.main_window.run_controller import RunController
from app.main_window.shared_parts import SharedParts, WindowPart
from app.views.command_line import CommandLine
from app.views.connection_editor import ConnectionEditor
from app.views.console import QueryConsole
from app.views.console.query import QueryWindow
from app.views.time_controls import TimeControls
from app.views.timeline import Timeline
from app.views.topology import TopologyView
from app.views.topology.view import TRAFFIC_SPEED_MAX
from app.widgets import theme
from app.widgets.layouts import build_widget_column
from app.widgets.tables import escape_tip
from app.words import formatting
from app.words.language import tr
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.events import Event, QuestionData
from engine.overrides import override

if TYPE_CHECKING:
    from app.view_models.action_offers import ActionTarget
    from app.views.charts import ChartView
    from app.views.cluster_manager import ClusterManager
    from app.views.dashboard import GroupDashboardView
    from app.views.error_log import ErrorLogView
    from app.views.monitor import MirroringMonitor
    from app.views.object_explorer import ObjectExplorer
    from app.views.topology_table import TopologyTable

TIMELINE_WIDTH_MIN_UNITS: Final = 14
"""Minimum width of the timeline in line heights."""

TRANSPORT_ACTIONS: Final = ("time.play", "time.step", "time.next_event", "time.next_state")


class DeskPage(QWidget):
    """Page with the desk below a bar of time controls."""

    def __init__(self, desk: Desk, actions: Mapping[str, QAction]) -> None:
        super().__init__()
        self.desk = desk
        self.transport = TimeControls([actions[name] for name in TRANSPORT_ACTIONS])
        self.timeline = Timeline()
        self._play_action = actions["time.play"]
        self._finish = finish = QToolButton()
        finish.setDefaultAction(actions["drill.finish"])
        finish.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        bar = QFrame()
        bar.setProperty("bar", "true")
        self._bar = QGridLayout(bar)
        self._bar.setContentsMargins(0, 0, 8, 0)
        self._bar.setColumnStretch(1, 1)
        self._two_rows: bool | None = None
        self._column = build_widget_column(bar, desk, parent=self, margins=0, spacing=0)
        self._fit_timeline()
        theme.call_after_events(self, theme.SIZE_EVENTS, self._fit_timeline)

    def _fit_timeline(self) -> None:
        """Move the timeline to a separate row if it would be too short next to the clock."""
        needed_width = self.transport.minimumSizeHint().width() + self._finish.sizeHint().width()
        two_rows = self.width() < needed_width + TIMELINE_WIDTH_MIN_UNITS * self.fontMetrics().height()
        if two_rows == self._two_rows:
            return
        self._two_rows, row = two_rows, int(two_rows)
        self._bar.addWidget(self.transport, 0, 0, 1, 3 if two_rows else 1)
        self._bar.addWidget(self.timeline, row, 0 if two_rows else 1, 1, 2 if two_rows else 1)
        self._bar.addWidget(self._finish, row, 2)
        self._bar.activate()
        self._column.activate()  # applied now, because the desk stores its layout for the resulting size

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # the size of the clock or the buttons has changed
            self._fit_timeline()
        return super().event(event)

    @property
    def topology(self) -> TopologyView:
        """View in the center of the desk."""
        return self.desk.get_view_by_class(TopologyView)

    def insert_bar(self, bar: QWidget) -> None:
        """Insert *bar* between the time controls and the desk."""
        self._column.insertWidget(1, bar)

    def add_stage(self, stage: QWidget) -> None:
        """Add *stage*, which can replace the desk. It stays hidden until `show_stage`."""
        self._stage = stage
        self._column.addWidget(stage, 1)

    def show_stage(self, visible: bool) -> None:
        """Show the stage instead of the desk, or show the desk again. The panels of the desk keep their positions."""
        if visible:
            self.desk.set_covered(True)
            self._stage.show()
        else:
            self._stage.hide()
            self._column.activate()
            self.desk.set_covered(False)

    def show_running(self, running: bool) -> None:
        """Set the text of the play button to "Run" or "Pause"."""
        action = self._play_action
        action.setText(tr("Pause") if running else tr("Run"))
        colors = theme.get_theme_tokens(self.palette())
        action.setIcon(theme.load_icon("pause" if running else "play", colors, colors.on_accent))
        actions.set_key_tooltips([action])


FACTS_WIDTH_MIN_CHARACTERS: Final = 24
"""Minimum width of the run facts, in characters."""


class RunFactsLabel(QLabel):
    """Label in the status bar with facts about the current run: mode, seed, and whether it is recorded."""

    def __init__(self, play: RunController) -> None:
        super().__init__()
        self._play = play
        self._drill: Drill | None = None
        self._seat = ""
        """State of the seat in its class."""
        # needed in full screen, where no size grip provides a margin
        self.setContentsMargins(0, 0, 6, 0)
        play.run_started.connect(self._show_facts)
        play.recording_recovered.connect(self._show_facts)

    @override
    def minimumSizeHint(self) -> QSize:
        """Return a small width, so that the command line has enough room.

        Text that needs more width is elided.
        """
        full_size = super().minimumSizeHint()
        return QSize(
            min(full_size.width(), self.fontMetrics().averageCharWidth() * FACTS_WIDTH_MIN_CHARACTERS),
            full_size.height(),
        )

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        room = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter = QPainter(self)
        self.style().drawItemText(
            painter, room, Qt.AlignmentFlag.AlignVCenter, self.palette(), True, text, self.foregroundRole()
        )

    def show_seat(self, text: str) -> None:
        """Show the state of the seat in its class."""
        self._seat = text
        if self._drill is not None and self._play.is_in_class:
            self._show_facts(self._drill)

    def _show_facts(self, drill: Drill) -> None:
        self._drill = drill
        parts = [tr("not recorded") if self._play.run_id is None else tr("recorded")]
        if self._play.is_in_class:
            parts = [self._seat or tr("no longer in a class")]
        seed = [tr("seed {number}").format(number=drill.seed)]
        if self._play.is_in_class and drill.mode is DrillMode.EXAM:
            seed = []  # with the seed, a person could rehearse the same drill during the exam
        mode = formatting.get_mode_name(drill.mode.value)
        if self._play.is_watching:
            mode = tr("best possible run") if self._play.best is not None else tr("reference solution")
        if self._play.is_introducing:
            mode = tr("introduction")
        self.setText("  ·  ".join((mode, *seed, *parts)))
        self.setToolTip(escape_tip(self.text()))


class DeskConnection(WindowPart):
    """Connection between the host session and the views.

    It forwards signals of the session to the views, and requests of the views to the session.
    """

    def __init__(self, shared: SharedParts, page: DeskPage, input_line: CommandLine) -> None:
        super().__init__(shared)
        session = shared.session
        self._page, self._input_line = page, input_line
        desk, topology, console, transport = (
            page.desk,
            page.topology,
            page.desk.get_view_by_class(QueryConsole),
            page.transport,
        )
        session.drill_changed.connect(self._show_run_state)
        for view in (desk, transport, input_line):
            session.world_changed.connect(view.show_world)
        session.events_occurred.connect(desk.add_events)
        input_line.requested.connect(self.apply_command_line)
        desk.input_requested.connect(self.apply_input)
        session.events_occurred.connect(self._show_questions)
        topology.shared_actions.connection_wanted.connect(self._edit_connection)
        session.input_refused.connect(shared.notice.show_warning)
        session.input_refused.connect(console.show_refusal)
        session.speed_changed.connect(transport.show_speed)
        session.speed_changed.connect(topology.set_speed)
        session.lag_reported.connect(transport.show_lag)
        session.progress_changed.connect(transport.show_progress)
        session.running_changed.connect(page.show_running)
        for changed_signal in (session.running_changed, session.speed_changed):
            changed_signal.connect(
                lambda _: desk.show_pace(session.is_running, session.speed > TRAFFIC_SPEED_MAX)
            )
        transport.speed_chosen.connect(session.set_speed)
        session.running_changed.connect(console.tabs.show_running)

    def _edit_connection(self, client: str) -> None:
        """Open the dialog for the connection string of an application. The dialog is updated when the run changes."""
        drill = self._session.drill
        if drill is None:
            return
        editor = ConnectionEditor(client, self._page)
        editor.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        editor.requested.connect(self.apply_input)

        def follow_drill(_: object) -> None:
            if self._session.drill is not None:
                editor.show_drill(self._session.drill)

        self._session.world_changed.connect(follow_drill)
        editor.finished.connect(lambda _: self._session.world_changed.disconnect(follow_drill))
        editor.show_drill(drill)
        editor.show()

    def apply_input(self, line: str) -> None:
        """Apply an input that a view requests. Ask first if the input cannot be undone."""
        self._confirmations.confirm_input(line, self.apply_typed_input)

    def apply_typed_input(self, line: str) -> None:
        """Apply a typed line, and hide the current notice."""
        self._notice.hide_notice()
        self._session.apply_input(line)

    def apply_command_line(self, line: str) -> None:
        """Apply a line of the command line. Results of `sql` and `ps` appear in a tab of the console."""
        console = self._page.desk.get_view_by_class(QueryConsole)
        console.prepare_window(line)
        self.apply_typed_input(line)
        console.clear_expected_result()

    def _show_run_state(self, drill: Drill) -> None:
        """Show the current or a past state of the run."""
        if self._session.is_showing_past:
            self._page.desk.show_past(drill)
        else:
            self._page.desk.show_drill(drill)
        self._page.transport.show_drill(drill)
        self._input_line.show_drill(drill)

    def _show_questions(self, events: list[Event]) -> None:
        """Bring the brief to the front if a new question pauses the run."""
        if any(isinstance(event.data, QuestionData) and event.data.pause for event in events):
            brief = self._page.desk.docks["brief"]
            brief.show()
            brief.raise_()


class ViewConnection(WindowPart):
    """Connection between the views of the desk. It forwards their requests to each other."""

    def __init__(self, shared: SharedParts, desk: Desk) -> None:
        super().__init__(shared)
        self._desk = desk
        topology = desk.get_view_by_class(TopologyView)
        self._console = desk.get_view_by_class(QueryConsole)
        self._console.message_ready.connect(shared.notice.show_info)
        self._console.zoom_wanted.connect(lambda: desk.zoom_panel("console"))
        self._console.tabs.text_closed.connect(self._offer_reopening)
        self._console.busy_close_wanted.connect(self._ask_to_close)
        desk.message_ready.connect(shared.notice.show_info)
        topology.server_opened.connect(self._console.open_server_window)
        topology.shared_actions.shell_wanted.connect(self._open_shell)
        self._console.result_expected.connect(self._show_console)
        desk.connect_when_created(self._connect_explorer, "explorer")
        desk.connect_when_created(self._connect_table, "table")
        desk.connect_when_created(self._connect_selection, "charts", "monitor")
        desk.connect_when_created(self._connect_server, "error_log", "dashboard", "cluster")

    def _connect_explorer(self, explorer: ObjectExplorer) -> None:
        explorer.query_wanted.connect(self._open_query)
        explorer.log_wanted.connect(self._open_log)
        explorer.monitor_wanted.connect(self._open_monitor)
        explorer.dashboard_wanted.connect(self._open_dashboard)

    def _connect_selection(self, view: ChartView | MirroringMonitor) -> None:
        topology = self._desk.get_view_by_class(TopologyView)
        topology.database_chosen.connect(view.show_database)
        if topology.opened_database:
            view.show_database(topology.opened_database)

    def _connect_server(self, view: ErrorLogView | GroupDashboardView | ClusterManager) -> None:
        """Let *view*, which shows one server, follow the selection in the topology."""

        def show_target(target: ActionTarget | None) -> None:
            if target is not None and target.kind == "server":
                view.show_server(target.names[0])

        topology = self._desk.get_view_by_class(TopologyView)
        topology.target_chosen.connect(show_target)
        show_target(topology.get_target())

    def _connect_table(self, table: TopologyTable) -> None:
        topology = self._desk.get_view_by_class(TopologyView)
        table.use_actions(topology.shared_actions)
        topology.target_chosen.connect(table.select_target)
        table.target_chosen.connect(topology.select_target)
        table.select_target(topology.get_target())

    def _offer_reopening(self, name: str) -> None:
        text = tr("{window} is closed. You can reopen it from “New query”.").format(window=name)
        self._notice.show_offer(text, tr("Reopen"), lambda: self._console.tabs.reopen_window(0), UNDO_OFFER_S)

    def _ask_to_close(self, query: QueryWindow) -> None:
        tabs = self._console.tabs
        self._confirmations.confirm("close_busy", lambda: tabs.close_window(query), window=query.window_id)

    def _open_query(self, server: str, text: str) -> None:
        self._console.open_query(server, text)
        self._desk.focus_view("console")

    def _open_shell(self, node: str) -> None:
        self._desk.focus_view("console")
        self._console.open_shell(node)

    def _show_console(self) -> None:
        """Bring the console to the front; the focus stays on the command line."""
        dock = self._desk.docks["console"]
        dock.show()
        dock.raise_()

    def _open_log(self, server: str) -> None:
        from app.views.error_log import ErrorLogView  # late import, because it loads the view

        self._desk.get_view_by_class(ErrorLogView).show_server(server)
        self._desk.focus_view("error_log")

    def _open_dashboard(self, server: str, group: str) -> None:
        self._desk.focus_view("dashboard")
        from app.views.dashboard import GroupDashboardView  # late import, because it loads the view

        self._desk.get_view_by_class(GroupDashboardView).show_group(server, group)

    def _open_monitor(self, _: str, database: str) -> None:
        cast("MirroringMonitor", self._desk.get_view("monitor")).show_database(database)
        self._desk.focus_view("monitor")
