"""A rule bot for Shukh at the table: it keeps the rules and watches the others.

It sees the observation and the mask, nothing else.  On its turn it moves as Shukh's rule bot does.  It calls "one
card", sweeps what was closed, accuses exactly when the pending act breaks a rule, and asks whenever a question must
hit.  Before the judge it supports whoever was accused of something lawful.  It pays with what is hard to get rid of.
"""

from __future__ import annotations

import itertools

import numpy as np

from cardgym.baselines.rule_bots.reading import first
from cardgym.baselines.rule_bots.shukh import choose_move, kept
from cardgym.games.shukh import (
    ACE,
    CARDS,
    DISCARD_LOW_HEART,
    HEARTS,
    O_DISCARD,
    O_ORDER,
    O_SEATS,
    QUEEN_H,
    RANKS,
)
from cardgym.games.shukh_table_state import (
    ACCUSE,
    ASK_SIX,
    CALL,
    DISPUTE,
    DRAW,
    DRAWING,
    HESITATING,
    JUMPING,
    LAYING,
    NUM_ACTIONS,
    PASS,
    PICKING_UP,
    SAYING,
    SEAT,
    SUPPORT,
    SWEEP,
    SWEEPING,
    UNLOAD,
    layouts_for,
)
from cardgym.kernel import helper

PARTS = ("act", "card", "slip", "unswept", "piled", "stack_tops", "stack_under", "stock", "actor")
ACT, CARD, SLIP, UNSWEPT, PILED, TOPS, UNDER, STOCK, ACTOR = range(len(PARTS))


def _tables() -> tuple[np.ndarray, np.ndarray]:
    """By the length of an observation: the number of players, and where the parts begin (-1: not there)."""
    found = {}
    for players, *given in itertools.product(range(2, 9), *[(False, True)] * 3):
        layout = layouts_for(players, *given)["observation"]
        found[layout.size] = (players, [layout.start(p) if p in layout.slices else -1 for p in PARTS])
    size = max(found) + 1
    players_of, starts = np.zeros(size, np.int64), np.full((size, len(PARTS)), -1, np.int64)
    for n, (players, places) in found.items():
        players_of[n], starts[n] = players, places
    return players_of, starts


PLAYERS_OF, STARTS = _tables()


@helper
def choose(observation, mask):
    """An action id for one position (int8 arrays: observation, mask)."""
    players, at = PLAYERS_OF[len(observation)], STARTS[len(observation)]
    if mask[CALL]:
        return CALL
    if mask[UNLOAD]:
        return UNLOAD
    if mask[DRAW]:
        return DRAW
    if mask[SUPPORT]:
        return PASS if _breaks_a_rule(observation, players, at) else SUPPORT
    if mask[DISPUTE]:
        return PASS if _breaks_a_rule(observation, players, at) else DISPUTE
    for action in range(SEAT, NUM_ACTIONS):  # how many cards; in the deal: whom to pay
        if mask[action]:
            return action
    if mask[ACCUSE]:
        if _breaks_a_rule(observation, players, at):
            return ACCUSE
        return ASK_SIX if mask[ASK_SIX] else PASS
    if mask[SWEEP] and _count(observation, at[UNSWEPT]) > 0:
        return SWEEP
    if mask[DISCARD_LOW_HEART]:
        return DISCARD_LOW_HEART
    if _is_turn(mask):
        move = choose_move(observation, mask, players)
        return PASS if move < 0 else move
    if mask[PASS]:
        return PASS
    return _card_to_pay(mask)


@helper
def _is_turn(mask):
    """Every turn allows to take, to pass on lead, or to hesitate; a payment allows none of them."""
    return not mask[PASS] and _has_words(mask)


@helper
def _has_words(mask):
    found = False
    for action in range(CARDS, NUM_ACTIONS):
        found = found or mask[action] != 0
    return found


@helper
def _count(observation, start):
    """How many cards a part over the cards holds."""
    cards = 0
    for c in range(CARDS):
        cards += observation[start + c] > 0
    return cards


@helper
def _card_to_pay(mask):
    """What is worth least in hand; the queen of hearts last."""
    best = -1
    best_worth = 1e9
    for c in range(CARDS):
        worth = 1e6 if c == QUEEN_H else kept(c)
        if mask[c] and worth < best_worth:
            best = c
            best_worth = worth
    return best


@helper
def _breaks_a_rule(observation, players, at):
    """Is the pending act one of the offences?"""
    kind = 0
    for i in range(JUMPING):
        if observation[at[ACT] + i]:
            kind = i + 1
    if kind in (PICKING_UP, HESITATING, SAYING, JUMPING):
        return True
    if kind == DRAWING:
        return _drew_too_early(observation, players, at)
    unswept = _count(observation, at[UNSWEPT])
    if kind == SWEEPING:
        return unswept == 0
    if kind == 0:
        return False
    if unswept > 0 or observation[at[SLIP]]:
        return True
    if kind != LAYING or _count(observation, O_ORDER) > 0:
        return False
    card = first(observation, at[CARD], CARDS)
    return card == QUEEN_H or (_live(observation, players) == 2 and card == _low_heart(observation, players, at))


@helper
def _live(observation, players):
    live = 0
    for i in range(players):
        live += observation[O_SEATS + 3 * players + i] == 0
    return live


@helper
def _low_heart(observation, players, at):
    """The six, or with 52 cards the two of hearts."""
    cards = _count(observation, O_DISCARD) + _count(observation, O_ORDER) + _count(observation, at[UNSWEPT])
    for i in range(players):
        cards += observation[O_SEATS + 4 * players + i] + observation[at[PILED] + i]
    return HEARTS * RANKS + (4 if cards <= 36 else 0)


@helper
def _drew_too_early(observation, players, at):
    """Sh-1: did the top card of his stack, before he drew, fit on another?"""
    card = first(observation, at[CARD], CARDS)
    actor = 0
    for i in range(players):
        if observation[at[ACTOR] + i]:
            actor = i
    own = _top_before(observation, at, actor, card)
    if own < 0:
        return False
    found = False
    for i in range(players):
        other = _top_before(observation, at, i, card)
        if i != actor and other >= 0:
            following = other % RANKS + 1 if other % RANKS < ACE else _lowest_rank(observation, players, at)
            found = found or own % RANKS == following
    return found


@helper
def _top_before(observation, at, seat, card):
    """The top card of a stack before ``card`` was laid down, -1 if there was none."""
    top = int(observation[at[TOPS] + seat]) - 1
    return int(observation[at[UNDER] + card]) - 1 if top == card else top


@helper
def _lowest_rank(observation, players, at):
    """Rank of the lowest cards of the pack, in the deal."""
    cards = int(observation[at[STOCK]])
    for i in range(players):
        cards += observation[O_SEATS + 4 * players + i]
    return 4 if cards <= 36 else 0
