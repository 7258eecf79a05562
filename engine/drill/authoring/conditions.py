"""Language of conditions for goals and forbidden states: tests and comparisons with `and`, `or` and `not`.

Example: `Sales is SYNCHRONIZED and downtime_s(Sales) <= 30 and not ran "SET WITNESS OFF" on SERVER_A`
"""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Callable, Iterable
from functools import cache, reduce
from importlib import resources
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context, quantities
from engine.drill.authoring.condition_context import ConditionContext, ConditionNames, ObjectKind
from engine.flow import Threshold
from engine.flow.kernel import SOURCE_COUNTERS
from engine.localization import LocalizableMessage, build_message, join_messages, mark
from engine.model import Tick

if (
    TYPE_CHECKING
):  # lark is imported when the first condition is parsed, because the program start does not need it
    from lark import Lark, Token, Tree

CONDITION_LENGTH_MAX: Final = 600
"""Maximum characters of a condition. This also limits the nesting depth and the cost of an evaluation."""

ConditionPredicate = Callable[[ConditionContext], bool]
"""Function that returns whether a condition, or a part of it, is met in a ConditionContext."""
UNREACHED_TICK: Final = 2**40
"""Tick that is later than the end of any run."""


class ConditionResult(NamedTuple):
    """Result of a condition, and the time until which it stays valid if no event occurs."""

    holds: bool
    valid_until_tick: Tick = UNREACHED_TICK
    """First whole second, as a tick, at which the result may change without an event."""
    thresholds: tuple[Threshold, ...] = ()
    """Thresholds of flow counters. When a counter crosses one, the result may change before
    *valid_until_tick*.
    """


ConditionEvaluator = Callable[[ConditionContext], ConditionResult]
"""Function that evaluates a condition and returns a ConditionResult."""


class ConditionError(ValueError):
    """Error in the text of a condition. *column* is the position of the error, from 1."""

    def __init__(self, column: int, text: str, expected: str) -> None:
        super().__init__(
            build_message("column {n}: {problem}; expected {said}", n=column, problem=text, said=expected)
        )
        self.column = column
        self.text = text
        self.expected = expected


class Condition(Struct, frozen=True):
    """Parsed condition. All names and types are checked."""

    text: str
    test: ConditionPredicate
    evaluate: ConditionEvaluator | None
    """Function that returns the result and how long it stays valid.

    None means that only events can change the result.
    """
    operand_tests: tuple[ConditionPredicate, ...]
    """Tests of the operands if the whole condition is an `and`; otherwise only the test of the condition."""

    def is_met(self, context: ConditionContext) -> bool:
        """Return whether the condition is met in *context*."""
        return self.test(context)


