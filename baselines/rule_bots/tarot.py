"""A rule bot for Tarot that plays like a sound regular, for three, four and five players.

It sees the observation and the mask, nothing else.  It bids by Noël Chavey's scale (*Le Jeu de tarot*, Hatier 1986):
points for oudlers, trumps, court cards and long suits, and a contract for every range of their sum.  It lays away
bare court cards and short suits without a king, calls a king that it lacks, and shows its lowest trumps in a poignee.
It chooses every card by weighing what the trick will bring, for the side that it belongs to, against what the card is
worth kept; what the others may hold it takes from the observation.
"""

from __future__ import annotations

import numpy as np

from cardgym.baselines.rule_bots.reading import first
from cardgym.games.tarot_tables import (
    BID,
    CARDS,
    CONTRE,
    EXCUSE,
    HALF_POINTS,
    KING,
    NO_SLAM,
    O_CALLED,
    O_HAND,
    O_MAY_HOLD,
    O_PARTNER,
    O_PHASE,
    O_PLAYED,
    O_TABLE,
    O_TAKER,
    O_TRICK,
    O_WINNING,
    OBS_AT,
    OBS_SIZE,
    PETIT,
    PLAIN,
    POIGNEE,
    QUEEN,
    RANKS,
    SLAM,
    TRICKS,
    TRUMP,
    TWENTY_ONE,
)
from cardgym.kernel import helper

# Chavey's scale: from how many points on to bid prise, garde, garde sans, garde contre, with eighteen cards in hand
BID_FROM = np.array([40, 56, 71, 81], np.int64)
LONG_SUIT = np.array([0, 0, 0, 0, 0, 5, 7, 9], np.int64)
COURT = np.array([1, 2, 3, 6], np.int64)  # jack, cavalier, queen, king
MARRIAGE = 10  # king and queen of a suit
SLAM_FROM = 115  # our own addition: so strong a hand declares a slam

# Weights in half points, found by a random search over duplicate deals against earlier weights.
OUDLER = 33.0  # the petit lost or caught, beside its card points
TRUMP_KEPT, RANK_KEPT = 1.8, 0.8  # a trump in hand, and each step of its rank
COURT_KEPT = 0.23  # a court card kept, for each half point
EXCUSE_KEPT = 3.5
LATER = 1.4  # card points that each of those who follow adds to a trick
HIDDEN = 0.07  # chance that a card lies in no hand, against that for one hand
EAGER = 2.8  # how surely a higher card of a suit is played, against the chance that it is held
TAKER_TRUMPS = 1.2  # the taker leads trumps
DEFENCE_TRUMPS = -2.7  # the defence does not
LENGTH = 0.8  # each card of a suit makes leading it better
NEVER = -1e9


@helper
def choose(observation, mask):
    """An action id for one position (int8 arrays: observation, mask)."""
    n = 3
    while len(observation) != OBS_SIZE[n - 3]:
        n += 1
    at = OBS_AT[n - 3]
    phase = first(observation, at[O_PHASE], 6)
    if mask[BID]:
        return _bid(observation, mask, at, n)
    if mask[SLAM]:
        return SLAM if _hand_value(observation, at, True) >= SLAM_FROM * TRICKS[n - 3] // 18 else NO_SLAM
    for kind in range(2, -1, -1):
        if mask[POIGNEE + kind]:
            return POIGNEE + kind
    if phase == 1:
        return _lay_away(observation, mask, at)
    if phase == 4:
        return first(mask, 0, CARDS)
    if phase == 5 and n == 5:
        return _call(observation, mask, at)
    return _play(observation, mask, at, n)


@helper
def _suit(card):
    """0-3, 4 for trumps, 5 for the Excuse."""
    return card // RANKS if card < PLAIN else (5 if card == EXCUSE else 4)


# --- Words -----------------------------------------------------------------------------------


@helper
def _hand_value(observation, at, without_chien):
    """The hand on Chavey's scale; voids and singletons count only for contracts that leave the chien unseen."""
    hand = observation[at[O_HAND] : at[O_HAND] + CARDS]
    trumps = int(hand[EXCUSE])  # the scale counts it among them
    major = 0
    run = 0  # length of the sequence of major trumps under way
    value = 8 * hand[EXCUSE] + 10 * hand[TWENTY_ONE]
    for rank in range(1, 22):
        held = hand[TRUMP + rank]
        trumps += held
        if rank >= 16:
            major += held
            run = run + 1 if held else 0
            if run == 2:
                value += 2
            elif run > 2:
                value += 1
    value += 2 * major
    if trumps > 4:
        value += 2 * trumps
        if hand[PETIT]:
            value += 5 if trumps == 5 else (7 if trumps == 6 else 9)
    for suit in range(4):
        value += _suit_value(hand, suit, without_chien)
    return value


