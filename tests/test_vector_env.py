"""The vector environment against Gymnasium's own, made of our single environments, and under Gymnasium's wrappers."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as vector_wrappers

import cardgym
from cardgym.envs import CardVectorEnv
from cardgym.errors import EpisodeOver, IllegalAction, InvalidAction, InvalidOption, ResetNeeded
from cardgym.game import Game
from cardgym.kernel import JIT
from cardgym.testing import POLICIES

GAME = cardgym.load_game("chouine")
MODES = list(AutoresetMode)
ENCODINGS = ("observation", "history", "state")
STEPS = 150 if JIT else 50  # a deal has 32 to 39 decisions
Observation = dict[str, np.ndarray]


def choose(mask: np.ndarray, seed: int, step: int, game: Game = GAME) -> np.ndarray:
    """A legal action for every game; -1 where nothing is legal."""
    seeds = seed + np.arange(len(mask))
    policy = list(POLICIES.values())[seed % len(POLICIES)]
    return np.where(mask.any(axis=1), policy(game, mask, seeds, step), -1)


def pair(mode: AutoresetMode, num_envs: int, env_id: str, **options: Any) -> tuple[CardVectorEnv, SyncVectorEnv]:
    game = cardgym.load_game(cardgym.IDS[env_id]["game"])
    encodings = tuple(e for e in ENCODINGS if e != "history" or game.history is not None)
    ours = cardgym.make_vec(env_id, num_envs, autoreset_mode=mode, encodings=encodings, **options)
    assert isinstance(ours, CardVectorEnv)
    theirs = SyncVectorEnv(
        [lambda: cardgym.make(env_id, encodings=encodings, **options)] * num_envs, autoreset_mode=mode
    )
    return ours, theirs


def assert_same(a: Any, b: Any, where: str) -> None:
    """Equal, arrays with dtype and shape."""
    if isinstance(a, dict):
        assert sorted(a) == sorted(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}: {key}")
    elif isinstance(a, np.ndarray) and a.dtype != object:
        assert a.dtype == b.dtype, where
        assert a.shape == b.shape, where
        assert a.tobytes() == b.tobytes(), where
    elif isinstance(a, np.ndarray):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{where}[{i}]")
    else:
        assert a == b, where


def assert_same_final(ours: dict[str, Any], theirs: dict[str, Any], where: str) -> None:
    assert ("final_obs" in ours) == ("final_obs" in theirs), where
    assert ("final_info" in ours) == ("final_info" in theirs), where
    if "final_obs" not in ours:
        return
    assert_same(ours["_final_obs"], theirs["_final_obs"], f"{where}: _final_obs")
    assert_same(ours["_final_info"], theirs["_final_info"], f"{where}: _final_info")
    for i in range(len(ours["final_obs"])):
        assert_same(ours["final_obs"][i], theirs["final_obs"][i], f"{where}: final_obs {i}")
    for key in ours["final_info"]:
        assert_same(ours["final_info"][key], theirs["final_info"][key], f"{where}: final_info {key}")


# --- Against Gymnasium's SyncVectorEnv -------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("env_id", list(cardgym.IDS))
def test_as_sync_vector_env(mode: AutoresetMode, env_id: str) -> None:
    """Observations, rewards, ends, infos, what is seen at an end; in DISABLED with resets by mask."""
    deal = "Match" not in env_id
    steps = STEPS if deal else 2 * STEPS
    ours, theirs = pair(mode, 6, env_id)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    a, a_infos = ours.reset(seed=20)
    b, b_infos = theirs.reset(seed=20)
    ends = step = 0
    while step < steps or (JIT and deal and ends <= 6 and step < 40 * STEPS):
        step += 1
        assert_same(a, b, f"step {step}")
        assert a in ours.observation_space
        actions = choose(a["action_mask"], 20, step, ours.game)
        (a, *a_rest, a_infos), (b, *b_rest, b_infos) = ours.step(actions), theirs.step(actions)
        for name, x, y in zip(("rewards", "terminations", "truncations"), a_rest, b_rest, strict=True):
            assert_same(x, y, f"step {step}: {name}")
        assert_same(a_infos["player"].astype(np.int64), b_infos["player"], f"step {step}: player")
        assert_same_final(a_infos, b_infos, f"step {step}")
        over = a_rest[1]
        # Theirs shows the new episode's zeros where a game has just been started anew; ours what was earned.
        ended = over if mode == AutoresetMode.SAME_STEP else np.zeros(6, bool)
        earned = b_infos["final_info"]["rewards"] if ended.any() else b_infos["rewards"]
        assert_same(a_infos["rewards"], np.where(ended[:, None], earned, b_infos["rewards"]), f"step {step}: rewards")
        ends += int(over.sum())
        if mode == AutoresetMode.DISABLED and over.any():
            a, a_infos = ours.reset(options={"reset_mask": over})
            b, b_infos = theirs.reset(options={"reset_mask": over})
            assert_same(a_infos["player"][over].astype(np.int64), b_infos["player"][over], f"step {step}: reset")
    assert ends > 6 or not deal or not JIT


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_copied_and_shared_buffers_and_threads(mode: AutoresetMode, threads: int) -> None:
    """Values are the same; with ``copy=False`` the same arrays come back, with ``copy=True`` never."""
    copied = CardVectorEnv("chouine", num_envs=13, autoreset_mode=mode, threads=threads, encodings=ENCODINGS)
    shared = CardVectorEnv("chouine", num_envs=13, autoreset_mode=mode, copy=False, encodings=ENCODINGS)
    kept: list[tuple[Any, Any]] = []
    last: Any = None
    a, b = copied.reset(seed=3), shared.reset(seed=3)
    for step in range(STEPS):
        assert_same(a[0], b[0], f"step {step}")
        kept.append((a, pickle.dumps(a)))
        if last is not None:
            assert all(last[0][name] is b[0][name] for name in b[0]), "one buffer per encoding"
            assert last[1] is b[1]
        last = b if step else None
        actions = choose(a[0]["action_mask"], 3, step)
        a, b = copied.step(actions), shared.step(actions)
        for x, y in zip(a[:4], b[:4], strict=True):
            assert_same(x, y, f"step {step}")
        assert_same(a[4], b[4], f"step {step}: infos")
        if mode == AutoresetMode.DISABLED and a[2].any():
            over = a[2].copy()
            options = {"reset_mask": over}
            a, b = (copied.reset(options=options)[0], *a[1:]), (shared.reset(options=options)[0], *b[1:])
            last = None  # what a reset returns has another form
    assert all(pickle.dumps(value) == before for value, before in kept), "what was copied stays as it was"
    copied.close()


def test_writing_to_a_shared_buffer_harms_nothing() -> None:
    """The mask that is handed out is not the one against which actions are checked."""
    envs = CardVectorEnv("chouine", num_envs=2, copy=False)
    observations, _ = envs.reset(seed=0)
    illegal = observations["action_mask"].argmin(axis=1)
    observations["action_mask"][:] = 1
    with pytest.raises(IllegalAction):
        envs.step(illegal)


# --- Resets ----------------------------------------------------------------------------------


def test_seeds() -> None:
    """A seed ``s``, a list, NumPy integers; None goes on with the streams."""
    envs = CardVectorEnv("chouine", num_envs=3)
    first, _ = envs.reset(seed=7)
    listed, _ = envs.reset(seed=[7, 8, 9])
    assert_same(first, listed, "list")
    assert_same(first, envs.reset(seed=np.int64(7))[0], "NumPy integer")  # type: ignore[arg-type]
    assert_same(first, envs.reset(seed=np.array([7, 8, 9]))[0], "array")  # type: ignore[arg-type]
    second, _ = envs.reset()
    assert (second["observation"] != first["observation"]).any(axis=1).all()
    envs.reset(seed=7)
    assert_same(second, envs.reset()[0], "the second episode follows from the seed")
    mixed, _ = envs.reset(seed=[None, 8, None])
    assert_same(mixed["observation"][1], first["observation"][1], "one seeded")
    for i in range(3):
        single = cardgym.make("Chouine-v0")
        assert_same(single.reset(seed=7 + i)[0]["observation"], first["observation"][i], f"single {i}")


def test_without_a_seed_games_differ() -> None:
    a, b = (CardVectorEnv("chouine", num_envs=4).reset()[0]["observation"] for _ in range(2))
    assert len({row.tobytes() for row in (*a, *b)}) == 8


@pytest.mark.parametrize(
    "seed", [-1, 1.5, "1", True, [1], [1, 2, 3], [1, -1], [1, 2.5], [None, 1 << 64], (1 << 64) - 1]
)
def test_bad_seeds_change_nothing(seed: Any) -> None:
    envs = CardVectorEnv("chouine", num_envs=2)
    envs.reset(seed=0)
    before = envs.states.tobytes()
    with pytest.raises(ValueError, match="seed"):
        envs.reset(seed=seed)
    assert envs.states.tobytes() == before


def test_reset_mask_and_options() -> None:
    """Only the chosen games start anew, under the reset options; the others stay in mid-game."""
    envs = CardVectorEnv("chouine", num_envs=4, autoreset_mode="Disabled")
    observations, _ = envs.reset(seed=5)
    for step in range(7):
        observations, *_ = envs.step(choose(observations["action_mask"], 5, step))
    before = envs.states
    chosen = np.array([True, False, True, False])
    given = {"reset_mask": chosen, "dealer": 1}
    again, infos = envs.reset(options=given)
    assert list(given) == ["reset_mask", "dealer"], "the caller's options stay whole"
    after = envs.states
    assert (after[~chosen] == before[~chosen]).all()
    assert after["moves"].tolist() == [0, 7, 0, 7]
    assert after["dealer"][chosen].tolist() == [1, 1]
    assert infos["player"][chosen].tolist() == [0, 0]
    assert_same(again["observation"][~chosen], observations["observation"][~chosen], "the others are shown as they are")
    seeded, _ = envs.reset(seed=5, options={"reset_mask": chosen})
    assert_same(
        seeded["observation"][2], CardVectorEnv("chouine", num_envs=4).reset(seed=5)[0]["observation"][2], "seed"
    )


@pytest.mark.parametrize(
    "mask", [[True, False], np.array([1, 0]), np.array([True]), np.array([False, False]), np.array([[True, True]])],
    ids=str,
)  # fmt: skip
def test_bad_reset_masks(mask: object) -> None:
    envs = CardVectorEnv("chouine", num_envs=2, autoreset_mode="Disabled")
    envs.reset(seed=0)
    before = envs.states.tobytes()
    with pytest.raises(InvalidOption, match=r"reset_mask must be a bool array of shape \(2,\) with some True"):
        envs.reset(options={"reset_mask": mask})
    assert envs.states.tobytes() == before


# --- The three modes in use ------------------------------------------------------------------


def to_the_end(envs: CardVectorEnv, seed: int) -> tuple[Observation, np.ndarray, np.ndarray]:
    """Steps until some game ends; observations, rewards, terminations of that step."""
    observations, _ = envs.reset(seed=seed)
    for step in range(1000):
        observations, rewards, over, _, _ = envs.step(choose(observations["action_mask"], seed, step))
        if over.any():
            return observations, rewards, over
    raise AssertionError("no game ended")


def test_next_step_ignores_actions_of_ended_games() -> None:
    """Whatever they are; and the step that starts them anew pays nothing."""
    runs = []
    for nonsense in (-1, 0, 50, 99):
        envs = CardVectorEnv("chouine", num_envs=5, autoreset_mode="NextStep")
        observations, rewards, over = to_the_end(envs, 12)
        assert (np.abs(rewards[over]) <= 1).all()
        assert not observations["action_mask"][over].any()
        actions = choose(observations["action_mask"], 12, 500)
        actions[over] = nonsense
        observations, rewards, terminations, _, infos = envs.step(actions)
        assert not terminations[over].any()
        assert not rewards[over].any()
        assert not infos["rewards"][over].any()
        assert observations["action_mask"][over].any(axis=1).all()
        assert (envs.states["moves"][over] == 0).all()
        runs.append(envs.states.tobytes())
    assert len(set(runs)) == 1


def test_next_step_refuses_an_illegal_action_and_starts_nothing_anew() -> None:
    envs = CardVectorEnv("chouine", num_envs=5, autoreset_mode="NextStep")
    observations, _, over = to_the_end(envs, 12)
    actions = choose(observations["action_mask"], 12, 500)
    going = int(np.flatnonzero(~over)[0])
    before = envs.states.tobytes()
    actions[going] = observations["action_mask"][going].argmin()
    with pytest.raises(IllegalAction, match=f"in game {going} of the batch"):
        envs.step(actions)
    with pytest.raises(InvalidAction, match=r"expected 5 actions, got shape \(4,\)"):
        envs.step(actions[:4])
    assert envs.states.tobytes() == before
    actions[going] = observations["action_mask"][going].argmax()
    envs.step(actions)


def test_disabled_wants_a_reset() -> None:
    envs = CardVectorEnv("chouine", num_envs=5, autoreset_mode="Disabled")
    observations, _, over = to_the_end(envs, 12)
    before = envs.states.tobytes()
    with pytest.raises(EpisodeOver, match=rf"chouine: game {np.flatnonzero(over)[0]} is over: reset it with options"):
        envs.step(choose(observations["action_mask"], 12, 500).clip(0))
    assert envs.states.tobytes() == before
    observations, _ = envs.reset(options={"reset_mask": over})
    envs.step(choose(observations["action_mask"], 12, 501))


def test_same_step_tells_the_end_apart() -> None:
    """``final_obs`` is the ended game's, the observation the new one's; scores are natural points."""
    envs = CardVectorEnv("chouine", num_envs=5, encodings=ENCODINGS)
    observations, _ = envs.reset(seed=12)
    for step in range(100):
        observations, _, over, _, infos = envs.step(choose(observations["action_mask"], 12, step))
        assert ("final_obs" in infos) == over.any()
        if over.any():
            break
    row, other = int(np.flatnonzero(over)[0]), int(np.flatnonzero(~over)[0])
    final = infos["final_obs"][row]
    assert infos["final_obs"][other] is None
    assert not final["action_mask"].any()
    assert GAME.layouts(GAME.options())["observation"].describe(final["observation"])["hand"] == []
    assert observations["action_mask"][row].any()
    assert infos["final_info"]["scores"][row].sum() >= 130
    assert infos["final_info"]["scores"][other].tolist() == [0, 0]
    assert infos["final_info"]["rewards"][row].sum() == 0


# --- Wrong use -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_step_before_reset(mode: AutoresetMode) -> None:
    envs = CardVectorEnv("chouine", num_envs=2, autoreset_mode=mode)
    with pytest.raises(ResetNeeded, match="chouine: call reset first"):
        envs.step(np.zeros(2, np.int64))


def test_an_illegal_action_stops_all_games() -> None:
    envs = CardVectorEnv("chouine", num_envs=4)
    observations, _ = envs.reset(seed=0)
    actions = observations["action_mask"].argmax(axis=1)
    actions[2] = observations["action_mask"][2].argmin()
    before = envs.states.tobytes()
    with pytest.raises(IllegalAction) as raised:
        envs.step(actions)
    assert raised.value.index == 2
    assert raised.value.seat == envs.batch.players[2]
    assert envs.states.tobytes() == before


def test_render() -> None:
    envs = CardVectorEnv("chouine", num_envs=2, render_mode="ansi")
    envs.reset(seed=0)
    drawings = envs.render()
    assert drawings is not None
    for i in range(2):
        single = cardgym.make("Chouine-v0", render_mode="ansi")
        single.reset(seed=i)
        assert drawings[i] == single.render()
    assert CardVectorEnv("chouine", num_envs=2).render() is None


def test_set_state() -> None:
    """One game goes on from elsewhere, the others stay; a finished state is started anew as the mode says."""
    source = cardgym.make("Chouine-v0").unwrapped
    source.reset(seed=77)
    envs = CardVectorEnv("chouine", num_envs=3, autoreset_mode="NextStep")
    before, _ = envs.reset(seed=0)
    envs.set_state(1, source.state)
    assert (envs.states[1] == source.state[0]).all()
    actions = before["action_mask"].argmax(axis=1)
    actions[1] = source.batch.mask[0].argmax()
    observations, *_ = envs.step(actions)
    observation, *_ = source.step(int(actions[1]))
    assert_same(observations["observation"][1], observation["observation"], "goes on")
    while not source.batch.over[0]:
        source.step(int(source.batch.mask[0].argmax()))
    envs.set_state(1, source.state)
    actions = observations["action_mask"].argmax(axis=1)
    envs.step(actions)
    assert envs.states["moves"].tolist() == [2, 0, 2]


# --- Through Gymnasium -----------------------------------------------------------------------


def test_made_by_gymnasium() -> None:
    """The id with our module's name before it imports us; every vectorization mode works."""
    env = gymnasium.make("cardgym:cardgym/Chouine-v0", memory="table")
    assert env.unwrapped.options.memory == "table"
    native = gymnasium.make_vec("cardgym:cardgym/Chouine-v0", num_envs=2, memory="table")
    assert isinstance(native.unwrapped, CardVectorEnv)
    assert native.spec is not None
    assert native.spec.id == "cardgym/Chouine-v0"
    sync = gymnasium.make_vec("cardgym:cardgym/Chouine-v0", num_envs=2, vectorization_mode="sync", memory="table")
    assert isinstance(sync.unwrapped, SyncVectorEnv)
    assert_same(native.reset(seed=4)[0], dict(sync.reset(seed=4)[0]), "native and sync")
    native.close()


