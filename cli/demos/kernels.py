"""Attention as regression: the Nadaraya-Watson estimator, and the width of its kernel.

Given examples (x_i, y_i), what is y at x? A weighted mean of the y_i, in which near examples weigh
more (Nadaraya 1964, Watson 1964). That is attention: x is the query, the x_i are the keys, the y_i
the values, and a kernel g of the distance d_i = |x - x_i| gives the scores:

    f(x) = sum_i a_i y_i        a_i = softmax_i log g(d_i / width)

    gaussian      exp(-d^2 / 2)               boxcar         1 if d <= 1, else 0
    triangular    1 - d, if that is > 0       epanechnikov   1 - d^2, if that is > 0

The choice of kernel matters little, the width a lot: a narrow kernel repeats the noise of the
nearest example, a wide one gives the mean of all. The width can be learned: the best one predicts
each example best from all the others.
"""

from typing import Any

import numpy as np

from fuzzydict import Gaussian, KernelRegression, attention
from fuzzydict.cli.demos import Picture, demo, echo
from fuzzydict.results.plotting import plot_regression

KERNELS = ("gaussian", "boxcar", "triangular", "epanechnikov")
WIDTHS = (0.1, 1.0, 2.0)


def truth(x: Any) -> Any:
    """Return the function whose noisy values are the examples."""
    return 2 * np.sin(x) + x


@demo
def main() -> Picture:
    """Attention as regression: kernels, widths, a learned width."""
    random = np.random.default_rng(0)
    x = np.sort(random.uniform(0, 5, 40))[:, None]  # (N, 1)
    y = truth(x[:, 0]) + random.normal(0, 0.5, 40)  # (N,)
    queries = np.linspace(0, 5, 101)[:, None]

    # 1. The regression is attention, with a kernel as its scorer.
    model = KernelRegression("gaussian", bandwidth=0.5).fit(x, y)
    pooled = attention(queries, x, y[:, None], scorer=Gaussian(0.5))[:, 0]
    echo(f"KernelRegression is attention: {np.allclose(model.predict(queries), pooled)}")

    # 2. Four kernels of one width, one kernel of several widths, and a learned width.
    models = {f"{k}, width 0.5": KernelRegression(k, 0.5).fit(x, y) for k in KERNELS}
    models |= {f"gaussian, width {w}": KernelRegression("gaussian", w).fit(x, y) for w in WIDTHS}
    learned = KernelRegression("gaussian", bandwidth="fit").fit(x, y)
    models[f"gaussian, learned: {learned.bandwidth_:.2f}"] = learned
    echo(f"{'kernel':26}{'examples used':>14}{'mean error':>12}")
    for name, model in models.items():
        used = (1 / (model.attention(queries) ** 2).sum(axis=1)).mean()  # effective number
        error = np.abs(model.predict(queries) - truth(queries[:, 0])).mean()
        echo(f"{name:26}{used:14.1f}{error:12.3f}")
    return lambda: plot_regression(models, truth)


if __name__ == "__main__":
    main()
