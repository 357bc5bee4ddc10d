"""What the tests notice of mistakes in the rules: ``python tests/mutants.py chouine --count 80``.

Rule code of ``cardgym/games`` is changed in one place at a time (a mutant), in a copy, and the tests of that game run
until one fails.  A mutant that no test notices is a rule without a test, or changes nothing that can be seen; those of
the second kind stand with a reason in ``equivalent_mutants.toml``.  At least 95 % of the others must be noticed.

First the tests run as plain Python (``NUMBA_DISABLE_JIT=1``), the quickest first, each mutant in a fork of one warm
process, so that it costs a second or two.  Tests too slow for that and the conformance checks run compiled, for the
mutants that are left.  mutmut leaves decorated functions alone, and all rules are decorated; cosmic-ray starts a
process for every mutant and drops no statement; hence this file.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
import tyro

TESTS = Path(__file__).parent
ROOT = TESTS.parent
EQUIVALENT = TESTS / "equivalent_mutants.toml"
KEPT = ROOT / "runs" / "mutants"
ENOUGH = 0.95
SLOW = 2.5  # seconds of CPU as plain Python, beyond which a test is left to the compiled run
BUDGET = 60.0  # seconds of CPU of tests in the plain run
KEEN = 4  # the kept games, which notice any change of an encoding, may take so many times longer and come earlier
FEWER = 4  # the oracles play so many times fewer games in the plain run
LONGEST = 900  # seconds for the compiled run of a mutant

Name = Literal["chouine", "avinas", "shukh", "shukh_table", "tarot"]
MODULES: dict[str, tuple[str, ...]] = {
    "chouine": ("chouine",),
    "avinas": ("avinas",),
    "shukh": ("shukh",),
    "shukh_table": ("shukh_table", "shukh_table_state", "shukh_table_sight"),
    "tarot": ("tarot", "tarot_sight", "tarot_tables"),
}
CONFORMANCE = ("golden_games", "random_play", "no_leaks", "no_omissions", "every_part")

# --- Mutants ---------------------------------------------------------------------------------

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of a module.

    Attributes:
        module: name of the module in ``cardgym.games``.
        function: where in it; ``""`` for its tables.
        before, after: the lines that change, without indentation, joined.
        line: number of the first of them.
        start, stop: the bytes replaced.
        text: what replaces them.
    """

    module: str
    function: str
    before: str
    after: str
    line: int
    start: int
    stop: int
    text: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What names it in the list of equivalent ones, wherever it stands in the file."""
        return self.module, self.function, self.before, self.after

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.stop :]


def path_of(module: str) -> Path:
    return ROOT / "cardgym" / "games" / f"{module}.py"


def mutants(module: str, source: bytes) -> list[Mutant]:
    """All mutants of the compiled functions of a module, of its results (``info``) and of its tables of numbers."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found = []
    for function, root in _rule_code(ast.parse(source)):
        for node, text in _changes(root):
            start = starts[node.lineno - 1] + node.col_offset
            stop = starts[node.end_lineno - 1] + node.end_col_offset
            first, last = starts[node.lineno - 1], starts[node.end_lineno]
            before = _joined(source[first:last])
            after = _joined(source[first:start] + text.encode() + source[stop:last])
            found.append(Mutant(module, function, before, after, node.lineno, start, stop, text))
    return found


def _joined(text: bytes) -> str:
    return " ".join(text.decode().split())


def _rule_code(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            compiled = any(isinstance(d, ast.Name) and d.id == "helper" for d in node.decorator_list)
            if compiled or node.name in ("info", "role", "showdown"):
                yield from ((node.name, statement) for statement in node.body)
        elif isinstance(node, ast.Assign) and not any(isinstance(n, ast.JoinedStr) for n in ast.walk(node)):
            names = [n.id for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)]
            called = {
                n.func.id for n in ast.walk(node.value) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
            }
            if all(n.isupper() for n in names) and not called & {"Game", "state_dtype"}:
                yield "", node.value


