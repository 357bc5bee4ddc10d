"""Honest evaluation: duplicate deals, every seat, intervals.

Every deal is played once for each seat (or team) of the agent under test, with the same cards and the same
chance events, so that luck of the deal cancels.  The deal is the unit of analysis: the games of one deal count as
one observation when intervals are computed.  Deals are numbered by their seeds, which are part of the result.

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
from cardgym.kernel import records
from cardgym.records import GameRecord, write

FIRST_DEAL = 1_000_000_000
"""Seed of the first evaluation deal; training never uses seeds from here on."""

Z95 = 1.959964


@dataclass(frozen=True)
class Part:
    """Results of the games in which the agent had one role.

    Attributes:
        games: how many.
        score: mean of the agent's natural score.
        score_half: half width of its 95 % interval.
    """

    games: int
    score: float
    score_half: float


@dataclass(frozen=True)
class Result:
    """How one agent did against another over duplicate deals.

    Attributes:
        agent, against: names.
        deals: number of deals; each was played once in every seat (by every team).
        first_deal: seed of the first deal; deal ``i`` has the seed ``first_deal + i``.
        games: games played.
        decided: games that the agent won or lost: its reward was positive or negative.
        win_rate: share of decided games that the agent won.
        win_rate_half: half width of its 95 % interval (deals as units, ratio estimator).
        score: mean natural score of the agent per game (of the members' mean in a team).
        score_half: half width of its 95 % interval.
        margin: mean of own natural score less the mean of the others', per game.
        margin_half: half width of its 95 % interval.
        by_seat: win rate among decided games in each seat (of each team).
        roles: for games with roles, the results in each; shares follow from the numbers of games.
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
    score: float
    score_half: float
    margin: float
    margin_half: float
    by_seat: tuple[float, ...]
    roles: dict[str, Part]
    seed: int


@dataclass
class Games:
    """Outcomes of duplicate deals: arrays of shape (deals, teams), the column being the agent's team.

    A team is a seat where everybody plays for himself.

    Attributes:
        rewards: of the agent's team.
        scores: natural score of the agent's team (mean of its members).
        margins: that less the mean of the others' scores.
        roles: the agent's role in each game, empty where the game has none.
        actions: per deal and team the actions of the game, if they were asked for.
    """

    rewards: np.ndarray
    scores: np.ndarray
    margins: np.ndarray
    roles: list[list[str]]
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
    """Plays every deal once for each team of ``agent``; all other seats are played by ``against``.

    Args:
        game, options: what is played.
        agent, against: who plays.
        deals: seeds of the deals.
        seed: of the agents' randomness.
        keep_actions: keep the actions, for records.
        progress: called with the number of games finished so far, from time to time.
    """
    seats, team_of = game.seats(options), game.team_of(options)
    teams = int(team_of.max()) + 1
    n = len(deals) * teams
    batch = Batch(game, options, n)
    batch.reset(np.repeat(np.asarray(deals, np.uint64), teams))
    own_team = np.tile(np.arange(teams), len(deals))
    generator = np.random.default_rng(seed)
    rewards = np.zeros((n, seats))
    actions: list[list[int]] = [[] for _ in range(n)] if keep_actions else []
    rows = np.arange(n)
    while len(rows):
        assigned = (team_of[batch.players[rows]] != own_team[rows]).astype(np.int64)
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
    own = team_of[None, :] == own_team[:, None]
    own_score = np.where(own, scores, 0).sum(axis=1) / own.sum(axis=1)
    other_score = np.where(own, 0, scores).sum(axis=1) / (~own).sum(axis=1)
    own_reward = np.where(own, rewards, 0).sum(axis=1) / own.sum(axis=1)
    shape = (len(deals), teams)
    kept = [actions[i * teams : (i + 1) * teams] for i in range(len(deals))] if keep_actions else []
    roles = _roles(game, batch.states, own.argmax(axis=1), teams)
    margins = own_score - other_score
    return Games(own_reward.reshape(shape), own_score.reshape(shape), margins.reshape(shape), roles, kept)


def _roles(game: Game, states: np.ndarray, own_seats: np.ndarray, teams: int) -> list[list[str]]:
    if game.role is None:
        return []
    rows = records(states)
    flat = [game.role(rows[i], int(seat)) for i, seat in enumerate(own_seats)]
    return [flat[i : i + teams] for i in range(0, len(flat), teams)]


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
    """Win rate, score and margin with 95 % intervals, the deal being the unit."""
    won, lost = played.rewards > 0, played.rewards < 0
    decided = won | lost
    win_rate, win_rate_half = ratio_interval(won.sum(axis=1), decided.sum(axis=1))
    score, score_half = _mean_interval(played.scores)
    margin, margin_half = _mean_interval(played.margins)
    labels = np.array(played.roles) if played.roles else np.zeros((0, 0), str)
    roles = {str(label): _part(played.scores, labels == label) for label in np.unique(labels)}
    return Result(
        agent=agent,
        against=against,
        deals=len(played.rewards),
        first_deal=first_deal,
        games=played.rewards.size,
        decided=int(decided.sum()),
        win_rate=win_rate,
        win_rate_half=win_rate_half,
        score=score,
        score_half=score_half,
        margin=margin,
        margin_half=margin_half,
        by_seat=tuple(float(w / max(1, d)) for w, d in zip(won.sum(axis=0), decided.sum(axis=0), strict=True)),
        roles=roles,
        seed=seed,
    )


def _part(scores: np.ndarray, where: np.ndarray) -> Part:
    score, half = ratio_interval(np.where(where, scores, 0).sum(axis=1), where.sum(axis=1))
    return Part(int(where.sum()), score, half)


def _mean_interval(values: np.ndarray) -> tuple[float, float]:
    """Mean and half width of its 95 % interval; a row holds the games of one deal."""
    per_deal = values.mean(axis=1)
    return float(per_deal.mean()), float(Z95 * per_deal.std(ddof=1) / np.sqrt(len(per_deal)))


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
    """The results as a rich table; roles stand on lines of their own."""
    table = Table(title=title, caption="± 95 % intervals, the deal being the unit; score and margin per game")
    table.add_column("agent", overflow="fold")
    table.add_column("against", min_width=7, overflow="fold")
    for column in ("deals", "decided", "wins %", "score", "margin"):
        table.add_column(column, justify="right", no_wrap=True)
    for r in results:
        table.add_row(
            r.agent,
            r.against,
            f"{r.deals}",
            f"{r.decided}",
            f"{100 * r.win_rate:.1f} ± {100 * r.win_rate_half:.1f}",
            _with_interval(r.score, r.score_half),
            _with_interval(r.margin, r.margin_half, "+"),
        )
        for label, part in r.roles.items():
            share = f"{100 * part.games / r.games:.1f} %"
            table.add_row("", label, "", f"{part.games}", share, _with_interval(part.score, part.score_half), "")
    return table


def _with_interval(mean: float, half: float, sign: str = "") -> str:
    digits = 1 if abs(mean) >= 10 else 2
    return f"{mean:{sign}.{digits}f} ± {half:.{digits}f}"


@dataclass(frozen=True)
class Arguments:
    """Evaluates an agent against others over duplicate deals."""

    agent: str
    """"random", "rule", a search agent such as "mc-64" or "mc-64-rule", or the file of a saved model"""
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
    env = next(env_id for env_id, presets in cardgym.IDS.items() if presets["game"] == game.name)
    given, team_of = dataclasses.asdict(options), game.team_of(options)

    def games() -> Iterator[GameRecord]:
        for deal, by_team in zip(deals, played.actions, strict=True):
            for own, actions in enumerate(by_team):
                names = [agent.name if team == own else against.name for team in team_of]
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