@helper
def _suit_value(hand, suit, without_chien):
    start = suit * RANKS
    length = 0
    for c in range(start, start + RANKS):
        length += hand[c]
    value = int(LONG_SUIT[min(length, 7)])
    if hand[start + KING] and hand[start + QUEEN]:
        value += MARRIAGE
    else:
        value += 6 * hand[start + KING] + 3 * hand[start + QUEEN]
    value += 2 * hand[start + KING - 2] + hand[start + KING - 3]
    if without_chien and length < 2:
        value += 6 if length == 0 else 3
    return value


@helper
def _bid(observation, mask, at, n):
    """The highest contract that the hand is worth, if it may still be bid; thresholds follow the size of the hand."""
    for bid in range(CONTRE, 0, -1):
        needed = int(BID_FROM[bid - 1]) * int(TRICKS[n - 3]) // 18
        if mask[BID + bid] and _hand_value(observation, at, bid > 2) >= needed:
            return BID + bid
    return BID


@helper
def _call(observation, mask, at):
    """A card that is not one's own, in the longest suit."""
    best = -1
    best_worth = NEVER
    for card in range(PLAIN):
        if mask[card]:
            start = at[O_HAND] + card // RANKS * RANKS
            worth = 1.0 * (card % RANKS)
            for i in range(RANKS):
                worth += 0.1 * observation[start + i]
            worth -= 50.0 * observation[at[O_HAND] + card]
            if worth > best_worth:
                best = card
                best_worth = worth
    return best


@helper
def _lay_away(observation, mask, at):
    """Court cards without their king, and short suits; the lowest trump where trumps must go."""
    best = -1
    best_worth = NEVER
    for card in range(CARDS):
        if mask[card]:
            worth = -100.0 - card
            if card < PLAIN:
                start = at[O_HAND] + card // RANKS * RANKS
                length = 0
                for i in range(RANKS):
                    length += observation[start + i]
                worth = 1.0 * HALF_POINTS[card] + 8.0 / length - 0.01 * (card % RANKS)
                if observation[start + KING]:
                    worth -= 6.0
            if worth > best_worth:
                best = card
                best_worth = worth
    return best


# --- Cards -----------------------------------------------------------------------------------


@helper
def _play(observation, mask, at, n):
    best_card = _best_on_table(observation, at, n)
    points = 0
    on_table = 0
    for c in range(CARDS):
        if observation[at[O_TABLE] + c]:
            on_table += 1
            points += int(HALF_POINTS[c]) if c != EXCUSE else 0
    trick = 1 + first(observation, at[O_TRICK], int(TRICKS[n - 3]))
    left = int(TRICKS[n - 3]) - trick  # tricks after this one
    winning = first(observation, at[O_WINNING], n)
    chosen = -1
    chosen_worth = NEVER
    for card in range(CARDS):
        if mask[card]:
            if card == EXCUSE:
                worth = _worth_of_excuse(observation, at, n, best_card, winning, points, on_table, left)
            else:
                worth = _worth(observation, at, n, card, best_card, winning, points, on_table, left)
            if worth > chosen_worth:
                chosen = card
                chosen_worth = worth
    return chosen


@helper
def _best_on_table(observation, at, n):
    """The card that wins the trick so far, -1 if there is none."""
    winning = first(observation, at[O_WINNING], n)
    if winning < 0:
        return -1
    for c in range(CARDS - 1, -1, -1):
        if observation[at[O_TABLE] + c] and observation[at[O_PLAYED] + winning * CARDS + c]:
            return c
    return -1


@helper
def _with_taker(observation, at, n, seat):
    """Does a seat play on the taker's side, as far as one can tell?"""
    if observation[at[O_TAKER] + seat]:
        return True
    if n < 5:
        return False
    if observation[at[O_PARTNER] + seat]:
        return True
    called = first(observation, at[O_CALLED], CARDS)
    return seat == 0 and called >= 0 and observation[at[O_HAND] + called] != 0


