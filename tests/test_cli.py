"""The `cardgym` command: what it prints, its exit codes, and that warming up leaves nothing to compile."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cardgym
from cardgym import cli, kernel, testing
from cardgym.cli import common, show, tools


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cardgym.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def test_list_shows_every_environment(capsys):
    assert cli.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["environment", "game", "players", "actions", "observation"]
    assert [line.split()[0] for line in lines[1:]] == list(cardgym.IDS)
    assert cli.main(["list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    for line, row in zip(lines[1:], rows, strict=True):
        env = cardgym.make(line.split()[0]).unwrapped
        size = env.observation_space["observation"].shape[0]
        assert line.split()[1:] == [*env.game.title.split(), str(env.num_seats), str(env.action_space.n), str(size)]
        assert (row["id"], row["game"], row["players"]) == (line.split()[0], env.game.name, env.num_seats)
        assert (row["actions"], row["observation"]) == (env.action_space.n, size)


def test_the_installed_command_is_this_one(capsys):
    done = subprocess.run([Path(sys.executable).parent / "cardgym", "list"], capture_output=True, text=True, check=True)
    assert cli.main(["list"]) == 0
    assert done.stdout == capsys.readouterr().out
    assert done.stderr == ""


def helped(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and output of a command line that asks for help."""
    return cli.main([*arguments]), capsys.readouterr().out


def test_help_names_the_subcommands(capsys):
    code, shown = helped(capsys, "--help")
    assert code == 0
    assert "warmup" in shown
    assert "Compile all games ahead" in shown


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "Expected one of {list, info, .*}; see `cardgym --help`"),
        ("warmpu", "Unrecognized options: warmpu; available subcommands: .*warmup.*; see `cardgym --help`"),
        ("play", "Missing from cardgym play: GAME .*; see `cardgym play --help`"),
        ("play chouine --seat", "Missing value for argument '--seat'.*; see `cardgym play --help`"),
        ("play chouine --seet 1", "Unrecognized options: --seet, 1; did you mean --seat.*?; see `cardgym --help`"),
        ("play chouine --seat one", "Error parsing --seat: .*'one'; see `cardgym --help`"),
        ("eval", "Missing from cardgym eval: --agent STR .*; see `cardgym eval --help`"),
        ("eval --agent rule --dials 3", "Unrecognized options: --dials, 3.*; see `cardgym eval --help`"),
    ],
)
@pytest.mark.parametrize("columns", ["40", "200"])
def test_a_command_line_that_cannot_be_understood_is_told_in_one_line(line, told, columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    assert cli.main(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(f"cardgym: error: {told}\n", err)


def test_wrong_usage_is_one_line_in_a_terminal_without_boxes_too():
    done = run("play", PYTHONIOENCODING="ascii", FORCE_COLOR="1")
    assert done.returncode == 2
    assert re.fullmatch("cardgym: error: Missing from cardgym play: GAME .*; see `cardgym play --help`\n", done.stderr)


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"cardgym {cardgym.__version__}\n"


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
    assert done.stderr == f"cardgym: error: {tmp_path / 'file' / 'cache'}: Not a directory\n"


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


# --- The page -------------------------------------------------------------------------------


PAGE = (Path(__file__).parent.parent / "docs" / "command.md").read_text(encoding="utf-8")


def test_the_page_names_every_subcommand(capsys):
    named = re.findall(r"^\| `([a-z]+)[ A-Z]*` \|", PAGE.split("## Exit codes")[0], re.M)
    listed = re.findall(r"• (\w+) ", helped(capsys, "--help")[1])
    assert sorted(named) == sorted(listed)


def test_the_examples_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "command.md", "exec"), {})
    assert "Chouine · trick 1 of 16" in capsys.readouterr().out
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr("builtins.input", lambda prompt: "q")
    assert cli.main(["play", "chouine", "--seed", "5"]) == 0
    assert capsys.readouterr().out.split("You have left")[0] in PAGE


