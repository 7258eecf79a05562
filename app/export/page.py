"""Debrief as one self-contained HTML file, without scripts and without references to other files. Without Qt."""

from importlib import resources
from typing import Final

from app.export import curve_svg, debrief_sections, timeline_svg
from app.export.debrief_sections import escape_text, format_paragraph
from app.export.source import ExportSource, read_choices
from app.view_models.value_curve import list_refused_batches
from app.words import language
from app.words.language import tr, trn

PAGE_CSS: Final = resources.files("app.export").joinpath("page.css").read_text(encoding="utf-8")


def build_debrief_html(source: ExportSource) -> str:
    """Return the complete HTML document of a debrief."""
    drawing = timeline_svg.draw_timeline(source.review.lanes, source.review.happened, source.drill.tick)
    text = f"<figure>{drawing}<figcaption>{_format_caption(source)}</figcaption></figure>"
    sections = [
        (f"annex-{number}", title, content)
        for number, (title, content) in enumerate(
            debrief_sections.build_annex(source, _draw_curve(source)), 1
        )
    ]
    index = "".join(f'<li><a href="#{anchor}">{escape_text(title)}</a></li>' for anchor, title, _ in sections)
    annex = "".join(
        f'<section id="{anchor}" aria-labelledby="{anchor}-title">'
        f'<h2 id="{anchor}-title">{escape_text(title)}</h2>{content}</section>'
        for anchor, title, content in sections
    )
    title, skip = escape_text(tr("Annex")), escape_text(tr("Go to the annex"))
    return build_html_document(
        debrief_sections.format_title(source),
        f'<a class="skip" href="#annex">{skip}</a>'
        f"<main>{debrief_sections.build_first_page(source, text)}"
        f'<div class="annex" id="annex"><nav aria-label="{title}">'
        f"<h2>{title}</h2><ol>{index}</ol></nav>{annex}</div>"
        f"</main><footer>{format_paragraph(_format_origin(source), 'muted')}</footer>",
    )


def build_html_document(title: str, content: str) -> str:
    """Return a self-contained HTML document. *title* and *content* must already be HTML."""
    return (
        f'<!DOCTYPE html>\n<html lang="{_get_language_code()}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{PAGE_CSS}</style></head><body>{content}</body></html>\n"
    )


def _draw_curve(source: ExportSource) -> str:
    if source.regret_analysis is None:
        return ""
    curve = curve_svg.draw_value_curve(
        source.regret_analysis, read_choices(source), list_refused_batches(source.report)
    )
    return f"<figure>{curve}</figure>"


def _format_caption(source: ExportSource) -> str:
    lanes = timeline_svg.select_lanes(source.review.lanes)
    omitted_count = len(source.review.lanes) - len(lanes)
    lines = [
        tr("Availability, protection and state of each database copy."),
        timeline_svg.describe_lanes(lanes),
    ]
    if omitted_count:
        lines.append(
            trn("{n} more database is not drawn.", "{n} more databases are not drawn.", omitted_count).format(
                n=omitted_count
            )
        )
    return escape_text(" ".join(lines))


def _get_language_code() -> str:
    """Return the language code of the page, which browsers and screen readers use."""
    return (
        language.get_current_language()
        if language.get_current_language() in language.LANGUAGES
        else language.ENGLISH
    )


def _format_origin(source: ExportSource) -> str:
    text = tr("Mirrordrill {version}; hash of the final state: {state}.")
    return text.format(version=source.report["version"], state=source.report["state_hash"])
