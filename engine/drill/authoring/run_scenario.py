"""Builder of a scenario from a run. Faults become the timeline, repairs become the solution.

The final state becomes the goals. Texts that only an author can write become placeholders, and `check`
lists each placeholder.
"""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeGuard

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context, quantities
from engine.drill.authoring.conditions import ConditionError
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.authoring.variants import VARIANTS_KEY, pick_values, substitute_picks
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_idle, play_reference
from engine.inputs import Input, InputError
from engine.localization import build_message
from engine.mirroring import prerequisites
from engine.model import World
from engine.protocol import group_policies
from engine.verbs import REMARK_VERBS, VERBS

PLACEHOLDER_PREFIX: Final = "TO WRITE: "
"""Prefix of each placeholder text, which the author must replace."""

SUMMARY: Final = build_message("one sentence about the situation and the task")
BRIEF: Final = build_message("the learner's role, the risk and the task; do not reveal the fault")
FACILITATOR: Final = build_message("questions for the class, and frequent mistakes")
LOOK: Final = build_message("the place to look at, such as a view or a log")
MEANS: Final = build_message("the symptom in this place and its meaning")
TYPE: Final = build_message("the input line to type")
BETTER: Final = build_message("advice on how to earn full points")
PLACEHOLDERS: Final[dict[str, str]] = {
    text: text for text in (SUMMARY, BRIEF, FACILITATOR, LOOK, MEANS, TYPE, BETTER)
}
"""Text of a placeholder in the file, without PLACEHOLDER_PREFIX -> the same text as a localizable message."""

SKILLS_PLACEHOLDER: Final = ("to-write",)
"""Placeholder for the skills until the author chooses some."""

TIMELINE_GROUPS: Final = frozenset({"fault", "load"})
"""Groups of verbs whose inputs become the timeline. Inputs with other verbs are reactions of the trainee."""

OMITTED_VERBS: Final = REMARK_VERBS | {"cancel", "revert-all"}
"""Verbs of a run that the scenario does not contain."""

REWRITTEN_KEYS: Final = frozenset(
    {
        "name", "title", "summary", "level", "minutes", "skills", "author", "seed", "length", "allow_revert_all",
        "early", "variants", "timeline", "brief", "goal", "forbidden", "question", "predict", "hint", "solution",
        "rubric", "facilitator",
    }
)  # fmt: skip
"""Keys of a scenario that are not copied, because the run replaces them: texts, timeline, goals and points."""

COPIED_KEYS: Final = tuple(
    name
    for name in (field.alias or key for key, field in Scenario.model_fields.items())
    if name not in REWRITTEN_KEYS
)
"""Keys that are copied from the recorded scenario. They describe the world at the start."""

END_MARGIN_S: Final = 120.0
"""Seconds between the last recorded action and the end of the new drill. Assumed: trainees are slower than
the author.
"""

FULL_POINTS_FACTOR: Final = 1.15
"""Highest downtime or loss with full points, as a multiple of the recorded run's downtime or loss. Assumed."""
ZERO_POINTS_FACTOR: Final = 4.0
"""Shortest downtime without points, as a multiple of the longest downtime with full points. Assumed.

For lost transactions, it is a multiple of the recorded run's loss.
"""

FULL_POINTS_MARGIN_S: Final = 5.0
"""Minimum margin between the recorded downtime and the longest downtime with full points, in seconds.

It allows for results that vary with the seed.
"""

GOAL_HOLD_S: Final = 2.0
"""Seconds for which a proposed goal must stay met."""
DEMANDING_WEIGHT_SHARE_MIN: Final = 0.75
"""Minimum share of the total weight for demanding goals, which a run without actions misses."""

PROPOSED_GOALS_MAX: Final = 8
"""Maximum number of proposed goals. The author deletes unwanted goals."""

CANDIDATE_GOALS_MAX: Final = 50
"""Maximum number of goals that are tested. A scenario file may contain the same number of goals."""

POINTS_BY_RULE_KIND: Final = {"goals": 60.0, "downtime": 20.0, "lost_transactions": 10.0, "conduct": 10.0}
"""Kind of rule -> points in the proposed rubric."""


