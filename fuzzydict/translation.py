"""Texts into texts, by an encoder, a decoder that attends to it, and examples.

Axes, beside those of ``arrays``: B a batch, S input steps, T output steps, V symbols, D the size of
a state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike

from fuzzydict.alphabet import END, Alphabet, check_texts
from fuzzydict.arrays import Array, positive, require_counts
from fuzzydict.decoder import AttentionDecoder
from fuzzydict.errors import NotFittedError, OptionError, ShapeError
from fuzzydict.normalizers import softmax
from fuzzydict.optimizers import Adam, clip_norm
from fuzzydict.recurrent import BidirectionalGRU, Integers, prefixed

__all__ = ["EncoderDecoder"]

_ROWS = 256  # texts that are answered at a time


class _Batch(NamedTuple):
    """Examples as numbers: symbols and how many of them count."""

    inputs: Integers  # (B, S)
    input_lengths: Integers  # (B,)
    outputs: Integers  # (B, T), each with its END
    output_lengths: Integers  # (B,), the END included

    def rows(self, chosen: Integers) -> _Batch:
        """Return some of the examples, padded no more than they need."""
        inputs, input_lengths, outputs, output_lengths = (array[chosen] for array in self)
        steps = (input_lengths.max(), output_lengths.max())
        return _Batch(inputs[:, : steps[0]], input_lengths, outputs[:, : steps[1]], output_lengths)


class EncoderDecoder:
    """A translator of texts, character by character, learned from examples.

    A GRU reads the input in both directions; another writes the output, and before each character
    attends to the states of the first (Bahdanau, Cho and Bengio 2015). Characters are few, so they
    go in as one-hot vectors, without an embedding.

    Args:
        state_size: D, the size of each state.
        attention_size: The size of the scorer's hidden layer.
        dtype: Of all numbers.
        seed: Of the first parameters and of the examples' order. The same seed gives the
            same translator, on one machine with as many threads.

    Attributes:
        losses_: The mean cross-entropy by character, in nats, at each step of ``fit``.
        parameters_: All that was learned, by name.

    Example:
        >>> translator = EncoderDecoder(state_size=8, attention_size=8)
        >>> words = ["ab", "ba", "bb", "aa"]
        >>> translator.fit(words, [word.upper() for word in words], steps=150).predict(["ba"])
        ['BA']
        >>> text, weights = translator.align("ba")
        >>> weights.shape  # of each output character to each input character
        (2, 2)
    """

    def __init__(
        self,
        *,
        state_size: int = 64,
        attention_size: int = 64,
        dtype: DTypeLike = np.float32,
        seed: int = 0,
    ) -> None:
        self.state_size, self.attention_size = state_size, attention_size
        self.dtype, self.seed = np.dtype(dtype), seed

    def fit(
        self,
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        steps: int = 1000,
        batch_size: int = 64,
        learning_rate: float = 0.01,
        progress: Callable[[int, float], None] | None = None,
    ) -> Self:
        """Learn to write ``outputs[i]`` for ``inputs[i]``, from the beginning.

        Args:
            inputs: Texts that are not empty.
            outputs: As many texts.
            steps: How many times to adapt the parameters,
            batch_size: each time to so many examples, drawn at random.
            learning_rate: Of ``Adam``, at first; it falls evenly to zero.
            progress: Called after each step with the steps done and the loss.

        Raises:
            ShapeError: Inputs and outputs differ in number, or there are none.
            ArgumentTypeError: One of them is no text.
            OptionError: An input is empty, or a size, number or rate is not above 0.
        """
        learning_rate = positive("learning_rate", learning_rate)
        require_counts(steps=steps, batch_size=batch_size)
        require_counts(state_size=self.state_size, attention_size=self.attention_size)
        examples = self._read_examples(inputs, outputs)
        random = np.random.default_rng(self.seed)
        self._build(random)
        self.losses_: list[float] = []
        adam = Adam(self.parameters_, learning_rate)
        for step in range(steps):
            batch = examples.rows(random.integers(len(inputs), size=batch_size))
            loss, gradients = self._loss(batch)
            adam.learning_rate = learning_rate * (1 - step / steps)
            adam.step(clip_norm(gradients, limit=1.0))
            self.losses_.append(loss)
            if progress is not None:
                progress(step + 1, loss)
        return self

    def predict(self, inputs: Sequence[str]) -> list[str]:
        """Translate texts: at each step the most likely character, until the end.

        No output is longer than the longest that was learned from.

        Raises:
            NotFittedError: Nothing has been learned yet.
            OptionError: An input is empty, or has a character that no example had.
            ArgumentTypeError: An input is no text.
        """
        return [text for text, _ in self._translate(inputs)]

    def align(self, text: str) -> tuple[str, Array]:
        """Translate a text, and tell where the decoder looked.

        Returns:
            The output, and the weights (T, S) of each output character (row) over the input's
            characters; each row sums to 1.

        Raises:
            FuzzyDictError: As ``predict`` does.
        """
        return next(self._translate([text]))

    def _translate(self, inputs: Sequence[str]) -> Iterator[tuple[str, Array]]:
        """Return an output and its weights (T, S) for each input."""
        if not hasattr(self, "parameters_"):
            raise NotFittedError("this EncoderDecoder has learned nothing yet; call fit first")
        texts = _checked_inputs(inputs)
        for start in range(0, len(texts), _ROWS):
            symbols, lengths = self._inputs.encode(texts[start : start + _ROWS])
            chosen, weights = self._decode(symbols[:, :-1], lengths)
            for row, where, length in zip(chosen, weights, lengths, strict=True):
                text = self._outputs.decode(row)
                yield text, where[: len(text), :length]

    def _decode(self, symbols: Integers, lengths: Integers) -> tuple[Integers, Array]:
        """Return the output symbols (B, T) for input symbols (B, S), and the weights (B, T, S)."""
        states, _ = self._encoder.forward(self._one_hot(symbols, self._inputs), lengths)
        memory, state = self._decoder.remember(states, lengths), self._decoder.start(states)
        written = np.full(len(symbols), END)
        chosen, weights = [], []
        for _ in range(self._longest):
            step = self._decoder.step(self._one_hot(written, self._outputs), state, memory)
            state = step.features[:, : self.state_size]
            written = self._decoder.readout(step.features).argmax(-1)
            chosen.append(written)
            weights.append(step.weights)
        return np.stack(chosen, 1), np.stack(weights, 1)

    def _loss(self, batch: _Batch) -> tuple[float, dict[str, Array]]:
        """Return the mean cross-entropy of the outputs' characters, and its gradients."""
        x = self._one_hot(batch.inputs, self._inputs)
        target = self._one_hot(batch.outputs, self._outputs)  # (B, T, V)
        previous = np.empty_like(target)
        previous[:, 1:], previous[:, 0] = target[:, :-1], np.eye(len(self._outputs))[END]
        states, encoder_backward = self._encoder.forward(x, batch.input_lengths)
        logits, decoder_backward = self._decoder.forward(states, batch.input_lengths, previous)
        counts = np.arange(target.shape[1]) < batch.output_lengths[:, None]  # (B, T)
        share = (counts / counts.sum()).astype(self.dtype)
        likelihoods = softmax(logits)
        of_target = (likelihoods * target).sum(-1)  # (B, T)
        loss = -float((share * np.log(np.maximum(of_target, np.finfo(self.dtype).tiny))).sum())
        # The gradient of the cross-entropy of a softmax: what it says minus what it should say.
        d_states, decoder = decoder_backward(share[..., None] * (likelihoods - target))
        _, encoder = encoder_backward(d_states)
        return loss, prefixed("encoder", encoder) | prefixed("decoder", decoder)

    def _read_examples(self, inputs: Sequence[str], outputs: Sequence[str]) -> _Batch:
        """Learn the two alphabets, and return the examples as numbers."""
        sources, targets = _checked_inputs(inputs), check_texts("outputs", outputs)
        if not sources or len(sources) != len(targets):
            raise ShapeError(
                f"inputs and outputs must be as many, and not none; got {len(sources)} inputs "
                f"and {len(targets)} outputs"
            )
        self._inputs, self._outputs = Alphabet(sources), Alphabet(targets)
        symbols, lengths = self._inputs.encode(sources)
        out_symbols, out_lengths = self._outputs.encode(targets)
        self._longest = max(int(out_lengths.max()), 1)
        return _Batch(symbols, lengths, out_symbols, out_lengths + 1)

    def _build(self, random: np.random.Generator) -> None:
        """Make encoder and decoder, with parameters that know nothing yet."""
        size, dtype = self.state_size, self.dtype
        self._encoder = BidirectionalGRU(len(self._inputs), size, dtype=dtype, seed=random)
        self._decoder = AttentionDecoder(
            len(self._outputs), size, self.attention_size, dtype=dtype, seed=random
        )
        self.parameters_ = prefixed("encoder", self._encoder.parameters) | prefixed(
            "decoder", self._decoder.parameters
        )

    def _one_hot(self, symbols: Integers, alphabet: Alphabet) -> Array:
        """Return symbols (...) as vectors (..., V) with a single one."""
        vectors: Array = np.eye(len(alphabet), dtype=self.dtype)[symbols]
        return vectors


def _checked_inputs(inputs: Sequence[str]) -> list[str]:
    texts = check_texts("inputs", inputs)
    if "" in texts:
        raise OptionError(f"inputs[{texts.index('')}] is empty: there is nothing to attend to")
    return texts
