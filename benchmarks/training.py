"""Measures training: native self-play PPO beside MaskablePPO of sb3-contrib, same network, same batch, in one run.

    python benchmarks/training.py --out runs/bench --docs docs/training.md

Every learner makes its updates in turn, again and again; ratios are medians of the ratios within one round, so that a
busy moment of the machine disturbs them little.  A decision counts when the learner learns from it; those of
opponents that sit inside an environment do not.
"""

from __future__ import annotations

import cProfile
import itertools
import pstats
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import report
import torch
import tyro
from gymnasium import spaces
from rich.console import Console
from rich.progress import track
from sb3_contrib import MaskablePPO
from speed import circumstances
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor
from torch import nn
from torch.profiler import ProfilerActivity, profile

import cardgym
from cardgym.baselines import ppo, ppo_sb3
from cardgym.baselines.agents import RandomAgent
from cardgym.baselines.sb3_agent import ScaledObservation
from cardgym.game import Game
from cardgym.wrappers import CanonicalSuits, SelfPlay

BEGIN, END = "<!-- figures: written by benchmarks/training.py -->", "<!-- end of figures -->"
PYTHON_LOOP = "MaskablePPO, DummyVecEnv of single environments"
VEC_ENV = "MaskablePPO, our VecEnv (ppo_sb3)"
NATIVE = "native PPO"
PRODUCTS = ("aten::mm", "aten::addmm", "aten::linear", "mkldnn::_linear_pointwise")


@dataclass(frozen=True)
class Settings:
    """What to measure and where to write it."""

    game: str = "chouine"
    """name of the game"""
    num_games: int = 256
    """games side by side"""
    steps: int = 64
    """decisions of the learner per game and update"""
    minibatch: int = 1024
    """decisions per gradient step"""
    epochs: int = 3
    """passes over the data of an update"""
    network: tuple[int, ...] = (256, 256)
    """hidden layers, which policy and value share"""
    rounds: int = 5
    """how often every learner makes an update"""
    threads: tuple[int, ...] = (1, 2)
    """threads of torch"""
    out: Path | None = None
    """folder for training.json"""
    docs: Path | None = None
    """page to put the tables into, between its marks"""


def native(game: Game, settings: Settings, precision: str) -> Callable[[], int]:
    """An update of native PPO; returns its number of decisions."""
    learner = native_learner(game, settings, precision)

    def update() -> int:
        before = learner.decisions
        learner.update()
        return learner.decisions - before

    return update


def native_learner(game: Game, settings: Settings, precision: str) -> ppo.Learner:
    """Native PPO as it is measured."""
    values = ppo.Settings(
        game=game.name, decisions=1 << 40, num_games=settings.num_games, steps=settings.steps,
        minibatch=settings.minibatch, epochs=settings.epochs, network=settings.network,
        precision=precision, canonical_suits=bool(game.suit_order),
    )  # fmt: skip
    return ppo.Learner(game, values)


