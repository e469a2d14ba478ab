"""Embeddings: from texts to vectors."""
