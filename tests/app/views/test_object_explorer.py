"""Tests of Object Explorer on a simulated lab: its contents, its queries, its requests."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from app.views.object_explorer import ObjectExplorer, explorer_items, scripts
from app.views.object_explorer.properties import (
    FAILOVER_ACTION,
    PAUSE_ACTION,
    REMOVE_ACTION,
    RESUME_ACTION,
    list_enabled_actions,
)
from app.views.object_explorer.tree import get_node
from engine import tsql
from engine.events import Event
from engine.model import Certificate, DbState, Endpoint, Job, Login, MirrorState, Role, World
from engine.verbs.input_lines import parse_input_line
from tests.app.views.conftest import build_mirrored_copy
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.worlds import apply_lines, build_lab

Key = Qt.Key
SALES_A, SALES_B = ("SERVER_A", "databases", "database:Sales"), ("SERVER_B", "databases", "database:Sales")


@dataclass
class StubDrill:
    world: World
    events: list[Event] = field(default_factory=list)


class RecordingExplorer(ObjectExplorer):
    """Object Explorer that records its requests."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.queries: list[tuple[str, str]] = []
        self.requested.connect(self.lines.append)
        self.query_wanted.connect(lambda *args: self.queries.append(args))


@pytest.fixture
def drill() -> StubDrill:
    world = build_lab()
    jobs = (Job(name="Log backup", database="Sales"), Job(name="Monitor", enabled=False))
    world.update_instance(
        "SERVER_A", jobs=jobs, linked_servers=("REPORTS",), logins=(Login(name="app", sid=7),)
    )
    return StubDrill(world)


@pytest.fixture
def explorer(qtbot: Any, drill: StubDrill) -> RecordingExplorer:
    explorer = RecordingExplorer()
    qtbot.addWidget(explorer)
    explorer.resize(300, 600)
    explorer.show_drill(drill)
    with qtbot.waitActive(explorer):
        explorer.show()
        explorer.activateWindow()
    explorer.view.setFocus()
    return explorer


def get_label(explorer: RecordingExplorer, *path: str) -> str | None:
    item = explorer.tree.find_item(path)
    return item.text() if item is not None else None


def select_path(explorer: RecordingExplorer, *path: str) -> None:
    item = explorer.tree.find_item(path)
    assert item is not None, path
    explorer.view.setCurrentIndex(item.index())


def list_children(explorer: RecordingExplorer, *path: str) -> list[str]:
    item = explorer.tree.find_item(path)
    assert item is not None, path
    explorer.view.expand(item.index())
    return [item.child(row).text() for row in range(item.rowCount())]


def apply_and_show(explorer: RecordingExplorer, drill: StubDrill, *lines: str, run_s: float = 25.0) -> None:
    explorer.add_events(apply_lines(drill.world, *lines, wait_s=run_s))
    explorer.show_world(drill.world)


def list_texts(menu: QMenu) -> list[str]:
    return [action.text().replace("&", "") for action in menu.actions() if not action.isSeparator()]


# --- labels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "changes", "wanted"),
    [
        (Role.PRINCIPAL, {}, "Sales (Principal, Synchronized)"),
        (Role.MIRROR, {}, "Sales (Mirror, Synchronized / Restoring...)"),
        (Role.PRINCIPAL, {"state": MirrorState.DISCONNECTED}, "Sales (Principal, Disconnected)"),
        (Role.PRINCIPAL, {"state": MirrorState.SUSPENDED}, "Sales (Principal, Suspended)"),
        (
            Role.MIRROR,
            {"state": MirrorState.DISCONNECTED, "db_state": DbState.RECOVERING},
            "Sales (Mirror, Disconnected / In Recovery)",
        ),
        (Role.PRINCIPAL, {"recovering": True}, "Sales (Principal, Synchronized / In Recovery)"),
        (None, {"guid": None, "state": None, "db_state": DbState.ONLINE}, "Sales"),
        (None, {"guid": None, "state": None, "db_state": DbState.RESTORING}, "Sales (Restoring...)"),
        (None, {"guid": None, "state": None, "db_state": DbState.SUSPECT}, "Sales (Suspect)"),
    ],
)
def test_labels_match_management_studio(role: Role, changes: dict[str, Any], wanted: str) -> None:
    copy = build_mirrored_copy("SERVER_A", "SERVER_B", role, **changes)
    assert explorer_items.build_database_item(copy).label == wanted


