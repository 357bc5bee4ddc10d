"""The games in OpenSpiel's form, and Tiny Chouine, whose every deal is listed."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

import cardgym
from cardgym import testing
from cardgym.batch import Batch, resample
from cardgym.errors import IllegalAction, InvalidAction, InvalidOption
from cardgym.games.chouine import LAST_DRAW
from cardgym.games.tiny_chouine import GAME, PACK, deals
from cardgym.records import GameRecord, openspiel_trace

pyspiel = pytest.importorskip("pyspiel")

from cardgym.wrappers import OpenSpielGame  # noqa: E402


def started(game: OpenSpielGame, deal: int = 0) -> pyspiel.State:
    state = game.new_initial_state()
    state.apply_action(deal)
    return state


# --- Tiny Chouine ----------------------------------------------------------------------------


def test_tiny_chouine_lists_every_deal_once() -> None:
    """6 cards: two hands of two, turn-up, stock, either dealer."""
    listed = deals(GAME.options())
    dealt = np.concatenate([listed["deck"][:, [0, 1, 2, 3, 10, 31]], listed["dealer"][:, None]], axis=1)
    assert len(listed) == len(np.unique(dealt, axis=0)) == 15 * 6 * 2 * 2
    assert (np.sort(dealt[:, :6], axis=1) == np.sort(PACK)).all()
    assert (dealt[:, 0] < dealt[:, 2]).all()
    assert (dealt[:, 1] < dealt[:, 3]).all()


def test_tiny_chouine_deals_only_what_is_listed() -> None:
    batch = testing.subject(GAME).batch(4000)
    batch.reset(range(4000))
    listed, dealt = deals(GAME.options()), batch.states.copy()
    listed["rng"] = dealt["rng"] = 0
    assert {state.tobytes() for state in dealt} == {state.tobytes() for state in listed}


def test_tiny_chouine_draws_once_and_ends_strictly() -> None:
    """CH-8: winner from the stock, loser the turn-up; CH-9: then suits must be followed."""
    batch = testing.subject(GAME).batch(2000)
    batch.reset(range(2000))
    generator = np.random.default_rng(0)
    followed = 0
    for _ in range(12):
        s, rows = batch.states, np.flatnonzero(~batch.over)
        for row in rows:
            lead, held = s["lead"][row], np.flatnonzero(s["place"][row] == s["player"][row])
            legal = [a for a in np.flatnonzero(batch.mask[row]) if a < 32]
            if s["trick"][row] == LAST_DRAW:
                assert legal == held.tolist() or s["pending"][row] >= 0
            elif lead >= 0 and (held // 8 == lead // 8).any() and s["pending"][row] < 0:
                assert all(card // 8 == lead // 8 for card in legal)
                followed += len(held) > 1
        if not len(rows):
            break
        batch.step(np.array([generator.choice(np.flatnonzero(batch.mask[r])) for r in rows]), rows)
    assert batch.over.all()
    assert followed > 100
    drawer, drawn = batch.states["winner_of"][:, LAST_DRAW], batch.states["deck"][:, 31]
    assert (batch.states["played_by"][np.arange(2000), drawn] == drawer + 1).all()
    assert (batch.states["card_points"].sum(axis=1) == 2 * (3 + 4 + 11) + 10).all()


def test_tiny_chouine_conforms() -> None:
    testing.check_play(GAME, games=100)
    testing.check_leaks(GAME, games=40)
    testing.check_copies(GAME, games=2)
    testing.check_illegal_actions(GAME, games=2)


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"reward": "margin", "reward_scale": 2.0}])
def test_tiny_chouine_conforms_throughout(options: dict[str, object]) -> None:
    testing.check_game(GAME, games=200, **options)


def test_tiny_chouine_resamples_evenly() -> None:
    """Against one's own two cards and the turn-up there are three equally likely stocks."""
    state = np.repeat(deals(GAME.options())[:1], 3000)
    resample(GAME, state, np.zeros(3000, np.int64), 7)
    stocks, counts = np.unique(state["deck"][:, 31], return_counts=True)
    assert len(stocks) == 3
    assert counts.min() > 900


# --- OpenSpiel -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "options"),
    [
        (GAME, {}),
        ("cardgym/Chouine-v0", {"reward": "margin"}),
        pytest.param("cardgym/ChouineMatch-v0", {}, marks=pytest.mark.long),
        pytest.param("cardgym/Avinas-v0", {}, marks=pytest.mark.long),
        pytest.param("cardgym/Shukh-v0", {"players": 3, "max_idle_turns": 100}, marks=pytest.mark.long),
        pytest.param("cardgym/Tarot5-v0", {"reward_scale": 0.01}, marks=pytest.mark.long),
        pytest.param("cardgym/TarotMatch-v0", {"deals_per_match": 2}, marks=pytest.mark.long),
    ],
)
def test_openspiels_own_test(env: object, options: dict[str, object]) -> None:
    pyspiel.random_sim_test(OpenSpielGame(env, deals=20, **options), num_sims=1, serialize=True, verbose=False)


