"""Single-agent views: rewards and observations of one seat only, the same game in every form."""

from __future__ import annotations

import numpy as np
import pytest

import cardgym
from cardgym.baselines.agents import Decisions, RandomAgent, RuleAgent
from cardgym.errors import EpisodeOver, IllegalAction, InvalidOption, ResetNeeded
from cardgym.wrappers import SelfPlay, TerminateIllegal, VectorSelfPlay

GAME = cardgym.load_game("chouine")


class First:
    """Plays the legal action with the smallest id and notes whom it played for."""

    name = "first"

    def __init__(self) -> None:
        self.seats: list[int] = []

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        self.seats += decisions.seats.tolist()
        return decisions.mask.argmax(axis=1)


def last_legal(mask: np.ndarray) -> int:
    return int(np.flatnonzero(mask)[-1])


@pytest.mark.parametrize("env_id", list(cardgym.IDS))
@pytest.mark.parametrize("seat", [0, 1])
def test_rewards_and_observations_are_the_learners(env_id: str, seat: int) -> None:
    """The wrapped game equals the bare one, played by hand with the same choices."""
    env = SelfPlay(cardgym.make(env_id), [First()], seat=seat)
    bare = cardgym.make(env_id).unwrapped
    team_of = bare.game.team_of(bare.options)
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        seen, bare_info = bare.reset(seed=seed)
        over = bare_over = False
        total = 0.0
        expected = 0.0
        while not over:
            assert info["learner"] == seat
            while team_of[bare_info["player"]] != team_of[seat]:
                seen, _, bare_over, _, bare_info = bare.step(int(seen["action_mask"].argmax()))
                expected += bare_info["rewards"][seat]
            np.testing.assert_array_equal(observation, seen["observation"])
            np.testing.assert_array_equal(env.action_masks(), seen["action_mask"].astype(bool))
            action = last_legal(seen["action_mask"])
            seen, _, bare_over, _, bare_info = bare.step(action)
            expected += bare_info["rewards"][seat]
            observation, reward, over, truncated, info = env.step(action)
            assert not truncated
            total += reward
            while not bare_over and team_of[bare_info["player"]] != team_of[seat]:
                seen, _, bare_over, _, bare_info = bare.step(int(seen["action_mask"].argmax()))
                expected += bare_info["rewards"][seat]
            assert over == bare_over
            assert total == pytest.approx(expected)
        np.testing.assert_array_equal(observation, bare.batch.views(np.array([seat])).observation[0])
        assert info["scores"].tolist() == bare_info["scores"].tolist()


def test_opponents_never_play_the_learners_seat() -> None:
    opponent = First()
    env = SelfPlay(cardgym.make("Chouine-v0"), [opponent], seat=1)
    env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, _ = env.step(last_legal(env.action_masks()))
    assert set(opponent.seats) == {0}


def test_random_seat_and_weighted_opponents() -> None:
    often, rarely = First(), First()
    envs = VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=2000), [often, rarely], weights=[3, 1])
    envs.reset(seed=0)
    assert abs(envs.learner.mean() - 0.5) < 0.04
    # About half of the games begin with an opponent's decision; a quarter of those are the second one's.
    assert abs(len(rarely.seats) / (len(often.seats) + len(rarely.seats)) - 0.25) < 0.05
    single = SelfPlay(cardgym.make("Chouine-v0"), [First()])
    seats = {single.reset(seed=s)[1]["learner"] for s in range(20)}
    assert seats == {0, 1}


