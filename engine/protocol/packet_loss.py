"""Timeouts on links that lose some packets but deliver others.

A ping travels over TCP. TCP sends a lost segment again after a timeout that doubles each time, at most five
times [DOC: TcpMaxDataRetransmissions]. Later pings wait for the lost ping, so a partner is silent until a
retransmission arrives [DOC: possible failures]. A cluster heartbeat is a request and a response, which are
not sent again [DOC: removed nodes].
"""

from typing import Final

from engine.arithmetic import log1p, raise_to_power
from engine.constants import PING_INTERVAL_S, RETRANSMIT_MIN_S, RUN_TIME_MAX_S
from engine.random_streams import RandomStream

LOSS_MIN: Final = 0.1
"""Minimum share of lost packets at which timeouts occur. Derived.

With a smaller loss, the mean time to a timeout exceeds the duration of a run.
"""

SILENT_LOSS_MIN: Final = 0.9
"""Minimum share of lost packets at which a link passes no messages.

Derived: with six transmissions within the default timeout, half of the segments do not arrive, and one of
2,000 connection requests succeeds.
"""

RETRANSMISSIONS_MAX: Final = 5
"""Number of times that TCP sends a segment again before it aborts the connection. Documented [DOC:
TcpMaxDataRetransmissions].
"""

ABORT_S: Final = RETRANSMIT_MIN_S * ((2 << RETRANSMISSIONS_MAX) - 1)
"""Time from the first transmission of a segment until TCP aborts the connection, in seconds. Derived.

It applies if neither the segment nor a retransmission is acknowledged.
"""

CONNECT_RETRY_S: Final = 3.0
"""Time between two connection requests. Documented: the first retransmission [DOC: TcpInitialRTT]."""

HANDSHAKE_MESSAGES: Final = 2.0
"""Messages in each direction until two endpoints have authenticated each other. Assumed."""


def _draw_failures(random_stream: RandomStream, chance: float) -> float:
    """Draw the number of failed trials before the first success, at most RUN_TIME_MAX_S.

    *chance* is the probability of success of each independent trial.
    """
    if chance >= 1.0:
        return 0.0
    uniform = random_stream.draw_uniform()
    if chance <= 0.0:
        return RUN_TIME_MAX_S
    return min(RUN_TIME_MAX_S, float(int(log1p(-uniform) / log1p(-chance))))


def draw_silence_s(random_stream: RandomStream, loss: float, timeout_s: float) -> float:
    """Draw the time until a peer has been silent for *timeout_s*. *loss* is the share of its lost packets."""
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
    """Draw the time until a run of *threshold* successive lost heartbeats begins, in seconds.

    *received* is the share of heartbeats that are answered. *interval_s* is the time between two
    heartbeats.
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
    """Draw the delay that lost connection requests cause, in seconds.

    Each lost request adds CONNECT_RETRY_S.
    """
    return _draw_failures(random_stream, compute_connect_chance(out_loss, back_loss)) * CONNECT_RETRY_S
