"""Questions about past events, predictions of future events, and the state of goals and hints.

A question or prediction is asked once and answered at most once.
"""

from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.drill.authoring.schema import Goal, Prediction, Question
from engine.localization import LocalizableMessage, build_message, join_messages, mark
from engine.model import Tick, to_ticks

Inquiry = Question | Prediction
"""Question about the past, or prediction."""

JUDGED_LATER_REPLY: Final = build_message("The correct answer is shown after the drill.")
"""Reply to an answer that is judged only after the drill."""

InquiryChange = Literal["asked", "missed", "judged"]
"""Change of an inquiry that is reported as an event."""


class InquiryState(Struct, frozen=True):
    """State of a question or prediction in a run: its times, the answer and the correct choices."""

    since_tick: Tick | None = None
    """Tick since which the condition of the question is met."""
    asked_tick: Tick | None = None
    answered_tick: Tick | None = None
    choice: int | None = None
    """Number of the chosen answer, from 1; None if not answered."""
    sure_percent: float | None = None
    """Confidence of the trainee in the answer; None if not stated."""
    missed_tick: Tick | None = None
    """Tick at which the time to answer ended; None if it has not."""
    judged_tick: Tick | None = None
    """Tick at which a prediction was judged; None until then."""
    correct_choices: tuple[int, ...] = ()
    """Numbers of the correct choices; empty until they are determined."""
    explanation: str = ""
    """Explanation of the correct answer; empty until it is determined."""
    void_tick: Tick | None = None
    """Tick at which the question was due although its premise was not met. Such a question is never asked.

    A question with a condition (`when`) cannot become void. It waits until the condition is met again.
    """

    @property
    def open(self) -> bool:
        """True if the question was asked and can still be answered."""
        return self.asked_tick is not None and self.choice is None and self.missed_tick is None

    @property
    def correct(self) -> bool:
        """True if the answer is judged and correct."""
        return self.choice is not None and self.choice in self.correct_choices


class OpenQuestion(Struct, frozen=True):
    """Question that can be answered now. The correct choices are not included."""

    name: str
    prediction: bool
    """True if the question is a prediction."""
    text: str
    choices: tuple[str, ...]
    asked_tick: Tick
    until_tick: Tick | None
    """Tick until which an answer is accepted; None means no limit."""


def build_open_question(inquiry: Inquiry, answer: InquiryState) -> OpenQuestion:
    """Build the displayed form of a question, without the correct choices."""
    assert answer.asked_tick is not None, "only what has been asked is shown"
    return OpenQuestion(
        inquiry.name,
        is_prediction(inquiry),
        inquiry.text,
        inquiry.texts,
        answer.asked_tick,
        _find_answer_deadline(inquiry, answer.asked_tick),
    )


def is_prediction(inquiry: Inquiry) -> bool:
    """Return whether the inquiry is a prediction, not a question about the past."""
    return isinstance(inquiry, Prediction)


def is_inquiry_counted(inquiry: Inquiry, answer: InquiryState, ended_by_trainee: bool) -> bool:
    """Return whether the question counts in the score of a completed drill.

    A question that was not asked or not judged counts only if the trainee ended the drill
    (*ended_by_trainee*). A question does not count if the trainee chose an answer and none of the
    choices came true.
    """
    if answer.void_tick is not None:
        return False
    if answer.asked_tick is None or (is_prediction(inquiry) and answer.judged_tick is None):
        return ended_by_trainee
    return bool(answer.correct_choices) or answer.choice is None


def is_inquiry_settled(inquiry: Inquiry, answer: InquiryState) -> bool:
    """Return whether the drill can end without waiting longer for this question."""
    return not answer.open and (answer.judged_tick is not None or not is_prediction(inquiry))


