"""How rule bots read one-hot parts of an observation or a mask."""

from __future__ import annotations

from cardgym.kernel import helper


@helper
def first(values, start, length):
    """Place of the first number that is not 0 in a part, -1 if there is none."""
    for i in range(length):
        if values[start + i]:
            return i
    return -1
