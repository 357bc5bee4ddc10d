"""A head start for a policy: it learns from the decisions of another agent before it learns by itself.

Games whose opening words cost points while the cards are still played badly (an auction, say) teach a fresh policy
to keep silent, and then it never meets the positions in which speaking would pay.  A policy that has first watched a
rule bot plays well enough to find out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cardgym.baselines.agents import Agent, Decisions
from cardgym.batch import Batch
from cardgym.game import Game, Options
from cardgym.suits import SuitRelabelling

FIRST_GAME = 500_000_000
"""Seed of the first game watched; neither training nor evaluation comes there."""

GAMES = 512  # games watched at a time
PASSES = 2  # over their decisions
MINIBATCH = 1024
LEARNING_RATE = 1e-3  # falls in a straight line to a tenth


class Watched(NamedTuple):
    """Decisions of an agent in all seats, in no order.

    Attributes:
        observation: int8, shape (n, observation size).
        mask: int8, shape (n, actions).
        action: int64, shape (n,).
        gain: rewards of the acting seat from that decision to the end of the game, float64, shape (n,).
    """

    observation: np.ndarray
    mask: np.ndarray
    action: np.ndarray
    gain: np.ndarray


def watch(game: Game, options: Options, agent: Agent, first_game: int, games: int, canonical_suits: bool) -> Watched:
    """All decisions of some games in which ``agent`` plays every seat.

    Args:
        game, options: what is played.
        agent: who plays.
        first_game: seed of the first game; the others follow.
        games: how many.
        canonical_suits: relabel interchangeable suits, as the policy will see them.
    """
    batch = Batch(game, options, games)
    batch.reset(np.arange(first_game, first_game + games))
    generator = np.random.default_rng(first_game)
    earned = np.zeros((games, batch.seats))
    parts = []
    rows = np.arange(games)
    while len(rows):
        seen = Decisions(batch, rows)
        actions = np.asarray(agent.act(seen, generator), np.int64)
        parts.append((seen.observation, seen.mask, actions, rows, seen.seats, earned[rows, seen.seats]))
        batch.step(actions, rows)
        earned[rows] += batch.rewards[rows, : batch.seats]
        rows = rows[~batch.over[rows]]
    observation, mask, action, row, seat, before = (np.concatenate([part[i] for part in parts]) for i in range(6))
    if canonical_suits:
        suits = SuitRelabelling(game, dict(batch.layouts))
        orders = suits.orders(observation)
        action = suits.canonical_actions(action, orders)
        observation, mask = suits.encoding("observation", observation, orders), suits.mask(mask, orders)
    return Watched(observation, mask, action, earned[row, seat] - before)


def imitate(
    learn: Callable[[Watched, float], float],
    game: Game,
    options: Options,
    agent: Agent,
    decisions: int,
    canonical_suits: bool,
    progress: Callable[[int, str], None],
    seed: int = 0,
) -> None:
    """Teaches a learner to choose as ``agent`` does (cross entropy) and what comes of it (squared error).

    Values are those of undiscounted rewards.

    Args:
        learn: one gradient step on some decisions with a learning rate; returns the cross entropy before it.
        game, options: what is played; rewards by these options.
        agent: whom to imitate, in all seats.
        decisions: about how many decisions to watch.
        canonical_suits: does the learner see suits in canonical order?
        progress: called with the number of decisions so far and a note.
        seed: of the order in which decisions are learned from; the games are always the same.
    """
    generator = np.random.default_rng(seed)
    done, first = 0, FIRST_GAME
    while done < decisions:
        rate = LEARNING_RATE * (1.0 - 0.9 * done / decisions)
        watched = watch(game, options, agent, first, GAMES, canonical_suits)
        first += GAMES
        done += len(watched.action)
        rows = _minibatches(len(watched.action), generator)
        losses = [learn(Watched(*(part[some] for part in watched)), rate) for some in rows]
        progress(min(done, decisions), f"cross entropy {np.mean(losses):.2f}")


def _minibatches(size: int, generator: np.random.Generator) -> Iterator[np.ndarray]:
    for _ in range(PASSES):
        order = generator.permutation(size)
        yield from (order[start : start + MINIBATCH] for start in range(0, size, MINIBATCH))
