"""The report of a class in one ZIP: a page of the class, one a person, tables, and what a learning record store takes.

Nothing is written beside the ZIP, so deleting it deletes all of it; `class erase` removes a person from the record.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Final

from app.classroom import xapi
from app.classroom.debrief import ClassReview, SeatReview
from app.classroom.partings import Choice, Parting
from app.export import curve_svg
from app.export.page import document
from app.export.parts import Markup, heading, link, paragraph, table, text
from app.export.sheets import WORTH_COLUMNS, as_csv, of_move
from app.export.source import asked_of
from app.view_models import worth
from app.words import formatting
from app.words.formatting import moment
from app.words.language import tr, trn
from app.words.sentences import said as shown
from engine.constants import TICKS_PER_S
from engine.drill.judging.shapes import Calibration
from engine.drill.par.regret import Account
from engine.drill.running.drill import End
from engine.model import Tick

PARTINGS_SHOWN: Final = 10
MISTAKES_SHOWN: Final = 15
LOSSES_SHOWN: Final = 3
"""On the page of the class; the tables have all."""

WIDTH: Final = 760
LEFT: Final = 160
RIGHT: Final = 24
ROW: Final = 84
DOT: Final = 4.5
"""Pixels of the picture."""


def archive(found: ClassReview, key: str, names: bool, pdf: bool = False) -> bytes:
    """The ZIP. *key* tells this class from all others; *names*: the people of *found* may be named."""
    page = class_page(found)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("class.html", page)
        for name, sheet in _sheets(found):
            made.writestr(name, sheet)
        for seat in found.seats:
            if seat.page:
                made.writestr(_page_of(seat), seat.page)
            if seat.printed:
                made.writestr(_page_of(seat).replace(".html", ".pdf"), seat.printed)
        if pdf:
            from app.export import pdf as printing  # Qt, which nothing else here needs

            drawings: dict[str, str] = {}
            printed = _body(found, links=False, drawn=partial(_referred_to, drawings))
            made.writestr("class.pdf", printing.document(_title(found), printed, picture(found), drawings))
        made.writestr("xapi.json", xapi.as_json(found, key, names))
        made.writestr("cmi5.zip", xapi.cmi5(found, class_page(found, links=False)))
    return out.getvalue()


def together(parts: Mapping[str, bytes], sheets: Mapping[str, str]) -> bytes:
    """The ZIPs of the parts of a class as one, each in a folder of its name; beside them what is told of all parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, sheet in sheets.items():
            made.writestr(name, sheet)
        for name, part in parts.items():
            with zipfile.ZipFile(io.BytesIO(part)) as one:
                for member in one.namelist():
                    made.writestr(f"{name}/{member}", one.read(member))
    return out.getvalue()


def class_page(found: ClassReview, links: bool = True) -> str:
    """The debrief of the class as one HTML file; with *links* to the pages of its people."""
    title = _title(found)
    shown = f"{heading(1, title)}<figure>{picture(found)}</figure>{_body(found, links, _drawn_here)}"
    return document(text(title), f"<main>{shown}</main>")


def picture(found: ClassReview) -> str:
    """Points, downtime and lost transactions of every seat as dots, with the median, the reference and par; an SVG."""
    scores = [seat.verdict["score"] for seat in found.seats]
    downtimes = [seat.verdict["downtime_s"] for seat in found.seats]
    lost = [float(seat.lost_transactions) for seat in found.seats]
    most_lost = max([*lost, found.reference_lost or 0.0, 4.0])
    longest = max([*downtimes, found.reference_downtime_s or 0.0, 1.0])
    reference, par = tr("reference"), tr("par")
    rows: list[tuple[str, Sequence[float], float, list[tuple[str, float | None]]]] = [
        (tr("Points"), [one for one in scores if one is not None], 100.0,
         [(reference, found.reference), (par, found.par)]),
        (tr("Downtime, s"), downtimes, longest, [(reference, found.reference_downtime_s)]),
        (tr("Lost transactions"), lost, most_lost, [(reference, found.reference_lost)]),
    ]  # fmt: skip
    parts = [
        part
        for place, (title, values, most, lines) in enumerate(rows)
        for part in _strip(title, values, most, lines, place * ROW)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {ROW * len(rows)}" width="{WIDTH}" '
        f'height="{ROW * len(rows)}" font-family="sans-serif" font-size="12">'
        f'<rect width="{WIDTH}" height="{ROW * len(rows)}" fill="white"/>{"".join(parts)}</svg>'
    )


