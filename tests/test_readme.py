"""The examples of the README run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_there_is_one_for_each_library() -> None:
    assert len(BLOCKS) == 3
    assert all(len(block.strip().splitlines()) <= 17 for block in BLOCKS)


@pytest.mark.parametrize("block", BLOCKS, ids=["gymnasium", "sb3", "pettingzoo"])
def test_example_runs(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, "README.md", "exec"), {})
    if "render" in block:
        printed = capsys.readouterr().out
        assert "Chouine · trick 16 of 16" in printed
        assert "totals" in printed
