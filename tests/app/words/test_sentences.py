"""Sentences of the engine in another language: all of them are known, and nothing of the servers' is touched."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.files import scenario_files
from app.words import language
from app.words.language import tr
from app.words.sentences import LISTS, NEEDED, QUOTED, WELCOME, of_event, ours, said, tables
from engine.drill.judging import agents
from engine.drill.judging.review import review
from engine.drill.running.drill import Drill
from engine.drill.running.solution import played
from engine.flow import Mode
from engine.flow.sites import WORKLOAD1, WORKLOAD2
from engine.planning import STATEMENTS, Goals, Plan, advice
from engine.verbs import VERBS
from tests.engine.drill import test_broken_files

ENGINE = Path(__file__).parents[3] / "engine"


@pytest.fixture(autouse=True)
def in_german() -> Iterator[None]:
    language.use(language.GERMAN)
    yield
    language.use(language.ENGLISH)


# --- what is said -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("lost SERVER_A", "SERVER_A verloren"),
        ("SYNCHRONIZED -> no session", "SYNCHRONIZED -> keine Sitzung"),
        ("power-off SERVER_A: the server is off", "power-off SERVER_A: der Server ist aus"),
        (
            "there is no server 'X'; did you mean SERVER_X?",
            "es gibt keinen Server 'X'; meinten Sie SERVER_X?",
        ),
        (
            "line 2: there is no verb 'cutt'; did you mean cut?; line 3: the time 9 is outside 0 to 5 seconds",
            "Zeile 2: es gibt kein Verb 'cutt'; meinten Sie cut?; "
            "Zeile 3: die Zeit 9 liegt nicht zwischen 0 und 5 Sekunden",
        ),
        (
            "Sales was down for 12.5 s; full points up to 30 s, none after 120 s. "
            "Counts once all goals are reached (0 of 2 are).",
            "Sales war 12,5 s außer Betrieb; volle Punkte bis 30 s, keine nach 120 s. "
            "Zählt, sobald alle Ziele erreicht sind (0 von 2).",
        ),
        (
            "-2: SERVER_A refused a command with 1418. Better: wait for SYNCHRONIZED. "
            "-2.5: Some author's reason. Better: something else: of the author's.",
            "-2: SERVER_A hat einen Befehl mit 1418 abgelehnt. Besser: warten Sie auf SYNCHRONIZED. "
            "-2,5: Some author's reason. Besser: something else: of the author's.",
        ),
        (
            "There was no failover. Automatic failover was not possible: “safety is FULL” did not hold from 3.5 s on "
            "(seen in sys.database_mirroring on SERVER_B: mirroring_safety_level_desc).",
            "Es gab kein Failover. Ein automatisches Failover war nicht möglich: „die Sicherheit ist FULL“ "
            "galt ab 3,5 s nicht (zu sehen in sys.database_mirroring auf SERVER_B: mirroring_safety_level_desc).",
        ),
    ],
)
def test_sentences_are_put_together_anew(english: str, german: str) -> None:
    assert said(english) == german
    language.use(language.ENGLISH)
    assert said(english) == english


def test_what_the_engine_did_not_say_stays_as_it_is() -> None:
    for text in ("", "SYNCHRONIZED -> SUSPENDED", "power-off SERVER_A", "The office opens.", "a; b. C: d"):
        assert said(text) == text


def test_a_name_that_looks_like_a_word_stays_a_name() -> None:
    assert said("lost online") == "online verloren"
    assert said("goal reached: redo") == "Ziel erreicht: redo"


@pytest.mark.parametrize(
    "piece",
    [
        "1: 1 of 1. ",
        "the server is off; ",
        "a: b. Better: ",
        "x Counts once all goals are reached (1 of 1 are). ",
    ],
)
def test_a_note_made_to_hold_the_window_up_does_not(piece: str) -> None:
    """It took minutes, or all of the stack."""
    for length in (900, 3_900, 100_000):
        assert said((piece * (length // len(piece))).strip())


@pytest.mark.parametrize("kind", sorted(QUOTED))
def test_what_servers_people_and_authors_said_is_quoted(kind: str) -> None:
    assert of_event(kind, "SQL Server is starting") == "SQL Server is starting"
    assert of_event("service", "SQL Server is starting") == "SQL Server wird gestartet"


SAMPLES = {
    "state": "DISCONNECTED", "quoted": "'x'", "batch": "BACKUP LOG x", "input": "cut A B", "place": "a.toml:1:2",
    "why": "the server is off", "what": "the server is off", "problem": "the server is off", "step": "online",
    "deeds": "x",
    "told": "There was no failover.", "guard": "safety is FULL", "seen": "ERRORLOG of S",
    "whys": "the server is off; the server is on",
}  # fmt: skip


def test_each_template_answers_to_its_own_sentence_and_to_no_other() -> None:
    fixed, templates = tables()
    for text in (*fixed, *(template.text for template in templates)):
        names = re.findall(r"\{(\w+)\}", text)
        sentence = text.format(**{name: SAMPLES.get(name, "7") for name in names})
        translated = {name: said(SAMPLES.get(name, "7")) for name in names}
        for name in LISTS.keys() & set(names):
            if name in SAMPLES:
                translated[name] = "; ".join(map(said, SAMPLES[name].split("; ")))
        assert said(sentence) == tr(text).format(**translated), text


def test_parts_are_looked_up_only_where_the_tables_say_so() -> None:
    names = {name for template in tables()[1] for name in re.findall(r"\{(\w+)\}", template.text)}
    assert NEEDED | WELCOME | LISTS.keys() <= names, "a kind of part that nothing uses"


# --- nothing is left out: what the code can say -------------------------------------------------------------

SAYING = frozenset(
    {"InputProblem", "BranchProblem", "CannotRecord", "ConditionProblem", "Finding", "Precondition", "emit", "_say",
     "_tell", "add", "Loss", "Judged", "note"}
)  # fmt: skip
"""Functions whose texts somebody reads."""

TRIED = ("7", "A", "enabled", "the server is off", "", "does not exist", "installing a service pack")
"""What is put in for a field of a formatted string: a number, a name or a state, words and sentences, nothing."""

OF_OTHERS = re.compile(
    r"\W*|100|7\?|7(, 7)*|7 -> 7|[A-Z_]+( [A-Z_]+)?|\w+ = .*|> 7"  # signs, names, choices, states, keys
    r"|7\(7?\)|7: mirroring_\w+"  # conditions; columns
)


def _in_code(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Every text in a call of SAYING: its line, and what it may become."""
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(call, ast.Call) and _name(call.func) in SAYING:
            for argument in call.args[_name(call.func) in ("emit", "_tell") :]:  # not the kind of the event
                yield from ((call.lineno, texts) for texts in _texts(argument))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _texts(node: ast.expr) -> Iterator[list[str]]:
    match node:
        case ast.Constant(value=str(text)):
            yield [text]
        case ast.JoinedStr(values=values):
            yield [
                "".join(parts) for parts in itertools.islice(itertools.product(*map(_field, values)), 3000)
            ]
        case ast.IfExp(body=body, orelse=other):
            yield from _texts(body)
            yield from _texts(other)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            for one, more in itertools.product(_texts(left), _texts(right)):
                yield [a + b for a in one for b in more]