# --- inside -------------------------------------------------------------------------------------------------


def _title(found: ClassReview) -> str:
    return tr("Class: {title}").format(title=found.title)


def _page_of(seat: SeatReview) -> str:
    return f"people/{seat.number:04}.html"


Drawn = Callable[[str, str], Markup]
"""Is given a name and an SVG, and shows it in a cell."""


def _drawn_here(name: str, svg: str) -> Markup:
    return Markup(svg)


def _referred_to(drawings: dict[str, str], name: str, svg: str) -> Markup:
    """In a document that has its drawings apart."""
    drawings[name] = svg
    return Markup(f'<img src="{name}" width="{curve_svg.SMALL_WIDTH}">')


def _body(found: ClassReview, links: bool, drawn: Drawn) -> str:
    parted = found.partings[:PARTINGS_SHOWN]
    return "".join(
        (
            paragraph(_facts(found), "muted"),
            heading(2, tr("Where the seats parted")),
            paragraph(
                tr(
                    "Up to each of these moments all of these seats had done the same. The cost is what those who "
                    "chose another way came to less, on average, than those who chose best. To let all try again "
                    "from there, send them back: on the board, or with the line above the table."
                )
            )
            if parted
            else paragraph(tr("They did not: all seats have done the same, or came to the same points.")),
            *(_parting(one) for one in parted),
            *_curves(found, drawn),
            heading(2, tr("Mistakes most made")),
            _mistakes(found),
            *_sureness(found.calibration),
            *_thoughts(found),
            heading(2, tr("The seats")),
            _seats(found, links),
        )
    )


def _facts(found: ClassReview) -> str:
    count = len(found.seats)
    said = [
        trn("{n} seat", "{n} seats", count).format(n=count),
        tr("{mode}, seed {seed}").format(mode=found.mode, seed=found.seed),
    ]
    scores = [one for seat in found.seats if (one := seat.verdict["score"]) is not None]
    if scores:
        said.append(tr("median {points} points").format(points=formatting.local(f"{median(scores):.0f}")))
    if found.reference is not None:
        said.append(tr("reference {points}").format(points=formatting.local(f"{found.reference:.0f}")))
    if found.par is not None:
        said.append(tr("par {points}").format(points=formatting.local(f"{found.par:.0f}")))
    return ", ".join(said) + "."


def _parting(one: Parting) -> str:
    said = tr("At {time}: {n} seats parted, which cost {points} points").format(
        time=moment(one.tick),
        n=sum(len(each.seats) for each in one.choices),
        points=formatting.local(f"{one.cost:.0f}"),
    )
    rows = [
        (_words(each), len(each.seats), ", ".join(map(str, each.seats)), formatting.local(f"{each.mean:.0f}"))
        for each in one.choices
    ]
    head = (tr("What they did next"), tr("Seats"), tr("Their numbers"), tr("Points on average"))
    caption = tr("Again from there: back all {time}").format(time=_typed(one.tick))
    return heading(3, said) + table(caption, head, rows)


def _words(choice: Choice) -> str:
    return shown(choice.words) or tr("waited")


def _typed(tick: Tick) -> str:
    """A moment as the console takes it: a second earlier, so that nothing is done yet."""
    return f"{max(0, tick - TICKS_PER_S) / TICKS_PER_S:g}"


def _curves(found: ClassReview, drawn: Drawn) -> Iterator[str]:
    """What each seat could still reach, and by what it lost that."""
    weighed = [(seat, seat.account) for seat in found.seats if seat.account is not None]
    if not weighed:
        return
    until = max(worth.end(account) for _, account in weighed)
    rows = [
        (
            seat.number,
            seat.name,
            drawn(f"curve-{seat.number}", curve_svg.small(account, until)),
            formatting.percent(account.accuracy / 100.0),
            "\n".join(_losses(seat, account)) or tr("nothing"),
            _no_return(seat, account),
        )
        for seat, account in weighed
    ]
    head = (
        tr("Seat"), tr("Name"), tr("Points in reach"), tr("Accuracy"), tr("Lost most by"),
        tr("All goals could be reached until"),
    )  # fmt: skip
    caption = tr("From 0 to 100 points, from the start to {end}").format(end=moment(until))
    left = [seat.number for seat in found.seats if seat.account is None and seat.verdict["score"] is not None]
    yield heading(2, tr("Compared with the best possible"))
    yield paragraph(f"{worth.explained()} {worth.may_be_low()}")
    yield table(caption, head, rows)
    if left:
        said = tr("Not worked out in time, or not to be played again: {seats}.")
        yield paragraph(said.format(seats=", ".join(map(str, left))), "muted")


