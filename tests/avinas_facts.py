"""What the rules of Avinas let a seat know, from the state and read back from its observation.

Seats are counted clockwise from the observer: 0 himself, 2 his partner.  Answers "go on" to the question about stopping
are left out of the decisions: which were given follows from the option ``stop``, the points and who is asked now.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from avinas_referee import PACK, SUITS, class_of, rank_of, taker, value

from cardgym.games.avinas import BIDDING, GAME, SIGNING
from cardgym.testing import Fact

Parts = Mapping[str, np.ndarray]
NAMES = [a.name for a in GAME.actions]


def around(values: Any, seat: int) -> tuple[int, ...]:
    return tuple(int(values[(seat + k) % 4]) for k in range(4))


def numbers(part: np.ndarray) -> tuple[int, ...]:
    return tuple(int(x) for x in part.ravel())


def from_here(seat: int, other: int) -> int | None:
    return None if other < 0 else (int(other) - seat) % 4


def cards(flags: np.ndarray) -> tuple[str, ...]:
    return tuple(PACK[c] for c in np.flatnonzero(flags))


def one(flags: np.ndarray) -> int | None:
    found = np.flatnonzero(flags)
    assert len(found) <= 1
    return int(found[0]) if len(found) else None


# --- Cards -----------------------------------------------------------------------------------


def true_turned_up(s: Any, seat: int) -> Any:
    """Card, place in the order, owner (AV-4)."""
    return tuple((c, int(s.turned[c]), from_here(seat, s.owner[c])) for c in np.flatnonzero(s.turned))


def read_turned_up(p: Parts) -> Any:
    return tuple((c, int(p["turned_up"][c]), read_owner(p, c)) for c in np.flatnonzero(p["turned_up"]))


def read_owner(p: Parts, card: int) -> int | None:
    if p["hand"][card] or p["down"][card]:
        return 0
    return one(np.array([p["played_by"][who, card] or (who and p["known"][who - 1, card]) for who in range(4)]))


def true_looked_at(s: Any, seat: int) -> Any:
    """AV-18: the dealer knows his own two cards and his partner's, the partner which two of his own."""
    if seat == s.dealer:
        return tuple((c, from_here(seat, s.owner[c])) for c in np.flatnonzero(s.looked))
    return tuple((c, 0) for c in np.flatnonzero(s.looked & (s.owner == seat)))


def read_looked_at(p: Parts) -> Any:
    return tuple((c, read_owner(p, c)) for c in np.flatnonzero(p["looked_at"]))


def true_known(s: Any, seat: int) -> Any:
    """Cards known to be in each hand, where a card that lies face down counts as in hand for the others (AV-8)."""
    sure = (s.turned != 0) | ((seat == s.dealer) & (s.looked != 0))
    return tuple(cards((s.owner == (seat + k) % 4) & (s.trick_of == 0) & sure) for k in (1, 2, 3))


def read_known(p: Parts) -> Any:
    return tuple(cards(p["known"][k]) for k in range(3))


def true_unseen(s: Any, seat: int) -> Any:
    sure = (s.turned != 0) | ((seat == s.dealer) & (s.looked != 0))
    return cards((s.owner != seat) & (s.trick_of == 0) & ~sure)


def true_hand(s: Any, seat: int) -> Any:
    return cards((s.owner == seat) & (s.trick_of == 0) & (np.arange(32) != s.down))


# --- Decisions -------------------------------------------------------------------------------


def true_log(s: Any, seat: int) -> Any:
    """All decisions in order, who and what; None stands for what the seat may not see."""
    log: list[tuple[int | None, str | None]] = []
    for n in range(s.log_length):
        who, action = int(s.log_seat[n]), NAMES[s.log_action[n]]
        covered = n > 0 and log[-1][1] == "face down" and s.down >= 0 and who != seat
        secret = action.startswith("sign") and s.sign == 0 and (who - seat) % 2 == 1
        log.append((from_here(seat, who), None if covered or secret else action))
    played = [n for n in range(s.log_length) if s.log_action[n] < 32 or NAMES[s.log_action[n]].startswith("face")]
    first = played[0] if played else int(s.log_length)
    return tuple(entry for n, entry in enumerate(log) if n < first or entry[1] != "pass")


def read_log(p: Parts) -> Any:
    log = read_words(p)
    declarer, trump = one(p["declarer"]), one(p["trump"])
    if p["phase"].argmax() == BIDDING:
        return tuple(log)
    leader = declarer
    for trick in range(1, int(p["trick"].argmax()) + 2):
        table = read_trick(p, trick, leader)
        if trick == 1 and len(table) and not p["sevens"][0] and trump is not None and rank_of(table[0][1]) in "QJ":
            log += [table[0], (leader, f"trumps {SUITS[trump]}"), *table[1:]]
        elif trick == 2 and p["face"].any():
            log += [(leader, "face down" if p["face"][1] else "face up"), *with_sign(p, leader, table)]
        else:
            log += table
        if len(table) == 4 and all(card for _, card in table):
            led = "trumps" if trick <= 2 else class_of(table[0][1], SUITS[trump])
            leader = taker(table, SUITS[trump], led)
    if p["stopped"].any():
        log.append((one(p["stopped"]), "stop"))
    return tuple(log)


