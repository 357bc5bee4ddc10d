"""Writes the pages in ``docs/envs``: tables taken from the code around rules written by hand.

``python docs/generate.py`` writes every page, ``python docs/generate.py --check`` fails when one is out of date.

The rules of a game stand in ``docs/envs/rules/<game>.md``: a title, an introduction, and the sections named in
:data:`WRITTEN`.  The section *Info* describes every key that the game adds to ``info``, one list item each.
"""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tyro

import cardgym
from cardgym.batch import ENCODINGS, Batch, playout
from cardgym.cards import SUIT_NAMES, SUITS
from cardgym.envs.env import CardEnv
from cardgym.files import write_text
from cardgym.game import Action, Game, Layout, Options, Segment

PAGES = Path(__file__).parent / "envs"
PICTURES = Path(__file__).parent / "pictures"
WRITTEN = ("Rules", "Rewards", "Info", "Worked examples", "Version history")
SAMPLE = 200  # random games by which the length of an episode is measured


class PageError(Exception):
    """Something is missing in the part written by hand."""


# --- Markdown --------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(value: object) -> str:
    return f"`{value}`"


def codes(values: Iterable[object]) -> str:
    return " ".join(map(code, values))


# --- Specs -----------------------------------------------------------------------------------


def ids_of(game: Game) -> dict[str, Options]:
    """The registered ids of a game with their rule options."""
    return {
        env_id: game.options.of(**{k: v for k, v in cardgym.IDS[env_id].items() if k != "game"})
        for env_id in cardgym.ids_of(game.name)
    }


def specs(game: Game) -> str:
    """One column for each id: players, spaces, length of an episode."""
    ids = ids_of(game)
    rows: list[list[str]] = [["Presets"], ["Players"], ["Actions"]]
    rows += [[e.capitalize()] for e in ENCODINGS]
    rows += [["Action mask"], ["Decisions in an episode of random play"]]
    for env_id, options in ids.items():
        presets = [f"{k}={v!r}" for k, v in cardgym.IDS[env_id].items() if k != "game"]
        layouts = game.layouts(options)
        mask = f"Box(0, 1, ({len(game.actions)},), int8)"
        cells = [codes(presets) or "-", game.seats(options), code(f"Discrete({len(game.actions)})")]
        cells += [code(box(layouts[e])) if e in layouts else "none" for e in ENCODINGS]
        cells += [code(mask), lengths(game, options)]
        for row, cell in zip(rows, cells, strict=True):
            row.append(str(cell))
    facts = [
        f"Pack: {game.pack.size} cards.",
        "Suits are interchangeable: `CanonicalSuits` applies." if game.suit_order else "Suits are not interchangeable.",
    ]
    return table(["", *map(code, ids)], rows) + "\n\n" + " ".join(facts)


def box(layout: Layout) -> str:
    return f"Box({layout.low.min()}, {layout.high.max()}, ({layout.size},), int8)"


def lengths(game: Game, options: Options) -> str:
    """Fewest, mean and most decisions in games played at random."""
    batch = Batch(game, options, SAMPLE)
    batch.reset(range(SAMPLE))
    playout(game, batch.states, 0)
    moves = batch.states["moves"]
    return f"{moves.min()} to {moves.max()}, mean {moves.mean():.0f} ({SAMPLE} games)"


def variants(game: Game) -> str:
    """Which options change the number of players or the size of an encoding; empty if none does."""
    rows = []
    for f in dataclasses.fields(game.options):
        values = f.metadata["choices"]
        if values is None and isinstance(f.default, int) and f.metadata["high"] is not None:
            values = range(int(f.metadata["low"]), int(f.metadata["high"]) + 1)
        for value in values or ():
            shape = _shape(game, game.options(**{f.name: value}))
            if shape != _shape(game, game.options()):
                rows.append([code(f"{f.name}={value!r}"), *shape])
    if not rows:
        return ""
    head = ["option", "players", *ENCODINGS]
    rows.insert(0, ["defaults", *_shape(game, game.options())])
    return "\n\nOptions that change these numbers (length of each encoding):\n\n" + table(head, rows)


