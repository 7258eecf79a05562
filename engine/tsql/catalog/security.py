"""Views about logins, roles, users, permissions, certificates and keys of the queried server."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final

from engine.availability import replicas
from engine.model import DatabaseCopy, User
from engine.protocol import accounts, commits, options, security
from engine.protocol.security import FIRST_USER_ID
from engine.tsql.batches import objects
from engine.tsql.batches.context import (
    StatementContext,
    find_database_user,
    has_server_permission,
    is_server_role_member,
)
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import Record, register_view
from engine.tsql.language import permissions
from engine.tsql.scalars.values import Scalar

FIRST_LOGIN_ID: Final = 300
"""principal_id of the first created login on a server."""

FIRST_CERTIFICATE_ID: Final = 257


def _encode_sid(number: int) -> bytes:
    return number.to_bytes(16, "big")


PUBLIC_SID: Final = bytes.fromhex("01050000000000090400000083741B006749C04BA943C02702F2A762")
"""SID of the database role public, the same in every database. Seen in public output."""


def _make_database_sid(kind: int, parts: bytes) -> bytes:
    """Return a SID that a database assigns: S-1-9-*kind*-….

    *kind* is 3 for a user without a login, 4 for a role.
    """
    return b"\x01\x05" + (9).to_bytes(6, "big") + kind.to_bytes(4, "little") + parts


def get_user_sid(user: User) -> bytes:
    """Return the SID of a database user: the SID of its login, or its own SID without a login."""
    if user.sid:
        return _encode_sid(user.sid)
    name = f"{user.database}/{user.name}".lower()
    return _make_database_sid(3, hashlib.blake2b(name.encode(), digest_size=16).digest())


def format_sid(sid: bytes) -> str:
    """Format a SID that a database has assigned as text: S-1-9-3-…."""
    parts = (int.from_bytes(sid[index : index + 4], "little") for index in range(8, len(sid), 4))
    return "-".join(("S-1-9", *map(str, parts)))


SERVER_ROLE_NAMES: Final = (
    "public", "sysadmin", "securityadmin", "serveradmin", "setupadmin", "processadmin", "diskadmin", "dbcreator",
    "bulkadmin",
)  # fmt: skip
"""Fixed server roles in the order of principal_id, which starts at 2.

Documented [DOC: sys.server_principals; server-level roles].
"""

SERVER_ROLE_NAMES_2022: Final = (
    "##MS_ServerStateReader##", "##MS_ServerStateManager##", "##MS_DefinitionReader##", "##MS_DatabaseConnector##",
    "##MS_DatabaseManager##", "##MS_LoginManager##", "##MS_SecurityDefinitionReader##",
    "##MS_PerformanceDefinitionReader##", "##MS_ServerSecurityStateReader##", "##MS_ServerPerformanceStateReader##",
)  # fmt: skip
"""Fixed server roles that SQL Server 2022 adds [DOC: server-level roles]. The order is seen in public output."""


def list_fixed_server_roles(version: int) -> tuple[str, ...]:
    """Return the fixed server roles of a version in the order of principal_id, which starts at 2."""
    return (*SERVER_ROLE_NAMES, *SERVER_ROLE_NAMES_2022) if version >= 2022 else SERVER_ROLE_NAMES


_CERTIFICATE_LOGINS: Final = (
    "##MS_SQLResourceSigningCertificate##", "##MS_SQLReplicationSigningCertificate##",
    "##MS_SQLAuthenticatorCertificate##",
)  # fmt: skip
"""Logins of the product's own certificates. principal_id starts at 101. Documented [DOC: principals]."""

FIRST_WINDOWS_ID: Final = 259


def _list_principals(context: StatementContext) -> Iterable[Record]:
    yield _build_principal_row(context, "sa", 1, "S", b"\x01", disabled=False)
    for number, role in enumerate(list_fixed_server_roles(context.version), start=2):
        row = _build_principal_row(context, role, number, "R", bytes([number]), disabled=False)
        yield {**row, "is_fixed_role": int(role != "public"), "owning_principal_id": 1}
    for number, name in enumerate(_CERTIFICATE_LOGINS, start=101):
        yield _build_principal_row(context, name, number, "C", _encode_sid(number), disabled=False)
    for number, name in enumerate(
        accounts.list_predefined_logins(context.world, context.server.name), start=FIRST_WINDOWS_ID
    ):
        kind = "G" if name.startswith("BUILTIN") else "U"
        yield _build_principal_row(context, name, number, kind, compute_account_sid(name), disabled=False)
    for index, login in enumerate(context.server.logins):
        kind = _LOGIN_TYPES[login.kind]
        row = _build_principal_row(
            context, login.name, FIRST_LOGIN_ID + index, kind, _encode_sid(login.sid), login.disabled
        )
        yield {
            **row,
            "default_database_name": login.default_database,
            "default_language_name": login.default_language or "us_english",
            "is_policy_checked": int(login.check_policy),
            "is_expiration_checked": int(login.check_expiration),
        }


