"""Runbook: the actions of a run, or of the reference solution, as a commented SQL script. Without Qt."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from app.export.source import ExportSource, read_choices
from app.words.formatting import format_run_tick
from app.words.language import tr
from app.words.localization import describe_input, localize
from engine.inputs import Input
from engine.verbs import VERBS
from engine.verbs.input_lines import parse_input_line

COMMENT_WIDTH: Final = 100
"""Width of a comment line in characters."""


def build_runbook(source: ExportSource) -> str:
    """Return the inputs of the run in order. Accepted SQL remains SQL; all other inputs become comments."""
    refused = {
        (batch["t_s"], batch["window"]): next(m for m in batch["messages"] if m["severity"] > 10)
        for batch in source.report["sql"]
        if any(m["severity"] > 10 for m in batch["messages"])
    }
    answers = {tick: f"Msg {message['number']}, {message['text']}" for tick, message in refused.items()}
    head = [
        tr("{title}: your commands").format(title=source.review.title),
        tr("From a drill in Mirrordrill {version}, seed {seed}; {ended}.").format(
            version=source.report["version"], seed=source.report["seed"], ended=localize(source.review.ended)
        ),
        tr("This is a simulation. Test every step on a test system before you use it in a real runbook."),
        source.drill.scenario.summary,
    ]
    return (
        "\n".join([*_format_comment(head), "", *_format_steps(source, source.drill.journal, {}, answers)])
        + "\n"
    )


def build_reference_runbook(source: ExportSource) -> str:
    """Return the steps of the reference solution with their reasons; only a note if there is no reference."""
    reference = source.review.reference
    head = [
        tr("{title}: reference solution").format(title=source.review.title),
        source.drill.scenario.summary,
    ]
    if reference is None:
        return "\n".join(_format_comment([*head, tr("This drill has no reference solution.")])) + "\n"
    steps = [parse_input_line(step.line, step.tick) for step in reference.steps]
    reasons = {number: step.why for number, step in enumerate(reference.steps)}
    return "\n".join([*_format_comment(head), "", *_format_steps(source, steps, reasons, {})]) + "\n"


def _format_steps(
    source: ExportSource,
    items: Iterable[Input],
    reasons: Mapping[int, str],
    answers: Mapping[tuple[float, str], str],
) -> Iterator[str]:
    """Yield the lines of numbered steps.

    *reasons*: index of an input -> reason. *answers*: (second, query window) -> error message of a refused
    batch.
    """
    choices = read_choices(source)
    number = 0
    for index, item in enumerate(items):
        if VERBS[item.verb].by_person:
            continue
        number += 1
        reason = f" {reasons[index]}" if index in reasons else ""
        time_text = tr("At {moment}.").format(moment=format_run_tick(item.tick))
        yield from _format_comment([f"{number}. {time_text}{reason}"])
        if item.verb != "sql":
            words = tr("Note: {what}") if item.verb == "note" else tr("Manual step: {what}")
            yield from _format_comment([f"   {words.format(what=_describe_step(item, choices))}"])
        else:
            yield from _build_sql_lines(item, answers.get((item.tick / 100, item.args[0])))
        yield ""


def _build_sql_lines(input_: Input, refused: str | None) -> Iterator[str]:
    server = input_.args[0].partition("#")[0]
    batch = input_.args[1].strip().splitlines()
    if refused is not None:
        words = tr("Refused on {server}: {message}").format(server=server, message=refused)
        yield from _format_comment([f"   {words}"])
        yield from (f"--   {line}" for line in batch)
        return
    yield f":CONNECT {server}"
    yield from batch
    if batch[-1].strip().upper() != "GO":
        yield "GO"


def _describe_step(input_: Input, choices: Mapping[str, Sequence[str]]) -> str:
    return input_.args[0] if input_.verb == "note" else describe_input(input_.line_without_time, choices)


def _format_comment(lines: Iterable[str]) -> Iterator[str]:
    """Yield *lines* as line comments. Unlike a block comment, no text inside can end them."""
    for line in lines:
        for part in line.splitlines() or [""]:
            words, row = part.split(" "), ""
            for word in words:
                if row and len(row) + 1 + len(word) > COMMENT_WIDTH - 3:
                    yield f"-- {row}"
                    row = "   "
                row = f"{row} {word}" if row.strip() or not word else f"{row}{word}"
            yield f"-- {row}".rstrip()
