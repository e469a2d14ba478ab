"""Measurements, each a command: ``python -m tests.benchmarks.quality`` and so on."""
