"""Tables as text and as pictures: nothing overlaps or is cut off, nothing hidden shows, every form works headless."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import gymnasium
import numpy as np
import pytest
from render_checks import faults

import cardgym
from cardgym.batch import Batch, resample, sample
from cardgym.cards import PACK_32, PACK_52, PACK_78, Pack
from cardgym.errors import CardGymError, InvalidOption, InvalidState
from cardgym.game import Game
from cardgym.kernel import records
from cardgym.render import Drawing, cards, layout, picture
from cardgym.render.scene import BACK, Laid, Pile, Place, Scene, by_suit

SIZES = ((640, 480), (1280, 800))
EXTRAS = ("pygame", "torch", "stable_baselines3", "sb3_contrib", "pettingzoo", "matplotlib", "moviepy", "tensorboard")


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def choices(game: Game, option: str) -> Sequence[Any]:
    """What an option of a game may be; empty where there is no such option."""
    found: Sequence[Any] = next((f.metadata["choices"] for f in fields(game.options) if f.name == option), ())
    return found


def tables() -> Iterator[Any]:
    """Every game with every number of players."""
    for name in cardgym.game_names():
        game = cardgym.load_game(name)
        for players in choices(game, "players") or (None,):
            options: dict[str, Any] = {} if players is None else {"players": players}
            if options.get("players", 0) > 6:
                options["deck"] = 52
            yield pytest.param(game, options, id=f"{name}-{players or game.seats(game.options())}")


every_table = pytest.mark.parametrize(("game", "options"), list(tables()))


def states(game: Game, options: dict[str, Any], games: int = 2, seed: int = 0, apart: int = 11) -> np.ndarray:
    """States of random games, every ``apart``-th, the first and the last."""
    generator = np.random.default_rng(seed)
    batch = Batch(game, game.options.of(**options), games)
    batch.reset(range(seed, seed + games))
    kept, step, rows = [batch.states.copy()], 0, np.arange(games)
    while len(rows) and step < 400:
        batch.step(sample(batch.mask[rows], generator), rows)
        step += 1
        ended = rows[batch.over[rows]]
        kept.append(batch.states[rows if step % apart == 0 else ended].copy())
        rows = rows[~batch.over[rows]]
    return np.concatenate(kept)


# --- Layout ----------------------------------------------------------------------------------


@every_table
def test_nothing_overlaps_or_is_cut_off(game, options):
    for episode in choices(game, "episode"):
        found = states(game, {**options, "episode": episode}, apart=29)
        for s in records(found[:: 1 + len(found) // 8]):
            for seat in (None, 0, game.seats(game.options.of(**options)) - 1):
                for size in SIZES:
                    assert list(faults(game.scene(s, seat), size)) == [], (game.text(s, seat), size)


def scene(places: list[Place], **parts: Any) -> Scene:
    return Scene(title="Any game", view=0, places=tuple(places), player=0, message="to act: seat 0", **parts)


@pytest.mark.parametrize("seats", range(2, 9))
def test_the_longest_hand_has_room_in_every_seat(seats):
    """As in Shukh, where all but a few of 52 cards may come to one player."""
    for rich in range(seats):
        for held in (24, 46):
            places = [
                Place(i, tuple(range(held)) if i == rich else (50, 51, BACK), ("shuffler", "opener"), ("points 12",))
                for i in range(seats)
            ]
            table = tuple(Laid(i, i, "face down" if i == 0 else "") for i in range(seats))
            piles = (Pile("discard", (BACK,) * 20), Pile("turn-up", (7,)))
            drawn = scene(places, table=table, last=table[:4], piles=piles)
            for size in SIZES:
                assert list(faults(drawn, size)) == []


def test_an_overlap_would_be_found(monkeypatch):
    places = [Place(i, tuple(range(12))) for i in range(4)]
    assert list(faults(scene(places), SIZES[0])) == []
    monkeypatch.setattr(layout, "SMALLEST_CARD", 70)
    crowded = [Place(i, tuple(range(40))) for i in range(8)]
    found = " ".join(faults(scene(crowded), SIZES[0]))
    assert "overlap" in found
    assert "cut off" in found
    monkeypatch.setattr(layout, "_row_widths", lambda row, height: [3] * len(row))
    assert any("covered" in fault for fault in faults(scene(places), SIZES[0]))


def test_seats_sit_around_the_table_in_their_order():
    """The next seat sits at the left of who looks where play goes clockwise, else at his right."""
    places = tuple(Place(i, (i,)) for i in range(4))
    for clockwise in (True, False):
        looked = Scene(title="", view=1, places=places, player=None, message="", clockwise=clockwise)
        at = {card.card: card for card in layout.plan(looked, SIZES[0]).cards}
        left, right = (2, 0) if clockwise else (0, 2)
        assert at[left].x < at[3].x < at[right].x
        assert at[3].y < at[left].y < at[1].y


# --- What is seen ----------------------------------------------------------------------------


@every_table
def test_pictures_show_no_more_than_the_seat_knows(game, options):
    """Hidden cards dealt anew leave the seat's picture byte for byte the same; the referee's changes."""
    if choices(game, "memory"):
        options = {**options, "memory": "table"}
    found = states(game, options, games=1, apart=17)
    found = found[np.linspace(1, len(found) - 2, 4).astype(int)]
    seats = game.seats(game.options.of(**options))
    moved = covered = False
    for seat in (0, seats - 1):
        world = found.copy()
        resample(game, world, np.full(len(world), seat), 5)
        for a, b in zip(found, world, strict=True):
            assert Drawing(game, a, seat).png() == Drawing(game, b, seat).png()
            moved |= Drawing(game, a).png() != Drawing(game, b).png()
            scene = Drawing(game, a, seat).scene
            covered |= any(BACK in place.hand for place in scene.places)
            covered |= any(pile.label == "stock" and BACK in pile.cards for pile in scene.piles)
    assert moved == covered


@every_table
def test_a_referee_sees_every_card(game, options):
    for s in records(states(game, options, games=1)[:30]):
        seen = game.scene(s, None)
        shown = [*(p.hand for p in seen.places), *(p.cards for p in seen.piles), [c.card for c in seen.table]]
        assert all(card != BACK for group in shown for card in group)
        assert "▒▒" not in game.text(s, None)


def test_chouine_points_that_table_memory_forgets_are_not_shown():
    """CH-10: with memory="table" nobody is told the card points of the other."""
    game = cardgym.load_game("chouine")
    s = records(states(game, {"memory": "table"}, games=1))[-1]
    facts = {seat: [place.facts[0] for place in game.scene(s, seat).places] for seat in (0, 1, None)}
    assert facts[0][1] == facts[1][0] == "cards ?"
    assert "cards ?" not in (facts[0][0], facts[1][1], *facts[None])


# --- Cards -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [PACK_32, PACK_52, PACK_78], ids=lambda pack: pack.name)
@pytest.mark.parametrize("height", [36, 60, 104])
def test_all_cards_look_different(pack: Pack, height: int):
    """In the part too that stays visible when cards overlap."""
    width, top = cards.index_width(height), cards.index_height(height)
    whole, index = set(), set()
    for card in (BACK, *range(pack.size)):
        pixels = picture.pygame.surfarray.array3d(cards.picture(pack, card, height))
        assert pixels.shape == (cards.width_of(height), height, 3)
        whole.add(pixels.tobytes())
        index.add(pixels[:width, :top].tobytes())
    assert len(whole) == len(index) == pack.size + 1


def test_hands_are_sorted():
    hand = [PACK_78.card(name) for name in ("2H", "T3", "KC", "QH", "3S", "Excuse", "4C", "5D", "T21")]
    names = [PACK_78.names[c] for c in by_suit(PACK_78, hand)]
    assert names == ["Excuse", "T21", "T3", "KC", "4C", "5D", "3S", "QH", "2H"]
    names = [PACK_32.names[c] for c in by_suit(PACK_32, [0, 8, 16, 24, 31], trump=2)]
    assert names == ["7H", "7C", "7D", "AS", "7S"]


# --- Forms -----------------------------------------------------------------------------------


@every_table
def test_colours_change_nothing_but_colours(game, options):
    for s in records(states(game, options, games=1)[::5]):
        for seat in (None, 0):
            coloured = game.text(s, seat, colour=True)
            assert "\x1b[1m" in coloured
            assert re.sub(r"\x1b\[\d+m", "", coloured) == game.text(s, seat)


def test_red_suits_are_red_and_who_acts_stands_out():
    env = cardgym.make("Chouine-v0", render_mode="ansi", view="all")
    env.reset(seed=7)
    drawn = env.render().split("\n", 1)[1]  # the first line is all bold
    assert len(re.findall(r"\x1b\[31m\w*[♦♥]\x1b\[0m", drawn)) == len(re.findall("[♦♥]", drawn)) > 5
    assert f"\x1b[1mseat {env.unwrapped.player}\x1b[0m" in drawn


def test_rgb_array():
    env = cardgym.make("Chouine-v0", render_mode="rgb_array", view=0, render_size=(800, 600))
    env.reset(seed=3)
    first = env.render()
    assert (first.shape, first.dtype) == ((600, 800, 3), np.uint8)
    assert np.array_equal(first, env.render())
    assert np.array_equal(first, Drawing(env.unwrapped.game, env.unwrapped.state, 0, (800, 600)).pixels())
    twin = env.unwrapped.clone()
    assert np.array_equal(twin.render(), first)
    _, info = env.reset(seed=3)
    env.step(int(info["action_mask"].argmax()))
    assert not np.array_equal(first, env.render())


def test_vector_environments_give_a_picture_of_every_table():
    envs = cardgym.make_vec("Chouine-v0", num_envs=2, render_mode="rgb_array")
    envs.reset(seed=0)
    for i, drawn in enumerate(envs.render()):
        single = cardgym.make("Chouine-v0", render_mode="rgb_array")
        single.reset(seed=i)
        assert np.array_equal(drawn, single.render())


def test_human_windows_show_every_step_and_close():
    pygame = picture.pygame
    one, other = (cardgym.make("Chouine-v0", render_mode="human", view="all") for _ in range(2))
    for env in (one, other):
        _, info = env.reset(seed=1)
        env.step(int(info["action_mask"].argmax()))
        assert env.render() is None
    one.close()
    one.close()
    window = other.unwrapped._window
    shown = pygame.surfarray.array3d(window._screen).transpose(1, 0, 2)
    assert np.array_equal(shown, Drawing(other.unwrapped.game, other.unwrapped.state).pixels())
    other.close()


def test_without_a_screen_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "nothing")
    picture.pygame.display.quit()
    env = cardgym.make("Chouine-v0", render_mode="human")
    with pytest.raises(CardGymError, match="SDL_VIDEODRIVER=dummy"):
        env.reset(seed=0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_record_video(tmp_path):
    imageio = importlib.import_module("imageio.v2")
    env = cardgym.make("Chouine-v0", render_mode="rgb_array", view="all")
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path / "videos"), disable_logger=True)
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    env.close()
    (file,) = (tmp_path / "videos").glob("*.mp4")
    first = imageio.get_reader(file).get_data(0)
    assert first.shape == (480, 640, 3)
    start = cardgym.make("Chouine-v0", render_mode="rgb_array", view="all")
    start.reset(seed=0)
    assert np.abs(first.astype(int) - start.render()).mean() < 10  # compressed


def test_drawings_of_states(tmp_path):
    env = cardgym.make("Chouine-v0").unwrapped
    env.reset(seed=5)
    drawing = Drawing(env.game, env.state, seat=1)
    assert drawing._repr_png_().startswith(b"\x89PNG\r\n\x1a\n")
    assert str(drawing) == env.game.render(env.state, 1)
    drawing.save(tmp_path / "table.png")
    assert [p.name for p in tmp_path.iterdir()] == ["table.png"]
    loaded = picture.pygame.surfarray.array3d(picture.pygame.image.load(tmp_path / "table.png")).transpose(1, 0, 2)
    assert np.array_equal(loaded, drawing.pixels())
    with pytest.raises(InvalidState):
        Drawing(env.game, np.zeros(3))


@pytest.mark.parametrize("size", [(639, 480), (640, 479), (640.0, 480), (640,), "640x480", (10_000, 480), (True, 640)])
def test_a_size_that_is_none_is_refused(size):
    for make in (cardgym.make, cardgym.make_vec):
        with pytest.raises(InvalidOption, match="render_size="):
            make("Chouine-v0", render_mode="rgb_array", render_size=size)


def test_without_pygame_all_but_pictures_works():
    program = """
import sys
sys.modules["pygame"] = None
import cardgym
env = cardgym.make("Chouine-v0", render_mode="ansi")
env.reset(seed=0)
assert "to act" in env.render()
for mode in ("rgb_array", "human"):
    try:
        cardgym.make("Chouine-v0", render_mode=mode)
    except cardgym.errors.MissingExtra as error:
        assert "pip install 'cardgym[render]'" in str(error), error
    else:
        raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_importing_cardgym_imports_no_extra():
    program = f"import sys, cardgym, cardgym.render; print([m for m in {EXTRAS} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
