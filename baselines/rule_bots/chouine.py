"""A rule bot for Chouine that plays like a sound regular.

It sees the observation and the mask, nothing else.  It swaps the seven as soon as it can, announces the most
valuable combination at once, and chooses every card by weighing what the trick will bring against what the
card is worth kept: trumps, aces and tens, and halves of marriages that may still come.  While the stock lasts it
reckons with what the opponent may hold; in the last five tricks it knows his hand and looks one trick ahead.
"""

from __future__ import annotations

from cardgym.baselines.rule_bots.reading import first
from cardgym.games.chouine import (
    ANNOUNCE,
    CARDS,
    CHOUINE,
    DECLINE,
    HAND,
    KINDS,
    KING,
    O_ANNOUNCED_IN,
    O_HAND,
    O_KNOWN,
    O_TABLE,
    O_TRICK,
    O_TRUMP,
    O_UNSEEN,
    POINTS,
    QUEEN,
    QUINTE,
    RANKS,
    STRICT,
    SWAP,
    TEN,
    TRICKS,
    VALUES,
)
from cardgym.kernel import helper

# Weights in points, found by a random search over duplicate deals against the random agent and an earlier bot.
LEAD_EARLY, LEAD_LATE = -1.1, 0.4  # leading next, while the stock lasts and in the last five tricks
TRUMP, TRUMP_RANK = 10.5, 2.1  # a trump in hand, and each step of its rank
PLAIN_RANK, BRISQUE = 0.2, 3.7  # a plain card's rank; an ace or ten on top
HALF_TRUMP, HALF_PLAIN, WHOLE = 9.6, 9.0, 20.0  # half of a marriage that may still come; a whole one
NEVER = -1e9


@helper
def choose(observation, mask):
    """An action id for one position (int8 arrays: observation, mask)."""
    if mask[SWAP]:
        return SWAP
    if mask[DECLINE]:
        return DECLINE
    trump = first(observation, O_TRUMP, 4)
    announcement = _best_announcement(mask, trump)
    if announcement >= 0:
        return announcement
    trick = 1 + first(observation, O_TRICK, TRICKS)
    table = first(observation, O_TABLE, CARDS)
    best = -1
    best_worth = NEVER
    for card in range(CARDS):
        if mask[card]:
            if table >= 0:
                worth = _worth_of_reply(table, card, trump, trick)
            elif trick < STRICT:
                worth = _worth_of_free_lead(observation, card, trump)
            else:
                worth = _worth_of_strict_lead(observation, card, trump)
            worth -= _kept(observation, card, trump, trick)
            if worth > best_worth:
                best = card
                best_worth = worth
    return best


@helper
def _best_announcement(mask, trump):
    best = -1
    best_value = 0
    for suit in range(4):
        for kind in range(len(KINDS)):
            value = int(VALUES[kind]) * (2 if suit == trump else 1)
            if kind == CHOUINE:
                value = 1000  # wins the deal
            action = ANNOUNCE + suit * 4 + kind
            if mask[action] and value > best_value:
                best = action
                best_value = value
    if mask[QUINTE] and best_value < 50:
        best = QUINTE
    return best


@helper
def _beats(card, lead, trump):
    if card // RANKS == lead // RANKS:
        return card > lead
    return card // RANKS == trump


@helper
def _kept(observation, card, trump, trick):
    """What a card is worth in hand, in points."""
    suit, rank = card // RANKS, card % RANKS
    is_trump = suit == trump
    left = (TRICKS + 1 - trick) / TRICKS
    worth = TRUMP + TRUMP_RANK * rank if is_trump else PLAIN_RANK * rank
    if rank >= TEN and not is_trump:
        worth += BRISQUE
    if (rank in (KING, QUEEN)) and observation[O_ANNOUNCED_IN + suit] == 0:
        partner = suit * RANKS + (KING + QUEEN - rank)
        if observation[O_UNSEEN + partner] and trick < STRICT:
            worth += (HALF_TRUMP if is_trump else HALF_PLAIN) * left
        elif observation[O_HAND + partner]:
            worth += WHOLE
    return worth


@helper
def _worth_of_reply(lead, card, trump, trick):
    points = int(POINTS[lead % RANKS]) + int(POINTS[card % RANKS])
    lead_next = LEAD_LATE if trick >= STRICT else LEAD_EARLY
    if _beats(card, lead, trump):
        return points + lead_next
    return -points - lead_next


@helper
def _worth_of_free_lead(observation, card, trump):
    """While the stock lasts the opponent replies as he likes; what he holds is a matter of chance."""
    unseen = 0
    known = 0
    for c in range(CARDS):
        unseen += observation[O_UNSEEN + c]
        known += observation[O_KNOWN + c]
    held = (HAND - known) / max(1.0, float(unseen))  # chance that he holds a given unseen card
    suit = card // RANKS
    points = int(POINTS[card % RANKS])
    worth = 0.0
    open_case = 1.0  # chance that none of the replies looked at so far was possible
    for higher in range(RANKS * (suit + 1) - 1, card, -1):
        chance = _chance(observation, higher, held)
        eager = 1.0 if points + POINTS[higher % RANKS] >= 4 and suit != trump else 0.62
        worth -= open_case * chance * eager * (points + int(POINTS[higher % RANKS]))
        open_case *= 1.0 - chance * eager
    if suit != trump:
        eager = 1.0 if points >= 10 else (0.23 if points >= 3 else 0.065)
        no_trump = 1.0
        for c in range(RANKS * trump, RANKS * (trump + 1)):
            no_trump *= 1.0 - _chance(observation, c, held)
        worth -= open_case * (1.0 - no_trump) * eager * (points + 1)
        open_case *= 1.0 - (1.0 - no_trump) * eager
    return worth + open_case * (points + 0.28)


@helper
def _chance(observation, card, held):
    if observation[O_KNOWN + card]:
        return 1.0
    return held if observation[O_UNSEEN + card] else 0.0


@helper
def _worth_of_strict_lead(observation, card, trump):
    """In the last five tricks the unseen cards are his hand: his best lawful reply decides (CH-9)."""
    suit = card // RANKS
    level = 3 if suit == trump else 2
    duty = 0  # what he is able to do: 3 head a trump lead, 2 follow, 1 trump, 0 anything
    for c in range(CARDS):
        if observation[O_UNSEEN + c] or observation[O_KNOWN + c]:
            duty = max(duty, _duty(c, card, suit, trump, level))
    worst = -NEVER
    for c in range(CARDS):
        if (observation[O_UNSEEN + c] or observation[O_KNOWN + c]) and _duty(c, card, suit, trump, level) >= duty:
            points = int(POINTS[card % RANKS]) + int(POINTS[c % RANKS])
            gain = -points - LEAD_LATE if _beats(c, card, trump) else points + LEAD_LATE
            worst = min(worst, gain)
    return worst


@helper
def _duty(reply, lead, suit, trump, level):
    if reply // RANKS == suit:
        return level if level == 3 and reply > lead else 2
    return 1 if reply // RANKS == trump else 0
