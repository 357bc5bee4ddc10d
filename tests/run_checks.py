"""What the tests of all learners ask of the folder of a finished run on Chouine."""

from __future__ import annotations

import json
from pathlib import Path

from cardgym import records
from cardgym.baselines.evaluate import FIRST_DEAL
from cardgym.baselines.training import VALIDATION_DEAL


def check_folder(folder: Path, algorithm: str, suffix: str, points: list[int], deals: int) -> None:
    """Everything that a run promises to write is there, and only that.

    Args:
        folder: of the run, with what it printed in ``log.txt``.
        algorithm: the learner's name in the results.
        suffix: of the model's file.
        points: decisions at the points of the learning curve.
        deals: duplicate deals of the final evaluation; the run recorded 3.
    """
    names = {p.name for p in folder.iterdir()}
    assert {f"model{suffix}", f"checkpoint{suffix}", "curve.png", "curve.json", "results.json", "games.jsonl"} <= names
    assert {"progress.csv", "settings.json"} <= names
    assert any(n.startswith("events.out.tfevents") for n in names)
    assert not any(".partial" in n for n in names)
    results = json.loads((folder / "results.json").read_text())
    pairs = [(algorithm, "random"), (algorithm, "rule"), ("rule", "random")]
    assert [(r["agent"], r["against"]) for r in results] == pairs
    assert {r["first_deal"] for r in results} == {FIRST_DEAL}
    assert {r["games"] for r in results} == {2 * deals}
    curve = json.loads((folder / "curve.json").read_text())
    assert [p["decisions"] for p in curve] == points
    assert {r["first_deal"] for p in curve for r in p["results"]} == {VALIDATION_DEAL}
    games = list(records.read(folder / "games.jsonl"))
    assert len(games) == 6
    for record in games:
        records.verify(record)
    log = (folder / "log.txt").read_text()
    assert "training on Chouine: 100 %" in log
    assert "wins %" in log
    assert (folder / "curve.png").read_bytes()[:4] == b"\x89PNG"
