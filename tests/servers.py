"""PostgreSQL and NATS servers for individual tests, from Debian's packages (.ci/prepare installs them)."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

START_S_MAX: Final = 60.0


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def find_program(name: str) -> str:
    """Return the path of a program.

    Debian stores the programs of PostgreSQL by version, and server programs outside the user's PATH.
    """
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([*map(str, places), "/usr/sbin", os.environ["PATH"]])
    program_path = shutil.which(name, path=path)
    assert program_path is not None, f"{name} is missing: run .ci/prepare test"
    return program_path


class Server:
    """Server process that can be killed, and restarted on the same port with the same data."""

    def __init__(self) -> None:
        self.port = find_free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="mirrordrill-"))
        self.folder.chmod(0o755)
        self._running: subprocess.Popen[bytes] | None = None

    def build_command(self) -> list[str]:
        raise NotImplementedError

    def get_process_options(self) -> dict[str, Any]:
        return {}

    def is_answering(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1.0):
            return True
        return False

    def start(self) -> None:
        self._running = subprocess.Popen(
            self.build_command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            **self.get_process_options(),
        )  # fmt: skip
        deadline = time.monotonic() + START_S_MAX
        while not self.is_answering():
            assert self._running.poll() is None, (
                f"{self.build_command()[0]} has ended: {self._running.returncode}"
            )
            assert time.monotonic() < deadline, f"{self.build_command()[0]} does not answer"
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill the process and all its children without warning."""
        assert self._running is not None
        with suppress(ProcessLookupError):
            os.killpg(self._running.pid, signal.SIGKILL)
        self._running.wait()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Postgres(Server):
    def __init__(self) -> None:
        super().__init__()
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root.
            shutil.chown(self.folder, "postgres", "postgres")
        self._data = self.folder / "data"
        command = [
            find_program("initdb"),
            "-D",
            str(self._data),
            "-U",
            "mirrordrill",
            "-A",
            "trust",
            "--no-sync",
            "-E",
            "UTF8",
        ]
        subprocess.run(
            command, check=True, capture_output=True, cwd=self.folder, **self.get_process_options()
        )
        self.url = f"postgresql+psycopg://mirrordrill@127.0.0.1:{self.port}/postgres"

    def get_process_options(self) -> dict[str, Any]:
        return {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}

    def build_command(self) -> list[str]:
        return [
            find_program("postgres"), "-D", str(self._data), "-k", str(self.folder), "-p", str(self.port),
            "-h", "127.0.0.1",
        ]  # fmt: skip

    def is_answering(self) -> bool:
        import psycopg

        try:
            psycopg.connect(f"host=127.0.0.1 port={self.port} user=mirrordrill dbname=postgres").close()
            return True
        except psycopg.OperationalError:
            return False

    def kill(self) -> None:
        # The child processes have their own sessions, and end when they detect the end of their parent.
        super().kill()
        deadline = time.monotonic() + START_S_MAX
        while _is_using_folder(self._data) and time.monotonic() < deadline:
            time.sleep(0.05)

    def database(self, name: str) -> str:
        """Create a database and return its URL."""
        import psycopg

        connection_text = f"host=127.0.0.1 port={self.port} user=mirrordrill dbname=postgres"
        with psycopg.connect(connection_text, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url.removesuffix("postgres") + name


def _is_using_folder(data: Path) -> bool:
    """Return whether a process uses the folder *data*."""
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if link.readlink() == data:
                return True
    return False


class Nats(Server):
    def __init__(self) -> None:
        super().__init__()
        self.url = f"nats://127.0.0.1:{self.port}"

    def build_command(self) -> list[str]:
        return [
            find_program("nats-server"),
            "-js",
            "-sd",
            str(self.folder),
            "-a",
            "127.0.0.1",
            "-p",
            str(self.port),
        ]
