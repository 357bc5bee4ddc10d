"""Positions of Shukh at the table set up by hand, for the tests of its rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from shukh_positions import PACKS, Party, cards, stack_of

from cardgym.batch import Batch
from cardgym.cards import PACK_52
from cardgym.games import shukh_table
from cardgym.games.shukh_table import GAME
from cardgym.games.shukh_table_state import CHATTING, DEBTS, PILE, PLAY, STAGES, TURN, UNSWEPT
from cardgym.kernel import kernel

ID = GAME.action_ids


@kernel("tests.shukh_table.advance", (shukh_table.__file__,))
def _advance(states):  # type: ignore[no-untyped-def]
    for i in range(len(states)):
        shukh_table._advance(states[i])


class Game(Party):
    """One game under way, everybody attentive and nothing left to chance unless options say so.

    Attributes:
        penalties: how many penalty cards each seat was paid.
    """

    def __init__(self, players: int, **options: Any) -> None:
        chance = {"attention": 1.0, "chatter": 0.0, "slip_probability": 0.0}
        super().__init__(Batch(GAME, GAME.options.of(players=players, **{**chance, **options})))
        self.batch.reset([0], options={"shuffler": 0})
        self.penalties: Counter[int] = Counter()

    def play(self, *actions: str) -> Self:
        for action in actions:
            if self.stage == "pay":
                self.penalties[int(self.state["guilty"][0])] += 1
            super().play(action)
        return self

    def settle(self, **wanted: str | Mapping[int, str]) -> Self:
        """Goes on until somebody is on turn.

        Args:
            **wanted: by stage (``react``, ``call``, ``dispute``, ``vote``, ``pay`` ...) the action of all, or of the
                seats named; otherwise nobody objects, everybody calls and pays the first card he may.
        """
        while self.stage not in ("turn", "draw", "chat", "gone", "over"):
            wish = wanted.get(self.stage, {})
            action = wish if isinstance(wish, str) else wish.get(self.turn, "")
            if action not in self.legal():
                action = "call" if self.stage == "call" else "pass"
            if action not in self.legal():
                action = GAME.legal_names(self.batch.mask[0])[0]
            self.play(action)
        return self

    def act(self, *actions: str, **wanted: str | Mapping[int, str]) -> Self:
        """Acts that nobody minds, and a last one to which the others react as wanted."""
        for action in actions[:-1]:
            self.play(action)
            if self.stage != "jump":
                self.settle()
        return self.play(actions[-1]).settle(**wanted)

    @property
    def stage(self) -> str:
        """What is to be decided."""
        return "over" if self.batch.over[0] else STAGES[self.state["stage"] - 1]

    def pile(self, seat: int) -> set[str]:
        return self.lying(PILE + seat)

    @property
    def unswept(self) -> set[str]:
        return self.lying(UNSWEPT)

    def seen(self, seat: int) -> dict[str, Any]:
        """What a seat observes, part by part."""
        return self.batch.layouts["observation"].describe(self.batch.views(np.array([seat])).observation[0])


class Table(Game):
    """In the middle of a party; cards named nowhere are in the discard."""

    def __init__(
        self,
        *hands: str,
        kon: Sequence[tuple[int, str]] = (),
        turn: int = 0,
        out: Mapping[int, int] | None = None,
        piles: Mapping[int, str] | None = None,
        unswept: tuple[int, str] | None = None,
        chat: int | None = None,
        debts: Sequence[int] | None = None,
        **options: Any,
    ) -> None:
        """Sets up the position.

        Args:
            *hands: of the seats, names of cards.
            kon: seat and card, from the bottom up.
            turn: whose turn it is.
            out: finishing places of the seats that have left.
            piles: penalty cards by seat.
            unswept: closer and cards of a closed kon.
            chat: a seat that is asked at the start of the turn (TM-9).
            debts: Shukhs of the deal, by seat: they are to be repaid first, by the seats clockwise from seat 0.
            **options: rule options but the number of players.
        """
        super().__init__(len(hands), **{"deal": "engine" if debts is None else "played", **options})
        s = self.state
        self.lay_out(hands, kon, out or {})
        s["piled"] = 0
        for seat, pile in (piles or {}).items():
            s["place"][cards(pile)] = PILE + seat
            s["piled"][seat] = len(cards(pile))
        if unswept is not None:
            s["closer"], s["unswept"] = unswept[0], len(cards(unswept[1]))
            s["place"][cards(unswept[1])] = UNSWEPT
        s["player"] = s["turn"] = turn
        s["fresh"], s["stage"], s["phase"], s["opener"] = 0, TURN, PLAY, 0
        s["safe"] = s["live"] == 2
        s["top"], s["below"] = -1, -1
        if chat is not None:
            s["player"], s["stage"] = chat, CHATTING
        if debts is not None:
            s["phase"], s["opener"], s["origin"] = DEBTS, -1, s["place"]
            s["debt"][: len(hands)] = debts
            s["act"], s["window"], s["drawn"] = 0, 0, s["deck"]
            _advance(self.batch.states)
        self.batch.refresh(0)


class Deal(Game):
    """A deal by the players of a stock given from its first card on; what is missing of the pack lies below."""

    def __init__(self, stock: str, players: int = 3, **options: Any) -> None:
        super().__init__(players, **options)
        named = stock.split()
        rest = [n for n in PACKS[int(self.state["deck"])] if n not in named]
        self.state["order"][: len(named) + len(rest)] = [PACK_52.card(n) for n in (*named, *rest)]
        self.batch.refresh(0)

    def draw(self, times: int) -> Deal:
        """So many cards lawfully drawn, with no objection."""
        drawn = int(self.state["drawn"])
        while self.state["drawn"] < drawn + times:
            self.act("unload" if "unload" in self.legal() else "draw")
        return self

    def stack(self, seat: int) -> list[str]:
        """A stack from the bottom up."""
        return stack_of(self.state, seat)
