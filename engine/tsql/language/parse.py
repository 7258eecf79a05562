"""Parser for one statement of the command grammar (commands.lark)."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from importlib import resources
from typing import Any, Final

from lark import Lark, Token, Transformer, UnexpectedInput
from lark.lexer import PatternStr
from msgspec import Struct

from engine.tsql.language import group_statements as gs
from engine.tsql.language import lexer
from engine.tsql.language import statements as s
from engine.tsql.language.lexer import SqlSyntaxError, build_unexpected_token_error, remove_comments
from engine.tsql.language.option_table import parse_create_database_words
from engine.tsql.language.permissions import COLUMNS_SUFFIX, SERVER_PERMISSIONS

Children = list[Any]
StatementFields = dict[str, Any]
"""Fields of a statement by name, collected from its clauses."""


def parse_command(text: str, tokens: Sequence[lexer.Token], next_token: lexer.Token) -> s.Statement:
    """Parse the statement with the tokens *tokens* in the batch *text*.

    *next_token*: the token after the statement. Raises SqlSyntaxError 102 or 156.
    """
    try:
        tree = PARSER.parse(remove_comments(text, tokens))
    except UnexpectedInput as problem:
        raise _locate_error(tokens, next_token, problem) from None
    for rule, clause in UNSIMULATED_CLAUSES.items():
        if next(tree.find_data(rule), None) is not None:
            return s.UnsimulatedStatement(clause)
    statement = _BUILDER.transform(tree)
    assert isinstance(statement, s.Statement), statement
    return statement


def _locate_error(
    command_tokens: Sequence[lexer.Token], next_token: lexer.Token, problem: UnexpectedInput
) -> SqlSyntaxError:
    error_token = getattr(problem, "token", None)
    index = problem.pos_in_stream
    if index is not None and (error_token is None or error_token.type != "$END"):
        error_index = command_tokens[0].start + index
        return next(
            (build_unexpected_token_error(token) for token in command_tokens if token.end > error_index),
            build_unexpected_token_error(command_tokens[-1]),
        )
    return build_unexpected_token_error(
        command_tokens[-1] if next_token.kind == "end" or next_token.is_operator(";") else next_token
    )


def list_following_words(statement: str) -> tuple[set[str], set[str]]:
    """Return (names of the grammar terminals that can follow, keywords among these terminals).

    *statement*: beginning of a command.
    """
    parser = PARSER.parse_interactive(statement)
    try:
        parser.exhaust_lexer()
    except UnexpectedInput:
        return set(), set()
    accepted: set[str] = parser.accepts()  # type: ignore[no-untyped-call]
    words: set[str] = set()
    for terminal in PARSER.terminals:
        if terminal.name in accepted:
            words |= _list_keywords(terminal.pattern)
    return accepted, words


def _list_keywords(pattern: object) -> set[str]:
    """Return the keywords that a terminal matches; empty for names, numbers and symbols."""
    if isinstance(pattern, PatternStr):
        return {pattern.value} if pattern.value.isidentifier() else set()
    raw = str(getattr(pattern, "value", ""))
    match = re.fullmatch(r"\(?([A-Z_0-9|]+)\)?(?:\\b|\(\?=.*\))", raw)
    return set(match[1].split("|")) if match is not None else set()


def unquote_text(raw: str) -> str:
    """Return the content of a string or name token, without its quotes."""
    if raw.endswith("'"):
        return raw[raw.index("'") + 1 : -1].replace("''", "'")
    close = raw[-1]
    return raw[1:-1].replace(close * 2, close)


# --- helpers of the table below -------------------------------------------------------------------------


def _merge_parts(children: Children) -> StatementFields:
    """Return one dictionary with the entries of all dictionaries in *children*."""
    return {name: value for part in children if isinstance(part, dict) for name, value in part.items()}


def _to_upper(token: object) -> str:
    return str(token).upper()


def _join_option_parts(children: Children) -> str:
    """Return the parts of an option, separated by blanks."""
    return " ".join(_join_option_parts(part) if isinstance(part, list) else str(part) for part in children)


def _build_number(c: Children) -> int | float:
    raw = str(c[-1]).lstrip("$ ")
    value = int(raw) if raw.isdigit() else float(raw)
    return -value if c[0] == "-" else value


def _build_exact_number(c: Children) -> int | float | str:
    """Return a number, or its text if a float cannot represent it exactly.

    The text is converted to the type of the parameter when the statement runs.
    """
    value = _build_number(c)
    if isinstance(value, int):
        return value
    text = "".join(map(str, c)).replace("$", "")
    return value if Decimal(repr(value)) == Decimal(text) else text


def _build_bytes(c: Children) -> bytes:
    """Convert a binary literal to bytes: 0xF is equivalent to 0x0F."""
    digits = str(c[0])[2:]
    return bytes.fromhex("0" * (len(digits) % 2) + digits)


def _build_limit(c: Children) -> int:
    unit = _to_upper(c[1]) if len(c) > 1 else "MB"
    return max(1, round(int(c[0]) * {"KB": 1 / 1024, "MB": 1.0, "GB": 1024.0}[unit]))


def _build_set_options(c: Children) -> s.Statement:
    options = tuple(part for part in c[1:] if isinstance(part, tuple))
    return s.SetDatabaseOptionStatement(c[0], options, _merge_parts(c).get("termination", ""))


def _build_alter_files(c: Children) -> s.Statement:
    action = " ".join(_to_upper(part) for part in c[1:] if isinstance(part, Token))
    return s.AlterDatabaseFilesStatement(
        c[0], action, tuple(name_pair for part in c if isinstance(part, list) for name_pair in part)
    )


def _flatten_texts(group: Children) -> tuple[str, ...]:
    """Return all texts in parentheses, including nested ones, as a flat tuple."""
    inner = [_flatten_texts(part) if isinstance(part, list) else (str(part),) for part in group]
    return tuple(text for texts in inner for text in texts if text not in "(),")


def _build_group_option(c: Children) -> list[tuple[str, str | tuple[str, ...]]]:
    """Return (name, value) for each part of an option of an availability group, and of its nested options."""
    name, value = _to_upper(c[0]), c[1] if len(c) > 1 else ""
    if isinstance(value, dict):
        return [(f"{name} {inner}", inner_value) for inner, inner_value in value["options"]]
    option_pair = (name, _flatten_texts(value) if isinstance(value, list) else value)
    if not isinstance(value, list) or not any(isinstance(part, list) for part in value):
        return [option_pair]
    parts = [_flatten_texts([part]) for part in value]
    option_values = [
        text
        for number, texts in enumerate((part for part in parts if part), 1)
        for text in [str(number)] * len(texts)
    ]
    return [option_pair, (f"{name} PRIORITY", tuple(option_values))]


def _build_alter_group(c: Children) -> s.Statement:
    if c[1]["action"] == "DISTRIBUTED":
        return s.UnsimulatedStatement("ALTER AVAILABILITY GROUP of a distributed availability group")
    return gs.AlterGroupStatement(c[0], **c[1])


def _build_create_group(c: Children) -> s.Statement:
    if "action" in c[-1]:
        return s.UnsimulatedStatement("CREATE AVAILABILITY GROUP … WITH (DISTRIBUTED)")
    return gs.CreateGroupStatement(c[0], **_merge_parts(c[1:]))


def _build_authentication(c: Children) -> StatementFields:
    words = " ".join("CERTIFICATE" if kind == "CERTIFICATE" else f"WINDOWS {name}" for kind, name in c)
    return {"authentication": words, "certificate": dict(c).get("CERTIFICATE")}


def _build_payload(c: Children) -> StatementFields:
    kind = _to_upper(c[0])
    return {"payload": "DATABASE_MIRRORING" if kind == "DATA_MIRRORING" else kind, **_merge_parts(c)}


def _build_master_key(c: Children) -> s.Statement:
    words = c[-1]
    marks = [index for index, word in enumerate(words) if _to_upper(word) == "PASSWORD"]
    password = words[marks[0] + 1] if marks and marks[0] + 1 < len(words) else None
    return s.MasterKeyStatement(password)


def _build_login_option(c: Children) -> list[tuple[str, object]]:
    """Return (name, value) pairs for an option of a login.

    The first pair is the option itself. The other pairs are OLD_PASSWORD and the words after the
    option's value, such as MUST_CHANGE.
    """
    if _to_upper(c[0]) == "PASSWORD" and isinstance(c[1], Token) and c[1].type == "NAME":
        raise SqlSyntaxError(c[1].line or 1, 102, str(c[1]))
    more_options = [
        (_to_upper(part), None) if isinstance(part, Token) else ("OLD_PASSWORD", part) for part in c[2:]
    ]
    return [_build_option(c[:2]), *more_options]


def _build_login(c: Children) -> StatementFields:
    parts = _merge_parts(c)
    options = parts.get("options", ())
    options_by_name = dict(options)
    return {**parts, "password": options_by_name.get("PASSWORD"), "options": options}


def _build_alter_user(c: Children) -> s.Statement:
    options = _merge_parts(c)["options"]
    login = dict(options).get("LOGIN")
    return s.AlterUserStatement(name=c[0], login=None if login is None else str(login), options=options)


def _build_permission_name(c: Children) -> str:
    """Return the words of a permission. If it is limited to columns, append COLUMNS_SUFFIX."""
    words = [_to_upper(word) for word in c if isinstance(word, Token)]
    return " ".join(words) + (COLUMNS_SUFFIX if len(words) < len(c) else "")


def _build_securable(c: Children, has_columns: bool) -> StatementFields:
    return {"kind": " ".join(map(_to_upper, c[:-1])) or "OBJECT", "name": c[-1], "has_columns": has_columns}


def _build_permission(c: Children) -> s.Statement:
    permissions, grantees = (part for part in c if isinstance(part, tuple))
    parts = _merge_parts(c)
    if parts.get("has_columns"):
        permissions = tuple(f"{name}{COLUMNS_SUFFIX}" for name in permissions)
    default = "SERVER" if SERVER_PERMISSIONS.intersection(permissions) else "DATABASE"
    return s.PermissionStatement(
        _to_upper(c[0]), permissions, parts.get("kind", default), parts.get("name", ""), grantees
    )


def _build_role(c: Children) -> s.Statement:
    verb, *rest_parts = (_to_upper(part) for part in c if isinstance(part, Token))
    names = [str(part) for part in c if isinstance(part, str) and not isinstance(part, Token)]
    return s.ChangeRoleStatement(
        verb, names[0], server="SERVER" in rest_parts, if_exists=True in c, **_merge_parts(c)
    )


def _get_backup_kind(token: object) -> str:
    return "DATABASE" if _to_upper(token) == "DATABASE" else "LOG"


def _build_backup(c: Children) -> s.Statement:
    parts = _merge_parts(c)
    options = (*parts.get("options", ()), *parts.get("partial", ()))
    return s.BackupStatement(_get_backup_kind(c[0]), c[1], parts.get("devices", ()), options)


def _build_restore(c: Children) -> s.Statement:
    parts = _merge_parts(c)
    options = (*parts.get("options", ()), *parts.get("partial", ()))
    return s.RestoreStatement(
        _get_backup_kind(c[0]), c[1], parts.get("devices", ()), options, parts.get("moves", ())
    )


def _build_with_options(c: Children) -> StatementFields:
    moves = tuple(part[1:] for part in c if part[0] == "MOVE")
    return {"options": tuple(part for part in c if part[0] != "MOVE"), "moves": moves}


def _build_option(c: Children) -> tuple[str, object]:
    """Return (name in capitals, value) of an option; None without a value."""
    value = c[1] if len(c) > 1 else None
    if isinstance(value, list):
        value = _join_option_parts(value)
    return _to_upper(c[0]), str(value) if isinstance(value, Token) else value


def _build_create_database(c: Children) -> s.Statement:
    parts = _merge_parts(c[1:])
    words = [word for part in c[1:] for word in part.get("words", ())]
    files, options = parse_create_database_words(words)
    return s.CreateDatabaseStatement(c[0], parts.get("snapshot_of"), parts.get("attach", ""), files, options)


def _build_create_words(c: Children) -> StatementFields:
    return {"words": [str(word) for part in c for word in (part if isinstance(part, list) else [part])]}


def _build_dbcc(c: Children) -> s.Statement:
    parts = _merge_parts(c)
    return s.DbccStatement(_to_upper(c[0]), parts.get("arguments", ()), parts.get("words", ()))


def _build_raiserror(c: Children) -> s.Statement:
    message, severity, state, *arguments = (part for part in c if not isinstance(part, dict))
    return s.RaiserrorStatement(message, severity, state, tuple(arguments), _merge_parts(c).get("words", ()))


def _build_execute(c: Children) -> s.Statement:
    parts = _merge_parts(c)
    procedure = next(part for part in c if not isinstance(part, dict))
    target = procedure.name if isinstance(procedure, s.VariableReference) else ""
    return s.ExecuteProcedureStatement(
        "" if target else procedure, parts.get("arguments", ()), parts.get("returns", ""), target
    )


def _build_argument(c: Children) -> s.ProcedureArgument:
    output = isinstance(c[-1], Token) and c[-1].type == "OUTPUT"
    values = c[:-1] if output else c
    name = values[0]["argument"] if isinstance(values[0], dict) else ""
    value = values[-1]
    if output and not isinstance(value, s.VariableReference):
        raise SqlSyntaxError(c[-1].line or 1, 179)
    narrow = isinstance(value, _StringLiteral)
    if value is DEFAULT_ARGUMENT:
        return s.ProcedureArgument(name, None, default=True)
    return s.ProcedureArgument(
        name, value.text if isinstance(value, _StringLiteral) else value, output, narrow and not value.wide
    )


DEFAULT_ARGUMENT: Final = object()
"""Marker for the keyword DEFAULT in place of an argument of EXEC."""


class _StringLiteral(Struct, frozen=True):
    """String literal. *wide* is True for the prefix N."""

    text: str
    wide: bool


def _build_fetch(c: Children) -> s.Statement:
    parts = _merge_parts(c)
    name = next(part for part in c if isinstance(part, str))
    return s.FetchCursorStatement(
        parts.get("direction", "NEXT"),
        parts.get("offset"),
        name,
        parts.get("into", ()),
        parts.get("is_global", False),
    )


def _build_drop(c: Children) -> s.Statement:
    kind = _to_upper(c[0]).replace("PROCEDURE", "PROC")
    return s.DropStatement(kind, c[-1], len(c) > 2)


UNSIMULATED_CLAUSES: Final = {
    "mirror_to": "BACKUP … MIRROR TO",
    "other_address": "CREATE or ALTER ENDPOINT … AS TCP with more than LISTENER_PORT and LISTENER_IP",
    "other_payload": "CREATE or ALTER ENDPOINT with more than ROLE, AUTHENTICATION and ENCRYPTION",
    "endpoint_affinity": "CREATE or ALTER ENDPOINT … AFFINITY",
    "certificate_dialog": "CREATE CERTIFICATE … ACTIVE FOR BEGIN_DIALOG",
    "grant_option": "GRANT OPTION FOR",
    "with_grant_option": "WITH GRANT OPTION",
    "distributed": "BEGIN DISTRIBUTED TRANSACTION",
    "mark": "BEGIN TRANSACTION … WITH MARK",
    "mark_after": "RESTORE … WITH STOPATMARK or STOPBEFOREMARK",
    "role_name": "ALTER ROLE … WITH NAME",
    "as_grantor": "GRANT, DENY or REVOKE … AS grantor",
}
"""Grammar rule -> clause that would change a statement's meaning. The statement is reported as not simulated."""

