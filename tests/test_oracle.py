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
from oracle.avinas import PLAIN, Avinas, trumps
from oracle.chouine import BRISQUES, COMBINATIONS, Chouine
from oracle.shukh import QUEEN, Shukh
from oracle.tarot import EXCUSE, Tarot, height, is_trump, petit_sec

import cardgym
from cardgym.batch import Batch
from cardgym.cards import PACK_32, PACK_52, PACK_78
from cardgym.game import Game
from cardgym.kernel import records

Player = Callable[[random.Random, Any, list[str]], str]
"""Chooses one of the legal actions, given by name in order; it may look at all cards of the oracle."""

CARDS = {*PACK_32.names, *PACK_52.names, *PACK_78.names}
GAMES = 300
RARE_GAMES = 100
LONG_RARE_GAMES = 5_000
LONG_GAMES = 20_000
LONG_SEED = 500_000
MATCH_DEALS = 10
TOGETHER = 500
MOST_SEATS = 5


@dataclass(frozen=True)
class Book:
    """How a game is checked: its oracle, the chance in its states, and players that reach its rare corners.

    Attributes:
        oracle: makes one of given options.
        ignored: options that change what is seen, not what happens.
        deal: hands the oracle what chance has done in a state.
        players: are drawn for the seats.
        passing: info that is about the deal under way, so that it is gone when the next one is dealt.
        rigged: puts rare cards into a state that has just been dealt.
    """

    oracle: Callable[..., Oracle]
    ignored: Sequence[str]
    deal: Callable[[Any, Any, Sequence[str]], None]
    players: Sequence[Player]
    passing: Sequence[str] = ()
    rigged: Callable[[random.Random, Any, Sequence[str]], None] | None = None


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
    return name in CARDS


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


def one_sided(draw: random.Random, oracle: Avinas, names: list[str]) -> str:
    """The declarer's pair, or after every other dealer the defenders, take all that they can."""
    cards = [n for n in names if is_card(n)]
    if not cards or not oracle.trump:
        return draw.choice(names)
    order = trumps(oracle.trump)
    strong = (oracle.player - oracle.declarer) % 2 == oracle.dealer % 2
    return (max if strong else min)(cards, key=lambda c: order.index(c) + 7 if c in order else PLAIN.index(c[:-1]))


def slammer(draw: random.Random, oracle: Tarot, names: list[str]) -> str:
    """The first player takes, and his side, or after every other dealer the defence, takes all that it can."""
    if oracle.phase == "auction" and oracle.player != (oracle.dealer + 1) % oracle.n:
        return "pass"
    cards = [n for n in names if is_card(n)]
    words = [n for n in names if n not in cards and n != "pass"]
    if oracle.phase == "call" or not cards or (words and draw.random() < 0.7):
        return draw.choice(words or cards)
    side = {oracle.taker} | {seat for seat, hand in enumerate(oracle.hands) if oracle.called in hand}
    strong = (oracle.player in side) == (oracle.dealer % 2 == 0) and oracle.phase == "play"
    if strong or draw.random() < 0.5:
        cards = [c for c in cards if c != EXCUSE] or cards
    return (max if strong else min)(cards, key=lambda c: -1 if c == EXCUSE else height(c) + 20 * is_trump(c))


# --- What chance has done --------------------------------------------------------------------


def deal_chouine(oracle: Chouine, state: Any, names: Sequence[str]) -> None:
    assert 4 <= state.cut <= 28  # CH-3
    oracle.deal([names[c] for c in state.deck], [names[c] for c in state.drawn])
    assert state.dealer == oracle.dealer


def deal_avinas(oracle: Avinas, state: Any, names: Sequence[str]) -> None:
    oracle.deal([names[c] for c in state.deck], int(state.dealer))


def deal_shukh(oracle: Shukh, state: Any, names: Sequence[str]) -> None:
    oracle.deal([names[c] for c in state.order if c >= 0], int(state.shuffler))