def _field(value: ast.expr) -> tuple[str, ...]:
    match value:
        case ast.Constant(value=text):
            return (str(text),)
        case ast.FormattedValue(conversion=114):
            return ("'x'",)
        case ast.FormattedValue(value=ast.IfExp(body=ast.Constant(value=text))):
            return (str(text),)
    return TRIED


def test_every_sentence_that_the_engine_can_say_is_in_the_tables() -> None:
    """Else: add it to the table in `app/words/sentences` where it belongs, run `make words`, and translate it."""
    missing = []
    checked = 0
    for path in sorted(ENGINE.rglob("*.py")):
        if {"tsql", "published", "flow"} & set(path.parts) or path.stem in ("agents", "recorded", "advice"):
            continue  # SQL Server's messages, the papers' rows, the terminal's, an author's; the planner: below
        for line, texts in _in_code(path):
            checked += 1
            if not any(ours(text) or OF_OTHERS.fullmatch(text) for text in texts):
                missing.append(f"{path.name}:{line} {texts[0]!r}")
    assert checked > 50
    assert not missing, "\n".join(missing)


# --- nothing is left out: what it does say ------------------------------------------------------------------

LINE = re.compile(rf"({'|'.join(VERBS)})( .*)?", re.DOTALL)
STATES = re.compile(r"[A-Z_]+ -> [A-Z_]+")
REFUSED = re.compile(r"\w+: (Login failed|Cannot open database|The transaction log) .*")
"""What a server says to an application, which repeats it."""


