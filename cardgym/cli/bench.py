"""``cardgym bench``: how fast the games run on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.table import Table

import cardgym
from cardgym.batch import Batch, checked_count, playout, sample
from cardgym.cli.common import Chosen, chosen, console, print_json
from cardgym.cli.show import Json
from cardgym.envs.env import CardEnv
from cardgym.errors import InvalidOption
from cardgym.progress import Bar


def bench(
    games: tuple[str, ...] = (),
    seconds: float = 1.0,
    num_envs: int = 1024,
    threads: int = 1,
    as_json: Json = False,
) -> None:
    """Measure decisions per second of random play on this machine.

    Args:
        games: names or ids; by default every game.
        seconds: how long each number is measured.
        num_envs: games side by side in the vector environment.
        threads: threads of the vector environment.
    """
    if not 0 < seconds <= 3600:
        raise InvalidOption(f"seconds={seconds} is not between 0 and 3600")
    checked_count("num_envs", num_envs)
    checked_count("threads", threads)
    found = [chosen(name) for name in games or cardgym.game_names()]
    rows: list[dict[str, Any]] = []
    with Bar("measuring", 3 * len(found)) as bar:
        for game in found:
            row: dict[str, Any] = {"game": game.name, "num_envs": num_envs, "threads": threads}
            for label, measured in (
                ("single", _single(game)),
                ("vector", _vector(game, num_envs, threads)),
                ("playout", _playout(game, num_envs)),
            ):
                row[label] = round(_rate(measured, seconds))
                bar.update(3 * len(rows) + len(row) - 3, game.name)
            rows.append(row)
    if as_json:
        print_json(rows)
        return
    table = Table("game", "single environment", f"vector of {num_envs}", "playouts without observation", box=None)
    for row in rows:
        table.add_row(row["game"], *(f"{row[label]:,}".replace(",", " ") for label in ("single", "vector", "playout")))
    console().print(table)
    console().print(f"decisions per second of random play; {threads} thread{'s' if threads > 1 else ''}")


def _rate(work: Callable[[], int], seconds: float) -> float:
    """Decisions per second; ``work`` makes some and says how many."""
    work()  # compiled now, if not before
    done, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds or not done:
        done += work()
    return done / passed


def _single(found: Chosen) -> Callable[[], int]:
    env = CardEnv(found.game, **found.presets)
    generator = np.random.default_rng(0)

    def game() -> int:
        _, info = env.reset(seed=int(generator.integers(1 << 32)))
        steps, over = 0, False
        while not over and steps < 1000:
            _, _, over, _, info = env.step(sample(info["action_mask"][None], generator)[0])
            steps += 1
        return steps

    return game


def _vector(found: Chosen, num_envs: int, threads: int) -> Callable[[], int]:
    batch = Batch(found.game, found.options(), num_envs, threads=threads)
    batch.reset(range(num_envs))
    generator = np.random.default_rng(0)

    def steps() -> int:
        for _ in range(8):
            batch.step(sample(batch.mask, generator), autoreset=True)
        return 8 * num_envs

    return steps


def _playout(found: Chosen, num_envs: int) -> Callable[[], int]:
    batch = Batch(found.game, found.options(), num_envs)
    batch.reset(range(num_envs))
    seed = 0

    def games() -> int:
        nonlocal seed
        seed += 1
        states = batch.states.copy()
        return int(playout(found.game, states, seed))

    return games
