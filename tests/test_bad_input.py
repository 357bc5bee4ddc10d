"""Bad input in bulk: whatever comes, an error of ours or good input, and nothing changes, hangs or stays behind.

About 2 000 tries in the plain run and 100 000 in the long one, all from fixed seeds.  What single errors say is tested
in ``test_errors.py``, ``test_records.py`` and beside the readers of the other files.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import json
import math
import random
import signal
import string
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from test_errors import snapshot
from test_records import read_and_verified

import cardgym
from cardgym import records, testing
from cardgym.baselines import model_file, ppo, sb3_agent, scorecard, training
from cardgym.baselines.agents import Decisions, RandomAgent
from cardgym.baselines.network import Network, NetworkAgent, Shape
from cardgym.batch import Batch
from cardgym.envs import CardEnv, CardVectorEnv
from cardgym.errors import CardGymError, InvalidOption, InvalidRecord, UnknownGame

HANG = 60
"""Seconds after which a try counts as hanging; even a busy machine needs far fewer than one."""

sized = pytest.mark.parametrize("share", [1, pytest.param(50, marks=pytest.mark.long)], ids=["few", "many"])
every_game = pytest.mark.parametrize("game_name", cardgym.game_names())

# --- Bad things ------------------------------------------------------------------------------

NUMBERS = [0, 1, -1, 2, 3, 7, 255, 256, 1 << 31, -(1 << 31) - 1, 1 << 63, -(1 << 63), 1 << 64, 10**30, 10**400]
FLOATS = [0.0, -0.0, 0.5, 1e-320, 1e308, -1e308, math.inf, -math.inf, math.nan, np.float32(1.5), np.float64(1e300)]
OTHERS: list[Any] = [
    None, True, False, "", b"", (), [], {}, set(), object(), 1j, range(3), Ellipsis, NotImplemented, int, print,
    np.int8(3), np.uint64(1 << 63), np.bool_(True), np.str_("deal"), np.zeros(0), np.zeros((1, 1), np.int64),
    np.array([1.0]), np.array("x"), np.array(None), np.datetime64("2020-01-01"), np.zeros(2, "i8,i8"),
]  # fmt: skip


def odd_value(draw: random.Random, known: list[str]) -> Any:
    """Any value: numbers at the edges, other types, words that are nearly right, and nests of these."""
    kind = draw.randrange(6)
    if kind == 0:
        return draw.choice(NUMBERS) + draw.choice((0, 0, 1, -1))
    if kind == 1:
        return draw.choice(FLOATS)
    if kind == 2:
        return draw.choice(OTHERS)
    if kind == 3:
        return odd_word(draw, known)
    if kind == 4:
        return draw.randrange(-300, 300)
    inner = [odd_value(draw, known) for _ in range(draw.randrange(3))]
    return draw.choice((list, tuple, lambda values: dict(enumerate(values)), lambda values: {"a": values}))(inner)


def odd_word(draw: random.Random, known: list[str]) -> str:
    """A known word, one with a letter changed, or letters."""
    if known and draw.random() < 0.5:
        word = draw.choice(known)
        if draw.random() < 0.5:
            place = draw.randrange(len(word) + 1)
            word = word[:place] + draw.choice("aeX_0 é\0") + word[place + draw.randrange(2) :]
        return word
    return "".join(draw.choices(string.printable + "é♥\ud800", k=draw.randrange(9)))


def odd_json(draw: random.Random, known: list[str]) -> Any:
    """As :func:`odd_value`, of what JSON and model files can hold."""
    value = odd_value(draw, known)
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return None
    return value


def damaged(draw: random.Random, data: bytes) -> bytes:
    """Bytes overwritten, left out, put in, doubled, or cut off; or nothing like the data at all."""
    if draw.random() < 0.1:
        return draw.randbytes(draw.randrange(400))
    for _ in range(draw.choice((1, 1, 1, 2, 5, 20))):
        a, n = draw.randrange(len(data) + 1), draw.choice((0, 1, 1, 2, 8, 100))
        new = draw.choice((b"", draw.randbytes(n), data[a : a + n] * 2, b"\0" * n))
        data = data[:a] + new + data[a + draw.choice((0, n, len(new))) :]
    return data[: draw.randrange(len(data) + 1)] if draw.random() < 0.1 else data


def changed_somewhere(draw: random.Random, value: Any, known: list[str]) -> Any:
    """A nest of dicts and lists with something in it replaced, left out or added."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        name = draw.choice(list(value))
        how = draw.randrange(8)
        if how == 0:
            return {k: v for k, v in value.items() if k != name}
        if how == 1:
            return {**value, odd_word(draw, [*known, *map(str, value)]): odd_json(draw, known)}
        return {**value, name: changed_somewhere(draw, value[name], known)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        place = draw.randrange(len(value))
        return [*value[:place], changed_somewhere(draw, value[place], known), *value[place + 1 :]]
    return odd_json(draw, known)


# --- Tries -----------------------------------------------------------------------------------


@contextlib.contextmanager
def no_hang(what: Any) -> Iterator[None]:
    """Fails where the block takes much too long."""

    def fail(*_: Any) -> None:
        pytest.fail(f"hangs: {what!r:.3000}")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(HANG)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def tried(what: Any, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """What a function gives, or the error of ours that it raises; any other error fails the test."""
    try:
        with no_hang(what), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return function(*arguments, **keywords)
    except CardGymError as error:
        if not str(error).strip():
            raise AssertionError(f"{type(error).__name__} without words: {what!r}") from error
        return error
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}: {what!r:.3000}") from error


# --- Options ---------------------------------------------------------------------------------


def option_words(game: Any) -> list[str]:
    words = [name for name, *_ in game.option_fields()]
    choices = [f.metadata["choices"] or () for f in game.options.__dataclass_fields__.values()]
    return [*words, *(c for cs in choices for c in cs if isinstance(c, str)), "cls", "self", "game", "dtype", "auto"]


def odd_options(draw: random.Random, game: Any) -> dict[str, Any]:
    words = option_words(game)
    names = [name for name, *_ in game.option_fields()]
    chosen = [draw.choice(names) if draw.random() < 0.8 else odd_word(draw, words) for _ in range(draw.randrange(1, 4))]
    good = {f.name: f.metadata["choices"] for f in game.options.__dataclass_fields__.values()}
    return {n: draw.choice(good[n]) if good.get(n) and draw.random() < 0.4 else odd_value(draw, words) for n in chosen}


@sized
@every_game
def test_options(game_name: str, share: int) -> None:
    """Any dictionary is refused, or is a game that can be played and whose state holds just these options."""
    game = cardgym.load_game(game_name)
    draw = random.Random(f"options of {game_name}")
    taken = 0
    for _ in range(100 * share):
        options = odd_options(draw, game)
        made = tried((game_name, options), game.options.of, **options)
        if isinstance(made, Exception):
            continue
        taken += 1
        env = CardEnv(game_name, **options)
        env.reset(seed=1)
        for field, number in made.encoded().items():
            assert env.state[field][0] == number, f"{game_name} {options}: {field}"
        for move in range(5):
            reward = env.step(int(testing.uniform(game, env.batch.mask, np.array([1]), move)[0]))[1]
            assert not math.isnan(reward)
            if env.batch.over[0]:
                break
    assert taken > 3 * share, "no try was good"


@sized
def test_arguments_of_the_environments(share: int) -> None:
    """Any name and keywords are refused or make an environment."""
    draw = random.Random("make")
    names = cardgym.game_names()
    words = {
        "render_mode": ["ansi", "human", "rgb_array"],
        "view": ["player", "all"],
        "encodings": ["observation", "history", "state"],
        "render_size": [],
        "num_envs": [],
        "threads": [],
        "autoreset_mode": ["NextStep", "SameStep", "Disabled"],
    }
    small = {"num_envs": 300, "threads": 8}  # more is good input, which only a large machine can serve
    for _ in range(100 * share):
        game_name = draw.choice(names) if draw.random() < 0.8 else odd_word(draw, names)
        given = {n: odd_value(draw, words[n]) for n in draw.sample(sorted(words), draw.randrange(1, 3))}
        if any(_is_number(given.get(name)) and given[name] > most for name, most in small.items()):
            continue
        if str(given.get("render_mode")) == "human":  # a window
            continue
        make: Any = CardVectorEnv if {"num_envs", "threads", "autoreset_mode"} & given.keys() else CardEnv
        made = tried((game_name, given), make, game_name, **given)
        if not isinstance(made, Exception):
            made.reset(seed=1)
            made.close()
        found = tried(game_name, cardgym.make, odd_word(draw, list(cardgym.IDS)))
        assert isinstance(found, (UnknownGame, gymnasium.Env))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, np.integer))


