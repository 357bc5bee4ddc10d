"""What the seats of Tarot know: the encodings, and hidden cards dealt anew.

Rules stand in ``tarot.py``, the state and the layouts of the encodings in ``tarot_tables.py``.  Nothing here changes a
game but :func:`resample`, which deals hidden cards among the places where, for all that a seat knows (TA-23), they
may lie.
"""

from __future__ import annotations

import numpy as np

from cardgym import rng
from cardgym.games.tarot_tables import (
    CARDS,
    CHIEN,
    CHIEN_SIZE,
    ECART,
    EXCUSE,
    H_ACTION,
    H_ACTOR,
    H_CHIEN,
    H_DEALER,
    H_DEALS,
    H_DEALT,
    H_ECART,
    HIST_AT,
    LAYING,
    LOG,
    O_ALONE,
    O_BIDS,
    O_BROKEN,
    O_CALLED,
    O_CAP,
    O_CHIEN,
    O_CONTRACT,
    O_DEALER,
    O_DEALS,
    O_ECART,
    O_HAND,
    O_LAID,
    O_LEADER,
    O_MAY_HOLD,
    O_NO_SUIT,
    O_PARTNER,
    O_PHASE,
    O_PLAYED,
    O_POIGNEE,
    O_POINTS,
    O_SCORES,
    O_SHOWN,
    O_SLAM,
    O_SUIT_LED,
    O_TABLE,
    O_TAKER,
    O_TO_ACT,
    O_TRICK,
    O_TRICKS,
    O_TRUMP_LED,
    O_WINNER,
    O_WINNING,
    OBS_AT,
    OBS_SIZE,
    PETIT,
    PLAIN,
    PLAYED,
    RANKS,
    REDEALS,
    S_CHIEN,
    S_ECART,
    S_HANDS,
    SHOWING,
    STATE_AT,
    TRUMP,
    can_show,
    plain_to_lay,
    revealed,
    seat_after,
    seats_between,
)
from cardgym.kernel import helper

# --- Encodings -------------------------------------------------------------------------------


@helper
def observe(s, seat, out):
    at = OBS_AT[s.seats - 3]
    for i in range(at[O_HAND]):
        out[i] = 0
    out[at[O_SUIT_LED] : OBS_SIZE[s.seats - 3]] = 0
    _observe_cards(s, seat, out)
    _observe_seats(s, seat, out)
    _observe_trick(s, seat, out)
    _observe_words(s, seat, out)
    if s.called >= 0:
        _observe_call(s, seat, out)


@helper
def _plane(out, start):
    """The part of an encoding that has a number for every card; indices into it are provably in range, so loops
    over it become vector code."""
    return out[start : start + CARDS]


@helper
def _mark(plane, values, value):
    """Which cards have the value.

    A loop over 78 cards would end with 14 of them one by one; two loops of 64 that overlap take a third of the time.
    """
    value = np.int8(value)
    for c in range(64):
        plane[c] = values[c] == value
    for c in range(CARDS - 64, CARDS):
        plane[c] = values[c] == value


@helper
def _observe_cards(s, seat, out):
    at = OBS_AT[s.seats - 3]
    n = int(s.seats)
    _mark(_plane(out, at[O_HAND]), s.place, seat)
    _write_chien_and_ecart(s, seat, _plane(out, at[O_CHIEN]), _plane(out, at[O_ECART]))
    _mark(_plane(out, at[O_TABLE]), s.played_in, s.trick if s.over == 0 else 127)
    _write_shown(s, _plane(out, at[O_SHOWN]))
    for i in range(1, n):
        _write_may_hold(s, seat, seat_after(seat, i, n), _plane(out, at[O_MAY_HOLD] + (i - 1) * CARDS))
    for i in range(n):
        _write_played(s, seat_after(seat, i, n), _plane(out, at[O_PLAYED] + i * CARDS))


