"""What training scripts share: settings, checkpoints, the run folder, evaluations under way and at the end."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import sys
import time
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from rich.console import Console
from torch import nn

import cardgym
from cardgym.arguments import parsed
from cardgym.baselines import model_file
from cardgym.baselines.agents import Agent, load_agent
from cardgym.baselines.evaluate import FIRST_DEAL, Result, evaluate, results_table, write_json, write_records
from cardgym.baselines.network import PRECISIONS, Network, NetworkAgent, Prepared, Shape
from cardgym.batch import Batch
from cardgym.errors import CardGymError, InvalidOption, suggest
from cardgym.files import written_aside
from cardgym.game import Game
from cardgym.progress import Bar, shifted

VALIDATION_DEAL = 900_000_000
"""Seed of the first deal by which a run is watched; neither training, imitation nor final evaluations use these."""

LADDER = ("random", "rule")
"""The lower rungs, against which a run is watched."""

Kind = TypeVar("Kind")


def settings_from_file(kind: Callable[..., Kind], algorithm: str, game: str) -> Kind:
    """The settings of a file ``<algorithm>_<game>.toml`` in ``cardgym.configs``.

    Raises:
        CardGymError: there is none for this game.
        InvalidOption: it is no TOML, or holds an unknown setting or a value of a wrong type; the message names it.
    """
    name = f"{algorithm}_{game}.toml"
    file = resources.files("cardgym.configs") / name
    if not file.is_file():
        raise CardGymError(f"{game}: there is no configuration {name} in cardgym.configs")
    try:
        values = tomllib.loads(file.read_bytes().decode())
    except (ValueError, RecursionError) as error:
        raise InvalidOption(f"{name}: no TOML file: {error}") from error
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    defaults = vars(kind(game=game))
    known = [k for k in defaults if k != "game"]
    for setting, value in values.items():
        if setting not in known:
            raise InvalidOption(f"{name}: unknown setting {setting!r}.{suggest(setting, known)}")
        if not _is_like(value, defaults[setting]):
            raise InvalidOption(f"{name}: {setting}={value!r} is not of the type of its default, {defaults[setting]!r}")
    return kind(game=game, **values)


def _is_like(value: Any, default: Any) -> bool:
    """Is a value of the type of its default?  A whole number does for any number, a path or nothing for None."""
    if default is None:
        return isinstance(value, str)
    if isinstance(default, tuple):
        return isinstance(value, tuple) and all(_is_like(v, default[0]) for v in value)
    if isinstance(default, float):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is type(default)


def command_line(kind: type[Kind], algorithm: str, train: Callable[[Kind, Console], Any]) -> None:
    """A script's command line: flags over the settings file of the game."""
    try:
        arguments = sys.argv[1:]
        pairs = itertools.pairwise([*arguments, ""])
        game = next((a.partition("=")[2] or b for a, b in pairs if a.partition("=")[0] == "--game"), "chouine")
        cardgym.load_game(game)
        train(parsed(kind, default=settings_from_file(kind, algorithm, game), args=arguments), Console())
    except CardGymError as error:
        sys.exit(f"error: {error}")


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings of every learner."""

    game: str = "chouine"
    """name of the game"""
    out: Path | None = None
    """folder for the results; under runs/ if not given"""
    seed: int = 1
    """seed of games, network and updates"""
    resume: bool = False
    """go on from the checkpoint in the folder"""
    decisions: int = 2_000_000
    """decisions in all, of all seats that learn"""
    num_games: int = 512
    """games side by side"""
    minibatch: int = 1024
    """decisions per gradient step, about: the decisions of an update are dealt out evenly"""
    epochs: int = 3
    """passes over the data of an update"""
    learning_rate: float = 1e-3
    """at the start; moves in a straight line"""
    final_learning_rate: float = 1e-4
    """at the end"""
    max_grad_norm: float = 0.5
    """gradients are clipped to this norm"""
    network: tuple[int, ...] = (256, 256)
    """hidden layers"""
    canonical_suits: bool = True
    """relabel interchangeable suits"""
    options: dict[str, Any] = field(default_factory=dict)
    """rule options in training; evaluation uses the game's defaults"""
    threads: int = 1
    """threads of torch and of the games; more than one pays only on an idle machine"""
    curve_points: int = 12
    """evaluations (and checkpoints) over the run"""
    curve_deals: int = 250
    """duplicate deals of each"""
    deals: int = 2000
    """duplicate deals of the final evaluation"""
    record_games: int = 100
    """evaluation deals whose games are recorded"""

    def __post_init__(self) -> None:
        for name in ("decisions", "num_games", "minibatch", "epochs", "threads", "curve_points"):
            if getattr(self, name) < 1:
                raise InvalidOption(f"{name}={getattr(self, name)!r} is not a number of at least 1")
        if not 0 <= self.seed <= VALIDATION_DEAL - self.num_games:
            raise InvalidOption(
                f"seed={self.seed!r}: games would reach the deals kept for evaluation; give a smaller one"
            )


