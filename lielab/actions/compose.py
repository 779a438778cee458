"""Actions made of others: products, one group on several manifolds at once, and frozen frame fields.

The kernels made here are closures: compiled once in every process and not kept on disk. An action that many
programs use deserves kernels of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import count, named_array
from ..core.jit import closure
from ..core.kernels import Kernel
from ..core.travel import recorded
from .action import _MOVES, KERNELS, Action
from .matrices import dexpinv_of_ad

_ALGEBRA = tuple(name for name in KERNELS if name not in _MOVES)


def _join(first: Callable, second: Callable, cut_x: int, cut_y: int) -> Callable:
    """The kernel out = (first(x1, y1), second(x2, y2)); cut_x = 0 hands the whole x to both."""

    @closure
    def kernel(x, y, out):
        if cut_x:
            first(x[:cut_x], y[:cut_y], out[:cut_y])
            second(x[cut_x:], y[cut_y:], out[cut_y:])
        else:
            first(x, y[:cut_y], out[:cut_y])
            second(x, y[cut_y:], out[cut_y:])

    return kernel


def _joined(function: str, a: Action, b: Action, cut_x: int, cut_y: int) -> Callable | None:
    first, second = getattr(a, function), getattr(b, function)
    return None if first is None or second is None else _join(first.into, second.into, cut_x, cut_y)


def _check(actions: tuple) -> None:
    if len(actions) < 2:
        raise ValueError(f"at least two actions are needed, got {len(actions)}")
    for action in actions:
        if not isinstance(action, Action):
            raise ValueError(f"every argument must be an Action, got {action!r}")


def _both(a: Action, b: Action, cut_x: int) -> dict[str, Any]:
    """What the product and the diagonal action have in common: how the points move, and where they lie."""
    curved = a.distance is not None or b.distance is not None
    known = all(x.sample is not None or x.distance is None for x in (a, b))

    def distance(y: np.ndarray) -> np.ndarray:
        return np.maximum(a.defect(y[..., : a.point]), b.defect(y[..., a.point :]))

    def nearest(y: np.ndarray) -> np.ndarray:
        return np.concatenate([a.project(y[..., : a.point]), b.project(y[..., a.point :])], axis=-1)

    def sample(rng: np.random.Generator) -> np.ndarray:
        parts = [x.sample(rng) if x.sample else rng.standard_normal(x.point) for x in (a, b)]
        return np.concatenate(parts)

    return {
        "manifold": f"{a.manifold} x {b.manifold}",
        "point": a.point + b.point,
        "dimension": None if None in (a.dimension, b.dimension) else a.dimension + b.dimension,
        **{name: _joined(name, a, b, cut_x, a.point) for name in _MOVES},
        "distance": distance if curved else None,
        "nearest": nearest if curved else None,
        "sample": sample if known else None,
        "rotations": (*a.rotations, *((a.point + first, row) for first, row in b.rotations)),
    }


@recorded
def product_action(*actions: Action) -> Action:
    """The direct product: (g, h) . (x, y) = (g . x, h . y). Vectors and points are concatenated in this order.

    Actions that take any number of blocks are taken with one block. Raises ValueError for fewer than two.
    """
    _check(actions)
    result = actions[0]
    for b in actions[1:]:
        a = result
        result = Action(
            name=f"{a.name}; {b.name}",
            group=f"{a.group} x {b.group}",
            algebra=a.algebra + b.algebra,
            **{name: _joined(name, a, b, a.algebra, a.algebra) for name in _ALGEBRA},
            **_both(a, b, a.algebra),
        )
    return result


@recorded
def diagonal_action(*actions: Action) -> Action:
    """One group on several manifolds at once: g . (x, y) = (g . x, g . y), the sum of the actions.

    The actions must be of the same group; dexpinv and bracket are those of the first. Raises ValueError
    where the groups differ.
    """
    _check(actions)
    groups = sorted({action.group for action in actions})
    if len(groups) > 1 or len({action.algebra for action in actions}) > 1:
        raise ValueError(
            f"the actions must be of one group, got {', '.join(groups)}; use product_action for several groups"
        )
    result = actions[0]
    for b in actions[1:]:
        a = result
        result = Action(
            name=f"{a.name}, with {b.name}",
            group=a.group,
            algebra=a.algebra,
            **{name: getattr(a, name) for name in _ALGEBRA},
            **_both(a, b, 0),
        )
    return result


@recorded
def frozen_action(
    *,
    name: str,
    manifold: str,
    algebra: int,
    point: int,
    flow: Callable,
    generator: Callable,
    structure: Any = None,
    dimension: int | None = None,
    distance: Callable | None = None,
    sample: Callable | None = None,
    nearest: Callable | None = None,
) -> Action:
    """Frame fields E_i and their frozen flows, in the place of a group (celledoni (3)-(4)).

    y' = sum_i f_i(y) E_i(y) is given by generator(xi, y) = sum_i xi_i E_i(y), and flow(xi, y), the point
    reached at time 1 along that field with the coefficients xi held fixed. Both take and return flat
    arrays. Methods that compose flows (LieEuler, commutator-free, Crouch-Grossman) need no more. Where
    the fields close under brackets, `structure` (d, d, d), [E_a, E_b] = -sum_c structure[a, b, c] E_c, adds
    bracket and dexpinv for RKMK; without it RKMK refuses.

    The sign: generators of a left action reverse brackets, so for a group this is the group's own
    structure[a, b, c] with [e_a, e_b] = sum_c structure[a, b, c] e_c.
    """
    count("algebra", algebra)
    bracket = dexpinv = None
    if structure is not None:
        constants = named_array("structure", structure)
        if constants.shape != (algebra,) * 3:
            raise ValueError(
                f"structure must have shape ({algebra}, {algebra}, {algebra}), got {constants.shape}"
            )
        if np.abs(constants + np.swapaxes(constants, 0, 1)).max() > 1e-12 * np.abs(constants).max():
            raise ValueError("structure must be antisymmetric in its first two indices")
        bracket, dexpinv = algebra_kernels(constants)
    return Action(
        name=name,
        group="frame fields",
        manifold=manifold,
        algebra=algebra,
        point=point,
        dimension=dimension,
        exp_act=Kernel(flow, "flow"),
        generator=generator,
        dexpinv=dexpinv,
        bracket=bracket,
        distance=distance,
        nearest=nearest,
        sample=sample,
    )


def algebra_kernels(constants: np.ndarray) -> tuple[Callable, Callable]:
    """bracket and dexpinv of an algebra with structure constants (d, d, d), as closures."""
    d = len(constants)
    flat = np.ascontiguousarray(constants).reshape(-1)

    @closure
    def bracket(u, v, out):
        for i in range(len(out)):
            out[i] = 0.0
        for a in range(d):
            for b in range(d):
                for c in range(d):
                    out[c] += u[a] * v[b] * flat[(a * d + b) * d + c]

    @closure
    def dexpinv(u, v, out):
        A = np.zeros(d * d)
        for a in range(d):
            for b in range(d):
                for c in range(d):
                    A[c * d + b] += u[a] * flat[(a * d + b) * d + c]
        dexpinv_of_ad(A, v, out)

    return bracket, dexpinv
