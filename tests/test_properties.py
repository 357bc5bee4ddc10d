"""What holds in any game: any environment, rule options, seed and legal play, drawn and shrunk by hypothesis.

A failure shows the smallest play that hypothesis found.  Nothing is drawn at random: runs repeat (``conftest.py``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from shukh_table_play import violation
from test_shukh_invariants import check_zones

import cardgym
from cardgym import records, testing
from cardgym.batch import resample
from cardgym.envs import CardEnv
from cardgym.games import avinas, chouine
from cardgym.games.tarot_tables import CHIEN, PLAYED
from cardgym.kernel import records as as_records

LIMIT = 3000
"""Decisions that are followed; some options of Shukh make games without end."""

every_id = pytest.mark.parametrize(
    ("env_id", "examples"),
    [pytest.param(i, n, marks=marks) for n, marks in ((6, ()), (300, pytest.mark.long)) for i in cardgym.IDS],
)

# --- Plays -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Play:
    """A game to be played.

    Attributes:
        env_id, options, seed, reset: as for :func:`cardgym.make` and ``reset``.
        choices: 16 bits for each of the first decisions, which say how far down the list of legal actions; the later
            ones follow from the seed.
    """

    env_id: str
    options: Mapping[str, Any]
    seed: int
    reset: Mapping[str, int]
    choices: tuple[int, ...]

    @property
    def game_options(self) -> dict[str, Any]:
        """All options, the id's and the defaults too."""
        return vars(testing.subject(self.env_id, **self.options).options)

    @property
    def defaults(self) -> dict[str, Any]:
        return vars(testing.subject(self.env_id).options)

    def env(self, **kwargs: Any) -> CardEnv:
        env = testing.subject(self.env_id, **self.options).single(**kwargs)
        env.reset(seed=self.seed, options=dict(self.reset) or None)
        return env

    def action(self, env: CardEnv, move: int) -> int:
        """The action at a decision."""
        if move < len(self.choices):
            legal = np.flatnonzero(env.batch.mask[0])
            return int(legal[self.choices[move] * len(legal) >> 16])
        return int(testing.uniform(env.game, env.batch.mask, np.array([self.seed], np.uint64), move)[0])


def options_of(env_id: str) -> st.SearchStrategy[dict[str, Any]]:
    """All options that the id leaves open, as far as the game allows them together; shrinks to the defaults."""
    subject = testing.subject(env_id)
    fields = [f for f in dataclasses.fields(subject.options) if f.name not in cardgym.IDS[env_id]]
    drawn = {f.name: _values(f) for f in fields}
    return st.fixed_dictionaries({}, optional=drawn).filter(lambda options: testing.allowed(env_id, options))


def _values(field: dataclasses.Field[Any]) -> st.SearchStrategy[Any]:
    choices, low, high, words = (field.metadata[k] for k in ("choices", "low", "high", "words"))
    if choices is not None:
        return st.sampled_from(choices)
    numbers: st.SearchStrategy[Any]
    if isinstance(field.default, float):
        numbers = st.floats(low, 1e6 if high is None else high, allow_nan=False)
    else:
        numbers = st.integers(low, low + 100 if high is None else min(high, low + 100))
    return numbers | st.sampled_from(list(words)) if words else numbers


@st.composite
def plays(draw: st.DrawFn, env_id: str) -> Play:
    subject = testing.subject(env_id, **draw(options_of(env_id)))
    seats = st.integers(0, subject.seats - 1)
    return Play(
        env_id,
        subject.rules,
        draw(st.integers(0, (1 << 64) - 1)),
        draw(st.fixed_dictionaries({}, optional=dict.fromkeys(subject.game.reset_options, seats))),
        tuple(draw(st.lists(st.integers(0, (1 << 16) - 1), max_size=150))),
    )


def holds_in_all(env_id: str, examples: int, check: Callable[[Play], None]) -> None:
    quiet = [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much]
    settings = hypothesis.settings(max_examples=examples, suppress_health_check=quiet)
    settings(hypothesis.given(play=plays(env_id))(check))()


def followed(play: Play, env: CardEnv, decide: Callable[[int, int], None]) -> int:
    """Plays to the end; calls ``decide(move, action)`` before each decision.  Returns the number of decisions."""
    for move in range(LIMIT):
        if env.batch.over[0]:
            return move
        action = play.action(env, move)
        decide(move, action)
        env.step(action)
    return LIMIT


# --- Cards and scores ------------------------------------------------------------------------


def chouine_cards(s: np.void, players: int) -> None:
    assert sorted(s["deck"]) == list(range(32))
    count = np.bincount(s["place"], minlength=8)
    done = int((s["winner_of"] >= 0).sum())
    laid = int(s["lead"] >= 0)
    assert count[chouine.NOWHERE] == 0
    assert count[chouine.TABLE] == laid
    assert count[chouine.TURNED] == (s["under"] >= 0)
    assert count[chouine.WON : chouine.WON + 2].sum() == 2 * done
    drawn = 32 - s["next_draw"]
    assert count[chouine.STOCK] == drawn
    hands = min(10, 32 - 2 * done) if not s["over"] else 32 - 2 * done - drawn - (s["under"] >= 0)
    assert count[:2].sum() == hands - laid
    assert abs(int(count[0]) - int(count[1])) == laid


