"""The fuzzydict command."""
