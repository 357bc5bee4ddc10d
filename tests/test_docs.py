"""The pages of the environments: up to date, complete, every rule tested, every example runs."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import cardgym

ROOT = Path(__file__).parent.parent
GAMES = cardgym.game_names()
# A rule is defined where its id stands in bold: **CH-9**, **R-5.5**.
DEFINED = re.compile(r"\*\*([^\W\d_]+-\d+(?:\.\d+)*[a-z]?)\*\*")


# Shukh's rules have numbers from an edition whose penalties are not played here.
ELSEWHERE = {"shukh": {"R": {7, 8}, "I": {2, 3}}, "shukh_table": {"R": {3, 5, 7}, "I": {1}}}
# A page may build upon the rules of another one.
BASE = {"shukh_table": "shukh"}


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(game: str) -> str:
    return (ROOT / "docs" / "envs" / f"{game}.md").read_text(encoding="utf-8")


def rule_ids(game: str) -> list[str]:
    return DEFINED.findall((ROOT / "docs" / "envs" / "rules" / f"{game}.md").read_text(encoding="utf-8"))


def test_pages_are_up_to_date(generate):
    stale = [path.name for path, text in generate.pages() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run `python docs/generate.py`"
    assert {path.stem for path, _ in generate.pages()} == set(GAMES)


def test_the_check_fails_for_a_stale_page_and_writing_mends_it(generate, tmp_path, monkeypatch, capsys):
    pages = [(tmp_path / "one.md", "new\n"), (tmp_path / "two.md", "same\n")]
    (tmp_path / "one.md").write_text("old\n")
    (tmp_path / "two.md").write_text("same\n")
    monkeypatch.setattr(generate, "pages", lambda: iter(pages))
    assert generate.main(check=True) == 1
    out, err = capsys.readouterr()
    assert "-old" in out
    assert "+new" in out
    assert "two.md" not in out
    assert "python docs/generate.py" in err
    assert (tmp_path / "one.md").read_text() == "old\n"
    assert generate.main() == 0
    assert generate.main(check=True) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.md", "two.md"]


def test_the_command_line():
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_stands_on_the_page_once_and_no_number_is_missing(game):
    ids = rule_ids(game)
    assert ids, "the rules page defines no id"
    assert DEFINED.findall(page(game)) == ids
    assert len(set(ids)) == len(ids)
    numbers: dict[str, set[int]] = {}
    for prefix, number in (re.match(r"([^\W\d_]+)-(\d+)", i).groups() for i in ids):
        numbers.setdefault(prefix, set()).add(int(number))
    for prefix, found in numbers.items():
        assert found | ELSEWHERE.get(game, {}).get(prefix, set()) == set(range(1, max(found) + 1)), prefix


def test_chouine_has_its_22_rules():
    assert rule_ids("chouine") == [f"CH-{n}" for n in range(1, 23)]


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_id_mentioned_is_defined(game):
    ids = set(rule_ids(game)) | set(rule_ids(BASE[game]) if game in BASE else ())
    prefixes = "|".join(re.escape(i.split("-")[0]) for i in sorted(ids))
    mentioned = set(re.findall(rf"\b((?:{prefixes})-\d+(?:\.\d+)*[a-z]?)\b", page(game)))
    assert set(rule_ids(game)) <= mentioned <= ids
    source = (ROOT / "cardgym" / "games" / f"{game}.py").read_text(encoding="utf-8")
    assert set(re.findall(rf"\b((?:{prefixes})-\d+(?:\.\d+)*[a-z]?)\b", source)) <= ids


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_is_named_by_a_test(game):
    """In a comment, a docstring or a name: CH-9, ch_9, CH9."""
    here = Path(__file__)
    tests = "\n".join(p.read_text(encoding="utf-8") for p in here.parent.rglob("*.py") if p != here)

    def named(rule: str) -> bool:
        pattern = re.escape(rule).replace(r"\-", "[-_ ]?").replace(r"\.", "[._]")
        return re.search(rf"(?<![^\W_]){pattern}(?![^\W_]|\.\d)", tests, re.IGNORECASE) is not None

    assert [rule for rule in rule_ids(game) if not named(rule)] == []


@pytest.mark.parametrize("game", GAMES)
def test_the_examples_run(game, capsys):
    pytest.importorskip("pettingzoo")
    blocks = re.findall(r"^```python\n(.*?)^```", page(game), re.M | re.S)
    assert len(blocks) >= 3
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, f"{game}.md", "exec"), scope)
    assert capsys.readouterr().out.count("\n") >= 2
    assert scope["terminated"] is True


@pytest.mark.parametrize("game", GAMES)
def test_the_tables_hold_every_name(game):
    """Against a generator that drops rows: names of actions, parts, options and keys all stand on the page."""
    found = cardgym.load_game(game)
    text = page(game)
    names = [a.name for a in found.actions] + [name for name, *_ in found.option_fields()] + list(found.reset_options)
    for env_id, presets in cardgym.IDS.items():
        if presets["game"] == game:
            names.append(env_id)
            options = found.options.of(**{k: v for k, v in presets.items() if k != "game"})
            names += [s.name for layout in found.layouts(options).values() for s in layout.segments]
    assert [n for n in names if f"`{n}`" not in text] == []


def test_what_the_written_part_lacks_is_named(generate, tmp_path, monkeypatch):
    game = cardgym.load_game("chouine")
    text = (ROOT / "docs" / "envs" / "rules" / "chouine.md").read_text(encoding="utf-8")
    monkeypatch.setattr(generate, "PAGES", tmp_path)
    (tmp_path / "rules").mkdir()

    def fault(old: str, new: str) -> str:
        assert old in text
        (tmp_path / "rules" / "chouine.md").write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(generate.PageError) as caught:
            generate.page(game)
        return str(caught.value)

    assert "the sections must be Rules, Rewards, Info" in fault("## Rewards", "## Reward")
    assert "does not describe 'totals'" in fault("- `totals`:", "- totals:")
    assert "describes 'total', which is no key" in fault("- `totals`:", "- `total`: as below.\n- `totals`:")
