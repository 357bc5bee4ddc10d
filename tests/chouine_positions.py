"""Positions of Chouine built from card names, and bold random play, for the tests of its rules."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from chouine_referee import PACK, Referee, beats, suit_of
from positions import Position, split

from cardgym.batch import ENCODINGS, Batch, sample
from cardgym.games.chouine import CARDS, GAME, HAND, STOCK, TURNED

NAMES = [a.name for a in GAME.actions]
IDS = GAME.action_ids
FIRST_WORD, LAST_WORD = IDS["marriage C"], IDS["swap"]


def place_decks(states: np.ndarray, decks: np.ndarray) -> None:
    """Puts chosen decks, shape (n, 32), under states in which nothing was done since the deal."""
    assert (states["log_length"] == 0).all()
    states["deck"] = decks
    states["under"] = decks[:, 2 * HAND]
    states["trump"] = states["under"] >> 3
    rows = np.arange(len(states))
    for i in range(CARDS):
        opponent_of_dealer = 1 - states["dealer"]
        owner = opponent_of_dealer if i % 2 == 0 else states["dealer"]
        place = owner if i < 2 * HAND else (TURNED if i == 2 * HAND else STOCK)
        states["place"][rows, decks[:, i]] = place


def games(n: int, seed: int, decks: np.ndarray | None = None, dealer: int | None = None, **options: Any) -> Batch:
    """``n`` games under given options, on chosen decks if given, else on what ``seed`` deals."""
    batch = Batch(GAME, GAME.options.of(**options), n, ENCODINGS)
    batch.reset(range(seed, seed + n), options=None if dealer is None else {"dealer": dealer})
    if decks is not None:
        place_decks(batch.states, decks)
        for row in range(n):
            batch.refresh(row)
    return batch


class Table(Position):
    """One game on a chosen deck, moved and asked by names."""

    def __init__(self, deck: Sequence[str], dealer: int = 1, **options: Any) -> None:
        decks = np.array([[PACK.index(c) for c in deck]], np.int8)
        super().__init__(GAME, games(1, 0, decks, dealer, **options))

    def stack(self, deck: Sequence[str]) -> None:
        """Chooses the deck of the deal that has just begun (in a match)."""
        place_decks(self.batch.states, np.array([[PACK.index(c) for c in deck]], np.int8))
        self.batch.refresh(0)

    def hand(self, seat: int) -> set[str]:
        return {PACK[c] for c in np.flatnonzero(self.s.place == seat)}


def deck_of(
    received: Sequence[Sequence[str]],
    plays: Sequence[Sequence[str]],
    turn_up: str,
    dealer: int,
    stock: Sequence[str] = (),
) -> list[str]:
    """The deck with which each seat receives and then, playing as told, draws its cards in the given order.

    The first five received cards are dealt.  Every trick of ``plays`` gives each seat its next received card, as
    far as there is one; then ``stock`` and the rest of the pack fill the places left.  The loser of trick 11 must
    receive ``turn_up`` (the seven of trumps, if that has been swapped for it, stands for it).
    """
    deck = [""] * CARDS
    deck[0:10:2] = received[1 - dealer][:HAND]
    deck[1:10:2] = received[dealer][:HAND]
    deck[10] = turn_up
    leader = 1 - dealer
    for trick, cards in enumerate(zip(*plays), start=1):
        if trick > 11:
            break
        leader = trick_winner(leader, cards, suit_of(turn_up))
        for seat in range(2):
            if HAND + trick - 1 < len(received[seat]):
                card = received[seat][HAND + trick - 1]
                if trick < 11 or seat == leader:
                    deck[9 + 2 * trick + (seat != leader)] = card
                elif card not in (turn_up, "7" + suit_of(turn_up)):
                    raise ValueError(f"the loser of trick 11 gets the turn-up {turn_up}, not {card}")
    rest = iter([*stock, *(c for c in PACK if c not in deck and c not in stock)])
    return [c or next(rest) for c in deck]


def trick_winner(leader: int, cards: Sequence[str], trump: str) -> int:
    """Who takes a trick, given each seat's card."""
    return 1 - leader if beats(cards[1 - leader], cards[leader], trump) else leader