def read_words(p: Parts) -> list[tuple[int | None, str | None]]:
    """Bids from the dealer's left, or knocks: declarer, his partner, the defender to his left, the other."""
    if p["sevens"][0]:
        declarer = one(p["declarer"])
        order = [(declarer + k) % 4 for k in (0, 2, 1, 3)]
        return [(who, ("pass", "knock")[p["knocks"][who] - 1]) for who in order if p["knocks"][who]]
    order = [(one(p["dealer"]) + k) % 4 for k in (1, 2, 3, 4)]
    bids = p["bids"]
    return [(who, "pass" if bids[who] == 1 else f"bid {bids[who] - 1}") for who in order if bids[who]]


def read_trick(p: Parts, trick: int, leader: int) -> list[tuple[int | None, Any]]:
    """The cards of a trick; a covered one is None, or known to its leader."""
    table: list[tuple[int | None, Any]] = []
    for who in ((leader + k) % 4 for k in range(4)):
        found = one((p["played_in"] == trick) & p["played_by"][who])
        if found is not None:
            table.append((who, PACK[found]))
        elif who == leader and trick == 2 and p["face"][1] and is_covered(p, leader):
            table.append((who, PACK[one(p["down"])] if p["down"].any() else None))
    return table


def is_covered(p: Parts, leader: int) -> bool:
    """Has the leader, who chose to lead face down, done so?"""
    return bool(p["phase"].argmax() == SIGNING or not p["to_act"][leader])


def with_sign(p: Parts, leader: int, table: list[tuple[int | None, Any]]) -> list[tuple[int | None, Any]]:
    if not p["face"][1] or not table or (p["phase"].argmax() == SIGNING):
        return table
    sign = one(p["sign"])
    name = None if sign is None else ("sign none", "sign valuable", "sign worthless")[sign]
    return [table[0], (leader, name), *table[1:]]


def true_now(s: Any, seat: int) -> Any:
    """Phase, who acts, trick, leader, declarer, dealer, trump suit, sevens."""
    acts = None if s.over else from_here(seat, s.player)
    people = tuple(from_here(seat, x) for x in (s.leader, s.declarer, s.dealer))
    return int(s.phase), acts, int(s.trick), *people, None if s.trump < 0 else int(s.trump), int(s.sevens)


def read_now(p: Parts) -> Any:
    people = tuple(one(p[name]) for name in ("leader", "declarer", "dealer"))
    return (
        int(p["phase"].argmax()),
        one(p["to_act"]),
        int(p["trick"].argmax()) + 1,
        *people,
        one(p["trump"]),
        int(p["sevens"][0]),
    )


def true_points(s: Any, seat: int) -> Any:
    return tuple((int(s.points[(seat + k) % 2]), int(s.tricks[(seat + k) % 2])) for k in range(2))


def read_points(p: Parts) -> Any:
    """Counted in the tricks too."""
    for k in range(2):
        assert p["points"][k] == value(cards(p["taken"][k]))
    return tuple((int(p["points"][k]), int(p["tricks"][k])) for k in range(2))


def true_score(s: Any, seat: int) -> Any:
    pairs = (seat % 2, 1 - seat % 2)
    return tuple((int(s.rams[x]), int(s.marks[x])) for x in pairs), int(s.deals)


def read_score(p: Parts) -> Any:
    rams = [int(hundreds) * 100 + int(rest) for hundreds, rest in p["rams"]]
    return tuple((rams[k], int(p["marks"][k])) for k in range(2)), int(p["deals"][0]) * 100 + int(p["deals"][1])


FACTS = {
    "own hand": Fact(true_hand, lambda p: cards(p["hand"])),
    "turned-up cards": Fact(true_turned_up, read_turned_up),
    "cards looked at": Fact(true_looked_at, read_looked_at),
    "known cards": Fact(true_known, read_known),
    "unseen cards": Fact(true_unseen, lambda p: cards(p["unseen"])),
    "now": Fact(true_now, read_now),
    "decisions in order": Fact(true_log, read_log),
    "voids": Fact(
        lambda s, seat: tuple(int(s.void[(seat + k) % 4, x]) for k in range(4) for x in range(5)),
        lambda p: tuple(int(x) for k in range(4) for x in (*p["void"][k], p["void_of_trumps"][k])),
    ),
    "points": Fact(true_points, read_points),
    "table": Fact(
        lambda s, seat: tuple(
            cards((s.owner == (seat + k) % 4) & (s.trick_of == s.trick) & (s.taken_by == 0)) for k in range(4)
        ),
        lambda p: tuple(cards(p["table"][k]) for k in range(4)),
    ),
    "score": Fact(true_score, read_score),
}