def compute_account_sid(name: str) -> bytes:
    """Return the SID of a Windows account, which is the same on every server."""
    return b"\x01\x05" + hashlib.blake2b(name.lower().encode(), digest_size=26).digest()


_LOGIN_TYPES: Final = {"SQL": "S", "WINDOWS": "U", "CERTIFICATE": "C"}
"""Kind of a login -> `type`."""
_PRINCIPAL_KINDS: Final = {
    "S": "SQL_LOGIN",
    "U": "WINDOWS_LOGIN",
    "G": "WINDOWS_GROUP",
    "R": "SERVER_ROLE",
    "C": "CERTIFICATE_MAPPED_LOGIN",
}


def _build_principal_row(
    context: StatementContext, name: str, number: int, kind: str, sid: bytes, disabled: bool
) -> Record:
    return {
        "name": name,
        "principal_id": number,
        "sid": sid,
        "type": kind,
        "type_desc": _PRINCIPAL_KINDS[kind],
        "is_disabled": int(disabled),
        "create_date": context.get_datetime_value(-86_400_00 * 100),
        "modify_date": context.get_datetime_value(-86_400_00 * 100),
        "default_database_name": None if kind == "R" else "master",
        "default_language_name": None if kind == "R" else "us_english",
        **find_literal_columns("security._build_principal_row"),
    }


register_view("sys.server_principals", _list_principals)


def _list_sql_logins(context: StatementContext) -> Iterable[Record]:
    for row in _list_principals(context):
        if row["type"] == "S":
            yield {**row, "password_hash": b"\x01\x00" + str(row["name"]).encode()[:20]}


register_view("sys.sql_logins", _list_sql_logins)


def _list_syslogins(context: StatementContext) -> Iterable[Record]:
    members = {(row["role_principal_id"], row["member_principal_id"]) for row in _list_role_members(context)}
    for row in _list_principals(context):
        if row["type"] != "R":
            yield {
                **{
                    role: int((number, row["principal_id"]) in members)
                    for number, role in enumerate(SERVER_ROLE_NAMES, start=2)
                    if role != "public"
                },
                "sid": row["sid"],
                "createdate": row["create_date"],
                "updatedate": row["modify_date"],
                "name": row["name"],
                "loginname": row["name"],
                "dbname": row["default_database_name"],
                "language": row["default_language_name"],
                "denylogin": row["is_disabled"],
                "hasaccess": 1,
                "isntname": int(row["type"] in ("U", "G")),
                "isntuser": int(row["type"] == "U"),
                "isntgroup": int(row["type"] == "G"),
            }


register_view("sys.syslogins", _list_syslogins)


def _list_permissions(context: StatementContext) -> Iterable[Record]:
    numbers = {str(row["name"]).lower(): row["principal_id"] for row in _list_principals(context)}
    for row in _list_principals(context):
        if row["type"] in ("S", "U"):
            system = str(row["name"]).upper() == "NT AUTHORITY\\SYSTEM"
            lacks = context.server.system_lacks if system else ()
            if "CONNECT SQL" not in lacks:
                yield _build_permission_row(100, "SERVER", 0, row["principal_id"], "COSQ", "CONNECT SQL")
            for name in replicas.SYSTEM_PERMISSIONS if system and context.version >= 2012 else ():
                if name != "CONNECT SQL" and name not in lacks:
                    yield _build_permission_row(
                        100, "SERVER", 0, row["principal_id"], replicas.SYSTEM_PERMISSIONS[name], name
                    )
    for grant in accounts.read_security(
        context.world, context.session.server, accounts.INSTANCE_SCOPE
    ).grants:
        if grant.kind == "SERVER" and grant.grantee in numbers:
            row = _build_permission_row(
                100,
                "SERVER",
                0,
                numbers[grant.grantee],
                _PERMISSION_CODES.get(grant.permission, ""),
                grant.permission,
            )
            yield {**row, **_build_state_columns(grant)}
    yield _build_permission_row(100, "SERVER", 0, _PUBLIC_ROLE_ID, "VWDB", "VIEW ANY DATABASE")
    for endpoint_id in DEFAULT_ENDPOINT_IDS:
        yield _build_permission_row(105, "ENDPOINT", endpoint_id, _PUBLIC_ROLE_ID, "CO", "CONNECT")
    endpoint = context.server.endpoint
    for name in endpoint.granted if endpoint is not None else ():
        number = numbers.get(name.lower())
        if number is not None:
            yield _build_permission_row(105, "ENDPOINT", 65536, number, "CO", "CONNECT")


