"""Search agents: Monte Carlo over worlds that the seat to act cannot tell from the true one.

:class:`PIMC`, perfect-information Monte Carlo, deals the hidden cards anew a number of times (``resample`` of the
game), tries each legal action in each of these worlds, plays on to the end by a play-out policy for all seats, and
takes the action with the best mean reward.  It plays every world as if all cards lay open, so it values neither
hiding nor finding out (I. Frank and D. Basin, Search in games with incomplete information, Artificial Intelligence 100,
1998).

:class:`ISMCTS`, single-observer information set Monte Carlo tree search (P. Cowling, E. Powley and D. Whitehouse,
Information set Monte Carlo tree search, IEEE Transactions on Computational Intelligence and AI in Games 4, 2012),
grows one tree over all worlds: every iteration deals a world, descends by upper confidence bounds that count how
often an action was available, adds one node, plays out and backs the rewards up.  Other seats' actions are told
apart even where the searching seat would not see them, as in that paper.

With ``cheating=True`` every world is the true one: an upper bound to compare with, not a player.

A budget is a number of worlds or iterations, or a time.  With a number, results depend on the seed alone, whatever the
number of threads.  With a time they depend on how fast the machine happens to be.
"""

from __future__ import annotations

import functools
import itertools
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cardgym import rng
from cardgym.baselines.agents import Agent, Decisions, load_agent, rule_bot
from cardgym.batch import Batch, checked_count, pick
from cardgym.errors import InvalidOption
from cardgym.game import Game
from cardgym.kernel import helper, kernel

PLAYOUTS = ("random", "rule")
BLOCK = 16
"""Worlds that a thread takes at a time, with a random stream of their own."""
POSITIONS = 512
"""Most positions whose sums are kept block by block."""
ROWS = 32_768
"""About how many games an agent plays out side by side."""

ACTION, VISITS, AVAILABLE, CHILD, SIBLING = range(5)
"""Columns of the nodes of a tree; 0 is no node, since the root is nobody's child."""
DEPTH = 1024
"""Most decisions from the root to a leaf of a tree."""
POOL = 1 << 18
"""Nodes of a tree that grows against time; a full one grows no further."""
STRIDE = 32
"""Iterations between two looks at the clock."""


@runtime_checkable
class ValueAgent(Protocol):
    """An agent that also knows what a position is worth.

    Attributes:
        name: for tables.
        options: the rule options that its rewards come from, as keyword arguments.
    """

    name: str
    options: dict[str, Any]

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray: ...

    def values(self, decisions: Decisions) -> np.ndarray:
        """Expected sum of the rewards still to come for the seat to act, float64, shape (n,)."""
        ...


# --- Compiled --------------------------------------------------------------------------------


def _policy(game: Game, playouts: str) -> tuple[Callable[..., int], tuple[str, ...]]:
    """A compiled play-out to the end, which returns the number of its decisions, and the sources of it all."""
    legal, apply, observe = game.legal, game.apply, game.observe
    by_rule = playouts == "rule"
    choose: Any = pick
    sources = game.sources
    if by_rule:
        choose, file = rule_bot(game)
        sources = (*sources, file)

    @helper
    def play_on(s, limit, mask, seen, salt):  # type: ignore[no-untyped-def]
        decisions = 0
        for _ in range(limit):
            if s.over:
                break
            legal(s, mask)
            if by_rule:
                observe(s, s.player, seen)
                apply(s, choose(seen, mask))
            else:
                apply(s, choose(mask, rng.next_word(salt)))
            decisions += 1
        return decisions

    return play_on, sources


def _world(game: Game) -> Callable[..., None]:
    """Makes a state one of the worlds that a seat cannot tell apart, or keeps the cards of a cheat."""
    resample = game.resample

    @helper
    def world(s, seat, cheating, salt):  # type: ignore[no-untyped-def]
        if cheating:
            rng.scramble(s.rng, salt)
        else:
            resample(s, seat, salt)
        for i in range(len(s.rewards)):
            s.rewards[i] = 0.0

    return world


