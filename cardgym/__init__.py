"""cardgym: traditional card games as multi-agent Gymnasium environments.

Importing this package registers the environment ids with Gymnasium::

    import cardgym

    env = cardgym.make("cardgym/Chouine-v0")
    observation, info = env.reset(seed=0)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium.envs.registration import register

from cardgym.errors import UnknownGame, suggest

if TYPE_CHECKING:
    from cardgym.game import Game

__version__ = "0.1.0"
__all__ = ["IDS", "__version__", "game_names", "load_game", "make", "make_vec"]

NAMESPACE = "cardgym"

IDS: dict[str, dict[str, Any]] = {
    "cardgym/Chouine-v0": {"game": "chouine"},
    "cardgym/ChouineMatch-v0": {"game": "chouine", "episode": "match"},
    "cardgym/Avinas-v0": {"game": "avinas"},
    "cardgym/AvinasMatch-v0": {"game": "avinas", "episode": "match", "stop": "any"},
    "cardgym/Shukh-v0": {"game": "shukh"},
    "cardgym/ShukhMatch-v0": {"game": "shukh", "episode": "match"},
    "cardgym/ShukhTable-v0": {"game": "shukh_table", "episode": "party"},
    "cardgym/Tarot-v0": {"game": "tarot"},
    "cardgym/Tarot3-v0": {"game": "tarot", "players": 3},
    "cardgym/Tarot5-v0": {"game": "tarot", "players": 5},
    "cardgym/TarotMatch-v0": {"game": "tarot", "episode": "match"},
}
"""The registered environment ids with the game and the rule options that each presets."""

for _id, _kwargs in IDS.items():
    register(
        id=_id,
        entry_point="cardgym.envs.env:CardEnv",
        vector_entry_point="cardgym.envs.vector_env:CardVectorEnv",
        kwargs=dict(_kwargs),
    )


def game_names() -> list[str]:
    """Names of the games in the box."""
    return sorted({kwargs["game"] for kwargs in IDS.values()})


def load_game(name: str) -> Game:
    """A game by name.

    Raises:
        UnknownGame: there is no such game; the message lists those that there are.
    """
    if name not in game_names():
        raise UnknownGame(f"unknown game {name!r}.{suggest(name, game_names())} Games: {', '.join(game_names())}")
    found: Game = importlib.import_module(f"cardgym.games.{name}").GAME
    return found


def ids_of(name: str) -> list[str]:
    """The registered ids of a game, its main one first; none for a game that is not in the box."""
    return [env_id for env_id, presets in IDS.items() if presets["game"] == name]


def checked_id(env_id: str) -> str:
    """A registered id; ``"Chouine-v0"`` is short for ``"cardgym/Chouine-v0"``.

    Raises:
        UnknownGame: no such id; the message lists those that there are.
    """
    full = env_id if "/" in env_id else f"{NAMESPACE}/{env_id}"
    if full not in IDS:
        raise UnknownGame(f"unknown environment {env_id!r}.{suggest(full, IDS)} Environments: {', '.join(IDS)}")
    return full


def make(env_id: str, **kwargs: Any) -> gymnasium.Env[Any, Any]:
    """As ``gymnasium.make``, for the ids of this package.

    Args:
        env_id: such as ``"cardgym/Chouine-v0"`` or short ``"Chouine-v0"``.
        **kwargs: rule options and arguments of :class:`cardgym.envs.env.CardEnv`.

    Raises:
        UnknownGame: no such id.
        InvalidOption: an unknown option or an unsuitable value.
    """
    return gymnasium.make(checked_id(env_id), **kwargs)


def make_vec(env_id: str, num_envs: int = 1, **kwargs: Any) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """As ``gymnasium.make_vec``, for the ids of this package; always the compiled vector environment.

    Args:
        env_id: such as ``"cardgym/Chouine-v0"`` or short ``"Chouine-v0"``.
        num_envs: number of games.
        **kwargs: rule options and arguments of :class:`cardgym.envs.vector_env.CardVectorEnv`.

    Raises:
        UnknownGame: no such id.
        InvalidOption: an unknown option or an unsuitable value.
    """
    mode = gymnasium.VectorizeMode.VECTOR_ENTRY_POINT
    return gymnasium.make_vec(checked_id(env_id), num_envs=num_envs, vectorization_mode=mode, **kwargs)
