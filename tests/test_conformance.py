"""The conformance checks of ``cardgym.testing`` on every registered environment under every kind of rule option.

There is no list of exceptions.  A broken game shows that the checks can fail.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from avinas_facts import FACTS as AVINAS_FACTS
from broken_game import BROKEN
from chouine_facts import FACTS, TABLE_FACTS
from golden.regenerate import HERE, files
from shukh_facts import FACTS as SHUKH_FACTS
from shukh_facts import TABLE_FACTS as SHUKH_TABLE_FACTS
from shukh_table_facts import facts as shukh_table_facts
from tarot_facts import facts as tarot_facts

import cardgym
from cardgym import testing
from cardgym.batch import playout
from cardgym.errors import InvalidOption, UnknownGame
from cardgym.kernel import records


def _cases() -> Iterator[Any]:
    """Every id with every kind of option.

    In the plain run a game's first id has sets of options that together hold every value, its other ids the defaults
    and all options changed; each value alone is left to the long run.
    """
    met = set()
    for env_id, presets in cardgym.IDS.items():
        alone, covering = testing.option_variants(env_id), testing.covering_variants(env_id)
        plain = covering if presets["game"] not in met else [covering[0], alone[-1]]
        for options in plain:
            yield pytest.param(env_id, options, id=f"{env_id}-{options}")
        for options in [o for o in alone if o not in plain]:
            yield pytest.param(env_id, options, id=f"{env_id}-{options}", marks=pytest.mark.long)
        met.add(presets["game"])


every_case = pytest.mark.parametrize(("env_id", "options"), list(_cases()))
every_id = pytest.mark.parametrize("env_id", list(cardgym.IDS))

FACTS_OF: dict[str, Callable[[dict[str, Any]], dict[str, testing.Fact]]] = {
    "avinas": lambda options: AVINAS_FACTS,
    "chouine": lambda options: TABLE_FACTS if options.get("memory") == "table" else FACTS,
    "tarot": tarot_facts,
    "shukh": lambda options: SHUKH_TABLE_FACTS if options.get("memory") == "table" else SHUKH_FACTS,
    "shukh_table": shukh_table_facts,
}
"""For every game, what a seat may know under given options."""


def sized(games: int, env_id: str, options: dict[str, Any] | None = None) -> int:
    """As many games as take about as long as ``games`` short ones for two players; two at least."""
    return max(2, games * SHORT // _work(env_id, tuple((options or {}).items())))


SHORT = 80  # decisions in a short game times its players


@functools.cache
def _work(env_id: str, options: tuple[tuple[str, Any], ...]) -> int:
    """Decisions in a game of random play, the mean of sixteen, times its players."""
    s = testing.subject(env_id, **dict(options))
    batch = s.batch(16)
    batch.reset(range(16))
    return max(SHORT, playout(s.game, batch.states, 0) * s.seats // 16)


# --- Every environment, all options ----------------------------------------------------------


@every_case
def test_random_play(env_id: str, options: dict[str, Any]) -> None:
    testing.check_play(env_id, games=sized(100, env_id, options), seed=10_000, **options)


@every_id
def test_many_games(env_id: str) -> None:
    """A thousand games of every game; of further ids, such as matches, and of games as long as those, as many as last
    as long as a thousand short ones."""
    few = sized(1000, env_id)
    is_main = env_id == cardgym.ids_of(cardgym.IDS[env_id]["game"])[0]
    testing.check_play(env_id, games=1000 if is_main and few >= 50 else few)


@pytest.mark.long
@every_case
def test_ten_thousand_games(env_id: str, options: dict[str, Any]) -> None:
    for seed in range(0, 10_000, 1000):
        testing.check_play(env_id, games=1000, seed=seed, **options)


@every_case
def test_no_leaks(env_id: str, options: dict[str, Any]) -> None:
    testing.check_leaks(env_id, games=sized(20, env_id, options), drawings=50, **options)


@pytest.mark.long
@every_case
def test_no_leaks_in_many_games(env_id: str, options: dict[str, Any]) -> None:
    for seed in range(0, 2000, 100):
        testing.check_leaks(env_id, games=100, seed=seed, drawings=1000, **options)


@every_case
def test_no_omissions(env_id: str, options: dict[str, Any]) -> None:
    facts = FACTS_OF[cardgym.IDS[env_id]["game"]](options)
    testing.check_facts(env_id, facts, games=sized(20, env_id, options), most=40, **options)


@pytest.mark.long
@every_case
def test_no_omissions_in_many_games(env_id: str, options: dict[str, Any]) -> None:
    facts = FACTS_OF[cardgym.IDS[env_id]["game"]](options)
    testing.check_facts(env_id, facts, games=200, seed=1000, most=3000, **options)


@every_id
def test_every_part_of_every_layout_lives(env_id: str) -> None:
    testing.check_layouts(env_id, games=sized(200, env_id))


@every_case
def test_copies(env_id: str, options: dict[str, Any]) -> None:
    testing.check_copies(env_id, games=2, most=100, **options)


@every_case
def test_illegal_actions(env_id: str, options: dict[str, Any]) -> None:
    testing.check_illegal_actions(env_id, games=1, dense=40, **options)


@pytest.mark.long
@every_case
def test_copies_and_illegal_actions_to_the_end(env_id: str, options: dict[str, Any]) -> None:
    testing.check_copies(env_id, seed=100, **options)
    testing.check_illegal_actions(env_id, games=1, seed=100, **options)


@every_case
def test_same_game_in_every_form(env_id: str, options: dict[str, Any]) -> None:
    testing.check_forms(env_id, num_envs=(1, 5), steps=120, **options)


@every_id
def test_same_game_in_every_form_for_long(env_id: str) -> None:
    testing.check_forms(env_id, num_envs=(2, 17), steps=400, seed=100)


@every_case
def test_gymnasium(env_id: str, options: dict[str, Any]) -> None:
    testing.check_gymnasium(env_id, **options)


@every_case
def test_pettingzoo(env_id: str, options: dict[str, Any]) -> None:
    testing.check_pettingzoo(env_id, **options)


@every_case
def test_stable_baselines3(env_id: str, options: dict[str, Any]) -> None:
    testing.check_sb3(env_id, **options)


@pytest.mark.parametrize("file", sorted(files()))
def test_golden_games(file: str) -> None:
    """Rules, encodings and random stream are those of the kept games (``tests/golden/regenerate.py``)."""
    testing.check_golden(HERE / file)


# --- The checks themselves -------------------------------------------------------------------


def test_a_game_of_your_own() -> None:
    """A game that is in no registry passes as a whole; so it is the faults below that make it fail."""
    testing.check_game(BROKEN, games=20)
    testing.check_layouts(BROKEN, games=100, variants=[{}, {"episode": "match", "manches": 3}])
    testing.check_facts(BROKEN, FACTS, most=50)


@pytest.mark.parametrize(
    ("check", "fault", "message"),
    [
        (
            testing.check_leaks,
            "observation leaks",
            r"observation leaks au_sept.*policy='\w+', seed=\d+, move=\d+, seat",
        ),
        (testing.check_leaks, "history leaks", "history leaks dealer"),
        (testing.check_leaks, "mask leaks", "the mask leaks.*marriage"),
        (testing.check_leaks, "turn leaks", "who acts after .* depends on hidden cards"),
        (testing.check_leaks, "drawing leaks", "the drawing leaks"),
        (testing.check_leaks, "no resample", "resample moves no hidden card"),
        (testing.check_leaks, "same stream", "resample keeps the random stream"),
        (testing.check_leaks, "salt ignored", "resample keeps the random stream"),
        (testing.check_play, "rewards unbalanced", "do not sum to zero"),
        (testing.check_play, "out of bounds", r"observation out of bounds in au_sept\[0\]: 2 and 1"),
        (testing.check_play, "no legal action", "all zero if and only if"),
        (testing.check_play, "looking changes it", "observing changes the state"),
    ],
)
def test_faults_are_found(check: Callable[..., None], fault: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check(BROKEN, games=30, fault=fault)


def test_an_omission_is_found() -> None:
    with pytest.raises(AssertionError, match=r"observation says (decisions in order|announcements) is"):
        testing.check_facts(BROKEN, FACTS, fault="forgets")
    with pytest.raises(AssertionError, match="'observation' that never change: announced_in, manches, wins"):
        testing.check_layouts(BROKEN, variants=[{"fault": "forgets"}])


def test_a_fact_that_nobody_may_know_is_found() -> None:
    secret = testing.Fact(lambda s, seat: int(s.place[31] == 1 - seat), lambda p: 0)
    with pytest.raises(AssertionError, match=r"secret is hidden, 0 or 1: policy='uniform', seed=0, move=0, seat=0"):
        testing.check_facts("Chouine-v0", {"secret": secret}, most=50)


def test_a_game_without_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing.walks, "LIMIT", 10)
    with pytest.raises(AssertionError, match=r"not over after 10 decisions: policy='uniform', seed=5"):
        testing.check_play("Chouine-v0", games=3, seed=5)


def test_golden_games_notice_a_change(tmp_path: Any) -> None:
    kept = (HERE / "Chouine-v0.json").read_text()
    changed = tmp_path / "changed.json"
    changed.write_text(kept.replace('"seen": "8', '"seen": "7', 1))
    with pytest.raises(AssertionError, match=r"changed.json, seed \d+: seen is now 8"):
        testing.check_golden(changed)


@pytest.mark.parametrize("policy", sorted(testing.POLICIES))
def test_a_failure_can_be_seen_again(policy: str) -> None:
    """The state named by a message is that of the batch, whatever was played beside it."""
    trail = testing.walk(testing.subject("Chouine-v0"), policy, 7, 40)
    for k in range(0, len(trail.states), 50):
        again = testing.state_at("Chouine-v0", policy, int(trail.seeds[k]), int(trail.moves[k]))
        assert testing.fields_equal(again, trail.states[k : k + 1]).all()
        env = cardgym.make("Chouine-v0").unwrapped
        env.set_state(again)
        assert env.player == records(again)[0].player
    with pytest.raises(ValueError, match="fewer than 1000 decisions"):
        testing.state_at("Chouine-v0", policy, 40, 1000)


def test_policies_choose_legal_actions_evenly() -> None:
    game = cardgym.load_game("chouine")
    mask = np.zeros((30_000, len(game.actions)), np.int8)
    mask[:, [3, 20, 33, 49]] = 1
    seeds = np.arange(30_000)
    shares = {n: np.bincount(p(game, mask, seeds, 7), minlength=51) / 30_000 for n, p in testing.POLICIES.items()}
    for name, card, word in (("uniform", 0.25, 0.25), ("stubborn", 0.25, 0.25), ("talkative", 0.025, 0.475)):
        assert shares[name][[3, 20, 33, 49]] == pytest.approx([card, card, word, word], abs=0.01)


def test_option_variants() -> None:
    variants = testing.option_variants("ChouineMatch-v0")
    assert {} in variants
    assert {"memory": "table"} in variants
    assert not any("episode" in v for v in variants), "the id fixes it"
    assert variants[-1] == {"reward_scale": 2.0, "memory": "table", "quinte": 100, "wins_per_manche": 5, "manches": 3}


@every_id
def test_covering_variants(env_id: str) -> None:
    alone, covering = testing.option_variants(env_id), testing.covering_variants(env_id)
    assert {item for o in alone for item in o.items()} == {item for o in covering for item in o.items()}
    assert covering[0] == {}
    assert alone[-1] in covering
    assert all(testing.subject(env_id, **o) for o in covering)


def test_what_does_not_exist() -> None:
    with pytest.raises(UnknownGame, match="Did you mean 'cardgym/Chouine-v0'"):
        testing.check_game("Chouin-v0")
    with pytest.raises(InvalidOption, match="Did you mean 'memory'"):
        testing.check_game("Chouine-v0", memry="table")


def test_digest_differs_with_everything() -> None:
    digests = {testing.digest("Chouine-v0", games=1, seed=s, **o) for s in (0, 1) for o in ({}, {"memory": "table"})}
    assert len(digests) == 4
