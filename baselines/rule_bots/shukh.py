"""A rule bot for Shukh that plays like a sound regular.

It sees the observation and the mask, nothing else.  It leads low, beats with the cheapest card that will do, keeps
diamonds and high spades, spends the queen of hearts early, since she closes a kon and gives the lead, and prefers
cards that the next player cannot beat, so that he has to take.  Where the observation does not tell the next
player's hand it supposes that he can beat everything.
"""

from __future__ import annotations

from cardgym.games.shukh import (
    ACE,
    BEATS,
    CARDS,
    DIAMONDS,
    DISCARD_LOW_HEART,
    O_BOTTOM,
    O_HAND,
    O_IDLE,
    O_ORDER,
    O_SEATS,
    PER_SEAT,
    QUEEN_H,
    RANKS,
    SPADES,
    TAKE,
    TUCK,
)
from cardgym.kernel import helper

# Weights found by a random search over duplicate deals against the random agent and an earlier bot.
PLAIN, SPADE = 5.97, 7.26  # what the ace of hearts, clubs or spades is worth in hand; lower ranks less in proportion
DIAMOND, DIAMOND_RANK = 5.64, 7.53  # a diamond, and what its ace is worth on top
QUEEN_OF_HEARTS = -4.11
BEAT = 21.77  # getting rid of a card instead of taking one
CLOSE = 0.7  # leading the next kon
STUCK_ON_LEAD, STUCK = 1.24, 1.29  # the next player cannot beat the card
PATIENCE, RELENTING = 10, 12.0  # after so many hundredths of the idle limit he leads what can be beaten
TAKEN = 0.66  # share of a card's worth that counts when it is taken
TUCKED = 6.0  # a tuck needs no card that beats, and may make the next player eat the kon


@helper
def choose(observation, mask):
    """An action id for one position (int8 arrays: observation, mask)."""
    return choose_move(observation, mask, (len(observation) - O_SEATS + CARDS) // (PER_SEAT + 2 * CARDS))


@helper
def choose_move(observation, mask, players):
    """The lawful move on one's own turn, -1 if there is none."""
    if mask[DISCARD_LOW_HEART]:
        return DISCARD_LOW_HEART
    live, following = _around(observation, players)
    height = 0
    bottom = -1
    for c in range(CARDS):
        height += observation[O_ORDER + c] > 0
        if observation[O_BOTTOM + c]:
            bottom = c
    best = -1
    best_worth = -1e9
    for action in range(TUCK + 1):
        if mask[action] and (action != QUEEN_H or height > 0):
            if action == TAKE:
                worth = TAKEN * kept(bottom)
            elif action == TUCK:
                worth = _worth_of_tuck(observation, bottom)
            else:
                stuck = _cannot_beat(observation, players, following, action)
                worth = _worth_of_card(action, height, live, stuck)
                if stuck and height == 0 and observation[O_IDLE] >= PATIENCE:
                    worth -= RELENTING
            if worth > best_worth:
                best = action
                best_worth = worth
    return best


@helper
def _around(observation, players):
    """How many seats are in play, and the next of them clockwise from the observer."""
    live = 0
    following = -1
    finish = O_SEATS + 3 * players
    for i in range(players):
        if observation[finish + i] == 0:
            live += 1
            if i > 0 and following < 0:
                following = i
    return live, following


@helper
def _cannot_beat(observation, players, seat, card):
    """Has this other seat, for all that the observation tells, no card that beats ``card``?"""
    hand = O_SEATS + PER_SEAT * players + CARDS * (seat - 1)
    known = 0
    for c in range(CARDS):
        known += observation[hand + c]
        if observation[hand + c] and BEATS[card, c]:
            return False
    return known == observation[O_SEATS + 4 * players + seat]


@helper
def kept(card):
    """What a card is worth in hand."""
    if card == QUEEN_H:
        return QUEEN_OF_HEARTS
    share = card % RANKS / ACE
    suit = card // RANKS
    if suit == DIAMONDS:
        return DIAMOND + DIAMOND_RANK * share
    return SPADE * share if suit == SPADES else PLAIN * share


@helper
def _worth_of_card(card, height, live, stuck):
    worth = -kept(card)
    if height == 0:
        return worth + (STUCK_ON_LEAD if stuck else 0.0)
    if card == QUEEN_H or height + 1 == live:
        return worth + BEAT + CLOSE
    return worth + BEAT + (STUCK if stuck else 0.0)


@helper
def _worth_of_tuck(observation, bottom):
    """The card under the bottom card, or the ace under the lowest of its suit."""
    card = bottom - 1
    if bottom % RANKS == 0 or not observation[O_HAND + card]:
        card = bottom - bottom % RANKS + ACE
    return BEAT + TUCKED - kept(card)
