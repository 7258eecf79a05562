"""Captions that explain the first run to a new user, with times measured in this run. Without Qt."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from app.view_models.failover_moment import phases
from app.words import formatting
from app.words.language import mark, tr
from engine.drill.judging.report_types import Report
from engine.events import ClientData, Event, FailoverData, FaultData, StateData, get_data
from engine.model import Tick, to_ticks

INTRODUCTION_SCENARIO: Final = "lab"
"""Shipped lab for the first run. Its failover takes as long as the one in Microsoft's paper
(docs/accuracy.md).
"""
PRINCIPAL, MIRROR, WITNESS, CLIENT, DATABASE = "SERVER_A", "SERVER_B", "SERVER_W", "APP", "Sales"

START_TICK: Final[Tick] = to_ticks(4.0)
"""Time at which the first run starts the clock."""
POWER_OFF_TICK: Final[Tick] = to_ticks(6.0)
"""Time at which the principal is powered off."""
POWER_OFF_LINE: Final = f"power-off {PRINCIPAL}"
POWER_ON_LINE: Final = f"power-on {PRINCIPAL}"
CAPTION_COUNT: Final = 5
"""Number of captions in a complete first run."""


class RunCaption(Struct, frozen=True):
    """Explanation next to a part of the stage."""

    part: str
    """Name of the explained part of the stage."""
    phase: int
    """Index of the explained phase; -1 means the last phase."""
    title: str
    text: str


DETECTION_TEXT: Final = mark(
    "{mirror} and {witness} detected after {seconds} s that {principal} does not respond. "
    "Clients cannot work."
)
"""Caption about the detection of the failure."""
REDO_TEXT: Final = mark(
    "{mirror} first redoes the received log. Its redo queue was short: this took {seconds} s."
)
"""Caption about redo on the mirror."""
QUORUM_TEXT: Final = mark(
    "{witness} confirms that {principal} is lost: 2 of 3 votes are a quorum. {mirror} becomes "
    "the principal {seconds} s after the failure."
)
"""Caption about the agreement of mirror and witness."""
RECONNECTION_TEXT: Final = mark(
    "{database} was online on {mirror} after {online} s, and {client} reconnected after {seconds} s. Committed"
    " transactions lost: {lost}."
)
"""Caption about the reconnection of the client."""
COMPARISON_TEXT: Final = mark(
    "The failover took {seconds} s from detection to online. Microsoft measured {published} s "
    "(Best Practices, Table 6)."
)
"""Caption that compares the failover with the published duration."""


def build_captions(events: Sequence[Event], report: Report | None) -> list[RunCaption]:
    """Return the captions for the events so far, in order.

    *report*: report with the published duration, required after the client has reconnected.
    """
    return list(_iterate_captions(events, report))


def _iterate_captions(events: Sequence[Event], report: Report | None) -> Iterator[RunCaption]:
    failed_s: float | None = None
    online_s = 0.0
    names = {
        "principal": PRINCIPAL,
        "mirror": MIRROR,
        "witness": WITNESS,
        "client": CLIENT,
        "database": DATABASE,
    }

    def build_caption(target: str, phase: int, title: str, text: str, **figures: str) -> RunCaption:
        return RunCaption(target, phase, title, tr(text).format(**names, **figures))

    for event in events:
        change = event.data
        if isinstance(change, FaultData) and change.verb == "power-off":
            failed_s = event.t_s
        elif failed_s is None:
            continue
        elif event.kind == "detected" and event.server == MIRROR:
            yield build_caption(
                phases.TO,
                0,
                tr("Who detected the failure?"),
                DETECTION_TEXT,
                seconds=_format_seconds(event.t_s - failed_s),
            )
            detected_s = event.t_s
        elif isinstance(change, FailoverData) and change.step == "redo done":
            yield build_caption(
                phases.TO,
                1,
                tr("Which log was redone?"),
                REDO_TEXT,
                seconds=_format_seconds(event.t_s - detected_s),
            )
        elif isinstance(change, FailoverData) and change.step == "decided":
            yield build_caption(
                phases.VOTES, 2, tr("Who voted?"), QUORUM_TEXT, seconds=_format_seconds(event.t_s - failed_s)
            )
        elif isinstance(change, FailoverData) and change.step == "online":
            online_s = event.t_s - failed_s
        elif isinstance(change, ClientData) and change.what == "connected" and report is not None:
            failover = report["failovers"][0]
            figures = {"online": _format_seconds(online_s), "lost": str(failover["lost_transactions"])}
            seconds = _format_seconds(event.t_s - failed_s)
            yield build_caption(
                phases.CLIENT,
                -1,
                tr("When did the clients return?"),
                RECONNECTION_TEXT,
                seconds=seconds,
                **figures,
            )
            yield build_caption(
                phases.PANEL,
                -1,
                tr("How long should the failover take?"),
                COMPARISON_TEXT,
                seconds=_format_seconds(failover["failover_s"]),
                published=formatting.format_plain_number(failover["published_s"]),
            )
            return


def is_client_reconnection(event: Event) -> bool:
    """Return whether *event* reports that the client has connected to the new principal."""
    change = get_data(event, ClientData)
    return change is not None and change.what == "connected" and event.server == MIRROR


def is_mirror_synchronization(event: Event) -> bool:
    """Return whether *event* reports that the old principal has become a synchronized mirror."""
    change = get_data(event, StateData)
    return change is not None and change.new == "SYNCHRONIZED" and event.server == PRINCIPAL


def _format_seconds(value: float) -> str:
    return formatting.format_number(value, 2)
