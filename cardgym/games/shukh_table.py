"""Shukh at the table: rules can be broken, breaches noticed or missed, accused and disputed.

Rules with their ids (R-8.1, Sh-4a, TM-7): ``docs/envs/shukh_table.md``.  What is lawful comes from
:mod:`cardgym.games.shukh`; this module adds what happens between the players.

What a seat does is at first only a *pending act*.  Some of the others are then asked in turn whether they object (the
*window* of the act); only when nobody did is the act carried out.  So undoing a breach is to drop the pending act.
After every decision :func:`_advance` takes the first thing that is due (TM-3); nothing nests.

Action ids: 0-54 as in Shukh (a card is led, laid or paid); 55 ... 67 words; 68-74 the seat so many places to the left.
"""

from __future__ import annotations

from cardgym import rng
from cardgym.cards import PACK_52
from cardgym.game import Game
from cardgym.games import shukh
from cardgym.games.shukh import (
    CARDS,
    DEALS,
    DISCARD,
    DISCARD_LOW_HEART,
    NINE_D,
    QUEEN_H,
    TAKE,
    TUCK,
    low_heart,
    next_live,
    tucked_card,
)
from cardgym.games.shukh_table_sight import legal, observe, resample, reveal, scene
from cardgym.games.shukh_table_state import (
    ACCUSATION,
    ACCUSE,
    ACTIONS,
    ASK_SIX,
    AT_STOCK,
    CALLING,
    CHATTING,
    CHOOSING,
    DEAL,
    DEBTS,
    DISPUTE,
    DISPUTING,
    DRAWING,
    GONE,
    HESITATE,
    HESITATING,
    JUMP,
    JUMPING,
    LAYING,
    OWING,
    PASS,
    PAYING,
    PICK_UP,
    PICKING_UP,
    PILE,
    PLAY,
    PLAYED,
    PLAYED_DEAL,
    QUESTION,
    REACTING,
    REFEREE,
    REPAYING,
    SAY,
    SAYING,
    SEAT,
    SH_1,
    SH_2,
    SH_3,
    SH_4A,
    SH_4B,
    SH_5,
    SH_6,
    SH_7,
    SH_9,
    SH_10,
    SH_12,
    SIX,
    STATE,
    STOCK,
    SUPPORT,
    SWEEP,
    SWEEPING,
    TAKING,
    TUCKING,
    TURN,
    UNLOAD,
    UNSWEPT,
    VOTING,
    ShukhTableOptions,
    bit,
    chance,
    count_cards,
    everybody,
    first_of,
    layouts,
    lose_card,
    number,
    show,
)
from cardgym.kernel import helper

# --- The deal --------------------------------------------------------------------------------


@helper
def deal(s):
    _start_party(s)
    _advance(s)


@helper
def _start_party(s):
    """R-4.1: to the first decision of a party, which ``_advance`` finds."""
    shukh.gather(s)
    shukh.clear_table(s)
    s.opener = -1
    s.unswept = 0
    s.closer = -1
    s.gone = 0
    s.piled[:] = 0
    s.skips[:] = 0
    s.calls = 0
    s.silent = 0
    s.safe = 0
    s.guilty[:] = -1
    s.card = -1
    s.jumper = -1
    s.deals = 0
    s.known[:] = everybody(s)
    s.secrets = 0
    s.debt[:] = 0
    s.due[:] = 0
    s.repaid = 0
    s.to_pay = -1
    s.creditor = -1
    s.phase = DEAL
    if s.deal == PLAYED_DEAL:
        _lay_out_stock(s)
    else:
        shukh.deal_hands(s)
        _note_hands(s)
        _begin(s)


@helper
def _lay_out_stock(s):
    """TM-12: the deal of the players begins, or begins anew."""
    rng.shuffle(s.rng, s.order, int(s.deck))
    shukh.clear_hands(s)
    for i in range(s.deck):
        s.place[s.order[i]] = STOCK
    s.drawn = 0
    s.debt[:] = 0
    _pass_turn(s, number(s.shuffler))


