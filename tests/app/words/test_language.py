"""Tests of interface texts: all are marked and translated, and the pseudo-locale shows them."""

from __future__ import annotations

import ast
import gettext
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from app.words import language
from app.words.language import mark, tr, translate_to_pseudo, trn
from engine.verbs import VERBS
from tests.engine.worlds import M, P, build_lab
from tests.sources import parse_source

APP, ENGINE = (Path(__file__).parents[3] / name for name in ("app", "engine"))
CATALOGS = Path(__file__).parents[3] / "assets" / "languages"
MESSAGE_METHODS = [
    ("**/skills.toml", "tests.collectors:collect_skills"),
    ("**/authoring/schema/*.py", "tests.collectors:collect_schema"),
    ("**.tsv", "tests.collectors:collect_table"),
    ("**.py", "python"),
]
KEYWORDS = {"tr": None, "mark": None, "build_message": None, "trn": (1, 2)}
TAG = re.compile(r"<[^<>]*>|&\w+;")
ACCESS_KEY = re.compile(r"&(?=\w)(?!\w+;)")

Text = str | tuple[str, ...]


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    language.use_language(language.ENGLISH)


def load_catalog(name: str) -> Catalog:
    with (CATALOGS / f"{name}.po").open("rb") as file:
        return read_po(file, locale=name)


def list_forms(text: Text | list[str] | None) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text or ())


@pytest.fixture(scope="module")
def in_the_code() -> set[Text]:
    return {
        message
        for root in (APP, ENGINE)
        for _, _, message, _, _ in extract_from_dir(root, MESSAGE_METHODS, {}, KEYWORDS)
    }


@pytest.fixture(scope="module")
def german() -> Catalog:
    return load_catalog("de")


# --- choice of the language ---------------------------------------------------------------------------------


def test_english_is_the_text_in_the_code() -> None:
    assert tr("Undo a&ll") == "Undo a&ll"
    assert mark("Brief") == "Brief"
    assert trn("{n} row", "{n} rows", 1) == "{n} row"
    assert trn("{n} row", "{n} rows", 0) == "{n} rows"


def test_german_is_used_and_english_restored() -> None:
    language.use_language("de")
    assert tr("Send queue") == "Sendewarteschlange"
    assert trn("{n} row", "{n} rows", 2) == "{n} Zeilen"
    assert tr("not in any catalog") == "not in any catalog"
    assert tr("") == ""  # The empty text must not return the header of the catalog.
    language.use_language("no such language")
    assert language.get_current_language() == "en"
    assert tr("Send queue") == "Send queue"


@pytest.mark.parametrize(
    ("environment", "setting", "system", "expected"),
    [
        ("", "system", "de_AT", "de"),
        ("", "system", "de-CH", "de"),
        ("", "system", "fr_FR", "en"),
        ("", "en", "de_DE", "en"),
        ("de", "en", "en_GB", "de"),
        ("pseudo", "de", "de_DE", "pseudo"),
        ("", "pseudo", "en_GB", "en"),
        ("nonsense", "de", "en_GB", "de"),
        ("", "", "C", "en"),
    ],
)
def test_environment_precedes_setting_precedes_system(
    environment: str, setting: str, system: str, expected: str
) -> None:
    assert language.choose_language(environment, setting, system) == expected


# --- the pseudo-locale --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["{n:,} of {all!r} rows", "&Save <b>{file}</b> &nbsp; now", "Log"])
def test_pseudo_translation_keeps_fields_and_lengthens_text(text: str) -> None:
    pseudo_text = translate_to_pseudo(text)
    assert list_fields(pseudo_text) == list_fields(text)
    assert TAG.findall(pseudo_text) == TAG.findall(text)
    assert len(ACCESS_KEY.findall(pseudo_text)) == len(ACCESS_KEY.findall(text))
    assert len(pseudo_text) >= 1.4 * len(text)
    words = TAG.sub("", re.sub(r"\{[^}]*\}", "", pseudo_text))
    assert not re.search("[A-Za-z]", words)


def test_pseudo_translation_is_applied_once() -> None:
    assert translate_to_pseudo(translate_to_pseudo("Start")) == translate_to_pseudo("Start")


# --- catalogs ---------------------------------------------------------------------------------------------


def list_fields(text: str) -> list[tuple[str | None, ...]]:
    return sorted(field[1:] for field in string.Formatter().parse(text) if field[1] is not None)


def test_every_marked_text_is_translated(in_the_code: set[Text], german: Catalog) -> None:
    """If this fails: run `make words`, and translate the added texts. `make words` also removes unused texts."""
    known_ids = {message.id for message in german if message.id}
    assert not (missing := in_the_code - known_ids), sorted(map(str, missing))
    assert not [m.id for m in german if m.id and (m.fuzzy or not all(list_forms(m.string)))]


