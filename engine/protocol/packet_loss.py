"""Timeouts on links that lose packets, although packets pass.

A ping travels over TCP, which sends a lost segment again after a timeout that doubles each time, at most five
times [DOC: TcpMaxDataRetransmissions]. Later pings wait for it, so a partner is silent until a copy arrives
[DOC: possible failures]. A cluster heartbeat is a request and a response, which are not sent again [DOC:
removed nodes].
"""

from typing import Final

from engine.arithmetic import log1p, raise_to_power
from engine.constants import PING_INTERVAL_S, RETRANSMIT_MIN_S, RUN_TIME_MAX_S
from engine.random_streams import RandomStream

LOSS_MIN: Final = 0.1
"""Share of lost packets from which a timeout is possible. Below it, the mean wait exceeds a run. Derived."""

SILENT_LOSS_MIN: Final = 0.9
"""Share of lost packets from which a link passes no messages. Derived: with six transmissions within the
default timeout, half of the segments do not arrive, and one of 2,000 connection requests succeeds.
"""

RETRANSMISSIONS_MAX: Final = 5
"""Number of times that TCP sends a segment again before it aborts the connection. Documented [DOC:
TcpMaxDataRetransmissions].
"""

ABORT_S: Final = RETRANSMIT_MIN_S * ((2 << RETRANSMISSIONS_MAX) - 1)
"""Time from a segment to the abort of its connection if no copy is acknowledged, in seconds. Derived."""

CONNECT_RETRY_S: Final = 3.0
"""Time between two connection requests. Documented: the first retransmission [DOC: TcpInitialRTT]."""

HANDSHAKE_MESSAGES: Final = 2.0
"""Messages in each direction until two endpoints have authenticated each other. Assumed."""


def _draw_failures(random_stream: RandomStream, chance: float) -> float:
    """Return the number of independent trials before an event of probability *chance*, at most a run long."""
    if chance >= 1.0:
        return 0.0
    uniform = random_stream.draw_uniform()
    if chance <= 0.0:
        return RUN_TIME_MAX_S
    return min(RUN_TIME_MAX_S, float(int(log1p(-uniform) / log1p(-chance))))


def draw_silence_s(random_stream: RandomStream, loss: float, timeout_s: float) -> float:
    """Draw the time until a peer whose packets are lost with share *loss* has been silent for the timeout."""
    limit_s = min(timeout_s, ABORT_S)
    transmissions = 1 + sum(
        RETRANSMIT_MIN_S * ((1 << number) - 1) < limit_s for number in range(1, RETRANSMISSIONS_MAX + 1)
    )
    return (
        _draw_failures(random_stream, raise_to_power(loss, float(transmissions))) * PING_INTERVAL_S + limit_s
    )


def draw_heartbeat_silence_s(
    random_stream: RandomStream, received: float, interval_s: float, threshold: int
) -> float:
    """Draw the time until *threshold* heartbeats in succession are lost, without these heartbeats.

    *received* is the share of heartbeats that are answered.
    """
    lost_run = raise_to_power(1.0 - received, float(threshold))
    if random_stream.draw_uniform() < lost_run:
        return 0.0
    return (1.0 + _draw_failures(random_stream, lost_run * received)) * interval_s


def compute_connect_chance(out_loss: float, back_loss: float) -> float:
    """Return the probability that one connection request over the link leads to a connection."""
    delivered = 1.0
    for loss in (out_loss, back_loss):
        delivered *= raise_to_power(
            1.0 - raise_to_power(loss, 1.0 + RETRANSMISSIONS_MAX), HANDSHAKE_MESSAGES
        ) * (1.0 - loss)
    return delivered


def draw_connect_delay_s(random_stream: RandomStream, out_loss: float, back_loss: float) -> float:
    """Draw the time that lost connection requests take, in seconds."""
    return _draw_failures(random_stream, compute_connect_chance(out_loss, back_loss)) * CONNECT_RETRY_S
