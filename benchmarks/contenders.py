"""What is measured: every way of stepping a game, each as a function that makes some steps and says how long they took.

The time to step (with observation and mask produced) is kept apart from the time to choose random legal actions.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import cardgym
from cardgym.batch import Batch, playout, sample

SB3_GAMES = 256


class Timing(NamedTuple):
    """Seconds spent on some decisions.

    Attributes:
        decisions: how many.
        stepping: seconds to produce observations and masks and to carry actions out; restarts of finished games too.
        choosing: seconds to choose random legal actions; None where that cannot be told apart from stepping.
    """

    decisions: int
    stepping: float
    choosing: float | None


@dataclass(frozen=True)
class Contender:
    """One line of the table.

    Attributes:
        group: heading, an environment id or the name of another library.
        name: what is stepped.
        run: makes about that many steps.
        reference: the line that the others of its group are compared with.
    """

    group: str
    name: str
    run: Callable[[int], Timing]
    reference: bool = False


def contenders(env_id: str, threads: int, sizes: tuple[int, ...]) -> Iterator[Contender]:
    """The ways to step one of the registered environments."""
    main = 1024
    yield Contender(env_id, f"compiled batch, {main:,} games", _batch(env_id, main), reference=True)
    for copy in (False, True):
        yield Contender(env_id, f"vector env, {main:,} games, copy={copy}", _vector(env_id, main, 1, copy))
    for count in sorted({1, threads}):
        for size in sizes:
            if (count, size) != (1, main):
                plural = "threads" if count > 1 else "thread"
                run = _vector(env_id, size, count, copy=False)
                yield Contender(env_id, f"vector env, {size:,} games, {count} {plural}", run)
    yield Contender(env_id, "single env, unwrapped", _single(cardgym.make(env_id).unwrapped))
    yield Contender(env_id, "single env, gymnasium.make", _single(gymnasium.make(env_id)))
    if installed("pettingzoo"):
        yield Contender(env_id, "PettingZoo AEC env", _aec(env_id))
    if installed("stable_baselines3"):
        yield Contender(env_id, f"SB3 VecEnv, {SB3_GAMES} games, decisions of the learner", _sb3(env_id))
    yield Contender(env_id, "play-outs, no observation", _playout(env_id, main))
    for playouts in ("random", "rule"):
        yield Contender(env_id, f"PIMC search, 64 worlds, {playouts} play-outs", _pimc(env_id, playouts))
    yield Contender(env_id, "ISMCTS search, 1,000 iterations, random play-outs", _ismcts(env_id))


def installed(module: str) -> bool:
    """Can a module be imported?"""
    return importlib.util.find_spec(module) is not None


def _sample_one(mask: np.ndarray, generator: np.random.Generator) -> int:
    return int(sample(mask[None], generator)[0])


# --- Many games ------------------------------------------------------------------------------


def batch_of(env_id: str, games: int) -> Batch:
    """The compiled batch behind a vector environment, its games started."""
    envs: Any = cardgym.make_vec(env_id, num_envs=games)
    envs.reset(seed=0)
    batch: Batch = envs.batch
    return batch


def _batch(env_id: str, games: int) -> Callable[[int], Timing]:
    batch, generator = batch_of(env_id, games), np.random.default_rng(0)

    def run(steps: int) -> Timing:
        stepping = choosing = 0.0
        for _ in range(steps):
            start = perf_counter()
            actions = sample(batch.mask, generator)
            chosen = perf_counter()
            batch.step(actions, autoreset=True)
            stepping += perf_counter() - chosen
            choosing += chosen - start
        return Timing(steps * games, stepping, choosing)

    return run


def _vector(env_id: str, games: int, threads: int, copy: bool) -> Callable[[int], Timing]:
    envs = cardgym.make_vec(env_id, num_envs=games, threads=threads, copy=copy)
    generator = np.random.default_rng(0)
    mask = envs.reset(seed=0)[0]["action_mask"]

    def run(steps: int) -> Timing:
        nonlocal mask
        stepping = choosing = 0.0
        for _ in range(steps):
            start = perf_counter()
            actions = sample(mask, generator)
            chosen = perf_counter()
            mask = envs.step(actions)[0]["action_mask"]
            stepping += perf_counter() - chosen
            choosing += chosen - start
        return Timing(steps * games, stepping, choosing)

    return run


def _sb3(env_id: str) -> Callable[[int], Timing]:
    from cardgym.baselines.agents import RandomAgent
    from cardgym.wrappers import SB3VecEnv, VectorSelfPlay

    envs = SB3VecEnv(VectorSelfPlay(cardgym.make_vec(env_id, num_envs=SB3_GAMES), opponents=[RandomAgent()]), seed=0)
    envs.reset()
    generator = np.random.default_rng(0)

    def run(steps: int) -> Timing:
        stepping = choosing = 0.0
        for _ in range(steps):
            start = perf_counter()
            mask = envs.env_method("action_masks")
            masked = perf_counter()
            actions = sample(mask, generator)
            chosen = perf_counter()
            envs.step(actions)
            stepping += perf_counter() - chosen + masked - start
            choosing += chosen - masked
        return Timing(steps * SB3_GAMES, stepping, choosing)

    return run


def _playout(env_id: str, games: int) -> Callable[[int], Timing]:
    batch = batch_of(env_id, games)
    dealt, seed = batch.states.copy(), 0

    def run(steps: int) -> Timing:
        nonlocal seed
        decisions, seconds = 0, 0.0
        while decisions < steps:
            states = dealt.copy()
            seed += games
            start = perf_counter()
            decisions += playout(batch.game, states, seed)
            seconds += perf_counter() - start
        return Timing(decisions, seconds, None)

    return run


def _pimc(env_id: str, playouts: str) -> Callable[[int], Timing]:
    from cardgym.baselines.search import PIMC

    batch = batch_of(env_id, 1)
    return _searches(batch, PIMC(batch.game, 64, playouts))


def _ismcts(env_id: str) -> Callable[[int], Timing]:
    from cardgym.baselines.search import ISMCTS

    batch = batch_of(env_id, 1)
    return _searches(batch, ISMCTS(batch.game, 1000))


def _searches(batch: Batch, agent: Any) -> Callable[[int], Timing]:
    """Decisions simulated while ``agent`` searches one position after the other of one game after the other."""
    from cardgym.baselines.agents import Decisions

    generator = np.random.default_rng(0)

    def run(steps: int) -> Timing:
        agent.simulated, seconds = 0, 0.0
        while agent.simulated < steps:
            decisions = Decisions(batch, np.arange(1))
            start = perf_counter()
            actions = agent.act(decisions, generator)
            seconds += perf_counter() - start
            batch.step(actions, autoreset=True)
        return Timing(agent.simulated, seconds, None)

    return run


# --- One game --------------------------------------------------------------------------------


def _single(env: Any) -> Callable[[int], Timing]:
    generator = np.random.default_rng(0)
    mask = env.reset(seed=0)[0]["action_mask"]

    def run(steps: int) -> Timing:
        nonlocal mask
        stepping = choosing = 0.0
        for _ in range(steps):
            start = perf_counter()
            action = _sample_one(mask, generator)
            chosen = perf_counter()
            observation, _, over, _, _ = env.step(action)
            if over:
                observation, _ = env.reset()
            mask = observation["action_mask"]
            stepping += perf_counter() - chosen
            choosing += chosen - start
        return Timing(steps, stepping, choosing)

    return run


def _aec(env_id: str) -> Callable[[int], Timing]:
    from cardgym.wrappers import PettingZooAEC

    env, generator = PettingZooAEC(env_id), np.random.default_rng(0)
    env.reset(seed=0)

    def run(steps: int) -> Timing:
        stepping = choosing = 0.0
        for _ in range(steps):
            start = perf_counter()
            observation, _, over, _, _ = env.last()
            if over:
                env.reset()
                observation = env.last()[0]
            assert observation is not None
            seen = perf_counter()
            action = _sample_one(observation["action_mask"], generator)
            chosen = perf_counter()
            env.step(np.int64(action))
            stepping += perf_counter() - chosen + seen - start
            choosing += chosen - seen
        return Timing(steps, stepping, choosing)

    return run
