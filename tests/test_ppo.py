"""Native self-play PPO: small runs of the real thing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from run_checks import check_folder

import cardgym
from cardgym.baselines import gae, model_file
from cardgym.baselines.agents import Agent, Decisions, RandomAgent, load_agent
from cardgym.baselines.evaluate import evaluate
from cardgym.baselines.network import Network, NetworkAgent, Shape, masked_log_softmax
from cardgym.baselines.ppo import Learner, Settings, train
from cardgym.baselines.training import VALIDATION_DEAL, command_line, settings_from_file
from cardgym.batch import Batch
from cardgym.errors import CardGymError, InvalidOption, InvalidRecord, InvalidState

GAME = cardgym.load_game("chouine")
SMALL = replace(
    settings_from_file(Settings, "ppo", "chouine"),
    decisions=4096, num_games=32, steps=32, minibatch=256, epochs=2, network=(32,), precision="float32",
    curve_points=2, curve_deals=10, deals=20, record_games=3,
)  # fmt: skip
EVERYTHING = replace(SMALL, critic="state", pool_size=2, pool_every=1, pool_share=0.5, reference_weight=0.1)


def weights(path: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = torch.load(path, weights_only=True)["weights"]
    return found


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    train(replace(SMALL, out=folder), Console(file=(folder / "log.txt").open("w"), width=100))
    return folder


def test_training_writes_what_it_promises(run: Path) -> None:
    check_folder(run, "ppo", ".pt", [0, 2048, 4096], SMALL.deals)
    rows = (run / "progress.csv").read_text().splitlines()
    assert len(rows) == 1 + 4
    assert {"entropy", "policy_loss", "value_loss", "speed", "kl"} <= set(rows[0].split(","))
    log = (run / "log.txt").read_text()
    for word in ("entropy", "loss", "v random", "v rule"):
        assert word in log


def test_a_model_says_nothing_of_where_it_was_made(run: Path) -> None:
    for name in ("model.pt", "checkpoint.pt"):
        about = model_file.load(run / name).notes
        assert not {"out", "resume"} & about["settings"].keys()
        assert str(run) not in str(about)


def test_load_a_model_and_play(run: Path) -> None:
    """The three lines of the documentation, and the same play as at the end of training."""
    agent = load_agent(str(run / "model.pt"), GAME)
    batch = Batch(GAME, None, 8)
    batch.reset(range(8))
    actions = agent.act(Decisions(batch, np.arange(8)), np.random.default_rng(0))
    assert batch.mask[np.arange(8), actions].all()
    result = evaluate(GAME, GAME.options(), agent, RandomAgent(), deals=20)
    expected = json.loads((run / "results.json").read_text())[0]
    assert (result.win_rate, result.margin) == (expected["win_rate"], expected["margin"])
    assert isinstance(agent, NetworkAgent)
    assert agent.notes["settings"]["seed"] == 1


def test_policy_that_draws_is_reproducible(run: Path) -> None:
    agent = NetworkAgent.load(run / "model.pt", greedy=False)
    once, again = (evaluate(GAME, GAME.options(), agent, RandomAgent(), deals=10, seed=5) for _ in range(2))
    assert once == again
    assert once != evaluate(GAME, GAME.options(), agent, RandomAgent(), deals=10, seed=6)


def test_values_are_those_of_the_critic(run: Path) -> None:
    """As a search agent asks for them; a critic that sees all cards is never asked."""
    agent = NetworkAgent.load(run / "model.pt")
    learner = Learner(GAME, SMALL)
    learner.network = agent.network
    learner.games.collect(agent.network)
    found = agent.values(Decisions(learner.batch, np.arange(32)))
    orders = learner.games._look(seen := np.empty((32, 417), np.int8), np.empty((32, 0), np.int8))
    assert len(np.unique(orders)) > 1
    with torch.inference_mode():
        expected = agent.network(torch.from_numpy(seen))[1].numpy()
    np.testing.assert_array_equal(found, expected.astype(np.float64))
    assert agent.options == {**agent.options, "reward": "margin"}
    searching = load_agent(f"pimc-2-value@{run / 'model.pt'}", GAME)
    actions = searching.act(Decisions(learner.batch, np.arange(4)), np.random.default_rng(0))
    assert learner.batch.mask[np.arange(4), actions].all()
    privileged = Learner(GAME, EVERYTHING)
    with pytest.raises(InvalidOption, match="its critic sees all cards and is for training only"):
        privileged.player().values(Decisions(privileged.batch, np.arange(4)))


def test_learning_beats_random() -> None:
    """About 60 000 decisions are enough for a clear win; the same learner with shuffled advantages stays level."""
    settings = replace(
        SMALL, decisions=60_000, num_games=256, steps=32, minibatch=1024, epochs=3, network=(64,), learning_rate=3e-3
    )
    learner = Learner(GAME, settings)
    while learner.decisions < settings.decisions:
        learner.update()
    result = evaluate(GAME, GAME.options(), learner.player(), RandomAgent(), 200, VALIDATION_DEAL)
    assert result.win_rate - result.win_rate_half > 0.55
    assert result.margin - result.margin_half > 5


class Killed(BaseException):
    """What happens to a run."""


@pytest.mark.parametrize("settings", [SMALL, EVERYTHING], ids=["plain", "everything"])
def test_killed_and_resumed_ends_in_the_same_weights(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between a checkpoint and the next; what came after the checkpoint is done again, bit for bit."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(replace(settings, out=whole), Console(quiet=True))
    update, done = Learner.update, [0]

    def fragile(self: Learner) -> dict[str, float]:
        done[0] += 1
        if done[0] > 3:
            raise Killed
        return update(self)

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "update", fragile)
        with pytest.raises(Killed):
            train(replace(settings, out=broken), Console(quiet=True))
    at = torch.load(broken / "checkpoint.pt", weights_only=True)["training"]["decisions"]
    assert 0 < at < settings.decisions
    assert not (broken / "model.pt").exists()
    train(replace(settings, out=broken, resume=True), Console(quiet=True))
    assert same(weights(whole / "model.pt"), weights(broken / "model.pt"))
    assert (whole / "results.json").read_text() == (broken / "results.json").read_text()
    assert (whole / "curve.json").read_text() == (broken / "curve.json").read_text()
    columns = [[line.split(",")[:5] for line in (f / "progress.csv").read_text().splitlines()] for f in (whole, broken)]
    assert columns[0] == columns[1]


def test_another_seed_ends_elsewhere(run: Path, tmp_path: Path) -> None:
    """So the comparison above can fail."""
    train(replace(SMALL, out=tmp_path, seed=2), Console(quiet=True))
    assert not same(weights(run / "model.pt"), weights(tmp_path / "model.pt"))


def test_wrong_files_are_refused(run: Path, tmp_path: Path) -> None:
    whole = (run / "model.pt").read_bytes()

    def altered(name: str, change: Any) -> Path:
        found = torch.load(run / "model.pt", weights_only=True)
        change(found)
        torch.save(found, tmp_path / name)
        return tmp_path / name

    cut = tmp_path / "cut.pt"
    for length in (0, 100, len(whole) // 2, len(whole) - 10):
        cut.write_bytes(whole[:length])
        with pytest.raises(InvalidRecord, match=r"cut.pt: not a model, or cut short"):
            load_agent(str(cut), GAME)
    with pytest.raises(InvalidRecord, match=r"made for 'chouine', not for 'shukh'"):
        load_agent(str(run / "model.pt"), cardgym.load_game("shukh"))
    newer = altered("newer.pt", lambda f: f["notes"].update(format=99))
    with pytest.raises(InvalidRecord, match=r"a file of version 99, but cardgym .* reads version 1"):
        load_agent(str(newer), GAME)
    layout = altered("layout.pt", lambda f: f["notes"].update(fingerprint="0" * 16, cardgym="0.0.1"))
    with pytest.raises(InvalidRecord, match=r"made with cardgym 0.0.1 for another observation .* train it anew"):
        load_agent(str(layout), GAME)
    gone = altered("gone.pt", lambda f: f["notes"].update(game="whist"))
    with pytest.raises(InvalidRecord, match=r"made for a game that is not here: unknown game 'whist'"):
        NetworkAgent.load(gone)
    poor = altered("poor.pt", lambda f: [f["notes"].pop(name) for name in ("hidden", "options")])
    with pytest.raises(InvalidRecord, match=r"poor\.pt: its notes lack options, hidden"):
        load_agent(str(poor), GAME)
    flat = altered("flat.pt", lambda f: f.update(notes="none"))
    with pytest.raises(InvalidRecord, match="none of cardgym's models"):
        load_agent(str(flat), GAME)
    odd = altered("odd.pt", lambda f: f["notes"].update(hidden=[33]))
    with pytest.raises(InvalidRecord, match="its weights do not fit its notes"):
        load_agent(str(odd), GAME)
    foreign = tmp_path / "foreign.pt"
    torch.save({"state_dict": {}}, foreign)
    with pytest.raises(InvalidRecord, match="none of cardgym's models"):
        load_agent(str(foreign), GAME)
    code = tmp_path / "code.pt"
    torch.save({"notes": Path("x"), "weights": {}, "training": {}}, code)
    with pytest.raises(InvalidRecord, match="not a model, or cut short"):
        load_agent(str(code), GAME)
    with pytest.raises(InvalidRecord, match="there is no such file"):
        NetworkAgent.load(tmp_path / "none.pt")


def test_wrong_checkpoints_are_refused(run: Path, tmp_path: Path) -> None:
    def resume(**changes: Any) -> None:
        train(replace(SMALL, out=tmp_path, resume=True, **changes), Console(quiet=True))

    with pytest.raises(CardGymError, match="nothing to resume from"):
        resume()
    place = tmp_path / "checkpoint.pt"
    place.write_bytes((run / "model.pt").read_bytes())
    with pytest.raises(InvalidRecord, match="a finished model, no checkpoint"):
        resume()
    place.write_bytes((run / "checkpoint.pt").read_bytes())
    with pytest.raises(CardGymError, match=r"made with learning_rate=0.001, but now learning_rate=0.5; give the same"):
        resume(learning_rate=0.5)
    found = torch.load(place, weights_only=True)
    found["notes"]["cardgym"] = "0.0.1"
    torch.save(found, place)
    with pytest.raises(InvalidRecord, match=r"made with cardgym '0.0.1', here"):
        resume()


def test_an_agent_refuses_another_game(run: Path) -> None:
    agent = NetworkAgent.load(run / "model.pt")
    shukh = cardgym.load_game("shukh")
    batch = Batch(shukh, None, 2)
    batch.reset(range(2))
    with pytest.raises(InvalidRecord, match=r"a network for chouine .* cannot play shukh"):
        agent.act(Decisions(batch, np.arange(2)), np.random.default_rng(0))


def decisions_drawn(size: float) -> tuple[torch.Tensor, torch.Tensor, torch.Generator]:
    """Logits up to ``size`` and masks of 64 decisions among 5 actions; one allows a single action, one all."""
    generator = torch.Generator().manual_seed(0)
    logits = (size * (torch.rand(64, 5, generator=generator) * 2 - 1)).requires_grad_()
    mask = torch.rand(64, 5, generator=generator) < 0.5
    mask[:, 0] |= ~mask.any(dim=1)
    mask[0], mask[1] = torch.tensor([False, False, True, False, False]), True
    return logits, mask, generator


@pytest.mark.parametrize("size", [0.0, 1e4, 1e30, 1.5e38])
def test_masked_probabilities_are_safe_in_extreme_cases(size: float) -> None:
    """One legal action, all legal, logits as far apart as float32 goes: finite figures and gradients, exact zeros."""
    logits, mask, _ = decisions_drawn(size)
    log_all = masked_log_softmax(logits, mask)
    probabilities = log_all.exp() * mask
    assert torch.isfinite(log_all).all()
    torch.testing.assert_close(probabilities.sum(dim=1), torch.ones(64))
    assert log_all[0, 2] == 0
    log_all.sum().backward()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[~mask] == 0).all()
    action = mask.int().argmax(dim=1)
    zeros = np.zeros(64, np.float32)
    old = log_all.gather(1, action[:, None]).squeeze(1).detach().numpy()
    gain = np.linspace(-1, 1, 64).astype(np.float32)
    known = (logits.detach().numpy(), zeros, mask.numpy().astype(np.int8), action.numpy(), old, gain, zeros)
    gradients, _, figures = gae.loss(*known, None, 0.2, 0.5, 0.01, 0.0)
    assert np.isfinite(gradients).all()
    assert (gradients[~mask.numpy()] == 0).all()
    assert np.isfinite(figures).all()
    assert figures[gae.LOSSES.index("entropy")] >= 0


@pytest.mark.parametrize("reference_weight", [0.0, 0.3])
def test_the_loss_and_its_gradient_are_those_of_the_paper(reference_weight: float) -> None:
    """The compiled closed form beside torch's own derivation of the same loss, ratios inside and outside the clip."""
    clip, value_weight, entropy_weight = 0.2, 0.5, 0.03
    logits, mask, generator = decisions_drawn(3.0)
    values, target, advantage = (torch.randn(64, generator=generator) for _ in range(3))
    values.requires_grad_()
    log_all = masked_log_softmax(logits, mask)
    action = torch.multinomial(log_all.detach().exp() * mask, 1, generator=generator).squeeze(1)
    taken = log_all.gather(1, action[:, None]).squeeze(1)
    old = (taken + 0.4 * torch.randn(64, generator=generator)).detach()
    reference = masked_log_softmax(torch.randn(64, 5, generator=generator), mask)

    ratio = (taken - old).exp()
    gain = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
    probabilities = log_all.exp() * mask
    terms = {
        "policy_loss": -torch.minimum(ratio * gain, ratio.clamp(1 - clip, 1 + clip) * gain).mean(),
        "value_loss": (values - target).square().mean(),
        "entropy": -(probabilities * log_all).sum(1).mean(),
        "kl": (ratio - 1 - (taken - old)).mean(),
        "clipped": ((ratio - 1).abs() > clip).float().mean(),
        "reference_kl": (probabilities * (log_all - reference)).sum(1).mean(),
    }
    whole = terms["policy_loss"] + value_weight * terms["value_loss"] - entropy_weight * terms["entropy"]
    (whole + reference_weight * terms["reference_kl"]).backward()
    assert 0.2 < terms["clipped"] < 0.8, "both sides of the bounds are met"

    known = (logits, values, mask.to(torch.int8), action, old, advantage, target, reference)
    arrays = [x.detach().numpy() for x in known]
    by_logits, by_values, figures = gae.loss(*arrays, clip, value_weight, entropy_weight, reference_weight)
    assert logits.grad is not None
    assert values.grad is not None
    np.testing.assert_allclose(by_logits, logits.grad.numpy(), atol=1e-7)
    np.testing.assert_allclose(by_values, values.grad.numpy(), atol=1e-7)
    for name, figure in zip(gae.LOSSES, figures, strict=True):
        expected = terms[name].item() if name != "reference_kl" or reference_weight else 0.0
        assert figure == pytest.approx(expected, abs=1e-5), name


