"""Table of the views of the desk: name, position, shortcut keys, help page and class of each view.

The desk is the main page of a run. To add a view, create its file and add a row here. The desk, the menus,
the shortcut table and the help read this table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from msgspec import Struct
from PySide6.QtCore import Qt, SignalInstance

from app.words.language import mark

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill
    from engine.events import Event
    from engine.model import World


class DeskView(Protocol):
    """Interface of every view of the desk. A view shows a run, and emits input lines of the user."""

    @property
    def requested(self) -> SignalInstance:
        """Signal: input line without its time."""

    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of the same run."""

    def show_world(self, world: World) -> None:
        """Show the current state of the simulation."""

    def add_events(self, events: list[Event]) -> None:
        """Add the events since the last call."""


TimeSpan = tuple[float, float]
"""Start and end in seconds since the start of the run."""


@runtime_checkable
class TimeRangeView(Protocol):
    """Interface of a view that shows quantities over time."""

    def show_time(self, t_s: float | None) -> None:
        """Move the cursor to *t_s* (seconds since the start). None hides the cursor."""

    def show_time_range(self, span: TimeSpan | None) -> None:
        """Show only the time range *span*.

        None means the whole run, or the current time, depending on the view.
        """


@runtime_checkable
class IncrementalView(Protocol):
    """Interface of a view whose update may take more than one frame at a high simulation speed."""

    def show_parts(self, world: World) -> Iterator[None]:
        """Do the work of `show_world` in parts of similar cost. Each step of the iterator updates one part."""


@runtime_checkable
class TimeChooser(Protocol):
    """Interface of a view in which the user can select a time for all views."""

    @property
    def time_selected(self) -> SignalInstance:
        """Signal: seconds since the start, or None."""


@runtime_checkable
class TimeSpanChooser(Protocol):
    """Interface of a view in which the user can select a time range for all views."""

    @property
    def span_selected(self) -> SignalInstance:
        """Signal: a TimeSpan, or None."""


LEARNER_PROFILE, INSTRUCTOR_PROFILE, AUTHOR_PROFILE, PRESENTER_PROFILE = (
    "learner",
    "instructor",
    "author",
    "presenter",
)
LAYOUT_PROFILES: Final = (LEARNER_PROFILE, INSTRUCTOR_PROFILE, AUTHOR_PROFILE, PRESENTER_PROFILE)


def _accept_any_world(_: World) -> object:
    return True


def _can_be_mirrored(world: World) -> object:
    from app.view_models import (
        group_topology,  # this import loads the engine, which is not needed when the window opens
    )

    return group_topology.uses_mirroring(world)


class DockSpec(Struct, frozen=True):
    """Description of a view of the desk: dock, place in the default layout, keys and help page."""

    name: str
    """Name of the dock in stored layouts. Its action is `view.NAME`."""
    title: str
    view_class_path: str
    """Class of the view in the form module:class. It is imported when the desk is created."""
    area: Qt.DockWidgetArea
    tab_group: int
    """Number of the tab group in the area. Docks of one group share tabs, and groups are stacked."""
    help_page: str
    """Name of the help page about the view."""
    keys: str = ""
    """Default shortcut keys, in the format of keys.tsv."""
    vs_code_keys: str | None = None
    """Keys in the VS Code scheme. None means the default keys."""
    action_text: str = ""
    """Text of the action, if it differs from the title."""
    profiles: tuple[str, ...] = LAYOUT_PROFILES
    """Layout profiles in which the dock is initially open."""
    shows_truth: bool = False
    """True if the view shows the true state instead of a server's knowledge. Such a view is closed in an
    exam.
    """
    is_available: Callable[[World], object] = _accept_any_world
    """Function that returns whether the view can show anything of a world. If not, the view is closed."""
    absent_message: str = ""
    """Message that explains why the view is empty, if the user opens it although `is_available` is false."""
    is_extra: bool = False
    """True if the entry is in the submenu "More panels" of the View menu.

    A menu with all entries would be higher than 768 pixels.
    """


CENTRAL_AREA: Final = Qt.DockWidgetArea.NoDockWidgetArea
"""Area of the central view, which is not a dock. All docks are around it."""
_LEFT_AREA, _RIGHT_AREA = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
_BOTTOM_AREA = Qt.DockWidgetArea.BottomDockWidgetArea

