"""Every game against its oracle: same cards, same decisions, compared after each one (see ``tests/oracle``)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from oracle import Oracle, suit
from oracle.avinas import Avinas
from oracle.chouine import COMBINATIONS, Chouine
from oracle.shukh import QUEEN, Shukh

import cardgym
from cardgym.batch import Batch
from cardgym.game import Game
from cardgym.kernel import records

Player = Callable[[random.Random, Any, list[str]], str]
"""Chooses one of the legal actions, given by name in order; it may look at all cards of the oracle."""

GAMES = 300
LONG_GAMES = 20_000
TOGETHER = 500


@dataclass(frozen=True)
class Book:
    """How a game is checked: its oracle, the chance in its states, and players that reach its rare corners."""

    oracle: Callable[..., Oracle]
    ignored: Sequence[str]
    deal: Callable[[Any, Any, Sequence[str]], None]
    players: Sequence[Player]


# --- Players ---------------------------------------------------------------------------------


def uniform(draw: random.Random, oracle: Any, names: list[str]) -> str:
    return draw.choice(names)


def talker(draw: random.Random, oracle: Any, names: list[str]) -> str:
    """Speaks whenever it can."""
    return draw.choice([n for n in names if not is_card(n)] or names)


def quiet(draw: random.Random, oracle: Any, names: list[str]) -> str:
    """Speaks seldom."""
    if draw.random() < 0.1:
        return draw.choice(names)
    return draw.choice([n for n in names if is_card(n) or n in ("pass", "decline", "take")] or names)


def is_card(name: str) -> bool:
    return name[0] in "23456789JQKAT1" and " " not in name


def hoarder(draw: random.Random, oracle: Chouine, names: list[str]) -> str:
    """Keeps the five honours of one suit together, for a chouine."""
    chouines = [n for n in names if n.startswith("chouine")]
    if chouines:
        return draw.choice(chouines)
    to_come = oracle.hands[oracle.player] + oracle.stock
    honours = {s: [r + s for r in COMBINATIONS["chouine"] if r + s in to_come] for s in "CDHS"}
    kept = max(honours.values(), key=lambda cards: (len(cards), sum(c in oracle.hands[oracle.player] for c in cards)))
    cards = [n for n in names if is_card(n)]
    spare = [c for c in cards if c not in kept]
    return draw.choice(spare or cards or names)


def low(draw: random.Random, oracle: Shukh, names: list[str]) -> str:
    """Plays the lowest card, or tucks: parties come to an end."""
    cards = [n for n in names if is_card(n)]
    words = [n for n in names if n not in cards and n != "take"]
    if words or not cards or draw.random() < 0.1:
        return draw.choice(words or names)
    return min(cards, key=lambda c: (suit(c) == "D", oracle.ranks.index(c[:-1])))


def keeper(draw: random.Random, oracle: Shukh, names: list[str]) -> str:
    """As ``low``, but keeps the queen and the lowest of hearts to the end."""
    return low(draw, oracle, [n for n in names if n not in (QUEEN, oracle.lowest)] or names)


# --- What chance has done --------------------------------------------------------------------


def deal_chouine(oracle: Chouine, state: Any, names: Sequence[str]) -> None:
    assert 4 <= state.cut <= 28  # CH-3
    oracle.deal([names[c] for c in state.deck], [names[c] for c in state.drawn])
    assert state.dealer == oracle.dealer


def deal_avinas(oracle: Avinas, state: Any, names: Sequence[str]) -> None:
    oracle.deal([names[c] for c in state.deck], int(state.dealer))


def deal_shukh(oracle: Shukh, state: Any, names: Sequence[str]) -> None:
    oracle.deal([names[c] for c in state.order if c >= 0], int(state.shuffler))


BOOKS = {
    "chouine": Book(Chouine, ("memory",), deal_chouine, (uniform, talker, quiet, hoarder, hoarder)),
    "avinas": Book(Avinas, ("sign",), deal_avinas, (uniform, talker, quiet)),
    "shukh": Book(Shukh, ("memory",), deal_shukh, (uniform, quiet, low, low, keeper)),
}

# --- The comparison --------------------------------------------------------------------------


class Duel:
    """One game in the engine and in the oracle."""

    def __init__(self, game: Game, options: dict[str, Any], seed: int) -> None:
        self.game, self.options, self.seed = game, options, seed
        self.book = BOOKS[game.name]
        self.oracle = self.book.oracle(**{k: v for k, v in options.items() if k not in self.book.ignored})
        self.draw = random.Random(seed)
        self.players = [self.draw.choice(self.book.players) for _ in range(8)]
        self.moves: list[str] = []

    def same(self, what: str, engine: Any, oracle: Any) -> None:
        if engine != oracle:
            pytest.fail(
                f"{self.game.name} {self.options} seed {self.seed}: {what}: engine {engine}, oracle {oracle}, "
                f"after {self.moves}"
            )

    def decide(self, state: Any, mask: np.ndarray) -> int:
        """Compares who is to act and what is legal, and chooses."""
        if self.oracle.waiting:
            self.book.deal(self.oracle, state, self.game.pack.names)
        self.same("seat to act", int(state.player), self.oracle.player)
        legal = self.game.legal_names(mask)
        expected = self.oracle.legal()
        if set(legal) != expected:
            self.same("legal actions", sorted(set(legal) - expected), sorted(expected - set(legal)))
        name = self.players[self.oracle.player](self.draw, self.oracle, legal)
        self.moves.append(f"{self.oracle.player}:{name}")
        self.oracle.play(name)
        return self.game.action_ids[name]

    def compare(self, state: Any, rewards: np.ndarray) -> bool:
        """Compares the results of a decision; whether the game is over."""
        over = bool(state.over)
        self.same("over", over, self.oracle.over)
        seats = int(state.seats)
        self.same("rewards", [round(float(r), 9) for r in rewards[:seats]], [round(r, 9) for r in self.oracle.rewards])
        if over:
            self.same("scores", state.scores[:seats].tolist(), self.oracle.scores)
            self.same("stalled", bool(state.stalled), self.oracle.stalled)
            self.same("info", self.game.info(state), self.oracle.info())
        return over


def compare(name: str, games: int, first_seed: int = 0, **options: Any) -> None:
    """Plays games in the engine and the oracle side by side."""
    for start in range(first_seed, first_seed + games, TOGETHER):
        game = cardgym.load_game(name)
        chosen = game.options.of(**options)
        all_options = {f: getattr(chosen, f) for f in vars(chosen)}
        seeds = range(start, min(start + TOGETHER, first_seed + games))
        duels = [Duel(game, all_options, seed) for seed in seeds]
        batch = Batch(game, chosen, len(duels))
        batch.reset(np.array(seeds))
        states = records(batch.states)
        rows = list(range(len(duels)))
        while rows:
            actions = [duels[row].decide(states[row], batch.mask[row]) for row in rows]
            batch.step(np.array(actions), np.array(rows))
            rows = [row for row in rows if not duels[row].compare(states[row], batch.rewards[row])]


# --- Option sets -----------------------------------------------------------------------------

OPTION_SETS: dict[str, list[dict[str, Any]]] = {
    "chouine": [
        {},
        {"reward": "margin", "quinte": 100, "reward_scale": 0.5},
        {"memory": "table"},
        {"episode": "match"},
        {"episode": "match", "wins_per_manche": 5, "manches": 3},
    ],
    "avinas": [
        {},
        {"stop": "any", "sign": "public", "reward_scale": 0.25},
        {"overbid": "loses_match"},
        {"episode": "match"},
        {"episode": "match", "stop": "any", "match_marks": 6, "max_deals": 30},
        {"episode": "match", "overbid": "loses_match"},
    ],
    "shukh": [
        {},
        {"players": 2},
        {"players": 3, "reward": "loser", "reward_scale": 2.0},
        {"players": 6, "tuck": "general", "memory": "table"},
        {"players": 8, "deck": 52},
        {"players": 5, "deck": 52, "tuck": "general", "max_idle_turns": None},
        {"players": 3, "tuck": "general", "max_idle_turns": 50},
        {"players": 4, "reward": "loser", "max_idle_turns": 60},
        {"episode": "match", "players": 3},
        {"episode": "match", "players": 4, "tuck": "general", "max_idle_turns": 100, "parties_per_match": 3},
    ],
}


def option_sets() -> list[Any]:
    return [
        pytest.param(name, options, id="-".join([name, *map(str, itertools.chain(*options.items()))]))
        for name, sets in OPTION_SETS.items()
        for options in sets
    ]


@pytest.mark.parametrize(("name", "options"), option_sets())
def test_engine_and_oracle_agree(name: str, options: dict[str, Any]) -> None:
    games = GAMES // len(OPTION_SETS[name]) + 1
    compare(name, games if options.get("episode") != "match" else games // 5, **options)


@pytest.mark.long
@pytest.mark.parametrize(("name", "options"), option_sets())
def test_engine_and_oracle_agree_at_length(name: str, options: dict[str, Any]) -> None:
    compare(name, LONG_GAMES, first_seed=1_000_000, **options)
