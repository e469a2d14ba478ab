"""Learn Q, K and V by gradient descent.

L queries, S keys, E numbers of a vector, Ev of a value, B examples of a step
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuzzydict._arrays import Array, ignore_invalid, positive, require_finite
from fuzzydict.embedding.projections import Factors, Projection, Projections, project_forward
from fuzzydict.nn.attention import attention_forward
from fuzzydict.nn.scorers import Cosine, Scorer

#: Gradients by the names of the parameters, each shaped like its parameter.
NamedGradients: TypeAlias = dict[str, Array]
#: The mean loss of some examples, (B,), and its gradients; keys are drawn at random.
Losses: TypeAlias = Callable[[NDArray[np.intp], np.random.Generator], tuple[float, NamedGradients]]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to learn projections."""

    scorer: Scorer = field(default_factory=Cosine)  # or a Dot or ScaledDot
    roles: Collection[str] = ("query", "key")  # what to learn; "value", too, if values are pooled
    rank: int | None = None  # learn I + A B' with A and B (E, rank); None for a whole matrix
    temperature: float | None = None  # divisor of the scores; None to learn it,
    start_temperature: float = 0.05  # from this one on
    identity_penalty: float = 10.0  # of n examples, on 1 / n times the squared distance from it
    learning_rate: float = 0.03  # how far a step may turn a vector, relative to its length
    epochs: int = 15  # passes over the examples, at most
    patience: int = 3  # passes without a better loss on the held-out examples, and it stops
    candidates: int = 256  # keys drawn for each step beside the right ones, if there are more
    validation: float = 0.1  # share of the examples to hold out; of fewer than 100, none are
    seed: int = 0  # of the batches, and of the factors of low rank
    progress: Callable[[int, int], None] = lambda _done, _total: None  # called after each step


class Epoch(NamedTuple):
    """Mean losses of one pass over the examples; ``held_out`` is NaN if none are held out."""

    training: float
    held_out: float


class Learned(NamedTuple):
    """What was learned, and the losses before the first pass and after each; by default nothing."""

    projections: Projections = Projections()  # applied after those of the dict
    temperature: float | None = None
    history: tuple[Epoch, ...] = ()
    scorer: Any = None  # for which it was learned


def fit_retrieval(
    queries: ArrayLike, keys: ArrayLike, right: NDArray[np.intp], settings: Settings
) -> Learned:
    """Learn Q and K by `retrieval_loss`, from the identity on.

    Of the keys (S, E), each query (L, E) should find the one at its place in ``right`` (L,). The
    loss is over all keys, or `settings.candidates` of them and the right ones.
    """
    axes: Any = None
    x, y = (np.asarray(vectors, np.float32) for vectors in (queries, keys))
    # Nothing is learned outside the span of these vectors, of whose outer products gradients are
    # sums; within it, it takes less time. (That of dot products has a temperature of its own pace.)
    if isinstance(settings.scorer, Cosine) and 2 * (len(x) + len(y)) <= x.shape[1]:
        axes = np.linalg.qr(np.concatenate([x, y]).T)[0]  # (E, r)
        x, y = x @ axes, y @ axes
        pace = (len(axes) / axes.shape[1]) ** 0.5  # so that steps are as long as in the whole
        settings = replace(settings, learning_rate=settings.learning_rate * pace)
    model, most = Model(x.shape[1], settings), settings.candidates

    def losses(rows: NDArray[np.intp], random: np.random.Generator) -> tuple[float, NamedGradients]:
        near, columns, log_share = y, right[rows], 0.0
        if len(y) > most:
            drawn = np.union1d(columns, random.choice(len(y), most, replace=False, shuffle=False))
            near, columns = y[drawn], np.searchsorted(drawn, columns)
            log_share = float(np.log(len(drawn) / len(y)))
        query, query_back = model.forward("query", x[rows])
        key, key_back = model.forward("key", near)
        scores, scores_back = settings.scorer.forward(query, key)
        logits = scores / model.temperature
        loss, d_logits = retrieval_loss(logits, np.arange(len(rows)), columns, log_share)
        d = scores_back(d_logits / model.temperature)
        gradients = query_back(d.query) | key_back(d.key)
        return loss, gradients | {"log_temperature": -np.asarray(np.vdot(d_logits, logits))}

    history = descend(model.parameters, len(x), losses, settings)
    learned = [model.projection("query"), model.projection("key")]
    if axes is not None:  # back to the whole space
        for place, one in enumerate(learned):
            if isinstance(one, Factors):
                learned[place] = Factors(axes @ one.left, axes @ one.right)
            elif one is not None:
                learned[place] = Factors(axes @ (one - np.eye(len(one), dtype=one.dtype)), axes)
    return Learned(Projections(*learned), model.temperature, history)


