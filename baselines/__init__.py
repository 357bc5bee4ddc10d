"""Agents, training scripts and evaluation."""
