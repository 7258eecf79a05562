"""Service of `mirrordrill serve`: a run in real time with a port for each instance, until its standard input ends."""

import asyncio
import gc
import json
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Final, TextIO

from msgspec import Struct

from app.host import InputResult, RunHost, RunRecorder
from app.serve.sql_ports import BROWSER_PORT, LISTEN_HOST, PortUnavailableError, SqlPorts
from engine.drill.judging.report import to_json_types
from engine.drill.running.drill import Drill
from engine.events import Event, SqlDoneData

FRAME_INTERVAL_S: Final = 0.01
"""Wall time between two frames while there are no requests: one tick."""
LOGIN_NAME: Final = "sa"
GC_THRESHOLD: Final = 10_000
"""Number of new objects between two garbage collections. Batches leave few objects and hardly any cycles.

Assumed.
"""


async def serve_run(
    drill: Drill,
    speed: float,
    port_base: int,
    lines: TextIO,
    show_line: Callable[[str], object],
    show_certificate: Callable[[str], object],
    recorder: RunRecorder,
    browser: bool = False,
    is_broken: Callable[[], object] = lambda: False,
) -> None:
    """Play *drill* at *speed* until its end, until *lines* end, or until *is_broken* returns True.

    *is_broken* returns whether the recording has failed. *show_certificate* receives the certificate in PEM.
    *show_line* then receives a line of JSON with the addresses, and a line for each event. *browser*: open
    the SQL Server Browser, so that clients can find instances by name. Raises PortUnavailableError.
    """
    loop, end_event = asyncio.get_running_loop(), asyncio.Event()
    host, thread, unwritten_lines = RunHost(), threading.get_ident(), list[str]()

    def wake() -> None:
        """Process a client's request at once, in the thread of the event loop.

        Only lines of standard input call this function from another thread.
        """
        if threading.get_ident() == thread:
            host.process_inbox()
        else:
            with suppress(RuntimeError):  # RuntimeError: the run may have ended already
                loop.call_soon_threadsafe(host.process_inbox)

    def run_frame(elapsed_ms: float) -> None:
        host.on_frame(elapsed_ms)
        if unwritten_lines:  # one write for all events, because thousands of writes per second are too slow
            show_line("\n".join(unwritten_lines))
            unwritten_lines.clear()

    host.inbox.wake = wake
    host.events_occurred.connect(lambda events: unwritten_lines.extend(map(_format_event_line, events)))
    host.open_run(drill, recorder)
    host.set_speed(speed)
    listener = SqlPorts(host)
    await listener.open_ports(port_base)
    if browser:
        try:
            await listener.browser.open(LISTEN_HOST)
        except OSError as problem:
            await listener.close()
            raise PortUnavailableError(
                f"port {BROWSER_PORT} (UDP) on {LISTEN_HOST} cannot be opened: {problem.strerror}"
            ) from problem
    show_certificate(listener.tls.certificate)
    gc.freeze()  # exclude existing objects, because each scan of them delays all responses by 0.2 s
    gc.set_threshold(GC_THRESHOLD)
    show_line(json.dumps(list_addresses(listener)))
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), lambda *_: loop.call_soon_threadsafe(end_event.set))
    threading.Thread(target=_post_lines, args=(host, lines, show_line, loop, end_event), daemon=True).start()
    host.play()
    last = time.perf_counter()
    while not (drill.finished or end_event.is_set() or is_broken()):
        await asyncio.sleep(FRAME_INTERVAL_S)
        now_s = time.perf_counter()
        run_frame((now_s - last) * 1000.0)
        last = now_s
        await listener.update_ports()
    closing = asyncio.ensure_future(listener.close())
    while not closing.done():  # the record must contain the end of each open connection
        await asyncio.sleep(FRAME_INTERVAL_S)
        run_frame(0.0)
    run_frame(0.0)
    host.close()