@dataclass(frozen=True, kw_only=True)
class PPOSettings(RunSettings):
    """Settings of PPO, native or of sb3-contrib."""

    steps: int = 64
    """decisions of the learner per game and update"""
    entropy: float = 0.02
    """weight of the entropy bonus at the start; moves in a straight line"""
    final_entropy: float = 0.005
    """at the end"""
    clip: float = 0.2
    """clip range of the probability ratio"""
    gamma: float = 1.0
    """discount"""
    gae_lambda: float = 0.95
    """lambda of the advantage estimates"""
    value_weight: float = 0.5
    """weight of the value loss"""
    imitate: int = 0
    """decisions of the rule bot to learn from before training"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps < 1:
            raise InvalidOption(f"steps={self.steps!r} is not a number of at least 1")
        if self.minibatch > self.num_games * self.steps:
            size = self.num_games * self.steps
            raise InvalidOption(f"minibatch={self.minibatch} is more than an update holds, num_games * steps = {size}")


@dataclass(frozen=True, kw_only=True)
class NativeSettings(RunSettings):
    """Settings of every native learner."""

    precision: str = "float32"
    """of the hidden layers: "float32", or "bfloat16" where the processor has fast instructions for it"""
    device: str = "cpu"
    """of the network: "cpu" or "cuda" """

    @property
    def dtype(self) -> torch.dtype:
        """Of the hidden layers."""
        return PRECISIONS[self.precision]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.precision not in PRECISIONS:
            raise InvalidOption(f"precision={self.precision!r} is not one of {', '.join(map(repr, PRECISIONS))}")
        if self.device not in ("cpu", "cuda"):
            raise InvalidOption(f"device={self.device!r} is neither 'cpu' nor 'cuda'")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise InvalidOption("device='cuda', but torch finds no GPU here; give 'cpu'")


OF_A_CALL = ("out", "resume")
"""Settings that say nothing about what is learned; a model does not keep them."""

FREE = ("device", "curve_deals", "deals", "record_games")
"""Settings that may change when a run is resumed."""


class Learner(ABC):
    """A run under way: network, optimiser, games and all that changes as it learns.

    Attributes:
        game, settings: what is learned and how.
        generator: of all chance but that inside the games.
        network, optimizer: what learns.
        batch: the games.
        decisions: the learner's decisions so far.
        updates: so far.
        curve: evaluations so far.
    """

    algorithm: str
    shown: tuple[str, ...]
    """Figures of an update to show beside the progress bar."""
    batch: Batch

    def __init__(self, game: Game, settings: NativeSettings, shape: Shape) -> None:
        """Makes network and optimiser.

        Args:
            game: the game.
            settings: of the run.
            shape: of the network.
        """
        torch.set_num_threads(settings.threads)  # first of all: even initial weights depend on it in the last bit
        self.game, self.settings, self.shape = game, settings, shape
        self.generator = np.random.default_rng(settings.seed)
        weights = torch.Generator().manual_seed(settings.seed)
        self.options = game.options.of(**settings.options)
        self.network = Network(game, self.options, shape, weights).to(settings.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), settings.learning_rate, eps=1e-5, fused=True)
        self.decisions, self.updates = 0, 0
        self.curve: list[dict[str, Any]] = []
        self._learning_rate = Line(settings.learning_rate, settings.final_learning_rate)

    def prepare(self, console: Console) -> None:  # noqa: B027 (most learners need nothing)
        """What a fresh run does before its first update."""

    @abstractmethod
    def update(self) -> dict[str, float]:
        """Collects and learns; returns figures worth logging, ``decisions`` first."""

    def remaining(self) -> float:
        """What remains of the run, 1 ... 0."""
        return max(0.0, 1.0 - self.decisions / self.settings.decisions)

    def descend(self, ready: Prepared, by_logits: torch.Tensor, by_values: torch.Tensor | None = None) -> None:
        """One gradient step.

        Args:
            ready: the network as it computed.
            by_logits, by_values: gradient of the loss, as :meth:`Prepared.backward` takes it.
        """
        ready.backward(by_logits, by_values)
        nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.max_grad_norm)
        self.optimizer.step()

    def set_learning_rate(self, remaining: float) -> float:
        """Sets the learning rate of an update and returns it."""
        rate = self._learning_rate(remaining)
        self.optimizer.param_groups[0]["lr"] = rate
        return rate

    def player(self, name: str = "") -> NetworkAgent:
        """The learner as an agent, greedy; named after the algorithm if not otherwise."""
        name = name or self.algorithm
        return NetworkAgent(self.network, self.game, self.options, self.settings.canonical_suits, name)

    def notes(self) -> dict[str, Any]:
        """What its model file says."""
        s = self.settings
        facts = {"decisions": self.decisions, "settings": model_file.plain(s, without=OF_A_CALL)}
        return model_file.notes(self.algorithm, self.game, s.options, s.canonical_suits, self.shape, **facts)

    def save(self, path: Path) -> None:
        """Writes a checkpoint."""
        training = {
            "optimizer": self.optimizer.state_dict(),
            "generator": stored(self.generator),
            "states": torch.from_numpy(self.batch.states.view(np.uint8).copy()),
            "decisions": self.decisions,
            "updates": self.updates,
            "curve": self.curve,
            **self.extras(),
        }
        model_file.save(path, self.network, self.notes(), training)

    def restore(self, path: Path) -> None:
        """Goes on where a checkpoint stood, exactly.

        Raises:
            CardGymError: there is none, it does not fit, or was made with other settings; the message says why.
        """
        model = model_file.load_checkpoint(path, self.game, self.notes(), FREE)
        t = model.training
        self.network.load_state_dict(model.network.state_dict())
        self.optimizer.load_state_dict(t["optimizer"])
        self.decisions, self.updates, self.curve = t["decisions"], t["updates"], t["curve"]
        self.generator.bit_generator.state = restored(t["generator"])
        self.batch.restore(t["states"].numpy().view(self.game.dtype))
        self.restore_extras(t)

    def extras(self) -> dict[str, Any]:
        """What else a checkpoint must hold."""
        return {}

    def restore_extras(self, training: dict[str, Any]) -> None:  # noqa: B027 (most learners have none)
        """Takes :meth:`extras` back."""


def stored(generator: np.random.Generator) -> dict[str, Any]:
    """The state of a generator, its large integers as words, for a checkpoint."""
    state = generator.bit_generator.state
    return {**state, "state": {k: str(v) for k, v in state["state"].items()}}


def restored(state: dict[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`stored`."""
    return {**state, "state": {k: int(v) for k, v in state["state"].items()}}


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
        with written_aside(self._path) as aside, aside.open("w", newline="") as file:
            if self._rows:
                writer = csv.DictWriter(file, list(self._rows[0]))
                writer.writeheader()
                writer.writerows(self._rows)

    def close(self) -> None:
        """Flushes and closes."""
        self._board.close()