def test_the_tree_matches_management_studio(explorer: RecordingExplorer) -> None:
    assert get_label(explorer, "SERVER_A") == "SERVER_A (SQL Server 9.0.5000 - CORP\\dba)"
    assert list_children(explorer, "SERVER_A") == [
        "Databases", "Security", "Server Objects", "Management", "SQL Server Agent",
    ]  # fmt: skip
    assert list_children(explorer, "SERVER_A", "databases") == [
        "System Databases",
        "Sales (Principal, Synchronized)",
    ]
    assert list_children(explorer, "SERVER_A", "databases", "system") == ["master", "tempdb", "model", "msdb"]
    assert list_children(explorer, "SERVER_A", "security") == ["Logins", "Certificates"]
    assert list_children(explorer, "SERVER_A", "security", "logins") == ["sa", "app"]
    assert list_children(explorer, "SERVER_A", "objects", "endpoints") == ["Mirroring (Started)"]
    assert list_children(explorer, "SERVER_A", "objects", "linked") == ["REPORTS"]
    assert list_children(explorer, "SERVER_A", "agent", "jobs") == ["Log backup", "Monitor (disabled)"]
    assert list_children(explorer, "SERVER_B", "agent", "jobs") == []
    assert len(list_children(explorer, "SERVER_A", "management", "logs")) == 1


# --- requests to the server ---------------------------------------------------------------------------------


def test_labels_stay_old_until_a_refresh(qtbot: Any, explorer: RecordingExplorer, drill: StubDrill) -> None:
    select_path(explorer, *SALES_A)
    apply_and_show(explorer, drill, "pull-cable SERVER_B", run_s=30.0)
    assert get_label(explorer, *SALES_A) == "Sales (Principal, Synchronized)"
    assert explorer.age.text() == "Databases of SERVER_A, as of 0:00, 30\u00a0s ago"
    qtbot.keyClick(explorer.view, Key.Key_F5)
    assert get_label(explorer, *SALES_A) == "Sales (Principal, Disconnected)"
    assert explorer.age.text() == "Sales of SERVER_A, as of 0:30, just now"
    select_path(explorer, "SERVER_A", "databases")
    assert "as of 0:00" in explorer.age.text()


def test_a_lost_server_is_noticed_only_by_a_refresh(
    qtbot: Any, explorer: RecordingExplorer, drill: StubDrill
) -> None:
    select_path(explorer, *SALES_B)
    apply_and_show(explorer, drill, "power-off SERVER_B")
    assert get_label(explorer, *SALES_B) == "Sales (Mirror, Synchronized / Restoring...)"
    qtbot.keyClick(explorer.view, Key.Key_F5)
    assert get_label(explorer, "SERVER_B") == "SERVER_B (not available)"
    # Object Explorer keeps the last known state.
    assert get_label(explorer, *SALES_B) == "Sales (Mirror, Synchronized / Restoring...)"
    assert explorer.age.text() == "Cannot connect to SERVER_B (error 53)."
    select_path(explorer, "SERVER_B")
    qtbot.keyClick(explorer.view, Key.Key_F5)
    assert list_children(explorer, "SERVER_B") == ["Cannot connect to SERVER_B."]
    apply_and_show(explorer, drill, "power-on SERVER_B", run_s=120.0)
    assert get_label(explorer, "SERVER_B") == "SERVER_B (not available)"
    qtbot.keyClick(explorer.view, Key.Key_F5)
    assert get_label(explorer, "SERVER_B") == "SERVER_B (SQL Server 9.0.5000 - CORP\\dba)"
    assert get_label(explorer, *SALES_B) is not None  # The nodes stay expanded.


