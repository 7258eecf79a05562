"""Permissions of the roles in a team. The scenario defines them. The host of the run enforces them."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from engine.drill.authoring.schema import RoleSpec
from engine.drill.running import modes
from engine.drill.team import calls
from engine.drill.team.calls import MESSAGE_HANDLERS, TeamCalls
from engine.inputs import Input, InputError
from engine.localization import build_message

COMMON_VERBS: Final = frozenset({"note", "answer", *MESSAGE_HANDLERS})
"""Verbs that every role may use: messages, notes, and answers to the drill's questions."""
ROLELESS_VERBS: Final = frozenset({"finish", "rewind", "hint", "note", "answer"})
"""Verbs that need no role. The instructor, and a person who plays all roles, may use them."""


def find_role(team: Sequence[RoleSpec], key: str) -> RoleSpec:
    """Return the role with this key. Raises InputError if there is none."""
    matching_role = next((role for role in team if role.key == key), None)
    if matching_role is None:
        role_keys = ", ".join(str(role.key) for role in team)
        raise InputError(
            build_message("this team has no role {name!r}; its roles are {names}", name=key, names=role_keys)
            if team
            else build_message("this drill has no team roles")
        )
    return matching_role


def is_input_allowed(role: RoleSpec, input_: Input) -> bool:
    """Return whether *role* may apply *input_*. The names in *input_* must be spelled as in the world."""
    if input_.verb in COMMON_VERBS:
        return True
    first = input_.args[0].partition("#")[0] if input_.args else ""
    plain_item = replace(input_, args=(first, *input_.args[1:]) if input_.args else ())
    return any(modes.is_input_blocked(parse_right(line), plain_item) for line in role.does)


def parse_right(line: str) -> Input:
    """Parse *line*, an entry in the `does` list of a role: a verb with its first arguments."""
    name, *words = line.split()
    return Input(0, name.lower(), tuple(words))


def assign_role(
    team: Sequence[RoleSpec], input_: Input, team_calls: TeamCalls, allow_unassigned: bool
) -> Input:
    """Return *input_* with the role that performs it. Raises InputError if no role may.

    If *input_* has no role, the first role that may perform it is used, because one person may play all
    roles. *allow_unassigned*: True to leave an action without a role if no role may perform it.
    """
    if not team:
        if input_.by or input_.verb in MESSAGE_HANDLERS:
            raise InputError(build_message("this drill has no team roles"))
        return input_
    if input_.verb in MESSAGE_HANDLERS:
        find_role(team, input_.args[0])
    if input_.by:
        role = find_role(team, input_.by)
        if not is_input_allowed(role, input_):
            raise InputError(
                build_message("{role} may not do this: {deed}", role=role.name, deed=input_.command_text)
            )
    elif input_.verb in MESSAGE_HANDLERS:
        input_ = replace(input_, by=calls.find_speaker(team_calls, input_, [str(role.key) for role in team]))
    elif input_.verb not in ROLELESS_VERBS:
        allowed_role = next((role for role in team if is_input_allowed(role, input_)), None)
        if allowed_role is None and not allow_unassigned:
            raise InputError(
                build_message("no role of this team may do this: {deed}", deed=input_.command_text)
            )
        input_ = replace(input_, by=str(allowed_role.key)) if allowed_role is not None else input_
    if input_.verb in MESSAGE_HANDLERS and input_.by == input_.args[0]:
        raise InputError(build_message("role {name} cannot send a message to itself", name=input_.by))
    return input_


def find_role_name(team: Sequence[RoleSpec], key: str) -> str:
    """Return the name of the role *key*; the key itself if there is no such role."""
    return next((role.name for role in team if role.key == key), key)
