"""Additive attention in a decoder: dates, as people write them, into ISO dates.

A network reads "the 3rd of March, 1987" character by character, and leaves a state at each. Another
writes "1987-03-03". It does not write in the order of what was read: the year comes first, and
stood last. So before each character it asks all states at once, "which of you do I need now?":

    c_t = sum_i a_i h_i        a = softmax_i w' tanh(W_q s_{t-1} + W_k h_i)

s_{t-1}, what the writer was thinking, is the query; h_i, the reader's states, are keys and values;
c_t is the answer, and goes into the next character (Bahdanau, Cho and Bengio 2015: here attention
began). Nobody tells it where to look: that is learned from pairs of texts alone.

Run it with:    fuzzydict demo decoder --save alignment.png

It takes about 40 seconds. Its matrices are small, so threads do not help, and where other programs
are at work they wait for each other most of the time: then set OPENBLAS_NUM_THREADS=1 before it.
"""

from __future__ import annotations

from pathlib import Path

import click

from fuzzydict.cli.demos._dates import date_examples
from fuzzydict.cli.demos._lesson import as_command, save_picture
from fuzzydict.translation import EncoderDecoder

EXAMPLE = "Tuesday the third of March, 1987"


@click.option("--steps", type=click.IntRange(min=1), default=1000, help="Of learning; 1000.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Other dates and parameters.")
def lesson(save: Path | None, steps: int, seed: int) -> None:
    """Additive attention: a decoder that learns to read dates."""
    # 1. Examples. The dates asked never occur among those learned from, in no way of writing.
    learn, ask = date_examples(30_000, 1_000, seed)
    for text, iso in learn[:4]:
        click.echo(f"to learn  {iso}  {text}")

    # 2. Learning: the loss is how surprised the decoder is by the next character, in nats.
    def report(step: int, loss: float) -> None:
        if step % 100 == 0:
            click.echo(f"step {step}: loss {loss:.4f}", err=True)

    translator = EncoderDecoder(seed=seed)
    translator.fit(*zip(*learn, strict=True), steps=steps, progress=report)

    # 3. Asking: an answer is right if all of its characters are.
    questions, truths = zip(*ask, strict=True)
    answers = translator.predict(questions)
    right = [answer == truth for answer, truth in zip(answers, truths, strict=True)]
    for question, answer, good in list(zip(questions, answers, right, strict=True))[:6]:
        click.echo(f"asked     {answer}  {question}{'' if good else '  (wrong)'}")
    click.echo(f"{sum(right) / len(right):.1%} of {len(right)} dates never seen are right")

    # 4. Looking: each row of weights says where the decoder looked as it wrote that character.
    written, weights = translator.align(EXAMPLE)
    for character, row in zip(written, weights, strict=True):
        place = int(row.argmax())
        shown = f"{EXAMPLE[:place]}[{EXAMPLE[place]}]{EXAMPLE[place + 1 :]}"
        click.echo(f"{character}  looks at  {shown}  ({row[place]:.0%})")
    if save:
        from fuzzydict.plotting import plot_heatmap

        axes = plot_heatmap(
            weights,
            list(written),
            list(EXAMPLE),
            title="Where the decoder looked",
            row_label="character written",
            column_label="character read",
        )
        save_picture(axes, save)


main = as_command(lesson)
if __name__ == "__main__":
    main()
