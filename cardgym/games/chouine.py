"""Chouine: two players, 32 cards, marriages and a stock, from the valley of the Loir.

Rules with their ids (CH-1 ... CH-22): ``docs/envs/chouine.md``.  They follow the tradition
as set down in J. Proust's leaflet for the Lavardin castle association (2005).

Seats are 0 and 1.  A card is ``suit * 8 + rank`` with ranks 7 8 9 J Q K 10 A, so within a
suit the higher card is the larger number (CH-1).

Action ids (CH-18): 0-31 play a card; 32-47 announce, ``32 + suit * 4 + kind``; 48 quinte;
49 swap the seven of trumps for the turn-up; 50 decline to.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardgym import rng
from cardgym.cards import PACK_32, SUIT_NAMES, SUITS, SYMBOLS
from cardgym.errors import InvalidOption
from cardgym.game import Action, Game, Layout, Options, Segment, option, state_dtype
from cardgym.kernel import helper
from cardgym.render.scene import BACK, Laid, Pile, Place, Scene, by_suit

# --- Tables ----------------------------------------------------------------------------------

CARDS, RANKS, TRICKS, HAND = 32, 8, 16, 5
LAST_DRAW, STRICT = 11, 12  # the stock ends with trick 11; from trick 12 on suits must be followed
JACK, QUEEN, KING, TEN, ACE = 3, 4, 5, 6, 7
POINTS = np.array([0, 0, 0, 2, 3, 4, 10, 11], np.int8)  # CH-1: 120 in the pack

KINDS = ("marriage", "tierce", "quarteron", "chouine")
KIND_CARDS = ("K-Q", "K-Q-J", "A-K-Q-J", "A-10-K-Q-J")
MARRIAGE, TIERCE, QUARTERON, CHOUINE = range(4)
RANKS_OF = np.array(  # CH-14: the ranks of each kind, as bits
    [
        1 << KING | 1 << QUEEN,
        1 << KING | 1 << QUEEN | 1 << JACK,
        1 << ACE | 1 << KING | 1 << QUEEN | 1 << JACK,
        1 << ACE | 1 << TEN | 1 << KING | 1 << QUEEN | 1 << JACK,
    ],
    np.int64,
)
BRISQUES, QUEENS = 0xC0C0C0C0, 0x10101010  # sets of cards, card c as bit c
SERVES = np.array(  # CH-18: by announcement, the cards that it consists of
    [int(RANKS_OF[kind]) << (RANKS * suit) for suit in range(4) for kind in range(4)] + [BRISQUES], np.int64
)
VALUES = np.array([20, 30, 40, 0], np.int64)  # CH-14: doubled in trumps

ANNOUNCE, QUINTE, SWAP, DECLINE, NUM_ACTIONS = 32, 48, 49, 50, 51
PLAY, AU_SEPT = 0, 1  # phases
# Where a card is; a hand's code is its seat, a pile's is WON + seat.
STOCK, TURNED, TABLE, WON, NOWHERE = 2, 3, 4, 5, 7
QUINTE_SLOT = 4  # in `announced`, after the four suits
LOG = 48  # room for a deal's decisions: 32 cards, 5 announcements, 2 words about the seven make 39 at most


def _actions() -> tuple[Action, ...]:
    cards = [
        Action(n, f"play {s}", card=i) for i, (n, s) in enumerate(zip(PACK_32.names, PACK_32.symbols, strict=True))
    ]
    words = [
        Action(f"{kind} {suit}", f"announce {cards} of {name}", suit=i, word=kind)
        for i, (suit, name) in enumerate(zip(SUITS, SUIT_NAMES, strict=True))
        for kind, cards in zip(KINDS, KIND_CARDS, strict=True)
    ]
    rest = [
        Action("quinte", "announce five aces and tens", word="quinte"),
        Action("swap", "swap the seven of trumps for the turn-up", word="swap"),
        Action("decline", "do not swap, when reminded", word="decline"),
    ]
    return (*cards, *words, *rest)


ACTIONS = _actions()


@dataclass(frozen=True, kw_only=True)
class ChouineOptions(Options):
    """Rule options of Chouine."""

    episode: str = option("deal", "one deal, or a match (CH-21)", choices=("deal", "match"))
    reward: str = option(
        "win",
        "a deal's reward: `win` +1/-1, tie 0; `margin` half of that, half the difference of totals / 100 "
        "within [-1, 1] (a chouine counts as a full margin)",
        choices=("win", "margin"),
    )
    memory: str = option(
        "perfect",
        "what `observation` remembers of played cards (CH-10): all of them, or what lies open at the table",
        choices=("perfect", "table"),
    )
    quinte: int = option(50, "value of a quinte (CH-14)", choices=(50, 100))
    wins_per_manche: int = option(3, "decided deals that win a manche (CH-21)", choices=(3, 5))
    manches: int = option(1, "one manche, or best of three (CH-21)", choices=(1, 3))

    def check(self) -> None:
        if self.episode == "match" and self.reward == "margin":
            raise InvalidOption("reward='margin' is for episode='deal'; a match pays +1/-1 at its end")


STATE = state_dtype(
    2,
    ChouineOptions,
    [
        # the deal: what chance did
        ("deck", np.int8, (CARDS,)),  # as dealt: hands alternating from the non-dealer, turn-up, stock
        ("drawn", np.int8, (2,)),  # CH-2: the cards drawn for the deal, -1 where it was fixed
        ("cut", np.int8),  # CH-3
        ("dealer", np.int8),  # -1: to be drawn
        ("trump", np.int8),
        # the play
        ("phase", np.int8),
        ("trick", np.int8),  # 1-16
        ("leader", np.int8),
        ("lead", np.int8),  # the card led, -1 before the lead
        ("pending", np.int8),  # announcement that waits for its card, -1 none
        ("next_draw", np.int8),  # index in the deck
        ("under", np.int8),  # the card turned up under the stock, -1 once drawn
        ("place", np.int8, (CARDS,)),
        ("trick_of", np.int8, (CARDS,)),  # trick in which a card was played, 0 not yet
        ("played_by", np.int8, (CARDS,)),  # seat + 1, 0 not yet
        ("proven", np.int8, (2, CARDS)),  # trick in which all first knew that the seat held the card, 0 never
        ("winner_of", np.int8, (TRICKS + 1,)),  # by trick number: seat, -1 not yet
        ("announced", np.int8, (2, 5)),  # kind + 1 by suit, then quinte
        ("announced_in", np.int8, (2, 5)),  # trick
        ("quinte_cards", np.int8, (2, 4, 2)),  # tens and aces shown in a quinte, by suit
        ("swapped_by", np.int8),  # seat, -1 nobody
        ("swapped_in", np.int8),  # trick
        ("called", np.int8),  # CH-13: "au sept" was said
        ("card_points", np.int16, (2,)),
        ("announced_points", np.int16, (2,)),
        ("log_length", np.int8),
        ("log_seat", np.int8, (LOG,)),
        ("log_action", np.int8, (LOG,)),
        # the match
        ("first_dealer", np.int8),  # of the first deal of the first manche
        ("deals", np.int32),  # finished
        ("wins", np.int8, (2,)),  # decided deals won in this manche
        ("manches_won", np.int8, (2,)),
        ("totals", np.int16, (2,)),  # of the last finished deal
        ("deal_winner", np.int8),  # of the last finished deal, -1 tied
        ("by_chouine", np.int8),  # the last finished deal ended by a chouine
    ],
)


@functools.cache
def _layouts() -> Mapping[str, Layout]:
    two = "observer, then opponent"
    observation = [
        Segment("phase", (3,), "one-hot: play; au sept question; an announcement waits for its card"),
        Segment("to_act", (1,), "1 if the observer decides now"),
        Segment("leader", (1,), "1 if the observer leads, or led, this trick", since="trick before"),
        Segment("dealer", (1,), "1 if the observer dealt"),
        Segment("trick", (16,), "one-hot: number of the trick, 1-16"),
        Segment("trump", ("suit",), "one-hot: trump suit"),
        Segment("hand", ("card",), "cards in hand", "owner", "deal or draw"),
        Segment(
            "known", ("card",), "cards that the opponent is known to hold", since="announced, swapped or turn-up drawn"
        ),
        Segment("unseen", ("card",), "cards that may be in the stock or in the opponent's hand", "observer"),
        Segment("table", ("card",), "the card led to the trick under way", since="played"),
        Segment("own_tricks", ("card",), "cards in the observer's tricks", since="trick"),
        Segment("opponent_tricks", ("card",), "cards in the opponent's tricks", since="trick"),
        Segment("played_by_me", ("card",), "cards that the observer played", since="played"),
        Segment("played_in", ("card",), "trick in which the card was played, 0 not yet", since="played", high=16),
        Segment("turn_up", ("card",), "one-hot: the card turned up by the deal"),
        Segment("under_stock", ("card",), "one-hot: the card lying open under the stock, none once drawn"),
        Segment("announced", (2, "suit", 4), f"{two}: marriage, tierce, quarteron, chouine by suit", since="announced"),
        Segment("quinte", (2,), f"{two}: quinte announced", since="announced"),
        Segment("announced_in", (2, "suit"), f"{two}: trick of the suit's announcement", since="announced", high=16),
        Segment("quinte_in", (2,), f"{two}: trick of the quinte", since="announced", high=16),
        Segment(
            "quinte_cards", (2, "suit", 2), f"{two}: ten and ace of the suit shown in a quinte", since="trick complete"
        ),
        Segment("swapped_in", (2,), f"{two}: trick in which the seven was swapped", since="swapped", high=11),
        Segment("au_sept", (1,), "1 once the leader has said au sept", since="said"),
        Segment("points", (2,), f"{two}: card points taken, halved", since="trick", high=65),
        Segment("announced_points", (2,), f"{two}: points of announcements, in tens", since="announced", high=40),
        Segment("wins", (2,), f"{two}: deals won in this manche", since="deal end", high=5),
        Segment("manches", (2,), f"{two}: manches won", since="manche end", high=2),
    ]
    history = [
        Segment("dealer", (1,), "1 if the observer dealt"),
        Segment("turn_up", (1,), "the card turned up by the deal", values="card"),
        Segment(
            "received", (16,), "own cards in order: five dealt, eleven drawn", "owner", "deal or draw", values="card"
        ),
        Segment("actor", (LOG,), "per decision: 1 observer, 2 opponent, 0 none", since="decided", high=2),
        Segment("action", (LOG,), "per decision: the action", since="decided", values="action"),
        Segment(
            "quinte_cards", (2, "suit", 2), f"{two}: ten and ace of the suit shown in a quinte", since="trick complete"
        ),
    ]
    state = [
        *observation,
        Segment("opponent_hand", ("card",), "cards in the opponent's hand", "nobody but its owner", "deal or draw"),
        Segment(
            "stock", ("card",), "1 + how many draws until the card comes, 0 not in the stock", "nobody", "deal", high=22
        ),
    ]
    tables = {"observation": observation, "history": history, "state": state}
    return {name: Layout(segments, PACK_32, ACTIONS) for name, segments in tables.items()}


_OBS, _HIST, _STATE = (_layouts()[n] for n in ("observation", "history", "state"))
_AT = {name: place.start for name, place in _OBS.slices.items()}
O_PHASE, O_TO_ACT, O_LEADER, O_DEALER = (_AT[n] for n in ("phase", "to_act", "leader", "dealer"))
O_TRICK, O_TRUMP, O_HAND, O_KNOWN, O_UNSEEN = (_AT[n] for n in ("trick", "trump", "hand", "known", "unseen"))
O_TABLE, O_OWN, O_OPPONENT = (_AT[n] for n in ("table", "own_tricks", "opponent_tricks"))
O_BY_ME, O_PLAYED_IN = (_AT[n] for n in ("played_by_me", "played_in"))
O_TURN_UP, O_UNDER = (_AT[n] for n in ("turn_up", "under_stock"))
O_ANNOUNCED, O_QUINTE, O_ANNOUNCED_IN = (_AT[n] for n in ("announced", "quinte", "announced_in"))
O_QUINTE_IN, O_QUINTE_CARDS = (_AT[n] for n in ("quinte_in", "quinte_cards"))
O_SWAPPED_IN, O_AU_SEPT = (_AT[n] for n in ("swapped_in", "au_sept"))
O_POINTS, O_ANNOUNCED_POINTS = (_AT[n] for n in ("points", "announced_points"))
O_WINS, O_MANCHES = (_AT[n] for n in ("wins", "manches"))
S_HAND, S_STOCK = _STATE.start("opponent_hand"), _STATE.start("stock")
H_DEALER, H_TURN_UP, H_RECEIVED = (_HIST.start(n) for n in ("dealer", "turn_up", "received"))
H_ACTOR, H_ACTION, H_QUINTE = (_HIST.start(n) for n in ("actor", "action", "quinte_cards"))
OBS_SIZE = _OBS.size


# --- The deal --------------------------------------------------------------------------------


@helper
def deal(s):
    """CH-2, CH-3: draw for the deal if no dealer is fixed, shuffle, cut, deal, turn up."""
    s.drawn[0] = -1
    s.drawn[1] = -1
    if s.dealer < 0:
        # Equal ranks draw again, so the second card is uniform over the other ranks.
        first = rng.below(s.rng, CARDS)
        second = (first % RANKS + 1 + rng.below(s.rng, RANKS - 1)) % RANKS + RANKS * rng.below(s.rng, 4)
        s.drawn[0] = first
        s.drawn[1] = second
        s.dealer = 0 if first % RANKS < second % RANKS else 1
    if s.deals == 0:
        s.first_dealer = s.dealer

    deck = s.deck
    for c in range(CARDS):
        deck[c] = c
    rng.shuffle(s.rng, deck, CARDS)
    s.cut = 4 + rng.below(s.rng, CARDS - 7)  # at least four cards in each part
    _rotate(deck, s.cut)

    s.trick_of[:] = 0
    s.played_by[:] = 0
    s.proven[:] = 0
    s.winner_of[:] = -1
    s.announced[:] = 0
    s.announced_in[:] = 0
    s.quinte_cards[:] = 0
    s.card_points[:] = 0
    s.announced_points[:] = 0
    s.log_length = 0
    s.log_seat[:] = 0
    s.log_action[:] = 0
    place = s.place
    for i in range(2 * HAND):
        place[deck[i]] = 1 - s.dealer if i % 2 == 0 else s.dealer
    s.under = deck[2 * HAND]
    place[s.under] = TURNED
    for i in range(2 * HAND + 1, CARDS):
        place[deck[i]] = STOCK
    s.trump = s.under >> 3
    s.next_draw = 2 * HAND + 1
    s.phase = PLAY
    s.trick = 1
    s.lead = -1
    s.pending = -1
    s.swapped_by = -1
    s.swapped_in = 0
    s.called = 0
    s.leader = 1 - s.dealer  # CH-5
    s.player = s.leader


@helper
def _rotate(deck, n):
    """Moves the first ``n`` cards to the end, in place, by three reversals."""
    _reverse(deck, 0, n)
    _reverse(deck, n, CARDS)
    _reverse(deck, 0, CARDS)


@helper
def _reverse(deck, start, end):
    for i in range((end - start) // 2):
        card = deck[start + i]
        deck[start + i] = deck[end - 1 - i]
        deck[end - 1 - i] = card


# --- Legal actions ---------------------------------------------------------------------------


@helper
def legal(s, mask):
    seat, trump = int(s.player), int(s.trump)
    seven = trump * RANKS
    for a in range(NUM_ACTIONS):
        mask[a] = 0
    if s.over:
        return
    if s.phase == AU_SEPT:  # CH-13: asked whether or not he holds the seven
        mask[DECLINE] = 1
        mask[SWAP] = s.place[seven] == seat
        return
    held = _held(s, seat)
    playable = _playable(s, held)
    if s.pending >= 0:  # CH-18: after the word, one of its cards
        playable &= SERVES[s.pending - ANNOUNCE]
    else:
        # CH-12; a seven that lies under the stock is in no hand
        in_time = s.trick < LAST_DRAW or (s.trick == LAST_DRAW and s.lead < 0)
        mask[SWAP] = (held >> seven) & 1 == 1 and in_time
        _legal_announcements(s, seat, held, playable, mask)
    for c in range(CARDS):
        mask[c] = (playable >> c) & 1


@helper
def _held(s, seat):
    """The hand of a seat: card ``c`` is bit ``c``."""
    place, me = s.place, np.int8(seat)
    cards = 0
    for c in range(CARDS):
        cards |= int(place[c] == me) << c
    return cards


@helper
def _playable(s, held):
    """CH-6, CH-9: of the cards held, as bits, those that may be played now."""
    if s.trick < STRICT or s.lead < 0:
        return held
    lead, trump = int(s.lead), int(s.trump)
    suit = lead >> 3
    follow = held & (0xFF << (RANKS * suit))
    trumps = held & (0xFF << (RANKS * trump))
    higher = follow & (-2 << lead) if suit == trump else 0
    # head the trick, else follow suit, else trump, else anything; written without jumps, which would be mispredicted
    best = held if trumps == 0 else trumps
    best = best if follow == 0 else follow
    return best if higher == 0 else higher


@helper
def _legal_announcements(s, seat, held, playable, mask):
    """CH-15 ... CH-18: combinations whole in hand, of which some card may be played now."""
    if held & (held >> 1) & QUEENS != 0:  # every kind has king and queen
        for suit in range(4):
            if s.announced[seat, suit] != 0:  # CH-16: one suit combination in each suit
                continue
            for kind in range(4):
                cards = int(SERVES[suit * 4 + kind])
                mask[ANNOUNCE + suit * 4 + kind] = held & cards == cards and playable & cards != 0
    if held & ~BRISQUES == 0 and s.announced[seat, QUINTE_SLOT] == 0:
        brisques = 0
        for c in range(CARDS):
            brisques += (held >> c) & 1
        mask[QUINTE] = brisques == HAND


# --- One decision ----------------------------------------------------------------------------


@helper
def apply(s, action):
    s.moves += 1
    s.log_seat[s.log_length] = s.player
    s.log_action[s.log_length] = action
    s.log_length += 1
    if action < ANNOUNCE:
        _play(s, action)
    elif action <= QUINTE:
        _announce(s, action)
    else:
        if action == SWAP:
            _swap(s)
        if s.phase == AU_SEPT:
            s.phase = PLAY
            s.player = s.leader


@helper
def _swap(s):
    """CH-11: the seven of trumps goes under the stock, the turn-up into the hand; both are public."""
    seat = s.player
    seven = s.trump * RANKS
    s.proven[seat, seven] = s.trick
    s.proven[seat, s.under] = s.trick
    s.place[s.under] = seat
    s.place[seven] = TURNED
    s.under = seven
    s.swapped_by = seat
    s.swapped_in = s.trick


@helper
def _announce(s, action):
    """CH-14, CH-15: counts at once and is public at once; a quinte does not yet name its cards."""
    seat = s.player
    s.pending = action
    if action == QUINTE:
        slot, kind = QUINTE_SLOT, 0
    else:
        slot, kind = (action - ANNOUNCE) >> 2, (action - ANNOUNCE) & 3
        for rank in range(JACK, RANKS):
            if (int(RANKS_OF[kind]) >> rank) & 1:
                _prove(s, seat, slot * RANKS + rank)
    s.announced[seat, slot] = kind + 1
    s.announced_in[seat, slot] = s.trick
    s.announced_points[seat] += _value(s, slot, kind)


@helper
def _value(s, slot, kind):
    """CH-14: points of an announcement."""
    if slot == QUINTE_SLOT:
        return int(s.quinte)
    return int(VALUES[kind]) * (2 if slot == s.trump else 1)


@helper
def _prove(s, seat, card):
    """From now on all know that ``seat`` held ``card`` in this trick."""
    if s.proven[seat, card] == 0:
        s.proven[seat, card] = s.trick


@helper
def _play(s, card):
    seat = s.player
    s.pending = -1
    s.place[card] = TABLE
    s.trick_of[card] = s.trick
    s.played_by[card] = seat + 1
    _prove(s, seat, card)
    if s.lead < 0:
        s.lead = card
        s.player = 1 - seat
    else:
        _complete_trick(s, s.lead, card, seat)


@helper
def _complete_trick(s, lead, reply, follower):
    # CH-7: higher of the suit led, or a trump
    higher = reply > lead if reply >> 3 == lead >> 3 else reply >> 3 == s.trump
    winner = follower if higher else 1 - follower
    s.winner_of[s.trick] = winner
    s.place[lead] = WON + winner
    s.place[reply] = WON + winner
    s.card_points[winner] += POINTS[lead % RANKS] + POINTS[reply % RANKS]
    s.lead = -1
    for seat in range(2):
        if s.announced_in[seat, QUINTE_SLOT] == s.trick:
            _show_quinte(s, seat)

    by_chouine = _chouine_winner(s, 1 - follower)
    if by_chouine >= 0:
        _void_announcements(s)
        _finish_deal(s, by_chouine, True)
    elif s.trick == TRICKS:  # CH-20
        s.card_points[winner] += 10
        difference = _total(s, 0) - _total(s, 1)
        _finish_deal(s, -1 if difference == 0 else (0 if difference > 0 else 1), False)
    else:
        if s.trick <= LAST_DRAW:
            _draw(s, winner)
        s.trick += 1
        s.leader = winner
        s.player = winner
        if s.trick == LAST_DRAW:
            _call_au_sept(s)


@helper
def _show_quinte(s, seat):
    """CH-15: when both cards of the trick lie, the other four are shown, before the draw."""
    for suit in range(4):
        for i in range(2):
            card = suit * RANKS + TEN + i
            if s.place[card] == seat or (s.trick_of[card] == s.trick and s.played_by[card] == seat + 1):
                s.quinte_cards[seat, suit, i] = 1
                _prove(s, seat, card)


@helper
def _draw(s, winner):
    """CH-8: the winner draws first; after trick 11 the loser gets the turn-up, for all to see."""
    s.place[s.deck[s.next_draw]] = winner
    s.next_draw += 1
    if s.trick < LAST_DRAW:
        s.place[s.deck[s.next_draw]] = 1 - winner
        s.next_draw += 1
    else:
        if s.proven[1 - winner, s.under] == 0:
            s.proven[1 - winner, s.under] = STRICT
        s.place[s.under] = 1 - winner
        s.under = -1


@helper
def _call_au_sept(s):
    """CH-13: the engine says it for the leader, if a swap is still possible for all that anybody can see."""
    seven = s.trump * RANKS
    if s.under != seven and s.trick_of[seven] == 0:
        s.called = 1
        s.phase = AU_SEPT
        s.player = 1 - s.leader


@helper
def _chouine_winner(s, leader):
    """CH-19: who wins the deal by a chouine announced in this trick, -1 if nobody."""
    won = -1
    for i in range(2):
        seat = leader if i == 0 else 1 - leader
        for suit in range(4):
            said = s.announced[seat, suit] == CHOUINE + 1 and s.announced_in[seat, suit] == s.trick
            if said and (won < 0 or suit == s.trump):
                won = seat
    return won


@helper
def _void_announcements(s):
    """CH-19: other announcements of a trick that a chouine decided do not count."""
    for seat in range(2):
        for slot in range(5):
            if s.announced_in[seat, slot] == s.trick:
                s.announced_points[seat] -= _value(s, slot, s.announced[seat, slot] - 1)


@helper
def _total(s, seat):
    return int(s.card_points[seat]) + int(s.announced_points[seat])


# --- The end of a deal and the match ---------------------------------------------------------


@helper
def _finish_deal(s, winner, by_chouine):
    s.deals += 1
    s.deal_winner = winner
    s.by_chouine = by_chouine
    for seat in range(2):
        s.totals[seat] = _total(s, seat)
    if s.episode == 0:
        for seat in range(2):
            s.scores[seat] = s.totals[seat]
            s.rewards[seat] += s.reward_scale * _deal_reward(s, seat)
        s.over = 1
        return
    if winner < 0:  # CH-4: the same dealer deals again
        deal(s)
        return
    s.scores[winner] += 1
    s.wins[winner] += 1
    next_dealer = 1 - s.dealer
    if s.wins[winner] == s.wins_per_manche:  # CH-21
        s.manches_won[winner] += 1
        if 2 * s.manches_won[winner] > s.manches:  # the last deal stays as it was, for its encodings
            s.over = 1
            s.rewards[winner] += s.reward_scale
            s.rewards[1 - winner] -= s.reward_scale
            return
        s.wins[:] = 0
        second = s.manches_won[0] + s.manches_won[1] == 1
        next_dealer = 1 - s.first_dealer if second else -1
    s.dealer = next_dealer
    deal(s)


@helper
def _deal_reward(s, seat):
    if s.deal_winner < 0:
        return 0.0
    sign = 1.0 if s.deal_winner == seat else -1.0
    if s.reward == 0:
        return sign
    margin = sign if s.by_chouine else (int(s.totals[seat]) - int(s.totals[1 - seat])) / 100.0
    return 0.5 * sign + 0.5 * min(1.0, max(-1.0, margin))


# --- Encodings -------------------------------------------------------------------------------


@helper
def observe(s, seat, out):
    _observe(s, seat, out, s.memory == 0)


@helper
def _observe(s, seat, out, perfect):
    me = np.int8(seat)
    opponent = np.int8(1 - seat)
    place, proven, played_by = s.place, s.proven[1 - seat], s.played_by
    for i in range(O_HAND):
        out[i] = 0
    waiting = s.pending >= 0
    out[O_PHASE + (2 if waiting else int(s.phase))] = 1
    out[O_TO_ACT] = s.player == seat and not s.over
    out[O_LEADER] = s.leader == seat
    out[O_DEALER] = s.dealer == seat
    out[O_TRICK + int(s.trick) - 1] = 1
    out[O_TRUMP + int(s.trump)] = 1
    my_tricks, their_tricks, mine = np.int8(WON + seat), np.int8(WON + 1 - seat), np.int8(seat + 1)
    trick_of = s.trick_of
    for c in range(CARDS):  # one loop over bytes only, which the compiler turns into a few vector instructions
        where = place[c]
        theirs = where == opponent
        shown = proven[c] != np.int8(0)
        out[O_HAND + c] = where == me
        out[O_KNOWN + c] = theirs & shown
        out[O_UNSEEN + c] = (where == np.int8(STOCK)) | (theirs & (not shown))
        out[O_TABLE + c] = where == np.int8(TABLE)
        out[O_OWN + c] = where == my_tricks
        out[O_OPPONENT + c] = where == their_tricks
        out[O_BY_ME + c] = played_by[c] == mine
        out[O_PLAYED_IN + c] = trick_of[c]
    for i in range(O_TURN_UP, OBS_SIZE):
        out[i] = 0
    out[O_TURN_UP + int(s.deck[2 * HAND])] = 1
    if s.under >= 0:
        out[O_UNDER + int(s.under)] = 1
    for i in range(2):
        who = seat if i == 0 else opponent
        for suit in range(4):
            kind = int(s.announced[who, suit])
            if kind != 0:
                out[O_ANNOUNCED + (i * 4 + suit) * 4 + kind - 1] = 1
            out[O_ANNOUNCED_IN + i * 4 + suit] = s.announced_in[who, suit]
            for j in range(2):
                out[O_QUINTE_CARDS + (i * 4 + suit) * 2 + j] = s.quinte_cards[who, suit, j]
        out[O_QUINTE + i] = s.announced[who, QUINTE_SLOT]
        out[O_QUINTE_IN + i] = s.announced_in[who, QUINTE_SLOT]
        out[O_SWAPPED_IN + i] = s.swapped_in if s.swapped_by == who else 0
        out[O_POINTS + i] = s.card_points[who] >> 1
        out[O_ANNOUNCED_POINTS + i] = s.announced_points[who] // 10
        out[O_WINS + i] = s.wins[who]
        out[O_MANCHES + i] = s.manches_won[who]
    out[O_AU_SEPT] = s.called
    if not perfect:
        _forget(s, opponent, out)


@helper
def _forget(s, opponent, out):
    """CH-10, ``memory="table"``: of the opponent's tricks only the last one lies open."""
    last = int(s.trick)
    while last > 0 and s.winner_of[last] != opponent:
        last -= 1
    place, trick_of = s.place, s.trick_of
    theirs, open_trick = np.int8(WON + opponent), np.int8(last)
    for c in range(CARDS):
        gone = (place[c] == theirs) & (trick_of[c] != open_trick)
        stays = np.int8(not gone)
        out[O_OPPONENT + c] &= stays
        out[O_BY_ME + c] &= stays
        out[O_PLAYED_IN + c] *= stays
        out[O_UNSEEN + c] |= np.int8(gone)
    out[O_POINTS + 1] = 0


