"""Demonstrations: each file is a lesson of its own, to read and to run."""
