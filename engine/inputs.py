"""What may be done to the world, and its one-line text: `TIME VERB ARGUMENTS`.

Buttons, menus, scenario timelines, journals, the text console and tests all speak these lines.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from engine import arithmetic
from engine.constants import EDITIONS, TICKS_PER_S, VERSIONS


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a verb. *kind* says what may stand there."""

    name: str
    kind: str = "word"
    """server, database, client, name (server or client), word, number, rest (of the line)."""
    optional: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verb:
    """What an input line may ask for."""

    name: str
    parameters: tuple[Parameter, ...]
    options: tuple[str, ...]
    """Names that may follow as name=number (or name=word)."""
    help: str
    group: str
    """fault, repair, load, sql, chore, remark: how menus and scores sort it."""
    reverse: str | None = None
    """The verb with the same arguments that takes it back."""


def _verb(
    name: str,
    parameters: Sequence[Parameter],
    help: str,
    group: str,
    reverse: str | None = None,
    options: Sequence[str] = (),
) -> Verb:
    return Verb(name, tuple(parameters), tuple(options), help, group, reverse)


_SERVER: Final = Parameter("server", "server")
_DATABASE: Final = Parameter("database", "database")
_PAIR: Final = (Parameter("from", "name"), Parameter("to", "name"))
_REST: Final = Parameter("text", "rest")
_SERVERS: Final = (Parameter("from", "server"), Parameter("to", "server"))
_PORT: Final = Parameter("port", "number")
_DRIVE: Final = Parameter("drive")
_JOB: Final = Parameter("job", "rest", optional=True)
_CERTIFICATE: Final = Parameter("certificate", optional=True)

