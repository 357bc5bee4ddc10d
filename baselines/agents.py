"""Agents: the interface, and those that need no training.

An agent is asked for many decisions at once.  It gets them as :class:`Decisions`, which show every position
only through the seat that has to act: what an agent cannot know it does not
reach, except by :meth:`Decisions.true_states`, which is there for upper bounds that say that they cheat.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from cardgym.batch import Batch, resample, sample
from cardgym.errors import CardGymError
from cardgym.game import Game, Layout, Options
from cardgym.kernel import kernel


class Decisions:
    """Positions that wait for a decision, each seen by the seat that has to make it.

    Attributes:
        game, options: the game and its rule options.
        layouts: layout of each encoding.
        observation: int8, shape (n, observation size).
        mask: int8, shape (n, actions).
        seats: the seat to act, int64, shape (n,).
    """

    def __init__(self, batch: Batch, rows: np.ndarray) -> None:
        """Takes the positions from the rows of a batch."""
        self.game: Game = batch.game
        self.options: Options = batch.options
        self.layouts: dict[str, Layout] = dict(batch.layouts)
        self.observation = batch.observation[rows]
        self.mask = batch.mask[rows]
        self.seats = batch.players[rows].astype(np.int64)
        self._batch, self._rows = batch, rows

    def __len__(self) -> int:
        return len(self.seats)

    def history(self) -> np.ndarray:
        """Each seat's own record of the current deal, int8, shape (n, history size)."""
        return self._batch.views(self.seats, self._rows, ("history",)).history

    def determinized(self, worlds: int, seed: int) -> np.ndarray:
        """States that could be the true ones for all that the seats know.

        Args:
            worlds: how many for each position.
            seed: of the random streams used.

        Returns:
            Structured array, shape (n, worlds).  Chance events that lie ahead are drawn anew too.
        """
        states = np.repeat(self._batch.states[self._rows], worlds)
        resample(self.game, states, np.repeat(self.seats, worlds), seed)
        return states.reshape(len(self), worlds)

    def true_states(self) -> np.ndarray:
        """The true states with all that is hidden, copied: for cheating upper bounds only, never for a player.

        Returns:
            Structured array, shape (n,).
        """
        return self._batch.states[self._rows]


class Agent(Protocol):
    """Something that plays a game.

    Attributes:
        name: for tables.
    """

    name: str

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """Decides.

        Args:
            decisions: n positions.
            generator: the only source of randomness that an agent may use.

        Returns:
            Legal action ids, integers, shape (n,).
        """


class RandomAgent:
    """Plays every legal action with the same probability."""

    name = "random"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return sample(decisions.mask, generator)


class CarelessAgent:
    """Plays at random, but where it may accuse somebody (Shukh at the table) it passes 95 times in 100."""

    name = "careless"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        ids, mask = decisions.game.action_ids, decisions.mask.copy()
        if "accuse" in ids:
            lets_go = (mask[:, ids["accuse"]] != 0) & (generator.random(len(mask)) < 0.95)
            mask[lets_go] = 0
            mask[lets_go, ids["pass"]] = 1
        return sample(mask, generator)


class RuleAgent:
    """The game's rule bot: a compiled function of the observation and the mask."""

    name = "rule"

    def __init__(self, game: Game) -> None:
        """Loads the rule bot of a game in the box.

        Raises:
            CardGymError: the game has none.
        """
        self._decide = _rule_kernel(game.name)

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        actions = np.empty(len(decisions), np.int64)
        self._decide(decisions.observation, decisions.mask, actions)
        return actions


@functools.cache
def _rule_kernel(name: str) -> Callable[..., Any]:
    try:
        module = importlib.import_module(f"cardgym.baselines.rule_bots.{name}")
    except ModuleNotFoundError:
        raise CardGymError(f"{name}: there is no rule bot for this game") from None
    choose = module.choose

    @kernel(f"{name}.rule", (str(module.__file__),))
    def decide(observations, masks, actions):  # type: ignore[no-untyped-def]
        for n in range(len(actions)):
            actions[n] = choose(observations[n], masks[n])

    return decide


def load_agent(name: str, game: Game) -> Agent:
    """An agent by name.

    Args:
        name: ``"random"``, ``"careless"``, ``"rule"``, a search agent (``"mc-64"``, ``"mc-64-rule"``,
            ``"cheating-mc-64"``, the number being the worlds per decision; see :mod:`cardgym.baselines.search`), or the
            path of a model saved by a training script.
        game: the game that it is to play.

    Raises:
        CardGymError: no such agent or file, or a model of another game; the message says what there is.
    """
    if name == "random":
        return RandomAgent()
    if name == "careless":
        return CarelessAgent()
    if name == "rule":
        return RuleAgent(game)
    if Path(name).is_file():
        from cardgym.baselines.sb3_agent import SB3Agent  # needs torch

        return SB3Agent.load(name, game)
    if "mc-" in name:
        from cardgym.baselines import search

        return search.named(name, game)
    raise CardGymError(f"unknown agent {name!r}: neither 'random', 'rule', 'mc-64' nor the file of a saved model")


def act_by_assignment(
    batch: Batch, rows: np.ndarray, agents: Sequence[Agent], assigned: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Decisions of several agents, each asked once for all its positions.

    Args:
        batch: the games.
        rows: games that wait for a decision, int64, shape (n,).
        agents: the agents.
        assigned: index of the agent that plays each row's seat to act, shape (n,).
        generator: randomness for the agents.

    Returns:
        Action ids, int64, shape (n,).
    """
    actions = np.empty(len(rows), np.int64)
    for k, agent in enumerate(agents):
        mine = np.flatnonzero(assigned == k)
        if len(mine):
            actions[mine] = agent.act(Decisions(batch, rows[mine]), generator)
    return actions
