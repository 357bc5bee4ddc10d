"""Wrappers: other libraries' forms of the environments, and helpers for training.

A class is imported when it is first asked for, so ``import cardgym.wrappers`` needs none of the optional libraries::

    from cardgym.wrappers import PettingZooAEC
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "CanonicalSuits": "canonical_suits",
    "OpenSpielGame": "openspiel",
    "PettingZooAEC": "pettingzoo_aec",
    "RLlibEnv": "rllib",
    "SB3VecEnv": "sb3_vec_env",
    "SelfPlay": "self_play",
    "TerminateIllegal": "terminate_illegal",
    "VectorCanonicalSuits": "vector_canonical_suits",
    "VectorSelfPlay": "vector_self_play",
}
"""Module of every class."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(_MODULES)}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
