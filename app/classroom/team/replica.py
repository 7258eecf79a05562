"""Copy of a team's simulation in the program of a member, built from the log of the team. No Qt."""

from collections.abc import Sequence
from contextlib import suppress

from app.classroom.log_entries import LogEntry, is_rewind, list_effective_entries
from app.classroom.messages.team import MemberWelcome
from app.classroom.seat_scenario import parse_scenario
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.drill.team.rights import find_role, is_input_allowed
from engine.drill.team.role_view import list_noticed_events
from engine.events import Event
from engine.inputs import InputError
from engine.model import Tick
from engine.verbs.input_lines import parse_input_line


class TeamReplica:
    """Copy of a team's simulation, limited to what one role may see and do."""

    def __init__(self, welcome: MemberWelcome) -> None:
        """Create the world at its start.

        Raises ScenarioError, also if the host is older than 1.1 and sends no scenario.
        """
        self._scenario = parse_scenario(welcome.text, welcome.scenario)
        self._seed, self._mode = welcome.seed, DrillMode(welcome.mode)
        self.role = find_role(self._scenario.team, welcome.role)
        self._log: list[LogEntry] = []
        self._restart_world()

    def _restart_world(self) -> None:
        self.drill = Drill(self._scenario, self._seed, self._mode)
        self._shown = 0

    def apply_entries(self, entries: Sequence[LogEntry], tick: Tick) -> bool:
        """Apply new *entries* of the log and advance to *tick*. Return whether the run was rewound."""
        new_entries = list(entries)
        self._log += new_entries
        rewound = any(map(is_rewind, new_entries))
        if rewound:
            self._restart_world()
            new_entries = list_effective_entries(self._log)
        for entry in new_entries:
            self.drill.advance_to(entry.tick)
            if entry.line:
                with suppress(InputError):  # the team's world has refused this inject as well
                    self.drill.apply_line(entry.line)
        self.drill.advance_to(tick)
        return rewound

    def take_new_events(self) -> list[Event]:
        """Return the events visible to the role that have occurred since the last call."""
        events = list_noticed_events(self.drill, self.role, self._shown)
        self._shown = len(self.drill.events)
        return events

    def is_allowed_line(self, line: str) -> bool:
        """Return whether the role has the right to enter an input line."""
        try:
            return is_input_allowed(self.role, parse_input_line(line))
        except InputError:
            return True  # let the team's world report the error in the line
