"""Messages between the roles of a team: orders (call, read-back, confirmation) and status questions.

This is closed-loop communication, as flight crews train it. The receiver repeats the order, the caller
confirms the read-back, and only then the receiver executes the order.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic
from engine.inputs import Input, InputError
from engine.localization import build_message
from engine.model import Tick

TeamCalls = tuple["TeamCall", ...]
"""All orders and questions of a run, oldest first."""
StatusPredicate = Callable[[str], bool]
"""Function that returns whether a reported status is currently true. Raises InputError for an invalid status."""

FILLER_WORDS: Final = frozenset(
    ("a", "an", "and", "the", "please", "now", "i", "you", "will", "is", "are", "it",
     "bitte", "das", "dem", "den", "der", "die", "ich", "jetzt", "und", "ist", "sind")
)  # fmt: skip
"""Words that a read-back may omit: articles, courtesies and auxiliary verbs in English and German. Assumed."""
NEGATION_WORDS: Final = frozenset(("not", "no", "never", "nicht", "kein", "keine", "nie"))
"""Words that reverse the meaning of an order."""


class TeamCall(Struct, frozen=True):
    """Order or question from one role to another, with the replies to it."""

    kind: Literal["order", "question"]
    by: str
    """Role that sends the order or question."""
    to: str
    """Role that receives the order or question."""
    text: str
    tick: Tick
    read_back: str = ""
    """Latest read-back by the receiver; empty if there is none."""
    read_back_tick: Tick | None = None
    missing: tuple[str, ...] = ()
    """Keywords of the order that are missing from the read-back."""
    strange: tuple[str, ...] = ()
    """Names, numbers and negations in the read-back that are not in the order."""
    wrong_before: str = ""
    """Wrong read-back that the receiver corrected later; empty if there is none."""
    confirmed_tick: Tick | None = None
    repeated_tick: Tick | None = None
    """Tick at which the caller repeated the order; None if not repeated."""
    acted_tick: Tick | None = None
    """Tick of the receiver's first action on an object that the order names."""
    status: str = ""
    """Status with which the receiver answered a question."""
    status_tick: Tick | None = None
    true: bool | None = None
    """True if the status was true when it was reported; None before the report."""

    @property
    def is_correct(self) -> bool:
        """True if the read-back has all keywords of the order, and no other names, numbers or negations."""
        return bool(self.read_back) and not self.missing and not self.strange

    @property
    def waits(self) -> bool:
        """True if a read-back, a confirmation or an answer is still missing."""
        if self.kind == "question":
            return self.status_tick is None
        return self.confirmed_tick is None and self.repeated_tick is None

    @property
    def is_premature(self) -> bool:
        """Return whether the order was executed before the read-back was confirmed."""
        confirmed = self.confirmed_tick
        return self.acted_tick is not None and (confirmed is None or self.acted_tick < confirmed)

    @property
    def closed(self) -> bool:
        """True if the order was read back correctly, then confirmed, and not executed before confirmation."""
        return self.is_correct and self.confirmed_tick is not None and not self.is_premature


def extract_keywords(text: str) -> list[str]:
    """Return the keywords of *text* in lowercase. `power-off` results in two keywords: power and off."""
    return [word for word in re.findall(r"[^\W_][\w$]*", text.lower()) if word not in FILLER_WORDS]


def update_calls(
    calls: TeamCalls, input_: Input, names: Iterable[str], is_status_true: StatusPredicate
) -> TeamCalls:
    """Return *calls* after *input_*, a message or action with its role.

    *names*: names of servers, databases and clients. Raises InputError for a message that is not allowed now.
    """
    hear = MESSAGE_HANDLERS.get(input_.verb)
    if hear is not None:
        return hear(calls, input_, {name.lower() for name in names}, is_status_true)
    subjects = {word for arg in input_.args for word in extract_keywords(arg.partition("#")[0])}
    return tuple(
        replace(team_call, acted_tick=input_.tick)
        if team_call.kind == "order" and team_call.to == input_.by and team_call.acted_tick is None
        and team_call.repeated_tick is None and subjects & set(extract_keywords(team_call.text))
        else team_call
        for team_call in calls
    )  # fmt: skip


def _apply_call(
    calls: TeamCalls, input_: Input, names: set[str], is_status_true: StatusPredicate
) -> TeamCalls:
    receiver, text = input_.args
    team_calls = tuple(
        replace(call, repeated_tick=input_.tick)
        if call.kind == "order" and (call.by, call.to) == (input_.by, receiver) and call.waits
        and ((not call.is_correct and call.read_back) or extract_keywords(call.text) == extract_keywords(text))
        else call
        for call in calls
    )  # fmt: skip
    return (*team_calls, TeamCall("order", input_.by, receiver, text, input_.tick))