class Ladder:
    """Watches a run: how its agent does against others, on deals kept for that."""

    def __init__(self, game: Game, deals: int, rungs: Sequence[Agent] | None = None) -> None:
        """Loads the rungs.

        Args:
            game: the game, played with its default options.
            deals: duplicate deals of each evaluation.
            rungs: against whom; the lower rungs of the ladder if None.
        """
        self.game, self.deals = game, deals
        self.rungs = [load_agent(name, game) for name in LADDER] if rungs is None else list(rungs)

    def judge(self, agent: Agent, decisions: int) -> dict[str, Any]:
        """A point of the learning curve: ``decisions`` and ``results``."""
        options = self.game.options()
        results = [evaluate(self.game, options, agent, rung, self.deals, VALIDATION_DEAL) for rung in self.rungs]
        return {"decisions": decisions, "results": [dataclasses.asdict(r) for r in results]}


def win_rates(point: dict[str, Any]) -> str:
    """A point of the learning curve in a few words, for a progress bar."""
    return "  ".join(f"v {r['against']} {100 * r['win_rate']:.0f} %" for r in point["results"])


def run_folder(out: Path | None, name: str) -> Path:
    """The folder of a run, made if it is not there: ``out``, or ``runs/<name>``."""
    folder = out if out is not None else Path("runs") / name
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
    games = deals * game.teams_of(game.options())
    with Bar("evaluating", len(pairs) * games, console) as bar:
        for k, (agent, against) in enumerate(pairs):
            done = shifted(bar.update, k * games)
            results.append(evaluate(game, game.options(), agent, against, deals, progress=done))
    write_json(folder / "results.json", [dataclasses.asdict(r) for r in results])
    write_json(folder / "curve.json", list(curve))
    learning_curve(curve, title, folder / "curve.png")
    kept = range(FIRST_DEAL, FIRST_DEAL + record_games)
    write_records(folder / "games.jsonl", game, game.options(), player, rivals[1], kept)
    console.print(results_table(results, f"{game.title}, duplicate deals from seed {FIRST_DEAL}, greedy play"))
    written = ("curve.png", "results.json", "games.jsonl", "progress.csv")
    console.print("written: " + ", ".join(str(folder / name) for name in written), soft_wrap=True)
    return results


