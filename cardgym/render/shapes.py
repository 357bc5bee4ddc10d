"""Shapes drawn by the program itself: suits, words with suits in them, and what stands on court cards.

A shape is a polygon (or circles) in a unit square with the y axis downwards; nothing depends on the fonts of the
system, since pygame brings its own.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

from cardgym.cards import SUITS, SYMBOLS
from cardgym.errors import require

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
pygame: Any = require("pygame", "render")

Colour = tuple[int, int, int]
Point = tuple[float, float]

BLACK: Colour = (28, 30, 38)
RED: Colour = (196, 32, 44)
BLUE: Colour = (38, 66, 140)
GOLD: Colour = (214, 168, 62)
SUIT_COLOURS: tuple[Colour, ...] = (BLACK, RED, RED, BLACK)
_SUIT_OF_SYMBOL = {SYMBOLS[suit]: i for i, suit in enumerate(SUITS)}


# --- Shapes ----------------------------------------------------------------------------------


class Pen:
    """Draws unit shapes into a square of a surface.

    Args:
        surface: where to.
        x, y: the upper left corner.
        size: of the square, pixels.
    """

    def __init__(self, surface: Any, x: float, y: float, size: float) -> None:
        self.surface, self.x, self.y, self.size = surface, x, y, size

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        placed = [(self.x + px * self.size, self.y + py * self.size) for px, py in points]
        pygame.draw.polygon(self.surface, colour, placed)

    def circle(self, x: float, y: float, radius: float, colour: Colour) -> None:
        centre = (self.x + x * self.size, self.y + y * self.size)
        pygame.draw.circle(self.surface, colour, centre, radius * self.size)

    def bar(self, x: float, y: float, width: float, height: float, colour: Colour) -> None:
        self.polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], colour)


_STALK = [(0.5, 0.55), (0.56, 0.8), (0.7, 0.95), (0.3, 0.95), (0.44, 0.8)]


def draw_suit(pen: Pen, suit: int, colour: Colour) -> None:
    """A club, diamond, heart or spade (0-3)."""
    if suit == 0:
        for x, y in ((0.5, 0.27), (0.27, 0.58), (0.73, 0.58)):
            pen.circle(x, y, 0.215, colour)
        pen.bar(0.42, 0.36, 0.16, 0.3, colour)
        pen.polygon(_STALK, colour)
    elif suit == 1:
        pen.polygon(_curved_diamond(), colour)
    elif suit == 2:
        pen.polygon(_heart(), colour)
    else:
        pen.polygon([(x, 0.88 - 0.82 * y) for x, y in _heart()], colour)
        pen.polygon(_STALK, colour)


@functools.cache
def _curved_diamond() -> list[Point]:
    """Four arcs that bend inwards."""
    points = []
    for start, end in _sides(((0.5, 0.03), (0.86, 0.5), (0.5, 0.97), (0.14, 0.5))):
        for k in range(8):
            t = k / 8
            x, y = start[0] + t * (end[0] - start[0]), start[1] + t * (end[1] - start[1])
            pull = 1 - 0.12 * math.sin(math.pi * t)
            points.append((0.5 + (x - 0.5) * pull, 0.5 + (y - 0.5) * pull))
    return points


def _sides(points: Sequence[Point]) -> Iterator[tuple[Point, Point]]:
    for i, point in enumerate(points):
        yield point, points[(i + 1) % len(points)]


@functools.cache
def _heart() -> list[Point]:
    """The curve x = 16 sin³ t, y = 13 cos t - 5 cos 2t - 2 cos 3t - cos 4t, scaled into the unit square."""
    points = []
    for k in range(48):
        t = 2 * math.pi * k / 48
        x = 16 * math.sin(t) ** 3
        y = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
        points.append((0.5 + x / 36, 0.47 - y / 36))
    return points


def draw_star(pen: Pen, rays: int, colour: Colour, inner: float = 0.5) -> None:
    """A star with the given number of rays."""
    points = []
    for k in range(2 * rays):
        radius = 0.48 if k % 2 == 0 else 0.48 * inner
        angle = math.pi * k / rays - math.pi / 2
        points.append((0.5 + radius * math.cos(angle), 0.5 + radius * math.sin(angle)))
    pen.polygon(points, colour)


def draw_court(pen: Pen, rank: str, colour: Colour) -> None:
    """What marks a court card: the king's and the queen's crown, the cavalier's horse, the jack's plumed hat."""
    if rank == "K":
        pen.polygon([(0.1, 0.3), (0.3, 0.52), (0.5, 0.2), (0.7, 0.52), (0.9, 0.3), (0.8, 0.78), (0.2, 0.78)], GOLD)
        pen.bar(0.2, 0.74, 0.6, 0.12, colour)
        pen.bar(0.47, 0.04, 0.06, 0.2, colour)
        pen.bar(0.41, 0.09, 0.18, 0.06, colour)
        for x, y in ((0.1, 0.28), (0.9, 0.28)):
            pen.circle(x, y, 0.06, colour)
    elif rank == "Q":
        pen.polygon(
            [(0.12, 0.36), (0.32, 0.56), (0.5, 0.3), (0.68, 0.56), (0.88, 0.36), (0.76, 0.76), (0.24, 0.76)], GOLD
        )
        pen.bar(0.24, 0.72, 0.52, 0.08, colour)
        for x, y in ((0.12, 0.32), (0.31, 0.42), (0.5, 0.24), (0.69, 0.42), (0.88, 0.32)):
            pen.circle(x, y, 0.065, colour)
    elif rank == "C":
        horse = [
            (0.3, 0.9), (0.34, 0.66), (0.46, 0.52), (0.3, 0.56), (0.2, 0.62), (0.12, 0.54), (0.3, 0.32), (0.4, 0.2),
            (0.44, 0.08), (0.54, 0.18), (0.72, 0.28), (0.82, 0.5), (0.84, 0.9),
        ]  # fmt: skip
        pen.polygon(horse, GOLD)
        pen.polygon([(0.54, 0.16), (0.76, 0.24), (0.9, 0.5), (0.9, 0.9), (0.8, 0.9), (0.8, 0.52), (0.68, 0.32)], colour)
        pen.bar(0.24, 0.86, 0.68, 0.08, colour)
        pen.circle(0.42, 0.32, 0.035, colour)
    else:
        pen.polygon([(0.18, 0.66), (0.24, 0.34), (0.5, 0.22), (0.74, 0.34), (0.8, 0.66)], GOLD)
        pen.polygon([(0.02, 0.64), (0.96, 0.64), (0.84, 0.76), (0.14, 0.76)], colour)
        pen.polygon([(0.7, 0.62), (0.7, 0.28), (0.86, 0.04), (0.98, 0.2), (0.86, 0.48)], colour)


def draw_fool(pen: Pen) -> None:
    """The cap and bells of the Excuse."""
    pen.polygon([(0.2, 0.78), (0.04, 0.36), (0.3, 0.3), (0.44, 0.5), (0.5, 0.78)], RED)
    pen.polygon([(0.8, 0.78), (0.96, 0.36), (0.7, 0.3), (0.56, 0.5), (0.5, 0.78)], BLUE)
    pen.polygon([(0.34, 0.78), (0.5, 0.14), (0.66, 0.78)], GOLD)
    for x, y in ((0.06, 0.4), (0.94, 0.4), (0.5, 0.12)):
        pen.circle(x, y, 0.07, GOLD)
    pen.bar(0.18, 0.74, 0.64, 0.12, BLACK)


# --- Words -----------------------------------------------------------------------------------


@functools.cache
def font(size: int) -> Any:
    """pygame's own font."""
    if not pygame.font.get_init():
        pygame.font.init()
    return pygame.font.Font(None, size)


