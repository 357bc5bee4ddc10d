"""Model files and checkpoints of the native learners (``.pt``).

A file holds ``notes`` (plain JSON values: what the network is, which game, options and layout it was made for, how it
was trained) and ``weights``.  A checkpoint is a model file that also holds ``training``: all that it takes to go on as
if nothing had happened.  Files are read with ``weights_only``, so a file from a stranger can hold numbers, never code.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardgym.errors import CardGymError, InvalidRecord, require
from cardgym.files import written_aside

require("torch", "train")

import torch

import cardgym
from cardgym.baselines.network import Network, Shape
from cardgym.game import Game, Options

FORMAT = 1
"""Version of the files; a file of another version is refused."""

NEEDED: dict[str, type] = {
    "cardgym": str, "algorithm": str, "game": str, "options": dict, "fingerprint": str, "canonical_suits": bool,
    "hidden": list, "critic": str, "settings": dict,
}  # fmt: skip
"""Notes without which a file cannot be used, with their types."""


@dataclass(frozen=True)
class Model:
    """What a file holds.

    Attributes:
        network: ready to play.
        game, options: what it was trained on.
        notes: see :func:`notes`.
        training: of a checkpoint; empty for a model.
    """

    network: Network
    game: Game
    options: Options
    notes: dict[str, Any]
    training: dict[str, Any]


def fingerprint(game: Game, options: Options) -> str:
    """Hash of the layout of the observation, the actions and the canonical order of suits.

    Networks learn places of numbers, not their names, so a model fits only where this is the same.
    """
    digest = hashlib.sha256()
    layout = game.layouts(options)["observation"]
    for s in layout.segments:
        digest.update(f"{s.name}:{layout.shapes[s.name]}:{s.low}:{s.high}:{s.values}\n".encode())
    digest.update("\n".join([*(a.name for a in game.actions), "", *game.suit_order]).encode())
    return digest.hexdigest()[:16]


def notes(
    algorithm: str, game: Game, options: Mapping[str, Any], canonical_suits: bool, shape: Shape, **facts: Any
) -> dict[str, Any]:
    """What a file says about itself, as plain JSON values.

    Args:
        algorithm: ``"ppo"`` or ``"dmc"``.
        game: the game.
        options: rule options that differ from the defaults.
        canonical_suits: are interchangeable suits put in canonical order?
        shape: of the network.
        **facts: more to know, such as settings and the number of decisions.
    """
    return {
        "format": FORMAT,
        "cardgym": cardgym.__version__,
        "torch": str(torch.__version__),
        "algorithm": algorithm,
        "game": game.name,
        "options": dict(options),
        "fingerprint": fingerprint(game, game.options.of(**options)),
        "canonical_suits": canonical_suits,
        "hidden": list(shape.hidden),
        "critic": shape.critic,
        **facts,
    }


def save(path: Path, network: Network, about: dict[str, Any], training: dict[str, Any] | None = None) -> None:
    """Writes a model, or with ``training`` a checkpoint, aside and renames it into place."""
    contents = {"notes": about, "weights": network.state_dict(), "training": training or {}}
    with written_aside(path) as aside:
        torch.save(contents, aside)


def load(path: str | Path, game: Game | None = None) -> Model:
    """Reads a model or checkpoint, after checking that it fits.

    Args:
        path: the file.
        game: the game that it is to play; None takes the file's word.

    Raises:
        InvalidRecord: not such a file, cut short, of another version, or made for another game or layout; the message
            says why.
    """
    found = _read(path)
    about = found["notes"]
    if about.get("format") != FORMAT:
        raise InvalidRecord(
            f"{path}: a file of version {about.get('format')!r}, "
            f"but cardgym {cardgym.__version__} reads version {FORMAT}"
        )
    missing = [name for name in NEEDED if name not in about]
    if missing:
        raise InvalidRecord(f"{path}: its notes lack {', '.join(missing)}")
    for name, kind in NEEDED.items():
        if not isinstance(about[name], kind):
            raise InvalidRecord(f"{path}: in its notes {name} is no {kind.__name__}: {about[name]!r:.80}")
    if game is not None and about["game"] != game.name:
        raise InvalidRecord(f"{path}: made for {about['game']!r}, not for {game.name!r}")
    try:
        own = cardgym.load_game(about["game"])
        options = own.options.of(**about["options"])
    except (CardGymError, TypeError) as error:  # a name of an option need not even be a word
        raise InvalidRecord(f"{path}: made for a game that is not here: {error}") from error
    here = fingerprint(own, options)
    if about["fingerprint"] != here:
        raise InvalidRecord(
            f"{path}: made with cardgym {about['cardgym']} for another observation or other actions of {own.name} "
            f"(fingerprint {about['fingerprint']}, here {here}); train it anew"
        )
    try:
        network = _network(own, options, about, found["weights"])
    except (CardGymError, RuntimeError, TypeError, AttributeError) as error:
        raise InvalidRecord(f"{path}: its weights do not fit its notes: {error}") from error
    return Model(network, own, options, about, found["training"])


def _network(game: Game, options: Options, about: Mapping[str, Any], weights: Mapping[str, torch.Tensor]) -> Network:
    """The network that notes describe, with the weights."""
    shape = Shape(tuple(about["hidden"]), about["critic"])
    with torch.device("meta"):  # a try that takes no memory, whatever widths the notes tell
        Network(game, options, shape).load_state_dict(weights, assign=True)
    network = Network(game, options, shape)
    network.load_state_dict(weights)
    return network.eval()


def load_checkpoint(path: Path, game: Game, now: dict[str, Any], free: Sequence[str]) -> Model:
    """Reads a checkpoint to go on from, exactly.

    Args:
        path: the file.
        game: the game.
        now: the notes of the run that wants to go on.
        free: settings that may differ.

    Raises:
        CardGymError: there is none.
        InvalidRecord: it is no checkpoint, of another version, or of a run with other settings; the message says why.
    """
    if not path.is_file():
        raise CardGymError(f"{path}: nothing to resume from; start without --resume")
    model = load(path, game)
    if not model.training:
        raise InvalidRecord(f"{path}: a finished model, no checkpoint: it can play, but not be trained further")
    for name in ("algorithm", "cardgym", "torch"):
        if model.notes.get(name) != now[name]:
            raise InvalidRecord(f"{path}: made with {name} {model.notes.get(name)!r}, here {now[name]!r}")
    check_settings(path, model.notes["settings"], {k: v for k, v in now["settings"].items() if k not in free})
    return model


def check_settings(path: Path, made: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuses to go on with other settings.

    Args:
        path: the checkpoint.
        made: the settings that it was made with.
        now: those that must be the same.

    Raises:
        CardGymError: one of them is not; the message names the first.
    """
    for name, value in now.items():
        if made.get(name) != value:
            raise CardGymError(f"{path}: made with {name}={made.get(name)!r}, but now {name}={value!r}; give the same")


def _read(path: str | Path) -> dict[str, Any]:
    """The contents of a file, as far as they can be judged without the game."""
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise InvalidRecord(f"{path}: there is no such file") from None
    except Exception as error:  # torch raises what its zip reader and unpickler happen to raise
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise InvalidRecord(f"{path}: not a model, or cut short ({reason})") from error
    parts = {"notes", "weights", "training"}
    if not isinstance(found, dict) or set(found) != parts or not all(isinstance(v, dict) for v in found.values()):
        raise InvalidRecord(f"{path}: a torch file, but none of cardgym's models")
    return found


def plain(settings: Any, without: Sequence[str] = ()) -> dict[str, Any]:
    """A dataclass of settings as plain JSON values; some may be left out."""
    values = {k: v for k, v in dataclasses.asdict(settings).items() if k not in without}
    return {k: list(v) if isinstance(v, tuple) else str(v) if isinstance(v, Path) else v for k, v in values.items()}
