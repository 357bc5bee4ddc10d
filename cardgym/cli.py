"""The ``cardgym`` command: one function a subcommand."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from rich.console import Console
from rich.table import Table
from tyro.extras import SubcommandApp

import cardgym
from cardgym import kernel
from cardgym.batch import ENCODINGS, Batch, playout, resample, sample
from cardgym.errors import CardGymError
from cardgym.game import Game
from cardgym.progress import Bar
from cardgym.suits import SuitRelabelling

app = SubcommandApp()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: the command line; that of the process if None.

    Returns:
        The exit code: 0, or 1 after an error, of which one line on standard error tells.  Arguments that cannot be
        understood end the process with code 2.
    """
    try:
        app.cli(args=arguments, prog="cardgym", description="Traditional card games as Gymnasium environments.")
        sys.stdout.flush()
    except BrokenPipeError:
        # Who read our output has left (`cardgym list | head -1`); Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (CardGymError, OSError) as error:
        print(f"cardgym: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cardgym: interrupted", file=sys.stderr)
        return 130
    return 0


# --- list ------------------------------------------------------------------------------------


@app.command(name="list")
def list_environments() -> None:
    """List the environments."""
    table = Table("environment", "game", "players", "actions", "observation", box=None)
    for env_id, presets in cardgym.IDS.items():
        game = cardgym.load_game(presets["game"])
        options = game.options.of(**{k: v for k, v in presets.items() if k != "game"})
        numbers = (game.seats(options), len(game.actions), game.layouts(options)["observation"].size)
        table.add_row(env_id, game.title, *map(str, numbers))
    Console().print(table)


# --- warmup ----------------------------------------------------------------------------------


@app.command
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
    Console().print(
        f"compiled code of {', '.join(cardgym.game_names())} is in {folder} ({seconds:.1f} s)", soft_wrap=True
    )


def _kernel_calls(game: Game) -> Iterator[tuple[str, Callable[[], object]]]:
    """Label and call of every kernel, with arguments of the types that it is called with everywhere."""
    options = game.options()
    batch = Batch(game, options, encodings=tuple(e for e in ENCODINGS if e in game.layouts(options)))
    seats = np.zeros(1, np.int64)

    def step() -> None:
        batch.step(sample(batch.mask, np.random.default_rng(0)))

    def suits() -> None:
        relabelling = SuitRelabelling(game)
        relabelling.encoding("observation", batch.observation, relabelling.orders(batch.observation))

    def rule_bot() -> None:
        from cardgym.baselines.agents import Decisions, RuleAgent

        RuleAgent(game).act(Decisions(batch, seats), np.random.default_rng(0))

    yield f"{game.name}: reset", lambda: batch.reset([0])
    yield f"{game.name}: step", step
    yield f"{game.name}: encode", lambda: batch.views(seats)
    yield f"{game.name}: resample", lambda: resample(game, batch.states.copy(), seats, 0)
    yield f"{game.name}: playout", lambda: playout(game, batch.states.copy(), 0)
    if game.suit_order:
        yield f"{game.name}: suits", suits
    if importlib.util.find_spec(f"cardgym.baselines.rule_bots.{game.name}") is not None:
        yield f"{game.name}: rule bot", rule_bot


if __name__ == "__main__":
    sys.exit(main())
