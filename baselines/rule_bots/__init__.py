"""Rule bots: for each game a compiled ``choose(observation, mask)`` that plays like a sound regular."""
