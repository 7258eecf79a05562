"""sp_rename of tables, procedures, views and columns [DOC: sp_rename]."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql.batches import objects, schema_binding
from engine.tsql.batches.data import Table
from engine.tsql.procedures.call import ProcedureCall, Procedures
from engine.tsql.query.plans import UnsimulatedFeatureError


def _rename(call: ProcedureCall) -> None:
    """Rename an object. Raises 15225 for a missing one, 15335 for an existing new name, 15336 for a bound one."""
    context, old, new = call.machine.context, call.text("@objname"), call.text("@newname")
    kind = (call.text("@objtype") or "").upper()
    if kind not in ("", "OBJECT", "COLUMN"):
        raise UnsimulatedFeatureError(f"sp_rename of an item of type {kind}")
    parts = tuple(part.strip('[]"') for part in old.split("."))
    column = parts[-1] if kind == "COLUMN" else ""
    owner = parts[:-1] if column else parts
    _, found = objects.locate_object(context, owner) if owner else (None, None)
    if column and (found is None or isinstance(found.item, objects.Schema)):
        raise SqlError(15248, kind)
    if found is None or isinstance(found.item, objects.Schema):
        raise SqlError(15225, old, context.session.database, kind or "(null)")
    if schema_binding.is_schema_bound(context, owner, column):
        raise SqlError(15336, old)
    if column:
        _rename_column(call, owner, found.item, column, new)
    else:
        if objects.find(context, (found.schema, new)) is not None:
            raise SqlError(15335, new, "object")
        objects.move(context, found, replace(found, name=new))
    call.machine.say_number(15477)


def _rename_column(
    call: ProcedureCall,
    owner: tuple[str, ...],
    item: objects.UserObject,
    column: str,
    new_name: str,
) -> None:
    columns = item.columns if isinstance(item, Table) else ()
    if not isinstance(item, Table) or column.lower() not in (one.name.lower() for one in columns):
        raise SqlError(15248, "COLUMN")
    if new_name.lower() in (one.name.lower() for one in columns):
        raise SqlError(15335, new_name, "COLUMN")
    if item.constraints or any(one.computed for one in columns):
        raise UnsimulatedFeatureError(
            "sp_rename of a column of a table with keys, indexes, constraints or formulas"
        )
    renamed = tuple(
        replace(one, name=new_name) if one.name.lower() == column.lower() else one for one in columns
    )
    objects.put(call.machine.context, owner, replace(item, columns=renamed))


PROCEDURES: Final[Procedures] = {"sp_rename": _rename}
