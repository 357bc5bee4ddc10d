"""The rule bot of Shukh at the table: it breaks no rule, sees every breach, and beats random play."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from shukh_table_play import REACTING
from shukh_table_positions import Deal, Game, Table

from cardgym.baselines.agents import CarelessAgent, Decisions, RuleAgent, act_by_assignment
from cardgym.baselines.evaluate import evaluate
from cardgym.batch import Batch
from cardgym.games.shukh_table import GAME

BOT = RuleAgent(GAME)
KINDS: list[dict[str, Any]] = [
    {},
    {"players": 2},
    {"players": 6, "memory": "table"},
    {"deck": 52, "players": 5, "judge": "vote"},
    {"deal": "engine", "episode": "match", "tuck": "general", "parties_per_match": 2},
]


def chosen(game: Game) -> str:
    decisions = Decisions(game.batch, np.array([0]))
    return GAME.actions[int(BOT.act(decisions, np.random.default_rng(0))[0])].name


def started(n: int, **options: Any) -> Batch:
    batch = Batch(GAME, GAME.options.of(**options), n)
    batch.reset(range(n))
    return batch


@pytest.mark.parametrize("options", KINDS)
def test_among_themselves_no_rule_is_broken(options: dict[str, Any]) -> None:
    """No offence but slips, which chance makes, and without them no penalty."""
    batch = started(20, slip_probability=0.0, **options)
    rows = np.arange(20)
    while len(rows):
        batch.step(BOT.act(Decisions(batch, rows), np.random.default_rng(0)), rows)
        states = batch.states[rows]
        assert not states["offence"].any()
        assert (states["guilty"] < 0).all()
        assert not states["silent"].any()
        assert not states["debt"].any()
        rows = rows[~batch.over[rows]]


@pytest.mark.parametrize("options", [*KINDS[:4], {"slip_probability": 0.2, "tuck": "general", "players": 3}])
def test_accuses_exactly_when_a_rule_was_broken(options: dict[str, Any]) -> None:
    """In windows of random play: its judgement, from what it sees, is the truth."""
    batch = started(60, **options)
    rows, generator = np.arange(60), np.random.default_rng(1)
    offences = set()
    while len(rows):
        asked = rows[batch.states["stage"][rows] == REACTING]
        if len(asked):
            accuses = BOT.act(Decisions(batch, asked), generator) == GAME.action_ids["accuse"]
            could_ask = batch.mask[asked][:, GAME.action_ids["seat 1"] :].any(axis=1)
            truth = batch.states["offence"][asked] != 0
            np.testing.assert_array_equal(accuses[~could_ask], truth[~could_ask])
            offences |= set(batch.states["offence"][asked][truth].tolist())
        batch.step(CarelessAgent().act(Decisions(batch, rows), generator), rows)
        rows = rows[~batch.over[rows]]
    assert len(offences) >= 9


def test_what_it_does_besides() -> None:
    assert chosen(Table("9S 8C", "10C JC 7C", "KC QC 6C", kon=[(2, "7S")]).play("9S")) == "call"
    assert chosen(Table("9S 8C", "10C JC 7C", "KC QC 6C", kon=[(2, "7S")]).play("9S", "pass")) == "seat 2"
    assert chosen(Table("9S 8C", "10C JC 7C", "KC QC 6C", unswept=(0, "7H 8H 9H"))) == "sweep"
    assert chosen(Table("QH", "10C JC 7C", "KC QC 6C")) == "pass"
    assert chosen(Table("QH 6H", "10C JC 7C")) == "discard"
    assert chosen(Deal("9S 7C KD QH 9D 10C 7H").draw(5)) == "unload"
    paying = Table("9S 8C QH", "QH 10D 6C", "KC QC 6S", kon=[(2, "7S")]).play("hesitate", "accuse")
    assert chosen(paying) == "6C"
    voting = Table("9S 8C KH", "10C JC 7C", "KC QC 6C", "AS KS 7D", judge="vote")
    assert chosen(voting.play("9S", "accuse")) == "dispute"
    assert chosen(voting.play("dispute")) == "support"
    asking = Table("6H 9S 8C KD", "10S JC 7C QC", "", out={2: 1}).act("9S").act("take").play("8C")
    assert chosen(asking) == "ask six"


@pytest.mark.parametrize(
    ("options", "best"), [({"players": 2}, 1.1), ({}, 1.3), ({"players": 3, "judge": "vote"}, 1.6)]
)
def test_beats_careless_play(options: dict[str, Any], best: float) -> None:
    """Its mean place, 1 being the first, against random players who pass in most windows."""
    result = evaluate(GAME, GAME.options.of(**options), BOT, CarelessAgent(), deals=50, first_deal=5)
    assert result.score + result.score_half < best
    assert result.win_rate - result.win_rate_half > 0.65


def test_careless_passes_in_windows() -> None:
    batch = started(400)
    generator = np.random.default_rng(0)
    passed, asked = 0, 0
    for _ in range(60):
        rows = np.arange(400)[~batch.over]
        actions = act_by_assignment(batch, rows, [CarelessAgent()], np.zeros(len(rows), int), generator)
        windows = batch.states["stage"][rows] == REACTING
        asked += windows.sum()
        passed += (actions[windows] == GAME.action_ids["pass"]).sum()
        batch.step(actions, rows)
    assert 0.95 < passed / asked < 0.995