def test_each_server_reports_its_own_knowledge(
    qtbot: Any, explorer: RecordingExplorer, drill: StubDrill
) -> None:
    # SERVER_B takes over, and SERVER_A does not detect this.
    apply_and_show(explorer, drill, "pull-cable SERVER_A", run_s=60.0)
    select_path(explorer, "SERVER_B", "databases")
    qtbot.keyClick(explorer.view, Key.Key_F5)
    assert get_label(explorer, *SALES_B) == "Sales (Principal, Disconnected)"
    assert get_label(explorer, *SALES_A) == "Sales (Principal, Synchronized)"
    apply_and_show(
        explorer, drill, "cut SERVER_A SERVER_B", "cut SERVER_A SERVER_W", "plug-cable SERVER_A", run_s=5.0
    )
    select_path(explorer, "SERVER_A", "databases")
    qtbot.keyClick(explorer.view, Key.Key_F5)
    assert get_label(explorer, *SALES_A) == "Sales (Principal, Disconnected / In Recovery)"


def test_a_frozen_server_blocks_the_request_until_the_login_timeout(
    qtbot: Any, explorer: RecordingExplorer, drill: StubDrill
) -> None:
    apply_and_show(explorer, drill, "hang SERVER_W", run_s=1.0)
    select_path(explorer, "SERVER_W")
    qtbot.keyClick(explorer.view, Key.Key_F5)
    assert str(get_label(explorer, "SERVER_W")).endswith("(expanding...)")
    apply_and_show(explorer, drill, run_s=14.0)
    assert str(get_label(explorer, "SERVER_W")).endswith("(expanding...)")
    apply_and_show(explorer, drill, run_s=1.5)
    assert get_label(explorer, "SERVER_W") == "SERVER_W (not available)"
    assert explorer.age.text() == "Cannot connect to SERVER_W (error -2)."
    qtbot.keyClick(explorer.view, Key.Key_F5)
    apply_and_show(explorer, drill, "unhang SERVER_W", run_s=1.0)
    assert get_label(explorer, "SERVER_W") == "SERVER_W (SQL Server 9.0.5000 - CORP\\dba)"


def test_a_folder_is_loaded_when_first_expanded(
    qtbot: Any, explorer: RecordingExplorer, drill: StubDrill
) -> None:
    apply_and_show(explorer, drill, run_s=30.0)
    select_path(explorer, "SERVER_A", "agent", "jobs")
    assert "SERVER_A, as of 0:00" in explorer.age.text()
    qtbot.keyClick(explorer.view, Key.Key_Right)
    assert "Jobs of SERVER_A, as of 0:30" in explorer.age.text()
    apply_and_show(explorer, drill, "stop-service SERVER_W", run_s=10.0)
    assert list_children(explorer, "SERVER_W", "security", "logins") == ["Cannot connect to SERVER_W."]
    assert get_label(explorer, "SERVER_W") == "SERVER_W (not available)"


def test_a_name_is_dragged_into_a_query(explorer: RecordingExplorer) -> None:
    def drag_name(*path: str) -> str:
        select_path(explorer, *path)
        return explorer.tree.mimeData([explorer.view.currentIndex()]).text()

    assert explorer.view.dragEnabled()
    assert drag_name("SERVER_A", "databases", "database:Sales") == "Sales"
    assert drag_name("SERVER_A", "databases") == "", "a folder has no name in T-SQL"


def test_removed_objects_disappear_at_the_next_refresh(
    qtbot: Any, explorer: RecordingExplorer, drill: StubDrill
) -> None:
    list_children(explorer, "SERVER_A", "agent", "jobs")
    select_path(explorer, "SERVER_A", "agent", "jobs", "job:Monitor")
    drill.world.update_instance("SERVER_A", jobs=drill.world.instances["SERVER_A"].jobs[:1])
    qtbot.keyClick(explorer.view, Key.Key_F5)
    assert list_children(explorer, "SERVER_A", "agent", "jobs") == ["Log backup"]


def test_another_time_refreshes_all_and_keeps_expanded_nodes(
    explorer: RecordingExplorer, drill: StubDrill
) -> None:
    before = drill.world.fork()
    list_children(explorer, "SERVER_B", "security", "logins")
    select_path(explorer, *SALES_A)
    apply_and_show(explorer, drill, "pull-cable SERVER_B", run_s=30.0)
    explorer.refresh_current_server()
    explorer.show_drill(StubDrill(before))
    assert get_label(explorer, *SALES_A) == "Sales (Principal, Synchronized)"
    assert explorer.current_node is not None
    assert explorer.current_node.path == SALES_A
    assert get_label(explorer, "SERVER_B", "security", "logins", "login:sa") == "sa"


