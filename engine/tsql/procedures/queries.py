"""System procedures that are implemented as T-SQL queries over the catalog (queries.sql).

The first column of a query can have a special name. If it is named `error`, the values of the first row
raise an error: message number, then arguments. If it is named `message`, they are printed as information.

A query after `IF @name` runs only if the parameter has a value. The word `quiet` after the names suppresses
row counts.

The local server has id 0 [DOC: sp_helpserver], and its timeouts are the defaults.
"""

import re
from importlib import resources
from typing import Final

from engine.messages import SqlError
from engine.tsql.batches.data import DeclaredVariable
from engine.tsql.procedures.call import ProcedureCall, Procedures
from engine.tsql.scalars.values import to_text

_QUERIES_TEXT: Final = (
    resources.files("engine.tsql.procedures").joinpath("queries.sql").read_text(encoding="utf-8")
)
_QUIET_WORD: Final = "quiet"
_QUERIES: Final = {
    name: (query.strip(), _QUIET_WORD in names.split())
    for names, query in re.findall(r"^-- ([xs]p_.*)\n((?:(?!-- ).+\n)+)", _QUERIES_TEXT, re.MULTILINE)
    for name in names.split()
    if name != _QUIET_WORD
}


def show_query_results(call: ProcedureCall) -> None:
    """Execute the queries of the procedure and show their rows. Raises the errors of the queries.

    In the queries, the parameters of the procedure are variables.
    """
    machine, scope = call.machine, call.machine.scope
    text, quiet = _QUERIES[call.name]
    own_values = {
        name: DeclaredVariable("int", value)
        if name in call.integers
        else DeclaredVariable("nvarchar(4000)", value if value is None else to_text(value))
        for name in re.findall(r"@\w+", re.sub(r"'[^']*'", "", text))
        for value in [call.get_argument(name)]
    }
    own_values["@qualifier"] = DeclaredVariable("nvarchar(128)", call.database or machine.session.database)
    outside, chained = scope.variables, machine.chained
    scope.variables, machine.chained = own_values, True
    try:
        for query in text.split(";\n"):
            condition = re.match(r"IF (@\w+) ", query)
            if condition is not None and call.get_argument(condition[1]) in (None, ""):
                continue
            plan = machine.plan_text(
                "statement", query[condition.end() :] if condition is not None else query
            )
            names, rows = machine.run_select(plan)
            if names[0] == "error" and rows:
                raise SqlError(int(str(rows[0][0])), *rows[0][1:])
            if names[0] == "message" and rows:
                machine.append_numbered_message(int(str(rows[0][0])), *rows[0][1:])
            elif names[0] not in ("error", "message"):
                machine.add_result(names, rows, plan.kinds)
                if (
                    not quiet and not machine.insert_exec_target
                ):  # INSERT … EXEC itself reports the number of inserted rows
                    machine.append_row_count(len(rows))
    finally:
        scope.variables, machine.chained = outside, chained


PROCEDURES: Final[Procedures] = dict.fromkeys(_QUERIES, show_query_results)
