"""`cardgym play` and `cardgym replay`: whole games in a pseudo-terminal, and every command of theirs."""

from __future__ import annotations

import builtins
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pexpect
import pytest

import cardgym
from cardgym import cli
from cardgym.batch import Batch
from cardgym.records import GameRecord, read, verify, write

PROMPT = "your action> "
TERMINAL_GAMES = [name for name in ("chouine", "tarot") if name in cardgym.game_names()]


def terminal(*arguments: str, **environment: str) -> Any:
    """The command in a pseudo-terminal of 100 columns."""
    return pexpect.spawn(
        sys.executable,
        ["-m", "cardgym.cli", *arguments],
        env={**os.environ, "TERM": "xterm", **environment},
        encoding="utf-8",
        timeout=120,
        dimensions=(40, 100),
        # Jobs in the background are started with the interrupt key turned off, which children would inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def scripted(monkeypatch: pytest.MonkeyPatch, answers: Iterator[str] | list[str]) -> None:
    """Answers for every question that the command asks; after the last one the input ends."""
    left = iter(answers)

    def answer(prompt: str = "") -> str:
        print(prompt, end="")
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr(builtins, "input", answer)


def forever(answer: str) -> Iterator[str]:
    while True:
        yield answer


# --- play ------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", TERMINAL_GAMES)
def test_a_whole_deal_in_a_terminal(game, tmp_path):
    """With a hint, an explanation and an undo on the way; what is recorded replays."""
    file = tmp_path / "played.jsonl"
    child = terminal("play", game, "--seed", "4", "--record", str(file))
    child.expect_exact(PROMPT)
    assert "\x1b[" in child.before
    child.sendline("?")
    child.expect_exact(PROMPT)
    assert "undo" in child.before
    child.sendline("h")
    child.expect(r"rule would say: (\S+)")
    child.expect_exact(PROMPT)
    for turn in range(200):
        child.sendline("u" if turn == 3 else "1")
        if child.expect_exact([PROMPT, pexpect.EOF]) == 1:
            break
    child.close()
    assert child.exitstatus == 0
    assert re.search(r"You have (won|lost)|Nobody has won", child.before)
    assert f"written: {file}" in child.before.replace("\r\n", "")
    (record,) = read(file)
    verify(record)
    assert record.agents[0] == "person"
    assert set(record.agents[1:]) == {"rule"}


@pytest.mark.parametrize("env_id", list(cardgym.IDS))
def test_every_environment_can_be_played(env_id, monkeypatch, capsys, tmp_path):
    """To its end against chance; of a match the first fifty decisions."""
    file = tmp_path / "played.jsonl"
    short = not cardgym.IDS[env_id].keys() - {"game", "players"}
    scripted(monkeypatch, forever("1") if short and "Shukh" not in env_id else ["1"] * 50)
    assert cli.main(["play", env_id, "--seed", "0", "--against", "random", "--record", str(file)]) == 0
    out = capsys.readouterr().out
    (record,) = read(file)
    verify(record)
    assert record.env == env_id
    assert ("You have left" in out) == (record.result is None)


def test_numbers_names_and_what_is_refused(monkeypatch, capsys):
    """Cards by number, name and symbol; words by their beginning; the rest is told and changes nothing."""
    game = cardgym.load_game("chouine")
    batch = Batch(game, game.options())
    batch.reset([5], options={})
    refused = ["0", "99", "xx", "KH", "marriage z"]
    scripted(monkeypatch, [*refused, "sw", "ad", "T", "", "q"])
    assert cli.main(["play", "chouine", "--seed", "5", "--against", "rule"]) == 0
    out = capsys.readouterr().out
    for told in ("There is no number 0", "no number 99", "no action 'xx'", "do not allow K♥ now", "'marriage z'"):
        assert told in out
    assert "7♦" in out.split("trick 1 of 16")[1]
    assert "A♦" in out.split(PROMPT)[6]  # swapped
    assert "last trick" in out  # the ace was played
    assert "You have left; the deal was that of --seed 5." in out


def test_numbers_follow_the_hand(monkeypatch, capsys):
    scripted(monkeypatch, [])
    assert cli.main(["play", "shukh", "--seed", "1", "--against", "random"]) == 0
    out = capsys.readouterr().out
    hand = re.search(r"seat 0[^:]*: ([^|\n]*)", out)[1].split()
    numbered = re.findall(r"(?:^|  ) *(\d+) (\S+)", out.split("to act: seat 0")[1].split(PROMPT)[0], re.M)
    shown = [name for _, name in numbered if name in hand]
    assert shown == [name for name in hand if name in shown]
    assert [int(number) for number, _ in numbered] == list(range(1, len(numbered) + 1))


def test_undo_goes_back_to_the_same_position(monkeypatch, capsys):
    """And plays on with the same chance events: the same answers give the same game."""
    for game in ("chouine", "shukh"):
        tables = []
        for answers in (["1", "1", "1"], ["1", "2", "u", "u", "u", "1", "1", "1"]):
            scripted(monkeypatch, answers)
            assert cli.main(["play", game, "--seed", "2", "--against", "random"]) == 0
            out = capsys.readouterr().out
            tables.append(out[out.rindex("to act: seat 0") - 400 :])
        assert tables[0].split("\n\n")[-1] == tables[1].split("\n\n")[-1]
        assert "There is nothing to undo." in out


def test_explanations(monkeypatch, capsys):
    scripted(monkeypatch, ["?", "? ch-9", "? marriage h", "?brisque", "? qqq"])
    cli.main(["play", "chouine", "--seed", "1"])
    _, *answers = capsys.readouterr().out.split(PROMPT)
    assert "CH-22" in answers[0]
    assert answers[1].startswith("CH-9: (T) Tricks 12 to 16 are strict.")
    assert answers[2].startswith("marriage H: announce K-Q of hearts")
    assert "CH-14" in answers[3]
    assert "Neither an action nor a rule speaks of 'qqq'." in answers[4]


def test_a_match_tells_of_its_deals(monkeypatch, capsys):
    scripted(monkeypatch, ["1"] * 60)
    cli.main(["play", "ChouineMatch-v0", "--seed", "1", "--against", "random"])
    assert "The deal is over: totals [" in capsys.readouterr().out


def test_a_game_of_ones_own(monkeypatch, capsys, tmp_path):
    """By module and attribute, found in the current folder; without a rule bot it is played at random."""
    (tmp_path / "my_game.py").write_text(
        "import dataclasses\nfrom cardgym.games.chouine import GAME\n"
        "MINE = dataclasses.replace(GAME, name='mine', title='My game')\nOTHER = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    scripted(monkeypatch, ["h", "1"])
    assert cli.main(["play", "my_game:MINE", "--seed", "1"]) == 0
    assert "My game: you are seat 0; seat 1 random" in capsys.readouterr().out
    (tmp_path / "broken.py").write_text("GAME = None\nGAME.title\n")
    (tmp_path / "raising.py").write_text("GAME = 1\nraise ValueError('no luck')\n")
    (tmp_path / "wrong.py").write_text("GAME =\n")
    for name, told in (
        ("my_game:OTHER", "my_game:OTHER is a int, not a cardgym.game.Game"),
        ("my_game:NO", "cannot load my_game:NO: module 'my_game' has no attribute 'NO'"),
        ("nothing:X", "cannot load nothing:X: No module named 'nothing'"),
        ("broken:GAME", "cannot load broken:GAME: 'NoneType' object has no attribute 'title'"),
        ("raising:GAME", "cannot load raising:GAME: ValueError: no luck (raising.py, line 2)"),
        ("wrong:GAME", "cannot load wrong:GAME: invalid syntax (wrong.py, line 1)"),
        ("..:GAME", "'..:GAME' does not name a module and an attribute, such as my_module:GAME"),
    ):
        assert cli.main(["play", name]) == 1
        assert capsys.readouterr().err == f"cardgym: error: {told}\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["chuine"], "Did you mean 'chouine'?"),
        (["chouine", "--seat", "2"], "seat=2 is not a seat from 0 to 1"),
        (["chouine", "--against", "nobody"], "unknown agent 'nobody'"),
        (["chouine", "--hints", "nobody"], "unknown agent 'nobody'"),
        (["chouine", "--options", "quinte"], "write name=value"),
        (["chouine", "--options", "quinte=70"], "is not one of 50, 100"),
        (["chouine", "--record", "nowhere/x.jsonl"], "error: nowhere/x.jsonl: No such file or directory"),
        (["chouine", "--record", "."], "error: .: Is a directory"),
    ],
)
def test_errors_are_one_line(arguments, told, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["play", *arguments]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert told in err


def test_ctrl_c_leaves_nothing_half_done(tmp_path):
    file = tmp_path / "played.jsonl"
    child = terminal("play", "chouine", "--record", str(file), NO_COLOR="1")
    child.expect_exact(PROMPT)
    assert "\x1b[3" not in child.before
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert "cardgym: interrupted" in child.before
    assert child.exitstatus == 130
    assert list(tmp_path.iterdir()) == []


# --- replay ----------------------------------------------------------------------------------


@pytest.fixture
def recorded(tmp_path) -> Path:
    """Two games of Chouine."""
    game = cardgym.load_game("chouine")
    games = []
    for seed in (3, 4):
        batch, actions = Batch(game, game.options()), []
        batch.reset([seed])
        while not batch.over[0]:
            actions.append(int(batch.mask[0].argmax()))
            batch.step(np.array(actions[-1:]))
        games.append(GameRecord.played("cardgym/Chouine-v0", seed, actions, agents=["first", "first"]))
    write(tmp_path / "games.jsonl", games)
    return tmp_path / "games.jsonl"


def test_stepping_forward_and_back(recorded):
    (_, record) = read(recorded)
    child = terminal("replay", str(recorded), "--number", "2")
    child.expect_exact("0 of 32> ")
    assert f"-> seat 1: {record.actions[0]}" in child.before or f"-> seat 0: {record.actions[0]}" in child.before
    assert "▒▒" not in child.before
    for said, at, shown in (
        ("", 1, record.actions[1]), ("n", 2, record.actions[2]), ("b", 1, record.actions[1]), ("s 0", 1, "▒▒"),
        ("s", 1, record.actions[1]), ("31", 31, record.actions[31]), ("e", 32, "result: "),
        ("", 32, "This is the end."),
        ("0", 0, record.actions[0]), ("b", 0, "This is the beginning."), ("s 7", 0, "seat=7 is not a seat"),
        ("?", 0, "one back"), ("what", 0, "one back"),
    ):  # fmt: skip
        child.sendline(said)
        child.expect_exact(f"{at} of 32> ")
        assert shown in child.before, said
    child.sendline("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_without_a_terminal_all_is_printed(recorded, capsys):
    assert cli.main(["replay", str(recorded)]) == 0
    out = capsys.readouterr().out
    assert out.count("Chouine · trick") == 33
    assert "\x1b" not in out
    assert cli.main(["replay", str(recorded), "--seat", "1"]) == 0
    assert "▒▒" in capsys.readouterr().out


def test_json_and_verify(recorded, capsys):
    first, _ = read(recorded)
    assert cli.main(["replay", str(recorded), "--json"]) == 0
    story = json.loads(capsys.readouterr().out)
    assert [move["action"] for move in story["moves"]] == list(first.actions)
    assert story["result"] == first.result
    assert cli.main(["replay", str(recorded), "--verify"]) == 0
    assert capsys.readouterr().out == f"{recorded}: 2 games replayed, all results as recorded\n"
    lines = recorded.read_text().splitlines()
    recorded.write_text(lines[0] + "\n" + lines[1].replace('"totals": [', '"totals": [1') + "\n")
    assert cli.main(["replay", str(recorded), "--verify", "--json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"cardgym: error: .*game 2: .*result 'totals'.*\n", err)


def test_a_line_that_was_cut_off_is_told_in_one_line(recorded, capsys):
    recorded.write_bytes(recorded.read_bytes()[:-40])
    warning = f"cardgym: warning: {recorded}, line 2: cut off at the end of the file, left out\n"
    assert cli.main(["replay", str(recorded), "--verify"]) == 0
    assert capsys.readouterr() == (f"{recorded}: 1 game replayed, all results as recorded\n", warning)
    assert cli.main(["replay", str(recorded), "--number", "2"]) == 1
    assert capsys.readouterr().err == f"{warning}cardgym: error: {recorded}: there is no game 2; it has 1\n"


def test_a_game_that_is_not_there(recorded, capsys):
    for arguments, told in (
        ([str(recorded), "--number", "3"], "there is no game 3; it has 2"),
        ([str(recorded), "--number", "0"], "games are counted from 1"),
        ([str(recorded), "--seat", "2"], "seat=2 is not a seat from 0 to 1"),
        ([str(recorded) + "x"], f"error: {recorded}x: No such file or directory"),
    ):
        assert cli.main(["replay", *arguments]) == 1
        assert told in capsys.readouterr().err
