"""Contents of the monitor: the rows that each partner recorded, not the true state. Independent of Qt."""

from typing import Final

from msgspec import Struct

from app.words import formatting
from app.words.language import mark, tr
from engine import tsql
from engine.constants import TICKS_PER_S
from engine.mirroring.monitor import MonitorRow, get_rows
from engine.model import DatabaseCopy, MirrorState, Role, Safety, WitnessState, World

WAITING_TEXT: Final = mark("Waiting for data…")
UNKNOWN_TEXT: Final = mark("Unknown")

ROW_AGE_MAX_S: Final = 120.0
"""Age in seconds above which rows are marked as old: two periods of the monitoring job.

The period of one minute is documented.
"""

RATE_MIN_KB_PER_S: Final = 1.0
"""Minimum rate for which a time is estimated. Assumed."""

MIRRORING_STATE_STYLES: Final = {
    MirrorState.SUSPENDED: (mark("Suspended"), "warn"),
    MirrorState.DISCONNECTED: (mark("Disconnected"), "bad"),
    MirrorState.SYNCHRONIZING: (mark("Synchronizing"), "warn"),
    MirrorState.PENDING_FAILOVER: (mark("Pending failover"), "warn"),
    MirrorState.SYNCHRONIZED: (mark("Synchronized"), "ok"),
}
"""Mirroring state -> text and theme color."""

STATE_ICONS: Final = {"ok": "database", "warn": "warning", "muted": "warning", "bad": "close"}
"""Theme color of a state -> icon in front of the state. A plain cylinder means normal.

Documented (Status page; overview).
"""

WITNESS_ICONS: Final = {"ok": "check", "bad": "close"}
"""Theme color -> icon of the witness connection. The icon is documented, but its shape is our choice."""

WITNESS_STATES: Final = {
    WitnessState.UNKNOWN: (mark("Unknown"), "muted"),
    WitnessState.CONNECTED: (mark("Connected"), "ok"),
    WitnessState.DISCONNECTED: (mark("Disconnected"), "bad"),
}


class PartnerRow(Struct, frozen=True):
    """Row of a partner, with the last monitoring row that it recorded."""

    server: str
    is_reachable: bool
    """True if the monitor can log in to the server."""
    row: MonitorRow | None
    has_witness: bool

    @property
    def role(self) -> str:
        """Role of the partner as text."""
        if self.row is None or not self.is_reachable:
            return tr(UNKNOWN_TEXT)
        return tr(self.row.role.name.capitalize())

    @property
    def state(self) -> tuple[str, str]:
        """Text and theme color of the mirroring state."""
        if not self.is_reachable:
            return tr("Not connected to {server}").format(server=self.server), "muted"
        words, color_name = MIRRORING_STATE_STYLES[self.row.state] if self.row else (WAITING_TEXT, "muted")
        return tr(words), color_name

    @property
    def witness(self) -> tuple[str, str]:
        """Text and theme color of the witness connection."""
        if not self.is_reachable or self.row is None:
            return tr(UNKNOWN_TEXT), "muted"
        words, color_name = WITNESS_STATES[self.row.witness_state] if self.has_witness else ("", "muted")
        return tr(words), color_name


class StatusPageContents(Struct, frozen=True):
    """Contents of the Status page of one database, as the partners recorded them."""

    database: str
    partners: tuple[PartnerRow, ...]
    principal: MonitorRow | None
    """Last row of the partner that recorded the principal role, if the monitor can log in there."""
    mirror: MonitorRow | None
    witness_address: str
    mode: str
    now_tick: int
    start_time: str
    """Time of the servers' clocks at tick 0."""

    @property
    def title(self) -> str:
        """Title in the form `Sales (Synchronized, SERVER_A -> SERVER_B)`."""
        names = {p.row.role: p.server for p in self.partners if p.is_reachable and p.row is not None}
        state = tr(MIRRORING_STATE_STYLES[self.principal.state][0] if self.principal else UNKNOWN_TEXT)
        return f"{self.database} ({state}, {names.get(Role.PRINCIPAL, '?')} -> {names.get(Role.MIRROR, '?')})"

    @property
    def color_name(self) -> str:
        """Name of the theme color of the state in the title."""
        return MIRRORING_STATE_STYLES[self.principal.state][1] if self.principal else "muted"

    @property
    def age_s(self) -> float | None:
        """Age of the older one of the displayed rows, or None without rows."""
        ticks = [p.row.tick for p in self.partners if p.is_reachable and p.row is not None]
        return (self.now_tick - min(ticks)) / TICKS_PER_S if ticks else None

    @property
    def is_stale(self) -> bool:
        """True if a displayed row is older than ROW_AGE_MAX_S."""
        return self.age_s is not None and self.age_s > ROW_AGE_MAX_S


def list_mirrored_databases(world: World) -> list[str]:
    """Return the names of the mirrored databases."""
    return sorted({copy.database for copy in world.copies.values() if copy.mirroring.guid is not None})


def list_partners(world: World, database: str) -> list[str]:
    """Return the servers of the database's mirroring session, in the order of the drill."""
    mirrored = [copy for copy in world.list_copies_of(database) if copy.mirroring.guid is not None]
    names = {copy.server for copy in mirrored} | {copy.mirroring.partner for copy in mirrored}
    return [name for name in world.instances if name in names]


