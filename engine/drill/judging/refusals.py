"""Commands that a server refused as wrong, and the advice that would have avoided each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from engine.drill.authoring import facts
from engine.events import AvailabilityData, Event, SqlDoneData, select_data
from engine.localization import say
from engine.model import Tick

REFUSAL_RANGES: Final = ((1400, 1500), (3101, 3121), (5011, 5012))
"""Ranges of errors that mean "this command was wrong here": mirroring, RESTORE, no such database.

Failed queries (954, 955, …) and typing errors (102, 156, …) cost only time.
"""


REFUSAL_ADVICE: Final[dict[int, str]] = {
    1404: say("wait until the mirror has finished its current task."),
    1406: say("you can no longer force service safely. Remove the session and recover the copy."),
    1408: say("restore the log backups that are missing on the future mirror, WITH NORECOVERY."),
    1412: say("restore the log backups that are missing on the future mirror, WITH NORECOVERY."),
    1416: say("this database is not mirrored on this server."),
    1418: say("check endpoint and port of the other server first."),
    1422: say("wait for SYNCHRONIZED."),
    1426: say("connect all three servers before you set a witness."),
    1431: say("you cannot change the session without quorum; only SET PARTNER OFF works."),
    1439: say("the session has no witness."),
    1447: say("connect both partners first."),
    1455: say("force service only on the mirror, and only while the principal is lost."),
    1456: say("connect the other server first."),
    1462: say("redo has stopped with an error. Repair the error first."),
    1470: say("run this on the principal."),
    1475: say("back up the log on the principal and restore it on the mirror."),
    1477: say("FAILOVER needs safety FULL."),
    1478: say("restore the log backup that is missing on the future mirror."),
    3104: say("remove the session (SET PARTNER OFF) before RESTORE."),
    3117: say("only a RESTORING database can be recovered."),
    3118: say("this database does not exist on this server."),
    5011: say("this database does not exist on this server."),
}
"""Advice that would have avoided the refusal, by error number."""


ON_THE_PRINCIPAL: Final = 1470
"""Error of a statement that works only on the principal."""


NO_PRINCIPAL: Final = say(
    "FAILOVER needs the principal, which is lost. Bring the principal back, or force service on the mirror."
)


def was_serving(events: Sequence[Event], refused: RefusedBatch) -> bool:
    """Return whether a database was served when *refused* happened, as far as its batch names one."""
    text, serving = refused.batch.lower(), True
    for event in events:
        if event.tick > refused.tick:
            break
        if isinstance(event.data, AvailabilityData) and str(event.database).lower() in text:
            serving = bool(event.data.serving)
    return serving


def is_refusal(number: int) -> bool:
    """Return whether a reached server refused the command with the error *number*, as a wrong command."""
    return any(first <= number < end for first, end in REFUSAL_RANGES)


class RefusedBatch(Struct, frozen=True):
    """Batch that a server refused as wrong, with the first such error."""

    tick: Tick
    server: str
    batch: str
    number: int


def find_refusals(events: Sequence[Event]) -> list[RefusedBatch]:
    """Find the trainee's batches that a server refused as wrong."""
    found = []
    for event, done in select_data(events, SqlDoneData):
        wrong = [n for n in facts.errors(done) if is_refusal(n)]
        if wrong and not facts.is_story_window(done.window):
            found.append(RefusedBatch(event.tick, event.server or "", " ".join(done.batch.split()), wrong[0]))
    return found
