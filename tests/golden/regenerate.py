"""Writes the golden games anew: ``python tests/golden/regenerate.py``.

Do this only together with a change of rules, encodings or random stream that is meant, and that
raises the version of the environment ids concerned.
"""

from __future__ import annotations

import json
from pathlib import Path

import cardgym
from cardgym.files import write_text
from cardgym.testing import golden_games, option_variants

HERE = Path(__file__).parent
GAMES = {"ShukhTable-v0": (6, 1)}
"""Fewer games where they are long: under default options, and under changed ones."""


def files() -> dict[str, tuple[str, dict[str, object], int]]:
    """For every file its environment id, rule options and number of games: defaults, and all options changed.

    A match holds many deals, so few matches do.
    """
    wanted: dict[str, tuple[str, dict[str, object], int]] = {}
    for env_id, presets in cardgym.IDS.items():
        name = env_id.split("/")[1]
        few = (6, 3) if presets.get("episode") == "match" else (36, 12)
        games, changed = GAMES.get(name, few)
        wanted[f"{name}.json"] = (env_id, {}, games)
        wanted[f"{name}.changed.json"] = (env_id, option_variants(env_id)[-1], changed)
    return wanted


if __name__ == "__main__":
    for file, (env_id, options, games) in files().items():
        write_text(HERE / file, json.dumps(golden_games(env_id, games=games, **options), indent=1) + "\n")
        print(f"{file}: {games} games")
