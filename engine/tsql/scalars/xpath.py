"""XQuery paths that scripts commonly use: steps, attributes, positions, conditions.

[DOC: path expressions]

Names are compared without their prefixes, so namespaces do not matter. Other paths are reported as not
simulated.
"""

from __future__ import annotations

import html
import json
import operator
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final
from xml.etree import ElementTree

from msgspec import Struct

from engine.tsql.scalars.values import Scalar, to_text

NODE_PREFIX: Final = "\ufdd0"
"""Prefix of the text of a node that nodes() has returned. Paths on such a text begin at the node's element."""

VARIABLE_REFERENCE: Final = re.compile(r"sql:variable\(\s*\"(@\w+)\"\s*\)")
"""Pattern of a reference to a T-SQL variable in a path."""

_TOKEN: Final = re.compile(
    r"\s*(//|/|\.\.|\.|@\*|@[\w.:-]+|\*:[\w.-]+|\*|text\(\)|[A-Za-z_][\w.-]*(?::[\w.-]+)?|\d+(?:\.\d+)?"
    r"|\"[^\"]*\"|'[^']*'|!=|<=|>=|[()\[\]=<>,])"
)
_PROLOGUE: Final = re.compile(
    r"\s*declare\s+(?:default\s+element\s+)?namespace\s+(?:[\w.-]+\s*=\s*)?(?:\"[^\"]*\"|'[^']*')\s*;",
    re.IGNORECASE,
)
_COMPARISONS: Final[dict[str, Callable[[str | float, str | float], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_PATH_FUNCTIONS: Final = frozenset({"count", "data", "string", "local-name"})

XmlItem = ElementTree.Element | str
"""Element, or text of an attribute or of text()."""


class UnsimulatedPathError(ValueError):
    """Error for a path that is not simulated."""


class PathStep(Struct, frozen=True):
    """Step of a path: `name`, `*`, `@name`, `@*`, `.`, `text()` or a path in parentheses (*nested_path*).

    *searches_descendants*: the step follows `//`.
    """

    name: str
    searches_descendants: bool = False
    nested_path: XmlPath | None = None
    conditions: tuple[int | PathCondition, ...] = ()


class XmlPath(Struct, frozen=True):
    """Compiled path of an XML method."""

    steps: tuple[PathStep, ...]
    call: str = ""
    """Function that is applied to the result of the path, such as `count`; empty without a function."""


class PathCondition(Struct, frozen=True):
    """Condition in square brackets: *path* exists or, with an operator *sign*, `path sign value` is true.

    All conditions in *others* must be true too.
    """

    path: XmlPath
    sign: str = ""
    value: str | float = ""
    others: tuple[PathCondition, ...] = ()


class _PathReader:
    """Parser of the tokens of one path."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"\(:.*?:\)", " ", text, flags=re.DOTALL)
        while (prologue := _PROLOGUE.match(text)) is not None:
            text = text[prologue.end() :]
        self.tokens: list[str] = []
        index, text = 0, text.strip()
        while index < len(text):
            match = _TOKEN.match(text, index)
            if match is None:
                raise UnsimulatedPathError(text)
            self.tokens.append(match[1])
            index = match.end()
        self.text, self.place = text, 0

    @property
    def token(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take_token(self, *token_text: str) -> str:
        token = self.token
        if not token or (token_text and token not in token_text):
            raise UnsimulatedPathError(self.text)
        self.place += 1
        return token

    def read_complete_path(self) -> XmlPath:
        path = self.parse_path()
        if self.token:
            raise UnsimulatedPathError(self.text)
        return path

    def parse_path(self) -> XmlPath:
        name = self.token.partition(":")[2] or self.token
        if name in _PATH_FUNCTIONS and self.tokens[self.place + 1 : self.place + 2] == ["("]:
            self.place += 2
            inner_path = self.parse_path() if self.token != ")" else XmlPath((PathStep("."),))
            self.take_token(")")
            return XmlPath(inner_path.steps, name)
        steps: list[PathStep] = []
        deep = self.token == "//"
        if self.token in ("/", "//"):
            self.place += 1
            steps.append(PathStep("/"))
        while True:
            steps.append(self.parse_step(deep))
            if self.token not in ("/", "//"):
                return XmlPath(tuple(steps))
            deep = self.take_token() == "//"

    def parse_step(self, deep: bool) -> PathStep:
        inner_condition = None
        if self.token == "(":
            self.place += 1
            inner_condition = self.parse_path()
            self.take_token(")")
            name = "("
        else:
            name = self.take_token()
            if name == ".." or not re.fullmatch(r"\.|@?\*|text\(\)|@?[A-Za-z_*][\w.:*-]*", name):
                raise UnsimulatedPathError(self.text)
            mark, name = ("@", name[1:]) if name.startswith("@") else ("", name)
            name = mark + (name.rpartition(":")[2] if name != "text()" else name)
        conditions: list[int | PathCondition] = []
        while self.token == "[":
            self.place += 1
            conditions.append(int(self.take_token()) if self.token.isdigit() else self.parse_condition())
            self.take_token("]")
        return PathStep(name, deep, inner_condition, tuple(conditions))

    def parse_condition(self) -> PathCondition:
        path, operator, value = self.parse_path(), "", ""
        typed_value: str | float = value
        if self.token in _COMPARISONS:
            operator, value = self.take_token(), self.take_token()
            if value[0] not in "\"'" and not value[0].isdigit():
                raise UnsimulatedPathError(self.text)
            typed_value = value[1:-1] if value[0] in "\"'" else float(value)
        other_conditions: tuple[PathCondition, ...] = ()
        if self.token == "and":
            self.place += 1
            other_conditions = (self.parse_condition(),)
        return PathCondition(path, operator, typed_value, other_conditions)


@lru_cache(maxsize=256)
def compile_path(text: str) -> XmlPath:
    """Compile a path. Raises UnsimulatedPathError."""
    return _PathReader(text).read_complete_path()


# --- evaluation ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _parse_fragment(text: str) -> ElementTree.Element:
    """Parse XML. Return an element whose children are its top-level nodes."""
    body = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    return (
        ElementTree.fromstring(f"<top>{body}</top>")
        if "<!DOCTYPE" not in body
        else ElementTree.Element("top")
    )


def _get_local_name(tag: object) -> str:
    return str(tag).rpartition("}")[2]


def _iterate_step(item: XmlItem, step: PathStep, top: ElementTree.Element) -> Iterator[XmlItem]:
    if step.name == "/":
        yield top
    elif step.nested_path is not None:
        yield from _select_items(item, step.nested_path, top)
    elif isinstance(item, str):
        yield from [item] if step.name == "." else []
    else:
        for element in item.iter() if step.searches_descendants else [item]:
            yield from _select_by_name(element, step.name, step.searches_descendants)


def _select_by_name(element: ElementTree.Element, name: str, deep: bool) -> Iterator[XmlItem]:
    if name == ".":
        yield element
    elif name == "text()":
        yield from (text for text in (element.text, *(child.tail for child in element)) if text)
    elif name.startswith("@"):
        yield from (value for key, value in element.items() if name in ("@*", "@" + _get_local_name(key)))
    else:
        yield from (child for child in element if name in ("*", _get_local_name(child.tag)))


def _select_items(item: XmlItem, path: XmlPath, top: ElementTree.Element) -> list[XmlItem]:
    current_items: list[XmlItem] = [item]
    for step in path.steps:
        next_items: list[XmlItem] = []
        for current_item in current_items:
            step_items = list(_iterate_step(current_item, step, top))
            for condition in step.conditions:
                if isinstance(condition, int):
                    step_items = step_items[condition - 1 : condition] if condition > 0 else []
                else:
                    step_items = [part for part in step_items if _matches_condition(part, condition, top)]
            next_items += step_items
        current_items = next_items
    if not path.call:
        return current_items
    if path.call == "count":
        return [str(len(current_items))]
    shown_items = [
        _get_local_name(current_item.tag)
        if path.call == "local-name" and not isinstance(current_item, str)
        else _get_text(current_item)
        for current_item in current_items
    ]
    return list(shown_items[:1]) if path.call != "data" else list(shown_items)


def _matches_condition(item: XmlItem, condition: PathCondition, top: ElementTree.Element) -> bool:
    items_at_path = _select_items(item, condition.path, top)
    if condition.sign:
        is_match = any(
            _is_comparison_true(_get_text(found_item), condition.sign, condition.value)
            for found_item in items_at_path
        )
    else:
        is_match = bool(items_at_path)
    return is_match and all(
        _matches_condition(item, other_condition, top) for other_condition in condition.others
    )


def _is_comparison_true(text: str, operator: str, value: str | float) -> bool:
    if isinstance(value, str):
        return _COMPARISONS[operator](text, value)
    try:
        return _COMPARISONS[operator](float(text), value)
    except ValueError:
        return False


def _get_text(item: XmlItem) -> str:
    return item if isinstance(item, str) else "".join(item.itertext())


def _serialize_item(item: XmlItem) -> str:
    if isinstance(item, str):
        return item
    tail, item.tail = item.tail, None
    try:
        return ElementTree.tostring(item, encoding="unicode").replace(" />", "/>")
    finally:
        item.tail = tail


def _evaluate_path(xml: Scalar, path: Scalar, *variables: Scalar) -> list[XmlItem]:
    text, remaining_variables = to_text(xml), iter(variables)
    path = VARIABLE_REFERENCE.sub(lambda _: _quote_literal(next(remaining_variables)), to_text(path))
    top = _parse_fragment(text.removeprefix(NODE_PREFIX))
    start = top[0] if text.startswith(NODE_PREFIX) and len(top) else top
    return _select_items(start, compile_path(path), top)


def _quote_literal(value: Scalar) -> str:
    """Return *value* as a literal in a path.

    Text with both kinds of quotes is not simulated and matches nothing.
    """
    text = "" if value is None else to_text(value)
    return f"'{text}'" if '"' in text and "'" not in text else '"' + text.replace('"', "") + '"'


def _evaluate_value(xml: Scalar, path: Scalar, *variables: Scalar) -> Scalar:
    """Evaluate value(): the text of the single node at the path."""
    items_at_path = _evaluate_path(xml, path, *variables) if xml is not None else []
    return _get_text(items_at_path[0]) if items_at_path else None


def _evaluate_exist(xml: Scalar, path: Scalar, *variables: Scalar) -> Scalar:
    return None if xml is None else int(bool(_evaluate_path(xml, path, *variables)))


def _evaluate_query(xml: Scalar, path: Scalar, *variables: Scalar) -> Scalar:
    return None if xml is None else "".join(map(_serialize_item, _evaluate_path(xml, path, *variables)))


def _evaluate_nodes(xml: Scalar, path: Scalar) -> Scalar:
    """Evaluate nodes(): the nodes as a JSON list, which SQLite expands to rows."""
    items_at_path = _evaluate_path(xml, path) if xml is not None else []
    return json.dumps(
        [
            NODE_PREFIX + _serialize_item(found_item)
            for found_item in items_at_path
            if not isinstance(found_item, str)
        ]
    )


# --- functions that build XML in SQLite
# ----------------------------------------------------------------------
# They escape texts and build attributes and elements. forjson.py inserts calls of them into queries.


def _escape_xml(value: Scalar) -> Scalar:
    return None if value is None else html.escape(to_text(value), quote=False).replace("\r", "&#x0D;")


def _join_texts(*values: Scalar) -> Scalar:
    texts = [to_text(value) for value in values if value is not None]
    return "".join(texts) if texts else None


def _build_attribute(name: Scalar, value: Scalar) -> Scalar:
    return None if value is None else f' {to_text(name)}="{_quote_xml_text(to_text(value))}"'


def _quote_xml_text(value: str) -> str:
    return value.replace('"', "&quot;").replace("\n", "&#x0A;")


def _build_element(tag: Scalar, attributes: Scalar, content: Scalar) -> Scalar:
    """Build an element; NULL if the content is NULL."""
    return None if attributes is None and content is None else _build_row_element(tag, attributes, content)


def _build_nillable_element(tag: Scalar, attributes: Scalar, content: Scalar) -> Scalar:
    """Build an element for ELEMENTS XSINIL. NULL content gives an element with xsi:nil."""
    if content is None:
        attributes = _join_texts(attributes, ' xsi:nil="true"')
    return _build_row_element(tag, attributes, content)


def _build_markup(kind: Scalar, name: Scalar, value: Scalar) -> Scalar:
    """Build a comment or a processing instruction."""
    if value is None:
        return None
    inner_text = to_text(value)
    return f"<!--{inner_text}-->" if kind == "comment" else f"<?{to_text(name)} {inner_text}?>"


def _build_row_element(tag: Scalar, attributes: Scalar, content: Scalar) -> Scalar:
    name, inner_text = to_text(tag), "" if attributes is None else to_text(attributes)
    if not name:
        return content
    if content is None:
        return f"<{name}{inner_text}/>"
    return f"<{name}{inner_text}>{to_text(content)}</{name}>"


def _remove_tags(value: Scalar) -> Scalar:
    """Evaluate `.value('.', 'nvarchar(max)')`: the text without tags."""
    return None if value is None else html.unescape(re.sub(r"<[^<>]*>", "", to_text(value)))


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "xml_value": _evaluate_value,
    "xml_exist": _evaluate_exist,
    "xml_query": _evaluate_query,
    "xml_nodes": _evaluate_nodes,
    "xml_escape": _escape_xml,
    "xml_join": _join_texts,
    "xml_attribute": _build_attribute,
    "xml_element": _build_element,
    "xml_nil": _build_nillable_element,
    "xml_mark": _build_markup,
    "xml_row": _build_row_element,
    "xml_text": _remove_tags,
}