def at_trick(
    trick: int,
    leader_hand: str,
    follower_hand: str,
    turn_up: str,
    played: str = "",
    stock: str = "",
    leader: int = 0,
    **options: Any,
) -> Table:
    """A game at the start of trick 1-12 with the given hands, seat ``leader`` to lead.

    Cards of ``played`` have been played, those of ``stock`` are drawn next, in this order; the others are where
    a random but fixed search puts them.  Each seat has played its cards in the order received.  In trick 11 the
    question "au sept", if there is one, stands open; on the way to trick 12 it was declined.
    """
    hands = [split(leader_hand), split(follower_hand)][:: 1 if leader == 0 else -1]
    if trick == 12:  # the follower has just drawn the turn-up
        hands[1 - leader].sort(key=lambda c: c == turn_up)
    for attempt in range(1000):
        found = _dealt_so(trick, hands, turn_up, split(played), split(stock), leader, np.random.default_rng(attempt))
        if found is not None:
            deck, dealer, plays = found
            break
    else:
        raise ValueError("no such position found")
    table = Table(deck, dealer, **options)
    for _ in range(2 * (trick - 1)):
        if "decline" in table.legal:
            table.do("decline")
        table.do(plays[table.s.player].pop(0))
    assert table.s.trick == trick
    assert table.s.leader == leader
    return table


def _dealt_so(
    trick: int,
    hands: list[list[str]],
    turn_up: str,
    played: list[str],
    stock: list[str],
    leader: int,
    generator: np.random.Generator,
) -> tuple[list[str], int, list[list[str]]] | None:
    dealer = 1 - leader if trick == 1 else int(generator.integers(2))
    free = [c for c in PACK if c not in [*hands[0], *hands[1], turn_up, *played, *stock]]
    junk = [*played, *generator.permutation(free).tolist()][: 2 * (trick - 1)]
    junk = generator.permutation(junk).tolist() if junk else []
    plays = [junk[: trick - 1], junk[trick - 1 :]]
    received = [[*plays[seat], *hands[seat]] for seat in range(2)]
    winner = 1 - dealer
    for cards in zip(*plays):
        winner = trick_winner(winner, cards, suit_of(turn_up))
    if winner != leader:
        return None
    try:
        return deck_of(received, plays, turn_up, dealer, stock), dealer, plays
    except ValueError:
        return None


# --- Random play -----------------------------------------------------------------------------


def bold_actions(mask: np.ndarray, generator: np.random.Generator, talk: float, low: float) -> np.ndarray:
    """Random legal actions that often announce or swap (chance ``talk``) and often play low (chance ``low``)."""
    n = len(mask)
    actions = sample(mask, generator)
    cards = mask[:, :CARDS] != 0
    lowest = np.where(cards, np.arange(CARDS) % 8 + generator.random((n, CARDS)), 99).argmin(1)
    play_low = cards.any(1) & (generator.random(n) < low)
    actions[play_low] = lowest[play_low]
    words = np.zeros_like(mask)
    words[:, FIRST_WORD : LAST_WORD + 1] = mask[:, FIRST_WORD : LAST_WORD + 1]
    speak = words.any(1) & (generator.random(n) < talk)
    actions[speak] = sample(words[speak], generator)
    silent = ~speak & cards.any(1) & (actions >= FIRST_WORD)
    actions[silent] = lowest[silent]
    return actions


def play(
    batch: Batch, generator: np.random.Generator, talk: float = 0.8, low: float = 0.6
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Plays all games to their ends; before each step yields the rows that go on and the actions they will take."""
    while True:
        rows = np.flatnonzero(~batch.over)
        if not len(rows):
            return
        actions = bold_actions(batch.mask[rows], generator, talk, low)
        yield rows, actions
        batch.step(actions, rows)


def rich_decks(n: int, generator: np.random.Generator) -> np.ndarray:
    """Decks, int8, (n, 32): a quarter plain, the others favouring quintes, suit combinations, chouines."""
    decks = np.array([generator.permutation(CARDS) for _ in range(n)], np.int8)
    for row in range(n):
        suits = generator.permutation(4)
        honours = [suit * 8 + rank for suit in suits for rank in range(3, 8)]
        brisques = [suit * 8 + rank for suit in suits for rank in (6, 7)]
        wanted = [[], brisques, generator.permutation(honours[:10]), honours[:6]][row % 4]
        _hoist(decks[row], np.array(wanted[:6], np.int8), int(generator.integers(2)), generator)
    return decks


def _hoist(deck: np.ndarray, wanted: np.ndarray, offset: int, generator: np.random.Generator) -> None:
    """Moves cards to the places of one player's deal and first draw."""
    places = [offset, offset + 2, offset + 4, offset + 6, offset + 8, 11 + offset]
    for place, card in zip(generator.permutation(places), wanted):
        at = int(np.flatnonzero(deck == card)[0])
        deck[at], deck[place] = deck[place], card


def referee_of(state: np.ndarray) -> Referee:
    """A referee for the deal that has just begun in ``state``."""
    assert state["log_length"] == 0
    return Referee([PACK[c] for c in state["deck"]], int(state["dealer"]), int(state["quinte"]))


@functools.cache
def bold_games() -> Batch:
    """3000 finished deals of bold random play on rich decks; shared by the tests, not to be changed."""
    generator = np.random.default_rng(11)
    batch = games(3000, 100, rich_decks(3000, generator))
    for _ in play(batch, generator):
        pass
    return batch
