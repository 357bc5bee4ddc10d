"""Settings of all tests: plain ``pytest`` leaves out the long ones; ``pytest -m "long or not long"`` runs all."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if not config.option.markexpr:
        config.option.markexpr = "not long"