class ScenarioRecordingError(ValueError):
    """Error for a run from which no drill can be built. The text is one sentence with the reason."""


def build_scenario_text(drill: Drill, name: str) -> str:
    """Build the TOML text of a scenario called *name* (a slug) from the inputs in *drill*.

    Faults and loads become the timeline. Repairs, chores and T-SQL become the solution. The state at the end
    becomes the goals. The result loads without problems; its solution reaches all goals, and a run without
    actions misses some. Raises ScenarioRecordingError if the actions make no difference.
    """
    journal = _drop_undone_inputs(drill.journal)
    story = [item for item in journal if _is_timeline_input(item)]
    actions = [item for item in journal if not _is_timeline_input(item) and item.verb not in OMITTED_VERBS]
    if not actions:
        raise ScenarioRecordingError(
            build_message("This run contains no repair. A drill needs an action that changes the result.")
        )
    last_s = max(item.tick for item in (*story, *actions)) / TICKS_PER_S
    length_s = round(max(last_s, drill.world.t_s) + END_MARGIN_S)
    goals = _propose_goals(drill, actions)
    base = _build_base(drill, name, length_s)
    base["timeline"] = [
        *_read_timeline(drill),
        *({"at": item.tick / TICKS_PER_S, "do": item.line_without_time} for item in story),
    ]
    base["goal"] = goals
    base["hint"] = []
    base["solution"] = [_build_solution_step(item) for item in actions]
    trial = load_scenario(format_toml({**base, "rubric": _build_rubric(0.0, 0.0)}), f"{name}.toml")
    try:
        solved = play_reference(trial, trial.seed)
    except InputError as problem:
        raise ScenarioRecordingError(
            build_message("Your actions cannot be replayed as a solution: {problem}.", problem=str(problem))
        ) from problem
    idle_run = play_idle(trial, trial.seed)
    reached = [goal for goal in goals if solved.goals[str(goal["name"])].is_reached]
    asking = [goal for goal in reached if not idle_run.goals[str(goal["name"])].is_reached]
    if not asking:
        raise ScenarioRecordingError(
            build_message(
                "The final state is the same without your actions. Inject a fault, repair it, and continue "
                "until all databases are healthy. T-SQL counts as the learner's action, not as a fault."
            )
        )
    points_min = (
        (len(reached) - len(asking))
        * DEMANDING_WEIGHT_SHARE_MIN
        / (1.0 - DEMANDING_WEIGHT_SHARE_MIN)
        / len(asking)
    )
    weight = max(1, math.ceil(points_min))
    chosen_goals = [*asking, *(goal for goal in reached if goal not in asking)][:PROPOSED_GOALS_MAX]
    shown_goals = [goal for goal in reached if goal in chosen_goals]
    base["goal"] = [{**goal, "weight": weight if goal in asking else 1} for goal in shown_goals]
    base["hint"] = [_build_hint(str(goal["name"])) for goal in shown_goals]
    down_ticks = arithmetic.add_in_order(
        quantities.compute_availability(solved.world, db).down_ticks for db in solved.world.availability
    )
    lost_points = arithmetic.add_in_order(
        quantities.compute_availability(solved.world, db).lost_transactions
        for db in solved.world.availability
    )
    base["rubric"] = _build_rubric(down_ticks / TICKS_PER_S, lost_points)
    return format_toml(base)


def _drop_undone_inputs(journal: Sequence[Input]) -> list[Input]:
    """Return *journal* without each pair of inputs at the same tick of which one undoes the other.

    In a drill, timeline inputs come first at each tick. If the pair stayed, a fault would therefore
    come before the repair that it undid.
    """
    lasting_inputs: list[Input] = []
    for item in journal:
        undone = [
            before
            for before in lasting_inputs
            if before.tick == item.tick
            and VERBS[item.verb].reverse == before.verb
            and item.args[: len(before.args)] == before.args
        ]
        if undone:
            lasting_inputs.remove(undone[-1])
        else:
            lasting_inputs.append(item)
    return lasting_inputs


def _is_timeline_input(input_: Input) -> bool:
    """Return whether the input becomes part of the timeline, not of the solution."""
    return VERBS[input_.verb].group in TIMELINE_GROUPS


