"""Warnings for a valid scenario: missing texts, and points that are too easy to win or to lose."""

import difflib
import re
import tomllib
from typing import Final

from engine.constants import TICKS_PER_S
from engine.drill.authoring import run_scenario, variants
from engine.drill.authoring.problems import FileProblem, KeyPath, ProblemCollector, ScenarioError
from engine.drill.authoring.references import collect_names
from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import ConductRule, ForbiddenRule, Scenario
from engine.drill.judging.skills import load_skills_by_key
from engine.drill.par.observability import find_premature_inputs
from engine.drill.running.drill import Drill
from engine.drill.running.solution import DrillStarter, play_idle, play_reference
from engine.drill.running.world_builder import apply_preparation, start_world
from engine.inputs import InputError
from engine.localization import build_message, join_messages
from engine.model import World
from engine.protocol import security
from engine.verbs import VERBS
from engine.verbs.verb import Verb

SOLUTION_POINTS_MIN: Final = 95.0
"""Minimum score that the reference solution of a valid drill reaches, as promised to trainees."""
IDLE_POINTS_MAX: Final = 40.0
"""Maximum score of a valid drill for a run without any action, as promised to trainees."""


VARIANT_SEEDS: Final = range(3)
"""Additional seeds with which a scenario with variants is played, so that several variants are tested."""


def list_warnings(scenario: Scenario, file: str, begin: DrillStarter = Drill) -> list[FileProblem]:
    """Return all problems that an author should fix before learners play the drill.

    The drill is played twice for each tested seed: with the reference solution, and without any action.
    *begin*: function that starts a drill.
    """
    problems, playable = _run_static_checks(scenario, file)
    finder = ProblemCollector(file, scenario.text)
    if scenario.scored and playable:
        drill = Drill(scenario)
        for number, goal in enumerate(scenario.goals):
            if goal.after == 0.0 and goal.hold == 0.0 and drill.is_condition_met(goal.when):
                _report_goal_reached_at_start(number, finder)
        for seed in (scenario.seed, *(VARIANT_SEEDS if scenario.variants else ())):
            _check_solution(scenario, seed, finder, begin)
            _check_idle_run(scenario, seed, finder, begin)
    return sorted({*problems, *finder.problems})


def list_static_warnings(scenario: Scenario, file: str) -> list[FileProblem]:
    """Return the warnings that are found without playing the drill, mainly about missing texts."""
    return sorted(set(_run_static_checks(scenario, file)[0]))


def _run_static_checks(scenario: Scenario, file: str) -> tuple[list[FileProblem], bool]:
    """Return the problems, and whether the drill can be played."""
    finder = ProblemCollector(file, scenario.text)
    _check_texts(scenario, finder)
    world = start_world(scenario, scenario.seed)
    try:
        refused = apply_preparation(world, [line.do for line in scenario.before])
    except InputError as problem:
        finder.add_problem(
            ("before", 0),
            build_message("an input line cannot be executed: {problem}", problem=str(problem)),
            build_message("input lines that can be executed"),
        )
        return finder.problems, False
    for text in refused:
        finder.add_problem(
            ("before", 0),
            text,
            build_message("only input lines that take effect immediately and without an error"),
        )
    _check_reconnections(world, finder)
    _check_times_after_end(scenario, finder)
    if scenario.variants:
        _check_variants(scenario, finder)
    playable = not any(problem.where.startswith("variants") for problem in finder.problems)
    if scenario.goals and not scenario.scored:
        finder.add_problem(
            (),
            build_message("no goal earns points, because the scenario has no rubric"),
            build_message("[[rubric]] tables"),
        )
    return finder.problems, playable


def _check_reconnections(world: World, collector: ProblemCollector) -> None:
    """Report connections that exist at the start but could not be opened again after an interruption."""
    connected = {(server, peer) for (_, server, peer), contact in world.contacts.items() if contact.connected}
    for server, peer in sorted(connected):
        refusal = security.find_handshake_refusal(world, server, peer)
        if refusal is not None:
            problem = build_message(
                "{a} is connected to {b}, but {b} would refuse a new connection", a=server, b=peer
            )
            collector.add_problem(
                ("before",),
                problem,
                build_message("for each service account, a login with CONNECT permission on the endpoint"),
            )


