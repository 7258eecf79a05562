"""Contents of the failover stage at one tick: texts, cards, connections, and positions of bars. No Qt."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from app.view_models.failover_moment.failover_view import FailoverPhase, FailoverView
from app.view_models.failover_moment.phases import (
    AGENT_RESOURCE,
    FROM,
    RESOURCE_MILESTONES,
    TO,
    UNTIMED_RESOURCES,
    WITNESS,
)
from app.view_models.failover_moment.stage_facts import VOTE_CAST, VOTE_LOST, VOTE_NOT_COUNTED, StageFacts
from app.view_models.topology_contents import StatusIndicator
from app.words import formatting
from app.words.language import mark, tr, trn
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.running.published_comparison import GROUP, MIRRORING
from engine.model import Tick

DONE, RUNNING, WAITING = "done", "running", "waiting"


class PhaseChip(Struct, frozen=True):
    """Phase in the row of phase chips."""

    name: str
    color: str | int
    state: str
    """DONE, RUNNING or WAITING."""
    seconds: str
    """Duration of the phase, as text."""


class PhaseSegment(Struct, frozen=True):
    """Phase in the time bar. *start* and *end* are fractions of the length of the bar."""

    color: str | int
    start: float
    end: float


class PanelRow(Struct, frozen=True):
    """Row of the stage's panel: indicator and text, for example "Database online: again after 3.56 s"."""

    name: str
    indicator: StatusIndicator | None
    text: str
    color_name: str


class RedoQueueGauge(Struct, frozen=True):
    """Redo queue as a gauge with a linear scale."""

    kb: float
    limit_kb: float
    """End of the scale."""
    before_kb: float
    """Size of the queue at the failure."""

    @property
    def share(self) -> float:
        """Return the filled share, 0 to 1."""
        return min(1.0, self.kb / self.limit_kb)


class StageView(Struct, frozen=True):
    """Contents of the failover stage at one tick."""

    technology: str
    number: int
    """Index of the current phase, from 0."""
    heading: str
    sentence: str
    elapsed_label: str
    """Label of the main stopwatch."""
    elapsed_text: str
    """Main stopwatch: seconds since the failure."""
    failover_time_label: str
    """Label of the second stopwatch."""
    failover_time_text: str
    """Second stopwatch: seconds since detection, as Table 6 of Microsoft's paper defines failover time."""
    duration_gauge: tuple[float, float, float] | None
    """(duration, published duration, end of the scale) in seconds; None without a published value."""
    published_comparison: str
    """Sentence that compares the duration with the published value."""
    rows: tuple[PanelRow, ...]
    where_to_check: str
    """Place where a DBA can find the trace of the current phase."""
    chips: tuple[PhaseChip, ...]
    segments: tuple[PhaseSegment, ...]
    scale_s: float
    """End of the time bar, in seconds."""
    playhead: float
    """Current position in the time bar, 0 to 1."""
    facts: StageFacts
    highlighted_places: tuple[str, ...]
    """Positions on the stage that are highlighted."""
    highlighted_wires: tuple[tuple[str, str], ...]
    """Pairs of positions whose connection is highlighted."""
    votes_text: str
    """Text about the votes."""
    votes_color_name: str
    redo_gauge: RedoQueueGauge | None
    """Gauge of the redo queue; None if the failover has no redo queue."""
    resources: tuple[tuple[str, str, str], ...]
    """(name, state, duration) of each resource that comes online on the new owner.

    Each phase shows only one duration. SQL Server Agent waits for SQL Server, although both belong to one
    phase.
    """
    lines: Mapping[str, tuple[str, str]]
    """Position of a card on the stage -> (text about the card's latest event, color name)."""
    has_ended: bool
    """True if the failover has ended."""

    @property
    def static_key(self) -> tuple[object, ...]:
        """Parts of the view that change only between phases.

        The time and the redo queue, which change all the time, are omitted.
        """
        still_facts = replace(self.facts, tick=0, redo_kb=None)
        return (
            self.number,
            self.heading,
            self.sentence,
            still_facts,
            self.has_ended,
            tuple(self.lines),
            self.highlighted_places,
            self.highlighted_wires,
            self.redo_gauge is None,
            tuple(state for _, state, _ in self.resources),
            tuple(chip.state for chip in self.chips),
            tuple(row.color_name for row in self.rows),
        )

    @property
    def spoken(self) -> str:
        """Return the text for screen readers."""
        rows = "; ".join(f"{row.name}: {row.text}" for row in self.rows)
        return f"{self.heading}. {self.sentence} {self.elapsed_label}: {self.elapsed_text}. {rows}."


