"""Tests of the translation of engine messages: it is complete, and texts of servers and authors stay
unchanged.
"""

from __future__ import annotations

import ast
import copy
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.files import scenario_files
from app.words import language
from app.words.localization import localize
from engine.drill.authoring.problems import FileProblem
from engine.drill.judging import automatic_players
from engine.drill.judging.review import review_run
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_reference
from engine.drill.time.event_log import EventLog
from engine.flow import SafetyMode
from engine.flow.sites import WORKLOAD1, WORKLOAD2
from engine.inputs import InputError
from engine.localization import (
    LocalizableMessage,
    build_message,
    convert_to_json,
    format_duration,
    format_quantity,
    format_run_time,
    join_messages,
    restore_from_json,
)
from engine.planning import PAPER_STATEMENTS, MirroringPlan, PlanGoals, list_findings
from engine.verbs import VERBS
from engine.verbs.input_lines import parse_script
from tests.cases import sample_cases
from tests.engine.drill import test_broken_files
from tests.events import DATA, build_event, read_field
from tests.sources import parse_source

ENGINE = Path(__file__).parents[3] / "engine"


@pytest.fixture(autouse=True)
def in_german() -> Iterator[None]:
    language.use_language(language.GERMAN)
    yield
    language.use_language(language.ENGLISH)


# --- form of a sentence -------------------------------------------------------------------------------------

LOST_MESSAGE = build_message("lost {server}", server="SERVER_A")
NESTED_MESSAGE = build_message(
    "{problem}; did you mean {name}?",
    problem=build_message("there is no server {name!r}", name="X"),
    name="Y",
)


def test_a_message_equals_its_text() -> None:
    assert LOST_MESSAGE == "lost SERVER_A"
    assert hash(LOST_MESSAGE) == hash("lost SERVER_A")
    assert repr([LOST_MESSAGE]) == "['lost SERVER_A']"
    assert json.dumps(LOST_MESSAGE) == '"lost SERVER_A"'
    assert NESTED_MESSAGE == "there is no server 'X'; did you mean Y?"


@pytest.mark.parametrize(
    "copy_message",
    [
        lambda text: pickle.loads(pickle.dumps(text)),
        copy.deepcopy,
        lambda text: str(InputError(text)),
        lambda text: restore_from_json(json.loads(json.dumps(convert_to_json(text)))),
        lambda text: EventLog([build_event(0, "note", None, None, text)])[0].text,
        lambda text: join_messages("", [text]),
    ],
    ids=["pickle", "copy", "exception", "json", "event log", "joined"],
)
def test_a_message_survives_copying_and_pickling(copy_message: Any) -> None:
    assert copy_message(NESTED_MESSAGE) == NESTED_MESSAGE
    assert localize(copy_message(NESTED_MESSAGE)) == "es gibt keinen Server 'X'; meinten Sie Y?"


def test_a_log_stores_message_and_plain_text_separately() -> None:
    log = EventLog(
        [
            build_event(tick, "note", None, None, text)
            for tick, text in enumerate((str.__str__(LOST_MESSAGE), LOST_MESSAGE))
        ]
    )
    assert [localize(event.text) for event in log] == ["lost SERVER_A", "SERVER_A verloren"]


