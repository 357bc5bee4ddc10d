"""What only a process of its own shows: time to import, to compile and to load kernels, and memory."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_START = """
import json, sys, time
start = time.perf_counter()
import gymnasium, numba, numpy
needs = time.perf_counter()
import cardgym
imported = time.perf_counter()
env = cardgym.make(sys.argv[1])
_, info = env.reset(seed=0)
ready = time.perf_counter()
env.step(int(info["action_mask"].argmax()))
stepped = time.perf_counter()
laps = {"needs": needs, "import": imported, "ready": ready, "step": stepped}
print(json.dumps({name: lap - start for name, lap in laps.items()}))
"""


def start_up(env_id: str, repeats: int) -> dict[str, float]:
    """Seconds from the start of Python's imports, median of ``repeats`` processes; the first one compiles.

    Returns:
        ``needs``: numba, numpy and gymnasium imported; ``import``: cardgym too; ``ready``: the first game dealt and its
        observation there; ``step``: its first step made.  These with kernels on disk; ``cold_ready`` and ``cold_step``
        without.
    """
    with tempfile.TemporaryDirectory() as folder:
        cold, *warm = (_run(_START, env_id, folder) for _ in range(1 + repeats))
    seconds = {key: statistics.median(w[key] for w in warm) for key in cold}
    return seconds | {"cold_ready": cold["ready"], "cold_step": cold["step"]}


def _run(code: str, argument: str, cache: str) -> dict[str, float]:
    environment = {**os.environ, "CARDGYM_CACHE_DIR": cache}
    command = [sys.executable, "-c", code, argument]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    found: dict[str, float] = json.loads(printed)
    return found


def memory(env_id: str, games: int) -> dict[str, float]:
    """Bytes per game, and peak memory of a process with one and with many games.

    Returns:
        ``state``, ``buffers``: bytes per game; ``rss_one``, ``rss_many``: MiB.
    """
    command = [sys.executable, __file__, env_id]
    one, many = (
        json.loads(subprocess.run([*command, str(n)], capture_output=True, text=True, check=True).stdout)
        for n in (1, games)
    )
    return {"state": many["state"], "buffers": many["buffers"], "rss_one": one["rss"], "rss_many": many["rss"]}


def _measure_memory(env_id: str, games: int) -> dict[str, Any]:
    import numpy as np

    import cardgym
    from cardgym.batch import sample

    envs: Any = cardgym.make_vec(env_id, num_envs=games, copy=False)
    observation, _ = envs.reset(seed=0)
    envs.step(sample(observation["action_mask"], np.random.default_rng(0)))
    arrays = {id(v): v for holder in (envs, envs.batch) for v in vars(holder).values() if isinstance(v, np.ndarray)}
    state = envs.batch.states
    buffers = (sum(a.nbytes for a in arrays.values()) - state.nbytes) / games
    return {"state": state.dtype.itemsize, "buffers": buffers, "rss": peak()}


def peak() -> float:
    """Peak resident memory of this process in MiB."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux: what `resource` gives there starts at the peak of the parent process
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)  # macOS gives bytes


if __name__ == "__main__":
    print(json.dumps(_measure_memory(sys.argv[1], int(sys.argv[2]))))
