"""``cardgym list``, ``info`` and ``doctor``: what there is."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

from rich.markdown import Markdown
from rich.table import Table
from tyro.conf import arg

import cardgym
from cardgym import kernel
from cardgym.batch import ENCODINGS
from cardgym.cli.common import Chosen, GameName, chosen, console, print_json, rules_page
from cardgym.errors import CardGymError
from cardgym.game import Layout

Json = Annotated[bool, arg(name="json", help="print JSON for a program to read")]


# --- list ------------------------------------------------------------------------------------


def list_environments(as_json: Json = False) -> None:
    """List the environments."""
    rows = [_environment(env_id) for env_id in cardgym.IDS]
    if as_json:
        print_json(rows)
        return
    table = Table("environment", "game", "players", "actions", "observation", box=None)
    for row in rows:
        table.add_row(*(str(row[k]) for k in ("id", "title", "players", "actions", "observation")))
    console().print(table)


def _environment(env_id: str) -> dict[str, Any]:
    presets = dict(cardgym.IDS[env_id])
    game = cardgym.load_game(presets.pop("game"))
    options = game.options.of(**presets)
    return {
        "id": env_id,
        "game": game.name,
        "title": game.title,
        "presets": presets,
        "players": game.seats(options),
        "actions": len(game.actions),
        "observation": game.layouts(options)["observation"].size,
    }


# --- info ------------------------------------------------------------------------------------


def info(
    game: GameName,
    options: tuple[str, ...] = (),
    rules: bool = False,
    as_json: Json = False,
) -> None:
    """Show a game: spaces, layout of the observation, rule options, rules.

    Args:
        game: its name, the id of an environment, or module:attribute for a game of your own.
        options: rule options, such as players=3.
        rules: show the rules instead.
    """
    found = chosen(game)
    if rules:
        page = rules_page(found.game)
        if page is None:
            raise CardGymError(f"{found.game.name}: there is no page of rules for this game")
        console().print(Markdown(page))
        return
    facts = _facts(found, options)
    if as_json:
        print_json(facts)
        return
    _print_facts(found, facts)


def _facts(found: Chosen, words: tuple[str, ...]) -> dict[str, Any]:
    game, options = found.game, found.options(words)
    layouts = game.layouts(options)
    return {
        "game": game.name,
        "title": game.title,
        "ids": cardgym.ids_of(game.name),
        "players": game.seats(options),
        "cards": game.pack.size,
        "actions": [a.name for a in game.actions],
        "layouts": {e: _layout(layouts[e]) for e in ENCODINGS if e in layouts},
        "options": [
            {"name": n, "default": d, "value": getattr(options, n), "allowed": allowed, "meaning": doc}
            for n, d, allowed, doc in game.option_fields()
        ],
        "reset_options": list(game.reset_options),
    }


def _layout(layout: Layout) -> list[dict[str, Any]]:
    return [
        {
            "name": s.name,
            "start": layout.slices[s.name].start,
            "shape": list(layout.shapes[s.name]),
            "meaning": s.meaning,
            "known_to": s.known_to,
            "since": s.since,
        }
        for s in layout.segments
    ]


def _print_facts(found: Chosen, facts: dict[str, Any]) -> None:
    out, game = console(), found.game
    out.print(f"[bold]{game.title}[/bold]: {facts['players']} players, {facts['cards']} cards")
    out.print(f"ids: {', '.join(facts['ids']) or 'none'}")
    words = [a.name for a in game.actions if a.card is None]
    out.print(f"actions: Discrete({len(game.actions)}): {game.pack.size} cards, {', '.join(words)}")
    for name, parts in facts["layouts"].items():
        size = sum(_size(part["shape"]) for part in parts)
        out.print(f"{name}: {size} numbers, int8{'' if name == 'observation' else ' (encodings=...)'}")
    table = Table("observation", "from", "shape", "meaning", "known to", title="layout", title_justify="left")
    for part in facts["layouts"]["observation"]:
        shape = " x ".join(map(str, part["shape"]))
        table.add_row(part["name"], str(part["start"]), shape, part["meaning"], part["known_to"])
    out.print(table)
    table = Table("option", "value", "allowed", "meaning", title="rule options", title_justify="left")
    for option in facts["options"]:
        table.add_row(option["name"], repr(option["value"]), option["allowed"], option["meaning"])
    out.print(table)
    out.print(f"reset options: {', '.join(facts['reset_options'])}")
    if rules_page(game) is not None:
        out.print(f"rules: cardgym info {game.name} --rules")


def _size(shape: list[int]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


# --- doctor ----------------------------------------------------------------------------------


def doctor(as_json: Json = False) -> int:
    """Check this installation: versions, cache of compiled code, threads, extras."""
    facts: dict[str, Any] = {
        "cardgym": cardgym.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {name: importlib.metadata.version(name) for name in ("numpy", "numba", "gymnasium")},
        "cache": _cache(),
        "threads": {"cores": os.cpu_count(), "usable": _usable_cores()},
        "jit": kernel.JIT,
        "extras": {extra: missing_of(extra) for extra in extras()},
    }
    if as_json:
        print_json(facts)
    else:
        _print_health(facts)
    return 0 if facts["cache"]["problem"] is None else 1


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cache() -> dict[str, Any]:
    folder = kernel.cache_folder()
    files = [p for p in folder.rglob("*.nb*") if p.is_file()] if folder.is_dir() else []
    return {
        "folder": str(folder),
        "files": len(files),
        "megabytes": round(sum(p.stat().st_size for p in files) / 1e6, 1),
        "free_megabytes": round(shutil.disk_usage(_existing(folder)).free / 1e6),
        "problem": _problem(folder),
    }


def _existing(folder: Path) -> Path:
    return next(p for p in (folder, *folder.parents) if p.exists())


def _problem(folder: Path) -> str | None:
    """Why the cache cannot be written, None if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"{error.strerror}: set CARDGYM_CACHE_DIR to a folder that can be written"


def extras() -> dict[str, list[str]]:
    """Distributions of every extra that a user may want, from the installed metadata."""
    found: dict[str, list[str]] = {}
    for line in importlib.metadata.requires("cardgym") or []:
        match = re.match(r"([\w.-]+).*extra == ['\"]([\w-]+)['\"]", line)
        if match and match[2] not in ("all", "dev"):
            found.setdefault(match[2], []).append(match[1])
    return found


def missing_of(extra: str) -> list[str]:
    missing = []
    for distribution in extras()[extra]:
        try:
            importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            missing.append(distribution)
    return missing


def _print_health(facts: dict[str, Any]) -> None:
    out = console()
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    out.print(f"cardgym {facts['cardgym']}, Python {facts['python']}, {facts['system']}")
    out.print(packages)
    out.print(f"games: {', '.join(cardgym.game_names())}")
    out.print("compiled: yes" if facts["jit"] else "compiled: no, NUMBA_DISABLE_JIT is set; everything is slow")
    cache = facts["cache"]
    state = cache["problem"] or f"{cache['files']} files, {cache['megabytes']} MB, {cache['free_megabytes']} MB free"
    out.print(f"cache: {cache['folder']}: {state}", soft_wrap=True)
    if cache["problem"] is None and not cache["files"] and facts["jit"]:
        out.print("       empty: `cardgym warmup` compiles all games ahead")
    out.print(f"threads: {facts['threads']['usable']} of {facts['threads']['cores']} cores usable")
    for extra, missing in facts["extras"].items():
        lacking = f"missing {', '.join(missing)}: pip install 'cardgym\\[{extra}]'" if missing else "installed"
        out.print(f"extra {extra}: {lacking}", soft_wrap=True)
