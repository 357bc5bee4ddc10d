"""Tarot: three, four or five players, 78 cards, a taker against the others.

Rules with their ids (TA-1 ... TA-31): ``docs/envs/tarot.md``.  They follow an old book of games where it
speaks (announcements, play, the Excuse) and the French federation's regulations of 1 July 2012 elsewhere;
``rules="fft"`` follows the federation throughout.

Here are the rules; the state and the layouts of the encodings are in ``tarot_tables.py``, what each seat sees and how
hidden cards are dealt anew in ``tarot_sight.py``.

Seats are 0 to 4; seat ``i + 1`` sits to the right of seat ``i`` and comes after it.  A card is
``suit * 14 + rank`` with ranks 1 ... 10 J C Q K, then the trumps 1 ... 21 (56-76), then the Excuse (77).  Card
points are kept in halves, so that they are whole numbers.

Action ids (TA-24): 0-77 a card (to lay away, call, show or play: the phase decides); 78-82 bids; 83-85 poignees;
86 slam; 87 no slam.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardgym import rng
from cardgym.cards import PACK_78
from cardgym.game import Game
from cardgym.games.tarot_sight import history, observe, resample, reveal
from cardgym.games.tarot_tables import (
    ACTIONS,
    BID,
    BIDDING,
    BIDS,
    CALLING,
    CARDS,
    CHIEN,
    CHIEN_SIZE,
    CONTRE,
    ECART,
    EXCUSE,
    FACTORS,
    GARDE,
    HALF_POINTS,
    JACK,
    KING,
    LAYING,
    NO_SLAM,
    NUM_ACTIONS,
    PACKET,
    PASS,
    PETIT,
    PHASES,
    PLAIN,
    PLAY,
    PLAYED,
    POIGNEE,
    POIGNEE_NAMES,
    POIGNEE_POINTS,
    POIGNEES,
    RANKS,
    REDEALS,
    SANS,
    SEATS,
    SEED_RULES,
    SHOWING,
    SLAM,
    SLAM_QUESTION,
    STATE,
    TARGETS,
    TRICKS,
    TRUMP,
    TWENTY_ONE,
    TarotOptions,
    can_show,
    layouts_for,
    plain_to_lay,
    revealed,
)
from cardgym.kernel import helper
from cardgym.render.scene import BACK, Laid, Pile, Place, Scene, by_suit

# --- The deal --------------------------------------------------------------------------------


@helper
def deal(s):
    if s.dealer < 0:
        s.dealer = rng.below(s.rng, int(s.seats))
    s.redeals = 0
    _hand_out(s)
    while s.redeals < REDEALS and _petit_sec(s):  # TA-4
        s.redeals += 1
        if s.episode == 1:  # TA-25
            s.dealer = (s.dealer + 1) % s.seats
        _hand_out(s)
    _clear(s)
    s.leader = (s.dealer + 1) % s.seats  # TA-11
    s.player = s.leader
    if s.contract == 1:  # TA-28
        s.taker = s.player
        s.contract_bid = GARDE
        _after_auction(s)


@helper
def _hand_out(s):
    """TA-3: packets to the players in turn, single cards to the chien in between, at random moments."""
    n = int(s.seats)
    for c in range(CARDS):
        s.deck[c] = c
    rng.shuffle(s.rng, s.deck, CARDS)
    packet, singles = int(PACKET[n - 3]), int(CHIEN_SIZE[n - 3])
    steps = (CARDS - singles) // packet + singles
    seat = (s.dealer + 1) % n
    card = 0
    for step in range(steps):
        inner = steps - 1 - step  # steps left that may give to the chien, this one among them
        if 0 < step < steps - 1 and rng.below(s.rng, inner) < singles:
            s.slot[card] = CHIEN
            card += 1
            singles -= 1
        else:
            for _ in range(packet):
                s.slot[card] = seat
                card += 1
            seat = (seat + 1) % n
    for i in range(CARDS):
        s.dealt[s.deck[i]] = s.slot[i]


@helper
def _petit_sec(s):
    """TA-4: has somebody the Petit, but neither another trump nor the Excuse?"""
    owner = s.dealt[PETIT]
    company = 0
    for c in range(PETIT + 1, CARDS):
        company += s.dealt[c] == owner
    return owner != CHIEN and company == 0


@helper
def _clear(s):
    """Everything but the deal itself, as before the first decision."""
    for c in range(CARDS):
        s.place[c] = s.dealt[c]
    for seat in range(SEATS):
        s.bids[seat] = -1
        s.held[seat] = TRICKS[s.seats - 3] if seat < s.seats else 0
        s.cap[seat] = 21
    s.phase = BIDDING
    s.contract_bid = 0
    s.taker = -1
    s.called = -1
    s.chien_open = 0
    s.laid = 0
    s.laid_trumps = 0
    s.slam = 0
    s.void = 0
    s.trick = 1
    s.broken = 0
    _clear_table(s)
    s.played_in[:] = 0
    s.played_by[:] = 0
    s.winner_of[:] = -1
    s.tricks[:] = 0
    s.half_points[:] = 0
    s.excuse_wins = 0
    s.poignee[:] = 0
    s.shown_by[:] = 0
    s.show_left = 0
    s.show_below = 22
    s.no_suit[:] = 0
    s.no_called[:] = 0
    s.log_length = 0
    s.log_seat[:] = 0
    s.log_action[:] = 0
    s.log_laid = 0


@helper
def _clear_table(s):
    s.lead_suit = -1
    s.on_table = 0
    s.best_trump = 0
    s.best_card = -1
    s.best_seat = -1
    s.trick_points = 0


# --- Legal actions ---------------------------------------------------------------------------


@helper
def legal(s, mask):
    for a in range(NUM_ACTIONS):
        mask[a] = 0
    if s.over:
        return
    if s.phase == PLAY:
        _legal_play(s, mask)
    elif s.phase == BIDDING:  # TA-6
        mask[BID + PASS] = 1
        for bid in range(s.contract_bid + 1, len(BIDS)):
            mask[BID + bid] = 1
    elif s.phase == LAYING:
        _legal_laying(s, mask)
    elif s.phase == SHOWING:
        _legal_showing(s, mask)
    elif s.phase == CALLING:
        _legal_calls(s, mask)
    else:  # TA-9
        mask[SLAM] = 1
        mask[NO_SLAM] = 1


@helper
def _legal_calls(s, mask):
    """TA-31: a king; who holds all four cards of a rank may call the rank below too."""
    for rank in range(KING, JACK - 1, -1):
        held = 0
        for suit in range(4):
            card = suit * RANKS + rank
            mask[card] = 1
            held += s.place[card] == s.taker
        if held < 4:
            return


@helper
def _legal_laying(s, mask):
    size = int(CHIEN_SIZE[s.seats - 3])
    plain = int(s.laid) - int(s.laid_trumps)
    for c in range(PLAIN):
        mask[c] = s.place[c] == s.taker and plain_to_lay(s, c)
        plain += mask[c]
    if s.laid_trumps < size - plain:
        for c in range(PETIT + 1, TWENTY_ONE):
            mask[c] = s.place[c] == s.taker


@helper
def _legal_showing(s, mask):
    """TA-10: in descending rank, so that enough remain; the Excuse last, if it is needed at all."""
    seat = s.player
    needed = int(POIGNEES[s.seats - 3, s.poignee[seat] - 1])
    trumps = 0
    for rank in range(1, 22):
        trumps += can_show(s, seat, TRUMP + rank)
    left = int(s.show_left)
    if trumps < needed:
        left -= 1
        mask[EXCUSE] = left == 0
    below = 0
    for rank in range(1, s.show_below):
        if can_show(s, seat, TRUMP + rank):
            below += 1
            mask[TRUMP + rank] = 0 < left <= below


@helper
def _legal_play(s, mask):
    """TA-12 ... TA-14, TA-31: cards of the player's hand that may be played now; at his first turn, poignees too."""
    place, seat = s.place, s.player
    for c in range(CARDS):
        mask[c] = place[c] == seat
    if s.on_table == 0:
        _limit_lead(s, mask)
    elif s.lead_suit >= 0:  # else the Excuse was led: any card
        if s.lead_suit == 4 or not _any(mask, s.lead_suit * RANKS, (s.lead_suit + 1) * RANKS):
            _limit_to_trumps(s, mask)
        else:
            _keep(mask, s.lead_suit * RANKS, (s.lead_suit + 1) * RANKS)
        mask[EXCUSE] = place[EXCUSE] == seat
    if s.trick == 1 and s.poignee[seat] == 0:
        _legal_poignees(s, mask)


