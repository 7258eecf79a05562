"""Completion of input lines and conditions in a scenario. Independent of Qt."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from app.views.editor.form_schema import CONDITION_KIND, INPUT_LINE_KIND, NAME_KINDS_BY_KEY
from engine.drill.authoring import condition_context, quantities
from engine.drill.authoring.conditions import OPERATORS
from engine.drill.authoring.schema import build_schema
from engine.drill.authoring.schema.tasks import JsonSchema
from engine.drill.judging.skills import load_skills
from engine.flow.sites import SITES, WORKLOADS
from engine.verbs import VERBS

ListNames = Callable[[str], list[str]]
"""Function that returns the scenario's names of a kind, such as server, database or client."""

_TIME_PATTERN: Final = re.compile(r"\s*+\+?[\d.]++s?\s++")
"""Pattern of the time before an action of the solution."""
_TOKEN_PATTERN: Final = re.compile(r"""\[[^\]]*\]?|"[^"]*"?|'[^']*'?|[<>=!]+|[()]|[^\s()<>=!"'\[\]]+""")
UNFINISHED_WORD_PATTERN: Final = re.compile(r"""(?<![^\s()"'])[^\s()"']*+\Z""")
"""Pattern of the unfinished word at the end of a text."""
_PLAIN_NAME_PATTERN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_$-]*")
_CONJUNCTIONS: Final = ("and", "or")
_TOKENS_BEFORE_TERM: Final = ("", "(", "not", *_CONJUNCTIONS)
"""Tokens that can precede a term of a condition."""
_LIKELY_STATE: Final = "SYNCHRONIZED"
"""Most frequent state in conditions."""
_EVENTS: Final = ("ran", "tried", "error")


def complete_input(prefix: str, list_names_of_kind: ListNames) -> list[str]:
    """Return candidates for the last word of the input line *prefix*, which may begin with a time."""
    time = _TIME_PATTERN.match(prefix)
    *complete_words, _ = prefix[time.end() if time else 0 :].split(" ")
    if not complete_words:
        return sorted(VERBS)
    verb = VERBS.get(complete_words[0].lower())
    if verb is None:
        return []
    word_index = len(complete_words) - 1
    if word_index >= len(verb.parameters):
        used = {word.partition("=")[0] for word in complete_words}
        return [f"{name}=" for name in verb.options if name not in used]
    parameter = verb.parameters[word_index]
    choices = parameter.choices or list_names_of_kind(parameter.kind)
    return [name for name in choices if name not in complete_words]


def complete_condition(prefix: str, list_names_of_kind: ListNames) -> list[str]:
    """Return candidates for the unfinished word of the condition *prefix*, the most likely first."""
    words = _TOKEN_PATTERN.findall(UNFINISHED_WORD_PATTERN.sub("", prefix, count=1))
    if words and words[-1][0] in "\"'" and (len(words[-1]) < 2 or words[-1][-1] != words[-1][0]):
        return []  # any input is allowed inside a T-SQL text
    last, fact = (words[-1].lower() if words else ""), _find_current_term(words)
    if last == "is" or [word.lower() for word in fact[-2:]] == ["is", "not"]:
        states = sorted(_list_states(fact, list_names_of_kind), key=lambda word: word != _LIKELY_STATE)
        return [*states, *(["not"] if last == "is" else [])]
    if last in _TOKENS_BEFORE_TERM and not (last == "(" and fact):
        return _list_terms(list_names_of_kind, negated=last == "not")
    if last in ("on", "of"):
        return _quote_names(list_names_of_kind("server" if last == "on" else "database"))
    if last == "(":
        subject_kind = (
            quantities.QUANTITIES[fact[-2].lower()].object_kind
            if fact[-2].lower() in quantities.QUANTITIES
            else None
        )
        return _quote_names(list_names_of_kind(subject_kind)) if subject_kind else [")"]
    if last in OPERATORS:
        return _list_quantities(list_names_of_kind)
    return _complete_after_term(fact, last, list_names_of_kind)


def _complete_after_term(
    term_tokens: Sequence[str], last_token: str, list_names_of_kind: ListNames
) -> list[str]:
    """Return the words that can follow a name, state, text, number or closing parenthesis."""
    low = [word.lower() for word in term_tokens]
    compared = any(word in OPERATORS for word in low)
    if "is" in low or (compared and low[-1] not in OPERATORS) or not term_tokens:
        return list(_CONJUNCTIONS)
    if last_token == ")" or (_is_number(last_token) and low[0] != "error"):
        return list(OPERATORS)
    if low[0] in _EVENTS:
        return [
            *(["on"] if "on" not in low and len(term_tokens) > 1 else []),
            *(_CONJUNCTIONS if len(term_tokens) > 1 else ()),
        ]
    if "serves" in low:
        return [*(["on"] if "on" not in low else []), *_CONJUNCTIONS]
    if low[0] in ("witness", "safety"):
        return ["of"] if len(term_tokens) == 1 else ["is"]
    if "on" in low:
        return ["is"]
    kinds = [
        kind
        for kind in ("database", "client", "server")
        if _is_named(term_tokens[0], list_names_of_kind(kind))
    ]
    return {"database": ["is", "on", "serves"], "client": ["is", "on"]}.get((kinds or [""])[0], ["is"])


