"""State transitions of a mirroring session, as a table. A missing transition is a defect of the program."""

from enum import StrEnum
from typing import Final

from engine.events import RoleData, StateData, TraceData, WitnessData
from engine.localization import build_message
from engine.model import DatabaseCopy, Key, MirrorState, Role, WitnessState, World
from engine.protocol import errorlog

SUSPENDED, DISCONNECTED, SYNCHRONIZING, PENDING_FAILOVER, SYNCHRONIZED = MirrorState


class StateChangeCause(StrEnum):
    """Cause of a change of a copy's mirroring state."""

    LINKED = "partners connected"
    CAUGHT_UP = "mirror caught up"
    PARTNER_LOST = "partner lost"
    SUSPEND = "suspended"
    RESUME = "resumed"
    FAILOVER_ACCEPTED = "failover accepted"
    ROLES_SWAPPED = "roles swapped"
    SAFETY_RAISED = "safety raised with a backlog"
    FORCED = "service forced"
    STOPPED = "instance or log volume lost"


NEXT_STATE: Final[dict[tuple[MirrorState, StateChangeCause], MirrorState]] = {
    (DISCONNECTED, StateChangeCause.LINKED): SYNCHRONIZING,
    (DISCONNECTED, StateChangeCause.SUSPEND): SUSPENDED,
    (DISCONNECTED, StateChangeCause.FORCED): SUSPENDED,
    (SYNCHRONIZING, StateChangeCause.LINKED): SYNCHRONIZING,
    (SYNCHRONIZING, StateChangeCause.CAUGHT_UP): SYNCHRONIZED,
    (SYNCHRONIZING, StateChangeCause.PARTNER_LOST): DISCONNECTED,
    (SYNCHRONIZING, StateChangeCause.SUSPEND): SUSPENDED,
    (SYNCHRONIZED, StateChangeCause.SAFETY_RAISED): SYNCHRONIZING,
    (SYNCHRONIZED, StateChangeCause.PARTNER_LOST): DISCONNECTED,
    (SYNCHRONIZED, StateChangeCause.SUSPEND): SUSPENDED,
    (SYNCHRONIZED, StateChangeCause.FAILOVER_ACCEPTED): PENDING_FAILOVER,
    (SYNCHRONIZED, StateChangeCause.ROLES_SWAPPED): SYNCHRONIZING,
    (PENDING_FAILOVER, StateChangeCause.ROLES_SWAPPED): SYNCHRONIZING,
    (PENDING_FAILOVER, StateChangeCause.PARTNER_LOST): DISCONNECTED,
    (SUSPENDED, StateChangeCause.RESUME): SYNCHRONIZING,
    (SUSPENDED, StateChangeCause.SUSPEND): SUSPENDED,
    (SUSPENDED, StateChangeCause.PARTNER_LOST): SUSPENDED,
    (SUSPENDED, StateChangeCause.FORCED): SUSPENDED,
    (DISCONNECTED, StateChangeCause.STOPPED): DISCONNECTED,
    (SYNCHRONIZING, StateChangeCause.STOPPED): DISCONNECTED,
    (SYNCHRONIZED, StateChangeCause.STOPPED): DISCONNECTED,
    (PENDING_FAILOVER, StateChangeCause.STOPPED): DISCONNECTED,
    (SUSPENDED, StateChangeCause.STOPPED): SUSPENDED,
}
"""(state, cause) -> next state. SUSPENDED survives restarts and lost connections until RESUME. See facts 3.1
and 3.3 in docs/facts.md.
"""


def apply_state_change(world: World, key: Key, cause: StateChangeCause) -> None:
    """Apply the transition of the copy's mirroring state for *cause*.

    Raise KeyError for a transition that is missing in the table, which is a defect.
    """
    copy = world.copies[key]
    assert copy.mirroring.state is not None, f"{key} has no session"
    set_mirroring_state(world, key, NEXT_STATE[copy.mirroring.state, cause], cause.value)


def mark_copy_stopped(world: World, key: Key) -> None:
    """Change the mirroring state of a copy whose instance or log is lost.

    No event is emitted, because no server sees the change.
    """
    copy = world.copies[key]
    assert copy.mirroring.state is not None, f"{key} has no session"
    new_mirror_state = NEXT_STATE[copy.mirroring.state, StateChangeCause.STOPPED]
    if new_mirror_state is not SUSPENDED:
        world.update_mirroring(key, state=new_mirror_state, trace=0)


def set_mirroring_state(world: World, key: Key, new_state: MirrorState, reason: str) -> None:
    """Set the copy's mirroring state and emit an event with the old and the new state.

    Only `apply_state_change` and a new session use this.
    """
    old_state = world.copies[key].mirroring.state
    if old_state is new_state:
        return
    world.update_mirroring(key, state=new_state, closing_kb=None)
    text = build_message("no session -> {state}", state=new_state.name)
    if old_state is not None:
        text = build_message("{old} -> {new}", old=old_state.name, new=new_state.name)
    old_name = old_state.name if old_state is not None else "NONE"
    world.emit(StateData(why=reason, old=old_name, new=new_state.name), text, server=key[0], database=key[1])