def _format_seconds(ticks: int) -> str:
    return formatting.format_number(ticks / TICKS_PER_S, 2)


def build_stage_view(
    failover_view: FailoverView,
    facts: StageFacts,
    tick: Tick,
    before_kb: float = 0.0,
    number: int | None = None,
) -> StageView:
    """Build the view of the stage at *tick*.

    *before_kb*: size of the redo queue in KB at the time of the failure. *number*: index of the phase
    to show; None for the current phase.
    """
    failover = failover_view.failover
    number = failover_view.find_phase(tick) if number is None else number
    is_past_end = (
        failover_view.end_tick is not None
        and tick >= failover_view.end_tick
        and number == len(failover_view.phases) - 1
    )
    if failover_view.technology != MIRRORING and not (
        failover_view.is_detected and tick >= failover.detected_tick
    ):
        facts = facts.restore_vote(failover.from_server)  # the cluster has not detected the loss yet
    has_counted = number > 0 or any(vote.state == VOTE_LOST for vote in facts.votes)
    votes, votes_tone = describe_votes(facts, has_counted)
    names = _build_placeholder_values(failover_view, facts)
    heading, sentence = _describe_phase(failover_view, number, names, is_past_end, tick)
    elapsed_ticks = (
        failover_view.end_tick if is_past_end and failover_view.end_tick is not None else tick
    ) - failover.failed_tick
    end_s = max(1.0, (max(tick, failover_view.end_tick or 0) - failover.failed_tick) / TICKS_PER_S)
    scale_s = end_s if failover_view.end_tick is not None else _choose_scale_end(end_s * 1.25)
    kind = failover_view.phases[number].kind
    published, gauge = _compare_with_published(failover_view, tick)
    return StageView(
        failover_view.technology,
        number,
        heading,
        sentence,
        _format_stopwatch_label(failover_view, is_past_end),
        formatting.format_number(elapsed_ticks / TICKS_PER_S, 2),
        tr("Failover time, from detection"),
        _format_failover_time(failover_view, tick),
        gauge,
        published,
        tuple(_list_panel_rows(failover_view, facts, tick, is_past_end)),
        tr(kind.check).format(**names) if kind.check else "",
        tuple(
            _make_chip(phase, index, number, tick, is_past_end)
            for index, phase in enumerate(failover_view.phases)
        ),
        tuple(_list_segments(failover_view, tick, scale_s)),
        scale_s,
        min(1.0, elapsed_ticks / TICKS_PER_S / scale_s),
        facts,
        kind.highlighted_places,
        kind.highlighted_wires,
        votes,
        votes_tone,
        _build_redo_gauge(failover_view, facts, before_kb),
        tuple(_list_resources(failover_view, facts, tick, number)),
        _list_event_lines(failover_view, facts, tick),
        is_past_end,
    )


def _build_placeholder_values(failover_view: FailoverView, facts: StageFacts) -> dict[str, str]:
    """Return the values for the placeholders of the phase texts: names, vote count and queue size."""
    card = facts.cards
    return {
        "from": failover_view.failover.from_server,
        "to": failover_view.failover.to_server,
        "database": failover_view.failover.database,
        "witness": card[WITNESS].name if WITNESS in card else tr("the witness"),
        "client": card["client"].name if "client" in card else tr("the application"),
        "server": facts.instance or failover_view.failover.to_server,
        "listener": facts.listener or tr("the name"),
        "count": format_vote_count(facts),
        "queue": formatting.format_kb(round(facts.redo_kb or 0.0)),
    }


CLIENTS_BACK_HEADING: Final = mark("Clients are back after {seconds} s")
"""Heading after the failover: the time after which the clients were connected again."""
CLIENTS_BACK_SENTENCES: Final = {
    0: mark("No committed transaction was lost. Longest phase: {phase}, {took} s."),
    1: mark("{lost} committed transactions were lost. Longest phase: {phase}, {took} s."),
}
CANCELED_HEADING: Final = mark("The failover was abandoned")
REQUESTED_TEXTS: Final = {
    "manual": (
        mark("Manual failover: {from} hands over to {to}"),
        mark("Manual failover: no detection is needed."),
    ),
    "forced": (
        mark("Forced failover: {to} takes over without {from}"),
        mark("Forced failover: a person decides. Log that {from} has not sent is lost."),
    ),
}
"""Kind of a failover that a person requested -> heading and sentence of its first phase."""


