"""Tarot for three, four and five, from the rules (TA-1 to TA-31).

A seat's right neighbour is the next seat (TA-2).  Points are counted in halves.
"""

from __future__ import annotations

from math import ceil
from typing import Any

SUITS = "CDHS"
RANKS = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "C", "Q", "K")  # low to high
TRUMPS = tuple(f"T{i}" for i in range(1, 22))
EXCUSE = "Excuse"
PETIT = "T1"
OUDLERS = {"T21", PETIT, EXCUSE}
PACK = {r + s for r in RANKS for s in SUITS} | set(TRUMPS) | {EXCUSE}
HALVES = {"K": 9, "Q": 7, "C": 5, "J": 3}
BIDS = ("prise", "garde", "garde sans", "garde contre")
FACTORS = {"prise": 1, "garde": 2, "garde sans": 4, "garde contre": 6}
TARGETS = (56, 51, 41, 36)  # by the taker's oudlers (TA-19)
PACKETS = {3: 4, 4: 3, 5: 3}
CHIENS = {3: 6, 4: 6, 5: 3}
POIGNEES = {3: (13, 15, 18), 4: (10, 13, 15), 5: (8, 10, 13)}
POIGNEE_WORDS = ("simple poignee", "double poignee", "triple poignee")
MOST_REDEALS = 16


def is_trump(card: str) -> bool:
    return card in TRUMPS


def is_plain(card: str) -> bool:
    return card != EXCUSE and card not in TRUMPS


def rank(card: str) -> str:
    return card[:-1]


def suit(card: str) -> str:
    """The suit of a card; trumps are one, ``"T"``."""
    return "T" if is_trump(card) else card[-1]


def height(card: str) -> int:
    """Order among the cards of one suit."""
    return int(card[1:]) if is_trump(card) else RANKS.index(rank(card))


def halves(card: str) -> int:
    """Half points of a card (TA-1)."""
    if card in OUDLERS:
        return 9
    return HALVES.get(rank(card), 1) if is_plain(card) else 1


def petit_sec(hand: list[str]) -> bool:
    """TA-4."""
    return [card for card in hand if not is_plain(card)] == [PETIT]


