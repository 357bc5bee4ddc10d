"""Spaces that follow from a game's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from gymnasium import spaces

from cardgym.game import Game, Layout


def observation_space(game: Game, layouts: Mapping[str, Layout], encodings: Sequence[str]) -> spaces.Dict:
    """``Dict`` of an int8 ``Box`` for each encoding and for the action mask."""
    boxes = {name: encoding_space(layouts[name]) for name in encodings}
    return spaces.Dict({**boxes, "action_mask": spaces.Box(0, 1, (len(game.actions),), np.int8)})


def encoding_space(layout: Layout) -> spaces.Box:
    """The int8 ``Box`` of a layout, with the bounds of every number."""
    return spaces.Box(layout.low, layout.high, (layout.size,), np.int8)