def _find_current_term(tokens: Sequence[str]) -> list[str]:
    """Return the tokens of the current term of a condition; none at the start of a term."""
    start = len(tokens)
    while start and tokens[start - 1].lower() not in _CONJUNCTIONS:
        start -= 1
    fact = list(tokens[start:])
    while fact and fact[0].lower() in ("not", "("):
        del fact[0]
    while fact and fact[-1] == ")" and fact.count(")") > fact.count("("):
        del fact[-1]  # its opening parenthesis is not part of the term
    return fact


def _list_terms(list_names_of_kind: ListNames, negated: bool) -> list[str]:
    subjects = _quote_names(
        [name for kind in ("database", "server", "client") for name in list_names_of_kind(kind)]
    )
    return [
        *subjects,
        "witness",
        "safety",
        *_list_quantities(list_names_of_kind),
        *_EVENTS,
        *([] if negated else ["not"]),
    ]


def _list_quantities(list_names_of_kind: ListNames) -> list[str]:
    """Return the quantities that can be measured in the scenario, each with an opening parenthesis."""
    return [
        f"{name}("
        for name, quantity in quantities.QUANTITIES.items()
        if quantity.object_kind is None or list_names_of_kind(quantity.object_kind)
    ]


def _list_states(term_tokens: Sequence[str], list_names_of_kind: ListNames) -> list[str]:
    """Return the states that the object in *term_tokens* can have."""
    low = [word.lower() for word in term_tokens]
    if low[0] == "witness":
        return list(condition_context.WITNESS_STATE_WORDS)
    if low[0] == "safety":
        return list(condition_context.SAFETY_LEVEL_WORDS)
    if _is_named(term_tokens[0], list_names_of_kind("client")):
        return list(condition_context.CLIENT_STATE_WORDS)
    if "on" in low:
        return list(condition_context.COPY_STATE_WORDS)
    if _is_named(term_tokens[0], list_names_of_kind("server")):
        return list(condition_context.SERVER_STATE_TESTS)
    return list(condition_context.DATABASE_STATE_WORDS)


def _is_named(token: str, names: Sequence[str]) -> bool:
    return token.strip("[]").lower() in {name.lower() for name in names}


def _quote_names(names: Sequence[str]) -> list[str]:
    """Enclose names in square brackets if conditions require it, for example names with spaces."""
    return [name if _PLAIN_NAME_PATTERN.fullmatch(name) else f"[{name}]" for name in names]


def _is_number(token: str) -> bool:
    return token.lstrip("-").replace(".", "", 1).isdigit()


TABLES_BY_NAME_KIND: Final = {
    "server": ("server",),
    "window": ("server",),
    "database": ("database",),
    "client": ("client",),
    "goal": ("goal",),
    "name": ("server", "client"),
}
"""Kind of name, or kind of verb parameter -> tables that contain these names."""

COMPLETIONS_BY_KIND: Final = {INPUT_LINE_KIND: complete_input, CONDITION_KIND: complete_condition}


def list_names(data: Mapping[str, object], kind: str) -> list[str]:
    """Return the valid names of *kind* in the scenario *data*, in the order of the text."""
    if kind == "site":
        return list(SITES)
    if kind == "workload":
        return list(WORKLOADS)
    if kind == "skill":
        return [skill.key for skill in load_skills()]
    if kind == "program":
        return _list_strings(data.get("programs"))
    if kind == "role":
        return _collect_names(data, "role", "key")
    found_names = [
        name for table in TABLES_BY_NAME_KIND.get(kind, ()) for name in _collect_names(data, table)
    ]
    return list(dict.fromkeys(found_names))


def complete_field(data: Mapping[str, object], field_kind: str, prefix: str) -> list[str]:
    """Return the completions of a field after the text *prefix*.

    Input lines and conditions are completed word by word.
    """
    if field_kind in COMPLETIONS_BY_KIND:
        return COMPLETIONS_BY_KIND[field_kind](prefix, lambda kind: list_names(data, kind))
    entered_names = {word.strip() for word in prefix.split(",")[:-1]}
    return [name for name in list_names(data, field_kind) if name not in entered_names]


