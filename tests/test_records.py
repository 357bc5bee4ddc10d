"""Game records: what is written is read, what is read replays, what is damaged is named."""

from __future__ import annotations

import dataclasses
import json
import warnings

import numpy as np
import pytest

import cardgym
from cardgym import records
from cardgym.errors import InvalidRecord
from cardgym.records import GameRecord, RecordWriter, read, replay, verify, write


def played(env_id: str, seed: int, reset: dict | None = None, **options) -> tuple[GameRecord, list[np.ndarray], dict]:
    """A random game of the single environment: its record, its states and its last info."""
    env = cardgym.make(env_id, **options).unwrapped
    generator = np.random.default_rng(seed)
    _, info = env.reset(seed=seed, options=reset)
    states, actions, returns, over = [env.state], [], np.zeros(env.num_seats), False
    while not over:
        action = int(generator.choice(np.flatnonzero(info["action_mask"])))
        _, _, over, _, info = env.step(action)
        returns += info["rewards"]
        states.append(env.state)
        actions.append(action)
    record = GameRecord.played(env_id, seed, actions, options=options, reset=reset, agents=["left", "right"])
    return record, states, {**info, "rewards": returns}


GAMES = [
    ("cardgym/Chouine-v0", 3, None, {}),
    ("cardgym/Chouine-v0", 2**64 - 1, {"dealer": 1}, {"reward": "margin", "quinte": 100, "reward_scale": 0.5}),
    ("cardgym/ChouineMatch-v0", 4, {"dealer": 0}, {"wins_per_manche": 5, "manches": 3}),
]


@pytest.fixture
def some() -> list[GameRecord]:
    return [played(*game[:3], **game[3])[0] for game in GAMES]


@pytest.mark.parametrize(("env_id", "seed", "reset", "options"), GAMES)
def test_a_record_replays(tmp_path, env_id, seed, reset, options):
    record, states, info = played(env_id, seed, reset, **options)
    write(tmp_path / "games.jsonl", [record])
    (again,) = read(tmp_path / "games.jsonl")
    assert again == record
    verify(again)
    replayed = list(replay(again))
    assert len(replayed) == len(states)
    assert all(s == t for (s, _), t in zip(replayed, states, strict=True))
    assert [a for _, a in replayed] == [*record.actions, None]
    assert record.result["rewards"] == info["rewards"].tolist()
    assert record.result["scores"] == info["scores"].tolist()
    assert {k: record.result[k] for k in ("totals", "winner", "stalled")} == {
        k: info[k] for k in ("totals", "winner", "stalled")
    }


def test_a_line_says_everything_by_name():
    record, _, info = played("cardgym/Chouine-v0", 3)
    line = record.to_json()
    said = json.loads(line)
    assert "\n" not in line
    assert (said["format"], said["cardgym"], said["env"], said["seed"]) == (
        1,
        cardgym.__version__,
        "cardgym/Chouine-v0",
        3,
    )
    assert said["options"].keys() == {name for name, *_ in cardgym.load_game("chouine").option_fields()}
    assert said["agents"] == ["left", "right"]
    assert set(said["actions"]) <= set(cardgym.load_game("chouine").action_ids)
    assert said["result"]["winner"] == info["winner"]


def test_a_game_by_name_and_a_game_of_your_own():
    record, _, _ = played("cardgym/Chouine-v0", 3)
    by_name = GameRecord.played("chouine", 3, record.actions)
    assert by_name.result == record.result
    own = dataclasses.replace(cardgym.load_game("chouine"), name="mine")
    mine = GameRecord.played("mine", 3, record.actions, game=own)
    verify(mine, own)
    assert mine.result == record.result
    with pytest.raises(InvalidRecord, match=r"unknown environment 'mine'.*cardgym/Chouine-v0"):
        verify(mine)


def test_an_unfinished_game_has_no_result():
    record, _, _ = played("cardgym/Chouine-v0", 3)
    part = GameRecord.played("cardgym/Chouine-v0", 3, record.actions[:5])
    assert part.result is None
    verify(part)
    assert len(list(replay(part))) == 6
    with pytest.raises(InvalidRecord, match="the game is not over after 5 actions"):
        verify(dataclasses.replace(part, result=record.result))
    with pytest.raises(InvalidRecord, match=r"is over after .* but no result"):
        verify(dataclasses.replace(record, result=None))


# --- What does not replay --------------------------------------------------------------------


def changed(record: GameRecord, place: int, action: str) -> GameRecord:
    return dataclasses.replace(record, actions=(*record.actions[:place], action, *record.actions[place + 1 :]))


