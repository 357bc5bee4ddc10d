"""Deep Monte Carlo: the value of every action, learned from how games end.

    python -m cardgym.baselines.dmc --game shukh

writes to ``runs/dmc-shukh`` what :mod:`cardgym.baselines.ppo` writes, and its models are loaded and played in the same
way.  Every setting is a flag; their defaults come from ``cardgym/configs/dmc_<game>.toml``.

The algorithm is that of D. Zha et al., DouZero: mastering DouDizhu with self-play deep reinforcement learning
(arXiv 2106.06135).  All seats play the action with the highest estimate, now and then a random one; once a game is
over, the estimate of every action taken is moved towards what its seat gained from there on.  There is no
bootstrapping, so no bias from wrong estimates, and no discount.  Where DouZero feeds features of an action to the
network, ours has one output per action id, of which there are few.  Games are played from start to end, all begun
together, so long games count as often as short ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from cardgym.errors import InvalidOption, require_for_script

require_for_script(__name__, ("torch", "tensorboard", "matplotlib"), "train")

import numpy as np
import torch
from rich.console import Console

import cardgym
from cardgym.baselines import training
from cardgym.baselines.evaluate import Result
from cardgym.baselines.network import Prepared, Shape, Sight
from cardgym.batch import Batch, sample
from cardgym.game import Game


@dataclass(frozen=True, kw_only=True)
class Settings(training.NativeSettings):
    """Learns the values of actions from the ends of games, and evaluates the greedy policy."""

    epsilon: float = 0.1
    """share of random actions at the start; moves in a straight line"""
    final_epsilon: float = 0.01
    """at the end"""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("epsilon", "final_epsilon"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidOption(f"{name}={getattr(self, name)!r} is not between 0 and 1")


@dataclass(frozen=True)
class Experience:
    """Decisions of finished games.

    Attributes:
        observation: as the network sees it, int8, shape (n, size).
        action: as the network names it, int64, shape (n,).
        gain: what the seat that decided got from there to the end of the game, float32, shape (n,).
    """

    observation: np.ndarray
    action: np.ndarray
    gain: np.ndarray


class Learner(training.Learner):
    """Deep Monte Carlo under way."""

    algorithm = "dmc"
    shown = ("epsilon", "loss", "spread")
    settings: Settings

    def __init__(self, game: Game, settings: Settings) -> None:
        """Starts a run; game ``i`` starts from the seed ``settings.seed + i``.

        Args:
            game: the game.
            settings: of the run.
        """
        super().__init__(game, settings, Shape(settings.network))
        self.batch = Batch(game, self.options, settings.num_games, threads=settings.threads)
        self.batch.reset(range(settings.seed, settings.seed + settings.num_games))
        self.sight = Sight(game, self.options, settings.canonical_suits)
        self._epsilon = training.Line(settings.epsilon, settings.final_epsilon)

    def update(self) -> dict[str, float]:
        """Plays all games to their ends, learns from every decision, deals anew."""
        remaining = self.remaining()
        epsilon = self._epsilon(remaining)
        experience = self._play(epsilon)
        self.decisions += len(experience.gain)
        self.updates += 1
        rate = self.set_learning_rate(remaining)
        loss = self._learn(experience)
        spread = float(experience.gain.var())  # the loss of an estimate that knows only the mean
        figures = {"loss": loss, "spread": spread, "epsilon": epsilon, "learning_rate": rate}
        return {"decisions": self.decisions, **figures}

    def _play(self, epsilon: float) -> Experience:
        """All games, from their deals to their ends."""
        b = self.batch
        rows = np.arange(b.num_games)
        gained = np.zeros((b.num_games, b.seats))
        ready = self.network.prepared(self.settings.dtype)
        seen, chosen, row, seat, before = [], [], [], [], []
        while len(rows):
            orders = self.sight.orders(b.observation[rows])
            observation = self.sight.encoding("observation", b.observation[rows], orders)
            action = self._choose(ready, observation, self.sight.mask(b.mask[rows], orders), epsilon)
            players = b.players[rows].astype(np.int64)
            seen.append(observation)
            chosen.append(action)
            row.append(rows)
            seat.append(players)
            before.append(gained[rows, players])
            b.step(self.sight.actions(action, orders), rows)
            gained[rows] += b.rewards[rows, : b.seats]
            rows = rows[~b.over[rows]]
        b.reset()
        gain = gained[np.concatenate(row), np.concatenate(seat)] - np.concatenate(before)
        return Experience(np.concatenate(seen), np.concatenate(chosen), gain.astype(np.float32))

    def _choose(self, ready: Prepared, observation: np.ndarray, mask: np.ndarray, epsilon: float) -> np.ndarray:
        """The legal action with the highest estimate, or with probability ``epsilon`` any."""
        values = ready.logits(torch.from_numpy(observation).to(self.settings.device)).cpu().numpy()
        best = np.where(mask != 0, values, -np.inf).argmax(axis=1)
        explore = self.generator.random(len(best)) < epsilon
        return np.where(explore, sample(mask, self.generator), best)

    def _learn(self, experience: Experience) -> float:
        """Moves the estimates towards the gains; returns the mean squared error before each step."""
        s = self.settings
        data = [torch.from_numpy(v).to(s.device) for v in (experience.observation, experience.action, experience.gain)]
        parts = max(1, round(len(experience.gain) / s.minibatch))
        total = torch.zeros((), device=s.device)
        for _ in range(s.epochs):
            for part in np.array_split(self.generator.permutation(len(experience.gain)), parts):
                index = torch.from_numpy(part).to(s.device)
                observation, action, gain = (v.index_select(0, index) for v in data)
                ready = self.network.prepared(s.dtype)
                values = ready.logits(observation).requires_grad_()
                loss = (values.gather(1, action[:, None]).squeeze(1) - gain).square().mean()
                self.descend(ready, *torch.autograd.grad(loss, (values,)))
                total += loss.detach()
        return float(total) / (s.epochs * parts)


def train(settings: Settings, console: Console) -> list[Result]:
    """Trains, evaluates and writes everything; returns the final results.

    Raises:
        CardGymError: settings that do not fit together, or a checkpoint that does not belong to them.
    """
    learner = Learner(cardgym.load_game(settings.game), settings)
    return training.train(learner, "deep Monte Carlo", console)


if __name__ == "__main__":
    training.command_line(Settings, "dmc", train)
