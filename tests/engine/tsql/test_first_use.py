"""Loading of the parsers: a new window does not load them, the first statement does."""

from __future__ import annotations

import subprocess
import sys


def list_packages_loaded_by(code: str) -> set[str]:
    """Return the parsers' packages that are loaded after *code* has run in a fresh interpreter."""
    check = "import sys; print(*({'sqlglot', 'lark'} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{check}"], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def test_importing_the_package_loads_no_parser() -> None:
    assert (
        list_packages_loaded_by(
            "import engine.tsql, engine.tsql.language.complete, engine.tsql.batches.statement_execution"
        )
        == set()
    )


def test_each_parser_loads_with_its_first_text() -> None:
    assert list_packages_loaded_by("from engine.tsql import check_syntax; check_syntax('USE Sales')") == {
        "lark"
    }
    assert list_packages_loaded_by("from engine.tsql import check_syntax; check_syntax('SELECT 1')") == {
        "sqlglot"
    }
