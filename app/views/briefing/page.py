"""Page before a drill: the brief and the choice of a mode."""

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QLabel,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app.files import drill_difficulty, journal_file
from app.view_models.start_page import get_level_title
from app.widgets import theme
from app.widgets.busy_cursor import show_preparing_text
from app.widgets.key_button import KeyButton, build_back_button
from app.widgets.layouts import EmptySpace, build_row, build_widget_column
from app.widgets.markdown_view import MarkdownView
from app.widgets.scroll_container import wrap_in_scroll_area
from app.words import formatting
from app.words.language import mark, tr
from engine.drill.authoring.schema import Scenario
from engine.drill.judging import skills
from engine.overrides import override

MODE_CHOICES: Final = (
    ("practice", mark("Practice"), mark("hints cost points")),
    ("guided", mark("Guided"), mark("hints are free")),
    ("exam", mark("Exam"), mark("no hints")),
)
"""(mode, label, effect on hints) for each mode of a scored drill. The first mode is the default."""

PAGE_MARGINS_PX: Final = 24
MODE_GAP_PX: Final = 24
"""Gap between two modes in a row. It is wider than the gap between a radio button and its text."""
PAGE_WIDTH_MAX_LINES: Final = 48
"""Maximum width of the page in line heights, because very long lines are hard to read."""


