"""sb3-contrib's MaskablePPO learns a game against its rule bot, on the compiled vector environment.

    python examples/sb3_against_rule_bot.py

Needs ``pip install 'cardgym[train]'``.  ``make train`` does the same with settings tuned for each game.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import cardgym
from cardgym.baselines.agents import RandomAgent, RuleAgent
from cardgym.progress import Bar
from cardgym.wrappers import SB3VecEnv, VectorCanonicalSuits, VectorSelfPlay


@dataclasses.dataclass(frozen=True)
class Arguments:
    """Settings."""

    decisions: int = 100_000
    """Decisions of the learner."""
    games: int = 64
    """Games played side by side."""
    test_games: int = 500
    """Games against random play at the end, or a few more."""
    seed: int = 0
    """Of everything."""


class Progress(BaseCallback):
    """Moves a bar."""

    def __init__(self, bar: Bar) -> None:
        super().__init__()
        self.bar = bar

    def _on_step(self) -> bool:
        self.bar.update(self.num_timesteps)
        return True


def environment(opponent: Any, arguments: Arguments) -> SB3VecEnv:
    """Chouine as SB3 sees it: one learner in each game, the opponent plays the other seat."""
    envs = cardgym.make_vec("cardgym/Chouine-v0", num_envs=arguments.games, reward="margin")
    envs = VectorSelfPlay(envs, opponents=[opponent], seat="random")
    return SB3VecEnv(VectorCanonicalSuits(envs), seed=arguments.seed)  # suits are relabelled, trumps first


def main(arguments: Arguments) -> float:
    """Trains, prints and returns the share of games won against random play."""
    env = environment(RuleAgent(cardgym.load_game("chouine")), arguments)
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=32, batch_size=512, n_epochs=3, gamma=1.0, ent_coef=0.02, seed=arguments.seed,
        device="cpu",
    )  # fmt: skip
    with Bar("MaskablePPO", arguments.decisions) as bar:
        model.learn(arguments.decisions, callback=Progress(bar))
    won = win_rate(model, environment(RandomAgent(), arguments), arguments.test_games)
    print(f"{100 * won:.1f} % of decided games won against random play")
    return won


def win_rate(model: MaskablePPO, env: SB3VecEnv, games: int) -> float:
    """Share of decided games that the model wins."""
    results: list[float] = []
    observations = env.reset()
    while len(results) < games:
        actions, _ = model.predict(observations, action_masks=env.action_masks())
        observations, rewards, over, _ = env.step(actions)
        results += rewards[over & (rewards != 0)].tolist()
    return float(np.mean(np.array(results) > 0))


if __name__ == "__main__":
    main(tyro.cli(Arguments, description=__doc__))
