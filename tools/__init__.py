"""How the files in `data/` are made; not installed."""