class BriefPage(QWidget):
    """Page with the brief of a drill, shown before its clock starts."""

    start_wanted = Signal(str)
    """Signal: chosen mode."""
    leave_wanted = Signal()
    copy_wanted = Signal()
    """Signal: the user wants to create a drill from this one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel()
        self._title.setObjectName("title")
        self._facts = QLabel()
        self._facts.setProperty("muted", "true")
        for label in (self._title, self._facts):
            label.setTextFormat(
                Qt.TextFormat.PlainText
            )  # a scenario may come from a stranger and contain HTML
            label.setWordWrap(True)
        self._text = MarkdownView(full_height=True)
        self._text.setAccessibleName(tr("Brief"))
        self._goals_title = build_heading(tr("Goals"))
        self._goals = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._goals.setObjectName("goals")
        self._modes = QButtonGroup(self)
        self._mode_box = QWidget()
        self._mode_box.setObjectName("modes")
        self._start = KeyButton(tr("Start the clock"), "Enter")
        self._start.setProperty("primary", "true")
        self._start.setDefault(True)
        self._start.clicked.connect(self._begin_drill)
        self._back_button = build_back_button(tr("Back to the drills"), self, self.leave_wanted)
        self._copy = QPushButton(tr("Edit a copy"))
        self._copy.clicked.connect(self.copy_wanted)
        self._details_link = QPushButton()
        self._details_link.setProperty("link", "true")
        self._details_link.setCheckable(True)
        self._details_link.toggled.connect(lambda _: self._show_details())
        self._details = QLabel()
        self._details.setProperty("muted", "true")
        self._details.setWordWrap(True)
        self._details.setTextFormat(Qt.TextFormat.PlainText)
        self._appendix = MarkdownView(full_height=True)
        self._appendix.setObjectName("appendix")
        self._appendix.hide()
        self._buttons = QWidget()
        self._scored = True
        self._card = QFrame()
        self._card.setProperty("card", "true")
        self._lay_out()
        self._show_font()
        theme.call_after_events(self, theme.FONT_EVENTS, self._show_font)
        theme.call_after_events(self, theme.SIZE_EVENTS, self._adjust_width)

    def _lay_out(self) -> None:
        modes = self._mode_row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._mode_box)
        modes.setContentsMargins(0, 0, 0, 0)
        for name, title, description in MODE_CHOICES:
            button = QRadioButton(f"{tr(title)}: {tr(description)}")
            button.setObjectName(name)
            button.setChecked(name == MODE_CHOICES[0][0])
            self._modes.addButton(button)
            modes.addWidget(button)
        modes.addStretch()
        build_row(self._back_button, self._copy, 0, self._start, parent=self._buttons, margins=0)
        build_widget_column(
            self._title,
            self._facts,
            self._text,
            self._goals_title,
            self._goals,
            self._mode_box,
            self._appendix,
            (self._details_link, 0, Qt.AlignmentFlag.AlignLeft),
            self._details,
            EmptySpace(8),
            self._buttons,
            parent=self._card,
            margins=(28, 22, 28, 22),
            spacing=10,
        )
        middle = QWidget()
        column = QVBoxLayout(middle)
        row = build_row(0, self._card, 0)
        column.addStretch(2)
        column.addLayout(row)
        column.addStretch(3)
        build_widget_column(wrap_in_scroll_area(middle), parent=self, margins=0)

    @property
    def mode(self) -> str:
        """Selected mode. A scenario without a rubric has the mode free play."""
        button = self._modes.checkedButton()
        return button.objectName() if self._scored and button is not None else "lab"

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Start the drill on Enter, as the key cap shows, unless a button has the focus."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self._start.click()
        else:
            super().keyPressEvent(event)

    def _begin_drill(self) -> None:
        with show_preparing_text(self._start):
            self.start_wanted.emit(self.mode)

    def show_scenario(self, scenario: Scenario) -> None:
        """Show the brief of a scenario."""
        self._title.setText(scenario.title)
        facts = [
            get_level_title(scenario.level),
            tr("about {minutes} minutes").format(minutes=scenario.minutes),
        ]
        facts += (
            [
                tr("ends after {length} minutes").format(
                    length=formatting.format_plain_number(scenario.length / 60.0)
                )
            ]
            if scenario.length
            else []
        )
        self._facts.setText("  ·  ".join(facts))
        self._text.show_text(scenario.brief)
        self._goals.setVisible(bool(scenario.goals))
        self._goals.setText("\n".join(f"•  {goal.text}" for goal in scenario.goals))
        self._goals_title.setVisible(bool(scenario.goals))
        self._scored = scenario.scored
        self._mode_box.setVisible(scenario.scored)
        self._details.setText("\n".join(_list_details(scenario)))
        self._details_link.setChecked(False)
        self._show_details()

    def _show_details(self) -> None:
        are_details_shown = self._details_link.isChecked()
        self._details_link.setText(tr("Hide details") if are_details_shown else tr("Details"))
        self._details_link.setVisible(bool(self._details.text()) and not self._buttons.isHidden())
        self._details.setVisible(are_details_shown)

    def show_read_only(self, mode: str, appendix: str) -> None:
        """Show the page without buttons, as a reader in *mode* sees it, and *appendix* (Markdown) below it."""
        for button in self._modes.buttons():
            button.setChecked(button.objectName() == mode)
            button.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._buttons.hide()
        self._details_link.setChecked(False)
        self._show_details()
        self._appendix.setVisible(bool(appendix))
        self._appendix.show_text(appendix)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_font()  # the style sheet resets the fonts when it is first applied
        if not self._buttons.isHidden():
            self._start.setFocus()

    def _show_font(self) -> None:
        self._title.setFont(theme.resize_font(self.font(), 1.8, bold=True))
        for text in (self._text, self._appendix):
            text.setFont(theme.resize_font(self.font(), 1.1))
        self._adjust_width()

    def _adjust_width(self) -> None:
        """Set the text to a readable width. Arrange the modes in a row, or in a column if a row is too wide."""
        width = min(PAGE_WIDTH_MAX_LINES * self.fontMetrics().height(), self.width() - PAGE_MARGINS_PX)
        self._card.setFixedWidth(max(1, width))
        longest = sum(button.sizeHint().width() + MODE_GAP_PX for button in self._modes.buttons())
        has_room = longest <= width - 56
        direction = QBoxLayout.Direction.LeftToRight if has_room else QBoxLayout.Direction.TopToBottom
        self._mode_row.setDirection(direction)
        self._mode_row.setSpacing(MODE_GAP_PX if has_room else MODE_GAP_PX // 4)


def _list_details(scenario: Scenario) -> list[str]:
    """Return text lines: the trained skills, the part of the course, the proof of par and the sources."""
    lines = []
    if scenario.skills:
        titles = ", ".join(tr(skills.get_skill_title(key)) for key in scenario.skills)
        lines.append(tr("Trains: {skills}").format(skills=titles))
    lesson = journal_file.load_course_drills().get(scenario.name)
    if lesson is not None:
        course_text = tr("Course, part {n} “{title}”").format(n=lesson.part, title=tr(lesson.part_title))
        lines.append(f"{course_text}: {lesson.teaches}")
    lines += (
        [proved] if (proved := drill_difficulty.describe_certificate(scenario.name, scenario.text)) else []
    )
    sources = [f"{source.paper}: {source.section}" for source in scenario.sources]
    return [*lines, *(tr("Source: {source}").format(source=source) for source in sources)]


def build_heading(text: str) -> QLabel:
    """Build a heading label."""
    label = QLabel(text, wordWrap=True)
    label.setFont(theme.resize_font(label.font(), 1.05, bold=True))
    return label
