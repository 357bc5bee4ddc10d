"""The games as OpenSpiel games, through its Python game interface.

Importing this module registers every game with ``pyspiel``: ``pyspiel.load_game("cardgym_chouine(reward=margin)")``
is ``OpenSpielGame("cardgym/Chouine-v0", reward="margin")``.

Chance is one node, the deal.  A game whose deals can be listed (``Game.deals``) lists them all; of any other game
OpenSpiel gets ``deals`` equally likely ones, and outcome ``i`` is the episode of ``reset(seed=i)``.  What chance does
later in an episode (the next deal of a match) follows from the random stream within the state.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

import cardgym
from cardgym.batch import Batch, resample
from cardgym.errors import InvalidAction, InvalidOption, require
from cardgym.game import Game, Options
from cardgym.games import tiny_chouine

require("pyspiel", "openspiel")
import pyspiel  # noqa: E402

PREFIX = "cardgym_"
DEALS = 10_000
LONGEST = 100_000  # decisions: OpenSpiel asks for a bound, the games' ends follow from their rules

_MOST = {
    "avinas": lambda options: 16.0 if options.episode == "deal" else 1.0,
    # 55 points beyond the contract and 25 for it, the petit, times 6; a triple handful and a slam; from four defenders
    "tarot": lambda options: 4 * ((55 + 25 + 10) * 6 + 40 + 400.0) * _deals(options),
}
"""The most that a seat can win or lose in an episode, where that is not 1."""


def _deals(options: Any) -> int:
    if options.episode == "deal":
        return 1
    return 4 * options.players if options.deals_per_match == "auto" else int(options.deals_per_match)


class OpenSpielGame(pyspiel.Game):
    """A card game as a ``pyspiel.Game``.

    Example:
        >>> from cardgym.wrappers import OpenSpielGame
        >>> game = OpenSpielGame("cardgym/Chouine-v0")
        >>> state = game.new_initial_state()
        >>> state.apply_action(7)  # chance: the deal of seed 7
        >>> while not state.is_terminal():
        ...     state.apply_action(state.legal_actions()[0])
        >>> state.returns()
        [1.0, -1.0]

    Tensors hold the seat, the observation and, as information state, the seat's own record of the deal before it;
    a game without such a record (Shukh) provides observations alone.

    Attributes:
        card_game, options: what is played.
    """

    def __init__(
        self, game: str | Game, *, deals: int = DEALS, max_utility: float | None = None, **options: Any
    ) -> None:
        """Makes the game, and registers it with ``pyspiel`` if it is one of your own.

        Args:
            game: an id such as ``"cardgym/Chouine-v0"``, or a game of your own, whose rewards must sum to zero.
            deals: among how many deals chance draws, where they cannot be listed.
            max_utility: the most that a seat can win or lose in an episode; known for the games in the box, 1 for
                others unless given.
            **options: rule options.

        Raises:
            UnknownGame, InvalidOption: what was given does not exist; the message says what does.
        """
        card_game, presets = _found(game)
        self.card_game, self.options = card_game, card_game.options.of(**{**presets, **options})
        if isinstance(deals, bool) or not isinstance(deals, int) or deals < 1:
            raise InvalidOption(f"deals={deals!r} is not a whole number of at least 1")
        most = _most(card_game, self.options) if max_utility is None else max_utility
        self._listed = None if card_game.deals is None else card_game.deals(self.options)
        outcomes = deals if self._listed is None else len(self._listed)
        information = pyspiel.GameInfo(
            num_distinct_actions=len(card_game.actions),
            max_chance_outcomes=outcomes,
            num_players=card_game.seats(self.options),
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=LONGEST,
        )
        defaults = dataclasses.asdict(card_game.options())
        chosen = {name: _written(getattr(self.options, name), default) for name, default in defaults.items()}
        parameters = {**chosen, "deals": deals, "max_utility": float(max_utility or 0.0)}
        super().__init__(_registered(card_game), information, parameters)
        encodings = [name for name in ("observation", "history") if name in card_game.layouts(self.options)]
        self._engine = Batch(card_game, self.options, 1, encodings)
        self._generator = np.random.default_rng(0)  # of seeds for resampling, if nobody gives one
        chance = 1.0 / outcomes
        self.outcomes = [(outcome, chance) for outcome in range(outcomes)]

    # --- OpenSpiel's names -----------------------------------------------------------------

    def new_initial_state(self) -> OpenSpielState:
        """The state before the deal, a chance node."""
        return OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> OpenSpielObserver:
        """What writes observations (by default) or information states."""
        if params:
            raise InvalidOption(f"{self.card_game.name}: observers take no parameters, got {params}")
        return OpenSpielObserver(self, iig_obs_type is not None and iig_obs_type.perfect_recall)

    def max_chance_nodes_in_history(self) -> int:
        """One: the deal."""
        return 1

    # --- For states and observers ----------------------------------------------------------

    def dealt(self, outcome: int) -> bytes:
        """The state after the deal number ``outcome``.

        Raises:
            InvalidAction: there is no such deal.
        """
        if not 0 <= outcome < len(self.outcomes):
            name, last = self.card_game.name, len(self.outcomes) - 1
            raise InvalidAction(f"{name}: chance has the outcomes 0 to {last}, the deals, not {outcome}")
        if self._listed is not None:
            return self._listed[outcome].tobytes()
        self._engine.reset([outcome])
        return self._engine.states.tobytes()

    def states(self, state: bytes) -> np.ndarray:
        """A state as an array, shape (1,), read-only."""
        return np.frombuffer(state, self.card_game.dtype)

    def mask(self, state: bytes) -> bytes:
        """Legal actions of the player to act, int8 numbers."""
        self._engine.states[:] = self.states(state)
        return self._engine.views(self._engine.states["player"], encodings=()).mask.tobytes()

    def stepped(self, state: bytes, mask: bytes, action: int) -> tuple[bytes, bytes, list[float]]:
        """The state, mask and rewards after a decision.

        Raises:
            IllegalAction: the rules forbid it.
        """
        engine = self._engine
        engine.states[:], engine.mask[0] = self.states(state), np.frombuffer(mask, np.int8)
        engine.players[:], engine.started[:] = engine.states["player"], True
        engine.step(np.array([action]))
        return engine.states.tobytes(), engine.mask.tobytes(), engine.rewards[0, : engine.seats].tolist()

    def seen(self, state: bytes, seat: int, encodings: Sequence[str]) -> list[np.ndarray]:
        """What a seat knows, int8, an array for each encoding."""
        self._engine.states[:] = self.states(state)
        views = self._engine.views(np.array([seat]), encodings=encodings)
        return [getattr(views, name)[0] for name in encodings]

    def size(self, encoding: str) -> int:
        """Length of an encoding."""
        return self._engine.layouts[encoding].size

    def resampled(self, state: bytes, seat: int) -> bytes:
        """The state with all that the seat cannot know dealt anew."""
        fresh = self.states(state).copy()
        resample(self.card_game, fresh, np.array([seat]), int(self._generator.integers(1 << 63)))
        return fresh.tobytes()

    def seed_resampling(self, seed: int) -> None:
        """Starts anew the random stream from which hidden cards are dealt anew."""
        self._generator = np.random.default_rng(seed)


class OpenSpielState(pyspiel.State):
    """A position; copies and pickles hold the whole game state."""

    # OpenSpiel deep-copies and pickles what stands in ``__dict__``: bytes and tuples, for which that costs nothing.
    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self._state = b""  # empty before the deal
        self._mask = b""
        self._over = False
        self._rewards = self._returns = (0.0,) * game.num_players()

    @property
    def card_state(self) -> np.ndarray:
        """The game state, shape (1,), as of ``env.unwrapped.state``, read-only; shape (0,) before the deal."""
        states: np.ndarray = self.get_game().states(self._state)
        return states

    def current_player(self) -> int:
        """The seat to act, or OpenSpiel's number for chance or the end."""
        if not self._state:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL if self._over else self.card_state["player"][0])

    def is_terminal(self) -> bool:
        """Is the game over?"""
        return self._over

    def _legal_actions(self, player: int) -> list[int]:
        legal: list[int] = np.flatnonzero(np.frombuffer(self._mask, np.int8)).tolist()
        return legal

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Every deal with its probability."""
        outcomes: list[tuple[int, float]] = self.get_game().outcomes
        return outcomes

    def _apply_action(self, action: int) -> None:
        game = self.get_game()
        if not self._state:
            self._state = game.dealt(action)
            self._mask = game.mask(self._state)
            return
        self._state, self._mask, rewards = game.stepped(self._state, self._mask, action)
        self._over = not any(self._mask)
        self._rewards = tuple(rewards)
        self._returns = tuple(sum(pair) for pair in zip(self._returns, rewards, strict=True))

    def rewards(self) -> list[float]:
        """Of the last decision, per seat."""
        return list(self._rewards)

    def returns(self) -> list[float]:
        """Rewards so far, per seat."""
        return list(self._returns)

    def resample_from_infostate(self, player_id: int, sampler: Any = None) -> OpenSpielState:
        """A position that ``player_id`` cannot tell from this one, drawn at random.

        Hidden cards are dealt anew as in all search here, from a stream that ``game.seed_resampling`` starts;
        ``sampler`` stands in OpenSpiel's signature and is not used.
        """
        other: OpenSpielState = self.clone()
        if self._state:
            game = self.get_game()
            other._state = game.resampled(self._state, player_id)
            other._mask = game.mask(other._state)
        return other

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"deal {action}"
        name: str = self.get_game().card_game.actions[action].name
        return name

    def __str__(self) -> str:
        text: str = self.get_game().card_game.render(self.card_state) if self._state else "before the deal"
        return text


class OpenSpielObserver:
    """Writes what a seat sees, in the form of OpenSpiel's Python observers.

    Attributes:
        tensor: float32, all parts in one row.
        dict: the parts, views of ``tensor``: ``player`` (one-hot), ``history`` in an information state of a game that
            has one, ``observation``; all but the first zero before the deal.
    """

    def __init__(self, game: OpenSpielGame, perfect_recall: bool) -> None:
        if perfect_recall and not game.get_type().provides_information_state_tensor:
            raise InvalidOption(f"{game.card_game.name} has no record of a deal, so no information states")
        self._encodings = ("history", "observation") if perfect_recall else ("observation",)
        sizes = {"player": game.num_players(), **{name: game.size(name) for name in self._encodings}}
        self.tensor = np.zeros(sum(sizes.values()), np.float32)
        self.dict: dict[str, np.ndarray] = {}
        start = 0
        for name, size in sizes.items():
            self.dict[name] = self.tensor[start : start + size]
            start += size

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Writes what ``player`` sees."""
        self.tensor[:] = 0.0
        self.dict["player"][player] = 1.0
        for name, part in zip(self._encodings, self._seen(state, player), strict=False):  # nothing before the deal
            self.dict[name][:] = part

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """A word that is the same if and only if all parts are: the seat and the encodings in hexadecimal digits."""
        return " ".join([f"player {player}", *(part.tobytes().hex() for part in self._seen(state, player))])

    def _seen(self, state: OpenSpielState, player: int) -> list[np.ndarray]:
        seen: list[np.ndarray] = state.get_game().seen(state._state, player, self._encodings) if state._state else []
        return seen


