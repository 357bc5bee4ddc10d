"""``cardgym check``: the conformance suite, on the games in the box and on your own."""

from __future__ import annotations

import time

from cardgym.batch import checked_count
from cardgym.cli.common import GameName, chosen, console, print_json
from cardgym.cli.show import Json, missing_of
from cardgym.testing import check_game


def check(
    game: GameName,
    options: tuple[str, ...] = (),
    games: int = 50,
    seed: int = 0,
    zero_sum: bool = True,
    as_json: Json = False,
) -> int:
    """Run the conformance suite on a game; the exit code is 1 when a check fails.

    Args:
        game: its name, the id of an environment, or module:attribute for a game of your own.
        options: rule options, such as players=3.
        games: random games per policy.
        seed: of the first game.
        zero_sum: do the rewards of all seats sum to zero at every decision?
    """
    checked_count("games", games)
    found = chosen(game)
    values = {**found.presets, **found.given(options)}
    found.options(options)  # an unsuitable one is no fault of the game
    began, failure = time.perf_counter(), None
    try:
        check_game(found.game, games=games, seed=seed, zero_sum=zero_sum, **values)
    except AssertionError as error:
        failure = str(error)
    skipped = [extra for extra in ("pettingzoo", "train", "render") if missing_of(extra)]
    if as_json:
        print_json({"game": found.name, "options": values, "passed": failure is None, "failure": failure,
                    "without_extras": skipped})  # fmt: skip
    elif failure is None:
        told = f"; not checked without the extras {', '.join(skipped)}" if skipped else ""
        console().print(f"{found.name}: all checks passed in {time.perf_counter() - began:.0f} s{told}", markup=False)
    else:
        console().print(f"{found.name}: FAILED\n{failure}", markup=False, soft_wrap=True)
    return 0 if failure is None else 1
