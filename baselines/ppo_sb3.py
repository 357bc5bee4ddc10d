"""Trains MaskablePPO (sb3-contrib) on a game, evaluates it, and writes what a newcomer wants to look at.

    python -m cardgym.baselines.ppo_sb3 --game chouine

writes to ``runs/chouine``:

    model.zip        the trained policy; ``cardgym.baselines.agents.load_agent`` plays it
    checkpoint.zip   the policy under way, replaced at every evaluation; ``--resume`` goes on from it
    curve.png        win rates over training
    progress.csv     one row per update, also as tensorboard events
    curve.json       the evaluations behind the picture
    results.json     the final evaluation with its intervals and seeds
    games.jsonl      a record of evaluation games
    settings.json    the settings of the run

The learner sits in one seat of each of many games; the other seats are played by agents (``opponents``).  Every
setting is a flag; their defaults come from ``cardgym/configs/ppo_sb3_<game>.toml``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardgym.errors import CardGymError, InvalidOption, require_for_script
from cardgym.files import written_aside

require_for_script(__name__, ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "matplotlib"), "train")

import torch
from rich.console import Console
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecMonitor
from torch import nn

import cardgym
from cardgym.baselines import sb3_agent
from cardgym.baselines.agents import load_agent
from cardgym.baselines.evaluate import Result, write_json
from cardgym.baselines.imitation import Watched, imitate
from cardgym.baselines.model_file import check_settings, plain
from cardgym.baselines.sb3_agent import SB3Agent, ScaledObservation
from cardgym.baselines.training import OF_A_CALL, Ladder, Line, PPOSettings, command_line, report, run_folder, win_rates
from cardgym.envs.vector_env import CardVectorEnv
from cardgym.game import Game
from cardgym.progress import Bar
from cardgym.wrappers import SB3VecEnv, VectorCanonicalSuits, VectorSelfPlay


@dataclass(frozen=True, kw_only=True)
class Settings(PPOSettings):
    """Trains MaskablePPO on a game and evaluates it."""

    opponents: tuple[str, ...] = ("rule", "random")
    """agents in the other seats: "random", "rule", search agents such as "pimc-16", files of saved models"""
    opponent_weights: tuple[float, ...] = (3.0, 1.0)
    """how often each of them is drawn"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_games * self.steps % self.minibatch:
            size = self.num_games * self.steps
            raise InvalidOption(f"minibatch={self.minibatch} does not divide num_games * steps = {size}")


FREE = ("decisions", "threads", "curve_points", "curve_deals", "deals", "record_games")
"""Settings that may change when a run is resumed."""


def make_envs(game: Game, settings: Settings, seed: int) -> VecMonitor:
    """The training games as one ``VecEnv``; game ``i`` starts from the seed ``seed + i``."""
    envs: Any = CardVectorEnv(game, num_envs=settings.num_games, copy=False, **settings.options)
    agents = [load_agent(name, game) for name in settings.opponents]
    envs = VectorSelfPlay(envs, agents, weights=settings.opponent_weights)
    if settings.canonical_suits:
        envs = VectorCanonicalSuits(envs)
    return VecMonitor(SB3VecEnv(envs, seed=seed))


class NotedPPO(MaskablePPO):
    """MaskablePPO that carries, in what it saves, all that it takes to play or to go on.

    Attributes:
        cardgym_notes: see :func:`cardgym.baselines.sb3_agent.notes`.
        cardgym_settings: those of the run.
        cardgym_curve: the evaluations so far.
    """

    cardgym_notes: dict[str, Any]
    cardgym_settings: dict[str, Any]
    cardgym_curve: list[dict[str, Any]]


def make_model(game: Game, settings: Settings) -> NotedPPO:
    """A fresh model with its games."""
    model = NotedPPO(
        "MlpPolicy",
        make_envs(game, settings, settings.seed),
        learning_rate=Line(settings.learning_rate, settings.final_learning_rate),
        n_steps=settings.steps,
        batch_size=settings.minibatch,
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip,
        ent_coef=settings.entropy,
        vf_coef=settings.value_weight,
        max_grad_norm=settings.max_grad_norm,
        seed=settings.seed,
        device="cpu",
        policy_kwargs={
            "net_arch": list(settings.network),
            "activation_fn": nn.ReLU,
            "features_extractor_class": ScaledObservation,
        },
    )
    model.cardgym_notes = sb3_agent.notes(game, settings.canonical_suits, settings.options)
    model.cardgym_settings = plain(settings, without=OF_A_CALL)
    model.cardgym_curve = []
    return model


def resumed(game: Game, settings: Settings, checkpoint: Path) -> NotedPPO:
    """The model of a checkpoint with fresh games, which differ from those it has learned from.

    Raises:
        CardGymError: there is no checkpoint, or it was made with other settings; the message names the first.
    """
    if not checkpoint.is_file():
        raise CardGymError(f"{checkpoint}: nothing to resume from; start without --resume")
    sb3_agent.read_notes(checkpoint, game)
    model = NotedPPO.load(checkpoint, device="cpu")
    check_settings(checkpoint, model.cardgym_settings, plain(settings, without=(*OF_A_CALL, *FREE)))
    model.set_env(make_envs(game, settings, settings.seed + model.num_timesteps))
    return model


