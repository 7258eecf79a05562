"""Coverage-guided fuzzing of the code that reads the bytes of clients: `make fuzz SECONDS=60`.

With `python -m tests.app.serve.fuzz --seconds 60`, atheris (libFuzzer) changes inputs from
tests/app/serve/corpus. It stores inputs that reach new code in build/fuzz. `--keep` copies inputs with a new
line transition into the corpus, which test_fuzz.py plays. An input that causes a crash is stored in build as
crash-….
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from msgspec.structs import replace

from engine.events import SessionData, SqlDoneData

ROOT = Path(__file__).parents[3]
CORPUS = Path(__file__).parent / "corpus"
FOUND_FOLDER = ROOT / "build" / "fuzz"
ATHERIS = ROOT / "build" / "atheris"
INPUT_MAX = 4_096
"""Maximum size of an input in bytes: the largest login packet."""


def build_targets(loop: asyncio.AbstractEventLoop) -> tuple[Callable[[bytes], object], ...]:
    """Return the functions that take an input. The first byte of an input selects its function.

    Connections use *loop*. The function imports the program, so that atheris can instrument the imports.
    """
    from app.serve import login, parameters, requests, sql_ports
    from app.serve.login import MalformedPacketError, PacketKind, PacketReader, TdsMessage, build_packets
    from app.serve.session import ConnectionClosedError, TdsSession
    from app.serve.tds_transport import SocketStream, create_tls_contexts
    from engine.tsql.batches.data import ClientProgram, Window
    from engine.tsql.batches.data import SqlSession as SqlSession

    refusals = (MalformedPacketError, requests.UnsupportedRequestError, requests.InvalidParameterError)
    versions = (login.TDS_7_1, login.TDS_7_2, login.TDS_7_3, login.TDS_7_4)
    context = create_tls_contexts("127.0.0.1")

    def parse_calls(data: bytes) -> None:
        prepared = requests.PreparedStatements()
        prepared.store(requests.PreparedStatement("@p int", "SELECT @p"))
        requests.read_calls(data[1:], versions[data[0] % 4] if data else versions[0], prepared)

    def parse_transaction(data: bytes) -> None:
        requests.read_transaction(data[1:], versions[data[0] % 4] if data else versions[0])

    def parse_value(data: bytes) -> None:
        read = parameters.read_typed_value(PacketReader(data))
        assert read.literal, read
        read.literal.encode("utf-8", "surrogatepass")

    class BytesPipe(SocketStream):
        """Client that sends its bytes in pieces and then closes."""

        def __init__(self, data: bytes) -> None:
            super().__init__(lambda _: None)
            self.left = [data[offset : offset + 97] for offset in range(0, len(data), 97)]

        async def read(self) -> bytes:
            return self.left.pop(0) if self.left else b""

        async def write(self, data: bytes) -> None:
            pass

        def end(self) -> None:
            self.left = []

        def close(self) -> None:
            pass

        def reset(self) -> None:
            pass

    class StubWorld:
        """World with one instance that accepts every login."""

        class StubInstance:
            version = 2014

            def find_login(self, name: str) -> None:
                """Return no login, because only the built-in logins of the run exist."""

        def __init__(self) -> None:
            self.instances = {"SERVER_A": self.StubInstance()}
            self.sessions: dict[str, Window] = {}

    class StubDoor:
        password = "secret"

        def __init__(self) -> None:
            self.world: Any = StubWorld()
            self.tls = context

        def send_input(self, line: str) -> asyncio.Future[Any]:
            from app.host import InputResult

            verb, window, *_ = line.split(" ")
            end: SqlDoneData | SessionData = SqlDoneData(
                window=window, batch="", run=0, messages=[], results=[], started_tick=0, elapsed_ticks=0
            )
            if verb == "connect":
                session = SqlSession(
                    server="SERVER_A", spid=51, login="sa", program=ClientProgram(name="fuzz")
                )
                self.world.sessions[window] = Window(session=session)
                end = SessionData(window=window, what="connected")
            elif verb == "batch":
                rows = {"columns": ["a"], "types": ["int"], "rows": [[1], [None]], "after_messages": 0}
                message = {"number": 0, "severity": 0, "state": 0, "line": 0, "text": "(2 rows)", "rows": 2}
                end = replace(end, messages=[message], results=[rows])
            answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            answer.set_result(InputResult(end_data=end))
            return answer

        async def wait_until_answering(self, name: str) -> str:
            return name

        def get_address(self, server: str) -> tuple[str, int]:
            return "127.0.0.1", 14331

        def get_partner_address(self, server: str, database: str) -> str:
            return "127.0.0.1,14332"

    def run_connection(data: bytes) -> None:
        loop.run_until_complete(TdsSession(StubDoor(), "SERVER_A", "tds1", BytesPipe(data)).serve_client())

    def run_requests(data: bytes) -> None:
        """Send requests after a login: the first byte of each piece selects the kind, the second the length."""

        async def serve_session() -> None:
            door = StubDoor()
            session = TdsSession(door, "SERVER_A", "tds1", BytesPipe(b""))
            session.server = "SERVER_A"
            await door.send_input("connect SERVER_A#tds1 {}")
            kinds = (
                PacketKind.BATCH,
                PacketKind.RPC,
                PacketKind.RPC,
                PacketKind.RPC,
                PacketKind.TRANSACTION,
                PacketKind.ATTENTION,
            )
            left = data
            while len(left) >= 3:
                kind, resets, size = kinds[left[0] % len(kinds)], bool(left[1] & 0x80), left[2]
                body, left = left[3 : 3 + size], left[3 + size :]
                try:
                    await session._serve_message(TdsMessage(kind, b"\x04\0\0\0" + body, resets))
                # `run` treats these errors as the end of the connection.
                except (ConnectionClosedError, MalformedPacketError):
                    return

        loop.run_until_complete(serve_session())

    def accept_refusals(target: Callable[[bytes], object]) -> Callable[[bytes], object]:
        def run_target(data: bytes) -> None:
            with suppress(*refusals):
                target(data)

        return run_target

    return (
        *map(
            accept_refusals,
            (login.read_prelogin, login.read_login, parse_calls, parse_transaction, parse_value),
        ),
        run_connection,
        run_requests,
        lambda data: sql_ports.encode_browser_response(data, {"SERVER_A": (14331, "9.00.5000.00")}),
        lambda data: build_packets(data, 512),
    )


def run_input(data: bytes, all_targets: tuple[Callable[[bytes], object], ...]) -> None:
    """Give one input to the target that its first byte selects. Raises unexpected exceptions."""
    if data:
        all_targets[data[0] % len(all_targets)](data[1:])


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.app.serve.fuzz")
    options.add_argument("--seconds", type=int, default=60, help="wall time")
    options.add_argument("--keep", action="store_true", help="take what reaches new code into the corpus")
    options.add_argument("--child", nargs="*", default=None, help=argparse.SUPPRESS)
    options_given = options.parse_args()
    if options_given.child is not None:
        return _run_fuzzer(options_given.child)
    FOUND_FOLDER.mkdir(parents=True, exist_ok=True)
    if options_given.keep:
        return keep_covering_inputs()
    bounds = [f"-max_len={INPUT_MAX}", f"-artifact_prefix={FOUND_FOLDER.parent}/", "-timeout=10"]
    process = _run_child(f"-max_total_time={options_given.seconds}", *bounds, str(FOUND_FOLDER), str(CORPUS))
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{spent.ru_utime + spent.ru_stime:.0f} s of processor time, {len(list(FOUND_FOLDER.iterdir()))} inputs kept"
    )
    return process


def keep_covering_inputs() -> int:
    """Copy inputs with new coverage into the corpus, shortest first; return their number."""
    with asyncio.Runner() as runner:
        all_targets = build_targets(runner.get_loop())
        covered: set[tuple[object, int, int]] = set()
        for file in [
            *sorted(CORPUS.iterdir()),
            *sorted(FOUND_FOLDER.iterdir(), key=lambda file: file.stat().st_size),
        ]:
            trace = _trace_lines(lambda file=file: run_input(file.read_bytes(), all_targets))  # type: ignore[misc]
            if file.parent == FOUND_FOLDER and not trace <= covered:
                shutil.copy(file, CORPUS)
                print(file.name)
            covered |= trace
    return 0


def _trace_lines(work: Callable[[], object]) -> set[tuple[object, int, int]]:
    """Return the line transitions in app.serve during *work*."""
    lines_run: set[tuple[object, int, int]] = set()

    def trace_call(frame: FrameType, event: str, _: object) -> Any:
        if f"app{os.sep}serve{os.sep}" not in frame.f_code.co_filename:
            return None
        last = frame.f_lineno

        def trace_line(frame: FrameType, event: str, _: object) -> Any:
            nonlocal last
            lines_run.add((frame.f_code, last, frame.f_lineno))
            last = frame.f_lineno
            return trace_line

        return trace_line

    sys.settrace(trace_call)
    try:
        work()
    finally:
        sys.settrace(None)
    return lines_run


def _run_child(*arguments: str) -> int:
    """Run libFuzzer in a child process, because libFuzzer ends its process."""
    command = [
        sys.executable,
        "-m",
        "tests.app.serve.fuzz",
        "--child",
        *(f"={argument}" for argument in arguments),
    ]
    return subprocess.run(command, cwd=ROOT).returncode


def _run_fuzzer(arguments: list[str]) -> int:
    sys.path.append(str(ATHERIS))
    import atheris

    with atheris.instrument_imports(include=["app.serve"]):
        all_targets = build_targets(asyncio.new_event_loop())
    atheris.Setup(
        [sys.argv[0], *(argument[1:] for argument in arguments)], lambda data: run_input(data, all_targets)
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
