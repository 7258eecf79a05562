"""Comparison of failovers of real drivers with their profiles (engine/protocol/drivers.py): `make drivers`.

Each driver keeps one connection to `mirrordrill serve`, queries it ten times per second and reconnects with
the same string. A `given` string names a partner. With a `told` string, only the server names the partner. In
the same run, each profile has a simulated client with equal settings. The script stops a service or powers
off a computer, and compares the times until reconnection.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from app.files.folders import PROFILE_FOLDER_VARIABLE
from tests.drivers.run import (
    BUILD,
    HERE,
    JAVA,
    ROOT,
    build_by_go,
    install_by_maven,
    install_by_npm,
    install_mono,
    run_installation,
)

TIMEOUT_S: Final = 5
"""Command timeout for the power-off case. Without a timeout, Linux waits for fifteen minutes."""
RECONNECT_S_MAX: Final = 50.0
"""Time after which a driver counts as not reconnected."""
SHARE, LEAST_S = 0.1, 2.0
"""Tolerances between a driver and its profile: a tenth, or an application's pauses between two logins."""
HOST_PORT, BY_NAME = "{host},{port}", "{host}\\{name}"
"""Forms of a partner name in connection strings."""


@dataclass(frozen=True)
class ProfiledDriver:
    """Driver that is compared with a profile."""

    profile: str
    required_program: str
    install: Callable[[], object]
    command: tuple[str, ...]
    partner: str = HOST_PORT
    string_kinds: tuple[str, ...] = ("given", "told")


def install_nothing() -> None:
    """Install nothing, because Python drivers are part of the environment."""


PYTHON: Final = (sys.executable, "-m", "tests.drivers.follow")
OLD_JAVA: Final = ("java", "-cp", f"{BUILD}/java-old/*", str(HERE / "Client.java"))
NODE: Final = ("node", str(BUILD / "node/client.js"))
PROFILED_DRIVERS: Final = {
    "SqlClient (Mono 6.8)": ProfiledDriver("sqlclient", "mcs", install_mono, ("mono", str(BUILD / "mono/Follow.exe"))),
    "pyodbc, ODBC 18.6": ProfiledDriver("odbc-18", sys.executable, install_nothing, (*PYTHON, "pyodbc")),
    "mssql-python 1.16": ProfiledDriver("mssql-python", sys.executable, install_nothing, (*PYTHON, "mssql-python"),
        string_kinds=("told",)),
    "mssql-jdbc 8.4": ProfiledDriver("jdbc-old", "mvn", install_by_maven, (*OLD_JAVA, "mssql-jdbc", "follow"), BY_NAME),
    "mssql-jdbc 13.6": ProfiledDriver("jdbc", "mvn", install_by_maven, (*JAVA, "mssql-jdbc", "follow"), BY_NAME),
    "go-mssqldb 1.11": ProfiledDriver("go-mssqldb", "go", build_by_go, (str(BUILD / "go/client"), "follow")),
    "python-tds 1.17": ProfiledDriver("python-tds", sys.executable, install_nothing, (*PYTHON, "python-tds"), BY_NAME),
    "tedious 19.2": ProfiledDriver("tedious", "npm", install_by_npm, (*NODE, "tedious", "follow"),
        string_kinds=("told",)),
    "pymssql 2.4 (FreeTDS)": ProfiledDriver("freetds", sys.executable, install_nothing, (*PYTHON, "pymssql"),
        string_kinds=("told",)),
    "jTDS 1.3": ProfiledDriver("freetds", "mvn", install_by_maven, (*JAVA, "jtds", "follow"), string_kinds=("told",)),
}  # fmt: skip
FAULTS: Final = {"stop-service SERVER_A": 0, "power-off SERVER_A": TIMEOUT_S}
"""Fault -> command timeout in seconds to use with it; 0 means no timeout."""


def build_client_name(profile: str, string: str) -> str:
    return f"{profile}-{string}".replace("-", "_").upper()


def build_lab_text(profiles: set[tuple[str, str]], timeout: int) -> str:
    """Return the lab with a client for each profile and connection string."""
    text = (ROOT / "scenarios/lab.toml").read_text(encoding="utf-8")
    text = text.replace("[[server]]\n", "[[server]]\nversion = 2014\n")
    clients = "".join(
        f'[[client]]\nname = "{build_client_name(profile, string)}"\ndatabases = ["Sales"]\n'
        f'data_source = "SERVER_A"\ndriver = "{profile}"\n'
        + ('failover_partner = "SERVER_B"\n' if string == "given" else "")
        + (f"command_timeout_s = {timeout}\n" if timeout else "")
        + "\n"
        for profile, string in sorted(profiles)
    )
    return text.replace("[fidelity]", clients + "[fidelity]")


def read_lines(stream: IO[str], line_queue: queue.SimpleQueue[tuple[str, str, float]], driver: str) -> None:
    for line in stream:
        line_queue.put((driver, line.rstrip("\n"), time.monotonic()))


