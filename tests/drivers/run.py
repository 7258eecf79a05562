"""Tests of drivers of other languages against `mirrordrill serve`: `make drivers`.

The script installs each driver from its own package into build/drivers if its tools exist (Node, Java with
Maven, Go, Rust, FreeTDS). The program next to this file runs with each kind of TLS that the driver offers,
and a relay verifies the encryption. The script compares the output with EXPECTED. Then it stops the
principal's service, waits until the driver finds the new principal, kills `serve`, and replays its record.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from math import isclose
from pathlib import Path
from typing import Any, Final

import pytds

from app.files.folders import PROFILE_FOLDER_VARIABLE
from tests.drivers.relay import Relay

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "drivers"

VALUES: Final = (
    ("CAST(1 AS bit)", "1"),
    ("CAST(255 AS tinyint)", "255"),
    ("CAST(-32768 AS smallint)", "-32768"),
    ("CAST(-2147483648 AS int)", "-2147483648"),
    ("CAST(9223372036854775807 AS bigint)", "9223372036854775807"),
    ("CAST('-12345678901.2345' AS decimal(15,4))", "-12345678901.2345"),
    ("CAST('-1234567890123456789.012345678' AS decimal(28,9))", "-1234567890123456789.012345678"),
    ("CAST('-922337203685477.5808' AS money)", "-922337203685477.5808"),
    ("CAST('1.5e300' AS float)", "1.5e300"),
    ("CAST('1.25' AS real)", "1.25"),
    ("CAST('2005-11-07' AS date)", "2005-11-07"),
    ("CAST('2005-11-07 12:34:56.997' AS datetime)", "2005-11-07 12:34:56.997"),
    ("CAST('9999-12-31 23:59:59.999' AS datetime2(3))", "9999-12-31 23:59:59.999"),
    ("CAST(N'Ω😀' AS nvarchar(20))", "Ω😀"),
    ("CAST(N'Ä€b' AS varchar(20))", "Ä€b"),
    ("REPLICATE(CAST(N'Ω' AS nvarchar(max)), 9000)", "Ω" * 9000),
    ("CAST(0x01FF AS varbinary(20))", "01FF"),
    ("CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier)", "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
    ("CAST(NULL AS int)", "NULL"),
    ("CAST(NULL AS nvarchar(20))", "NULL"),
)  # fmt: skip
EXPECTED: Final = {
    "login": "SERVER_A",
    "values": "|".join(value for _, value in VALUES),
    "rows": "10000|true",
    "error": "50000|13|42|bad|3|bad news",
    "parameters": "42|ü'x|NULL",
    "transaction": "1|0",
    "cancel": "7",
    "catalog": "5|13|1|2|0|0|0|1|1|1|31|3|0|0|4|5",
    "failover": "SERVER_B",
}
"""Check -> expected output of a driver's program."""
NOT_TESTED: Final = "–"
SET_UP_SCRIPT: Final = """
CREATE TABLE t (n int)
INSERT t VALUES (1)
CREATE TABLE big (n int IDENTITY, t nvarchar(10))
INSERT big SELECT N'row' FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS v(x)
INSERT big SELECT a.t FROM big a CROSS JOIN big b
INSERT big (t) SELECT TOP 9890 a.t FROM big a CROSS JOIN big b
GO
CREATE PROCEDURE bad AS
BEGIN
  RAISERROR('bad news', 13, 42)
END
"""


@dataclass(frozen=True)
class DriverProgram:
    """Driver, and the commands that install and start it."""

    required_program: str
    """Program that installs or starts the driver."""
    install: Callable[[], object]
    command: tuple[str, ...]
    tls: tuple[str, ...] = ("none", "all", "strict")
    """Supported encryption: nothing, only the login, everything, or everything from the first byte (TDS 8.0)."""
    exact_types: tuple[str, ...] = ("decimal", "money")
    """Types that the driver returns with all digits. It returns other types as floats, as JavaScript does for
    all numbers.
    """


def run_command(*command: str, folder: str) -> None:
    subprocess.run(command, cwd=BUILD / folder, check=True, capture_output=True, text=True)


def install_by_npm() -> None:
    run_command(
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "tedious@19.2.2",
        "mssql@12.7.14",
        folder="node",
    )
    shutil.copy(HERE / "client.js", BUILD / "node")


def install_by_maven() -> None:
    for folder, package in (
        ("java", "com.microsoft.sqlserver:mssql-jdbc:13.6.2.jre11"),
        ("java", "net.sourceforge.jtds:jtds:1.3.1"),
        ("java-old", "com.microsoft.sqlserver:mssql-jdbc:8.4.1.jre11"),
    ):
        run_command(
            "mvn",
            "-q",
            "-B",
            "dependency:copy",
            f"-Dartifact={package}",
            "-DoutputDirectory=.",
            folder=folder,
        )


