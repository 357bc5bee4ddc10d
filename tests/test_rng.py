"""The random stream inside a state: known values, range, evenness, independence of streams."""

from __future__ import annotations

import numpy as np
import pytest

from cardgym import rng


def stream(value: int) -> np.ndarray:
    state = np.zeros(rng.WORDS, np.int64)
    rng.seed(state, *rng.split_seed(value))
    return state


def sfc32(value: int, n: int) -> list[int]:
    """Doty-Humphrey's generator once more, in Python's unbounded integers with unsigned words."""
    a, b, c, d = 0, value & 0xFFFFFFFF, value >> 32, 1
    out = []
    for _ in range(15 + n):
        word = (a + b + d) % 2**32
        d = (d + 1) % 2**32
        a, b, c = b ^ (b >> 9), (c + 8 * c) % 2**32, ((c << 21 | c >> 11) + word) % 2**32
        out.append(word)
    return out[15:]


@pytest.mark.parametrize("value", [0, 1, 0xFFFFFFFF, 1 << 32, 0x0123456789ABCDEF, (1 << 64) - 1])
def test_words_are_those_of_sfc32(value: int) -> None:
    state = stream(value)
    assert [int(rng.next_word(state)) for _ in range(200)] == sfc32(value, 200)


def test_known_words() -> None:
    """The same on every machine and in every version: seeds in papers must stay good."""
    state = stream(42)
    assert [int(rng.next_word(state)) for _ in range(4)] == [1251167922, 656401615, 478193053, 3278332503]
    assert state.tolist() == [2906095088, 2749071032, 2726464639, 20]


@pytest.mark.parametrize("n", [1, 2, 3, 32, 78, 1 << 31])
def test_below_stays_in_range(n: int) -> None:
    state = stream(n)
    drawn = [int(rng.below(state, n)) for _ in range(500)]
    assert min(drawn) >= 0
    assert max(drawn) < n
    if n <= 3:
        assert set(drawn) == set(range(n))


def test_below_takes_small_integers() -> None:
    """Fields of a state are int8 where no compiler widens them."""
    assert rng.below(stream(3), np.int8(52)) == rng.below(stream(3), 52)


def test_shuffle_is_even() -> None:
    """Every card in every place about equally often: chi-squared with 49 degrees of freedom stays below 100."""
    counts = np.zeros((8, 8))
    state = stream(7)
    for _ in range(4000):
        cards = np.arange(8, dtype=np.int8)
        rng.shuffle(state, cards, 8)
        counts[np.arange(8), cards] += 1
    assert (counts.sum(axis=0) == 4000).all()
    assert ((counts - 500) ** 2 / 500).sum() < 100


def test_shuffle_leaves_the_rest() -> None:
    cards = np.arange(10, dtype=np.int8)
    rng.shuffle(stream(1), cards, 6)
    assert sorted(cards[:6]) == list(range(6))
    assert cards[6:].tolist() == [6, 7, 8, 9]


def test_neighbouring_seeds_are_unlike() -> None:
    """About half of all bits differ between the streams of seeds that differ by one bit."""
    for bit in range(64):
        a, b = stream(0), stream(1 << bit)
        different = sum((int(rng.next_word(a)) ^ int(rng.next_word(b))).bit_count() for _ in range(100))
        assert 1400 < different < 1800


def test_scramble_draws_from_the_salt() -> None:
    salt, same_salt = stream(5), stream(5)
    streams = [stream(1) for _ in range(3)]
    rng.scramble(streams[0], salt)
    rng.scramble(streams[1], salt)
    rng.scramble(streams[2], same_salt)
    assert streams[0].tolist() == streams[2].tolist()
    assert streams[0].tolist() != streams[1].tolist()
    assert salt.tolist() != same_salt.tolist()


@pytest.mark.parametrize("value", [0, 5, 0xFFFFFFFF, 1 << 32, (1 << 64) - 1])
def test_split_seed(value: int) -> None:
    low, high = rng.split_seed(value)
    assert low + (high << 32) == value
    assert max(low, high) < 1 << 32


@pytest.mark.parametrize("value", [-1, 1 << 64])
def test_bad_seeds(value: int) -> None:
    with pytest.raises(ValueError, match=rf"a seed is an integer from 0 to 2\*\*64 - 1, not {value}"):
        rng.split_seed(value)


@pytest.mark.parametrize("value", [1.5, 1.0, "1", None, True, np.float64(2)])
def test_what_is_no_integer_is_no_seed(value: object) -> None:
    with pytest.raises(ValueError, match="a seed is an integer from 0"):
        rng.split_seed(value)


def test_numpy_integers_are_seeds() -> None:
    assert rng.split_seed(np.uint64((1 << 64) - 1)) == (0xFFFFFFFF, 0xFFFFFFFF)
