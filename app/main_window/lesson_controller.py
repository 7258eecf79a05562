"""Practice after a run: the position before each mistake, the user's answer, and the better continuation."""

from collections.abc import Sequence

from app.files import par_certificates
from app.main_window.debrief_controller import DebriefController
from app.main_window.desk_page import DeskPage
from app.main_window.shared_parts import SharedParts, WindowPart
from app.main_window.task_runner import TaskRunner
from app.view_models.debrief import model as debrief_model
from app.view_models.debrief.model import DebriefModel
from app.views.lesson_bar import LessonBar
from engine.drill.par.lessons import AnswerJudgment, is_action, judge_action, judge_wait
from engine.drill.par.regret_analysis import RunSegment
from engine.drill.running.drill import Drill
from engine.inputs import Input


class LessonController(WindowPart):
    """Controller of practice after a run: the user tries a better action for each mistake.

    Nothing is recorded or scored.
    """

    def __init__(self, shared: SharedParts, page: DeskPage, debrief_controller: DebriefController) -> None:
        super().__init__(shared)
        self._debrief_controller = debrief_controller
        self.bar = LessonBar()
        page.insert_bar(self.bar)
        self._task = TaskRunner(self)
        self._model: DebriefModel | None = None
        self._lessons: tuple[RunSegment, ...] = ()
        self._at = 0
        self._seen_count = 0
        """Number of inputs that belong to the position or were already judged."""
        self._is_open = False
        """True while the user may answer."""
        self.bar.button_pressed.connect(self._handle_button)
        debrief_controller.lessons_wanted.connect(self.start)
        shared.session.world_changed.connect(lambda _: self._judge_answer())
        shared.session.events_occurred.connect(lambda _: self._judge_answer())
        shared.play.run_started.connect(lambda _: self._hide_bar())

    # --- lessons --------------------------------------------------------------------------------------------

    def start(self, model: DebriefModel, lessons: tuple[RunSegment, ...]) -> None:
        """Start to practice with the first of *lessons*, the mistakes of the run in *model*."""
        self._model, self._lessons = model, lessons
        self._show_lesson(0)

    def _show_lesson(self, number: int) -> None:
        """Show the position before a mistake, and ask for a better action."""
        self._at = number
        self._task.cancel_task()
        self._play.open_lesson_position(self._get_drill(), self._get_lesson(), self._ask_question)

    def _ask_question(self) -> None:
        model, live = self._model, self._session.live_drill
        if model is None or live is None:
            return
        self._seen_count, self._is_open = len(live.journal), True
        count = len(self._lessons)
        self.bar.show_card(
            debrief_model.build_question_card(self._get_lesson(), self._at + 1, count, model.choices)
        )

    def _get_lesson(self) -> RunSegment:
        return self._lessons[self._at]

    def _get_drill(self) -> Drill:
        drill = self._debrief_controller.drill
        assert drill is not None, "lessons are those of a run that could be replayed"
        return drill

    @property
    def _has_another_lesson(self) -> bool:
        return self._at + 1 < len(self._lessons)

    # --- answers --------------------------------------------------------------------------------------------

    def _judge_answer(self) -> None:
        """Judge the user's action, if there is a new action."""
        live = self._session.live_drill
        if not self._is_open or live is None or not self._play.is_practicing or self._task.is_running:
            return
        new_inputs, self._seen_count = live.journal[self._seen_count :], len(live.journal)
        if not any(is_action(item.line_without_time) for item in new_inputs):
            return
        self._session.pause()
        self.bar.show_checking()
        self._task.start_task(judge_action(live.fork(), self._list_plans(live)), self._show_judgment)

    def _list_plans(self, live: Drill) -> list[Sequence[Input]]:
        return [self._get_lesson().best, *par_certificates.load_certified_plans(live)]

    def _show_judgment(self, judgment: AnswerJudgment) -> None:
        model = self._model
        if model is None:
            return
        card = debrief_model.build_judgment_card(
            self._get_lesson(), judgment, self._has_another_lesson, model.review, model.choices
        )
        self._is_open = card.color_name != "ok" and judgment.is_noop
        self.bar.show_card(card)

    # --- buttons --------------------------------------------------------------------------------------------

    def _handle_button(self, name: str) -> None:
        model, live = self._model, self._session.live_drill
        if model is None:
            return
        if name == debrief_model.HINT:
            self.bar.show_hint(debrief_model.build_hint(self._get_lesson(), model.choices))
        elif name == debrief_model.WAIT and live is not None:
            self._is_open = False
            self.bar.show_checking()
            self._task.start_task(judge_wait(live.fork(), self._list_plans(live)), self._show_judgment)
        elif name == debrief_model.ANSWER:
            self._task.cancel_task()
            self._is_open = False
            self.bar.show_card(
                debrief_model.build_solution_card(
                    self._get_lesson(), self._has_another_lesson, model.review, model.choices
                )
            )
        elif name == debrief_model.TRY_AGAIN:
            self._show_lesson(self._at)
        elif name == debrief_model.WATCH:
            drill = self._get_drill()
            self._play.watch_best_continuation(drill.scenario, drill.seed, self._get_lesson())
        elif name == debrief_model.PLAY:
            self._play.record_practice()
        elif name in (debrief_model.SKIP, debrief_model.NEXT) and self._has_another_lesson:
            self._show_lesson(self._at + 1)
        else:
            self._leave_lessons()

    def _leave_lessons(self) -> None:
        self._task.cancel_task()
        self._is_open = False
        self.bar.hide()
        self._debrief_controller.return_to_debrief()

    def _hide_bar(self) -> None:
        if not self._play.is_practicing:
            self._task.cancel_task()
            self._is_open = False
            self.bar.hide()