@helper
def _write_chien_and_ecart(s, seat, chien, ecart):
    _mark(chien, s.dealt, CHIEN if s.chien_open or revealed(s) else -1)
    _mark(ecart, s.place, ECART)  # TA-7: trumps are shown
    if s.taker != seat and not revealed(s):
        ecart[:PLAIN] = 0


@helper
def _write_shown(s, plane):
    shown_by = s.shown_by
    for c in range(64):
        plane[c] = shown_by[c] != 0
    for c in range(CARDS - 64, CARDS):
        plane[c] = shown_by[c] != 0


@helper
def _write_played(s, who, plane):
    """The trick in which ``who`` played each card."""
    played_in, played_by, code = s.played_in, s.played_by, np.int8(who + 1)
    for c in range(64):
        plane[c] = played_in[c] if played_by[c] == code else 0
    for c in range(CARDS - 64, CARDS):
        plane[c] = played_in[c] if played_by[c] == code else 0


@helper
def _write_may_hold(s, seat, other, plane):
    """TA-23: cards that ``other`` may hold for all that ``seat`` knows.

    Depends on where a card lies only so far as ``seat`` can tell its place.
    """
    place, dealt = s.place, s.dealt
    if s.held[other] == 0:
        plane[:] = 0
        return
    seat = np.int8(seat)
    hidden = np.int8(CHIEN if s.taker == seat else ECART)  # the last place out of the seat's sight
    shown = np.int8(CHIEN if s.chien_open and other != s.taker else 127)  # who else was dealt a card of the open chien?
    for c in range(64):
        plane[c] = (place[c] <= hidden) & (place[c] != seat) & (dealt[c] != shown)
    for c in range(CARDS - 64, CARDS):
        plane[c] = (place[c] <= hidden) & (place[c] != seat) & (dealt[c] != shown)
    for suit in range(4):
        if s.no_suit[other, suit]:
            for c in range(suit * RANKS, (suit + 1) * RANKS):
                plane[c] = 0
    for c in range(PETIT + s.cap[other], EXCUSE):
        plane[c] = 0
    if s.laid_trumps > 0:
        _limit_by_ecart(s, other, plane)
    if s.poignee[0] + s.poignee[1] + s.poignee[2] + s.poignee[3] + s.poignee[4] > 0:
        _limit_by_poignees(s, other, plane)
    if s.called >= 0:
        _limit_by_call(s, other, plane)


@helper
def _limit_by_ecart(s, other, plane):
    """TA-7: trumps laid away are seen; they tell that all plain cards that could go went."""
    for c in range(PLAIN, CARDS):
        plane[c] &= s.place[c] != ECART
    if other == s.taker and s.phase != LAYING:
        for c in range(PLAIN):
            plane[c] &= not plain_to_lay(s, c)


@helper
def _limit_by_poignees(s, other, plane):
    """TA-10: shown cards are where they were shown; who shows the Excuse has no other trumps."""
    for c in range(PLAIN, CARDS):
        plane[c] &= (s.shown_by[c] == 0) | (s.shown_by[c] == other + 1)
    if s.shown_by[EXCUSE] == other + 1:
        for c in range(PLAIN, EXCUSE):
            plane[c] &= s.shown_by[c] == other + 1


@helper
def _limit_by_call(s, other, plane):
    """TA-31: who calls a rank below the kings was dealt all cards of the ranks above it."""
    if other != s.taker:
        for suit in range(4):
            for rank in range(s.called % RANKS + 1, RANKS):
                plane[suit * RANKS + rank] = 0
    if s.no_called[other]:
        plane[s.called] = 0