def test_an_illegal_action_is_named_with_its_place():
    record, states, _ = played("cardgym/Chouine-v0", 3)
    game = cardgym.load_game("chouine")
    held = game.pack.names[int(np.flatnonzero(states[0]["place"][0] == 1 - states[0]["player"][0])[0])]
    count = len(record.actions)
    with pytest.raises(InvalidRecord, match=rf"seed 3: action 1 of {count}, '{held}', is illegal for seat .; legal: "):
        verify(changed(record, 0, held))
    with pytest.raises(InvalidRecord, match=rf"action 9 of {count}, 'decline', is illegal"):
        list(replay(changed(record, 8, "decline")))
    with pytest.raises(InvalidRecord, match=r"action 4 of .*'QX', does not exist"):
        verify(changed(record, 3, "QX"))
    with pytest.raises(InvalidRecord, match=r"'mariage H', does not exist. Did you mean 'marriage H'"):
        verify(changed(record, 3, "mariage H"))
    with pytest.raises(InvalidRecord, match=rf"action {count + 1} of {count + 1}, 'AH': the game is over before it"):
        verify(dataclasses.replace(record, actions=(*record.actions, "AH")))
    with pytest.raises(InvalidRecord, match=f"the game is not over after {count - 1} actions"):
        verify(dataclasses.replace(record, actions=record.actions[:-1]))


def test_replay_gives_the_states_before_the_fault():
    record, states, _ = played("cardgym/Chouine-v0", 3)
    going = replay(changed(record, 6, "decline"))
    assert all(next(going)[0] == state for state in states[:6])
    with pytest.raises(InvalidRecord, match="action 7"):
        next(going)


@pytest.mark.parametrize("name", ["rewards", "scores", "stalled", "totals", "winner", "chouine"])
def test_another_result_is_named_by_its_field(name):
    record, _, _ = played("cardgym/Chouine-v0", 3)
    assert name in record.result
    with pytest.raises(InvalidRecord, match=f"result '{name}': the record says 7, replayed: "):
        verify(dataclasses.replace(record, result={**record.result, name: 7}))
    rest = {k: v for k, v in record.result.items() if k != name}
    with pytest.raises(InvalidRecord, match=f"result '{name}': the record says nothing"):
        verify(dataclasses.replace(record, result=rest))
    with pytest.raises(InvalidRecord, match=r"result 'colour': the record says red, replayed: nothing"):
        verify(dataclasses.replace(record, result={**record.result, "colour": "red"}))


def test_another_seed_option_or_version_does_not_verify():
    record, _, _ = played("cardgym/Chouine-v0", 3)
    with pytest.raises(InvalidRecord, match="action"):
        verify(dataclasses.replace(record, seed=4))
    with pytest.raises(InvalidRecord, match="result 'rewards'"):
        verify(dataclasses.replace(record, options={**record.options, "reward_scale": 3.0}))
    with pytest.raises(InvalidRecord, match=r"written by cardgym 0\.0\.7, read by .*result 'winner'"):
        verify(dataclasses.replace(record, cardgym="0.0.7", result={**record.result, "winner": 7}))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("env", "cardgym/Chuine-v0", "Did you mean 'cardgym/Chouine-v0'"),
        ("options", {"quinte": 70}, "option quinte=70"),
        ("options", {"quint": 50}, "Did you mean 'quinte'"),
        ("reset", {"dealer": 5}, "dealer=5"),
        ("reset", {"deck": 5}, "unknown reset option 'deck'"),
        ("seed", -1, "a seed is an integer"),
    ],
)
def test_what_does_not_exist_is_named(field, value, message):
    record, _, _ = played("cardgym/Chouine-v0", 3)
    with pytest.raises(InvalidRecord, match=message):
        verify(dataclasses.replace(record, **{field: value}))


def test_actions_that_are_no_actions():
    for action in (51, -1, True, 2.0):
        with pytest.raises(InvalidRecord, match="neither a name nor an id below 51"):
            GameRecord.played("chouine", 3, [action])


# --- Files -----------------------------------------------------------------------------------


def test_streams_of_records(tmp_path, some):
    path = tmp_path / "games.jsonl"
    assert write(path, (r for r in some)) == 3
    assert list(read(path)) == some
    assert next(read(path)) == some[0]
    assert path.read_bytes().count(b"\n") == 3
    assert list(tmp_path.iterdir()) == [path]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n\n"))
    assert list(read(path)) == some
    write(path, [])
    assert list(read(path)) == []


