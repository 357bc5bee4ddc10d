"""Shukh at the table: actions, rule options, the state, the layouts of its encodings, and small helpers."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cardgym import rng
from cardgym.cards import PACK_52
from cardgym.errors import InvalidOption
from cardgym.game import Action, Layout, Options, Segment, option, state_dtype
from cardgym.games import shukh
from cardgym.games.shukh import ABSENT, BEATS, CARDS, QUEEN_H, SEATS, low_heart
from cardgym.kernel import helper

# --- Tables ----------------------------------------------------------------------------------

DRAW, UNLOAD, SWEEP, PICK_UP, HESITATE, CALL, PASS, ACCUSE, SAY, JUMP, ASK_SIX, DISPUTE, SUPPORT = range(55, 68)
SEAT, NUM_ACTIONS = 68, 75  # SEAT + k - 1 is the seat k places to the left
# Where a card is, beyond Shukh's own codes; a penalty pile's code is PILE + seat.
PILE = ABSENT + 1
UNSWEPT, STOCK, PLAYED = PILE + SEATS, PILE + SEATS + 1, PILE + SEATS + 2
# Kinds of acts (TM-1).
LAYING, TAKING, TUCKING, SWEEPING, PICKING_UP, HESITATING, SAYING, DRAWING, JUMPING = range(1, 10)
ACTS = ("lay", "take", "tuck", "sweep", "pick up", "hesitate", "say", "draw", "jump")
# Offences that an act can be (TM-13); Sh-8, Sh-11 and the question of Sh-12 are no acts.
SH_1, SH_2, SH_3, SH_4A, SH_4B, SH_5, SH_6, SH_7, SH_9, SH_10, SH_12 = range(1, 12)
# What the seat to act has to decide (TM-3).
STAGES = ("call", "dispute", "vote", "pay", "react", "draw", "owe", "repay", "gone", "chat", "jump", "turn")
CALLING, DISPUTING, VOTING, PAYING, REACTING, AT_STOCK, OWING, REPAYING, GONE, CHATTING, CHOOSING, TURN = range(1, 13)
DEAL, DEBTS, PLAY = range(3)  # phases of a party
ACCUSATION, QUESTION, SIX = 1, 2, 3  # what a trial is about
CHARGES = ("accusation", "how many cards", "lowest heart")
REFEREE, PLAYED_DEAL, PERFECT = 0, 0, 0  # numbers of the options' words


def _actions() -> tuple[Action, ...]:
    words = {
        "draw": "draw the next card of the stock",
        "unload": "give the top card of the own stack to the seat where it fits",
        "sweep": "sweep the kon into the discard",
        "pick up": "take the own penalty pile into the hand",
        "hesitate": "dawdle",
        "call": "say: one card",
        "pass": "do nothing; on lead: have no card to lead",
        "accuse": "say that the act just done breaks a rule",
        "say": "say the name of the game for no reason",
        "jump": "play out of turn; the card is chosen next",
        "ask six": "ask for the lowest heart, when two players are left",
        "dispute": "dispute the penalty",
        "support": "vote for who disputes",
    }
    seats = [Action(f"seat {k}", f"the seat {k} to the left: ask for its number of cards, or pay it", word=f"seat {k}")
             for k in range(1, SEATS)]  # fmt: skip
    return (*shukh.ACTIONS, *(Action(n, meaning, word=n) for n, meaning in words.items()), *seats)


ACTIONS = _actions()


@dataclass(frozen=True, kw_only=True)
class ShukhTableOptions(shukh.ShukhOptions):
    """Rule options of Shukh at the table."""

    judge: str = option(
        "referee",
        "who decides whether an accusation is true (TM-5): a referee who knows, or the players by voting (3 or more)",
        choices=("referee", "vote"),
    )
    deal: str = option(
        "played",
        "whether the players deal themselves and can break rules thereby (TM-12), or the engine deals",
        choices=("played", "engine"),
    )
    attention: float = option(
        0.25,
        "probability with which a seat other than the next one notices an act and is asked (TM-4)",
        low=0.0,
        high=1.0,
    )
    chatter: float = option(
        0.05,
        "probability with which a seat that is not on turn is asked at the start of a turn (TM-9)",
        low=0.0,
        high=1.0,
    )
    slip_probability: float = option(
        0.01, "probability with which a card lawfully laid is laid sloppily (Sh-10)", low=0.0, high=1.0
    )

    def check(self) -> None:
        super().check()
        if self.judge == "vote" and self.players == 2:
            raise InvalidOption("judge='vote' needs players=3 or more: with two nobody could vote")


STATE = state_dtype(
    SEATS,
    ShukhTableOptions,
    [
        # the deal
        ("order", np.int8, (CARDS,)),  # the stock from its first card on, -1 beyond the pack
        ("drawn", np.int8),  # cards drawn so far
        ("top", np.int8, (SEATS,)),  # top card of each stack, -1 none and after the deal
        ("below", np.int8, (CARDS,)),  # the card under it in its stack, -1 none
        ("deals", np.int8),  # deals made before this one (S-5)
        ("shuffler", np.int8),
        ("opener", np.int8),  # -1 until the deal is done
        # debts of the deal
        ("debt", np.int8, (SEATS,)),  # Shukhs that a seat earned in the deal
        ("repaid", np.int8),  # seats that have paid their debts
        ("to_pay", np.int8),  # cards that the seat now paying has to pay yet, -1 before it begins
        ("due", np.int8, (SEATS,)),  # cards that it owes to each seat
        ("short", np.int8),  # it has too few and chooses whom it pays
        ("creditor", np.int8),  # whom it pays the next card, -1 open
        # cards whose place is not public: who knows it, and in whose hand they were dealt
        ("known", np.int16, (CARDS,)),  # bit set of seats
        ("origin", np.int8, (CARDS,)),
        ("secrets", np.int8),  # cards that somebody does not know
        # the play
        ("phase", np.int8),
        ("place", np.int8, (CARDS,)),
        ("kon", np.int8, (SEATS,)),
        ("height", np.int8),
        ("held", np.int8, (SEATS,)),
        ("lying", np.int8, (SEATS,)),
        ("piled", np.int8, (SEATS,)),  # cards in each penalty pile
        ("finish", np.int8, (SEATS,)),
        ("live", np.int8),
        ("idle", np.int32),
        ("unswept", np.int8),  # cards of closed kons that nobody has swept
        ("closer", np.int8),  # who should sweep them, -1 none
        ("gone", np.int8),  # he has left and is to be asked
        # the turn
        ("turn", np.int8),  # whose turn it is
        ("fresh", np.int8),  # it has not begun
        ("warned", np.int8),  # caught in this turn (TM-2)
        ("hesitated", np.int8),
        ("skips", np.int8, (SEATS,)),  # turns to be lost
        ("safe", np.int8),  # two are left, and the lowest heart cannot be asked for yet (TM-11)
        ("jumper", np.int8),  # who chooses a card to play out of turn, -1 none
        # the pending act and what follows from it
        ("act", np.int8),  # its kind, 0 none
        ("actor", np.int8),
        ("card", np.int8),  # the card played or drawn, -1 none
        ("slip", np.int8),
        ("offence", np.int8),
        ("window", np.int16),  # bit set of the seats to be asked
        ("calls", np.int16),  # bit set of the seats that have to say: one card
        ("silent", np.int16),  # bit set of the seats that did not
        ("charge", np.int8),  # what the trial is about, 0 none
        ("accuser", np.int8),
        ("accused", np.int8),
        ("disputants", np.int16),  # bit set of the seats that may dispute
        ("voters", np.int16),  # bit set of the seats that have not voted
        ("votes", np.int8, (SEATS,)),  # 1 support, -1 pass, 0 none yet
        ("guilty", np.int8, (2,)),  # who gets penalty cards, one after the other, -1 none
        ("payers", np.int16),  # bit set of the seats that have to pay the first
        ("stage", np.int8),
        # the match
        ("parties", np.int32),
        ("stalled_parties", np.int32),
    ],
)


def _deal_segments(players: int, around: str, remembers: bool) -> list[Segment]:
    segments = [
        Segment(
            "stock", (2,), "cards in the stock; deals that were void before this one (S-5)", since="draw", high=CARDS
        ),
        Segment("stack_tops", (players,), f"{around}: top card of the stack, in the deal", values="card", since="draw"),
        Segment("stack_under", ("card",), "the card under this one in its stack, in the deal", values="card"),
        Segment("debt", (players,), f"{around}: penalties earned in the deal", since="verdict", high=CARDS),
        Segment("due", (players,), f"{around}: cards that the seat now repaying owes to it", high=CARDS),
        Segment("to_pay", (1,), "cards that the seat now repaying has to pay yet", high=CARDS),
        Segment("creditor", (players,), f"{around}: one-hot: who gets the next card", since="choice"),
    ]
    if remembers:
        known = "who was dealt the card, where its place is unknown to the observer: 1 himself, 2 his left, ...; else 0"
        count = "number of such cards, by who was dealt them (rows) and who has them (columns)"
        segments += [
            Segment("dealt_to", ("card",), known, since="debts", high=players),
            Segment("unknown", (players, players), f"{around}: {count}", since="debts", high=CARDS),
        ]
    return segments


@functools.cache
def layouts_for(players: int, match: bool, played: bool, remembers: bool) -> Mapping[str, Layout]:
    around = "observer first, then clockwise"
    base = list(shukh.layouts_for(players, match)["observation"].segments)
    table = [
        Segment("stage", (len(STAGES),), f"one-hot: what is to be decided: {', '.join(STAGES)}", since="decision"),
        Segment("on_turn", (players,), f"{around}: one-hot: whose turn it is", since="turn"),
        Segment("fresh", (1,), "the turn has not begun", since="turn"),
        Segment("warned", (1,), "who is on turn was caught in it (TM-2)", since="verdict"),
        Segment("hesitated", (1,), "who is on turn has hesitated", since="act"),
        Segment("skips", (players,), f"{around}: turns to be lost", since="verdict", high=9),
        Segment("safe", (1,), "two are left, and the lowest heart cannot be asked for yet (TM-11)"),
        Segment("act", (len(ACTS),), f"one-hot: the pending act: {', '.join(ACTS)}", since="act"),
        Segment("actor", (players,), f"{around}: one-hot: who did it", since="act"),
        Segment("card", ("card",), "one-hot: the card played or drawn", since="act"),
        Segment("slip", (1,), "it was played sloppily", since="act"),
        Segment("asked", (players,), f"{around}: still to be asked about it", since="act"),
        Segment("calls", (players,), f"{around}: has to say that he has one card", since="one card"),
        Segment("silent", (players,), f"{around}: has one card, and did not say so", since="pass"),
        Segment("charge", (len(CHARGES),), f"one-hot: what the dispute is about: {', '.join(CHARGES)}"),
        Segment("accuser", (players,), f"{around}: one-hot: who accused or asked", since="reaction"),
        Segment("accused", (players,), f"{around}: one-hot: who was accused or asked", since="reaction"),
        Segment("disputants", (players,), f"{around}: may dispute", since="reaction"),
        Segment("votes", (players,), f"{around}: 1 support, -1 pass, 0 not voted", since="vote", low=-1),
        Segment("guilty", (players,), f"{around}: gets penalty cards: 1 now, 2 next", since="verdict", high=2),
        Segment("payers", (players,), f"{around}: has to pay a card to the first of them", since="verdict"),
        Segment("closer", (players,), f"{around}: one-hot: who should sweep the closed kon", since="kon closed"),
        Segment("gone", (1,), "he has left the party and is to be asked whether he does", since="kon closed"),
        Segment("unswept", ("card",), "cards of closed kons that were not swept", since="kon closed"),
        Segment("piled", (players,), f"{around}: cards in the penalty pile", since="paid", high=CARDS),
        Segment(
            "piles", (players, "card"), f"{around}: cards in the penalty pile that the observer knows", since="paid"
        ),
    ]
    deal = _deal_segments(players, around, remembers) if played else []
    stock = [Segment("stock_order", ("card",), "place of a card in the stock, 1 being next", "nobody", high=CARDS)]
    shown = [*base, *table, *deal]
    layouts = {"observation": shown, "state": [*shown, *stock] if played else shown}
    return {name: Layout(segments, PACK_52, ACTIONS) for name, segments in layouts.items()}


def layouts(options: Options) -> Mapping[str, Layout]:
    match, played = options.episode == "match", options.deal == "played"  # type: ignore[attr-defined]
    remembers: bool = options.memory == "perfect"  # type: ignore[attr-defined]
    return layouts_for(shukh.seats_of(options), match, played, remembers)


# --- Small things ----------------------------------------------------------------------------


@helper
def number(x):
    """``int(x)``, in compiled code as a 64-bit integer: Numba compiles a function anew for every kind of integer."""
    return int(x) + 0


@helper
def bit(seat):
    return 1 << int(seat)


@helper
def everybody(s):
    return (1 << int(s.seats)) - 1


@helper
def first_of(s, seats, first):
    """The first seat of a bit set clockwise from ``first``, -1 if it is empty."""
    for i in range(number(s.seats)):
        seat = (number(first) + i) % number(s.seats)
        if int(seats) & bit(seat):
            return seat
    return -1


@helper
def chance(s, probability):
    return rng.next_word(s.rng) < probability * 4294967296.0


@helper
def show(s, card):
    """From now on everybody knows where this card is."""
    if s.known[card] != everybody(s):
        s.known[card] = everybody(s)
        s.secrets -= 1


@helper
def count_cards(s, seat, comes_to_one):
    """TM-10, R-6.1: after a hand changed; who came to one card in one of the ways named there has to say so."""
    if s.held[seat] != 1:
        s.silent &= ~bit(seat)
        s.calls &= ~bit(seat)
    elif comes_to_one:
        s.silent &= ~bit(seat)
        s.calls |= bit(seat)


@helper
def lose_card(s, seat, card, place):
    s.place[card] = place
    s.held[seat] -= 1
    count_cards(s, seat, True)


@helper
def could_play(s, seat, card):
    """TM-9: could this card be played lawfully, were it the seat's turn?"""
    if s.place[card] != seat:
        return False
    if s.height > 0:
        return BEATS[s.kon[s.height - 1], card] != 0
    return card != QUEEN_H and not (s.live == 2 and card == low_heart(s))


@helper
def could_play_any(s, seat):
    found = False
    for c in range(CARDS):
        found = found or could_play(s, seat, c)
    return found