# --- requests sent ------------------------------------------------------------------------------------------


def open_menu(qtbot: Any, explorer: RecordingExplorer, *path: str) -> QMenu:
    item = explorer.tree.find_item(path)
    assert item is not None
    menu = QMenu(explorer)
    explorer.fill_menu(menu, get_node(item))
    return menu


def trigger_item(menu: QMenu, *labels: str) -> None:
    for word in labels[:-1]:
        (menu,) = [
            cast(QMenu, a.menu()) for a in menu.actions() if a.menu() and a.text().replace("&", "") == word
        ]
    (action,) = [a for a in menu.actions() if a.text().replace("&", "") == labels[-1]]
    action.trigger()


def test_menu_of_a_server_is_complete(qtbot: Any, explorer: RecordingExplorer) -> None:
    menu = open_menu(qtbot, explorer, "SERVER_B")
    assert list_texts(menu) == ["New query", "Start", "Stop", "Restart", "View SQL Server Log", "Refresh"]
    trigger_item(menu, "Stop")
    assert explorer.lines == ["stop-service SERVER_B"]
    with qtbot.waitSignal(explorer.log_wanted) as blocker:
        trigger_item(menu, "View SQL Server Log")
    assert blocker.args == ["SERVER_B"]


def test_menu_of_a_database_is_complete(qtbot: Any, explorer: RecordingExplorer) -> None:
    select_path(explorer, *SALES_A)
    menu = open_menu(qtbot, explorer, *SALES_A)
    assert list_texts(menu) == ["New query", "Script Mirroring as", "Tasks", "Refresh"]
    trigger_item(menu, "New query")
    assert explorer.queries == [("SERVER_A", "USE [Sales]\nGO\n")]
    with qtbot.waitSignal(explorer.monitor_wanted) as blocker:
        trigger_item(menu, "Tasks", "Launch Database Mirroring Monitor…")
    assert blocker.args == ["SERVER_A", "Sales"]
    trigger_item(menu, "Script Mirroring as", "PARTNER FAILOVER")
    assert explorer.queries[-1][1] == "USE master\nGO\nALTER DATABASE [Sales] SET PARTNER FAILOVER\nGO\n"
    assert explorer.lines == []  # Object Explorer does not execute the script.


def test_a_job_is_enabled_by_statement_and_then_shown(
    qtbot: Any, explorer: RecordingExplorer, drill: StubDrill
) -> None:
    list_children(explorer, "SERVER_A", "agent", "jobs")
    select_path(explorer, "SERVER_A", "agent", "jobs", "job:Monitor")
    trigger_item(open_menu(qtbot, explorer, "SERVER_A", "agent", "jobs", "job:Monitor"), "Enable")
    apply_and_show(explorer, drill, *explorer.lines, run_s=1.0)
    assert get_label(explorer, "SERVER_A", "agent", "jobs", "job:Monitor") == "Monitor"
    drill.world.update_instance("SERVER_A", jobs=())
    trigger_item(open_menu(qtbot, explorer, "SERVER_A", "agent", "jobs", "job:Monitor"), "Disable")
    apply_and_show(explorer, drill, explorer.lines[-1], run_s=1.0)
    assert explorer.age.text().startswith("Msg 14262")


def test_the_agent_is_started_and_stopped(qtbot: Any, explorer: RecordingExplorer, drill: StubDrill) -> None:
    trigger_item(open_menu(qtbot, explorer, "SERVER_A", "agent"), "Stop")
    apply_and_show(explorer, drill, *explorer.lines, run_s=1.0)
    select_path(explorer, "SERVER_A", "agent")
    qtbot.keyClick(explorer.view, Key.Key_F5)
    assert get_label(explorer, "SERVER_A", "agent") == "SQL Server Agent (stopped)"


@pytest.mark.parametrize(
    "line",
    [
        "sql SERVER_A#explorer EXEC msdb.dbo.sp_start_job @job_name = N'x'",
        "stop-service SERVER_A",
        "start-agent X",
    ],
)
def test_the_sent_statements_are_visible(line: str) -> None:
    assert parse_input_line(line).line_without_time == line


