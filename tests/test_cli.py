"""The `cardgym` command: what it prints, its exit codes, and that warming up leaves nothing to compile."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cardgym
from cardgym import cli, kernel


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cardgym.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def test_list_shows_every_environment(capsys):
    assert cli.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["environment", "game", "players", "actions", "observation"]
    assert [line.split()[0] for line in lines[1:]] == list(cardgym.IDS)
    for line in lines[1:]:
        env = cardgym.make(line.split()[0]).unwrapped
        size = env.observation_space["observation"].shape[0]
        assert line.split()[1:] == [*env.game.title.split(), str(env.num_seats), str(env.action_space.n), str(size)]


def test_the_installed_command_is_this_one():
    done = subprocess.run([Path(sys.executable).parent / "cardgym", "list"], capture_output=True, text=True, check=True)
    assert done.stdout == run("list").stdout
    assert done.stderr == ""


def test_help_names_the_subcommands_and_a_wrong_one_is_an_error():
    done = run("--help")
    assert done.returncode == 0
    assert "warmup" in done.stdout
    assert "Compile all games ahead" in done.stdout
    wrong = run("warmpu")
    assert wrong.returncode == 2
    assert "warmpu" in wrong.stdout + wrong.stderr


@pytest.mark.skipif(not kernel.JIT, reason="nothing is compiled without JIT")
def test_warmup_says_where_and_how_long(capsys):
    assert cli.main(["warmup"]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(
        rf"compiled code of .*chouine.* is in {re.escape(str(kernel.cache_folder()))} \(\d+\.\d s\)\n", out
    )
    assert "100 %" in err.splitlines()[-1]
    assert "\x1b" not in err  # no terminal control where there is no terminal


def test_warmup_without_jit_is_an_error():
    done = run("warmup", NUMBA_DISABLE_JIT="1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "cardgym: error: NUMBA_DISABLE_JIT is set: nothing is compiled\n"


@pytest.mark.skipif(not kernel.JIT, reason="nothing is compiled without JIT")
def test_a_cache_folder_that_cannot_be_is_an_error_of_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("warmup", CARDGYM_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"cardgym: error: .*file/cache'\n", done.stderr)


def test_interruption_and_a_reader_that_leaves(monkeypatch, capsys):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.app, "cli", interrupted)
    assert cli.main([]) == 130
    assert capsys.readouterr().err == "cardgym: interrupted\n"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "cardgym.cli", "list"], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


PROGRAM = """
import numpy as np, cardgym
from cardgym.baselines.agents import RandomAgent, load_agent
from cardgym.baselines.evaluate import evaluate
from cardgym.wrappers import VectorCanonicalSuits
for env_id, presets in cardgym.IDS.items():
    env = cardgym.make(env_id, encodings=("observation", "history", "state"))
    _, info = env.reset(seed=0)
    env.step(int(info["action_mask"].argmax()))
    game = cardgym.load_game(presets["game"])
    envs = cardgym.make_vec(env_id, num_envs=8, threads=2, copy=False)
    seen, _ = envs.reset(seed=0)
    envs.step(cardgym.batch.sample(seen["action_mask"], np.random.default_rng(0)))
    cardgym.batch.resample(game, envs.states, np.zeros(8, np.int64), 3)
    cardgym.batch.playout(game, envs.states, 3, 10)
    if game.suit_order:
        VectorCanonicalSuits(cardgym.make_vec(env_id, num_envs=8)).reset(seed=0)
    evaluate(game, game.options(), load_agent("rule", game), RandomAgent(), 4)
"""


@pytest.mark.long
@pytest.mark.skipif(not kernel.JIT, reason="nothing is compiled without JIT")
def test_after_warmup_nothing_is_left_to_compile(tmp_path):
    def compiled() -> set[tuple[Path, int]]:
        return {(p, p.stat().st_mtime_ns) for p in tmp_path.rglob("*.nb*")}

    first = run("warmup", CARDGYM_CACHE_DIR=str(tmp_path))
    assert first.returncode == 0, first.stderr
    before = compiled()
    assert len(before) > 10
    assert run("warmup", CARDGYM_CACHE_DIR=str(tmp_path)).returncode == 0
    environment = {**os.environ, "CARDGYM_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)
    assert compiled() == before
