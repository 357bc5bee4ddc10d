"""The cards of all packs, drawn by the program: indices, pips, courts, trumps of a tarot pack, the back."""

from __future__ import annotations

import functools
from typing import Any

from cardgym.cards import Pack
from cardgym.render.scene import BACK
from cardgym.render.shapes import (
    BLACK,
    BLUE,
    GOLD,
    SUIT_COLOURS,
    Colour,
    Pen,
    draw_court,
    draw_fool,
    draw_star,
    draw_suit,
    font,
    pygame,
)

PAPER: Colour = (252, 250, 244)
EDGE: Colour = (120, 116, 104)
LARGE = 84  # from this height on a card has pips and an index at both ends
SMOOTH = 4  # cards are drawn this much larger, then made small

_THREE = ((0.5, 0.2), (0.5, 0.5), (0.5, 0.8))
_FOUR = ((0.33, 0.2), (0.67, 0.2), (0.33, 0.8), (0.67, 0.8))
_SIX = (*_FOUR, (0.33, 0.5), (0.67, 0.5))
_EIGHT = (*_FOUR, (0.33, 0.4), (0.67, 0.4), (0.33, 0.6), (0.67, 0.6))
PIPS: dict[str, tuple[tuple[float, float], ...]] = {
    "2": (_THREE[0], _THREE[2]),
    "3": _THREE,
    "4": _FOUR,
    "5": (*_FOUR, _THREE[1]),
    "6": _SIX,
    "7": (*_SIX, (0.5, 0.35)),
    "8": (*_SIX, (0.5, 0.35), (0.5, 0.65)),
    "9": (*_EIGHT, _THREE[1]),
    "10": (*_EIGHT, (0.5, 0.3), (0.5, 0.7)),
}


def width_of(height: int) -> int:
    """Width of a card of the given height, pixels."""
    return round(0.66 * height)


def index_width(height: int) -> int:
    """How much of a card's width, from the left, tells which card it is."""
    return round(0.36 * height) if height < LARGE else round(0.2 * height)


def index_height(height: int) -> int:
    """How much of a card's height, from the top, tells which card it is."""
    return round(0.62 * height) if height < LARGE else round(0.42 * height)


