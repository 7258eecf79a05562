"""Roster of a class: the columns and sort orders of the seats."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView

from app.classroom.lesson_plan import PART_KIND_NAMES
from app.classroom.messages.replies import DashboardUpdate, LogVerdict, SeatTile
from app.widgets.sparkline import SparklineDelegate
from app.widgets.tables import TableColumn, TableModel, TableView
from app.widgets.two_lines import TwoLineDelegate
from app.words import formatting
from app.words.language import mark, tr, trn
from app.words.localization import describe_input
from engine.drill.judging.report import get_program_version
from engine.drill.judging.report_types import BLUNDER_POINTS_MIN
from engine.drill.judging.score import SCORE_TOTAL_MAX
from engine.overrides import override

TOOLTIP_LINES_MAX: Final = 12
"""Maximum number of lines in the tooltip of a value curve. The last lines are shown."""


MISTAKE_SHOWN_S: Final = 180.0
"""Run time during which the roster shows that a seat made a mistake.

Assumed: long enough to walk to the seat.
"""
HELP_COLOR_NAMES: Final = ("info", "bad", "warn")
"""Color names of seats that need help, most urgent first."""


SortKey = tuple[float | str, ...]


def has_started(tile: SeatTile) -> bool:
    """Return True if the run of the seat has begun."""
    return tile.at_s > 0.0 or tile.acknowledged > 0


def has_finished(tile: SeatTile) -> bool:
    """Return True if the run of the seat has ended."""
    return tile.over or (tile.verdict is not None and tile.verdict["ended_by"] is not None)


def describe_version(tile: SeatTile) -> str:
    """Return the version of the seat if it differs from this computer's version, otherwise an empty string."""
    version = tile.version
    if version is None or version == get_program_version():
        return ""
    return tr("Version {version}").format(version=version) if version else tr("Older version")


def is_ready(tile: SeatTile) -> bool:
    """Return True if the seat is connected, records its log and has the version of this computer."""
    return tile.connected and tile.recording and not describe_version(tile)


class RosterState(Struct, frozen=True):
    """State of a seat as the roster shows it."""

    text: str
    detail: str = ""
    color_name: str | None = None
    """Name of the theme color of the state: bad, warn, info or ok; None for the default color."""
    icon_name: str | None = None
    """Name of the icon. None means no icon."""


def find_roster_state(tile: SeatTile) -> RosterState:
    """Return the state of a seat for the roster: the most urgent reason why the seat needs help.

    If the seat needs no help, return a state such as Active.
    """
    verdict, other_version = tile.verdict, describe_version(tile)
    # another version computes other state hashes from the same inputs
    if verdict is not None and verdict["parted_t_s"] is not None and not other_version:
        time = formatting.format_run_time(verdict["parted_t_s"])
        return RosterState(tr("Replay differs at {t}").format(t=time), verdict["parted"], "bad", "close")
    if has_finished(tile):
        return RosterState(tr("Finished"), icon_name="finish")
    if not tile.connected:
        time = formatting.format_run_time(tile.at_s)
        return RosterState(tr("Not connected"), tr("recorded up to {t}").format(t=time), "warn", "cut")
    if tile.hand is not None:
        asks = tr("{n}. “{question}”").format(n=tile.hand_place, question=tile.hand)
        return RosterState(tr("Raised hand"), asks, "info", "user")
    if tile.held:
        return RosterState(tr("Controlled by you"), color_name="accent", icon_name="user")
    if tile.frozen and not has_started(tile):
        if is_ready(tile):
            return RosterState(tr("Ready"), color_name="ok", icon_name="check")
        advice = tr("Install the same version as on this computer.") if other_version else ""
        return RosterState(other_version or tr("Not recording yet"), advice, "warn", "warning")
    if tile.frozen:
        return RosterState(tr("Frozen"), icon_name="pause")
    mistake = find_latest_mistake(tile)
    if mistake is not None and tile.at_s - mistake[0] <= MISTAKE_SHOWN_S:
        at_s, lost_points = mistake
        text = tr("Lost {n} points at {t}").format(n=f"{lost_points:.0f}", t=formatting.format_run_time(at_s))
        return RosterState(text, _format_last_input(tile), "bad", "close")
    if verdict is not None and verdict["stuck_since_s"] is not None:
        stuck_since = formatting.format_run_time(verdict["stuck_since_s"])
        return RosterState(tr("Idle since {t}").format(t=stuck_since), color_name="warn", icon_name="warning")
    if tile.paused:
        return RosterState(tr("Paused by participant"), icon_name="pause")
    unverified = other_version and tr("{version}: states of the run not verified").format(
        version=other_version
    )
    return RosterState(tr("Active"), unverified, "ok", "check")


