"""Debrief as a PDF: one summary page and an annex. This is the only export that needs Qt. It opens no window."""

import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QFont,
    QGuiApplication,
    QImage,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextTable,
)
from PySide6.QtSvg import QSvgRenderer

from app.export import curve_svg, debrief_sections, timeline_svg
from app.export.debrief_sections import format_heading
from app.export.source import ExportSource, format_signature, read_choices
from app.files import atomic_write
from app.view_models.value_curve import list_refused_batches
from app.words.language import tr
from engine.drill.judging.report import get_program_version

DOTS_PER_INCH: Final = 300
PAGE_MARGIN_MM: Final = 16.0
FOOTER_HEIGHT_MM: Final = 8.0
"""Height of the footer."""
FONT_SIZE_POINTS: Final = 9.0
DRAWING_RESOURCE: Final = "drawing"
"""Resource name of the drawing in a text document."""

DOCUMENT_CSS: Final = """
h1 { font-size: 17pt; margin-top: 0; margin-bottom: 8px; }
h2 { font-size: 11pt; margin-top: 30px; margin-bottom: 8px; }
p { margin-top: 8px; margin-bottom: 8px; } p.score { font-size: 13pt; font-weight: 600; }
p.muted, caption { color: #525e6d; } th { background-color: #eef1f5; } code { font-family: monospace; font-size: 8pt; }
ul { margin-top: 0; margin-bottom: 0; } td, th { border-bottom: 0.5px solid #cbd3dc; }
"""


_CAPTION_PATTERN: Final = re.compile(r"(<table[^<>]*+>)<caption>([^<]*+(?:<(?!/caption>)[^<]*+)*+)</caption>")
"""Pattern of a table with a caption. Qt cuts captions at the end of a page, so they become paragraphs before
the table.
"""


class PdfWriteError(Exception):
    """Error if the PDF cannot be written. Its text gives the reason."""


def write_debrief_pdf(source: ExportSource, file: Path) -> int:
    """Write the debrief to *file* and return its number of pages. Raises PdfWriteError."""
    content, pages = build_debrief_pdf(source)
    try:
        atomic_write.write_atomically(file, content)
    except OSError as error:
        raise PdfWriteError(
            tr("{file} cannot be written: {why}").format(file=file, why=error.strerror)
        ) from error
    return pages


def build_debrief_pdf(source: ExportSource) -> tuple[bytes, int]:
    """Return the debrief as a PDF, and its number of pages. Raises PdfWriteError."""
    foot = tr("{title}, seed {seed}").format(title=source.review.title, seed=source.report["seed"])
    return _print_documents(
        tr("Debrief: {title}").format(title=source.review.title),
        "   ·   ".join(filter(None, (foot, format_signature(source)))),
        lambda writer: [_lay_out_first_page(source, writer), _lay_out_annex(source, writer)],
    )


def build_document_pdf(title: str, html: str, svg: str, drawings: Mapping[str, str]) -> bytes:
    """Return a PDF with the title, the drawing *svg*, and *html*, which refers to *drawings* by name.

    Raises PdfWriteError.
    """

    def build_documents(writer: QPdfWriter) -> list[QTextDocument]:
        images = {name: _draw_image(drawing) for name, drawing in drawings.items()}
        images[DRAWING_RESOURCE] = _draw_image(svg, _compute_page_width(writer))
        return [_build_document(format_heading(1, title) + _format_figure(writer) + html, writer, images)]

    return _print_documents(title, title, build_documents)[0]


