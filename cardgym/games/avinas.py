"""Avinas: four players in fixed pairs, 32 cards, a Lithuanian relative of Schafkopf.

Rules with their ids (AV-1 ... AV-19): ``docs/envs/avinas.md``.  They follow the game as it was shown in Munich in 1991
and is described at pagat.com.

Seats 0 and 2 play against 1 and 3; the seat to the left of ``n`` is ``n + 1``.  A card is ``suit * 8 + rank`` with
ranks 7 8 9 J Q K 10 A.  Queens and jacks belong to no suit: they are trumps always (AV-2).

Action ids (AV-19): 0-31 play a card; 32 pass, refuse or go on; 33-40 bid a length of 1-8; 41-44 name the trump suit;
45 knock; 46 stop; 47 face up; 48 face down; 49-51 sign.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardgym import rng
from cardgym.cards import PACK_32, SUIT_NAMES, SUITS, SYMBOLS
from cardgym.game import Action, Game, Layout, Options, Segment, option, state_dtype
from cardgym.kernel import helper
from cardgym.render.scene import BACK, Laid, Place, Scene

# --- Tables ----------------------------------------------------------------------------------

SEATS, CARDS, RANKS, HAND, TRICKS = 4, 32, 8, 8, 8
SEVEN, JACK, QUEEN, TEN, ACE = 0, 3, 4, 6, 7
POINTS = np.array([0, 0, 0, 2, 3, 4, 10, 11], np.int64)  # AV-3, by rank: 120 in the pack
WIN = 61  # card points that the declarers need
TRUMPS = 4  # the class of all trumps; a plain card's class is its suit


def _strengths() -> np.ndarray:
    """By trump suit and card: the higher takes the trick, among trumps and among cards of one plain suit (AV-2).

    The last row, which the suit -1 finds too, is for the time when no trump suit is known.
    """
    strengths = np.tile(np.arange(CARDS, dtype=np.int8) % RANKS, (5, 1))
    for row, suit in enumerate((*SUITS, None)):
        order = [rank + suit for rank in ("8", "9", "K", "10", "A")] if suit else []
        order += ["JD", "JH", "JS", "JC", "QD", "QH", "QS", *(["7" + suit] if suit else []), "QC"]
        strengths[row, [PACK_32.card(name) for name in order]] = RANKS + np.arange(len(order))
    return strengths


STRENGTH = _strengths()
# By trump suit and card: TRUMPS or the card's suit
CLASS = np.where(STRENGTH >= RANKS, TRUMPS, np.arange(CARDS) // RANKS).astype(np.int8)
# AV-15: marks by [declarers lost, row]; rows: 31 points or more, 2 to 30, none
MARKS = np.array([[1, 2, 3], [2, 4, 6]], np.int64)

PASS, BID, NAME, KNOCK_WORD, STOP_WORD = 32, 32, 41, 45, 46  # BID + length
FACE_UP, FACE_DOWN, SIGN_WORD, NUM_ACTIONS = 47, 48, 49, 52
# Phases.  Whether the leader to trick 2 has a trump is his secret, so his choice of a face is none of them (AV-8).
BIDDING, KNOCK, KNOCK_BACK, PLAY, NAMING, SIGNING, STOPPING = range(7)
PHASES = ("bid", "knock", "knock back", "play", "name the trump suit", "give a sign", "stop or go on")
PASSED, REFUSED, KNOCKED = 1, 1, 2  # in `bids` and `knocks`; a bid stands there as its length + 1
UP, DOWN = 1, 2  # in `face`
NOT_YET = np.int8(0)  # in `trick_of`, `taken_by`, `turned` and others, as a byte
PASSED_OUT, RAMS, MARKED, OVERBID = 1, 2, 3, 4  # in `ending`
ENDINGS = ("", "passed out", "rams", "marks", "overbid")
LOG = 53  # most decisions in a deal: 4 bids, 32 cards, the suit, the face, the sign, 14 answers about stopping
EXCHANGES = 256
SIGNS = ("none", "valuable", "worthless")


def _actions() -> tuple[Action, ...]:
    cards = [Action(n, f"play {s}", card=i) for i, (n, s) in enumerate(zip(PACK_32.names, PACK_32.symbols))]
    bids = [Action(f"bid {n}", f"bid a holding of {n} trumps", word=f"bid {n}") for n in range(1, HAND + 1)]
    suits = [
        Action(f"trumps {suit}", f"name {name} as trumps", suit=i, word="trumps")
        for i, (suit, name) in enumerate(zip(SUITS, SUIT_NAMES, strict=True))
    ]
    about = ("no sign", "the sign for a valuable card", "the sign for a worthless card")
    signs = [Action(f"sign {s}", f"give {text}", word=f"sign {s}") for s, text in zip(SIGNS, about, strict=True)]
    rest = [
        ("knock", "knock, or knock back"),
        ("stop", "stop the deal"),
        ("face up", "lead to the second trick without a trump, openly"),
        ("face down", "lead to the second trick without a trump, covered"),
    ]
    refuse = Action("pass", "do not bid; do not knock; do not stop", word="pass")
    return (*cards, refuse, *bids, *suits, *(Action(n, text, word=n) for n, text in rest), *signs)


ACTIONS = _actions()


@dataclass(frozen=True, kw_only=True)
class AvinasOptions(Options):
    """Rule options of Avinas."""

    episode: str = option("deal", "one deal, or a match (AV-17)", choices=("deal", "match"))
    stop: str = option(
        "claim", "when one may stop (AV-14): with 61 points, or after any trick", choices=("claim", "any")
    )
    overbid: str = option(
        "masked",
        "bids longer than any holding in hand (AV-6, AV-7): impossible, or free and punished by the loss of the match",
        choices=("masked", "loses_match"),
    )
    sign: str = option("partner", "who sees the sign (AV-8)", choices=("partner", "public"))
    match_marks: int = option(12, "marks that end a match (AV-17)", choices=(12, 6))
    max_deals: int = option(200, "deals after which a match is drawn (AV-17)", low=1, high=400)


STATE = state_dtype(
    SEATS,
    AvinasOptions,
    [
        # the deal: what chance did
        ("deck", np.int8, (CARDS,)),  # as dealt: four packets of four from the dealer's left, and again
        ("dealer", np.int8),  # -1: to be drawn
        ("owner", np.int8, (CARDS,)),  # the seat that was dealt the card
        ("turned", np.int8, (CARDS,)),  # place among the 4th and 8th cards (1-8) if turned up, else 0
        ("looked", np.int8, (CARDS,)),  # 4th and 8th cards of dealer and partner, which the dealer has looked at
        ("sevens", np.int8),  # turned up
        # who plays
        ("phase", np.int8),
        ("bids", np.int8, (SEATS,)),  # 0 not asked, 1 passed, length + 1
        ("knocks", np.int8, (SEATS,)),  # 0 not asked, 1 refused, 2 knocked
        ("declarer", np.int8),  # -1 not known
        ("bid", np.int8),  # the highest so far
        ("trump", np.int8),  # -1 not known
        # the play
        ("trick", np.int8),  # 1-8
        ("leader", np.int8),
        ("led", np.int8),  # class that must be followed, -1 before the lead
        ("on_table", np.int8),  # cards played to this trick
        ("face", np.int8),  # AV-8: 1 face up, 2 face down, 0 not chosen
        ("down", np.int8),  # the card that lies face down, -1 none; for all others it counts as in hand
        ("down_at", np.int8),  # where the log has it, -1 nowhere
        ("signed", np.int8),  # AV-8: sign + 1, 0 not given
        ("trick_of", np.int8, (CARDS,)),  # trick to which a card was seen to be played, 0 not yet
        ("taken_by", np.int8, (CARDS,)),  # pair + 1, 0 not yet
        ("void", np.int8, (SEATS, 5)),  # classes in which a seat has shown void
        ("tricks", np.int8, (2,)),  # taken by each pair
        ("points", np.int16, (2,)),
        ("stopped_by", np.int8),  # -1 nobody
        ("log_length", np.int8),
        ("log_seat", np.int8, (LOG,)),
        ("log_action", np.int8, (LOG,)),
        # the match
        ("deals", np.int32),  # finished
        ("rams", np.int32, (2,)),
        ("marks", np.int32, (2,)),
        ("ending", np.int8),  # how the last finished deal ended
        ("loser", np.int8),  # pair that lost it, -1 none
        ("penalty", np.int8),  # rams or marks awarded by it
        ("winner", np.int8),  # pair that won the episode, -1 none
    ],
)


@functools.cache
def _layouts() -> Mapping[str, Layout]:
    four = "observer, left, partner, right"
    three = "left, partner, right"
    two = "own pair, opponents"
    seen, pair_knows = "played, or turned up", "leader and partner"
    secret = "all; a card face down: its leader; a sign: his pair"
    observation = [
        Segment("phase", (7,), f"one-hot: to {', to '.join(PHASES)}"),
        Segment("to_act", (4,), f"{four}: one-hot: who decides now, nobody once the game is over"),
        Segment("dealer", (4,), f"{four}: one-hot"),
        Segment("declarer", (4,), f"{four}: one-hot: declarer, or who has bid most so far", since="said, or deal"),
        Segment("leader", (4,), f"{four}: one-hot: who leads or led to this trick, nobody yet while bids are made"),
        Segment("trick", (8,), "one-hot: number of the trick, 1-8"),
        Segment("trump", ("suit",), "one-hot: trump suit, none while unknown", since="deal, or first lead"),
        Segment("hand", ("card",), "cards in hand", "owner"),
        Segment("known", (3, "card"), f"{three}: cards known to be in hand or face down", "all; the dealer: two more"),
        Segment("unseen", ("card",), "cards of which the observer knows no place", "observer"),
        Segment("table", (4, "card"), f"{four}: the card played openly to the trick under way", since="played"),
        Segment("played_by", (4, "card"), f"{four}: cards seen to be played", since=seen),
        Segment("played_in", ("card",), "trick to which it was seen to be played, 0 not yet", since=seen, high=8),
        Segment("taken", (2, "card"), f"{two}: cards in the pair's tricks", since="trick"),
        Segment("turned_up", ("card",), "place in the order of turning up, 0 not turned up", high=8),
        Segment("looked_at", ("card",), "cards that the dealer has looked at", "dealer; his partner: his own two"),
        Segment("down", ("card",), "one-hot: the card that the observer has led face down", "leader", "played"),
        Segment("void", (4, "suit"), f"{four}: has shown void in the plain suit", since="played"),
        Segment("void_of_trumps", (4,), f"{four}: has shown void in trumps", since="played, or face chosen"),
        Segment("sevens", (1,), "sevens turned up", high=4),
        Segment("bids", (4,), f"{four}: 0 not asked, 1 passed, else length + 1", since="said", high=9),
        Segment("knocks", (4,), f"{four}: 0 not asked, 1 refused, 2 knocked", since="said", high=2),
        Segment("face", (2,), "one-hot: led to trick 2 without a trump, face up or face down", since="chosen"),
        Segment("sign", (3,), f"one-hot: {', '.join(SIGNS)}", f"{pair_knows} (all with `sign='public'`)", "given"),
        Segment("stopped", (4,), f"{four}: one-hot: who stopped the deal", since="said"),
        Segment("tricks", (2,), f"{two}: tricks taken", since="trick", high=8),
        Segment("points", (2,), f"{two}: card points taken", since="trick", high=120),
        Segment("rams", (2, 2), f"{two}: hundreds of rams, and the rest", since="deal end", high=99),
        Segment("marks", (2,), f"{two}: marks", since="deal end", high=17),
        Segment("deals", (2,), "hundreds of finished deals, and the rest", since="deal end", high=99),
    ]
    history = [
        Segment("dealer", (4,), f"{four}: one-hot"),
        Segment("received", (8,), "own cards in the order of the deal", "owner", values="card"),
        Segment("turned_up", (8,), "4th cards from the dealer's left on, then 8th; 0 not turned up", values="card"),
        Segment("looked_at", (2,), "the partner's 4th and 8th card", "dealer", values="card"),
        Segment("actor", (LOG,), f"per decision: 1-4 {four}, 0 none", since="decided", high=4),
        Segment("action", (LOG,), "per decision: the action, 0 while hidden", secret, "decided", values="action"),
    ]
    state = [
        *observation,
        Segment("hands", (3, "card"), f"{three}: cards in hand", "owner"),
        Segment("inspected", ("card",), "all 4th and 8th cards", "nobody"),
        Segment("face_down", ("card",), "one-hot: the card that lies face down", "leader", "played"),
        Segment("sign_given", (3,), f"one-hot: {', '.join(SIGNS)}", pair_knows, "given"),
    ]
    tables = {"observation": observation, "history": history, "state": state}
    return {name: Layout(segments, PACK_32, ACTIONS) for name, segments in tables.items()}


_OBS, _HIST, _STATE = (_layouts()[n] for n in ("observation", "history", "state"))
(
    O_PHASE, O_TO_ACT, O_DEALER, O_DECLARER, O_LEADER, O_TRICK, O_TRUMP, O_HAND, O_KNOWN, O_UNSEEN, O_TABLE,
    O_PLAYED_BY, O_PLAYED_IN, O_TAKEN, O_TURNED_UP, O_LOOKED_AT, O_DOWN, O_VOID, O_VOID_OF_TRUMPS, O_SEVENS,
    O_BIDS, O_KNOCKS, O_FACE, O_SIGN, O_STOPPED, O_TRICKS, O_POINTS, O_RAMS, O_MARKS, O_DEALS,
) = (place.start for place in _OBS.slices.values())  # fmt: skip
H_DEALER, H_RECEIVED, H_TURNED_UP, H_LOOKED_AT, H_ACTOR, H_ACTION = (p.start for p in _HIST.slices.values())
S_HANDS, S_INSPECTED, S_FACE_DOWN, S_SIGN = (_STATE.start(n) for n in ("hands", "inspected", "face_down", "sign_given"))
OBS_SIZE, HIST_SIZE, STATE_SIZE = _OBS.size, _HIST.size, _STATE.size


# --- The deal --------------------------------------------------------------------------------


@helper
def deal(s):
    """AV-1, AV-4: shuffle, deal two packets of four each, turn up; AV-5: sevens name declarer and trumps."""
    if s.dealer < 0:
        s.dealer = rng.below(s.rng, SEATS)
    deck = s.deck
    for i in range(CARDS):
        deck[i] = i
    rng.shuffle(s.rng, deck, CARDS)
    for i in range(CARDS):
        s.owner[deck[i]] = _seat_at(s.dealer, i)
    s.turned[:] = 0
    s.looked[:] = 0
    s.trick_of[:] = 0
    s.taken_by[:] = 0
    s.bids[:] = 0
    s.knocks[:] = 0
    s.void[:] = 0
    s.tricks[:] = 0
    s.points[:] = 0
    s.log_seat[:] = 0
    s.log_action[:] = 0
    s.log_length = s.bid = s.on_table = s.face = s.signed = s.sevens = 0
    s.declarer = s.trump = s.leader = s.led = s.down = s.down_at = s.stopped_by = s.winner = -1
    s.phase = BIDDING
    s.trick = 1
    s.player = (s.dealer + 1) & 3
    _turn_up(s)
    if s.sevens > 0:
        s.phase = KNOCK
        s.leader = s.player = s.declarer


@helper
def _seat_at(dealer, i):
    """Who was dealt the card at place ``i`` of the deck."""
    return (dealer + 1 + (i >> 2)) & 3


@helper
def _deck_index(dealer, seat, k):
    """Where in the deck the ``k``-th card (0-7) of a seat was."""
    return (k >> 2) * 16 + ((seat - dealer - 1) & 3) * 4 + (k & 3)


@helper
def _turn_up(s):
    """AV-4: the 4th and 8th card of everybody lie at the end of the packets, in the order of turning up."""
    for i in range(3, CARDS, 4):
        card = s.deck[i]
        seat = _seat_at(s.dealer, i)
        seven = card % RANKS == SEVEN
        dealers = (seat - s.dealer) & 1 == 0
        if dealers:
            s.looked[card] = 1
        if seven or not dealers:
            s.turned[card] = (i >> 2) + 1
        if seven:
            s.sevens += 1
            s.declarer = seat
            s.trump = card // RANKS


@helper
def _length(s, seat, suit):
    """AV-6: queens, jacks and cards of the suit among a seat's eight cards, each counted once."""
    owner, count = s.owner, 0
    for c in range(CARDS):
        count += int((owner[c] == seat) & (CLASS[suit, c] == TRUMPS))
    return count


