"""CREATE SCHEMA, ALTER SCHEMA … TRANSFER, DROP SCHEMA [DOC: each statement's page]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import Message, SqlError
from engine.tsql import catalog
from engine.tsql.batches import objects
from engine.tsql.language import statements as s
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import to_text

if TYPE_CHECKING:
    from engine.tsql.batches.machine import Machine

FIRST: Final = 5
"""schema_id of the first created schema of a database. Documented [DOC: sys.schemas]."""


def _find(machine: Machine, name: str, verb: str) -> str:
    """Return the schema's name as it was first written. Raises 15151."""
    known = objects.schemas(machine.context)
    found = next((one for one in known if one.lower() == name.lower()), None)
    if found is None:
        raise SqlError(15151, verb, "schema", name)
    return found


def create(machine: Machine, statement: s.CreateSchema) -> list[Message]:
    """Create a schema. Raises 15151 for an unknown owner, 2714 for an existing name, both with 2759."""
    context, owner = machine.context, statement.owner
    principals = [to_text(row["name"]) for row in catalog.rows_of(context, "sys.database_principals")]
    if owner:
        known = next((name for name in principals if name.lower() == owner.lower()), None)
        if known is None:
            raise SqlError(15151, "find", "user", owner, also=(2759,))
        owner = known
    there = objects.schemas(context)
    if statement.name.lower() in map(str.lower, there):
        raise SqlError(2714, statement.name, also=(2759,))
    taken = {made.number for made in there.values()}
    number = next(number for number in range(FIRST, FIRST + len(taken) + 1) if number not in taken)
    objects.put_schema(context, statement.name, objects.Schema(number, owner or "dbo"))
    return []


def drop(machine: Machine, name: str) -> list[Message]:
    """Drop a schema. Raises 15151 for an unknown one, 15150 for the product's, 3729 for one with objects."""
    found = _find(machine, name, "drop")
    if found in objects.SCHEMAS and objects.SCHEMAS[found] < FIRST:
        raise SqlError(15150, "drop", "schema", found)
    for kept, _ in objects.list_objects(machine.context):
        if kept.schema == found:
            raise SqlError(3729, "drop schema", found, kept.name)
    if found in objects.SCHEMAS:
        raise UnsimulatedFeatureError("DROP SCHEMA of a schema that every database has")
    objects.put_schema(machine.context, found, None)
    return []


def check_no_schema_of(machine: Machine, user: str) -> None:
    """Raise 15138 for a user that owns a schema."""
    for name, made in objects.schemas(machine.context).items():
        if made.owner.lower() == user.lower() and name not in objects.SCHEMAS and user.lower() != "dbo":
            raise SqlError(15138, "schema")


def transfer(machine: Machine, statement: s.TransferObject) -> list[Message]:
    """Transfer an object. Raises 15151 for an unknown schema or object, 15530 for a name that exists there."""
    context, schema = machine.context, _find(machine, statement.schema, "alter")
    if statement.kind != "OBJECT":
        raise UnsimulatedFeatureError(f"ALTER SCHEMA … TRANSFER {statement.kind}::")
    parts = tuple(statement.name.split("."))
    _, old = objects.locate_object(context, parts)
    if old is None:
        raise SqlError(15151, "find", "object", parts[-1])
    if schema == old.schema:
        return []
    if objects.find(context, (schema, old.name)) is not None:
        raise SqlError(15530, "object", old.name)
    objects.move(context, old, replace(old, schema=schema))
    return []
