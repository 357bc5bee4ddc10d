"""Chouine's engine against an independent referee: legal actions, who acts, every part of every encoding, totals."""

from __future__ import annotations

import numpy as np
import pytest
from chouine_positions import IDS, NAMES, bold_games, games, play, referee_of, rich_decks
from chouine_referee import Referee, assert_encodes, totals_from_log
from positions import log_of

from cardgym.batch import ENCODINGS, Batch
from cardgym.games.chouine import GAME, LOG
from cardgym.kernel import records


class MatchScore:
    """Wins and manches of a match, kept beside the engine's."""

    def __init__(self, wins_per_manche: int, manches: int) -> None:
        self.wins_per_manche, self.manches = wins_per_manche, manches
        self.wins, self.manches_won, self.over = [0, 0], [0, 0], False

    def add(self, winner: int) -> None:
        if winner < 0:
            return
        self.wins[winner] += 1
        if self.wins[winner] == self.wins_per_manche:
            self.manches_won[winner] += 1
            self.over = self.manches_won[winner] > self.manches // 2
            if not self.over:
                self.wins = [0, 0]


def check(batch: Batch, referees: list[Referee], rows: np.ndarray, scores: list[MatchScore] | None = None) -> None:
    """Compares all that the engine says about the games in ``rows`` with the referees."""
    layouts, table_memory = batch.layouts, batch.options.memory == "table"
    views = [batch.views(np.full(len(rows), seat), rows, ENCODINGS) for seat in range(2)]
    for k, row in enumerate(rows):
        referee, s = referees[row], batch.states[row]
        match = {"wins": scores[row].wins, "manches": scores[row].manches_won} if scores else {}
        assert bool(s["over"]) == (scores[row].over if scores else referee.over)
        assert s["player"] == referee.player
        everything = referee.everything(**match)
        for seat in range(2):
            mine = referee.legal() if seat == referee.player else set()
            assert {NAMES[a] for a in np.flatnonzero(views[seat].mask[k])} == mine
            seen = referee.observation(seat, table_memory, **match)
            assert_encodes(views[seat].observation[k], layouts["observation"], seen)
            assert_encodes(views[seat].history[k], layouts["history"], referee.history(seat, LOG, IDS))
            assert_encodes(views[seat].state[k], layouts["state"], everything)  # of the player to act, whoever asks


@pytest.mark.parametrize(("memory", "quinte"), [("perfect", 50), ("table", 100)])
def test_every_encoding_says_what_the_referee_says(memory: str, quinte: int) -> None:
    """CH-5 ... CH-20 along random deals: masks, acting seats, observations, histories, states, results."""
    generator = np.random.default_rng(5)
    n = 160
    batch = games(n, 1000, rich_decks(n, generator), memory=memory, quinte=quinte)
    referees = [referee_of(s) for s in batch.states]
    for rows, actions in play(batch, generator, talk=0.6):
        check(batch, referees, rows)
        for row, action in zip(rows, actions):
            referees[row].apply(NAMES[action])
    check(batch, referees, np.arange(n))
    for referee, s in zip(referees, records(batch.states)):
        info = GAME.info(s)
        assert (info["totals"], info["winner"], info["chouine"]) == (
            referee.totals(),
            referee.winner,
            referee.by_chouine,
        )
    said = [set(r.said[0]) | set(r.said[1]) for r in referees]
    assert sum("quinte" in words for words in said) > 10
    assert sum(r.by_chouine for r in referees) > 0
    assert sum(r.swap_made is not None for r in referees) > 30
    assert sum(r.asked for r in referees) > 10


@pytest.mark.parametrize(("wins_per_manche", "manches"), [(3, 1), (5, 1), (3, 3)])
def test_encodings_of_a_match_say_what_the_referee_says(wins_per_manche: int, manches: int) -> None:
    """CH-21: the score of the match is seen; every deal of it is seen as a single one is, the last to its end."""
    generator = np.random.default_rng(6)
    n = 4
    batch = games(n, 2000, episode="match", wins_per_manche=wins_per_manche, manches=manches)
    referees = [referee_of(s) for s in batch.states]
    scores = [MatchScore(wins_per_manche, manches) for _ in range(n)]
    finished: list[int] = []
    for rows, actions in play(batch, generator):
        for row in finished:
            if not scores[row].over:
                referees[row] = referee_of(batch.states[row])
        check(batch, referees, rows, scores)
        finished = []
        for row, action in zip(rows, actions):
            referees[row].apply(NAMES[action])
            if referees[row].over:
                scores[row].add(referees[row].winner)
                finished.append(row)
    check(batch, referees, np.arange(n), scores)
    assert [s.wins for s in scores] == batch.states["wins"].tolist()


def test_ch_20_totals_follow_from_the_log() -> None:
    """CH-20: in thousands of deals a scorer that reads only who did what finds the same totals and winner."""
    states = bold_games().states
    played_out = states[states["by_chouine"] == 0]
    assert len(played_out) > 2500
    for s in played_out:
        totals = totals_from_log(log_of(GAME, s), "CDHS"[s["trump"]])
        assert s["totals"].tolist() == totals
        assert s["scores"].tolist() == totals
        assert s["card_points"].sum() == 130
        assert s["deal_winner"] == (-1 if totals[0] == totals[1] else int(totals[1] > totals[0]))
    assert (played_out["deal_winner"] == -1).sum() > 10