DOCK_SPECS: Final = (
    DockSpec("brief", mark("Brief"), "app.views.briefing:BriefingPanel", _LEFT_AREA, 0, "brief", "F4",
         profiles=(LEARNER_PROFILE, INSTRUCTOR_PROFILE, AUTHOR_PROFILE)),
    DockSpec("topology", mark("Topology"), "app.views.topology:TopologyView", CENTRAL_AREA, 0, "topology", "Alt+1"),
    DockSpec("console", mark("SQL windows"), "app.views.console:QueryConsole", _BOTTOM_AREA, 0, "console", "Alt+2",
         profiles=(LEARNER_PROFILE, INSTRUCTOR_PROFILE, AUTHOR_PROFILE)),
    DockSpec("charts", mark("Charts"), "app.views.charts:ChartView", _RIGHT_AREA, 0, "charts", "Alt+4",
         profiles=(LEARNER_PROFILE, INSTRUCTOR_PROFILE, PRESENTER_PROFILE)),
    DockSpec("timing", mark("Timing"), "app.views.timing:TimingPanel", _RIGHT_AREA, 1, "timing",
         action_text=mark("Failover timing"),
         shows_truth=True, is_extra=True),
    DockSpec("error_log", mark("Logs"), "app.views.error_log:ErrorLogView", _RIGHT_AREA, 1, "logs", "Alt+5",
         action_text=mark("SQL Server logs")),
    DockSpec("trace", mark("States"), "app.views.trace:StateTrace", _RIGHT_AREA, 1, "logs",
         action_text=mark("State change trace"), is_extra=True),
    DockSpec("monitor", mark("Monitor"), "app.views.monitor:MirroringMonitor", _RIGHT_AREA, 1, "monitor", "Alt+3",
         action_text=mark("Database Mirroring Monitor"), profiles=(LEARNER_PROFILE, INSTRUCTOR_PROFILE),
         is_available=_can_be_mirrored, absent_message=mark("This drill has no mirrored database.")),
    DockSpec("events", mark("Events"), "app.views.events_list:EventsList", _RIGHT_AREA, 1, "logs", "Alt+6",
         shows_truth=True),
    DockSpec("explorer", mark("Object Explorer"), "app.views.object_explorer:ObjectExplorer", _LEFT_AREA, 1, "console",
         "F8", "F8 | Ctrl+B", profiles=()),
    DockSpec("ledger", mark("Faults"), "app.views.fault_table:FaultTable", _RIGHT_AREA, 0, "topology", "Alt+8",
         action_text=mark("Fault ledger"), profiles=(INSTRUCTOR_PROFILE, AUTHOR_PROFILE), shows_truth=True,
         is_extra=True),
    DockSpec("table", mark("Table"), "app.views.topology_table:TopologyTable", _RIGHT_AREA, 1, "topology", "Alt+9 | F7",
         action_text=mark("Topology as a table"), profiles=(), shows_truth=True, is_extra=True),
    DockSpec("system", mark("System Monitor"), "app.views.system_monitor:SystemMonitor", _RIGHT_AREA, 1, "charts",
         "Alt+7", profiles=(), is_extra=True),
    DockSpec("dashboard", mark("Dashboard"), "app.views.dashboard:GroupDashboardView", _RIGHT_AREA, 1,
         "availability_groups", action_text=mark("Always On dashboard"),
         profiles=(LEARNER_PROFILE, INSTRUCTOR_PROFILE), is_extra=True,
         is_available=lambda world: world.replicas, absent_message=mark("This drill has no availability group.")),
    DockSpec("cluster", mark("Cluster"), "app.views.cluster_manager:ClusterManager", _RIGHT_AREA, 1,
         "availability_groups", action_text=mark("Failover Cluster Manager"),
         profiles=(LEARNER_PROFILE, INSTRUCTOR_PROFILE), is_extra=True,
         is_available=lambda world: world.clusters, absent_message=mark("This drill has no cluster.")),
    DockSpec("facilitator", mark("For the instructor"), "app.views.instructor_panel:InstructorPanel", _LEFT_AREA, 1,
         "brief", action_text=mark("For the instructor (shows upcoming faults)"), profiles=(INSTRUCTOR_PROFILE,),
         shows_truth=True, is_extra=True),
)  # fmt: skip
"""Docks in the order of the View menu."""

DOCK_SPECS_BY_NAME: Final = {dock.name: dock for dock in DOCK_SPECS}
DOCK_NAMES: Final = tuple(dock.name for dock in DOCK_SPECS)
OUTER_DOCK_SPECS: Final = tuple(dock for dock in DOCK_SPECS if dock.area is not CENTRAL_AREA)
"""All docks around the central view."""

PROFILE_SHARES: Final = {
    # profile: shares of the main page's width (left, right) and height (bottom, upper right)
    LEARNER_PROFILE: (0.19, 0.31, 0.41, 0.52),
    INSTRUCTOR_PROFILE: (0.17, 0.35, 0.44, 0.52),
    AUTHOR_PROFILE: (0.17, 0.36, 0.44, 0.4),
    PRESENTER_PROFILE: (0.0, 0.36, 0.0, 0.7),
}