def fit_pooling(
    queries: ArrayLike, keys: ArrayLike, values: ArrayLike, targets: ArrayLike, settings: Settings
) -> Learned:
    """Learn Q and K (and V, if `settings.roles` has it) by the mean squared error of pooled values.

    Queries (L, E) pool the values (S, Ev) of keys (S, E); targets are (L, Ev).
    """
    x, y = (np.asarray(vectors, np.float32) for vectors in (queries, keys))
    # In units of a third of the spread, an error as large as the spread weighs as much as a key
    # that is hard to find, and the identity penalty means the same for both losses.
    numbers = {"values": np.asarray(values), "targets": np.asarray(targets)}
    with np.errstate(over="ignore", invalid="ignore"):
        unit = np.std(numbers["targets"]) / 3 or 1.0
        v, target = ((a / unit).astype(np.float32) for a in numbers.values())
    for array in (np.asarray(unit), v, target):
        require_finite(array, **numbers)
    model = Model(x.shape[1], settings, v.shape[1])

    def losses(rows: NDArray[np.intp], _random: Any) -> tuple[float, NamedGradients]:
        given = (("query", x[rows]), ("key", y), ("value", v))
        inputs, backs = zip(*(model.forward(*one) for one in given), strict=True)
        scorer, temperature = settings.scorer, model.temperature
        output, _, back = attention_forward(*inputs, scorer=scorer, temperature=temperature)
        error = output - target[rows]  # (B, Ev)
        d = back(error * error.dtype.type(2 / error.size))
        gradients = {"log_temperature": np.asarray(d.temperature * temperature)}
        for one, gradient in zip(backs, d[:3], strict=True):
            gradients |= one(gradient)
        return float(np.square(error).mean()), gradients

    history = descend(model.parameters, len(x), losses, settings)
    learned = Projections(*map(model.projection, ("query", "key", "value")))
    return Learned(learned, model.temperature, history)


class Model:
    """Q, K and, if values are pooled, V, named as in `Projections.arrays`; and the temperature."""

    def __init__(self, size: int, settings: Settings, value_size: int | None = None) -> None:
        self._settings = settings
        self.parameters: dict[str, Array] = {}
        random, rank = np.random.default_rng(settings.seed), settings.rank
        for role, width in {"query": size, "key": size, "value": value_size}.items():
            if role not in settings.roles or width is None:
                continue
            if rank is None or role == "value":
                self.parameters[role] = np.eye(width, dtype=np.float32)
            else:  # with zeros on the right it is the identity, and with a gradient
                left = random.standard_normal((size, min(rank, size)), dtype=np.float32)
                left /= np.float32(size**0.5)
                self.parameters |= {f"{role}.left": left, f"{role}.right": np.zeros_like(left)}
        if settings.temperature is None:
            start = np.log(settings.start_temperature)
            self.parameters["log_temperature"] = np.array(start, np.float32)

    @property
    def temperature(self) -> float:
        """The divisor of the scores."""
        fixed = self._settings.temperature
        return float(np.exp(self.parameters["log_temperature"])) if fixed is None else fixed

    def projection(self, role: str) -> Projection:
        """Return Q, K or V as it is now."""
        if f"{role}.left" not in self.parameters:
            return self.parameters.get(role)
        return Factors(self.parameters[f"{role}.left"], self.parameters[f"{role}.right"])

    def forward(self, role: str, vectors: Array) -> tuple[Array, Callable[[Array], NamedGradients]]:
        """Return projected vectors (N, E), and the function to the gradients of parameters."""
        projected, backward = project_forward(vectors, self.projection(role), role)

        def named(gradient: Array) -> NamedGradients:
            found = backward(gradient)
            if isinstance(found, Factors):
                return {f"{role}.{name}": part for name, part in found._asdict().items()}
            return {} if found is None else {role: found}

        return projected, named


def retrieval_loss(
    logits: Array, rows: NDArray[np.intp], columns: NDArray[np.intp], log_shares: ArrayLike = 0.0
) -> tuple[float, Array]:
    """Return the mean negative log-likelihood of the right keys, and its gradient, (L, S).

    The probabilities are the softmax of the logits (L, S); those of a query's right keys are added.
    ``rows`` (n,) are sorted queries, and ``columns`` (n,) their right keys, one or more of each.
    If only some of all keys are given, ``log_shares``, (S,) or one for all, is the log-probability
    of each to be among them. One drawn with probability ``p`` counts ``1 / p`` times, so that the
    softmax's denominator is unbiased (Bengio and Senécal 2008), and the right keys once.
    """
    right = logits[rows, columns]  # (n,)
    logits = logits - np.asarray(log_shares, logits.dtype)
    logits[rows, columns] = right
    top = logits.max(axis=1)
    gradient = np.exp(logits - top[:, None])  # (L, S); first it is the weights of all keys,
    total = gradient.sum(axis=1)
    # The right keys' own maximum is subtracted: relative to the others their sum may underflow.
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    right_top = np.maximum.reduceat(right, starts)
    among = np.exp(right - right_top[rows])
    right_total = np.add.reduceat(among, starts)
    gradient /= total[:, None] * len(gradient)
    gradient[rows, columns] -= among / (right_total[rows] * len(gradient))  # less the right ones
    loss = (top + np.log(total) - (right_top + np.log(right_total))).mean()
    return float(loss), gradient


