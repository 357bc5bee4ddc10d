"""Self-play PPO with Ray RLlib: one network for all seats, illegal actions masked, games played by many workers.

    python examples/rllib_self_play.py                  # a local Ray cluster of two workers
    python examples/rllib_self_play.py --address auto   # on a running cluster, see docs/ecosystem.md

Needs ``pip install 'cardgym[rllib,train]'``.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import ray
import torch
import tyro
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from cardgym.baselines.agents import CallableAgent, Decisions, RandomAgent
from cardgym.baselines.evaluate import evaluate
from cardgym.progress import Bar
from cardgym.wrappers import RLlibEnv


@dataclasses.dataclass(frozen=True)
class Arguments:
    """Settings."""

    env: str = "cardgym/Chouine-v0"
    """Id of the environment."""
    workers: int = 2
    """Processes that play."""
    iterations: int = 20
    """Iterations of PPO."""
    batch: int = 4000
    """Decisions in an iteration."""
    deals: int = 200
    """Duplicate deals of the evaluation against random play."""
    address: str | None = None
    """Of a running Ray cluster; a local one is started without it."""
    seed: int = 0
    """Of the training."""


def main(arguments: Arguments) -> float:
    """Trains, prints and returns the share of decided games won against random play, in percent."""
    if arguments.address is None:
        ray.init(num_cpus=arguments.workers + 1, include_dashboard=False, log_to_driver=False)
    else:
        ray.init(address=arguments.address)
    algorithm = config_of(arguments).build_algo()
    try:
        with Bar("PPO", arguments.iterations) as bar:
            for done in range(arguments.iterations):
                result = algorithm.train()
                entropy = result["learners"]["shared"]["entropy"]
                bar.update(done + 1, f"{decisions(result)} decisions, entropy {entropy:.2f}")
        workers = algorithm.env_runner_group.num_healthy_remote_workers()
        won = win_rate(algorithm, arguments)
        print(f"{decisions(result)} decisions by {workers} workers: {won:.1f} % of decided games won against random")
        return won
    finally:
        algorithm.stop()
        ray.shutdown()


def config_of(arguments: Arguments) -> PPOConfig:
    """PPO with one masked policy for all seats."""
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [256, 256]})
    return (
        PPOConfig()
        # RLlib's check of an environment takes actions without looking at masks; cardgym.testing checks these ones.
        .environment(RLlibEnv, env_config={"env": arguments.env}, disable_env_checking=True)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **kwargs: "shared")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": module}))
        .env_runners(num_env_runners=arguments.workers, num_envs_per_env_runner=1, batch_mode="complete_episodes")
        .learners(num_learners=0)
        .training(
            train_batch_size_per_learner=arguments.batch,
            minibatch_size=min(512, arguments.batch),
            num_epochs=3,
            gamma=1.0,
            lambda_=0.95,
            lr=5e-4,
            entropy_coeff=0.02,
        )
        .debugging(seed=arguments.seed)
    )


def decisions(result: dict[str, Any]) -> int:
    """Decisions made so far."""
    return int(result["env_runners"]["num_env_steps_sampled_lifetime"])


def win_rate(algorithm: PPO, arguments: Arguments) -> float:
    """Share of decided games that the trained policy, sampled from, wins against random play."""
    env = RLlibEnv({"env": arguments.env})
    module, high = algorithm.get_module("shared"), env.card_env.layouts["observation"].high

    def act(positions: Decisions, generator: np.random.Generator) -> np.ndarray:
        scaled = torch.from_numpy(positions.observation / np.maximum(1, high).astype(np.float32))
        mask = torch.from_numpy(positions.mask.astype(np.float32))
        with torch.no_grad():
            logits = module.forward_inference({"obs": {"observations": scaled, "action_mask": mask}})
        noise = generator.gumbel(size=mask.shape)
        chosen: np.ndarray = (logits["action_dist_inputs"].numpy() + noise).argmax(axis=1)
        return chosen

    game, options = env.card_env.game, env.card_env.options
    agent = CallableAgent(act, "rllib")
    return 100.0 * evaluate(game, options, agent, RandomAgent(), arguments.deals, seed=arguments.seed).win_rate


if __name__ == "__main__":
    main(tyro.cli(Arguments, description=__doc__))
