"""Admission to the seats of a class: by join code, by the token of a seat, or by a handed-in log file."""

import hashlib
import hmac
import time
from collections.abc import Callable
from typing import Final, TypeVar

from app.classroom.join_code import SECRET_LENGTH
from app.classroom.lesson_plan import parse_plan
from app.classroom.message_exchange import RequestRefusedError
from app.classroom.messages import requests
from app.classroom.messages.codec import RETRY_LATER_CLOSE_CODE
from app.classroom.messages.replies import SeatWelcome
from app.classroom.models import ClassPart, Seat
from app.classroom.names import find_free_name, is_same_name, is_valid_name
from app.classroom.pace import ClassPace
from app.classroom.rate_limit import RateLimiter, is_same_secret
from app.classroom.record import ClassRecord
from app.classroom.seat_log import UNASSIGNED_SEAT, SeatAssignment, build_welcome
from app.classroom.seat_state import SeatState, build_seat_state
from app.classroom.writer import RecordWriter
from app.words.language import tr

SEATS_MAX: Final = 2_000

Key = TypeVar("Key", int, str)


class Admission:
    """Admission of seats to a class. Each new seat is written to disk before the host announces it."""

    def __init__(
        self,
        the_class: ClassPart,
        assignment: SeatAssignment,
        record: ClassRecord,
        writer: RecordWriter,
        seats: dict[int, SeatState],
        pace: ClassPace,
    ) -> None:
        """Create the admission.

        *assignment*: scenario, seed and mode that every seat plays. *seats*: known seats by number; each
        admitted seat is added to it.
        """
        self._pace = pace
        self._class, self._record, self._writer, self._seats = the_class, record, writer, seats
        self._assignment, self._digest = assignment, assignment.digest
        self._plan = parse_plan(the_class.plan) if the_class.plan else None
        self._draw_count = 0
        """Number of seats that were drawn into a group."""
        self._rate_limiter = RateLimiter(time.monotonic)

    async def admit(self, request: requests.Join | requests.Resume, address: str) -> SeatState:
        """Return the seat that owns the token of *request*. A `Join` with a new token creates a seat.

        *address*: network address of the sender, for the rate limit of wrong codes. Raises
        RequestRefusedError.
        """
        token_hash = hashlib.sha256(request.token.encode()).hexdigest()
        seat_state = self._find_by_token(token_hash)
        if seat_state is not None and (
            isinstance(request, requests.Join) or request.seat == seat_state.number
        ):
            # A token cannot be guessed. Its owner may therefore return without the rate limit, even while
            # others at this address guess codes.
            return seat_state
        self._require_allowed_rate(address)
        if isinstance(request, requests.Resume):
            seat = await self.find_seat(request.seat)
            if seat is None or not hmac.compare_digest(seat.token_hash, token_hash):
                self._rate_limiter.record_failure(address)
                raise RequestRefusedError(tr("wrong token for seat {number}").format(number=request.seat))
            return seat
        self._check_secret(request.secret, address)
        return await self._find_or_create_seat(token_hash, request.name, request.consent)

    def build_probe_welcome(self, secret: str, address: str) -> SeatWelcome:
        """Build the welcome message for a test seat, which is not recorded.

        *secret*: secret of the join code. *address*: network address of the sender, for the rate limit.
        Raises RequestRefusedError.
        """
        self._require_allowed_rate(address)
        self._check_secret(secret, address)
        return build_welcome(self._assignment, UNASSIGNED_SEAT, state=self._class.state)

    def _require_allowed_rate(self, address: str) -> None:
        if not self._rate_limiter.is_allowed(address):
            raise RequestRefusedError(
                tr("too many attempts from your address. Wait a moment."), RETRY_LATER_CLOSE_CODE
            )

    def _check_secret(self, secret: str, address: str) -> None:
        if not is_same_secret(secret, self._class.code[:SECRET_LENGTH]):
            self._rate_limiter.record_failure(address)
            raise RequestRefusedError(tr("wrong class code"))

    async def admit_from_file(self, message: requests.HandIn) -> SeatState:
        """Return the seat of a log that was handed in as a file. Create it if no host has admitted it.

        Raises RequestRefusedError.
        """
        if message.digest != self._digest:
            raise RequestRefusedError(
                tr("the log of {name} does not match the scenario, seed or mode of this class").format(
                    name=message.name
                )
            )
        if message.seat < UNASSIGNED_SEAT:
            token_seed = hashlib.sha256(f"{message.digest} {message.seat}".encode()).hexdigest()
            return await self._find_or_create_seat(token_seed, message.name, consent=False)
        seat = await self.find_seat(message.seat)
        if seat is None or not is_same_name(seat.name, message.name):
            raise RequestRefusedError(
                tr("seat {number} of this class belongs to another person than {name}").format(
                    number=message.seat, name=message.name
                )
            )
        return seat

    async def find_seat(self, number: int) -> SeatState | None:
        """Return the seat with this number, even if another host admitted it. Return None if the number is unknown."""
        return self._seats.get(number) or await self._find_in_record(self._record.find_seat, number)

    def _find_by_token(self, token_hash: str) -> SeatState | None:
        """Return the known seat with this token hash, or None.

        The duration of the comparison reveals nothing about the token, because hashes are compared.
        """
        return next((seat for seat in self._seats.values() if seat.token_hash == token_hash), None)

    async def _find_or_create_seat(self, token_hash: str, name: str, consent: bool) -> SeatState:
        """Return the seat with this token. If there is none, create it with *name* and *consent*.

        *consent*: True if the instructor may observe the seat. Raises RequestRefusedError.
        """
        if (seat_state := self._find_by_token(token_hash)) is not None:
            return seat_state
        if (existing := await self._find_in_record(self._record.find_seat_by_token, token_hash)) is not None:
            return existing
        if len(self._seats) >= SEATS_MAX:
            raise RequestRefusedError(tr("the class is full"))
        if not is_valid_name(name):
            raise RequestRefusedError(
                tr("this name is not allowed. Use letters, digits or other printable characters.")
            )
        used_names = {seat.name for seat in self._seats.values()}
        from_class = self._plan is not None and self._plan.late == "class"
        tick = self._pace.get_class_tick(self._seats.values()) if from_class else 0
        new_seat = Seat(
            name=find_free_name(name, used_names), token_hash=token_hash, consent=consent, acknowledged=0, tick=tick,
            group_name=self._get_group(name.strip()),
        )  # fmt: skip
        seat = await self._writer.write_seat(new_seat)
        return self._seats.setdefault(seat.id, build_seat_state(seat))

    def _get_group(self, name: str) -> str:
        """Return the group of *name* from the lesson plan, or draw a group at random.

        Return an empty text without a plan, or if the plan does not draw groups.
        """
        plan = self._plan
        if plan is None:
            return ""
        if group := plan.get_group(name):
            return group
        # The count includes groups drawn by other hosts. It omits seats that are still being written.
        ungrouped_count = sum(not plan.get_group(seat.name) for seat in self._seats.values())
        self._draw_count = max(self._draw_count, ungrouped_count) + 1
        return plan.draw_group(self._class.code, self._draw_count - 1)

    async def _find_in_record(self, find: Callable[[Key], Seat | None], key: Key) -> SeatState | None:
        """Return a seat that the record contains but this host does not know yet, or None.

        Either another host admitted the seat, or this host stored it but the reply of the database was
        lost. *find*: lookup function of the record for *key*.
        """
        seat = await self._writer.read(find, key)
        return None if seat is None else self._seats.setdefault(seat.id, build_seat_state(seat, 0))
