"""Takes the pictures of every game's table in ``docs/pictures``: ``python docs/screenshots.py``.

Each picture is a position of a game that the rule bot plays against itself, seen by one seat.  A game without a rule
bot is played at random.  The same seed gives the same picture.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console

import cardgym
from cardgym.baselines.agents import Agent, Decisions, RandomAgent, RuleAgent
from cardgym.batch import Batch
from cardgym.errors import CardGymError
from cardgym.game import Game
from cardgym.render import Drawing

PICTURES = Path(__file__).parent / "pictures"


@dataclass(frozen=True)
class Shot:
    """A picture to take.

    Attributes:
        game: name of the game.
        name: of the file, without ``.png``.
        moves: decisions before the picture.
        seat: whose view; None for a referee's.
        options: rule options.
        size: of the picture.
        seed: of the game.
    """

    game: str
    name: str
    moves: int
    seat: int | None = 0
    options: dict[str, Any] = field(default_factory=dict)
    size: tuple[int, int] = (640, 480)
    seed: int = 1


SHOTS = (
    Shot("avinas", "avinas", 17),
    Shot("avinas", "avinas-referee", 17, None, size=(1280, 800)),
    Shot("chouine", "chouine", 13),
    Shot("chouine", "chouine-referee", 13, None, size=(1280, 800)),
    Shot("shukh", "shukh", 30, options={"memory": "table"}),
    *(Shot("shukh", f"shukh-{n}", 12 * n, options={"players": n, "deck": 52}) for n in (2, 8)),
    Shot("shukh_table", "shukh_table", 250),
    Shot("shukh", "shukh-referee", 60, None, {"players": 6}, (1280, 800)),
    *(Shot("tarot", f"tarot-{n}", 40, options={"players": n, "contract": "garde"}) for n in (3, 4, 5)),
    Shot("tarot", "tarot-referee", 40, None, {"contract": "garde"}, (1280, 800)),
)


def state_after(game: Game, shot: Shot) -> np.ndarray:
    """The position: structured, shape (1,)."""
    try:
        agent: Agent = RuleAgent(game)
    except CardGymError:
        agent = RandomAgent()
    generator = np.random.default_rng(shot.seed)
    batch = Batch(game, game.options.of(**shot.options))
    batch.reset([shot.seed])
    for _ in range(shot.moves):
        if not batch.over[0]:
            batch.step(agent.act(Decisions(batch, np.array([0])), generator))
    return batch.states


def main(out: Path = PICTURES) -> None:
    """Takes the pictures.

    Args:
        out: folder to write them to.
    """
    out.mkdir(parents=True, exist_ok=True)
    shots = [shot for shot in SHOTS if shot.game in cardgym.game_names()]
    for shot in shots:
        game = cardgym.load_game(shot.game)
        Drawing(game, state_after(game, shot), shot.seat, shot.size).save(out / f"{shot.name}.png")
    Console().print(f"{len(shots)} pictures in {out}", soft_wrap=True)


if __name__ == "__main__":
    tyro.cli(main)
