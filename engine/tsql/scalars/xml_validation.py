"""Check that XML is well-formed, and normalization of XML as in the type xml [DOC: xml data type]."""

import re
from typing import Final

from engine.messages import SqlError

_NAME: Final = re.compile(r"[^\W\d][\w.-]*+(?::[^\W\d][\w.-]*+)?")
_REFERENCE: Final = re.compile(r"&(?:#(?P<decimal>\d++)|#x(?P<hex>[0-9A-Fa-f]++)|(?P<name>[^\W\d][\w.-]*+));")
_QUOTED_TEXT: Final = re.compile(r"\"[^\"<]*+\"|'[^'<]*+'")
_BLANKS: Final = re.compile(r"\s*+")
_ENTITIES: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_MARKUP_SECTIONS: Final = (("<!--", "-->", 9424), ("<![CDATA[", "]]>", 9423), ("<?", "?>", 9400))
"""(start, end, message if the end is missing) of comments, CDATA sections and processing instructions."""

_BLANK_TEXT: Final = re.compile(r">\s++<")
_EMPTY_ELEMENT: Final = re.compile(r"<([^\s<>/!?]++)([^<>]*+)></\1\s*+>")


def normalize_xml(text: str) -> str:
    """Return XML in the stored form of the type xml: no blanks between elements, empty elements as one tag.

    Raises 9400 to 9459 if it is not well-formed.
    """
    XmlChecker(text).check_document()
    return _EMPTY_ELEMENT.sub(r"<\1\2/>", _BLANK_TEXT.sub("><", text))


class XmlChecker:
    """Checker that reads XML once and raises an error if it is not well-formed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.text_position = 0
        self.open_elements: list[str] = []
        self.prefixes: list[set[str]] = [{"xml", "xmlns"}]

    def build_error(self, number: int, offset: int | None = None) -> SqlError:
        """Return an XML parsing error with its line and character position."""
        position = min(self.text_position if offset is None else offset, max(len(self.text) - 1, 0))
        before = self.text[:position]
        return SqlError(number, before.count("\n") + 1, position - before.rfind("\n"))

    def check_document(self) -> None:
        """Check the whole text. Raises 9400 to 9459."""
        text = self.text
        while self.text_position < len(text):
            section = next(
                (
                    aside_kind
                    for aside_kind in _MARKUP_SECTIONS
                    if text.startswith(aside_kind[0], self.text_position)
                ),
                None,
            )
            if section is not None:
                self.skip_section(*section)
            elif text[self.text_position] == "<":
                self.check_start_tag()
            else:
                end = text.find("<", self.text_position)
                end = len(text) if end < 0 else end
                self.check_references(end)
                self.text_position = end
        if self.open_elements:
            raise self.build_error(9400)

    def skip_section(self, begin: str, end: str, number: int) -> None:
        """Skip a comment, CDATA section or processing instruction. Raises *number* if *end* is missing."""
        close = self.text.find(end, self.text_position + len(begin))
        if close < 0:
            raise self.build_error(number, len(self.text))
        if begin == "<?" and self.text_position and self.text.startswith("<?xml ", self.text_position):
            raise self.build_error(9438)
        self.text_position = close + len(end)

    def check_references(self, end: int) -> None:
        """Check the entity references up to position *end*. Raises 9421, 9411 or 9448."""
        position = self.text.find("&", self.text_position, end)
        while position >= 0:
            reference_match = _REFERENCE.match(self.text, position)
            if reference_match is None:
                name = _NAME.match(self.text, position + 1)
                raise self.build_error(
                    9421 if name is None else 9411, position + 1 if name is None else name.end()
                )
            if reference_match["name"] and reference_match["name"] not in _ENTITIES:
                raise self.build_error(9448, reference_match.end() - 1)
            position = self.text.find("&", reference_match.end(), end)

    def skip_blanks(self) -> int:
        """Skip blanks and return their number."""
        blank_match = _BLANKS.match(self.text, self.text_position)
        assert blank_match is not None
        self.text_position = blank_match.end()
        return blank_match.end() - blank_match.start()

    def parse_name(self) -> str:
        """Parse and return a name."""
        name_match = _NAME.match(self.text, self.text_position)
        if name_match is None:
            raise self.build_error(9400 if self.text_position >= len(self.text) else 9455)
        self.text_position = name_match.end()
        return name_match.group()

    def check_start_tag(self) -> None:
        """Check a start tag and its attributes."""
        self.text_position += 1
        if self.text.startswith("/", self.text_position):
            self.check_end_tag()
            return
        name, prefixes, used = self.parse_name(), set(self.prefixes[-1]), list[str]()
        used.append(name)
        used_names: set[str] = set()
        while True:
            blanks = self.skip_blanks()
            if self.text.startswith(("/>", ">"), self.text_position):
                break
            if self.text_position >= len(self.text):
                raise self.build_error(9400)
            if not blanks:
                raise self.build_error(9410 if _NAME.match(self.text, self.text_position) else 9455)
            attribute = self.check_attribute()
            if attribute in used_names:
                raise self.build_error(9437)
            used_names.add(attribute)
            if attribute.startswith("xmlns:"):
                prefixes.add(attribute.removeprefix("xmlns:"))
            used.append(attribute)
        if any(
            ":" in attribute_name and attribute_name.split(":")[0] not in prefixes for attribute_name in used
        ):
            raise self.build_error(9459)
        if self.text[self.text_position] == "/":
            self.text_position += 2
            return
        self.text_position += 1
        self.open_elements.append(name)
        self.prefixes.append(prefixes)

    def check_attribute(self) -> str:
        """Check an attribute and return its name."""
        name = self.parse_name()
        self.skip_blanks()
        if not self.text.startswith("=", self.text_position):
            raise self.build_error(9400 if self.text_position >= len(self.text) else 9414)
        self.text_position += 1
        self.skip_blanks()
        value = _QUOTED_TEXT.match(self.text, self.text_position)
        if value is None:
            quoted = self.text[self.text_position : self.text_position + 1] in ("'", '"')
            is_cut_off = self.text_position >= len(self.text) or (
                quoted and "<" not in self.text[self.text_position :]
            )
            raise self.build_error(9400 if is_cut_off else 9415 if quoted else 9413)
        self.check_references(value.end())
        self.text_position = value.end()
        return name

    def check_end_tag(self) -> None:
        """Check that an end tag closes the innermost open element."""
        self.text_position += 1
        name = self.parse_name()
        self.skip_blanks()
        if not self.open_elements or self.open_elements[-1] != name:
            raise self.build_error(9436)
        if not self.text.startswith(">", self.text_position):
            raise self.build_error(9400 if self.text_position >= len(self.text) else 9412)
        self.text_position += 1
        self.open_elements.pop()
        self.prefixes.pop()
