"""Offers on the start page after a class was interrupted: return to the seat, or host the class again."""

import json
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from app import settings
from app.settings import WindowSettings
from app.widgets.notice import NoticeBar
from app.words.language import tr, trn
from engine.json_text import parse_json


class StoredSeat(Struct, frozen=True):
    """Seat in which the person took part last.

    It consists of the entries of the join dialog, and whether the person was still in the class.
    """

    code: str = ""
    name: str = ""
    consent: bool = False
    open: bool = False
    """True if the class was not over when the person left the seat."""


def load_seat(store: WindowSettings) -> StoredSeat:
    """Return the seat that was stored last, or empty entries if there is none."""
    try:
        match parse_json(store.get(settings.CLASS_SEAT) or "{}"):
            case {"code": str(code), "name": str(name), "consent": bool(consent), "open": bool(is_open)}:
                return StoredSeat(code, name, consent, is_open)
    except ValueError:
        pass
    return StoredSeat()


def store_seat(store: WindowSettings, seat: StoredSeat) -> None:
    """Store the seat, so that the start page can offer to return to it."""
    store.set(settings.CLASS_SEAT, json.dumps(asdict(seat)))
    store.sync()  # written now, because the seat is needed after a crash of the window


def offer_class_return(
    store: WindowSettings,
    notice: NoticeBar,
    host_class: Callable[[Path], object],
    join_class: Callable[[], object],
) -> None:
    """Offer to reopen the class that this window hosted, or else to return to the seat that was left last."""
    database = Path(store.get(settings.HOSTED_CLASS_DATABASE))
    if database.is_file() and (description := _describe_class(database)):
        notice.show_offer(description, tr("Continue your class"), lambda: host_class(database))
        return
    seat = load_seat(store)
    if seat.open:
        text = tr("Your class was interrupted. You took part as {name}.").format(name=seat.name)
        notice.show_offer(text, tr("Return to your class"), join_class)


def _describe_class(database: Path) -> str:
    """Describe drill, time and seats of a class that is not over. Return an empty text if the class is over."""
    from app.classroom.models import OVER
    from app.classroom.record import ClassRecord, RecordUnavailableError
    from app.classroom.seat_scenario import parse_scenario
    from app.words import formatting
    from engine.constants import TICKS_PER_S

    try:
        record = ClassRecord(str(database), create=False)
    except RecordUnavailableError:
        return ""
    try:
        part, seats, parts = record.read_class(), record.read_seats(), record.read_parts()
    finally:
        record.close()
    if part is None or (part.state == OVER and part.id == parts[-1].id):
        return ""
    time = formatting.format_run_time(max((seat.tick for seat in seats), default=0) / TICKS_PER_S)
    title = parse_scenario(part.scenario_text, part.scenario_name).title
    facts = trn("{n} seat", "{n} seats", len(seats)).format(n=len(seats))
    return tr("Your class was interrupted: {title}, at {time}, {seats}.").format(
        title=title, time=time, seats=facts
    )
