"""A table as text, plain or in colours for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cardgym.cards import Pack
from cardgym.render.scene import BACK, Laid, Pile, Place, Scene

COVERED = "▒▒"
BOLD, DIM, RED, GREEN, MAGENTA, RESET = (f"\x1b[{code}m" for code in (1, 2, 31, 32, 35, 0))
_COLOURS = (
    (re.compile(r"\w*[♦♥]"), RED),
    (re.compile(r"\bT\d+\b|\bExcuse\b"), MAGENTA),
    (re.compile(COVERED), DIM),
    (re.compile(r"(?<=^  )to act: .*$", re.MULTILINE), GREEN),
)


def draw(pack: Pack, scene: Scene, colour: bool = False) -> str:
    """Draws a table as lines of text.

    Args:
        pack: the game's cards.
        scene: the table.
        colour: with escape sequences that a terminal shows as colours; without them the text is the same.
    """
    lines = [" · ".join((scene.title, *scene.facts))]
    lines += [_place(pack, place) for place in scene.places]
    lines += [f"  {pile.label}: {_pile(pack, pile)}" for pile in scene.piles]
    if scene.last:
        lines.append(f"  {scene.last_label}: {_laid(pack, scene.last)}")
    if scene.table:
        lines.append(f"  {scene.table_label}: {_laid(pack, scene.table)}")
    lines.append(f"  {scene.message}")
    return "\n".join(_coloured(lines, scene.player) if colour else lines) + "\n"


def name(pack: Pack, card: int) -> str:
    """A card's symbol, or that of a covered card."""
    return COVERED if card == BACK else pack.symbols[card]


def _place(pack: Pack, place: Place) -> str:
    marks = f" ({', '.join(place.marks)})" if place.marks else ""
    facts = f"  |  {', '.join(place.facts)}" if place.facts else ""
    return f"  seat {place.seat}{marks}: {' '.join(name(pack, c) for c in place.hand) or '-'}{facts}"


def _pile(pack: Pack, pile: Pile) -> str:
    down = pile.cards.count(BACK)
    shown = [name(pack, card) for card in pile.cards if card != BACK]
    return " ".join([*shown, *([f"{'and ' if shown else ''}{down} face down"] if down else [])])


def _laid(pack: Pack, cards: Sequence[Laid]) -> str:
    return ", ".join(f"{name(pack, c.card)}{' ' if c.note else ''}{c.note} (seat {c.seat})" for c in cards)


def _coloured(lines: Sequence[str], player: int | None) -> list[str]:
    acting = f"  seat {player}"
    coloured = [f"{BOLD}{lines[0]}{RESET}"]
    for line in lines[1:]:
        if re.match(rf"{acting}\b", line):
            line = f"  {BOLD}{acting.strip()}{RESET}{line[len(acting) :]}"
        for pattern, code in _COLOURS:
            line = pattern.sub(rf"{code}\g<0>{RESET}", line)
        coloured.append(line)
    return coloured
