"""The data that ships with fuzzydict."""
