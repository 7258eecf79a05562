"""Rewriting of T-SQL that sqlglot cannot read; some parts are removed and processed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.tsql.language.lexer import BatchTooLongError, SqlSyntaxError, Token, tokens_of
from engine.tsql.language.reader import STATEMENT_TOKENS_MAX
from engine.tsql.query import forms, syntax_normalization
from engine.tsql.query.plans import UnsimulatedFeatureError


def preprocess_text(text: str, depth: int = 0) -> str:
    """Return the text as sqlglot can read it: `@a += b` as `@a = @a + (b)`, `#order` as `[#order]`, `::fn` as `fn`.

    Raises SqlSyntaxError 191 or 8623.
    """
    tokens = tokens_of(text)
    if len(tokens) > STATEMENT_TOKENS_MAX + 5:
        raise BatchTooLongError(1, f"statements of more than {STATEMENT_TOKENS_MAX} words and signs")
    if depth > COMPOUNDS_MAX:
        raise SqlSyntaxError(1, 191)
    out, copied = "", 0
    replaced = {
        **dict.fromkeys(_find_skipped_tokens(tokens), ""),
        **syntax_normalization.normalize_calls(tokens),
    }
    if not depth:
        forms.check_tokens(tokens, replaced)
    for place, token in enumerate(tokens):
        if place in replaced:
            out += text[copied : token.start] + replaced[place]
            copied = token.end
            continue
        if token.upper == "REAL" and tokens[place + 1].is_op(")", ","):  # sqlglot treats it as float
            out += text[copied : token.start] + "float(24)"
            copied = token.end
        if token.is_op("$") and tokens[place + 1].kind == "number" and token.end == tokens[place + 1].start:
            out += text[copied : token.start] + f"CAST({tokens[place + 1].text} AS money)"
            copied = tokens[place + 1].end
        if token.kind == "word" and token.text.startswith("#"):
            out += text[copied : token.start] + f"[{token.text}]"
            copied = token.end
        if token.kind == "number" and token.text.lower() == "0x":
            out += text[copied : token.start] + "CAST('' AS varbinary(1))"
            copied = token.end
        if token.is_op("!<", "!>"):
            out += text[copied : token.start] + (">=" if token.text == "!<" else "<=")
            copied = token.end
        if token.is_op("::") and place and tokens[place - 1].upper in ("FROM", "JOIN", "APPLY"):
            out += text[copied : token.start]
            copied = token.end
        if not token.is_op(*_COMPOUND) or not place or token.start < copied:
            continue
        left = tokens[place - 1].text
        end = _end_of_value(tokens, place + 1)
        value = preprocess_text(text[token.end : tokens[end - 1].end], depth + 1)
        out += text[copied : token.start] + f"= {left} {token.text[:-1]} ({value})"
        copied = tokens[end - 1].end
    return out + text[copied:]


def _top(tokens: Sequence[Token]) -> tuple[int, int]:
    """Return numbers of the first token of TOP (n) behind INSERT, UPDATE or DELETE and of the one behind it.

    0 if none.
    """
    place = syntax_normalization.verb_place(tokens) + 1
    if tokens[place - 1].upper not in ("INSERT", "UPDATE", "DELETE") or tokens[place].upper != "TOP":
        return 0, 0
    return place, syntax_normalization.find_end_of_brackets(tokens, place + 1) if tokens[place + 1].is_op(
        "("
    ) else place + 2


def _find_skipped_tokens(tokens: Sequence[Token]) -> frozenset[int]:
    """Return indexes of tokens that sqlglot cannot read and others handle: TOP of a change, hints of INSERT."""
    first, behind = _top(tokens)
    found = set(range(first, behind))
    verb = syntax_normalization.verb_place(tokens)
    if tokens[verb].upper == "INSERT":
        place = max(verb + 1, behind)
        while tokens[place].kind in ("word", "quoted", "variable") or tokens[place].is_op("."):
            if tokens[place].upper == "WITH" and tokens[place + 1].is_op("("):
                found |= set(range(place, syntax_normalization.find_end_of_brackets(tokens, place + 1)))
                break
            place += 1
    return frozenset(found)


def top_number(text: str) -> str:
    """Return the number in UPDATE TOP (number); empty without TOP."""
    tokens = tokens_of(text)
    first, behind = _top(tokens)
    number = "".join(token.text for token in tokens[first + 1 : behind]).strip("()")
    if behind and (not number.isdigit() or tokens[behind].upper == "PERCENT"):
        raise UnsimulatedFeatureError("TOP of a change other than TOP (number)")
    return number


COMPOUNDS_MAX: Final = 3
"""Maximum nesting of `@a += @b += …`. Assumed."""


_COMPOUND: Final = ("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=")


def _end_of_value(tokens: tuple[Token, ...], index: int) -> int:
    level = 0
    while tokens[index].kind != "end":
        token = tokens[index]
        level += token.is_op("(") - token.is_op(")")
        if level < 0 or (
            level == 0 and (token.is_op(",", ";") or token.upper in ("FROM", "WHERE", "OPTION"))
        ):
            break
        index += 1
    return index
