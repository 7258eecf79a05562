"""SERVERPROPERTY, DATABASEPROPERTYEX and similar functions: property of a server, connection, database or login."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from engine.availability import replicas
from engine.constants import INTERNAL_VERSION, PRODUCT
from engine.tsql import catalog
from engine.tsql.batches.context import Context
from engine.tsql.catalog import availability
from engine.tsql.scalars.values import Scalar, to_text

_EDITION_IDS: Final = {
    "Enterprise": 1804890536,
    "Standard": -1534726760,
    "Developer": -2117995310,
    "Express": -1592396055,
    "Workgroup": 1333529388,
}
"""EditionID of SERVERPROPERTY. Documented [DOC: SERVERPROPERTY]."""

ENGINE_EDITIONS: Final = {"Standard": 2, "Workgroup": 2, "Enterprise": 3, "Developer": 3, "Express": 4}


def _serverproperty(context: Context, name: Scalar) -> Scalar:
    number, level, product = PRODUCT[context.version]
    enabled = replicas.enabled(context.world, context.session.server)
    manager = int(availability.has_quorum(context)) if enabled else 2
    table: dict[str, Scalar] = {
        "servername": context.server.name,
        "machinename": context.server.name,
        "computernamephysicalnetbios": context.server.computer,
        "instancename": None,
        "edition": f"{context.server.edition} Edition (64-bit)",
        "engineedition": ENGINE_EDITIONS.get(context.server.edition, 3),
        "productversion": number,
        "productlevel": level,
        "collation": "SQL_Latin1_General_CP1_CI_AS",
        "isclustered": int(context.server.clustered),
        "isintegratedsecurityonly": 0,
        "issingleuser": 0,
        "isfulltextinstalled": 0,
        "processid": 1200 + context.server.host,
        "isxtpsupported": int(context.version >= 2014),
        "ishadrenabled": int(enabled) if context.version >= 2012 else None,
        "hadrmanagerstatus": manager if context.version >= 2012 else None,
        "instancedefaultdatapath": "D:\\Data\\" if context.version >= 2012 else None,
        "instancedefaultlogpath": "L:\\Log\\" if context.version >= 2012 else None,
        "islocaldb": 0 if context.version >= 2012 else None,
        "editionid": _EDITION_IDS.get(context.server.edition),
        "lcid": 1033,
        "collationid": 872468488,
        "comparisonstyle": 196609,
        "sqlcharset": 1,
        "sqlcharsetname": "iso_1",
        "sqlsortorder": 52,
        "sqlsortordername": "nocase_iso",
        "licensetype": "DISABLED",
        "numlicenses": None,
        "buildclrversion": "v2.0.50727" if context.version < 2012 else "v4.0.30319",
        "resourceversion": number,
        "filestreamconfiguredlevel": 0,
        "filestreameffectivelevel": 0,
        "filestreamsharename": None,
        "isadvancedanalyticsinstalled": None,
        "ispolybaseinstalled": None,
    }
    update = re.search(r"-(CU\d+)\) \((KB\d+)\)", product)
    if update is not None:
        table.update(zip(("productupdatelevel", "productupdatereference"), update.groups(), strict=True))
    if context.version >= 2014:
        parts = zip(
            ("productmajorversion", "productminorversion", "productbuild"), number.split("."), strict=False
        )
        table.update(parts)
    return table.get(to_text(name).lower())


def _connectionproperty(context: Context, name: Scalar) -> Scalar:
    """Return a column of one's own row of sys.dm_exec_connections, under its name [DOC: CONNECTIONPROPERTY]."""
    rows = catalog.rows_of(context, "sys.dm_exec_connections")
    own = next(row for row in rows if row["session_id"] == context.session.spid)
    wanted = to_text(name).lower()
    known = {
        "net_transport",
        "protocol_type",
        "auth_scheme",
        "local_net_address",
        "local_tcp_port",
        "client_net_address",
    }
    return (
        own["net_transport" if wanted == "physical_net_transport" else wanted]
        if wanted in known | {"physical_net_transport"}
        else None
    )


