"""Checks of a scenario that pydantic cannot make: names must exist, input lines and conditions must be valid."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Final

from engine import arithmetic, simulator
from engine.constants import WITNESS_ONLY_EDITIONS
from engine.drill.authoring import conditions
from engine.drill.authoring.cluster_references import add_cluster_names, check_clusters
from engine.drill.authoring.condition_context import ConditionNames
from engine.drill.authoring.conditions import ConditionError
from engine.drill.authoring.problems import KeyPath, ProblemCollector
from engine.drill.authoring.schema import (
    ConductRule,
    DowntimeRule,
    ForbiddenRule,
    GoalsRule,
    Inject,
    LostTransactionsRule,
    Prediction,
    Question,
    Scenario,
    UnprotectedRule,
)
from engine.drill.running import modes
from engine.drill.team import rights
from engine.drill.team.calls import MESSAGE_HANDLERS
from engine.flow import Flow
from engine.flow.sites import SITES, WORKLOADS
from engine.inputs import Input, InputError
from engine.localization import build_message, mark
from engine.model import Client, Computer, DatabaseCopy, Instance, World
from engine.random_streams import RandomStream
from engine.verbs import VERBS
from engine.verbs.input_lines import parse_input_line, parse_script_lines, prefix_line_number


def collect_names(scenario: Scenario) -> ConditionNames:
    """Return the names that conditions of the scenario may use."""
    return ConditionNames(
        tuple(name for database in scenario.databases for name in database.names),
        scenario.server_names,
        tuple(client.name for client in scenario.clients),
        tuple(server.name for server in scenario.servers if not server.sql),
        scenario.programs,
        tuple(str(role.key) for role in scenario.team),
    )


def check_references(scenario: Scenario, collector: ProblemCollector) -> None:
    """Report unknown and duplicate names, and invalid input lines and conditions."""
    names = collect_names(scenario)
    _check_unique_names(scenario, collector)
    _check_servers(scenario, collector)
    _check_databases(scenario, collector, names)
    for i, server in enumerate(scenario.servers):
        if server.edition in WITNESS_ONLY_EDITIONS and server.endpoint.role != "WITNESS":
            message = build_message(
                "{edition} edition supports only endpoints with the role WITNESS", edition=server.edition
            )
            collector.add_problem(("server", i, "endpoint", "role"), message, "WITNESS", 0)
    _check_sessions(scenario, collector, names)
    check_clusters(scenario, collector, _check_name)
    _check_clients(scenario, collector, names)
    _check_team(scenario, collector, names)
    _check_input_lines(scenario, collector)
    for path, text in _list_conditions(scenario):
        try:
            conditions.parse(text, names)
        except ConditionError as problem:
            collector.add_problem(path, problem.text, problem.expected, problem.column - 1)
    _check_goals(scenario, collector)
    _check_inquiries(scenario, collector)
    _check_rubric(scenario, collector, names)


def _check_name(
    collector: ProblemCollector, path: KeyPath, name: str | None, names: Sequence[str], kind: str
) -> bool:
    """Return whether *name* is one of *names*, in the same spelling, and report a problem if not.

    *name* is None if it is omitted, which is allowed. *kind*: kind of object, a key of
    UNKNOWN_NAME_TEXTS.
    """
    if name is None or name in names:
        return True
    matches = difflib.get_close_matches(name, names, 1)
    if matches:
        expected = f"{matches[0]}?"
    elif names:
        expected = build_message("one of {names}", names=", ".join(names))
    else:
        expected = build_message("a {thing}, but this scenario has none", thing=kind)
    collector.add_problem(path, build_message(UNKNOWN_NAME_TEXTS[kind], name=name), expected, 0)
    return False


UNKNOWN_NAME_TEXTS: Final = {
    "site": mark("there is no hardware named {name!r}"),
    "server": mark("there is no server {name!r}"),
    "server or listener": mark("server or listener {name!r} does not exist"),
    "node": mark("there is no node {name!r}"),
    "server or client": mark("there is no server or client {name!r}"),
    "database": mark("there is no database {name!r}"),
    "workload": mark("workload {name!r} does not exist"),
    "goal": mark("there is no goal {name!r}"),
    "question": mark("there is no question {name!r}"),
}
"""Kind of object -> problem text for an unknown name."""


def _check_unique_names(scenario: Scenario, collector: ProblemCollector) -> None:
    named_parts = [
        (table, part.name)
        for table, parts in (
            ("server", scenario.servers),
            ("instance", scenario.instances),
            ("client", scenario.clients),
            ("cluster", scenario.clusters),
            ("availability_group", scenario.groups),
        )
        for part in parts
    ]
    counts = dict.fromkeys(("server", "instance", "client", "cluster", "availability_group"), 0)
    server_paths: list[tuple[KeyPath, str]] = []
    for table, name in named_parts:
        server_paths.append(((table, counts[table], "name"), name))
        counts[table] += 1
    inquiries: list[tuple[KeyPath, str]] = [
        *((("question", i, "name"), question.name) for i, question in enumerate(scenario.questions)),
        *((("predict", i, "name"), prediction.name) for i, prediction in enumerate(scenario.predictions)),
    ]
    groups: tuple[list[tuple[KeyPath, str]], ...] = (
        server_paths,
        [(("database", i, "name"), name) for i, d in enumerate(scenario.databases) for name in d.names],
        [(("goal", i, "name"), g.name) for i, g in enumerate(scenario.goals)],
        [(("forbidden", i, "name"), g.name) for i, g in enumerate(scenario.forbidden)],
        inquiries,
        [(("rubric", i, "name"), r.name) for i, r in enumerate(scenario.rubric)],
        [(("hint", i, "goal"), h.goal) for i, h in enumerate(scenario.hints)],
    )
    for group in groups:
        used_names: set[str] = set()
        for path, name in group:
            if name.lower() in used_names:
                collector.add_problem(
                    path,
                    build_message("{name!r} is listed twice", name=name),
                    build_message("another name"),
                    0,
                )
            used_names.add(name.lower())


def _check_servers(scenario: Scenario, collector: ProblemCollector) -> None:
    ends = [s.name for s in scenario.servers] + [c.name for c in scenario.clients]
    for i, server in enumerate(scenario.servers):
        _check_name(collector, ("server", i, "site"), server.site, list(SITES), "site")
        for j, database in enumerate(server.jobs_for):
            _check_name(
                collector,
                ("server", i, "jobs_for", j),
                database,
                collect_names(scenario).databases,
                "database",
            )
    pairs: set[frozenset[str]] = set()
    for i, link in enumerate(scenario.links):
        for j, end in enumerate(link.ends):
            _check_name(collector, ("link", i, "ends", j), end, ends, "server or client")
        server_pair = frozenset(link.ends)
        if len(server_pair) < 2:
            collector.add_problem(
                ("link", i, "ends"),
                build_message("both ends of the link are identical"),
                build_message("two different ends of the link"),
                0,
            )
        if server_pair in pairs:
            collector.add_problem(
                ("link", i, "ends"),
                build_message("this link is listed twice"),
                build_message("each pair of ends only once"),
                0,
            )
        pairs.add(server_pair)


def _check_databases(scenario: Scenario, collector: ProblemCollector, names: ConditionNames) -> None:
    mirrored = {session.database: session for session in scenario.sessions}
    grouped = {database for group in scenario.groups for database in group.databases}
    for i, database in enumerate(scenario.databases):
        path: KeyPath = ("database", i)
        _check_name(collector, (*path, "workload"), database.workload, list(WORKLOADS), "workload")
        _check_name(collector, (*path, "server"), database.server, names.servers, "server")
        if database.count > 1 and not database.name[-1].isdigit():
            expected = build_message("a name such as {name}", name=f"{database.name}001")
            collector.add_problem(
                (*path, "name"),
                build_message(
                    "a table with {n} databases needs a name that ends in a number", n=database.count
                ),
                expected,
                0,
            )
        session = mirrored.get(database.name)
        for j, server in enumerate(database.restored_on):
            _check_name(collector, (*path, "restored_on", j), server, names.servers, "server")
        if database.restored_on and session is not None:
            collector.add_problem(
                (*path, "restored_on"),
                build_message("the session of this database already has a mirror"),
                build_message("no restored_on"),
                0,
            )
        if session is None and database.server in database.restored_on:
            collector.add_problem(
                (*path, "restored_on"),
                build_message("{server} already hosts the original of this database", server=database.server),
                build_message("other servers"),
                0,
            )
        if session is None and database.server is None and database.name not in grouped:
            collector.add_problem(
                path,
                build_message("{database} has no server", database=database.name),
                build_message("a `server` key, a [[session]] or an [[availability_group]]"),
            )
        if session is not None and database.server not in (None, session.principal):
            collector.add_problem(
                (*path, "server"),
                build_message(
                    "the principal of this database's session is another server: {server}",
                    server=session.principal,
                ),
                build_message("no server"),
                0,
            )
        if session is not None and database.recovery_model != "FULL":
            collector.add_problem(
                (*path, "recovery_model"),
                build_message("a mirrored database needs the recovery model FULL"),
                "FULL",
                0,
            )
        if database.log_size_mb > database.log_max_mb:
            expected = build_message(
                "at least the value of log_size_mb ({size_mb:g})", size_mb=database.log_size_mb
            )
            collector.add_problem(
                (*path, "log_max_mb"), build_message("the log is larger than its maximum size"), expected, 0
            )


def _check_sessions(scenario: Scenario, collector: ProblemCollector, names: ConditionNames) -> None:
    editions = {server.name: server.edition for server in scenario.servers}
    database_names = [database.name for database in scenario.databases]
    mirrored: set[str] = set()
    for i, session in enumerate(scenario.sessions):
        path: KeyPath = ("session", i)
        _check_name(collector, (*path, "database"), session.database, database_names, "database")
        if session.database in mirrored:
            collector.add_problem(
                (*path, "database"),
                build_message("{database} already has a session", database=session.database),
                build_message("one session per database"),
                0,
            )
        mirrored.add(session.database)
        parts = {"principal": session.principal, "mirror": session.mirror, "witness": session.witness}
        used: list[str] = []
        for key, server in parts.items():
            if _check_name(collector, (*path, key), server, names.servers, "server") and server in used:
                collector.add_problem(
                    (*path, key),
                    build_message("{server} already has another role in this session", server=server),
                    build_message("another server"),
                    0,
                )
            used += [server] if server else []
        for key in ("principal", "mirror"):
            edition = editions.get(parts[key] or "")
            if edition in WITNESS_ONLY_EDITIONS:
                collector.add_problem(
                    (*path, key),
                    build_message("{edition} edition can only be a witness", edition=edition),
                    build_message("another server"),
                    0,
                )
        if session.safety == "OFF" and "Standard" in {editions.get(server) for server in used[:2]}:
            collector.add_problem(
                (*path, "safety"), build_message("Standard edition supports only safety FULL"), "FULL", 0
            )


def _check_clients(scenario: Scenario, collector: ProblemCollector, names: ConditionNames) -> None:
    for i, client in enumerate(scenario.clients):
        for j, database in enumerate(client.databases):
            _check_name(collector, ("client", i, "databases", j), database, names.databases, "database")
        sources = [*names.servers, *(group.listener for group in scenario.groups if group.listener)]
        _check_name(
            collector, ("client", i, "data_source"), client.data_source, sources, "server or listener"
        )
        _check_name(
            collector, ("client", i, "failover_partner"), client.failover_partner, names.servers, "server"
        )


def _check_team(scenario: Scenario, collector: ProblemCollector, names: ConditionNames) -> None:
    """Report duplicate team keys, unknown servers, and invalid rights of roles."""
    world = _build_named_world(scenario)
    role_keys: set[str] = set()
    for i, role in enumerate(scenario.roles):
        path: KeyPath = ("role", i)
        if role.key is None:
            if role.servers or role.sees or role.does:
                collector.add_problem(
                    path, build_message("a role without a `key` cannot be played by a person"), 'key = "..."'
                )
            continue
        if role.key in role_keys:
            collector.add_problem(
                (*path, "key"),
                build_message("the role key {name!r} is used twice", name=role.key),
                build_message("another name"),
                0,
            )
        role_keys.add(role.key)
        for j, server in enumerate(role.servers):
            _check_name(
                collector, (*path, "servers", j), server, [*names.servers, *names.computers], "server"
            )
        for j, line in enumerate(role.does):
            try:
                understood = modes.parse_lock(line, world)
            except InputError as problem:
                collector.add_problem((*path, "does", j), str(problem), offset=0)
                continue
            if understood.command_text != line:
                collector.add_problem(
                    (*path, "does", j),
                    build_message("the input line is not in its standard spelling"),
                    understood.command_text,
                    0,
                )
    if len(role_keys) == 1:
        collector.add_problem(
            ("role",),
            build_message("the team has only one role"),
            build_message("at least two roles with a `key`, or none"),
        )


def _check_input_role(
    input_: Input, scenario: Scenario, path: KeyPath, collector: ProblemCollector, must_speak_as: bool = False
) -> None:
    """Report each role in an input line that does not belong to the team, as sender or as receiver.

    *must_speak_as*: True to also report a message without a sender.
    """
    for key in (input_.by, input_.args[0] if input_.verb in MESSAGE_HANDLERS else ""):
        if key:
            try:
                rights.find_role(scenario.team, key)
            except InputError as problem:
                collector.add_problem(path, str(problem), offset=0)
    if must_speak_as and input_.verb in MESSAGE_HANDLERS and not input_.by:
        collector.add_problem(
            path,
            build_message("the input line does not name a role"),
            build_message("the key of a role before the input line, such as @{name}", name="dba"),
            0,
        )


def _check_input_lines(scenario: Scenario, collector: ProblemCollector) -> None:
    """Report invalid input lines in timeline, locks and solution, and unknown names in them."""
    world = _build_named_world(scenario)
    for i, line in enumerate(scenario.before):
        try:
            simulator.resolve_names(world, parse_input_line(line.do.strip()))
        except InputError as problem:
            collector.add_problem(("before", i, "do"), str(problem), offset=0)
    for i, inject in enumerate(scenario.timeline):
        path: KeyPath = ("timeline", i)
        try:
            item = simulator.resolve_names(world, parse_input_line(inject.do.strip()))
        except InputError as problem:
            collector.add_problem((*path, "do"), str(problem), offset=0)
        else:
            _check_input_role(item, scenario, (*path, "do"), collector, must_speak_as=True)
            if VERBS[item.verb].by_person:
                collector.add_problem(
                    (*path, "do"),
                    build_message("only the learner can use {verb}", verb=item.verb),
                    build_message("another command"),
                    0,
                )
        _check_single_trigger(inject, ("at", "between", "when"), path, collector)
    for i, lock in enumerate(scenario.locked):
        try:
            modes.parse_lock(lock.do, world)
        except InputError as problem:
            collector.add_problem(("locked", i, "do"), str(problem), offset=0)
    for i, step in enumerate(scenario.solution):
        inputs, problems = parse_script_lines(step.do.strip())
        for number, text in problems:
            collector.add_problem(
                ("solution", i, "do"), text if number == 1 else prefix_line_number(number, text), offset=0
            )
        if len(inputs) > 1:
            collector.add_problem(
                ("solution", i, "do"),
                build_message("the solution step contains more than one input line"),
                build_message("one input line per [[solution]] table"),
                0,
            )
        for item in inputs[:1]:
            try:
                simulator.resolve_names(world, item)
            except InputError as problem:
                collector.add_problem(("solution", i, "do"), str(problem), offset=0)
            _check_input_role(item, scenario, ("solution", i, "do"), collector)
            if item.verb == "answer":
                inquiries = [inquiry.name for inquiry in scenario.inquiries]
                _check_name(collector, ("solution", i, "do"), item.args[0], inquiries, "question")


def _check_single_trigger(
    part: Inject | Question | Prediction, keys: Sequence[str], path: KeyPath, collector: ProblemCollector
) -> None:
    """Report a problem unless exactly one of *keys* is given.

    Also report a delay without a condition, and an empty time window.
    """
    given_keys = [key for key in keys if getattr(part, key) is not None]
    if len(given_keys) != 1:
        message = (
            build_message(
                "the entry contains {names}, but only one is allowed", names=" and ".join(given_keys)
            )
            if given_keys
            else build_message("the entry has neither a time nor a condition")
        )
        collector.add_problem(path, message, build_message("one of {names}", names=", ".join(keys)))
    if part.when is None and part.after > 0.0:
        collector.add_problem(
            (*path, "after"),
            build_message("`after` needs a condition in `when`"),
            build_message("`when`, or `at` instead of `after`"),
            0,
        )
    if isinstance(part, Inject) and part.between is not None and part.between[0] >= part.between[1]:
        collector.add_problem(
            (*path, "between"),
            build_message("the time window is empty"),
            build_message("first an earlier time, then a later time"),
            0,
        )


def _build_named_world(scenario: Scenario) -> World:
    """Build a world whose objects have only names. Input lines are checked against it."""
    world = World(seed=0, chance=RandomStream.from_seed(0), flow=Flow.create_empty())
    for host, server in enumerate(scenario.servers):
        world.computers[server.name] = Computer(name=server.name)
        if server.sql:
            world.instances[server.name] = Instance(name=server.name, computer=server.name, host=host)
    add_cluster_names(world, scenario)
    for client in scenario.clients:
        world.clients[client.name] = Client(
            name=client.name, databases=client.databases, data_source=client.data_source
        )
    for name in collect_names(scenario).databases:
        world.copies["", name] = DatabaseCopy(server="", database=name)
    return world


def _list_conditions(scenario: Scenario) -> Iterable[tuple[KeyPath, str]]:
    for table, parts in (
        ("timeline", scenario.timeline),
        ("goal", scenario.goals),
        ("forbidden", scenario.forbidden),
        ("question", scenario.questions),
        ("predict", scenario.predictions),
        ("solution", scenario.solution),
        ("rubric", scenario.rubric),
    ):
        for i, part in enumerate(parts):
            for key in ("when", "premise"):
                text: str | None = getattr(part, key, None)
                if text is not None:
                    yield (table, i, key), text
    for i, question in enumerate(scenario.questions):
        for j, alternative in enumerate(question.instead):
            yield ("question", i, "instead", j, "when"), alternative.when
    for i, prediction in enumerate(scenario.predictions):
        for j, choice in enumerate(prediction.choices):
            yield ("predict", i, "choice", j, "when"), choice.when
    for i, rule in enumerate(scenario.rubric):
        if isinstance(rule, ConductRule):
            for j, price in enumerate(rule.prices):
                yield ("rubric", i, "price", j, "when"), price.when
                if price.premise is not None:
                    yield ("rubric", i, "price", j, "premise"), price.premise


def _check_goals(scenario: Scenario, collector: ProblemCollector) -> None:
    for i, goal in enumerate(scenario.goals):
        if goal.within is not None and goal.within < goal.after + goal.hold:
            expected = build_message("at least `after` + `hold` ({t_s:g} s)", t_s=goal.after + goal.hold)
            collector.add_problem(
                ("goal", i, "within"),
                build_message("the goal cannot be met before its deadline"),
                expected,
                0,
            )
        if scenario.length is not None and goal.after + goal.hold > scenario.length:
            collector.add_problem(
                ("goal", i),
                build_message("the drill ends before the goal can be met"),
                build_message("a longer drill"),
            )
    for i, hint in enumerate(scenario.hints):
        _check_name(collector, ("hint", i, "goal"), hint.goal, [goal.name for goal in scenario.goals], "goal")


def _check_inquiries(scenario: Scenario, collector: ProblemCollector) -> None:
    """Report questions without valid right choices, and questions or predictions without points.

    Also report questions and predictions whose time is not before the end of the drill.
    """
    kinds = {rule.kind for rule in scenario.rubric}
    groups: tuple[tuple[str, Sequence[Question | Prediction], str], ...] = (
        ("question", scenario.questions, "diagnosis"),
        ("predict", scenario.predictions, "prediction"),
    )
    for table, inquiries, kind in groups:
        for i, inquiry in enumerate(inquiries):
            path: KeyPath = (table, i)
            _check_single_trigger(inquiry, ("at", "when"), path, collector)
            if scenario.length is not None and (inquiry.at or 0.0) >= scenario.length:
                collector.add_problem(
                    (*path, "at"),
                    build_message("the question comes after the end of the drill"),
                    build_message("a time before {t_s:g} s", t_s=scenario.length),
                    0,
                )
            if isinstance(inquiry, Question):
                _check_right_choices(inquiry, path, collector)
        if inquiries and scenario.scored and kind not in kinds:
            collector.add_problem(
                (table, 0),
                build_message("correct answers to these questions earn no points"),
                build_message('a rule of kind "{kind}"', kind=kind),
            )
        if kind in kinds and not inquiries:
            collector.add_problem(
                ("rubric",),
                build_message('the rule of kind "{kind}" has no question', kind=kind),
                build_message("a [[{table}]] table", table=table),
            )


def _check_right_choices(question: Question, path: KeyPath, collector: ProblemCollector) -> None:
    """Report right choices that do not exist."""
    numbers = {(*path, "right"): question.right}
    numbers |= {
        (*path, "instead", i, "right"): alternative.right for i, alternative in enumerate(question.instead)
    }
    for key_path, right in numbers.items():
        if max(right) > len(question.choices):
            expected = build_message("numbers from 1 to {n}", n=len(question.choices))
            collector.add_problem(
                key_path, build_message("this number is higher than the number of choices"), expected, 0
            )


def _check_rubric(scenario: Scenario, collector: ProblemCollector, names: ConditionNames) -> None:
    if not scenario.rubric:
        return
    for i, rule in enumerate(scenario.rubric):
        if isinstance(rule, (DowntimeRule, UnprotectedRule, LostTransactionsRule)):
            _check_name(collector, ("rubric", i, "database"), rule.database, names.databases, "database")
            if rule.target >= rule.limit:
                collector.add_problem(
                    ("rubric", i, "limit"),
                    build_message("`limit` is not above `target`"),
                    f"> {rule.target:g}",
                    0,
                )
        if isinstance(rule, ForbiddenRule) and not scenario.forbidden:
            collector.add_problem(
                ("rubric", i),
                build_message("the scenario has no forbidden state"),
                build_message("a [[forbidden]] table"),
            )
    total = arithmetic.add_in_order(rule.points for rule in scenario.rubric)
    if abs(total - 100.0) > 1e-6:
        collector.add_problem(
            ("rubric",), build_message("the points of all rules total {points:g}", points=total), "100"
        )
    if sum(isinstance(rule, GoalsRule) for rule in scenario.rubric) != 1 or not scenario.goals:
        collector.add_problem(
            ("rubric",),
            build_message("a scored drill needs goals"),
            build_message('one rule of kind "goals" and at least one [[goal]]'),
        )
    if scenario.length is None:
        collector.add_problem(
            (),
            build_message("a scored drill needs a time limit"),
            build_message('a time limit such as length = "15min"'),
        )
