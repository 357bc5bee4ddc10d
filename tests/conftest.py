"""Settings of all tests: plain ``pytest`` leaves out the long ones; ``pytest -m "long or not long"`` runs all."""

from __future__ import annotations

import hypothesis
import pytest

# The same examples in every run, and no time limit on any: tests never time things.
hypothesis.settings.register_profile("cardgym", derandomize=True, deadline=None)
hypothesis.settings.load_profile("cardgym")


def pytest_configure(config: pytest.Config) -> None:
    if not config.option.markexpr:
        config.option.markexpr = "not long"
