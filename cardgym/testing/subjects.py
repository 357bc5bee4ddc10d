"""What is tested: a game under given rule options, and the options worth testing."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec

import cardgym
from cardgym.batch import ENCODINGS, Batch
from cardgym.envs import CardEnv, CardVectorEnv
from cardgym.errors import InvalidOption
from cardgym.game import Game, Layout, Options


@dataclass(frozen=True)
class Subject:
    """A game under given rule options, in every form that the library offers."""

    game: Game
    options: Options
    given: str | Game
    rules: Mapping[str, Any]

    def __str__(self) -> str:
        name = self.given if isinstance(self.given, str) else self.game.name
        return f"{name} {dict(self.rules)}" if self.rules else name

    @functools.cached_property
    def seats(self) -> int:
        return self.game.seats(self.options)

    @functools.cached_property
    def layouts(self) -> Mapping[str, Layout]:
        return self.game.layouts(self.options)

    @property
    def encodings(self) -> tuple[str, ...]:
        return tuple(e for e in ENCODINGS if e in self.layouts)

    def batch(self, num_games: int, threads: int = 1) -> Batch:
        return Batch(self.game, self.options, num_games, self.encodings, threads)

    def made(self, **kwargs: Any) -> gymnasium.Env[Any, Any]:
        """The single environment as ``gymnasium.make`` gives it."""
        spec: str | EnvSpec
        if isinstance(self.given, str):
            spec = cardgym.checked_id(self.given)
        else:
            # A function, since Gymnasium copies what it is given and a game must stay the same object.
            def entry_point(**arguments: Any) -> CardEnv:
                return CardEnv(self.game, **arguments)

            spec = EnvSpec(f"cardgym/{self.game.name}-v0", entry_point=entry_point)
        return gymnasium.make(spec, **{**self.rules, **kwargs})

    def single(self, **kwargs: Any) -> CardEnv:
        env = self.made(**kwargs).unwrapped
        assert isinstance(env, CardEnv)
        return env

    def vector(self, num_envs: int, **kwargs: Any) -> CardVectorEnv:
        return CardVectorEnv(self.game, num_envs=num_envs, **self._all_rules(), **kwargs)

    def _all_rules(self) -> dict[str, Any]:
        return {f.name: getattr(self.options, f.name) for f in dataclasses.fields(self.options)}


def subject(game: str | Game, **options: Any) -> Subject:
    """What the checks work on: a game with its options, from an environment id or the game itself.

    Raises:
        UnknownGame, InvalidOption: as :func:`cardgym.make`.
    """
    if isinstance(game, Game):
        return Subject(game, game.options.of(**options), game, options)
    preset = dict(cardgym.IDS[cardgym.checked_id(game)])
    found = cardgym.load_game(preset.pop("game"))
    return Subject(found, found.options.of(**{**preset, **options}), game, options)


def option_variants(game: str | Game) -> list[dict[str, Any]]:
    """Rule options worth testing: the defaults, each other value of each option alone, all of them changed at once.

    An option that the environment id fixes keeps its value; a number is doubled (within its bounds), a
    word for one replaced by the smallest; what the game refuses (:class:`cardgym.errors.InvalidOption`) is left out.
    """
    base = subject(game)
    fixed = set() if isinstance(game, Game) else set(cardgym.IDS[cardgym.checked_id(game)])
    variants: list[dict[str, Any]] = [{}]
    changed: dict[str, Any] = {}
    for f in dataclasses.fields(base.options):
        default, choices, high = getattr(base.options, f.name), f.metadata["choices"], f.metadata["high"]
        if f.name in fixed:
            continue
        if choices is not None:
            others = [c for c in choices if c != default]
        elif default in f.metadata["words"]:
            others = [f.metadata["low"]]
        else:
            others = [default * 2 if high is None else min(default * 2, high)]
        for value in others:
            if allowed(game, {f.name: value}):
                variants.append({f.name: value})
        if others and allowed(game, {**changed, f.name: others[-1]}):
            changed[f.name] = others[-1]
    return [*variants, changed] if changed not in variants else variants


def covering_variants(game: str | Game) -> list[dict[str, Any]]:
    """Few sets of rule options in which each value of :func:`option_variants` occurs at least once.

    The defaults, then mixtures, then all changed at once.  From one mixture to the next every option takes its next
    value in turn, neighbours in turns apart, so that one option does not hide the work of another in all of them.  What
    a mixture's earlier options do not allow keeps its default; values left over by that stand alone at the end.
    """
    alone = option_variants(game)
    values: dict[str, list[Any]] = {}
    for variant in alone[1:]:
        if len(variant) == 1:
            ((name, value),) = variant.items()
            values.setdefault(name, []).append(value)
    variants: list[dict[str, Any]] = [{}]
    for k in range(1 + max(map(len, values.values()), default=0)):
        mixture: dict[str, Any] = {}
        for i, (name, others) in enumerate(values.items()):
            turn = (k + i) % (len(others) + 1)
            if turn < len(others) and allowed(game, {**mixture, name: others[turn]}):
                mixture[name] = others[turn]
        variants.append(mixture)
    variants.append(alone[-1])
    met = {item for variant in variants for item in variant.items()}
    variants += [variant for variant in alone if not met.issuperset(variant.items())]
    return [variant for k, variant in enumerate(variants) if variant not in variants[:k]]


def allowed(game: str | Game, options: Mapping[str, Any]) -> bool:
    """Does the game take these rule options together?"""
    try:
        subject(game, **options)
    except InvalidOption:
        return False
    return True
