"""Roster of a class: the columns of a seat, and the orders of the seats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from app.classroom.plan import KINDS
from app.classroom.server_messages import DashboardUpdate, Tile
from app.widgets.tables import TableColumn
from app.words import formatting
from app.words.language import mark, tr, trn
from app.words.localization import describe_input
from engine.drill.judging.report import program_version

TOLD_LINES: Final = 12
"""Of a curve in a tip, the last ones."""


def has_started(tile: Tile) -> bool:
    """Return True if the run of the seat has begun."""
    return tile["at_s"] > 0.0 or tile["acknowledged"] > 0


def describe_version(tile: Tile) -> str:
    """Describe a version of the seat that is not the one of this computer; empty otherwise."""
    version = tile.get("version")
    if version is None or version == program_version():
        return ""
    return tr("version {version}").format(version=version) if version else tr("an older version")


def is_ready(tile: Tile) -> bool:
    """Return True for a seat that is connected, records its log and has this version."""
    return tile["connected"] and tile.get("recording", True) and not describe_version(tile)


def describe_state(tile: Tile) -> str:
    """Describe the state of the seat in a few words."""
    found = tile["verdict"]
    if found is not None and found["parted_t_s"] is not None:
        return tr("✗ diverges at {t}").format(t=formatting.run_time(found["parted_t_s"]))
    if tile["over"] or (found is not None and found["ended_by"] is not None):
        return tr("finished")
    if not tile["connected"]:
        return tr("not connected")
    if tile["hand"] is not None:
        return tr("{n}. asks: {question}").format(n=tile["hand_place"], question=tile["hand"])
    if tile["held"]:
        return tr("taken over")
    if tile["frozen"] and not has_started(tile):
        return tr("ready") if is_ready(tile) else describe_version(tile) or tr("not recording yet")
    if tile["frozen"]:
        return tr("frozen")
    since = found["stuck_since_s"] if found is not None else None
    return tr("idle since {t}").format(t=formatting.run_time(since)) if since is not None else tr("✓ active")


def find_tone(tile: Tile) -> str | None:
    """Return the tone of the state: "bad", "warn" or None."""
    found = tile["verdict"]
    if found is not None and found["parted_t_s"] is not None:
        return "bad"
    if tile["over"]:
        return None
    stuck = found is not None and found["stuck_since_s"] is not None
    return "warn" if stuck or tile["hand"] is not None or not tile["connected"] else None


def needs_help(tile: Tile) -> bool:
    """Return True for a seat that the instructor should look at."""
    return tile["hand"] is not None or find_tone(tile) is not None


def _goals(tile: Tile) -> str:
    found = tile["verdict"]
    goals = found["goals"] if found is not None else {}
    if found is None or not goals:
        return ""
    count = f"{sum(met is not None for met in goals.values())}/{len(goals)}"
    helped = len(found["instructor_goals"])
    return f"{count} " + tr("({n} by the instructor)").format(n=helped) if helped else count


def score(tile: Tile) -> str:
    """Format the points so far; empty without a score."""
    points = tile["verdict"]["score"] if tile["verdict"] is not None else None
    return "" if points is None else f"{points:.0f}"


def reachable(tile: Tile) -> str:
    """Format the points that are still possible; empty if unknown."""
    return "" if tile["reachable"] is None else f"{tile['reachable']:.0f}"


def _format_reachable(tile: Tile) -> str:
    said = tr("Best score still possible for this seat")
    course = [f"{formatting.run_time(t_s)}  {points:.0f}" for t_s, points in tile["worth"]]
    return "\n".join([said, *course[-TOLD_LINES:]])


def _last_act(tile: Tile) -> str:
    """Return the time of the last input, and its description."""
    found = tile["verdict"]
    if found is None or found["last_act_t_s"] is None:
        return ""
    return f"{formatting.run_time(found['last_act_t_s'])}  {describe_input(found['last_act'], {})}"


def _format_deviation(tile: Tile) -> str:
    """Return the difference of the seat from its log, or its whole question."""
    return (tile["verdict"]["parted"] if tile["verdict"] is not None else "") or tile["hand"] or ""


def describe_class(board: DashboardUpdate, tiles: Sequence[Tile], nameless: bool) -> str:
    """Describe seats, times and state of the class in one line."""
    there = sum(bool(tile["connected"]) for tile in tiles)
    said = trn("{n} seat", "{n} seats", len(tiles)).format(n=len(tiles))
    if board["part"]:
        part = tr("Part {n} of {all}: {name}.").format(
            n=board["part_number"], all=board["parts"], name=tr(KINDS[board["part"]])
        )
        said = f"{part} {said}"
    said += ", " + tr("{n} connected").format(n=there)
    if board["clock_s"] is not None:
        said += ", " + tr("class clock {t}").format(t=formatting.run_time(board["clock_s"]))
    if board["ends_in_s"] is not None:
        ends = datetime.now() + timedelta(seconds=board["ends_in_s"])
        said += ", " + tr("end at about {time}").format(time=f"{ends:%H:%M}")
    if board["break_s"] is not None:
        back = datetime.now() + timedelta(seconds=board["break_s"])
        said += ", " + tr("break until {time}").format(time=f"{back:%H:%M}")
    if board["state"] == "over":
        if board["part_number"] < board["parts"]:
            return f"{said}. " + tr("This part has ended.")
        return f"{said}. " + tr("The class has ended.")
    if board["not_frozen"]:
        return f"{said}. " + (
            tr("Not frozen yet: {n}.").format(n=len(board["not_frozen"]))
            if nameless
            else tr("Not frozen yet: {names}.").format(names=", ".join(board["not_frozen"]))
        )
    if board["state"] == "frozen" and not any(map(has_started, tiles)):
        return f"{said}. " + tr("Waiting for the start.")
    return f"{said}. " + (tr("Frozen.") if board["state"] == "frozen" else tr("Running."))


COLUMNS: Final = (
    TableColumn(title=mark("Seat"), text=lambda tile: str(tile["seat"]), right=True),
    TableColumn(
        title=mark("Name"),
        text=lambda tile: str(tile["name"]),
        tip=lambda tile: str(tile["name"]),
        sample="Annemarie Example",
    ),
    TableColumn(title=mark("Group"), text=lambda tile: str(tile["group"]), sample="Blue"),
    TableColumn(
        title=mark("State"),
        text=describe_state,
        tone=find_tone,
        sample="✗ diverges at 0:00:00",
        tip=_format_deviation,
    ),
    TableColumn(
        title=mark("Time"), text=lambda tile: formatting.run_time(tile["at_s"]), right=True, sample="0:00:00"
    ),
    TableColumn(title=mark("Goals"), text=_goals, right=True),
    TableColumn(title=mark("Current score"), text=score, right=True),
    TableColumn(
        title=mark("Still possible"),
        text=reachable,
        right=True,
        tip=_format_reachable,
        sample="100 100 100 100 100",
    ),
    TableColumn(title=mark("Last command"), text=_last_act, tip=_last_act),
)


def _rank_by_need(tile: Tile) -> tuple[float | str, ...]:
    """Rank raised hands in their order, then seats that differ, are stuck or away, then all others."""
    return tile["hand_place"] or len(ORDERS) ** 9, {"bad": 0, "warn": 1}.get(find_tone(tile) or "", 2)


ORDERS: Final[dict[str, Callable[[Tile], tuple[float | str, ...]]]] = {
    mark("by need of help"): _rank_by_need,
    mark("by seat"): lambda tile: (),
    mark("by group"): lambda tile: (tile["group"].casefold(),),
    mark("by name"): lambda tile: (tile["name"].casefold(),),
    mark("by score"): lambda tile: (-(tile["verdict"]["score"] or 0.0) if tile["verdict"] else 0.0,),
    mark("by time"): lambda tile: (tile["at_s"],),
}
"""Name of a sort order for seats -> sort key. Seats with equal keys are sorted by number."""
