"""States under test: what seats see of them, other worlds that look the same, and whether two are equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cardgym.batch import ENCODINGS, Batch, Views, resample
from cardgym.game import Layout
from cardgym.testing.subjects import Subject


class Record:
    """The fields of one state, as attributes or by name; each is taken out of the array but once."""

    def __init__(self, state: np.void) -> None:
        self._state = state

    def __getattr__(self, name: str) -> Any:
        try:
            value = self._state[name]
        except ValueError:
            raise AttributeError(name) from None
        self.__dict__[name] = value
        return value

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


def seen(s: Subject, states: np.ndarray, seats: np.ndarray | int, encodings: Sequence[str] = ENCODINGS) -> Views:
    """What seats see of states: the mask and, of the given encodings, those that the game has; fresh arrays."""
    batch = Batch(s.game, s.options, len(states))
    batch.states[:] = states
    asked = np.empty(len(states), np.int64)
    asked[:] = seats
    return batch.views(asked, None, [name for name in s.encodings if name in encodings])


def other_world(s: Subject, states: np.ndarray, seat: int, seed: int) -> np.ndarray:
    """Other states, which for all that the seat knows could be the given ones: copies of them, resampled."""
    world = states.copy()
    resample(s.game, world, np.full(len(world), seat), seed)
    return world


def continued(s: Subject, states: np.ndarray) -> Batch:
    """A batch that goes on from given states."""
    batch = Batch(s.game, s.options, len(states))
    batch.restore(states)
    return batch


def differing(layout: Layout, a: np.ndarray, b: np.ndarray) -> str:
    """The parts of a layout in which two encodings differ, with both values at the first place."""
    said = []
    for name, place in layout.slices.items():
        where = np.flatnonzero(a[place] != b[place])
        if len(where):
            said.append(f"{name}[{where[0]}]: {a[place][where[0]]} and {b[place][where[0]]}")
    return "; ".join(said)


def parts(layout: Layout, encoding: np.ndarray) -> dict[str, np.ndarray]:
    """The named parts of an encoding, each in its own shape."""
    return {name: encoding[place].reshape(layout.shapes[name]) for name, place in layout.slices.items()}


def fields_equal(a: np.ndarray, b: np.ndarray, without: Iterable[str] = ()) -> np.ndarray:
    """Which rows of two arrays of states are equal, field by field; bool, shape (n,)."""
    equal = (as_bytes(a) == as_bytes(b)).all(axis=1)
    if equal.all():
        return equal  # equal bytes are equal fields, and soon compared
    equal = np.ones(len(a), bool)
    for name in a.dtype.names or ():
        if name not in without:
            equal &= (a[name] == b[name]).reshape(len(a), -1).all(axis=1)
    return equal


def as_bytes(states: np.ndarray) -> np.ndarray:
    """States as rows of bytes; they have no padding."""
    return np.ascontiguousarray(states).view(np.uint8).reshape(len(states), -1)


def plain(value: Any) -> Any:
    """Arrays as bytes with dtype and shape, so that ``==`` compares byte for byte."""
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    return (str(value.dtype), value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def plain_state(state: np.ndarray) -> dict[str, bytes]:
    """States as the bytes of each field, so that ``==`` compares byte for byte."""
    return {name: state[name].tobytes() for name in state.dtype.names or ()}


def buffers(batch: Batch) -> Any:
    """All that a batch holds, states and buffers, as bytes: ``==`` tells whether something changed."""
    names = ("mask", "players", "rewards", "over", *batch.encodings)
    return [plain_state(batch.states), *(getattr(batch, name).tobytes() for name in names)]
