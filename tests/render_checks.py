"""What can be wrong with the picture of a table: words or cards that overlap or are cut off."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from cardgym.render.layout import Card, Plan, Rect, plan
from cardgym.render.scene import Scene


def overlap(a: Rect, b: Rect) -> bool:
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def inside(a: Rect, b: Rect) -> bool:
    return a.x >= b.x and a.y >= b.y and a.x + a.width <= b.x + b.width and a.y + a.height <= b.y + b.height


def faults(scene: Scene, size: tuple[int, int]) -> Iterator[str]:
    """Everything that overlaps or is cut off in a picture."""
    made = plan(scene, size)
    whole = Rect(0, 0, *size)
    for thing in (*made.words, *made.cards):
        if not inside(thing.rect, whole):
            yield f"cut off: {thing}"
    words = [(w.text, w.rect) for w in made.words]
    groups = [(name, list(group)) for name, group in itertools.groupby(made.cards, key=lambda c: c.group)]
    assert len({name for name, _ in groups}) == len(groups), "a group of cards is drawn in one go"
    things = words + [(name, _around(group)) for name, group in groups]
    for (a, first), (b, second) in itertools.combinations(things, 2):
        if overlap(first, second):
            yield f"overlap: {a!r} and {b!r}"
    for name, group in groups:
        for i, card in enumerate(group):
            if any(overlap(card.index, later.rect) for later in group[i + 1 :]):
                yield f"covered: index {i} in {name}"
    yield from _strays(made, groups)


def _around(group: list[Card]) -> Rect:
    rects = [card.rect for card in group]
    left, top = min(r.x for r in rects), min(r.y for r in rects)
    right, bottom = max(r.x + r.width for r in rects), max(r.y + r.height for r in rects)
    return Rect(left, top, right - left, bottom - top)


def _strays(made: Plan, groups: list[tuple[str, list[Card]]]) -> Iterator[str]:
    """Boxes overlap nothing that is not wholly in them."""
    for (a, _), (b, _) in itertools.combinations(made.boxes, 2):
        if overlap(a, b):
            yield "overlap: two seats"
    things = [(w.text, w.rect) for w in made.words] + [(name, _around(group)) for name, group in groups]
    for box, _ in made.boxes:
        for name, rect in things:
            if overlap(box, rect) and not inside(rect, box):
                yield f"out of its box: {name!r}"
