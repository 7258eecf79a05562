"""What sqlcmd and SSMS do before a server sees anything: GO, `:CONNECT`, `:setvar`, `$(name)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

TEXT_LIMIT: Final = 1_000_000
"""Characters that one submission may have. Assumed: scripts that people write are far below it."""

REPEAT_LIMIT: Final = 10_000
"""Greatest n of `GO n` that is carried out. Assumed."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Text for a server, sent *count* times."""

    text: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Connect:
    """`:CONNECT server`: the batches that follow go there."""

    server: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the client itself says; *fatal* ends the script."""

    text: str
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class OnError:
    """`:ON ERROR EXIT` (or IGNORE): whether an error ends the script after its batch."""

    leave: bool


Step = Batch | Connect | Note | OnError

_GO: Final = re.compile(r"^\s*GO(?:\s+(?P<count>\d+))?\s*(?:--.*)?$", re.IGNORECASE)
_BAD_GO: Final = re.compile(r"^\s*GO\s*;", re.IGNORECASE)
_DIRECTIVE: Final = re.compile(r"^\s*:(?P<word>[A-Za-z]+)\b\s*(?P<rest>.*?)\s*$|^\s*!!(?P<shell>.*)$")
_VARIABLE: Final = re.compile(r"\$\((?P<name>\w+)\)")
_MARK: Final = re.compile(r"/\*|\*/|--|'|\"|\[|\]")
_ON_ERROR: Final = {"error exit": True, "error ignore": False}
_BAD_GO_TEXT: Final = "A fatal scripting error occurred. Incorrect syntax was encountered while parsing GO."
_IGNORED: Final = frozenset({"xml", "reset", "help", "list", "listvar"})
"""Commands of sqlcmd that would change nothing here."""


def split(text: str, variables: Mapping[str, str]) -> tuple[tuple[Step, ...], dict[str, str]]:
    """The steps of a submission and the sqlcmd variables after it.

    GO and directives count only outside strings, names and comments. An unknown `$(name)` or a GO that cannot
    be read is a fatal note, as in SSMS; steps before it are kept.
    """
    if len(text) > TEXT_LIMIT:
        return (Note(f"The text has {len(text)} characters; a window takes {TEXT_LIMIT}.", True),), dict(
            variables
        )
    known = dict(variables)
    steps: list[Step] = []
    lines: list[str] = []
    state = ""
    for raw in text.replace("\r\n", "\n").split("\n"):
        line, missing = _substitute(raw, known)
        if missing is not None:
            steps.append(Note(f"A fatal scripting error occurred. Variable {missing} is not defined.", True))
            return tuple(steps), known
        if not state:
            go = _GO.match(line)
            if go is not None:
                _flush(lines, steps, min(int(go["count"] or 1), REPEAT_LIMIT))
                continue
            if _BAD_GO.match(line):
                steps.append(Note(_BAD_GO_TEXT, True))
                return tuple(steps), known
            directive = _DIRECTIVE.match(line)
            if directive is not None:
                if not _direct(directive, lines, steps, known):
                    return tuple(steps), known
                lines.append("")
                continue
        lines.append(line)
        state = _state_after(line, state)
    _flush(lines, steps, 1)
    return tuple(steps), known


def _flush(lines: list[str], steps: list[Step], count: int) -> None:
    text = "\n".join(lines)
    lines.clear()
    if text.strip() and count:
        steps.append(Batch(text, count))


def _direct(match: re.Match[str], lines: list[str], steps: list[Step], known: dict[str, str]) -> bool:
    """Carry out one directive; False ends the script."""
    if match["shell"] is not None:
        steps.append(Note("Not simulated: operating system commands (!!)."))
        return True
    word, rest = match["word"].lower(), match["rest"]
    if word == "connect" and rest:
        _flush(lines, steps, 1)
        steps.append(Connect(rest.split()[0].strip("\"'")))
    elif word == "setvar" and rest:
        name, _, value = rest.partition(" ")
        known[name.lower()] = value.strip().strip('"')
    elif word in ("exit", "quit"):
        _flush(lines, steps, 1)
        return False
    elif word == "on" and rest.lower() in _ON_ERROR:
        _flush(lines, steps, 1)
        steps.append(OnError(_ON_ERROR[rest.lower()]))
    elif word not in _IGNORED:
        steps.append(Note(f"Not simulated: the sqlcmd command :{word}."))
    return True


def _substitute(line: str, known: Mapping[str, str]) -> tuple[str, str | None]:
    for match in _VARIABLE.finditer(line):
        if match["name"].lower() not in known and match["name"] not in _AGENT_TOKENS:
            return line, match["name"]
    return _VARIABLE.sub(lambda match: known.get(match["name"].lower(), match.group()), line), None


_AGENT_TOKENS: Final = frozenset(
    {"DATE", "INST", "JOBID", "JOBNAME", "MACH", "OSCMD", "SQLDIR", "SQLLOGDIR", "SRVR", "STEPCT", "STEPID"}
    | {"STEPNAME", "STRTDT", "STRTTM", "TIME"}
)
"""Tokens of SQL Server Agent, which scripts hand on to job steps as they stand."""


def _state_after(line: str, state: str) -> str:
    """What is open at the end of *line*: "" nothing, a quote, "]", or "/*" once for each nested comment."""
    for match in _MARK.finditer(line):
        mark = match.group()
        if state.startswith("/*"):
            state = state + mark if mark == "/*" else state[:-2] if mark == "*/" else state
        elif state:
            state = "" if mark == state else state
        elif mark == "--":
            return ""
        elif mark in ("'", '"', "/*"):
            state = mark
        elif mark == "[":
            state = "]"
    return state
