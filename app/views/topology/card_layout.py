"""Default positions of the cards on the canvas. A moved card keeps its position. Independent of Qt."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct


class CardSize(Struct, frozen=True):
    """Width and height of a card."""

    width: float
    height: float


NamedCardSize = tuple[str, CardSize]
"""Name and size of a card."""
CardCenter = tuple[float, float]
"""Center of a card on the canvas."""

TALL_PARTNER_RATIO: Final = 2.0
"""Ratio of the heights of a partner card and a small card.

Above this ratio, small cards fit between two partners and are placed there.
"""

RING_PARTNERS_MIN: Final = 5
"""Minimum number of replicas that are arranged in a ring around witness and applications.

An arc with so many replicas would be too wide.
"""

COMPACT_ROW_GAP_SHARE: Final = 0.2
"""Distance between rows of compact cards, as a share of the normal gap between cards."""
COMPACT_CARD_GAP_SHARE: Final = 0.36
"""Distance between compact cards in a row of witnesses or applications, as a share of the normal gap."""

WIDE_SPACING_PARTNERS_MAX: Final = 4
"""Maximum number of partners above and below the center that have the full gap between cards.

More partners have half of the gap.
"""


def compute_card_centers(
    partners: Sequence[NamedCardSize],
    witnesses: Sequence[NamedCardSize],
    clients: Sequence[NamedCardSize],
    gap: float,
    arc: bool = False,
    head: float = 0.0,
) -> dict[str, CardCenter]:
    """Arrange partners in a row, witnesses above and applications below, as in Microsoft's white papers.

    Between two partners there is space for the witness's card and for text on the link.

    Args:
        partners: name and card size of each partner, in order.
        witnesses: name and card size of each witness.
        clients: name and card size of each application.
        gap: normal distance between cards.
        arc: arrange the partners in an arc. The line between any two partners then passes above the partners
            between them. From RING_PARTNERS_MIN partners on, the arc is a closed ring.
        head: height of the heads of compact cards, between which links are drawn. Compact cards are closer
            together. 0 means wide cards.
    """
    if arc and head and len(partners) == RING_PARTNERS_MIN - 1:
        return _arrange_square(partners, witnesses, clients, gap)
    if arc and len(partners) >= RING_PARTNERS_MIN:
        return _arrange_around_center(partners, witnesses, clients, gap)
    reach = max((size.height for _, size in partners), default=0.0) / 2.0
    arc = arc and len(partners) > 2
    is_beside = len(partners) <= 2  # witness and application are centered between two partners
    # leave space for text between the cards
    gap_between = gap * (1.6 if len(partners) == 2 else 1.35 if arc and not head else 1.0)
    near_gap = gap * (COMPACT_ROW_GAP_SHARE if head else 0.32 if is_beside or arc else 1.0)
    drops = []
    for rows in (witnesses, clients):
        height = max((size.height for _, size in rows), default=0.0)
        fits_in_arc = (
            is_beside and rows and reach > TALL_PARTNER_RATIO * height and (len(rows) == 1 or not head)
        )
        drops.append(reach - height / 2.0 if fits_in_arc else reach + height / 2.0 + near_gap)
        if fits_in_arc:
            gap_between = max(gap_between, sum(size.width for _, size in rows) + gap * 0.3)
    places = _place_row(partners, 0.0, gap_between)
    outer = [places[name][0] for name, _ in partners]
    depth = 0.0
    if arc:
        last, rise = len(partners) - 1, head * 1.6 or reach + gap * 0.25
        for position, (name, size) in enumerate(partners):
            level = size.height / 2.0 - reach if head else 0.0
            places[name] = (places[name][0], level + rise * position * (last - position))
        depth = rise * max(index * (last - index) for index in range(last))
    aside = gap * COMPACT_CARD_GAP_SHARE if head else gap
    places |= _place_row(witnesses, -drops[0], aside)
    if (
        arc and head and len(clients) <= 2
    ):  # applications are below the outer partners, which are higher than the arc's middle
        return places | {name: (outer[-index], drops[1]) for index, (name, _) in enumerate(clients)}
    return places | _place_row(clients, drops[1] + depth, aside)


def _arrange_square(
    partners: Sequence[NamedCardSize],
    witnesses: Sequence[NamedCardSize],
    clients: Sequence[NamedCardSize],
    gap: float,
) -> dict[str, CardCenter]:
    """Arrange four partners in two rows, with witnesses and applications in a column between them."""
    middle = max((size.width for _, size in (*witnesses, *clients)), default=0.0)
    height = max(size.height for _, size in partners)
    distance_x = (max(size.width for _, size in partners) + middle) / 2.0 + gap * 0.9
    down = (height + gap * 0.5) / 2.0
    places = {
        name: (distance_x * (index % 2 * 2 - 1), down * (index // 2 * 2 - 1))
        for index, (name, _) in enumerate(partners)
    }
    # witnesses are stacked from the top, applications from the bottom
    for cards, direction in ((witnesses, 1.0), (clients[::-1], -1.0)):
        y = -direction * (down + height / 2.0 - gap * 0.5 * (direction > 0.0))
        for name, size in cards:
            places[name] = (0.0, y + direction * size.height / 2.0)
            y += direction * (size.height + gap * COMPACT_ROW_GAP_SHARE)
    return places


def _arrange_around_center(
    partners: Sequence[NamedCardSize],
    witnesses: Sequence[NamedCardSize],
    clients: Sequence[NamedCardSize],
    gap: float,
) -> dict[str, CardCenter]:
    """Arrange partners around witnesses and applications.

    The first two partners, which usually fail over to each other, are on the left and right. The others are
    above and below.
    """
    (left, _), (right, _), *other_partners = partners
    width, height = max(size.width for _, size in partners), max(size.height for _, size in partners)
    inner_height = max((size.height for _, size in (*witnesses, *clients)), default=0.0)
    near_y, far_y = inner_height / 2.0 + gap * 0.2, inner_height + height / 2.0 + gap * 0.75
    aside = gap if len(other_partners) <= WIDE_SPACING_PARTNERS_MAX else gap * 0.5
    rows = (
        (witnesses, -near_y),
        (clients, near_y),
        (other_partners[::2], -far_y),
        (other_partners[1::2], far_y),
    )
    places: dict[str, CardCenter] = {}
    for row, y in rows:
        places |= _place_row(row, y, aside)
    half_width = max(
        (abs(places[name][0]) + size.width / 2.0 for name, size in (*witnesses, *clients)), default=0.0
    )
    reach = max((abs(places[name][0]) for name, _ in other_partners), default=0.0) + width / 2.0
    outer_x = max(half_width + aside + width / 2.0, reach)
    return places | {left: (-outer_x, 0.0), right: (outer_x, 0.0)}


def _place_row(items: Sequence[NamedCardSize], y: float, gap: float) -> dict[str, CardCenter]:
    width = sum(size.width for _, size in items) + gap * max(0, len(items) - 1)
    x, places = -width / 2.0, {}
    for name, size in items:
        places[name] = (x + size.width / 2.0, y)
        x += size.width + gap
    return places


def find_nearest_object(centers: dict[str, CardCenter], start: str, direction: CardCenter) -> str | None:
    """Return the object that is nearest to *start* in *direction*, by angle and distance.

    Direction (1, 0) means right. Return None if there is no object in this direction.
    """
    x0, y0 = centers[start]
    best: tuple[float, str] | None = None
    for name, (x, y) in centers.items():
        along = (x - x0) * direction[0] + (y - y0) * direction[1]
        offset = abs((x - x0) * direction[1]) + abs((y - y0) * direction[0])
        if name != start and along > 1e-6 and offset <= 2.5 * along:
            rank = (along + 2.0 * offset, name)
            best = min(best, rank) if best else rank
    return best[1] if best else None