class Body(ScaledObservation):
    """The hidden layers of :class:`cardgym.baselines.network.Network` as SB3 takes them."""

    def __init__(self, observation_space: spaces.Box, hidden: tuple[int, ...]) -> None:
        super().__init__(observation_space)
        self._features_dim = hidden[-1]
        sizes = itertools.pairwise((observation_space.shape[0], *hidden))
        self.layers = nn.Sequential(*(layer for a, b in sizes for layer in (nn.Linear(a, b), nn.ReLU())))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Hidden numbers, shape (n, width of the last layer)."""
        hidden: torch.Tensor = self.layers(super().forward(observations))
        return hidden


def maskable(game: Game, settings: Settings, python_loop: bool) -> Callable[[], int]:
    """An update of MaskablePPO; opponents are random, the cheapest ones."""
    values = ppo_sb3.Settings(
        game=game.name, num_games=settings.num_games, opponents=("random",), opponent_weights=(1.0,),
        canonical_suits=bool(game.suit_order),
    )  # fmt: skip
    env_id = cardgym.ids_of(game.name)[0]

    def single() -> Any:
        env = SelfPlay(cardgym.make(env_id), [RandomAgent()])
        return CanonicalSuits(env) if game.suit_order else env

    envs = VecMonitor(DummyVecEnv([single] * settings.num_games)) if python_loop else ppo_sb3.make_envs(game, values, 0)
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=settings.steps, batch_size=settings.minibatch, n_epochs=settings.epochs,
        seed=0, device="cpu",
        policy_kwargs={
            "net_arch": [], "features_extractor_class": Body, "features_extractor_kwargs": {"hidden": settings.network}
        },
    )  # fmt: skip

    def update() -> int:
        before = model.num_timesteps
        model.learn(settings.num_games * settings.steps, reset_num_timesteps=not before)
        return int(model.num_timesteps - before)

    return update


def measure(game: Game, settings: Settings, console: Console) -> list[dict[str, Any]]:
    """Decisions per second of every learner, with one thread and with several."""
    learners = {
        PYTHON_LOOP: maskable(game, settings, True),
        VEC_ENV: maskable(game, settings, False),
        f"{NATIVE}, float32": native(game, settings, "float32"),
        f"{NATIVE}, bfloat16": native(game, settings, "bfloat16"),
    }
    rows = []
    for threads in settings.threads:
        torch.set_num_threads(threads)
        speeds: dict[str, list[float]] = {name: [] for name in learners}
        for done in track(range(settings.rounds + 1), f"{threads} threads", console=console):
            for name, update in learners.items():
                began = perf_counter()
                decisions = update()
                if done:  # the first round warms up
                    speeds[name].append(decisions / (perf_counter() - began))
        rows += [summary(name, threads, speeds) for name in learners]
    return rows


def summary(name: str, threads: int, speeds: dict[str, list[float]]) -> dict[str, Any]:
    """One line of the table."""

    def ratio(base: str) -> float:
        return statistics.median(a / b for a, b in zip(speeds[name], speeds[base], strict=True))

    return {
        "name": name,
        "threads": threads,
        "speed": statistics.median(speeds[name]),
        "against_loop": ratio(PYTHON_LOOP),
        "against_vec_env": ratio(VEC_ENV),
        "speeds": speeds[name],
    }


def where_time_goes(game: Game, settings: Settings, precision: str, threads: int) -> dict[str, float]:
    """Shares of an update's time by its parts, and of matrix products among all."""
    torch.set_num_threads(threads)
    learner = native_learner(game, settings, precision)
    learner.update()
    profiler = cProfile.Profile()
    for _ in range(3):
        profiler.runcall(learner.update)
    stats: Any = pstats.Stats(profiler)
    spent = {(Path(file).name, name): cumulative for (file, _, name), (_, _, _, cumulative, _) in stats.stats.items()}
    total = spent["ppo.py", "update"]
    parts = {
        "collecting: network": spent["ppo.py", "_think"],
        "collecting: games": spent["batch.py", "step"],
        "collecting: suits": sum(v for (file, name), v in spent.items() if file == "suits.py" and name != "_apply"),
        "collecting: drawing actions, advantages": spent["gae.py", "draw"] + spent["gae.py", "advantages"],
        "learning: forward": spent["ppo.py", "_step"] - spent["gae.py", "loss"] - spent["training.py", "descend"],
        "learning: losses and their gradients": spent["gae.py", "loss"],
        "learning: backward": spent["network.py", "backward"],
        "learning: clipping, Adam": spent["clip_grad.py", "clip_grad_norm_"] + spent["adam.py", "step"],
    }
    shares = {name: seconds / total for name, seconds in parts.items()}
    shares["the rest: minibatches, copies, Python"] = 1.0 - sum(shares.values())
    with profile(activities=[ProfilerActivity.CPU]) as torch_profile:
        learner.update()
    events = torch_profile.key_averages()
    products = sum(e.self_cpu_time_total for e in events if e.key in PRODUCTS)
    return {**shares, "products": products / sum(e.self_cpu_time_total for e in events)}


def tables(results: dict[str, Any]) -> list[report.Titled]:
    """Title, heads and rows of both tables."""
    speed = [
        (
            f"{r['name']}, {r['threads']} thread{'s' if r['threads'] > 1 else ''}",
            report.rate(r["speed"]),
            report.ratio(r["against_loop"]),
            report.ratio(r["against_vec_env"]),
        )
        for r in results["speed"]
    ]
    names = list(results["time"])
    time = [
        (part, *(f"{100 * results['time'][name][part]:.0f} %" for name in names))
        for part in results["time"][names[0]]
        if part != "products"
    ]
    time.append(
        ("matrix products among torch's work", *(f"{100 * results['time'][n]['products']:.0f} %" for n in names))
    )
    heads = ("", "decisions/s", "against the Python loop", "against ppo_sb3")
    return [("Speed", heads, speed), ("Where the time of native PPO goes", ("", *names), time)]


def main(settings: Settings) -> None:
    """Measures, prints, writes."""
    console = Console()
    game = cardgym.load_game(settings.game)
    torch.distributions.Distribution.set_default_validate_args(False)  # as ppo_sb3 does
    results: dict[str, Any] = {
        **circumstances(),
        "speed": measure(game, settings, console),
        "time": {
            f"{precision}, {threads} thread{'s' if threads > 1 else ''}": where_time_goes(
                game, settings, precision, threads
            )
            for precision in ("float32", "bfloat16")
            for threads in settings.threads
        },
    }
    report.show(results, tables(results), console)
    if settings.out is not None:
        settings.out.mkdir(parents=True, exist_ok=True)
        report.write_json(results, settings.out / "training.json")
    if settings.docs is not None:
        report.write_between(settings.docs, BEGIN, END, report.markdown(results, tables(results)))


if __name__ == "__main__":
    main(tyro.cli(Settings))
