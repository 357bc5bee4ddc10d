"""Honest evaluation: duplicate deals, every seat, intervals.

Every deal is played once for each seat of the agent under test, with the same cards and the same
chance events, so that luck of the deal cancels.  The deal is the unit of analysis: figures of one deal's games
are averaged before intervals are computed.  Deals are numbered by their seeds, which are part of the result.

Usage::

    python -m cardgym.baselines.evaluate --game chouine --agent runs/chouine/model.zip --against random rule
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

import cardgym
from cardgym.baselines.agents import Agent, act_by_assignment, load_agent
from cardgym.batch import Batch
from cardgym.errors import CardGymError
from cardgym.game import Game, Options
from cardgym.records import GameRecord, write

FIRST_DEAL = 1_000_000_000
"""Seed of the first evaluation deal; training never uses seeds from here on."""

Z95 = 1.959964


@dataclass(frozen=True)
class Result:
    """How one agent did against another over duplicate deals.

    Attributes:
        agent, against: names.
        deals: number of deals; each was played once in every seat.
        first_deal: seed of the first deal; deal ``i`` has the seed ``first_deal + i``.
        games: games played.
        decided: games with a winner.
        win_rate: share of decided games that the agent won.
        win_rate_half: half width of its 95 % interval (deals as units, ratio estimator).
        margin: mean of own natural score less the mean of the others', per game.
        margin_half: half width of its 95 % interval.
        by_seat: win rate among decided games in each seat.
        seed: of the agents' own randomness.
    """

    agent: str
    against: str
    deals: int
    first_deal: int
    games: int
    decided: int
    win_rate: float
    win_rate_half: float
    margin: float
    margin_half: float
    by_seat: tuple[float, ...]
    seed: int


@dataclass
class Games:
    """Outcomes of duplicate deals: arrays of shape (deals, seats), the column being the agent's seat.

    Attributes:
        rewards: of the agent.
        margins: natural score of the agent less the mean of the others'.
        actions: per deal and seat the actions of the game, if they were asked for.
    """

    rewards: np.ndarray
    margins: np.ndarray
    actions: list[list[list[int]]]


def play_duplicate(
    game: Game,
    options: Options,
    agent: Agent,
    against: Agent,
    deals: Sequence[int],
    seed: int = 0,
    keep_actions: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Games:
    """Plays every deal once for each seat of ``agent``; all other seats are played by ``against``.

    Args:
        game, options: what is played.
        agent, against: who plays.
        deals: seeds of the deals.
        seed: of the agents' randomness.
        keep_actions: keep the actions, for records.
        progress: called with the number of games finished so far, from time to time.
    """
    seats = game.seats(options)
    n = len(deals) * seats
    batch = Batch(game, options, n)
    batch.reset(np.repeat(np.asarray(deals, np.uint64), seats))
    own_seat = np.tile(np.arange(seats), len(deals))
    generator = np.random.default_rng(seed)
    rewards = np.zeros((n, seats))
    actions: list[list[int]] = [[] for _ in range(n)] if keep_actions else []
    rows = np.arange(n)
    while len(rows):
        assigned = (batch.players[rows] != own_seat[rows]).astype(np.int64)
        chosen = act_by_assignment(batch, rows, (agent, against), assigned, generator)
        batch.step(chosen, rows)
        rewards[rows] += batch.rewards[rows, :seats]
        if keep_actions:
            for row, action in zip(rows, chosen, strict=True):
                actions[row].append(int(action))
        rows = rows[~batch.over[rows]]
        if progress is not None:
            progress(n - len(rows))
    scores = batch.states["scores"][:, :seats].astype(float)
    everyone = np.arange(n)
    own = scores[everyone, own_seat]
    others = (scores.sum(axis=1) - own) / (seats - 1)
    shape = (len(deals), seats)
    kept = [actions[i * seats : (i + 1) * seats] for i in range(len(deals))] if keep_actions else []
    return Games(rewards[everyone, own_seat].reshape(shape), (own - others).reshape(shape), kept)


def evaluate(
    game: Game,
    options: Options,
    agent: Agent,
    against: Agent,
    deals: int = 2000,
    first_deal: int = FIRST_DEAL,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Plays duplicate deals and summarises them.

    Args:
        game, options: what is played.
        agent, against: who plays.
        deals: number of deals, at least 2.
        first_deal: seed of the first.
        seed: of the agents' randomness.
        progress: called with the number of games finished so far.
    """
    if deals < 2:
        raise ValueError(f"an interval needs at least 2 deals, not {deals}")
    played = play_duplicate(game, options, agent, against, range(first_deal, first_deal + deals), seed, False, progress)
    return summarise(played, agent.name, against.name, first_deal, seed)


