"""Tarot's hidden cards dealt anew: what a seat knows stays, all is possible, and all that is possible comes."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from tarot_positions import Table, games, place_deals, play, rich_deals
from tarot_referee import PACK, TRUMPS

from cardgym.batch import ENCODINGS, Batch, resample
from cardgym.games.tarot import GAME
from cardgym.games.tarot_tables import CHIEN, ECART, LAYING, LOG, PLAIN, PLAYED, REDEALS, SHOWING

EVERY_TABLE = pytest.mark.parametrize(
    ("players", "rules"), [(players, rules) for players in (3, 4, 5) for rules in ("seed", "fft")]
)
UNLIKELY = 1e-4  # the seeds are fixed, so a test that passes once passes always
PETIT = PACK.index("T1")


# --- Playing a deal again --------------------------------------------------------------------


def replayed(worlds: np.ndarray, options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Plays every world's log again from its dealt cards.

    Returns:
        Which worlds are possible: every decision was the acting seat's and legal (and the deal no petit sec); and the
        states that the replays came to.
    """
    n = len(worlds)
    batch = Batch(GAME, options, n, ENCODINGS)
    possible = np.ones(n, bool)
    for dealer in range(batch.seats):
        rows = np.flatnonzero(worlds["dealer"] == dealer)
        if len(rows):
            batch.reset(np.zeros(len(rows), np.int64), rows, {"dealer": dealer})
    batch.states["slot"] = worlds["slot"]
    place_deals(batch.states, worlds["dealt"])
    batch.states["redeals"] = worlds["redeals"]
    owner = worlds["dealt"][:, PETIT : PETIT + 1]
    lonely = (owner[:, 0] != CHIEN) & ((worlds["dealt"][:, PETIT + 1 :] == owner).sum(1) == 0)
    possible &= ~lonely | (worlds["redeals"] == REDEALS)
    views = batch.views(batch.states["player"])
    batch.mask[:], batch.players[:] = views.mask, batch.states["player"]
    for i in range(LOG):
        rows = np.flatnonzero((worlds["log_length"] > i) & possible)
        action = worlds["log_action"][rows, i]
        good = (batch.states["player"][rows] == worlds["log_seat"][rows, i]) & (batch.mask[rows, action] == 1)
        possible[rows[~good]] = False
        if good.any():
            batch.step(action[good], rows[good])
    return possible, batch.states


def assert_same_states(a: np.ndarray, b: np.ndarray, without: tuple[str, ...]) -> None:
    for name in GAME.dtype.names or ():
        if name not in without and not name.startswith("_pad"):
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@functools.cache
def positions(
    players: int, rules: str, contract: str = "auction", seed: int = 0, n: int = 150
) -> tuple[np.ndarray, Any]:
    """Positions of bold play from chosen deals, thinned; the early ones, where words are said, all the same."""
    generator = np.random.default_rng([players, seed])
    batch = games(n, 9, rich_deals(n, players, generator), players=players, rules=rules, contract=contract)
    batch.states["redeals"][::3] = REDEALS  # a third of the deals stands whatever it is
    owner = batch.states["dealt"][:, PETIT : PETIT + 1]
    lonely = (owner[:, 0] != CHIEN) & ((batch.states["dealt"][:, PETIT + 1 :] == owner).sum(1) == 0)
    batch.states["redeals"][lonely] = REDEALS
    kept = []
    for number, (rows, _) in enumerate(play(batch, generator, talk=0.7, quiet_bids=True)):
        states = batch.states[rows]
        early = np.isin(states["phase"], (LAYING, SHOWING)) | (states["trick"] == 1)
        kept.append(states[early | (rows % 5 == number % 5)])
    kept.append(batch.states.copy())
    return np.concatenate(kept), batch.options


# --- Every table -----------------------------------------------------------------------------


