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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import cardgym
from cardgym.arguments import parsed
from cardgym.baselines.agents import Agent, act_by_assignment, load_agents
from cardgym.batch import Batch
from cardgym.errors import CardGymError, InvalidOption
from cardgym.files import write_text
from cardgym.game import Game, Options
from cardgym.kernel import records
from cardgym.progress import shifted
from cardgym.records import GameRecord, write

FIRST_DEAL = 1_000_000_000
"""Seed of the first evaluation deal; training never uses seeds from here on."""

BLOCK = 32_768
"""Most games side by side; more are played one block after the other, which bounds the memory."""

Z95, Z80 = 1.959964, 0.841621
"""Quantiles of the normal distribution: two-sided 95 %, one-sided 80 %."""


@dataclass(frozen=True)
class Part:
    """Results of the games in which the agent had one role.

    Attributes:
        games: how many.
        score: mean of the agent's natural score.
        score_half: half width of its 95 % interval; None where a single deal brought the role.
    """

    games: int
    score: float
    score_half: float | None


@dataclass(frozen=True)
class Result:
    """How one agent did against another over duplicate deals.

    Every game compares the agent's team with each other team: it is ahead if it got more reward, behind if it got
    less.  With two teams that is winning and losing; with more it makes half of the comparisons the level of
    equal play in every game, however many of its players win.

    Attributes:
        agent, against: names.
        deals: number of deals; each was played once in every seat (by every team).
        first_deal: seed of the first deal; deal ``i`` has the seed ``first_deal + i``.
        games: games played.
        decided: comparisons that were not level (with two teams: games won or lost).
        win_rate: share of decided comparisons in which the agent was ahead.
        win_rate_half: half width of its 95 % interval (deals as units, ratio estimator).
        win_rate_detectable: smallest distance from 50 % that as many deals would show, see :func:`detectable`.
        reward: mean reward of the agent per game (of the members' mean in a team).
        reward_half: half width of its 95 % interval.
        score: mean natural score of the agent per game (of the members' mean in a team).
        score_half: half width of its 95 % interval.
        margin: mean of own natural score less the mean of the others', per game.
        margin_half: half width of its 95 % interval.
        by_seat: win rate in each seat (of each team).
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
    win_rate_detectable: float
    reward: float
    reward_half: float
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
        rewards: of the agent's team (mean of its members).
        others: mean of the other teams' rewards.
        ahead, behind: number of other teams that got less, and more, reward than the agent's.
        scores: natural score of the agent's team (mean of its members).
        margins: that less the mean of the others' scores.
        roles: the agent's role in each game, empty where the game has none.
        other_roles: that of the other team, where there are two.
        actions: per deal and team the actions of the game, if they were asked for.
    """

    rewards: np.ndarray
    others: np.ndarray
    ahead: np.ndarray
    behind: np.ndarray
    scores: np.ndarray
    margins: np.ndarray
    roles: list[list[str]] = field(default_factory=list)
    other_roles: list[list[str]] = field(default_factory=list)
    actions: list[list[list[int]]] = field(default_factory=list)

    @classmethod
    def joined(cls, parts: Sequence[Games]) -> Games:
        """The games of several blocks of deals as one."""
        arrays = ("rewards", "others", "ahead", "behind", "scores", "margins")
        lists = ("roles", "other_roles", "actions")
        joined: dict[str, Any] = {name: np.concatenate([getattr(p, name) for p in parts]) for name in arrays}
        joined |= {name: [row for p in parts for row in getattr(p, name)] for name in lists}
        return cls(**joined)


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
    teams = game.teams_of(options)
    block = max(1, BLOCK // teams)
    generator = np.random.default_rng(seed)
    parts = []
    for first in range(0, len(deals), block):
        some = deals[first : first + block]
        done = None if progress is None else shifted(progress, first * teams)
        parts.append(_play_block(game, options, (agent, against), some, generator, keep_actions, done))
    return Games.joined(parts)


def _play_block(
    game: Game,
    options: Options,
    agents: tuple[Agent, Agent],
    deals: Sequence[int],
    generator: np.random.Generator,
    keep_actions: bool,
    progress: Callable[[int], None] | None,
) -> Games:
    """All games of some deals side by side."""
    seats, team_of = game.seats(options), game.team_of(options)
    teams = game.teams_of(options)
    n = len(deals) * teams
    batch = Batch(game, options, n)
    batch.reset(np.repeat(np.asarray(deals, np.uint64), teams))
    own_team = np.tile(np.arange(teams), len(deals))
    rewards = np.zeros((n, seats))
    actions: list[list[int]] = [[] for _ in range(n)] if keep_actions else []
    rows = np.arange(n)
    while len(rows):
        assigned = (team_of[batch.players[rows]] != own_team[rows]).astype(np.int64)
        chosen = act_by_assignment(batch, rows, agents, assigned, generator)
        batch.step(chosen, rows)
        rewards[rows] += batch.rewards[rows, :seats]
        if keep_actions:
            for row, action in zip(rows, chosen, strict=True):
                actions[row].append(int(action))
        rows = rows[~batch.over[rows]]
        if progress is not None:
            progress(n - len(rows))
    kept = [actions[i * teams : (i + 1) * teams] for i in range(len(deals))] if keep_actions else []
    return _outcome(game, options, batch.states, rewards, own_team, kept)


def _outcome(
    game: Game, options: Options, states: np.ndarray, rewards: np.ndarray, own_team: np.ndarray, actions: list[Any]
) -> Games:
    """What finished games mean for the teams ``own_team``; ``rewards`` (n, seats) are sums over each game."""
    team_of = game.team_of(options)
    teams = game.teams_of(options)
    shape = (len(own_team) // teams, teams)
    members = team_of[:, None] == np.arange(teams)  # (seats, teams)
    by_team = rewards @ members / members.sum(axis=0)
    own_reward = by_team[np.arange(len(by_team)), own_team][:, None]
    slack = 1e-9 * np.maximum(1.0, np.abs(own_reward))  # sums of floats that differ by rounding are level
    scores = states["scores"][:, : len(team_of)].astype(float)
    own = team_of[None, :] == own_team[:, None]
    own_score = np.where(own, scores, 0).sum(axis=1) / own.sum(axis=1)
    other_score = np.where(own, 0, scores).sum(axis=1) / (~own).sum(axis=1)
    return Games(
        rewards=own_reward.reshape(shape),
        others=((by_team.sum(axis=1) - own_reward[:, 0]) / (teams - 1)).reshape(shape),
        ahead=(own_reward > by_team + slack).sum(axis=1).reshape(shape),
        behind=(own_reward < by_team - slack).sum(axis=1).reshape(shape),
        scores=own_score.reshape(shape),
        margins=(own_score - other_score).reshape(shape),
        roles=_roles(game, states, own.argmax(axis=1), teams),
        other_roles=_roles(game, states, own.argmin(axis=1), teams) if teams == 2 else [],
        actions=actions,
    )


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
        raise InvalidOption(f"an interval needs at least 2 deals, not {deals}")
    played = play_duplicate(game, options, agent, against, range(first_deal, first_deal + deals), seed, False, progress)
    return summarise(played, agent.name, against.name, first_deal, seed)


def summarise(played: Games, agent: str, against: str, first_deal: int, seed: int) -> Result:
    """Win rate, reward, score and margin with 95 % intervals, the deal being the unit."""
    decided = played.ahead + played.behind
    win_rate, win_rate_half = ratio_interval(played.ahead.sum(axis=1), decided.sum(axis=1))
    reward, reward_half = mean_interval(played.rewards)
    score, score_half = mean_interval(played.scores)
    margin, margin_half = mean_interval(played.margins)
    labels = np.array(played.roles) if played.roles else np.zeros((0, 0), str)
    roles = {str(label): _part(played.scores, labels == label) for label in np.unique(labels)}
    by_seat = played.ahead.sum(axis=0) / np.maximum(1, decided.sum(axis=0))
    return Result(
        agent=agent,
        against=against,
        deals=len(played.rewards),
        first_deal=first_deal,
        games=played.rewards.size,
        decided=int(decided.sum()),
        win_rate=win_rate,
        win_rate_half=win_rate_half,
        win_rate_detectable=detectable(win_rate_half),
        reward=reward,
        reward_half=reward_half,
        score=score,
        score_half=score_half,
        margin=margin,
        margin_half=margin_half,
        by_seat=tuple(map(float, by_seat)),
        roles=roles,
        seed=seed,
    )


def mirrored(played: Games) -> Games:
    """Games between two teams as seen by the other agent, in the columns of its own team; without actions."""
    return Games(
        rewards=played.others[:, ::-1],
        others=played.rewards[:, ::-1],
        ahead=played.behind[:, ::-1],
        behind=played.ahead[:, ::-1],
        scores=(played.scores - played.margins)[:, ::-1],
        margins=-played.margins[:, ::-1],
        roles=[row[::-1] for row in played.other_roles],
        other_roles=[row[::-1] for row in played.roles],
    )


def detectable(half: float) -> float:
    """The smallest true difference that as many deals would show: an interval clear of it in 80 % of experiments.

    Args:
        half: half width of a 95 % interval.

    Returns:
        (1.96 + 0.84) standard errors: the usual approximation of the power of a two-sided test at 5 %.
    """
    return half * (Z95 + Z80) / Z95


def _part(scores: np.ndarray, where: np.ndarray) -> Part:
    score, half = ratio_interval(np.where(where, scores, 0).sum(axis=1), where.sum(axis=1))
    return Part(int(where.sum()), score, half if where.any(axis=1).sum() > 1 else None)


def mean_interval(values: np.ndarray) -> tuple[float, float]:
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
    """The results as a rich table; roles stand on lines of their own, with their share of the games."""
    caption = (
        "± 95 % intervals, the deal being the unit\nscore, margin: natural points per game\n"
        "detects: distance from 50 % found 4 times of 5"
    )
    table = Table(title=title, caption=caption, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("agent", overflow="fold")
    table.add_column("against", min_width=7, overflow="fold")
    for column in ("wins %", "detects", "score", "margin"):
        table.add_column(column, justify="right", no_wrap=True)
    for r in results:
        table.add_row(
            r.agent,
            r.against,
            f"{100 * r.win_rate:.1f} ± {100 * r.win_rate_half:.1f}",
            f"{100 * r.win_rate_detectable:.1f}",
            with_interval(r.score, r.score_half),
            with_interval(r.margin, r.margin_half, "+"),
        )
        for label, part in r.roles.items():
            share = f"({100 * part.games / r.games:.1f} %)"
            table.add_row("", label, share, "", with_interval(part.score, part.score_half), "")
    return table


def with_interval(mean: float, half: float | None, sign: str = "") -> str:
    """A figure and its interval, if it has one, in three digits or so."""
    digits = 1 if abs(mean) >= 10 else 2
    if half is None:
        return f"{mean:{sign}.{digits}f}"
    return f"{mean:{sign}.{digits}f} ± {half:.{digits}f}"


@dataclass(frozen=True)
class Arguments:
    """Evaluates an agent against others over duplicate deals."""

    agent: str
    """an agent by name: "rule", "pimc-64", "box", the file of a model, module:function"""
    game: str = "chouine"
    """name of the game, or an environment id for its rule options"""
    against: tuple[str, ...] = ("random", "rule")
    """the opponents, named in the same way"""
    deals: int = 2000
    """duplicate deals; each is played once in every seat"""
    first_deal: int = FIRST_DEAL
    """seed of the first deal"""
    seed: int = 0
    """seed of the agents' own randomness"""
    threads: int = 1
    """threads of search agents"""
    json: Path | None = None
    """also write the results to this file"""


def game_and_options(name: str) -> tuple[Game, Options]:
    """A game by its name, with default options, or by an environment id, with the options that the id presets.

    Raises:
        UnknownGame: there is neither.
    """
    if name in cardgym.game_names() or ("/" not in name and "-v" not in name):
        game = cardgym.load_game(name)
        return game, game.options()
    presets = dict(cardgym.IDS[cardgym.checked_id(name)])
    game = cardgym.load_game(presets.pop("game"))
    return game, game.options.of(**presets)


def main(arguments: Arguments) -> list[Result]:
    """Evaluates as the arguments say and prints the table."""
    game, options = game_and_options(arguments.game)
    agent, *opponents = load_agents((arguments.agent, *arguments.against), game, arguments.threads)
    results = []
    for opponent in opponents:
        results.append(evaluate(game, options, agent, opponent, arguments.deals, arguments.first_deal, arguments.seed))
    title = f"{game.title}, {arguments.deals} duplicate deals from seed {arguments.first_deal}"
    Console().print(results_table(results, title))
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
    env = cardgym.ids_of(game.name)[0]
    given, team_of = dataclasses.asdict(options), game.team_of(options)

    def games() -> Iterator[GameRecord]:
        for deal, by_team in zip(deals, played.actions, strict=True):
            for own, actions in enumerate(by_team):
                names = [agent.name if team == own else against.name for team in team_of]
                yield GameRecord.played(env, deal, actions, options=given, agents=names)

    return write(path, games())


def write_json(path: Path, value: Any, indent: int | None = 2) -> None:
    """Writes JSON aside and renames it into place; on one line without ``indent``."""
    write_text(path, json.dumps(value, indent=indent) + "\n")


if __name__ == "__main__":
    try:
        main(parsed(Arguments))
    except CardGymError as error:
        sys.exit(f"error: {error}")
