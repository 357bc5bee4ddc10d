"""Chouine with one fault at a time, chosen by the rule option ``fault``: what the conformance checks must find."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardgym.errors import InvalidOption
from cardgym.game import Game, option
from cardgym.games import chouine
from cardgym.games.chouine import ANNOUNCE, AU_SEPT, GAME, PLAY, RANKS, STATE, SWAP, ChouineOptions
from cardgym.kernel import helper
from cardgym.render.scene import Scene

FAULTS = (
    "none", "observation leaks", "history leaks", "mask leaks", "turn leaks", "drawing leaks", "no resample",
    "same stream", "salt ignored", "rewards unbalanced", "out of bounds", "forgets", "no legal action",
    "looking changes it",
)  # fmt: skip
(
    NONE, OBSERVATION, HISTORY, MASK, TURN, DRAWING, NO_RESAMPLE, SAME_STREAM, NO_SALT, REWARDS, BOUNDS, FORGETS,
    STUCK, IMPURE,
) = range(len(FAULTS))  # fmt: skip

LAYOUTS = GAME.layouts(ChouineOptions())
O_AU_SEPT = LAYOUTS["observation"].start("au_sept")
O_ANNOUNCED_IN, O_QUINTE_IN = (LAYOUTS["observation"].start(n) for n in ("announced_in", "quinte_in"))
H_DEALER = LAYOUTS["history"].start("dealer")


@dataclass(frozen=True, kw_only=True)
class BrokenOptions(ChouineOptions):
    fault: str = option("none", "what is wrong", choices=FAULTS)

    def check(self) -> None:
        if self.episode == "match" and self.reward == "margin":
            raise InvalidOption("reward='margin' is for episode='deal'")


@helper
def legal(s, mask):
    chouine.legal(s, mask)
    if s.fault == MASK and s.place[31] == 1 - s.player:
        for a in range(ANNOUNCE, SWAP):
            mask[a] = 0
    if s.fault == STUCK and s.trick == 5:
        mask[:] = 0


@helper
def apply(s, action):
    chouine.apply(s, action)
    if s.fault == TURN and s.phase == AU_SEPT and s.place[s.trump * RANKS] != s.player:
        s.phase = PLAY
        s.player = s.leader
    if s.fault == REWARDS and s.over:
        s.rewards[0] += 1.0


@helper
def observe(s, seat, out):
    chouine.observe(s, seat, out)
    if s.fault == OBSERVATION:
        out[O_AU_SEPT] = s.place[31] == 1 - seat
    if s.fault == BOUNDS and s.trick == 5:
        out[O_AU_SEPT] = 2
    if s.fault == FORGETS:
        for i in range(O_ANNOUNCED_IN, O_QUINTE_IN):
            out[i] = 0
    if s.fault == IMPURE:
        s.moves += 1


@helper
def history(s, seat, out):
    chouine.history(s, seat, out)
    if s.fault == HISTORY:
        out[H_DEALER] = s.place[31] == 1 - seat


@helper
def resample(s, seat, salt):
    a, b, c, d = s.rng[0], s.rng[1], s.rng[2], s.rng[3]
    if s.fault == NO_RESAMPLE:
        s.rng[0] = salt[1]
        salt[1] += 1
    elif s.fault == NO_SALT:
        salt[:] = 1
        chouine.resample(s, seat, salt)
    else:
        chouine.resample(s, seat, salt)
    if s.fault == SAME_STREAM:
        s.rng[0], s.rng[1], s.rng[2], s.rng[3] = a, b, c, d


def scene(s: Any, seat: int | None) -> Scene:
    return chouine.scene(s, None if s.fault == DRAWING else seat)


BROKEN: Game = dataclasses.replace(
    GAME,
    name="broken_chouine",
    options=BrokenOptions,
    dtype=np.dtype([(n, STATE[n].base, STATE[n].shape) for n in STATE.names or ()] + [("fault", np.int32)], align=True),
    legal=legal,
    apply=apply,
    observe=observe,
    history=history,
    resample=resample,
    scene=scene,
)