def poll_inquiry(
    inquiry: Inquiry, answer: InquiryState, holds: Callable[[str], bool], tick: Tick
) -> tuple[InquiryState, InquiryChange | None]:
    """Evaluate a question at *tick*, and return its new state and the change to report, if any.

    *holds*: function that evaluates a condition.
    """
    if answer.void_tick is not None:
        return answer, None
    if answer.asked_tick is None:
        return _ask_if_due(inquiry, answer, holds, tick)
    if isinstance(inquiry, Prediction) and answer.judged_tick is None:
        inquiry_answer = _judge_if_due(inquiry, answer, answer.asked_tick, holds, tick)
        if inquiry_answer is not None:
            return inquiry_answer, "judged"
    deadline = _find_answer_deadline(inquiry, answer.asked_tick)
    if answer.open and deadline is not None and tick >= deadline:
        return replace(answer, missed_tick=tick), "missed"
    return answer, None


def _ask_if_due(
    inquiry: Inquiry, answer: InquiryState, holds: Callable[[str], bool], tick: Tick
) -> tuple[InquiryState, InquiryChange | None]:
    """Return (new state, change to report or None) of a question that has not been asked, at *tick*.

    *holds*: function that evaluates a condition.
    """
    since_tick = answer.since_tick
    if since_tick is None:
        if inquiry.when is not None and not holds(inquiry.when):
            return answer, None
        since_tick = tick if inquiry.when is not None else to_ticks(inquiry.at or 0.0)
    if tick < since_tick + to_ticks(inquiry.after):
        return replace(answer, since_tick=since_tick), None
    if not all(holds(text) for text in (inquiry.when, inquiry.premise) if text is not None):
        return replace(answer, since_tick=None, void_tick=tick if inquiry.when is None else None), None
    right, reason = _find_right_choices(inquiry, holds)
    inquiry_answer = replace(
        answer, since_tick=since_tick, asked_tick=tick, correct_choices=right, explanation=reason
    )
    # a question that was answered before a rewind is not asked again
    return (
        inquiry_answer,
        "asked" if inquiry_answer.open else None,
    )


def _judge_if_due(
    inquiry: Prediction, answer: InquiryState, asked_tick: Tick, holds: Callable[[str], bool], tick: Tick
) -> InquiryState | None:
    """Return the judged state of a prediction; None if its judgment is not due at *tick*.

    *holds*: function that evaluates a condition.
    """
    if tick < asked_tick + to_ticks(inquiry.judged_after):
        return None
    right = tuple(number for number, choice in enumerate(inquiry.choices, 1) if holds(choice.when))
    return replace(
        answer,
        judged_tick=tick,
        correct_choices=right,
        missed_tick=tick if answer.open else answer.missed_tick,
    )


def _find_right_choices(inquiry: Inquiry, holds: Callable[[str], bool]) -> tuple[tuple[int, ...], str]:
    """Return (correct choices, explanation) of a question in the current state of the run.

    The choices of a prediction are determined later, at its judgment. *holds*: function that evaluates a
    condition.
    """
    if not isinstance(inquiry, Question):
        return (), inquiry.why
    fitting = next((alternative for alternative in inquiry.instead if holds(alternative.when)), inquiry)
    return fitting.right, fitting.why


def find_deadline(inquiry: Inquiry, answer: InquiryState) -> Tick | None:
    """Return the tick until which the drill waits for an answer or a judgment; None means no limit."""
    assert answer.asked_tick is not None, "only what has been asked is waited for"
    if isinstance(inquiry, Prediction) and not answer.open:
        return answer.asked_tick + to_ticks(inquiry.judged_after)
    return _find_answer_deadline(inquiry, answer.asked_tick)


def _find_answer_deadline(inquiry: Inquiry, asked_tick: Tick) -> Tick | None:
    return None if inquiry.within is None else asked_tick + to_ticks(inquiry.within)


def record_answer(
    answer: InquiryState, choice: int, tick: Tick, sure_percent: float | None = None
) -> InquiryState:
    """Return the state *answer* of a question with the chosen answer *choice*, given at *tick*.

    *sure_percent*: stated confidence; None if not stated.
    """
    return replace(answer, answered_tick=tick, choice=choice, sure_percent=sure_percent)