def _databasepropertyex(context: Context, database: Scalar, name: Scalar) -> Scalar:
    wanted = to_text(database).lower()
    found = (row for row in catalog.rows_of(context, "sys.databases") if str(row["name"]).lower() == wanted)
    row = next(found, None)
    if row is None:
        return None
    closed = row["is_read_only"] or availability.is_primary(context, wanted) == 0
    asked = to_text(name).lower()
    if asked in _DATABASE_COLUMNS:
        return row[_DATABASE_COLUMNS[asked]]
    table = {
        "status": row["state_desc"],
        "recovery": row["recovery_model_desc"],
        "useraccess": row["user_access_desc"],
        "updateability": "READ_ONLY" if closed else "READ_WRITE",
        "collation": row["collation_name"],
        "version": INTERNAL_VERSION[context.version],
        "isinstandby": row["is_in_standby"],
        "istornpagedetectionenabled": int(row["page_verify_option_desc"] == "TORN_PAGE_DETECTION"),
        "lcid": None if row["collation_name"] is None else 1033,
    }
    return table.get(asked)


_DATABASE_COLUMNS: Final = {
    "isansinulldefault": "is_ansi_null_default_on", "isansinullsenabled": "is_ansi_nulls_on",
    "isansipaddingenabled": "is_ansi_padding_on", "isansiwarningsenabled": "is_ansi_warnings_on",
    "isarithmeticabortenabled": "is_arithabort_on", "isautoclose": "is_auto_close_on",
    "isautocreatestatistics": "is_auto_create_stats_on", "isautoshrink": "is_auto_shrink_on",
    "isautoupdatestatistics": "is_auto_update_stats_on",
    "isclosecursorsoncommitenabled": "is_cursor_close_on_commit_on", "isfulltextenabled": "is_fulltext_enabled",
    "islocalcursorsdefault": "is_local_cursor_default", "ismergepublished": "is_merge_published",
    "isnullconcat": "is_concat_null_yields_null_on", "isnumericroundabortenabled": "is_numeric_roundabort_on",
    "isparameterizationforced": "is_parameterization_forced", "ispublished": "is_published",
    "isquotedidentifiersenabled": "is_quoted_identifier_on",
    "isrecursivetriggersenabled": "is_recursive_triggers_on", "issubscribed": "is_subscribed",
    "issyncwithbackup": "is_sync_with_backup",
}  # fmt: skip
"""Properties that are columns of sys.databases. Documented [DOC: DATABASEPROPERTYEX]."""

_STATES: Final = {
    "isemergencymode": "EMERGENCY", "isinload": "RESTORING", "isinrecovery": "RECOVERING", "isoffline": "OFFLINE",
    "issuspect": "SUSPECT", "isnotrecovered": "RECOVERY_PENDING",
}  # fmt: skip


def _databaseproperty(context: Context, database: Scalar, name: Scalar) -> Scalar:
    """Return the older function: 1 or 0 for a state or mode, else as DATABASEPROPERTYEX [DOC: DATABASEPROPERTY]."""

    def ex(wanted: str) -> Scalar:
        return _databasepropertyex(context, database, wanted)

    asked = to_text(name).lower()
    if ex("Status") is None:
        return None
    if asked in _STATES:
        return int(ex("Status") == _STATES[asked])
    if asked in ("issingleuser", "isdboonly"):
        return int(ex("UserAccess") == ("SINGLE_USER" if asked == "issingleuser" else "RESTRICTED_USER"))
    values = {
        "isreadonly": ex("Updateability") == "READ_ONLY",
        "istrunclog": ex("Recovery") == "SIMPLE",
        "isbulkcopy": ex("Recovery") != "FULL",
        "isshutdown": False,
    }
    return int(values[asked]) if asked in values else ex(asked)


def _loginproperty(context: Context, login: Scalar, name: Scalar) -> Scalar:
    """Evaluate LOGINPROPERTY of a login with a password; nothing is locked or expired here [DOC: LOGINPROPERTY]."""
    wanted = to_text(login).casefold()
    rows = catalog.rows_of(context, "sys.sql_logins")
    row = next((row for row in rows if to_text(row["name"]).casefold() == wanted), None)
    if row is None:
        return None
    table = {
        **dict.fromkeys(("badpasswordcount", "historylength", "isexpired", "islocked", "ismustchange"), 0),
        **dict.fromkeys(("badpasswordtime", "lockouttime"), "1900-01-01 00:00:00.000"),
        "defaultdatabase": row["default_database_name"],
        "defaultlanguage": row["default_language_name"],
        "passwordhash": row["password_hash"],
        "passwordlastsettime": row["modify_date"],
        "passwordhashalgorithm": 1 if context.version < 2012 else 2,
    }
    return table.get(to_text(name).lower())


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "serverproperty": _serverproperty,
    "connectionproperty": _connectionproperty,
    "databasepropertyex": _databasepropertyex,
    "databaseproperty": _databaseproperty,
    "loginproperty": _loginproperty,
}