def deal_tarot(oracle: Tarot, state: Any, names: Sequence[str]) -> None:
    chien = [place for place, to in enumerate(state.slot) if to >= MOST_SEATS]
    oracle.deal([names[c] for c in state.deck], chien, int(state.dealer), int(state.redeals))


# --- Rare cards ------------------------------------------------------------------------------


def rig_chouine(draw: random.Random, state: Any, names: Sequence[str]) -> None:
    """Each hand is a chouine, a quinte, or nearly so; sometimes more aces and tens are drawn first."""
    left = draw.sample(list(names), len(names))
    wanted = [[r + s for r in COMBINATIONS["chouine"]] for s in draw.sample("CDHS", 2)]
    if draw.random() < 0.5:
        wanted[draw.randrange(2)] = draw.sample([r + s for r in BRISQUES for s in "CDHS"], 5)
    hands = []
    for cards in wanted:
        kept = [c for c in cards if c in left and draw.random() < 0.95]
        left = [c for c in left if c not in kept]
        hands.append(kept)
    for hand in hands:
        while len(hand) < 5:
            hand.append(left.pop())
    if draw.random() < 0.5:
        left.sort(key=lambda c: c[:-1] not in BRISQUES)
    deck = [c for pair in zip(*hands) for c in pair] + left
    for place, name in enumerate(deck):
        card = names.index(name)
        state.deck[place] = card
        state.place[card] = 2 if place > 10 else 3 if place == 10 else state.dealer ^ (place % 2 == 0)
    state.under = state.deck[10]
    state.trump = "CDHS".index(suit(names[state.under]))


def rig_tarot(draw: random.Random, state: Any, names: Sequence[str]) -> None:
    """The first player's hand is very strong, very weak, all trumps and kings, or of trumps and one suit."""
    first = (int(state.dealer) + 1) % int(state.seats)
    size = int((state.slot == first).sum())
    kind, long_suit = draw.choice(("strong", "weak", "trumps", "trumps", "suit")), draw.choice("CDHS")

    def weight(card: str) -> float:
        if card == EXCUSE:
            return draw.choice((0.01, 50))
        value = height(card) + 12 * is_trump(card) if is_trump(card) else height(card) ** 2 / 12
        if kind == "suit":
            return 50 if is_trump(card) or card[-1] == long_suit else 0.1
        if kind == "trumps":
            return 50 if is_trump(card) or card[0] == "K" else 0.1
        return value if kind == "strong" else 0.1 + 30 - value

    while True:
        hand = sorted(names, key=lambda c: draw.random() ** (1 / (weight(c) + 0.01)))[-size:]
        others = draw.sample([c for c in names if c not in hand], len(names) - size)
        deck = [(hand if to == first else others).pop() for to in state.slot]
        hands = [[c for c, to in zip(deck, state.slot) if to == seat] for seat in range(int(state.seats))]
        if not any(map(petit_sec, hands)):
            break
    for place, name in enumerate(deck):
        card = names.index(name)
        state.deck[place] = card
        state.place[card] = state.dealt[card] = state.slot[place]