@helper
def history(s, seat, out):
    for i in range(H_QUINTE):
        out[i] = 0
    out[H_DEALER] = s.dealer == seat
    out[H_TURN_UP] = s.deck[2 * HAND] + 1
    for k in range(_received(s)):
        i = _deck_index(s, seat, k)
        card = s.deck[i]
        if i == 2 * HAND and s.swapped_by >= 0:  # the turn-up drawn after a swap is the seven
            card = s.trump * RANKS
        out[H_RECEIVED + k] = card + 1
    for i in range(s.log_length):
        out[H_ACTOR + i] = 1 if s.log_seat[i] == seat else 2
        out[H_ACTION + i] = s.log_action[i] + 1
    for i in range(2):
        who = seat if i == 0 else 1 - seat
        for suit in range(4):
            for j in range(2):
                out[H_QUINTE + (i * 4 + suit) * 2 + j] = s.quinte_cards[who, suit, j]


@helper
def _received(s):
    """How many cards each player has received so far: five, and one for each draw."""
    return HAND + min(int(s.trick) - 1, LAST_DRAW)


@helper
def _deck_index(s, seat, k):
    """Where in the deck the ``k``-th card received by ``seat`` lay (the turn-up lies at 10)."""
    if k < HAND:
        return 2 * k + (1 if seat == s.dealer else 0)
    trick = k - HAND + 1
    lost = s.winner_of[trick] != seat
    if trick == LAST_DRAW and lost:
        return 2 * HAND
    return 2 * HAND + 1 + 2 * (trick - 1) + (1 if lost else 0)