_PUBLIC_ROLE_ID: Final = 2
"""principal_id of the server role public."""
DEFAULT_ENDPOINT_IDS: Final = (2, 3, 4, 5)
"""IDs of the T-SQL endpoints to which public may connect. Documented [DOC: server-level roles]."""

_PERMISSION_CODES: Final = {
    "SELECT": "SL", "INSERT": "IN", "UPDATE": "UP", "DELETE": "DL", "EXECUTE": "EX", "CONTROL": "CL", "ALTER": "AL",
    "CONNECT": "CO", "CREATE TABLE": "CRTB", "CREATE VIEW": "CRVW", "CREATE PROCEDURE": "CRPR", "REFERENCES": "RF",
    "CREATE FUNCTION": "CRFN", "CREATE SCHEMA": "CRSM", "VIEW DEFINITION": "VW", "IMPERSONATE": "IM",
    "VIEW DATABASE STATE": "VWDS", "BACKUP DATABASE": "BADB", "BACKUP LOG": "BALO", "VIEW SERVER STATE": "VWSS",
    "ALTER ANY DATABASE": "ALDB", "ALTER ANY LOGIN": "ALLG", "CONTROL SERVER": "CL", "VIEW ANY DATABASE": "VWDB",
    "ALTER SERVER STATE": "ALSS", "ALTER SETTINGS": "ALST", "CREATE ANY DATABASE": "CRDB", "SHUTDOWN": "SHDN",
    "ALTER ANY CONNECTION": "ALCO", "ALTER ANY AVAILABILITY GROUP": "ALAG", "TAKE OWNERSHIP": "TO",
}  # fmt: skip
"""Permission -> `type`. Documented [DOC: sys.database_permissions; sys.server_permissions]."""


def _build_state_columns(permission: accounts.Grant) -> Record:
    return (
        {"state": "D", "state_desc": "DENY"} if permission.denied else {"state": "G", "state_desc": "GRANT"}
    )


def _list_database_permissions(context: StatementContext) -> Iterable[Record]:
    """Yield CONNECT for each user, and the entries of GRANT and DENY."""
    numbers = {str(row["name"]).lower(): row["principal_id"] for row in _list_users(context)}
    own_users = commits.list_database_users(context.world, context.session.server, context.session.database)
    for name in ("dbo", *(user.name.lower() for user in own_users)):
        yield _build_permission_row(0, "DATABASE", 0, numbers[name], "CO", "CONNECT")
    ids = {stored_object.key: stored_object.object_id for stored_object, _ in objects.list_objects(context)}
    schemas = {name.lower(): schema.number for name, schema in objects.list_schemas(context).items()}
    for grant in accounts.read_security(
        context.world, context.session.server, context.session.database
    ).grants:
        securables: dict[str, tuple[int, str, Mapping[str, Scalar]]] = {
            "DATABASE": (0, "DATABASE", dict.fromkeys(("",), 0)),
            "OBJECT": (1, "OBJECT_OR_COLUMN", ids),
            "SCHEMA": (3, "SCHEMA", schemas),
            "USER": (4, "DATABASE_PRINCIPAL", numbers),
        }
        number, kind, securable_ids = securables[grant.kind]
        major = securable_ids.get(grant.name)
        if major is not None and grant.grantee in numbers:
            row = _build_permission_row(
                number,
                kind,
                int(str(major)),
                numbers[grant.grantee],
                _PERMISSION_CODES.get(grant.permission, ""),
                grant.permission,
            )
            yield {**row, **_build_state_columns(grant)}


register_view("sys.database_permissions", _list_database_permissions)