_RULE_BUILDERS: Final[dict[str, Callable[[Children], object]]] = {
    # -- words
    "plain_name": lambda c: str(c[0]),
    "bytes": _build_bytes,
    "keyword": lambda c: str(c[0]),
    "bracketed": lambda c: unquote_text(str(c[0])),
    "string": lambda c: unquote_text(str(c[0])),
    "variable": lambda c: s.VariableReference(str(c[0]).lower()),
    "number": _build_number,
    "exact": _build_exact_number,
    "null": lambda c: None,
    "default": lambda c: DEFAULT_ARGUMENT,
    "qualified": lambda c: ".".join(c),
    "qualified_part": lambda c: c[0] if c else "",
    "distributed": lambda c: None,
    "mark": lambda c: None,
    "names": tuple,
    "group": lambda c: ["(", *c, ")"],
    "group_item": lambda c: c[0] if c else ",",
    "any_word": lambda c: c[0] if c else ",",
    "words": lambda c: {"words": tuple(_to_upper(word) for word in c if str(word.type) == "NAME")},
    "merged": _merge_parts,
    "owner": lambda c: {"owner": c[0]},
    # -- availability groups
    "group_failover": lambda c: {"action": "FAILOVER"},
    "group_force": lambda c: {"action": "FORCE"},
    "group_offline": lambda c: {"action": "OFFLINE"},
    "group_join": lambda c: {"action": "JOIN", **_merge_parts(c)},
    "group_set": lambda c: {"action": "SET", **_merge_parts(c)},
    "group_databases": lambda c: {"databases": c[0]},
    "group_replicas": lambda c: {"replicas": tuple(c)},
    "group_listener": lambda c: {"listener": (c[0], c[1]["options"])},
    "group_verb": lambda c: {
        "action": f"{_to_upper(c[0])} {'REPLICA' if 'replicas' in c[1] else 'DATABASE'}",
        **c[1],
    },
    "listener_verb": lambda c: {"action": f"{_to_upper(c[0])} LISTENER", "listener": c[1], **_merge_parts(c)},
    "listener_restart": lambda c: {"action": "RESTART LISTENER", "listener": c[0]},
    "group_permission": lambda c: {"action": _to_upper(c[0])},
    "group_distributed": lambda c: {"action": "DISTRIBUTED"},
    "group_replica": lambda c: (c[0], _merge_parts(c).get("options", ())),
    "group_option": _build_group_option,
    "group_options": lambda c: {"options": tuple(pair for pairs in c for pair in pairs)},
    "listener_ips": lambda c: [_flatten_texts(address) for address in c],
    "listener_static": lambda c: [
        ("ADD IP" if isinstance(c[0], Token) else "WITH IP", address) for address in c[-1]
    ],
    "listener_dhcp": lambda c: [("DHCP", _flatten_texts(c[0]) if c else "")],
    "listener_tcp": lambda c: [("PORT", str(c[0]))],
    "listener": lambda c: {"options": tuple(pair for pairs in c for pair in pairs)},
    "group_members": _merge_parts,
    "alter_group": _build_alter_group,
    "create_group": _build_create_group,
    "drop_group": lambda c: gs.DropGroupStatement(*c),
    "hadr_join": lambda c: gs.SetHadrGroupStatement(*c),
    "hadr_off": lambda c: gs.SetHadrOffStatement(*c),
    "hadr_suspend": lambda c: gs.SetHadrSuspendStatement(*c),
    "hadr_resume": lambda c: gs.SetHadrResumeStatement(*c),
    # -- ALTER DATABASE
    "partner_set": lambda c: gs.SetPartnerStatement(*c),
    "partner_failover": lambda c: gs.SetPartnerFailoverStatement(*c),
    "partner_force": lambda c: gs.SetPartnerForceStatement(*c),
    "partner_off": lambda c: gs.SetPartnerOffStatement(*c),
    "partner_suspend": lambda c: gs.SetPartnerSuspendStatement(*c),
    "partner_resume": lambda c: gs.SetPartnerResumeStatement(*c),
    "partner_safety": lambda c: gs.SetPartnerSafetyStatement(c[0], _to_upper(c[1])),
    "partner_timeout": lambda c: gs.SetPartnerTimeoutStatement(c[0], int(c[1])),
    "unlimited": lambda c: None,
    "limit": _build_limit,
    "redo_queue": lambda c: gs.SetPartnerRedoQueueStatement(*c),
    "witness_set": lambda c: gs.SetWitnessStatement(*c),
    "witness_off": lambda c: gs.SetWitnessOffStatement(*c),
    "option_value": _join_option_parts,
    "option_tail": _join_option_parts,
    "set_option": lambda c: (_to_upper(c[0]), _to_upper(c[1]) if len(c) > 1 else ""),
    "termination": lambda c: {"termination": _to_upper(_join_option_parts(c))},
    "set_options": _build_set_options,
    "modify_name": lambda c: s.AlterDatabaseFilesStatement(c[0], "MODIFY NAME", (("NAME", c[-1]),)),
    "collate": lambda c: s.AlterDatabaseFilesStatement(c[0], "COLLATE", (("COLLATE", c[1]),)),
    "file_value": _join_option_parts,
    "file_property": lambda c: (_to_upper(c[0]), c[1] if len(c) > 1 else None),
    "file_target": lambda c: c if isinstance(c[0], tuple) else [("NAME", c[0])],
    "file_place": lambda c: None,
    "file_group": lambda c: [("FILEGROUP", c[0])],
    "alter_files": _build_alter_files,
    "scoped_configuration": lambda c: s.UnsimulatedStatement("ALTER DATABASE SCOPED CONFIGURATION"),
    # -- endpoints
    "endpoint_state": lambda c: {"state": _to_upper(c[0])},
    "all_ips": lambda c: "ALL",
    "one_ip": lambda c: str(c[0]).replace(" ", ""),
    "listener_port": lambda c: {"port": int(c[0])},
    "listener_ip": lambda c: {"ip": c[0]},
    "other_address": lambda c: {},
    "endpoint_protocol": lambda c: {"protocol": _to_upper(c[0]), **_merge_parts(c)},
    "auth_windows": lambda c: ("WINDOWS", _to_upper(c[0]) if c else "NEGOTIATE"),
    "auth_certificate": lambda c: ("CERTIFICATE", c[0]),
    "authentication": _build_authentication,
    "encryption": lambda c: {
        "encryption": _to_upper(c[0]),
        "algorithms": tuple(_to_upper(name) for name in c[1:]),
    },
    "endpoint_role": lambda c: {"role": _to_upper(c[0])},
    "other_payload": lambda c: {},
    "endpoint_affinity": lambda c: {},
    "endpoint_payload": _build_payload,
    "create_endpoint": lambda c: s.CreateEndpointStatement(name=c[0], **_merge_parts(c)),
    "alter_endpoint": lambda c: s.AlterEndpointStatement(name=c[0], **_merge_parts(c)),
    # -- keys and certificates
    "key_tail": lambda c: c,
    "master_key": _build_master_key,
    "certificate_file": lambda c: {"file": c[0]},
    "certificate_from": lambda c: {"file": c[1]},
    "certificate_password": lambda c: {"password": c[0]},
    "key_password": lambda c: {"decryption": c[0]},
    "certificate_dialog": lambda c: {},
    "certificate_subject": lambda c: {"subject": c[0]},
    "certificate_start": lambda c: {"start_date": c[0]},
    "certificate_expiry": lambda c: {"expiry_date": c[0]},
    "private_key_file": lambda c: {"private_key_file": c[0]},
    "create_certificate": lambda c: s.CreateCertificateStatement(name=c[0], **_merge_parts(c)),
    "backup_certificate": lambda c: s.BackupCertificateStatement(c[0], c[1], **_merge_parts(c)),
    # -- logins, users, permissions
    "login_option": _build_login_option,
    "login_options": lambda c: {"options": tuple(pair for pairs in c for pair in pairs)},
    "login_state": lambda c: {"state": _to_upper(c[0])},
    "login_windows": lambda c: {"windows": True, **_merge_parts(c)},
    "login_certificate": lambda c: {"certificate": c[0]},
    "login_sql": _merge_parts,
    "create_login": lambda c: s.CreateLoginStatement(name=c[0], **_build_login(c)),
    "alter_login": lambda c: s.AlterLoginStatement(name=c[0], **_build_login(c)),
    "user_login": lambda c: {"login": c[0]},
    "user_certificate": lambda c: {"options": (("CERTIFICATE", c[0]),)},
    "user_without": lambda c: {"without_login": True},
    "create_user": lambda c: s.CreateUserStatement(name=c[0], **_merge_parts(c)),
    "alter_user": _build_alter_user,
    "grant_option": lambda c: None,
    "permission_name": _build_permission_name,
    "permission_names": tuple,
    "securable": lambda c: _build_securable([part for part in c if part is not True], True in c),
    "securable_columns": lambda c: True,
    "permission_tail": lambda c: None,
    "with_grant_option": lambda c: None,
    "as_grantor": lambda c: None,
    "mark_after": lambda c: None,
    "role_member": lambda c: {"verb_of_member": _to_upper(c[0]).split()[0], "member": str(c[1])},
    "role_name": lambda c: None,
    "role": _build_role,
    "permission": _build_permission,
    "authorization": lambda c: s.AlterAuthorizationStatement(
        " ".join(map(_to_upper, c[:-2])) or "OBJECT", c[-2], c[-1]
    ),
    # -- backup, restore, databases
    "device": lambda c: c[1],
    "logical_device": lambda c: c[0] if isinstance(c[0], s.VariableReference) else s.LogicalDevice(c[0]),
    "to_devices": lambda c: {"devices": tuple(c)},
    "from_devices": lambda c: {"devices": tuple(c)},
    "mirror_to": lambda c: None,
    "move": lambda c: ("MOVE", c[0], c[1]),
    "with_option": _build_option,
    "with_group": _build_option,
    "with_options": _build_with_options,
    "file_list": lambda c: {"partial": (("PARTIAL", None),)},
    "backup": _build_backup,
    "restore": _build_restore,
    "restore_snapshot": lambda c: s.RestoreStatement(_get_backup_kind(c[0]), c[1], snapshot=c[2]),
    "restore_info": lambda c: s.RestoreInformationStatement(
        _to_upper(c[0]), c[1]["devices"], _merge_parts(c).get("options", ())
    ),
    "snapshot_of": lambda c: {"snapshot_of": c[0]},
    "create_for": lambda c: {"attach": _to_upper(c[0]), **(_build_create_words(c[1:]) if c[1:] else {})},
    "create_other": _build_create_words,
    "create_database": _build_create_database,
    "create_key": lambda c: s.CreateEncryptionKeyStatement(_to_upper(c[-2]), c[-1]),
    # -- instance
    "shutdown": lambda c: s.ShutdownStatement(bool(c)),
    "use": lambda c: s.UseStatement(c[0]),
    "dbcc_list": lambda c: {"arguments": tuple(str(part) if isinstance(part, Token) else part for part in c)},
    "dbcc": _build_dbcc,
    "reconfigure": lambda c: s.ReconfigureStatement(),
    "checkpoint": lambda c: s.CheckpointStatement(),
    "kill": lambda c: s.KillStatement(c[0]),
    "kill_status": lambda c: s.KillStatement(c[0], status_only=True),
    "begin_transaction": lambda c: s.TransactionStatement("BEGIN", c[0] if c else ""),
    "durability": lambda c: {"delayed": _to_upper(c[0]) == "ON"},
    "commit": lambda c: s.TransactionStatement("COMMIT", "", _merge_parts(c).get("delayed", False)),
    "rollback": lambda c: s.TransactionStatement("ROLLBACK", c[0] if c else ""),
    "save": lambda c: s.TransactionStatement("SAVE", c[0]),
    "waitfor": lambda c: s.WaitforStatement(_to_upper(c[0]), c[1]),
    "raiserror": _build_raiserror,
    "raiserror_old": lambda c: s.RaiserrorStatement(c[1], 16, 1, number=c[0]),
    "throw": lambda c: s.ThrowStatement(*c),
    # -- procedures and cursors
    "returns": lambda c: {"returns": str(c[0]).lower()},
    "argument_name": lambda c: {"argument": str(c[0]).lower()},
    "text_argument": lambda c: _StringLiteral(unquote_text(str(c[0])), str(c[0])[0] in "Nn"),
    "argument": _build_argument,
    "arguments": lambda c: {"arguments": tuple(c)},
    "execute": _build_execute,
    "open_cursor": lambda c: s.CursorStatement("OPEN", c[-1], len(c) > 1),
    "close_cursor": lambda c: s.CursorStatement("CLOSE", c[-1], len(c) > 1),
    "deallocate_cursor": lambda c: s.CursorStatement("DEALLOCATE", c[-1], len(c) > 1),
    "global_word": lambda c: {"is_global": True},
    "direction": lambda c: {"direction": _to_upper(c[0]), "offset": c[1] if len(c) > 1 else None},
    "into": lambda c: {"into": tuple(str(name).lower() for name in c)},
    "fetch": _build_fetch,
    # -- DROP
    "if_exists": lambda c: True,
    "drop_names": tuple,
    "alter_schema": lambda c: s.TransferObjectStatement(
        c[0], c[-1], _to_upper(c[1]) if len(c) > 2 else "OBJECT"
    ),
    "drop": _build_drop,
    "drop_master_key": lambda c: s.DropStatement("MASTER KEY", ("",)),
}
"""Grammar rule -> function that builds a value from the values of the rule's children."""


class _StatementBuilder(Transformer[Token, object]):
    """Transformer of a parse tree into a statement.

    _RULE_BUILDERS contains the function for each grammar rule.
    """

    def __default__(self, data: object, children: Children, meta: object) -> object:
        return _RULE_BUILDERS[str(data)](children)


_BUILDER: Final = _StatementBuilder()
PARSER: Final = Lark(
    resources.files("engine.tsql.language").joinpath("commands.lark").read_text(encoding="utf-8"),
    parser="lalr",
    lexer="contextual",
    maybe_placeholders=False,
)