def play_fault(
    fault: str, drivers: dict[str, ProfiledDriver]
) -> tuple[dict[tuple[str, str], str], dict[str, float]]:
    """Apply *fault*, and return the seconds until reconnection of real drivers and of simulated clients.

    The first dictionary has a key for each driver and string, the second for each simulated client. A missing
    key means that the client did not reconnect.
    """
    timeout = FAULTS[fault]
    lines: queue.SimpleQueue[tuple[str, str, float]] = queue.SimpleQueue()
    cases = [(name, string) for name, driver in drivers.items() for string in driver.string_kinds]
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "lab.toml"
        scenario.write_text(
            build_lab_text({(drivers[name].profile, string) for name, string in cases}, timeout),
            encoding="utf-8",
        )
        environment = {**os.environ, PROFILE_FOLDER_VARIABLE: f"{folder}/profile", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "app", "serve", str(scenario), "--port-base", "0", "--browser"]
        serve = subprocess.Popen(command, cwd=ROOT, env=environment, text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        assert serve.stdin is not None
        assert serve.stdout is not None
        servers: dict[str, Any] = json.loads(serve.stdout.readline())["servers"]
        first, second_server = servers["SERVER_A"], servers["SERVER_B"]
        programs = []
        for name, string in cases:
            partner = drivers[name].partner.format(
                host=second_server["host"], port=second_server["port"], name="SERVER_B"
            )
            settings = {
                "HOST": first["host"], "PORT": str(first["port"]), "INSTANCE": f"{first['host']}\\SERVER_A",
                "PARTNER": partner if string == "given" else "", "PASSWORD": first["password"],
                "TIMEOUT": str(timeout), "VALUES": "", "TLS": "none",
            }  # fmt: skip
            program = subprocess.Popen(drivers[name].command, cwd=ROOT, env={**environment, **settings}, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
            assert program.stdout is not None
            programs.append(program)
            threading.Thread(
                target=read_lines, args=(program.stdout, lines, f"{name}|{string}"), daemon=True
            ).start()
        threading.Thread(target=read_lines, args=(serve.stdout, lines, "serve"), daemon=True).start()
        try:
            return _watch_clients(fault, cases, lines, serve.stdin)
        finally:
            for process in (*programs, serve):
                process.kill()
                process.wait()


def _watch_clients(
    fault: str,
    cases: list[tuple[str, str]],
    output: queue.SimpleQueue[tuple[str, str, float]],
    lines: IO[str],
) -> tuple[dict[tuple[str, str], str], dict[str, float]]:
    waiting, real = set(cases), dict[tuple[str, str], str]()
    simulated: dict[str, float] = {}
    fault_at_s, begun_s, deadline = 0.0, 0.0, time.monotonic() + 120
    while time.monotonic() < deadline and not (fault_at_s and len(real) == len(cases)):
        try:
            source, line, line_s = output.get(timeout=1.0)
        except queue.Empty:
            continue
        if source != "serve":
            name, _, string = source.partition("|")
            word = line.partition("\t")[0]
            if word == "back" and fault_at_s:
                real[name, string] = f"{line_s - fault_at_s:.1f}"
            elif word != "ready":
                continue  # These are log lines of a driver.
            waiting.discard((name, string))
            if not waiting and not fault_at_s:
                lines.write(fault + "\n")
                lines.flush()
                waiting.add(("", ""))  # Each time is reported once.
            continue
        event = json.loads(line)
        if event["kind"] == "fault":
            fault_at_s, begun_s, deadline = line_s, event["t_s"], line_s + RECONNECT_S_MAX
        elif fault_at_s and event["kind"] == "client" and event.get("what") == "connected":
            simulated.setdefault(event["client"], event["t_s"] - begun_s)
    return real, simulated


def is_within_tolerance(real: str, simulated: float | None) -> bool:
    if not real or simulated is None:
        return not real and simulated is None
    return abs(float(real) - simulated) <= max(LEAST_S, SHARE * simulated)


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.drivers.profiles")
    options.add_argument("only", nargs="*", help="drivers, by the beginning of their names; all")
    options_given = options.parse_args()
    all_drivers: dict[str, ProfiledDriver] = {}
    for name, driver in PROFILED_DRIVERS.items():
        if options_given.only and not name.startswith(tuple(options_given.only)):
            continue
        if shutil.which(driver.required_program) is None:
            print(f"{name}: {driver.required_program} is not installed here")
            continue
        try:
            run_installation(driver.install)
            all_drivers[name] = driver
        except subprocess.CalledProcessError as problem:
            print(f"{name} cannot be installed here: {(problem.stderr or problem.stdout)[-300:].strip()}")
    failed = False
    print("| driver | partner | fault | back after | its profile | |\n|---|---|---|---|---|---|")
    for fault in FAULTS:
        real, simulated = play_fault(fault, all_drivers)
        for name, driver in all_drivers.items():
            for string in driver.string_kinds:
                real_time, simulated_time = (
                    real.get((name, string), ""),
                    simulated.get(build_client_name(driver.profile, string)),
                )
                is_alike = is_within_tolerance(real_time, simulated_time)
                failed |= not is_alike
                delay = f"{real_time} s" if real_time else "never"
                profile = f"{simulated_time:.1f} s" if simulated_time is not None else "never"
                print(
                    f"| {name} | {string} | {fault.split()[0]} | {delay} | {profile} | {'yes' if is_alike else 'NO'} |",
                    flush=True,
                )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
