"""Parsing and execution of input lines such as `41.25 power-off SERVER_A`, and the record of all faults."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter
from typing import Final

from msgspec.structs import replace

from engine import arithmetic
from engine.constants import RUN_TIME_MAX_S, TICKS_PER_S
from engine.events import FaultData
from engine.inputs import Input, InputError
from engine.json_text import parse_json
from engine.localization import LocalizableMessage, build_message, join_messages
from engine.model import Fault, Tick, World
from engine.verbs import VERBS
from engine.verbs.verb import Args, Verb, VerbFunction, describe_loss

_ROLE_KEY_PATTERN: Final = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
"""Pattern of a team role's key in scenarios (Slug in engine/drill/authoring/schema/world.py)."""

_LINE_ENDS: Final = ("\r\n", *"\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
"""Line ends that str.splitlines recognizes.

`parse_input_line` replaces them one by one, because splitting a million lines would take longer than two
frames.
"""


def parse_input_line(text: str, tick: int = 0) -> Input:
    """Parse an input line without its time, such as `power-off SERVER_A`.

    In a team, a role may precede the verb: `@dba power-off SERVER_A`. *tick*: time of the input. Raises
    InputError.
    """
    if text.lstrip().startswith("@"):
        author, _, input_text = text.lstrip()[1:].partition(" ")
        if not _ROLE_KEY_PATTERN.fullmatch(author):
            raise InputError(
                build_message("@ must be followed by the key of a role, not {word!r}", word=author)
            )
        if input_text.lstrip().startswith("@"):
            raise InputError(
                build_message("a line can have only one role; remove {word!r}", word=input_text.split()[0])
            )
        return replace(parse_input_line(input_text, tick), by=author)
    for end in _LINE_ENDS:  # normalize line ends, so that a journal can be read back unchanged
        if end[0] in text:  # cheap test: 4 ms for a million lines
            text = text.replace(end, "\n")
    text = text.rstrip()
    head, _, continuation = text.partition("\n")
    name, _, remaining_text = head.lstrip().partition(" ")
    verb = VERBS.get(name.lower())
    if verb is None:
        matches = difflib.get_close_matches(name.lower(), VERBS, 1)
        problem = build_message("unknown command {name!r}", name=name)
        if matches:
            raise InputError(
                build_message("{problem}; did you mean {name}?", problem=problem, name=matches[0])
            )
        raise InputError(problem)
    if verb.parameters and verb.parameters[-1].kind == "rest":
        body = (
            remaining_text + f"\n{continuation}".replace("\n    ", "\n") if continuation else remaining_text
        )
        args = _split_rest(verb, body)
        _check_numbers(verb, args)
        return Input(tick, verb.name, tuple(args))
    if continuation.strip():
        raise InputError(
            build_message("{verb} must be one line, but an indented line follows", verb=verb.name)
        )
    return _build_input(verb, remaining_text.split(), tick)


def _split_rest(verb: Verb, body: str) -> list[str]:
    args: list[str] = []
    for parameter in verb.parameters[:-1]:
        head_match = re.match(r"\s*(\S+)[ \n]?(.*)", body, re.DOTALL)
        if head_match is None:
            raise InputError(
                build_message(
                    "{verb} needs {name}: {usage}",
                    verb=verb.name,
                    name=parameter.name,
                    usage=format_usage(verb),
                )
            )
        args.append(head_match[1])
        body = head_match[2]
    body = re.sub(r"\A(?:[^\S\n]*\n)+", "", body)  # drop empty lines before the first word
    if not body.strip() and verb.parameters[-1].optional:
        return args
    if not body.strip():
        raise InputError(
            build_message(
                "{verb} needs {name}: {usage}",
                verb=verb.name,
                name=verb.parameters[-1].name,
                usage=format_usage(verb),
            )
        )
    return [*args, body]


def _build_input(verb: Verb, tokens: Sequence[str], tick: int) -> Input:
    plain_tokens = [word for word in tokens if "=" not in word]
    options = [tuple(word.split("=", 1)) for word in tokens if "=" in word]
    plain_tokens = _join_resource_words(verb, plain_tokens)
    needed_count = arithmetic.add_in_order(not parameter.optional for parameter in verb.parameters)
    if not needed_count <= len(plain_tokens) <= len(verb.parameters):
        raise InputError(
            build_message(
                "{verb} expects {n} argument(s), not {given}: {usage}",
                verb=verb.name,
                n=needed_count,
                given=len(plain_tokens),
                usage=format_usage(verb),
            )
        )
    _check_numbers(verb, plain_tokens)
    for parameter, word in zip(verb.parameters, plain_tokens, strict=False):
        if parameter.choices and word not in parameter.choices:
            raise InputError(
                build_message(
                    "{verb}: {parameter} must be one of {names}, not {word!r}",
                    verb=verb.name,
                    parameter=parameter.name,
                    names=", ".join(parameter.choices),
                    word=word,
                )
            )
    for name, value in options:
        if name not in verb.options:
            raise InputError(
                build_message(
                    "{verb} has no option {name}=…: {usage}",
                    verb=verb.name,
                    name=name,
                    usage=format_usage(verb),
                )
            )
        _check_number(verb, name, f"{name}={value}", value, verb.options[name])
    return Input(tick, verb.name, tuple(plain_tokens), tuple((name, value) for name, value in options))


def _check_number(verb: Verb, name: str, option_text: str, value: str, bounds: tuple[float, float]) -> None:
    """Raise InputError if *value* is not a number within *bounds*."""
    try:
        number = float(value)
    except ValueError:
        raise InputError(
            build_message(
                "{verb}: {name} must be a number, not {value!r}", verb=verb.name, name=name, value=value
            )
        ) from None
    minimum, maximum = bounds
    if not minimum <= number <= maximum:  # also rejects NaN
        raise InputError(
            build_message(
                "{verb}: {option} must be between {least:g} and {most:g}",
                verb=verb.name,
                option=option_text,
                least=minimum,
                most=maximum,
            )
        )


def _check_numbers(verb: Verb, tokens: Sequence[str]) -> None:
    """Raise InputError if a number is outside the bounds of its parameter."""
    for parameter, word in zip(verb.parameters, tokens, strict=False):
        if parameter.bounds is not None:
            _check_number(verb, parameter.name, f"{parameter.name} {word}", word, parameter.bounds)


def _join_resource_words(verb: Verb, arguments: list[str]) -> list[str]:
    """Join the words of a cluster resource's name, such as SQL Server (SQLFCI1), into one argument."""
    index = next((n for n, parameter in enumerate(verb.parameters) if parameter.kind == "resource"), None)
    surplus = len(arguments) - len(verb.parameters)
    if index is None or surplus < 0:
        return arguments
    name = " ".join(arguments[index : index + surplus + 1]).strip('"')
    return [*arguments[:index], name, *arguments[index + surplus + 1 :]]


def format_usage(verb: Verb) -> str:
    """Return the syntax of a verb for messages and help, such as `degrade FROM TO [rtt_ms=…] …`."""
    parts = [verb.name]
    for parameter in verb.parameters:
        word = "|".join(parameter.choices) or parameter.name.upper()
        parts.append(f"[{word}]" if parameter.optional else word)
    parts += [f"[{name}=…]" for name in verb.options]
    return " ".join(parts)


def parse_script(text: str) -> tuple[list[Input], list[LocalizableMessage]]:
    """Parse the lines of an input file. Return the inputs and all problems, such as `line 3: …`.

    A time `+S` is relative to the preceding line.
    """
    inputs, problems = parse_script_lines(text)
    return inputs, [prefix_line_number(number, problem) for number, problem in problems]


def prefix_line_number(number: int, problem: str) -> LocalizableMessage:
    """Return the problem with its line number in front."""
    return build_message("line {n}: {problem}", n=number, problem=problem)


def parse_script_lines(text: str) -> tuple[list[Input], list[tuple[int, str]]]:
    """Parse the lines of an input file as `parse_script` does. Return problems as (line number, problem)."""
    inputs: list[Input] = []
    problems: list[tuple[int, str]] = []
    tick = 0
    for number, block in _split_blocks(text.splitlines()):
        time, _, input_text = block.strip().partition(" ")
        try:
            tick = _parse_time(time, tick)
            inputs.append(parse_input_line(input_text, tick))
        except InputError as problem:
            problems.append((number, str(problem)))
    inputs.sort(key=lambda item: item.tick)
    return inputs, problems


def _split_blocks(lines: Iterable[str]) -> list[tuple[int, str]]:
    """Return each input with its indented continuation lines. Omit comments and blank lines."""
    blocks: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines, start=1):
        if line[:1] in (" ", "\t") and blocks:
            blocks[-1][1].append(line)
        elif line.strip() and not line.lstrip().startswith("#"):
            blocks.append((number, [line]))
    return [(number, "\n".join(block).rstrip()) for number, block in blocks]


