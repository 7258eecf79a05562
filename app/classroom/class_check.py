"""Check of a class before people arrive: addresses, a test seat, discovery, and a hint about firewalls. No Qt."""

import asyncio
import ipaddress
import sys
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from websockets.exceptions import ConnectionClosed, WebSocketException

from app.classroom import discovery
from app.classroom.dialing import WrongHostError, dial
from app.classroom.join_code import Invitation
from app.classroom.messages.codec import ProtocolError, encode
from app.classroom.messages.replies import SEAT_MESSAGE_READER, SeatWelcome
from app.classroom.messages.requests import JoinProbe
from app.classroom.seat_scenario import parse_scenario
from app.words.language import mark, tr
from engine.drill.authoring.problems import ScenarioError
from engine.drill.running.drill import Drill

TEST_SEAT_TIMEOUT_S: Final = 10.0
"""Wall time within which the host must answer the test seat."""
FIREWALL_SETTINGS: Final = {
    "win32": mark("Windows Security ▸ Firewall ▸ Allow an app: allow Python on private networks."),
    "darwin": mark("System Settings ▸ Network ▸ Firewall ▸ Options: allow incoming connections for Python."),
    "linux": mark("For example: sudo ufw allow {port}/tcp, or sudo firewall-cmd --add-port={port}/tcp."),
}
"""Platform -> location of its firewall settings."""


class ClassCheckResult(NamedTuple):
    """Result of one check of a class before people arrive."""

    text: str
    is_good: bool | None
    """True if the check passed, False if it failed, None if the finding is only a hint."""


def check_class(invitation: Invitation) -> list[ClassCheckResult]:
    """Check the class of *invitation* from the computer of its host. This takes some seconds."""
    return asyncio.run(_run_checks(invitation))


async def _run_checks(invitation: Invitation) -> list[ClassCheckResult]:
    addresses, network = await asyncio.gather(
        asyncio.gather(*(_check_address(address, invitation) for address in invitation.addresses)),
        _check_discovery(invitation),
    )
    findings = [*addresses] or [
        ClassCheckResult(
            tr("This computer has no network address. Only seats on this computer can join."), False
        )
    ]
    return [*findings, await _check_test_seat(invitation), network, *_list_hints(invitation)]


async def _check_address(address: str, invitation: Invitation) -> ClassCheckResult:
    """Connect to *address* as a seat does. A loopback address fails, because other computers cannot use it."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        if ipaddress.ip_address(host).is_loopback:
            text = tr("{address} is the loopback address: only seats on this computer can join.")
            return ClassCheckResult(text.format(address=address), False)
    except ValueError:
        pass  # the host is a DNS name, not an IP address
    try:
        await (await dial([address], invitation)).close()
    except (OSError, WrongHostError):
        text = tr("The class does not answer at {address}. Close the class and choose another address.")
        return ClassCheckResult(text.format(address=address), False)
    return ClassCheckResult(tr("The class answers at {address}.").format(address=address), True)


async def _check_test_seat(invitation: Invitation) -> ClassCheckResult:
    """Let a test seat join, load its drill and leave. The seat is not recorded."""
    start_s = time.monotonic()
    try:
        async with (
            asyncio.timeout(TEST_SEAT_TIMEOUT_S),
            await dial(invitation.addresses, invitation) as socket,
        ):
            await socket.send(encode(JoinProbe(invitation.secret)))
            welcome = SEAT_MESSAGE_READER.read(await socket.recv())
        if not isinstance(welcome, SeatWelcome):
            raise ProtocolError(welcome.kind)
        Drill(parse_scenario(welcome.text, welcome.scenario), welcome.seed, welcome.mode)
    except ConnectionClosed as end:
        reason = end.rcvd.reason if end.rcvd is not None else ""
        return ClassCheckResult(tr("The test seat was refused: {reason}").format(reason=reason), False)
    except (OSError, TimeoutError, WebSocketException, WrongHostError, ScenarioError, ProtocolError):
        return ClassCheckResult(tr("The test seat could not join."), False)
    text = tr("A test seat joined, received the drill and left in {s} s.")
    return ClassCheckResult(text.format(s=f"{time.monotonic() - start_s:.1f}"), True)


async def _check_discovery(invitation: Invitation) -> ClassCheckResult:
    """Search the network for the class, as a seat does that knows only the fingerprint in the join code."""
    if not discovery.is_installed():
        text = tr(
            "Seats must join with the code and the address of this computer, because the package zeroconf is "
            "not installed."
        )
        return ClassCheckResult(text, None)
    if await discovery.find_addresses(invitation.fingerprint):
        return ClassCheckResult(tr("Seats on this network can find the class with only the code."), True)
    text = tr("Seats cannot find the class with only the code. They also need the address of this computer.")
    return ClassCheckResult(text, None)


def _list_hints(invitation: Invitation) -> Iterator[ClassCheckResult]:
    settings_path = next(
        (text for name, text in FIREWALL_SETTINGS.items() if sys.platform.startswith(name)), ""
    )
    port = invitation.port
    text = tr(
        "A firewall cannot be checked from this computer. If another computer gets no answer, allow incoming "
        "TCP connections on port {port}."
    ).format(port=port)
    yield ClassCheckResult(
        f"{text} {tr(settings_path).format(port=port) if settings_path else ''}".strip(), None
    )
