"""What the rules of Shukh at the table let a seat know, from the state and read back from its observation.

Seats are counted clockwise from the observer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from shukh_facts import TABLE_FACTS as SHUKH_TABLE_FACTS
from shukh_facts import around, cards, from_here, one

from cardgym.games.shukh import SEATS
from cardgym.games.shukh_table_state import DEAL, DEBTS, PILE, UNSWEPT
from cardgym.testing import Fact

Parts = Mapping[str, np.ndarray]


def seats_in(s: Any, seat: int, bits: int) -> tuple[int, ...]:
    return tuple(sorted(from_here(s, seat, other) for other in range(s.seats) if int(bits) >> other & 1))


def chosen(flags: np.ndarray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(flags).tolist())


def counted(name: str) -> Fact:
    """One number for every seat."""
    return Fact(lambda s, seat: around(s, seat, s[name]), lambda p: tuple(p[name].tolist()))


def flagged(field: str, part: str) -> Fact:
    """A bit set of seats."""
    return Fact(lambda s, seat: seats_in(s, seat, s[field]), lambda p: chosen(p[part]))


def named(field: str, part: str, holds: Callable[[Any], bool]) -> Fact:
    """One seat, or none."""
    return Fact(lambda s, seat: from_here(s, seat, s[field]) if holds(s) else None, lambda p: one(p[part]))


def plain(field: str, part: str | None = None) -> Fact:
    return Fact(lambda s, seat: int(s[field]), lambda p: int(p[part or field][0]))


def kind(field: str, part: str) -> Fact:
    """What is decided, done or disputed, numbered from 1."""
    return Fact(
        lambda s, seat: 0 if s.over and field == "stage" else int(s[field]),
        lambda p: 0 if one(p[part]) is None else int(p[part].argmax()) + 1,
    )


def true_card(s: Any, seat: int) -> Any:
    """The card of the pending act."""
    return None if s.card < 0 else int(s.card)


def true_guilty(s: Any, seat: int) -> Any:
    return tuple(from_here(s, seat, g) for g in s.guilty if g >= 0)


def read_guilty(p: Parts) -> Any:
    return tuple(int(np.flatnonzero(p["guilty"] == k)[0]) for k in (1, 2) if (p["guilty"] == k).any())


TABLE_FACTS: dict[str, Fact] = {
    **SHUKH_TABLE_FACTS,
    "who opened": Fact(
        lambda s, seat: None if s.opener < 0 else from_here(s, seat, s.opener), lambda p: one(p["opener"])
    ),
    "what is decided": kind("stage", "stage"),
    "turn": Fact(lambda s, seat: from_here(s, seat, s.turn), lambda p: one(p["on_turn"])),
    "turn not begun": plain("fresh"),
    "caught in this turn": plain("warned"),
    "hesitated": plain("hesitated"),
    "turns to be lost": counted("skips"),
    "safe": plain("safe"),
    "pending act": kind("act", "act"),
    "its seat": named("actor", "actor", lambda s: s.act != 0),
    "its card": Fact(true_card, lambda p: one(p["card"])),
    "slip": plain("slip"),
    "still asked": flagged("window", "asked"),
    "to call": flagged("calls", "calls"),
    "did not call": flagged("silent", "silent"),
    "trial": kind("charge", "charge"),
    "accuser": named("accuser", "accuser", lambda s: s.charge != 0),
    "accused": named("accused", "accused", lambda s: s.charge != 0),
    "may dispute": flagged("disputants", "disputants"),
    "votes": counted("votes"),
    "guilty": Fact(true_guilty, read_guilty),
    "payers": flagged("payers", "payers"),
    "closer": named("closer", "closer", lambda s: s.closer >= 0),
    "closer has left": plain("gone"),
    "unswept": Fact(lambda s, seat: cards(s.place == UNSWEPT), lambda p: cards(p["unswept"])),
    "sizes of piles": counted("piled"),
    "open piles": Fact(
        lambda s, seat: tuple(
            () if s.phase == DEBTS else cards(s.place == PILE + (seat + i) % s.seats) for i in range(s.seats)
        ),
        lambda p: tuple(() if "creditor" in p and debts_due(p) else cards(row) for row in p["piles"]),
    ),
}
"""What lies open at the table, and what was said and done."""


def debts_due(p: Parts) -> bool:
    """Are debts of the deal being repaid, so that piles lie face down?"""
    return bool(p["due"].any())


def in_deal(fact: Callable[[Any, int], Any], before: Any) -> Callable[[Any, int], Any]:
    return lambda s, seat: fact(s, seat) if s.phase == DEAL else before


DEAL_FACTS: dict[str, Fact] = {
    "stock": Fact(
        lambda s, seat: (int(s.deck) - int(s.drawn) if s.phase == DEAL else 0, int(s.deals)),
        lambda p: tuple(p["stock"].tolist()),
    ),
    "top cards": Fact(
        lambda s, seat: tuple(t + 1 for t in around(s, seat, s.top)), lambda p: tuple(p["stack_tops"].tolist())
    ),
    "stacks": Fact(lambda s, seat: tuple((s.below + 1).tolist()), lambda p: tuple(p["stack_under"].tolist())),
    "hands in the deal": Fact(
        in_deal(lambda s, seat: tuple(cards(s.place == (seat + i) % s.seats) for i in range(1, s.seats)), ()),
        lambda p: (
            tuple(cards(row) for row in p["hands"])
            if p["stock"][0] or (one(p["opener"]) is None and not debts_due(p))
            else ()
        ),
    ),
    "debts": counted("debt"),
    "cards due": counted("due"),
    "cards to pay": Fact(lambda s, seat: max(0, int(s.to_pay)), lambda p: int(p["to_pay"][0])),
    "creditor": named("creditor", "creditor", lambda s: s.creditor >= 0),
}
"""What a deal by the players adds."""


def unsure(s: Any, seat: int) -> list[int]:
    """TM-15: the cards whose place a perfect memory does not know, neither by sight nor by elimination."""
    unseen = np.flatnonzero((s.known >> seat & 1) == 0).tolist()
    return [c for c in unseen if len({int(s.place[d]) for d in unseen if s.origin[d] == s.origin[c]}) > 1]


def true_known(s: Any, seat: int) -> Any:
    """The cards of the others' hands and piles that the seat can name."""
    found, hidden = [], unsure(s, seat)
    for i in range(s.seats):
        for place in ((seat + i) % s.seats, PILE + (seat + i) % s.seats):
            if place != seat:
                found.append(tuple(c for c in cards(s.place == place) if c not in hidden))
    return tuple(found)