def _runs(text: str) -> Iterator[tuple[str, int | None]]:
    """The text cut into words without suit symbols, and symbols with their suits."""
    start = 0
    for i, letter in enumerate(text):
        if letter in _SUIT_OF_SYMBOL:
            if start < i:
                yield text[start:i], None
            yield letter, _SUIT_OF_SYMBOL[letter]
            start = i + 1
    if start < len(text):
        yield text[start:], None


def _symbol_size(size: int) -> int:
    return max(4, round(0.62 * size))


@functools.lru_cache(maxsize=4096)
def text_size(text: str, size: int) -> tuple[int, int]:
    """Width and height of a text with suits in it, pixels."""
    width = sum(font(size).size(run)[0] if suit is None else _symbol_size(size) for run, suit in _runs(text))
    return width, font(size).get_linesize()


def write(surface: Any, text: str, x: int, y: int, size: int, colour: Colour) -> None:
    """Writes a text; red suits stay red."""
    for run, suit in _runs(text):
        if suit is None:
            drawn = font(size).render(run, True, colour)
            surface.blit(drawn, (x, y))
            x += drawn.get_width()
            continue
        square = _symbol_size(size)
        top = y + (font(size).get_linesize() - square) // 2
        surface.blit(suit_symbol(suit, square, colour if SUIT_COLOURS[suit] == BLACK else (240, 84, 84)), (x, top))
        x += square


@functools.lru_cache(maxsize=256)
def suit_symbol(suit: int, size: int, colour: Colour) -> Any:
    """A suit as a small smooth picture with a clear ground."""
    large = pygame.Surface((4 * size, 4 * size), pygame.SRCALPHA)
    large.fill((*colour, 0))
    draw_suit(Pen(large, 0, 0, 4 * size), suit, colour)
    return pygame.transform.smoothscale(large, (size, size))