@helper
def _at_stock(s, action):
    """R-4.4: a card is moved from the own stack, or drawn; Sh-1: drawn although one should be moved."""
    seat = number(s.turn)
    receiver = shukh.unload_to(s, seat)
    if action == UNLOAD:
        shukh.unload(s, seat, receiver)
        return
    card = number(s.order[s.drawn])
    shukh.place_drawn(s, seat, card, s.drawn == s.deck - 1)
    s.drawn += 1
    _open(s, seat, DRAWING, card, SH_1 if receiver >= 0 else 0)


@helper
def _commit_draw(s, seat, card):
    if s.place[card] == seat:
        _pass_turn(s, (seat + 1) % int(s.seats))
    if s.drawn < s.deck:
        return
    if s.held[: s.seats].min() == 0 and s.deals < DEALS - 1:  # S-5
        s.deals += 1
        _lay_out_stock(s)
        return
    s.phase = DEBTS
    _note_hands(s)


@helper
def _note_hands(s):
    """TM-15: the stacks are hands now, and who was dealt what is known."""
    s.top[:] = -1
    s.below[:] = -1
    for c in range(CARDS):
        s.origin[c] = s.place[c]


@helper
def _owes(s):
    """R-4.11, TM-12: the next seat, clockwise from the shuffler, that has to repay a debt of the deal, -1 if none."""
    while s.repaid < s.seats:
        payer = (int(s.shuffler) + int(s.repaid)) % int(s.seats)
        if s.to_pay < 0:
            total = 0
            for seat in range(number(s.seats)):
                s.due[seat] = s.debt[seat] if seat != payer else 0
                total += int(s.due[seat])
            spare = max(int(s.held[payer]) - 1, 0)  # never the last card
            s.to_pay = min(total, spare)
            s.short = spare < total
            if s.to_pay > 0:
                _hide_hand(s, payer)
        if s.to_pay > 0:
            return payer
        s.repaid += 1
        s.to_pay = -1
    return -1


@helper
def _hide_hand(s, seat):
    """TM-15: of a hand from which cards are paid face down nobody knows what is left but its holder."""
    for c in range(CARDS):
        if s.place[c] == seat and c != NINE_D:  # that one stays
            s.known[c] = bit(seat)
            s.secrets += 1


@helper
def _step_debts(s):
    """The next decision of the seat that repays; when all have, the piles are handed over (R-4.12)."""
    payer = _owes(s)
    if payer < 0:
        s.due[:] = 0
        s.debt[:] = 0
        for seat in range(number(s.seats)):
            _pick_up(s, seat)
        s.calls = 0  # TM-10: not at the end of the deal
        _begin(s)
        return 0
    if s.creditor < 0 and not s.short:
        for i in range(1, number(s.seats)):
            seat = (payer + i) % int(s.seats)
            if s.creditor < 0 and s.due[seat] > 0:
                s.creditor = seat
    s.player = payer
    return OWING if s.creditor < 0 else REPAYING


@helper
def _repay(s, payer, card):
    """R-4.11, R-4.13: a card of the deal, face down; what the payer was paid himself lies in his pile yet."""
    s.place[card] = PILE + s.creditor
    s.held[payer] -= 1
    s.piled[s.creditor] += 1
    s.due[s.creditor] -= 1
    s.to_pay -= 1
    if s.short or s.due[s.creditor] == 0:
        s.creditor = -1


@helper
def _begin(s):
    """S-7: the hands are dealt."""
    shukh.begin(s)
    s.phase = PLAY
    _pass_turn(s, number(s.opener))
    if s.live == 2:
        _two_left(s)


# --- One decision ----------------------------------------------------------------------------


