"""Results: what reads return, as text, tables, pooled values and pictures."""
