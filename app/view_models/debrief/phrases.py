"""Sentences for the actions of a player, in the past tense, without Qt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from app.words.input_lines import describe_input, short
from app.words.language import mark, tr
from engine.drill.authoring import batches
from engine.inputs import Input, InputError
from engine.verbs.lines import parse_line

LETTERS_MAX: Final = 110
"""Maximum characters of a command in a sentence. The steps below and the Commands tab show all of it."""

STATEMENTS: Final = (
    (r"SET PARTNER OFF", mark("You removed the mirroring session on {server} (SET PARTNER OFF).")),
    (r"SET PARTNER FAILOVER", mark("You started a failover on {server} (SET PARTNER FAILOVER).")),
    (
        r"SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS",
        mark("You forced service on {server} (FORCE_SERVICE_ALLOW_DATA_LOSS)."),
    ),
    (
        r"SET PARTNER SAFETY OFF",
        mark("You set the session to high-performance mode (SET PARTNER SAFETY OFF)."),
    ),
    (r"SET PARTNER SUSPEND", mark("You suspended the mirroring session (SET PARTNER SUSPEND).")),
    (r"SET WITNESS OFF", mark("You removed the witness (SET WITNESS OFF).")),
    (
        r"RESTORE DATABASE .* WITH (?:\w+ ?, ?)*RECOVERY",
        mark("You recovered the copy on {server} (RESTORE … WITH RECOVERY)."),
    ),
    (
        r"FORCE_FAILOVER_ALLOW_DATA_LOSS",
        mark("You forced a failover to {server} (FORCE_FAILOVER_ALLOW_DATA_LOSS)."),
    ),
    (r"ALTER AVAILABILITY GROUP \S+ FAILOVER", mark("You started a failover to {server} (FAILOVER).")),
    (r"DROP AVAILABILITY GROUP", mark("You dropped the availability group on {server}.")),
    (
        r"SET HADR OFF",
        mark("You removed the database from its availability group on {server} (SET HADR OFF)."),
    ),
    (r"SET HADR SUSPEND", mark("You suspended data movement on {server} (SET HADR SUSPEND).")),
)
"""Pattern in an uppercase batch -> sentence about it; the last match in the batch counts."""

REMARKS_MADE: Final = {
    "finish": mark("You ended the drill."),
    "hint": mark("You opened a hint."),
    "rewind": mark("You rewound the run."),
    "answer": mark("You answered a question: {action}."),
}
"""Verb -> sentence, for inputs that do not change the world."""


def describe_action(line: str, choices: Mapping[str, Sequence[str]]) -> str:
    """Return a sentence about an input of the player. *choices*: question -> its choices."""
    action = short(describe_input(line, choices), LETTERS_MAX)
    try:
        item = parse_line(line)
    except InputError:
        return tr("You ran: {action}.").format(action=action)
    if item.verb in REMARKS_MADE:
        return tr(REMARKS_MADE[item.verb]).format(action=action)
    if item.verb in ("sql", "ps"):
        return _describe_statement(item) or tr("You ran: {action}.").format(action=action)
    return tr("You chose: {action}.").format(action=action)


def _describe_statement(item: Input) -> str:
    server = item.args[0].partition("#")[0]
    text = batches.normalize_sql(item.args[1], keep_literals=False)
    found = [
        (match.end(), sentence) for pattern, sentence in STATEMENTS for match in re.finditer(pattern, text)
    ]
    return tr(max(found)[1]).format(server=server) if found and item.verb == "sql" else ""