def train(learner: Learner, name: str, console: Console) -> list[Result]:
    """Trains, evaluates and writes everything; returns the final results.

    Args:
        learner: at the start of its run.
        name: of the algorithm, for the title of the picture.
        console: for progress bar and table.

    Raises:
        CardGymError: a checkpoint that does not belong to the run.
    """
    s, game = learner.settings, learner.game
    folder = run_folder(s.out, s.game if learner.algorithm == "ppo" else f"{learner.algorithm}-{s.game}")
    if s.resume:
        learner.restore(folder / "checkpoint.pt")
    else:
        learner.prepare(console)
    write_json(folder / "settings.json", model_file.plain(s))
    run(learner, Ladder(game, s.curve_deals), folder, console)
    title = f"{game.title}: {name}, seed {s.seed}"
    return report(game, learner.player(), learner.curve, title, folder, console, s.deals, s.record_games)


def run(learner: Learner, ladder: Ladder, folder: Path, console: Console) -> None:
    """Updates until all decisions are made, with progress bar, log, evaluations and checkpoints; writes the model."""
    s = learner.settings
    every = max(1, s.decisions // s.curve_points)
    log = Log(folder, learner.decisions)
    began, first = time.perf_counter(), learner.decisions
    with Bar(f"training on {learner.game.title}", s.decisions, console) as bar:
        while learner.decisions < s.decisions:
            if not learner.curve or learner.decisions // every > learner.curve[-1]["decisions"] // every:
                learner.curve.append(ladder.judge(learner.player(), learner.decisions))
                learner.save(folder / "checkpoint.pt")
                write_json(folder / "curve.json", learner.curve)
            figures = learner.update()
            figures["speed"] = (learner.decisions - first) / (time.perf_counter() - began)
            log.add(figures)
            bar.update(min(s.decisions, learner.decisions), _note(figures, learner))
    log.close()
    if learner.curve[-1]["decisions"] < learner.decisions:
        learner.curve.append(ladder.judge(learner.player(), learner.decisions))
        learner.save(folder / "checkpoint.pt")
    model_file.save(folder / "model.pt", learner.network, learner.notes())
    console.print(f"trained on {learner.decisions - first} decisions in {time.perf_counter() - began:.0f} s")
    console.print(f"written: {folder / 'model.pt'}", soft_wrap=True)


def _note(figures: dict[str, float], learner: Learner) -> str:
    """The figures worth seeing beside a progress bar."""
    shown = [f"{name.replace('_', ' ')} {figures[name]:.3f}" for name in learner.shown]
    return "  ".join([f"{figures['speed']:.0f}/s", *shown, win_rates(learner.curve[-1])])
