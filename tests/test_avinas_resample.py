"""What Avinas' players cannot know is dealt anew, and nothing else is (AV-18)."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from avinas_facts import FACTS
from avinas_positions import NAMES, Table, dealt_around, games
from avinas_referee import PACK, Referee, class_of, length, longest, rank_of
from broken_game import BROKEN
from test_avinas_play import lone_queen

from cardgym import testing
from cardgym.batch import resample
from cardgym.games import avinas
from cardgym.games.avinas import GAME
from cardgym.kernel import records

OPTIONS = [
    {},
    {"stop": "any", "sign": "public"},
    {"overbid": "loses_match"},
]


@functools.cache
def trail(number: int, n: int = 120) -> np.ndarray:
    """States of random games on decks in which a leader without trumps is frequent."""
    options = OPTIONS[number]
    batch = games(n, 900, lone_queens=True, **options)
    states = [batch.states.copy()]
    rows, move = np.arange(n), 0
    while len(rows):
        policy = tuple(testing.POLICIES.values())[move % 2 * 2]
        batch.step(policy(GAME, batch.mask[rows], rows + 5, move), rows)
        states.append(batch.states[rows].copy())
        rows, move = rows[~batch.over[rows]], move + 1
    return np.concatenate(states)


def worlds(states: np.ndarray, seat: int, seed: int = 1) -> np.ndarray:
    other = states.copy()
    resample(GAME, other, np.full(len(other), seat), seed)
    return other


every_option = pytest.mark.parametrize("number", range(len(OPTIONS)), ids=[str(o) for o in OPTIONS])


@every_option
def test_av_18_nothing_seen_changes(number: int) -> None:
    """AV-18: observation, mask, history, drawing and all facts stay, the covered card and the sign included."""
    states = trail(number)
    s = testing.subject(GAME, **OPTIONS[number])
    for seat in range(4):
        other = worlds(states, seat)
        a, b = testing.seen(s, states, seat), testing.seen(s, other, seat)
        for name in ("observation", "mask", "history"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        delicate = np.flatnonzero((states["down"] >= 0) | (states["signed"] > 0))
        assert len(delicate) > 100
        for k in delicate[::7]:
            true, world = records(states)[k], records(other)[k]
            assert GAME.text(true, seat) == GAME.text(world, seat)
            for fact in FACTS.values():
                seen = testing.parts(s.layouts["observation"], a.observation[k])
                assert fact.truth(true, seat) == fact.truth(world, seat) == fact.read(seen)


@every_option
def test_av_18_every_world_has_a_past_that_the_rules_allow(number: int) -> None:
    """AV-18: a referee replays the deal's decisions on the new cards: each was legal, and asked of the same seat.

    So all is kept that play has told: voids, bids, the tested length, no sevens where the dealer looked, a covered card
    that is no trump of its leader.
    """
    states = trail(number)
    generator = np.random.default_rng(0)
    for seat in range(4):
        other = worlds(states, seat)
        for k in generator.choice(len(states), 400, replace=False):
            assert_possible(states[k], other[k], seat, OPTIONS[number])


def assert_possible(true: np.void, world: np.void, seat: int, options: dict[str, str]) -> None:
    """Plays a world's deal again with a referee."""
    words = {"stop": "claim", "overbid": "masked", "sign": "partner", **options}
    r = Referee([PACK[c] for c in world["deck"]], int(world["dealer"]), **words)
    assert r.dealt[seat] == Referee([PACK[c] for c in true["deck"]], int(true["dealer"])).dealt[seat]
    for who, action in zip(world["log_seat"], world["log_action"][: world["log_length"]], strict=False):
        assert r.question.seat == who
        r.apply(NAMES[action])  # asserts that it is legal
    assert (r.result is not None) == bool(world["over"])
    if r.result is not None:
        assert r.result.ending == avinas.ENDINGS[true["ending"]]
        assert r.result.penalty == true["penalty"]
    assert [{PACK[c] for c in np.flatnonzero(in_hand(world, w))} for w in range(4)] == r.hands
    assert (PACK[world["down"]] if world["down"] >= 0 else None) == r.covered