def parse(text: str, names: ConditionNames) -> Condition:
    """Parse the condition *text*. Raises ConditionError with the column of the first error."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

    if len(text) > CONDITION_LENGTH_MAX:
        raise ConditionError(
            CONDITION_LENGTH_MAX,
            build_message("the condition is too long"),
            build_message("at most {n} characters", n=CONDITION_LENGTH_MAX),
        )
    try:
        tree = _load_grammar().parse(text)
    except UnexpectedEOF:
        raise ConditionError(
            len(text) + 1, build_message("the condition is incomplete"), build_message("more text")
        ) from None
    except UnexpectedToken as error:
        at_end = error.token.type == "$END"
        problem = build_message("{word!r} is not valid here", word=str(error.token))
        if at_end:
            problem = build_message("the condition is incomplete")
        column = len(text) + 1 if at_end else (error.token.start_pos or 0) + 1
        raise ConditionError(column, problem, _format_expected(error.accepts or error.expected)) from None
    except UnexpectedCharacters as error:
        position = error.pos_in_stream or 0
        problem = build_message("{word!r} is not valid here", word=text[position])
        raise ConditionError(position + 1, problem, _format_expected(error.allowed or ())) from None
    reader = _ConditionTranslator(names)
    root = reader.build_part(tree)
    parts = [reader.build_part(part) for part in _list_subtrees(tree)] if tree.data == "all" else [root]
    return Condition(text, root.test, root.evaluate, tuple([part.test for part in parts]))


STATUS_RULES: Final = frozenset({"state_test", "server_test", "serves", "part_test"})
"""Grammar rules that the condition in a status report may use: tests without comparisons."""


def parse_status(text: str, names: ConditionNames) -> Condition:
    """Parse the condition of a status report: tests without comparisons, joined by `and`.

    Raises ConditionError.
    """
    condition = parse(text, names)
    tree = _load_grammar().parse(text)
    for part in _list_subtrees(tree) if tree.data == "all" else [tree]:
        if part.data not in STATUS_RULES or any(
            getattr(child, "type", "") == "NOT"
            for child in part.children  # tokens are strings, all other parts are trees
        ):
            raise ConditionError(
                1,
                build_message("only one simple fact is allowed here"),
                build_message("a fact such as `Sales serves on SERVER_B`"),
            )
    return condition


@cache
def _load_grammar() -> Lark:
    from lark import Lark

    source = resources.files("engine.drill.authoring").joinpath("conditions.lark").read_text(encoding="utf-8")
    return Lark(source, parser="lalr", propagate_positions=True, maybe_placeholders=True)


_TERMINAL_TEXTS: Final = {
    "WORD": build_message("a name"),
    "BRACKETED": build_message("a name"),
    "INT": build_message("a whole number"),
    "NUMBER": build_message("a number"),
    "STRING": build_message("a text in quotes"),
    "COMPARE": "< <= == != >= >",
    "LPAR": "(",
    "RPAR": ")",
    "SQL": "ran, tried",
    "PROPERTY": "witness, safety",
    "$END": build_message("the end of the condition"),
}
"""Terminal of the grammar -> text that names it in an error message."""


def _format_expected(expected: Iterable[str]) -> LocalizableMessage:
    """Format the expected terminals of the grammar as text."""
    names = {_TERMINAL_TEXTS.get(name, name.lower()) for name in expected}
    return (
        join_messages(", ", sorted(names))
        if names
        else build_message("a fact such as `Sales is SYNCHRONIZED`")
    )


OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
SWAPPED_OPERATORS: Final = {"<": ">", "<=": ">=", "==": "==", "!=": "!=", ">=": "<=", ">": "<"}
"""Comparison sign -> equivalent sign after the operands are swapped."""


UNKNOWN_NAME_TEXTS: Final[dict[tuple[ObjectKind, ...], str]] = {
    ("database",): mark("there is no database {name!r}"),
    ("server",): mark("there is no server {name!r}"),
    ("client",): mark("there is no client {name!r}"),
    ("program",): mark("there is no program {name!r}"),
    ("role",): mark("there is no role {name!r}"),
    ("database", "client"): mark("there is no database or client {name!r}"),
    ("database", "server", "client"): mark("there is no database or server or client {name!r}"),
}
"""Kinds of object that a name may denote -> problem text if there is no such object."""


def build_temporary_result(context: ConditionContext, holds: bool, seconds: int = 1) -> ConditionResult:
    """Return the result *holds*, which is valid for *seconds* unless an event occurs."""
    return ConditionResult(holds, (context.world.tick // TICKS_PER_S + seconds) * TICKS_PER_S)


def build_polling_evaluator(test: ConditionPredicate) -> ConditionEvaluator:
    """Build an evaluator of *test* whose results are valid for one second."""
    return lambda facts: build_temporary_result(facts, test(facts))


def build_cluster_evaluator(test: ConditionPredicate) -> ConditionEvaluator:
    """Build an evaluator of *test* whose results are valid for one second in a world with a cluster.

    A cluster forgets failures and restarts after some time without an event. Without a cluster, only events
    can change the result.
    """
    return lambda facts: (
        build_temporary_result(facts, test(facts)) if facts.world.clusters else ConditionResult(test(facts))
    )


class _Operand(Struct, frozen=True):
    """Operand of a comparison: a quantity, or a number in the text."""

    quantity: quantities.Quantity
    name: str

    def read(self, context: ConditionContext) -> float:
        return self.quantity.read(context, self.name)


class _TranslatedCondition(Struct, frozen=True):
    """Part of a condition, translated to functions."""

    test: ConditionPredicate
    evaluate: ConditionEvaluator | None = None
    """Function that returns the result and how long it stays valid.

    None means that only events can change the result.
    """


class _ConditionTranslator:
    """Translator of parse trees into functions. It checks all names and keywords.

    Each method has the name of the grammar rule that it translates.
    """

    def __init__(self, names: ConditionNames) -> None:
        self.names = names

    def build_part(self, tree: Tree[Token]) -> _TranslatedCondition:
        parsed_part: ConditionPredicate | _TranslatedCondition = getattr(self, f"_{tree.data}")(tree)
        return (
            parsed_part
            if isinstance(parsed_part, _TranslatedCondition)
            else _TranslatedCondition(parsed_part)
        )

    # -- conjunctions and disjunctions

    def _any(self, tree: Tree[Token]) -> _TranslatedCondition:
        return _join_parts(
            _join_or, [self.build_part(child) for child in _list_subtrees(tree)], deciding_result=True
        )

    def _all(self, tree: Tree[Token]) -> _TranslatedCondition:
        return _join_parts(
            _join_and, [self.build_part(child) for child in _list_subtrees(tree)], deciding_result=False
        )

    def _negation(self, tree: Tree[Token]) -> _TranslatedCondition:
        test, evaluate = (part := self.build_part(_list_subtrees(tree)[0])).test, part.evaluate
        if evaluate is None:
            return _TranslatedCondition(lambda facts: not test(facts))

        def evaluate_negated(context: ConditionContext) -> ConditionResult:
            result = evaluate(context)
            return result._replace(holds=not result.holds)

        return _TranslatedCondition(lambda facts: not test(facts), evaluate_negated)

    # -- facts

    def _state_test(self, tree: Tree[Token]) -> ConditionPredicate | _TranslatedCondition:
        subject, negated, word = tree.children
        kind, name = self._any_name(subject)
        if kind == "database":
            state = _match_keyword(word, condition_context.DATABASE_STATE_WORDS)
            test = _negate_if_requested(
                negated, lambda facts: condition_context.is_database_in_state(facts, name, state)
            )
            return _TranslatedCondition(
                test, build_cluster_evaluator(test) if state == condition_context.ARMED_STATE else None
            )
        if kind == "client":
            _match_keyword(word, condition_context.CLIENT_STATE_WORDS)
            return _negate_if_requested(
                negated, lambda facts: condition_context.is_client_connected(facts, name, None)
            )
        check = condition_context.SERVER_STATE_TESTS[
            _match_keyword(word, condition_context.SERVER_STATE_TESTS)
        ]
        return _negate_if_requested(negated, lambda facts: check(facts.world, name))

    def _server_test(self, tree: Tree[Token]) -> ConditionPredicate:
        subject, location, negated, word = tree.children
        kind, name = self._any_name(subject)
        server = self._name(location, "server")
        if kind == "server":
            check = condition_context.SERVER_STATE_TESTS[
                _match_keyword(word, condition_context.SERVER_STATE_TESTS)
            ]
            return _negate_if_requested(
                negated,
                lambda facts: (
                    condition_context.is_instance_on_node(facts.world, name, server)
                    and check(facts.world, name)
                ),
            )
        if kind == "client":
            _match_keyword(word, condition_context.CLIENT_STATE_WORDS)
            return _negate_if_requested(
                negated, lambda facts: condition_context.is_client_connected(facts, name, server)
            )
        state = _match_keyword(word, condition_context.COPY_STATE_WORDS)
        return _negate_if_requested(
            negated, lambda facts: condition_context.is_copy_in_state(facts, name, server, state)
        )

    def _serves(self, tree: Tree[Token]) -> ConditionPredicate:
        subject, location = tree.children
        database = self._name(subject, "database")
        server = self._name(location, "server") if location is not None else None
        return lambda facts: condition_context.is_database_served(facts, database, server)

    def _part_test(self, tree: Tree[Token]) -> ConditionPredicate:
        part_name, subject, negated, word = tree.children
        database = self._name(subject, "database")
        if str(part_name).lower() == "witness":
            state = _match_keyword(word, condition_context.WITNESS_STATE_WORDS)
            return _negate_if_requested(
                negated, lambda facts: condition_context.is_witness_in_state(facts, database, state)
            )
        level = _match_keyword(word, condition_context.SAFETY_LEVEL_WORDS)
        return _negate_if_requested(
            negated, lambda facts: condition_context.is_safety_level(facts, database, level)
        )

    def _statement_test(self, tree: Tree[Token]) -> ConditionPredicate:
        result_word, text, location = tree.children
        statement = str(text)[1:-1]
        if not statement.strip():
            raise ConditionError(
                _find_column(text),
                build_message("the text is empty"),
                build_message("part of a T-SQL statement, in quotes"),
            )
        server = self._name(location, "server") if location is not None else None
        ran = str(result_word).lower() == "ran"
        return lambda facts: condition_context.has_sent_batch(facts, statement, server, without_error=ran)

    def _error(self, tree: Tree[Token]) -> ConditionPredicate:
        number, location = tree.children
        server = self._name(location, "server") if location is not None else None
        error_number = int(str(number))
        return lambda facts: condition_context.has_error(facts, error_number, server)

    # -- numbers

    def _compare(self, tree: Tree[Token]) -> _TranslatedCondition:
        left, operator, right = tree.children
        a, b, compare = self._number(left), self._number(right), OPERATORS[str(operator)]

        def test(context: ConditionContext) -> bool:
            return compare(a.read(context), b.read(context))

        if b.quantity.change_cause == "by events":
            return _TranslatedCondition(test, _build_comparison(a, str(operator), b, test))
        return _TranslatedCondition(test, _build_comparison(b, SWAPPED_OPERATORS[str(operator)], a, test))

    def _number(self, tree: Tree[Token] | Token) -> _Operand:
        assert not isinstance(tree, str)
        if tree.data == "literal":
            value = float(str(tree.children[0]))
            return _Operand(quantities.Quantity(None, "", lambda facts, name: value), "")
        word, argument = tree.children
        quantity = quantities.QUANTITIES[_match_keyword(word, quantities.QUANTITIES, fold=str.lower)]
        if quantity.object_kind is None:
            if argument is not None:
                raise ConditionError(
                    _find_column(argument),
                    build_message("{word} must not be followed by a name", word=str(word)),
                    f"{word}()",
                )
            return _Operand(quantity, "")
        if argument is None:
            raise ConditionError(
                _find_column(word),
                build_message("{word} must be followed by a name", word=str(word)),
                f"{word}({quantity.object_kind})",
            )
        return _Operand(quantity, self._name(argument, quantity.object_kind))

    # -- names

    def _name(self, node: Tree[Token] | Token, kind: ObjectKind) -> str:
        return self._any_name(node, (kind,))[1]

    def _any_name(
        self, node: Tree[Token] | Token, kinds: tuple[ObjectKind, ...] = ("database", "server", "client")
    ) -> tuple[ObjectKind, str]:
        """Return (kind, name) of the object that *node* names, with the name as the scenario spells it.

        *kinds*: allowed kinds of object. Raises ConditionError if no such object exists.
        """
        assert not isinstance(node, str)
        token = node.children[0]
        word = str(token).strip("[]")
        for kind in kinds:
            for known_name in self.names.list_names(kind):
                if known_name.lower() == word.lower():
                    return kind, known_name
        names = [name for kind in kinds for name in self.names.list_names(kind)]
        raise ConditionError(
            _find_column(token),
            build_message(UNKNOWN_NAME_TEXTS[kinds], name=word),
            _suggest_choice(word, names),
        )


def _list_subtrees(tree: Tree[Token]) -> list[Tree[Token]]:
    # lark's Token is a subclass of str
    return [child for child in tree.children if not isinstance(child, str)]


def _join_parts(
    join: Callable[[ConditionPredicate, ConditionPredicate], ConditionPredicate],
    parts: list[_TranslatedCondition],
    deciding_result: bool,
) -> _TranslatedCondition:
    """Join the *parts* of an `and` or `or` condition into one.

    *join*: function that joins two tests. *deciding_result*: result of one part that decides the whole
    condition: False for `and`, True for `or`.
    """
    test = reduce(join, [part.test for part in parts])
    static_tests = [part.test for part in parts if part.evaluate is None]
    timed_queries = [part.evaluate for part in parts if part.evaluate is not None]
    if not timed_queries:
        return _TranslatedCondition(test)

    def evaluate(context: ConditionContext) -> ConditionResult:
        if any(part(context) == deciding_result for part in static_tests):
            return ConditionResult(deciding_result)
        answers = [part(context) for part in timed_queries]
        deciding = [result for result in answers if result.holds == deciding_result]
        if deciding:  # one deciding part is enough, so the one that stays valid longest counts
            return max(deciding, key=lambda answer: (answer.valid_until_tick, -len(answer.thresholds)))
        until_tick = min(result.valid_until_tick for result in answers)
        return ConditionResult(
            not deciding_result, until_tick, tuple(level for answer in answers for level in answer.thresholds)
        )

    return _TranslatedCondition(test, evaluate)


def _build_comparison(
    number: _Operand, operator: str, operand: _Operand, test: ConditionPredicate
) -> ConditionEvaluator | None:
    """Build the evaluator of `number operator operand`; None if only events can change the result.

    *test*: function that evaluates the comparison. The evaluator also returns how long the result stays
    valid.
    """
    quantity, name = number.quantity, number.name
    if operand.quantity.change_cause != "by events" or (
        quantity.change_cause == "by itself" and not quantity.counter
    ):
        return build_polling_evaluator(test)
    if quantity.change_cause == "by events":
        return None

    def evaluate_until_reached(context: ConditionContext) -> ConditionResult:
        left_s = operand.read(context) - number.read(context)
        if left_s < 0.0 or left_s == math.inf:
            return ConditionResult(test(context))
        return build_temporary_result(context, test(context), max(1, int(left_s)))

    def evaluate_until_passed(context: ConditionContext) -> ConditionResult:
        holds, log_place = (
            test(context),
            context.find_log_numbers(name)[quantity.counter not in SOURCE_COUNTERS],
        )
        if log_place < 0:
            return ConditionResult(holds)
        whole_value, level = quantity.full_value(context, name), operand.read(context)
        return ConditionResult(
            holds, thresholds=(Threshold(log_place, quantity.counter, whole_value, operator, level, holds),)
        )

    return evaluate_until_reached if quantity.change_cause == "by the clock" else evaluate_until_passed


def _join_or(left_test: ConditionPredicate, right_test: ConditionPredicate) -> ConditionPredicate:
    return lambda facts: left_test(facts) or right_test(facts)


def _join_and(left_test: ConditionPredicate, right_test: ConditionPredicate) -> ConditionPredicate:
    return lambda facts: left_test(facts) and right_test(facts)


def _negate_if_requested(negated: object, test: ConditionPredicate) -> ConditionPredicate:
    return test if negated is None else lambda facts: not test(facts)


def _match_keyword(
    token: Tree[Token] | Token, keywords: Iterable[str], fold: Callable[[str], str] = str.upper
) -> str:
    word = fold(str(token))
    if word not in keywords:
        raise ConditionError(
            _find_column(token),
            build_message("unknown word {word!r}", word=str(token)),
            _suggest_choice(word, list(keywords)),
        )
    return word


def _suggest_choice(typed_name: str, candidates: list[str]) -> str:
    matches = difflib.get_close_matches(typed_name.lower(), {name.lower(): name for name in candidates}, 1)
    if matches:
        return next(name for name in candidates if name.lower() == matches[0])
    return (
        build_message("one of {names}", names=", ".join(candidates))
        if candidates
        else build_message("no name: the scenario defines nothing of this kind")
    )


def _find_column(node: Tree[Token] | Token) -> int:
    if isinstance(node, str):
        return (node.start_pos or 0) + 1
    return int(node.meta.start_pos) + 1 if not node.meta.empty else 1