def _shape(game: Game, options: Options) -> list[object]:
    layouts = game.layouts(options)
    return [game.seats(options), *(layouts[e].size if e in layouts else "none" for e in ENCODINGS)]


# --- Actions ---------------------------------------------------------------------------------


def actions(game: Game) -> str:
    """The table of actions; cards of a suit that stand together share a row."""

    def kind(pair: tuple[int, Action]) -> tuple[object, ...]:
        number, a = pair
        return ("word", number) if a.card is None else ("card", a.word, game.pack.suit(a.card))

    rows = []
    for _, group in itertools.groupby(enumerate(game.actions), kind):
        pairs = list(group)
        first, last = pairs[0][0], pairs[-1][0]
        meanings = [_meaning(game, a, len(pairs) > 1) for _, a in pairs]
        same = len(set(meanings)) == 1
        meaning = meanings[0] if same else f"{meanings[0]} ... {meanings[-1]}"
        rows.append([str(first) if first == last else f"{first}-{last}", codes(a.name for _, a in pairs), meaning])
    return table(["id", "name", "meaning"], rows)


def _meaning(game: Game, action: Action, shared: bool) -> str:
    """What an action does; in a row of several cards without the name of the card."""
    if action.card is None or not shared:
        return action.meaning
    return action.meaning.replace(game.pack.symbols[action.card], "the card")


# --- Encodings -------------------------------------------------------------------------------


def cards(game: Game) -> str:
    """How cards and suits are numbered."""
    pack, ranks = game.pack, len(game.pack.ranks)
    suits = ", ".join(f"{i} {name} ({code(letter)})" for i, (letter, name) in enumerate(zip(SUITS, SUIT_NAMES)))
    text = (
        f"An axis `card` has {pack.size} places: card `suit * {ranks} + rank`, ranks being {codes(pack.ranks)} "
        f"from 0. An axis `suit` has 4: {suits}."
    )
    if pack.extras:
        text += f" From {4 * ranks} on: {codes(pack.extras)}."
    return text


def encoding(layout: Layout, base: Layout | None = None) -> str:
    """The table of an encoding; the parts that it shares with the beginning of ``base`` share a row."""
    segments = list(layout.segments)
    rows: list[list[str]] = []
    if base is not None and tuple(segments[: len(base.segments)]) == base.segments:
        segments = segments[len(base.segments) :]
        shared = "everything in `observation`, for the player to act"
        rows.append(["...", code(f"0:{base.size}"), str(base.size), "", shared, "", ""])
    for s in segments:
        place, high = layout.slices[s.name], int(layout.high[layout.slices[s.name].start])
        rows.append([
            code(s.name), code(f"{place.start}:{place.stop}"), _axes(s, layout), f"{s.low} to {high}",
            s.meaning + (f" ({s.values} id plus one, 0 none)" if s.values else ""), s.known_to, s.since,
        ])  # fmt: skip
    return table(["part", "slice", "shape", "range", "meaning", "who knows it", "since when"], rows)


def _axes(segment: Segment, layout: Layout) -> str:
    lengths_ = layout.shapes[segment.name]
    named = [f"{a} {n}" if isinstance(a, str) else str(n) for a, n in zip(segment.axes, lengths_, strict=True)]
    return " × ".join(named)


