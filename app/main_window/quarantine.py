"""Lets nothing in from outside unseen: a foreign scenario or run is shown first, and remembered once accepted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from app import formatting, scenario_files
from app.language import tr
from app.sentences import said
from app.storage import SettingKey, StorageProblem
from app.views.quarantine import Fact, Quarantine, facts_of
from engine.drill.contents import contents, sha256, verbs_of, visible
from engine.drill.scenario import Scenario
from engine.inputs import InputProblem

if TYPE_CHECKING:
    from app.main_window.window import MainWindow

ACCEPTED: Final = SettingKey("quarantine/accepted", "[]")
"""JSON: SHA-256 of each text that somebody has accepted, the last one at the end."""
ACCEPTED_MAX: Final = 1_000
"""So many are remembered; who opens more is asked again about the oldest. Assumed."""


class Gate:
    """Decides what is foreign, and asks. `window.quarantine`."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._page: Quarantine | None = None
        self._accepted = self._remembered()
        self._asked: tuple[str, Callable[[], None]] | None = None
        """What is on the page: its hash, and what follows when it is accepted."""

    # --- asking ---------------------------------------------------------------------------------------------

    def admit(self, scenario: Scenario, file: str, then: Callable[[], None]) -> None:
        """Call *then* at once for a scenario that is known here, else when somebody has looked and accepted."""
        if self.knows(scenario.text):
            then()
        else:
            self._ask(file, facts_of(contents(scenario)), scenario.text, scenario.text, then)

    def admit_run(
        self, report: Mapping[str, Any], scenario: Scenario, file: str, then: Callable[[], None]
    ) -> None:
        """The same for a recorded run: known are those that this profile has finished itself."""
        lines: list[str] = report["inputs"]
        whole = "\n".join((scenario.text, str(report["seed"]), str(report["ended_at_s"]), *lines))
        if self._finished_here(str(report.get("state_hash", ""))) or self._knows_hash(sha256(whole)):
            then()
            return
        try:
            does = ", ".join(f"{verb} × {count}" for verb, count in verbs_of(lines))
        except InputProblem as problem:
            does = said(str(problem))
        facts = [
            Fact(tr("Recorded run"), tr("is played again to look back on it")),
            Fact(tr("Simulated time"), formatting.seconds(float(report["ended_at_s"]), 0)),
            Fact(tr("Inputs"), formatting.number(len(lines))),
            Fact(tr("What was done"), visible(does) or tr("nothing")),
            *facts_of(contents(scenario)),
        ]
        self._ask(file, facts, "\n".join((*lines, "", scenario.text)), whole, then)

    def trust(self, text: str) -> None:
        """*text* was written here by the user."""
        self._remember(sha256(text))

    def knows(self, text: str) -> bool:
        """Whether a scenario's text is shipped, the user's own, or was accepted."""
        digest = sha256(text)
        return self._knows_hash(digest) or any(
            sha256(file.text) == digest for file in scenario_files.all_files()[0]
        )

    def _ask(self, file: str, facts: list[Fact], shown: str, known_by: str, then: Callable[[], None]) -> None:
        window = self._window
        window.leave_run()
        if self._page is None:
            self._page = Quarantine()
            self._page.accepted.connect(self._accept)
            self._page.declined.connect(self._decline)
            window.pages.addWidget(self._page)
        self._asked = (sha256(known_by), then)
        self._page.show_file(file, facts, shown)
        window.go_to(self._page, tr("A file from somebody else"))
        self._page.take_focus()

    def _accept(self) -> None:
        asked, self._asked = self._asked, None
        if asked is not None:
            self._remember(asked[0])
            asked[1]()

    def _decline(self) -> None:
        self._asked = None
        self._window.show_home()

    # --- remembering ----------------------------------------------------------------------------------------

    def _knows_hash(self, digest: str) -> bool:
        return digest in self._accepted

    def _finished_here(self, state_hash: str) -> bool:
        profile = self._window.profile
        if profile is None:
            return False
        try:
            return profile.finished_with(state_hash)
        except StorageProblem as problem:
            self._window.notice.warn(str(problem))
            return False

    def _remembered(self) -> list[str]:
        profile = self._window.profile
        if profile is None:
            return []
        try:
            found = json.loads(profile.settings.get(ACCEPTED))
        except (StorageProblem, ValueError):
            return []
        return [entry for entry in found if isinstance(entry, str)] if isinstance(found, list) else []

    def _remember(self, digest: str) -> None:
        self._accepted = [*(known for known in self._accepted if known != digest), digest][-ACCEPTED_MAX:]
        profile = self._window.profile
        if profile is not None:
            try:
                profile.settings.set(ACCEPTED, json.dumps(self._accepted))
            except StorageProblem as problem:
                self._window.notice.warn(str(problem))


def attach(window: MainWindow) -> None:
    """The page is made when it is first needed."""
    window.quarantine = Gate(window)
