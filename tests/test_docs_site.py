"""The pages of the site: their code runs, their links lead somewhere, the site builds without a warning."""

from __future__ import annotations

import functools
import html
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import pytest

from cardgym.baselines.agents import shipped_model

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("api/*.md"), *DOCS.glob("envs/*.md")])
# command.md is run by test_cli.py, the pages of the games by test_docs.py.
WITH_CODE = ["quickstart", "masks", "autoreset", "traps", "sb3", "evaluation", "training"]


def blocks(page: str) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.M | re.S)


def headings(path: Path) -> set[str]:
    """Anchors of the headings of a page, as they are made on the site and in repository browsers."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)}


@pytest.mark.parametrize("page", WITH_CODE)
def test_the_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sb3_contrib",) if page in ("quickstart", "sb3") else ():
        pytest.importorskip(module)
    if page == "training":  # the page loads what a run has written
        pytest.importorskip("torch")
        (tmp_path / "runs" / "chouine").mkdir(parents=True)
        shutil.copy(shipped_model("chouine"), tmp_path / "runs" / "chouine" / "model.pt")
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    assert found
    scope: dict[str, Any] = {}
    for block in found:
        exec(compile(block, f"{page}.md", "exec"), scope)


def test_every_page_with_code_is_run() -> None:
    with_code = {path.stem for path in DOCS.glob("*.md") if blocks(path.stem)}
    assert with_code - {"own_game", "command"} == set(WITH_CODE)


# --- The game of one's own -------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_game(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, list[str]]:
    """The game of the page as an imported module, and the blocks that use it."""
    found = blocks("own_game")
    first = next(i for i, block in enumerate(found) if "from three_tricks import" in block)
    folder = tmp_path_factory.mktemp("own_game")
    (folder / "three_tricks.py").write_text("\n\n".join(found[:first]), encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        import three_tricks  # type: ignore[import-not-found]

        yield three_tricks, found[first:]
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("three_tricks", None)


def test_the_game_of_the_page_passes_the_conformance_suite_and_plays(own_game: Any, capsys: Any) -> None:
    _, uses = own_game
    assert "check_game(GAME, sweep=3)" in uses[0]
    for block in uses:
        exec(compile(block, "own_game.md", "exec"), {})
    won = re.search(r"PIMC against random: ([\d.]+)% ± ([\d.]+)%", capsys.readouterr().out)
    assert float(won[1]) - float(won[2]) > 50  # it plays better than at random


def test_a_seat_that_could_not_follow_is_dealt_nothing_of_the_suit(own_game: Any) -> None:
    import numpy as np

    from cardgym.batch import Batch, resample

    module, _ = own_game
    game, pack = module.GAME, module.PACK
    batch = Batch(game, game.options(), 1)
    batch.reset([1])
    state = batch.states[0]
    state["place"] = module.STOCK
    for seat, hand in enumerate((("JC", "QC", "KD"), ("JD", "JH", "JS"))):
        for name in hand:
            state["place"][pack.card(name)] = seat
    state["player"] = 0
    batch.refresh(0)
    batch.step(np.array([game.action_ids["JC"]]))
    assert game.legal_names(batch.mask[0]) == ["JD", "JH", "JS"]  # no club: anything goes
    batch.step(np.array([game.action_ids["JD"]]))
    assert int(batch.players[0]) == 0  # a card of another suit does not win
    assert batch.states[0]["scores"].tolist() == [1, 0]
    worlds = np.repeat(batch.states, 500)
    resample(game, worlds, np.zeros(500, np.int64), 7)
    clubs = worlds["place"][:, :3]
    assert not (clubs == 1).any()
    counts = (worlds["place"] == 1).sum(axis=0)
    possible = [c for c in range(12) if counts[c]]
    assert [pack.names[c] for c in possible] == ["QD", "JH", "QH", "KH", "JS", "QS", "KS"]
    assert counts.sum() == 1000
    # Each of the seven cards is as likely: 1000 / 7 times, with a standard deviation of about 10.
    assert all(abs(counts[c] - 1000 / 7) < 45 for c in possible)


# --- Links -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_files_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target or target.startswith("<"):
            continue
        file, _, anchor = target.partition("#")
        found = (path.parent / file).resolve() if file else path
        assert found.exists(), f"{path.name}: {target} is not there"
        if anchor:
            assert anchor in headings(found), f"{path.name}: {file} has no heading {anchor!r}"


def test_every_page_is_in_a_table_of_contents() -> None:
    named = set()
    for index in (DOCS / "index.md", DOCS / "api" / "index.md"):
        for toc in re.findall(r"^```\{toctree\}\n(.*?)^```", index.read_text(encoding="utf-8"), re.M | re.S):
            for line in toc.splitlines():
                if line and not line.startswith(":"):
                    named |= {p.resolve() for p in index.parent.glob(f"{line}.*") if p.suffix in (".md", ".ipynb")}
    pages = [p for p in PAGES if p.name not in ("README.md", "index.md")] + sorted(ROOT.glob("notebooks/*.ipynb"))
    assert [p.name for p in pages if p.resolve() not in named] == []


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    line = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs", ".", str(tmp_path)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = sorted(tmp_path.rglob("*.html"))
    wrong = [f"{page.relative_to(tmp_path)}: {link}" for page in pages for link in broken(page)]
    assert wrong == []
    start = tmp_path / "docs" / "index.html"
    assert "tarot-4.png" in start.read_text(encoding="utf-8")
    assert 'id="cardgym.game.Game"' in (start.parent / "api" / "games.html").read_text(encoding="utf-8")
    assert (tmp_path / "notebooks" / "4_search.html").exists()


def broken(page: Path) -> list[str]:
    """Links and pictures of a built page that lead to no file, or to no place in it."""
    found = []
    for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text(encoding="utf-8")):
        file, _, anchor = unquote(html.unescape(link)).partition("#")
        target = page.parent / file.partition("?")[0] if file else page
        if re.match(r"[a-z]+:", link):
            continue
        if not target.exists() or (anchor and f'id="{html.escape(anchor)}"' not in _text(target)):
            found.append(link)
    return found


@functools.cache
def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")
