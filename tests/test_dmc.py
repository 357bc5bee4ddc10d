"""Deep Monte Carlo and the exploiter: small runs of the real thing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

import cardgym
from cardgym.baselines import dmc, exploit
from cardgym.baselines.agents import Decisions, RandomAgent, load_agent
from cardgym.baselines.evaluate import FIRST_DEAL, evaluate
from cardgym.baselines.network import NetworkAgent
from cardgym.baselines.training import VALIDATION_DEAL, settings_from_file
from cardgym.batch import Batch
from cardgym.errors import InvalidOption, InvalidRecord

CHOUINE, SHUKH = cardgym.load_game("chouine"), cardgym.load_game("shukh")
SMALL = replace(
    settings_from_file(dmc.Settings, "dmc", "chouine"),
    decisions=4000, num_games=24, minibatch=256, network=(32,), precision="float32",
    curve_points=2, curve_deals=6, deals=6, record_games=1,
)  # fmt: skip
RESPONSE = replace(
    settings_from_file(exploit.Settings, "exploit", "chouine"),
    decisions=60_000, num_games=128, steps=32, minibatch=1024, network=(64,), precision="float32",
    learning_rate=3e-3, curve_points=2, curve_deals=10, deals=200,
)  # fmt: skip


def weights(path: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = torch.load(path, weights_only=True)["weights"]
    return found


class Killed(BaseException):
    """What happens to a run."""


def test_killed_and_resumed_ends_in_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    dmc.train(replace(SMALL, out=whole), Console(quiet=True))
    update = dmc.Learner.update

    def fragile(self: dmc.Learner) -> dict[str, float]:
        if self.decisions > SMALL.decisions // 2 and (broken / "checkpoint.pt").exists():
            raise Killed
        return update(self)

    with monkeypatch.context() as patch:
        patch.setattr(dmc.Learner, "update", fragile)
        with pytest.raises(Killed):
            dmc.train(replace(SMALL, out=broken), Console(quiet=True))
    dmc.train(replace(SMALL, out=broken, resume=True), Console(quiet=True))
    first, second = (weights(folder / "model.pt") for folder in (whole, broken))
    assert all(torch.equal(first[k], second[k]) for k in first)
    assert (whole / "results.json").read_text() == (broken / "results.json").read_text()
    names = {p.name for p in whole.iterdir()}
    assert {"model.pt", "checkpoint.pt", "curve.png", "curve.json", "results.json", "games.jsonl"} <= names


def test_gains_are_what_the_seat_got() -> None:
    """Every decision is credited with the rewards that its own seat got afterwards: against single environments."""
    learner = dmc.Learner(SHUKH, replace(SMALL, game="shukh", num_games=4, canonical_suits=False, options={}))
    experience = learner._play(0.3)
    envs = [cardgym.make("Shukh-v0") for _ in range(4)]
    infos = [env.reset(seed=SMALL.seed + n)[1] for n, env in enumerate(envs)]
    going, place = [0, 1, 2, 3], 0
    seats: list[tuple[int, int]] = []
    gained = np.zeros((4, 4))
    before: list[float] = []
    while going:
        for n in list(going):
            seat = infos[n]["player"]
            seats.append((n, seat))
            before.append(gained[n, seat])
            _, _, over, _, infos[n] = envs[n].step(int(experience.action[place]))
            gained[n] += infos[n]["rewards"]
            place += 1
            if over:
                going.remove(n)
    assert place == len(experience.gain)
    expected_gains = [gained[n, seat] - b for (n, seat), b in zip(seats, before, strict=True)]
    np.testing.assert_allclose(experience.gain, expected_gains, rtol=1e-6)
    assert len({round(float(g), 6) for g in expected_gains}) > 1
    assert not learner.batch.over.any()  # the next games are dealt


def test_estimates_approach_the_gains() -> None:
    """The loss falls below what the best constant reaches, and the greedy policy beats random play."""
    settings = replace(
        settings_from_file(dmc.Settings, "dmc", "chouine"),
        decisions=120_000, num_games=256, network=(64,), learning_rate=3e-3, precision="float32",
    )  # fmt: skip
    learner = dmc.Learner(CHOUINE, settings)
    while learner.decisions < settings.decisions:
        figures = learner.update()
    assert figures["loss"] < 0.9 * figures["spread"]
    result = evaluate(CHOUINE, CHOUINE.options(), learner.player(), RandomAgent(), 200, VALIDATION_DEAL)
    assert result.win_rate - result.win_rate_half > 0.55
    assert result.margin - result.margin_half > 5


def test_values_are_not_drawn_from(tmp_path: Path) -> None:
    learner = dmc.Learner(CHOUINE, SMALL)
    learner.save(tmp_path / "checkpoint.pt")
    agent = load_agent(str(tmp_path / "checkpoint.pt"), CHOUINE)
    batch = Batch(CHOUINE, None, 3)
    batch.reset(range(3))
    assert batch.mask[np.arange(3), agent.act(Decisions(batch, np.arange(3)), np.random.default_rng(0))].all()
    with pytest.raises(InvalidOption, match="values of actions, not a policy to draw from"):
        NetworkAgent.load(tmp_path / "checkpoint.pt", greedy=False)
    with pytest.raises(InvalidOption, match="values of actions, not a policy to draw from"):
        load_agent(f"sampled:{tmp_path / 'checkpoint.pt'}", CHOUINE)
    seen, masks, _ = agent._look(Decisions(batch, np.arange(3)))  # type: ignore[attr-defined]
    best = np.where(masks, learner.network.prepared().logits(seen).numpy(), -np.inf).max(axis=1)
    np.testing.assert_array_equal(agent.values(Decisions(batch, np.arange(3))), best)  # type: ignore[attr-defined]


def test_checkpoints_of_the_other_learner_are_refused(tmp_path: Path) -> None:
    dmc.Learner(CHOUINE, SMALL).save(tmp_path / "checkpoint.pt")
    with pytest.raises(InvalidRecord, match="made with algorithm 'dmc', here 'ppo'"):
        exploit.train(replace(RESPONSE, out=tmp_path, target="random", resume=True), Console(quiet=True))


def test_settings_are_checked() -> None:
    with pytest.raises(InvalidOption, match=r"final_epsilon=-0.1 is not between 0 and 1"):
        replace(SMALL, final_epsilon=-0.1)


def test_exploiter_beats_a_weak_target(tmp_path: Path) -> None:
    """A bound clear of zero against random play, on held-out deals, and its parts agree with each other."""
    log = tmp_path / "log.txt"
    with log.open("w") as file:
        bound = exploit.train(replace(RESPONSE, out=tmp_path, target="random"), Console(file=file, width=120))
    assert bound.gain - bound.gain_half > 0.05
    assert bound.result.first_deal == FIRST_DEAL
    assert bound.result.deals == 200
    won = bound.result.win_rate * bound.result.decided
    assert bound.gain == pytest.approx((2 * won - bound.result.decided) / bound.result.games)
    found = json.loads((tmp_path / "exploit.json").read_text())
    assert (found["target"], found["decisions"]) == ("random", bound.decisions)
    assert found["gain"] == bound.gain
    curve = json.loads((tmp_path / "curve.json").read_text())
    assert {(r["against"], r["first_deal"]) for p in curve for r in p["results"]} == {("random", VALIDATION_DEAL)}
    assert "random can be exploited by at least +" in log.read_text()
    assert load_agent(str(tmp_path / "model.pt"), CHOUINE).name == "model"


def test_exploiter_starts_from_a_model(tmp_path: Path) -> None:
    first = exploit.ppo.Learner(CHOUINE, RESPONSE)
    first.save(tmp_path / "start.pt")
    other = exploit.ppo.Learner(CHOUINE, replace(RESPONSE, seed=2))
    exploit.started(other, str(tmp_path / "start.pt"))
    pairs = zip(first.network.state_dict().values(), other.network.state_dict().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    wider = exploit.ppo.Learner(CHOUINE, replace(RESPONSE, network=(96,)))
    with pytest.raises(InvalidOption, match=r"was made with hidden=\[64\], not \[96\]; give the same"):
        exploit.started(wider, str(tmp_path / "start.pt"))
    with pytest.raises(InvalidOption, match="start='rule' is not the model of a native learner"):
        exploit.started(other, "rule")
