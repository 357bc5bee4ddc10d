"""Every rule of the source that Shukh was built from is named by a test, of lawful play or of the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


def numbered(prefix: str, *counts: int) -> list[str]:
    """``R-1.1`` ... for a section with so many rules."""
    return [f"{prefix}{n}" for n in range(1, *(c + 1 for c in counts))]


IDS = [
    *numbered("R-1.", 4), "R-1.4.1",
    *numbered("R-2.", 13),
    *numbered("R-3.", 7), "R-3.6.1", "R-3.6.2", "R-3.6.2.1", "R-3.6.2.2", "R-3.6.3", "R-3.7.1", "R-3.7.2",
    *numbered("R-4.", 15), *numbered("R-4.4.", 4), "R-4.10.1", "R-4.14.1",
    *numbered("R-5.", 9), "R-5.5.1", "R-5.6.1", "R-5.6.2", "R-5.6.3", "R-5.7.1", "R-5.7.2",
    *numbered("R-6.", 4), "R-6.2.1",
    *numbered("R-8.", 9), "R-8.1.1",
    *numbered("R-9.", 5), "R-9.1.1", "R-9.4.1", "R-9.4.2", "R-9.4.2.1", "R-9.4.3", "R-9.5.1",
    "R-10.1", "R-10.1.1", "R-10.2",
    *numbered("I-", 7),
    *numbered("V-", 4),
    *[f"Sh-{n}" for n in ("1", "2", "3", "4a", "4b", "5", "6", "7", "8", "9", "10", "11", "12")],
]  # fmt: skip


@pytest.fixture(scope="module")
def tests_of_shukh() -> str:
    here = Path(__file__)
    return "\n".join(p.read_text(encoding="utf-8") for p in here.parent.glob("test_shukh_*.py") if p != here)


@pytest.mark.parametrize("rule", IDS)
def test_named_by_a_test(rule: str, tests_of_shukh: str) -> None:
    """In a comment, a docstring or a name: R-5.5, r_5_5."""
    pattern = re.escape(rule).replace(r"\-", "[-_]").replace(r"\.", "[._]")
    assert re.search(rf"(?<![^\W_]){pattern}(?![^\W_]|[._]\d)", tests_of_shukh, re.IGNORECASE), rule


def test_how_many() -> None:
    assert len(IDS) == len(set(IDS)) == 121
