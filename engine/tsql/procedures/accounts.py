"""Older procedures for logins, users and databases that scripts still use."""

from __future__ import annotations

from typing import Final

from engine.messages import SqlError
from engine.protocol import accounts, databases, options
from engine.tsql import catalog
from engine.tsql.batches import gate, permissions
from engine.tsql.catalog import security
from engine.tsql.language import statements as s
from engine.tsql.procedures.call import ProcedureCall, Procedures, procedure
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import to_text


def _add_login(call: ProcedureCall) -> None:
    call.tell(
        accounts.create_login(
            call.world,
            call.server,
            call.text("@loginame"),
            password=call.text("@passwd"),
            default_database=call.text("@defdb") or None,
        )
    )


def _grant_login(call: ProcedureCall) -> None:
    call.tell(accounts.create_login(call.world, call.server, call.text("@loginame"), windows=True))


def _drop_login(call: ProcedureCall) -> None:
    call.tell(accounts.drop_login(call.world, call.server, call.text("@loginame")))


def _grant_access(call: ProcedureCall) -> None:
    login = call.text("@loginame")
    name = call.text("@name_in_db") or login
    call.tell(accounts.create_user(call.world, call.server, call.machine.session.database, name, login=login))


def _revoke_access(call: ProcedureCall) -> None:
    call.tell(
        accounts.drop_user(call.world, call.server, call.machine.session.database, call.text("@name_in_db"))
    )


def _role(call: ProcedureCall) -> None:
    """sp_addrolemember and relatives. 15007 for an unknown login, 15402 for an unknown role of the server."""
    server = call.name.endswith("srvrolemember")
    member = call.text("@loginame" if server else "@membername")
    if server:
        rows = catalog.rows_of(call.machine.context, "sys.server_principals")
        if member.lower() not in {to_text(row["name"]).lower() for row in rows}:
            raise SqlError(15007, member)
        if call.text("@rolename").lower() not in map(str.lower, security.ROLES):
            raise SqlError(15402, call.text("@rolename"))
    verb = "ADD" if call.name.startswith("sp_add") else "DROP"
    change = s.ChangeRole("ALTER", call.text("@rolename"), server=server, verb_of_member=verb, member=member)
    call.tell(permissions.change_role(call.machine, change))


def _create_role(call: ProcedureCall) -> None:
    verb = "CREATE" if call.name == "sp_addrole" else "DROP"
    call.tell(permissions.change_role(call.machine, s.ChangeRole(verb, call.text("@rolename"))))


def _refused_while_mirrored(call: ProcedureCall) -> None:
    """Rename: 957 in a session, otherwise not simulated."""
    name = call.text("@dbname")
    copy = call.machine.context.copy_named(name)
    if copy is None:
        raise SqlError(15010, name)
    if copy.group_kind == "mirroring":
        raise SqlError(957, copy.database)
    raise UnsimulatedFeatureError(call.name)


def _detach(call: ProcedureCall) -> None:
    call.tell(databases.detach(call.world, call.server, call.text("@dbname")))


def _database_option(call: ProcedureCall) -> None:
    """Execute sp_dboption (2005 and 2008). Raises 2812 from 2012 on."""
    if call.machine.context.version >= 2012:
        raise SqlError(2812, "sp_dboption")
    option, value = call.text("@optname").lower(), call.text("@optvalue").lower()
    words = {
        "offline": ("OFFLINE" if value in ("true", "on") else "ONLINE", ""),
        "single user": ("SINGLE_USER" if value in ("true", "on") else "MULTI_USER", ""),
        "read only": ("READ_ONLY" if value in ("true", "on") else "READ_WRITE", ""),
        "trunc. log on chkpt.": ("RECOVERY", "SIMPLE" if value in ("true", "on") else "FULL"),
    }
    if option not in words:
        raise UnsimulatedFeatureError(f"sp_dboption '{option}'")
    name, setting = words[option]
    gate.admit(call.machine.context, gate.option_kind(name, setting), call.text("@dbname"))
    call.machine.report_outcome(
        options.set_option(call.world, call.server, call.text("@dbname"), name, setting)
    )


PROCEDURES: Final[Procedures] = {
    "sp_addlogin": procedure(_add_login, "@loginame @passwd? @defdb? @deflanguage? @sid? @encryptopt?"),
    "sp_grantlogin": procedure(_grant_login, "@loginame"),
    "sp_droplogin": procedure(_drop_login, "@loginame"),
    "sp_revokelogin": procedure(_drop_login, "@loginame"),
    "sp_grantdbaccess": procedure(_grant_access, "@loginame @name_in_db?"),
    "sp_adduser": procedure(_grant_access, "@loginame @name_in_db? @grpname?"),
    "sp_revokedbaccess": procedure(_revoke_access, "@name_in_db"),
    "sp_addsrvrolemember": procedure(_role, "@loginame @rolename"),
    "sp_dropsrvrolemember": procedure(_role, "@loginame @rolename"),
    "sp_addrolemember": procedure(_role, "@rolename @membername"),
    "sp_droprolemember": procedure(_role, "@rolename @membername"),
    "sp_addrole": procedure(_create_role, "@rolename @ownername?"),
    "sp_droprole": procedure(_create_role, "@rolename"),
    "sp_detach_db": procedure(_detach, "@dbname @skipchecks? @keepfulltextindexfile?"),
    "sp_renamedb": procedure(_refused_while_mirrored, "@dbname @newname"),
    "sp_dboption": procedure(_database_option, "@dbname @optname? @optvalue?"),
}
