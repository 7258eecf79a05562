"""Functions that build XML in SQLite: escaping, attributes, elements (forxml.py writes the calls)."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Final

from engine.tsql.scalars.values import Scalar, to_text


def _escape(value: Scalar) -> Scalar:
    return None if value is None else html.escape(to_text(value), quote=False).replace("\r", "&#x0D;")


def _join(*values: Scalar) -> Scalar:
    shown = [to_text(value) for value in values if value is not None]
    return "".join(shown) if shown else None


def _attribute(name: Scalar, value: Scalar) -> Scalar:
    return None if value is None else f' {to_text(name)}="{_quoted(to_text(value))}"'


def _quoted(value: str) -> str:
    return value.replace('"', "&quot;").replace("\n", "&#x0A;")


def _element(tag: Scalar, attributes: Scalar, content: Scalar) -> Scalar:
    """Return NULL makes no element."""
    return None if attributes is None and content is None else _row(tag, attributes, content)


def _nil(tag: Scalar, attributes: Scalar, content: Scalar) -> Scalar:
    """Return an element with xsi:nil for NULL under ELEMENTS XSINIL."""
    if content is None:
        attributes = _join(attributes, ' xsi:nil="true"')
    return _row(tag, attributes, content)


def _mark(kind: Scalar, name: Scalar, value: Scalar) -> Scalar:
    """Return a comment or an instruction of that name."""
    if value is None:
        return None
    inside = to_text(value)
    return f"<!--{inside}-->" if kind == "comment" else f"<?{to_text(name)} {inside}?>"


def _row(tag: Scalar, attributes: Scalar, content: Scalar) -> Scalar:
    name, inside = to_text(tag), "" if attributes is None else to_text(attributes)
    if not name:
        return content
    if content is None:
        return f"<{name}{inside}/>"
    return f"<{name}{inside}>{to_text(content)}</{name}>"


def _text_of(value: Scalar) -> Scalar:
    """Evaluate `.value('.', 'nvarchar(max)')`: the text without its tags."""
    return None if value is None else html.unescape(re.sub(r"<[^<>]*>", "", to_text(value)))


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "xml_escape": _escape,
    "xml_join": _join,
    "xml_attribute": _attribute,
    "xml_element": _element,
    "xml_nil": _nil,
    "xml_mark": _mark,
    "xml_row": _row,
    "xml_text": _text_of,
}
"""Functions that only rewritten queries call."""