def list_names_in_text(text: str, kind: str) -> list[str]:
    """Return the valid names of *kind* in a scenario text. Return none while the text is invalid TOML."""
    try:
        return list_names(tomllib.loads(text), kind)
    except (ValueError, RecursionError):
        return []


def _collect_names(data: Mapping[str, object], table: str, key: str = "name") -> list[str]:
    entries = data.get(table)
    if not isinstance(entries, list):
        return []
    return _list_strings([entry.get(key) for entry in entries if isinstance(entry, Mapping)])


def _list_strings(values: object) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


_TABLE_PATTERN: Final = re.compile(r"^[ \t]*+\[\[?[ \t]*+([\w.\-]++)[ \t]*+\]\]?", re.MULTILINE)
_KEY_PATTERN: Final = re.compile(r"^\s*([\w\-]+)\s*=\s*")
_UNFINISHED_STRING_PATTERN: Final = re.compile(r"""(["'])((?:(?!\1).)*)\Z""")
"""Pattern of an unfinished string."""
_NAME_KINDS: Final = {key.rpartition(".")[2]: of for key, of in NAME_KINDS_BY_KEY.items()}
"""Key -> kind of valid names, the same as in the form."""


def find_completions(text: str, position: int) -> list[str]:
    """Return the valid words at *position*: tables after `[`, keys at the start of a line, or values."""
    before = text[:position]
    line = before.rpartition("\n")[2]
    if line.lstrip().startswith("["):
        return sorted(_list_tables())
    properties = _list_properties(_find_enclosing_table(before))
    key = _KEY_PATTERN.match(line)
    other_text = before[: len(before) - len(line)] + text[position:].partition("\n")[2]

    def list_other_names(kind: str) -> list[str]:
        return list_names_in_text(other_text, kind)

    if key is None:
        keys = set(_list_used_keys(before))
        return [name for name in properties if name not in keys] + (
            [] if line.strip() else sorted(_list_tables())
        )
    offered_kind = _NAME_KINDS.get(key[1], "")
    value = line[key.end() :]
    if offered_kind in COMPLETIONS_BY_KIND:
        string = _UNFINISHED_STRING_PATTERN.match(value)
        return COMPLETIONS_BY_KIND[offered_kind](string[2], list_other_names) if string is not None else []
    return _list_values(properties.get(key[1], {})) or list_other_names(offered_kind)


def _find_enclosing_table(prefix: str) -> list[str]:
    """Return the path of the table that is open at the end of *prefix*."""
    headers = _TABLE_PATTERN.findall(prefix)
    return headers[-1].split(".") if headers else []


def _list_used_keys(prefix: str) -> list[str]:
    """Return the keys that the last table of *prefix* already has."""
    last = max((match.end() for match in _TABLE_PATTERN.finditer(prefix)), default=0)
    return [key[1] for line in prefix[last:].splitlines() if (key := _KEY_PATTERN.match(line))]


def _list_tables() -> list[str]:
    """Return the keys of the file that are tables or arrays of tables."""
    return [
        name for name, place in _list_properties([]).items() if _get_inner_schema(place).get("properties")
    ]


def _list_properties(path: list[str]) -> dict[str, JsonSchema]:
    """Return key -> JSON Schema for the table at *path*. Return none for an unknown table."""
    schema_part: JsonSchema = _load_schema()
    for step in path:
        schema_part = _get_inner_schema(schema_part.get("properties", {}).get(step, {}))
    properties: dict[str, JsonSchema] = schema_part.get("properties", {})
    return properties


def _get_inner_schema(schema_node: JsonSchema) -> JsonSchema:
    """Return the schema inside an array, an optional value or a reference. Merge the keys of alternatives."""
    if "$ref" in schema_node:
        return _get_inner_schema(_load_schema()["$defs"][schema_node["$ref"].rpartition("/")[2]])
    if "items" in schema_node:
        return _get_inner_schema(schema_node["items"])
    options = [
        _get_inner_schema(option) for option in schema_node.get("anyOf") or schema_node.get("oneOf") or ()
    ]
    tables = [option for option in options if option.get("properties")]
    if tables:
        return {
            "properties": {
                name: inner_schema for option in tables for name, inner_schema in option["properties"].items()
            }
        }
    return schema_node


def _list_values(schema_node: JsonSchema) -> list[str]:
    """Return the values that the schema enumerates."""
    values: list[str] = []
    for option in (schema_node, *schema_node.get("anyOf", ())):
        inner = _get_inner_schema(option)
        values += [str(value) for value in inner.get("enum", ())]
        values += [str(inner["const"])] if "const" in inner else []
        values += ["true", "false"] if inner.get("type") == "boolean" else []
    return list(dict.fromkeys(values))


@cache
def _load_schema() -> JsonSchema:
    return build_schema()
