"""Compiled parts of self-play training: advantages per seat, and the drawing of masked actions.

In self-play the games advance one decision at a time, whoever is to act, so consecutive rows belong to different
seats with opposed interests.  Each (game, seat) therefore has a trajectory of its own: the next decision *of the same
seat* is its successor, and all that the seat gains until then, whoever acted, is its reward.
"""

from __future__ import annotations

import numpy as np

from cardgym.kernel import kernel


@kernel("core.advantages")
def _advantages(
    rewards, players, over, learner, values, last_players, last_values, last_known, gamma, decay, advantages, valid
):
    steps, games, seats = rewards.shape
    gain = np.zeros(seats)
    next_value = np.zeros(seats)
    next_advantage = np.zeros(seats)
    known = np.zeros(seats, np.bool_)  # has the seat a later decision in these steps, or has its game ended?
    for n in range(games):
        gain[:] = 0.0
        next_advantage[:] = 0.0
        known[:] = False
        if last_known[n]:
            known[last_players[n]] = True
            next_value[last_players[n]] = last_values[n]
        for t in range(steps - 1, -1, -1):
            if over[t, n]:
                gain[:] = 0.0
                next_value[:] = 0.0
                next_advantage[:] = 0.0
                known[:] = True
            for seat in range(seats):
                gain[seat] += rewards[t, n, seat]
            valid[t, n] = False
            advantages[t, n] = 0.0
            if not learner[t, n]:
                continue
            seat = int(players[t, n])
            value = float(values[t, n])
            if known[seat]:
                step = gain[seat] + gamma * next_value[seat] - value
                advantages[t, n] = step + gamma * decay * next_advantage[seat]
                valid[t, n] = True
            gain[seat] = 0.0
            next_value[seat] = value
            next_advantage[seat] = float(advantages[t, n])
            known[seat] = True


def advantages(
    rewards: np.ndarray,
    players: np.ndarray,
    over: np.ndarray,
    learner: np.ndarray,
    values: np.ndarray,
    last_players: np.ndarray,
    last_values: np.ndarray,
    last_known: np.ndarray,
    gamma: float,
    decay: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Generalised advantage estimates, one trajectory per (game, seat).

    The estimator is that of J. Schulman et al., High-dimensional continuous control using generalized advantage
    estimation (arXiv 1506.02438), equation 16.  Time counts a seat's own decisions; what a seat gains between two of
    them is summed undiscounted.

    A seat's last decision before the end of the steps has no successor yet (unless its game ended, or it is the seat to
    act next): it has no estimate and is not ``valid``, and its value closes the trajectory before it.

    Args:
        rewards: of every seat by every decision, float, shape (steps, games, seats).
        players: who decided, integers, shape (steps, games).
        over: did the decision end the game, bool, shape (steps, games).
        learner: is it the learner's decision, bool, shape (steps, games); all others only bring rewards.
        values: the learner's estimate of the return of the seat that decided, float32, shape (steps, games).
        last_players: the seat to act after the last step, integers, shape (games,).
        last_values: its value, float32, shape (games,).
        last_known: is it the learner's decision, bool, shape (games,).
        gamma: discount.
        decay: lambda of the estimator.

    Returns:
        Advantages, float32, and valid, bool, both of shape (steps, games).
    """
    estimates = np.empty(values.shape, np.float32)
    valid = np.empty(values.shape, np.bool_)
    _advantages(
        rewards, players, over, learner, values, last_players, last_values, last_known,
        float(gamma), float(decay), estimates, valid,
    )  # fmt: skip
    return estimates, valid


@kernel("core.draw")
def _draw(logits, mask, uniform, actions, log_probabilities):
    for n in range(len(actions)):
        row = logits[n]
        legal = mask[n]
        highest = -np.inf
        for a in range(len(row)):
            if legal[a] != 0 and row[a] > highest:
                highest = float(row[a])
        total = 0.0
        for a in range(len(row)):
            if legal[a] != 0:
                total += np.exp(float(row[a]) - highest)
        left = uniform[n] * total
        chosen = -1
        for a in range(len(row)):
            if legal[a] != 0 and left >= 0.0:
                weight = np.exp(float(row[a]) - highest)
                if weight > 0.0:
                    chosen = a
                    left -= weight
        actions[n] = chosen
        log_probabilities[n] = float(row[chosen]) - highest - np.log(total)


def draw(logits: np.ndarray, mask: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws legal actions from the softmax over the legal logits.

    Args:
        logits: finite, float32, shape (n, actions).
        mask: int8, shape (n, actions), at least one legal action in each row.
        generator: source of randomness; one number is used per row.

    Returns:
        Actions, int64, and their log-probabilities, float32, both of shape (n,).
    """
    chosen = np.empty(len(mask), np.int64)
    log_probabilities = np.empty(len(mask), np.float32)
    _draw(logits, mask, generator.random(len(mask)), chosen, log_probabilities)
    return chosen, log_probabilities
