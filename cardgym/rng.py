"""The random stream that lives inside a state.

Chris Doty-Humphrey's small fast counter generator *sfc32*: three words of 32 bits
and a counter, kept in four ``int64`` fields so that every operation stays in
plain signed arithmetic.  That gives the same numbers compiled and as plain
Python (mixing signed and unsigned 64-bit integers would turn into floats in Numba).
The stream is part of the state: a clone continues with the same chance events, and
:func:`scramble` gives a clone another future.
"""

from __future__ import annotations

import numpy as np

from cardgym.kernel import helper

WORDS = 4
"""Number of ``int64`` fields of a stream."""

_MASK = 0xFFFFFFFF
_WARM_UP = 15


@helper
def next_word(rng: np.ndarray) -> int:
    """The next 32 random bits, 0 <= word < 2**32; advances ``rng``, shape (4,), int64."""
    a, b, c, d = int(rng[0]), int(rng[1]), int(rng[2]), int(rng[3])
    out = (a + b + d) & _MASK
    rng[0] = b ^ (b >> 9)
    rng[1] = (c + (c << 3)) & _MASK
    rng[2] = ((((c << 21) | (c >> 11)) & _MASK) + out) & _MASK
    rng[3] = (d + 1) & _MASK
    return out


@helper
def seed(rng: np.ndarray, low: int, high: int) -> None:
    """Starts the stream of the 64-bit seed ``high * 2**32 + low``; both words are below 2**32."""
    rng[0] = 0
    rng[1] = low
    rng[2] = high
    rng[3] = 1
    for _ in range(_WARM_UP):
        next_word(rng)


@helper
def below(rng: np.ndarray, n: int) -> int:
    """A random integer 0 <= x < n, for 1 <= n <= 2**31; its bias is below n / 2**32."""
    return (next_word(rng) * int(n)) >> 32


@helper
def shuffle(rng: np.ndarray, cards: np.ndarray, n: int) -> None:
    """Shuffles the first ``n`` entries of ``cards`` (Fisher-Yates)."""
    for i in range(n - 1, 0, -1):
        j = below(rng, i + 1)
        card = cards[i]
        cards[i] = cards[j]
        cards[j] = card


@helper
def scramble(rng: np.ndarray, salt: np.ndarray) -> None:
    """Replaces ``rng`` by a stream drawn from ``salt``, itself a stream, which advances."""
    low = next_word(salt)
    seed(rng, low, next_word(salt))


def split_seed(value: int) -> tuple[int, int]:
    """The two 32-bit words (low, high) of a seed.

    Raises:
        ValueError: the seed is no integer in 0 ... 2**64 - 1.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= int(value) < 1 << 64:
        raise ValueError(f"a seed is an integer from 0 to 2**64 - 1, not {value!r}")
    value = int(value)
    return value & _MASK, value >> 32
