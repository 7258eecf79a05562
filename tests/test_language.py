"""Tests of the limits of the language standard for names, docstrings and documents (CONTRIBUTING.md,
language).
"""

from __future__ import annotations

import ast
import collections
import gc
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from babel.messages.pofile import read_po

from tests.sources import parse_source

ROOT: Final = Path(__file__).parents[1]
FUNCTION_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
    about above across added after again against ahead alone already also anew apart around as asked at
    away back bare before begun behind below beside besides between beyond both bound by came can
    carried chosen come comes cut deaf done drawn due each earlier early either else elsewhere ended
    enough ever every fair far few first fit fits for found free fresh from full further given go goes
    going gone good got half harder has heard held her here his how if in inside is it its itself judged
    kept known last late later least left less lasting like likely lost made many marked may maybe meant
    met might mine more most much near needed never new next no nobody none nothing now of off old on
    once one only open opened or other others otherwise out over own past place placed plain played put
    rest right said same see seen sent set several shown side since so some soon still stopped such
    taken than that the their then there thing things those through to together told too took turned
    under until up upto us use usual vain was way ways well went what when where whether which while who
    whole whose why with within without word words work worth would written wrong yet
    """,
    )
)
"""Words without a meaning of their own. Every name must contain another word."""
ACCEPTED_VERBS: Final = frozenset({"go", "open", "put", "see", "set", "use", "cut", "work", "fit", "write"})
"""Words of FUNCTION_WORDS that are accepted as verbs."""
ACCEPTED_LOCALS: Final = frozenset(
    {"before", "first", "last", "left", "new", "old", "place", "right", "word", "words"}
)
"""Words of FUNCTION_WORDS that are accepted as local variables, because they name an order, a side, or a
text.
"""
LOCALS_SHARE_MAX: Final = 0.007
RELATIVE_CLAUSE_PATTERN: Final = re.compile(
    r"(What|Who|Whoever|Whose|Whether|How|Why|Where|When|Which|Whatever)\s"
)
NAMES_SHARE_MAX: Final = 0.0015
RELATIVE_SHARE_MAX: Final = 0.0
SENTENCES_SHARE_MAX: Final = 0.02
SENTENCE_WORDS_MAX: Final = 30
BRITISH_SPELLING_PATTERN: Final = re.compile(
    r"\b(?:behaviour|cancelled|cancelling|catalogue|centre|centred|colour|favour|grey|greyed|judgement|labelled|learnt"
    r"|licence|modelled|neighbour|practise|practised|practising|(?:recogn|initial|synchron|minim|optim)is(?:e|ed|ing))s?\b",
    re.IGNORECASE,
)
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED_NODES: Final = (ast.Module, ast.ClassDef, *FUNCTIONS)
SERVER_TEXTS: Final = re.compile(r"(?:Query|The step) was cancelled")
"""Texts of SQL Server, which keep the spelling of the product."""
README_BYTES_MAX: Final = 10_240
MENTIONED_NAME: Final = re.compile(r"(?<![\w.@#-])_?[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|(?<=`)_?[a-z]\w*_\w+(?=[`(])")
"""Name of a constant, or name in backticks, in a docstring. Both contain an underscore."""
FOREIGN_NAMES: Final = frozenset(
    {
        "ALL_HEADERS", "B_VARBYTE", "B_VARCHAR", "BPF_K", "BPF_RET", "CLNT_BCAST_EX", "CLNT_UCAST_EX",
        "CLNT_UCAST_INST", "ENCRYPT_NOT_SUP", "ENCRYPT_OFF", "ESCAPE_SQUOTE", "QWIDGETSIZE_MAX", "SUSPEND_FROM_REDO",
        "TYPE_INFO",
        "de_AT", "use_attribute_docstrings",
    }
)  # fmt: skip
"""Names from specifications and libraries that docstrings mention."""

SHARED_CLASSES: Final = {
    "SampledState": "the protocol of a view, and the class that it describes",
    "Tokenizer": "sqlglot finds the nested classes of reader and writer by this name",
}
"""Class name with two definitions -> reason."""


@cache
def parse_trees() -> dict[Path, ast.Module]:
    return {
        path: parse_source(path)
        for package in ("app", "engine")
        for path in sorted((ROOT / package).rglob("*.py"))
    }


@cache
def group_nodes() -> dict[type[ast.AST], list[tuple[Path, ast.AST]]]:
    """Return the nodes of all files by their class, because each test needs few classes of a million nodes."""
    groups = collections.defaultdict(list)
    for path, tree in parse_trees().items():
        for node in ast.walk(tree):
            groups[type(node)].append((path, node))
    gc.freeze()
    return groups


def list_nodes(*kinds: type[ast.AST]) -> list[tuple[Path, Any]]:
    return [entry for kind in kinds for entry in group_nodes()[kind]]


def is_empty_name(name: str) -> bool:
    parts = [
        part.lower() for part in re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).strip("_").split("_") if part
    ]
    return (
        bool(parts)
        and not (len(parts) == 1 and parts[0] in ACCEPTED_VERBS)
        and FUNCTION_WORDS.issuperset(parts)
    )


def assert_share(offenders: list[str], total: int, max_share: float) -> None:
    assert len(offenders) <= max_share * total, f"{len(offenders)} of {total}: {offenders[:20]}"


def test_function_names_contain_a_verb_or_a_noun() -> None:
    names = [node.name for _, node in list_nodes(*FUNCTIONS) if not node.name.startswith("__")]
    assert_share([name for name in names if is_empty_name(name)], len(names), NAMES_SHARE_MAX)


def test_parameters_are_nouns() -> None:
    names = [
        argument.arg
        for _, node in list_nodes(*FUNCTIONS)
        for argument in (*node.args.args, *node.args.kwonlyargs)
    ]
    assert_share([name for name in names if is_empty_name(name)], len(names), NAMES_SHARE_MAX)


def test_locals_are_nouns() -> None:
    names = [
        name
        for _, node in list_nodes(*FUNCTIONS)
        for name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    ]
    assert_share(
        [name for name in names if is_empty_name(name) and name not in ACCEPTED_LOCALS],
        len(names),
        LOCALS_SHARE_MAX,
    )


def test_aliases_of_imports_have_content() -> None:
    aliases = [
        alias.asname
        for _, node in list_nodes(ast.Import, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    ]
    assert [alias for alias in aliases if is_empty_name(alias)] == []


def test_classes_and_modules_are_nouns() -> None:
    classes = [node.name for _, node in list_nodes(ast.ClassDef)]
    modules = [path.stem for path in parse_trees() if path.stem != "__init__" and not path.stem[0].isdigit()]
    assert [name for name in (*classes, *modules) if is_empty_name(name)] == []


def test_class_names_are_unique() -> None:
    count = collections.Counter(node.name for _, node in list_nodes(ast.ClassDef))
    assert {name for name, times in count.items() if times > 1} <= SHARED_CLASSES.keys()


def test_exceptions_end_in_error() -> None:
    wrong_names = [
        node.name
        for _, node in list_nodes(ast.ClassDef)
        if not node.name.endswith("Error")
        and any(ast.unparse(base).endswith(("Exception", "Error")) for base in node.bases)
    ]
    assert wrong_names == []


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    texts = [
        (path, " ".join(node.value.value.split()))
        for path, node in list_nodes(ast.Expr)
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    wrong_texts = [
        f"{path.relative_to(ROOT)}: {text[:60]}"
        for path, text in texts
        if RELATIVE_CLAUSE_PATTERN.match(text) and not text.split(". ")[0].endswith("?")
    ]
    assert_share(wrong_texts, len(texts), RELATIVE_SHARE_MAX)


def split_sentences(path: Path) -> Iterator[str]:
    """Yield the sentences of a Markdown file, without code, tables, headings and link targets."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    text = "\n".join(line for line in text.splitlines() if not re.match(r"\s{4,}|\s*[|#>]|\s*!\[", line))
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", text):
        yield from filter(None, re.split(r"(?<=[.!?])\s+(?=[A-Z\"'`*(\[])", " ".join(block.split())))


def test_sentences_of_documents_are_short() -> None:
    documents = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
    all_sentences = [(path.name, sentence) for path in documents for sentence in split_sentences(path)]
    long = [f"{name}: {text[:60]}" for name, text in all_sentences if len(text.split()) > SENTENCE_WORDS_MAX]
    assert_share(long, len(all_sentences), SENTENCES_SHARE_MAX)


def test_texts_have_american_spelling() -> None:
    with (ROOT / "assets" / "languages" / "de.po").open("rb") as file:
        texts = [
            str(part) for entry in read_po(file) for part in (entry.id if entry.pluralizable else (entry.id,))
        ]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "assets" / "help").glob("*.md")]
    texts += [path.read_text("utf-8") for path in pages]
    texts += [doc for _, node in list_nodes(*DOCUMENTED_NODES) if (doc := ast.get_docstring(node))]
    british_words = [
        match[0] for text in texts for match in BRITISH_SPELLING_PATTERN.finditer(SERVER_TEXTS.sub("", text))
    ]
    assert british_words == []


