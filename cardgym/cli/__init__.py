"""The ``cardgym`` command: one function a subcommand, described in ``docs/command.md``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import tyro
from tyro.extras import SubcommandApp

from cardgym.cli import bench, check, play, replay, show, tools, warmup
from cardgym.errors import CardGymError

app = SubcommandApp()
app.command(name="list")(show.list_environments)
app.command(show.info)
app.command(play.play)
app.command(replay.replay)
app.command(bench.bench)
app.command(check.check)
app.command(warmup.warmup)
app.command(show.doctor)
for _name, _tool in tools.available().items():
    app.command(name=_name, help=_tool.about)(_tool.command())


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: the command line; that of the process if None.

    Returns:
        The exit code: 0; 1 after an error, of which one line on standard error tells; 130 after Ctrl-C.  Arguments
        that cannot be understood end the process with code 2.
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
        print(f"cardgym: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cardgym: interrupted", file=sys.stderr)
        return 130
    return code


def _run(arguments: list[str]) -> int:
    """Tools read their own flags, all else goes through the subcommands."""
    if arguments and arguments[0] in tools.available():
        return tools.available()[arguments[0]].run(arguments[1:])
    code = app.cli(
        args=arguments,
        prog="cardgym",
        description="Traditional card games as Gymnasium environments.",
        config=(tyro.conf.FlagCreatePairsOff,),
    )
    return code if isinstance(code, int) else 0
