"""Server to which the members of a team connect over TLS with the team's own join code. No Qt."""

import asyncio
import hmac
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO, cast

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.classroom import certificate
from app.classroom.addresses import list_reachable_addresses
from app.classroom.join import ParticipationResult
from app.classroom.join_code import Invitation, compute_fingerprint, create_secret, format_address
from app.classroom.messages.codec import (
    REFUSED_CLOSE_CODE,
    RETRY_LATER_CLOSE_CODE,
    ProtocolError,
    UnknownKindError,
    encode,
)
from app.classroom.messages.replies import SeatReport
from app.classroom.messages.team import (
    END_LINE,
    TEAM_REQUEST_READER,
    AskInstructor,
    ClaimRole,
    InputDone,
    InputFailed,
    MemberMessage,
    StartTeam,
    SubmitInput,
    TeamDrillEnded,
    TeamGoal,
    TeamPoints,
    TeamRequest,
    TeamResult,
    TeamRoles,
)
from app.classroom.rate_limit import RateLimiter
from app.classroom.service import build_server, open_listening_socket
from app.classroom.team.world import InputRejectedError, MemberConnection, TeamSimulation
from app.files import atomic_write
from app.words.language import tr
from engine.inputs import InputError
from engine.localization import convert_to_json

FIRST_MESSAGE_TIMEOUT_S: Final = 10.0
"""Wall time after which a connection without a first message is closed."""
START_POLL_INTERVAL_S: Final = 0.05
"""Wall time between two checks whether the simulation of the team has been created."""
UNSENT_MESSAGES_MAX: Final = 200
"""Maximum number of unsent messages to a member that does not read. More messages close the connection."""
LAST_MESSAGES_TIMEOUT_S: Final = 1.0
"""Wall time for sending the last messages after the drill is over."""


class TeamServer:
    """Server that admits members, applies their inputs in their roles, and sends them the views of their roles."""

    def __init__(self, simulation: TeamSimulation, secret: str) -> None:
        self._world, self._secret = simulation, secret
        self._rate_limiter = RateLimiter(time.monotonic)
        self.app = Starlette(routes=[WebSocketRoute("/", self._serve_connection)])

    async def _serve_connection(self, connection: WebSocket) -> None:
        await connection.accept()
        refusal: tuple[int, str] | None = None
        try:
            async with asyncio.timeout(FIRST_MESSAGE_TIMEOUT_S):
                first = await _receive_request(connection)
            await self._dispatch_request(connection, first)
        except UnknownKindError:
            refusal = REFUSED_CLOSE_CODE, tr("This code belongs to a team. Join it with a role.")
        except (InputRejectedError, ProtocolError, InputError) as problem:
            refusal = REFUSED_CLOSE_CODE, str(problem)
        except (TimeoutError, OSError) as problem:
            refusal = RETRY_LATER_CLOSE_CODE, str(problem)
        except WebSocketDisconnect:
            pass
        if refusal is not None:
            with suppress(WebSocketDisconnect, RuntimeError):
                await connection.close(refusal[0], refusal[1].encode()[:123].decode(errors="ignore"))

    async def _dispatch_request(self, connection: WebSocket, request: TeamRequest) -> None:
        address = connection.client.host if connection.client else ""
        if not isinstance(request, ClaimRole):
            raise InputRejectedError(tr("sign in first"))
        if not self._rate_limiter.is_allowed(address):
            raise TimeoutError(tr("too many attempts from your address. Wait a moment."))
        if not hmac.compare_digest(request.secret.encode(), self._secret.encode()):
            self._rate_limiter.record_failure(address)
            raise InputRejectedError(tr("wrong team code"))
        scenario = self._world.scenario
        if scenario is None:
            raise TimeoutError(tr("the drill is still starting. Try again."))
        if not request.role:
            await connection.send_text(encode(TeamRoles(scenario.title, self._world.list_roles())))
            return
        self._world.build_welcome(request.role)  # raises InputError if the role does not exist
        if not request.name.isprintable() or not request.name.strip():
            raise InputRejectedError(
                tr("this name is not allowed. Use letters, digits or other printable characters.")
            )
        self._world.assign_role(request.role, request.name.strip(), request.token, request.instead)
        await self._serve_member(connection, request, self._world.build_welcome(request.role))

    async def _serve_member(self, connection: WebSocket, member: ClaimRole, welcome: MemberMessage) -> None:
        loop = asyncio.get_running_loop()
        unsent: asyncio.Queue[MemberMessage] = asyncio.Queue()

        def queue_message(message: MemberMessage) -> None:
            with suppress(RuntimeError):  # RuntimeError: the event loop has ended
                loop.call_soon_threadsafe(unsent.put_nowait, message)

        async def send_queued() -> None:
            while unsent.qsize() <= UNSENT_MESSAGES_MAX:
                await connection.send_text(encode(await unsent.get()))
            await connection.close(RETRY_LATER_CLOSE_CODE, "")

        unsent.put_nowait(welcome)
        viewer = MemberConnection(member.role, queue_message)
        sending = asyncio.create_task(send_queued())
        self._world.viewers.add(viewer)
        try:
            while True:
                request = await _receive_request(connection)
                if isinstance(request, SubmitInput):
                    queue_message(await self._apply_input(member.role, request))
                elif isinstance(request, AskInstructor):
                    self._world.raise_hand(member.name, request.question)
                elif isinstance(request, StartTeam):
                    self._world.waits_for_roles = False
                else:
                    raise InputRejectedError(tr("you already have a role"))
        finally:
            self._world.viewers.discard(viewer)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _apply_input(self, role: str, message: SubmitInput) -> MemberMessage:
        try:
            await asyncio.wrap_future(self._world.request_input(role, message.number, message.line))
        except InputRejectedError as error:
            return InputFailed(message.number, convert_to_json(str(error)))
        return InputDone(message.number)


