"""TerminateIllegal: an illegal action ends the episode with a penalty for the seat that made it."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import cardgym
from cardgym.errors import EpisodeOver, InvalidAction, InvalidOption, ResetNeeded
from cardgym.wrappers import TerminateIllegal

ENV = "cardgym/Chouine-v0"


@pytest.fixture
def env() -> TerminateIllegal:
    return TerminateIllegal(cardgym.make(ENV), penalty=-2.5)


def advance(env: gymnasium.Env, seed: int, decisions: int) -> tuple[dict, dict]:
    observation, info = env.reset(seed=seed)
    for _ in range(decisions):
        observation, _, terminated, _, info = env.step(int(info["action_mask"].argmax()))
        assert not terminated
    return observation, info


@pytest.mark.parametrize("decisions", [0, 1, 2, 7])
def test_an_illegal_action_ends_the_episode_at_the_cost_of_its_seat(env, decisions):
    before, info = advance(env, 3, decisions)
    seat, illegal = info["player"], int(info["action_mask"].argmin())
    state = env.unwrapped.state
    observation, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (-2.5, True, False)
    assert info["player"] == seat
    assert info["rewards"][seat] == -2.5
    assert info["rewards"][1 - seat] == 0.0
    assert info["illegal_action"] == env.unwrapped.game.actions[illegal].name
    assert not observation["action_mask"].any()
    assert not info["action_mask"].any()
    assert np.array_equal(observation["observation"], before["observation"])
    assert observation in env.observation_space
    assert env.unwrapped.state == state


def test_no_step_after_the_end(env):
    _, info = advance(env, 3, 0)
    env.step(int(info["action_mask"].argmin()))
    with pytest.raises(EpisodeOver, match="illegal action ended the game"):
        env.step(int(info["action_mask"].argmax()))
    _, info = env.reset()
    assert env.step(int(info["action_mask"].argmax()))[2] is False


@pytest.mark.parametrize("action", [51, -1, 1 << 70, 1.5, "7C", True, None])
def test_what_is_no_action_id_is_still_an_error_and_the_episode_goes_on(env, action):
    _, info = advance(env, 3, 4)
    state = env.unwrapped.state
    with pytest.raises(InvalidAction):
        env.step(action)
    assert env.unwrapped.state == state
    assert env.step(int(info["action_mask"].argmax()))[2] is False


def test_legal_play_is_untouched(env):
    plain = cardgym.make(ENV)
    _, info = env.reset(seed=5, options={"dealer": 1})
    plain.reset(seed=5, options={"dealer": 1})
    over = False
    while not over:
        action = int(info["action_mask"].argmax())
        observation, reward, over, truncated, info = env.step(action)
        same, same_reward, same_over, same_truncated, same_info = plain.step(action)
        assert (reward, over, truncated) == (same_reward, same_over, same_truncated)
        assert observation.keys() == same.keys()
        assert all(np.array_equal(observation[k], same[k]) for k in same)
        assert info.keys() == same_info.keys()
    with pytest.raises(EpisodeOver):
        env.step(0)


def test_wrong_use(env):
    with pytest.raises((ResetNeeded, gymnasium.error.ResetNeeded)):
        env.step(0)
    with pytest.raises(TypeError, match="CardEnv"):
        TerminateIllegal(gymnasium.make("CartPole-v1"))
    for penalty in (float("nan"), float("inf"), "much", None, True):
        with pytest.raises(InvalidOption, match="penalty"):
            TerminateIllegal(cardgym.make(ENV), penalty=penalty)