@helper
def apply(s, action):
    s.moves += 1
    seat, stage = number(s.player), s.stage
    if stage == REACTING:
        _react(s, seat, action)
    elif stage == TURN:
        _take_turn(s, seat, action)
    elif stage == AT_STOCK:
        _at_stock(s, action)
    elif stage == PAYING:
        _pay_penalty(s, seat, action)
    elif stage == CALLING:
        s.calls &= ~bit(seat)
        if action == PASS:
            s.silent |= bit(seat)
    elif stage == DISPUTING:
        _dispute(s, seat, action)
    elif stage == VOTING:
        _vote(s, seat, action)
    elif stage == OWING:
        s.creditor = (seat + action - SEAT + 1) % int(s.seats)
    elif stage == REPAYING:
        _repay(s, seat, action)
    elif stage == GONE:
        s.gone = 0
        if action == SWEEP:
            _open(s, seat, SWEEPING, -1, 0)
    elif action == SAY:
        _open(s, seat, SAYING, -1, SH_9)
    elif stage == CHOOSING:
        _play(s, seat, JUMPING, action, SH_7)
    s.jumper = seat if action == JUMP else -1
    _advance(s)


@helper
def _take_turn(s, seat, action):
    if action == DISCARD_LOW_HEART:
        _discard_low_heart(s, seat)
        _leave(s, seat)
    elif action == PASS:
        for c in range(CARDS):
            if s.place[c] == seat:
                show(s, c)  # the pass proves what they are
        s.idle += 1
        _pass_turn(s, next_live(s, seat))
    elif action in (SWEEP, PICK_UP, HESITATE):
        s.hesitated |= action == HESITATE
        if action == SWEEP:
            kind, offence = SWEEPING, 0 if s.unswept > 0 else SH_5
        elif action == PICK_UP:
            kind, offence = PICKING_UP, SH_3
        else:
            kind, offence = HESITATING, SH_6
        _open(s, seat, kind, -1, offence)
    elif action == TAKE:
        s.silent &= ~bit(seat)
        _open(s, seat, TAKING, -1, _breach(s, seat, -1))
    else:
        kind = TUCKING if action == TUCK else LAYING
        card = number(tucked_card(s)) if action == TUCK else action
        _play(s, seat, kind, card, _breach(s, seat, card))


@helper
def _breach(s, seat, card):
    """The offence that a move on one's own turn is, 0 if none."""
    if s.unswept > 0:
        return SH_4A if s.closer == seat else SH_4B
    if s.height == 0 and card == QUEEN_H:
        return SH_2
    if s.height == 0 and s.live == 2 and card == low_heart(s):
        return SH_12
    return 0


@helper
def _play(s, seat, kind, card, offence):
    """TM-1: the card leaves the hand at once; R-8.8, Sh-10: a lawful one may slip."""
    s.slip = 0
    if kind == LAYING and offence == 0 and chance(s, s.slip_probability):
        offence = SH_10
        s.slip = 1
    show(s, card)
    lose_card(s, seat, card, PLAYED)
    _open(s, seat, kind, card, offence)


@helper
def _open(s, seat, kind, card, offence):
    """TM-1: an act is pending."""
    s.act = kind
    s.actor = seat
    s.card = card
    s.offence = offence
    _open_window(s)


@helper
def _open_window(s):
    """TM-4: who will be asked about the act; drawn for every act alike."""
    seat = number(s.actor)
    following = (seat + 1) % number(s.seats) if s.phase == DEAL else next_live(s, seat)
    window = 0
    for i in range(1, number(s.seats)):
        other = (seat + i) % number(s.seats)
        if other == following or chance(s, s.attention):
            window |= bit(other)
    s.window = window


@helper
def _close_act(s):
    """No act is pending any more."""
    s.act = 0
    s.card = -1
    s.slip = 0
    s.offence = 0
    s.window = 0


@helper
def _pass_turn(s, seat):
    s.turn = seat
    s.fresh = 1
    s.warned = 0
    s.hesitated = 0


@helper
def _discard_low_heart(s, seat):
    show(s, low_heart(s))
    lose_card(s, seat, low_heart(s), DISCARD)
    s.idle = 0


# --- Reactions, trials, penalties ------------------------------------------------------------


@helper
def _react(s, seat, action):
    s.window &= ~bit(seat)
    if action == PASS:
        return
    s.accuser = seat
    if action == ACCUSE:
        s.window = 0
        s.charge = ACCUSATION
        s.accused = s.actor
    elif action == ASK_SIX:
        s.charge = SIX
        s.accused = s.place[low_heart(s)]
    else:
        s.charge = QUESTION
        s.accused = (seat + action - SEAT + 1) % number(s.seats)
        s.silent &= ~bit(s.accused)
    _open_trial(s)


