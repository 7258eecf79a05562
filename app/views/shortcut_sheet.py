"""Sheet of all keyboard shortcuts, which can be searched and printed."""

from collections.abc import Sequence
from html import escape
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QPageLayout, QTextDocument
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QLineEdit, QPushButton, QTextBrowser, QWidget

from app.widgets import keys, theme
from app.widgets.keys import SHORTCUT_COMMANDS, KeysByCommand, ShortcutCommand
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.scroll_container import fit_on_screen
from app.words import fuzzy
from app.words.language import mark, tr

COLUMN_WIDTH_LETTERS: Final = 44
"""Width of a column in letters."""
PRINTED_COLUMNS: Final = 2
PRINTED_POINTS_MAX: Final = 9.0
LETTER_WIDTH_EM: Final = 0.62
"""Average width of a letter relative to the font size, including margins."""


MISSING_KEYS: Final = (
    ("Ctrl+P", mark("Print: save the script or copy the results, then print from another program")),
    ("Ctrl+L", mark("Execution plans are not simulated")),
    ("Ctrl+Shift+Q", mark("The query designer is not available")),
    ("Alt+F5", mark("The debugger is not available")),
)
"""(keys, reason) for each shortcut of Management Studio that has no function in this program.

Keys that have another function here are not listed.
"""


