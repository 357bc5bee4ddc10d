"""The examples, each run small: every door to another library opens."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import cardgym
from cardgym.errors import InvalidAction

ROOT = Path(__file__).parent.parent


def example(name: str, *needs: str) -> ModuleType:
    """An example as a module; the test is skipped where a library that it needs is not installed."""
    for module in needs:
        pytest.importorskip(module)
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_pettingzoo() -> None:
    run = example("pettingzoo_play", "pettingzoo")
    means = run.main(run.Arguments(games=3, seed=1))
    assert sum(means.values()) == 0
    assert any(means.values())


def test_sb3(capsys: pytest.CaptureFixture[str]) -> None:
    run = example("sb3_against_rule_bot", "sb3_contrib")
    won = run.main(run.Arguments(decisions=2048, games=16, test_games=50))
    assert 0.2 < won < 0.95
    assert "MaskablePPO: 100 %" in capsys.readouterr().err


def test_openspiel_ismcts() -> None:
    run = example("openspiel_ismcts", "pyspiel")
    assert run.main(run.Arguments(games=1, simulations=3)) in (-1.0, 0.0, 1.0)


@pytest.mark.long
def test_openspiel_exact() -> None:
    run = example("openspiel_exact", "pyspiel")
    uniform, trained = run.main(run.Arguments())
    assert uniform == pytest.approx(0.5463, abs=1e-4)
    assert 0 <= trained < 0.001


@pytest.mark.long
def test_openspiel_ismcts_beats_random_play() -> None:
    run = example("openspiel_ismcts", "pyspiel")
    assert run.main(run.Arguments(games=12, simulations=30)) > 0


@pytest.mark.long
def test_torchrl() -> None:
    run = example("torchrl_rollout", "torchrl")
    returns = np.array([one.tolist() for one in run.main(run.Arguments(games=5))])
    assert (returns.sum(axis=1) == 0).all()
    assert (np.abs(returns) == 1).any()


@pytest.mark.long
def test_tianshou() -> None:
    run = example("tianshou_play", "tianshou")
    returns = run.main(run.Arguments(games=5))
    assert returns.shape == (5, 2)
    assert (returns.sum(axis=1) == 0).all()
    assert (np.abs(returns) == 1).any()


@pytest.mark.long
def test_rllibs_form_of_an_environment() -> None:
    """The same game as the environment's: one agent to act, rewards to all, everybody's observation at the end."""
    pytest.importorskip("ray.rllib")
    from cardgym.wrappers import RLlibEnv

    env, same = RLlibEnv({"env": "cardgym/Tarot-v0", "contract": "garde"}), cardgym.make("Tarot-v0", contract="garde")
    observations, _ = env.reset(seed=3)
    seen, info = same.reset(seed=3)
    high = np.maximum(1, env.card_env.layouts["observation"].high)
    over = False
    while not over:
        agent = f"player_{info['player']}"
        assert list(observations) == [agent]
        assert env.observation_spaces[agent].contains(observations[agent])
        np.testing.assert_allclose(observations[agent]["observations"] * high, seen["observation"], atol=1e-4)
        assert observations[agent]["action_mask"].tolist() == seen["action_mask"].tolist()
        with pytest.raises(InvalidAction, match=f"expected an action of {agent}"):
            env.step({"player_9": 0})
        action = int(seen["action_mask"].argmax())
        observations, rewards, ended, cut, infos = env.step({agent: action})
        seen, _, over, _, info = same.step(action)
        assert list(rewards.values()) == info["rewards"].tolist()
        assert (ended, cut) == ({"__all__": over}, {"__all__": False})
    assert list(observations) == list(infos) == env.possible_agents
    assert not any(observation["action_mask"].any() for observation in observations.values())
    assert any(rewards.values())


@pytest.mark.long
def test_rllib(capsys: pytest.CaptureFixture[str]) -> None:
    run = example("rllib_self_play", "ray.rllib")
    won = run.main(run.Arguments(iterations=2, batch=400, deals=50))
    assert 20 < won < 95
    assert "by 2 workers" in capsys.readouterr().out


def test_every_example_is_tested_and_on_the_page() -> None:
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    tested, page = Path(__file__).read_text(), (ROOT / "docs" / "ecosystem.md").read_text()
    assert {name for name in names if f'example("{name}"' not in tested} == set()
    assert {name for name in names if f"examples/{name}.py" not in page} == set()
