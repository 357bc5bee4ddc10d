"""Files are written aside and then renamed, so that a name never stands for half a file."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_aside(path: str | Path) -> Iterator[Path]:
    """A path to write instead of ``path``; its file takes the place of ``path`` at the end, or goes if writing fails.

    Missing folders are made.  The path to write has the suffix of ``path``, by which some libraries choose a format.

    Args:
        path: the file; one that exists is replaced at the end.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from cardgym.files import written_aside
        >>> path = Path(tempfile.mkdtemp()) / "notes.txt"
        >>> with written_aside(path) as aside:
        ...     count = aside.write_text("all or nothing")
        >>> path.read_text()
        'all or nothing'
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.stem}.{uuid.uuid4().hex[:12]}.partial{path.suffix}")
    try:
        yield aside
        with aside.open("rb+") as file:
            os.fsync(file.fileno())  # or a power cut could leave the new name on an empty file
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Writes a text file, UTF-8 with plain line ends, all or nothing."""
    with written_aside(path) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")