VERBS: Final[dict[str, Verb]] = {
    verb.name: verb
    for verb in (
        _verb("power-off", [_SERVER], "cut the power of a server", "fault", "power-on"),
        _verb("power-on", [_SERVER], "switch a server on; it boots and starts SQL Server", "repair"),
        _verb("shutdown-server", [_SERVER], "shut the operating system down", "fault", "power-on"),
        _verb("stop-service", [_SERVER], "stop the SQL Server service", "fault", "start-service"),
        _verb("start-service", [_SERVER], "start the SQL Server service", "repair"),
        _verb("restart-service", [_SERVER], "stop and start the SQL Server service", "chore"),
        _verb(
            "hang", [_SERVER], "freeze the instance: SQL Server runs but does not respond", "fault", "unhang"
        ),
        _verb("unhang", [_SERVER], "unfreeze the instance", "repair"),
        _verb("pull-cable", [_SERVER], "pull all network cables of a server", "fault", "plug-cable"),
        _verb("plug-cable", [_SERVER], "plug all network cables of a server", "repair"),
        _verb("cut", _PAIR, "cut one link; both ends lose the carrier", "fault", "mend"),
        _verb("mend", _PAIR, "repair one link, whatever its fault", "repair"),
        _verb("black-hole", _PAIR, "drop all packets of one link silently", "fault", "mend"),
        _verb("cut-one-way", _PAIR, "drop the packets in one direction silently", "fault", "mend"),
        _verb("reset-link", _PAIR, "reset the open connections of one link; the ends may reconnect", "fault"),
        _verb(
            "degrade",
            _PAIR,
            "change latency, bandwidth or loss of one link",
            "fault",
            "mend",
            options=("rtt_ms", "jitter_ms", "bandwidth_mbps", "loss"),
        ),
        _verb(
            "slow-disk",
            [_SERVER, Parameter("disk", choices=("log", "data"))],
            "slow a disk down by a factor; 1 is healthy",
            "fault",
            options=("factor",),
        ),
        _verb(
            "slow-cpu",
            [_SERVER],
            "slow the processors down by a factor; 1 is healthy",
            "fault",
            options=("factor",),
        ),
        _verb("fill-log", [_DATABASE], "fill the log file of the principal database", "fault"),
        _verb(
            "open-transaction",
            [_DATABASE],
            "leave a transaction open: its log and all later log cannot be truncated",
            "fault",
            "end-transaction",
        ),
        _verb("end-transaction", [_DATABASE], "end the open transaction", "repair"),
        _verb("fail-disk", [_SERVER, _DATABASE], "the volume of one database fails", "fault", "mend-disk"),
        _verb("mend-disk", [_SERVER, _DATABASE], "replace the failed volume of one database", "repair"),
        _verb(
            "fail-volume", [_SERVER, _DRIVE], "a drive fails, with all files on it", "fault", "mend-volume"
        ),
        _verb(
            "mend-volume", [_SERVER, _DRIVE], "replace a failed drive; its files are there again", "repair"
        ),
        _verb("close-firewall", [_SERVER, _PORT], "close a port of a server", "fault", "open-firewall"),
        _verb("open-firewall", [_SERVER, _PORT], "open a port of a server", "repair"),
        _verb(
            "disable-tcp",
            [_SERVER],
            "disable TCP/IP; takes effect at the next start of the service",
            "fault",
            "enable-tcp",
        ),
        _verb(
            "enable-tcp", [_SERVER], "enable TCP/IP; takes effect at the next start of the service", "repair"
        ),
        _verb("stop-agent", [_SERVER], "stop SQL Server Agent: no job runs", "fault", "start-agent"),
        _verb("start-agent", [_SERVER], "start SQL Server Agent", "repair"),
        _verb(
            "expire-certificate",
            [_SERVER, _CERTIFICATE],
            "let a certificate (the endpoint's) expire",
            "fault",
            "renew-certificate",
        ),
        _verb(
            "renew-certificate",
            [_SERVER, _CERTIFICATE],
            "restore the former expiry date of a certificate",
            "repair",
        ),
        _verb(
            "corrupt-page",
            [_SERVER, _DATABASE],
            "damage a page of one copy of a database",
            "fault",
            "mend-page",
            options=("page",),
        ),
        _verb("mend-page", [_SERVER, _DATABASE], "restore the damaged pages of one copy", "repair"),
        _verb("revert-all", [], "undo all faults that are still active", "repair"),
        _verb(
            "workload",
            [_DATABASE, Parameter("workload")],
            "change the workload (Workload1, Workload2, none, …)",
            "load",
            options=("scale",),
        ),
        _verb(
            "bulk-load",
            [_DATABASE],
            "load rows in bulk, batch by batch",
            "load",
            options=("rows", "batch_rows"),
        ),
        _verb(
            "rebuild-index",
            [_DATABASE, Parameter("how", optional=True, choices=("offline", "online"))],
            "rebuild a large index in one transaction",
            "load",
            options=("size",),
        ),
        _verb("stop-app", [Parameter("client", "client")], "stop a client application", "chore", "start-app"),
        _verb("start-app", [Parameter("client", "client")], "start a client application", "chore"),
        _verb(
            "point-app",
            [Parameter("client", "client"), _SERVER],
            "connect an application to another server",
            "chore",
        ),
        _verb("copy-file", [*_SERVERS, Parameter("path", "rest")], "copy a file to the same path", "chore"),
        _verb("delete-file", [_SERVER, Parameter("path", "rest")], "delete a file", "chore"),
        _verb("transfer-logins", _SERVERS, "copy logins with their SIDs and passwords", "chore"),
        _verb("copy-jobs", _SERVERS, "copy jobs, disabled", "chore"),
        _verb("enable-jobs", [_SERVER, _JOB], "enable one job, or all", "chore", "disable-jobs"),
        _verb("disable-jobs", [_SERVER, _JOB], "disable one job, or all", "chore", "enable-jobs"),
        _verb("create-linked-server", [_SERVER, Parameter("name")], "create a linked server", "chore"),
        _verb("copy-linked-servers", _SERVERS, "copy the definitions of linked servers", "chore"),
        _verb("add-drive", [_SERVER, _DRIVE], "add a drive", "chore", options=("size_gb",)),
        _verb("grow-volume", [_SERVER, _DRIVE], "resize a drive", "chore", options=("size_gb",)),
        _verb(
            "set-service-account",
            [_SERVER, Parameter("account", "rest")],
            "run SQL Server under another account; the service restarts",
            "chore",
        ),
        _verb(
            "upgrade",
            [
                _SERVER,
                Parameter("version", choices=tuple(map(str, VERSIONS))),
                Parameter("edition", optional=True, choices=EDITIONS),
            ],
            "install a version (the same one: a service pack); the service is down meanwhile",
            "chore",
        ),
        _verb("sql", [Parameter("server", "window"), _REST], "send T-SQL to a server", "sql"),
        _verb("cancel", [Parameter("server", "window")], "cancel the running batch of a window", "sql"),
        _verb("note", [_REST], "add a note to the run", "remark"),
        _verb(
            "hint",
            [Parameter("layer", choices=("1", "2", "3"))],
            "open a hint: 1 where to look, 2 what it means, 3 what to type",
            "remark",
        ),
        _verb(
            "answer",
            [Parameter("question"), Parameter("choice", "number")],
            "answer a question by the number of a choice",
            "remark",
        ),
        _verb(
            "rewind",
            [Parameter("from_s", "number"), Parameter("known", "rest", optional=True)],
            "note a rewind to this moment: from which moment, and what is known since",
            "remark",
        ),
        _verb("finish", [], "finish the drill and score it", "remark"),
    )
}
"""Every verb. Handlers stand in the simulator's table; a test compares the two."""

