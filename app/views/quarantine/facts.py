"""Facts about a file from another person, as lines of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.widgets.tables import TableColumn
from app.words import formatting
from app.words.language import mark, tr, trn
from engine.drill.authoring import limits
from engine.drill.authoring.contents import LINKS_MAX, Contents, escape_invisible
from engine.drill.authoring.schema import DURATION_MAX_S


@dataclass(frozen=True, slots=True)
class Fact:
    """Row of the table."""

    what: str
    value: str
    spoils: bool = False
    """True if it reveals something that a learner should find out."""


COLUMNS: Final = (
    TableColumn(title=mark("Item"), text=lambda fact: fact.what, sample="Timeline events"),
    TableColumn(title=mark("In this file"), text=lambda fact: fact.value, tip=lambda fact: fact.value),
)

TABLES: Final = {
    "servers": mark("Servers"),
    "databases": mark("Databases"),
    "clients": mark("Client applications"),
    "timeline": mark("Timeline events"),
    "goals": mark("Goals"),
    "forbidden states": mark("Forbidden states"),
    "questions": mark("Questions"),
    "hints": mark("Hints"),
    "steps of the solution": mark("Solution steps"),
    "rules of the score": mark("Scoring rules"),
}


def facts_of(contents: Contents) -> list[Fact]:
    """Return the facts about a scenario that nobody has run.

    All text is plain, and invisible characters are made visible.
    """
    unverified = tr("{text} (according to the file; not verified)")
    author = unverified.format(text=contents.author) if contents.author else tr("not named in the file")
    texts = ", ".join(f"{key} {formatting.number(size)}" for key, size in contents.texts)
    does = ", ".join(f"{verb} × {count}" for verb, count in contents.verbs)
    ends = (
        formatting.seconds(contents.length_s, 0) if contents.length_s else tr("when the trainee finishes it")
    )
    pictures = trn("{n} reference; not loaded", "{n} references; not loaded", contents.images)
    links = tr("{n}, shown as text only")
    found = [
        Fact(tr("Title"), contents.title),
        Fact(tr("Author"), author),
        Fact(tr("SHA-256"), contents.sha256),
        Fact(tr("Size"), tr("{n} characters").format(n=formatting.number(contents.characters))),
        *(Fact(tr(TABLES[what]), formatting.number(count)) for what, count in contents.counts),
        Fact(tr("Automatic actions"), does or tr("none"), spoils=True),
        Fact(tr("Ends"), ends),
        Fact(tr("Characters of text"), texts),
        Fact(tr("Pictures"), pictures.format(n=contents.images) if contents.images else tr("none")),
        Fact(tr("Links"), links.format(n=_format_link_count(contents.links)) if contents.links else tr("none")),
        *(Fact(tr("Link"), link) for link in contents.links[:LINKS_MAX]),
        *(Fact(tr("Named source"), source) for source in contents.sources),
        Fact(
            tr("Limits"),
            tr("at most {databases} databases and {hours} simulated hours; T-SQL can only access "
                "the simulation").format(
                databases=limits.DATABASES_MAX, hours=formatting.plain_number(DURATION_MAX_S / 3600)
            ),
        ),
    ]  # fmt: skip
    return [Fact(fact.what, escape_invisible(fact.value).replace("\n", " "), fact.spoils) for fact in found]


def _format_link_count(links: Sequence[str]) -> str:
    return str(len(links)) if len(links) <= LINKS_MAX else f"> {LINKS_MAX}"
