"""Settings of a mirroring session, as one server knows them."""

from __future__ import annotations

from engine.model import DatabaseCopy, Safety


def witness(copy: DatabaseCopy) -> str | None:
    """Return the server that is the witness; None without a witness or a mirroring session."""
    return copy.mirroring.witness


def witness_word(copy: DatabaseCopy) -> str:
    """Return mirroring_witness_state_desc; empty without a witness."""
    return copy.mirroring.witness_state.name if copy.mirroring.witness is not None else ""


def safety_word(copy: DatabaseCopy) -> str:
    """Return FULL or OFF; empty if the database is not mirrored, and while its server does not know."""
    known = copy.mirroring.guid is not None and copy.mirroring.safety is not Safety.UNKNOWN
    return copy.mirroring.safety.name if known else ""


def timeout_s(copy: DatabaseCopy) -> int:
    """Return the silence after which the partner counts as lost, in seconds; 0 if the database is not mirrored."""
    return copy.mirroring.timeout_s if copy.mirroring.guid is not None else 0


def partner_address(copy: DatabaseCopy) -> str | None:
    """Return the address of the partner in the copy's settings, or None."""
    return copy.mirroring.partner_address
