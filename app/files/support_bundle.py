"""Support bundle: a ZIP file for analyzing a problem, without data that identify the sender. No Qt."""

import ast
import io
import json
import platform
import re
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from app.doctor import CheckResult
from app.files import atomic_write
from app.files.accepted_files import ACCEPTED_FILES_SETTING
from app.storage import Profile, StorageError
from app.words.language import tr
from engine.drill.judging.report import get_program_version
from engine.inputs import InputError
from engine.tsql.language.reserved_words import (
    COMMAND_PAIRS,
    COMMAND_WORDS,
    INNER_WORDS_BY_STATEMENT,
    RESERVED_WORDS,
    STATEMENT_WORDS,
)
from engine.verbs import VERBS
from engine.verbs.input_lines import parse_input_line
from engine.verbs.verb import VerbParameter

HIDDEN_MARK: Final = "…"
MESSAGE_MODULES: Final = ("doctor.py", "qt_probe.py", "storage", "main_window/diagnostics.py")
"""Modules and packages in app/ that contain the texts of `mirrordrill doctor`'s findings."""

_NUMBER_PATTERN: Final = re.compile(r"\d{1,12}(?:[.,]\d{1,6}){0,2}", re.ASCII)
"""Pattern of a number or version. Four groups of digits are excluded, because they could be an IP address."""
_NAME_KEYS: Final = ("name", "id", "workload")
"""Fields of a drill whose values are names that users type."""
_ADDITIONAL_ALLOWED_WORDS: Final = """
GO N INT INTEGER BIGINT SMALLINT TINYINT BIT FLOAT REAL DECIMAL NUMERIC MONEY CHAR VARCHAR NCHAR NVARCHAR TEXT NTEXT
SYSNAME DATETIME SMALLDATETIME DATETIME2 DATE TIME BINARY VARBINARY UNIQUEIDENTIFIER XML COUNT SUM AVG MIN MAX CAST
CONVERT COALESCE NULLIF ISNULL ROW_NUMBER RANK APPLY OUTPUT INSERTED DELETED TRY CATCH LOGIN SYS MASTER MSDB MODEL
TEMPDB
"""
_SQLITE_MESSAGES: Final = """
in database main Tree page btreeInitPage Freelist row missing from index never used returns error code wrong entries
malformed disk image is ok for NULL value non-unique entry out of order
"""
_LIBRARY_PATTERN: Final = re.compile(
    r"lib(?:EGL|GL|X11|xcb|xkbcommon|fontconfig|freetype|dbus|glib|icu\w{0,4})[a-z0-9-]{0,12}\.so[.\d]{0,12}"
)
_PLATFORMS: Final = ("xcb", "wayland", "offscreen", "minimal", "windows", "cocoa", "eglfs")


class NameMasks:
    """Masks that replace names in one bundle. Equal names have equal masks, so that scripts stay readable."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mask_name(self, name: str) -> str:
        """Return *name* if a shipped drill uses it. Otherwise, return its mask."""
        if name.casefold() in list_shipped_names():
            return name
        return f"name_{self._numbers.setdefault(name.casefold(), len(self._numbers) + 1)}"


def redact_finding(text: str) -> str:
    """Redact a finding of `mirrordrill doctor`: keep only words of the program's messages, and numbers."""
    words = [word if _is_allowed(word) else HIDDEN_MARK for word in text.split()]
    return " ".join(
        word
        for word, before in zip(words, ["", *words], strict=False)
        if (word, before) != (HIDDEN_MARK,) * 2
    )


def redact_input(line: str, name_masks: NameMasks) -> str:
    """Redact the journal line *line*: keep its time, its verb and known arguments."""
    time, _, rest_of_line = line.partition(" ")
    time = redact_number(time)
    try:
        parsed_input = parse_input_line(rest_of_line)
    except InputError:
        return f"{time} {HIDDEN_MARK}"
    arguments = zip(VERBS[parsed_input.verb].parameters, parsed_input.args, strict=False)
    if parsed_input.verb == "sql":
        window, text = parsed_input.args
        shown_parts: tuple[str, ...] = (_redact_window_name(window, name_masks), redact_sql(text, name_masks))
    else:
        shown_parts = tuple(_redact_argument(parameter, word, name_masks) for parameter, word in arguments)
    return f"{time} {replace(parsed_input, args=shown_parts).line_without_time}"


def redact_number(text: str) -> str:
    """Return *text* if it is a number or a version. Otherwise, return HIDDEN_MARK."""
    return text if _NUMBER_PATTERN.fullmatch(text) else HIDDEN_MARK


def redact_sql(text: str, name_masks: NameMasks) -> str:
    """Redact T-SQL. Keep keywords, product names and numbers; remove strings, comments, and arguments of sqlcmd."""
    return "".join(_mask_token(token_match, name_masks) for token_match in _SQL_TOKEN_PATTERN.finditer(text))


# --- private helpers ----------------------------------------------------------------------------------------


def _redact_window_name(token: str, name_masks: NameMasks) -> str:
    server, mark, suffix = token.partition("#")
    return name_masks.mask_name(server) + (mark and mark + redact_number(suffix))


