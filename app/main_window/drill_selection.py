"""Selection of a drill: shows the brief of a drill, and starts its run from the brief."""

from functools import partial

from app.files.generated_drills import GENERATOR_NAMES, GeneratedDrill, draw_candidates, generate_drill
from app.main_window.navigation import PageNavigation
from app.main_window.shared_parts import SharedParts, WindowPart
from app.views.briefing import BriefPage
from app.widgets.busy_cursor import show_busy_cursor
from app.words.language import tr
from engine.drill.authoring.scenario import Scenario
from engine.drill.running.drill import Drill


class DrillSelectionController(WindowPart):
    """Controller of the drill selection. It remembers which scenario was shown last."""

    def __init__(self, shared: SharedParts, brief: BriefPage, navigation: PageNavigation) -> None:
        super().__init__(shared)
        self._brief, self._navigation = brief, navigation
        self.scenario: Scenario | None = None
        self._seed = 0
        shared.play.run_started.connect(self._remember_drill)
        brief.start_wanted.connect(self.start_drill)

    def _remember_drill(self, drill: Drill) -> None:
        self.scenario = drill.scenario

    @show_busy_cursor()
    def show_named_brief(self, name: str) -> None:
        """Show the brief of the scenario *name*."""
        scenario = self._library.find_scenario(name)
        if scenario is not None:
            self.show_brief(scenario)
        else:
            self._notice.show_warning(tr("{name} can no longer be opened.").format(name=name))

    def ask_to_show_brief(self, name: str) -> None:
        """Show the brief of the scenario *name*. Ask first if a run is in progress."""
        self._confirmations.confirm_if_needed("leave", partial(self.show_named_brief, name))

    def show_brief(self, scenario: Scenario) -> None:
        """Show the brief of *scenario*."""
        self._navigation.leave_run()
        self._library.scenarios[scenario.name] = scenario
        self._show_seeded_brief(*self._play.choose_variant(scenario))

    def _show_seeded_brief(self, scenario: Scenario, seed: int) -> None:
        self.scenario, self._seed = scenario, seed
        self._brief.show_scenario(scenario)
        self._navigation.show_page(self._brief, scenario.title)

    def generate_drill(self, level: str) -> None:
        """Generate a drill with a proof that it can be solved, and show its brief.

        The proof is computed between frames.
        """
        scenarios = [
            scenario
            for name in GENERATOR_NAMES
            if (scenario := self._library.find_scenario(name)) is not None
        ]

        def show_generated(generated: GeneratedDrill | None) -> None:
            if generated is None:
                self._notice.show_warning(tr("Could not generate a drill. Try again."))
                return
            self._navigation.leave_run()
            self._show_seeded_brief(generated.scenario, generated.seed)
            other_text = tr("No drill of level {level} could be generated. This drill has another level.")
            missed = [] if generated.difficulty == level else [other_text.format(level=tr(level))]
            self._notice.show_info(" ".join((*missed, generated.description)))

        self._session.run_task(generate_drill(draw_candidates(scenarios, level), level), show_generated)

    @show_busy_cursor()
    def start_drill(self, mode: str) -> None:
        """Start the drill whose brief is shown."""
        if self.scenario is not None:
            self._play.begin_run(self.scenario, mode, self._seed)
            self._navigation.ignore_clicks_after_switch()
            self._session.play()

    @show_busy_cursor()
    def restart_drill(self) -> None:
        """Restart the drill with the same seed."""
        drill = self._session.live_drill
        if drill is not None and not self._play.is_watching:
            self._play.begin_run(drill.scenario, drill.mode.value, drill.seed)