def encodings(game: Game) -> str:
    """All encodings of all ids; ids with the same tables share them."""
    parts = [
        "Every encoding is a flat int8 vector made of the parts below. Seats are relative: the observer comes first. "
        'To read one: `env.unwrapped.layouts["observation"].describe(vector)`.',
        cards(game),
    ]
    groups: dict[tuple[object, ...], list[str]] = {}
    for env_id, options in ids_of(game).items():
        key = tuple((name, layout.segments) for name, layout in sorted(game.layouts(options).items()))
        groups.setdefault(key, []).append(env_id)
    for same in groups.values():
        layouts = game.layouts(ids_of(game)[same[0]])
        of = f" of {', '.join(map(code, same))}" if len(groups) > 1 else ""
        for name in ENCODINGS:
            if name in layouts:
                base = layouts["observation"] if name == "state" else None
                parts += [f"### `{name}`{of}", _ABOUT[name], encoding(layouts[name], base)]
    return "\n\n".join(parts)


_ABOUT = {
    "observation": "What a seat knows. The default.",
    "history": 'The seat\'s own record of the current deal; ask for it by `encodings=("observation", "history")`.',
    "state": "Everything, hidden cards too, relative to the player to act: for a critic in training, never for play.",
}


# --- Options and info ------------------------------------------------------------------------


def options_table(game: Game) -> str:
    """Rule options and reset options."""
    rows = [[code(name), code(repr(d)), allowed, doc] for name, d, allowed, doc in game.option_fields()]
    text = f'Keyword arguments, as in `cardgym.make("{next(iter(ids_of(game)))}", reward_scale=0.5)`.\n\n'
    text += table(["option", "default", "allowed", "meaning"], rows)
    if game.reset_options:
        example = f"`env.reset(options={{{game.reset_options[0]!r}: 0}})`"
        given = codes(game.reset_options)
        text += f"\n\nReset options, each a seat that chance names otherwise, as in {example}: {given}."
    return text


def info(game: Game, described: str) -> str:
    """The keys of ``info``: those of every game, and those that the game adds and the rules page describes."""
    always, at_end = info_keys(game)
    known = [*_INFO, *re.findall(r"^- `(\w+)`:", described, re.M)]
    for key in [*always, *at_end]:
        if key not in known:
            raise PageError(f"{game.name}: the section Info does not describe {key!r}")
    for key in known:
        if key not in always and key not in at_end:
            raise PageError(f"{game.name}: the section Info describes {key!r}, which is no key")
    common = [[code(key), "always" if key in always else "at the end", text] for key, text in _INFO.items()]
    return table(["key", "when", "meaning"], common) + "\n\nThe game adds, at the end:\n\n" + described


_INFO = {
    "player": "the seat to act; after the end the seat that moved last",
    "action_mask": "int8, one number per action, the mask of the observation",
    "rewards": "float64, one per seat, of the last decision",
    "scores": "int32, one per seat: natural points",
    "stalled": "whether a house rule ended the game because play did not get on",
}


def info_keys(game: Game) -> tuple[list[str], list[str]]:
    """Keys of ``info`` after every step, and those that come with the end, over all ids of the game."""
    always: dict[str, None] = {}
    at_end: dict[str, None] = {}
    for options in ids_of(game).values():
        env = CardEnv(game, **{f.name: getattr(options, f.name) for f in dataclasses.fields(options)})
        for seed in range(20):
            _, facts = env.reset(seed=seed)
            always |= dict.fromkeys(facts)
            state = env.state
            playout(game, state, seed)
            _, facts = env.set_state(state)
            at_end |= dict.fromkeys(k for k in facts if k not in always)
    return list(always), list(at_end)


# --- Examples --------------------------------------------------------------------------------

EXAMPLES = """\
One game, one decision a step, whoever is to act:

```python
import cardgym

env = cardgym.make("{id}")
observation, info = env.reset(seed=1)
over = False
while not over:
    action = env.action_space.sample(info["action_mask"])  # your agent here
    observation, reward, over, truncated, info = env.step(action)
print(info["rewards"], info["scores"])
```

Many games, one decision in each of them a step:

```python
import numpy as np
from cardgym.batch import sample

envs = cardgym.make_vec("{id}", num_envs=256)
observations, infos = envs.reset(seed=1)
generator = np.random.default_rng(1)
for _ in range(100):
    actions = sample(observations["action_mask"], generator)  # your agent here
    observations, rewards, terminations, truncations, infos = envs.step(actions)
print(observations["observation"].shape, infos["player"].shape)
```

PettingZoo:

```python
from cardgym.wrappers import PettingZooAEC

env = PettingZooAEC("{id}")
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    action = None if terminated else env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
```"""