async def _receive_request(connection: WebSocket) -> TeamRequest:
    message = await connection.receive()
    if message["type"] != "websocket.receive":
        raise WebSocketDisconnect(message.get("code", 1006))
    return TEAM_REQUEST_READER.read(message.get("text") or message.get("bytes") or b"")


def run_team_server(
    folder: Path,
    simulation: TeamSimulation,
    play: Callable[[], ParticipationResult],
    listen: str | None,
    show_line: Callable[[str], object],
) -> ParticipationResult:
    """Admit members until the drill is over, or until SIGTERM or SIGINT.

    *folder* contains the credentials of the team. *play* runs *simulation* to the end. *show_line* receives
    the join code, which stays the same after a restart. Raises ListenAddressError, and the exceptions of
    *play*.
    """
    credentials = _load_credentials(folder / "team.json")
    listening = open_listening_socket(
        listen or ("0.0.0.0:0" if not credentials["address"] else None), credentials["address"]
    )
    address, port = listening.getsockname()[:2]
    _save_credentials(folder / "team.json", {**credentials, "address": f"{address}:{port}"})
    certificate_fingerprint = compute_fingerprint(certificate.convert_to_der(credentials["certificate"]))
    # without a network, only members on this computer can join
    host, *other_hosts = list_reachable_addresses(address) or ["127.0.0.1"]
    invited = Invitation(
        credentials["secret"],
        certificate_fingerprint,
        host,
        port,
        tuple(format_address(other_host, port) for other_host in other_hosts),
    )
    return asyncio.run(_run_team(simulation, play, credentials, listening, lambda: show_line(str(invited))))


async def _run_team(
    simulation: TeamSimulation,
    play: Callable[[], ParticipationResult],
    credentials: dict[str, str],
    listening: socket.socket,
    on_ready: Callable[[], object],
) -> ParticipationResult:
    loop = asyncio.get_running_loop()
    server = build_server(
        TeamServer(simulation, credentials["secret"]).app, credentials["certificate"], credentials["key"]
    )
    future: asyncio.Future[ParticipationResult] = loop.create_future()

    def run() -> None:
        try:
            participation = play()
        except BaseException as problem:
            loop.call_soon_threadsafe(_complete_future, future, None, problem)
        else:
            loop.call_soon_threadsafe(_complete_future, future, participation, None)

    for name in ("SIGTERM", "SIGINT"):
        signal.signal(
            getattr(signal, name), lambda *_: os._exit(0)
        )  # no cleanup is needed, because all accepted inputs are on disk
    threading.Thread(target=run, daemon=True, name="world of a team").start()
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    # In a class, the scenario is unknown until the class host has responded.
    while simulation.scenario is None and not future.done():
        await asyncio.sleep(START_POLL_INTERVAL_S)
    on_ready()
    try:
        while not future.done() and (simulation.can_end or not simulation.is_ending):
            await asyncio.wait((future,), timeout=START_POLL_INTERVAL_S)
        if not future.done():  # the run has not started, or the instructor has stopped it: there is no result
            simulation.send_to_all(TeamDrillEnded(None))
            await asyncio.sleep(LAST_MESSAGES_TIMEOUT_S)
            os._exit(0)
        participation = await future
        report = participation.report
        simulation.send_to_all(TeamDrillEnded(report["class"]["verdict"], _build_result(report)))
        await asyncio.sleep(LAST_MESSAGES_TIMEOUT_S)
        return participation
    finally:
        server.stop()
        await serving


def stop_on_pipe_end(owner_pipe: TextIO, simulation: TeamSimulation) -> None:
    """End the run of *simulation* when *owner_pipe* contains the line `end`.

    If the pipe closes, end this process immediately. All accepted inputs are on disk.
    """

    def read_pipe() -> None:
        for line in owner_pipe:
            if line.strip() == END_LINE:
                simulation.end_run()
        os._exit(0)

    threading.Thread(target=read_pipe, daemon=True).start()


def _build_result(report: SeatReport) -> TeamResult:
    """Build the result for the members, with advice for unmet goals and lost points."""
    goals = [TeamGoal(str(goal["text"]), cast("float | None", goal["met_t_s"])) for goal in report["goals"]]
    points = [
        TeamPoints(
            item["name"], item["points"], item["max"], convert_to_json(item["why"]),
            convert_to_json(item["better"]) if item["points"] < item["max"] else "",
        )
        for item in report["score"]["items"]
    ]  # fmt: skip
    return TeamResult(goals, points)


def _complete_future(
    future: asyncio.Future[ParticipationResult],
    participation: ParticipationResult | None,
    problem: BaseException | None,
) -> None:
    if problem is not None:
        future.set_exception(problem)
    elif participation is not None:
        future.set_result(participation)


def _load_credentials(file: Path) -> dict[str, str]:
    """Load secret, certificate, key and address of the team, or create them."""
    if file.exists():
        credentials: dict[str, str] = json.loads(file.read_text("utf-8"))
        return credentials
    certificate_text, key = certificate.create_certificate()
    new_credentials = {"secret": create_secret(), "certificate": certificate_text, "key": key, "address": ""}
    _save_credentials(file, new_credentials)
    return new_credentials


def _save_credentials(file: Path, credentials: dict[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    atomic_write.write_atomically(file, json.dumps(credentials))
    file.chmod(0o600)