class Tarot:
    """One deal, or a match of several."""

    def __init__(
        self,
        rules: str,
        players: int,
        contract: str,
        episode: str,
        deals_per_match: int | str,
        reward_scale: float,
    ) -> None:
        self.fft = rules == "fft"
        self.n = players
        self.auctioned = contract == "auction"
        self.match = episode == "match"
        self.deals_left = (4 * players if deals_per_match == "auto" else int(deals_per_match)) if self.match else 1
        self.deals = 0
        self.reward_scale = reward_scale
        self.last_dealer: int | None = None
        self.over, self.waiting, self.stalled = False, True, False
        self.rewards, self.scores = [0.0] * players, [0] * players

    # --- Dealing -----------------------------------------------------------------------------

    def deal(self, deck: list[str], chien_places: list[int], dealer: int, redeals: int) -> None:
        """Deals a shuffled pack; the dealer has chosen which cards go to the chien (TA-3)."""
        assert set(deck) == PACK
        assert len(deck) == len(PACK)
        assert len(chien_places) == CHIENS[self.n]
        assert not {0, len(deck) - 1} & set(chien_places)
        if self.last_dealer is not None:  # TA-5
            assert dealer == (self.last_dealer + 1 + redeals) % self.n
        self.dealer = self.last_dealer = dealer
        self.hands: list[list[str]] = [[] for _ in range(self.n)]
        self.chien: list[str] = []
        dealt = 0
        for place, card in enumerate(deck):
            if place in chien_places:
                assert dealt % PACKETS[self.n] == 0, "packets are not broken"
                self.chien.append(card)
            else:
                self.hands[(dealer + 1 + dealt // PACKETS[self.n]) % self.n].append(card)
                dealt += 1
        assert redeals == MOST_REDEALS or not any(map(petit_sec, self.hands))
        self.start_deal()

    def start_deal(self) -> None:
        self.tricks_to_play = len(self.hands[0])
        self.taker, self.contract, self.called = -1, "", ""
        self.laid: list[str] = []
        self.slam_declared = False
        self.poignees: dict[int, str] = {}
        self.to_show, self.shown = 0, list[str]()
        self.table: list[tuple[int, str]] = []
        self.won: list[tuple[int, list[tuple[int, str]]]] = []  # tricks with their winners
        self.waiting = False
        self.deals += 1
        self.player = (self.dealer + 1) % self.n
        self.phase = "auction"
        if not self.auctioned:
            self.taker, self.contract = self.player, "garde"
            self.after_auction()

    # --- Auction, call, chien (TA-6, TA-7, TA-31) --------------------------------------------

    def legal(self) -> set[str]:
        if self.phase == "auction":
            lowest = BIDS.index(self.contract) + 1 if self.contract else 0
            return {"pass", *BIDS[lowest:]}
        if self.phase == "call":
            return self.calls()
        if self.phase == "ecart":
            return self.layable()
        if self.phase == "slam":
            return {"slam", "no slam"}
        if self.to_show:
            return self.showable()
        cards = self.playable()
        if not self.won and self.player not in self.poignees:  # TA-10
            return cards | {word for word in POIGNEE_WORDS if self.can_show(word)}
        return cards

    def play(self, name: str) -> None:
        self.rewards = [0.0] * self.n
        if self.phase == "auction":
            self.decide_bid(name)
        elif self.phase == "call":
            self.called = name
            self.take_chien()
        elif self.phase == "ecart":
            self.lay_away(name)
        elif self.phase == "slam":
            self.slam_declared = name == "slam"
            self.start_play()
        elif self.to_show:
            self.shown.append(name)
            self.to_show -= 1
        elif name in POIGNEE_WORDS:
            self.poignees[self.player] = name
            self.to_show, self.shown = self.size(name), []
        else:
            self.play_card(name)

    def decide_bid(self, name: str) -> None:
        if name != "pass":
            self.taker, self.contract = self.player, name
        if name != "garde contre" and self.player != self.dealer:
            self.player = (self.player + 1) % self.n
        elif self.taker < 0:
            self.end_deal([0] * self.n)
        else:
            self.after_auction()

    def after_auction(self) -> None:
        self.player = self.taker
        if self.n == 5:
            self.phase = "call"
        else:
            self.take_chien()

    def calls(self) -> set[str]:
        """A king; a queen with all kings in hand, and so on (TA-31)."""
        found: set[str] = set()
        for r in ("K", "Q", "C", "J"):
            cards = {r + s for s in SUITS}
            found |= cards
            if not cards <= set(self.hands[self.taker]):
                break
        return found

    def take_chien(self) -> None:
        if self.contract in ("prise", "garde"):
            self.hands[self.taker] += self.chien
            self.chien = []
            self.trumps_to_lay = max(0, CHIENS[self.n] - len(self.free_to_lay()))
            self.phase = "ecart"
        else:
            self.phase = "slam"

    def free_to_lay(self) -> set[str]:
        hand = self.hands[self.taker]
        return {card for card in hand if is_plain(card) and rank(card) != "K" and card != self.called}

    def layable(self) -> set[str]:
        """TA-7: trumps only as far as nothing else is left to lay away."""
        trumps_laid = sum(map(is_trump, self.laid))
        if trumps_laid == self.trumps_to_lay:
            return self.free_to_lay()
        return self.free_to_lay() | {c for c in self.hands[self.taker] if is_trump(c) and c not in OUDLERS}

    def lay_away(self, card: str) -> None:
        self.hands[self.taker].remove(card)
        self.laid.append(card)
        if len(self.laid) == CHIENS[self.n]:
            self.phase = "slam"

    def start_play(self) -> None:
        """TA-9, TA-11."""
        self.phase = "play"
        self.player = self.taker if self.fft and self.slam_declared else (self.dealer + 1) % self.n

    # --- Poignees (TA-10, TA-25) -------------------------------------------------------------

    def size(self, word: str) -> int:
        return POIGNEES[self.n][POIGNEE_WORDS.index(word)]

    def trumps_for(self, word: str) -> list[str]:
        """The trumps that count for a poignee; those laid away count for the triple only."""
        trumps = [card for card in self.hands[self.player] if is_trump(card)]
        if word == "triple poignee" and self.player == self.taker:
            trumps += [card for card in self.laid if is_trump(card)]
        return sorted(trumps, key=height, reverse=True)

    def can_show(self, word: str) -> bool:
        return len(self.trumps_for(word)) + (EXCUSE in self.hands[self.player]) >= self.size(word)

    def showable(self) -> set[str]:
        """Cards are shown from the highest down, so that enough are left; the Excuse only if trumps are too few."""
        word = self.poignees[self.player]
        trumps = self.trumps_for(word)
        cards = trumps if len(trumps) >= self.size(word) else [*trumps, EXCUSE]
        left = cards[cards.index(self.shown[-1]) + 1 :] if self.shown else cards
        return set(left[: len(left) - self.to_show + 1])

    # --- Play --------------------------------------------------------------------------------

    def playable(self) -> set[str]:
        hand = set(self.hands[self.player])
        excuse = hand & {EXCUSE}
        led = next((card for _, card in self.table if card != EXCUSE), None)
        if not self.table:
            return self.leadable(hand) | excuse
        if led is None:  # after a led Excuse any card may be played (TA-12, TA-14)
            return hand
        following = {card for card in hand if card != EXCUSE and suit(card) == suit(led)}
        trumps = {card for card in hand if is_trump(card)}
        if following and suit(led) != "T":
            return following | excuse
        if trumps:  # TA-13a
            best = max((height(card) for _, card in self.table if is_trump(card)), default=0)
            return ({card for card in trumps if height(card) > best} or trumps) | excuse
        return hand

    def leadable(self, hand: set[str]) -> set[str]:
        """What may be led beside the Excuse (TA-12, TA-31)."""
        cards = hand - {EXCUSE}
        if self.called and not self.won:  # the opening lead is not in the called suit
            cards = {card for card in cards if suit(card) != suit(self.called) or card == self.called}
        plain = {card for card in cards if is_plain(card)}
        return cards if self.fft or self.broken() or not plain else plain

    def broken(self) -> bool:
        """Whether a trump has been played."""
        return any(is_trump(card) for _, trick in self.won for _, card in trick)

    def play_card(self, card: str) -> None:
        self.hands[self.player].remove(card)
        self.table.append((self.player, card))
        self.player = (self.player + 1) % self.n
        if len(self.table) == self.n:
            self.end_trick()

    def end_trick(self) -> None:
        trumps = [play for play in self.table if is_trump(play[1])]
        led = next(card for _, card in self.table if card != EXCUSE)
        in_suit = [play for play in self.table if play[1] != EXCUSE and suit(play[1]) == suit(led)]
        self.player = max(trumps or in_suit, key=lambda play: height(play[1]))[0]  # TA-13
        self.won.append((self.player, self.table))
        self.table = []
        if len(self.won) == self.tricks_to_play:
            self.find_partner()
            self.excuse_slam = self.excuse_takes_last()
            if self.excuse_slam:
                trick = self.won[-1][1]
                self.won[-1] = (trick[0][0], trick)
            self.score()

    # --- Scores ------------------------------------------------------------------------------

    def find_partner(self) -> None:
        """Who held the called card, if not the taker (TA-31)."""
        self.partner = -1
        for _, trick in self.won:
            for seat, card in trick:
                if card == self.called and seat != self.taker:
                    self.partner = seat

    def with_taker(self, seat: int) -> bool:
        return seat in (self.taker, self.partner)

    def excuse_takes_last(self) -> bool:
        """TA-14: led to the last trick by a side that has won all before."""
        leader, card = self.won[-1][1][0]
        return card == EXCUSE and all(self.with_taker(w) == self.with_taker(leader) for w, _ in self.won[:-1])

    def takers_cards(self) -> tuple[int, int]:
        """Half points and oudlers of the taker's side (TA-7, TA-8, TA-15, TA-16)."""
        cards = list(self.laid)
        if self.contract == "garde sans":
            cards += self.chien
        points = 0
        for i, (winner, trick) in enumerate(self.won):
            for seat, card in trick:
                kept = card == EXCUSE and i < self.tricks_to_play - 1
                if self.with_taker(seat if kept else winner):
                    cards.append(card)
                if kept and self.with_taker(seat) != self.with_taker(winner):
                    points += -1 if self.with_taker(seat) else 1
        return points + sum(map(halves, cards)), len(OUDLERS & set(cards))

    def petit_au_bout(self) -> int:
        """+1 if the taker's side has it, -1 if the defence, else 0 (TA-14, TA-17)."""
        for winner, trick in self.won[-2 if self.excuse_slam else -1 :]:
            if any(card == PETIT for _, card in trick):
                return 1 if self.with_taker(winner) else -1
        return 0

    def slam_points(self) -> int:
        """TA-9."""
        winners = {self.with_taker(winner) for winner, _ in self.won}
        if winners == {True}:
            return 400 if self.slam_declared else 200
        return (-200 if self.slam_declared else 0) + (-200 if winners == {False} else 0)

    def score(self) -> None:
        """TA-20."""
        self.takers_points, self.takers_oudlers = self.takers_cards()
        over = self.takers_points / 2 - TARGETS[self.takers_oudlers]
        won = 1 if over >= 0 else -1
        factor = FACTORS[self.contract]
        s = won * (25 + ceil(abs(over))) * factor
        s += won * sum((20, 30, 40)[POIGNEE_WORDS.index(word)] for word in self.poignees.values())
        s += self.petit_au_bout() * 10 * (factor if self.fft else 1)
        s += self.slam_points()
        scores = [-s] * self.n
        if self.partner >= 0:
            scores[self.partner] = s
            scores[self.taker] = 2 * s
        else:
            scores[self.taker] = (self.n - 1) * s
        self.end_deal(scores)

    def end_deal(self, scores: list[int]) -> None:
        self.deal_scores = scores
        self.rewards = [self.reward_scale * score for score in scores]
        self.scores = [a + b for a, b in zip(self.scores, scores)]
        self.deals_left -= 1
        self.over, self.waiting = self.deals_left == 0, self.deals_left > 0

    def info(self) -> dict[str, Any]:
        void = self.taker < 0
        told: dict[str, Any] = {
            "void": void,
            "taker": self.taker,
            "partner": -1 if void else self.partner,
            "contract": self.contract or "none",
            "points": 0.0 if void else self.takers_points / 2,
            "oudlers": 0 if void else self.takers_oudlers,
            "deal_scores": self.deal_scores,
        }
        if self.match:
            told["deals"] = self.deals
        return told
