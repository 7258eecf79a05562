"""Fake drills for tests of views: plain data without a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from engine.drill.running.modes import PERMISSIONS_BY_MODE, DrillMode, ModePermissions
from engine.events import Event
from engine.flow import Samples, StreamNumbers
from engine.inputs import Input
from engine.model import DatabaseCopy, DbState, Membership, MirrorState, Role, WitnessState, World


@dataclass
class FakeSession:
    """Mirroring session with the fields that a scenario defines."""

    database: str = "Sales"
    state: str = "SYNCHRONIZED"
    safety: str = "FULL"


@dataclass
class FakeScenario:
    """Fake scenario with the fields that views read."""

    instances: tuple[Any, ...] = ()
    clusters: tuple[Any, ...] = ()
    rubric: tuple[Any, ...] = ()
    sessions: tuple[FakeSession, ...] = (FakeSession(),)
    databases: tuple[Any, ...] = ()
    groups: tuple[Any, ...] = ()


@dataclass
class FakeRun:
    """Fake drill with the fields that views read."""

    world: World
    events: list[Event] = field(default_factory=list)
    scenario: FakeScenario = field(default_factory=FakeScenario)
    journal: list[Input] = field(default_factory=list)
    logs: list[dict[str, StreamNumbers | None]] = field(default_factory=list)
    permissions: ModePermissions = PERMISSIONS_BY_MODE[DrillMode.LAB]
    published: dict[int, tuple[float, str]] = field(default_factory=dict)
    unlike: dict[int, str] = field(default_factory=dict)
    standings: list[Any] = field(default_factory=list)
    states_before: dict[Any, Any] = field(default_factory=dict)
    errorlog_before: dict[str, Any] = field(default_factory=dict)
    samples: Samples = field(default_factory=lambda: Samples(every=100))

    def __post_init__(self) -> None:
        for key, copy in self.world.copies.items():
            self.states_before[key] = copy.mirroring.state.name if copy.mirroring.state is not None else None

    @property
    def tick(self) -> int:
        return self.world.tick


def build_mirrored_copy(
    server: str, partner: str, role: Role, database: str = "Sales", **changes: Any
) -> DatabaseCopy:
    """Return a mirrored database copy. *changes* apply to the copy or to its knowledge of the session."""
    session = Membership(
        guid=1,
        role=role,
        state=MirrorState.SYNCHRONIZED,
        partner=partner,
        witness="SERVER_W",
        witness_address="TCP://SERVER_W:5022",
        witness_state=WitnessState.CONNECTED,
    )
    field_names = Membership.__struct_fields__
    session = replace(session, **{name: value for name, value in changes.items() if name in field_names})
    fields: dict[str, Any] = {"db_state": DbState.ONLINE if role is Role.PRINCIPAL else DbState.RESTORING}
    fields |= {name: value for name, value in changes.items() if name not in field_names}
    return DatabaseCopy(server=server, database=database, mirroring=session, **fields)
