"""The policies that play the games under test."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from cardgym.game import Game


def words(seeds: np.ndarray, counter: int | np.ndarray) -> np.ndarray:
    """A 32-bit random word for each seed, from the finaliser of the SplitMix64 generator.

    Args:
        seeds: integers, any shape.
        counter: number of the word in the seed's own sequence; arrays broadcast against ``seeds``.

    Returns:
        int64, 0 <= word < 2**32.
    """
    with np.errstate(over="ignore"):
        x = np.asarray(seeds).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = x + np.asarray(counter).astype(np.uint64) * np.uint64(0xD1B54A32D192ED03) + np.uint64(1)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (x >> np.uint64(32)).astype(np.int64)


Policy = Callable[[Game, np.ndarray, np.ndarray, int], np.ndarray]


def nth_legal(mask: np.ndarray, word: np.ndarray) -> np.ndarray:
    """The legal action that 32 random bits choose, all of a row equally likely."""
    legal = mask != 0
    nth = (word * legal.sum(axis=1)) >> 32
    return (legal.cumsum(axis=1) > nth[:, None]).argmax(axis=1)


def uniform(game: Game, mask: np.ndarray, seeds: np.ndarray, move: int) -> np.ndarray:
    """Any legal action, all equally likely."""
    return nth_legal(mask, words(seeds, 2 * move))


def talkative(game: Game, mask: np.ndarray, seeds: np.ndarray, move: int) -> np.ndarray:
    """Words before cards, nine times in ten: announcements, bids and exchanges happen as often as they can."""
    spoken = mask * _are_words(game)
    speaks = spoken.any(axis=1) & (words(seeds, 2 * move + 1) % 10 != 0)
    return nth_legal(np.where(speaks[:, None], spoken, mask), words(seeds, 2 * move))


@functools.cache
def _are_words(game: Game) -> np.ndarray:
    """Which actions are no cards, bool, shape (actions,)."""
    return np.array([a.card is None for a in game.actions])


_LIKES = 1 << 40  # where in a seed's sequence its preferences stand, beyond the words of its moves


def stubborn(game: Game, mask: np.ndarray, seeds: np.ndarray, move: int) -> np.ndarray:
    """One random order of preference over all actions per game, kept to its end."""
    likes = words(seeds[:, None], _LIKES + np.arange(len(game.actions)))
    return np.where(mask != 0, likes, -1).argmax(axis=1)


POLICIES: dict[str, Policy] = {"uniform": uniform, "talkative": talkative, "stubborn": stubborn}
"""The play policies by name, as failure messages give them."""