@helper
def _limit_lead(s, mask):
    if s.trick == 1 and s.called >= 0:
        start = s.called // RANKS * RANKS
        for c in range(start, start + RANKS):
            if c != s.called:
                mask[c] = 0
    if s.rules == SEED_RULES and not s.broken and _any(mask, 0, PLAIN):
        for c in range(PETIT, EXCUSE):
            mask[c] = 0


@helper
def _limit_to_trumps(s, mask):
    """TA-13a: a trump above the best one of the trick, else any trump, else any card."""
    if _any(mask, PETIT + s.best_trump, EXCUSE):
        _keep(mask, PETIT + s.best_trump, EXCUSE)
    elif _any(mask, PETIT, EXCUSE):
        _keep(mask, PETIT, EXCUSE)


@helper
def _any(mask, start, end):
    found = 0
    for c in range(start, end):
        found |= mask[c]
    return found != 0


@helper
def _keep(mask, start, end):
    for c in range(start):
        mask[c] = 0
    for c in range(end, CARDS):
        mask[c] = 0


@helper
def _legal_poignees(s, mask):
    seat = s.player
    trumps = 0
    for c in range(PETIT, EXCUSE):
        trumps += s.place[c] == seat
    for kind in range(3):
        if kind == 2 and s.taker == seat:
            trumps += s.laid_trumps
        missing = int(POIGNEES[s.seats - 3, kind]) - trumps
        mask[POIGNEE + kind] = missing <= 0 or (missing == 1 and s.place[EXCUSE] == seat)