def assign_role(world: World, key: Key, role: Role, *, reason: str, sequence: int) -> None:
    """Give the copy *role* with role sequence *sequence*, and log 1480."""
    copy = world.copies[key]
    assert copy.mirroring.role is not None, f"{key} has no session"
    assert sequence >= copy.mirroring.role_sequence, f"role sequence of {key} would go back"
    if copy.mirroring.role is role:
        world.update_mirroring(key, role_sequence=sequence)
        return
    old_role = copy.mirroring.role
    world.update_copy(key, backup_from_kb=None, active_from_kb=None, window_transactions=(), operation=None)
    world.update_mirroring(key, role=role, role_sequence=sequence)
    errorlog.write_message(world, key[0], 1480, key[1], old_role.name, role.name, reason)
    text = build_message("{old} -> {new}", old=old_role.name, new=role.name)
    world.emit(RoleData(reason=reason, new=role.name), text, server=key[0], database=key[1])


def set_witness_state(world: World, key: Key, new_state: WitnessState) -> None:
    """Set the state of the witness connection, as this partner knows it."""
    old_witness_state = world.copies[key].mirroring.witness_state
    if old_witness_state is not new_state:
        world.update_mirroring(key, witness_state=new_state)
        text = build_message("witness {state}", state=new_state.name)
        world.emit(WitnessData(new=new_state.name), text, server=key[0], database=key[1])


STABLE_STATE_IDS: Final[dict[tuple[Role, MirrorState, bool], int]] = {
    (Role.PRINCIPAL, SYNCHRONIZED, True): 1,
    (Role.PRINCIPAL, SYNCHRONIZED, False): 2,
    (Role.MIRROR, SYNCHRONIZED, True): 3,
    (Role.MIRROR, SYNCHRONIZED, False): 4,
    (Role.PRINCIPAL, SYNCHRONIZING, True): 13,
    (Role.PRINCIPAL, SYNCHRONIZING, False): 13,
    (Role.MIRROR, SYNCHRONIZING, True): 11,
    (Role.MIRROR, SYNCHRONIZING, False): 11,
    (Role.PRINCIPAL, SUSPENDED, True): 9,
    (Role.PRINCIPAL, SUSPENDED, False): 9,
    (Role.MIRROR, SUSPENDED, True): 9,
    (Role.MIRROR, SUSPENDED, False): 9,
}
"""(role, state, witness connected) -> ID of this stable state in Database Mirroring State Change.

See facts 3.2 in docs/facts.md.
"""


def emit_stable_state(world: World, key: Key) -> None:
    """Emit the state change event for the copy's current stable state. Do nothing if its state is not stable."""
    copy = world.copies[key]
    new = (
        STABLE_STATE_IDS.get(get_stable_state_key(copy))
        if copy.mirroring.role and copy.mirroring.state is not None
        else None
    )
    if new is not None:
        set_trace_state(world, key, new)


def get_stable_state_key(copy: DatabaseCopy) -> tuple[Role, MirrorState, bool]:
    """Return (role, mirroring state, whether the witness is connected), the key of STABLE_STATE_IDS."""
    assert copy.mirroring.role is not None and copy.mirroring.state is not None
    return copy.mirroring.role, copy.mirroring.state, copy.mirroring.witness_state is WitnessState.CONNECTED


# --- the Database Mirroring State Change trace ------------------------------------------------------------

STATE_CHANGE_TEXTS: Final = (
    "Null Notification", "Synchronized Principal with Witness", "Synchronized Principal without Witness",
    "Synchronized Mirror with Witness", "Synchronized Mirror without Witness",
    "Connection with Principal Lost", "Connection with Mirror Lost", "Manual Failover",
    "Automatic Failover", "Mirroring Suspended", "No Quorum", "Synchronizing Mirror",
    "Principal Running Exposed", "Synchronizing Principal",
)  # fmt: skip
"""Texts of the Database Mirroring State Change event, by ID. Documented [DOC: Database Mirroring State Change
event class].
"""


def get_state_id(copy: DatabaseCopy) -> int:
    """Return the ID of the copy's latest state change event."""
    return copy.mirroring.trace


def set_trace_state(world: World, key: Key, new_state_id: int) -> None:
    """Set the copy's state ID of the Database Mirroring State Change event to *new_state_id*.

    If the ID has changed, emit the event.
    """
    old_trace = world.copies[key].mirroring.trace
    if old_trace == new_state_id:
        return
    world.update_mirroring(key, trace=new_state_id)
    text = f"DBM: {STATE_CHANGE_TEXTS[old_trace]} -> DBM: {STATE_CHANGE_TEXTS[new_state_id]}"
    world.emit(TraceData(state=new_state_id, integer_data=old_trace), text, server=key[0], database=key[1])
