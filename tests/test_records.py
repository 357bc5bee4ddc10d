"""Game records: what is written is read, what is read replays, what is damaged is named."""

from __future__ import annotations

import dataclasses
import json
import tracemalloc
import warnings

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import cardgym
from cardgym import records
from cardgym.errors import InvalidOption, InvalidRecord
from cardgym.records import (
    TRACES,
    GameRecord,
    RecordWriter,
    export,
    openspiel_trace,
    pettingzoo_trace,
    read,
    replay,
    verify,
    write,
)
from cardgym.wrappers import PettingZooAEC


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


def test_a_file_is_read_line_by_line(tmp_path, some):
    """Memory does not grow with the file, nor with the time that reading takes."""
    line = some[0].to_json() + "\n"
    (tmp_path / "games.jsonl").write_text(line * (3_000_000 // len(line)))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read(tmp_path / "games.jsonl"))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 3_000_000 // len(line)
    assert most < 300_000


def test_a_file_without_line_breaks_is_refused_before_it_fills_the_memory(tmp_path, some, monkeypatch):
    monkeypatch.setattr(records, "LONGEST_LINE", 4000)
    (tmp_path / "games.jsonl").write_bytes(some[0].to_json().encode() + b"\n" + b"x" * 100_000)
    reading = read(tmp_path / "games.jsonl")
    assert next(reading) == some[0]
    with pytest.raises(InvalidRecord, match="line 2: longer than 4000 bytes"):
        next(reading)
    (tmp_path / "games.jsonl").write_bytes(b" " * 3999 + b"\n" + some[0].to_json().encode() + b"\n")
    assert list(read(tmp_path / "games.jsonl")) == [some[0]]


def read_and_verified(path) -> list[GameRecord]:
    """What can be read of a file and replays; damage shows as InvalidRecord or a warning, never as anything else."""
    sound = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for record in read(path):
                verify(record)
                sound.append(record)
        except InvalidRecord:
            pass
    return sound


@hypothesis.given(junk=st.binary(max_size=300), before=st.booleans())
@hypothesis.settings(max_examples=150, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_random_bytes(tmp_path, some, junk, before):
    """They are no record; those that stand before them are read."""
    good = (some[0].to_json() + "\n").encode() if before else b""
    (tmp_path / "games.jsonl").write_bytes(good + junk)
    assert read_and_verified(tmp_path / "games.jsonl") == ([some[0]] if before else [])


@hypothesis.given(data=st.data())
@hypothesis.settings(max_examples=150, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_a_record_with_changed_bytes(tmp_path, some, data):
    """Whatever it has become: it is refused, or it is a whole record that replays."""
    line = bytearray((some[0].to_json() + "\n").encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(line) - 1))
        line[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    (tmp_path / "games.jsonl").write_bytes(bytes(line))
    for record in read_and_verified(tmp_path / "games.jsonl"):
        assert GameRecord.from_json(record.to_json()) == record


# --- Traces ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("env_id", "seed", "reset", "options"), GAMES)
def test_a_pettingzoo_trace_is_what_the_environment_says(env_id, seed, reset, options):
    record, _, info = played(env_id, seed, reset, **options)
    trace = pettingzoo_trace(record)
    env = PettingZooAEC(env_id, **options)
    env.reset(seed=seed, options=reset)
    turns = iter(trace["turns"])
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        turn = next(turns)
        assert (turn["agent"], turn["reward"], turn["termination"]) == (agent, reward, termination)
        assert turn["truncation"] is truncation is False
        assert turn["observation"] == {name: part.tolist() for name, part in observation.items()}
        env.step(turn["action"])
    assert next(turns, None) is None
    actions = [turn["action"] for turn in trace["turns"] if turn["action"] is not None]
    assert [env.card_env.game.actions[a].name for a in actions] == list(record.actions)
    ends = {turn["agent"]: turn["reward"] for turn in trace["turns"][-2:]}
    assert [ends["player_0"], ends["player_1"]] == info["rewards"].tolist()


@pytest.mark.parametrize(("env_id", "seed", "reset", "options"), GAMES)
def test_an_openspiel_trace_leads_through_the_game(env_id, seed, reset, options):
    record, _, info = played(env_id, seed, reset, **options)
    trace = openspiel_trace(record)
    env = cardgym.make(env_id, encodings=("observation", "history"), **options).unwrapped
    seen, now = env.reset(seed=seed, options=reset)
    for i, action in enumerate(trace["history"]):
        assert trace["player_ids"][i] == now["player"]
        assert trace["action_strings"][i] == env.game.actions[action].name == record.actions[i]
        assert trace["legal_actions"][i] == np.flatnonzero(now["action_mask"]).tolist()
        assert trace["observations"][i] == seen["observation"].tolist()
        assert trace["information_states"][i] == seen["history"].tolist()
        seen, _, over, _, now = env.step(action)
        assert trace["rewards"][i] == now["rewards"].tolist()
    assert over
    assert trace["is_terminal"] is True
    assert trace["returns"] == info["rewards"].tolist()
    assert trace["game"] == "cardgym_chouine"
    assert (trace["num_players"], trace["num_distinct_actions"]) == (2, 51)
    assert trace["params"] == record.options


@pytest.mark.parametrize("form", list(TRACES))
def test_export(tmp_path, some, form):
    write(tmp_path / "games.jsonl", some)
    assert export(tmp_path / "traces.jsonl", read(tmp_path / "games.jsonl"), form) == len(some)
    traces = [json.loads(line) for line in (tmp_path / "traces.jsonl").read_text().splitlines()]
    assert traces == [json.loads(json.dumps(TRACES[form](record, None))) for record in some]
    assert len({p.name for p in tmp_path.iterdir()}) == 2


def test_export_of_unfinished_and_wrong_games(tmp_path):
    unfinished = GameRecord.played("chouine", 1, ["JC", "9C"])
    turns = pettingzoo_trace(unfinished)["turns"]
    assert [turn["action"] is None for turn in turns] == [False, False, True]
    trace = openspiel_trace(unfinished)
    assert (trace["is_terminal"], trace["returns"], len(trace["history"])) == (False, [0.0, 0.0], 2)
    wrong = dataclasses.replace(unfinished, actions=("JC", "JC"))
    for form in TRACES:
        with pytest.raises(InvalidRecord, match="action 2 of 2, 'JC'"):
            export(tmp_path / "traces.jsonl", [unfinished, wrong], form)
    with pytest.raises(InvalidOption, match="form='rlcard' is not one of 'pettingzoo', 'openspiel'"):
        export(tmp_path / "traces.jsonl", [unfinished], "rlcard")
    assert list(tmp_path.iterdir()) == []
