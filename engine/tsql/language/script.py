"""Client-side processing as in sqlcmd and SSMS: GO, `:CONNECT`, `:setvar` and `$(name)`.

The server receives only batches.
"""

import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from engine.messages import Message, fill_message
from engine.tsql.batches.work import ResultCache, ResumableComputation, WorkGenerator
from engine.tsql.language.compiler import compile_in_steps
from engine.tsql.language.lexer import BatchTooLongError, SqlSyntaxError

SCRIPT_CHARACTERS_MAX: Final = 1_000_000
"""Maximum number of characters in one submission. Assumed: hand-written scripts are far smaller."""

LINE_CHARACTERS_MAX: Final = 100_000
"""Maximum length of a line after the substitution of variables. Assumed.

Without a limit, each `:setvar a $(a)$(a)` would double the length.
"""

REPETITIONS_MAX: Final = 10_000
"""Maximum number of executions by `GO n`. Assumed."""


@dataclass(frozen=True, slots=True)
class ScriptBatch:
    """Batch that the client sends to the server *count* times."""

    text: str
    count: int = 1
    above: int = field(default=0, compare=False)
    """Number of lines of the submission above the batch. As in SSMS, messages count lines from the start of
    the submission.
    """


class ConnectStep(Struct, frozen=True):
    """`:CONNECT server`. It changes the server that executes the following batches."""

    server: str


class ClientNote(Struct, frozen=True):
    """Message of the client, not of a server. A fatal message ends the script."""

    text: str
    fatal: bool = False


class ErrorExitStep(Struct, frozen=True):
    """`:ON ERROR EXIT` or `:ON ERROR IGNORE`.

    *leave*: after a batch with an error, the script ends.
    """

    leave: bool


ScriptStep = ScriptBatch | ConnectStep | ClientNote | ErrorExitStep

SplitScript = tuple[tuple[ScriptStep, ...], dict[str, str]]

_DIRECTIVE_START: Final = re.compile(r"\s*(?:[Gg][Oo]|:|!!)")
_SEPARATOR: Final = re.compile(r"^\s*GO(?:\s+(?P<count>\d+))?\s*(?:--.*)?$", re.IGNORECASE)
_BAD_GO: Final = re.compile(r"^\s*GO\s*;", re.IGNORECASE)
_DIRECTIVE: Final = re.compile(r"^\s*:(?P<word>[A-Za-z]+)\b(?P<rest>.*)$|^\s*!!(?P<shell>.*)$")
_VARIABLE: Final = re.compile(r"\$\((?P<name>\w+)\)")
_MARK: Final = re.compile(r"/\*|\*/|--|'|\"|\[|\]")
_ON_ERROR: Final = {"error exit": True, "error ignore": False}
_BAD_GO_TEXT: Final = "A fatal scripting error occurred. Incorrect syntax was encountered while parsing GO."
_TOO_LONG_TEXT: Final = (
    f"Not simulated: sqlcmd variables that make a line longer than {LINE_CHARACTERS_MAX} characters, "
    f"or a script longer by {SCRIPT_CHARACTERS_MAX}."
)
_IGNORED_DIRECTIVES: Final = frozenset({"xml", "reset", "help", "list", "listvar"})
"""sqlcmd commands that have no effect in this simulation."""


def split_script_in_steps(text: str, variables: Mapping[str, str]) -> ResumableComputation[SplitScript]:
    """Return a computation that splits a submission into steps.

    Its result also contains the sqlcmd variables after the submission. GO and directives are not
    recognized inside strings, quoted names and comments. As in SSMS, an unknown `$(name)` or an
    invalid GO is a fatal note, and the preceding steps remain. Repeated calls return the same cached
    computation.
    """
    key = (text, tuple(sorted(variables.items())))
    return _SPLIT_CACHE.get(key, len(text), lambda: ResumableComputation(_split_script(text, variables)))


_SPLIT_CACHE: Final[ResultCache[ResumableComputation[SplitScript]]] = ResultCache(4_000_000)


