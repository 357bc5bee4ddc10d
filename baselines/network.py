"""The network of the native learners: what it is made of, how it sees a position, and the agent that plays by it.

Play with a saved model in three lines::

    from cardgym.baselines.network import NetworkAgent

    agent = NetworkAgent.load("runs/chouine/model.pt")
    actions = agent.act(decisions, generator)  # cardgym.baselines.agents.Decisions, numpy Generator
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardgym.errors import InvalidOption, InvalidRecord, require

require("torch", "train")

import torch
from torch import nn

from cardgym.baselines import gae
from cardgym.baselines.agents import Decisions
from cardgym.game import Game, Layout, Options
from cardgym.suits import SuitRelabelling

CRITICS = ("shared", "separate", "state")
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Shape:
    """What a network is made of.

    Attributes:
        hidden: widths of the hidden layers.
        critic: where the value comes from: ``"shared"``, a second head on the policy's hidden layers; ``"separate"``,
            a network of its own on the same observation; ``"state"``, a network of its own on the privileged encoding
            (training only: play never asks for the value).
    """

    hidden: tuple[int, ...] = (256, 256)
    critic: str = "shared"

    def __post_init__(self) -> None:
        if self.critic not in CRITICS:
            raise InvalidOption(f"critic={self.critic!r} is not one of {', '.join(map(repr, CRITICS))}")
        if not self.hidden or min(self.hidden) < 1:
            raise InvalidOption(f"network={list(self.hidden)!r} is no list of widths of at least 1")


class Network(nn.Module):
    """A multilayer perceptron with one number per action and a value.

    For a policy the numbers are logits; for :mod:`cardgym.baselines.dmc` they are expected returns.
    """

    def __init__(self, game: Game, options: Options, shape: Shape, generator: torch.Generator | None = None) -> None:
        """Makes a network with orthogonal weights.

        Args:
            game, options: give the sizes.
            shape: of the network.
            generator: of the weights.
        """
        super().__init__()
        self.shape = shape
        layouts, actions = game.layouts(options), len(game.actions)
        self.body = _layers(layouts["observation"], shape.hidden, generator)
        self.policy = _initialised(nn.Linear(shape.hidden[-1], actions), 0.01, generator)
        self.critic: nn.Module | None = None
        if shape.critic != "shared":
            watched = layouts["state" if shape.critic == "state" else "observation"]
            self.critic = _layers(watched, shape.hidden, generator)
        self.value = _initialised(nn.Linear(shape.hidden[-1], 1), 1.0, generator)

    def prepared(self, dtype: torch.dtype = torch.float32) -> Prepared:
        """Ready to compute, until the weights change.

        Args:
            dtype: of the hidden layers; heads are always float32.
        """
        return Prepared(self, dtype)

    def forward(
        self, observation: torch.Tensor, state: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What :class:`Prepared` gives in float32: logits and values, which autograd does not follow."""
        return self.prepared()(observation, state)