@helper
def reveal(s, out):
    seat = s.player
    _observe(s, seat, out, True)
    for c in range(CARDS):
        out[S_HAND + c] = s.place[c] == 1 - seat
        out[S_STOCK + c] = 0
    for i in range(s.next_draw, CARDS):
        out[S_STOCK + int(s.deck[i])] = i - s.next_draw + 1
    if s.under >= 0:
        out[S_STOCK + int(s.under)] = CARDS - s.next_draw + 1


# --- Hidden cards anew -----------------------------------------------------------------------


@helper
def resample(s, seat, salt):
    """Uniform over all orders of the deck that ``seat`` cannot tell from the true one.

    The opponent's places in the deck are filled first with the cards that he is known to have held, each
    among the places received in time for when it was first seen, then with unseen cards (brisques
    only, while his quinte waits to be shown); the other unseen cards make the stock.
    """
    opponent = 1 - seat
    rng.scramble(s.rng, salt)
    received = _received(s)
    deck, place = s.deck, s.place
    seven = s.trump * RANKS
    turn_up = deck[2 * HAND]
    for k in range(received):
        i = _deck_index(s, opponent, k)
        if i != 2 * HAND:
            deck[i] = -1
    for c in range(CARDS):
        if place[c] == STOCK or (place[c] == opponent and s.proven[opponent, c] == 0):
            place[c] = NOWHERE
    for trick in range(1, s.trick + 1):
        for c in range(CARDS):
            came_as_turn_up = c == turn_up or (c == seven and s.swapped_by == seat)
            if s.proven[opponent, c] == trick and not came_as_turn_up:
                _put(s, opponent, c, min(received, HAND + trick - 1), salt)
    quinte_waits = s.announced_in[opponent, QUINTE_SLOT] == s.trick and s.winner_of[s.trick] < 0
    for k in range(received):
        i = _deck_index(s, opponent, k)
        if deck[i] < 0:
            card = _take(place, TEN if quinte_waits else 0, salt)
            deck[i] = card
            place[card] = opponent
    for i in range(s.next_draw, CARDS):
        card = _take(place, 0, salt)
        deck[i] = card
        place[card] = STOCK


