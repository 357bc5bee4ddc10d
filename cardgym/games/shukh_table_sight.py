"""What the seats of Shukh at the table may do and see: masks, encodings, hidden cards dealt anew, the drawing."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from cardgym import rng
from cardgym.cards import PACK_52
from cardgym.games import shukh
from cardgym.games.shukh import (
    BEATS,
    CARDS,
    DISCARD,
    DISCARD_LOW_HEART,
    LAID,
    NINE_D,
    QUEEN_H,
    SEATS,
    TAKE,
    TUCK,
    low_heart,
    tucked_card,
)
from cardgym.games.shukh_table_state import (
    ACCUSE,
    ACTS,
    ASK_SIX,
    AT_STOCK,
    CALL,
    CALLING,
    CHARGES,
    CHOOSING,
    DEAL,
    DEBTS,
    DISPUTE,
    DISPUTING,
    DRAW,
    GONE,
    HESITATE,
    JUMP,
    JUMPING,
    NUM_ACTIONS,
    OWING,
    PASS,
    PAYING,
    PERFECT,
    PICK_UP,
    PILE,
    PLAY,
    PLAYED,
    PLAYED_DEAL,
    REACTING,
    REPAYING,
    SAY,
    SEAT,
    SIX,
    STAGES,
    SUPPORT,
    SWEEP,
    TURN,
    UNLOAD,
    UNSWEPT,
    VOTING,
    bit,
    could_play,
    could_play_any,
    layouts_for,
    number,
)
from cardgym.kernel import helper
from cardgym.render.scene import BACK, Laid, Pile, Place, Scene, by_suit

# The part ``piles`` begins PILES_AFTER + PILES_PER_SEAT * seats beyond Shukh's own parts.
_TWO, _THREE = (
    layout.start("piles") - layout.start("stage")
    for layout in (layouts_for(players, False, False, False)["observation"] for players in (2, 3))
)
PILES_PER_SEAT = _THREE - _TWO
PILES_AFTER = _TWO - 2 * PILES_PER_SEAT


def _card_starts() -> np.ndarray:
    """As :func:`cardgym.games.shukh.card_starts`; int64, shape (single party or match, players, observer, places)."""
    starts = np.full((2, SEATS + 1, SEATS, PLAYED + 1), -1, np.int64)
    for match, players in itertools.product((0, 1), range(2, SEATS + 1)):
        layout = layouts_for(players, bool(match), False, False)["observation"]
        for observer in range(players):
            row = shukh.card_starts(players, observer, PLAYED + 1)
            row[UNSWEPT] = layout.start("unswept")
            for i in range(players):
                row[PILE + (observer + i) % players] = layout.start("piles") + CARDS * i
            starts[match, players, observer] = row
    return starts


CARD_STARTS = _card_starts()

# --- Legal actions ---------------------------------------------------------------------------


@helper
def legal(s, mask):
    for a in range(NUM_ACTIONS):
        mask[a] = 0
    if s.over:
        return
    place, seat, stage = s.place, number(s.player), s.stage
    if stage == REACTING:
        _legal_reactions(s, seat, mask)
    elif stage == TURN:
        _legal_turn(s, seat, mask)
    elif stage == AT_STOCK:
        due = shukh.unload_to(s, seat) >= 0
        mask[UNLOAD] = due
        mask[DRAW] = not (due and s.warned)
    elif stage == PAYING:
        for c in range(CARDS):
            mask[c] = place[c] == seat
        if s.live == 2:  # it leaves the hand by the discard alone
            mask[low_heart(s)] = 0
    elif stage == REPAYING:
        for c in range(CARDS):
            mask[c] = place[c] == seat
        mask[NINE_D] = 0
    elif stage == OWING:
        for i in range(1, number(s.seats)):
            mask[SEAT + i - 1] = s.due[(seat + i) % int(s.seats)] > 0
    elif stage == CHOOSING:
        for c in range(CARDS):
            mask[c] = could_play(s, seat, c)
    else:
        mask[PASS] = 1
        if stage == CALLING:
            mask[CALL] = 1
        elif stage == DISPUTING:
            mask[DISPUTE] = 1
        elif stage == VOTING:
            mask[SUPPORT] = 1
        elif stage == GONE:
            mask[SWEEP] = 1
        else:
            mask[SAY] = 1
            mask[JUMP] = s.finish[seat] == 0 and s.unswept == 0 and could_play_any(s, seat)


@helper
def _legal_reactions(s, seat, mask):
    """TM-4."""
    mask[PASS] = 1
    mask[ACCUSE] = 1
    if s.phase != PLAY:
        return
    for i in range(1, number(s.seats)):
        mask[SEAT + i - 1] = (int(s.silent) >> ((seat + i) % int(s.seats))) & 1
    if s.live == 2 and not s.safe and s.finish[seat] == 0:  # R-9.4.2.1
        holder = int(s.place[low_heart(s)])
        mask[ASK_SIX] = holder < SEATS and holder != seat


@helper
def _legal_turn(s, seat, mask):
    """TM-8, R-5.3: what is lawful, and every breach that fits."""
    place, low = s.place, low_heart(s)
    endgame = s.live == 2 and place[low] == seat
    may_break = s.unswept == 0 and s.warned == 0  # TM-2
    if s.height == 0:
        for c in range(CARDS):
            mask[c] = place[c] == seat
        mask[QUEEN_H] = may_break and place[QUEEN_H] == seat  # Sh-2
        if endgame and not may_break:  # Sh-12
            mask[low] = 0
        mask[PASS] = s.held[seat] == int(place[QUEEN_H] == seat) + int(endgame)  # S-13
    else:
        top = int(s.kon[s.height - 1])
        for c in range(CARDS):
            mask[c] = (place[c] == seat) & (BEATS[top, c] != 0)
        mask[TAKE] = 1
        card = tucked_card(s)
        mask[TUCK] = card >= 0 and place[card] == seat and not (endgame and card == low)
        mask[SWEEP] = may_break  # Sh-5
        mask[PICK_UP] = may_break and s.piled[seat] > 0  # Sh-3
    if s.unswept > 0:
        mask[SWEEP] = 1
    mask[HESITATE] = may_break and s.hesitated == 0  # Sh-6
    mask[DISCARD_LOW_HEART] = endgame


# --- Encodings -------------------------------------------------------------------------------


@helper
def observe(s, seat, out):
    _observe(s, number(seat), out)


@helper
def reveal(s, out):
    """What the seat to act sees, with all hands and piles open, and the order of the stock."""
    place, seat, seats = s.place, number(s.player), number(s.seats)
    end = _observe(s, seat, out)
    piles = _piles_at(s)
    hands = shukh.O_SEATS + shukh.PER_SEAT * seats
    for i in range(seats):
        who = (seat + i) % seats
        for c in range(CARDS):
            out[piles + CARDS * i + c] = place[c] == PILE + who
        if i > 0:
            for c in range(CARDS):
                out[hands + CARDS * (i - 1) + c] = place[c] == who
    if s.deal == PLAYED_DEAL and s.phase == DEAL:
        for i in range(number(s.drawn), number(s.deck)):
            out[end + number(s.order[i])] = i - number(s.drawn) + 1


@helper
def _observe(s, seat, out):
    """Writes the parts of :func:`layouts_for` in order, what is not 0 in them; returns where they end."""
    perfect = s.memory == PERFECT
    hands_open = perfect or s.phase == DEAL or _knows_by_elimination(s, seat)
    shukh.observe_cards(s, seat, out, hands_open, CARD_STARTS[int(s.episode), number(s.seats), seat])
    at = _observe_turn(s, seat, out, shukh.observed_size(s))
    at = _observe_act(s, seat, out, at)
    at = _observe_piles(s, seat, out, at)
    if s.deal == PLAYED_DEAL:
        at = _observe_deal(s, seat, out, at)
        if perfect:
            at = _observe_secrets(s, seat, out, at)
    return at


@helper
def _knows_by_elimination(s, seat):
    """Do all cards that do not lie open belong to one other hand?"""
    return shukh.others_holding(s, seat) <= 1 and (s.phase == PLAY or s.piled.sum() == 0)


@helper
def _wrapped(seat, seats):
    """The seat modulo the number of seats; below twice that, a division would cost much more."""
    return seat - seats if seat >= seats else seat


@helper
def _one(out, at, seats, seat, who):
    """A one-hot part over the seats; returns where it ends."""
    if who >= 0:
        out[at + _wrapped(number(who) - seat + seats, seats)] = 1
    return at + seats


@helper
def _per_seat(out, at, seats, seat, numbers):
    for i in range(seats):
        out[at + i] = numbers[_wrapped(seat + i, seats)]
    return at + seats


@helper
def _kind(out, at, size, number):
    """A one-hot part over kinds that are numbered from 1, 0 for none."""
    if number > 0:
        out[at + number - 1] = 1
    return at + size


@helper
def _observe_turn(s, seat, out, at):
    seats, turn, skips = number(s.seats), number(s.turn), s.skips
    at = _kind(out, at, TURN, 0 if s.over else number(s.stage))
    out[at + seats] = s.fresh
    out[at + seats + 1] = s.warned
    out[at + seats + 2] = s.hesitated
    out[at + 2 * seats + 3] = s.safe
    for i in range(at, at + seats):
        who = _wrapped(seat + i - at, seats)
        out[i] = who == turn
        out[i + seats + 3] = skips[who]
    return at + 2 * seats + 4


@helper
def _observe_act(s, seat, out, at):
    """From the pending act to who has to pay; one pass over the seats writes a number of each part."""
    seats, card = number(s.seats), number(s.card)
    window, calls, silent = number(s.window), number(s.calls), number(s.silent)
    disputants, payers, votes = number(s.disputants), number(s.payers), s.votes
    actor = number(s.actor) if s.act else -1
    accuser = number(s.accuser) if s.charge else -1
    accused = number(s.accused) if s.charge else -1
    first, second = number(s.guilty[0]), number(s.guilty[1])
    actors = _kind(out, at, JUMPING, number(s.act))
    cards = actors + seats
    if card >= 0:
        out[cards + card] = 1
    out[cards + CARDS] = s.slip
    asked = cards + CARDS + 1
    accusers = _kind(out, asked + 3 * seats, SIX, number(s.charge))
    for i in range(seats):
        who = _wrapped(seat + i, seats)
        out[actors + i] = who == actor
        out[asked + i] = (window >> who) & 1
        out[asked + seats + i] = (calls >> who) & 1
        out[asked + 2 * seats + i] = (silent >> who) & 1
        out[accusers + i] = who == accuser
        out[accusers + seats + i] = who == accused
        out[accusers + 2 * seats + i] = (disputants >> who) & 1
        out[accusers + 3 * seats + i] = votes[who]
        out[accusers + 4 * seats + i] = int(who == first) + 2 * int(who == second)
        out[accusers + 5 * seats + i] = (payers >> who) & 1
    return accusers + 6 * seats


@helper
def _observe_piles(s, seat, out, at):
    seats = number(s.seats)
    at = _one(out, at, seats, seat, s.closer)
    out[at] = s.gone
    at = _per_seat(out, at + 1 + CARDS, seats, seat, s.piled)
    if s.phase == DEBTS and s.memory != PERFECT:  # face down
        for i in range(at, at + CARDS * seats):
            out[i] = 0
    return at + CARDS * seats


@helper
def _observe_deal(s, seat, out, at):
    below, seats = s.below, number(s.seats)
    dealing = s.phase == DEAL
    out[at + 1] = s.deals
    if dealing:  # the stacks are none afterwards
        out[at] = s.deck - s.drawn
        for i in range(seats):
            out[at + 2 + i] = s.top[_wrapped(seat + i, seats)] + 1
        for c in range(CARDS):
            out[at + 2 + seats + c] = below[c] + 1
    at += 2 + seats
    at = _per_seat(out, at + CARDS, seats, seat, s.debt)
    at = _per_seat(out, at, seats, seat, s.due)
    out[at] = max(int(s.to_pay), 0)
    return _one(out, at + 1, seats, seat, s.creditor)


@helper
def _observe_secrets(s, seat, out, at):
    """TM-15: takes from ``hands`` and ``piles`` what the seat does not know, and says what it knows instead.

    Of the cards that were dealt to one seat and are unknown now the others know how many are where; if all are in one
    place, they are known.
    """
    seats = number(s.seats)
    end = at + _secrets_size(s)
    if s.secrets == 0:
        return end
    counts, piles = at + CARDS, _piles_at(s)
    hands = shukh.O_SEATS + shukh.PER_SEAT * seats
    for c in range(CARDS):
        if not (number(s.known[c]) >> seat) & 1:
            giver = _wrapped(number(s.origin[c]) - seat + seats, seats)
            out[at + c] = giver + 1
            out[counts + seats * giver + _wrapped(_owner(s, c) - seat + seats, seats)] += 1
    certain = 0  # bit set: all unknown cards that were dealt to this seat are in one place
    for giver in range(seats):
        row = counts + seats * giver
        holders = 0
        for i in range(row, row + seats):
            holders += out[i] > 0
        if holders == 1:
            certain |= bit(giver)
            for i in range(row, row + seats):
                out[i] = 0
    for c in range(CARDS):
        if out[at + c] > 0:
            owner = _wrapped(_owner(s, c) - seat + seats, seats)
            if (certain >> (out[at + c] - 1)) & 1:
                out[at + c] = 0
            elif s.place[c] < SEATS:
                out[hands + CARDS * (owner - 1) + c] = 0
            else:
                out[piles + CARDS * owner + c] = 0
    return end


@helper
def _secrets_size(s):
    return CARDS + number(s.seats) * number(s.seats)


@helper
def _piles_at(s):
    """Where the part ``piles`` begins."""
    return shukh.observed_size(s) + PILES_AFTER + PILES_PER_SEAT * number(s.seats)


@helper
def _owner(s, card):
    """The seat in whose hand or pile a card is."""
    place = int(s.place[card])
    return place if place < SEATS else place - PILE


# --- Hidden cards anew -----------------------------------------------------------------------


@helper
def resample(s, seat, salt):
    """TM-15: the stock, and which cards were paid face down; with ``memory="table"`` all that does not lie open.

    All ways are equally likely.
    """
    rng.scramble(s.rng, salt)
    if s.phase == DEAL:
        for i in range(s.deck - 1, number(s.drawn), -1):
            j = number(s.drawn) + rng.below(salt, i - number(s.drawn) + 1)
            card = s.order[i]
            s.order[i] = s.order[j]
            s.order[j] = card
    elif s.memory != PERFECT:
        _mix(s, number(seat), -1, salt)
    elif s.secrets > 0:
        for giver in range(number(s.seats)):
            _mix(s, number(seat), giver, salt)


@helper
def _mix(s, seat, giver, salt):
    """Permutes the places of cards that the seat does not know: all of them, or those dealt to one seat."""
    unseen = s.below  # not in use after the deal
    count = 0
    for c in range(CARDS):
        if _is_covered(s, seat, c) if giver < 0 else s.origin[c] == giver and not int(s.known[c]) & bit(seat):
            unseen[count] = c
            count += 1
    for i in range(count - 1, 0, -1):
        j = rng.below(salt, i + 1)
        one, other = int(unseen[i]), int(unseen[j])
        place, known = s.place[one], s.known[one]
        s.place[one] = s.place[other]
        s.known[one] = s.known[other]
        s.place[other] = place
        s.known[other] = known
    s.below[:] = -1


@helper
def _is_covered(s, seat, card):
    """With ``memory="table"``: does the seat not see this card?"""
    if card == NINE_D and _opens(s):
        return False
    place = s.place[card]
    if place < SEATS:
        return place != seat
    return s.phase == DEBTS and place >= PILE and place < PILE + SEATS


@helper
def _opens(s):
    """R-5.1: does everybody still know where the nine of diamonds is?"""
    if s.phase == DEBTS:
        return True
    return s.idle == 0 and s.height == 0 and s.unswept == 0 and s.opener == s.place[NINE_D]


# --- For people ------------------------------------------------------------------------------


def scene(s: Any, seat: int | None) -> Scene:
    """The table: what ``seat`` knows, or everything."""
    hidden = _unseen_by(s, seat)
    facts = [f"{s.deck} cards"]
    if s.idle:
        facts.append(f"turns without a discard: {s.idle}")
    if s.episode == 1:
        facts.append(f"party {min(s.parties + 1, s.parties_per_match)} of {s.parties_per_match}")
    if s.act:
        card = f" {PACK_52.symbols[s.card]}" if s.card >= 0 else ""
        facts.append(f"act of seat {s.actor}: {ACTS[s.act - 1]}{card}{', sloppily' if s.slip else ''}")
    if s.charge:
        facts.append(f"{CHARGES[s.charge - 1]}: seat {s.accuser} against seat {s.accused}")
    if s.over:
        message = f"over{': too long without a discard' if s.stalled else ''}"
    else:
        message = f"to act: seat {s.player}, {STAGES[s.stage - 1]}; turn of seat {s.turn}"
    return Scene(
        title="Shukh at the table",
        view=seat,
        places=tuple(_place(s, who, hidden) for who in range(number(s.seats))),
        player=None if s.over else int(s.player),
        message=message,
        facts=tuple(facts),
        table=tuple(Laid(int(c), int(s.place[c]) - LAID) for c in s.kon[: s.height]),
        table_label="kon, from the bottom up",
        piles=_piles(s, seat, hidden),
    )


def _unseen_by(s: Any, seat: int | None) -> np.ndarray:
    """Which cards are drawn covered, bool, shape (CARDS,)."""
    if seat is None:
        return np.zeros(CARDS, bool)
    if s.memory != PERFECT:
        if s.phase == DEAL or _knows_by_elimination(s, seat):
            return np.zeros(CARDS, bool)
        piled = (s.place >= PILE) & (s.place < PILE + SEATS)
        return ((s.place < SEATS) & (s.place != seat)) | (piled & (s.phase == DEBTS))
    hidden = (s.known >> seat) & 1 == 0
    for giver in range(number(s.seats)):
        his = hidden & (s.origin == giver)
        if len(np.unique(s.place[his])) == 1:
            hidden &= ~his  # by elimination
    return hidden


def _cards(s: Any, place: int, hidden: np.ndarray) -> tuple[int, ...]:
    there = s.place == place
    return (*by_suit(PACK_52, np.flatnonzero(there & ~hidden)), *[BACK] * int((there & hidden).sum()))


def _piles(s: Any, seat: int | None, hidden: np.ndarray) -> tuple[Pile, ...]:
    piles = []
    if s.phase == DEAL and s.drawn < s.deck:
        stock = [int(c) if seat is None else BACK for c in s.order[s.drawn : s.deck]]
        piles.append(Pile("stock", tuple(stock)))
    discarded = _cards(s, DISCARD, hidden)
    if discarded:
        piles.append(Pile("discard", discarded if seat is None else (BACK,) * len(discarded)))
    if s.unswept:
        piles.append(Pile("unswept", _cards(s, UNSWEPT, hidden)))
    return tuple(piles)


def _place(s: Any, who: int, hidden: np.ndarray) -> Place:
    marks = [word for word, seat in (("shuffler", s.shuffler), ("opener", s.opener)) if seat == who]
    if s.finish[who]:
        marks.append(f"place {s.finish[who]}")
    if s.unswept and s.closer == who:
        marks.append("closed the kon")
    if s.silent >> who & 1:
        marks.append("one card, not called")
    facts = [f"points {s.scores[who]}"] if s.episode == 1 else []
    if s.top[who] >= 0:
        facts.append(f"top {PACK_52.symbols[s.top[who]]}")
    if s.debt[who]:
        facts.append(f"penalties of the deal {s.debt[who]}")
    if s.charge:
        facts.append(f"vote {s.votes[who]}")
    if s.piled[who]:
        pile = _cards(s, PILE + who, hidden)
        known = " ".join(PACK_52.symbols[c] for c in pile if c != BACK)
        facts.append(f"pile of {len(pile)}{': ' if known else ''}{known}")
    return Place(who, _cards(s, who, hidden), tuple(marks), tuple(facts))
