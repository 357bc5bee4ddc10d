"""Tarot's tables: cards, actions, rule options, the state and the layouts of its encodings.

The game has three modules, each of which reads from top to bottom: this one says what there is, ``tarot.py`` what
happens (the rules), ``tarot_sight.py`` what each seat knows of it (the encodings, and hidden cards dealt anew).  With
five players, a chien and a secret partner, knowing takes as much room as playing.  What both need stands here, so that
neither has to import from the other.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cardgym.cards import PACK_78
from cardgym.game import Action, Layout, Options, Segment, option, state_dtype
from cardgym.kernel import helper

# --- Tables ----------------------------------------------------------------------------------

CARDS, RANKS, PLAIN, SEATS = 78, 14, 56, 5
JACK, CAVALIER, QUEEN, KING = 10, 11, 12, 13
TRUMP, PETIT, TWENTY_ONE, EXCUSE = 55, 56, 76, 77  # trump n is card TRUMP + n
HALF_POINTS = np.array([*([1] * 10 + [3, 5, 7, 9]) * 4, 9, *[1] * 19, 9, 9], np.int8)  # TA-1: 182 in the pack
ALL_HALF_POINTS = 182

# By number of players, from three: tricks, cards in the chien, size of a packet (TA-3, TA-30, TA-31)
TRICKS = np.array([24, 18, 15], np.int64)
CHIEN_SIZE = np.array([6, 6, 3], np.int64)
PACKET = np.array([4, 3, 3], np.int64)
POIGNEES = np.array([[13, 15, 18], [10, 13, 15], [8, 10, 13]], np.int64)  # TA-10: trumps shown
POIGNEE_POINTS = np.array([0, 20, 30, 40], np.int64)
TARGETS = np.array([56, 51, 41, 36], np.int64)  # TA-19, by oudlers
FACTORS = np.array([0, 1, 2, 4, 6], np.int64)  # TA-20, by contract
REDEALS = 16  # TA-4

BIDS = ("pass", "prise", "garde", "garde sans", "garde contre")
PASS, PRISE, GARDE, SANS, CONTRE = range(5)
POIGNEE_NAMES = ("simple", "double", "triple")
BID, POIGNEE, SLAM, NO_SLAM, NUM_ACTIONS = 78, 83, 86, 87, 88
BIDDING, LAYING, SLAM_QUESTION, PLAY, SHOWING, CALLING = range(6)  # phases
PHASES = ("bidding", "ecart", "slam question", "play", "showing a poignee", "call")
CHIEN, ECART, PLAYED = 5, 6, 7  # where a card is; a hand's code is its seat
SEED_RULES = 0  # the value of `rules` in the state
LOG = 112  # room for a deal's decisions; 109 at most, with five players


def _actions() -> tuple[Action, ...]:
    cards = [
        Action(n, f"lay away, call, show or play {s}", card=i)
        for i, (n, s) in enumerate(zip(PACK_78.names, PACK_78.symbols, strict=True))
    ]
    bids = [Action(b, "pass" if b == "pass" else f"bid {b}", word=b) for b in BIDS]
    poignees = [Action(f"{n} poignee", f"announce a {n} poignee", word=f"{n} poignee") for n in POIGNEE_NAMES]
    slam = [
        Action("slam", "declare that one's side will win every trick", word="slam"),
        Action("no slam", "declare no slam", word="no slam"),
    ]
    return (*cards, *bids, *poignees, *slam)


ACTIONS = _actions()


@dataclass(frozen=True, kw_only=True)
class TarotOptions(Options):
    """Rule options of Tarot."""

    rules: str = option(
        "seed",
        "the old book's play (TA-12: no trump led before trumps are broken) and petit au bout (TA-17), or the "
        "federation's rules throughout",
        choices=("seed", "fft"),
    )
    players: int = option(4, "number of players (TA-30, TA-31)", choices=(3, 4, 5))
    contract: str = option(
        "auction",
        "`auction`: bidding decides who takes; `garde`: the player right of the dealer takes with a garde (TA-28)",
        choices=("auction", "garde"),
    )
    episode: str = option("deal", "one deal, or a match (TA-5)", choices=("deal", "match"))
    deals_per_match: int | str = option(
        "auto", "deals of a match (TA-5); `auto`: four for each player", low=1, high=100, words={"auto": 0}
    )


STATE = state_dtype(
    SEATS,
    TarotOptions,
    [
        # the deal: what chance did
        ("deck", np.int8, (CARDS,)),  # the pack from its top
        ("slot", np.int8, (CARDS,)),  # by place in the pack: the seat it went to, or CHIEN
        ("dealt", np.int8, (CARDS,)),  # by card: the seat it went to, or CHIEN
        ("redeals", np.int8),  # TA-4
        ("dealer", np.int8),  # -1: to be drawn
        # the auction
        ("phase", np.int8),
        ("bids", np.int8, (SEATS,)),  # -1 not yet
        ("contract_bid", np.int8),  # the highest bid so far, 0 none
        ("taker", np.int8),  # the highest bidder so far, -1 none
        ("called", np.int8),  # TA-31: the card called, -1 none
        ("chien_open", np.int8),  # TA-7: the chien was shown
        ("laid", np.int8),  # cards laid away
        ("laid_trumps", np.int8),  # those of them that are trumps, so public
        ("slam", np.int8),  # 0 not asked yet, 1 declared, 2 not
        ("void", np.int8),  # TA-6: all have passed
        # the play
        ("place", np.int8, (CARDS,)),
        ("held", np.int8, (SEATS,)),  # cards in hand
        ("trick", np.int8),  # from 1
        ("leader", np.int8),
        ("lead_suit", np.int8),  # 0-3, 4 trumps, -1 none yet
        ("on_table", np.int8),  # cards of the trick under way
        ("best_trump", np.int8),  # rank of the highest trump in the trick, 0 none
        ("best_card", np.int8),  # the card that wins the trick so far, -1 none
        ("best_seat", np.int8),
        ("trick_points", np.int16),  # half points on the table, the Excuse left out
        ("broken", np.int8),  # TA-12
        ("played_in", np.int8, (CARDS,)),  # trick in which a card was played, 0 not yet
        ("played_by", np.int8, (CARDS,)),  # seat + 1, 0 not yet
        ("winner_of", np.int8, (25,)),  # by trick number: seat, -1 not yet
        ("tricks", np.int8, (SEATS,)),  # won
        ("half_points", np.int16, (SEATS,)),  # TA-25: without the half point owed for the Excuse
        ("excuse_wins", np.int8),  # TA-14: the Excuse won the last trick
        # poignees
        ("poignee", np.int8, (SEATS,)),  # 0 none, 1-3
        ("shown_by", np.int8, (CARDS,)),  # seat + 1, 0 nobody
        ("show_left", np.int8),  # cards still to be shown
        ("show_below", np.int8),  # rank of the trump shown last, 22 none
        # TA-23: what play has proved
        ("no_suit", np.int8, (SEATS, 4)),  # holds none of this suit
        ("cap", np.int8, (SEATS,)),  # holds no trump above this
        ("no_called", np.int8, (SEATS,)),  # holds the called card for certain not
        # the decisions
        ("log_length", np.int8),
        ("log_seat", np.int8, (LOG,)),
        ("log_action", np.int8, (LOG,)),
        ("log_laid", np.int8),  # where the ecart begins
        # the match
        ("deals", np.int32),  # finished
        ("last_taker", np.int8),  # of the last finished deal, -1 all passed
        ("last_partner", np.int8),  # -1 none
        ("last_contract", np.int8),
        ("last_points", np.int16),  # half points of the taker's side
        ("last_oudlers", np.int8),
        ("last_scores", np.int32, (SEATS,)),
        # working space of `resample`, zero outside it
        ("w_zones", np.int8, (CARDS,)),
        ("w_cards", np.int8, (CARDS,)),
        ("w_slack", np.int8, (64,)),
        ("w_room", np.int8, (8,)),
    ],
)


def _observation_segments(players: int) -> list[Segment]:
    n, tricks = players, int(TRICKS[players - 3])
    seats = "observer, then the others in order of play"
    phases = PHASES if players == 5 else PHASES[:-1]
    called = [
        Segment("called", ("card",), "one-hot: the card called", since="call"),
        Segment("partner", (n,), f"{seats}: 1 for the taker's partner", since="called card played or in the chien"),
        Segment("alone", (1,), "1 if the taker has no partner", since="called card played or in the chien"),
    ]
    return [
        Segment("phase", (len(phases),), "one-hot: " + ", ".join(phases)),
        Segment("to_act", (n,), f"{seats}: 1 for who decides now"),
        Segment("dealer", (n,), f"{seats}: 1 for the dealer"),
        Segment("leader", (n,), f"{seats}: 1 for who leads, or led, this trick"),
        Segment("trick", (tricks,), "one-hot: number of the trick"),
        Segment("hand", ("card",), "cards in hand", "owner"),
        Segment("chien", ("card",), "cards of the chien", since="shown, unseen ones at the end of a played deal"),
        Segment(
            "ecart",
            ("card",),
            "cards laid away",
            "taker; trumps: all; at the end of a played deal: all",
            "laid away",
        ),
        Segment("table", ("card",), "cards of the trick under way", since="played"),
        Segment("shown", ("card",), "cards shown in poignees", since="shown"),
        Segment(
            "may_hold",
            (n - 1, "card"),
            "the others in order of play: cards that the seat may hold, by what play has proved and what the observer "
            "holds",
            "observer",
        ),
        Segment(
            "played", (n, "card"), f"{seats}: trick in which the seat played the card", since="played", high=tricks
        ),
        Segment("suit_led", ("suit",), "one-hot: plain suit led to the trick", since="played"),
        Segment("trump_led", (1,), "1 if trumps were led to the trick", since="played"),
        Segment("winning", (n,), f"{seats}: 1 for who wins the trick so far", since="played"),
        Segment("bids", (n, 5), f"{seats}: one-hot: " + ", ".join(BIDS), since="bid"),
        Segment("taker", (n,), f"{seats}: 1 for the highest bidder so far", since="bid"),
        Segment("contract", (4,), "one-hot: highest bid so far, " + ", ".join(BIDS[1:]), since="bid"),
        Segment("laid", (1,), "number of cards laid away", since="laid away", high=6),
        Segment("slam", (2,), "one-hot: slam declared, not declared", since="declared"),
        Segment("poignee", (n, 3), f"{seats}: one-hot: simple, double, triple", since="announced"),
        Segment("no_suit", (n, "suit"), f"{seats}: 1 if play has proved that the seat has none", since="played"),
        Segment("cap", (n,), f"{seats}: the highest trump that the seat may hold, by play", since="played", high=21),
        Segment("broken", (1,), "1 once a trump has been played", since="played"),
        Segment("winner", (tricks, n), f"by trick, {seats}: 1 for its winner", since="trick"),
        Segment("tricks", (n,), f"{seats}: tricks won", since="trick", high=tricks),
        Segment("points", (n,), f"{seats}: card points in the seat's tricks, rounded down", since="trick", high=91),
        Segment("deals", (2,), "deals finished in this match; deals void by petit sec before this one", high=100),
        Segment(
            "scores",
            (n, 3),
            f"{seats}: score in this match in the form 10 000 a + 100 b + c, all of one sign",
            since="deal end",
            low=-99,
            high=99,
        ),
        *(called if players == 5 else []),
    ]


def _history_segments(players: int) -> list[Segment]:
    return [
        Segment("dealer", (players,), "observer, then the others in order of play: 1 for the dealer"),
        Segment("deals", (2,), "deals finished in this match; deals void by petit sec before this one", high=100),
        Segment("dealt", ("card",), "own cards as dealt", "owner"),
        Segment("chien", ("card",), "cards of the chien", since="shown, unseen ones at the end of a played deal"),
        Segment("ecart", ("card",), "cards laid away", "taker; trumps: all; at the end: all", "laid away"),
        Segment("actor", (LOG,), "per decision: 1 observer, 2 next seat ..., 0 none", since="decided", high=players),
        Segment(
            "action",
            (LOG,),
            "per decision: the action; plain cards laid away are no entries in another's record",
            since="decided",
            values="action",
        ),
    ]


def _state_segments(players: int) -> list[Segment]:
    others = "the others in order of play"
    return [
        *_observation_segments(players),
        Segment("hands", (players - 1, "card"), f"{others}: cards in hand", "nobody but the owner"),
        Segment("true_chien", ("card",), "cards dealt to the chien", "nobody"),
        Segment("true_ecart", ("card",), "cards laid away", "taker", "laid away"),
    ]


@functools.cache
def layouts_for(players: int) -> Mapping[str, Layout]:
    tables = {
        "observation": _observation_segments(players),
        "history": _history_segments(players),
        "state": _state_segments(players),
    }
    return {name: Layout(segments, PACK_78, ACTIONS) for name, segments in tables.items()}


def _starts(encoding: str) -> tuple[list[str], np.ndarray]:
    """Names of the segments for five players and, by number of players, where each begins."""
    names = list(layouts_for(5)[encoding].slices)
    rows = [layouts_for(p)[encoding] for p in (3, 4, 5)]
    return names, np.array([[x.slices[n].start if n in x.slices else x.size for n in names] for x in rows], np.int64)


OBS_NAMES, OBS_AT = _starts("observation")
HIST_NAMES, HIST_AT = _starts("history")
STATE_NAMES, STATE_AT = _starts("state")
OBS_SIZE = np.array([layouts_for(p)["observation"].size for p in (3, 4, 5)], np.int64)
(
    O_PHASE, O_TO_ACT, O_DEALER, O_LEADER, O_TRICK, O_HAND, O_CHIEN, O_ECART, O_TABLE, O_SHOWN, O_MAY_HOLD, O_PLAYED,
    O_SUIT_LED, O_TRUMP_LED, O_WINNING, O_BIDS, O_TAKER, O_CONTRACT, O_LAID, O_SLAM, O_POIGNEE, O_NO_SUIT, O_CAP,
    O_BROKEN, O_WINNER, O_TRICKS, O_POINTS, O_DEALS, O_SCORES, O_CALLED, O_PARTNER, O_ALONE,
) = range(len(OBS_NAMES))  # fmt: skip
H_DEALER, H_DEALS, H_DEALT, H_CHIEN, H_ECART, H_ACTOR, H_ACTION = range(len(HIST_NAMES))
S_HANDS, S_CHIEN, S_ECART = range(len(OBS_NAMES), len(STATE_NAMES))


# --- Questions about a state, asked by rules and encodings alike -----------------------------


@helper
def plain_to_lay(s, card):
    """TA-7: a card that may go with the ecart whatever else there is."""
    return card < PLAIN and card % RANKS != KING and card != s.called


@helper
def can_show(s, seat, card):
    """TA-25: a trump in hand or, for a triple, laid away."""
    return s.place[card] == seat or (s.poignee[seat] == 3 and s.taker == seat and s.place[card] == ECART)


@helper
def revealed(s):
    """TA-25: the end of a played deal opens chien and ecart; that of a void one opens nothing."""
    return s.over != 0 and s.void == 0


# --- Seats in order of play (no remainders: divisions are what encodings would spend their time on) ---


@helper
def seat_after(seat, i, n):
    """The seat that sits ``i`` places further, 0 <= i < n."""
    further = seat + i
    return further - n if further >= n else further


@helper
def seats_between(seat, other, n):
    """How many places after ``seat`` the other one sits, 0 to n - 1."""
    return other - seat if other >= seat else other - seat + n
