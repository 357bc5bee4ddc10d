"""The score card: one fixed protocol by which any agent is measured, so that figures of two papers can be compared.

The agent plays each rung of a ladder (:data:`LADDER`: random, the rule bot, two kinds of search) over duplicate
deals whose seeds the protocol fixes, in every seat.  The card holds the results with their intervals, and for each
deal what came out, so that two cards can be compared deal by deal: on the same deals against the same opponents,
most of the luck cancels.  It is a function of the agent alone: playing again gives the same file, byte for byte (agents
with a time budget excepted).

The agent is named as for :func:`cardgym.baselines.agents.load_agent`: a saved model, a search agent, or a Python
function as ``module:function``, which gets :class:`cardgym.baselines.agents.Decisions` (n positions, each as its
seat sees it: ``observation``, ``mask``, ``seats``, ``history()``, ``determinized()``) and a
``numpy.random.Generator``, its only source of chance, and returns n legal action ids.  ``{game}`` in the name stands
for the game's name.

Usage::

    python -m cardgym.baselines.scorecard --agents 'runs/{game}/model.zip' --game all
    python -m cardgym.baselines.scorecard --agents mine.json theirs.json

writes ``scorecard.json`` and ``scorecard.png`` under ``runs/scorecard``; a card that was written before is not
played again, but drawn and compared.
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
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import cardgym
from cardgym.arguments import parsed
from cardgym.baselines.agents import Agent, load_agent
from cardgym.baselines.evaluate import (
    FIRST_DEAL,
    Games,
    Part,
    Result,
    detectable,
    game_and_options,
    mean_interval,
    play_duplicate,
    results_table,
    summarise,
    with_interval,
    write_json,
)
from cardgym.batch import checked_count
from cardgym.errors import CardGymError, InvalidRecord, require
from cardgym.progress import Bar, shifted

PROTOCOL = 1
"""Version of the protocol: rises with any change of ladder, deals, seats or measures."""

LADDER = {"random": 4000, "rule": 4000, "pimc-64": 400, "ismcts-1000": 400, "pimc-64-rule": 400}
"""The opponents, with the number of games against each: deals times teams."""

SEED = 0
"""Of the agents' own randomness."""

Card = dict[str, Any]