def test_context_menu_opens_by_key(qtbot: Any, qtlog: Any, explorer: RecordingExplorer) -> None:
    item = explorer.tree.find_item(SALES_A)
    assert item is not None
    with qtlog.disabled():  # the offscreen plugin cannot raise menus
        explorer.view.customContextMenuRequested.emit(explorer.view.visualRect(item.index()).center())
        (menu,) = [menu for menu in explorer.findChildren(QMenu) if menu.isVisible()]
        assert "Tasks" in list_texts(menu)
        assert explorer.current_node is not None
        assert explorer.current_node.path == SALES_A
        menu.close()


def test_a_log_is_opened_by_enter(qtbot: Any, explorer: RecordingExplorer) -> None:
    list_children(explorer, "SERVER_W", "management", "logs")
    select_path(explorer, "SERVER_W", "management", "logs", "log:Current")
    with qtbot.waitSignal(explorer.log_wanted) as blocker:
        qtbot.keyClick(explorer.view, Key.Key_Return)
    assert blocker.args == ["SERVER_W"]


# --- scripts ------------------------------------------------------------------------------------------------


def test_every_generated_script_parses(drill: StubDrill) -> None:
    world = drill.world
    certificate = Certificate(
        name="A's cert", thumbprint=1, subject="it's A", valid_from_tick=0, expires_tick=10**6
    )
    world.update_instance(
        "SERVER_A",
        certificates=(certificate,),
        logins=(Login(name="w]x", sid=1, kind="WINDOWS"), Login(name="s", sid=2)),
        endpoint=Endpoint(
            authentication="CERTIFICATE WINDOWS NEGOTIATE", certificate="A's cert", ip="10.0.0.1"
        ),
    )
    objects = [
        ("database", "Sales"), ("endpoint", "Mirroring"), ("certificate", "A's cert"), ("login", "w]x"), ("login", "s"),
        ("linked server", "REPORTS"), ("job", "Monitor"),
    ]  # fmt: skip
    for kind, name in objects:
        items = scripts.list_object_scripts(world, "SERVER_A", kind, name)
        assert items, (kind, name)
        for title, text in items:
            filled_text = text.replace("<password, sysname, >", "x")
            messages = tsql.check_syntax(filled_text)
            assert not any(message.is_error for message in messages), (title, text, messages)


def test_the_script_of_an_endpoint_creates_the_same_endpoint(drill: StubDrill) -> None:
    world = drill.world
    before = Endpoint(port=7022, role="PARTNER", encryption="SUPPORTED", algorithms=("AES", "RC4"))
    world.update_instance("SERVER_W", endpoint=before)
    create = dict(scripts.list_object_scripts(world, "SERVER_W", "endpoint", "Mirroring"))["CREATE To"]
    world.update_instance("SERVER_W", endpoint=None)
    apply_lines(
        world,
        *[f"sql SERVER_W {batch}" for batch in [create.replace("\nGO\n", "").replace("\n", " ")]],
        wait_s=1.0,
    )
    endpoint = world.instances["SERVER_W"].endpoint
    assert endpoint is not None
    assert replace(endpoint, granted=before.granted) == before


# --- mirroring page -----------------------------------------------------------------------------------------