@pytest.mark.parametrize("said", [[], ["face down"], ["face down", "AS"], ["face down", "AS", "sign none"]], ids=len)
def test_av_18_few_worlds_too_have_a_past_that_the_rules_allow(said: list[str]) -> None:
    """AV-18, AV-8: as above, where a leader without trumps has to choose, and after each step of his choice."""
    table = lone_queen().do(*said)
    true = table.batch.states
    for seat in range(4):
        found = worlds(np.repeat(true, 12), seat)
        for world in found:
            assert_possible(true[0], world, seat, {})
        other = (true["owner"][0] != seat) & (true["trick_of"][0] == 0) & (true["turned"][0] == 0)
        assert (found["owner"] != true["owner"]).any(axis=0)[other].mean() > 0.7
        dealt_at = (found["deck"][:, None, :] == np.arange(32)[None, :, None]).argmax(axis=2)
        played = (true["owner"][0] != seat) & (true["trick_of"][0] > 0) & (true["turned"][0] == 0)
        assert (dealt_at != dealt_at[0]).any(axis=0)[played].all(), "as which of his cards he got it, nobody knows"


def in_hand(s: np.void, seat: int) -> np.ndarray:
    return (s["owner"] == seat) & (s["trick_of"] == 0) & (np.arange(32) != s["down"])


@every_option
def test_av_18_what_is_kept(number: int) -> None:
    """AV-18, row by row: known cards, voids, sevens, covered card, bids, the tested length."""
    states = trail(number)
    masked = OPTIONS[number].get("overbid") != "loses_match"
    for seat in range(4):
        other = worlds(states, seat, 3)
        for true, world in zip(states[::5], other[::5], strict=True):
            owner = world["owner"]
            sure = (true["turned"] != 0) | ((true["dealer"] == seat) & (true["looked"] != 0)) | (true["trick_of"] != 0)
            sure |= true["owner"] == seat
            np.testing.assert_array_equal(owner[sure], true["owner"][sure])
            quiet = (world["looked"] != 0) & (world["turned"] == 0)
            assert not quiet[::8].any()
            hands = [[PACK[c] for c in np.flatnonzero(owner == who)] for who in range(4)]
            assert [len(hand) for hand in hands] == [8, 8, 8, 8]
            if world["trump"] >= 0:
                suit = "CDHS"[world["trump"]]
                for who in range(4):
                    left = [PACK[c] for c in np.flatnonzero(in_hand(world, who))]
                    for number_, name in enumerate("CDHS"):
                        if world["void"][who, number_]:
                            assert not any(class_of(c, suit) == name for c in left)
                    if world["void"][who, avinas.TRUMPS]:
                        assert not any(class_of(c, suit) == "trumps" for c in left)
                if world["down"] >= 0:
                    assert owner[world["down"]] == world["leader"]
                    assert class_of(PACK[world["down"]], suit) != "trumps"
                if world["sevens"] == 0:
                    reached = length(hands[world["declarer"]], suit) >= world["bid"]
                    assert reached == (true["ending"] != avinas.OVERBID or not true["over"])
            if masked:
                for who in range(4):
                    assert world["bids"][who] <= 1 or longest(hands[who]) >= world["bids"][who] - 1


@every_option
def test_av_18_hidden_things_do_change(number: int) -> None:
    """AV-18: hidden cards, the covered card, the sign for the opponents, and only for them."""
    states = trail(number)
    public = OPTIONS[number].get("sign") == "public"
    fresh = states["log_length"] == 0
    for seat in range(4):
        draws = [worlds(states, seat, seed) for seed in range(6)]
        moved = np.mean([(w["owner"] != states["owner"])[fresh].sum(axis=1).mean() for w in draws])
        assert moved > 10  # of the 24 cards of the others
        down = (states["down"] >= 0) & (states["leader"] != seat)
        seen = np.stack([w["down"][down] for w in draws])
        assert (seen != seen[0]).any(axis=0).mean() > 0.8
        own = (states["down"] >= 0) & (states["leader"] == seat)
        assert (np.stack([w["down"][own] for w in draws]) == states["down"][own]).all()
        signed = np.flatnonzero(states["signed"] > 0)
        givers = states["log_seat"][signed, states["down_at"][signed]]
        knows = (givers % 2 == seat % 2) | public
        signs = np.stack([w["signed"][signed] for w in draws])
        assert (signs[:, knows] == states["signed"][signed][knows]).all()
        if not public:
            assert (signs[:, ~knows] != signs[0, ~knows]).any(axis=0).mean() > 0.8


