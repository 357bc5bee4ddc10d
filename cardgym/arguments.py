"""Command lines: tyro reads them, what it does not understand is told in one line."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import tyro

Kind = TypeVar("Kind")

WRONG_USAGE = 2
"""Exit code of a command line that cannot be understood."""

_TERMINAL_CODES = re.compile(r"\x1b\[[0-9;]*m")
_RULE = re.compile(r"[│╰╯─\s-]*")  # between two parts of a box, or its end
_FLAG = re.compile(r"--[a-z][\w-]*")
_HELP = re.compile(r"For full helptext, (?:run|see):? ")


def parsed(kind: Callable[..., Kind], **settings: Any) -> Kind:
    """As ``tyro.cli``, but errors take one line, see :func:`errors_in_one_line`.

    Args:
        kind: what to make of the command line: a dataclass, or a function to call.
        **settings: of ``tyro.cli``.
    """
    with errors_in_one_line():
        return tyro.cli(kind, **settings)


@contextlib.contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Around a call of tyro: the box that it prints about a command line becomes one line; the exit code stays 2."""
    caught = io.StringIO()
    try:
        with contextlib.redirect_stderr(caught):
            yield
    except SystemExit as end:
        if end.code == WRONG_USAGE:
            print(f"cardgym: error: {_one_line(caught.getvalue())}", file=sys.stderr)
        else:
            sys.stderr.write(caught.getvalue())
        raise
    sys.stderr.write(caught.getvalue())


def _one_line(box: str) -> str:
    """What is wrong, what may have been meant and where the help stands, from a box of tyro's."""
    parts = [""]
    for line in _TERMINAL_CODES.sub("", box).splitlines()[1:]:  # the first line is a title
        if _RULE.fullmatch(line):
            parts.append("")
        else:
            parts[-1] = " ".join([*parts[-1].split(), *line.strip("│ ").split()])
    wrong, *others = [part for part in parts if part] or ["this command line cannot be understood"]
    told = [wrong.removesuffix(".")]
    for part in others:
        if part.startswith("Perhaps you meant"):
            given = {"--help", *_FLAG.findall(wrong)}
            told.append(f"did you mean {' or '.join(dict.fromkeys(f for f in _FLAG.findall(part) if f not in given))}?")
        elif part.startswith("Available subcommands"):
            told.append(f"available{part.removeprefix('Available')}")
        elif _HELP.match(part):
            told.append(f"see `{_HELP.sub('', part)}`")
    return "; ".join(told)
