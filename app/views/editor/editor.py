"""Editor page: text on the right, form, timeline and preview on the left, and findings below."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pygments.lexers import TOMLLexer
from pygments.token import Token, _TokenType
from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QSplitter, QTabWidget, QWidget

from app.views.editor.findings import (
    ParsingResult,
    ProblemList,
    ScenarioChecker,
    TrialResult,
    apply_fix,
    describe_problem,
    find_problem_path,
)
from app.views.editor.form import ScenarioForm
from app.views.editor.input_completion import find_completions
from app.views.editor.preview import BriefPreview, BriefPreviewPage
from app.views.editor.timeline_view import TimelineView
from app.widgets import keys, theme
from app.widgets.bars import ButtonBar
from app.widgets.code_edit import CodeEditor
from app.widgets.highlight import SyntaxHighlighter, count_utf16_units
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.theme import ThemeTokens
from app.words.language import tr, trn
from engine.drill.authoring.problems import FileProblem, find_positions
from engine.drill.authoring.scenario import Scenario
from engine.overrides import override

TOKEN_COLORS: Final[tuple[tuple[_TokenType, str], ...]] = (
    (Token.Keyword, "keyword"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Literal.Date, "number"),
    (Token.Comment, "comment"),
    (Token.Name, "function"),
)
"""Kind of token -> theme color. The first match applies."""

TARGET_LINE_SHARE_MAX: Final = 0.75
"""Lowest position of the cursor line that needs no scrolling, as a share of the height of the view.

