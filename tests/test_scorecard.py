"""The score card: a fixed protocol, a file that two papers can compare, a picture."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardgym
from cardgym.baselines import scorecard
from cardgym.baselines.agents import CallableAgent, Decisions, RandomAgent, RuleAgent, load_agent
from cardgym.baselines.evaluate import FIRST_DEAL, evaluate
from cardgym.baselines.scorecard import (
    LADDER,
    PROTOCOL,
    Arguments,
    compare,
    deals_of,
    games_of,
    main,
    play_card,
    read_card,
    result_of,
)
from cardgym.errors import CardGymError, InvalidAction, InvalidOption, InvalidRecord

GAME = cardgym.load_game("chouine")
SMALL = {"random": 24, "rule": 16}


def last_legal(decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
    return decisions.mask.shape[1] - 1 - decisions.mask[:, ::-1].argmax(axis=1)


def broken(decisions: Decisions, generator: np.random.Generator) -> list[float]:
    return [0.5] * len(decisions)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorecard, "LADDER", SMALL)


def test_the_protocol_is_fixed() -> None:
    """Whoever changes this must raise the version: cards of other figures cannot be compared."""
    assert PROTOCOL == 1
    assert LADDER == {"random": 4000, "rule": 4000, "pimc-64": 400, "ismcts-1000": 400, "pimc-64-rule": 400}
    assert deals_of("rule", 2, 1) == range(1_000_000_000, 1_000_002_000)
    assert deals_of("pimc-64", 4, 3) == range(FIRST_DEAL, FIRST_DEAL + 300)
    assert games_of(["chouine", "Shukh-v0"], 2) == 2 * 2 * sum(LADDER.values())


@pytest.mark.usefixtures("small")
def test_a_card_is_the_evaluation_and_its_deals() -> None:
    done: list[int] = []
    card = play_card("rule", ["chouine", "shukh"], progress=done.append)
    assert done[-1] == games_of(["chouine", "shukh"]) == 80
    assert (card["protocol"], card["cardgym"], card["agent"]) == (1, cardgym.__version__, "rule")
    assert list(card["games"]) == ["chouine", "shukh"]
    first, second = card["games"]["chouine"]["rungs"]
    against_random = evaluate(GAME, GAME.options(), RuleAgent(GAME), RandomAgent(), 12)
    assert result_of(first["result"]) == against_random
    by_deal = {name: np.array(values) for name, values in first["by_deal"].items()}
    assert all(len(v) == 12 for v in by_deal.values())
    assert by_deal["ahead"].sum() / (by_deal["ahead"] + by_deal["behind"]).sum() == against_random.win_rate
    assert by_deal["margin"].mean() / 2 == pytest.approx(against_random.margin)
    assert by_deal["reward"].mean() / 2 == pytest.approx(against_random.reward)
    assert not np.any(second["by_deal"]["margin"]), "the rule bot against itself"
    assert len(card["games"]["shukh"]["rungs"][0]["by_deal"]["ahead"]) == 6
    assert json.loads(json.dumps(card)) == card == play_card("rule", ["chouine", "shukh"])


@pytest.mark.usefixtures("small")
def test_functions_and_patterns_are_agents() -> None:
    card = play_card(f"{__name__}:last_legal", ["chouine"])
    assert card["games"]["chouine"]["rungs"][1]["result"]["win_rate"] < 0.5
    with pytest.raises(CardGymError, match="unknown agent 'nothing/chouine'"):
        play_card("nothing/{game}", ["chouine"])
    with pytest.raises(InvalidAction, match=f"agent '{__name__}:broken' must return 12 integers"):
        play_card(f"{__name__}:broken", ["chouine"])
    with pytest.raises(InvalidOption, match="scale=0 is not a whole number of at least 1"):
        play_card("rule", ["chouine"], scale=0)


@pytest.mark.usefixtures("small")
def test_cards_are_compared_deal_by_deal() -> None:
    """Against one opponent on the same deals; a card of a larger scale counts with the deals that both have."""
    wide, narrow = play_card("rule", ["chouine"], scale=2), play_card("random", ["chouine"])
    first, second = compare(wide, narrow)
    assert (first.game, first.against, first.deals) == ("chouine", "random", 12)
    assert second.deals == 8
    a, b = (np.array(c["games"]["chouine"]["rungs"][0]["by_deal"]["margin"][:12]) / 2 for c in (wide, narrow))
    assert first.margin == pytest.approx((a - b).mean())
    assert first.margin_half == pytest.approx(1.959964 * (a - b).std(ddof=1) / np.sqrt(12))
    assert compare(narrow, wide)[0].reward == pytest.approx(-first.reward)
    other = play_card("random", ["ChouineMatch-v0"])
    assert compare(wide, other) == []
    narrow["games"]["chouine"]["options"]["quinte"] = 100
    with pytest.raises(InvalidRecord, match="the cards of rule and random have other rule options in chouine"):
        compare(wide, narrow)


@pytest.mark.usefixtures("small")
def test_command_plays_reads_compares_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = main(Arguments(agents=("rule",), game=("chouine",), out=tmp_path / "a"))
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == ["scorecard.json", "scorecard.png"]
    file = tmp_path / "a" / "scorecard.json"
    assert read_card(file) == first[0]
    capsys.readouterr()
    both = main(Arguments(agents=(str(file), "random"), game=("chouine", "shukh"), out=tmp_path / "b"))
    printed = " ".join(capsys.readouterr().out.split())
    assert "rule less random" in printed
    assert "deals paired" in printed
    assert both[0] == first[0]
    assert list(read_card(tmp_path / "b" / "scorecard.json")["games"]) == ["chouine", "shukh"]
    assert (tmp_path / "b" / "scorecard.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("small")
def test_wrong_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    card: dict[str, Any] = play_card("rule", ["chouine"])

    def refused(content: str, message: str) -> None:
        path.write_text(content)
        with pytest.raises(InvalidRecord, match=message):
            read_card(path)

    refused(json.dumps(card)[:-40], "card.json: not a readable score card .JSONDecodeError")
    refused("[]", "not a score card: there is no 'protocol'")
    refused(json.dumps({**card, "protocol": 0}), "made by protocol 0; this version of cardgym has protocol 1")
    refused(json.dumps({**card, "games": {"chouine": {}}}), "an incomplete score card .KeyError: 'rungs'")
    card["games"]["chouine"]["rungs"][0]["result"]["against"] = "weak"
    refused(json.dumps(card), "protocol 1 knows no opponent 'weak'")
    with pytest.raises(InvalidRecord, match="FileNotFoundError"):
        read_card(tmp_path / "none.json")


# --- The page ----------------------------------------------------------------------------------

PAGE = (Path(__file__).parent.parent / "docs" / "evaluation.md").read_text(encoding="utf-8")


def test_the_function_on_the_page_plays() -> None:
    scope: dict[str, Any] = {}
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "evaluation.md", "exec"), scope)
    result = evaluate(GAME, GAME.options(), CallableAgent(scope["play"], "play"), RandomAgent(), 10)
    assert result.games == 20


def test_the_page_knows_the_protocol_and_the_names() -> None:
    assert f"Protocol {PROTOCOL}:" in PAGE
    assert " ".join(PAGE.split()).count("4000 games each; against `pimc-64`, `ismcts-1000` and `pimc-64-rule` 400") == 1
    table = PAGE.split("## Agents and their names")[1].split("\n\n")[1]
    names = re.findall(r"`([a-z0-9-]+)`", table)
    assert len(names) >= 10
    for name in names:
        assert load_agent(name, GAME).name == name