def test_drawing_and_learning_agree_on_probabilities() -> None:
    """The ratio of the first gradient step is one: the log-probabilities of compiled and torch code are the same."""
    learner = Learner(GAME, replace(SMALL, epochs=1, minibatch=1024, learning_rate=0.0, final_learning_rate=0.0))
    figures = learner.update()
    assert abs(figures["kl"]) < 1e-6
    assert figures["clipped"] == 0


def test_rollout_is_the_game() -> None:
    """What the learner stores is what single environments show: canonical observations, masks, rewards by seat."""
    settings = replace(SMALL, num_games=3, steps=60, minibatch=32, critic="state")
    learner = Learner(GAME, settings)
    learner.games.collect(learner.network)
    r = learner.games.rollout
    suits = cardgym.suits.SuitRelabelling(GAME)
    for n in range(3):
        env = cardgym.make("Chouine-v0", encodings=("observation", "state"), reward="margin")
        seen, info = env.reset(seed=settings.seed + n)
        for t in range(60):
            order = suits.orders(seen["observation"][None])
            for name, stored in (("observation", r.observation), ("state", r.state)):
                np.testing.assert_array_equal(stored[t, n], suits.encoding(name, seen[name][None], order)[0])
            np.testing.assert_array_equal(r.mask[t, n], suits.mask(seen["action_mask"][None], order)[0])
            assert r.player[t, n] == info["player"]
            seen, _, over, _, info = env.step(int(suits.actions(r.action[t, n][None], order)[0]))
            np.testing.assert_array_equal(r.rewards[t, n], info["rewards"])
            assert r.over[t, n] == over
            if over:
                seen, info = env.reset()
    assert r.over.sum() >= 3
    assert r.learner.all()


