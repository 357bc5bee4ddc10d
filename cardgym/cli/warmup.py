"""``cardgym warmup``: compiles all games ahead."""

from __future__ import annotations

import functools
import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np

import cardgym
from cardgym import kernel
from cardgym.batch import ENCODINGS, Batch, playout, resample, sample
from cardgym.cli.common import console
from cardgym.errors import CardGymError
from cardgym.game import Game
from cardgym.progress import Bar
from cardgym.suits import SuitRelabelling


def warmup() -> None:
    """Compile all games ahead, so that later programs start at once."""
    if not kernel.JIT:
        raise CardGymError("NUMBA_DISABLE_JIT is set: nothing is compiled")
    folder = kernel.cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass  # the folder can be written to; if not, compiled code would be lost without a word
    began = time.perf_counter()
    work = [step for name in cardgym.game_names() for step in _kernel_calls(cardgym.load_game(name))]
    with Bar("compiling", len(work)) as bar:
        for done, (label, call) in enumerate(work):
            bar.update(done, label)
            call()
        bar.update(len(work))
    seconds = time.perf_counter() - began
    console().print(
        f"compiled code of {', '.join(cardgym.game_names())} is in {folder} ({seconds:.1f} s)", soft_wrap=True
    )


def _kernel_calls(game: Game) -> Iterator[tuple[str, Callable[[], object]]]:
    """Label and call of every kernel, with arguments of the types that it is called with everywhere."""
    options = game.options()
    batch = Batch(game, options)
    full = Batch(game, options, encodings=tuple(e for e in ENCODINGS if e in game.layouts(options)))
    seats = np.zeros(1, np.int64)

    def step(games: Batch) -> None:
        games.step(sample(games.mask, np.random.default_rng(0)))

    def suits() -> None:
        relabelling = SuitRelabelling(game)
        relabelling.encoding("observation", batch.observation, relabelling.orders(batch.observation))

    def rule_bot() -> None:
        from cardgym.baselines.agents import Decisions, RuleAgent

        RuleAgent(game).act(Decisions(batch, seats), np.random.default_rng(0))

    for games, what in ((batch, ""), (full, ", all encodings")):
        yield f"{game.name}: reset{what}", functools.partial(games.reset, [0])
        yield f"{game.name}: step{what}", functools.partial(step, games)
        yield f"{game.name}: encode{what}", functools.partial(games.views, seats)
    yield f"{game.name}: resample", lambda: resample(game, batch.states.copy(), seats, 0)
    yield f"{game.name}: playout", lambda: playout(game, batch.states.copy(), 0)
    if game.suit_order:
        yield f"{game.name}: suits", suits
    if importlib.util.find_spec(f"cardgym.baselines.rule_bots.{game.name}") is not None:
        yield f"{game.name}: rule bot", rule_bot