def deals_of(rung: str, teams: int, scale: int) -> range:
    """The deals against a rung; those of a smaller scale are the first of a larger."""
    return range(FIRST_DEAL, FIRST_DEAL + scale * LADDER[rung] // teams)


def play_card(
    name: str,
    games: Sequence[str],
    scale: int = 1,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Card:
    """Plays an agent by the protocol.

    Args:
        name: the agent, see the top of this module.
        games: names of games, or environment ids for their rule options.
        scale: plays so many times the protocol's deals, for narrower intervals.
        threads: of search agents; no figure depends on them.
        progress: called with the number of games finished so far; there are :func:`games_of` in all.

    Returns:
        The card, made of what JSON knows; ``docs/evaluation.md`` describes it.

    Raises:
        CardGymError: no such agent or game, or the agent breaks the rules; the message says how.
    """
    checked_count("scale", scale)
    before = 0
    played: dict[str, Any] = {}
    players = [(g, *game_and_options(g)) for g in games]
    agents = [load_agent(name.replace("{game}", game.name), game, threads) for _, game, _ in players]
    for (label, game, options), agent in zip(players, agents, strict=True):
        rungs = []
        for rung in LADDER:
            deals = deals_of(rung, game.teams_of(options), scale)
            done = None if progress is None else shifted(progress, before)
            against = load_agent(rung, game, threads)
            found = play_duplicate(game, options, agent, against, deals, SEED, progress=done)
            before += found.rewards.size
            rungs.append(_rung(found, agent, rung))
        played[label] = {"game": game.name, "options": dataclasses.asdict(options), "rungs": rungs}
    return {
        "protocol": PROTOCOL,
        "cardgym": cardgym.__version__,
        "agent": name,
        "scale": scale,
        "first_deal": FIRST_DEAL,
        "seed": SEED,
        "games": played,
    }


def _rung(played: Games, agent: Agent, against: str) -> dict[str, Any]:
    """Results against one opponent, and deal by deal the sums over the agent's seats."""
    result = dataclasses.asdict(summarise(played, agent.name, against, FIRST_DEAL, SEED))
    return {
        "result": {**result, "by_seat": list(result["by_seat"])},
        "by_deal": {
            "ahead": played.ahead.sum(axis=1).tolist(),
            "behind": played.behind.sum(axis=1).tolist(),
            "reward": [round(x, 9) for x in played.rewards.sum(axis=1).tolist()],
            "margin": [round(x, 9) for x in played.margins.sum(axis=1).tolist()],
        },
    }


def games_of(games: Sequence[str], scale: int = 1) -> int:
    """The number of games that a card takes."""
    teams = [game.teams_of(options) for game, options in map(game_and_options, games)]
    return sum(len(deals_of(rung, n, scale)) * n for n in teams for rung in LADDER)


# --- Reading and comparing -------------------------------------------------------------------


def read_card(path: Path) -> Card:
    """A card from its file.

    Raises:
        InvalidRecord: no card, or one of another protocol; the message says why.
    """
    try:
        card = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InvalidRecord(f"{path}: not a readable score card ({type(error).__name__}: {error})") from error
    if not isinstance(card, dict) or "protocol" not in card:
        raise InvalidRecord(f"{path}: not a score card: there is no 'protocol'")
    if card["protocol"] != PROTOCOL:
        raise InvalidRecord(
            f"{path}: made by protocol {card['protocol']!r}; this version of cardgym has protocol {PROTOCOL}, and "
            "figures of two protocols cannot be compared"
        )
    try:
        for _, rung, _ in _rungs(card):
            if rung not in LADDER:
                raise InvalidRecord(f"{path}: protocol {PROTOCOL} knows no opponent {rung!r}")
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidRecord(f"{path}: an incomplete score card ({type(error).__name__}: {error})") from error
    return card


def _rungs(card: Card) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Game, opponent and figures of every line of a card."""
    for label, game in card["games"].items():
        for rung in game["rungs"]:
            yield label, rung["result"]["against"], {**rung, "result": result_of(rung["result"])}


def result_of(values: dict[str, Any]) -> Result:
    """A result from its JSON form."""
    roles = {label: Part(**part) for label, part in values["roles"].items()}
    return Result(**{**values, "by_seat": tuple(values["by_seat"]), "roles": roles})


@dataclass(frozen=True)
class Difference:
    """One card less another, over the deals that both played against one opponent.

    Attributes:
        game, against: the line of the cards.
        deals: how many both have.
        reward, reward_half: difference of mean rewards per game, with the half width of its 95 % interval (deals
            paired).
        margin, margin_half: the same of margins in natural points.
    """

    game: str
    against: str
    deals: int
    reward: float
    reward_half: float
    margin: float
    margin_half: float


def compare(card: Card, other: Card) -> list[Difference]:
    """Differences of two cards, line by line, where both have the line."""
    lines = {(label, rung): found for label, rung, found in _rungs(other)}
    differences = []
    for label, rung, found in _rungs(card):
        if (label, rung) not in lines:
            continue
        if card["games"][label]["options"] != other["games"][label]["options"]:
            raise InvalidRecord(f"the cards of {card['agent']} and {other['agent']} have other rule options in {label}")
        rival = lines[label, rung]
        n = min(found["result"].deals, rival["result"].deals)
        teams = found["result"].games // found["result"].deals
        figures: list[float] = []
        for what in ("reward", "margin"):
            pair = (np.array(x["by_deal"][what][:n], float) / teams for x in (found, rival))
            figures += mean_interval(np.subtract(*pair)[:, None])
        differences.append(Difference(label, rung, n, *figures))
    return differences


def comparison_table(card: Card, other: Card) -> Table:
    """The differences of two cards as a rich table."""
    caption = "± 95 % intervals, deals paired; detects: difference of rewards found 4 times of 5"
    table = Table(title=f"{card['agent']} less {other['agent']}", caption=caption, box=SIMPLE_HEAD)
    for column in ("game", "against"):
        table.add_column(column, overflow="fold")
    for column in ("deals", "reward", "detects", "margin"):
        table.add_column(column, justify="right", no_wrap=True)
    for d in compare(card, other):
        reward, margin = with_interval(d.reward, d.reward_half, "+"), with_interval(d.margin, d.margin_half, "+")
        table.add_row(d.game, d.against, f"{d.deals}", reward, f"{detectable(d.reward_half):.2f}", margin)
    return table


# --- Command ---------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Plays agents by the protocol of the score card, writes their cards and draws them."""

    agents: tuple[str, ...]
    """agents by name: "rule", "box", a file, module:function ({game} stands for the game); or files of cards"""
    game: tuple[str, ...] = ("all",)
    """names of games or environment ids; all for every game in the box"""
    scale: int = 1
    """times the protocol's deals"""
    threads: int = 1
    """threads of search agents"""
    out: Path | None = None
    """folder for scorecard.json (of the first agent, others numbered) and scorecard.png; runs/scorecard if not given"""


def main(arguments: Arguments, console: Console | None = None) -> list[Card]:
    """Plays, reads, writes and draws cards as the arguments say."""
    require("matplotlib", "train")
    from cardgym.baselines import plots

    console = console if console is not None else Console()
    games = cardgym.game_names() if arguments.game == ("all",) else arguments.game
    folder = arguments.out if arguments.out is not None else Path("runs") / "scorecard"
    cards: list[Card] = []
    written: list[Path] = []
    for name in arguments.agents:
        if name.endswith(".json"):
            cards.append(read_card(Path(name)))
            continue
        with Bar(f"score card of {name}", games_of(games, arguments.scale)) as bar:
            cards.append(
                play_card(name, games, arguments.scale, arguments.threads, lambda done, bar=bar: bar.update(done))  # type: ignore[misc]
            )
        written.append(folder / ("scorecard.json" if not written else f"scorecard-{len(written) + 1}.json"))
        write_json(written[-1], cards[-1], indent=None)
    for card in cards:
        for label in card["games"]:
            results = [found["result"] for g, _, found in _rungs(card) if g == label]
            console.print(results_table(results, f"{card['agent']}: {label}, protocol {PROTOCOL}"))
    for other in cards[1:]:
        console.print(comparison_table(cards[0], other))
    plots.score_cards(cards, folder / "scorecard.png")
    console.print("written: " + ", ".join(map(str, [*written, folder / "scorecard.png"])), soft_wrap=True)
    return cards


if __name__ == "__main__":
    try:
        main(parsed(Arguments))
    except CardGymError as error:
        sys.exit(f"error: {error}")
