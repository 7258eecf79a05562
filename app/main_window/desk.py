"""Desk: the arrangement of its views during a drill, and the storage of the layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Final, TypeVar, cast

from PySide6.QtCore import QByteArray, QChildEvent, QEvent, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QTabWidget, QWidget

from app.widgets import theme
from app.widgets.docks import (
    DOCK_NAMES,
    DOCK_SPECS,
    DOCK_SPECS_BY_NAME,
    LEARNER_PROFILE,
    OUTER_DOCK_SPECS,
    PRESENTER_PROFILE,
    PROFILE_SHARES,
    DeskView,
    DockSpec,
    IncrementalView,
)
from app.widgets.screen_reader import find_focus_target, has_keyboard_focus
from app.widgets.scroll_container import ScrollContainer, set_readable_minimum_size
from app.words.language import tr
from engine.overrides import override

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill
    from engine.events import Event
    from engine.model import World

Kind = TypeVar("Kind", bound=QWidget)

LAYOUT_VERSION: Final = 4
"""Version of the layout, incremented when docks change. Layouts of other versions are ignored."""

_LEFT_AREA, _RIGHT_AREA = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
_BOTTOM_AREA = Qt.DockWidgetArea.BottomDockWidgetArea

NARROW_WIDTH_UNITS: Final = 72.0
"""Width in line heights below which the desk has two columns: the topology, and tabs with all other views.

Assumed: 1366 pixels at 125% text size, or 1024 pixels at 100%.
"""
NARROW_TABS_SHARE: Final = 0.46
"""Share of the width that the tabs have on a narrow desk."""

FLOATING_DOCK_MIN_UNITS: Final = (20, 10)
"""Minimum width and height of a floating dock, in line heights."""
LEFT_AREA_WIDTH_MIN_UNITS: Final = 13.0
"""Minimum width of the left area in line heights. A goal must be readable with large text."""
LEFT_AREA_SHARE_MAX: Final = 0.3
"""Maximum share of the desk's width that LEFT_AREA_WIDTH_MIN_UNITS may take."""
RESIZE_JUMP_MIN_PX: Final = 100
"""Minimum change of the desk's size that means a maximized or restored window, not a dragged edge."""
FONT_REFRESH_FACTOR: Final = 1.0005
"""Factor that changes the font size of a dock invisibly, so that Qt computes a new layout."""
TURN_TAKING_DATABASES_MIN: Final = 20
"""Minimum number of databases for which views update in turns at high speed, each five times a second.

Our choice.
"""
RESTORE_TIMEOUT_MS: Final = 2_000
"""Wall time within which a window that leaves full screen has its old size again."""
EXPLORER_WIDTH_UNITS: Final = 19.0
"""Initial width of Object Explorer in line heights, for a database name with its state in brackets."""
EXPLORER_HEIGHT_SHARE: Final = 0.55
"""Share of the left area's height for Object Explorer below the brief. A tree needs more lines than a text."""


def get_widget(view: DeskView) -> QWidget:
    """Return the view as a QWidget."""
    assert isinstance(view, QWidget)
    return view


def _make_view(dock_spec: DockSpec) -> DeskView:
    """Import and create a view."""
    view: DeskView = resolve_name(dock_spec.view_class_path)()
    return view


