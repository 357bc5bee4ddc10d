"""The arena: any number of agents, each against each over the same duplicate deals.

One agent of a pair plays one team (a seat where everybody plays for himself), the other all other seats, and every
deal is played once for each team, as :mod:`cardgym.baselines.evaluate` does it.  In a game of two teams each pair meets
once; in others twice, since one A among Bs is another question than one B among As.

Ratings are those of R. A. Bradley and M. E. Terry (Rank analysis of incomplete block designs, Biometrika 39, 1952),
fitted to all comparisons and given on the Elo scale, where 400 points mean odds of 10 to 1.

Usage::

    python -m cardgym.baselines.arena --game chouine --agents random rule pimc-64 runs/chouine/model.zip

writes ``cross_table.json`` and ``cross_table.png`` under ``runs/arena/chouine``.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import cardgym
from cardgym.arguments import parsed
from cardgym.baselines.agents import Agent, load_agents
from cardgym.baselines.evaluate import (
    FIRST_DEAL,
    Z95,
    Games,
    Result,
    detectable,
    game_and_options,
    mirrored,
    play_duplicate,
    results_table,
    summarise,
    write_json,
)
from cardgym.errors import CardGymError, InvalidOption, require
from cardgym.game import Game, Options
from cardgym.progress import Bar, shifted

ELO = 400 / np.log(10)
"""Points of the Elo scale in one unit of log-odds."""

STEPS = 100
"""Most Newton steps of a fit; a handful is enough."""


@dataclass(frozen=True)
class Rating:
    """The strength of an agent.

    Attributes:
        agent: its name.
        rating: Elo points above the mean of all agents of the table.
        half: half width of its 95 % interval, the deal being the unit.
    """

    agent: str
    rating: float
    half: float


@dataclass(frozen=True)
class CrossTable:
    """Every agent against every other.

    Attributes:
        game: its name.
        options: the rule options.
        agents: names, strongest first.
        deals: number of duplicate deals that each pair played.
        first_deal: seed of the first deal; deal ``i`` has the seed ``first_deal + i``.
        seed: of the agents' own randomness.
        results: one for every ordered pair of agents.
        ratings: of the agents, strongest first.
        cardgym: version of the package.
    """

    game: str
    options: dict[str, Any]
    agents: tuple[str, ...]
    deals: int
    first_deal: int
    seed: int
    results: tuple[Result, ...]
    ratings: tuple[Rating, ...]
    cardgym: str

    def cell(self, agent: str, against: str) -> Result:
        """The result of one agent against another, which must be different agents of the table."""
        return next(r for r in self.results if (r.agent, r.against) == (agent, against))


def cross_table(
    game: Game,
    options: Options,
    agents: Sequence[Agent],
    deals: int = 1000,
    first_deal: int = FIRST_DEAL,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> CrossTable:
    """Plays all pairs of agents and rates them.

    Args:
        game, options: what is played.
        agents: at least two, with different names.
        deals: duplicate deals of each pair, at least 2.
        first_deal: seed of the first.
        seed: of the agents' randomness.
        progress: called with the number of games finished so far; there are :func:`games_of` in all.

    Raises:
        InvalidOption: too few agents or deals, or two agents of one name.
    """
    names = [a.name for a in agents]
    if len(agents) < 2 or len(set(names)) < len(names):
        raise InvalidOption(f"a cross table needs at least two agents with different names, not {', '.join(names)}")
    if deals < 2:
        raise InvalidOption(f"deals={deals}: an interval needs at least 2")
    played: dict[tuple[int, int], Games] = {}
    numbers, before = range(first_deal, first_deal + deals), 0
    for i, j in _meetings(game, options, len(agents)):
        done = None if progress is None else shifted(progress, before)
        played[i, j] = play_duplicate(game, options, agents[i], agents[j], numbers, seed, False, done)
        before += played[i, j].rewards.size
        if (j, i) not in played and _two_teams(game, options):
            played[j, i] = mirrored(played[i, j])
    ratings = rate(names, _comparisons(played, len(agents), deals, _two_teams(game, options)))
    return CrossTable(
        game=game.name,
        options=dataclasses.asdict(options),
        agents=tuple(r.agent for r in ratings),
        deals=deals,
        first_deal=first_deal,
        seed=seed,
        results=tuple(summarise(g, names[i], names[j], first_deal, seed) for (i, j), g in sorted(played.items())),
        ratings=ratings,
        cardgym=cardgym.__version__,
    )


def _two_teams(game: Game, options: Options) -> bool:
    return game.teams_of(options) == 2


def _meetings(game: Game, options: Options, agents: int) -> Iterator[tuple[int, int]]:
    """The pairs of agents that have to be played."""
    if _two_teams(game, options):
        return itertools.combinations(range(agents), 2)
    return itertools.permutations(range(agents), 2)


def games_of(game: Game, options: Options, agents: int, deals: int) -> int:
    """The number of games of a cross table."""
    return len(list(_meetings(game, options, agents))) * deals * game.teams_of(options)


# --- Ratings ---------------------------------------------------------------------------------


def _comparisons(played: dict[tuple[int, int], Games], agents: int, deals: int, two_teams: bool) -> np.ndarray:
    """How often each agent was ahead of each other, deal by deal, shape (deals, agents, agents)."""
    wins = np.zeros((deals, agents, agents))
    for (i, j), games in played.items():
        wins[:, i, j] += games.ahead.sum(axis=1)
        if not two_teams:  # there, the mirrored games say it
            wins[:, j, i] += games.behind.sum(axis=1)
    return wins


def rate(names: Sequence[str], wins: np.ndarray) -> tuple[Rating, ...]:
    """Bradley-Terry ratings with intervals.

    Every pair that met is given one more comparison, half of it won by each, so that an agent that never won has a
    rating too.  The intervals come from the sandwich estimate of the covariance with the deals as clusters:
    they allow for games of one deal that depend on each other, and for a model that does not fit.

    Args:
        names: of the agents.
        wins: comparisons won, deal by deal: shape (deals, agents, agents), winner first.

    Returns:
        The ratings, highest first.
    """
    total = wins.sum(axis=0)
    met = (total + total.T) > 0
    total = total + 0.5 * met
    strength = np.zeros(len(names))
    for _ in range(STEPS):
        expected, information = _expected(strength, total + total.T)
        step = np.linalg.pinv(information) @ (total - expected).sum(axis=1)
        # Log-odds move by at most 1 a step, which keeps Newton's method from overshooting.
        strength += step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-10:
            break
    chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    scores = (wins - (wins + wins.transpose(0, 2, 1)) * chance).sum(axis=2)
    bread = np.linalg.pinv(information)
    deals = len(wins)
    covariance = bread @ (scores.T @ scores) @ bread * deals / (deals - 1)
    half = Z95 * np.sqrt(np.diag(covariance))
    strength -= strength.mean()
    order = np.argsort(-strength, kind="stable")
    return tuple(Rating(names[i], float(ELO * strength[i]), float(ELO * half[i])) for i in order)


def _expected(strength: np.ndarray, meetings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Wins that the strengths (log-odds) lead to expect, and the information matrix."""
    chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    weight = meetings * chance * (1 - chance)
    return meetings * chance, np.diag(weight.sum(axis=1)) - weight


