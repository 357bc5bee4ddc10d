"""Wrong use gets an error that names the thing and says what would be right, and leaves everything as it was."""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

import cardgym
from cardgym import batch, errors
from cardgym.envs import CardEnv, CardVectorEnv
from cardgym.errors import EpisodeOver, IllegalAction, InvalidAction, InvalidOption, InvalidState, ResetNeeded

GAME = cardgym.load_game("chouine")


@pytest.fixture
def env() -> CardEnv:
    made = CardEnv("chouine", encodings=("observation", "history", "state"))
    made.reset(seed=1)
    return made


def play_out(env: CardEnv) -> None:
    while not env.batch.over[0]:
        env.step(int(env.batch.mask[0].argmax()))


def snapshot(env: CardEnv) -> bytes:
    b = env.batch
    return b"".join(x.tobytes() for x in (b.states, b.mask, b.observation, b.history, b.state, b.players, b.rewards))


# --- Names and options -----------------------------------------------------------------------


@pytest.mark.parametrize("make", [cardgym.make, cardgym.make_vec])
@pytest.mark.parametrize(
    ("env_id", "suggested"),
    [("cardgym/Chouin-v0", "cardgym/Chouine-v0"), ("ChouineMach-v0", "cardgym/ChouineMatch-v0"), ("Bridge-v0", None)],
)
def test_unknown_environment(make: Callable[..., Any], env_id: str, suggested: str | None) -> None:
    with pytest.raises(errors.UnknownGame) as raised:
        make(env_id)
    message = str(raised.value)
    assert message.startswith(f"unknown environment '{env_id}'.")
    assert (f"Did you mean '{suggested}'?" in message) == (suggested is not None)
    assert all(known in message for known in cardgym.IDS)


@pytest.mark.parametrize("make", [cardgym.load_game, CardEnv, CardVectorEnv])
def test_unknown_game(make: Callable[..., Any]) -> None:
    with pytest.raises(errors.UnknownGame, match=r"unknown game 'chuine'. Did you mean 'chouine'\? Games: .*chouine"):
        make("chuine")


@pytest.mark.parametrize("make", [cardgym.make, cardgym.make_vec])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memry": "table"}, r"unknown option 'memry'. Did you mean 'memory'\? Options: .*reward_scale.*quinte"),
        ({"seats": 3}, "unknown option 'seats'.* Options: "),
        ({"num_players": 4}, "unknown option 'num_players'.* Options: "),
        ({"memory": "all"}, "option memory='all' is not one of 'perfect', 'table'"),
        ({"memory": 1}, "option memory=1 is not one of 'perfect', 'table'"),
        ({"quinte": 60}, "option quinte=60 is not one of 50, 100"),
        ({"quinte": "50"}, "option quinte='50' is not one of 50, 100"),
        ({"quinte": True}, "option quinte=True is not one of 50, 100"),
        ({"manches": 1.0}, "option manches=1.0 is not one of 1, 3"),
        ({"manches": None}, "option manches=None is not one of 1, 3"),
        ({"wins_per_manche": [3]}, r"option wins_per_manche=\[3\] is not one of 3, 5"),
        ({"reward_scale": -1}, "option reward_scale=-1 is not between 0.0 and any"),
        ({"reward_scale": "2"}, "option reward_scale='2' is not a number"),
        ({"reward_scale": True}, "option reward_scale=True is not a number"),
        ({"reward_scale": float("nan")}, "option reward_scale=nan is not a number"),
        ({"reward_scale": float("inf")}, "option reward_scale=inf is not a number"),
        ({"episode": "match", "reward": "margin"}, "reward='margin' is for episode='deal'"),
        ({"encodings": ("observation", "pixels")}, "chouine has no encoding 'pixels'.* observation, history, state"),
        ({"encodings": "history"}, "encodings.*'history'"),
        ({"encodings": None}, "encodings.*None"),
    ],
)
def test_options(make: Callable[..., Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        make("Chouine-v0", **options)


@pytest.mark.parametrize(
    ("make", "modes"), [(CardEnv, "'ansi', 'human', 'rgb_array'"), (CardVectorEnv, "'ansi', 'rgb_array'")]
)
def test_render_mode(make: Callable[..., Any], modes: str) -> None:
    with pytest.raises(InvalidOption, match=f"render_mode='depth_array' is not one of None, {modes}$"):
        make("chouine", render_mode="depth_array")


@pytest.mark.parametrize("view", [2, -1, "me", 0.5, None, True])
def test_view(view: object) -> None:
    with pytest.raises(InvalidOption, match=r"view=.* is not 'player', 'all' or a seat from 0 to 1"):
        cardgym.make("Chouine-v0", view=view)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs=0 is not"),
        ({"num_envs": -1}, "num_envs=-1 is not"),
        ({"num_envs": 2.5}, "num_envs=2.5 is not"),
        ({"num_envs": True}, "num_envs=True is not"),
        ({"num_envs": 2, "threads": 0}, "threads=0 is not"),
        ({"num_envs": 2, "threads": "2"}, "threads='2' is not"),
        ({"num_envs": 2, "autoreset_mode": "NextStep?"}, "autoreset_mode='NextStep.' is not one of"),
    ],
)
def test_vector_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        CardVectorEnv("chouine", **arguments)