def _losses(seat: SeatReview, account: Account) -> Iterator[str]:
    """The costliest, in the order of time."""
    worst = sorted(worth.stops(account), key=lambda move: -move.lost)[:LOSSES_SHOWN]
    for move in sorted(worst, key=lambda move: (move.tick, move.until)):
        if move.lost >= worth.NOTED:
            yield f"{worth.told(move, asked_of(seat.answers), account.last_chance)}: {worth.cost(move)}"


def _no_return(seat: SeatReview, account: Account) -> str:
    chance = account.last_chance
    if chance is not None:
        return f"{moment(chance.tick)}  {worth.last_act(chance, asked_of(seat.answers))}"
    if all(met is not None for met in seat.verdict["goals"].values()):
        return tr("reached")
    return tr("no known way") if seat.verdict["ended_by"] is not None else tr("not over")


def _mistakes(found: ClassReview) -> str:
    if not found.mistakes:
        return paragraph(tr("None that the drill takes points for."))
    rows = [
        (shown(one.what), shown(one.better), len(one.seats), formatting.local(f"{one.points:.0f}"))
        for one in found.mistakes[:MISTAKES_SHOWN]
    ]
    head = (tr("What"), tr("Better"), tr("Seats"), tr("Points of all"))
    return table(tr("As at the seat that it cost most"), head, rows)


def _sureness(found: Calibration | None) -> Iterator[str]:
    """How sure all seats together were of their answers, beside how often that was right."""
    if found is None:
        return
    yield heading(2, tr("How sure, how right"))
    yield paragraph(formatting.brier(found))
    rows = [
        (f"{point['sure_percent']:g} %", f"{point['right_percent']:.0f} %", point["answers"])
        for point in found["curve"]
    ]
    yield table(tr("All seats together"), (tr("sure"), tr("right"), tr("answers")), rows)


def _thoughts(found: ClassReview) -> Iterator[str]:
    """What people thought before the points were shown, beside what these were."""
    rows = [
        (
            seat.number,
            seat.name,
            _points(seat.reflection.expected_score),
            _points(seat.verdict["score"]),
            seat.reflection.happened,
            seat.reflection.otherwise,
        )
        for seat in found.seats
        if seat.reflection is not None
    ]
    if rows:
        yield heading(2, tr("What they thought before the points were shown"))
        head = (
            tr("Seat"),
            tr("Name"),
            tr("Expected"),
            tr("Points"),
            tr("What happened, and why"),
            tr("What they would do otherwise"),
        )
        yield table(tr("In their own words"), head, rows)


def _seats(found: ClassReview, links: bool) -> str:
    rows = [
        (
            seat.number,
            link(_page_of(seat), seat.name) if links and seat.page else seat.name,
            seat.group,
            _points(seat.verdict["score"]),
            _goals(seat),
            formatting.local(f"{seat.verdict['downtime_s']:.1f}"),
            seat.lost_transactions,
            len(seat.deeds),
            _ended(seat),
        )
        for seat in found.seats
    ]
    head = (
        tr("Seat"),
        tr("Name"),
        tr("Group"),
        tr("Points"),
        tr("Goals"),
        tr("Downtime, s"),
        tr("Lost transactions"),
        tr("Acts"),
        tr("End"),
    )
    return table(tr("As the host has played them again"), head, rows)


def _points(score: float | None) -> str:
    return "" if score is None else formatting.local(f"{score:.1f}")


def _goals(seat: SeatReview) -> str:
    goals = seat.verdict["goals"].values()
    return f"{sum(met is not None for met in goals)}/{len(goals)}" if goals else ""


def _ended(seat: SeatReview) -> str:
    if seat.verdict["parted_t_s"] is not None:
        return tr("differs from {t} on").format(t=formatting.run_time(seat.verdict["parted_t_s"]))
    ended_by = seat.verdict["ended_by"]
    return shown(End[ended_by.upper()].value) if ended_by is not None else tr("not over")


