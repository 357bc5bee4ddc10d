"""Tiny Chouine: the end of a deal of Chouine with six cards, small enough for exact work.

The pack is queen, king and ace of clubs and diamonds.  Each of the two players holds two cards, one lies turned up and
makes trumps, one is the stock.  There are three tricks: the first is played freely and followed by the only draw (the
winner takes the stock, the loser the turn-up), the other two are strict.  All else is Chouine (CH-1 ... CH-20):
marriages, the points of the cards, ten for the last trick; there is no seven to swap and no longer combination.

It plays by Chouine's own compiled functions, on Chouine's own state: its tricks are the tricks 11, 15 and 16 of Chouine
(the last with a draw, and the last two), and the other 26 cards are out of play.  So encodings and action ids are
Chouine's too, and what is computed exactly here was computed under the rules of the large game.

There are 360 deals, all equally likely (:func:`deals` lists them); the whole game tree has 26 937 positions.
It has no environment id: use ``GAME`` itself, ``CardEnv(GAME)``, ``OpenSpielGame(GAME)``.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardgym import rng
from cardgym.game import Options, option, state_dtype
from cardgym.games import chouine
from cardgym.games.chouine import ACE, CARDS, HAND, KING, LAST_DRAW, QUEEN, RANKS, STOCK, STRICT, TRICKS, TURNED
from cardgym.kernel import helper, records
from cardgym.render.scene import Laid, Scene

PACK = np.array([RANKS * suit + rank for suit in range(2) for rank in (QUEEN, KING, ACE)], np.int8)
HELD = 2  # cards in a hand
TURN_UP, DRAWN = 2 * HAND, CARDS - 1  # their places in Chouine's deck
OUT = 8  # in `place`: not in the pack; above Chouine's own codes
TRICK_NUMBERS = (LAST_DRAW, TRICKS - 1, TRICKS)


@dataclass(frozen=True, kw_only=True)
class TinyChouineOptions(Options):
    """Rule options of Tiny Chouine."""

    reward: str = option("win", "a deal's reward, as in Chouine", choices=("win", "margin"))


_OWN = set(state_dtype(2, TinyChouineOptions, []).names or ())
STATE = state_dtype(
    2,
    TinyChouineOptions,
    # Chouine's fields; its other options stand at 0: one deal, perfect memory.
    [
        (name, chouine.STATE[name].base, chouine.STATE[name].shape)
        for name in chouine.STATE.names or ()
        if name not in _OWN and not name.startswith("_pad")
    ],
)


# --- The deal --------------------------------------------------------------------------------


@helper
def deal(s):
    if s.dealer < 0:
        s.dealer = rng.below(s.rng, 2)
    order = s.log_action  # room for the shuffled pack, until the first decision is noted
    for i in range(len(PACK)):
        order[i] = PACK[i]
    rng.shuffle(s.rng, order, len(PACK))
    _lay_out(s, order)


@helper
def _lay_out(s, order):
    """Two cards to the dealer's opponent, two to the dealer, the turn-up, the stock."""
    s.drawn[:] = -1
    s.deck[:] = -1
    s.place[:] = OUT
    s.winner_of[:] = -1
    for k in range(2 * HELD):
        s.deck[k] = order[HELD * (k % 2) + k // 2]
        s.place[s.deck[k]] = 1 - s.dealer if k % 2 == 0 else s.dealer
    _sort_hands(s.deck)
    s.under = order[2 * HELD]
    s.deck[TURN_UP] = s.under
    s.place[s.under] = TURNED
    s.deck[DRAWN] = order[2 * HELD + 1]
    s.place[s.deck[DRAWN]] = STOCK
    s.log_action[:] = 0
    s.first_dealer = s.dealer
    s.trump = s.under // RANKS
    s.next_draw = DRAWN
    s.trick = LAST_DRAW
    s.lead = -1
    s.pending = -1
    s.swapped_by = -1
    s.leader = 1 - s.dealer
    s.player = s.leader


@helper
def _sort_hands(deck):
    """Two orders of a hand are one deal, so hands lie sorted in the deck, where Chouine's alternate."""
    for k in range(2):
        if deck[k] > deck[k + 2]:
            card = deck[k]
            deck[k] = deck[k + 2]
            deck[k + 2] = card


def deals(options: Options) -> np.ndarray:
    """Every deal, all equally likely: 180 for each dealer.

    Args:
        options: the rule options.

    Returns:
        States before the first decision, structured array, shape (360,).
    """
    orders = [o for o in itertools.permutations(PACK.tolist()) if o[0] < o[1] and o[2] < o[3]]
    states = np.repeat(GAME.template(options), 2 * len(orders))
    for row, (dealer, order) in enumerate(itertools.product(range(2), orders)):
        s = records(states)[row]
        rng.seed(s.rng, row, 0)
        s.dealer = dealer
        _lay_out(s, np.array(order, np.int8))
    return states


# --- One decision ----------------------------------------------------------------------------


@helper
def apply(s, action):
    chouine.apply(s, action)
    if s.trick == STRICT:  # the draw is done: on to the last two tricks
        s.trick = TRICKS - 1


# --- Hidden cards anew -----------------------------------------------------------------------


@helper
def resample(s, seat, salt):
    """Uniform over the deals that ``seat`` cannot tell from the true one.

    They differ in which card is the stock's: the true one, or one dealt to the opponent that he did not show by the end
    of the first trick.  If ``seat`` itself has drawn the stock, nothing is hidden any more.
    """
    rng.scramble(s.rng, salt)
    opponent = 1 - seat
    if s.winner_of[LAST_DRAW] == seat:
        return
    mine = 1 if opponent == s.dealer else 0
    hidden = 0
    for k in range(HELD):
        hidden += int(not _shown(s, opponent, s.deck[2 * k + mine]))
    pick = rng.below(salt, hidden + 1)
    for k in range(HELD):
        card = s.deck[2 * k + mine]
        if not _shown(s, opponent, card):
            if pick == 0:
                _exchange(s, opponent, 2 * k + mine)
                break
            pick -= 1
    _sort_hands(s.deck)


@helper
def _shown(s, seat, card):
    """Do all know that ``seat`` was dealt ``card``?"""
    return 0 < s.proven[seat, card] <= LAST_DRAW


@helper
def _exchange(s, seat, k):
    """Exchanges the stock's card with the card number ``k`` of the deck, dealt to ``seat``."""
    dealt, drawn = s.deck[k], s.deck[DRAWN]
    s.deck[k] = drawn
    s.deck[DRAWN] = dealt
    if s.place[drawn] == STOCK:
        s.place[drawn] = seat
        s.place[dealt] = STOCK


# --- For people ------------------------------------------------------------------------------


def scene(s: Any, seat: int | None) -> Scene:
    """Chouine's table, with tricks counted from 1 to 3."""
    drawn = chouine.scene(s, seat)
    facts = (f"trick {TRICK_NUMBERS.index(int(s.trick)) + 1} of 3", *drawn.facts[1:])
    done = [trick for trick in TRICK_NUMBERS if s.winner_of[trick] >= 0]
    if not done:
        return dataclasses.replace(drawn, title=GAME.title, facts=facts)
    leader = 1 - int(s.dealer) if done[-1] == LAST_DRAW else int(s.winner_of[TRICK_NUMBERS[len(done) - 2]])
    laid = [Laid(int(card), int(s.played_by[card]) - 1) for card in np.flatnonzero(s.trick_of == done[-1])]
    last = tuple(sorted(laid, key=lambda one: one.seat != leader))
    label = f"last trick, to seat {s.winner_of[done[-1]]}"
    return dataclasses.replace(drawn, title=GAME.title, facts=facts, last=last, last_label=label)


GAME = dataclasses.replace(
    chouine.GAME,
    name="tiny_chouine",
    title="Tiny Chouine",
    options=TinyChouineOptions,
    dtype=STATE,
    deal=deal,
    apply=apply,
    resample=resample,
    scene=scene,
    deals=deals,
    suit_order=(),
    moved_card=None,
)