def _apply_read_back(
    calls: TeamCalls, input_: Input, names: set[str], is_status_true: StatusPredicate
) -> TeamCalls:
    caller, text = input_.args
    spoken_keywords = set(extract_keywords(text))
    waiting = [
        team_call
        for team_call in calls
        if team_call.kind == "order"
        and (team_call.by, team_call.to) == (caller, input_.by)
        and team_call.waits
        and not team_call.is_correct
    ]
    if not waiting:
        raise InputError(build_message("{name} has no order waiting to be read back", name=caller))
    call = max(
        waiting,
        key=lambda spoken_call: (
            len(spoken_keywords & set(extract_keywords(spoken_call.text))),
            -spoken_call.tick,
        ),
    )
    ordered_keywords = extract_keywords(call.text)
    special = names | NEGATION_WORDS
    added_keywords = (
        word
        for word in extract_keywords(text)
        if word not in ordered_keywords and (word in special or word[0].isdigit())
    )
    return _replace_call(
        calls,
        call,
        replace(
            call,
            read_back=text,
            read_back_tick=input_.tick,
            missing=tuple(dict.fromkeys(word for word in ordered_keywords if word not in spoken_keywords)),
            strange=tuple(dict.fromkeys(added_keywords)),
            wrong_before=call.wrong_before or call.read_back,
        ),
    )


def _apply_confirmation(
    calls: TeamCalls, input_: Input, names: set[str], is_status_true: StatusPredicate
) -> TeamCalls:
    (receiver,) = input_.args
    read_calls = [
        team_call
        for team_call in calls
        if team_call.kind == "order"
        and (team_call.by, team_call.to) == (input_.by, receiver)
        and team_call.waits
        and team_call.read_back
    ]
    if not read_calls:
        raise InputError(build_message("{name} has no read-back waiting for confirmation", name=receiver))
    return _replace_call(calls, read_calls[0], replace(read_calls[0], confirmed_tick=input_.tick))


def _apply_question(
    calls: TeamCalls, input_: Input, names: set[str], is_status_true: StatusPredicate
) -> TeamCalls:
    receiver, text = input_.args
    return (*calls, TeamCall("question", input_.by, receiver, text, input_.tick))


def _apply_status(
    calls: TeamCalls, input_: Input, names: set[str], is_status_true: StatusPredicate
) -> TeamCalls:
    caller, fact = input_.args
    is_true = is_status_true(fact)
    for call in calls:
        if call.kind == "question" and (call.by, call.to) == (caller, input_.by) and call.waits:
            subjects = set(extract_keywords(call.text)) & names
            if subjects and not subjects & set(extract_keywords(fact)):
                continue  # the fact is about another subject than the question
            return _replace_call(
                calls, call, replace(call, status=fact, status_tick=input_.tick, true=is_true)
            )
    unasked = TeamCall(
        "question", caller, input_.by, "", input_.tick, status=fact, status_tick=input_.tick, true=is_true
    )
    return (*calls, unasked)


MESSAGE_HANDLERS: Final[dict[str, Callable[[TeamCalls, Input, set[str], StatusPredicate], TeamCalls]]] = {
    "call": _apply_call,
    "read-back": _apply_read_back,
    "confirm": _apply_confirmation,
    "ask-status": _apply_question,
    "status": _apply_status,
}
"""Verb of a message between roles -> function that adds the message to the calls."""


def _replace_call(calls: TeamCalls, old_call: TeamCall, new_call: TeamCall) -> TeamCalls:
    return tuple(new_call if team_call is old_call else team_call for team_call in calls)


def find_speaker(calls: TeamCalls, input_: Input, keys: Iterable[str]) -> str:
    """Return the role that sends *input_*, a message that does not name its sender.

    It is the role whose reply is awaited; otherwise the first role that is not the addressee.
    """
    addressee = input_.args[0]
    turns: dict[str, Callable[[TeamCall], bool]] = {
        "read-back": lambda call: call.by == addressee and call.kind == "order" and not call.is_correct,
        "confirm": lambda call: call.to == addressee and call.kind == "order" and bool(call.read_back),
        "status": lambda call: call.by == addressee and call.kind == "question",
    }
    turn = turns.get(input_.verb)
    for team_call in calls if turn is not None else ():
        if team_call.waits and turn is not None and turn(team_call):
            return team_call.by if input_.verb == "confirm" else team_call.to
    return next((key for key in keys if key != addressee), "")


# --- score --------------------------------------------------------------------------------------------------


def list_valid_orders(calls: TeamCalls) -> list[TeamCall]:
    """Return the orders. If an order was repeated, only the repetition counts."""
    return [team_call for team_call in calls if team_call.kind == "order" and team_call.repeated_tick is None]


def describe_call_error(call: TeamCall) -> str:
    """Describe the communication error of an order; "" if there is none."""
    if not call.read_back:
        return build_message("the order was not read back")
    if not call.is_correct:
        parts = (*call.missing, *call.strange)
        return build_message("the order was read back incorrectly ({words})", words=", ".join(parts))
    if call.confirmed_tick is None:
        return build_message("the read-back was not confirmed")
    if call.is_premature:
        return build_message("the order was executed before it was confirmed")
    return ""


def count_closed_orders(calls: TeamCalls, role: str) -> int:
    """Return the number of orders of *role* that were read back correctly and confirmed before execution."""
    return arithmetic.add_in_order(order.by == role and order.closed for order in list_valid_orders(calls))


def count_true_statuses(calls: TeamCalls, role: str) -> int:
    """Return the number of true statuses that *role* has reported."""
    return arithmetic.add_in_order(team_call.to == role and team_call.true is True for team_call in calls)
