"""Avinas' match, rewards, options and relabelling of suits: rules AV-7b, AV-13 ... AV-17 and their worked examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from avinas_positions import Table, dealt_around, games, place_deck
from avinas_referee import PACK, Match, Result

import cardgym
from cardgym.batch import playout
from cardgym.errors import InvalidOption
from cardgym.games import avinas
from cardgym.games.avinas import GAME
from cardgym.suits import ORDERS, SuitRelabelling
from cardgym.testing import state_at

TOP_EIGHT = "QC 7H QS QH QD JC JS JH"


def before_the_stop(declarer: int, rams: list[int], marks: list[int], points: int = 40, **options: Any) -> Table:
    """A match in which ``declarer``, of the pair with ``points`` card points, is asked whether to stop."""
    dealer = (declarer - 1) % 4
    table = Table(dealt_around({declarer: TOP_EIGHT}, dealer=dealer), dealer, episode="match", stop="any", **options)
    table.do("bid 8", "pass", "pass", "pass", "QC", "trumps H")
    while table.s.phase != avinas.STOPPING:
        table.batch.step(table.batch.mask.argmax(axis=1))
    pair = declarer % 2
    s = table.batch.states
    s["rams"], s["marks"] = rams, marks
    s["points"] = [points, 20] if pair == 0 else [20, points]
    return table


def won_by(pair: int) -> list[float]:
    return [1.0 if seat % 2 == pair else -1.0 for seat in range(4)]


# --- The end of a match ----------------------------------------------------------------------


def test_av_17_example_3_the_pair_with_rams_loses() -> None:
    """Worked example 3: marks 4 and 11; E-W stop at 40, 2 marks, 13; both have marks, N-S has a ram: E-W wins."""
    table = before_the_stop(1, rams=[1, 0], marks=[4, 11]).do("stop")
    assert table.over
    assert table.info["marks"] == [4, 13]
    assert table.info["winner"] == 1
    assert table.rewards == won_by(1)
    assert table.s.scores.tolist() == [-4, -13, -4, -13]
    assert not table.s.stalled


def test_av_1_the_next_deal_of_a_match_keeps_nothing_of_the_last() -> None:
    """AV-1: beside the score the state is that of a match that begins with this dealer and these cards."""
    table = before_the_stop(0, rams=[0, 0], marks=[0, 0])
    s = table.batch.states
    for name in ("turned", "looked", "trick_of", "bids", "knocks", "void", "log_seat", "log_action"):
        s[name] = 1
    s["face"] = s["signed"] = s["down"] = s["down_at"] = 2
    table.do("stop")
    first = games(1, 0, episode="match", stop="any")
    first.reset([0], options={"dealer": int(s["dealer"][0])})
    place_deck(first.states, [PACK[c] for c in s["deck"][0]])
    assert s["deals"][0] == 1
    score = ("rng", "moves", "deals", "rams", "marks", "ending", "loser", "penalty", "rewards", "scores", "match_marks")
    for name in set(GAME.dtype.names or ()) - set(score):
        np.testing.assert_array_equal(s[name], first.states[name], err_msg=name)


@pytest.mark.parametrize("rams", [[0, 0], [0, 3], [3, 0]])
def test_av_17_example_4_twelve_against_none(rams: list[int]) -> None:
    """Worked example 4: the pair with 12 loses, whoever has rams."""
    table = before_the_stop(0, rams, marks=[10, 0]).do("stop")
    assert table.over
    assert table.info["marks"] == [12, 0]
    assert table.rewards == won_by(1)


def test_av_17_example_9_the_stoppers_win() -> None:
    """Worked example 9, AV-14: 11 marks and no rams against 1 mark and 1 ram; declare, stop at 40, win."""
    table = before_the_stop(0, rams=[0, 1], marks=[11, 1]).do("pass", "stop")
    assert table.over
    assert table.info["marks"] == [13, 1]
    assert table.rewards == won_by(0)


@pytest.mark.parametrize(
    ("rams", "marks", "winner"),
    [
        ([0, 0], [10, 1], 1),
        ([0, 0], [10, 11], 1),
        ([0, 2], [10, 1], 0),
        ([2, 0], [10, 1], 1),
        ([2, 0], [10, 11], 1),
        ([0, 0], [10, 12], -1),  # nobody can have 12 before; built to see the draw
        ([0, 0], [10, 13], 0),
    ],
)
def test_av_17_both_have_marks(rams: list[int], marks: list[int], winner: int) -> None:
    """AV-17: rams decide, then fewer marks; all equal is a draw."""
    table = before_the_stop(0, rams, marks).do("stop")
    assert table.over
    assert table.info["marks"] == [12, marks[1]]
    assert table.info["winner"] == winner
    assert table.rewards == ([0, 0, 0, 0] if winner < 0 else won_by(winner))
    assert not table.s.stalled


@pytest.mark.parametrize(("limit", "marks", "over"), [(12, 9, False), (12, 10, True), (6, 3, False), (6, 4, True)])
def test_av_17_marks_that_end_a_match(limit: int, marks: int, over: bool) -> None:
    table = before_the_stop(0, [0, 0], [marks, 1], match_marks=limit).do("stop")
    assert table.over == over
    assert table.s.deals == 1
    if not over:
        assert table.rewards == [0, 0, 0, 0]
        assert table.s.marks.tolist() == [marks + 2, 1]
        assert table.s.log_length == 0


def test_av_17_rams_never_end_a_match() -> None:
    """AV-17: only deals without sevens can end it; not even with 12 marks on the paper, built by hand."""
    table = Table(dealt_around({0: TOP_EIGHT}, dealer=3, turned="7H"), episode="match")
    table.batch.states["marks"], table.batch.states["rams"] = [12, 3], [0, 300]
    table.do("knock", "pass", "knock").play_any()
    assert not table.over
    assert table.s.rams.tolist() == [0, 304]
    assert table.seen(int(table.s.player))["rams"] in ([[0, 0], [3, 4]], [[3, 4], [0, 0]])


@pytest.mark.parametrize("max_deals", [1, 3])
def test_av_17_a_match_without_end_is_drawn(max_deals: int) -> None:
    """AV-17: after ``max_deals`` deals, passed-out ones too: terminated and stalled."""
    table = Table(dealt_around({}, dealer=3), episode="match", max_deals=max_deals)
    for deal in range(max_deals):
        assert not table.over
        table.stack(dealt_around({}, dealer=int(table.s.dealer))).do(*["pass"] * 4)
        assert table.s.deals == deal + 1
    assert table.over
    assert table.s.stalled
    assert table.rewards == [0, 0, 0, 0]
    assert table.info["winner"] == -1
    env = cardgym.make("AvinasMatch-v0", max_deals=1).unwrapped
    env.reset(seed=0)
    over = truncated = False
    while not over:
        _, _, over, truncated, info = env.step(int(env.batch.mask[0].argmax()))
    assert not truncated
    assert info["stalled"]


def test_av_17_the_last_deal_may_decide() -> None:
    """AV-17: a deal that reaches 12 and is the last one allowed decides the match."""
    table = before_the_stop(0, [0, 0], [10, 1], max_deals=1).do("stop")
    assert table.over
    assert not table.s.stalled
    assert table.rewards == won_by(1)
    short = before_the_stop(0, [0, 0], [9, 1], max_deals=1).do("stop")
    assert short.s.stalled
    assert short.rewards == [0, 0, 0, 0]


def test_av_7b_overbidding_loses_the_match_whatever_the_score() -> None:
    table = Table(dealt_around({0: "QC QS JD 7H AH 9H 8C KD"}, dealer=3), overbid="loses_match", episode="match")
    table.batch.states["marks"], table.batch.states["rams"] = [0, 11], [0, 9]
    table.do("bid 8", "pass", "pass", "pass", "AH")
    assert table.over
    assert table.info["winner"] == 1
    assert table.rewards == won_by(1)
    assert table.info["marks"] == [0, 11]


def test_av_17_the_referees_match_knows_the_examples() -> None:
    """The independent scorer gives the same ends, so that whole matches can be held against it."""
    match = Match()
    match.rams, match.marks = [1, 0], [4, 11]
    match.add(Result("marks", 1, 2))
    assert (match.over, match.winner) == (True, 1)
    match = Match()
    match.rams = [2, 0]
    match.add(Result("rams", 0, 2))
    match.add(Result("rams", 1, 3))
    assert match.rams == [1, 0]


def test_av_17_lengths_of_matches() -> None:
    """AV-17: uniform play takes about 36 deals with ``claim`` and about 12 with ``any``."""
    for stop, low, high in (("claim", 32, 40), ("any", 11, 15)):
        batch = games(500, 1, episode="match", stop=stop)
        playout(GAME, batch.states, 3)
        assert low < batch.states["deals"].mean() < high
        assert not batch.states["stalled"].any()


# --- Rewards and options ---------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_av_17_rewards_of_a_deal(scale: float) -> None:
    """AV-17: what the deal awards, before any striking out, times ``reward_scale``; nothing before its end."""
    batch = games(500, 30, reward_scale=scale)
    total = np.zeros((500, 4))
    while not batch.over.all():
        rows = np.flatnonzero(~batch.over)
        assert (batch.rewards[rows] == 0).all()
        batch.step(batch.mask[rows].argmax(axis=1), rows)
        total[rows] += batch.rewards[rows]
    s = batch.states
    lost = s["loser"][:, None] == np.arange(4) % 2
    np.testing.assert_array_equal(total, scale * s["penalty"][:, None] * np.where(lost, -1, 1))
    np.testing.assert_array_equal(s["scores"], np.where(lost, -s["penalty"].astype(int)[:, None], 0))


def test_av_17_rewards_take_no_account_of_striking_out() -> None:
    table = Table(dealt_around({0: TOP_EIGHT}, dealer=3, turned="7H"))
    table.batch.states["rams"] = [5, 0]
    table.do("knock", "pass", "knock").play_any()
    assert table.rewards == [4, -4, 4, -4]
    assert table.info["rams"] == [1, 0]


def test_av_17_match_reward_scale() -> None:
    table = before_the_stop(0, [0, 0], [10, 1], reward_scale=3.0).do("stop")
    assert table.rewards == [-3, 3, -3, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop": "never"}, "stop='never'"),
        ({"overbid": "allowed"}, "overbid='allowed'"),
        ({"sign": "none"}, "sign='none'"),
        ({"match_marks": 10}, "match_marks=10"),
        ({"max_deals": 0}, "max_deals=0"),
        ({"max_deals": 401}, "max_deals=401"),
        ({"marks": 1}, "unknown option 'marks'"),
    ],
)
def test_options_that_do_not_exist_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        GAME.options.of(**options)


def test_roles() -> None:
    declared = before_the_stop(0, [0, 0], [10, 1]).do("stop")
    assert {GAME.role(declared.s, seat) for seat in range(4)} == {"match"}
    sevens = Table(dealt_around({0: TOP_EIGHT}, dealer=3, turned="7H")).do("pass", "pass").play_any()
    assert [GAME.role(sevens.s, seat) for seat in range(2)] == ["declarers, sevens", "defenders, sevens"]
    bid = Table(dealt_around({1: TOP_EIGHT}, dealer=3)).do("pass", "bid 8", "pass", "pass").play_any()
    assert [GAME.role(bid.s, seat) for seat in range(2)] == ["defenders, bid", "declarers, bid"]
    passed = Table(dealt_around({}, dealer=3)).do(*["pass"] * 4)
    assert GAME.role(passed.s, 0) == "passed out"


# --- Suits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS[1:])
def test_av_2_suits_are_interchangeable(order: tuple[int, ...]) -> None:
    """AV-2: a game under other names of the plain suits, queens and jacks as they are, is the same game: masks,
    players, observations and results go over into each other at every decision."""
    becomes = np.argsort(order)
    moved = np.array([GAME.moved_card(c, becomes) for c in range(32)])
    batch, twin = games(40, 11, overbid="masked"), games(40, 11, overbid="masked")
    s = twin.states
    s["deck"] = moved[batch.states["deck"]]
    for name in ("owner", "turned", "looked"):
        s[name][:, moved] = batch.states[name]
    s["trump"] = np.where(s["trump"] >= 0, becomes[s["trump"]], -1)
    for row in range(40):
        twin.refresh(row)
    suits = SuitRelabelling(GAME)
    number = np.full(40, ORDERS.index(tuple(order)))
    generator = np.random.default_rng(2)
    while not batch.over.all():
        rows = np.flatnonzero(~batch.over)
        numbers = number[rows]
        np.testing.assert_array_equal(suits.mask(batch.mask[rows], numbers), twin.mask[rows])
        seen = suits.encoding("observation", batch.observation[rows], numbers)
        np.testing.assert_array_equal(seen, twin.observation[rows])
        past = suits.encoding("history", batch.history[rows], numbers)
        np.testing.assert_array_equal(past, twin.history[rows])
        actions = (batch.mask[rows] * generator.random((len(rows), 52))).argmax(axis=1)
        batch.step(actions, rows)
        twin.step(suits.canonical_actions(actions, numbers), rows)
        np.testing.assert_array_equal(batch.players, twin.players)
    np.testing.assert_array_equal(batch.rewards, twin.rewards)


# --- Text ------------------------------------------------------------------------------------


def test_text_of_a_deal_and_its_end() -> None:
    table = Table(dealt_around({0: "QC QS JD 7H AH 9H 8C KD"}, dealer=3)).do("bid 4", "pass", "pass", "pass")
    lines = table.text(0).splitlines()
    assert lines[0] == "Avinas · trick 1 of 8 · trumps not named · points 0-0"
    assert lines[1].startswith("  seat 0 (declarer, bid 4): Q♣ Q♠ J♦")
    assert "seat 3 (dealer, passed)" in lines[4]
    assert lines[-1] == "  to act: seat 0, to play"
    assert table.text(None).count("▒▒") == 0
    table.do("QC", "trumps H")
    assert "trumps ♥" in table.text(2)
    assert "on the table: Q♣ (seat 0)" in table.text(2)
    table.play_any()
    assert "over: marks, " in table.text(0)


def test_text_of_a_match() -> None:
    state = state_at("AvinasMatch-v0", "uniform", 3, 60)
    env = cardgym.make("AvinasMatch-v0", render_mode="ansi").unwrapped
    env.set_state(state)
    assert f"deal {state['deals'][0] + 1} · rams" in env.render()