def test_opponents_play_their_seats_only() -> None:
    class First:
        """Takes the first legal action and counts."""

        name, asked = "first", 0

        def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
            self.asked += len(decisions)
            return decisions.mask.argmax(axis=1)

    opponent: Agent = First()
    learner = Learner(GAME, replace(SMALL, canonical_suits=False), opponent)
    learner.update()
    r = learner.games.rollout
    assert opponent.asked == (~r.learner).sum() == r.learner.size - learner.decisions
    assert 0.4 < r.learner.mean() < 0.6
    teams = {(n, int(p)) for n in range(32) for p in r.player[:10, n][r.learner[:10, n]]}
    assert len(teams) == 32  # one seat of each game, in its first ten decisions
    assert {p for _, p in teams} == {0, 1}


def test_pool_and_reference() -> None:
    learner = Learner(GAME, EVERYTHING)
    first = learner.update()
    assert learner.games.opponent is None  # nobody yet
    assert first["reference_kl"] == pytest.approx(0.0, abs=1e-3)
    for _ in range(3):
        figures = learner.update()
    assert len(learner.pool) == 2
    assert isinstance(learner.games.opponent, NetworkAgent)
    assert figures["reference_kl"] > first["reference_kl"]
    assert 0.2 < (~learner.games.rollout.learner).mean() < 0.3  # half of the seats of half of the games
    mean, now = (list(n.parameters()) for n in (learner.reference, learner.network))
    assert all(not torch.equal(a, b) for a, b in zip(mean, now, strict=True))


