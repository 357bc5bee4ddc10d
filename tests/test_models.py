"""The trained networks that come with cardgym: they are what their notes say, and play as well as promised."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pytest

import cardgym
from cardgym.baselines import dmc, exploit, model_file, ppo
from cardgym.baselines.agents import Decisions, load_agent, shipped_model
from cardgym.baselines.evaluate import evaluate
from cardgym.baselines.network import NetworkAgent
from cardgym.baselines.training import FREE, settings_from_file
from cardgym.batch import Batch
from cardgym.errors import CardGymError

FOLDER = resources.files("cardgym.baselines") / "models"
SHIPPED = sorted(p.name.removesuffix(".pt") for p in FOLDER.iterdir() if p.name.endswith(".pt"))
# By game: opponent, duplicate deals, least win rate among decided deals.
BANDS = {
    "avinas": [("random", 10_000, 0.84), ("rule", 10_000, 0.51)],
    "chouine": [("random", 10_000, 0.95), ("rule", 10_000, 0.61), ("pimc-64", 400, 0.60)],
    "shukh": [("random", 10_000, 0.87), ("rule", 10_000, 0.62)],
    "shukh_table": [("random", 1_000, 0.99), ("rule", 4_000, 0.58)],
    "tarot": [("random", 2_000, 0.96), ("rule", 10_000, 0.515)],
}
SETTINGS = {"ppo": ppo.Settings, "dmc": dmc.Settings, "exploit": exploit.Settings}


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_model_is_small_and_made_by_the_committed_settings(name: str) -> None:
    path = shipped_model(name)
    assert path.stat().st_size < 5_000_000
    notes = model_file.load(path).notes
    assert notes["game"] == name
    assert not any(str(value).startswith("/") for value in notes["settings"].values())  # of the machine it came from
    kind = "exploit" if "target" in notes["settings"] else notes["algorithm"]
    committed = model_file.plain(settings_from_file(SETTINGS[kind], kind, name))
    made = {k: v for k, v in notes["settings"].items() if k not in FREE}
    assert made == {k: v for k, v in json.loads(json.dumps(committed)).items() if k in made}
    assert notes["decisions"] >= notes["settings"]["decisions"]
    assert name in BANDS
    assert f"`{name}.pt`" in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_model_plays(name: str) -> None:
    game = cardgym.load_game(name)
    agent = load_agent("box", game)
    assert isinstance(agent, NetworkAgent)
    assert agent.name == "box"
    batch = Batch(game, None, 64)
    batch.reset(range(64))
    generator = np.random.default_rng(0)
    for _ in range(60):
        batch.step(agent.act(Decisions(batch, np.arange(64)), generator), autoreset=True)
    random = load_agent("random", game)
    result = evaluate(game, game.options(), agent, random, deals=50)
    assert result.win_rate - result.win_rate_half > 0.5


def test_a_game_without_a_model_is_named() -> None:
    with pytest.raises(CardGymError, match=r"whist: no trained network comes with cardgym; there are some for: "):
        shipped_model("whist")


@pytest.mark.long
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_model_reaches_its_band(name: str) -> None:
    game = cardgym.load_game(name)
    agent = load_agent("box", game)
    for against, deals, least in BANDS[name]:
        result = evaluate(game, game.options(), agent, load_agent(against, game), deals)
        assert result.win_rate >= least, result