# --- info, doctor ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*cardgym.game_names(), *cardgym.IDS])
def test_info_tells_what_the_environment_has(name, capsys):
    assert cli.main(["info", name, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    env = cardgym.make(name if name in cardgym.IDS else facts["ids"][0]).unwrapped
    assert facts["actions"] == [a.name for a in env.game.actions]
    assert facts["players"] == env.num_seats
    assert set(facts["layouts"]) == set(env.layouts)
    for encoding, parts in facts["layouts"].items():
        assert [part["name"] for part in parts] == [s.name for s in env.layouts[encoding].segments]
        assert [part["start"] for part in parts] == [p.start for p in env.layouts[encoding].slices.values()]
    assert {o["name"]: o["value"] for o in facts["options"]} == vars(env.options)
    assert cli.main(["info", name]) == 0
    shown = capsys.readouterr().out
    assert f"cardgym info {env.game.name} --rules" in shown
    assert all(option["name"] in shown for option in facts["options"])


def test_info_takes_options(capsys):
    assert cli.main(["info", "shukh", "--options", "players=3", "max_idle_turns=None", "reward_scale=2", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    values = {option["name"]: option["value"] for option in facts["options"]}
    assert facts["players"] == values["players"] == 3
    assert values["max_idle_turns"] is None


@pytest.mark.parametrize("game", cardgym.game_names())
def test_every_rule_can_be_looked_up(game, capsys):
    """Every id that begins a paragraph of the page is found with its text."""
    found = cardgym.load_game(game)
    page = common.rules_page(found)
    assert page is not None
    rules = common.rules(found)
    assert list(rules) == re.findall(r"^- \*\*([A-Z]+-[\d.]+)\*\*", page, re.M)
    assert len(rules) > 15
    assert all(len(text) > 20 and "**" not in text for text in rules.values())
    assert cli.main(["info", game, "--rules"]) == 0
    shown = capsys.readouterr().out
    assert all(rule in shown for rule in rules)


def test_doctor(capsys):
    assert cli.main(["doctor", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["cardgym"] == cardgym.__version__
    assert facts["packages"]["numba"] == importlib.metadata.version("numba")
    assert facts["cache"]["folder"] == str(kernel.cache_folder())
    assert facts["extras"]["render"] == []
    assert set(facts["extras"]) >= {"pettingzoo", "train", "render"}
    assert cli.main(["doctor"]) == 0
    assert "extra render: installed" in capsys.readouterr().out


def test_doctor_names_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(show, "extras", lambda: {"render": ["no-such-distribution", "numpy"]})
    assert cli.main(["doctor"]) == 0
    told = "extra render: missing no-such-distribution: pip install 'cardgym[render]'"
    assert told in capsys.readouterr().out


def test_doctor_finds_a_cache_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CARDGYM_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert cli.main(["doctor"]) == 1
    assert "set CARDGYM_CACHE_DIR to a folder that can be written" in capsys.readouterr().out


# --- bench, check ----------------------------------------------------------------------------


def test_bench_measures_every_game(capsys):
    assert cli.main(["bench", "--seconds", "0.01", "--num-envs", "16", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["game"] for row in rows] == cardgym.game_names()
    assert all(row[label] > 0 for row in rows for label in ("single", "vector", "playout"))
    assert cli.main(["bench", "--games", "chouine", "--seconds", "0.01", "--threads", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[0] == "chouine"
    for wrong in (["--seconds", "0"], ["--num-envs", "0"], ["--games", "bridge"]):
        assert cli.main(["bench", *wrong]) == 1


def test_check_passes_a_good_game_and_fails_a_broken_one(monkeypatch, capsys):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    # One check stands for all: the whole suite has its own tests.
    monkeypatch.setattr(cli.check, "check_game", lambda game, zero_sum, **rest: testing.check_leaks(game, **rest))
    few = ["--games", "4", "--json"]
    assert cli.main(["check", "Chouine-v0", "--options", "memory=table", *few]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] is True
    assert cli.main(["check", "broken_game:BROKEN", "--options", "fault=observation leaks", *few]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["passed"] is False
    assert "au_sept" in told["failure"]
    assert cli.main(["check", "broken_game:BROKEN", "--options", "fault=none"]) == 0
    assert re.match(r"broken_game:BROKEN: all checks passed in \d+ s", capsys.readouterr().out)
    assert cli.main(["check", "chouine", "--options", "fault=none"]) == 1
    assert "unknown option 'fault'" in capsys.readouterr().err


# --- Tools -----------------------------------------------------------------------------------


@pytest.fixture
def tool(monkeypatch, tmp_path):
    """A tool ``train`` with two programs that print what they are given."""
    for name in ("first_program", "second_program"):
        (tmp_path / f"{name}.py").write_text(
            "import sys\nprint(__name__, sys.argv[1:])\nif '--fail' in sys.argv:\n    sys.exit('error: no luck')\n"
            "if '--code' in sys.argv:\n    sys.exit(3)\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    programs = {"one": "first_program", "two": "second_program", "three": "no_such_program"}
    monkeypatch.setattr(tools, "_TOOLS", (tools.Tool("train", "Trains.", programs),))


def test_tools_get_their_own_flags(tool, capsys):
    for given, told in (
        ([], []),
        (["--x", "1"], ["--x", "1"]),
        (["chouine", "--x"], ["--game", "chouine", "--x"]),
        (["--algorithm", "two", "--y"], ["--y"]),
        (["chouine", "--algorithm=one"], ["--game", "chouine"]),
    ):
        assert cli.main(["train", *given]) == 0
        assert capsys.readouterr().out == f"__main__ {told}\n"


def test_exit_codes_and_errors_of_tools(tool, capsys):
    assert cli.main(["train", "--code"]) == 3
    assert cli.main(["train", "--fail"]) == 1
    assert capsys.readouterr().err == "cardgym: error: no luck\n"
    for wrong in (["--algorithm", "tow"], ["--algorithm=three"], ["--algorithm"]):
        assert cli.main(["train", *wrong]) == 1
        assert "Give --algorithm with one or two" in capsys.readouterr().err


def test_eval_is_the_evaluation(tmp_path, capsys):
    file = tmp_path / "result.json"
    few = ["--against", "random", "--deals", "4", "--json", str(file)]
    assert cli.main(["eval", "chouine", "--agent", "rule", *few]) == 0
    assert json.loads(file.read_text())[0]["deals"] == 4
    assert "rule" in capsys.readouterr().out
    for wrong, told in (
        (["chouine", "--agent", "nobody"], "unknown agent 'nobody'"),
        (["--agent", "rule", "--deals", "1"], "an interval needs at least 2 deals"),
    ):
        assert cli.main(["eval", *wrong]) == 1
        err = capsys.readouterr().err
        assert err.startswith("cardgym: error: ")
        assert told in err
        assert err.count("\n") == 1
    assert sys.argv[0] != "cardgym eval"


def test_training_without_its_extra_names_the_line_that_adds_it():
    program = "import sys; sys.modules['torch'] = None; from cardgym.cli import main; sys.exit(main(['train']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == ("cardgym: error: this needs 'torch', which is not installed: pip install 'cardgym[train]'\n")


# --- warmup ----------------------------------------------------------------------------------


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
