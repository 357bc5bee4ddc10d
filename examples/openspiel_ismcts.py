"""OpenSpiel's information-set Monte Carlo tree search plays Chouine against random play.

    python examples/openspiel_ismcts.py

Needs ``pip install 'cardgym[openspiel]'``.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import tyro
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from cardgym.progress import Bar
from cardgym.wrappers import OpenSpielGame


@dataclasses.dataclass(frozen=True)
class Arguments:
    """Settings."""

    env: str = "cardgym/Chouine-v0"
    """Id of the environment."""
    games: int = 4
    """Games to play; the searching seat changes from game to game."""
    simulations: int = 20
    """Simulations for each decision."""
    seed: int = 0
    """Of everything."""


def main(arguments: Arguments) -> float:
    """Plays, prints and returns the mean return of the searching seat."""
    game = OpenSpielGame(arguments.env)
    game.seed_resampling(arguments.seed)
    random = np.random.RandomState(arguments.seed)
    bot = ISMCTSBot(
        game,
        evaluator=RandomRolloutEvaluator(n_rollouts=1, random_state=random),
        uct_c=2.0,
        max_simulations=arguments.simulations,
        # Information states where a game has them; what a seat sees now, where it has no record of the deal.
        use_observation_string=not game.get_type().provides_information_state_string,
        random_state=random,
    )
    total = 0.0
    with Bar("ISMCTS against random play", arguments.games) as bar:
        for number in range(arguments.games):
            seat = number % game.num_players()
            state = game.new_initial_state()
            state.apply_action(number)  # the deal
            while not state.is_terminal():
                searching = state.current_player() == seat
                state.apply_action(bot.step(state) if searching else random.choice(state.legal_actions()))
            total += state.returns()[seat]
            bar.update(number + 1, f"mean return {total / (number + 1):+.2f}")
    print(f"{arguments.env}: mean return of ISMCTS {total / arguments.games:+.2f} in {arguments.games} games")
    return total / arguments.games


if __name__ == "__main__":
    main(tyro.cli(Arguments, description=__doc__))
