"""Columns and frames of pandas, polars, pyarrow and others."""
