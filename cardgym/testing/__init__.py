"""Conformance tests as plain functions, for the games in the box and for your own.

Every check takes an environment id or a :class:`cardgym.game.Game`, and rule options::

    from cardgym.testing import check_game

    check_game("cardgym/Chouine-v0", memory="table")
    check_game(my_game)

:func:`check_game` runs them all.  A failure is an ``AssertionError`` that says how to see it again: play policy,
seed, move number and seat, for :func:`state_at`, and the part of the layout that differs.

Play comes from a few policies (:data:`~cardgym.testing.policies.POLICIES`) whose choices depend on nothing but the
game's seed, the move number and the legal actions, so a game found at fault in a batch of thousands can be
replayed alone.
"""

from __future__ import annotations

from typing import Any

from cardgym.game import Game
from cardgym.testing.copies import check_copies
from cardgym.testing.facts import Fact, check_facts
from cardgym.testing.forms import Moment, check_forms
from cardgym.testing.golden import check_golden, golden_games
from cardgym.testing.jit import check_jit, digest
from cardgym.testing.leaks import FEW_DEALS_DRAWN, check_leaks
from cardgym.testing.libraries import NthLegalAction, check_gymnasium, check_pettingzoo, check_sb3, has_module
from cardgym.testing.play import check_layouts, check_play
from cardgym.testing.policies import POLICIES, Policy, stubborn, talkative, uniform, words
from cardgym.testing.refusals import check_illegal_actions
from cardgym.testing.states import Record, buffers, differing, fields_equal, parts, seen
from cardgym.testing.subjects import Subject, allowed, covering_variants, option_variants, subject
from cardgym.testing.walks import LIMIT, STRETCH, Stretch, Trail, state_at, walk

__all__ = [
    "FEW_DEALS_DRAWN",
    "LIMIT",
    "POLICIES",
    "STRETCH",
    "Fact",
    "Moment",
    "NthLegalAction",
    "Policy",
    "Record",
    "Stretch",
    "Subject",
    "Trail",
    "allowed",
    "buffers",
    "check_copies",
    "check_facts",
    "check_forms",
    "check_game",
    "check_golden",
    "check_gymnasium",
    "check_illegal_actions",
    "check_jit",
    "check_layouts",
    "check_leaks",
    "check_pettingzoo",
    "check_play",
    "check_sb3",
    "covering_variants",
    "differing",
    "digest",
    "fields_equal",
    "golden_games",
    "option_variants",
    "parts",
    "seen",
    "state_at",
    "stubborn",
    "subject",
    "talkative",
    "uniform",
    "walk",
    "words",
]


def check_game(game: str | Game, *, games: int = 50, seed: int = 0, zero_sum: bool = True, **options: Any) -> None:
    """Runs every check on a game under the given rule options.

    Args:
        game: an environment id, or a game of your own.
        games: number of random games per policy; the costlier checks play fewer.
        seed: of the first game.
        zero_sum: do the rewards of all seats sum to zero at every decision?
        **options: rule options.

    Raises:
        AssertionError: a check failed; the message tells how to see it again.
    """
    few = max(1, games // 20)
    check_play(game, games=games, seed=seed, zero_sum=zero_sum, **options)
    check_leaks(game, games=games, seed=seed, **options)
    check_copies(game, games=few, seed=seed, **options)
    check_illegal_actions(game, games=few, seed=seed, **options)
    check_forms(game, seed=seed, **options)
    check_gymnasium(game, **options)
    if has_module("pettingzoo"):
        check_pettingzoo(game, **options)
    if has_module("stable_baselines3"):
        check_sb3(game, **options)
