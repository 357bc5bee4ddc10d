"""Evaluation: the arithmetic, duplicate deals, and what the command writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cardgym
from cardgym import records
from cardgym.baselines import evaluate as module
from cardgym.baselines.agents import Decisions, RandomAgent, RuleAgent
from cardgym.baselines.evaluate import (
    FIRST_DEAL,
    Z95,
    Arguments,
    Games,
    Part,
    detectable,
    evaluate,
    game_and_options,
    mirrored,
    play_duplicate,
    ratio_interval,
    summarise,
    write_records,
)
from cardgym.errors import UnknownGame

GAME = cardgym.load_game("chouine")
OPTIONS = GAME.options()


class Fixed:
    """Plays the last legal action."""

    name = "last"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return decisions.mask.shape[1] - 1 - decisions.mask[:, ::-1].argmax(axis=1)


def test_summary_of_a_case_worked_out_by_hand() -> None:
    """Three deals: won twice, split, won once with a tie."""
    rewards = np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 1.0]])
    margins = np.array([[10.0, 30.0], [4.0, -4.0], [0.0, 20.0]])
    scores = np.array([[70.0, 80.0], [50.0, 60.0], [60.0, 70.0]])
    roles = [["dealer", "other"], ["dealer", "other"], ["single", "other"]]
    r = summarise(Games(rewards, -rewards, rewards > 0, rewards < 0, scores, margins, roles), "a", "b", 7, 0)
    assert (r.deals, r.games, r.decided) == (3, 6, 5)
    assert r.win_rate == pytest.approx(4 / 5)
    # residuals won - 0.8 * decided: 0.4, -0.6, 0.2; their variance 0.28; sqrt(3 * 0.28) / 5
    assert r.win_rate_half == pytest.approx(1.959964 * np.sqrt(0.84) / 5)
    assert r.win_rate_detectable == pytest.approx((1.959964 + 0.841621) * np.sqrt(0.84) / 5)
    assert r.reward == pytest.approx(0.5)
    assert r.reward_half == pytest.approx(1.959964 * 0.5 / np.sqrt(3))
    assert r.margin == pytest.approx(10.0)
    assert r.margin_half == pytest.approx(1.959964 * 10 / np.sqrt(3))
    assert r.by_seat == (1.0, pytest.approx(2 / 3))
    assert r.score == pytest.approx(65.0)
    assert r.score_half == pytest.approx(1.959964 * 10 / np.sqrt(3))
    assert r.roles["dealer"] == Part(2, 60.0, pytest.approx(1.959964 * np.sqrt(3 * 100) / 2))
    assert (r.roles["other"].games, r.roles["other"].score) == (3, 70.0)
    assert r.roles["single"] == Part(1, 60.0, None)


def test_detectable_difference_is_found_in_four_experiments_of_five() -> None:
    generator = np.random.default_rng(0)
    deals = 400
    half = Z95 * 1.3 / np.sqrt(deals)
    means = detectable(half) + generator.normal(0, 1.3 / np.sqrt(deals), 20_000)
    assert (means > half).mean() == pytest.approx(0.8, abs=0.01)


def test_every_game_compares_a_seat_with_all_others() -> None:
    """Four places of Shukh: the first is ahead of three, the last behind three; equal play gives one half."""
    game = cardgym.load_game("shukh")
    played = play_duplicate(game, game.options(), RuleAgent(game), RuleAgent(game), range(40))
    assert played.rewards.shape == (40, 4)
    np.testing.assert_array_equal(played.ahead + played.behind, 3)
    np.testing.assert_allclose(played.rewards, (played.ahead - played.behind) / 3)
    np.testing.assert_allclose(played.others, -played.rewards / 3)
    np.testing.assert_array_equal(played.scores, 4 - played.ahead)
    np.testing.assert_array_equal(played.ahead.sum(axis=1), 6)
    assert summarise(played, "a", "b", 0, 0).win_rate == 0.5


def test_mirrored_games_are_those_of_the_other_agent() -> None:
    last = Fixed()
    there = play_duplicate(GAME, OPTIONS, RuleAgent(GAME), last, range(60))
    back = play_duplicate(GAME, OPTIONS, last, RuleAgent(GAME), range(60))
    for name in ("rewards", "others", "ahead", "behind", "scores", "margins"):
        np.testing.assert_array_equal(getattr(mirrored(there), name), getattr(back, name))


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    whole = play_duplicate(GAME, OPTIONS, RuleAgent(GAME), Fixed(), range(30), keep_actions=True)
    monkeypatch.setattr(module, "BLOCK", 14)
    parts = play_duplicate(GAME, OPTIONS, RuleAgent(GAME), Fixed(), range(30), 0, True, done.append)
    np.testing.assert_array_equal(whole.margins, parts.margins)
    assert whole.actions == parts.actions
    assert done == sorted(done)
    assert done[-1] == 60


def test_ratio_interval_covers() -> None:
    """Of 1 000 samples about 95 % must cover the true ratio, also when the games of a deal depend on each other."""
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        strength = generator.choice([0.2, 0.9], 300)
        trials = 2 - (generator.random(300) < 0.1)
        wins = generator.binomial(trials, strength)
        ratio, half = ratio_interval(wins, trials)
        covered += abs(ratio - 0.55) <= half
    assert 930 <= covered <= 970


def test_ratio_without_trials() -> None:
    assert np.isnan(ratio_interval(np.zeros(3), np.zeros(3))).all()


def test_duplicate_deals_are_the_same_cards_with_seats_exchanged() -> None:
    """Two copies of one deterministic player: what one seat wins the other loses, so every deal is level."""
    played = play_duplicate(GAME, OPTIONS, RuleAgent(GAME), RuleAgent(GAME), range(50), keep_actions=True)
    np.testing.assert_array_equal(played.rewards.sum(axis=1), 0)
    np.testing.assert_array_equal(played.margins.sum(axis=1), 0)
    assert all(first == second for first, second in played.actions)


def test_same_seeds_same_result() -> None:
    once, again = (evaluate(GAME, OPTIONS, RandomAgent(), RuleAgent(GAME), deals=40, seed=3) for _ in range(2))
    assert once == again
    assert once != evaluate(GAME, OPTIONS, RandomAgent(), RuleAgent(GAME), deals=40, seed=4)
    assert once.first_deal == FIRST_DEAL


def test_needs_two_deals() -> None:
    with pytest.raises(ValueError, match="at least 2 deals, not 1"):
        evaluate(GAME, OPTIONS, RandomAgent(), RandomAgent(), deals=1)


def test_match_episodes_can_be_evaluated() -> None:
    options = GAME.options.of(episode="match")
    result = evaluate(GAME, options, RuleAgent(GAME), RandomAgent(), deals=20)
    assert result.decided == 40
    assert result.win_rate > 0.9


def test_records_of_evaluation_games_verify(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    assert write_records(path, GAME, OPTIONS, RuleAgent(GAME), RandomAgent(), range(5)) == 10
    read = list(records.read(path))
    assert [r.agents for r in read[:2]] == [("rule", "random"), ("random", "rule")]
    for record in read:
        records.verify(record)


def test_games_go_by_name_or_id() -> None:
    assert game_and_options("chouine") == (GAME, OPTIONS)
    assert game_and_options("ChouineMatch-v0") == (GAME, GAME.options.of(episode="match"))
    for wrong in ("chouin", "Chouin-v0"):
        with pytest.raises(UnknownGame, match="Did you mean"):
            game_and_options(wrong)


def test_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sub" / "out.json"
    module.main(Arguments(agent="rule", against=("random",), deals=30, json=file))
    printed = capsys.readouterr().out
    assert "rule" in printed
    assert "95 % intervals" in printed
    (result,) = json.loads(file.read_text())
    assert (result["agent"], result["against"], result["games"], result["first_deal"]) == (
        "rule",
        "random",
        60,
        FIRST_DEAL,
    )
    assert [p.name for p in file.parent.iterdir()] == ["out.json"]