@helper
def _open_trial(s):
    """TM-5: the referee judges at once; otherwise whoever is to be punished may dispute (R-8.6)."""
    if s.judge == REFEREE:
        _judge(s, s.charge != ACCUSATION or s.offence != 0)
    else:
        s.disputants = _accused_seats(s)


@helper
def _accused_seats(s):
    """Bit set: the accused; in Sh-4b the closer too."""
    both = s.charge == ACCUSATION and s.offence == SH_4B
    return bit(s.accused) | (bit(s.closer) if both else 0)


@helper
def _dispute(s, seat, action):
    s.disputants &= ~bit(seat)
    if action == DISPUTE:
        s.disputants = 0
        s.voters = everybody(s) & ~(_accused_seats(s) | bit(s.accuser))
    if s.disputants == 0 and s.voters == 0:
        _judge(s, s.votes.sum() <= 0)


@helper
def _vote(s, seat, action):
    s.voters &= ~bit(seat)
    s.votes[seat] = 1 if action == SUPPORT else -1
    if s.voters == 0:
        _judge(s, s.votes.sum() <= 0)


@helper
def _judge(s, upheld):
    """Who is punished; a real offence that was upheld is undone."""
    charge, accuser, accused = s.charge, number(s.accuser), number(s.accused)
    s.charge = 0
    s.votes[:] = 0
    if not upheld:
        _punish(s, accuser, -1)  # Sh-8
    elif charge == ACCUSATION:
        if s.offence == SH_4B:
            _punish(s, number(s.closer), accused)
        else:
            _punish(s, accused, -1)
        if s.offence != 0:
            _undo(s, accused)
    else:
        if charge == SIX:  # Sh-12
            _discard_low_heart(s, accused)
            s.skips[accused] += 1
        _punish(s, accused, -1)


@helper
def _undo(s, seat):
    """R-8.5, the column "caught" of TM-13."""
    offence, card = s.offence, number(s.card)
    s.offence = 0
    if s.turn == seat:
        s.warned = 1  # TM-2
    if offence == SH_1:
        return  # a card drawn stays where it is
    if offence == SH_10:
        s.slip = 0
        return
    _close_act(s)
    if card >= 0:
        _give_back(s, seat, card)
    if offence == SH_12:
        _discard_low_heart(s, seat)
    if offence in (SH_4A, SH_4B):
        _sweep(s)
    if offence in (SH_2, SH_12):  # the turn is lost
        s.skips[seat] += 1
        s.fresh = 1


@helper
def _give_back(s, seat, card):
    s.place[card] = seat
    s.held[seat] += 1
    count_cards(s, seat, False)


@helper
def _punish(s, first, second):
    """R-8.1; R-4.11: in the deal a Shukh is noted and paid afterwards."""
    if s.phase == DEAL:
        s.debt[first] += 1
    else:
        s.guilty[0] = first
        s.guilty[1] = second
        s.payers = _payers(s, first)


@helper
def _payers(s, guilty):
    """R-8.1.1: every player with more than one card."""
    payers = 0
    for seat in range(number(s.seats)):
        if seat != guilty and s.finish[seat] == 0 and s.held[seat] > 1:
            payers |= bit(seat)
    return payers


@helper
def _pay_penalty(s, seat, card):
    """R-8.1, R-8.2: face up on the pile of the guilty one."""
    show(s, card)
    s.payers &= ~bit(seat)
    s.piled[s.guilty[0]] += 1
    lose_card(s, seat, card, PILE + s.guilty[0])


@helper
def _settle_penalty(s):
    """All have paid the first of the guilty."""
    done = number(s.guilty[0])
    s.guilty[0] = s.guilty[1]
    s.guilty[1] = -1
    if s.guilty[0] >= 0:
        s.payers = _payers(s, number(s.guilty[0]))
    _leave(s, done)