@helper
def _observe_seats(s, seat, out):
    at = OBS_AT[s.seats - 3]
    n = int(s.seats)
    for i in range(n):
        who = seat_after(seat, i, n)
        out[at[O_TO_ACT] + i] = s.player == who and not s.over
        out[at[O_DEALER] + i] = s.dealer == who
        out[at[O_LEADER] + i] = s.leader == who
        out[at[O_WINNING] + i] = s.best_seat == who and not s.over
        out[at[O_TAKER] + i] = s.taker == who
        if s.bids[who] >= 0:
            out[at[O_BIDS] + i * 5 + s.bids[who]] = 1
        if s.poignee[who] > 0:
            out[at[O_POIGNEE] + i * 3 + s.poignee[who] - 1] = 1
        for suit in range(4):
            out[at[O_NO_SUIT] + i * 4 + suit] = s.no_suit[who, suit]
        out[at[O_CAP] + i] = s.cap[who]
        out[at[O_TRICKS] + i] = s.tricks[who]
        out[at[O_POINTS] + i] = s.half_points[who] >> 1
        _write_score(out, at[O_SCORES] + i * 3, int(s.scores[who]))


@helper
def _write_score(out, at, score):
    """In three parts of one sign."""
    if score != 0:
        sign = 1 if score > 0 else -1
        score = abs(score)
        out[at] = sign * (score // 10_000)
        out[at + 1] = sign * (score // 100 % 100)
        out[at + 2] = sign * (score % 100)


@helper
def _observe_trick(s, seat, out):
    at = OBS_AT[s.seats - 3]
    n = int(s.seats)
    out[at[O_TRICK] + s.trick - 1] = 1
    if s.lead_suit == 4:
        out[at[O_TRUMP_LED]] = 1
    elif s.lead_suit >= 0:
        out[at[O_SUIT_LED] + s.lead_suit] = 1
    out[at[O_BROKEN]] = s.broken
    start = at[O_WINNER] - n
    for trick in range(1, s.trick + 1):
        if s.winner_of[trick] >= 0:
            out[start + trick * n + seats_between(seat, s.winner_of[trick], n)] = 1


@helper
def _observe_words(s, seat, out):
    at = OBS_AT[s.seats - 3]
    out[at[O_PHASE] + s.phase] = 1
    if s.contract_bid > 0:
        out[at[O_CONTRACT] + s.contract_bid - 1] = 1
    out[at[O_LAID]] = s.laid
    if s.slam > 0:
        out[at[O_SLAM] + s.slam - 1] = 1
    out[at[O_DEALS]] = s.deals
    out[at[O_DEALS] + 1] = s.redeals


@helper
def _observe_call(s, seat, out):
    at = OBS_AT[s.seats - 3]
    out[at[O_CALLED] + s.called] = 1
    holder = int(s.dealt[s.called])
    in_chien = s.chien_open and holder == CHIEN
    if s.played_in[s.called] > 0 or in_chien or revealed(s):
        if holder == CHIEN or holder == s.taker:
            out[at[O_ALONE]] = 1
        else:
            out[at[O_PARTNER] + seats_between(seat, holder, 5)] = 1


@helper
def history(s, seat, out):
    at = HIST_AT[s.seats - 3]
    n = int(s.seats)
    for i in range(at[H_ACTION] + LOG):
        out[i] = 0
    out[at[H_DEALER] + seats_between(seat, s.dealer, n)] = 1
    out[at[H_DEALS]] = s.deals
    out[at[H_DEALS] + 1] = s.redeals
    for c in range(CARDS):
        out[at[H_DEALT] + c] = s.dealt[c] == seat
    _write_chien_and_ecart(s, seat, _plane(out, at[H_CHIEN]), _plane(out, at[H_ECART]))
    entry = 0
    for i in range(s.log_length):
        if s.taker == seat or not _secretly_laid(s, i):  # TA-22
            out[at[H_ACTOR] + entry] = 1 + seats_between(seat, s.log_seat[i], n)
            out[at[H_ACTION] + entry] = s.log_action[i] + 1
            entry += 1


@helper
def _secretly_laid(s, i):
    """Is decision ``i`` of the log a plain card laid away?"""
    return s.chien_open and s.log_laid <= i < s.log_laid + s.laid and s.log_action[i] < PLAIN


@helper
def reveal(s, out):
    seat = s.player
    observe(s, seat, out)
    at = STATE_AT[s.seats - 3]
    n = int(s.seats)
    place, dealt = s.place, s.dealt
    for i in range(1, n):
        hand = _plane(out, at[S_HANDS] + (i - 1) * CARDS)
        who = seat_after(seat, i, n)
        for c in range(CARDS):
            hand[c] = place[c] == who
    chien, ecart = _plane(out, at[S_CHIEN]), _plane(out, at[S_ECART])
    for c in range(CARDS):
        chien[c] = dealt[c] == CHIEN
    for c in range(CARDS):
        ecart[c] = place[c] == ECART


# --- Hidden cards anew -----------------------------------------------------------------------


@helper
def resample(s, seat, salt):
    """Deals the cards that ``seat`` cannot place among the hands, and chien or ecart, that they may lie in (TA-23).

    Zones are the others' hands in order of play, then the hidden chien or ecart, then a part of one hand that a
    proven number of certain cards must fill.  Cards are dealt in random order, each to a zone that may hold it, drawn
    by the room left there, and only where the rest can still be dealt: by Hall's theorem that is so when, for every
    set of zones, the cards that can go nowhere else fit in.  ``w_slack`` keeps the room left over for every set.
    Without proofs all deals are equally likely; with proofs every possible one can come.
    """
    rng.scramble(s.rng, salt)
    if revealed(s):
        return
    by_excuse = rng.below(salt, 2) == 1
    zones = _open_zones(s, seat, by_excuse)
    _shuffle(s, salt)
    if zones == 0 or not _deal_petit(s, seat, zones, salt):  # the shown poignee must be of the other kind
        zones = _open_zones(s, seat, not by_excuse)
        _shuffle(s, salt)
        _deal_petit(s, seat, zones, salt)
    for i in range(CARDS):
        card = int(s.w_cards[i])
        if s.w_zones[card] != 0:
            _put(s, seat, zones, card, _draw_zone(s, zones, card, int(s.w_zones[card]), salt))
    _rewrite_log(s, seat)
    _rewrite_deck(s)
    s.w_zones[:] = 0
    s.w_cards[:] = 0
    s.w_slack[:] = 0
    s.w_room[:] = 0


@helper
def _open_zones(s, seat, by_excuse):
    """Room of the zones and, in bits, the zones of every hidden card; returns the number of zones, 0 if impossible."""
    n = int(s.seats)
    s.w_zones[:] = 0
    for i in range(1, n):
        _write_may_hold(s, seat, seat_after(seat, i, n), s.w_cards)
        s.w_room[i - 1] = s.held[seat_after(seat, i, n)]
        for c in range(CARDS):
            s.w_zones[c] |= s.w_cards[c] << (i - 1)
    s.w_room[n - 1] = _write_may_lie(s, seat, s.w_cards)
    for c in range(CARDS):
        s.w_zones[c] |= s.w_cards[c] << (n - 1)
    zones = n
    if s.phase == SHOWING and s.player != seat:
        zones = n + 1 if _split_shower(s, seat, by_excuse) else 0
    elif s.phase == LAYING and s.taker != seat and s.laid_trumps > 0:
        _split_layer(s, seat)
        zones = n + 1
    return zones if zones > 0 and _fill_slack(s, zones) else 0


@helper
def _write_may_lie(s, seat, out):
    """Cards that may lie in the chien while it is closed, then in the ecart; returns how many hidden ones lie there."""
    for c in range(CARDS):
        out[c] = 0
    if s.chien_open == 0:
        for c in range(CARDS):
            out[c] = s.place[c] <= CHIEN and s.place[c] != seat and s.shown_by[c] == 0
        if s.called >= 0:  # TA-31: the taker was dealt the ranks above
            for c in range(PLAIN):
                if c % RANKS > s.called % RANKS:
                    out[c] = 0
        return CHIEN_SIZE[s.seats - 3]
    if s.taker == seat:
        return 0
    for c in range(PLAIN):
        out[c] = s.place[c] <= ECART and s.place[c] != seat and plain_to_lay(s, c)
    return s.laid - s.laid_trumps


@helper
def _split_shower(s, seat, by_excuse):
    """TA-10: after the word the hand holds enough trumps below the last one shown; or (``by_excuse``) one fewer, the
    Excuse and no other trumps.  Returns whether that is possible."""
    n = int(s.seats)
    zone = seats_between(seat, s.player, n) - 1
    own, part = 1 << zone, 1 << n
    needed = int(s.show_left) - int(by_excuse)
    for rank in range(1, 22):
        card = TRUMP + rank
        zones = int(s.w_zones[card])
        if s.place[card] == ECART and s.shown_by[card] == 0 and can_show(s, s.player, card):
            needed -= rank < s.show_below
            if by_excuse and rank > s.show_below:
                return False
        if zones & own == 0 or s.shown_by[card] != 0:
            continue
        if rank < s.show_below:
            zones |= part
        if by_excuse:
            zones &= ~own
        s.w_zones[card] = zones
        if zones == 0:
            return False
    if by_excuse:
        if s.w_zones[EXCUSE] & own == 0 or needed < 0:
            return False
        s.w_zones[EXCUSE] = own
    needed = max(needed, 0)
    s.w_room[zone] -= needed
    s.w_room[n] = needed
    return s.w_room[zone] >= 0


@helper
def _split_layer(s, seat):
    """TA-7: a trump laid away tells that all plain cards go; so no more of them are in hand than will still go."""
    n = int(s.seats)
    zone = seats_between(seat, s.taker, n) - 1
    for c in range(CARDS):
        if (s.w_zones[c] >> zone) & 1 and not plain_to_lay(s, c):
            s.w_zones[c] |= 1 << n
    kept = int(s.held[s.taker]) - (int(CHIEN_SIZE[n - 3]) - int(s.laid))
    s.w_room[zone] -= kept
    s.w_room[n] = kept


@helper
def _fill_slack(s, zones):
    """Room less the cards that can go nowhere else, for every set of zones; false if it is too small for one."""
    slack = s.w_slack
    slack[:] = 0
    for c in range(CARDS):
        if s.w_zones[c] != 0:
            slack[s.w_zones[c]] -= 1
    for zone in range(zones):
        for subset in range(1 << zones):
            if (subset >> zone) & 1:
                slack[subset] += slack[subset ^ (1 << zone)]
    enough = True
    for subset in range(1 << zones):
        for zone in range(zones):
            if (subset >> zone) & 1:
                slack[subset] += s.w_room[zone]
        enough = enough and slack[subset] >= 0
    return enough


@helper
def _fits(s, zones, card, zone):
    """Can all other cards still be dealt when this one goes there?"""
    own = int(s.w_zones[card])
    full = 0  # sets of zones in which it would take another card's place
    for subset in range(1 << zones):
        full += (subset >> zone) & 1 and own & ~subset and s.w_slack[subset] < 1
    return full == 0


@helper
def _draw_zone(s, zones, card, among, salt):
    """One of the zones ``among`` (bits) in which the card fits, by their room; -1 if there is none."""
    total = 0
    fitting = 0
    for zone in range(zones):
        if (among >> zone) & 1 and _fits(s, zones, card, zone):
            fitting |= 1 << zone
            total += int(s.w_room[zone])
    if total == 0:
        return -1
    left = rng.below(salt, total)
    for zone in range(zones):
        if (fitting >> zone) & 1:
            left -= int(s.w_room[zone])
            if left < 0:
                return zone
    return -1


@helper
def _take_room(s, zones, own, zone, by):
    """A card that may lie in the zones ``own`` takes (1) or gives back (-1) a place in ``zone``."""
    s.w_room[zone] -= by
    for subset in range(1 << zones):
        if (subset >> zone) & 1 and own & ~subset:
            s.w_slack[subset] -= by


@helper
def _destination(s, seat, zone):
    """The place that a zone stands for."""
    n = int(s.seats)
    if zone < n - 1:
        return seat_after(seat, 1 + zone, n)
    if zone == n - 1:
        return ECART if s.chien_open else CHIEN
    return int(s.player)  # who lays away or shows


@helper
def _put(s, seat, zones, card, zone):
    _take_room(s, zones, int(s.w_zones[card]), zone, 1)
    s.w_zones[card] = 0
    there = _destination(s, seat, zone)
    s.place[card] = there
    if not (s.chien_open and s.dealt[card] == CHIEN):
        s.dealt[card] = s.taker if there == ECART else there


@helper
def _shuffle(s, salt):
    """The order in which cards are dealt."""
    for c in range(CARDS):
        s.w_cards[c] = c
    rng.shuffle(salt, s.w_cards, CARDS)


@helper
def _deal_petit(s, seat, zones, salt):
    """TA-4: whoever was dealt the Petit was dealt another trump or the Excuse too; both are placed first.

    Returns whether that was possible.
    """
    came_from_chien = s.chien_open and s.dealt[PETIT] == CHIEN
    if s.redeals == REDEALS or s.place[PETIT] == seat or came_from_chien:
        return True
    if s.place[PETIT] == PLAYED:
        owner = s.played_by[PETIT] - 1
        return owner == seat or _deal_company(s, seat, zones, owner)
    among = int(s.w_zones[PETIT])
    while among != 0:
        zone = _draw_zone(s, zones, PETIT, among, salt)
        if zone < 0:
            return False
        own = int(s.w_zones[PETIT])
        _put(s, seat, zones, PETIT, zone)
        if s.place[PETIT] == CHIEN or _deal_company(s, seat, zones, int(s.place[PETIT])):
            return True
        s.w_zones[PETIT] = own  # not there
        _take_room(s, zones, own, zone, -1)
        among &= ~(1 << zone)
    return False


@helper
def _deal_company(s, seat, zones, owner):
    """Gives ``owner`` a random trump or the Excuse, unless all know that he was dealt one; false if that cannot be."""
    if s.poignee[owner] > 0:
        return True
    for c in range(PETIT + 1, CARDS):
        proven = s.played_by[c] == owner + 1 or (s.place[c] == ECART and s.taker == owner)
        if proven and not (s.chien_open and s.dealt[c] == CHIEN):
            return True
    for i in range(CARDS):
        card = int(s.w_cards[i])
        if card > PETIT and s.w_zones[card] != 0 and not (s.chien_open and s.dealt[card] == CHIEN):
            for zone in range(zones):
                at_owner = (s.w_zones[card] >> zone) & 1 and _destination(s, seat, zone) == owner
                if at_owner and _fits(s, zones, card, zone):
                    _put(s, seat, zones, card, zone)
                    return True
    return False


@helper
def _rewrite_log(s, seat):
    """The plain cards laid away, as they now lie, in random order."""
    if not s.chien_open or s.taker == seat:
        return
    card = 0
    for i in range(s.log_laid, s.log_laid + s.laid):
        if s.log_action[i] < PLAIN:
            while s.place[s.w_cards[card]] != ECART or s.w_cards[card] >= PLAIN:
                card += 1
            s.log_action[i] = s.w_cards[card]
            card += 1


@helper
def _rewrite_deck(s):
    """A pack, the places of which went to the hands as they now are."""
    s.w_room[:] = 0
    for i in range(CARDS):
        owner = s.slot[i]
        k = int(s.w_room[owner])
        while s.dealt[s.w_cards[k]] != owner:
            k += 1
        s.deck[i] = s.w_cards[k]
        s.w_room[owner] = k + 1
