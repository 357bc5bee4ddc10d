"""Chouine, from the rules (CH-1 to CH-21)."""

from __future__ import annotations

from typing import Any

from oracle import rank, suit

RANKS = ("7", "8", "9", "J", "Q", "K", "10", "A")  # low to high (CH-1)
POINTS = {"A": 11, "10": 10, "K": 4, "Q": 3, "J": 2, "9": 0, "8": 0, "7": 0}
PACK = {r + s for r in RANKS for s in "CDHS"}
COMBINATIONS = {  # CH-14
    "marriage": ("K", "Q"),
    "tierce": ("K", "Q", "J"),
    "quarteron": ("A", "K", "Q", "J"),
    "chouine": ("A", "10", "K", "Q", "J"),
}
VALUES = {"marriage": 20, "tierce": 30, "quarteron": 40}
BRISQUES = ("A", "10")
LAST_TRICK = 10
HAND = 5


class Chouine:
    """One deal, or a match of several."""

    def __init__(
        self, episode: str, reward: str, quinte: int, wins_per_manche: int, manches: int, reward_scale: float
    ) -> None:
        self.match = episode == "match"
        self.margin = reward == "margin"
        self.quinte_value = quinte
        self.wins_per_manche, self.manches_to_win = wins_per_manche, manches // 2 + 1
        self.reward_scale = reward_scale
        self.deals = 0
        self.wins = [0, 0]  # in this manche
        self.all_wins = [0, 0]
        self.manches = [0, 0]
        self.next_dealer: int | None = None  # None: the players draw for it
        self.higher_drawer = 0
        self.over, self.waiting, self.stalled = False, True, False
        self.rewards, self.scores = [0.0, 0.0], [0, 0]

    # --- Dealing -----------------------------------------------------------------------------

    def deal(self, deck: list[str], drawn: list[str]) -> None:
        """Deals a pack that is shuffled and cut; ``drawn`` are the cards by which the first dealer was found."""
        assert set(deck) == PACK
        assert len(deck) == len(PACK)
        if self.next_dealer is None:  # CH-2: the lower card deals
            first, second = (RANKS.index(rank(card)) for card in drawn)
            assert first != second, "equal cards are drawn again"
            self.next_dealer = 0 if first < second else 1
            self.higher_drawer = 1 - self.next_dealer
        self.dealer = self.next_dealer
        elder = 1 - self.dealer
        self.hands: list[list[str]] = [[], []]
        for i in range(2 * HAND):  # CH-3: one at a time, the dealer's opponent first
            self.hands[elder if i % 2 == 0 else self.dealer].append(deck[i])
        self.turn_up = deck[2 * HAND]
        self.trump = suit(self.turn_up)
        self.stock = deck[2 * HAND + 1 :] + [self.turn_up]  # drawn from the front, the turn-up last
        self.trick = 1
        self.leader = self.player = elder  # CH-5
        self.table: list[str] = []
        self.declared: list[str | None] = [None, None]  # what each announced in this trick
        self.bound: str | None = None  # announced, its card not yet played
        self.reminded = False  # the question of CH-13 is open
        self.suits_used: list[set[str]] = [set(), set()]
        self.quintes = [False, False]
        self.taken = [0, 0]
        self.announced = [0, 0]
        self.gone: set[str] = set()
        self.deals += 1
        self.waiting = False

    # --- What may be done --------------------------------------------------------------------

    def legal(self) -> set[str]:
        hand = self.hands[self.player]
        if self.reminded:
            return {"decline", "swap"} if self.seven in hand else {"decline"}
        cards = self.playable()
        if self.bound is not None:  # CH-18: only a card of what was just announced
            return cards & self.combination(self.bound)
        words = {word for word in self.announcements() if cards & self.combination(word)}
        if self.can_swap():
            words.add("swap")
        return cards | words

    @property
    def seven(self) -> str:
        return "7" + self.trump

    def can_swap(self) -> bool:
        """CH-11, CH-12: in tricks 1 to 10, and before the lead to trick 11."""
        in_time = self.trick <= 10 or (self.trick == 11 and not self.table)
        return in_time and self.seven in self.hands[self.player]

    def playable(self) -> set[str]:
        """The cards that may be played, announcements apart."""
        hand = set(self.hands[self.player])
        if not self.table or self.stock:  # CH-5, CH-6
            return hand
        led = self.table[0]
        following = {card for card in hand if suit(card) == suit(led)}
        trumps = {card for card in hand if suit(card) == self.trump}
        if suit(led) == self.trump:  # CH-9: head a trump
            higher = {card for card in trumps if RANKS.index(rank(card)) > RANKS.index(rank(led))}
            return higher or trumps or hand
        return following or trumps or hand

    def combination(self, word: str) -> set[str]:
        """The cards of an announcement in the hand of the player to act."""
        if word == "quinte":
            return {card for card in self.hands[self.player] if rank(card) in BRISQUES}
        name, s = word.split()
        return {r + s for r in COMBINATIONS[name]}

    def announcements(self) -> set[str]:
        """Whole combinations in hand that may still be announced (CH-15, CH-16)."""
        hand = set(self.hands[self.player])
        words = set()
        for name in COMBINATIONS:
            for s in "CDHS":
                word = f"{name} {s}"
                if s not in self.suits_used[self.player] and self.combination(word) <= hand:
                    words.add(word)
        if not self.quintes[self.player] and len(self.combination("quinte")) == HAND:
            words.add("quinte")
        return words

    # --- Doing it ----------------------------------------------------------------------------

    def play(self, name: str) -> None:
        if name == "decline":
            self.reminded, self.player = False, self.leader
        elif name == "swap":
            self.swap()
        elif name in PACK:
            self.play_card(name)
        else:
            self.announce(name)

    def swap(self) -> None:
        hand = self.hands[self.player]
        hand.remove(self.seven)
        hand.append(self.turn_up)
        self.turn_up = self.stock[-1] = self.seven
        if self.reminded:
            self.reminded, self.player = False, self.leader

    def announce(self, word: str) -> None:
        self.bound = self.declared[self.player] = word
        if word == "quinte":
            self.quintes[self.player] = True
            self.announced[self.player] += self.quinte_value
            return
        name, s = word.split()
        self.suits_used[self.player].add(s)
        if name != "chouine":
            self.announced[self.player] += VALUES[name] * (2 if s == self.trump else 1)

    def play_card(self, card: str) -> None:
        self.hands[self.player].remove(card)
        self.table.append(card)
        self.bound = None
        if len(self.table) == 1:
            self.player = 1 - self.leader
        else:
            self.end_trick()

    def end_trick(self) -> None:
        led, reply = self.table
        if suit(reply) == suit(led):
            reply_wins = RANKS.index(rank(reply)) > RANKS.index(rank(led))
        else:
            reply_wins = suit(reply) == self.trump  # CH-7
        winner = 1 - self.leader if reply_wins else self.leader
        self.taken[winner] += POINTS[rank(led)] + POINTS[rank(reply)]
        self.gone.update(self.table)
        chouines = {seat: word for seat, word in enumerate(self.declared) if word and word.startswith("chouine")}
        if chouines:
            self.end_by_chouine(chouines)
            return
        if self.stock:  # CH-8
            self.hands[winner].append(self.stock.pop(0))
            self.hands[1 - winner].append(self.stock.pop(0))
        self.table, self.declared = [], [None, None]
        self.leader = self.player = winner
        self.trick += 1
        if self.trick == 17:
            self.taken[winner] += LAST_TRICK
            self.end_deal(chouine=False, winner=self.higher_total())
        elif self.trick == 11 and self.turn_up != self.seven and self.seven not in self.gone:  # CH-13
            self.reminded, self.player = True, 1 - self.leader

    def end_by_chouine(self, chouines: dict[int, str]) -> None:
        """CH-19: of two chouines the one in trumps wins, else the leader's; what else this trick announced is void."""
        for seat, word in enumerate(self.declared):
            if word is not None and seat not in chouines:
                value = self.quinte_value if word == "quinte" else VALUES[word.split()[0]]
                self.announced[seat] -= value * (2 if suit(word) == self.trump else 1)
        winner = next(iter(chouines))
        if len(chouines) == 2:
            in_trumps = [seat for seat, word in chouines.items() if suit(word) == self.trump]
            winner = in_trumps[0] if in_trumps else self.leader
        self.end_deal(chouine=True, winner=winner)

    # --- Results -----------------------------------------------------------------------------

    @property
    def totals(self) -> list[int]:
        return [self.taken[seat] + self.announced[seat] for seat in (0, 1)]

    def higher_total(self) -> int | None:
        a, b = self.totals
        return None if a == b else int(b > a)

    def end_deal(self, chouine: bool, winner: int | None) -> None:
        self.by_chouine, self.deal_winner = chouine, winner
        if not self.match:
            self.over, self.scores = True, self.totals
            self.rewards = [self.reward_scale * self.deal_reward(seat) for seat in (0, 1)]
            return
        self.next_dealer = self.dealer  # CH-4: a tied deal is dealt again by the same player
        if winner is not None:
            self.next_dealer = 1 - self.dealer
            self.wins[winner] += 1
            self.all_wins[winner] += 1
            if self.wins[winner] == self.wins_per_manche:
                self.end_manche(winner)
        self.waiting = not self.over

    def end_manche(self, winner: int) -> None:
        """CH-21."""
        self.manches[winner] += 1
        if self.manches[winner] == self.manches_to_win:
            self.over, self.scores = True, self.all_wins
            self.rewards = [self.reward_scale * (1 if seat == winner else -1) for seat in (0, 1)]
            return
        self.wins = [0, 0]
        self.next_dealer = self.higher_drawer if sum(self.manches) == 1 else None

    def deal_reward(self, seat: int) -> float:
        if self.deal_winner is None:
            return 0.0
        sign = 1 if seat == self.deal_winner else -1
        if not self.margin or self.by_chouine:
            return sign
        difference = (self.totals[seat] - self.totals[1 - seat]) / 100
        return sign / 2 + max(-1.0, min(1.0, difference)) / 2

    def info(self) -> dict[str, Any]:
        winner = -1 if self.deal_winner is None else self.deal_winner
        told: dict[str, Any] = {"totals": self.totals, "chouine": self.by_chouine, "winner": winner}
        if self.match:
            told |= {"deals": self.deals, "wins": self.wins, "manches": self.manches}
        return told