@pytest.mark.parametrize("threads", [1, 2])
def test_vector_equals_single(threads: int) -> None:
    """Game i of seed s is the single game of seed s + i, episode after episode, for fixed seats and opponents."""
    n, seat = 6, 0
    rule = RuleAgent(GAME)
    envs = VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=n, threads=threads), [rule], seat=seat)
    singles = [SelfPlay(cardgym.make("Chouine-v0"), [rule], seat=seat) for _ in range(n)]
    observations, infos = envs.reset(seed=100)
    expected = [e.reset(seed=100 + i)[0] for i, e in enumerate(singles)]
    finished = 0
    for _ in range(60):
        np.testing.assert_array_equal(observations, expected)
        np.testing.assert_array_equal(infos["action_mask"], [e.action_masks() for e in singles])
        actions = np.array([last_legal(m) for m in infos["action_mask"]])
        observations, rewards, over, truncated, infos = envs.step(actions)
        assert not truncated.any()
        for i, env in enumerate(singles):
            expected[i], reward, ended, _, info = env.step(actions[i])
            assert rewards[i] == reward
            assert over[i] == ended
            if ended:
                finished += 1
                np.testing.assert_array_equal(infos["final_obs"][i], expected[i])
                np.testing.assert_array_equal(infos["final_info"]["scores"][i], info["scores"])
                np.testing.assert_array_equal(infos["final_info"]["rewards"][i], info["rewards"])
                assert infos["final_info"]["learner"][i] == seat
                expected[i], _ = env.reset()
        assert ("final_obs" in infos) == over.any()
    assert finished >= 2 * n


def test_same_seed_same_play_with_random_opponents() -> None:
    def play() -> list[np.ndarray]:
        envs = VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=16), [RandomAgent(), RuleAgent(GAME)])
        observations, infos = envs.reset(seed=5)
        seen = [observations]
        for _ in range(40):
            actions = np.array([last_legal(m) for m in infos["action_mask"]])
            observations, _, _, _, infos = envs.step(actions)
            seen.append(observations)
        return seen

    np.testing.assert_array_equal(play(), play())


def test_illegal_actions_leave_everything_untouched() -> None:
    env = SelfPlay(cardgym.make("Chouine-v0"), [First()], seat=0)
    env.reset(seed=0)
    before = env.card_env.state.tobytes()
    with pytest.raises(IllegalAction, match="seat 0 may not take"):
        env.step(int(np.flatnonzero(~env.action_masks())[0]))
    assert env.card_env.state.tobytes() == before
    envs = VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=3), [First()], seat=0)
    with pytest.raises(ResetNeeded):
        envs.step(np.zeros(3, int))
    envs.reset(seed=0)
    before = envs.batch.states.tobytes()
    with pytest.raises(IllegalAction, match="game 0 of the batch"):
        envs.step(envs.action_masks().argmin(axis=1))
    assert envs.batch.states.tobytes() == before


def test_terminate_illegal_inside() -> None:
    env = SelfPlay(TerminateIllegal(cardgym.make("Chouine-v0")), [First()], seat=1)
    env.reset(seed=0)
    _, reward, over, _, info = env.step(int(np.flatnonzero(~env.action_masks())[0]))
    assert over
    assert reward == -1.0
    assert info["rewards"].tolist() == [0.0, -1.0]
    with pytest.raises(EpisodeOver):
        env.step(0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": []}, "at least one agent"),
        ({"opponents": [First()], "seat": 2}, "seat=2 is neither 'random' nor a seat from 0 to 1"),
        ({"opponents": [First()], "seat": "left"}, "seat='left'"),
        ({"opponents": [First()], "weights": [1, 2]}, "not 1 non-negative numbers"),
        ({"opponents": [First()], "weights": [-1]}, "not 1 non-negative numbers"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        SelfPlay(cardgym.make("Chouine-v0"), **arguments)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match=message):
        VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=2), **arguments)  # type: ignore[arg-type]


def test_wrong_environments() -> None:
    with pytest.raises(InvalidOption, match="SAME_STEP"):
        VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=2, autoreset_mode="NextStep"), [First()])
    envs = VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=2), [First()])
    with pytest.raises(InvalidOption, match="reset_mask"):
        envs.reset(seed=0, options={"reset_mask": np.ones(2, bool)})
