"""Loader of scenarios. It returns a checked Scenario, or reports every problem with line and column."""

import copy
import difflib
import hashlib
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, get_args

from msgspec import Struct
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from engine import arithmetic
from engine.drill.authoring import limits, variants
from engine.drill.authoring.problems import (
    FileProblem,
    KeyPath,
    ProblemCollector,
    ScenarioError,
    describe_expected_value,
    format_path,
)
from engine.drill.authoring.references import check_references
from engine.drill.authoring.schema import BLANK_LETTERS, Scenario, build_schema
from engine.drill.authoring.variants import Picks
from engine.localization import build_message
from engine.verbs.input_lines import parse_input_line, parse_script

__all__ = ["FileProblem", "Scenario", "ScenarioError", "build_schema", "load_scenario", "select_variant"]

_ERROR_POSITION_PATTERN: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")
"""Pattern of the position at the end of an error message of tomllib."""


def load_scenario(
    text: str, source_name: str, seed: int | None = None, picks: Picks | None = None
) -> Scenario:
    """Load a scenario from *text*, which comes from the file *source_name*.

    Raises ScenarioError with all problems.

    *picks* or *seed* selects the variant, if there are variants. If both are None, the seed of the file is
    used.
    """
    data = _parse_toml(text, source_name)
    finder = ProblemCollector(source_name, text)
    stem = re.split(r"[/\\]", source_name)[-1].removesuffix(".toml")
    if data.setdefault("name", stem) != stem:
        expected = build_message("the file name {name!r}, or no name", name=stem)
        finder.add_problem(
            ("name",),
            build_message("the name {name} differs from the file name", name=repr(data["name"])),
            expected,
        )
    if data.get(variants.VARIANTS_KEY):
        for path, found_text, wanted in variants.find_pool_problems(data):
            finder.add_problem(path, found_text, wanted)
        finder.raise_problems()
        drawn_values = variants.pick_values(
            data[variants.VARIANTS_KEY], _read_seed(data) if seed is None else seed
        )
        data = variants.substitute_picks(data, drawn_values if picks is None else picks)
    try:
        scenario = Scenario.model_validate(data)
    except ValidationError as errors:
        found_errors = errors.errors(include_url=False)
        for error in found_errors[: limits.PROBLEMS_MAX]:
            _report_error(finder, data, error)
        if len(found_errors) > limits.PROBLEMS_MAX:
            finder.add_problem(
                (), build_message("and {n} more problems", n=len(found_errors) - limits.PROBLEMS_MAX)
            )
        else:
            _check_valid_parts(finder, data, found_errors)
        finder.raise_problems()
        raise AssertionError("a refused file without a problem") from errors
    scenario._text = text
    total = arithmetic.add_in_order(database.count for database in scenario.databases)
    if total > limits.DATABASES_MAX:
        finder.add_problem(
            ("database",),
            build_message("the scenario has {n} databases", n=total),
            build_message("at most {n} in the whole scenario", n=limits.DATABASES_MAX),
        )
        finder.raise_problems()
    check_references(scenario, finder)
    finder.raise_problems()
    return scenario


def select_variant(scenario: Scenario, seed: int) -> Scenario:
    """Return the variant of *scenario* that *seed* selects; *scenario* itself if it has no variants.

    Raises ScenarioError if the selected combination of values is invalid. `check` tries all combinations.
    """
    if not scenario.variants:
        return scenario
    return load_scenario(scenario.text, f"{scenario.name}.toml", seed)


def _read_seed(data: dict[str, object]) -> int:
    """Return the seed in the file; a default if it is invalid. The loader reports an invalid seed."""
    seed = data.get("seed", Scenario.model_fields["seed"].default)
    return seed if isinstance(seed, int) else 0


def _parse_toml(text: str, file: str) -> dict[str, Any]:
    excess = limits.find_exceeded_limit(text)
    if excess is not None:
        position, message, expected = excess
        line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
        raise ScenarioError([FileProblem(file, line, column, "", message, expected)])
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        position_match = _ERROR_POSITION_PATTERN.search(message)
        line, column = text.count("\n") + 1, 1
        if position_match is not None and position_match[1] is not None:
            line, column = int(position_match[1]), int(position_match[2])
        problem = FileProblem(
            file,
            line,
            column,
            "",
            build_message(
                "the file is not valid TOML: {said}", said=_ERROR_POSITION_PATTERN.sub("", message)
            ),
        )
        raise ScenarioError([problem]) from None


