"""Avinas' engine against an independent referee: legal actions, who acts, every part of every encoding, results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from avinas_positions import IDS, NAMES, games, referee_of, said
from avinas_referee import Match, Referee, everything, history, observation

from cardgym import testing
from cardgym.batch import ENCODINGS, Batch
from cardgym.games.avinas import GAME, LOG
from cardgym.kernel import records


def compare(batch: Batch, referees: list[Referee], rows: np.ndarray, matches: list[Match] | None = None) -> None:
    """Compares all that the engine says about the games in ``rows`` with the referees."""
    for seat in range(4):
        views = batch.views(np.full(len(rows), seat), rows, ENCODINGS)
        for k, row in enumerate(rows):
            r, s = referees[row], batch.states[row]
            match = matches[row] if matches else None
            question = r.question
            if question is None:
                assert s["over"], "the referee says that the deal is over"
            else:
                assert (s["player"], s["over"]) == (question.seat, 0)
            mine = set(question.legal) if question and question.seat == seat else set()
            assert {NAMES[a] for a in np.flatnonzero(views.mask[k])} == mine
            agree(batch, "observation", views.observation[k], observation(r, seat, match))
            agree(batch, "history", views.history[k], history(r, seat, IDS, LOG))
            if question and seat == question.seat:
                agree(batch, "state", views.state[k], everything(r, seat, match))


def agree(batch: Batch, encoding: str, vector: np.ndarray, expected: dict[str, Any]) -> None:
    found = said(batch.layouts[encoding], vector)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if value is not None:  # the phase of a deal that is over says nothing
            assert found[name] == value, name


def policy_rows(batch: Batch, rows: np.ndarray, move: int) -> np.ndarray:
    """Each game follows one policy of the conformance checks."""
    actions = np.empty(len(rows), np.int64)
    for k, policy in enumerate(testing.POLICIES.values()):
        mine = np.flatnonzero(rows % len(testing.POLICIES) == k)
        if len(mine):
            actions[mine] = policy(GAME, batch.mask[rows[mine]], rows[mine] + 77, move)
    return actions


@pytest.mark.parametrize(
    "options",
    [{}, {"stop": "any"}, {"stop": "any", "overbid": "loses_match"}, {"sign": "public"}],
    ids=lambda o: str(o),
)
def test_every_encoding_says_what_the_referee_says(options: dict[str, str]) -> None:
    """AV-1 ... AV-19 along random deals: masks, acting seats, observations, histories, states, results."""
    n = 200
    batch = games(n, 500, lone_queens=True, **options)
    referees = [referee_of(s) for s in batch.states]
    rows, move = np.arange(n), 0
    while len(rows):
        compare(batch, referees, rows)
        actions = policy_rows(batch, rows, move)
        for row, action in zip(rows, actions, strict=True):
            referees[row].apply(NAMES[action])
        batch.step(actions, rows)
        rows, move = rows[~batch.over[rows]], move + 1
    matches = [Match() for _ in referees]
    for match, r in zip(matches, referees, strict=True):
        match.add(r.result)
    compare(batch, referees, np.arange(n), matches)
    for r, s, rewards in zip(referees, records(batch.states), batch.rewards, strict=True):
        info = GAME.info(s)
        assert (info["ending"], info["loser"], info["penalty"]) == r.result
        assert info["points"] == [sum(observation(r, p)["points"][:1]) for p in (0, 1)]
        x = r.result.penalty
        assert rewards.tolist() == [0 if r.result.loser < 0 else -x if p % 2 == r.result.loser else x for p in range(4)]
    assert {r.result.ending for r in referees} >= {"rams", "marks"}
    assert sum(r.face == "face down" for r in referees) > 3
    assert any(r.stopped_by is not None for r in referees)
    assert sum(True in r.knocks.values() for r in referees) > 20


@pytest.mark.parametrize("stop", ["any", "claim"])
def test_matches_go_as_the_referee_says(stop: str) -> None:
    """AV-1, AV-13, AV-16, AV-17: scores and dealers through whole matches, their ends, what is seen of them."""
    n = 6
    batch = games(n, 40, episode="match", stop=stop, match_marks=6)
    referees = [referee_of(s) for s in batch.states]
    matches = [Match(6) for _ in range(n)]
    rows, move = np.arange(n), 0
    while len(rows):
        if move % 3 == 0:
            compare(batch, referees, rows, matches)
        actions = policy_rows(batch, rows, move)
        batch.step(actions, rows)
        for row, action in zip(rows, actions, strict=True):
            referees[row].apply(NAMES[action])
            result, s = referees[row].result, batch.states[row]
            if result is not None:
                matches[row].add(result)
                assert (s["rams"].tolist(), s["marks"].tolist()) == (matches[row].rams, matches[row].marks)
                assert bool(s["over"]) == matches[row].over
                if not s["over"]:
                    assert s["dealer"] == (referees[row].dealer + 1) % 4
                    referees[row] = referee_of(s)
        rows, move = rows[~batch.over[rows]], move + 1
    compare(batch, referees, np.arange(n), matches)
    for m, s, rewards in zip(matches, records(batch.states), batch.rewards, strict=True):
        winner = -1 if m.winner is None else m.winner
        assert (s.winner, s.stalled) == (winner, m.stalled)
        assert rewards.tolist() == [0 if winner < 0 else 1 if seat % 2 == winner else -1 for seat in range(4)]
        assert s.scores.tolist() == [-m.marks[seat % 2] for seat in range(4)]
    assert max(m.deals for m in matches) > 5