def test_a_deal_is_that_of_its_seed() -> None:
    """And the whole game is that of the environment: masks, observations, rewards."""
    env = cardgym.make("cardgym/Chouine-v0", encodings=("observation", "history"))
    seen, info = env.reset(seed=17)
    state = started(OpenSpielGame("cardgym/Chouine-v0"), 17)
    while not state.is_terminal():
        assert state.current_player() == info["player"]
        assert state.legal_actions_mask() == info["action_mask"].tolist()
        player = state.current_player()
        assert state.observation_tensor()[2:] == seen["observation"].tolist()
        assert state.observation_tensor()[:2] == [player == 0, player == 1]
        assert state.information_state_tensor()[2:] == [*seen["history"], *seen["observation"]]
        action = state.legal_actions()[-1]
        seen, _, _, _, info = env.step(action)
        state.apply_action(action)
    assert state.returns() == info["rewards"].tolist()
    assert state.returns() != [0.0, 0.0]


@pytest.mark.parametrize("game", ["chouine", "shukh"])
def test_a_trace_plays_over(game: str) -> None:
    """A recorded game, exported in OpenSpiel's words: its seed is the deal, then come its actions."""
    card_game = cardgym.load_game(game)
    batch, actions = Batch(card_game, card_game.options()), []
    batch.reset([23])
    while not batch.over[0]:
        actions.append(int(np.flatnonzero(batch.mask[0])[-1]))
        batch.step(np.array(actions[-1:]))
    trace = openspiel_trace(GameRecord.played(game, 23, actions))
    state = started(pyspiel.load_game(trace["game"]), trace["seed"])
    for i, action in enumerate(trace["history"]):
        assert state.current_player() == trace["player_ids"][i]
        assert state.legal_actions() == trace["legal_actions"][i]
        assert state.observation_tensor()[state.num_players() :] == trace["observations"][i]
        assert state.action_to_string(action) == trace["action_strings"][i]
        state.apply_action(action)
        assert state.rewards() == trace["rewards"][i]
    assert state.is_terminal() == trace["is_terminal"]
    assert state.returns() == trace["returns"]


def test_rewards_of_a_match_add_up() -> None:
    state = started(OpenSpielGame("cardgym/TarotMatch-v0", deals_per_match=2, contract="garde"))
    total = np.zeros(4)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
        total += state.rewards()
    assert state.returns() == total.tolist()
    assert np.abs(total).sum() > 0


def test_copies_go_their_own_ways_and_pickles_come_back() -> None:
    state = started(OpenSpielGame("cardgym/Chouine-v0"))
    before = str(state)
    other = state.clone()
    other.apply_action(other.legal_actions()[0])
    assert str(state) == before != str(other)
    again = pickle.loads(pickle.dumps(other))
    assert str(again) == str(other)
    assert again.history() == other.history()


def test_a_resampled_position_looks_the_same_and_is_another() -> None:
    state = started(OpenSpielGame("cardgym/Chouine-v0"))
    for player in range(2):
        other = state.resample_from_infostate(player)
        assert other.information_state_string(player) == state.information_state_string(player)
        assert other.information_state_string(1 - player) != state.information_state_string(1 - player)


def test_games_are_loaded_by_name() -> None:
    game = pyspiel.load_game("cardgym_shukh(players=3,max_idle_turns=#100,deals=5)")
    assert (game.num_players(), game.max_chance_outcomes()) == (3, 5)
    assert game.options == cardgym.load_game("shukh").options(players=3, max_idle_turns=100)
    assert not game.get_type().provides_information_state_string
    assert pyspiel.load_game(str(game)).options == game.options
    none = OpenSpielGame("cardgym/Shukh-v0", max_idle_turns=None)
    assert pyspiel.load_game(str(none)).options == none.options


def test_a_game_of_ones_own_is_registered_and_replaced_by_a_later_one_of_its_name() -> None:
    for title in ("first", "second"):
        OpenSpielGame(dataclasses.replace(GAME, name="mine", title=title))
        assert pyspiel.load_game("cardgym_mine").card_game.title == title


def test_the_numbers_of_players_are_those_of_the_rules() -> None:
    for name, fewest, most in (("chouine", 2, 2), ("shukh", 2, 8), ("tarot", 3, 5)):
        kind = pyspiel.load_game(f"cardgym_{name}").get_type()
        assert (kind.min_num_players, kind.max_num_players) == (fewest, most)


def test_utilities_are_those_of_the_rules() -> None:
    def bound(env: object, **options: object) -> float:
        return float(OpenSpielGame(env, **options).max_utility())

    assert bound("cardgym/Chouine-v0", reward_scale=3.0) == 3.0
    assert bound("cardgym/Avinas-v0") == 16.0
    assert bound("cardgym/AvinasMatch-v0") == 1.0
    assert bound("cardgym/TarotMatch-v0", deals_per_match=2) == 2 * bound("cardgym/Tarot-v0")
    assert bound(GAME, max_utility=5.0) == 5.0


def test_errors() -> None:
    with pytest.raises(InvalidOption, match="deals=0 is not a whole number"):
        OpenSpielGame("cardgym/Chouine-v0", deals=0)
    with pytest.raises(InvalidOption, match="Did you mean 'quinte'"):
        OpenSpielGame("cardgym/Chouine-v0", quint=100)
    with pytest.raises(InvalidAction, match="outcomes 0 to 9, the deals, not 10"):
        started(OpenSpielGame("cardgym/Chouine-v0", deals=10), 10)
    state = started(OpenSpielGame("cardgym/Chouine-v0"))
    with pytest.raises(IllegalAction, match="legal now"):
        state.apply_action(50)
    with pytest.raises(InvalidOption, match="no record of a deal"):
        OpenSpielGame("cardgym/Shukh-v0").make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