def test_a_file_appears_only_when_it_is_whole(tmp_path, some):
    path = tmp_path / "games.jsonl"
    with RecordWriter(path) as writer:
        writer.add(some[0])
        assert not path.exists()
        writer.add(some[1])
        assert writer.count == 2
    assert list(read(path)) == some[:2]
    assert not writer.partial.exists()

    def broken():
        yield some[2]
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write(path, broken())
    assert list(read(path)) == some[:2]
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_writer_keeps_the_games_so_far(tmp_path, some):
    path = tmp_path / "games.jsonl"
    write(path, some[:1])
    with pytest.raises(KeyboardInterrupt) as caught, RecordWriter(path) as writer:  # noqa: PT012
        writer.add(some[1])
        raise KeyboardInterrupt
    assert list(read(path)) == some[:1]
    assert list(read(writer.partial)) == [some[1]]
    assert caught.value.__notes__ == [f"the 1 game records so far are in {writer.partial}"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1.5}, "field 'seed' is not an integer"),
        ({"result": {"rewards": [float("nan")]}}, "cannot be written"),
        ({"result": {"scores": np.zeros(2)}}, "cannot be written"),
        ({"actions": (1, 2)}, "field 'actions' is not a list of names"),
    ],
)
def test_what_no_reader_would_take_is_not_written(tmp_path, some, change, message):
    path = tmp_path / "games.jsonl"
    with RecordWriter(path) as writer:
        writer.add(some[0])
        with pytest.raises(InvalidRecord, match=message):
            writer.add(dataclasses.replace(some[1], **change))
        writer.add(some[2])
    assert list(read(path)) == [some[0], some[2]]


@pytest.mark.parametrize("kept", [1, 2, 40, -1, -30])
def test_a_last_line_cut_off_is_reported_and_the_rest_read(tmp_path, some, kept):
    path = tmp_path / "games.jsonl"
    first, second, third = (r.to_json().encode() for r in some)
    path.write_bytes(b"\n".join([first, second, third[:kept]]))
    with pytest.warns(UserWarning, match=r"games\.jsonl, line 3: cut off at the end of the file"):
        assert list(read(path)) == some[:2]


def test_a_last_line_cut_inside_a_letter(tmp_path, some):
    path = tmp_path / "games.jsonl"
    named = dataclasses.replace(some[1], agents=("Zoé", "Ugo"))
    write(path, [some[0], named])
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index("é".encode()) + 1])
    with pytest.warns(UserWarning, match="line 2: cut off"):
        assert list(read(path)) == some[:1]
    write(path, [named])
    assert list(read(path)) == [named]


def test_a_last_line_without_line_break_is_read(tmp_path, some):
    path = tmp_path / "games.jsonl"
    write(path, some)
    path.write_bytes(path.read_bytes()[:-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(read(path)) == some


@pytest.mark.parametrize("junk", [b"", b"{", b"\xff\xfe\xff", b"[" * 100_000, b'{"format": NaN}', b"null"])
def test_damage_elsewhere_is_an_error_with_its_line(tmp_path, some, junk):
    path = tmp_path / "games.jsonl"
    first, second, third = (r.to_json().encode() for r in some)
    path.write_bytes(b"\n".join([first, junk + second[:50], third]) + b"\n")
    reader = read(path)
    assert next(reader) == some[0]
    with pytest.raises(InvalidRecord, match=r"games\.jsonl, line 2: "):
        next(reader)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("format", 2, f"field 'format' is 2; cardgym {cardgym.__version__} reads format 1"),
        ("format", True, "field 'format' is True"),
        ("format", None, "field 'format' is None"),
        ("cardgym", 1, "field 'cardgym' is not a version: 1"),
        ("env", 1, "field 'env' is not the id"),
        ("options", [], "field 'options' is not an object"),
        ("seed", 1 << 64, "field 'seed' is not an integer from 0"),
        ("seed", True, "field 'seed'"),
        ("seed", "3", "field 'seed'"),
        ("reset", None, "field 'reset'"),
        ("agents", ["a", 1], "field 'agents' is not a list of names or null"),
        ("actions", "AH", "field 'actions' is not a list of names"),
        ("result", [1], "field 'result' is not an object or null"),
        ("sede", 3, "unknown field 'sede'. Did you mean 'seed'"),
    ],
)
def test_a_wrong_field_is_named(tmp_path, some, field, value, message):
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(json.loads(some[0].to_json()) | {field: value}) + "\n")
    with pytest.raises(InvalidRecord, match=f"line 1: .*{message}"):
        list(read(path))
    if field in records._CHECKS:
        gone = json.loads(some[0].to_json())
        del gone[field]
        path.write_text(json.dumps(gone))
        with pytest.raises(InvalidRecord, match=f"field '{field}' is (missing|None)"):
            list(read(path))