# --- Actions ---------------------------------------------------------------------------------


@sized
@every_game
def test_actions_in_every_phase(game_name: str, share: int) -> None:
    """In positions of every phase, and after the end, a value is a legal action or is refused and changes nothing."""
    subject = testing.subject(f"{''.join(w.capitalize() for w in game_name.split('_'))}-v0")
    draw = random.Random(f"actions of {game_name}")
    env, envs = CardEnv(subject.game, encodings=subject.encodings), CardVectorEnv(game_name, num_envs=2)
    env.reset(seed=0)
    envs.reset(seed=0)
    names = [a.name for a in subject.game.actions]
    for state in positions(subject, draw, 6 * share):
        env.set_state(state)
        for i in range(2):
            envs.set_state(i, state)
        legal = set(np.flatnonzero(env.batch.mask[0]).tolist())
        before, rows = snapshot(env), testing.buffers(envs.batch)
        for _ in range(15):
            value = draw.choice((odd_value(draw, names), draw.randrange(-2, len(names) + 2)))
            if _is_number(value) and not isinstance(value, bool) and value in legal:
                continue
            if isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.size == 1 and value.item() in legal:
                continue
            for who, step in (("single", env.step), ("vector", envs.step)):
                given = [value, draw.choice((*legal, 0))] if who == "vector" and draw.random() < 0.7 else value
                found = tried((game_name, who, given), step, given)
                assert isinstance(found, CardGymError), f"{game_name} {who}: {given!r} was taken"
            assert snapshot(env) == before, f"{game_name}: {value!r} changes the game"
            assert testing.buffers(envs.batch) == rows, f"{game_name}: {value!r} changes a batch"


