"""Suits in canonical order: positions alike but for the names of suits look the same, and nothing else changes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import cardgym
from cardgym.baselines.agents import RuleAgent
from cardgym.batch import Batch, sample
from cardgym.suits import ORDERS, SuitRelabelling
from cardgym.wrappers import CanonicalSuits, SelfPlay, VectorCanonicalSuits, VectorSelfPlay

GAME = cardgym.load_game("chouine")
LAYOUTS = GAME.layouts(GAME.options())
SUITS = SuitRelabelling(GAME)


@pytest.fixture(scope="module")
def positions() -> Batch:
    """Positions from all parts of random games, words preferred so that announcements occur."""
    batch = Batch(GAME, None, 600, ("observation", "history", "state"))
    batch.reset(range(600))
    generator = np.random.default_rng(0)
    for row in range(600):
        rows = np.arange(row, 600)  # game i is i decisions deep, modulo its length
        words = batch.mask[rows].copy()
        words[:, :32] &= ~(words[:, 32:].any(axis=1, keepdims=True)) & 1
        batch.step(sample(words, generator), rows, autoreset=True)
    return batch


def test_all_24_relabellings_look_alike(positions: Batch) -> None:
    encodings = {"observation": positions.observation, "history": positions.history, "state": positions.state}
    orders = SUITS.orders(positions.observation)
    canonical = {name: SUITS.encoding(name, rows, orders) for name, rows in encodings.items()}
    mask = SUITS.mask(positions.mask, orders)
    assert len(np.unique(orders)) == len(ORDERS)
    alike = 0
    for i in range(len(ORDERS)):
        some = np.full(len(orders), i)
        renamed = {name: SUITS.encoding(name, rows, some) for name, rows in encodings.items()}
        again = SUITS.orders(renamed["observation"])
        np.testing.assert_array_equal(
            SUITS.encoding("observation", renamed["observation"], again), canonical["observation"]
        )
        np.testing.assert_array_equal(SUITS.mask(SUITS.mask(positions.mask, some), again), mask)
        # Suits that the observation cannot tell apart may be ordered either way in the other encodings.
        for name in ("history", "state"):
            alike += (SUITS.encoding(name, renamed[name], again) == canonical[name]).all(axis=1).mean()
    assert alike / (2 * len(ORDERS)) > 0.9


def test_relabelling_is_what_the_rules_say(positions: Batch) -> None:
    """Against plain Python: cards by name, suit by suit."""
    orders = SUITS.orders(positions.observation)
    seen = SUITS.encoding("observation", positions.observation, orders)
    past = SUITS.encoding("history", positions.history, orders)
    for row in range(0, 600, 7):
        becomes = {old: new for new, old in enumerate(ORDERS[orders[row]])}
        was = LAYOUTS["observation"].describe(positions.observation[row])
        now = LAYOUTS["observation"].describe(seen[row])

        def moved(name: str, becomes: dict[int, int] = becomes) -> str:
            return name[:-1] + "CDHS"[becomes["CDHS".index(name[-1])]]

        for part in ("hand", "known", "unseen", "table", "own_tricks", "turn_up"):
            assert sorted(map(moved, was[part])) == sorted(now[part])
        assert now["trump"].tolist() == [1, 0, 0, 0]
        for old, new in becomes.items():
            np.testing.assert_array_equal(was["announced"][:, old], now["announced"][:, new])
        lengths = [sum(c.endswith(s) for c in now["hand"]) for s in "DHS"]
        assert lengths == sorted(lengths, reverse=True)
        before, after = (LAYOUTS["history"].describe(p[row]) for p in (positions.history, past))
        np.testing.assert_array_equal(before["actor"], after["actor"])
        for a, b in zip(before["received"], after["received"], strict=True):
            assert (a == b == 0) or moved(GAME.pack.names[a - 1]) == GAME.pack.names[b - 1]
        for a, b in zip(before["action"], after["action"], strict=True):
            if a:
                name = GAME.actions[a - 1].name
                assert GAME.actions[b - 1].name == (name if name in ("quinte", "swap", "decline") else moved(name))


def test_actions_there_and_back(positions: Batch) -> None:
    orders = SUITS.orders(positions.observation)
    mask = SUITS.mask(positions.mask, orders)
    chosen = sample(mask, np.random.default_rng(1))
    actions = SUITS.actions(chosen, orders)
    assert positions.mask[np.arange(600), actions].all()
    np.testing.assert_array_equal(SUITS.canonical_actions(actions, orders), chosen)
    assert SUITS.actions(np.array([-1, 51]), orders[:2]).tolist() == [-1, 51]


@pytest.mark.parametrize("encodings", [("observation",), ("observation", "history", "state")])
def test_single_and_vector_wrappers_agree(encodings: tuple[str, ...]) -> None:
    n = 4
    envs = VectorCanonicalSuits(cardgym.make_vec("Chouine-v0", num_envs=n, encodings=encodings))
    singles = [CanonicalSuits(cardgym.make("Chouine-v0", encodings=encodings)) for _ in range(n)]
    bare = [cardgym.make("Chouine-v0") for _ in range(n)]
    observations, _ = envs.reset(seed=0)
    seen = [e.reset(seed=i)[0] for i, e in enumerate(singles)]
    for i, e in enumerate(bare):
        e.reset(seed=i)
    generator = np.random.default_rng(0)
    ends = 0
    for _ in range(80):
        for name in observations:
            np.testing.assert_array_equal(observations[name], [s[name] for s in seen])
            assert all(e.observation_space.contains(s) for e, s in zip(singles, seen, strict=True))
        np.testing.assert_array_equal(envs.action_masks(), [e.action_masks() for e in singles])
        chosen = sample(observations["action_mask"], generator)
        own = [e.suits.actions(chosen[i : i + 1], e._orders)[0] for i, e in enumerate(singles)]
        observations, rewards, over, _, infos = envs.step(chosen)
        for i, e in enumerate(singles):
            seen[i], reward, ended, _, info = e.step(chosen[i])
            _, bare_reward, bare_ended, _, bare_info = bare[i].step(own[i])
            assert (rewards[i], over[i]) == (reward, ended) == (bare_reward, bare_ended)
            np.testing.assert_array_equal(info["action_mask"], seen[i]["action_mask"])
            if ended:
                ends += 1
                assert info["totals"] == bare_info["totals"]
                for name in seen[i]:
                    np.testing.assert_array_equal(infos["final_obs"][i][name], seen[i][name])
                seen[i], _ = e.reset()
                bare[i].reset()
    assert ends >= n


def test_over_single_agent_views() -> None:
    rule = RuleAgent(GAME)
    envs = VectorCanonicalSuits(VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=3), [rule], seat=0))
    singles = [CanonicalSuits(SelfPlay(cardgym.make("Chouine-v0"), [rule], seat=0)) for _ in range(3)]
    observations, infos = envs.reset(seed=9)
    seen = [e.reset(seed=9 + i)[0] for i, e in enumerate(singles)]
    for _ in range(40):
        np.testing.assert_array_equal(observations, seen)
        np.testing.assert_array_equal(envs.action_masks(), infos["action_mask"].astype(bool))
        np.testing.assert_array_equal(envs.action_masks(), [e.action_masks() for e in singles])
        chosen = envs.action_masks().argmax(axis=1)
        observations, rewards, over, _, infos = envs.step(chosen)
        for i, e in enumerate(singles):
            seen[i], reward, ended, _, _ = e.step(chosen[i])
            assert (reward, ended) == (rewards[i], over[i])
            if ended:
                np.testing.assert_array_equal(infos["final_obs"][i], seen[i])
                seen[i], _ = e.reset()


def test_a_game_whose_suits_differ_is_refused() -> None:
    other = dataclasses.replace(GAME, suit_order=())
    with pytest.raises(ValueError, match="suits of this game are not interchangeable"):
        SuitRelabelling(other)