def imitation_step(model: MaskablePPO) -> Callable[[Watched, float], float]:
    """One gradient step of a model on decisions of another agent, as :func:`imitate` asks for it."""
    policy = model.policy
    policy.set_training_mode(True)

    def step(part: Watched, rate: float) -> float:
        policy.optimizer.param_groups[0]["lr"] = rate
        values, likelihoods, _ = policy.evaluate_actions(
            torch.from_numpy(part.observation).float(),
            torch.from_numpy(part.action),
            action_masks=part.mask.astype(bool),  # type: ignore[arg-type]
        )
        cross_entropy = -likelihoods.mean()
        value_loss = nn.functional.mse_loss(values.flatten(), torch.from_numpy(part.gain).float())
        policy.optimizer.zero_grad()
        (cross_entropy + model.vf_coef * value_loss).backward()
        nn.utils.clip_grad_norm_(policy.parameters(), model.max_grad_norm)
        policy.optimizer.step()
        return float(cross_entropy.detach())

    return step


def save(model: MaskablePPO, path: Path) -> None:
    """Saves a model aside and renames it into place."""
    with written_aside(path) as aside:
        model.save(aside)


class Watch(BaseCallback):
    """Entropy schedule, progress bar, evaluations for the curve, checkpoints."""

    model: NotedPPO

    def __init__(self, settings: Settings, bar: Bar, judge: Callable[[int], dict[str, Any]], folder: Path) -> None:
        super().__init__()
        self.settings, self.bar, self.judge, self.folder = settings, bar, judge, folder
        self._entropy = Line(settings.entropy, settings.final_entropy)
        self._every = max(1, settings.decisions // max(1, settings.curve_points))
        self._note, self._began, self._first = "", time.perf_counter(), 0

    def _on_training_start(self) -> None:
        self._began, self._first = time.perf_counter(), self.num_timesteps

    def _on_rollout_start(self) -> None:
        # Here, and not at the end of a rollout, the policy has learned from all decisions counted so far.
        curve = self.model.cardgym_curve
        if not curve or self.num_timesteps // self._every > curve[-1]["decisions"] // self._every:
            curve.append(self.judge(self.num_timesteps))
            save(self.model, self.folder / "checkpoint.zip")
            write_json(self.folder / "curve.json", curve)
            self._note = win_rates(curve[-1])
        self.model.ent_coef = self._entropy(1.0 - min(1.0, self.num_timesteps / self.settings.decisions))

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        speed = (self.num_timesteps - self._first) / (time.perf_counter() - self._began)
        values = self.model.logger.name_to_value
        learned = [
            f"{label} {abs(values[key]):.2f}"
            for label, key in (("entropy", "train/entropy_loss"), ("value loss", "train/value_loss"))
            if key in values
        ]
        self.bar.update(self.num_timesteps, "  ".join([f"{speed:.0f}/s", *learned, self._note]))


def train(settings: Settings, console: Console) -> list[Result]:
    """Trains, evaluates and writes everything; returns the final results.

    Raises:
        CardGymError: settings that do not fit together, or a checkpoint that does not belong to them.
    """
    game = cardgym.load_game(settings.game)
    folder = run_folder(settings.out, settings.game)
    torch.set_num_threads(settings.threads)
    torch.distributions.Distribution.set_default_validate_args(False)
    set_random_seed(settings.seed)

    model = resumed(game, settings, folder / "checkpoint.zip") if settings.resume else make_model(game, settings)
    write_json(folder / "settings.json", plain(settings))
    model.set_logger(configure(str(folder), ["csv", "tensorboard"]))

    ladder = Ladder(game, settings.curve_deals)

    def judge(decisions: int) -> dict[str, Any]:
        return ladder.judge(SB3Agent(model, game, settings.canonical_suits), decisions)

    began = time.perf_counter()
    if settings.imitate and not settings.resume:
        options, canonical = game.options.of(**settings.options), settings.canonical_suits
        with Bar("learning from the rule bot", settings.imitate, console) as bar:
            imitate(
                imitation_step(model),
                game,
                options,
                ladder.rungs[1],
                settings.imitate,
                canonical,
                bar.update,
                settings.seed,
            )
    left = settings.decisions - model.num_timesteps
    update = settings.num_games * settings.steps
    with Bar(f"training on {game.title}", -(-settings.decisions // update) * update, console) as bar:
        if left > 0:
            model.learn(left, callback=Watch(settings, bar, judge, folder), reset_num_timesteps=not settings.resume)
    console.print(f"trained on {model.num_timesteps} decisions in {time.perf_counter() - began:.0f} s")
    model.cardgym_curve.append(judge(model.num_timesteps))
    save(model, folder / "model.zip")
    console.print(f"written: {folder / 'model.zip'}", soft_wrap=True)
    player, title = SB3Agent(model, game, settings.canonical_suits), f"{game.title}: MaskablePPO, seed {settings.seed}"
    curve = model.cardgym_curve
    return report(game, player, curve, title, folder, console, settings.deals, settings.record_games)


if __name__ == "__main__":
    command_line(Settings, "ppo_sb3", train)