def _parse_time(token: str, previous_tick: int) -> int:
    relative = token.startswith("+")
    try:
        seconds = float(token.removeprefix("+").removesuffix("s"))
    except ValueError:
        raise InputError(
            build_message(
                "a line must begin with its time in seconds (41.25 or +3), not {word!r}", word=token
            )
        ) from None
    tick = (
        round(seconds * TICKS_PER_S) + (previous_tick if relative else 0)
        if 0.0 <= seconds <= RUN_TIME_MAX_S
        else -1
    )
    if not 0 <= tick <= RUN_TIME_MAX_S * TICKS_PER_S:
        raise InputError(
            build_message(
                "the time {word} must be between 0 and {most:,.0f} seconds", word=token, most=RUN_TIME_MAX_S
            )
        )
    return tick


# --- description of an input: the typed statement with its server, or the menu entry ----------------------

VERBS_WITH_HIDDEN_ARGUMENTS: Final = frozenset({"connect", "rewind"})
"""Verbs whose arguments people do not type, so descriptions omit them."""

NO_QUESTIONS: Final[Mapping[str, Sequence[str]]] = {}


def describe_input(input_: Input, questions: Mapping[str, Sequence[str]] = NO_QUESTIONS) -> str:
    """Describe *input_* without its time. *questions*: choices of each question."""
    verb = VERBS[input_.verb]
    arguments = dict(zip((parameter.name for parameter in verb.parameters), input_.args, strict=False))
    if "server" in arguments:
        arguments["server"] = arguments["server"].partition("#")[0]
    if verb.group == "sql" and "text" in arguments:
        text = str(parse_json(arguments["text"])) if input_.verb == "batch" else arguments["text"]
        arguments["text"] = " ".join(text.split())
    words = _describe_answer(input_, questions) or _describe_choice(verb, input_, arguments)
    return build_message("{act} (by {role})", act=words, role=input_.by) if input_.by else words