def test_av_18_the_dealer_keeps_what_he_looked_at_and_his_partner_which() -> None:
    dealt = dealt_around({0: "QC QS QH QD JC JS JH JD"}, dealer=1)
    states = np.repeat(Table(dealt, dealer=1).batch.states, 200)
    partner = worlds(states, 3)
    assert (partner["deck"][:, [11, 27]] == states["deck"][:, [11, 27]]).all()  # his own
    dealer = worlds(states, 1)
    places = [(3 - 2) * 4 + 3, 16 + (3 - 2) * 4 + 3]
    assert (dealer["deck"][:, places] == states["deck"][:, places]).all()
    defender = worlds(states, 0)
    assert len(np.unique(defender["deck"][:, places[0]])) > 8
    assert (defender["deck"][:, places] % 8 != 0).all()


def test_av_18_worlds_are_as_likely_as_they_should_be() -> None:
    """AV-18: before a word is said every deal that fits is equally likely; so the exchanges must mix, as a
    comparison with deals drawn anew until they fit shows."""
    table = Table(dealt_around({0: "QC QS JD 7H AH 9H 8C KD"}, dealer=3), dealer=3)
    s = table.batch.states
    found = worlds(np.repeat(s, 6000), 0)
    turned = s["turned"][0]
    free = np.flatnonzero((s["owner"][0] != 0) & (turned == 0))
    expected = np.zeros((4, 32))
    generator = np.random.default_rng(4)
    places = [i for i in range(32) if s["owner"][0][s["deck"][0, i]] != 0 and turned[s["deck"][0, i]] == 0]
    looked = [i for i in places if i % 4 == 3]
    fits = 0
    for _ in range(8000):
        deck = s["deck"][0].copy()
        deck[places] = generator.permutation(free)
        if (deck[looked] % 8 == 0).any():
            continue
        fits += 1
        expected[(3 + 1 + np.array(places) // 4) % 4, deck[places]] += 1
    shares = np.stack([(found["owner"] == seat).mean(axis=0) for seat in range(4)])
    np.testing.assert_allclose(shares[:, free], expected[:, free] / fits, atol=0.035)
    assert fits > 3000


def test_av_18_the_face_down_card_is_any_that_the_leader_may_hold() -> None:
    table = lone_queen().do("face down", "AS", "sign none")
    found = worlds(np.repeat(table.batch.states, 3000), 0)
    counts = np.bincount(found["down"], minlength=32)
    possible = [PACK[c] for c in np.flatnonzero(counts)]
    seen = table.seen(0)
    assert set(possible) <= {c for c in seen["unseen"] if class_of(c, "H") != "trumps"} | seen["known"][0]
    assert all(rank_of(c) not in "QJ" for c in possible)
    assert len(possible) > 12
    assert counts.max() < 3000 * 0.3


def test_av_18_the_face_down_card_is_any_of_his_own_where_no_other_hand_can_give_one() -> None:
    """AV-18: the others have shown void in all plain suits, the leader in trumps; what is left is which of his cards
    he has led, and he himself knows that."""
    table = lone_queen().do("face down", "AS", "sign none")
    s = table.batch.states
    s["void"][0, [0, 2, 3], :4] = 1
    mine = in_hand(s[0], 1)
    mine[s["down"][0]] = True
    found = worlds(np.repeat(s, 80), 0)
    assert set(found["down"].tolist()) == set(np.flatnonzero(mine & (s["turned"][0] == 0)))
    assert ((found["owner"] == 1) == (s["owner"] == 1)).all()
    assert (worlds(np.repeat(s, 20), 1)["down"] == s["down"]).all()


# --- The one ending that hidden cards decide -------------------------------------------------


def test_av_7b_is_the_one_ending_that_tests_hidden_cards() -> None:
    """AV-7b: a bid beyond the holding ends a deal by cards that others do not know.  Nothing else needs that excuse."""
    testing.check_leaks(GAME, games=40, drawings=0, overbid="loses_match")
    strict = dataclasses.replace(GAME, showdown=None)
    with pytest.raises(AssertionError, match=r"who acts after (\w+|trumps \w) depends on hidden cards"):
        testing.check_leaks(strict, games=40, drawings=0, overbid="loses_match")
    testing.check_leaks(strict, games=10, drawings=0)


def test_a_showdown_excuses_no_other_turn() -> None:
    """Even a game that called every ending a showdown could not hide a turn that depends on hidden cards."""
    with pytest.raises(AssertionError, match=r"who acts after .* depends on hidden cards"):
        testing.check_leaks(dataclasses.replace(BROKEN, showdown=lambda s: True), games=30, fault="turn leaks")