@EVERY_TABLE
def test_ta_23_the_recorded_deal_replays_from_the_new_cards(players: int, rules: str) -> None:
    """TA-23, TA-4, TA-7, TA-10, TA-12, TA-13a, TA-31: played anew, every recorded action is legal and leads to that
    very state: so bids, calls, ecart, words and shows, leads and answers are all possible from the new hands."""
    before, options = positions(players, rules)
    for seat in range(players):
        worlds = before.copy()
        resample(GAME, worlds, np.full(len(worlds), seat), 17 + seat)
        possible, states = replayed(worlds, options)
        assert possible.all(), f"{(~possible).sum()} of {len(worlds)} new deals are impossible"
        assert_same_states(states, worlds, ("rng", "rewards", "deck"))
        np.testing.assert_array_equal(np.sort(worlds["deck"], axis=1), np.tile(np.arange(78), (len(worlds), 1)))
        in_order = np.take_along_axis(worlds["dealt"], worlds["deck"].astype(int), 1)
        np.testing.assert_array_equal(in_order, worlds["slot"])
    assert (before["phase"] == SHOWING).sum() > 100
    assert ((before["phase"] == LAYING) & (before["laid_trumps"] > 0)).sum() > 2
    assert (before["shown_by"][:, 77] > 0).sum() > 20