def describe_line(line: str, questions: Mapping[str, Sequence[str]] = NO_QUESTIONS) -> str:
    """Describe a line as `describe_input` does. Return text that is not an input line unchanged."""
    try:
        return describe_input(parse_input_line(line), questions)
    except ValueError:  # not an input line, or a batch that is not JSON
        return line


# --- inside -------------------------------------------------------------------------------------------------


def _describe_answer(input_: Input, questions: Mapping[str, Sequence[str]]) -> str:
    """Describe an answer to a question by its text; "" for other inputs."""
    if input_.verb != "answer":
        return ""
    choices, number = questions.get(input_.args[0], ()), input_.args[1]
    if number.isdecimal() and 0 < int(number) <= len(choices):
        return build_message("answer “{choice}”", choice=choices[int(number) - 1].rstrip("."))
    return ""


def _describe_choice(verb: Verb, input_: Input, arguments: Mapping[str, str]) -> str:
    """Describe a menu action by the template of its verb.

    If *arguments* does not contain a field of the template, use the menu text. Append the arguments
    that the description does not contain.
    """
    fields = [name for _, name, _, _ in Formatter().parse(verb.sentence) if name]
    if verb.sentence and all(name in arguments for name in fields):
        words: str = build_message(verb.sentence, **{name: arguments[name] for name in fields})
    else:
        heads = 2 if verb.applies_to_link else 1
        fields = list(arguments)[:heads]
        title = join_messages(" – ", (arguments[name] for name in fields))
        label = build_message(verb.label or verb.help)
        words = build_message("{title} ▸ {entry}", title=title, entry=label) if title else label
    other_values = [value for name, value in arguments.items() if name not in fields]
    other_values += [f"{name}={value}" for name, value in input_.options]
    if input_.verb in VERBS_WITH_HIDDEN_ARGUMENTS or not other_values:
        return words
    return build_message("{act} ({details})", act=words, details=join_messages(", ", other_values))


# --- execution of input lines, and the fault ledger: request, effect and end of each fault ----------------

REVERTED_FAULTS: Final[dict[str, frozenset[str]]] = {
    verb.name: frozenset(
        [
            *verb.undoes,
            *(
                other_verb.name
                for other_verb in VERBS.values()
                if other_verb.reverse.split(" ")[0] == verb.name
            ),
        ]
    )
    for verb in VERBS.values()
}
"""Verb -> faults that it reverts."""


def execute_input(world: World, input_: Input) -> None:
    """Execute an input with resolved names. Raises InputError before anything changes."""
    verb = VERBS[input_.verb]
    if verb.do is None:
        revert_all_faults(world)
    elif verb.is_in_ledger:
        _execute_and_record(world, input_, verb, verb.do)
    else:
        verb.do(world, input_)


def _execute_and_record(world: World, input_: Input, verb: Verb, do: VerbFunction) -> None:
    """Execute a fault or repair with *do* and record it in the fault ledger.

    If the action would have no effect, only emit an event.
    """
    known_servers = (world.instances, world.computers)
    server = (
        input_.args[0] if input_.args and any(input_.args[0] in names for names in known_servers) else None
    )
    pointless = verb.pointless(world, input_)
    if pointless:
        text = build_message("{input}: {why}", input=input_.command_text, why=pointless)
        world.emit(FaultData(verb=verb.name, args=list(input_.args), no_effect=True), text, server=server)
        return
    position, computer = len(world.outbox), _find_target_computer(world, input_, verb)
    before = do(world, input_)
    own_object = None
    if verb.group != "repair" and not verb.is_own_reverse(input_):
        own_object = world.next_id()
        options = tuple(f"{name}={value}" for name, value in input_.options)
        if computer not in (None, input_.args[0]):
            before = (*(before or ()), (COMPUTER_KEY, computer))
        world.faults.append(
            Fault(
                id=own_object,
                verb=verb.name,
                args=input_.args + options,
                asked_tick=input_.tick,
                active_tick=world.tick,
                before=before or (),
            )
        )
    _close_faults(world, input_, verb, own_object)
    world.emit(FaultData(verb=verb.name, args=list(input_.args)), input_.command_text, server=server)
    world.outbox.insert(position, world.outbox.pop())  # the action must precede its effects


