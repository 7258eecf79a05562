"""Database Mail: profiles and accounts are stored, mails stay in the queue; nothing leaves the instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.messages import SqlError
from engine.tsql.batches import ledger
from engine.tsql.catalog.configurations import option_value
from engine.tsql.procedures.call import ProcedureCall, Procedures, procedure
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar

COMPONENT: Final = "Database Mail XPs"


def _need_mail(call: ProcedureCall) -> None:
    """Raise 15281 while the component is off, which is the default."""
    if not option_value(call.machine.context, COMPONENT):
        raise SqlError(15281, "procedure", f"dbo.{call.name}", COMPONENT, COMPONENT, COMPONENT)


def _add_named_row(call: ProcedureCall, table: str, parameter: str, **values: Scalar) -> None:
    name = call.text(parameter)
    if ledger.find(call.world, call.server, table, "name", name) is not None:
        rule = f"{table.upper()}_NameMustBeUnique"
        raise SqlError(2627, "UNIQUE KEY", rule, f"dbo.{table}", f"({name})")
    number = ledger.add(call.world, call.server, table, name=name, **values)
    call.outputs["@profile_id" if table == "sysmail_profile" else "@account_id"] = number


def _add_profile(call: ProcedureCall) -> None:
    _add_named_row(call, "sysmail_profile", "@profile_name", description=call.get("@description"))


def _add_account(call: ProcedureCall) -> None:
    _add_named_row(
        call,
        "sysmail_account",
        "@account_name",
        email_address=call.get("@email_address"),
        display_name=call.get("@display_name"),
        replyto_address=call.get("@replyto_address"),
        description=call.get("@description"),
        servername=call.get("@mailserver_name"),
    )


def _number(call: ProcedureCall, table: str, kind: str) -> Scalar:
    """Return the number of the profile or account that @…_name or @…_id names; 14607 or 14606 if there is none."""
    column, value = ("id", call.get(f"@{kind}_id"))
    if value is None:
        column, value = "name", call.text(f"@{kind}_name")
    found = ledger.find(call.world, call.server, table, column, value)
    if found is None:
        raise SqlError(14607 if kind == "profile" else 14606)
    return found["id"]


def _join(call: ProcedureCall) -> None:
    profile = _number(call, "sysmail_profile", "profile")
    account = _number(call, "sysmail_account", "account")
    ledger.add(
        call.world,
        call.server,
        "sysmail_profileaccount",
        profile_id=int(str(profile)),
        account_id=int(str(account)),
        sequence_number=call.number("@sequence_number", 1),
    )


def _grant(call: ProcedureCall) -> None:
    profile = _number(call, "sysmail_profile", "profile")
    ledger.add(
        call.world,
        call.server,
        "sysmail_principalprofile",
        profile_id=int(str(profile)),
        is_default=call.number("@is_default"),
    )


def _delete(table: str, kind: str) -> Callable[[ProcedureCall], None]:
    def run(call: ProcedureCall) -> None:
        number = _number(call, table, kind)
        ledger.remove(call.world, call.server, table, lambda row: row["id"] == number)
        for other in ("sysmail_profileaccount", "sysmail_principalprofile"):
            ledger.remove(call.world, call.server, other, lambda row: row.get(f"{kind}_id") == number)

    return run


def _send(call: ProcedureCall) -> None:
    """Queue a mail, which is never sent: 15281 without the component, 14607 profile, 14624 recipients."""
    _need_mail(call)
    profiles = ledger.rows(call.world, call.server, "sysmail_profile")
    if call.get("@profile_name") is not None:
        number = _number(call, "sysmail_profile", "profile")
    else:
        default = ledger.find(call.world, call.server, "sysmail_principalprofile", "is_default", 1)
        number = default["profile_id"] if default is not None else None
        if number is None or not profiles:
            raise SqlError(14636)
    if not any(call.text(name) for name in ("@recipients", "@copy_recipients", "@blind_copy_recipients")):
        raise SqlError(14624, "@recipients, @copy_recipients, @blind_copy_recipients")
    mail = ledger.add(
        call.world,
        call.server,
        "sysmail_mailitems",
        profile_id=int(str(number)),
        recipients=call.text("@recipients"),
        copy_recipients=call.text("@copy_recipients"),
        subject=call.text("@subject") or "SQL Server Message",
        body=call.text("@body"),
        sent_status="unsent",
        send_request_date=call.machine.context.datetime_value(),
    )
    call.outputs["@mailitem_id"] = mail
    call.machine.tell(f"Mail (Id: {mail}) queued.")
    call.machine.report_unsimulated("delivery of mail; it stays in msdb.dbo.sysmail_allitems")


def _refuse(call: ProcedureCall) -> None:
    raise UnsimulatedFeatureError(call.name)


def _start(call: ProcedureCall) -> None:
    """Do nothing: mail is queued from the beginning."""


_ACCOUNT: Final = """@account_name @email_address @display_name? @replyto_address? @description? @mailserver_name?
@mailserver_type? @port? @username? @password? @use_default_credentials? @enable_ssl? @account_id?"""
_MAIL: Final = """@profile_name? @recipients? @copy_recipients? @blind_copy_recipients? @subject? @body? @body_format?
@importance? @sensitivity? @file_attachments? @query? @execute_query_database? @attach_query_result_as_file?
@query_attachment_filename? @query_result_header? @query_result_width? @query_result_separator?
@exclude_query_output? @append_query_error? @query_no_truncate? @query_result_no_padding? @mailitem_id?
@from_address? @reply_to?"""

PROCEDURES: Final[Procedures] = {
    "sysmail_add_profile_sp": procedure(_add_profile, "@profile_name @description? @profile_id?"),
    "sysmail_add_account_sp": procedure(_add_account, _ACCOUNT),
    "sysmail_add_profileaccount_sp": procedure(
        _join, "@profile_id? @profile_name? @account_id? @account_name? @sequence_number?"
    ),
    "sysmail_add_principalprofile_sp": procedure(
        _grant, "@principal_id? @principal_name? @profile_id? @profile_name? @is_default?"
    ),
    "sysmail_delete_profile_sp": procedure(
        _delete("sysmail_profile", "profile"), "@profile_id? @profile_name? @force_delete?"
    ),
    "sysmail_delete_account_sp": procedure(
        _delete("sysmail_account", "account"), "@account_id? @account_name?"
    ),
    "sysmail_configure_sp": procedure(_refuse, "@parameter_name? @parameter_value? @description?"),
    "sysmail_start_sp": procedure(_start),
    "sysmail_stop_sp": procedure(_refuse),
    "sp_send_dbmail": procedure(_send, _MAIL),
}
