"""``cardgym play``: a person at the terminal against agents."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from cardgym.baselines.agents import Agent, Decisions, RandomAgent, RuleAgent, load_agent
from cardgym.batch import Batch
from cardgym.cli.common import Chosen, GameName, chosen, console, rules
from cardgym.errors import CardGymError, InvalidOption, suggest
from cardgym.game import Game
from cardgym.kernel import records
from cardgym.records import GameRecord, RecordWriter

HELP = """\
a number, a name   take that action: 3, or KH for the king of hearts
h                  a hint: what an agent would do
u                  undo: back to your last decision
t                  show the table again
?                  this help, and the ids of the rules
? WORD             a rule by its id, an action, or the rules with that word
q                  leave
"""


class Left(Exception):
    """The person has left the table."""


def play(
    game: GameName,
    against: tuple[str, ...] = (),
    seat: int = 0,
    options: tuple[str, ...] = (),
    hints: str | None = None,
    seed: int | None = None,
    record: Path | None = None,
) -> None:
    """Play a game at the terminal against agents.

    Args:
        game: its name, the id of an environment, or module:attribute for a game of your own.
        against: agents in the other seats, in order, from the first again when there are more seats: random, rule,
            pimc-64, the file of a trained model; by default the rule bot.
        seat: yours.
        options: rule options, such as players=3.
        hints: the agent that gives hints; by default the rule bot.
        seed: of the deal; by default a fresh one.
        record: write the game to this file when it is over.
    """
    found = chosen(game)
    seats = found.game.seats(found.options(options))
    if not 0 <= seat < seats:
        raise InvalidOption(f"seat={seat} is not a seat from 0 to {seats - 1}")
    usual = _usual_agent(found.game)
    rivals = [load_agent(name, found.game) for name in against] or [usual]
    others = [s for s in range(seats) if s != seat]
    agents = {s: rivals[i % len(rivals)] for i, s in enumerate(others)}
    hinting = usual if hints is None else load_agent(hints, found.game)
    table = Table(found, options, seat, agents, hinting, secrets.randbits(32) if seed is None else seed)
    if record is None:
        table.play()
        return
    with RecordWriter(record, keep_partial=False) as writer:  # opened first: what cannot be written is told now
        table.play()
        writer.add(table.record())
    table.out.print(f"written: {record}", markup=False, soft_wrap=True)


def _usual_agent(game: Game) -> Agent:
    try:
        return RuleAgent(game)
    except CardGymError:  # a game of one's own, perhaps
        return RandomAgent()


@dataclass
class Moment:
    """What an undo goes back to.

    Attributes:
        state: of the game, shape (1,).
        taken: number of actions taken before.
        chance: of the agents' randomness.
    """

    state: np.ndarray
    taken: int
    chance: dict[str, Any]


class Table:
    """A game with one person.

    Attributes:
        seat: the person's.
        seed: of the deal.
        out: where everything is printed.
    """

    def __init__(
        self, found: Chosen, words: Sequence[str], seat: int, agents: dict[int, Agent], hinting: Agent, seed: int
    ) -> None:
        self.found, self.game, self.options = found, found.game, found.options(words)
        self.seat, self.agents, self.hinting, self.seed = seat, agents, hinting, seed
        self.out: Console = console()
        self.batch = Batch(self.game, self.options)
        self.batch.reset([seed])
        self.generator = np.random.default_rng(seed)
        self.actions: list[int] = []
        self.moments: list[Moment] = []
        self.rules = rules(self.game)

    # --- The course of the game ----------------------------------------------------------

    def play(self) -> None:
        """Plays until the game is over or the person leaves."""
        try:
            self._play()
        except Left:
            self.out.print(f"You have left; the deal was that of --seed {self.seed}.", markup=False)

    def _play(self) -> None:
        names = ", ".join(f"seat {s} {agent.name}" for s, agent in self.agents.items())
        self.out.print(
            f"{self.game.title}: you are seat {self.seat}; {names}; seed {self.seed}. Type ? for help.", markup=False
        )
        while not self.batch.over[0]:
            player = int(self.batch.players[0])
            if player == self.seat:
                self.moments.append(
                    Moment(self.batch.states.copy(), len(self.actions), dict(self.generator.bit_generator.state))
                )
                self._take(self._ask())
            else:
                action = self._asked(self.agents[player])
                self.out.print(f"seat {player}: {self._name(action)}", markup=False)
                self._take(action)
        self._tell_result()

    def _take(self, action: int) -> None:
        deals = self._deals()
        self.actions.append(action)
        self.batch.step(np.array([action]))
        if self._deals() != deals and not self.batch.over[0]:
            self.out.print(f"The deal is over: {self._facts()}", markup=False)

    def _deals(self) -> int:
        """How many deals of a match are over."""
        facts = self.game.info(records(self.batch.states)[0])
        return int(facts.get("deals", facts.get("parties", 0)))

    def _facts(self) -> str:
        facts = self.game.info(records(self.batch.states)[0])
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts.items())

    def _asked(self, agent: Agent) -> int:
        return int(agent.act(Decisions(self.batch, np.array([0])), self.generator)[0])

    def _tell_result(self) -> None:
        s = records(self.batch.states)[0]
        self.out.print()
        self._print_table(None)
        record = self.record()
        assert record.result is not None
        won = record.result["rewards"][self.seat]
        self.out.print("You have won." if won > 0 else "You have lost." if won < 0 else "Nobody has won.")
        for seat in range(self.batch.seats):
            you = " (you)" if seat == self.seat else ""
            reward = record.result["rewards"][seat]
            self.out.print(f"seat {seat}{you}: score {s.scores[seat]}, reward {reward:g}", markup=False)
        self.out.print(self._facts(), markup=False)

    def record(self) -> GameRecord:
        """The game so far."""
        who = ["person" if s == self.seat else self.agents[s].name for s in range(self.batch.seats)]
        return GameRecord.played(
            self.found.name, self.seed, self.actions, options=asdict(self.options), agents=who, game=self.game
        )

    # --- The person's turn ---------------------------------------------------------------

    def _ask(self) -> int:
        """An action of the person.

        Raises:
            Left: the person, or the input, has come to the end.
        """
        self.out.print()
        self._print_table(self.seat)
        self._print_legal()
        while True:
            try:
                said = input("your action> ").strip()
            except EOFError:
                self.out.print()
                raise Left from None
            action = self._answer(said)
            if action is not None:
                return action

    def _answer(self, said: str) -> int | None:
        """The action that the person has named, or None after doing what else he has asked for."""
        if said.lower() == "q":
            raise Left
        if said.startswith("?"):
            self._explain(said[1:].strip())
        elif said.lower() == "h":
            action = self._asked(self.hinting)
            self.out.print(f"{self.hinting.name} would say: {self._name(action)}", markup=False)
        elif said.lower() == "u":
            self._undo()
        elif said.lower() in ("t", ""):
            self._print_table(self.seat)
            self._print_legal()
        else:
            return self._named(said)
        return None

    def _legal(self) -> list[int]:
        """The legal actions in the order of their numbers: cards as they stand in the hand, then words."""
        cards = [action.card for action in self.game.actions]
        hand = self.game.scene(records(self.batch.states)[0], self.seat).places[self.seat].hand
        place = {card: i for i, card in enumerate(hand)}

        def key(action: int) -> tuple[bool, int]:
            card = cards[action]
            return card is None, len(hand) if card is None else place.get(card, len(hand))

        return sorted(np.flatnonzero(self.batch.mask[0]).tolist(), key=key)

    def _named(self, said: str) -> int | None:
        legal = self._legal()
        if said.isdecimal():
            if 1 <= int(said) <= len(legal):
                return legal[int(said) - 1]
            self.out.print(f"There is no number {said}: choose one from 1 to {len(legal)}.", markup=False)
            return None
        everything = {name.lower(): i for i in range(len(self.game.actions)) for name in self._names(i)}
        wanted = said.lower()
        starting = {i for name, i in everything.items() if name.startswith(wanted) and i in legal}
        action = everything.get(wanted, starting.pop() if len(starting) == 1 else None)
        if action is None:
            hint = suggest(wanted, [n for n, i in everything.items() if i in legal])
            self.out.print(f"There is no action {said!r}.{hint} Type ? for help.", markup=False)
        elif action not in legal:
            self.out.print(f"The rules do not allow {self._name(action)} now.", markup=False)
            action = None
        return action

    def _undo(self) -> None:
        if len(self.moments) < 2:
            self.out.print("There is nothing to undo.")
            return
        self.moments.pop()
        moment = self.moments[-1]
        self.batch.states[:] = moment.state
        self.batch.refresh(0)
        del self.actions[moment.taken :]
        self.generator.bit_generator.state = moment.chance
        self._print_table(self.seat)
        self._print_legal()

    def _explain(self, what: str) -> None:
        """Help, an action, a rule by its id, or the rules in which a word stands."""
        if not what:
            self.out.print(HELP, markup=False, end="")
            if self.rules:
                self.out.print(f"rules: {' '.join(self.rules)}", markup=False)
            return
        actions = [a for i, a in enumerate(self.game.actions) if what.lower() in map(str.lower, self._names(i))]
        found = {what.upper(): self.rules[what.upper()]} if what.upper() in self.rules else {}
        found = found or {name: text for name, text in self.rules.items() if what.lower() in text.lower()}
        for action in actions:
            self.out.print(f"{action.name}: {action.meaning}", markup=False)
        for name, text in found.items():
            self.out.print(f"{name}: {text}", markup=False)
        if not actions and not found:
            self.out.print(
                f"Neither an action nor a rule speaks of {what!r}.{suggest(what.upper(), self.rules)}", markup=False
            )

    # --- Printing ------------------------------------------------------------------------

    def _names(self, action: int) -> set[str]:
        card = self.game.actions[action].card
        return {self.game.actions[action].name} | (set() if card is None else {self.game.pack.symbols[card]})

    def _name(self, action: int) -> str:
        card = self.game.actions[action].card
        return self.game.actions[action].name if card is None else self.game.pack.symbols[card]

    def _print_table(self, seat: int | None) -> None:
        colour = self.out.is_terminal and not self.out.no_color
        print(self.game.text(records(self.batch.states)[0], seat, colour), end="")

    def _print_legal(self) -> None:
        """The legal actions with their numbers, in columns."""
        entries = [f"{i:>2} {self._name(action)}" for i, action in enumerate(self._legal(), 1)]
        width = max(map(len, entries)) + 3
        columns = max(1, min(self.out.width, 100) // width)
        for start in range(0, len(entries), columns):
            self.out.print("".join(e.ljust(width) for e in entries[start : start + columns]).rstrip(), markup=False)
