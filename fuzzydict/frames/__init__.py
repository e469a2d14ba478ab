"""Columns and frames of pandas, polars and others; texts and keys of several processes."""
