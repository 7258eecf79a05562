"""System procedures that consist of one query over the catalog, as T-SQL text (queries.sql)."""

from __future__ import annotations

import re
from importlib import resources
from typing import Final

from engine.tsql.batches.data import DeclaredVariable
from engine.tsql.procedures.call import INTEGERS, ProcedureCall, Procedures

_TEXT: Final = resources.files("engine.tsql.procedures").joinpath("queries.sql").read_text(encoding="utf-8")
_QUERIES: Final = {
    name: query.strip()
    for names, query in re.findall(r"^-- ([xs]p_.*)\n((?:(?!-- ).+\n)+)", _TEXT, re.MULTILINE)
    for name in names.split()
}


def show_query(call: ProcedureCall) -> None:
    """Show the rows of the procedure's query. Its parameters are variables in the query."""
    machine, scope = call.machine, call.machine.scope
    parameters = re.findall(r"@\w+", _QUERIES[call.name])
    own = {
        name: DeclaredVariable("int" if name in INTEGERS else "nvarchar(4000)", call.arguments.get(name))
        for name in parameters
    }
    own["@qualifier"] = DeclaredVariable("nvarchar(128)", call.database or machine.session.database)
    outside, chained = scope.variables, machine.chained
    scope.variables, machine.chained = own, True
    try:
        names, rows = machine.select(machine.plan("statement", _QUERIES[call.name]))
    finally:
        scope.variables, machine.chained = outside, chained
    call.show(names, rows)


PROCEDURES: Final[Procedures] = dict.fromkeys(_QUERIES, show_query)
