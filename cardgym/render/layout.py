"""Where everything lies on the picture of a table: boxes, cards and words, so placed that nothing overlaps.

The seat whose view is drawn sits at the bottom (a referee looks over the shoulder of seat 0), the others around the
table in their order.  In the middle lie the piles, the trick under way and the last one.  Cards of a hand overlap
each other, but never by so much that one could not tell which card it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cardgym.render import cards as card_art
from cardgym.render.scene import BACK, Laid, Place, Scene
from cardgym.render.shapes import text_size

SMALLEST_CARD = 16  # height, pixels
SMALLEST_FONT = 9
# Seats that sit at the left, at the top and at the right, by number of seats
AROUND = {
    1: (0, 0, 0),
    2: (0, 1, 0),
    3: (0, 2, 0),
    4: (1, 1, 1),
    5: (1, 2, 1),
    6: (1, 3, 1),
    7: (2, 2, 2),
    8: (2, 3, 2),
}


@dataclass(frozen=True)
class Rect:
    """A rectangle, pixels."""

    x: int
    y: int
    width: int
    height: int

    def inner(self, margin: int) -> Rect:
        """The same without a margin at each side."""
        return Rect(self.x + margin, self.y + margin, self.width - 2 * margin, self.height - 2 * margin)

    def below(self, used: int) -> Rect:
        """What is left under the upper ``used`` pixels."""
        return Rect(self.x, self.y + used, self.width, self.height - used)

    def columns(self, shares: Sequence[int]) -> list[Rect]:
        """Side by side, widths in the given shares."""
        edges = [self.x + self.width * sum(shares[:i]) // sum(shares) for i in range(len(shares) + 1)]
        return [Rect(a, self.y, b - a, self.height) for a, b in itertools.pairwise(edges)]

    def rows(self, shares: Sequence[int]) -> list[Rect]:
        """Under each other, heights in the given shares."""
        edges = [self.y + self.height * sum(shares[:i]) // sum(shares) for i in range(len(shares) + 1)]
        return [Rect(self.x, a, self.width, b - a) for a, b in itertools.pairwise(edges)]


@dataclass(frozen=True)
class Words:
    """A line of text: upper left corner, font size, and how it is written."""

    text: str
    x: int
    y: int
    size: int
    style: str = "plain"  # "plain", "name", "title", "message"

    @property
    def rect(self) -> Rect:
        return Rect(self.x, self.y, *text_size(self.text, self.size))


@dataclass(frozen=True)
class Card:
    """A card: id, upper left corner, height, and the group of overlapping cards that it belongs to."""

    card: int
    x: int
    y: int
    height: int
    group: str

    @property
    def rect(self) -> Rect:
        return Rect(self.x, self.y, card_art.width_of(self.height), self.height)

    @property
    def index(self) -> Rect:
        """The part that must stay visible."""
        if self.card == BACK:
            return Rect(self.x, self.y, 2, self.height // 3)
        return Rect(self.x, self.y, card_art.index_width(self.height), card_art.index_height(self.height))


@dataclass
class Plan:
    """A whole picture.

    Attributes:
        size: width and height.
        boxes: of the seats, with whether it is the seat's turn.
        words, cards: what lies in them and between them, cards in the order of drawing.
    """

    size: tuple[int, int]
    boxes: list[tuple[Rect, bool]] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)


def plan(scene: Scene, size: tuple[int, int]) -> Plan:
    """Places everything in a picture of ``size`` (width, height) pixels."""
    made = Plan(size)
    unit = min(size[0] / 640, size[1] / 480)
    bar = round(24 * unit)
    header, main, footer = Rect(0, 0, *size).rows((bar, size[1] - 2 * bar, bar))
    _line(made, scene.title, scene.facts, header.inner(round(3 * unit)), round(19 * unit), "title")
    _line(made, scene.message, (), footer.inner(round(3 * unit)), round(19 * unit), "message")
    seats, centre = _areas(scene, main.inner(round(3 * unit)))
    for place, area in seats:
        _seat(made, scene, place, area.inner(max(1, round(2 * unit))), unit)
    _middle(made, scene, centre.inner(round(5 * unit)), unit)
    return made


def _areas(scene: Scene, main: Rect) -> tuple[list[tuple[Place, Rect]], Rect]:
    """The area of every seat, and what is left in the middle."""
    n = len(scene.places)
    left, top, right = AROUND[n]
    first = scene.view or 0
    order = [scene.places[(first + i) % n] for i in range(n)]
    around = order[1:] if scene.clockwise else order[:0:-1]  # from the left over the top to the right
    upper, middle, lower = main.rows((25, 46, 29) if top else (0, 71, 29))
    west, centre, east = middle.columns((24, 52, 24) if left else (0, 100, 0))
    areas = [(order[0], lower)]
    areas += zip(around[:left][::-1], west.rows([1] * left)) if left else []
    areas += zip(around[left : left + top], upper.columns([1] * top)) if top else []
    areas += zip(around[left + top :], east.rows([1] * right)) if right else []
    return areas, centre


# --- Words -----------------------------------------------------------------------------------


def _fitting(text: str, width: int, largest: int) -> int:
    """The largest font size in which a text is no wider."""
    size = largest
    while size > SMALLEST_FONT and text_size(text, size)[0] > width:
        size -= 1
    return size


def _line(made: Plan, head: str, rest: Sequence[str], area: Rect, largest: int, style: str) -> None:
    """One line in the middle of its area: a heading and facts."""
    text = " · ".join((head, *rest))
    size = _fitting(text, area.width - 8, largest)
    y = area.y + max(0, (area.height - text_size(text, size)[1]) // 2)
    if not rest:
        made.words.append(Words(text, area.x + 4, y, size, style))
        return
    made.words.append(Words(head, area.x + 4, y, size, style))
    x = area.x + 4 + text_size(head, size)[0]
    made.words.append(Words(text[len(head) :], x, y, size))


def _wrapped(parts: Sequence[str], width: int, size: int, separator: str = " · ") -> list[str]:
    """The parts joined to lines no wider than ``width``; a part is broken only at blanks and in the smallest size."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{separator}{part}" if lines else part
        if lines and text_size(longer, size)[0] <= width:
            lines[-1] = longer
        elif size == SMALLEST_FONT and " " in part and text_size(part, size)[0] > width:
            lines += _wrapped(part.split(), width, size, " ")
        else:
            lines.append(part)
    return lines


