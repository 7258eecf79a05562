"""State machine of a seat: its phase shows whether inputs are recorded and a host is connected. No Qt.

Every label of the window derives from the phase, so that no label can contradict the log.
"""

from enum import StrEnum
from typing import Final

from app.words.language import mark


class SeatPhase(StrEnum):
    """Phase of a seat in the protocol."""

    JOINING = "joining"
    """Phase before the host has sent the assignment."""
    REPLAYING = "replaying"
    """Phase in which the desk replays the log. Inputs are not accepted."""
    LIVE = "live"
    """Phase in which the run is on the desk, its log is written, and a host is connected."""
    OFFLINE = "offline"
    """Phase in which the run is on the desk and its log is written, but no host is connected."""
    ENDED = "ended"
    """Phase after recording has ended. Inputs are not accepted."""


class SeatEvent(StrEnum):
    """Event that changes the phase of a seat."""

    REPLAY = "replay"
    """Event that the desk starts to replay the log."""
    REPLAYED = "replayed"
    CONNECT = "connect"
    DISCONNECT = "disconnect"
    END = "end"
    """Event that ends recording.

    The person has left the seat, the host has refused or ended it, or its log cannot be written.
    """


PHASE_TRANSITIONS: Final = {
    (SeatPhase.JOINING, SeatEvent.REPLAY): SeatPhase.REPLAYING,
    (SeatPhase.REPLAYING, SeatEvent.REPLAYED): SeatPhase.OFFLINE,
    (SeatPhase.OFFLINE, SeatEvent.CONNECT): SeatPhase.LIVE,
    (SeatPhase.LIVE, SeatEvent.DISCONNECT): SeatPhase.OFFLINE,
    (SeatPhase.LIVE, SeatEvent.REPLAY): SeatPhase.REPLAYING,
    (SeatPhase.OFFLINE, SeatEvent.REPLAY): SeatPhase.REPLAYING,
    **{(phase, SeatEvent.END): SeatPhase.ENDED for phase in SeatPhase},
}
"""Phase and event -> next phase. Any other event changes nothing."""
RECORDING_PHASES: Final = frozenset({SeatPhase.LIVE, SeatPhase.OFFLINE})
"""Phases in which the log is written. The run may continue only in these phases."""
PHASE_LABELS: Final = {
    SeatPhase.JOINING: mark("joining the class"),
    SeatPhase.REPLAYING: mark("replaying your run"),
    SeatPhase.LIVE: mark("in the class"),
    SeatPhase.OFFLINE: mark("not connected, recording on this computer"),
    SeatPhase.ENDED: mark("no longer in a class"),
}


def get_next_phase(phase: SeatPhase, event: SeatEvent) -> SeatPhase:
    """Return the phase after an event. An event without a transition changes nothing."""
    return PHASE_TRANSITIONS.get((phase, event), phase)
