"""Learning: `fit`, from examples to options that are kept or not."""
