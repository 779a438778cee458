"""Classical order of a Runge-Kutta method, from rooted trees (Hairer, Norsett & Wanner I, II.2)."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..core.arguments import count, named_array

# Coefficients typed as decimals with 15 to 17 digits leave residuals up to about 1e-14.
ORDER_TOLERANCE = 1e-11


@cache
def _trees(order: int) -> tuple[tuple, ...]:
    """Rooted trees with so many nodes, each the sorted tuple of the subtrees on its root."""

    def forests(nodes: int, largest: tuple) -> list[tuple]:
        # Subtrees are chosen in decreasing order, so that no forest is found twice.
        if nodes == 0:
            return [()]
        found = []
        for size in range(1, nodes + 1):
            for tree in _trees(size):
                if (size, tree) <= largest:
                    found += [(tree, *rest) for rest in forests(nodes - size, (size, tree))]
        return found

    return tuple(forests(order - 1, (order, ())))


@cache
def _density(tree: tuple) -> int:
    return _size(tree) * int(np.prod([_density(child) for child in tree], initial=1))


@cache
def _size(tree: tuple) -> int:
    return 1 + sum(_size(child) for child in tree)


def _weights(tree: tuple, a: np.ndarray) -> np.ndarray:
    product = np.ones(len(a))
    for child in tree:
        product = product * (a @ _weights(child, a))
    return product


def classical_order(a: np.ndarray, b: np.ndarray, largest: int = 8) -> int:
    """Highest order, up to `largest`, whose conditions b . Phi(tree) = 1/density hold: a (s, s), b (s,)."""
    a, b = named_array("a", a), named_array("b", b)
    if b.ndim != 1 or a.shape != 2 * b.shape:
        raise ValueError(
            f"a and b must have the shapes (s, s) and (s,), got {a.shape} and {b.shape}"
        )
    for order in range(1, count("largest", largest) + 1):
        for tree in _trees(order):
            if not abs(b @ _weights(tree, a) * _density(tree) - 1.0) <= ORDER_TOLERANCE:
                return order - 1
    return largest
