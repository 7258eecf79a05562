"""Tests that citations in the code resolve: sources in docs/sources.md, facts in docs/facts.md, files in the
repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CITING_FOLDERS = ("engine", "app", "scenarios", "tests")
PAGES = ("docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
SUFFIXES = {".py", ".toml", ".tsv", ".lark", ".txt", ".md"}


def list_texts(*folders: str) -> dict[str, str]:
    """Return path -> text of every file in *folders*, except this file, which contains false citations."""
    paths = (path for name in folders for path in [ROOT / name, *(ROOT / name).rglob("*")])
    wanted = (path for path in paths if path.suffix in SUFFIXES and path != Path(__file__) and path.is_file())
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(wanted)}


def list_table_rows(text: str, columns: int) -> Iterator[list[str]]:
    """Yield the cells of those table rows in *text* that have *columns* columns, without headers and
    separators.
    """
    for line in re.findall(r"^\|(.*)\|$", text, re.MULTILINE):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) == columns and set(cells[0]) != set("-") and cells[0] not in ("Name", "Tag"):
            yield cells


# --- sources ---------------------------------------------------------------------------------------------

SOURCES = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
PAPERS_TEXT, _, DOCUMENTATION = SOURCES.partition("## Documentation pages")
PAPER_PARTS = {tag: parts.casefold() for tag, _, parts in list_table_rows(PAPERS_TEXT, 3)}
PAGE_NAMES = tuple(name.casefold() for name, _, _ in list_table_rows(DOCUMENTATION, 3))
MESSAGES = set(
    re.findall(r"^\d+", (ROOT / "engine" / "messages.tsv").read_text(encoding="utf-8"), re.MULTILINE)
)
TAG_ALTERNATIVES = "|".join((*PAPER_PARTS, "DOC", "BOL"))
CITATION_PATTERN = re.compile(rf"\[((?:{TAG_ALTERNATIVES})(?![\w\\])(?:[^\[\]]|\n)*?)\]")


def find_citations(text: str) -> Iterator[str]:
    """Yield the content of each bracketed source, joined to one line: `DOC: quorum`, `WP table 6`."""
    for citation_match in CITATION_PATTERN.finditer(text):
        tag = ""
        for part in re.sub(r"\s*\n\s*(?:#:?\s*)?", " ", citation_match[1]).split(";"):
            part = part.strip()
            if match := re.match(rf"({TAG_ALTERNATIVES})\b:?", part):
                tag = match[1]
                yield part
            else:
                yield f"{tag}: {part}"


def does_begin_with_name(text: str, names: tuple[str, ...]) -> bool:
    """Return whether *text* equals one of *names*, or begins with a name that a comma or colon follows."""
    return any(text == name or text.startswith((f"{name},", f"{name}:")) for name in names)


def list_numbers(text: str) -> list[str]:
    """Return the numbers of a list such as `2 and 3` or `10-11`, where a dash is a range."""
    parts = re.findall(r"(\d+)-(\d+)|(\d+[ab]?)", text)
    ranges = (range(int(first), int(last) + 1) for first, last, _ in parts if first)
    return [str(n) for number in ranges for n in number] + [text for *_, text in parts if text]


@cache
def find_citation_problem(citation: str) -> str | None:
    """Return the problem of *citation*, or None."""
    tag, _, rest_text = re.sub(r"^(\w+)[:,]? ?", r"\1|", citation).partition("|")
    rest_text = rest_text.strip().casefold()
    if tag not in PAPER_PARTS and tag != "DOC":
        return f"no such tag in docs/sources.md: {citation}"
    if tag == "DOC":  # A number refers to the page of all messages.
        is_known = rest_text in MESSAGES or does_begin_with_name(rest_text, PAGE_NAMES)
        return None if is_known else f"add this page and its address to docs/sources.md: {citation}"
    parts = [part.strip() for part in PAPER_PARTS[tag].split(";")]
    if match := re.match(r"(table|fig)\w*\.? ", rest_text):
        known_names = next((part.split()[1:] for part in parts if part.startswith(match[1])), [])
        missing = [
            n
            for n in list_numbers(rest_text)
            if not any(n in (known_name, known_name.rstrip("ab")) for known_name in known_names)
        ]
        return f"{tag} has no {match[1]}. {', '.join(missing)}: {citation}" if missing else None
    sections = [part.removeprefix("sections: ").split(", ") for part in parts if part.startswith("sections")]
    known_names = [name for section in sections for name in section]
    if not rest_text or any(
        known_name.startswith(rest_text) or rest_text.startswith(known_name) for known_name in known_names
    ):
        return None
    return f"{tag} has no such part in docs/sources.md: {citation}"


@pytest.mark.parametrize("folder", [*CITING_FOLDERS, "docs"])
def test_every_source_is_listed(folder: str) -> None:
    problems = [
        f"{path}: {problem}"
        for path, text in list_texts(folder).items()
        if path != "docs/sources.md"
        for citation in find_citations(text)
        if (problem := find_citation_problem(citation))
    ]
    assert not problems, "\n".join(problems)


def test_every_source_is_cited() -> None:
    """An uncited page must be removed, so that the list contains only what the product is based on."""
    citation_texts = (
        citation for text in list_texts(*CITING_FOLDERS, "docs").values() for citation in find_citations(text)
    )
    cited = [citation.partition(":")[2].strip().casefold() for citation in citation_texts]
    idle = [
        name for name in PAGE_NAMES if not any(does_begin_with_name(citation, (name,)) for citation in cited)
    ]
    assert not idle


def test_addresses_are_of_the_documentation() -> None:
    addresses = [address for _, _, address in list_table_rows(DOCUMENTATION, 3)]
    assert len(addresses) > 100
    assert all(address.startswith("https://learn.microsoft.com/en-us/") for address in addresses)


@pytest.mark.parametrize(
    "text",
    [
        "[DOC]",
        "[DOC: quorom]",
        "[DOC: 14260]",
        "[WP table 8]",
        "[WP; DOC: no such page]",
        "[BOL: quorum]",
        "# [DOC:\n# nothing]",
        "[COMP fig. 9]",
        "[MANY table 1]",
        "[WP, no such section]",
        "[DOC: quorum; nothing]",
        "[WP, DOC: quorum]",
    ],
)
def test_a_false_citation_is_found(text: str) -> None:
    assert any(find_citation_problem(citation) for citation in find_citations(text))


@pytest.mark.parametrize(
    "text",
    [
        "[WP]",
        "[WP tables 2 and 3]",
        "[WP fig. 10-11]",
        "[WP, Table 5]",
        "[MANY]",
        "[DOC: quorum, states]",
        "[DOC: 3059]",
        "[WP; DOC: quorum]",
        "[DOC: TOP; quorum]",
        "[DOC: precision, scale, and length]",
        "# [DOC: role\n# switching]",
    ],
)
def test_a_true_citation_passes(text: str) -> None:
    assert [find_citation_problem(citation) for citation in find_citations(text)] == [None] * (
        text.count(";") + 1
    )


# --- facts -----------------------------------------------------------------------------------------------

FACTS_TEXT = (ROOT / "docs" / "facts.md").read_text(encoding="utf-8")
FACTS = set(re.findall(r"^(?:#+ |\| (?=\d+\.\d+ \|))(\d+(?:\.\d+)?)", FACTS_TEXT, re.MULTILINE))
FACT_PATTERN = re.compile(
    r"\bfacts?,?\s+(?:section\s+)?((?:\d+(?:\.\d+)?(?:\s*(?:,|and|to|;)\s*)?)+)", re.IGNORECASE
)


def list_facts(text: str) -> list[str]:
    """Return the fact numbers that *text* cites: `Facts 1.7, 2.9 and 8`."""
    return [
        number for match in FACT_PATTERN.finditer(text) for number in re.findall(r"\d+(?:\.\d+)?", match[1])
    ]


@pytest.mark.parametrize("folder", [*CITING_FOLDERS, *PAGES])
def test_every_cited_fact_exists(folder: str) -> None:
    sources = list_texts(folder).items()
    problems = [f"{path}: facts {n}" for path, text in sources for n in list_facts(text) if n not in FACTS]
    problems += [f"{path}: fact sheet" for path, text in sources if "fact sheet" in text.casefold()]
    assert not problems, "\n".join(problems)


def test_facts_are_found() -> None:
    assert list_facts("Facts 1.7, 2.9 and 8. See facts 3.1; (facts, section 7)") == [
        "1.7",
        "2.9",
        "8",
        "3.1",
        "7",
    ]
    assert "4.1" in FACTS
    assert "4.99" not in FACTS
    assert sum(len(list_facts(text)) for text in list_texts(*CITING_FOLDERS).values()) > 20


# --- files -----------------------------------------------------------------------------------------------

SUFFIX_ALTERNATIVES = "py|md|toml|tsv|lark|svg|po"
FILE_PATTERN = re.compile(
    rf"(?<![\w./$%{{}}*-])((?:[a-z_][\w-]*/)*[A-Za-z_][\w-]*\.(?:{SUFFIX_ALTERNATIVES}))\b(?![\w(/])"
)
FOLDERS = ("engine/", "app/", "tests/", "assets/", "scenarios/", "docs/", "examples/")
INVENTED_PATTERN = re.compile(r"/(NAME|[A-Z]|x|y|a|b|one|two|my|mine|it|other|drill)\w*\.\w+$")
EXTERNAL_FILES = {"design.md", "style.md", "model.md", "mirroring-facts.md", "house-review.md", "anchors.md"}
"""Working papers outside the repository."""


@cache
def list_all_paths() -> frozenset[str]:
    """Return every path in the repository, and each of its suffixes: `a/b/c.py`, `b/c.py`."""
    names = set()
    for name in (*CITING_FOLDERS, "assets", "docs", "examples", ".ci"):
        for path in (ROOT / name).rglob("*"):
            parts = path.relative_to(ROOT).parts
            names |= {"/".join(parts[n:]) for n in range(len(parts))}
    return frozenset(names | {path.name for path in ROOT.iterdir()})


def extract_prose(path: str, text: str) -> str:
    """Return the prose of a file; for Python its comments and triple-quoted texts."""
    if not path.endswith(".py"):
        return text
    return "\n".join(re.findall(r'"""[\s\S]*?"""|#.*', text))


def find_missing_files(path: str, text: str) -> list[str]:
    """Return the files that *text* mentions and that do not exist."""
    names = set(FILE_PATTERN.findall(extract_prose(path, text)))
    return sorted(
        name
        for name in names
        if name in EXTERNAL_FILES
        or (
            (name.startswith(FOLDERS) or (name.endswith(".py") and "/" in name))
            and name not in list_all_paths()
            and not INVENTED_PATTERN.search(f"/{name}")
        )
    )


@pytest.mark.parametrize("folder", [*CITING_FOLDERS, *PAGES])
def test_every_named_file_exists(folder: str) -> None:
    problems = [
        f"{path} names {name}"
        for path, text in list_texts(folder).items()
        # These files contain invented texts.
        if not path.startswith(("tests/hostile/", "tests/engine/tsql/answers/"))
        for name in find_missing_files(path, text)
    ]
    assert not problems, "\n".join(problems)


def test_a_missing_file_is_found() -> None:
    text = "# as design.md says; see engine/nowhere.py, flow/sites.py and flow/cities.py\nopen('tests/none.toml')"
    assert find_missing_files("x.py", text) == ["design.md", "engine/nowhere.py", "flow/cities.py"]


@pytest.mark.parametrize("page", [path for path in list_texts(*PAGES) if path.endswith(".md")])
def test_links_have_targets(page: str) -> None:
    folder = (ROOT / page).parent
    links = re.findall(r"\]\(([^)#\s]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert not [link for link in links if "://" not in link and not (folder / link).exists()]