def test_names_in_docstrings_and_the_glossary_exist() -> None:
    """A name that was changed must also change in the texts that mention it."""
    docs = {
        id(node.value): (path, node.value.value)
        for path, node in list_nodes(ast.Expr)
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    mentions = {
        (path.name, match[0]) for path, doc in docs.values() for match in MENTIONED_NAME.finditer(doc)
    }
    fields = [
        (kind, field)
        for kind in group_nodes()
        for field in ("id", "attr", "arg", "name", "asname")
        if field in kind._fields
    ]
    names = {getattr(node, field) for kind, field in fields for _, node in list_nodes(kind)}
    texts = [
        node.value
        for _, node in list_nodes(ast.Constant)
        if isinstance(node.value, str) and id(node) not in docs
    ]
    for pattern in ("*.tsv", "*.txt"):
        texts += [
            path.read_text("utf-8") for part in ("app", "engine") for path in (ROOT / part).rglob(pattern)
        ]
    texts.append((ROOT / "docs" / "sources.md").read_text("utf-8"))
    known_text = "\n".join(texts).lower()
    modules = {path.stem for path in parse_trees()}
    missing = {
        f"{file}: {name}"
        for file, name in mentions
        if name not in names | FOREIGN_NAMES | modules and name.lower() not in known_text
    }
    assert missing == set()
    glossary_names = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "glossary.md").read_text("utf-8")))
    assert glossary_names - names == set()


def test_the_readme_is_short() -> None:
    assert (ROOT / "README.md").stat().st_size <= README_BYTES_MAX