def _check_texts(scenario: Scenario, collector: ProblemCollector) -> None:
    if not scenario.sources:
        collector.add_problem(
            (), build_message("the scenario names no publication"), build_message("a [[source]] table")
        )
    if scenario.scored and not scenario.skills:
        collector.add_problem((), build_message("the scenario names no skill"), "skills = [...]")
    _check_skills(scenario, collector)
    if scenario.fidelity is None:
        collector.add_problem(
            (),
            build_message("the scenario does not describe the limits of the simulation"),
            build_message("a [fidelity] table"),
        )
    if scenario.facilitator is None:
        collector.add_problem(
            (), build_message("the notes for the instructor are missing"), 'facilitator = "..."'
        )
    hinted = {hint.goal for hint in scenario.hints}
    for number, goal in enumerate(scenario.goals):
        if goal.name not in hinted:
            collector.add_problem(
                ("goal", number),
                build_message("the goal {goal!r} has no hint", goal=goal.name),
                build_message("a [[hint]] for this goal"),
            )
    _check_hint_lines(scenario, collector)
    _check_costless_mistakes(scenario, collector)
    for path, prompt in run_scenario.find_placeholders(tomllib.loads(scenario.text)):
        collector.add_problem(
            path,
            build_message("a placeholder text was not replaced: {said}", said=prompt),
            build_message("your own text instead of the placeholder"),
        )


def _check_times_after_end(scenario: Scenario, collector: ProblemCollector) -> None:
    """Report events, goals and questions whose time is after the end of the drill."""
    if scenario.length is None:
        return
    times: list[tuple[KeyPath, float | None]] = []
    for number, inject in enumerate(scenario.timeline):
        times.append((("timeline", number, "at"), inject.at))
        times.append((("timeline", number, "between"), inject.between[1] if inject.between else None))
    times += [(("goal", number, "after"), goal.after) for number, goal in enumerate(scenario.goals)]
    times += [(("question", number, "at"), question.at) for number, question in enumerate(scenario.questions)]
    times += [
        (("predict", number, "at"), prediction.at) for number, prediction in enumerate(scenario.predictions)
    ]
    for path, time_s in times:
        if time_s is not None and time_s >= scenario.length:
            message = build_message("the time is after the end of the drill ({t_s:g} s)", t_s=scenario.length)
            collector.add_problem(path, message, build_message("an earlier time, or a longer drill"), 0)


def _check_skills(scenario: Scenario, collector: ProblemCollector) -> None:
    """Report unknown skills, which would never become due for practice."""
    to_write = {path for path, _ in run_scenario.find_placeholders(tomllib.loads(scenario.text))}
    for number, key in enumerate(scenario.skills):
        path: KeyPath = ("skills", number)
        if key in scenario.skills[:number]:
            collector.add_problem(
                path,
                build_message("{name!r} is listed twice", name=key),
                build_message("each skill only once"),
                0,
            )
        elif key not in load_skills_by_key() and path not in to_write:
            matches = difflib.get_close_matches(key, load_skills_by_key(), 1, cutoff=0.5)
            collector.add_problem(
                path,
                build_message("there is no skill {name!r}", name=key),
                f"{matches[0]}?"
                if matches
                else build_message("one of {names}", names=", ".join(load_skills_by_key())),
                0,
            )


_HINT_LINE_PATTERN: Final = re.compile(rf"(?<![\w-])({'|'.join(VERBS)}) ([A-Z](?:[\w-]*\w)?)")
"""Pattern of an input line in a hint: a verb and the name that follows it."""
_DATABASE_STATEMENT_PATTERN: Final = re.compile(
    r"\b(?:DATABASE|LOG) (\[[^\]]+\]|[A-Za-z_]\w*) (?:SET|TO|FROM|WITH)\b"
)
"""Pattern of a database name in an ALTER, BACKUP or RESTORE statement of a hint."""


def _refers_to_object(verb: Verb) -> bool:
    return bool(verb.parameters) and verb.parameters[0].kind in (
        "server",
        "window",
        "database",
        "client",
        "name",
    )


def _check_hint_lines(scenario: Scenario, collector: ProblemCollector) -> None:
    """Report names that a hint tells the learner to type but that do not exist in the scenario.

    This often happens when an author copies a drill.
    """
    names = collect_names(scenario)
    known_names = {*names.servers, *names.databases, *names.clients}
    for number, hint in enumerate(scenario.hints):
        typed_lines = [m[2] for m in _HINT_LINE_PATTERN.finditer(hint.type) if _refers_to_object(VERBS[m[1]])]
        unknown = [name for name in typed_lines if name not in known_names]
        altered = [m[1].strip("[]") for m in _DATABASE_STATEMENT_PATTERN.finditer(hint.type)]
        unknown += [name for name in altered if name not in names.databases]
        for name in unknown:
            collector.add_problem(
                ("hint", number, "type"),
                build_message("{name} is not in this scenario", name=name),
                build_message("a name from this scenario"),
                0,
            )