def test_async() -> None:
    """Worker processes play the same games, and their errors reach us."""
    envs = gymnasium.make_vec("cardgym:cardgym/Chouine-v0", num_envs=2, vectorization_mode="async")
    assert isinstance(envs.unwrapped, AsyncVectorEnv)
    ours = CardVectorEnv("chouine", num_envs=2, autoreset_mode="NextStep")
    a, _ = envs.reset(seed=4)
    b, _ = ours.reset(seed=4)
    for step in range(40):
        assert_same({k: np.asarray(a[k]) for k in b}, b, f"step {step}")
        actions = choose(b["action_mask"], 4, step)
        (a, *a_rest, _), (b, *b_rest, _) = envs.step(actions), ours.step(actions)
        for x, y in zip(a_rest, b_rest, strict=True):
            assert_same(np.asarray(x), y, f"step {step}")
    with (
        pytest.warns(UserWarning, match="Worker"),
        pytest.raises(IllegalAction, match=r"seat \d may not take action .* legal now: "),
    ):
        envs.step(b["action_mask"].argmin(axis=1))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("copy", [True, False])
def test_record_episode_statistics(mode: AutoresetMode, copy: bool) -> None:
    envs = vector_wrappers.RecordEpisodeStatistics(CardVectorEnv("chouine", num_envs=3, autoreset_mode=mode, copy=copy))
    observations, _ = envs.reset(seed=9)
    lengths = []
    for step in range(STEPS):
        observations, _, over, _, infos = envs.step(choose(observations["action_mask"], 9, step))
        lengths += [int(n) for n in infos["episode"]["l"][over]] if over.any() else []
        if mode == AutoresetMode.DISABLED and over.any():
            observations, _ = envs.reset(options={"reset_mask": over.copy()})
    assert len(lengths) >= 3
    assert all(4 <= n <= 39 for n in lengths)
    assert envs.episode_count == len(lengths)


