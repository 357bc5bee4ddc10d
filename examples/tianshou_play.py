"""Tianshou on a card game, through its PettingZoo environment: a collector plays all seats by random legal actions.

    python examples/tianshou_play.py

Put algorithms in place of ``MARLRandomDiscreteMaskedOffPolicyAlgorithm`` to train.  Needs
``pip install 'cardgym[tianshou]'``.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import tyro
from tianshou.algorithm import MARLRandomDiscreteMaskedOffPolicyAlgorithm, MultiAgentOffPolicyAlgorithm
from tianshou.data import Collector
from tianshou.env import DummyVectorEnv, PettingZooEnv

from cardgym.progress import Bar
from cardgym.wrappers import PettingZooAEC


@dataclasses.dataclass(frozen=True)
class Arguments:
    """Settings."""

    env: str = "cardgym/Chouine-v0"
    """Id of the environment."""
    games: int = 10
    """Games to play."""
    seed: int = 0
    """Of the first game."""


def main(arguments: Arguments) -> np.ndarray:
    """Plays, prints the mean returns and returns all of them, shape (games, agents)."""
    env = PettingZooEnv(PettingZooAEC(arguments.env))
    algorithms = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=env.action_space) for _ in env.agents]
    players = MultiAgentOffPolicyAlgorithm(algorithms=algorithms, env=env)
    collector = Collector(players, DummyVectorEnv([lambda: PettingZooEnv(PettingZooAEC(arguments.env))]))
    collector.reset(gym_reset_kwargs={"seed": arguments.seed})
    returns = []
    with Bar("random play", arguments.games) as bar:
        for game in range(arguments.games):
            returns.append(collector.collect(n_episode=1).returns[0])
            bar.update(game + 1)
    print(f"{arguments.env}: mean returns {np.mean(returns, axis=0).tolist()} in {arguments.games} games")
    return np.array(returns)


if __name__ == "__main__":
    main(tyro.cli(Arguments, description=__doc__))