def find_latest_mistake(tile: SeatTile) -> tuple[float, float] | None:
    """Return (time in seconds, lost points) of the latest mistake that lost many points, or None."""
    losses = [
        (later_value[0], before[1] - later_value[1])
        for before, later_value in pairwise(tile.worth)
        if before[1] - later_value[1] >= BLUNDER_POINTS_MIN
    ]
    return losses[-1] if losses else None


def needs_help(tile: SeatTile) -> bool:
    """Return True if the instructor should look at the seat."""
    return find_roster_state(tile).color_name in HELP_COLOR_NAMES


def _format_goals(tile: SeatTile) -> str:
    verdict = tile.verdict
    goals = verdict["goals"] if verdict is not None else {}
    if verdict is None or not goals:
        return ""
    count = f"{sum(met_t_s is not None for met_t_s in goals.values())}/{len(goals)}"
    instructor_goal_count = len(verdict["instructor_goals"])
    return (
        f"{count} " + tr("({n} met by the instructor)").format(n=instructor_goal_count)
        if instructor_goal_count
        else count
    )


def format_score(tile: SeatTile) -> str:
    """Format the points so far. Return an empty string without a score."""
    points = tile.verdict["score"] if tile.verdict is not None else None
    return "" if points is None else f"{points:.0f}"


def format_points(tile: SeatTile) -> str:
    """Format the points so far and the points still possible.

    Return an empty string if neither number is known.
    """
    current_score, possible = format_score(tile), tile.reachable
    if possible is None:
        return current_score
    return tr("{n} points, {all} possible").format(n=current_score or "0", all=f"{possible:.0f}")


def _format_reachable(tile: SeatTile) -> str:
    heading = tr("Best score still possible for this seat")
    course = [f"{formatting.format_run_time(t_s)}  {points:.0f}" for t_s, points in tile.worth]
    return "\n".join([heading, *course[-TOOLTIP_LINES_MAX:]])


def _is_last_input_by_instructor(verdict: LogVerdict) -> bool:
    """Return True if the last input of the run came from the instructor."""
    at_s = verdict.get("instructor_act_t_s")
    return at_s is not None and at_s >= (verdict["last_act_t_s"] or 0.0)


def _format_last_input(tile: SeatTile) -> str:
    verdict = tile.verdict
    if verdict is None:
        return ""
    line = verdict.get("instructor_act", "") if _is_last_input_by_instructor(verdict) else verdict["last_act"]
    return describe_input(line, {}) if line else ""


def _format_last_input_time(tile: SeatTile) -> str:
    verdict = tile.verdict
    if verdict is None:
        return ""
    if _is_last_input_by_instructor(verdict):
        return tr("entered by you at {t}").format(
            t=formatting.format_run_time(verdict.get("instructor_act_t_s") or 0.0)
        )
    if verdict["last_act_t_s"] is None:
        return ""
    return tr("at {t}").format(t=formatting.format_run_time(verdict["last_act_t_s"]))


def _describe_group_and_time(tile: SeatTile) -> str:
    """Return the group and the time of the seat as text."""
    return " · ".join(filter(None, (tile.group, formatting.format_run_time(tile.at_s))))


def describe_seat(tile: SeatTile, goal_texts: Mapping[str, str]) -> str:
    """Return lines with state, goals, score and last command of a seat.

    *goal_texts*: name of a goal -> text.
    """
    status, verdict = find_roster_state(tile), tile.verdict
    lines = [": ".join(filter(None, (status.text, status.detail)))]
    for name, met_s in (verdict["goals"] if verdict is not None else {}).items():
        goal = goal_texts.get(name, name)
        lines.append(f"○ {goal}" if met_s is None else f"✓ {formatting.format_run_time(met_s)}  {goal}")
    if verdict is not None and verdict["score"] is not None:
        lines.append(tr("Score: {points}").format(points=format_points(tile)))
        lines.append(tr("Downtime: {t}").format(t=formatting.format_run_time(verdict["downtime_s"])))
    if _format_last_input(tile):
        lines.append(
            tr("Last command {at}: {line}").format(
                at=_format_last_input_time(tile), line=_format_last_input(tile)
            )
        )
    return "\n".join(lines)