def _print_documents(
    title: str, foot: str, documents: Callable[[QPdfWriter], list[QTextDocument]]
) -> tuple[bytes, int]:
    """Return the documents as one PDF, and its number of pages. Raises PdfWriteError.

    *documents* creates the documents for a writer.
    """
    application = QGuiApplication.instance() or _create_application()
    target = QBuffer()
    target.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(target)
    writer.setResolution(DOTS_PER_INCH)
    writer.setTitle(title)
    writer.setCreator(f"Mirrordrill {get_program_version()}")
    margins = QMarginsF(PAGE_MARGIN_MM, PAGE_MARGIN_MM, PAGE_MARGIN_MM, PAGE_MARGIN_MM)
    writer.setPageLayout(
        QPageLayout(
            QPageSize(QPageSize.PageSizeId.A4),
            QPageLayout.Orientation.Portrait,
            margins,
            QPageLayout.Unit.Millimeter,
        )
    )
    painter = QPainter()
    if not painter.begin(writer):
        raise PdfWriteError(tr("{file} cannot be written").format(file=title))
    try:
        text_documents = documents(writer)
        pages = sum(document.pageCount() for document in text_documents)
        _print_pages(text_documents, writer, painter, foot, pages)
    finally:
        painter.end()
    assert application is not None, "fonts need an application for as long as something is drawn"
    return bytes(target.data().data()), pages


