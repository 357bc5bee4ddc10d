"""Other libraries, measured as :mod:`contenders` measures ours: the fastest way found to step each of their games.

Their games differ from ours, and from each other, in the work of a decision, so the ratios are magnitudes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from contenders import Contender, Timing, installed

EXTRAS = {
    "pettingzoo": "pettingzoo", "stable_baselines3": "stable-baselines3", "pyspiel": "open-spiel", "rlcard": "rlcard",
    "pgx": "pgx",
}  # fmt: skip
"""Package by module, of all that is measured where it is installed."""


def missing() -> list[str]:
    """Notes on what cannot be measured, because it is not installed."""
    return [
        f"{package} is not installed and was left out (`pip install {package}`)."
        for module, package in EXTRAS.items()
        if not installed(module)
    ]


def peers() -> Iterator[Contender]:
    """A line for every game of every other library that is installed."""
    if installed("pyspiel"):
        for game in ("skat", "euchre", "hearts"):
            yield Contender("OpenSpiel", f"{game}, Python loop with observer and mask", _openspiel(game, True))
        yield Contender("OpenSpiel", "tarok, Python loop, no observation", _openspiel("tarok", False))
        for game in ("skat", "euchre", "hearts", "tarok"):
            yield Contender("OpenSpiel", f"{game}, play-outs in C++, no observation, no mask", _openspiel_playout(game))
    if installed("rlcard"):
        for game in ("gin-rummy", "doudizhu"):
            yield Contender("RLCard", game, _rlcard(game))
        if installed("pettingzoo"):  # whose classic games are built on RLCard
            yield Contender("PettingZoo classic", "leduc_holdem_v4", _pettingzoo_leduc())
    if installed("pgx"):
        for game in ("leduc_holdem", "sparrow_mahjong"):
            for count in (1024, 8192):
                yield Contender("Pgx on the CPU, all cores", f"{game}, {count:,} games", _pgx(game, count))


# --- OpenSpiel -------------------------------------------------------------------------------


def _openspiel_deal(game: Any, generator: random.Random) -> Any:
    state = game.new_initial_state()
    _openspiel_chance(state, generator)
    return state


def _openspiel_chance(state: Any, generator: random.Random) -> None:
    while state.is_chance_node():  # every outcome is equally likely in these games
        state.apply_action(generator.choice(state.legal_actions()))


def _openspiel(name: str, observed: bool) -> Callable[[int], Timing]:
    """The fastest loop found: the C++ observer writes into one array, the mask is set from the list of actions."""
    import pyspiel

    game, generator = pyspiel.load_game(name), random.Random(0)
    if observed:
        recall = game.get_type().provides_information_state_tensor  # which is the only tensor of some games
        observer = game.make_observer(pyspiel.IIGObservationType(perfect_recall=recall), {})
        observation = pyspiel._Observation(game, observer)
    mask = np.zeros(game.num_distinct_actions(), np.int8)
    state = _openspiel_deal(game, generator)

    def run(steps: int) -> Timing:
        nonlocal state
        stepping = choosing = 0.0
        for _ in range(steps):
            start = perf_counter()
            if observed:
                observation.set_from(state, state.current_player())
            legal = state.legal_actions()
            mask.fill(0)
            for action in legal:
                mask[action] = 1
            seen = perf_counter()
            action = generator.choice(legal)
            chosen = perf_counter()
            state.apply_action(action)
            _openspiel_chance(state, generator)
            if state.is_terminal():
                state = _openspiel_deal(game, generator)
            stepping += perf_counter() - chosen + seen - start
            choosing += chosen - seen
        return Timing(steps, stepping, choosing)

    return run


def _openspiel_playout(name: str) -> Callable[[int], Timing]:
    import pyspiel

    game, generator = pyspiel.load_game(name), random.Random(0)
    dealt = [_openspiel_deal(game, generator) for _ in range(100)]
    bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(game.num_players())]

    def run(steps: int) -> Timing:
        decisions, seconds = 0, 0.0
        while decisions < steps:
            for state in [d.clone() for d in dealt]:
                before = state.move_number()
                start = perf_counter()
                pyspiel.evaluate_bots(state, bots, decisions)
                seconds += perf_counter() - start
                decisions += state.move_number() - before
        return Timing(decisions, seconds, None)

    return run


# --- RLCard and PettingZoo -------------------------------------------------------------------


def _rlcard(name: str) -> Callable[[int], Timing]:
    import rlcard

    env, generator = rlcard.make(name, config={"seed": 0}), random.Random(0)
    state, _ = env.reset()

    def run(steps: int) -> Timing:
        nonlocal state
        stepping = choosing = 0.0
        for _ in range(steps):
            start = perf_counter()
            action = generator.choice(list(state["legal_actions"]))
            chosen = perf_counter()
            state, _ = env.step(action)
            if env.is_over():
                state, _ = env.reset()
            stepping += perf_counter() - chosen
            choosing += chosen - start
        return Timing(steps, stepping, choosing)

    return run


def _pettingzoo_leduc() -> Callable[[int], Timing]:
    from pettingzoo.classic import leduc_holdem_v4

    env: Any = leduc_holdem_v4.env()
    env.reset(seed=0)
    generator = random.Random(0)

    def run(steps: int) -> Timing:
        stepping = choosing = 0.0
        for _ in range(steps):
            start = perf_counter()
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                observation = env.last()[0]
            seen = perf_counter()
            action = generator.choice(np.flatnonzero(observation["action_mask"]).tolist())
            chosen = perf_counter()
            env.step(action)
            stepping += perf_counter() - chosen + seen - start
            choosing += chosen - seen
        return Timing(steps, stepping, choosing)

    return run


# --- Pgx -------------------------------------------------------------------------------------


def _pgx(name: str, games: int) -> Callable[[int], Timing]:
    """Whole stretches of steps in one compiled scan, which is how Pgx is fastest; it chooses inside."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    step = jax.vmap(auto_reset(env.step, env.init))
    key = jax.random.PRNGKey(0)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, games))

    @jax.jit
    def stretch(state: Any, key: Any) -> Any:
        def once(state: Any, key: Any) -> Any:
            choice, dealing = jax.random.split(key)
            logits = jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf)
            actions = jax.random.categorical(choice, logits, axis=-1)
            state = step(state, actions, jax.random.split(dealing, games))
            return state, state.observation.sum()  # so that observations are made

        state, seen = jax.lax.scan(once, state, jax.random.split(key, PGX_STRETCH))
        return state, seen.sum()

    def run(steps: int) -> Timing:
        nonlocal state, key
        stretches = -(-steps // PGX_STRETCH)
        start = perf_counter()
        for _ in range(stretches):
            key, used = jax.random.split(key)
            state, seen = stretch(state, used)
        seen.block_until_ready()
        return Timing(stretches * PGX_STRETCH * games, perf_counter() - start, None)

    return run


PGX_STRETCH = 16
"""Steps in one compiled scan."""