def record_missed_answer(answer: InquiryState, tick: Tick) -> InquiryState:
    """Return the state *answer* of a question as missed at *tick*."""
    return replace(answer, missed_tick=tick)


def format_verdict(inquiry: Inquiry, answer: InquiryState) -> LocalizableMessage:
    """Format the given answer, the correct answer and the explanation.

    Call this only if they may be revealed.
    """
    if answer.asked_tick is None:
        return join_messages(" ", (inquiry.text, build_message("Not asked: the drill ended first.")))
    answer_text = build_message("Not answered.")
    if answer.choice is not None:
        answer_text = build_message(
            "Your answer: {choice}.", choice=_quote_choices(inquiry, (answer.choice,))
        )
    if isinstance(inquiry, Prediction) and answer.judged_tick is None:
        return join_messages(
            " ", (inquiry.text, answer_text, build_message("Not decided: the drill ended first."))
        )
    right = build_message("None of the possible outcomes occurred.")
    if answer.correct:
        right = build_message("Correct.")
    elif answer.correct_choices:
        right = build_message(
            "Correct answer: {choice}.", choice=_quote_choices(inquiry, answer.correct_choices)
        )
    return join_messages(" ", (inquiry.text, answer_text, right, answer.explanation))


def _quote_choices(inquiry: Inquiry, numbers: tuple[int, ...]) -> LocalizableMessage:
    first_message, *messages = (
        build_message("“{choice}”", choice=inquiry.texts[number - 1].rstrip(".")) for number in numbers
    )
    for choice in messages:
        first_message = build_message("{choice} or {other}", choice=first_message, other=choice)
    return first_message


# --- state of goals ---------------------------------------------------------------------------------------


class GoalState(Struct, frozen=True):
    """State of a goal. Each tick is None until its event occurs."""

    since_tick: Tick | None = None
    """Tick since which the condition is met."""
    met_tick: Tick | None = None
    """Tick at which the goal was reached."""
    missed_tick: Tick | None = None
    """Tick at which the deadline passed without the goal."""

    @property
    def is_reached(self) -> bool:
        """Return whether the goal is currently reached."""
        return self.met_tick is not None


UNMET_GOAL_STATE: Final = GoalState()
"""State of a goal whose condition is not met."""

GOAL_CHANGE_TEXTS = {
    "met": mark("goal met: {goal}"),
    "lost": mark("goal no longer met: {goal}"),
    "missed": mark("goal missed (deadline passed): {goal}"),
}
"""Change of a goal -> message template of the event."""


def format_goal_change(change: str, goal: Goal) -> LocalizableMessage:
    """Format the event text for the change *change* (a key of GOAL_CHANGE_TEXTS) of *goal*."""
    return build_message(GOAL_CHANGE_TEXTS[change], goal=goal.text)


def update_goal(goal: Goal, state: GoalState, holds: bool, tick: Tick) -> tuple[GoalState, str | None]:
    """Return the new state of a goal at *tick*, and its change (a key of GOAL_CHANGE_TEXTS), if any.

    *holds*: True if the condition of the goal is met. A reached goal can be lost again. A goal that is
    not reached by its deadline is missed for good.
    """
    if tick < to_ticks(goal.after) or state.missed_tick is not None:
        return state, None
    if not holds:
        news = "lost" if state.is_reached else None
        state = UNMET_GOAL_STATE
    else:
        since_tick, news = tick if state.since_tick is None else state.since_tick, None
        if not state.is_reached and tick - since_tick >= to_ticks(goal.hold):
            state, news = GoalState(since_tick, tick), "met"
        elif state.since_tick is None:
            state = GoalState(since_tick, state.met_tick)
    if goal.within is not None and not state.is_reached and tick >= to_ticks(goal.within):
        return GoalState(state.since_tick, missed_tick=tick), "missed"
    return state, news


class OpenedHint(Struct, frozen=True):
    """Opened hint with its cost."""

    tick: Tick
    goal: str
    layer: int
    """Layer of the hint, from 1 to 3."""
    cost: float
