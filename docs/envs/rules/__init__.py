"""The rules of the games in the box as package data, ``cardgym.rules``; :mod:`docs.generate` makes pages of them."""