def _describe_phase(
    failover_view: FailoverView, number: int, names: Mapping[str, str], finished: bool, tick: Tick
) -> tuple[str, str]:
    failover, kind = failover_view.failover, failover_view.phases[number].kind
    if failover.canceled:
        return tr(CANCELED_HEADING), localize(failover.why)
    if finished and failover_view.longest_phase is not None and failover_view.end_tick is not None:
        longest, lost_count = failover_view.longest_phase, failover.lost_transactions
        words = tr(CLIENTS_BACK_SENTENCES[min(lost_count, 1)]).format(
            phase=tr(longest.kind.name),
            took=_format_seconds(longest.get_duration_ticks(failover_view.end_tick)),
            lost=formatting.format_number(lost_count),
        )
        return tr(CLIENTS_BACK_HEADING).format(
            seconds=_format_seconds(failover_view.end_tick - failover.failed_tick)
        ), words
    if number == 0 and failover.kind != "automatic":
        heading, sentence = REQUESTED_TEXTS.get(failover.kind, REQUESTED_TEXTS["manual"])
        return tr(heading).format(**names), tr(sentence).format(**names)
    return tr(kind.heading).format(**names), tr(kind.sentence).format(**names)


_STOPWATCH_LABELS: Final = {
    "power-off": mark("Time since {server} lost power"),
    "pull-cable": mark("Time since {server} lost its network"),
    "stop-service": mark("Time since SQL Server stopped on {server}"),
    "hang": mark("Time since {server} stopped responding"),
    "manual": mark("Time since the failover was requested"),
    "move-role": mark("Time since the move was requested"),
}
"""Cause of a failover -> label of the main stopwatch."""


def _format_stopwatch_label(failover_view: FailoverView, finished: bool) -> str:
    if finished:
        return tr("Time from the failure until clients work")
    words = _STOPWATCH_LABELS.get(failover_view.failover.cause, mark("Time since the failure"))
    return tr(words).format(server=failover_view.failover.from_server)


def _format_failover_time(failover_view: FailoverView, tick: Tick) -> str:
    failover = failover_view.failover
    if not failover_view.is_detected or tick <= failover.detected_tick:
        return formatting.format_number(0.0, 2)
    end = failover.online_tick if failover.online_tick is not None else tick
    return _format_seconds(min(tick, end) - failover.detected_tick)


def _compare_with_published(
    failover_view: FailoverView, tick: Tick
) -> tuple[str, tuple[float, float, float] | None]:
    """Return a comparison of the failover time with the published time, and the gauge values.

    The comparison is a sentence. The gauge values are those of `StageView.duration_gauge`; None if no
    time is published.
    """
    failover = failover_view.failover
    if failover_view.published is None:
        reason = localize(failover_view.incomparable_reason) if failover_view.incomparable_reason else ""
        return (tr("No published value: {why}.").format(why=reason) if reason else ""), None
    value_s = failover_view.published[0]
    end = failover.online_tick if failover.online_tick is not None else tick
    now_s = max(0, min(tick, end) - failover.detected_tick) / TICKS_PER_S
    gauge = (now_s, value_s, _choose_scale_end(max(now_s, value_s) * 1.4))
    if failover.online_tick is None or tick < failover.online_tick:
        return tr("The published time starts at detection, too."), gauge
    difference = now_s - value_s
    share = formatting.format_percent(abs(difference) / value_s)
    longer = mark("{seconds} s ({share}) longer than published")
    shorter = mark("{seconds} s ({share}) shorter than published")
    words = tr(longer if difference > 0 else shorter)
    return words.format(seconds=formatting.format_number(abs(difference), 2), share=share), gauge


def _choose_scale_end(value_s: float) -> float:
    """Return the smallest round number of seconds that is at least *value_s*, for the end of a scale."""
    steps = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 90, 120, 180, 300, 600)
    return float(next((step for step in steps if step >= value_s), value_s))


_ONLINE_INDICATOR, _OFFLINE_INDICATOR, _WAITING_INDICATOR = (
    StatusIndicator("", "ok", "check"),
    StatusIndicator("", "bad", "cross"),
    StatusIndicator("", "warn", "warning"),
)