def avinas_cards(s: np.void, players: int) -> None:
    assert sorted(s["deck"]) == list(range(32))
    assert (np.bincount(s["owner"], minlength=4) == 8).all()
    assert ((s["taken_by"] > 0) <= (s["trick_of"] > 0)).all(), "a card taken was played"
    taken = np.bincount(s["taken_by"], minlength=3)[1:]
    assert (taken == 4 * s["tricks"]).all()
    played = int((s["trick_of"] > 0).sum()) + int(s["down"] >= 0)
    assert played == taken.sum() + s["on_table"]
    points = [int(avinas.POINTS[np.flatnonzero(s["taken_by"] == pair + 1) % 8].sum()) for pair in range(2)]
    assert points == s["points"].tolist()


def tarot_cards(s: np.void, players: int) -> None:
    assert sorted(s["deck"]) == list(range(78))
    size = (78 - (6 if players < 5 else 3)) // players  # TA-3
    assert np.bincount(s["dealt"], minlength=8)[:players].tolist() == [size] * players
    count = np.bincount(s["place"], minlength=8)
    assert count[:players].tolist() == s["held"][:players].tolist()
    assert count[players:CHIEN].sum() == 0
    done = int((s["winner_of"] >= 0).sum())
    assert count[PLAYED] == (s["played_in"] > 0).sum() == players * done + s["on_table"] % players


def shukh_cards(s: np.void, players: int) -> None:
    check_zones(s.reshape(1), int(s["deck"]), players)


def shukh_table_cards(s: np.void, players: int) -> None:
    assert not violation(s.reshape(1))


CARDS = {
    "chouine": chouine_cards, "avinas": avinas_cards, "tarot": tarot_cards, "shukh": shukh_cards,
    "shukh_table": shukh_table_cards,
}  # fmt: skip
"""For a state of each game: every card is in one place, and they are as many as they should be."""


def chouine_result(play: Play, s: np.void, info: Mapping[str, Any]) -> None:
    if play.game_options["episode"] == "deal" and not info["chouine"]:
        assert s["card_points"].sum() == 130  # CH-20
        assert (s["card_points"] + s["announced_points"]).tolist() == info["scores"].tolist()


def avinas_result(play: Play, s: np.void, info: Mapping[str, Any]) -> None:
    assert info["scores"][0] == info["scores"][2]
    assert info["scores"][1] == info["scores"][3]
    assert min(info["rams"]) == 0  # AV-13
    assert sum(info["points"]) <= 120  # AV-3
    if s["trick"] == 8 and info["ending"] == "marks" and s["stopped_by"] < 0:
        assert sum(info["points"]) == 120


def tarot_result(play: Play, s: np.void, info: Mapping[str, Any]) -> None:
    assert sum(info["scores"]) == sum(info["deal_scores"]) == 0  # TA-21
    assert 0 <= info["points"] <= 91  # TA-1


def shukh_result(play: Play, s: np.void, info: Mapping[str, Any]) -> None:
    players = len(info["places"])
    if not s["stalled"]:
        assert sorted(info["places"]) == list(range(1, players + 1))
    elif play.game_options["episode"] == "party":
        ranks = sorted(info["places"])
        assert all(rank == ranks.index(rank) + 1 for rank in ranks)  # S-17


RESULTS = {
    "chouine": chouine_result, "avinas": avinas_result, "tarot": tarot_result, "shukh": shukh_result,
    "shukh_table": shukh_result,
}  # fmt: skip
"""For the end of each game: how its scores add up."""


@every_id
def test_cards_and_scores_add_up(env_id: str, examples: int) -> None:
    """At every decision all cards are there; at the end scores and rewards add up."""
    name = cardgym.IDS[env_id]["game"]

    def check(play: Play) -> None:
        env = play.env()

        def decide(move: int, action: int) -> None:
            CARDS[name](env.batch.states[0], env.num_seats)
            assert abs(env.batch.rewards.sum()) < 1e-6 * max(1.0, float(env.options.reward_scale))

        if followed(play, env, decide) < LIMIT:
            CARDS[name](env.batch.states[0], env.num_seats)
            assert abs(env.batch.rewards.sum()) < 1e-6 * max(1.0, float(env.options.reward_scale))
            RESULTS[name](play, env.batch.states[0], env._info())

    holds_in_all(env_id, examples, check)


# --- Masks and views -------------------------------------------------------------------------