def _list_database_role_members(context: StatementContext) -> Iterable[Record]:
    numbers = {str(row["name"]).lower(): row["principal_id"] for row in _list_users(context)}
    yield {"role_principal_id": DATABASE_ROLE_IDS["db_owner"], "member_principal_id": 1}
    for role, member in accounts.read_security(
        context.world, context.session.server, context.session.database
    ).members:
        if role in numbers and member in numbers:
            yield {"role_principal_id": numbers[role], "member_principal_id": numbers[member]}


register_view("sys.database_role_members", _list_database_role_members)


def _build_permission_row(
    number: int, kind: str, major: int, grantee: object, code: str, name: str
) -> Record:
    return {
        "class": number,
        "class_desc": kind,
        "major_id": major,
        **find_literal_columns("security._build_permission_row"),
        "grantee_principal_id": int(str(grantee)),
        "type": code,
        "permission_name": name,
    }


register_view("sys.server_permissions", _list_permissions)


def _list_role_members(context: StatementContext) -> Iterable[Record]:
    numbers = {str(row["name"]).lower(): row["principal_id"] for row in _list_principals(context)}
    for name in ("sa", *accounts.list_predefined_logins(context.world, context.server.name)):
        if is_server_role_member(context, "sysadmin", name):
            yield {"role_principal_id": 3, "member_principal_id": numbers[name.lower()]}
    for role, member in accounts.read_security(
        context.world, context.session.server, accounts.INSTANCE_SCOPE
    ).members:
        if role in numbers and member in numbers:
            yield {"role_principal_id": numbers[role], "member_principal_id": numbers[member]}


register_view("sys.server_role_members", _list_role_members)


def _list_certificates(context: StatementContext) -> Iterable[Record]:
    if context.session.database != "master":
        return
    for index, item in enumerate(context.server.certificates):
        yield {
            "name": item.name,
            "certificate_id": FIRST_CERTIFICATE_ID + index,
            "principal_id": 1,
            "pvt_key_encryption_type": "MK" if item.has_private_key else "NA",
            "pvt_key_encryption_type_desc": "ENCRYPTED_BY_MASTER_KEY"
            if item.has_private_key
            else "NO_PRIVATE_KEY",
            "is_active_for_begin_dialog": 1,
            "issuer_name": item.subject,
            "cert_serial_number": f"{item.thumbprint:x}",
            "sid": _encode_sid(item.thumbprint),
            "string_sid": f"S-1-9-1-{item.thumbprint}",
            "subject": item.subject,
            "expiry_date": context.get_datetime_value(item.expires_tick),
            "start_date": context.get_datetime_value(item.valid_from_tick),
            "thumbprint": options.format_thumbprint(item.thumbprint),
        }


register_view("sys.certificates", _list_certificates)


def _list_encryption_keys(context: StatementContext) -> Iterable[Record]:
    """Yield the encryption keys of databases, whether they are used or not. Dates are not stored."""
    for copy in context.list_copies():
        if copy.encryption_key:
            yield {
                "database_id": copy.database_id,
                "encryption_state": 3 if copy.encrypted else 1,
                **find_literal_columns("security._list_encryption_keys"),
                "encryptor_thumbprint": options.format_thumbprint(copy.encryption_key),
            }


register_view("sys.dm_database_encryption_keys", _list_encryption_keys)


def _list_symmetric_keys(context: StatementContext) -> Iterable[Record]:
    if context.session.database == "master":
        yield _build_key_row("##MS_ServiceMasterKey##", 102)
        if context.server.master_key:
            yield _build_key_row("##MS_DatabaseMasterKey##", 101)


def _build_key_row(name: str, number: int) -> Record:
    return {
        "name": name,
        **find_literal_columns("security._build_key_row"),
        "symmetric_key_id": number,
    }


register_view("sys.symmetric_keys", _list_symmetric_keys)


DATABASE_ROLE_IDS: Final = {
    "public": 0, "db_owner": 16384, "db_accessadmin": 16385, "db_securityadmin": 16386, "db_ddladmin": 16387,
    "db_backupoperator": 16389, "db_datareader": 16390, "db_datawriter": 16391, "db_denydatareader": 16392,
    "db_denydatawriter": 16393,
}  # fmt: skip
"""Predefined database role -> principal_id. All except public are fixed [DOC: database-level roles]."""


FIRST_CREATED_ROLE_ID: Final = 1000
"""First principal_id of created roles, above the IDs of users. Assumed."""