def test_a_batch_of_nothing() -> None:
    with pytest.raises(InvalidOption, match="num_games=0"):
        batch.Batch(GAME, None, 0)


# --- Actions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [-1, 51, 1 << 40])
def test_action_out_of_range(env: CardEnv, action: int) -> None:
    before = snapshot(env)
    with pytest.raises(InvalidAction, match=f"chouine: action {action} is out of range: actions are 0 ... 50"):
        env.step(action)
    assert snapshot(env) == before


def test_action_beyond_64_bits(env: CardEnv) -> None:
    with pytest.raises(InvalidAction, match=f"chouine: action {1 << 80} is out of range: actions are 0 ... 50"):
        env.step(1 << 80)


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        (0.0, "float"), (True, "bool"), ("10H", "str"), (None, "NoneType"), (np.zeros(2, np.int64), "ndarray"),
        (np.zeros(1), "ndarray"), (np.zeros(1, bool), "ndarray"), ([3], "list"), (np.float32(3), "float32"),
    ],
)  # fmt: skip
def test_action_of_wrong_type(env: CardEnv, action: object, kind: str) -> None:
    before = snapshot(env)
    with pytest.raises(InvalidAction, match=f"chouine: an action is an integer from 0 to 50, not .* of type {kind}"):
        env.step(action)
    assert snapshot(env) == before


@pytest.mark.parametrize("make", [int, np.int8, np.int64, np.uint8, lambda a: np.array(a), lambda a: np.array([a])])
def test_integers_of_all_kinds_are_actions(env: CardEnv, make: Callable[[int], Any]) -> None:
    env.step(make(int(env.batch.mask[0].argmax())))
    assert env.state["moves"][0] == 1


def test_illegal_action(env: CardEnv) -> None:
    before = snapshot(env)
    illegal = int(np.flatnonzero(env.batch.mask[0] == 0)[0])
    with pytest.raises(IllegalAction) as raised:
        env.step(illegal)
    error = raised.value
    legal = GAME.legal_names(env.batch.mask[0])
    assert (error.action, error.seat, error.legal, error.index) == (illegal, env.player, legal, None)
    name = GAME.actions[illegal].name
    assert str(error) == (
        f"chouine: seat {env.player} may not take action {illegal} ({name}); legal now: {', '.join(legal)}"
    )
    assert snapshot(env) == before


def test_errors_can_be_pickled(env: CardEnv) -> None:
    """They cross the pipes of worker processes."""
    with pytest.raises(IllegalAction) as raised:
        env.step(int(np.flatnonzero(env.batch.mask[0] == 0)[0]))
    again = pickle.loads(pickle.dumps(raised.value))
    assert isinstance(again, IllegalAction)
    assert str(again) == str(raised.value)
    assert (again.action, again.index) == (raised.value.action, None)
    assert (again.action, again.seat, again.legal) == (raised.value.action, raised.value.seat, raised.value.legal)


# --- The course of an episode ----------------------------------------------------------------


def test_after_the_end(env: CardEnv) -> None:
    play_out(env)
    before = snapshot(env)
    with pytest.raises(EpisodeOver, match="chouine: game is over: call reset"):
        env.step(0)
    assert snapshot(env) == before
    env.reset()
    env.step(int(env.batch.mask[0].argmax()))


@pytest.mark.parametrize("call", ["step", "render", "action_masks", "state"])
def test_before_the_first_reset(call: str) -> None:
    env = CardEnv("chouine", render_mode="ansi")
    with pytest.raises(ResetNeeded, match="chouine: call reset first"):
        env.step(0) if call == "step" else getattr(env, call)()
    assert issubclass(ResetNeeded, gymnasium.error.ResetNeeded)