@every_id
def test_masks_and_views(env_id: str, examples: int) -> None:
    """Before the end just the seat to act has legal actions, afterwards nobody; what a seat sees is in bounds."""

    def check(play: Play) -> None:
        env = play.env()
        subject = testing.subject(env_id, **play.options)
        seats = np.arange(env.num_seats)

        def look(move: int, action: int) -> None:
            rows = np.zeros(len(seats), np.int64)
            views = env.batch.views(seats, rows, subject.encodings)
            acts = (seats == env.player) & ~env.batch.over[0]
            assert (views.mask.any(axis=1) == acts).all()
            for name in subject.encodings:
                values, layout = getattr(views, name), subject.layouts[name]
                assert (values >= layout.low).all(), testing.differing(layout, values.min(axis=0), layout.low)
                assert (values <= layout.high).all(), testing.differing(layout, values.max(axis=0), layout.high)

        if followed(play, env, look) < LIMIT:
            look(LIMIT, -1)

    holds_in_all(env_id, examples, check)


@every_id
def test_no_seat_sees_what_it_may_not(env_id: str, examples: int) -> None:
    """What a seat cannot know may be dealt anew, twice, and it sees the same: encodings, mask and drawing."""

    def check(play: Play) -> None:
        subject = testing.subject(env_id, **play.options)
        env = play.env()
        states = [env.state]

        followed(play, env, lambda move, action: states.append(env.state) if move < len(play.choices) else None)
        states.append(env.state)
        trail = np.concatenate(states)
        for seat in range(env.num_seats):
            seats = np.full(len(trail), seat)
            true = testing.seen(subject, trail, seats)
            for salt in (1, 2):
                world = trail.copy()
                resample(env.game, world, seats, play.seed ^ salt)
                other = testing.seen(subject, world, seats)
                for name in ("observation", "mask", "history"):
                    a, b = getattr(true, name), getattr(other, name)
                    assert (a == b).all(), f"seat {seat}: {name} differs at decision {int((a != b).any(1).argmax())}"
                for k in {0, len(trail) // 2, len(trail) - 1}:
                    drawn = (env.game.scene(as_records(x)[k], seat) for x in (trail, world))
                    assert next(drawn) == next(drawn), f"seat {seat}: drawing of decision {k}"

    holds_in_all(env_id, examples, check)


# --- Records and copies ----------------------------------------------------------------------


@every_id
def test_a_record_replays_to_the_same_bytes(env_id: str, examples: int) -> None:
    """The line that is written is read as the same record, and leads through the same states."""

    def check(play: Play) -> None:
        env = play.env()
        states: list[bytes] = []
        actions: list[int] = []

        def decide(move: int, action: int) -> None:
            states.append(env.batch.states.tobytes())
            actions.append(action)

        followed(play, env, decide)
        states.append(env.batch.states.tobytes())
        how: dict[str, Any] = {"options": play.options, "reset": play.reset}
        record = records.GameRecord.played(env_id, play.seed, actions, **how)
        again = records.GameRecord.from_json(record.to_json())
        assert again == record
        assert again.to_json() == record.to_json()
        records.verify(again)
        assert [state.tobytes() for state, _ in records.replay(again)] == states

    holds_in_all(env_id, examples, check)


@every_id
def test_a_clone_is_the_same_and_goes_its_own_way(env_id: str, examples: int) -> None:
    """At any decision: the clone's state, sights and future are those of the original, which it does not move."""

    def check(play: Play) -> None:
        env = play.env(encodings=testing.subject(env_id, **play.options).encodings)
        for move in range(len(play.choices)):
            if env.batch.over[0]:
                break
            env.step(play.action(env, move))
        twin = env.clone()
        before = testing.buffers(env.batch)
        assert testing.buffers(twin.batch) == before
        later = dataclasses.replace(play, choices=())
        followed(later, twin, lambda move, action: None)
        assert testing.buffers(env.batch) == before
        followed(later, env, lambda move, action: None)
        assert testing.buffers(env.batch) == testing.buffers(twin.batch)
        assert env.reset()[1]["player"] == twin.reset()[1]["player"]
        assert env.batch.states.tobytes() == twin.batch.states.tobytes()

    holds_in_all(env_id, examples, check)


# --- The properties themselves ---------------------------------------------------------------


def test_a_fault_is_found_and_shrunk() -> None:
    """A property that does not hold fails with the smallest play."""

    def check(play: Play) -> None:
        assert len(play.choices) < 3 or play.options.get("memory") != "table"

    with pytest.raises(AssertionError) as raised:
        holds_in_all("cardgym/Chouine-v0", 300, check)
    told = "\n".join(raised.value.__notes__)
    assert "'memory': 'table'}" in told
    assert "seed=0," in told
    assert "choices=(0, 0, 0)" in told


@pytest.mark.parametrize("env_id", list(cardgym.IDS))
def test_every_option_is_drawn(env_id: str) -> None:
    """So that no rule is left out."""
    wanted = {name for variant in testing.option_variants(env_id) for name in variant}
    met: set[str] = set()

    def check(play: Play) -> None:
        met.update(name for name, value in play.options.items() if value != play.defaults[name])

    holds_in_all(env_id, 150, check)
    assert met == wanted