# --- Carrying acts out -----------------------------------------------------------------------


@helper
def _commit(s):
    """TM-1: nobody objected, or to no avail."""
    kind, seat, card, offence = s.act, number(s.actor), number(s.card), s.offence
    _close_act(s)
    if offence == SH_4B:
        _sweep(s)
    if kind == DRAWING:
        _commit_draw(s, seat, card)
    elif kind == PICKING_UP:
        _pick_up(s, seat)
    elif kind == SWEEPING:
        if offence == SH_5:
            _close_kon(s, seat)
        _sweep(s)
    elif kind != HESITATING and kind != SAYING:
        if s.live == 2 and s.place[low_heart(s)] == seat:
            s.safe = 0  # TM-11
        if kind != JUMPING:
            s.idle += 1
        if kind == TAKING:
            _commit_take(s, seat)
        elif kind == TUCKING:
            _commit_tuck(s, seat, card)
        else:
            _commit_card(s, seat, kind, card)


@helper
def _commit_card(s, seat, kind, card):
    led = s.height == 0
    shukh.put_on_top(s, seat, card)
    if s.height == s.live or (card == QUEEN_H and not led):
        _close_kon(s, seat)
    elif kind == LAYING:
        _pass_turn(s, next_live(s, seat))


@helper
def _commit_take(s, seat):
    """R-5.8, S-8."""
    owner = shukh.take_bottom(s, seat)
    count_cards(s, seat, True)
    if s.height == 0:
        _hand_over(s)
    _leave(s, owner)
    _pass_turn(s, next_live(s, seat))


@helper
def _commit_tuck(s, seat, card):
    """R-3.6.2, V-2."""
    if shukh.eats(s, card):
        eater = next_live(s, seat)
        shukh.feed(s, eater, card)
        count_cards(s, eater, False)
        _hand_over(s)
        _leave(s, seat)
        _pass_turn(s, eater)
        return
    shukh.put_under(s, seat, card)
    if s.height == s.live:  # S-18
        _close_kon(s, seat)
    else:
        _pass_turn(s, next_live(s, seat))


@helper
def _close_kon(s, closer):
    """R-5.5, R-5.7: the cards wait to be swept; piles are handed over before anybody leaves (TM-7)."""
    for i in range(s.height):
        s.place[s.kon[i]] = UNSWEPT
    s.unswept += s.height
    s.closer = closer
    shukh.clear_kon(s)
    s.safe = 0
    _hand_over(s)
    _leave(s, closer)
    s.gone = s.finish[closer] > 0
    _pass_turn(s, next_live(s, closer) if s.gone else closer)


@helper
def _sweep(s):
    """R-5.6: to the discard."""
    if s.unswept == 0:
        return
    for c in range(CARDS):
        if s.place[c] == UNSWEPT:
            s.place[c] = DISCARD
    s.unswept = 0
    s.closer = -1
    s.gone = 0
    s.idle = 0


@helper
def _pick_up(s, seat):
    """R-8.3: the penalty pile comes into the hand; TM-15: its holder now knows the cards paid face down."""
    if s.piled[seat] == 0:
        return
    for c in range(CARDS):
        if s.place[c] == PILE + seat:
            s.place[c] = seat
            if s.known[c] != everybody(s):
                s.known[c] |= bit(seat)
                s.secrets -= s.known[c] == everybody(s)
    none = s.held[seat] == 0
    s.held[seat] += s.piled[seat]
    s.piled[seat] = 0
    count_cards(s, seat, none)


@helper
def _hand_over(s):
    """TM-7: the table is empty, and all piles are picked up; R-9.5: who is out comes back."""
    for seat in range(number(s.seats)):
        if s.piled[seat] > 0:
            _pick_up(s, seat)
            if s.finish[seat] > 0:
                _return(s, seat)


@helper
def _return(s, seat):
    place = s.finish[seat]
    for other in range(number(s.seats)):
        if s.finish[other] > place:
            s.finish[other] -= 1
    s.finish[seat] = 0
    s.live += 1
    s.safe = 0


