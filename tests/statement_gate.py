"""Generator of the page docs/statement-gate.md from the table of the gate: `python -m tests.statement_gate`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engine.tsql.batches.statement_gate import (
    GATE_CELLS,
    GATE_STATES,
    IN_USE_ERRORS,
    STATEMENT_KINDS,
    STATEMENT_VERSIONS,
)

PAGE: Final = Path(__file__).parents[1] / "docs" / "statement-gate.md"

PAGE_HEAD: Final = """# Statement gate

Before a statement runs, the engine checks the state of its database. The table shows the result for each kind of
statement (column) and each state (row). `python -m tests.statement_gate` writes this page from
`engine/tsql/batches/statement_gate.py`.

- `ok`: the statement runs.
- A number: the statement raises this error.
- `open`: the statement raises the same error as USE, for example 927, 942, 945, 954, 955, 976, 978, 983 or 988.
- `role`: the rules of the mirroring session or the availability group decide.
"""

VERSIONED_STATEMENTS: Final = {
    "CreateGroupStatement": "CREATE AVAILABILITY GROUP",
    "AlterGroupStatement": "ALTER AVAILABILITY GROUP",
    "DropGroupStatement": "DROP AVAILABILITY GROUP",
    "SetHadrGroupStatement": "ALTER DATABASE SET HADR AVAILABILITY GROUP",
    "SetHadrOffStatement": "ALTER DATABASE SET HADR OFF",
    "SetHadrSuspendStatement": "ALTER DATABASE SET HADR SUSPEND",
    "SetHadrResumeStatement": "ALTER DATABASE SET HADR RESUME",
    "CreateEncryptionKeyStatement": "CREATE DATABASE ENCRYPTION KEY",
}
"""Class of a statement -> its text in T-SQL."""


def format_page() -> str:
    """Return the text of the page."""
    lines = [
        PAGE_HEAD,
        "| State | " + " | ".join(STATEMENT_KINDS) + " |",
        "|---" * (len(STATEMENT_KINDS) + 1) + "|",
    ]
    lines += [
        f"| {state} | " + " | ".join(GATE_CELLS[kind, state] for kind in STATEMENT_KINDS) + " |"
        for state in GATE_STATES
    ]
    lines += [
        "",
        "## Statements",
        "",
        "| Column | Statements | Error while the database is in use |",
        "|---|---|---|",
    ]
    lines += [
        f"| {kind} | {text} | {IN_USE_ERRORS.get(kind, '')} |" for kind, text in STATEMENT_KINDS.items()
    ]
    lines += ["", "## States", "", "| Row | State of the database on the connected instance |", "|---|---|"]
    lines += [f"| {state} | {text} |" for state, text in GATE_STATES.items()]
    lines += ["", "## Versions", "", "| Statement | First version |", "|---|---|"]
    lines += [
        f"| {VERSIONED_STATEMENTS[kind.__name__]} | {version} |"
        for kind, (version, _) in STATEMENT_VERSIONS.items()
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(format_page(), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))