@functools.cache
def pimc_kernel(game: Game, playouts: str) -> Callable[..., int]:
    """The compiled PIMC of a game with one kind of play-outs."""
    legal, apply = game.legal, game.apply
    num_actions = len(game.actions)
    play_on, sources = _policy(game, playouts)
    world = _world(game)

    @kernel(f"{game.name}.pimc_{playouts}", sources)
    def pimc(start, stop, states, seats, block, worlds, cheating, low, high, limit, scratch, seen, sums):  # type: ignore[no-untyped-def]
        """Adds up in ``sums`` (blocks, n, actions) rewards over blocks of worlds; returns the decisions simulated.

        Unit ``u`` of ``start`` ... ``stop`` - 1 is block ``u // n`` of position ``u % n``; ``block`` is the number of
        the first block among all of a search, ``worlds`` how many there are from there on.  ``scratch`` holds two
        states, a world and a play-out in it; ``seen`` one observation.
        """
        salt = np.zeros(4, np.int64)
        mask = np.zeros(num_actions, np.int8)
        first = np.zeros(num_actions, np.int8)
        decisions = 0
        for unit in range(start, stop):
            k, n = unit // len(states), unit % len(states)
            seat = seats[n]
            legal(states[n], first)
            rng.seed(salt, (low + n) & 0xFFFFFFFF, (high + block + k) & 0xFFFFFFFF)
            for _ in range(min(BLOCK, worlds - k * BLOCK)):
                scratch[0] = states[n]
                world(scratch[0], seat, cheating, salt)
                for action in range(num_actions):
                    if first[action] == 0:
                        continue
                    scratch[1] = scratch[0]
                    s = scratch[1]
                    apply(s, action)
                    decisions += 1 + play_on(s, limit, mask, seen, salt)
                    sums[k, n, action] += s.rewards[seat]
        return decisions

    return pimc


@functools.cache
def ismcts_kernel(game: Game, playouts: str) -> Callable[..., int]:
    """The compiled ISMCTS of a game with one kind of play-outs."""
    legal, apply = game.legal, game.apply
    num_actions = len(game.actions)
    play_on, sources = _policy(game, playouts)
    world = _world(game)

    @helper
    def select(node, exploration, mask, nodes, totals):  # type: ignore[no-untyped-def]
        """The child of the highest bound among those available, and the number of actions without a child.

        Actions that have one are marked with 2 in ``mask``.
        """
        best = 0
        best_bound = -np.inf
        untried = 0
        for action in range(num_actions):
            untried += mask[action] != 0
        child = nodes[node, CHILD]
        while child != 0:
            if mask[nodes[child, ACTION]]:
                mask[nodes[child, ACTION]] = 2
                untried -= 1
                nodes[child, AVAILABLE] += 1
                visits = float(nodes[child, VISITS])
                doubt = np.sqrt(np.log(float(nodes[child, AVAILABLE])) / visits)
                bound = totals[child] / visits + exploration * doubt
                if bound > best_bound:
                    best = child
                    best_bound = bound
            child = nodes[child, SIBLING]
        return best, untried

    @helper
    def expand(node, untried, mask, nodes, size, salt):  # type: ignore[no-untyped-def]
        """A new child of ``node`` for one of the actions marked with 1."""
        left = rng.below(salt, untried)
        action = -1
        while left >= 0:
            action += 1
            left -= mask[action] == 1
        child = size[0]
        size[0] += 1
        nodes[child, ACTION] = action
        nodes[child, VISITS] = 0
        nodes[child, AVAILABLE] = 1
        nodes[child, CHILD] = 0
        nodes[child, SIBLING] = nodes[node, CHILD]
        nodes[node, CHILD] = child
        return child

    @helper
    def descend(s, exploration, mask, nodes, totals, size, path, salt):  # type: ignore[no-untyped-def]
        """Plays down the tree, at most one node beyond it; returns the number of decisions."""
        depth = 0
        node = 0
        grown = False
        while not (s.over or grown or depth == len(path)):
            legal(s, mask)
            best, untried = select(node, exploration, mask, nodes, totals)
            if untried > 0 and size[0] < len(nodes):
                best = expand(node, untried, mask, nodes, size, salt)
                totals[best] = 0.0
                grown = True
            if best == 0:
                break
            path[depth, 0] = best
            path[depth, 1] = s.player
            apply(s, nodes[best, ACTION])
            node = best
            depth += 1
        return depth

    @kernel(f"{game.name}.ismcts_{playouts}", sources)
    def ismcts(  # type: ignore[no-untyped-def]
        start, stop, states, seats, iterations, cheating, low, high, limit, exploration, fresh,
        scratch, seen, salt, nodes, totals, size, span, path, visits, values,
    ):  # fmt: skip
        """Grows a tree for every position; returns the decisions simulated.

        ``fresh`` begins a tree, else the one in ``nodes`` goes on.  Writes to ``visits`` and ``values`` (n, actions)
        how often each action was tried, and its mean reward.  ``span`` holds the lowest and highest reward seen.
        """
        mask = np.zeros(num_actions, np.int8)
        decisions = 0
        for n in range(start, stop):
            if fresh:
                rng.seed(salt, (low + n) & 0xFFFFFFFF, high)
                size[0] = 1
                nodes[0, CHILD] = 0
                span[0], span[1] = np.inf, -np.inf
            for _ in range(iterations):
                scratch[0] = states[n]
                s = scratch[0]
                world(s, seats[n], cheating, salt)
                width = span[1] - span[0]
                weight = exploration * (width if 0 < width < np.inf else 1.0)
                depth = descend(s, weight, mask, nodes, totals, size, path, salt)
                decisions += depth + play_on(s, limit, mask, seen, salt)
                for i in range(s.seats):
                    span[0] = min(span[0], s.rewards[i])
                    span[1] = max(span[1], s.rewards[i])
                for i in range(depth):
                    nodes[path[i, 0], VISITS] += 1
                    totals[path[i, 0]] += s.rewards[path[i, 1]]
            child = nodes[0, CHILD]
            while child != 0:
                action = nodes[child, ACTION]
                visits[n, action] = nodes[child, VISITS]
                values[n, action] = totals[child] / nodes[child, VISITS]
                child = nodes[child, SIBLING]
        return decisions

    return ismcts


