"""Stand-ins for roles without a person. They read back orders, execute them, and report states.

Without a call, they perform the actions of their role in the reference solution.
"""

from collections.abc import Collection, Iterator
from itertools import product
from typing import Final

from engine.drill.authoring.references import collect_names
from engine.drill.authoring.schema import RoleSpec
from engine.drill.running.state import DrillState
from engine.drill.team.calls import MESSAGE_HANDLERS, TeamCall, extract_keywords
from engine.drill.team.rights import parse_right
from engine.inputs import Input
from engine.model import Tick, to_ticks
from engine.verbs.input_lines import parse_script

STAND_IN_DELAY_TICKS: Final = to_ticks(5.0)
"""Ticks that a stand-in needs for a message or an action. Assumed: the pace of a telephone call."""


def find_due_line(
    drill: DrillState, role_keys: Collection[str], failed_lines: Collection[str] = ()
) -> str | None:
    """Return the input line that is due for one of *role_keys*, with its role; None if none is due.

    *failed_lines*: lines that have already failed and are skipped.
    """
    return next((line for line in _list_due_lines(drill, role_keys) if line not in failed_lines), None)


def _list_due_lines(drill: DrillState, role_keys: Collection[str]) -> Iterator[str]:
    for call in drill.calls:
        line, since_tick = _find_next_line(drill, call)
        speaker, _, text = line.partition(" ")
        if (
            line
            and speaker in role_keys
            and drill.tick >= since_tick + STAND_IN_DELAY_TICKS
            and not any(
                item.by == speaker and item.command_text == text and item.tick >= since_tick
                for item in drill.journal
            )
        ):
            yield f"@{line}"
    yield from _list_spontaneous_lines(drill, role_keys)


def _find_next_line(drill: DrillState, call: TeamCall) -> tuple[str, Tick]:
    """Return the next input line about *call*, with its role, and the tick since which it is due.

    The line is empty if none is due.
    """
    if call.kind == "question":
        fact = _find_true_status(drill, call) if call.waits else ""
        return (f"{call.to} status {call.by} {fact}", call.tick) if fact else ("", 0)
    if call.waits and not call.read_back:
        return f"{call.to} read-back {call.by} {call.text}", call.tick
    if call.waits and call.read_back_tick is not None:
        text = f"confirm {call.to}" if call.is_correct else f"call {call.to} {call.text}"
        return f"{call.by} {text}", call.read_back_tick
    if call.confirmed_tick is not None and call.acted_tick is None:
        action_line = interpret_order(drill, call)
        return (f"{call.to} {action_line}", call.confirmed_tick) if action_line else ("", 0)
    return "", 0


# --- interpretation of an order -----------------------------------------------------------------------------


def interpret_order(drill: DrillState, call: TeamCall) -> str:
    """Return the input line that executes an order; "" if the role cannot understand or execute it.

    An order contains the words of the verb and the names of the target: `plug in the cable of PAY1` means
    `plug-cable PAY1`. Another wording is understood if the solution contains a similar order.
    """
    role = next((role for role in drill.scenario.team if role.key == call.to), None)
    return (_match_right(drill, role, call.text) if role is not None else "") or _find_solution_action(
        drill, call
    )


def _match_right(drill: DrillState, role: RoleSpec, text: str) -> str:
    keywords = extract_keywords(text)
    target_words = [word for word in keywords if word in _index_server_names(drill)]
    for line in role.does:
        right = parse_right(line)
        if set(extract_keywords(right.verb)) <= set(keywords) and right.verb != "sql":
            targets = [_index_server_names(drill)[word] for word in target_words]
            if set(right.args) <= set(targets):
                return " ".join([right.verb, *(right.args or targets)])
    return ""


def _index_server_names(drill: DrillState) -> dict[str, str]:
    """Return lowercase name -> name, for the servers and computers that an order can name."""
    names = collect_names(drill.scenario)
    return {name.lower(): name for name in (*names.servers, *names.computers)}


