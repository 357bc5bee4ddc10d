"""Progress of long work: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class Bar:
    """A progress bar as a context manager.

    In a terminal it is a live rich bar.  Elsewhere (a file, a pipe, a log of a continuous integration run) it
    prints a line at every tenth of the way, at most one a second, so that a log stays readable.

    Example:
        >>> from cardgym.progress import Bar
        >>> with Bar("playing", 2) as bar:
        ...     bar.update(1)
        ...     bar.update(2, "done")  # doctest: +SKIP
    """

    def __init__(self, title: str, total: int, console: Console | None = None) -> None:
        """Makes the bar.

        Args:
            title: what is going on.
            total: steps in all.
            console: where to; standard error if None.
        """
        self.title, self.total = title, max(1, total)
        self.console = console if console is not None else Console(stderr=True)
        self._live: Progress | None = None
        self._task = TaskID(0)
        self._tenths, self._printed = 0, 0.0
        self._started = time.perf_counter()

    def __enter__(self) -> Bar:
        self._started = time.perf_counter()
        if self.console.is_terminal:
            self._live = Progress(
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                TimeRemainingColumn(), TextColumn("{task.fields[note]}"), console=self.console,
            )  # fmt: skip
            self._live.start()
            self._task = self._live.add_task(self.title, total=self.total, note="")
        return self

    def update(self, done: int, note: str = "") -> None:
        """Shows how far the work is.

        Args:
            done: steps done so far.
            note: figures worth seeing beside the bar.
        """
        if self._live is not None:
            self._live.update(self._task, completed=done, note=note)
            return
        tenths = 10 * done // self.total
        now = time.perf_counter()
        if tenths > self._tenths and (now - self._printed > 1.0 or done >= self.total):
            self._tenths, self._printed = tenths, now
            seconds = now - self._started
            text = f"{self.title}: {100 * done // self.total} % ({done}/{self.total}) after {seconds:.0f} s"
            self.console.print(f"{text}  {note}".rstrip(), markup=False, highlight=False, soft_wrap=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()


def shifted(progress: Callable[[int], object], before: int) -> Callable[[int], None]:
    """Reports the progress of one part of the work as that of the whole.

    Args:
        progress: called with the steps done of the whole.
        before: steps done before the part began.
    """

    def update(done: int) -> None:
        progress(before + done)

    return update