def _close_faults(world: World, input_: Input, verb: Verb, own_fault_id: int | None) -> None:
    """Mark as reverted all faults that *input_* reverts.

    *own_fault_id*: fault that *input_* itself has added and that stays active; None if it has added
    none.
    """
    computer = _find_target_computer(world, input_, verb)
    for index, fault in enumerate(world.faults):
        if (
            fault.reverted_tick is not None
            or fault.verb not in REVERTED_FAULTS[verb.name]
            or fault.id == own_fault_id
        ):
            continue
        argument_text = get_requested_arguments(fault)
        if computer is not None:
            is_same = (_find_affected_computer(world, fault), *argument_text[1:]) == (
                computer,
                *input_.args[1:],
            )
        else:
            is_same = argument_text == input_.args or (
                verb.applies_to_link and set(argument_text) == set(input_.args)
            )
        if is_same:
            world.faults[index] = replace(fault, reverted_tick=world.tick)


COMPUTER_KEY: Final = "computer"
"""Key in `Fault.before` for the computer on which the target instance ran."""


def _find_target_computer(world: World, input_: Input, verb: Verb) -> str | None:
    """Return the name of the computer that *input_* targets; None if it has another kind of target."""
    return world.get_computer(input_.args[0]).name if verb.applies_to_computer else None


def _find_affected_computer(world: World, fault: Fault) -> str:
    """Return the name of the computer that *fault* affected.

    The argument of the fault may also be an instance on this computer.
    """
    return str(dict(fault.before).get(COMPUTER_KEY) or world.get_computer(fault.args[0]).name)


def get_requested_arguments(fault: Fault) -> Args:
    """Return the arguments of the input that requested the fault, without options."""
    return tuple(arg for arg in fault.args if "=" not in arg)


def is_requested(fault: Fault, journal: Iterable[Input]) -> bool:
    """Return whether an input in *journal* requested *fault*."""
    fault_key = (fault.asked_tick, fault.verb, get_requested_arguments(fault))
    return any((item.tick, item.verb, item.args) == fault_key for item in journal)


def find_reverse_input(fault: Fault, tick: Tick = 0) -> Input | None:
    """Return the input that reverts *fault*; None if the fault ends automatically or needs other repairs."""
    # T-SQL SHUTDOWN is no verb of input lines, but also stops the service
    reverse = VERBS[fault.verb].reverse if fault.verb in VERBS else "start-service"
    if not reverse:
        return None
    name, *options = reverse.split(" ")
    pairs = (option.partition("=") for option in options)
    args, computer = get_requested_arguments(fault), dict(fault.before).get(COMPUTER_KEY)
    if computer is not None:
        args = (str(computer), *args[1:])
    return Input(tick, name, args, tuple((key, value) for key, _, value in pairs))


def revert_all_faults(world: World) -> None:
    """Revert every active fault, newest first. If one cannot be reverted, nothing changes."""
    _revert_each(world.fork())
    _revert_each(world)


def _revert_each(world: World) -> None:
    for fault in reversed(world.faults):
        current = next(f for f in world.faults if f.id == fault.id)
        reverse = find_reverse_input(fault, world.tick)
        if current.reverted_tick is None and reverse is not None:
            execute_input(world, reverse)


def record_effects(world: World) -> None:
    """Record in the fault ledger when active faults take effect.

    Also record the end of faults that end together with their effect (`Verb.ends_with_effect`).
    """
    for index, fault in enumerate(world.faults):
        if fault.reverted_tick is not None:
            continue
        if fault.effective_tick is None:
            effect = describe_effect(world, fault)
            if effect:
                world.faults[index] = replace(fault, effective_tick=world.tick, effect=effect)
        elif fault.verb in VERBS and VERBS[fault.verb].ends_with_effect and not describe_effect(world, fault):
            world.faults[index] = replace(fault, reverted_tick=world.tick)


def describe_effect(world: World, fault: Fault) -> str:
    """Return the evidence that the fault has taken effect; "" if there is none yet."""
    verb = VERBS.get(fault.verb)
    if verb is None or verb.effect is None:
        return describe_loss(world, fault, link=verb is not None and verb.loses == "link")
    return verb.effect(world, fault)
