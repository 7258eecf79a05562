"""Real drivers against `mirrordrill serve`, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pymssql
import pytds
import pytest

from app.files.folders import FOLDER_VARIABLE

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The addresses of the lab; at the end its record is replayed."""
    folder = tmp_path_factory.mktemp("served")
    record = folder / "run.json"
    environment = {**os.environ, FOLDER_VARIABLE: str(folder / "profile")}
    command = [sys.executable, "-m", "app", "serve", "lab", "--port-base", "0", "--record", str(record)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as running:
        assert running.stdout is not None
        yield json.loads(running.stdout.readline())["servers"]
        running.communicate("", timeout=60)
    again = [sys.executable, "-m", "app", "replay", str(record)]
    assert subprocess.run(again, cwd=ROOT, capture_output=True, timeout=60, env=environment).returncode == 0


def connect_pytds(there: dict[str, Any]) -> Any:
    return pytds.connect(
        dsn=there["host"],
        port=there["port"],
        user=there["login"],
        password=there["password"],
        database="Sales",
        autocommit=True,
        login_timeout=30,
    )


def test_pytds_gets_values_as_their_types_have_them(served: dict[str, Any]) -> None:
    with connect_pytds(served["SERVER_A"]) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@SERVERNAME, CAST(2 AS bigint), 1.50, 0x12AB, CAST(NULL AS bit), N'xü'")
        assert cursor.fetchall() == [("SERVER_A", 2, Decimal("1.50"), b"\x12\xab", None, "xü")]
        cursor.execute("SELECT %s, %s, %s", (5, "abc", None))
        assert cursor.fetchall() == [(5, "abc", None)]
        with pytest.raises(pytds.OperationalError, match="Divide by zero"):
            cursor.execute("SELECT 1/0")


def test_pymssql_writes_reads_and_is_told_of_errors(served: dict[str, Any]) -> None:
    there = served["SERVER_A"]
    with pymssql.connect(
        server=there["host"],
        port=str(there["port"]),
        user=there["login"],
        password=there["password"],
        database="Sales",
        login_timeout=30,
    ) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE t (a int, b nvarchar(20))")
        cursor.execute("INSERT t VALUES (%d, %s)", (1, "x"))
        connection.commit()
        cursor.execute("SELECT a, b FROM t")
        assert cursor.fetchall() == [(1, "x")]
        with pytest.raises(pymssql.OperationalError) as told:
            cursor.execute("SELECT 1/0")
        assert told.value.args[0] == 8134


def test_the_mirror_lets_nobody_into_its_database(served: dict[str, Any]) -> None:
    there = dict(served["SERVER_B"])
    with pytest.raises(pytds.Error, match="acting as a mirror database"):
        pytds.connect(
            dsn=there["host"],
            port=there["port"],
            user=there["login"],
            password=there["password"],
            database="Sales",
            login_timeout=5,
            disable_connect_retry=True,
        )
