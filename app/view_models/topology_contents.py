"""Display data of the topology: servers, copies, links and applications as plain data, without Qt.

Text, shape and color express every fact, so that no fact depends on color alone.
"""

from collections import Counter
from typing import Final

from msgspec import Struct

from app.words import formatting
from app.words.language import mark, tr, trn


class StatusIndicator(Struct, frozen=True):
    """Indicator of one fact by text, shape and color, so that it is readable without color."""

    text: str
    """Text that `label` translates. SQL Server's own terms are the same in every language."""
    color_name: str
    """Name of a theme color: ok, warn, bad, info or idle."""
    shape: str
    """Name of the drawn shape, for example check, cross, pause, cycle, dot, ring, hourglass or warning."""
    short: str = ""
    """Short text for narrow spaces, for example the name of the object; empty if there is none."""

    @property
    def label(self) -> str:
        """Text in the interface language."""
        return tr(self.text)


SEND_QUEUE, REDO_QUEUE = mark("send queue"), mark("redo queue")


class QueueDisplay(Struct, frozen=True):
    """Display data of a queue: send queue of the principal, or redo queue of the mirror."""

    name: str
    kb: float

    @property
    def text(self) -> str:
        """Return the text next to the bar."""
        return formatting.format_kb(self.kb)

    @property
    def share(self) -> float:
        """Filled share of the bar, 0 to 1. A full bar represents the next round size."""
        return max(0.0, self.kb) / formatting.compute_round_limit_kb(self.kb)

    @property
    def scale_text(self) -> str:
        """Queue size and end of the bar, for example "13.8 / 20 MB"."""
        size, limit = self.text, formatting.format_kb(formatting.compute_round_limit_kb(self.kb))
        has_same_unit = size.rpartition(" ")[2] == limit.rpartition(" ")[2]
        return f"{size.rpartition(' ')[0] if has_same_unit else size} / {limit}"

    @property
    def spoken(self) -> str:
        """Return the text for screen readers."""
        return f"{tr(self.name)} {self.text}"


class CopyDisplay(Struct, frozen=True):
    """Display data of a database copy in its current state."""

    server: str
    database: str
    role: StatusIndicator
    state: StatusIndicator | None
    """State of the session or availability group; None if the copy is in neither."""
    db_state: StatusIndicator
    safety: str | None
    """Safety of the session, FULL or OFF; None without a session."""
    indicators: tuple[StatusIndicator, ...]
    """Indicators of service, quorum and witness connection, if they apply to this copy."""
    queue: QueueDisplay | None

    @property
    def accessible_text(self) -> str:
        """Return the text for screen readers."""
        parts = [self.database, self.role.label]
        parts += [self.state.label] if self.state else []
        parts += [self.db_state.label, *(indicator.label for indicator in self.indicators)]
        parts += [tr("safety {safety}").format(safety=self.safety)] if self.safety else []
        parts += [self.queue.spoken] if self.queue else []
        return ", ".join(parts)


SERVER_KIND_LABELS: Final = {
    "partner": mark("partner"),
    "witness": mark("witness"),
    "replica": mark("replica"),
    "instance": mark("clustered instance"),
    "node": mark("cluster node"),
    "share": mark("file share witness"),
    "computer": mark("computer"),
}
"""Kind of a server -> label."""


class ServerDisplay(Struct, frozen=True):
    """Display data of a server with its instance and databases."""

    name: str
    kind: str
    """Kind of server, one of SERVER_KIND_LABELS."""
    color: int
    """Index of the series color that identifies the server in every view."""
    status: StatusIndicator
    version: int
    copies: tuple[CopyDisplay, ...]
    grid: tuple[tuple[str, StatusIndicator], ...]
    """(database, state) of each copy; empty if the copies are few enough to be shown in full."""
    witness_indicators: tuple[StatusIndicator, ...]
    """Indicators on the card of a server without databases.

    A witness shows which partners it can reach. A cluster node without an instance shows its resources.
    """
    faults: tuple[str, ...]
    """Faults of the computer: unplugged cables, slow disks, closed ports."""
    host_node: str = ""
    """Text with the node of a failover cluster instance, such as "on NODE_1"; empty for other instances."""
    listeners: tuple[StatusIndicator, ...] = ()
    """Availability group listeners whose cluster role is on this server."""

    @property
    def accessible_text(self) -> str:
        """Return the text for screen readers."""
        kind = f"{self.name}: {tr(SERVER_KIND_LABELS[self.kind])}, {self.status.label}"
        parts = [kind, *([self.host_node] if self.host_node else []), *self.faults]
        parts += [indicator.label for indicator in (*self.listeners, *self.witness_indicators)]
        parts += [copy.accessible_text for copy in self.copies]
        counts = Counter(sign.label for _, sign in self.grid)
        parts += [
            trn("{n} database {state}", "{n} databases {state}", count).format(n=count, state=word)
            for word, count in sorted(counts.items())
        ]
        return "; ".join(parts)


class ClientDisplay(Struct, frozen=True):
    """Display data of a client application."""

    name: str
    status: StatusIndicator
    rate: str
    """Transaction rate of the client, as text."""
    short_rate: str = ""
    """Transaction rate as a compact card shows it."""

    @property
    def accessible_text(self) -> str:
        """Return the text for screen readers."""
        return f"{self.name}: " + ", ".join((tr("application"), self.status.label, self.rate))


class LinkDisplay(Struct, frozen=True):
    """Display data of the network between two computers, and of the connection that uses it."""

    a: str
    b: str
    kind: str
    """mirroring, replica, witness or client."""
    status: StatusIndicator
    notes: tuple[str, ...]
    """Notes next to the link: safety, measured values, undetected failures; empty in the normal state."""
    measured: str
    """Current properties of the network between the two ends, as text."""
    active: bool
    """True if a session, cluster or client currently uses the link."""
    log_kb_per_s: float
    """Rate of the log stream from *a* to *b*."""
    has_synchronous_commit: bool
    """True if commits wait for the other end (SAFETY FULL or synchronous commit)."""
    has_pings: bool
    """True if both ends exchange pings."""

    @property
    def name(self) -> str:
        """Return the name of the link."""
        return f"{self.a} – {self.b}"

    @property
    def accessible_text(self) -> str:
        """Return the text for screen readers."""
        text = tr("link {a} to {b}: {state}").format(a=self.a, b=self.b, state=self.status.label)
        return ", ".join((text, *self.notes, self.measured))


class TopologyContents(Struct, frozen=True):
    """Complete contents of the topology at one time."""

    servers: tuple[ServerDisplay, ...]
    clients: tuple[ClientDisplay, ...]
    links: tuple[LinkDisplay, ...]

    @property
    def spoken(self) -> str:
        """Return the text for screen readers."""
        texts = [display.accessible_text for display in self.servers]
        texts += [face.accessible_text for face in self.clients]
        texts += [face.accessible_text for face in self.links]
        return ". ".join(texts) + "."
