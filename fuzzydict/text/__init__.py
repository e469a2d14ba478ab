"""Text: its words, its n-grams, and how similar two strings are."""