def _list_panel_rows(
    failover_view: FailoverView, facts: StageFacts, tick: Tick, finished: bool
) -> list[PanelRow]:
    failover = failover_view.failover
    online, return_tick = failover.online_tick, failover_view.end_tick
    rows = [_build_service_row(tr("Database online"), failover.failed_tick, online, tick)]
    if any(phase.kind.end_milestone == "clients" for phase in failover_view.phases):
        if failover_view.disconnect_tick is None or tick < failover_view.disconnect_tick:
            rows.append(PanelRow(tr("Clients working"), _WAITING_INDICATOR, tr("requests hang"), "warn"))
        else:
            row = _build_service_row(tr("Clients working"), failover_view.disconnect_tick, return_tick, tick)
            if return_tick is not None and tick >= return_tick:
                row = PanelRow(
                    row.name,
                    _ONLINE_INDICATOR,
                    tr("yes, after {seconds} s").format(
                        seconds=_format_seconds(return_tick - failover.failed_tick)
                    ),
                    "ok",
                )
            rows.append(row)
    if facts.owner:
        rows.append(PanelRow(tr("Owner of the disks"), None, facts.owner, "muted"))
        rows.append(PanelRow(tr("Copies of the data"), None, tr("1 copy, on a shared disk"), "muted"))
    if finished and failover_view.longest_phase is not None and return_tick is not None:
        name = tr(failover_view.longest_phase.kind.name)
        rows.append(
            PanelRow(
                tr("Longest phase"),
                None,
                f"{name}, {_format_seconds(failover_view.longest_phase.get_duration_ticks(return_tick))} s",
                "text",
            )
        )
    return rows


def _build_service_row(name: str, down_tick: Tick, up_tick: Tick | None, tick: Tick) -> PanelRow:
    if up_tick is not None and tick >= up_tick:
        return PanelRow(
            name,
            _ONLINE_INDICATOR,
            tr("yes, after {seconds} s").format(seconds=_format_seconds(up_tick - down_tick)),
            "ok",
        )
    return PanelRow(
        name,
        _OFFLINE_INDICATOR,
        tr("no, for {seconds} s so far").format(seconds=_format_seconds(max(0, tick - down_tick))),
        "bad",
    )


def _make_chip(phase: FailoverPhase, index: int, number: int, tick: Tick, finished: bool) -> PhaseChip:
    has_begun = phase.start_tick is not None and phase.start_tick <= tick and index <= number
    state = WAITING if not has_begun else RUNNING if index == number else DONE
    return PhaseChip(
        tr(phase.kind.name),
        phase.kind.color,
        state,
        f"{_format_seconds(phase.get_duration_ticks(tick))} s" if has_begun else "",
    )


def _list_segments(failover_view: FailoverView, tick: Tick, scale_s: float) -> list[PhaseSegment]:
    first_failed_tick = failover_view.failover.failed_tick
    return [
        PhaseSegment(
            phase.kind.color,
            (phase.start_tick - first_failed_tick) / TICKS_PER_S / scale_s,
            min(
                1.0,
                (phase.start_tick - first_failed_tick + phase.get_duration_ticks(tick))
                / TICKS_PER_S
                / scale_s,
            ),
        )
        for phase in failover_view.phases
        if phase.start_tick is not None and phase.start_tick <= tick
    ]


def format_vote_count(facts: StageFacts) -> str:
    """Return the number of present votes and of all votes, such as "2 of 3".

    Without votes, return "1 of 1".
    """
    counted_votes = [vote for vote in facts.votes if vote.state != VOTE_NOT_COUNTED]
    yes = sum(vote.state == VOTE_CAST for vote in counted_votes)
    return tr("{yes} of {all}").format(yes=yes or 1, all=len(counted_votes) or 1)


def describe_votes(facts: StageFacts, counted: bool = True) -> tuple[str, str]:
    """Return the state of the votes as text, such as "2 of 3 votes: quorum", and its color name.

    *counted*: False to return only the needed votes, such as "2 of 3 votes are needed". Without votes,
    the text is empty.
    """
    voters = [vote for vote in facts.votes if vote.state != VOTE_NOT_COUNTED]
    if not voters:
        return "", "muted"
    if not counted:
        needed_votes = len(voters) // 2 + 1
        return tr("{needed} of {all} votes are needed").format(needed=needed_votes, all=len(voters)), "muted"
    yes = sum(vote.state == VOTE_CAST for vote in voters)
    has_quorum = 2 * yes > len(voters)
    words = mark("{yes} of {all} votes: quorum") if has_quorum else mark("{yes} of {all} votes: no quorum")
    has_lost_vote = any(vote.state == VOTE_LOST for vote in voters)
    return tr(words).format(yes=yes, all=len(voters)), (
        "ok" if has_quorum else "bad"
    ) if has_lost_vote or has_quorum else "muted"


