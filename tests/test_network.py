"""The network of the native learners: its written-out gradient against torch's own derivation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import cardgym
from cardgym.baselines.network import CRITICS, Encoded, Network, Shape

GAME = cardgym.load_game("chouine")
OPTIONS = GAME.options()
N = 64


def make(critic: str, hidden: tuple[int, ...] = (48, 32)) -> Network:
    return Network(GAME, OPTIONS, Shape(hidden, critic), torch.Generator().manual_seed(1))


def encodings(network: Network) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Random numbers within the bounds of the layouts."""
    generator = np.random.default_rng(0)
    layouts = GAME.layouts(OPTIONS)
    seen, state = (
        torch.from_numpy(
            generator.integers(0, layouts[name].high.astype(int) + 1, (N, layouts[name].size)).astype(np.int8)
        )
        for name in ("observation", "state")
    )
    return seen, state if network.shape.critic == "state" else None


def by_autograd(network: Network, seen: torch.Tensor, state: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits and values by torch's own layers."""

    def body(layers: nn.Module, encoding: torch.Tensor) -> torch.Tensor:
        assert isinstance(layers, nn.Sequential)
        assert isinstance(layers[0], Encoded)
        hidden: torch.Tensor = layers(encoding.float() * layers[0].scale)
        return hidden

    policy = body(network.body, seen)
    value = policy if network.critic is None else body(network.critic, seen if state is None else state)
    return network.policy(policy), network.value(value).squeeze(1)


def sent_back() -> tuple[torch.Tensor, torch.Tensor]:
    """Random gradients of a loss by logits and values."""
    generator = torch.Generator().manual_seed(2)
    return torch.randn(N, len(GAME.actions), generator=generator), torch.randn(N, generator=generator)


def gradients(network: Network) -> list[torch.Tensor]:
    return [parameter.grad.clone() for parameter in network.parameters() if parameter.grad is not None]


@pytest.mark.parametrize("critic", CRITICS)
@pytest.mark.parametrize("hidden", [(32,), (48, 32), (24, 40, 16)])
def test_outputs_and_gradients_are_those_of_autograd(critic: str, hidden: tuple[int, ...]) -> None:
    network = make(critic, hidden)
    seen, state = encodings(network)
    logits, values = by_autograd(network, seen, state)
    sent = sent_back()
    torch.autograd.backward((logits, values), sent)
    expected = gradients(network)
    ready = network.prepared()
    for ours, theirs in zip(ready(seen, state), (logits, values), strict=True):
        torch.testing.assert_close(ours, theirs.detach())
    ready.backward(*sent)
    found = gradients(network)
    assert len(found) == len(expected) == len(list(network.parameters()))
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_without_values_their_head_gets_no_gradient() -> None:
    network = make("shared")
    seen, _ = encodings(network)
    logits, _ = by_autograd(network, seen, None)
    sent, _ = sent_back()
    logits.backward(sent)
    expected = gradients(network)
    network.zero_grad()
    ready = network.prepared()
    torch.testing.assert_close(ready.logits(seen), logits.detach())
    ready.backward(sent)
    assert network.value.weight.grad is None
    for ours, theirs in zip(gradients(network), expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("critic", CRITICS)
def test_bfloat16_points_the_same_way(critic: str) -> None:
    """As exact as half the bits allow: eight bits of every number, so a few per cent of a gradient."""
    network = make(critic)
    seen, state = encodings(network)
    sent = sent_back()
    found = []
    for dtype in (torch.float32, torch.bfloat16):
        ready = network.prepared(dtype)
        outputs = ready(seen, state)
        assert all(out.dtype == torch.float32 for out in outputs)
        ready.backward(*sent)
        found.append((outputs, gradients(network)))
    (exact, slopes), (rounded, others) = found
    for a, b in zip(exact, rounded, strict=True):
        assert 0 < float((a - b).norm()) < 0.02 * float(a.norm())
    for a, b in zip(slopes, others, strict=True):
        assert a.dtype == b.dtype == torch.float32
        assert float((a * b).sum()) > 0.98 * float(a.norm() * b.norm())
