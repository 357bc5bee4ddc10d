"""SB3 form and the PPO training script: small runs of the real thing."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from run_checks import check_folder
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

import cardgym
from cardgym.baselines.agents import RandomAgent, RuleAgent, load_agent
from cardgym.baselines.evaluate import evaluate
from cardgym.baselines.ppo_sb3 import Settings, train
from cardgym.baselines.sb3_agent import SB3Agent
from cardgym.baselines.training import command_line, settings_from_file
from cardgym.errors import CardGymError, InvalidOption, InvalidRecord
from cardgym.wrappers import SB3VecEnv, SelfPlay, VectorCanonicalSuits, VectorSelfPlay

GAME = cardgym.load_game("chouine")
SMALL = replace(
    settings_from_file(Settings, "ppo_sb3", "chouine"),
    decisions=2048, num_games=32, steps=16, minibatch=256, epochs=2, network=(32,), curve_points=2,
    curve_deals=10, deals=20, record_games=3,
)  # fmt: skip


def sb3_env(n: int = 4, seed: int = 50, **kwargs: object) -> SB3VecEnv:
    envs = VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=n), [RuleAgent(GAME)], seat=0)
    return SB3VecEnv(envs, seed=seed, **kwargs)  # type: ignore[arg-type]


def test_sb3_form_is_the_same_game() -> None:
    """Observations, masks, rewards and terminal observations equal those of single environments."""
    n = 5
    env = sb3_env(n)
    singles = [SelfPlay(cardgym.make("Chouine-v0"), [RuleAgent(GAME)], seat=0) for _ in range(n)]
    observations = env.reset()
    seen = [e.reset(seed=50 + i)[0] for i, e in enumerate(singles)]
    ends = 0
    for _ in range(50):
        np.testing.assert_array_equal(observations, seen)
        masks = get_action_masks(env)
        np.testing.assert_array_equal(masks, [e.action_masks() for e in singles])
        actions = np.array([np.flatnonzero(m)[-1] for m in masks])
        observations, rewards, dones, infos = env.step(actions)
        assert rewards.dtype == np.float32
        for i, e in enumerate(singles):
            seen[i], reward, over, _, info = e.step(actions[i])
            assert (rewards[i], dones[i]) == (np.float32(reward), over)
            if over:
                ends += 1
                np.testing.assert_array_equal(infos[i]["terminal_observation"], seen[i])
                np.testing.assert_array_equal(infos[i]["scores"], info["scores"])
                assert infos[i]["TimeLimit.truncated"] is False
                assert infos[i]["learner"] == 0
                seen[i], _ = e.reset()
            else:
                assert infos[i] == {}
    assert ends >= n


def test_sb3_vec_env_protocol() -> None:
    env = sb3_env()
    assert is_masking_supported(env)
    assert env.has_attr("action_masks")
    assert not env.has_attr("no_such_thing")
    with pytest.raises(AttributeError):
        env.get_attr("no_such_thing")
    with pytest.raises(AttributeError):
        env.env_method("no_such_thing")
    env.reset()
    assert env.env_method("action_masks").shape == (4, 51)
    assert env.env_method("action_masks", indices=[1, 3]).shape == (2, 51)
    assert len(env.get_attr("learner")) == 4
    assert env.env_is_wrapped(SelfPlay) == [False] * 4
    with pytest.raises(ValueError, match="share their attributes"):
        env.set_attr("anything", 1, indices=[0])
    first = env.reset()
    env.seed(50)
    again = env.reset()
    assert (first != again).any()
    env.seed(50)
    np.testing.assert_array_equal(env.reset(), again)
    with pytest.raises(TypeError, match="wraps VectorSelfPlay"):
        SB3VecEnv(cardgym.make_vec("Chouine-v0", num_envs=2))
    env.close()


def test_monitor_and_normalize_on_top() -> None:
    env = VecNormalize(VecMonitor(sb3_env(8)), norm_obs=True, norm_reward=False)
    env.reset()
    episodes = []
    for _ in range(40):
        masks = get_action_masks(env)
        observations, _, dones, infos = env.step(masks.argmax(axis=1))
        assert observations.dtype == np.float32
        for done, info in zip(dones, infos, strict=True):
            assert ("episode" in info) == done
            if done:
                episodes.append(info["episode"]["r"])
                assert info["terminal_observation"].shape == observations.shape[1:]
    assert len(episodes) >= 8
    assert set(np.abs(episodes)) <= {0.0, 1.0}


def test_plain_maskable_ppo_learns_on_both_forms() -> None:
    """What a user of sb3-contrib writes, without our script: vector form and single form."""
    for env in (
        SB3VecEnv(VectorCanonicalSuits(sb3_env(8).env)),
        SelfPlay(cardgym.make("Chouine-v0"), [RandomAgent()]),
    ):
        model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, seed=0)
        before = [p.clone() for p in model.policy.parameters()]
        model.learn(256)
        after = list(model.policy.parameters())
        assert any((a != b).any() for a, b in zip(after, before, strict=True))
        assert all(torch.isfinite(p).all() for p in after)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    train(replace(SMALL, out=folder), Console(file=(folder / "log.txt").open("w"), width=100))
    return folder


def test_training_writes_what_it_promises(run: Path) -> None:
    check_folder(run, "ppo", ".zip", [0, 1024, 2048], SMALL.deals)


def test_training_is_reproducible(run: Path, tmp_path: Path) -> None:
    train(replace(SMALL, out=tmp_path), Console(quiet=True))
    assert (tmp_path / "results.json").read_text() == (run / "results.json").read_text()
    first, second = (MaskablePPO.load(p / "model.zip").policy.state_dict() for p in (run, tmp_path))
    assert all(torch.equal(first[k], second[k]) for k in first)


def test_saved_model_plays_the_same(run: Path) -> None:
    agent = load_agent(str(run / "model.zip"), GAME)
    result = evaluate(GAME, GAME.options(), agent, RandomAgent(), deals=20)
    expected = json.loads((run / "results.json").read_text())[0]
    assert result.win_rate == expected["win_rate"]
    assert result.margin == expected["margin"]


def test_policy_that_draws_is_reproducible_and_lawful(run: Path) -> None:
    agent = SB3Agent.load(run / "model.zip", GAME, greedy=False)
    once, again = (evaluate(GAME, GAME.options(), agent, RandomAgent(), deals=10, seed=5) for _ in range(2))
    assert once == again
    assert once != evaluate(GAME, GAME.options(), agent, RandomAgent(), deals=10, seed=6)


def test_resume_goes_on_from_the_checkpoint(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "resumed"
    with pytest.raises(CardGymError, match="nothing to resume from"):
        train(replace(SMALL, out=folder, resume=True), Console(quiet=True))
    (folder / "checkpoint.zip").write_bytes((run / "checkpoint.zip").read_bytes())
    was = MaskablePPO.load(folder / "checkpoint.zip")
    assert 0 < was.num_timesteps < SMALL.decisions
    train(replace(SMALL, out=folder, resume=True, decisions=4096), Console(quiet=True))
    now = MaskablePPO.load(folder / "model.zip")
    assert now.num_timesteps == 4096
    decisions = [p["decisions"] for p in json.loads((folder / "curve.json").read_text())]
    assert decisions[:2] == [0, 1024]
    assert decisions[-1] == 4096
    with pytest.raises(CardGymError, match=r"made with learning_rate=0.001, but now learning_rate=0.5"):
        train(replace(SMALL, out=folder, resume=True, learning_rate=0.5), Console(quiet=True))


def test_wrong_checkpoints_are_refused(run: Path, tmp_path: Path) -> None:
    model = run / "model.zip"
    cut = tmp_path / "cut.zip"
    cut.write_bytes(model.read_bytes()[:1000])
    with pytest.raises(InvalidRecord, match=r"cut.zip: not a readable model"):
        load_agent(str(cut), GAME)
    foreign = tmp_path / "foreign.zip"
    with zipfile.ZipFile(model) as source, zipfile.ZipFile(foreign, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, data.replace(b'"game": "chouine"', b'"game": "avinas"') if name == "data" else data)
    with pytest.raises(InvalidRecord, match=r"made for game 'avinas', but chouine here has 'chouine'"):
        load_agent(str(foreign), GAME)
    other = tmp_path / "other.zip"
    MaskablePPO("MlpPolicy", SelfPlay(cardgym.make("Chouine-v0"), [RandomAgent()])).save(other)
    with pytest.raises(InvalidRecord, match="without cardgym's notes"):
        load_agent(str(other), GAME)


def test_settings(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidOption, match=r"minibatch=300 does not divide num_games \* steps = 512"):
        train(replace(SMALL, minibatch=300), Console(quiet=True))
    with pytest.raises(CardGymError, match=r"no configuration ppo_sb3_whist.toml"):
        settings_from_file(Settings, "ppo_sb3", "whist")
    assert isinstance(settings_from_file(Settings, "ppo_sb3", "chouine"), Settings)
    monkeypatch.setattr("sys.argv", ["ppo_sb3", "--game", "chuine"])
    with pytest.raises(SystemExit, match=r"error: unknown game 'chuine'. Did you mean 'chouine'\?"):
        command_line(Settings, "ppo_sb3", train)


@pytest.mark.parametrize("missing", ["torch", "sb3_contrib", "matplotlib"])
def test_missing_extra_is_named_in_one_line(missing: str) -> None:
    program = f"""
import runpy, sys
sys.modules[{missing!r}] = None
runpy.run_module("cardgym.baselines.ppo_sb3", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"error: this needs {missing!r}, which is not installed: pip install 'cardgym[train]'\n"


@pytest.mark.long
def test_shipped_settings_reach_their_band(tmp_path: Path) -> None:
    """What ``make train`` promises: 90 % of decided deals against random, over 2 000 duplicate deals."""
    results = train(replace(settings_from_file(Settings, "ppo_sb3", "chouine"), out=tmp_path), Console())
    assert results[0].against == "random"
    assert results[0].win_rate >= 0.90
    assert results[1].win_rate >= 0.50
    assert results[2].win_rate >= 0.87