def positions(subject: testing.Subject, draw: random.Random, count: int) -> list[np.ndarray]:
    """States of random games, each phase as often as the others, the finished among them."""
    phases: dict[Any, list[np.ndarray]] = {}
    for policy, seed in itertools.product(testing.POLICIES, range(10)):
        trail = testing.walk(subject, policy, 1, draw.randrange(1 << 40) + seed)
        for state in trail.states:
            phase = int(state["phase"]) if "phase" in subject.game.dtype.names else int(state["height"] > 0)
            phases.setdefault((phase, int(state["over"])), []).append(state.reshape(1))
    return [draw.choice(phases[p]) for p in itertools.islice(itertools.cycle(sorted(phases)), count)]


# --- Files -----------------------------------------------------------------------------------


def tries_of(draw: random.Random, count: int, path: Path, good: bytes) -> Iterator[bytes]:
    """Puts damaged versions of a file in its place, one by one; checks that nothing else appears beside it."""
    for _ in range(count):
        data = damaged(draw, good)
        path.write_bytes(data)
        yield data
        assert [p.name for p in path.parent.iterdir()] == [path.name], "a file was left behind"
        assert path.read_bytes() == data, "the file was changed"


@functools.cache
def good_record(game_name: str) -> records.GameRecord:
    game = cardgym.load_game(game_name)
    env = CardEnv(game_name)
    env.reset(seed=3)
    actions = []
    while not env.batch.over[0]:
        actions.append(int(testing.uniform(game, env.batch.mask, np.array([3]), len(actions))[0]))
        env.step(actions[-1])
    return records.GameRecord.played(game_name, 3, actions)


@sized
@every_game
def test_records(game_name: str, share: int, tmp_path: Path) -> None:
    """Damaged bytes and changed fields: every line is refused or is a record that replays."""
    draw = random.Random(f"records of {game_name}")
    good = good_record(game_name)
    line = (good.to_json() + "\n").encode()
    words = [*json.loads(line), *cardgym.IDS, *good.options, *good.actions[:9]]
    path = tmp_path / "games.jsonl"
    for data in tries_of(draw, 60 * share, path, line):
        tried(data, read_and_verified, path)
    for _ in range(60 * share):
        values = changed_somewhere(draw, json.loads(line), words)
        text = json.dumps(values)
        found = tried(text, records.GameRecord.from_json, text)
        if not isinstance(found, Exception):
            tried(text, records.verify, found)
            if draw.random() < 0.1:
                form = draw.choice(list(records.TRACES))
                tried((form, text), records.export, path, [found], form)
    assert list(tmp_path.iterdir()) == [path]


@functools.cache
def good_model(training_too: bool) -> bytes:
    game = cardgym.load_game("chouine")
    shape = Shape((4,), "shared")
    about = model_file.notes("ppo", game, {}, True, shape, settings={"seed": 1}, decisions=7)
    state = {"decisions": 7, "generator": [1, 2, 3]} if training_too else {}
    out = io.BytesIO()
    torch.save({"notes": about, "weights": Network(game, game.options(), shape).state_dict(), "training": state}, out)
    return out.getvalue()


@sized
def test_models_and_checkpoints(share: int, tmp_path: Path) -> None:
    """Damaged bytes and changed notes: a file is refused, or is a network of the right shape."""
    draw = random.Random("models")
    game = cardgym.load_game("chouine")
    path = tmp_path / "model.pt"
    for checkpoint in (False, True):
        good = good_model(checkpoint)
        contents = torch.load(io.BytesIO(good), weights_only=True)
        now = {**contents["notes"], "settings": {"seed": 1}}

        load: Any = model_file.load
        if checkpoint:
            load = functools.partial(model_file.load_checkpoint, now=now, free=())
        for data in tries_of(draw, 40 * share, path, good):
            _is_model(tried(data, load, path, game))
        for _ in range(40 * share):
            part = draw.choice(("notes", "notes", "weights", "training", ""))
            changed = dict(contents)
            if part:
                changed[part] = changed_somewhere(draw, contents[part], [*contents["notes"], "chouine", "tarot"])
            else:
                changed = changed_somewhere(draw, contents, list(contents))
            torch.save(changed, path)
            _is_model(tried((part, changed), load, path, game))