def test_schedules() -> None:
    settings = replace(SMALL, learning_rate=1e-3, final_learning_rate=1e-4, decisions=3072)
    learner = Learner(GAME, settings)
    rates = [learner.update()["learning_rate"] for _ in range(3)]
    assert rates == pytest.approx([1e-3, 1e-4 + 9e-4 * 2 / 3, 1e-4 + 9e-4 / 3])


def test_the_state_is_the_critics_alone() -> None:
    """A privileged critic changes values, never the policy: logits need no state."""
    options = GAME.options()
    network = Network(GAME, options, Shape((16,), "state"), torch.Generator().manual_seed(0))
    seen = torch.zeros(2, 417, dtype=torch.int8)
    size = GAME.layouts(options)["state"].size
    states = [torch.zeros(2, size, dtype=torch.int8), torch.ones(2, size, dtype=torch.int8)]
    (logits, value), (again, other) = (network(seen, s) for s in states)
    assert torch.equal(logits, again)
    assert torch.equal(logits, network.prepared().logits(seen))
    assert (value != other).all()


def test_bfloat16_is_close_to_float32() -> None:
    pair = [Learner(GAME, replace(SMALL, precision=p)) for p in ("float32", "bfloat16")]
    for learner in pair:
        learner.games.collect(learner.network)
    first, second = (learner.games.rollout.value[0] for learner in pair)
    np.testing.assert_allclose(first, second, atol=0.05)
    assert (first != second).any()


