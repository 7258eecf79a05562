"""Permissions of the roles in a team. The scenario defines them, and the host of the run checks them."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from engine.drill.authoring.schema import StoryRole
from engine.drill.running import modes
from engine.drill.team import calls
from engine.drill.team.calls import HEARS, Calls
from engine.inputs import Input, InputError
from engine.localization import build_message

EVERY_ROLE: Final = frozenset({"note", "answer", *HEARS})
"""Verbs that every role may use: communication, and answers to the drill's questions."""
OF_ALL: Final = frozenset({"finish", "rewind", "hint", "note", "answer"})
"""Verbs that need no role. A person who plays all roles may use them, and the instructor."""


def find_role(team: Sequence[StoryRole], key: str) -> StoryRole:
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


def is_allowed(role: StoryRole, item: Input) -> bool:
    """Return whether *role* may apply *item*, whose names have the world's spelling."""
    if item.verb in EVERY_ROLE:
        return True
    first = item.args[0].partition("#")[0] if item.args else ""
    plain_item = replace(item, args=(first, *item.args[1:]) if item.args else ())
    return any(modes.is_blocked_by(parse_right(line), plain_item) for line in role.does)


def parse_right(line: str) -> Input:
    """Parse an entry of `does`: a verb with its first arguments."""
    name, *words = line.split()
    return Input(0, name.lower(), tuple(words))


def assign_role(team: Sequence[StoryRole], item: Input, team_calls: Calls, allow_unassigned: bool) -> Input:
    """Return *item* with the role that performs it. Raises InputError if none may.

    If *item* names no role, the first role that may perform it is used, because one person may play all
    roles. *allow_unassigned*: an action that no role may perform is applied without a role.
    """
    if not team:
        if item.by or item.verb in HEARS:
            raise InputError(build_message("this drill has no team roles"))
        return item
    if item.verb in HEARS:
        find_role(team, item.args[0])
    if item.by:
        role = find_role(team, item.by)
        if not is_allowed(role, item):
            raise InputError(
                build_message("{role} may not do this: {deed}", role=role.name, deed=item.command_text)
            )
    elif item.verb in HEARS:
        item = replace(item, by=calls.find_speaker(team_calls, item, [str(role.key) for role in team]))
    elif item.verb not in OF_ALL:
        allowed_role = next((role for role in team if is_allowed(role, item)), None)
        if allowed_role is None and not allow_unassigned:
            raise InputError(
                build_message("no role of this team may do this: {deed}", deed=item.command_text)
            )
        item = replace(item, by=str(allowed_role.key)) if allowed_role is not None else item
    if item.verb in HEARS and item.by == item.args[0]:
        raise InputError(build_message("{name} cannot call itself", name=item.by))
    return item


def find_role_name(team: Sequence[StoryRole], key: str) -> str:
    """Return the name of the role with *key*."""
    return next((role.name for role in team if role.key == key), key)
