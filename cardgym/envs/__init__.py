"""Gymnasium environments: one game (:class:`CardEnv`) and many at once (:class:`CardVectorEnv`)."""

from cardgym.envs.env import CardEnv
from cardgym.envs.vector_env import CardVectorEnv

__all__ = ["CardEnv", "CardVectorEnv"]
