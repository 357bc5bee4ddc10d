"""Avinas, from the rules (AV-1 to AV-19)."""

from __future__ import annotations

from typing import Any

from oracle import rank, suit

PACK = {r + s for r in ("7", "8", "9", "J", "Q", "K", "10", "A") for s in "CDHS"}
POINTS = {"A": 11, "10": 10, "K": 4, "Q": 3, "J": 2, "9": 0, "8": 0, "7": 0}  # AV-3
TARGET = 61
PLAIN = ("7", "8", "9", "K", "10", "A")  # low to high
MARKS = ((31, 1, 2), (2, 2, 4), (0, 3, 6))  # AV-15: losers' points from, marks if defenders lost, if declarers lost
OVERBID_PENALTY = 6  # AV-7b
SIGNS = {"sign none", "sign valuable", "sign worthless"}


def trumps(s: str) -> list[str]:
    """All trumps when a suit is trumps, low to high (AV-2)."""
    low = [r + s for r in ("8", "9", "K", "10", "A")]
    return [*low, "JD", "JH", "JS", "JC", "QD", "QH", "QS", "7" + s, "QC"]


def length(hand: list[str], s: str) -> int:
    """How many trumps a hand would hold (AV-6)."""
    return len(set(hand) & set(trumps(s)))


def pair(seat: int) -> int:
    return seat % 2


