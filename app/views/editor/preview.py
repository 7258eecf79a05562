"""Preview of the brief for a learner, an exam candidate or the instructor, with the texts that appear later."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from PySide6.QtWidgets import QComboBox, QLabel, QWidget

from app.widgets.layouts import build_row, build_widget_column
from app.words import formatting
from app.words.language import mark, tr
from engine.drill.authoring.scenario import Scenario
from engine.drill.authoring.schema import Inject, Prediction, Question, SolutionStep

LEARNER_READER, EXAM_READER, INSTRUCTOR_READER = "learner", "exam", "instructor"
READER_MODES: Final[Mapping[str, tuple[str, str]]] = {
    LEARNER_READER: (mark("Learner"), "practice"),
    EXAM_READER: (mark("In an exam"), "exam"),
    INSTRUCTOR_READER: (mark("Instructor"), "practice"),
}
"""Reader -> label, and the drill mode of this reader."""


class BriefPreviewPage(Protocol):
    """Interface of the brief page that the preview shows."""

    def show_scenario(self, scenario: Scenario) -> None:
        """Show the brief of a scenario."""

    def show_read_only(self, mode: str, appendix: str) -> None:
        """Show the brief without buttons, as in *mode*, with *appendix* (Markdown) below it."""


class BriefPreview(QWidget):
    """Preview of the brief on the real brief page. While the text is invalid, the last valid preview stays."""

    def __init__(self, brief: BriefPreviewPage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        assert isinstance(brief, QWidget)
        self.brief: BriefPreviewPage = brief
        self._scenario: Scenario | None = None
        self.reader = QComboBox()
        for reader, (title, _) in READER_MODES.items():
            self.reader.addItem(tr(title), reader)
        self.reader.setAccessibleName(tr("Preview for"))
        self.reader.currentIndexChanged.connect(self._show_preview)
        self.message = QLabel()
        self.message.setProperty("muted", "true")
        self.message.setWordWrap(True)
        top = build_row(self.reader, (self.message, 1))
        build_widget_column(top, (brief, 1), parent=self, margins=(12, 10, 0, 0))
        brief.hide()

    def show_scenario(self, scenario: Scenario | None) -> None:
        """Show *scenario*. None means that the text is currently invalid."""
        if scenario is None:
            self.message.setText(
                tr("This preview shows an earlier version. It is updated when the problems below are fixed.")
                if self._scenario is not None
                else tr("The preview appears when the problems below are fixed.")
            )
            return
        self.message.clear()
        self._scenario = scenario
        self._show_preview()

    def _show_preview(self) -> None:
        if self._scenario is None:
            return
        reader = self.reader.currentData()
        self.brief.show_scenario(self._scenario)
        self.brief.show_read_only(READER_MODES[reader][1], build_appendix(self._scenario, reader))
        assert isinstance(self.brief, QWidget)
        self.brief.show()


def build_appendix(scenario: Scenario, reader: str) -> str:
    """Return Markdown with the parts that *reader* sees in addition to the brief.

    An exam has no hints. Only the instructor sees all parts.
    """
    parts: list[str] = []
    if reader == LEARNER_READER:
        parts += [*_list_hints(scenario), *_format_questions(scenario)]
    if reader == EXAM_READER:
        parts += _format_questions(scenario)
    if reader == INSTRUCTOR_READER:
        parts += [*_list_roles(scenario), *_list_instructions(scenario), *_list_hint_texts(scenario)]
    return "\n\n".join(parts)


def _list_roles(scenario: Scenario) -> Iterator[str]:
    if scenario.roles:
        yield "#### " + tr("Roles")
    for role in scenario.roles:
        yield f"**{role.name}.** {role.text}"


def _format_questions(scenario: Scenario) -> Iterator[str]:
    if scenario.inquiries:
        yield "#### " + tr("Questions")
    for inquiry in scenario.inquiries:
        yield f"**{inquiry.text}**"
        yield _format_list(_escape_choices(inquiry.texts))


def _list_hints(scenario: Scenario) -> Iterator[str]:
    goals = {goal.name: goal.text for goal in scenario.goals}
    if scenario.hints:
        yield "#### " + tr("Hints")
        yield _format_list(
            tuple(
                tr("For {goal}: three layers of hints, {costs} points").format(
                    goal=goals.get(hint.goal, hint.goal),
                    costs=" + ".join(formatting.format_plain_number(cost) for cost in hint.cost),
                )
                for hint in scenario.hints
            )
        )


def _list_hint_texts(scenario: Scenario) -> Iterator[str]:
    goals = {goal.name: goal.text for goal in scenario.goals}
    if scenario.hints:
        yield "#### " + tr("Hints")
    for hint in scenario.hints:
        yield f"**{goals.get(hint.goal, hint.goal)}**"
        yield _format_list((hint.look, hint.means, hint.type))


def _list_instructions(scenario: Scenario) -> Iterator[str]:
    if scenario.facilitator:
        yield "#### " + tr("For the instructor")
        yield scenario.facilitator
    if scenario.timeline:
        yield "#### " + tr("Events")
        yield _format_list(
            f"{_format_time(inject)}: `{_format_line(inject.do)}`" for inject in scenario.timeline
        )
    if scenario.inquiries:
        yield "#### " + tr("Questions")
        for inquiry in scenario.inquiries:
            yield f"**{_format_time(inquiry)}:** {inquiry.text}"
            yield _format_list(_escape_choices(inquiry.texts))
            yield inquiry.why
    if scenario.solution:
        yield "#### " + tr("Reference solution")
        yield _format_list(
            f"{_format_wait_condition(step)}`{_format_line(step.do)}` – {step.why}"
            for step in scenario.solution
        )


def _format_time(inject: Inject | Question | Prediction) -> str:
    if isinstance(inject, Inject) and inject.between is not None:
        return tr("between {first} and {last} s").format(
            first=f"{inject.between[0]:g}", last=f"{inject.between[1]:g}"
        )
    if inject.when is not None:
        return tr("when {condition}").format(condition=inject.when)
    return tr("at {moment} s").format(moment=formatting.format_plain_number(inject.at or 0.0))


def _format_wait_condition(step: SolutionStep) -> str:
    """Return the condition that a step waits for. The time of a step is part of its input line."""
    if step.when is None:
        return ""
    waits = tr("when {condition}").format(condition=step.when)
    return f"{waits}: "


def _format_line(line: str) -> str:
    return " ".join(line.split())


_LIST_NUMBER: Final = re.compile(r"^(\d+)([.)])")
"""Start of a choice that Markdown would render as a numbered list."""
_MARKUP_PATTERN: Final = re.compile(r"([\\`*_\[\]<>#|~])|^([-+])(?=\s)")


def _escape_choices(texts: Iterable[str]) -> tuple[str, ...]:
    """Escape choices for Markdown, so that `201.` does not start a list and `*` is not emphasis."""
    return tuple(_LIST_NUMBER.sub(r"\1\\\2", _MARKUP_PATTERN.sub(r"\\\1\2", text)) for text in texts)


def _format_list(lines: Iterator[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {_format_line(line)}" for line in lines)
