"""Ctrl+F5: is the text well formed? Nothing is run and no name is looked up."""

from __future__ import annotations

import re

from engine.messages import Message, text_of
from engine.tsql.lexer import SyntaxProblem
from engine.tsql.program import compile_batch
from engine.tsql.script import Batch, Note, split


def parse_only(text: str) -> list[Message]:
    """The errors of the text, each with the line in its batch; `Commands completed successfully.` if there are none."""
    variables = {name.lower(): name for name in re.findall(r"\$\((\w+)\)", text)}
    steps, _ = split(text, variables)
    messages = [Message(0, 16, 0, 0, step.text) for step in steps if isinstance(step, Note) and step.fatal]
    for step in steps:
        if isinstance(step, Batch):
            messages += _problems(step)
    return messages or [Message(0, 0, 0, 0, "Commands completed successfully.")]


def _problems(batch: Batch) -> list[Message]:
    try:
        compile_batch(batch.text)
    except SyntaxProblem as problem:
        severity, shown = text_of(problem.number, *problem.parameters)
        return [Message(problem.number, severity, problem.state, problem.line, shown, above=batch.above)]
    return []