# --- The page --------------------------------------------------------------------------------


def written(game: Game) -> tuple[str, dict[str, str]]:
    """Title with introduction, and the sections, of the part written by hand."""
    text = (PAGES / "rules" / f"{game.name}.md").read_text(encoding="utf-8")
    head, *rest = re.split(r"^## ", text, flags=re.M)
    sections = {name.strip(): body.strip() for name, _, body in (part.partition("\n") for part in rest)}
    if list(sections) != list(WRITTEN):
        raise PageError(f"{game.name}: the sections must be {', '.join(WRITTEN)}, not {', '.join(sections)}")
    return head.strip(), sections


def page(game: Game) -> str:
    """The whole page of a game."""
    head, by_hand = written(game)
    first = next(iter(ids_of(game)))
    sections = {
        "Specs": specs(game) + variants(game),
        "Examples": EXAMPLES.format(id=first),
        "Rules": by_hand["Rules"],
        "Actions": actions(game),
        "Encodings": encodings(game),
        "Rewards": by_hand["Rewards"],
        "Options": options_table(game),
        "Info": info(game, by_hand["Info"]),
        **baselines(game),
        "Worked examples": by_hand["Worked examples"],
        "Version history": by_hand["Version history"],
    }
    note = f"<!-- Written by docs/generate.py from the code and from rules/{game.name}.md: edit those. -->"
    return "\n\n".join([note, head, picture(game), *(f"## {name}\n\n{body}" for name, body in sections.items())]) + "\n"


def baselines(game: Game) -> dict[str, str]:
    """What the network in the box reaches (``benchmarks/ladder.py``) and how it learned (``benchmarks/curves.py``)."""
    page, curves = PAGES / "baselines" / f"{game.name}.md", f"{game.name}_curves.png"
    if not page.exists():
        return {}
    body = page.read_text(encoding="utf-8").strip()
    if (PICTURES / curves).exists():
        body += f"\n\n![Learning curves of {game.title} over three seeds](../pictures/{curves})"
    return {"Baselines": body}


def picture(game: Game) -> str:
    """The picture of the game's table that ``docs/screenshots.py`` took; with ``-4`` for four players, if so named."""
    names = (game.name, f"{game.name}-{game.seats(game.options())}")
    for name in names:
        if (PICTURES / f"{name}.png").exists():
            return f"![A table of {game.title} as a player sees it](../pictures/{name}.png)"
    raise PageError(f"{game.name}: docs/pictures holds neither {' nor '.join(f'{n}.png' for n in names)}")


def pages() -> Iterator[tuple[Path, str]]:
    """File and content of every page."""
    for name in cardgym.game_names():
        yield PAGES / f"{name}.md", page(cardgym.load_game(name))


def main(check: bool = False) -> int:
    """Write the pages of all environments.

    Args:
        check: write nothing; tell what is out of date and fail if anything is.
    """
    stale = 0
    for path, text in pages():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == text:
            continue
        stale += 1
        if check:
            differences = difflib.unified_diff(
                old.splitlines(), text.splitlines(), str(path), "the code", lineterm="", n=0
            )
            print("\n".join(differences))
        else:
            write_text(path, text)
            print(f"written: {path}")
    if check and stale:
        print("out of date: run `python docs/generate.py`", file=sys.stderr)
    return int(check and stale > 0)


if __name__ == "__main__":
    try:
        sys.exit(tyro.cli(main))
    except PageError as error:
        sys.exit(f"error: {error}")