def test_a_batch_before_its_first_reset() -> None:
    b = batch.Batch(GAME, None, 2)
    with pytest.raises(EpisodeOver, match="chouine: game 0 has not been started: call reset first"):
        b.step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="the first reset of a game needs a seed"):
        b.reset()


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.5, "1", np.array([1])])
def test_bad_seed(env: CardEnv, seed: Any) -> None:
    before = snapshot(env)
    with pytest.raises((gymnasium.error.Error, ValueError), match=r"[Ss]eed"):
        env.reset(seed=seed)
    assert snapshot(env) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deal": 0}, "chouine: unknown reset option 'deal'.*dealer"),
        ({"dealer": 2}, r"chouine: reset option dealer=2 is not one of \[0, 1\]"),
        ({"dealer": -1}, r"chouine: reset option dealer=-1 is not one of \[0, 1\]"),
        ({"dealer": 0.0}, r"chouine: reset option dealer=0.0 is not one of \[0, 1\]"),
        ({"dealer": True}, r"chouine: reset option dealer=True is not one of \[0, 1\]"),
        ({"dealer": "0"}, r"chouine: reset option dealer='0' is not one of \[0, 1\]"),
        ({"dealer": None}, r"chouine: reset option dealer=None is not one of \[0, 1\]"),
    ],
)
@pytest.mark.parametrize("seed", [None, 3])
def test_bad_reset_option(env: CardEnv, options: dict[str, Any], message: str, seed: int | None) -> None:
    before = snapshot(env)
    with pytest.raises(InvalidOption, match=message):
        env.reset(seed=seed, options=options)
    assert snapshot(env) == before
    envs = CardVectorEnv("chouine", num_envs=2)
    with pytest.raises(InvalidOption, match=message):
        envs.reset(seed=seed, options=options)


# --- States ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "foreign",
    [None, 0, b"", "state", np.zeros(3), np.zeros(1, np.dtype([("rng", np.int64)])), np.zeros(2, GAME.dtype), [], {}],
    ids=lambda f: type(f).__name__,
)
def test_foreign_state(env: CardEnv, foreign: object) -> None:
    before = snapshot(env)
    with pytest.raises(
        InvalidState, match=f"chouine: not a state of this game: expected one record of {GAME.dtype.itemsize}"
    ):
        env.set_state(foreign)
    assert snapshot(env) == before


def test_state_under_other_options(env: CardEnv) -> None:
    other = CardEnv("chouine", quinte=100)
    other.reset(seed=1)
    before = snapshot(env)
    with pytest.raises(
        InvalidState, match="chouine: the state was made with another option quinte than this environment"
    ):
        env.set_state(other.state)
    assert snapshot(env) == before
    envs = CardVectorEnv("chouine", num_envs=2)
    envs.reset(seed=1)
    with pytest.raises(
        InvalidState, match="chouine: the state was made with another option quinte than this environment"
    ):
        envs.set_state(0, other.state)


@pytest.mark.parametrize("index", [2, -1, 0.5, None, True])
def test_vector_set_state_of_no_game(env: CardEnv, index: object) -> None:
    envs = CardVectorEnv("chouine", num_envs=2)
    envs.reset(seed=1)
    with pytest.raises(InvalidOption, match=r"there is no game .*: games are 0 ... 1"):
        envs.set_state(index, env.state)  # type: ignore[arg-type]


def test_describe_of_a_wrong_shape() -> None:
    layout = GAME.layouts(GAME.options())["observation"]
    with pytest.raises(ValueError, match=rf"this layout has {layout.size} numbers, not shape \(3,\)"):
        layout.describe(np.zeros(3))


# --- Extras ----------------------------------------------------------------------------------


def test_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.split(".")[0] in ("pettingzoo", "cardgym") and "pettingzoo" in n]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(importlib, "import_module", _without("pettingzoo", importlib.import_module))
    with pytest.raises(
        errors.MissingExtra, match=r"needs 'pettingzoo', which is not installed: pip install 'cardgym\[pettingzoo\]'"
    ):
        errors.require("pettingzoo", "pettingzoo")
    assert issubclass(errors.MissingExtra, ImportError)


def test_a_fault_inside_an_extra_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that the extra itself lacks is another matter than a missing extra."""
    monkeypatch.setattr(
        importlib, "import_module", _without("its_own_dependency", importlib.import_module, "pettingzoo")
    )
    with pytest.raises(ModuleNotFoundError, match="its_own_dependency") as raised:
        errors.require("pettingzoo", "pettingzoo")
    assert not isinstance(raised.value, errors.MissingExtra)


def _without(missing: str, real: Callable[..., Any], asked: str | None = None) -> Callable[..., Any]:
    def fake(name: str, package: str | None = None) -> Any:
        if name.split(".")[0] == (asked or missing):
            raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
        return real(name, package)

    return fake


def test_every_error_is_a_cardgym_error() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, Exception)]
    assert all(issubclass(k, errors.CardGymError) for k in kinds)
    assert len(kinds) >= 9