def _build_role_row(context: StatementContext, name: str, number: int) -> Record:
    sid = _make_database_sid(4, bytes(12) + number.to_bytes(4, "little")) if number else PUBLIC_SID
    return {
        **_build_user_row(context, name, number, sid),
        **_NO_AUTHENTICATION,
        **find_literal_columns("security._build_role_row"),
        "is_fixed_role": int(name in DATABASE_ROLE_IDS and name != "public"),
    }


def get_owner_sid(context: StatementContext, copy: DatabaseCopy) -> bytes:
    """Return the SID of the owner of a database: a created login, a Windows account, or sa."""
    login = context.server.find_login(copy.owner)
    if login is not None:
        return login.sid.to_bytes(16, "big")
    return compute_account_sid(copy.owner) if "\\" in copy.owner else b"\x01"


def _list_users(context: StatementContext) -> Iterable[Record]:
    yield _build_role_row(context, "public", DATABASE_ROLE_IDS["public"])
    copy = context.find_copy(context.session.database)
    yield _build_user_row(context, "dbo", 1, b"\x01" if copy is None else get_owner_sid(context, copy))
    yield {**_build_user_row(context, "guest", 2, b"\x00"), **_NO_AUTHENTICATION}
    for name, number in (("INFORMATION_SCHEMA", 3), ("sys", 4)):
        yield {
            **_build_user_row(context, name, number, b""),
            **_NO_AUTHENTICATION,
            "sid": None,
            "default_schema_name": None,
        }
    own_users = commits.list_database_users(context.world, context.session.server, context.session.database)
    for index, user in enumerate(own_users, start=FIRST_USER_ID):
        yield {
            **_build_user_row(context, user.name, index, get_user_sid(user)),
            **_build_authentication_columns(context, user),
        }
    roles = accounts.read_security(context.world, context.session.server, context.session.database).roles
    for index, name in enumerate(roles, start=FIRST_USER_ID + FIRST_CREATED_ROLE_ID):
        yield _build_role_row(context, name, index)
    monitored = any(server == context.session.server for server, _ in context.world.monitor)
    if monitored and context.session.database.lower() == "msdb":  # [DOC: sp_dbmmonitorupdate]
        yield _build_role_row(context, "dbm_monitor", FIRST_USER_ID + len(own_users))
    for name, number in DATABASE_ROLE_IDS.items():
        if number:
            yield _build_role_row(context, name, number)


def get_current_user_id(context: StatementContext) -> int:
    """Return the principal_id of the connection's user in the current database."""
    name = find_database_user(context, context.session.database) or "guest"
    if name == "dbo":
        return 1
    return next(int(str(row["principal_id"])) for row in _list_users(context) if row["name"] == name)


_NO_AUTHENTICATION: Final[Record] = {"authentication_type": 0, "authentication_type_desc": "NONE"}


def _build_authentication_columns(context: StatementContext, user: User) -> Record:
    """Return the columns that depend on the login of a user [DOC: sys.database_principals]."""
    login = security.find_login_of_user(context.server, user)
    if not user.sid:
        return _NO_AUTHENTICATION
    if "\\" in user.name or (login is not None and login.kind == "WINDOWS"):
        return {
            **find_literal_columns("security._build_authentication_columns"),
        }  # fmt: skip
    return {}


def _build_user_row(context: StatementContext, name: str, number: int, sid: bytes) -> Record:
    return {
        "name": name,
        "principal_id": number,
        **find_literal_columns("security._build_user_row"),
        "create_date": context.get_datetime_value(-86_400_00 * 100),
        "modify_date": context.get_datetime_value(-86_400_00 * 100),
        "sid": sid,
    }


register_view("sys.database_principals", _list_users)


def _list_sysusers(context: StatementContext) -> Iterable[Record]:
    for row in _list_users(context):
        yield {
            "uid": row["principal_id"],
            "status": 0,
            "name": row["name"],
            "sid": row["sid"],
            "hasdbaccess": 1,
            "islogin": int(row["type"] != "R"),
            "isntname": int(row["type"] == "U"),
            "isntuser": int(row["type"] == "U"),
            "issqluser": int(row["type"] == "S"),
            "issqlrole": int(row["type"] == "R"),
        }


register_view("sys.sysusers", _list_sysusers)


def _list_my_permissions(context: StatementContext) -> Iterable[Record]:
    for name in permissions.list_server_permissions(context.version):
        if not has_server_permission(context, name):
            continue
        yield {
            **find_literal_columns("security._list_my_permissions"),
            "permission_name": name,
        }


register_view("sys.fn_my_permissions()", _list_my_permissions)
