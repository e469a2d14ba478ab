"""Attention on arrays: scorers, softmax, attention, heads and kernel regression."""
