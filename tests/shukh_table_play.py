"""Compiled play of Shukh at the table under wilful policies, with the invariants checked after every decision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cardgym import rng
from cardgym.batch import pick
from cardgym.games import shukh_table
from cardgym.games.shukh import (
    ABSENT,
    CARDS,
    DISCARD,
    LAID,
    NINE_D,
    QUEEN_H,
    RANKS,
    SEATS,
    SPADES,
    TAKE,
)
from cardgym.games.shukh_table import GAME
from cardgym.games.shukh_table_state import (
    ACCUSE,
    ASK_SIX,
    DEAL,
    DISPUTE,
    DRAWING,
    HESITATE,
    HESITATING,
    JUMP,
    JUMPING,
    LAYING,
    PASS,
    PAYING,
    PICK_UP,
    PICKING_UP,
    PILE,
    PLAY,
    PLAYED,
    REACTING,
    REPAYING,
    SAY,
    SAYING,
    SEAT,
    SH_2,
    SH_5,
    STOCK,
    SUPPORT,
    SWEEP,
    SWEEPING,
    TAKING,
    TUCKING,
    UNSWEPT,
)
from cardgym.kernel import helper, kernel

# Policies: what a wilful seat does whenever it may; the rest of its decisions are random.
HESITATES, ACCUSES, NEVER_ACCUSES, JUMPS, SWEEPS, SAYS, PICKS_UP, TAKES, ASKS, UNIFORM, CARELESS = range(11)
HOSTILE = {
    "always hesitates": HESITATES,
    "always accuses": ACCUSES,
    "never accuses": NEVER_ACCUSES,
    "always jumps": JUMPS,
    "always sweeps": SWEEPS,
    "always says it": SAYS,
    "always picks up": PICKS_UP,
    "always takes": TAKES,
    "always asks and disputes": ASKS,
}

VIOLATIONS = (
    "",
    "I-1: every card is in exactly one zone, and the counts say so",
    "I-2: the last card is never paid",
    "I-3: a pile is no hand: one card is counted without it",
    "I-4: a kon closes by count, by the queen of hearts, or by a sweep that nobody accused (Sh-5)",
    "I-5: what was closed goes to the discard and stays there",
    "I-6: the queen of hearts is led only by an offence (Sh-2)",
    "I-7: a spade is beaten by a spade or by the queen of hearts alone",
    "S-9: an open kon has fewer cards than there are players in the game",
    "R-9.1: in the game is who has a card in hand, in the kon or pending",
    "a seat to act has no legal action",
    "the offence of an act is none that its kind can be",
    "R-4.14.1: the nine of diamonds was paid for a debt of the deal",
)
I_1, I_2, I_3, I_4, I_5, I_6, I_7, S_9, R_9_1, STUCK, WRONG_OFFENCE, R_4_14_1 = range(1, 13)
ENDLESS = len(VIOLATIONS)


@helper
def zones(s):
    """I-1, I-3, S-9, R-9.1: the number of the first violation, 0 if there is none."""
    seats = int(s.seats)
    kon = stock = unswept = played = absent = 0
    for c in range(CARDS):
        p = int(s.place[c])
        if p < 0 or p > PLAYED:
            return I_1
        kon += LAID <= p < LAID + SEATS
        stock += p == STOCK
        unswept += p == UNSWEPT
        played += p == PLAYED
        absent += p == ABSENT
    pending = s.act != 0 and s.card >= 0 and s.act != DRAWING
    if absent != CARDS - s.deck or kon != s.height or unswept != s.unswept or played != int(pending):
        return I_1
    if stock != (s.deck - s.drawn if s.phase == DEAL else 0):
        return I_1
    for i in range(s.height):
        if not LAID <= s.place[s.kon[i]] < LAID + SEATS:
            return I_1
    for seat in range(SEATS):
        held = lying = piled = 0
        for c in range(CARDS):
            held += s.place[c] == seat
            lying += s.place[c] == LAID + seat
            piled += s.place[c] == PILE + seat
        if held != s.held[seat] or lying != s.lying[seat] or piled != s.piled[seat]:
            return I_1
        flagged = (int(s.calls) | int(s.silent)) >> seat & 1
        if flagged and held != 1:
            return I_3
        if seat < seats and s.phase == PLAY and not s.over:
            own = pending and s.actor == seat
            out = held == 0 and lying == 0 and not own
            waits = s.guilty[0] == seat or s.guilty[1] == seat  # TM-6: looked at when all have paid
            if (s.finish[seat] > 0) != out and not waits:
                return R_9_1
    if s.phase == PLAY and not s.over and s.live > 1 and s.height >= s.live:
        return S_9
    return 0


@helper
def step(s, was, action):
    """I-2, I-4 ... I-7 on one decision: ``was`` is the state before."""
    if was.stage in (PAYING, REPAYING) and was.held[was.player] < 2:
        return I_2
    if was.stage == REPAYING and action == NINE_D:
        return R_4_14_1
    if s.parties != was.parties or s.deals != was.deals:
        return 0
    closed = 0
    for c in range(CARDS):
        old, new = int(was.place[c]), int(s.place[c])
        if (old == DISCARD and new != DISCARD) or (old == UNSWEPT and new not in (UNSWEPT, DISCARD)):
            return I_5
        closed += LAID <= old < LAID + SEATS and new in (UNSWEPT, DISCARD)
    if closed > 0 or s.unswept > was.unswept:
        counted = was.height + 1 == was.live or was.card == QUEEN_H
        if not (counted and was.act in (LAYING, TUCKING, JUMPING)) and not (
            was.act == SWEEPING and was.offence == SH_5
        ):
            return I_4
        if closed != was.height:
            return I_4
    if s.height > was.height and s.height > 0 and was.act in (LAYING, JUMPING):
        card = int(s.kon[s.height - 1])
        if s.height == 1 and card == QUEEN_H and was.offence != SH_2:
            return I_6
        if s.height > 1:
            under = int(s.kon[s.height - 2])
            if under // RANKS == SPADES and card // RANKS != SPADES and card != QUEEN_H:
                return I_7
    return 0


@helper
def offence_fits(s):
    """TM-13: each offence belongs to certain acts."""
    o, a = int(s.offence), int(s.act)
    if o == 0:
        return a not in (HESITATING, SAYING, PICKING_UP, JUMPING)
    return (
        (o == 1 and a == DRAWING)
        or (o == 2 and a == LAYING)
        or (o == 3 and a == PICKING_UP)
        or (o in (4, 5) and a in (LAYING, TAKING, TUCKING))
        or (o == 6 and a == SWEEPING)
        or (o == 7 and a == HESITATING)
        or (o == 8 and a == JUMPING)
        or (o == 9 and a == SAYING)
        or (o == 10 and a == LAYING and s.slip == 1)
        or (o == 11 and a == LAYING and s.height == 0)
    )


@helper
def wanted(policy):
    """The action that a wilful seat prefers, -1 if there is not one."""
    return (HESITATE, ACCUSE, -1, JUMP, SWEEP, SAY, PICK_UP, TAKE, -1, -1, -1)[policy]


@helper
def choose(s, mask, policy, salt):
    """A legal action of the policy."""
    word = rng.next_word(salt)
    want = wanted(policy)
    if want >= 0 and mask[want]:
        return want
    if policy == ASKS:
        for a in (ASK_SIX, DISPUTE, SUPPORT):
            if mask[a]:
                return a
        if s.stage == REACTING:
            for a in range(SEAT, SEAT + SEATS - 1):
                if mask[a]:
                    return a
    if policy == NEVER_ACCUSES and s.stage == REACTING:
        return PASS
    if policy == CARELESS and s.stage == REACTING and rng.below(salt, 20) > 0:
        return PASS
    return pick(mask, word)


@kernel("tests.shukh_table.play", (shukh_table.__file__,))
def _play(states, spare, mask, seeds, policies, limit, found):
    """Plays every state to its end; ``policies`` (n, seats); ``found``: violation, move, for each game."""
    salt = np.zeros(4, np.int64)
    for k in range(len(states)):
        rng.seed(salt, seeds[k], 1)
        s = states[k]
        found[k, 0] = zones(s)
        move = 0
        while not s.over and found[k, 0] == 0:
            if move >= limit:
                found[k, 0] = ENDLESS
                break
            spare[0] = states[k]
            legal_(s, mask)
            action = choose(s, mask, policies[k, s.player], salt)
            if action < 0:
                found[k, 0] = STUCK
                break
            apply_(s, action)
            move += 1
            wrong = zones(s)
            if wrong == 0:
                wrong = step(s, spare[0], action)
            if wrong == 0 and s.act != 0 and not offence_fits(s):
                wrong = WRONG_OFFENCE
            found[k, 0] = wrong
        found[k, 1] = move


legal_, apply_ = GAME.legal, GAME.apply


@kernel("tests.shukh_table.violation", (shukh_table.__file__,))
def _violation(states):
    return zones(states[0])


def violation(state: np.ndarray) -> str:
    """What is wrong with a state, shape (1,), in itself; empty if nothing is."""
    number = _violation(state)
    return VIOLATIONS[number] if number else ""


class Played(NamedTuple):
    """Finished games.

    Attributes:
        states: at the end, shape (n,).
        moves: decisions, shape (n,).
    """

    states: np.ndarray
    moves: np.ndarray


def play(states: np.ndarray, policies: np.ndarray, seed: int, limit: int = 200_000) -> Played:
    """Plays states to their ends under policies, in place, and checks every step.

    Args:
        states: games at some decision, shape (n,).
        policies: per seat, shape (seats,).
        seed: of the play.
        limit: more decisions are taken for a game without end.

    Raises:
        AssertionError: an invariant is violated, or a game does not end.
    """
    n = len(states)
    found = np.zeros((n, 2), np.int64)
    each = np.zeros((n, SEATS), np.int64)
    each[:, : len(policies)] = policies
    mask = np.zeros(len(GAME.actions), np.int8)
    _play(states, np.zeros(1, GAME.dtype), mask, seed + np.arange(n), each, limit, found)
    for k in np.flatnonzero(found[:, 0])[:1]:
        what = "a game without end" if found[k, 0] == ENDLESS else VIOLATIONS[found[k, 0]]
        raise AssertionError(f"{what}: game {k}, play seed {seed + k}, after {found[k, 1]} decisions")
    return Played(states, found[:, 1])
