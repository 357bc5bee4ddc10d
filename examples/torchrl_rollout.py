"""TorchRL on a card game, through its PettingZoo wrapper: a masked network plays all seats.

    python examples/torchrl_rollout.py

The network is untrained: this shows where observation, mask, turn and reward stand in TorchRL's tensors.  Needs
``pip install 'cardgym[torchrl]'``.
"""

from __future__ import annotations

import dataclasses

import torch
import tyro
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor

from cardgym.progress import Bar
from cardgym.wrappers import PettingZooAEC


@dataclasses.dataclass(frozen=True)
class Arguments:
    """Settings."""

    env: str = "cardgym/Chouine-v0"
    """Id of the environment."""
    games: int = 5
    """Games to play."""
    seed: int = 0
    """Of everything."""


def main(arguments: Arguments) -> list[torch.Tensor]:
    """Plays; prints and returns the agents' returns of each game, shape (agents,)."""
    torch.manual_seed(arguments.seed)
    # TorchRL puts each agent in a group of its own; "mask" tells whose turn it is, "action_mask" what is legal.
    env = PettingZooWrapper(PettingZooAEC(arguments.env), use_mask=True, seed=arguments.seed)
    policy = shared_policy(env)
    returns = []
    with Bar("masked network", arguments.games) as bar:
        for game in range(arguments.games):
            with torch.no_grad():
                played = env.rollout(1000, policy)
            returns.append(torch.stack([played["next", agent, "reward"].sum() for agent in env.group_map]))
            bar.update(game + 1, f"{len(played)} decisions")
    print(f"{arguments.env}: mean returns {torch.stack(returns).mean(0).tolist()} in {arguments.games} games")
    return returns


def shared_policy(env: PettingZooWrapper) -> TensorDictSequential:
    """One network for all agents; TorchRL takes the action of the agent whose turn it is."""
    agents = list(env.group_map)
    space = env.observation_spec[agents[0], "observation", "observation"]
    actions = env.full_action_spec[agents[0], "action"].space.n
    network = nn.Sequential(nn.Linear(space.shape[-1], 128), nn.ReLU(), nn.Linear(128, actions))

    def logits(observation: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = network(observation.float())
        return out

    actors = [
        ProbabilisticActor(
            TensorDictModule(logits, [(agent, "observation", "observation")], [(agent, "logits")]),
            in_keys={"logits": (agent, "logits"), "mask": (agent, "action_mask")},
            out_keys=[(agent, "action")],
            distribution_class=MaskedCategorical,
        )
        for agent in agents
    ]
    return TensorDictSequential(*actors)


if __name__ == "__main__":
    main(tyro.cli(Arguments, description=__doc__))
