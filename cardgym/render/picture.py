"""A table as a picture: an array of pixels, a PNG, a window."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from cardgym.cards import Pack
from cardgym.errors import CardGymError, InvalidOption
from cardgym.render import cards as card_art
from cardgym.render.layout import Plan, Rect, plan
from cardgym.render.scene import Scene
from cardgym.render.shapes import GOLD, Colour, pygame, write

SMALLEST = (640, 480)
LARGEST = 8192  # each way
FELT: tuple[Colour, Colour] = ((32, 112, 74), (16, 66, 44))  # top and bottom
BAR: Colour = (14, 40, 30)
BOX: Colour = (22, 84, 56)
BOX_EDGE: Colour = (52, 128, 92)
INKS: dict[str, Colour] = {
    "plain": (226, 234, 222),
    "name": (255, 255, 255),
    "title": (255, 226, 150),
    "message": (255, 226, 150),
}


def checked_size(size: Any) -> tuple[int, int]:
    """A size of a picture as (width, height) in pixels.

    Raises:
        InvalidOption: it is none, or smaller than 640 x 480, for which the layout is made.
    """
    whole = isinstance(size, tuple | list) and len(size) == 2 and all(type(n) is int for n in size)
    if not whole or not (SMALLEST[0] <= size[0] <= LARGEST and SMALLEST[1] <= size[1] <= LARGEST):
        raise InvalidOption(
            f"render_size={size!r} is not (width, height) of whole pixels from {SMALLEST} up to {LARGEST} each way"
        )
    return size[0], size[1]


def draw(pack: Pack, scene: Scene, size: tuple[int, int] = SMALLEST) -> np.ndarray:
    """Draws a table.

    Args:
        pack: the game's cards.
        scene: the table.
        size: width and height, pixels.

    Returns:
        uint8, shape (height, width, 3): red, green, blue.
    """
    pixels = pygame.surfarray.array3d(surface(pack, scene, size))
    return np.ascontiguousarray(pixels.transpose(1, 0, 2))


def png(pack: Pack, scene: Scene, size: tuple[int, int] = SMALLEST) -> bytes:
    """As :func:`draw`, as the bytes of a PNG file."""
    file = io.BytesIO()
    pygame.image.save(surface(pack, scene, size), file, "table.png")
    return file.getvalue()


def surface(pack: Pack, scene: Scene, size: tuple[int, int]) -> Any:
    """As :func:`draw`, as a pygame surface."""
    made = plan(scene, checked_size(size))
    canvas = pygame.Surface(made.size, depth=32)
    _ground(canvas, made)
    for box, acting in made.boxes:
        _box(canvas, box, acting)
    for card in made.cards:
        canvas.blit(card_art.picture(pack, card.card, card.height), (card.x, card.y))
    for words in made.words:
        write(canvas, words.text, words.x, words.y, words.size, INKS[words.style])
    return canvas


def _ground(canvas: Any, made: Plan) -> None:
    width, height = made.size
    upper, lower = FELT
    for y in range(height):
        mixed = [a + (b - a) * y // height for a, b in zip(upper, lower, strict=True)]
        pygame.draw.line(canvas, mixed, (0, y), (width, y))
    bar = round(24 * min(width / 640, height / 480))
    canvas.fill(BAR, (0, 0, width, bar))
    canvas.fill(BAR, (0, height - bar, width, bar))


def _box(canvas: Any, box: Rect, acting: bool) -> None:
    place = (box.x, box.y, box.width, box.height)
    radius = max(4, canvas.get_height() // 80)
    pygame.draw.rect(canvas, BOX, place, border_radius=radius)
    width = max(2, canvas.get_height() // 200) if acting else 1
    pygame.draw.rect(canvas, GOLD if acting else BOX_EDGE, place, width=width, border_radius=radius)


class Window:
    """A window that shows pictures, for ``render_mode="human"``.

    Args:
        title: of the window.
        size: width and height, pixels.
        rate: most pictures a second; :meth:`show` waits for it.

    Raises:
        CardGymError: there is no screen.
    """

    def __init__(self, title: str, size: tuple[int, int], rate: float) -> None:
        self.rate = rate
        try:
            pygame.display.init()
            self._window = pygame.Window(title, size)
            self._screen = self._window.get_surface()
        except pygame.error as error:
            raise CardGymError(
                f"there is no screen for a window ({error}): use render_mode='rgb_array', or set SDL_VIDEODRIVER=dummy "
                "to go without one"
            ) from error
        self._clock = pygame.time.Clock()

    def show(self, pack: Pack, scene: Scene) -> None:
        """Draws a table into the window."""
        self._screen.blit(surface(pack, scene, self._screen.get_size()), (0, 0))
        pygame.event.pump()  # else the system believes that the program hangs
        self._window.flip()
        if pygame.display.get_driver() not in ("dummy", "offscreen"):  # there nobody watches
            self._clock.tick(self.rate)

    def close(self) -> None:
        """Closes the window."""
        self._window.destroy()
