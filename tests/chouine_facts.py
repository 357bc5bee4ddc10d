"""What the rules of Chouine let a seat know, from the state and read back from its observation.

The seat itself is player 0 here and the opponent player 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardgym.games.chouine import ANNOUNCE, CARDS, DECLINE, POINTS, QUINTE, RANKS, STOCK, SWAP, TABLE, TEN, WON
from cardgym.testing import Fact

RANKS_OF_KIND = ({5, 4}, {5, 4, 3}, {7, 5, 4, 3}, {7, 6, 5, 4, 3})  # CH-14, ranks counted from the seven
Parts = Mapping[str, np.ndarray]


def cards(flags: np.ndarray) -> tuple[int, ...]:
    return tuple(int(c) for c in np.flatnonzero(flags))


def one(flags: np.ndarray) -> int | None:
    found = np.flatnonzero(flags)
    assert len(found) <= 1
    return int(found[0]) if len(found) else None


def pair(s_values: Any, seat: int) -> tuple[int, int]:
    return int(s_values[seat]), int(s_values[1 - seat])


# --- The cards -------------------------------------------------------------------------------


def true_known(s: Any, seat: int) -> Any:
    """Whose hand holds which cards for all to see (CH-15)."""
    return tuple(cards((s.place == who) & (s.proven[who] != 0)) for who in (seat, 1 - seat))


def read_known(p: Parts) -> Any:
    """The opponent's stand there; one's own follow from what oneself announced, showed, swapped and drew openly."""
    turn_up = one(p["turn_up"])
    seven = RANKS * int(p["trump"].argmax())
    shown = set()
    for suit in range(4):
        for kind, ranks in enumerate(RANKS_OF_KIND):
            if p["announced"][0, suit, kind]:
                shown |= {suit * RANKS + rank for rank in ranks}
        shown |= {suit * RANKS + TEN + i for i in range(2) if p["quinte_cards"][0, suit, i]}
    if p["swapped_in"][0]:
        shown.add(turn_up)
    lost_trick_11 = p["trick"].argmax() >= 11 and not ((p["played_in"] == 11) & p["own_tricks"]).any()
    if lost_trick_11:
        shown.add(seven if p["swapped_in"].any() else turn_up)
    return tuple(sorted(shown & set(cards(p["hand"])))), cards(p["known"])


def true_unseen(s: Any, seat: int) -> Any:
    """Cards that may be anywhere out of sight, and how many of them lie in the stock, the turn-up included."""
    hidden = (s.place == STOCK) | ((s.place == 1 - seat) & (s.proven[1 - seat] == 0))
    return cards(hidden), CARDS - int(s.next_draw) + int(s.under >= 0)


def read_unseen(p: Parts) -> Any:
    """Each trick that is complete, up to the eleventh, took two cards from 22."""
    complete = int(p["trick"].argmax()) + int(
        p["trick"].argmax() == 15 and not p["hand"].any() and not p["table"].any()
    )
    return cards(p["unseen"]), 22 - 2 * min(complete, 11)


# --- The play --------------------------------------------------------------------------------


def true_log(s: Any, seat: int) -> Any:
    """All decisions of the deal in order: who, and what."""
    n = int(s.log_length)
    return tuple((int(w != seat), int(a)) for w, a in zip(s.log_seat[:n], s.log_action[:n], strict=True))


def read_log(p: Parts) -> Any:
    """Trick by trick: leader first, and of each player the swap, the announcement, the card."""
    log: list[tuple[int, int]] = []
    leader = 1 if p["dealer"][0] else 0
    for trick in range(1, int(p["trick"].argmax()) + 2):
        asked = trick == 11 and bool(p["au_sept"][0])
        if asked and not p["phase"][1]:
            follower = 1 - leader
            log.append((follower, SWAP if p["swapped_in"][follower] == 11 else DECLINE))
        for who in (leader, 1 - leader):
            if p["swapped_in"][who] == trick and not (asked and who != leader):
                log.append((who, SWAP))
            log += [(who, word) for word in announced_by(p, who, trick)]
            log += [(who, card) for card in played(p, who, trick)]
        leader = 0 if ((p["played_in"] == trick) & p["own_tricks"]).any() else 1
    return tuple(log)


def announced_by(p: Parts, who: int, trick: int) -> list[int]:
    said = [
        ANNOUNCE + suit * 4 + kind
        for suit in range(4)
        for kind in range(4)
        if p["announced"][who, suit, kind] and p["announced_in"][who, suit] == trick
    ]
    return said + [QUINTE] * int(p["quinte_in"][who] == trick)


def played(p: Parts, who: int, trick: int) -> tuple[int, ...]:
    return cards((p["played_in"] == trick) & (p["played_by_me"] == (who == 0)))


def true_tricks(s: Any, seat: int) -> Any:
    """Own tricks, and of the opponent's the last one (CH-10): card, number of the trick, who played it."""
    tricks = [int(s.trick_of[c]) for c in range(CARDS) if s.place[c] == WON + 1 - seat]
    last = max(tricks, default=0)
    own = [c for c in range(CARDS) if s.place[c] == WON + seat]
    open_ones = [c for c in range(CARDS) if s.place[c] == WON + 1 - seat and s.trick_of[c] == last]
    return tuple(
        tuple((c, int(s.trick_of[c]), int(s.played_by[c] != seat + 1)) for c in pile)
        for pile in (own, open_ones, cards(s.place == TABLE))
    )