BOOKS = {
    "chouine": Book(Chouine, ("memory",), deal_chouine, (uniform, talker, quiet, hoarder, hoarder), (), rig_chouine),
    "avinas": Book(Avinas, ("sign",), deal_avinas, (uniform, talker, quiet, one_sided), ("declarer", "points")),
    "shukh": Book(Shukh, ("memory",), deal_shukh, (uniform, quiet, low, low, keeper), ("places", "cards_left")),
    "tarot": Book(Tarot, (), deal_tarot, (uniform, talker, quiet, slammer, slammer), (), rig_tarot),
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
        if self.draw.random() < 0.4:
            self.players = self.players[:1] * 8
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
        elif self.oracle.waiting:  # a deal of a match has ended, the next one lies in the state
            told = [
                {k: v for k, v in info.items() if k not in self.book.passing}
                for info in (self.game.info(state), self.oracle.info())
            ]
            self.same("info after a deal", *told)
        return over


def compare(name: str, games: int, first_seed: int, rigged: bool = False, **options: Any) -> None:
    """Plays games in the engine and the oracle side by side, with rare cards if asked."""
    for start in range(first_seed, first_seed + games, TOGETHER):
        game = cardgym.load_game(name)
        chosen = game.options.of(**options)
        all_options = {f: getattr(chosen, f) for f in vars(chosen)}
        seeds = range(start, min(start + TOGETHER, first_seed + games))
        duels = [Duel(game, all_options, seed) for seed in seeds]
        batch = Batch(game, chosen, len(duels))
        batch.reset(np.array(seeds))
        states = records(batch.states)
        rig = BOOKS[name].rigged
        if rigged and rig is not None:
            for duel, state in zip(duels, states):
                rig(duel.draw, state, game.pack.names)
            batch.refresh(np.arange(len(duels)))
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
        {"episode": "match", "stop": "any", "match_marks": 6, "max_deals": 4},
        {"episode": "match", "overbid": "loses_match"},
    ],
    "shukh": [
        {},
        {"players": 2},
        {"players": 3, "reward": "loser", "reward_scale": 2.0, "max_idle_turns": None},
        {"players": 6, "tuck": "general", "memory": "table"},
        {"players": 8, "deck": 52},
        {"players": 5, "deck": 52, "tuck": "general", "max_idle_turns": 400},
        {"players": 3, "tuck": "general", "max_idle_turns": 50},
        {"players": 4, "reward": "loser", "max_idle_turns": 60},
        {"episode": "match", "players": 3},
        {"episode": "match", "players": 4, "tuck": "general", "max_idle_turns": 100, "parties_per_match": 3},
    ],
    "tarot": [
        {"players": players, "rules": rules, **more}
        for rules in ("seed", "fft")
        for players in (3, 4, 5)
        for more in ({}, {"contract": "garde", "reward_scale": 0.01})
    ]
    + [
        {"episode": "match"},
        {"episode": "match", "players": 3, "rules": "fft", "deals_per_match": 5},
        {"episode": "match", "players": 5, "contract": "garde"},
    ],
}


def option_sets(rigged: bool = False) -> list[Any]:
    """For each option set the name of the game, the options, and a first seed of its own."""
    return [
        pytest.param(name, options, 1_000_000 * i, id="-".join([name, *map(str, itertools.chain(*options.items()))]))
        for name, sets in OPTION_SETS.items()
        for i, options in enumerate(sets)
        if not rigged or (BOOKS[name].rigged and not {"episode", "contract"} & options.keys())
    ]


def count(games: int, options: dict[str, Any]) -> int:
    """A match has many deals, so that fewer do."""
    return games // MATCH_DEALS + 1 if options.get("episode") == "match" else games


@pytest.mark.parametrize(("name", "options", "seed"), option_sets())
def test_engine_and_oracle_agree(name: str, options: dict[str, Any], seed: int) -> None:
    compare(name, count(GAMES // len(OPTION_SETS[name]) + 1, options), seed, **options)


@pytest.mark.parametrize(("name", "options", "seed"), option_sets(rigged=True))
def test_they_agree_on_rare_cards(name: str, options: dict[str, Any], seed: int) -> None:
    compare(name, RARE_GAMES, seed, rigged=True, **options)


@pytest.mark.long
@pytest.mark.parametrize(("name", "options", "seed"), option_sets())
def test_engine_and_oracle_agree_at_length(name: str, options: dict[str, Any], seed: int) -> None:
    compare(name, count(LONG_GAMES, options), seed + LONG_SEED, **options)


@pytest.mark.long
@pytest.mark.parametrize(("name", "options", "seed"), option_sets(rigged=True))
def test_they_agree_on_rare_cards_at_length(name: str, options: dict[str, Any], seed: int) -> None:
    compare(name, LONG_RARE_GAMES, seed + LONG_SEED, rigged=True, **options)