@helper
def _put(s, seat, card, received, salt):
    """Gives ``card`` a random free place among the first ``received`` cards of ``seat``."""
    free = 0
    for k in range(received):
        free += int(s.deck[_deck_index(s, seat, k)] < 0)
    pick = rng.below(salt, free)
    for k in range(received):
        i = _deck_index(s, seat, k)
        if s.deck[i] < 0:
            if pick == 0:
                s.deck[i] = card
                return
            pick -= 1


@helper
def _take(place, lowest_rank, salt):
    """A random card that lies nowhere, of at least the given rank."""
    left = 0
    for c in range(CARDS):
        left += int(place[c] == NOWHERE and c % RANKS >= lowest_rank)
    pick = rng.below(salt, left)
    for c in range(CARDS):
        if place[c] == NOWHERE and c % RANKS >= lowest_rank:
            if pick == 0:
                return c
            pick -= 1
    return -1


# --- For people ------------------------------------------------------------------------------


def scene(s: Any, seat: int | None) -> Scene:
    """The table: what ``seat`` sees, or everything."""
    facts = [f"trick {s.trick} of 16", f"trumps {SYMBOLS[SUITS[s.trump]]}"]
    if s.episode == 1:
        facts.append(f"deal {s.deals + (not s.over)}")
        facts += [f"deals won {s.wins[0]}-{s.wins[1]}", f"manches {s.manches_won[0]}-{s.manches_won[1]}"]
    if s.over:
        winner = "tie" if s.deal_winner < 0 else f"seat {s.deal_winner} wins"
        message = f"over: {winner}{' by chouine' if s.by_chouine else ''}"
    else:
        waits = f", to play a card of {_said(s.pending - ANNOUNCE)}" if s.pending >= 0 else ""
        asked = f", whom seat {s.leader} has told au sept" if s.phase == AU_SEPT else ""
        message = f"to act: seat {s.player}{waits}{asked}"
    done = int(np.count_nonzero(s.winner_of >= 0))
    return Scene(
        title="Chouine",
        view=seat,
        places=tuple(_place(s, who, seat) for who in range(2)),
        player=None if s.over else int(s.player),
        message=message,
        facts=tuple(facts),
        table=(Laid(int(s.lead), int(s.leader)),) if s.lead >= 0 else (),
        last=_trick(s, done) if done else (),
        last_label=f"last trick, to seat {s.winner_of[done]}",
        piles=_piles(s, seat),
    )


