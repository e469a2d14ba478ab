"""Engines that find the nearest vectors."""
