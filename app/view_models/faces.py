"""Contents of cards, links and rows as plain data, without Qt. Every fact has a text, a shape and a tone."""

from collections import Counter
from typing import Final

from msgspec import Struct

from app.words import formatting
from app.words.language import mark, tr, trn


class StatusSign(Struct, frozen=True):
    """Fact with text, shape and tone, so that it is readable without color."""

    text: str
    """Translated text from the tables below; SQL Server's own terms are the same in every language."""
    tone: str
    """Name of a token of the theme: ok, warn, bad, info, idle."""
    shape: str
    """check, cross, pause, cycle, swap, dot, ring, bar, hourglass, warning."""
    short: str = ""
    """Short text for narrow space: the name of the object."""

    @property
    def label(self) -> str:
        """Text in the language of the interface."""
        return tr(self.text)


SEND_QUEUE, REDO_QUEUE = mark("send queue"), mark("redo queue")


class QueueFace(Struct, frozen=True):
    """Unsent log of the principal, or unapplied log of the mirror."""

    name: str
    kb: float

    @property
    def text(self) -> str:
        """Return the text next to the bar."""
        return formatting.format_kb(self.kb)

    @property
    def share(self) -> float:
        """Filled share of the bar, which ends at the next round limit."""
        return max(0.0, self.kb) / formatting.compute_round_limit_kb(self.kb)

    @property
    def scale_text(self) -> str:
        """Size and limit of the bar: "13.8 / 20 MB"."""
        size, limit = self.text, formatting.format_kb(formatting.compute_round_limit_kb(self.kb))
        has_same_unit = size.rpartition(" ")[2] == limit.rpartition(" ")[2]
        return f"{size.rpartition(' ')[0] if has_same_unit else size} / {limit}"

    @property
    def spoken(self) -> str:
        """Return the text for screen readers."""
        return f"{tr(self.name)} {self.text}"


class CopyFace(Struct, frozen=True):
    """Copy of a database and its current state."""

    server: str
    database: str
    role: StatusSign
    state: StatusSign | None
    """Mirroring state; None without a session."""
    db_state: StatusSign
    safety: str | None
    signs: tuple[StatusSign, ...]
    """Service, quorum and witness connection, as far as they apply to this copy."""
    queue: QueueFace | None

    @property
    def spoken(self) -> str:
        """Return the text for screen readers."""
        parts = [self.database, self.role.label]
        parts += [self.state.label] if self.state else []
        parts += [self.db_state.label, *(sign.label for sign in self.signs)]
        parts += [tr("safety {safety}").format(safety=self.safety)] if self.safety else []
        parts += [self.queue.spoken] if self.queue else []
        return ", ".join(parts)


KINDS: Final = {
    "partner": mark("partner"),
    "witness": mark("witness"),
    "replica": mark("replica"),
    "instance": mark("clustered instance"),
    "node": mark("cluster node"),
    "share": mark("file share witness"),
    "computer": mark("computer"),
}
"""Kind of a server -> label."""


class ServerFace(Struct, frozen=True):
    """Server with its instance and databases."""

    name: str
    kind: str
    """Kind of server, one of KINDS."""
    color: int
    """Index of the server's color in every view."""
    status: StatusSign
    version: int
    copies: tuple[CopyFace, ...]
    grid: tuple[tuple[str, StatusSign], ...]
    """(database, state) of each copy if there are too many to show in full."""
    duties: tuple[StatusSign, ...]
    """State of the partners in the witness's knowledge, or the resources of a node without an instance."""
    troubles: tuple[str, ...]
    """Faults of the computer: pulled cables, slow disks, closed ports."""
    host_node: str = ""
    """Host node of a failover cluster instance."""
    listeners: tuple[StatusSign, ...] = ()
    """Availability group listeners whose role is on this server."""

    @property
    def spoken(self) -> str:
        """Return the text for screen readers."""
        kind = f"{self.name}: {tr(KINDS[self.kind])}, {self.status.label}"
        parts = [kind, *([self.host_node] if self.host_node else []), *self.troubles]
        parts += [sign.label for sign in (*self.listeners, *self.duties)]
        parts += [copy.spoken for copy in self.copies]
        counts = Counter(sign.label for _, sign in self.grid)
        parts += [
            trn("{n} database {state}", "{n} databases {state}", count).format(n=count, state=word)
            for word, count in sorted(counts.items())
        ]
        return "; ".join(parts)


class ClientFace(Struct, frozen=True):
    """Client application."""

    name: str
    status: StatusSign
    rate: str
    short_rate: str = ""
    """The rate on a compact card."""

    @property
    def spoken(self) -> str:
        """Return the text for screen readers."""
        return f"{self.name}: " + ", ".join((tr("application"), self.status.label, self.rate))


class LinkFace(Struct, frozen=True):
    """Network between two ends, and the connection that uses it."""

    a: str
    b: str
    kind: str
    """mirroring, replica, witness or client."""
    status: StatusSign
    notes: tuple[str, ...]
    """Notes next to the link: safety, measured values, undetected changes; empty in the normal state."""
    measured: str
    """Current state of the network between the two ends."""
    active: bool
    """True if something uses the link now."""
    log_kb_per_s: float
    """Log stream from *a* to *b*."""
    acknowledged: bool
    """True if the mirror acknowledges each block (safety FULL)."""
    pinged: bool

    @property
    def name(self) -> str:
        """Return the name of the link."""
        return f"{self.a} – {self.b}"

    @property
    def spoken(self) -> str:
        """Return the text for screen readers."""
        text = tr("link {a} to {b}: {state}").format(a=self.a, b=self.b, state=self.status.label)
        return ", ".join((text, *self.notes, self.measured))


class Picture(Struct, frozen=True):
    """Contents of the canvas at one moment."""

    servers: tuple[ServerFace, ...]
    clients: tuple[ClientFace, ...]
    links: tuple[LinkFace, ...]

    @property
    def spoken(self) -> str:
        """Return the text for screen readers."""
        texts = [face.spoken for face in self.servers]
        texts += [face.spoken for face in self.clients]
        texts += [face.spoken for face in self.links]
        return ". ".join(texts) + "."