def _find_solution_action(drill: DrillState, call: TeamCall) -> str:
    """Return the role's action that follows a similar order in the solution; "" if there is none.

    A similar order has the same names and at least half of the words.
    """
    spoken_words, order_matches = set(extract_keywords(call.text)), False
    names = {word for word in spoken_words if word in _index_server_names(drill)}
    for item, _ in _iterate_solution(drill):
        if item.verb == "call":
            words = set(extract_keywords(item.args[-1]))
            alike = 2 * len(spoken_words & words) >= len(words) and names == {
                word for word in words if word in _index_server_names(drill)
            }
            order_matches = alike and item.args[0] == call.to
        elif order_matches and item.by == call.to and item.verb not in MESSAGE_HANDLERS:
            return item.command_text
    return ""


def _iterate_solution(drill: DrillState) -> Iterator[tuple[Input, str]]:
    """Yield (input, text) for each step of the solution."""
    for step in drill.scenario.solution:
        items, _ = parse_script(step.do.strip())
        for item in items:
            yield item, step.do.strip()


# --- report of the current state ----------------------------------------------------------------------------


def _find_true_status(drill: DrillState, call: TeamCall) -> str:
    """Return a currently true status that answers the question *call*; "" if there is none."""
    names, words = collect_names(drill.scenario), set(extract_keywords(call.text))
    statements = [
        item.args[-1] for item, _ in _iterate_solution(drill) if item.verb == "status" and item.by == call.to
    ]
    serving = [
        f"{database} serves on {server}" for database, server in product(names.databases, names.servers)
    ]
    connection_facts = [
        f"{client} on {server} is CONNECTED" for client, server in product(names.clients, names.servers)
    ]
    power = [f"{server} is {word}" for server, word in product(names.servers, ("OFF", "RUNNING"))]
    known_names = {name.lower() for name in (*names.databases, *names.clients, *names.servers)}
    asked_names = words & known_names
    for fact in (*statements, *serving, *connection_facts, *power):
        if (not asked_names or asked_names & set(extract_keywords(fact))) and drill.is_condition_met(fact):
            return fact
    return ""


# --- unprompted messages and actions ---------------------------------------------------------------


def _list_spontaneous_lines(drill: DrillState, role_keys: Collection[str]) -> Iterator[str]:
    """Yield the next order, question or action of the roles *role_keys* in the solution.

    All earlier steps must be done, except messages of other roles, replies, and actions that an order
    requests.
    """
    inputs, last_tick = list(drill.journal), 0
    for step, (item, step_text) in zip(drill.scenario.solution, _iterate_solution(drill), strict=True):
        planned_input = next(
            (
                later_input
                for later_input in inputs
                if later_input.by == item.by and later_input.verb == item.verb
            ),
            None,
        )
        if planned_input is not None:
            last_tick = max(last_tick, planned_input.tick)
            inputs.remove(planned_input)
            continue
        if item.by not in role_keys:
            if item.verb in MESSAGE_HANDLERS:
                continue  # do not wait for the messages of roles that a person plays
            return
        if item.verb in ("read-back", "confirm", "status") or _is_ordered(drill, item):
            continue
        if step.when is not None and not drill.is_condition_met(step.when):
            return
        if drill.tick >= (
            last_tick + max(item.tick, STAND_IN_DELAY_TICKS) if step_text.startswith("+") else item.tick
        ):
            yield item.line_without_time
        return


def _is_ordered(drill: DrillState, action: Input) -> bool:
    """Return whether an order precedes this action in the solution."""
    if action.verb in MESSAGE_HANDLERS:
        return False
    has_heard_order = False
    for item, _ in _iterate_solution(drill):
        if item == action:
            return has_heard_order
        if item.verb == "call":
            has_heard_order = item.args[0] == action.by
        elif item.by == action.by and item.verb not in MESSAGE_HANDLERS:
            has_heard_order = False
    return False
