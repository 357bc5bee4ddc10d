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
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cardgym.baselines.training import need_extras

need_extras(__name__)

import numpy as np
import torch
from rich.console import Console
from torch import nn

import cardgym
from cardgym.baselines import gae, model_file
from cardgym.baselines.agents import Agent, Decisions
from cardgym.baselines.evaluate import Result, write_json
from cardgym.baselines.network import (
    Network,
    NetworkAgent,
    Shape,
    Sight,
    masked_log_softmax,
    masked_probabilities,
    precision_context,
)
from cardgym.baselines.training import (
    Ladder,
    Line,
    Log,
    command_line,
    report,
    restored,
    run_folder,
    stored,
    win_rates,
)
from cardgym.batch import Batch
from cardgym.errors import InvalidOption
from cardgym.game import Game
from cardgym.progress import Bar

# --- Settings --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Trains a network by self-play PPO and evaluates it."""

    game: str = "chouine"
    """name of the game"""
    out: Path | None = None
    """folder for the results; runs/GAME if not given"""
    seed: int = 1
    """seed of games, network and updates"""
    resume: bool = False
    """go on from the checkpoint in the folder"""
    decisions: int = 2_000_000
    """decisions in all, of all seats"""
    num_games: int = 512
    """games side by side"""
    steps: int = 64
    """decisions per game and update"""
    minibatch: int = 1024
    """decisions per gradient step, about: the decisions of an update are dealt out evenly"""
    epochs: int = 3
    """passes over the data of an update"""
    learning_rate: float = 1e-3
    """at the start; moves in a straight line"""
    final_learning_rate: float = 1e-4
    """at the end"""
    entropy: float = 0.02
    """weight of the entropy bonus at the start; moves in a straight line"""
    final_entropy: float = 0.005
    """at the end"""
    clip: float = 0.2
    """clip range of the probability ratio"""
    gamma: float = 1.0
    """discount"""
    gae_lambda: float = 0.95
    """lambda of the advantage estimates"""
    max_grad_norm: float = 0.5
    """gradients are clipped to this norm"""
    value_weight: float = 0.5
    """weight of the value loss"""
    network: tuple[int, ...] = (256, 256)
    """hidden layers"""
    critic: str = "shared"
    """where the value comes from: "shared" (the policy's hidden layers), "separate" (layers of its own) or "state"
    (layers of its own that see all cards; in training only)"""
    canonical_suits: bool = True
    """relabel interchangeable suits"""
    options: dict[str, Any] = field(default_factory=dict)
    """rule options in training; evaluation uses the game's defaults"""
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
    precision: str = "float32"
    """of the hidden layers: "float32", or "bfloat16" where the processor has fast instructions for it"""
    device: str = "cpu"
    """of the network: "cpu" or "cuda" """
    threads: int = 1
    """threads of torch and of the games; more than one pays only on an idle machine"""
    curve_points: int = 12
    """evaluations (and checkpoints) over the run"""
    curve_deals: int = 250
    """duplicate deals of each"""
    deals: int = 2000
    """duplicate deals of the final evaluation"""
    record_games: int = 100
    """evaluation deals whose games are recorded"""

    def __post_init__(self) -> None:
        for name in ("decisions", "num_games", "steps", "minibatch", "epochs", "pool_every", "threads", "curve_points"):
            if getattr(self, name) < 1:
                raise InvalidOption(f"{name}={getattr(self, name)!r} is not a number of at least 1")
        if not 0 <= self.pool_share <= 1:
            raise InvalidOption(f"pool_share={self.pool_share!r} is not between 0 and 1")
        if self.minibatch > self.num_games * self.steps:
            size = self.num_games * self.steps
            raise InvalidOption(f"minibatch={self.minibatch} is more than an update holds, num_games * steps = {size}")


