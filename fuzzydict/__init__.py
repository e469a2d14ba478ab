"""Attention over a dict."""