@helper
def _leave(s, first):
    """R-9.1, S-12: who has no card in hand and none in play is out; R-9.1.1: unless a pile waits for him."""
    before = s.live
    for i in range(number(s.seats)):
        seat = (first + i) % int(s.seats)
        playing = s.act != 0 and s.actor == seat and s.card >= 0
        if s.finish[seat] == 0 and s.held[seat] == 0 and s.lying[seat] == 0 and not playing:
            if s.piled[seat] > 0:
                _pick_up(s, seat)
            else:
                s.live -= 1
                s.finish[seat] = s.seats - s.live
    if before > 2 and s.live == 2:
        _two_left(s)


@helper
def _two_left(s):
    """TM-11; R-9.4.2.1: with two left everybody knows who has the lowest heart."""
    s.safe = 1
    show(s, low_heart(s))


# --- What is due -----------------------------------------------------------------------------


@helper
def _advance(s):
    """TM-3: takes what is due, in order, until a seat has to decide or the game is over."""
    stage = 0
    while stage == 0:
        stage = _step(s)
    s.stage = stage


@helper
def _step(s):
    """The first open item; returns the stage that is to be decided, 0 if none is yet."""
    if s.jumper >= 0:
        s.player = int(s.jumper)
        return CHOOSING
    if s.calls:
        s.player = first_of(s, s.calls, s.turn)
        return CALLING
    if s.charge:
        if s.voters:
            s.player = first_of(s, s.voters, s.accused)
            return VOTING
        s.player = first_of(s, s.disputants, s.closer if s.offence == SH_4B else s.accused)
        return DISPUTING
    if s.guilty[0] >= 0:
        if s.payers:
            s.player = first_of(s, s.payers, s.guilty[0])
            return PAYING
        _settle_penalty(s)
        return 0
    if s.phase == PLAY and s.live <= 1:
        return _finish(s)
    if s.window:
        s.player = first_of(s, s.window, s.actor)
        return REACTING
    if s.act:
        _commit(s)
        return 0
    if s.phase == DEAL:
        s.player = int(s.turn)
        return AT_STOCK
    if s.phase == DEBTS:
        return _step_debts(s)
    return _step_play(s)


@helper
def _step_play(s):
    if s.height == 0 and s.piled.sum() > 0:
        _hand_over(s)
        return 0
    if s.fresh and s.skips[s.turn] > 0:
        s.skips[s.turn] -= 1
        s.idle += 1
        _pass_turn(s, next_live(s, number(s.turn)))
        return 0
    if 0 < shukh.idle_limit(s) <= s.idle:  # S-17
        return _finish(s)
    if s.gone:
        s.player = int(s.closer)
        return GONE
    if s.fresh:
        s.fresh = 0
        if chance(s, s.chatter):  # TM-9
            s.player = (int(s.turn) + 1 + rng.below(s.rng, int(s.seats) - 1)) % int(s.seats)
            return CHATTING
    s.player = int(s.turn)
    return TURN


@helper
def _finish(s):
    """The party is over: what still lies about is cleared; returns what is due."""
    stalled = s.live > 1
    if s.act and s.card >= 0 and s.place[s.card] == PLAYED:
        _give_back(s, number(s.actor), number(s.card))
    _close_act(s)
    _sweep(s)
    s.silent = 0
    if stalled:
        for seat in range(number(s.seats)):
            if s.finish[seat] == 0:
                _pick_up(s, seat)
        shukh.rank_by_hands(s)
    s.calls = 0
    if shukh.end_party(s, stalled):
        _start_party(s)
        return 0
    return s.stage


GAME = Game(
    name="shukh_table",
    title="Shukh at the table",
    pack=PACK_52,
    actions=ACTIONS,
    options=ShukhTableOptions,
    dtype=STATE,
    layouts=layouts,
    seats=shukh.seats_of,
    reset_options=("shuffler",),
    deal=deal,
    legal=legal,
    apply=apply,
    observe=observe,
    history=None,
    reveal=reveal,
    resample=resample,
    scene=scene,
    info=shukh.info,
)
