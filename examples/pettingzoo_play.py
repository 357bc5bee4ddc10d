"""The agent-environment cycle of PettingZoo: random legal play, whoever is to act.

    python examples/pettingzoo_play.py --env cardgym/Tarot-v0

Needs ``pip install 'cardgym[pettingzoo]'``.
"""

from __future__ import annotations

import dataclasses

import tyro

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
    """Of the first game; the next ones have the numbers that follow."""


def main(arguments: Arguments) -> dict[str, float]:
    """Plays, prints and returns the mean return of every agent."""
    env = PettingZooAEC(arguments.env)
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.possible_agents:
        env.action_space(agent).seed(arguments.seed)
    with Bar("random play", arguments.games) as bar:
        for game in range(arguments.games):
            env.reset(seed=arguments.seed + game)
            for agent in env.agent_iter():
                observation, reward, termination, truncation, _ = env.last()
                returns[agent] += reward
                over = termination or truncation
                env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
            bar.update(game + 1)
    means = {agent: total / arguments.games for agent, total in returns.items()}
    print(f"{arguments.env}: " + ", ".join(f"{agent} {mean:+.2f}" for agent, mean in means.items()))
    return means


if __name__ == "__main__":
    main(tyro.cli(Arguments, description=__doc__))
