"""The lessons run from top to bottom, solutions too, and are stored without outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
FOLDER = Path(__file__).parent.parent / "notebooks"
LESSONS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
LIMIT = 300
"""Most seconds that a cell may take: a kernel that hangs ends the test."""


def lesson(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def test_there_are_four() -> None:
    assert [name[0] for name in LESSONS] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_stored_clean_and_every_exercise_has_a_hidden_solution(name: str) -> None:
    cells = lesson(name).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    exercises = sum(cell.source.count("**Exercise ") for cell in cells if cell.cell_type == "markdown")
    solutions = [cell for cell in code if "solution" in cell.metadata.get("tags", [])]
    assert len(solutions) == exercises >= 3
    for cell in solutions:
        assert cell.metadata.jupyter.source_hidden
        assert "hide-cell" in cell.metadata.tags


@pytest.mark.long
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_runs(name: str, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    for module in ("sb3_contrib", "matplotlib"):
        pytest.importorskip(module)
    notebook = lesson(name)
    nbclient.NotebookClient(notebook, timeout=LIMIT, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = [o.get("text", "") for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    assert any(printed)
