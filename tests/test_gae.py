"""Advantages per seat, worked out by hand; drawing of masked actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardgym.baselines.gae import advantages, draw


def one_game(
    players: list[int],
    rewards: list[tuple[float, ...]],
    over: list[int],
    values: list[float],
    last: tuple[int, float, bool] = (0, 0.0, False),
    learner: list[int] | None = None,
    gamma: float = 1.0,
    decay: float = 1.0,
) -> tuple[list[float], list[bool]]:
    """Advantages of a single game, given as columns."""
    column: Any = lambda values, kind: np.array(values, kind)[:, None]  # noqa: E731
    found, valid = advantages(
        column(rewards, float), column(players, np.int8), column(over, bool),
        column(learner if learner is not None else [1] * len(players), bool), column(values, np.float32),
        np.array([last[0]], np.int8), np.array([last[1]], np.float32), np.array([last[2]]), gamma, decay,
    )  # fmt: skip
    assert found.dtype == np.float32
    return found[:, 0].tolist(), valid[:, 0].tolist()


def test_two_card_game() -> None:
    """Each seat plays one card; seat 0 wins.  Before its card seat 0 expected 0.2, seat 1 expected -0.3.

    Seat 0 gains 1 in all: its advantage is 1 - 0.2.  Seat 1 loses 1: -1 + 0.3.  One trajectory through both seats, with
    the reward of whoever acted, would give seat 0 the other's fate, -1 - 0.2: the good card would be unlearned.
    """
    found, valid = one_game([0, 1], [(0, 0), (1, -1)], [0, 1], [0.2, -0.3])
    assert found == pytest.approx([0.8, -0.7])
    assert valid == [True, True]
    mixed = (0 - 0.3 - 0.2) + (-1 + 0.3)  # reward of the seat that acted, successor whoever is next
    assert mixed == pytest.approx(-1.2)
    assert np.sign(mixed) != np.sign(found[0])


def test_same_seat_twice_in_a_row() -> None:
    """The winner of a trick leads again, so seats do not alternate: 0, 1, 1, 0.  By hand, gamma 0.9, lambda 0.5.

    Seat 0 decides at 0 and 3, seat 1 at 1 and 2.  Rewards come at 1 (0.1 to seat 1, -0.1 to seat 0) and at the end
    (1 to seat 0, -1 to seat 1).
    """
    found, valid = one_game(
        [0, 1, 1, 0], [(0, 0), (-0.1, 0.1), (0, 0), (1, -1)], [0, 0, 0, 1], [0.5, 0.2, -0.4, 0.6], gamma=0.9, decay=0.5
    )
    at_3 = 1 - 0.6
    at_2 = -1 + 0.4
    at_1 = (0.1 + 0.9 * -0.4 - 0.2) + 0.45 * at_2
    at_0 = (-0.1 + 0.9 * 0.6 - 0.5) + 0.45 * at_3
    assert found == pytest.approx([at_0, at_1, at_2, at_3])
    assert all(valid)


def test_end_of_the_steps() -> None:
    """After 0, 1, 0, 1 it is seat 0's turn: its trajectory closes with the value it has now.

    Seat 1's last decision has no successor: it is not valid, and its value closes the trajectory before it.
    """
    values = [0.1, 0.2, 0.3, 0.4]
    found, valid = one_game([0, 1, 0, 1], [(0, 0)] * 4, [0] * 4, values, last=(0, 0.7, True))
    assert valid == [True, True, True, False]
    assert found == pytest.approx([(0.3 - 0.1) + (0.7 - 0.3), 0.4 - 0.2, 0.7 - 0.3, 0.0])
    # A turn of somebody else says nothing about the learner's seats.
    found, valid = one_game([0, 1, 0, 1], [(0, 0)] * 4, [0] * 4, values, last=(0, 0.7, False))
    assert valid == [True, True, False, False]
    assert found == pytest.approx([0.2, 0.2, 0.0, 0.0])


def test_games_do_not_run_into_each_other() -> None:
    """A game ends at step 1; whatever comes after it has no influence on it, and the other way round."""
    start = [(0, 0), (1, -1)]
    ends = [start + [(0, 0), (x, -x)] for x in (-1.0, 1.0)]
    results = [one_game([0, 1, 1, 0], rewards, [0, 1, 0, 1], [0.0] * 4)[0] for rewards in ends]
    assert results[0] == pytest.approx([1, -1, 1, -1])
    assert results[1] == pytest.approx([1, -1, -1, 1])


def test_decisions_of_others_bring_rewards_only() -> None:
    """Seat 1 is played by somebody else: its decisions are not valid, what they bring to seat 0 counts."""
    found, valid = one_game(
        [0, 1, 0, 1], [(0, 0), (0.5, -0.5), (0, 0), (1, -1)], [0, 0, 0, 1], [0.0] * 4, learner=[1, 0, 1, 0]
    )
    assert valid == [True, False, True, False]
    assert found == pytest.approx([1.5, 0, 1, 0])


def test_lambda_1_gives_returns() -> None:
    """With lambda 1 the estimate plus the value is the return, whatever the values: against plain Python."""
    generator = np.random.default_rng(0)
    steps, games, seats = 60, 7, 3
    players = generator.integers(seats, size=(steps, games))
    over = generator.random((steps, games)) < 0.15
    rewards = generator.normal(size=(steps, games, seats))
    values = generator.normal(size=(steps, games)).astype(np.float32)
    none = np.zeros(games)
    found, valid = advantages(
        rewards, players, over, np.ones_like(over), values, none.astype(np.int8), none.astype(np.float32),
        none.astype(bool), 1.0, 1.0,
    )  # fmt: skip
    checked = 0
    for n in range(games):
        for t in range(steps):
            ends = np.flatnonzero(over[t:, n])
            if len(ends):
                expected = rewards[t : t + ends[0] + 1, n, players[t, n]].sum()
                assert valid[t, n]
                assert found[t, n] + values[t, n] == pytest.approx(expected, abs=1e-5)
                checked += 1
    assert checked > 200


def test_draw_follows_the_softmax() -> None:
    logits = np.tile(np.array([[0.0, 1.0, 5.0, 2.0, -1.0]], np.float32), (40_000, 1))
    mask = np.tile(np.array([[1, 1, 0, 1, 0]], np.int8), (40_000, 1))
    actions, log_probabilities = draw(logits, mask, np.random.default_rng(0))
    weights = np.exp([0.0, 1.0, -np.inf, 2.0, -np.inf])
    expected = weights / weights.sum()
    counts = np.bincount(actions, minlength=5) / len(actions)
    assert np.abs(counts - expected).max() < 0.01  # four standard deviations
    np.testing.assert_allclose(log_probabilities, np.log(expected[actions]), rtol=1e-5)


@pytest.mark.parametrize("legal", [[3], [0, 4], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("size", [0.0, 1e4, 1e30, 3e38])
def test_draw_is_safe_in_extreme_cases(legal: list[int], size: float) -> None:
    generator = np.random.default_rng(0)
    logits = (size * generator.choice([-1.0, 1.0], (500, 5))).astype(np.float32)
    mask = np.zeros((500, 5), np.int8)
    mask[:, legal] = 1
    actions, log_probabilities = draw(logits, mask, generator)
    assert np.isin(actions, legal).all()
    assert np.isfinite(log_probabilities).all()
    assert (log_probabilities <= 0).all()
    best = np.where(mask, logits, -np.inf).max(axis=1)
    if size > 0:
        assert (logits[np.arange(500), actions] == best).all()