def _sheets(found: ClassReview) -> Iterator[tuple[str, str]]:
    yield "board.csv", as_csv(
        (
            "seat", "name", "group", "score", "downtime_s", "lost_transactions", "acts", "sent_back", "t_s", "ended_by",
            "parted_t_s", "accuracy", "no_return_s",
        ),
        (
            (
                seat.number, seat.name, seat.group, seat.verdict["score"], seat.verdict["downtime_s"],
                seat.lost_transactions, len(seat.deeds), seat.verdict["sent_back"], seat.verdict["t_s"],
                seat.verdict["ended_by"], seat.verdict["parted_t_s"], *_weighed(seat.account),
            )
            for seat in found.seats
        ),
    )  # fmt: skip
    weighed = [(seat, seat.account) for seat in found.seats if seat.account is not None]
    if weighed:
        moves = ((seat.number, *of_move(move)) for seat, account in weighed for move in account.moves)
        yield "worth.csv", as_csv(("seat", *WORTH_COLUMNS), moves)
    thoughts = [(seat, seat.reflection) for seat in found.seats if seat.reflection is not None]
    if thoughts:
        yield (
            "reflections.csv",
            as_csv(
                ("seat", "expected_score", "score", "happened", "otherwise"),
                (
                    (seat.number, said.expected_score, seat.verdict["score"], said.happened, said.otherwise)
                    for seat, said in thoughts
                ),
            ),
        )
    yield (
        "deeds.csv",
        as_csv(
            ("seat", "t_s", "deed"),
            (
                (seat.number, deed.tick / TICKS_PER_S, deed.words)
                for seat in found.seats
                for deed in seat.deeds
            ),
        ),
    )
    yield (
        "partings.csv",
        as_csv(
            ("t_s", "choice", "seats", "mean_score", "cost"),
            (
                (
                    one.tick / TICKS_PER_S,
                    each.words or "waited",
                    " ".join(map(str, each.seats)),
                    each.mean,
                    one.cost,
                )
                for one in found.partings
                for each in one.choices
            ),
        ),
    )
    yield (
        "mistakes.csv",
        as_csv(
            ("what", "better", "seats", "points"),
            ((one.what, one.better, " ".join(map(str, one.seats)), one.points) for one in found.mistakes),
        ),
    )


def _weighed(account: Account | None) -> tuple[float | None, float | None]:
    """Accuracy, and the point of no return in seconds."""
    if account is None:
        return None, None
    no_return = account.no_return
    return round(account.accuracy, 1), None if no_return is None else no_return / TICKS_PER_S


def _strip(
    title: str, values: Sequence[float], most: float, lines: Sequence[tuple[str, float | None]], top: int
) -> Iterator[str]:
    """One row of the picture: equal values stand above one another."""
    base = top + ROW - 26
    yield f'<text x="{LEFT - 12}" y="{base}" text-anchor="end">{text(title)}</text>'
    yield f'<path d="M{LEFT} {base + 6}H{WIDTH - RIGHT}" stroke="#888"/>'
    for part in range(5):
        value = most * part / 4
        at = _x(value, most)
        yield f'<text x="{at:.1f}" y="{base + 20}" text-anchor="middle" fill="#555">{value:.0f}</text>'
    drawn = [(tr("median"), median(values))] if values else []
    drawn += [(name, value) for name, value in lines if value is not None]
    for place, (name, value) in enumerate(sorted(drawn, key=lambda one: one[1])):
        at, up = _x(value, most), top + 12 + 12 * (place % 3)
        anchor = "end" if at > WIDTH / 2 else "start"
        yield f'<path d="M{at:.1f} {up}V{base + 6}" stroke="#d55e00" stroke-dasharray="3 2"/>'
        side = -4 if anchor == "end" else 4
        yield f'<text x="{at + side:.1f}" y="{up + 4}" text-anchor="{anchor}" fill="#a04000">{text(name)}</text>'
    heights: dict[int, int] = {}
    for value in sorted(values):
        column = round(_x(value, most) / (2 * DOT))
        height = heights[column] = heights.get(column, -1) + 1
        step = min(2 * DOT, (ROW - 44) / max(1, len(values)))
        yield (
            f'<circle cx="{_x(value, most):.1f}" cy="{base - height * step:.1f}" r="{DOT}" fill="#0072b2" '
            'fill-opacity="0.65"/>'
        )


def _x(value: float, most: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * value / most