# --- texts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("english", "german"),
    [
        (LOST_MESSAGE, "SERVER_A verloren"),
        (build_message("{state} -> no session", state="SYNCHRONIZED"), "SYNCHRONIZED -> keine Sitzung"),
        (
            build_message("{input}: {why}", input="power-off SERVER_A", why=build_message("the server is off")),
            "power-off SERVER_A: der Server ist aus",
        ),
        (
            join_messages("; ", parse_script("1 power-off A\n2 cutt A B\n3e9 cut A B")[1]),
            ("Zeile 2: unbekannter Befehl 'cutt'; meinten Sie cut?; Zeile 3: die Zeit 3e9 muss "
                "zwischen 0 und 1.000.000 Sekunden liegen"),
        ),
        (
            build_message("-{points:g}: {loss} Better: {better}", points=2.5, loss="Some author's reason.",
                better=build_message("wait until the session is SYNCHRONIZED.")),
            "-2,5: Some author's reason. Besser: warten Sie, bis die Sitzung SYNCHRONIZED ist.",
        ),
        (
            str(
                FileProblem(
                    "a.toml", 3, 1, "server[1]", build_message("the time window is empty"), build_message("a number")
                )
            ),
            "a.toml:3:1: server[1]: das Zeitfenster ist leer; erwartet: eine Zahl",
        ),
        (join_messages(" ", (format_quantity(1234.5, ",.1f", "MB"), "x")), "1.234,5 MB x"),
        (
            build_message("{database} was down for {time} (full points up to {target}, no points at {limit} or more).",
                database="Sales", time=format_duration(7.97), target=format_duration(120.0),
                limit=format_duration(1099.32)),
            "Sales war 7,97 s außer Betrieb (volle Punkte bis 2 min, keine ab 18:19).",
        ),
        (
            build_message("from {start} to {end}", start=format_run_time(3723.04, 1), end=format_run_time(41.25, 1)),
            "von 1:02:03,0 zu 0:41,2",
        ),
    ],
)  # fmt: skip
def test_messages_are_localized_with_their_arguments(english: str, german: str) -> None:
    assert localize(english) == german
    language.use_language(language.ENGLISH)
    assert localize(english) == english


def test_other_texts_are_unchanged() -> None:
    for text in (
        "",
        "SYNCHRONIZED -> SUSPENDED",
        "power-off SERVER_A",
        "The office opens.",
        "the server is off",
    ):
        assert localize(text) == text


def test_a_name_that_looks_like_a_term_is_not_translated() -> None:
    assert localize(build_message("lost {server}", server="online")) == "online verloren"
    assert (
        localize(build_message("goal met: {goal}", goal="the server is off"))
        == "Ziel erreicht: the server is off"
    )


# --- completeness: texts in the code ------------------------------------------------------------------------

MESSAGE_FUNCTIONS = frozenset(
    {"InputError", "BranchError", "ScenarioRecordingError", "ConditionError", "Finding", "PlanFinding",
     "FailoverPrecondition", "emit", "_emit_event", "emit_role_event", "emit_maintenance_event",
     "_emit_announcement", "add", "add_problem", "Loss", "RuleResult", "RubricItem", "Item", "PaperStatement",
     "Statement", "cancel_failover", "cancel_failover_of_copy", "_abandon_failover", "_stop_without_retry",
     "build_server_objection", "build_computer_objection", "Marker"}
)  # fmt: skip
"""Functions whose text arguments are shown to a user."""

QUOTED_EVENT_KINDS = frozenset(
    {"trace", "errorlog", "clusterlog", "powershell", "sql", "sql_done", "alert", "hint", "question"}
)
"""Kinds of events with texts of SQL Server, Windows, the trainee or the author."""

UNTRANSLATED_PATTERN = re.compile(
    # names, states, keys, choices, titles of papers
    r"[^ ]*|7, 7|\[\[\w+\]\] .*|\w+ = .*|> 7|Figure \d+|Table \d+"
)


KINDS_OF_CLASSES = {data.__name__: kind for kind, data in DATA.items()}


