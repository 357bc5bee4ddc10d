"""A policy trained with Stable-Baselines3 as an agent, and what such a policy is made of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cardgym.errors import InvalidRecord, require

for _module in ("torch", "stable_baselines3", "sb3_contrib"):
    require(_module, "train")

import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.save_util import load_from_zip_file
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

import cardgym
from cardgym.baselines.agents import Decisions
from cardgym.game import Game
from cardgym.suits import SuitRelabelling

FORMAT = 1
"""Version of the notes that a saved model carries."""


class ScaledObservation(BaseFeaturesExtractor):
    """Brings every number of an observation to at most 1, by the bounds of its space."""

    scale: torch.Tensor

    def __init__(self, observation_space: spaces.Box) -> None:
        super().__init__(observation_space, features_dim=int(observation_space.shape[0]))
        high = np.maximum(1, observation_space.high.astype(np.float32))
        self.register_buffer("scale", torch.from_numpy(1.0 / high))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Observations as float, shape (n, size)."""
        return observations * self.scale


def notes(game: Game, canonical_suits: bool, options: Mapping[str, Any]) -> dict[str, Any]:
    """What a saved model must say about itself to be played or trained further.

    A model of your own carries it as ``model.cardgym_notes``, which ``model.save`` keeps.

    Args:
        game: the game.
        canonical_suits: was the model trained with suits in canonical order?
        options: the rule options of its training, as keyword arguments.
    """
    layout = game.layouts(game.options.of(**options))["observation"]
    return {
        "format": FORMAT,
        "cardgym": cardgym.__version__,
        "game": game.name,
        "observation_size": layout.size,
        "segments": [s.name for s in layout.segments],
        "actions": len(game.actions),
        "canonical_suits": canonical_suits,
        "options": dict(options),
    }


def read_notes(path: str | Path, game: Game) -> dict[str, Any]:
    """The notes of a saved model, after checking that it fits.

    Raises:
        InvalidRecord: not a model of ours, cut short, or made for another game or layout; the message says why.
    """
    try:
        data, _, _ = load_from_zip_file(str(path))
        found = (data or {}).get("cardgym_notes")
    except Exception as error:
        raise InvalidRecord(f"{path}: not a readable model ({type(error).__name__}: {error})") from error
    if not isinstance(found, dict):
        raise InvalidRecord(
            f"{path}: a model without cardgym's notes; before model.save set model.cardgym_notes = "
            "cardgym.baselines.sb3_agent.notes(game, canonical_suits, options)"
        )
    expected = notes(game, found.get("canonical_suits", False), {})
    for key in ("format", "game", "observation_size", "segments", "actions"):
        if found.get(key) != expected[key]:
            raise InvalidRecord(
                f"{path}: made for {key} {found.get(key)!r}, but {game.name} here has {expected[key]!r}"
            )
    return found


class SB3Agent:
    """Plays by a MaskablePPO policy.

    Attributes:
        name: for tables.
        greedy: play the most probable action; False draws from the policy.
        options: the rule options that it was trained with, as keyword arguments.
    """

    def __init__(
        self,
        model: MaskablePPO,
        game: Game,
        canonical_suits: bool,
        name: str = "ppo",
        greedy: bool = True,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Takes a model in memory.

        Args:
            model: trained on single-agent observations of the game.
            game: the game.
            canonical_suits: was it trained with suits in canonical order?
            name: for tables.
            greedy, options: see above.
        """
        self.model, self.name, self.greedy = model, name, greedy
        self.options = dict(options or {})
        self._suits = SuitRelabelling(game) if canonical_suits else None

    @classmethod
    def load(cls, path: str | Path, game: Game, greedy: bool = True) -> SB3Agent:
        """Loads a model saved by ``cardgym.baselines.ppo_sb3``.

        Raises:
            InvalidRecord: it does not fit; the message says why.
        """
        found = read_notes(path, game)
        model = MaskablePPO.load(path, device="cpu")
        return cls(model, game, found["canonical_suits"], Path(path).stem, greedy, found["options"])

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        observations, masks = decisions.observation, decisions.mask
        if self._suits is not None:
            orders = self._suits.orders(observations)
            observations = self._suits.encoding("observation", observations, orders)
            masks = self._suits.mask(masks, orders)
        logits = self._logits(observations, masks)
        if not self.greedy:  # the Gumbel trick draws from the softmax with our own generator
            logits = logits + generator.gumbel(size=logits.shape)
        actions = logits.argmax(axis=1)
        return self._suits.actions(actions, orders) if self._suits is not None else actions

    def values(self, decisions: Decisions) -> np.ndarray:
        """The value network's expectation of the rewards still to come for the seat to act, float64, shape (n,)."""
        observations = decisions.observation
        if self._suits is not None:
            observations = self._suits.encoding("observation", observations, self._suits.orders(observations))
        self.model.policy.set_training_mode(False)
        with torch.no_grad():
            values = self.model.policy.predict_values(torch.from_numpy(observations).float())
        return values.numpy().astype(np.float64)[:, 0]

    def _logits(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        policy = self.model.policy
        policy.set_training_mode(False)
        with torch.no_grad():
            distribution = policy.get_distribution(
                torch.from_numpy(observations).float(), action_masks=masks.astype(bool)
            )
            logits: np.ndarray = distribution.distribution.logits.numpy().astype(np.float64)  # type: ignore[union-attr]
        return np.where(masks.astype(bool), logits, -np.inf)