# --- valid parts of an invalid file -------------------------------------------------------------------------

KEY_SUBSTITUTES: Final = {"title": "x", "summary": "x", "level": "beginner", "minutes": 1, "brief": "x"}
"""Substitutes for missing top-level keys that no other key depends on."""

REFERENCED_TABLES: Final = ("server", "database", "session", "client", "link")
"""Tables whose names other tables refer to. If one of them is missing completely, references cannot be
checked.
"""


class _IndexShiftingCollector(ProblemCollector):
    """ProblemCollector for a file without its invalid list entries.

    It converts the list indexes of problems to those of the complete file.
    """

    def __init__(self, collector: ProblemCollector, left_out: dict[str, list[int]]) -> None:
        super().__init__(collector.file, collector.text)
        self._left_out = left_out

    def add_problem(self, path: KeyPath, text: str, expected: str = "", offset: int | None = None) -> None:
        super().add_problem(self._map_to_source_path(path), text, expected, offset)

    def _map_to_source_path(self, path: KeyPath) -> KeyPath:
        """Return *path* with the list index in the original file, which includes the omitted entries."""
        if len(path) < 2 or not isinstance(path[1], int):
            return path
        number = path[1]
        for omitted_index in sorted(self._left_out.get(str(path[0]), ())):
            number += omitted_index <= number
        return (path[0], number, *path[2:])


def _check_valid_parts(
    collector: ProblemCollector, data: dict[str, object], errors: Iterable[ErrorDetails]
) -> None:
    """Check names, input lines and conditions in all valid parts of a file that has invalid parts.

    Thus one check reports both a wrong type and a misspelled verb. *data*: content of the file. *errors*:
    pydantic errors in *data*.
    """
    paths = [(_to_file_path(e["loc"], data, keep_last=e["type"] == "missing"), e["type"]) for e in errors]
    for remove_part in (_remove_keys, _remove_entries):
        sound_part = remove_part(data, paths)
        if sound_part is None:
            return
        sound, removed_paths = sound_part
        try:
            scenario = Scenario.model_validate(sound)
        except ValidationError:
            continue  # the scenario needs a removed key, so try the next way to remove
        shifted = _IndexShiftingCollector(collector, removed_paths)
        check_references(scenario, shifted)
        ignored = tuple(
            dict.fromkeys(part for key in removed_paths for part in DEPENDENT_TABLES.get(key, ()))
        )
        # the tables of the invalid keys already have a reported problem
        parents = {format_path(path[:-1]) for path, _ in paths}
        collector.problems += [
            problem
            for problem in shifted.problems
            if problem.where not in parents and not (ignored and problem.where.startswith(ignored))
        ]
        return


FileWithoutInvalidParts = tuple[dict[str, Any], dict[str, list[int]]]
"""(content of the file without its invalid parts, list name -> indexes of the omitted entries)."""


def _remove_keys(
    data: dict[str, object], paths: Iterable[tuple[KeyPath, str]]
) -> FileWithoutInvalidParts | None:
    """Return *data* without the keys at *paths*, so that their defaults apply.

    *paths*: (path, kind of pydantic error). The result is None if a table in REFERENCED_TABLES would be
    incomplete.
    """
    sound = copy.deepcopy(data)
    for path, kind in paths:
        if kind != "extra_forbidden" and path and path[0] in REFERENCED_TABLES:
            return None
        if len(path) == 1 and path[0] in KEY_SUBSTITUTES:
            sound[str(path[0])] = KEY_SUBSTITUTES[str(path[0])]
        elif path and kind != "missing":
            inner = _find_inner_value(sound, path[:-1])
            if isinstance(inner, dict):
                inner.pop(path[-1], None)
    return sound, {}


def _remove_entries(
    data: dict[str, object], paths: Iterable[tuple[KeyPath, str]]
) -> FileWithoutInvalidParts | None:
    """Return *data* without the list entries that contain *paths*.

    *paths*: (path, kind of pydantic error). The result is None if a table in REFERENCED_TABLES would be
    incomplete.
    """
    paths, omitted = list(paths), dict[str, list[int]]()
    sound_part = _remove_keys(
        data, [(path, kind) for path, kind in paths if len(path) < 2 or kind == "extra_forbidden"]
    )
    if sound_part is None:
        return None
    sound, _ = sound_part
    for path, kind in paths:
        if len(path) > 1 and kind != "extra_forbidden":
            if path[0] in REFERENCED_TABLES or not isinstance(path[1], int):
                return None
            omitted.setdefault(str(path[0]), []).append(path[1])
    for key, numbers in omitted.items():
        sound[key] = [part for number, part in enumerate(sound[key]) if number not in numbers]
    return sound, {key: sorted(set(numbers)) for key, numbers in omitted.items()}