@EVERY_TABLE
def test_ta_22_ta_23_a_few_new_deals(players: int, rules: str) -> None:
    """TA-22, TA-23: of some positions of two games: each can be played again, and its observer sees no difference."""
    before, options = positions.__wrapped__(players, rules, n=2)
    before = before[:: len(before) // 6]
    seats = np.arange(len(before)) % players
    worlds = before.copy()
    resample(GAME, worlds, seats, 11)
    possible, states = replayed(worlds, options)
    assert possible.all()
    assert_same_states(states, worlds, ("rng", "rewards", "deck"))
    np.testing.assert_array_equal(np.sort(worlds["deck"], axis=1), np.tile(np.arange(78), (len(worlds), 1)))
    a, b = (Batch(GAME, options, len(before), ENCODINGS) for _ in range(2))
    a.states[:], b.states[:] = before, worlds
    for true, other in zip(a.views(seats), b.views(seats)):
        np.testing.assert_array_equal(true, other)


def test_ta_23_without_an_auction() -> None:
    """TA-28: the chien lies open from the start there."""
    before, options = positions(4, "seed", "garde")
    for seat in range(4):
        worlds = before.copy()
        resample(GAME, worlds, np.full(len(worlds), seat), 3)
        possible, states = replayed(worlds, options)
        assert possible.all()
        assert_same_states(states, worlds, ("rng", "rewards", "deck"))


@pytest.mark.long
@EVERY_TABLE
def test_ta_23_many_recorded_deals_replay(players: int, rules: str) -> None:
    """TA-23: as above, over many more deals."""
    for seed in range(1, 12):
        before, options = positions.__wrapped__(players, rules, "garde" if seed % 4 == 0 else "auction", seed)
        for seat in range(players):
            worlds = before.copy()
            resample(GAME, worlds, np.full(len(worlds), seat), seed)
            possible, states = replayed(worlds, options)
            assert possible.all()
            assert_same_states(states, worlds, ("rng", "rewards", "deck"))


@EVERY_TABLE
def test_ta_22_no_leak(players: int, rules: str) -> None:
    """TA-7, TA-8, TA-22, TA-31: observation, history, mask and drawing are byte for byte what they were."""
    before, options = positions(players, rules)
    a, b = (Batch(GAME, options, len(before), ENCODINGS) for _ in range(2))
    for seat in range(players):
        a.states[:], b.states[:] = before, before
        resample(GAME, b.states, np.full(len(before), seat), 5)
        seats = np.full(len(before), seat)
        true, other = a.views(seats, encodings=ENCODINGS), b.views(seats, encodings=ENCODINGS)
        np.testing.assert_array_equal(true.observation, other.observation)
        np.testing.assert_array_equal(true.history, other.history)
        np.testing.assert_array_equal(true.mask, other.mask)
        assert (a.states["rng"] != b.states["rng"]).any(1).all()
        for k in range(seat, len(before), 97):
            assert GAME.render(a.states[k], seat) == GAME.render(b.states[k], seat)
        moving = (before["trick"] < 6) & (before["over"] == 0)
        assert (a.states["place"] != b.states["place"]).any(1)[moving].mean() > 0.9
        for name in ("w_zones", "w_cards", "w_slack", "w_room"):
            assert not b.states[name].any()


@EVERY_TABLE
def test_ta_25_the_end_of_a_played_deal_hides_nothing(players: int, rules: str) -> None:
    """TA-25: chien and ecart are open then; after a void deal the other hands stay hidden."""
    before, _ = positions(players, rules)
    ends = before[before["over"] == 1]
    worlds = ends.copy()
    resample(GAME, worlds, np.zeros(len(ends), int), 2)
    assert_same_states(worlds[ends["void"] == 0], ends[ends["void"] == 0], ("rng",))
    void = Table([""] * players, rules=rules).do(*["pass"] * players).batch.states
    worlds = np.repeat(void, 50)
    resample(GAME, worlds, np.zeros(50, int), 2)
    assert len({w.tobytes() for w in worlds["dealt"]}) == 50
    assert (worlds["dealt"][:, void["dealt"][0] == 0] == 0).all()


# --- Exactly the possible deals --------------------------------------------------------------


def late_position(players: int, seed: int, tricks_left: int, bid: int, **options: Any) -> Batch:
    """A random game in which so many tricks are left; the first seat has bid ``bid``, the others passed."""
    batch = games(1, seed, players=players, dealer=players - 1, **options)
    generator = np.random.default_rng(seed)
    contract_stands = False
    while batch.states["trick"][0] <= {3: 24, 4: 18, 5: 15}[players] - tricks_left:
        legal = np.flatnonzero(batch.mask[0])
        action = int(generator.choice(legal[legal < 83] if batch.states["phase"][0] == 3 else legal))
        if batch.states["phase"][0] == 0:
            action, contract_stands = (78 if contract_stands else 78 + bid), True
        batch.step(np.array([action]))
    return batch


def possible_deals(batch: Batch, seat: int) -> set[bytes]:
    """Every distribution of the cards hidden from ``seat`` from which the recorded deal can be played (by trial)."""
    true = batch.states[0]
    place, taker = true["place"], int(true["taker"])
    others = [(seat + i) % batch.seats for i in range(1, batch.seats)]
    hidden_pile = CHIEN if true["chien_open"] == 0 else ECART
    visible = (place == PLAYED) | (place == seat)
    if hidden_pile == ECART:
        visible |= (place == ECART) & ((seat == taker) | (np.arange(78) >= PLAIN))
    cards = np.flatnonzero(~visible)
    zones = [*others, *([hidden_pile] if ((place == hidden_pile) & ~visible).any() else [])]
    sizes = [int(((place == zone) & ~visible).sum()) for zone in zones]
    deals = []
    for ways in splits(list(range(len(cards))), sizes):
        owner = place.copy()
        for zone, group in zip(zones, ways):
            owner[cards[list(group)]] = zone
        deals.append(owner)
    worlds = np.repeat(batch.states, len(deals))
    worlds["place"] = deals
    from_hand = np.where(worlds["place"] == ECART, taker, worlds["place"])
    stays = (true["chien_open"] == 1) & (true["dealt"] == CHIEN)
    rewritten = np.where(visible | stays, true["dealt"], from_hand)
    worlds["dealt"] = rewritten
    start = int(true["log_laid"])
    secret = [i for i in range(start, start + int(true["laid"])) if true["log_action"][i] < PLAIN]
    keep = np.ones(len(worlds), bool)
    for k, world in enumerate(worlds):
        laid = np.flatnonzero((world["place"] == ECART) & (np.arange(78) < PLAIN))
        counts = np.bincount(world["dealt"], minlength=6)
        keep[k] = len(laid) == len(secret) and (counts == np.bincount(true["dealt"], minlength=6)).all()
        keep[k] &= not (stays & ~visible & (world["place"] != taker) & (world["place"] != ECART)).any()
        if keep[k]:
            world["log_action"][secret] = laid
    worlds = worlds[keep]
    possible, _ = replayed(worlds, batch.options)
    return {w["place"].tobytes() for w in worlds[possible]}


def splits(cards: list[int], sizes: list[int]) -> Any:
    """All ways to part cards into groups of the given sizes."""
    if len(sizes) == 1:
        yield (cards,)
        return
    for group in itertools.combinations(cards, sizes[0]):
        rest = [c for c in cards if c not in group]
        for others in splits(rest, sizes[1:]):
            yield (group, *others)


LATE = [
    (3, 1, 3, 1, 0), (3, 2, 3, 1, 0), (3, 3, 3, 2, 0), (3, 4, 1, 1, 1), (3, 5, 1, 3, 1), (3, 6, 1, 4, 0),
    (4, 1, 2, 1, 0), (4, 2, 2, 2, 0), (4, 3, 2, 1, 0), (4, 4, 1, 1, 2), (4, 5, 1, 2, 3),
    (5, 1, 1, 1, 0), (5, 2, 2, 1, 0), (5, 3, 1, 1, 3), (5, 4, 1, 2, 2), (5, 5, 1, 3, 0), (5, 6, 1, 4, 4),
]  # fmt: skip


@pytest.mark.parametrize(("players", "seed", "tricks_left", "bid", "seat"), LATE)
def test_ta_23_all_possible_deals_come_and_no_others(
    players: int, seed: int, tricks_left: int, bid: int, seat: int
) -> None:
    """TA-23: what is drawn late in a deal is exactly what an exhaustive search finds possible."""
    rules = "seed" if seed % 2 else "fft"
    batch = late_position(players, seed, tricks_left, bid, rules=rules)
    possible = possible_deals(batch, seat)
    worlds = np.repeat(batch.states, max(400, 60 * len(possible)))
    resample(GAME, worlds, np.full(len(worlds), seat), 1)
    drawn = {w["place"].tobytes() for w in worlds}
    assert drawn <= possible
    assert len(drawn) >= 0.999 * len(possible)


def test_without_proofs_every_deal_is_equally_likely() -> None:
    """Before anybody has spoken a card lies in each hand and in the chien as often as chance has it (TA-3)."""
    batch = games(1, 4)
    worlds = np.repeat(batch.states, 20_000)
    resample(GAME, worlds, np.zeros(len(worlds), int), 8)
    hidden = np.flatnonzero(batch.states["place"][0] != 0)
    for card in hidden[::7]:
        counts = np.array([(worlds["place"][:, card] == zone).sum() for zone in (1, 2, 3, CHIEN)])
        assert chisquare(counts, np.array([18, 18, 18, 6]) / 60 * len(worlds)).pvalue > UNLIKELY


@pytest.mark.parametrize("played", range(2))
def test_the_last_cards_lie_as_often_in_either_hand(played: int) -> None:
    """Two tricks before the end nobody has proved anything, as we say: all deals come, one as often as another."""
    batch = late_position(3, 2, 2, 1)
    s = batch.states
    while s["on_table"][0] < played:
        batch.step(batch.mask.argmax(axis=1))
    s["no_suit"], s["cap"], s["poignee"], s["shown_by"] = 0, 21, 0, 0
    taker = int(s["taker"][0])
    worlds = np.repeat(s, 240)
    resample(GAME, worlds, np.full(240, taker), 5)
    hidden = np.flatnonzero((s["place"][0] < 3) & (s["place"][0] != taker))
    sizes = np.delete(s["held"][0][:3], taker)
    assert len(hidden) == sizes.sum() == 4 - (played and s["leader"][0] != taker)
    _, counts = np.unique(worlds["place"][:, hidden], axis=0, return_counts=True)
    assert len(counts) == math.comb(len(hidden), int(sizes[0]))
    assert chisquare(counts).pvalue > UNLIKELY


# --- What the spec names ---------------------------------------------------------------------


def worlds_of(table: Table, seat: int, n: int = 2000) -> np.ndarray:
    """New deals of one position, all of them possible."""
    worlds = np.repeat(table.batch.states, n)
    resample(GAME, worlds, np.full(n, seat), 23)
    possible, _ = replayed(worlds, table.batch.options)
    assert possible.all()
    return worlds


def before_the_word() -> Table:
    """Seat 1 has eleven trumps and is on turn for the first time."""
    table = Table(["1H", " ".join(TRUMPS[5:16]), "", ""]).do("pass", "pass", "pass", "garde contre", "no slam")
    return table.do(min(c for c in table.legal if c in PACK[:56]))


def showing(number: int) -> Table:
    """Seat 1 has said "simple poignee" and shown so many."""
    table = before_the_word().do("simple poignee")
    for _ in range(number):
        table.do(max(table.legal, key=PACK.index))
    return table


def showing_the_excuse(number: int) -> Table:
    """Seat 0, with nine trumps and the Excuse, has said "simple poignee" and shown so many."""
    hand = "KH 1H 2H 3H 4H 5H 6H 7H Excuse " + " ".join(TRUMPS[3:12])
    table = Table([hand, "", "", ""]).do("garde sans", "pass", "pass", "pass")
    table.do("no slam", "simple poignee")
    for _ in range(number):
        table.do(max(table.legal - {"Excuse"} or table.legal, key=PACK.index))
    return table


def showing_round_the_ecart() -> Table:
    """Seat 0, which has laid away T19, T18 and T6 of its seventeen trumps, shows T21, T20, T17: so it has enough of
    them without the Excuse."""
    trumps = " ".join(TRUMPS[4:21])
    table = Table([f"{trumps} KC", "", "", ""], "KD KH KS 2C 3C 4C", contract="garde")
    return table.do("2C", "3C", "4C", "T19", "T18", "T6", "no slam", "triple poignee", "T21", "T20", "T17")


def laying_trumps() -> Table:
    """Seat 0 has laid away a plain card and a trump."""
    trumps = " ".join(TRUMPS[6:21])
    return Table([f"{trumps} KC KD KH", "", "", ""], "KS 2C 3C 4C 5C 6C", contract="garde").do("2C", "T8")


def partner_unknown() -> Table:
    """Of five, seat 2 has called the king of hearts, and the chien is closed."""
    return Table(["3C", "KH", "5C", "6C", "7C"]).do("pass", "pass", "garde sans", "pass", "pass", "KH", "no slam")


def trump_led() -> Table:
    """Of five, seat 0 has led a trump, though it could lead hearts were they not called."""
    hand = "1H 2H 3H 4H 5H 6H 7H 8H 9H T3 T5 T9 T12 T20 Excuse"
    return Table([hand, "KH", "", "", ""]).do("pass", "pass", "garde sans", "pass", "pass", "KH", "no slam", "T9")


@pytest.mark.parametrize(
    "position",
    [
        before_the_word, *(functools.partial(showing, n) for n in (0, 1, 9)),
        *(functools.partial(showing_the_excuse, n) for n in (0, 4, 9, 10)), showing_round_the_ecart,
        laying_trumps, partner_unknown, trump_led,
    ],
    ids=lambda p: getattr(p, "__name__", "") or f"{p.func.__name__} {p.args[0]}",
)  # fmt: skip
def test_ta_10_ta_23_ta_31_few_new_deals_are_possible_too(position: Callable[[], Table]) -> None:
    """TA-7, TA-10, TA-23, TA-31: for every seat."""
    table = position()
    for seat in range(table.batch.seats):
        worlds = worlds_of(table, seat, 6)
        assert len({w.tobytes() for w in worlds["place"]}) > 1


def test_ta_23_the_word_alone_proves_the_count() -> None:
    """TA-10, TA-23: after "simple poignee" ten trumps, or nine and the Excuse and no tenth; both come."""
    table = showing(0)
    worlds = worlds_of(table, 3)
    trumps = (worlds["place"][:, 56:77] == 1).sum(1)
    excuse = worlds["place"][:, 77] == 1
    assert ((trumps >= 10) | ((trumps == 9) & excuse)).all()
    assert (trumps > 10).any()
    own = int(table.s.place[77]) == 3
    assert own or ((trumps == 9) & excuse).any()
    before = worlds_of(before_the_word(), 3)
    assert ((before["place"][:, 56:77] == 1).sum(1) < 9).any(), "nothing was proved before the word"


def test_ta_23_a_trump_laid_away_while_more_will_follow() -> None:
    """TA-7, TA-23: in the middle of the ecart too, no more plain cards are in hand than will still go."""
    worlds = worlds_of(laying_trumps(), 2)
    plain = np.array([c < PLAIN and c % 14 != 13 for c in range(78)])
    in_hand = ((worlds["place"] == 0) & plain).sum(1)
    assert in_hand.max() <= 4
    assert set(in_hand) <= {3, 4}


def test_ta_31_any_other_seat_may_be_the_partner() -> None:
    """TA-31: for a defender the called card lies in every hand but his own, and in an unseen chien."""
    table = partner_unknown()
    worlds = worlds_of(table, 0)
    assert set(worlds["dealt"][:, PACK.index("KH")].tolist()) == {1, 2, 3, 4, CHIEN}
    assert (worlds_of(table, 1)["dealt"][:, PACK.index("KH")] == 1).all()


def test_ta_31_a_trump_led_against_both_limits() -> None:
    """TA-12, TA-23, TA-31: that hand may keep cards of the called suit, not the called card, no other plain ones."""
    worlds = worlds_of(trump_led(), 3)
    held = {PACK[c] for c in np.flatnonzero((worlds["place"] == 0).any(0))}
    assert {c for c in held if c[-1] in "CDS"} == set()
    assert "KH" not in held
    assert len({c for c in held if c[-1] == "H"}) > 5


def test_ta_4_a_petit_sec_is_dealt_only_where_it_may_have_been() -> None:
    """TA-4, TA-23: the Petit never lies alone, unless sixteen re-deals ran out."""
    batch = games(1, 12, players=5)
    for redeals, some in ((0, False), (REDEALS, True)):
        worlds = np.repeat(batch.states, 30_000)
        worlds["redeals"] = redeals
        resample(GAME, worlds, np.zeros(len(worlds), int), 3)
        owner = worlds["dealt"][:, PETIT : PETIT + 1]
        lonely = (owner[:, 0] != CHIEN) & ((worlds["dealt"][:, PETIT + 1 :] == owner).sum(1) == 0)
        assert lonely.any() == some


def test_ta_4_who_may_hold_no_other_trump_holds_the_petit_with_the_excuse() -> None:
    """TA-4, TA-23: as if play had proved of seat 1 that it has no trump above the Petit."""
    true = Table(["", "", "T1 Excuse", ""]).batch.states
    true["cap"][0, 1] = 1
    worlds = np.repeat(true, 60)
    resample(GAME, worlds, np.zeros(60, int), 3)
    petit, excuse = worlds["place"][:, PETIT] == 1, worlds["place"][:, 77] == 1
    assert (worlds["place"][:, PETIT + 1 : 77] != 1).all()
    assert petit.any()
    assert not (petit & ~excuse).any()
    assert (excuse & ~petit).any()
