"""Agents: the interface, and those that need no training.

An agent is asked for many decisions at once.  It gets them as :class:`Decisions`, which show every position
only through the seat that has to act: what an agent cannot know it does not
reach, except by :meth:`Decisions.true_states`, which is there for upper bounds that say that they cheat.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from cardgym.batch import Batch, resample, sample
from cardgym.errors import CardGymError, IllegalAction, InvalidAction, suggest
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
        self._decide = _rule_kernel(game)

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        actions = np.empty(len(decisions), np.int64)
        self._decide(decisions.observation, decisions.mask, actions)
        return actions


def rule_bot(game: Game) -> tuple[Callable[..., Any], str]:
    """The compiled ``choose(observation, mask)`` of a game's rule bot, and the file that it stands in.

    Raises:
        CardGymError: the game has none.
    """
    try:
        module = importlib.import_module(f"cardgym.baselines.rule_bots.{game.name}")
    except ModuleNotFoundError:
        raise CardGymError(f"{game.name}: there is no rule bot for this game") from None
    return module.choose, str(module.__file__)


@functools.cache
def _rule_kernel(game: Game) -> Callable[..., Any]:
    choose, file = rule_bot(game)

    @kernel(f"{game.name}.rule", (file,))
    def decide(observations, masks, actions):  # type: ignore[no-untyped-def]
        for n in range(len(actions)):
            actions[n] = choose(observations[n], masks[n])

    return decide


class CallableAgent:
    """A Python function as an agent.

    The function has the form of :meth:`Agent.act`: it gets :class:`Decisions`, n positions at once, and a
    ``numpy.random.Generator``, and returns n legal action ids.  What it returns is checked.

    Example:
        >>> import cardgym, numpy as np
        >>> from cardgym.baselines.agents import CallableAgent, Decisions
        >>> from cardgym.batch import Batch
        >>> def first(decisions, generator):
        ...     return decisions.mask.argmax(axis=1)
        >>> game = cardgym.load_game("chouine")
        >>> batch = Batch(game, num_games=3)
        >>> batch.reset([1, 2, 3])
        >>> bool((CallableAgent(first, "first").act(Decisions(batch, np.arange(3)), None) >= 0).all())
        True
    """

    def __init__(self, function: Callable[[Decisions, np.random.Generator], Any], name: str) -> None:
        """Takes the function and its name for tables and messages."""
        self.function, self.name = function, name

    @classmethod
    def named(cls, name: str) -> CallableAgent:
        """Imports ``module:function``.

        Raises:
            CardGymError: there is no such module or function, or it cannot be called.
        """
        module_name, _, function_name = name.partition(":")
        try:
            module = importlib.import_module(module_name)
        except ImportError as error:
            raise CardGymError(f"agent {name!r}: cannot import {module_name!r}: {error}") from error
        try:
            function = getattr(module, function_name)
        except AttributeError:
            known = [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]
            raise CardGymError(
                f"agent {name!r}: {module_name} has no {function_name!r}.{suggest(function_name, known)}"
            ) from None
        if not callable(function):
            raise CardGymError(f"agent {name!r}: {function_name} is a {type(function).__name__}, not a function")
        return cls(function, name)

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """Asks the function and checks what it returns.

        Raises:
            InvalidAction: no integers of shape (n,), or one out of range.
            IllegalAction: an action that the mask forbids.
        """
        returned = self.function(decisions, generator)
        n, size = decisions.mask.shape
        actions = np.asarray(returned)
        if actions.dtype.kind not in "iu" or actions.shape != (n,):
            raise InvalidAction(
                f"agent {self.name!r} must return {n} integers, one action id for each position, shape ({n},); "
                f"it returned {type(returned).__name__} of {actions.dtype}, shape {actions.shape}"
            )
        outside = np.flatnonzero((actions < 0) | (actions >= size))
        if len(outside):
            raise InvalidAction(
                f"agent {self.name!r} chose action {actions[outside[0]]} for position {outside[0]}: "
                f"actions of {decisions.game.name} are 0 ... {size - 1}"
            )
        illegal = np.flatnonzero(decisions.mask[np.arange(n), actions] == 0)
        if len(illegal):
            row = int(illegal[0])
            action, seat = int(actions[row]), int(decisions.seats[row])
            legal = decisions.game.legal_names(decisions.mask[row])
            name = decisions.game.actions[action].name
            raise IllegalAction.of(f"agent {self.name!r}: {decisions.game.name}", action, name, seat, legal, None)
        return actions.astype(np.int64)


NAMES = """\
random            every legal action with the same probability
careless          the same, but lets nearly every chance to accuse pass (Shukh at the table)
rule              the rule bot of the game
box               the trained network that comes with the game
pimc-64           Monte Carlo search over 64 worlds, play-outs at random
pimc-64-rule      the same with the rule bot's play-outs
pimc-64@FILE      with play-outs by a saved model (any agent's name may follow the @)
pimc-64-value@FILE  with a saved model's value network at the leaves
pimc-50ms         as many worlds as 50 milliseconds a decision allow (not reproducible), likewise the others
ismcts-1000       information set Monte Carlo tree search, 1000 iterations; also ismcts-1000-rule
cheating-pimc-64  sees all cards: an upper bound, no player; also cheating-pimc-64-rule
FILE              a saved model, playing its most probable action
sampled:FILE      the same, drawing from its policy
module:function   a Python function of the form of Agent.act"""
"""How agents are named, for people."""


def load_agent(name: str, game: Game, threads: int = 1) -> Agent:
    """An agent by name; see :data:`NAMES`.

    Args:
        name: such as ``"random"``, ``"rule"``, ``"pimc-64"``, ``"ismcts-1000"``, ``"box"``, the path of a model
            saved by a training script, or ``"module:function"``.
        game: the game that it is to play.
        threads: among which a search agent divides its work; they change no result.

    Raises:
        CardGymError: no such agent or file, or a model of another game; the message says what there is.
    """
    from cardgym.baselines import search

    if name == "random":
        return RandomAgent()
    if name == "careless":
        return CarelessAgent()
    if name == "rule":
        return RuleAgent(game)
    if name == "box":
        from cardgym.baselines.network import NetworkAgent  # needs torch

        return NetworkAgent.load(shipped_model(game.name), game, name="box")
    if Path(name).is_file():
        if Path(name).suffix == ".pt":
            from cardgym.baselines.network import NetworkAgent

            return NetworkAgent.load(name, game)
        from cardgym.baselines.sb3_agent import SB3Agent  # needs torch

        return SB3Agent.load(name, game)
    if search.is_search(name):
        return search.named(name, game, threads)
    if name.startswith("sampled:"):
        return _sampled(load_agent(name.removeprefix("sampled:"), game))
    if re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", name):
        return CallableAgent.named(name)
    names = ", ".join(line.split()[0] for line in NAMES.splitlines())
    raise CardGymError(f"unknown agent {name!r}: there is no such file, and the names of agents are {names}")


def load_agents(names: Sequence[str], game: Game, threads: int = 1) -> list[Agent]:
    """Agents by name, as :func:`load_agent` gives them; those that would share a name keep the one they came by."""
    agents = [load_agent(name, game, threads) for name in names]
    counts = Counter(a.name for a in agents)
    for name, agent in zip(names, agents, strict=True):
        if counts[agent.name] > 1:
            agent.name = name
    return agents


def _sampled(agent: Agent) -> Agent:
    if not hasattr(agent, "greedy"):
        raise CardGymError(f"agent {agent.name!r} has no policy to draw from: 'sampled:' goes before a saved model")
    agent.greedy, agent.name = False, f"{agent.name} (sampled)"
    return agent


def shipped_model(game: str) -> Path:
    """The file of the trained network that comes with cardgym for a game.

    Raises:
        CardGymError: there is none for this game.
    """
    folder = Path(__file__).parent / "models"
    path = folder / f"{game}.pt"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.pt")))
        raise CardGymError(f"{game}: no trained network comes with cardgym; there are some for: {known}")
    return path


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
