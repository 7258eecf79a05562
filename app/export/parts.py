"""HTML fragments that a browser and Qt's rich text both show. Every text is escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def escape_text(content: object) -> str:
    """Escape *content* and keep line breaks."""
    return html.escape(str(content)).replace("\n", "<br>")


def heading(level: int, content: str) -> str:
    """Return a heading of a level."""
    return f"<h{level}>{escape_text(content)}</h{level}>"


def paragraph(content: str, kind: str = "") -> str:
    """Return a paragraph, with a CSS class."""
    return f'<p class="{kind}">{escape_text(content)}</p>' if kind else f"<p>{escape_text(content)}</p>"


def bullets(lines: Iterable[str]) -> str:
    """Return a bullet list."""
    return f"<ul>{''.join(f'<li>{escape_text(line)}</li>' for line in lines)}</ul>"


class Markup(str):
    """Complete HTML, which is not escaped again."""


def link(url: str, content: str) -> Markup:
    """Return a link."""
    return Markup(f'<a href="{html.escape(url)}">{escape_text(content)}</a>')


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], fixed: Sequence[int] = ()
) -> str:
    """Return a table with marked headings. *fixed*: columns with code."""
    titles = "".join(f'<th scope="col" align="left">{escape_text(title)}</th>' for title in head)
    body = "".join(
        f"<tr>{''.join(_cell(cell, n in fixed) for n, cell in enumerate(row))}</tr>" for row in rows
    )
    return (
        f'<table width="100%" cellspacing="0" cellpadding="4"><caption>{escape_text(caption)}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: object, code: bool) -> str:
    shown = value if isinstance(value, Markup) else escape_text(value)
    return f"<td><code>{shown}</code></td>" if code else f"<td>{shown}</td>"