def describe_part(dashboard: DashboardUpdate) -> str:
    """Describe the current part of a class. Return an empty string for a class with a single part."""
    if not dashboard.part:
        return ""
    return tr("Part {n} of {all}: {name}.").format(
        n=dashboard.part_number, all=dashboard.parts, name=tr(PART_KIND_NAMES[dashboard.part])
    )


def describe_class(dashboard: DashboardUpdate, tiles: Sequence[SeatTile], hides_names: bool) -> str:
    """Describe the seats, the time and the state of the class in one line."""
    connected_count = sum(bool(tile.connected) for tile in tiles)
    description = trn("{n} seat", "{n} seats", len(tiles)).format(n=len(tiles))
    description = f"{describe_part(dashboard)} {description}".lstrip()
    description += ", " + tr("{n} connected").format(n=connected_count)
    if dashboard.clock_s is not None:
        description += ", " + tr("class clock {t}").format(t=formatting.format_run_time(dashboard.clock_s))
    if dashboard.ends_in_s is not None:
        ends = datetime.now() + timedelta(seconds=dashboard.ends_in_s)
        description += ", " + tr("ends at about {time}").format(time=f"{ends:%H:%M}")
    if dashboard.not_frozen and dashboard.state != "over":
        return f"{description}. " + (
            tr("Seats not frozen yet: {n}.").format(n=len(dashboard.not_frozen))
            if hides_names
            else tr("Seats not frozen yet: {names}.").format(names=", ".join(dashboard.not_frozen))
        )
    if dashboard.state == "frozen" and dashboard.break_s is None and not any(map(has_started, tiles)):
        return f"{description}. " + tr("Waiting for the start.")
    return f"{description}. {describe_class_state(dashboard)}"


def _describe_break(left_s: float) -> str:
    end_time = datetime.now() + timedelta(seconds=left_s)
    return tr("break until {time}").format(time=f"{end_time:%H:%M}")


def describe_class_state(dashboard: DashboardUpdate) -> str:
    """Describe the state of the class clock in one sentence."""
    if dashboard.state == "over":
        has_more_parts = dashboard.part_number < dashboard.parts
        return tr("This part has ended.") if has_more_parts else tr("The class has ended.")
    if dashboard.state == "frozen":
        return (
            tr("Frozen.")
            if dashboard.break_s is None
            else tr("Frozen") + f", {_describe_break(dashboard.break_s)}."
        )
    return tr("Running.")


ROSTER_COLUMNS: Final[tuple[TableColumn[SeatTile], ...]] = (
    TableColumn(
        title=mark("Seat"),
        text=lambda tile: str(tile.seat),
        color_name=lambda tile: (
            tone if (tone := find_roster_state(tile).color_name) in HELP_COLOR_NAMES else None
        ),
        is_number=True,
    ),
    TableColumn(
        title=mark("Name"),
        text=lambda tile: str(tile.name),
        detail=_describe_group_and_time,
        tip=lambda tile: str(tile.name),
        sample="Annemarie Example-Name",
    ),
    TableColumn(
        title=mark("State"),
        text=lambda tile: find_roster_state(tile).text,
        detail=lambda tile: find_roster_state(tile).detail,
        color_name=lambda tile: find_roster_state(tile).color_name,
        icon_name=lambda tile: find_roster_state(tile).icon_name,
        tip=lambda tile: find_roster_state(tile).detail,
        sample="SERVER_A is the mirror, synchronized",
    ),
    TableColumn(
        title=mark("Score"),
        text=format_points,
        tip=_format_reachable,
        sample=mark("100 points, 100 possible"),
    ),
    TableColumn(title=mark("Goals"), text=_format_goals),
    TableColumn(
        title=mark("Last command"),
        text=_format_last_input,
        detail=_format_last_input_time,
        tip=_format_last_input,
    ),
)


def _rank_by_need(tile: SeatTile) -> SortKey:
    """Return a sort key: raised hands in order, then mistakes, then idle or disconnected seats, then others."""
    color_name = find_roster_state(tile).color_name
    return HELP_COLOR_NAMES.index(color_name) if color_name in HELP_COLOR_NAMES else len(
        HELP_COLOR_NAMES
    ), tile.hand_place or 0