class Prepared:
    """A network ready to compute: its weights scaled and cast once, its gradient written out.

    Autograd casts weights and gradients anew around every layer; without it an update takes a quarter less time.
    """

    def __init__(self, network: Network, dtype: torch.dtype) -> None:
        """See :meth:`Network.prepared`."""
        self._network, self._dtype = network, dtype
        heads = (network.policy, network.value) if network.critic is None else (network.policy,)
        self._policy = _Perceptron(network.body, heads, dtype)

    @functools.cached_property
    def _critic(self) -> _Perceptron | None:
        """The critic's own layers, if it has any; made when a value is first asked for."""
        network = self._network
        return None if network.critic is None else _Perceptron(network.critic, (network.value,), self._dtype)

    @torch.no_grad()
    def __call__(
        self, observation: torch.Tensor, state: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits, shape (n, actions), and values, shape (n,), float32.

        Args:
            observation: int8, shape (n, size), or the same numbers in another type.
            state: the privileged encoding, shape (n, its size), for ``critic="state"``.
        """
        logits, *rest = self._policy.compute(observation, 1 if self._critic else 2)
        if self._critic is not None:
            rest = self._critic.compute(observation if state is None else state, 1)
        return logits, rest[0].squeeze(1)

    @torch.no_grad()
    def logits(self, observation: torch.Tensor) -> torch.Tensor:
        """The logits alone."""
        return self._policy.compute(observation, 1)[0]

    @torch.no_grad()
    def backward(self, by_logits: torch.Tensor, by_values: torch.Tensor | None = None) -> None:
        """Writes the gradient of a loss to the ``grad`` of the network's parameters; what it had is lost.

        Args:
            by_logits: gradient of the loss by the logits of the last call, float32, in their shape.
            by_values: and by its values; None where only :meth:`logits` was called.
        """
        values = () if by_values is None else (by_values[:, None],)
        if self._critic is None:
            self._policy.derive((by_logits, *values))
            return
        self._policy.derive((by_logits,))
        if values:
            self._critic.derive(values)


class _Perceptron:
    """Hidden layers with heads on them."""

    def __init__(self, layers: nn.Module | None, heads: Sequence[nn.Linear], dtype: torch.dtype) -> None:
        assert isinstance(layers, nn.Sequential)
        assert isinstance(layers[0], Encoded)
        self._layers = [layer for layer in layers if isinstance(layer, nn.Linear)]
        self._heads, self._dtype, self._scale = heads, dtype, layers[0].scale
        with torch.no_grad():
            # The bounds of the layout scale the weights, of which there are fewer than of the numbers they meet.
            scaled = layers[0].weight * self._scale
            self._weights = [w.to(dtype) for w in (scaled, *(layer.weight for layer in self._layers[1:]))]
            self._biases = [layer.bias.to(dtype) for layer in self._layers]
        self._outputs: list[torch.Tensor] = []

    def compute(self, encoding: torch.Tensor, heads: int) -> list[torch.Tensor]:
        """What the first heads say, float32, each of shape (n, width of the head)."""
        self._outputs = [encoding.to(self._dtype)]
        for weight, bias in zip(self._weights, self._biases, strict=True):
            out = nn.functional.linear(self._outputs[-1], weight, bias)
            _bits(out).relu_()
            self._outputs.append(out)
        # Logits rounded to bfloat16 would blur the probability ratios that PPO clips, so heads are always float32.
        top = self._outputs[-1].float()
        return [nn.functional.linear(top, head.weight, head.bias) for head in self._heads[:heads]]

    def derive(self, gradients: Sequence[torch.Tensor]) -> None:
        """Gradients by all parameters, for those by what the first heads said."""
        heads = self._heads[: len(gradients)]
        widths = [head.out_features for head in heads]
        exact = torch.cat(tuple(gradients), 1)
        gradient = exact.to(self._dtype)
        by_weights = (gradient.t() @ self._outputs[-1]).float().split(widths)
        for head, by_weight, by_bias in zip(heads, by_weights, exact.sum(0).split(widths), strict=True):
            head.weight.grad, head.bias.grad = by_weight, by_bias
        gradient = gradient @ torch.cat([head.weight for head in heads]).to(self._dtype)
        for k in reversed(range(len(self._layers))):
            passed = torch.ops.aten.threshold_backward(_bits(gradient), _bits(self._outputs[k + 1]), 0)
            gradient = passed.view(self._dtype)
            by_weight = (gradient.t() @ self._outputs[k]).float()
            self._layers[k].weight.grad = by_weight if k else by_weight.mul_(self._scale)
            self._layers[k].bias.grad = gradient.sum(0).float()
            if k:
                gradient = gradient @ self._weights[k]


def _bits(numbers: torch.Tensor) -> torch.Tensor:
    """Numbers in bfloat16 as integers: sign and zero are where they were, and torch is twice as fast with them."""
    return numbers.view(torch.int16) if numbers.dtype == torch.bfloat16 else numbers


class Encoded(nn.Linear):
    """The first layer: takes an encoding, each number brought to at most 1 by the bounds of its layout.

    Attributes:
        scale: what brings them there, float32, shape (size,).
    """

    scale: torch.Tensor

    def __init__(self, layout: Layout, width: int) -> None:
        super().__init__(layout.size, width)
        scale = 1.0 / np.maximum(layout.high, 1).astype(np.float32)
        self.register_buffer("scale", torch.from_numpy(scale), persistent=False)


def _initialised(layer: nn.Linear, gain: float, generator: torch.Generator | None) -> nn.Linear:
    nn.init.orthogonal_(layer.weight, gain, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def _layers(layout: Layout, hidden: Sequence[int], generator: torch.Generator | None) -> nn.Sequential:
    layers: list[nn.Module] = [_initialised(Encoded(layout, hidden[0]), 2**0.5, generator), nn.ReLU(inplace=True)]
    for before, width in itertools.pairwise(hidden):
        layers += [_initialised(nn.Linear(before, width), 2**0.5, generator), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


def masked_log_softmax(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Log-probabilities over the legal actions; zero, not minus infinity, where an action is illegal.

    So products with probabilities, and gradients, stay finite whatever the logits.

    Args:
        logits: finite, less than 3e38 apart, shape (n, actions).
        mask: bool, shape (n, actions), at least one legal action in each row.
    """
    log_probabilities = torch.log_softmax(logits.masked_fill(~mask, -torch.inf), dim=1)
    return log_probabilities.masked_fill(~mask, 0.0)


class Sight:
    """How a network sees positions: suits as they are, or in canonical order."""

    def __init__(self, game: Game, options: Options, canonical_suits: bool) -> None:
        """Prepares it.

        Raises:
            ValueError: canonical suits for a game whose suits are not interchangeable.
        """
        self._suits = SuitRelabelling(game, dict(game.layouts(options))) if canonical_suits else None

    def orders(self, observations: np.ndarray) -> np.ndarray:
        """What the other methods need to know about each position, int64, shape (n,)."""
        return np.zeros(len(observations), np.int64) if self._suits is None else self._suits.orders(observations)

    def encoding(self, name: str, encodings: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """An encoding (``"observation"``, ``"state"``) as the network sees it, int8, shape (n, size)."""
        return encodings if self._suits is None else self._suits.encoding(name, encodings, orders)

    def mask(self, masks: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Legal actions as the network sees them, int8, shape (n, actions)."""
        return masks if self._suits is None else self._suits.mask(masks, orders)

    def actions(self, chosen: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """The game's own actions for those of the network, int64, shape (n,)."""
        return chosen if self._suits is None else self._suits.actions(chosen, orders)


class NetworkAgent:
    """Plays by a network.

    Attributes:
        name: for tables.
        options: the rule options that it was trained with, as keyword arguments.
        greedy: take the action with the highest number; False draws from the softmax (for policies only).
        notes: what the model's file says of itself (see :mod:`cardgym.baselines.model_file`); empty for a network
            that comes from no file.
    """

    def __init__(
        self,
        network: Network,
        game: Game,
        options: Options,
        canonical_suits: bool,
        name: str,
        greedy: bool = True,
        notes: dict[str, Any] | None = None,
    ) -> None:
        """Takes a network in memory.

        Args:
            network: made for the game under these options.
            game, options: what it was trained on.
            canonical_suits: was it trained with suits in canonical order?
            name: for tables.
            greedy, notes: see above.

        Raises:
            InvalidOption: values of actions are to be drawn from.
        """
        self.network, self.name, self.notes = network, name, notes or {}
        self.options = dataclasses.asdict(options)
        self.greedy = greedy
        self._game, self._size = game.name, game.layouts(options)["observation"].size
        self._sight = Sight(game, options, canonical_suits)

    @property
    def greedy(self) -> bool:
        """Does it take the action with the highest number?"""
        return self._greedy

    @greedy.setter
    def greedy(self, greedy: bool) -> None:
        if not greedy and self._knows_values_of_actions():
            raise InvalidOption(f"{self.name}: values of actions, not a policy to draw from; greedy must be True")
        self._greedy = greedy

    def _knows_values_of_actions(self) -> bool:
        return self.notes.get("algorithm") == "dmc"

    @classmethod
    def load(cls, path: str | Path, game: Game | None = None, greedy: bool = True, name: str = "") -> NetworkAgent:
        """Loads a model or checkpoint saved by a native training script.

        Args:
            path: the file, ``.pt``.
            game: the game that it is to play; None takes the file's word.
            greedy: see above.
            name: for tables; the file's name if empty.

        Raises:
            InvalidRecord: it does not fit; the message says why.
            InvalidOption: values of actions are to be drawn from.
        """
        from cardgym.baselines import model_file

        model = model_file.load(path, game)
        suits, name = model.notes["canonical_suits"], name or Path(path).stem
        return cls(model.network, model.game, model.options, suits, name, greedy, model.notes)

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        seen, masks, orders = self._look(decisions)
        logits = self.network.prepared().logits(seen).cpu().numpy()
        if self.greedy:
            chosen = np.where(masks != 0, logits, -np.inf).argmax(axis=1)
        else:
            chosen, _ = gae.draw(logits, masks, generator)
        return self._sight.actions(chosen, orders)

    def values(self, decisions: Decisions) -> np.ndarray:
        """Expected sum of the rewards still to come for the seat to act, float64, shape (n,).

        Raises:
            InvalidOption: its critic sees all cards, which no agent may.
        """
        if self.network.shape.critic == "state":
            raise InvalidOption(f"{self.name}: its critic sees all cards and is for training only")
        seen, masks, _ = self._look(decisions)
        logits, values = (part.cpu().numpy() for part in self.network(seen))
        if self._knows_values_of_actions():
            values = np.where(masks != 0, logits, -np.inf).max(axis=1)
        found: np.ndarray = values.astype(np.float64)
        return found

    def _look(self, decisions: Decisions) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:
        """Observations and masks as the network sees them, and the orders of suits."""
        if decisions.game.name != self._game or decisions.observation.shape[1] != self._size:
            raise InvalidRecord(
                f"{self.name}: a network for {self._game} with {self._size} numbers in an observation cannot play "
                f"{decisions.game.name} with {decisions.observation.shape[1]} under these options"
            )
        orders = self._sight.orders(decisions.observation)
        seen = torch.from_numpy(self._sight.encoding("observation", decisions.observation, orders))
        return seen.to(self.network.value.weight.device), self._sight.mask(decisions.mask, orders), orders