# --- One decision ----------------------------------------------------------------------------


@helper
def apply(s, action):
    s.moves += 1
    s.log_seat[s.log_length] = s.player
    s.log_action[s.log_length] = action
    s.log_length += 1
    if s.phase == PLAY:
        if action < BID:
            _play(s, action)
        else:
            _announce(s, action - POIGNEE)
    elif s.phase == BIDDING:
        _bid(s, action - BID)
    elif s.phase == LAYING:
        _lay_away(s, action)
    elif s.phase == SHOWING:
        _show(s, action)
    elif s.phase == CALLING:
        s.called = action
        _open_chien(s)
    else:
        _answer_slam(s, action)


@helper
def _bid(s, bid):
    s.bids[s.player] = bid
    if bid > PASS:
        s.contract_bid = bid
        s.taker = s.player
    if bid < CONTRE and s.player != s.dealer:
        s.player = (s.player + 1) % s.seats
    elif s.taker >= 0:
        _after_auction(s)
    else:  # TA-6: nobody wants to take
        s.void = 1
        _finish_deal(s)


@helper
def _after_auction(s):
    s.player = s.taker
    if s.seats == 5:  # TA-31
        s.phase = CALLING
    else:
        _open_chien(s)


@helper
def _open_chien(s):
    """TA-7, TA-8: shown and taken in hand, unless the contract leaves it where it is."""
    if s.contract_bid >= SANS:
        s.phase = SLAM_QUESTION
        return
    s.chien_open = 1
    s.phase = LAYING
    s.log_laid = s.log_length
    for c in range(CARDS):
        if s.place[c] == CHIEN:
            s.place[c] = s.taker
    s.held[s.taker] += CHIEN_SIZE[s.seats - 3]


@helper
def _lay_away(s, card):
    s.place[card] = ECART
    s.held[s.taker] -= 1
    s.laid += 1
    s.laid_trumps += card >= PLAIN
    if s.laid == CHIEN_SIZE[s.seats - 3]:
        s.phase = SLAM_QUESTION


@helper
def _answer_slam(s, action):
    s.slam = 1 if action == SLAM else 2
    s.phase = PLAY
    if action == SLAM and s.rules != SEED_RULES:  # TA-9
        s.leader = s.taker
    s.player = s.leader


@helper
def _announce(s, kind):
    s.poignee[s.player] = kind + 1
    s.show_left = POIGNEES[s.seats - 3, kind]
    s.show_below = 22
    s.phase = SHOWING


@helper
def _show(s, card):
    s.shown_by[card] = s.player + 1
    s.show_below = card - TRUMP
    s.show_left -= 1
    if s.show_left == 0:
        s.phase = PLAY