def _build_redo_gauge(
    failover_view: FailoverView, facts: StageFacts, before_kb: float
) -> RedoQueueGauge | None:
    redo = next(
        (n for n, phase in enumerate(failover_view.phases) if phase.kind.end_milestone == "redo_done"), None
    )
    if redo is None or facts.redo_kb is None:
        return None
    highest_kb = max(before_kb, facts.redo_kb)
    return RedoQueueGauge(facts.redo_kb, formatting.compute_round_limit_kb(highest_kb), highest_kb)


_RESOURCE_LABELS: Final = {DONE: mark("Online"), RUNNING: mark("Coming online"), WAITING: mark("Waiting")}
"""State of a resource -> label."""


def _list_resources(
    failover_view: FailoverView, facts: StageFacts, tick: Tick, number: int
) -> list[tuple[str, str, str]]:
    """Return (name, state, duration) of each resource that comes online on the new owner."""
    card = facts.cards.get(TO)
    by_milestone = {phase.kind.end_milestone: phase for phase in failover_view.phases}
    rows = []
    for name, kind in card.resources if card is not None else ():
        phase = by_milestone[RESOURCE_MILESTONES[kind]]
        has_begun = phase.start_tick is not None and phase.start_tick <= tick
        has_begun = has_begun and failover_view.phases.index(phase) <= number
        has_ended = phase.end_tick is not None and phase.end_tick <= tick
        state = DONE if has_ended else RUNNING if has_begun and kind != AGENT_RESOURCE else WAITING
        time_taken = (
            f"{_format_seconds(phase.get_duration_ticks(tick))} s"
            if has_begun and kind not in UNTIMED_RESOURCES
            else ""
        )
        rows.append((name, state, time_taken))
    return rows


def get_resource_label(state: str) -> str:
    """Return the label of a resource state."""
    return tr(_RESOURCE_LABELS[state])


def _list_event_lines(
    failover_view: FailoverView, facts: StageFacts, tick: Tick
) -> dict[str, tuple[str, str]]:
    """Return position on the stage -> (text, color name) of the latest event, for each card with an event."""
    failover = failover_view.failover
    names = {"from": failover.from_server, "to": failover.to_server}
    delays = {
        name: _format_seconds(lost_tick - failover.failed_tick)
        for name, lost_tick in failover_view.loss_ticks.items()
        if lost_tick <= tick
    }
    lines = {
        place: (
            tr("lost contact with {from} after {seconds} s").format(seconds=delays[card.name], **names),
            "bad",
        )
        for place, card in facts.cards.items()
        if card.name in delays
    }
    if (
        FROM in facts.cards
        and failover_view.technology != MIRRORING
        and failover_view.is_detected
        and tick >= failover.detected_tick
    ):
        duration_text = _format_seconds(failover.detected_tick - failover.failed_tick)
        lines[FROM] = (tr("left the cluster after {seconds} s").format(seconds=duration_text), "bad")
    if (
        failover_view.technology == GROUP
        and failover.online_tick is not None
        and tick >= failover.online_tick
    ):
        lines.pop(TO, None)
    witness = facts.cards.get(WITNESS)
    if (
        failover_view.technology == MIRRORING
        and failover.decided_tick is not None
        and tick >= failover.decided_tick
    ):
        if witness is not None and failover.kind == "automatic":
            lines[TO] = (tr("quorum: itself and {witness}").format(witness=witness.name), "text")
        if failover.online_tick is not None and tick >= failover.online_tick and failover.kind == "automatic":
            lines[TO] = (tr("no mirror until {from} is back").format(**names), "warn")
    if (
        "client" in facts.cards
        and failover_view.disconnect_tick is not None
        and tick >= failover_view.disconnect_tick
    ):
        duration_text = _format_seconds(failover_view.disconnect_tick - failover.failed_tick)
        lines["client"] = (tr("connections lost after {seconds} s").format(seconds=duration_text), "bad")
        if failover_view.end_tick is not None and tick >= failover_view.end_tick:
            duration_text = _format_seconds(failover_view.end_tick - failover.failed_tick)
            lines["client"] = (tr("reconnected after {seconds} s").format(seconds=duration_text), "ok")
    return lines


def format_hidden_count(facts: StageFacts) -> str:
    """Return a text such as "and 99 more databases"; empty if the stage shows all."""
    if not facts.more_databases:
        return ""
    return trn("and {n} more database", "and {n} more databases", facts.more_databases).format(
        n=facts.more_databases
    )
