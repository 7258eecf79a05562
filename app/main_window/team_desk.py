"""Desk of a role in a team: the topology, query windows and events that the role may see and use."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QPushButton, QSplitter, QWidget

from app.classroom.messages.team import MemberWelcome, RoleView, TeamDrillEnded
from app.classroom.team.member import GOAL_SYMBOLS
from app.classroom.team.replica import TeamReplica
from app.view_models.role_topology import limit_to_role
from app.views.console import QueryConsole
from app.views.events_list import EventsList
from app.views.team import TEAM_ENDED_TEXT, RolePanel
from app.views.topology import TopologyView
from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.markdown_view import MarkdownView
from app.widgets.scroll_container import fit_on_screen
from app.words import formatting
from app.words.language import tr
from engine.drill.team.role_view import ObservedQuestion
from engine.inputs import Input
from engine.overrides import override

CLOCK_FONT_FACTOR: Final = 1.7
TITLE_FONT_FACTORS: Final = 1.3
"""Font sizes of time and role, as multiples of the normal font size."""
COLUMN_WIDTH_RATIOS: Final = (250, 640, 470)
"""Relative widths of brief, topology and inputs."""


class TeamDesk(QWidget):
    """Window with the desk of a team role. It shows only objects that the role may see or use."""

    line_sent = Signal(str)
    """Signal: input line without the role."""
    leave_wanted = Signal()
    help_wanted = Signal()

    def __init__(self, welcome: MemberWelcome, parent: QWidget | None = None) -> None:
        """Create the window. Raises ScenarioError if the host does not send the team's world."""
        super().__init__(parent, Qt.WindowType.Window)
        self.replica = TeamReplica(welcome)
        self._role_name = welcome.role_name
        self._state, self._is_connected = "", True
        self.is_over = False
        """True if the drill of the team has ended."""
        self._sent_line = ""
        """Last line that this window has sent."""
        self.setWindowTitle(f"{welcome.title}: {welcome.role_name}")
        self.title, self.time, self.state = QLabel(welcome.role_name), QLabel(), QLabel()
        self.title.setFont(theme.resize_font(self.title.font(), TITLE_FONT_FACTORS, bold=True))
        self.time.setFont(theme.build_fixed_font(CLOCK_FONT_FACTOR))
        self.leave = QPushButton(tr("&Leave the team"))
        self.leave.setAutoDefault(False)
        self.leave.clicked.connect(self.close)
        self.panel = RolePanel(welcome)
        self.panel.requested.connect(self._send)
        self.duties = MarkdownView()
        self.duties.setAccessibleName(tr("Briefing"))
        self._brief, self._text = welcome.brief, welcome.role_text
        self._last_message = ""
        self.topology, self.console = TopologyView(), QueryConsole()
        self.events = EventsList(empty=tr("Your role has not noticed any events of the selected kinds."))
        self.topology.limit = lambda picture, world: limit_to_role(picture, world, self.replica.role)
        self.topology.shared_actions.find_refusal = self._find_refusal
        self.topology.requested.connect(self._send)
        self.topology.server_opened.connect(self.console.open_query)
        self.console.requested.connect(self._send)
        self.console.message_ready.connect(self.panel.show_reply)
        self.no_sql = QLabel(
            tr("{role} may not run T-SQL. Ask a role that may run it: ask-status ROLE ITEM").format(
                role=self._role_name
            )
        )
        self.no_sql.setWordWrap(True)
        has_sql = any(line.split()[0] == "sql" for line in self.replica.role.does)
        self.console.setVisible(has_sql)
        self.no_sql.setVisible(not has_sql)
        self._lay_out()
        self._show_start()
        QShortcut(QKeySequence("F1"), self, self.help_wanted.emit)
        QShortcut(QKeySequence("F5"), self, self.console.run_front_text)

    def _lay_out(self) -> None:
        columns = QSplitter()
        widget = QWidget()
        build_widget_column((self.console, 1), self.no_sql, parent=widget, margins=0)
        for parts in ((self.duties,), (self.topology, widget), (self.panel.calls, self.events)):
            column = QSplitter(Qt.Orientation.Vertical)
            for part in parts:
                column.addWidget(part)
            column.setChildrenCollapsible(False)
            column.setSizes([3_000, 2_000])
            columns.addWidget(column)
        columns.setChildrenCollapsible(False)
        columns.setSizes(list(COLUMN_WIDTH_RATIOS))
        top = build_row(self.title, self.time, (self.state, 1), self.leave)
        build_widget_column(top, (columns, 1), self.panel, parent=self)
        fit_on_screen(self, self.fontMetrics().averageCharWidth() * 190, self.fontMetrics().height() * 46)

    def _find_refusal(self, line: str) -> str:
        if self.is_over:
            return tr(TEAM_ENDED_TEXT)
        if self.replica.is_allowed_line(line):
            return ""
        return tr("{role} may not do this. Give an order to another role: call ROLE ACTION").format(
            role=self._role_name
        )

    def _send(self, line: str) -> None:
        self._sent_line = line
        if self.is_over:
            self.show_reply(tr(TEAM_ENDED_TEXT), is_refusal=True)
        else:
            self.line_sent.emit(line)

    def _show_start(self) -> None:
        """Show the run at its start. Events visible to the role are added later."""
        drill = self.replica.drill
        self.topology.shared_actions.truth = False
        self.topology.show_drill(drill)
        self.topology.shared_actions.truth = False  # menus must not show objects that the role cannot see
        self.console.show_drill(drill)
        self.events.show_drill(drill)

    def show_view(self, message: RoleView) -> None:
        """Show the current state of the team's simulation."""
        if self.replica.apply_entries(message.acts, message.tick):
            self._show_start()
        world, news = self.replica.drill.world, self.replica.take_new_events()
        self.topology.show_world(world)
        self.console.show_world(world)
        self.console.add_events(news)
        self.events.add_events(news)
        self.panel.show_view(message)
        view = message.view
        self._show_duties([(goal["text"], goal["met"]) for goal in view["goals"]], view["questions"])
        self.time.setText(formatting.format_run_time(view["t_s"]))
        vacant = message.waits_for
        state = tr("Finished.") if view["over"] else tr("The class is frozen.") if message.frozen else ""
        self._state = tr("Waiting for the start.") if vacant else state
        self.is_over = self.is_over or view["over"]
        self._show_state()

    def show_end(self, message: TeamDrillEnded) -> None:
        """Show that the drill has ended, with its result. Afterwards nothing can be sent."""
        self.is_over, self._state, self._is_connected = True, tr(TEAM_ENDED_TEXT), True
        self._show_state()
        self.panel.show_end(message)
        if message.result is not None:
            self._show_duties([(goal.text, goal.met_t_s is not None) for goal in message.result.goals])

    def show_connection(self, is_connected: bool) -> None:
        """Show whether the team is connected.

        Without a connection, inputs wait until the team answers again.
        """
        if is_connected != self._is_connected:
            self._is_connected = is_connected
            self._show_state()

    def _show_state(self) -> None:
        notice_text = tr("Not connected to the team. Your inputs are sent when the connection is restored.")
        self.state.setText(self._state if self._is_connected else notice_text)

    def _show_duties(
        self, goals: Sequence[tuple[str, bool | None]], questions: Sequence[ObservedQuestion] = ()
    ) -> None:
        """Show the role, its goals and open questions, and the brief."""
        goals_title, brief_title = tr("Goals"), tr("Brief")
        parts = [self._text]
        if goals:
            # Two spaces at the end of a line produce a line break in Markdown.
            lines = "  \n".join(f"{GOAL_SYMBOLS[is_met]} {text}" for text, is_met in goals)
            parts.append(f"**{goals_title}**\n\n{lines}")
        for question in questions:
            choices = "\n".join(f"{number}. {text}" for number, text in enumerate(question["choices"], 1))
            example = Input(0, "answer", (question["name"], "1")).line_without_time
            parts.append(f"**{question['text']}**\n\n{choices}\n\n`{example}`")
        text = "\n\n".join([*parts, f"**{brief_title}**\n\n{self._brief}"])
        if text != self._last_message:
            self._last_message = text
            self.duties.show_text(text)

    def show_reply(self, text: str, is_refusal: bool = False) -> None:
        """Show the refusal of an input line, or a message of the instructor."""
        self.panel.show_reply(text)
        if is_refusal:
            self.console.show_refusal(text, self._sent_line.partition(" ")[2].partition(" ")[0])

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        """Leave the team. The role stays assigned to this person, who can return with the same name."""
        self.leave_wanted.emit()
        super().closeEvent(event)