def _redact_argument(parameter: VerbParameter, token: str, name_masks: NameMasks) -> str:
    if parameter.kind == "window":
        return _redact_window_name(token, name_masks)
    if parameter.kind == "rest":
        return token if token.casefold() in list_shipped_names() else HIDDEN_MARK
    if parameter.choices:
        return token if token in parameter.choices else HIDDEN_MARK
    if parameter.kind == "number":
        return redact_number(token)
    return name_masks.mask_name(token)


_SQL_TOKEN_PATTERN: Final = re.compile(
    r"""
    (?P<remark>--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?)
  | (?P<text>[Nn]?'[^']*+(?:''[^']*+)*+'?)
  | (?P<bracketed>\[[^\]]*+(?:\]\][^\]]*+)*+\]?|"[^"]*+(?:""[^"]*+)*+"?)
  | (?P<sqlcmd>^[ \t]*+(?::\w*+|!!)[^\n]*+)
  | (?P<figure>\d[\w.]*+)
  | (?P<word>[@#$]*+[^\W\d][\w@#$]*+)
  | (?P<sign>[^\S\n]++|[-\n+*/%=<>!&|^~(),.;:?{}@#$])
  | (?P<other>.)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def _mask_token(token_match: re.Match[str], name_masks: NameMasks) -> str:
    text = token_match[0]
    match token_match.lastgroup:
        case "remark":
            return f"{text[:2]}{HIDDEN_MARK}" + ("*/" if text[0] == "/" else "")
        case "text":
            return f"'{HIDDEN_MARK}'"
        case "bracketed":
            inner = text[1:-1]
            return (
                text[0]
                + (inner if inner.upper() in _list_catalog_names() else name_masks.mask_name(inner))
                + _CLOSING_QUOTES[text[0]]
            )
        case "sqlcmd":
            directive = text.strip().partition(" ")[0].lower()
            return (directive if directive in _SQLCMD_DIRECTIVES else "!!") + f" {HIDDEN_MARK}"
        case "figure":
            return redact_number(text)
        case "word":
            bare_name = text.lstrip("@#$")
            is_kept = bare_name.upper() in _list_sql_words() or bare_name.casefold() in list_shipped_names()
            return text if is_kept else text[: len(text) - len(bare_name)] + name_masks.mask_name(bare_name)
        case "sign":
            return text
        case _:
            return HIDDEN_MARK


_CLOSING_QUOTES: Final = {"[": "]", '"': '"'}
_SQLCMD_DIRECTIVES: Final = frozenset(
    {":connect", ":setvar", ":on", ":out", ":error", ":r", ":exit", ":quit", ":xml", ":reset"}
)


@cache
def _list_sql_words() -> frozenset[str]:
    from engine.tsql.batches.environment import (  # late import, because it loads most of T-SQL
        CONTEXT_FUNCTIONS,
        GLOBAL_VARIABLES,
    )
    from engine.tsql.procedures import PROCEDURES_BY_NAME
    from engine.tsql.scalars.functions import FUNCTIONS

    grammar = resources.files("engine.tsql.language").joinpath("commands.lark").read_text(encoding="utf-8")
    pairs = {word for word_pair in COMMAND_PAIRS for word in word_pair}
    inner = {word for words in INNER_WORDS_BY_STATEMENT.values() for word in words}
    called = {
        *FUNCTIONS,
        *CONTEXT_FUNCTIONS,
        *PROCEDURES_BY_NAME,
        *(name.lstrip("@") for name in GLOBAL_VARIABLES),
    }
    quoted = set(re.findall(r'"([A-Z_]+)"i', grammar)) | set(re.findall(r"\b[A-Z_]{2,}\b", grammar))
    words = (
        RESERVED_WORDS
        | STATEMENT_WORDS
        | COMMAND_WORDS
        | pairs
        | inner
        | quoted
        | set(_ADDITIONAL_ALLOWED_WORDS.split())
    )
    return frozenset(word.upper() for word in words | called) | _list_catalog_names()


@cache
def _list_catalog_names() -> frozenset[str]:
    """Return the names of catalog views, their schemas and their columns."""
    from engine.tsql.catalog import CATALOG_VIEWS

    parts = {part for name in CATALOG_VIEWS for part in name.split(".")}
    columns = {column.name for view in CATALOG_VIEWS.values() for column in view.list_version_columns(9_999)}
    return frozenset(name.upper() for name in parts | columns)


@cache
def list_shipped_names() -> frozenset[str]:
    """Return the names of servers, databases, applications, jobs and questions in shipped drills, in lowercase."""
    files = (file for file in resources.files("scenarios").iterdir() if file.name.endswith(".toml"))
    return frozenset(
        name.casefold() for file in files for name in _list_names(tomllib.loads(file.read_text("utf-8")))
    )


def _list_names(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for inner in value:
            yield from _list_names(inner)
    elif isinstance(value, dict):
        yield from (value[key] for key in _NAME_KEYS if isinstance(value.get(key), str))
        for inner in value.values():
            yield from _list_names(inner)


def _is_allowed(token: str) -> bool:
    bare_token = token.strip(_PUNCTUATION_MARKS)
    return (
        not bare_token
        or bare_token in _list_message_words()
        or bool(_NUMBER_PATTERN.fullmatch(bare_token) or _LIBRARY_PATTERN.fullmatch(bare_token))
    )


_PUNCTUATION_MARKS: Final = ".,;:!?()'\"“”„*#…-"


@cache
def _list_message_words() -> frozenset[str]:
    """Return the words that occur in messages of findings, also in the interface language."""
    lines = [text for speaker in MESSAGE_MODULES for text in _read_string_literals(speaker)]
    texts = [*lines, *map(tr, lines), _SQLITE_MESSAGES]
    known_parts = {
        word.strip(_PUNCTUATION_MARKS) for text in texts for word in re.sub(r"\{[^{}]*\}", " ", text).split()
    }
    return frozenset(known_parts) | frozenset(_PLATFORMS)


def _read_string_literals(resource_path: str) -> Iterator[str]:
    path = resources.files("app").joinpath(resource_path)
    files = [path] if path.is_file() else [file for file in path.iterdir() if file.name.endswith(".py")]
    for file in files:
        nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield node.value


REPORTED_PACKAGES: Final = ("PySide6-Essentials", "pyqtgraph", "numpy", "SQLAlchemy", "lark", "sqlglot",
                   "pydantic")  # fmt: skip
KNOWN_SYSTEMS: Final = frozenset({"Linux", "Darwin", "Windows", "x86_64", "AMD64", "aarch64", "arm64"})
REPORTED_SETTINGS: Final = frozenset({ACCEPTED_FILES_SETTING.name})
JOURNAL_LINES_MAX: Final = 20_000
"""Maximum number of journal lines in the support bundle. Assumed."""
BUNDLE_MEMBER_DATE: Final = (2000, 1, 1, 0, 0, 0)
"""Date of every file in the bundle, so that the time of play stays private."""


class SupportBundleError(Exception):
    """Error if the bundle cannot be written. The text is one sentence."""


def write_support_bundle(file: Path, findings: Iterable[CheckResult], profile: Profile | None) -> list[str]:
    """Write the bundle to *file*. Return the names of the files inside, which the sender sees.

    *profile*: None if the profile is unreadable; *findings* then contain the reason. Raises
    SupportBundleError.
    """
    members = {
        "versions.json": json.dumps(read_versions(), indent=1),
        "findings.txt": "\n".join(
            f"{'ok  ' if f.is_ok else 'FAIL'} {redact_finding(f'{f.name}: {f.text}')}" for f in findings
        ),
        **(_dump_profile(profile) if profile is not None else {}),
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in members.items():
            bundle.writestr(zipfile.ZipInfo(name, BUNDLE_MEMBER_DATE), text + "\n", zipfile.ZIP_DEFLATED)
    try:
        atomic_write.write_atomically(file, target.getvalue())
    except OSError as error:
        raise SupportBundleError(f"{file} cannot be written: {error.strerror}") from error
    return list(members)


def read_versions() -> dict[str, str]:
    """Return the versions of the program, its platform and its libraries. The computer's name is omitted."""
    version_texts = {
        "mirrordrill": get_program_version(),
        "python": platform.python_version(),
        "system": " ".join(
            (
                _mask_system_name(platform.system()),
                _shorten_version(platform.release()),
                _mask_system_name(platform.machine()),
            )
        ),
    }
    for package in REPORTED_PACKAGES:
        try:
            version_texts[package] = _shorten_version(metadata.version(package))
        except metadata.PackageNotFoundError:
            version_texts[package] = "not installed"
    return version_texts


def _shorten_version(text: str) -> str:
    """Return the version without a suffix of a distribution or company."""
    version_match = re.match(r"\d{1,6}(?:\.\d{1,6}){0,3}", text)
    return version_match[0] if version_match is not None else HIDDEN_MARK


def _mask_system_name(name: str) -> str:
    return name if name in KNOWN_SYSTEMS else HIDDEN_MARK


def _dump_profile(profile: Profile) -> dict[str, str]:
    """Return file name -> text, for the redacted settings and the redacted journal of the last run."""
    try:
        settings = profile.settings.read_all()
        names = NameMasks()
        known_values = {
            key if key in REPORTED_SETTINGS else names.mask_name(key): _redact_value(value)
            for key, value in settings.items()
        }
        members = {"settings.json": json.dumps(known_values, indent=1)}
        last_run = profile.find_last_run()
        if last_run is not None:
            members["journal.txt"] = "\n".join(
                redact_input(line.text, names) for line in profile.read_journal(last_run)[:JOURNAL_LINES_MAX]
            )
    except StorageError as problem:
        return {"profile.txt": redact_finding(str(problem))}
    return members


def _redact_value(value: object) -> object:
    """Return numbers and booleans unchanged. Replace a text, which may be a name or a path, by its length."""
    return value if isinstance(value, bool | int | float) else f"<text of {len(str(value))} characters>"