@helper
def _longest(s, seat):
    best = 0
    for suit in range(4):
        best = max(best, _length(s, seat, suit))
    return best


# --- Legal actions ---------------------------------------------------------------------------


@helper
def legal(s, mask):
    for a in range(NUM_ACTIONS):
        mask[a] = 0
    if s.over:
        return
    if s.phase == PLAY:
        _legal_cards(s, mask)
    elif s.phase == BIDDING:
        mask[PASS] = 1
        most = _longest(s, s.player) if s.overbid == 0 else HAND
        for length in range(s.bid + 1, most + 1):
            mask[BID + length] = 1
    elif s.phase == NAMING:
        for suit in range(4):
            mask[NAME + suit] = _may_be_trumps(s, suit)
    elif s.phase == SIGNING:
        for sign in range(len(SIGNS)):
            mask[SIGN_WORD + sign] = 1
    else:
        mask[PASS] = 1
        mask[STOP_WORD if s.phase == STOPPING else KNOCK_WORD] = 1


@helper
def _may_be_trumps(s, suit):
    """AV-7a: with ``overbid="masked"`` only a suit in which the holding reaches the bid."""
    return s.overbid != 0 or _length(s, s.player, suit) >= s.bid


@helper
def _legal_cards(s, mask):
    """AV-8, AV-9: the cards that may be played now; for a leader to trick 2 without trumps the two faces."""
    owner, trick_of, seat = s.owner, s.trick_of, np.int8(s.player)
    for c in range(CARDS):
        mask[c] = (owner[c] == seat) & (trick_of[c] == NOT_YET)
    if s.led >= 0:
        _keep_class(mask, s.trump, s.led)
    elif s.trick == 1 and s.trump >= 0:
        _keep_class(mask, s.trump, TRUMPS)
    elif s.trick == 1:
        for c in range(CARDS):
            mask[c] = mask[c] and (c % RANKS in (JACK, QUEEN) or _may_be_trumps(s, c // RANKS))
    elif s.trick == 2 and s.face == 0 and not _keep_class(mask, s.trump, TRUMPS):
        for c in range(CARDS):
            mask[c] = 0
        mask[FACE_UP] = mask[FACE_DOWN] = 1


@helper
def _keep_class(mask, trump, card_class):
    """Leaves of the cards only those of a class, if there are any; were there?"""
    classes, wanted, found = CLASS[trump], np.int8(card_class), 0
    for c in range(CARDS):
        found |= mask[c] & (classes[c] == wanted)
    if found:
        for c in range(CARDS):
            mask[c] &= classes[c] == wanted
    return found != 0


# --- One decision ----------------------------------------------------------------------------


@helper
def apply(s, action):
    s.moves += 1
    s.log_seat[s.log_length] = s.player
    s.log_action[s.log_length] = action
    s.log_length += 1
    if s.phase == PLAY:
        if action >= CARDS:
            s.face = UP if action == FACE_UP else DOWN
            s.void[s.player, TRUMPS] = 1  # AV-18: only who has no trump chooses
        else:
            _play(s, action)
    elif s.phase == BIDDING:
        _bid(s, action)
    elif s.phase == KNOCK or s.phase == KNOCK_BACK:
        _knock(s, action)
    elif s.phase == NAMING:
        _make_trumps(s, action - NAME)
    elif s.phase == SIGNING:
        s.signed = action - SIGN_WORD + 1
        s.phase = PLAY
        s.player = (s.player + 1) & 3
    else:
        _answer_stop(s, action)


@helper
def _bid(s, action):
    """AV-6: one round; the longest bid declares."""
    seat = s.player
    s.bids[seat] = action - BID + 1
    if action != PASS:
        s.bid = action - BID
        s.declarer = seat
    if seat != s.dealer:
        s.player = (seat + 1) & 3
    elif s.bid == 0:
        _end_deal(s, PASSED_OUT, -1, 0)
    else:
        s.phase = PLAY
        s.leader = s.player = s.declarer


@helper
def _knock(s, action):
    """AV-11: the declarer is asked, then his partner; after a knock the defender to his left, then the other."""
    seat = s.player
    s.knocks[seat] = KNOCKED if action == KNOCK_WORD else REFUSED
    if action == KNOCK_WORD and s.phase == KNOCK:
        s.phase = KNOCK_BACK
        s.player = (s.declarer + 1) & 3
    elif action == PASS and (seat - s.declarer) & 3 < 2:
        s.player = (seat + 2) & 3
    else:
        s.phase = PLAY
        s.player = s.declarer


@helper
def _play(s, card):
    seat = s.player
    s.on_table += 1
    if s.led < 0:  # AV-9: any lead to the first two tricks counts as a trump
        s.led = TRUMPS if s.trick <= 2 else CLASS[s.trump, card]
    elif CLASS[s.trump, card] != s.led:
        s.void[seat, s.led] = 1
    if s.face == DOWN and s.trick == 2 and s.on_table == 1:
        s.down = card
        s.down_at = s.log_length - 1
        s.phase = SIGNING
        return
    s.trick_of[card] = s.trick
    if s.trump < 0:  # AV-7a: a plain card names its suit; after a queen or jack the suit is asked for
        if card % RANKS in (JACK, QUEEN):
            s.phase = NAMING
        else:
            _make_trumps(s, card // RANKS)
    elif s.on_table == SEATS:
        _gather(s)
    else:
        s.player = (seat + 1) & 3


@helper
def _make_trumps(s, suit):
    """AV-7b: the suit is public; a holding shorter than the bid loses the match, or the most that a deal can cost."""
    s.trump = suit
    s.phase = PLAY
    if _length(s, s.declarer, suit) < s.bid:
        _end_deal(s, OVERBID, s.declarer & 1, int(MARKS[1, 2]))
    else:
        s.player = (s.declarer + 1) & 3


@helper
def _gather(s):
    """AV-9: highest trump, else highest of the suit led; AV-8: a card led face down is turned up now."""
    if s.down >= 0:
        s.trick_of[s.down] = s.trick
        s.down = -1
    trick_of, taken_by, trick, trump, led = s.trick_of, s.taken_by, s.trick, s.trump, s.led
    winner = best = -1
    points = 0
    for c in range(CARDS):
        if trick_of[c] == trick:
            points += POINTS[c % RANKS]
            if (CLASS[trump, c] == led or CLASS[trump, c] == TRUMPS) and STRENGTH[trump, c] > best:
                best = STRENGTH[trump, c]
                winner = s.owner[c]
    pair = winner & 1
    for c in range(CARDS):
        if trick_of[c] == trick:
            taken_by[c] = pair + 1
    s.points[pair] += points
    s.tricks[pair] += 1
    s.on_table = 0
    declarers = s.declarer & 1
    if s.trick == TRICKS or (_knocked(s, declarers) and pair != declarers):
        _settle(s)
        return
    s.trick += 1
    s.led = -1
    s.leader = s.player = winner
    if s.sevens == 0 and (s.stop == 1 or s.points[declarers] >= WIN):  # AV-14
        s.phase = STOPPING
        s.player = s.declarer


@helper
def _knocked(s, pair):
    return s.knocks[pair] == KNOCKED or s.knocks[pair + 2] == KNOCKED


@helper
def _answer_stop(s, action):
    """AV-14: the declarer is asked, then his partner."""
    if action == STOP_WORD:
        s.stopped_by = s.player
        _settle(s)
    elif s.player == s.declarer:
        s.player = (s.declarer + 2) & 3
    else:
        s.phase = PLAY
        s.player = s.leader


# --- The end of a deal and the match ---------------------------------------------------------


@helper
def _settle(s):
    """AV-10 ... AV-15: who lost, and how much."""
    declarers = s.declarer & 1
    knocked = _knocked(s, declarers)  # AV-11
    made = s.tricks[declarers] == TRICKS if knocked else s.points[declarers] >= WIN
    loser = 1 - declarers if made else declarers
    if s.sevens > 0:  # AV-12
        stake = 1 + int(knocked) + 2 * int(_knocked(s, 1 - declarers))
        _end_deal(s, RAMS, loser, s.sevens * stake)
    else:
        points = s.points[loser]
        row = 0 if points >= 31 else (1 if points > 0 else 2)
        _end_deal(s, MARKED, loser, int(MARKS[0 if made else 1, row]))


@helper
def _end_deal(s, ending, loser, penalty):
    s.deals += 1
    s.ending, s.loser, s.penalty = ending, loser, penalty
    if ending == RAMS:  # AV-13: strike out the others' rams first
        struck = min(int(s.rams[1 - loser]), penalty)
        s.rams[1 - loser] -= struck
        s.rams[loser] += penalty - struck
    elif ending == MARKED:  # AV-16
        s.marks[loser] += penalty
    if s.episode == 1 and not _match_is_over(s):
        s.dealer = (s.dealer + 1) & 3  # AV-1
        deal(s)
        return
    s.over = 1
    if s.episode == 0 and loser >= 0:
        s.winner = 1 - loser
    amount = 1.0 if s.episode == 1 else float(penalty)
    for seat in range(SEATS):
        pair = seat & 1
        if s.winner >= 0:
            s.rewards[seat] += s.reward_scale * (amount if pair == s.winner else -amount)
        s.scores[seat] = -s.marks[pair] if s.episode == 1 else (-penalty if pair == loser else 0)


@helper
def _match_is_over(s):
    """AV-17; sets the winner of a match that is."""
    if s.ending == OVERBID:
        s.winner = 1 - s.loser
    elif s.ending == MARKED and max(s.marks[0], s.marks[1]) >= s.match_marks:
        rams_decide = s.marks[0] > 0 and s.marks[1] > 0 and s.rams[0] != s.rams[1]  # only one pair has any (AV-13)
        lost = s.rams if rams_decide else s.marks
        if lost[0] != lost[1]:
            s.winner = 0 if lost[0] < lost[1] else 1
    else:
        s.stalled = s.deals >= s.max_deals
        return s.stalled != 0
    return True


# --- Encodings -------------------------------------------------------------------------------


@helper
def observe(s, seat, out):
    owner, trick_of, turned, taken_by, looked = s.owner, s.trick_of, s.turned, s.taken_by, s.looked
    for i in range(O_HAND):
        out[i] = 0
    out[O_PHASE + int(s.phase)] = 1
    _mark(out, O_TO_ACT, -1 if s.over else s.player, seat)
    _mark(out, O_DEALER, s.dealer, seat)
    _mark(out, O_DECLARER, s.declarer, seat)
    _mark(out, O_LEADER, s.leader, seat)
    out[O_TRICK + int(s.trick) - 1] = 1
    if s.trump >= 0:
        out[O_TRUMP + int(s.trump)] = 1
    # The loops over cards compare bytes with bytes, so that the compiler turns each into a few vector instructions.
    me, trick, mine, theirs = np.int8(seat), np.int8(s.trick), np.int8((seat & 1) + 1), np.int8(2 - (seat & 1))
    # What the dealer has looked at: he knows all of it, his partner which of his own cards.
    knows_own, knows_all = (seat - s.dealer) & 1 == 0, seat == s.dealer
    for c in range(CARDS):
        known = (owner[c] == me) | (turned[c] != NOT_YET) | (knows_all & (looked[c] != NOT_YET))
        out[O_UNSEEN + c] = (trick_of[c] == NOT_YET) & (not known)
        out[O_PLAYED_IN + c] = trick_of[c]
        out[O_TAKEN + c] = taken_by[c] == mine
        out[O_TAKEN + CARDS + c] = taken_by[c] == theirs
        out[O_TURNED_UP + c] = turned[c]
        out[O_LOOKED_AT + c] = (looked[c] != NOT_YET) & (knows_all | (knows_own & (owner[c] == me)))
    for r in range(SEATS):
        who, at = np.int8((seat + r) & 3), CARDS * r
        for c in range(CARDS):
            hidden = (owner[c] == who) & (trick_of[c] == NOT_YET)
            played = (owner[c] == who) & (trick_of[c] != NOT_YET)
            # The hand and the cards known of the three others stand in a row.
            out[O_HAND + at + c] = hidden & (out[O_UNSEEN + c] == NOT_YET)
            out[O_PLAYED_BY + at + c] = played
            out[O_TABLE + at + c] = played & (trick_of[c] == trick) & (taken_by[c] == NOT_YET)
    _observe_words(s, seat, out)


@helper
def _mark(out, start, who, seat):
    """A seat as one-hot, counted from the observer; -1 is nobody."""
    if who >= 0:
        out[start + int((who - seat) & 3)] = 1


@helper
def _observe_words(s, seat, out):
    """What was said, shown and scored; the card face down and the sign for those who know them (AV-8)."""
    for i in range(O_DOWN, OBS_SIZE):
        out[i] = 0
    if s.down >= 0 and s.leader == seat:
        out[O_HAND + int(s.down)] = 0
        out[O_DOWN + int(s.down)] = 1
    for r in range(SEATS):
        who = (seat + r) & 3
        for suit in range(4):
            out[O_VOID + 4 * r + suit] = s.void[who, suit]
        out[O_VOID_OF_TRUMPS + r] = s.void[who, TRUMPS]
        out[O_BIDS + r] = s.bids[who]
        out[O_KNOCKS + r] = s.knocks[who]
    _mark(out, O_STOPPED, s.stopped_by, seat)
    out[O_SEVENS] = s.sevens
    if s.face > 0:
        out[O_FACE + int(s.face) - 1] = 1
    if s.signed > 0 and _knows_sign(s, seat):
        out[O_SIGN + int(s.signed) - 1] = 1
    for r in range(2):
        pair = (seat + r) & 1
        out[O_TRICKS + r] = s.tricks[pair]
        out[O_POINTS + r] = s.points[pair]
        out[O_RAMS + 2 * r] = s.rams[pair] // 100
        out[O_RAMS + 2 * r + 1] = s.rams[pair] % 100
        out[O_MARKS + r] = s.marks[pair]
    out[O_DEALS] = s.deals // 100
    out[O_DEALS + 1] = s.deals % 100


@helper
def _knows_sign(s, seat):
    """AV-8: the leader to trick 2 and his partner; with ``sign="public"`` all."""
    return s.sign == 1 or (s.log_seat[s.down_at] - seat) & 1 == 0


@helper
def history(s, seat, out):
    for i in range(HIST_SIZE):
        out[i] = 0
    _mark(out, H_DEALER, s.dealer, seat)
    for k in range(HAND):
        out[H_RECEIVED + k] = s.deck[_deck_index(s.dealer, seat, k)] + 1
        card = s.deck[4 * k + 3]
        if s.turned[card] != 0:
            out[H_TURNED_UP + k] = card + 1
    if seat == s.dealer:
        for k in range(2):
            out[H_LOOKED_AT + k] = s.deck[_deck_index(s.dealer, (seat + 2) & 3, 4 * k + 3)] + 1
    for i in range(s.log_length):
        out[H_ACTOR + i] = ((s.log_seat[i] - seat) & 3) + 1
        if not _hidden_from(s, seat, i):
            out[H_ACTION + i] = s.log_action[i] + 1


@helper
def _hidden_from(s, seat, i):
    """Is the decision number ``i`` a secret of others: a card that lies face down, or a sign (AV-8, AV-18)?"""
    if i == s.down_at:
        return s.down >= 0 and s.log_seat[i] != seat
    return 0 <= s.down_at == i - 1 and not _knows_sign(s, seat)


@helper
def reveal(s, out):
    seat = s.player
    observe(s, seat, out)
    owner, trick_of, turned, looked, down = s.owner, s.trick_of, s.turned, s.looked, s.down
    for r in range(3):
        who = (seat + 1 + r) & 3
        for c in range(CARDS):
            out[S_HANDS + CARDS * r + c] = (owner[c] == who) & (trick_of[c] == 0) & (c != down)
    for c in range(CARDS):
        out[S_INSPECTED + c] = (turned[c] != 0) | (looked[c] != 0)
    for i in range(S_FACE_DOWN, STATE_SIZE):
        out[i] = 0
    if s.down >= 0:
        out[S_FACE_DOWN + int(s.down)] = 1
    if s.signed > 0:
        out[S_SIGN + int(s.signed) - 1] = 1


# --- Hidden cards anew -----------------------------------------------------------------------


@helper
def resample(s, seat, salt):
    """AV-18: random exchanges of unknown cards from the true deal on, each kept if all that ``seat`` knows still holds.

    Places are the 24 cards dealt to the others and, while a card of another seat lies face down, that one.
    """
    rng.scramble(s.rng, salt)
    deck, turned, looked, dealer = s.deck, s.turned, s.looked, s.dealer
    sees, covered = seat == dealer, s.down >= 0 and s.leader != seat
    for _ in range(EXCHANGES):
        first = _deck_index(dealer, seat + 1 + rng.below(salt, 3), rng.below(salt, HAND))
        second = _deck_index(dealer, seat + 1 + rng.below(salt, 3), rng.below(salt, HAND))
        card, other = deck[first], deck[second]
        if turned[card] or turned[other] or (sees and (looked[card] or looked[other])):
            continue  # known
        if covered and rng.below(salt, 8) == 0:
            if s.owner[card] == s.leader and s.trick_of[card] == 0:  # he has no trumps, so any will do
                s.down = s.log_action[s.down_at] = card
        else:
            _exchange(s, first, second)
    if s.signed > 0 and not _knows_sign(s, seat):
        sign = rng.below(salt, len(SIGNS))
        s.signed = sign + 1
        s.log_action[s.down_at + 1] = SIGN_WORD + sign


@helper
def _exchange(s, first, second):
    """Two cards change places in the deck, unless something known speaks against it."""
    a, b = s.deck[first], s.deck[second]
    moves = s.owner[a] != s.owner[b]
    if _may_lie(s, a, second, moves) and _may_lie(s, b, first, moves):
        _swap(s, first, second)
        if moves and not (_bid_holds(s, s.owner[a]) and _bid_holds(s, s.owner[b])):
            _swap(s, first, second)


@helper
def _swap(s, first, second):
    """Two places of the deck change their cards; what belongs to the places, not to the cards, stays with them."""
    deck, owner, looked = s.deck, s.owner, s.looked
    a, b = deck[first], deck[second]
    deck[first], deck[second] = b, a
    looked[a], looked[b] = looked[b], looked[a]
    if owner[a] != owner[b]:
        owner[a], owner[b] = owner[b], owner[a]
        if s.down == a or s.down == b:
            s.down = s.log_action[s.down_at] = b if s.down == a else a


@helper
def _may_lie(s, card, i, moves):
    """May the card have been dealt to this place, or even another hand?  The dealer would have shown a seven."""
    if i & 3 == 3 and card % RANKS == SEVEN:
        return False
    if not moves:
        return True
    return s.trick_of[card] == 0 and (s.trump < 0 or s.void[_seat_at(s.dealer, i), CLASS[s.trump, card]] == 0)


@helper
def _bid_holds(s, seat):
    """AV-18: a ``masked`` bid is within the longest holding; once tested, the declarer's is as it was found."""
    if s.overbid == 0 and s.bids[seat] > PASSED and _longest(s, seat) < s.bids[seat] - 1:
        return False
    if seat != s.declarer or s.trump < 0 or s.sevens > 0:
        return True
    short = s.over and s.ending == OVERBID
    return (_length(s, seat, s.trump) < s.bid) == short


# --- For people ------------------------------------------------------------------------------


def scene(s: Any, seat: int | None) -> Scene:
    """The table: what ``seat`` sees, or everything."""
    facts = [f"trick {s.trick} of 8", f"trumps {SYMBOLS[SUITS[s.trump]] if s.trump >= 0 else 'not named'}"]
    facts += [f"sevens {s.sevens}"] if s.sevens else []
    facts += [f"points {s.points[0]}-{s.points[1]}"]
    if s.episode == 1:
        pairs = [f"{what} {counts[0]}-{counts[1]}" for what, counts in (("rams", s.rams), ("marks", s.marks))]
        facts += [f"deal {s.deals + (not s.over)}", *pairs]
    return Scene(
        title="Avinas",
        view=seat,
        places=tuple(_place(s, who, seat) for who in range(SEATS)),
        player=None if s.over else int(s.player),
        message=f"over: {_end(s)}" if s.over else f"to act: seat {s.player}, to {PHASES[s.phase]}",
        facts=tuple(facts),
        table=_table(s, seat),
        last=_last_trick(s, int(s.tricks.sum())),
    )


def _table(s: Any, seat: int | None) -> tuple[Laid, ...]:
    laid = [
        Laid(int(c), who)
        for who in ((int(s.leader) + k) & 3 for k in range(SEATS))
        for c in np.flatnonzero((s.owner == who) & (s.trick_of == s.trick) & (s.taken_by == 0))
    ]
    if s.down >= 0:
        laid.insert(0, Laid(int(s.down) if seat in (None, s.leader) else BACK, int(s.leader), "face down"))
    return tuple(laid)


def _last_trick(s: Any, trick: int) -> tuple[Laid, ...]:
    cards = np.flatnonzero((s.trick_of == trick) & (s.taken_by != 0))  # none before the first is taken
    told = zip(s.log_action[: s.log_length].tolist(), s.log_seat.tolist())  # in the order of play
    return tuple(Laid(card, who) for card, who in told if card in cards)


def _place(s: Any, who: int, seat: int | None) -> Place:
    # Trumps first, then by suit, high to low
    held = np.flatnonzero((s.owner == who) & (s.trick_of == 0)).tolist()
    held.sort(key=lambda c: ((CLASS[s.trump, c] + 1) % 5, -STRENGTH[s.trump, c]))
    hand = [c for c in held if c != s.down]
    if seat not in (None, who):  # a card that lies face down is still known as in hand
        known = [c for c in held if s.turned[c] or (seat == s.dealer and s.looked[c])]
        hand = [*known, *[BACK] * (len(hand) - len(known))]
    marks = [name for name, there in (("dealer", s.dealer == who), ("declarer", s.declarer == who)) if there]
    if s.bids[who]:
        marks.append("passed" if s.bids[who] == PASSED else f"bid {s.bids[who] - 1}")
    if s.knocks[who] == KNOCKED:
        marks.append("knocked")
    if s.signed and s.log_seat[s.down_at] == who and (s.sign == 1 or seat is None or (who - seat) % 2 == 0):
        marks.append(ACTIONS[SIGN_WORD + s.signed - 1].name)
    return Place(who, tuple(hand), tuple(marks))


def _end(s: Any) -> str:
    if s.episode == 1:
        return "drawn" if s.winner < 0 else f"seats {s.winner} and {s.winner + 2} win the match"
    return f"{ENDINGS[s.ending]}, {s.penalty} to seats {s.loser} and {s.loser + 2}" if s.loser >= 0 else "passed out"


def info(s: Any) -> dict[str, Any]:
    """Natural result: how the last deal ended and what it cost whom, the score of the match."""
    names = ("declarer", "points", "loser", "penalty", "rams", "marks", "deals", "winner")
    return {"ending": ENDINGS[s.ending], **{name: s[name].tolist() for name in names}}


def role(s: Any, seat: int) -> str:
    """The part of a seat in the deal that is over."""
    if s.episode == 1:
        return "match"
    if s.ending == PASSED_OUT:
        return "passed out"
    side = "declarers" if s.declarer & 1 == seat & 1 else "defenders"
    return f"{side}, {'sevens' if s.sevens else 'bid'}"


def _moved_card(card: int, permutation: Sequence[int]) -> int:
    """AV-2: plain cards and sevens change suits; queens and jacks, whose order is fixed, do not."""
    return card if card % RANKS in (JACK, QUEEN) else PACK_32.in_suit_order(card, permutation)


GAME = Game(
    name="avinas",
    title="Avinas",
    pack=PACK_32,
    actions=ACTIONS,
    options=AvinasOptions,
    dtype=STATE,
    layouts=lambda options: _layouts(),
    seats=lambda options: SEATS,
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
    moved_card=_moved_card,
    teams=lambda options: ((0, 2), (1, 3)),
    role=role,
    showdown=lambda s: bool(s.ending == OVERBID),  # AV-7b
)
