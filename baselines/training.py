"""What training scripts share: settings files, schedules, the run folder, evaluations under way and at the end."""

from __future__ import annotations

import csv
import dataclasses
import functools
import itertools
import sys
import tomllib
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import tyro
from rich.console import Console

import cardgym
from cardgym.baselines.agents import Agent, load_agent
from cardgym.baselines.evaluate import FIRST_DEAL, Result, evaluate, results_table, write_json, write_records
from cardgym.errors import CardGymError, MissingExtra, require
from cardgym.game import Game
from cardgym.progress import Bar

VALIDATION_DEAL = 500_000_000
"""Seed of the first deal by which a run is watched; neither training nor final evaluations use these."""

LADDER = ("random", "rule")
"""The lower rungs, against which a run is watched."""

Settings = TypeVar("Settings")


def need_extras(name: str, modules: Sequence[str] = ("torch", "tensorboard", "matplotlib")) -> None:
    """Checks that the packages of the extra ``train`` are there; a script ends with one line if not.

    Args:
        name: ``__name__`` of the module that asks.
        modules: the packages.

    Raises:
        MissingExtra: one is not, and the module is imported rather than run.
    """
    try:
        for module in modules:
            require(module, "train")
    except MissingExtra as error:
        if name == "__main__":
            sys.exit(f"error: {error}")
        raise


def settings_from_file(kind: type[Settings], algorithm: str, game: str) -> Settings:
    """The settings of a file ``<algorithm>_<game>.toml`` in ``cardgym.configs``.

    Raises:
        CardGymError: there is none for this game.
    """
    name = f"{algorithm}_{game}.toml"
    file = resources.files("cardgym.configs") / name
    if not file.is_file():
        raise CardGymError(f"{game}: there is no configuration {name} in cardgym.configs")
    values = tomllib.loads(file.read_text())
    lists = {k: tuple(v) for k, v in values.items() if isinstance(v, list)}
    return kind(game=game, **{**values, **lists})


def command_line(kind: type[Settings], algorithm: str, train: Callable[[Settings, Console], Any]) -> None:
    """A script's command line: flags over the settings file of the game."""
    try:
        arguments = sys.argv[1:]
        game = next((b for a, b in itertools.pairwise(arguments) if a == "--game"), "chouine")
        cardgym.load_game(game)
        train(tyro.cli(kind, default=settings_from_file(kind, algorithm, game), args=arguments), Console())
    except CardGymError as error:
        sys.exit(f"error: {error}")


