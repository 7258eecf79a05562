"""Random statements from a grammar of T-SQL: `python -m tests.engine.tsql.random_queries COUNT SEED`.

Most statements are wrong. Each must get an answer of SQL Server or a reason why it is not simulated; none may
cause an internal error.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field

from engine.internal_errors import INTERNAL_ERROR_PREFIX
from engine.model import World
from tests.engine.tsql.console import collect_unchecked_answers, submit_batch
from tests.engine.worlds import P, build_lab

_FUNCTION_NAMES = """
ABS CEILING ROUND POWER LOG PI SIGN LEN DATALENGTH LEFT SUBSTRING REPLACE STUFF UPPER LTRIM CHARINDEX PATINDEX CONCAT
CONCAT_WS STRING_AGG FORMAT STR QUOTENAME TRANSLATE ISNULL NULLIF COALESCE IIF CHOOSE GETDATE DATEADD DATEDIFF
DATEPART YEAR EOMONTH DATEFROMPARTS ISDATE CAST CONVERT TRY_CAST PARSE NEWID RAND CHECKSUM HASHBYTES DB_ID OBJECT_ID
SUSER_SNAME SERVERPROPERTY JSON_VALUE ISJSON JSON_MODIFY SUM AVG MIN MAX COUNT COUNT_BIG STDEV GROUPING ROW_NUMBER
RANK NTILE LAG FIRST_VALUE PERCENT_RANK
"""
FUNCTIONS = _FUNCTION_NAMES.split()
_VALUE_TEXTS = """
name database_id state_desc create_date a b d.name t.a 1 0 -1 NULL 'x' N'ü' '' 1.5 1e10 0x41 '2020-01-01' 99999999999
'{"a":1}' '$.a' day @v @@SPID *
"""
VALUES = _VALUE_TEXTS.split()
TYPES = ("int", "varchar(10)", "datetime", "decimal(5,2)", "uniqueidentifier", "xml", "bit")
DEPTH_MAX = 4


@dataclass
class Grammar:
    """Generator of random statements."""

    random_source: random.Random = field(default_factory=random.Random)

    def draw_choice(self, *choices: str) -> str:
        return self.random_source.choice(choices)

    def draw_boolean(self, share: float) -> bool:
        return self.random_source.random() < share

    def build_expression(self, depth: int = 0) -> str:
        if depth >= DEPTH_MAX or self.draw_boolean(0.3):
            return self.draw_choice(*VALUES)
        inner, kind = depth + 1, self.random_source.random()
        if kind < 0.5:
            return self.build_call(inner)
        if kind < 0.65:
            operator = self.draw_choice("+", "-", "*", "/", "%", "&")
            return f"({self.build_expression(inner)} {operator} {self.build_expression(inner)})"
        if kind < 0.8:
            return f"CASE WHEN {self.build_condition(inner)} THEN {self.build_expression(inner)} END"
        return f"({self.build_select(inner + 1)})"

    def build_call(self, depth: int) -> str:
        name = self.draw_choice(*FUNCTIONS)
        if name in ("CAST", "TRY_CAST"):
            return f"{name}({self.build_expression(depth)} AS {self.draw_choice(*TYPES)})"
        arguments = ", ".join(
            self.build_expression(depth) for _ in range(self.random_source.choice((0, 1, 1, 2, 2, 3)))
        )
        call = f"{name}({self.draw_choice('', '', '', 'DISTINCT ')}{arguments})"
        if self.draw_boolean(0.2):
            order = self.draw_choice("", "ORDER BY " + self.build_expression(depth + 1))
            partition = self.draw_choice("", "PARTITION BY a ")
            call += f" OVER ({partition}{order}{self.draw_choice('', ' ROWS UNBOUNDED PRECEDING')})"
        return call

    def build_condition(self, depth: int = 0) -> str:
        left, right, kind = (
            self.build_expression(depth + 1),
            self.build_expression(depth + 1),
            self.random_source.random(),
        )
        if depth >= DEPTH_MAX or kind < 0.5:
            return f"{left} {self.draw_choice('=', '<>', '<', 'LIKE')} {right}"
        if kind < 0.65:
            return f"{left} IN ({right}, 1)"
        if kind < 0.8:
            return f"EXISTS ({self.build_select(depth + 2)})"
        left_condition, operator = self.build_condition(depth + 1), self.draw_choice("AND", "OR NOT")
        return f"({left_condition} {operator} {self.build_condition(depth + 1)})"

    def build_source(self, depth: int) -> str:
        return self.draw_choice(
            "sys.databases d", "t", f"({self.build_select(depth + 2)}) q", "STRING_SPLIT('a,b', ',') s",
            f"t {self.draw_choice('JOIN', 'FULL JOIN')} u ON {self.build_condition(depth + 2)}",
            f"t OUTER APPLY ({self.build_select(depth + 2)}) q", "OPENJSON('[1,2]') j",
            "(VALUES (1,'x'),(2,NULL)) v(a,b)", "t PIVOT (SUM(a) FOR b IN ([1],[2])) p",
        )  # fmt: skip

    def build_select(self, depth: int = 0) -> str:
        if depth > DEPTH_MAX:
            return "SELECT 1 AS c1"
        inner = depth + 1
        columns = (
            self.build_expression(inner) + self.draw_choice("", " AS c1")
            for _ in range(self.random_source.choice((1, 1, 2)))
        )
        text = f"SELECT {self.draw_choice('', '', 'DISTINCT ', 'TOP 2 ', 'TOP (1) WITH TIES ')}{', '.join(columns)}"
        text += f" FROM {self.build_source(inner)}" if self.draw_boolean(0.85) else ""
        text += f" WHERE {self.build_condition(inner)}" if self.draw_boolean(0.3) else ""
        if self.draw_boolean(0.25):
            text += f" GROUP BY {self.draw_choice('', 'ROLLUP', 'CUBE')}({self.build_expression(inner)})"
        text += f" HAVING {self.build_condition(inner)}" if self.draw_boolean(0.1) else ""
        if self.draw_boolean(0.1):
            text += f" {self.draw_choice('UNION', 'UNION ALL', 'EXCEPT')} {self.build_select(depth + 2)}"
        if self.draw_boolean(0.3):
            text += (
                f" ORDER BY {self.build_expression(inner)}{self.draw_choice('', ' DESC', ' OFFSET 1 ROWS')}"
            )
        return text + (
            self.draw_choice(" FOR JSON PATH", " FOR XML PATH('')") if self.draw_boolean(0.05) else ""
        )

    def build_statement(self) -> str:
        value, condition = self.build_expression(1), self.build_condition(1)
        return self.draw_choice(
            self.build_select(), self.build_select(), self.build_select(), f"INSERT t {self.build_select(1)}",
            f"UPDATE t SET a = {value} FROM {self.build_source(1)} WHERE {condition}", f"DELETE t WHERE {condition}",
            f"WITH c AS ({self.build_select(1)}) {self.build_select(1)}", f"IF {condition} PRINT {value}",
            f"MERGE t USING u ON {condition} WHEN MATCHED THEN UPDATE SET a = {value};",
        )  # fmt: skip


def build_world() -> World:
    """Return a world of SQL Server 2022 with two small tables."""
    world = build_lab(workload="none")
    world.update_instance(P, version=2022)
    tables = "CREATE TABLE t (a int, b varchar(20)); CREATE TABLE u (a int, c datetime)"
    submit_batch(
        world,
        P,
        f"USE Sales; {tables}; INSERT t VALUES (1, 'x'), (2, NULL); INSERT u VALUES (1, 0)",
        wait_s=2,
    )
    return world


def find_internal_errors(count: int, seed: int) -> list[str]:
    """Return the statements among *count* random ones that cause an internal error, each after its error."""
    base, grammar, problems = build_world(), Grammar(random.Random(seed)), []
    for _ in range(count):
        text = f"USE Sales; DECLARE @v int = 1; {grammar.build_statement()}"
        for answer in collect_unchecked_answers(base.fork(), P, text, wait_s=2):
            problems += [f"{line}: {text}" for line in answer.texts if INTERNAL_ERROR_PREFIX in line]
    return problems


if __name__ == "__main__":
    found = find_internal_errors(int(sys.argv[1]), int(sys.argv[2]))
    print(*found, f"{len(found)} of {sys.argv[1]} statements meet a form without a rule", sep="\n")
    sys.exit(bool(found))