def list_addresses(sql_ports: SqlPorts) -> dict[str, object]:
    """Return the addresses of all servers and availability group listeners.

    The keys are "servers" and "listeners". Each value maps names to host, port, login and password.
    """
    login = {"host": LISTEN_HOST, "login": LOGIN_NAME, "password": sql_ports.password}
    addresses_by_name = {name: {**login, "port": port} for name, port in sql_ports.ports.items()}
    moving = sql_ports.world.listeners
    return {
        "servers": {name: address for name, address in addresses_by_name.items() if name not in moving},
        "listeners": {name: address for name, address in addresses_by_name.items() if name in moving},
    }


def _post_lines(
    host: RunHost,
    lines: TextIO,
    show_line: Callable[[str], object],
    loop: asyncio.AbstractEventLoop,
    stop_event: asyncio.Event,
) -> None:
    """Post each of *lines* to the run. After the last line, set *stop_event*, which ends the run."""

    def print_result(line: str, future: Future[InputResult]) -> None:
        if future.result().refusal:
            show_line(json.dumps({"kind": "refused", "line": line, "text": future.result().refusal}))

    for line in map(str.strip, lines):
        if line:
            host.inbox.post(line).result_future.add_done_callback(partial(print_result, line))
    with suppress(RuntimeError):  # RuntimeError: the event loop may have ended already
        loop.call_soon_threadsafe(stop_event.set)


def _format_event_line(event: Event) -> str:
    """Format an event as a line of JSON, as in the report. The rows of a result set are replaced by their number."""
    row = event.as_json()
    if isinstance(event.data, SqlDoneData):
        row["results"] = [{**result, "rows": len(result["rows"])} for result in event.data.results]
    return _JSON_ENCODER.encode(row)


_JSON_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, default=to_json_types)
"""Shared JSON encoder, because `json.dumps` would create an encoder per event."""


class SqlAddress(Struct, frozen=True):
    """Address of a simulated instance, or of an availability group listener, on this computer."""

    host: str
    port: int
    login: str
    password: str
    database: str


CONNECTION_STRING_TEMPLATES: Final = {
    "sqlcmd": "sqlcmd -S {host},{port} -U {login} -P {password} -d {database} -C",
    "Management Studio": "Server={host},{port};User Id={login};Password={password};Database={database};"
    "TrustServerCertificate=True",
    "dbatools": "Connect-DbaInstance -SqlInstance '{host},{port}' -TrustServerCertificate -SqlCredential "
    "(New-Object pscredential '{login}', (ConvertTo-SecureString '{password}' -AsPlainText -Force))",
    "SqlClient (.NET)": "Data Source={host},{port};Initial Catalog={database};User ID={login};"
    "Password={password};Encrypt=True;TrustServerCertificate=True",
    "ODBC 18": "Driver={{ODBC Driver 18 for SQL Server}};Server={host},{port};Database={database};UID={login};"
    "PWD={password};Encrypt=yes;TrustServerCertificate=yes",
    "JDBC, DBeaver": "jdbc:sqlserver://{host}:{port};databaseName={database};user={login};password={password};"
    "encrypt=true;trustServerCertificate=true",
    "go-mssqldb": "sqlserver://{login}:{password}@{host}:{port}?database={database}&trustservercertificate=true",
    "tedious, mssql (Node)": "Server={host},{port};Database={database};User Id={login};Password={password};"
    "Encrypt=false",
    "python-tds": "pytds.connect(dsn='{host}', port={port}, database='{database}', user='{login}', "
    "password='{password}')",
    "pymssql": "pymssql.connect(server='{host}', port='{port}', user='{login}', password='{password}', "
    "database='{database}')",
    "SQLAlchemy": "mssql+pymssql://{login}:{password}@{host}:{port}/{database}",
    "FreeTDS tsql": "tsql -H {host} -p {port} -U {login} -P {password} -D {database}",
}
"""Tool -> template of its connection string, from the tool's documentation.

Each run has a new certificate. For tools that check certificates, the string therefore says that the
certificate is trusted. The form of SqlClient also suits Management Studio's field for additional connection
parameters.
"""


def format_connection_string(tool: str, address: SqlAddress) -> str:
    """Format the connection string of *tool*, one of CONNECTION_STRING_TEMPLATES."""
    return CONNECTION_STRING_TEMPLATES[tool].format(
        host=address.host,
        port=address.port,
        login=address.login,
        password=address.password,
        database=address.database,
    )