def _spoken(drill: Drill) -> Iterator[tuple[str, str]]:
    """(what it is, text) of all that a run and its debrief say."""
    yield from ((event.kind, event.text) for event in drill.events if event.kind not in QUOTED)
    yield from (("effect", fault.effect) for fault in drill.world.faults)
    for item in drill.score().items if drill.scenario.scored else ():
        yield from (("reason", item.why), ("advice", item.better))
    looked = review(drill)
    yield "end", looked.ended
    for mistake in looked.mistakes:
        yield from (("mistake", mistake.what), ("cause", mistake.cause), ("advice", mistake.better))
    for outage in looked.outages:
        yield from (("verdict", outage.verdict), ("verdict", outage.told))
    for failover in looked.failovers:
        yield from (("comparison", failover.unlike), *(("phase", phase.name) for phase in failover.phases))
    for lane in looked.lanes.values():
        for guard in lane.preconditions:
            yield from (("precondition", guard.name), ("seen in", guard.seen_in))
    yield from (("mark", m.text) for m in looked.happened if m.kind not in ("command", "refusal", "hint"))


def _plain(text: str) -> list[str]:
    """What stays English inside of translated sentences, two words and more."""
    language.use(language.PSEUDO)
    shown = said(text)
    language.use(language.GERMAN)
    return re.findall(r"[a-z]{2,}(?: [a-z]{2,})+", shown) if ours(text) else []


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (value, f"{value}.")
    elif isinstance(value, (dict, list, tuple)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


@pytest.mark.parametrize("place", range(0, 56, 8))
def test_every_sentence_of_a_run_is_in_the_tables(place: int) -> None:
    """The reference, and somebody who does anything at any time."""
    file = scenario_files.all_files()[0][place]
    scenario = file.load()
    plays = [agents.at_random(place), *([agents.no_op_and_undo, played] if scenario.solution else [])]
    missing = set()
    for play in plays:
        drill = play(scenario, scenario.seed)
        written = {*_strings(drill.scenario.model_dump()), "nothing"}  # "note nothing" is what a player types
        for what, text in set(_spoken(drill)):
            missing |= {
                f"{what}: {plain!r} in {text}" for plain in _plain(text) if plain not in " ".join(written)
            }
            if not (ours(text) or text in written or STATES.fullmatch(text) or REFUSED.fullmatch(text)):
                missing |= set() if LINE.fullmatch(text) else {f"{what}: {text}"}
    assert not missing, "\n".join(sorted(missing))


def test_every_finding_about_a_file_is_in_the_tables() -> None:
    names = re.compile(r"[\w-]+\??|> \d+|\(, is, on, serves|\)")
    missing, found = set(), 0
    for mark in (m for test in vars(test_broken_files).values() for m in getattr(test, "pytestmark", ())):
        if mark.name != "parametrize" or not str(mark.args[0]).count("text"):
            continue
        for text in {row[0] for row in mark.args[1]}:
            for problem in test_broken_files.checked(text):
                found += 1
                missing |= {
                    t for t in (problem.text, problem.expected) if not (ours(t) or names.fullmatch(t))
                }
    assert found > 30
    assert not missing - {""}, "\n".join(sorted(missing))


def test_every_finding_of_the_planner_is_in_the_tables() -> None:
    plans = [
        Plan(
            workload=workload, safety=safety, rtt_ms=rtt_ms, bandwidth_mbps=mbps, loss=loss, log_volume_gb=gb
        )
        for workload in (WORKLOAD1, WORKLOAD2)
        for safety in (Mode.FULL, Mode.OFF, Mode.NONE)
        for rtt_ms, mbps, loss, gb in (
            (0.2, 1000.0, 0.0, 40.0),
            (100.0, 1000.0, 0.02, 1.0),
            (2.0, 1.0, 0.0, 1e6),
        )
    ]
    plans += [replace(plan, version=2008, compression_ratio=0.3) for plan in plans[1::4]]
    limits = (Goals(), Goals(rpo_kb=0.0, response_limit_s=0.1), Goals(rpo_s=5.0, response_limit_s=0.3))
    texts = {each.text for each in STATEMENTS}
    for number, plan in enumerate(plans):
        for finding in advice(plan, limits[number % len(limits)]):
            texts |= {finding.topic, finding.text}
    missing = [text for text in texts if not ours(text) or _plain(text)]
    assert not missing, "\n".join(missing)
