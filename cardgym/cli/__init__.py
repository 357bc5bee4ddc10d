"""The ``cardgym`` command: one function a subcommand, described in ``docs/command.md``."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tyro
from tyro.extras import SubcommandApp

import cardgym
from cardgym.arguments import errors_in_one_line
from cardgym.cli import bench, check, play, replay, show, tools, warmup
from cardgym.errors import CardGymError


def _read_only(command: Callable[..., Any]) -> Callable[..., Any]:
    """For the parser: the call that a command line asks for, to be made when the parser is done."""

    @functools.wraps(command)
    def read(*values: Any, **named: Any) -> Any:
        return functools.partial(command, *values, **named)

    return read


app = SubcommandApp()
app.command(name="list")(_read_only(show.list_environments))
for _command in (show.info, play.play, replay.replay, bench.bench, check.check, warmup.warmup, show.doctor):
    app.command(_read_only(_command))
for _name, _tool in tools.available().items():
    app.command(name=_name, help=_tool.about)(_read_only(_tool.command()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: the command line; that of the process if None.

    Returns:
        The exit code: 0; 1 after an error, 2 after a command line that cannot be understood, each told in one line on
        standard error; 130 after Ctrl-C.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who read our output has left (`cardgym list | head -1`); Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (CardGymError, OSError) as error:
        print(f"cardgym: error: {_told(error)}", file=sys.stderr)
        return 1
    except SystemExit as end:  # the parser has shown its help, or has told what it does not understand
        return int(end.code or 0)
    except KeyboardInterrupt:
        print("cardgym: interrupted", file=sys.stderr)
        return 130
    return code


def _told(error: Exception) -> str:
    """An error in one line; of an error of the system the file and what is wrong with it."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


def _run(arguments: list[str]) -> int:
    """Tools read their own flags, all else goes through the subcommands."""
    if arguments and arguments[0] in tools.available():
        return tools.available()[arguments[0]].run(arguments[1:])
    if arguments == ["--version"]:
        print(f"cardgym {cardgym.__version__}")
        return 0
    with errors_in_one_line():
        command = app.cli(
            args=arguments,
            prog="cardgym",
            description="Traditional card games as Gymnasium environments; cardgym --version tells the version.",
            config=(tyro.conf.FlagCreatePairsOff,),
        )
    code = command()
    return code if isinstance(code, int) else 0