@functools.lru_cache(maxsize=512)
def picture(pack: Pack, card: int, height: int) -> Any:
    """A card as a surface with rounded corners, ``(width_of(height), height)`` pixels.

    Args:
        pack: its pack.
        card: its id, or :data:`cardgym.render.scene.BACK`.
        height: pixels.
    """
    w, h = SMOOTH * width_of(height), SMOOTH * height
    large = pygame.Surface((w, h), pygame.SRCALPHA)
    radius = h // 14
    edge = max(SMOOTH, h // 90)
    pygame.draw.rect(large, EDGE, (0, 0, w, h), border_radius=radius)
    inner = (edge, edge, w - 2 * edge, h - 2 * edge)
    pygame.draw.rect(large, PAPER, inner, border_radius=radius - edge)
    if card == BACK:
        _back(large, w, h)
    elif height < LARGE:
        _small(large, pack, card, w, h)
    else:
        _large(large, pack, card, w, h)
    return pygame.transform.smoothscale(large, (width_of(height), height))


def _back(surface: Any, w: int, h: int) -> None:
    margin = h // 16
    frame = pygame.Rect(margin, margin, w - 2 * margin, h - 2 * margin)
    pygame.draw.rect(surface, (44, 72, 128), frame, border_radius=h // 24)
    surface.set_clip(frame.inflate(-margin, -margin))
    step = max(8, h // 9)
    for offset in range(-h, w + h, step):
        for end in (offset + h, offset - h):
            pygame.draw.line(surface, (108, 136, 190), (offset, 0), (end, h), max(2, h // 70))
    surface.set_clip(None)


def _rank(pack: Pack, card: int) -> str:
    """What the index says: the rank, the number of a trump, nothing for the Excuse."""
    if pack.suit(card) is not None:
        return pack.names[card][:-1]
    name = pack.names[card]
    return name[1:] if name[1:].isdigit() else ""


def _colour(pack: Pack, card: int) -> Colour:
    suit = pack.suit(card)
    return BLUE if suit is None else SUIT_COLOURS[suit]


def _sign(surface: Any, pack: Pack, card: int, x: float, y: float, size: float) -> None:
    """The suit of a card, or what stands for it on trumps and on the Excuse."""
    pen, suit = Pen(surface, x, y, size), pack.suit(card)
    if suit is not None:
        draw_suit(pen, suit, SUIT_COLOURS[suit])
    elif _rank(pack, card):
        draw_star(pen, 5, GOLD, 0.42)
    else:
        draw_fool(pen)


def _letters(surface: Any, text: str, box: tuple[float, float, float, float], colour: Colour) -> None:
    """Writes into the middle of a box (x, y, width, height), as large as fits; the height is that of capitals."""
    x, y, width, height = box
    if not text:
        return
    drawn = font(max(8, round(1.43 * height))).render(text, True, colour)
    drawn = drawn.subsurface(drawn.get_bounding_rect())
    scale = min(width / drawn.get_width(), height / drawn.get_height())
    size = (max(1, round(scale * drawn.get_width())), max(1, round(scale * drawn.get_height())))
    drawn = pygame.transform.smoothscale(drawn, size)
    surface.blit(drawn, (x + (width - size[0]) / 2, y + (height - size[1]) / 2))


def _small(surface: Any, pack: Pack, card: int, w: int, h: int) -> None:
    """A large index at the left, the court or the suit at the right."""
    rank, colour = _rank(pack, card), _colour(pack, card)
    if rank:
        _letters(surface, rank, (0.05 * h, 0.07 * h, 0.28 * h, 0.25 * h), colour)
        _sign(surface, pack, card, 0.065 * h, 0.36 * h, 0.25 * h)
    else:
        _sign(surface, pack, card, 0.045 * h, 0.1 * h, 0.3 * h)
    if pack.suit(card) is not None and rank in ("J", "C", "Q", "K"):
        draw_court(Pen(surface, 0.28 * h, 0.6 * h, 0.34 * h), rank, colour)
    elif rank:
        _sign(surface, pack, card, 0.3 * h, 0.62 * h, 0.31 * h)
    else:
        _sign(surface, pack, card, 0.24 * h, 0.56 * h, 0.38 * h)


def _large(surface: Any, pack: Pack, card: int, w: int, h: int) -> None:
    """An index at two corners; between them pips, a court or the number of a trump."""
    _corner(surface, pack, card, h)
    turned = pygame.transform.rotate(surface, 180)
    _corner(turned, pack, card, h)
    surface.blit(turned, (0, 0))
    rank, suit = _rank(pack, card), pack.suit(card)
    if suit is None:
        _trump(surface, pack, card, w, h)
    elif rank in ("J", "C", "Q", "K"):
        _framed(surface, w, h, (244, 232, 224) if SUIT_COLOURS[suit] != BLACK else (228, 232, 240))
        draw_court(Pen(surface, w / 2 - 0.14 * h, 0.17 * h, 0.28 * h), rank, SUIT_COLOURS[suit])
        _sign(surface, pack, card, w / 2 - 0.11 * h, 0.56 * h, 0.22 * h)
    elif rank in ("A", "1"):
        _sign(surface, pack, card, w / 2 - 0.2 * h, 0.3 * h, 0.4 * h)
    else:
        for x, y in PIPS[rank]:
            size = 0.13 * h
            pip = pygame.Surface((round(size), round(size)), pygame.SRCALPHA)
            _sign(pip, pack, card, 0, 0, size)
            pip = pygame.transform.rotate(pip, 180) if y > 0.5 else pip
            surface.blit(pip, (w * (0.5 + 0.77 * (x - 0.5)) - size / 2, h * y - size / 2))


def _corner(surface: Any, pack: Pack, card: int, h: int) -> None:
    rank = _rank(pack, card)
    if rank:
        _letters(surface, rank, (0.03 * h, 0.05 * h, 0.15 * h, 0.14 * h), _colour(pack, card))
        _sign(surface, pack, card, 0.04 * h, 0.215 * h, 0.13 * h)
    else:
        _sign(surface, pack, card, 0.025 * h, 0.05 * h, 0.17 * h)


def _framed(surface: Any, w: int, h: int, colour: Colour) -> None:
    frame = (0.18 * h, 0.1 * h, w - 0.36 * h, 0.8 * h)
    pygame.draw.rect(surface, colour, frame, border_radius=h // 40)
    pygame.draw.rect(surface, GOLD, frame, width=max(2, h // 90), border_radius=h // 40)


def _trump(surface: Any, pack: Pack, card: int, w: int, h: int) -> None:
    rank = _rank(pack, card)
    if not rank:
        draw_fool(Pen(surface, w / 2 - 0.2 * h, 0.3 * h, 0.4 * h))
        return
    draw_star(Pen(surface, w / 2 - 0.2 * h, 0.3 * h, 0.4 * h), 16, GOLD, 0.8)
    pygame.draw.circle(surface, PAPER, (w / 2, h / 2), 0.135 * h)
    _letters(surface, rank, (w / 2 - 0.1 * h, 0.42 * h, 0.2 * h, 0.16 * h), BLUE)