TIME_MAX_S: Final = 1e6
"""No run is longer: eleven days, as of `run --until`."""

OPTION_BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "rtt_ms": (0.0, 10_000.0),
    "jitter_ms": (0.0, 10_000.0),
    "bandwidth_mbps": (0.001, 400_000.0),
    "loss": (0.0, 0.99),
    "factor": (0.01, 1_000.0),
    "scale": (0.0, 1_000.0),
    "rows": (0.0, 1e10),
    "batch_rows": (0.0, 1e10),
    "size": (0.0, 1e6),
    "page": (0.0, 2.0**31),
    "size_gb": (0.0, 1e6),
}
"""Least and most of each option, as in scenario files: beyond them the model is meaningless or costs without end.

Assumed. A link that lets nothing through is cut, not 100 % lossy: `cut` and `black-hole` say which way.
"""


SAID_MAX: Final = 500
"""Characters of what is said against a line: what it is about may be a word of a million letters. Assumed."""


class InputProblem(ValueError):
    """An input line that cannot be understood; the text says what, where, what was expected."""

    def __init__(self, text: str) -> None:
        super().__init__(text if len(text) <= SAID_MAX else f"{text[:SAID_MAX]}…")


@dataclass(frozen=True, slots=True)
class Input:
    """One line, ready to be done at *tick*."""

    tick: int
    verb: str
    args: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    def option(self, name: str, default: float) -> float:
        return next((float(value) for key, value in self.options if key == name), default)

    @property
    def words(self) -> str:
        """The line without its time."""
        parts = [self.verb, *self.args, *(f"{name}={value}" for name, value in self.options)]
        return " ".join(part for part in parts if part).replace("\n", "\n    ")

    @property
    def line(self) -> str:
        """The line as it is written to journals; following lines of SQL are indented."""
        return f"{format_time(self.tick)} {self.words}"


def format_time(tick: int) -> str:
    """Seconds with as many decimals as the tick needs: 41.25, 30."""
    return f"{tick / TICKS_PER_S:.2f}".rstrip("0").rstrip(".")