def _changes(root: ast.AST) -> Iterator[tuple[Any, str]]:
    """Every node that can be changed, with the text that replaces it."""
    for node in ast.walk(root):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, (bool, int, float)):
                yield node, repr(not node.value if isinstance(node.value, bool) else node.value + 1)
        elif isinstance(node, ast.Compare):
            for i, op in enumerate(node.ops):
                ops = [*node.ops[:i], SWAPS[type(op)](), *node.ops[i + 1 :]]
                yield node, f"({ast.unparse(ast.Compare(node.left, ops, node.comparators))})"
        elif isinstance(node, (ast.BoolOp, ast.BinOp)) and type(node.op) in SWAPS:
            operands = {k: v for k, v in ast.iter_fields(node) if k != "op"}
            yield node, f"({ast.unparse(type(node)(op=SWAPS[type(node.op)](), **operands))})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, f"({ast.unparse(node.operand)})"
        elif isinstance(node, ast.AugAssign):
            yield node, "pass"
            if type(node.op) in SWAPS:
                yield node, ast.unparse(ast.AugAssign(node.target, SWAPS[type(node.op)](), node.value))
        elif isinstance(node, ast.Assign) and not isinstance(node.targets[0], (ast.Name, ast.Tuple)):
            yield node, "pass"  # without local names all would fail at once
        elif isinstance(node, (ast.Continue, ast.Break)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            yield node, "pass"
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            yield node.test, "False"


def all_mutants(game: str) -> list[Mutant]:
    return [m for module in MODULES[game] for m in mutants(module, path_of(module).read_bytes())]


def explained() -> dict[tuple[str, str, str, str], str]:
    """The reason for each equivalent mutant, by its key."""
    listed = tomllib.loads(EQUIVALENT.read_text()).get("mutant", [])
    return {(m["module"], m["function"], m["before"], m["after"]): m["reason"] for m in listed}


# --- Tests -----------------------------------------------------------------------------------


def arguments(game: str) -> list[str]:
    """The tests of a game, for pytest: its own files, its oracle, its kept games."""
    others = [other for other in MODULES if other != game and other.startswith(game)]
    files = [
        str(f)
        for f in sorted(TESTS.glob(f"test_{game}_*.py"))
        if not any(f.name.startswith(f"test_{other}_") for other in others)
        and not f.name.endswith(("_bot.py", "_training.py"))
    ]
    return [*files, str(TESTS / "test_oracle.py"), str(TESTS / "test_conformance.py")]


class Plan:
    """A pytest plugin: keeps the tests of a game, in the order given, and writes down what happens.

    Attributes:
        mine: the tests of the game.
        seconds: by test, the CPU time it took; without end if it failed.
        failed: the last test that failed.
    """

    def __init__(self, game: str, order: Sequence[str] | None = None, limit: float = 0.0) -> None:
        self.game, self.order, self.limit = game, order, limit
        self.mine: list[str] = []
        self.seconds: dict[str, float] = {}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        mine = {item.nodeid: item for item in items if self._is_mine(item)}
        self.mine = list(mine)
        for module in {getattr(item, "module", None) for item in mine.values()} if self.limit else ():
            for name in {"GAMES", "RARE_GAMES"} & vars(module).keys():
                setattr(module, name, getattr(module, name) // FEWER)
        items[:] = list(mine.values()) if self.order is None else [mine[n] for n in self.order if n in mine]

    def _is_mine(self, item: pytest.Item) -> bool:
        if item.get_closest_marker("long"):
            return False
        file, name = item.path.name, item.name
        title = "".join(word.capitalize() for word in self.game.split("_"))
        if file == "test_oracle.py":
            return f"[{self.game}-" in name or name.endswith(f"[{self.game}]")
        if file == "test_conformance.py":
            ids = (
                f"[{title}-",
                f"[{title}.",
                f"/{title}-v0",
                f"[{title}Match",
                f"/{title}Match",
                f"{title}3",
                f"{title}5",
            )
            return name.startswith(tuple(f"test_{n}" for n in CONFORMANCE)) and any(i in name for i in ids)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begin = time.process_time()
        if self.limit:
            signal.signal(signal.SIGPROF, _too_slow)
            signal.setitimer(signal.ITIMER_PROF, self.limit * (KEEN if "golden" in item.name else 1))
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            spent = time.process_time() - begin
            self.seconds[item.nodeid] = float("inf") if self.failed == item.nodeid else spent

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid


def _too_slow(*_: Any) -> None:
    raise pytest.fail.Exception("too slow")


def run_tests(game: str, plan: Plan, extra: Sequence[str] = ()) -> None:
    quiet = ["-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(ROOT)]
    pytest.main([*quiet, *extra, *arguments(game)], plugins=[plan])


class Swapped:
    """Finds the mutated module in place of the real one."""

    def __init__(self, module: str, path: Path) -> None:
        self.name, self.path = f"cardgym.games.{module}", path

    def find_spec(self, fullname: str, *_: Any) -> Any:
        return importlib.util.spec_from_file_location(fullname, self.path) if fullname == self.name else None


def forked(work: Callable[[], Any], limit: float) -> Any:
    """What a function gives in a fork of this process; None if it takes too long or its process dies."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def target() -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        sender.send(work())

    process = context.Process(target=target)
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(limit) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


# --- The run ---------------------------------------------------------------------------------


def measured(game: str) -> dict[str, float]:
    """Seconds of each test as plain Python on the rules as they are, kept in ``runs/mutants`` for the tests met before;
    without the file all are measured anew."""
    kept = KEPT / f"{game}.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}

    def work() -> dict[str, float]:
        plan = Plan(game, new, SLOW)
        run_tests(game, plan)
        return plan.seconds

    tests = warm(game)
    new = [test for test in tests if test not in known]
    if new:
        print(f"{game}: measuring {len(new)} tests", flush=True)
        known |= forked(work, 3600) or {}
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({test: known[test] for test in tests if test in known}, indent=1))
    if not tests or not known.keys() >= set(tests):
        sys.exit(f"error: the tests of {game} do not run")
    return {test: known[test] for test in tests}


def warm(game: str) -> list[str]:
    """Imports, once for all mutants, what the tests of a game import and what holds no rule and no test; returns those
    tests."""

    def work() -> tuple[list[str], list[str]]:
        plan = Plan(game, [])
        run_tests(game, plan)
        modules = [
            n for n, m in sys.modules.items() if not str(getattr(m, "__file__", None) or ROOT).startswith(str(ROOT))
        ]
        return plan.mine, modules

    tests, modules = forked(work, 600) or ([], [])
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assert not any(name.startswith("cardgym.games.") for name in sys.modules)
    return tests


def split(seconds: dict[str, float]) -> tuple[list[str], list[str], float]:
    """The tests to run as plain Python, quickest first, those to run compiled, and the time of the first."""

    def cost(test: str) -> float:
        return seconds[test] / KEEN if "golden" in test else seconds[test]

    order = sorted(seconds, key=lambda n: (cost(n), "golden" not in n, n))  # compiled, the kept games are the quickest
    total, plain = 0.0, []
    for name in order:
        if total + seconds[name] > BUDGET:
            break
        total += seconds[name]
        plain.append(name)
    return plain, order[len(plain) :], total


def noticed_plain(game: str, mutant: Mutant, file: Path, order: Sequence[str], limit: float) -> str:
    """The first test that fails as plain Python, ``""`` if none does."""

    def work() -> str:
        sys.meta_path.insert(0, Swapped(mutant.module, file))
        plan = Plan(game, order, 6 * SLOW)
        run_tests(game, plan, ["-x"])
        return plan.failed or ("nothing could be collected" if not plan.seconds else "")

    answer = forked(work, limit)
    return "hangs or crashes" if answer is None else str(answer)


def noticed_compiled(game: str, mutant: Mutant, file: Path, order: Sequence[str]) -> str:
    """The first of the slow tests that fails as compiled code, ``""`` if none does."""
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    environment |= {"CARDGYM_CACHE_DIR": str(file.parent / "cache"), "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-c", COMPILED, game, mutant.module, str(file), *order]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return "hangs"
    answer = done.stdout.rpartition("first failure:")[2].strip()
    return answer if done.returncode == 0 else "crashes"


COMPILED = "import sys, mutants; mutants.run_compiled(*sys.argv[1:4], sys.argv[4:])"


def run_compiled(game: str, module: str, file: str, order: Sequence[str]) -> None:
    """The other end of :func:`noticed_compiled`."""
    sys.meta_path.insert(0, Swapped(module, Path(file)))
    plan = Plan(game, order)
    run_tests(game, plan, ["-x"])
    print("first failure:", plan.failed or ("" if plan.seconds else "nothing could be collected"))


def check(game: str, chosen: Sequence[Mutant], compiled: bool) -> list[Mutant]:
    """Tries mutants and prints what becomes of each; returns those that no test notices."""
    plain, slow, total = split(measured(game))
    print(f"{game}: {len(plain)} tests as plain Python, {total:.0f} s; {len(slow)} compiled", flush=True)
    survivors = []
    for number, mutant in enumerate(chosen, 1):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"{mutant.module}.py"
            file.write_bytes(mutant.applied(path_of(mutant.module).read_bytes()))
            begin = time.monotonic()
            by = noticed_plain(game, mutant, file, plain, 60 + 20 * total)
            if not by and compiled and slow:
                by = noticed_compiled(game, mutant, file, slow)
        if not by:
            survivors.append(mutant)
        taken = time.monotonic() - begin
        said = f"noticed by {by.rpartition('/')[2]}" if by else "SURVIVES"
        print(f"{number}/{len(chosen)} {taken:.0f} s {said}: {described(mutant)}", flush=True)
    return survivors


def described(mutant: Mutant) -> str:
    return f"{mutant.module}.py:{mutant.line} {mutant.function}: {mutant.before}  ->  {mutant.after}"


def main(game: tyro.conf.Positional[Name], count: int = 80, seed: int = 0, only: str = "", plain: bool = False) -> None:
    """Tries mutants of a game; the exit code is 1 if too few are noticed.

    Args:
        game: name of the game.
        count: so many mutants, drawn at random; 0: all.
        seed: of the draw.
        only: only mutants whose line, as printed, holds this text.
        plain: leave out the compiled run.
    """
    if not os.environ.get("NUMBA_DISABLE_JIT"):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "NUMBA_DISABLE_JIT": "1"})
    found = [m for m in all_mutants(game) if only in described(m)]
    chosen = random.Random(seed).sample(found, min(count or len(found), len(found)))
    reasons = explained()
    tried = [m for m in chosen if m.key not in reasons]
    print(f"{game}: {len(found)} mutants, {len(chosen)} chosen, {len(chosen) - len(tried)} of them explained")
    survivors = check(game, tried, not plain)
    killed = len(tried) - len(survivors)
    print(f"{game}: {killed} of {len(tried)} mutants noticed ({killed / max(1, len(tried)):.1%})")
    for mutant in survivors:
        print("not noticed:", described(mutant))
    sys.exit(killed < ENOUGH * len(tried))


if __name__ == "__main__":
    tyro.cli(main)
