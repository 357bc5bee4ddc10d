"""Training and judging: subcommands that are programs of their own, ``python -m cardgym.baselines...``."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.abc import InspectLoader

import cardgym
from cardgym.errors import CardGymError, suggest


@dataclass(frozen=True)
class Tool:
    """A subcommand that runs a module as a program.

    Attributes:
        name: of the subcommand.
        about: one line for the help.
        modules: module by name; the first is run unless ``--algorithm`` names another.
    """

    name: str
    about: str
    modules: dict[str, str]

    def command(self) -> Callable[[], int]:
        """A plain function that runs it without arguments, for the parser, which takes no methods."""
        return lambda: self.run(())

    def run(self, arguments: Sequence[str]) -> int:
        """Runs the program with its own flags; a leading name of a game is short for ``--game NAME``.

        Returns:
            Its exit code.

        Raises:
            CardGymError: an unknown algorithm, or the program says that something is wrong.
        """
        chosen, rest = self._algorithm(list(arguments))
        if rest and rest[0] in cardgym.game_names():
            rest.insert(0, "--game")
        try:
            _run_as_main(self.modules[chosen], [f"cardgym {self.name}", *rest])
        except SystemExit as end:
            if isinstance(end.code, str):
                raise CardGymError(end.code.removeprefix("error: ")) from None
            return end.code or 0
        return 0

    def _algorithm(self, arguments: list[str]) -> tuple[str, list[str]]:
        """The module to run, and the arguments without ``--algorithm``."""
        names = list(self.modules)
        if len(names) == 1 and self.name != "train":
            return names[0], arguments
        for i, word in enumerate(arguments):
            flag, equals, value = word.partition("=")
            if flag == "--algorithm":
                end = i + 1 if equals else i + 2
                value = value if equals else "".join(arguments[i + 1 : end])
                if value not in names:
                    hint = suggest(value, names)
                    raise CardGymError(f"unknown algorithm {value!r}.{hint} Give --algorithm with {' or '.join(names)}")
                return value, arguments[:i] + arguments[end:]
        return names[0], arguments


def _run_as_main(module: str, argv: list[str]) -> None:
    """As ``python -m module``, under the name in ``argv``; :mod:`runpy` would show a path in usages."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert isinstance(spec.loader, InspectLoader)
    code = spec.loader.get_code(module)
    assert code is not None
    program = importlib.util.module_from_spec(spec)
    program.__name__ = "__main__"
    before = sys.argv, sys.modules["__main__"]
    sys.argv, sys.modules["__main__"] = argv, program
    try:
        exec(code, vars(program))
    finally:
        sys.argv, sys.modules["__main__"] = before


_TOOLS = (
    Tool(
        "train",
        "Train an agent; --algorithm chooses the program, more flags are its own.",
        {"sb3": "cardgym.baselines.ppo_sb3", "ppo": "cardgym.baselines.ppo", "dmc": "cardgym.baselines.dmc"},
    ),
    Tool("eval", "Judge an agent against others over duplicate deals.", {"": "cardgym.baselines.evaluate"}),
    Tool("arena", "Let many agents play each other and rank them.", {"": "cardgym.baselines.arena"}),
    Tool("exploit", "Train against a fixed agent: how much can it lose?", {"": "cardgym.baselines.exploit"}),
)


def available() -> dict[str, Tool]:
    """The tools whose modules there are."""
    found = {}
    for tool in _TOOLS:
        modules = {name: module for name, module in tool.modules.items() if importlib.util.find_spec(module)}
        if modules:
            found[tool.name] = Tool(tool.name, tool.about, modules)
    return found