def _place(s: Any, who: int, seat: int | None) -> Place:
    held = np.flatnonzero(s.place == who).tolist()
    shown = by_suit(PACK_32, (c for c in held if seat in (None, who) or s.proven[who, c]), s.trump)
    said = [
        _said(4 * slot + s.announced[who, slot] - 1 if slot < 4 else 16) for slot in range(5) if s.announced[who, slot]
    ]
    counted = s.memory == 0 or seat in (None, who)  # CH-10
    facts = (f"cards {s.card_points[who] if counted else '?'}", f"announced {s.announced_points[who]}", *said)
    return Place(who, (*shown, *[BACK] * (len(held) - len(shown))), ("dealer",) if s.dealer == who else (), facts)


def _said(number: int) -> str:
    """An announcement by its number, with the symbol of its suit."""
    return f"{KINDS[number % 4]} {SYMBOLS[SUITS[number // 4]]}" if number < 16 else "quinte"


def _trick(s: Any, trick: int) -> tuple[Laid, ...]:
    leader = int(s.winner_of[trick - 1]) if trick > 1 else 1 - int(s.dealer)
    cards = [int(c) for c in np.flatnonzero(s.trick_of == trick)]
    return tuple(Laid(c, int(s.played_by[c]) - 1) for c in sorted(cards, key=lambda c: s.played_by[c] - 1 != leader))