def read_tricks(p: Parts) -> Any:
    last = max((int(t) for t in p["played_in"][p["opponent_tricks"] == 1]), default=0)
    piles = (p["own_tricks"], p["opponent_tricks"] & (p["played_in"] == last), p["table"])
    return tuple(
        tuple((c, int(p["played_in"][c]), int(not p["played_by_me"][c])) for c in cards(pile)) for pile in piles
    )


def true_phase(s: Any, seat: int) -> Any:
    acts = -1 if s.over else int(s.player != seat)
    return int(s.trick), int(s.leader != seat), int(s.dealer != seat), acts, int(s.phase), int(s.pending)


def read_phase(p: Parts) -> Any:
    """Who acts: the observer, or nobody once all is played or a chouine has been decided, or the opponent."""
    trick = int(p["trick"].argmax()) + 1
    leader = int(not p["leader"][0])
    acts = 0 if p["to_act"][0] else (-1 if is_over(p) else 1)
    waiting = -1
    if p["phase"][2]:
        who = leader if not p["table"].any() else 1 - leader
        waiting = announced_by(p, who, trick)[-1]
    return trick, leader, int(not p["dealer"][0]), acts, int(p["phase"][1]), waiting


def is_over(p: Parts) -> bool:
    trick = int(p["trick"].argmax()) + 1
    chouine_now = any(
        p["announced"][who, suit, 3] and p["announced_in"][who, suit] == trick for who in range(2) for suit in range(4)
    )
    in_trick = int((p["played_in"] == trick).sum())
    return in_trick == 2 and (trick == 16 or chouine_now)


# --- Points ----------------------------------------------------------------------------------


def true_own_points(s: Any, seat: int) -> Any:
    return int(s.card_points[seat])


def read_own_points(p: Parts) -> Any:
    return points_of(p, "own_tricks")


def true_points(s: Any, seat: int) -> Any:
    return pair(s.card_points, seat)


def read_points(p: Parts) -> Any:
    for i, pile in enumerate(("own_tricks", "opponent_tricks")):
        assert p["points"][i] == points_of(p, pile) // 2
    return points_of(p, "own_tricks"), points_of(p, "opponent_tricks")


def points_of(p: Parts, pile: str) -> int:
    """CH-20: ten for the last trick."""
    last = 10 if ((p["played_in"] == 16) & p[pile]).any() else 0
    return last + sum(int(POINTS[c % RANKS]) for c in cards(p[pile]))


def true_announcements(s: Any, seat: int) -> Any:
    return tuple(
        (
            tuple(map(int, s.announced[w])),
            tuple(map(int, s.announced_in[w])),
            tuple(map(int, s.quinte_cards[w].ravel())),
        )
        for w in (seat, 1 - seat)
    )


def read_announcements(p: Parts) -> Any:
    return tuple(
        (
            (*(int((p["announced"][w, x] * (1, 2, 3, 4)).sum()) for x in range(4)), int(p["quinte"][w])),
            (*(int(x) for x in p["announced_in"][w]), int(p["quinte_in"][w])),
            tuple(int(x) for x in p["quinte_cards"][w].ravel()),
        )
        for w in range(2)
    )


TABLE_FACTS = {
    "own hand": Fact(lambda s, seat: cards(s.place == seat), lambda p: cards(p["hand"])),
    "publicly known cards": Fact(true_known, read_known),
    "open tricks": Fact(true_tricks, read_tricks),
    "announcements": Fact(true_announcements, read_announcements),
    "swap": Fact(
        lambda s, seat: tuple(int(s.swapped_in) * int(s.swapped_by == w) for w in (seat, 1 - seat)),
        lambda p: tuple(int(x) for x in p["swapped_in"]),
    ),
    "au sept": Fact(lambda s, seat: int(s.called), lambda p: int(p["au_sept"][0])),
    "turn-up": Fact(
        lambda s, seat: (int(s.trump), int(s.deck[10]), None if s.under < 0 else int(s.under)),
        lambda p: (one(p["trump"]), one(p["turn_up"]), one(p["under_stock"])),
    ),
    "own points": Fact(true_own_points, read_own_points),
    "announced points": Fact(
        lambda s, seat: pair(s.announced_points, seat), lambda p: tuple(int(x) * 10 for x in p["announced_points"])
    ),
    "match score": Fact(
        lambda s, seat: (*pair(s.wins, seat), *pair(s.manches_won, seat)),
        lambda p: (*(int(x) for x in p["wins"]), *(int(x) for x in p["manches"])),
    ),
}
"""Facts that lie open at the table (CH-10)."""

FACTS = {
    **TABLE_FACTS,
    "decisions in order": Fact(true_log, read_log),
    "phase": Fact(true_phase, read_phase),
    "cards out of sight": Fact(true_unseen, read_unseen),
    "points": Fact(true_points, read_points),
}
"""Those and what perfect memory adds."""
