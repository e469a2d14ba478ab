"""Evaluation: data sets, systems, metrics and reports."""