def test_translations_have_the_same_fields_tags_and_access_keys(german: Catalog) -> None:
    for message in german:
        for form in list_forms(message.string) if message.id else ():
            for text in list_forms(message.id)[-1:]:
                assert set(list_fields(form)) == set(list_fields(text)), text
                assert len(list_fields(form)) <= len(list_fields(text)) + 1, f"said more than once: {text}"
                assert sorted(TAG.findall(form)) == sorted(TAG.findall(text)), text
                assert len(ACCESS_KEY.findall(form)) == len(ACCESS_KEY.findall(text)), text
                assert len(form) - len(form.lstrip()) == len(text) - len(text.lstrip()), text
                assert text.endswith("…") == form.endswith("…"), text


def test_the_compiled_catalog_matches_the_source(german: Catalog) -> None:
    with (CATALOGS / "de.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for message in german:
        if isinstance(message.id, tuple):
            plural, singular = message.id
            assert tuple(compiled.ngettext(plural, singular, n) for n in (1, 2)) == message.string
        elif isinstance(message.id, str) and message.id:
            assert compiled.gettext(message.id) == message.string


def test_every_text_of_a_verb_is_marked(in_the_code: set[Text]) -> None:
    for verb in VERBS.values():
        texts = {verb.help, verb.label, verb.section} - {""}
        if verb.group != "remark":  # the editor does not offer remarks
            texts |= {parameter.title or parameter.name for parameter in verb.parameters}
        if verb.applies_to_link:
            texts |= {label for label, _ in verb.variants(build_lab(), (P, M)) if label}
        if verb.back_label is not None:
            texts |= {verb.back_label((P, disk)) for disk in ("log", "data")}
        assert {text for text in texts if re.sub(r"\{\w+\}", "", text)} <= in_the_code, verb.name


# --- marked texts in the code -------------------------------------------------------------------------------


def find_calls(name: str) -> Iterator[tuple[Path, ast.Call, bool]]:
    """Yield every call of *name* with its file, and whether the call runs during the import of its module."""
    for path in sorted([*APP.rglob("*.py"), *ENGINE.rglob("*.py")]):
        source = path.read_text("utf-8")
        if re.search(rf"\b{name}\(", source):  # most modules have no call and need no parsing
            yield from (
                (path, call, is_import_time)
                for call, is_import_time in _find_calls_in(parse_source(path), name, True)
            )


def _find_calls_in(node: ast.AST, name: str, evaluated_early: bool) -> Iterator[tuple[ast.Call, bool]]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                yield from _find_calls_in(default, name, evaluated_early)
        body = node.body if isinstance(node.body, list) else [node.body]
        for part in body:
            yield from _find_calls_in(part, name, False)
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
        yield node, evaluated_early
    for child in ast.iter_child_nodes(node):
        yield from _find_calls_in(child, name, evaluated_early)


def test_no_text_is_translated_at_import() -> None:
    """The program selects the language after the import, so tables contain `mark(…)`."""
    early_calls = [
        f"{path.name}:{call.lineno}"
        for name in ("tr", "trn")
        for path, call, is_import_time in find_calls(name)
        if is_import_time
    ]
    assert not early_calls


def test_no_translation_happens_inside_a_formatted_string() -> None:
    """Before Python 3.12, the extraction of texts finds no calls inside f-strings."""
    hidden = []
    for path in sorted(APP.rglob("*.py")):
        strings = (node for node in ast.walk(parse_source(path)) if isinstance(node, ast.JoinedStr))
        for node in strings:
            nodes = ast.walk(node)
            hidden += [f"{path.name}:{node.lineno}" for call in nodes if isinstance(call, ast.Call)
                       and isinstance(call.func, ast.Name) and call.func.id in KEYWORDS
                       and isinstance(call.args[0], ast.Constant)]  # fmt: skip
    assert not hidden


@pytest.mark.slow
def test_marked_texts_are_plain_literals() -> None:
    """A text that is composed before the lookup has no translation."""
    composed = [f"{path.name}:{call.lineno}" for path, call, _ in find_calls("mark")
                if not isinstance(call.args[0], ast.Constant)]  # fmt: skip
    composed += [
        f"{path.name}:{call.lineno}"
        for name in ("tr", "trn", "build_message")
        for path, call, _ in find_calls(name)
        if isinstance(call.args[0], (ast.JoinedStr, ast.BinOp))
    ]
    assert not composed


def test_german_has_one_term_for_the_debrief(german: Catalog) -> None:
    debrief_messages = [
        message
        for message in german
        if message.id and any("debrief" in text.lower() for text in list_forms(message.id))
    ]
    assert len(debrief_messages) > 5
    assert [
        m.string for m in debrief_messages if "Nachbesprechung" not in "".join(list_forms(m.string))
    ] == []
    assert [m.string for m in german if "Auswertung" in "".join(list_forms(m.string))] == []