A lower line is centered, so that the lines after it are visible.
"""


def get_token_color(kind: _TokenType, _: str) -> str | None:
    """Return the name of the theme color for a token, or None for the normal text color."""
    return next((color_name for family, color_name in TOKEN_COLORS if kind in family), None)


def create_toml_highlighter(document: QTextDocument, colors: ThemeTokens) -> SyntaxHighlighter:
    """Create a highlighter that colors TOML in *document*."""
    return SyntaxHighlighter(document, colors, TOMLLexer(stripnl=False, ensurenl=False), get_token_color)


class TomlEditor(CodeEditor):
    """Editor of the scenario text, with completion from the schema."""

    WORD_BEFORE = re.compile(r"(?<![\w\-])[\w\-]*+$")

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(find_completions, create_toml_highlighter, parent)
        self.setAccessibleName(tr("Text of the scenario"))

    def move_cursor_to(self, line: int, column: int) -> None:
        """Move the cursor to *line* and *column* (counted from 1) and scroll there. The focus is unchanged."""
        block = self.document().findBlockByNumber(max(0, min(line, self.blockCount()) - 1))
        cursor = QTextCursor(block)
        before = count_utf16_units(block.text()[: column - 1])
        cursor.setPosition(block.position() + min(before, block.length() - 1))
        self.setTextCursor(cursor)
        self.centerCursor()

    def scroll_to_line(self, line: int) -> None:
        """Move the cursor to *line* (counted from 1), for an author who edits in another view.

        Scroll only if the line is outside the view or in its lower quarter. Select nothing, because the next
        key would replace a selection.
        """
        self.setTextCursor(
            QTextCursor(self.document().findBlockByNumber(max(0, min(line, self.blockCount()) - 1)))
        )
        cursor_rect = self.cursorRect()
        if not 0 < cursor_rect.top() < self.viewport().height() * TARGET_LINE_SHARE_MAX:
            self.centerCursor()


CHECK_DELAY_MS: Final = 350
"""Pause in typing after which the text is checked. Assumed: long enough to finish a word."""
DRAFT_FILE: Final = "new-scenario.toml"
PROBLEM_STEP_ACTIONS: Final = ("edit.problem", "edit.problem_before")
ACTIONS_WITHOUT_BUTTON: Final = (
    "edit.undo", "edit.redo", *PROBLEM_STEP_ACTIONS,
    "edit.form", "edit.timeline", "edit.preview", "edit.text", "edit.findings",
)  # fmt: skip
"""Names of actions without a button. Undo and redo also apply to changes by form and timeline."""
_SHORTCUT_OVERRIDE, _KEY_PRESS = QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress


class ScenarioEditor(QWidget):
    """Scenario editor.

    It does not write files, but emits signals to its owner, which then calls `mark_saved`.
    """

    new_wanted = Signal()
    open_wanted = Signal()
    save_wanted = Signal()
    save_as_wanted = Signal()
    recording_wanted = Signal()
    """Signal: the user wants to edit the last run of the lab as a scenario."""
    play_wanted = Signal(object)
    """Signal: Scenario of the current text, to be played."""
    closed = Signal()
    draft_changed = Signal()

    def __init__(self, brief: BriefPreviewPage, parent: QWidget | None = None) -> None:
        """Create the editor. *brief* is the brief page that the preview uses."""
        super().__init__(parent)
        self.setObjectName("editor")  # the help finds the page of the editor by this name
        self.file: Path | None = None
        self.draft_name = ""
        self._saved_text = ""
        self._checked_text = ""
        self._reading: ParsingResult | None = None
        self._split_by_hand = False
        self._checker = ScenarioChecker(self)
        self._checker.text_parsed.connect(self._show_parsing_result)
        self._checker.solution_played.connect(self._show_trial)
        self._check_timer = QTimer(self, singleShot=True, interval=CHECK_DELAY_MS)
        self._check_timer.timeout.connect(self.check_now)
        self.text = TomlEditor()
        self.text.textChanged.connect(self._on_typed)
        self.form, self.timeline = ScenarioForm(), TimelineView()
        for view in (self.form, self.timeline):
            view.text_changed.connect(self.text.apply_differences)
            view.text_now = self.text.toPlainText
        for view in (self.form, self.timeline):
            view.path_chosen.connect(self._show_path)
        self.timeline.edit_in_text_wanted.connect(self._edit_in_text)
        self.preview = BriefPreview(brief)
        self.findings = ProblemList()
        self.findings.problem_selected.connect(self._show_problem)
        self.findings.fix_wanted.connect(
            lambda fix: self.text.apply_differences(apply_fix(self.text.toPlainText(), fix))
        )
        self.findings.height_changed.connect(self._share_height)
        self.tabs = QTabWidget()
        self._lay_out()
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)
        self._name.setFont(theme.resize_font(self.font(), 1.2, bold=True))
        self._show_name()
        theme.call_after_events(self, theme.SIZE_EVENTS, self._share_height)

    # --- layout ---------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._name = QLabel()
        self._state = QLabel()
        self._state.setProperty("muted", "true")
        bar = QFrame()
        bar.setProperty("bar", "true")
        names = build_widget_column(self._name, self._state, spacing=0)
        self.tools = self._make_tools()
        toolbar = ButtonBar(tr("Scenario editor"))
        toolbar.add_actions(
            action for name, action in self.tools.items() if name not in ACTIONS_WITHOUT_BUTTON
        )
        build_row((names, 2), (toolbar, 3), parent=bar, margins=(12, 6, 12, 6))
        self.tabs.addTab(self.form, tr("Form"))
        self.tabs.addTab(self.timeline, tr("Timeline"))
        self.tabs.addTab(self.preview, tr("Preview"))
        self.tabs.currentChanged.connect(lambda _: self._show_views())
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.tabs)
        splitter.addWidget(self.text)
        splitter.setChildrenCollapsible(False)
        splitter.setSizes([560, 640])
        down = QSplitter(Qt.Orientation.Vertical)
        down.addWidget(splitter)
        down.addWidget(self.findings)
        down.setChildrenCollapsible(False)
        down.splitterMoved.connect(self._on_split)
        self._down = down
        build_widget_column(bar, (down, 1), parent=self, margins=0, spacing=0)

    def _make_tools(self) -> dict[str, QAction]:
        """Return action name -> action of the toolbar. The names are those in `app.widgets.keys`."""
        doings: dict[str, Callable[[], None]] = {
            "edit.new": self.new_wanted.emit,
            "edit.open": self.open_wanted.emit,
            "edit.save": self.save_wanted.emit,
            "edit.save_as": self.save_as_wanted.emit,
            "edit.undo": self.text.undo,
            "edit.redo": self.text.redo,
            "edit.record": self.recording_wanted.emit,
            "edit.try": self.play_solution,
            "edit.form": lambda: self._focus_view(self.form, self.form.sections_field),
            "edit.timeline": lambda: self._focus_view(self.timeline, self.timeline.list),
            "edit.preview": lambda: self._focus_view(self.preview, self.preview.reader),
            "edit.text": self.text.setFocus,
            "edit.findings": self.findings.rows.setFocus,
            "edit.problem": lambda: self._select_next_problem(1),
            "edit.problem_before": lambda: self._select_next_problem(-1),
            "edit.play": self._play_scenario,
            "edit.close": self.closed.emit,
        }
        tools = {name: QAction(tr(keys.COMMANDS_BY_NAME[name].text), self) for name in doings}
        for name, action in tools.items():
            action.setObjectName(name)
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(lambda _=False, do=doings[name]: do())
            self.addAction(action)
        return tools

    # --- the text -------------------------------------------------------------------------------------------

    def show_text(self, text: str, file: Path | None, saved: bool = True, name: str = "") -> None:
        """Edit *text*, which belongs to *file*, or to no file yet if *file* is None.

        *saved*: whether *file* contains this text. *name*: suggested file name for a text without a file.
        """
        self.file, self.draft_name = file, name
        self._saved_text = text if saved else ""
        self.text.setPlainText(text)
        self._show_views()
        self.check_now()
        self._show_name()
        self.text.setFocus()

    def mark_saved(self, file: Path) -> None:
        """Record that *file* contains the current text."""
        self.file, self._saved_text = file, self.text.toPlainText()
        self.check_now()
        self._show_name()

    @property
    def has_unsaved_changes(self) -> bool:
        """True if there are unsaved changes."""
        return self.text.toPlainText() != self._saved_text

    @property
    def scenario(self) -> Scenario | None:
        """Scenario of the text.

        None if the text changed since the last check, or has problems that prevent playing.
        """
        is_current = self._reading is not None and self._reading.text == self.text.toPlainText()
        return self._reading.scenario if is_current and self._reading is not None else None

    @property
    def file_name(self) -> str:
        """Name of the file. A new text has a suggested name."""
        if self.file is not None:
            return self.file.name
        return f"{self.draft_name}.toml" if self.draft_name else DRAFT_FILE

    def check_now(self) -> None:
        """Start to check the text in the background."""
        self._check_timer.stop()
        self._checker.parse_text(self.text.toPlainText(), self.file_name)

    def play_solution(self) -> None:
        """Play the reference solution and a run without inputs in the background, and show both scores."""
        self.parse_if_changed()
        if self.scenario is not None:
            self.findings.show_trial_running()
            self._checker.play_solution(self.scenario, self.file_name)

    def parse_if_changed(self) -> None:
        """Apply pending input of the form and parse the text if it has changed.

        An action that follows then uses the current text.
        """
        self.form.apply_pending_input()
        if self._reading is None or self._reading.text != self.text.toPlainText():
            self._check_timer.stop()
            self._checker.parse_text_now(self.text.toPlainText(), self.file_name)

    def stop_work(self) -> None:
        """Stop all background work, before the window closes."""
        self._check_timer.stop()
        self._checker.wait_until_idle()

    def _play_scenario(self) -> None:
        self.parse_if_changed()
        if self.scenario is not None:
            self.play_wanted.emit(self.scenario)

    def _on_typed(self) -> None:
        text = self.text.toPlainText()
        if text == self._checked_text:  # Qt also reports a change when only the colors changed
            return
        self._checked_text = text
        self._checker.cancel_trial()
        self._check_timer.start()
        self._show_name()
        self.draft_changed.emit()

    # --- outcome ---------------------------------------------------------------------------------------------

    def _show_parsing_result(self, parsing_result: ParsingResult) -> None:
        if parsing_result.text != self.text.toPlainText():
            return
        self._reading = parsing_result
        self.findings.show_parsing_result(parsing_result)
        self._mark_problems()
        self._show_views()
        self._show_name()

    def _show_trial(self, trial: TrialResult) -> None:
        if trial.text == self.text.toPlainText():
            self.findings.show_trial_result(trial)
            self._mark_problems()

    def _mark_problems(self) -> None:
        """Mark the problems in the text and in the form."""
        colors = theme.get_theme_tokens(self.palette())
        text = self.text.toPlainText()
        problems = self.findings.problems
        self.text.mark_lines([(problem.line, colors.bad) for problem in problems])
        self.form.show_problems(
            {find_problem_path(text, problem): describe_problem(problem) for problem in problems}
        )

    def _focus_view(self, view: QWidget, focus_target: QWidget) -> None:
        """Show *view* and focus *focus_target*.

        Keyboard users cannot leave the text with Tab, because Tab inserts a tab there.
        """
        self.tabs.setCurrentWidget(view)
        focus_target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _select_next_problem(self, offset: int) -> None:
        self.parse_if_changed()
        self.findings.select_next_problem(offset)

    def _show_problem(self, problem: FileProblem, take_focus: bool) -> None:
        """Show a problem in the text, in the form and on the timeline.

        Focus the text if *take_focus* is True.
        """
        path = find_problem_path(self.text.toPlainText(), problem)
        in_form = self.form.isAncestorOf(self.focusWidget() or self)
        self.text.move_cursor_to(problem.line, problem.column)
        if path or self.tabs.currentWidget() is self.form:
            self.form.show_path(path, take_focus=in_form)
        self.timeline.show_path(path[:2])
        if take_focus:
            self.text.setFocus()

    def _on_split(self) -> None:
        self._split_by_hand = True

    def _share_height(self) -> None:
        """Give the findings the height of their rows, unless the user moved the splitter."""
        if not self._split_by_hand or not self.findings.rows.count():
            wanted_height = min(self.findings.wanted_height, self._down.height() // 2)
            self._down.setSizes([max(1, self._down.height() - wanted_height), wanted_height])

    def event(self, event: QEvent) -> bool:
        """Handle the keys for the next and previous problem.

        The desk also uses F8, so the editor takes it first.
        """
        if isinstance(event, QKeyEvent) and event.type() in (_SHORTCUT_OVERRIDE, _KEY_PRESS):
            pressed = QKeySequence(event.keyCombination())
            for name in PROBLEM_STEP_ACTIONS:
                if pressed in self.tools[name].shortcuts():
                    event.accept()
                    if event.type() == _KEY_PRESS:
                        self.tools[name].trigger()
                    return True
        return super().event(event)

    def _on_focus(self, _: QWidget | None, focused: QWidget | None) -> None:
        """Update the view that receives the focus, because it must show the current text."""
        for view in (self.form, self.timeline):
            if focused is not None and view.isAncestorOf(focused) and self.has_unparsed_text:
                view.show_text(self.text.toPlainText())
        path = self.form.page.find_path(focused) if focused is not None else None
        if path is not None:
            self._show_path(path)

    @property
    def has_unparsed_text(self) -> bool:
        """True if the text has changed since it was last parsed."""
        return self._reading is None or self._reading.text != self._checked_text

    def _show_views(self) -> None:
        """Update the visible view. Hidden views are updated when they are selected."""
        for view in (self.form, self.timeline):
            if view is self.tabs.currentWidget():
                view.show_text(self.text.toPlainText())
                return
        if self._reading is not None:
            self.preview.show_scenario(self._reading.scenario)

    def _show_path(self, path: tuple[str | int, ...]) -> None:
        """Scroll the text to the element at *path*, which another view selected, or to its container."""
        try:
            positions = find_positions(self.text.toPlainText())
        except (AssertionError, ValueError, IndexError):  # the text is currently not valid TOML
            return
        position = next((positions[path[:n]] for n in range(len(path), 0, -1) if path[:n] in positions), None)
        if position is not None:
            self.text.scroll_to_line(position.line)

    def _edit_in_text(self, path: tuple[str | int, ...]) -> None:
        self._show_path(path)
        self.text.setFocus()

    def _show_name(self) -> None:
        self._name.setText(self.file_name)
        playable = self._reading is not None and self._reading.scenario is not None
        problems = 0 if self._reading is None else len(self._reading.problems)
        save_state = (
            tr("changed, not saved")
            if self.has_unsaved_changes
            else tr("saved")
            if self.file
            else tr("new, not saved yet")
        )
        parts = [save_state]
        if problems:
            parts.append(trn("{n} problem", "{n} problems", problems).format(n=problems))
        self._state.setText("  ·  ".join(parts))
        for name in ("edit.try", "edit.play"):
            self.tools[name].setEnabled(playable)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._mark_problems()
        elif event.type() == QEvent.Type.FontChange:
            self._name.setFont(theme.resize_font(self.font(), 1.2, bold=True))
