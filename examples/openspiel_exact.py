"""How far from perfect is a policy? OpenSpiel's exploitability on Tiny Chouine, of uniform play and after CFR+.

    python examples/openspiel_exact.py

Exploitability is what the best answers to a policy win against it, on average over the seats; it is 0 for perfect play.
Needs ``pip install 'cardgym[openspiel]'``.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import pyspiel
import tyro

from cardgym.games.tiny_chouine import GAME
from cardgym.progress import Bar
from cardgym.wrappers import OpenSpielGame


@dataclasses.dataclass(frozen=True)
class Arguments:
    """Settings."""

    iterations: int = 50
    """Iterations of CFR+."""
    deals: int = 360
    """Deals of Tiny Chouine's 360 that chance draws from: fewer for a quick look at another, smaller game."""


def main(arguments: Arguments) -> tuple[float, float]:
    """Prints and returns the exploitability of the uniform policy and of the trained one."""
    game = OpenSpielGame(GAME)
    if not 1 <= arguments.deals <= game.max_chance_outcomes():
        sys.exit(f"error: deals={arguments.deals} is not a number from 1 to {game.max_chance_outcomes()}")
    tree = pyspiel.load_efg_game(extensive_form(game, arguments.deals))
    uniform = pyspiel.exploitability(tree, pyspiel.UniformRandomPolicy(tree))
    print(f"uniform policy: exploitability {uniform:.4f}", flush=True)
    solver = pyspiel.CFRPlusSolver(tree)
    with Bar("CFR+", arguments.iterations) as bar:
        for done in range(arguments.iterations):
            solver.evaluate_and_update_policy()
            bar.update(done + 1)
    trained = pyspiel.exploitability(tree, solver.average_policy())
    print(f"after {arguments.iterations} iterations of CFR+: exploitability {trained:.6f}")
    return uniform, trained


def extensive_form(game: OpenSpielGame, deals: int) -> str:
    """The whole game as a text in Gambit's format, walked once.

    OpenSpiel reads it as a compiled game; on a game written in Python its algorithms would walk Python states anew in
    every iteration.

    Args:
        game: the game; its first node is the deal.
        deals: how many of its deals to write, equally likely.
    """
    information_sets: tuple[dict[str, int], ...] = ({}, {})
    lines = ['EFG 2 R "Tiny Chouine" { "seat 0" "seat 1" }']
    ends = 0

    def write(state: Any) -> None:
        nonlocal ends
        if state.is_terminal():
            ends += 1
            lines.append(f't "" {ends} "" {{ {" ".join(map(str, state.returns()))} }}')
            return
        player, actions = state.current_player(), state.legal_actions()
        known = state.information_state_string()
        number = information_sets[player].setdefault(known, len(information_sets[player]) + 1)
        names = " ".join(f'"{state.action_to_string(player, action)}"' for action in actions)
        lines.append(f'p "" {player + 1} {number} "" {{ {names} }} 0')
        for action in actions:
            write(state.child(action))

    root = game.new_initial_state()
    chances = " ".join(f'"deal {deal}" {1 / deals:.16f}' for deal in range(deals))
    lines.append(f'c "" 1 "" {{ {chances} }} 0')
    with Bar("game tree", deals) as bar:
        for deal in range(deals):
            write(root.child(deal))
            bar.update(deal + 1)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(tyro.cli(Arguments, description=__doc__))