_LINE_ENDS: Final = ("\r\n", *"\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
"""What str.splitlines takes for one beside the usual; to split a text of a million lines there takes two frames."""


def parse_line(text: str, tick: int = 0) -> Input:
    """One input without its time (`power-off SERVER_A`), to be done at *tick*.

    Raises InputProblem.
    """
    for end in _LINE_ENDS:  # one kind of line end, so that a journal reads back the same
        if end[0] in text:  # to look for two signs in a million lines takes four milliseconds
            text = text.replace(end, "\n")
    text = text.rstrip()
    head, _, continuation = text.partition("\n")
    name, _, rest = head.lstrip().partition(" ")
    verb = VERBS.get(name.lower())
    if verb is None:
        near = difflib.get_close_matches(name.lower(), VERBS, 1)
        hint = f"; did you mean {near[0]}?" if near else "; see the list of verbs"
        raise InputProblem(f"there is no verb {name!r}{hint}")
    if verb.parameters and verb.parameters[-1].kind == "rest":
        body = rest + f"\n{continuation}".replace("\n    ", "\n") if continuation else rest
        args = _split_rest(verb, body)
        return Input(tick, verb.name, tuple(args))
    if continuation.strip():
        raise InputProblem(f"{verb.name} takes one line; an indented line follows it")
    return _with_words(verb, rest.split(), tick)


def _split_rest(verb: Verb, body: str) -> list[str]:
    args: list[str] = []
    for parameter in verb.parameters[:-1]:
        found = re.match(r"\s*(\S+)[ \n]?(.*)", body, re.DOTALL)
        if found is None:
            raise InputProblem(f"{verb.name} needs {parameter.name}: {usage(verb)}")
        args.append(found[1])
        body = found[2]
    body = re.sub(r"\A(?:[^\S\n]*\n)+", "", body)  # lines of nothing before the first word
    if not body.strip() and verb.parameters[-1].optional:
        return args
    if not body.strip():
        raise InputProblem(f"{verb.name} needs {verb.parameters[-1].name}: {usage(verb)}")
    return [*args, body]


def _with_words(verb: Verb, words: Sequence[str], tick: int) -> Input:
    plain = [word for word in words if "=" not in word]
    options = [tuple(word.split("=", 1)) for word in words if "=" in word]
    needed = arithmetic.total(not parameter.optional for parameter in verb.parameters)
    if not needed <= len(plain) <= len(verb.parameters):
        raise InputProblem(f"{verb.name} takes {needed} argument(s), {len(plain)} given: {usage(verb)}")
    for parameter, word in zip(verb.parameters, plain, strict=False):
        if parameter.choices and word not in parameter.choices:
            raise InputProblem(
                f"{verb.name}: {parameter.name} is one of {', '.join(parameter.choices)}, not {word!r}"
            )
    for name, value in options:
        if name not in verb.options:
            raise InputProblem(f"{verb.name} knows no {name}=…: {usage(verb)}")
        try:
            number = float(value)
        except ValueError:
            raise InputProblem(f"{verb.name}: {name} is a number, not {value!r}") from None
        least, most = OPTION_BOUNDS[name]
        if not least <= number <= most:  # nor is what is not a number
            raise InputProblem(f"{verb.name}: {name}={value} is outside {least:g} to {most:g}")
    return Input(tick, verb.name, tuple(plain), tuple((name, value) for name, value in options))


def usage(verb: Verb) -> str:
    """`degrade FROM TO [rtt_ms=…] …` for messages and help."""
    parts = [verb.name]
    for parameter in verb.parameters:
        word = "|".join(parameter.choices) or parameter.name.upper()
        parts.append(f"[{word}]" if parameter.optional else word)
    parts += [f"[{name}=…]" for name in verb.options]
    return " ".join(parts)


def parse_script(text: str) -> tuple[list[Input], list[str]]:
    """Lines of an input file and all its problems (`line 3: …`). `+S` counts from the line before."""
    inputs: list[Input] = []
    problems: list[str] = []
    tick = 0
    for number, block in _blocks(text.splitlines()):
        time, _, rest = block.strip().partition(" ")
        try:
            tick = _parse_time(time, tick)
            inputs.append(parse_line(rest, tick))
        except InputProblem as problem:
            problems.append(f"line {number}: {problem}")
    inputs.sort(key=lambda item: item.tick)
    return inputs, problems


def _blocks(lines: Iterable[str]) -> list[tuple[int, str]]:
    """Each input with the indented lines that belong to it; comments and blank lines dropped."""
    blocks: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines, start=1):
        if line[:1] in (" ", "\t") and blocks:
            blocks[-1][1].append(line)
        elif line.strip() and not line.lstrip().startswith("#"):
            blocks.append((number, [line]))
    return [(number, "\n".join(block).rstrip()) for number, block in blocks]


def _parse_time(word: str, before: int) -> int:
    relative = word.startswith("+")
    try:
        seconds = float(word.removeprefix("+").removesuffix("s"))
    except ValueError:
        raise InputProblem(f"a line begins with its time in seconds (41.25 or +3), not {word!r}") from None
    tick = round(seconds * TICKS_PER_S) + (before if relative else 0) if 0.0 <= seconds <= TIME_MAX_S else -1
    if not 0 <= tick <= TIME_MAX_S * TICKS_PER_S:
        raise InputProblem(f"the time {word} is outside 0 to {TIME_MAX_S:g} seconds")
    return tick