SORT_KEYS: Final[dict[str, Callable[[SeatTile], SortKey]]] = {
    mark("by need for help"): _rank_by_need,
    mark("by seat"): lambda tile: (),
    mark("by group"): lambda tile: (tile.group.casefold(),),
    mark("by name"): lambda tile: (tile.name.casefold(),),
    mark("by score"): lambda tile: (-(tile.verdict["score"] or 0.0) if tile.verdict else 0.0,),
    mark("by time"): lambda tile: (tile.at_s,),
}
"""Name of a sort order for seats -> function that returns a seat's sort key.

Seats with equal keys are sorted by number.
"""


SHRINKING_COLUMNS: Final = (1, 2)
"""Columns (name and state) that shrink in a narrow table. Their tooltips show the full text."""
SHRUNK_WIDTH_SHARE_MIN: Final = 0.4
"""Minimum width of the shrinking columns, as a share of their usual width."""


class RosterTable(TableView):
    """Table of the seats. It keeps the selected seat, and no row moves under the pointer."""

    def __init__(self) -> None:
        super().__init__(TableModel(ROSTER_COLUMNS), tr("Seats"))
        self.seats: list[int] = []
        """Numbers of the seats in row order."""
        self.set_empty_text(tr("Starting the class…"))
        self.horizontalHeader().setSectionResizeMode(len(ROSTER_COLUMNS) - 1, QHeaderView.ResizeMode.Stretch)
        self.setItemDelegateForColumn(0, TwoLineDelegate(self, has_band=True))
        for index, column in enumerate(ROSTER_COLUMNS):
            if column.detail is not None:
                self.setItemDelegateForColumn(index, TwoLineDelegate(self))
            if column.text is format_points:
                curve = SparklineDelegate(self, lambda tile: tile.worth, SCORE_TOTAL_MAX)
                self.setItemDelegateForColumn(index, curve)

    @override
    def _fit_sizes(self) -> None:
        super()._fit_sizes()
        self._fit_width()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_sizes()

    def _fit_width(self) -> None:
        """Shrink names and states until all columns fit."""
        widths = [self.columnWidth(column) for column in range(len(ROSTER_COLUMNS) - 1)]
        last_width = self.horizontalHeader().sectionSizeHint(len(ROSTER_COLUMNS) - 1)
        excess = sum(widths) + last_width - self.viewport().width()
        usual_width = sum(widths[column] for column in SHRINKING_COLUMNS)
        share = max(SHRUNK_WIDTH_SHARE_MIN, min(1.0, 1.0 - excess / usual_width))
        for column in SHRINKING_COLUMNS:
            self.setColumnWidth(column, int(widths[column] * share))

    @property
    def selected_seat(self) -> int | None:
        """Number of the seat whose row is selected."""
        row = self.currentIndex().row()
        return self.seats[row] if 0 <= row < len(self.seats) else None

    def is_pointed_at(self) -> bool:
        """Return True if the pointer is over the rows."""
        return self.viewport().underMouse()

    def show_seats(
        self,
        tiles: Sequence[SeatTile],
        sort_key: Callable[[SeatTile], SortKey],
        get_name: Callable[[SeatTile], str],
    ) -> None:
        """Show *tiles* in the order of *sort_key*, with the names that *get_name* returns.

        While the pointer is over the list, no row moves and new seats are added at the end.
        """
        self.set_empty_text(
            tr("Nobody has joined yet. On each computer, choose Class ▸ Join a class and enter the code.")
        )
        seat = self.selected_seat
        if self.is_pointed_at():
            indexes_by_seat = {number: index for index, number in enumerate(self.seats)}
            ordered = sorted(tiles, key=lambda tile: indexes_by_seat.get(tile.seat, len(indexes_by_seat)))
        else:
            ordered = sorted(tiles, key=lambda tile: (*sort_key(tile), tile.seat))
        self.seats = [tile.seat for tile in ordered]
        self.table.update_rows([replace(tile, name=get_name(tile)) for tile in ordered])
        # do not select the selected row again, because this would scroll the list
        if seat is not None and seat != self.selected_seat:
            self.selectRow(self.seats.index(seat))