def build_by_go() -> None:
    for name in ("client.go", "go.mod"):
        shutil.copy(HERE / name, BUILD / "go")
    run_command("go", "mod", "tidy", folder="go")
    run_command("go", "build", "-o", "client", ".", folder="go")


def build_by_cargo() -> None:
    for name in ("client.rs", "Cargo.toml"):
        shutil.copy(HERE / name, BUILD / "rust")
    run_command("cargo", "build", "-q", folder="rust")


def install_mono() -> None:
    """Install nothing, because System.Data.SqlClient of Mono (Microsoft's own source) is part of the system."""
    run_command("mcs", "-r:System.Data", "-out:Follow.exe", str(HERE / "Follow.cs"), folder="mono")


def install_freetds() -> None:
    """Install nothing, because `tsql` is part of the system."""


JAVA: Final = ("java", "-cp", f"{BUILD}/java/*", str(HERE / "Client.java"))
CLIENTS: Final = {
    "tedious 19.2.2": DriverProgram(
        "npm", install_by_npm, ("node", str(BUILD / "node/client.js"), "tedious"), exact_types=()
    ),
    "mssql 12.7.14 (Node)": DriverProgram(
        "npm", install_by_npm, ("node", str(BUILD / "node/client.js"), "mssql"), exact_types=()
    ),
    # With encrypt=false, this driver still encrypts its login if the server supports it.
    "mssql-jdbc 13.6.2": DriverProgram(
        "mvn", install_by_maven, (*JAVA, "mssql-jdbc"), ("login", "all", "strict")
    ),
    "jTDS 1.3.1": DriverProgram("mvn", install_by_maven, (*JAVA, "jtds"), ("none", "login", "all")),
    "go-mssqldb 1.11.2": DriverProgram(
        "go", build_by_go, (str(BUILD / "go/client"),), ("none", "login", "all", "strict")
    ),
    "tiberius 0.13.0": DriverProgram(
        "cargo",
        build_by_cargo,
        (str(BUILD / "rust/target/debug/client"),),
        ("none", "login", "all"),
        exact_types=("decimal",),
    ),
    "FreeTDS tsql": DriverProgram(
        "tsql", install_freetds, (sys.executable, "-m", "tests.drivers.by_tsql"), ("none", "login", "all")
    ),
}


def run_installation(action: Callable[[], object]) -> None:
    """Run an installation command. Raises subprocess.CalledProcessError."""
    for folder in ("node", "java", "java-old", "go", "rust", "mono"):
        (BUILD / folder).mkdir(parents=True, exist_ok=True)
    action()


