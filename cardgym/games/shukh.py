"""Shukh: two to eight players shed their cards, diamonds are trumps, spades yield only to spades.

Rules with their ids (R-3.1, I-4, V-2, S-16): ``docs/envs/shukh.md``.  Played here is the lawful game: only legal
moves exist, and the engine deals, sweeps and passes the turn.

A *kon* is one round of cards laid on each other.  It closes when it holds as many cards as players are still in;
its cards then go to the discard, and who closed it leads the next one.

Both packs use the numbers of 52 cards, ``suit * 13 + rank`` with ranks 2 ... A, so within a suit the higher card is
the larger number (R-2.2); the pack of 36 begins with the sixes.

Action ids: 0-51 lay a card; 52 take the bottom card of the kon; 53 tuck a card under it; 54 discard the lowest heart.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardgym import rng
from cardgym.cards import PACK_52
from cardgym.errors import InvalidOption
from cardgym.game import Action, Game, Layout, Options, Segment, option, state_dtype
from cardgym.kernel import helper
from cardgym.render.scene import BACK, Laid, Pile, Place, Scene, by_suit

# --- Tables ----------------------------------------------------------------------------------

CARDS, RANKS, SEATS = 52, 13, 8
QUEEN, ACE = 10, 12
DIAMONDS, HEARTS, SPADES = 1, 2, 3
NINE_D, QUEEN_H = PACK_52.card("9D"), PACK_52.card("QH")
TAKE, TUCK, DISCARD_LOW_HEART, NUM_ACTIONS = 52, 53, 54, 55
# Where a card is; a hand's code is its seat, that of a card which a seat laid on the kon is LAID + seat.
LAID, DISCARD, ABSENT = SEATS, 2 * SEATS, 2 * SEATS + 1
DEALS = 9  # S-5: a deal that leaves somebody without cards is made anew, eight times at most
AUTO, NEVER = -1, 0  # numbers of the words of `max_idle_turns`


def _beats(card: int, top: int) -> bool:
    """R-3.1 ... R-3.7.1: may ``card`` be laid on ``top``?  Nothing is ever laid on the queen of hearts."""
    if top == QUEEN_H:
        return False
    suit, top_suit = card // RANKS, top // RANKS
    return card == QUEEN_H or (card > top if suit == top_suit else suit == DIAMONDS and top_suit != SPADES)


BEATS = np.array([[_beats(c, top) for c in range(CARDS)] for top in range(CARDS)], np.int8)


def _actions() -> tuple[Action, ...]:
    cards = [Action(n, f"lay {s}", card=i) for i, (n, s) in enumerate(zip(PACK_52.names, PACK_52.symbols, strict=True))]
    words = [
        Action("take", "take the bottom card of the kon", word="take"),
        Action("tuck", "put the card that fits under the bottom card of the kon", word="tuck"),
        Action("discard", "discard the lowest heart, when two players are left", word="discard"),
    ]
    return (*cards, *words)


ACTIONS = _actions()


@dataclass(frozen=True, kw_only=True)
class ShukhOptions(Options):
    """Rule options of Shukh."""

    episode: str = option("party", "one party, or a match of several (R-10.2)", choices=("party", "match"))
    deck: int = option(36, "cards in the pack (R-2.1)", choices=(36, 52))
    players: int = option(4, "number of players (S-1); more than 6 need 52 cards", choices=(2, 3, 4, 5, 6, 7, 8))
    memory: str = option(
        "perfect",
        "what `observation` remembers of the cards dealt face up (S-6): everything, or nothing but what lies open",
        choices=("perfect", "table"),
    )
    reward: str = option(
        "place",
        "`place` pays places in equal steps from +1 to -1; `loser` takes 1 from the loser and shares it out",
        choices=("place", "loser"),
    )
    tuck: str = option(
        "eating",
        "which cards may be tucked: the lowest heart under the next one (R-3.6.2), or any card under the next of its "
        "suit (V-1 ... V-4)",
        choices=("eating", "general"),
    )
    max_idle_turns: int | str | None = option(
        "auto",
        "house rule (S-17): turns without a discard after which a party ends; `auto`: cards in the pack times "
        "players squared; None: no limit",
        low=50,
        high=100_000,
        words={"auto": AUTO, None: NEVER},
    )
    parties_per_match: int = option(5, "parties in a match (S-2)", low=1, high=100)

    def check(self) -> None:
        if self.deck == 36 and self.players > 6:
            raise InvalidOption(f"players={self.players} is too many for deck=36: 2 to 6, or deck=52")


STATE = state_dtype(
    SEATS,
    ShukhOptions,
    [
        # the deal: what chance did, and the stacks that it built
        ("order", np.int8, (CARDS,)),  # the stock from its first card on, -1 beyond the pack
        ("top", np.int8, (SEATS,)),  # top card of each stack at the end of the deal
        ("below", np.int8, (CARDS,)),  # the card under it in its stack, -1 none
        ("shuffler", np.int8),  # -1: to be drawn
        ("opener", np.int8),
        # the play
        ("place", np.int8, (CARDS,)),
        ("kon", np.int8, (SEATS,)),  # its cards from the bottom up
        ("height", np.int8),  # how many they are
        ("held", np.int8, (SEATS,)),  # cards in each hand
        ("lying", np.int8, (SEATS,)),  # cards of each seat in the kon
        ("finish", np.int8, (SEATS,)),  # finishing place, 0 while in play
        ("live", np.int8),  # seats in play
        ("idle", np.int32),  # turns since the last discard
        # the match
        ("parties", np.int32),  # finished
        ("stalled_parties", np.int32),
    ],
)


@functools.cache
def layouts_for(players: int, match: bool) -> Mapping[str, Layout]:
    around = "observer first, then clockwise"
    segments = [
        Segment("hand", ("card",), "cards in the observer's hand", since="deal or taken"),
        Segment("discard", ("card",), "cards in the discard", since="kon closed"),
        Segment("order", ("card",), "place of a card in the kon, from 1 at the bottom up, 0 elsewhere", high=SEATS),
        Segment("top", ("card",), "one-hot: top card of the kon", since="laid"),
        Segment("bottom", ("card",), "one-hot: bottom card of the kon", since="laid"),
        Segment("idle", (1,), "turns since the last discard, in hundredths of the limit", since="turn", high=100),
        Segment("turn", (players,), f"{around}: one-hot: whose turn it is; none after the end", since="turn"),
        Segment("shuffler", (players,), f"{around}: one-hot: who shuffled"),
        Segment("opener", (players,), f"{around}: one-hot: who was dealt the nine of diamonds"),
        Segment("finish", (players,), f"{around}: finishing place, 0 while in play", since="left", high=players),
        Segment("held", (players,), f"{around}: number of cards in hand", high=CARDS),
        Segment(
            "hands",
            (players - 1, "card"),
            "cards in the others' hands, clockwise from the observer's left; with memory='table' empty "
            "unless only one other seat holds cards",
        ),
        Segment("laid", (players, "card"), f"{around}: cards that the seat laid on the kon", since="laid"),
    ]
    if match:
        segments += [
            Segment("points", (players,), f"{around}: parties lost in this match", since="party end", high=100),
            Segment("parties", (1,), "parties finished in this match", since="party end", high=100),
        ]
    # Nothing that is hidden takes part: the whole state is what a perfect memory knows (S-6).
    return {name: Layout(segments, PACK_52, ACTIONS) for name in ("observation", "state")}


_AT = {name: place.start for name, place in layouts_for(2, False)["observation"].slices.items()}
O_HAND, O_DISCARD, O_ORDER, O_TOP, O_BOTTOM = (_AT[n] for n in ("hand", "discard", "order", "top", "bottom"))
O_IDLE, O_SEATS = _AT["idle"], _AT["turn"]  # from O_SEATS on the places of parts depend on the number of seats
PER_SEAT = 5  # parts with one number per seat that stand before `hands`


def card_starts(players: int, observer: int, places: int) -> np.ndarray:
    """Where the parts of an observation begin in which the cards of a place are 1, int64, shape (places,), -1 none."""
    starts = np.full(places, -1, np.int64)
    starts[DISCARD] = O_DISCARD
    hands = O_SEATS + PER_SEAT * players
    for i in range(players):
        seat = (observer + i) % players
        starts[seat] = O_HAND if i == 0 else hands + CARDS * (i - 1)
        starts[LAID + seat] = hands + CARDS * (players - 1 + i)
    return starts


CARD_STARTS = np.zeros((SEATS + 1, SEATS, ABSENT + 1), np.int64)
for _players in range(2, SEATS + 1):
    for _observer in range(_players):
        CARD_STARTS[_players, _observer] = card_starts(_players, _observer, ABSENT + 1)


# --- The deal --------------------------------------------------------------------------------


@helper
def lowest_rank(s):
    """Rank of the lowest cards of the pack, the sixes or the twos (R-2.2)."""
    return RANKS - int(s.deck) // 4


@helper
def low_heart(s):
    """The lowest heart, six or two (R-3.6)."""
    return HEARTS * RANKS + lowest_rank(s)


@helper
def deal(s):
    gather(s)
    deal_hands(s)
    begin(s)


@helper
def gather(s):
    """R-4.1: who shuffles, and the pack in order."""
    if s.shuffler < 0:
        s.shuffler = rng.below(s.rng, int(s.seats))  # S-2
    size = 0
    s.order[:] = -1
    for c in range(CARDS):
        if c % RANKS >= lowest_rank(s):
            s.order[size] = c
            size += 1


@helper
def deal_hands(s):
    """Shuffle and deal; anew while somebody is left without cards (S-5)."""
    for _ in range(DEALS):
        rng.shuffle(s.rng, s.order, int(s.deck))
        deal_out(s)
        if s.held[: s.seats].min() > 0:
            break


@helper
def deal_out(s):
    """R-4.4: draw after draw, until the stock is gone; hands are stacks of which only the top counts (R-4.2)."""
    clear_hands(s)
    seat = int(s.shuffler)
    for drawn in range(int(s.deck)):
        seat = draw(s, seat, drawn)


@helper
def clear_hands(s):
    s.place[:] = ABSENT
    s.held[:] = 0
    s.top[:] = -1
    s.below[:] = -1


@helper
def draw(s, seat, drawn):
    """One draw, ``drawn`` cards having been drawn before; returns the seat that draws next."""
    receiver = unload_to(s, seat)
    while receiver >= 0:  # S-3: before every draw top cards that fit elsewhere have to go there
        unload(s, seat, receiver)
        receiver = unload_to(s, seat)
    card = int(s.order[drawn])
    keeper = place_drawn(s, seat, card, drawn == s.deck - 1)
    return (seat + 1) % int(s.seats) if keeper == seat else seat


@helper
def unload_to(s, seat):
    """The seat to which the top card of a stack has to go, -1 if it stays."""
    return _receiver(s, seat, int(s.top[seat])) if s.top[seat] >= 0 else -1


@helper
def unload(s, seat, receiver):
    card = int(s.top[seat])
    s.top[seat] = s.below[card]
    s.held[seat] -= 1
    _stack(s, receiver, card)


@helper
def place_drawn(s, seat, card, last):
    """Lays down a card drawn from the stock; returns the seat that got it."""
    receiver = _receiver(s, seat, card)
    keeper = seat if receiver < 0 or last else receiver  # , S-4: the last one stays
    _stack(s, keeper, card)
    return keeper


@helper
def _receiver(s, seat, card):
    """R-4.3, R-4.5, R-4.6: the first seat clockwise whose top card is one rank lower, -1 if there is none."""
    rank, lowest = card % RANKS, lowest_rank(s)
    wanted = ACE if rank == lowest else rank - 1
    for i in range(1, s.seats):
        other = (seat + i) % int(s.seats)
        if s.top[other] >= 0 and s.top[other] % RANKS == wanted:
            return other
    return -1


@helper
def _stack(s, seat, card):
    s.below[card] = s.top[seat]
    s.top[seat] = card
    s.place[card] = seat
    s.held[seat] += 1


@helper
def begin(s):
    """R-5.1, S-7: the holder of the nine of diamonds opens the party."""
    s.opener = s.place[NINE_D]
    clear_table(s)
    s.player = s.opener
    _leave(s, int(s.opener))


@helper
def clear_table(s):
    """Everybody in play, and nothing played."""
    clear_kon(s)
    s.finish[:] = 0
    s.live = s.seats
    s.idle = 0


# --- Legal actions ---------------------------------------------------------------------------


@helper
def legal(s, mask):
    for a in range(NUM_ACTIONS):
        mask[a] = 0
    if s.over:
        return
    place, seat = s.place, s.player
    if s.live == 2 and place[low_heart(s)] == seat:  # S-16: before anything else
        mask[DISCARD_LOW_HEART] = 1
    elif s.height == 0:
        for c in range(CARDS):
            mask[c] = place[c] == seat
        mask[QUEEN_H] = 0
    else:
        top = int(s.kon[s.height - 1])
        for c in range(CARDS):
            mask[c] = (place[c] == seat) & (BEATS[top, c] != 0)
        mask[TAKE] = 1
        card = tucked_card(s)
        mask[TUCK] = card >= 0 and place[card] == seat


@helper
def tucked_card(s):
    """The card that may be tucked under the kon, -1 if none may.

    R-3.6.2, S-14: the lowest heart under the next one.  V-1, S-18: any card under the next of its suit, an ace
    under the lowest card.
    """
    bottom = int(s.kon[0])
    if bottom < 0 or (s.tuck == 0 and bottom != low_heart(s) + 1):
        return -1
    return bottom - 1 if bottom % RANKS > lowest_rank(s) else bottom - bottom % RANKS + ACE


# --- One decision ----------------------------------------------------------------------------


@helper
def apply(s, action):
    s.moves += 1
    seat = int(s.player)
    if action == DISCARD_LOW_HEART:
        following = _discard_low_heart(s, seat)
    else:
        s.idle += 1
        if action == TAKE:
            following = _take(s, seat)
        elif action == TUCK:
            following = _tuck(s, seat)
        else:
            following = _lay(s, seat, action)
    if s.live <= 1:
        if end_party(s, False):
            deal(s)
    elif 0 < idle_limit(s) <= s.idle:  # S-17
        rank_by_hands(s)
        if end_party(s, True):
            deal(s)
    else:
        s.player = following
        if s.height == 0 and s.held[following] == 1 and s.place[QUEEN_H] == following:
            s.player = next_live(s, following)  # S-13: the queen of hearts alone cannot lead


@helper
def next_live(s, seat):
    """R-2.13: the next seat clockwise that is in play; the seat itself if there is no other."""
    for i in range(1, s.seats):
        other = (seat + i) % int(s.seats)
        if s.finish[other] == 0:
            return other
    return seat


@helper
def _lay(s, seat, card):
    """R-5.2, R-5.3: lead or beat; the card may close the kon (R-5.5, S-11)."""
    s.held[seat] -= 1
    put_on_top(s, seat, card)
    if s.height == s.live or card == QUEEN_H:
        return _close(s, seat)
    return next_live(s, seat)


@helper
def put_on_top(s, seat, card):
    s.place[card] = LAID + seat
    s.lying[seat] += 1
    s.kon[s.height] = card
    s.height += 1


@helper
def _close(s, closer):
    """R-5.6: the cards go to the discard at once.  R-5.7: the closer leads, or the next one if he is out."""
    for i in range(s.height):
        s.place[s.kon[i]] = DISCARD
    clear_kon(s)
    s.idle = 0
    _leave(s, closer)
    return closer if s.finish[closer] == 0 else next_live(s, closer)


@helper
def clear_kon(s):
    s.kon[:] = -1
    s.height = 0
    s.lying[:] = 0


@helper
def _take(s, seat):
    """S-8: when it was the only card the next player leads."""
    owner = take_bottom(s, seat)
    _leave(s, owner)
    return next_live(s, seat)


@helper
def take_bottom(s, seat):
    """R-5.8, S-10: the bottom card, whoever laid it; returns who that was."""
    bottom = int(s.kon[0])
    owner = int(s.place[bottom]) - LAID
    s.lying[owner] -= 1
    s.place[bottom] = seat
    s.held[seat] += 1
    for i in range(1, s.height):
        s.kon[i - 1] = s.kon[i]
    s.height -= 1
    s.kon[s.height] = -1
    return owner


@helper
def _tuck(s, seat):
    card = tucked_card(s)
    s.held[seat] -= 1
    if eats(s, card):
        eater = next_live(s, seat)
        feed(s, eater, card)
        _leave(s, seat)
        return eater
    put_under(s, seat, card)
    if s.height == s.live:  # S-18
        return _close(s, seat)
    return next_live(s, seat)


@helper
def eats(s, card):
    """V-3: does the next player eat the kon when this card is tucked?"""
    return card == low_heart(s) and s.kon[0] == card + 1


@helper
def put_under(s, seat, card):
    """V-2: a tuck that is but a card shed."""
    s.place[card] = LAID + seat
    s.lying[seat] += 1
    for i in range(s.height, 0, -1):
        s.kon[i] = s.kon[i - 1]
    s.kon[0] = card
    s.height += 1


@helper
def feed(s, eater, card):
    """R-3.6.2: he takes the whole kon with the tucked card."""
    s.place[card] = eater
    for i in range(s.height):
        s.place[s.kon[i]] = eater
    s.held[eater] += s.height + 1
    clear_kon(s)


@helper
def _discard_low_heart(s, seat):
    """R-9.4.1: no turn, so he goes on, unless it was his last card."""
    s.place[low_heart(s)] = DISCARD
    s.held[seat] -= 1
    s.idle = 0
    _leave(s, seat)
    return seat


@helper
def _leave(s, first):
    """R-9.1: who has no card in hand and none in the kon is out; S-12: in the order clockwise from ``first``."""
    for i in range(s.seats):
        seat = (first + i) % int(s.seats)
        if s.finish[seat] == 0 and s.held[seat] == 0 and s.lying[seat] == 0:
            s.live -= 1
            s.finish[seat] = s.seats - s.live


# --- The end of a party and the match --------------------------------------------------------


@helper
def idle_limit(s):
    """S-17: turns without a discard that end a party, 0 for no limit."""
    if s.max_idle_turns == AUTO:
        return int(s.deck) * int(s.seats) * int(s.seats)
    return int(s.max_idle_turns)


@helper
def rank_by_hands(s):
    """S-17: after a stall the fewest cards in hand come first; equal hands share a place, the best of theirs."""
    for seat in range(s.seats):
        if s.finish[seat] == 0:
            rank = s.seats - s.live + 1
            for other in range(s.seats):
                rank += int(s.finish[other] <= 0 and s.held[other] < s.held[seat])
            s.finish[seat] = -rank  # below zero while others are still to be compared with
    for seat in range(s.seats):
        s.finish[seat] = abs(s.finish[seat])


@helper
def end_party(s, stalled):
    """Books the result; returns whether another party of the match follows."""
    s.parties += 1
    loser = -1
    if not stalled:
        for seat in range(s.seats):
            if s.finish[seat] == 0:
                s.finish[seat] = s.seats
            if s.finish[seat] == s.seats:
                loser = seat
    if s.episode == 0:
        s.over = 1
        s.stalled = stalled
        for seat in range(s.seats):
            s.scores[seat] = s.finish[seat]
        _pay(s)
        return False
    if stalled:
        s.stalled_parties += 1
    else:
        s.scores[loser] += 1  # S-2
        s.shuffler = loser
    if s.parties == s.parties_per_match:
        s.over = 1
        _pay(s)
    return s.over == 0


@helper
def _pay(s):
    """Rewards by rank among the scores, the lowest first; equal scores share what their ranks bring."""
    last = int(s.seats) - 1
    for seat in range(s.seats):
        ahead = 0
        equal = 0
        for other in range(s.seats):
            ahead += int(s.scores[other] < s.scores[seat])
            equal += int(s.scores[other] == s.scores[seat])
        if s.reward == 0:
            share = 1.0 - (2 * ahead + equal - 1) / last
        elif ahead + equal > last:
            share = ((equal - 1) / last - 1.0) / equal
        else:
            share = 1.0 / last
        s.rewards[seat] += s.reward_scale * share


# --- Encodings -------------------------------------------------------------------------------


@helper
def observe(s, seat, out):
    knows_hands = s.memory == 0 or others_holding(s, seat) <= 1
    observe_cards(s, int(seat), out, knows_hands, CARD_STARTS[int(s.seats), int(seat)])


@helper
def others_holding(s, seat):
    """How many other seats hold cards; where it is one, all unseen cards are his."""
    count = 0
    for other in range(s.seats):
        count += int(other != seat and s.held[other] > 0)
    return count


@helper
def observe_cards(s, seat, out, knows_hands, starts):
    """Writes zeros and the parts of :func:`layouts_for`; the other hands if the observer knows them.

    ``starts`` says for each place where the part of its cards begins, as :func:`card_starts` does.
    """
    place, seats = s.place, int(s.seats)
    hands = O_SEATS + PER_SEAT * seats
    for i in range(len(out)):
        out[i] = 0
    for c in range(CARDS):
        where = int(place[c])
        start = starts[where]
        if start >= 0 and (knows_hands or where >= SEATS or where == seat):
            out[start + c] = 1
    if s.height > 0:
        out[O_TOP + int(s.kon[s.height - 1])] = 1
        out[O_BOTTOM + int(s.kon[0])] = 1
    for i in range(s.height):
        out[O_ORDER + int(s.kon[i])] = i + 1
    limit = idle_limit(s)
    out[O_IDLE] = 0 if limit == 0 else 100 * int(s.idle) // limit
    if not s.over:
        out[O_SEATS + (int(s.player) - seat + seats) % seats] = 1
    out[O_SEATS + seats + (int(s.shuffler) - seat + seats) % seats] = 1
    if s.opener >= 0:
        out[O_SEATS + 2 * seats + (int(s.opener) - seat + seats) % seats] = 1
    for i in range(seats):
        who = (seat + i) % seats
        out[O_SEATS + 3 * seats + i] = s.finish[who]
        out[O_SEATS + 4 * seats + i] = s.held[who]
    if s.episode == 1:
        points = hands + CARDS * (2 * seats - 1)
        for i in range(seats):
            out[points + i] = s.scores[(seat + i) % seats]
        out[points + seats] = s.parties


@helper
def observed_size(s):
    """How many numbers :func:`observe_cards` writes."""
    seats = int(s.seats)
    size = O_SEATS + PER_SEAT * seats + CARDS * (2 * seats - 1)
    return size + seats + 1 if s.episode == 1 else size


@helper
def reveal(s, out):
    observe_cards(s, int(s.player), out, True, CARD_STARTS[int(s.seats), int(s.player)])


# --- Hidden cards anew -----------------------------------------------------------------------


@helper
def resample(s, seat, salt):
    """S-6: a perfect memory leaves only chance open; otherwise the unseen cards are dealt anew.

    All ways are equally likely.
    Two things are known of the hands in any case: the opener still holds the nine of diamonds at his first
    decision (R-5.1), and who has to lead from a single card does not hold the queen of hearts (S-13).
    """
    rng.scramble(s.rng, salt)
    if s.memory == 0:
        return
    s.top[:] = -1
    s.below[:] = -1
    unseen, place = s.order, s.place  # how the cards were dealt is forgotten; the array serves as the pool
    fresh = s.idle == 0 and s.opener != seat
    count = 0
    for c in range(CARDS):
        fresh = fresh and place[c] != DISCARD
    for c in range(CARDS):
        if place[c] < SEATS and place[c] != seat and not (fresh and c == NINE_D):
            unseen[count] = c
            count += 1
    rng.shuffle(salt, unseen, count)
    leads_alone = s.height == 0 and s.held[s.player] == 1 and not (s.over or fresh or s.player == seat)
    if leads_alone and unseen[0] == QUEEN_H:
        other = 1 + rng.below(salt, count - 1)
        unseen[0] = unseen[other]
        unseen[other] = QUEEN_H
    dealt = 0
    for i in range(s.seats):
        other = (s.player + i) % int(s.seats)
        if other != seat:
            for _ in range(s.held[other] - (fresh and other == s.opener)):
                place[unseen[dealt]] = other
                dealt += 1
    s.order[:] = -1


# --- For people ------------------------------------------------------------------------------


def scene(s: Any, seat: int | None) -> Scene:
    """The table: what ``seat`` knows, or everything."""
    facts = [f"{s.deck} cards"]
    if s.idle:
        facts.append(f"turns without a discard: {s.idle}")
    if s.episode == 1:
        facts.append(f"party {min(s.parties + 1, s.parties_per_match)} of {s.parties_per_match}")
    discarded = by_suit(PACK_52, np.flatnonzero(s.place == DISCARD))
    if s.over:
        message = f"over{': too long without a discard' if s.stalled else ''}"
    else:
        message = f"to act: seat {s.player}{'' if s.height else ', leads'}"
    open_hands = seat is None or s.memory == 0 or others_holding(s, seat) <= 1
    return Scene(
        title="Shukh",
        view=seat,
        places=tuple(_place(s, who, open_hands or seat == who) for who in range(s.seats)),
        player=None if s.over else int(s.player),
        message=message,
        facts=tuple(facts),
        table=tuple(Laid(int(c), int(s.place[c]) - LAID) for c in s.kon[: s.height]),
        table_label="kon, from the bottom up",
        piles=(Pile("discard", tuple(BACK if seat is not None else c for c in discarded)),) if discarded else (),
    )


def _place(s: Any, who: int, open_hand: bool) -> Place:
    hand = by_suit(PACK_52, np.flatnonzero(s.place == who)) if open_hand else (BACK,) * int(s.held[who])
    marks = [word for word, seat in (("shuffler", s.shuffler), ("opener", s.opener)) if seat == who]
    if s.finish[who]:
        marks.append(f"place {s.finish[who]}")
    return Place(who, hand, tuple(marks), (f"points {s.scores[who]}",) if s.episode == 1 else ())


def info(s: Any) -> dict[str, Any]:
    """Natural result: places and cards left of the last finished party; parties of a match."""
    facts: dict[str, Any] = {"places": s.finish[: s.seats].tolist(), "cards_left": s.held[: s.seats].tolist()}
    if s.episode == 1:
        facts |= {"parties": int(s.parties), "stalled_parties": int(s.stalled_parties)}
    return facts


def seats_of(options: Options) -> int:
    players: int = options.players  # type: ignore[attr-defined]
    return players


def _tables(options: Options) -> Mapping[str, Layout]:
    match: bool = options.episode == "match"  # type: ignore[attr-defined]
    return layouts_for(seats_of(options), match)


GAME = Game(
    name="shukh",
    title="Shukh",
    pack=PACK_52,
    actions=ACTIONS,
    options=ShukhOptions,
    dtype=STATE,
    layouts=_tables,
    seats=seats_of,
    reset_options=("shuffler",),
    deal=deal,
    legal=legal,
    apply=apply,
    observe=observe,
    history=None,
    reveal=reveal,
    resample=resample,
    scene=scene,
    info=info,
)