def _split_script(text: str, variables: Mapping[str, str]) -> Generator[int, None, SplitScript]:
    if len(text) > SCRIPT_CHARACTERS_MAX:
        message = f"The text has {len(text)} characters; a window takes {SCRIPT_CHARACTERS_MAX}."
        return (ClientNote(message, True),), dict(variables)
    script_variables = dict(variables)
    steps: list[ScriptStep] = []
    lines: list[str] = []
    state = _OpenConstruct()
    added_characters = 0
    for number, raw in enumerate(_iterate_lines(text.replace("\r\n", "\n")), start=1):
        if number % _LINES_PER_STEP == 0:
            yield _LINES_PER_STEP * WORK_PER_LINE
        if len(steps) > SCRIPT_STEPS_MAX:
            steps.append(
                ClientNote(
                    f"Not simulated: scripts of more than {SCRIPT_STEPS_MAX} batches and commands.", True
                )
            )
            return tuple(steps), script_variables
        try:
            line, missing = _substitute_script_variables(raw, script_variables)
        except _LineTooLongError:
            steps.append(ClientNote(_TOO_LONG_TEXT, True))
            return tuple(steps), script_variables
        added_characters += len(line) - len(raw)
        if added_characters > SCRIPT_CHARACTERS_MAX:
            steps.append(ClientNote(_TOO_LONG_TEXT, True))
            return tuple(steps), script_variables
        if missing is not None:
            steps.append(
                ClientNote(
                    f"A fatal scripting error occurred. Variable {missing[:128]} is not defined.", True
                )
            )
            return tuple(steps), script_variables
        if not state.open and _DIRECTIVE_START.match(line):
            separator_match = _SEPARATOR.match(line)
            if _BAD_GO.match(line) or (
                separator_match is not None and not _is_valid_count(separator_match["count"] or "1")
            ):
                steps.append(ClientNote(_BAD_GO_TEXT, True))
                return tuple(steps), script_variables
            if separator_match is not None:
                _append_batch(lines, steps, int(separator_match["count"] or 1), number - 1)
                continue
            directive = _DIRECTIVE.match(line)
            if directive is not None:
                if not _run_directive(directive, lines, steps, script_variables, number - 1):
                    return tuple(steps), script_variables
                lines.append("")
                continue
        lines.append(line)
        yield from state.read_line(line)
    _append_batch(lines, steps, 1, number)
    yield WORK_PER_LINE
    return tuple(steps), script_variables


def _iterate_lines(text: str) -> Iterator[str]:
    """Yield the lines lazily.

    Splitting a text into a million lines at once would take longer than a display frame.
    """
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


_LINES_PER_STEP: Final = 500
WORK_PER_LINE: Final = 3
"""Work units (work.py) of reading a line, or a quote or comment mark in a line. Measured."""

SCRIPT_STEPS_MAX: Final = 20_000
"""Maximum number of batches and sqlcmd commands in one script. Assumed."""

ACCEPTED_COUNT_MAX: Final = 2**31 - 1
"""Largest n of `GO n` that the client accepts. Documented as an int."""


def _is_valid_count(digits: str) -> bool:
    return len(digits) <= len(str(ACCEPTED_COUNT_MAX)) and int(digits) <= ACCEPTED_COUNT_MAX


def _append_batch(lines: list[str], steps: list[ScriptStep], count: int, lines_read: int) -> None:
    """Append a batch of *lines* to *steps*.

    *count*: number of executions (`GO n`). *lines_read*: number of lines read so far, including *lines*.
    """
    text, lines_above = "\n".join(lines), lines_read - len(lines)
    lines.clear()
    if text.strip() and count:
        steps.append(ScriptBatch(text, min(count, REPETITIONS_MAX), lines_above))
        if count > REPETITIONS_MAX:
            steps.append(
                ClientNote(f"Not simulated: GO {count}; the batch was sent {REPETITIONS_MAX} times.")
            )


def _run_directive(
    match: re.Match[str],
    lines: list[str],
    steps: list[ScriptStep],
    variables: dict[str, str],
    lines_read: int,
) -> bool:
    """Execute a sqlcmd command. Return False if it ends the script.

    *lines_read*: number of lines before the command.
    """
    if match["shell"] is not None:
        steps.append(ClientNote("Not simulated: operating system commands (!!)."))
        return True
    word, directive_text = match["word"].lower(), match["rest"].strip()
    if word == "connect" and directive_text:
        _append_batch(lines, steps, 1, lines_read)
        steps.append(ConnectStep(directive_text.split()[0].strip("\"'")))
    elif word == "setvar" and directive_text:
        name, _, value = directive_text.partition(" ")
        variables[name.lower()] = value.strip().strip('"')
    elif word in ("exit", "quit"):
        _append_batch(lines, steps, 1, lines_read)
        return False
    elif word == "on" and directive_text.lower() in _ON_ERROR:
        _append_batch(lines, steps, 1, lines_read)
        steps.append(ErrorExitStep(_ON_ERROR[directive_text.lower()]))
    elif word not in _IGNORED_DIRECTIVES:
        steps.append(ClientNote(f"Not simulated: the sqlcmd command :{word[:30]}."))
    return True