# --- Agents ----------------------------------------------------------------------------------


class _Search:
    """What the searches share: the budget, the threads, the choice.

    Attributes:
        name: for tables, as :func:`named` reads it.
        simulated: decisions simulated so far.
    """

    def __init__(
        self,
        game: Game,
        kind: str,
        count: int | None,
        milliseconds: int | None,
        cheating: bool,
        threads: int,
        limit: int,
    ) -> None:
        if (count is None) == (milliseconds is None):
            raise InvalidOption(f"{kind}: the budget is a number or a time in milliseconds, one of the two")
        what = {"pimc": "worlds", "ismcts": "iterations"}[kind]
        self.count = None if count is None else checked_count(what, count)
        self.milliseconds = None if milliseconds is None else checked_count("milliseconds", milliseconds)
        self.threads, self.limit = checked_count("threads", threads), checked_count("limit", limit)
        self.game, self.cheating, self.simulated = game, bool(cheating), 0
        self.name = f"{'cheating-' if cheating else ''}{kind}-{f'{milliseconds}ms' if count is None else count}"
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def _states(self, decisions: Decisions, seed: int) -> np.ndarray:
        """The positions to start from: not even the compiled search gets the true states unless it may cheat."""
        return decisions.true_states() if self.cheating else decisions.determinized(1, seed)[:, 0].copy()

    def _spread(self, units: int, job: Callable[[int, int], int]) -> None:
        """Runs ``job`` over ranges of units, divided among the threads."""
        if self._pool is None or units < 2:
            self.simulated += job(0, units)
            return
        parts = min(units, 4 * self.threads)
        cuts = [units * i // parts for i in range(parts + 1)]
        futures = [self._pool.submit(job, a, b) for a, b in itertools.pairwise(cuts)]
        self.simulated += sum(f.result() for f in futures)


class PIMC(_Search):
    """Perfect-information Monte Carlo.

    Example:
        >>> import cardgym
        >>> from cardgym.baselines.agents import RandomAgent
        >>> from cardgym.baselines.evaluate import evaluate
        >>> from cardgym.baselines.search import PIMC
        >>> game = cardgym.load_game("chouine")
        >>> result = evaluate(game, game.options(), PIMC(game, worlds=8), RandomAgent(), deals=20)
    """

    def __init__(
        self,
        game: Game,
        worlds: int | None = 64,
        playouts: str | Agent = "random",
        at_leaves: str = "playouts",
        cheating: bool = False,
        milliseconds: int | None = None,
        threads: int = 1,
        limit: int = 10_000,
    ) -> None:
        """Prepares a search.

        Args:
            game: the game; play-outs go to the end of the episode.
            worlds: per decision; in each of them every legal action is played out once.
            playouts: ``"random"``, ``"rule"`` (the game's rule bot in every seat), or an agent for every seat.
            at_leaves: ``"playouts"``, or ``"value"``: the agent given as ``playouts``, a :class:`ValueAgent`, plays
                until the seat is to act again and values that position.
            cheating: look at the true cards; chance still to come stays unknown.
            milliseconds: per decision, instead of a number of worlds; not reproducible.
            threads: the worlds are divided among them; an agent given as ``playouts`` runs in one.
            limit: most decisions in a play-out; what is cut short counts as it stands.

        Raises:
            InvalidOption: an unsuitable argument.
            CardGymError: no rule bot for this game.
        """
        super().__init__(game, "pimc", worlds, milliseconds, cheating, threads, limit)
        self.agent = playouts if not isinstance(playouts, str) else None
        if at_leaves not in ("playouts", "value"):
            raise InvalidOption(f"at_leaves={at_leaves!r} is not one of 'playouts', 'value'")
        self.by_value = at_leaves == "value"
        if isinstance(playouts, str):
            self._search = pimc_kernel(game, _checked_playouts(playouts))
            self.name += "-rule" if playouts == "rule" else ""
        else:
            self.name += f"{'-value' if self.by_value else ''}@{playouts.name}"
        if self.by_value and not isinstance(self.agent, ValueAgent):
            given = repr(playouts) if isinstance(playouts, str) else playouts.name
            raise InvalidOption(f"at_leaves='value' needs an agent with values (a saved model), not {given}")
        if self.agent is not None and cheating:
            raise InvalidOption("cheating=True goes with playouts='random' or 'rule'")

    def values(self, decisions: Decisions, seed: int) -> np.ndarray:
        """Mean reward of the seat to act after each action.

        Args:
            decisions: n positions.
            seed: of the worlds and play-outs, 0 ... 2**64 - 1.

        Returns:
            float64, shape (n, actions); minus infinity where illegal.
        """
        add = self._sums if self.agent is None else self._sums_by_agent
        if self.count is not None:
            sums, worlds = add(decisions, seed, 0, self.count), self.count
        else:
            assert self.milliseconds is not None
            end = time.perf_counter() + len(decisions) * self.milliseconds / 1000
            sums, worlds = np.zeros(decisions.mask.shape), 0
            while worlds == 0 or time.perf_counter() < end:
                sums += add(decisions, seed, worlds // BLOCK, BLOCK)
                worlds += BLOCK
        return np.where(decisions.mask != 0, sums / worlds, -np.inf)

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        values = self.values(decisions, int(generator.integers(1 << 63)))
        return _highest(values, generator)

    def _sums(self, decisions: Decisions, seed: int, block: int, worlds: int) -> np.ndarray:
        """Rewards of the seat to act, summed over worlds from block number ``block`` on, shape (n, actions)."""
        states, blocks = self._states(decisions, seed), -(-worlds // BLOCK)
        sums = np.zeros(decisions.mask.shape)
        for a in range(0, len(states), POSITIONS):
            part = slice(a, a + POSITIONS)
            low, high = rng.split_seed((seed + a) % (1 << 64))
            each = np.zeros((blocks, *sums[part].shape))

            def job(start: int, stop: int, part: slice = part, words: Any = (low, high), each: Any = each) -> int:
                return self._search(
                    start, stop, states[part], decisions.seats[part], block, worlds, self.cheating, *words, self.limit,
                    np.zeros(2, self.game.dtype), np.zeros_like(decisions.observation[0]), each,
                )  # fmt: skip

            self._spread(blocks * len(states[part]), job)
            # Added up in the order of the blocks, whichever thread was first: floats depend on it.
            sums[part] = each.sum(axis=0)
        return sums

    def _sums_by_agent(self, decisions: Decisions, seed: int, block: int, worlds: int) -> np.ndarray:
        """The same with an agent, which plays all worlds of some positions side by side."""
        states = decisions.determinized(worlds, (seed + (block << 32)) % (1 << 64))
        generator = np.random.default_rng([seed, block])
        sums = np.zeros(decisions.mask.shape)
        positions = max(1, ROWS // (worlds * int(decisions.mask.sum(axis=1).max())))
        for a in range(0, len(states), positions):
            part = slice(a, a + positions)
            n, actions = np.nonzero(decisions.mask[part])
            starts = states[part][n].ravel()
            seats, chosen = (np.repeat(values, worlds) for values in (decisions.seats[part][n], actions))
            found = self._play_out(decisions, starts, seats, chosen, generator)
            sums[part][n, actions] = found.reshape(len(n), worlds).sum(axis=1)
        return sums

    def _play_out(
        self, decisions: Decisions, states: np.ndarray, seats: np.ndarray, actions: np.ndarray, generator: Any
    ) -> np.ndarray:
        """Rewards of ``seats`` after ``actions`` in ``states``, play going on by the agent, shape (n,)."""
        assert self.agent is not None
        batch = Batch(self.game, decisions.options, len(states))
        batch.states[:] = states
        if isinstance(self.agent, ValueAgent) and self.by_value:
            # The network's values are in the rewards that it was trained on.
            for name, number in self.game.options.of(**self.agent.options).encoded().items():
                if name in ("reward", "reward_scale"):
                    batch.states[name] = number
        rows = np.arange(len(states))
        batch.refresh(rows)
        found = np.zeros(len(states))
        for _ in range(self.limit):
            batch.step(actions, rows)
            self.simulated += len(rows)
            found[rows] += batch.rewards[rows, seats[rows]]
            rows = rows[~batch.over[rows]]
            if self.by_value:
                back = rows[batch.players[rows] == seats[rows]]
                if len(back):
                    found[back] += self.agent.values(Decisions(batch, back))  # type: ignore[attr-defined]
                rows = rows[batch.players[rows] != seats[rows]]
            if len(rows) == 0:
                break
            actions = self.agent.act(Decisions(batch, rows), generator)
        return found


class ISMCTS(_Search):
    """Single-observer information set Monte Carlo tree search.

    Example:
        >>> import cardgym
        >>> from cardgym.baselines.agents import RandomAgent
        >>> from cardgym.baselines.evaluate import evaluate
        >>> from cardgym.baselines.search import ISMCTS
        >>> game = cardgym.load_game("chouine")
        >>> result = evaluate(game, game.options(), ISMCTS(game, iterations=50), RandomAgent(), deals=20)
    """

    def __init__(
        self,
        game: Game,
        iterations: int | None = 1000,
        playouts: str = "random",
        cheating: bool = False,
        milliseconds: int | None = None,
        threads: int = 1,
        limit: int = 10_000,
        exploration: float = 0.7,
    ) -> None:
        """Prepares a search.

        Args:
            game: the game; play-outs go to the end of the episode.
            iterations: per decision; each is one play-out.
            playouts: ``"random"`` or ``"rule"`` (the game's rule bot in every seat).
            cheating: look at the true cards; chance still to come stays unknown.
            milliseconds: per decision, instead of a number of iterations; not reproducible.
            threads: positions are divided among them; a single one is searched by one thread.
            limit: most decisions in a play-out; what is cut short counts as it stands.
            exploration: weight of the confidence bounds, in parts of the range of rewards seen.

        Raises:
            InvalidOption: an unsuitable argument.
            CardGymError: no rule bot for this game.
        """
        super().__init__(game, "ismcts", iterations, milliseconds, cheating, threads, limit)
        if isinstance(exploration, bool) or not isinstance(exploration, (int, float)) or not 0 < exploration < np.inf:
            raise InvalidOption(f"exploration={exploration!r} is not a number above 0")
        self.exploration = float(exploration)
        self._search = ismcts_kernel(game, _checked_playouts(playouts))
        self.name += "-rule" if playouts == "rule" else ""

    def search(self, decisions: Decisions, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Searches every position.

        Args:
            decisions: n positions.
            seed: of the worlds and play-outs, 0 ... 2**64 - 1.

        Returns:
            How often each action was tried, and its mean reward for the seat to act, both float64, shape
            (n, actions): 0 and minus infinity where illegal or never tried.
        """
        states, words = self._states(decisions, seed), rng.split_seed(seed)
        visits = np.zeros(decisions.mask.shape)
        values = np.full(decisions.mask.shape, -np.inf)

        def job(start: int, stop: int) -> int:
            room = POOL if self.count is None else self.count + 1
            work = (
                np.zeros(1, self.game.dtype), np.zeros_like(decisions.observation[0]), np.zeros(4, np.int64),
                np.zeros((room, 5), np.int32), np.zeros(room), np.zeros(1, np.int64), np.zeros(2),
                np.zeros((DEPTH, 2), np.int32), visits, values,
            )  # fmt: skip

            def grow(a: int, b: int, iterations: int, fresh: bool) -> int:
                return self._search(
                    a, b, states, decisions.seats, iterations, self.cheating, *words, self.limit, self.exploration,
                    fresh, *work,
                )  # fmt: skip

            if self.count is not None:
                return grow(start, stop, self.count, True)
            assert self.milliseconds is not None
            simulated = 0
            for n in range(start, stop):
                end, fresh = time.perf_counter() + self.milliseconds / 1000, True
                while fresh or time.perf_counter() < end:
                    simulated += grow(n, n + 1, STRIDE, fresh)
                    fresh = False
            return simulated

        self._spread(len(states), job)
        return visits, values

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        visits, _ = self.search(decisions, int(generator.integers(1 << 63)))
        return _highest(np.where(decisions.mask != 0, visits, -1.0), generator)


def _highest(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Place of the highest value in each row; equal ones are told apart at random, lest the order of ids decide."""
    best = values >= values.max(axis=1, keepdims=True) - 1e-9
    return np.where(best, generator.random(values.shape), -1.0).argmax(axis=1)


def _checked_playouts(playouts: str) -> str:
    if playouts not in PLAYOUTS:
        raise InvalidOption(f"playouts={playouts!r} is not one of {', '.join(map(repr, PLAYOUTS))}")
    return playouts


# --- Names -----------------------------------------------------------------------------------

BUDGET = r"([1-9][0-9]*)(ms)?"
COMPILED = re.compile(rf"(cheating-)?(pimc|ismcts)-{BUDGET}(-rule)?")
BY_AGENT = re.compile(rf"pimc-{BUDGET}(-value)?@(.+)", re.DOTALL)
"""Names of search agents, as :func:`named` reads them."""


def is_search(name: str) -> bool:
    """Is the name meant for a search agent?"""
    return name.removeprefix("cheating-").startswith(("pimc-", "ismcts-"))


def named(name: str, game: Game, threads: int = 1) -> PIMC | ISMCTS:
    """The search agent of a name such as ``"pimc-64"``, ``"ismcts-50ms-rule"`` or ``"pimc-64-value@model.zip"``.

    Raises:
        InvalidOption: it is no such name.
        CardGymError: there is no agent of the name after ``@``.
    """
    if found := COMPILED.fullmatch(name):
        cheating, kind, number, time_, rule = found.groups()
        make = PIMC if kind == "pimc" else ISMCTS
        return make(
            game,
            None if time_ else int(number),
            "rule" if rule else "random",
            cheating=bool(cheating),
            milliseconds=int(number) if time_ else None,
            threads=threads,
        )
    if found := BY_AGENT.fullmatch(name):
        number, time_, value, inner = found.groups()
        return PIMC(
            game,
            None if time_ else int(number),
            load_agent(inner, game),
            at_leaves="value" if value else "playouts",
            milliseconds=int(number) if time_ else None,
            threads=threads,
        )
    raise InvalidOption(
        f"{name!r} is no search agent; they are named like 'pimc-64', 'pimc-64-rule', 'pimc-50ms', "
        "'pimc-64@FILE', 'pimc-64-value@FILE', 'ismcts-1000', 'ismcts-1000-rule', 'cheating-pimc-64'"
    )