def _build_base(drill: Drill, name: str, length_s: float) -> dict[str, object]:
    """Return the copied keys of the recorded scenario, with placeholders for the texts."""
    data = tomllib.loads(drill.scenario.text)
    if data.get(VARIANTS_KEY):
        data = substitute_picks(data, pick_values(data[VARIANTS_KEY], drill.seed))
    kept_tables: dict[str, object] = {key: data[key] for key in COPIED_KEYS if key in data}
    return {
        "title": f"{PLACEHOLDER_PREFIX}a title ({name})",
        "summary": f"{PLACEHOLDER_PREFIX}{SUMMARY}",
        "level": data["level"],
        "minutes": max(1, round(length_s / 60.0)),
        "skills": list(SKILLS_PLACEHOLDER),
        "seed": drill.seed,
        "length": length_s,
        "brief": f"{PLACEHOLDER_PREFIX}{BRIEF}",
        "facilitator": f"{PLACEHOLDER_PREFIX}{FACILITATOR}",
        **kept_tables,
    }


def _read_timeline(drill: Drill) -> Iterator[dict[str, object]]:
    """Yield the timeline entries of the recorded scenario."""
    data = tomllib.loads(drill.scenario.text)
    if data.get(VARIANTS_KEY):
        data = substitute_picks(data, pick_values(data[VARIANTS_KEY], drill.seed))
    yield from data.get("timeline", ())


def _build_solution_step(input_: Input) -> dict[str, object]:
    """Return a [[solution]] entry (keys "do" and "why") for the input."""
    return {
        "do": input_.line,
        "why": f"{PLACEHOLDER_PREFIX}why {input_.line_without_time.split()[0]} at this moment",
    }


def _build_hint(goal: str) -> dict[str, object]:
    """Return a [[hint]] entry for a goal, with placeholders in the keys "look", "means" and "type"."""
    return {
        "goal": goal,
        "look": f"{PLACEHOLDER_PREFIX}{LOOK}",
        "means": f"{PLACEHOLDER_PREFIX}{MEANS}",
        "type": f"{PLACEHOLDER_PREFIX}{TYPE}",
    }


# --- goals --------------------------------------------------------------------------------------------------


def _propose_goals(drill: Drill, actions: Sequence[Input]) -> list[dict[str, object]]:
    """Propose goals from the state at the end of the run.

    A goal counts only from the first action on, because before it nothing is broken.
    """
    after_s = actions[0].tick / TICKS_PER_S
    goals = []
    for condition, text in _list_candidate_goals(drill.world):
        if _evaluate_condition(drill, condition):
            goal = {"name": make_slug(condition), "text": text, "when": condition}
            goals.append({**goal, "after": after_s, "hold": GOAL_HOLD_S})
    return goals[:CANDIDATE_GOALS_MAX]


def _evaluate_condition(drill: Drill, condition: str) -> bool:
    try:
        return drill.is_condition_met(condition)
    # the condition names an object that does not exist at the start, such as a witness that was added later
    except ConditionError:
        return False


def _list_candidate_goals(world: World) -> Iterator[tuple[str, str]]:
    """Yield (condition, text for the learner) for each state of the world that may become a goal."""
    for database in world.availability:
        lead = condition_context.find_leading_copy(world, database)
        if lead is not None:
            yield f"{database} serves on {lead.server}", f"{database} serves on {lead.server}"
            if lead.group is not None:
                yield f"{database} is SYNCHRONIZED", f"{database} is protected by a synchronized copy"
            if prerequisites.get_witness(lead) is not None:
                yield f"witness of {database} is CONNECTED", f"The witness of {database} is connected"
        for copy in world.list_copies_of(database):
            if not group_policies.get_policy(copy).is_follower(copy):
                continue
            role = group_policies.get_policy(copy).get_role(copy)
            yield f"{database} on {copy.server} is {role}", f"{copy.server} is {role} of {database}"
        yield f"manual_failovers({database}) > 0", f"{database} was failed over manually"
    for server in world.instances:
        yield f"{server} is RUNNING", f"{server} runs"
    for client in world.clients.values():
        for server in world.instances:
            if client.connected_to == server:
                yield f"{client.name} on {server} is CONNECTED", f"{client.name} works on {server}"