def summarise(played: Games, agent: str, against: str, first_deal: int, seed: int) -> Result:
    """Win rate and margin with 95 % intervals, the deal being the unit."""
    won, lost = played.rewards > 0, played.rewards < 0
    decided = won | lost
    win_rate, win_rate_half = ratio_interval(won.sum(axis=1), decided.sum(axis=1))
    per_deal = played.margins.mean(axis=1)
    deals = len(per_deal)
    by_seat = tuple(float(w / max(1, d)) for w, d in zip(won.sum(axis=0), decided.sum(axis=0), strict=True))
    return Result(
        agent=agent,
        against=against,
        deals=deals,
        first_deal=first_deal,
        games=played.rewards.size,
        decided=int(decided.sum()),
        win_rate=win_rate,
        win_rate_half=win_rate_half,
        margin=float(per_deal.mean()),
        margin_half=float(Z95 * per_deal.std(ddof=1) / np.sqrt(deals)),
        by_seat=by_seat,
        seed=seed,
    )


def ratio_interval(successes: np.ndarray, trials: np.ndarray) -> tuple[float, float]:
    """A ratio of sums over independent units, with the half width of its 95 % interval.

    The linearised (delta method) variance of ``sum(successes) / sum(trials)``; see W. G. Cochran, Sampling
    Techniques, chapter 6.

    Args:
        successes, trials: per unit, shape (n,).

    Returns:
        Ratio and half width; (nan, nan) without trials.
    """
    n, total = len(trials), float(trials.sum())
    if total == 0:
        return float("nan"), float("nan")
    ratio = float(successes.sum()) / total
    residuals = successes - ratio * trials
    deviation = np.sqrt(n * residuals.var(ddof=1)) / total
    return ratio, float(Z95 * deviation)


def results_table(results: Sequence[Result], title: str) -> Table:
    """The results as a rich table."""
    table = Table(title=title, caption="± 95 % intervals, the deal being the unit; margins in points a game")
    table.add_column("agent")
    table.add_column("against")
    for column in ("deals", "decided", "win rate %", "in each seat %", "margin"):
        table.add_column(column, justify="right", no_wrap=True)
    for r in results:
        table.add_row(
            r.agent,
            r.against,
            f"{r.deals}",
            f"{r.decided}",
            f"{100 * r.win_rate:.1f} ± {100 * r.win_rate_half:.1f}",
            " ".join(f"{100 * x:.1f}" for x in r.by_seat),
            f"{r.margin:+.1f} ± {r.margin_half:.1f}",
        )
    return table


@dataclass(frozen=True)
class Arguments:
    """Evaluates an agent against others over duplicate deals."""

    agent: str
    """"random", "rule" or the file of a saved model"""
    game: str = "chouine"
    """name of the game"""
    against: tuple[str, ...] = ("random", "rule")
    """the opponents, named in the same way"""
    deals: int = 2000
    """duplicate deals; each is played once in every seat"""
    first_deal: int = FIRST_DEAL
    """seed of the first deal"""
    seed: int = 0
    """seed of the agents' own randomness"""
    json: Path | None = None
    """also write the results to this file"""


def main(arguments: Arguments) -> list[Result]:
    """Evaluates as the arguments say and prints the table."""
    game = cardgym.load_game(arguments.game)
    options = game.options()
    agent = load_agent(arguments.agent, game)
    results = []
    for name in arguments.against:
        opponent = load_agent(name, game)
        results.append(evaluate(game, options, agent, opponent, arguments.deals, arguments.first_deal, arguments.seed))
    Console().print(results_table(results, f"{game.title}, duplicate deals from seed {arguments.first_deal}"))
    if arguments.json is not None:
        write_json(arguments.json, [dataclasses.asdict(r) for r in results])
    return results


def write_records(
    path: Path, game: Game, options: Options, agent: Agent, against: Agent, deals: Sequence[int], seed: int = 0
) -> int:
    """Plays duplicate deals and writes a record of every game.

    Args:
        path: the file, JSON lines (see :mod:`cardgym.records`).
        game, options: what is played.
        agent, against: who plays.
        deals: seeds of the deals.
        seed: of the agents' randomness.

    Returns:
        The number of games.
    """
    played = play_duplicate(game, options, agent, against, deals, seed, keep_actions=True)
    env = next(env_id for env_id, presets in cardgym.IDS.items() if presets == {"game": game.name})
    given = dataclasses.asdict(options)

    def games() -> Iterator[GameRecord]:
        for deal, seats in zip(deals, played.actions, strict=True):
            for own, actions in enumerate(seats):
                names = [agent.name if seat == own else against.name for seat in range(len(seats))]
                yield GameRecord.played(env, deal, actions, options=given, agents=names)

    return write(path, games())


def write_json(path: Path, value: Any) -> None:
    """Writes JSON aside and renames it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".part")
    aside.write_text(json.dumps(value, indent=2) + "\n")
    aside.replace(path)


if __name__ == "__main__":
    try:
        main(tyro.cli(Arguments))
    except CardGymError as error:
        sys.exit(f"error: {error}")