def _create_application() -> QGuiApplication:
    """Create an application, which Qt needs for fonts. Without a display, it uses the platform "offscreen"."""
    has_display = any(os.environ.get(name) for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"))
    if sys.platform == "linux" and not has_display:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    return QGuiApplication([])


def _lay_out_first_page(source: ExportSource, writer: QPdfWriter) -> QTextDocument:
    """Lay out the first page with as many mistakes as fit on it."""
    svg = timeline_svg.draw_timeline(source.review.lanes, source.review.happened, source.drill.tick)
    drawing, figure_html = (
        {DRAWING_RESOURCE: _draw_image(svg, _compute_page_width(writer))},
        _format_figure(writer),
    )
    for mistakes in range(debrief_sections.FIRST_PAGE_MISTAKES_MAX, -1, -1):
        document = _build_document(
            debrief_sections.build_first_page(source, figure_html, mistakes), writer, drawing
        )
        if document.pageCount() == 1:
            return document
    return document


def _lay_out_annex(source: ExportSource, writer: QPdfWriter) -> QTextDocument:
    drawing, figure_html = dict[str, QImage](), ""
    if source.regret_analysis is not None:
        svg = curve_svg.draw_value_curve(
            source.regret_analysis, read_choices(source), list_refused_batches(source.report)
        )
        drawing, figure_html = (
            {DRAWING_RESOURCE: _draw_image(svg, _compute_page_width(writer))},
            _format_figure(writer),
        )
    sections = "".join(
        f"{format_heading(2, title)}{content}"
        for title, content in debrief_sections.build_annex(source, figure_html)
    )
    return _build_document(format_heading(1, tr("Annex")) + sections, writer, drawing)


def _format_figure(writer: QPdfWriter) -> str:
    """Return the HTML image element that shows the drawing."""
    width = round(_compute_page_width(writer) / _compute_dots_per_pixel())
    return f'<p><img src="{DRAWING_RESOURCE}" width="{width}"></p>'


def _compute_dots_per_pixel() -> float:
    """Return the number of printer dots per screen pixel. Qt measures HTML in screen pixels."""
    return DOTS_PER_INCH / QGuiApplication.primaryScreen().logicalDotsPerInchX()


def _draw_image(svg: str, width: float | None = None) -> QImage:
    """Draw an SVG as an image that is *width* dots wide.

    If *width* is None, use the size of the SVG in pixels, converted to dots.
    """
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    size = renderer.defaultSize()
    if width is None:
        width = size.width() * _compute_dots_per_pixel()
    image = QImage(round(width), round(width * size.height() / size.width()), QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return image


def _compute_page_width(writer: QPdfWriter) -> float:
    return float(writer.width())


def _compute_footer_height(writer: QPdfWriter) -> float:
    return FOOTER_HEIGHT_MM / 25.4 * DOTS_PER_INCH


def _build_document(html: str, writer: QPdfWriter, drawings: Mapping[str, QImage]) -> QTextDocument:
    document = QTextDocument()
    document.documentLayout().setPaintDevice(writer)
    font = QFont()
    font.setPointSizeF(FONT_SIZE_POINTS)
    document.setDefaultFont(font)
    document.setDefaultStyleSheet(DOCUMENT_CSS)
    document.setDocumentMargin(0)
    for name, drawing in drawings.items():
        document.addResource(QTextDocument.ResourceType.ImageResource, QUrl(name), drawing)
    document.setHtml(_CAPTION_PATTERN.sub(r'<p class="muted">\2</p>\1', html))
    document.setPageSize(
        QSizeF(_compute_page_width(writer), writer.height() - _compute_footer_height(writer))
    )
    _keep_together(document)
    return document


def _keep_together(document: QTextDocument) -> None:
    """Keep each heading on the page of its text, and each table row on one page.

    By default, Qt breaks pages anywhere.
    """
    for table in document.rootFrame().childFrames():
        if isinstance(table, QTextTable):
            for row in range(table.rows()):
                _keep_row_whole(document, table, row)
    block = document.begin()
    while block.isValid():
        if block.blockFormat().headingLevel() and _get_page(document, block) != _get_page(
            document, _find_block_after_heading(block)
        ):
            cursor = QTextCursor(block)
            block_format = cursor.blockFormat()
            block_format.setPageBreakPolicy(QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore)
            cursor.setBlockFormat(block_format)
        block = block.next()


def _find_block_after_heading(heading: QTextBlock) -> QTextBlock:
    """Return the block after a heading.

    If this block is the caption of a table, return the block of the table instead.
    """
    next_block = heading.next()
    block_after = next_block.next()
    is_table = block_after.isValid() and QTextCursor(block_after).currentTable() is not None
    return block_after if is_table and QTextCursor(next_block).currentTable() is None else next_block


def _get_page(document: QTextDocument, block: QTextBlock) -> int:
    """Return the page on which the first line of *block* ends."""
    if not block.isValid():
        return document.pageCount() - 1
    top = document.documentLayout().blockBoundingRect(block).top()
    line = block.layout().lineAt(0)
    return int((top + (line.height() if line.isValid() else 0.0)) // document.pageSize().height())


def _keep_row_whole(document: QTextDocument, table: QTextTable, row: int) -> None:
    """Add space above a row that crosses a page break, so that the whole row is on the next page."""
    layout, height = document.documentLayout(), document.pageSize().height()
    cells = [table.cellAt(row, column) for column in range(table.columns())]
    tops = [layout.blockBoundingRect(cell.firstCursorPosition().block()).top() for cell in cells]
    ends = [layout.blockBoundingRect(cell.lastCursorPosition().block()).bottom() for cell in cells]
    top, end = min(tops), max(ends)
    page_end = (top // height + 1) * height
    if end <= page_end or end - top > height / 2:
        return
    for cell in cells:
        spaced = cell.format().toTableCellFormat()
        spaced.setTopPadding(spaced.topPadding() + page_end - top)
        cell.setFormat(spaced)


def _print_pages(
    documents: list[QTextDocument], writer: QPdfWriter, painter: QPainter, name: str, pages: int
) -> None:
    number = 0
    for document in documents:
        height = document.pageSize().height()
        for page in range(document.pageCount()):
            if number:
                writer.newPage()
            number += 1
            painter.save()
            painter.translate(0, -page * height)
            document.drawContents(painter, QRectF(0, page * height, _compute_page_width(writer), height))
            painter.restore()
            foot = QRectF(
                0,
                height + _compute_footer_height(writer) * 0.3,
                _compute_page_width(writer),
                _compute_footer_height(writer) * 0.7,
            )
            painter.drawText(foot, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, name)
            page_text = tr("Page {page} of {pages}").format(page=number, pages=pages)
            painter.drawText(foot, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, page_text)
