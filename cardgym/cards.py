"""Packs of cards: ids, names, symbols.

A card is a small integer, ``suit * ranks + rank``; suits are ordered clubs, diamonds,
hearts, spades, ranks from low to high.  Trumps of a tarot pack follow the suits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

SUITS = ("C", "D", "H", "S")
SYMBOLS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")


@dataclass(frozen=True)
class Pack:
    """A pack of cards.

    Attributes:
        name: short name, such as ``"32"``.
        ranks: names of the ranks in every suit, low to high.
        extras: names of the cards that belong to no suit (tarot trumps and the Excuse).
    """

    name: str
    ranks: tuple[str, ...]
    extras: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of cards."""
        return len(SUITS) * len(self.ranks) + len(self.extras)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of every card by id, such as ``"10H"``."""
        return tuple(rank + suit for suit in SUITS for rank in self.ranks) + self.extras

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """As :attr:`names`, with suit symbols: ``"10♥"``."""
        return tuple(rank + SYMBOLS[suit] for suit in SUITS for rank in self.ranks) + self.extras

    def card(self, name: str) -> int:
        """The id of a card given by name (``"10H"``) or symbol (``"10♥"``).

        Raises:
            ValueError: no such card in this pack.
        """
        for table in (self.names, self.symbols):
            if name in table:
                return table.index(name)
        raise ValueError(f"no card {name!r} in a pack of {self.name}; cards are named like {self.names[-1]!r}")

    def suit(self, card: int) -> int | None:
        """The suit of a card, or None for a card without one."""
        suit = card // len(self.ranks)
        return suit if suit < len(SUITS) else None

    def in_suit_order(self, card: int, permutation: Sequence[int]) -> int:
        """The card of the same rank in suit ``permutation[old suit]``; a card without a suit stays itself."""
        suit = self.suit(card)
        return card if suit is None else permutation[suit] * len(self.ranks) + card % len(self.ranks)


PACK_32 = Pack("32", ("7", "8", "9", "J", "Q", "K", "10", "A"))
"""32 cards in ace-ten order, as in Chouine and Avinas: the ten ranks above the king."""

PACK_52 = Pack("52", ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"))
"""52 cards in the order of Shukh, which also plays with the 36 from the six up."""

PACK_78 = Pack(
    "78",
    ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "C", "Q", "K"),
    (*(f"T{rank}" for rank in range(1, 22)), "Excuse"),
)
"""78 cards of Tarot: suits from 1 to king (C is the cavalier, so ``"CC"`` is that of clubs), 21 trumps, the Excuse."""