def test_flattened_observations() -> None:
    envs = vector_wrappers.FlattenObservation(CardVectorEnv("chouine", num_envs=3, autoreset_mode="NextStep"))
    plain = CardVectorEnv("chouine", num_envs=3, autoreset_mode="NextStep")
    size = sum(int(np.prod(s.shape)) for s in plain.single_observation_space.spaces.values())
    flat, _ = envs.reset(seed=9)
    observations, _ = plain.reset(seed=9)
    for step in range(STEPS):
        assert flat.shape == (3, size)
        expected = np.concatenate([observations["action_mask"], observations["observation"]], axis=1)
        assert (flat == expected).all()
        actions = choose(observations["action_mask"], 9, step)
        flat, *_ = envs.step(actions)
        observations, *_ = plain.step(actions)


def test_transformed_observations() -> None:
    """Through the wrapper for whole batches, and through one for single observations made vectorial.

    Both of them, as flattening, refuse ``SAME_STEP`` by a rule of Gymnasium's own.
    """
    space = gymnasium.spaces.Box(0, 1, (len(GAME.actions),), np.int8)
    games = [CardVectorEnv("chouine", num_envs=3, autoreset_mode="NextStep") for _ in range(2)]
    single = vector_wrappers.VectorizeTransformObservation(
        games[0], gymnasium.wrappers.TransformObservation, func=mask_of, observation_space=space
    )
    whole = vector_wrappers.TransformObservation(games[1], mask_of, single_observation_space=space)
    a, b = (np.asarray(envs.reset(seed=1)[0]).copy() for envs in (single, whole))
    for step in range(STEPS):
        assert_same(a, b, f"step {step}")
        assert_same(a, games[0].batch.mask, f"step {step}")
        actions = choose(a, 1, step)
        a, b = (np.asarray(envs.step(actions)[0]).copy() for envs in (single, whole))


def mask_of(observation: Observation) -> np.ndarray:
    return observation["action_mask"]


def test_infos_as_list() -> None:
    envs = vector_wrappers.DictInfoToList(CardVectorEnv("chouine", num_envs=3))
    masks = CardVectorEnv("chouine", num_envs=3)
    observations, infos = envs.reset(seed=2)
    masks.reset(seed=2)
    assert [int(i["player"]) for i in infos] == masks.batch.players.tolist()
    for step in range(STEPS):
        observations, _, over, _, infos = envs.step(choose(observations["action_mask"], 2, step))
        for i in range(3):
            assert ("final_info" in infos[i]) == over[i]
            if over[i]:
                assert set(infos[i]["final_info"]) >= {"scores", "rewards"}
