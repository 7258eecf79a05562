"""Rules of WITH SCHEMABINDING for names, DROP and ALTER, and execution of statements that change schemas.

[DOC: CREATE VIEW; CREATE FUNCTION]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import Message, SqlError
from engine.tsql import catalog
from engine.tsql.batches import objects
from engine.tsql.batches.context import StatementContext
from engine.tsql.language import statements as s
from engine.tsql.language.lexer import Token, get_name, tokenize
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import to_text

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine


def check_definition(context: StatementContext, kind: str, name: str, definition: str) -> None:
    """Check the names in the *definition* of a schema-bound module. *kind* is "view" or "function".

    Raise 1054 for `*`, 4512 for a name without a schema. Raise 4513 if the definition uses a module
    that is not schema-bound. A definition without SCHEMABINDING is not checked.
    """
    tokens = tokenize(definition)
    if not _is_schema_binding(tokens):
        return
    for before, token in pairwise(tokens):
        if token.is_operator("*") and (
            before.upper in ("SELECT", "DISTINCT") or before.is_operator(",", ".")
        ):
            raise SqlError(1054, "*")
    for parts in _list_source_names(tokens):
        if len(parts) != 2:
            raise SqlError(4512, kind, name, ".".join(parts))
        bound_object = objects.find_object(context, parts)
        if isinstance(bound_object, objects.UserView | objects.UserFunction) and not _is_schema_binding(
            tokenize(bound_object.definition)
        ):
            raise SqlError(4513, kind, name, ".".join(parts))


def check_object_unbound(context: StatementContext, verb: str, parts: tuple[str, ...]) -> None:
    """Raise 3729 if a schema-bound module uses the object. *verb* is `DROP TABLE` or ALTER."""
    for module, _ in _find_bound_modules(context, parts):
        raise SqlError(3729, verb, ".".join(parts), module)


def is_schema_bound(context: StatementContext, parts: tuple[str, ...], column: str = "") -> bool:
    """Return whether a schema-bound module uses the object.

    With *column*, return whether a schema-bound module uses that column of the object.
    """
    return any(
        not column or contains_identifier(tokens, column) for _, tokens in _find_bound_modules(context, parts)
    )


def contains_identifier(tokens: Sequence[Token], name: str) -> bool:
    """Return whether one of the tokens is the identifier *name*."""
    names = (get_name(token).lower() for token in tokens if token.kind in ("word", "quoted"))
    return name.lower() in names


def check_column_unbound(context: StatementContext, action: str, parts: tuple[str, ...], column: str) -> None:
    """Raise 5074 and 4922 if a schema-bound module uses the column.

    *action* is ALTER COLUMN or DROP COLUMN.
    """
    for module, tokens in _find_bound_modules(context, parts):
        if contains_identifier(tokens, column):
            error = SqlError(5074, "object", module, "column", column, also=(4922,))
            error.title = f"ALTER TABLE {action}"
            raise error


def _find_bound_modules(
    context: StatementContext, parts: tuple[str, ...]
) -> Iterator[tuple[str, Sequence[Token]]]:
    """Yield (name, tokens) of each schema-bound module that uses the object."""
    target_name = ((len(parts) > 1 and parts[-2].lower()) or "dbo", parts[-1].lower())
    for key, item in objects.list_objects(context):
        if (
            not isinstance(item, objects.UserView | objects.UserFunction)
            or key.name.lower() == target_name[1]
        ):
            continue
        tokens = tokenize(item.definition)
        if not _is_schema_binding(tokens):
            continue
        names = [get_name(token).lower() for token in tokens]
        if any(
            (names[name_index], names[name_index + 2]) == target_name
            and tokens[name_index + 1].is_operator(".")
            for name_index in range(len(names) - 2)
        ):
            yield key.name, tokens


def _is_schema_binding(tokens: Sequence[Token]) -> bool:
    return any(token.upper == "SCHEMABINDING" for token in tokens)


def _list_source_names(tokens: Sequence[Token]) -> Iterator[tuple[str, ...]]:
    """Yield the names of tables and views after FROM and JOIN, without common table expressions."""
    own_names = {
        get_name(name).lower()
        for name, word, bracket in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if word.upper == "AS" and bracket.is_operator("(")
    }
    for token_position, token in enumerate(tokens):
        if token.upper not in ("FROM", "JOIN"):
            continue
        token_index, parts = token_position + 1, []
        while token_index < len(tokens) and tokens[token_index].kind in ("word", "quoted"):
            parts.append(get_name(tokens[token_index]))
            if token_index + 1 >= len(tokens) or not tokens[token_index + 1].is_operator("."):
                break
            token_index += 2
        if parts and not (len(parts) == 1 and parts[0].lower() in own_names):
            yield tuple(parts)


# --- CREATE SCHEMA, ALTER SCHEMA … TRANSFER, DROP SCHEMA [DOC: each statement's page] ---------------------

CREATED_SCHEMA_ID_MIN: Final = 5
"""schema_id of the first schema that a script creates in a database. Documented [DOC: sys.schemas]."""


def _require_schema(machine: ExecutionMachine, name: str, verb: str) -> str:
    """Return the schema's name in its original spelling.

    Raises 15151 for an unknown schema. *verb*: word of this message.
    """
    known_schemas = objects.list_schemas(machine.context)
    schema_name = next((candidate for candidate in known_schemas if candidate.lower() == name.lower()), None)
    if schema_name is None:
        raise SqlError(15151, verb, "schema", name)
    return schema_name


def create_schema(machine: ExecutionMachine, statement: s.CreateSchemaStatement) -> list[Message]:
    """Execute CREATE SCHEMA.

    Raises 15151 for an unknown owner, 2714 for an existing name. Message 2759 follows each of these
    errors.
    """
    context, owner = machine.context, statement.owner
    principals = [to_text(row["name"]) for row in catalog.list_view_rows(context, "sys.database_principals")]
    if owner:
        owner_name = next((name for name in principals if name.lower() == owner.lower()), None)
        if owner_name is None:
            raise SqlError(15151, "find", "user", owner, also=(2759,))
        owner = owner_name
    existing_schemas = objects.list_schemas(context)
    if statement.name.lower() in map(str.lower, existing_schemas):
        raise SqlError(2714, statement.name, also=(2759,))
    used_numbers = {schema.number for schema in existing_schemas.values()}
    number = next(
        number
        for number in range(CREATED_SCHEMA_ID_MIN, CREATED_SCHEMA_ID_MIN + len(used_numbers) + 1)
        if number not in used_numbers
    )
    objects.store_schema(context, statement.name, objects.Schema(number, owner or "dbo"))
    return []


def drop_schema(machine: ExecutionMachine, name: str) -> list[Message]:
    """Execute DROP SCHEMA.

    Raises 15151 for an unknown schema, 15150 for a built-in schema, 3729 for a schema with objects.
    """
    schema_name = _require_schema(machine, name, "drop")
    if (
        schema_name in objects.PREDEFINED_SCHEMAS
        and objects.PREDEFINED_SCHEMAS[schema_name] < CREATED_SCHEMA_ID_MIN
    ):
        raise SqlError(15150, "drop", "schema", schema_name)
    for object_name, _ in objects.list_objects(machine.context):
        if object_name.schema == schema_name:
            raise SqlError(3729, "drop schema", schema_name, object_name.name)
    if schema_name in objects.PREDEFINED_SCHEMAS:
        raise UnsimulatedFeatureError("DROP SCHEMA of a schema that every database has")
    objects.store_schema(machine.context, schema_name, None)
    return []


def check_user_owns_no_schema(machine: ExecutionMachine, user: str) -> None:
    """Raise 15138 if the user owns a schema."""
    for name, schema in objects.list_schemas(machine.context).items():
        if (
            schema.owner.lower() == user.lower()
            and name not in objects.PREDEFINED_SCHEMAS
            and user.lower() != "dbo"
        ):
            raise SqlError(15138, "schema")


def transfer_object(machine: ExecutionMachine, statement: s.TransferObjectStatement) -> list[Message]:
    """Execute ALTER SCHEMA … TRANSFER, which moves an object to another schema.

    Raises 15151 for an unknown schema or object, 15530 if the schema already has an object with that name.
    """
    context, schema = machine.context, _require_schema(machine, statement.schema, "alter")
    if statement.kind != "OBJECT":
        raise UnsimulatedFeatureError(f"ALTER SCHEMA … TRANSFER {statement.kind}::")
    parts = tuple(statement.name.split("."))
    _, old = objects.locate_object(context, parts)
    if old is None:
        raise SqlError(15151, "find", "object", parts[-1])
    if schema == old.schema:
        return []
    if objects.find_object(context, (schema, old.name)) is not None:
        raise SqlError(15530, "object", old.name)
    objects.move_object(context, old, replace(old, schema=schema))
    return []
