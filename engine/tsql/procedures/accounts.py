"""Old procedures for logins, users, roles, databases and linked servers, which scripts still use."""

from collections.abc import Iterator
from typing import Final

from engine.messages import SqlError
from engine.protocol import accounts, commits, databases, jobs, options
from engine.tsql import catalog
from engine.tsql.batches import permissions, statement_gate, stored_tables
from engine.tsql.batches.context import list_database_roles
from engine.tsql.batches.data import Row
from engine.tsql.catalog import security
from engine.tsql.language import statements as s
from engine.tsql.procedures.call import ProcedureCall, Procedures
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import to_text


def _add_login(call: ProcedureCall) -> None:
    call.append_messages(
        accounts.create_login(
            call.world,
            call.server,
            call.get_text("@loginame"),
            password=call.get_text("@passwd"),
            default_database=call.get_text("@defdb") or None,
        )
    )


def _grant_login(call: ProcedureCall) -> None:
    call.append_messages(
        accounts.create_login(call.world, call.server, call.get_text("@loginame"), windows=True)
    )


def _drop_login(call: ProcedureCall) -> None:
    call.append_messages(permissions.drop_login(call.machine, call.get_text("@loginame")))


def _grant_access(call: ProcedureCall) -> None:
    login = call.get_text("@loginame")
    name = call.get_text("@name_in_db") or login
    call.append_messages(
        accounts.create_user(call.world, call.server, call.machine.session.database, name, login=login)
    )


def _revoke_access(call: ProcedureCall) -> None:
    call.append_messages(
        accounts.drop_user(
            call.world, call.server, call.machine.session.database, call.get_text("@name_in_db")
        )
    )


def _change_role_member(call: ProcedureCall) -> None:
    """Execute sp_addrolemember, sp_droprolemember, sp_addsrvrolemember or sp_dropsrvrolemember.

    Raises 15007 for an unknown login, 15402 for an unknown server role, 15410 for an unknown user or role.
    """
    server = call.name.endswith("srvrolemember")
    member = call.get_text("@loginame" if server else "@membername")
    if server:
        rows = catalog.list_view_rows(call.machine.context, "sys.server_principals")
        if member.lower() not in {to_text(row["name"]).lower() for row in rows}:
            raise SqlError(15007, member)
        roles = security.list_fixed_server_roles(call.machine.context.version)
        if call.get_text("@rolename").lower() not in map(str.lower, roles):
            raise SqlError(15402, call.get_text("@rolename"))
    else:
        rows = catalog.list_view_rows(call.machine.context, "sys.database_principals")
        if member.lower() not in {to_text(row["name"]).lower() for row in rows}:
            raise SqlError(15410, member)
    verb = "ADD" if call.name.startswith("sp_add") else "DROP"
    change = s.ChangeRoleStatement(
        "ALTER", call.get_text("@rolename"), server=server, verb_of_member=verb, member=member
    )
    call.append_messages(permissions.change_role(call.machine, change))


def _create_role(call: ProcedureCall) -> None:
    verb = "CREATE" if call.name == "sp_addrole" else "DROP"
    call.append_messages(
        permissions.change_role(call.machine, s.ChangeRoleStatement(verb, call.get_text("@rolename")))
    )


def _rename_database(call: ProcedureCall) -> None:
    """Execute sp_renamedb. Raises 957 for a mirrored database.

    Renaming other databases this way is not simulated.
    """
    name = call.get_text("@dbname")
    copy = call.machine.context.find_copy(name)
    if copy is None:
        raise SqlError(15010, name)
    if copy.group_kind == "mirroring":
        raise SqlError(957, copy.database)
    raise UnsimulatedFeatureError(call.name)


def _show_logins(call: ProcedureCall) -> None:
    """Execute sp_helplogins: show the logins, then their users and roles in each database.

    Raises 15007 for an unknown login. [DOC: sp_helplogins]
    """
    context, pattern = call.machine.context, call.get_text("@loginnamepattern").lower()
    principals = [
        row
        for row in catalog.list_view_rows(context, "sys.server_principals")
        if row["type"] in ("S", "U", "G")
    ]
    logins = [row for row in principals if not pattern or to_text(row["name"]).lower() == pattern]
    if pattern and not logins:
        raise SqlError(15007, call.get_text("@loginnamepattern"))
    user_rows = [row for login in logins for row in _list_users_of_login(call, login)]
    names_with_users = {row[0] for row in user_rows}
    call.show_rows(
        ("LoginName", "SID", "DefDBName", "DefLangName", "AUser", "ARemote"),
        [
            (
                login["name"],
                login["sid"],
                login["default_database_name"],
                login["default_language_name"],
                "yes  " if login["name"] in names_with_users else "NO   ",
                "no     ",
            )
            for login in logins
        ],
    )
    call.show_rows(("LoginName", "DBName", "UserName", "UserOrAlias"), user_rows)


def _list_users_of_login(call: ProcedureCall, login: catalog.Record) -> Iterator[Row]:
    """Yield rows for the user and the roles that a login has in each open database."""
    context, name = call.machine.context, to_text(login["name"])
    for database in catalog.list_view_rows(context, "sys.databases"):
        database_name = to_text(database["name"])
        known_login = context.server.find_login(name)
        users = [
            user.name
            for user in commits.list_database_users(call.world, call.server, database_name)
            if known_login is not None and user.sid == known_login.sid
        ]
        if login["sid"] == database["owner_sid"]:
            users = ["dbo"]
        for user in users:
            roles = {"db_owner"} if user == "dbo" else list_database_roles(context, database_name, user)
            for role in sorted(roles - {"public"}):
                yield (name, database_name, role, "MemberOf")
            yield (name, database_name, user, "User    ")


