"""Data definition statements for tables and indexes: CREATE TABLE, CREATE INDEX, ALTER TABLE, and DECLARE."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.constants import ENTERPRISE_EDITIONS
from engine.messages import SqlError
from engine.tsql.batches import constraints, objects, schema_binding, sources, tables
from engine.tsql.batches.data import DeclaredVariable, Table
from engine.tsql.language import option_table
from engine.tsql.language import statements as s
from engine.tsql.language.columns import Check, ColumnDefinition, Constraint, ForeignKey, Key, parse_table
from engine.tsql.language.lexer import get_name, tokenize
from engine.tsql.query import planner
from engine.tsql.query.plans import TableRef, UnsimulatedFeatureError
from engine.tsql.scalars.types import DECIMALS, UNLIMITED_LENGTH, check_type_size, parse_sql_type, parse_type
from engine.tsql.scalars.values import Scalar

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine


def create_table(machine: ExecutionMachine, statement: s.CreateTableStatement) -> None:
    """Execute CREATE TABLE.

    Raises 2714, 2705 or 2715, or an error of a constraint: 1767, 1911 or 8110.
    """
    option_table.check_options("CREATE TABLE", statement.options, machine.context.version)
    _check_compression(machine, statement.name[-1], statement.options)
    new_table = build_table(machine, TableRef(statement.name), statement.columns)
    new_table = replace(new_table, options=statement.options)
    sources.create_table(machine, TableRef(statement.name), new_table)
    machine.change_session(error=0, rowcount=0)


def _parse_table_definition(
    machine: ExecutionMachine, ref: TableRef, text: str
) -> tuple[tuple[ColumnDefinition, ...], tuple[Constraint, ...]]:
    """Parse the columns and constraints of a table, and check their options."""
    columns, rules = parse_table(text)
    check_column_options(machine, ref.parts[-1], columns)
    for rule in rules:
        if isinstance(rule, Key):
            check_index_options(machine, ref.parts[-1], rule)
        else:
            option_table.check_options("COLUMN", rule.options, machine.context.version)
    return columns, rules


def _assign_check_columns(
    table: str, rules: Sequence[Constraint], columns: Sequence[ColumnDefinition]
) -> tuple[Constraint, ...]:
    """Return the constraints, with the column of each CHECK that uses only one column.

    A CHECK that is declared after a comma also gets the column, if it uses only one. Messages 547 in
    public output show this. Raise 8141 if the CHECK of a column uses another column.
    """
    column_names = {column.name.lower(): column.name for column in columns}
    table_rules: list[Constraint] = []
    for rule in rules:
        if isinstance(rule, Check):
            used = {
                column_names[name.lower()]
                for name in _list_identifiers(rule.text)
                if name.lower() in column_names
            }
            if rule.columns and used - set(rule.columns):
                raise SqlError(8141, "CHECK", rule.columns[0], table, also=(1750,))
            rule = replace(rule, columns=tuple(sorted(used)) if len(used) == 1 else rule.columns)
        table_rules.append(rule)
    return tuple(table_rules)


def declare_variables(machine: ExecutionMachine, statement: s.DeclareStatement) -> None:
    """Execute DECLARE, and assign the initial values.

    If a loop executes the DECLARE of a table variable again, the variable keeps its rows.
    """
    scope = machine.scope
    for item in statement.variables:
        if item.type != "table":
            parse_type(item.type)
            check_type_size(item.type, "type")
            scope.variables.setdefault(item.name, DeclaredVariable(item.type))
        elif item.name not in scope.tables:
            scope.tables[item.name] = build_table(machine, TableRef((item.name,)), item.columns)
    for (
        item
    ) in statement.variables:  # assign values last, so that all variables are declared if an expression fails
        if item.default:
            machine.set_variable(item.name, *machine.evaluate_with_type(item.default))


def build_table(machine: ExecutionMachine, ref: TableRef, text: str) -> Table:
    """Return an empty table with the columns and constraints in *text*.

    Raises 2715, 2738, 2744, 2749, 8111, 8147, or an error of a constraint.
    """
    columns, rules = _parse_table_definition(machine, ref, text)
    for number, column in enumerate(columns, start=1):
        kind, _, _ = parse_type(column.type)
        check_type_size(column.type, "column", column.name, number)
        if machine.context.version < 2008 and kind.upper() in planner.TYPES_SINCE_2008:
            raise SqlError(2715, number, column.type)
        _check_identity(ref.parts[-1], column)
    versions = [
        column.name for column in columns if parse_type(column.type)[0] in ("timestamp", "rowversion")
    ]
    if len(versions) > 1:
        raise SqlError(2738, ref.parts[-1], versions[1])
    if versions:
        machine.report_partly_simulated("values of timestamp columns; they stay NULL")
    if sum(column.identity is not None for column in columns) > 1:
        raise SqlError(2744, ref.parts[-1])
    primary = {
        n.lower()
        for rule in rules
        if isinstance(rule, Key) and rule.kind == "PRIMARY KEY"
        for n in rule.columns
    }
    if any(column.said_null and column.name.lower() in primary for column in columns):
        raise SqlError(8111, ref.parts[-1], also=(1750,))
    rules = _assign_check_columns(ref.parts[-1], rules, columns)
    new_table = tables.create_empty_table(
        ref.parts[-1], columns, constraints.name_constraints(ref.parts[-1], rules, machine.context.version)
    )
    constraints.check_constraint_definitions(machine, ref, new_table, new_table.constraints)
    return constraints.add_computed_types(machine, new_table)


_NONDETERMINISTIC_FUNCTIONS: Final = frozenset({
    "GETDATE", "GETUTCDATE", "SYSDATETIME", "SYSUTCDATETIME", "SYSDATETIMEOFFSET", "CURRENT_TIMESTAMP",
    "NEWID", "RAND",
})  # fmt: skip
"""Nondeterministic functions [DOC: deterministic and nondeterministic functions]."""


def check_column_options(machine: ExecutionMachine, table: str, columns: Sequence[ColumnDefinition]) -> None:
    """Check the options of columns.

    Raise 155 for an unknown option, 4936 for a persisted column with a nondeterministic function.
    Raise UnsimulatedFeatureError for an option that is not simulated.
    """
    for column in columns:
        option_table.check_options("COLUMN", column.options, machine.context.version)
        words = {token.upper for token in tokenize(column.computed)} if column.computed else set()
        if ("PERSISTED", "") in column.options and words & _NONDETERMINISTIC_FUNCTIONS:
            raise SqlError(4936, column.name, table)


def _check_compression(machine: ExecutionMachine, name: str, options: option_table.OptionPairs) -> None:
    """Raise 7738 if the edition does not support data compression [DOC: data compression]."""
    server = machine.context.server
    is_compressed = any(option == "DATA_COMPRESSION" and value != "NONE" for option, value in options)
    if is_compressed and server.version < 2016 and server.edition not in ENTERPRISE_EDITIONS:
        raise SqlError(7738, name)


def check_index_options(machine: ExecutionMachine, table: str, key: Key) -> None:
    """Raise 129, 155, 1712, 1916 or 7738 for an invalid option of an index.

    Raise UnsimulatedFeatureError for an option that is not simulated.
    """
    version, server = machine.context.version, machine.context.server
    option_table.check_options("CREATE INDEX", key.options, version)
    options = dict(key.options)
    fill = options.get("FILLFACTOR")
    if fill is not None and not 1 <= int(fill) <= 100:
        raise SqlError(129, int(fill))
    if options.get("ONLINE") == "ON" and server.edition not in ENTERPRISE_EDITIONS:
        raise SqlError(1712)
    if options.get("IGNORE_DUP_KEY") == "ON" and not key.unique:
        raise SqlError(1916, "nonunique", "ignore_dup_key")
    _check_compression(machine, table, key.options)


def _check_identity(table: str, column: ColumnDefinition) -> None:
    """Raise 2749 for an IDENTITY column whose type is not integer, 8147 for one that allows NULL."""
    if column.identity is None:
        return
    kind = parse_sql_type(column.type, 1)
    if not (kind.is_integer and kind.name != "bit") and not (kind.name in DECIMALS and kind.scale == 0):
        raise SqlError(2749, column.name)
    if column.said_null:
        raise SqlError(8147, column.name, table)


def create_index(machine: ExecutionMachine, statement: s.CreateIndexStatement) -> None:
    """Execute CREATE INDEX.

    Raises 1088 for a missing table, 1913 for an existing name, 1911 for a missing column.
    Raises 1902 for a second clustered index, 1505 for duplicate keys.
    """
    ref = TableRef(statement.table)
    table = sources.find_user_table(machine, ref)
    if table is None:
        raise SqlError(1088, ref.dotted)
    old = next((item for item in table.constraints if item.name.lower() == statement.name.lower()), None)
    if ("DROP_EXISTING", "ON") in statement.options:
        if not isinstance(old, Key):
            raise SqlError(7999, statement.name, ref.dotted)
        if "INDEX" not in old.kind:
            raise UnsimulatedFeatureError("CREATE INDEX … WITH DROP_EXISTING of the index of a constraint")
        table = replace(table, constraints=tuple(item for item in table.constraints if item is not old))
    elif old is not None:
        raise SqlError(1913, statement.name, "table", ref.dotted)
    new = Key(
        name=statement.name,
        kind="UNIQUE INDEX" if statement.unique else "INDEX",
        columns=statement.columns,
        clustered=statement.clustered,
        included=statement.included,
        descending=statement.descending,
        filter=statement.filter,
        options=tuple(option_pair for option_pair in statement.options if option_pair[0] != "DROP_EXISTING"),
    )
    check_index_options(machine, ref.parts[-1], replace(new, options=statement.options))
    constraints.check_index_filter(machine, table, new, ref.parts[-1])
    constraints.find_column_positions(table, (*new.columns, *new.included), ref.parts[-1])
    constraints.check_key_columns(
        table, constraints.find_column_positions(table, new.columns, ref.parts[-1]), ref.parts[-1]
    )
    clustered = next((k for k in table.constraints if isinstance(k, Key) and k.clustered), None)
    if new.clustered and clustered is not None:
        raise SqlError(1902, "table", ref.dotted, clustered.name)
    _store_valid_table(machine, ref, table, replace(table, constraints=(*table.constraints, new)))


def change_statistics(machine: ExecutionMachine, statement: s.StatisticsStatement) -> None:
    """Check CREATE STATISTICS or UPDATE STATISTICS, and report that statistics are not simulated.

    Raises 1088 or 2706 for a missing table, 1911 for a missing column.
    """
    ref = TableRef(statement.name)
    table = sources.find_user_table(machine, ref)
    if table is not None:
        names = {column.name.lower() for column in table.columns}
        for column in statement.columns:
            if column.lower() not in names:
                raise SqlError(1911, column)
    else:
        try:
            sources.describe_columns(machine, ref)
        except SqlError:
            number = 1088 if statement.verb == "CREATE" else 2706
            raise SqlError(number, ref.parts[-1] if number == 2706 else ref.dotted) from None
    machine.report_partly_simulated(f"the statistics of {statement.verb} STATISTICS; they change no result")
    machine.change_session(error=0, rowcount=0)


def drop_index(machine: ExecutionMachine, statement: s.DropIndexStatement) -> None:
    """Execute DROP INDEX. Raises 3701 for a missing index, 3723 for the index of a constraint."""
    for name, parts in statement.indexes:
        ref = TableRef(parts)
        table = sources.find_user_table(machine, ref)
        index_path = f"{ref.dotted}.{name}"
        constraint_list = table.constraints if table is not None else ()
        found_key = next(
            (k for k in constraint_list if isinstance(k, Key) and k.name.lower() == name.lower()), None
        )
        if (table is None or found_key is None) and statement.if_exists:
            continue
        if table is None or found_key is None:
            raise SqlError(3701, "drop", "index", index_path)
        if "INDEX" not in found_key.kind:
            raise SqlError(3723, index_path, found_key.kind)
        sources.store_table(
            machine, ref, replace(table, constraints=tuple(k for k in constraint_list if k is not found_key))
        )
    machine.change_session(error=0, rowcount=0)


def _store_valid_table(machine: ExecutionMachine, ref: TableRef, table: Table, new_table: Table) -> None:
    """Store *new_table* if its rows satisfy the new constraints.

    Raises 1505 for duplicate keys, 547 for a violated constraint.
    """
    rules = tuple(rule for rule in new_table.constraints if isinstance(rule, Key) or rule.trusted)
    try:
        constraints.enforce_constraints(
            machine, ref, replace(table, rows=(), ids=()), replace(new_table, constraints=rules), "INSERT"
        )
    except SqlError as problem:
        if problem.number in (2601, 2627):
            object_text = problem.parameters[-1]
            last = new_table.constraints[-1]
            trailer = () if isinstance(last, Key) and "INDEX" in last.kind else (1750,)
            raise SqlError(
                1505, objects.format_qualified_name(ref.parts), last.name, object_text, also=trailer
            ) from None
        if problem.number == 547:
            raise SqlError(547, "ALTER TABLE", *problem.parameters[1:]) from None
        raise
    sources.store_table(machine, ref, new_table)
    machine.change_session(error=0, rowcount=0)


def alter_table(machine: ExecutionMachine, statement: s.AlterTableStatement) -> None:
    """Execute ALTER TABLE for columns and constraints.

    Raise 4902 for an unknown table, 3728 for an unknown constraint.
    """
    ref = TableRef(statement.name)
    table = sources.find_user_table(machine, ref)
    if table is None:
        raise SqlError(4902, ref.dotted)
    if statement.default:
        changed_table = _add_default(table, *statement.default, ref)
        constraints.check_constraint_definitions(machine, ref, changed_table, ())
    elif statement.columns:
        changed_table = _add_columns(machine, ref, table, statement.columns, statement.unchecked)
    elif statement.altered:
        changed_table = _alter_column(machine, table, statement.altered, ref)
    elif statement.switch:
        changed_table = _enable_or_disable_constraints(ref, table, statement)
    elif statement.constraint:
        try:
            changed_table = _drop_constraint(table, statement.constraint, ref)
        except SqlError as problem:
            if problem.number != 3728 or not statement.if_exists:
                raise
            changed_table = table
    else:
        column_names = {column.name.lower() for column in table.columns}
        dropped = tuple(
            dropped_name
            for dropped_name in statement.dropped
            if not statement.if_exists or dropped_name.lower() in column_names
        )
        for name in dropped:
            schema_binding.check_column_unbound(machine.context, "DROP COLUMN", ref.parts, name)
        changed_table = _drop_columns(table, dropped, ref) if dropped else table
    _store_valid_table(machine, ref, table, changed_table)


def _enable_or_disable_constraints(ref: TableRef, table: Table, statement: s.AlterTableStatement) -> Table:
    """Execute CHECK or NOCHECK CONSTRAINT for the named foreign keys and checks, or for all of them.

    An enabled constraint is trusted only if the statement contains WITH CHECK [DOC: ALTER TABLE]. Raise
    4917 for an unknown constraint, 11415 for a constraint of another kind. Message 4916 follows each of
    these errors.
    """
    rules = {rule.name.lower(): rule for rule in table.constraints}
    enabled_names = {name.lower() for name in statement.enabled}
    defaults = {
        constraints.get_default_name(ref.parts[-1], column).lower()
        for column in table.columns
        if column.default
    }
    for name in statement.enabled:
        if name.lower() in defaults:
            raise SqlError(11415, name, also=(4916,))
        if name.lower() not in rules:
            raise SqlError(4917, name, state=0, also=(4916,))
        if isinstance(rules[name.lower()], Key):
            raise SqlError(11415, name, also=(4916,))
    is_off = statement.switch == "NOCHECK"
    return replace(
        table,
        constraints=tuple(
            rule
            if isinstance(rule, Key) or (enabled_names and rule.name.lower() not in enabled_names)
            else replace(rule, disabled=is_off, trusted=statement.checked and not is_off)
            for rule in table.constraints
        ),
    )


def _drop_constraint(table: Table, name: str, ref: TableRef) -> Table:
    """Return the table without a constraint or DEFAULT.

    Raise 3728 if the table has no constraint with that name.
    """
    remaining_constraints = tuple(item for item in table.constraints if item.name.lower() != name.lower())
    columns = tuple(
        replace(column, default="", default_name="")
        if column.default and constraints.get_default_name(ref.parts[-1], column).lower() == name.lower()
        else column
        for column in table.columns
    )
    if (len(remaining_constraints), columns) == (len(table.constraints), table.columns):
        raise SqlError(3728, name, also=(3727,))
    return replace(table, constraints=remaining_constraints, columns=columns)


_VARIABLE_LENGTH_TYPES: Final = frozenset({"varchar", "nvarchar", "varbinary"})
"""Data types of variable length."""


def _is_only_wider(old_type: str, new_type: str) -> bool:
    """Return whether both types are the same variable-length type, and the new length is not smaller.

    Return False for an unlimited new length. Such a change of type is allowed for a column with a key
    or CHECK. [DOC: ALTER TABLE]
    """
    (old_kind, old_length, _), (new_kind, new_length, _) = parse_type(old_type), parse_type(new_type)
    if old_kind != new_kind or old_kind not in _VARIABLE_LENGTH_TYPES or new_length == UNLIMITED_LENGTH:
        return False
    return isinstance(old_length, int) and isinstance(new_length, int) and new_length >= old_length


_DEFAULT_COLLATION: Final = "SQL_Latin1_General_CP1_CI_AS"
"""Collation of a column without COLLATE."""


def _alter_column(machine: ExecutionMachine, table: Table, text: str, ref: TableRef) -> Table:
    """Execute ALTER COLUMN, which changes the type or the nullability.

    Raise 4924 for an unknown column, 5074 if a computed column uses the column. Raise a conversion error
    for a value that does not fit the new type.
    """
    (new,), _ = parse_table(text)
    check_type_size(new.type, "column", new.name)
    column_position = next(
        (
            column_index
            for column_index, old in enumerate(table.columns)
            if old.name.lower() == new.name.lower()
        ),
        None,
    )
    if column_position is None:
        raise SqlError(4924, "ALTER TABLE ALTER COLUMN", new.name, ref.parts[-1])
    option_table.check_options("COLUMN", new.options, machine.context.version)
    old = table.columns[column_position]
    collation = dict(old.options).get("COLLATE", _DEFAULT_COLLATION)
    if any(name != "COLLATE" or value.lower() != collation.lower() for name, value in new.options):
        raise UnsimulatedFeatureError("ALTER COLUMN … with more than type and NULL")
    schema_binding.check_column_unbound(machine.context, "ALTER COLUMN", ref.parts, old.name)
    for column in table.columns:
        if old.name.lower() in map(str.lower, _list_identifiers(column.computed)):
            error = SqlError(5074, "column", column.name, "column", old.name, also=(4922,))
            error.title = "ALTER TABLE ALTER COLUMN"
            raise error
    dependent_constraints = [
        item for item in table.constraints if new.name.lower() in map(str.lower, item.columns)
    ]
    is_used = any(
        isinstance(item, ForeignKey) or item.kind == "PRIMARY KEY"
        for item in dependent_constraints
        if not isinstance(item, Check)
    )
    if old.computed or is_used or (dependent_constraints and not _is_only_wider(old.type, new.type)):
        raise UnsimulatedFeatureError(
            "ALTER COLUMN of a column that a constraint, an index or a formula needs"
        )
    changed_column = replace(old, type=new.type, nullable=new.nullable)
    parse_type(changed_column.type)
    try:
        rows = tuple(
            (
                *row[:column_position],
                tables.convert_for_column(changed_column, row[column_position], ref.parts[-1], "UPDATE"),
                *row[column_position + 1 :],
            )
            for row in table.rows
        )
    except SqlError as problem:
        sources.qualify_error_table_name(machine, ref, problem)
        raise
    return replace(
        table,
        columns=(*table.columns[:column_position], changed_column, *table.columns[column_position + 1 :]),
        rows=rows,
    )


def _add_default(table: Table, name: str, text: str, constraint_name: str, ref: TableRef) -> Table:
    """Return the table with a DEFAULT for a column. Raises 1781 if the column already has a DEFAULT."""
    (column_position,) = constraints.find_column_positions(table, (name,), ref.parts[-1])
    columns = list(table.columns)
    if columns[column_position].default:
        raise SqlError(1781, also=(1750,))
    columns[column_position] = replace(columns[column_position], default=text, default_name=constraint_name)
    return replace(table, columns=tuple(columns))


def _add_columns(
    machine: ExecutionMachine, ref: TableRef, table: Table, text: str, has_nocheck: bool
) -> Table:
    """Return the table with new columns. Existing rows get the default value or NULL.

    Raise 4901 for a new column that has no default value and does not allow NULL.
    """
    columns, rules = _parse_table_definition(machine, ref, text)
    rules = _assign_check_columns(ref.parts[-1], rules, (*table.columns, *columns))
    if has_nocheck:
        rules = tuple(rule if isinstance(rule, Key) else replace(rule, trusted=False) for rule in rules)
    for column in columns:
        if table.rows and not (column.nullable or column.default or column.identity or column.computed):
            raise SqlError(4901, column.name, ref.parts[-1])
    keys = [rule for rule in (*table.constraints, *rules) if isinstance(rule, Key)]
    if sum(key.kind == "PRIMARY KEY" for key in keys) > 1:
        raise SqlError(1779, ref.parts[-1], also=(1750,))
    all_columns = (*table.columns, *columns)
    all_constraints = constraints.name_constraints(
        ref.parts[-1], (*table.constraints, *rules), machine.context.version
    )
    new_table = tables.create_empty_table(ref.parts[-1], all_columns, all_constraints)
    constraints.check_constraint_definitions(
        machine, ref, new_table, all_constraints[len(table.constraints) :]
    )
    primary = {
        name.lower()
        for key in all_constraints[len(table.constraints) :]
        if isinstance(key, Key) and key.kind == "PRIMARY KEY"
        for name in key.columns
    }
    for column in table.columns:
        if column.name.lower() in primary and column.nullable:
            raise SqlError(8111, ref.parts[-1], also=(1750,))
    filled = re.search(r"\bWITH\s+VALUES\b", text, re.IGNORECASE) is not None
    if filled and len(columns) > 1:
        raise UnsimulatedFeatureError("ADD of several columns, one of them WITH VALUES")
    number = next((c.identity for c in columns if c.identity is not None), None)
    rows = []
    for count, row in enumerate(table.rows):
        rows.append((*row, *(_compute_initial_value(machine, column, count, filled) for column in columns)))
    next_identity = number[0] + number[1] * len(rows) if number is not None else table.next_identity
    new_table = constraints.add_computed_types(machine, new_table)
    return replace(
        new_table, rows=tuple(rows), ids=table.ids, next_id=table.next_id, next_identity=next_identity
    )


def _compute_initial_value(
    machine: ExecutionMachine, column: ColumnDefinition, row_position: int, has_with_values: bool
) -> Scalar:
    """Return the value of a new column in an existing row.

    *row_position*: position of the row. *has_with_values*: the DEFAULT has WITH VALUES.
    """
    if column.identity is not None:
        return column.identity[0] + column.identity[1] * row_position
    return (
        machine.evaluate_expression(column.default)
        if column.default and (has_with_values or not column.nullable)
        else None
    )


def _drop_columns(table: Table, names: tuple[str, ...], ref: TableRef) -> Table:
    """Execute DROP COLUMN.

    Raise 4924 for a missing column, and 4923 for the only column. Raise 5074 and 4922 if a constraint or
    computed column uses the column.
    """
    dropped_names = {name.lower() for name in names}
    kept_positions = [
        column_position
        for column_position, column in enumerate(table.columns)
        if column.name.lower() not in dropped_names
    ]
    if len(kept_positions) + len(dropped_names) != len(table.columns):
        raise SqlError(4924, "ALTER TABLE DROP COLUMN", names[0], ref.parts[-1])
    for item in table.constraints:
        text = item.text if isinstance(item, Check) else item.filter if isinstance(item, Key) else ""
        used = (*item.columns, *_list_identifiers(text))
        used_name = next((name for name in used if name.lower() in dropped_names), None)
        if used_name is not None:
            kind = "index" if isinstance(item, Key) and "INDEX" in item.kind else "object"
            raise SqlError(5074, kind, item.name, "column", used_name, also=(4922,))
    for column in table.columns:
        if column.name.lower() in dropped_names and column.default:
            name = constraints.get_default_name(ref.parts[-1], column)
            raise SqlError(5074, "object", name, "column", column.name, also=(4922,))
        used_names = {name.lower() for name in _list_identifiers(column.computed)} & dropped_names
        if used_names and column.name.lower() not in dropped_names:
            raise SqlError(5074, "column", column.name, "column", min(used_names), also=(4922,))
    if not kept_positions:
        raise SqlError(4923, names[-1], ref.parts[-1])
    rows = tuple(tuple(row[column_position] for column_position in kept_positions) for row in table.rows)
    columns = tuple(table.columns[column_position] for column_position in kept_positions)
    return replace(table, columns=columns, rows=rows)


def _list_identifiers(text: str) -> tuple[str, ...]:
    """Return the identifiers in a text."""
    return tuple(get_name(token) for token in tokenize(text) if token.kind in ("word", "quoted"))


def set_identity_insert(machine: ExecutionMachine, name_tokens: Sequence[str], is_enabled: bool) -> None:
    """Execute SET IDENTITY_INSERT, which can be ON for only one table of a connection.

    Raises 156 without a table, 1088 for a missing table, 8106 for a table without an identity column.
    Raises 8107 if the option is ON for another table.
    """
    if not name_tokens:
        raise SqlError(156, "ON" if is_enabled else "OFF")
    ref = TableRef(tuple(word.strip('[]"') for word in name_tokens if word != "."))
    table = sources.find_user_table(machine, ref)
    if table is None:
        raise SqlError(1088, ref.dotted)
    if all(column.identity is None for column in table.columns):
        raise SqlError(8106, ref.dotted)
    options = dict(machine.session.options)
    active_table, name = options.get("IDENTITY_INSERT", ""), ref.parts[-1].lower()
    if is_enabled and active_table not in ("", name):
        raise SqlError(8107, machine.session.database, "dbo", active_table, ref.dotted)
    if is_enabled:
        options["IDENTITY_INSERT"] = name
    elif active_table == name:
        del options["IDENTITY_INSERT"]
    machine.change_session(options=tuple(options.items()), error=0)
