"""Rows of sys.messages: messages of the product, messages of sp_addmessage, and changes by sp_altermessage."""

from typing import Final

from msgspec.structs import replace

from engine.messages import MESSAGES, MessageWording, SqlError, find_wording, list_messages
from engine.model import World
from engine.tsql.batches.stored_tables import CHANGED_MESSAGES, MessageRow
from engine.tsql.batches.stored_tables import MESSAGES as ADDED_MESSAGES
from engine.tsql.query.plans import UnsimulatedFeatureError

FIRST_RAISABLE_NUMBER: Final = 13_000
"""Lowest number that RAISERROR and FORMATMESSAGE accept. Documented [DOC: RAISERROR; FORMATMESSAGE]."""


def list_all_messages(world: World, server: str) -> list[MessageWording]:
    """Return the rows of sys.messages on a server: messages of the product, then user-defined messages."""
    logged_flags = {
        row["message_id"]: bool(row["is_event_logged"]) for row in CHANGED_MESSAGES.list_rows(world, server)
    }
    own_wordings = [_make_wording(row) for row in ADDED_MESSAGES.list_rows(world, server)]
    product = list_messages(world.instances[server].version)
    return [*(replace(row, logged=logged_flags.get(row.number, row.logged)) for row in product),
            *sorted(own_wordings, key=lambda row: row.number)]  # fmt: skip


def _make_wording(row: MessageRow) -> MessageWording:
    number, severity = int(str(row["message_id"])), int(str(row["severity"]))
    return MessageWording(number, 2005, severity, bool(row["is_event_logged"]), "added", str(row["text"]))


def find_message(world: World, server: str, number: int) -> MessageWording | None:
    """Return message *number* in sys.messages; None if there is no such message."""
    added_row = ADDED_MESSAGES.find_row(world, server, "message_id", number)
    if added_row is not None:
        return _make_wording(added_row)
    if number not in MESSAGES:
        return None
    row = find_wording(number, world.instances[server].version)
    changed_row = CHANGED_MESSAGES.find_row(world, server, "message_id", number)
    return row if changed_row is None else replace(row, logged=bool(changed_row["is_event_logged"]))


def is_message_logged(world: World, server: str, number: int) -> bool:
    """Return whether the server writes errors with the number *number* into the ERRORLOG."""
    row = find_message(world, server, number)
    return row is not None and row.logged


def find_raisable_message(
    world: World, server: str, number: int, severity: int, state: int
) -> MessageWording:
    """Return the message for RAISERROR.

    Raise 2732 for an invalid number, 18054 for an unknown user-defined message. Raise
    UnsimulatedFeatureError for a system message number whose text the simulation does not know.
    """
    if number < FIRST_RAISABLE_NUMBER or number == 50_000:
        raise SqlError(2732, number, FIRST_RAISABLE_NUMBER, 2**31 - 1)
    row = find_message(world, server, number)
    if row is None and number < 50_000:
        raise UnsimulatedFeatureError(f"the text of message {number}")
    if row is None:
        raise SqlError(18054, number, severity, state)
    return row
