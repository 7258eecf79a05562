"""Printable page for the people of a class, with the join code, its QR code and the steps to join. No Qt."""

from html import escape
from typing import Final

import segno

from app.words import language
from app.words.language import mark, tr

JOIN_STEPS: Final = (
    mark("Start Mirrordrill, and choose Class ▸ Join a class."),
    mark("Type this code and your name. Spaces and small letters are fine."),
    mark("Decide whether the instructor may watch your screen. You are notified when somebody watches."),
    mark("Wait until the instructor starts the clock for everyone."),
    mark(
        "Work as on your own servers. Look first, then act. A right-click on a server shows what it can do."
    ),
    mark("To ask a question, choose Class ▸ Raise or lower my hand."),
    mark("If the network fails, keep playing. Every input is stored on this computer and sent later."),
    mark("After a crash, choose Class ▸ Return to your class. Your run continues where it stopped."),
    mark("At the end, your debrief opens: score, biggest mistake, and what would have been best."),
)
SHEET_CSS: Final = (
    "body{font:14pt/1.45 sans-serif;max-width:44em;margin:2em auto;color:#111;background:#fff}"
    "h1{font-size:22pt;margin:0}.code{font:700 22pt monospace;margin:.6em 0 0}"
    ".address{font:12pt monospace;overflow-wrap:anywhere}svg{float:right;width:44mm;height:44mm;margin-left:1em}"
    "li{margin:.35em 0}@page{margin:16mm}"
)


def build_join_sheet(title: str, code: str) -> str:
    """Build the page in HTML.

    Args:
        title: title of the drill.
        code: join code, with the addresses of the class if there are any.
    """
    secret, _, address = code.partition("@")
    qr = segno.make(code, micro=False, error="m").svg_inline(omitsize=True, border=4)
    steps = "".join(f"<li>{escape(tr(step))}</li>" for step in JOIN_STEPS)
    address_html = f'<p class="address">@{escape(address)}</p>' if address else ""
    return (
        f'<!doctype html><html lang="{language.get_current_language()}"><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{SHEET_CSS}</style>"
        f'<h1>{escape(title)}</h1>{qr}<p class="code">{escape(secret)}</p>{address_html}<ol>{steps}</ol></html>\n'
    )
