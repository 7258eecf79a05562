"""Tests of the port of a class: clients without a join code cannot block it, and it closes with its host's
window.
"""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from app.classroom.class_port import ClassPort
from tests.class_process import HOST_START_S_MAX, WAIT_S_MAX, RawClient, build_command, join, run_host


@contextmanager
def open_many_files(count: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, before[1]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_oldest_unauthenticated_connection_is_closed_first() -> None:
    with ExitStack() as stack:
        port = ClassPort.from_socket(socket.create_server(("127.0.0.1", 0)))
        stack.callback(port.close)
        port.joining_max = 3
        inner_sockets = []
        for _ in range(5):
            outside = stack.enter_context(closing(socket.create_connection(port.getsockname())))
            accepted_socket, _ = port.accept()
            inner_sockets.append((stack.enter_context(closing(accepted_socket)), outside))
        assert len(port.joining) == 3
        first, last = inner_sockets[0][1], inner_sockets[-1][1]
        first.settimeout(5)
        assert first.recv(1) == b"", "it was turned away"
        last.settimeout(0.05)
        try:
            last.recv(1)
        except TimeoutError:
            pass
        else:
            raise AssertionError("the newest stays")
        port.remove_joining(inner_sockets[-1][0].fileno())
        inner_sockets[-2][0].close()
        assert len(port.joining) == 1, "a seat, and one that has gone, take no place"


def test_raw_connections_from_one_computer_do_not_block_seats(tmp_path: Path) -> None:
    with (
        open_many_files(4_000),
        run_host(tmp_path / "class.sqlite", "planned-failover") as host,
        ExitStack() as stack,
    ):
        for _ in range(1_150):
            raw = socket.create_connection((host.invited.host, host.invited.port), WAIT_S_MAX)
            stack.enter_context(closing(raw))
        with RawClient(host.invited) as seat:
            assert seat.request_reply(join(host.invited, "Ann"), "welcome")["seat"] == 1


def test_a_host_ends_together_with_its_window(tmp_path: Path) -> None:
    """Killing the window closes its pipe to the host, and the host ends."""
    words = build_command(
        "host", "planned-failover", "--listen", "127.0.0.1:0", "--database", tmp_path / "c.sqlite"
    )
    with subprocess.Popen(
        [*words, "--end-with-input"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        assert "@127.0.0.1:" in host.stdout.readline()
        host.stdin.close()
        assert host.wait(HOST_START_S_MAX) == 0


def test_a_host_without_a_window_continues_after_the_end_of_its_input(tmp_path: Path) -> None:
    words = build_command(
        "host", "planned-failover", "--listen", "127.0.0.1:0", "--database", tmp_path / "c.sqlite"
    )
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        host.stdout.readline()
        try:
            host.wait(0.5)
        except subprocess.TimeoutExpired:
            host.terminate()
        assert host.wait(WAIT_S_MAX) == 0, sys.platform
