"""The PettingZoo form: PettingZoo's own tests, the same games as the single environment, both calling styles."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

import cardgym
from cardgym.errors import EpisodeOver, IllegalAction, InvalidAction, InvalidOption, ResetNeeded, UnknownGame

pytest.importorskip("pettingzoo")
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state_space as state_space_test
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from cardgym.wrappers import PettingZooAEC

MAKERS = {
    "deal": {"env": "cardgym/Chouine-v0"},
    "match": {"env": "cardgym/ChouineMatch-v0", "encodings": ("observation", "history")},
    "margin": {"env": "Chouine-v0", "reward": "margin", "memory": "table"},
}


def make(kind: str = "deal", **more) -> PettingZooAEC:
    return PettingZooAEC(**MAKERS[kind], **more)


def first_legal(mask: np.ndarray) -> int:
    return int(mask.argmax())


def advance(env: PettingZooAEC, seed: int, decisions: int) -> None:
    env.reset(seed=seed)
    for _ in range(decisions):
        env.step(first_legal(env.last()[0]["action_mask"]))


def play_to_the_end(env: PettingZooAEC) -> None:
    while not any(env.terminations.values()):
        env.step(first_legal(env.last()[0]["action_mask"]))


# --- PettingZoo's own tests ------------------------------------------------------------------


@pytest.mark.parametrize("kind", MAKERS)
def test_pettingzoo_api(kind):
    with warnings.catch_warnings():
        # PettingZoo keeps lists of its own environments whose observations are dicts and whose masks may be empty.
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably should be")
        warnings.filterwarnings("ignore", message="Action mask numpy array is all zeros")
        warnings.filterwarnings("ignore", message=".*ignored reset options 'options'")
        warnings.simplefilter("error", append=True)
        api_test(make(kind), num_cycles=400)


@pytest.mark.parametrize("wrapper", [OrderEnforcingWrapper, AssertOutOfBoundsWrapper])
def test_pettingzoo_api_inside_its_wrappers(wrapper):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(wrapper(make()), num_cycles=60)


@pytest.mark.parametrize("kind", MAKERS)
def test_pettingzoo_seed(kind):
    seed_test(lambda: make(kind), num_cycles=200)


def test_pettingzoo_render(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    render_test(lambda render_mode: make(render_mode=render_mode))


@pytest.mark.parametrize("kind", MAKERS)
def test_state_stays_in_its_space(kind):
    env = make(kind)
    state_space_test(env)
    env.reset(seed=0)
    while env.agents:
        state = env.state()
        assert state.dtype == np.int8
        assert state in env.state_space
        over = env.terminations[env.agent_selection]
        env.step(None if over else first_legal(env.last()[0]["action_mask"]))
    assert env.state() in env.state_space


# --- The same games as the single environment ------------------------------------------------


@pytest.mark.parametrize("kind", MAKERS)
def test_same_game_as_the_single_environment(kind):
    env = make(kind)
    single = cardgym.make(**{"env_id" if k == "env" else k: v for k, v in MAKERS[kind].items()}).unwrapped
    generator = np.random.default_rng(0)
    for seed in (0, 11):
        env.reset(seed=seed, options={"dealer": 1})
        observation, info = single.reset(seed=seed, options={"dealer": 1})
        over, earned = False, dict.fromkeys(env.possible_agents, 0.0)
        while not over:
            assert env.agent_selection == f"player_{info['player']}"
            seen, reward, terminated, truncated, _ = env.last()
            assert (reward, terminated, truncated) == (earned[env.agent_selection], False, False)
            assert seen.keys() == observation.keys()
            assert all(np.array_equal(seen[k], observation[k]) for k in seen)
            assert np.array_equal(env.state(), single.batch.views(single.batch.players, encodings=("state",)).state[0])
            action = int(generator.choice(np.flatnonzero(info["action_mask"])))
            earned[env.agent_selection] = 0.0
            env.step(action)
            observation, _, over, _, info = single.step(action)
            assert list(env.rewards.values()) == info["rewards"].tolist()
            earned = {a: earned[a] + r for a, r in env.rewards.items()}
        assert all(env.terminations.values())
        for agent in env.agents:
            end = env.infos[agent]
            assert {k: end[k] for k in ("totals", "winner", "stalled")} == {
                k: info[k] for k in ("totals", "winner", "stalled")
            }
            assert np.array_equal(end["scores"], info["scores"])


def test_who_is_not_to_act_sees_his_own_cards_and_may_do_nothing():
    env = make("match")
    advance(env, 4, 5)
    acting = env.agent_selection
    other = next(a for a in env.agents if a != acting)
    seat = env.possible_agents.index(other)
    seen = env.observe(other)
    assert seen in env.observation_space(other)
    assert not seen["action_mask"].any()
    assert not env.infos[other]["action_mask"].any()
    layout = env.card_env.layouts["observation"]
    hand = np.flatnonzero(env.card_env.state["place"][0] == seat)
    assert layout.describe(seen["observation"])["hand"] == [layout.pack.names[c] for c in hand]
    assert env.observe(acting)["action_mask"].any()


def test_both_calling_styles_give_the_same_mask():
    env = make()
    env.reset(seed=2)
    for agent in env.agent_iter():
        observation, _, terminated, _, info = env.last()
        assert np.array_equal(observation["action_mask"], info["action_mask"])
        assert info["action_mask"].dtype == np.int8
        assert info["action_mask"].any() == (not terminated)
        space = env.action_space(agent)
        env.step(None if terminated else space.sample(info["action_mask"]))


def test_what_was_handed_out_stays_as_it_was():
    env = make()
    env.reset(seed=2)
    kept = []
    for _ in env.agent_iter():
        observation, _, terminated, _, info = env.last()
        parts = [*observation.values(), info["action_mask"]]
        kept.append((parts, [p.tobytes() for p in parts]))
        env.step(None if terminated else first_legal(info["action_mask"]))
    assert len(kept) > 30
    assert all(p.tobytes() == b for parts, was in kept for p, b in zip(parts, was, strict=True))


# --- The end ---------------------------------------------------------------------------------


def test_dead_steps():
    env = make()
    advance(env, 1, 0)
    play_to_the_end(env)
    assert env.agents == env.possible_agents
    assert all(not env.observe(a)["action_mask"].any() for a in env.agents)
    finals = dict(env._cumulative_rewards)
    assert sorted(finals.values()) == [-1.0, 1.0]
    for left in (2, 1):
        agent = env.agent_selection
        _, reward, terminated, truncated, info = env.last()
        assert (len(env.agents), terminated, truncated) == (left, True, False)
        assert reward == finals[agent] == (1.0 if info["winner"] == env.possible_agents.index(agent) else -1.0)
        with pytest.raises(ValueError, match="None"):
            env.step(0)
        env.step(None)
        assert agent not in env.agents
        assert env.rewards.keys() == env.infos.keys() == env.terminations.keys() == set(env.agents)
    assert env.agents == []
    assert list(env.agent_iter()) == []
    with pytest.raises(EpisodeOver, match="call reset"):
        env.step(None)
    env.reset()
    assert env.agents == env.possible_agents


def test_reset_without_a_seed_goes_on_with_the_stream():
    env, single = make(), cardgym.make("cardgym/Chouine-v0")
    env.reset(seed=9)
    single.reset(seed=9)
    for _ in range(3):
        env.reset()
        observation, _ = single.reset()
        assert np.array_equal(env.last()[0]["observation"], observation["observation"])


# --- Errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("decisions", [0, 3, 10])
def test_an_illegal_action_changes_nothing(decisions):
    env = make()
    advance(env, 6, decisions)
    before = copy.deepcopy(env)
    illegal = int(env.last()[0]["action_mask"].argmin())
    with pytest.raises(IllegalAction, match="legal now"):
        env.step(illegal)
    for wrong in (51, -1, 1.5, "7C", None):
        with pytest.raises(InvalidAction):
            env.step(wrong)
    assert env.card_env.state == before.card_env.state
    for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "_cumulative_rewards"):
        assert getattr(env, name) == getattr(before, name)
    for agent in env.agents:
        assert data_equivalence(env.infos[agent], before.infos[agent])
        assert data_equivalence(env.observe(agent), before.observe(agent))
    env.step(first_legal(env.last()[0]["action_mask"]))


def test_terminate_illegal_wrapper_of_pettingzoo():
    env = TerminateIllegalWrapper(make(), illegal_reward=-3)
    for seed in (0, 1):
        env.reset(seed=seed)
        for _ in range(3):
            env.step(first_legal(env.last()[0]["action_mask"]))
        actor = env.agent_selection
        env.step(int(env.last()[0]["action_mask"].argmin()))
        rewards = {}
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            assert terminated
            assert truncated
            assert not observation["action_mask"].any()
            assert not info["action_mask"].any()
            rewards[agent] = reward
            env.step(None)
        assert rewards == {a: (-3.0 if a == actor else 0.0) for a in env.possible_agents}
    env.reset(seed=0)
    for _ in env.agent_iter():
        observation, _, terminated, _, _ = env.last()
        env.step(None if terminated else first_legal(observation["action_mask"]))
    assert env.agents == []


def test_before_the_first_reset():
    env = make(render_mode="ansi")
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.state, env.render):
        with pytest.raises(ResetNeeded, match="call reset first"):
            call()
    for name in ("agents", "agent_selection", "rewards", "infos"):
        with pytest.raises(AttributeError, match="call reset first"):
            getattr(env, name)
    with pytest.raises(AttributeError, match="call reset first"):
        env.last()
    with pytest.raises(AttributeError, match=r"no attribute 'colour'$"):
        _ = env.colour


def test_wrong_arguments():
    with pytest.raises(UnknownGame, match="Did you mean 'cardgym/Chouine-v0'"):
        PettingZooAEC("cardgym/Chouin-v0")
    with pytest.raises(InvalidOption, match=r"env\.state\(\)"):
        make(encodings=("observation", "state"))
    with pytest.raises(InvalidOption, match="render_mode"):
        make(render_mode="rgb")
    with pytest.raises(InvalidOption, match="quinte"):
        make(quinte=70)
    env = make()
    with pytest.raises(InvalidOption, match="dealer=7"):
        env.reset(options={"dealer": 7})
    env.reset()
    with pytest.raises(KeyError):
        env.observe("player_2")


def test_unknown_reset_options_are_ignored_with_a_warning():
    env = make()
    with pytest.warns(UserWarning, match="ignored reset options 'deck'; known are dealer"):
        env.reset(seed=0, options={"deck": 1, "dealer": 1})
    assert env.card_env.state["dealer"][0] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset(seed=0, options={"dealer": 0})
    assert env.card_env.state["dealer"][0] == 0


# --- Names, spaces, copies -------------------------------------------------------------------


def test_names_and_spaces():
    assert str(make()) == "cardgym_chouine_v0"
    assert str(make("match")) == make("match").metadata["name"] == "cardgym_chouine_match_v0"
    env = PettingZooAEC(cardgym.load_game("chouine"))
    assert str(env) == "cardgym_chouine"
    assert env.metadata["is_parallelizable"] is False
    assert env.possible_agents == ["player_0", "player_1"]
    assert env.max_num_agents == 2
    assert env.unwrapped.card_env.game.name == "chouine"
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
    assert env.action_space("player_0") is not env.action_space("player_1")
    assert env.observation_space("player_0") == env.observation_space("player_1") == env.card_env.observation_space


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_alike_and_apart(copied):
    env = make("match")
    advance(env, 8, 11)
    twin = copied(env)
    assert np.array_equal(twin.state(), env.state())
    for _ in range(60):  # into the next deal
        action = first_legal(env.last()[0]["action_mask"])
        env.step(action)
        twin.step(action)
        assert np.array_equal(twin.last()[0]["observation"], env.last()[0]["observation"])
    before = env.card_env.state
    twin.step(first_legal(twin.last()[0]["action_mask"]))
    assert twin.card_env.state != before
    assert env.card_env.state == before


def test_set_state():
    env, other = make(), make()
    advance(env, 8, 11)
    other.reset(seed=1)
    other.set_state(env.card_env.state)
    assert other.agent_selection == env.agent_selection
    assert np.array_equal(other.last()[0]["observation"], env.last()[0]["observation"])
    play_to_the_end(env)
    other.set_state(env.card_env.state)
    assert all(other.terminations.values())
    assert other.infos["player_0"]["totals"] == env.infos["player_0"]["totals"]


def test_render():
    env = make(render_mode="ansi", view=0)
    advance(env, 3, 1)
    assert env.render() == env.card_env.game.render(env.card_env.state, 0, colour=True)
    env.close()


def test_pictures(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = make(render_mode="rgb_array", view="all")
    advance(env, 3, 4)
    assert np.array_equal(env.render(), env.card_env.render())
    assert env.render().shape == (480, 640, 3)
    env = make(render_mode="human")
    advance(env, 3, 4)
    assert env.render() is None
    env.close()


# --- The extra -------------------------------------------------------------------------------


def test_importing_the_wrappers_needs_no_extra_and_a_missing_one_is_named():
    script = """
import sys
import cardgym.wrappers
assert not [m for m in sys.modules if m.split(".")[0] in ("pettingzoo", "torch", "stable_baselines3")]
assert "PettingZooAEC" in dir(cardgym.wrappers)
sys.modules["pettingzoo"] = None  # as if not installed
for name in ("PettingZooAEC", "Nothing"):
    try:
        getattr(cardgym.wrappers, name)
    except (cardgym.errors.MissingExtra, AttributeError) as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "pip install 'cardgym[pettingzoo]'" in done.stdout
    assert "no attribute 'Nothing'" in done.stdout