_STEPS, _LARGEST = 5, 256  # steps a pass, if there are few examples; of a step, the most
_TOO_FEW = 100  # examples: of fewer, the loss on a share says little, and the share is missed
_HELD_OUT = 512  # examples in the held-out loss, at most


@ignore_invalid
def descend(
    parameters: Mapping[str, Array], count: int, losses: Losses, settings: Settings
) -> tuple[Epoch, ...]:
    """Change parameters in place until the loss stops falling on examples that are held out.

    In the end they are those of the pass with the least such loss, or of the last if there is none.
    """
    random = np.random.default_rng(settings.seed)
    order = random.permutation(count)
    share = round(settings.validation * count) if count >= _TOO_FEW else 0
    held_out, training = order[:share][:_HELD_OUT], order[share:]
    size = min(max(len(training) // _STEPS, 1), _LARGEST)
    steps = -(-len(training) // size)
    total, done = steps * settings.epochs, 0
    adam = Adam(parameters, settings.learning_rate, per_array=True)

    def loss_of(rows: NDArray[np.intp]) -> float:
        same = np.random.default_rng(settings.seed)  # so that each pass draws the same keys
        return losses(rows, same)[0] if len(rows) else np.nan

    history = [Epoch(loss_of(training[:_LARGEST]), loss_of(held_out))]
    best, at = {name: parameter.copy() for name, parameter in parameters.items()}, 0
    while len(history) <= min(settings.epochs, at + settings.patience):
        summed = 0.0
        for batch in np.array_split(random.permutation(training), steps):
            loss, gradients = losses(batch, random)
            summed += loss * len(batch)
            add_identity_penalty(parameters, gradients, settings.identity_penalty / len(training))
            adam.learning_rate = settings.learning_rate * (1 - done / total)
            adam.step(gradients)
            done += 1
            settings.progress(done, total)
        history.append(Epoch(summed / len(training), loss_of(held_out)))
        if not history[-1].held_out >= history[at].held_out:  # true of NaN, too
            best = {name: parameter.copy() for name, parameter in parameters.items()}
            at = len(history) - 1
    for name, parameter in parameters.items():
        parameter[...] = best[name]
    settings.progress(total, total)
    return tuple(history)


def add_identity_penalty(
    parameters: Mapping[str, Array], gradients: NamedGradients, strength: float
) -> None:
    """Add to the gradients that of ``strength`` times the squared distance from the identity."""
    scale = np.float32(2 * strength)
    for name, parameter in parameters.items():
        gradient, (role, _, part) = gradients[name], name.partition(".")
        if part:
            other = parameters[f"{role}.{'right' if part == 'left' else 'left'}"]
            gradient += scale * parameter @ (other.T @ other)
        elif parameter.ndim:
            gradient += scale * parameter
            gradient[np.diag_indices(len(parameter))] -= scale


_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8  # the paper's defaults


class Adam:
    """The optimizer Adam (Kingma and Ba 2015, algorithm 1), which changes parameters in place.

    With ``per_array``, all numbers of an array have one step size, relative to ``E^-0.5``, the root
    mean square of an identity (E, E). Steps then follow the direction of the mean gradient, so that
    a projection changes nothing outside the span of its examples.
    """

    def __init__(
        self, parameters: Mapping[str, Array], learning_rate: float = 1e-3, per_array: bool = False
    ) -> None:
        self.parameters, self.per_array = parameters, per_array
        self.learning_rate = positive("learning_rate", learning_rate)
        self._means = {name: np.zeros_like(p) for name, p in parameters.items()}
        self._squares = {
            name: np.zeros((), p.dtype) if per_array else np.zeros_like(p)
            for name, p in parameters.items()
        }
        self._steps = 0

    def step(self, gradients: Mapping[str, Array]) -> None:
        """Move every parameter against its gradient, which has its shape."""
        self._steps += 1
        square_scale = 1 / (1 - _BETA_2**self._steps)  # corrects the bias of a start at zero
        for name, parameter in self.parameters.items():
            unit = len(parameter) ** -0.5 if self.per_array and parameter.ndim else 1.0
            rate = self.learning_rate * unit / (1 - _BETA_1**self._steps)  # likewise
            mean, square, gradient = self._means[name], self._squares[name], gradients[name]
            mean += (1 - _BETA_1) * (gradient - mean)
            squared = np.mean(gradient * gradient) if self.per_array else gradient * gradient
            square += (1 - _BETA_2) * (squared - square)
            parameter -= rate * mean / (np.sqrt(square * square_scale) + _EPSILON)
