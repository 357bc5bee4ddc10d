"""Checks of random play: masks, bounds and rewards at every decision, and layouts of which every part is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cardgym.batch import Batch
from cardgym.game import Game
from cardgym.testing.policies import POLICIES
from cardgym.testing.states import differing, fields_equal, seen
from cardgym.testing.subjects import Subject, covering_variants, subject
from cardgym.testing.walks import Trail, stretches


def check_play(game: str | Game, *, games: int = 1000, seed: int = 0, zero_sum: bool = True, **options: Any) -> None:
    """Random games of every policy end, and at every decision of them:

    the seat to act is a seat and has a legal action; every other seat, and every seat of a finished game, has an
    all-zero mask; a mask holds only 0 and 1; every encoding of every seat lies within the bounds of its layout;
    buffers and views agree and observing changes no state; rewards are finite and, if ``zero_sum``, sum to zero.
    """
    s = subject(game, **options)
    for policy in POLICIES:
        for trail, shown in stretches(s, policy, games, seed):
            _check_rewards(s, trail, shown["rewards"], zero_sum)
            for seat in range(s.seats):
                _check_views(s, trail, seat, shown)


def _check_rewards(s: Subject, trail: Trail, rewards: np.ndarray, zero_sum: bool) -> None:
    total = rewards.sum(axis=1)
    for k in np.flatnonzero(~np.isfinite(total))[:1]:
        raise AssertionError(f"{s}: rewards {rewards[k]}: {trail.where(k)}")
    for k in np.flatnonzero((np.abs(total) > 1e-9) & zero_sum)[:1]:
        raise AssertionError(f"{s}: rewards {rewards[k]} do not sum to zero: {trail.where(k)}")


def _check_views(s: Subject, trail: Trail, seat: int, shown: Mapping[str, np.ndarray]) -> None:
    """Masks and bounds of one seat in given states, of which a batch has ``shown`` what it did."""
    batch = Batch(s.game, s.options, len(trail.states))
    batch.states[:] = trail.states
    view = batch.views(np.full(len(trail.states), seat), None, s.encodings)
    players, over = trail.states["player"], trail.states["over"] != 0
    acts = (players == seat) & ~over

    def holds(condition: np.ndarray, what: str) -> None:
        wrong = np.flatnonzero(~condition)
        assert not len(wrong), f"{s}: {what}: {trail.where(wrong[0])}, seat={seat}"

    holds(fields_equal(trail.states, batch.states), "observing changes the state")
    holds((players >= 0) & (players < s.seats), "the player to act is no seat")
    holds(view.mask.any(axis=1) == acts, "a mask is all zero if and only if the seat is not to act")
    holds(((view.mask == 0) | (view.mask == 1)).all(axis=1), "a mask holds something else than 0 and 1")
    holds((view.mask == shown["mask"]).all(axis=1) | ~acts, "views and the batch's mask differ")
    holds(~shown["mask"].any(axis=1) | ~over, "the mask of a finished game is not all zero")
    holds((shown["players"] == players) & (shown["over"] == over), "players or over differ from the states")
    for name in s.encodings:
        layout, values = s.layouts[name], getattr(view, name)
        inside = (values >= layout.low) & (values <= layout.high)
        for k in np.flatnonzero(~inside.all(axis=1))[:1]:
            part = differing(layout, values[k], np.clip(values[k], layout.low, layout.high))
            raise AssertionError(f"{s}: {name} out of bounds in {part}: {trail.where(k)}, seat={seat}")
        holds((values == shown[name]).all(axis=1) | (players != seat), f"views and the batch's {name} differ")


def check_layouts(
    game: str | Game, *, games: int = 300, seed: int = 0, variants: Sequence[Mapping[str, Any]] | None = None
) -> None:
    """Every part of every layout takes more than one value in play, and ``describe`` speaks of all of them.

    Args:
        game, games, seed: as everywhere.
        variants: rule options to play under; together they must move every part.  Default: :func:`covering_variants`.
    """
    stuck: dict[str, set[str]] = {}
    for options in covering_variants(game) if variants is None else variants:
        s = subject(game, **options)
        for name in s.encodings:
            layout = s.layouts[name]
            sizes = [int(np.prod(shape)) for shape in layout.shapes.values()]
            assert layout.size == len(layout.low) == len(layout.high) == sum(sizes)
            stuck.setdefault(name, set(layout.slices))
        if any(stuck.values()):
            _drop_moving_parts(s, games, seed, stuck)
    for name, left in stuck.items():
        assert not left, f"{subject(game)}: parts of {name!r} that never change: {', '.join(sorted(left))}"


def _drop_moving_parts(s: Subject, games: int, seed: int, stuck: dict[str, set[str]]) -> None:
    """Takes from the named parts of each encoding those that change in play; plays until none is left."""
    low = {name: s.layouts[name].high.copy() for name in s.encodings}
    high = {name: s.layouts[name].low.copy() for name in s.encodings}
    for policy in POLICIES:
        for trail, _ in stretches(s, policy, games, seed):
            for seat in range(s.seats):
                view = seen(s, trail.states, seat)
                for name in s.encodings:
                    values = getattr(view, name)
                    low[name] = np.minimum(low[name], values.min(axis=0))
                    high[name] = np.maximum(high[name], values.max(axis=0))
            for name in s.encodings:
                layout = s.layouts[name]
                moving = {p for p, place in layout.slices.items() if (low[name][place] != high[name][place]).any()}
                stuck[name] -= moving
            if not any(stuck.values()):
                break
        for name in s.encodings:
            said = s.layouts[name].describe(getattr(view, name)[0])
            expected = [x.name for x in s.layouts[name].segments]
            assert list(said) == expected, f"{s}: describe leaves out parts of {name!r}"
        if not any(stuck.values()):
            break
