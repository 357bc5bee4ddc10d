"""The arena: cross tables, ratings, what the command writes."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import cardgym
from cardgym.baselines.agents import Agent, Decisions, RandomAgent, RuleAgent
from cardgym.baselines.arena import Arguments, cross_table, games_of, main, rate
from cardgym.baselines.evaluate import FIRST_DEAL, evaluate
from cardgym.errors import InvalidOption

GAME = cardgym.load_game("chouine")
OPTIONS = GAME.options()
AVINAS = importlib.import_module("cardgym.games.avinas").GAME  # a game of teams


class Mixed:
    """Plays like the rule bot in some positions, at random in the others."""

    def __init__(self, game: cardgym.game.Game, share: float) -> None:
        self.name, self.share = f"mixed-{share}", share
        self.rule = RuleAgent(game)

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        by_rule = generator.random(len(decisions)) < self.share
        return np.where(by_rule, self.rule.act(decisions, generator), RandomAgent().act(decisions, generator))


def drawn(strengths: np.ndarray, deals: int, generator: np.random.Generator, spread: float = 0.0) -> np.ndarray:
    """Comparisons of agents of known strength (log-odds), two for each pair and deal.

    ``spread`` is how far strengths vary from deal to deal, by which the games of one deal depend on each other.
    """
    k = len(strengths)
    of_deal = strengths + spread * generator.normal(size=(deals, k))
    chance = 1 / (1 + np.exp(of_deal[:, None, :] - of_deal[:, :, None]))
    wins = np.triu(generator.binomial(2, chance), 1).astype(float)
    return wins + np.triu(2 - wins, 1).transpose(0, 2, 1)


def test_ratings_find_known_strengths() -> None:
    strengths = np.array([-2.0, 0.5, 0.3, 1.2])
    found = {r.agent: r for r in rate("abcd", drawn(strengths, 20_000, np.random.default_rng(0)))}
    for name, strength in zip("abcd", strengths, strict=True):
        assert found[name].rating == pytest.approx(400 / np.log(10) * strength, abs=3 * found[name].half / 1.96)
        assert found[name].half < 3


@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_rating_intervals_cover(spread: float) -> None:
    """Of 1 000 intervals about 95 % cover the true rating, also when the games of a deal depend on each other."""
    strengths = np.array([-0.4, 0.0, 0.1, 0.3])
    generator = np.random.default_rng(1)
    tables = [{r.agent: r for r in rate("abcd", drawn(strengths, 300, generator, spread))} for _ in range(250)]
    truth = {r.agent: r.rating for r in rate("abcd", drawn(strengths, 200_000, generator, spread))}
    covered = [abs(t[a].rating - truth[a]) <= t[a].half for t in tables for a in "abcd"]
    assert 0.93 <= np.mean(covered) <= 0.97


def test_an_agent_that_never_wins_has_a_rating() -> None:
    wins = np.zeros((50, 2, 2))
    wins[:, 0, 1] = 2
    best, worst = rate("ab", wins)
    assert (best.agent, worst.agent) == ("a", "b")
    assert best.rating - worst.rating == pytest.approx(400 * np.log10(100.5 / 0.5))


def test_two_teams_meet_once_and_mirror() -> None:
    agents: list[Agent] = [RandomAgent(), RuleAgent(GAME), Mixed(GAME, 0.5)]
    done: list[int] = []
    table = cross_table(GAME, OPTIONS, agents, 60, progress=done.append)
    assert done[-1] == games_of(GAME, OPTIONS, 3, 60) == 360
    assert table.agents == ("rule", "mixed-0.5", "random")
    assert len(table.results) == 6
    there, back = table.cell("rule", "random"), table.cell("random", "rule")
    assert there.win_rate == pytest.approx(1 - back.win_rate)
    assert there.margin == pytest.approx(-back.margin)
    assert back == evaluate(GAME, OPTIONS, RandomAgent(), RuleAgent(GAME), 60)


def test_one_among_many_is_played_both_ways() -> None:
    game = cardgym.load_game("shukh")
    options = game.options.of(players=3)
    agents: list[Agent] = [RandomAgent(), RuleAgent(game)]
    table = cross_table(game, options, agents, 30)
    assert games_of(game, options, 2, 30) == 180
    assert table.cell("rule", "random") == evaluate(game, options, RuleAgent(game), RandomAgent(), 30)
    assert table.cell("random", "rule") == evaluate(game, options, RandomAgent(), RuleAgent(game), 30)
    assert table.ratings[0].rating - table.ratings[0].half > 0


class Place:
    """Plays the legal action at one place of the list, counted from its start or end."""

    def __init__(self, place: int) -> None:
        self.name, self.place = f"place {place}", place

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return np.array([np.flatnonzero(m)[self.place] for m in decisions.mask])


def test_teams_play_together() -> None:
    """Avinas: two pairs, so every deal is played twice, and the roles are split."""
    options = AVINAS.options()
    table = cross_table(AVINAS, options, [Place(0), Place(-1)], 40)
    for one, other in ((Place(0), Place(-1)), (Place(-1), Place(0))):
        result = table.cell(one.name, other.name)
        assert result == evaluate(AVINAS, options, one, other, 40)
        assert (result.games, len(result.by_seat)) == (80, 2)
        assert sum(part.games for part in result.roles.values()) == 80


def test_agents_need_names_of_their_own() -> None:
    for agents in ([RandomAgent()], [RandomAgent(), RandomAgent()]):
        with pytest.raises(InvalidOption, match="at least two agents with different names"):
            cross_table(GAME, OPTIONS, agents, 10)
    with pytest.raises(InvalidOption, match="at least 2"):
        cross_table(GAME, OPTIONS, [RandomAgent(), RuleAgent(GAME)], 1)


def test_command_writes_table_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new"
    table = main(Arguments(agents=("random", "rule"), deals=20, out=out))
    printed = " ".join(capsys.readouterr().out.split())
    assert "detects" in printed
    assert "Bradley-Terry" in printed
    assert sorted(p.name for p in out.iterdir()) == ["cross_table.json", "cross_table.png"]
    assert (out / "cross_table.png").read_bytes().startswith(b"\x89PNG")
    read = json.loads((out / "cross_table.json").read_text())
    assert read["cardgym"] == cardgym.__version__
    assert (read["first_deal"], read["deals"], read["agents"]) == (FIRST_DEAL, 20, ["rule", "random"])
    assert read["ratings"][0]["rating"] == table.ratings[0].rating