def _detach_database(call: ProcedureCall) -> None:
    call.append_messages(databases.detach_database(call.world, call.server, call.get_text("@dbname")))


def _set_database_option(call: ProcedureCall) -> None:
    """Execute sp_dboption (2005 and 2008). Raises 2812 from 2012 on."""
    if call.machine.context.version >= 2012:
        raise SqlError(2812, "sp_dboption")
    option, value = call.get_text("@optname").lower(), call.get_text("@optvalue").lower()
    words = {
        "offline": ("OFFLINE" if value in ("true", "on") else "ONLINE", ""),
        "single user": ("SINGLE_USER" if value in ("true", "on") else "MULTI_USER", ""),
        "read only": ("READ_ONLY" if value in ("true", "on") else "READ_WRITE", ""),
        "trunc. log on chkpt.": ("RECOVERY", "SIMPLE" if value in ("true", "on") else "FULL"),
    }
    if option not in words:
        raise UnsimulatedFeatureError(f"sp_dboption '{option}'")
    name, setting = words[option]
    statement_gate.check_database_state(
        call.machine.context, statement_gate.get_option_kind(name, setting), call.get_text("@dbname")
    )
    call.machine.report_outcome(
        options.set_option(call.world, call.server, call.get_text("@dbname"), name, setting)
    )


# --- linked servers ---------------------------------------------------------------------------------------


def _add_linked_server(call: ProcedureCall) -> None:
    call.append_messages(jobs.add_linked_server(call.world, call.server, call.get_text("@server")))


def _drop_linked_server(call: ProcedureCall) -> None:
    call.append_messages(jobs.drop_linked_server(call.world, call.server, call.get_text("@server")))


def _reject_call(call: ProcedureCall) -> None:
    raise UnsimulatedFeatureError(call.name)


def _map_login(call: ProcedureCall) -> None:
    """Execute sp_addlinkedsrvlogin.

    Only its default effect is simulated: a linked server uses the caller's own login.
    """
    if call.get_text("@useself").lower() not in ("", "true", "1") or call.get_text("@locallogin"):
        raise UnsimulatedFeatureError(f"{call.name} with a login other than your own")


_LINKED_SERVER_DEFAULTS: Final = {
    "data access": "true", "use remote collation": "true", "collation compatible": "false", "connect timeout": "0",
    "query timeout": "0", "lazy schema validation": "false", "collation name": "", "dist": "false", "pub": "false",
    "sub": "false", "remote proc transaction promotion": "true",
}  # fmt: skip
"""Option of sp_serveroption -> its default value, which is the only simulated value. Documented."""


def _set_server_option(call: ProcedureCall) -> None:
    """Execute sp_serveroption.

    The options "rpc" and "rpc out" can be set; "rpc out" allows EXEC … AT. Other options accept only their
    default.
    """
    linked_name, linked_names = call.get_text("@server"), call.world.instances[call.server].linked_servers
    name = next((candidate for candidate in linked_names if candidate.lower() == linked_name.lower()), None)
    if name is None:
        raise SqlError(15015, linked_name)
    option, value = call.get_text("@optname").lower(), call.get_text("@optvalue").lower() in ("true", "on")
    if option not in ("rpc", "rpc out"):
        setting = {"on": "true", "off": "false"}.get(
            call.get_text("@optvalue").lower(), call.get_text("@optvalue").lower()
        )
        if _LINKED_SERVER_DEFAULTS.get(option) != setting:
            raise UnsimulatedFeatureError(f"sp_serveroption '{option}'")
        return
    if stored_tables.SERVER_OPTIONS.find_row(call.world, call.server, "server", name) is None:
        stored_tables.SERVER_OPTIONS.add_row(call.world, call.server, {"server": name})
    stored_tables.SERVER_OPTIONS.change_rows(
        call.world,
        call.server,
        lambda row: row["server"] == name,
        stored_tables.SERVER_OPTIONS.build_row({option: int(value)}),
    )


PROCEDURES: Final[Procedures] = {
    "sp_addlogin": _add_login,
    "sp_grantlogin": _grant_login,
    "sp_droplogin": _drop_login,
    "sp_revokelogin": _drop_login,
    "sp_grantdbaccess": _grant_access,
    "sp_adduser": _grant_access,
    "sp_revokedbaccess": _revoke_access,
    "sp_addsrvrolemember": _change_role_member,
    "sp_dropsrvrolemember": _change_role_member,
    "sp_addrolemember": _change_role_member,
    "sp_droprolemember": _change_role_member,
    "sp_addrole": _create_role,
    "sp_droprole": _create_role,
    "sp_helplogins": _show_logins,
    "sp_detach_db": _detach_database,
    "sp_renamedb": _rename_database,
    "sp_dboption": _set_database_option,
    "sp_addlinkedserver": _add_linked_server,
    "sp_addserver": _reject_call,
    "sp_dropserver": _drop_linked_server,
    "sp_serveroption": _set_server_option,
    "sp_addlinkedsrvlogin": _map_login,
    "sp_droplinkedsrvlogin": _reject_call,
}
