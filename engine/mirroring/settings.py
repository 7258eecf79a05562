"""Settings of a mirroring session, as one server knows them."""

from __future__ import annotations

from engine.model import DatabaseCopy, Safety


def witness(copy: DatabaseCopy) -> str | None:
    """The server that is the witness; None without one, and where nothing mirrors the database."""
    return copy.mirroring.witness


def witness_word(copy: DatabaseCopy) -> str:
    """mirroring_witness_state_desc; empty without a witness."""
    return copy.mirroring.witness_state.name if copy.mirroring.witness is not None else ""


def safety_word(copy: DatabaseCopy) -> str:
    """FULL or OFF; empty where nothing mirrors the database, and while its server does not know."""
    known = copy.mirroring.guid is not None and copy.mirroring.safety is not Safety.UNKNOWN
    return copy.mirroring.safety.name if known else ""


def timeout_s(copy: DatabaseCopy) -> int:
    """After which silence the partner counts as lost; 0 where nothing mirrors the database."""
    return copy.mirroring.timeout_s if copy.mirroring.guid is not None else 0


def partner_address(copy: DatabaseCopy) -> str | None:
    """Return the address of its partner as its settings give it, or None if they give none."""
    return copy.mirroring.partner_address
