"""Generator of the page docs/statement-gate.md from the table of the gate: `python -m tests.statement_gate`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engine.tsql.batches.gate import GATE_CELLS, IN_USE_ERRORS, STATEMENT_KINDS, STATEMENT_VERSIONS, STATES

PAGE: Final = Path(__file__).parents[1] / "docs" / "statement-gate.md"

HEAD: Final = """# Statement gate

This table shows which error a statement gets in each state of a database, before the statement runs.
Source: `engine/tsql/batches/gate.py`. `python -m tests.statement_gate` writes this page.

- `ok`: the statement runs.
- A number: the statement gets that error.
- `open`: the statement gets the error that USE gets, for example 927, 942, 945, 954, 955, 976, 978, 983 or 988.
- `role`: the rules of the mirroring session or the availability group decide.
"""


def format_page() -> str:
    """Return the text of the page."""
    lines = [
        HEAD,
        "| State | " + " | ".join(STATEMENT_KINDS) + " |",
        "|---" * (len(STATEMENT_KINDS) + 1) + "|",
    ]
    lines += [
        f"| {state} | " + " | ".join(GATE_CELLS[kind, state] for kind in STATEMENT_KINDS) + " |"
        for state in STATES
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
    lines += [f"| {state} | {text} |" for state, text in STATES.items()]
    lines += ["", "## Versions", "", "| Statement | First version |", "|---|---|"]
    lines += [f"| {kind.__name__} | {version} |" for kind, (version, _) in STATEMENT_VERSIONS.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(format_page(), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))
