"""A table as data: what a seat sees of it, ready to be drawn as text or as a picture.

A game describes its table once, in ``Game.scene``; :mod:`cardgym.render.text` and :mod:`cardgym.render.picture`
draw whatever it says.  Words may hold the suit symbols ♣ ♦ ♥ ♠.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cardgym.cards import Pack

BACK = -1
"""In place of a card: one that lies face down, or is covered for the seat whose view is drawn."""

_BLACK_AND_RED = (0, 1, 3, 2)  # clubs, diamonds, spades, hearts


@dataclass(frozen=True)
class Laid:
    """A card on the table.

    Attributes:
        card: its id, or :data:`BACK`.
        seat: who laid it.
        note: what else there is to say about it, such as ``"face down"``.
    """

    card: int
    seat: int
    note: str = ""


@dataclass(frozen=True)
class Pile:
    """Cards that lie together: a stock, a turn-up, a discard.

    Attributes:
        label: its name.
        cards: ids from the bottom up; :data:`BACK` for those face down.
    """

    label: str
    cards: tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """A seat at the table.

    Attributes:
        seat: its number.
        hand: its cards in the order in which one would hold them; :data:`BACK` for covered ones, which come last.
        marks: what the seat is or has said: ``"dealer"``, a bid.
        facts: its points, tricks and announcements.
    """

    seat: int
    hand: tuple[int, ...]
    marks: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A table as ``view`` sees it.

    Attributes:
        title: name of the game.
        view: the seat whose view this is, None for a referee's, who sees everything.
        places: the seats in order.
        player: whose turn it is, None when the game is over.
        message: who is to do what, or how the game ended.
        facts: what all know about the deal: trick, trumps, contract.
        table: the cards of the trick under way, in the order in which they were laid.
        table_label: what to call them.
        last: the cards of the trick before, in the order in which they were laid.
        last_label: what to call them, for example ``"last trick, to seat 1"``.
        piles: other cards on the table.
        clockwise: does seat ``i + 1`` sit to the left of seat ``i``?
    """

    title: str
    view: int | None
    places: tuple[Place, ...]
    player: int | None
    message: str
    facts: tuple[str, ...] = ()
    table: tuple[Laid, ...] = ()
    table_label: str = "on the table"
    last: tuple[Laid, ...] = ()
    last_label: str = "last trick"
    piles: tuple[Pile, ...] = ()
    clockwise: bool = True


def by_suit(pack: Pack, cards: Iterable[int], trump: int | None = None) -> tuple[int, ...]:
    """Cards as one holds them: those without a suit, trumps, then the other suits in turns of black and red.

    Within each, from the highest number down.

    Args:
        pack: their pack.
        cards: ids.
        trump: the trump suit, if one suit is.
    """

    def key(card: int) -> tuple[bool, bool, int, int]:
        suit = pack.suit(card)
        return suit is not None, suit != trump, -1 if suit is None else _BLACK_AND_RED.index(suit), -card

    return tuple(sorted((int(card) for card in cards), key=key))