class Desk(QMainWindow):
    """Desk with the topology in the center and all other views in docks around it.

    A view is created when it is first visible or needed, because most runs show half of the views. The desk
    is placed in the window before views are added. Otherwise, Qt would visit all widgets of the desk four
    times per view.
    """

    narrow_changed = Signal()
    """Signal: the desk has become narrow or wide."""
    message_ready = Signal(str)
    """Signal with the reason why a panel stays closed."""
    input_requested = Signal(str)
    """Signal: input line requested by a view."""
    view_created = Signal(str, QWidget)
    """Signal: name of a new view, and its widget."""

    def __init__(self, make_view: Callable[[DockSpec], DeskView] = _make_view) -> None:
        super().__init__()
        self._make_view = make_view
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setObjectName("desk")
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setCorner(Qt.Corner.BottomLeftCorner, _LEFT_AREA)
        self.setCorner(Qt.Corner.BottomRightCorner, _RIGHT_AREA)
        self._middle: QWidget
        self.views: dict[str, DeskView] = {}
        """Views that were created, by the name of their row in DOCKS."""
        self.docks: dict[str, QDockWidget] = {}
        self._world: World | None = None
        self._drill: Drill | None = None
        self._shown_drills: dict[str, Drill] = {}
        """Drill that each view showed last. A hidden view may be out of date while the past is on screen."""
        self._profile = LEARNER_PROFILE
        self._sized = False
        self.narrow = False
        """True if the panels are arranged for a narrow desk."""
        self._shares: dict[str, tuple[float, float]] = {}
        """Share of each panel in the width and height of the desk, as set by the user or the layout."""
        self._shares_due = True
        """True if the current sizes were chosen by the user or a layout and must be stored."""
        self._layout_timer = QTimer(self, singleShot=True, interval=0)
        self._layout_timer.timeout.connect(self._finish_layout)
        self._stored_layouts: dict[str, tuple[QByteArray, QSize]] = {}
        """Name of a layout -> its last state, and the size of the desk at that time."""
        self._pending_restore: tuple[QByteArray, QSize] | None = None
        """Layout and size to restore when the window reaches this size, for example after full screen; or None."""
        self._pending_restore_timer = QTimer(self, singleShot=True, interval=RESTORE_TIMEOUT_MS)
        self._pending_restore_timer.timeout.connect(self._forget_pending_restore)
        self._is_fast = False
        self._next_view_index = 0
        """Index of the visible view that was updated last."""
        self._parts: Iterator[None] = iter(())
        """Remaining steps of the update of that view."""
        self._unzoomed_layout: QByteArray | None = None
        """Layout of the desk before a panel was zoomed; None if no panel is zoomed."""
        self._uncovered_layout: QByteArray | None = None
        """Layout of the desk before the stage replaced it; None if the desk is shown."""
        self._closed_panels: set[str] = set()
        """Panels that the run has closed."""
        on_new_font = self._keep_left_readable, self._set_title_sizes, self._check_width
        theme.call_after_events(self, theme.FONT_EVENTS, *on_new_font)
        for dock_spec in OUTER_DOCK_SPECS:
            self._add_dock(dock_spec)

    def get_view_by_class(self, kind: type[Kind]) -> Kind:
        """Return the view of class *kind*, and create it on first use."""
        view = self.get_view(
            next(dock.name for dock in DOCK_SPECS if dock.view_class_path.endswith(f":{kind.__name__}"))
        )
        assert isinstance(view, kind)
        return view

    def get_view(self, name: str) -> DeskView:
        """Return the view *name*, and create it on first use. The view MIDDLE becomes the central widget."""
        if name not in self.views:
            view = self.views[name] = self._make_view(DOCK_SPECS_BY_NAME[name])
            if name in self.docks:
                container = self.docks[name].widget()
                assert isinstance(container, ScrollContainer)
                container.set_content(get_widget(view))
                get_widget(view).show()
            else:
                self._middle = get_widget(view)
                self.setCentralWidget(self._middle)
            view.requested.connect(self.input_requested)
            self._update_view(name, view)
            self.view_created.emit(name, get_widget(view))
        return self.views[name]

    def connect_when_created(self, connect: Callable[[Kind], object], *names: str) -> None:
        """Call *connect* with each view in *names* as soon as the view exists.

        Without *names*, call it for every view.
        """
        chosen_names = names or DOCK_NAMES
        for name in chosen_names:
            if name in self.views:
                connect(cast(Kind, self.views[name]))
        self.view_created.connect(lambda name, view: connect(view) if name in chosen_names else None)

    def _add_dock(self, dock_spec: DockSpec) -> None:
        dock = QDockWidget(tr(dock_spec.title), self)
        dock.setObjectName(dock_spec.name)
        dock.installEventFilter(self)
        dock.setFont(theme.resize_font(self.font(), FONT_REFRESH_FACTOR))
        room = ScrollContainer()
        dock.setWidget(room)
        # Connect methods instead of lambdas, because Qt disconnects only methods when the desk is deleted.
        # The docks still report later that they are hidden.
        dock.topLevelChanged.connect(self._show_title_bars)
        dock.topLevelChanged.connect(self._keep_floating_readable)
        dock.dockLocationChanged.connect(self._show_title_bars)
        dock.visibilityChanged.connect(self._update_shown_view)
        self.docks[dock_spec.name] = dock

    # --- display --------------------------------------------------------------------------------------------

    def show_drill(self, drill: Drill) -> None:
        """Show a run. If *drill* was shown last, hidden panels still show it and need no update."""
        is_shown_drill = any(shown_drill is drill for shown_drill in self._shown_drills.values())
        self._world, self._drill, self._parts = drill.world, drill, iter(())
        self._apply_panel_permissions()
        for name, view in self.views.items():
            if not is_shown_drill or self._is_in_front(name):
                self._update_view(name, view)

    def show_past(self, drill: Drill) -> None:
        """Show a past time of the run. Hidden panels are updated when they are opened."""
        self._world, self._drill, self._parts = drill.world, drill, iter(())
        for name, view in self.views.items():
            if self._is_in_front(name):
                self._update_view(name, view)

    def _update_view(self, name: str, view: DeskView) -> None:
        if self._drill is not None:
            self._shown_drills[name] = self._drill
            view.show_drill(self._drill)

    def show_world(self, world: World) -> None:
        """Update the visible views. Hidden views are updated when they are opened.

        While a large world runs fast, the views are updated in turns, one per frame, because all views
        together take several frames.
        """
        self._world = world
        views = [view for name, view in self.views.items() if self._is_in_front(name)]
        if self._is_fast and len(world.list_databases()) >= TURN_TAKING_DATABASES_MIN and views:
            self._update_next_view(views, world)
        else:
            self._parts = iter(())
            for view in views:
                view.show_world(world)

    def _is_in_front(self, name: str) -> bool:
        """Return whether the view *name* is on screen. Qt moves docks behind other tabs to negative coordinates."""
        dock = self.docks.get(name)
        is_off_screen = dock is not None and not dock.isFloating() and dock.geometry().right() < 0
        return get_widget(self.views[name]).isVisible() and not is_off_screen

    def set_covered(self, covered: bool) -> None:
        """Hide the desk while the stage replaces it. Afterwards, restore the panels and show the latest world."""
        if covered and self._uncovered_layout is None:
            self._uncovered_layout = self.saveState(LAYOUT_VERSION)
            self.hide()
        elif not covered and self._uncovered_layout is not None:
            state, self._uncovered_layout = self._uncovered_layout, None
            self.show()
            if state.isEmpty() or not self.restoreState(state, LAYOUT_VERSION):
                self._distribute_sizes()
            self._show_title_bars()
            if self._world is not None:
                self.show_world(self._world)

    def _update_next_view(self, visible_views: list[DeskView], world: World) -> None:
        """Update the next part of a view that is updated in parts. If it is complete, update the next view."""
        if next(self._parts, self) is None:
            return
        self._next_view_index = (self._next_view_index + 1) % len(visible_views)
        view = visible_views[self._next_view_index]
        if isinstance(view, IncrementalView):
            self._parts = view.show_parts(world)
            next(self._parts, None)
        else:
            view.show_world(world)

    def show_pace(self, running: bool, is_fast: bool) -> None:
        """Record whether time runs, and whether it runs too fast for animation.

        When time stops, update the visible views.
        """
        self._is_fast = running and is_fast
        if not running and self._world is not None:
            self.show_world(self._world)

    def add_events(self, events: list[Event]) -> None:
        """Pass new events to the views."""
        for name, view in self.views.items():
            if self._shown_drills.get(name) is self._drill:
                view.add_events(events)

    def _find_closed_reason(self, dock_spec: DockSpec) -> str:
        """Return the reason why a panel is closed in this run; empty if it may be open."""
        if self._drill is None or self._world is None:
            return ""
        if dock_spec.shows_truth and not self._drill.permissions.shows_truth:
            text = tr("{panel} is not available during an exam. Use the servers' own tools.")
            return text.format(panel=tr(dock_spec.title))
        return "" if dock_spec.is_available(self._world) else tr(dock_spec.absent_message)

    def _apply_panel_permissions(self) -> None:
        """Close the panels that this run does not permit, and reopen the panels that an earlier run had closed."""
        for dock_name in OUTER_DOCK_SPECS:
            dock = self.docks[dock_name.name]
            was_closed = bool(self._find_closed_reason(dock_name))
            if was_closed and not dock.isHidden():
                self._closed_panels.add(dock_name.name)
                dock.setVisible(False)
            elif not was_closed and dock_name.name in self._closed_panels:
                self._closed_panels.remove(dock_name.name)
                dock.setVisible(True)

    def _update_shown_view(self, visible: bool) -> None:
        """Update a view whose dock has become visible."""
        self._show_title_bars()
        if visible and self.isVisible():
            name = self.sender().objectName()
            view = self.get_view(name)
            if self._shown_drills.get(name) is not self._drill:
                self._update_view(name, view)
            if self._world is not None:
                view.show_world(self._world)

    def focus_view(self, name: str) -> None:
        """Open the view *name*, bring it to the front and focus it."""
        dock = self.docks.get(name)
        reason = self._find_closed_reason(DOCK_SPECS_BY_NAME[name])
        if reason:
            self.message_ready.emit(reason)
            return
        if not get_widget(self.get_view(name)).isVisible():
            self.unzoom_panel()
        if dock is not None:
            is_opened = dock.isHidden()
            dock.show()
            dock.raise_()
            if is_opened and name == "explorer" and not self.docks["brief"].isHidden():
                shares = [round(1000 * (1.0 - EXPLORER_HEIGHT_SHARE)), round(1000 * EXPLORER_HEIGHT_SHARE)]
                self.resizeDocks([self.docks["brief"], dock], shares, Qt.Orientation.Vertical)
                width = max(dock.width(), round(EXPLORER_WIDTH_UNITS * self.fontMetrics().height()))
                self.resizeDocks([dock], [width], Qt.Orientation.Horizontal)
        find_focus_target(get_widget(self.get_view(name))).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def get_focused_panel(self) -> str | None:
        """Return the name of the view that has the focus, or None."""
        return next((name for name, view in self.views.items() if has_keyboard_focus(get_widget(view))), None)

    def zoom_panel(self, name: str) -> None:
        """Show the panel *name* on the whole desk. A second call restores the layout."""
        if self._unzoomed_layout is not None:
            self.unzoom_panel()
            return
        keys = self.window().focusWidget()
        self._unzoomed_layout = self.saveState(LAYOUT_VERSION)
        for other_name, dock in self.docks.items():
            dock.setVisible(other_name == name)
        self._middle.setVisible(name not in self.docks)
        if keys is not None and keys.isVisible():
            keys.setFocus()

    def show_only_panel(self, name: str) -> None:
        """Show only the panel *name* on the whole desk, instead of any other zoomed panel."""
        self.unzoom_panel()
        self.zoom_panel(name)

    def unzoom_panel(self) -> None:
        """Restore the layout from before a panel was zoomed."""
        zoomed, self._unzoomed_layout = self._unzoomed_layout, None
        if zoomed is not None:
            self._middle.show()
            self.restoreState(zoomed, LAYOUT_VERSION)
            self._show_title_bars()

    # --- positions ------------------------------------------------------------------------------------------

    @property
    def is_narrow(self) -> bool:
        """Return whether the desk is too narrow for the full layout."""
        return self.window().width() < NARROW_WIDTH_UNITS * self.fontMetrics().height()

    def _find_area(self, dock_spec: DockSpec) -> tuple[Qt.DockWidgetArea, int]:
        """Return area and tab group of a dock. On a narrow desk, all docks are in one group."""
        return (_RIGHT_AREA, 0) if self.narrow else (dock_spec.area, dock_spec.tab_group)

    def arrange_panels(self, profile: str) -> None:
        """Arrange the panels in the layout *profile*, adapted to the available space."""
        self.unzoom_panel()
        if self._uncovered_layout is not None:
            self._uncovered_layout = (
                QByteArray()
            )  # empty: keep the new layout when the stage closes, not the layout before the stage
        self._profile = profile
        self.narrow = self.is_narrow
        for dock in self.docks.values():
            dock.setFloating(False)  # must precede the removal: a dock without an area would float
            self.removeDockWidget(dock)
        for area in (_LEFT_AREA, _BOTTOM_AREA, _RIGHT_AREA):
            first: dict[int, QDockWidget] = {}
            for place in OUTER_DOCK_SPECS:
                its_area, group = self._find_area(place)
                if its_area != area:
                    continue
                dock_widget = self.docks[place.name]
                if group in first:
                    self.tabifyDockWidget(first[group], dock_widget)
                else:
                    self.addDockWidget(area, dock_widget, Qt.Orientation.Vertical)
                    first[group] = dock_widget
                # On a narrow desk, the presenter layout hides the docks, because the topology needs the whole
                # width.
                for_back_row = self.narrow and profile == PRESENTER_PROFILE
                dock_widget.setVisible(profile in place.profiles and not for_back_row)
            for group in first:
                front = self._find_group_dock(area, group)
                if front is not None:
                    self.docks[front].raise_()
        self._apply_panel_permissions()
        self._show_title_bars()
        self._distribute_sizes()

    def _distribute_sizes(self) -> None:
        self._shares_due = True
        self._shares = {}  # a resize before the panels have settled must not restore the former sizes
        left, right, bottom, upper = PROFILE_SHARES[self._profile]
        by_name = self.docks
        width, height = self.width(), self.height()
        left = max(left, self._compute_left_px() / max(1, width)) if left else left
        if self.narrow:
            right, upper = NARROW_TABS_SHARE, 1.0
        heads = [
            (self._find_group_dock(_LEFT_AREA, 0), left, 1.0 - EXPLORER_HEIGHT_SHARE),
            (self._find_group_dock(_LEFT_AREA, 1), left, EXPLORER_HEIGHT_SHARE),
            (self._find_group_dock(_RIGHT_AREA, 0), right, upper),
            (self._find_group_dock(_RIGHT_AREA, 1), right, 1.0 - upper),
            (self._find_group_dock(_BOTTOM_AREA, 0), None, bottom),
        ]
        wide = [(name, share) for name, share, _ in heads if name is not None and share is not None]
        high = [(name, share) for name, _, share in heads if name is not None]
        widths, heights = [round(s * width) for _, s in wide], [round(s * height) for _, s in high]
        self.resizeDocks([by_name[n] for n, _ in wide], widths, Qt.Orientation.Horizontal)
        self.resizeDocks([by_name[n] for n, _ in high], heights, Qt.Orientation.Vertical)

    def _find_group_dock(self, area: Qt.DockWidgetArea, group: int) -> str | None:
        """Return the name of the first open dock of a group, or None.

        The size of this dock applies to all tabs of the group.
        """
        return next(
            (
                dock.name
                for dock in OUTER_DOCK_SPECS
                if self._find_area(dock) == (area, group) and not self.docks[dock.name].isHidden()
            ),
            None,
        )

    def _compute_left_px(self) -> int:
        readable_px = LEFT_AREA_WIDTH_MIN_UNITS * self.fontMetrics().height()
        return round(min(readable_px, LEFT_AREA_SHARE_MAX * self.width()))

    def _set_title_sizes(self) -> None:
        """Set the font size of dock titles, because Qt keeps the size from the start of the program."""
        for dock in self.docks.values():
            dock.setFont(theme.resize_font(self.font(), FONT_REFRESH_FACTOR))

    def _keep_floating_readable(self) -> None:
        """Set a minimum size for a floating dock, so that it stays readable."""
        for dock in self.docks.values():
            if dock.isFloating():
                set_readable_minimum_size(dock, *FLOATING_DOCK_MIN_UNITS)
            else:
                dock.setMinimumSize(0, 0)

    def _keep_left_readable(self) -> None:
        """Widen the left area for large text, also in a restored layout."""
        for dock in OUTER_DOCK_SPECS:
            if dock.area == _LEFT_AREA:
                width_min = 0 if self.narrow else self._compute_left_px()
                self.docks[dock.name].widget().setMinimumWidth(width_min)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_left_readable()
        before, size = event.oldSize(), event.size()
        growth = size - before
        leap = before.isValid() and max(abs(growth.width()), abs(growth.height())) >= RESIZE_JUMP_MIN_PX
        if self._pending_restore is not None and self._pending_restore[1] == size:
            self.restoreState(self._pending_restore[0], LAYOUT_VERSION)
            self._shares_due = True
            self._apply_panel_permissions()
            self._forget_pending_restore()
        elif leap and self._sized and self.isVisible():
            self._restore_size_shares()

    def _restore_size_shares(self) -> None:
        """Give each panel its stored share of the window, after the window was maximized or restored.

        By default, the topology would take all additional space. A small window shrinks panels to their
        minimum sizes, but the stored shares do not change.
        """
        areas = (_LEFT_AREA, _RIGHT_AREA, _BOTTOM_AREA)
        docks = [self._find_group_dock(area, group) for area in areas for group in (0, 1)]
        heads = [self.docks[name] for name in docks if name is not None and name in self._shares]
        side_docks = [dock for dock in heads if self.dockWidgetArea(dock) != _BOTTOM_AREA]
        widths = [round(self._shares[dock.objectName()][0] * self.width()) for dock in side_docks]
        heights = [round(self._shares[dock.objectName()][1] * self.height()) for dock in heads]
        self.resizeDocks(side_docks, widths, Qt.Orientation.Horizontal)
        self.resizeDocks(heads, heights, Qt.Orientation.Vertical)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Store the shares of the panels after a separator was dragged."""
        super().mouseReleaseEvent(event)
        self._shares_due = True
        self._layout_timer.start()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(watched, QDockWidget):
            self._layout_timer.start()
        return super().eventFilter(watched, event)

    def _finish_layout(self) -> None:
        if self._shares_due and self._sized and self.isVisible() and self._unzoomed_layout is None:
            self._shares_due = False
            width, height = max(1, self.width()), max(1, self.height())
            self._shares = {
                name: (dock.width() / width, dock.height() / height) for name, dock in self.docks.items()
            }
        self._hide_stray_tabs()

    def _hide_stray_tabs(self) -> None:
        """Hide tab bars without panels, which Qt leaves after it restores a layout."""
        top_lefts = {dock.geometry().topLeft() for dock in self.docks.values() if dock.isVisible()}
        for bar in self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            geometry = bar.geometry()
            below_point = geometry.bottomLeft() + QPoint(0, 1)
            if bar.isVisible() and geometry.y() >= 0 and below_point not in top_lefts:
                bar.move(-geometry.width(), -geometry.height())

    def _show_title_bars(self) -> None:
        """Show title bars only for docks without tabs. Otherwise, the tab shows the title."""
        if not self.isVisible():
            return
        for dock in self.docks.values():
            tabbed = bool(self.tabifiedDockWidgets(dock)) and not dock.isFloating()
            has_plain_bar = dock.titleBarWidget() is not None
            if tabbed != has_plain_bar:
                before = dock.titleBarWidget()
                # None restores the default title bar
                dock.setTitleBarWidget(QWidget() if tabbed else cast(QWidget, None))
                if before is not None:
                    before.deleteLater()

    @property
    def has_been_visible(self) -> bool:
        """Return whether the desk has been on screen, so that its layout is valid."""
        return self._sized

    def save_layout(self) -> QByteArray:
        """Return the layout of the desk for `restore_layout`. Panels that the run has closed count as open."""
        self.unzoom_panel()
        for name in self._closed_panels:
            self.docks[name].setVisible(True)
        state = self._uncovered_layout or self.saveState(LAYOUT_VERSION)
        for name in self._closed_panels:
            self.docks[name].setVisible(False)
        self._stored_layouts[self._profile] = (state, self.size())
        return state

    def restore_layout(self, state: QByteArray, profile: str) -> None:
        """Restore the layout *state*. If it belongs to another version, use the default layout of *profile*."""
        self.arrange_panels(profile)
        if not state.isEmpty() and self.restoreState(state, LAYOUT_VERSION):
            self._sized = self._shares_due = True
            self._uncovered_layout = state if self._uncovered_layout is not None else None
            self._show_title_bars()
            layout = self._stored_layouts.get(profile)
            if layout is not None and layout[0] == state and layout[1] != self.size():
                self.restore_layout_at_size(*layout)
        self._apply_panel_permissions()
        for bar in self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            # Qt polishes a tab bar when it is shown, which is too late for a change of the text size
            bar.ensurePolished()

    def restore_layout_at_size(self, state: QByteArray, size: QSize) -> None:
        """Restore the layout *state* as soon as the desk has the size *size*.

        Give up if the desk does not reach this size within RESTORE_TIMEOUT_MS.
        """
        self._pending_restore = state, size
        self._pending_restore_timer.start()

    def _forget_pending_restore(self) -> None:
        self._pending_restore = None

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._sized:
            self._sized = True
            self._distribute_sizes()
        self._check_width()

    def _check_width(self) -> None:
        if self._sized and self.narrow != self.is_narrow:
            self.narrow_changed.emit()

    @override
    def childEvent(self, event: QChildEvent) -> None:
        super().childEvent(event)
        child = event.child()
        if event.type() == QEvent.Type.ChildPolished and isinstance(child, QTabBar):
            child.setElideMode(Qt.TextElideMode.ElideNone)
            child.setUsesScrollButtons(True)