def build_status_page(world: World, database: str) -> StatusPageContents:
    """Build the Status page of *database*. The principal, if known, is the first partner."""
    partners = []
    for server in list_partners(world, database):
        rows = get_rows(world, (server, database))
        copy = world.copies.get((server, database))
        partners.append(
            PartnerRow(
                server=server,
                is_reachable=tsql.is_reachable(world, server),
                row=rows[-1] if rows else None,
                has_witness=copy is not None and copy.mirroring.witness is not None,
            )
        )
    principal = _find_latest_partner(partners, Role.PRINCIPAL)
    known_principal = principal or next((partner for partner in partners if partner.is_reachable), None)
    copy = world.copies.get((known_principal.server, database)) if known_principal else None
    return StatusPageContents(
        database=database,
        partners=tuple(sorted(partners, key=lambda partner: partner is not principal)),
        principal=_find_row(principal),
        mirror=_find_row(_find_latest_partner(partners, Role.MIRROR)),
        witness_address=(copy.mirroring.witness_address or "") if copy else tr(UNKNOWN_TEXT),
        mode=format_mode(copy),
        now_tick=world.tick,
        start_time=world.settings.start_time,
    )


def format_mode(copy: DatabaseCopy | None) -> str:
    """Return the operating mode as the monitor names it."""
    if copy is None or copy.mirroring.guid is None:
        return tr(UNKNOWN_TEXT)
    if copy.mirroring.safety is not Safety.FULL:
        return tr("High performance (asynchronous)")
    if copy.mirroring.witness:
        return tr("High safety with automatic failover (synchronous)")
    return tr("High safety without automatic failover (synchronous)")


def _find_latest_partner(partners: list[PartnerRow], role: Role) -> PartnerRow | None:
    """Return the partner whose last row reports *role*, or None.

    If both partners report it, return the partner with the later row.
    """
    fitting = [
        (p.row.tick, p) for p in partners if p.is_reachable and p.row is not None and p.row.role is role
    ]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


def _find_row(partner: PartnerRow | None) -> MonitorRow | None:
    return partner.row if partner else None


# --- the numbers below the grid -----------------------------------------------------------------------------


def estimate_send_s(row: MonitorRow | None) -> float | None:
    """Return the time to send the unsent log at the current rate. None means unknown."""
    return _estimate_time_s(row.unsent_kb, row.send_rate_kb_per_s) if row else None


def estimate_restore_s(row: MonitorRow | None) -> float | None:
    """Return the time to restore the unrestored log at the current rate. None means unknown."""
    return _estimate_time_s(row.unrestored_kb, row.restore_rate_kb_per_s) if row else None


def _estimate_time_s(amount_kb: float, rate_kb_per_s: float) -> float | None:
    if amount_kb < 1.0:
        return 0.0
    return amount_kb / rate_kb_per_s if rate_kb_per_s >= RATE_MIN_KB_PER_S else None


def format_hms(value: float | None) -> str:
    """Format a duration in seconds as `00:01:40`. None means unknown."""
    return tr(UNKNOWN_TEXT) if value is None else formatting.format_hms(value)


def _format_kb(value: float) -> str:
    return f"{formatting.format_number(value)} KB"


def compute_oldest_unsent_s(row: MonitorRow) -> float:
    """Return the age of the oldest unsent transaction when the row was recorded. It is 0 if all log was sent."""
    return (row.tick - row.time_behind_tick) / TICKS_PER_S


def format_log_titles(contents: StatusPageContents) -> tuple[str, str]:
    """Return the titles of principal log and mirror log, with the server time of their figures."""
    return (
        _format_timed_title(tr("Principal log"), contents.principal, contents.start_time),
        _format_timed_title(tr("Mirror log"), contents.mirror, contents.start_time),
    )


def _format_timed_title(title: str, row: MonitorRow | None, start_time: str) -> str:
    time = (
        formatting.format_server_time(start_time, row.tick, decimals=0).split()[-1] if row is not None else ""
    )
    return f"{title} ({time})" if time else title


def list_principal_lines(contents: StatusPageContents) -> list[tuple[str, str]]:
    """Return (label, value) for the principal log."""
    row = contents.principal
    labels = (tr("Unsent log"), tr("Oldest unsent transaction"), tr("Time to send log (estimated)"),
              tr("Current send rate"), tr("Current rate of new transactions"))  # fmt: skip
    if row is None:
        return [(label, tr(UNKNOWN_TEXT)) for label in labels]
    values = (_format_kb(row.unsent_kb), format_hms(compute_oldest_unsent_s(row)), format_hms(estimate_send_s(row)),
              f"{_format_kb(row.send_rate_kb_per_s)}/s", f"{_format_kb(row.log_rate_kb_per_s)}/s")  # fmt: skip
    return list(zip(labels, values, strict=True))


def list_mirror_lines(contents: StatusPageContents) -> list[tuple[str, str]]:
    """Return (label, value) for the mirror log."""
    row = contents.mirror
    labels = (tr("Unrestored log"), tr("Time to restore log (estimated)"), tr("Current restore rate"))
    if row is None:
        return [(label, tr(UNKNOWN_TEXT)) for label in labels]
    values = (
        _format_kb(row.unrestored_kb),
        format_hms(estimate_restore_s(row)),
        f"{_format_kb(row.restore_rate_kb_per_s)}/s",
    )
    return list(zip(labels, values, strict=True))


def list_session_lines(contents: StatusPageContents) -> list[tuple[str, str]]:
    """Return (label, value) for the session, shown below both partners."""
    overhead = tr(UNKNOWN_TEXT)
    if contents.principal is not None:
        synchronous = contents.mode != tr("High performance (asynchronous)")
        overhead = (
            f"{formatting.format_number(contents.principal.average_delay_ms)} ms" if synchronous else ""
        )
    send, restore = estimate_send_s(contents.principal), estimate_restore_s(contents.mirror)
    total_s = None if send is None or restore is None else send + restore
    return [
        (tr("Mirror commit overhead"), overhead),
        (tr("Time to send and restore all current log (estimated)"), format_hms(total_s)),
        (tr("Witness address"), contents.witness_address),
        (tr("Operating mode"), contents.mode),
    ]