def test_the_properties_page_fails_over_after_a_confirmation(
    qtbot: Any, explorer: RecordingExplorer, drill: StubDrill
) -> None:
    select_path(explorer, *SALES_A)
    qtbot.keyClick(explorer.view, Key.Key_Return, Qt.KeyboardModifier.AltModifier)
    (page,) = explorer.pages
    assert page.labels["Operating mode"].text() == "High safety with automatic failover (synchronous)"
    assert page.labels["Status"].text() == "Synchronized"
    qtbot.mouseClick(page.buttons[FAILOVER_ACTION], Qt.MouseButton.LeftButton)
    assert explorer.lines == []
    assert "SERVER_B" in page.message.text()
    qtbot.mouseClick(page.no, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(page.buttons[FAILOVER_ACTION], Qt.MouseButton.LeftButton)
    qtbot.mouseClick(page.yes, Qt.MouseButton.LeftButton)
    assert explorer.lines == ["sql SERVER_A#mirroring-Sales ALTER DATABASE [Sales] SET PARTNER FAILOVER"]
    apply_and_show(explorer, drill, *explorer.lines, run_s=60.0)
    page.refresh()
    assert page.labels["Mirror"].text() == "SERVER_A (this server)"
    page.close()


def test_the_properties_page_shows_the_servers_refusal(
    qtbot: Any, explorer: RecordingExplorer, drill: StubDrill
) -> None:
    select_path(explorer, *SALES_A)
    explorer.tools["explorer.properties"].trigger()
    (page,) = explorer.pages
    apply_and_show(explorer, drill, "pull-cable SERVER_B", run_s=30.0)
    assert page.labels["Status"].text() == "Synchronized"  # The page still shows the state at its opening.
    qtbot.mouseClick(page.buttons[FAILOVER_ACTION], Qt.MouseButton.LeftButton)
    qtbot.mouseClick(page.yes, Qt.MouseButton.LeftButton)
    apply_and_show(explorer, drill, *explorer.lines, run_s=1.0)
    assert page.message.text().startswith("Msg 1447")
    assert page.labels["Status"].text() == "No connection"
    explorer.show_drill(drill)
    assert not page.isVisible()


@pytest.mark.parametrize(
    ("role", "state", "acts"),
    [
        (Role.PRINCIPAL, MirrorState.SYNCHRONIZED, [FAILOVER_ACTION, PAUSE_ACTION, REMOVE_ACTION]),
        (Role.PRINCIPAL, MirrorState.SYNCHRONIZING, [PAUSE_ACTION, REMOVE_ACTION]),
        (Role.PRINCIPAL, MirrorState.SUSPENDED, [RESUME_ACTION, REMOVE_ACTION]),
        (Role.MIRROR, MirrorState.SYNCHRONIZED, [PAUSE_ACTION, REMOVE_ACTION]),
    ],
)
def test_properties_page_buttons_follow_the_state(role: Role, state: MirrorState, acts: list[Any]) -> None:
    assert list_enabled_actions(build_mirrored_copy("SERVER_A", "SERVER_B", role, state=state)) == acts
    assert list_enabled_actions(None) == []


def test_availability_groups_are_shown_as_each_server_knows_them(qtbot: Any) -> None:
    """A primary knows the roles of all replicas, a secondary only its own. A server without a cluster has no
    folder.
    """
    world = build_ag_lab()
    explorer = RecordingExplorer()
    qtbot.addWidget(explorer)
    explorer.show_drill(StubDrill(world))
    groups = ("always on", "groups")
    assert list_children(explorer, "NODE_1", *groups) == ["AG1 (Primary)"]
    assert list_children(explorer, "NODE_2", *groups) == ["AG1 (Secondary)"]
    paths = (*groups, "availability group:AG1")
    folders = ["Availability Replicas", "Availability Databases", "Availability Group Listeners"]
    assert list_children(explorer, "NODE_1", *paths) == folders
    roles = ["NODE_1 (Primary)", "NODE_2 (Secondary)", "NODE_3 (Secondary)"]
    assert list_children(explorer, "NODE_1", *paths, "replicas") == roles
    assert list_children(explorer, "NODE_2", *paths, "replicas") == [
        "NODE_1 (Unknown)", "NODE_2 (Secondary)", "NODE_3 (Unknown)",
    ]  # fmt: skip
    assert sorted(list_children(explorer, "NODE_2", *paths, "databases")) == ["Orders", "Sales"]
    assert list_children(explorer, "NODE_2", *paths, "listeners") == ["AGL1"]
    assert "Sales (Synchronized)" in list_children(explorer, "NODE_2", "databases")
    assert explorer.tree.find_item(("FSW", "always on")) is None
    kinds = {"availability group": "AG1", "availability replica": "NODE_2", "listener": "AGL1"}
    for kind, name in {**kinds, "availability database": "Sales"}.items():
        for _, text in scripts.list_object_scripts(world, "NODE_1", kind, name):
            problems = [
                message
                for message in tsql.check_syntax(re.sub(r"<\w+, \w+, (\w+)>", r"\1", text))
                if message.is_error
            ]
            assert problems == [], text
