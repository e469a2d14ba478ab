"""The page of ``fuzzydict explore``: its server, what a dict tells it, and what it teaches."""