# --- Registration ------------------------------------------------------------------------------


def _found(game: str | Game) -> tuple[Game, dict[str, Any]]:
    """The game and the options that its id presets."""
    if isinstance(game, Game):
        return game, {}
    presets = dict(cardgym.IDS[cardgym.checked_id(game)])
    return cardgym.load_game(presets.pop("game")), presets


def _most(game: Game, options: Options) -> float:
    return float(options.reward_scale * (_MOST[game.name](options) if game.name in _MOST else 1.0))


def _specification(game: Game) -> dict[str, Any]:
    """What a game may be loaded with, and the defaults."""
    return {**dataclasses.asdict(game.options()), "deals": DEALS, "max_utility": 0.0}


def _written(value: Any, default: Any) -> Any:
    """An option as a parameter of OpenSpiel, which must have the type of its default.

    Where a number or None stands in place of a word, it is written as a word: ``"#100"``, ``"None"``.
    """
    if not isinstance(default, str):
        return type(default)(value)
    if isinstance(value, int):
        return f"#{value}"
    return str(value)


def _read(value: Any) -> Any:
    """The option that :func:`_written` wrote."""
    if isinstance(value, str) and value.startswith("#"):
        return int(value[1:])
    return None if value == "None" else value


def _numbers_of_players(game: Game) -> Sequence[int]:
    """How many may play: what the option ``players`` allows, where there is one."""
    for f in dataclasses.fields(game.options):
        if f.name == "players":
            allowed: Sequence[int] = f.metadata["choices"] or range(f.metadata["low"], f.metadata["high"] + 1)
            return allowed
    return (game.seats(game.options()),)


@functools.cache
def _registered(game: Game) -> Any:
    """The OpenSpiel type of a game, registered when first asked for; a later game of the same name replaces it."""
    seats = _numbers_of_players(game)
    recall = "history" in game.layouts(game.options())
    type_of = pyspiel.GameType(
        short_name=PREFIX + game.name,
        long_name=game.title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.REWARDS,
        min_num_players=min(seats),
        max_num_players=max(seats),
        provides_information_state_string=recall,
        provides_information_state_tensor=recall,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_specification(game),
    )

    def load(parameters: dict[str, Any]) -> OpenSpielGame:
        """For ``pyspiel.load_game``, which fills in the defaults."""
        given = {name: _read(value) for name, value in parameters.items()}
        most = given.pop("max_utility")
        return OpenSpielGame(game, max_utility=most or None, **given)

    # OpenSpiel lets go of this function after the end of Python, where nothing can be freed: so it keeps itself alive.
    load.itself = load  # type: ignore[attr-defined]
    pyspiel.register_game(type_of, load)
    return type_of


for _game in (*map(cardgym.load_game, cardgym.game_names()), tiny_chouine.GAME):
    _registered(_game)