class Avinas:
    """One deal, or a match of several."""

    def __init__(
        self, episode: str, stop: str, overbid: str, match_marks: int, max_deals: int, reward_scale: float
    ) -> None:
        self.match = episode == "match"
        self.claim = stop == "claim"
        self.masked = overbid == "masked"
        self.match_marks, self.max_deals = match_marks, max_deals
        self.reward_scale = reward_scale
        self.deals = 0
        self.rams, self.marks = [0, 0], [0, 0]
        self.over, self.waiting, self.stalled = False, True, False
        self.rewards, self.scores = [0.0] * 4, [0] * 4
        self.winner = -1
        self.next_dealer: int | None = None

    # --- Dealing -----------------------------------------------------------------------------

    def deal(self, deck: list[str], dealer: int) -> None:
        """Deals a shuffled pack: two packets of four (AV-4); seat + 1 sits to the left."""
        assert set(deck) == PACK
        assert len(deck) == len(PACK)
        assert self.next_dealer in (None, dealer)
        self.dealer, self.next_dealer = dealer, (dealer + 1) % 4  # AV-1
        order = [(dealer + 1 + i) % 4 for i in range(4)]
        self.hands: list[list[str]] = [[], [], [], []]
        packs = [deck[i : i + 4] for i in range(0, 32, 4)]
        for i, packet in enumerate(packs):
            self.hands[order[i % 4]] += packet
        self.dealt = [list(hand) for hand in self.hands]
        sevens = [
            (self.hands[seat][place], seat)
            for place in (3, 7)
            for seat in order
            if rank(self.hands[seat][place]) == "7"
        ]  # whoever owns a seven in these places shows it
        self.sevens = len(sevens)
        self.declarer, self.bid, self.trump = -1, 0, ""
        self.points = [0, 0]
        self.loser, self.penalty = -1, 0
        self.knocks = 0
        self.trick, self.table = 1, list[tuple[int, str]]()
        self.waiting = False
        self.deals += 1
        if sevens:  # AV-5
            card, self.declarer = sevens[-1]
            self.trump = suit(card)
            self.ask([(self.declarer, "knock"), ((self.declarer + 2) % 4, "knock")])
        else:
            self.ask([(seat, "bid") for seat in order])

    # --- Questions ---------------------------------------------------------------------------

    def ask(self, questions: list[tuple[int, str]]) -> None:
        """Puts questions to seats, in turn."""
        self.questions = questions
        self.player = questions[0][0]

    @property
    def question(self) -> str:
        return self.questions[0][1]

    def next_question(self) -> bool:
        """Goes on to the next question, if there is one."""
        if len(self.questions) == 1:
            return False
        self.ask(self.questions[1:])
        return True

    def legal(self) -> set[str]:
        hand = self.hands[self.player]
        if self.question == "bid":
            longest = max(length(hand, s) for s in "CDHS") if self.masked else 8
            return {"pass"} | {f"bid {n}" for n in range(self.bid + 1, longest + 1)}
        if self.question == "name":
            return {f"trumps {s}" for s in "CDHS" if self.reaches(s)}
        if self.question == "play":
            return self.playable()
        return {
            "knock": {"pass", "knock"},
            "stop": {"pass", "stop"},
            "face": {"face up", "face down"},
            "lead anything": set(hand),
            "lead anything hidden": set(hand),
            "sign": SIGNS,
        }[self.question]

    def reaches(self, s: str) -> bool:
        """Whether the declarer's eight cards reach his bid in a suit (AV-7a), where they must."""
        return not self.masked or length(self.dealt[self.declarer], s) >= self.bid

    def playable(self) -> set[str]:
        hand = self.hands[self.player]
        if not self.trump:  # the first lead names the suit, unless a queen or jack leaves it open
            return {card for card in hand if rank(card) in ("Q", "J") or self.reaches(suit(card))}
        held = {card for card in hand if card in trumps(self.trump)}
        if not self.table:  # AV-8, AV-9
            return held if self.trick == 1 or (self.trick == 2 and held) else set(hand)
        led = self.table[0][1]
        if self.trick == 2 or led in trumps(self.trump):  # AV-9: any lead to trick 2 counts as a trump
            return held or set(hand)
        return {card for card in hand if suit(card) == suit(led) and card not in held} or set(hand)

    # --- Decisions ---------------------------------------------------------------------------

    def play(self, name: str) -> None:
        question = self.question
        if question == "bid":
            self.decide_bid(name)
        elif question == "knock":
            self.decide_knock(name)
        elif question == "name":
            self.name_trumps(name[-1])
        elif question == "stop":
            if name == "stop":
                self.count()
            elif not self.next_question():
                self.lead()
        elif question == "face":
            self.ask([(self.player, "lead anything hidden" if name == "face down" else "lead anything")])
        elif question == "sign":
            self.ask_next_seat()
        else:
            self.play_card(name)

    def decide_bid(self, name: str) -> None:
        if name != "pass":
            self.bid, self.declarer = int(name.split()[1]), self.player
        if self.next_question():
            return
        if self.declarer < 0:
            self.end_deal("passed out")
            return
        self.leader = self.declarer
        self.ask([(self.declarer, "play")])

    def decide_knock(self, name: str) -> None:
        if name == "knock":
            self.knocks += 1
            if self.knocks == 1:  # the defenders may knock back, the one to the declarer's left first (AV-11)
                self.ask([((self.declarer + 1) % 4, "knock"), ((self.declarer + 3) % 4, "knock")])
                return
        elif self.next_question():
            return
        self.leader = self.declarer
        self.ask([(self.declarer, "play")])

    def name_trumps(self, s: str) -> None:
        """The suit becomes public; the bid is put to the test (AV-7, AV-7b)."""
        self.trump = s
        if length(self.dealt[self.declarer], s) >= self.bid:
            self.ask_next_seat()
            return
        self.loser, self.penalty = pair(self.declarer), OVERBID_PENALTY
        self.end_deal("overbid")

    def play_card(self, card: str) -> None:
        hidden = self.question == "lead anything hidden"
        self.hands[self.player].remove(card)
        self.table.append((self.player, card))
        if not self.trump:
            if rank(card) in ("Q", "J"):
                self.ask([(self.player, "name")])
            else:
                self.name_trumps(suit(card))
        elif hidden:
            self.ask([(self.player, "sign")])
        else:
            self.ask_next_seat()

    def ask_next_seat(self) -> None:
        if len(self.table) == 4:
            self.end_trick()
        else:
            self.ask([((self.table[-1][0] + 1) % 4, "play")])

    def end_trick(self) -> None:
        order = trumps(self.trump)
        led = self.table[0][1]

        def strength(play: tuple[int, str]) -> tuple[int, int]:
            card = play[1]
            if card in order:
                return 2, order.index(card)
            return (1, PLAIN.index(rank(card))) if suit(card) == suit(led) else (0, 0)

        self.leader = max(self.table, key=strength)[0]
        if self.trick == 2:
            assert any(card in order for _, card in self.table)
        self.points[pair(self.leader)] += sum(POINTS[rank(card)] for _, card in self.table)
        self.table = []
        self.trick += 1
        declarers = pair(self.declarer)
        if self.knocks and (pair(self.leader) != declarers or self.trick == 9):  # AV-11
            self.award_rams(lost=pair(self.leader) != declarers)
        elif self.trick == 9:
            self.count()
        elif not self.sevens and (not self.claim or self.points[declarers] >= TARGET):  # AV-14
            self.ask([(self.declarer, "stop"), ((self.declarer + 2) % 4, "stop")])
        else:
            self.lead()

    def lead(self) -> None:
        no_trump = not set(self.hands[self.leader]) & set(trumps(self.trump))
        self.ask([(self.leader, "face" if self.trick == 2 and no_trump else "play")])

    # --- Results -----------------------------------------------------------------------------

    def count(self) -> None:
        """The deal is stopped or played out: have the declarers 61?"""
        declarers = pair(self.declarer)
        lost = self.points[declarers] < TARGET
        if self.sevens:
            self.award_rams(lost)
            return
        self.loser = declarers if lost else 1 - declarers
        row = next(row for row in MARKS if self.points[self.loser] >= row[0])
        self.penalty = row[2 if lost else 1]
        self.marks[self.loser] += self.penalty
        self.end_deal("marks")

    def award_rams(self, lost: bool) -> None:
        """AV-12, AV-13: rams first strike out those of the other pair."""
        self.loser = pair(self.declarer) if lost else 1 - pair(self.declarer)
        self.penalty = self.sevens * (1, 2, 4)[self.knocks]
        other = 1 - self.loser
        struck = min(self.penalty, self.rams[other])
        self.rams[other] -= struck
        self.rams[self.loser] += self.penalty - struck
        self.end_deal("rams")

    def end_deal(self, ending: str) -> None:
        self.ending = ending
        if not self.match:
            self.over = True
            if self.loser >= 0:
                self.winner = 1 - self.loser
                self.scores = [-self.penalty if pair(seat) == self.loser else 0 for seat in range(4)]
                signs = [-1 if pair(seat) == self.loser else 1 for seat in range(4)]
                self.rewards = [self.reward_scale * self.penalty * sign for sign in signs]
        elif ending == "overbid":
            self.end_match(1 - self.loser)
        elif max(self.marks) >= self.match_marks:
            self.end_match(self.match_winner())
        elif self.deals == self.max_deals:
            self.stalled = True
            self.end_match(-1)
        self.waiting = not self.over

    def match_winner(self) -> int:
        """AV-17; -1 for a draw."""
        if min(self.marks) == 0:
            return self.marks.index(0)
        a, b = self.rams if any(self.rams) else self.marks
        return -1 if a == b else int(b < a)

    def end_match(self, winner: int) -> None:
        self.over, self.winner = True, winner
        self.scores = [-self.marks[pair(seat)] for seat in range(4)]
        if winner >= 0:
            self.rewards = [self.reward_scale * (1 if pair(seat) == winner else -1) for seat in range(4)]

    def info(self) -> dict[str, Any]:
        return {
            "ending": self.ending,
            "declarer": self.declarer,
            "points": self.points,
            "loser": self.loser,
            "penalty": self.penalty,
            "rams": self.rams,
            "marks": self.marks,
            "deals": self.deals,
            "winner": self.winner,
        }