# --- Command ---------------------------------------------------------------------------------


def rating_table(table: CrossTable) -> Table:
    """The ratings as a rich table."""
    caption = "Bradley-Terry, Elo points around the mean, ± 95 % intervals"
    shown = Table(title=f"{cardgym.load_game(table.game).title}: ratings", caption=caption)
    shown.add_column("agent", overflow="fold")
    for column in ("rating", "detectable difference"):
        shown.add_column(column, justify="right", no_wrap=True)
    for r in table.ratings:
        shown.add_row(r.agent, f"{r.rating:+.0f} ± {r.half:.0f}", f"{detectable(r.half):.0f}")
    return shown


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Plays agents against each other over duplicate deals, rates them and draws the cross table."""

    agents: tuple[str, ...] = ("random", "rule", "pimc-64")
    """agents by name: "rule", "pimc-64", "box", the file of a model, module:function"""
    game: str = "chouine"
    """name of the game, or an environment id for its rule options"""
    deals: int = 1000
    """duplicate deals of each pair"""
    first_deal: int = FIRST_DEAL
    """seed of the first deal"""
    seed: int = 0
    """seed of the agents' own randomness"""
    threads: int = 1
    """threads of search agents"""
    out: Path | None = None
    """folder for cross_table.json and cross_table.png; runs/arena/GAME if not given"""


def main(arguments: Arguments, console: Console | None = None) -> CrossTable:
    """Plays as the arguments say, prints and writes the results."""
    require("matplotlib", "train")
    from cardgym.baselines import plots

    console = console if console is not None else Console()
    game, options = game_and_options(arguments.game)
    agents = load_agents(arguments.agents, game, arguments.threads)
    total = games_of(game, options, len(agents), arguments.deals)
    with Bar(f"arena of {game.title}", total) as bar:
        table = cross_table(
            game, options, agents, arguments.deals, arguments.first_deal, arguments.seed, lambda done: bar.update(done)
        )
    title = f"{game.title}, {table.deals} duplicate deals from seed {table.first_deal}"
    console.print(results_table(table.results, title))
    console.print(rating_table(table))
    folder = arguments.out if arguments.out is not None else Path("runs") / "arena" / game.name
    write_json(folder / "cross_table.json", dataclasses.asdict(table))
    plots.cross_table(table, title, folder / "cross_table.png")
    console.print(f"written: {folder / 'cross_table.json'}, {folder / 'cross_table.png'}", soft_wrap=True)
    return table


if __name__ == "__main__":
    try:
        main(parsed(Arguments))
    except CardGymError as error:
        sys.exit(f"error: {error}")