class ShortcutSheet(QDialog):
    """Dialog with all commands and their keys, grouped. It can be searched and printed."""

    change_wanted = Signal()
    """Signal: the user wants to change shortcuts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keys"))
        self._scheme, self._keys = keys.SSMS_SCHEME, keys.resolve_keys(keys.SSMS_SCHEME)
        self.field = QLineEdit(placeholderText=tr("Search for a command or a shortcut"))
        self.field.setAccessibleName(tr("Search the shortcuts"))
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(self._show_shortcuts)
        self.sheet = QTextBrowser()
        self.sheet.setAccessibleName(tr("Keys"))
        self.sheet.setOpenLinks(False)
        self.sheet.setTabChangesFocus(True)
        self.sheet.document().setDocumentMargin(14.0)
        self._count = QLabel()
        self._count.setProperty("muted", True)
        build_widget_column(self.field, (self.sheet, 1), self._build_buttons(), parent=self)
        fit_on_screen(self, 62 * self.fontMetrics().height(), 40 * self.fontMetrics().height())
        theme.call_after_events(self, theme.APPEARANCE_EVENTS, self._show_shortcuts)
        theme.call_after_events(self, theme.SIZE_EVENTS, self._show_shortcuts)

    def _build_buttons(self) -> QHBoxLayout:
        row = build_row((self._count, 1))
        for text, act in (
            (tr("&Print…"), self._open_print_dialog),
            (tr("C&hange shortcuts…"), self.change_wanted.emit),
            (tr("&Close"), self.close),
        ):
            button = QPushButton(text, autoDefault=False)
            button.clicked.connect(lambda _=False, act=act: act())
            row.addWidget(button)
        return row

    def show_keys(self, scheme: str, keymap: KeysByCommand) -> None:
        """Show the keys of *keymap* and the name of their scheme."""
        self._scheme, self._keys = scheme, dict(keymap)
        self.setWindowTitle(tr("Shortcuts ({scheme})").format(scheme=scheme))
        self._show_shortcuts()

    def print_to(self, printer: QPrinter) -> None:
        """Print the sheet, or the search result. The print is always dark on white."""
        document = QTextDocument()
        font = QFont(self.font())
        wide_pt = printer.pageRect(QPrinter.Unit.Point).width()
        font.setPointSizeF(
            min(PRINTED_POINTS_MAX, wide_pt / (PRINTED_COLUMNS * COLUMN_WIDTH_LETTERS * LETTER_WIDTH_EM))
        )
        document.setDefaultFont(font)
        document.setHtml(
            build_sheet_html(
                self._find_commands(), self._keys, theme.build_light_theme(), PRINTED_COLUMNS, self._title
            )
        )
        document.print_(printer)

    @property
    def _title(self) -> str:
        return tr("Mirrordrill: shortcuts ({scheme})").format(scheme=self._scheme)

    def _find_commands(self) -> list[ShortcutCommand]:
        return search_commands(self.field.text(), self._keys)

    def _show_shortcuts(self) -> None:
        commands = self._find_commands()
        self._count.setText(
            tr("{count} of {count2} commands").format(count=len(commands), count2=len(SHORTCUT_COMMANDS))
        )
        columns = max(1, min(3, self.sheet.viewport().width() // (COLUMN_WIDTH_LETTERS * self._letter_px)))
        position = self.sheet.verticalScrollBar().value()
        self.sheet.setHtml(
            build_sheet_html(commands, self._keys, theme.get_theme_tokens(self.palette()), columns)
        )
        self.sheet.verticalScrollBar().setValue(position)

    @property
    def _letter_px(self) -> int:
        return self.fontMetrics().horizontalAdvance("n")

    def _open_print_dialog(self) -> None:
        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setDocName(self._title)
        printer.setPageOrientation(QPageLayout.Orientation.Portrait)
        dialog = QPrintDialog(printer, self)
        dialog.accepted.connect(lambda: self.print_to(printer))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        dialog.show()


# --- contents -----------------------------------------------------------------------------------------------


def search_commands(query: str, keymap: KeysByCommand) -> list[ShortcutCommand]:
    """Return the commands whose group, text or keys match *query*, in table order."""
    names = {
        command.name
        for command, _ in fuzzy.find_best_matches(
            query, SHORTCUT_COMMANDS, lambda command: _build_search_text(command, keymap[command.name])
        )
    }
    return [command for command in SHORTCUT_COMMANDS if command.name in names]


def _build_search_text(command: ShortcutCommand, texts: Sequence[str]) -> str:
    return " ".join(
        (tr(command.group), tr(command.text), *texts, *(keys.format_native_keys(text) for text in texts))
    )


def build_sheet_html(
    commands: Sequence[ShortcutCommand],
    keymap: KeysByCommand,
    colors: theme.ThemeTokens,
    columns: int,
    title: str = "",
) -> str:
    """Return the sheet as HTML, limited to the subset that QTextDocument supports."""
    if not commands:
        empty_text = tr("No matching commands or shortcuts.")
        return f'<p style="color:{colors.muted.name()}">{empty_text}</p>'
    groups: dict[str, list[ShortcutCommand]] = {}
    for command in commands:
        groups.setdefault(tr(command.group), []).append(command)
    blocks = [_build_group_html(name, rows, keymap, colors) for name, rows in groups.items()]
    heights = [len(rows) + 2 for rows in groups.values()]
    if len(commands) == len(
        SHORTCUT_COMMANDS
    ):  # the missing keys are shown only if no search limits the commands
        blocks.append(_format_missing_keys_html(colors))
        heights.append(len(MISSING_KEYS) + 2)
    cells = "".join(
        f'<td width="{100 // columns}%" style="padding-right:28px">{column}</td>'
        for column in _split_columns(blocks, heights, columns)
    )
    head = f'<h2 style="margin-bottom:8px">{escape(title)}</h2>' if title else ""
    return f'{head}<table width="100%" cellspacing="0"><tr>{cells}</tr></table>'


def _split_columns(blocks: list[str], heights: list[int], count: int) -> list[str]:
    """Distribute *blocks* in order to *count* columns of about the same height."""
    columns, filled, total = [""] * count, 0, sum(heights)
    for block, height in zip(blocks, heights, strict=True):
        columns[int(count * filled / total)] += block
        filled += height
    return columns


def _build_group_html(
    name: str, commands: Sequence[ShortcutCommand], keymap: KeysByCommand, colors: theme.ThemeTokens
) -> str:
    """Return the heading of a group and a row per command. The heading states the usual scope of the keys.

    If the keys of a command have another scope, the row of the command states it.
    """
    scope = commands[-1].scope
    rows = "".join(
        _format_row_html(
            escape(tr(command.text))
            + ("" if command.scope == scope else _format_scope_html(command.scope, colors)),
            _format_keys_html(keymap[command.name], colors),
        )
        for command in commands
    )
    return _format_block_html(
        name, "" if scope == keys.WINDOW_SCOPE else _format_scope_html(scope, colors), rows
    )


def _format_missing_keys_html(colors: theme.ThemeTokens) -> str:
    """Return rows for the keys of Management Studio without a function here."""
    rows = "".join(
        _format_row_html(
            f'<span style="color:{colors.muted.name()}">{escape(tr(reason))}</span>',
            _format_keys_html([key], colors),
        )
        for key, reason in MISSING_KEYS
    )
    return _format_block_html(tr("Management Studio shortcuts without a function in Mirrordrill"), "", rows)


def _format_block_html(name: str, suffix: str, rows: str) -> str:
    return (
        f'<p style="margin:14px 0 5px 0"><b>{escape(name)}</b>{suffix}</p>'
        f'<table width="100%" cellspacing="0">{rows}</table>'
    )


def _format_row_html(text: str, caps: str) -> str:
    return (
        f'<tr><td style="padding:3px 12px 3px 0">{text}</td>'
        f'<td align="right" style="padding:3px 0">{caps}</td></tr>'
    )


def _format_scope_html(scope: str, colors: theme.ThemeTokens) -> str:
    return (
        f'<span style="color:{colors.muted.name()}">&nbsp; {escape(tr(keys.FOCUS_SCOPES[scope][0]))}</span>'
    )


def _format_keys_html(texts: Sequence[str], colors: theme.ThemeTokens) -> str:
    if not texts:
        return tr('<span style="color:{name}">no shortcut</span>').format(name=colors.muted.name())
    style = f"background-color:{colors.idle_soft.name()};color:{colors.text.name()}"
    caps = []
    for text in texts:
        strokes = [escape("\u2060".join(keys.format_native_keys(stroke))) for stroke in text.split(", ")]
        caps.append(
            tr("&nbsp;then&nbsp;").join(
                f'<span style="{style}">&nbsp;{stroke}&nbsp;</span>' for stroke in strokes
            )
        )
    return " &nbsp;".join(caps)
