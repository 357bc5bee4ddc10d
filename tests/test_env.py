"""The single environment: spaces, infos, seeds, copies, drawings, the state and the tables behind it."""

from __future__ import annotations

import copy
import doctest
import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

import cardgym
from cardgym.batch import Batch, playout, sample
from cardgym.envs import CardEnv
from cardgym.envs import env as env_module
from cardgym.envs import vector_env as vector_module
from cardgym.errors import InvalidOption
from cardgym.kernel import records

GAME = cardgym.load_game("chouine")
ENCODINGS = ("observation", "history", "state")
every_id = pytest.mark.parametrize("env_id", list(cardgym.IDS))


def first_legal(info: dict[str, Any]) -> int:
    return int(info["action_mask"].argmax())


def play_out(env: gymnasium.Env[Any, Any], info: dict[str, Any]) -> tuple[Any, float, dict[str, Any]]:
    over, reward, observation = False, 0.0, None
    while not over:
        observation, reward, over, _, info = env.step(first_legal(info))
    return observation, float(reward), info


# --- Making ----------------------------------------------------------------------------------


@every_id
def test_ids_long_and_short(env_id: str) -> None:
    for name in (env_id, env_id.split("/")[1]):
        env = cardgym.make(name)
        assert isinstance(env.unwrapped, CardEnv)
        assert env.spec is not None
        assert env.spec.id == env_id
    made = gymnasium.make(env_id)
    assert made.observation_space == cardgym.make(env_id).observation_space