def _check_costless_mistakes(scenario: Scenario, collector: ProblemCollector) -> None:
    """Report actions and forbidden states that the debrief calls wrong although they cost no points."""
    for index, rule in enumerate(scenario.rubric):
        for number, price in enumerate(rule.prices if isinstance(rule, ConductRule) else ()):
            if price.price == 0.0:
                collector.add_problem(
                    ("rubric", index, "price", number, "price"),
                    build_message("the deduction for this action is 0 points"),
                    build_message("a deduction above 0, or no entry for this action"),
                )
    costly = any(isinstance(rule, ForbiddenRule) and rule.points > 0.0 for rule in scenario.rubric)
    if scenario.scored and scenario.forbidden and not costly:
        collector.add_problem(
            ("forbidden", 0),
            build_message("reaching a forbidden state costs no points"),
            build_message('a [[rubric]] table of kind "forbidden" with points'),
        )


def _check_variants(scenario: Scenario, collector: ProblemCollector) -> None:
    """Report pools without a placeholder, and the first combination of picks that gives no valid scenario."""
    for path, text, expected in variants.find_unused_pools(tomllib.loads(scenario.text)):
        collector.add_problem(path, text, expected)
    for picks in variants.iterate_combinations(scenario.variants):
        try:
            load_scenario(scenario.text, f"{scenario.name}.toml", picks=picks)
        except ScenarioError as problems:
            with_these = ", ".join(f"{name} = {value!r}" for name, value in picks.items())
            first_problem = problems.problems[0]
            expected = first_problem.expected or build_message("values that are valid in every combination")
            collector.add_problem(
                ("variants",),
                build_message(
                    "with the values {picks}: {path}: {problem}",
                    picks=with_these,
                    path=first_problem.where,
                    problem=first_problem.text,
                ),
                expected,
            )
            return


def _report_goal_reached_at_start(number: int, collector: ProblemCollector) -> None:
    expected = build_message(
        "`after` set to the time of the failure, or a condition that is not met at the start"
    )
    collector.add_problem(
        ("goal", number, "when"), build_message("the goal is met before anything happens"), expected, 0
    )


def _check_solution(scenario: Scenario, seed: int, collector: ProblemCollector, begin: DrillStarter) -> None:
    if not scenario.solution:
        collector.add_problem(
            (), build_message("there is no reference solution"), build_message("[[solution]] tables")
        )
        return
    try:
        drill = play_reference(scenario, seed, begin)
    except InputError as problem:
        collector.add_problem(
            ("solution", 0),
            build_message(
                "a step of the reference solution cannot be executed: {problem}", problem=str(problem)
            ),
            build_message("steps that can be executed"),
        )
        return
    for act in find_premature_inputs(drill.scenario, drill.story_ticks, drill.events, drill.journal)[:1]:
        finding = build_message(
            "the reference solution acts at {t_s:g} s, before the first symptom: {line}",
            t_s=act.tick / TICKS_PER_S,
            line=act.line_without_time,
        )
        expected = build_message(
            "a step after the symptom, or `early` with the reason why the brief asks for this action"
        )
        collector.add_problem(("solution", 0), finding, expected)
    score = drill.compute_score()
    flawless = {rule.name for rule in scenario.rubric if rule.kind in ("conduct", "diagnosis", "prediction")}
    for item in score.items:
        if item.name in flawless and item.points < item.max:
            finding = build_message(
                "the reference solution loses points with seed {seed}: {rule}: {why}",
                seed=seed,
                rule=item.name,
                why=item.reason,
            )
            collector.add_problem(
                ("solution", 0), finding, build_message("steps and answers that lose no points")
            )
    if score.total < SOLUTION_POINTS_MIN:
        missing_points = join_messages(
            "; ",
            (
                build_message(
                    "{rule}: {points:g} of {max:g} points ({why})",
                    rule=i.name,
                    points=i.points,
                    max=i.max,
                    why=i.reason,
                )
                for i in score.items
                if i.points < i.max
            ),
        )
        finding = build_message(
            "the reference solution earns {points:g} points with seed {seed}: {missing}",
            points=score.total,
            seed=seed,
            missing=missing_points,
        )
        collector.add_problem(
            ("solution", 0), finding, build_message("{points:g} points or more", points=SOLUTION_POINTS_MIN)
        )


def _check_idle_run(scenario: Scenario, seed: int, collector: ProblemCollector, begin: DrillStarter) -> None:
    drill = play_idle(scenario, seed, begin)
    total = drill.compute_score().total
    if total >= IDLE_POINTS_MAX:
        times = [inject.at if inject.between is None else inject.between[0] for inject in scenario.timeline]
        first_s = min((time for time in times if time is not None), default=0.0)
        for number, goal in enumerate(scenario.goals):
            met_tick = drill.goals[goal.name].met_tick
            if met_tick is not None and met_tick < first_s * TICKS_PER_S:
                _report_goal_reached_at_start(number, collector)
        message = build_message("doing nothing earns {points:g} points", points=total)
        collector.add_problem(
            ("goal", 0),
            message,
            build_message(
                "fewer than {points:g} points: give weight only to goals that need an action",
                points=IDLE_POINTS_MAX,
            ),
        )
