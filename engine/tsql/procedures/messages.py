"""Procedures for user-defined messages in sys.messages: sp_addmessage, sp_altermessage and sp_dropmessage."""

from typing import Final

from engine.messages import SqlError
from engine.tsql.batches.stored_messages import find_message
from engine.tsql.batches.stored_tables import CHANGED_MESSAGES, MESSAGES, MessageRow
from engine.tsql.procedures.call import ProcedureCall, Procedures

USER_MESSAGE_MIN: Final = 50_001
USER_MESSAGE_SEVERITY_MAX: Final = 25
"""Maximum severity of user-defined messages. Documented [DOC: sp_addmessage]."""


def _add_message(call: ProcedureCall) -> None:
    """Execute sp_addmessage.

    Raises 15040 for a number below 50001, 15041 for an invalid severity, and 15043 for an existing message
    without REPLACE.
    """
    number, severity = call.get_number("@msgnum"), call.get_number("@severity")
    if number < USER_MESSAGE_MIN:
        raise SqlError(15040)
    if not 1 <= severity <= USER_MESSAGE_SEVERITY_MAX:
        raise SqlError(15041)
    stored = MESSAGES.find_row(call.world, call.server, "message_id", number)
    if stored is not None and call.get_text("@replace").upper() != "REPLACE":
        raise SqlError(15043)
    logged = int(call.get_text("@with_log").upper() == "TRUE")
    row: MessageRow = {
        "message_id": number,
        "severity": severity,
        "is_event_logged": logged,
        "text": call.get_text("@msgtext"),
    }
    if stored is None:
        MESSAGES.add_row(call.world, call.server, {"language_id": 1033, **row})
    else:
        MESSAGES.change_rows(
            call.world, call.server, lambda row_in_table: row_in_table["message_id"] == number, row
        )


def _alter_message(call: ProcedureCall) -> None:
    """Execute sp_altermessage, which switches the option WITH_LOG of a user-defined or system message.

    Raises 15179 for an unknown message.
    """
    number = call.get_number("@message_id")
    logged = int(call.get_text("@parameter_value").upper() == "TRUE")
    if find_message(call.world, call.server, number) is None:
        raise SqlError(15179, number)
    table = MESSAGES if MESSAGES.find_row(call.world, call.server, "message_id", number) else CHANGED_MESSAGES
    if not table.change_rows(
        call.world,
        call.server,
        lambda row_in_table: row_in_table["message_id"] == number,
        {"is_event_logged": logged},
    ):
        table.add_row(call.world, call.server, {"message_id": number, "is_event_logged": logged})


def _drop_message(call: ProcedureCall) -> None:
    """Execute sp_dropmessage. Raises 15178 for a system message, 15179 for an unknown message."""
    number = call.get_number("@msgnum")
    if number < USER_MESSAGE_MIN:
        raise SqlError(15178)
    if not MESSAGES.remove_rows(
        call.world, call.server, lambda row_in_table: row_in_table["message_id"] == number
    ):
        raise SqlError(15179, number)


PROCEDURES: Final[Procedures] = {
    "sp_addmessage": _add_message,
    "sp_altermessage": _alter_message,
    "sp_dropmessage": _drop_message,
}