@helper
def _ally(observation, at, n, seat):
    return _with_taker(observation, at, n, seat) == _with_taker(observation, at, n, 0)


@helper
def _holds(observation, at, n, seat, start, end):
    """Chance that a seat holds one of the cards from ``start`` to ``end`` (excluded)."""
    none = 1.0
    for c in range(start, end):
        if observation[at[O_MAY_HOLD] + (seat - 1) * CARDS + c]:
            holders = HIDDEN
            for other in range(n - 1):
                holders += observation[at[O_MAY_HOLD] + other * CARDS + c]
            none *= 1.0 - 1.0 / holders
    return 1.0 - none


@helper
def _beaten_by(observation, at, n, seat, card, lead):
    """Chance that a seat which has still to play beats a card that wins so far."""
    follows = _holds(observation, at, n, seat, lead * RANKS, (lead + 1) * RANKS) if lead < 4 else 0.0
    if card >= PLAIN:
        return (1.0 - follows) * _holds(observation, at, n, seat, card + 1, EXCUSE)
    higher = _holds(observation, at, n, seat, card + 1, (card // RANKS + 1) * RANKS)
    ruffs = (1.0 - follows) * _holds(observation, at, n, seat, PETIT, EXCUSE)
    return min(1.0, higher * EAGER + ruffs)


@helper
def _win_chance(observation, at, n, top, own, on_table):
    """Chance that one's side takes the trick, of which the card ``top`` would win now; ``own``: it is one's side's."""
    lead = _lead(observation, at, n, top)
    stands = 1.0
    for seat in range(1, n - on_table):
        if _ally(observation, at, n, seat) != own:
            stands *= 1.0 - _beaten_by(observation, at, n, seat, top, lead)
    return stands if own else 1.0 - stands


@helper
def _lead(observation, at, n, card):
    """The suit led to the trick, or that of the card if it is the first."""
    for seat in range(1, n):  # the first of those who have played; an Excuse that was led fixes nothing
        for c in range(EXCUSE):
            if observation[at[O_TABLE] + c] and observation[at[O_PLAYED] + seat * CARDS + c]:
                return _suit(c)
    return _suit(card)


@helper
def _worth(observation, at, n, card, best_card, winning, points, on_table, left):
    wins = best_card < 0 or _beats(card, best_card)
    top = card if wins else best_card
    own = True if wins else _ally(observation, at, n, winning)
    chance = _win_chance(observation, at, n, top, own, on_table)
    own_points = 0 if card == TWENTY_ONE else int(HALF_POINTS[card])  # the highest trump brings its points home anyway
    at_stake = points + own_points + LATER * (n - 1 - on_table)
    if card == PETIT:
        at_stake += OUDLER + (20.0 if left == 0 else 0.0)
    worth = at_stake * (2.0 * chance - 1.0) - _kept(card, left)
    if on_table == 0:
        worth += _as_lead(observation, at, n, card)
    return worth


@helper
def _beats(card, other):
    if _suit(card) == _suit(other):
        return card > other
    return _suit(card) == 4


@helper
def _kept(card, left):
    """What a card is worth in hand; nothing in the last trick."""
    if left == 0:
        return 0.0
    if card < PLAIN:
        return COURT_KEPT * HALF_POINTS[card]
    return TRUMP_KEPT + RANK_KEPT * (card - TRUMP)


@helper
def _as_lead(observation, at, n, card):
    if card >= PLAIN:
        return TAKER_TRUMPS if _with_taker(observation, at, n, 0) else DEFENCE_TRUMPS
    start = at[O_HAND] + card // RANKS * RANKS
    length = 0
    for i in range(RANKS):
        length += observation[start + i]
    return LENGTH * length


@helper
def _worth_of_excuse(observation, at, n, best_card, winning, points, on_table, left):
    """It saves a card from a trick that will be lost; it must go before the last trick."""
    if left == 0:
        return 0.0
    if best_card < 0:
        worth = -LATER * (n - 1)
    else:
        own = _ally(observation, at, n, winning)
        chance = _win_chance(observation, at, n, best_card, own, on_table)
        worth = (points + LATER * (n - 1 - on_table)) * (2.0 * chance - 1.0)
    return worth - (EXCUSE_KEPT if left > 2 else 0.0) + (100.0 if left == 1 else 0.0)
