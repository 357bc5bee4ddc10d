"""Self-play PPO, native: one network plays all seats of many games side by side and learns from all of them.

    python -m cardgym.baselines.ppo --game chouine

writes to ``runs/chouine``:

    model.pt         the trained network; ``cardgym.baselines.agents.load_agent`` plays it
    checkpoint.pt    the run under way, replaced at every evaluation; ``--resume`` goes on from it
    curve.png        win rates over training
    progress.csv     one row per update, also as tensorboard events
    curve.json       the evaluations behind the picture
    results.json     the final evaluation with its intervals and seeds
    games.jsonl      a record of evaluation games
    settings.json    the settings of the run

Every setting is a flag; their defaults come from ``cardgym/configs/ppo_<game>.toml``.  Load the model and play::

    from cardgym.baselines.agents import load_agent

    agent = load_agent("runs/chouine/model.pt", cardgym.load_game("chouine"))
    actions = agent.act(decisions, numpy_generator)

The algorithm is that of J. Schulman et al., Proximal policy optimization algorithms (arXiv 1707.06347), in self-play
with action masks.  Each (game, seat) is a trajectory of its own (:mod:`cardgym.baselines.gae`).  The entropy bonus is
larger than is usual elsewhere, for the reasons of M. Rudolph et al. (arXiv 2502.08938): in games of hidden information
a good policy is often mixed.

From top to bottom: settings, one update (collect, then learn), the run.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any

from cardgym.errors import InvalidOption, require_for_script

require_for_script(__name__, ("torch", "tensorboard", "matplotlib"), "train")

import numpy as np
import torch
from rich.console import Console

import cardgym
from cardgym.baselines import gae, training
from cardgym.baselines.agents import Agent, Decisions, RuleAgent
from cardgym.baselines.evaluate import Result
from cardgym.baselines.imitation import Watched, imitate
from cardgym.baselines.network import (
    Network,
    NetworkAgent,
    Prepared,
    Shape,
    Sight,
    masked_log_softmax,
)
from cardgym.batch import Batch
from cardgym.game import Game
from cardgym.progress import Bar

# --- Settings --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Settings(training.PPOSettings, training.NativeSettings):
    """Trains a network by self-play PPO and evaluates it."""

    critic: str = "shared"
    """where the value comes from: "shared" (the policy's hidden layers), "separate" (layers of its own) or "state"
    (layers of its own that see all cards; in training only)"""
    pool_size: int = 0
    """past networks kept as opponents; 0: none"""
    pool_share: float = 0.25
    """share of the games in which one of them plays all seats but those of the learner's team"""
    pool_every: int = 20
    """updates between two that are kept"""
    reference_weight: float = 0.0
    """weight of the KL divergence to a reference policy, a moving average of the learner; 0: none"""
    reference_rate: float = 0.02
    """how far the reference moves towards the learner in an update"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pool_every < 1:
            raise InvalidOption(f"pool_every={self.pool_every!r} is not a number of at least 1")
        if self.imitate and self.critic == "state":
            raise InvalidOption(f"imitate={self.imitate} goes with a critic that sees the observation, not the state")
        if not 0 <= self.pool_share <= 1:
            raise InvalidOption(f"pool_share={self.pool_share!r} is not between 0 and 1")


# --- One update: collect ---------------------------------------------------------------------


class Rollout:
    """Decisions of one update, in arrays of shape (steps, games, ...)."""

    def __init__(self, steps: int, batch: Batch, privileged: bool) -> None:
        n, sizes = batch.num_games, {name: layout.size for name, layout in batch.layouts.items()}
        self.observation = np.zeros((steps, n, sizes["observation"]), np.int8)
        self.state = np.zeros((steps, n, sizes["state"] if privileged else 0), np.int8)
        self.mask = np.zeros((steps, n, len(batch.game.actions)), np.int8)
        self.action = np.zeros((steps, n), np.int64)
        self.log_probability = np.zeros((steps, n), np.float32)
        self.value = np.zeros((steps, n), np.float32)
        self.player = np.zeros((steps, n), np.int8)
        self.learner = np.zeros((steps, n), np.bool_)
        self.over = np.zeros((steps, n), np.bool_)
        self.rewards = np.zeros((steps, n, batch.rewards.shape[1]))


class SelfPlay:
    """Games side by side in which the learner plays all seats, or in some games only those of one team.

    Attributes:
        batch: the games.
        by_opponent: which seats the opponent plays in each game, bool, shape (games, seats).
        opponent: the agent that does; None while there is none, and the learner plays those seats too.
    """

    def __init__(self, game: Game, settings: Settings, generator: np.random.Generator, share: float) -> None:
        """Deals the first games; game ``i`` starts from the seed ``settings.seed + i``.

        Args:
            game: the game.
            settings: of the run.
            generator: of all other chance.
            share: of the games in which an opponent plays.
        """
        options = game.options.of(**settings.options)
        self.privileged = settings.critic == "state"
        encodings = ("observation", "state") if self.privileged else ("observation",)
        self.batch = Batch(game, options, settings.num_games, encodings, settings.threads)
        self.batch.reset(range(settings.seed, settings.seed + settings.num_games))
        self.sight = Sight(game, options, settings.canonical_suits)
        self.settings, self.generator = settings, generator
        self.opponent: Agent | None = None
        self._team_of = game.team_of(options)
        self._rows = np.arange(settings.num_games)
        self._shared = round(share * settings.num_games)
        self.by_opponent = np.zeros((settings.num_games, self.batch.seats), np.bool_)
        self._seat(self._rows[: self._shared])
        self.rollout = Rollout(settings.steps, self.batch, self.privileged)

    def collect(self, network: Network) -> tuple[np.ndarray, np.ndarray]:
        """Fills the rollout; returns advantages and which of them are valid, as :func:`gae.advantages` does."""
        r, b, s = self.rollout, self.batch, self.settings
        ready = network.prepared(s.dtype)
        for t in range(s.steps):
            orders = self._look(r.observation[t], r.state[t])
            r.mask[t] = self.sight.mask(b.mask, orders)
            r.player[t], r.learner[t] = b.players, self._mine()
            logits, r.value[t] = self._think(ready, r.observation[t], r.state[t])
            r.action[t], r.log_probability[t] = gae.draw(logits, r.mask[t], self.generator)
            actions = self.sight.actions(r.action[t], orders)
            if self.opponent is not None:
                theirs = np.flatnonzero(~r.learner[t])
                if len(theirs):
                    actions[theirs] = self.opponent.act(Decisions(b, theirs), self.generator)
            b.step(actions, autoreset=True)
            r.over[t], r.rewards[t] = b.over, b.rewards
            if self._shared:
                self._seat(np.flatnonzero(b.over[: self._shared]))
        observation, state = np.empty_like(r.observation[0]), np.empty_like(r.state[0])
        self._look(observation, state)
        _, last_values = self._think(ready, observation, state)
        return gae.advantages(
            r.rewards, r.player, r.over, r.learner, r.value, b.players, last_values, self._mine(), s.gamma, s.gae_lambda
        )

    def _look(self, observation: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Writes what the network sees; returns the orders of suits."""
        orders = self.sight.orders(self.batch.observation)
        observation[:] = self.sight.encoding("observation", self.batch.observation, orders)
        if self.privileged:
            state[:] = self.sight.encoding("state", self.batch.state, orders)
        return orders

    def _think(self, ready: Prepared, observation: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits and values as arrays."""
        device = self.settings.device
        watched = torch.from_numpy(state).to(device) if self.privileged else None
        logits, values = ready(torch.from_numpy(observation).to(device), watched)
        return logits.cpu().numpy(), values.cpu().numpy()

    def _mine(self) -> np.ndarray:
        """Which games wait for the learner, bool, shape (games,)."""
        if self.opponent is None:
            return np.ones(len(self._rows), np.bool_)
        return ~self.by_opponent[self._rows, self.batch.players]

    def _seat(self, rows: np.ndarray) -> None:
        """Draws the learner's team for new episodes."""
        teams = self.generator.integers(self._team_of.max() + 1, size=len(rows))
        self.by_opponent[rows] = self._team_of[None, :] != teams[:, None]


# --- One update: learn -----------------------------------------------------------------------


class Learner(training.Learner):
    """PPO under way.

    Attributes:
        games: in which it plays.
        reference: the slowly moving policy.
        pool: weights of past networks.
    """

    algorithm = "ppo"
    shown = ("entropy", "policy_loss", "value_loss")
    settings: Settings

    def __init__(self, game: Game, settings: Settings, opponent: Agent | None = None) -> None:
        """Starts a run.

        Args:
            game: the game.
            settings: of the run.
            opponent: an agent that plays all seats but those of the learner's team in every game (for best responses);
                None for self-play.
        """
        if opponent is not None and settings.pool_size:
            raise InvalidOption(
                f"pool_size={settings.pool_size}: past networks are for self-play, not for best responses"
            )
        super().__init__(game, settings, Shape(settings.network, settings.critic))
        self.reference = copy.deepcopy(self.network).requires_grad_(False)
        self.pool: list[dict[str, torch.Tensor]] = []
        share = 1.0 if opponent is not None else settings.pool_share if settings.pool_size else 0.0
        self.games = SelfPlay(game, settings, self.generator, share)
        self.games.opponent, self.batch = opponent, self.games.batch
        self._entropy = training.Line(settings.entropy, settings.final_entropy)

    def prepare(self, console: Console) -> None:
        """Learns from the rule bot, if the settings say so."""
        if self.settings.imitate:
            s, rule = self.settings, RuleAgent(self.game)
            with Bar("learning from the rule bot", s.imitate, console) as bar:
                imitate(self._copy, self.game, self.options, rule, s.imitate, s.canonical_suits, bar.update, s.seed)

    def _copy(self, part: Watched, rate: float) -> float:
        """One gradient step on decisions of another agent; returns the cross entropy before it."""
        device = self.settings.device
        observation, mask, action = (torch.from_numpy(v).to(device) for v in (part.observation, part.mask, part.action))
        ready = self.network.prepared()
        logits, values = (part.requires_grad_() for part in ready(observation))
        log_all = masked_log_softmax(logits, mask != 0)
        cross_entropy = -log_all.gather(1, action[:, None]).mean()
        value_loss = (values - torch.from_numpy(part.gain).float().to(device)).square().mean()
        self.optimizer.param_groups[0]["lr"] = rate
        self.descend(
            ready, *torch.autograd.grad(cross_entropy + self.settings.value_weight * value_loss, (logits, values))
        )
        return float(cross_entropy.detach())

    def update(self) -> dict[str, float]:
        """Collects and learns; returns figures worth logging."""
        began = time.perf_counter()
        if self.pool:
            self.games.opponent = self._past(self.pool[int(self.generator.integers(len(self.pool)))])
        advantages, valid = self.games.collect(self.network)
        if not valid.any():
            raise InvalidOption(
                f"steps={self.settings.steps}: no decision was followed by another of its seat; give more"
            )
        collected = time.perf_counter()
        remaining = self.remaining()
        self.decisions += int(self.games.rollout.learner.sum())
        self.updates += 1
        figures = self._learn(advantages, np.flatnonzero(valid.ravel()), remaining)
        self._follow()
        spent = {"collect_seconds": collected - began, "learn_seconds": time.perf_counter() - collected}
        return {"decisions": self.decisions, **figures, **spent}

    def _learn(self, advantages: np.ndarray, rows: np.ndarray, remaining: float) -> dict[str, float]:
        """Gradient steps on the decisions of the rollout in ``rows`` (of the flattened arrays)."""
        s, r = self.settings, self.games.rollout
        data: dict[str, np.ndarray] = {
            "observation": r.observation, "mask": r.mask, "action": r.action,
            "old": r.log_probability, "advantage": advantages, "target": advantages + r.value,
        }  # fmt: skip
        if self.games.privileged:
            data["state"] = r.state
        flat = {k: torch.from_numpy(v.reshape(advantages.size, *v.shape[2:])).to(s.device) for k, v in data.items()}
        for name in ("observation", "state") if self.games.privileged else ("observation",):
            flat[name] = flat[name].to(s.dtype)
        if s.reference_weight:
            flat["reference"] = self._reference_log_probabilities(flat)
        rate, entropy_weight = self.set_learning_rate(remaining), self._entropy(remaining)
        parts = max(1, round(len(rows) / s.minibatch))
        sums = np.zeros(len(gae.LOSSES))
        for _ in range(s.epochs):
            for part in np.array_split(self.generator.permutation(rows), parts):
                index = torch.from_numpy(part).to(s.device)
                sums += self._step({k: v.index_select(0, index) for k, v in flat.items()}, entropy_weight)
        explained = 1.0 - float(np.var(advantages.ravel()[rows]) / (np.var(data["target"].ravel()[rows]) + 1e-8))
        means = dict(zip(gae.LOSSES, (sums / (s.epochs * parts)).tolist(), strict=True))
        if not s.reference_weight:
            del means["reference_kl"]
        return {**means, "explained_variance": explained, "learning_rate": rate}

    def _step(self, part: dict[str, torch.Tensor], entropy_weight: float) -> np.ndarray:
        """A gradient step on one minibatch; returns the figures named in ``gae.LOSSES``."""
        s = self.settings
        ready = self.network.prepared(s.dtype)
        logits, values = ready(part["observation"], part.get("state"))
        *gradients, figures = gae.loss(
            _array(logits),
            _array(values),
            _array(part["mask"]),
            _array(part["action"]),
            _array(part["old"]),
            _array(part["advantage"]),
            _array(part["target"]),
            _array(part["reference"]) if s.reference_weight else None,
            s.clip,
            s.value_weight,
            entropy_weight,
            s.reference_weight,
        )
        self.descend(ready, *(torch.from_numpy(g).to(s.device) for g in gradients))
        return figures

    def _reference_log_probabilities(self, flat: dict[str, torch.Tensor]) -> torch.Tensor:
        """Of the reference policy, for every decision of the rollout."""
        s, found = self.settings, []
        ready = self.reference.prepared(s.dtype)
        for start in range(0, len(flat["mask"]), s.minibatch):
            part = slice(start, start + s.minibatch)
            logits = ready.logits(flat["observation"][part])
            found.append(masked_log_softmax(logits, flat["mask"][part] != 0))
        return torch.cat(found)

    def _follow(self) -> None:
        """Moves the reference towards the learner, and keeps the learner in the pool now and then."""
        s = self.settings
        if s.reference_weight:
            with torch.no_grad():
                for mean, now in zip(self.reference.parameters(), self.network.parameters(), strict=True):
                    mean.lerp_(now, s.reference_rate)
        if s.pool_size and self.updates % s.pool_every == 0:
            self.pool.append({k: v.detach().clone() for k, v in self.network.state_dict().items()})
            self.pool = self.pool[-s.pool_size :]

    def _past(self, weights: dict[str, torch.Tensor]) -> NetworkAgent:
        """A network of the pool as an agent that draws its actions, as the learner does."""
        past = copy.deepcopy(self.network)
        past.load_state_dict(weights)
        return NetworkAgent(past, self.game, self.options, self.settings.canonical_suits, "past", greedy=False)

    def extras(self) -> dict[str, Any]:
        by_opponent = torch.from_numpy(self.games.by_opponent.copy())
        return {"reference": self.reference.state_dict(), "pool": self.pool, "by_opponent": by_opponent}

    def restore_extras(self, training: dict[str, Any]) -> None:
        self.reference.load_state_dict(training["reference"])
        self.pool = [{k: v.to(self.settings.device) for k, v in past.items()} for past in training["pool"]]
        self.games.by_opponent[:] = training["by_opponent"].numpy()


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.cpu().numpy()


# --- The run ---------------------------------------------------------------------------------


def train(settings: Settings, console: Console) -> list[Result]:
    """Trains, evaluates and writes everything; returns the final results.

    Raises:
        CardGymError: settings that do not fit together, or a checkpoint that does not belong to them.
    """
    learner = Learner(cardgym.load_game(settings.game), settings)
    return training.train(learner, "self-play PPO", console)


if __name__ == "__main__":
    training.command_line(Settings, "ppo", train)
