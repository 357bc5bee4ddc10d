"""Positions of Tarot built from card names, and bold random play, for the tests of its rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from positions import Position, split
from tarot_referee import PACK, TRICKS, Referee

from cardgym.batch import ENCODINGS, Batch, sample
from cardgym.games.tarot import GAME
from cardgym.games.tarot_tables import CARDS, CHIEN, EXCUSE, PETIT, SLAM
from cardgym.games.tarot_tables import TRICKS as ENGINE_TRICKS

NAMES = [a.name for a in GAME.actions]
IDS = GAME.action_ids
CHIEN_SIZE = {3: 6, 4: 6, 5: 3}


def place_deals(states: np.ndarray, dealt: np.ndarray) -> None:
    """Puts chosen deals, shape (n, 78), under states in which nothing was done since the deal."""
    assert (states["log_length"] == 0).all()
    states["dealt"] = dealt
    states["redeals"] = 0
    opened = (states["chien_open"] != 0)[:, None] & (dealt == CHIEN)
    states["place"] = np.where(opened, states["taker"][:, None], dealt)
    for s in states:
        piles = {owner: list(np.flatnonzero(s["dealt"] == owner)) for owner in set(s["dealt"].tolist())}
        s["deck"] = [piles[owner].pop(0) for owner in s["slot"].tolist()]


def games(n: int, seed: int, dealt: np.ndarray | None = None, dealer: int | None = None, **options: Any) -> Batch:
    """``n`` games under given options, on chosen deals if given, else on what ``seed`` deals."""
    batch = Batch(GAME, GAME.options.of(**options), n, ENCODINGS)
    batch.reset(range(seed, seed + n), options=None if dealer is None else {"dealer": dealer})
    if dealt is not None:
        place_deals(batch.states, dealt)
        for row in range(n):
            batch.refresh(row)
    return batch


def filled(hands: Sequence[str], chien: str = "", seed: int = 0) -> np.ndarray:
    """Whose each card is, shape (78,): what is named, the rest by chance (nobody gets the Petit alone)."""
    n = len(hands)
    piles = [split(h) for h in hands] + [split(chien)]
    sizes = [TRICKS[n]] * n + [CHIEN_SIZE[n]]
    named = [c for pile in piles for c in pile]
    assert len(set(named)) == len(named), "a card stands in two places"
    rest = [c for c in PACK if c not in named]
    np.random.default_rng(seed).shuffle(rest)
    dealt = np.zeros(CARDS, np.int8)
    for owner, (pile, size) in enumerate(zip(piles, sizes)):
        assert len(pile) <= size, f"{len(pile)} cards for {size} places"
        pile += [rest.pop() for _ in range(size - len(pile))]
        dealt[[PACK.index(c) for c in pile]] = CHIEN if owner == n else owner
    return dealt


class Table(Position):
    """One game on a chosen deal, moved and asked by names.  Seat 0 is right of the dealer."""

    def __init__(self, hands: Sequence[str], chien: str = "", seed: int = 0, **options: Any) -> None:
        n = len(hands)
        super().__init__(GAME, games(1, 0, filled(hands, chien, seed)[None], n - 1, players=n, **options))

    def lay(self, *names: str) -> Table:
        """Lays away these cards, then any; declares no slam."""
        self.do(*names)
        while self.s.phase == 1:
            plain = sorted(self.legal, key=lambda c: (c[0] == "T", PACK.index(c) % 14))
            self.do(plain[0])
        return self

    def hand(self, seat: int) -> set[str]:
        return {PACK[c] for c in np.flatnonzero(self.s.place == seat)}

    def play_out(self, last: Sequence[str] = (), first: Sequence[str] = ()) -> Table:
        """Plays to the end: cards of ``first`` as soon as they may go, those of ``last`` as late as they can, trumps
        from the top otherwise, then plain cards; no words."""
        while not self.batch.over[0]:
            cards = [c for c in self.legal if c in PACK]
            order = sorted(cards, key=lambda c: (c not in first, c in last, -PACK.index(c)))
            self.do(order[0])
        return self


def rich_deals(n: int, players: int, generator: np.random.Generator) -> np.ndarray:
    """Deals in which trumps and kings lie together more often than chance has it, so that rare things happen."""
    dealt = np.zeros((n, CARDS), np.int8)
    tricks = TRICKS[players]
    for row in range(n):
        weight = generator.random(CARDS)
        lucky = generator.random()
        weight[56:] -= lucky * (generator.random() < 0.7)  # trumps come early
        for rank in (13, 12, 11):  # kings together, then queens too, then cavaliers
            weight[rank:56:14] -= generator.random() < 0.5
        if generator.random() < 0.3:  # one hand of trumps and kings, three trumps in the chien: trumps are laid away
            weight[56:] -= 3
            weight[13:56:14] -= 4
            weight[generator.choice(np.arange(56, 78), 3, replace=False)] += 10
        order = np.argsort(weight)
        owners = np.repeat([*generator.permutation(players), CHIEN], [tricks] * players + [CARDS - tricks * players])
        dealt[row, order] = owners
    return dealt


def play(
    batch: Batch, generator: np.random.Generator, talk: float = 0.5, quiet_bids: bool = False, pass_often: bool = False
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Plays to the end; before every move yields rows and actions.  ``talk``: how often words are preferred."""
    words = np.array([a.card is None for a in GAME.actions])
    while True:
        rows = np.flatnonzero(~batch.over)
        if not len(rows):
            return
        mask = batch.mask[rows].copy()
        spoken = mask * words
        bidding = batch.states["phase"][rows] == 0
        speaks = spoken.any(1) & ~bidding & (generator.random(len(rows)) < talk)
        mask[speaks] = spoken[speaks]
        if quiet_bids:  # high bids end most auctions at once
            cautious = bidding & (generator.random(len(rows)) < 0.6)
            mask[cautious, 80:83] = 0
        if pass_often:
            silent = bidding & (generator.random(len(rows)) < 0.7)
            mask[silent, 79:83] = 0
        for card in (PETIT, EXCUSE):  # every other game keeps them to the end
            late = (rows % 2 == 1) & (batch.states["phase"][rows] == 3) & (mask.sum(1) > mask[:, card])
            mask[late, card] = 0
        actions = sample(mask, generator)
        yield rows, actions
        batch.step(actions, rows)


def referee_of(s: Any, contract: str = "auction") -> Referee:
    """The referee of a deal just begun."""
    n = int(s["seats"])
    piles = [{PACK[c] for c in np.flatnonzero(s["dealt"] == owner)} for owner in [*range(n), CHIEN]]
    rules = "seed" if s["rules"] == 0 else "fft"
    return Referee(piles[:n], piles[n], int(s["dealer"]), rules, contract, int(s["redeals"]))


def finished(n: int, seed: int, rich: bool, players: int, talk: float = 0.5, **options: Any) -> Batch:
    """``n`` games played to the end."""
    generator = np.random.default_rng(seed)
    dealt = rich_deals(n, players, generator) if rich else None
    batch = games(n, seed, dealt, players=players, **options)
    for _ in play(batch, generator, talk, quiet_bids=True):
        pass
    return batch


assert {p: int(ENGINE_TRICKS[p - 3]) for p in (3, 4, 5)} == TRICKS
assert NAMES[SLAM] == "slam"