def _substitute_script_variables(line: str, variables: Mapping[str, str]) -> tuple[str, str | None]:
    """Replace the variables in *line* by their values.

    Return the line and the name of an undefined variable, if any.

    Raises _LineTooLongError.
    """
    length = len(line)
    for match in _VARIABLE.finditer(line):
        value = variables.get(match["name"].lower())
        if value is None and match["name"] not in _AGENT_TOKENS:
            return line, match["name"]
        length += len(value or "")
    if length > LINE_CHARACTERS_MAX and length > len(line):
        raise _LineTooLongError
    return _VARIABLE.sub(lambda match: variables.get(match["name"].lower(), match.group()), line), None


class _LineTooLongError(Exception):
    """Error for a line that is too long after the substitution of variables."""


_AGENT_TOKENS: Final = frozenset(
    {"DATE", "INST", "JOBID", "JOBNAME", "MACH", "OSCMD", "SQLDIR", "SQLLOGDIR", "SRVR", "STEPCT", "STEPID"}
    | {"STEPNAME", "STRTDT", "STRTTM", "TIME"}
)
"""Names of SQL Server Agent tokens. Scripts pass these tokens to job steps unchanged."""


class _OpenConstruct:
    """Construct that is open at the end of the text so far: quote, bracket, nested comments, or none."""

    def __init__(self) -> None:
        self.closing_mark = ""
        self.comment_depth = 0

    @property
    def open(self) -> bool:
        return bool(self.closing_mark or self.comment_depth)

    def read_line(self, line: str) -> WorkGenerator:
        """Update the state with the quotes, brackets and comment marks of *line*, in steps."""
        for number, match in enumerate(_MARK.finditer(line), start=1):
            if number % _LINES_PER_STEP == 0:
                yield _LINES_PER_STEP * WORK_PER_LINE
            mark = match.group()
            if self.comment_depth:
                self.comment_depth += (mark == "/*") - (mark == "*/")
            elif self.closing_mark:
                self.closing_mark = "" if mark == self.closing_mark else self.closing_mark
            elif mark == "--":
                return
            elif mark == "/*":
                self.comment_depth = 1
            elif mark in _CLOSING_MARKS:
                self.closing_mark = _CLOSING_MARKS[mark]


_CLOSING_MARKS: Final = {"'": "'", '"': '"', "[": "]"}


# --- syntax check of Ctrl+F5 --------------------------------------------------------------------------------
# The check executes nothing and resolves no names.

REPORTED_ERRORS_MAX: Final = 1_000
"""Maximum number of errors that are reported for one text. Assumed."""


def check_syntax(text: str) -> list[Message]:
    """Return the syntax errors of the text, each with the line in its batch.

    Without errors, return the message `Commands completed successfully.`
    """
    return check_syntax_in_steps(text).get_result()


def check_syntax_in_steps(text: str) -> ResumableComputation[list[Message]]:
    """Return a computation that runs `check_syntax` in steps."""
    return ResumableComputation(_check_syntax(text))


def _check_syntax(text: str) -> Generator[int, None, list[Message]]:
    if len(text) > SCRIPT_CHARACTERS_MAX:
        return [
            Message(
                0, 16, 0, 0, f"The text has {len(text)} characters; a window takes {SCRIPT_CHARACTERS_MAX}."
            )
        ]
    variables = {name.lower(): name for name in re.findall(r"\$\((\w+)\)", text)}
    steps, _ = yield from split_script_in_steps(text, variables).run_in_slices()
    messages = [
        Message(0, 16, 0, 0, step.text) for step in steps if isinstance(step, ClientNote) and step.fatal
    ]
    for step in steps:
        if isinstance(step, ScriptBatch) and len(messages) < REPORTED_ERRORS_MAX:
            try:
                yield from compile_in_steps(step.text).run_in_slices()
            except SqlSyntaxError as problem:
                messages += _make_messages(problem, step.above)
    return messages or [Message(0, 0, 0, 0, "Commands completed successfully.")]


def _make_messages(problem: SqlSyntaxError, lines_above: int) -> list[Message]:
    severity, text = fill_message(problem.number, *problem.parameters)
    messages = [Message(problem.number, severity, problem.state, problem.line, text, above=lines_above)]
    if isinstance(problem, BatchTooLongError):
        messages.append(Message(0, 10, 0, 0, f"Not simulated: {problem.limit}"))
    return messages