def run_driver(client: DriverProgram, tls: str, folder: Path) -> dict[str, str]:
    """Run the program of a driver, and return check -> output.

    Additional keys: `wire` is the encryption that the relay detected. `online` is the time in seconds from
    the fault until the mirror's database is online. `replay` says whether the record replays after a kill.
    """
    record, lab, certificate = folder / "run.json", folder / "lab.toml", folder / "run.pem"
    text = (ROOT / "scenarios/lab.toml").read_text(encoding="utf-8")
    lab.write_text(text.replace("[[server]]\n", "[[server]]\nversion = 2014\n"), encoding="utf-8")
    environment = {**os.environ, PROFILE_FOLDER_VARIABLE: str(folder / "profile"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "app", "serve", str(lab), "--port-base", "0", "--record", str(record)]
    command += ["--certificate", str(certificate)]
    results: dict[str, str] = {}
    with subprocess.Popen(command, cwd=ROOT, env=environment, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as serve:  # fmt: skip
        assert serve.stdin is not None
        assert serve.stdout is not None
        servers = json.loads(serve.stdout.readline())["servers"]
        server_lines: list[str] = []
        drain = threading.Thread(target=server_lines.extend, args=(serve.stdout,), daemon=True)
        drain.start()
        relay = Relay(servers["SERVER_A"]["port"])
        environment_values = {
            "HOST": "127.0.0.1", "PORT": str(relay.port), "OTHER": str(servers["SERVER_B"]["port"]),
            "CERTIFICATE": str(certificate),
            "PASSWORD": servers["SERVER_A"]["password"], "TLS": tls,
            "VALUES": "SELECT " + ", ".join(f"{value} AS v{n}" for n, (value, _) in enumerate(VALUES)),
        }  # fmt: skip
        _prepare_lab(servers["SERVER_A"])
        with subprocess.Popen(client.command, cwd=ROOT, env={**environment, **environment_values}, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:  # fmt: skip
            assert program.stdin is not None
            assert program.stdout is not None
            for line in program.stdout:
                check, _, value = line.rstrip("\n").partition("\t")
                results[check] = value
                if check == "ready":
                    results["wire"] = relay.way or "not TDS"
                    serve.stdin.write("stop-service SERVER_A\n")
                    serve.stdin.flush()
                    program.stdin.write("\n")
                    program.stdin.flush()
        serve.kill()
        serve.wait()
        drain.join(10)
    results["online"] = _parse_online_time(server_lines)
    replay_command = [sys.executable, "-m", "app", "replay", str(record)]
    process = subprocess.run(replay_command, cwd=ROOT, env=environment, capture_output=True, text=True)
    results["replay"] = "yes" if process.returncode == 0 else process.stdout
    return results


def _parse_online_time(lines: list[str]) -> str:
    events = [json.loads(line) for line in lines if '"kind": "fa' in line]
    fault_s = next((event["t_s"] for event in events if event["kind"] == "fault"), 0.0)
    online = (e["t_s"] for e in events if e["kind"] == "failover" and e.get("step") == "online")
    return f"{next(online, fault_s) - fault_s:.1f}"


def _prepare_lab(server: dict[str, Any]) -> None:
    connection_options = {
        "dsn": server["host"],
        "port": server["port"],
        "user": server["login"],
        "password": server["password"],
    }
    with (
        pytds.connect(**connection_options, database="Sales", autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        for batch in SET_UP_SCRIPT.split("GO\n"):
            cursor.execute(batch)
            while cursor.nextset():
                pass


def format_verdict(results: dict[str, str], check: str, exact_types: tuple[str, ...]) -> str:
    """Return `yes`, the new server with the failover time, or the wrong output."""
    value = results.get(check, results.get("broken", NOT_TESTED))
    if check == "replay":
        return value
    name, _, duration = value.partition("|")
    if check == "failover" and name == EXPECTED[check]:
        return f"{name} after {float(duration):.1f} s (online {results['online']})"
    if check == "values":
        return compare_values(value, exact_types)
    wanted = EXPECTED[check].split("|")
    if value.split("|") != wanted and check == "error" and set(value.split("|")) <= set(wanted):
        return f"yes, {value.replace('|', ', ')}"  # This driver reports fewer details of an error.
    return "yes" if value == EXPECTED[check] else value


def compare_values(value: str, exact_types: tuple[str, ...]) -> str:
    """Compare each value with the expected value, and ignore the notation of numbers and trailing zeros of
    times.
    """
    shown_values = value.split("|")
    if len(shown_values) != len(VALUES):
        return value[:200]
    wrong_values = [
        f"{type_text}: {shown_value[:40]}"
        for shown_value, (type_text, wanted) in zip(shown_values, VALUES, strict=True)
        if not is_equal(shown_value, wanted, any(kind in type_text for kind in exact_types))
    ]
    return "yes" if not wrong_values else "; ".join(wrong_values)


def is_equal(value: str, expected_value: str, is_exact: bool) -> bool:
    with suppress(InvalidOperation, ValueError):
        return (
            Decimal(value) == Decimal(expected_value)
            if is_exact
            else isclose(float(value), float(expected_value), rel_tol=1e-15)
        )
    with suppress(ValueError):  # FreeTDS prints a time without seconds
        return datetime.strptime(value, "%b %d %Y %I:%M%p") == datetime.fromisoformat(expected_value).replace(
            second=0, microsecond=0
        )
    return (
        value.removesuffix(".0").removesuffix(".000").removesuffix(" 00:00:00").upper()
        == expected_value.upper()
    )


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.drivers.run")
    options.add_argument("only", nargs="*", help="drivers, by the beginning of their names; all")
    options_given = options.parse_args()
    failed = 0
    print("| client | TLS | on the wire | " + " | ".join([*EXPECTED, "replay"]) + " |")
    print("|---" * (len(EXPECTED) + 4) + "|")
    for name, client in CLIENTS.items():
        if options_given.only and not name.startswith(tuple(options_given.only)):
            continue
        if shutil.which(client.required_program) is None:
            print(f"| {name} | {client.required_program} is not installed here |")
            continue
        try:
            run_installation(client.install)
        except subprocess.CalledProcessError as problem:
            print(
                f"| {name} | cannot be installed here: {(problem.stderr or problem.stdout)[-300:].strip()} |"
            )
            continue
        for tls in client.tls:
            with tempfile.TemporaryDirectory() as folder:
                results = run_driver(client, tls, Path(folder))
            verdicts = [format_verdict(results, check, client.exact_types) for check in (*EXPECTED, "replay")]
            failed += results.get("wire") != tls
            failed += sum(
                not verdict.startswith(("yes", "SERVER_B after")) and verdict != NOT_TESTED
                for verdict in verdicts
            )
            wire = results.get("wire", NOT_TESTED)
            print(f"| {name} | {tls} | {wire} | " + " | ".join(verdicts) + " |", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
