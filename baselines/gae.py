"""Compiled parts of self-play training: advantages per seat, drawing of masked actions, the loss and its gradient.

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


@kernel("core.ppo_loss")
def _loss(
    logits, values, mask, action, old, advantage, target, reference, clip, value_weight, entropy_weight,
    reference_weight, gradients, value_gradients, sums,
):  # fmt: skip
    n, actions = mask.shape
    mean = 0.0
    for i in range(n):
        mean += advantage[i]
    mean /= n
    variance = 0.0
    for i in range(n):
        variance += (advantage[i] - mean) ** 2
    spread = np.sqrt(variance / n) + 1e-8
    log_p = np.zeros(actions)
    p = np.zeros(actions)
    for i in range(n):
        largest = -np.inf
        for a in range(actions):
            if mask[i, a]:
                largest = max(largest, float(logits[i, a]))
        total = 0.0
        for a in range(actions):
            if mask[i, a]:
                log_p[a] = float(logits[i, a]) - largest
                p[a] = np.exp(log_p[a])
                total += p[a]
        log_total = np.log(total)
        entropy = 0.0
        divergence = 0.0
        for a in range(actions):
            if mask[i, a]:
                log_p[a] -= log_total
                p[a] /= total
                entropy -= p[a] * log_p[a]
                if reference_weight > 0.0:
                    divergence += p[a] * (log_p[a] - reference[i, a])
        gain = (advantage[i] - mean) / spread
        log_ratio = min(max(log_p[action[i]] - old[i], -60.0), 60.0)  # wide enough, and its exponential is finite
        ratio = np.exp(log_ratio)
        bounded = min(max(ratio, 1.0 - clip), 1.0 + clip)
        # Beyond the bound that the advantage pushes towards, the loss is flat.
        push = ratio * gain if ratio * gain < bounded * gain or ratio == bounded else 0.0
        for a in range(actions):
            gradients[i, a] = 0.0
            if mask[i, a]:
                slope = push * p[a] + entropy_weight * p[a] * (log_p[a] + entropy)
                if a == action[i]:
                    slope -= push
                if reference_weight > 0.0:
                    slope += reference_weight * p[a] * (log_p[a] - reference[i, a] - divergence)
                gradients[i, a] = slope / n
        error = float(values[i]) - target[i]
        value_gradients[i] = 2.0 * value_weight * error / n
        sums[0] -= min(ratio * gain, bounded * gain) / n
        sums[1] += error * error / n
        sums[2] += entropy / n
        sums[3] += (ratio - 1.0 - log_ratio) / n
        sums[4] += (abs(ratio - 1.0) > clip) / n
        sums[5] += divergence / n


LOSSES = ("policy_loss", "value_loss", "entropy", "kl", "clipped", "reference_kl")
"""What :func:`loss` reports, each a mean over the decisions."""

NO_REFERENCE = np.zeros((0, 0), np.float32)


def loss(
    logits: np.ndarray,
    values: np.ndarray,
    mask: np.ndarray,
    action: np.ndarray,
    old: np.ndarray,
    advantage: np.ndarray,
    target: np.ndarray,
    reference: np.ndarray | None,
    clip: float,
    value_weight: float,
    entropy_weight: float,
    reference_weight: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The loss of PPO with its gradient, in closed form and one pass, in place of some sixty small operations.

    The loss is that of equation 9 of J. Schulman et al. (arXiv 1707.06347), advantages brought to mean 0 and
    deviation 1, plus a penalty on the KL divergence from a reference policy.  Only legal actions are looked at, so
    logits of the others may be anything.

    Args:
        logits: float32, shape (n, actions).
        values: float32, shape (n,).
        mask: legal actions, at least one in each row, int8, shape (n, actions).
        action: taken, int64, shape (n,).
        old: log-probability of it when it was taken, float32, shape (n,).
        advantage, target: float32, shape (n,).
        reference: log-probabilities of the reference policy, float32, shape (n, actions); None without one.
        clip: range of the probability ratio.
        value_weight, entropy_weight, reference_weight: weights of the terms.

    Returns:
        Gradients by logits and by values, float32, in their shapes, and the terms named in :data:`LOSSES`, float64.
    """
    gradients, value_gradients = np.empty_like(logits), np.empty_like(values)
    sums = np.zeros(len(LOSSES))
    other = NO_REFERENCE if reference is None else reference
    _loss(
        logits, values, mask, action, old, advantage, target, other, clip, value_weight, entropy_weight,
        reference_weight, gradients, value_gradients, sums,
    )  # fmt: skip
    return gradients, value_gradients, sums
