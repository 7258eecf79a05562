"""Checks of run.py with `tsql` of FreeTDS, which reads batches and prints rows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TSQL = (
    "tsql",
    "-H",
    os.environ["HOST"],
    "-U",
    "sa",
    "-P",
    os.environ["PASSWORD"],
    "-D",
    "Sales",
    "-o",
    "q",
    "-t",
    "|",
)
ENCRYPTION = {"none": "off", "login": "request", "all": "require"}
"""Encryption of run.py -> value of `encryption` in freetds.conf. `tsql` has no argument for it."""


def run_tsql(port: str, *batches: str) -> str:
    """Run batches and return the output of tsql. Rows start with the marker that each batch selects first."""
    typed = "".join(f"{batch}\ngo\n" for batch in batches)
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "freetds.conf"
        settings.write_text(f"[global]\nencryption = {ENCRYPTION[os.environ['TLS']]}\n", encoding="utf-8")
        environment = {**os.environ, "TDSVER": "7.4", "FREETDSCONF": str(settings)}
        process = subprocess.run(
            [*TSQL, "-p", port], input=typed, capture_output=True, text=True, env=environment
        )
    return process.stdout + process.stderr


def query_rows(port: str, *batches: str) -> list[str]:
    return re.findall(r"^(?:\d+> )*row\|(.*)$", run_tsql(port, *batches), re.MULTILINE)


def print_result(check: str, value: object) -> None:
    print(f"{check}\t{value}", flush=True)


def main() -> None:
    port = os.environ["PORT"]
    print_result("login", query_rows(port, "SELECT 'row', @@SERVERNAME")[0])
    print_result("values", query_rows(port, os.environ["VALUES"].replace("SELECT ", "SELECT 'row', ", 1))[0])
    numbers = query_rows(port, "SELECT 'row', n FROM big ORDER BY n")
    print_result(
        "rows", f"{len(numbers)}|{str(numbers == [str(n) for n in range(1, len(numbers) + 1)]).lower()}"
    )
    error = re.search(
        r'Msg (\d+) \(severity (\d+), state (\d+)\) from \S+ Procedure "?(\w+)"? Line (\d+):\s+"?(.*?)"?$',
        run_tsql(port, "EXEC bad"),
        re.MULTILINE,
    )
    print_result("error", "|".join(error.groups()) if error else "not told")
    left = query_rows(
        port,
        "BEGIN TRANSACTION INSERT t VALUES (2)",
        "ROLLBACK",
        "SELECT 'row', COUNT(*), @@TRANCOUNT FROM t",
    )
    print_result("transaction", left[0])
    print_result("ready", "")
    sys.stdin.readline()
    start_s, place = time.monotonic(), 0
    while True:
        name = query_rows((port, os.environ["OTHER"])[place % 2], "SELECT 'row', @@SERVERNAME")
        if name and name[0] != "SERVER_A":
            print_result("failover", f"{name[0]}|{time.monotonic() - start_s}")
            return
        place += 1
        time.sleep(0.1)


if __name__ == "__main__":
    main()
