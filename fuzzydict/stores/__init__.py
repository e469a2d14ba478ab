"""Stores: keys in a database, which many machines read."""
