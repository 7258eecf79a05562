"""Syntax check of Ctrl+F5: nothing is executed and no name is resolved."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Final

from engine.messages import Message, fill_message
from engine.tsql.batches.work import ResumableComputation
from engine.tsql.language.lexer import BatchTooLongError, SqlSyntaxError
from engine.tsql.language.program import compiling
from engine.tsql.language.script import TEXT_LIMIT, ClientNote, ScriptBatch, splitting

PROBLEMS_MAX: Final = 1_000
"""Maximum reported errors of one text. Assumed."""


def parse_only(text: str) -> list[Message]:
    """Return the errors of the text, each with the line in its batch.

    `Commands completed successfully.` if there are none.
    """
    return parsing(text).result()


def parsing(text: str) -> ResumableComputation[list[Message]]:
    """Run `parse_only` in steps."""
    return ResumableComputation(_parse(text))


def _parse(text: str) -> Generator[int, None, list[Message]]:
    if len(text) > TEXT_LIMIT:
        return [Message(0, 16, 0, 0, f"The text has {len(text)} characters; a window takes {TEXT_LIMIT}.")]
    variables = {name.lower(): name for name in re.findall(r"\$\((\w+)\)", text)}
    steps, _ = yield from splitting(text, variables).run_in_slices()
    messages = [
        Message(0, 16, 0, 0, step.text) for step in steps if isinstance(step, ClientNote) and step.fatal
    ]
    for step in steps:
        if isinstance(step, ScriptBatch) and len(messages) < PROBLEMS_MAX:
            try:
                yield from compiling(step.text).run_in_slices()
            except SqlSyntaxError as problem:
                messages += _make_messages(problem, step.above)
    return messages or [Message(0, 0, 0, 0, "Commands completed successfully.")]


def _make_messages(problem: SqlSyntaxError, lines_above: int) -> list[Message]:
    severity, shown = fill_message(problem.number, *problem.parameters)
    said = [Message(problem.number, severity, problem.state, problem.line, shown, above=lines_above)]
    if isinstance(problem, BatchTooLongError):
        said.append(Message(0, 10, 0, 0, f"Not simulated: {problem.limit}"))
    return said
