"""Faces: what cards, links and rows show, as plain data. Every fact is a word, a shape and a tone. No Qt."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from app.words import formatting
from app.words.language import mark, tr, trn


@dataclass(frozen=True, slots=True)
class StatusSign:
    """A fact as word, shape and tone, so that it can be told without colour."""

    text: str
    """The word as the tables below have it; what SQL Server says is the same in every language."""
    tone: str
    """Name of a token of the theme: ok, warn, bad, info, idle."""
    shape: str
    """check, cross, pause, cycle, swap, dot, ring, bar, hourglass, warning."""
    short: str = ""
    """The name that it is about, where there is no room for the word."""

    @property
    def label(self) -> str:
        """In the language of the interface."""
        return tr(self.text)


SEND_QUEUE, REDO_QUEUE = mark("send queue"), mark("redo queue")


@dataclass(frozen=True, slots=True)
class QueueFace:
    """Log that waits: in the principal to be sent, in the mirror to be applied."""

    name: str
    kb: float

    @property
    def text(self) -> str:
        return formatting.kb(self.kb)

    @property
    def spoken(self) -> str:
        return f"{tr(self.name)} {self.text}"


@dataclass(frozen=True, slots=True)
class CopyFace:
    """One copy of a database, as it is."""

    server: str
    database: str
    role: StatusSign
    state: StatusSign | None
    """Mirroring state; None without a session."""
    db_state: StatusSign
    safety: str | None
    signs: tuple[StatusSign, ...]
    """Service, quorum and witness link, as far as they mean anything for this copy."""
    queue: QueueFace | None

    @property
    def spoken(self) -> str:
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
"""Kind of a server -> what it is called."""


@dataclass(frozen=True, slots=True)
class ServerFace:
    """A server with its instance and what lies on it."""

    name: str
    kind: str
    """One of KINDS."""
    colour: int
    """Number of the server's colour in every view."""
    status: StatusSign
    version: int
    copies: tuple[CopyFace, ...]
    grid: tuple[tuple[str, StatusSign], ...]
    """(database, state) of each copy where there are too many to show in full."""
    duties: tuple[StatusSign, ...]
    """State of the partners as a witness sees it, or the resources that a bare node owns."""
    troubles: tuple[str, ...]
    """Faults of the machine itself: pulled cables, slow disks, closed ports."""
    place: str = ""
    """Node that hosts a failover cluster instance."""
    listeners: tuple[StatusSign, ...] = ()
    """Listeners of availability groups whose role is here."""

    @property
    def spoken(self) -> str:
        kind = f"{self.name}: {tr(KINDS[self.kind])}, {self.status.label}"
        parts = [kind, *([self.place] if self.place else []), *self.troubles]
        parts += [sign.label for sign in (*self.listeners, *self.duties)]
        parts += [copy.spoken for copy in self.copies]
        counts = Counter(sign.label for _, sign in self.grid)
        parts += [
            trn("{n} database {state}", "{n} databases {state}", count).format(n=count, state=word)
            for word, count in sorted(counts.items())
        ]
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class ClientFace:
    """A client application."""

    name: str
    status: StatusSign
    rate: str

    @property
    def spoken(self) -> str:
        return f"{self.name}: " + ", ".join((tr("application"), self.status.label, self.rate))


@dataclass(frozen=True, slots=True)
class LinkFace:
    """The network between two ends and the connection that uses it."""

    a: str
    b: str
    kind: str
    """mirroring, replica, witness or client."""
    status: StatusSign
    notes: tuple[str, ...]
    """Notes next to the link: safety, measured values, undetected changes; empty if all is usual."""
    measured: str
    """Current state of the network between the two ends."""
    active: bool
    """Something uses the link now."""
    log_kb_per_s: float
    """Log stream from *a* to *b*."""
    acknowledged: bool
    """The mirror answers each block (safety FULL)."""
    pinged: bool

    @property
    def name(self) -> str:
        return f"{self.a} – {self.b}"

    @property
    def spoken(self) -> str:
        said = tr("link {a} to {b}: {state}").format(a=self.a, b=self.b, state=self.status.label)
        return ", ".join((said, *self.notes, self.measured))


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything on the canvas at one moment."""

    servers: tuple[ServerFace, ...]
    clients: tuple[ClientFace, ...]
    links: tuple[LinkFace, ...]

    @property
    def spoken(self) -> str:
        texts = [face.spoken for face in self.servers]
        texts += [face.spoken for face in self.clients]
        texts += [face.spoken for face in self.links]
        return ". ".join(texts) + "."
