"""Tarot's engine against an independent referee: legal actions, who acts, every part of every encoding, scores."""

from __future__ import annotations

import numpy as np
import pytest
from positions import log_of
from tarot_positions import IDS, NAMES, finished, games, play, referee_of, rich_deals
from tarot_referee import PACK, Referee, settle

from cardgym.batch import ENCODINGS, Batch, playout
from cardgym.game import Layout
from cardgym.games.tarot import GAME
from cardgym.games.tarot_tables import BIDS, CHIEN, LOG
from cardgym.kernel import records

EVERY_TABLE = [(players, rules) for players in (3, 4, 5) for rules in ("seed", "fft")]


def assert_encodes(encoding: np.ndarray, layout: Layout, expected: dict[str, object]) -> None:
    """Is the encoding, part by part in the layout's order, what the referee says?"""
    assert [s.name for s in layout.segments] == list(expected)
    if np.array_equal(encoding, np.concatenate([np.asarray(part) for part in expected.values()])):
        return
    for name, part in expected.items():
        np.testing.assert_array_equal(encoding[layout.slices[name]], np.asarray(part), err_msg=name)


def check(batch: Batch, referees: list[Referee], rows: np.ndarray) -> None:
    """Compares all that the engine says about the games in ``rows`` with the referees."""
    layouts = batch.layouts
    views = [batch.views(np.full(len(rows), seat), rows, ENCODINGS) for seat in range(batch.seats)]
    for k, row in enumerate(rows):
        referee, s = referees[row], batch.states[row]
        assert bool(s["over"]) == referee.over
        seat_to_act = int(s["player"])
        if not referee.over:
            assert seat_to_act == referee.player
        match = {"deals": int(s["deals"]), "scores": s["scores"][: batch.seats].tolist()}
        everything = referee.everything(seat_to_act, **match)
        for seat in range(batch.seats):
            mine = referee.legal() if seat == referee.player else set()
            assert {NAMES[a] for a in np.flatnonzero(views[seat].mask[k])} == mine
            assert_encodes(views[seat].observation[k], layouts["observation"], referee.observation(seat, **match))
            assert_encodes(views[seat].history[k], layouts["history"], referee.history(seat, LOG, IDS, match["deals"]))
            assert_encodes(views[seat].state[k], layouts["state"], everything)  # of the player to act, whoever asks


@pytest.mark.parametrize(("players", "rules"), EVERY_TABLE)
def test_every_encoding_says_what_the_referee_says(players: int, rules: str) -> None:
    """TA-6 ... TA-31 along random deals: masks, acting seats, observations, histories, states, results."""
    generator = np.random.default_rng(5 + players)
    n = 32
    batch = games(n, 1000, rich_deals(n, players, generator), players=players, rules=rules)
    referees = [referee_of(s) for s in batch.states]
    for rows, actions in play(batch, generator, talk=0.6, quiet_bids=True):
        some = rows[(rows + len(referees[rows[0]].log)) % 6 == 0]
        check(batch, referees, some)
        for row, action in zip(rows, actions):
            assert NAMES[action] in referees[row].legal()
            referees[row].apply(NAMES[action])
    check(batch, referees, np.arange(n))
    for referee, s in zip(referees, records(batch.states)):
        scores, points = referee.result()
        assert s.scores[:players].tolist() == scores
        assert GAME.info(s)["points"] == points
    assert sum(any(r.poignee) for r in referees) > 5
    assert sum(r.slam == "slam" for r in referees) > 3
    assert len({r.contract for r in referees}) >= 4
    if players == 5:
        assert {"K", "Q"} <= {r.called[:-1] for r in referees}


@pytest.mark.parametrize(("players", "rules"), EVERY_TABLE)
def test_every_encoding_of_one_game(players: int, rules: str) -> None:
    """As above, now and then in one game, short enough to run as plain Python."""
    generator = np.random.default_rng(players)
    batch = games(1, 5, rich_deals(1, players, generator), players=players, rules=rules)
    referees = [referee_of(batch.states[0])]
    for number, (rows, actions) in enumerate(play(batch, generator, talk=1.0, quiet_bids=True)):
        if number % 8 == 0:
            check(batch, referees, rows)
        referees[0].apply(NAMES[actions[0]])
    check(batch, referees, np.arange(1))
    assert batch.states["void"][0] == 0


def settled(s: np.ndarray) -> tuple[list[int], float]:
    """The independent scorer's result of a finished state."""
    n = int(s["seats"])
    if s["void"]:
        return [0] * n, 0.0
    log = log_of(GAME, s)
    start = sum(action in BIDS for _, action in log) + (n == 5)
    chien = {PACK[c] for c in np.flatnonzero(s["dealt"] == CHIEN)}
    holder = int(s["dealt"][s["called"]]) if n == 5 else None
    rules = "seed" if s["rules"] == 0 else "fft"
    scores, points = settle(n, rules, int(s["taker"]), BIDS[s["contract_bid"]], chien, holder, log[start:])
    return scores, float(points)


def assert_settled(batch: Batch) -> None:
    for s in batch.states:
        scores, points = settled(s)
        assert s["scores"][: batch.seats].tolist() == scores
        assert s["last_points"] / 2 == points
        assert sum(scores) == 0


@pytest.mark.parametrize(("players", "rules"), EVERY_TABLE)
def test_ta_20_scores_follow_from_the_log(players: int, rules: str) -> None:
    """TA-14 ... TA-21, TA-30: a scorer that reads only who did what, and moves cards from pile to pile, agrees."""
    batch = finished(1500, 31, True, players, rules=rules)
    assert_settled(batch)
    s = batch.states
    played = s[s["void"] == 0]
    assert (played["half_points"].sum(1) > 0).all()
    assert {1, 2, 3, 4} == set(played["contract_bid"].tolist())
    assert {0, 1, 2, 3} == set(played["last_oudlers"].tolist())
    assert (played["poignee"] > 0).any(1).sum() > 100
    last = played["played_in"].max(1)
    assert (played["played_in"][:, PACK.index("T1")] == last).sum() > 50, "petit au bout"
    assert (played["played_in"][:, PACK.index("Excuse")] == last).sum() > 20
    assert (played["played_in"][:, PACK.index("Excuse")] == 0).any(), "the Excuse in an unseen chien"


@pytest.mark.long
@pytest.mark.parametrize(("players", "rules"), EVERY_TABLE)
def test_ta_20_a_hundred_thousand_deals(players: int, rules: str) -> None:
    """TA-20: as above, over 100 000 random deals; rewards are the scores."""
    for seed in range(0, 100_000, 10_000):
        batch = games(10_000, seed, players=players, rules=rules)
        playout(GAME, batch.states, seed)
        assert_settled(batch)
        np.testing.assert_array_equal(batch.states["rewards"], batch.states["scores"])