def _is_model(found: Any) -> None:
    assert isinstance(found, (model_file.Model, CardGymError))
    if isinstance(found, model_file.Model):  # what it plays is legal, whatever its numbers are
        agent = NetworkAgent(found.network, found.game, found.options, found.notes["canonical_suits"], "damaged")
        batch = Batch(found.game, found.options, 2)
        batch.reset([0, 1])
        batch.step(agent.act(Decisions(batch, np.arange(2)), np.random.default_rng(0)))


@sized
def test_stable_baselines_models(share: int, tmp_path: Path) -> None:
    """Damaged bytes of a saved SB3 model are refused, wherever they are, or change only numbers."""
    draw = random.Random("sb3 models")
    game = cardgym.load_game("chouine")
    good = _sb3_model(tmp_path)
    path = tmp_path / "damaged" / "model.zip"
    path.parent.mkdir()
    for data in tries_of(draw, 4 * share, path, good):
        what = tried(len(data), sb3_agent.SB3Agent.load, path, game)
        assert isinstance(what, (sb3_agent.SB3Agent, InvalidRecord))


def _sb3_model(folder: Path) -> bytes:
    from sb3_contrib import MaskablePPO

    from cardgym.wrappers import SB3VecEnv, VectorSelfPlay

    game = cardgym.load_game("chouine")
    envs = VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=2), [RandomAgent()])
    model = MaskablePPO("MlpPolicy", SB3VecEnv(envs, seed=1), policy_kwargs={"net_arch": [4]})
    model.cardgym_notes = sb3_agent.notes(game, True, {})
    model.save(folder / "good.zip")
    return (folder / "good.zip").read_bytes()


@sized
def test_settings_files(share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damaged bytes and changed values of a settings file are refused, or are settings of the right types."""
    draw = random.Random("settings")
    good = (training.resources.files("cardgym.configs") / "ppo_chouine.toml").read_bytes()
    monkeypatch.setattr(training.resources, "files", lambda package: tmp_path)
    path = tmp_path / "ppo_chouine.toml"

    asked = (ppo.Settings, "ppo", "chouine")
    path.write_bytes(good)
    whole = training.settings_from_file(*asked)
    for data in tries_of(draw, 150 * share, path, good):
        found = tried(data, training.settings_from_file, *asked)
        if not isinstance(found, Exception):
            kinds = {k: type(v) for k, v in vars(whole).items() if v is not None}
            wrong = {k: getattr(found, k) for k, kind in kinds.items() if not isinstance(getattr(found, k), kind)}
            assert not wrong, f"{wrong}: {data!r}"


@sized
def test_score_cards(share: int, tmp_path: Path) -> None:
    """Damaged bytes and changed values of a score card are refused, or are a card that can be compared and printed."""
    draw = random.Random("cards")
    card = {
        "protocol": scorecard.PROTOCOL,
        "games": {"chouine": {"random": {"score": 1.0}}},
    }
    path = tmp_path / "card.json"
    for data in tries_of(draw, 100 * share, path, json.dumps(card).encode()):
        tried(data, scorecard.read_card, path)
    for _ in range(50 * share):
        path.write_text(json.dumps(changed_somewhere(draw, card, list(card))))
        tried(path.read_text(), scorecard.read_card, path)


# --- The tests themselves --------------------------------------------------------------------


def test_a_foreign_error_and_a_hang_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match=r"ZeroDivisionError.*: 'one by nothing'"):
        tried("one by nothing", lambda: 1 // 0)
    monkeypatch.setattr(signal, "alarm", lambda seconds: signal.setitimer(signal.ITIMER_REAL, 0.05 * bool(seconds)))

    def endless() -> None:
        while True:  # in Python, not inside a C function, so that a signal gets through
            pass

    with pytest.raises(pytest.fail.Exception, match="hangs: 'for ever'"):
        tried("for ever", endless)


@pytest.mark.filterwarnings("error")
def test_numbers_of_few_bits_are_options_too() -> None:
    """The largest float does not fit into them, so comparing with it would warn."""
    for few in (np.float16, np.float32):
        assert CardEnv("chouine", reward_scale=few(1.5)).options.reward_scale == 1.5  # type: ignore[attr-defined]
        for strange in ("inf", "nan"):
            with pytest.raises(InvalidOption, match="is not a number"):
                CardEnv("chouine", reward_scale=few(strange))
