"""Tables for people: as text, as pictures, in a notebook.

Example:
    >>> import cardgym
    >>> from cardgym.render import Drawing
    >>> env = cardgym.make("cardgym/Chouine-v0").unwrapped
    >>> _ = env.reset(seed=7)
    >>> drawing = Drawing(env.game, env.state, seat=0)  # the last line of a notebook's cell shows it
    >>> print(str(drawing).splitlines()[0])
    Chouine · trick 1 of 16 · trumps ♠
    >>> drawing.pixels().shape  # needs the extra "render"
    (480, 640, 3)

Pictures need pygame-ce (``pip install 'cardgym[render]'``), text needs nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cardgym.files import written_aside
from cardgym.kernel import records

if TYPE_CHECKING:
    from cardgym.game import Game

__all__ = ["Drawing"]


class Drawing:
    """A state drawn as ``seat`` sees it; notebooks show it as a picture, ``print`` as text.

    Attributes:
        scene: the table as data (:class:`cardgym.render.scene.Scene`).
        size: width and height of the picture, pixels.
    """

    def __init__(self, game: Game, state: Any, seat: int | None = None, size: tuple[int, int] = (640, 480)) -> None:
        """Takes the state.

        Args:
            game: the game.
            state: as given by ``env.unwrapped.state``.
            seat: whose view; None shows everything.
            size: width and height of the picture, pixels; at least 640 and 480.

        Raises:
            InvalidState: it is no state of this game.
        """
        self._game, self.size = game, size
        self.scene = game.scene(records(game.checked_state(state))[0], seat)

    def pixels(self) -> np.ndarray:
        """The picture: uint8, shape (height, width, 3).

        Raises:
            MissingExtra: pygame-ce is not installed.
            InvalidOption: the size is too small.
        """
        from cardgym.render import picture

        return picture.draw(self._game.pack, self.scene, self.size)

    def png(self) -> bytes:
        """The picture as the bytes of a PNG file; errors as of :meth:`pixels`."""
        from cardgym.render import picture

        return picture.png(self._game.pack, self.scene, self.size)

    def save(self, path: str | Path) -> None:
        """Writes the picture to a PNG file; errors as of :meth:`pixels`."""
        with written_aside(path) as aside:
            aside.write_bytes(self.png())

    def _repr_png_(self) -> bytes:
        return self.png()

    def __str__(self) -> str:
        from cardgym.render import text

        return text.draw(self._game.pack, self.scene)