def test_importing_imports_no_extra_and_makes_no_files(tmp_path: Any) -> None:
    heavy = ("torch", "stable_baselines3", "pettingzoo", "matplotlib", "tensorboard", "tyro", "rich")
    code = (
        "import cardgym, cardgym.batch, cardgym.envs, cardgym.testing, sys; cardgym.load_game('chouine'); "
        f"print([m for m in {heavy} if m in sys.modules])"
    )

    environment = {**os.environ, "CARDGYM_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert not (tmp_path / "cache").exists()


def test_registered_games_and_names() -> None:
    assert "chouine" in cardgym.game_names()
    for name in cardgym.game_names():
        game = cardgym.load_game(name)
        assert game.name == name
        assert len({a.name for a in game.actions}) == len(game.actions)
        assert [game.action_ids[a.name] for a in game.actions] == list(range(len(game.actions)))


def test_a_game_of_your_own() -> None:
    env = CardEnv(GAME, memory="table")
    assert env.options.memory == "table"


@pytest.mark.parametrize("module", [env_module, vector_module, importlib.import_module("cardgym.envs.spaces")])
def test_examples_in_docstrings(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


# --- What a step shows -----------------------------------------------------------------------


@every_id
@pytest.mark.parametrize("encodings", [("observation",), ("history",), ("state", "history"), ENCODINGS])
def test_spaces(env_id: str, encodings: tuple[str, ...]) -> None:
    """The observation always holds ``observation`` and ``action_mask``, and what was asked for."""
    game = cardgym.load_game(cardgym.IDS[env_id]["game"])
    if "history" in encodings and game.history is None:
        with pytest.raises(InvalidOption, match="no encoding 'history'"):
            cardgym.make(env_id, encodings=encodings)
        return
    env = cardgym.make(env_id, encodings=encodings)
    assert isinstance(env.observation_space, gymnasium.spaces.Dict)
    assert set(env.observation_space) == {"observation", "action_mask", *encodings}
    assert env.action_space == gymnasium.spaces.Discrete(len(game.actions))
    observation, info = env.reset(seed=0)
    for _ in range(20):
        assert observation in env.observation_space
        assert all(part.dtype == np.int8 for part in observation.values())
        assert info["action_mask"] is not env.unwrapped.batch.mask[0]  # type: ignore[attr-defined]
        observation, _, over, _, info = env.step(first_legal(info))
        if over:
            assert observation in env.observation_space
            observation, info = env.reset()


def test_info() -> None:
    env = cardgym.make("Chouine-v0").unwrapped
    _, info = env.reset(seed=3)
    assert set(info) == {"player", "action_mask", "rewards"}
    assert info["player"] == env.player
    assert info["rewards"].tolist() == [0.0, 0.0]
    _, reward, end = play_out(env, info)
    assert set(end) == {"player", "action_mask", "rewards", "scores", "stalled", "totals", "winner", "chouine"}
    assert end["scores"].tolist() == end["totals"]
    assert end["stalled"] is False
    assert not end["action_mask"].any()
    assert reward == end["rewards"][end["player"]], "the reward of the seat that acted"
    assert end["winner"] == (end["rewards"].argmax() if end["rewards"].any() else -1)


def test_rewards_are_of_the_last_decision() -> None:
    env = cardgym.make("Chouine-v0").unwrapped
    _, info = env.reset(seed=3)
    _, _, end = play_out(env, info)
    assert end["rewards"].any()
    _, info = env.reset()
    assert not info["rewards"].any()


def test_reward_scale() -> None:
    for scale in (0.0, 0.5, 10):
        env = cardgym.make("Chouine-v0", reward_scale=scale)
        _, _, end = play_out(env, env.reset(seed=3)[1])
        assert np.abs(end["rewards"]).tolist() == [scale, scale]


def test_what_was_handed_out_stays_as_it_was() -> None:
    env = cardgym.make("Chouine-v0", encodings=ENCODINGS)
    kept = []
    observation, info = env.reset(seed=5)
    for _ in range(30):
        kept.append(((observation, info), pickle.dumps((observation, info))))
        observation, *_, info = env.step(first_legal(info))
    for value, before in kept:
        assert pickle.dumps(value) == before
        for part in value[0].values():
            part[:] = 9  # theirs to write to
    again, info = env.reset(seed=5)
    assert again in env.observation_space


# --- Seeds -----------------------------------------------------------------------------------


@every_id
def test_seeds(env_id: str) -> None:
    """One seed, one series of episodes; without one, another series each time.

    Told apart by all cards, hidden ones too: what the first seat sees of them may be nothing.
    """
    series = []
    for seed in (8, 8, 9):
        env = cardgym.make(env_id, encodings=("state",))
        seen = [env.reset(seed=seed)[0], *(env.reset()[0] for _ in range(4))]
        assert len({first["state"].tobytes() for first in seen}) == 5
        series.append([(first["state"].tobytes(), first["observation"].tobytes()) for first in seen])
    assert series[0] == series[1]
    assert not {state for state, _ in series[0]} & {state for state, _ in series[2]}
    unseeded = {cardgym.make(env_id, encodings=("state",)).reset()[0]["state"].tobytes() for _ in range(5)}
    assert len(unseeded) == 5


@pytest.mark.parametrize("seed", [0, (1 << 32) - 1, 1 << 32, (1 << 64) - 1])
def test_seeds_of_64_bits(seed: int) -> None:
    a, b = (cardgym.make("Chouine-v0").reset(seed=seed)[0]["observation"] for _ in range(2))
    assert a.tobytes() == b.tobytes()
    other = cardgym.make("Chouine-v0").reset(seed=seed ^ (1 << 32))[0]["observation"]
    assert a.tobytes() != other.tobytes()


@pytest.mark.parametrize("dealer", [0, 1, np.int64(1)])
def test_reset_options_hold_for_one_episode(dealer: int) -> None:
    env = cardgym.make("Chouine-v0").unwrapped
    for seed in range(8):
        env.reset(seed=seed, options={"dealer": dealer})
        assert env.state["dealer"][0] == dealer
        assert env.player == 1 - dealer
    dealers = set()
    for seed in range(20):
        env.reset(seed=seed)
        dealers.add(int(env.state["dealer"][0]))
    assert dealers == {0, 1}


# --- Copies ----------------------------------------------------------------------------------


COPIES: dict[str, Callable[[CardEnv], CardEnv]] = {
    "clone": lambda env: env.clone(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}


@pytest.mark.parametrize("how", sorted(COPIES))
def test_copies_keep_everything(how: str) -> None:
    """Options, encodings, view, spec, the last rewards, the generators, the episodes to come."""
    env = cardgym.make("Chouine-v0", quinte=100, encodings=ENCODINGS, render_mode="ansi", view=1).unwrapped
    env.action_space.seed(3)
    env.reset(seed=4)
    env.step(int(env.batch.mask[0].argmax()))
    twin = COPIES[how](env)
    assert isinstance(twin, CardEnv)
    assert (twin.options, twin.view, twin.render_mode, twin.spec) == (env.options, env.view, env.render_mode, env.spec)
    assert twin.game is env.game
    assert twin.observation_space == env.observation_space
    assert twin.np_random_seed == env.np_random_seed == 4
    assert twin.np_random.integers(1 << 60) == env.np_random.integers(1 << 60)
    assert [twin.action_space.sample() for _ in range(20)] == [env.action_space.sample() for _ in range(20)]
    assert twin.render() == env.render()
    assert twin.reset()[0]["state"].tobytes() == env.reset()[0]["state"].tobytes()
    twin.step(int(twin.batch.mask[0].argmax()))
    assert env.state["moves"][0] == 0


@pytest.mark.parametrize("how", sorted(COPIES))
def test_copies_at_the_end_and_before_the_beginning(how: str) -> None:
    env = cardgym.make("Chouine-v0").unwrapped
    unstarted = COPIES[how](env)
    assert unstarted.reset(seed=1)[0]["observation"].tobytes() == env.reset(seed=1)[0]["observation"].tobytes()
    play_out(env, env.reset(seed=1)[1])
    twin = COPIES[how](env)
    assert twin.batch.rewards.tolist() == env.batch.rewards.tolist()
    assert twin.reset()[0]["observation"].tobytes() == env.reset()[0]["observation"].tobytes()


def test_wrapped_copies() -> None:
    """Gymnasium's wrappers around it copy along."""
    env = cardgym.make("Chouine-v0")
    _, info = env.reset(seed=2)
    twin = copy.deepcopy(env)
    assert (
        twin.step(first_legal(info))[0]["observation"].tobytes()
        == env.step(first_legal(info))[0]["observation"].tobytes()
    )


def test_a_state_is_a_copy_and_plain_bytes() -> None:
    env = cardgym.make("Chouine-v0").unwrapped
    env.reset(seed=2)
    state = env.state
    state["player"] = 1 - state["player"]
    assert env.state["player"][0] != state["player"][0]
    saved = env.state.tobytes()
    observation, _ = env.set_state(env.state)
    env.step(int(env.batch.mask[0].argmax()))
    again, info = env.set_state(np.frombuffer(saved, GAME.dtype))
    assert again["observation"].tobytes() == observation["observation"].tobytes()
    assert info["player"] == env.player
    env.set_state(records(env.state)[0])  # one record will do as well


# --- Drawings and descriptions ---------------------------------------------------------------


def test_render_views() -> None:
    """Whose cards lie open: those of the player to act, of one seat, of all."""
    drawings = {}
    for view in ("player", 0, 1, "all"):
        env = cardgym.make("Chouine-v0", render_mode="ansi", view=view)
        env.reset(seed=2)
        drawings[view] = env.render()
        player = env.unwrapped.player
    assert drawings["player"] == drawings[player]
    assert drawings[0] != drawings[1]
    assert drawings["all"].count("▒▒") == 0
    assert drawings[0].count("▒▒") == drawings[1].count("▒▒") == 5
    assert GAME.render(env.unwrapped.state, 0, colour=True) == drawings[0]
    assert GAME.render(env.unwrapped.state, colour=True) == drawings["all"]


def test_render_without_a_mode_says_so() -> None:
    env = CardEnv("chouine")
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert env.render() is None


@every_id
def test_describe(env_id: str) -> None:
    """Every layout describes what it encodes, by the names of its parts."""
    layouts = cardgym.make(env_id).unwrapped.layouts  # type: ignore[attr-defined]
    env = cardgym.make(env_id, encodings=tuple(layouts)).unwrapped
    observation, _ = env.reset(seed=6)
    for name in layouts:
        layout = env.layouts[name]
        said = layout.describe(observation[name])
        assert list(said) == [s.name for s in layout.segments]
        for segment in layout.segments:
            assert segment.meaning
            assert segment.known_to
            assert segment.since
    hand = env.layouts["observation"].describe(observation["observation"])["hand"]
    assert all(card in env.game.pack.names for card in hand)


# --- The loops underneath --------------------------------------------------------------------


def test_playout_and_sample() -> None:
    """A playout is over, or as long as asked; its decisions are counted; samples are legal."""
    batch = Batch(GAME, None, 20)
    batch.reset(range(20))
    actions = sample(batch.mask, np.random.default_rng(0))
    assert batch.mask[np.arange(20), actions].all()
    states = batch.states.copy()
    assert playout(GAME, states, 0, limit=3) == 60
    assert (states["moves"] == 3).all()
    rest = playout(GAME, states, 1)
    assert states["over"].all()
    assert states["moves"].sum() == 60 + rest
    assert sample(np.zeros((2, 51), np.int8), np.random.default_rng(0)).tolist() == [-1, -1]
    other = batch.states.copy()
    playout(GAME, other, 0, limit=3)
    playout(GAME, other, 1)
    assert other.tobytes() == states.tobytes()


def test_views_in_any_order() -> None:
    """Rows may repeat; what one seat sees does not depend on the others asked about."""
    batch = Batch(GAME, None, 5)
    batch.reset(range(5))
    rows, seats = np.array([4, 0, 4, 2]), np.array([1, 0, 0, 1])
    views = batch.views(seats, rows, ENCODINGS)
    for k in range(4):
        alone = batch.views(seats[k : k + 1], rows[k : k + 1], ENCODINGS)
        for a, b in zip(views, alone, strict=True):
            assert a[k].tobytes() == b[0].tobytes()
    only = batch.views(seats, rows, ("history",))
    assert only.state.shape == (4, 0)
    assert only.history.tobytes() == views.history.tobytes()
