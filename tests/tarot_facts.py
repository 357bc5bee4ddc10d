"""What the rules of Tarot let a seat know, from the state and read back from its observation.

Seats are counted from the observer, who is 0 here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardgym.games.tarot_tables import CHIEN, ECART, NO_SLAM, PLAIN, PLAYED, POIGNEE, POIGNEES, SLAM
from cardgym.testing import Fact

Parts = Mapping[str, np.ndarray]


def cards(flags: np.ndarray) -> tuple[int, ...]:
    return tuple(int(c) for c in np.flatnonzero(flags))


def one(flags: np.ndarray) -> int | None:
    found = np.flatnonzero(flags)
    assert len(found) <= 1
    return int(found[0]) if len(found) else None


def order(s: Any, seat: int) -> list[int]:
    """The seats, from the observer on."""
    return [(seat + i) % int(s.seats) for i in range(s.seats)]


def relative(s: Any, seat: int, other: int) -> int | None:
    return None if other < 0 else (int(other) - seat) % int(s.seats)


def ended(s: Any) -> bool:
    """Was the deal played to its end, so that chien and ecart lie open?"""
    return bool(s.over and not s.void)


# --- Chien, ecart, call ----------------------------------------------------------------------


def true_open_cards(s: Any, seat: int) -> Any:
    chien = cards(s.dealt == CHIEN) if s.chien_open or ended(s) else ()
    laid = cards(s.place == ECART)
    return chien, tuple(c for c in laid if seat == s.taker or ended(s) or c >= PLAIN), int(s.laid)


def true_call(s: Any, seat: int) -> Any:
    """The card called, and who the partner is once that is no secret (TA-31); nobody: the taker is alone."""
    if s.called < 0:
        return None
    holder = int(s.dealt[s.called])
    if not (s.place[s.called] == PLAYED or ended(s) or (s.chien_open and holder == CHIEN)):
        return int(s.called), "secret"
    return int(s.called), None if holder in (CHIEN, s.taker) else relative(s, seat, holder)


def read_call(p: Parts) -> Any:
    if "called" not in p or one(p["called"]) is None:
        return None
    known = p["alone"][0] or p["partner"].any()
    return one(p["called"]), one(p["partner"]) if known else "secret"


# --- Words and play --------------------------------------------------------------------------


def true_words(s: Any, seat: int) -> Any:
    bids = tuple(int(s.bids[w]) for w in order(s, seat))
    poignees = tuple((int(s.poignee[w]), cards(s.shown_by == w + 1)) for w in order(s, seat))
    return bids, relative(s, seat, s.taker), int(s.contract_bid), int(s.slam), poignees


def read_words(p: Parts) -> Any:
    bids = tuple(-1 if one(row) is None else one(row) for row in p["bids"])
    poignees = tuple(
        (0 if one(row) is None else one(row) + 1, shown_by(p, w))  # type: ignore[operator]
        for w, row in enumerate(p["poignee"])
    )
    contract = one(p["contract"])
    slam = one(p["slam"])
    return bids, one(p["taker"]), 0 if contract is None else contract + 1, 0 if slam is None else slam + 1, poignees


def shown_by(p: Parts, who: int) -> tuple[int, ...]:
    """A shown card was played by its owner, or is in his hand, where alone it may be, or lies in the taker's ecart."""
    place = p["hand"] if who == 0 else p["may_hold"][who - 1]
    laid = p["ecart"] if one(p["taker"]) == who else np.zeros_like(place)
    return cards(p["shown"].astype(bool) & ((p["played"][who] > 0) | (place > 0) | (laid > 0)))


def true_play(s: Any, seat: int) -> Any:
    """The cards played, in order, with who played them: what the log holds from the slam question on, shows aside."""
    story, to_show = [], 0
    sizes = POIGNEES[s.seats - 3]
    log = [(int(w), int(a)) for w, a in zip(s.log_seat[: s.log_length], s.log_action[: s.log_length], strict=True)]
    start = next((i for i, (_, action) in enumerate(log) if action in (SLAM, NO_SLAM)), len(log))
    for who, action in log[start + 1 :]:
        if action >= POIGNEE:
            to_show = int(sizes[action - POIGNEE])
        elif to_show:
            to_show -= 1
        else:
            story.append((relative(s, seat, who), action))
    return tuple(story)


def read_play(fft: bool) -> Any:
    def read(p: Parts) -> Any:
        n = len(p["to_act"])
        slam_leads = fft and p["slam"][0]
        leader = one(p["taker"]) if slam_leads else (one(p["dealer"]) + 1) % n  # type: ignore[operator]
        story = []
        for trick in range(1, p["winner"].shape[0] + 1):
            for i in range(n):
                who = (leader + i) % n  # type: ignore[operator]
                story += [(who, c) for c in cards(p["played"][who] == trick)]
            winner = one(p["winner"][trick - 1])
            leader = leader if winner is None else winner
        return tuple(story)

    return read


def true_trick(s: Any, seat: int) -> Any:
    open_trick = 0 if s.over else s.on_table
    best = relative(s, seat, s.best_seat) if open_trick else None
    led = -1 if not open_trick else int(s.lead_suit)
    table = cards(s.played_in == s.trick) if open_trick else ()
    return int(s.trick), relative(s, seat, s.leader), table, best, led, int(s.broken)


def read_trick(p: Parts) -> Any:
    trick = int(p["trick"].argmax()) + 1
    table = cards(p["table"])
    suit = one(p["suit_led"])
    led = 4 if p["trump_led"][0] else -1 if suit is None else suit
    return trick, one(p["leader"]), table, one(p["winning"]), led if table else -1, int(p["broken"][0])


def true_score(s: Any, seat: int) -> Any:
    return tuple((int(s.tricks[w]), int(s.half_points[w]) // 2, int(s.scores[w])) for w in order(s, seat))


def read_score(p: Parts) -> Any:
    return tuple(
        (int(t), int(x), int(c[0]) * 10_000 + int(c[1]) * 100 + int(c[2]))
        for t, x, c in zip(p["tricks"], p["points"], p["scores"], strict=True)
    )


def true_phase(s: Any, seat: int) -> Any:
    return int(s.phase), None if s.over else relative(s, seat, s.player), relative(s, seat, s.dealer)


def read_phase(p: Parts) -> Any:
    return one(p["phase"]), one(p["to_act"]), one(p["dealer"])


def facts(options: dict[str, Any]) -> dict[str, Fact]:
    """The facts under given rule options."""
    return {
        "own hand": Fact(lambda s, seat: cards(s.place == seat), lambda p: cards(p["hand"])),
        "chien and ecart": Fact(true_open_cards, lambda p: (cards(p["chien"]), cards(p["ecart"]), int(p["laid"][0]))),
        "call": Fact(true_call, read_call),
        "words": Fact(true_words, read_words),
        "play": Fact(true_play, read_play(options.get("rules") == "fft")),
        "trick": Fact(true_trick, read_trick),
        "phase": Fact(true_phase, read_phase),
        "score": Fact(true_score, read_score),
        "deals": Fact(lambda s, seat: (int(s.deals), int(s.redeals)), lambda p: tuple(int(x) for x in p["deals"])),
        "proofs": Fact(
            lambda s, seat: tuple((*map(int, s.no_suit[w]), int(s.cap[w])) for w in order(s, seat)),
            lambda p: tuple((*map(int, row), int(cap)) for row, cap in zip(p["no_suit"], p["cap"], strict=True)),
        ),
    }