FREE = ("out", "resume", "device", "curve_deals", "deals", "record_games")
"""Settings that may change when a run is resumed."""


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
        for t in range(s.steps):
            orders = self._look(r.observation[t], r.state[t])
            r.mask[t] = self.sight.mask(b.mask, orders)
            r.player[t], r.learner[t] = b.players, self._mine()
            logits, r.value[t] = self._think(network, r.observation[t], r.state[t])
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
        _, last_values = self._think(network, observation, state)
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

    def _think(self, network: Network, observation: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits and values as arrays."""
        device = self.settings.device
        with torch.inference_mode(), precision_context(self.settings.precision, device):
            watched = torch.from_numpy(state).to(device) if self.privileged else None
            logits, values = network(torch.from_numpy(observation).to(device), watched)
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


class Learner:
    """A run under way: network, optimiser, games and all that changes as it learns.

    Attributes:
        decisions: the learner's decisions so far.
        updates: so far.
        curve: evaluations so far.
        seconds: spent on collecting and on learning, since this object was made.
    """

    def __init__(self, game: Game, settings: Settings, opponent: Agent | None = None) -> None:
        """Starts a run.

        Args:
            game: the game.
            settings: of the run.
            opponent: an agent that plays all seats but those of the learner's team in every game (for best responses);
                None for self-play.
        """
        self.game, self.settings = game, settings
        self.generator = np.random.default_rng(settings.seed)
        weights = torch.Generator().manual_seed(settings.seed)
        options = game.options.of(**settings.options)
        self.network = Network(game, options, Shape(settings.network, settings.critic), weights).to(settings.device)
        self.reference = copy.deepcopy(self.network).requires_grad_(False)
        self.pool: list[dict[str, torch.Tensor]] = []
        self.optimizer = torch.optim.Adam(self.network.parameters(), settings.learning_rate, eps=1e-5, fused=True)
        share = 1.0 if opponent is not None else settings.pool_share if settings.pool_size else 0.0
        self.games = SelfPlay(game, settings, self.generator, share)
        self.games.opponent = opponent
        self.decisions, self.updates = 0, 0
        self.curve: list[dict[str, Any]] = []
        self.seconds = {"collect": 0.0, "learn": 0.0}
        self._learning_rate = Line(settings.learning_rate, settings.final_learning_rate)
        self._entropy = Line(settings.entropy, settings.final_entropy)

    def update(self) -> dict[str, float]:
        """Collects and learns; returns figures worth logging."""
        began = time.perf_counter()
        if self.pool:
            self.games.opponent = self._past(self.pool[int(self.generator.integers(len(self.pool)))])
        advantages, valid = self.games.collect(self.network)
        collected = time.perf_counter()
        remaining = max(0.0, 1.0 - self.decisions / self.settings.decisions)
        self.decisions += int(self.games.rollout.learner.sum())
        self.updates += 1
        figures = self._learn(advantages, np.flatnonzero(valid.ravel()), remaining)
        self._follow()
        self.seconds["collect"] += collected - began
        self.seconds["learn"] += time.perf_counter() - collected
        return {"decisions": self.decisions, **figures}

    def _learn(self, advantages: np.ndarray, rows: np.ndarray, remaining: float) -> dict[str, float]:
        """Gradient steps on the decisions of the rollout in ``rows`` (of the flattened arrays)."""
        s, r = self.settings, self.games.rollout
        data = {
            "observation": r.observation, "mask": r.mask, "action": r.action,
            "old": r.log_probability, "advantage": advantages, "target": advantages + r.value,
        }  # fmt: skip
        if self.games.privileged:
            data["state"] = r.state
        flat = {k: torch.from_numpy(v.reshape(advantages.size, *v.shape[2:])).to(s.device) for k, v in data.items()}
        if s.reference_weight:
            flat["reference"] = self._reference_log_probabilities(flat)
        self.optimizer.param_groups[0]["lr"] = self._learning_rate(remaining)
        entropy_weight = self._entropy(remaining)
        parts = max(1, round(len(rows) / s.minibatch))
        sums: dict[str, torch.Tensor] = {}
        for _ in range(s.epochs):
            for part in np.array_split(self.generator.permutation(rows), parts):
                index = torch.from_numpy(part).to(s.device)
                losses = self._losses({k: v.index_select(0, index) for k, v in flat.items()})
                loss = losses["policy_loss"] + s.value_weight * losses["value_loss"]
                loss = loss - entropy_weight * losses["entropy"] + s.reference_weight * losses.get("reference_kl", 0.0)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), s.max_grad_norm)
                self.optimizer.step()
                for name, value in losses.items():
                    sums[name] = sums.get(name, torch.zeros((), device=s.device)) + value.detach()
        explained = 1.0 - float(np.var(advantages.ravel()[rows]) / (np.var(data["target"].ravel()[rows]) + 1e-8))
        means = {name: float(value) / (s.epochs * parts) for name, value in sums.items()}
        return {**means, "explained_variance": explained, "learning_rate": self._learning_rate(remaining)}

    def _losses(self, part: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The terms of the loss on one minibatch, and two figures to watch."""
        s, mask = self.settings, part["mask"] != 0
        with precision_context(s.precision, s.device):
            logits, values = self.network(part["observation"], part.get("state"))
        log_all = masked_log_softmax(logits, mask)
        probabilities = masked_probabilities(log_all, mask)
        log_ratio = log_all.gather(1, part["action"][:, None]).squeeze(1) - part["old"]
        ratio = log_ratio.exp()
        advantage = part["advantage"]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clipped = ratio.clamp(1.0 - s.clip, 1.0 + s.clip)
        losses = {
            "policy_loss": -torch.minimum(ratio * advantage, clipped * advantage).mean(),
            "value_loss": (values - part["target"]).square().mean(),
            "entropy": -(probabilities * log_all).sum(1).mean(),
            "kl": (ratio.detach() - 1.0 - log_ratio.detach()).mean(),  # from the policy that collected
            "clipped": ((ratio.detach() - 1.0).abs() > s.clip).float().mean(),
        }
        if s.reference_weight:
            losses["reference_kl"] = (probabilities * (log_all - part["reference"])).sum(1).mean()
        return losses

    def _reference_log_probabilities(self, flat: dict[str, torch.Tensor]) -> torch.Tensor:
        """Of the reference policy, for every decision of the rollout."""
        s, found = self.settings, []
        with torch.inference_mode(), precision_context(s.precision, s.device):
            for start in range(0, len(flat["mask"]), s.minibatch):
                part = slice(start, start + s.minibatch)
                logits = self.reference.logits(flat["observation"][part])
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
        options = self.games.batch.options
        return NetworkAgent(past, self.game, options, self.settings.canonical_suits, "past", greedy=False)

    def player(self) -> NetworkAgent:
        """The learner as an agent, greedy."""
        options = self.games.batch.options
        return NetworkAgent(self.network, self.game, options, self.settings.canonical_suits, "ppo")

    # --- checkpoints ---

    def notes(self) -> dict[str, Any]:
        """What its model file says."""
        s = self.settings
        facts = {"decisions": self.decisions, "settings": model_file.plain(s)}
        return model_file.notes("ppo", self.game, s.options, s.canonical_suits, Shape(s.network, s.critic), **facts)

    def save(self, path: Path) -> None:
        """Writes a checkpoint."""
        training = {
            "optimizer": self.optimizer.state_dict(),
            "reference": self.reference.state_dict(),
            "pool": self.pool,
            "generator": stored(self.generator),
            "states": torch.from_numpy(self.games.batch.states.view(np.uint8).copy()),
            "by_opponent": torch.from_numpy(self.games.by_opponent.copy()),
            "decisions": self.decisions,
            "updates": self.updates,
            "curve": self.curve,
        }
        model_file.save(path, self.network, self.notes(), training)

    def restore(self, path: Path) -> None:
        """Goes on where a checkpoint stood, exactly.

        Raises:
            CardGymError: there is none, it does not fit, or was made with other settings; the message says why.
        """
        model = model_file.load_checkpoint(path, self.game, self.notes(), FREE)
        t = model.training
        self.network.load_state_dict(model.network.state_dict())
        self.optimizer.load_state_dict(t["optimizer"])
        self.reference.load_state_dict(t["reference"])
        self.pool = [{k: v.to(self.settings.device) for k, v in past.items()} for past in t["pool"]]
        self.decisions, self.updates, self.curve = t["decisions"], t["updates"], t["curve"]
        self.generator = self.games.generator = restored(t["generator"])
        self.games.by_opponent[:] = t["by_opponent"].numpy()
        self.games.batch.restore(t["states"].numpy().view(self.game.dtype))


# --- The run ---------------------------------------------------------------------------------


def train(settings: Settings, console: Console) -> list[Result]:
    """Trains, evaluates and writes everything; returns the final results.

    Raises:
        CardGymError: settings that do not fit together, or a checkpoint that does not belong to them.
    """
    game = cardgym.load_game(settings.game)
    folder = run_folder(settings.out, settings.game)
    torch.set_num_threads(settings.threads)
    learner = Learner(game, settings)
    if settings.resume:
        learner.restore(folder / "checkpoint.pt")
    write_json(folder / "settings.json", model_file.plain(settings))
    run(learner, Ladder(game, settings.curve_deals), folder, console)
    model_file.save(folder / "model.pt", learner.network, learner.notes())
    console.print(f"written: {folder / 'model.pt'}", soft_wrap=True)
    title = f"{game.title}: self-play PPO, seed {settings.seed}"
    return report(game, learner.player(), learner.curve, title, folder, console, settings.deals, settings.record_games)


def run(learner: Learner, ladder: Ladder, folder: Path, console: Console) -> None:
    """Updates until all decisions are made, with progress bar, log, evaluations and checkpoints."""
    s = learner.settings
    every = max(1, s.decisions // s.curve_points)
    log = Log(folder, learner.decisions)
    began, first, figures = time.perf_counter(), learner.decisions, {}
    with Bar(f"training on {learner.game.title}", s.decisions, console) as bar:
        while learner.decisions < s.decisions:
            if not learner.curve or learner.decisions // every > learner.curve[-1]["decisions"] // every:
                learner.curve.append(ladder.judge(learner.player(), learner.decisions))
                learner.save(folder / "checkpoint.pt")
                write_json(folder / "curve.json", learner.curve)
            figures = learner.update()
            figures["speed"] = (learner.decisions - first) / (time.perf_counter() - began)
            log.add(figures)
            bar.update(min(s.decisions, learner.decisions), _note(figures, learner.curve))
    log.close()
    if learner.curve[-1]["decisions"] < learner.decisions:
        learner.curve.append(ladder.judge(learner.player(), learner.decisions))
        learner.save(folder / "checkpoint.pt")
    console.print(f"{learner.decisions - first} decisions in {time.perf_counter() - began:.0f} s")


def _note(figures: dict[str, float], curve: Sequence[dict[str, Any]]) -> str:
    """The figures worth seeing beside a progress bar."""
    shown = [f"{figures['speed']:.0f}/s", f"entropy {figures['entropy']:.2f}"]
    shown += [f"loss {figures['policy_loss']:.3f} value {figures['value_loss']:.3f}", win_rates(curve[-1])]
    return "  ".join(shown)


if __name__ == "__main__":
    command_line(Settings, "ppo", train)