def _paragraph(made: Plan, name: str, parts: Sequence[str], area: Rect, share: float, largest: int) -> int:
    """A name and facts at the top of an area, in at most ``share`` of its height; returns the height used."""
    for size in range(largest, SMALLEST_FONT - 1, -1):
        lines = _wrapped([name, *parts], area.width, size)
        height = text_size(name, size)[1]
        fits = max(text_size(line, size)[0] for line in lines) <= area.width
        if (fits and len(lines) * height <= share * area.height) or size == SMALLEST_FONT:
            break
    for i, line in enumerate(lines):
        y = area.y + i * height
        if i == 0:
            made.words.append(Words(name, area.x, y, size, "name"))
            rest = line[len(name) :]
            if rest:
                made.words.append(Words(rest, area.x + text_size(name, size)[0], y, size))
        else:
            made.words.append(Words(line, area.x, y, size))
    return len(lines) * height


# --- Cards -----------------------------------------------------------------------------------


def _row_widths(cards: Sequence[int], height: int) -> list[int]:
    """The least distance from each card to the next one in its row."""
    return [max(2, height // 20) if c == BACK else card_art.index_width(height) + 1 for c in cards]


def _rows_of(cards: Sequence[int], width: int, height: int) -> list[Sequence[int]] | None:
    """Cards cut into as few rows as fit; None when a single card is too wide."""
    steps, full = _row_widths(cards, height), card_art.width_of(height)
    if full > width:
        return None
    rows, start, used = [], 0, 0
    for i, step in enumerate(steps):
        if i > start and used + full > width:
            rows.append(cards[start:i])
            start, used = i, 0
        used += step
    return [*rows, cards[start:]]


def fan(made: Plan, cards: Sequence[int], area: Rect, largest: int, group: str, high: bool = False) -> None:
    """Cards in rows, as large as the area allows; rows and cards overlap, the indices stay visible.

    Args:
        made: where they are added.
        cards: ids.
        area: where they may lie.
        largest: height that a card has at most, pixels.
        group: name of these cards.
        high: at the top of the area, not in its middle.
    """
    if not cards:
        return
    for height in range(min(largest, area.height), SMALLEST_CARD - 1, -1):
        rows = _rows_of(cards, area.width, height)
        if rows and height + (len(rows) - 1) * card_art.index_height(height) <= area.height:
            break
    else:
        height, rows = SMALLEST_CARD, [cards]
    apart = card_art.index_height(height)
    if len(rows) > 1:
        apart = min(height + 2, (area.height - height) // (len(rows) - 1))
        rows = _even(cards, len(rows), area.width, height) or rows
    top = area.y + (0 if high else (area.height - height - (len(rows) - 1) * apart) // 2)
    for r, row in enumerate(rows):
        for card, x in zip(row, _spread(row, area, height)):
            made.cards.append(Card(card, x, top + r * apart, height, group))


def _even(cards: Sequence[int], rows: int, width: int, height: int) -> list[Sequence[int]] | None:
    """The cards in rows of about equal length, if they fit so."""
    each = -(-len(cards) // rows)
    cut = [cards[i : i + each] for i in range(0, len(cards), each)]
    full = card_art.width_of(height)
    fits = all(sum(_row_widths(row, height)[:-1]) + full <= width for row in cut)
    return cut if fits else None


def _spread(row: Sequence[int], area: Rect, height: int) -> Iterator[int]:
    """Where the cards of a row begin: apart if there is room, in the middle of the area."""
    full = card_art.width_of(height)
    least = _row_widths(row, height)[:-1]
    most = [full // 3 if c == BACK else full + 3 for c in row[:-1]]
    spare, wanted = area.width - full - sum(least), sum(most) - sum(least)
    share = 1.0 if wanted <= 0 else max(0.0, min(1.0, spare / wanted))
    steps = [a + int(share * (b - a)) for a, b in zip(least, most)]
    x = area.x + (area.width - full - sum(steps)) // 2
    for step in (*steps, 0):
        yield x
        x += step


def _seat(made: Plan, scene: Scene, place: Place, area: Rect, unit: float) -> None:
    """A seat's box: its name and facts, under them its hand."""
    made.boxes.append((area, place.seat == scene.player))
    inside = area.inner(round(4 * unit))
    used = _paragraph(made, f"seat {place.seat}", [*place.marks, *place.facts], inside, 0.42, round(17 * unit))
    left = inside.below(used + round(2 * unit))
    own = place.seat == (scene.view or 0)
    fan(made, place.hand, left, round((104 if own else 78) * unit), f"seat {place.seat}")


# --- The middle ------------------------------------------------------------------------------


def _middle(made: Plan, scene: Scene, area: Rect, unit: float) -> None:
    """Piles, the trick under way, the last trick."""
    gap = round(6 * unit)
    if area.width > 2.6 * area.height:
        piles, table, last = (r.inner(gap) for r in area.columns((30, 40, 30)))
    else:
        upper, table = area.rows((46, 54))
        table = table.inner(gap)
        if scene.piles and scene.last:
            piles, last = (r.inner(gap) for r in upper.columns((1, 1)))
        else:
            piles = last = upper.inner(gap)
    widths = [3 + min(6, _apparent(pile.cards)) for pile in scene.piles]
    for pile, place in zip(scene.piles, piles.columns(widths or [1])):
        label = pile.label if len(pile.cards) == 1 else f"{pile.label} {len(pile.cards)}"
        inner = Rect(place.x + 2, place.y, place.width - 4, place.height)
        used = _caption(made, label, inner, round(15 * unit))
        fan(made, _shortened(pile.cards), inner.below(used + 2), round(76 * unit), f"pile {pile.label}", high=True)
    _trick(made, scene.table_label, scene.table, table, round(98 * unit), unit)
    _trick(made, scene.last_label, scene.last, last, round(66 * unit), unit)


def _shortened(cards: Sequence[int]) -> Sequence[int]:
    """A pile without most of its backs; how many there are its label tells."""
    return [c for c in cards if c != BACK] + [BACK] * min(4, sum(c == BACK for c in cards))


def _apparent(cards: Sequence[int]) -> int:
    """How much room a pile asks for: backs lie on each other."""
    shown = sum(card != BACK for card in cards)
    return shown + (len(cards) - shown + 3) // 4


def _caption(made: Plan, text: str, area: Rect, largest: int) -> int:
    """A line in the middle of the top of an area; returns its height."""
    size = _fitting(text, area.width, largest)
    width, height = text_size(text, size)
    made.words.append(Words(text, area.x + max(0, (area.width - width) // 2), area.y, size))
    return height


def _trick(made: Plan, label: str, laid: Sequence[Laid], area: Rect, largest: int, unit: float) -> None:
    """Cards side by side, each over the number of its seat."""
    if not laid:
        return
    body = area.below(_caption(made, label, area, round(15 * unit)) + 2)
    captions = [f"seat {c.seat}" for c in laid]
    notes = [c.note for c in laid]
    slot = body.width // max(3, len(laid))
    size = min(_fitting(text, slot - 4, round(14 * unit)) for text in (*captions, *notes))
    line = text_size("seat", size)[1]
    lines = 2 if any(notes) else 1
    height = min(largest, body.height - lines * line - 2)
    while height > SMALLEST_CARD and card_art.width_of(height) > slot - 3:
        height -= 1
    start = body.x + (body.width - slot * len(laid)) // 2
    for i, (card, caption) in enumerate(zip(laid, captions)):
        x = start + i * slot
        made.cards.append(Card(card.card, x + (slot - card_art.width_of(height)) // 2, body.y, height, f"{label} {i}"))
        for k, text in enumerate((caption, card.note) if card.note else (caption,)):
            width = text_size(text, size)[0]
            made.words.append(Words(text, x + (slot - width) // 2, body.y + height + 1 + k * line, size))
