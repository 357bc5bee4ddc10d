"""Tarot's training: the table that it prints tells takers from defenders, and the shipped settings keep their word."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from cardgym.baselines.agents import RandomAgent, RuleAgent
from cardgym.baselines.evaluate import evaluate, results_table
from cardgym.baselines.ppo_sb3 import Settings, train
from cardgym.baselines.training import settings_from_file
from cardgym.games.tarot import GAME
from cardgym.games.tarot_tables import BIDS


def share(result, word: str) -> float:  # type: ignore[no-untyped-def]
    """Share of the games in which the agent's role begins so."""
    return sum(part.games for label, part in result.roles.items() if label.startswith(word)) / result.games


def test_results_by_role_and_contract() -> None:
    """Every game has one role; the table names each with its contract, its share and its score, passed deals too."""
    rule = evaluate(GAME, GAME.options(), RuleAgent(GAME), RuleAgent(GAME), 100)
    assert {"taker prise", "defender prise", "taker garde", "defender garde", "passed"} <= set(rule.roles)
    assert set(rule.roles) <= {f"{side} {bid}" for side in ("taker", "defender") for bid in BIDS[1:]} | {"passed"}
    assert sum(part.games for part in rule.roles.values()) == rule.games == 400
    assert share(rule, "defender") == pytest.approx(3 * share(rule, "taker")), "every seat has its turn"
    assert rule.roles["passed"].score == 0
    total = sum(part.games * part.score for part in rule.roles.values())
    assert total / rule.games == pytest.approx(rule.score)
    other = evaluate(GAME, GAME.options(), RuleAgent(GAME), RandomAgent(), 20)
    console = Console(file=io.StringIO(), width=120)
    console.print(results_table([rule, other], "Tarot"))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    for label in rule.roles:
        line = next(x for x in printed.splitlines() if label in x)
        assert f"{100 * rule.roles[label].games / 400:.1f} %" in line


@pytest.mark.long
def test_shipped_settings_reach_their_band(tmp_path: Path) -> None:
    """What ``make train GAME=tarot`` promises, over 2 000 duplicate deals: points from random players and, bidding as
    it should, no fewer than rule bots."""
    settings = replace(settings_from_file(Settings, "ppo_sb3", "tarot"), out=tmp_path)
    assert settings.deals == 2000
    against_random, against_rule, rule = train(settings, Console())
    assert against_random.score - against_random.score_half > 0
    assert rule.score - rule.score_half > 0
    assert against_rule.score > -3
    assert 0.08 < share(against_rule, "taker") < 0.4
    assert against_rule.roles["taker garde"].score > 50
