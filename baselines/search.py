"""Search agents: Monte Carlo over worlds that the seat to act cannot tell from the true one.

For every position :class:`MonteCarlo` deals the hidden cards anew a number of times (``resample`` of the game),
tries each legal action in each of these worlds, plays on to the end by a play-out policy for all seats, and takes the
action with the best mean reward.  This is perfect-information Monte Carlo with play-outs.  It plays every world as
if all cards lay open, so it values neither hiding nor finding out (I. Frank and D. Basin, Search in games with
incomplete information, Artificial Intelligence 100, 1998).

With ``cheating=True`` every world is the true one: an upper bound to compare with, not a player.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from cardgym import rng
from cardgym.baselines.agents import Decisions
from cardgym.batch import pick
from cardgym.errors import CardGymError, InvalidOption
from cardgym.game import Game
from cardgym.kernel import kernel

PLAYOUTS = ("random", "rule")


@functools.cache
def search_kernel(game: Game, playouts: str) -> Callable[..., None]:
    """The compiled search of a game with one kind of play-outs."""
    legal, apply, observe, resample = game.legal, game.apply, game.observe, game.resample
    num_actions = len(game.actions)
    by_rule = playouts == "rule"
    sources: tuple[str, ...] = game.sources
    choose: Any = pick
    if by_rule:
        try:
            module = importlib.import_module(f"cardgym.baselines.rule_bots.{game.name}")
        except ModuleNotFoundError:
            raise CardGymError(f"{game.name}: there is no rule bot for play-outs") from None
        choose, sources = module.choose, (*sources, str(module.__file__))

    @kernel(f"{game.name}.search_{playouts}", sources)
    def search(start, stop, states, seats, worlds, cheating, low, high, limit, scratch, seen, values):  # type: ignore[no-untyped-def]
        """Adds up in ``values`` (n, actions) the rewards of ``seats`` over all worlds; untouched where illegal.

        ``scratch`` holds two states, a world and a play-out in it; ``seen`` one observation.
        """
        salt = np.zeros(4, np.int64)
        mask = np.zeros(num_actions, np.int8)
        first = np.zeros(num_actions, np.int8)
        for n in range(start, stop):
            seat = seats[n]
            legal(states[n], first)
            rng.seed(salt, (low + n) & 0xFFFFFFFF, high)
            for _ in range(worlds):
                scratch[0] = states[n]
                world = scratch[0]
                if cheating:
                    rng.scramble(world.rng, salt)
                else:
                    resample(world, seat, salt)
                for action in range(num_actions):
                    if first[action] == 0:
                        continue
                    scratch[1] = scratch[0]
                    s = scratch[1]
                    for i in range(len(s.rewards)):
                        s.rewards[i] = 0.0
                    apply(s, action)
                    for _ in range(limit):
                        if s.over:
                            break
                        legal(s, mask)
                        if by_rule:
                            observe(s, s.player, seen)
                            apply(s, choose(seen, mask))
                        else:
                            apply(s, choose(mask, rng.next_word(salt)))
                    values[n, action] += s.rewards[seat]

    return search


NAME = re.compile(r"(cheating-)?mc-([1-9][0-9]*)(-rule)?")
"""Names of search agents, as :func:`named` reads them."""


def is_search(name: str) -> bool:
    """Does the name ask for a search agent?"""
    return "mc-" in name


def named(name: str, game: Game, threads: int = 1) -> MonteCarlo:
    """The search agent of a name such as ``"mc-64"``, ``"mc-256-rule"`` or ``"cheating-mc-64"``.

    Raises:
        InvalidOption: it is no such name.
    """
    found = NAME.fullmatch(name)
    if found is None:
        raise InvalidOption(f"{name!r} is no search agent; they are named like 'mc-64', 'mc-64-rule', 'cheating-mc-64'")
    cheating, worlds, rule = found.groups()
    return MonteCarlo(game, int(worlds), "rule" if rule else "random", bool(cheating), threads)


class MonteCarlo:
    """Perfect-information Monte Carlo with play-outs.

    Example:
        >>> import cardgym
        >>> from cardgym.baselines.agents import RandomAgent
        >>> from cardgym.baselines.evaluate import evaluate
        >>> from cardgym.baselines.search import MonteCarlo
        >>> game = cardgym.load_game("chouine")
        >>> result = evaluate(game, game.options(), MonteCarlo(game, worlds=8), RandomAgent(), deals=20)

    Attributes:
        name: for tables: ``"mc-64"``, ``"mc-64-rule"``, ``"cheating-mc-64"``.
        worlds: worlds per decision; in each of them every legal action is played out once.
    """

    def __init__(
        self,
        game: Game,
        worlds: int = 64,
        playouts: str = "random",
        cheating: bool = False,
        threads: int = 1,
        limit: int = 10_000,
    ) -> None:
        """Prepares a search.

        Args:
            game: the game; episodes of one deal (play-outs go to the end of the episode).
            worlds: per decision.
            playouts: ``"random"`` or ``"rule"`` (the game's rule bot in every seat).
            cheating: look at the true cards; chance still to come stays unknown.
            threads: positions are divided among them.
            limit: most decisions in a play-out; one that is cut short counts as zero.

        Raises:
            InvalidOption: an unsuitable argument.
            CardGymError: no rule bot for this game.
        """
        if playouts not in PLAYOUTS:
            raise InvalidOption(f"playouts={playouts!r} is not one of {', '.join(map(repr, PLAYOUTS))}")
        for what, value in (("worlds", worlds), ("threads", threads), ("limit", limit)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InvalidOption(f"{what}={value!r} is not a whole number of at least 1")
        self.game, self.worlds, self.cheating, self.threads, self.limit = game, worlds, cheating, threads, limit
        self._search = search_kernel(game, playouts)
        self.name = f"{'cheating-' if cheating else ''}mc-{worlds}{'-rule' if playouts == 'rule' else ''}"
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def values(self, decisions: Decisions, seed: int) -> np.ndarray:
        """Mean reward of the seat to act after each action.

        Args:
            decisions: n positions.
            seed: of the worlds and play-outs, 0 ... 2**64 - 1.

        Returns:
            float64, shape (n, actions); minus infinity where illegal.
        """
        states = decisions.true_states() if self.cheating else decisions.determinized(1, seed)[:, 0]
        n = len(states)
        values = np.zeros((n, len(self.game.actions)))
        cuts = [n * i // self.threads for i in range(self.threads + 1)]
        jobs = [
            (a, b, states, decisions.seats, self.worlds, self.cheating, *rng.split_seed(seed), self.limit,
             np.zeros(2, self.game.dtype), np.zeros_like(decisions.observation[0]), values)
            for a, b in itertools.pairwise(cuts) if b > a
        ]  # fmt: skip
        if self._pool is None:
            for job in jobs:
                self._search(*job)
        else:
            for future in [self._pool.submit(self._search, *job) for job in jobs]:
                future.result()
        return np.where(decisions.mask != 0, values / self.worlds, -np.inf)

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        values = self.values(decisions, int(generator.integers(1 << 63)))
        # Equal means are told apart at random, lest the order of action ids decide.
        return (values + 1e-9 * generator.random(values.shape)).argmax(axis=1)