def make_slug(text: str) -> str:
    """Return *text* as a valid name of a scenario or a goal."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-")


# --- points -------------------------------------------------------------------------------------------------


def _build_rubric(downtime_s: float, lost_transactions: int | float) -> list[dict[str, object]]:
    """Build a rubric that scores mainly the outcome.

    The limits of its rules are multiples of the recorded downtime and loss.
    """
    target_s = max(downtime_s + FULL_POINTS_MARGIN_S, downtime_s * FULL_POINTS_FACTOR)
    better = f"{PLACEHOLDER_PREFIX}{BETTER}"
    return [
        {"kind": "goals", "name": "End state", "points": POINTS_BY_RULE_KIND["goals"], "better": better},
        {
            "kind": "downtime",
            "name": "Downtime",
            "points": POINTS_BY_RULE_KIND["downtime"],
            "target": round(target_s, 1),
            "limit": round(max(target_s * ZERO_POINTS_FACTOR, target_s + 60.0), 1),
            "better": better,
        },
        {
            "kind": "lost_transactions",
            "name": "Work lost",
            "points": POINTS_BY_RULE_KIND["lost_transactions"],
            "target": round(lost_transactions * FULL_POINTS_FACTOR),
            "limit": round(lost_transactions * ZERO_POINTS_FACTOR) + 1,
            "better": better,
        },
        {"kind": "conduct", "name": "Conduct", "points": POINTS_BY_RULE_KIND["conduct"], "better": better},
    ]


# --- texts that the author must write -----------------------------------------------------------------------


def find_placeholders(
    data: object, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield (path, placeholder) for each text that the author must still write."""
    if isinstance(data, Mapping):
        for key, part in data.items():
            yield from find_placeholders(part, (*path, key))
    elif isinstance(data, list):
        for number, part in enumerate(data):
            yield from find_placeholders(part, (*path, number))
    elif isinstance(data, str) and data.startswith(PLACEHOLDER_PREFIX):
        request = data.removeprefix(PLACEHOLDER_PREFIX)
        yield path, PLACEHOLDERS.get(request, request)
    elif data in SKILLS_PLACEHOLDER:
        yield path, build_message("names of skills")


# --- TOML ---------------------------------------------------------------------------------------------------


def format_toml(data: Mapping[str, object]) -> str:
    """Format *data* as TOML. Allowed values are texts, numbers, booleans, lists and tables."""
    return "\n".join(_format_table(data, "")).strip() + "\n"


def _format_table(data: Mapping[str, object], path: str) -> Iterator[str]:
    """Yield the lines of a table. Plain keys come first, as TOML requires, then tables and lists of tables."""
    later_tables: list[tuple[str, Mapping[str, object] | list[Mapping[str, object]]]] = []
    for key, value in data.items():
        if (isinstance(value, Mapping) or _is_table_list(value)) and (value or isinstance(value, Mapping)):
            later_tables.append((f"{path}{_format_key(key)}", value))
        else:
            yield f"{_format_key(key)} = {_format_value(value)}"
    for name, value in later_tables:
        for part in value if isinstance(value, list) else [value]:
            yield ""
            yield f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
            yield from _format_table(part, f"{name}.")


def _is_table_list(value: object) -> TypeGuard[list[Mapping[str, object]]]:
    return isinstance(value, list) and all(isinstance(part, Mapping) for part in value)


def _format_key(key: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_-]+", key):
        return key
    return f'"{_escape_text(key)}"'.replace("\n", "\\n")  # TOML does not allow a key to span several lines


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return f"{value:.0f}.0"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_format_value, value))}]"
    return _format_text(str(value))


_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\t": "\\t"}


def _format_text(text: str) -> str:
    """Format a TOML string. A text of several lines becomes a multi-line string."""
    escaped = _escape_text(text)
    return f'"""\n{escaped}"""' if "\n" in text else f'"{escaped}"'


def _escape_text(text: str) -> str:
    return "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character != "\n" and (ord(character) < 0x20 or ord(character) == 0x7F):
        return f"\\u{ord(character):04x}"
    return character
