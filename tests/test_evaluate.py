"""Evaluation: the arithmetic, duplicate deals, and what the command writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cardgym
from cardgym import records
from cardgym.baselines import evaluate as module
from cardgym.baselines.agents import RandomAgent, RuleAgent
from cardgym.baselines.evaluate import (
    FIRST_DEAL,
    Arguments,
    Games,
    evaluate,
    play_duplicate,
    ratio_interval,
    summarise,
    write_records,
)

GAME = cardgym.load_game("chouine")
OPTIONS = GAME.options()


def test_summary_of_a_case_worked_out_by_hand() -> None:
    """Three deals: won twice, split, won once with a tie."""
    rewards = np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 1.0]])
    margins = np.array([[10.0, 30.0], [4.0, -4.0], [0.0, 20.0]])
    scores = np.array([[70.0, 80.0], [50.0, 60.0], [60.0, 70.0]])
    roles = [["dealer", "other"], ["dealer", "other"], ["other", "other"]]
    r = summarise(Games(rewards, scores, margins, roles, []), "a", "b", 7, 0)
    assert (r.deals, r.games, r.decided) == (3, 6, 5)
    assert r.win_rate == pytest.approx(4 / 5)
    # residuals won - 0.8 * decided: 0.4, -0.6, 0.2; their variance 0.28; sqrt(3 * 0.28) / 5
    assert r.win_rate_half == pytest.approx(1.959964 * np.sqrt(0.84) / 5)
    assert r.margin == pytest.approx(10.0)
    assert r.margin_half == pytest.approx(1.959964 * 10 / np.sqrt(3))
    assert r.by_seat == (1.0, pytest.approx(2 / 3))
    assert r.score == pytest.approx(65.0)
    assert r.score_half == pytest.approx(1.959964 * 10 / np.sqrt(3))
    assert [(name, part.games, part.score) for name, part in r.roles.items()] == [
        ("dealer", 2, 60.0),
        ("other", 4, 67.5),
    ]


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


def test_exchanging_the_agents_mirrors_the_result() -> None:
    class Last:
        name = "last"

        def act(self, decisions, generator):  # type: ignore[no-untyped-def]
            return decisions.mask.shape[1] - 1 - decisions.mask[:, ::-1].argmax(axis=1)

    there = evaluate(GAME, OPTIONS, RuleAgent(GAME), Last(), deals=60)
    back = evaluate(GAME, OPTIONS, Last(), RuleAgent(GAME), deals=60)
    assert there.win_rate == pytest.approx(1 - back.win_rate)
    assert there.margin == pytest.approx(-back.margin)
    assert there.win_rate_half == pytest.approx(back.win_rate_half)


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