DEPENDENT_TABLES: Final = {
    "goal": ("hint", "rubric"),
    "rubric": ("rubric", "question", "predict"),
    "question": ("rubric",),
    "predict": ("rubric",),
    "forbidden": ("rubric",),
}
"""Table -> tables that refer to its entries.

After an entry is omitted, problems in these tables are ignored: references to it would count as unknown.
"""


def _find_inner_value(data: Any, path: KeyPath) -> Any:
    for part in path:
        data = data[part]
    return data


# --- descriptions of pydantic's errors ----------------------------------------------------------------------


def _report_error(collector: ProblemCollector, data: object, error: ErrorDetails) -> None:
    kind, value = error["type"], error["input"]
    path = _to_file_path(error["loc"], data, keep_last=kind == "missing")
    if kind == "extra_forbidden":
        collector.add_problem(
            path,
            build_message("unknown key {key!r}", key=path[-1]),
            _suggest_key(str(path[-1]), _list_valid_keys(path[:-1], data)),
        )
    elif kind == "missing" and isinstance(error["loc"][-1], int):
        collector.add_problem(
            path[:-1], build_message("the list is too short"), describe_expected_value(error)
        )
    elif kind == "missing":
        collector.add_problem(path[:-1], build_message("the key {key!r} is missing", key=path[-1]))
    elif kind == "union_tag_not_found":
        collector.add_problem(path, build_message("the key {key!r} is missing", key="kind"))
    elif kind == "union_tag_invalid":
        collector.add_problem(
            (*path, "kind"),
            build_message("unknown word {word!r}", word=error["ctx"]["tag"]),
            describe_expected_value(error),
            0,
        )
    elif kind == "value_error":
        collector.add_problem(
            path,
            build_message("{value} is not allowed here", value=_format_abbreviated(value)),
            describe_expected_value(error),
            0,
        )
    else:
        collector.add_problem(
            path,
            build_message("{value} is not valid", value=_format_abbreviated(value)),
            describe_expected_value(error),
            0,
        )


def _to_file_path(loc: Iterable[str | int], data: Any, keep_last: bool) -> KeyPath:
    """Convert *loc*, the location of a pydantic error, to a path in the file.

    Parts that pydantic adds, such as the kind of a rule, are omitted. *keep_last*: True to keep the last part
    even if it is not in *data*, as for a missing key.
    """
    parts, path = list(loc), []
    for number, part in enumerate(parts):
        is_existing = part in data if isinstance(data, dict) else _has_index(part, data)
        if is_existing:
            data = data[part]
            path.append(part)
        elif keep_last and number == len(parts) - 1:
            path.append(part)
    return tuple(path)


def _has_index(part: str | int, data: object) -> bool:
    """Return whether *data* is a list with the index *part*.

    Pydantic may report an index one past the last entry.
    """
    return isinstance(part, int) and isinstance(data, list) and part < len(data)


def _list_valid_keys(path: KeyPath, data: Any) -> list[str]:
    """Return the keys that are allowed in the table at *path*."""
    candidates: list[type[BaseModel]] = [Scenario]
    for part in path:
        data = data[part]
        if isinstance(part, str):
            fields = [
                f for m in candidates for name, f in m.model_fields.items() if (f.alias or name) == part
            ]
            candidates = [m for f in fields for m in _list_models(f.annotation)]
        if isinstance(data, dict) and len(candidates) > 1:
            kind = data.get("kind")
            candidates = [m for m in candidates if kind in get_args(m.model_fields["kind"].annotation)]
    return [field.alias or name for m in candidates for name, field in m.model_fields.items()]


def _list_models(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _list_models(part)]


def _suggest_key(key: str, keys: list[str]) -> str:
    matches = difflib.get_close_matches(key, keys, 1, cutoff=0.5)
    if matches or not keys:
        return f"{matches[0]}?" if matches else ""
    return build_message("one of {names}", names=", ".join(keys))