def _piles(s: Any, seat: int | None) -> tuple[Pile, ...]:
    """The stock, whose first card is drawn next, and the turn-up."""
    stock = [int(c) if seat is None else BACK for c in s.deck[s.next_draw :]]
    piles = [Pile("stock", tuple(stock))] if stock else []
    return (*piles, Pile("turn-up", (int(s.under),))) if s.under >= 0 else tuple(piles)


def info(s: Any) -> dict[str, Any]:
    """Natural result: totals and winner of the last finished deal, the score of the match."""
    facts: dict[str, Any] = {"totals": s.totals.tolist(), "chouine": bool(s.by_chouine)}
    facts["winner"] = int(s.deal_winner)
    if s.episode == 1:
        facts |= {"deals": int(s.deals), "wins": s.wins.tolist(), "manches": s.manches_won.tolist()}
    return facts


GAME = Game(
    name="chouine",
    title="Chouine",
    pack=PACK_32,
    actions=ACTIONS,
    options=ChouineOptions,
    dtype=STATE,
    layouts=lambda options: _layouts(),
    seats=lambda options: 2,
    reset_options=("dealer",),
    deal=deal,
    legal=legal,
    apply=apply,
    observe=observe,
    history=history,
    reveal=reveal,
    resample=resample,
    scene=scene,
    info=info,
    suit_order=("trump", "hand"),
    moved_card=PACK_32.in_suit_order,
)
