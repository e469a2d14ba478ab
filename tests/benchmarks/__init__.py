"""Measurements, each a command: ``python -m tests.benchmarks.pooling`` and so on."""
