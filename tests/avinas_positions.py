"""Deals of Avinas built from card names, for the tests of its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from avinas_referee import PACK, Referee
from positions import Position, split

from cardgym.batch import ENCODINGS, Batch
from cardgym.game import Layout
from cardgym.games import avinas
from cardgym.games.avinas import GAME, SEATS

NAMES = [a.name for a in GAME.actions]
IDS = GAME.action_ids


def deck_of(dealt: Sequence[Sequence[str]], dealer: int) -> list[str]:
    """The deck that deals each seat its cards in the given order."""
    order = [(dealer + k) % 4 for k in (1, 2, 3, 4)]
    return [card for half in (0, 4) for seat in order for card in dealt[seat][half : half + 4]]


def dealt_around(hands: Mapping[int, str], dealer: int, turned: str = "", seed: int = 0) -> list[list[str]]:
    """Hands of all seats, the given ones as they are wanted, so that exactly the sevens ``turned`` are turned up, the
    last one named last.  Orders within the hands are found by a random but fixed search."""
    generator = np.random.default_rng(seed)
    wanted = split(turned)
    given = {seat: split(cards) for seat, cards in hands.items()}
    rest = [c for c in PACK if not any(c in cards for cards in given.values())]
    for _ in range(100_000):
        pool = generator.permutation(rest).tolist()
        dealt = []
        for seat in range(SEATS):
            cards = list(given.get(seat, []))
            while len(cards) < 8:
                cards.append(pool.pop())
            dealt.append(generator.permutation(cards).tolist())
        sevens = Referee(deck_of(dealt, dealer), dealer).sevens
        if set(sevens) == set(wanted) and sevens[-1:] == wanted[-1:]:
            return dealt
    raise ValueError("no such deal found")


def place_deck(state: np.ndarray, deck: Sequence[str]) -> None:
    """Puts a chosen deck under a state (shape (1,)) in which nothing was done since the deal."""
    s = state[0]
    assert s["log_length"] == 0
    r = Referee(deck, int(s["dealer"]))
    s["deck"] = [PACK.index(c) for c in deck]
    s["owner"] = [next(seat for seat in range(SEATS) if c in r.hands[seat]) for c in PACK]
    s["turned"] = [r.turned.get(c, 0) for c in PACK]
    s["looked"] = [c in r.looked_at for c in PACK]
    s["sevens"] = len(r.sevens)
    s["trump"] = -1 if r.trump is None else "CDHS".index(r.trump)
    s["declarer"] = s["leader"] = -1 if r.declarer is None else r.declarer
    s["phase"] = avinas.KNOCK if r.sevens else avinas.BIDDING
    s["player"] = r.question.seat


class Table(Position):
    """One game on a chosen deal, moved and asked by names."""

    def __init__(self, dealt: Sequence[Sequence[str]], dealer: int = 3, **options: Any) -> None:
        super().__init__(GAME, Batch(GAME, GAME.options.of(**options), 1, ENCODINGS))
        self.batch.reset([0], options={"dealer": dealer})
        self.stack(dealt)

    def stack(self, dealt: Sequence[Sequence[str]]) -> Table:
        """Chooses the cards of the deal that has just begun (in a match)."""
        place_deck(self.batch.states, deck_of(dealt, int(self.s.dealer)))
        self.batch.refresh(0)
        return self

    def say(self, line: str) -> Table:
        """As :meth:`do`, for cards in one line."""
        return self.do(*line.split())

    def play_any(self, until: int = 9) -> Table:
        """The first legal action, again and again, up to the start of a trick or the end of the deal; nobody stops."""
        deals = int(self.s.deals)
        while self.s.deals == deals and not (self.s.trick == until and self.s.phase != avinas.STOPPING):
            self.batch.step(self.batch.mask.argmax(axis=1))
        return self

    @property
    def player(self) -> int:
        return int(self.s.player)

    @property
    def over(self) -> bool:
        return bool(self.batch.over[0])

    def seen(self, seat: int) -> dict[str, Any]:
        """The seat's observation by parts, as :func:`said` gives them."""
        return said(self.batch.layouts["observation"], self.views(seat).observation[0])

    def text(self, seat: int | None) -> str:
        return GAME.text(self.s, seat)


def scores(states: np.ndarray, rams: Sequence[int] = (0, 0), marks: Sequence[int] = (0, 0)) -> None:
    """Sets the score of a match."""
    states["rams"], states["marks"] = rams, marks


def said(layout: Layout, encoding: np.ndarray) -> dict[str, Any]:
    """The parts of an encoding, flags over cards as sets of names, numbers over cards as a dict of those not 0."""
    parts: dict[str, Any] = {}
    for s in layout.segments:
        part = encoding[layout.slices[s.name]].reshape(layout.shapes[s.name])
        if s.axes[-1] != "card":
            parts[s.name] = part.tolist()
        elif s.high > 1:
            parts[s.name] = {PACK[c]: int(part[c]) for c in np.flatnonzero(part)}
        elif part.ndim == 2:
            parts[s.name] = [{PACK[c] for c in np.flatnonzero(row)} for row in part]
        else:
            parts[s.name] = {PACK[c] for c in np.flatnonzero(part)}
    return parts


def lone_queen_deck(dealer: int, generator: np.random.Generator) -> list[str]:
    """A deck in which some seat's only trump is likely to be the queen of clubs, so that it often leads to the second
    trick without a trump."""
    first, second = generator.permutation(list("CDHS"))[:2]
    plain = generator.permutation([rank + suit for suit in (first, second) for rank in ("A", "10", "K", "9", "8")])
    seat = int(generator.integers(4))
    rest = generator.permutation([c for c in PACK if c != "QC" and c not in plain[:7]]).tolist()
    dealt = [rest[8 * k : 8 * (k + 1)] for k in range(3)]
    dealt.insert(seat, generator.permutation(["QC", *plain[:7]]).tolist())
    return deck_of(dealt, dealer)


def games(n: int, seed: int, lone_queens: bool = False, **options: Any) -> Batch:
    """``n`` games as ``seed`` deals them; with ``lone_queens`` every second one from :func:`lone_queen_deck`."""
    batch = Batch(GAME, GAME.options.of(**options), n, ENCODINGS)
    batch.reset(range(seed, seed + n))
    generator = np.random.default_rng(seed)
    for row in range(0, n, 2) if lone_queens else ():
        place_deck(batch.states[row : row + 1], lone_queen_deck(int(batch.states["dealer"][row]), generator))
        batch.refresh(row)
    return batch


def referee_of(state: np.void) -> Referee:
    """A referee for the deal that has just begun in ``state``."""
    assert state["log_length"] == 0
    words = {
        "stop": ("claim", "any")[state["stop"]],
        "overbid": ("masked", "loses_match")[state["overbid"]],
        "sign": ("partner", "public")[state["sign"]],
    }
    return Referee([PACK[c] for c in state["deck"]], int(state["dealer"]), **words)