def _format_abbreviated(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


# --- summary of a scenario in figures and names -----------------------------------------------------------

_IMAGE_PATTERN: Final = re.compile(r"!\[|<\s*+img\b|\bdata:image/", re.IGNORECASE)
"""Pattern of a reference to an image in Markdown or HTML."""
_LINK_PATTERN: Final = re.compile(
    r"(?:(?<![a-z0-9+.-])[a-z0-9+.-]++://|\bwww\.|\bmailto:)[^\s<>\"')\]]++|\\\\\w[^\s\"']*", re.IGNORECASE
)
"""Pattern of network addresses, including Windows shares."""
LINKS_MAX: Final = 20
"""Maximum number of listed links. Assumed: nobody reads more."""
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of invisible characters."""


class ScenarioContents(Struct, frozen=True):
    """Summary of a loaded scenario: origin, numbers of entries, sizes of its texts, links.

    Texts contain no invisible characters, because the loader rejects them.
    """

    name: str
    title: str
    author: str | None
    """Author as stated in the file, not verified; None if the file names no author."""
    sources: tuple[str, ...]
    """Papers as stated in the file, not verified."""
    sha256: str
    """SHA-256 of the file's text, which is also stored with each run."""
    characters: int
    counts: tuple[tuple[str, int], ...]
    """(table of the file, number of entries)."""
    verbs: tuple[tuple[str, int], ...]
    """(verb, count) for the lines of the timeline and of the preparation, most frequent first."""
    texts: tuple[tuple[str, int], ...]
    """(key of the file, number of characters in its displayed texts), largest first."""
    images: int
    """Number of references to images. Images are never loaded, and shipped scenarios have none."""
    links: tuple[str, ...]
    """Addresses in the texts. They are displayed only as text."""
    length_s: float | None
    """Length of the drill in seconds; None if the learner ends it."""


def summarize_contents(scenario: Scenario) -> ScenarioContents:
    """Return the summary of a loaded scenario, whose input lines must be valid."""
    input_lines = [inject.do for inject in scenario.timeline]
    verbs = count_verbs((*input_lines, *(preparation.do for preparation in scenario.before)))
    tables = {
        "servers": len(scenario.servers),
        "databases": arithmetic.add_in_order(database.count for database in scenario.databases),
        "clients": len(scenario.clients),
        "timeline": len(scenario.timeline),
        "goals": len(scenario.goals),
        "forbidden states": len(scenario.forbidden),
        "questions": len(scenario.inquiries),
        "hints": len(scenario.hints),
        "steps of the solution": len(scenario.solution),
        "rules of the score": len(scenario.rubric),
    }
    sizes = {key: sum(map(len, _list_texts(value))) for key, value in _list_visible_texts(scenario)}
    return ScenarioContents(
        name=scenario.name,
        title=scenario.title,
        author=scenario.author,
        sources=tuple(f"{source.paper}, {source.section}" for source in scenario.sources),
        sha256=compute_sha256(scenario.text),
        characters=len(scenario.text),
        counts=tuple((table_name, count) for table_name, count in tables.items() if count),
        verbs=verbs,
        texts=tuple((key, size) for key, size in sorted(sizes.items(), key=lambda pair: -pair[1]) if size),
        images=len(_IMAGE_PATTERN.findall(scenario.text)),
        links=tuple(dict.fromkeys(_LINK_PATTERN.findall(scenario.text)))[: LINKS_MAX + 1],
        length_s=scenario.length,
    )


def compute_sha256(text: str) -> str:
    """Return the SHA-256 that identifies a file, as hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def count_verbs(lines: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return (verb, count) for input lines with or without a time, most frequent first."""
    counts = Counter(map(_read_verb, lines))
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def escape_invisible(text: str) -> str:
    """Replace every invisible or direction-changing character of *text* with its code, such as ⟨U+202E⟩."""
    unseen = [sign for sign in dict.fromkeys(text) if sign not in "\n\t" and _is_invisible(sign)]
    return text.translate({ord(sign): f"⟨U+{ord(sign):04X}⟩" for sign in unseen}) if unseen else text


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE_CATEGORIES or character in BLANK_LETTERS


def _list_visible_texts(scenario: Scenario) -> Iterator[tuple[str, object]]:
    """Yield (key, text) for all texts that people read."""
    fields = scenario.model_dump(by_alias=True)
    for key in ("brief", "role", "goal", "forbidden", "question", "predict", "hint", "solution", "timeline",
                "facilitator", "fidelity"):  # fmt: skip
        yield key, fields.get(key)


def _list_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _list_texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _list_texts(part)


def _read_verb(line: str) -> str:
    """Return the verb of an input line with or without a time."""
    inputs, problems = parse_script(line)
    return inputs[0].verb if inputs and not problems else parse_input_line(line).verb