@helper
def _play(s, card):
    seat = s.player
    _prove(s, seat, card)
    s.place[card] = PLAYED
    s.played_in[card] = s.trick
    s.played_by[card] = seat + 1
    s.held[seat] -= 1
    s.on_table += 1
    if card != EXCUSE:
        s.trick_points += HALF_POINTS[card]
        _enter(s, seat, card)
    if s.on_table == s.seats:
        _complete_trick(s)
    else:
        s.player = (seat + 1) % s.seats


@helper
def _prove(s, seat, card):
    """TA-23: what this card tells of the hand that it comes from."""
    if card == EXCUSE:
        return
    lead = s.lead_suit
    if s.on_table == 0 and card >= PLAIN and not s.broken and s.rules == SEED_RULES:
        for suit in range(4):  # TA-12: he has nothing else to lead
            s.no_suit[seat, suit] = 1
        if s.trick == 1 and s.called >= 0:  # TA-31: unless of the called suit
            s.no_suit[seat, s.called // RANKS] = 0
            s.no_called[seat] = 1
    if lead < 0 or (lead < 4 and card // RANKS == lead):
        return
    if lead < 4:
        s.no_suit[seat, lead] = 1
    if card < PLAIN:
        s.cap[seat] = 0
    elif card - TRUMP < s.best_trump:
        s.cap[seat] = min(s.cap[seat], s.best_trump)


@helper
def _enter(s, seat, card):
    """TA-13: the card enters the trick; does it win so far?"""
    suit = min(card // RANKS, 4)
    if s.lead_suit < 0:
        s.lead_suit = suit
    if suit == 4:
        s.broken = 1
        wins = card - TRUMP > s.best_trump
        s.best_trump = max(int(s.best_trump), card - TRUMP)
    else:
        wins = suit == s.lead_suit and s.best_trump == 0 and card > s.best_card
    if wins:
        s.best_card = card
        s.best_seat = seat


@helper
def _complete_trick(s):
    winner = s.best_seat
    last = s.trick == TRICKS[s.seats - 3]
    if s.played_in[EXCUSE] == s.trick:
        owner = s.played_by[EXCUSE] - 1
        if last and owner == s.leader and _tricks_of(s, _with_taker(s, owner)) == s.trick - 1:  # TA-14
            winner = owner
            s.excuse_wins = 1
        s.half_points[winner if last else owner] += HALF_POINTS[EXCUSE]  # TA-15, TA-16
    s.half_points[winner] += s.trick_points
    s.tricks[winner] += 1
    s.winner_of[s.trick] = winner
    if last:
        _finish_deal(s)
    else:
        s.trick += 1
        s.leader = winner
        s.player = winner
        _clear_table(s)


@helper
def _with_taker(s, seat):
    """Is the seat of the taker's side?  Asked at the end of a deal, when no partner is secret any more."""
    return seat == s.taker or (s.called >= 0 and s.dealt[s.called] == seat)


@helper
def _tricks_of(s, takers):
    """Tricks won by the taker's side, or by the others."""
    won = 0
    for seat in range(s.seats):
        if _with_taker(s, seat) == takers:
            won += s.tricks[seat]
    return won


# --- The end of a deal and the match ---------------------------------------------------------


@helper
def _finish_deal(s):
    n = int(s.seats)
    s.deals += 1
    s.last_taker = s.taker
    s.last_contract = s.contract_bid
    s.last_partner = -1
    s.last_points = 0
    s.last_oudlers = 0
    s.last_scores[:] = 0
    if not s.void:
        _score(s)
    for seat in range(n):
        s.scores[seat] += s.last_scores[seat]
        s.rewards[seat] += s.reward_scale * s.last_scores[seat]
    deals = s.deals_per_match if s.deals_per_match > 0 else 4 * n
    if s.episode == 0 or s.deals == deals:  # the last deal stays as it was, for its encodings
        s.over = 1
        return
    s.dealer = (s.dealer + 1) % n  # TA-5
    deal(s)


@helper
def _score(s):
    """TA-20, TA-21: each defender pays, or gets, the same; the taker's side the rest."""
    n = int(s.seats)
    for seat in range(n):
        if seat != s.taker and _with_taker(s, seat):
            s.last_partner = seat
    s.last_points = _taker_half_points(s)
    s.last_oudlers = _taker_oudlers(s)
    each = _score_against_each(s)
    for seat in range(n):
        if seat != s.taker:
            s.last_scores[seat] = each if seat == s.last_partner else -each
            s.last_scores[s.taker] -= s.last_scores[seat]


@helper
def _taker_half_points(s):
    points = 0
    for seat in range(s.seats):
        if _with_taker(s, seat):
            points += s.half_points[seat]
    for c in range(CARDS):  # TA-7, TA-8
        if s.place[c] == ECART or (s.place[c] == CHIEN and s.contract_bid == SANS):
            points += HALF_POINTS[c]
    trick = s.played_in[EXCUSE]
    if 0 < trick < TRICKS[s.seats - 3]:  # TA-15, TA-18: a half point goes back for the Excuse
        points += int(_with_taker(s, s.winner_of[trick])) - int(_with_taker(s, s.played_by[EXCUSE] - 1))
    return points


@helper
def _taker_oudlers(s):
    return _taker_has(s, PETIT) + _taker_has(s, TWENTY_ONE) + _taker_has(s, EXCUSE)


@helper
def _taker_has(s, card):
    """TA-15, TA-16: is an oudler the taker's at the end, 1 or 0?"""
    trick = s.played_in[card]
    if trick == 0:
        return int(s.contract_bid == SANS)  # it lies in the chien
    if card == EXCUSE and trick < TRICKS[s.seats - 3]:
        return int(_with_taker(s, s.played_by[card] - 1))
    return int(_with_taker(s, s.winner_of[trick]))


@helper
def _score_against_each(s):
    """TA-20: what a defender pays; negative if the taker pays him."""
    difference = int(s.last_points) - 2 * int(TARGETS[s.last_oudlers])
    made = difference >= 0
    factor = int(FACTORS[s.contract_bid])
    poignees = 0
    for seat in range(s.seats):
        poignees += int(POIGNEE_POINTS[s.poignee[seat]])
    base = (25 + (abs(difference) + 1) // 2) * factor + poignees  # TA-30: half points away from the target
    petit = 10 * _petit_au_bout(s) * (1 if s.rules == SEED_RULES else factor)
    return (base if made else -base) + petit + _slam_points(s)


@helper
def _petit_au_bout(s):
    """TA-17, TA-14: 1 for the taker's side, -1 for the others, 0 if nobody."""
    last = int(TRICKS[s.seats - 3])
    trick = int(s.played_in[PETIT])
    if trick == last or (s.excuse_wins and trick == last - 1):
        return 1 if _with_taker(s, s.winner_of[last]) else -1
    return 0


@helper
def _slam_points(s):
    """TA-9."""
    tricks = TRICKS[s.seats - 3]
    won = _tricks_of(s, True)
    points = 0
    if won == tricks:
        points = 400 if s.slam == 1 else 200
    elif s.slam == 1:
        points = -200
    return points - 200 if won == 0 else points


# --- For people ------------------------------------------------------------------------------


def scene(s: Any, seat: int | None) -> Scene:
    """The table: what ``seat`` sees, or everything."""
    n, tricks = int(s.seats), int(TRICKS[s.seats - 3])
    facts = [f"trick {s.trick} of {tricks}", _contract(s)]
    if s.slam == 1:
        facts.append("slam declared")
    if s.episode == 1:
        facts.append(f"deal {s.deals + (not s.over)}")
    done = int(np.count_nonzero(s.winner_of >= 0))
    return Scene(
        title="Tarot",
        view=seat,
        places=tuple(_place(s, who, seat) for who in range(n)),
        player=None if s.over else int(s.player),
        message=_message(s),
        facts=tuple(facts),
        table=_trick(s, int(s.trick), int(s.leader)) if done < s.trick else (),
        last=_trick(s, done, int(s.winner_of[done - 1]) if done > 1 else _first_leader(s)) if done else (),
        last_label=f"last trick, to seat {s.winner_of[done]}",
        piles=_piles(s, seat),
        clockwise=False,
    )


def _message(s: Any) -> str:
    if not s.over:
        return f"to act: seat {s.player} ({PHASES[s.phase]})"
    if s.void:
        return "over: all have passed"
    partner = f" with seat {s.last_partner}" if s.last_partner >= 0 else ""
    return f"over: seat {s.taker}{partner} has {s.last_points / 2:g} points with {s.last_oudlers} oudlers"


def _contract(s: Any) -> str:
    if s.contract_bid == 0:
        return "no bid yet"
    called = f", calling {PACK_78.symbols[s.called]}" if s.called >= 0 else ""
    return f"{BIDS[s.contract_bid]} by seat {s.taker}{called}"


def _place(s: Any, who: int, seat: int | None) -> Place:
    held = [int(c) for c in np.flatnonzero(s.place == who)]
    known = held if seat in (None, who) else [c for c in held if s.shown_by[c] or (s.chien_open and _stays(s, c))]
    marks = ["dealer"] if s.dealer == who else []
    if s.bids[who] >= 0:
        marks.append(BIDS[s.bids[who]])
    if s.poignee[who] > 0:
        marks.append(f"{POIGNEE_NAMES[s.poignee[who] - 1]} poignee")
    facts = [f"tricks {s.tricks[who]}", f"points {s.half_points[who] / 2:g}"]
    if s.over or s.episode == 1:
        facts.append(f"score {s.scores[who]}")
    return Place(who, (*by_suit(PACK_78, known), *[BACK] * (len(held) - len(known))), tuple(marks), tuple(facts))


def _stays(s: Any, card: int) -> bool:
    """A card from the shown chien that the taker cannot lay away secretly."""
    return bool(s.dealt[card] == CHIEN) and (card >= PLAIN or card % RANKS == KING or card == s.called)


def _first_leader(s: Any) -> int:
    declared = s.slam == 1 and s.rules != SEED_RULES  # TA-9
    return int(s.taker) if declared else (int(s.dealer) + 1) % int(s.seats)


def _trick(s: Any, trick: int, leader: int) -> tuple[Laid, ...]:
    cards = [(int(s.played_by[c]) - 1, int(c)) for c in np.flatnonzero(s.played_in == trick)]
    return tuple(Laid(c, who) for who, c in sorted(cards, key=lambda x: (x[0] - leader) % int(s.seats)))


def _piles(s: Any, seat: int | None) -> tuple[Pile, ...]:
    chien = by_suit(PACK_78, np.flatnonzero(s.dealt == CHIEN))
    if not (s.chien_open or seat is None or revealed(s)):
        chien = (BACK,) * len(chien)
    laid = by_suit(PACK_78, np.flatnonzero(s.place == ECART))
    if not (seat in (None, s.taker) or revealed(s)):
        laid = tuple(c for c in laid if c >= PLAIN)
    piles = [Pile("chien", chien)]
    if s.laid:
        piles.append(Pile("laid away", (*laid, *[BACK] * (int(s.laid) - len(laid)))))
    return tuple(piles)


def info(s: Any) -> dict[str, Any]:
    """Natural result of the last finished deal, and of the match."""
    taken = s.last_contract > 0
    facts: dict[str, Any] = {
        "void": not taken,
        "taker": int(s.last_taker) if taken else -1,
        "partner": int(s.last_partner),
        "contract": BIDS[s.last_contract] if taken else "none",
        "points": float(s.last_points) / 2,
        "oudlers": int(s.last_oudlers),
        "deal_scores": s.last_scores[: s.seats].tolist(),
    }
    if s.episode == 1:
        facts["deals"] = int(s.deals)
    return facts


def role(s: Any, seat: int) -> str:
    """What the seat was in a finished deal: ``"taker garde"``, ``"partner prise"``, ..., or ``"passed"``."""
    if s.episode == 1:
        return "match"
    if s.last_contract == 0:
        return "passed"
    side = "taker" if seat == s.last_taker else "partner" if seat == s.last_partner else "defender"
    return f"{side} {BIDS[s.last_contract]}"


GAME = Game(
    name="tarot",
    title="Tarot",
    pack=PACK_78,
    actions=ACTIONS,
    options=TarotOptions,
    dtype=STATE,
    layouts=lambda options: layouts_for(options.players),  # type: ignore[attr-defined]
    seats=lambda options: options.players,  # type: ignore[attr-defined]
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
    suit_order=("hand",),
    moved_card=PACK_78.in_suit_order,
    role=role,
)