def _find_texts_in_code(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and text of every message in a call of SAYING. The digit 7 stands for inserted
    values.
    """
    saying = (
        {"emit"} if "tsql" in path.parts else MESSAGE_FUNCTIONS
    )  # Events of this package quote SQL Server.
    for call in ast.walk(parse_source(path)):
        if not isinstance(call, ast.Call) or _get_function_name(call.func) not in saying:
            continue
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        if _get_function_name(call.func) in ("emit", "_tell"):
            data = call.args[0]
            quoted = (
                isinstance(data, ast.Call)
                and KINDS_OF_CLASSES.get(_get_function_name(data.func)) in QUOTED_EVENT_KINDS
            )
            arguments = [] if quoted else call.args[1:2]
        for argument in arguments:
            yield from ((call.lineno, text) for text in _list_texts_in(argument))


def _get_function_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _list_texts_in(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(str(v.value) if isinstance(v, ast.Constant) else "7" for v in values)
        case ast.IfExp(body=body, orelse=alternative):
            yield from _list_texts_in(body)
            yield from _list_texts_in(alternative)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            yield from _list_texts_in(left)
            yield from _list_texts_in(right)


def test_no_text_is_localized_without_its_template() -> None:
    """If this fails: use `build_message("… {name}", name=…)`, run `make words`, and translate the text."""
    plain_texts = [
        f"{path.name}:{line} {text!r}"
        for path in sorted(ENGINE.rglob("*.py"))
        if not {"published", "flow", "catalog", "language"}
        & set(path.parts)  # These modules contain rows of papers and texts of SQL Server.
        for line, text in _find_texts_in_code(path)
        if not UNTRANSLATED_PATTERN.fullmatch(text)
    ]
    assert not plain_texts, "\n".join(plain_texts)


# --- completeness: texts of runs ----------------------------------------------------------------------------

INPUT_LINE_PATTERN = re.compile(rf"({'|'.join(VERBS)})( .*)?", re.DOTALL)


def _list_run_texts(drill: Drill) -> Iterator[tuple[str, str]]:
    """Yield (origin, text) of all texts of a run and its debrief."""
    yield from ((event.kind, event.text) for event in drill.events if event.kind not in QUOTED_EVENT_KINDS)
    yield from (("effect", fault.effect) for fault in drill.world.faults)
    for item in drill.compute_score().items if drill.scenario.scored else ():
        yield from (("reason", item.reason), ("advice", item.better))
    looked = review_run(drill)
    yield "end", looked.ended
    for mistake in looked.mistakes:
        yield from (("mistake", mistake.what), ("cause", mistake.cause), ("advice", mistake.better))
    for outage in looked.outages:
        yield from (("verdict", outage.verdict), ("verdict", outage.summary))
    for failover in looked.failovers:
        yield from (("comparison", failover.unlike), *(("phase", phase.name) for phase in failover.phases))
    for lane in looked.lanes.values():
        yield from (("span", span.what) for span in (*lane.service, *lane.protection))
        for guard in lane.preconditions:
            yield from (("precondition", guard.name), ("where to check", guard.seen_in))
            yield from (("span", span.what) for span in guard.spans)
    yield from (("mark", m.text) for m in looked.happened if m.kind not in ("command", "refusal"))


def _find_untranslated_texts(text: str) -> Iterator[str]:
    """Yield the parts of *text* that are not translated into the current language."""
    if not isinstance(text, LocalizableMessage):
        yield text
        return
    for _, value in text.args:
        if isinstance(value, str):
            yield from _find_untranslated_texts(value)


def _list_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (value, f"{value}.", value.rstrip("."), value.removeprefix("note "))
    elif isinstance(value, (dict, list, tuple)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _list_strings(part)


def _list_quotations(drill: Drill) -> set[str]:
    """Return the texts of the author, the trainee and SQL Server in this run."""
    # A player can type "note nothing".
    quoted_texts = {
        *_list_strings(drill.scenario.model_dump()),
        "nothing",
    }
    for event in drill.events:
        quoted_texts |= (
            {" ".join(str(read_field(event, "batch", "")).split()), " ".join(event.text.split())}
            if event.kind in QUOTED_EVENT_KINDS
            else set()
        )
        quoted_texts |= {message["text"] for message in read_field(event, "messages", ())}
    planned, _ = parse_script("\n".join(step.do for step in drill.scenario.solution))
    return quoted_texts | {" ".join(arg.split()) for item in (*drill.journal, *planned) for arg in item.args}


REPEATED_MESSAGE_PATTERN = re.compile(
    r"(Login failed|Cannot open database|Unable to access|The transaction log|Logical consistency|I/O error|"
    r"The operating system) .*",
    re.DOTALL,
)
"""Pattern of server messages that an application repeats."""
PRODUCT_PATTERN = re.compile(r"20\d\d \w+")
"""Pattern of a product version with its edition."""


@pytest.mark.parametrize(
    "name",
    sample_cases(5, ("forced-service", "rolling-upgrade-full", "ag-forced-failover", "isolated-principal",
        "witness-lost", "ag-lab", "setup-with-certificates", "random-trouble-hard", "hundred-databases")),
)  # fmt: skip
def test_a_german_run_contains_english_only_in_quotes(name: str) -> None:
    """The runs are the reference solution and a player with random inputs."""
    scenario = scenario_files.find_scenario_file(name).load()
    plays = [
        automatic_players.build_random_player(len(name)),
        *([automatic_players.play_with_noops, play_reference] if scenario.solution else []),
    ]
    missing = set()
    for play in plays:
        drill = play(scenario, scenario.seed)
        quoted = _list_quotations(drill)
        for kind, text in set(_list_run_texts(drill)):
            missing |= {
                f"{kind}: {part!r} in {text!r}"
                for part in _find_untranslated_texts(text)
                if " " in part
                and part not in quoted
                and not INPUT_LINE_PATTERN.fullmatch(part)
                and not REPEATED_MESSAGE_PATTERN.fullmatch(part)
                and not PRODUCT_PATTERN.fullmatch(part)
            }
    assert not missing, "\n".join(sorted(missing))


def test_every_problem_of_a_file_is_a_message() -> None:
    names = re.compile(r"[\w-]+\??|> \d+|\d+|[\w .]*\(.*\)|skills = .*|facilitator = .*")
    missing, match_count = set(), 0
    for mark in (m for test in vars(test_broken_files).values() for m in getattr(test, "pytestmark", ())):
        if mark.name != "parametrize" or not str(mark.args[0]).count("text"):
            continue
        for text in {row[0] for row in mark.args[1]}:
            for problem in test_broken_files.check_text(text):
                match_count += 1
                missing |= {
                    t
                    for t in (problem.text, problem.expected)
                    if not isinstance(t, LocalizableMessage) and not names.fullmatch(t)
                }
    assert match_count > 30
    assert not missing - {""}, "\n".join(sorted(missing))


def test_every_finding_of_the_planner_is_a_message() -> None:
    plans = [
        MirroringPlan(
            workload=workload, safety=safety, rtt_ms=rtt_ms, bandwidth_mbps=mbps, loss=loss, log_volume_gb=gb
        )
        for workload in (WORKLOAD1, WORKLOAD2)
        for safety in (SafetyMode.FULL, SafetyMode.OFF, SafetyMode.NONE)
        for rtt_ms, mbps, loss, gb in (
            (0.2, 1000.0, 0.0, 40.0),
            (100.0, 1000.0, 0.02, 1.0),
            (2.0, 1.0, 0.0, 1e6),
        )
    ]
    plans += [replace(plan, version=2008, compression_ratio=0.3) for plan in plans[1::4]]
    limits = (
        PlanGoals(),
        PlanGoals(rpo_kb=0.0, response_limit_s=0.1),
        PlanGoals(rpo_s=5.0, response_limit_s=0.3),
    )
    texts: list[str] = [statement.text for statement in PAPER_STATEMENTS]
    for number, plan in enumerate(plans):
        for finding in list_findings(plan, limits[number % len(limits)]):
            texts += [finding.topic, finding.text]
    assert not [text for text in texts if any(" " in part for part in _find_untranslated_texts(text))]
