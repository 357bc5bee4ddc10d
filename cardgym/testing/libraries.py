"""Other libraries' own checks of environments: Gymnasium's, PettingZoo's and Stable-Baselines3's."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.utils import env_checker as gymnasium_checker

from cardgym.errors import require
from cardgym.game import Game
from cardgym.testing.subjects import Subject, subject


def has_module(name: str) -> bool:
    """Is a library of that name installed?"""
    try:
        require(name, name)
    except ImportError:
        return False
    return True


class NthLegalAction(gymnasium.ActionWrapper[Any, Any, Any], RecordConstructorArgs):
    """Takes any action number as the legal action of that number, counted round: for checkers that know no masks."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.ActionWrapper.__init__(self, env)

    def action(self, action: Any) -> int:
        """The id of the legal action number ``action`` modulo the number of legal actions."""
        legal = np.flatnonzero(self.env.get_wrapper_attr("action_masks")())
        return int(legal[int(action) % len(legal)])


def check_gymnasium(game: str | Game, **options: Any) -> None:
    """Gymnasium's ``check_env`` passes without warnings, with illegal actions that end the game and with legal ones.

    Pictures are looked at where pygame-ce is installed; windows are opened on no screen.
    """
    from cardgym.wrappers import TerminateIllegal

    s = subject(game, **options)
    for kwargs in ({}, {"encodings": s.encodings, "render_mode": "ansi"}):
        for wrap in (NthLegalAction, functools.partial(TerminateIllegal, penalty=-1.0)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                env = wrap(s.made(**kwargs))
                with _no_screen():
                    gymnasium_checker.check_env(env, skip_render_check=not has_module("pygame"))
                env.close()
            told = [str(w.message) for w in caught if "is different from the unwrapped version" not in str(w.message)]
            assert not told, f"{s}: check_env warns: {told}"


@contextlib.contextmanager
def _no_screen() -> Iterator[None]:
    """Windows opened meanwhile are seen by nobody, so that a machine without a screen will do."""
    driver = os.environ.get("SDL_VIDEODRIVER")
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    try:
        yield
    finally:
        os.environ.pop("SDL_VIDEODRIVER")
        if driver is not None:
            os.environ["SDL_VIDEODRIVER"] = driver


def pettingzoo_form(s: Subject, **kwargs: Any) -> Any:
    """The environment in PettingZoo's AEC form; ``kwargs`` go to its constructor beside the rule options."""
    from cardgym.wrappers import PettingZooAEC

    return PettingZooAEC(s.given, **s.rules, **kwargs)


def check_pettingzoo(game: str | Game, *, cycles: int = 300, **options: Any) -> None:
    """PettingZoo's ``api_test``, ``seed_test`` and ``render_test`` pass.

    Raises:
        MissingExtra: PettingZoo is not installed.
    """
    s = subject(game, **options)
    api, seeds, render = (require(f"pettingzoo.test.{n}_test", "pettingzoo") for n in ("api", "seed", "render"))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        # These tests warn of every observation that is a dict with a mask, PettingZoo's own convention; they print.
        warnings.simplefilter("ignore", UserWarning)
        api.api_test(pettingzoo_form(s), num_cycles=cycles)
        seeds.seed_test(lambda: pettingzoo_form(s), num_cycles=cycles)
        if has_module("pygame"):
            with _no_screen():
                render.render_test(lambda render_mode: pettingzoo_form(s, render_mode=render_mode))


def check_sb3(game: str | Game, **options: Any) -> None:
    """Stable-Baselines3's ``check_env`` passes without warnings on the single-agent view.

    Raises:
        MissingExtra: Stable-Baselines3 is not installed.
    """
    from cardgym.baselines.agents import RandomAgent
    from cardgym.wrappers import SelfPlay, TerminateIllegal

    s = subject(game, **options)
    checker = require("stable_baselines3.common.env_checker", "train")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for env in (
            NthLegalAction(SelfPlay(s.made(), [RandomAgent()])),
            SelfPlay(TerminateIllegal(s.made()), [RandomAgent()]),
        ):
            checker.check_env(env)
    assert not caught, f"{s}: check_env warns: {[str(w.message) for w in caught]}"
