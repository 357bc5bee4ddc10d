"""Shukh at the table: each offence caught, lapsed, and its lawful twin accused (TM-13, TM-14), under both judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from shukh_table_positions import Deal, Table

HANDS = ("9S 8C QH", "10C JC 7C", "KC QC 6C", "AS KS 7D")


class Row(NamedTuple):
    """One line of the table of offences.

    Attributes:
        position, offence: a table, and the actions that break the rule.
        seat: who breaks it.
        guilty: who is punished.
        undone, stands: what must hold after it was caught, and after it lapsed.
        twin, lawful: a table, and the lawful actions nearest to the offence.
        done: what must hold after them.
    """

    position: Callable[..., Table]
    offence: list[str]
    seat: int
    guilty: set[int]
    undone: Callable[[Table], bool]
    stands: Callable[[Table], bool]
    twin: Callable[..., Table]
    lawful: list[str]
    done: Callable[[Table], bool]


def on_lead(**o: Any) -> Table:
    return Table(*HANDS, **o)


def beating(**o: Any) -> Table:
    return Table(*HANDS, kon=[(3, "7S")], **o)


def with_pile(**o: Any) -> Table:
    return Table(*HANDS, kon=[(3, "7S")], piles={0: "6D 6S"}, **o)


def closed(**o: Any) -> Table:
    return Table(*HANDS, unswept=(0, "7H 8H 9H 10H"), **o)


def closed_before(**o: Any) -> Table:
    return Table(*HANDS, kon=[(0, "9C")], turn=1, unswept=(0, "7H 8H 9H 10H"), **o)


def chatting(**o: Any) -> Table:
    return Table(*HANDS, kon=[(3, "7S")], chat=3, **o)


def two_left(**o: Any) -> Table:
    return Table("6H 9S 8C KD", "10C JC 7C", "", "", out={2: 1, 3: 2}, **o)


ROWS = {
    "Sh-2": Row(
        on_lead, ["QH"], 0, {0},
        lambda t: "QH" in t.hand(0) and t.turn == 1 and t.kon == [],
        lambda t: t.kon == ["QH"] and t.turn == 1 and t.legal() >= {"take"} and not {"10C", "JC", "7C"} & t.legal(),
        on_lead, ["9S"], lambda t: t.kon == ["9S"] and t.turn == 1,
    ),
    "Sh-3": Row(
        with_pile, ["pick up"], 0, {0},
        lambda t: t.pile(0) >= {"6D", "6S"} and t.hand(0) == {"9S", "8C", "QH"} and t.turn == 0,
        lambda t: t.hand(0) >= {"6D", "6S"} and t.pile(0) == set() and t.turn == 0,
        with_pile, ["9S"], lambda t: t.kon == ["7S", "9S"] and t.pile(0) >= {"6D", "6S"},
    ),
    "Sh-4a": Row(
        closed, ["9S"], 0, {0},
        lambda t: "9S" in t.hand(0) and t.unswept == set() and t.discard >= {"7H", "10H"} and t.turn == 0,
        lambda t: t.kon == ["9S"] and t.unswept == {"7H", "8H", "9H", "10H"} and t.turn == 1,
        closed, ["sweep", "9S"], lambda t: t.kon == ["9S"] and t.unswept == set() and t.turn == 1,
    ),
    "Sh-4b": Row(
        closed_before, ["10C"], 1, {0, 1},
        lambda t: "10C" in t.hand(1) and t.unswept == set() and t.discard >= {"7H"} and t.turn == 1,
        lambda t: t.kon == ["9C", "10C"] and t.unswept == set() and t.discard >= {"7H", "10H"} and t.turn == 2,
        closed_before, ["sweep", "10C"], lambda t: t.kon == ["9C", "10C"] and t.turn == 2,
    ),
    "Sh-4b, taking": Row(
        closed_before, ["take"], 1, {0, 1},
        lambda t: t.kon == ["9C"] and t.unswept == set() and t.turn == 1,
        lambda t: t.kon == [] and "9C" in t.hand(1) and t.unswept == set() and t.turn == 2,
        closed_before, ["sweep", "take"], lambda t: t.kon == [] and "9C" in t.hand(1) and t.turn == 2,
    ),
    "Sh-5": Row(
        beating, ["sweep"], 0, {0},
        lambda t: t.kon == ["7S"] and t.turn == 0,
        lambda t: t.kon == [] and "7S" in t.discard and t.turn == 0 and "take" not in t.legal(),
        closed, ["sweep"], lambda t: t.unswept == set() and t.discard >= {"7H"} and t.turn == 0,
    ),
    "Sh-6": Row(
        beating, ["hesitate"], 0, {0},
        lambda t: t.turn == 0 and "9S" in t.legal(),
        lambda t: t.turn == 0 and "9S" in t.legal() and "hesitate" not in t.legal(),
        beating, ["9S"], lambda t: t.kon == ["7S", "9S"],
    ),
    "Sh-7": Row(
        chatting, ["jump", "AS"], 3, {3},
        lambda t: t.kon == ["7S"] and "AS" in t.hand(3) and t.turn == 0,
        lambda t: t.kon == ["7S", "AS"] and t.turn == 0,
        beating, ["9S"], lambda t: t.kon == ["7S", "9S"] and t.turn == 1,
    ),
    "Sh-10": Row(
        lambda **o: beating(**{"slip_probability": 1.0, **o}), ["9S"], 0, {0},
        lambda t: t.kon == ["7S", "9S"] and t.turn == 1 and t.state["slip"] == 0,
        lambda t: t.kon == ["7S", "9S"] and t.turn == 1,
        beating, ["9S"], lambda t: t.kon == ["7S", "9S"],
    ),
    "Sh-12": Row(
        two_left, ["6H"], 0, {0},
        lambda t: "6H" in t.discard and t.kon == [] and t.turn == 1,
        lambda t: t.kon == ["6H"] and t.turn == 1,
        two_left, ["discard", "9S"], lambda t: t.kon == ["9S"] and "6H" in t.discard and t.turn == 1,
    ),
}  # fmt: skip
both_judges = pytest.mark.parametrize("judge", ["referee", "vote"])
every_row = pytest.mark.parametrize("name", list(ROWS))


def payers(table: Table, guilty: int) -> int:
    """R-8.1, R-8.1.1: how many live seats beside the guilty one have two cards or more."""
    s = table.state
    return sum(s["finish"][i] == 0 and s["held"][i] > 1 for i in range(table.batch.seats) if i != guilty)


def accuser(row: Row) -> int:
    """Who objects: the next seat."""
    return (row.seat + 1) % 4


@both_judges
@every_row
def test_caught(name: str, judge: str) -> None:
    """Sh-2, Sh-3, Sh-4a, Sh-4b, Sh-5, Sh-6, Sh-7, Sh-10 (R-8.8), Sh-12; R-1.4, R-8.5: punished, and put right."""
    row = ROWS[name]
    table = row.position(judge=judge).act(*row.offence, react={accuser(row): "accuse"})
    assert row.undone(table), table.batch.game.render(table.batch.states)
    assert {g for g, n in table.penalties.items() if n > 0} == row.guilty
    if len(row.guilty) == 1:
        assert table.penalties[row.seat] == payers(row.position(judge=judge), row.seat)
    assert ("hesitate" in table.legal()) == (table.turn != row.seat), "TM-2: only lawful acts till the turn ends"


@both_judges
@every_row
def test_lapsed(name: str, judge: str) -> None:
    """R-1.4.1: an offence that nobody accuses costs nothing, and stands."""
    row = ROWS[name]
    table = row.position(judge=judge).act(*row.offence)
    assert row.stands(table), table.batch.game.render(table.batch.states)
    assert not table.penalties


@both_judges
@every_row
def test_lawful_twin_accused(name: str, judge: str) -> None:
    """Sh-8, R-8.6: the referee punishes the accuser; an undisputed vote punishes the accused; both let the act be."""
    row = ROWS[name]
    seat = 0 if row.twin is not closed_before else 1
    table = row.twin(judge=judge).act(*row.lawful, react={(seat + 1) % 4: "accuse"})
    assert row.done(table)
    assert set(table.penalties) == ({(seat + 1) % 4} if judge == "referee" else {seat})


@every_row
def test_disputed(name: str) -> None:
    """R-8.6: who wins the vote is not punished, guilty or not; the accuser is (Sh-8), and everything stands."""
    row = ROWS[name]
    table = row.position(judge="vote")
    table.act(*row.offence, react={accuser(row): "accuse"}, dispute="dispute", vote="support")
    if name.startswith("Sh-4b"):
        assert row.stands(table)
        assert set(table.penalties) == {2}, "seats 0 and 1 are accused, seat 3 alone votes"
    else:
        assert row.stands(table) or name == "Sh-10"
        assert set(table.penalties) == {accuser(row)}


def test_a_tie_is_no_majority() -> None:
    """R-8.6, TM-5: one for, one against: the penalty stays."""
    table = on_lead(judge="vote")
    table.act("9S", react={1: "accuse"}, dispute="dispute", vote={2: "support", 3: "pass"})
    assert set(table.penalties) == {0}
    assert table.kon == ["9S"]


def test_sh_9_the_word_said_for_no_reason() -> None:
    """Sh-9, R-8.7: nothing to undo; caught, lapsed; whoever passes opens no window."""
    for judge in ("referee", "vote"):
        caught = chatting(judge=judge).act("say", react={0: "accuse"})
        assert (caught.turn, caught.kon, set(caught.penalties)) == (0, ["7S"], {3})
        lapsed = chatting(judge=judge).act("say")
        assert (lapsed.turn, lapsed.kon, lapsed.penalties) == (0, ["7S"], {})
        assert chatting(judge=judge).play("pass").stage == "turn"


def one_card(**o: Any) -> Table:
    """Seat 0 comes to one card and does not say so (R-6.1)."""
    return Table("9S 8C", "10C JC 7C", "KC QC 6C", "AS KS 7D", kon=[(3, "7S")], **o).play("9S", "pass")


@both_judges
def test_sh_11_one_card_not_called(judge: str) -> None:
    """Sh-11, R-6.2: asked, he pays; not asked, nothing happens; who called cannot be asked."""
    caught = one_card(judge=judge)
    assert caught.legal() == {"pass", "accuse", "seat 3"}, "seat 0 sits three places to the left of seat 1"
    caught.settle(react={1: "seat 3"})
    assert caught.penalties == {0: 3}
    assert caught.kon == ["7S", "9S"], "the act was lawful and stands"
    assert caught.state["silent"] == 0
    lapsed = one_card(judge=judge).settle()
    assert not lapsed.penalties
    assert lapsed.state["silent"] == 1
    called = Table("9S 8C", "10C JC 7C", "KC QC", "AS KS 7D", kon=[(3, "7S")], judge=judge).play("9S", "call")
    assert called.legal() == {"pass", "accuse"}


def test_sh_11_disputed() -> None:
    """TM-5: who asked pays instead; the question is used up all the same."""
    table = one_card(judge="vote").settle(react={1: "seat 3"}, dispute="dispute", vote="support")
    assert set(table.penalties) == {1}
    assert table.state["silent"] == 0


def after_the_safe_period(**o: Any) -> Table:
    """Two are left, and the holder of the lowest heart has moved once."""
    table = Table("6H 9S 8C KD", "10S JC 7C QC", "", "", out={2: 1, 3: 2}, **o)
    return table.act("9S").act("take")


@both_judges
def test_sh_12_asked_for_the_lowest_heart(judge: str) -> None:
    """Sh-12, R-9.4.2: asked after his first move he pays, discards it and loses a turn; before, he is safe."""
    early = Table("6H 9S 8C", "10S JC 7C", "", "", out={2: 1, 3: 2}, judge=judge).play("9S")
    assert "ask six" not in early.legal(), "R-9.4.1: safe until his first move is done"
    table = after_the_safe_period(judge=judge)
    assert table.turn == 0
    not_asked = after_the_safe_period(judge=judge).act("8C")
    assert not not_asked.penalties
    assert "6H" in not_asked.hand(0)
    table.play("8C")
    assert "ask six" in table.legal()
    table.settle(react={1: "ask six"})
    assert table.penalties == {0: 1}
    assert "6H" in table.discard
    assert table.state["skips"][0] == 1
    table.act("10S" if "10S" in table.legal() else "take")
    assert table.turn == 1, "seat 0 lost its turn"


@both_judges
def test_sh_1_drawing_before_unloading(judge: str) -> None:
    """Sh-1, R-4.4.1: seat 2 should put its king on the queen; caught, lapsed, and the lawful draw accused."""
    stock = "9S 7C KD QH 9D 10C 7H"

    def due() -> Deal:
        deal = Deal(stock, judge=judge).draw(5)
        assert (deal.turn, deal.legal()) == (2, {"unload", "draw"})
        return deal

    caught = due().act("draw", react={0: "accuse"})
    assert caught.state["debt"][:3].tolist() == [0, 0, 1]
    assert caught.stack(1) == ["7C", "9D", "10C"], "a card drawn is not undone"
    assert (caught.turn, caught.legal()) == (2, {"unload"}), "he goes on, unloading first"
    lapsed = due().act("draw")
    assert lapsed.state["debt"].sum() == 0
    assert (lapsed.turn, lapsed.legal()) == (2, {"unload", "draw"})
    lawful = due().act("unload", "draw", react={0: "accuse"})
    assert lawful.state["debt"][:3].tolist() == ([1, 0, 0] if judge == "referee" else [0, 0, 1])
    assert lawful.stack(0) == ["9S", "QH", "KD"]
    if judge == "vote":
        disputed = due().act("draw", react={0: "accuse"}, dispute="dispute", vote="support")
        assert disputed.state["debt"][:3].tolist() == [1, 0, 0], "Sh-8 in the deal"