def test_settings_are_checked() -> None:
    for changes, message in (
        ({"critic": "both"}, "critic='both' is not one of 'shared', 'separate', 'state'"),
        ({"network": ()}, r"network=\[\] is no list of widths"),
        ({"precision": "float8"}, "precision='float8' is not one of"),
        ({"minibatch": 5000}, r"minibatch=5000 is more than an update holds, num_games \* steps = 1024"),
        ({"pool_share": 1.5}, "pool_share=1.5 is not between 0 and 1"),
        ({"device": "tpu"}, "device='tpu' is neither 'cpu' nor 'cuda'"),
        ({"seed": VALIDATION_DEAL - 31}, "games would reach the deals kept for evaluation"),
        ({"seed": -1}, "games would reach the deals kept for evaluation"),
        ({"steps": 1, "minibatch": 8}, "steps=1: no decision was followed by another of its seat"),
        ({"epochs": 0}, "epochs=0 is not a number of at least 1"),
        ({"options": {"reward": "point"}}, "option reward='point' is not one of"),
    ):
        with pytest.raises(InvalidOption, match=message):
            Learner(GAME, replace(SMALL, **changes)).update()  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="pool_size=2: past networks are for self-play"):
        Learner(GAME, EVERYTHING, RandomAgent())
    with pytest.raises(CardGymError, match=r"no configuration ppo_whist.toml"):
        settings_from_file(Settings, "ppo", "whist")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_named() -> None:
    with pytest.raises(InvalidOption, match="device='cuda', but torch finds no GPU here"):
        replace(SMALL, device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_learning_on_a_gpu() -> None:
    learner = Learner(GAME, replace(EVERYTHING, device="cuda"))
    for _ in range(3):
        figures = learner.update()
    assert all(np.isfinite(v) for v in figures.values())


def test_batch_restore_refuses_what_is_not_under_way() -> None:
    batch = Batch(GAME, None, 2)
    batch.reset(range(2))
    saved = batch.states.copy()
    saved["over"] = 1
    with pytest.raises(InvalidState, match="not the states of 2 games under way"):
        batch.restore(saved)
    with pytest.raises(InvalidState, match="not the states of 2 games under way"):
        batch.restore(batch.states[:1].copy())


@pytest.mark.parametrize("arguments", [["--game", "chuine"], ["--game=chuine"]])
def test_command_line_names_the_game(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["ppo", *arguments])
    with pytest.raises(SystemExit, match=r"error: unknown game 'chuine'. Did you mean 'chouine'\?"):
        command_line(Settings, "ppo", train)


@pytest.mark.parametrize("arguments", [["--game", "shukh"], ["--seed", "3", "--game=shukh"]])
def test_command_line_takes_the_settings_of_the_game(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Settings] = []
    monkeypatch.setattr("sys.argv", ["ppo", *arguments, "--entropy", "0.5"])
    command_line(Settings, "ppo", lambda settings, console: taken.append(settings))
    file = settings_from_file(Settings, "ppo", "shukh")
    assert taken == [replace(file, entropy=0.5, seed=taken[0].seed)]
    assert taken[0].canonical_suits is False


def test_fingerprint_follows_the_layout() -> None:
    shukh = cardgym.load_game("shukh")
    prints = {
        model_file.fingerprint(g, g.options.of(**o)) for g, o in ((GAME, {}), (GAME, {"episode": "match"}), (shukh, {}))
    }
    assert len(prints) == 2