def read_known(p: Parts) -> Any:
    found = [cards(p["piles"][0])]
    for hand, pile in zip(p["hands"], p["piles"][1:], strict=True):
        found += [cards(hand), cards(pile)]
    return tuple(found)


def true_unknown(s: Any, seat: int) -> Any:
    """The other cards, each with who was dealt it, and how many of them are where."""
    hidden = [c for c in unsure(s, seat) if 0 <= s.place[c] < PILE + SEATS and s.phase != DEAL]
    whose = tuple((c, from_here(s, seat, s.origin[c])) for c in hidden)
    counts = np.zeros((int(s.seats), int(s.seats)), int)
    for c in hidden:
        owner = s.place[c] if s.place[c] < SEATS else s.place[c] - PILE
        counts[from_here(s, seat, s.origin[c]), from_here(s, seat, owner)] += 1
    return whose, tuple(counts.ravel().tolist())


def read_unknown(p: Parts) -> Any:
    whose = tuple((int(c), int(p["dealt_to"][c]) - 1) for c in np.flatnonzero(p["dealt_to"]))
    return whose, tuple(p["unknown"].ravel().tolist())


SECRET_FACTS: dict[str, Fact] = {
    "known cards": Fact(true_known, read_known),
    "unknown cards": Fact(true_unknown, read_unknown),
}
"""What a perfect memory adds where cards were paid face down."""

OPEN_FACTS: dict[str, Fact] = {
    "all hands": Fact(
        lambda s, seat: tuple(cards(s.place == (seat + i) % s.seats) for i in range(1, s.seats)),
        lambda p: tuple(cards(row) for row in p["hands"]),
    )
}
"""What a perfect memory adds after a deal by the engine: everything."""


def facts(options: Mapping[str, Any]) -> dict[str, Fact]:
    """What a seat knows under given options."""
    played, perfect = options.get("deal", "played") == "played", options.get("memory", "perfect") == "perfect"
    known = dict(TABLE_FACTS)
    if played:
        known |= DEAL_FACTS
    if perfect:
        known |= SECRET_FACTS if played else OPEN_FACTS
    return known
