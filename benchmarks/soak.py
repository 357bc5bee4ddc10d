"""Long use without growth of memory: ``python benchmarks/soak.py chouine --decisions 100_000_000 --minutes 120``.

First many games advance side by side, masks and observations written at every decision; then single and vector
environments are made, reset, stepped, cloned, drawn and closed in turns.  The highest memory of the process is printed
after a tenth of each part, when all buffers have been filled, and at its end; it may not have grown by 1 %.
``tests/test_soak.py`` runs this, each game in a process of its own.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

import numpy as np
import tyro
from processes import peak

import cardgym
from cardgym.batch import Batch, sample
from cardgym.envs import CardEnv
from cardgym.errors import CardGymError

MOST_GROWTH = 0.01
GAMES = 1024


def play(game: str, decisions: int) -> Callable[[float], None]:
    """Random play of many games; returns what plays a share of the decisions."""
    batch = Batch(cardgym.load_game(game), None, GAMES)
    batch.reset(range(GAMES))
    generator = np.random.default_rng(0)

    def some(share: float) -> None:
        for _ in range(int(decisions * share) // GAMES):
            batch.step(sample(batch.mask, generator), autoreset=True)

    return some


def mixed_use(game: str, minutes: float) -> Callable[[float], None]:
    """Environments come and go; returns what does that for a share of the time."""
    generator = np.random.default_rng(0)
    seeds = iter(range(1 << 60))

    def some(share: float) -> None:
        end = time.monotonic() + 60 * minutes * share
        while time.monotonic() < end:
            one_round(game, next(seeds), generator)

    return some


def one_round(game: str, seed: int, generator: np.random.Generator) -> None:
    """A single environment with a clone and drawings, and a vector environment, from making to closing."""
    env = CardEnv(game, render_mode="ansi", encodings=tuple(Batch(cardgym.load_game(game)).layouts))
    env.reset(seed=seed)
    for move in range(60):
        if env.batch.over[0]:
            env.reset()
        env.step(int(sample(env.batch.mask, generator)[0]))
        if move % 20 == 0:
            twin = env.clone()
            twin.render()
            twin.set_state(env.state)
            twin.close()
    env.render()
    env.close()
    envs = cardgym.make_vec(cardgym.ids_of(game)[0], num_envs=16)
    observations, _ = envs.reset(seed=seed)
    for _ in range(20):
        observations, *_ = envs.step(sample(observations["action_mask"], generator))
    envs.close()


def growth(what: str, some: Callable[[float], None]) -> float:
    """Runs a part of the soak; returns by which share its memory has grown since a tenth of it."""
    some(0.1)
    gc.collect()
    before = peak()
    some(0.9)
    after = peak()
    grown = after / before - 1
    print(f"{what}: {before:.1f} MiB after a tenth, {after:.1f} MiB at the end, {grown:+.2%}", flush=True)
    return grown


def main(game: tyro.conf.Positional[str], decisions: int = 100_000_000, minutes: float = 2.0) -> None:
    """Plays and reports; the exit code is 1 if memory has grown.

    Args:
        game: name of the game.
        decisions: of random play.
        minutes: of mixed use.
    """
    parts = {
        f"{game}, {decisions:,} decisions": play(game, decisions),
        f"{game}, {minutes:g} minutes of mixed use": mixed_use(game, minutes),
    }
    grown = [growth(what, some) for what, some in parts.items()]
    sys.exit(max(grown) >= MOST_GROWTH)


if __name__ == "__main__":
    try:
        tyro.cli(main)
    except CardGymError as error:
        sys.exit(f"error: {error}")