class Line:
    """A value that moves in a straight line from start to end of training (called with what remains, 1 ... 0)."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def __call__(self, remaining: float) -> float:
        return self.end + (self.start - self.end) * remaining


class Log:
    """Figures of every update, in ``progress.csv`` and as tensorboard events.

    A run that goes on from a checkpoint drops what was logged after it.
    """

    def __init__(self, folder: Path, decisions: int) -> None:
        """Opens the log.

        Args:
            folder: of the run.
            decisions: where the run stands; 0 starts the log anew.
        """
        from torch.utils.tensorboard.writer import SummaryWriter

        self._path = folder / "progress.csv"
        self._rows: list[dict[str, Any]] = []
        if decisions and self._path.is_file():
            with self._path.open(newline="") as file:
                self._rows = [row for row in csv.DictReader(file) if int(row["decisions"]) <= decisions]
        self._board = SummaryWriter(str(folder), purge_step=decisions)
        self._write_all()

    def add(self, figures: dict[str, float]) -> None:
        """Adds the figures of an update; ``figures["decisions"]`` is the place."""
        self._rows.append(figures)
        if len(self._rows) == 1:
            self._write_all()
        else:
            with self._path.open("a", newline="") as file:
                csv.DictWriter(file, list(figures)).writerow(figures)
        for name, value in figures.items():
            if name != "decisions":
                self._board.add_scalar(name, value, int(figures["decisions"]))

    def _write_all(self) -> None:
        aside = self._path.with_name(self._path.name + ".part")
        with aside.open("w", newline="") as file:
            if self._rows:
                writer = csv.DictWriter(file, list(self._rows[0]))
                writer.writeheader()
                writer.writerows(self._rows)
        aside.replace(self._path)

    def close(self) -> None:
        """Flushes and closes."""
        self._board.close()


class Ladder:
    """Watches a run: how its agent does against the lower rungs, on deals kept for that."""

    def __init__(self, game: Game, deals: int) -> None:
        """Loads the rungs.

        Args:
            game: the game, played with its default options.
            deals: duplicate deals of each evaluation.
        """
        self.game, self.deals = game, deals
        self.rungs = [load_agent(name, game) for name in LADDER]

    def judge(self, agent: Agent, decisions: int) -> dict[str, Any]:
        """A point of the learning curve: ``decisions`` and ``results``."""
        options = self.game.options()
        results = [evaluate(self.game, options, agent, rung, self.deals, VALIDATION_DEAL) for rung in self.rungs]
        return {"decisions": decisions, "results": [dataclasses.asdict(r) for r in results]}


def win_rates(point: dict[str, Any]) -> str:
    """A point of the learning curve in a few words, for a progress bar."""
    return "  ".join(f"v {r['against']} {100 * r['win_rate']:.0f} %" for r in point["results"])


def run_folder(out: Path | None, game: str) -> Path:
    """The folder of a run, made if it is not there: ``out``, or ``runs/<game>``."""
    folder = out if out is not None else Path("runs") / game
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def report(
    game: Game,
    player: Agent,
    curve: Sequence[dict[str, Any]],
    title: str,
    folder: Path,
    console: Console,
    deals: int,
    record_games: int,
) -> list[Result]:
    """The final evaluation, its table, the learning curve and the record of games.

    Args:
        game: the game, played with its default options.
        player: the trained agent.
        curve: the evaluations under way, as :func:`cardgym.baselines.plots.learning_curve` takes them.
        title: of the picture.
        folder: of the run; gets ``results.json``, ``curve.json``, ``curve.png`` and ``games.jsonl``.
        console: for the table.
        deals: duplicate deals of each pair.
        record_games: deals whose games are recorded.
    """
    from cardgym.baselines.plots import learning_curve

    rivals = [load_agent(name, game) for name in LADDER]
    pairs = [(player, rivals[0]), (player, rivals[1]), (rivals[1], rivals[0])]
    results = []
    games = deals * (int(game.team_of(game.options()).max()) + 1)
    with Bar("evaluating", len(pairs) * games, console) as bar:
        for k, (agent, against) in enumerate(pairs):
            count = functools.partial(_count, bar, k * games)
            results.append(evaluate(game, game.options(), agent, against, deals, progress=count))
    write_json(folder / "results.json", [dataclasses.asdict(r) for r in results])
    write_json(folder / "curve.json", list(curve))
    learning_curve(curve, title, folder / "curve.png")
    kept = range(FIRST_DEAL, FIRST_DEAL + record_games)
    write_records(folder / "games.jsonl", game, game.options(), player, rivals[1], kept)
    console.print(results_table(results, f"{game.title}, duplicate deals from seed {FIRST_DEAL}, greedy play"))
    written = ("curve.png", "results.json", "games.jsonl", "progress.csv")
    console.print("written: " + ", ".join(str(folder / name) for name in written), soft_wrap=True)
    return results


def _count(bar: Bar, before: int, done: int) -> None:
    bar.update(before + done)


def stored(generator: np.random.Generator) -> dict[str, Any]:
    """The state of a generator as plain values, for a checkpoint."""
    state = generator.bit_generator.state
    return {**state, "state": {k: str(v) for k, v in state["state"].items()}}


def restored(state: dict[str, Any]) -> np.random.Generator:
    """The generator that :func:`stored` described."""
    generator = np.random.default_rng()
    generator.bit_generator.state = {**state, "state": {k: int(v) for k, v in state["state"].items()}}
    return generator
