"""What the rules of Shukh let a seat know, from the state and read back from its observation.

Seats are counted clockwise from the observer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardgym.games.shukh import DISCARD, LAID
from cardgym.testing import Fact

Parts = Mapping[str, np.ndarray]


def around(s: Any, seat: int, values: Any) -> tuple[int, ...]:
    n = int(s.seats)
    return tuple(int(values[(seat + i) % n]) for i in range(n))


def from_here(s: Any, seat: int, other: int) -> int:
    return (int(other) - seat) % int(s.seats)


def cards(flags: np.ndarray) -> tuple[int, ...]:
    return tuple(int(c) for c in np.flatnonzero(flags))


def one(flags: np.ndarray) -> int | None:
    found = np.flatnonzero(flags)
    assert len(found) <= 1
    return int(found[0]) if len(found) else None


def true_kon(s: Any, seat: int) -> Any:
    """The cards from the bottom up, each with who laid it."""
    return tuple((int(c), from_here(s, seat, s.place[c] - LAID)) for c in s.kon[: s.height])


def read_kon(p: Parts) -> Any:
    order = p["order"]
    pile = sorted(np.flatnonzero(order), key=lambda c: order[c])
    assert one(p["bottom"]) == (int(pile[0]) if pile else None)
    assert one(p["top"]) == (int(pile[-1]) if pile else None)
    return tuple((int(c), int(p["laid"][:, c].argmax())) for c in pile)


TABLE_FACTS: dict[str, Fact] = {
    "own hand": Fact(lambda s, seat: cards(s.place == seat), lambda p: cards(p["hand"])),
    "kon": Fact(true_kon, read_kon),
    "discard": Fact(lambda s, seat: cards(s.place == DISCARD), lambda p: cards(p["discard"])),
    "sizes of hands": Fact(lambda s, seat: around(s, seat, s.held), lambda p: tuple(p["held"].tolist())),
    "places": Fact(lambda s, seat: around(s, seat, s.finish), lambda p: tuple(p["finish"].tolist())),
    "whose turn": Fact(lambda s, seat: None if s.over else from_here(s, seat, s.player), lambda p: one(p["turn"])),
    "who shuffled": Fact(lambda s, seat: from_here(s, seat, s.shuffler), lambda p: one(p["shuffler"])),
    "who opened": Fact(lambda s, seat: from_here(s, seat, s.opener), lambda p: one(p["opener"])),
    "points": Fact(
        lambda s, seat: around(s, seat, s.scores) if s.episode else (),
        lambda p: tuple(p["points"].tolist()) if "points" in p else (),
    ),
    "parties": Fact(
        lambda s, seat: int(s.parties) if s.episode else None,
        lambda p: int(p["parties"][0]) if "parties" in p else None,
    ),
}
"""What lies open at the table."""

FACTS: dict[str, Fact] = {
    **TABLE_FACTS,
    "all hands": Fact(
        lambda s, seat: tuple(cards(s.place == (seat + i) % s.seats) for i in range(1, s.seats)),
        lambda p: tuple(cards(row) for row in p["hands"]),
    ),
}
"""What a perfect memory of the deal adds: everything (S-6)."""
