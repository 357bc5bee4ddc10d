"""The check that one game is the same in all its forms: single, vector, PettingZoo, single-agent view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardgym.envs import CardVectorEnv
from cardgym.game import Game
from cardgym.testing.libraries import has_module, pettingzoo_form
from cardgym.testing.policies import POLICIES
from cardgym.testing.states import plain
from cardgym.testing.subjects import Subject, subject


def check_forms(
    game: str | Game, *, num_envs: Sequence[int] = (1, 5), seed: int = 0, steps: int = 200, **options: Any
) -> None:
    """The same seeds and actions give the same games in every form, byte for byte, beyond the first episode too.

    Compared are the single environment, the vector environment with each of ``num_envs``, one and two threads, copied
    and shared buffers, PettingZoo's AEC form and the single-agent view of every seat.  Sub-environment ``i`` of a
    vector environment of seed ``s`` is the single one of seed ``s + i``.
    """
    s = subject(game, **options)
    reference = [_single_story(s, seed + i, steps) for i in range(max(num_envs))]
    for number in num_envs:
        for threads, shared in ((1, True), (1, False), (2, True), (2, False)):
            envs = s.vector(number, encodings=s.encodings, threads=threads, copy=not shared)
            for i, story in enumerate(_vector_stories(s, envs, seed, steps)):
                _check_equal_stories(f"{s}: game {i} of {number}, {threads} threads, seed {seed}", reference[i], story)
            envs.close()
    for i in range(min(2, len(reference))):
        if has_module("pettingzoo"):
            story = _pettingzoo_story(s, seed + i, steps)
            _check_equal_stories(f"{s}: PettingZoo, seed {seed + i}", reference[i][: len(story)], story)
        for seat in range(s.seats):
            _check_single_agent(s, reference[i], seed + i, seat)


class Moment(NamedTuple):
    """What one step showed: plain values, comparable with ``==``."""

    observation: Any
    rewards: bytes
    reward: float
    player: int
    over: bool
    ending: Any


def _check_equal_stories(where: str, expected: Sequence[Moment], found: Sequence[Moment]) -> None:
    assert len(expected) == len(found), f"{where}: {len(found)} steps, not {len(expected)}"
    for move, (a, b) in enumerate(zip(expected, found, strict=True)):
        for name, x, y in zip(Moment._fields, a, b, strict=True):
            assert x == y, f"{where}: step {move} differs in {name}:\n{x}\n{y}"


def _choice(s: Subject, mask: np.ndarray, seed: int, step: int) -> int:
    policy = tuple(POLICIES.values())[seed % len(POLICIES)]
    return int(policy(s.game, mask[None], np.array([seed]), step)[0])


def _single_story(s: Subject, seed: int, steps: int) -> list[Moment]:
    env = s.single(encodings=s.encodings)
    observation, info = env.reset(seed=seed)
    story = [Moment(plain(observation), info["rewards"].tobytes(), 0.0, info["player"], False, None)]
    for step in range(steps):
        mask = observation["action_mask"]
        assert (mask == info["action_mask"]).all(), f"{s}: masks of observation and info differ, seed={seed}, {step}"
        assert (mask == env.action_masks()).all(), f"{s}: action_masks() differs, seed={seed}, step={step}"
        observation, reward, over, truncated, info = env.step(_choice(s, mask, seed, step))
        assert not truncated, f"{s}: truncated, seed={seed}, step={step}"
        rewards, ending = info["rewards"].tobytes(), None
        if over:
            ending = (plain(observation), info["scores"].tolist())
            observation, info = env.reset()
        story.append(Moment(plain(observation), rewards, reward, info["player"], over, ending))
    return story


def _vector_stories(s: Subject, envs: CardVectorEnv, seed: int, steps: int) -> list[list[Moment]]:
    observations, infos = envs.reset(seed=seed)
    rows = range(envs.num_envs)
    zero = np.zeros(s.seats).tobytes()
    stories = [[Moment(_row(observations, i), zero, 0.0, int(infos["player"][i]), False, None)] for i in rows]
    for step in range(steps):
        masks = observations["action_mask"]
        assert (masks == envs.action_masks()).all(), f"{s}: action_masks() differs at step {step}"
        actions = np.array([_choice(s, masks[i], seed + i, step) for i in rows])
        observations, rewards, over, truncated, infos = envs.step(actions)
        assert not truncated.any(), f"{s}: truncated at step {step}"
        for i in rows:
            ending = None
            if over[i]:
                ending = (plain(infos["final_obs"][i]), infos["final_info"]["scores"][i].tolist())
            per_seat = infos["rewards"][i].tobytes()
            player = int(infos["player"][i])
            stories[i].append(Moment(_row(observations, i), per_seat, float(rewards[i]), player, bool(over[i]), ending))
    return stories


def _row(observations: Mapping[str, np.ndarray], i: int) -> Any:
    return plain({name: part[i] for name, part in observations.items()})


def _pettingzoo_story(s: Subject, seed: int, steps: int) -> list[Moment]:
    """The first episode; the end is not followed by a new one here, so it stands as a moment of its own."""
    env = pettingzoo_form(s, encodings=[e for e in s.encodings if e != "state"])
    env.reset(seed=seed)
    story = [_pettingzoo_moment(s, env, np.zeros(s.seats), 0.0, False)]
    for step in range(steps):
        seat = env.possible_agents.index(env.agent_selection)
        mask = env.observe(env.agent_selection)["action_mask"]
        assert (mask == env.infos[env.agent_selection]["action_mask"]).all(), f"{s}: masks differ, seed={seed}, {step}"
        for agent in env.agents:
            others = env.observe(agent)["action_mask"]
            assert agent == env.agent_selection or not others.any(), f"{s}: {agent} does not act, seed={seed}, {step}"
        env.step(_choice(s, mask, seed, step))
        rewards = np.array([env.rewards[agent] for agent in env.possible_agents], np.float64)
        if all(env.terminations.values()):
            break
        story.append(_pettingzoo_moment(s, env, rewards, float(rewards[seat]), False))
    return story


def _pettingzoo_moment(s: Subject, env: Any, rewards: np.ndarray, reward: float, over: bool) -> Moment:
    agent = env.agent_selection
    observation = dict(env.observe(agent))
    if "state" in s.encodings:
        observation["state"] = env.state()
    ordered = {name: observation[name] for name in (*s.encodings, "action_mask")}
    return Moment(plain(ordered), rewards.tobytes(), reward, env.possible_agents.index(agent), over, None)


class _Scripted:
    """An opponent that chooses as the other forms do, for :class:`cardgym.wrappers.SelfPlay`."""

    name = "scripted"

    def __init__(self, s: Subject, seed: int) -> None:
        self._subject, self._seed = s, seed

    def act(self, decisions: Any, generator: np.random.Generator) -> np.ndarray:
        moves = decisions.determinized(1, 0)["moves"][:, 0]  # the number of decisions is no secret
        chosen = [_choice(self._subject, m, self._seed, int(n)) for m, n in zip(decisions.mask, moves, strict=True)]
        return np.array(chosen, np.int64)


def _check_single_agent(s: Subject, reference: Sequence[Moment], seed: int, seat: int) -> None:
    """What a seat and its partners see in the single-agent view is what they see in the reference's first episode."""
    from cardgym.wrappers import SelfPlay

    env = SelfPlay(s.made(), [_Scripted(s, seed)], seat=seat)
    observation, info = env.reset(seed=seed)
    earned, team_of = np.zeros(s.seats), s.game.team_of(s.options)
    reward, over = 0.0, False
    for step, moment in enumerate(reference):
        where = f"{s}: single-agent view of seat {seat}, seed {seed}, step {step}"
        earned += np.frombuffer(moment.rewards)
        if moment.over:
            assert over, f"{where}: not over"
            assert reward == earned[seat], f"{where}: reward {reward}, not {earned[seat]}"
            return
        if team_of[moment.player] != team_of[seat]:
            continue
        assert not over, f"{where}: over too early"
        mask = env.action_masks()
        found = plain({"observation": observation, "action_mask": mask.astype(np.int8)})
        assert found == {name: moment.observation[name] for name in found}, f"{where}: another observation or mask"
        assert (mask == info["action_mask"]).all(), f"{where}: masks differ"
        assert reward == earned[seat], f"{where}: reward {reward}, not {earned[seat]}"
        earned[:] = 0.0
        observation, reward, over, _, info = env.step(_choice(s, mask.astype(np.int8), seed, step))
